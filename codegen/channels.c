/*
 * channels: an input of which the pipeline reads one channel only is stored without the others.
 *
 * The runtime then reads, keeps and uploads that channel alone; for the kernels it is channel 0 of
 * an image without channels.
 */
#include "channels.h"

#include "../ir/edit.h"

typedef struct Look {
    IrId input;
    IrExpr channel;
    bool whole; /* read in another way, too */
} Look;

static void look(const IrGraph *g, IrExpr e, void *ctx)
{
    Look *l = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->node != l->input || n->op == IR_X_EXTENT || n->op == IR_X_LARGEST || n->op == IR_X_SKY) {
        return;
    }
    bool one = (n->op == IR_X_READ || n->op == IR_X_READAT) && n->channel != 0 &&
               ir_expr(g, n->channel)->rank <= IR_HOST && (l->channel == 0 || l->channel == n->channel);
    l->whole = l->whole || !one;
    l->channel = n->channel;
}

/* True when something other than an expression takes the node. */
static bool is_named(const IrGraph *g, IrId node)
{
    for (int i = 0; i < g->outputs.n; i++) {
        if (g->outputs.at[i].node == node) {
            return true;
        }
    }
    for (int i = 1; i < g->nodes.n; i++) {
        if (!g->nodes.at[i].dead && g->nodes.at[i].of == node) {
            return true;
        }
    }
    for (int i = 1; i < g->loops.n; i++) {
        for (int k = 0; k < g->loops.at[i].carries.n; k++) {
            const IrCarry *c = &g->loops.at[i].carries.at[k];
            if (c->first == node || c->next == node) {
                return true;
            }
        }
    }
    return false;
}

/* The one channel of an input that anything reads, a host expression; 0: all of them. */
static IrExpr only_channel(const IrGraph *g, IrId input)
{
    Look l = {.input = input};
    for (int i = 1; i < g->nodes.n && !l.whole; i++) {
        for (int k = 0; k < NODE_INPUTS && !g->nodes.at[i].dead; k++) {
            ir_walk(g, g->nodes.at[i].in[k], look, &l);
        }
    }
    bool has = g->grids.at[ir_node(g, input)->grid].has[IR_AX_C];
    return has && !l.whole && !is_named(g, input) ? l.channel : 0;
}

static IrExpr read_first(IrGraph *g, IrExpr e, void *ctx)
{
    const IrId *input = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (n.node != *input || n.channel == 0) {
        return e;
    }
    n.channel = ir_const(g, 0);
    return ir_intern(g, n);
}

IrExpr cg_only_channel(IrGraph *g, IrId input)
{
    IrExpr channel = only_channel(g, input);
    if (channel != 0) {
        IrGrid grid = g->grids.at[ir_node(g, input)->grid];
        grid.extent[IR_AX_C] = 0;
        grid.has[IR_AX_C] = false;
        ir_node(g, input)->grid = ir_add_grid(g, grid);
        ir_rewrite_all(g, read_first, &input);
    }
    return channel;
}
