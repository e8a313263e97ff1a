/*
 * stopwatch: what the host's threads do, and for how long: reading is apart from decoding, writing
 * apart from encoding, although one calls the other.
 *
 * A thread that has a watch is in one phase at a time, or in none.  Code that begins a phase ends
 * it with what it was given, so phases nest and time is counted once, for the innermost.  Threads
 * without a watch lose no time with it.
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

typedef struct Stopwatch {
    _Atomic uint64_t ns[PHASES];
} Stopwatch;

/* From now on this thread is in no phase, and its time counts for `watch`; NULL: for none. */
void stopwatch_use(Stopwatch *watch);
/* What this thread uses; to hand it on to a thread that works for this one. */
Stopwatch *stopwatch_used(void);
/* Returns the phase before, for stopwatch_end. */
Phase stopwatch_begin(Phase phase);
void stopwatch_end(Phase before);

uint64_t stopwatch_now(void); /* nanoseconds */

#endif
