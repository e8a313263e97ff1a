/*
 * window_slices: which windows are ranked bit by bit, and in tiles of how many rows: as many as fit.
 */
#include "window_slices.h"

#include <math.h>

enum {
    WORDS = 8,     /* of a row of a tile, as in kernels/window_slices.cl */
    FARTHEST = 31, /* to the side: in the next word */
    MOST_ROWS = 32,
    LEAST_ROWS = 8,
    STEPS_A_BIT = 6,  /* of a pixel of the window beside those that compare its higher bits */
    MOST_WORK = 90000 /* steps of 32 windows, up to which this is faster than sliding on an H100 */
};

static size_t bytes_of(const WindowSlices *s)
{
    const size_t pitch = (size_t)s->bits * (WORDS + 2) + 8;
    return (size_t)(s->rows + 2 * s->reach[1]) * (size_t)(2 * s->reach[2] + 1) * pitch * sizeof(uint32_t);
}

bool window_slices(const PrimCall *call, const Window *window, Elem keys, WindowSlices *s)
{
    int pixels;
    if (call->dev == NULL || visit_is_cpu(call) || !elem_is_integer(keys) || elem_size(keys) > 2) {
        return false;
    }
    for (int axis = 0; axis < 3; axis++) {
        const double reach = floor(window->radius[axis]);
        if (!(reach <= FARTHEST)) {
            return false;
        }
        s->reach[axis] = reach > 0 ? (int)reach : 0;
    }
    (void)window_runs(window, NULL, 0, &pixels);
    s->bits = 8 * (int)elem_size(keys);
    s->digits = lanes_bits_for(pixels + 1);
    s->rows = MOST_ROWS;
    while (s->rows > LEAST_ROWS && bytes_of(s) > dev_info(call->dev)->local) {
        s->rows /= 2;
    }
    s->items = WORDS * s->rows;
    s->local = bytes_of(s);
    s->across = lanes_divided_up((size_t)call->w, (size_t)(32 * WORDS));
    s->down = lanes_divided_up((size_t)call->h, (size_t)s->rows);
    return pixels > 0 && pixels * s->bits * (s->bits + STEPS_A_BIT) <= MOST_WORK &&
           s->local <= dev_info(call->dev)->local;
}
