/*
 * epilogue: reductions that are taken while the image that they are about is written.
 */
#ifndef PASSES_EPILOGUE_H
#define PASSES_EPILOGUE_H

#include "grouping.h"

/* The image whose pixels, each as it is stored, the reduction is about; 0 when there is none. */
IrId pass_reduced_image(const IrGraph *g, const IrNode *reduction);
/* Lets kernels that stream over rows hand partial results to reductions of what they store. */
void pass_choose_epilogues(Grouping *b);

#endif
