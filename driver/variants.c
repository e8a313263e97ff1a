/*
 * variants: programs for other parameters than the defaults, to go into an executable, which cannot plan again
 * as `pipec run` does.
 *
 * Along each parameter's range, the others at their defaults, programs are made at values that lie ever farther
 * from the default; between two that differ, the place is found by halving.  These places cut the ranges
 * into boxes, and each box in which another program is made than for the defaults gets that.
 */
#include "driver.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 7,      /* to the end of a range, each twice as far as the one before */
    HALVINGS = 10,
    BEYOND = 64,    /* times the default, where a range has no end */
    MOST_BOXES = 32
};

typedef struct Cuts {
    Vec(double) at; /* ascending; each begins a stretch */
} Cuts;

typedef struct Search {
    Compilation *c;
    double *params;
    Cuts *cuts;     /* by parameter */
    const char *text; /* of the program for the defaults */
} Search;

static const Program *program_at(Search *s, const char **text)
{
    const Program *program = compile_again(s->c, s->params);
    Str out;
    str_init(&out, &s->c->arena);
    cg_emit_c(program, "program", &out);
    *text = out.at;
    return program;
}

static const char *text_at(Search *s, int param, double value)
{
    const char *text;
    double before = s->params[param];
    s->params[param] = value;
    program_at(s, &text);
    s->params[param] = before;
    return text;
}

/* Where the stretch of the larger one of two values begins, of which the program is `text` at `near` only. */
static double place_between(Search *s, int param, const char *text, double near, double far)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = near + (far - near) / 2;
        middle = s->c->program->params[param].integer ? floor(middle) : middle;
        if (middle == near || middle == far) {
            break;
        }
        bool same = strcmp(text_at(s, param, middle), text) == 0;
        near = same ? middle : near;
        far = same ? far : middle;
    }
    return fmax(near, far);
}

static void add_cut(Search *s, int param, double place)
{
    Cuts *cuts = &s->cuts[param];
    vec_push(&s->c->arena, &cuts->at, place);
    for (int i = cuts->at.n - 1; i > 0 && cuts->at.at[i] < cuts->at.at[i - 1]; i--) {
        double lower = cuts->at.at[i];
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
    const char *text = s->text;
    for (int i = STEPS; i >= 0; i--) {
        double value = p->value + ldexp(end - p->value, -i);
        value = p->integer ? rint(value) : value;
        const char *here = value != from ? text_at(s, param, value) : text;
        if (strcmp(here, text) != 0) {
            add_cut(s, param, place_between(s, param, text, from, value));
        }
        from = value;
        text = here;
    }
}

/* The stretches of all parameters that box number `box` is made of; false: that of the defaults. */
static bool take_box(Search *s, int box, double *least, double *below)
{
    bool others = false;
    for (int i = 0; i < s->c->program->n_params; i++) {
        const ProgParam *p = &s->c->program->params[i];
        const Cuts *cuts = &s->cuts[i];
        int stretch = box % (cuts->at.n + 1);
        box /= cuts->at.n + 1;
        least[i] = stretch > 0 ? cuts->at.at[stretch - 1] : -INFINITY;
        below[i] = stretch < cuts->at.n ? cuts->at.at[stretch] : INFINITY;
        bool own = least[i] <= p->value && p->value < below[i];
        double middle = (fmax(least[i], end_of(p, -1)) + fmin(below[i], end_of(p, 1))) / 2;
        s->params[i] = own ? p->value : p->integer ? floor(middle) : middle;
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

static int count_boxes(const Search *s)
{
    int boxes = 1;
    for (int i = 0; i < s->c->program->n_params; i++) {
        boxes *= s->cuts[i].at.n + 1;
    }
    return boxes;
}

static void drop_nearest(Cuts *cuts, double to)
{
    int nearest = 0;
    for (int i = 1; i < cuts->at.n; i++) {
        nearest = fabs(cuts->at.at[i] - to) < fabs(cuts->at.at[nearest] - to) ? i : nearest;
    }
    memmove(cuts->at.at + nearest, cuts->at.at + nearest + 1,
            (size_t)(cuts->at.n - nearest - 1) * sizeof *cuts->at.at);
    cuts->at.n--;
}

/* Places near the defaults go first: what is a little more than was planned for is a little slower. */
static void keep_few(Search *s)
{
    while (count_boxes(s) > MOST_BOXES) {
        int most = 0;
        for (int i = 1; i < s->c->program->n_params; i++) {
            most = s->cuts[i].at.n > s->cuts[most].at.n ? i : most;
        }
        drop_nearest(&s->cuts[most], s->c->program->params[most].value);
    }
}

void add_variants(Compilation *c)
{
    int n = c->program->n_params;
    Search s = {.c = c, .params = default_params(c->program, &c->arena), .cuts = arena_array(&c->arena, Cuts, n + 1)};
    program_at(&s, &s.text);
    for (int i = 0; i < n; i++) {
        cut_to(&s, i, end_of(&c->program->params[i], -1));
        cut_to(&s, i, end_of(&c->program->params[i], 1));
    }
    keep_few(&s);
    Vec(ProgVariant) all = {0};
    for (int box = count_boxes(&s) - 1; box >= 0; box--) {
        double *least = arena_array(&c->arena, double, n + 1), *below = arena_array(&c->arena, double, n + 1);
        const char *text;
        if (!take_box(&s, box, least, below)) {
            continue;
        }
        Program *program = arena_new(&c->arena, Program);
        *program = *program_at(&s, &text);
        program->planned_for = name_box(&s, least, below);
        if (strcmp(text, s.text) != 0) {
            vec_push(&c->arena, &all, ((ProgVariant){least, below, program}));
        }
    }
    Program *with = arena_new(&c->arena, Program);
    *with = *c->program;
    with->variants = all.at;
    with->n_variants = all.n;
    c->program = with;
}
