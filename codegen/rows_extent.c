/*
 * rows_extent: how many columns beside its own a work-item of a kernel that marches over rows computes or loads of each
 * node (rows.c).
 */
#include "rows.h"

#include "../ir/footprint.h"

#include <string.h>

IrExpr rows_max_of(IrGraph *g, IrExpr a, IrExpr b)
{
    return a == 0 ? b : ir_op2(g, IR_X_MAX, a, b);
}

/* Of a node that is met for the first time, an empty one. */
static Extent *add_extent(Rows *r, IrId node)
{
    Arena *arena = r->k->arena;
    int place = id_map_add(&r->nodes, arena, node);
    if (place == r->extents.n) {
        vec_push(arena, &r->extents, arena_new(arena, Extent));
    }
    return r->extents.at[place];
}

static void note_border(const IrGraph *g, IrExpr e, void *ctx)
{
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_READ && n->a != 0) {
        Extent *extent = add_extent(ctx, n->node);
        extent->border = n->border;
        extent->outside = n->outside;
    }
}

/* From the last stage back: what each reads, it needs as many columns wider as it reaches. */
void rows_find_extents(Rows *r)
{
    IrGraph *g = r->k->g;
    IrExpr zero = ir_const(g, 0);
    for (int i = 0; i < r->step->stages.n; i++) {
        add_extent(r, r->step->stages.at[i])->computed = true;
    }
    for (int i = r->step->stages.n - 1; i >= 0; i--) {
        IrId id = r->step->stages.at[i];
        Extent *own = rows_extent(r, id);
        own->left = own->left != 0 ? own->left : zero;
        own->right = own->right != 0 ? own->right : zero;
        ir_walk(g, ir_node(g, id)->in[0], note_border, r);
        IrFootprint fp = ir_footprint(g, ir_node(g, id)->in[0]);
        for (int j = 0; j < fp.reach.n; j++) {
            Extent *e = add_extent(r, fp.reach.at[j].node);
            e->used = true;
            e->left = rows_max_of(g, e->left, ir_op2(g, IR_X_SUB, own->left, fp.reach.at[j].lo[0]));
            e->right = rows_max_of(g, e->right, ir_op2(g, IR_X_ADD, own->right, fp.reach.at[j].hi[0]));
        }
    }
}

/* All columns beside the own ones, which are on the stack of a CPU's thread for each work-item of a group. */
void rows_bound_extents(Rows *r)
{
    CgKernel *k = r->k;
    IrExpr all = ir_const(k->g, 0);
    for (int i = 0; i < r->extents.n; i++) {
        const Extent *e = r->extents.at[i];
        if (e->used) {
            all = ir_op2(k->g, IR_X_ADD, all, ir_op2(k->g, IR_X_ADD, e->left, e->right));
        }
    }
    cg_define_reach(k, all, cg_of_kernel(k, "REACH"));
}

/* Rows that it keeps open are as wide as what a CPU's work-item computes. */
void rows_bound_open(Rows *r)
{
    CgKernel *k = r->k;
    if (r->open != 0) {
        cg_define_reach(k, ir_op2(k->g, IR_X_MUL, r->open, ir_const(k->g, 16)), cg_of_kernel(k, "OPEN"));
    }
}

static const char *extent_macro(Rows *r, IrId node, IrExpr e, const char *side)
{
    return cg_define_int(r->k, e, cg_of_node(r->k, node, side));
}

/* Columns beside the own ones in a node's array; of loaded ones vectors of four, or of two. */
static const char *beside(Rows *r, IrId node, IrExpr e, const char *side)
{
    const Extent *extent = rows_extent(r, node);
    const char *text = extent_macro(r, node, e, side);
    long n;
    if (extent->computed || strcmp(text, "0") == 0) {
        return text;
    }
    if (cg_is_literal(text, &n)) {
        return cg_literal(r->k->arena, extent->carried && n <= 2 ? 2 : (n + 3) / 4 * 4);
    }
    return arena_printf(r->k->arena, extent->carried ? "UP2(%s)" : "UP4(%s)", text);
}

const char *rows_left(Rows *r, IrId node)
{
    return beside(r, node, rows_extent(r, node)->left, "LEFT");
}

const char *rows_right(Rows *r, IrId node)
{
    return beside(r, node, rows_extent(r, node)->right, "RIGHT");
}

const char *rows_width(Rows *r, IrId node)
{
    Arena *arena = r->k->arena;
    const char *left = rows_left(r, node), *right = rows_right(r, node);
    long a, b;
    if (cg_is_literal(left, &a) && cg_is_literal(right, &b)) {
        return cg_plus(arena, "PX", cg_literal(arena, a + b));
    }
    return cg_plus(arena, cg_plus(arena, "PX", left), right);
}
