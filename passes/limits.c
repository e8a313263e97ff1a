/*
 * limits: pixels are compared in f32 with limits in f64.
 *
 * f64(x) > L, where x is a pixel in f32 and L a whole-image value, is x > l for the largest number l of
 * f32 that is not above L: a pixel above l is at least the next number, which is above L.  The other three
 * comparisons have their l in the same way, below or above L.  NaN is unequal to everything on both sides,
 * and l may be infinite where L is beyond all numbers of f32.  So that a pixel need not be converted, which
 * takes a GPU eight times as long as the comparison.
 *
 * For example, where %1 is an image,
 *
 *     %2 m = reduce : value f64
 *         in 0 %1
 *         arg 0 7
 *     %3 b = map : mask bool grid 0
 *         in 0 gt(f64(%1), div(%2.0, %2.1))
 *     output b = %3 as tif
 *
 * becomes
 *
 *     %2 m = reduce : value f64
 *         in 0 %1
 *         arg 0 7
 *     %3 b = map : mask bool grid 0
 *         in 0 gt(%1, f32(f32_below(div(%2.0, %2.1))))
 *     output b = %3 as tif
 */
#include "pass.h"

#include "../ir/edit.h"

/* x OP L and what L becomes; L OP x is the same with the comparison turned round. */
static const struct Comparison {
    IrExprOp op, turned, rounds;
} COMPARISONS[] = {
    {IR_X_GT, IR_X_LT, IR_X_F32_BELOW},
    {IR_X_LE, IR_X_GE, IR_X_F32_BELOW},
    {IR_X_LT, IR_X_GT, IR_X_F32_ABOVE},
    {IR_X_GE, IR_X_LE, IR_X_F32_ABOVE},
};
enum { N_COMPARISONS = sizeof COMPARISONS / sizeof *COMPARISONS };

/* The f32 that is converted to f64 for each pixel; 0: it is something else. */
static IrExpr converted(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    bool converts = n->op == IR_X_CAST && n->type == ELEM_F64 && n->rank == IR_PIXEL;
    return converts && ir_expr(g, n->a)->type == ELEM_F32 ? n->a : 0;
}

static bool is_limit(const IrGraph *g, IrExpr e)
{
    return ir_expr(g, e)->type == ELEM_F64 && ir_expr(g, e)->rank != IR_PIXEL;
}

static IrExpr in_f32(IrGraph *g, const struct Comparison *how, IrExpr pixel, IrExpr limit)
{
    IrExpr rounded = ir_cast(g, ir_op1(g, how->rounds, limit), ELEM_F32);
    return ir_op2(g, how->op, pixel, rounded);
}

static IrExpr compare(IrGraph *g, IrExpr e, void *ctx)
{
    (void)ctx;
    const IrExprNode n = *ir_expr(g, e);
    for (int i = 0; i < N_COMPARISONS; i++) {
        const struct Comparison *how = &COMPARISONS[i];
        if (n.op == how->op && converted(g, n.a) != 0 && is_limit(g, n.b)) {
            return in_f32(g, how, converted(g, n.a), n.b);
        }
        if (n.op == how->turned && converted(g, n.b) != 0 && is_limit(g, n.a)) {
            return in_f32(g, how, converted(g, n.b), n.a);
        }
    }
    return e;
}

bool pass_limits(IrGraph *g, PassContext *cx)
{
    (void)cx;
    return ir_rewrite_all(g, compare, NULL);
}
