/* window: a footprint row by row. */
#include "window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[WINDOW_SHAPES] = {
    [WINDOW_BOX] = "box",         [WINDOW_DISK] = "disk",       [WINDOW_BALL] = "ball",
    [WINDOW_DIAMOND] = "diamond", [WINDOW_LITERAL] = "literal",
};

WindowShape window_shape(const char *name)
{
    int shape = 0;
    while (shape < WINDOW_SHAPES && strcmp(NAMES[shape], name) != 0) {
        shape++;
    }
    return (WindowShape)shape;
}

static int reach(const Window *w, int axis)
{
    return (int)floor(w->radius[axis]);
}

bool window_has(const Window *w, int x, int y, int z)
{
    double r = w->radius[0], flat = (double)x * x + (double)y * y;
    int rx = reach(w, 0), ry = reach(w, 1);
    switch (w->shape) {
    case WINDOW_DISK:
        return flat <= r * r;
    case WINDOW_BALL:
        return flat + (double)z * z <= r * r;
    case WINDOW_DIAMOND:
        return abs(x) + abs(y) + abs(z) <= r;
    case WINDOW_LITERAL:
        return w->cells[((z + reach(w, 2)) * (2 * ry + 1) + y + ry) * (2 * rx + 1) + x + rx] == '1';
    default:
        return true;
    }
}

/* Adds the runs of one row, or of one column. */
static void add_line(const Window *w, bool column, int across, int z, WindowRun *runs, int room, int *n, int *pixels)
{
    int far = reach(w, column ? 1 : 0);
    bool before = false;
    for (int i = -far; i <= far; i++) {
        bool here = column ? window_has(w, across, i, z) : window_has(w, i, across, z);
        *pixels += here;
        *n += here && !before;
        if (here && *n <= room) {
            runs[*n - 1] = (WindowRun){before ? runs[*n - 1].first : i, i, across, z};
        }
        before = here;
    }
}

static int add_lines(const Window *w, bool columns, WindowRun *runs, int room, int *pixels)
{
    int n = 0, far = reach(w, columns ? 0 : 1), deep = reach(w, 2);
    *pixels = 0;
    for (int z = -deep; z <= deep; z++) {
        for (int across = -far; across <= far; across++) {
            add_line(w, columns, across, z, runs, room, &n, pixels);
        }
    }
    return n;
}

int window_runs(const Window *w, WindowRun *runs, int room, int *pixels)
{
    return add_lines(w, false, runs, room, pixels);
}

int window_columns(const Window *w, WindowRun *runs, int room, int *pixels)
{
    return add_lines(w, true, runs, room, pixels);
}

int window_rank(int n, double percent)
{
    double nth = floor(n * (percent / 100));
    return (int)fmax(fmin(nth, n - 1), 0);
}
