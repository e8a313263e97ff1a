/*
 * stack: what folds compute for each of their indices, as the channels of one image.
 *
 * A fold's body has a value for each index at every pixel, so that it cannot be a stage of its own as it is.  Over a grid
 * with a channel for each combination of indices it can: there the channel says what the index is, and the
 * fold reads the channel of its index.  Its order, its bounds and its conditions stay what they are.
 */
#ifndef IR_STACK_H
#define IR_STACK_H

#include "ir.h"

/* More indices than that at once, or more combinations where their number is known, have no stack. */
enum { IR_STACK_INDICES = 4, IR_STACK_MOST = 1024 };

/* Channel (c n + k) holds combination k for channel c of the images that the stack is made for. */
typedef struct IrStack {
    int grid;
    bool colours;  /* those images have channels */
    IrExpr colour; /* c at a pixel of the stack, i32 */
    IrExpr n;      /* host expression */
    int indices, index[IR_STACK_INDICES];
    IrExpr at[IR_STACK_INDICES]; /* the value of each index at a pixel of the stack, i32 */
    IrExpr channel;              /* in the fold: the channel of its indices */
} IrStack;

/* The stack for an expression e that `root` computes over the grid `domain`, for the indices that are free in e.
 * False where there is none: no index is free, too many are, or the host does not know the bounds of one. */
bool ir_stack_for(IrGraph *g, IrExpr root, IrExpr e, int domain, IrStack *stack);

/* e at a pixel of the stack; 0 where something in it needs the index on the host: a fold's bounds, what a border holds. */
IrExpr ir_stacked(IrGraph *g, const IrStack *stack, IrExpr e);

/* What e was, in the fold: the stored stack at the fold's indices. */
IrExpr ir_read_stack(IrGraph *g, const IrStack *stack, IrId stored);

#endif
