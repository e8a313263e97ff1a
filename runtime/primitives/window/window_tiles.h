/*
 * window_tiles: how windows that slide cut an image into tiles, and what a tile takes
 * (kernels/window_slide.cl).
 */
#ifndef RUNTIME_WINDOW_TILES_H
#define RUNTIME_WINDOW_TILES_H

#include "../prim_lanes.h"

#include "../../../base/window.h"

typedef struct WindowTiles {
    bool mode;             /* counts of values, not a bit for each rank */
    int reach[3];          /* of the window: x, y, z */
    int ahead;             /* ends of runs that a walker looks at together */
    int n_runs, n_columns; /* of the footprint, along x and along y, filled up to multiples of that */
    int items, walkers;    /* work-items of a group, and the most that slide */
    int digit;             /* bits that a pass of sorting looks at */
    int size[3];           /* pixels of a tile */
    size_t places;         /* pixels of a tile and all that their windows reach */
    size_t local;          /* bytes of local memory */
    size_t words;          /* of scratch, for each group; before them: */
    size_t edges;          /* words of the footprint's edges */
    size_t groups;
} WindowTiles;

/* Tiles for a call about the longest part.  False: the window is better read again for each pixel, its tiles do
 * not fit, or the plan is for no device that is there. */
bool window_tiles(const PrimCall *longest, const Window *window, bool mode, WindowTiles *tiles);

/* How many there are along an axis of a call about any part. */
size_t window_tiles_along(const PrimCall *call, const WindowTiles *tiles, int axis);

/* Bytes of scratch. */
size_t window_tiles_bytes(const WindowTiles *tiles);

/* Bytes of a place's number. */
size_t window_tiles_place(const WindowTiles *tiles);

#endif
