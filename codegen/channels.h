/* channels: inputs of which one channel is enough. */
#ifndef CODEGEN_CHANNELS_H
#define CODEGEN_CHANNELS_H

#include "../ir/ir.h"

/* The one channel of an input that the graph reads, a host expression, after changing the graph to
 * an input that has only that one; 0, and no change, when it reads several. */
IrExpr cg_only_channel(IrGraph *g, IrId input);

#endif
