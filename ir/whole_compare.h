/*
 * whole_compare: comparisons of whole numbers with numbers that their type may not hold.
 */
#ifndef IR_WHOLE_COMPARE_H
#define IR_WHOLE_COMPARE_H

#include "ir.h"

/* A comparison of pixels of i32 or u32 with a number, a whole-image value or pixels of f32, or of i32 with u32, as
 * mathematics has it; 0: operands that meet in one type say the same, or small pixels meet a whole-image value in f32. */
IrExpr ir_whole_compare(IrGraph *g, IrExprOp op, IrExpr a, IrExpr b);

#endif
