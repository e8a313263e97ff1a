/*
 * in_place: which image a step may write its result onto.
 *
 * Where a step reads an image for the last time, and each of its pixels only for the same pixel of what it
 * makes, the result may take that image's place: whoever writes a pixel has read it before, and nobody else
 * looks at it.
 */
#ifndef IR_IN_PLACE_H
#define IR_IN_PLACE_H

#include "schedule.h"

/* The step that makes `made` reads `from` and may write it there, if that is read nowhere later and its
 * elements are as wide. */
bool ir_may_overwrite(IrGraph *g, const IrSchedule *s, IrId made, IrId from);

#endif
