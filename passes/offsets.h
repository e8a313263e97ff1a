/* offsets: reads and windows in the form that kernels keep in registers; a part of the pass `fold`. */
#ifndef PASSES_OFFSETS_H
#define PASSES_OFFSETS_H

#include "pass.h"

/* Returns whether anything changed. */
bool pass_simplify_offsets(IrGraph *g, const PassContext *cx);

#endif
