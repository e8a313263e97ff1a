/*
 * measuring: one measurement under way; what prim_measure.c, measure_stages.c and measure_finish.c
 * share.
 *
 * Objects are measured in chunks of at most scratch.objects labels.  Stages after the first kernel
 * need counts and boxes of a chunk on the host; at the end its sums come over in blocks, so that
 * the host works in its cache.
 */
#ifndef RUNTIME_MEASURING_H
#define RUNTIME_MEASURING_H

#include "measure_plan.h"

typedef struct Measuring {
    PrimCall *call;
    MeasureList list;
    MeasureFrame frame;
    MeasureLanes lanes;
    MeasureScratch at;
    uint32_t count;       /* labels in all */
    uint32_t first, n;    /* the chunk: labels first .. first + n - 1 */
    int strip;            /* rows that a work-item goes down */
    DevMem *spread, *window, *table, *lows, *place, *heights, *work; /* slices of scratch */
    uint64_t *counts;     /* [n], for the stages */
    uint32_t *boxes;      /* [lane][n], for the stages */
    double *hull, *feret; /* [n]: 3-D: hulls and diameters found on the host */
    size_t block;         /* objects whose sums are on the host at a time */
    uint64_t *sums;       /* [lane][block] */
    uint32_t *minima;     /* [lane][block] */
} Measuring;

/* Builds a kernel text behind the shared head; `value` > 0 defines READ_VALUE as that reader. */
bool measuring_program(const Measuring *m, const char *text, bool reads, int value,
                       DevProgram **program);

typedef struct MeasuringLaunch {
    DevProgram *program;
    const char *kernel;
    bool reads;          /* the reader's arguments come first */
    size_t groups[3];    /* 0: over the image, in strips */
    size_t group;
    const DevArg *args;
    int n_args;
} MeasuringLaunch;
bool measuring_launch(const Measuring *m, const MeasuringLaunch *launch);

/* Everything after the first kernel: rows, hulls, moments, medians, holes. */
bool measuring_stages(Measuring *m);
/* True when the stages need the counts and boxes on the host. */
bool measuring_has_stages(const Measuring *m);

/* The box of object k, both ends included, from minima that lie `stride` apart. */
void measuring_box(const uint32_t *minima, size_t stride, int dims, uint32_t k, int32_t lo[3],
                   int32_t hi[3]);
/* Appends the chunk's present objects to the table. */
bool measuring_finish(Measuring *m, PrimTable *table);

#endif
