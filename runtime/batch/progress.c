/*
 * progress: on a terminal the bar stands in front of the status line, whose thread draws it; elsewhere each image
 * gets a line.
 *
 * How long it will take follows from what was done since the first result: what is compiled once, and the
 * filling of the queues, lie before it.
 */
#include "progress.h"

#include "../../base/utf8.h"
#include "../host/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct Progress {
    pthread_mutex_t lock;
    FILE *to;
    bool bar;
    int total, skipped, images;
    double parts; /* work done, in images */
    double begin;
    double warm, warm_at; /* what was done when the first result was there, and when */
    char name[4096];      /* as shown */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

void progress_line(char *to, size_t size, double done, int total, double rate, const char *name)
{
    enum { CELLS = 20 };
    char bar[CELLS + 1], tail[200] = "";
    double part = total > 0 ? done / total : 1;
    for (int i = 0; i < CELLS; i++) {
        bar[i] = (i + 1) <= part * CELLS + 1e-9 ? '#' : '.';
    }
    bar[CELLS] = '\0';
    if (rate > 0) {
        char left[40];
        progress_duration(left, sizeof left, (total - done) / rate);
        if (rate >= 1) {
            snprintf(tail, sizeof tail, "  %.1f images/s  %s left", rate, left);
        } else {
            snprintf(tail, sizeof tail, "  %.1f s/image  %s left", 1 / rate, left);
        }
    }
    snprintf(to, size, "[%s] %d/%d%s  %s", bar, (int)(done + 1e-9), total, tail, name);
}

/* The bar, called by the status line. */
static void bar_text(void *context, bool compiling, char *to, size_t size)
{
    Progress *p = context;
    pthread_mutex_lock(&p->lock);
    if (compiling && p->warm_at > 0) { /* that time tells nothing of what is left */
        p->warm = p->parts;
        p->warm_at = now();
    }
    if (p->total == 1 && !(p->parts > 0)) { /* nothing to count yet */
        pthread_mutex_unlock(&p->lock);
        return;
    }
    const double since = p->warm_at > 0 ? now() - p->warm_at : 0, fresh = p->parts - p->warm;
    progress_line(to, size, p->parts, p->total, fresh > 0 && since > 0 ? fresh / since : 0, p->name);
    pthread_mutex_unlock(&p->lock);
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
    if (bar) {
        status_front(bar_text, p);
    }
    return p;
}

void progress_part(Progress *p, double part)
{
    if (p == NULL) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->parts += part;
    if (!(p->warm_at > 0)) {
        p->warm = p->parts;
        p->warm_at = now();
    }
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
    utf8_hide_controls(p->name, false);
    if (!p->bar) {
        fprintf(p->to, "%d/%d %s  %s\n", p->images + p->skipped, p->total, p->name, detail);
        fflush(p->to);
    }
    pthread_mutex_unlock(&p->lock);
}

void progress_note(Progress *p, const char *format, ...)
{
    if (p == NULL) {
        return;
    }
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    utf8_hide_controls(text, false);
    status_print(p->to, "note: %s\n", text);
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
    if (p->bar) {
        status_front(NULL, NULL);
        status_print(p->to, "%d/%d %s  %.2f s%s\n", p->images + p->skipped, p->total,
                     p->total == 1 ? p->name : "images", now() - p->begin,
                     now() - p->begin > 1 && status_has_compiled(p->begin) ? ", compiling included" : "");
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}
