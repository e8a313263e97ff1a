/* Whole pipelines, each for one thing that once went wrong, on a device and by the evaluator. */
#include "fixtures.h"
#include "codegen/codegen.h"
#include "passes/figures.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"
#include "tests/support/turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The device gives what the evaluator gives, for an image with three channels. */
static void check_as(const char *text, const DeviceFigures *figures, int shape)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    BothCase in = {.n_inputs = 1, .shape = shape};
    bool channels = g->grids.at[ir_node(g, 1)->grid].has[IR_AX_C];
    in.inputs[0] = both_image(37, 21, 1, channels ? 3 : 1, ELEM_U8, 3, 0);
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true, .figures = figures};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%s\n%s", text, why);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

static void check_for(const char *text, const DeviceFigures *figures)
{
    check_as(text, figures, SHAPE_BY_DEVICE);
}

/* Pixels so far away that no kernel could hold those between. */
static void pixels_far_away_are_read(void **state)
{
    (void)state;
    check_for("input image[y, x]\noutput a = image[dx = 70000] + image[dx = -70001, border = wrap]\n"
              "output b = image[dy = 70000, dx = -80000, border = mirror]\n",
              NULL);
}

/* What primitives will ask for is compiled with the kernels, by several threads; nothing is left to be
 * compiled while the program runs. */
static void programs_are_known_beforehand(void **state)
{
    (void)state;
    turn_or_skip(2);
    static const char *const TEXTS[] =
        {"input image[y, x]\nb = gaussian(image, 1)\nl = label(b > otsu(b))\noutput l\n"
         "output t = measure(l, image, area, centroid, mean, max, perimeter)\n",
         "input image[y, x]\noutput a = median(image)\noutput b = std(image)\n"
         "output c = filter_by_size(label(image > 100), 3, 500)\n",
         "input image[y, x]\nl = label(image > 100)\ns = label_sum(l, image)\noutput p = image / s[l]\n",
         "input image[y, x]\nl = label(image > 100)\n"
         "output t = measure(l, sqrt(image), mean, median, center_of_mass, feret_diameter_max)\n",
         "input image[y, x]\nl = label(image > 100)\noutput c = label2rgb(l)\n"
         "output t = measure(l, image, solidity, orientation, area_filled, moments_weighted_hu, std)\n",
         "input image[y, x]\noutput a = mean(image) + percentile(image, 20)\noutput d = distance(image > 90)\n"
         "output e = expand_labels(label(image > 100), 5)\noutput h = otsu(image / 3)\n"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        IrGraph *g = pipeline_must("test.pipe", TEXTS[i]);
        PassContext cx = {.fuse = FUSE_ALL};
        const IrSchedule *schedule = pass_run_all(g, &cx);
        const Program *p = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
        BothCase in = {.n_inputs = 1};
        in.inputs[0] = both_image(70, 50, 1, 1, ELEM_U8, 3, BOTH_SMOOTH);
        ExecInput inputs[1];
        both_inputs(&in, inputs);
        DevOptions options = {.cache = "", .choice = dev_info(device)->name};
        Device *fresh;
        Exec *exec = NULL;
        Err err = {0};
        BothResult result;
        if (!dev_open(&options, &fresh, &err) || !exec_new(p, fresh, &exec, &err)) {
            fail_msg("%s", err.text);
        }
        exec_set_compilers(exec, 3);
        assert_true(exec_bind(exec, inputs, in.params, &err));
        uint64_t builds = dev_builds(fresh);
        assert_true(both_execute(exec, p, &in, &result, &err));
        if (dev_builds(fresh) != builds) {
            fail_msg("%s\n%d programs were not known before the run", TEXTS[i], (int)(dev_builds(fresh) - builds));
        }
        both_free(&result);
        exec_free(exec);
        dev_close(fresh);
        free((void *)(uintptr_t)in.inputs[0].pixels);
    }
}

/* Pipelines that only have to give the evaluator's bits are tried in turn. */
static void check(const char *text)
{
    static int number;
    if (turn_has(number++)) {
        check_for(text, NULL);
    }
}

static Device *open_fresh(void)
{
    const DevOptions options = {.cache = "", .choice = dev_info(device)->name};
    Device *fresh = NULL;
    Err err = {0};
    if (!dev_open(&options, &fresh, &err)) {
        fail_msg("%s", err.text);
    }
    return fresh;
}

/* How many programs had to be compiled; *result owned by the caller (both_free). */
static uint64_t run_fresh(const Program *p, const BothCase *in, BothResult *result)
{
    ExecInput inputs[1];
    Device *fresh = open_fresh();
    Exec *exec = NULL;
    Err err = {0};
    both_inputs(in, inputs);
    if (!exec_new(p, fresh, &exec, &err) || !exec_bind(exec, inputs, in->params, &err) ||
        !both_execute(exec, p, in, result, &err)) {
        fail_msg("%s", err.text);
    }
    uint64_t builds = dev_builds(fresh);
    exec_free(exec);
    dev_close(fresh);
    return builds;
}

/* How many programs a device that has compiled others compiles for a text. */
static uint64_t builds_more(Device *dev, const char *text)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    PassContext cx = {.fuse = FUSE_ALL};
    const IrSchedule *schedule = pass_run_all(g, &cx);
    const Program *p = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
    BothCase in = {.n_inputs = 1};
    in.inputs[0] = both_image(70, 50, 1, 1, ELEM_U8, 3, BOTH_SMOOTH);
    uint64_t builds = dev_builds(dev);
    ExecInput inputs[1];
    Exec *exec = NULL;
    Err err = {0};
    BothResult result;
    both_inputs(&in, inputs);
    if (!exec_new(p, dev, &exec, &err) || !exec_bind(exec, inputs, in.params, &err) ||
        !both_execute(exec, p, &in, &result, &err)) {
        fail_msg("%s\n%s", text, err.text);
    }
    both_free(&result);
    exec_free(exec);
    free((void *)(uintptr_t)in.inputs[0].pixels);
    return dev_builds(dev) - builds;
}

/* A primitive's kernels that read nothing computed are compiled once, whatever other pipelines read. */
static void what_reads_nothing_is_compiled_once(void **state)
{
    (void)state;
    static const char *const PRIMITIVES[] = {
        "mean(image %s)",
        "percentile(image %s, 20)",
        "otsu(image %s)",
        "label(image %s > 90)",
        "distance(image %s > 90)",
        "label2rgb(as_labels(u32(image %s) // 40))",
        "relabel(as_labels(u32(image %s) // 40))",
    };
    for (size_t i = 0; i < sizeof PRIMITIVES / sizeof *PRIMITIVES; i++) {
        char text[200];
        Device *fresh = open_fresh();
        uint64_t builds[2];
        for (int k = 0; k < 2; k++) {
            int length = snprintf(text, sizeof text, "input image[y, x]\noutput o = ");
            snprintf(text + length, sizeof text - (size_t)length, PRIMITIVES[i], k == 0 ? "+ 3" : "* 2");
            builds[k] = builds_more(fresh, text);
        }
        if (builds[0] < 2 || builds[1] >= builds[0]) {
            fail_msg("%s\ncompiles %d programs, where another one has compiled %d", text, (int)builds[1],
                     (int)builds[0]);
        }
        dev_close(fresh);
    }
}

/* A program that brings binaries along compiles nothing where they fit, and everything where they do not. */
static void binaries_stand_in_for_compiling(void **state)
{
    (void)state;
    turn_or_skip(3);
    enum { MOST = 16 };
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x]\nb = gaussian(image, 1)\noutput m = mean(b)\n"
                                            "output l = label(b > otsu(b))\n");
    PassContext cx = {.fuse = FUSE_ALL};
    const IrSchedule *schedule = pass_run_all(g, &cx);
    Program p = *cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
    BothCase in = {.n_inputs = 1};
    in.inputs[0] = both_image(70, 50, 1, 1, ELEM_U8, 3, BOTH_SMOOTH);
    ExecInput inputs[1];
    both_inputs(&in, inputs);
    Device *maker = open_fresh();
    Exec *exec = NULL;
    Err err = {0};
    assert_true(exec_new(&p, maker, &exec, &err));
    exec_set_compilers(exec, 2);
    exec_set_images(exec, 1 << 20); /* optimised, which a run of one image alone is not */
    assert_true(exec_bind(exec, inputs, in.params, &err));
    char keys[MOST][DIGEST_TEXT];
    void *bytes[MOST];
    ProgBinary binaries[MOST];
    int n = 0;
    while (n < MOST && dev_binary(maker, n, keys[n], &bytes[n], &binaries[n].size)) {
        binaries[n].key = keys[n];
        binaries[n].bytes = bytes[n];
        n++;
    }
    exec_free(exec);
    dev_close(maker);
    assert_true(n > 3 && n < MOST);
    BothResult plain, with;
    uint64_t all = run_fresh(&p, &in, &plain);
    p.binaries = binaries;
    p.n_binaries = n;
    assert_int_equal(run_fresh(&p, &in, &with), all - (uint64_t)n);
    char why[400];
    assert_true(both_same(&plain, &with, why, sizeof why));
    both_free(&with);
    for (int i = 0; i < n; i++) {
        memset(bytes[i], 0, binaries[i].size);
    }
    assert_int_equal(run_fresh(&p, &in, &with), all);
    assert_true(both_same(&plain, &with, why, sizeof why));
    both_free(&with);
    both_free(&plain);
    for (int i = 0; i < n; i++) {
        free(bytes[i]);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

/* A loop ends with the round after which the watched value has kept still, or by counting, whatever else still
 * changes, and whether the host waits for rounds or has enqueued one too many. */
static void loops_end_where_they_should(void **state)
{
    (void)state;
    turn_or_skip(0);
    static const char *const LOOPS[] =
        {"repeat until count(image where image > lo) is stable, at most %d {\n"
         "  lo = mean(image where image > lo)\n}\n",
         /* The largest keeps still at once; the rest does not. */
         "repeat until max(image where image > lo) is stable, at most %d {\n"
         "  lo = lo + median(image where image > lo) / 9\n  n = n + 1\n}\n",
         "repeat 2 {\n  repeat until max(image where image > lo) is stable, at most %d {\n"
         "    lo = lo + std(image where image > lo) / 9\n  }\n  n = n + lo\n}\n",
         "repeat until floor(n / 3) is stable, at most %d {\n  m = 0\n"
         "  repeat until max(image where image > lo + m) is stable, at most 4 { m = m + 1 }\n"
         "  lo = lo + m\n  n = n + 1\n}\n",
         /* What is carried is an image, in a kernel of its own, in a reduced one, and two that change places. */
         "v = image > 200\nrepeat until count(v) is stable, at most %d {\n"
         "  v = dilate(v, 1) and image > 60\n  n = n + 1\n}\nlo = lo + sum(image where v)\n",
         "v = f32(image)\nrepeat until max(v where v > 9) is stable, at most %d {\n"
         "  v = gaussian(v, 1)\n  v = v * (max(image) - lo) / max(v)\n}\nn = sum(v) + median(v)\n",
         "v = image > 128\nu = not v\nrepeat until count(u) is stable, at most %d {\n"
         "  w = v\n  v = u\n  u = erode(w, 1)\n  n = n + 1\n}\nlo = count(v) + 1000 * count(u)\n",
         /* Labelling waits for the host. */
         "repeat until count(label(image > lo)) is stable, at most %d {\n  lo = lo + 40\n  n = n + 1\n}\n",
         "s = kappa_sigma(image, 2)\nlo = s.mean + li(f32(image)) * %d\nn = s.count\n"};
    static const int MOST[] = {1, 2, 3, 9};
    for (size_t i = 0; i < sizeof LOOPS / sizeof *LOOPS; i++) {
        for (size_t k = 0; k < sizeof MOST / sizeof *MOST; k++) {
            char loop[300], text[600];
            snprintf(loop, sizeof loop, LOOPS[i], MOST[k]);
            snprintf(text, sizeof text,
                     "input image[y, x]\nlo = min(image)\nn = 0 * lo\n%soutput a = lo\noutput b = n\n"
                     "output c = image > lo + n\noutput d = max(image where image < lo)\n",
                     loop);
            check_as(text, NULL, SHAPE_CPU);
            check_as(text, NULL, SHAPE_GPU);
        }
    }
}

static int count_steps(const char *text, const DeviceFigures *figures)
{
    PassContext cx = {.fuse = FUSE_ALL, .figures = figures};
    IrGraph *g = pipeline_must("test.pipe", text);
    return pass_run_all(g, &cx)->steps.n;
}

/* Where moving bytes costs little, what takes long is stored; where it costs much, it is done again. */
static void plans_for_other_devices_give_the_same(void **state)
{
    (void)state;
    static const DeviceFigures SLOW = {"slow", 1000, 100, 1000, 5, false}, FAST = {"fast", 100, 10000, 1000, 5, false};
    static const char TEXT[] = "input image[y, x]\na = sqrt(image) * 2 + sqrt(image + 1) / 3\n"
                               "output s = sum(a)\noutput b = max(a)\noutput c = a[dx = 1] + mean(a)\n";
    assert_true(count_steps(TEXT, &SLOW) > count_steps(TEXT, &FAST));
    assert_int_equal(figures_repeated_ops(figures_known(NULL)), 24);
    assert_ptr_equal(figures_known("an nvidia h200 of 2025"), figures_known(NULL));
    assert_null(figures_known("abacus"));
    check_for(TEXT, &SLOW);
    check_for(TEXT, &FAST);
}

static bool takes_one_channel(const char *text)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    PassContext cx = {.fuse = FUSE_ALL};
    const IrSchedule *schedule = pass_run_all(g, &cx);
    const Program *p = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
    return p->inputs[0].channel >= 0;
}

static void only_the_channel_that_is_read_is_stored(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool one;
    } CASES[] = {
        {"input image[y, x, c]\noutput a = gaussian(image[c = 2], 1)\n", true},
        {"input image[y, x, c]\nparam k = 1 in 0 .. 2\n"
         "output a = image[c = k] / max(image[c = k]) + channels(image)\n",
         true},
        {"input image[y, x, c]\ng = image[c = 1]\noutput v = label2rgb(label(g > otsu(g))) + g\n", true},
        {"input image[y, x, c]\noutput a = image[c = 0] - image[c = 1]\n", false},
        {"input image[y, x, c]\noutput a = image - mean(image[c = 1])\n", false},
        {"input image[y, x, c]\noutput image\noutput a = image[c = 1] + 1\n", false},
        {"input image[y, x, c]\noutput s = sum(image[c = i] for i in 0 .. 2)\n", false},
        {"input image[y, x]\noutput a = image + 1\n", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        if (takes_one_channel(CASES[i].text) != CASES[i].one) {
            fail_msg("%s\n%s channel is stored", CASES[i].text, CASES[i].one ? "not only one" : "only one");
        }
        check(CASES[i].text);
    }
}

/* A blur weighs rows and columns with one table; two blurs have two. */
static void equal_tables_are_one(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x]\nparam s = 2\noutput a = gaussian(image, 5)\n"
                                            "output b = gaussian(image, s)\n");
    PassContext cx = {.fuse = FUSE_ALL};
    const IrSchedule *schedule = pass_run_all(g, &cx);
    const Program *p = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
    int tables = 0;
    for (int i = 0; i < p->n_kernels; i++) {
        for (int d = 0; d < p->kernels[i].n_defines; d++) {
            tables += p->kernels[i].defines[d].kind == DEF_BLEND;
        }
    }
    assert_int_equal(tables, 2);
}

/* Areas and lengths in units of the spacing (both_image has pixels of half a micrometre). */
static void measures_know_the_spacing(void **state)
{
    (void)state;
    static const char *const COLUMNS = "area, perimeter, centroid, feret_diameter_max, mean";
    const char *head = "input image[y, x]\nlabels = label(image > 120)\n";
    const char *text = arena_printf(&arena,
                                    "%soutput a = measure(labels, image, %s)\n"
                                    "output b = measure(labels, image, %s, spacing = [pixel_size(y), pixel_size(x)])\n"
                                    "output c = measure(labels, image, %s, spacing = 0.5)\n"
                                    "output d = measure(labels, spacing = [1, 3], area)\n",
                                    head, COLUMNS, COLUMNS, COLUMNS);
    check(text);
    IrGraph *g = pipeline_must("test.pipe", text);
    IrEvalInput image = both_image(37, 21, 1, 1, ELEM_U8, 3, 1);
    IrEval *ev;
    Err err = {0};
    assert_true(ir_eval(g, &image, NULL, &ev, &err));
    const IrEvalNode *t[4];
    for (int i = 0; i < 4; i++) {
        t[i] = ir_eval_node(ev, g->outputs.at[i].node);
    }
    int64_t rows = t[0]->rows;
    assert_true(rows > 1);
    static const double FACTOR[] = {1, 0.25, 0.5, 0.5, 0.5, 0.5, 1}; /* label, area, lengths, mean */
    for (int64_t i = 0; i < rows * t[0]->columns; i++) {
        assert_true(t[1]->table[i] == t[0]->table[i] * FACTOR[i / rows]);
        assert_true(t[2]->table[i] == t[1]->table[i]);
    }
    for (int64_t i = 0; i < rows; i++) {
        assert_true(t[3]->table[rows + i] == 3 * t[0]->table[rows + i]);
    }
    ir_eval_free(ev);
    free((void *)(uintptr_t)image.pixels);
}

/* More columns than a byte counts, as all moments of a volume have: the last ones are those of a table of
 * their own. */
static void tables_may_be_wide(void **state)
{
    (void)state;
    IrGraph *g =
        pipeline_must("test.pipe", "input image[z, y, x]\nlabels = label(image > 120)\n"
                                   "output a = measure(labels, image, moments, moments_central, moments_normalized, "
                                   "moments_weighted, moments_weighted_central, area, mean)\n"
                                   "output b = measure(labels, image, area, mean)\n");
    IrEvalInput image = both_image(9, 8, 7, 1, ELEM_U8, 3, 1);
    IrEval *ev;
    Err err = {0};
    assert_true(ir_eval(g, &image, NULL, &ev, &err));
    const IrEvalNode *wide = ir_eval_node(ev, g->outputs.at[0].node);
    const IrEvalNode *own = ir_eval_node(ev, g->outputs.at[1].node);
    assert_int_equal(wide->columns, 1 + 5 * 64 + 2);
    assert_true(wide->rows > 0 && wide->rows == own->rows);
    const double *last = wide->table + (wide->columns - 2) * wide->rows;
    for (int64_t i = 0; i < 2 * own->rows; i++) {
        assert_true(last[i] == own->table[own->rows + i]);
    }
    ir_eval_free(ev);
    free((void *)(uintptr_t)image.pixels);
}

/* Not the largest number that a file has. */
static void objects_are_counted(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input cells[y, x] : labels\noutput n = count(cells)\n");
    static const double PIXELS[] = {0, 7, 7, 300, 0, 3};
    IrEvalInput cells = {.extent = {3, 2, 1, 1}, .elem = ELEM_U16, .pixels = PIXELS};
    IrEval *ev;
    Err err = {0};
    assert_true(ir_eval(g, &cells, NULL, &ev, &err));
    assert_true(ir_eval_uniform(ev, g->outputs.at[0].value) == 3);
    ir_eval_free(ev);
    check("input cells[y, x] : labels\noutput n = count(cells)\n");
}

/* Labels of large numbers do not become one. */
static void combined_labels_stay_apart(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input cells[y, x] : labels\ninput more[y, x] : labels\n"
                                            "output n = count(combine_labels(cells, more))\n");
    static const double PIXELS[] = {0, 100000001, 100000002, 4294967295, 0, 0},
                        MORE[] = {0, 0, 0, 4294967295, 100000002, 100000003};
    const IrEvalInput inputs[] = {{.extent = {3, 2, 1, 1}, .elem = ELEM_U32, .pixels = PIXELS},
                                  {.extent = {3, 2, 1, 1}, .elem = ELEM_U32, .pixels = MORE}};
    IrEval *ev;
    Err err = {0};
    assert_true(ir_eval(g, inputs, NULL, &ev, &err));
    assert_true(ir_eval_uniform(ev, g->outputs.at[0].value) == 5);
    ir_eval_free(ev);
}

/* A table that is only there for one of its columns, again in every round. */
static void columns_of_tables_are_pixels(void **state)
{
    (void)state;
    check("input image[y, x]\nlabels = label(image > 120)\nv = image\n"
          "repeat 3 { v = v + property(labels, area)[labels] }\n"
          "output v\noutput w = property(labels, image, mean)[labels]\n");
}

/* Twelve arguments and what the function takes from around it. */
/* Labels of a file may have any numbers: those that a bitmap of all pixels holds, others, and both.  One in
 * `often` is not that of the pixel `step` before. */
static void fill_labels(double *at, int n, int step, unsigned often, uint32_t most, unsigned seed)
{
    unsigned state = seed;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        bool same = i >= step && (state >> 8) % often != 0;
        at[i] = same ? at[i - step] : state >> 28 == 0 ? 0 : (double)((state * 2654435761u) % most + 1);
    }
    at[n - 1] = most;
}

static void labels_of_any_numbers_are_coloured(void **state)
{
    (void)state;
    turn_or_skip(1);
    static const char *const TEXTS[] = {
        "input cells[y, x] : labels\noutput p = label2rgb(cells)\n",
        "input cells[y, x] : labels\noutput p = label2rgb(cells, number(cells) % 256, 0.4)\n",
        "input cells[y, x] : labels\noutput p = label2rgb(mask_labels(cells, number(cells) % 3 > 0))\n",
        "input cells[y, x] : labels\noutput p = label2rgb(label(cells > 40))\n",
        "input cells[z, y, x] : labels\noutput p = label2rgb(cells)\noutput q = label2rgb(mask_labels(cells, number(cells) % 2 > 0))\n"};
    static const uint32_t MOST[] = {20, 70 * 33, 5000000, UINT32_MAX};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        for (int k = 0; k < 16; k++) {
            IrGraph *g = pipeline_must("test.pipe", TEXTS[i]);
            BothCase in = {.n_inputs = 1, .part_rows = k % 2 * 5};
            int d = g->grids.at[ir_node(g, 1)->grid].has[IR_AX_Z] ? 6 : 1, w = k % 8 < 4 ? 70 : 301;
            in.part_rows = d > 1 ? 0 : in.part_rows; /* volumes with channels are not cut */
            in.inputs[0] = both_image(w, 33, d, 1, ELEM_U32, 1, 0);
            fill_labels((double *)(uintptr_t)in.inputs[0].pixels, w * 33 * d, k < 8 ? 1 : w, k < 8 ? 4 : 16,
                        MOST[k / 2 % 4], (unsigned)k);
            PassContext cx = {.fuse = FUSE_ALL, .verify = true};
            char why[400];
            if (!both_run(g, &cx, &in, device, why, sizeof why)) {
                fail_msg("%s\nlabels up to %u, parts of %d: %s", TEXTS[i], MOST[k / 2 % 4], in.part_rows, why);
            }
            free((void *)(uintptr_t)in.inputs[0].pixels);
        }
    }
}

/* More weights than a compiler takes as a step each, in a kernel that keeps rows open. */
static void dense_windows_may_be_large(void **state)
{
    (void)state;
    check("input image[y, x]\nfn w(i, j) = exp(-(i * i + j * j + i * j) / 200)\n"
          "output a = sum(w(i, j) * image[dx = i, dy = j] for j in -33 .. 33, i in -33 .. 33)\n");
}

/* Offsets that follow from several indices, or from one not in a line: the ends of their ranges are not their own. */
static void offsets_of_several_indices(void **state)
{
    (void)state;
    check("input image[y, x]\n"
          "output a = sum(image[dx = i - j, dy = j - 2 * i] for i in -2 .. 2, j in -3 .. 3)\n"
          "output b = max(image[dx = i * j] for i in -2 .. 2, j in -3 .. 3)\n"
          "output c = max(image[dx = round(3 * sin(i)), dy = round(2 * cos(i))] for i in 0 .. 7)\n"
          "output d = sum(image[dx = 2 ** i - i ** 3, dy = i ** i] for i in 0 .. 3)\n"
          "output e = median(image[dx = i % 3 - j, dy = (i if j > 0 else -i)] for i in 0 .. 3, j in 0 .. i)\n"
          "output f = sum(image[dx = j, border = constant(2)] for i in 0 .. 3, j in -i .. i)\n");
}

/* A reduction that nobody reads but a loop, which carries it into its next round or out of its last one. */
static void reductions_that_are_carried(void **state)
{
    (void)state;
    check("input image[y, x]\nr = image / 255\ns = 1\nm = max(image)\n"
          "repeat 3 {\n  r = r * 0.5\n  s = sum(r * r)\n  repeat 2 { m = max(r + m) }\n}\n"
          "output o = r + s\noutput top = m\n");
    check("input image[y, x]\nn = 0\nk = 9\n"
          "repeat 3 {\n  k = n\n  n = count(label(image > 60 + 20 * k))\n}\noutput a = n\noutput b = k\n");
    check("input image[y, x]\nother = ramp(x = 37, y = 21)\nm = image - 1\nk = image + 1\n"
          "repeat 2 {\n  k = m\n  m = other if other > 2 else other + 1\n}\noutput m\noutput k\n");
}

static void functions_take_many_arguments(void **state)
{
    (void)state;
    Str s;
    str_init(&s, &arena);
    str_add(&s, "input image[y, x]\n");
    for (int i = 0; i < 20; i++) {
        str_addf(&s, "v%d = mean(image) + %d\n", i, i);
    }
    str_add(&s, "fn f(n : i32) : f32 {\n  r = 0.0\n  while n > 0 { n = n // 2\n r = r + 1 }\n");
    for (int i = 0; i < 20; i++) {
        str_addf(&s, "  r = r + %d * v%d\n", i + 1, i);
    }
    str_add(&s, "  return r\n}\noutput a = f(i32(image))\n");
    check(s.at);
}

/* A function calls others, whose text stands before its own; a condition of a `while` that names what it uses twice is
 * computed in each turn. */
static void functions_call_functions(void **state)
{
    (void)state;
    check("input image[y, x]\n"
          "fn digits(v : i32) : i32 {\n  k = 0\n  while v > 0 {\n    k = k + 1\n    v = v // 10\n  }\n  return k\n}\n"
          "fn all(v : i32) : i32 {\n  s = 0\n  for i in 1 .. v { s = s + digits(i) }\n  return s\n}\n"
          "fn steps(a : f32) : f32 {\n  n = 0.0\n"
          "  while (a * a + 3 / a) * (a * a + 3 / a) > 20 + digits(i32(a)) and n < 50 {\n"
          "    a = a * 0.7 if n < 9 else a - 2\n    n = n + 1\n  }\n  return n + 7 // 2\n}\n"
          "output a = all(i32(image) % 50)\noutput b = steps(image + 0.5)\n");
}

/* Limits on both sides of numbers of f32, beyond all of them, and those that are none: pixels are compared as
 * they would be in f64. */
static void limits_between_numbers(void **state)
{
    (void)state;
    static const double PIXELS[] =
        {0,  -0.0,           0x1p-149,        -0x1p-149,        0x1p-126,          1,          0x1.000002p0,
         -1, 0x1.fffffep127, -0x1.fffffep127, (double)INFINITY, -(double)INFINITY, (double)NAN};
    static const double LIMITS[] = {0,
                                    0x1p-150,
                                    -0x1p-150,
                                    0x1p-200,
                                    0x1.8p-149,
                                    1,
                                    0x1.000001p0,
                                    0x1.0000010000001p0,
                                    -0x1.0000000000001p0,
                                    0x1.fffffe8p127,
                                    1e300,
                                    -1e300,
                                    (double)INFINITY,
                                    -(double)INFINITY,
                                    (double)NAN};
    const char *text = "input image[y, x] : f32\nparam k = 0\n"
                       "limit = k + sum(image where image > 2 and image < 1)\n"
                       "output a = f64(image) > limit\noutput b = f64(image) >= limit\n"
                       "output c = f64(image) < limit\noutput d = f64(image) <= limit\n"
                       "output e = limit > f64(image)\n";
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    for (size_t i = 0; i < sizeof LIMITS / sizeof LIMITS[0]; i++) {
        IrGraph *g = pipeline_must("test.pipe", text);
        BothCase in = {.n_inputs = 1,
                       .params = {LIMITS[i]},
                       .inputs = {{.extent = {13, 1, 1, 1}, .elem = ELEM_F32, .pixels = PIXELS}}};
        char why[400];
        if (!both_run(g, &cx, &in, device, why, sizeof why)) {
            fail_msg("limit %a: %s", LIMITS[i], why);
        }
    }
}

/* The lower limit is a hair below the smallest pixel, and rounded to f32 it is that pixel. */
static void limits_of_clipping_are_not_rounded(void **state)
{
    (void)state;
    static const double PIXELS[] = {1000, 1011, 1020, 1021, 1022, 1024, 1025, 1026, 1029, 1032, 1037, 1038};
    static const Elem ELEMS[] = {ELEM_U16, ELEM_F32};
    const char *text = "input image[y, x]\ns = kappa_sigma(image, 2.4177272849908396)\n"
                       "output n = s.count\n";
    for (int i = 0; i < 2; i++) {
        IrGraph *g = pipeline_must("test.pipe", text);
        BothCase in = {.n_inputs = 1, .inputs = {{.extent = {12, 1, 1, 1}, .elem = ELEMS[i], .pixels = PIXELS}}};
        BothResult got;
        Err err = {0};
        assert_true(both_evaluate(g, &in, &got, &err));
        assert_true(got.at[0].value == 12); /* as numpy has it, in f64 */
        both_free(&got);
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        char why[400];
        if (!both_run(g, &cx, &in, device, why, sizeof why)) {
            fail_msg("%s", why);
        }
    }
}

/* Pairs that touch in several parts count once. */
static void touching_labels_are_found_in_parts(void **state)
{
    (void)state;
    turn_or_skip(4);
    const char *text = "input image[y, x]\nl = label_equal(floor(gaussian(image, 1) / 20))\n"
                       "output n = neighbour_count(l)\noutput m = neighbour_value(l, label_count(l), std)\n";
    IrGraph *g = pipeline_must("test.pipe", text);
    BothCase in = {.n_inputs = 1, .part_rows = 13};
    in.inputs[0] = both_image(61, 83, 1, 1, ELEM_U8, 3, 0);
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%s", why);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

/* Whether the reference finishes `text` for 64 pixels when its folds may count so many elements. */
static bool is_evaluated_within(uint64_t elements, const char *text)
{
    static const double PIXELS[64];
    const IrEvalInput image = {.extent = {64, 1, 1, 1}, .elem = ELEM_U8, .pixels = PIXELS};
    IrEval *ev = NULL;
    Err err = {0};
    bool ok = ir_eval_within(elements, pipeline_must("x.pipe", text), &image, NULL, &ev, &err);
    assert_int_equal(err.code, ok ? CODE_OK : CODE_INTERRUPTED);
    ir_eval_free(ev);
    return ok;
}

/* A window of thousands of pixels for each of a few. */
static void a_reference_that_takes_too_long_is_given_up(void **state)
{
    (void)state;
    static const char WIDE[] = "input image[y, x]\noutput o = gaussian(image, 500)\n";
    assert_false(is_evaluated_within(100000, WIDE));
    assert_true(is_evaluated_within(10000000, WIDE));
}

/* The maximum is the same for every i: it is counted once a pixel. */
static void what_a_fold_does_not_change_is_evaluated_once(void **state)
{
    (void)state;
    static const char TOP[] = "input image[y, x]\n"
                              "output o = sum(image[dx = i] / max(1 + image[dx = j] for j in -20 .. 20)"
                              " for i in -20 .. 20)\n";
    assert_true(is_evaluated_within(64 * (41 + 41), TOP));
    assert_false(is_evaluated_within(64 * (41 + 41) - 1, TOP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pixels_far_away_are_read),
        TEST(plans_for_other_devices_give_the_same),
        TEST(programs_are_known_beforehand),
        TEST(what_reads_nothing_is_compiled_once),
        TEST(binaries_stand_in_for_compiling),
        TEST(loops_end_where_they_should),
        TEST(limits_of_clipping_are_not_rounded),
        TEST(limits_between_numbers),
        TEST(touching_labels_are_found_in_parts),
        TEST(only_the_channel_that_is_read_is_stored),
        TEST(equal_tables_are_one),
        TEST(measures_know_the_spacing),
        TEST(tables_may_be_wide),
        TEST(objects_are_counted),
        TEST(combined_labels_stay_apart),
        TEST(columns_of_tables_are_pixels),
        TEST(labels_of_any_numbers_are_coloured),
        TEST(dense_windows_may_be_large),
        TEST(offsets_of_several_indices),
        TEST(reductions_that_are_carried),
        TEST(functions_take_many_arguments),
        TEST(functions_call_functions),
        TEST(a_reference_that_takes_too_long_is_given_up),
        TEST(what_a_fold_does_not_change_is_evaluated_once),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device);
}
