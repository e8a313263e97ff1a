/*
 * offsets: what is read where, said in the form that kernels keep in registers.
 *
 * One pixel beyond an edge, a reflection is the nearest pixel.  Kernels that stream over rows have its column, and would want those of other
 * work-items for a reflection: so slopes and corners share kernels whatever their border is called.  An image that is also reflected farther
 * keeps its border everywhere, since a kernel reads an image under one.
 *
 * An index that is only used with a number added to it runs over the sums themselves: a window that is moved, such as the corners of
 * Kuwahara's filter, is a plain fold over rows then.  The order of the steps is what it was.  CPUs read such windows from their caches faster
 * than they keep them.
 */
#include "offsets.h"

#include "figures.h"

#include "../base/id_map.h"
#include "../ir/edit.h"
#include "../ir/uses.h"

#include <math.h>

static bool is_reflected(const IrExprNode *n)
{
    return n->op == IR_X_READ && n->border == BORDER_REFLECT && (n->a != 0 || n->b != 0 || n->c != 0);
}

static bool is_beside(const IrGraph *g, const IrExprNode *read)
{
    const IrExpr offset[3] = {read->a, read->b, read->c};
    bool beside = true;
    for (int ax = 0; ax < 3; ax++) {
        double at = 0;
        beside = beside && (offset[ax] == 0 || ir_is_const(g, offset[ax], &at)) && fabs(at) <= 1;
    }
    return beside;
}

static IrExpr take_nearest(IrGraph *g, IrExpr e, void *ctx)
{
    const bool *far = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (!is_reflected(&n) || far[n.node]) {
        return e;
    }
    n.border = BORDER_NEAREST;
    return ir_intern(g, n);
}

static bool take_nearest_of_all(IrGraph *g)
{
    const IrUses *uses = ir_uses_new(g, g->arena);
    bool *far = arena_array(g->arena, bool, g->nodes.n); /* by node: it is reflected farther than by a pixel */
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        for (int i = 0; i < uses->reads[id].n && !ir_node(g, id)->dead; i++) {
            const IrExprNode *n = ir_expr(g, uses->reads[id].at[i]);
            far[n->node] = far[n->node] || (is_reflected(n) && !is_beside(g, n));
        }
    }
    return ir_rewrite_all(g, take_nearest, far);
}

typedef struct Shift {
    double index; /* whose */
    double by;
    int to;            /* the index that has the sums */
    bool found, mixed; /* it has been met; with different numbers, or without one */
} Shift;

static bool is_shifted(const IrGraph *g, IrExpr e, double index, double *by)
{
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_ADD && ir_expr(g, n->a)->op == IR_X_INDEX && ir_expr(g, n->a)->num == index &&
           ir_is_const(g, n->b, by) && *by == floor(*by);
}

static void find(const IrGraph *g, IrExpr e, Shift *s)
{
    double by;
    const IrExprNode n = *ir_expr(g, e);
    if (e == 0 || s->mixed || n.rank < IR_INDEX) {
        return;
    }
    if (is_shifted(g, e, s->index, &by)) {
        s->mixed = s->found && by != s->by;
        s->by = by;
        s->found = true;
        return;
    }
    s->mixed = (n.op == IR_X_INDEX || n.op == IR_X_FOLD) && n.num == s->index;
    for (int i = 0; i < IR_CHILDREN; i++) {
        find(g, n.child[i], s);
    }
}

static IrExpr take_sum(IrGraph *g, IrExpr e, void *ctx)
{
    const Shift *s = ctx;
    double by;
    return is_shifted(g, e, s->index, &by) ? ir_index(g, s->to) : e;
}

typedef struct MovedTo { /* a range as it is now, and its index */
    IrExpr lo, hi;
    int index;
} MovedTo;

/* The indices whose ranges were moved, so that equal folds stay equal. */
typedef struct Moved {
    IdMap places;    /* of indices */
    Vec(MovedTo) to; /* by place */
} Moved;

/* An index of its own: what is known of an index is the range that it was declared with. */
static int moved_index(IrGraph *g, Moved *moved, int from, IrExpr lo, IrExpr hi)
{
    const int at = id_map_add(&moved->places, g->arena, (uint32_t)from);
    if (at == moved->to.n) {
        vec_push(g->arena, &moved->to, (MovedTo){0});
    }
    MovedTo *to = &moved->to.at[at];
    if (to->lo != lo || to->hi != hi) {
        *to = (MovedTo){lo, hi, ir_new_index(g)};
        ir_set_ends(g, to->index, lo, hi);
    }
    return to->index;
}

static IrExpr move_range(IrGraph *g, IrExpr e, void *ctx)
{
    IrExprNode n = *ir_expr(g, e);
    Shift s = {.index = n.num};
    if (n.op != IR_X_FOLD || n.nth != 0 || n.weight != 0) {
        return e;
    }
    find(g, n.a, &s);
    find(g, n.where, &s);
    if (!s.found || s.mixed) {
        return e;
    }
    n.b = ir_op2(g, IR_X_ADD, n.b, ir_const(g, s.by));
    n.c = ir_op2(g, IR_X_ADD, n.c, ir_const(g, s.by));
    s.to = moved_index(g, ctx, (int)n.num, n.b, n.c);
    n.a = ir_rewrite(g, n.a, take_sum, &s);
    n.where = n.where != 0 ? ir_rewrite(g, n.where, take_sum, &s) : 0;
    n.num = s.to;
    return ir_intern(g, n);
}

bool pass_simplify_offsets(IrGraph *g, const PassContext *cx)
{
    enum { OPS_A_BYTE = 4 }; /* GPUs do more while they move one, CPUs less */
    const DeviceFigures *figures = cx->figures != NULL ? cx->figures : figures_known(NULL);
    const bool keeps = figures->giga_ops > OPS_A_BYTE * figures->copy_gb;
    Moved moved = {0};
    const bool any = take_nearest_of_all(g);
    return (keeps && ir_rewrite_all(g, move_range, &moved)) || any;
}
