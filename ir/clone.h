/*
 * clone: a graph for a pass pipeline of its own.
 *
 * What is elaborated once is planned several times: for other parameters, for runs in rounds, and as it was lowered for
 * the evaluator.
 */
#ifndef IR_CLONE_H
#define IR_CLONE_H

#include "ir.h"

/* The same graph in another arena.  Texts, spans and functions are shared: `from` and its arena must live as long. */
IrGraph *ir_clone(const IrGraph *from, Arena *arena);

#endif
