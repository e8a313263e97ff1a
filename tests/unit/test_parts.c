/*
 * test_parts: primitives that work over the parts of an image, against the plain C of reference/ref.h over
 * all of it, bit for bit: strips of 64 rows, odd cuts where any are allowed, slabs of planes.
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

/* ---- images ------------------------------------------------------------------------------ */

enum { NOISE, FEW, WITH_NAN, FILLS };

static float *make_pixels(RefShape s, int kind)
{
    size_t n = ref_pixels(s);
    float *pixels = zeroed(n * sizeof *pixels);
    random_state = (uint32_t)(s.w * 31 + s.h * 7 + kind);
    for (size_t i = 0; i < n; i++) {
        float v = (float)below(65536) + (float)below(65536) / 65536.0F - 20000.0F;
        pixels[i] = kind == FEW ? (float)below(200) : kind == WITH_NAN && below(3) == 0 ? NAN : v;
    }
    return pixels;
}

static uint8_t *make_where(RefShape s, uint32_t percent)
{
    size_t n = ref_pixels(s);
    uint8_t *where = zeroed(n);
    for (size_t i = 0; i < n; i++) {
        where[i] = below(100) < percent;
    }
    return where;
}

/* Shapes with the steps to cut them by; step 0, odd cuts, only where `odd`. */
typedef struct Cut {
    RefShape s;
    int step;
    bool by_channel;
} Cut;

static const Cut CUTS[] = {
    {{300, 200, 1, 1}, 64, false}, {{70, 130, 1, 3}, 64, false}, {{70, 130, 1, 2}, 128, true},
    {{40, 64, 1, 1}, 64, false},   {{33, 21, 7, 2}, 1, false},   {{30, 70, 9, 1}, 0, false},
    {{50, 17, 6, 1}, 4, false},    {{1, 129, 1, 1}, 64, false},
};
static const Cut ODD_CUTS[] = {{{45, 37, 1, 1}, 0, false}, {{33, 40, 1, 2}, 1, true}, {{100, 29, 1, 3}, 0, false}};
enum { N_CUTS = sizeof CUTS / sizeof CUTS[0], N_ODD = sizeof ODD_CUTS / sizeof ODD_CUTS[0] };

static PartsJob job_of(const Cut *cut, const Primitive *primitive, int shape)
{
    return (PartsJob){.dev = device,
                      .primitive = primitive,
                      .s = cut->s,
                      .step = cut->step,
                      .by_channel = cut->by_channel,
                      .shape = shape,
                      .count = NAN,
                      .out = ELEM_U32};
}

/* Of pixels of which those count that `where` says; NULL: all. */
static PartsJob counting_job(const Cut *cut, const Primitive *primitive, int shape, const float *pixels,
                             const uint8_t *where)
{
    PartsJob job = job_of(cut, primitive, shape);
    job.pixels[0] = pixels;
    job.elem[0] = ELEM_F32;
    job.pixels[1] = where;
    job.elem[1] = ELEM_U8;
    return job;
}

/* ---- reduce, histogram ------------------------------------------------------------------- */

extern const Primitive prim_reduce, prim_histogram;

static void check_reduce(const Cut *cut, int kind, bool masked)
{
    float *pixels = make_pixels(cut->s, kind);
    uint8_t *where = make_where(cut->s, 70);
    double want[5], got[PARTS_SLOTS];
    Err err = {0};
    ref_reduce(pixels, ELEM_F32, masked ? where : NULL, cut->s, want);
    for (int shape = SHAPE_GPU; shape <= SHAPE_CPU; shape++) {
        PartsJob job = counting_job(cut, &prim_reduce, shape, pixels, masked ? where : NULL);
        job.arg[0] = 7;
        must(parts_run(&job, NULL, got, &err), &err);
        if (memcmp(want, got + PARTS_VALUE, sizeof want) != 0) {
            fail_msg("%dx%dx%dx%d, fill %d: sum %.17g, not %.17g", cut->s.w, cut->s.h, cut->s.d, cut->s.c, kind,
                     got[PARTS_VALUE], want[0]);
        }
    }
    free(pixels);
    free(where);
}

static void test_reduce(void **state)
{
    (void)state;
    turn_or_skip(2);
    for (int i = 0; i < N_CUTS; i++) {
        check_reduce(&CUTS[i], i % FILLS, i % 2 != 0);
    }
}

/* `extent`: as if the image had so many rows that bins need more than 32 bits. */
static void check_histogram(const Cut *cut, int kind, int bins, bool integer, int64_t extent)
{
    float *pixels = make_pixels(cut->s, kind);
    size_t words = 2 * (size_t)bins + 1;
    uint64_t *want = zeroed((size_t)bins * sizeof *want);
    uint32_t *got = zeroed(words * sizeof *got);
    double ignored[PARTS_SLOTS];
    Err err = {0};
    ref_histogram(pixels, NULL, cut->s, 0, 1000, bins, integer, want);
    for (int shape = SHAPE_GPU; shape <= SHAPE_CPU; shape++) {
        PartsJob job = job_of(cut, &prim_histogram, shape);
        job.pixels[0] = pixels;
        job.elem[0] = ELEM_F32;
        job.functions = "static double read_2(READ_PARAMS, int x, int y, int plane) { return 0; }\n"
                        "static double read_3(READ_PARAMS, int x, int y, int plane) { return 1000; }\n";
        job.arg[0] = bins;
        job.arg[1] = integer;
        job.length = (int64_t)words;
        job.extent = extent;
        must(parts_run(&job, got, ignored, &err), &err);
        for (size_t i = 0; i < words; i++) {
            assert_int_equal(got[i], i < (size_t)bins ? want[i] : 0);
        }
    }
    free(pixels);
    free(want);
    free(got);
}

static void test_histogram(void **state)
{
    (void)state;
    turn_or_skip(3);
    for (int i = 0; i < N_CUTS; i++) {
        check_histogram(&CUTS[i], i % FILLS, 256, false, 0);
    }
    check_histogram(&CUTS[0], NOISE, 20000, true, 0);
    check_histogram(&CUTS[0], FEW, 256, false, 1 << 25);
    check_histogram(&ODD_CUTS[2], FEW, 256, false, 0);
}

/* ---- boxes ------------------------------------------------------------------------------- */

extern const Primitive prim_boxes;

/* In parts that begin within boxes, too. */
static void check_boxes(const Cut *cut, int kind, const int size[3], double kappa, int rounds)
{
    float *pixels = make_pixels(cut->s, kind);
    uint8_t *where = make_where(cut->s, 90);
    const int extent[3] = {cut->s.w, cut->s.h, cut->s.d};
    size_t n = (size_t)BOXES_VALUES * (size_t)cut->s.c;
    double ignored[PARTS_SLOTS];
    Err err = {0};
    for (int axis = 0; axis < 3; axis++) {
        n *= (size_t)((extent[axis] - 1) / size[axis] + 1);
    }
    float *want = zeroed(n * sizeof *want), *got = zeroed(n * sizeof *got);
    assert_true(ref_boxes(pixels, kind == NOISE ? NULL : where, cut->s, size, kappa, rounds, want));
    for (int shape = SHAPE_GPU; shape <= (size[0] < 10 ? SHAPE_CPU : SHAPE_GPU); shape++) {
        PartsJob job = counting_job(cut, &prim_boxes, shape, pixels, kind == NOISE ? NULL : where);
        const double args[] = {size[0], size[1], size[2], kappa, rounds, (double)n};
        memcpy(job.arg, args, sizeof args);
        job.out = ELEM_F32;
        job.length = (int64_t)n;
        must(parts_run(&job, got, ignored, &err), &err);
        for (size_t i = 0; i < n; i++) {
            if (memcmp(&want[i], &got[i], sizeof *got) != 0 && !(isnan(want[i]) && isnan(got[i]))) {
                fail_msg("%dx%dx%dx%d, fill %d, shape %d: number %zu of %zu is %.9g, not %.9g", cut->s.w, cut->s.h,
                         cut->s.d, cut->s.c, kind, shape, i, n, (double)got[i], (double)want[i]);
            }
        }
    }
    free(pixels);
    free(where);
    free(want);
    free(got);
}

static void test_boxes(void **state)
{
    (void)state;
    turn_or_skip(4);
    check_boxes(&ODD_CUTS[0], FEW, (const int[3]){8, 9, 1}, 1.5, 10);
    check_boxes(&ODD_CUTS[1], WITH_NAN, (const int[3]){7, 16, 1}, 1, 2);
    check_boxes(&CUTS[4], NOISE, (const int[3]){11, 5, 3}, 2, 5);
    check_boxes(&CUTS[0], FEW, (const int[3]){300, 28, 1}, 1.2, 1); /* more than registers hold */
}

/* ---- rank -------------------------------------------------------------------------------- */

extern const Primitive prim_rank;

/* A note of keys that are far from those of this one, and of no others. */
static uint64_t elsewhere(uint64_t note)
{
    uint64_t half = (note >> 32 & 0xffff) ^ 0x4001;
    return (uint64_t)1 << 48 | half << 32 | half << 16;
}

/* Without a note, with that of a run on the same pixels, and with one that is wrong. */
static void check_rank(const Cut *cut, const float *pixels, const uint8_t *where, double percent)
{
    double want = ref_rank(pixels, where, cut->s, percent), got[PARTS_SLOTS];
    Err err = {0};
    uint64_t note = 0;
    for (int i = 0; i < 6; i++) {
        int passes = 0, shape = i < 3 ? SHAPE_GPU : SHAPE_CPU;
        note = i % 3 == 0 ? 0 : i % 3 == 1 ? note : elsewhere(note);
        PartsJob job = counting_job(cut, &prim_rank, shape, pixels, where);
        job.note = &note;
        job.passes = &passes;
        job.arg[0] = percent;
        must(parts_run(&job, NULL, got, &err), &err);
        if (memcmp(&want, &got[PARTS_VALUE], sizeof want) != 0) {
            fail_msg("percentile %g of %dx%dx%dx%d: %.17g, not %.17g", percent, cut->s.w, cut->s.h, cut->s.d, cut->s.c,
                     got[PARTS_VALUE], want);
        }
        assert_true(isnan(want) || i % 3 == 0 || passes == (i % 3 == 1 ? 1 : 2));
    }
}

/* Around 0 a median that moves a little has other keys by far; the first part says where it is, and one round
 * the next. */
static void test_rank_around_zero(void **state)
{
    (void)state;
    turn_or_skip(5);
    const Cut cut = {{250, 300, 1, 1}, 20, false};
    float *pixels = zeroed(ref_pixels(cut.s) * sizeof *pixels);
    uint8_t *where = zeroed(ref_pixels(cut.s));
    uint64_t note = 0;
    random_state = 5;
    for (size_t i = 0; i < ref_pixels(cut.s); i++) {
        pixels[i] = ((float)below(1 << 24) - (float)(1 << 23) + 5000) / (float)(1 << 23);
    }
    for (int round = 0; round < 3; round++) {
        int passes = 0;
        double got[PARTS_SLOTS], limit = 1 - 0.001 * round;
        Err err = {0};
        for (size_t i = 0; i < ref_pixels(cut.s); i++) {
            where[i] = (double)pixels[i] < limit;
        }
        double want = ref_rank(pixels, where, cut.s, 50);
        PartsJob job = counting_job(&cut, &prim_rank, SHAPE_GPU, pixels, where);
        job.note = &note;
        job.passes = &passes;
        job.arg[0] = 50;
        must(parts_run(&job, NULL, got, &err), &err);
        assert_memory_equal(&want, &got[PARTS_VALUE], sizeof want);
        assert_true(round == 0 || passes == 1);
    }
    free(pixels);
    free(where);
}

extern const Primitive prim_summary;

/* What a reduction and a rank of the parts would find apart from each other. */
static void check_summary(const Cut *cut, const float *pixels, const uint8_t *where, double percent)
{
    double want[6], got[PARTS_SLOTS];
    Err err = {0};
    ref_reduce(pixels, ELEM_F32, where, cut->s, want);
    want[5] = ref_rank(pixels, where, cut->s, percent);
    for (int shape = SHAPE_GPU; shape <= SHAPE_CPU; shape++) {
        PartsJob job = counting_job(cut, &prim_summary, shape, pixels, where);
        job.arg[0] = 7;
        job.arg[1] = percent;
        must(parts_run(&job, NULL, got, &err), &err);
        if (memcmp(want, &got[PARTS_VALUE], sizeof want) != 0) {
            fail_msg("sum and percentile %g of %dx%dx%dx%d: %.17g and %.17g, not %.17g and %.17g", percent, cut->s.w,
                     cut->s.h, cut->s.d, cut->s.c, got[PARTS_VALUE], got[PARTS_VALUE + 5], want[0], want[5]);
        }
    }
}

static void test_summary(void **state)
{
    (void)state;
    turn_or_skip(6);
    for (int i = 0; i < N_CUTS; i++) {
        float *pixels = make_pixels(CUTS[i].s, i % FILLS);
        uint8_t *where = make_where(CUTS[i].s, 70);
        check_summary(&CUTS[i], pixels, i % 2 ? where : NULL, i % 3 == 0 ? 50 : 12.5);
        free(pixels);
        free(where);
    }
}

extern const Primitive prim_otsu;

/* The range in one pass, its histogram in the next. */
static void check_otsu(const Cut *cut, const float *pixels, const uint8_t *where, bool integer)
{
    enum { BINS = 256, INTEGER_BINS = 65536 };
    static uint64_t counts[INTEGER_BINS];
    int bins = integer ? INTEGER_BINS : BINS;
    double want[6], got[PARTS_SLOTS];
    Err err = {0};
    ref_reduce(pixels, ELEM_F32, where, cut->s, want);
    ref_histogram(pixels, where, cut->s, want[3], want[4], bins, integer, counts);
    want[5] = ref_threshold(counts, bins, want[3], want[4], integer, 0);
    for (int shape = SHAPE_GPU; shape <= SHAPE_CPU; shape++) {
        PartsJob job = counting_job(cut, &prim_otsu, shape, pixels, where);
        job.arg[0] = bins;
        job.arg[1] = integer;
        must(parts_run(&job, NULL, got, &err), &err);
        if (memcmp(want + 3, &got[PARTS_VALUE + 3], 3 * sizeof *want) != 0) {
            fail_msg("range and threshold of %dx%dx%dx%d: %.17g .. %.17g and %.17g, not %.17g .. %.17g and %.17g",
                     cut->s.w, cut->s.h, cut->s.d, cut->s.c, got[PARTS_VALUE + 3], got[PARTS_VALUE + 4],
                     got[PARTS_VALUE + 5], want[3], want[4], want[5]);
        }
    }
}

static void test_otsu(void **state)
{
    (void)state;
    turn_or_skip(7);
    for (int i = 0; i < N_CUTS; i++) {
        float *pixels = make_pixels(CUTS[i].s, i % FILLS);
        uint8_t *where = make_where(CUTS[i].s, 70);
        check_otsu(&CUTS[i], pixels, i % 2 ? where : NULL, i == 0);
        free(pixels);
        free(where);
    }
}

/* Noise, few values with gaps between them, infinities; and nothing at all. */
static void test_rank(void **state)
{
    (void)state;
    static const double PERCENTS[] = {0, 0.1, 33.3, 50, 99.99, 100};
    for (int i = 0; i < N_CUTS + N_ODD; i++) {
        const Cut *cut = i < N_CUTS ? &CUTS[i] : &ODD_CUTS[i - N_CUTS];
        float *pixels = make_pixels(cut->s, i % FILLS);
        uint8_t *where = make_where(cut->s, i % 4 == 3 ? 0 : 60);
        pixels[0] = INFINITY;
        pixels[1] = -INFINITY;
        for (int k = 0; k < 6; k++) {
            if (turn_has(i + k)) {
                check_rank(cut, pixels, i % 2 ? where : NULL, PERCENTS[k]);
            }
        }
        free(pixels);
        free(where);
    }
}

/* ---- label, label_equal ------------------------------------------------------------------ */

extern const Primitive prim_label, prim_label_equal;

enum { SPIRAL, COMB, SPARSE, CRITICAL, DENSE, EMPTY, MASKS };

/* One path from the corner to the middle; ring after ring, one pixel apart. */
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

/* In volumes spirals stand on end, so that they cross planes. */
static uint8_t *make_mask(RefShape s, int kind)
{
    uint8_t *mask = zeroed(ref_pixels(s)), *to = mask;
    random_state = (uint32_t)(s.w * 31 + s.h * 7 + kind);
    for (int plane = 0; plane < s.d * s.c; plane++) {
        for (int y = 0; y < s.h; y++) {
            for (int x = 0; x < s.w; x++) {
                int z = plane % s.d;
                bool deep = s.d > 1;
                *to++ = kind == SPIRAL     ? on_spiral(x, deep ? z : y, s.w, deep ? s.d : s.h)
                        : kind == COMB     ? x % 2 == 0 || (y == s.h - 1 && z == s.d - 1)
                        : kind == SPARSE   ? below(100) < 12
                        : kind == CRITICAL ? below(100) < (deep ? 30 : 58)
                        : kind == DENSE    ? below(100) < 90
                                           : 0;
            }
        }
    }
    return mask;
}

static void compare(const PartsJob *job, const uint32_t *want, const uint32_t *got)
{
    for (size_t p = 0; p < ref_pixels(job->s); p++) {
        if (want[p] != got[p]) {
            size_t w = (size_t)job->s.w;
            fail_msg("%s of %dx%dx%dx%d by %d, arg %g: at %zu, %zu: %u, not %u", job->primitive->name, job->s.w,
                     job->s.h, job->s.d, job->s.c, job->step, job->arg[0], p % w, p / w, got[p], want[p]);
        }
    }
}

static void run_labels(PartsJob *job, const uint32_t *want, uint32_t count)
{
    uint32_t *got = zeroed(ref_pixels(job->s) * 4);
    double values[PARTS_SLOTS];
    Err err = {0};
    must(parts_run(job, got, values, &err), &err);
    compare(job, want, got);
    assert_true(values[PARTS_VALUE] == count);
    free(got);
}

static void check_label(const Cut *cut, int kind, int connectivity, int shape)
{
    uint8_t *mask = make_mask(cut->s, kind);
    uint32_t *want = zeroed(ref_pixels(cut->s) * 4);
    uint32_t count = ref_label(mask, cut->s, connectivity, want);
    PartsJob job = job_of(cut, &prim_label, shape);
    job.pixels[0] = mask;
    job.elem[0] = ELEM_U8;
    job.arg[0] = connectivity;
    run_labels(&job, want, count);
    free(mask);
    free(want);
}

/* Few values, so that equal and different ones meet across seams. */
static void check_label_equal(const Cut *cut, int kind, int connectivity, int shape)
{
    uint8_t *mask = make_mask(cut->s, kind);
    size_t n = ref_pixels(cut->s);
    double *pixels = zeroed(n * sizeof *pixels);
    for (size_t i = 0; i < n; i++) {
        uint32_t v = below(40);
        pixels[i] = !mask[i] ? 0.0 : v == 0 ? NAN : v < 10 ? 2.5 : -1.0;
    }
    uint32_t *want = zeroed(n * 4);
    uint32_t count = ref_label_equal(pixels, cut->s, connectivity, want);
    PartsJob job = job_of(cut, &prim_label_equal, shape);
    job.pixels[0] = pixels;
    job.elem[0] = ELEM_F64;
    job.stored = true;
    job.arg[0] = connectivity;
    run_labels(&job, want, count);
    free(mask);
    free(pixels);
    free(want);
}

static void each_mask(void (*check)(const Cut *cut, int kind, int connectivity, int shape))
{
    for (int i = 0; i < N_CUTS + N_ODD; i++) {
        const Cut *cut = i < N_CUTS ? &CUTS[i] : &ODD_CUTS[i - N_CUTS];
        for (int kind = 0; kind < MASKS; kind++) {
            int most = cut->s.d > 1 ? 5 : 2; /* 4 and 5: each plane by itself */
            if (!turn_has(i + kind)) {
                continue;
            }
            check(cut, kind, 1 + (kind + i) % most, kind % 2 ? SHAPE_GPU : SHAPE_CPU);
            check(cut, kind, 1 + (kind + i + 1) % most, kind % 2 ? SHAPE_GPU : SHAPE_CPU);
        }
    }
}

static void test_label(void **state)
{
    (void)state;
    each_mask(check_label);
}

static void test_label_equal(void **state)
{
    (void)state;
    each_mask(check_label_equal);
}

/* ---- perlabel, compact ------------------------------------------------------------------- */

extern const Primitive prim_perlabel, prim_compact;

/* Labels up to `most`, few of them many pixels. */
static uint32_t *make_labels(RefShape s, uint32_t most)
{
    size_t n = ref_pixels(s);
    uint32_t *labels = zeroed(n * sizeof *labels);
    for (size_t i = 0; i < n; i++) {
        uint32_t wide = below(65536) << 16 | below(65536);
        labels[i] = below(3) == 0 ? 0 : below(2) == 0 ? 1 + (uint32_t)i % 7 : 1 + wide % most;
    }
    return labels;
}

/* Sums of floats of all sizes. */
static void check_perlabel(const Cut *cut, uint32_t most, int fold, int shape, int64_t extent)
{
    size_t n = ref_pixels(cut->s), length = (size_t)most + 5;
    float *pixels = make_pixels(cut->s, WITH_NAN), *want = zeroed(length * sizeof *want);
    uint32_t *labels = make_labels(cut->s, most), *got = zeroed(length * sizeof *got);
    for (size_t i = 0; i < n; i++) {
        pixels[i] = ldexpf(pixels[i], (int)below(90) - 45);
    }
    double values[PARTS_SLOTS];
    Err err = {0};
    ref_perlabel(labels, pixels, cut->s, most, (LabelFold)fold, want);
    PartsJob job = job_of(cut, &prim_perlabel, shape);
    job.pixels[0] = labels;
    job.elem[0] = ELEM_U32;
    job.pixels[1] = pixels;
    job.elem[1] = ELEM_F32;
    job.arg[0] = fold;
    job.count = most;
    job.out = ELEM_F32;
    job.length = (int64_t)length;
    job.extent = extent;
    must(parts_run(&job, got, values, &err), &err);
    for (size_t i = 0; i <= most; i++) {
        float v, w = want[i];
        memcpy(&v, &got[i], sizeof v);
        if (memcmp(&v, &w, sizeof v) != 0 && !(isnan(v) && isnan(w))) {
            fail_msg("fold %d of %dx%d by %d: label %zu: %g, not %g", fold, cut->s.w, cut->s.h, cut->step, i, (double)v,
                     (double)w);
        }
    }
    free(pixels);
    free(labels);
    free(want);
    free(got);
}

static void test_perlabel(void **state)
{
    (void)state;
    for (int fold = 0; fold < 4; fold++) {
        for (int i = 0; i < N_CUTS; i += 2) {
            if (turn_has(fold + i)) {
                check_perlabel(&CUTS[i], 300, fold, i % 4 == 0 ? SHAPE_GPU : SHAPE_CPU, 0);
            }
        }
        check_perlabel(&ODD_CUTS[fold % N_ODD], 40, fold, SHAPE_CPU, 0);
    }
    check_perlabel(&CUTS[0], 3000000, 0, SHAPE_CPU, 0);
    check_perlabel(&CUTS[0], 300, 3, SHAPE_CPU, 1 << 25);
}

static void check_compact(const Cut *cut, uint32_t most, bool arbitrary, int shape)
{
    uint32_t *labels = make_labels(cut->s, most), *want = zeroed(ref_pixels(cut->s) * 4);
    uint8_t *keep = make_where(cut->s, 100);
    for (size_t i = 0; i < ref_pixels(cut->s); i++) {
        keep[i] = labels[i] % 3 != 0;
    }
    uint32_t count = ref_compact(labels, keep, cut->s, want);
    PartsJob job = job_of(cut, &prim_compact, shape);
    job.pixels[0] = labels;
    job.elem[0] = ELEM_U32;
    job.pixels[1] = keep;
    job.elem[1] = ELEM_U8;
    job.arg[0] = arbitrary;
    job.count = arbitrary ? (double)NAN : (double)most;
    run_labels(&job, want, count);
    free(labels);
    free(keep);
    free(want);
}

static void test_compact(void **state)
{
    (void)state;
    turn_or_skip(8);
    for (int i = 0; i < N_CUTS; i++) {
        uint32_t most = (uint32_t)ref_pixels(CUTS[i].s);
        check_compact(&CUTS[i], i % 3 == 0 ? most : most / 9, false, i % 2 == 0 ? SHAPE_GPU : SHAPE_CPU);
    }
    check_compact(&ODD_CUTS[2], 1000, false, SHAPE_GPU);
    check_compact(&ODD_CUTS[0], UINT32_MAX - 3, true, SHAPE_CPU);
    check_compact(&ODD_CUTS[2], UINT32_MAX - 3, true, SHAPE_GPU);
    check_compact(&CUTS[1], 70000, true, SHAPE_GPU);
    check_compact(&CUTS[4], 5000000, true, SHAPE_CPU);
    check_compact(&CUTS[7], 3, true, SHAPE_GPU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_rank_around_zero),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_otsu),
        cmocka_unit_test(test_label),
        cmocka_unit_test(test_label_equal),
        cmocka_unit_test(test_perlabel),
        cmocka_unit_test(test_compact),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device);
}
