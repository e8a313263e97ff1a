/* parts_boxes: boxes of images to the device, and tiles of them back (parts.h). */
#ifndef RUNTIME_PARTS_BOXES_H
#define RUNTIME_PARTS_BOXES_H

#include "parts_pixels.h"

/* Elements from row to row of a box with so many columns. */
int parts_box_pitch(int cols);
/* Where kernels find the pixels of the box of a window. */
ExecPlace parts_box_place(const ExecPlan *plan, const PartsWindow *window, const PartsBox *box);
bool parts_load_box(PartsPixels *pixels, const PartsWindow *window, DevMem *mem,
                    const PartsBox *box, Err *err);
/* A tile of a kept buffer from a window of tiles of `cols` columns. */
bool parts_save_tile(PartsPixels *pixels, const PartsWindow *window, int cols, DevMem *mem,
                     PartsBox tile, Err *err);

#endif
