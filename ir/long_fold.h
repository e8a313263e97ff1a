/*
 * long_fold: stages that are one plain fold along one axis, whose neighbours read nearly the same pixels.
 */
#ifndef IR_LONG_FOLD_H
#define IR_LONG_FOLD_H

#include "ir.h"

enum { IR_LONG_READS = 2 };

typedef struct IrLongFold {
    IrExpr fold;
    int axis;                   /* IR_AX_X, Y or Z */
    IrExpr read[IR_LONG_READS]; /* in it: each `node[axis = index]` and nowhere else */
    int n_reads;
} IrLongFold;

/* Finds the one fold of a stage's expression.  False where there is another, where it has conditions or
 * a window that is sorted, or where images are read in it on another grid, in chosen channels, at
 * other offsets than its index along one axis, or at computed places anywhere. */
bool ir_long_fold(const IrGraph *g, IrId stage, IrLongFold *found);

#endif
