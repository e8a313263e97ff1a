/*
 * range: what an expression can be at the smallest and at the largest, whatever pixels and parameters are.
 */
#ifndef IR_RANGE_H
#define IR_RANGE_H

#include "ir.h"

typedef struct IrRange {
    double lo, hi; /* both included; NaN may come besides */
} IrRange;

/* Of any expression; the infinities where nothing is known. */
IrRange ir_range(const IrGraph *g, IrExpr e);
/* The farthest from 0 that it can be. */
double ir_range_size(IrRange r);

/* A host expression for the parameters' defaults and pixels of `pixel_size` um (NaN: the image's); false: it depends
 * on the image. */
bool ir_default(IrGraph *g, IrExpr e, double pixel_size, double *value);

#endif
