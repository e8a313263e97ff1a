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
 *
 * What all of its readers read at their own pixel is decided first, readers before what they read, on the table of
 * uses alone; then each expression is rewritten once.  What is read at other pixels is put in afterwards, a stage
 * at a time, since each place takes a copy of its own.
 *
 * For example, where %1 is an image,
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 mul(%1, 2:f32)
 *     %3 b = map : image f32 grid 0
 *         in 0 sub(%2[x = 1], %2[x = -1])
 *     output b = %3 as tif
 *
 * becomes
 *
 *     %3 b = map : image f32 grid 0
 *         in 0 sub(mul(%1[x = 1], 2:f32), mul(%1[x = -1], 2:f32))
 *     output b = %3 as tif
 */
#include "cost.h"
#include "figures.h"
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/uses.h"
#include "../ir/footprint.h"

#include <math.h>
#include <string.h>

enum {
    MAX_PRIMITIVE_TAPS = 4, /* a primitive's reader takes each from memory, mapped at the borders */
    CHANNELS = 3            /* that a picture has: what none of them needs for itself is computed for each */
};

typedef struct Inlining {
    IrGraph *g;
    PassContext *cx;
    IrUses *uses;
    IrId *into;    /* by node: the first of the readers that it was put into; 0: it stays */
    IrExpr *value; /* by node that was put into its readers: what they have instead of the read */
    bool *touched; /* by node: others were put into it, which its expressions do not show yet */
    bool *folds;   /* by node: its expression has folds, also with what was put into it */
    bool *sorts;   /* by node: it has one that sorts */
    bool *places;  /* by node: it reads pixels at computed positions */
    bool *renames; /* by node that was put into its readers: some have folds, too */
    int *depth;    /* by node: how deep its expressions are at most, with what was put into it */
    Cost cost;
    double *registers, *ops; /* by node: as cost.h counts them, with what was put into it */
} Inlining;

/* ---- what a consumer sees -------------------------------------------------------------- */

typedef struct Use {
    bool offset, constant, whole;
    bool window; /* it is read at offsets that run over a window */
    int taps;    /* places at which it is read: what is read there twice is computed once */
} Use;

static bool is_moved(const IrExprNode *n)
{
    return n->op == IR_X_READAT || n->a != 0 || n->b != 0 || n->c != 0;
}

static int taps_of(IrGraph *g, IrId consumer, IrId p)
{
    int taps = 0;
    for (int i = 0; i < NODE_INPUTS; i++) {
        IrFootprint fp = ir_footprint(g, ir_node(g, consumer)->in[i]);
        const IrReach *r = ir_reach(&fp, p);
        taps += r != NULL ? r->taps : 0;
    }
    return taps;
}

/* Whether the stage is 0 where what it reads is 0: another type of the same pixel. */
static bool keeps_zero(const IrGraph *g, IrId p)
{
    const IrExprNode *n = ir_expr(g, ir_node(g, p)->map.value);
    return n->op == IR_X_CAST && ir_expr(g, n->a)->op == IR_X_READ;
}

/* -0.0 is none: not every type has it. */
static bool is_zero(const IrGraph *g, IrExpr e)
{
    double value;
    return e != 0 && ir_is_const(g, e, &value) && value == 0 && !signbit(value);
}

static Use use_of(const Inlining *in, IrId consumer, IrId p)
{
    IrGraph *g = in->g;
    Use use = {0};
    int n;
    const IrExpr *read = ir_uses_of(in->uses, consumer, p, &n);
    for (int i = 0; i < n; i++) {
        const IrExprNode *r = ir_expr(g, read[i]);
        const IrExpr at[3] = {r->a, r->b, r->c};
        use.offset = use.offset || is_moved(r);
        use.constant = use.constant ||
                       (is_moved(r) && r->border == BORDER_CONSTANT && !(keeps_zero(g, p) && is_zero(g, r->outside)));
        use.whole = use.whole || r->op == IR_X_READAT;
        for (int ax = 0; ax < 3; ax++) {
            use.window = use.window || (at[ax] != 0 && ir_expr(g, at[ax])->rank > IR_HOST);
        }
    }
    use.taps = use.window ? taps_of(g, consumer, p) : n;
    int domain = ir_domain(g, consumer), own = ir_node(g, p)->grid;
    bool channels = domain >= 0 && g->grids.at[domain].has[IR_AX_C] && !g->grids.at[own].has[IR_AX_C];
    use.taps *= channels ? CHANNELS : 1;
    return use;
}

/* Does a primitive take this read as a stored image? */
static bool wants_stored(const IrGraph *g, IrId consumer, IrId p)
{
    const IrNode *n = ir_node(g, consumer);
    for (int i = 0; i < NODE_INPUTS; i++) {
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

/* p has channels, of which the reader, which has none, names those that it reads. */
static bool names_channels(const Inlining *in, IrId reader, IrId p, const IrFootprint *fp)
{
    IrGraph *g = in->g;
    const int domain = ir_domain(g, reader);
    const IrGrid *of = &g->grids.at[ir_node(g, p)->grid], *to = domain >= 0 ? &g->grids.at[domain] : NULL;
    bool named = to != NULL && of->has[IR_AX_C] && !to->has[IR_AX_C] && !fp->coords;
    for (int ax = 0; ax < IR_AX_C && named; ax++) {
        named = of->extent[ax] == to->extent[ax] && of->has[ax] == to->has[ax];
    }
    int n;
    const IrExpr *read = ir_uses_of(in->uses, reader, p, &n);
    for (int i = 0; i < n; i++) {
        const IrExprNode *r = ir_expr(g, read[i]);
        named = named && r->op == IR_X_READ && r->channel != 0 && ir_expr(g, r->channel)->rank <= IR_HOST;
    }
    return named;
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

/* What one of them alone may be. */
static const char *too_much_together(const Inlining *in, IrId consumer, IrId p)
{
    const IrId both[] = {consumer, p};
    if (in->depth[consumer] + in->depth[p] > IR_DEEP) {
        return "one expression would nest too deeply";
    }
    if (in->folds[p] && in->sorts[consumer]) {
        return "its reader sorts windows, and cannot stream over rows";
    }
    if (in->sorts[p] && in->folds[consumer] && !in->places[p]) {
        return "it sorts windows, and its reader can stream over rows";
    }
    if (in->registers[p] > 0 && in->places[consumer]) {
        return "its reader reads at computed positions, and cannot stream over rows";
    }
    const int domain = ir_domain(in->g, consumer), own = ir_node(in->g, p)->grid;
    if (in->folds[p] && domain >= 0 && in->g->grids.at[domain].has[IR_AX_C] && !in->g->grids.at[own].has[IR_AX_C]) {
        return "its reader has channels, and would add for each of them again";
    }
    return in->uses->reads[p].n > 1 && ir_uses_images(in->uses, both, 2) > IR_MOST_READS
               ? "the kernel would read too many images"
               : NULL;
}

static const char *why_not(const Inlining *in, IrId consumer, IrId p, const Use *use, const IrFootprint *fp,
                           bool pointwise)
{
    IrGraph *g = in->g;
    if (ir_node(g, consumer)->loop != ir_node(g, p)->loop) {
        return "its reader is in another loop";
    }
    if (ir_domain(g, consumer) != ir_node(g, p)->grid && !is_on_every_channel(g, p, ir_domain(g, consumer), fp) &&
        !(pointwise && names_channels(in, consumer, p, fp))) {
        return "its reader has another size";
    }
    if (wants_stored(g, consumer, p)) {
        return "a library kernel reads it in an order of its own";
    }
    if (use->whole) {
        return "it is read at positions that are computed";
    }
    if (use->offset && (!pointwise || fp->coords)) {
        return "a stencil of a stencil is computed once, not again for each neighbour";
    }
    if (use->constant) {
        return "its border is a constant, which its inputs do not have";
    }
    bool primitive = ir_op_is_primitive(ir_node(g, consumer)->op);
    if (!pointwise && primitive && !is_small_stencil(fp)) {
        return "a stencil is computed once before a library kernel reads it";
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

/* The nodes that read p, if p may and should be computed in all of them; none otherwise.  A stage that must be stored
 * for one is read by the others too.  With `here`: only where all read it at the current pixel. */
typedef struct Choice {
    IrReaders readers;
    const char *blocked; /* why not; NULL: it is put into its readers */
    bool beside;         /* some read it at other pixels */
    double bytes;        /* for a remark: what each reader saves or costs */
} Choice;

/* Why it would be slower to compute p in its readers; NULL: it would not.  A fold counts as few operations where it moves
 * bytes less: a window that is not known yet may be small. */
static const char *cost_of(Inlining *in, IrId p, const Choice *choice, const IrFootprint *fp, double taps, double saved)
{
    const DeviceFigures *figures = in->cx->figures != NULL ? in->cx->figures : figures_known(NULL);
    if (saved < 0) {
        return "reading its inputs again would move more bytes";
    }
    for (int i = 0; i < choice->readers.n && in->registers[p] > 0; i++) {
        const double there = in->registers[choice->readers.at[i]];
        if (there > 0 && there + in->registers[p] > COST_MOST_REGISTERS) {
            return COST_FULL;
        }
    }
    bool often =
        fp->ops * (taps - 1) > figures_repeated_ops(figures) || in->ops[p] * (taps - 1) > cost_bytes(&in->cost, saved);
    return often ? "recomputing it for each read takes longer than storing it" : NULL;
}

static Choice choose(Inlining *in, IrId p)
{
    IrGraph *g = in->g;
    IrFootprint fp = ir_footprint(g, ir_node(g, p)->map.value);
    bool pointwise = is_pointwise(&fp, g);
    Choice choice = {.readers = ir_uses_readers(in->uses, p),
                     .blocked = in->uses->pinned[p] ? "it is an output, or the next round of a loop reads it" : NULL};
    double taps = 0;
    for (int i = 0; i < choice.readers.n; i++) {
        IrId reader = choice.readers.at[i];
        Use use = use_of(in, reader, p);
        taps += use.taps;
        choice.beside = choice.beside || use.offset;
        const char *why = why_not(in, reader, p, &use, &fp, pointwise);
        why = why != NULL ? why : too_much_together(in, reader, p);
        choice.blocked = choice.blocked != NULL ? choice.blocked : why;
    }
    double own = bytes_of(g, p), from = input_bytes(g, &fp), readers = choice.readers.n;
    double saved = own * (1 + readers) + from - from * readers;
    const char *costly = cost_of(in, p, &choice, &fp, taps, saved);
    if (choice.blocked == NULL && !pass_decide(in->cx, g, DECISION_INLINE, p, 0, costly == NULL)) {
        choice.blocked = costly != NULL ? costly : "a plan that was measured stores it";
    }
    choice.bytes = choice.blocked != NULL ? own * 2 : saved / readers;
    return choice;
}

static void remark(Inlining *in, IrId p, const Choice *choice)
{
    for (int i = 0; i < choice->readers.n; i++) {
        const IrRemark r = {.from = p,
                            .to = choice->readers.at[i],
                            .state = choice->blocked == NULL ? IR_EDGE_INLINE : IR_EDGE_GLOBAL,
                            .why = choice->blocked == NULL ? "computed for each read" : choice->blocked,
                            .bytes = choice->bytes};
        vec_push(in->g->arena, &in->cx->remarks, r);
    }
}

/* ---- expressions in place of reads ------------------------------------------------------- */

static IrExpr move_read(IrGraph *g, IrExpr e, void *ctx)
{
    const IrExprNode *at = ctx; /* the reader's read, which p's own ones take the place of */
    const IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || n.rank != IR_PIXEL) {
        return e;
    }
    bool own = is_moved(&n); /* then the reader's read has no offsets */
    const IrExpr offset[3] = {own ? n.a : at->a, own ? n.b : at->b, own ? n.c : at->c};
    IrExpr channel = n.channel;
    bool has_channels = g->grids.at[ir_node(g, n.node)->grid].has[IR_AX_C];
    if (channel == 0 && has_channels) {
        channel = at->channel;
    }
    return ir_read_offset(g, n.node, offset, channel, own ? n.border : at->border, own ? n.outside : at->outside);
}

static IrExpr insert(IrGraph *g, IrExpr e, void *ctx)
{
    const Inlining *in = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || in->value[n.node] == 0) {
        return e;
    }
    return is_moved(&n) || n.channel != 0 ? ir_rewrite(g, in->value[n.node], move_read, &n) : in->value[n.node];
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

static bool is_fold(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_expr(g, e)->op == IR_X_FOLD && ir_expr(g, e)->rank == IR_PIXEL;
}

static bool is_at_place(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_expr(g, e)->op == IR_X_READAT;
}

static void substitute(Inlining *in, IrId reader)
{
    for (int i = 0; i < NODE_INPUTS; i++) {
        IrExpr e = ir_rewrite(in->g, ir_node(in->g, reader)->in[i], insert, in);
        ir_node(in->g, reader)->in[i] = e;
    }
}

/* What readers of p have instead of a read of it. */
static IrExpr value_of(Inlining *in, IrId p)
{
    IrGraph *g = in->g;
    IrExpr value = ir_as_stored(g, p);
    Rename rename = {in->renames[p] ? arena_array(g->arena, int, g->next_index + 1) : NULL};
    return in->renames[p] ? ir_rewrite(g, value, rename_index, &rename) : value;
}

/* The stage stays as an expression only. */
static void put_into(Inlining *in, IrId p, const IrReaders *readers)
{
    for (int i = 0; i < readers->n; i++) {
        IrId reader = readers->at[i];
        in->renames[p] = in->renames[p] || (in->folds[p] && in->folds[reader]);
        in->folds[reader] = in->folds[reader] || in->folds[p];
        in->sorts[reader] = in->sorts[reader] || in->sorts[p];
        in->places[reader] = in->places[reader] || in->places[p];
        in->depth[reader] += in->depth[p];
        in->registers[reader] += in->registers[p];
        in->ops[reader] += in->ops[p];
    }
    in->into[p] = readers->at[0];
    ir_node(in->g, p)->dead = true;
}

static bool is_map(const IrGraph *g, IrId id)
{
    return !ir_node(g, id)->dead && ir_node(g, id)->op == IR_MAP;
}

/* ---- both ways --------------------------------------------------------------------------- */

/* What the readers of p read when it is computed in them. */
static void hand_reads_on(Inlining *in, IrId p, IrId reader)
{
    IrGraph *g = in->g;
    const IrReads *own = &in->uses->reads[reader], *from = &in->uses->reads[p];
    IrReads all = {0};
    for (int i = 0; i < own->n; i++) {
        IrExprNode n = *ir_expr(g, own->at[i]);
        if (n.node != p) {
            vec_push(g->arena, &all, own->at[i]);
        }
        for (int k = 0; n.node == p && k < from->n; k++) {
            IrExpr read = n.channel != 0 ? move_read(g, from->at[k], &n) : from->at[k];
            vec_push(g->arena, &all, read);
        }
    }
    ir_uses_set(in->uses, reader, all.at, all.n);
    in->touched[reader] = true;
}

/* Readers first: what several stages read that end up in one is computed there once. */
static bool decide_here(Inlining *in)
{
    IrGraph *g = in->g;
    bool changed = false;
    for (IrId p = (IrId)g->nodes.n - 1; p > 0; p--) {
        Choice choice = is_map(g, p) ? choose(in, p) : (Choice){0};
        if (choice.readers.n == 0 || choice.blocked != NULL || choice.beside) {
            continue;
        }
        remark(in, p, &choice);
        for (int i = 0; i < choice.readers.n; i++) {
            hand_reads_on(in, p, choice.readers.at[i]);
        }
        put_into(in, p, &choice.readers);
        changed = true;
    }
    return changed;
}

static void substitute_here(Inlining *in)
{
    IrGraph *g = in->g;
    IrId n = (IrId)g->nodes.n;
    for (IrId id = 1; id < n; id++) {
        if (in->into[id] != 0 || in->touched[id]) {
            substitute(in, id);
        }
        if (in->into[id] != 0) {
            in->value[id] = value_of(in, id);
        }
    }
}

static bool put_beside(Inlining *in)
{
    IrGraph *g = in->g;
    bool changed = false;
    for (IrId p = 1; p < (IrId)g->nodes.n; p++) {
        Choice choice = is_map(g, p) ? choose(in, p) : (Choice){0};
        remark(in, p, &choice);
        if (choice.readers.n == 0 || choice.blocked != NULL) {
            continue;
        }
        put_into(in, p, &choice.readers);
        in->value[p] = value_of(in, p);
        for (int i = 0; i < choice.readers.n; i++) {
            substitute(in, choice.readers.at[i]);
            ir_uses_changed(in->uses, choice.readers.at[i]);
        }
        changed = true;
    }
    return changed;
}

/* The inputs of a stage that was put into its reader are read by that one now. */
static void move_remarks(const Inlining *in)
{
    for (int i = 0; i < in->cx->remarks.n; i++) {
        IrRemark *r = &in->cx->remarks.at[i];
        while (in->into[r->to] != 0) {
            r->to = in->into[r->to];
        }
    }
}

bool pass_inline(IrGraph *g, PassContext *cx)
{
    /* A primitive keeps its grid, even when what moves into it reads no image at all. */
    for (IrId p = 1; p < (IrId)g->nodes.n; p++) {
        if (!ir_node(g, p)->dead && ir_op_is_primitive(ir_node(g, p)->op)) {
            int grid = ir_domain(g, p);
            ir_node(g, p)->grid = grid;
        }
    }
    if (cx->fuse == FUSE_NONE) {
        return false;
    }
    Inlining in = {.g = g,
                   .cx = cx,
                   .uses = ir_uses_new(g, g->arena),
                   .into = arena_array(g->arena, IrId, g->nodes.n),
                   .value = arena_array(g->arena, IrExpr, g->nodes.n),
                   .touched = arena_array(g->arena, bool, g->nodes.n),
                   .folds = arena_array(g->arena, bool, g->nodes.n),
                   .sorts = arena_array(g->arena, bool, g->nodes.n),
                   .places = arena_array(g->arena, bool, g->nodes.n),
                   .renames = arena_array(g->arena, bool, g->nodes.n),
                   .depth = arena_array(g->arena, int, g->nodes.n),
                   .cost = cost_new(g, cx, NULL),
                   .registers = arena_array(g->arena, double, g->nodes.n),
                   .ops = arena_array(g->arena, double, g->nodes.n)};
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        if (!ir_node(g, id)->dead) {
            in.folds[id] = ir_any(g, ir_node(g, id)->map.value, is_fold, NULL);
            in.sorts[id] = ir_any_sorts(g, ir_node(g, id)->map.value);
            in.places[id] = ir_any(g, ir_node(g, id)->map.value, is_at_place, NULL);
            in.registers[id] = cost_stage(&in.cost, id)->registers;
            in.ops[id] = cost_stage(&in.cost, id)->ops;
        }
        for (int i = 0; i < NODE_INPUTS; i++) {
            int depth = ir_expr(g, ir_node(g, id)->in[i])->depth;
            in.depth[id] = depth > in.depth[id] ? depth : in.depth[id];
        }
    }
    bool here = decide_here(&in);
    substitute_here(&in);
    bool beside = put_beside(&in);
    move_remarks(&in);
    return here || beside;
}
