/* stopwatch: thread-local state; a change of phase adds what passed since the last one. */
#include "stopwatch.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MOST = 512 };

struct StopwatchLog {
    pthread_mutex_t lock;
    StopwatchSpan *spans;
    int n, cap;
    const char *roles[THREADS_MOST + 1];
    int threads;
};

const char *const PHASE_NAMES[PHASES] = {"",        "reading",  "decoding", "preparing", "upload",
                                         "compute", "download", "encoding", "writing"};

static _Thread_local struct {
    Stopwatch *watch;
    Phase phase;
    uint64_t since;
    int thread; /* in the log */
} own;

uint64_t stopwatch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the log --------------------------------------------------------------------------- */

StopwatchLog *stopwatch_log_new(void)
{
    StopwatchLog *log = calloc(1, sizeof *log);
    if (log != NULL && pthread_mutex_init(&log->lock, NULL) != 0) {
        free(log);
        return NULL;
    }
    return log;
}

void stopwatch_log_free(StopwatchLog *log)
{
    if (log != NULL) {
        (void)pthread_mutex_destroy(&log->lock);
        free(log->spans);
        free(log);
    }
}

const StopwatchSpan *stopwatch_log_spans(const StopwatchLog *log, int *n)
{
    *n = log->n;
    return log->spans;
}

const char *stopwatch_log_role(const StopwatchLog *log, int thread)
{
    return log->roles[thread];
}

/* The number of the calling thread. */
static int log_thread(StopwatchLog *log, const char *role)
{
    (void)pthread_mutex_lock(&log->lock);
    int thread = log->threads < THREADS_MOST ? log->threads++ : THREADS_MOST - 1; /* more share the last number */
    log->roles[thread] = role;
    (void)pthread_mutex_unlock(&log->lock);
    return thread;
}

static void log_span(StopwatchLog *log, StopwatchSpan span)
{
    (void)pthread_mutex_lock(&log->lock);
    if (log->n == log->cap) {
        int cap = log->cap > 0 ? 2 * log->cap : 1024;
        StopwatchSpan *more = realloc(log->spans, (size_t)cap * sizeof *more);
        log->spans = more != NULL ? more : log->spans;
        log->cap = more != NULL ? cap : log->cap;
    }
    if (log->n < log->cap) {
        log->spans[log->n++] = span;
    }
    (void)pthread_mutex_unlock(&log->lock);
}

/* ---- phases ---------------------------------------------------------------------------- */

static Phase change(Phase phase)
{
    Phase before = own.phase;
    if (own.watch != NULL) {
        uint64_t now = stopwatch_now();
        atomic_fetch_add(&own.watch->ns[before], now - own.since);
        if (own.watch->log != NULL && before != PHASE_NONE) {
            log_span(own.watch->log, (StopwatchSpan){own.thread, before, own.since, now});
        }
        own.since = now;
    }
    own.phase = phase;
    return before;
}

void stopwatch_use(Stopwatch *watch, const char *role)
{
    change(PHASE_NONE);
    own.watch = watch;
    own.since = watch != NULL ? stopwatch_now() : 0;
    own.thread = watch != NULL && watch->log != NULL ? log_thread(watch->log, role) : 0;
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
