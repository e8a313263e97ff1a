/*
 * narrow: no node reads more images than a kernel may have arguments.
 *
 * OpenCL 1.2 promises 1024 bytes for the arguments of a kernel, which is as many as 128 pointers.  Numbers about
 * images find a place elsewhere (cg_pack), but each image is a pointer.  Where an expression reads more of them than
 * IR_MOST_READS, parts of it become maps of their own, which are stored: what is read at a pixel is then one image
 * instead of many.  Pixels are stored in the type that they are computed in, so that no bit changes.
 *
 * What follows from a fold's index cannot be stored; the checker refuses folds of so many images.
 *
 * Nodes stand in the order in which they are computed, so all that follow the first new one are moved behind it.
 */
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/footprint.h"
#include "../ir/indices.h"
#include "../ir/uses.h"

#include <string.h>

typedef Vec(IrId) Images; /* in ascending order */

typedef struct Narrow {
    IrId reader; /* the node that is taken apart */
    int domain;  /* the grid that it is computed over */
    Images *of;  /* by expression: the images that it reads, of those that have been looked at; [0] none */
    bool *known;
    int cap;
    bool cut;
} Narrow;

static void add_image(IrGraph *g, Images *to, IrId id)
{
    int at = to->n;
    while (at > 0 && to->at[at - 1] > id) {
        at--;
    }
    if (at > 0 && to->at[at - 1] == id) {
        return;
    }
    vec_push(g->arena, to, id);
    memmove(to->at + at + 1, to->at + at, (size_t)(to->n - 1 - at) * sizeof *to->at);
    to->at[at] = id;
}

static void know(IrGraph *g, Narrow *own, IrExpr e, Images images)
{
    if ((int)e >= own->cap) {
        int cap = 2 * g->exprs.n;
        Images *of = arena_array(g->arena, Images, cap);
        bool *known = arena_array(g->arena, bool, cap);
        memcpy(of, own->of, (size_t)own->cap * sizeof *of);
        memcpy(known, own->known, (size_t)own->cap * sizeof *known);
        own->of = of;
        own->known = known;
        own->cap = cap;
    }
    own->of[e] = images;
    own->known[e] = true;
}

static Images images_of(const Narrow *own, IrExpr e)
{
    return (int)e < own->cap && own->known[e] ? own->of[e] : (Images){0};
}

static Images all_of(IrGraph *g, const Narrow *own, const IrExpr *part, int n)
{
    Images all = {0};
    for (int i = 0; i < n; i++) {
        const Images images = images_of(own, part[i]);
        for (int k = 0; k < images.n; k++) {
            add_image(g, &all, images.at[k]);
        }
    }
    return all;
}

/* May the values of an expression at the pixels of a grid be stored? */
static bool may_be_stored(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    return n->rank == IR_PIXEL && n->type != ELEM_F64 && !ir_is_read(n) && n->op != IR_X_ARG &&
           ir_free_indices(g, e)->n == 0;
}

/* Reads a map with the values of an expression. */
static IrExpr stored(IrGraph *g, Narrow *own, IrExpr e)
{
    const IrNode reader = *ir_node(g, own->reader);
    Elem type = ir_expr(g, e)->type;
    IrNode map = {.op = IR_MAP,
                  .kind = type == ELEM_BOOL ? IR_K_MASK : IR_K_IMAGE,
                  .elem = type,
                  .grid = own->domain,
                  .name = arena_printf(g->arena, "%s_part", reader.name),
                  .span = reader.span,
                  .loop = reader.loop};
    map.map.value = e;
    IrId id = ir_add_node(g, map);
    IrExpr read = ir_read(g, id);
    Images images = {0};
    add_image(g, &images, id);
    know(g, own, read, images);
    own->cut = true;
    return read;
}

/* Stores the parts that read most, until all of them together read few enough; what they read then. */
static Images store_parts(IrGraph *g, Narrow *own, IrExpr *part, int n)
{
    Images all = all_of(g, own, part, n);
    while (all.n > IR_MOST_READS) {
        int most = -1;
        for (int i = 0; i < n; i++) {
            bool better = images_of(own, part[i]).n > (most >= 0 ? images_of(own, part[most]).n : 1);
            most = better && may_be_stored(g, part[i]) ? i : most;
        }
        if (most < 0) {
            break;
        }
        part[most] = stored(g, own, part[most]);
        all = all_of(g, own, part, n);
    }
    return all;
}

static IrExpr take_apart(IrGraph *g, IrExpr e, void *ctx)
{
    Narrow *own = ctx;
    IrExprNode n = *ir_expr(g, e);
    Images images = store_parts(g, own, n.child, IR_CHILDREN);
    if (memcmp(n.child, ir_expr(g, e)->child, sizeof n.child) != 0) {
        e = ir_intern(g, n);
    }
    if (ir_is_read(&n) && n.op != IR_X_VALUE) {
        add_image(g, &images, n.node);
    }
    know(g, own, e, images);
    return e;
}

bool pass_narrow(IrGraph *g)
{
    IrUses *uses = ir_uses_new(g, g->arena);
    Narrow own = {.reader = 0};
    for (IrId id = 1, n = (IrId)g->nodes.n; id < n; id++) {
        if (ir_node(g, id)->dead || ir_node(g, id)->op == IR_INPUT) {
            continue;
        }
        own.reader = id;
        own.domain = ir_domain(g, id);
        if (own.domain >= 0 && ir_uses_images(uses, &id, 1) > IR_MOST_READS) {
            IrExpr part[NODE_INPUTS];
            for (int i = 0; i < NODE_INPUTS; i++) {
                part[i] = ir_rewrite(g, ir_node(g, id)->in[i], take_apart, &own);
            }
            (void)store_parts(g, &own, part, NODE_INPUTS);
            memcpy(ir_node(g, id)->in, part, sizeof part);
        }
        if (own.cut) {
            ir_move_to_end(g, id);
        }
    }
    return own.cut;
}
