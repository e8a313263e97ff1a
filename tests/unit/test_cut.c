/*
 * Every operator in parts: the example that `pipec ops` shows, on planes and on volumes.  No step needs an
 * image whole, whatever the image is like, but Fourier transforms (docs/limits.md); and whatever the parts are, the bits
 * are the evaluator's.
 *
 * PIPEC_TEST_CASE=name tries one operator.  PIPEC_TEST_SWEEP=1 runs all of them on the device, which is long
 * for what it compiles; otherwise they are planned.
 */
#include "both.h"
#include "codegen/codegen.h"
#include "frontend/ops/ops.h"
#include "pipelines.h"
#include "runtime/exec/parts.h"
#include "turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* An example with its input as a volume; NULL where it makes one itself. */
static const char *as_volume(Arena *arena, const char *text)
{
    static const char PLANE[] = "input image[y, x]\n";
    if (strstr(text, "canvas(image, depth") != NULL) {
        return NULL;
    }
    const char *rest = strncmp(text, PLANE, sizeof PLANE - 1) == 0 ? text + sizeof PLANE - 1 : NULL;
    return rest != NULL ? arena_printf(arena, "input image[z, y, x]\n%s", rest) : NULL;
}

typedef void (*Try)(const Op *op, IrGraph *g, bool volume);

static void each_example(Try try)
{
    Arena table, arena;
    const char *only = getenv("PIPEC_TEST_CASE");
    arena_init(&table);
    const Ops *ops = ops_load(&table);
    int tried = 0;
    for (int i = 0; i < ops->n * 2; i++) {
        const Op *op = &ops->at[i / 2];
        const char *complaints = "", *text;
        Str example;
        arena_init(&arena);
        str_init(&example, &arena);
        ops_example(op, &example);
        text = i % 2 == 0 ? example.at : as_volume(&arena, example.at);
        IrGraph *g = text != NULL ? pipeline_graph(&arena, "example.pipe", text, &complaints) : NULL;
        if (g != NULL && g->outputs.n > 0 && (only == NULL || strcmp(only, op->name) == 0)) {
            try(op, g, i % 2 != 0);
            tried++;
        } else if (g == NULL && i % 2 == 0) {
            fail_msg("%s: %s", op->name, complaints);
        }
        arena_free(&arena);
    }
    assert_true(tried > ops->n || only != NULL);
    arena_free(&table);
}

static const Program *program_of(IrGraph *g)
{
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    return cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
}

/* ---- plans ----------------------------------------------------------------------------------- */

static int unexpected;

/* Every pixel of a transform is made of all pixels. */
static bool needs_all(const Op *op)
{
    static const char *const TRANSFORMS[] = {"fft",          "ifft",      "power_spectrum", "fftconvolve",
                                             "deconvolve",   "wiener",    "fourier",        "shift_of",
                                             "drift",        "stabilize", "butterworth",    "matching_kernel",
                                             "overlap_shift"};
    bool all = false;
    for (size_t i = 0; i < sizeof TRANSFORMS / sizeof *TRANSFORMS; i++) {
        all = all || strcmp(TRANSFORMS[i], op->name) == 0;
    }
    return all;
}

static void look_at_plan(const Op *op, IrGraph *g, bool volume)
{
    static int number;
    if (!turn_has(number++)) {
        return;
    }
    const Program *program = program_of(g);
    ExecTarget target = exec_target(NULL);
    ExecInput input = {.extent = {1000, 700, 1, 1}, .elem = ELEM_U8, .pixel_um = {0.5, 0.5, 1}};
    ExecPlan *plan = NULL;
    Err err = {0};
    double params[16] = {0};
    for (int i = 0; i < g->params.n && i < 16; i++) {
        params[i] = g->params.at[i].value;
    }
    input.extent[2] = volume ? 300 : 1;
    target.limit = (uint64_t)1 << 40;
    target.part_rows = volume ? 1 : 16;
    if (!exec_plan_new(program, &target, &input, params, &plan, &err)) {
        print_message("%-24s %s: %s\n", op->name, volume ? "3-D" : "2-D", err.text);
        unexpected++;
        return;
    }
    int whole = 0;
    for (int i = 0; i < plan->parts->n; i++) {
        const PartsSegment *seg = &plan->parts->segments[i];
        for (int k = 0; k < seg->n_windows; k++) {
            const PartsWindow *w = &seg->windows[k];
            if (w->whole && !parts_is_vector(plan, w->buffer)) {
                whole++;
            }
        }
    }
    if ((whole > 0) != needs_all(op)) {
        print_message("%-24s %s: %d images are whole\n", op->name, volume ? "3-D" : "2-D", whole);
        unexpected++;
    }
    exec_plan_free(plan);
}

static void only_transforms_need_an_image_whole(void **state)
{
    (void)state;
    each_example(look_at_plan);
    assert_int_equal(unexpected, 0);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static Device *dev;
static int differing;

static int has_input(const IrGraph *g)
{
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        if (ir_node(g, id)->op == IR_INPUT) {
            return 1;
        }
    }
    return 0;
}

static void run_in_parts(const Op *op, IrGraph *g, bool volume)
{
    static const struct {
        int rows;
        bool least;
    } RUNS[] = {{1, false}, {4, false}, {0, true}};
    const Program *program;
    BothCase in = {.n_inputs = has_input(g)};
    BothResult want = {0}, got = {0};
    Exec *exec = NULL;
    Err err = {0};
    ExecInput inputs[8];
    char why[400] = "";
    in.inputs[0] = both_image(volume ? 17 : 33, volume ? 11 : 29, volume ? 7 : 1, 1, ELEM_U8, 5, BOTH_SMOOTH);
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    if (!both_evaluate(g, &in, &want, &err)) {
        print_message("%s %s: not evaluated: %s\n", op->name, volume ? "3-D" : "2-D", err.text);
        free((void *)(uintptr_t)in.inputs[0].pixels);
        return;
    }
    program = program_of(g);
    assert_true(exec_new(program, dev, &exec, &err));
    for (size_t i = 0; i < sizeof RUNS / sizeof *RUNS; i++) {
        ExecTarget target = exec_target(dev);
        both_inputs(&in, inputs);
        in.part_rows = RUNS[i].rows;
        in.limit = RUNS[i].least ? exec_plan_least(program, &target, inputs, in.params) : 0;
        err_clear(&err);
        if (!both_execute(exec, program, &in, &got, &err) || !both_same(&want, &got, why, sizeof why)) {
            print_message("%s %s, parts of %d, limit %llu: %s%s\n", op->name, volume ? "3-D" : "2-D", in.part_rows,
                          (unsigned long long)in.limit, err.text, why);
            differing++;
        }
        both_free(&got);
    }
    exec_free(exec);
    both_free(&want);
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

static void operators_in_parts_give_the_evaluators_bits(void **state)
{
    (void)state;
    Err err = {0};
    const char *wanted = getenv("PIPEC_TEST_DEVICE");
    if (getenv("PIPEC_TEST_SWEEP") == NULL && getenv("PIPEC_TEST_CASE") == NULL) {
        skip();
    }
    const DevOptions options = {.choice = wanted != NULL ? wanted : "cpu", .flags = getenv("PIPEC_TEST_FLAGS")};
    assert_true(dev_open(&options, &dev, &err));
    each_example(run_in_parts);
    dev_close(dev);
    assert_int_equal(differing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_transforms_need_an_image_whole),
        cmocka_unit_test(operators_in_parts_give_the_evaluators_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
