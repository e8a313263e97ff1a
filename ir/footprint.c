/* footprint: one walk over an expression, with the bounds of the folds around each read. */
#include "footprint.h"
#include "function.h"

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

/* ---- how far an offset goes -------------------------------------------------------------- */

static bool ends_of(const Walk *w, IrExpr e, IrEnds *ends);

static IrEnds apply(IrGraph *g, IrExprOp op, IrEnds a)
{
    return (IrEnds){ir_op1(g, op, a.lo), ir_op1(g, op, a.hi)};
}

static IrEnds apply_both(IrGraph *g, IrExprOp op, IrEnds a, IrEnds b)
{
    return (IrEnds){ir_op2(g, op, a.lo, b.lo), ir_op2(g, op, a.hi, b.hi)};
}

static IrEnds united(IrGraph *g, IrEnds a, IrEnds b)
{
    return (IrEnds){ir_op2(g, IR_X_MIN, a.lo, b.lo), ir_op2(g, IR_X_MAX, a.hi, b.hi)};
}

/* Of what is monotonous in both operands where the other one stays: the smallest and the largest of the corners. */
static IrEnds of_corners(IrGraph *g, IrExprOp op, IrEnds a, IrEnds b)
{
    const IrEnds one = apply_both(g, op, a, b), other = apply_both(g, op, a, (IrEnds){b.hi, b.lo});
    return united(g, (IrEnds){ir_op2(g, IR_X_MIN, one.lo, one.hi), ir_op2(g, IR_X_MAX, one.lo, one.hi)},
                  (IrEnds){ir_op2(g, IR_X_MIN, other.lo, other.hi), ir_op2(g, IR_X_MAX, other.lo, other.hi)});
}

static IrEnds numbers(IrGraph *g, double lo, double hi)
{
    return (IrEnds){ir_const(g, lo), ir_const(g, hi)};
}

/* The ends of a fold's range may follow from the indices around it. */
static bool ends_of_index(const Walk *w, int index, IrEnds *ends)
{
    for (int i = w->n_bounds - 1; i >= 0; i--) {
        if (w->bounds[i].index == index) {
            IrEnds lo, hi;
            bool known = ends_of(w, w->bounds[i].lo, &lo) && ends_of(w, w->bounds[i].hi, &hi);
            *ends = known ? (IrEnds){lo.lo, hi.hi} : *ends;
            return known;
        }
    }
    return false;
}

static bool ends_of_one(IrGraph *g, IrExprOp op, IrEnds a, IrEnds *ends)
{
    switch (op) {
    case IR_X_NEG:
        *ends = (IrEnds){ir_op1(g, op, a.hi), ir_op1(g, op, a.lo)};
        return true;
    case IR_X_ABS:
        *ends =
            united(g, numbers(g, 0, 0), united(g, a, (IrEnds){ir_op1(g, IR_X_NEG, a.hi), ir_op1(g, IR_X_NEG, a.lo)}));
        return true;
    case IR_X_FLOOR:
    case IR_X_CEIL:
    case IR_X_ROUND:
    case IR_X_TRUNC:
    case IR_X_SQRT:
    case IR_X_EXP:
        *ends = apply(g, op, a);
        return true;
    case IR_X_SIN:
    case IR_X_COS:
    case IR_X_SIGN:
        *ends = numbers(g, -1, 1);
        return true;
    default:
        return false;
    }
}

static bool ends_of_two(IrGraph *g, IrExprOp op, IrEnds a, IrEnds b, IrEnds *ends)
{
    double by;
    switch (op) {
    case IR_X_ADD:
    case IR_X_MIN:
    case IR_X_MAX:
        *ends = apply_both(g, op, a, b);
        return true;
    case IR_X_SUB:
        *ends = apply_both(g, op, a, (IrEnds){b.hi, b.lo});
        return true;
    case IR_X_MUL:
        *ends = of_corners(g, op, a, b);
        return true;
    case IR_X_DIV:
    case IR_X_FLOORDIV:
        *ends = of_corners(g, op, a, b);
        return b.lo == b.hi; /* never through 0 */
    case IR_X_MOD:
        *ends = numbers(g, 0, 0);
        ends->hi = b.hi;
        return ir_is_const(g, b.lo, &by) && by > 0;
    default:
        return false;
    }
}

/* The smallest and the largest value that a host or index expression may have, as host expressions; false: not known. */
static bool ends_of(const Walk *w, IrExpr e, IrEnds *ends)
{
    IrGraph *g = w->g;
    const IrExprNode n = *ir_expr(g, e);
    IrEnds a, b;
    if (n.rank <= IR_HOST) {
        *ends = (IrEnds){e, e};
        return true;
    }
    if (n.op == IR_X_INDEX) {
        return ends_of_index(w, (int)n.num, ends);
    }
    if (n.type == ELEM_BOOL || (n.op == IR_X_CAST && ir_expr(g, n.a)->type == ELEM_BOOL)) {
        *ends = numbers(g, 0, 1);
        return true;
    }
    if (n.op == IR_X_SELECT) {
        bool known = ends_of(w, n.b, &a) && ends_of(w, n.c, &b);
        *ends = known ? united(g, a, b) : *ends;
        return known;
    }
    switch (ir_expr_op_arity(n.op)) {
    case 1:
        return ends_of(w, n.a, &a) && ends_of_one(g, n.op, a, ends);
    case 2:
        return ends_of(w, n.a, &a) && ends_of(w, n.b, &b) && ends_of_two(g, n.op, a, b, ends);
    default:
        return false;
    }
}

/* False: it may go anywhere. */
static bool widen(const Walk *w, IrExpr offset, IrExpr *lo, IrExpr *hi)
{
    IrEnds ends;
    if (!ends_of(w, offset, &ends)) {
        return false;
    }
    *lo = ir_op2(w->g, IR_X_MIN, *lo, ends.lo);
    *hi = ir_op2(w->g, IR_X_MAX, *hi, ends.hi);
    return true;
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
            bool known = widen(w, offset[ax], &lo, &hi);
            r = reach_of(w, n.node);
            r->whole = r->whole || !known;
            r->lo[ax] = lo;
            r->hi[ax] = hi;
            r->offset = true;
            r->wraps = r->wraps || (ax > 0 && n.border == BORDER_WRAP);
            r->reflects = r->reflects || (ax > 0 && (n.border == BORDER_REFLECT || n.border == BORDER_MIRROR));
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
