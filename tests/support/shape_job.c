/* shape_job: see shape_job.h. */
#include "shape_job.h"

#include "on_device.h"
#include "parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VALUE = 1, OF_VALUE = 2, SLOTS = 4, SMALL_PIXELS = 3000 };

static DevMem *values;

/* Parameters are named as pipelines may name them, not to meet the kernels' own names. */
static const char READER[] = "#define READ_PARAMS int w, int h, int pitch, global const %s *restrict mask\n"
                             "#define READ_ARGS w, h, pitch, mask\n"
                             "#define READ_TYPE_0 %s\n"
                             "static inline %s read_0(READ_PARAMS, int x, int y, int plane)\n"
                             "{ return mask[((long)plane * h + y) * pitch + x]; }\n";

int shape_open(void **state)
{
    if (open_device(state) != 0) {
        return 1;
    }
    values = allocate(SLOTS * sizeof(double));
    return 0;
}

int shape_close(void **state)
{
    dev_free(device, values);
    return close_device(state);
}

bool shape_skipped(RefShape s)
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

static PrimImage image_of(RefShape s, Elem elem, DevMem *mem)
{
    PrimImage image = {mem, elem, s.w, s.h, s.d, s.d * s.c, pitch_of(s), 0, 0};
    image.length = (int64_t)rows_of(s) * image.pitch;
    return image;
}

PrimCall shape_call(const ShapeJob *job, char *reader, size_t reader_size, DevArg args[4], Err *err)
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
    for (int i = 0; i < SHAPE_INPUTS && job->pixels[i] != NULL; i++) {
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
double shape_run(const ShapeJob *job, void *out)
{
    Err err = {0};
    char reader[1000];
    DevArg args[4] = {{0}};
    const Primitive *primitive = prim_find(job->primitive);
    assert_non_null(primitive);
    PrimCall call = shape_call(job, reader, sizeof reader, args, &err);
    double slots[SLOTS] = {0, -1, (double)job->count, -2};
    must(dev_write(device, values, 0, slots, sizeof slots, &err), &err);
    call.scratch_size = primitive->scratch_bytes ? primitive->scratch_bytes(&call) : 0;
    call.scratch = call.scratch_size > 0 ? allocate(call.scratch_size) : NULL;
    must(primitive->run(&call), &err);

    size_t size = elem_size(job->out), row = (size_t)job->s.w * size;
    must(dev_read_rows(device, call.out[0].mem, 0, (size_t)call.pitch * size, out, row, row, rows_of(job->s), &err),
         &err);
    must(dev_read(device, values, 0, slots, sizeof slots, &err), &err);
    assert_true(slots[0] == 0 && slots[OF_VALUE] == (double)job->count && slots[3] == -2);
    dev_free(device, call.scratch);
    dev_free(device, call.out[0].mem);
    for (int i = 0; i < SHAPE_INPUTS; i++) {
        dev_free(device, call.in[i].mem);
    }
    dev_free(device, args[3].mem);
    return slots[VALUE];
}

/* The same over parts, cut in another way each time; returns of how many rows, 0: odd numbers. */
static int run_in_parts(const ShapeJob *job, void *out, double *value)
{
    static const int LENGTHS[] = {1, 0, 3, 16, 2, 50};
    static int turn = 0;
    turn++;
    PartsJob parts = {.dev = device,
                      .primitive = prim_find(job->primitive),
                      .s = job->s,
                      .step = LENGTHS[turn % 6],
                      .by_channel = turn % 4 == 1,
                      .shape = job->shape == 1 ? SHAPE_CPU : SHAPE_GPU,
                      .stored = job->stored,
                      .count = job->count >= 0 ? (double)job->count : (double)NAN,
                      .out = job->out};
    for (int i = 0; i < SHAPE_INPUTS; i++) {
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

void shape_compare(const ShapeJob *job, const char *what, int step, const void *found, const void *expected)
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
                     job->primitive, what, job->s.w, job->s.h, job->s.d, job->s.c, job->arg[0], job->arg[1],
                     job->arg[2], job->arg[3], job->shape, step, p % w, p / w, a, b);
        }
    }
}

/* Runs a job, in one piece (parts of -1 rows) and in parts, and compares all bits of its pixels. */
double shape_check(const ShapeJob *job, const char *what, const void *expected)
{
    uint8_t *found = zeroed(ref_pixels(job->s) * elem_size(job->out));
    double value = shape_run(job, found), again = value;
    shape_compare(job, what, -1, found, expected);
    int step = run_in_parts(job, found, &again);
    shape_compare(job, what, step, found, expected);
    assert_true(value == again || value < 0);
    free(found);
    return value;
}

double shape_largest(const uint32_t *labels, size_t n)
{
    uint32_t most = 0;
    for (size_t p = 0; p < n; p++) {
        most = labels[p] > most ? labels[p] : most;
    }
    return most;
}

/* ---- images ---------------------------------------------------------------------------- */

static bool mask_pixel(int kind, int x, int y, int z, RefShape s)
{
    switch (kind) {
    case FULL:
        return true;
    case FIRST:
        return x + y + z == 0;
    case LAST:
        return x == s.w - 1 && y == s.h - 1;
    case MIDDLE:
        return x == s.w / 2 && y == s.h / 2 && z % s.d == s.d / 2;
    case FEW:
        return below(1000) < 3;
    case SOME:
        return below(100) < 10;
    case HALF:
        return below(100) < 50;
    case MOST:
        return below(100) < 97;
    case BLOBS:
        return sin(x * 0.21 + z) + sin(y * 0.17) + sin((x + y) * 0.06) > 0.3;
    case STRIPES:
        return (x + 2 * y + z) % 9 < 4;
    case ENDS:
        return x == 0 || x == s.w - 1;
    default:
        return false;
    }
}

uint8_t *shape_mask(int kind, RefShape s)
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

static float odd_number(void)
{
    static const float ODD[] = {NAN, -INFINITY, INFINITY, -0.0F, 0.0F, 1e-42F, -1e-42F, 1, -1, 2};
    return ODD[below(sizeof ODD / sizeof *ODD)];
}

static float grey_pixel(int kind, int x, int y, int z, RefShape s)
{
    switch (kind) {
    case NOISE:
        return (float)below(256);
    case STEPS:
        return (float)(below(100) < 85 ? 3 : below(5));
    case CONE:
        return (float)(200 - abs(x - s.w / 2) - abs(y - s.h / 2) - 2 * (z % s.d));
    case MAZE:
        return y % 2 == 0 ? 9 : x == (y % 4 == 1 ? s.w - 1 : 0) ? 9 : (float)(z % 3);
    case RANDOM_FLOATS:
        return (float)below(60000) / 7 - 4000;
    case ODD_FLOATS:
        return odd_number();
    default:
        return 5;
    }
}

float *shape_grey(int kind, RefShape s)
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

const RefShape SHAPE_SIZES[SHAPE_N_SIZES] = {
    {1, 1, 1, 1}, {9, 1, 1, 1},   {1, 50, 1, 1}, {33, 35, 1, 2},  {64, 32, 1, 1},
    {6, 5, 4, 1}, {17, 33, 9, 2}, {3, 2, 70, 1}, {130, 70, 1, 1}, {35, 20, 17, 1},
};
