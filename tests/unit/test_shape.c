/*
 * test_shape: distance, nearest_label, watershed, reconstruct, local_maxima and hull, in one piece
 * and in parts, in the shapes for GPUs and for CPUs, against the plain C of ir/ref_shape.c, bit for
 * bit; and that against scipy and scikit-image (tests/golden/shapes.txt).
 *
 * PIPEC_TEST_SMALL=1 leaves out the larger images, for slow checkers of kernels (oclgrind).
 */
#include "ir/ref.h"
#include "runtime/primitives/watershed_paths.h"
#include "tests/support/on_device.h"
#include "tests/support/parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VALUE = 1, OF_VALUE = 2, SLOTS = 4, SMALL_PIXELS = 3000, MOST_INPUTS = 3 };

/* Parameters are named as pipelines may name them, not to meet the kernels' own names. */
static const char READER[] =
    "#define READ_PARAMS int w, int h, int pitch, global const %s *restrict mask\n"
    "#define READ_ARGS w, h, pitch, mask\n"
    "#define READ_TYPE_0 %s\n"
    "static inline %s read_0(READ_PARAMS, int x, int y, int plane)\n"
    "{ return mask[((long)plane * h + y) * pitch + x]; }\n";

static DevMem *values;

static bool skipped(RefShape s)
{
    return small && ref_pixels(s) > SMALL_PIXELS;
}

/* ---- running a primitive --------------------------------------------------------------- */

static int pitch_of(RefShape s)
{
    return (s.w + 15) / 16 * 16;
}

static size_t rows_of(RefShape s)
{
    return (size_t)s.h * (size_t)s.d * (size_t)s.c;
}

static DevMem *upload(RefShape s, Elem elem, const void *pixels)
{
    Err err = {0};
    size_t size = elem_size(elem), pitch = (size_t)pitch_of(s) * size, row = (size_t)s.w * size;
    DevMem *mem = allocate(rows_of(s) * pitch);
    must(dev_write_rows(device, mem, 0, pitch, pixels, row, row, rows_of(s), &err), &err);
    return mem;
}

typedef struct Job {
    const char *primitive;
    RefShape s;
    Elem elem[MOST_INPUTS];
    const void *pixels[MOST_INPUTS];
    bool stored; /* inputs are handed over; else the first is computed on the fly */
    double arg[4];
    int64_t count; /* of labels; -1: unknown */
    int shape;     /* 1: for CPUs */
    Elem out;
} Job;

static PrimImage image_of(RefShape s, Elem elem, DevMem *mem)
{
    PrimImage image = {mem, elem, s.w, s.h, s.d, s.d * s.c, pitch_of(s), 0, 0};
    image.length = (int64_t)rows_of(s) * image.pitch;
    return image;
}

static PrimCall start_call(const Job *job, char *reader, size_t reader_size, DevArg args[4],
                           Err *err)
{
    RefShape s = job->s;
    PrimCall call = {.dev = device,
                     .name = job->primitive,
                     .w = s.w,
                     .h = s.h,
                     .d = s.d,
                     .planes = s.d * s.c,
                     .pitch = pitch_of(s),
                     .values = values,
                     .value = VALUE,
                     .of_value = job->count >= 0 ? OF_VALUE : -1,
                     .shape = job->shape == 1 ? SHAPE_CPU : SHAPE_GPU,
                     .err = err};
    memcpy(call.arg, job->arg, sizeof job->arg);
    call.out[0] = image_of(s, job->out, allocate(rows_of(s) * (size_t)pitch_of(s) * 4));
    for (int i = 0; i < MOST_INPUTS && job->pixels[i] != NULL; i++) {
        call.in[i] = image_of(s, job->elem[i], upload(s, job->elem[i], job->pixels[i]));
    }
    if (!job->stored) {
        const char *type = elem_cl_name(job->elem[0]);
        snprintf(reader, reader_size, READER, type, type, type);
        args[0] = dev_int(s.w);
        args[1] = dev_int(s.h);
        args[2] = dev_int(call.pitch);
        args[3] = dev_mem(call.in[0].mem);
        call.in[0] = (PrimImage){0};
        call.reader = reader;
        call.reader_args = args;
        call.n_reader_args = 4;
    }
    return call;
}

/* Runs a job; the result without padding goes to `out`; the value that it found is returned. */
static double run_job(const Job *job, void *out)
{
    Err err = {0};
    char reader[1000];
    DevArg args[4] = {{0}};
    const Primitive *primitive = prim_find(job->primitive);
    assert_non_null(primitive);
    PrimCall call = start_call(job, reader, sizeof reader, args, &err);
    double slots[SLOTS] = {0, -1, (double)job->count, -2};
    must(dev_write(device, values, 0, slots, sizeof slots, &err), &err);
    call.scratch_size = primitive->scratch_bytes ? primitive->scratch_bytes(&call) : 0;
    call.scratch = call.scratch_size > 0 ? allocate(call.scratch_size) : NULL;
    must(primitive->run(&call), &err);

    size_t size = elem_size(job->out), row = (size_t)job->s.w * size;
    must(dev_read_rows(device, call.out[0].mem, 0, (size_t)call.pitch * size, out, row, row,
                       rows_of(job->s), &err),
         &err);
    must(dev_read(device, values, 0, slots, sizeof slots, &err), &err);
    assert_true(slots[0] == 0 && slots[OF_VALUE] == (double)job->count && slots[3] == -2);
    dev_free(device, call.scratch);
    dev_free(device, call.out[0].mem);
    for (int i = 0; i < MOST_INPUTS; i++) {
        dev_free(device, call.in[i].mem);
    }
    dev_free(device, args[3].mem);
    return slots[VALUE];
}

/* The same over parts, cut in another way each time; returns of how many rows, 0: odd numbers. */
static int run_in_parts(const Job *job, void *out, double *value)
{
    static const int STEPS[] = {1, 0, 3, 16, 2, 50};
    static int turn = 0;
    turn++;
    PartsJob parts = {.dev = device,
                      .primitive = prim_find(job->primitive),
                      .s = job->s,
                      .step = STEPS[turn % 6],
                      .by_channel = turn % 4 == 1,
                      .shape = job->shape == 1 ? SHAPE_CPU : SHAPE_GPU,
                      .stored = job->stored,
                      .count = job->count >= 0 ? (double)job->count : (double)NAN,
                      .out = job->out};
    for (int i = 0; i < MOST_INPUTS; i++) {
        parts.pixels[i] = job->pixels[i];
        parts.elem[i] = job->elem[i];
    }
    memcpy(parts.arg, job->arg, sizeof job->arg);
    double slots[PARTS_SLOTS];
    Err err = {0};
    must(parts_run(&parts, out, slots, &err), &err);
    *value = slots[PARTS_VALUE];
    return parts.step;
}

static void compare(const Job *job, const char *what, int step, const void *found,
                    const void *expected)
{
    size_t n = ref_pixels(job->s), size = elem_size(job->out);
    for (size_t p = 0; p < n; p++) {
        if (memcmp((const uint8_t *)found + p * size, (const uint8_t *)expected + p * size, size) != 0) {
            uint32_t a = 0, b = 0;
            memcpy(&a, (const uint8_t *)found + p * size, size);
            memcpy(&b, (const uint8_t *)expected + p * size, size);
            size_t w = (size_t)job->s.w;
            fail_msg("%s %s %d x %d x %d x %d (%g %g %g %g) shape %d, parts of %d: at %zu, %zu: "
                     "%#x, not %#x",
                     job->primitive, what, job->s.w, job->s.h, job->s.d, job->s.c, job->arg[0],
                     job->arg[1], job->arg[2], job->arg[3], job->shape, step, p % w, p / w, a, b);
        }
    }
}

/* Runs a job, in one piece (parts of -1 rows) and in parts, and compares all bits of its pixels. */
static double check_job(const Job *job, const char *what, const void *expected)
{
    uint8_t *found = zeroed(ref_pixels(job->s) * elem_size(job->out));
    double value = run_job(job, found), again = value;
    compare(job, what, -1, found, expected);
    int step = run_in_parts(job, found, &again);
    compare(job, what, step, found, expected);
    assert_true(value == again || value < 0);
    free(found);
    return value;
}

static double largest_of(const uint32_t *labels, size_t n)
{
    uint32_t most = 0;
    for (size_t p = 0; p < n; p++) {
        most = labels[p] > most ? labels[p] : most;
    }
    return most;
}

/* ---- images ---------------------------------------------------------------------------- */

enum { EMPTY, FULL, FIRST, LAST, MIDDLE, FEW, SOME, HALF, MOST, BLOBS, STRIPES, ENDS, MASKS };

static bool mask_pixel(int kind, int x, int y, int z, RefShape s)
{
    switch (kind) {
    case FULL: return true;
    case FIRST: return x + y + z == 0;
    case LAST: return x == s.w - 1 && y == s.h - 1;
    case MIDDLE: return x == s.w / 2 && y == s.h / 2 && z % s.d == s.d / 2;
    case FEW: return below(1000) < 3;
    case SOME: return below(100) < 10;
    case HALF: return below(100) < 50;
    case MOST: return below(100) < 97;
    case BLOBS: return sin(x * 0.21 + z) + sin(y * 0.17) + sin((x + y) * 0.06) > 0.3;
    case STRIPES: return (x + 2 * y + z) % 9 < 4;
    case ENDS: return x == 0 || x == s.w - 1;
    default: return false;
    }
}

static uint8_t *make_mask(int kind, RefShape s)
{
    uint8_t *mask = zeroed(ref_pixels(s)), *at = mask;
    random_state = (uint32_t)(kind * 977 + s.w * 31 + s.h);
    for (int plane = 0; plane < s.d * s.c; plane++) {
        for (int y = 0; y < s.h; y++) {
            for (int x = 0; x < s.w; x++) {
                *at++ = mask_pixel(kind, x, y, plane, s);
            }
        }
    }
    return mask;
}

static const RefShape SHAPES[] = {{1, 1, 1, 1},    {9, 1, 1, 1},    {1, 50, 1, 1},  {33, 7, 1, 2},
                                  {40, 65, 1, 1},  {6, 5, 4, 1},    {20, 33, 3, 2}, {3, 2, 70, 1},
                                  {160, 40, 1, 2}, {40, 90, 5, 1}, {20, 9, 80, 1}};

/* ---- distance -------------------------------------------------------------------------- */

static const double SPACINGS[][3] = {{1, 1, 1}, {0.5, 2, 3}, {0.1, 0.1, 0.1}, {0.3, 0.7, 1.1}};

static void check_distance(RefShape s, int kind, const double spacing[3])
{
    uint8_t *mask = make_mask(kind, s);
    float *expected = zeroed(ref_pixels(s) * sizeof *expected);
    for (size_t p = 0; p < ref_pixels(s); p++) {
        mask[p] = !mask[p];
    }
    ref_distance(mask, s, spacing, expected);
    Job job = {.primitive = "distance",
               .s = s,
               .elem = {ELEM_U8},
               .pixels = {mask},
               .arg = {spacing[0], spacing[1], spacing[2]},
               .count = -1,
               .out = ELEM_F32};
    check_job(&job, "mask", expected);
    free(mask);
    free(expected);
}

static void test_distance(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int kind = 0; kind < MASKS && !skipped(SHAPES[i]); kind++) {
            check_distance(SHAPES[i], kind, SPACINGS[0]);
            check_distance(SHAPES[i], kind, SPACINGS[1 + (kind + (int)i) % 3]);
        }
    }
}

/* Ways that need all coarse rounds, along both axes. */
static void test_distance_far(void **state)
{
    (void)state;
    static const RefShape FAR[] = {{2100, 3, 1, 1}, {1100, 3, 2, 1}, {3, 1100, 3, 1}};
    for (size_t i = 0; i < sizeof FAR / sizeof *FAR; i++) {
        for (int kind = 0; kind < MASKS && !skipped(FAR[i]); kind++) {
            check_distance(FAR[i], kind, SPACINGS[0]);
            check_distance(FAR[i], kind, SPACINGS[3]);
        }
    }
}

static void check_nearest(RefShape s, int kind, double limit, const double spacing[3], bool known)
{
    uint8_t *mask = make_mask(kind, s);
    size_t n = ref_pixels(s);
    uint32_t *labels = zeroed(n * sizeof *labels), *expected = zeroed(n * sizeof *expected);
    for (size_t p = 0; p < n; p++) {
        labels[p] = mask[p] ? 1 + below(1000) : 0;
    }
    ref_nearest_label(labels, s, limit, spacing, expected);
    Job job = {.primitive = "nearest_label",
               .s = s,
               .elem = {ELEM_U32},
               .pixels = {labels},
               .arg = {limit, spacing[0], spacing[1], spacing[2]},
               .count = known ? 1001 : -1,
               .out = ELEM_U32};
    double value = check_job(&job, "labels", expected);
    assert_true(value == (known ? 1001 : largest_of(expected, n)));
    free(mask);
    free(labels);
    free(expected);
}

static void test_nearest_label(void **state)
{
    (void)state;
    static const double LIMITS[] = {0, 1, 2.5, 5, 70, INFINITY};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int kind = 0; kind < MASKS && !skipped(SHAPES[i]); kind++) {
            size_t k = i + (size_t)kind;
            check_nearest(SHAPES[i], kind, LIMITS[k % 6], SPACINGS[k % 4], k % 2);
            check_nearest(SHAPES[i], kind, LIMITS[(k + 1) % 6], SPACINGS[0], k % 2);
            check_nearest(SHAPES[i], kind, INFINITY, SPACINGS[(k + 1) % 4], k % 2);
        }
    }
}

/* ---- reconstruction and maxima --------------------------------------------------------- */

enum { NOISE, STEPS, CONE, FLAT, MAZE, RANDOM_FLOATS, ODD_FLOATS, GREYS };

static float odd_number(void)
{
    static const float ODD[] = {NAN, -INFINITY, INFINITY, -0.0F, 0.0F, 1e-42F, -1e-42F, 1, -1, 2};
    return ODD[below(sizeof ODD / sizeof *ODD)];
}

static float grey_pixel(int kind, int x, int y, int z, RefShape s)
{
    switch (kind) {
    case NOISE: return (float)below(256);
    case STEPS: return (float)(below(100) < 85 ? 3 : below(5));
    case CONE: return (float)(200 - abs(x - s.w / 2) - abs(y - s.h / 2) - 2 * (z % s.d));
    case MAZE: return y % 2 == 0 ? 9 : x == (y % 4 == 1 ? s.w - 1 : 0) ? 9 : (float)(z % 3);
    case RANDOM_FLOATS: return (float)below(60000) / 7 - 4000;
    case ODD_FLOATS: return odd_number();
    default: return 5;
    }
}

static float *make_grey(int kind, RefShape s)
{
    float *image = zeroed(ref_pixels(s) * sizeof *image), *at = image;
    random_state = (uint32_t)(kind * 733 + s.w * 31 + s.h);
    for (int plane = 0; plane < s.d * s.c; plane++) {
        for (int y = 0; y < s.h; y++) {
            for (int x = 0; x < s.w; x++) {
                *at++ = grey_pixel(kind, x, y, plane, s);
            }
        }
    }
    return image;
}

static const RefShape GREY_SHAPES[] = {
    {1, 1, 1, 1},   {9, 1, 1, 1},  {1, 50, 1, 1},   {33, 35, 1, 2},   {64, 32, 1, 1},
    {6, 5, 4, 1},   {17, 33, 9, 2}, {3, 2, 70, 1},  {130, 70, 1, 1},  {35, 20, 17, 1},
};

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
    float *mask = make_grey(kind, s), *seed = make_seed(mask, n, mode & 2);
    float *expected = zeroed(n * sizeof *expected);
    for (size_t p = 0; p < n && erosion; p++) {
        mask[p] = -mask[p];
        seed[p] = -seed[p];
    }
    ref_reconstruct(seed, mask, s, connectivity, erosion, expected);
    Job job = {.primitive = "reconstruct",
               .s = s,
               .elem = {ELEM_F32, ELEM_F32},
               .pixels = {seed, mask},
               .stored = true,
               .arg = {connectivity, erosion},
               .count = -1,
               .shape = mode >> 2,
               .out = ELEM_F32};
    check_job(&job, "greys", expected);
    free(mask);
    free(seed);
    free(expected);
}

static void test_reconstruct(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GREY_SHAPES / sizeof *GREY_SHAPES; i++) {
        RefShape s = GREY_SHAPES[i];
        for (int kind = 0; kind < GREYS && !skipped(s); kind++) {
            for (int mode = 0; mode < 8; mode++) {
                check_reconstruct(s, kind, 1 + (mode + kind) % (s.d > 1 ? 3 : 2), mode);
            }
        }
    }
}

static void check_maxima(RefShape s, int kind, int connectivity, int shape)
{
    size_t n = ref_pixels(s);
    float *image = make_grey(kind, s);
    uint8_t *expected = zeroed(n);
    ref_local_maxima(image, s, connectivity, expected);
    Job job = {.primitive = "local_maxima",
               .s = s,
               .elem = {ELEM_F32},
               .pixels = {image},
               .stored = true,
               .arg = {connectivity},
               .count = -1,
               .shape = shape,
               .out = ELEM_BOOL};
    check_job(&job, "greys", expected);
    free(image);
    free(expected);
}

static void test_local_maxima(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GREY_SHAPES / sizeof *GREY_SHAPES; i++) {
        RefShape s = GREY_SHAPES[i];
        for (int kind = 0; kind < GREYS && !skipped(s); kind++) {
            for (int connectivity = 1; connectivity <= (s.d > 1 ? 3 : 2); connectivity++) {
                check_maxima(s, kind, connectivity, 0);
                check_maxima(s, kind, connectivity, 1);
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
    Job job = {.primitive = "touches",
               .s = s,
               .elem = {elem},
               .pixels = {stored},
               .stored = true,
               .count = -1,
               .shape = shape,
               .out = ELEM_U8};
    (void)run_job(&job, found);
    compare(&job, "labels", -1, found, expected);
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
            fail_msg("%d x %d x %d x %d, labels %d, parts of %d: pixel %zu is %d, not %d", s.w, s.h, s.d, s.c,
                     kind, step, p, found[p], expected[p]);
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
        for (int kind = 0; kind < 4 && !skipped(shapes[i]); kind++) {
            for (int step = 0; step < 3; step++) {
                check_touches_in_parts(shapes[i], kind, step);
            }
        }
    }
}

static void test_touches(void **state)
{
    (void)state;
    static const RefShape shapes[] = {{1, 1, 1, 1},  {7, 1, 1, 1},  {1, 9, 1, 1},  {2, 2, 2, 1},
                                      {33, 20, 1, 1}, {19, 11, 5, 1}, {13, 9, 3, 2}, {300, 211, 1, 1},
                                      {70, 41, 23, 1}};
    static const Elem elems[] = {ELEM_U8, ELEM_U16, ELEM_U32};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int kind = 0; kind < 4 && !skipped(shapes[i]); kind++) {
            check_touches(shapes[i], kind, elems[((int)i + kind) % 3], kind % 2);
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

/* ---- watershed and hulls --------------------------------------------------------------- */

static void check_watershed(RefShape s, int kind, int connectivity, int mode)
{
    size_t n = ref_pixels(s);
    bool line = mode & 1, masked = mode & 2, raster = mode & 8;
    float *image = make_grey(kind, s);
    uint8_t *mask = masked ? make_mask(MOST, s) : NULL;
    uint16_t *markers = zeroed(n * sizeof *markers);
    uint32_t *wide = zeroed(n * sizeof *wide), *expected = zeroed(n * sizeof *expected);
    for (size_t p = 0; p < n; p++) {
        markers[p] = (uint16_t)(p == n / 2 || below(40) == 0 ? 1 + below(mode & 4 ? 3 : 5000) : 0);
        wide[p] = markers[p];
    }
    RefFlood how = {connectivity, line, raster};
    uint32_t largest = ref_watershed(image, wide, mask, s, how, expected);
    Job job = {.primitive = "watershed",
               .s = s,
               .elem = {ELEM_F32, mode & 4 ? ELEM_U16 : ELEM_U32, ELEM_BOOL},
               .pixels = {image, mode & 4 ? (const void *)markers : wide, mask},
               .stored = true,
               .arg = {connectivity, line, raster},
               .count = -1,
               .out = ELEM_U32};
    assert_true(check_job(&job, "greys", expected) == largest);
    assert_true(largest == largest_of(expected, n));
    free(image);
    free(mask);
    free(markers);
    free(wide);
    free(expected);
}

static void test_watershed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GREY_SHAPES / sizeof *GREY_SHAPES; i++) {
        RefShape s = GREY_SHAPES[i];
        for (int kind = 0; kind < GREYS && !skipped(s); kind++) {
            for (int mode = 0; mode < 16; mode++) {
                check_watershed(s, kind, 1 + (mode + kind) % (s.d > 1 ? 3 : 2), mode);
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
    Job job = {.primitive = "watershed",
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
    PrimCall call = start_call(&job, NULL, 0, args, &err);
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
    for (int i = 0; i < MOST_INPUTS; i++) {
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

static bool stops_at_once(void)
{
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
    Job job = {.primitive = "watershed",
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
    PrimCall call = start_call(&job, NULL, 0, args, &err);
    call.stop = stops_at_once;
    assert_false(prim_find("watershed")->run(&call));
    assert_int_equal(err.code, CODE_INTERRUPTED);
    dev_free(device, call.out[0].mem);
    dev_free(device, call.in[0].mem);
    dev_free(device, call.in[1].mem);
    free(image);
    free(markers);
}

static void check_hull(RefShape s, int kind, bool narrow)
{
    size_t n = ref_pixels(s);
    uint8_t *mask = make_mask(kind, s), *expected = zeroed(n);
    uint32_t *labels = zeroed(n * sizeof *labels);
    uint16_t *small_labels = zeroed(n * sizeof *small_labels);
    for (size_t p = 0; p < n; p++) {
        size_t x = p % (size_t)s.w, row = p / (size_t)s.w;
        uint32_t label = kind == FEW ? 1 + below(3) : (uint32_t)(1 + x / 9 + 16 * (row / 11));
        labels[p] = mask[p] ? label : 0;
        small_labels[p] = (uint16_t)labels[p];
    }
    ref_hull(labels, s, 0, expected);
    Job job = {.primitive = "hull",
               .s = s,
               .elem = {narrow ? ELEM_U16 : ELEM_U32},
               .pixels = {narrow ? (const void *)small_labels : labels},
               .stored = true,
               .count = (int64_t)largest_of(labels, n),
               .out = ELEM_BOOL};
    (void)check_job(&job, "labels", expected);
    free(mask);
    free(expected);
    free(labels);
    free(small_labels);
}

static void test_hull(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GREY_SHAPES / sizeof *GREY_SHAPES; i++) {
        for (int kind = 0; kind < MASKS && !skipped(GREY_SHAPES[i]); kind++) {
            check_hull(GREY_SHAPES[i], kind, kind % 2);
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
    Numbers in[MOST_INPUTS], expected;
    uint32_t *found; /* by the reference */
    Job job;         /* the same for the device */
} Golden;

static void golden_distance(Golden *g)
{
    ref_distance(g->in[0].bytes, g->s, g->arg, (float *)g->found);
    g->job = (Job){.elem = {ELEM_U8}, .pixels = {g->in[0].bytes}, .out = ELEM_F32};
    memcpy(g->job.arg, g->arg, sizeof g->arg);
}

static void golden_nearest(Golden *g)
{
    ref_nearest_label(g->in[0].words, g->s, g->arg[0], SPACINGS[0], g->found);
    g->job = (Job){.elem = {ELEM_U32},
                   .pixels = {g->in[0].words},
                   .arg = {g->arg[0], 1, 1, 1},
                   .out = ELEM_U32};
}

static void golden_watershed(Golden *g)
{
    (void)ref_watershed(g->in[0].floats, g->in[1].words, g->in[2].bytes, g->s,
                        (RefFlood){(int)g->arg[0], g->arg[1] != 0, false}, g->found);
    g->job = (Job){.elem = {ELEM_F32, ELEM_U32, ELEM_BOOL},
                   .pixels = {g->in[0].floats, g->in[1].words, g->in[2].bytes},
                   .arg = {g->arg[0], g->arg[1]},
                   .stored = true,
                   .out = ELEM_U32};
}

static void golden_reconstruct(Golden *g)
{
    ref_reconstruct(g->in[0].floats, g->in[1].floats, g->s, (int)g->arg[0], g->arg[1] != 0,
                    (float *)g->found);
    g->job = (Job){.elem = {ELEM_F32, ELEM_F32},
                   .pixels = {g->in[0].floats, g->in[1].floats},
                   .arg = {g->arg[0], g->arg[1]},
                   .stored = true,
                   .out = ELEM_F32};
}

static void golden_maxima(Golden *g)
{
    ref_local_maxima(g->in[0].floats, g->s, (int)g->arg[0], (uint8_t *)g->found);
    g->job = (Job){.elem = {ELEM_F32},
                   .pixels = {g->in[0].floats},
                   .arg = {g->arg[0]},
                   .stored = true,
                   .out = ELEM_BOOL};
}

static void golden_hull(Golden *g)
{
    ref_hull(g->in[0].words, g->s, (uint32_t)largest_of(g->in[0].words, ref_pixels(g->s)),
             (uint8_t *)g->found);
    g->job = (Job){
        .elem = {ELEM_U32}, .pixels = {g->in[0].words}, .stored = true, .out = ELEM_BOOL};
}

static const struct GoldenKind {
    const char *name, *primitive;
    void (*run)(Golden *g);
    bool counted; /* the number of labels is known */
} GOLDEN_KINDS[] = {
    {"distance", "distance", golden_distance, false},
    {"nearest", "nearest_label", golden_nearest, false},
    {"watershed", "watershed", golden_watershed, false},
    {"reconstruct", "reconstruct", golden_reconstruct, false},
    {"maxima", "local_maxima", golden_maxima, false},
    {"hull", "hull", golden_hull, true},
};

static void check_golden(Golden *g)
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
    g->job.count =
        GOLDEN_KINDS[kind].counted ? (int64_t)largest_of(g->in[0].words, ref_pixels(g->s)) : -1;
    (void)check_job(&g->job, g->name, expected);
}

static void test_goldens(void **state)
{
    (void)state;
    FILE *file = fopen(TEST_ROOT "/tests/golden/shapes.txt", "r");
    assert_non_null(file);
    int cases = 0;
    Golden g = {.s.c = 1};
    while (fscanf(file, "%19s %39s %d %d %d %d %lf %lf %lf", g.kind, g.name, &g.s.w, &g.s.h, &g.s.d,
                  &g.n_inputs, &g.arg[0], &g.arg[1], &g.arg[2]) == 9) {
        size_t n = ref_pixels(g.s);
        memset(g.in, 0, sizeof g.in);
        for (int k = 0; k < g.n_inputs && k < MOST_INPUTS; k++) {
            g.in[k] = read_numbers(file, n);
        }
        g.expected = read_numbers(file, n);
        g.found = zeroed(n * sizeof *g.found);
        check_golden(&g);
        for (int k = 0; k < MOST_INPUTS; k++) {
            free_numbers(&g.in[k]);
        }
        free_numbers(&g.expected);
        free(g.found);
        cases++;
    }
    assert_true(feof(file) && cases > 300);
    (void)fclose(file);
}

static int open_all(void **state)
{
    if (open_device(state) != 0) {
        return 1;
    }
    values = allocate(SLOTS * sizeof(double));
    return 0;
}

static int close_all(void **state)
{
    dev_free(device, values);
    return close_device(state);
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
        cmocka_unit_test(test_watershed),
        cmocka_unit_test(a_flood_can_be_stopped),
        cmocka_unit_test(paths_follow_the_turns_of_markers),
        cmocka_unit_test(test_hull),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_all, close_all);
}
