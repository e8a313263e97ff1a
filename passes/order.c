/*
 * order: in which order steps run, so that the buffers that are there at once take the least memory.
 *
 * What has run is a set of steps that holds with each of them all that it needs: a down-set.  Which buffers are
 * there follows from the down-set alone, whatever the order in it was, so of all orders that lead to a down-set
 * the one with the smallest peak so far is enough to go on with.  Down-sets are made by their size, all that
 * there are; where there are more than BEAM of one size, the most promising go on, and the order is the best
 * of those that were looked at (s->order says so).
 *
 * Sizes are for images of 2048 x 2048 pixels (NOMINAL): that all orders are compared for the same image is what
 * counts.  A result that may take the place of an image which dies as it is made takes none of its own
 * (ir/in_place.h).  Scratch of primitives is not known here, nor what a loop puts in place of a carry.  A loop is a step to those around it, and ordered for itself.
 * The order of the text stays unless another one saves more than a hundredth.
 */
#include "order.h"

#include "../ir/apply.h"
#include "../ir/in_place.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_UNITS = 64, /* bits of a down-set; longer programs are ordered piece by piece */
    BEAM = 512,
    FILE_BYTES = 2, /* of a pixel whose type the file decides */
    BINS_BYTES = 2048
};

static const double NOMINAL[IR_AXES] = {2048, 2048, 64, 3};
static const double WORTH_IT = 0.99; /* of the peak as written, below which another order is taken */
static int beam = BEAM;

/* A step, or a loop from its beginning to its end. */
typedef struct Unit {
    int begin, end;
    uint64_t needs;
    double inside;        /* the most that is there only while it runs */
    double makes, keeps;  /* bytes of what it makes, and of these of what is needed afterwards */
    int places, n_places; /* among all of them */
    Vec(int) buffers;     /* those that it uses and that may go after it */
} Unit;

typedef struct Buffer {
    IrId node;
    double bytes;
    int maker; /* a unit; -1: it is there from the start */
    uint64_t users;
    bool stays; /* beyond the last unit */
} Buffer;

/* A buffer that may be made in the place of another one, once that has no other users left. */
typedef struct Place {
    int made, from;
} Place;

/* A down-set, and the best way to it. */
typedef struct State {
    uint64_t done;
    double peak, now;
    int before, unit; /* the state one step smaller, and what came since */
} State;

/* What an expression is for images of the nominal size. */
typedef struct Nominal {
    bool known;
    double value;
} Nominal;

typedef Vec(IrId) Nodes;
typedef Vec(int) Steps;

typedef struct Order {
    IrGraph *g;
    IrSchedule *s;
    const IrUses *reads;
    IrStep *steps;   /* in their new order */
    Nodes *uses;     /* by step: nodes that it needs, also for its loop */
    Nodes *new_uses; /* in their new order */
    Steps *users;    /* by node: steps that use it, before their piece was put in order */
    bool *output;    /* by node */
    Unit unit[MOST_UNITS];
    int n;
    Vec(IrId) nodes;   /* that the piece makes or uses, in ascending order */
    uint64_t *used_by; /* by node: units */
    Vec(Buffer) buffers;
    Vec(Place) places; /* by unit */
    int *unit_of;      /* by step of the piece */
    Nominal *nominal;  /* by expression */
} Order;

/* ---- sizes ------------------------------------------------------------------------------- */

static double nominal(const Order *o, IrExpr e);

static double find_nominal(const Order *o, IrExpr e)
{
    const IrGraph *g = o->g;
    const IrExprNode *n = ir_expr(g, e);
    int arity = ir_expr_op_arity(n->op);
    if (n->op == IR_X_CONST) {
        return n->num;
    }
    if (n->op == IR_X_PARAM) {
        return g->params.at[(int)n->num].value;
    }
    if (n->op == IR_X_EXTENT) {
        const IrNode *node = ir_node(g, n->node);
        IrExpr extent = node->op != IR_INPUT ? g->grids.at[node->grid].extent[(int)n->num] : 0;
        return extent != 0 && extent != e ? nominal(o, extent) : NOMINAL[(int)n->num];
    }
    if (n->op == IR_X_CAST) {
        return ir_convert(nominal(o, n->a), n->type);
    }
    return arity == 0 ? (double)NAN
                      : ir_apply(n->op, ir_expr(g, n->a)->type, nominal(o, n->a), arity > 1 ? nominal(o, n->b) : 0,
                                 arity > 2 ? nominal(o, n->c) : 0);
}

static double nominal(const Order *o, IrExpr e)
{
    if (!o->nominal[e].known) {
        o->nominal[e] = (Nominal){true, find_nominal(o, e)};
    }
    return o->nominal[e].value;
}

static double pixels_of(const Order *o, int grid)
{
    double pixels = 1;
    for (int ax = 0; ax < IR_AXES; ax++) {
        IrExpr e = o->g->grids.at[grid].extent[ax];
        double n = e != 0 ? nominal(o, e) : 1;
        pixels *= n >= 1 ? n : NOMINAL[ax];
    }
    return pixels;
}

static double bytes_of(const Order *o, IrId id)
{
    const IrGraph *g = o->g;
    const IrNode *node = ir_node(g, id);
    size_t size = elem_size(node->elem);
    double pixel = size > 0 ? (double)size : FILE_BYTES;
    if (node->kind != IR_K_VECTOR) {
        return pixel * pixels_of(o, node->grid);
    }
    if (node->op == IR_HISTOGRAM) {
        return BINS_BYTES;
    }
    if (node->op == IR_BOXES) {
        return pixel * nominal(o, node->boxes.length);
    }
    if (node->op == IR_FOREST) {
        return pixel * nominal(o, node->forest.length);
    }
    while (ir_node(g, node->of)->kind != IR_K_LABELS) {
        node = ir_node(g, node->of);
    }
    return pixel * pixels_of(o, ir_node(g, node->of)->grid) / 2; /* room for as many labels */
}

/* ---- who needs what ---------------------------------------------------------------------- */

static void add_use(Order *o, int step, IrId node)
{
    Steps *users = &o->users[node];
    if (node != 0 && (users->n == 0 || users->at[users->n - 1] != step)) {
        vec_push(o->g->arena, users, step);
        vec_push(o->g->arena, &o->uses[step], node);
    }
}

typedef struct Condition {
    Order *o;
    int step;
} Condition;

static void note_read(const IrGraph *g, IrExpr e, void *ctx)
{
    const Condition *c = ctx;
    if (ir_is_read(ir_expr(g, e))) {
        add_use(c->o, c->step, ir_expr(g, e)->node);
    }
}

static void find_uses(Order *o)
{
    for (int i = 0; i < o->s->steps.n; i++) {
        const IrStep *step = &o->s->steps.at[i];
        const IrLoop *loop = step->kind == IR_STEP_LOOP ? &o->g->loops.at[step->loop] : NULL;
        for (int k = 0; k < step->stages.n; k++) {
            const IrReads *reads = &o->reads->reads[step->stages.at[k]];
            add_use(o, i, ir_node(o->g, step->stages.at[k])->of);
            for (int j = 0; j < reads->n; j++) {
                add_use(o, i, ir_expr(o->g, reads->at[j])->node);
            }
        }
        if (loop != NULL) {
            ir_walk(o->g, loop->until, note_read, &(Condition){o, i});
        }
        for (int k = 0; loop != NULL && k < loop->carries.n; k++) {
            add_use(o, i, loop->carries.at[k].carry);
            add_use(o, i, loop->carries.at[k].next);
        }
    }
}

/* The unit of the piece that makes the node; -1: none does. */
static int maker_of(const Order *o, IrId id)
{
    int step = o->s->step[id], first = o->unit[0].begin, last = o->unit[o->n - 1].end;
    bool made = ir_node(o->g, id)->op != IR_INPUT && !ir_node(o->g, id)->dead;
    return made && step >= first && step < last ? o->unit_of[step] : -1;
}

/* The loop that exchanges a carry has made it, too, for all that come behind. */
static void need_loops(Order *o, int user)
{
    for (int u = 0; u < user; u++) {
        const IrStep *step = &o->s->steps.at[o->unit[u].begin];
        for (int i = 0; step->kind == IR_STEP_LOOP && i < o->g->loops.at[step->loop].carries.n; i++) {
            if ((o->used_by[o->g->loops.at[step->loop].carries.at[i].carry] >> user & 1) != 0) {
                o->unit[user].needs |= (uint64_t)1 << u;
            }
        }
    }
}

/* Steps outside of the piece use it. */
static bool is_used_outside(const Order *o, IrId id)
{
    int first = o->unit[0].begin, last = o->unit[o->n - 1].end;
    bool outside = false;
    for (int i = 0; i < o->users[id].n; i++) {
        outside = outside || o->users[id].at[i] < first || o->users[id].at[i] >= last;
    }
    return outside;
}

/* At most one place for each that is made. */
static void look_for_place(Order *o, int made)
{
    const Buffer *to = &o->buffers.at[made];
    for (int i = 0; i < o->buffers.n; i++) {
        const Buffer *from = &o->buffers.at[i];
        bool possible = i != made && !from->stays && from->bytes == to->bytes && (from->users >> to->maker & 1) != 0;
        for (int k = 0; possible && k < o->places.n; k++) {
            possible = o->places.at[k].from != i || o->buffers.at[o->places.at[k].made].maker != to->maker;
        }
        if (possible && ir_may_overwrite(o->g, o->s, to->node, from->node)) {
            vec_push(o->g->arena, &o->places, ((Place){made, i}));
            return;
        }
    }
}

static void look_for_places(Order *o)
{
    o->places.n = 0;
    for (int u = 0; u < o->n; u++) {
        bool loop = o->unit[u].end > o->unit[u].begin + 1;
        o->unit[u].places = o->places.n;
        for (int i = 0; i < o->buffers.n && !loop; i++) {
            if (o->buffers.at[i].maker == u) {
                look_for_place(o, i);
            }
        }
        o->unit[u].n_places = o->places.n - o->unit[u].places;
    }
}

static int compare_nodes(const void *a, const void *b)
{
    const IrId *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

/* The nodes of the piece, with the units that use them. */
static void find_nodes(Order *o)
{
    for (int i = 0; i < o->nodes.n; i++) {
        o->used_by[o->nodes.at[i]] = 0;
    }
    o->nodes.n = 0;
    for (int u = 0; u < o->n; u++) {
        for (int step = o->unit[u].begin; step < o->unit[u].end; step++) {
            for (int k = 0; k < o->uses[step].n; k++) {
                o->used_by[o->uses[step].at[k]] |= (uint64_t)1 << u;
                vec_push(o->g->arena, &o->nodes, o->uses[step].at[k]);
            }
            for (int k = 0; k < o->s->steps.at[step].stages.n; k++) {
                vec_push(o->g->arena, &o->nodes, o->s->steps.at[step].stages.at[k]);
            }
        }
    }
    if (o->nodes.n > 0) {
        qsort(o->nodes.at, (size_t)o->nodes.n, sizeof *o->nodes.at, compare_nodes);
    }
    int kept = 0;
    for (int i = 0; i < o->nodes.n; i++) {
        if (kept == 0 || o->nodes.at[kept - 1] != o->nodes.at[i]) {
            o->nodes.at[kept++] = o->nodes.at[i];
        }
    }
    o->nodes.n = kept;
}

static void add_buffer(Order *o, IrId id)
{
    Buffer b = {.node = id,
                .maker = maker_of(o, id),
                .users = o->used_by[id],
                .stays = o->output[id] || is_used_outside(o, id)};
    if (b.maker < 0 && (b.users == 0 || b.stays)) {
        return;
    }
    b.bytes = floor(bytes_of(o, id)); /* so that sums do not depend on the order */
    vec_push(o->g->arena, &o->buffers, b);
    for (int u = 0; u < o->n; u++) {
        if (!b.stays && (b.users >> u & 1) != 0) {
            vec_push(o->g->arena, &o->unit[u].buffers, o->buffers.n - 1);
        }
    }
    if (b.maker >= 0) {
        Unit *maker = &o->unit[b.maker];
        bool needed = b.stays || (b.users & ~((uint64_t)1 << b.maker)) != 0;
        maker->makes += b.bytes;
        maker->keeps += needed ? b.bytes : 0;
    }
}

/* Needs of units, and the buffers that they make and use. */
static void look_at_uses(Order *o)
{
    find_nodes(o);
    o->buffers.n = 0;
    for (int i = 0; i < o->nodes.n; i++) {
        IrId id = o->nodes.at[i];
        int maker = maker_of(o, id);
        for (int u = 0; u < o->n && maker >= 0; u++) {
            o->unit[u].needs |= u != maker && (o->used_by[id] >> u & 1) != 0 ? (uint64_t)1 << maker : 0;
        }
        if (!ir_node(o->g, id)->dead && o->s->stored[id]) {
            add_buffer(o, id);
        }
    }
    for (int u = 0; u < o->n; u++) {
        need_loops(o, u);
    }
    look_for_places(o);
}

/* ---- the search -------------------------------------------------------------------------- */

/* What is there before the first unit. */
static double memory_at_start(const Order *o)
{
    double bytes = 0;
    for (int i = 0; i < o->buffers.n; i++) {
        bytes += o->buffers.at[i].maker < 0 ? o->buffers.at[i].bytes : 0;
    }
    return bytes;
}

/* While a unit runs, what it makes is there beside all that is there before, or in the place of what it takes. */
static void memory_with(const Order *o, uint64_t done, double now, int unit, double *during, double *after)
{
    const Unit *u = &o->unit[unit];
    uint64_t then = done | (uint64_t)1 << unit;
    *during = now + u->inside + u->makes;
    *after = now + u->keeps;
    for (int i = 0; i < u->buffers.n; i++) {
        const Buffer *b = &o->buffers.at[u->buffers.at[i]];
        bool own = b->maker == unit; /* a loop uses what it makes: counted in `keeps` */
        *after -= !own && (b->users & ~then) == 0 ? b->bytes : 0;
    }
    for (int i = 0; i < u->n_places; i++) {
        const Buffer *from = &o->buffers.at[o->places.at[u->places + i].from];
        *during -= (from->users & ~then) == 0 ? from->bytes : 0;
    }
}

/* What any order has in buffers at some time: what a unit makes and what it uses, or what stays. */
static double least_peak(const Order *o)
{
    double least = 0, stays = 0;
    for (int i = 0; i < o->buffers.n; i++) {
        stays += o->buffers.at[i].stays ? o->buffers.at[i].bytes : 0;
    }
    for (int i = 0; i < o->n; i++) {
        const Unit *u = &o->unit[i];
        double bytes = u->inside + u->makes;
        for (int k = 0; k < u->buffers.n; k++) {
            const Buffer *b = &o->buffers.at[u->buffers.at[k]];
            bytes += b->maker != i ? b->bytes : 0;
        }
        for (int k = 0; k < u->n_places; k++) {
            bytes -= o->buffers.at[o->places.at[u->places + k].from].bytes;
        }
        least = fmax(least, bytes);
    }
    return fmax(least, stays);
}

static bool is_better(const State *a, const State *b)
{
    return a->peak != b->peak ? a->peak < b->peak : a->now < b->now;
}

static int compare_states(const void *a, const void *b)
{
    const State *p = a, *q = b;
    return is_better(p, q) ? -1 : is_better(q, p) ? 1 : p->done < q->done ? -1 : p->done > q->done;
}

/* The state of this down-set in the level, or a new one; `slots`: where states are, -1 nowhere, a power of
 * two of them, more than there are states. */
static State *state_of(State *level, int *n, int *slots, uint64_t n_slots, uint64_t done)
{
    uint64_t at = (done * 0x9e3779b97f4a7c15u >> 32) & (n_slots - 1);
    while (slots[at] >= 0 && level[slots[at]].done != done) {
        at = (at + 1) & (n_slots - 1);
    }
    if (slots[at] < 0) {
        slots[at] = *n;
        level[(*n)++] = (State){.done = done, .peak = INFINITY};
    }
    return &level[slots[at]];
}

/* All down-sets that have one step more. */
static int next_level(const Order *o, const State *from, int n_from, State *to, int *slots, uint64_t n_slots)
{
    int n = 0;
    memset(slots, -1, sizeof *slots * n_slots);
    for (int i = 0; i < n_from; i++) {
        for (int u = 0; u < o->n; u++) {
            uint64_t bit = (uint64_t)1 << u;
            if ((from[i].done & bit) != 0 || (o->unit[u].needs & ~from[i].done) != 0) {
                continue;
            }
            double during, after;
            memory_with(o, from[i].done, from[i].now, u, &during, &after);
            State *have = state_of(to, &n, slots, n_slots, from[i].done | bit);
            const State way = {have->done, fmax(from[i].peak, during), after, i, u};
            *have = is_better(&way, have) ? way : *have;
        }
    }
    return n;
}

/* The peak of the best order that was found, which goes to `order`; false: others were not followed. */
static bool search(const Order *o, int *order, double *peak)
{
    Arena *arena = o->g->arena;
    State **levels = arena_array(arena, State *, o->n + 1);
    State *work = arena_array(arena, State, beam * o->n + 1);
    bool all = true;
    int n = 1;
    uint64_t n_slots = 2;
    while (n_slots < 2 * (uint64_t)beam * (uint64_t)o->n) {
        n_slots *= 2;
    }
    int *slots = arena_array(arena, int, (int)n_slots);
    levels[0] = arena_array(arena, State, 1);
    levels[0]->now = memory_at_start(o);
    for (int k = 0; k < o->n; k++) {
        n = next_level(o, levels[k], n, work, slots, n_slots);
        qsort(work, (size_t)n, sizeof *work, compare_states);
        all = all && n <= beam;
        n = n < beam ? n : beam;
        levels[k + 1] = arena_array(arena, State, n);
        memcpy(levels[k + 1], work, sizeof *work * (size_t)n);
    }
    assert(n > 0); /* no step needs one that needs it */
    int at = 0;
    *peak = levels[o->n][0].peak;
    for (int k = o->n; k > 0; k--) {
        order[k - 1] = levels[k][at].unit;
        at = levels[k][at].before;
    }
    return all;
}

static double peak_as_written(const Order *o)
{
    double peak = 0, during, now = memory_at_start(o);
    uint64_t done = 0;
    for (int u = 0; u < o->n; u++) {
        memory_with(o, done, now, u, &during, &now);
        peak = fmax(peak, during);
        done |= (uint64_t)1 << u;
    }
    return peak;
}

/* ---- regions ----------------------------------------------------------------------------- */

static int end_of(const IrSchedule *s, int loop)
{
    int depth = 0, at = loop;
    do {
        depth += s->steps.at[at].kind == IR_STEP_LOOP;
        depth -= s->steps.at[at].kind == IR_STEP_END;
        at++;
    } while (depth > 0);
    return at;
}

/* Puts the units of the region that begins at step `at` in order; the peak. */
static double order_units(Order *o, int at)
{
    int order[MOST_UNITS], to = at;
    look_at_uses(o);
    double written = peak_as_written(o), best = written;
    if (least_peak(o) < written * WORTH_IT && !search(o, order, &best)) {
        o->s->order = IR_ORDER_BEST_SEEN;
    }
    bool pays = best < written * WORTH_IT;
    for (int i = 0; i < o->n; i++) {
        const Unit *unit = &o->unit[pays ? order[i] : i];
        for (int k = unit->begin; k < unit->end; k++, to++) {
            o->steps[to] = o->s->steps.at[k];
            o->new_uses[to] = o->uses[k];
        }
    }
    memcpy(o->s->steps.at + at, o->steps + at, sizeof *o->steps * (size_t)(to - at));
    memcpy(o->uses + at, o->new_uses + at, sizeof *o->uses * (size_t)(to - at));
    for (int i = at; i < to; i++) {
        for (int k = 0; k < o->s->steps.at[i].stages.n; k++) {
            o->s->step[o->s->steps.at[i].stages.at[k]] = i;
        }
    }
    return pays ? best : written;
}

/* Loops first, each of which is a unit then. */
static double order_region(Order *o, int begin, int end)
{
    double *inside = arena_array(o->g->arena, double, end - begin + 1), peak = 0;
    for (int i = begin; i < end; i++) {
        if (o->s->steps.at[i].kind == IR_STEP_LOOP) {
            int behind = end_of(o->s, i);
            inside[i - begin] = order_region(o, i + 1, behind - 1);
            i = behind - 1;
        }
    }
    for (int at = begin; at < end;) {
        int first = at;
        for (o->n = 0; o->n < MOST_UNITS && at < end; o->n++) {
            bool loop = o->s->steps.at[at].kind == IR_STEP_LOOP;
            int behind = loop ? end_of(o->s, at) : at + 1;
            o->unit[o->n] = (Unit){.begin = at, .end = behind, .inside = inside[at - begin]};
            for (; at < behind; at++) {
                o->unit_of[at] = o->n;
            }
        }
        o->s->order = at < end || first > begin ? IR_ORDER_BEST_SEEN : o->s->order;
        peak = o->n > 0 ? fmax(peak, order_units(o, first)) : peak;
    }
    return peak;
}

void pass_order_steps(Grouping *b)
{
    IrGraph *g = b->g;
    int n_steps = b->s->steps.n + 1;
    Order o = {.g = g, .s = b->s, .reads = b->uses};
    o.steps = arena_array(g->arena, IrStep, n_steps);
    o.uses = arena_array(g->arena, Nodes, n_steps);
    o.new_uses = arena_array(g->arena, Nodes, n_steps);
    o.unit_of = arena_array(g->arena, int, n_steps);
    o.users = arena_array(g->arena, Steps, g->nodes.n);
    o.output = arena_array(g->arena, bool, g->nodes.n);
    o.used_by = arena_array(g->arena, uint64_t, g->nodes.n);
    o.nominal = arena_array(g->arena, Nominal, g->exprs.n);
    for (int i = 0; i < g->outputs.n; i++) {
        o.output[g->outputs.at[i].node] = true;
    }
    find_uses(&o);
    b->s->order = IR_ORDER_BEST;
    (void)order_region(&o, 0, b->s->steps.n);
}

void pass_order_at_most(int orders)
{
    beam = orders > 0 ? orders : BEAM;
}
