/*
 * dce: what no output needs is removed.
 *
 * Users are counted from the outputs backwards until nothing changes.  Inputs stay: they are the
 * program's interface.
 */
#include "pass.h"

#include "../ir/edit.h"

/* One mention of a carry is its own row in the loop. */
static bool is_read(const IrGraph *g, const IrCarry *c, const int *users)
{
    return !ir_node(g, c->carry)->dead && users[c->carry] > 1;
}

/* Carries that nobody reads leave the loop.  They may keep each other alive: then the loop dies when
 * nothing outside reads them. */
static bool kill_unread_carries(IrGraph *g, int loop, const int *users)
{
    IrLoop *l = &g->loops.at[loop];
    int kept = 0;
    bool changed = false, any = false;
    for (int i = 0; i < l->carries.n; i++) {
        any = any || is_read(g, &l->carries.at[i], users);
    }
    for (int i = 0; i < l->carries.n; i++) {
        IrNode *carry = ir_node(g, l->carries.at[i].carry);
        if (!is_read(g, &l->carries.at[i], users)) {
            changed = changed || !carry->dead;
            carry->dead = true;
        }
        if (!any || !carry->dead) {
            l->carries.at[kept++] = l->carries.at[i];
        }
    }
    l->carries.n = kept;
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
