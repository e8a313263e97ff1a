/*
 * uses: who reads what.
 *
 * For each node the reads in its per-pixel expressions, and the nodes that read it: one walk over each node's
 * expressions, so that nobody has to walk all of them to find the readers of one.  Who replaces the expressions
 * of a node says so with ir_uses_changed.
 *
 * The table lives in an arena and is good as long as nodes are not added, killed or moved otherwise.
 */
#ifndef IR_USES_H
#define IR_USES_H

#include "ir.h"

/* READ, READAT, LOOKUP and VALUE: the expressions that take something from another node. */
static inline bool ir_is_read(const IrExprNode *n)
{
    return n->op == IR_X_READ || n->op == IR_X_READAT || n->op == IR_X_LOOKUP || n->op == IR_X_VALUE;
}

typedef Vec(IrExpr) IrReads; /* ordered by the node that is read, then by number; each once */
typedef Vec(IrId) IrReaders; /* in ascending order */

typedef struct IrUses {
    const IrGraph *g;
    Arena *arena;
    IrReads *reads;     /* by node: what it reads */
    IrReaders *readers; /* by node: may name some that no longer read it; what belongs to it (`of`) is elsewhere */
    IrReaders *belong;  /* by node: what belongs to it */
    IrId *next_of;      /* by node: the carry whose next value it is; 0 none */
    bool *pinned;       /* by node: an output, or the first or next value of a carry, or others belong to it */
} IrUses;

IrUses *ir_uses_new(const IrGraph *g, Arena *arena);

/* The reads of `node` among those of `reader`: *n of them, from the one that is returned. */
const IrExpr *ir_uses_of(const IrUses *u, IrId reader, IrId node, int *n);
/* The readers of the node that do read it now and are alive, in ascending order; valid until the next call for it. */
IrReaders ir_uses_readers(IrUses *u, IrId node);

/* How many different images and vectors these nodes read, but one another. */
int ir_uses_images(const IrUses *u, const IrId *nodes, int n);

/* The expressions of a node were replaced: it is walked again. */
void ir_uses_changed(IrUses *u, IrId node);
/* The reader now has these reads, in any order, instead of its own. */
void ir_uses_set(IrUses *u, IrId reader, const IrExpr *reads, int n);

/* How many read each node: live nodes (one that reads twice counts once, and one that belongs to it), outputs, carries
 * and conditions of loops; by node. */
int *ir_count_users(IrUses *u);

#endif
