/*
 * draw: random numbers, and the text of expressions drawn with them.
 */
#ifndef TESTS_DRAW_H
#define TESTS_DRAW_H

#include "frontend/ops/ops.h"
#include "ir/ir.h"

#include <stdint.h>

/* What a name stands for. */
typedef enum DrawKind {
    DRAW_IMAGE,
    DRAW_MASK,
    DRAW_LABELS,
    DRAW_NUMBER, /* a param, or what is known before the run */
    DRAW_VALUE,
    DRAW_VECTOR,
    DRAW_SELECTION,
    DRAW_TABLE,
    DRAW_FUNCTION, /* of `arity` arguments that are pixels */
    DRAW_KERNEL,   /* a function of an offset */
    DRAW_KINDS
} DrawKind;

typedef struct DrawName {
    char name[16];
    DrawKind kind;
    int grid, arity;
} DrawName;

enum { DRAW_NAMES = 48 };

/* The latest call of an operator: for each parameter the bit of the type that was drawn, DRAW_LEFT_OUT, or
 * nothing (-1), and the number of the word among its choices. */
enum { DRAW_LEFT_OUT = OP_TYPES };
typedef struct DrawCall {
    const Op *op; /* NULL: none */
    int type[OP_MAX_PARAMS], word[OP_MAX_PARAMS];
} DrawCall;

typedef struct Draw {
    uint64_t state;
    const Ops *ops;
    DrawName names[DRAW_NAMES];
    int n;
    int grid;         /* of what is being written: images of others seldom fit */
    const char *axes; /* of the inputs, innermost first: "xy", "xyzc" */
    int fresh;        /* number of the next name */
    DrawCall call;
} Draw;

void draw_seed(Draw *d, unsigned seed);
unsigned draw_below(Draw *d, unsigned n); /* 0 .. n - 1 */
bool draw_chance(Draw *d, unsigned percent);
const char *draw_word(Draw *d, const char *const *words, int n);
#define draw_one(d, words) draw_word((d), (words), (int)(sizeof(words) / sizeof *(words)))

void draw_add(Draw *d, const char *name, DrawKind kind, int grid, int arity);
/* A name of that kind, the latest ones more often; NULL when there is none. */
const DrawName *draw_name(Draw *d, DrawKind kind);

/* Each appends an expression. */
void draw_number(Draw *d, Str *out, const OpParam *range); /* NULL: any */
void draw_image(Draw *d, Str *out, int depth);
void draw_mask(Draw *d, Str *out, int depth);
void draw_vector(Draw *d, Str *out, const char *name); /* calculated from the one of that name */
void draw_labels(Draw *d, Str *out);
void draw_border(Draw *d, Str *out);
/* A comprehension; folds of it within one another at most so deep. */
void draw_fold(Draw *d, Str *out, int depth);
/* A definition of a function of two pixels, whose control flow depends on them. */
void draw_function(Draw *d, Str *out, const char *name);
/* A call of an operator with arguments for its signature. */
void draw_call(Draw *d, Str *out, const Op *op);

#endif
