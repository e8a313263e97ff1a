/*
 * explain: for each step, at its source line, what became of the pipeline: which stages share a kernel, which are
 * stored and why, what it moves and computes for a pixel, and how long that takes by the model of the device that a run
 * would take.  For the parameters' defaults, or for others as `pipec run` takes them.
 */
#include "driver.h"

#include "../ir/edit.h"
#include "../ir/nodes.h"
#include "../passes/cost.h"
#include "../runtime/command/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Explained {
    Compilation *c;
    Cost cost;
    Arena *arena;
} Explained;

/* ---- names ------------------------------------------------------------------------------ */

static const char *name_of(const Explained *x, IrId id)
{
    return stage_name(x->c->file, ir_node(x->c->graph, id)->name, x->arena);
}

/* The last stage of a step that is stored; the last one where none is. */
static IrId main_stage(const Explained *x, const IrStep *step)
{
    IrId id = step->stages.at[step->stages.n - 1];
    for (int i = 0; i < step->stages.n; i++) {
        id = x->c->schedule->stored[step->stages.at[i]] ? step->stages.at[i] : id;
    }
    return id;
}

/* ---- a step ----------------------------------------------------------------------------- */

static const char *what_it_is(const Explained *x, const IrStep *step)
{
    static const char *const KERNELS[] = {"kernel", "streaming kernel", "kernel for a long window"};
    const IrNode *node = ir_node(x->c->graph, step->stages.at[0]);
    return step->kind == IR_STEP_SCALARS  ? "whole-image values"
           : step->kind == IR_STEP_KERNEL ? KERNELS[step->shape]
                                          : arena_printf(x->arena, "library kernels of %s", ir_op_info(node->op)->name);
}

static void print_row(const char *word, const char *text)
{
    printf("    %-9s %s\n", word, text);
}

/* "line 9   blurred = gaussian(image, sigma)" */
static void print_line(const Explained *x, const IrNode *node)
{
    int line = 0, column = 0;
    if (node->span.source == NULL) {
        return;
    }
    span_line_column(node->span, &line, &column);
    const char *begin = node->span.source->text + node->span.begin - (column - 1);
    begin += strspn(begin, " \t");
    print_row(arena_printf(x->arena, "line %d", line), arena_strndup(x->arena, begin, strcspn(begin, "\r\n")));
}

/* Stages of the kernel that are never stored. */
static void print_fused_stages(const Explained *x, const IrStep *step)
{
    for (int i = 0; i < step->stages.n && step->kind == IR_STEP_KERNEL; i++) {
        const IrId id = step->stages.at[i];
        if (!x->c->schedule->stored[id]) {
            print_row("fused", arena_printf(x->arena, "%s: computed in registers, row by row", name_of(x, id)));
        }
    }
}

/* The names of the readers for which a stage is stored for one reason: "labels, otsu_histogram of mask". */
static const char *readers_of(const Explained *x, int first)
{
    const IrSchedule *s = x->c->schedule;
    const IrRemark *r = &s->remarks.at[first];
    Str names;
    str_init(&names, x->arena);
    for (int k = 0; k < s->remarks.n; k++) {
        const IrRemark *q = &s->remarks.at[k];
        const bool alike = q->from == r->from && q->state == r->state && strcmp(q->why, r->why) == 0;
        if (alike && k < first) {
            return NULL; /* it has been told with that one */
        }
        if (alike) {
            str_addf(&names, "%s%s", names.n > 0 ? ", " : "", name_of(x, q->to));
        }
    }
    return names.at;
}

/* What became of the stages that this step computes, or reads. */
static void print_remark(const Explained *x, int step, int i)
{
    const IrSchedule *s = x->c->schedule;
    const IrRemark *r = &s->remarks.at[i];
    const char *from = name_of(x, r->from), *to = name_of(x, r->to);
    if (r->state == IR_EDGE_GLOBAL && s->step[r->from] == step && readers_of(x, i) != NULL) {
        print_row("stored", arena_printf(x->arena, "%s, %.3g bytes a pixel to write and to read again, for %s: %s",
                                         from, r->bytes, readers_of(x, i), r->why));
    } else if (r->state == IR_EDGE_INLINE && s->step[r->to] == step) {
        print_row("fused",
                  arena_printf(x->arena, "%s: %s in %s; saves %.3g bytes a pixel", from, r->why, to, r->bytes));
    } else if (r->state == IR_EDGE_SHARED && s->step[r->to] == step) {
        print_row("shared",
                  arena_printf(x->arena, "%s is read once: %s; saves %.3g bytes a pixel", from, r->why, r->bytes));
    } else if (r->state == IR_EDGE_ON_THE_WAY && s->step[r->to] == step) {
        print_row("fused", arena_printf(x->arena, "into step %d: %s; saves %.3g bytes a pixel", s->step[r->from] + 1,
                                        r->why, r->bytes));
    }
}

/* Bytes and operations of a pixel, and what the model of the device makes of them. */
static void print_cost(Explained *x, const IrStep *step)
{
    const IrSchedule *s = x->c->schedule;
    const DeviceFigures *f = &x->c->options.plan_for;
    CostKernel k = cost_kernel(&x->cost, step->stages.at, step->stages.n);
    if (step->kind == IR_STEP_SCALARS || s->taken_from[step->stages.at[0]] != 0 || !(k.bytes + k.ops > 0)) {
        return;
    }
    const double moves = k.bytes / f->copy_gb, computes = k.ops / f->giga_ops; /* ms a megapixel */
    const bool library = step->kind == IR_STEP_PRIMITIVE;
    print_row("cost",
              arena_printf(x->arena, "%s%.3g bytes, %.3g operations a pixel: %.3g ms a megapixel, limited by %s%s",
                           library ? "at least " : "", k.bytes, k.ops, moves > computes ? moves : computes,
                           moves > computes ? "memory" : "arithmetic",
                           k.known ? "" : " (of windows whose size the image decides)"));
}

static void print_loop(const IrGraph *g, const IrStep *step, int i)
{
    const int joined = g->loops.at[step->loop].joined;
    const bool begins = step->kind == IR_STEP_LOOP;
    printf("\nstep %d  %s", i + 1, begins ? "repeat" : "end of the loop");
    if (begins && joined > 1) {
        printf(", %d rounds in one kernel", joined);
    }
    printf("\n");
}

static void print_step(Explained *x, int i)
{
    const IrStep *step = &x->c->schedule->steps.at[i];
    if (step->kind == IR_STEP_LOOP || step->kind == IR_STEP_END) {
        print_loop(x->c->graph, step, i);
        return;
    }
    const IrId id = main_stage(x, step);
    const char *what = what_it_is(x, step);
    printf("\nstep %d  %s: %s\n", i + 1, what, name_of(x, id));
    print_line(x, ir_node(x->c->graph, id));
    print_fused_stages(x, step);
    for (int r = 0; r < x->c->schedule->remarks.n; r++) {
        print_remark(x, i, r);
    }
    print_cost(x, step);
}

/* What the plans that were not taken would cost. */
static void print_plans(Explained *x)
{
    enum { MOST_PLANS = 300 };
    Compilation *c = x->c;
    const double giga = c->options.plan_for.giga_ops; /* ms a megapixel */
    const PassContext cx = {.figures = &c->options.plan_for};
    const double cost = cost_plan(c->graph, &cx, c->schedule);
    const PassSearch found = compile_search(c, c->options.params, MOST_PLANS);
    printf("by the model of the device %.3g ms a megapixel; the cheapest of %s%d plan%s: %.3g\n", cost / giga,
           found.all ? "all " : "", found.plans, found.plans == 1 ? "" : "s", found.cost / giga);
    for (int i = 0; i < found.n_answers && found.cost < cost; i++) {
        const Decision *d = &found.answers[i];
        if (d->taken != d->rule) {
            print_row(d->taken ? "would" : "wouldn't", decision_text(x->arena, d));
        }
    }
}

static void explain(Compilation *c)
{
    const DeviceFigures *f = &c->options.plan_for;
    const PassContext cx = {.figures = f};
    Explained x = {c, cost_new(c->graph, &cx, c->schedule), &c->arena};
    printf("%s: %d step%s, planned for %s (%s)\n", c->source.path, c->schedule->steps.n,
           c->schedule->steps.n == 1 ? "" : "s", f->name, c->options.measured ? "measured" : "from the table");
    printf(
        "a copy moves %.4g GB/s, %.4g Gop/s, a launch takes %.3g us; up to %d operations a pixel are recomputed rather "
        "than stored\n",
        f->copy_gb, f->giga_ops, f->launch_us, figures_repeated_ops(f));
    print_plans(&x);
    for (int i = 0; i < c->schedule->steps.n; i++) {
        print_step(&x, i);
    }
}

/* The smallest place above `after` where a stretch of the parameter begins that has a plan of its own. */
static double next_stretch(const Program *program, int param, double after)
{
    double next = INFINITY;
    for (int i = 0; i < program->n_variants; i++) {
        const double bounds[] = {program->variants[i].least[param], program->variants[i].below[param]};
        for (int k = 0; k < 2; k++) {
            next = bounds[k] > after && bounds[k] < next ? bounds[k] : next;
        }
    }
    return next;
}

/* Where an executable has other programs (variants.c). */
static void print_variants(Compilation *c)
{
    add_variants(c);
    for (int i = 0; i < c->program->n_params; i++) {
        double from = next_stretch(c->program, i, -INFINITY);
        if (isfinite(from)) {
            printf("an executable has other steps for %s", c->program->params[i].name);
            for (const char *comma = ""; isfinite(from); from = next_stretch(c->program, i, from)) {
                printf("%s from %.4g", comma, from);
                comma = ",";
            }
            printf("\n");
        }
    }
}

/* --NAME VALUE or --NAME=VALUE, once the pipeline has been compiled and its parameters are known. */
static bool take_params(const Program *program, int argc, char **argv, double *params)
{
    for (int i = 0; i < argc; i++) {
        char *name = argv[i], *equals = strchr(name, '=');
        const char *value = equals != NULL ? equals + 1 : argv[++i];
        if (strncmp(name, "--", 2) != 0 || value == NULL) {
            usage_error("explain: pipec explain FILE.pipe [--plan-for=DEVICE] [--PARAMETER VALUE]...");
            return false;
        }
        if (equals != NULL) {
            *equals = '\0';
        }
        Err err = {0};
        if (!options_set_param(program, name + 2, value, params, &err)) {
            complain(&err);
            return false;
        }
    }
    return true;
}

int cmd_explain(int argc, char **argv)
{
    CompileOptions options;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    if (argc < 2) {
        return usage_error("which file? pipec explain FILE.pipe [--plan-for=DEVICE] [--PARAMETER VALUE]...");
    }
    if (!options.planned_for) {
        options.measured = figures_of_device(NULL, &options.plan_for, options.tuned_for);
    }
    Compilation c, planned = {.graph = NULL};
    int code = CODE_USAGE;
    bool ok = compile(&c, argv[1], &options, STAGE_PROGRAM);
    double *params = ok ? default_params(c.program, &c.arena) : NULL;
    if (ok && argc == 2) {
        explain(&c);
        print_variants(&c);
        code = CODE_OK;
    } else if (ok && take_params(c.program, argc - 2, argv + 2, params)) {
        compile_aside(&c, params, &planned);
        for (int i = 0; i < planned.graph->params.n; i++) {
            planned.graph->params.at[i].value = params[i]; /* what the costs are counted for */
        }
        explain(&planned);
        code = CODE_OK;
    }
    compile_free(&planned);
    compile_free(&c);
    return code;
}
