/* indices: which folds' indices an expression needs from around it. */
#ifndef IR_INDICES_H
#define IR_INDICES_H

#include "ir.h"

/* The indices that an expression uses and does not bind; IR_COUNT_INDEX is the number of elements
 * that a rank asks for. */
typedef struct IrIndices {
    bool known;
    int n, *at;
} IrIndices;

enum { IR_COUNT_INDEX = -1 };

/* What each expression needs is found once.  Lives as long as the graph, which may be ill-formed. */
const IrIndices *ir_free_indices(const IrGraph *g, IrExpr e);

#endif
