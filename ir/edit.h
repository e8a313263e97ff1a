/* edit: changes to a graph that passes share. */
#ifndef IR_EDIT_H
#define IR_EDIT_H

#include "ir.h"

/* Every mention of a node with to[node] != 0 becomes one of to[node]: reads, values, carries, outputs. */
void ir_replace_nodes(IrGraph *g, const IrId *to);
/* The same in one node. */
void ir_replace_in(IrGraph *g, IrId id, const IrId *to);
/* The node stands behind all others, under another number. */
void ir_move_to_end(IrGraph *g, IrId id);
/* Applies `visit` bottom-up to every expression of every live node, output and loop.  Returns
 * whether anything changed. */
bool ir_rewrite_all(IrGraph *g, IrRewrite visit, void *ctx);
/* The expression with `by` wherever `part` stands in it. */
IrExpr ir_replace_part(IrGraph *g, IrExpr e, IrExpr part, IrExpr by);
/* An operator or a cast made anew of its operands: the builder folds what has become constant. */
IrExpr ir_made_anew(IrGraph *g, IrExpr e);
/* What a read of the node gives, as an expression: its own, rounded as storing rounds it. */
IrExpr ir_as_stored(IrGraph *g, IrId map);

#endif
