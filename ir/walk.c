/*
 * walk: every expression below another one, each once, children first.
 *
 * What was visited is known by a stamp in an array with an entry for each expression.  Walks are many and
 * most of them short, so that the arrays stay with the graph and are not cleared: each walk has a stamp of its own.
 * One that is started by the visit of another takes the next array.
 */
#include "ir.h"

#include <assert.h>

enum { MOST_NESTED = 32 };

typedef struct Level {
    uint32_t stamp;    /* of the walk that has it */
    uint32_t *visited; /* by expression: the stamp of the last walk that came by */
    IrExpr *to;        /* what it became then */
    int cap;
} Level;

struct IrScratch {
    Level level[MOST_NESTED];
    int depth;
};

static Level *enter(IrGraph *g)
{
    if (g->scratch == NULL) {
        g->scratch = arena_new(g->arena, struct IrScratch);
    }
    assert(g->scratch->depth < MOST_NESTED);
    Level *l = &g->scratch->level[g->scratch->depth++];
    if (l->cap < g->exprs.n || l->stamp == UINT32_MAX) {
        l->cap = 2 * g->exprs.n;
        l->visited = arena_array(g->arena, uint32_t, l->cap);
        l->to = arena_array(g->arena, IrExpr, l->cap);
        l->stamp = 0;
    }
    l->stamp++;
    return l;
}

static void leave(IrGraph *g)
{
    g->scratch->depth--;
}

static void walk(const IrGraph *g, IrExpr e, Level *l, void (*visit)(const IrGraph *, IrExpr, void *), void *ctx)
{
    if (e == 0 || l->visited[e] == l->stamp) {
        return;
    }
    l->visited[e] = l->stamp;
    const IrExprNode n = *ir_expr(g, e);
    for (int i = 0; i < IR_CHILDREN; i++) {
        walk(g, n.child[i], l, visit, ctx);
    }
    visit(g, e, ctx);
}

void ir_walk(const IrGraph *g, IrExpr e, void (*visit)(const IrGraph *g, IrExpr e, void *ctx), void *ctx)
{
    IrGraph *own = (IrGraph *)(uintptr_t)g; /* what is looked at stays what it is */
    if (e != 0) {
        walk(g, e, enter(own), visit, ctx);
        leave(own);
    }
}

static bool any(const IrGraph *g, IrExpr e, Level *l, IrIs *is, const void *ctx)
{
    if (e == 0 || l->visited[e] == l->stamp) {
        return false;
    }
    l->visited[e] = l->stamp;
    const IrExprNode n = *ir_expr(g, e);
    for (int i = 0; i < IR_CHILDREN; i++) {
        if (any(g, n.child[i], l, is, ctx)) {
            return true;
        }
    }
    return is(g, e, ctx);
}

bool ir_any(const IrGraph *g, IrExpr e, IrIs *is, const void *ctx)
{
    IrGraph *own = (IrGraph *)(uintptr_t)g;
    bool found = e != 0 && any(g, e, enter(own), is, ctx);
    if (e != 0) {
        leave(own);
    }
    return found;
}

static bool sorts(const IrGraph *g, IrExpr e, const void *ctx)
{
    (void)ctx;
    return ir_sorts(ir_expr(g, e));
}

bool ir_any_sorts(const IrGraph *g, IrExpr e)
{
    return ir_any(g, e, sorts, NULL);
}

static IrExpr rewrite(IrGraph *g, IrExpr e, Level *l, IrRewrite visit, void *ctx)
{
    if (e == 0 || l->visited[e] == l->stamp) {
        return e == 0 ? 0 : l->to[e];
    }
    IrExprNode n = *ir_expr(g, e);
    for (int i = 0; i < IR_CHILDREN; i++) {
        n.child[i] = rewrite(g, n.child[i], l, visit, ctx);
    }
    IrExpr rebuilt = visit(g, ir_intern(g, n), ctx);
    l->visited[e] = l->stamp;
    l->to[e] = rebuilt;
    return rebuilt;
}

IrExpr ir_rewrite(IrGraph *g, IrExpr e, IrRewrite visit, void *ctx)
{
    if (e == 0) {
        return 0;
    }
    /* Only expressions that exist now are visited, so that the arrays need not grow. */
    IrExpr rebuilt = rewrite(g, e, enter(g), visit, ctx);
    leave(g);
    return rebuilt;
}

enum { MANY_STEPS = 1 << 14 };

bool ir_passed(IrGraph *g, IrPassed *p, IrExpr e)
{
    if (++p->steps < MANY_STEPS) {
        return false;
    }
    if (p->in == NULL) {
        p->cap = g->exprs.n;
        p->in = arena_array(g->arena, int, p->cap);
    }
    p->steps = MANY_STEPS;
    bool known = (int)e < p->cap, passed = known && p->in[e] == p->fold + 1;
    if (known) {
        p->in[e] = p->fold + 1;
    }
    return passed;
}

int ir_pass_into(IrPassed *p)
{
    int around = p->fold;
    p->fold = ++p->n_folds;
    return around;
}
