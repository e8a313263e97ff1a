/*
 * gathers: reads that may be of any row of an image become images of their own, where the image may not fit.
 *
 * A kernel that interpolates in a displaced image reads it at four places and needs all of them at once.  Each as
 * a map of its own can be made in rounds, with some of the image's rows at a time (ir/gather.h), and what is
 * done with them then reads maps at the pixel.  Coordinates that read the image themselves become maps,
 * too, for in rounds the rows that they want are not there, and so do those that take long.
 *
 * That stores a pixel for each read, so that it is for a second program (Program.in_rounds), which only runs
 * where the first one does not fit; the pass does nothing otherwise.  It comes after inlining, which would put the
 * reads back.  Reads at places that follow from a fold's index stay: there is one for each index.
 *
 * Nodes stand in the order in which they are computed, so all that follow the first new one are moved behind it.
 */
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/footprint.h"
#include "../ir/gather.h"
#include "../ir/indices.h"

/* An expression that is a map now. */
typedef struct Made {
    IrExpr of, read;
    int domain, loop;
} Made;

typedef struct Gathers {
    IrId reader; /* the node that is taken apart */
    int domain;  /* the grid that it is computed over */
    Vec(Made) made;
} Gathers;

/* The expression follows from an index of a fold around it. */
static bool is_of_fold(const IrGraph *g, IrExpr e)
{
    IrExpr channel = ir_expr(g, e)->channel;
    bool other = channel != 0 && ir_expr(g, channel)->rank > IR_HOST;
    return other || ir_free_indices(g, arena_array(g->arena, IrIndices, g->exprs.n), e)->n > 0;
}

/* Reads a map with the values of an expression. */
static IrExpr map_of(IrGraph *g, Gathers *own, IrExpr e, const char *what)
{
    const IrNode reader = *ir_node(g, own->reader);
    for (int i = 0; i < own->made.n; i++) {
        const Made *m = &own->made.at[i];
        if (m->of == e && m->domain == own->domain && m->loop == reader.loop) {
            return m->read;
        }
    }
    Elem type = ir_expr(g, e)->type;
    IrNode map = {.op = IR_MAP,
                  .kind = type == ELEM_BOOL ? IR_K_MASK : IR_K_IMAGE,
                  .elem = type,
                  .grid = own->domain,
                  .name = arena_printf(g->arena, "%s_%s", reader.name, what),
                  .span = reader.span,
                  .loop = reader.loop};
    map.in[0] = e;
    IrExpr read = ir_read(g, ir_add_node(g, map));
    vec_push(g->arena, &own->made, ((Made){e, read, own->domain, reader.loop}));
    return read;
}

static IrExpr take_apart(IrGraph *g, IrExpr e, void *ctx)
{
    Gathers *own = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (!ir_reads_anywhere(g, e) || is_of_fold(g, e)) {
        return e;
    }
    IrExpr *const at[3] = {&n.a, &n.b, &n.c};
    for (int ax = 0; ax < 3; ax++) {
        if (!ir_is_easy_place(g, *at[ax], n.node)) {
            *at[ax] = map_of(g, own, ir_cast(g, *at[ax], ELEM_I32), "place");
        }
    }
    return map_of(g, own, ir_intern(g, n), "gather");
}

static void look_for_reads(const IrGraph *g, IrExpr e, void *ctx)
{
    bool *found = ctx;
    *found = *found || (ir_reads_anywhere(g, e) && !is_of_fold(g, e));
}

bool pass_wants_rounds(const IrGraph *g)
{
    bool wants = false;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *node = ir_node(g, id);
        for (int i = 0; i < IR_MAX_IN && !node->dead && node->in[i] != 0 && !ir_is_gather(g, id); i++) {
            ir_walk(g, node->in[i], look_for_reads, &wants);
        }
    }
    return wants;
}

/* A node that is a gather now itself needs none beside it: the one made last.  Others may read it instead. */
static void absorb(IrGraph *g, Gathers *own, IrId id)
{
    IrId end = (IrId)(g->nodes.n - 1);
    IrNode *node = ir_node(g, id), *last = ir_node(g, end);
    Made *made = own->made.n > 0 ? &own->made.at[own->made.n - 1] : NULL;
    bool all = node->op == IR_MAP && made != NULL && made->read == node->in[0];
    if (all && ir_expr(g, made->read)->node == end && last->elem == node->elem) {
        node->in[0] = last->in[0];
        last->dead = true;
        made->read = 0; /* until it has moved */
    }
}

static bool take_node_apart(IrGraph *g, Gathers *own, IrId id)
{
    bool any = false;
    own->reader = id;
    own->domain = ir_domain(g, id);
    for (int i = 0; i < IR_MAX_IN && own->domain >= 0 && !ir_is_gather(g, id); i++) {
        IrExpr e = ir_node(g, id)->in[i];
        IrExpr apart = e != 0 ? ir_rewrite(g, e, take_apart, own) : 0;
        any = any || apart != e;
        ir_node(g, id)->in[i] = apart;
    }
    absorb(g, own, id);
    return any;
}

/* Behind all others. */
static void move(IrGraph *g, IrId id)
{
    IrNode node = *ir_node(g, id);
    vec_push(g->arena, &g->nodes, node);
    ir_node(g, id)->dead = true;
    ir_replace_node(g, id, (IrId)(g->nodes.n - 1));
}

bool pass_gathers(IrGraph *g, PassContext *cx)
{
    Gathers own = {.reader = 0};
    bool any = false;
    for (IrId id = 1, n = (IrId)g->nodes.n; cx->in_rounds && id < n; id++) {
        if (ir_node(g, id)->dead || ir_node(g, id)->op == IR_INPUT) {
            continue;
        }
        any = take_node_apart(g, &own, id) || any;
        if (any) {
            move(g, id);
        }
        Made *last = own.made.n > 0 ? &own.made.at[own.made.n - 1] : NULL;
        if (last != NULL && last->read == 0) {
            last->read = ir_read(g, (IrId)(g->nodes.n - 1));
        }
    }
    return any;
}
