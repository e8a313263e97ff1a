/*
 * print: the graph as text, one node a line.
 *
 *   graph blobs
 *   grid 0 [x = extent(%1, x), y = extent(%1, y)]
 *   param sigma = 2 in 0.1 .. 50
 *   %1 image = input "yx" : image file grid 0
 *   %2 blurred = map : image f32 grid 0
 *       in 0 sum(#0 in -8 .. 8: mul(f32(exp(#0)), %1[x = #0]))
 *   output labels = %4 as tif
 *
 * Expressions: 2.5 (f64) and 2.5:f32 constants; $sigma a parameter; #0 a fold's index; %2 a read,
 * %2[x = e, y = e, c = e, border = reflect, outside = e] with offsets, %2@[...] at a position,
 * %5.1 a whole-image value, %7{e} a look-up; f32(e) a conversion, sat_u8(e) a saturating one;
 * everything else is an operator of exprs.def with its operands.
 */
#ifndef IR_PRINT_H
#define IR_PRINT_H

#include "ir.h"

void ir_print(const IrGraph *g, Str *out);
void ir_print_expr(const IrGraph *g, IrExpr e, Str *out);
/* Graphviz: nodes as boxes, reads as arrows labelled with their reach. */
void ir_print_dot(IrGraph *g, Str *out);

#endif
