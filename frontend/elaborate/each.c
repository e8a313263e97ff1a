/*
 * each: the element of a comprehension, as one expression of the indices or as one for each of them.
 *
 * Where the index cannot stand for itself, because a stage would depend on it (gaussian(v, i), label(v > i)), the
 * element is elaborated for each index, and the fold picks (passes/unroll.c makes operators of that).  So it is where
 * a window's size depends on the index, if these are few: as one window it would be the largest of them each time.
 */
#include "ranges.h"

#include <math.h>

enum { MOST_FOR_EACH = 64, MOST_WINDOWS = 16 };

/* How far the graph and what was said of it had come. */
typedef struct Mark {
    int nodes, lies, anonymous, loops, graph_grids, grids, functions, compiled, folds;
    Diags diags;
} Mark;

static Mark mark(const Elab *el)
{
    return (Mark){el->g->nodes.n, el->lies.n,         el->anonymous.n, el->g->loops.n, el->g->grids.n,
                  el->grids.n,    el->g->functions.n, el->compiled.n,  el->folds.n,    *el->diags};
}

static void rewind_to(Elab *el, const Mark *m)
{
    el->g->nodes.n = m->nodes;
    el_forget_nodes(el, m->nodes);
    el->lies.n = m->lies;
    el->anonymous.n = m->anonymous;
    el->g->loops.n = m->loops;
    el->g->grids.n = m->graph_grids;
    el->grids.n = m->grids;
    el->g->functions.n = m->functions;
    el->compiled.n = m->compiled;
    el->folds.n = m->folds;
    diags_rewind(el->diags, &m->diags);
}

/* The ranges as numbers, and how many combinations they have; 0: that is not known, or they are too many. */
static int combinations(const Elab *el, const Ranges *r, double *lo, int *count)
{
    double all = 1, copies = el->copies > 0 ? el->copies : 1;
    for (int i = 0; i < r->n; i++) {
        double hi;
        if (!ir_is_const(el->g, r->fold[i].lo, &lo[i]) || !ir_is_const(el->g, r->fold[i].hi, &hi)) {
            return 0;
        }
        lo[i] = ceil(lo[i]);
        all *= floor(hi) - lo[i] + 1;
        if (!(all * copies <= MOST_FOR_EACH)) {
            return 0;
        }
        count[i] = (int)(floor(hi) - lo[i]) + 1;
    }
    return (int)all;
}

/* Which combination the indices are, the last one running fastest. */
static IrExpr combination(Elab *el, const Ranges *r, const double *lo, const int *count)
{
    IrGraph *g = el->g;
    IrExpr at = ir_const(g, 0);
    for (int i = 0; i < r->n; i++) {
        IrExpr own = ir_op2(g, IR_X_SUB, ir_index(g, r->fold[i].index), ir_const(g, lo[i]));
        at = ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_MUL, at, ir_const(g, count[i])), own);
    }
    return at;
}

/* The expression with numbers for the indices. */
static Val at_combination(Elab *el, const AstExpr *e, const Ranges *r, const double *lo, const int *count, int which)
{
    Scope *around = el_push(el, el->scope);
    for (int i = r->n - 1; i >= 0; i--) {
        double value = lo[i] + which % count[i];
        which /= count[i];
        el_bind(el, r->of[i]->name, r->of[i]->span, el_number(el, value), BIND_LOCAL);
    }
    Val v = el_expr(el, e);
    el->scope = around;
    return v;
}

/* The expression for each combination, of which the indices pick one. */
static Val for_each(Elab *el, const AstExpr *e, const Ranges *r, const double *lo, const int *count, int n)
{
    Val *each = arena_array(el->arena, Val, n);
    int copies = el->copies;
    bool fine = true;
    el->copies = n * (copies > 0 ? copies : 1);
    for (int i = 0; i < n && fine; i++) {
        each[i] = at_combination(el, e, r, lo, count, i);
        fine = !el_is_bad(each[i]);
    }
    el->copies = copies;
    if (!fine) {
        return el_err();
    }
    Val at = el_host(combination(el, r, lo, count)), picked = each[n - 1];
    for (int i = n - 2; i >= 0; i--) {
        Val here = el_op2(el, IR_X_LE, at, el_number(el, i), e->span);
        picked = el_select(el, here, each[i], picked, e->span);
    }
    return picked;
}

/* What is folded: an expression of the indices where it can be one. */
Val el_body(Elab *el, const AstExpr *e, Ranges *r)
{
    double lo[MAX_INDICES];
    int count[MAX_INDICES];
    const Mark before = mark(el);
    Val body = el_expr(el, e);
    bool failed = el->diags->errors > before.diags.errors, must = r->staged || failed;
    int n = r->n > 0 && (must || r->sizes) ? combinations(el, r, lo, count) : 0;
    if (n > 0 && (must || n <= MOST_WINDOWS)) {
        rewind_to(el, &before);
        r->staged = r->sizes = false;
        el->ranges = r->outer;
        body = for_each(el, e, r, lo, count, n);
        el->ranges = r;
    } else if (r->staged && !failed) {
        Diag *d = el_error(el, STAGE_FOR_EACH_INDEX, e->span, r->of[0]->name, MOST_FOR_EACH);
        diag_help(el->diags, d, "write the ends as numbers: for %s in 1 .. 4", r->of[0]->name);
        return el_err();
    }
    return body;
}
