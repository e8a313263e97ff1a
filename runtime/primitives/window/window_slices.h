/*
 * window_slices: tiles of windows that are ranked bit by bit (kernels/window_slices.cl).
 */
#ifndef RUNTIME_WINDOW_SLICES_H
#define RUNTIME_WINDOW_SLICES_H

#include "../prim_lanes.h"

#include "../../../base/window.h"

typedef struct WindowSlices {
    int bits, digits;    /* of a key, and of a count of the window's pixels */
    int reach[3];        /* of the window: x, y, z */
    int rows, items;     /* of a tile, and of its group */
    size_t local;        /* bytes of local memory */
    size_t across, down; /* tiles of a plane */
} WindowSlices;

/* False: windows are ranked in another way, since that is faster or since the tile does not fit. */
bool window_slices(const PrimCall *call, const Window *window, Elem keys, WindowSlices *slices);

#endif
