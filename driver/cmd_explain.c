/*
 * explain: for each edge of the graph, at its source line, how it was fused, or which rule kept
 * it apart, and what that saves or costs in bytes per pixel.
 */
#include "driver.h"

#include "../ir/edit.h"

#include <stdio.h>
#include <string.h>

static const char *const STATES[] = {"inline", "local", "stored", "shared",
                                     "on the way"};

static void print_remark(const Compilation *c, const IrRemark *r)
{
    const IrNode *from = ir_node(c->graph, r->from), *to = ir_node(c->graph, r->to);
    int line = 0, column = 0;
    span_line_column(to->span, &line, &column);
    const char *path = to->span.source != NULL ? to->span.source->path : c->source.path;
    const char *gain = r->state == IR_EDGE_GLOBAL ? "costs" : "saves";
    printf("%s:%d:%d: %s -> %s: %s, %s %.3g bytes a pixel: %s\n", path, line, column, from->name,
           to->name, STATES[r->state], gain, r->bytes, r->why);
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
           figures->name, c->options.measured ? "measured" : "from the table", figures->copy_gb,
           figures->giga_ops, figures->launch_us, figures_repeated_ops(figures));
}

int cmd_explain(int argc, char **argv)
{
    CompileOptions options;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    if (argc != 2) {
        return usage_error("which file? pipec explain FILE.pipe");
    }
    Compilation c;
    int code = CODE_USAGE;
    if (compile(&c, argv[1], &options, STAGE_PROGRAM)) {
        for (int i = 0; i < c.schedule->remarks.n; i++) {
            print_remark(&c, &c.schedule->remarks.at[i]);
        }
        print_kernels(&c);
        code = CODE_OK;
    }
    compile_free(&c);
    return code;
}
