/*
 * test_points: labels painted at single pixels, on a device and by the evaluator, in one piece and in
 * parts; peaks that are kept apart, and pairs of labels that touch, against brute force.
 */
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

/* Ties go to even, the largest label wins, and what is outside or no number is nowhere. */
static void the_reference_is_right(void **state)
{
    (void)state;
    static const float x[] = {0, 0.5f, 1.5f, 2.4f, -0.5f, 3, NAN, -0.6f, 1};
    static const float y[] = {0, 0, 0, 1, 0.5f, 0, 0, 0, 1.6f};
    static const float z[9] = {0}, c[] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint32_t want[] = {4, 0, 2, 0, 0, 3};
    uint32_t out[6];
    ref_points((const float *const[4]){x, y, z, c}, 8, (RefShape){3, 2, 1, 1}, out);
    assert_memory_equal(out, want, sizeof want);
}

/* ---- on a device ------------------------------------------------------------------------- */

typedef struct Shape {
    const char *axes;
    int w, h, d, c, part_rows;
} Shape;

static void check(const char *axes, const Shape *s, const char *text)
{
    const char *whole = arena_printf(&arena, "input image[%s]\n%s", axes, text);
    IrGraph *g = pipeline_must("test.pipe", whole);
    BothCase in = {.n_inputs = 1, .part_rows = s->part_rows};
    in.inputs[0] = both_image(s->w, s->h, s->d, s->c, ELEM_U8, 5, BOTH_NOISE);
    if (strstr(text, "input seg") != NULL) {
        in.inputs[in.n_inputs++] = both_image(s->w, s->h, s->d, s->c, ELEM_U16, 9, BOTH_SPARSE);
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%s%d rows a part: %s", whole, s->part_rows, why);
    }
    for (int i = 0; i < in.n_inputs; i++) {
        free((void *)(uintptr_t)in.inputs[i].pixels);
    }
}

static const Shape FLAT[] = {{"y, x", 71, 53, 1, 1, 0},
                             {"y, x", 71, 53, 1, 1, 7},
                             {"y, x", 1, 9, 1, 1, 0},
                             {"y, x", 1, 1, 1, 1, 0}};
static const Shape LARGE[] = {{"y, x", 71, 53, 1, 1, 0}, {"y, x", 71, 53, 1, 1, 7}};
static const Shape DEEP[] = {{"z, y, x", 23, 17, 11, 1, 0}, {"z, y, x", 23, 17, 11, 1, 2}};
static const Shape COLOURED[] = {{"y, x, c", 31, 23, 1, 3, 0}, {"y, x, c", 31, 23, 1, 3, 5}};

#define EACH(SHAPES, TEXT)                                           \
    for (size_t i = 0; i < sizeof(SHAPES) / sizeof *(SHAPES); i++) { \
        check((SHAPES)[i].axes, &(SHAPES)[i], TEXT);                 \
    }

static void centroids_are_painted(void **state)
{
    (void)state;
    turn_or_skip(0);
    static const char text[] = "labels = label(image > 150)\noutput c = centroids(labels)\n";
    EACH(FLAT, text)
    EACH(DEEP, text)
    EACH(COLOURED, text)
}

/* Places that are arithmetic with vectors, that differ within a label, and labels with gaps. */
static void places_are_what_a_label_has_of_them(void **state)
{
    (void)state;
    turn_or_skip(1);
    EACH(LARGE, "labels = label(image > 150)\n"
                "x = property(labels, image, mass_center_x)[labels] * 2 - 10\n"
                "p = points(labels, x, property(labels, image, mass_center_y))\n"
                "output p\noutput a = property(labels, area)[p]\n"
                "output q = points(labels, x_of(labels), gaussian(image, 1) / 5)\noutput n = count(p)\n")
    EACH(LARGE, "input seg[y, x] : labels\noutput c = centroids(seg)\noutput r = relabel(centroids(seg))\n"
                "output t = measure(centroids(seg), image, area, mean)\n")
    EACH(LARGE, "l = label(image > 100)\nx = x_of(l)\nrepeat 2 { l = points(l, x, y_of(l) + 1) }\noutput l\n")
}

/* Labels that a loop carries know how many they are. */
static void carried_labels_have_their_count(void **state)
{
    (void)state;
    turn_or_skip(2);
    EACH(LARGE, "l = label(image > 100)\nm = l\nrepeat 3 {\n  l = keep_labels(l, label_count(l)[l] > 2)\n"
                "  repeat 1 { m = expand_labels(m) }\n  a = label_max(m, image)[m]\n}\n"
                "output l\noutput m\noutput a\noutput n = count(l)\n")
}

/* Every pixel an object: there is room for a value of each. */
static void vectors_have_room_for_every_pixel(void **state)
{
    (void)state;
    turn_or_skip(3);
    EACH(
        LARGE,
        "l = as_labels(1 + x_of(image) + width(image) * y_of(image))\no = keep_labels(l, image > 20)\n"
        "output a = label_count(l)[l]\noutput b = label_sum(o, image)[o]\noutput c = label_max(points(o, x_of(o), y_of(o)), image)[o]\n"
        "w = watershed(image, l)\noutput d = property(w, area)[w]\n")
}

/* ---- peaks --------------------------------------------------------------------------------- */

static void equal_peaks_are_kept_apart(void **state)
{
    (void)state;
    turn_or_skip(4);
    static const char text[] = "v = floor(image / 100)\noutput p = peak_local_max(v, 3, exclude_border = 0)\n"
                               "output s = label_spots(peak_local_max(0 * v + (1 if v > 1 else 0), 2))\n";
    EACH(LARGE, text)
    EACH(DEEP, text)
}

/* ---- labels that touch --------------------------------------------------------------------- */

/* Sides of pixels between two labels, counted one by one. */
static int sides_between(const BothOutput *l, double a, double b)
{
    int n = 0, w = l->extent[0], h = l->extent[1], d = l->extent[2];
    for (int p = 0; p < w * h * d; p++) {
        const int next[3] = {p % w + 1 < w ? p + 1 : p, p / w % h + 1 < h ? p + w : p,
                             p / w / h + 1 < d ? p + w * h : p};
        for (int side = 0; side < 3; side++) {
            double u = l->pixels[p], v = l->pixels[next[side]];
            n += (u == a && v == b) || (u == b && v == a);
        }
    }
    return n;
}

/* Its sides to all else. */
static int outline_of(const BothOutput *l, double a)
{
    int n = 0;
    for (double b = 0; b <= l->value; b++) {
        n += b != a ? sides_between(l, a, b) : 0;
    }
    return n;
}

static void check_pairs(const char *axes, int w, int h, int d)
{
    IrGraph *g = pipeline_must("test.pipe", arena_printf(&arena,
                                                         "input image[%s]\nl = label_equal(floor(image / 60))\n"
                                                         "output l\noutput t = touching_pairs(l)\n",
                                                         axes));
    BothCase in = {.n_inputs = 1};
    in.inputs[0] = both_image(w, h, d, 1, ELEM_U8, 3, BOTH_NOISE);
    BothResult r;
    Err err = {0};
    assert_true(both_evaluate(g, &in, &r, &err));
    const BothOutput *l = &r.at[0], *t = &r.at[1];
    int64_t row = 0;
    assert_int_equal(t->columns, 6);
    for (double a = 1; a <= l->value; a++) {
        for (double b = a + 1; b <= l->value; b++) {
            int sides = sides_between(l, a, b);
            if (sides > 0) {
                assert_true(row < t->rows);
                assert_true(t->pixels[t->rows + row] == a && t->pixels[2 * t->rows + row] == b);
                assert_true(t->pixels[3 * t->rows + row] == outline_of(l, a) &&
                            t->pixels[4 * t->rows + row] == outline_of(l, b));
                assert_true(t->pixels[5 * t->rows + row++] == sides);
            }
        }
    }
    assert_true(row > 20 && row == t->rows);
    both_free(&r);
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

static void pairs_are_those_that_touch(void **state)
{
    (void)state;
    turn_or_skip(5);
    check_pairs("y, x", 19, 13, 1);
    check_pairs("z, y, x", 7, 6, 5);
    EACH(LARGE, "l = label_equal(floor(image / 60))\noutput t = touching_pairs(l)\n"
                "output o = overlapping_pairs(l, label(gaussian(image, 1) > 120))\n")
    EACH(LARGE, "l = label_equal(floor(image / 60))\noutput a = neighbour_value(l, image, median)\n"
                "output b = neighbour_value(l, floor(image / 30), mode)\n")
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_reference_is_right),
        TEST(centroids_are_painted),
        TEST(places_are_what_a_label_has_of_them),
        TEST(carried_labels_have_their_count),
        TEST(vectors_have_room_for_every_pixel),
        TEST(equal_peaks_are_kept_apart),
        TEST(pairs_are_those_that_touch),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device);
}
