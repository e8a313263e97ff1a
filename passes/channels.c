/*
 * channels: of an image with channels whose readers name the ones that they want, each of these is an image of its own.
 *
 * `rgb2hed(image)[c = 0]` is one stain of three.  An image whose channels follow from the coordinate c is computed for each of
 * them, on a grid that its readers, which have no channels, do not share.  A channel has their grid, and is computed in them.
 *
 * For example, where %1 is an image,
 *
 *     grid 1 [x = extent(%2, x), y = extent(%2, y), c = extent(%2, c)]
 *     grid 2 [x = extent(%2, x), y = extent(%2, y)]
 *     %2 picture = input "yxc" : image f32 grid 1
 *     %3 v = map : image f32 grid 1
 *         in 0 mul(%2, select(eq(coord(c), 0:i32), 2:f32, 3:f32))
 *     %4 a = map : image f32 grid 2
 *         in 0 sqrt(%3[c = 1])
 *     output a = %4 as tif
 *
 * becomes
 *
 *     grid 1 [x = extent(%2, x), y = extent(%2, y), c = extent(%2, c)]
 *     grid 2 [x = extent(%2, x), y = extent(%2, y)]
 *     %2 picture = input "yxc" : image f32 grid 1
 *     %3 v = map : image f32 grid 2
 *         in 0 mul(%2[c = 1], 3:f32)
 *     %4 a = map : image f32 grid 2
 *         in 0 sqrt(%3)
 *     output a = %4 as tif
 */
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/uses.h"

enum { MOST_CHANNELS = 4 }; /* that become images of their own */

typedef struct Channel {
    IrId of, to;  /* reads of the one become reads of the other, */
    IrExpr which; /* where this channel is read */
} Channel;

typedef struct Known {
    IrUses *uses;
    bool *measured; /* by node: somebody asks for its extents */
} Known;

static Known know(IrGraph *g)
{
    const Known k = {ir_uses_new(g, g->arena), arena_array(g->arena, bool, g->nodes.n)};
    for (int e = 1; e < g->exprs.n; e++) {
        const IrExprNode *n = &g->exprs.at[e];
        k.measured[n->node] = k.measured[n->node] || n->op == IR_X_EXTENT;
    }
    return k;
}

/* Adds the channel that a read wants; false: it wants another one for each pixel, or they are too many. */
static bool add_channel(const IrGraph *g, IrExpr read, IrExpr *which, int *n)
{
    const IrExprNode *r = ir_expr(g, read);
    double value;
    if (r->op != IR_X_READ || r->channel == 0 || !ir_is_const(g, r->channel, &value)) {
        return false;
    }
    for (int i = 0; i < *n; i++) {
        if (which[i] == r->channel) {
            return true;
        }
    }
    if (*n == MOST_CHANNELS) {
        return false;
    }
    which[(*n)++] = r->channel;
    return true;
}

static bool has_channels(const IrGraph *g, const IrNode *n)
{
    return n->grid >= 0 && g->grids.at[n->grid].has[IR_AX_C];
}

/* The channels that the readers of a node want, of which they name each; how many, 0: they want all. */
static int channels_of(const IrGraph *g, const Known *k, IrId id, IrExpr *which)
{
    const IrReaders readers = ir_uses_readers(k->uses, id);
    int channels = 0;
    for (int i = 0; i < readers.n; i++) {
        int n;
        const IrExpr *read = ir_uses_of(k->uses, readers.at[i], id, &n);
        for (int j = 0; j < n; j++) {
            if (!add_channel(g, read[j], which, &channels)) {
                return 0;
            }
        }
    }
    return channels;
}

static bool is_coordinate(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_COORD && (int)n->num == IR_AX_C;
}

/* What it computes, for that channel. */
static IrExpr take_channel(IrGraph *g, IrExpr e, void *ctx)
{
    const Channel *c = ctx;
    IrExprNode n = *ir_expr(g, e);
    const IrNode *from = n.op == IR_X_READ ? ir_node(g, n.node) : NULL;
    const bool follows = from != NULL && n.channel == 0 && has_channels(g, from);
    if (is_coordinate(g, e) || (follows && from->op == IR_MAP && is_coordinate(g, from->map.value))) {
        return ir_cast(g, c->which, ELEM_I32);
    }
    if (follows) {
        n.channel = c->which;
        return ir_intern(g, n);
    }
    if (from != NULL && n.channel != 0 && !has_channels(g, from)) {
        /* whichever channel is named of an image that has one, it is that one */
        n.channel = 0;
        return ir_intern(g, n);
    }
    return ir_made_anew(g, e);
}

static IrExpr read_it(IrGraph *g, IrExpr e, void *ctx)
{
    const Channel *c = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || n.node != c->of || n.channel != c->which) {
        return e;
    }
    n.node = c->to;
    n.channel = 0;
    return ir_intern(g, n);
}

static void read_channel(IrGraph *g, const IrReaders *readers, Channel c)
{
    for (int i = 0; i < readers->n; i++) {
        for (int k = 0; k < NODE_INPUTS; k++) {
            const IrExpr in = ir_rewrite(g, ir_node(g, readers->at[i])->in[k], read_it, &c);
            ir_node(g, readers->at[i])->in[k] = in;
        }
    }
}

/* What stands behind the node stands behind those that were added. */
static void keep_order(IrGraph *g, IrId from, IrId until)
{
    for (IrId id = from; id < until; id++) {
        if (!ir_node(g, id)->dead && ir_node(g, id)->op != IR_INPUT) {
            ir_move_to_end(g, id);
        }
    }
}

/* The node becomes one of the channels, new ones the others. */
static void part(IrGraph *g, Known *k, IrId id, const IrExpr *which, int n)
{
    const IrReaders readers = ir_uses_readers(k->uses, id);
    const IrNode whole = *ir_node(g, id);
    const IrId until = (IrId)g->nodes.n;
    IrGrid grid = g->grids.at[whole.grid];
    grid.has[IR_AX_C] = false;
    grid.extent[IR_AX_C] = 0;
    for (int i = n - 1; i >= 0; i--) {
        Channel c = {id, id, which[i]};
        IrNode node = whole;
        node.grid = ir_add_grid(g, grid);
        node.map.value = ir_rewrite(g, whole.map.value, take_channel, &c);
        if (i > 0) {
            node.name = arena_printf(g->arena, "%s_channel%d", whole.name, i);
            c.to = ir_add_node(g, node);
        } else {
            *ir_node(g, id) = node;
        }
        read_channel(g, &readers, c);
    }
    keep_order(g, id + 1, n > 1 ? until : id);
    *k = know(g);
}

static bool is_in_another_place(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    const IrExprOp op = ir_expr(g, e)->op;
    return op == IR_X_READAT || op == IR_X_CALL || op == IR_X_LOCAL;
}

static bool may_be_parted(const IrGraph *g, const Known *k, IrId id)
{
    const IrNode *n = ir_node(g, id);
    return !n->dead && n->op == IR_MAP && n->of == 0 && has_channels(g, n) &&
           (n->kind == IR_K_IMAGE || n->kind == IR_K_MASK) && n->elem != ELEM_FILE && !k->uses->pinned[id] &&
           !k->measured[id] && !ir_any(g, n->map.value, is_in_another_place, NULL);
}

bool pass_channels(IrGraph *g, PassContext *cx)
{
    (void)cx;
    Known k = know(g);
    bool changed = false;
    for (IrId id = (IrId)g->nodes.n - 1; id > 0; id--) {
        IrExpr which[MOST_CHANNELS];
        const int n = may_be_parted(g, &k, id) ? channels_of(g, &k, id, which) : 0;
        if (n > 0) {
            part(g, &k, id, which, n);
            changed = true;
        }
    }
    return changed;
}
