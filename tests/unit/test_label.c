/*
 * test_label: the primitives label, label_equal, compact and perlabel, in the shapes for GPUs and
 * for CPUs and with nodes of 32 and 64 bits, against the plain C of reference/ref_label.c, bit for bit;
 * and that against scipy (tests/golden/labels.txt).
 *
 * PIPEC_TEST_SMALL=1 leaves out the larger images, for slow checkers of kernels (oclgrind).
 */
#include "reference/ref.h"
#include "runtime/primitives/label/prim_label.h"
#include "tests/support/on_device.h"
#include "tests/support/turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const Primitive prim_label, prim_label_equal, prim_compact, prim_perlabel;

enum { VALUE = 1, OF_VALUE = 2, SLOTS = 4, SMALL_PIXELS = 3000 };

/* Parameters are named as pipelines may name them, not to meet the kernels' own names. */
static const char READER[] = "#define READ_PARAMS int w, int h, int pitch, global const %s *restrict mask, "
                             "global const %s *restrict labels\n"
                             "#define READ_ARGS w, h, pitch, mask, labels\n"
                             "#define READ_TYPE_0 %s\n"
                             "static inline %s read_0(READ_PARAMS, int x, int y, int plane)\n"
                             "{ return mask[((long)plane * h + y) * pitch + x]; }\n"
                             "static inline %s read_1(READ_PARAMS, int x, int y, int plane)\n"
                             "{ return labels[((long)plane * h + y) * pitch + x]; }\n";

static DevMem *values;

/* ---- images ---------------------------------------------------------------------------------- */

/* What is left of a ring-shaped path from the corner to the middle, one pixel wide, one apart. */
static bool on_spiral(int x, int y, int w, int h)
{
    int right = w - 1 - x, bottom = h - 1 - y;
    int ring = x < y ? x : y;
    ring = right < ring ? right : ring;
    ring = bottom < ring ? bottom : ring;
    bool gap = ring % 2 == 0 && x == ring && y == ring + 1;
    bool bridge = ring % 2 == 1 && x == ring && y == ring + 1;
    return (ring % 2 == 0 && !gap) || bridge;
}

enum {
    EMPTY,
    FULL,
    CHECKERS,
    SPIRAL,
    COMB,
    COLUMNS,
    FALLING,
    RISING,
    CORNERS,
    BLOBS,
    TENTH,
    HALF,
    CRITICAL,
    DENSE,
    MASKS
};

static bool mask_pixel(int kind, int x, int y, int z, RefShape s)
{
    switch (kind) {
    case FULL:
        return true;
    case CHECKERS:
        return (x + y + z) % 2 == 0;
    case SPIRAL:
        return on_spiral(x, y, s.w, s.h);
    case COMB:
        return x % 2 == 0 || y == s.h - 1;
    case COLUMNS:
        return x % 3 == 1;
    case FALLING:
        return (x + 5 * z - y) % 7 == 0;
    case RISING:
        return (x + 5 * z + y) % 7 == 0;
    case CORNERS:
        return x % 32 >= 30 ? y % 2 == 0 : x % 32 <= 1 && y % 2 == 1;
    case BLOBS:
        return sin(x * 0.21 + z) + sin(y * 0.17) + sin((x + y) * 0.06) > 0.3;
    case TENTH:
        return below(100) < 10;
    case HALF:
        return below(100) < 50;
    case CRITICAL:
        return below(100) < 59;
    case DENSE:
        return below(100) < 90;
    default:
        return false;
    }
}

static void make_mask(int kind, RefShape s, uint8_t *mask)
{
    random_state = (uint32_t)(kind * 977 + s.w * 31 + s.h);
    for (int plane = 0, p = 0; plane < s.d * s.c; plane++) {
        for (int y = 0; y < s.h; y++) {
            for (int x = 0; x < s.w; x++, p++) {
                mask[p] = mask_pixel(kind, x, y, plane, s);
            }
        }
    }
}

/* ---- running a primitive --------------------------------------------------------------------- */

static int pitch_of(RefShape s)
{
    return (s.w + 15) / 16 * 16;
}

/* One write of all rows, since oclgrind takes what is written row by row for uninitialised. */
static DevMem *upload(RefShape s, Elem elem, const void *pixels)
{
    Err err = {0};
    size_t size = elem_size(elem), rows = (size_t)s.h * (size_t)s.d * (size_t)s.c;
    size_t row = (size_t)s.w * size, pitch = (size_t)pitch_of(s) * size;
    char *padded = zeroed(rows * pitch);
    memset(padded, 0xde, rows * pitch);
    for (size_t y = 0; y < rows; y++) {
        memcpy(padded + y * pitch, (const char *)pixels + y * row, row);
    }
    DevMem *mem = allocate(rows * pitch);
    must(dev_write(device, mem, 0, padded, rows * pitch, &err), &err);
    free(padded);
    return mem;
}

typedef struct Job {
    const Primitive *primitive;
    RefShape s;
    Elem elem[2];              /* of the inputs */
    const void *pixels[2];     /* the second may be missing */
    int arg, shape, node_bits; /* node_bits 0: as `run` chooses */
    bool stored;               /* the input is not computed on the fly */
    int64_t count;             /* of labels; -1: unknown */
    int64_t length;            /* of the result when it is a vector */
    Elem out;
} Job;

static PrimCall start_call(const Job *job, const char *reader, DevArg *args, Err *err)
{
    RefShape s = job->s;
    PrimCall call = {.dev = device,
                     .name = job->primitive->name,
                     .w = s.w,
                     .h = s.h,
                     .d = s.d,
                     .planes = s.d * s.c,
                     .pitch = pitch_of(s),
                     .arg = {job->arg},
                     .values = values,
                     .value = VALUE,
                     .of_value = job->count >= 0 ? OF_VALUE : -1,
                     .shape = job->shape == 1 ? SHAPE_CPU : SHAPE_GPU,
                     .err = err};
    int64_t pixels = (int64_t)call.planes * s.h * call.pitch;
    call.out[0] = (PrimImage){.elem = job->out,
                              .w = s.w,
                              .h = s.h,
                              .d = s.d,
                              .planes = call.planes,
                              .pitch = call.pitch,
                              .length = job->length > 0 ? job->length : pixels};
    call.out[0].mem = allocate((size_t)call.out[0].length * 4);
    args[0] = dev_int(s.w);
    args[1] = dev_int(s.h);
    args[2] = dev_int(call.pitch);
    for (int i = 0; i < 2; i++) {
        const void *from = job->pixels[i] != NULL ? job->pixels[i] : job->pixels[0];
        Elem elem = job->pixels[i] != NULL ? job->elem[i] : job->elem[0];
        args[3 + i] = dev_mem(upload(s, elem, from));
    }
    if (job->stored) {
        call.in[0] = call.out[0];
        call.in[0].mem = args[3].mem;
        call.in[0].elem = job->elem[0];
    } else {
        call.reader = reader;
        call.reader_args = args;
        call.n_reader_args = 5;
    }
    return call;
}

static bool run_call(const Job *job, PrimCall *call)
{
    if (job->node_bits == 0) {
        return job->primitive->run(call);
    }
    return job->primitive == &prim_label ? prim_label_run(call, job->node_bits)
                                         : prim_label_equal_run(call, job->node_bits);
}

/* Runs a job; the result without padding goes to `out`; the value that it found is returned. */
static double run_job(const Job *job, void *out)
{
    Err err = {0};
    char reader[1000];
    const char *a = elem_cl_name(job->elem[0]);
    const char *b = elem_cl_name(job->pixels[1] != NULL ? job->elem[1] : job->elem[0]);
    snprintf(reader, sizeof reader, READER, a, b, a, a, b);
    DevArg args[5];
    PrimCall call = start_call(job, reader, args, &err);
    double slots[SLOTS] = {0, -1, (double)job->count, -2}, found = 0;
    must(dev_write(device, values, 0, slots, sizeof slots, &err), &err);
    call.scratch_size = job->node_bits == 64 && job->primitive == &prim_label_equal
                            ? prim_label_equal_scratch(&call, 64)
                            : job->primitive->scratch_bytes(&call);
    call.scratch = call.scratch_size > 0 ? allocate(call.scratch_size) : NULL;
    must(run_call(job, &call), &err);

    size_t row = (size_t)job->s.w * 4, rows = (size_t)call.planes * (size_t)job->s.h;
    if (job->length > 0) {
        must(dev_read(device, call.out[0].mem, 0, out, (size_t)job->length * 4, &err), &err);
    } else {
        must(dev_read_rows(device, call.out[0].mem, 0, (size_t)call.pitch * 4, out, row, row, rows, &err), &err);
    }
    must(dev_read(device, values, 0, slots, sizeof slots, &err), &err);
    found = slots[VALUE];
    assert_true(slots[0] == 0 && slots[OF_VALUE] == (double)job->count && slots[3] == -2);
    dev_free(device, call.scratch);
    dev_free(device, call.out[0].mem);
    dev_free(device, args[3].mem);
    dev_free(device, args[4].mem);
    return found;
}

static void compare(const char *what, const Job *job, const uint32_t *expected, const uint32_t *found, size_t n)
{
    for (size_t p = 0; p < n; p++) {
        if (expected[p] != found[p]) {
            size_t w = job->length > 0 ? n : (size_t)job->s.w;
            fail_msg("%s %s %d x %d x %d, arg %d, shape %d, %d bits: at %zu, %zu: %u, not %u", job->primitive->name,
                     what, job->s.w, job->s.h, job->s.d, job->arg, job->shape, job->node_bits, p % w, p / w, found[p],
                     expected[p]);
        }
    }
}

/* ---- goldens --------------------------------------------------------------------------------- */

static void *read_numbers(FILE *file, size_t n)
{
    uint32_t *at = zeroed(n * sizeof *at);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(fscanf(file, "%u", &at[i]), 1);
    }
    return at;
}

static uint8_t *as_bytes(const uint32_t *from, size_t n)
{
    uint8_t *to = zeroed(n);
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint8_t)from[i];
    }
    return to;
}

static double *as_doubles(const uint32_t *from, size_t n)
{
    double *to = zeroed(n * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
    }
    return to;
}

static void check_golden(FILE *file, const char *kind, const char *name, RefShape s, int arg, uint32_t count)
{
    size_t n = ref_pixels(s), results = n;
    bool two = strcmp(kind, "compact") == 0 || strcmp(kind, "perlabel") == 0;
    uint32_t *first = read_numbers(file, n), *second = two ? read_numbers(file, n) : NULL;
    uint32_t found = count;
    uint32_t *out = zeroed((n + count + 1) * sizeof *out);
    double *doubles = as_doubles(first, n);
    uint8_t *bytes = as_bytes(second != NULL ? second : first, n);
    if (strcmp(kind, "label") == 0) {
        found = ref_label(bytes, s, arg, out);
    } else if (strcmp(kind, "equal") == 0) {
        found = ref_label_equal(doubles, s, arg, out);
    } else if (strcmp(kind, "compact") == 0) {
        found = ref_compact(first, bytes, s, out);
    } else {
        ref_perlabel(first, (const float *)second, s, count, (LabelFold)arg, (float *)out);
        results = count + 1;
    }
    uint32_t *expected = read_numbers(file, results);
    if (found != count || memcmp(out, expected, results * sizeof *out) != 0) {
        fail_msg("%s %s differs from scipy", kind, name);
    }
    free(first);
    free(second);
    free(out);
    free(doubles);
    free(bytes);
    free(expected);
}

static void test_goldens(void **state)
{
    (void)state;
    FILE *file = fopen(TEST_ROOT "/tests/golden/labels.txt", "r");
    assert_non_null(file);
    char kind[20], name[40];
    RefShape s = {.c = 1};
    int arg, cases = 0;
    uint32_t count;
    while (fscanf(file, "%19s %39s %d %d %d %d %u", kind, name, &s.w, &s.h, &s.d, &arg, &count) == 7) {
        check_golden(file, kind, name, s, arg, count);
        cases++;
    }
    assert_true(feof(file) && cases > 50);
    (void)fclose(file);
}

/* ---- label ----------------------------------------------------------------------------------- */

static void check_label(RefShape s, int kind, int connectivity, int shape, int node_bits)
{
    size_t n = ref_pixels(s);
    uint8_t *mask = zeroed(n);
    uint32_t *expected = zeroed(n * 4), *found = zeroed(n * 4);
    make_mask(kind, s, mask);
    Job job = {.primitive = &prim_label,
               .s = s,
               .elem = {ELEM_U8},
               .pixels = {mask},
               .arg = connectivity,
               .shape = shape,
               .node_bits = node_bits,
               .count = -1,
               .out = ELEM_U32};
    uint32_t count = ref_label(mask, s, connectivity, expected);
    double counted = run_job(&job, found);
    compare("mask", &job, expected, found, n);
    assert_true(counted == count);
    free(mask);
    free(expected);
    free(found);
}

static bool skipped(RefShape s)
{
    return small && ref_pixels(s) > SMALL_PIXELS;
}

/* Every third kind of mask will do where time is short. */
static bool skipped_mask(RefShape s, int kind)
{
    return skipped(s) || (small && (kind + s.w) % 3 != 0);
}

static void test_label_planes(void **state)
{
    (void)state;
    static const RefShape SHAPES[] = {{1, 1, 1, 1},      {31, 5, 1, 1},    {32, 33, 1, 1},  {33, 40, 1, 1},
                                      {1, 300, 1, 1},    {700, 1, 1, 1},   {127, 20, 1, 1}, {128, 65, 1, 1},
                                      {129, 33, 1, 1},   {17, 9, 1, 3},    {257, 9, 1, 1},  {300, 70, 1, 2},
                                      {1000, 300, 1, 1}, {513, 1100, 1, 1}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int kind = 0; kind < MASKS; kind++) {
            for (int mode = 0; mode < 4 && !skipped_mask(SHAPES[i], kind); mode++) {
                if (turn_has((int)i + kind + mode)) {
                    check_label(SHAPES[i], kind, 1 + mode % 2, mode / 2, 0);
                }
            }
        }
    }
}

static void test_label_volumes(void **state)
{
    (void)state;
    static const RefShape SHAPES[] = {{5, 4, 3, 1},    {40, 9, 9, 1},   {33, 17, 10, 2},
                                      {300, 3, 20, 1}, {70, 40, 33, 1}, {150, 60, 30, 1}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int kind = 0; kind < MASKS; kind++) {
            /* One connectivity will do for the shape for CPUs: building kernels takes time. */
            for (int mode = 0; mode < 4 && !skipped_mask(SHAPES[i], kind); mode++) {
                if (turn_has((int)i + kind + mode)) {
                    check_label(SHAPES[i], kind, mode < 3 ? mode + 1 : 3, mode / 3, 0);
                }
            }
        }
    }
}

static void test_label_wide(void **state)
{
    (void)state;
    turn_or_skip(4);
    static const RefShape SHAPES[] = {{33, 40, 1, 1}, {300, 70, 1, 2}, {70, 40, 20, 1}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int kind = 0; kind < MASKS; kind++) {
            if (!skipped_mask(SHAPES[i], kind)) {
                check_label(SHAPES[i], kind, 2, SHAPES[i].d > 1, 64);
            }
        }
    }
}

/* More than 65536 roots in a block would overflow what comes before a word; this has the most. */
static void test_label_many(void **state)
{
    (void)state;
    turn_or_skip(5);
    const RefShape s = {2048, 1024, 1, 1};
    if (!skipped(s)) {
        check_label(s, CHECKERS, 1, 0, 0);
        check_label(s, CHECKERS, 1, 1, 0);
    }
}

/* ---- label_equal ----------------------------------------------------------------------------- */

/* Whole numbers begin where f32 cannot tell neighbours apart. */
static void check_equal(RefShape s, Elem elem, uint32_t levels, int connectivity, int shape, int node_bits)
{
    enum { BEYOND_F32 = 1 << 24 };
    size_t n = ref_pixels(s);
    double *pixels = zeroed(n * sizeof *pixels);
    void *stored = zeroed(n * 4);
    uint32_t *expected = zeroed(n * 4), *found = zeroed(n * 4);
    random_state = levels * 7 + (uint32_t)s.w;
    for (size_t p = 0; p < n; p++) {
        pixels[p] = below(levels);
        if (p > 0 && below(3) > 0) {
            pixels[p] = pixels[p - 1];
        }
        if (elem == ELEM_F32) {
            pixels[p] = pixels[p] == 1 ? -0.0 : pixels[p] == 2 ? -0.5 : pixels[p] == 3 ? (double)NAN : pixels[p];
            ((float *)stored)[p] = (float)pixels[p];
        } else if (elem == ELEM_U32) {
            pixels[p] += pixels[p] != 0 && pixels[p] < BEYOND_F32 ? BEYOND_F32 : 0;
            ((uint32_t *)stored)[p] = (uint32_t)pixels[p];
        } else {
            ((uint8_t *)stored)[p] = (uint8_t)pixels[p];
        }
    }
    Job job = {.primitive = &prim_label_equal,
               .s = s,
               .elem = {elem},
               .pixels = {stored},
               .arg = connectivity,
               .shape = shape,
               .node_bits = node_bits,
               .stored = true,
               .count = -1,
               .out = ELEM_U32};
    uint32_t count = ref_label_equal(pixels, s, connectivity, expected);
    double counted = run_job(&job, found);
    compare(elem_name(elem), &job, expected, found, n);
    assert_true(counted == count);
    free(pixels);
    free(stored);
    free(expected);
    free(found);
}

static void test_label_equal(void **state)
{
    (void)state;
    turn_or_skip(6);
    static const RefShape SHAPES[] = {{1, 1, 1, 1},  {33, 20, 1, 1},  {1, 100, 1, 1},
                                      {40, 7, 5, 1}, {300, 40, 1, 2}, {65, 20, 9, 2}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int connectivity = 1; connectivity <= 3 && !skipped(SHAPES[i]); connectivity++) {
            check_equal(SHAPES[i], ELEM_U32, 3, connectivity, 0, 0);
        }
        if (!skipped(SHAPES[i])) {
            check_equal(SHAPES[i], ELEM_U8, 2, 2, 1, 0);
            check_equal(SHAPES[i], ELEM_F32, 6, 2, 0, 64);
        }
    }
}

/* ---- compact --------------------------------------------------------------------------------- */

/* Patches of ids below `ids`, or anything when it is 0. */
static void make_labels(RefShape s, uint32_t ids, uint32_t *labels)
{
    random_state = ids * 13 + (uint32_t)s.w;
    for (size_t p = 0; p < ref_pixels(s); p++) {
        bool same = p > 0 && below(4) > 0;
        uint32_t any = below(65536) << 16 | below(65536);
        any = below(5) == 0 ? any | 0xffff0000U : below(20) == 0 ? UINT32_MAX : any >> below(28);
        uint32_t fresh = below(3) == 0 ? 0 : ids > 0 ? below(ids) : any;
        labels[p] = same ? labels[p - 1] : fresh;
    }
}

static void check_compact(RefShape s, uint32_t ids, uint32_t keep, int shape)
{
    size_t n = ref_pixels(s);
    uint32_t *labels = zeroed(n * 4), *expected = zeroed(n * 4), *found = zeroed(n * 4);
    uint8_t *kept = zeroed(n);
    make_labels(s, ids, labels);
    for (size_t p = 0; p < n; p++) {
        kept[p] = (labels[p] * 2654435761U >> 20) % 100 < keep;
    }
    Job job = {.primitive = &prim_compact,
               .s = s,
               .elem = {ELEM_U32, ELEM_U8},
               .pixels = {labels, kept},
               .arg = ids == 0,
               .shape = shape,
               .count = ids > 0 ? (int64_t)ids : -1,
               .out = ELEM_U32};
    uint32_t count = ref_compact(labels, kept, s, expected);
    double counted = run_job(&job, found);
    compare("labels", &job, expected, found, n);
    assert_true(counted == count);
    free(labels);
    free(expected);
    free(found);
    free(kept);
}

static void test_compact(void **state)
{
    (void)state;
    turn_or_skip(7);
    static const RefShape SHAPES[] = {{1, 1, 1, 1},    {37, 21, 1, 1},   {1, 70, 1, 1},
                                      {2000, 1, 1, 1}, {1100, 90, 1, 1}, {50, 30, 7, 2}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int shape = 0; shape < 2 && !skipped(SHAPES[i]); shape++) {
            uint32_t pixels = (uint32_t)ref_pixels(SHAPES[i]);
            check_compact(SHAPES[i], pixels + 1, 50, shape);
            check_compact(SHAPES[i], pixels + 1, 100, shape);
            check_compact(SHAPES[i], pixels / 9 + 1, 0, shape);
            if (!small || i < 2) {
                check_compact(SHAPES[i], 0, 60, shape);
            }
        }
    }
}

/* Enough pixels for three rounds of ids of 32 bits. */
static void test_compact_rounds(void **state)
{
    (void)state;
    turn_or_skip(8);
    const RefShape s = {2048, 2560, 1, 1};
    if (!skipped(s)) {
        check_compact(s, 0, 70, 0);
    }
}

/* ---- perlabel -------------------------------------------------------------------------------- */

enum { PLAIN, INTEGERS, SCALES, FAR, SPECIAL, OVERFLOW, SUBNORMAL, VALUES };

static float value_pixel(int kind, uint32_t label)
{
    float v = (float)below(65536) / 65536.0F - 0.25F;
    switch (kind) {
    case INTEGERS:
        return (float)below(256);
    case SCALES:
        return ldexpf(v, (int)below(60) - 30);
    case FAR:
        return ldexpf(v, (int)(label * 37 % 250) - 130 + (int)below(40));
    case SPECIAL:
        return below(9) == 0 ? NAN : below(200) == 0 ? INFINITY : below(200) == 0 ? -INFINITY : v;
    case OVERFLOW:
        return 3e38F;
    case SUBNORMAL:
        return ldexpf(v, -135);
    default:
        return v;
    }
}

static void check_perlabel(RefShape s, uint32_t ids, int values_kind, int fold, Elem out)
{
    size_t n = ref_pixels(s), entries = (size_t)ids + 1, capacity = n / 2 + 2 + entries;
    uint32_t *labels = zeroed(n * 4);
    float *pixels = zeroed(n * 4), *expected = zeroed(entries * 4);
    uint32_t *found = zeroed(capacity * 4), *bits = zeroed(entries * 4);
    make_labels(s, ids + 1, labels);
    for (size_t p = 0; p < n; p++) {
        pixels[p] = value_pixel(values_kind, labels[p]);
    }
    Job job = {.primitive = &prim_perlabel,
               .s = s,
               .elem = {ELEM_U32, ELEM_F32},
               .pixels = {labels, pixels},
               .arg = fold,
               .count = (int64_t)ids,
               .length = (int64_t)capacity,
               .out = out};
    ref_perlabel(labels, pixels, s, ids, (LabelFold)fold, expected);
    run_job(&job, found);
    memcpy(bits, expected, entries * 4);
    for (size_t i = 0; i < entries; i++) {
        bits[i] = out == ELEM_U32 ? (uint32_t)expected[i] : isnan(expected[i]) ? 0x7fc00000 : bits[i];
        found[i] = out == ELEM_F32 && (found[i] & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : found[i];
    }
    compare("values", &job, bits, found, entries);
    free(labels);
    free(pixels);
    free(expected);
    free(found);
    free(bits);
}

static void test_perlabel(void **state)
{
    (void)state;
    static const RefShape SHAPES[] = {{1, 1, 1, 1},   {37, 71, 1, 1},   {1, 200, 1, 1},
                                      {300, 2, 3, 1}, {700, 300, 1, 1}, {90, 70, 5, 2}};
    static const uint32_t IDS[] = {1, 40, 5000};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (size_t k = 0; k < 3 && !skipped(SHAPES[i]); k++) {
            if (!turn_has((int)(i + k))) {
                continue;
            }
            for (int kind = 0; kind < VALUES; kind++) {
                check_perlabel(SHAPES[i], IDS[k], kind, 0, ELEM_F32);
            }
            check_perlabel(SHAPES[i], IDS[k], SPECIAL, 1, ELEM_F32);
            check_perlabel(SHAPES[i], IDS[k], SPECIAL, 2, ELEM_F32);
            check_perlabel(SHAPES[i], IDS[k], SPECIAL, 3, ELEM_F32);
            check_perlabel(SHAPES[i], IDS[k], PLAIN, 3, ELEM_U32);
        }
    }
}

/* More labels than sums are kept at a time. */
static void test_perlabel_ranges(void **state)
{
    (void)state;
    turn_or_skip(9);
    const RefShape s = {2000, 1300, 1, 1};
    if (!skipped(s)) {
        check_perlabel(s, 1500000, SCALES, 0, ELEM_F32);
    }
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
        cmocka_unit_test(test_goldens),       cmocka_unit_test(test_label_planes),
        cmocka_unit_test(test_label_volumes), cmocka_unit_test(test_label_wide),
        cmocka_unit_test(test_label_many),    cmocka_unit_test(test_label_equal),
        cmocka_unit_test(test_compact),       cmocka_unit_test(test_compact_rounds),
        cmocka_unit_test(test_perlabel),      cmocka_unit_test(test_perlabel_ranges),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
