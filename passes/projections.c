/*
 * projections: what a projection alone reads is computed as it is read.
 *
 * A projection is a fold over a whole axis of an image, such as max_project, which has each pixel read once: storing the
 * image between the two only moves bytes.  What is computed of pixels beside, along that axis, reads them again each
 * time, from a cache as a rule.  That pays for a few of them, where operations are cheap (figures.h).
 *
 * For example, where %1 is an image,
 *
 *     grid 1 [x = extent(%1, x)]
 *     %2 a = map : image f32 grid 0
 *         in 0 add(%1, %1[y = 1])
 *     %3 b = map : image f32 grid 1
 *         in 0 max(#0 in 0 .. sub(extent(%1, y), 1), %2@[y = i32(#0)])
 *     output b = %3 as tif
 *
 * becomes
 *
 *     grid 1 [x = extent(%1, x)]
 *     %3 b = map : image f32 grid 1
 *         in 0 max(#0 in 0 .. sub(extent(%1, y), 1), add(%1@[y = i32(#0)], %1@[y = i32(add(#0, 1))]))
 *     output b = %3 as tif
 */
#include "cost.h"
#include "figures.h"
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/footprint.h"
#include "../ir/uses.h"

enum { MOST_BESIDE = 9 }; /* steps of a window: pixels that are read again for each that is projected */

/* ---- the projection ------------------------------------------------------------------------ */

typedef struct Projection {
    int axis, index; /* the fold's */
    IrExpr place;    /* where it reads along the axis */
} Projection;

typedef struct Search {
    int index;
    IrExpr first, last;
    int found; /* folds over just that */
} Search;

static void look_for_axis(const IrGraph *g, IrExpr e, void *ctx)
{
    Search *s = ctx;
    const IrExprNode *n = ir_expr(g, e);
    s->found += n->op == IR_X_FOLD && (int)n->num == s->index && n->b == s->first && n->c == s->last;
}

/* Does the reader read p once for each place of one axis, all of it, and at its own pixel along the others? */
static bool is_projection(IrGraph *g, IrId reader, IrId p, IrExpr read, Projection *found)
{
    const IrExprNode n = *ir_expr(g, read);
    const IrGrid *to = &g->grids.at[ir_node(g, reader)->grid], *of = &g->grids.at[ir_node(g, p)->grid];
    bool same = n.op == IR_X_READAT && n.channel == 0 && !to->has[IR_AX_C] && !of->has[IR_AX_C];
    int axes = 0;
    for (int ax = 0; ax < 3; ax++) {
        const IrExpr place = n.child[ax];
        if (place == 0) {
            same = same && to->extent[ax] == of->extent[ax] && to->has[ax] == of->has[ax];
            continue;
        }
        const IrExprNode *cast = ir_expr(g, place);
        const IrExprNode *index = cast->op == IR_X_CAST && cast->type == ELEM_I32 ? ir_expr(g, cast->a) : cast;
        *found = (Projection){.axis = ax, .index = (int)index->num, .place = place};
        same = same && index->op == IR_X_INDEX && index->num >= 0;
        axes++;
    }
    if (!same || axes != 1) {
        return false;
    }
    Search s = {.index = found->index,
                .first = ir_const(g, 0),
                .last = ir_op2(g, IR_X_SUB, of->extent[found->axis], ir_const(g, 1))};
    ir_walk(g, ir_node(g, reader)->map.value, look_for_axis, &s);
    return s.found == 1;
}

/* ---- what it reads ------------------------------------------------------------------------- */

typedef struct Body {
    const Projection *of;
    int grid, windows;
    double steps;
    bool plain; /* only reads of images of that size, at its pixel or beside it along the axis, and few of these */
} Body;

static void look_at_body(const IrGraph *g, IrExpr e, void *ctx)
{
    Body *b = ctx;
    const IrExprNode *n = ir_expr(g, e);
    double lo = 0, hi = 0;
    if (n->op == IR_X_FOLD) {
        const bool combines = n->fold == IR_FOLD_MIN || n->fold == IR_FOLD_MAX || n->fold == IR_FOLD_SUM;
        const bool known = ir_is_const(g, n->b, &lo) && ir_is_const(g, n->c, &hi);
        b->plain = b->plain && combines && known && n->where == 0 && (int)n->num != b->of->index;
        b->windows++;
        b->steps = hi - lo + 1;
    }
    if (n->op == IR_X_READ) {
        const IrNode *from = ir_node(g, n->node);
        b->plain = b->plain && n->channel == 0 && from->grid == b->grid;
        for (int ax = 0; ax < 3; ax++) {
            b->plain = b->plain && (ax == b->of->axis || n->child[ax] == 0);
        }
    }
    b->plain = b->plain && n->op != IR_X_READAT && n->op != IR_X_LOOKUP && n->op != IR_X_COORD && n->op != IR_X_CALL;
}

/* What one of them alone may be: expressions as deep, images as many; and ranks of windows are another matter. */
static bool are_too_much(const IrGraph *g, IrUses *uses, IrId reader, IrId p)
{
    const IrId both[] = {reader, p};
    const IrExpr to = ir_node(g, reader)->map.value, value = ir_node(g, p)->map.value;
    return ir_expr(g, to)->depth + ir_expr(g, value)->depth > IR_DEEP || ir_any_sorts(g, to) ||
           ir_any_sorts(g, value) || ir_uses_images(uses, both, 2) > IR_MOST_READS;
}

static const char *why_not(IrGraph *g, PassContext *cx, Cost *cost, IrId p, const Projection *of)
{
    const DeviceFigures *figures = cx->figures != NULL ? cx->figures : figures_known(NULL);
    Body b = {.of = of, .grid = ir_node(g, p)->grid, .plain = true};
    ir_walk(g, ir_node(g, p)->map.value, look_at_body, &b);
    if (!b.plain || b.windows > 1) {
        return "its reader has another size";
    }
    const bool many =
        b.windows > 0 && (b.steps > MOST_BESIDE || cost_stage(cost, p)->ops > figures_repeated_ops(figures));
    return many ? "it reads many pixels beside each, again for each that is projected" : NULL;
}

/* ---- one in place of the other ------------------------------------------------------------- */

static IrExpr place_read(IrGraph *g, IrExpr e, void *ctx)
{
    const Projection *of = ctx;
    const IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || n.rank != IR_PIXEL) {
        return e;
    }
    IrExpr place[3] = {0};
    const IrExpr by = n.child[of->axis];
    place[of->axis] = by == 0 ? of->place : ir_cast(g, ir_op2(g, IR_X_ADD, ir_index(g, of->index), by), ELEM_I32);
    return ir_read_at(g, n.node, place, n.channel, n.border, n.outside);
}

typedef struct Replacing {
    IrExpr read, value;
} Replacing;

static IrExpr replace(IrGraph *g, IrExpr e, void *ctx)
{
    (void)g;
    const Replacing *r = ctx;
    return e == r->read ? r->value : e;
}

static void remark(PassContext *cx, IrId p, IrId reader, const char *why)
{
    for (int i = 0; i < cx->remarks.n; i++) {
        IrRemark *r = &cx->remarks.at[i];
        if (r->from == p && r->to == reader) {
            r->state = why == NULL ? IR_EDGE_INLINE : r->state;
            r->why = why == NULL ? "computed for each read" : why;
        }
    }
}

bool pass_projections(IrGraph *g, PassContext *cx)
{
    if (cx->fuse != FUSE_ALL) {
        return false;
    }
    IrUses *uses = ir_uses_new(g, g->arena);
    Cost cost = cost_new(g, cx, NULL);
    bool changed = false;
    for (IrId p = (IrId)g->nodes.n - 1; p > 0; p--) {
        const IrNode *node = ir_node(g, p);
        if (node->dead || node->op != IR_MAP || node->of != 0 || uses->pinned[p] || ir_uses_readers(uses, p).n != 1) {
            continue;
        }
        const IrId reader = ir_uses_readers(uses, p).at[0];
        IrNode *to = ir_node(g, reader);
        int n;
        const IrExpr read = *ir_uses_of(uses, reader, p, &n);
        Projection of;
        if (n != 1 || to->op != IR_MAP || to->of != 0 || to->loop != node->loop || are_too_much(g, uses, reader, p) ||
            !is_projection(g, reader, p, read, &of)) {
            continue;
        }
        const char *why = why_not(g, cx, &cost, p, &of);
        remark(cx, p, reader, why);
        if (why == NULL) {
            Replacing r = {read, ir_rewrite(g, ir_as_stored(g, p), place_read, &of)};
            to->map.value = ir_rewrite(g, to->map.value, replace, &r);
            ir_node(g, p)->dead = true;
            ir_uses_changed(uses, reader);
            changed = true;
        }
    }
    return changed;
}
