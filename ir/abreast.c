/* abreast: which folds stand beside one another in an expression. */
#include "abreast.h"

enum { MOST_FOLDS = 32 };

typedef struct Walk {
    Arena *arena;
    IrFolds folds, inner; /* all, and those in the body of another one */
} Walk;

static void note_inner(const IrGraph *g, IrExpr e, void *ctx)
{
    Walk *w = ctx;
    if (ir_expr(g, e)->op == IR_X_FOLD) {
        vec_push(w->arena, &w->inner, e);
    }
}

static void note_fold(const IrGraph *g, IrExpr e, void *ctx)
{
    Walk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_FOLD && n->rank == IR_PIXEL && w->folds.n <= MOST_FOLDS) {
        vec_push(w->arena, &w->folds, e);
        ir_walk(g, n->a, note_inner, w);
    }
}

static bool is_among(const IrFolds *folds, IrExpr e)
{
    bool found = false;
    for (int i = 0; i < folds->n; i++) {
        found = found || folds->at[i] == e;
    }
    return found;
}

IrFolds ir_outer_folds(const IrGraph *g, Arena *arena, IrExpr e)
{
    Walk w = {.arena = arena};
    IrFolds outer = {0};
    ir_walk(g, e, note_fold, &w);
    for (int i = 0; i < w.folds.n && w.folds.n <= MOST_FOLDS; i++) {
        bool combines = ir_expr(g, w.folds.at[i])->fold < IR_FOLD_BLEND;
        if (combines && !is_among(&w.inner, w.folds.at[i])) {
            vec_push(arena, &outer, w.folds.at[i]);
        }
    }
    return outer;
}

bool ir_same_loops(const IrGraph *g, IrExpr p, IrExpr q)
{
    const IrExprNode *m = ir_expr(g, p), *n = ir_expr(g, q);
    bool same = m->num == n->num && m->b == n->b && m->c == n->c && m->where == n->where && m->flat == n->flat;
    return same && (!m->flat || ir_same_loops(g, m->a, n->a));
}
