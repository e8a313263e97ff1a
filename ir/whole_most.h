/*
 * whole_most: how large whole numbers that are never negative become, so that sums of them are known to be exact.
 */
#ifndef IR_WHOLE_MOST_H
#define IR_WHOLE_MOST_H

#include "ir.h"

typedef struct IrWhole {
    double
        value; /* the largest; infinite: it may be something else (a fraction, negative, -0), or is rounded on the way */
    IrId input; /* the file whose type nobody has declared, and `file` was taken for its largest pixel; 0: none */
} IrWhole;

/* Of any expression.  `file`: the largest pixel of a file whose type nobody has declared. */
IrWhole ir_whole_most(const IrGraph *g, IrExpr e, double file);
/* Of a fold that is a sum, were its type to hold any number. */
IrWhole ir_whole_sum_most(const IrGraph *g, const IrExprNode *fold, double file);

#endif
