/*
 * signals: SIGINT and SIGTERM end the process within a second, whatever its threads are doing.
 *
 * A driver may compile or compute for minutes inside one call, so nobody waits for the thread that made it.  The
 * handler only counts; a thread of its own sees to the end: after the first signal it gives the others a moment to
 * stop in order, in which nothing new is begun and unfinished outputs are discarded; after that moment, or after the
 * second signal, it removes what is unfinished and leaves.  The exit code is 128 and the number of the signal: 130 or
 * 143.  SIGPIPE and SIGXFSZ are ignored: the write that caused them fails and says so.
 */
#ifndef RUNTIME_SIGNALS_H
#define RUNTIME_SIGNALS_H

#include <stdbool.h>

typedef enum SignalsEnd {
    SIGNALS_AT_ONCE, /* nobody asks signals_interrupted: the first signal ends the process */
    SIGNALS_IN_ORDER /* the work asks it, and has a moment */
} SignalsEnd;

/* May be called again, by the part of the process that stops in another way. */
void signals_install(SignalsEnd end);
/* Called before a process that is interrupted leaves, in the thread that sees to it.  A few at most; for good. */
void signals_at_end(void (*clean)(void));
/* True after the first SIGINT or SIGTERM; may be asked from any thread. */
bool signals_interrupted(void);
/* The exit code of a process that stops in order after a signal. */
int signals_code(void);
/* Forgets earlier signals; for tests. */
void signals_reset(void);

#endif
