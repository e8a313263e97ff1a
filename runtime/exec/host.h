/*
 * host: the numbers that a program leaves open until the run: extents, halos, weights, arguments,
 * computed in double from parameters and from what the input files are like.
 */
#ifndef RUNTIME_HOST_H
#define RUNTIME_HOST_H

#include "../../base/err.h"
#include "../../base/sky.h"
#include "../../program/program.h"

#include <stdint.h>
#include <stdio.h>

typedef struct HostInput {
    int64_t extent[4]; /* x, y, z, c; at least 1 */
    Elem elem;         /* of the pixels as they are uploaded */
    Sky sky;
} HostInput;

/* What expressions may ask for.  The arrays are borrowed.  `memo` starts as NULL and is changed by
 * every evaluation, also through a pointer to const: do not define a const HostContext. */
typedef struct HostContext {
    const double *params;    /* one for each parameter of the program */
    const HostInput *inputs; /* one for each input */
    double pixel_um[3];      /* x, y, z of the first input; 0: unknown */
    bool upwards;            /* the first input's rows go upwards */
    struct HostMemo *memo;
    struct HostRanges *ranges; /* the same of host_range */
} HostContext;

/* The value of an expression; NaN and a failure in err when it cannot be computed. */
double host_eval(const Program *program, const HostContext *context, int expr, Err *err);
/* The same, cut to an int like a cast; fails when it does not fit. `what` is for the message. */
bool host_eval_int(const Program *program, const HostContext *context, int expr, const char *what, int *value,
                   Err *err);
/* Numbers between two, which may be infinite, and NaN besides. */
typedef struct HostRange {
    double lo, hi;
    bool nan;
} HostRange;

/* The numbers that an expression can be, given those of its variables PROG_PART_FIRST and
 * PROG_PART_LAST, each one, along x, y and z: none is left out, some may be too many; infinite where
 * nothing is known. */
bool host_range(const Program *program, const HostContext *context, int expr, const int first[3], const int last[3],
                HostRange *range, Err *err);
/* Forgets remembered values: after every change of the context, and at its end. */
void host_forget(HostContext *context);

/* Writes #defines and tables; tables of more bytes than `constants` are an error. */
bool host_defines(const Program *program, const HostContext *context, const ProgDefine *defines, int n,
                  uint64_t constants, FILE *out, Err *err);

/* False, with the lines of the pipeline, where some number is too large for any run: an extent, a halo, a table.  Without
 * inputs in the context only what is so for all images is looked at. */
bool host_fits(const Program *program, const HostContext *context, Err *err);

#endif
