/*
 * shape_job: primitives that make an image of an image (distances, floods, hulls), run in one piece and in parts,
 * in the shapes for GPUs and for CPUs, and the masks and grey images that they are tried on.
 */
#ifndef TESTS_SUPPORT_SHAPE_JOB_H
#define TESTS_SUPPORT_SHAPE_JOB_H

#include "reference/ref.h"
#include "runtime/primitives/prim.h"

enum { SHAPE_INPUTS = 3 };

typedef struct ShapeJob {
    const char *primitive;
    RefShape s;
    Elem elem[SHAPE_INPUTS];
    const void *pixels[SHAPE_INPUTS];
    bool stored; /* inputs are handed over; else the first is computed on the fly */
    double arg[4];
    int64_t count; /* of labels; -1: unknown */
    int shape;     /* 1: for CPUs */
    Elem out;
} ShapeJob;

/* Set-up and tear-down of a group of tests. */
int shape_open(void **state);
int shape_close(void **state);

/* True for what PIPEC_TEST_SMALL leaves out. */
bool shape_skipped(RefShape s);

/* The call of a job, with its inputs and its result in device memory, which the caller frees.  `reader` has room for
 * the text of a reader, which is used where inputs are not stored. */
PrimCall shape_call(const ShapeJob *job, char *reader, size_t reader_size, DevArg args[4], Err *err);
/* Runs a job; the result without padding goes to `out`; the value that it found is returned. */
double shape_run(const ShapeJob *job, void *out);
/* All bits of the pixels; `step`: the rows of a part, -1: in one piece. */
void shape_compare(const ShapeJob *job, const char *what, int step, const void *found, const void *expected);
/* Runs a job in one piece and in parts, and compares both. */
double shape_check(const ShapeJob *job, const char *what, const void *expected);

double shape_largest(const uint32_t *labels, size_t n);

enum { EMPTY, FULL, FIRST, LAST, MIDDLE, FEW, SOME, HALF, MOST, BLOBS, STRIPES, ENDS, MASKS };
enum { NOISE, STEPS, CONE, FLAT, MAZE, RANDOM_FLOATS, ODD_FLOATS, GREYS };
enum { SHAPE_N_SIZES = 10 };
extern const RefShape SHAPE_SIZES[SHAPE_N_SIZES];
/* Images of one of these kinds; owned by the caller (free). */
uint8_t *shape_mask(int kind, RefShape s);
float *shape_grey(int kind, RefShape s);

#endif
