/* abreast: folds that can be one loop with an accumulator each. */
#ifndef IR_ABREAST_H
#define IR_ABREAST_H

#include "ir.h"

typedef Vec(IrExpr) IrFolds;

/* The folds of pixels in e that stand in no other fold and combine element by element, in `arena`; none where there are
 * very many. */
IrFolds ir_outer_folds(const IrGraph *g, Arena *arena, IrExpr e);
/* Do two folds run the same indices over the same ranges, and leave out the same? */
bool ir_same_loops(const IrGraph *g, IrExpr p, IrExpr q);

#endif
