/*
 * whole_compare: comparisons of whole numbers with numbers that their type may not hold.
 *
 * Operands of a comparison meet in one type.  Were a number brought to that of the pixels, -1 would be 0 beside
 * labels and 2.5 no whole number; were the pixels brought to f32, those above 2^24 would be rounded.  So the number
 * becomes the nearest whole one on the side that the comparison asks for, within the type, and where it lies outside
 * of the type, what it is decides alone.  Pixels of f32 have no such side; f64 holds them and whole ones alike.
 */
#include "whole_compare.h"

#include "apply.h"
#include "range.h"

#include <math.h>

/* The comparison with the operands the other way round. */
static IrExprOp mirrored(IrExprOp op)
{
    return op == IR_X_LT ? IR_X_GT : op == IR_X_LE ? IR_X_GE : op == IR_X_GT ? IR_X_LT : op == IR_X_GE ? IR_X_LE : op;
}

static bool is_whole_pixel(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    return n->rank == IR_PIXEL && (n->type == ELEM_I32 || n->type == ELEM_U32);
}

static bool is_number(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    return n->rank < IR_PIXEL && n->type == ELEM_F64;
}

/* ---- comparisons ----------------------------------------------------------------------- */

/* What is known to be true or false leaves nothing to compute. */
static IrExpr both(IrGraph *g, IrExpr a, IrExpr b)
{
    double known;
    return ir_is_const(g, b, &known) ? (known != 0 ? a : b) : ir_op2(g, IR_X_AND, a, b);
}

static IrExpr either(IrGraph *g, IrExpr a, IrExpr b)
{
    double known;
    return ir_is_const(g, b, &known) ? (known != 0 ? b : a) : ir_op2(g, IR_X_OR, a, b);
}

/* With a number that is no whole one of this type, or may be none. */
static IrExpr compare_number(IrGraph *g, IrExprOp op, IrExpr pixel, IrExpr number)
{
    const Elem type = ir_expr(g, pixel)->type;
    const IrRange range = ir_range(g, number);
    const bool fits = range.lo >= elem_min(type) && range.hi <= elem_max(type);
    const bool equality = op == IR_X_EQ || op == IR_X_NE, smaller = op == IR_X_LT || op == IR_X_LE;
    const IrExpr least = ir_const(g, elem_min(type)), most = ir_const(g, elem_max(type));
    bool up = op == IR_X_LT || op == IR_X_GE;
    IrExpr whole = ir_op1(g, up ? IR_X_CEIL : IR_X_FLOOR, number);
    IrExpr nearest = fits ? whole : ir_op2(g, IR_X_MIN, ir_op2(g, IR_X_MAX, whole, least), most);
    IrExpr is = ir_op2(g, op, pixel, ir_cast(g, nearest, type));
    if (equality) {
        IrExpr there = ir_op2(g, IR_X_EQ, nearest, number);
        return op == IR_X_EQ ? both(g, is, there) : either(g, is, ir_op1(g, IR_X_NOT, there));
    }
    if (fits) {
        return is;
    }
    /* Neither of these is true of NaN. */
    IrExpr far = ir_op2(g, smaller ? IR_X_GT : IR_X_LT, whole, smaller ? most : least);
    IrExpr near = ir_op2(g, smaller ? IR_X_GE : IR_X_LE, whole, smaller ? least : most);
    return both(g, either(g, is, far), near);
}

/* Operands that meet in the pixels' type lose nothing. */
static bool surely_fits(const IrGraph *g, IrExpr number, Elem type)
{
    const IrRange range = ir_range(g, number);
    return ir_is_integral(g, number) && range.lo >= elem_min(type) && range.hi <= elem_max(type);
}

/* What is found on the device is rounded to f32 beside pixels that f32 holds, whole or not. */
static bool meet_in_f32(const IrGraph *g, IrExpr pixel, IrExpr number)
{
    return ir_expr(g, number)->rank > IR_HOST && ir_range_size(ir_range(g, pixel)) <= 0x1p24;
}

/* i32 with u32: below 0 one of them is the smaller, whatever the other is. */
static IrExpr compare_signs(IrGraph *g, IrExprOp op, IrExpr with_sign, IrExpr without)
{
    IrExpr below = ir_op2(g, IR_X_LT, with_sign, ir_const(g, 0));
    IrExpr is = ir_op2(g, op, ir_cast(g, with_sign, ELEM_U32), without);
    bool smaller = op == IR_X_LT || op == IR_X_LE || op == IR_X_NE;
    return smaller ? ir_op2(g, IR_X_OR, is, below) : ir_op2(g, IR_X_AND, is, ir_op1(g, IR_X_NOT, below));
}

/* Whole pixels that f32 would round, beside f32. */
static bool is_rounded_beside(const IrGraph *g, IrExpr pixel, IrExpr other)
{
    return is_whole_pixel(g, pixel) && ir_expr(g, other)->type == ELEM_F32 &&
           ir_range_size(ir_range(g, pixel)) > 0x1p24;
}

IrExpr ir_whole_compare(IrGraph *g, IrExprOp op, IrExpr a, IrExpr b)
{
    if (ir_op_rule(op) != IR_RULE_COMPARE) {
        return 0;
    }
    if (is_rounded_beside(g, a, b) || is_rounded_beside(g, b, a)) {
        return ir_op2(g, op, ir_cast(g, a, ELEM_F64), ir_cast(g, b, ELEM_F64));
    }
    if (is_whole_pixel(g, a) && is_whole_pixel(g, b)) {
        bool sign_a = ir_expr(g, a)->type == ELEM_I32, sign_b = ir_expr(g, b)->type == ELEM_I32;
        return sign_a == sign_b ? 0 : sign_a ? compare_signs(g, op, a, b) : compare_signs(g, mirrored(op), b, a);
    }
    if (is_number(g, a) && !is_number(g, b)) {
        return ir_whole_compare(g, mirrored(op), b, a);
    }
    if (!is_whole_pixel(g, a) || !is_number(g, b) || surely_fits(g, b, ir_expr(g, a)->type) || meet_in_f32(g, a, b)) {
        return 0;
    }
    double value;
    if (ir_is_const(g, b, &value) && isnan(value)) {
        return ir_const_typed(g, op == IR_X_NE, ELEM_BOOL);
    }
    return compare_number(g, op, a, b);
}
