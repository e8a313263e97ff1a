/*
 * variants: programs for other parameters than the defaults, to go into an executable, which cannot plan again
 * as `pipec run` does.
 *
 * Along each parameter's range, the others at their defaults, programs are made at values that lie ever farther
 * from the default; between two that differ, the place is found by halving.  These places cut the ranges
 * into boxes, and each box in which another program is made than for the defaults gets that.
 */
#include "driver.h"

#include "../base/digest.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 7, /* to the end of a range, each twice as far as the one before */
    HALVINGS = 10,
    BEYOND = 64, /* times the default, where a range has no end */
    MOST_BOXES = 32,
    MOST_LOOKS = 500 /* at programs, which take time: parameters that are too many for that are cut no more */
};

typedef struct Cut {
    double place; /* where a stretch begins */
    bool shapes;  /* kernels have other shapes there, not only other companions */
} Cut;

typedef struct Cuts {
    Vec(Cut) at; /* ascending */
} Cuts;

/* One program that there could be. */
typedef struct Plan {
    const char *digest; /* of its text */
    int others;         /* kernels that do not stream */
} Plan;

typedef struct Search {
    Compilation *c;
    double *params;
    Cuts *cuts; /* by parameter */
    Plan own;   /* for the defaults */
    int looks;  /* that were taken */
} Search;

/* How many kernels do not stream: their folds are too long for that, or they read from memory. */
static int count_others(const Program *program)
{
    int n = 0;
    for (int s = 0; s < program->n_steps; s++) {
        for (int i = 0; i < program->steps[s].n_args; i++) {
            const ProgArg *arg = &program->steps[s].args[i];
            n += arg->kind == ARG_STRIP && arg->b == 2;
        }
    }
    return n;
}

static Plan plan_of(Search *s, const Program *program)
{
    Arena arena;
    Str out;
    driver_arena(&arena);
    str_init(&out, &arena);
    cg_emit_c(program, "program", &out);
    char digest[DIGEST_TEXT];
    digest_of_text(out.at, digest);
    Plan plan = {arena_strdup(&s->c->arena, digest), count_others(program)};
    arena_free(&arena);
    return plan;
}

/* Programs are looked at one by one: all of them at once would fill the memory. */
static Plan plan_at(Search *s, int param, double value)
{
    Compilation aside;
    double before = s->params[param];
    s->params[param] = value;
    compile_aside(s->c, s->params, &aside);
    Plan plan = plan_of(s, aside.program);
    compile_free(&aside);
    s->params[param] = before;
    s->looks++;
    return plan;
}

static bool same_plan(const Plan *a, const Plan *b)
{
    return strcmp(a->digest, b->digest) == 0;
}

/* Where the stretch of the larger one of two values begins, of which the plan is that of `near` only there. */
static double place_between(Search *s, int param, const Plan *plan, double near, double far)
{
    for (int i = 0; i < HALVINGS && s->looks < MOST_LOOKS; i++) {
        double middle = near + (far - near) / 2;
        middle = s->c->program->params[param].integer ? floor(middle) : middle;
        if (middle == near || middle == far) {
            break;
        }
        Plan there = plan_at(s, param, middle);
        bool same = same_plan(&there, plan);
        near = same ? middle : near;
        far = same ? far : middle;
    }
    return fmax(near, far);
}

static void add_cut(Search *s, int param, Cut cut)
{
    Cuts *cuts = &s->cuts[param];
    vec_push(&s->c->arena, &cuts->at, cut);
    for (int i = cuts->at.n - 1; i > 0 && cuts->at.at[i].place < cuts->at.at[i - 1].place; i--) {
        Cut lower = cuts->at.at[i];
        cuts->at.at[i] = cuts->at.at[i - 1];
        cuts->at.at[i - 1] = lower;
    }
}

/* One end of what is looked at: of the range, if it has one. */
static double end_of(const ProgParam *p, int sign)
{
    double end = sign < 0 ? p->lo : p->hi;
    return isfinite(end) ? end : p->value + sign * BEYOND * fmax(fabs(p->value), 1);
}

static void cut_to(Search *s, int param, double end)
{
    const ProgParam *p = &s->c->program->params[param];
    double from = p->value;
    Plan plan = s->own;
    for (int i = STEPS; i >= 0 && s->looks < MOST_LOOKS; i--) {
        double value = p->value + ldexp(end - p->value, -i);
        value = p->integer ? rint(value) : value;
        Plan here = value != from ? plan_at(s, param, value) : plan;
        if (!same_plan(&here, &plan)) {
            bool shapes = here.others != plan.others;
            add_cut(s, param, (Cut){place_between(s, param, &plan, from, value), shapes});
        }
        from = value;
        plan = here;
    }
}

/* The stretches of all parameters that box number `box` is made of, and values there; false: that of the defaults. */
static bool take_box(Search *s, int box, double *least, double *below)
{
    bool others = false;
    for (int i = 0; i < s->c->program->n_params; i++) {
        const ProgParam *p = &s->c->program->params[i];
        const Cuts *cuts = &s->cuts[i];
        int stretch = box % (cuts->at.n + 1);
        box /= cuts->at.n + 1;
        least[i] = stretch > 0 ? cuts->at.at[stretch - 1].place : -INFINITY;
        below[i] = stretch < cuts->at.n ? cuts->at.at[stretch].place : INFINITY;
        bool above = least[i] > p->value, own = !above && p->value < below[i];
        double middle = (fmax(least[i], end_of(p, -1)) + fmin(below[i], end_of(p, 1))) / 2;
        s->params[i] = own ? p->value : above ? least[i] : p->integer ? floor(middle) : middle;
        others = others || !own;
    }
    return others;
}

/* "sigma from 12.1, radius below 3" */
static const char *name_box(Search *s, const double *least, const double *below)
{
    Str text;
    str_init(&text, &s->c->arena);
    for (int i = 0; i < s->c->program->n_params; i++) {
        if (isfinite(least[i]) || isfinite(below[i])) {
            str_addf(&text, "%s%s", text.n > 0 ? ", " : "", s->c->program->params[i].name);
        }
        if (isfinite(least[i])) {
            str_addf(&text, " from %.4g", least[i]);
        }
        if (isfinite(below[i])) {
            str_addf(&text, " below %.4g", below[i]);
        }
    }
    return text.at;
}

/* As far as that is no more than there may be, else some number above it. */
static int count_boxes(const Search *s)
{
    int boxes = 1;
    for (int i = 0; i < s->c->program->n_params && boxes <= MOST_BOXES; i++) {
        boxes *= s->cuts[i].at.n + 1;
    }
    return boxes;
}

/* The one that matters least: without other shapes, and far from the default. */
static int least_of(const Cuts *cuts, double to)
{
    int least = 0;
    for (int i = 1; i < cuts->at.n; i++) {
        const Cut *one = &cuts->at.at[i], *other = &cuts->at.at[least];
        bool farther = fabs(one->place - to) > fabs(other->place - to);
        least = one->shapes == other->shapes ? (farther ? i : least) : other->shapes ? i : least;
    }
    return least;
}

static void keep_few(Search *s)
{
    const ProgParam *params = s->c->program->params;
    while (count_boxes(s) > MOST_BOXES) {
        int most = 0;
        for (int i = 1; i < s->c->program->n_params; i++) {
            most = s->cuts[i].at.n > s->cuts[most].at.n ? i : most;
        }
        Cuts *cuts = &s->cuts[most];
        int least = least_of(cuts, params[most].value);
        memmove(cuts->at.at + least, cuts->at.at + least + 1, (size_t)(cuts->at.n - least - 1) * sizeof *cuts->at.at);
        cuts->at.n--;
    }
}

void add_variants(Compilation *c)
{
    int n = c->program->n_params;
    Search s = {.c = c, .params = default_params(c->program, &c->arena), .cuts = arena_array(&c->arena, Cuts, n + 1)};
    s.own = plan_of(&s, c->program);
    for (int i = 0; i < n; i++) {
        cut_to(&s, i, end_of(&c->program->params[i], -1));
        cut_to(&s, i, end_of(&c->program->params[i], 1));
    }
    keep_few(&s);
    Vec(ProgVariant) all = {0};
    for (int box = count_boxes(&s) - 1; box >= 0; box--) {
        double *least = arena_array(&c->arena, double, n + 1), *below = arena_array(&c->arena, double, n + 1);
        if (!take_box(&s, box, least, below)) {
            continue;
        }
        const Program *made = compile_again(c, s.params);
        Plan plan = plan_of(&s, made);
        if (!same_plan(&plan, &s.own)) {
            Program *program = arena_new(&c->arena, Program);
            *program = *made;
            program->planned_for = name_box(&s, least, below);
            vec_push(&c->arena, &all, ((ProgVariant){least, below, program}));
        }
    }
    Program *with = arena_new(&c->arena, Program);
    *with = *c->program;
    with->variants = all.at;
    with->n_variants = all.n;
    c->program = with;
}
