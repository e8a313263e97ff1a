/* parts_boxes: boxes of images to the device, and tiles of them back (parts.h). */
#ifndef RUNTIME_PARTS_BOXES_H
#define RUNTIME_PARTS_BOXES_H

#include "parts_state.h"

/* Finds the box of window i for the part, and where kernels find its pixels. */
bool parts_place_box(Segment *seg, int i, PartsBox *box, ExecPlace *place);
/* The box on its way to the part's slot, unless it is there. */
bool parts_load_box(Segment *seg, int i);
/* The tile that was computed of window i to its store. */
bool parts_save_tile(Segment *seg, int i);

#endif
