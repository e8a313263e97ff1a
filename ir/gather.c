/* gather: what decides a coordinate is found by one walk over it. */
#include "gather.h"
#include "apply.h"
#include "uses.h"

int ir_gather_axis(const IrGraph *g, IrId image)
{
    return g->grids.at[ir_node(g, image)->grid].has[IR_AX_Z] ? IR_AX_Z : IR_AX_Y;
}

/* What nobody bounds before a run: pixels, values, and functions of coordinates that leave the ranges of parts wide open. */
static bool is_unknown(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool scaled = n->op == IR_X_FMA || (n->op == IR_X_DIV && ir_expr(g, n->b)->rank <= IR_HOST);
    bool curved = n->rank == IR_PIXEL && !scaled && (ir_op_rule(n->op) == IR_RULE_FLOAT || n->op == IR_X_CALL);
    return ir_is_read(n) || curved;
}

bool ir_reads_anywhere(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READAT || ir_node(g, n->node)->grid < 0) {
        return false;
    }
    return ir_any(g, ir_gather_axis(g, n->node) == IR_AX_Z ? n->c : n->b, is_unknown, NULL);
}

static bool is_trouble(const IrGraph *g, IrExpr e, const void *ctx)
{
    const IrId *image = ctx;
    const IrExprNode *n = ir_expr(g, e);
    return ((n->op == IR_X_READ || n->op == IR_X_READAT) && n->node == *image) || n->op == IR_X_FOLD;
}

bool ir_is_easy_place(const IrGraph *g, IrExpr at, IrId image)
{
    return !ir_any(g, at, is_trouble, &image);
}

bool ir_is_gather(const IrGraph *g, IrId id)
{
    const IrNode *node = ir_node(g, id);
    const IrExprNode *n = ir_expr(g, node->map.value);
    return node->op == IR_MAP && ir_reads_anywhere(g, node->map.value) && node->elem == n->type &&
           ir_is_easy_place(g, n->a, n->node) && ir_is_easy_place(g, n->b, n->node) &&
           ir_is_easy_place(g, n->c, n->node);
}
