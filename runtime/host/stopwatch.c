/* stopwatch: thread-local state; a change of phase adds what passed since the last one. */
#include "stopwatch.h"

#include <stddef.h>
#include <time.h>

const char *const PHASE_NAMES[PHASES] = {"",        "reading",  "decoding", "preparing", "upload",
                                         "compute", "download", "encoding", "writing"};

static _Thread_local struct {
    Stopwatch *watch;
    Phase phase;
    uint64_t since;
} own;

uint64_t stopwatch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static Phase change(Phase phase)
{
    Phase before = own.phase;
    if (own.watch != NULL) {
        uint64_t now = stopwatch_now();
        atomic_fetch_add(&own.watch->ns[before], now - own.since);
        own.since = now;
    }
    own.phase = phase;
    return before;
}

void stopwatch_use(Stopwatch *watch)
{
    change(PHASE_NONE);
    own.watch = watch;
    own.since = watch != NULL ? stopwatch_now() : 0;
}

Stopwatch *stopwatch_used(void)
{
    return own.watch;
}

Phase stopwatch_begin(Phase phase)
{
    return change(phase);
}

void stopwatch_end(Phase before)
{
    change(before);
}
