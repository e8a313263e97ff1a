/*
 * ids: labels of files, whose numbers may be any of 32 bits.
 *
 * What is computed by label has room for as many labels as there are pixels.  Where a file has larger numbers, each
 * of its labels is known by its *place* among those that there are: 1 for the smallest, and so on.  Inputs
 * (the argument `ids` of nodes.def) get places when they are loaded; what only moves labels, such as
 * expand_labels and watershed, moves places.  Tables and images of labels are written with the file's
 * numbers, and where an expression takes labels as numbers it looks them up in the input's IDS.  Where all numbers
 * fit, they are the places, and nothing is done.
 */
#ifndef IR_IDS_H
#define IR_IDS_H

#include "ir.h"

/* The labels that an expression has, or parts of which it has where the others are 0: their node; 0: it is something
 * else. */
IrId ir_ids_read(const IrGraph *g, IrExpr labels);
/* The labels in which these got their numbers, if they were only moved, grown or cut since then. */
IrId ir_ids_first(const IrGraph *g, IrId labels);
/* That, if it is an input; 0: they are numbered by the pipeline. */
IrId ir_ids_of(const IrGraph *g, IrId labels);
/* The input whose places a table's column 0, 1 or 2 has; 0: they are numbers. */
IrId ir_ids_of_column(const IrGraph *g, IrId table, int column);
/* The numbers of labels, an expression as ir_ids_read takes. */
IrExpr ir_ids_numbers(IrGraph *g, IrExpr labels);
/* Once the graph is complete: gives inputs their argument, and takes look-ups out that nobody needs. */
void ir_ids_settle(IrGraph *g);

#endif
