/*
 * group: stages become kernels, kernels get an order.
 *
 * Every live map is a stage.  Steps are made in topological order, loops as units; a stage joins
 * the kernel of its producers when the edges between them can be kept in registers (rows.c says
 * which can), otherwise its inputs are stored and read back.  Reductions of what a kernel stores are
 * taken by that kernel, where it can (epilogue.c).  What is stored keeps the type of its pixels (keep.c).  Then the steps
 * are put in the order that needs the least memory (order.c).  At last what folds do to each pixel becomes stages (columns.c).
 */
#include "columns.h"
#include "epilogue.h"
#include "keep.h"
#include "order.h"
#include "pass.h"
#include "rows.h"

#include "../ir/edit.h"

#include <string.h>

typedef struct Group {
    IrGraph *g;
    IrSchedule *s;
    bool *begun; /* by loop */
} Group;

static int add_step(Group *b, IrStep step)
{
    vec_push(b->g->arena, &b->s->steps, step);
    return b->s->steps.n - 1;
}

static void add_stage(Group *b, int step, IrId id)
{
    vec_push(b->g->arena, &b->s->steps.at[step].stages, id);
    b->s->step[id] = step;
}

/* Values that are computed one after the other share a launch. */
static int scalars_step(Group *b, int loop)
{
    const IrStep step = {.kind = IR_STEP_SCALARS, .stream = IR_AX_Y, .loop = loop};
    const IrStep *last = b->s->steps.n > 0 ? &b->s->steps.at[b->s->steps.n - 1] : NULL;
    bool shared = last != NULL && last->kind == IR_STEP_SCALARS && last->loop == loop;
    return shared ? b->s->steps.n - 1 : add_step(b, step);
}

/* Values that are outputs get a slot: plain values have one, the rest becomes a scalar node. */
static void name_value_outputs(IrGraph *g)
{
    for (int i = 0; i < g->outputs.n; i++) {
        IrOutput *o = &g->outputs.at[i];
        if (o->node != 0 || ir_expr(g, o->value)->op == IR_X_VALUE) {
            continue;
        }
        IrNode node =
            {.op = IR_SCALAR, .kind = IR_K_VALUE, .elem = ELEM_F64, .grid = -1, .name = o->name, .span = o->span};
        node.scalar.value[0] = o->value;
        IrId id = ir_add_node(g, node);
        g->outputs.at[i].value = ir_value(g, id, 0);
    }
}

/* Before a loop begins its carries take their first values. */
static void start_carries(Group *b, const IrLoop *loop)
{
    for (int i = 0; i < loop->carries.n; i++) {
        const IrCarry *c = &loop->carries.at[i];
        bool value = ir_node(b->g, c->carry)->kind == IR_K_VALUE;
        IrExpr first = value ? ir_value(b->g, c->first, 0) : ir_read(b->g, c->first);
        IrNode *node = ir_node(b->g, c->carry);
        node->map.value = first;
        IrStep kernel = {.kind = IR_STEP_KERNEL, .stream = IR_AX_Y, .loop = loop->parent};
        add_stage(b, value ? scalars_step(b, loop->parent) : add_step(b, kernel), c->carry);
        b->s->stored[c->carry] = !value;
    }
}

static int child_loop(const IrGraph *g, int loop, int inner)
{
    while (inner != 0 && g->loops.at[inner].parent != loop) {
        inner = g->loops.at[inner].parent;
    }
    return inner;
}

static void schedule_node(Group *b, IrId id)
{
    const IrNode *node = ir_node(b->g, id);
    IrStep step = {.stream = IR_AX_Y, .loop = node->loop};
    switch (node->op) {
    case IR_INPUT:
    case IR_CARRY:
        break;
    case IR_MAP:
        step.kind = IR_STEP_KERNEL;
        add_stage(b, add_step(b, step), id);
        break;
    case IR_SCALAR:
        add_stage(b, scalars_step(b, node->loop), id);
        break;
    default:
        step.kind = IR_STEP_PRIMITIVE;
        add_stage(b, add_step(b, step), id);
    }
    b->s->stored[id] = node->kind != IR_K_VALUE && node->kind != IR_K_TABLE;
}

static void schedule_loop(Group *b, int loop)
{
    for (IrId id = 1; id < (IrId)b->g->nodes.n; id++) {
        const IrNode *node = ir_node(b->g, id);
        if (node->dead) {
            continue;
        }
        if (node->loop == loop) {
            schedule_node(b, id);
            continue;
        }
        int child = child_loop(b->g, loop, node->loop);
        if (child != 0 && !b->begun[child]) {
            b->begun[child] = true;
            start_carries(b, &b->g->loops.at[child]);
            add_step(b, (IrStep){.kind = IR_STEP_LOOP, .loop = child});
            schedule_loop(b, child);
            add_step(b, (IrStep){.kind = IR_STEP_END, .loop = child});
        }
    }
}

static void count_operations(Grouping *grouping, IrSchedule *s)
{
    for (int i = 0; i < s->steps.n; i++) {
        IrStep *step = &s->steps.at[i];
        if (step->kind == IR_STEP_KERNEL) {
            const CostKernel k = cost_kernel(&grouping->cost, step->stages.at, step->stages.n);
            step->ops = k.known ? k.ops : 0;
        }
    }
}

const IrSchedule *pass_group(IrGraph *g, PassContext *cx)
{
    name_value_outputs(g);
    IrSchedule *s = arena_new(g->arena, IrSchedule);
    s->stored = arena_array(g->arena, bool, g->nodes.n);
    s->step = arena_array(g->arena, int, g->nodes.n);
    s->taken_from = arena_array(g->arena, IrId, g->nodes.n);
    s->reduced = arena_array(g->arena, bool, g->nodes.n);
    Group b = {g, s, arena_array(g->arena, bool, g->loops.n)};
    schedule_loop(&b, 0);
    s->remarks.at = cx->remarks.at;
    s->remarks.n = s->remarks.cap = cx->remarks.n;
    Grouping *grouping = grouping_new(g, cx, s);
    pass_choose_shapes(grouping);
    if (cx->fuse == FUSE_ALL) {
        pass_choose_epilogues(grouping);
    }
    pass_keep_types(grouping);
    pass_order_steps(grouping);
    count_operations(grouping, s);
    if (cx->fuse == FUSE_ALL) {
        pass_name_columns(g, s);
    }
    return s;
}
