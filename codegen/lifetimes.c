/*
 * lifetimes: buffers live from the step that first writes them to the one that reads them last; what goes into
 * a loop or comes out of it lives through all of it.
 *
 * A result takes the place of an image that dies as it is made, where the step may work in place
 * (ir/in_place.h).  Whether elements are as wide as those that they are written onto follows from the types of
 * files, so that the plan of a run has the last word.
 */
#include "lifetimes.h"

#include "../ir/in_place.h"

/* ---- lifetimes --------------------------------------------------------------------------- */

static void live_at(const CgLifetimes *l, int buffer, int step)
{
    ProgBuffer *buf = &l->buffers[buffer];
    buf->first = buf->first < 0 || step < buf->first ? step : buf->first;
    buf->last = step > buf->last ? step : buf->last;
}

static int end_of_loop(const CgLifetimes *l, int begin)
{
    int end = begin, depth = 0;
    do {
        depth += l->steps[end].kind == STEP_LOOP;
        depth -= l->steps[end].kind == STEP_END;
        end++;
    } while (depth > 0);
    return end - 1;
}

/* A carry takes over the place of its next value, round by round, so that after the loop it may lie
 * in either: both stay as long as the longer one, and as long as the outermost loop around them. */
static void extend_carries(const CgLifetimes *l, int end, int outer_begin, int outer_end)
{
    const ProgStep *step = &l->steps[end];
    for (int i = 0; i < step->n_carries; i++) {
        const ProgCarry *c = &step->carries[i];
        if (c->is_value) {
            continue;
        }
        live_at(l, c->carry, outer_begin);
        live_at(l, c->carry, outer_end);
        live_at(l, c->next, outer_begin);
        live_at(l, c->next, l->buffers[c->carry].last);
        live_at(l, c->carry, l->buffers[c->next].last);
    }
}

/* What lives into a loop, or out of it, or is carried, lives through all of it.  (Inputs are there before the first step, which
 * may be the loop itself.) */
static void extend_over_loop(const CgLifetimes *l, int begin, int end)
{
    for (int i = 0; i < l->n_buffers; i++) {
        ProgBuffer *buf = &l->buffers[i];
        bool into = buf->first <= begin && buf->last > begin;
        bool out_of = buf->first > begin && buf->first < end && buf->last > end;
        if (into || out_of) {
            live_at(l, i, begin);
            live_at(l, i, end);
        }
    }
}

/* Each loop may lengthen what another one looks at: as often as loops are nested is enough. */
static void extend_over_loops(const CgLifetimes *l)
{
    for (int round = 0; round < l->cg->g->loops.n; round++) {
        int outer_begin = 0, outer_end = -1;
        for (int begin = 0; begin < l->n_steps; begin++) {
            if (l->steps[begin].kind == STEP_LOOP) {
                int end = end_of_loop(l, begin);
                outer_begin = begin > outer_end ? begin : outer_begin;
                outer_end = begin > outer_end ? end : outer_end;
                extend_carries(l, end, outer_begin, outer_end);
                extend_over_loop(l, begin, end);
            }
        }
    }
}

static void find_lifetimes(const CgLifetimes *l)
{
    for (int s = 0; s < l->n_steps; s++) {
        const ProgStep *step = &l->steps[s];
        for (int i = 0; i < step->n_reads; i++) {
            live_at(l, step->reads[i].buffer, s);
        }
        for (int i = 0; i < step->n_writes; i++) {
            live_at(l, step->writes[i], s);
        }
        for (int i = 0; i < step->n_inputs; i++) {
            if (step->inputs[i] >= 0) {
                live_at(l, step->inputs[i], s);
            }
        }
    }
    for (IrId id = 1; id < (IrId)l->cg->g->nodes.n; id++) {
        if (ir_node(l->cg->g, id)->op == IR_INPUT && l->cg->buffer[id] >= 0) {
            live_at(l, l->cg->buffer[id], 0); /* uploaded before the first step */
        }
    }
    for (int i = 0; i < l->cg->g->outputs.n; i++) {
        IrId id = l->cg->g->outputs.at[i].node;
        if (id != 0 && l->cg->buffer[id] >= 0) {
            live_at(l, l->cg->buffer[id], l->n_steps - 1);
        }
    }
    extend_over_loops(l);
    for (int i = 0; i < l->n_buffers; i++) {
        if (l->buffers[i].first < 0) {
            l->buffers[i].first = l->buffers[i].last = 0;
        }
    }
}

/* ---- places ------------------------------------------------------------------------------ */

/* Elements are as wide, or may be once the types of files are known. */
static bool may_be_as_wide(const ProgBuffer *a, const ProgBuffer *b)
{
    return a->elem == ELEM_FILE || b->elem == ELEM_FILE || elem_size(a->elem) == elem_size(b->elem);
}

/* What is asked of every image that may take a place. */
typedef struct Places {
    const CgLifetimes *l;
    IrId *by_last;    /* nodes with buffers, by the step in which those die, then by number */
    int *first;       /* by step: where its nodes begin; one more: the end */
    bool *is_output;  /* by buffer */
    bool *taken;      /* by buffer: another one lies onto it */
    bool many_inputs; /* an input that another one varies beside may be there for many images */
} Places;

static Places *new_places(const CgLifetimes *l)
{
    const IrGraph *g = l->cg->g;
    Places *p = arena_new(g->arena, Places);
    *p = (Places){.l = l,
                  .by_last = arena_array(g->arena, IrId, g->nodes.n),
                  .first = arena_array(g->arena, int, l->n_steps + 3),
                  .is_output = arena_array(g->arena, bool, l->n_buffers + 1),
                  .taken = arena_array(g->arena, bool, l->n_buffers + 1)};
    int inputs = 0;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        inputs += !ir_node(g, id)->dead && ir_node(g, id)->op == IR_INPUT;
        if (l->cg->buffer[id] >= 0) {
            p->first[l->buffers[l->cg->buffer[id]].last + 2]++;
        }
    }
    p->many_inputs = inputs > 1;
    for (int s = 1; s < l->n_steps + 3; s++) {
        p->first[s] += p->first[s - 1];
    }
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        if (l->cg->buffer[id] >= 0) {
            p->by_last[p->first[l->buffers[l->cg->buffer[id]].last + 1]++] = id;
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        const IrId id = g->outputs.at[i].node;
        if (id != 0 && l->cg->buffer[id] >= 0) {
            p->is_output[l->cg->buffer[id]] = true;
        }
    }
    return p;
}

static void place_onto(Places *p, ProgBuffer *to, int buffer)
{
    if (to->onto >= 0) {
        p->taken[to->onto] = false;
    }
    to->onto = buffer;
    p->taken[buffer] = true;
}

static int step_of(const CgLifetimes *l, IrId id)
{
    return l->step_of[l->cg->sched->step[id]];
}

/* It has the place of a carry, which may be looked at in another way. */
static bool is_carried(const CgLifetimes *l, const ProgBuffer *b)
{
    return b->onto >= 0 && l->buffers[b->onto].last == b->last;
}

/* What dies where `made` is born takes its place; rather an image whose type is known. */
static void choose_dying(Places *p, IrId made)
{
    const CgLifetimes *l = p->l;
    IrGraph *g = l->cg->g;
    ProgBuffer *to = &l->buffers[l->cg->buffer[made]];
    const int step = step_of(l, made);
    for (int i = p->first[step]; i < p->first[step + 1]; i++) {
        const IrId from = p->by_last[i];
        const int buffer = l->cg->buffer[from];
        const ProgBuffer *under = &l->buffers[buffer];
        const bool known = to->onto >= 0 && l->buffers[to->onto].elem != ELEM_FILE;
        const bool wanted_again = ir_node(g, from)->op == IR_INPUT && p->many_inputs;
        if (under != to && to->first == step && !known && may_be_as_wide(to, under) && !p->taken[buffer] &&
            !p->is_output[buffer] && !wanted_again && !is_carried(l, under) &&
            ir_may_overwrite(g, l->cg->sched, made, from)) {
            place_onto(p, to, buffer);
        }
    }
}

static bool touches_buffer(const ProgStep *step, int buffer)
{
    bool touches = false;
    for (int i = 0; i < step->n_reads; i++) {
        touches = touches || step->reads[i].buffer == buffer;
    }
    for (int i = 0; i < step->n_inputs; i++) {
        touches = touches || step->inputs[i] == buffer;
    }
    return touches;
}

/* A step of [from, to) looks at the buffer. */
static bool is_touched(const CgLifetimes *l, int from, int to, int buffer)
{
    bool touched = false;
    for (int s = from; s < to; s++) {
        const ProgStep *step = &l->steps[s];
        touched = touched || touches_buffer(step, buffer);
        for (int i = 0; step->kind == STEP_END && i < step->n_carries; i++) {
            touched = touched || (!step->carries[i].is_value && step->carries[i].next == buffer);
        }
    }
    return touched;
}

/* Every image that is carried takes the place of one that the loop itself makes, and of no other's. */
static bool carries_are_apart(const IrGraph *g, const IrLoop *loop, int id)
{
    bool apart = true;
    for (int i = 0; i < loop->carries.n; i++) {
        const IrCarry *one = &loop->carries.at[i];
        bool image = ir_node(g, one->carry)->kind != IR_K_VALUE;
        apart = apart && (!image || (ir_node(g, one->next)->loop == id && ir_node(g, one->next)->op != IR_CARRY));
        for (int k = 0; image && k < i; k++) {
            apart = apart && loop->carries.at[k].next != one->next;
        }
    }
    return apart;
}

/* What a carry becomes takes its place where the round looks at the carry for the last time as that is made:
 * then one image does for both, all rounds long. */
static void choose_carried(Places *p, int id, int begin, int end)
{
    const CgLifetimes *l = p->l;
    IrGraph *g = l->cg->g;
    const IrLoop *loop = &g->loops.at[id];
    const ProgStep *step = &l->steps[end];
    for (int i = 0; i < step->n_carries && carries_are_apart(g, loop, id); i++) {
        const ProgCarry *c = &step->carries[i];
        if (c->is_value) {
            continue;
        }
        IrId next = loop->carries.at[i].next;
        int made = step_of(l, next);
        ProgBuffer *carry = &l->buffers[c->carry], *to = &l->buffers[c->next];
        bool over = !is_touched(l, made, made + 1, c->carry) ||
                    ir_may_overwrite(g, l->cg->sched, next, loop->carries.at[i].carry);
        if (over && to->elem == carry->elem && to->last == carry->last && !p->taken[c->carry] &&
            !is_touched(l, begin, made, c->next) && !is_touched(l, made + 1, end, c->carry)) {
            place_onto(p, to, c->carry);
        }
    }
}

static void choose_places(const CgLifetimes *l)
{
    const IrGraph *g = l->cg->g;
    Places *p = new_places(l);
    for (int i = 0; i < l->cg->sched->steps.n; i++) {
        const IrStep *step = &l->cg->sched->steps.at[i];
        if (step->kind == IR_STEP_LOOP) {
            choose_carried(p, step->loop, l->step_of[i], end_of_loop(l, l->step_of[i]));
        }
    }
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        int buffer = l->cg->buffer[id];
        bool made = buffer >= 0 && ir_node(g, id)->op != IR_INPUT;
        if (made && l->buffers[buffer].onto < 0) {
            choose_dying(p, id);
        }
    }
}

void cg_lifetimes(const CgLifetimes *l)
{
    find_lifetimes(l);
    choose_places(l);
}
