/*
 * unroll: a fold whose element is another stage at each index becomes operators.
 *
 * max(filter(v, s) for s in 1 .. 4) is a fold over s of a choice among four stages, by which the elaborator says what
 * depends on an index (frontend/elaborate/fold.c).  As a loop the choice is made for each pixel, with all four in
 * it.  As max(max(max(a, b), c), d) each stage is one that kernels can be made of as of any other.  Ranks and
 * modes need their elements together and stay.
 *
 * For example, where %1 is an image,
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 add(%1[x = -1], %1[x = 1])
 *     %3 b = map : image f32 grid 0
 *         in 0 add(%1[y = -1], %1[y = 1])
 *     %4 c = map : image f32 grid 0
 *         in 0 max(#0 in 0 .. 1, select(le(#0, 0), %2, %3))
 *     output c = %4 as tif
 *
 * becomes
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 add(%1[x = -1], %1[x = 1])
 *     %3 b = map : image f32 grid 0
 *         in 0 add(%1[y = -1], %1[y = 1])
 *     %4 c = map : image f32 grid 0
 *         in 0 max(%2, %3)
 *     output c = %4 as tif
 */
#include "pass.h"

#include "../ir/edit.h"

enum { MOST_UNROLLED = 64 }; /* as many as the elaborator makes */

typedef struct Unroll {
    IrGraph *g;
    int index; /* that gets a number */
    double value;
    IrExpr sum; /* what has been combined so far; 0: nothing */
    bool fits;
} Unroll;

/* ---- which folds ------------------------------------------------------------------------- */

typedef struct Choices {
    int found;  /* that depend on indices alone */
    bool hides; /* a fold in it has the same index */
    int index;
} Choices;

static void look_for_choice(const IrGraph *g, IrExpr e, void *ctx)
{
    Choices *c = ctx;
    const IrExprNode *n = ir_expr(g, e);
    c->found += n->op == IR_X_SELECT && n->rank == IR_PIXEL && ir_expr(g, n->a)->rank == IR_INDEX;
    c->hides = c->hides || (n->op == IR_X_FOLD && (int)n->num == c->index);
}

/* How many elements there are; 0: too many, or a number that only a run knows. */
static double elements(const IrGraph *g, IrExpr fold)
{
    const IrExprNode *n = ir_expr(g, fold);
    double lo, hi, inside = n->flat ? elements(g, n->a) : 1;
    Choices c = {.index = (int)n->num};
    ir_walk(g, n->a, look_for_choice, &c);
    bool known = ir_is_const(g, n->b, &lo) && ir_is_const(g, n->c, &hi) && hi >= lo && !c.hides;
    return known ? inside * (hi - lo + 1) : 0;
}

static bool is_choice(const IrGraph *g, IrExpr fold)
{
    const IrExprNode *n = ir_expr(g, fold);
    if (n->op != IR_X_FOLD || n->rank != IR_PIXEL || n->fold >= IR_FOLD_BLEND) {
        return false;
    }
    Choices c = {.index = -1};
    ir_walk(g, n->a, look_for_choice, &c);
    double all = c.found > 0 ? elements(g, fold) : 0;
    return all > 0 && all <= MOST_UNROLLED;
}

/* ---- one after the other ----------------------------------------------------------------- */

static IrExpr with_number(IrGraph *g, IrExpr e, void *ctx)
{
    const Unroll *u = ctx;
    IrExprNode n = *ir_expr(g, e);
    double known;
    if (n.op == IR_X_INDEX && (int)n.num == u->index) {
        return ir_const(g, u->value);
    }
    if (n.op == IR_X_SELECT && ir_is_const(g, n.a, &known)) {
        return known != 0 ? n.b : n.c;
    }
    ir_derive(g, &n); /* it may depend on less now */
    return ir_made_anew(g, ir_intern(g, n));
}

static IrExpr at_number(Unroll *u, IrExpr e)
{
    return ir_rewrite(u->g, e, with_number, u);
}

/* Sums begin with 0, which makes -0 one; with what the others begin nothing changes. */
static IrExpr combined(Unroll *u, const IrExprNode *fold)
{
    static const IrExprOp BY[] = {[IR_FOLD_SUM] = IR_X_ADD, [IR_FOLD_PROD] = IR_X_MUL, [IR_FOLD_MIN] = IR_X_MIN,
                                  [IR_FOLD_MAX] = IR_X_MAX, [IR_FOLD_ANY] = IR_X_OR,   [IR_FOLD_ALL] = IR_X_AND};
    const IrExprNode body = *ir_expr(u->g, fold->a);
    IrExpr so_far = u->sum == 0 && fold->fold == IR_FOLD_SUM ? ir_const_typed(u->g, 0, fold->type) : u->sum;
    if (fold->fused && body.op == IR_X_MUL) {
        return ir_op3(u->g, IR_X_FMA, at_number(u, body.a), at_number(u, body.b), so_far);
    }
    IrExpr element = at_number(u, fold->a);
    return so_far == 0 ? element : ir_op2(u->g, BY[fold->fold], so_far, element);
}

static void run_through(Unroll *u, IrExprNode n)
{
    double lo, hi, counts = 1;
    u->fits = u->fits && ir_is_const(u->g, n.b, &lo) && ir_is_const(u->g, n.c, &hi);
    for (double i = u->fits ? lo : 1; u->fits && i <= hi; i++) {
        u->index = (int)n.num;
        u->value = i;
        if (n.flat) {
            run_through(u, *ir_expr(u->g, at_number(u, n.a)));
        } else if (n.where != 0 && !ir_is_const(u->g, at_number(u, n.where), &counts)) {
            u->fits = false;
        } else if (counts != 0) {
            u->sum = combined(u, &n);
        }
    }
}

/* What the fold becomes; 0: it stays. */
static IrExpr unrolled(IrGraph *g, IrExpr fold)
{
    Unroll u = {.g = g, .fits = true};
    run_through(&u, *ir_expr(g, fold));
    return u.fits ? u.sum : 0;
}

/* ---- in an expression -------------------------------------------------------------------- */

typedef struct Found {
    Arena *arena;
    Vec(IrExpr) folds, inner; /* choices; those with which the fold around goes on */
} Found;

static void look_for_fold(const IrGraph *g, IrExpr e, void *ctx)
{
    Found *f = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (is_choice(g, e)) {
        vec_push(f->arena, &f->folds, e);
    }
    if (n->op == IR_X_FOLD && n->flat) {
        vec_push(f->arena, &f->inner, n->a);
    }
}

/* The first of its folds that can be; 0: none can. */
static IrExpr unroll_one(IrGraph *g, IrExpr e)
{
    Found f = {.arena = g->arena};
    ir_walk(g, e, look_for_fold, &f);
    for (int i = 0; i < f.folds.n; i++) {
        bool alone = true;
        for (int k = 0; k < f.inner.n; k++) {
            alone = alone && f.inner.at[k] != f.folds.at[i];
        }
        const IrExpr by = alone ? unrolled(g, f.folds.at[i]) : 0;
        if (by != 0) {
            return ir_replace_part(g, e, f.folds.at[i], by);
        }
    }
    return 0;
}

bool pass_unroll(IrGraph *g, PassContext *cx)
{
    (void)cx;
    bool any = false;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        for (int i = 0; i < NODE_INPUTS && !ir_node(g, id)->dead; i++) {
            for (IrExpr e = ir_node(g, id)->in[i]; e != 0 && (e = unroll_one(g, e)) != 0; any = true) {
                ir_node(g, id)->in[i] = e;
            }
        }
    }
    return any;
}
