/*
 * tune: the fastest plan of a pipeline on a device, by measurement.
 *
 * Every way to put stages into kernels gives the same bits, so plans may be tried.  Where a pass has a choice
 * (passes/decisions.h) the rule is turned round: first all answers of a kind, then one at a time; what takes less time
 * stays, until no decision makes it faster.  Programs that have been timed are not timed again.  The plan is kept for the device, and runs take
 * it from then on.
 */
#include "driver.h"

#include "../base/digest.h"
#include "../library/tuned.h"
#include "../passes/cost.h"
#include "../runtime/batch/batch_list.h"
#include "../runtime/batch/reader.h"
#include "../runtime/command/options.h"
#include "../runtime/exec/exec.h"
#include "../runtime/host/stopwatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 120, RUNS = 5, MOST_RUNS = 50, MOST_BY_MODEL = 500 /* plans that it compares */ };

static const double ENOUGH = 0.25;  /* seconds of runs of a plan */
static const double BETTER = 0.98;  /* of the time, below which it is no accident */
static const double HOPELESS = 1.5; /* times the best, after which a plan is not run again */

/* A program that has been timed. */
typedef struct Timed {
    const char *digest;
    double ms;
} Timed;

typedef struct Tuning {
    Compilation *c;
    Options options;
    double seconds; /* to be used up */
    double began;
    Device *dev;
    ExecInput *inputs;
    void **pixels; /* by input: dense [c][z][y][x] */
    Vec(Timed) timed;
    Vec(Decision) plan;    /* the best so far: answers that differ from the rules */
    Vec(Decision) asked;   /* with it */
    Vec(Decision) by_rule; /* that the rules were asked for */
    double by_rules, by_model, best;
    PassSearch model;
    bool list; /* --list: every plan that is timed */
} Tuning;

/* Seconds. */
static double now(void)
{
    return (double)stopwatch_now() * 1e-9;
}

/* ---- images ---------------------------------------------------------------------------- */

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of memory for the images");
}

static size_t pixels_of(const ExecInput *input)
{
    size_t n = 1;
    for (int axis = 0; axis < 4; axis++) {
        n *= (size_t)input->extent[axis];
    }
    return n;
}

/* Bright blobs of several sizes on a rough ground: something to find for thresholds and labels. */
static double blob(size_t x, size_t y)
{
    double u = fmod((double)x, 61) - 30, v = fmod((double)y, 47) - 23, wide = 20 + (double)(x / 61 % 5) * 30;
    uint32_t noise = (uint32_t)(x * 2654435761u) ^ (uint32_t)(y * 2246822519u);
    return exp(-(u * u + v * v) / wide) * 200 + (double)((noise ^ noise >> 15) % 32);
}

static bool draw_images(Tuning *t, const char *shape, Err *err)
{
    const Program *program = t->c->program;
    t->inputs = take_shape(program, shape, &t->c->arena);
    if (t->inputs == NULL) {
        return err_set(err, CODE_USAGE, "so nothing is tuned");
    }
    for (int i = 0; i < program->n_inputs; i++) {
        size_t n = pixels_of(&t->inputs[i]), w = (size_t)t->inputs[i].extent[0];
        Elem elem = t->inputs[i].elem;
        t->pixels[i] = malloc(n * elem_size(elem));
        if (t->pixels[i] == NULL) {
            return no_memory(err);
        }
        for (size_t k = 0; k < n; k++) {
            double value = blob(k % w, k / w);
            value = elem_is_integer(elem) ? rint(fmin(value, elem_max(elem))) : value;
            elem_put(t->pixels[i], k, elem, elem == ELEM_BOOL ? value > 60 : value);
        }
    }
    return true;
}

/* The first image of the command line, as a run would read it. */
static bool read_frame(Tuning *t, const BatchItem *item, VolumeCache *cache, Err *err)
{
    const Program *program = t->c->program;
    Reader *reader = NULL;
    Volume **volumes = arena_array(&t->c->arena, Volume *, program->n_inputs + 1);
    bool ok =
        reader_open(program, item, &t->options, true, cache, &reader, err) && reader_frame(reader, 0, volumes, err);
    for (int i = 0; ok && i < program->n_inputs; i++) {
        t->inputs[i] = reader_inputs(reader)[i];
        t->pixels[i] = malloc(volumes[i]->bytes);
        ok = t->pixels[i] != NULL || no_memory(err);
        if (ok) {
            memcpy(t->pixels[i], volumes[i]->pixels, volumes[i]->bytes);
        }
    }
    for (int i = 0; i < program->n_inputs; i++) {
        volume_release(volumes[i]);
    }
    reader_close(reader);
    return ok;
}

static bool read_images(Tuning *t, Err *err)
{
    BatchList list;
    VolumeCache cache;
    HostPool *pool = host_pool_new(0, false, NULL, 0);
    t->inputs = arena_array(&t->c->arena, ExecInput, t->c->program->n_inputs + 1);
    bool ok = (pool != NULL || no_memory(err)) && volume_cache_init(&cache, t->c->program->n_inputs, pool, err);
    if (ok) {
        ok = batch_list(t->c->program, &t->options, &list, err) && read_frame(t, &list.items[0], &cache, err);
        batch_list_free(&list);
        volume_cache_free(&cache);
    }
    host_pool_free(pool);
    return ok;
}

/* ---- timing ---------------------------------------------------------------------------- */

static bool upload(const Tuning *t, Exec *exec, int input, Err *err)
{
    const ExecInput *in = &t->inputs[input];
    const int64_t *n = in->extent;
    size_t row = (size_t)n[0] * elem_size(in->elem);
    for (int64_t plane = 0; plane < n[2] * n[3]; plane++) {
        const char *from = (const char *)t->pixels[input] + (size_t)(plane * n[1]) * row;
        TRY(exec_upload(exec, input, plane / n[2], plane % n[2], 0, n[1], from, row, err));
    }
    return true;
}

/* One run with pixels that are there; only the run is timed. */
static bool time_run(const Tuning *t, Exec *exec, double *ms, Err *err)
{
    for (int i = 0; i < t->c->program->n_inputs; i++) {
        TRY(upload(t, exec, i, err));
    }
    double before = now();
    TRY(exec_run(exec, err));
    *ms = (now() - before) * 1e3;
    return true;
}

static int ascending(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* The median of some runs; the first, which compiles and warms up, does not count. */
static bool time_program(const Tuning *t, const Program *program, double *ms, Err *err)
{
    Exec *exec = NULL;
    double times[MOST_RUNS], spent = 0;
    int n = 0;
    TRY(exec_new(program, t->dev, &exec, err));
    bool ok = exec_bind(exec, t->inputs, t->options.params, err);
    if (ok && exec_in_parts(exec)) {
        ok = err_set(err, CODE_MEMORY, "the image goes through the device in parts; tune with a smaller one");
    }
    ok = ok && time_run(t, exec, &times[0], err);
    while (ok && n < MOST_RUNS && (n < RUNS || spent < ENOUGH)) {
        ok = time_run(t, exec, &times[n], err);
        spent += times[n] / 1e3;
        if (n++ > 0 && t->best > 0 && times[n - 1] > HOPELESS * t->best && times[n - 2] > HOPELESS * t->best) {
            break;
        }
    }
    exec_free(exec);
    if (ok) {
        qsort(times, (size_t)n, sizeof *times, ascending);
        *ms = times[n / 2];
    }
    return ok;
}

static const char *digest_of(const Program *program, Arena *arena)
{
    Str out;
    char digest[DIGEST_TEXT];
    str_init(&out, arena);
    cg_emit_c(program, "program", &out);
    digest_of_text(out.at, digest);
    return arena_strdup(arena, digest);
}

/* A plan that was timed, and what the model makes of it, for an image of a megapixel. */
static void tell_plan(const Tuning *t, const Compilation *c, double ms)
{
    const PassContext cx = {.figures = &c->options.plan_for};
    if (t->list) {
        printf("  plan %10.3f ms, %10.4g ms a megapixel by the model\n", ms,
               cost_plan(c->graph, &cx, c->schedule) / c->options.plan_for.giga_ops);
    }
}

/* Milliseconds of a plan; where it is the best so far, the decisions that it made are kept. */
static bool time_plan(Tuning *t, const Decision *plan, int n, double *ms, Err *err)
{
    Compilation with = *t->c, aside;
    with.options.given = plan;
    with.options.n_given = n;
    with.options.ask = true;
    compile_aside(&with, t->options.params, &aside);
    const char *digest = digest_of(aside.program, &aside.arena);
    bool ok = true, known = false;
    for (int i = 0; i < t->timed.n && !known; i++) {
        known = strcmp(t->timed.at[i].digest, digest) == 0;
        *ms = t->timed.at[i].ms;
    }
    if (!known) {
        ok = time_program(t, aside.program, ms, err);
        tell_plan(t, &aside, *ms);
        const Timed timed = {arena_strdup(&t->c->arena, digest), *ms};
        vec_push(&t->c->arena, &t->timed, timed);
    }
    if (ok && (t->best == 0 || *ms < BETTER * t->best)) {
        t->best = *ms;
        t->asked.n = 0;
        for (int i = 0; i < aside.decisions.asked.n; i++) {
            Decision d = aside.decisions.asked.at[i];
            d.name = arena_strdup(&t->c->arena, d.name);
            vec_push(&t->c->arena, &t->asked, d);
        }
    }
    compile_free(&aside);
    return ok;
}

/* ---- the search ------------------------------------------------------------------------ */

static bool is_over(const Tuning *t)
{
    return now() - t->began > t->seconds;
}

static void tell(const Tuning *t, bool end)
{
    if (isatty(STDERR_FILENO) != 0) {
        fprintf(stderr, "\rtune: %d plans, %.3f ms by the rules, %.3f ms the best%s", t->timed.n, t->by_rules, t->best,
                end ? "\n" : "");
    }
}

/* The plan with the answer to one decision turned round. */
static int turn_round(const Tuning *t, const Decision *d, Decision *to)
{
    int n = 0;
    for (int i = 0; i < t->plan.n; i++) {
        const Decision *p = &t->plan.at[i];
        if (p->kind != d->kind || p->a != d->a || p->b != d->b) {
            to[n++] = *p;
        }
    }
    if (d->taken == d->rule) {
        to[n] = *d;
        to[n++].taken = !d->rule;
    }
    return n;
}

/* Times a plan and takes it if it is faster. */
static bool try_plan(Tuning *t, Decision *plan, int n, Err *err)
{
    double before = t->best, ms = 0;
    TRY(time_plan(t, plan, n, &ms, err));
    if (t->best < before) {
        t->plan.at = plan;
        t->plan.n = t->plan.cap = n;
    }
    tell(t, false);
    return true;
}

/* Where rules put too much into one kernel, a single answer may not mend it: plans without any fusing of a kind. */
static bool try_kinds(Tuning *t, Err *err)
{
    for (int kind = 0; kind < DECISION_KIND_COUNT && !is_over(t); kind++) {
        Decision *plan = arena_array(&t->c->arena, Decision, t->by_rule.n + 1);
        int n = 0;
        for (int i = 0; i < t->by_rule.n; i++) {
            const Decision *d = &t->by_rule.at[i];
            if ((int)d->kind == kind && d->rule) {
                plan[n] = *d;
                plan[n++].taken = false;
            }
        }
        TRY(n == 0 || try_plan(t, plan, n, err));
    }
    return true;
}

/* Goes once through all decisions; *any: some plan was faster. */
static bool try_all(Tuning *t, bool *any, Err *err)
{
    *any = false;
    for (int i = 0; i < t->asked.n && !is_over(t); i++) {
        Decision *plan = arena_array(&t->c->arena, Decision, t->plan.n + 1);
        int n = turn_round(t, &t->asked.at[i], plan);
        double before = t->best;
        TRY(try_plan(t, plan, n, err));
        *any = *any || t->best < before;
    }
    return true;
}

static bool search(Tuning *t, Err *err)
{
    bool any = true;
    TRY(time_plan(t, NULL, 0, &t->by_rules, err));
    for (int i = 0; i < t->asked.n; i++) {
        vec_push(&t->c->arena, &t->by_rule, t->asked.at[i]);
    }
    t->model = compile_search(t->c, t->options.params, MOST_BY_MODEL);
    TRY(time_plan(t, t->model.answers, t->model.n_answers, &t->by_model, err));
    if (t->best < t->by_rules) {
        t->plan.at = arena_array(&t->c->arena, Decision, t->model.n_answers);
        t->plan.n = t->plan.cap = t->model.n_answers;
        memcpy(t->plan.at, t->model.answers, sizeof *t->plan.at * (size_t)t->plan.n);
    }
    TRY(try_kinds(t, err));
    while (any && !is_over(t)) {
        TRY(try_all(t, &any, err));
    }
    tell(t, true);
    return true;
}

/* ---- all of it ------------------------------------------------------------------------- */

static void report(const Tuning *t)
{
    printf("%d plans on %s in %.0f s\n", t->timed.n, dev_info(t->dev)->name, now() - t->began);
    printf("  by the rules%10.3f ms\n  by the model%10.3f ms, the cheapest of %s%d plans\n"
           "  the best    %10.3f ms, %.2f of the first\n",
           t->by_rules, t->by_model, t->model.all ? "all " : "", t->model.plans, t->best, t->best / t->by_rules);
    for (int i = 0; i < t->plan.n; i++) {
        printf("  %s %s\n", t->plan.at[i].taken ? "now:    " : "no more:", decision_text(&t->c->arena, &t->plan.at[i]));
    }
    puts(is_over(t) ? "The time was over before all decisions were tried; --seconds gives more."
                    : "No single decision makes it faster.");
    puts("Runs on this device take this plan from now on.");
}

static bool tune(Tuning *t, const char *shape, Err *err)
{
    const DevOptions options = {.choice = t->options.device, .memory_limit = t->options.memory};
    t->pixels = arena_array(&t->c->arena, void *, t->c->program->n_inputs + 1);
    TRY(dev_open(&options, &t->dev, err));
    TRY(t->options.n_files == 0 || options_have_images(t->c->program, &t->options, err));
    TRY(t->options.n_files > 0 ? read_images(t, err) : draw_images(t, shape, err));
    t->began = now();
    TRY(search(t, err));
    TRY(tuned_store(t->c->program->hash, dev_info(t->dev)->name, t->plan.at, t->plan.n, &t->c->arena, err));
    report(t);
    return true;
}

/* Takes --shape, --seconds and --list out of argv[1..]. */
static bool take_own(int *argc, char **argv, const char **shape, double *seconds, bool *list)
{
    const char *text = NULL;
    int n = 1;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            *list = true;
        } else if (!take_value(*argc, argv, &i, "--shape", shape) && !take_value(*argc, argv, &i, "--seconds", &text)) {
            argv[n++] = argv[i];
        }
    }
    argv[ *argc = n] = NULL;
    char *end = NULL;
    *seconds = text != NULL ? strtod(text, &end) : SECONDS;
    if (text != NULL && (end == text || *end != '\0' || !(*seconds > 0))) {
        usage_error("--seconds takes a number above 0, not '%s'", text);
        return false;
    }
    return true;
}

static int tune_compiled(Compilation *c, int argc, char **argv, const char *shape, double seconds, bool list)
{
    Tuning t = {.c = c, .seconds = seconds, .list = list};
    Err err = {0};
    int code = CODE_OK;
    if (!options_parse(c->program, argc, argv, &t.options, &err) || !tune(&t, shape, &err)) {
        code = complain(&err);
    }
    for (int i = 0; t.pixels != NULL && i < c->program->n_inputs; i++) {
        free(t.pixels[i]);
    }
    dev_close(t.dev);
    options_free(&t.options);
    return code;
}

int cmd_tune(int argc, char **argv)
{
    CompileOptions options;
    const char *shape = "2048x2048:u16", *choice = NULL;
    double seconds;
    bool list = false;
    if (!take_compile_options(&argc, argv, &options) || !take_own(&argc, argv, &shape, &seconds, &list)) {
        return CODE_USAGE;
    }
    if (argc < 2 || !is_pipeline(argv[1])) {
        return usage_error("which pipeline? pipec tune FILE.pipe [IMAGE | --shape 2048x2048:u16] [--device DEVICE]");
    }
    for (int i = 2; i < argc; i++) {
        int k = i;
        take_value(argc, argv, &k, "--device", &choice);
    }
    if (!options.planned_for) {
        options.measured = figures_of_device(choice, &options.plan_for, options.tuned_for);
        options.tuned_for[0] = '\0'; /* from the rules on */
    }
    Compilation c;
    int code = CODE_USAGE;
    if (compile(&c, argv[1], &options, STAGE_PROGRAM)) {
        code = tune_compiled(&c, argc - 1, argv + 1, shape, seconds, list);
    }
    compile_free(&c);
    return code;
}
