/*
 * prim_lanes: launches with a work-item for each pixel (or for each of any columns and rows), where
 * items need nothing of each other (kernels/lanes.cl).
 */
#ifndef RUNTIME_PRIM_LANES_H
#define RUNTIME_PRIM_LANES_H

#include "prim_visit.h"

extern const char kernel_text_lanes[];

typedef struct LanesLaunch {
    DevProgram *program;
    const char *kernel;
    bool reads; /* the reader's arguments go first */
    size_t columns, rows;
    const DevArg *args; /* behind the first one, `int lanes` */
    int n_args;
} LanesLaunch;
bool lanes_launch(const PrimCall *call, const LanesLaunch *launch);

static inline size_t lanes_divided_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* The bits that numbers below n need. */
static inline int lanes_bits_for(int n)
{
    int bits = 0;
    while ((int64_t)1 << bits < n) {
        bits++;
    }
    return bits;
}

#endif
