/*
 * test_shape: distance, nearest_label, reconstruct, local_maxima, touches and hull, in one piece and in parts, in the
 * shapes for GPUs and for CPUs, against the plain C of reference/ref_shape.c, bit for bit; and that, watersheds too, against
 * scipy and scikit-image (tests/golden/shapes.txt).
 *
 * PIPEC_TEST_SMALL=1 leaves out the larger images, for slow checkers of kernels (oclgrind).
 */
#include "reference/ref.h"
#include "tests/support/on_device.h"
#include "tests/support/parts.h"
#include "tests/support/shape_job.h"
#include "tests/support/turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const RefShape SHAPES[] = {{1, 1, 1, 1},    {9, 1, 1, 1},   {1, 50, 1, 1},  {33, 7, 1, 2},
                                  {40, 65, 1, 1},  {6, 5, 4, 1},   {20, 33, 3, 2}, {3, 2, 70, 1},
                                  {160, 40, 1, 2}, {40, 90, 5, 1}, {20, 9, 80, 1}};

/* ---- distance -------------------------------------------------------------------------- */

static const double SPACINGS[][3] = {{1, 1, 1}, {0.5, 2, 3}, {0.1, 0.1, 0.1}, {0.3, 0.7, 1.1}};

static void check_distance(RefShape s, int kind, const double spacing[3])
{
    uint8_t *mask = shape_mask(kind, s);
    float *expected = zeroed(ref_pixels(s) * sizeof *expected);
    for (size_t p = 0; p < ref_pixels(s); p++) {
        mask[p] = !mask[p];
    }
    ref_distance(mask, s, spacing, expected);
    ShapeJob job = {.primitive = "distance",
                    .s = s,
                    .elem = {ELEM_U8},
                    .pixels = {mask},
                    .arg = {spacing[0], spacing[1], spacing[2]},
                    .count = -1,
                    .out = ELEM_F32};
    shape_check(&job, "mask", expected);
    free(mask);
    free(expected);
}

static void test_distance(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int kind = 0; kind < MASKS && !shape_skipped(SHAPES[i]); kind++) {
            if (turn_has(kind)) {
                check_distance(SHAPES[i], kind, SPACINGS[0]);
                check_distance(SHAPES[i], kind, SPACINGS[1 + (kind + (int)i) % 3]);
            }
        }
    }
}

/* Ways that need all coarse rounds, along both axes. */
static void test_distance_far(void **state)
{
    (void)state;
    static const RefShape FAR[] = {{2100, 3, 1, 1}, {1100, 3, 2, 1}, {3, 1100, 3, 1}};
    for (size_t i = 0; i < sizeof FAR / sizeof *FAR; i++) {
        for (int kind = 0; kind < MASKS && !shape_skipped(FAR[i]); kind++) {
            if (turn_has(kind)) {
                check_distance(FAR[i], kind, SPACINGS[0]);
                check_distance(FAR[i], kind, SPACINGS[3]);
            }
        }
    }
}

static void check_nearest(RefShape s, int kind, double limit, const double spacing[3], bool known)
{
    uint8_t *mask = shape_mask(kind, s);
    size_t n = ref_pixels(s);
    uint32_t *labels = zeroed(n * sizeof *labels), *expected = zeroed(n * sizeof *expected);
    for (size_t p = 0; p < n; p++) {
        labels[p] = mask[p] ? 1 + below(1000) : 0;
    }
    ref_nearest_label(labels, s, limit, spacing, expected);
    ShapeJob job = {.primitive = "nearest_label",
                    .s = s,
                    .elem = {ELEM_U32},
                    .pixels = {labels},
                    .arg = {limit, spacing[0], spacing[1], spacing[2]},
                    .count = known ? 1001 : -1,
                    .out = ELEM_U32};
    double value = shape_check(&job, "labels", expected);
    assert_true(value == (known ? 1001 : shape_largest(expected, n)));
    free(mask);
    free(labels);
    free(expected);
}

static void test_nearest_label(void **state)
{
    (void)state;
    static const double LIMITS[] = {0, 1, 2.5, 5, 70, INFINITY};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int kind = 0; kind < MASKS && !shape_skipped(SHAPES[i]); kind++) {
            size_t k = i + (size_t)kind;
            if (!turn_has(kind)) {
                continue;
            }
            check_nearest(SHAPES[i], kind, LIMITS[k % 6], SPACINGS[k % 4], k % 2);
            check_nearest(SHAPES[i], kind, LIMITS[(k + 1) % 6], SPACINGS[0], k % 2);
            check_nearest(SHAPES[i], kind, INFINITY, SPACINGS[(k + 1) % 4], k % 2);
        }
    }
}

/* ---- reconstruction and maxima --------------------------------------------------------- */

/* Seeds: the mask lowered by 2, or a few pixels of it. */
static float *make_seed(const float *mask, size_t n, bool few)
{
    float *seed = zeroed(n * sizeof *seed);
    for (size_t p = 0; p < n; p++) {
        seed[p] = !few ? mask[p] - 2 : p == n / 3 || below(500) == 0 ? mask[p] + 1 : -5000;
    }
    return seed;
}

static void check_reconstruct(RefShape s, int kind, int connectivity, int mode)
{
    size_t n = ref_pixels(s);
    bool erosion = mode & 1;
    float *mask = shape_grey(kind, s), *seed = make_seed(mask, n, mode & 2);
    float *expected = zeroed(n * sizeof *expected);
    for (size_t p = 0; p < n && erosion; p++) {
        mask[p] = -mask[p];
        seed[p] = -seed[p];
    }
    ref_reconstruct(seed, mask, s, connectivity, erosion, expected);
    ShapeJob job = {.primitive = "reconstruct",
                    .s = s,
                    .elem = {ELEM_F32, ELEM_F32},
                    .pixels = {seed, mask},
                    .stored = true,
                    .arg = {connectivity, erosion},
                    .count = -1,
                    .shape = mode >> 2,
                    .out = ELEM_F32};
    shape_check(&job, "greys", expected);
    free(mask);
    free(seed);
    free(expected);
}

static void test_reconstruct(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPE_N_SIZES; i++) {
        RefShape s = SHAPE_SIZES[i];
        for (int kind = 0; kind < GREYS && !shape_skipped(s); kind++) {
            for (int mode = 0; mode < 8; mode++) {
                if (turn_has(mode)) {
                    check_reconstruct(s, kind, 1 + (mode + kind) % (s.d > 1 ? 3 : 2), mode);
                }
            }
        }
    }
}

static void check_maxima(RefShape s, int kind, int connectivity, int shape)
{
    size_t n = ref_pixels(s);
    float *image = shape_grey(kind, s);
    uint8_t *expected = zeroed(n);
    ref_local_maxima(image, s, connectivity, expected);
    ShapeJob job = {.primitive = "local_maxima",
                    .s = s,
                    .elem = {ELEM_F32},
                    .pixels = {image},
                    .stored = true,
                    .arg = {connectivity},
                    .count = -1,
                    .shape = shape,
                    .out = ELEM_BOOL};
    shape_check(&job, "greys", expected);
    free(image);
    free(expected);
}

static void test_local_maxima(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPE_N_SIZES; i++) {
        RefShape s = SHAPE_SIZES[i];
        for (int kind = 0; kind < GREYS && !shape_skipped(s); kind++) {
            for (int connectivity = 1; connectivity <= (s.d > 1 ? 3 : 2); connectivity++) {
                if (turn_has(kind + connectivity)) {
                    check_maxima(s, kind, connectivity, 0);
                    check_maxima(s, kind, connectivity, 1);
                }
            }
        }
    }
}

/* ---- touching labels ------------------------------------------------------------------- */

/* Labels of a kind: few large ones, many small ones, another one at each pixel (more pairs than there are
 * slots), or a few numbers at random. */
static uint32_t label_of_kind(int kind, RefShape s, size_t p)
{
    int x = (int)(p % (size_t)s.w), y = (int)(p / (size_t)s.w % (size_t)s.h);
    int z = (int)(p / (size_t)s.w / (size_t)s.h);
    uint32_t noise = (uint32_t)(p * 2654435761U) >> 7;
    switch (kind) {
    case 0:
        return (uint32_t)((x / 9 + y / 7 * 3 + z / 2 * 5) % 11);
    case 1:
        return (uint32_t)(x / 2 + y / 3 * 97 + z * 1009) % 60000;
    case 2:
        return (uint32_t)(p % 65535) + 1;
    default:
        return noise % 6;
    }
}

static void check_touches(RefShape s, int kind, Elem elem, int shape)
{
    size_t n = ref_pixels(s);
    uint32_t *labels = zeroed(n * sizeof *labels);
    uint8_t *expected = zeroed(n), *found = zeroed(n);
    void *stored = zeroed(n * elem_size(elem));
    for (size_t p = 0; p < n; p++) {
        labels[p] = label_of_kind(kind, s, p) & (elem == ELEM_U8 ? 0xFF : UINT32_MAX);
        elem_put(stored, p, elem, labels[p]);
    }
    assert_true(ref_touches(labels, s, expected));
    ShapeJob job = {.primitive = "touches",
                    .s = s,
                    .elem = {elem},
                    .pixels = {stored},
                    .stored = true,
                    .count = -1,
                    .shape = shape,
                    .out = ELEM_U8};
    (void)shape_run(&job, found);
    shape_compare(&job, "labels", -1, found, expected);
    free(labels);
    free(expected);
    free(found);
    free(stored);
}

static void check_touches_in_parts(RefShape s, int kind, int step)
{
    size_t n = ref_pixels(s);
    uint32_t *labels = zeroed(n * sizeof *labels);
    uint8_t *expected = zeroed(n), *found = zeroed(n);
    double slots[PARTS_SLOTS];
    Err err = {0};
    for (size_t p = 0; p < n; p++) {
        labels[p] = label_of_kind(kind, s, p);
    }
    assert_true(ref_touches(labels, s, expected));
    PartsJob job = {.dev = device,
                    .primitive = prim_find("touches"),
                    .s = s,
                    .step = step,
                    .pixels = {labels},
                    .elem = {ELEM_U32},
                    .stored = true,
                    .count = NAN,
                    .out = ELEM_U8};
    must(parts_run(&job, found, slots, &err), &err);
    for (size_t p = 0; p < n; p++) {
        if (found[p] != expected[p]) {
            fail_msg("%d x %d x %d x %d, labels %d, parts of %d: pixel %zu is %d, not %d", s.w, s.h, s.d, s.c, kind,
                     step, p, found[p], expected[p]);
        }
    }
    free(labels);
    free(expected);
    free(found);
}

/* Pairs that several parts, or channels, have count where they come first. */
static void touches_in_parts(void **state)
{
    (void)state;
    static const RefShape shapes[] = {{7, 5, 1, 1}, {1, 9, 1, 1}, {33, 20, 1, 3}, {19, 11, 5, 1}, {13, 9, 4, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int kind = 0; kind < 4 && !shape_skipped(shapes[i]); kind++) {
            for (int step = 0; step < 3; step++) {
                if (turn_has(kind + step)) {
                    check_touches_in_parts(shapes[i], kind, step);
                }
            }
        }
    }
}

static void test_touches(void **state)
{
    (void)state;
    static const RefShape shapes[] = {{1, 1, 1, 1},   {7, 1, 1, 1},  {1, 9, 1, 1},     {2, 2, 2, 1},   {33, 20, 1, 1},
                                      {19, 11, 5, 1}, {13, 9, 3, 2}, {300, 211, 1, 1}, {70, 41, 23, 1}};
    static const Elem elems[] = {ELEM_U8, ELEM_U16, ELEM_U32};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int kind = 0; kind < 4 && !shape_skipped(shapes[i]); kind++) {
            if (turn_has((int)i + kind)) {
                check_touches(shapes[i], kind, elems[((int)i + kind) % 3], kind % 2);
            }
        }
    }
}

/* Two pairs by hand: 1 meets 2 on its right first, 2 meets 1 on its left, 3 meets 2 above. */
static void the_reference_of_touches_is_right(void **state)
{
    (void)state;
    static const uint32_t labels[] = {1, 2, 0, 1, 2, 2, 0, 3, 3};
    static const uint8_t want[] = {2, 1, 0, 0, 8, 0, 0, 4, 0};
    uint8_t bits[9];
    assert_true(ref_touches(labels, (RefShape){3, 3, 1, 1}, bits));
    assert_memory_equal(bits, want, sizeof want);
}

/* ---- hulls ------------------------------------------------------------------------------ */

static void check_hull(RefShape s, int kind, bool narrow)
{
    size_t n = ref_pixels(s);
    uint8_t *mask = shape_mask(kind, s), *expected = zeroed(n);
    uint32_t *labels = zeroed(n * sizeof *labels);
    uint16_t *small_labels = zeroed(n * sizeof *small_labels);
    for (size_t p = 0; p < n; p++) {
        size_t x = p % (size_t)s.w, row = p / (size_t)s.w;
        uint32_t label = kind == FEW ? 1 + below(3) : (uint32_t)(1 + x / 9 + 16 * (row / 11));
        labels[p] = mask[p] ? label : 0;
        small_labels[p] = (uint16_t)labels[p];
    }
    ref_hull(labels, s, 0, expected);
    ShapeJob job = {.primitive = "hull",
                    .s = s,
                    .elem = {narrow ? ELEM_U16 : ELEM_U32},
                    .pixels = {narrow ? (const void *)small_labels : labels},
                    .stored = true,
                    .count = (int64_t)shape_largest(labels, n),
                    .out = ELEM_BOOL};
    (void)shape_check(&job, "labels", expected);
    free(mask);
    free(expected);
    free(labels);
    free(small_labels);
}

static void test_hull(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPE_N_SIZES; i++) {
        for (int kind = 0; kind < MASKS && !shape_skipped(SHAPE_SIZES[i]); kind++) {
            if (turn_has((int)i + kind)) {
                check_hull(SHAPE_SIZES[i], kind, kind % 2);
            }
        }
    }
}

/* ---- goldens --------------------------------------------------------------------------- */

/* An image of whole numbers, as all the types that anyone wants. */
typedef struct Numbers {
    float *floats;
    uint32_t *words;
    uint8_t *bytes;
} Numbers;

static Numbers read_numbers(FILE *file, size_t n)
{
    Numbers to = {zeroed(n * sizeof *to.floats), zeroed(n * sizeof *to.words), zeroed(n)};
    for (size_t p = 0; p < n; p++) {
        long long number = 0;
        assert_int_equal(fscanf(file, "%lld", &number), 1);
        to.floats[p] = (float)number;
        to.words[p] = (uint32_t)number;
        to.bytes[p] = (uint8_t)number;
    }
    return to;
}

static void free_numbers(Numbers *numbers)
{
    free(numbers->floats);
    free(numbers->words);
    free(numbers->bytes);
}

typedef struct Golden {
    char kind[20], name[40];
    RefShape s;
    int n_inputs;
    double arg[3];
    Numbers in[SHAPE_INPUTS], expected;
    uint32_t *found; /* by the reference */
    ShapeJob job;    /* the same for the device */
} Golden;

static void golden_distance(Golden *g)
{
    ref_distance(g->in[0].bytes, g->s, g->arg, (float *)g->found);
    g->job = (ShapeJob){.elem = {ELEM_U8}, .pixels = {g->in[0].bytes}, .out = ELEM_F32};
    memcpy(g->job.arg, g->arg, sizeof g->arg);
}

static void golden_nearest(Golden *g)
{
    ref_nearest_label(g->in[0].words, g->s, g->arg[0], SPACINGS[0], g->found);
    g->job = (ShapeJob){.elem = {ELEM_U32}, .pixels = {g->in[0].words}, .arg = {g->arg[0], 1, 1, 1}, .out = ELEM_U32};
}

static void golden_watershed(Golden *g)
{
    (void)ref_watershed(g->in[0].floats, g->in[1].words, g->in[2].bytes, g->s,
                        (RefFlood){(int)g->arg[0], g->arg[1] != 0, false}, g->found);
    g->job = (ShapeJob){.elem = {ELEM_F32, ELEM_U32, ELEM_BOOL},
                        .pixels = {g->in[0].floats, g->in[1].words, g->in[2].bytes},
                        .arg = {g->arg[0], g->arg[1]},
                        .stored = true,
                        .out = ELEM_U32};
}

static void golden_reconstruct(Golden *g)
{
    ref_reconstruct(g->in[0].floats, g->in[1].floats, g->s, (int)g->arg[0], g->arg[1] != 0, (float *)g->found);
    g->job = (ShapeJob){.elem = {ELEM_F32, ELEM_F32},
                        .pixels = {g->in[0].floats, g->in[1].floats},
                        .arg = {g->arg[0], g->arg[1]},
                        .stored = true,
                        .out = ELEM_F32};
}

static void golden_maxima(Golden *g)
{
    ref_local_maxima(g->in[0].floats, g->s, (int)g->arg[0], (uint8_t *)g->found);
    g->job = (ShapeJob){.elem = {ELEM_F32},
                        .pixels = {g->in[0].floats},
                        .arg = {g->arg[0]},
                        .stored = true,
                        .out = ELEM_BOOL};
}

static void golden_hull(Golden *g)
{
    ref_hull(g->in[0].words, g->s, (uint32_t)shape_largest(g->in[0].words, ref_pixels(g->s)), (uint8_t *)g->found);
    g->job = (ShapeJob){.elem = {ELEM_U32}, .pixels = {g->in[0].words}, .stored = true, .out = ELEM_BOOL};
}

static const struct GoldenKind {
    const char *name, *primitive;
    void (*run)(Golden *g);
    bool counted; /* the number of labels is known */
} GOLDEN_KINDS[] = {
    {"distance", "distance", golden_distance, false},    {"nearest", "nearest_label", golden_nearest, false},
    {"watershed", "watershed", golden_watershed, false}, {"reconstruct", "reconstruct", golden_reconstruct, false},
    {"maxima", "local_maxima", golden_maxima, false},    {"hull", "hull", golden_hull, true},
};

/* The reference each time, the device in turn. */
static void check_golden(Golden *g, bool on_device)
{
    size_t kinds = sizeof GOLDEN_KINDS / sizeof *GOLDEN_KINDS, kind = 0, n = ref_pixels(g->s);
    while (kind < kinds && strcmp(GOLDEN_KINDS[kind].name, g->kind) != 0) {
        kind++;
    }
    assert_true(kind < kinds);
    GOLDEN_KINDS[kind].run(g);
    const void *expected = g->expected.words; /* distances are bits */
    if (g->job.out == ELEM_BOOL) {
        expected = g->expected.bytes;
    } else if (strcmp(g->kind, "reconstruct") == 0) {
        expected = g->expected.floats;
    }
    if (memcmp(g->found, expected, n * elem_size(g->job.out)) != 0) {
        fail_msg("%s %s: the reference differs from scipy or scikit-image", g->kind, g->name);
    }
    g->job.primitive = GOLDEN_KINDS[kind].primitive;
    g->job.s = g->s;
    g->job.count = GOLDEN_KINDS[kind].counted ? (int64_t)shape_largest(g->in[0].words, ref_pixels(g->s)) : -1;
    if (on_device) {
        (void)shape_check(&g->job, g->name, expected);
    }
}

static void test_goldens(void **state)
{
    (void)state;
    FILE *file = fopen(TEST_ROOT "/tests/golden/shapes.txt", "r");
    assert_non_null(file);
    int cases = 0;
    Golden g = {.s.c = 1};
    while (fscanf(file, "%19s %39s %d %d %d %d %lf %lf %lf", g.kind, g.name, &g.s.w, &g.s.h, &g.s.d, &g.n_inputs,
                  &g.arg[0], &g.arg[1], &g.arg[2]) == 9) {
        size_t n = ref_pixels(g.s);
        memset(g.in, 0, sizeof g.in);
        for (int k = 0; k < g.n_inputs && k < SHAPE_INPUTS; k++) {
            g.in[k] = read_numbers(file, n);
        }
        g.expected = read_numbers(file, n);
        g.found = zeroed(n * sizeof *g.found);
        check_golden(&g, turn_has(cases));
        for (int k = 0; k < SHAPE_INPUTS; k++) {
            free_numbers(&g.in[k]);
        }
        free_numbers(&g.expected);
        free(g.found);
        cases++;
    }
    assert_true(feof(file) && cases > 300);
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_distance_far),
        cmocka_unit_test(test_nearest_label),
        cmocka_unit_test(test_reconstruct),
        cmocka_unit_test(test_local_maxima),
        cmocka_unit_test(test_touches),
        cmocka_unit_test(touches_in_parts),
        cmocka_unit_test(the_reference_of_touches_is_right),
        cmocka_unit_test(test_hull),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, shape_open, shape_close);
}
