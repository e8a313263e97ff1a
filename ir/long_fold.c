/* long_fold: the one fold of a stage, and what it reads. */
#include "long_fold.h"

typedef struct Walk {
    IrLongFold *found;
    int grid;
    bool refused;
} Walk;

static void look_for_fold(const IrGraph *g, IrExpr e, void *ctx)
{
    Walk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_FOLD && n->rank == IR_PIXEL) {
        w->refused = w->refused || w->found->fold != 0 || n->where != 0 || n->flat || ir_sorts(n);
        w->found->fold = e;
    }
    w->refused = w->refused || n->op == IR_X_READAT;
}

/* The axis along which a read is moved by the index and by nothing else; -1. */
static int axis_of(const IrGraph *g, const IrExprNode *read, double index)
{
    const IrExpr offset[3] = {read->a, read->b, read->c};
    int axis = -1, moved = 0;
    for (int ax = 0; ax < 3; ax++) {
        const IrExprNode *o = ir_expr(g, offset[ax]);
        moved += offset[ax] != 0;
        axis = offset[ax] != 0 && o->op == IR_X_INDEX && o->num == index ? ax : axis;
    }
    return moved == 1 ? axis : -1;
}

static void look_at_read(const IrGraph *g, IrExpr e, void *ctx)
{
    Walk *w = ctx;
    IrLongFold *found = w->found;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READ || w->refused) {
        return;
    }
    int axis = axis_of(g, n, ir_expr(g, found->fold)->num);
    bool constant = n->outside == 0 || ir_expr(g, n->outside)->rank <= IR_HOST;
    w->refused = axis < 0 || !constant || n->channel != 0 || ir_node(g, n->node)->grid != w->grid ||
                 (found->n_reads > 0 && axis != found->axis) || found->n_reads == IR_LONG_READS;
    if (!w->refused) {
        found->axis = axis;
        found->read[found->n_reads++] = e;
    }
}

bool ir_long_fold(const IrGraph *g, IrId stage, IrLongFold *found)
{
    const IrNode *node = ir_node(g, stage);
    Walk w = {.found = found, .grid = node->grid};
    *found = (IrLongFold){.axis = -1};
    ir_walk(g, node->map.value, look_for_fold, &w);
    if (w.refused || found->fold == 0) {
        return false;
    }
    ir_walk(g, ir_expr(g, found->fold)->a, look_at_read, &w);
    bool planes = found->axis == IR_AX_Z && g->grids.at[node->grid].has[IR_AX_C];
    return !w.refused && found->n_reads > 0 && !planes;
}
