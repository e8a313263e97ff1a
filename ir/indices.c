/*
 * indices: bottom-up, each expression once.  A fold binds its index in what it folds, not in its
 * bounds, and a rank the number of its elements.
 */
#include "indices.h"

#include <string.h>

static bool has_index(const IrIndices *f, int index)
{
    for (int i = 0; i < f->n; i++) {
        if (f->at[i] == index) {
            return true;
        }
    }
    return false;
}

/* `to` also uses what `from` uses, without `bound`. */
static void unite(const IrGraph *g, IrIndices *to, const IrIndices *from, int bound)
{
    int *at = arena_array(g->arena, int, to->n + from->n + 1);
    if (to->n > 0) {
        memcpy(at, to->at, sizeof *at * (size_t)to->n);
    }
    to->at = at;
    for (int i = 0; i < from->n; i++) {
        if (from->at[i] != bound && !has_index(to, from->at[i])) {
            at[to->n++] = from->at[i];
        }
    }
}

enum { NO_INDEX = -2 };

static const IrIndices *find(IrGraph *g, IrExpr e)
{
    static const IrIndices NONE = {.known = true};
    IrIndices *f = g->free_indices.at[e];
    if (e == 0 || f != NULL) {
        return e == 0 ? &NONE : f;
    }
    f = g->free_indices.at[e] = arena_new(g->arena, IrIndices);
    const IrExprNode *n = ir_expr(g, e);
    bool folds = n->op == IR_X_FOLD;
    int own = folds ? (int)n->num : NO_INDEX;
    const struct {
        IrExpr e;
        int bound;
    } child[] = {{n->a, own},       {n->b, NO_INDEX}, {n->c, NO_INDEX}, {n->channel, own},
                 {n->outside, own}, {n->where, own},  {n->weight, own}, {n->nth, IR_COUNT_INDEX}};
    IrIndices sum = {.known = true};
    if (n->op == IR_X_INDEX) {
        unite(g, &sum, &(IrIndices){.n = 1, .at = (int[]){(int)n->num}}, NO_INDEX);
    }
    for (size_t i = 0; i < sizeof child / sizeof *child; i++) {
        const IrIndices *inner = find(g, child[i].e);
        if (inner->n > 0) {
            unite(g, &sum, inner, child[i].bound);
        }
    }
    *f = sum;
    return f;
}

const IrIndices *ir_free_indices(const IrGraph *g, IrExpr e)
{
    IrGraph *own = (IrGraph *)(uintptr_t)g; /* what is looked at stays what it is */
    while (own->free_indices.n < g->exprs.n) {
        vec_push(g->arena, &own->free_indices, NULL);
    }
    return find(own, e);
}
