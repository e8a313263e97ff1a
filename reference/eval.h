/*
 * eval: the reference.  Evaluates the unfused graph pixel by pixel in plain C; primitives are the
 * references of ref.h.  Every other way of running a pipeline must give the same bits.
 *
 * Pixels are doubles holding values of the node's element type, dense [plane][y][x].
 */
#ifndef IR_EVAL_H
#define IR_EVAL_H

#include "../ir/ir.h"

#include "../base/err.h"
#include "../base/sky.h"

typedef struct IrEvalInput {
    int extent[IR_AXES]; /* x, y, z, c */
    Elem elem;           /* the file's */
    double pixelsize[3]; /* micrometres; 0 = unknown */
    bool upwards;        /* its rows go upwards */
    Sky sky;
    const double *pixels; /* borrowed */
} IrEvalInput;

typedef struct IrEvalNode {
    int extent[IR_AXES];
    double *pixels;              /* images, masks, labels; vectors by label */
    double value[IR_MAX_VALUES]; /* values; labels: value[0] = count */
    int64_t length;              /* vectors: elements */
    uint32_t *
        ids; /* inputs of labels that have places (ids.h): the numbers of labels from [1], of which there are [0]; NULL:
                                they are the places */
    double *table; /* tables: [column * rows + row] */
    int64_t rows;
    int columns;
    double spacing[3]; /* tables: the size of a pixel along x, y, z */
} IrEvalNode;

typedef struct IrEval IrEval;

/* Evaluates the whole graph: `inputs` in the order of the INPUT nodes, `params` in the order of
 * the graph's.  The result is owned by the caller (ir_eval_free), also when it fails, and keeps pointers
 * to both. */
bool ir_eval(const IrGraph *g, const IrEvalInput *inputs, const double *params, IrEval **out, Err *err);
/* The same, given up (CODE_INTERRUPTED) when its folds and rounds would count more elements than `elements`. */
bool ir_eval_within(uint64_t elements, const IrGraph *g, const IrEvalInput *inputs, const double *params, IrEval **out,
                    Err *err);
const IrEvalNode *ir_eval_node(const IrEval *ev, IrId node);
/* The type of an image's pixels, in this run. */
Elem ir_eval_elem(const IrEval *ev, IrId node);
/* A uniform or host expression after the run (outputs that are values). */
double ir_eval_uniform(IrEval *ev, IrExpr e);
void ir_eval_free(IrEval *ev);

#endif
