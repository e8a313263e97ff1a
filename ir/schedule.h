/*
 * schedule: which nodes become which kernels, in which order.  The grouping pass makes it, the
 * code generator and the memory plan read it.
 */
#ifndef IR_SCHEDULE_H
#define IR_SCHEDULE_H

#include "ir.h"

typedef enum IrStepKind {
    IR_STEP_KERNEL,    /* stages computed pixel by pixel in one generated kernel */
    IR_STEP_SCALARS,   /* whole-image values computed from others, one work-item */
    IR_STEP_PRIMITIVE, /* one hand-written primitive */
    IR_STEP_LOOP,      /* a loop begins */
    IR_STEP_END        /* it ends */
} IrStepKind;

/*
 * How a kernel walks over the image:
 *   DIRECT  each work-item computes PX pixels of a row and reads what it needs from memory;
 *   ROWS    it loads the columns around its pixels once and computes the stages on them in
 *           registers, streaming down y (or z): folds over the stream axis are transposed, every
 *           row that is loaded is added to all the sums that it is part of;
 *   LONG    its one stage is a fold longer than registers hold: a work-item keeps the sums of a few
 *           neighbours and takes the pixels that they are made of one after the other.
 */
typedef enum IrShape { IR_SHAPE_DIRECT, IR_SHAPE_ROWS, IR_SHAPE_LONG } IrShape;

typedef struct IrStep {
    IrStepKind kind;
    IrShape shape;
    int stream;       /* IR_AX_Y or IR_AX_Z; LONG: the axis of the fold */
    int ahead;        /* ROWS: each stage's rows are computed once and kept for those who read them (ahead.h), so many
                         rows a turn; 0: they are computed for each of these */
    Vec(IrId) stages; /* KERNEL, SCALARS: in topological order; PRIMITIVE: the one node */
    int loop;         /* LOOP, END: which; else the loop it is in */
    int strip;        /* KERNEL: rows of its strips, where the order of additions of a sum that it
                            takes on the way asks for them; 0: any */
    double ops;       /* KERNEL: operations a pixel; 0: the image decides */
} IrStep;

/* The place of a node among the stages of a step; -1: it is none of them. */
static inline int ir_stage_place(const IrStep *step, IrId id)
{
    for (int i = 0; i < step->stages.n; i++) {
        if (step->stages.at[i] == id) {
            return i;
        }
    }
    return -1;
}

/* Why two stages share a kernel or do not: one remark an edge, for `pipec explain`. */
typedef struct IrRemark {
    IrId from, to;
    enum {
        IR_EDGE_INLINE,
        IR_EDGE_LOCAL,
        IR_EDGE_GLOBAL,
        IR_EDGE_SHARED,    /* `from` is read once for `to` and for another stage of its kernel */
        IR_EDGE_ON_THE_WAY /* `to` reduces what the kernel of `from` has in registers */
    } state;
    const char *why;
    double bytes; /* per pixel: paid (GLOBAL), else saved */
} IrRemark;

/* How well the order of steps was looked for (passes/order.c). */
typedef enum IrOrder {
    IR_ORDER_BEST,     /* no other order has less in buffers at once, by a hundredth */
    IR_ORDER_BEST_SEEN /* there were too many to look at all of them */
} IrOrder;

typedef struct IrSchedule {
    Vec(IrStep) steps;
    IrOrder order;
    bool *stored;     /* by node: it has a buffer */
    int *step;        /* by node: the step that computes it */
    IrId *taken_from; /* by node: a reduction: the stage whose kernel hands it partial results, which
                         spare it the reading of that stage's image; 0 none */
    bool *reduced;    /* by node: its kernel hands partial results to reductions */
    Vec(IrRemark) remarks;
} IrSchedule;

#endif
