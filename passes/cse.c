/*
 * cse: nodes that compute the same thing become one.
 *
 * Expressions are hash-consed already, so two nodes are equal when their fields are.  Nodes are
 * visited in topological order and merged at once, so that what reads merged nodes becomes equal
 * too.  Inputs, carries and tables are what they are.
 *
 * For example, where %1 is an image,
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 sqrt(%1)
 *     %3 b = map : image f32 grid 0
 *         in 0 sqrt(%1)
 *     %4 c = map : image f32 grid 0
 *         in 0 mul(%2, %3)
 *     output c = %4 as tif
 *
 * becomes
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 sqrt(%1)
 *     %4 c = map : image f32 grid 0
 *         in 0 mul(%2, %2)
 *     output c = %4 as tif
 */
#include "pass.h"

#include "../ir/edit.h"

#include <string.h>

static bool same_text(const char *p, const char *q)
{
    return p == q || (p != NULL && q != NULL && strcmp(p, q) == 0);
}

static bool is_same(const IrNode *p, const IrNode *q)
{
    return p->op == q->op && p->kind == q->kind && p->elem == q->elem && p->grid == q->grid && p->of == q->of &&
           p->loop == q->loop && same_text(p->text, q->text) && memcmp(p->in, q->in, sizeof p->in) == 0 &&
           memcmp(p->arg, q->arg, sizeof p->arg) == 0;
}

static bool is_fixed(IrOp op)
{
    return op == IR_INPUT || op == IR_CARRY || op == IR_MEASURE || op == IR_NEAR_PAIRS;
}

typedef struct Merge {
    IrGraph *g;
    IrId *to;    /* by node: the equal one that takes its place; 0: itself */
    IrId *first; /* by hash: nodes, open addressing */
    uint32_t mask;
} Merge;

static uint32_t hash_node(const IrNode *n)
{
    uint32_t h = (uint32_t)n->op * 31 + (uint32_t)n->grid;
    for (int k = 0; k < NODE_INPUTS; k++) {
        h = (h ^ n->in[k]) * 16777619u;
    }
    for (int k = 0; k < NODE_ARGUMENTS; k++) {
        h = (h ^ n->arg[k]) * 16777619u;
    }
    return (h ^ n->of) * 16777619u;
}

/* The first node that is equal to this one: itself, if there is none before it. */
static IrId first_of(const Merge *m, IrId id)
{
    const IrNode *n = ir_node(m->g, id);
    uint32_t at = hash_node(n) & m->mask;
    while (m->first[at] != 0 && !is_same(ir_node(m->g, m->first[at]), n)) {
        at = (at + 1) & m->mask;
    }
    m->first[at] = m->first[at] == 0 ? id : m->first[at];
    return m->first[at];
}

bool pass_cse(IrGraph *g, PassContext *cx)
{
    (void)cx;
    bool changed = false;
    uint32_t slots = 64;
    while (slots < 2 * (uint32_t)g->nodes.n) {
        slots *= 2;
    }
    Merge m = {g, arena_array(g->arena, IrId, g->nodes.n), arena_array(g->arena, IrId, slots), slots - 1};
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        if (ir_node(g, id)->dead) {
            continue;
        }
        if (changed) {
            ir_replace_in(g, id, m.to);
        }
        IrId first = is_fixed(ir_node(g, id)->op) ? id : first_of(&m, id);
        if (first != id) {
            m.to[id] = first;
            ir_node(g, id)->dead = true;
            changed = true;
        }
    }
    if (changed) {
        ir_replace_nodes(g, m.to);
    }
    return changed;
}
