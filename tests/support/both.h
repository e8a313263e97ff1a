/*
 * both: runs one graph with the reference evaluator and as a program on a device, and compares
 * every output bit for bit.
 */
#ifndef TESTS_BOTH_H
#define TESTS_BOTH_H

#include "ir/eval.h"
#include "passes/pass.h"
#include "runtime/cl.h"

/* What a graph is run on: one image for each input. */
typedef struct BothCase {
    IrEvalInput inputs[8];
    int n_inputs;
    double params[32];
    int part_rows; /* the device works on parts of so many rows or planes; 0: in one piece */
} BothCase;

/* Fills an input with values that a file of type `elem` can hold, from a seed; owned by the
 * caller (free pixels).  Kinds: 0 noise, 1 smooth, 2 constant, 3 checkerboard, 4 with NaN and
 * infinity (floats). */
IrEvalInput both_image(int w, int h, int d, int c, Elem elem, unsigned seed, int kind);

/*
 * Evaluates the graph as it is, then runs the passes and the program on the device.  Empty `why`:
 * every output is the same, bit for bit; otherwise it says what differs where.  The graph is
 * changed by the passes.
 */
bool both_run(IrGraph *g, PassContext *cx, const BothCase *in, Device *dev, char *why, size_t size);

#endif
