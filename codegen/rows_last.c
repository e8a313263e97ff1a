/* rows_last: which row each of a kernel's folds over the stream axis takes last, so that they share rows (rows.c). */
#include "rows.h"

enum { MAX_LATE = 6 }; /* rows that a finished sum is kept in registers, which a tile would cost too */

/* Those whose rows come from memory, or through local memory. */
static int images_of(const Rows *r)
{
    int n = 0;
    for (int i = 0; i < r->extents.n; i++) {
        n += r->extents.at[i]->used && (!r->extents.at[i]->computed || r->extents.at[i]->tiled);
    }
    return n;
}

IrExpr rows_shared_last(const Rows *r, const IrExprNode *n, Border border)
{
    const IrGraph *g = r->k->g;
    double own, other, last;
    if (!r->gpu || !r->fetches || !ir_is_const(g, n->c, &own) || images_of(r) != 1) {
        return n->c;
    }
    IrExpr best = n->c;
    last = own;
    for (int i = 0; i < r->last_rows.n; i++) {
        const LastRow *row = &r->last_rows.at[i];
        bool near = row->border == border && ir_is_const(g, row->ahead, &other) && other - own <= MAX_LATE;
        if (near && other > last) {
            best = row->ahead;
            last = other;
        }
    }
    return best;
}

static bool same_number(const IrGraph *g, IrExpr a, IrExpr b)
{
    double p, q;
    return a == b || (ir_is_const(g, a, &p) && ir_is_const(g, b, &q) && p == q);
}

bool rows_begins_with_others(const Rows *r, const IrExprNode *n, IrExpr last)
{
    const IrGraph *g = r->k->g;
    double own, other;
    bool alike = true, latest = ir_is_const(g, last, &own) && images_of(r) == 1 && !r->shifts;
    for (int i = 0; i < r->last_rows.n; i++) {
        const LastRow *row = &r->last_rows.at[i];
        alike = alike && same_number(g, row->ahead, n->c) && same_number(g, row->behind, n->b);
        latest = latest && ir_is_const(g, row->ahead, &other) && other <= own;
    }
    return alike || latest;
}
