/*
 * summary: a percentile takes its pixels from the reading of a reduction of the same pixels.
 *
 * The two become one node with the values of both.  Reductions of what a kernel stores are left
 * alone: that kernel takes them on the way, without reading anything (epilogue.c).
 */
#include "pass.h"

#include "epilogue.h"

#include "../ir/edit.h"

#include <string.h>

enum { PERCENTILE = 5 }; /* among a summary's values */

typedef struct Joined {
    IrId reduction, rank, to;
} Joined;

static IrExpr rename_value(IrGraph *g, IrExpr e, void *ctx)
{
    const Joined *joined = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_VALUE || (n.node != joined->reduction && n.node != joined->rank)) {
        return e;
    }
    return ir_value(g, joined->to, n.node == joined->rank ? PERCENTILE : (int)n.num);
}

/* Loops hand the whole node on from round to round. */
static bool is_carried(const IrGraph *g, IrId id)
{
    bool is = false;
    for (int i = 1; i < g->loops.n; i++) {
        for (int k = 0; k < g->loops.at[i].carries.n; k++) {
            const IrCarry *c = &g->loops.at[i].carries.at[k];
            is = is || c->first == id || c->next == id;
        }
    }
    return is;
}

static bool may_be_fed(const IrGraph *g, const IrNode *reduction)
{
    IrId image = pass_reduced_image(g, reduction);
    return image != 0 && ir_node(g, image)->op == IR_MAP;
}

static bool same_pixels(const IrNode *a, const IrNode *b)
{
    return a->loop == b->loop && a->grid == b->grid && memcmp(a->in, b->in, sizeof a->in) == 0;
}

/* The reduction of the pixels of a rank; 0: there is none. */
static IrId partner_of(const IrGraph *g, IrId rank)
{
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *node = ir_node(g, id);
        if (!node->dead && node->op == IR_REDUCE && same_pixels(node, ir_node(g, rank)) &&
            !may_be_fed(g, node) && !is_carried(g, id)) {
            return id;
        }
    }
    return 0;
}

/* Where the first of the two was: whoever reads either comes after it. */
static void join(IrGraph *g, IrId reduction, IrId rank)
{
    Joined joined = {reduction, rank, reduction < rank ? reduction : rank};
    IrNode node = *ir_node(g, reduction);
    node.op = IR_SUMMARY;
    node.arg[1] = ir_node(g, rank)->arg[0];
    g->nodes.at[reduction].dead = g->nodes.at[rank].dead = true;
    g->nodes.at[joined.to] = node;
    ir_rewrite_all(g, rename_value, &joined);
}

bool pass_summary(IrGraph *g, PassContext *cx)
{
    (void)cx;
    bool changed = false;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        bool rank = !ir_node(g, id)->dead && ir_node(g, id)->op == IR_RANK && !is_carried(g, id);
        IrId reduction = rank ? partner_of(g, id) : 0;
        if (reduction != 0) {
            join(g, reduction, id);
            changed = true;
        }
    }
    return changed;
}
