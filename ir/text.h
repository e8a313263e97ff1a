/*
 * text: the graph as text and back.
 *
 *   graph blobs
 *   source 0 "blobs.pipe"
 *       8 "blurred = gaussian(image, sigma)"
 *   param sigma = 2 in 0.1 .. 50 "blur radius in pixels"
 *   grid 0 [x = extent(%1, x), y = extent(%1, y)]
 *   %1 image = input "yx" : image file grid 0 at 0:3:1+17
 *   %2 blurred = map : image f32 grid 0 at 0:8:1+32
 *       in 0 sum(#0 in -8 .. 8, mul(f32(exp(#0)), %1[x = #0]))
 *   output labels = %4 as tif at 0:12:1+13
 *       moved
 *       place x x 2
 *       place x 1 0.5
 *       place y y 1
 *   note place x of "image"
 *       at 50
 *       extent extent(%1, x)
 *
 * Pixel (x, y) of that output lies at (2 x + 0.5, y) on the first input; without such lines at
 * (x, y), and with `moved` alone nobody knows where.  A run notes of an image that pixel `at` is not
 * among the `extent` ones along the axis.
 *
 * A line that is not indented begins a part; what belongs to it is indented.  Lines that begin
 * with # are comments.  Dead nodes are left out; the others keep their numbers.
 *
 * Places: `at 0:8:1+32` is source 0, line 8, column 1, 32 bytes.  Of the sources those lines are
 * quoted that anything came from.
 *
 * Expressions: 2.5 (f64) and 2.5:f32 constants; $sigma a parameter; #0 a fold's index; %2 a read,
 * %2[x = e, y = e, c = e, border = reflect, outside = e] with offsets, %2@[...] at a position,
 * %5.1 a whole-image value, %7{e} a look-up; f32(e) a conversion, sat_u8(e) a saturating one;
 * sum(#0 in e .. e where e nth e, e) a fold; @f(e, e) a function of the graph; extent(%1, x),
 * pixelsize(x), largest(%1) and coord(x); everything else is an operator of exprs.def with its
 * operands.  In a fold `apart` stands before a product that is rounded before it is added, and before
 * a fold that is a sequence of its own.  e!pixel has a higher rank than its operands ask for.  What a node uses several times
 * is named by a line t1 = e in front of the node's expressions.
 *
 * Functions, whose variables are &v in expressions, are blocks of `set v = e`, `return e`, `if e`, `else`, `while e`, `for v in e .. e` and
 * `end`, after their params and vars.
 * A trained forest is one line, `function f forest 0 "..."`: its text (base/forest.h) behind the number of the class
 * whose share is wanted, or 0 for the likeliest class.
 */
#ifndef IR_TEXT_H
#define IR_TEXT_H

#include "../base/err.h"
#include "ir.h"

void ir_print(const IrGraph *g, Str *out);
/* Builds the graph that `text` describes, in the arena, and verifies it.  Broken text is an error
 * with its place, "FILE:LINE:COLUMN: what is wrong". */
bool ir_parse(Arena *arena, const Source *text, IrGraph **graph, Err *err);
/* Graphviz: nodes as boxes, reads as arrows labelled with their reach. */
void ir_print_dot(IrGraph *g, Str *out);

#endif
