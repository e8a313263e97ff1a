/*
 * test_near: neighbours of labels by number and distance: the reference against counting by hand, and what
 * a device says of grids, whose distances tie, of noise, of few labels and of labels with gaps, in one piece
 * and in parts.
 */
#include "base/near.h"
#include "fixtures.h"
#include "reference/ref.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"
#include "tests/support/turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the reference ----------------------------------------------------------------------- */

/* Labels 1..9 in three rows of three, one apart along x and two along y; 10 is nowhere. */
static const float X[] = {0, 0, 1, 2, 0, 1, 2, 0, 1, 2, NAN};
static const float Y[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0};
static const float Z[11] = {0};

static RefNear grid(double n, double limit)
{
    return (RefNear){.at = {X, Y, Z}, .spacing = {1, 2, 1}, .n = n, .limit = limit};
}

static void check_fold(RefNear near, const float *values, int fold, const float want[9])
{
    float out[11];
    assert_true(ref_near(&near, values, 10, fold, out));
    assert_true(out[0] == 0 && out[10] == 0);
    assert_memory_equal(out + 1, want, 9 * sizeof *want);
}

static void the_reference_is_right(void **state)
{
    (void)state;
    static const float values[] = {9, 1, 5, -0.0f, 4, NAN, 6, 5, 8, 5, 7};
    const float root5 = (float)sqrt(5);
    check_fold(grid(INFINITY, 1), NULL, NEAR_COUNT, (float[]){1, 2, 1, 1, 2, 1, 1, 2, 1});
    check_fold(grid(INFINITY, INFINITY), NULL, NEAR_COUNT, (float[]){8, 8, 8, 8, 8, 8, 8, 8, 8});
    check_fold(grid(0, INFINITY), NULL, NEAR_COUNT, (float[]){0, 0, 0, 0, 0, 0, 0, 0, 0});
    check_fold(grid(3, 2), NULL, NEAR_MAX, (float[]){2, 2, 2, 2, 2, 2, 2, 2, 2});
    check_fold(grid(4, INFINITY), NULL, NEAR_MAX, (float[]){root5, root5, root5, 2, 2, 2, root5, root5, root5});
    /* The smaller one of equally near ones: 2 has 1 and 3 beside it, then 5. */
    check_fold(grid(1, INFINITY), values, NEAR_SUM, (float[]){5, 1, 5, 0, 4, 0, 8, 5, 8});
    check_fold(grid(2, INFINITY), values, NEAR_MEAN, (float[]){2.5f, 0.5f, 3, 1, 5, 0, 6, 5, 7});
    check_fold(grid(-1, INFINITY), values, NEAR_MIN, (float[]){5, 5, 5, 0, 1, 1, 0, 1, 1});
    check_fold(grid(INFINITY, INFINITY), values, NEAR_MODE, (float[]){5, 5, 5, 5, 5, 5, 5, 5, 5});
    check_fold(grid(INFINITY, 2), values, NEAR_MEDIAN, (float[]){4, 1, 5, 5, 6, 4, 5, 5, 6});
}

static void pairs_are_in_order(void **state)
{
    (void)state;
    static const double want[][3] = {{1, 2, 1}, {1, 3, 2}, {1, 4, 2}, {2, 1, 1}, {2, 3, 1}, {2, 5, 2}, {3, 2, 1},
                                     {3, 1, 2}, {3, 6, 2}, {4, 5, 1}, {4, 1, 2}, {4, 6, 2}, {5, 4, 1}, {5, 6, 1},
                                     {5, 2, 2}, {6, 5, 1}, {6, 3, 2}, {6, 4, 2}, {7, 8, 1}, {7, 4, 2}, {7, 9, 2},
                                     {8, 7, 1}, {8, 9, 1}, {8, 5, 2}, {9, 8, 1}, {9, 6, 2}, {9, 7, 2}};
    const RefNear near = grid(3, 2);
    double *table;
    assert_int_equal(ref_near_pairs(&near, 10, &table), 27);
    for (int row = 0; row < 27; row++) {
        for (int k = 0; k < NEAR_COLUMNS; k++) {
            assert_true(table[27 * k + row] == want[row][k]);
        }
    }
    free(table);
}

/* ---- on a device ------------------------------------------------------------------------- */

typedef struct Shape {
    const char *axes;
    int w, h, d, part_rows;
} Shape;

static const Shape FLAT[] = {{"y, x", 71, 53, 1, 0},
                             {"y, x", 71, 53, 1, 7},
                             {"y, x", 1, 9, 1, 0},
                             {"y, x", 1, 1, 1, 0}};
static const Shape LARGE[] = {{"y, x", 71, 53, 1, 0}, {"y, x", 71, 53, 1, 9}};
static const Shape DEEP[] = {{"z, y, x", 13, 11, 9, 0}, {"z, y, x", 13, 11, 9, 2}};

static void check(const Shape *s, const char *text)
{
    const char *whole = arena_printf(&arena, "input image[%s]\n%s", s->axes, text);
    IrGraph *g = pipeline_must("test.pipe", whole);
    BothCase in = {.n_inputs = 1, .part_rows = s->part_rows};
    in.inputs[0] = both_image(s->w, s->h, s->d, 1, ELEM_U8, 5, BOTH_NOISE);
    if (strstr(text, "input seg") != NULL) {
        in.inputs[in.n_inputs++] = both_image(s->w, s->h, s->d, 1, ELEM_U16, 9, BOTH_SPARSE);
    }
    for (int i = 0; i < in.n_inputs; i++) {
        memcpy(in.inputs[i].pixelsize, (double[]){0.5, 0.25, 2}, sizeof in.inputs[i].pixelsize);
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%s%d x %d x %d, %d rows a part: %s", whole, s->w, s->h, s->d, s->part_rows, why);
    }
    for (int i = 0; i < in.n_inputs; i++) {
        free((void *)(uintptr_t)in.inputs[i].pixels);
    }
}

#define EACH(SHAPES, TEXT)                                           \
    for (size_t i = 0; i < sizeof(SHAPES) / sizeof *(SHAPES); i++) { \
        check(&(SHAPES)[i], TEXT);                                   \
    }

/* Far more than are listed at a time; and the farthest; and all. */
static void many_are_near(void **state)
{
    (void)state;
    turn_or_skip(0);
    static const char text[] = "l = label(image > 150)\noutput t = near_pairs(l, n = 40)\n"
                               "output u = near_pairs(l, n = -20)\noutput v = near_pairs(l, distance = 6)\n"
                               "output w = neighbour_count(l, n = 60, distance = 9)\n"
                               "output m = neighbour_value(l, property(l, image, mean), median, distance = 9)\n"
                               "output o = neighbour_value(l, property(l, area), mode, n = 1000)\n";
    EACH(FLAT, text)
    EACH(DEEP, text)
}

/* Points on a grid. */
static void ties_go_to_the_smaller_label(void **state)
{
    (void)state;
    turn_or_skip(1);
    EACH(LARGE, "l = label(x_of(image) % 4 == 1 and y_of(image) % 3 == 2)\n"
                "output t = near_pairs(l, n = 5)\noutput s = neighbour_value(l, property(l, image, max), std, n = 6)\n"
                "output d = neighbour_distance(l, sum, n = 3, distance = 4)\n"
                "output f = neighbour_distance(l, min, n = -3)\n")
    EACH(DEEP, "l = label(x_of(image) % 3 == 1 and y_of(image) % 3 == 1 and z_of(image) % 2 == 1)\n"
               "output t = near_pairs(l, n = 9)\noutput d = neighbour_distance(l, max, n = 7)\n")
}

static void few_labels_have_few_neighbours(void **state)
{
    (void)state;
    turn_or_skip(2);
    static const char *const MASKS[] = {"image > 255", "x_of(image) == 0 and y_of(image) == 0",
                                        "x_of(image) % 40 == 0 and y_of(image) == 0"};
    for (int i = 0; i < 3; i++) {
        check(&LARGE[i % 2], arena_printf(&arena,
                                          "l = label(%s)\noutput t = near_pairs(l)\n"
                                          "output m = neighbour_value(l, label_count(l), n = 2)\n"
                                          "output d = neighbour_distance(l, n = 1)\n",
                                          MASKS[i]));
    }
}

/* Numbers that no label has lie nowhere; vectors of other labels may be shorter. */
static void labels_may_have_gaps(void **state)
{
    (void)state;
    turn_or_skip(3);
    EACH(LARGE, "input seg[y, x] : labels\noutput t = near_pairs(seg, n = 3)\n"
                "output m = neighbour_value(seg, property(seg, image, std), max, n = 4)\n")
}

/* Lengths with a unit are measured with the file's pixels; images of values with their least. */
static void pixels_have_sizes(void **state)
{
    (void)state;
    turn_or_skip(4);
    static const char text[] = "l = label(image > 170)\noutput t = near_pairs(l, distance = 1500 nm)\n"
                               "output a = neighbour_value(l, sqrt(image - 200), min, distance = 4 um)\n"
                               "output d = neighbour_distance(l, mean, n = 4, spacing = 1.5)\n";
    EACH(LARGE, text)
    EACH(DEEP, text)
}

static void touching_ones_are_neighbours(void **state)
{
    (void)state;
    turn_or_skip(5);
    EACH(LARGE, "l = label_equal(floor(image / 50))\noutput n = neighbour_count(l)\n"
                "output m = neighbour_value(l, 1 / (image - 200), min)\n"
                "output s = neighbour_value(l, label_count(l), sum)\noutput d = neighbour_distance(l, spacing = 2)\n")
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_reference_is_right),
        TEST(pairs_are_in_order),
        TEST(many_are_near),
        TEST(ties_go_to_the_smaller_label),
        TEST(few_labels_have_few_neighbours),
        TEST(labels_may_have_gaps),
        TEST(pixels_have_sizes),
        TEST(touching_ones_are_neighbours),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device);
}
