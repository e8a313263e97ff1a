/*
 * plan: what a run on images of a given shape would hold in memory, without a device or for one that is there: steps
 * with the rows that they read, buffers over time as a picture in text, the peak and whether it is minimal; and where a
 * limit makes the run go in parts, what is done in which order on parts of how many rows.
 */
#include "driver.h"

#include "../runtime/exec/exec_plan.h"
#include "../runtime/exec/parts.h"
#include "../runtime/command/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_bytes(uint64_t bytes, double pixels)
{
    printf("%12.3f MiB %8.3f B/px", (double)bytes / 1048576.0, (double)bytes / pixels);
}

/* One column a step, one row a buffer: '#' while it lives. */
static void print_buffers(const ExecPlan *plan, double pixels)
{
    const Program *p = plan->program;
    puts("\nbuffers; # marks the steps that hold one:");
    for (int i = 0; i < p->n_buffers; i++) {
        printf("  %-28s %-4s", p->buffers[i].name, elem_name(plan->buffers[i].elem));
        print_bytes(plan->buffers[i].bytes, pixels);
        printf("  at %12" PRIu64 "  ", plan->buffers[i].offset);
        for (int s = 0; s < p->n_steps; s++) {
            bool lives = s >= p->buffers[i].first && s <= p->buffers[i].last;
            putchar(lives ? '#' : '.');
        }
        int onto = plan->buffers[i].onto;
        printf(onto >= 0 ? " onto %s\n" : "\n", onto >= 0 ? p->buffers[onto].name : "");
    }
}

static void print_steps(Compilation *c, const ExecPlan *plan)
{
    const Program *p = plan->program;
    Err err = {0};
    puts("steps:");
    for (int i = 0; i < p->n_steps; i++) {
        const ProgStep *s = &p->steps[i];
        int below = 0, above = 0;
        bool whole = false, places = false;
        for (int r = 0; r < s->n_reads; r++) {
            int b = 0, a = 0;
            places = places || parts_reads_box(&s->reads[r]);
            whole = whole || (s->reads[r].below < 0 && !parts_reads_box(&s->reads[r]));
            if (s->reads[r].below < 0) {
                continue;
            }
            host_eval_int(p, &plan->host, s->reads[r].below, "a halo", &b, &err);
            host_eval_int(p, &plan->host, s->reads[r].above, "a halo", &a, &err);
            below = b > below ? b : below;
            above = a > above ? a : above;
        }
        printf("  %2d %-32s", i + 1, stage_name(c->file, s->name, &c->arena));
        if (s->kind == STEP_PRIMITIVE) {
            printf(" library kernels of %s, %.3f MiB of scratch", s->primitive,
                   (double)plan->steps[i].scratch / 1048576.0);
        } else if (whole) {
            printf(" kernel, reads whole images");
        } else if (places) {
            printf(" kernel, reads at computed positions");
        } else if (s->kind == STEP_LAUNCH) {
            printf(" kernel, halo of %d rows above and %d below, strips of %d", below, above, plan->steps[i].strip);
        }
        printf("  [line %s]\n", s->lines);
    }
}

/* ---- runs in parts --------------------------------------------------------------------- */

static void print_tasks(Compilation *c, const ExecPlan *plan, const PartsSegment *seg)
{
    for (int t = 0; t < seg->n_tasks; t++) {
        const PartsTask *task = &seg->tasks[t];
        const ProgStep *step = &plan->program->steps[task->step];
        printf("       %-44s", stage_name(c->file, step->name, &c->arena));
        if (step->kind == STEP_PRIMITIVE) {
            printf(" %s", step->primitive);
        }
        if (task->pass > 0 || !task->last_pass) {
            printf(", pass %d", task->pass + 1);
        }
        if (task->lo + task->hi > 0) {
            printf(", with %d %s before and %d behind", task->lo, seg->planes ? "planes" : "rows", task->hi);
        }
        putchar('\n');
    }
}

/* Resident rows of the window's image. */
static void print_residents(const ExecPlan *plan, const PartsSegment *seg, const PartsWindow *w)
{
    for (int i = 0; i < plan->parts->n_residents; i++) {
        int rows = parts_resident_rows(seg, i);
        if (plan->parts->residents[i].buffer == w->buffer && rows > 0) {
            printf(", %d %s resident", rows, seg->planes ? "planes" : "rows");
        }
    }
}

/* The window that this one lies on, which dies as it is made; NULL: none. */
static const PartsWindow *lies_on(const ExecPlan *plan, const PartsSegment *seg, const PartsWindow *w)
{
    const PartsWindow *on = NULL;
    for (int i = 0; i < seg->n_windows; i++) {
        const PartsWindow *under = &seg->windows[i];
        bool wanted = under->buffer == plan->buffers[w->buffer].onto && under->last == w->first;
        on = wanted && under->offset == w->offset ? under : on;
    }
    return on;
}

/* One column a task, one row a window: '#' while it lives. */
static void print_windows(const ExecPlan *plan, const PartsSegment *seg)
{
    for (int i = 0; i < seg->n_windows; i++) {
        const PartsWindow *w = &seg->windows[i];
        const char *from = !w->load ? "" : plan->parts->input[w->buffer] >= 0 ? " <- input" : " <- kept";
        bool kept = w->keep && plan->parts->kept[w->buffer];
        bool given = w->keep && plan->parts->given[w->buffer];
        printf("       %-28s %-4s %10.3f MiB  ", plan->program->buffers[w->buffer].name,
               elem_name(plan->buffers[w->buffer].elem), (double)w->bytes / 1048576.0);
        for (int t = 0; t < seg->n_tasks; t++) {
            putchar(t >= w->first && t <= w->last ? '#' : '.');
        }
        printf("%s%s%s%s%s",
               w->whole       ? " whole"
               : w->in_rounds ? " slab"
               : w->boxed     ? " box"
                              : "",
               parts_is_double_buffered(seg, w) ? " twice" : "", from, kept ? " -> kept" : "",
               given ? " -> output" : "");
        const PartsWindow *on = lies_on(plan, seg, w);
        printf("%s%s", on != NULL ? " onto " : "", on != NULL ? plan->program->buffers[on->buffer].name : "");
        print_residents(plan, seg, w);
        putchar('\n');
    }
}

static void print_parts(Compilation *c, const ExecPlan *plan)
{
    const PartsPlan *parts = plan->parts;
    printf(
        "\nIt does not fit in one piece, and runs in parts.  In this order; # marks the tasks that hold a buffer:\n");
    for (int i = 0; i < parts->n; i++) {
        const PartsSegment *seg = &parts->segments[i];
        printf("  %2d ", i + 1);
        if (seg->kind == PARTS_LOOP || seg->kind == PARTS_END) {
            puts(seg->kind == PARTS_LOOP ? "repeat" : "end of the round");
            continue;
        }
        if (seg->kind == PARTS_WHOLE) {
            printf(" in one piece");
        } else {
            bool across = parts_is_across(seg, parts_grid(plan, seg->tasks[0].step));
            printf(" %d part%s of %d %s", seg->parts, seg->parts == 1 ? "" : "s", seg->rows,
                   seg->planes ? "planes"
                   : across    ? "rows of all planes"
                               : "rows");
            if (seg->cols > 0) {
                printf(" and %d columns", seg->cols);
            }
            if (seg->rounds > 1) {
                printf(", each in %d rounds", seg->rounds);
            }
        }
        printf(", %.3f MiB\n", (double)seg->bytes / 1048576.0);
        print_tasks(c, plan, seg);
        print_windows(plan, seg);
    }
    bool labels = false;
    for (int s = 0; s < plan->program->n_steps; s++) {
        labels = labels || plan->program->steps[s].of_value >= 0;
    }
    printf("\npeak %.3f MiB, the same on every part", (double)plan->peak / 1048576.0);
    if (labels) {
        printf("; for more than %.0f labels parts become shorter", parts->labels);
    }
    putchar('\n');
}

/* ---- all of it ------------------------------------------------------------------------- */

static void print_whole(const ExecPlan *plan, IrOrder order, double pixels, const char *memory)
{
    print_buffers(plan, pixels);
    printf("\npeak   ");
    print_bytes(plan->peak, pixels);
    bool beside = plan->least < plan->peak;
    if (plan->peak == plan->load && beside) {
        puts("  minimal where kernels write beside what they read");
    } else if (plan->peak == plan->load) {
        puts(order == IR_ORDER_BEST ? "  minimal, and no order of steps has less in images at once"
                                    : "  minimal for this order of steps, the best of those looked at");
    } else {
        printf("  at most %.1f %% above the minimum\n", 100.0 * ((double)plan->peak / (double)plan->load - 1));
    }
    if (beside) {
        printf("least  ");
        print_bytes(plan->least, pixels);
        puts("  where they write onto images that die, as they do when memory is short");
    }
    if (memory != NULL) {
        printf("fits into %s in one piece\n", memory);
    }
}

/* "first.pipe on 20000x30000:u16: 2011.854 MiB at most, in parts, on a device that is not known" */
static void print_summary(const Compilation *c, const ExecPlan *plan, const char *shape, Device *dev)
{
    printf("%s on %s: %.3f MiB at most, %s, on %s\n", c->source.path, shape, (double)plan->peak / 1048576.0,
           plan->parts != NULL ? "in parts" : "in one piece", dev != NULL ? dev_info(dev)->name : "any device");
}

static int print_plan(Compilation *c, const char *shape, const char *memory, Device *dev)
{
    const Program *program = c->program;
    const ExecInput *inputs = take_shape(program, shape, &c->arena);
    ExecTarget target = exec_target(dev);
    target.limit = dev != NULL ? dev_limit(dev) : 0;
    ExecPlan *plan = NULL;
    Err err = {0};
    if (inputs == NULL) {
        return CODE_USAGE;
    }
    if (memory != NULL && !options_parse_size(memory, &target.limit)) {
        return usage_error("--memory %s: write a size such as 8GiB or 512MiB", memory);
    }
    if (!exec_plan_new(program, &target, inputs, default_params(program, &c->arena), &plan, &err)) {
        return complain(&err);
    }
    double pixels = 1;
    for (int ax = 0; ax < 4 && program->n_inputs > 0; ax++) {
        pixels *= (double)inputs[0].extent[ax];
    }
    print_summary(c, plan, shape, dev);
    print_steps(c, plan);
    if (plan->parts != NULL) {
        print_parts(c, plan);
    } else {
        print_whole(plan, c->schedule->order, pixels, memory);
    }
    exec_plan_free(plan);
    return CODE_OK;
}

int cmd_plan(int argc, char **argv)
{
    CompileOptions options;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    const char *path = NULL, *shape = "2048x2048:u16", *memory = NULL, *device = NULL;
    for (int i = 1; i < argc; i++) {
        if (take_value(argc, argv, &i, "--shape", &shape) || take_value(argc, argv, &i, "--memory", &memory) ||
            take_value(argc, argv, &i, "--device", &device)) {
            continue;
        }
        if (argv[i][0] != '-' && path != NULL) {
            return usage_error(
                "plan takes one pipeline, and of the images their shape: --shape 2048x2048:u16, not '%s'", argv[i]);
        }
        if (argv[i][0] == '-') {
            return usage_error("plan: '%s' is not known here, or lacks its value; pipec plan FILE.pipe --shape "
                               "20000x30000:u16 [--memory 8GiB] [--device cpu]",
                               argv[i]);
        }
        path = argv[i];
    }
    if (path == NULL) {
        return usage_error("which file? pipec plan FILE.pipe --shape 20000x30000:u16");
    }
    Compilation c;
    Device *dev = NULL;
    Err err = {0};
    if (device != NULL && !dev_open(&(DevOptions){.choice = device}, &dev, &err)) {
        return complain(&err);
    }
    if (dev != NULL && !options.planned_for) {
        options.measured = figures_of_device(device, &options.plan_for, options.tuned_for);
    }
    int code = CODE_USAGE;
    if (compile(&c, path, &options, STAGE_PROGRAM)) {
        code = print_plan(&c, shape, memory, dev);
    }
    compile_free(&c);
    dev_close(dev);
    return code;
}
