/*
 * test_measure_parts: tables of images in parts against those of the same images in one piece, bit
 * for bit.  (test_measure holds the latter against the reference.)
 */
#include "on_device.h"
#include "parts.h"
#include "turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const Primitive prim_measure;

/* ---- scenes ------------------------------------------------------------------------------ */

typedef struct Scene {
    RefShape shape;
    uint32_t *labels, count;
    float *images[3];
} Scene;

enum { CELLS, RINGS, BANDS, SPECKS, EACH, ODD, MAZE, NOTHING };

static bool is_wall(int x, int y, RefShape s)
{
    int turn = (x - 1) / 4 % 2 == 0 ? s.h - 2 : 1;
    bool way = x % 4 == 1 ? y < s.h - 1 && (y > 0 || x == 1) : x > 0 && y == turn;
    return !way && !(x % 4 == 3 && y % 8 == 4);
}

/* CELLS: frayed squares; RINGS: nested, with holes, across many seams; BANDS: upright stripes from
 * the first to the last row; SPECKS: single pixels and much background; EACH: every pixel; MAZE: one object with
 * holes and a winding way in. */
static uint32_t label_at(int kind, int x, int y, int z, RefShape s)
{
    int dx = x - s.w / 2, dy = y - s.h / 2, dz = z - s.d / 2;
    int ring = (int)sqrt(dx * dx + dy * dy + dz * dz) / 3;
    switch (kind) {
    case CELLS:
    case ODD:
        return below(5) == 0 ? 0 : (uint32_t)(x / 9 + y / 9 * 40 + z / 5 * 1600 + 2);
    case RINGS:
        return ring % 2 == 0 || below(60) == 0 ? 0 : (uint32_t)ring;
    case BANDS:
        return below(7) == 0 ? 0 : (uint32_t)(x / 4 + 1);
    case SPECKS:
        return below(20) != 0 ? 0 : below(900) + 1;
    case MAZE:
        return is_wall(x, y, s) ? 1 : 0;
    default:
        return (uint32_t)(x + s.w * (y + s.h * z) + 1);
    }
}

static Scene make_scene(RefShape shape, int kind)
{
    Scene s = {.shape = shape};
    size_t n = ref_pixels(shape);
    random_state = (uint32_t)(shape.w * 31 + shape.h * 7 + kind);
    s.labels = zeroed(n * 4);
    for (int k = 0; k < 3; k++) {
        s.images[k] = zeroed(n * sizeof(float));
    }
    for (size_t i = 0; i < n; i++) {
        int x = (int)(i % (size_t)shape.w), row = (int)(i / (size_t)shape.w);
        uint32_t label = label_at(kind, x, row % shape.h, row / shape.h, shape);
        s.labels[i] = label;
        s.count = label > s.count ? label : s.count;
        s.images[0][i] = (float)below(256);
        /* Quarters, or neighbouring floats. */
        float close = 1.0F + (float)below(300) * 0x1p-23F;
        s.images[1][i] = kind == RINGS || kind == SPECKS ? close : (float)below(4000) * 0.25F - 120;
        s.images[2][i] = ldexpf((float)below(65536) - 30000.0F, (int)below(60) - 30);
        if (kind == ODD && below(400) == 0) {
            s.images[2][i] = below(2) ? NAN : INFINITY;
        }
    }
    return s;
}

static void free_scene(Scene *s)
{
    free(s->labels);
    for (int k = 0; k < 3; k++) {
        free(s->images[k]);
    }
}

/* ---- comparing --------------------------------------------------------------------------- */

typedef struct Cut {
    RefShape s;
    int kind, step;
} Cut;

static void compare(const Cut *cut, const PrimTable *want, const PrimTable *got)
{
    assert_int_equal(want->rows, got->rows);
    assert_int_equal(want->columns, got->columns);
    for (int c = 0; c <= want->columns; c++) {
        for (int64_t row = 0; row < want->rows; row++) {
            double a = want->at[c * want->rows + row], b = got->at[c * want->rows + row];
            if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b))) {
                fail_msg("%dx%dx%d, kind %d by %d: %s of label %g: %.17g, not %.17g", cut->s.w, cut->s.h, cut->s.d,
                         cut->kind, cut->step, want->names[c], want->at[want->columns * want->rows + row], b, a);
            }
        }
    }
}

static void check_columns(const Cut *cut, const char *columns)
{
    Scene s = make_scene(cut->s, cut->kind);
    PrimTable want = {0}, got = {0};
    double values[PARTS_SLOTS];
    Err err = {0};
    PartsJob job = {.dev = device,
                    .primitive = &prim_measure,
                    .s = cut->s,
                    .step = cut->step,
                    .pixels = {s.labels, s.images[0], s.images[1], s.images[2]},
                    .elem = {ELEM_U32, ELEM_F32, ELEM_F32, ELEM_F32},
                    .arg = {1, 1, 1},
                    .text = columns,
                    .count = s.count,
                    .out = ELEM_U32,
                    .table = &want};
    must(parts_run_whole(&job, NULL, values, &err), &err);
    job.table = &got;
    must(parts_run(&job, NULL, values, &err), &err);
    compare(cut, &want, &got);
    prim_table_free(&want);
    prim_table_free(&got);
    free_scene(&s);
}

/* Some have more objects than are measured at a time, the last one many more. */
static const Cut CUTS[] = {
    {{75, 140, 1, 1}, CELLS, 64}, {{60, 37, 1, 1}, RINGS, 0},    {{40, 33, 1, 1}, BANDS, 1},
    {{50, 70, 1, 1}, SPECKS, 0},  {{70, 90, 1, 1}, ODD, 7},      {{25, 23, 14, 1}, RINGS, 1},
    {{31, 17, 11, 1}, CELLS, 0},  {{20, 9, 8, 1}, BANDS, 3},     {{50, 20, 1, 1}, CELLS, 64},
    {{50, 90, 1, 1}, MAZE, 7},    {{300, 290, 1, 1}, EACH, 128},
};
/* Objects may be in several channels. */
static const Cut CHANNELS = {{40, 70, 1, 2}, BANDS, 64};
enum { N_CUTS = sizeof CUTS / sizeof CUTS[0] };

/* Is it the turn of list `n` of columns?  Kernels depend on the list, and hardly on the images.  The device without atomics of
 * 64 bits has its turn with another one. */
static bool has_turn(int n)
{
    return turn_has(dev_info(device)->wide_atomics ? n : n + 6);
}

static void check(int n, const char *columns, const char *planar)
{
    char both[1000];
    snprintf(both, sizeof both, "%s%s", columns, planar);
    for (int i = 0; i < N_CUTS && has_turn(n); i++) {
        check_columns(&CUTS[i], CUTS[i].s.d > 1 ? columns : both);
    }
}

static void test_sums(void **state)
{
    (void)state;
    check(0,
          "label,area,bbox,centroid,0:mean,1:mean,2:mean,0:min,1:max,2:max,2:std,1:std,0:std,0:sum,"
          "1:sum,2:center_of_mass,1:center_of_mass,0:centroid_weighted_local",
          "");
    check(1, "label,num_pixels,extent", "");
    if (has_turn(8)) {
        check_columns(&CHANNELS, "label,centroid,perimeter,0:mean,2:center_of_mass");
    }
}

/* Without labels there is a table without rows. */
static void test_nothing(void **state)
{
    (void)state;
    if (has_turn(9)) {
        check_columns(&(Cut){{20, 70, 1, 1}, NOTHING, 64}, "label,area,0:mean,1:median,solidity");
    }
}

static void test_outlines(void **state)
{
    (void)state;
    check(2, "label,euler_number", ",perimeter,perimeter_crofton");
    if (has_turn(10)) {
        check_columns(&CUTS[1], "label,perimeter_crofton");
    }
}

static void test_rows(void **state)
{
    (void)state;
    check(3,
          "label,area_convex,solidity,feret_diameter_max,inertia_tensor_eigvals,axis_major_length,"
          "moments_central",
          ",eccentricity,orientation,moments_hu");
    check(4, "label,axis_minor_length", ",perimeter");
}

static void test_weighted(void **state)
{
    (void)state;
    check(5, "label,0:moments_weighted,2:moments_weighted_central", ",1:moments_weighted_hu");
}

static void test_medians(void **state)
{
    (void)state;
    check(6, "label,0:percentile_80,1:median,2:percentile_0", "");
}

static void test_filled(void **state)
{
    (void)state;
    check(7, "label,area_filled,0:median", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),   cmocka_unit_test(test_nothing),  cmocka_unit_test(test_outlines),
        cmocka_unit_test(test_rows),   cmocka_unit_test(test_weighted), cmocka_unit_test(test_medians),
        cmocka_unit_test(test_filled),
    };
    return cmocka_run_group_tests(tests, open_device, close_device) +
           cmocka_run_group_tests_name("without atomics of 64 bits", tests, open_narrow_device, close_device);
}
