/*
 * rows_extent: how many columns beside its own a work-item of a kernel that streams over rows computes or loads of each
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
        IrId id = r->step->stages.at[i];
        add_extent(r, id)->computed = true;
        rows_extent(r, id)->tiled = rows_may_be_tiled(r, id);
    }
    for (int i = r->step->stages.n - 1; i >= 0; i--) {
        IrId id = r->step->stages.at[i];
        Extent *own = rows_extent(r, id);
        own->left = own->left != 0 ? own->left : zero;
        own->right = own->right != 0 ? own->right : zero;
        ir_walk(g, ir_node(g, id)->map.value, note_border, r);
        IrFootprint fp = ir_footprint(g, ir_node(g, id)->map.value);
        for (int j = 0; j < fp.reach.n; j++) {
            Extent *e = add_extent(r, fp.reach.at[j].node);
            e->used = e->used || !own->tiled;
            if (own->tiled) {
                continue;
            }
            if (own->border != BORDER_NEAREST && own->border != BORDER_CONSTANT) { /* of what reads it */
                e->border = own->border;
            }
            e->left = rows_max_of(g, e->left, ir_op2(g, IR_X_SUB, own->left, fp.reach.at[j].lo[0]));
            e->right = rows_max_of(g, e->right, ir_op2(g, IR_X_ADD, own->right, fp.reach.at[j].hi[0]));
        }
    }
}

/* ---- differences of columns ---------------------------------------------------------------- */

enum {
    FEWEST_RISES = 16
}; /* columns beside the own ones: of fewer, each work-item takes the differences faster itself */

typedef struct RiseWalk {
    Rows *r;
    bool narrow; /* the stage is computed on a work-item's own columns */
    IrPassed passed;
    Vec(IrId) around,
        plain; /* nodes that blends along x read around the own columns, and those that are read otherwise */
} RiseWalk;

/* Its middle is the pixel itself, wherever a run may choose its ends. */
static bool is_around_pixel(IrGraph *g, const IrExprNode *blend)
{
    double middle;
    return (ir_is_const(g, ir_blend_middle(g, blend), &middle) && middle == 0) ||
           blend->b == ir_op1(g, IR_X_NEG, blend->c);
}

static void look_for_rises(RiseWalk *w, IrExpr e)
{
    IrGraph *g = w->r->k->g;
    const IrExprNode n = *ir_expr(g, e);
    if (e == 0 || n.rank != IR_PIXEL || ir_passed(g, &w->passed, e)) {
        return;
    }
    const IrExpr blended = cg_blended(&w->r->cx, e);
    if (blended != 0) {
        const IrExprNode *read = ir_expr(g, blended);
        bool around = w->narrow && is_around_pixel(g, &n) && read->border != BORDER_CONSTANT;
        rows_extent(w->r, read->node)->blended = true;
        if (around) {
            vec_push(g->arena, &w->around, read->node);
        } else {
            vec_push(g->arena, &w->plain, read->node);
        }
        return;
    }
    if (n.op == IR_X_READ) {
        vec_push(g->arena, &w->plain, n.node);
    }
    for (int i = 0; i < IR_CHILDREN; i++) {
        look_for_rises(w, n.child[i]);
    }
}

void rows_find_rises(Rows *r)
{
    IrGraph *g = r->k->g;
    RiseWalk w = {.r = r};
    for (int i = 0; i < r->step->stages.n; i++) {
        const IrId id = r->step->stages.at[i];
        double left, right;
        const Extent *own = rows_extent(r, id);
        if (own->tiled) {
            continue;
        }
        w.narrow = ir_is_const(g, own->left, &left) && ir_is_const(g, own->right, &right) && left == 0 && right == 0;
        look_for_rises(&w, ir_node(g, id)->map.value);
    }
    for (int i = 0; i < w.around.n; i++) {
        Extent *e = rows_extent(r, w.around.at[i]);
        double beside;
        bool few = ir_is_const(g, ir_op2(g, IR_X_ADD, e->left, e->right), &beside) && beside < FEWEST_RISES;
        e->rises = !e->computed && !few;
    }
    for (int i = 0; i < w.plain.n; i++) {
        rows_extent(r, w.plain.at[i])->rises = false;
    }
}

/* ---- what runs check ----------------------------------------------------------------------- */

/* All columns beside the own ones, which are on the stack of a CPU's thread for each work-item of a group. */
void rows_bound_extents(Rows *r)
{
    CgKernel *k = r->k;
    IrExpr all = ir_const(k->g, 0);
    for (int i = 0; i < r->extents.n; i++) {
        const Extent *e = r->extents.at[i];
        const IrExpr columns = e->used ? ir_op2(k->g, IR_X_ADD, e->left, e->right) : ir_const(k->g, 0);
        all = ir_op2(k->g, IR_X_ADD, all, columns);
        all = ir_op2(k->g, IR_X_ADD, all, e->blended ? columns : ir_const(k->g, 0));
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

/* Columns beside the own ones in a node's array; of those from memory vectors of four, or of two. */
static const char *beside(Rows *r, IrId node, IrExpr e, const char *side)
{
    const Extent *extent = rows_extent(r, node);
    const char *text = extent_macro(r, node, e, side);
    long n;
    if ((extent->computed && !extent->tiled) || strcmp(text, "0") == 0) {
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
