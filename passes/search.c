/* search: the tree of all answers, or steps from one plan to the next. */
#include "search.h"

#include "cost.h"

#include "../ir/clone.h"

#include <string.h>

typedef Vec(Decision) Answers;

typedef struct Search {
    const IrGraph *lowered;
    const PassContext *like;
    Arena *arena;
    int kinds, most;
    PassSearch found;
    Answers best; /* answers with which it is made */
} Search;

static bool is_same(const Decision *p, const Decision *q)
{
    return p->kind == q->kind && p->a == q->a && p->b == q->b;
}

static bool is_answered(const Answers *answers, const Decision *d)
{
    for (int i = 0; i < answers->n; i++) {
        if (is_same(&answers->at[i], d)) {
            return true;
        }
    }
    return false;
}

/* What a plan with these answers costs; *asked: all decisions of the kinds that it took, in order. */
static double plan_cost(Search *s, const Answers *answers, Answers *asked)
{
    Arena scratch;
    arena_init(&scratch);
    scratch.out_of_memory = s->arena->out_of_memory;
    Decisions decisions = {.given = answers->at, .n_given = answers->n, .arena = &scratch};
    IrGraph *g = ir_clone(s->lowered, &scratch);
    PassContext cx = {.fuse = s->like->fuse,
                      .figures = s->like->figures,
                      .only = s->like->only,
                      .in_rounds = s->like->in_rounds,
                      .decisions = &decisions};
    const IrSchedule *schedule = pass_run_all(g, &cx);
    const double cost = cost_plan(g, &cx, schedule);
    for (int i = 0; i < decisions.asked.n; i++) {
        Decision d = decisions.asked.at[i];
        if ((s->kinds & 1 << d.kind) != 0) {
            d.name = arena_strdup(s->arena, d.name);
            vec_push(s->arena, asked, d);
        }
    }
    arena_free(&scratch);
    s->found.plans++;
    return cost;
}

static void note(Search *s, const Answers *answers, double cost)
{
    if (cost < s->found.cost) {
        s->found.cost = cost;
        s->best = *answers;
    }
}

static Answers copy_of(Search *s, const Answers *from)
{
    Answers to = {.n = 0};
    for (int i = 0; i < from->n; i++) {
        vec_push(s->arena, &to, from->at[i]);
    }
    return to;
}

/* All plans with these answers: the one in which the rules give the others, and those in which the first answer that is not
 * the rules' is that to one of the others. */
static bool all_plans(Search *s, const Answers *answers, const Answers *asked)
{
    Answers known = copy_of(s, answers);
    for (int i = 0; i < asked->n; i++) {
        Decision d = asked->at[i];
        if (is_answered(answers, &d)) {
            continue;
        }
        if (s->found.plans == s->most) {
            return false;
        }
        Answers other = copy_of(s, &known), next = {.n = 0};
        d.taken = !d.taken;
        vec_push(s->arena, &other, d);
        note(s, &other, plan_cost(s, &other, &next));
        if (!all_plans(s, &other, &next)) {
            return false;
        }
        d.taken = !d.taken;
        vec_push(s->arena, &known, d);
    }
    return true;
}

/* The plan with one answer turned round. */
static Answers turned(Search *s, const Answers *answers, const Decision *d)
{
    Answers to = {.n = 0};
    for (int i = 0; i < answers->n; i++) {
        if (!is_same(&answers->at[i], d)) {
            vec_push(s->arena, &to, answers->at[i]);
        }
    }
    Decision other = *d;
    other.taken = !other.taken;
    vec_push(s->arena, &to, other);
    return to;
}

/* From the best plan so far to cheaper ones, an answer at a time. */
static void descend(Search *s)
{
    for (bool any = true; any && s->found.plans < s->most;) {
        any = false;
        Answers asked = {.n = 0};
        plan_cost(s, &s->best, &asked);
        for (int i = 0; i < asked.n && s->found.plans < s->most; i++) {
            const Answers other = turned(s, &s->best, &asked.at[i]);
            const double before = s->found.cost;
            Answers unused = {.n = 0};
            note(s, &other, plan_cost(s, &other, &unused));
            any = any || s->found.cost < before;
        }
    }
}

PassSearch pass_search(const IrGraph *lowered, const PassContext *like, int kinds, int most, Arena *arena)
{
    enum { MOST_BITS = 20 };         /* of decisions of which all answers are tried */
    static const double SURE = 0.92; /* of the costs by the rules: plans predicted at 0.93 took 1.07 (bench/NOTES.md) */
    Search s = {.lowered = lowered, .like = like, .arena = arena, .kinds = kinds, .most = most};
    const Answers none = {.n = 0};
    Answers asked = {.n = 0};
    s.found.cost = s.found.by_rules = plan_cost(&s, &none, &asked);
    const bool few = asked.n < MOST_BITS && (1 << asked.n) <= 2 * most; /* some answers leave no others to give */
    s.found.all = few && all_plans(&s, &none, &asked);
    if (!s.found.all) {
        descend(&s);
    }
    const bool loops = lowered->loops.n > 1; /* the model knows nothing of rounds that share a kernel */
    s.found.sure = !loops && s.found.cost < SURE * s.found.by_rules;
    s.found.answers = s.best.at;
    s.found.n_answers = s.best.n;
    return s.found;
}
