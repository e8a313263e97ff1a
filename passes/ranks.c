/*
 * ranks: a window that is ranked beside other folds becomes an image of its own.
 *
 * Kernels rank one window bit by bit (codegen/slices.c) and stream over the rows of sums and extremes (codegen/rows.c).
 * With two windows in one expression they can do neither, and sort all of them in registers.  What is stored is one of
 * the window's pixels, in their type.
 *
 * For example, where %1 is an image,
 *
 *     %2 d = map : image f32 grid 0
 *         in 0 sub(max(#0 in -1 .. 1, %1[x = #0]), rank(#1 in -1 .. 1 nth 1, %1[y = #1]))
 *     output d = %2 as tif
 *
 * becomes
 *
 *     %3 d_rank = map : image f32 grid 0
 *         in 0 rank(#1 in -1 .. 1 nth 1, %1[y = #1])
 *     %4 d = map : image f32 grid 0
 *         in 0 sub(max(#0 in -1 .. 1, %1[x = #0]), %3)
 *     output d = %4 as tif
 */
#include "pass.h"

#include "../ir/edit.h"

typedef struct Ranks {
    int folds;         /* of an expression, none of which is in another one */
    Vec(IrExpr) ranks; /* those that rank pixels at offsets */
    Vec(IrExpr) reads; /* what takes their place */
    IrPassed passed;
} Ranks;

static bool is_at_place(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_expr(g, e)->op == IR_X_READAT;
}

static void look(IrGraph *g, Ranks *r, IrExpr e)
{
    if (e == 0 || ir_expr(g, e)->rank != IR_PIXEL || ir_passed(g, &r->passed, e)) {
        return;
    }
    const IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_FOLD) {
        for (int i = 0; i < IR_CHILDREN; i++) {
            look(g, r, n.child[i]);
        }
        return;
    }
    bool known = false;
    for (int i = 0; i < r->ranks.n; i++) {
        known = known || r->ranks.at[i] == e;
    }
    r->folds += !known;
    if (!known && ir_sorts(&n) && !ir_any(g, e, is_at_place, NULL)) {
        vec_push(g->arena, &r->ranks, e);
    }
}

static IrExpr put_reads(IrGraph *g, IrExpr e, void *ctx)
{
    (void)g;
    const Ranks *r = ctx;
    for (int i = 0; i < r->ranks.n; i++) {
        if (r->ranks.at[i] == e) {
            return r->reads.at[i];
        }
    }
    return e;
}

/* Reads an image of what is ranked. */
static IrExpr stored(IrGraph *g, IrId id, IrExpr rank)
{
    const IrNode reader = *ir_node(g, id);
    IrNode map = {.op = IR_MAP,
                  .kind = IR_K_IMAGE,
                  .elem = ir_expr(g, rank)->type,
                  .grid = reader.grid,
                  .name = arena_printf(g->arena, "%s_rank", reader.name),
                  .span = reader.span,
                  .loop = reader.loop};
    map.map.value = rank;
    return ir_read(g, ir_add_node(g, map));
}

bool pass_ranks(IrGraph *g, PassContext *cx)
{
    (void)cx;
    bool any = false;
    for (IrId id = 1, n = (IrId)g->nodes.n; id < n; id++) {
        if (ir_node(g, id)->dead || ir_node(g, id)->op == IR_INPUT) {
            continue;
        }
        Ranks r = {.folds = 0};
        if (ir_node(g, id)->op == IR_MAP) {
            look(g, &r, ir_node(g, id)->map.value);
        }
        for (int i = 0; i < r.ranks.n && r.folds > 1; i++) {
            vec_push(g->arena, &r.reads, stored(g, id, r.ranks.at[i]));
        }
        if (r.reads.n > 0) {
            const IrExpr value = ir_rewrite(g, ir_node(g, id)->map.value, put_reads, &r);
            ir_node(g, id)->map.value = value;
            any = true;
        }
        if (any) { /* behind what it reads */
            ir_move_to_end(g, id);
        }
    }
    return any;
}
