/*
 * window: the pixels that a footprint covers, as compiler, reference and runtime all see them.
 */
#ifndef BASE_WINDOW_H
#define BASE_WINDOW_H

#include <stdbool.h>

typedef enum WindowShape {
    WINDOW_BOX,     /* all offsets within the radii */
    WINDOW_DISK,    /* x * x + y * y <= r * r, r the radius along x */
    WINDOW_BALL,    /* x * x + y * y + z * z <= r * r */
    WINDOW_DIAMOND, /* |x| + |y| + |z| <= r */
    WINDOW_LITERAL, /* the cells that are '1' */
    WINDOW_SHAPES
} WindowShape;

typedef struct Window {
    WindowShape shape;
    double radius[3];  /* x, y, z */
    const char *cells; /* LITERAL: '0' and '1', x fastest; else not looked at */
} Window;

/* Neighbouring offsets of one row: x from first to last at y and z. */
typedef struct WindowRun {
    int first, last, y, z;
} WindowRun;

/* By name: "box", "disk" ...; WINDOW_SHAPES for any other. */
WindowShape window_shape(const char *name);
bool window_has(const Window *window, int x, int y, int z);
/* The runs in raster order, at most `room` of them; returns how many there are.  *pixels is the
 * number of offsets. */
int window_runs(const Window *window, WindowRun *runs, int room, int *pixels);
/* The same column by column: y from first to last at x (in the place of y) and z. */
int window_columns(const Window *window, WindowRun *runs, int room, int *pixels);
/* Which of n sorted values stands for a percentile. */
int window_rank(int n, double percent);

#endif
