/*
 * hoist: loop-invariant folds, and functions that take long, are computed in front of the loop.  What clips a stack by its
 * median reads the median in a sum over the planes; left there, it is sorted once for each plane.  Compilers move neither a
 * loop out of another nor what branches, as sines and quotients do.
 */
#include "kernel.h"

#include "../ir/apply.h"
#include "../ir/indices.h"

#include <ctype.h>

const char *cg_recall(const CgMemo *memo, int n, IrExpr e)
{
    for (int i = n - 1; i >= 0; i--) {
        if (memo[i].e == e) {
            return memo[i].text;
        }
    }
    return NULL;
}

typedef struct Turns {
    CgContext *cx;
    IrExpr fold;  /* whose loops are about to be opened */
    Vec(int) own; /* indices that the loops of that fold run over */
    Vec(IrExpr) invariant;
} Turns;

static bool is_own(const Turns *t, int index)
{
    bool own = false;
    for (int i = 0; i < t->own.n; i++) {
        own = own || t->own.at[i] == index;
    }
    return own;
}

/* What takes long for a pixel in the body, and knows all its indices before the loops are opened. */
static void note_invariant(const IrGraph *g, IrExpr e, void *ctx)
{
    Turns *t = ctx;
    const IrExprNode *n = ir_expr(g, e);
    const bool takes_long = n->op == IR_X_FOLD || ir_op_is_costly(n->op);
    if (!takes_long || n->rank != IR_PIXEL || e == t->fold) {
        return;
    }
    const IrIndices *needed = ir_free_indices(t->cx->k->g, e);
    for (int i = 0; i < needed->n; i++) {
        int index = needed->at[i];
        if (index < 0 || is_own(t, index) || cg_loop_of(t->cx, index) == NULL) {
            return;
        }
    }
    vec_push(t->cx->k->arena, &t->invariant, e);
}

static bool is_name(const char *text)
{
    const char *c = text;
    while (isalnum((unsigned char)*c) || *c == '_') {
        c++;
    }
    return *c == '\0';
}

void cg_hoist(CgContext *cx, IrExpr fold)
{
    CgKernel *k = cx->k;
    Turns t = {.cx = cx, .fold = fold};
    IrExprNode n = *ir_expr(k->g, fold);
    vec_push(k->arena, &t.own, (int)n.num);
    while (n.flat) {
        n = *ir_expr(k->g, n.a);
        vec_push(k->arena, &t.own, (int)n.num);
    }
    ir_walk(k->g, n.a, note_invariant, &t);
    for (int i = 0; i < t.invariant.n; i++) {
        if (cg_recall(cx->memo.at, cx->memo.n, t.invariant.at[i]) == NULL) {
            const IrExprNode e = *ir_expr(k->g, t.invariant.at[i]);
            const char *text = cg_expr(cx, t.invariant.at[i]);
            text = is_name(text) ? text : cg_name_value(cx, cg_text_type(cx, &e), text);
            vec_push(k->arena, &cx->memo, (CgMemo){t.invariant.at[i], text});
        }
    }
}
