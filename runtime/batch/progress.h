/*
 * progress: how far a batch is.  On a terminal a bar in front of the status line (host/status.h), with counts, rate and
 * remaining time.  Elsewhere one line for each image, as logs want it.
 *
 * All functions may be called from several threads.
 */
#ifndef RUNTIME_PROGRESS_H
#define RUNTIME_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Progress Progress;

/* `total` images, each with a share of the work that grows by frames; NULL when out of memory or
 * when `quiet`: the functions below do nothing then.  `bar`: the status line is open, and the bar stands in it. */
Progress *progress_new(FILE *to, int total, bool bar, bool quiet);
/* A part (0 .. 1) of one more image is done. */
void progress_part(Progress *progress, double part);
/* An image is done, or failed; `detail` follows the name: "0.52 s", "failed: ...". */
void progress_image(Progress *progress, const char *name, const char *detail);
/* "note: ..." on a line of its own. */
void progress_note(Progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Images that an earlier run has done: they count, but not for the rate. */
void progress_skip(Progress *progress, int images);
/* Where there is a bar, a line that says how much was done in how long takes its place. */
void progress_end(Progress *progress); /* frees; NULL is allowed */

/* The bar's text for `done` of `total`; `rate`: images a second, 0 while nobody knows it. */
void progress_line(char *to, size_t size, double done, int total, double rate, const char *name);
/* "45 s", "3:07 min", "2:05:00 h" */
void progress_duration(char *to, size_t size, double seconds);

#endif
