/*
 * What kernels share: reductions that are taken while an image is written, and stages that read the
 * same image; how many steps that leaves, and that it changes no bit, in one piece and in parts.
 */
#include "fixtures.h"
#include "codegen/codegen.h"
#include "passes/figures.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"
#include "tests/support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const IrSchedule *schedule_of(const char *text, IrGraph **g)
{
    *g = pipeline_must("test.pipe", text);
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    return pass_run_all(*g, &cx);
}

typedef struct Plan {
    PassFuse fuse;
    int part_rows, shape;
} Plan;

static void check(const char *text, const int size[4], Elem elem, int kind, Plan plan)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    BothCase in = {.part_rows = plan.part_rows, .shape = plan.shape};
    for (IrId id = 1; id < (IrId)g->nodes.n && ir_node(g, id)->op == IR_INPUT; id++) {
        in.inputs[in.n_inputs++] = both_image(size[0], size[1], size[2], size[3], elem, 6 + id, kind);
    }
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = plan.fuse, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%d x %d x %d, %s of %s, fuse %d, parts of %d, shape %d: %s\n%s", size[0], size[1], size[2],
                 BOTH_KIND_NAMES[kind], elem_name(elem), (int)plan.fuse, plan.part_rows, plan.shape, why, text);
    }
    for (int i = 0; i < in.n_inputs; i++) {
        free((void *)(uintptr_t)in.inputs[i].pixels);
    }
}

/* With the kernels of GPUs and of CPUs, in parts and unfused; several groups in each direction. */
static void check_all(const char *text, PassFuse other)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    const IrGrid *grid = &g->grids.at[ir_node(g, 1)->grid];
    bool volume = grid->has[IR_AX_Z];
    const int d = volume ? 3 : 1, c = grid->has[IR_AX_C] ? 3 : 1;
    const int wide[4] = {301, 130, d, c}, narrow[4] = {5, 70, d, c};
    Elem declared = ir_node(g, 1)->elem;
    Elem f32 = declared != ELEM_FILE ? declared : ELEM_F32;
    Elem u8 = declared != ELEM_FILE ? declared : ELEM_U8;
    check(text, wide, f32, BOTH_SPECIAL, (Plan){FUSE_ALL, 0, SHAPE_GPU});
    check(text, narrow, f32, BOTH_NOISE, (Plan){FUSE_ALL, 0, SHAPE_GPU}); /* too few groups for blocks */
    check(text, wide, u8, BOTH_NOISE, (Plan){FUSE_ALL, 0, SHAPE_CPU});
    check(text, wide, f32, BOTH_NOISE, (Plan){FUSE_ALL, volume ? 2 : 33, SHAPE_BY_DEVICE});
    check(text, narrow, u8, BOTH_NOISE, (Plan){other, 0, SHAPE_BY_DEVICE});
}

/* ---- what folds do to each pixel ------------------------------------------------------------ */

static int count_columns(const IrGraph *g, const IrSchedule *s)
{
    int n = 0;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        n += !ir_node(g, id)->dead && !s->stored[id] && strstr(ir_node(g, id)->name, "_column") != NULL;
    }
    return n;
}

static void what_folds_do_to_a_pixel_is_a_stage(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int columns;
    } CASES[] = {
        /* in local memory; of several images, of one twice, under other borders, in volumes and of channels */
        {"input image[y, x]\ninput flat[y, x]\nv = image / max(flat, 1)\nb = gaussian(v, 2)\n"
         "output a = gaussian(v, 1) - b\noutput b\n",
         1},
        {"input image[y, x]\nv = image / 255\n"
         "output a = gaussian(v * v, 1.5, border = reflect) - gaussian(v, 1.5, border = reflect)\n",
         2},
        {"input image[z, y, x]\noutput a = gaussian(image / 7, [0, 1, 1], border = wrap)\n", 1},
        {"input image[y, x, c]\noutput a = gaussian(image[c = 1] / (image[c = 0] + 300), 1)\n", 1},
        /* the factors of what is added with one rounding */
        {"input image[y, x]\nv = sqrt(abs(image))\n"
         "output a = sum(v[dx = i] * v[dx = i] for i in -3 .. 3)\n",
         1},
        /* more than there is local memory for */
        {"input image[y, x]\nfn s(v) = sum(v[dx = i, dy = j] for j in -2 .. 2, i in -2 .. 2)\n"
         "output a = s(image / 3) + s(image / 5) + s(image / 7) + s(image / 9) + s(image / 11) + s(image / 13) + "
         "s(image / 15) + s(image / 17) + s(image / 19)\n",
         9},
        /* what two stages have of their own pixel */
        {"input image[y, x]\nv = abs(image) ** 0.3\noutput a = v + 1\noutput b = sqrt(v)\n", 1},
        /* Not: whole numbers, of which sums are exact; what takes no time; a value outside that is none of the image's. */
        {"input image[y, x] : u8\noutput a = sum(image[dx = i, dy = j] // 3 for j in -3 .. 3, i in -3 .. 3)\n", 0},
        {"input image[y, x]\noutput a = gaussian(image + 1, 2)\n", 0},
        {"input image[y, x]\noutput a = gaussian(image / 3, 2, border = constant(1))\n", 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IrGraph *g = pipeline_must("test.pipe", CASES[i].text);
        PassContext cx = {.fuse = FUSE_ALL, .figures = figures_known("H100")};
        const int columns = count_columns(g, pass_run_all(g, &cx));
        if (columns != CASES[i].columns) {
            fail_msg("%d stages instead of %d:\n%s", columns, CASES[i].columns, CASES[i].text);
        }
        const int size[4] = {301, 60, strstr(CASES[i].text, "z,") ? 3 : 1, strstr(CASES[i].text, "c]") ? 3 : 1};
        for (int k = 0; columns > 0 && k <= (i == 1); k++) {
            check(CASES[i].text, size, ELEM_U8, BOTH_NOISE, (Plan){FUSE_ALL, 0, k == 0 ? SHAPE_GPU : SHAPE_CPU});
        }
    }
}

/* A stage after another one has the same sums over rows, which are kept once. */
static void stages_share_sums(void **state)
{
    (void)state;
    static const char TEXT[] = "input image[y, x]\nlo = min_filter(image, 4)\nhi = max_filter(image, 4)\n"
                               "output a = image - lo * hi\noutput b = hi - lo\n";
    IrGraph *g = pipeline_must("test.pipe", TEXT);
    PassContext cx = {.fuse = FUSE_ALL};
    const IrSchedule *s = pass_run_all(g, &cx);
    const Program *program = cg_program(g, s, "test");
    assert_int_equal(program->n_kernels, 1);
    int open = 0;
    for (const char *at = program->kernels[0].source; (at = strstr(at, "_turn[PX];")) != NULL; at++) {
        open++;
    }
    assert_int_equal(open, 2);
    check(TEXT, (const int[4]){301, 60, 1, 1}, ELEM_U8, BOTH_NOISE, (Plan){FUSE_ALL, 0, SHAPE_GPU});
}

/* ---- reductions --------------------------------------------------------------------------- */

static int count_taken(const IrGraph *g, const IrSchedule *s)
{
    int n = 0;
    for (int i = 0; i < g->nodes.n; i++) {
        n += s->taken_from[i] != 0;
    }
    return n;
}

static void reductions_are_taken_on_the_way(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int taken, strip;
    } CASES[] = {
        /* In any order: extremes, counts, sums of small whole numbers. */
        {"input image[y, x]\nb = gaussian(image, 2)\noutput m = b > otsu(b)\n", 1, 0},
        {"input image[y, x]\nparam s = 3\nb = gaussian(image, s)\noutput n = b / max(b)\n", 1, 0},
        {"input image[y, x]\noutput m = image > 3\noutput n = count(m)\n", 1, 0},
        {"input image[y, x]\noutput e = u16(sobel(image))\noutput a = mean(e)\n", 1, 0},
        {"input image[z, y, x]\nb = gaussian(image, 1)\noutput n = b - min(b)\n", 1, 0},
        {"input image[y, x, c]\nb = gaussian(image, 1)\noutput n = b - min(b)\n", 1, 0},
        {"input image[y, x]\nv = image\nrepeat 3 {\n b = gaussian(v, 1)\n v = b / (max(b) + 1)\n}\n"
         "output v\n",
         1, 0},
        /* In the order of blocks. */
        {"input image[y, x] : f32\nb = gaussian(image, 1)\noutput n = b - mean(b)\n", 1, 64},
        {"input image[y, x]\nb = gaussian(image, 2)\noutput n = (b - mean(b)) / std(b) + max(b)\n", 1, 64},
        {"input image[z, y, x]\nb = sobel(image)\noutput n = b - mean(b)\n", 0, 0},
        {"input image[y, x]\noutput e = u16(sobel(image))\noutput a = std(e)\n", 1, 64},
        /* Not: of a wide blur, which strips of 64 rows would compute twice; of some pixels only; of
         * an input. */
        {"input image[y, x]\nb = gaussian(image, 8)\noutput n = b - mean(b)\n", 0, 0},
        {"input image[y, x]\nb = gaussian(image, 2)\noutput n = b / max(b where b < 100)\n", 0, 0},
        {"input image[y, x]\noutput n = image / max(image)\n", 0, 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IrGraph *g;
        const IrSchedule *s = schedule_of(CASES[i].text, &g);
        int strip = 0;
        for (int k = 0; k < s->steps.n; k++) {
            strip = s->steps.at[k].strip > strip ? s->steps.at[k].strip : strip;
        }
        if (count_taken(g, s) != CASES[i].taken || strip != CASES[i].strip) {
            fail_msg("%s\n%d taken on the way, strips of %d", CASES[i].text, count_taken(g, s), strip);
        }
        if (CASES[i].taken > 0 && turn_has((int)i)) {
            check_all(CASES[i].text, i % 2 ? FUSE_NONE : FUSE_POINTWISE);
        }
    }
}

/* ---- horizontal fusion --------------------------------------------------------------------- */

static int count_kernels(const IrSchedule *s)
{
    int n = 0;
    for (int i = 0; i < s->steps.n; i++) {
        n += s->steps.at[i].kind == IR_STEP_KERNEL;
    }
    return n;
}

/* A text, and how many kernels it becomes. */
typedef struct Counted {
    const char *text;
    int kernels;
} Counted;

static void check_counted(const Counted *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        IrGraph *g;
        const IrSchedule *s = schedule_of(cases[i].text, &g);
        if (count_kernels(s) != cases[i].kernels) {
            fail_msg("%s\n%d kernels, not %d", cases[i].text, count_kernels(s), cases[i].kernels);
        }
        if (turn_has((int)i)) {
            check_all(cases[i].text, i % 2 ? FUSE_NONE : FUSE_POINTWISE);
        }
    }
}

static void readers_of_one_image_share_a_kernel(void **state)
{
    (void)state;
    static const Counted CASES[] = {
        {"input image[y, x]\noutput a = gaussian(image, 1)\noutput b = gaussian(image, 2)\n", 1},
        {"input image[y, x]\noutput a = sqrt(image)\noutput b = image * 2\noutput c = image > 3\n", 1},
        /* inputs that meet */
        {"input image[y, x]\ninput flat[y, x]\nv = image - flat\nb = gaussian(v, 2)\n"
         "output a = gaussian(v, 1) - b\noutput b\n",
         1},
        /* the same sums over rows in both, which are open once */
        {"input image[y, x]\nlo = min_filter(image, 10)\nhi = max_filter(image, 10)\noutput a = image - lo * hi\n"
         "output b = hi - lo\n",
         1},
        /* both eigenvalues, of three sums that the distance between them takes alone, too */
        {"input image[y, x]\noutput a = frangi(image, 2)\n", 3},
        {"input image[y, x]\noutput mask = image > 30\noutput bright = image if mask else 0\n", 1},
        {"input image[z, y, x]\noutput a = image * 2\noutput b = image + z_of(image)\n", 1},
        /* A diamond whose ends are outputs: what both read is never stored, */
        {"input image[y, x]\ng = gaussian(image, 0.5)\noutput a = gaussian(image, 1) - g\n"
         "output b = g * x_of(image) + exp(g)\n",
         1},
        /* unless one of them reads it at other pixels than it is computed on. */
        {"input image[y, x]\ng = gaussian(image, 1)\noutput a = sobel(g)\noutput b = g * 2\n", 2},
        /* What comes between them takes part, or stands behind. */
        {"input image[y, x]\noutput a = image * 2\noutput m = max(sobel(a))\noutput b = image + 1\n", 2},
        {"input image[y, x]\noutput a = image * 2\nm = mean(a)\noutput b = image / m\n", 2},
        {"input image[y, x]\noutput a = image * 2\nv = image\nrepeat 2 {\n v = gaussian(v, 1) + a\n}\n"
         "output v\noutput b = image + 1\n",
         3},
        /* Too many rows stay open. */
        {"input image[y, x]\noutput a = gaussian(image, 4)\noutput b = gaussian(image, 5)\n", 2},
        /* Other grids, other images. */
        {"input image[y, x]\noutput a = image * 2\noutput b = flip(image)\n", 2},
        {"input image[y, x, c]\noutput a = image[c = 0] * 2\noutput b = image + 1\n", 2},
    };
    check_counted(CASES, sizeof CASES / sizeof *CASES);
}

/* ---- comprehensions of filters -------------------------------------------------------------- */

static void filters_by_an_index_are_stages(void **state)
{
    (void)state;
    static const Counted CASES[] = {
        /* Sums of 52 rows for each pixel are more than registers hold. */
        {"input image[y, x]\noutput a = max(s * s * -laplacian_of_gaussian(image, s) for s in 1 .. 2)\n", 2},
        {"input image[y, x]\noutput a = std(gaussian(image, s) for s in 1 .. 2)\n", 1},
        {"input image[y, x]\noutput a = min(gaussian(image, i) - gaussian(image, i + k) for i in 1 .. 2, k in 0 .. 1 "
         "where k > 0 or i > 1)\noutput b = prod(1 + min_filter(image, s) / 100 for s in 1 .. 2)\n",
         2},
        {"input image[y, x]\noutput a = max(sum(image[dx = k] for k in -i .. i) / i for i in 1 .. 3)\n"
         "output b = any(image > mean_filter(image, i) for i in 1 .. 2)\n",
         1},
        /* What is sorted streams over no rows. */
        {"input image[y, x]\noutput a = median(gaussian(image, s) for s in 1 .. 2)\n", 2},
    };
    check_counted(CASES, sizeof CASES / sizeof *CASES);
}

/* ---- windows that have kernels of their own --------------------------------------------------- */

static void some_windows_share_no_kernel(void **state)
{
    (void)state;
    static const Counted CASES[] = {
        /* One window is ranked at a time. */
        {"input image[y, x]\noutput a = median_filter(image, 1) - median_filter(image, [1, 0])\n", 2},
        {"input image[y, x]\noutput a = mean_filter(image, 1) - median_filter(image, 1)\n", 2},
        {"input image[y, x]\noutput a = image - median_filter(image, 1)\n", 1},
        /* Sums of doubles take two registers; those of many rows are longer than a work-item's. */
        {"input image[y, x]\noutput a = std_filter(image, [8, 1])\n", 1},
        {"input image[y, x]\noutput a = std_filter(image, [10, 1])\n", 2},
        {"input image[y, x]\noutput a = std_filter(image, [18, 1])\n", 3},
        {"input image[y, x]\noutput a = std_filter(image / 255, [8, 1])\n", 2},
        /* A channel of what is made of each pixel is made of the image's. */
        {"input image[y, x, c]\nv = image / 255\nlight = sqrt(v[c = 0] + v[c = 1])\noutput light\noutput v\n", 2},
    };
    check_counted(CASES, sizeof CASES / sizeof *CASES);
}

/* Of whole numbers and heights that are numbers in any case one instruction chooses the least. */
static void heights_of_whole_numbers_are_chosen_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *of;
        bool once;
    } CASES[] = {
        {"rolling_ball(image, 3)", true},
        {"max(image[dx = i] - abs(i) for i in -2 .. 2)", true},
        {"max(abs(i) - image[dx = i] for i in -2 .. 2)", false},
        {"min(image[dx = i] + sqrt(i) for i in -2 .. 2)", false},
        {"min(image[dx = i] + 1 / i for i in -2 .. 2)", false},
        {"min(image[dx = i] + 1e38 * i for i in -9 .. 9)", false},
        {"min(image[dx = i, border = constant(nan)] + i for i in -2 .. 2)", false},
        {"min(sqrt(image[dx = i]) + i for i in -2 .. 2)", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *text = arena_printf(&arena, "input image[y, x]\noutput a = %s\n", CASES[i].of);
        IrGraph *g = pipeline_must("test.pipe", text);
        PassContext cx = {.fuse = FUSE_ALL};
        const char *source = cg_program(g, pass_run_all(g, &cx), "test")->kernels[0].source;
        if ((strstr(source, "PX_LOWER(") != NULL || strstr(source, "PX_HIGHER(") != NULL) != CASES[i].once) {
            fail_msg("%s", CASES[i].of);
        }
        if (turn_has((int)i)) {
            check(text, (const int[4]){301, 20, 1, 1}, ELEM_U8, BOTH_NOISE, (Plan){FUSE_ALL, 0, SHAPE_GPU});
            check(text, (const int[4]){41, 20, 1, 1}, ELEM_F32, BOTH_SPECIAL, (Plan){FUSE_ALL, 0, SHAPE_GPU});
        }
    }
}

/* What costs nothing is looked at first: a window of 27 only where a pixel may be a peak. */
static void windows_stand_behind_conditions(void **state)
{
    (void)state;
    static const char TEXT[] = "input image[z, y, x]\noutput a = detect_maxima(image) and image > 100\n";
    IrGraph *g = pipeline_must("test.pipe", TEXT);
    PassContext cx = {.fuse = FUSE_ALL};
    const Program *program = cg_program(g, pass_run_all(g, &cx), "test");
    const char *source = program->kernels[0].source, *condition = strstr(source, "if (t");
    assert_true(condition != NULL && strstr(condition, "-INFINITY") != NULL);
    check(TEXT, (const int[4]){301, 10, 5, 1}, ELEM_U8, BOTH_NOISE, (Plan){FUSE_ALL, 0, SHAPE_GPU});
}

/* ---- stages on several rows ------------------------------------------------------------------ */

static void stages_keep_rows_for_those_that_read_them(void **state)
{
    (void)state;
    static const Counted CASES[] = {
        {"input image[y, x]\nd = image[dx = 1] - image\noutput a = d - d[dx = -1] + d[dy = 1] * d[dx = -1, dy = -2]\n",
         1},
        {"input image[y, x]\nd = image[dy = 1] - image\noutput a = d[dy = -1, border = reflect] - "
         "d[dy = 2, border = wrap] + d[dy = -3, border = constant(7)]\n",
         1},
        {"input image[z, y, x]\nd = image[dy = 1] - image[dz = -1]\noutput a = d[dz = 1] - d[dy = -1, dz = 2, fill = 3]\n",
         1},
        /* A round of total variation, and what goes on from row to row. */
        {"input image[y, x]\nv = image / 255\np = 0 * v\nrepeat 2 {\n u = v + (p - p[dy = -1, fill = 0]) / 8\n"
         " g = u[dy = 1] - u\n p = (p + g / 4) / (1 + abs(g) + abs(u[dx = 1] - u))\n}\noutput p\n",
         3},
        {"input image[y, x]\na = image[dy = 1] - image\nb = a[dy = 1] - a\noutput c = b[dy = 1] - b\n", 1},
        {"input image[y, x]\nd = sqrt(image[dx = 1]) * exp(image) / (image + 1) * (image - 3) * (image + 2) * "
         "(image * image - 5) / (image + 7) * (image[dx = -1] - 6) * (image + 8) * (image + 11)\n"
         "output a = d - d[dy = 1] + d[dy = 2]\n",
         1},
        /* Borders of several kinds, places, several results, and images that are needed late. */
        {"input image[y, x]\nu = image[dx = 1, dy = -1, fill = 7] * 2 - image[dx = -1, dy = 2, fill = 7]\n"
         "v = max(u[dy = 1], u[dy = 2]) + y_of(image)\n"
         "w = v[dx = 1, dy = 1, fill = 3] - v[dx = 1, dy = -2, fill = 3] * x_of(image)\n"
         "output a = w - u + w[dx = -1] * w[dx = 1, dy = -1]\noutput b = mean(a)\n",
         1},
        {"input image[y, x]\na = image[dy = 1, border = wrap] - image\nb = a[dy = 3] - a[dx = 2] > 4\n"
         "output c = b[dy = -2, fill = 1] and b[dx = 1, dy = 1, fill = 1] or image > 90\n",
         1},
        /* Rounds of loops that divide their number. */
        {"input image[y, x]\nu = f32(image)\nrepeat 8 {\n u = u + (u[dx = 1] + u[dx = -1] + u[dy = 1] + u[dy = -1] - "
         "4 * u) / 8\n}\noutput u\n",
         3},
        {"input image[z, y, x]\na = image > 50\nb = image < 90\nrepeat 3 {\n c = a\n a = a[dx = 1] or b[dy = -1]\n"
         " b = b and c[dy = 1, fill = 0]\n}\noutput a\noutput b\n",
         4},
        /* Not: what costs more than to store it, on rows far away, of folds over rows. */
        {"input image[y, x]\nd = sqrt(image[dx = 1]) * exp(image) / (image + 1) * (image - 3) * (image + 2) * "
         "(image * image - 5) / (image + 7) * (image[dx = -1] - 6) * (image + 8) * (image + 11)\n"
         "output a = d - d[dy = 9] + d[dy = 2]\n",
         2},
        {"input image[y, x]\nd = max(image[dy = i] for i in -2 .. 2)\noutput a = d - d[dy = 1]\n", 2},
    };
    check_counted(CASES, sizeof CASES / sizeof *CASES);
}

/* ---- projections ------------------------------------------------------------------------------ */

static void projections_compute_what_they_read(void **state)
{
    (void)state;
    static const Counted CASES[] = {
        {"input image[z, y, x]\nv = image - min(image[dz = k, border = mirror] for k in -1 .. 2)\n"
         "output a = max_project(v, z)\noutput b = mean_project(image[dz = -1, fill = 3] * 2 + 1, z)\n",
         2},
        /* Not: read twice, long windows, what lies beside along another axis, ranks. */
        {"input image[z, y, x]\nv = image * 2 + image[dz = 1]\noutput a = max_project(v, z) - min_project(v, z)\n", 2},
        {"input image[z, y, x]\noutput a = max_project(max(image[dz = k] for k in -5 .. 5), z)\n", 2},
        {"input image[z, y, x]\noutput a = sum_project(image[dx = 1] - image, z)\n", 2},
        {"input image[z, y, x]\noutput a = median_project(image[dz = 1] - image, z)\n", 3},
    };
    check_counted(CASES, sizeof CASES / sizeof *CASES);
}

/* ---- windows inside the image ---------------------------------------------------------------- */

static void windows_inside_and_at_the_edges_give_the_same(void **state)
{
    (void)state;
    static const char *const CASES[] = {
        "input image[y, x]\nparam r = 2 in 0 .. 4\n"
        "output a = sum(abs(image[dx = i, dy = j, border = wrap] - image) for j in -r .. 1, i in -1 .. r)\n"
        "output b = max(i * (image[dx = i, dy = 2 * j, border = constant(7)] - image) for j in 0 .. 1, i in -2 .. 5)\n",
        ("input image[z, y, x]\noutput a = min((i + j + k) * image[dx = i, dy = j, dz = k, border = reflect] - image "
         "for k in -1 .. 0, j in -1 .. 1, i in 0 .. 2)\n"),
        "input image[y, x, c]\noutput a = prod(1 + abs(image[dx = i, dy = i] - image) / 9 for i in -2 .. 2)\n",
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        if (turn_has((int)i)) {
            check_all(CASES[i], i % 2 ? FUSE_NONE : FUSE_POINTWISE);
        }
    }
}

/* ---- windows of chords ----------------------------------------------------------------------- */

static void extremes_of_chords_give_the_same(void **state)
{
    (void)state;
    static const char *const CASES[] = {
        "input image[y, x]\noutput a = tophat(image, disk(4))\noutput b = dilate(image > 40, disk(2))\n",
        /* Not alike on both sides, rows without pixels, gaps, chords that cross, a border that is a value. */
        "input image[y, x]\noutput a = max(image[dx = i, dy = j, border = constant(3)] for j in -1 .. 3, i in -2 .. 4 "
        "where i >= j and j != 1)\n"
        "output b = min(image[dx = i, dy = j, border = reflect] for j in -1 .. 1, i in -2 .. 2 where i != j)\n"
        "output c = max(image[dx = i, dy = j] for j in -1 .. 1, i in -2 .. 2 where abs(i - j) < 2)\n",
        "input image[z, y, x]\noutput a = max(image[dx = i, dz = k] for k in -1 .. 1, i in -2 .. 2 where i * k < 1)\n",
        ("input image[y, x] : u8\noutput a = erode(image, disk(3))\noutput b = all(image[dx = i, dy = j] > 9 for j in -2 .. 1, "
         "i in 0 .. 3 where i + j < 3)\n"),
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        if (turn_has((int)i)) {
            check_all(CASES[i], i % 2 ? FUSE_NONE : FUSE_POINTWISE);
        }
    }
}

/* ---- folds over one range -------------------------------------------------------------------- */

static void folds_that_share_a_loop_give_the_same(void **state)
{
    (void)state;
    static const char *const CASES[] = {
        "input image[y, x]\nfn w(i, j) = exp(-(i * i + j * j) / 8) * exp(-((image[dx = i, dy = j] - image) / 20) ** 2)\n"
        "output a = sum(w(i, j) * image[dx = i, dy = j] for j in -1 .. 2, i in -2 .. 1) / "
        "sum(w(i, j) for j in -1 .. 2, i in -2 .. 1)\n",
        "input image[y, x, c]\nn = sum(abs(image[dx = i, border = mirror]) for i in -2 .. 3 where i != 0)\n"
        "output a = n / max(image[dx = k, border = mirror] for k in -2 .. 3 where k != 0)\n"
        "output b = sum(image[dy = k] * k for k in -1 .. 3) - prod(image[dy = k] / 9 for k in -1 .. 3)\n",
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        if (turn_has((int)i)) {
            check_all(CASES[i], i % 2 ? FUSE_NONE : FUSE_POINTWISE);
        }
    }
}

static void stages_that_met_are_stored_no_more(void **state)
{
    (void)state;
    IrGraph *g;
    const IrSchedule *s = schedule_of("input image[y, x]\ng = gaussian(image, 0.5)\n"
                                      "output a = gaussian(image, 1) - g\n"
                                      "output b = g * x_of(image) + exp(g)\n",
                                      &g);
    int stored = 0;
    for (int i = 1; i < g->nodes.n; i++) {
        stored += !g->nodes.at[i].dead && g->nodes.at[i].op == IR_MAP && s->stored[i];
    }
    assert_int_equal(stored, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reductions_are_taken_on_the_way, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(readers_of_one_image_share_a_kernel, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(what_folds_do_to_a_pixel_is_a_stage, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(stages_share_sums, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(filters_by_an_index_are_stages, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(some_windows_share_no_kernel, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(windows_stand_behind_conditions, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(heights_of_whole_numbers_are_chosen_at_once, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(stages_keep_rows_for_those_that_read_them, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(projections_compute_what_they_read, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(windows_inside_and_at_the_edges_give_the_same, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(extremes_of_chords_give_the_same, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(folds_that_share_a_loop_give_the_same, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(stages_that_met_are_stored_no_more, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests_name("fusion", tests, open_device, close_device);
}
