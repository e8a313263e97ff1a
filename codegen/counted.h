/* counted: where labels have their numbers from, and whose count somebody asks for. */
#ifndef CODEGEN_COUNTED_H
#define CODEGEN_COUNTED_H

#include "../ir/ir.h"

/* The node in which labels got their numbers: compacting and growing makes no larger ones. */
IrId cg_numbered_by(const IrGraph *g, IrId labels);

/* By node, of the graph's arena: true for labels that a value, a vector, a table, an output or a loop has need of
 * the count of. */
const bool *cg_counted(const IrGraph *g);

#endif
