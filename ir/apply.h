/*
 * apply: one operator of exprs.def on numbers, in the arithmetic of a type.
 *
 * Operands and result travel as doubles, which hold every f32, i32 and u32 exactly.  This is the
 * one place where the compiler and the reference evaluator do arithmetic; kernels do the same
 * with the text that ir_op_text gives.
 */
#ifndef IR_APPLY_H
#define IR_APPLY_H

#include "ir.h"

/* `type` is the operands' type (b's for SELECT); comparisons give 0 or 1. */
double ir_apply(IrExprOp op, Elem type, double a, double b, double c);
/* `value` rounded or converted to a type, as ir_cast means it (f32: to nearest; integers:
 * towards zero and saturated; bool: not zero). */
double ir_convert(double value, Elem type);
/* Rounded to even and saturated to a storage type; NaN gives 0. */
double ir_saturate_value(double value, Elem storage);
/* The place within 0 .. n - 1 that place i means under a border; nearest for constant ones. */
int ir_map_border(Border border, int i, int n);
/* The operator's text in OpenCL C with operands named a, b, c; integer or float form. */
const char *ir_op_text(IrExprOp op, bool integer);

/* How an operator types its operands and its result. */
typedef enum IrRule {
    IR_RULE_NONE,
    IR_RULE_ARITH,
    IR_RULE_FLOAT,
    IR_RULE_COMPARE,
    IR_RULE_LOGIC,
    IR_RULE_TEST,
    IR_RULE_SELECT
} IrRule;
IrRule ir_op_rule(IrExprOp op);
/* How long an operator takes on f32, in multiplications, roughly. */
int ir_op_work(IrExprOp op);
/* Whether that is more than one: of what branches or is a function. */
bool ir_op_is_costly(IrExprOp op);

#endif
