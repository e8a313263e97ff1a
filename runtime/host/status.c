/* status: see status.h.  A thread draws; the others only leave a word. */
#include "status.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

enum { TEXT = 300, LINE = 900, BAR = 30 /* columns that a bar of a batch keeps */ };
static const long TICK = 100 * 1000 * 1000; /* ns: the first line, and the longest that a new word waits */

static struct Status {
    pthread_mutex_t lock;
    pthread_cond_t closed;
    pthread_t thread;
    FILE *to;
    bool stop;
    char said[STATUS_LANES][TEXT];
    double since[STATUS_LANES];
    bool first; /* the device's word is about a step that runs for the first time */
    int builds; /* programs that are being compiled */
    double build_since, compiled_at;
    bool compiled; /* one took longer than it takes to find it in a cache */
    StatusFront *front;
    void *context;
    char drawn[LINE];
} status = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_bool is_open;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int terminal_width(void)
{
    struct winsize size = {0};
    bool known = ioctl(fileno(status.to), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20;
    return known ? size.ws_col : 80;
}

/* ---- the text, with the lock held ------------------------------------------------------ */

/* Drivers have caches of their own: only the time tells whether something was compiled. */
static bool has_compiled(void)
{
    if (status.builds > 0 && now() - status.build_since > 0.1) {
        status.compiled = true;
        status.compiled_at = now();
    }
    return status.compiled;
}

/* What comes last are the seconds, which are never cut off. */
static void compose(char *to, size_t size, int width)
{
    char front[TEXT] = "", seconds[40] = "";
    int lane = 0;
    while (lane < STATUS_LANES - 1 && status.said[lane][0] == '\0') {
        lane++;
    }
    const char *said = status.said[lane];
    const bool compiles = lane == STATUS_DEVICE && status.first && has_compiled();
    if (status.front != NULL) {
        status.front(status.context, compiles, front, sizeof front);
    }
    /* Half seconds: nobody looks at a line that stands still for more than one. */
    const double waited = said[0] != '\0' ? floor(2 * (now() - status.since[lane])) / 2 : 0;
    const int tail = waited <= 0 ? 0 : snprintf(seconds, sizeof seconds, "  %.1f s", waited);
    const char *once = compiles ? "compiling for this device, once: " : "",
               *gap = front[0] != '\0' && said[0] != '\0' ? "  " : "";
    const int room = width > 0 && (size_t)width < size ? width - 1 : (int)size - 1, end = room > tail ? room - tail : 0;
    /* Where both have no room, what stands in front gives way: behind it is what happens now. */
    const int behind = (int)(strlen(gap) + strlen(once) + strlen(said)), least = BAR < end ? BAR : end;
    const int ahead = end - behind > least ? end - behind : least;
    const int n = snprintf(to, size, "%.*s%s%s%s", ahead, front, gap, once, said);
    const int at = n < end ? n : end, shown = tail < room - at ? tail : room - at;
    memcpy(to + at, seconds, (size_t)shown);
    to[at + shown] = '\0';
}

static void draw(void)
{
    char line[LINE];
    compose(line, sizeof line, terminal_width());
    if (strcmp(line, status.drawn) != 0) {
        fprintf(status.to, "\r%s\033[K", line);
        fflush(status.to);
        memcpy(status.drawn, line, sizeof line);
    }
}

static void erase(void)
{
    if (status.drawn[0] != '\0') {
        fputs("\r\033[K", status.to);
        fflush(status.to);
        status.drawn[0] = '\0';
    }
}

/* ---- the thread ------------------------------------------------------------------------ */

static void *tick(void *context)
{
    (void)context;
    pthread_mutex_lock(&status.lock);
    while (!status.stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&status.closed, &status.lock, &until);
        if (!status.stop) {
            draw();
        }
    }
    erase();
    pthread_mutex_unlock(&status.lock);
    return NULL;
}

void status_open(FILE *to)
{
    if (atomic_load(&is_open)) {
        return;
    }
    status.to = to;
    status.stop = false;
    (void)pthread_cond_init(&status.closed, NULL);
    atomic_store(&is_open, pthread_create(&status.thread, NULL, tick, NULL) == 0);
}

bool status_is_open(void)
{
    return atomic_load(&is_open);
}

void status_close(void)
{
    if (!atomic_exchange(&is_open, false)) {
        return;
    }
    pthread_mutex_lock(&status.lock);
    status.stop = true;
    status.front = NULL;
    memset(status.said, 0, sizeof status.said);
    pthread_cond_signal(&status.closed);
    pthread_mutex_unlock(&status.lock);
    (void)pthread_join(status.thread, NULL);
    (void)pthread_cond_destroy(&status.closed);
}

/* ---- words ----------------------------------------------------------------------------- */

void status_say(StatusLane lane, const char *format, ...)
{
    if (!status_is_open()) {
        return;
    }
    pthread_mutex_lock(&status.lock);
    status.said[lane][0] = '\0';
    status.since[lane] = now();
    if (lane == STATUS_DEVICE) {
        status.first = false;
    }
    if (format != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(status.said[lane], TEXT, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&status.lock);
}

void status_step(const char *what, int k, int n, const char *name, bool first)
{
    if (status_is_open()) {
        int length = (int)strnlen(name, 60);
        length -= length > 0 && name[length - 1] == '_'; /* names in kernels end so */
        status_say(STATUS_DEVICE, "%s %d of %d, %.*s", what, k, n, length, name);
        pthread_mutex_lock(&status.lock);
        status.first = first;
        pthread_mutex_unlock(&status.lock);
    }
}

void status_build(bool begins)
{
    pthread_mutex_lock(&status.lock);
    (void)has_compiled();
    status.builds += begins ? 1 : -1;
    status.build_since = now();
    pthread_mutex_unlock(&status.lock);
}

void status_compiles(void)
{
    pthread_mutex_lock(&status.lock);
    status.compiled = true;
    status.compiled_at = now();
    pthread_mutex_unlock(&status.lock);
}

bool status_has_compiled(double since)
{
    pthread_mutex_lock(&status.lock);
    const bool compiled = has_compiled() && status.compiled_at > since;
    pthread_mutex_unlock(&status.lock);
    return compiled;
}

void status_front(StatusFront *text, void *context)
{
    pthread_mutex_lock(&status.lock);
    status.front = text;
    status.context = context;
    pthread_mutex_unlock(&status.lock);
}

void status_print(FILE *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&status.lock);
    if (status_is_open()) {
        erase();
    }
    vfprintf(to, format, arguments);
    fflush(to);
    pthread_mutex_unlock(&status.lock);
    va_end(arguments);
}

void status_text(char *to, size_t size, int width)
{
    pthread_mutex_lock(&status.lock);
    compose(to, size, width);
    pthread_mutex_unlock(&status.lock);
}
