/*
 * once: a node that is there already is not made again.
 *
 * A table by what nodes do and read, in which those with the same hash follow one another from the latest to the earliest.
 * It takes in new nodes when it is asked, not as they are made: some get their inputs later.
 */
#include "elab.h"

#include <string.h>

static uint32_t hash_node(const IrNode *n)
{
    uint32_t h = 2166136261U ^ (uint32_t)n->op;
    for (int i = 0; i < NODE_INPUTS; i++) {
        h = (h ^ n->in[i]) * 16777619U;
    }
    for (int i = 0; i < NODE_ARGUMENTS; i++) {
        h = (h ^ n->arg[i]) * 16777619U;
    }
    return h ^ h >> 15;
}

static IrId *latest(const ElOnce *once, uint32_t hash)
{
    return &once->latest[hash & (uint32_t)(once->size - 1)];
}

static void take_in(Elab *el, uint32_t hash, int node)
{
    ElOnce *once = &el->once;
    vec_push(el->arena, &once->hash, hash);
    vec_push(el->arena, &once->before, *latest(once, hash));
    *latest(once, hash) = (IrId)node;
}

static void grow(Elab *el)
{
    ElOnce *once = &el->once;
    const int n = once->hash.n;
    once->size = once->size > 0 ? 4 * once->size : 256;
    once->latest = arena_array(el->arena, IrId, once->size);
    memset(once->latest, 0, sizeof *once->latest * (size_t)once->size);
    for (int i = 0; i < n; i++) {
        once->before.at[i] = *latest(once, once->hash.at[i]);
        *latest(once, once->hash.at[i]) = (IrId)i;
    }
}

void el_forget_nodes(Elab *el, int from)
{
    ElOnce *once = &el->once;
    for (; once->hash.n > from; once->hash.n--, once->before.n--) {
        *latest(once, once->hash.at[once->hash.n - 1]) = once->before.at[once->before.n - 1];
    }
}

static bool same_text(const char *p, const char *q)
{
    return p == q || (p != NULL && q != NULL && strcmp(p, q) == 0);
}

/* Apart from the grid. */
static bool same_node(const IrNode *p, const IrNode *q)
{
    return p->op == q->op && p->kind == q->kind && p->elem == q->elem && p->of == q->of &&
           same_text(p->text, q->text) && memcmp(p->in, q->in, sizeof p->in) == 0 &&
           memcmp(p->arg, q->arg, sizeof p->arg) == 0;
}

/* Equal nodes are found only inside one loop: outside it a node may hold an older round. */
IrId el_add_once(Elab *el, IrNode node, const char *part, Span span)
{
    ElOnce *once = &el->once;
    if (node.kind == IR_K_VALUE || node.kind == IR_K_VECTOR || node.kind == IR_K_TABLE) {
        node.grid = -1;
    }
    if (once->size <= el->g->nodes.n) {
        grow(el);
    }
    while (once->hash.n < el->g->nodes.n) {
        take_in(el, hash_node(&el->g->nodes.at[once->hash.n]), once->hash.n);
    }
    for (IrId i = *latest(once, hash_node(&node)); i > 0; i = once->before.at[i]) {
        const IrNode *have = &el->g->nodes.at[i];
        if (have->loop == el->loop && el->lies.at[i] == node.grid && same_node(have, &node)) {
            return i;
        }
    }
    return el_add(el, node, part, span);
}
