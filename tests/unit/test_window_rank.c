/*
 * test_window_rank: ranks and modes of large windows, sliding and read for each pixel, whole and in parts, against the
 * plain C of reference/ref_window.c, bit for bit.
 *
 * PIPEC_TEST_SMALL=1 leaves out the larger ones, for slow checkers of kernels (oclgrind).
 */
#include "reference/ref.h"
#include "runtime/primitives/window/window_slices.h"
#include "runtime/primitives/window/window_tiles.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/parts.h"
#include "tests/support/turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const Primitive prim_window_rank;

enum { SMALL_WORK = 1 << 20, MODE = -1 };

typedef struct Ranking {
    RefShape s;
    Window window;
    Elem elem;
    BothKind kind;
    double percent; /* or MODE */
    Border border;
    double outside;
    int step; /* rows or planes of a part; 0: only whole */
} Ranking;

/* A window of holes, one of a single pixel to one side, one without any. */
static const char HOLES[] = "1010010101100110110000001"
                            "0000000000000000000000000"
                            "1011011101111011111011111";
static const char ASIDE[] = "000000001";
static const char EMPTY[] = "000000000";

static const Ranking RANKINGS[] = {
    {{1, 1, 1, 1}, {WINDOW_BOX, {4, 4, 0}, NULL}, ELEM_U8, BOTH_NOISE, 50, BORDER_REFLECT, 0, 0},
    {{1, 90, 1, 1}, {WINDOW_DISK, {9.5, 9, 0}, NULL}, ELEM_F32, BOTH_SPECIAL, 50, BORDER_NEAREST, 0, 17},
    {{200, 1, 1, 1}, {WINDOW_DISK, {6, 6, 0}, NULL}, ELEM_U16, BOTH_EXTREME, 30, BORDER_MIRROR, 0, 0},
    {{63, 64, 1, 1}, {WINDOW_BOX, {5, 4, 0}, NULL}, ELEM_U8, BOTH_SMOOTH, 50, BORDER_WRAP, 0, 0},
    {{65, 33, 1, 1}, {WINDOW_BOX, {4, 7, 0}, NULL}, ELEM_I16, BOTH_EXTREME, 99, BORDER_NEAREST, 0, 8},
    {{131, 67, 1, 1}, {WINDOW_DISK, {7, 7, 0}, NULL}, ELEM_F32, BOTH_EXTREME, 100, BORDER_REFLECT, 0, 9},
    {{129, 257, 1, 2}, {WINDOW_DIAMOND, {6, 6, 0}, NULL}, ELEM_U32, BOTH_EXTREME, 0, BORDER_MIRROR, 0, 65},
    {{70, 40, 1, 1}, {WINDOW_BOX, {0, 30, 0}, NULL}, ELEM_I32, BOTH_EXTREME, 51, BORDER_NEAREST, 0, 20},
    {{70, 40, 1, 1}, {WINDOW_BOX, {45, 0, 0}, NULL}, ELEM_U8, BOTH_CONSTANT, 50, BORDER_NEAREST, 0, 0},
    {{90, 50, 1, 1}, {WINDOW_BOX, {5, 5, 0}, NULL}, ELEM_F32, BOTH_SPECIAL, 80, BORDER_CONSTANT, NAN, 11},
    {{90, 50, 1, 1}, {WINDOW_BOX, {5, 5, 0}, NULL}, ELEM_U8, BOTH_CHECKER, 20, BORDER_CONSTANT, 7, 11},
    {{90, 50, 1, 3}, {WINDOW_DISK, {5, 5, 0}, NULL}, ELEM_U8, BOTH_SPARSE, 60, BORDER_CONSTANT, 255, 50},
    {{50, 30, 1, 1}, {WINDOW_LITERAL, {12, 1, 0}, HOLES}, ELEM_U16, BOTH_NOISE, 50, BORDER_REFLECT, 0, 7},
    {{50, 30, 1, 1}, {WINDOW_LITERAL, {1, 1, 0}, ASIDE}, ELEM_F32, BOTH_NOISE, 50, BORDER_WRAP, 0, 0},
    {{50, 30, 1, 1}, {WINDOW_LITERAL, {1, 1, 0}, EMPTY}, ELEM_I16, BOTH_NOISE, 50, BORDER_NEAREST, 0, 3},
    {{24, 19, 17, 1}, {WINDOW_BALL, {3, 3, 3}, NULL}, ELEM_U16, BOTH_NOISE, 50, BORDER_REFLECT, 0, 5},
    {{33, 20, 9, 2}, {WINDOW_BOX, {2, 3, 1}, NULL}, ELEM_F32, BOTH_SPECIAL, 40, BORDER_CONSTANT, -INFINITY, 1},
    {{1, 1, 40, 1}, {WINDOW_BOX, {2, 2, 4}, NULL}, ELEM_I32, BOTH_NOISE, 50, BORDER_MIRROR, 0, 7},
    {{70, 60, 1, 1}, {WINDOW_BOX, {4, 4, 0}, NULL}, ELEM_F64, BOTH_SPECIAL, 50, BORDER_CONSTANT, NAN, 11},
    {{1, 1, 1, 1}, {WINDOW_BOX, {4, 4, 0}, NULL}, ELEM_U8, BOTH_NOISE, MODE, BORDER_REFLECT, 0, 0},
    {{63, 64, 1, 1}, {WINDOW_BOX, {5, 4, 0}, NULL}, ELEM_U8, BOTH_SMOOTH, MODE, BORDER_WRAP, 0, 0},
    {{129, 257, 1, 2}, {WINDOW_DIAMOND, {6, 6, 0}, NULL}, ELEM_U32, BOTH_EXTREME, MODE, BORDER_MIRROR, 0, 65},
    {{90, 50, 1, 1}, {WINDOW_BOX, {5, 5, 0}, NULL}, ELEM_F32, BOTH_SPECIAL, MODE, BORDER_CONSTANT, NAN, 11},
    {{90, 50, 1, 1}, {WINDOW_BOX, {5, 5, 0}, NULL}, ELEM_F64, BOTH_SPECIAL, MODE, BORDER_REFLECT, 0, 11},
    {{90, 50, 1, 3}, {WINDOW_DISK, {5, 5, 0}, NULL}, ELEM_U16, BOTH_SPARSE, MODE, BORDER_CONSTANT, 255, 50},
    {{90, 90, 1, 1}, {WINDOW_BOX, {9, 9, 0}, NULL}, ELEM_F32, BOTH_NOISE, MODE, BORDER_NEAREST, 0, 40},
    {{50, 30, 1, 1}, {WINDOW_LITERAL, {12, 1, 0}, HOLES}, ELEM_U16, BOTH_CHECKER, MODE, BORDER_REFLECT, 0, 7},
    {{50, 30, 1, 1}, {WINDOW_LITERAL, {1, 1, 0}, EMPTY}, ELEM_I16, BOTH_NOISE, MODE, BORDER_NEAREST, 0, 3},
    {{24, 19, 17, 1}, {WINDOW_BALL, {3, 3, 3}, NULL}, ELEM_U16, BOTH_SMOOTH, MODE, BORDER_REFLECT, 0, 5},
    {{12, 9, 1, 1}, {WINDOW_DISK, {60, 60, 0}, NULL}, ELEM_F32, BOTH_SPECIAL, MODE, BORDER_REFLECT, 0, 4},
    {{9, 2, 1, 1}, {WINDOW_BOX, {128, 128, 0}, NULL}, ELEM_U8, BOTH_NOISE, MODE, BORDER_REFLECT, 0, 0},
    /* Several tiles of windows that are ranked bit by bit, and words beside a window's own. */
    {{300, 70, 1, 2}, {WINDOW_BOX, {31, 1, 0}, NULL}, ELEM_U8, BOTH_EXTREME, 20, BORDER_WRAP, 0, 9},
    {{300, 20, 1, 1}, {WINDOW_LITERAL, {1, 1, 0}, ASIDE}, ELEM_U8, BOTH_NOISE, 50, BORDER_WRAP, 0, 7},
    /* On either side of 65536 places of the smallest tile, and of what the local memory of GPUs holds. */
    {{9, 2, 1, 1}, {WINDOW_BOX, {127, 127, 0}, NULL}, ELEM_F32, BOTH_NOISE, 50, BORDER_NEAREST, 0, 1},
    {{3, 5, 1, 1}, {WINDOW_BOX, {128, 128, 0}, NULL}, ELEM_U8, BOTH_NOISE, 50, BORDER_REFLECT, 0, 0},
    {{5, 1, 1, 1}, {WINDOW_BOX, {300, 300, 0}, NULL}, ELEM_U16, BOTH_NOISE, 25, BORDER_REFLECT, 0, 0},
    {{40, 30, 1, 1}, {WINDOW_DISK, {60, 60, 0}, NULL}, ELEM_F32, BOTH_SPECIAL, 50, BORDER_REFLECT, 0, 13},
};
enum { N_RANKINGS = sizeof RANKINGS / sizeof *RANKINGS };

/* Where a place beyond the image is read, step by step. */
static const char BORDERS[] =
    "static int px_nearest(int i, int n) { return clamp(i, 0, n - 1); }\n"
    "static int px_wrap(int i, int n) { while (i < 0) { i += n; } return i % n; }\n"
    "static int px_reflect(int i, int n)\n"
    "{ while (i < 0 || i >= n) { i = i < 0 ? -1 - i : 2 * n - 1 - i; } return i; }\n"
    "static int px_mirror(int i, int n)\n"
    "{ while (n > 1 && (i < 0 || i >= n)) { i = i < 0 ? -i : 2 * n - 2 - i; } return n > 1 ? i : 0; }\n";

static double work(const Ranking *r)
{
    double places = (double)ref_pixels(r->s);
    for (int axis = 0; axis < 3; axis++) {
        places *= 2 * floor(r->window.radius[axis]) + 1;
    }
    return places;
}

/* The call that a ranking is about, as far as tiles follow from it. */
static PrimCall call_of(RefShape s, Elem elem, int shape)
{
    PrimCall call = {.dev = device, .w = s.w, .h = s.h, .d = s.d, .planes = s.d * s.c, .shape = shape};
    call.in[0].elem = call.out[0].elem = elem;
    return call;
}

static PartsJob job_of(const Ranking *r, const void *pixels)
{
    PartsJob job = {.dev = device,
                    .primitive = &prim_window_rank,
                    .s = r->s,
                    .step = r->step,
                    .by_channel = true,
                    .pixels = {pixels},
                    .elem = {r->elem},
                    .functions = BORDERS,
                    .stored = true,
                    .text = r->window.cells,
                    .count = NAN,
                    .out = r->elem};
    const double arg[] = {r->window.shape, r->window.radius[0], r->window.radius[1], r->window.radius[2],
                          r->percent,      r->border,           r->outside,          r->percent == MODE};
    memcpy(job.arg, arg, sizeof arg);
    return job;
}

/* Of numbers the bits; one NaN is as good as another. */
static bool same(const void *a, const void *b, size_t i, Elem elem)
{
    double x = elem_get(a, i, elem), y = elem_get(b, i, elem);
    return (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
}

static void compare(const Ranking *r, const PartsJob *job, bool whole, const void *want, void *got)
{
    Err err = {0};
    double values[PARTS_SLOTS];
    size_t n = ref_pixels(r->s);
    must(whole ? parts_run_whole(job, got, values, &err) : parts_run(job, got, values, &err), &err);
    for (size_t i = 0; i < n; i++) {
        if (!same(want, got, i, r->elem)) {
            fail_msg("%d: shape %d, %s: pixel %zu of %d x %d x %d is %.9g, not %.9g", (int)(r - RANKINGS), job->shape,
                     whole ? "whole" : "in parts", i, r->s.w, r->s.h, r->s.d, elem_get(got, i, r->elem),
                     elem_get(want, i, r->elem));
        }
    }
}

static void check(const Ranking *r, int shape)
{
    size_t n = ref_pixels(r->s), size = elem_size(r->elem);
    IrEvalInput image = both_image(r->s.w, r->s.h, r->s.d, r->s.c, r->elem, 5, (int)r->kind);
    void *pixels = zeroed(n * size), *want = zeroed(n * size), *got = zeroed(n * size);
    double *ranked = zeroed(n * sizeof *ranked);
    const RefWindowRank how = {r->window, r->percent, r->percent == MODE, r->border, r->outside};
    ref_window_rank(image.pixels, r->s, &how, ranked);
    for (size_t i = 0; i < n; i++) {
        elem_put(pixels, i, r->elem, image.pixels[i]);
        elem_put(want, i, r->elem, ranked[i]);
    }
    PartsJob job = job_of(r, pixels);
    job.shape = shape;
    compare(r, &job, true, want, got);
    if (r->step > 0) {
        compare(r, &job, false, want, got);
    }
    free((void *)(uintptr_t)image.pixels);
    free(pixels);
    free(want);
    free(got);
    free(ranked);
}

static int count_sliding(int shape)
{
    int n = 0;
    for (int i = 0; i < N_RANKINGS; i++) {
        const PrimCall call = call_of(RANKINGS[i].s, RANKINGS[i].elem, shape);
        WindowTiles t;
        n += window_tiles(&call, &RANKINGS[i].window, RANKINGS[i].percent == MODE, &t);
    }
    return n;
}

static void check_all(int shape, double most_work)
{
    const char *only = getenv("PIPEC_TEST_CASE");
    for (int i = 0; i < N_RANKINGS; i++) {
        const bool wanted = only == NULL ? turn_has(i + shape) : atoi(only) == i;
        if (wanted && work(&RANKINGS[i]) <= (small ? SMALL_WORK : most_work)) {
            check(&RANKINGS[i], shape);
        }
    }
}

static void windows_slide(void **state)
{
    (void)state;
    for (int shape = first_shape(); shape <= SHAPE_CPU; shape++) {
        assert_true(count_sliding(shape) > N_RANKINGS / 2);
        check_all(shape, INFINITY);
    }
}

/* The same where a group may have only so much local memory; so many of all slide. */
static void check_within(uint64_t bytes, double most_work, int least, int most)
{
    if (!runs_gpu_shapes(device)) {
        skip();
    }
    Device *usual = device;
    Err err = {0};
    const DevOptions options = {.choice = getenv("PIPEC_TEST_DEVICE"),
                                .flags = getenv("PIPEC_TEST_FLAGS"),
                                .local_limit = bytes};
    must(dev_open(&options, &device, &err), &err);
    assert_in_range(count_sliding(SHAPE_GPU), least, most);
    check_all(SHAPE_GPU, most_work);
    dev_close(device);
    device = usual;
}

static void windows_slide_in_little_memory(void **state)
{
    (void)state;
    check_within(20 << 10, INFINITY, N_RANKINGS / 2, N_RANKINGS - 1);
}

static void windows_are_read(void **state)
{
    (void)state;
    check_within(1, SMALL_WORK, 0, 0);
}

/* Whether windows slide, and what tiles take then. */
static void tiles_fit(void **state)
{
    (void)state;
    static const struct {
        RefShape s;
        Window window;
        int shape;
        bool slides;
    } CASES[] = {
        {{512, 512, 1, 1}, {WINDOW_DISK, {8, 8, 0}, NULL}, SHAPE_CPU, true},
        {{4000, 3000, 1, 3}, {WINDOW_BOX, {50, 50, 0}, NULL}, SHAPE_CPU, true},
        {{100, 100, 100, 1}, {WINDOW_BALL, {9, 9, 9}, NULL}, SHAPE_CPU, true},
        {{1, 100000, 1, 1}, {WINDOW_BOX, {4, 4, 0}, NULL}, SHAPE_CPU, true},
        {{512, 512, 1, 1}, {WINDOW_DISK, {8, 8, 0}, NULL}, SHAPE_GPU, true},
        {{4000, 3000, 1, 3}, {WINDOW_BOX, {50, 50, 0}, NULL}, SHAPE_GPU, true},
        {{100, 100, 100, 1}, {WINDOW_BALL, {9, 9, 9}, NULL}, SHAPE_GPU, true},
        {{512, 512, 1, 1}, {WINDOW_BOX, {9000, 9000, 0}, NULL}, SHAPE_GPU, false},
        {{1, 1, 1, 1}, {WINDOW_BOX, {4, 4, 0}, NULL}, SHAPE_CPU, false},
        {{512, 512, 1, 1}, {WINDOW_BOX, {9000, 9000, 0}, NULL}, SHAPE_CPU, false},
        {{512, 512, 1, 1}, {WINDOW_LITERAL, {1, 1, 0}, EMPTY}, SHAPE_CPU, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const RefShape s = CASES[i].s;
        const Window *w = &CASES[i].window;
        const PrimCall call = call_of(s, ELEM_U8, CASES[i].shape);
        WindowTiles t;
        assert_int_equal(window_tiles(&call, w, false, &t), CASES[i].slides);
        if (CASES[i].slides) {
            assert_true(t.groups > 0 && t.local <= dev_info(device)->local);
            assert_true(t.size[0] <= s.w && t.size[1] <= s.h && t.size[2] <= s.d);
            assert_true(window_tiles_bytes(&t) <= 128 << 20);
        }
    }
}

/* Which windows are ranked bit by bit, in tiles that fit. */
static void slices_fit(void **state)
{
    (void)state;
    static const struct {
        Window window;
        Elem elem;
        int shape;
        bool are;
    } CASES[] = {
        {{WINDOW_BOX, {4, 4, 0}, NULL}, ELEM_U8, SHAPE_GPU, true},
        {{WINDOW_BOX, {4, 4, 0}, NULL}, ELEM_U8, SHAPE_CPU, false},
        {{WINDOW_DISK, {8, 8, 0}, NULL}, ELEM_I16, SHAPE_GPU, true},
        {{WINDOW_BOX, {4, 4, 0}, NULL}, ELEM_F32, SHAPE_GPU, false},
        {{WINDOW_BOX, {2, 2, 2}, NULL}, ELEM_U8, SHAPE_GPU, true},
        {{WINDOW_BOX, {31, 4, 0}, NULL}, ELEM_U8, SHAPE_GPU, true},
        {{WINDOW_BOX, {32, 4, 0}, NULL}, ELEM_U8, SHAPE_GPU, false},
        {{WINDOW_BOX, {20, 20, 0}, NULL}, ELEM_U8, SHAPE_GPU, false},
        {{WINDOW_LITERAL, {1, 1, 0}, EMPTY}, ELEM_U8, SHAPE_GPU, false},
    };
    if (!runs_gpu_shapes(device)) {
        skip();
    }
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const PrimCall call = call_of((RefShape){512, 512, 8, 1}, CASES[i].elem, CASES[i].shape);
        WindowSlices s;
        const bool are = window_slices(&call, &CASES[i].window, CASES[i].elem, &s);
        assert_int_equal(are, CASES[i].are);
        assert_true(!are || s.local <= dev_info(device)->local);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_slide),
                                       cmocka_unit_test(windows_slide_in_little_memory),
                                       cmocka_unit_test(windows_are_read), cmocka_unit_test(tiles_fit),
                                       cmocka_unit_test(slices_fit)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
