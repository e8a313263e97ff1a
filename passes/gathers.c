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
 * reads back.  What follows from a fold's index becomes a map with a channel for each of them (ir/stack.h), where
 * there can be one.
 *
 * Nodes stand in the order in which they are computed, so all that follow the first new one are moved behind it.
 *
 * For example, where %1 is an image,
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 mul(%1, 2:f32)
 *     %3 b = map : image f32 grid 0
 *         in 0 sub(%2@[y = sat_i32(add(f32(coord(y)), %1))], %2)
 *     output b = %3 as tif
 *
 * becomes
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 mul(%1, 2:f32)
 *     %4 b_gather = map : image f32 grid 0
 *         in 0 %2@[y = sat_i32(add(f32(coord(y)), %1))]
 *     %5 b = map : image f32 grid 0
 *         in 0 sub(%4, %2)
 *     output b = %5 as tif
 */
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/footprint.h"
#include "../ir/gather.h"
#include "../ir/indices.h"
#include "../ir/stack.h"

/* An expression that is a map now. */
typedef struct Made {
    IrExpr of, read;
    int domain, loop;
} Made;

typedef struct Gathers {
    IrId reader; /* the node that is taken apart */
    IrExpr root; /* which of its expressions */
    int domain;  /* the grid that it is computed over */
    Vec(Made) made;
    bool found; /* something to take apart */
} Gathers;

/* Reads a map with the values of an expression over a grid. */
static IrExpr map_of(IrGraph *g, Gathers *own, IrExpr e, int domain, const char *what)
{
    const IrNode reader = *ir_node(g, own->reader);
    for (int i = 0; i < own->made.n; i++) {
        const Made *m = &own->made.at[i];
        if (m->of == e && m->domain == domain && m->loop == reader.loop) {
            return m->read;
        }
    }
    Elem type = ir_expr(g, e)->type;
    IrNode map = {.op = IR_MAP,
                  .kind = type == ELEM_BOOL ? IR_K_MASK : IR_K_IMAGE,
                  .elem = type,
                  .grid = domain,
                  .name = arena_printf(g->arena, "%s_%s", reader.name, what),
                  .span = reader.span,
                  .loop = reader.loop};
    map.map.value = e;
    IrExpr read = ir_read(g, ir_add_node(g, map));
    vec_push(g->arena, &own->made, ((Made){e, read, domain, reader.loop}));
    return read;
}

/* The read as a map over a grid, its coordinates too where they are not easy. */
static IrExpr gather_of(IrGraph *g, Gathers *own, IrExpr read, int domain)
{
    IrExprNode n = *ir_expr(g, read);
    IrExpr *const at[3] = {&n.a, &n.b, &n.c};
    for (int ax = 0; ax < 3; ax++) {
        if (!ir_is_easy_place(g, *at[ax], n.node)) {
            *at[ax] = map_of(g, own, ir_cast(g, *at[ax], ELEM_I32), domain, "place");
        }
    }
    return map_of(g, own, ir_intern(g, n), domain, "gather");
}

static bool has_index(const IrGraph *g, IrExpr e)
{
    return ir_free_indices(g, e)->n > 0;
}

/* What the read is over the stack of the indices that it follows from; 0: it has none. */
static IrExpr stack_of(IrGraph *g, const Gathers *own, IrExpr e, IrStack *stack)
{
    return ir_stack_for(g, own->root, e, own->domain, stack) ? ir_stacked(g, stack, e) : 0;
}

static IrExpr take_apart(IrGraph *g, IrExpr e, void *ctx)
{
    Gathers *own = ctx;
    IrStack stack;
    if (!ir_reads_anywhere(g, e)) {
        return e;
    }
    if (!has_index(g, e)) {
        return gather_of(g, own, e, own->domain);
    }
    IrExpr at = stack_of(g, own, e, &stack);
    return at != 0 ? ir_read_stack(g, &stack, ir_expr(g, gather_of(g, own, at, stack.grid))->node) : e;
}

static IrExpr look_for_reads(IrGraph *g, IrExpr e, void *ctx)
{
    Gathers *own = ctx;
    IrStack stack;
    bool may = ir_reads_anywhere(g, e) && (!has_index(g, e) || stack_of(g, own, e, &stack) != 0);
    own->found = own->found || may;
    return e;
}

bool pass_wants_rounds(IrGraph *g)
{
    Gathers own = {.found = false};
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        own.domain = ir_node(g, id)->dead ? -1 : ir_domain(g, id);
        for (int i = 0; i < NODE_INPUTS && own.domain >= 0 && !ir_is_gather(g, id); i++) {
            own.root = ir_node(g, id)->in[i];
            own.root = own.root != 0 ? ir_rewrite(g, own.root, look_for_reads, &own) : 0;
        }
    }
    return own.found || pass_wants_wraps(g);
}

/* A node that is a gather now itself needs none beside it: the one made last.  Others may read it instead. */
static void absorb(IrGraph *g, Gathers *own, IrId id)
{
    IrId end = (IrId)(g->nodes.n - 1);
    IrNode *node = ir_node(g, id), *last = ir_node(g, end);
    Made *made = own->made.n > 0 ? &own->made.at[own->made.n - 1] : NULL;
    bool all = node->op == IR_MAP && made != NULL && made->read == node->map.value;
    if (all && ir_expr(g, made->read)->node == end && last->elem == node->elem) {
        node->map.value = last->map.value;
        last->dead = true;
        made->read = 0; /* until it has moved */
    }
}

static bool take_node_apart(IrGraph *g, Gathers *own, IrId id)
{
    bool any = false;
    own->reader = id;
    own->domain = ir_domain(g, id);
    for (int i = 0; i < NODE_INPUTS && own->domain >= 0 && !ir_is_gather(g, id); i++) {
        IrExpr e = own->root = ir_node(g, id)->in[i];
        IrExpr apart = e != 0 ? ir_rewrite(g, e, take_apart, own) : 0;
        any = any || apart != e;
        ir_node(g, id)->in[i] = apart;
    }
    absorb(g, own, id);
    return any;
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
            ir_move_to_end(g, id);
        }
        Made *last = own.made.n > 0 ? &own.made.at[own.made.n - 1] : NULL;
        if (last != NULL && last->read == 0) {
            last->read = ir_read(g, (IrId)(g->nodes.n - 1));
        }
    }
    return any;
}
