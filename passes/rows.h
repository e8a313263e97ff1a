/*
 * rows: which kernels walk over the image in rows, and which stages share one.
 */
#ifndef PASSES_ROWS_H
#define PASSES_ROWS_H

#include "pass.h"

enum { PASS_MAX_STAGES = 60 }; /* of a kernel */

/* Gives every kernel of the schedule its shape, and merges kernels whose edges can stay in
 * registers. */
void pass_choose_shapes(IrGraph *g, PassContext *cx, IrSchedule *s);

/* Can these stages, in topological order, be computed in one walk over rows?  NULL, or the rule that
 * says no. */
const char *pass_rows_refusal(IrGraph *g, const IrId *stages, int n);
/* Where the kernels of steps a < z can stand as one: z, if nobody between them needs what a makes; a, if all is
 * there that z needs; or -1. */
int pass_joined_place(IrGraph *g, const IrSchedule *s, int a, int z);
/* Puts the stages of step `from` into step `to`. */
void pass_merge_steps(IrGraph *g, IrSchedule *s, int from, int to);

#endif
