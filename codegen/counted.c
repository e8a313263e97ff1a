/*
 * counted: where labels have their numbers from, and whose count somebody asks for.
 *
 * The count of labels that come from a file is their largest number, which the host has to look for in all pixels,
 * and to send to the device before the first kernel.  Painting labels, or comparing them, asks for no count.
 */
#include "counted.h"

IrId cg_numbered_by(const IrGraph *g, IrId labels)
{
    for (;;) {
        const IrNode *node = ir_node(g, labels);
        int input = node->op == IR_WATERSHED ? 1 : 0;
        bool owned = node->kind != IR_K_LABELS || node->op == IR_COMPACT || node->op == IR_POINTS;
        bool grown = node->op == IR_NEAREST_LABEL || node->op == IR_WATERSHED;
        const IrExprNode *from = ir_expr(g, node->in[input]);
        IrId next = owned ? node->of : grown && from->op == IR_X_READ ? from->node : 0;
        if (next == 0 || (grown && ir_node(g, next)->kind != IR_K_LABELS)) {
            return labels;
        }
        labels = next;
    }
}

static void note(const IrGraph *g, IrExpr e, void *ctx)
{
    bool *counted = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_VALUE) {
        counted[n->node] = true;
    }
}

static void note_all(const IrGraph *g, const IrExpr *list, int n, bool *counted)
{
    for (int i = 0; i < n; i++) {
        if (list[i] != 0) {
            ir_walk(g, list[i], note, counted);
        }
    }
}

const bool *cg_counted(const IrGraph *g)
{
    bool *counted = arena_array(g->arena, bool, g->nodes.n);
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *node = ir_node(g, id);
        if (!node->dead) {
            counted[node->of] = true;                         /* of node 0, where there is none */
            if (node->kind == IR_K_VECTOR && node->of != 0) { /* has room for so many */
                counted[cg_numbered_by(g, node->of)] = true;
            }
            note_all(g, node->in, NODE_INPUTS, counted);
            note_all(g, node->arg, NODE_ARGUMENTS, counted);
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        counted[g->outputs.at[i].node] = true;
        note_all(g, &g->outputs.at[i].value, 1, counted);
    }
    for (int i = 1; i < g->loops.n; i++) {
        const IrLoop *loop = &g->loops.at[i];
        note_all(g, &loop->until, 1, counted);
        for (int k = 0; k < loop->carries.n; k++) {
            counted[loop->carries.at[k].first] = counted[loop->carries.at[k].next] = true;
        }
    }
    return counted;
}
