/*
 * pixels: what is known of an image's pixels by where they come from: the type of those that were only moved or chosen,
 * and whether they are whole numbers.
 */
#ifndef IR_PIXELS_H
#define IR_PIXELS_H

#include "ir.h"

typedef struct IrPixels {
    Elem elem; /* the type of pixels that were only moved or chosen: one that was declared or converted to, or
                     ELEM_FILE: that of the file of input `file`; ELEM_NONE: they are computed */
    IrId file;
    bool none; /* a pixel may be chosen among none at all: NaN or infinite, which such a type may lack */
    IrExpr
        whole; /* a truth that the host knows: they are whole numbers (or NaN or infinite, where whole ones left f32) */
} IrPixels;

/* Of a pixel or whole-image expression.  What a loop carries is known once the loop is complete. */
IrPixels ir_pixels(IrGraph *g, IrExpr e);

#endif
