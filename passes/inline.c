/*
 * inline: pointwise stages are computed where they are read, if that moves fewer bytes.
 *
 * A read of stage p becomes p's own expression.  Legal when p reads its inputs at the current
 * pixel only, or when the consumer reads p at the current pixel only; out-of-image reads keep
 * their meaning because the mapped coordinate is handed down to p's inputs (a constant border is
 * a value of p, not of its inputs, so such reads stay).
 *
 * The choice counts bytes per pixel: storing p costs writing it once and reading it once for
 * every consumer; inlining costs reading p's inputs at every consumer instead of once.  A
 * primitive computes what it reads pixel by pixel, without the registers that a kernel of its own
 * keeps neighbours in: it takes stencils of a few reads only.
 */
#include "figures.h"
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/footprint.h"

#include <string.h>

enum {
    MAX_PRIMITIVE_TAPS = 4, /* a primitive's reader takes each from memory, mapped at the borders */
    CHANNELS = 3 /* that a picture has: what none of them needs for itself is computed for each */
};

/* ---- what a consumer sees -------------------------------------------------------------- */

typedef struct Use {
    bool reads, offset, constant, whole;
    bool window; /* it is read at offsets that run over a window */
    int places;  /* at which it is read otherwise: what is read there twice is computed once */
    int taps;
} Use;

typedef struct UseWalk {
    IrId node;
    Use use;
} UseWalk;

static void look(const IrGraph *g, IrExpr e, void *ctx)
{
    UseWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->node != w->node || (n->op != IR_X_READ && n->op != IR_X_READAT)) {
        return;
    }
    bool offset = n->op == IR_X_READAT || n->a != 0 || n->b != 0 || n->c != 0;
    w->use.reads = true;
    w->use.offset = w->use.offset || offset;
    w->use.constant = w->use.constant || (offset && n->border == IR_CONSTANT);
    w->use.whole = w->use.whole || n->op == IR_X_READAT;
    w->use.places++;
    const IrExpr at[3] = {n->a, n->b, n->c};
    for (int ax = 0; ax < 3; ax++) {
        w->use.window = w->use.window || (at[ax] != 0 && ir_expr(g, at[ax])->rank > IR_HOST);
    }
}

static int taps_of(IrGraph *g, IrId consumer, IrId p)
{
    int taps = 0;
    for (int i = 0; i < IR_MAX_IN; i++) {
        IrFootprint fp = ir_footprint(g, ir_node(g, consumer)->in[i]);
        const IrReach *r = ir_reach(&fp, p);
        taps += r != NULL ? r->taps : 0;
    }
    return taps;
}

static Use use_of(IrGraph *g, IrId consumer, IrId p)
{
    UseWalk w = {.node = p};
    const IrNode *n = ir_node(g, consumer);
    for (int i = 0; i < IR_MAX_IN; i++) {
        ir_walk(g, n->in[i], look, &w);
    }
    w.use.taps = w.use.window ? taps_of(g, consumer, p) : w.use.places;
    int domain = ir_domain(g, consumer), own = ir_node(g, p)->grid;
    bool channels = domain >= 0 && g->grids.at[domain].has[IR_AX_C] && !g->grids.at[own].has[IR_AX_C];
    w.use.taps *= channels ? CHANNELS : 1;
    return w.use;
}

/* Does a primitive take this read as a stored image? */
static bool wants_stored(const IrGraph *g, IrId consumer, IrId p)
{
    const IrNode *n = ir_node(g, consumer);
    for (int i = 0; i < IR_MAX_IN; i++) {
        const IrExprNode *e = ir_expr(g, n->in[i]);
        if (e->op == IR_X_READ && e->node == p && ir_op_input_is_stored(n->op, i)) {
            return true;
        }
    }
    return false;
}

/* ---- may it, and should it --------------------------------------------------------------- */

/* The reader has channels and p, which has none, computes the same for each of them. */
static bool is_on_every_channel(const IrGraph *g, IrId p, int domain, const IrFootprint *fp)
{
    const IrGrid *of = &g->grids.at[ir_node(g, p)->grid], *to = &g->grids.at[domain];
    bool same = to->has[IR_AX_C] && !of->has[IR_AX_C] && !fp->coords;
    for (int ax = 0; ax < IR_AX_C; ax++) {
        same = same && of->extent[ax] == to->extent[ax] && of->has[ax] == to->has[ax];
    }
    for (int i = 0; i < fp->reach.n; i++) {
        const IrNode *from = ir_node(g, fp->reach.at[i].node);
        same = same && (from->grid < 0 || from->grid == ir_node(g, p)->grid);
    }
    return same;
}

static bool is_small_stencil(const IrFootprint *fp)
{
    int taps = 0;
    bool whole = false;
    for (int i = 0; i < fp->reach.n; i++) {
        taps += fp->reach.at[i].taps;
        whole = whole || fp->reach.at[i].whole;
    }
    return !whole && taps <= MAX_PRIMITIVE_TAPS;
}

static const char *why_not(IrGraph *g, IrId consumer, IrId p, const IrFootprint *fp, bool pointwise)
{
    Use use = use_of(g, consumer, p);
    if (ir_node(g, consumer)->loop != ir_node(g, p)->loop) {
        return "it is on the other side of a loop";
    }
    if (ir_domain(g, consumer) != ir_node(g, p)->grid &&
        !is_on_every_channel(g, p, ir_domain(g, consumer), fp)) {
        return "the reader has another grid";
    }
    if (wants_stored(g, consumer, p)) {
        return "the primitive reads it at places of its own choice";
    }
    if (use.whole) {
        return "it is read at computed positions";
    }
    if (use.offset && (!pointwise || fp->coords)) {
        return "a stencil of a stencil is computed once, not at every tap";
    }
    if (use.constant) {
        return "a constant border is a value of this stage";
    }
    bool primitive = ir_op_is_primitive(ir_node(g, consumer)->op);
    if (!pointwise && primitive && !is_small_stencil(fp)) {
        return "the stencil is computed once and read by a primitive";
    }
    return NULL;
}

static double bytes_of(const IrGraph *g, IrId node)
{
    size_t size = elem_size(ir_node(g, node)->elem);
    return size > 0 ? (double)size : 2;
}

static double input_bytes(const IrGraph *g, const IrFootprint *fp)
{
    double sum = 0;
    for (int i = 0; i < fp->reach.n; i++) {
        bool image = ir_has_pixels(g, fp->reach.at[i].node);
        sum += image ? bytes_of(g, fp->reach.at[i].node) : 0;
    }
    return sum;
}

static bool is_pointwise(const IrFootprint *fp, const IrGraph *g)
{
    for (int i = 0; i < fp->reach.n; i++) {
        const IrReach *r = &fp->reach.at[i];
        bool image = ir_has_pixels(g, r->node);
        if (r->offset || (r->whole && image)) {
            return false;
        }
    }
    return true;
}

/* ---- doing it ---------------------------------------------------------------------------- */

typedef struct Insert {
    IrId p;
    IrExpr value;      /* p as stored */
    IrExprNode at;     /* the read that is being replaced */
} Insert;

static IrExpr move_read(IrGraph *g, IrExpr e, void *ctx)
{
    const Insert *in = ctx;
    const IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || n.rank != IR_PIXEL) {
        return e;
    }
    bool own = n.a != 0 || n.b != 0 || n.c != 0; /* then the reader's read has no offsets */
    const IrExpr offset[3] = {own ? n.a : in->at.a, own ? n.b : in->at.b, own ? n.c : in->at.c};
    IrExpr channel = n.channel;
    bool has_channels = g->grids.at[ir_node(g, n.node)->grid].has[IR_AX_C];
    if (channel == 0 && has_channels) {
        channel = in->at.channel;
    }
    return ir_read_offset(g, n.node, offset, channel, own ? n.border : in->at.border,
                          own ? n.outside : in->at.outside);
}

static IrExpr insert(IrGraph *g, IrExpr e, void *ctx)
{
    Insert *in = ctx;
    const IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || n.node != in->p) {
        return e;
    }
    bool moved = n.a != 0 || n.b != 0 || n.c != 0 || n.channel != 0;
    if (!moved) {
        return in->value;
    }
    in->at = n;
    return ir_rewrite(g, in->value, move_read, in);
}

/* The folds of p get indices of their own: inside a fold of the consumer that happens to use the
 * same ones they would hide them. */
typedef struct Rename {
    int *to; /* by index: the new one + 1; 0 not met yet */
} Rename;

static IrExpr rename_index(IrGraph *g, IrExpr e, void *ctx)
{
    Rename *r = ctx;
    IrExprNode n = *ir_expr(g, e);
    bool bound = n.op == IR_X_FOLD, index = n.op == IR_X_INDEX && n.num >= 0;
    if (!bound && !index) {
        return e;
    }
    int *to = &r->to[(int)n.num];
    if (*to == 0) {
        *to = ir_new_index(g) + 1;
    }
    n.num = *to - 1;
    return ir_intern(g, n);
}

static void look_for_fold(const IrGraph *g, IrExpr e, void *ctx)
{
    bool *found = ctx;
    *found = *found || (ir_expr(g, e)->op == IR_X_FOLD && ir_expr(g, e)->rank == IR_PIXEL);
}

static bool has_folds(const IrGraph *g, IrExpr e)
{
    bool found = false;
    if (e != 0) {
        ir_walk(g, e, look_for_fold, &found);
    }
    return found;
}

static void inline_into(IrGraph *g, IrId consumer, IrId p)
{
    Insert in = {.p = p, .value = ir_as_stored(g, p)};
    if (has_folds(g, in.value) && has_folds(g, ir_node(g, consumer)->in[0])) {
        Rename rename = {arena_array(g->arena, int, g->next_index + 1)};
        in.value = ir_rewrite(g, in.value, rename_index, &rename);
    }
    for (int i = 0; i < IR_MAX_IN; i++) {
        IrExpr e = ir_node(g, consumer)->in[i];
        if (e != 0) {
            e = ir_rewrite(g, e, insert, &in);
            ir_node(g, consumer)->in[i] = e;
        }
    }
}

static bool is_pinned(const IrGraph *g, IrId id)
{
    for (int i = 0; i < g->outputs.n; i++) {
        if (g->outputs.at[i].node == id) {
            return true;
        }
    }
    for (int i = 1; i < g->loops.n; i++) {
        for (int k = 0; k < g->loops.at[i].carries.n; k++) {
            const IrCarry *c = &g->loops.at[i].carries.at[k];
            if (c->first == id || c->next == id) {
                return true;
            }
        }
    }
    for (int i = 1; i < g->nodes.n; i++) {
        if (!g->nodes.at[i].dead && g->nodes.at[i].of == id) {
            return true;
        }
    }
    return false;
}

static void remark(PassContext *cx, IrGraph *g, IrId from, IrId to, const char *why, double bytes)
{
    IrRemark r = {.from = from,
                  .to = to,
                  .state = why == NULL ? IR_EDGE_INLINE : IR_EDGE_GLOBAL,
                  .why = why == NULL ? "computed where it is read" : why,
                  .bytes = bytes};
    vec_push(g->arena, &cx->remarks, r);
}

/* All consumers or none: a stage that must be stored for one is read by the others too.  With
 * `here`: only where all read it at the current pixel. */
static bool inline_stage(IrGraph *g, IrId p, PassContext *cx, bool here)
{
    IrFootprint fp = ir_footprint(g, ir_node(g, p)->in[0]);
    bool pointwise = is_pointwise(&fp, g);
    Vec(IrId) consumers = {0};
    const char *blocked = is_pinned(g, p) ? "it is an output or carried by a loop" : NULL;
    double taps = 0;
    bool beside = false;
    for (IrId c = p + 1; c < (IrId)g->nodes.n; c++) {
        if (ir_node(g, c)->dead) {
            continue;
        }
        Use use = use_of(g, c, p);
        if (use.reads) {
            vec_push(g->arena, &consumers, c);
            taps += use.taps;
            beside = beside || use.offset;
            const char *why = why_not(g, c, p, &fp, pointwise);
            blocked = blocked != NULL ? blocked : why;
        }
    }
    if (consumers.n == 0) {
        return false;
    }
    double own = bytes_of(g, p), from = input_bytes(g, &fp), readers = consumers.n;
    double saved = own * (1 + readers) + from - from * readers;
    const DeviceFigures *figures = cx->figures != NULL ? cx->figures : figures_known(NULL);
    if (blocked == NULL && (saved < 0 || fp.ops * (taps - 1) > figures_repeated_ops(figures))) {
        blocked = saved < 0 ? "reading its inputs again would move more bytes"
                            : "it would be computed too often";
    }
    if (here && (blocked != NULL || beside)) {
        return false;
    }
    for (int i = 0; i < consumers.n; i++) {
        remark(cx, g, p, consumers.at[i], blocked, blocked ? own * 2 : saved / readers);
        if (blocked == NULL) {
            inline_into(g, consumers.at[i], p);
        }
    }
    if (blocked == NULL) {
        ir_node(g, p)->dead = true;
        for (int i = 0; i < cx->remarks.n; i++) { /* its own inputs are now read by the reader */
            IrRemark *r = &cx->remarks.at[i];
            r->to = r->to == p ? consumers.at[0] : r->to;
        }
    }
    return blocked == NULL;
}

bool pass_inline(IrGraph *g, PassContext *cx)
{
    bool changed = false;
    /* A primitive keeps its grid, even when what moves into it reads no image at all. */
    for (IrId p = 1; p < (IrId)g->nodes.n; p++) {
        if (!ir_node(g, p)->dead && ir_op_is_primitive(ir_node(g, p)->op)) {
            int grid = ir_domain(g, p);
            ir_node(g, p)->grid = grid;
        }
    }
    /* Readers first: what several stages read that end up in one is computed there once. */
    for (IrId p = (IrId)g->nodes.n - 1; cx->fuse != FUSE_NONE && p > 0; p--) {
        if (!ir_node(g, p)->dead && ir_node(g, p)->op == IR_MAP) {
            changed = inline_stage(g, p, cx, true) || changed;
        }
    }
    for (IrId p = 1; cx->fuse != FUSE_NONE && p < (IrId)g->nodes.n; p++) {
        if (!ir_node(g, p)->dead && ir_node(g, p)->op == IR_MAP) {
            changed = inline_stage(g, p, cx, false) || changed;
        }
    }
    return changed;
}
