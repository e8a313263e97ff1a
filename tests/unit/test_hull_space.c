/*
 * test_hull_space: convex hulls of objects of volumes and their diameters, in the shapes for GPUs and
 * for CPUs, in one piece and in parts, against the evaluator's, bit for bit.
 */
#include "on_device.h"
#include "parts.h"
#include "turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const Primitive prim_measure;

static const char COLUMNS[] = "3d,label,area_convex,feret_diameter_max";

/* BALL to ROD: one object each, among them flat and straight ones, and such as have a row of the
 * box on their hull's edge; CELLS to TINY: many. */
enum { BALL, SHELL, FILLED, PLATE, TILTED, SHEET, ROD, SLANTED, CROSS, DUST, CORNERS, CELLS, CUBES, TINY, KINDS };

static uint32_t label_at(int kind, int x, int y, int z, RefShape s)
{
    int dx = 2 * x - s.w + 1, dy = 2 * y - s.h + 1, dz = 2 * z - s.d + 1;
    double far = sqrt(dx * dx + dy * dy + dz * dz), least = fmin(fmin(s.w, s.h), s.d);
    switch (kind) {
    case BALL:
        return far < least;
    case SHELL:
        return far < least && far > least - 3;
    case FILLED:
        return 1;
    case PLATE:
        return z == s.d / 2 && dx * dx + dy * dy < s.w * s.w;
    case TILTED:
        return x + y - 2 * z == 3;
    case SHEET:
        return y == s.h / 3 && (x + z) % 3 != 0;
    case ROD:
        return y == s.h / 2 && z == s.d - 1;
    case SLANTED:
        return x == z && y == z;
    case CROSS:
        return (x == s.w / 2) + (y == s.h / 2) + (z == s.d / 2) >= 2;
    case DUST:
        return below(60) == 0;
    case CORNERS:
        return x % (s.w - 1) == 0 && y % (s.h - 1) == 0 && z % (s.d - 1) == 0;
    case CELLS:
        return below(4) == 0 ? 0
                             : (uint32_t)((x + (int)below(3)) / 9 + (y + (int)below(3)) / 7 * 40 + z / 5 * 1600 + 1);
    case CUBES:
        return (uint32_t)(x / 6 + y / 5 * 40 + z / 4 * 1600 + 2);
    default:
        return below(3) == 0 ? 0 : below(2000) + 1;
    }
}

static uint32_t paint(int kind, RefShape s, uint32_t *labels)
{
    uint32_t most = 0;
    random_state = (uint32_t)(kind + s.w * 7 + s.h * 31);
    for (size_t i = 0; i < ref_pixels(s); i++) {
        int x = (int)(i % (size_t)s.w), row = (int)(i / (size_t)s.w);
        labels[i] = label_at(kind, x, row % s.h, row / s.h, s);
        most = labels[i] > most ? labels[i] : most;
    }
    return most;
}

static void compare(const PartsJob *job, int kind, const double *want, int64_t rows)
{
    const PrimTable *got = job->table;
    size_t stride = (size_t)job->count + 1;
    assert_int_equal(got->rows, rows);
    for (int c = 0; c < got->columns; c++) {
        for (int64_t row = 0; row < rows; row++) {
            double a = want[(size_t)c * stride + (size_t)row], b = got->at[c * rows + row];
            if (memcmp(&a, &b, sizeof a) != 0) {
                fail_msg("%dx%dx%d, kind %d, shape %d, by %d: %s of label %g: %.17g, not %.17g", job->s.w, job->s.h,
                         job->s.d, kind, job->shape, job->step, got->names[c], got->at[got->columns * rows + row], b,
                         a);
            }
        }
    }
}

/* In one piece, and in parts of `step` planes. */
static void check(int kind, RefShape s, const double spacing[3], int step)
{
    uint32_t *labels = zeroed(ref_pixels(s) * sizeof *labels);
    uint32_t count = paint(kind, s, labels);
    double *want = zeroed((count + 1) * 3 * sizeof *want);
    int64_t rows = 0;
    assert_int_equal(ref_measure(labels, NULL, 0, s, count, COLUMNS, spacing, want, &rows), 3);
    for (int shape = SHAPE_GPU; shape <= SHAPE_CPU; shape++) {
        PrimTable table = {0};
        double values[PARTS_SLOTS];
        Err err = {0};
        PartsJob job = {.dev = device,
                        .primitive = &prim_measure,
                        .s = s,
                        .step = step,
                        .shape = shape,
                        .pixels = {labels},
                        .elem = {ELEM_U32},
                        .arg = {spacing[0], spacing[1], spacing[2]},
                        .text = COLUMNS,
                        .count = count,
                        .out = ELEM_U32,
                        .table = &table};
        must(parts_run_whole(&job, NULL, values, &err), &err);
        compare(&job, kind, want, rows);
        must(parts_run(&job, NULL, values, &err), &err);
        compare(&job, kind, want, rows);
        prim_table_free(&table);
    }
    free(labels);
    free(want);
}

/* The device without atomics of 64 bits has its turn with other cases. */
static bool is_wanted(int number)
{
    return turn_has(dev_info(device)->wide_atomics ? number : number + 6);
}

static const double SPACINGS[][3] = {{1, 1, 1}, {0.5, 0.5, 2}, {0.3, 0.7, 1.1}};

static void all_kinds(void **state)
{
    (void)state;
    static const RefShape SHAPES[] = {{19, 17, 15, 1}, {33, 6, 12, 1}, {4, 30, 9, 1}, {2, 3, 40, 1}};
    for (size_t i = 0; i < (small ? 1 : sizeof SHAPES / sizeof *SHAPES); i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            if (is_wanted((int)i + kind)) {
                check(kind, SHAPES[i], SPACINGS[((int)i + kind) % 3], kind % 4);
            }
        }
    }
}

/* Several groups an object, and boxes with rows far outside of the hull. */
static void larger_objects(void **state)
{
    (void)state;
    static const int LARGER[] = {BALL, SLANTED, TILTED, CORNERS};
    for (size_t i = 0; !small && i < sizeof LARGER / sizeof *LARGER; i++) {
        if (is_wanted((int)i)) {
            check(LARGER[i], (RefShape){41, 44, 46, 1}, SPACINGS[i % 3], 5);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(larger_objects),
    };
    return cmocka_run_group_tests(tests, open_device, close_device) +
           cmocka_run_group_tests_name("without atomics of 64 bits", tests, open_narrow_device, close_device);
}
