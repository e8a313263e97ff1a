/*
 * rows: which kernels walk over the image in rows, and which stages share one.
 */
#ifndef PASSES_ROWS_H
#define PASSES_ROWS_H

#include "grouping.h"

enum { PASS_MAX_STAGES = 60 }; /* of a kernel */

/* Gives every kernel of the schedule its shape, and merges kernels whose edges can stay in
 * registers. */
void pass_choose_shapes(Grouping *b);

/* Can the stages of both kernels (two: NULL for one alone) be computed in one walk over rows?  NULL, or the rule that
 * says no. */
const char *pass_rows_refusal(Grouping *b, const IrStep *one, const IrStep *two);

#endif
