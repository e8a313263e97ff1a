/*
 * cse: nodes that compute the same thing become one.
 *
 * Expressions are hash-consed already, so two nodes are equal when their fields are.  Nodes are
 * visited in topological order and merged at once, so that what reads merged nodes becomes equal
 * too.  Inputs, carries and tables are what they are.
 */
#include "pass.h"

#include "../ir/edit.h"
#include "../ir/uses.h"

#include <string.h>

static bool same_text(const char *p, const char *q)
{
    return p == q || (p != NULL && q != NULL && strcmp(p, q) == 0);
}

static bool is_same(const IrNode *p, const IrNode *q)
{
    return p->op == q->op && p->kind == q->kind && p->elem == q->elem && p->grid == q->grid &&
           p->of == q->of && p->loop == q->loop && same_text(p->text, q->text) &&
           memcmp(p->in, q->in, sizeof p->in) == 0 && memcmp(p->arg, q->arg, sizeof p->arg) == 0;
}

static bool is_fixed(IrOp op)
{
    return op == IR_INPUT || op == IR_CARRY || op == IR_MEASURE || op == IR_NEAR_PAIRS;
}

bool pass_cse(IrGraph *g, PassContext *cx)
{
    (void)cx;
    bool changed = false;
    for (int i = 2; i < g->nodes.n; i++) {
        if (g->nodes.at[i].dead || is_fixed(g->nodes.at[i].op)) {
            continue;
        }
        for (int k = 1; k < i; k++) {
            if (!g->nodes.at[k].dead && is_same(&g->nodes.at[k], &g->nodes.at[i])) {
                g->nodes.at[i].dead = true;
                ir_replace_node(g, (IrId)i, (IrId)k);
                changed = true;
                break;
            }
        }
    }
    return changed;
}
