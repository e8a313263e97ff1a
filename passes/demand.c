/*
 * demand: reductions compute only the values that are used.
 *
 * A reduce node, or a summary, offers sum, count, squared distances from the mean, minimum and maximum; which of them anyone
 * asks for is written into its argument `wanted` (bits: 1 sum and count, 2 squares, 4 extremes).
 *
 * For example, where %1 is an image,
 *
 *     %2 m = reduce : value f64
 *         in 0 %1
 *         arg 0 7
 *     output mean as csv
 *         value div(%2.0, %2.1)
 *
 * becomes
 *
 *     %2 m = reduce : value f64
 *         in 0 %1
 *         arg 0 1
 *     output mean as csv
 *         value div(%2.0, %2.1)
 */
#include "pass.h"

typedef struct Wanted {
    int *bits; /* by node */
} Wanted;

static bool is_reduction(const IrNode *node)
{
    return node->op == IR_REDUCE || node->op == IR_SUMMARY;
}

static void note(const IrGraph *g, IrExpr e, void *ctx)
{
    static const int BIT[] = {1, 1, 2, 4, 4, 0};
    const Wanted *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool counts = n->op == IR_X_VALUE && (is_reduction(ir_node(g, n->node)) || ir_node(g, n->node)->op == IR_CARRY);
    if (counts) {
        w->bits[n->node] |= BIT[(int)n->num];
    }
}

/* What is wanted of a carry is wanted of what it carries, which may be another one. */
static void hand_on(const IrGraph *g, const Wanted *w)
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 1; i < g->loops.n; i++) {
            for (int k = 0; k < g->loops.at[i].carries.n; k++) {
                const IrCarry *c = &g->loops.at[i].carries.at[k];
                const int wanted = w->bits[c->carry];
                more = more || (wanted & ~(w->bits[c->first] & w->bits[c->next])) != 0;
                w->bits[c->first] |= wanted;
                w->bits[c->next] |= wanted;
            }
        }
    }
}

bool pass_demand(IrGraph *g, PassContext *cx)
{
    (void)cx;
    Wanted w = {arena_array(g->arena, int, g->nodes.n)};
    for (int i = 1; i < g->nodes.n; i++) {
        for (int k = 0; k < NODE_INPUTS && !g->nodes.at[i].dead; k++) {
            if (g->nodes.at[i].in[k] != 0) {
                ir_walk(g, g->nodes.at[i].in[k], note, &w);
            }
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        if (g->outputs.at[i].value != 0) {
            ir_walk(g, g->outputs.at[i].value, note, &w);
        }
    }
    for (int i = 1; i < g->loops.n; i++) {
        if (g->loops.at[i].until != 0) {
            ir_walk(g, g->loops.at[i].until, note, &w);
        }
    }
    hand_on(g, &w);
    bool changed = false;
    for (int i = 1; i < g->nodes.n; i++) {
        if (!g->nodes.at[i].dead && is_reduction(&g->nodes.at[i])) {
            IrExpr wanted = ir_const(g, w.bits[i]);
            changed = changed || g->nodes.at[i].reduce.wanted != wanted;
            g->nodes.at[i].reduce.wanted = wanted;
        }
    }
    return changed;
}
