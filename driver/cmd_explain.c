/*
 * explain: for each edge of the graph, at its source line, how it was fused, or which rule kept
 * it apart, and what that saves or costs in bytes per pixel.  For the parameters' defaults, or for others as `pipec run`
 * takes them.
 */
#include "driver.h"

#include "../ir/edit.h"
#include "../runtime/command/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const STATES[] = {"inline", "local", "stored", "shared", "on the way"};

static void print_remark(const Compilation *c, const IrRemark *r)
{
    const IrNode *from = ir_node(c->graph, r->from), *to = ir_node(c->graph, r->to);
    int line = 0, column = 0;
    span_line_column(to->span, &line, &column);
    const char *path = to->span.source != NULL ? to->span.source->path : c->source.path;
    const char *gain = r->state == IR_EDGE_GLOBAL ? "costs" : "saves";
    printf("%s:%d:%d: %s -> %s: %s, %s %.3g bytes a pixel: %s\n", path, line, column, from->name, to->name,
           STATES[r->state], gain, r->bytes, r->why);
}

static void print_kernels(const Compilation *c)
{
    static const char *const SHAPES[] = {"reads from memory", "marches over rows", "a long fold"};
    int n = c->schedule->steps.n;
    printf("\n%d step%s:\n", n, n == 1 ? "" : "s");
    for (int i = 0; i < c->schedule->steps.n; i++) {
        const IrStep *s = &c->schedule->steps.at[i];
        if (s->kind == IR_STEP_LOOP || s->kind == IR_STEP_END) {
            printf("  %s\n", s->kind == IR_STEP_LOOP ? "repeat" : "end");
            continue;
        }
        printf("  %-10s", s->kind == IR_STEP_PRIMITIVE ? "primitive"
                          : s->kind == IR_STEP_SCALARS ? "values"
                                                       : "kernel");
        for (int k = 0; k < s->stages.n; k++) {
            IrId id = s->stages.at[k];
            printf(" %s%s", ir_node(c->graph, id)->name, c->schedule->stored[id] ? "" : "*");
        }
        if (s->kind == IR_STEP_KERNEL) {
            printf(" (%s)", SHAPES[s->shape]);
        }
        if (s->stages.n > 0 && c->schedule->taken_from[s->stages.at[0]] != 0) {
            printf(" (of what the kernel above hands on)");
        }
        printf("\n");
    }
    puts("  * computed in registers, never stored");
    const DeviceFigures *figures = &c->options.plan_for;
    printf("made for %s (%s): a copy moves %.4g GB/s, %.4g Gop/s, a launch takes %.3g us; up to %d operations a "
           "pixel are done again rather than stored\n",
           figures->name, c->options.measured ? "measured" : "from the table", figures->copy_gb, figures->giga_ops,
           figures->launch_us, figures_repeated_ops(figures));
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
            usage_error("explain: pipec explain FILE.pipe [--PARAMETER VALUE]...");
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

static void explain(Compilation *c)
{
    for (int i = 0; i < c->schedule->remarks.n; i++) {
        print_remark(c, &c->schedule->remarks.at[i]);
    }
    print_kernels(c);
}

int cmd_explain(int argc, char **argv)
{
    CompileOptions options;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    if (argc < 2) {
        return usage_error("which file? pipec explain FILE.pipe [--PARAMETER VALUE]...");
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
        explain(&planned);
        code = CODE_OK;
    }
    compile_free(&planned);
    compile_free(&c);
    return code;
}
