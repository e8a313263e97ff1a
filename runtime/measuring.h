/*
 * measuring: one measurement under way; what prim_measure.c, measure_stages.c and measure_finish.c
 * share.
 *
 * Objects are measured in chunks of at most scratch.objects labels.  A chunk's sums come to the
 * host twice: after the first kernel when later stages need counts and boxes there, and at the
 * end.
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
    uint64_t *sums;       /* [lane][n] */
    uint32_t *minima;     /* [lane][n] */
    double *hull;         /* 3-D, [n]: hulls and diameters found on the host */
    double *feret;
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

/* The box of object k of the chunk, both ends included, from the sums on the host. */
void measuring_box(const Measuring *m, uint32_t k, int32_t lo[3], int32_t hi[3]);
/* Appends the chunk's present objects to the table. */
bool measuring_finish(const Measuring *m, PrimTable *table);

#endif
