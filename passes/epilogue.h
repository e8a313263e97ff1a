/*
 * epilogue: reductions that are taken while the image that they are about is written.
 */
#ifndef PASSES_EPILOGUE_H
#define PASSES_EPILOGUE_H

#include "pass.h"

/* Lets kernels that march over rows hand partial results to reductions of what they store. */
void pass_choose_epilogues(IrGraph *g, const PassContext *cx, IrSchedule *s);

#endif
