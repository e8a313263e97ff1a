/* footprint: one walk over an expression, with the bounds of the folds around each read. */
#include "footprint.h"
#include "function.h"

#include "edit.h"

typedef struct Bound {
    int index;
    IrExpr lo, hi;
} Bound;

typedef struct Walk {
    IrGraph *g;
    IrFootprint *fp;
    Bound bounds[64];
    int n_bounds;
    int weight;
    IrPassed passed;
} Walk;

static IrReach *reach_of(Walk *w, IrId node)
{
    IrFootprint *fp = w->fp;
    for (int i = 0; i < fp->reach.n; i++) {
        if (fp->reach.at[i].node == node) {
            return &fp->reach.at[i];
        }
    }
    IrExpr zero = ir_const(w->g, 0);
    IrReach r = {.node = node, .lo = {zero, zero, zero}, .hi = {zero, zero, zero}};
    vec_push(w->g->arena, &fp->reach, r);
    return &fp->reach.at[fp->reach.n - 1];
}

typedef struct Substitution {
    const Walk *walk;
    bool high;
} Substitution;

static IrExpr bind_index(IrGraph *g, IrExpr e, void *ctx)
{
    const Substitution *s = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_INDEX) {
        return ir_made_anew(g, e); /* ranks and constants are right again */
    }
    for (int i = 0; i < s->walk->n_bounds; i++) {
        if (s->walk->bounds[i].index == (int)n->num) {
            return s->high ? s->walk->bounds[i].hi : s->walk->bounds[i].lo;
        }
    }
    return e;
}

/* The offset at both ends of every index, and so (affine) its smallest and largest value. */
static void widen(Walk *w, IrExpr offset, IrExpr *lo, IrExpr *hi)
{
    IrExpr end[2] = {offset, offset};
    for (int k = 0; k < 2 && ir_expr(w->g, offset)->rank > IR_HOST; k++) {
        Substitution s = {w, k == 1};
        end[k] = ir_rewrite(w->g, offset, bind_index, &s);
    }
    for (int k = 0; k < 2; k++) {
        *lo = ir_op2(w->g, IR_X_MIN, *lo, end[k]);
        *hi = ir_op2(w->g, IR_X_MAX, *hi, end[k]);
    }
}

static void visit(Walk *w, IrExpr e);

static void visit_read(Walk *w, IrExprNode n)
{
    const IrExpr offset[3] = {n.a, n.b, n.c};
    IrReach *r = reach_of(w, n.node);
    r->taps += w->weight;
    r->channel = r->channel || n.channel != 0;
    for (int ax = 0; ax < 3; ax++) {
        if (offset[ax] == 0) {
            continue;
        }
        if (n.op == IR_X_READAT) {
            r->whole = true;
            visit(w, offset[ax]);
        } else {
            IrExpr lo = r->lo[ax], hi = r->hi[ax];
            widen(w, offset[ax], &lo, &hi);
            r = reach_of(w, n.node);
            r->lo[ax] = lo;
            r->hi[ax] = hi;
            r->offset = true;
            r->wraps = r->wraps || (ax > 0 && n.border == IR_WRAP);
            r->reflects = r->reflects || (ax > 0 && (n.border == IR_REFLECT || n.border == IR_MIRROR));
        }
    }
    visit(w, n.channel);
}

static void visit_fold(Walk *w, IrExprNode n)
{
    int weight = w->weight, around = ir_pass_into(&w->passed);
    if (w->n_bounds < 64) {
        w->bounds[w->n_bounds++] = (Bound){(int)n.num, n.b, n.c};
    }
    w->weight = weight < 4096 ? 8 * weight : weight;
    w->fp->ops += n.fold == IR_FOLD_BLEND ? w->weight : 0; /* a product */
    visit(w, n.a);
    visit(w, n.where);
    w->weight = weight;
    w->n_bounds--;
    w->passed.fold = around;
    visit(w, n.nth);
}

static void visit(Walk *w, IrExpr e)
{
    if (e == 0) {
        return;
    }
    const IrExprNode n = *ir_expr(w->g, e);
    if (n.rank <= IR_INDEX || ir_passed(w->g, &w->passed, e)) {
        return;
    }
    w->fp->ops += n.op == IR_X_CALL ? w->weight * ir_call_ops(w->g, &n) : ir_expr_op_arity(n.op) > 0 ? w->weight : 0;
    switch (n.op) {
    case IR_X_READ:
    case IR_X_READAT:
        visit_read(w, n);
        break;
    case IR_X_FOLD:
        visit_fold(w, n);
        break;
    case IR_X_COORD:
        w->fp->coords = true;
        break;
    case IR_X_VALUE:
    case IR_X_LOOKUP: {
        IrReach *r = reach_of(w, n.node);
        r->whole = true;
        r->taps += w->weight;
        visit(w, n.a);
        break;
    }
    default:
        visit(w, n.a);
        visit(w, n.b);
        visit(w, n.c);
    }
}

IrFootprint ir_footprint(IrGraph *g, IrExpr e)
{
    IrFootprint fp = {.coords = false};
    Walk w = {.g = g, .fp = &fp, .weight = 1};
    visit(&w, e);
    return fp;
}

const IrReach *ir_reach(const IrFootprint *fp, IrId node)
{
    for (int i = 0; i < fp->reach.n; i++) {
        if (fp->reach.at[i].node == node) {
            return &fp->reach.at[i];
        }
    }
    return NULL;
}

/* A read of one channel is over the grid without the channel axis. */
static int grid_of_first_read(IrGraph *g, IrExpr e)
{
    if (e == 0) {
        return -1;
    }
    const IrExprNode n = *ir_expr(g, e);
    if (n.op == IR_X_READ || n.op == IR_X_READAT) {
        IrGrid grid = g->grids.at[ir_node(g, n.node)->grid];
        if (n.channel != 0) {
            grid.extent[IR_AX_C] = 0;
            grid.has[IR_AX_C] = false;
        }
        return ir_add_grid(g, grid);
    }
    const IrExpr child[] = {n.a, n.b, n.c, n.nth};
    for (size_t i = 0; i < sizeof child / sizeof *child; i++) {
        int grid = grid_of_first_read(g, child[i]);
        if (grid >= 0) {
            return grid;
        }
    }
    return -1;
}

int ir_domain(IrGraph *g, IrId node)
{
    const IrNode *n = ir_node(g, node);
    int grid = n->grid;
    for (int i = 0; i < NODE_INPUTS && grid < 0; i++) {
        grid = grid_of_first_read(g, n->in[i]);
        n = ir_node(g, node);
    }
    return grid < 0 && n->of != 0 ? ir_node(g, n->of)->grid : grid;
}
