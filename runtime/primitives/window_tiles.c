/*
 * window_tiles: tiles grow along the axis that saves most while that saves anything.
 *
 * What a pixel costs is counted in flips of a bit: two for each run of the footprint, as many as sorting the
 * places of a tile is worth, and the first window of each plane.  A large tile has fewer places for each of its
 * pixels, but needs more memory, and there must be tiles for all units.
 */
#include "window_tiles.h"

#include <math.h>

enum {
    SORTING = 8,  /* flips that a place is worth */
    FINDING = 40, /* flips that finding the rank is worth */
    DIGITS = 256, /* as in kernels/window_slide.cl */
    BLOCK = 1024,
    BLOCK_WORDS = 33, /* its bits and its count */
    FOUND_A_FLIP = 2, /* blocks that are looked through meanwhile */
    GROUPS_A_UNIT = 2,
    TILES_A_UNIT = 4,
    LEAST_SHARE = 8 /* scratch may be this part of the memory that may be held */
};

static const size_t MOST_BYTES = (size_t)128 << 20, MOST_PLACES = (size_t)1 << 26;

static int extent(const PrimCall *call, int axis)
{
    return axis == 0 ? call->w : axis == 1 ? call->h : call->d;
}

size_t window_tiles_along(const PrimCall *call, const WindowTiles *t, int axis)
{
    return lanes_divided_up((size_t)extent(call, axis), (size_t)t->size[axis]);
}

static size_t count_tiles(const PrimCall *call, const WindowTiles *t)
{
    size_t n = (size_t)(call->planes / call->d);
    for (int axis = 0; axis < 3; axis++) {
        n *= window_tiles_along(call, t, axis);
    }
    return n;
}

size_t window_tiles_place(const WindowTiles *t)
{
    return t->places <= UINT16_MAX + 1 ? sizeof(uint16_t) : sizeof(uint32_t);
}

static size_t units(const PrimCall *call)
{
    int n = dev_info(call->dev)->units;
    return n > 0 ? (size_t)n : 1;
}

static size_t most_bytes(const PrimCall *call)
{
    uint64_t share = dev_limit(call->dev) / LEAST_SHARE;
    return share < MOST_BYTES ? (size_t)share : MOST_BYTES;
}

/* What follows from the size.  False: it is too large. */
static bool measure(const PrimCall *call, WindowTiles *t)
{
    double places = 1;
    for (int axis = 0; axis < 3; axis++) {
        places *= t->size[axis] + 2.0 * t->reach[axis];
    }
    if (places > (double)MOST_PLACES) {
        return false;
    }
    t->places = (size_t)places;
    size_t words = lanes_divided_up(t->places, BLOCK) * BLOCK_WORDS;
    t->local = (words > DIGITS ? words : DIGITS) * sizeof(uint32_t);
    t->words = t->places + lanes_divided_up(2 * t->places * window_tiles_place(t), sizeof(uint32_t));
    return t->local <= dev_info(call->dev)->local &&
           (t->edges + t->words) * sizeof(uint32_t) <= most_bytes(call);
}

static double cost(const PrimCall *call, const WindowTiles *t, int pixels)
{
    double places = (double)t->places, plane = 1;
    for (int axis = 0; axis < 2; axis++) {
        plane *= fmin(t->size[axis], extent(call, axis));
    }
    return 2.0 * t->n_runs + FINDING + places / (2 * BLOCK * FOUND_A_FLIP) +
           SORTING * places / (plane * fmin(t->size[2], call->d)) + pixels / plane;
}

/* Reads of the window for a pixel when values are found bit by bit. */
static double reads(const PrimCall *call, int pixels)
{
    return pixels * (1 + 4 * (double)elem_size(call->in[0].elem));
}

/* Makes a tile twice as long along the axis where that saves most.  False: it saves nothing. */
static bool grow(const PrimCall *call, WindowTiles *t, int pixels)
{
    double lowest = cost(call, t, pixels);
    WindowTiles best = *t;
    bool grown = false;
    for (int axis = 0; axis < 3; axis++) {
        WindowTiles longer = *t;
        longer.size[axis] *= 2;
        if (t->size[axis] < extent(call, axis) && count_tiles(call, &longer) >= units(call) * TILES_A_UNIT &&
            measure(call, &longer) && cost(call, &longer, pixels) < lowest) {
            lowest = cost(call, &longer, pixels);
            best = longer;
            grown = true;
        }
    }
    *t = best;
    return grown;
}

/* As many tiles as before, but of the same size all of them. */
static void even_out(const PrimCall *call, WindowTiles *t)
{
    for (int axis = 0; axis < 3; axis++) {
        size_t own = lanes_divided_up((size_t)extent(call, axis), window_tiles_along(call, t, axis));
        t->size[axis] = (int)own;
    }
    measure(call, t);
}

bool window_tiles(const PrimCall *call, const Window *window, WindowTiles *t)
{
    int pixels;
    if (call->dev == NULL || !visit_is_cpu(call)) {
        return false;
    }
    *t = (WindowTiles){.size = {1, 1, 1}};
    for (int axis = 0; axis < 3; axis++) {
        t->reach[axis] = (int)floor(window->radius[axis]);
    }
    t->n_runs = window_runs(window, NULL, 0, &pixels);
    t->n_columns = window_columns(window, NULL, 0, &pixels);
    t->edges = 2 * ((size_t)t->n_runs + (size_t)t->n_columns);
    if (pixels == 0 || !measure(call, t)) {
        return false;
    }
    while (grow(call, t, pixels)) {
    }
    if (cost(call, t, pixels) > reads(call, pixels)) {
        return false;
    }
    even_out(call, t);
    size_t tiles = count_tiles(call, t), busy = units(call) * GROUPS_A_UNIT;
    size_t room = (most_bytes(call) / sizeof(uint32_t) - t->edges) / t->words;
    t->groups = tiles < busy ? tiles : busy;
    t->groups = t->groups < room ? t->groups : room;
    return true;
}

size_t window_tiles_bytes(const WindowTiles *t)
{
    return (t->edges + t->groups * t->words) * sizeof(uint32_t);
}
