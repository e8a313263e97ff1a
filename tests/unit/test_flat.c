/*
 * Flat areas. Blends: what is alike everywhere comes out as it is, of steps the parts that a window does not reach over, and
 * nothing leaves the range of its window; and values against sums in double, pixel by pixel. Ranges: of images that have
 * none, or no end.
 */
#include "base/blend.h"
#include "both.h"
#include "fixtures.h"
#include "pipelines.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* By parts is the same sum, wherever the middle is; what mirrors itself does so to the bit. */
static void by_parts_is_the_same_sum(void **state)
{
    (void)state;
    for (int lo = -7; lo <= 3; lo++) {
        for (int hi = lo; hi <= 5; hi++) {
            double weight[16], parts[16], pixel[16], want = 0;
            const int n = hi - lo + 1, middle = blend_middle(lo, hi);
            for (int i = 0; i < n; i++) {
                parts[i] = weight[i] = (i * 37 + 11) % 19 / 7.0 - 1;
                pixel[i] = (i * 53 + 29) % 31 - 9;
                want += weight[i] * pixel[i];
            }
            blend_by_parts(parts, lo, hi);
            double got = parts[0] * pixel[middle - lo];
            for (int i = 1; i < n; i++) {
                got += parts[i] * (pixel[i] - pixel[i - 1]);
            }
            assert_true(fabs(got - want) <= 1e-12 * 1000);
        }
    }
    double bell[13], slope[13], all = 0;
    for (int i = -6; i <= 6; i++) {
        all += exp(-i * i / 8.0);
    }
    for (int i = -6; i <= 6; i++) {
        bell[i + 6] = exp(-i * i / 8.0) / all;
        slope[i + 6] = bell[i + 6] * i / 4;
    }
    blend_by_parts(bell, -6, 6);
    blend_by_parts(slope, -6, 6);
    assert_true(bell[0] == 1 && slope[0] == 0);
    for (int i = 1; i <= 6; i++) {
        assert_true(bell[6 + i] == -bell[7 - i] && slope[6 + i] == slope[7 - i]);
    }
}

static void is_all(const BothOutput *o, double value)
{
    for (int i = 0; i < o->extent[0] * o->extent[1] * o->extent[2]; i++) {
        if (o->pixels[i] != value) {
            fail_msg("%s at %d: %.9g, not %.9g", o->name, i, o->pixels[i], value);
        }
    }
}

static void evaluate(const char *text, const IrEvalInput *image, BothResult *out)
{
    BothCase in = {.n_inputs = 1, .inputs = {*image}};
    Err err = {0};
    if (!both_evaluate(pipeline_must("case.pipe", text), &in, out, &err)) {
        fail_msg("%s", err.text);
    }
}

/* The first outputs are the value, those behind them 0. */
static const char FLAT_TEXT[] =
    "output a = gaussian(image, 2)\noutput b = gaussian(image, 5, border = reflect)\noutput c = gaussian(image, [0.7, 3])\n"
    "output d = unsharp(image, 2, 3)\noutput e = gaussian_derivative(image, 1.3, 0)\noutput f = mean_filter(image, 2)\n"
    "output g = rotate(image, 30, border = nearest)\noutput h = scale(image, 1.7)\n"
    "output i = mean_filter(image, 8)\noutput k = niblack(image, 8)\noutput l = mean_filter(image, disk(11))\n"
    "output m = bilateral(image, 10, 1)\noutput n = denoise_nl_means(image, 3, 2, h = 5)\noutput o = downscale(image, [9, 5])\n"
    "output p = difference_of_gaussians(image, 1, 2)\noutput q = number(image > gaussian(image, 2))\n"
    "output r = gaussian_derivative(image, 2, [0, 1])\noutput s = gradient_magnitude(image, 1.5)\n"
    "output t = subtract_gaussian_background(image, 3)\noutput u = divide_by_gaussian_background(image, 3) - 1\n"
    "output w = farid(image)\noutput z = std(image) + var(image) + 0 * image\n";

static void flat_areas_stay(void **state)
{
    (void)state;
    static const struct {
        double value;
        Elem elem;
        const char *input;
    } AREAS[] = {{100, ELEM_U8, "input image[y, x]\n"},
                 {255, ELEM_U8, "input image[y, x]\n"},
                 {3, ELEM_U8, "input image[y, x]: u8\n"},
                 {4095, ELEM_U16, "input image[y, x]\n"},
                 {65535, ELEM_U16, "input image[y, x]\n"},
                 {0.1f, ELEM_F32, "input image[y, x]\n"},
                 {65535, ELEM_U16, "input v[y, x]\nimage = f64(v)\n"},
                 {0.1f, ELEM_F32, "input v[y, x]\nimage = f64(v)\n"}};
    enum { W = 13, H = 9 };
    for (size_t k = 0; k < sizeof AREAS / sizeof *AREAS; k++) {
        double pixels[W * H];
        for (int i = 0; i < W * H; i++) {
            pixels[i] = AREAS[k].value;
        }
        const IrEvalInput image = {.extent = {W, H, 1, 1},
                                   .elem = AREAS[k].elem,
                                   .pixelsize = {1, 1, 1},
                                   .pixels = pixels};
        char text[2000];
        snprintf(text, sizeof text, "%s%s", AREAS[k].input, FLAT_TEXT);
        BothResult got = {0};
        evaluate(text, &image, &got);
        for (int i = 0; i < got.n; i++) {
            is_all(&got.at[i], got.at[i].name[0] < 'p' ? AREAS[k].value : 0);
        }
        both_free(&got);
    }
}

/* Of more numbers than f32 holds the sum of. */
static const char STACK_TEXT[] =
    "output a = mean_project(image)\noutput b = mean_project(image where z_of(image) > 7)\n"
    "output c = mean(image[dz = k] for k in -150 .. 150)\n"
    "output p = std_project(image)\noutput q = std_project(image where z_of(image) > 7)\n"
    "output r = std(image[dz = k, dy = j] for k in -150 .. 150, j in 0 .. 1)\n";

static void flat_stacks_stay(void **state)
{
    (void)state;
    static const struct {
        double value;
        Elem elem;
        const char *input;
    } STACKS[] = {{255, ELEM_U8, "input image[z, y, x]: u8\n"},           {65535, ELEM_U16, "input image[z, y, x]\n"},
                  {65535, ELEM_U16, "input image[z, y, x]: u16\n"},       {1048575, ELEM_I32, "input image[z, y, x]\n"},
                  {-2147483647, ELEM_I32, "input image[z, y, x]: i32\n"}, {0.1f, ELEM_F32, "input image[z, y, x]\n"}};
    enum { D = 301 };
    for (size_t k = 0; k < sizeof STACKS / sizeof *STACKS; k++) {
        double pixels[D * 2];
        for (int i = 0; i < D * 2; i++) {
            pixels[i] = STACKS[k].value;
        }
        const IrEvalInput image = {.extent = {2, 1, D, 1},
                                   .elem = STACKS[k].elem,
                                   .pixelsize = {1, 1, 1},
                                   .pixels = pixels};
        char text[1000];
        snprintf(text, sizeof text, "%s%s", STACKS[k].input, STACK_TEXT);
        BothResult got = {0};
        evaluate(text, &image, &got);
        for (int i = 0; i < got.n; i++) {
            is_all(&got.at[i], got.at[i].name[0] < 'p' ? (double)(float)STACKS[k].value : 0);
        }
        both_free(&got);
    }
}

/* A small deviation beside a large mean keeps its digits: of all pixels, of some, along an axis. */
static const char HIGH_TEXT[] =
    "input image[z, y, x]\nnothing = 0 * image[z = 0]\n"
    "output a = std(image) + nothing\noutput b = sqrt(var(image where x_of(image) > 2)) + nothing\n"
    "output c = std(f64(image)) + nothing\noutput d = kappa_sigma(image, 100).std + nothing\n"
    "output p = std_project(image)\noutput q = sqrt(var(image[z = k] for k in 0 .. 9 where k > 2))\n";

enum { HIGH_W = 300, HIGH_H = 70, HIGH_D = 10 };

/* Of columns from x on, or of one pixel's planes from z on. */
static double spread_of(const double *pixels, int x, int z, int of)
{
    enum { PLANE = HIGH_W * HIGH_H };
    double n = 0, mean = 0, squares = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < PLANE * HIGH_D; i++) {
            if (i % HIGH_W >= x && i / PLANE >= z && (of < 0 || i % PLANE == of)) {
                n += round == 0;
                mean += round == 0 ? pixels[i] : 0;
                squares += round == 0 ? 0 : (pixels[i] - mean) * (pixels[i] - mean);
            }
        }
        mean /= round == 0 ? n : 1;
    }
    return sqrt(squares / n);
}

static void small_deviations_stay(void **state)
{
    (void)state;
    static const double HIGH[] = {1e4, -1e6, 1.6e7};
    double *pixels = malloc(sizeof(double) * HIGH_W * HIGH_H * HIGH_D);
    assert_non_null(pixels);
    for (size_t k = 0; k < sizeof HIGH / sizeof *HIGH; k++) {
        for (int i = 0; i < HIGH_W * HIGH_H * HIGH_D; i++) {
            pixels[i] = HIGH[k] + i % 7 * (i % 5) % 4;
        }
        const IrEvalInput image = {.extent = {HIGH_W, HIGH_H, HIGH_D, 1},
                                   .elem = ELEM_F32,
                                   .pixelsize = {1, 1, 1},
                                   .pixels = pixels};
        BothResult got = {0};
        evaluate(HIGH_TEXT, &image, &got);
        for (int o = 0; o < got.n; o++) {
            const char name = got.at[o].name[0];
            for (int i = 5; i < HIGH_W * HIGH_H; i += 2999) {
                double want = spread_of(pixels, name == 'b' ? 3 : 0, name == 'q' ? 3 : 0, name < 'p' ? -1 : i);
                if (!(fabs(got.at[o].pixels[i] - want) <= 1e-6 * want)) {
                    fail_msg("%s of %g at %d: %.9g, not %.9g", got.at[o].name, HIGH[k], i, got.at[o].pixels[i], want);
                }
            }
        }
        assert_int_equal(got.n, 6);
        both_free(&got);
    }
    free(pixels);
}

/* What is blended gives the value (outputs before p), or 0, in any type, size and border; sums over their number do where the sums are
 * exact, and are near it elsewhere (outputs from w on). */
static const char SWEEP_TEXT[] =
    "input image[%s]\noutput a = gaussian(image, 1.3, border = %s)\noutput b = gaussian(image, 4, border = %s)\n"
    "output c = gaussian_derivative(image, 1.5, 0, border = %s)\noutput d = mean_filter(image, 8, border = %s)\n"
    "output p = difference_of_gaussians(image, 1, 2, border = %s)\noutput q = gradient_magnitude(image, 1.5, border = %s)\n"
    "output w = mean_filter(image, 2, border = %s)\noutput x = mean_filter(image, disk(6), border = %s)\n"
    "output y = mean_filter(image, disk(10), border = %s)\n";

static void is_near(const BothOutput *o, double value, int summed)
{
    const bool exact = value == rint(value) && fabs(value) * summed <= 0x1p24;
    const double room = exact ? 0 : summed * (double)FLT_EPSILON * fabs(value);
    for (int i = 0; i < o->extent[0] * o->extent[1] * o->extent[2]; i++) {
        if (!(fabs(o->pixels[i] - value) <= room)) {
            fail_msg("%s at %d: %.9g, not %.9g", o->name, i, o->pixels[i], value);
        }
    }
}

static void sweep(const char *text, Elem elem, double value, const int extent[3])
{
    double pixels[600];
    const IrEvalInput image = {.extent = {extent[0], extent[1], extent[2], 1},
                               .elem = elem,
                               .pixelsize = {1, 1, 1},
                               .pixels = pixels};
    BothResult got = {0};
    for (int i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
        pixels[i] = value;
    }
    evaluate(text, &image, &got);
    for (int i = 0; i < got.n; i++) {
        const char name = got.at[i].name[0];
        if (name < 'w') {
            is_all(&got.at[i], name < 'p' ? value : 0);
        } else {
            is_near(&got.at[i], value, name == 'w' ? 25 : name == 'x' ? 113 : 317);
        }
    }
    both_free(&got);
}

static void flat_areas_stay_in_any_type_size_and_border(void **state)
{
    (void)state;
    static const struct {
        Elem elem;
        double value;
    } AREAS[] = {{ELEM_U8, 255},    {ELEM_U16, 4097},         {ELEM_U16, 65535},         {ELEM_I16, -32768},
                 {ELEM_I16, 29},    {ELEM_U32, 4294967040.0}, {ELEM_I32, -2147483648.0}, {ELEM_F32, 0.1f},
                 {ELEM_F32, -7.3f}, {ELEM_F32, 1e30f},        {ELEM_F32, 1e-30f},        {ELEM_F64, 0.3f}};
    static const int EXTENTS[][3] = {{1, 1, 1}, {2, 3, 1}, {31, 1, 1}, {23, 19, 1}, {5, 4, 3}};
    static const char *const BORDERS[] = {"nearest", "reflect", "mirror", "wrap", "constant"};
    for (size_t k = 0; k < sizeof AREAS / sizeof *AREAS; k++) {
        for (size_t b = 0; b < sizeof BORDERS / sizeof *BORDERS; b++) {
            for (size_t e = 0; e < sizeof EXTENTS / sizeof *EXTENTS; e++) {
                char o[60], text[2000];
                snprintf(o, sizeof o, b == 4 ? "%s(%.17g)" : "%s", BORDERS[b], AREAS[k].value);
                snprintf(text, sizeof text, SWEEP_TEXT, EXTENTS[e][2] > 1 ? "z, y, x" : "y, x", o, o, o, o, o, o, o, o,
                         o);
                sweep(text, AREAS[k].elem, AREAS[k].value, EXTENTS[e]);
            }
        }
    }
}

/* Left of the step and right of it, as far as the window reaches over it. */
static void steps_stay_flat_beyond_the_window(void **state)
{
    (void)state;
    enum { W = 60, AT = 30, REACH = 8 };
    double pixels[W];
    for (int x = 0; x < W; x++) {
        pixels[x] = x < AT ? 3 : 65535;
    }
    const IrEvalInput image = {.extent = {W, 1, 1, 1}, .elem = ELEM_U16, .pixelsize = {1, 1, 1}, .pixels = pixels};
    BothResult got = {0};
    evaluate("input image[y, x]\noutput a = gaussian(image, 2)\n", &image, &got);
    const double *a = got.at[0].pixels;
    for (int x = 0; x < W; x++) {
        bool beyond = x < AT - REACH || x >= AT + REACH;
        assert_true(beyond == (a[x] == pixels[x]));
        assert_true(a[x] >= 3 && a[x] <= 65535 && (x == 0 || a[x] >= a[x - 1]));
    }
    both_free(&got);
}

/* A star on a dark sky: what it gives to its neighbours has all its digits, on both sides alike. */
static void faint_beside_bright_keeps_its_digits(void **state)
{
    (void)state;
    enum { W = 41, AT = 20 };
    double pixels[W] = {0};
    pixels[AT] = 60000;
    const IrEvalInput image = {.extent = {W, 1, 1, 1}, .elem = ELEM_F32, .pixelsize = {1, 1, 1}, .pixels = pixels};
    BothResult got = {0};
    evaluate("input image[y, x]\noutput a = gaussian(image, [0, 3])\n", &image, &got);
    double all = 0;
    for (int i = -12; i <= 12; i++) {
        all += exp(-0.5 * i * i / 9);
    }
    for (int i = -12; i <= 12; i++) {
        const double want = 60000 * exp(-0.5 * i * i / 9) / all;
        assert_true(fabs(got.at[0].pixels[AT + i] - want) <= 8 * (double)FLT_EPSILON * want);
    }
    both_free(&got);
}

static double clamped(const double *pixels, int n, int i)
{
    return pixels[i < 0 ? 0 : i >= n ? n - 1 : i];
}

static void values_are_those_of_sums(void **state)
{
    (void)state;
    enum { W = 300, R = 20 };
    IrEvalInput image = both_image(W, 1, 1, 1, ELEM_U16, 3, BOTH_NOISE);
    BothResult got = {0};
    evaluate(
        "input image[y, x]\noutput a = gaussian(image, [0, 5])\noutput b = gaussian_derivative(image, [1, 5], [0, 1])\n"
        "output c = gaussian_derivative(image, [1, 5], [0, 2])\n",
        &image, &got);
    double all = 0;
    for (int i = -R; i <= R; i++) {
        all += exp(-0.02 * i * i);
    }
    for (int x = 0; x < W; x++) {
        double want[3] = {0}, least = INFINITY, most = -INFINITY;
        for (int i = -R; i <= R; i++) {
            const double p = clamped(image.pixels, W, x + i), w = exp(-0.02 * i * i) / all;
            want[0] += w * p;
            want[1] += w * i / 25 * p;
            want[2] += w * (i * i / 25.0 - 1) / 25 * p;
            least = fmin(least, p);
            most = fmax(most, p);
        }
        for (int k = 0; k < 3; k++) {
            const double off = fabs(got.at[k].pixels[x] - want[k]);
            assert_true(off <= 1e-6 * (most - least));
        }
        assert_true(got.at[0].pixels[x] >= least && got.at[0].pixels[x] <= most);
    }
    both_free(&got);
    free((void *)(uintptr_t)image.pixels);
}

/* The first pixel is the odd one among 400 others. */
static void normalized_is_within_0_and_1(void **state)
{
    (void)state;
    static const struct {
        double odd, others, odd_becomes, others_become[2]; /* by the ends, by percentiles */
    } IMAGES[] = {{7, 7, 1, {1, 1}},     {0, 0, 0, {0, 0}},        {0.5, 0.5, 0.5, {0.5, 0.5}},
                  {-3, -3, 0, {0, 0}},   {500, 0, 1, {0, 0}},      {3, 65535, 0, {1, 1}},
                  {NAN, 7, NAN, {1, 1}}, {INFINITY, 2, 1, {0, 1}}, {-INFINITY, 0.25, 0, {1, 0.25}}};
    static const char *const TEXTS[] = {"input image[y, x]\noutput a = normalize(image)\n",
                                        "input image[y, x]\noutput a = normalize(image, 1, 99)\n"};
    enum { N = 401 };
    for (size_t k = 0; k < sizeof IMAGES / sizeof *IMAGES; k++) {
        double pixels[N];
        for (int i = 0; i < N; i++) {
            pixels[i] = i == 0 ? IMAGES[k].odd : IMAGES[k].others;
        }
        const IrEvalInput image = {.extent = {N, 1, 1, 1}, .elem = ELEM_F32, .pixelsize = {1, 1, 1}, .pixels = pixels};
        for (size_t t = 0; t < sizeof TEXTS / sizeof *TEXTS; t++) {
            const double others = IMAGES[k].others_become[t];
            BothResult got = {0};
            evaluate(TEXTS[t], &image, &got);
            const double *a = got.at[0].pixels;
            if (isnan(IMAGES[k].odd) ? !isnan(a[0]) : a[0] != IMAGES[k].odd_becomes) {
                fail_msg("%g among %g becomes %g", IMAGES[k].odd, IMAGES[k].others, a[0]);
            }
            for (int i = 1; i < N; i++) {
                if (a[i] != others) {
                    fail_msg("%g beside %g becomes %g, not %g", pixels[i], IMAGES[k].odd, a[i], others);
                }
            }
            both_free(&got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_parts_is_the_same_sum, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(flat_areas_stay, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(flat_stacks_stay, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(small_deviations_stay, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(flat_areas_stay_in_any_type_size_and_border, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(steps_stay_flat_beyond_the_window, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(faint_beside_bright_keeps_its_digits, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(values_are_those_of_sums, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(normalized_is_within_0_and_1, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
