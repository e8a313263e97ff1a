/*
 * signals: a run ends in order.  The first SIGINT or SIGTERM asks the run to stop: nothing new is
 * begun, unfinished outputs are discarded.  The second removes temporary files and ends at once,
 * also while the device is busy.  SIGPIPE and SIGXFSZ are ignored: the write that caused them
 * fails and says so.
 */
#ifndef RUNTIME_SIGNALS_H
#define RUNTIME_SIGNALS_H

#include <stdbool.h>

void signals_install(void);
/* True after the first SIGINT or SIGTERM; may be asked from any thread. */
bool signals_interrupted(void);
/* Forgets earlier signals; for tests. */
void signals_reset(void);

#endif
