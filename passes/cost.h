/*
 * cost: the roofline of a kernel.  A pixel takes as long as moving its bytes or as computing it,
 * whichever is longer, so time is counted in operations and a byte is as many of them as a GPU does
 * while it moves one.
 */
#ifndef PASSES_COST_H
#define PASSES_COST_H

#include "pass.h"

typedef struct CostKernel {
    double bytes, ops;   /* a pixel */
    double halo;         /* rows (planes) computed in front of a strip */
    double registers;    /* of a work-item, for the folds over rows */
    bool known;          /* the reach of all folds is, or follows from the parameters' defaults */
} CostKernel;

/* Of stages that are computed in one kernel; those that the schedule stores are written. */
CostKernel cost_kernel(IrGraph *g, const IrSchedule *s, const IrId *stages, int n);
double cost_time(const CostKernel *k);
/* Of as many bytes a pixel alone. */
double cost_bytes(double bytes);
/* How often a row is computed with strips as long as the runtime makes them. */
double cost_strip_factor(double halo);

#endif
