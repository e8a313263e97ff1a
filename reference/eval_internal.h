/* eval_internal: what eval.c and eval_primitives.c share. */
#ifndef IR_EVAL_INTERNAL_H
#define IR_EVAL_INTERNAL_H

#include "eval.h"

enum { MAX_INDICES = 4096, MAX_PIXELS = 1 << 28, WEIGHTS = 1 << 14, INDICES = 6 };
enum { COUNT_INDEX = -1 }; /* of the elements of a rank */

/* What an expression of indices alone is for one value of each of them. */
typedef struct EvalWeight {
    IrExpr expr; /* 0: nothing is remembered here */
    double at[2], value;
} EvalWeight;

/* The index variables that an expression depends on: those of the folds around it. */
typedef struct EvalIndices {
    int n; /* INDICES + 1: too many to be counted */
    int at[INDICES];
} EvalIndices;

struct IrEval {
    const IrGraph *g;
    const IrEvalInput *inputs;
    const double *params;
    IrEvalNode *nodes;
    int n_nodes;
    /* The current pixel. */
    int x, y, z, c;
    int extent[IR_AXES];
    /* What is remembered: value and, for pixel expressions, the pixel's serial number, or that of the turn of the
     * folds around. */
    double *memo;
    uint64_t *stamp, serial, turn;
    EvalIndices *indices; /* of each expression */
    EvalWeight *weights;  /* WEIGHTS of them, found by expression and indices */
    double index[MAX_INDICES];
    double count;  /* elements of the rank fold being finished (index -1) */
    uint64_t left; /* elements that folds and windows may still count */
    Err *err;
};

/* Sets ev->extent to a grid's extents; returns the pixels, 0 after an error. */
size_t ir_eval_extents(IrEval *ev, IrId id, int grid);
/* New zeroed pixels (or vector elements) for a node; NULL after an error. */
double *ir_eval_pixels(IrEval *ev, IrId id, size_t n);
/* Evaluates a per-pixel expression over ev->extent. */
void ir_eval_image(IrEval *ev, IrExpr e, double *to);
/* Whether that many elements may still be counted; false is an error. */
bool ir_eval_count(IrEval *ev, double elements);
/* Gives an input's labels places, where it has numbers that are too large for what is computed by label. */
void ir_eval_give_places(IrEval *ev, IrId id);
void ir_eval_ids(IrEval *ev, IrId id);
/* At the end: gives the outputs the numbers that belong to places. */
void ir_eval_number_outputs(IrEval *ev);
/* Evaluates a primitive (eval_primitives.c). */
void ir_eval_primitive(IrEval *ev, IrId id);

#endif
