/*
 * abreast: folds over one range become one loop.
 *
 * sum(w(i) * v[dx = i] for i in -3 .. 3) / sum(w(i) for i in -3 .. 3) computes each w(i) twice.  Where two folds of a
 * stage have the same ranges and read a pixel in common, the second one takes the indices of the first, and so do the
 * folds inside it.  Then what both compute is one expression, and the code generator runs them in one loop with an
 * accumulator each (codegen/folds.c).
 *
 * For example, where %1 is an image,
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 sub(max(#0 in -2 .. 2, %1[x = #0]), min(#1 in -2 .. 2, %1[x = #1]))
 *     output a = %2 as tif
 *
 * becomes
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 sub(max(#0 in -2 .. 2, %1[x = #0]), min(#0 in -2 .. 2, %1[x = #0]))
 *     output a = %2 as tif
 */
#include "pass.h"

#include "../ir/abreast.h"
#include "../ir/edit.h"

enum { MOST_INDICES = 8 };

/* Of the loops of a sequence of folds. */
typedef struct Indices {
    int from[MOST_INDICES], to[MOST_INDICES], n;
} Indices;

/* Pairs the indices of two sequences of folds; false: they have others ranges or are too many. */
static bool pair(const IrGraph *g, IrExpr p, IrExpr q, Indices *of)
{
    const IrExprNode *m = ir_expr(g, p), *n = ir_expr(g, q);
    if (m->b != n->b || m->c != n->c || m->flat != n->flat || of->n == MOST_INDICES) {
        return false;
    }
    of->to[of->n] = (int)m->num;
    of->from[of->n++] = (int)n->num;
    return !m->flat || pair(g, m->a, n->a, of);
}

/* An index that takes another's place is there already. */
static bool is_given(const IrGraph *g, IrExpr e, const void *ctx)
{
    const Indices *of = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool is = false;
    for (int i = 0; i < of->n && (n->op == IR_X_INDEX || n->op == IR_X_FOLD); i++) {
        is = is || (of->to[i] != of->from[i] && (int)n->num == of->to[i]);
    }
    return is;
}

static IrExpr give(IrGraph *g, IrExpr e, void *ctx)
{
    const Indices *of = ctx;
    IrExprNode n = *ir_expr(g, e);
    for (int i = 0; i < of->n && (n.op == IR_X_INDEX || n.op == IR_X_FOLD); i++) {
        if ((int)n.num == of->from[i]) {
            n.num = of->to[i];
            return ir_intern(g, n);
        }
    }
    return e;
}

static bool is_moved_read(const IrExprNode *n)
{
    return (n->op == IR_X_READ && (n->a != 0 || n->b != 0 || n->c != 0)) || n->op == IR_X_READAT;
}

static bool is_same(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)g;
    return e == *(const IrExpr *)ctx;
}

/* A pixel beside the current one that another expression reads, too. */
static bool is_common(const IrGraph *g, IrExpr e, const void *ctx)
{
    return is_moved_read(ir_expr(g, e)) && ir_any(g, *(const IrExpr *)ctx, is_same, &e);
}

/* q with the indices of p; 0: their ranges are others, or an index has another meaning there. */
static IrExpr renamed(IrGraph *g, IrExpr p, IrExpr q)
{
    Indices of = {.n = 0};
    if (!pair(g, p, q, &of)) {
        return 0;
    }
    return ir_any(g, q, is_given, &of) ? 0 : ir_rewrite(g, q, give, &of);
}

/* The folds inside a sequence of folds. */
static IrFolds inner_folds(const IrGraph *g, Arena *arena, IrExpr fold)
{
    while (ir_expr(g, fold)->flat) {
        fold = ir_expr(g, fold)->a;
    }
    return ir_outer_folds(g, arena, ir_expr(g, fold)->a);
}

/* Folds inside q that are those inside p but for the names of their indices become the same. */
static IrExpr align(IrGraph *g, IrExpr p, IrExpr q)
{
    const IrFolds in_p = inner_folds(g, g->arena, p), in_q = inner_folds(g, g->arena, q);
    for (int i = 0; i < in_q.n; i++) {
        for (int k = 0; k < in_p.n; k++) {
            const bool same = in_q.at[i] != in_p.at[k] && renamed(g, in_p.at[k], in_q.at[i]) == in_p.at[k];
            q = same ? ir_replace_part(g, q, in_q.at[i], in_p.at[k]) : q;
        }
    }
    return q;
}

/* q with the indices of p, which then share a loop; 0: they do not. */
static IrExpr beside(IrGraph *g, IrExpr p, IrExpr q)
{
    IrExpr by = renamed(g, p, q);
    if (by == 0 || !ir_same_loops(g, p, by)) {
        return 0;
    }
    by = align(g, p, by);
    return ir_any(g, by, is_common, &p) ? by : 0;
}

static IrExpr bring_abreast(IrGraph *g, IrExpr e)
{
    IrFolds folds = ir_outer_folds(g, g->arena, e);
    for (int i = 0; i < folds.n; i++) {
        for (int k = i + 1; k < folds.n; k++) {
            const IrExpr by = beside(g, folds.at[i], folds.at[k]);
            if (by != 0 && by != folds.at[k]) {
                e = ir_replace_part(g, e, folds.at[k], by);
                folds.at[k] = by;
            }
        }
    }
    return e;
}

bool pass_abreast(IrGraph *g, PassContext *cx)
{
    bool any = false;
    for (IrId id = 1; id < (IrId)g->nodes.n && cx->fuse != FUSE_NONE; id++) {
        for (int i = 0; i < NODE_INPUTS && !ir_node(g, id)->dead; i++) {
            IrExpr e = ir_node(g, id)->in[i], becomes = e != 0 ? bring_abreast(g, e) : 0;
            ir_node(g, id)->in[i] = becomes;
            any = any || becomes != e;
        }
    }
    return any;
}
