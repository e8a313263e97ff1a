/* grouping: lists of readers, and steps that become one. */
#include "grouping.h"

static void find_loops(Grouping *b)
{
    for (int i = 0; i < b->s->steps.n; i++) {
        const IrStep *step = &b->s->steps.at[i];
        if (step->kind == IR_STEP_LOOP) {
            b->loop_step[step->loop] = i;
        }
    }
}

static void link_remark(Grouping *b, int remark)
{
    const IrId from = b->s->remarks.at[remark].from;
    int *at = b->last_remark[from] == 0 ? &b->first_remark[from] : &b->next_remark.at[b->last_remark[from] - 1];
    *at = b->last_remark[from] = remark + 1;
    vec_push(b->g->arena, &b->next_remark, 0);
}

Grouping *grouping_new(IrGraph *g, PassContext *cx, IrSchedule *s)
{
    Arena *arena = g->arena;
    Grouping *b = arena_new(arena, Grouping);
    *b = (Grouping){.g = g,
                    .cx = cx,
                    .s = s,
                    .cost = cost_new(g, cx, s),
                    .uses = ir_uses_new(g, arena),
                    .form = arena_array(arena, struct Form *, g->nodes.n),
                    .footprint = arena_array(arena, IrFootprint *, g->nodes.n),
                    .loop_step = arena_array(arena, int, g->loops.n),
                    .first_remark = arena_array(arena, int, g->nodes.n),
                    .last_remark = arena_array(arena, int, g->nodes.n)};
    b->users = ir_count_users(b->uses);
    find_loops(b);
    for (int i = 0; i < s->remarks.n; i++) {
        link_remark(b, i);
    }
    return b;
}

const IrFootprint *grouping_footprint(Grouping *b, IrId stage)
{
    if (b->footprint[stage] == NULL) {
        b->footprint[stage] = arena_new(b->g->arena, IrFootprint);
        *b->footprint[stage] = ir_footprint(b->g, ir_node(b->g, stage)->map.value);
    }
    return b->footprint[stage];
}

void grouping_add_remark(Grouping *b, IrRemark remark)
{
    vec_push(b->g->arena, &b->s->remarks, remark);
    link_remark(b, b->s->remarks.n - 1);
}

/* ---- steps ------------------------------------------------------------------------------- */

static bool is_between(int step, int a, int z)
{
    return step > a && step < z;
}

/* The node is made by a step between a and z, or by a loop there, which makes its carries of their next values. */
static bool is_made_between(const Grouping *b, IrId id, int a, int z)
{
    const IrNode *n = ir_node(b->g, id);
    return (n->op != IR_INPUT && is_between(b->s->step[id], a, z)) ||
           (n->op == IR_CARRY && is_between(b->loop_step[n->loop], a, z));
}

static bool needs_between(const Grouping *b, IrId stage, int a, int z)
{
    const IrReads *reads = &b->uses->reads[stage];
    IrId of = ir_node(b->g, stage)->of;
    bool needs = of != 0 && is_made_between(b, of, a, z);
    for (int i = 0; i < reads->n && !needs; i++) {
        needs = is_made_between(b, ir_expr(b->g, reads->at[i])->node, a, z);
    }
    return needs;
}

static bool is_needed_between(const Grouping *b, IrId stage, int a, int z)
{
    const IrReaders lists[2] = {b->uses->readers[stage], b->uses->belong[stage]};
    IrId carry = b->uses->next_of[stage];
    bool needed = carry != 0 && is_between(b->loop_step[ir_node(b->g, carry)->loop], a, z);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < lists[k].n && !needed; i++) {
            needed = is_between(b->s->step[lists[k].at[i]], a, z);
        }
    }
    return needed;
}

int grouping_joined_place(const Grouping *b, int a, int z)
{
    const IrStep *one = &b->s->steps.at[a], *two = &b->s->steps.at[z];
    bool early = true, late = true;
    for (int i = 0; i < two->stages.n; i++) {
        early = early && !needs_between(b, two->stages.at[i], a, z);
    }
    for (int i = 0; i < one->stages.n; i++) {
        late = late && !is_needed_between(b, one->stages.at[i], a, z);
    }
    return late ? z : early ? a : -1;
}

static void sort_stages(IrId *stage, int n)
{
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && stage[j] < stage[j - 1]; j--) {
            IrId t = stage[j];
            stage[j] = stage[j - 1];
            stage[j - 1] = t;
        }
    }
}

void grouping_merge(Grouping *b, int from, int to)
{
    IrStep *joined = &b->s->steps.at[to], *gone = &b->s->steps.at[from];
    for (int i = 0; i < gone->stages.n; i++) {
        vec_push(b->g->arena, &joined->stages, gone->stages.at[i]);
        b->s->step[gone->stages.at[i]] = to;
    }
    gone->stages.n = 0;
    sort_stages(joined->stages.at, joined->stages.n);
}

void grouping_drop_empty(Grouping *b)
{
    IrSchedule *s = b->s;
    int n = 0;
    for (int i = 0; i < s->steps.n; i++) {
        bool loop = s->steps.at[i].kind == IR_STEP_LOOP || s->steps.at[i].kind == IR_STEP_END;
        if (!loop && s->steps.at[i].stages.n == 0) {
            continue;
        }
        s->steps.at[n] = s->steps.at[i];
        for (int k = 0; k < s->steps.at[n].stages.n; k++) {
            s->step[s->steps.at[n].stages.at[k]] = n;
        }
        n++;
    }
    s->steps.n = n;
    find_loops(b);
}
