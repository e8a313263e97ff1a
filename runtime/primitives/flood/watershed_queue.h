/*
 * watershed_queue: scikit-image's flood, pixel after pixel, on the host.
 */
#ifndef RUNTIME_WATERSHED_QUEUE_H
#define RUNTIME_WATERSHED_QUEUE_H

#include "../prim_host.h"

typedef struct WatershedCell {
    uint32_t rank;  /* of the value; 0: not in the mask, or on a line */
    uint32_t label; /* 0: none yet */
} WatershedCell;

typedef struct WatershedDrop {
    uint64_t key; /* rank of the level, then age */
    uint32_t at, label;
} WatershedDrop;

typedef struct WatershedQueue {
    const PrimCall *call;
    bool line, raster;
    size_t wide, tall, deep, cells; /* of the volume, padded by closed cells */
    int64_t offsets[26];            /* nearest first */
    int n_offsets;
    WatershedCell *at; /* the volume; whoever floods it owns it */
    WatershedDrop *heap;
    size_t n, cap;
    uint32_t age;
    uint32_t patience; /* age up to which lines spread again */
    uint32_t marked;   /* markers have ages up to this one */
    size_t waiting;    /* markers in the queue */
    uint32_t *turns;   /* the cells of markers, as they leave the queue; NULL: nobody asked */
    size_t n_turns;
} WatershedQueue;

/* For volumes of a call; of one in parts, for those of the whole image.  Refuses what is too large.
 */
bool watershed_queue_open(WatershedQueue *q, const PrimCall *call);
/* Frees all but the volume. */
void watershed_queue_close(WatershedQueue *q);

/* The cells of a volume, all closed (free); NULL: no memory. */
WatershedCell *watershed_queue_cells(const WatershedQueue *q);
WatershedCell *watershed_queue_row(const WatershedQueue *q, size_t y, size_t z);
/* Plane z of the call's inputs into plane `to` of the volume, whose rows begin at `top`. */
bool watershed_queue_load(WatershedQueue *q, HostPlane *plane, size_t z, size_t top, size_t to);

/* Floods the volume: each cell has its label, closed ones have none. */
bool watershed_queue_flood(WatershedQueue *q);
/* Floods it until the last marker of rank `highest` had its turn, and fills `turns`. */
bool watershed_queue_turns(WatershedQueue *q, uint32_t highest);

#endif
