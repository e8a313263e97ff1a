/*
 * signals: the handler does what is safe in one: it counts, and wakes the thread that sees to the end.
 */
#include "signals.h"

#include "../../base/err.h"
#include "../../base/file.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MOMENT_MS = 500, /* for an end in order; the rest of a second is for the end that is not */
    MOST_CLEANERS = 4
};

static atomic_int received, number = SIGINT;
static atomic_int how = SIGNALS_AT_ONCE;
static sem_t arrived;
static void (*_Atomic cleaners[MOST_CLEANERS])(void);
static atomic_int n_cleaners;
static bool watched;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

int signals_code(void)
{
    return 128 + atomic_load(&number);
}

static void leave(void)
{
    file_discard_all();
    _exit(signals_code());
}

static void count(int which)
{
    int saved = errno, before = atomic_fetch_add(&received, 1);
    if (before == 0) {
        atomic_store(&number, which);
    }
    if (!watched || before > 1) { /* the thread is busy cleaning up */
        leave();
    }
    (void)sem_post(&arrived);
    errno = saved;
}

static void wait_for_signal(void)
{
    while (sem_wait(&arrived) != 0) {
    }
}

/* Returns at the next signal, or when the moment is over. */
static void wait_for_moment(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += MOMENT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (sem_timedwait(&arrived, &until) != 0 && errno == EINTR) {
    }
}

static void stop_in_order(void)
{
    say("\nstopping; once more to stop at once\n");
    wait_for_moment();
    if (signals_interrupted()) {
        say("stopped in the middle of the work: outputs that are whole stay, the others are gone\n");
    }
}

static void *watch(void *unused)
{
    while (!signals_interrupted()) {
        wait_for_signal();
        if (signals_interrupted() && atomic_load(&how) == SIGNALS_IN_ORDER) {
            stop_in_order();
        }
    }
    file_discard_all(); /* no file is begun any more */
    file_discard_folders();
    for (int i = 0; i < MOST_CLEANERS; i++) {
        void (*clean)(void) = atomic_load(&cleaners[i]);
        if (clean != NULL) {
            clean();
        }
    }
    leave();
    return unused;
}

/* Where no thread can be had the handler itself ends the process. */
static void start_watching(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (sem_init(&arrived, 0, 0) == 0 && pthread_attr_init(&attributes) == 0) {
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        (void)pthread_attr_setstacksize(&attributes, 256 << 10);
        watched = pthread_create(&thread, &attributes, watch, NULL) == 0;
        (void)pthread_attr_destroy(&attributes);
    }
}

void signals_install(SignalsEnd end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    atomic_store(&how, end);
    (void)pthread_once(&once, start_watching);
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

void signals_at_end(void (*clean)(void))
{
    int i = atomic_fetch_add(&n_cleaners, 1);
    if (i < MOST_CLEANERS) {
        atomic_store(&cleaners[i], clean);
    }
}

bool signals_interrupted(void)
{
    return atomic_load(&received) > 0;
}

void signals_reset(void)
{
    atomic_store(&received, 0);
}
