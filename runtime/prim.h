/*
 * prim: the hand-written primitives and how the executor calls them.
 *
 * A primitive is one file prim_NAME.c (host side) with kernels/NAME.cl (device side, embedded at
 * build as a string constant `kernel_text_NAME`).  It is one row of the table in prim.c.
 *
 * Inputs that are computed on the fly come as text: `reader` is OpenCL C that defines, for input
 * number k of the node (ir/nodes.def), a function
 *
 *     static TYPE read_k(READ_PARAMS, int x, int y, int plane);     // READ_PARAMS: a macro
 *
 * and the macros READ_PARAMS (kernel parameter declarations, never empty), READ_ARGS (the same
 * names, to pass on) and READ_TYPE_k (the OpenCL type: float, int, uint, bool).  A kernel that
 * reads is declared  kernel void f(READ_PARAMS, own parameters...)  and the executor's arguments
 * `reader_args` come first.  Pixels with x >= w or y >= h must not be read.
 *
 * Inputs may be absent (`where` of a reduction without a condition): for each input k that the text
 * defines it also has  #define READ_HAS_k 1 .  Uniform inputs (lo and hi of histogram and
 * threshold) are functions of the same form that ignore x, y and plane; their type is double.
 *
 * Determinism: results must not depend on the device, group size, scheduling or tiling.  No
 * floating-point atomics; integer atomics are fine.  Sums of floats follow a fixed tree or are
 * made exact in integers.
 */
#ifndef RUNTIME_PRIM_H
#define RUNTIME_PRIM_H

#include "cl.h"
#include "program.h"

typedef struct PrimImage {
    DevMem *mem;
    Elem elem;            /* never ELEM_FILE */
    int w, h, d, planes;  /* planes = d * channels */
    int pitch;            /* elements from row to row */
    int64_t length;       /* vectors: elements; images: planes * h * pitch */
} PrimImage;

enum { SHAPE_BY_DEVICE, SHAPE_GPU, SHAPE_CPU };

typedef struct PrimCall {
    Device *dev;
    const char *name;        /* the step's name, for messages and as `what` of launches */
    const char *reader;      /* text, with defines; NULL when nothing is computed on the fly */
    const DevArg *reader_args;
    int n_reader_args;
    int w, h, d, planes, pitch; /* the iteration domain */
    PrimImage in[8];         /* stored inputs, in the node's order; mem NULL for computed ones */
    PrimImage out[4];        /* what it writes */
    double arg[10];          /* host arguments (nodes.def) */
    const char *text;        /* columns */
    DevMem *values;          /* the buffer of doubles */
    int value;               /* first slot that it writes; -1 none */
    int of_value;            /* slot of the count of the labels it is about; -1 none */
    DevMem *scratch;         /* at least scratch_bytes(call) bytes */
    size_t scratch_size;
    struct PrimTable *table; /* MEASURE: the rows, filled on the host after the step */
    int shape;               /* SHAPE_BY_DEVICE; tests may ask for a shape of kernels */
    Err *err;
} PrimCall;

/* A finished table: columns of doubles, one row for each present label. */
typedef struct PrimTable {
    int64_t rows;
    int columns;
    char (*names)[64];    /* "label", "area", "centroid-0" ... */
    bool *integer;        /* print without decimals */
    double *at;           /* [column * rows + row]; NaN prints as an empty field; behind the last
                             column there is one more: the labels of the rows */
} PrimTable;
/* Frees what the table holds and empties it; NULL is allowed. */
void prim_table_free(PrimTable *table);

typedef struct Primitive {
    const char *name;                            /* as in ir/nodes.def */
    size_t (*scratch_bytes)(const PrimCall *call); /* from w, h, d, planes, arg, in[], out[] alone;
                                                    mem pointers may be NULL.  NULL: none */
    bool (*run)(PrimCall *call);                 /* enqueues; waits only where it must */
} Primitive;

/* NULL when there is none of that name. */
const Primitive *prim_find(const char *name);

#endif
