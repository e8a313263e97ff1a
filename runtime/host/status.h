/*
 * status: one line on a terminal that says what the process is doing.  It is drawn again whenever it changes, and its
 * seconds count on, so that nobody wonders whether a long compilation has hung.  A process has one; until it is
 * opened, which only a command line on a terminal does, all functions but status_print do nothing.
 *
 * All functions may be called from any thread.
 */
#ifndef RUNTIME_STATUS_H
#define RUNTIME_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Who does something; the first of those that do is shown. */
typedef enum StatusLane { STATUS_DEVICE, STATUS_READ, STATUS_WRITE, STATUS_REST, STATUS_LANES } StatusLane;

/* Draws on `to`, which is a terminal and stays open, until status_close.  Without a thread there is no line. */
void status_open(FILE *to);
bool status_is_open(void);
/* Removes the line for good; to be called before other text follows. */
void status_close(void);

/* "reading cells.tif"; NULL: the lane does nothing any more. */
void status_say(StatusLane lane, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The device's "step" or "kernel" k of n; `first`: for the first time, so that what is compiled is compiled for it. */
void status_step(const char *what, int k, int n, const char *name, bool first);
/* A program is built, or taken from the driver's cache. */
void status_build(bool begins);
/* It is built, as the driver, which keeps what it has built, has never met it. */
void status_compiles(void);
/* Whether one took so long that it was compiled, and was so later than `since` (seconds of CLOCK_MONOTONIC). */
bool status_has_compiled(double since);

/* What stands in front: the bar of a batch, told whether the device waits for what is compiled.  NULL: nothing any more. */
typedef void StatusFront(void *context, bool compiling, char *to, size_t size);
void status_front(StatusFront *text, void *context);
/* A line of its own above the status; on `to` where there is none. */
void status_print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The line as it is now, at most `width` columns; for those that draw, and tests. */
void status_text(char *to, size_t size, int width);

#endif
