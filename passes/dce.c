/*
 * dce: what no output needs is removed.
 *
 * Users are counted from the outputs backwards until nothing changes.  Inputs stay: they are the
 * program's interface.
 */
#include "pass.h"

#include "../ir/edit.h"

/* The carries of a loop keep each other alive; a loop dies when nothing outside reads them. */
static bool kill_unread_carries(IrGraph *g, int loop, const int *users)
{
    const IrLoop *l = &g->loops.at[loop];
    for (int i = 0; i < l->carries.n; i++) {
        IrId carry = l->carries.at[i].carry;
        /* One mention is the carry's own row in the loop. */
        if (!ir_node(g, carry)->dead && users[carry] > 1) {
            return false;
        }
    }
    bool changed = false;
    for (int i = 1; i < g->nodes.n; i++) {
        IrNode *n = &g->nodes.at[i];
        if (n->loop == loop && !n->dead && n->op == IR_CARRY) {
            n->dead = true;
            changed = true;
        }
    }
    return changed;
}

bool pass_dce(IrGraph *g, PassContext *cx)
{
    (void)cx;
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        const int *users = ir_count_users(g);
        for (int i = g->nodes.n - 1; i > 0; i--) {
            IrNode *n = &g->nodes.at[i];
            if (!n->dead && n->op != IR_INPUT && n->op != IR_CARRY && users[i] == 0) {
                n->dead = true;
                changed = true;
            }
        }
        for (int i = 1; i < g->loops.n; i++) {
            changed = kill_unread_carries(g, i, users) || changed;
        }
        any = any || changed;
    }
    return any;
}
