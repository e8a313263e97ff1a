/*
 * footprint: what an expression reads, and how far.
 *
 * Offsets are host expressions, so a footprint is an interval of host expressions per axis.
 * Offsets that depend on a fold's index reach from the value at the index's lower bound to the
 * value at its upper bound, as they are affine in it (offsets that are not are refused by
 * ir_footprint: whole = true).
 */
#ifndef IR_FOOTPRINT_H
#define IR_FOOTPRINT_H

#include "ir.h"

typedef struct IrReach {
    IrId node;
    bool whole;          /* read at places that only the pixel decides */
    bool offset;         /* some read is not at the current pixel */
    bool wraps;          /* some read comes round from the other end of y or z */
    bool reflects;       /* some read is thrown back from an end of y or z */
    IrExpr lo[3], hi[3]; /* x, y, z: host expressions, lo <= 0 <= hi */
    int taps;            /* reads written in the expression (a fold counts as 8) */
    bool channel;        /* some read takes an absolute channel */
} IrReach;

typedef struct IrFootprint {
    Vec(IrReach) reach; /* one for each node read */
    bool coords;        /* uses the pixel's coordinates */
    int ops;            /* operators, a fold counting 8 times */
} IrFootprint;

/* Everything below e. */
IrFootprint ir_footprint(IrGraph *g, IrExpr e);
/* The reach of one node in a footprint, or NULL. */
const IrReach *ir_reach(const IrFootprint *fp, IrId node);

/* The grid over which a node's inputs are read: its own if it is an image, else that of the first
 * stored node that its inputs read, else that of what it belongs to; -1 when there is none. */
int ir_domain(IrGraph *g, IrId node);

#endif
