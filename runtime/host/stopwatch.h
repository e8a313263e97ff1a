/*
 * stopwatch: what the host's threads do, and for how long: reading is apart from decoding, writing
 * apart from encoding, although one calls the other.
 *
 * A thread that has a watch is in one phase at a time, or in none.  Code that begins a phase ends
 * it with what it was given, so phases nest and time is counted once, for the innermost.  Threads
 * without a watch lose no time with it.  A watch with a log also keeps when each thread was in which phase.
 */
#ifndef RUNTIME_STOPWATCH_H
#define RUNTIME_STOPWATCH_H

#include <stdatomic.h>
#include <stdint.h>

typedef enum Phase {
    PHASE_NONE,
    PHASE_READ,    /* bytes of files */
    PHASE_DECODE,  /* everything else between a file and its pixels */
    PHASE_PREPARE, /* plans, kernels to be built */
    PHASE_UPLOAD,
    PHASE_COMPUTE,
    PHASE_DOWNLOAD,
    PHASE_ENCODE, /* everything between pixels, tables and bytes of files */
    PHASE_WRITE,  /* bytes, and giving files their names */
    PHASES
} Phase;
extern const char *const PHASE_NAMES[PHASES];

/* A thread's time in a phase, begin to end, in the nanoseconds of stopwatch_now. */
typedef struct StopwatchSpan {
    int thread; /* threads are counted from 0, by the calls of stopwatch_use */
    Phase phase;
    uint64_t begin, end;
} StopwatchSpan;

typedef struct StopwatchLog StopwatchLog;

typedef struct Stopwatch {
    _Atomic uint64_t ns[PHASES];
    StopwatchLog *log; /* borrowed; NULL: nobody wants it */
} Stopwatch;

StopwatchLog *stopwatch_log_new(void);      /* NULL: out of memory */
void stopwatch_log_free(StopwatchLog *log); /* NULL is allowed */
/* All spans so far, in the order of their ends; what had no memory is missing.  For when the threads are done. */
const StopwatchSpan *stopwatch_log_spans(const StopwatchLog *log, int *n);
/* What the thread does; NULL: there are no more threads. */
const char *stopwatch_log_role(const StopwatchLog *log, int thread);

/* From now on this thread is in no phase, and its time counts for `watch`; NULL: for none.  `role`, a literal, is what
 * the log calls the thread. */
void stopwatch_use(Stopwatch *watch, const char *role);
/* What this thread uses; to hand it on to a thread that works for this one. */
Stopwatch *stopwatch_used(void);
/* Returns the phase before, for stopwatch_end. */
Phase stopwatch_begin(Phase phase);
void stopwatch_end(Phase before);

uint64_t stopwatch_now(void); /* nanoseconds */

#endif
