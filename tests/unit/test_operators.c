/*
 * operators: the graph of an operator, evaluated, against what numpy, scipy and scikit-image give
 * (tests/data/operators.txt, sweeps.txt, features.txt, objects.txt and measures.txt, made by the scripts beside them); the programs of
 * operators.txt and measures.txt on a device against the evaluator, bit for bit, and their kernels against
 * clang; and that examples run.
 *
 * PIPEC_TEST_FILTER=name runs one of the tests, PIPEC_TEST_CASE=name one case.
 */
#include "base/file.h"
#include "codegen/codegen.h"
#include "frontend/ops/ops.h"
#include "reference/eval.h"
#include "runtime/exec/exec_plan.h"
#include "tests/support/both.h"
#include "tests/support/pipelines.h"
#include "tests/support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct Case {
    char name[80], pattern[16], type[8];
    double tolerance;
    int extent[3], ndim; /* z, y, x */
    Str text;
    int shape[4], shape_n;
    double *want;
    int n;
} Case;

static Arena arena;

/* The pixel of a type that stands for p of u8, as in cases.py. */
static double level(const Case *c, double p)
{
    return strcmp(c->type, "u8") == 0 ? p : strcmp(c->type, "u16") == 0 ? p * 200 + 7 : p / 8 - 5;
}

/* A small deviation from a large mean. */
static double high(const Case *c, double p)
{
    return strcmp(c->type, "f32") == 0 ? p / 16 + 10000 : fmod(p, 4) + (strcmp(c->type, "u8") == 0 ? 250 : 60000);
}

/* The same pixels as in cases.py. */
static double *pixels(const Case *c)
{
    int n = c->extent[0] * c->extent[1] * c->extent[2];
    bool even = strcmp(c->pattern, "even") == 0, special = strcmp(c->pattern, "special") == 0;
    double *out = arena_array(&arena, double, n);
    int64_t state = 12345;
    for (int i = 0; i < n; i++) {
        state = (state * 1103515245 + 12345) % 2147483648LL;
        const int at[3] = {i / (c->extent[2] * c->extent[1]), i / c->extent[2] % c->extent[1], i % c->extent[2]};
        out[i] = (double)(state / 65536 % 64);
        for (int axis = 0; axis < c->ndim; axis++) {
            out[i] += at[3 - c->ndim + axis] * (axis + 3) / 4 % 5 * 16;
        }
        out[i] = strcmp(c->pattern, "high") == 0 ? high(c, out[i]) : level(c, even ? 42 : out[i]);
        if (special) {
            out[i] = i % 17 == 7 ? -INFINITY : i % 13 == 5 ? INFINITY : i % 11 == 3 ? NAN : out[i];
        }
    }
    return out;
}

static const char *line_end(const char *p)
{
    const char *end = strchr(p, '\n');
    assert_non_null(end);
    return end + 1;
}

static void read_head(const char *line, Case *c)
{
    int extent[3], used = 0;
    assert_int_equal(sscanf(line, "case %79s %lf %15s %7s %n", c->name, &c->tolerance, c->pattern, c->type, &used), 4);
    c->ndim = sscanf(line + used, "%d %d %d", &extent[0], &extent[1], &extent[2]);
    for (int i = 0; i < 3; i++) {
        c->extent[i] = i < 3 - c->ndim ? 1 : extent[i - (3 - c->ndim)];
    }
}

/* Reads one case from *p and moves it on; false at the end. */
static bool read_case(const char **p, Case *c)
{
    if (strncmp(*p, "case ", 5) != 0) {
        return false;
    }
    /* sscanf must not run on to the next line. */
    const char *end = line_end(*p);
    read_head(arena_strndup(&arena, *p, (size_t)(end - *p)), c);
    *p = end;
    str_init(&c->text, &arena);
    str_addf(&c->text, "input image[%sy, x]\n", c->ndim == 3 ? "z, " : "");
    for (; **p == '|'; *p = line_end(*p)) {
        str_addn(&c->text, *p + 2, (size_t)(line_end(*p) - *p - 2));
    }
    assert_int_equal(**p, '=');
    char *number = (char *)(uintptr_t)(*p + 1);
    c->n = 1;
    for (c->shape_n = 0; *number != '\n'; c->shape_n++) {
        c->shape[c->shape_n] = (int)strtol(number, &number, 10);
        c->n *= c->shape[c->shape_n];
    }
    c->want = arena_array(&arena, double, c->n);
    for (int i = 0; i < c->n; i++) {
        c->want[i] = strtod(number, &number);
    }
    *p = line_end(number);
    return true;
}

static IrGraph *elaborate_text(const char *name, const char *text)
{
    const char *complaints;
    IrGraph *g = pipeline_graph(&arena, "case.pipe", text, &complaints);
    if (g == NULL) {
        print_error("%s\n%s", name, complaints);
    }
    return g;
}

static IrGraph *elaborate(const Case *c)
{
    return elaborate_text(c->name, c->text.at);
}

static bool agrees(const Case *c, const IrEvalNode *got)
{
    const int *e = got->extent;
    int n = e[0] * e[1] * e[2] * e[3];
    if (n != c->n || e[0] != c->shape[c->shape_n - 1]) {
        print_error("%s has %d x %d x %d x %d pixels, not %d\n", c->name, e[0], e[1], e[2], e[3], c->n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        double apart = fabs(got->pixels[i] - c->want[i]);
        bool same = got->pixels[i] == c->want[i] || (isnan(got->pixels[i]) && isnan(c->want[i]));
        if (!same && !(apart <= c->tolerance * (1 + fabs(c->want[i])))) {
            print_error("%s at %d: %.9g, not %.9g\n", c->name, i, got->pixels[i], c->want[i]);
            return false;
        }
    }
    return true;
}

static bool check(const Case *c)
{
    IrGraph *g = elaborate(c);
    if (g == NULL) {
        return false;
    }
    const IrEvalInput input = {
        .extent = {c->extent[2], c->extent[1], c->extent[0], 1},
        .elem = elem_from_name(c->type),
        .pixelsize = {0.5, 0.5, 1.25},
        .pixels = pixels(c),
    };
    double params[8] = {0};
    for (int i = 0; i < g->params.n; i++) {
        params[i] = g->params.at[i].value;
    }
    IrEval *ev;
    Err err = {0};
    bool fine = ir_eval(g, &input, params, &ev, &err);
    if (!fine) {
        print_error("%s: %s\n", c->name, err.text);
    } else {
        fine = agrees(c, ir_eval_node(ev, g->outputs.at[0].node));
    }
    ir_eval_free(ev);
    return fine;
}

/* Every example of `pipec ops` runs and gives something. */
static bool example_runs(const Op *op)
{
    Str text;
    str_init(&text, &arena);
    ops_example(op, &text);
    const IrGraph *g = elaborate_text(op->name, text.at);
    if (g == NULL || g->outputs.n == 0) {
        return false;
    }
    Case shape = {.type = "u8", .pattern = "plain", .extent = {1, 23, 31}, .ndim = 2};
    const IrEvalInput input = {.extent = {31, 23, 1, 1},
                               .elem = ELEM_U8,
                               .pixelsize = {0.5, 0.5, 2},
                               .pixels = pixels(&shape)};
    IrEval *ev;
    Err err = {0};
    bool fine = ir_eval(g, &input, NULL, &ev, &err);
    for (int i = 0; fine && i < g->outputs.n; i++) {
        IrId node = g->outputs.at[i].node;
        const IrEvalNode *got = node != 0 ? ir_eval_node(ev, node) : NULL;
        fine = got == NULL || got->pixels != NULL || got->rows > 0;
    }
    if (!fine) {
        print_error("%s: its example fails: %s\n", op->name, err.text);
    }
    ir_eval_free(ev);
    return fine;
}

static void examples_run(void **state)
{
    (void)state;
    Arena table;
    arena_init(&table);
    const Ops *ops = ops_load(&table);
    int wrong = 0;
    for (int i = 0; i < ops->n; i++) {
        arena_init(&arena);
        wrong += !example_runs(&ops->at[i]);
        arena_free(&arena);
    }
    arena_free(&table);
    assert_int_equal(wrong, 0);
}

static Device *dev;
static int part_rows;

/* The device's pixels are the evaluator's. */
static bool check_on_device(const Case *c)
{
    IrGraph *g = elaborate(c);
    if (g == NULL) {
        return false;
    }
    BothCase in = {.n_inputs = 1, .part_rows = part_rows};
    in.inputs[0] = (IrEvalInput){
        .extent = {c->extent[2], c->extent[1], c->extent[0], 1},
        .elem = elem_from_name(c->type),
        .pixelsize = {0.5, 0.5, 1.25},
        .pixels = pixels(c),
    };
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    bool fine = both_run(g, &cx, &in, dev, why, sizeof why);
    if (!fine) {
        print_error("%s: %s\n", c->name, why);
    }
    return fine;
}

static void check_all(const char *path, bool (*one)(const Case *), bool in_turn)
{
    char *text;
    size_t size;
    Err err = {0};
    assert_true(file_read(path, &text, &size, &err));
    const char *only = getenv("PIPEC_TEST_CASE");
    int wrong = 0, n = 0;
    for (const char *p = text; *p != '\0'; n++) {
        Case c = {.n = 0};
        arena_init(&arena);
        assert_true(read_case(&p, &c));
        bool wanted = only != NULL ? strcmp(only, c.name) == 0 : !in_turn || turn_has(n);
        wrong += wanted && !one(&c);
        arena_free(&arena);
    }
    free(text);
    assert_int_equal(wrong, 0);
    assert_true(n > 15);
}

static void operators_agree_with_scipy_and_scikit_image(void **state)
{
    (void)state;
    check_all(TEST_DATA "/operators.txt", check, false);
}

static void all_images_borders_and_types_agree(void **state)
{
    (void)state;
    check_all(TEST_DATA "/sweeps.txt", check, false);
}

static void colours_vessels_textures_and_more_agree(void **state)
{
    (void)state;
    check_all(TEST_DATA "/features.txt", check, true);
}

static void stars_and_the_sky_agree_with_photutils(void **state)
{
    (void)state;
    check_all(TEST_DATA "/astronomy.txt", check, true);
}

static void ways_and_shapes_agree(void **state)
{
    (void)state;
    check_all(TEST_DATA "/geometry.txt", check, false);
}

static void textures_of_objects_agree_with_cp_measure(void **state)
{
    (void)state;
    check_all(TEST_DATA "/objects.txt", check, true);
}

static void forests_and_measures_agree(void **state)
{
    (void)state;
    check_all(TEST_DATA "/measures.txt", check, false);
}

static void devices_agree_with_the_evaluator(void **state)
{
    (void)state;
    Err err = {0};
    const char *wanted = getenv("PIPEC_TEST_DEVICE");
    DevOptions options = {.choice = wanted != NULL ? wanted : "cpu", .flags = getenv("PIPEC_TEST_FLAGS"), .cache = ""};
    assert_true(dev_open(&options, &dev, &err));
    check_all(TEST_DATA "/operators.txt", check_on_device, true);
    check_all(TEST_DATA "/measures.txt", check_on_device, true);
    dev_close(dev);
}

static void so_do_devices_that_see_a_part_at_a_time(void **state)
{
    part_rows = 3;
    devices_agree_with_the_evaluator(state);
}
/* ---- the kernels' text ------------------------------------------------------------------- */

static ExecInput input_of(const IrNode *node)
{
    ExecInput input = {.extent = {1, 1, 1, 1}, .elem = ELEM_U8, .pixel_um = {1, 1, 1}};
    for (const char *axis = node->text; *axis != '\0'; axis++) {
        input.extent[strchr("xyzc", *axis) - "xyzc"] = *axis == 'c' ? 3 : 40;
    }
    return input;
}

/* What clang says about a kernel that the compiler itself does not mind. */
static bool is_tidy(const ExecPlan *plan, const ExecTarget *target, int kernel, bool reader)
{
    char *text, command[200] = "clang -x cl -cl-std=CL1.2 -fsyntax-only -Xclang "
                               "-fdeclare-opencl-builtins -Xclang -finclude-default-header "
                               "-Wall -Wno-unused-function -Werror ";
    Err err = {0};
    if (!exec_plan_text(plan, target, kernel, reader, &text, &err)) {
        fail_msg("%s", err.text);
    }
    strcat(command, reader ? "-" : "-Wunused-parameter -");
    FILE *clang = popen(command, "w");
    assert_non_null(clang);
    assert_true(fputs(text, clang) >= 0);
    free(text);
    return pclose(clang) == 0;
}

static bool kernels_are_tidy(IrGraph *g)
{
    ExecInput inputs[8];
    double params[8] = {0};
    int n = 0;
    for (IrId i = 1; i < (IrId)g->nodes.n; i++) {
        if (ir_node(g, i)->op == IR_INPUT) {
            inputs[n++] = input_of(ir_node(g, i));
        }
    }
    for (int i = 0; i < g->params.n; i++) {
        params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = FUSE_ALL};
    const IrSchedule *schedule = pass_run_all(g, &cx);
    const Program *program = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
    const ExecTarget target = exec_target(NULL);
    ExecPlan *plan;
    Err err = {0};
    assert_true(exec_plan_new(program, &target, inputs, params, &plan, &err));
    bool fine = true;
    for (int i = 0; i < program->n_steps; i++) {
        const ProgStep *step = &program->steps[i];
        bool reader = step->kind == STEP_PRIMITIVE;
        if ((reader || step->kind == STEP_LAUNCH) && step->kernel >= 0) {
            fine = is_tidy(plan, &target, step->kernel, reader) && fine;
        }
    }
    exec_plan_free(plan);
    return fine;
}

static bool check_tidy(const Case *c)
{
    IrGraph *g = elaborate(c);
    bool fine = g != NULL && kernels_are_tidy(g);
    if (!fine) {
        print_error("%s: its kernels are not tidy\n", c->name);
    }
    return fine;
}

static void check_samples(void)
{
    glob_t samples;
    assert_int_equal(glob(TEST_ROOT "/samples/*.pipe", 0, NULL, &samples), 0);
    for (size_t i = 0; i < samples.gl_pathc; i++) {
        char *text;
        const char *complaints;
        size_t size;
        Err err = {0};
        arena_init(&arena);
        assert_true(file_read(samples.gl_pathv[i], &text, &size, &err));
        IrGraph *g = pipeline_graph(&arena, samples.gl_pathv[i], text, &complaints);
        assert_non_null(g);
        assert_true(kernels_are_tidy(g));
        arena_free(&arena);
        free(text);
    }
    globfree(&samples);
}

/* No kernel declares what it does not use, and clang has nothing else to say about them. */
static void kernels_are_without_warnings(void **state)
{
    (void)state;
    if (system("clang --version >/dev/null 2>&1") != 0) {
        skip();
    }
    check_samples();
    check_all(TEST_DATA "/operators.txt", check_tidy, true);
    check_all(TEST_DATA "/measures.txt", check_tidy, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_agree_with_scipy_and_scikit_image),
        cmocka_unit_test(all_images_borders_and_types_agree),
        cmocka_unit_test(colours_vessels_textures_and_more_agree),
        cmocka_unit_test(stars_and_the_sky_agree_with_photutils),
        cmocka_unit_test(ways_and_shapes_agree),
        cmocka_unit_test(textures_of_objects_agree_with_cp_measure),
        cmocka_unit_test(forests_and_measures_agree),
        cmocka_unit_test(examples_run),
        cmocka_unit_test(devices_agree_with_the_evaluator),
        cmocka_unit_test(kernels_are_without_warnings),
        cmocka_unit_test(so_do_devices_that_see_a_part_at_a_time),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
