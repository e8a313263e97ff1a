/*
 * fold: constants are computed and identities removed, exactly.
 *
 * The builder folds operators whose operands are constant while it makes them; after other
 * passes have put expressions into expressions there is more to fold, so everything is rebuilt
 * here.  Only identities that hold for every value are used: x * 1 and x / 1 are x, also for NaN
 * and -0; x + 0 is not used, because -0 + 0 is 0.  What is squared, or of which the absolute value is taken, may have
 * the other sign.  Offsets are among them (offsets.c).
 *
 * For example, where %1 is an image,
 *
 *     %2 b = map : image f32 grid 0
 *         in 0 add(mul(%1, 1:f32), f32(mul(2, 3)))
 *     output b = %2 as tif
 *
 * becomes
 *
 *     %2 b = map : image f32 grid 0
 *         in 0 add(%1, 6:f32)
 *     output b = %2 as tif
 */
#include "pass.h"

#include "offsets.h"

#include "../ir/edit.h"

static bool is_value(const IrGraph *g, IrExpr e, double wanted)
{
    double v;
    return e != 0 && ir_is_const(g, e, &v) && v == wanted;
}

/* What would be left of x * 1 in a fused sum is another product, and would be fused itself. */
static bool is_product(const IrGraph *g, IrExpr e)
{
    return ir_expr(g, e)->op == IR_X_MUL;
}

/* Whole numbers that became floats, of which none is NaN. */
static bool was_whole(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    Elem from = n->op == IR_X_CAST ? ir_expr(g, n->a)->type : ELEM_NONE;
    return elem_is_integer(from) || from == ELEM_BOOL;
}

/* The read that an expression begins with; NULL: it begins with something else. */
static const IrExprNode *first_read(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    while (e != 0 && n->op != IR_X_READ && n->op != IR_X_FOLD) {
        e = n->a;
        n = ir_expr(g, e);
    }
    return e != 0 && n->op == IR_X_READ ? n : NULL;
}

/* The first expression is about a later pixel than the second one. */
static bool is_later(const IrGraph *g, IrExpr a, IrExpr b)
{
    const IrExprNode *p = first_read(g, a), *q = first_read(g, b);
    if (p == NULL || q == NULL || p->node != q->node) {
        return false;
    }
    const IrExpr of[2][3] = {{p->c, p->b, p->a}, {q->c, q->b, q->a}};
    for (int i = 0; i < 3; i++) {
        double at[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            if (of[k][i] != 0 && !ir_is_const(g, of[k][i], &at[k])) {
                return false;
            }
        }
        if (at[0] != at[1]) {
            return at[0] > at[1];
        }
    }
    return false;
}

/* An expression whose sign does not matter, in one of the two forms that it has: of a pixel and of its neighbour a
 * difference is the same one then, which compilers compute once. */
static IrExpr without_sign(IrGraph *g, IrExpr e)
{
    const IrExprNode n = *ir_expr(g, e);
    if (n.type != ELEM_F32 && n.type != ELEM_F64) {
        return e;
    }
    switch (n.op) {
    case IR_X_NEG:
        return without_sign(g, n.a);
    case IR_X_SUB:
        return is_later(g, n.b, n.a) ? ir_op2(g, IR_X_SUB, n.b, n.a) : e;
    case IR_X_MUL:
    case IR_X_DIV:
        return ir_op2(g, n.op, without_sign(g, n.a), without_sign(g, n.b));
    default:
        return e;
    }
}

static IrExpr simplify(IrGraph *g, IrExpr e, void *ctx)
{
    (void)ctx;
    const IrExprNode n = *ir_expr(g, e);
    double v;
    switch (n.op) {
    case IR_X_CAST: /* what was converted to the type that it had */
        if (n.num == 0 && ir_expr(g, n.a)->type == n.type) {
            return n.a;
        }
        break;
    case IR_X_MUL:
        if (is_value(g, n.b, 1) && !is_product(g, n.a)) {
            return n.a;
        }
        if (is_value(g, n.a, 1) && !is_product(g, n.b)) {
            return n.b;
        }
        if (n.a == n.b) {
            const IrExpr root = without_sign(g, n.a);
            return ir_op2(g, IR_X_MUL, root, root);
        }
        break;
    case IR_X_ABS:
        return ir_op1(g, IR_X_ABS, without_sign(g, n.a));
    case IR_X_DIV:
        if (is_value(g, n.b, 1)) {
            return n.a;
        }
        break;
    case IR_X_NOT:
        if (ir_expr(g, n.a)->op == IR_X_NOT) {
            return ir_expr(g, n.a)->a;
        }
        break;
    case IR_X_NEG:
        if (ir_expr(g, n.a)->op == IR_X_NEG) {
            return ir_expr(g, n.a)->a;
        }
        break;
    case IR_X_ISNAN:
        if (was_whole(g, n.a)) {
            return ir_const_typed(g, 0, ELEM_BOOL);
        }
        break;
    case IR_X_FOLD: /* however many there are */
        if ((n.fold == IR_FOLD_ANY && is_value(g, n.a, 0)) || (n.fold == IR_FOLD_ALL && is_value(g, n.a, 1))) {
            return n.a;
        }
        break;
    case IR_X_SELECT:
        if (ir_is_const(g, n.a, &v)) {
            return v != 0 ? n.b : n.c;
        }
        if (n.b == n.c) {
            return n.b;
        }
        break;
    default:
        break;
    }
    return ir_made_anew(g, e);
}

bool pass_fold(IrGraph *g, PassContext *cx)
{
    const bool any = ir_rewrite_all(g, simplify, NULL);
    return pass_simplify_offsets(g, cx) || any;
}
