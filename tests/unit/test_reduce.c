/*
 * test_reduce: the primitives reduce, rank, summary, histogram and otsu, in the shapes for GPUs and for CPUs, against
 * the plain C of reference/ref_reduce.c, bit for bit; and that against brute force.
 *
 * PIPEC_TEST_SMALL=1 leaves out the larger images, for slow checkers of kernels (oclgrind).
 */
#include "reference/ref.h"
#include "runtime/primitives/prim.h"
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

extern const Primitive prim_reduce, prim_rank, prim_summary, prim_histogram, prim_otsu;

enum { SLOTS = 9, VALUE = 2, MOST_BINS = 65536 };

static const char READER[] =
    "#define READ_PARAMS global const float *image, global const uchar *mask, "
    "global const double *range, int pitch, int rows\n"
    "#define READ_ARGS image, mask, range, pitch, rows\n"
    "#define READ_TYPE_0 float\n"
    "static float read_0(READ_PARAMS, int x, int y, int plane)\n"
    "{ return image[((size_t)plane * (size_t)rows + (size_t)y) * (size_t)pitch + (size_t)x]; }\n"
    "static double read_2(READ_PARAMS, int x, int y, int plane) { return range[0]; }\n"
    "static double read_3(READ_PARAMS, int x, int y, int plane) { return range[1]; }\n";

static const char MASK_READER[] =
    "#define READ_HAS_1 1\n"
    "#define READ_TYPE_1 bool\n"
    "static bool read_1(READ_PARAMS, int x, int y, int plane)\n"
    "{ return mask[((size_t)plane * (size_t)rows + (size_t)y) * (size_t)pitch + (size_t)x]; }\n";

/* An image on the host and on the device, there with rows of another length. */
typedef struct Image {
    RefShape shape;
    float *pixels;
    uint8_t *where; /* NULL: all */
    int pitch;
    DevMem *image, *mask;
} Image;

static DevMem *values, *range;

/* Of the last otsu in the shape for GPUs: whether the first reading was enough, which is in scratch behind 256
 * bins and their sums. */
enum { OTSU_DECIDED = 4096 + 8192 };
static uint32_t otsu_decided;

/* ---- images ------------------------------------------------------------------------------ */

static float any_float(void)
{
    return (float)below(65536) + (float)below(65536) / 65536.0F;
}

enum {
    NOISE,      /* positive, all different */
    SIGNED,     /* both signs, all magnitudes */
    FEW,        /* 0 .. 255, as from u8 files */
    MOSTLY_ONE, /* one value for most pixels */
    CONSTANT,
    ZEROS, /* 0, -0, 1 */
    WITH_NAN,
    WITH_INF,
    ALL_NAN,
    SLOPE, /* ordered as the pixels are */
    CLOSE, /* neighbouring floats */
    FILLS
};

static float fill(int kind, size_t i)
{
    static const float ZERO[] = {0.0F, -0.0F, 1.0F};
    switch (kind) {
    case NOISE:
        return any_float();
    case SIGNED:
        return ldexpf(any_float() - 32768.0F, (int)below(80) - 60);
    case FEW:
        return (float)(below(16) * below(18));
    case MOSTLY_ONE:
        return below(20) ? 7.0F : any_float();
    case CONSTANT:
        return 3.25F;
    case ZEROS:
        return ZERO[below(3)];
    case WITH_NAN:
        return below(3) ? any_float() - 30000.0F : NAN;
    case WITH_INF:
        return below(3) ? any_float() - 30000.0F : below(2) ? INFINITY : -INFINITY;
    case ALL_NAN:
        return NAN;
    case SLOPE:
        return (float)i * 0.25F - 100.0F;
    default:
        return 1.0F + (float)below(40) * 0x1p-23F;
    }
}

enum { NO_MASK, PART, SPARSE, EMPTY, MASKS };

static uint8_t masked(int kind)
{
    return kind == PART ? below(3) > 0 : kind == SPARSE ? below(97) == 0 : 0;
}

static void upload(Image *im)
{
    size_t rows = (size_t)(im->shape.h * im->shape.d * im->shape.c), w = (size_t)im->shape.w;
    size_t all = rows * (size_t)im->pitch;
    float *pixels = malloc(all * sizeof *pixels);
    uint8_t *mask = malloc(all);
    assert_non_null(pixels);
    assert_non_null(mask);
    for (size_t i = 0; i < all; i++) {
        pixels[i] = 1e30F; /* what lies between the rows */
        mask[i] = 1;
    }
    for (size_t y = 0; y < rows; y++) {
        memcpy(pixels + y * (size_t)im->pitch, im->pixels + y * w, w * sizeof *pixels);
        if (im->where != NULL) {
            memcpy(mask + y * (size_t)im->pitch, im->where + y * w, w);
        }
    }
    Err err = {0};
    im->image = allocate(all * sizeof *pixels);
    im->mask = allocate(all);
    must(dev_write(device, im->image, 0, pixels, all * sizeof *pixels, &err), &err);
    must(dev_write(device, im->mask, 0, mask, all, &err), &err);
    must(dev_finish(device, &err), &err);
    free(pixels);
    free(mask);
}

static Image make_image(RefShape shape, int kind, int mask)
{
    Image im = {.shape = shape, .pitch = (shape.w + 15) / 16 * 16 + 16};
    size_t n = ref_pixels(shape);
    random_state = (uint32_t)(shape.w * 31 + shape.h * 7 + kind * 1001 + mask);
    im.pixels = malloc(n * sizeof *im.pixels);
    im.where = mask == NO_MASK ? NULL : malloc(n);
    assert_non_null(im.pixels);
    for (size_t i = 0; i < n; i++) {
        im.pixels[i] = fill(kind, i);
        if (im.where != NULL) {
            im.where[i] = masked(mask);
        }
    }
    upload(&im);
    return im;
}

static void free_image(Image *im)
{
    dev_free(device, im->image);
    dev_free(device, im->mask);
    free(im->pixels);
    free(im->where);
}

/* ---- running ----------------------------------------------------------------------------- */

/* Runs a primitive over an image; all values before it are -1. */
static void run_prim(const Primitive *prim, PrimCall *call, const char *reader, const DevArg *reader_args,
                     int n_reader_args, double out[SLOTS])
{
    Err err = {0};
    for (int i = 0; i < SLOTS; i++) {
        out[i] = -1;
    }
    must(dev_write(device, values, 0, out, SLOTS * sizeof *out, &err), &err);
    call->dev = device;
    call->name = prim->name;
    call->reader = reader;
    call->reader_args = reader_args;
    call->n_reader_args = n_reader_args;
    call->values = values;
    call->value = VALUE;
    call->err = &err;
    call->scratch_size = prim->scratch_bytes != NULL ? prim->scratch_bytes(call) : 0;
    if (call->scratch_size > 0) {
        call->scratch = allocate(call->scratch_size);
    }
    must(prim->run(call), &err);
    must(dev_read(device, values, 0, out, SLOTS * sizeof *out, &err), &err);
    if (prim == &prim_otsu) {
        must(dev_read(device, call->scratch, OTSU_DECIDED, &otsu_decided, sizeof otsu_decided, &err), &err);
    }
    dev_free(device, call->scratch);
}

static void run_on_image(const Primitive *prim, PrimCall *call, const Image *im, double out[SLOTS])
{
    char reader[sizeof READER + sizeof MASK_READER];
    snprintf(reader, sizeof reader, "%s%s", READER, im->where != NULL ? MASK_READER : "");
    const DevArg args[] = {dev_mem(im->image), dev_mem(im->mask), dev_mem(range), dev_int(im->pitch),
                           dev_int(im->shape.h)};
    call->w = im->shape.w;
    call->h = im->shape.h;
    call->d = im->shape.d;
    call->planes = im->shape.d * im->shape.c;
    call->pitch = im->pitch;
    run_prim(prim, call, reader, args, 5, out);
}

static void set_range(double lo, double hi)
{
    Err err = {0};
    const double both[2] = {lo, hi};
    must(dev_write(device, range, 0, both, sizeof both, &err), &err);
}

static void assert_same(const char *what, const Image *im, int kind, double want, double got)
{
    if (memcmp(&want, &got, sizeof want) != 0) {
        fail_msg("%s of %dx%dx%dx%d, fill %d: %.17g (%a), not %.17g (%a)", what, im->shape.w, im->shape.h, im->shape.d,
                 im->shape.c, kind, got, got, want, want);
    }
}

/* ---- reduce ------------------------------------------------------------------------------ */

static void check_reduce(const Image *im, int kind, int wanted)
{
    static const char *const NAMES[] = {"sum", "count", "squares", "min", "max"};
    static const int BIT[] = {3, 3, 2, 4, 4}; /* squares are united by sums and counts */
    double want[5], got[SLOTS];
    ref_reduce(im->pixels, ELEM_F32, im->where, im->shape, want);
    for (int shape = first_shape(); shape <= SHAPE_CPU; shape++) {
        PrimCall call = {.arg = {wanted}, .shape = shape};
        run_on_image(&prim_reduce, &call, im, got);
        for (int q = 0; q < 5; q++) {
            assert_same(NAMES[q], im, kind, wanted & BIT[q] ? want[q] : -1, got[VALUE + q]);
        }
        assert_true(got[VALUE - 1] == -1 && got[VALUE + 5] == -1);
    }
}

static void check_rank(const Image *im, int kind, double percent)
{
    double want = ref_rank(im->pixels, im->where, im->shape, percent), got[SLOTS];
    for (int shape = first_shape(); shape <= SHAPE_CPU; shape++) {
        PrimCall call = {.arg = {percent}, .shape = shape};
        run_on_image(&prim_rank, &call, im, got);
        char what[64];
        snprintf(what, sizeof what, "percentile %g", percent);
        assert_same(what, im, kind, want, got[VALUE]);
        assert_true(got[VALUE - 1] == -1 && got[VALUE + 1] == -1);
    }
}

static void check_summary(const Image *im, int kind, int wanted, double percent)
{
    static const int BIT[] = {1, 1, 2, 4, 4};
    double want[6], got[SLOTS];
    ref_reduce(im->pixels, ELEM_F32, im->where, im->shape, want);
    want[5] = ref_rank(im->pixels, im->where, im->shape, percent);
    for (int shape = first_shape(); shape <= SHAPE_CPU; shape++) {
        PrimCall call = {.arg = {wanted, percent}, .shape = shape};
        run_on_image(&prim_summary, &call, im, got);
        for (int q = 0; q < 6; q++) {
            if (q == 5 || (wanted & BIT[q]) != 0) {
                assert_same("a summary", im, kind, want[q], got[VALUE + q]);
            }
        }
        assert_true(got[VALUE - 1] == -1 && got[VALUE + 6] == -1);
    }
}

/* True when one reading was enough. */
static bool check_otsu(const Image *im, int kind, bool integer)
{
    int bins = integer ? MOST_BINS : 256;
    double want[6], got[SLOTS];
    uint64_t *counts = malloc((size_t)bins * sizeof *counts);
    bool decided = false;
    assert_non_null(counts);
    ref_reduce(im->pixels, ELEM_F32, im->where, im->shape, want);
    ref_histogram(im->pixels, im->where, im->shape, want[3], want[4], bins, integer, counts);
    want[5] = ref_threshold(counts, bins, want[3], want[4], integer, 0);
    for (int shape = first_shape(); shape <= SHAPE_CPU; shape++) {
        PrimCall call = {.arg = {bins, integer}, .shape = shape};
        run_on_image(&prim_otsu, &call, im, got);
        decided = decided || (shape == SHAPE_GPU && !integer && otsu_decided == 1);
        for (int q = 3; q < 6; q++) {
            assert_same("otsu", im, kind, want[q], got[VALUE + q]);
        }
        assert_true(got[VALUE - 1] == -1 && got[VALUE + 6] == -1);
    }
    free(counts);
    return decided;
}

static void check_histogram(const Image *im, int kind, double lo, double hi, int bins, bool integer)
{
    Err err = {0};
    uint64_t *want = malloc((size_t)bins * sizeof *want);
    size_t words = 2 * (size_t)bins + 1, bytes = words * sizeof(uint32_t);
    uint32_t *got = malloc(bytes);
    assert_non_null(want);
    assert_non_null(got);
    ref_histogram(im->pixels, im->where, im->shape, lo, hi, bins, integer, want);
    set_range(lo, hi);
    DevMem *counts = allocate(bytes);
    for (int shape = first_shape(); shape <= SHAPE_CPU; shape++) {
        double ignored[SLOTS];
        PrimCall call = {.arg = {bins, integer}, .shape = shape};
        call.out[0] = (PrimImage){.mem = counts, .elem = ELEM_U32, .length = (int64_t)words};
        run_on_image(&prim_histogram, &call, im, ignored);
        must(dev_read(device, counts, 0, got, bytes, &err), &err);
        for (int i = 0; i < (int)words; i++) {
            if ((i < bins ? want[i] : 0) != got[i]) {
                fail_msg("%dx%d, fill %d, %d bins of %g .. %g, shape %d: bin %d has %u", im->shape.w, im->shape.h, kind,
                         bins, lo, hi, shape, i, got[i]);
            }
        }
    }
    dev_free(device, counts);
    free(want);
    free(got);
}

/* Of the range that a threshold takes, and of another one. */
static void check_histograms(const Image *im, int kind)
{
    double all[5];
    ref_reduce(im->pixels, ELEM_F32, im->where, im->shape, all);
    check_histogram(im, kind, all[3], all[4], 256, false);
    check_histogram(im, kind, -10, 1000.5, 256, false);
}

/* Few images for these, as each kind of histogram is a program to compile. */
static void check_all_histograms(const Image *im, int kind)
{
    double all[5];
    ref_reduce(im->pixels, ELEM_F32, im->where, im->shape, all);
    check_histograms(im, kind);
    check_histogram(im, kind, floor(all[3]), floor(all[4]), small ? 5000 : MOST_BINS, true);
    if (im->where == NULL) {
        check_histogram(im, kind, all[3], all[4], 7, false);
        check_histogram(im, kind, floor(all[3]), floor(all[4]), 256, true);
    }
}

/* Each mode of kernels/visit.cl, and one to either side of the edges of blocks. */
static const RefShape SHAPES[] = {
    {1, 1, 1, 1},    {1, 300, 1, 1},  {300, 1, 1, 1}, {255, 63, 1, 1}, {256, 64, 1, 1},
    {257, 65, 1, 1}, {40, 130, 1, 1}, {100, 9, 3, 2}, {5, 3, 70, 1},   {4097, 2, 1, 1},
};
enum { N_SHAPES = sizeof SHAPES / sizeof SHAPES[0] };

static void each_shape(void (*check)(const Image *im, int kind))
{
    for (int i = 0; i < N_SHAPES; i++) {
        for (int mask = NO_MASK; mask < MASKS; mask += 1 + i % 3) {
            int kind = (i * MASKS + mask) % FILLS;
            if (!turn_has(i + mask)) {
                continue;
            }
            Image im = make_image(SHAPES[i], kind, mask);
            check(&im, kind);
            free_image(&im);
        }
    }
}

static void each_fill(RefShape shape, void (*check)(const Image *im, int kind))
{
    for (int kind = 0; kind < FILLS; kind += small ? 3 : 1) {
        if (!small && !turn_has(kind)) {
            continue;
        }
        Image im = make_image(shape, kind, kind % 2 ? PART : NO_MASK);
        check(&im, kind);
        free_image(&im);
    }
}

static void reduce_all(const Image *im, int kind)
{
    check_reduce(im, kind, 7);
}

static void rank_some(const Image *im, int kind)
{
    check_rank(im, kind, 50);
    if (!small) {
        check_rank(im, kind, 0);
        check_rank(im, kind, 99.7);
    }
}

static void summary_some(const Image *im, int kind)
{
    check_summary(im, kind, 7, 50);
    if (!small) {
        check_summary(im, kind, 3, 99.7);
    }
}

static void test_summary_shapes(void **state)
{
    (void)state;
    each_shape(summary_some);
}

static void test_summary_fills(void **state)
{
    (void)state;
    each_fill(small ? (RefShape){130, 70, 1, 1} : (RefShape){700, 150, 1, 1}, summary_some);
}

static void test_summary_wanted(void **state)
{
    (void)state;
    turn_or_skip(0);
    Image im = make_image((RefShape){257, 65, 1, 1}, WITH_NAN, NO_MASK);
    for (int wanted = 0; wanted < 8; wanted = wanted == 0 ? 1 : 2 * wanted) {
        check_summary(&im, WITH_NAN, wanted, 25);
    }
    free_image(&im);
}

static void test_reduce_shapes(void **state)
{
    (void)state;
    each_shape(reduce_all);
}

static void test_reduce_fills(void **state)
{
    (void)state;
    each_fill(small ? (RefShape){130, 70, 1, 1} : (RefShape){700, 150, 1, 1}, reduce_all);
}

static void test_reduce_wanted(void **state)
{
    (void)state;
    turn_or_skip(1);
    Image im = make_image((RefShape){257, 65, 1, 1}, WITH_NAN, NO_MASK);
    for (int wanted = 1; wanted < 8; wanted *= 2) {
        check_reduce(&im, WITH_NAN, wanted);
    }
    free_image(&im);
}

/* More than 256 blocks, more than one batch of blocks a lane. */
static void test_reduce_many_blocks(void **state)
{
    (void)state;
    turn_or_skip(2);
    Image im = make_image(small ? (RefShape){3, 2, 300, 1} : (RefShape){3, 65, 2500, 1}, SIGNED, NO_MASK);
    check_reduce(&im, SIGNED, 7);
    free_image(&im);
}

static void test_rank_shapes(void **state)
{
    (void)state;
    each_shape(rank_some);
}

static void test_rank_fills(void **state)
{
    (void)state;
    each_fill(small ? (RefShape){130, 70, 1, 1} : (RefShape){700, 150, 1, 1}, rank_some);
}

static void test_rank_percents(void **state)
{
    (void)state;
    turn_or_skip(3);
    static const double PERCENT[] = {-5, 0.001, 0.5, 25, 33.3333, 50.0001, 75, 99.999, 100, 120};
    Image im = make_image((RefShape){61, 47, 1, 1}, SIGNED, NO_MASK);
    for (size_t i = 0; i < sizeof PERCENT / sizeof PERCENT[0]; i += small ? 3 : 1) {
        check_rank(&im, SIGNED, PERCENT[i]);
    }
    free_image(&im);
}

/* Number i of the sample that kernels/rank.cl takes of n pixels. */
static size_t sample_position(uint32_t i, size_t n)
{
    enum { SAMPLE_SIZE = 16384 };
    uint64_t from = (uint64_t)n * i / SAMPLE_SIZE, to = (uint64_t)n * (i + 1) / SAMPLE_SIZE;
    uint32_t hash = i * 0x9e3779b9U;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
    hash ^= hash >> 16;
    return (size_t)(from + (hash * (to - from) >> 32));
}

/* Images whose sample is as misleading as can be: below all others, above them, or around them,
 * so that there are more pixels inside the bracket than there is room for. */
static void test_rank_wrong_sample(void **state)
{
    (void)state;
    turn_or_skip(4);
    enum { W = 400, H = 250, SAMPLED = 16384 };
    for (int how = 0; how < 3; how++) {
        Image im = make_image((RefShape){W, H, 1, 1}, NOISE, NO_MASK);
        for (uint32_t i = 0; i < SAMPLED; i++) {
            bool low = how == 0 || (how == 2 && i % 2 == 0);
            im.pixels[sample_position(i, W * H)] = low ? -1e9F : 1e9F;
        }
        dev_free(device, im.image);
        dev_free(device, im.mask);
        upload(&im);
        check_rank(&im, NOISE, 50);
        check_summary(&im, NOISE, 7, 50);
        if (!small) {
            check_rank(&im, NOISE, 100.0 * (SAMPLED - 0.5) / (W * H - 1));
            check_rank(&im, NOISE, 100.0 * (W * H - SAMPLED - 0.5) / (W * H - 1));
            check_rank(&im, NOISE, 90);
        }
        free_image(&im);
    }
}

static void test_large(void **state)
{
    (void)state;
    if (small) {
        skip();
    }
    for (int kind = 0; kind < FILLS; kind++) {
        if (!turn_has(kind)) {
            continue;
        }
        Image im = make_image((RefShape){1024, 1000, 1, 1}, kind, NO_MASK);
        check_reduce(&im, kind, 7);
        check_rank(&im, kind, 50);
        check_rank(&im, kind, 1);
        check_summary(&im, kind, 7, 50);
        check_all_histograms(&im, kind);
        free_image(&im);
    }
}

static void test_histogram_shapes(void **state)
{
    (void)state;
    each_shape(check_histograms);
}

static void test_histogram_fills(void **state)
{
    (void)state;
    each_fill(small ? (RefShape){130, 70, 1, 1} : (RefShape){300, 100, 1, 1}, check_all_histograms);
}

/* ---- otsu -------------------------------------------------------------------------------- */

static void otsu_some(const Image *im, int kind)
{
    check_otsu(im, kind, false);
}

static void test_otsu_shapes(void **state)
{
    (void)state;
    each_shape(otsu_some);
}

static void otsu_all(const Image *im, int kind)
{
    check_otsu(im, kind, false);
    if (!small) {
        check_otsu(im, kind, true);
    }
}

static void test_otsu_fills(void **state)
{
    (void)state;
    each_fill(small ? (RefShape){130, 70, 1, 1} : (RefShape){300, 100, 1, 1}, otsu_all);
}

/* A bell around `middle`, about as wide as told. */
static float bell(float middle, float width)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (float)below(65536) / 65536.0F - 0.5F;
    }
    return middle + sum * width;
}

/* Pixels of two classes and more, far from zero or near it, with tails that samples miss; few values, of which
 * many lie on edges; two halves that mirror each other. */
static float class_pixel(int kind, const float *mean, const float *width, uint32_t share, size_t i)
{
    static const float EDGE[] = {0, 64, 127, 128, 129, 192, 256};
    switch (kind) {
    case 0:
        return bell(0, width[0]);
    case 1:
        return below(100) < share ? bell(mean[0], width[0]) : bell(mean[1], width[1]);
    case 2:
        return 1e4F + bell(mean[below(3)], width[0]);
    case 3:
        return below(5000) == 0 ? bell(50 * mean[2], width[2]) : bell(mean[0], width[0] / 50);
    case 4:
        return floorf(below(100) < share ? bell(mean[0], width[0]) : bell(mean[1], width[1]));
    case 5:
        return EDGE[below(7)];
    case 6:
        return i % 2 ? 256 - (float)below(share) : (float)below(share);
    default:
        return ldexpf(bell(mean[0], width[0]), (int)below(6));
    }
}
enum { CLASS_KINDS = 8 };

/* Tails that the sample has not met: few pixels are kept apart, too many take a second reading. */
static void test_otsu_tails(void **state)
{
    (void)state;
    turn_or_skip(5);
    const RefShape shape = small ? (RefShape){300, 40, 1, 1} : (RefShape){1000, 600, 1, 1};
    for (int many = 0; many < 2; many++) {
        Image im = make_image(shape, CONSTANT, NO_MASK);
        dev_free(device, im.image);
        dev_free(device, im.mask);
        random_state = 99;
        for (size_t i = 0; i < ref_pixels(shape); i++) {
            size_t x = i % (size_t)shape.w, y = i / (size_t)shape.w;
            bool odd = many ? x / 256 == 1 && y / 16 == 6 : y % 16 == 5 && below(700) == 0;
            im.pixels[i] = odd ? 300 + bell(0, 20) : below(3) == 0 ? bell(20, 10) : bell(0, 10);
        }
        upload(&im);
        bool decided = check_otsu(&im, 2000 + many, false);
        assert_true(small || !runs_gpu_shapes(device) || decided == !many);
        free_image(&im);
    }
}

/* What the fine bins decide is right, and they decide most. */
static void test_otsu_decides(void **state)
{
    (void)state;
    turn_or_skip(6);
    const RefShape shape = small ? (RefShape){300, 40, 1, 1} : (RefShape){1000, 64, 1, 1};
    int decided[CLASS_KINDS] = {0}, rounds = small ? 1 : 12;
    for (int round = 0; round < rounds; round++) {
        for (int kind = 0; kind < CLASS_KINDS; kind++) {
            Image im = make_image(shape, CONSTANT, NO_MASK);
            dev_free(device, im.image);
            dev_free(device, im.mask);
            random_state = (uint32_t)(round * CLASS_KINDS + kind + 1);
            float mean[3], width[3];
            for (int k = 0; k < 3; k++) {
                mean[k] = (float)below(1000);
                width[k] = 1 + (float)below(600);
            }
            uint32_t share = 1 + below(99);
            for (size_t i = 0; i < ref_pixels(shape); i++) {
                im.pixels[i] = class_pixel(kind, mean, width, share, i);
            }
            upload(&im);
            decided[kind] += check_otsu(&im, 1000 + kind, false);
            free_image(&im);
        }
    }
    assert_true(small || !runs_gpu_shapes(device) || decided[0] + decided[1] + decided[4] > rounds * 3 / 2);
    assert_true(decided[6] < rounds); /* no reading tells mirrored halves apart */
}

/* ---- the references themselves ----------------------------------------------------------- */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void test_ref_rank_sorts(void **state)
{
    (void)state;
    enum { N = 101 };
    float v[N], sorted[N];
    random_state = 5;
    for (int i = 0; i < N; i++) {
        v[i] = sorted[i] = any_float() - 30000.0F;
    }
    qsort(sorted, N, sizeof sorted[0], compare_floats);
    for (int k = 0; k < N; k++) {
        double got = ref_rank(v, NULL, (RefShape){N, 1, 1, 1}, k); /* k / 100 is rounded */
        assert_true(fabs(got - sorted[k]) < 1e-9);
    }
    double half = ref_rank(v, NULL, (RefShape){N, 1, 1, 1}, 50.25);
    assert_true(fabs(half - (sorted[50] * 0.75 + sorted[51] * 0.25)) < 1e-9);
    const float even[] = {4, NAN, 1, 3, 2}; /* numpy.nanmedian: 2.5 */
    assert_true(ref_rank(even, NULL, (RefShape){5, 1, 1, 1}, 50) == 2.5);
}

/* numpy.histogram([0, 1, 2, 3, 4], 4): edges belong to the bin above, the last one to the last. */
static void test_ref_histogram_edges(void **state)
{
    (void)state;
    const float v[] = {0, 1, 2, 3, 4, 5, -1, NAN};
    const RefShape shape = {8, 1, 1, 1};
    uint64_t counts[8];
    ref_histogram(v, NULL, shape, 0, 4, 4, false, counts);
    assert_memory_equal(counts, ((uint64_t[]){1, 1, 1, 2}), 32);
    ref_histogram(v, NULL, shape, 2, 2, 4, false, counts); /* widened to 1.5 .. 2.5 */
    assert_memory_equal(counts, ((uint64_t[]){0, 0, 1, 0}), 32);
    ref_histogram(v, NULL, shape, -1, 5, 8, true, counts);
    assert_memory_equal(counts, ((uint64_t[]){1, 1, 1, 1, 1, 1, 1, 0}), 64);
    ref_histogram(v, NULL, shape, -1, INFINITY, 8, false, counts);
    assert_memory_equal(counts, ((uint64_t[8]){0}), 64);
}

static void test_ref_reduce_by_hand(void **state)
{
    (void)state;
    const float v[] = {1, -2, NAN, 4};
    const uint8_t where[] = {1, 1, 1, 0};
    double out[5];
    ref_reduce(v, ELEM_F32, where, (RefShape){2, 2, 1, 1}, out);
    assert_true(out[0] == -1 && out[1] == 2 && out[2] == 4.5 && out[3] == -2 && out[4] == 1);
    ref_reduce(v, ELEM_F32, NULL, (RefShape){2, 2, 1, 1}, out);
    assert_true(out[0] == 3 && out[1] == 3 && out[2] == 18 && out[3] == -2 && out[4] == 4);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void test_no_bins(void **state)
{
    (void)state;
    Err err = {0};
    PrimCall call = {.dev = device, .name = "t", .w = 1, .h = 1, .d = 1, .planes = 1, .err = &err};
    assert_false(prim_histogram.run(&call));
    assert_int_equal(err.code, CODE_USAGE);
}

static void test_too_many_pixels(void **state)
{
    (void)state;
    const Primitive *const prims[] = {&prim_rank, &prim_summary, &prim_histogram, &prim_otsu};
    for (int i = 0; i < 4; i++) {
        Err err = {0};
        PrimCall call = {.dev = device, .name = "big", .w = 65536, .h = 65536, .d = 1, .planes = 1, .err = &err};
        assert_false(prims[i]->run(&call));
        assert_int_equal(err.code, CODE_MEMORY);
        assert_non_null(strstr(err.text, "big: 65536 x 65536 x 1 pixels"));
    }
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
        cmocka_unit_test(test_ref_reduce_by_hand),  cmocka_unit_test(test_ref_rank_sorts),
        cmocka_unit_test(test_ref_histogram_edges), cmocka_unit_test(test_reduce_shapes),
        cmocka_unit_test(test_reduce_fills),        cmocka_unit_test(test_reduce_wanted),
        cmocka_unit_test(test_reduce_many_blocks),  cmocka_unit_test(test_rank_shapes),
        cmocka_unit_test(test_rank_fills),          cmocka_unit_test(test_rank_percents),
        cmocka_unit_test(test_rank_wrong_sample),   cmocka_unit_test(test_histogram_shapes),
        cmocka_unit_test(test_histogram_fills),     cmocka_unit_test(test_no_bins),
        cmocka_unit_test(test_too_many_pixels),     cmocka_unit_test(test_large),
        cmocka_unit_test(test_summary_shapes),      cmocka_unit_test(test_summary_fills),
        cmocka_unit_test(test_summary_wanted),      cmocka_unit_test(test_otsu_shapes),
        cmocka_unit_test(test_otsu_fills),          cmocka_unit_test(test_otsu_decides),
        cmocka_unit_test(test_otsu_tails),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
