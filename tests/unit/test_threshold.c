/*
 * test_threshold: thresholds of histograms in the shapes for GPUs and for CPUs, against the plain C of
 * reference/ref_reduce.c, bit for bit, and against scikit-image's (tests/golden/thresholds.h).
 *
 * PIPEC_TEST_SMALL=1 leaves out the longer histograms, for slow checkers of kernels (oclgrind).
 */
#include "reference/ref.h"
#include "runtime/primitives/prim_host.h"
#include "runtime/primitives/prim_share.h"
#include "tests/golden/thresholds.h"
#include "tests/support/on_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const Primitive prim_threshold;

enum { SLOTS = 9, VALUE = 2, GOLDEN_BINS = 4096 };

static const char RANGE_READER[] = "#define READ_PARAMS global const double *range\n"
                                   "#define READ_ARGS range\n"
                                   "static double read_0(READ_PARAMS, int x, int y, int plane) { return range[0]; }\n"
                                   "static double read_1(READ_PARAMS, int x, int y, int plane) { return range[1]; }\n";

static DevMem *values, *range;

/* All values before it are -1. */
static void run(PrimCall *call, double out[SLOTS])
{
    const DevArg args[] = {dev_mem(range)};
    Err err = {0};
    for (int i = 0; i < SLOTS; i++) {
        out[i] = -1;
    }
    must(dev_write(device, values, 0, out, SLOTS * sizeof *out, &err), &err);
    call->dev = device;
    call->name = prim_threshold.name;
    call->reader = RANGE_READER;
    call->reader_args = args;
    call->n_reader_args = 1;
    call->values = values;
    call->value = VALUE;
    call->err = &err;
    call->scratch_size = prim_threshold.scratch_bytes(call);
    call->scratch = call->scratch_size > 0 ? allocate(call->scratch_size) : NULL;
    must(prim_threshold.run(call), &err);
    must(dev_read(device, values, 0, out, SLOTS * sizeof *out, &err), &err);
    dev_free(device, call->scratch);
}

enum { SIZE = 64 };

/* The threshold of a histogram on the device, in both shapes, against the reference. */
static double check_threshold(const uint64_t *counts, int bins, double lo, double hi, bool integer, int method)
{
    Err err = {0};
    double want = ref_threshold(counts, bins, lo, hi, integer, (ThresholdMethod)method), got[SLOTS];
    if (small && method == METHOD_MINIMUM && (integer ? hi - lo : bins) > 300) {
        return want; /* thousands of rounds of smoothing */
    }
    size_t n = (size_t)bins, bytes = (2 * n + 1) * sizeof(uint32_t);
    uint32_t *words = calloc(2 * n + 1, sizeof *words);
    assert_non_null(words);
    for (size_t i = 0; i < n; i++) {
        words[i] = (uint32_t)counts[i];
        words[n + i] = (uint32_t)(counts[i] >> 32);
        words[2 * n] |= words[n + i];
    }
    DevMem *mem = allocate(bytes);
    must(dev_write(device, mem, 0, words, bytes, &err), &err);
    free(words);
    const double ends[2] = {lo, hi};
    must(dev_write(device, range, 0, ends, sizeof ends, &err), &err);
    for (int shape = SHAPE_GPU; shape <= SHAPE_CPU; shape++) {
        PrimCall call = {.arg = {method, integer}, .shape = shape, .w = 1, .h = 1, .d = 1, .planes = 1};
        call.in[0] = (PrimImage){.mem = mem, .elem = ELEM_U32, .length = 2 * (int64_t)bins + 1};
        run(&call, got);
        if (memcmp(&want, &got[VALUE], sizeof want) != 0) {
            fail_msg("method %d, %d bins of %g .. %g: %.17g, not %.17g", method, bins, lo, hi, got[VALUE], want);
        }
        assert_true(got[VALUE - 1] == -1 && got[VALUE + 1] == -1);
    }
    dev_free(device, mem);
    return want;
}

/* As in make_thresholds.py. */
static int golden_pixel(int image, int x, int y)
{
    static const int LEVEL[] = {10, 11, 200};
    bool inside = (x - 30) * (x - 30) + (y - 34) * (y - 34) < 400;
    int a, b, stray;
    switch (image) {
    case 0:
        return (int)below(256);
    case 1:
        a = (int)below(32);
        a += (int)below(32);
        b = (int)below(48);
        b += (int)below(48);
        return inside ? 150 + b : 40 + a;
    case 2:
        a = (int)below(16);
        b = (int)below(16);
        return a * b;
    case 3:
        return LEVEL[below(3)];
    case 4:
        a = (int)below(700);
        a += (int)below(700);
        b = (int)below(300);
        stray = (int)below(3900);
        return below(8) == 0 ? stray : inside ? 2500 + a : 300 + b;
    default:
        a = (int)below(100);
        a += (int)below(100);
        return inside ? -400 + 3 * a : a - 60;
    }
}

static void test_golden_thresholds(void **state)
{
    (void)state;
    static float v[SIZE * SIZE];
    static uint64_t counts[GOLDEN_BINS];
    const RefShape shape = {SIZE, SIZE, 1, 1};
    for (size_t g = 0; g < sizeof GOLDEN_THRESHOLDS / sizeof GOLDEN_THRESHOLDS[0]; g++) {
        bool integer = GOLDEN_THRESHOLDS[g].integer;
        random_state = 1000 + (uint32_t)GOLDEN_THRESHOLDS[g].image;
        for (int i = 0; i < SIZE * SIZE; i++) {
            float p = (float)golden_pixel(GOLDEN_THRESHOLDS[g].image, i % SIZE, i / SIZE);
            v[i] = integer ? p : p / 7.0F;
        }
        double all[5];
        ref_reduce(v, ELEM_F32, NULL, shape, all);
        int bins = integer ? GOLDEN_BINS : 256;
        ref_histogram(v, NULL, shape, all[3], all[4], bins, integer, counts);
        for (int method = 0; method < THRESHOLD_METHODS; method++) {
            double want = GOLDEN_THRESHOLDS[g].value[method];
            double got = check_threshold(counts, bins, all[3], all[4], integer, method);
            if (isnan(want) != isnan(got) || fabs(want - got) > 1e-12 * fabs(want)) {
                fail_msg("image %d, %s, method %d: %.17g, not %.17g", GOLDEN_THRESHOLDS[g].image,
                         integer ? "integers" : "floats", method, got, want);
            }
        }
    }
}

/* Histograms that no image of these tests has: more bins than lanes, plateaus, huge counts. */
static void test_threshold_histograms(void **state)
{
    (void)state;
    static uint64_t counts[3000];
    for (int kind = small ? 1 : 0; kind < (small ? 2 : 4); kind++) {
        random_state = 77 + (uint32_t)kind;
        for (int i = 0; i < 3000; i++) {
            double a = (i - 700) / 120.0, b = (i - 2200) / 200.0;
            counts[i] = kind == 0   ? below(5)
                        : kind == 1 ? (uint32_t)(4000 / (1 + a * a) + 3000 / (1 + b * b))
                        : kind == 2 ? (uint32_t)(i % 1000 < 500) * 3
                                    : 1000000U * below(60000);
        }
        counts[0] = counts[2999] = counts[255] = counts[256] = 1;
        for (int method = 0; method < THRESHOLD_METHODS; method++) {
            check_threshold(counts, 3000, -20, 2979, true, method);
            check_threshold(counts, 3000, -1.5, 7.25, false, method);
            check_threshold(counts, 256, 0, 255, true, method);
            check_threshold(counts, 257, 3, 4, false, method);
        }
    }
}

/* Of images that no test can hold: a hundred times as many pixels in each bin, or in one, than 32 bits count.  So many
 * times all of them, a power of two, leave a threshold that no height decides where it was. */
static void test_wide_counts(void **state)
{
    (void)state;
    static uint64_t few[256], counts[256];
    random_state = 5;
    for (int i = 0; i < 256; i++) {
        few[i] = (uint64_t)below(1000) * (i < 100 || i > 150 ? 900 : 3);
        counts[i] = few[i] << 20;
    }
    for (int method = 0; method < THRESHOLD_METHODS; method++) {
        double want = check_threshold(few, 256, 0, 255, true, method);
        double got = check_threshold(counts, 256, 0, 255, true, method);
        assert_true(got == want || method == METHOD_TRIANGLE || (isnan(got) && isnan(want)));
    }
    few[3] = 70000ULL * 70000;
    for (int method = 0; method < THRESHOLD_METHODS; method++) {
        check_threshold(few, 256, 0, 255, true, method);
        check_threshold(few, 256, -1.5, 2, false, method);
    }
}

/* Other owners have found what this one has. */
static void mirror(void *context, const OwnersPiece *give, const OwnersPiece *take)
{
    const Owners *owners = context;
    for (int k = 0; k < owners->n; k++) {
        memcpy(take[k].bytes, give[k].bytes, take[k].n);
    }
}

/* Counts of parts and of owners that together exceed 32 bits; of labels the background's may, and nothing else. */
static void check_sums(const uint32_t *part, bool wide, const uint32_t *want)
{
    uint32_t words[5] = {0};
    Err err = {0};
    void *kept = NULL;
    DevMem *mem = allocate(sizeof words);
    Owners owners = {.n = 3, .locals = 1, .swap = mirror, .context = &owners};
    PrimCall call = {.dev = device, .name = "sums", .state = &kept, .owners = &owners, .err = &err};
    for (int i = 0; i < 3; i++) {
        call.part = (PrimPart){.cut = true, .first = i == 0, .last = i == 2};
        must(dev_write(device, mem, 0, part, 2 * sizeof *part, &err), &err);
        must(host_add_counts(&call, mem, 2, wide), &err);
    }
    bool fits = share_add_counts(&call, mem, 2, wide);
    assert_true(fits == (want != NULL));
    must(dev_read(device, mem, 0, words, sizeof words, &err), &err);
    for (int i = 0; fits && i < (wide ? 5 : 2); i++) {
        assert_int_equal(words[i], want[i]);
    }
    err_clear(&err);
    free(kept);
    dev_free(device, mem);
}

static void test_sums_of_counts(void **state)
{
    (void)state;
    /* 9 times 3000000000 is 6 * 2^32 + 1230196224 */
    check_sums((uint32_t[]){7, 3000000000U}, true, (uint32_t[]){63, 1230196224U, 0, 6, 6});
    check_sums((uint32_t[]){7, 5}, true, (uint32_t[]){63, 45, 0, 0, 0});
    check_sums((uint32_t[]){600000000, 5}, true, (uint32_t[]){1105032704U, 45, 1, 0, 1}); /* of owners alone */
    check_sums((uint32_t[]){3000000000U, 5}, false, (uint32_t[]){UINT32_MAX, 45});
    check_sums((uint32_t[]){600000000, 5}, false, (uint32_t[]){UINT32_MAX, 45});
    check_sums((uint32_t[]){1, 600000000}, false, NULL);
}

static void test_threshold_degenerate(void **state)
{
    (void)state;
    const uint64_t counts[] = {5, 0, 0, 3}, none[4] = {0};
    for (int method = 0; method < THRESHOLD_METHODS; method++) {
        for (int integer = 0; integer < 2; integer++) {
            assert_true(check_threshold(counts, 4, 7.5, 7.5, integer, method) == 7.5);
            assert_true(isnan(check_threshold(counts, 4, INFINITY, -INFINITY, integer, method)));
            assert_true(isnan(check_threshold(counts, 4, 0, INFINITY, integer, method)));
            assert_true(isnan(check_threshold(counts, 4, NAN, NAN, integer, method)));
            assert_true(isnan(check_threshold(none, 4, 0, 3, integer, method)));
        }
        check_threshold(counts, 4, -2147483648.0, 2147483520, true, method);
        check_threshold(counts, 4, 0, 3, true, method);
        check_threshold(counts, 4, 0, 1, true, method);
        check_threshold(counts, 1, 0, 1, false, method);
    }
    const uint64_t pairs[] = {5, 0, 3, 0}; /* Otsu of 5 values in 4 bins: two a bin, the last stands for both */
    assert_true(check_threshold(pairs, 4, 0, 4, true, 0) == 1);
}

static void test_threshold_unknown(void **state)
{
    (void)state;
    Err err = {0};
    PrimCall call = {.dev = device, .name = "t", .arg = {THRESHOLD_METHODS}, .err = &err};
    assert_false(prim_threshold.run(&call));
    assert_int_equal(err.code, CODE_USAGE);
}

static int open_all(void **state)
{
    if (open_device(state) != 0) {
        return 1;
    }
    values = allocate(SLOTS * sizeof(double));
    range = allocate(2 * sizeof(double));
    return 0;
}

static int close_all(void **state)
{
    dev_free(device, values);
    dev_free(device, range);
    return close_device(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_thresholds),    cmocka_unit_test(test_threshold_histograms),
        cmocka_unit_test(test_wide_counts),          cmocka_unit_test(test_sums_of_counts),
        cmocka_unit_test(test_threshold_degenerate), cmocka_unit_test(test_threshold_unknown),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
