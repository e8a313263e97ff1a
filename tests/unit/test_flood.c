/*
 * test_flood: watersheds in one piece and in parts, in the shapes for GPUs and for CPUs, against the plain C of
 * reference/ref_shape.c, bit for bit; by the paths of markers, and stopped on the way.
 *
 * PIPEC_TEST_SMALL=1 leaves out the larger images, for slow checkers of kernels (oclgrind).
 */
#include "reference/ref.h"
#include "runtime/primitives/flood/watershed_paths.h"
#include "tests/support/on_device.h"
#include "tests/support/shape_job.h"
#include "tests/support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_watershed(RefShape s, int kind, int connectivity, int mode)
{
    size_t n = ref_pixels(s);
    bool line = mode & 1, masked = mode & 2, raster = mode & 8;
    float *image = shape_grey(kind, s);
    uint8_t *mask = masked ? shape_mask(MOST, s) : NULL;
    uint16_t *markers = zeroed(n * sizeof *markers);
    uint32_t *wide = zeroed(n * sizeof *wide), *expected = zeroed(n * sizeof *expected);
    for (size_t p = 0; p < n; p++) {
        markers[p] = (uint16_t)(p == n / 2 || below(40) == 0 ? 1 + below(mode & 4 ? 3 : 5000) : 0);
        wide[p] = markers[p];
    }
    RefFlood how = {connectivity, line, raster};
    uint32_t largest = ref_watershed(image, wide, mask, s, how, expected);
    ShapeJob job = {.primitive = "watershed",
                    .s = s,
                    .elem = {ELEM_F32, mode & 4 ? ELEM_U16 : ELEM_U32, ELEM_BOOL},
                    .pixels = {image, mode & 4 ? (const void *)markers : wide, mask},
                    .stored = true,
                    .arg = {connectivity, line, raster},
                    .count = -1,
                    .out = ELEM_U32};
    assert_true(shape_check(&job, "greys", expected) == largest);
    assert_true(largest == shape_largest(expected, n));
    free(image);
    free(mask);
    free(markers);
    free(wide);
    free(expected);
}

static void test_watershed(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPE_N_SIZES; i++) {
        RefShape s = SHAPE_SIZES[i];
        for (int kind = 0; kind < GREYS && !shape_skipped(s); kind++) {
            for (int mode = 0; mode < 16; mode++) {
                if (turn_has(mode)) {
                    check_watershed(s, kind, 1 + (mode + kind) % (s.d > 1 ? 3 : 2), mode);
                }
            }
        }
    }
}

/* A row of pixels, as letters from a on, with markers; in a mask where `mask` has dots. */
typedef struct Row {
    const char *image, *markers, *mask;
    bool line;
    const char *heap, *raster; /* labels, where they follow from paths */
} Row;

static void check_row(const Row *row, bool raster)
{
    enum { LONGEST = 16 };
    RefShape s = {(int)strlen(row->image), 1, 1, 1};
    float image[LONGEST];
    uint8_t markers[LONGEST], mask[LONGEST];
    for (int x = 0; x < s.w; x++) {
        image[x] = (float)row->image[x];
        markers[x] = (uint8_t)(row->markers[x] - '0');
        mask[x] = row->mask[x] == '.';
    }
    ShapeJob job = {.primitive = "watershed",
                    .s = s,
                    .elem = {ELEM_F32, ELEM_U8, ELEM_BOOL},
                    .pixels = {image, markers, mask},
                    .stored = true,
                    .arg = {1, row->line, raster},
                    .count = -1,
                    .out = ELEM_U32};
    Err err = {0};
    DevArg args[4] = {{0}};
    uint32_t labels[LONGEST] = {0};
    bool flooded = false;
    PrimCall call = shape_call(&job, NULL, 0, args, &err);
    call.scratch_size = watershed_paths_scratch(&call);
    call.scratch = call.scratch_size > 0 ? allocate(call.scratch_size) : NULL;
    must(watershed_paths_run(&call, &flooded), &err);
    const char *want = raster ? row->raster : row->heap;
    assert_true(flooded == (want != NULL));
    must(dev_read(device, call.out[0].mem, 0, labels, (size_t)s.w * sizeof *labels, &err), &err);
    for (int x = 0; x < s.w && want != NULL; x++) {
        assert_int_equal(labels[x], want[x] - '0');
    }
    dev_free(device, call.scratch);
    dev_free(device, call.out[0].mem);
    for (int i = 0; i < SHAPE_INPUTS; i++) {
        dev_free(device, call.in[i].mem);
    }
}

/* Equal markers count where their basins meet at one time: in the first four rows, not behind a
 * wall, when they have one label, when one basin has a pixel less to go or came from lower.  Of three
 * equal markers the last one leaves scikit-image's heap before the second one. */
static void paths_follow_the_turns_of_markers(void **state)
{
    (void)state;
    static const Row rows[] = {
        {"abcba", "20001", ".....", false, "22211", "22211"},
        {"aaaaa", "20001", ".....", false, "22211", "22211"},
        {"adbbbda", "3000005", ".......", false, "3333555", "3333555"},
        {"abcbabcba", "100020003", ".........", false, "111222333", "111222233"},
        {"abcba", "20001", ".. ..", false, "22011", "22011"},
        {"abcba", "20002", ".....", false, "22222", "22222"},
        {"aaaaaa", "200001", "......", false, "222111", "222111"},
        {"bcdca", "20001", ".....", false, "22111", "22111"},
        {"bcccca", "200001", "......", false, "222111", "222111"},
        {"abcb", "0000", "....", false, "0000", "0000"},
        {"abcba", "20001", ".....", true, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(&rows[i], false);
        check_row(&rows[i], true);
    }
}

static bool stops_at_once(void *nothing)
{
    (void)nothing;
    return true;
}

/* The queue of a large image asks whether to go on. */
static void a_flood_can_be_stopped(void **state)
{
    (void)state;
    RefShape s = {1100, 1000, 1, 1};
    float *image = zeroed(ref_pixels(s) * sizeof *image);
    uint8_t *markers = zeroed(ref_pixels(s));
    markers[0] = 1;
    ShapeJob job = {.primitive = "watershed",
                    .s = s,
                    .elem = {ELEM_F32, ELEM_U8},
                    .pixels = {image, markers},
                    .stored = true,
                    .arg = {1},
                    .count = -1,
                    .shape = 1,
                    .out = ELEM_U32};
    Err err = {0};
    DevArg args[4] = {{0}};
    PrimCall call = shape_call(&job, NULL, 0, args, &err);
    call.stop = stops_at_once;
    assert_false(prim_find("watershed")->run(&call));
    assert_int_equal(err.code, CODE_INTERRUPTED);
    dev_free(device, call.out[0].mem);
    dev_free(device, call.in[0].mem);
    dev_free(device, call.in[1].mem);
    free(image);
    free(markers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watershed),
        cmocka_unit_test(a_flood_can_be_stopped),
        cmocka_unit_test(paths_follow_the_turns_of_markers),
    };
    return cmocka_run_group_tests(tests, shape_open, shape_close);
}
