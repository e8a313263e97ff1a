/*
 * rows: which kernels walk over the image in rows, and which stages share one.
 */
#ifndef PASSES_ROWS_H
#define PASSES_ROWS_H

#include "pass.h"

/* Gives every kernel of the schedule its shape, and merges kernels whose edges can stay in
 * registers. */
void pass_choose_shapes(IrGraph *g, PassContext *cx, IrSchedule *s);

#endif
