/*
 * gather: reads at places that nobody knows before the pixels that decide them.
 *
 * A coordinate that follows from pixels or from whole-image values may be any row of an image.  Where that image
 * does not fit into the device's memory, a map that is nothing but such a read, a *gather*, can be made in
 * rounds: each has some of the image's rows there, and stores the pixels that read one of these.
 */
#ifndef IR_GATHER_H
#define IR_GATHER_H

#include "ir.h"

/* A READAT that may read any row (plane, where its image has z) of its image. */
bool ir_reads_anywhere(const IrGraph *g, IrExpr e);
/* A coordinate (0: none) with which a read of the image can be a gather: it has none of that image's pixels, which may
 * not be there, and nothing that would take long in each round. */
bool ir_is_easy_place(const IrGraph *g, IrExpr at, IrId image);
/* The node is a gather. */
bool ir_is_gather(const IrGraph *g, IrId id);
/* The axis of whose rows (planes) a gather in rounds has some: of the image that it reads. */
int ir_gather_axis(const IrGraph *g, IrId image);

#endif
