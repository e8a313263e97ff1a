/* The kernels that GPUs get, on whatever device there is that runs them: what CPUs never run otherwise. */
#include "fixtures.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"
#include "tests/support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Extent {
    int w, h, d;
} Extent;

static void check(const char *text, Extent e, Elem elem, int kind, int part_rows)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    BothCase in = {.n_inputs = 1, .shape = first_shape(), .part_rows = part_rows};
    bool channels = g->grids.at[ir_node(g, 1)->grid].has[IR_AX_C];
    in.inputs[0] = both_image(e.w, e.h, e.d, channels ? 3 : 1, elem, 5, kind);
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%s\n%d x %d x %d of %s, parts of %d: %s", text, e.w, e.h, e.d, elem_name(elem), part_rows, why);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

static const Extent SIZES[] = {{1, 1, 1},  {1, 40, 1},   {70, 3, 1},    {31, 17, 1},
                               {33, 9, 1}, {256, 19, 1}, {259, 150, 1}, {600, 60, 1}};

/* Every size, in one piece and in parts. */
static void check_sizes(const char *text, Elem elem, int kind)
{
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        check(text, SIZES[i], elem, kind, 0);
    }
    check(text, SIZES[6], elem, kind, 16);
    check(text, SIZES[7], elem, kind, 5);
}

static const char *const BORDERS[] = {"nearest", "reflect", "mirror", "wrap"};

static void windows_are_ranked_bit_by_bit(void **state)
{
    (void)state;
    turn_or_skip(0);
    for (int b = 0; b < 4; b++) {
        const char *text = arena_printf(&arena,
                                        "input image[y, x]\noutput a = u8(median(image[dx = i, dy = j, border = %s]\n"
                                        "for j in -2 .. 2, i in -2 .. 2 where i * i + j * j <= 4))\n",
                                        BORDERS[b]);
        check_sizes(text, b % 2 ? ELEM_U16 : ELEM_U8, BOTH_NOISE);
    }
}

/* Windows of many rows and columns, to one side, too; of whole numbers, and where zeros have signs and NaN is among them. */
static void extremes_share_rows_and_columns(void **state)
{
    (void)state;
    turn_or_skip(1);
    static const char TEXT[] = "input image[y, x]\n"
                               "output a = min_filter(image, [5, 3])\n"
                               "output b = max(image[dy = j, border = constant(7)] for j in -9 .. 3)\n"
                               "output c = 1 / min(image[dx = i, border = constant(9)] for i in -4 .. 0)\n";
    check(TEXT, (Extent){259, 50, 1}, ELEM_U8, BOTH_NOISE, 0);
    check(TEXT, (Extent){33, 9, 1}, ELEM_F32, BOTH_EXTREME, 0);
    check(TEXT, (Extent){300, 70, 1}, ELEM_F32, BOTH_SPECIAL, 16);
}

/* Sums of whole numbers, in f32 and f64; of bytes alone, or of words, too; of numbers that are rounded on the way. */
static void exact_sums_share_rows_and_columns(void **state)
{
    (void)state;
    turn_or_skip(3);
    static const char TEXT[] = "input image[y, x]\n"
                               "output a = mean_filter(image, 6) + std_filter(image, 5)\n"
                               "output b = sum(image[dy = j] for j in -9 .. 3)\n"
                               "output c = sum(image[dx = i, border = mirror] ** 2 for i in -5 .. 1)\n"
                               "output d = sum(image[dx = i, border = constant(0.5)] for i in -4 .. 4)\n";
    check(TEXT, (Extent){259, 50, 1}, ELEM_U8, BOTH_NOISE, 0);
    check(TEXT, (Extent){300, 70, 1}, ELEM_U16, BOTH_EXTREME, 16);
    check(TEXT, (Extent){33, 9, 1}, ELEM_F32, BOTH_SPECIAL, 0);
}

/* Long blends along x, whose tiles are filled by fours where they lie inside of the image; of what is computed, too. */
static void long_blends_fill_by_fours(void **state)
{
    (void)state;
    turn_or_skip(2);
    static const char TEXT[] = "input image[y, x]\noutput a = gaussian(image, 9)\n"
                               "b = gaussian(image, 1)\noutput c = gaussian((b - image) ** 2, 8)\n";
    check(TEXT, (Extent){1100, 9, 1}, ELEM_U8, BOTH_NOISE, 0);
    check(TEXT, (Extent){777, 5, 1}, ELEM_F32, BOTH_NOISE, 0);
}

/* Of every rank and size of window; windows to one side; beside other reads, of planes, and what
 * is sorted still. */
static void windows_of_all_kinds(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "input image[y, x]\noutput a = median_filter(image, 3)\n",
        "input image[y, x]\noutput a = percentile_filter(image, 0, 1) + percentile_filter(image, 100, 1)\n",
        "input image[y, x]\noutput a = percentile(image[dx = i, dy = j] for j in -3 .. 3, i in -4 .. 4, q = 80)\n",
        "input image[y, x]\noutput a = percentile(image[dx = i] for i in -31 .. 31, q = 10)\n",
        "input image[y, x]\noutput a = percentile(image[dx = i] for i in 3 .. 9, q = 100)\n",
        "input image[y, x]\noutput a = median(image[dy = j] for j in -12 .. 12)\n",
        "input image[y, x]\noutput a = median(image[dy = j] for j in -9 .. -2)\n",
        "input image[y, x]\nparam r = 2\noutput a = image * x_of(image) - median_filter(image, r) / mean(image)\n",
        "input image[z, y, x]\noutput a = median(image[dx = i, dy = j] for j in -1 .. 1, i in -1 .. 1) + z_of(image)\n",
        "input image[z, y, x]\noutput a = median_filter(image, 1)\n",
        ("input image[z, y, x]\noutput a = max(percentile(image[dx = i, dy = j, dz = k, border = reflect] for k in 0 .. 2, "
         "j in -4 .. 0, i in 1 .. 2, q = 30), 3) * z_of(image)\n"),
        "input image[z, y, x]\noutput a = median(image[dy = j, dz = k, border = wrap] for j in -5 .. 4, k in -1 .. 1)\n",
        "input image[y, x]\noutput a = median(image[dx = i, dy = j, border = constant(7)] for j in -1 .. 1, i in -1 .. 1)\n",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        Extent e = {100, 60, i >= 8 && i <= 11 ? 3 : 1};
        if (turn_has((int)i)) {
            check(TEXTS[i], e, ELEM_U8, BOTH_SMOOTH, 0);
            check(TEXTS[i], e, ELEM_U16, BOTH_EXTREME, 13);
            check(TEXTS[i], e, ELEM_F32, BOTH_SPECIAL, 0);
        }
    }
}

/* Of whole axes: counted where registers do not hold them. */
static void long_windows_are_counted(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        ("input image[y, x]\nq = max_project(image, y)\nn = height(image)\noutput a = median_project(image where image > 90, y)\n"
         "output b = mode(image[x = x_of(q), y = k] for k in 0 .. n - 1)\n"
         "output c = mode(round(image[x = x_of(q), y = k]) % 3 for k in 0 .. n - 1)\n"),
        ("input image[y, x]\nq = max_project(image, y)\nn = height(image)\n"
         "output a = percentile(image[x = x_of(q), y = k] for k in 0 .. n - 1, q = 30)\n"
         "output b = percentile(f64(image[x = x_of(q), y = k]) for k in 0 .. n - 1, q = 3 * x_of(q))\n"),
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        if (turn_has((int)i)) {
            check(TEXTS[i], (Extent){7, 65, 1}, ELEM_U8, BOTH_NOISE, 0);
            check(TEXTS[i], (Extent){5, 120, 1}, ELEM_F32, BOTH_SPECIAL, 0);
            check(TEXTS[i], (Extent){5, 90, 1}, i == 0 ? ELEM_I16 : ELEM_U32, BOTH_EXTREME, 0);
        }
    }
}

/* Short folds over what is computed of several rows: carried in registers away from the edges. */
static void rows_are_carried(void **state)
{
    (void)state;
    static const char *const BOXES[] = {"nearest", "reflect", "mirror", "wrap", "constant(3)"};
    for (int b = 0; b < 5; b++) {
        const char *text =
            arena_printf(&arena,
                         "input image[y, x]\n"
                         "gx = image[dx = 1, border = %s] - image[dx = -1, border = %s]\n"
                         "gy = image[dy = 1, border = %s] - image[dy = -1, border = %s]\n"
                         "fn box3(v) = sum(v[dy = j, dx = i, border = %s] for j in -1 .. 1, i in -1 .. 1)\n"
                         "xy = box3(gx * gy)\n"
                         "output corners = box3(gx * gx) * box3(gy * gy) - xy * xy\n",
                         BOXES[b], BOXES[b], BOXES[b], BOXES[b], BOXES[b]);
        if (turn_has(b)) {
            check_sizes(text, b % 2 ? ELEM_U8 : ELEM_F32, BOTH_NOISE);
        }
    }
}

static void rows_of_all_kinds_are_carried(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        /* one to each side, four rows apart, beside the pixel itself and its place */
        "input image[y, x]\na = image[dy = -2] + 2 * image[dy = 2, dx = 3] + y_of(image)\n"
        "output s = sum(a[dy = j] for j in -1 .. 1) + image\n",
        /* to one side; folds of one length that do not begin together */
        "input image[y, x]\na = image[dy = 1] * image\n"
        "output s = sum(a[dy = j] for j in 0 .. 2) - sum(a[dy = j] for j in -3 .. -1)\n",
        /* folds of two lengths */
        "input image[y, x]\na = image[dy = 1] - image[dy = -1]\n"
        "output s = sum(a[dy = j] for j in -1 .. 1) - max(a[dy = j] for j in 0 .. 1)\n",
        /* along z */
        "input image[z, y, x]\na = image[dz = 1] - image[dz = -1, dx = 1]\n"
        "output s = sum(a[dz = j] for j in -1 .. 1)\n",
        /* two images and channels */
        "input image[y, x, c]\na = image[c = 0, dy = 1] - image[c = 1, dy = -1] * image[c = 0]\n"
        "output s = sum(a[dy = j, dx = i] for j in -1 .. 1, i in -1 .. 1)\n",
        /* the row itself too, with what is beside it */
        "input image[y, x]\na = image[dy = 1] * image[dy = -1, dx = 1]\n"
        "output s = sum(a[dy = j] for j in -1 .. 1) + image[dx = -1]\n",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        Extent e = i == 3 ? (Extent){600, 3, 50} : (Extent){600, 60, 1};
        if (turn_has((int)i)) {
            check(TEXTS[i], e, ELEM_F32, BOTH_NOISE, 0);
            check(TEXTS[i], e, ELEM_U8, BOTH_NOISE, 21);
        }
    }
}

/* Folds that end a few rows apart take one row, and that of other images their own. */
static void finished_sums_wait(void **state)
{
    (void)state;
    check_sizes("input image[y, x]\noutput a = gaussian(image, 1) - gaussian(image, 2)\n", ELEM_F32, BOTH_SPECIAL);
    check("input image[y, x]\noutput a = gaussian(image, 2)\n", SIZES[4], ELEM_F64, BOTH_NOISE, 0);
    static const char *const TEXTS[] = {
        "input image[y, x]\noutput a = gaussian(image, 1.5, border = wrap) - gaussian(image, 1, border = reflect)\n",
        "input image[y, x]\noutput a = gaussian(image, 0.7) - gaussian(image, 3) * gaussian(image, 1.2)\n",
        "input image[y, x]\noutput a = sum(image[dy = j] for j in -7 .. 1) - sum(image[dy = j] for j in 2 .. 6)\n",
        ("input image[y, x]\noutput a = sum(image[dy = j, border = constant(2)] for j in -7 .. 1) "
         "+ sum(image[dy = j, border = constant(2)] for j in -1 .. 4)\n"),
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        if (turn_has((int)i)) {
            check(TEXTS[i], SIZES[6], ELEM_F32, BOTH_NOISE, 0);
            check(TEXTS[i], SIZES[6], ELEM_U16, BOTH_NOISE, 32);
        }
    }
}

/* Blends longer than registers, from one tap to many tiles of them, with the middle at an end or off the steps of taps; on
 * flat ground, where they are exact, and not. */
static void long_blends(void **state)
{
    (void)state;
    turn_or_skip(4);
    static const char TEXT[] =
        "input image[y, x]\nparam s = 12 in 0 .. 14\n"
        "output a = gaussian(image, [0, 10.1], border = reflect)\noutput b = gaussian(image, [9.6, 0], border = constant(3))\n"
        "output c = gaussian(image, s)\noutput d = gaussian(f64(image), [0, 9.6])\n"
        "output e = blend(exp(-i / 50) * image[dx = i, border = wrap] for i in 0 .. 300)\n"
        "output f = blend(exp(j / 50) * image[dy = j] for j in -90 .. -2)\n";
    static const char VOLUME[] = "input image[z, y, x]\noutput a = gaussian(image, [9.5, 0, 0])\n";
    check(TEXT, SIZES[6], ELEM_U16, BOTH_NOISE, 0);
    check(TEXT, SIZES[6], ELEM_F32, BOTH_SPECIAL, 32);
    check(VOLUME, (Extent){37, 3, 30}, ELEM_U8, BOTH_CHECKER, 0);
}

/* What follows from bytes, and from their differences: by tables where the file has bytes. */
static void bytes_have_tables(void **state)
{
    (void)state;
    turn_or_skip(5);
    static const char TEXT[] =
        "input image[y, x]\n"
        "fn near(i, j) = exp(-((image[dx = i, dy = j, border = constant(300)] - image) / 20) ** 2)\n"
        "output a = sum(near(i, j) * image[dx = i] for j in -2 .. 2, i in -2 .. 2) / 7\n"
        "far = sum(exp((image[dx = i, border = constant(0)] - image[dy = i]) / 30) for i in -1 .. 1)\n"
        "output b = far + sum(i * log(1 + image[dx = i, border = mirror]) for i in 0 .. 2)\n"
        "output c = bilateral(u8(image), sigma_spatial = 0.5)\n";
    const Elem elems[] = {ELEM_U8, ELEM_U16, ELEM_F32};
    for (int i = 0; i < 3; i++) {
        check(TEXT, SIZES[4], elems[i], BOTH_NOISE, 0);
    }
    check(TEXT, SIZES[6], ELEM_U8, BOTH_NOISE, 32);
}

/* Quotients and roots of rare operands have their strip computed again; here every strip is.  What sums on the way is not, nor
 * what may lie where it is read. */
static void strips_are_computed_again(void **state)
{
    (void)state;
    turn_or_skip(6);
    static const char TEXT[] = "input image[y, x]\n"
                               "v = f32(image)\n"
                               "m = 0 * v\n"
                               "repeat 4 {\n"
                               "  gx = v[dx = 1] - v\n"
                               "  gy = v[dy = 1] - v\n"
                               "  n = sqrt(gx * gx + gy * gy) / 0.3\n"
                               "  u = gx / (1 + n) + (gy / n)[dy = -1]\n"
                               "  m = 0.9 * m + u\n"
                               "  v = v + u\n"
                               "}\n"
                               "w = v / (v[dy = 1] - 0.1)\n"
                               "output m\noutput v\noutput s = mean(w)\noutput w\n";
    static const char *const flags[] = {"-cl-opt-disable -DIS_RARE(rare)=1", "-cl-opt-disable"};
    Device *const usual = device;
    const char *choice = getenv("PIPEC_TEST_DEVICE");
    for (int i = 0; i < 2; i++) {
        Err err = {0};
        const DevOptions options = {.choice = choice != NULL ? choice : "cpu", .flags = flags[i]};
        must(dev_open(&options, &device, &err), &err);
        check(TEXT, SIZES[7], i == 0 ? ELEM_U8 : ELEM_F32, i == 0 ? BOTH_NOISE : BOTH_SPECIAL, 0);
        check(TEXT, SIZES[7], ELEM_U8, BOTH_CHECKER, 16);
        dev_close(device);
    }
    device = usual;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(windows_are_ranked_bit_by_bit, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(extremes_share_rows_and_columns, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(long_blends_fill_by_fours, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(exact_sums_share_rows_and_columns, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(windows_of_all_kinds, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(long_windows_are_counted, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(rows_are_carried, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(rows_of_all_kinds_are_carried, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(finished_sums_wait, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(long_blends, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(bytes_have_tables, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(strips_are_computed_again, arena_setup, arena_teardown),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device);
}
