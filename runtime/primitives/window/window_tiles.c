/*
 * window_tiles: tiles grow along the axis that saves most while that saves anything.
 *
 * A large tile has fewer places for each of its pixels, but the sets of its walkers need more local memory, so that
 * fewer groups share a unit; and there must be tiles for all of them.  What things cost stands in a table for
 * either kind of device, fitted to measurements (bench/README.md); no bit depends on it.
 */
#include "window_tiles.h"

#include <math.h>

enum {
    WAVE = 32,      /* as in kernels/window_slide.cl */
    LEAST_SHARE = 8 /* scratch may be this part of the memory that may be held */
};

/* What a device has, and what things cost there, in reads of a pixel under a window. */
typedef struct Kind {
    int items, digit; /* of a group, and bits that they sort by at a time */
    int most_walkers, least_walkers;
    int ahead;    /* ends of runs that a walker looks at together */
    int tiles;    /* that there are for each unit at least */
    double lanes; /* work-items of a unit at a time */
    double local; /* bytes of local memory of a unit */
    double late;  /* rounds that it takes to keep all of it busy */
    double flip;  /* of the bit of a place, */
    double find;  /* and of a rank, by one walker */
    double place; /* that is read and sorted, */
    double pass;  /* by one digit */
} Kind;

static const Kind CPU = {.items = 1,
                         .digit = 8,
                         .most_walkers = 1,
                         .least_walkers = 1,
                         .ahead = 1,
                         .tiles = 4,
                         .lanes = 1,
                         .local = INFINITY,
                         .flip = 1,
                         .find = 40,
                         .place = 8},
                  GPU = {.items = 256,
                         .digit = 9,
                         .most_walkers = 32,
                         .least_walkers = 4,
                         .ahead = 8,
                         .lanes = 2048,
                         .local = 228 << 10,
                         .late = 0.5,
                         .flip = 155,
                         .find = 12500,
                         .place = 57,
                         .pass = 13};

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

/* That pixels and the one outside can have. */
static double values_of(const PrimCall *call)
{
    return pow(2, 8 * (double)elem_size(call->window_rank.image.elem)) + 1;
}

static size_t units(const PrimCall *call)
{
    int n = dev_info(call->dev)->units;
    return n > 0 ? (size_t)n : 1;
}

static size_t most_bytes(const PrimCall *call)
{
    uint64_t share = (call->limit > 0 ? call->limit : dev_limit(call->dev)) / LEAST_SHARE;
    return share < MOST_BYTES ? (size_t)share : MOST_BYTES;
}

static const Kind *kind_of(const PrimCall *call)
{
    return visit_is_cpu(call) ? &CPU : &GPU;
}

/* Of digits, in a pass of sorting. */
static size_t counts(const WindowTiles *t)
{
    return lanes_divided_up((size_t)t->items, WAVE) << t->digit;
}

/* Of n counts (kernels/window_counts.cl). */
static double bounds(double n)
{
    return 2 * ceil(sqrt(n)) + 4;
}

/* What all walkers have room for; one that is alone has room for all that there may be. */
static double usual_values(const PrimCall *call, const WindowTiles *t)
{
    const double usual = t->walkers > 1 ? 512 : INFINITY;
    return fmin(fmin((double)t->places, values_of(call)), usual);
}

/* Words of local memory for the walkers' sets: bits, or counts of the usual values for all walkers and of all
 * that there may be for one. */
static size_t sets(const PrimCall *call, const WindowTiles *t)
{
    if (!t->mode) {
        return lanes_divided_up(t->places, 32) * (size_t)t->walkers;
    }
    const double usual = usual_values(call, t), most = fmin((double)t->places, values_of(call));
    double n = fmax((usual + bounds(usual)) * t->walkers, most + bounds(most));
    return lanes_divided_up((size_t)n * window_tiles_place(t), sizeof(uint32_t));
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
    size_t sorting = (size_t)t->items + counts(t) + counts(t) / 32;
    size_t walking = sets(call, t);
    t->local = (walking > sorting ? walking : sorting) * sizeof(uint32_t);
    size_t key = call->out[0].elem == ELEM_F64 ? sizeof(uint64_t) : sizeof(uint32_t);
    size_t orders = (t->mode ? 3 : 2) * t->places + (size_t)t->size[0] * (size_t)t->size[1];
    size_t bytes = t->places * key + orders * window_tiles_place(t);
    t->words = lanes_divided_up(bytes, sizeof(uint64_t)) * 2; /* keys may have as many bytes */
    return t->local <= dev_info(call->dev)->local && (t->edges + t->words) * sizeof(uint32_t) <= most_bytes(call);
}

/* Groups that a unit has at a time. */
static double groups_a_unit(const PrimCall *call, const WindowTiles *t)
{
    const double own = 1024; /* bytes that each has beside what it asks for */
    const Kind *kind = kind_of(call);
    double groups = fmin(kind->lanes / t->items, floor(kind->local / ((double)t->local + own)));
    double room = (double)(most_bytes(call) / sizeof(uint32_t) - t->edges) / (double)t->words;
    return fmin(fmax(groups, 1), room / (double)units(call));
}

/* How much longer n of something take than if they filled the device all the time. */
static double idle(double n, double at_a_time, double late)
{
    return (fmax(n / at_a_time, 1) + late) * at_a_time / n;
}

/* What a pixel costs: what its walker does, while others do the same, and what its group sorts. */
static double cost(const PrimCall *call, const WindowTiles *t, int pixels)
{
    const double counts_a_place = 64; /* that take as long to add up */
    const Kind *kind = kind_of(call);
    double plane = 1, groups = groups_a_unit(call, t);
    for (int axis = 0; axis < 2; axis++) {
        plane *= fmin(t->size[axis], extent(call, axis));
    }
    double flips = 2.0 * t->n_columns + pixels * t->walkers / plane;
    /* Of counts and bounds, and a look at these. */
    double steps = t->mode ? 2 * flips + bounds(usual_values(call, t)) : flips;
    double places = (double)t->places + (double)counts(t) / counts_a_place;
    double passes = ceil(8.0 * (double)elem_size(call->window_rank.image.elem) / t->digit);
    double sorting = places * (kind->place + kind->pass * passes);
    return ((kind->flip * steps + kind->find) / (t->walkers * groups) + sorting / (plane * fmin(t->size[2], call->d))) *
           idle((double)count_tiles(call, t), (double)units(call) * groups, kind->late);
}

/* Reads of the window for a pixel when values are found bit by bit, or each that there may be is counted. */
static double reads(const PrimCall *call, const WindowTiles *t, int pixels)
{
    double n = (double)call->w * call->h * call->planes;
    double bits = 8 * (double)elem_size(call->window_rank.image.elem);
    return pixels * (t->mode ? fmin(pixels, values_of(call)) : 1 + bits / 2) *
           idle(n, (double)units(call) * kind_of(call)->lanes, 0);
}

/* Makes a tile twice as long along the axis where that saves most.  False: it saves nothing. */
static bool grow(const PrimCall *call, WindowTiles *t, int pixels)
{
    size_t least = (size_t)kind_of(call)->tiles;
    double lowest = cost(call, t, pixels);
    WindowTiles best = *t;
    bool grown = false;
    for (int axis = 0; axis < 3; axis++) {
        WindowTiles longer = *t;
        longer.size[axis] *= 2;
        if (t->size[axis] < extent(call, axis) && count_tiles(call, &longer) >= units(call) * least &&
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

/* False: sliding costs more than reading. */
static bool choose(const PrimCall *call, WindowTiles *t, int pixels)
{
    const Kind *kind = kind_of(call);
    double lowest = reads(call, t, pixels);
    WindowTiles own = *t;
    bool found = false;
    for (int walkers = kind->most_walkers; walkers >= kind->least_walkers; walkers /= 2) {
        own.walkers = own.size[0] = walkers;
        own.size[1] = own.size[2] = 1;
        if (!measure(call, &own)) {
            continue;
        }
        while (grow(call, &own, pixels)) {
        }
        if (cost(call, &own, pixels) < lowest) {
            lowest = cost(call, &own, pixels);
            *t = own;
            found = true;
        }
    }
    return found;
}

static int filled_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

bool window_tiles(const PrimCall *call, const Window *window, bool mode, WindowTiles *t)
{
    int pixels;
    if (call->dev == NULL) {
        return false;
    }
    const Kind *kind = kind_of(call);
    *t = (WindowTiles){.mode = mode, .items = kind->items, .digit = kind->digit, .ahead = kind->ahead};
    for (int axis = 0; axis < 3; axis++) {
        t->reach[axis] = (int)floor(window->radius[axis]);
    }
    t->n_runs = filled_up(window_runs(window, NULL, 0, &pixels), t->ahead);
    t->n_columns = filled_up(window_columns(window, NULL, 0, &pixels), t->ahead);
    t->edges = 2 * ((size_t)t->n_runs + (size_t)t->n_columns);
    if (pixels == 0 || !choose(call, t, pixels)) {
        return false;
    }
    even_out(call, t);
    double tiles = (double)count_tiles(call, t), busy = groups_a_unit(call, t) * (double)units(call);
    t->groups = (size_t)fmax(fmin(tiles, floor(busy)), 1);
    return true;
}

size_t window_tiles_bytes(const WindowTiles *t)
{
    return (t->edges + t->groups * t->words) * sizeof(uint32_t);
}
