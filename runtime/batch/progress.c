/*
 * progress: the bar is drawn at most ten times a second, so that drawing never costs anything.
 */
#include "progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct Progress {
    pthread_mutex_t lock;
    FILE *to;
    bool bar, drawn;
    int total, skipped, images;
    double parts; /* work done, in images */
    double begin, drawn_at;
    char name[200];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int terminal_width(FILE *to)
{
    struct winsize size = {0};
    if (ioctl(fileno(to), TIOCGWINSZ, &size) != 0 || size.ws_col < 20) {
        return 80;
    }
    return size.ws_col;
}

void progress_duration(char *to, size_t size, double seconds)
{
    long s = (long)(seconds + 0.5);
    if (s < 60) {
        snprintf(to, size, "%ld s", s);
    } else if (s < 3600) {
        snprintf(to, size, "%ld:%02ld min", s / 60, s % 60);
    } else {
        snprintf(to, size, "%ld:%02ld:%02ld h", s / 3600, s / 60 % 60, s % 60);
    }
}

void progress_line(char *to, size_t size, int width, double done, int total, int skipped, double seconds,
                   const char *name)
{
    enum { CELLS = 20 };
    char bar[CELLS + 1], tail[200] = "";
    double part = total > 0 ? done / total : 1;
    for (int i = 0; i < CELLS; i++) {
        bar[i] = (i + 1) <= part * CELLS + 1e-9 ? '#' : '.';
    }
    bar[CELLS] = '\0';
    double fresh = done - skipped;
    if (fresh > 0 && seconds > 0) {
        char left[40];
        double rate = fresh / seconds;
        progress_duration(left, sizeof left, (total - done) / rate);
        if (rate >= 1) {
            snprintf(tail, sizeof tail, "  %.1f images/s  %s left", rate, left);
        } else {
            snprintf(tail, sizeof tail, "  %.1f s/image  %s left", 1 / rate, left);
        }
    }
    int n = snprintf(to, size, "[%s] %d/%d%s  %s", bar, (int)(done + 1e-9), total, tail, name);
    if (n >= width && width > 0 && (size_t)width < size) {
        to[width - 1] = '\0';
    }
}

static void draw(Progress *p, bool always)
{
    double t = now();
    if (!p->bar || (!always && p->drawn && t - p->drawn_at < 0.1)) {
        return;
    }
    char line[600];
    progress_line(line, sizeof line, terminal_width(p->to), p->parts, p->total, p->skipped, t - p->begin, p->name);
    fprintf(p->to, "\r%s\033[K", line);
    fflush(p->to);
    p->drawn = true;
    p->drawn_at = t;
}

Progress *progress_new(FILE *to, int total, bool bar, bool quiet)
{
    Progress *p = quiet ? NULL : calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    p->to = to;
    p->bar = bar;
    p->total = total;
    p->begin = now();
    draw(p, true);
    return p;
}

void progress_part(Progress *p, double part)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->parts += part;
    draw(p, false);
    pthread_mutex_unlock(&p->lock);
}

void progress_image(Progress *p, const char *name, const char *detail)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->images++;
    snprintf(p->name, sizeof p->name, "%s", name);
    if (p->bar) {
        draw(p, p->images + p->skipped == p->total);
    } else {
        fprintf(p->to, "%d/%d %s  %s\n", p->images + p->skipped, p->total, name, detail);
        fflush(p->to);
    }
    pthread_mutex_unlock(&p->lock);
}

void progress_note(Progress *p, const char *format, ...)
{
    if (p == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&p->lock);
    fputs(p->drawn ? "\r\033[Knote: " : "note: ", p->to);
    vfprintf(p->to, format, arguments);
    fputc('\n', p->to);
    fflush(p->to);
    draw(p, true);
    pthread_mutex_unlock(&p->lock);
    va_end(arguments);
}

void progress_skip(Progress *p, int images)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->skipped += images;
    p->parts += images;
    pthread_mutex_unlock(&p->lock);
}

void progress_end(Progress *p)
{
    if (p == NULL) {
        return;
    }
    if (p->drawn) {
        fputs("\r\033[K", p->to);
        fflush(p->to);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}
