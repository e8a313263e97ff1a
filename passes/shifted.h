/*
 * shifted: what a stage computes once more for a row than it had to, since the row before has it.
 */
#ifndef PASSES_SHIFTED_H
#define PASSES_SHIFTED_H

#include "../ir/ir.h"

/* Some part of the stage that takes many instructions is what another one of them is a few rows further down. */
bool pass_is_shifted(IrGraph *g, IrId stage);

#endif
