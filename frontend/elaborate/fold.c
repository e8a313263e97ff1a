/*
 * fold: sum(e for j in -1 .. 1, i in -1 .. 1) and its like.
 *
 * A fold of one image at offsets, times weights that depend on one index each, is computed axis
 * by axis: the innermost index becomes a stage of its own.  For sums and blends this is what the language
 * defines the result to be (a box sum or a gaussian is separable by definition, also in its
 * rounding); for smallest and largest values it is exact.
 *
 * What is folded is one expression in which the index stands for itself, or one for each index (each.c).
 */
#include "ranges.h"

#include "../../base/hostops.h"
#include "../../ir/range.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_FACTORS = 32 };

/* ---- which indices an expression depends on -------------------------------------------- */

typedef struct Depends {
    const Fold *folds;
    int n;
    unsigned found; /* bit i: folds[i] */
} Depends;

static void find_index(const IrGraph *g, IrExpr e, void *ctx)
{
    Depends *d = ctx;
    const IrExprNode *n = ir_expr(g, e);
    for (int i = 0; i < d->n; i++) {
        if (n->op == IR_X_INDEX && (int)n->num == d->folds[i].index) {
            d->found |= 1u << i;
        }
    }
}

static unsigned depends_on(const Elab *el, IrExpr e, const Fold *folds, int n)
{
    Depends d = {.folds = folds, .n = n};
    if (e != 0) {
        ir_walk(el->g, e, find_index, &d);
    }
    return d.found;
}

/* ---- products -------------------------------------------------------------------------- */

typedef struct Factor {
    IrExpr e; /* a host expression */
    bool inverse;
} Factor;

typedef struct Product {
    Factor factor[MAX_FACTORS];
    int n;
    IrExpr read; /* the one pixel factor */
    Elem elem;   /* what it is converted to; NONE: it is not */
    bool fits;
    bool whole; /* quotients stay: a weight over the sum of all weights of its axis is one factor */
} Product;

static void add_host_factors(Elab *el, Product *p, IrExpr e, bool inverse)
{
    const IrExprNode n = *ir_expr(el->g, e);
    if (n.op == IR_X_MUL || (n.op == IR_X_DIV && !p->whole)) {
        add_host_factors(el, p, n.a, inverse);
        add_host_factors(el, p, n.b, n.op == IR_X_DIV ? !inverse : inverse);
        return;
    }
    p->fits = p->fits && p->n < MAX_FACTORS;
    if (p->fits) {
        p->factor[p->n++] = (Factor){e, inverse};
    }
}

static void add_factors(Elab *el, Product *p, IrExpr e)
{
    const IrExprNode n = *ir_expr(el->g, e);
    if (n.rank <= IR_INDEX) {
        bool cast = n.op == IR_X_CAST && n.num == 0;
        add_host_factors(el, p, cast ? n.a : e, false);
    } else if (n.op == IR_X_MUL) {
        add_factors(el, p, n.a);
        add_factors(el, p, n.b);
    } else if (n.op == IR_X_READ && p->read == 0) {
        p->read = e;
    } else if (n.op == IR_X_CAST && n.num == 0 && ir_expr(el->g, n.a)->op == IR_X_READ && p->read == 0) {
        p->read = n.a;
        p->elem = n.type;
    } else {
        p->fits = false;
    }
}

/* The product of the factors that depend on `index` (or on the others); 0 when there are none. */
static IrExpr multiply(Elab *el, const Product *p, const unsigned *depends, unsigned index, bool with)
{
    IrExpr up = 0, down = 0;
    for (int i = 0; i < p->n; i++) {
        if (((depends[i] & index) != 0) == with) {
            IrExpr *to = p->factor[i].inverse ? &down : &up;
            *to = *to == 0 ? p->factor[i].e : ir_op2(el->g, IR_X_MUL, *to, p->factor[i].e);
        }
    }
    if (down == 0) {
        return up;
    }
    return ir_op2(el->g, IR_X_DIV, up != 0 ? up : ir_const(el->g, 1), down);
}

/* ---- equal folds are one ---------------------------------------------------------------- */

/*
 * Two folds that differ only in the numbers of their indices are the same expression, so that
 * equal blurs become equal stages.  Pairs of bound indices are kept on a stack while both are
 * walked.
 */
typedef struct Alike {
    const IrGraph *g;
    double bound[2][MAX_INDICES * 2];
    int n;
    int budget;
} Alike;

enum { ALIKE_BUDGET = 20000, ALIKE_RECENT = 400 };

static bool alike(Alike *a, IrExpr p, IrExpr q);

static bool same_index(const Alike *a, double p, double q)
{
    for (int i = a->n - 1; i >= 0; i--) {
        if (a->bound[0][i] == p || a->bound[1][i] == q) {
            return a->bound[0][i] == p && a->bound[1][i] == q;
        }
    }
    return p == q;
}

static bool children_alike(Alike *a, const IrExprNode *m, const IrExprNode *n)
{
    return alike(a, m->a, n->a) && alike(a, m->b, n->b) && alike(a, m->c, n->c) && alike(a, m->channel, n->channel) &&
           alike(a, m->outside, n->outside) && alike(a, m->where, n->where) && alike(a, m->nth, n->nth) &&
           alike(a, m->weight, n->weight);
}

static bool alike(Alike *a, IrExpr p, IrExpr q)
{
    if (p == 0 || q == 0 || --a->budget < 0) {
        return p == q;
    }
    const IrExprNode *m = ir_expr(a->g, p), *n = ir_expr(a->g, q);
    if (p == q && (m->rank < IR_INDEX || a->n == 0)) {
        return true;
    }
    if (m->op != n->op || m->type != n->type || m->rank != n->rank || m->node != n->node || m->border != n->border ||
        m->fold != n->fold) {
        return false;
    }
    if (m->op == IR_X_INDEX) {
        return same_index(a, m->num, n->num);
    }
    if (m->op != IR_X_FOLD) {
        return memcmp(&m->num, &n->num, sizeof m->num) == 0 && children_alike(a, m, n);
    }
    if (a->n == MAX_INDICES * 2) {
        return false;
    }
    a->bound[0][a->n] = m->num;
    a->bound[1][a->n++] = n->num;
    bool same = children_alike(a, m, n);
    a->n--;
    return same;
}

/* A fold that was made before and is the same, or this one. */
static IrExpr made_before(Elab *el, IrExpr fold)
{
    int oldest = el->folds.n > ALIKE_RECENT ? el->folds.n - ALIKE_RECENT : 0;
    for (int i = el->folds.n - 1; i >= oldest; i--) {
        Alike a = {.g = el->g, .budget = ALIKE_BUDGET};
        if (alike(&a, fold, el->folds.at[i])) {
            return el->folds.at[i];
        }
    }
    vec_push(el->arena, &el->folds, fold);
    return fold;
}

/* ---- axis by axis ---------------------------------------------------------------------- */

/* The axis along which each index moves the read, one each; false when that is not so. */
static bool one_axis_each(Elab *el, IrExpr read, const Fold *folds, int n, int *axis)
{
    const IrExprNode r = *ir_expr(el->g, read);
    const IrExpr offset[3] = {r.a, r.b, r.c};
    unsigned seen = 0;
    for (int ax = 0; ax < 3; ax++) {
        unsigned on = depends_on(el, offset[ax], folds, n);
        if ((offset[ax] != 0 && on == 0) || (on & (on - 1)) != 0 || (on & seen) != 0) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            if (on == 1u << i) {
                axis[i] = ax;
            }
        }
        seen |= on;
    }
    bool fixed = depends_on(el, r.channel, folds, n) == 0 && depends_on(el, r.outside, folds, n) == 0;
    return fixed && seen == (1u << n) - 1;
}

static bool adds(IrFold fold)
{
    return fold == IR_FOLD_SUM || fold == IR_FOLD_BLEND;
}

static bool separable(Elab *el, IrFold fold, const Fold *folds, int n, IrExpr body, Product *p, unsigned *depends,
                      int *axis)
{
    *p = (Product){.fits = true, .whole = fold == IR_FOLD_BLEND};
    if (!adds(fold) && ir_expr(el->g, body)->op != IR_X_READ) {
        return false;
    }
    add_factors(el, p, body);
    if (!p->fits || p->read == 0 || !one_axis_each(el, p->read, folds, n, axis)) {
        return false;
    }
    unsigned inner = 1u << (n - 1);
    for (int i = 0; i < p->n; i++) {
        depends[i] = depends_on(el, p->factor[i].e, folds, n);
        if ((depends[i] & inner) != 0 && depends[i] != inner) {
            return false;
        }
    }
    return true;
}

static IrExpr read_along(Elab *el, IrId node, const IrExprNode *r, int only, int except, IrExpr channel, IrExpr outside)
{
    IrExpr offset[3] = {r->a, r->b, r->c};
    for (int ax = 0; ax < 3; ax++) {
        if ((only >= 0 && ax != only) || ax == except) {
            offset[ax] = 0;
        }
    }
    return ir_read_offset(el->g, node, offset, channel, r->border, outside);
}

static IrExpr weighted(Elab *el, IrExpr weight, IrExpr read)
{
    return weight != 0 ? ir_op2(el->g, IR_X_MUL, weight, read) : read;
}

static IrExpr plain_fold(Elab *el, IrFold fold, const Fold *f, IrExpr body)
{
    return ir_fold(el->g, fold, f->index, f->lo, f->hi, 0, 0, true, body);
}

/* One index of a fold of the pixels of an image, times weights. */
static IrExpr line_of(Elab *el, IrFold fold, const Fold *f, IrExpr weight, IrExpr read)
{
    if (fold != IR_FOLD_BLEND) {
        return plain_fold(el, fold, f, weighted(el, weight, read));
    }
    read = elem_is_integer(ir_expr(el->g, read)->type) ? ir_cast(el->g, read, ELEM_F32) : read;
    return ir_blend(el->g, f->index, f->lo, f->hi, weight != 0 ? weight : ir_const(el->g, 1), read);
}

/* What a border's value becomes; what rounding alone keeps from 0 or 1 is 0 or 1, as inside the image (base/blend.c). */
static IrExpr sum_of_weights(Elab *el, IrFold fold, const Fold *f, IrExpr weight)
{
    IrGraph *g = el->g;
    const IrExpr each = weight != 0 ? weight : ir_const(g, 1);
    IrExpr sum = plain_fold(el, IR_FOLD_SUM, f, each);
    if (fold == IR_FOLD_BLEND) {
        const IrExpr all = plain_fold(el, IR_FOLD_SUM, f, ir_op1(g, IR_X_ABS, each));
        const IrExpr room = ir_op2(g, IR_X_MUL, all, ir_const(g, 0x1p-44));
        for (int whole = 0; whole <= 1; whole++) {
            const IrExpr off = ir_op1(g, IR_X_ABS, ir_op2(g, IR_X_SUB, sum, ir_const(g, whole)));
            sum = ir_op3(g, IR_X_SELECT, ir_op2(g, IR_X_LE, off, room), ir_const(g, whole), sum);
        }
    }
    return made_before(el, sum);
}

/* The innermost index becomes a stage; returns what is left to fold over the others. */
static IrExpr split_inner(Elab *el, IrFold fold, const Fold *folds, int n, const Product *p, const unsigned *depends,
                          const int *axis, int grid, Span span)
{
    static const char *const AXES[] = {"x", "y", "z"};
    const IrExprNode r = *ir_expr(el->g, p->read);
    const Fold *f = &folds[n - 1];
    unsigned inner = 1u << (n - 1);
    IrExpr weight = multiply(el, p, depends, inner, true);
    IrExpr rest = multiply(el, p, depends, inner, false);
    IrExpr read = read_along(el, r.node, &r, axis[n - 1], -1, r.channel, r.outside);
    read = p->elem != ELEM_NONE ? ir_cast(el->g, read, p->elem) : read;
    IrExpr line = made_before(el, line_of(el, fold, f, weight, read));
    IrId stage = el_store(el, el_image(el, line, grid), AXES[axis[n - 1]], span);
    IrExpr outside = r.outside;
    if (outside != 0 && adds(fold)) {
        outside = ir_op2(el->g, IR_X_MUL, outside, sum_of_weights(el, fold, f, weight));
    }
    IrExpr across = read_along(el, stage, &r, -1, axis[n - 1], 0, outside);
    return weighted(el, rest, across);
}

/* A fold over indices, innermost last, axis by axis where that is the same; 0: a blend is made of lines only. */
static IrExpr fold_over(Elab *el, IrFold fold, const Fold *folds, int n, IrExpr where, IrExpr nth, IrExpr body,
                        int grid, Span span)
{
    Product p;
    unsigned depends[MAX_FACTORS];
    int axis[MAX_INDICES] = {0};
    bool pixels = grid >= 0 && ir_expr(el->g, body)->rank == IR_PIXEL;
    while (n > 1 && pixels && where == 0 && fold != IR_FOLD_PROD && fold < IR_FOLD_RANK &&
           separable(el, fold, folds, n, body, &p, depends, axis)) {
        body = split_inner(el, fold, folds, n, &p, depends, axis, grid, span);
        n--;
    }
    if (fold == IR_FOLD_BLEND && n > 0) {
        bool line = n == 1 && pixels && where == 0 && separable(el, fold, folds, n, body, &p, depends, axis);
        IrExpr read = line && p.elem != ELEM_NONE ? ir_cast(el->g, p.read, p.elem) : p.read;
        IrExpr weight = line ? multiply(el, &p, depends, 0, false) : 0;
        return line ? made_before(el, line_of(el, fold, folds, weight, read)) : 0;
    }
    for (int i = n - 1; i >= 0; i--) {
        const Fold *f = &folds[i];
        bool innermost = i == n - 1;
        body =
            ir_fold(el->g, fold, f->index, f->lo, f->hi, innermost ? where : 0, innermost ? nth : 0, innermost, body);
    }
    return n > 0 ? made_before(el, body) : body;
}

/* ---- comprehensions -------------------------------------------------------------------- */

bool el_follows_index(const Elab *el, IrExpr e)
{
    bool follows = false;
    for (const Ranges *r = el->ranges; r != NULL; r = r->outer) {
        follows = follows || depends_on(el, e, r->fold, r->n) != 0;
    }
    return follows;
}

void el_note_index(Elab *el, IrExpr e)
{
    for (Ranges *r = el->ranges; r != NULL && e != 0; r = r->outer) {
        r->staged = r->staged || depends_on(el, e, r->fold, r->n) != 0;
    }
}

static void look_for_moved(const IrGraph *g, IrExpr e, void *ctx)
{
    Depends *d = ctx;
    const IrExprNode *n = ir_expr(g, e);
    const IrExpr at[] = {n->a, n->b, n->c};
    for (int i = 0; i < 3 && (n->op == IR_X_READ || n->op == IR_X_READAT) && at[i] != 0; i++) {
        ir_walk(g, at[i], find_index, d);
    }
}

/* The window of a comprehension has ends that follow indices around it, which move none of its pixels. */
static void note_window(Elab *el, const Ranges *own, IrExpr body)
{
    for (Ranges *r = own->outer; r != NULL; r = r->outer) {
        Depends moved = {.folds = r->fold, .n = r->n};
        ir_walk(el->g, body, look_for_moved, &moved);
        r->sizes = r->sizes || (moved.found == 0 && own->where != 0 && depends_on(el, own->where, r->fold, r->n) != 0);
    }
}

/* The smallest (or largest) that a bound becomes over the ranges of the indices that it depends on. */
static IrExpr widest(Elab *el, const Ranges *r, IrFold fold, IrExpr bound)
{
    for (; r != NULL; r = r->outer) {
        if (depends_on(el, bound, r->fold, r->n) != 0) {
            bound = fold_over(el, fold, r->fold, r->n, 0, 0, bound, -1, (Span){0});
        }
    }
    return bound;
}

static void only_where(Elab *el, Ranges *r, IrExprOp comparison, IrExpr a, IrExpr b)
{
    IrExpr holds = ir_op2(el->g, comparison, a, b);
    r->where = r->where != 0 ? ir_op2(el->g, IR_X_AND, r->where, holds) : holds;
}

/* One index more.  Kernels know how far windows reach before they run: a range whose ends depend on other
 * indices is the widest of them, of which some indices are left out. */
static void add_range(Elab *el, Ranges *r, const AstFor *of, int index, IrExpr lo, IrExpr hi)
{
    IrExpr first = widest(el, r, IR_FOLD_MIN, lo), last = widest(el, r, IR_FOLD_MAX, hi);
    IrExpr at = ir_index(el->g, index);
    if (first != lo) {
        only_where(el, r, IR_X_GE, at, lo);
    }
    if (last != hi) {
        only_where(el, r, IR_X_LE, at, hi);
    }
    r->of[r->n] = of;
    r->fold[r->n++] = (Fold){index, first, last};
}

/* A weight depends on no more of them than a table has indices. */
static bool has_room(const Ranges *r)
{
    int n = 0;
    for (; r != NULL; r = r->outer) {
        n += r->n;
    }
    return n < MAX_INDICES;
}

static bool bind_range(Elab *el, const AstFor *f, Ranges *r)
{
    double lo, hi;
    IrExpr first = el_bound(el, f->lo), last = el_bound(el, f->hi);
    if (first == 0 || last == 0) {
        el_bind(el, f->name, f->span, el_err(), BIND_LOCAL);
        return false;
    }
    bool from = ir_is_const(el->g, first, &lo), to = ir_is_const(el->g, last, &hi), constant = from && to;
    lo = from ? lo : -INFINITY;
    hi = to ? hi : INFINITY;
    if (!(floor(hi) >= ceil(lo))) { /* NaN, too */
        Diag *d = el_error(el, EMPTY_RANGE, f->span, isnan(lo) ? NAN : lo, isnan(hi) ? NAN : hi);
        if (hi < lo) {
            diag_help(el->diags, d, "ranges run upwards and hold both ends: %g .. %g", hi, lo);
        }
        el_bind(el, f->name, f->span, el_err(), BIND_LOCAL);
        return false;
    }
    if (constant && ceil(lo) == floor(hi)) {
        el_bind(el, f->name, f->span, el_number(el, ceil(lo)), BIND_LOCAL);
        return true;
    }
    if ((from && fabs(lo) > HOSTOP_MOST_INDEX) || (to && fabs(hi) > HOSTOP_MOST_INDEX)) {
        el_error(el, FAR_INDEX, f->span, from && fabs(lo) > HOSTOP_MOST_INDEX ? lo : hi);
        el_bind(el, f->name, f->span, el_err(), BIND_LOCAL);
        return false;
    }
    if (!has_room(r)) {
        el_error(el, TOO_MANY_INDICES, f->span, MAX_INDICES);
        el_bind(el, f->name, f->span, el_err(), BIND_LOCAL);
        return false;
    }
    int index = ir_new_index(el->g);
    ir_set_ends(el->g, index, first, last);
    add_range(el, r, f, index, first, last);
    el_bind(el, f->name, f->span, el_host(ir_index(el->g, index)), BIND_LOCAL);
    return true;
}

/* ---- the parts of a comprehension ------------------------------------------------------ */

static WordFold find_fold(const char *name)
{
    for (int i = 0; i < WORD_FOLDS; i++) {
        if (strcmp(WORDS_FOLDS[i], name) == 0) {
            return (WordFold)i;
        }
    }
    return WORD_FOLDS;
}

/* How many elements a comprehension has: a host expression. */
static IrExpr how_many(Elab *el, const Ranges *r, IrExpr where)
{
    IrGraph *g = el->g;
    IrExpr n = ir_const(g, 1);
    if (where != 0) {
        return fold_over(el, IR_FOLD_SUM, r->fold, r->n, where, 0, n, -1, (Span){0});
    }
    for (int i = 0; i < r->n; i++) {
        IrExpr last = ir_op1(g, IR_X_FLOOR, r->fold[i].hi);
        IrExpr first = ir_op1(g, IR_X_CEIL, r->fold[i].lo);
        IrExpr length = ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_SUB, last, first), ir_const(g, 1));
        n = ir_op2(g, IR_X_MUL, n, ir_op2(g, IR_X_MAX, length, ir_const(g, 0)));
    }
    return n;
}

static IrFold simple_fold(WordFold w, bool masks)
{
    switch (w) {
    case WORD_PROD:
        return IR_FOLD_PROD;
    case WORD_MIN:
        return masks ? IR_FOLD_ALL : IR_FOLD_MIN;
    case WORD_MAX:
        return masks ? IR_FOLD_ANY : IR_FOLD_MAX;
    case WORD_ANY:
        return IR_FOLD_ANY;
    case WORD_ALL:
        return IR_FOLD_ALL;
    case WORD_MEDIAN:
    case WORD_PERCENTILE:
        return IR_FOLD_RANK;
    case WORD_MODE:
        return IR_FOLD_MODE;
    case WORD_BLEND:
        return IR_FOLD_BLEND;
    default:
        return IR_FOLD_SUM;
    }
}

/* What a comprehension combines: its elements, of which some may be left out, all of them or pixel by pixel. */
typedef struct Elements {
    const Ranges *r;
    IrExpr where; /* a condition on the indices; 0: all */
    IrExpr kept;  /* a condition on pixels; 0: none */
    IrExpr count; /* how many there are */
    IrExpr share; /* of a rank: of so many of them */
    int grid;     /* of the result; -1: it is a number */
    Span span;
} Elements;

static IrExpr sum_of(Elab *el, const Elements *of, IrExpr body)
{
    return fold_over(el, IR_FOLD_SUM, of->r->fold, of->r->n, of->where, 0, body, of->grid, of->span);
}

/* The sum of so many numbers has more digits than f32: pixels of f32 are often those of 16 bits, of which it holds the
 * sum of 256. */
static bool is_rounded(const IrGraph *g, IrExpr body, IrExpr count)
{
    const double exact = 0x1p24, pixels = 256, n = ir_range_size(ir_range(g, count));
    Elem type = ir_expr(g, body)->type;
    return elem_is_integer(type) ? !(ir_range_size(ir_range(g, body)) * n <= exact)
                                 : type == ELEM_F32 && !(n <= pixels);
}

/* The mean of pixels of one value is that value.  Where the sum is exact in f32 as it is in f64, both give the same
 * bits. */
static IrExpr mean_of(Elab *el, const Elements *of, IrExpr body)
{
    IrGraph *g = el->g;
    if (!is_rounded(g, body, how_many(el, of->r, 0))) {
        return ir_op2(g, IR_X_DIV, sum_of(el, of, body), of->count);
    }
    IrExpr sum = sum_of(el, of, ir_cast(g, body, ELEM_F64));
    return ir_cast(g, ir_op2(g, IR_X_DIV, sum, ir_cast(g, of->count, ELEM_F64)), ELEM_F32);
}

/* The sum of what is kept. */
static IrExpr sum_of_kept(Elab *el, const Elements *of, IrExpr body)
{
    IrGraph *g = el->g;
    return sum_of(el, of, of->kept != 0 ? ir_op3(g, IR_X_SELECT, of->kept, body, ir_const(g, 0)) : body);
}

/* Mean squared distance from the mean, which is a stage of its own.  That it is rounded adds the square of how far off it
 * is to each: the mean distance says that, and is 0 but for this. */
static IrExpr variance(Elab *el, const Elements *of, IrExpr body)
{
    IrGraph *g = el->g;
    IrExpr mean = mean_of(el, of, body);
    if (of->grid >= 0) {
        mean = ir_read(g, el_store(el, el_image(el, mean, of->grid), "mean", of->span));
    }
    IrExpr distance = ir_op2(g, IR_X_SUB, body, mean);
    IrExpr squares = ir_op2(g, IR_X_DIV, sum_of_kept(el, of, ir_op2(g, IR_X_MUL, distance, distance)), of->count);
    IrExpr off = ir_op2(g, IR_X_DIV, sum_of_kept(el, of, distance), of->count);
    return ir_op2(g, IR_X_MAX, ir_op2(g, IR_X_SUB, squares, ir_op2(g, IR_X_MUL, off, off)), ir_const(g, 0));
}

/* Number floor(count * share) of the sorted elements, the last one at most. */
static IrExpr nth_of(Elab *el, const Elements *of)
{
    IrGraph *g = el->g;
    bool pixels = ir_expr(g, of->share)->rank > IR_INDEX, alike = of->kept == 0 && !pixels;
    /* A share of f32 is as near to what was meant as a product of f32: 0.7 of 10 is number 7. */
    IrExpr count = alike ? ir_index(g, -1) : ir_cast(g, of->count, pixels ? ELEM_F32 : ELEM_F64);
    IrExpr nth = ir_op1(g, IR_X_FLOOR, ir_op2(g, IR_X_MUL, count, of->share));
    return ir_op2(g, IR_X_MIN, nth, ir_op2(g, IR_X_SUB, count, ir_const(g, 1)));
}

/* One of the sorted elements, by its share of them. */
static IrExpr ranked(Elab *el, const Elements *of, IrExpr body)
{
    IrGraph *g = el->g;
    IrExpr v = fold_over(el, IR_FOLD_RANK, of->r->fold, of->r->n, of->where, nth_of(el, of), body, of->grid, of->span);
    bool real = ir_expr(g, v)->type == ELEM_F32 || ir_expr(g, v)->type == ELEM_F64;
    if (of->kept == 0 || real) {
        return v;
    }
    IrExpr some = ir_op2(g, IR_X_GT, of->count, ir_const(g, 0)); /* of none 0, as NaN is no whole number */
    return ir_op3(g, IR_X_SELECT, some, v, ir_const(g, 0));
}

static IrExpr combine(Elab *el, WordFold w, const Elements *of, IrExpr body)
{
    IrGraph *g = el->g;
    bool masks = ir_expr(g, body)->type == ELEM_BOOL;
    if (w == WORD_VAR || w == WORD_STD) {
        IrExpr v = variance(el, of, body);
        return w == WORD_STD ? ir_op1(g, IR_X_SQRT, v) : v;
    }
    if (w == WORD_MEDIAN || w == WORD_PERCENTILE) {
        return ranked(el, of, body);
    }
    if (w == WORD_MEAN) {
        return mean_of(el, of, body);
    }
    return fold_over(el, simple_fold(w, masks), of->r->fold, of->r->n, of->where, 0, body, of->grid, of->span);
}

static bool sorts(WordFold w)
{
    return w == WORD_MEDIAN || w == WORD_PERCENTILE || w == WORD_MODE;
}

static bool check_body(Elab *el, WordFold w, Val body, const AstExpr *e)
{
    if (el_is_bad(body)) {
        return false;
    }
    bool truth = el_is_mask(el, body) || el_is_truth(el, body);
    bool wants_truth = w == WORD_ANY || w == WORD_ALL || w == WORD_COUNT;
    bool takes_truth = wants_truth || w == WORD_MIN || w == WORD_MAX || w == WORD_SUM || sorts(w);
    if (!el_is_scalar(body) && body.kind != VAL_IMAGE) {
        Diag *d = el_error(el, NOT_A_NUMBER, e->a->span, el_describe(el, body));
        if (body.kind == VAL_VECTOR) {
            const char *labels = el_labels_name(el, body);
            diag_help(el->diags, d,
                      "paint it on its labels: (...)[%s]; property(%s, ..., max) of what comes is one "
                      "again",
                      labels, labels);
        }
        return false;
    }
    if (wants_truth && !truth) {
        Diag *d = el_error(el, NEEDS_MASK, e->a->span, el_describe(el, body));
        diag_help(el->diags, d, "%s(...) is about a comparison: %s(%s > 0 for ...)", e->name, e->name,
                  el_words(el, e->a->span));
        return false;
    }
    if (truth && !takes_truth) {
        Diag *d = el_error(el, MASK_AS_NUMBER, e->a->span, el_describe(el, body));
        diag_help(el->diags, d, "number(mask) is 0 or 1");
        return false;
    }
    return true;
}

/* What is combined: numbers where they are sorted or added, without what is left out. */
static Val as_elements(Elab *el, WordFold w, Val body, Val kept, Span span)
{
    bool masks = ir_expr(el->g, body.expr)->type == ELEM_BOOL;
    if (masks && sorts(w)) {
        body.expr = ir_cast(el->g, body.expr, ELEM_I32);
    }
    body = kept.expr != 0 ? el_keep(el, w, kept, body, span) : body;
    if (!el_is_bad(body) && masks && (w == WORD_COUNT || w == WORD_SUM)) {
        body.expr = ir_cast(el->g, body.expr, ELEM_I32);
    }
    return body;
}

/* The condition: on indices that run, which the result is (0: all), or of pixels or what is known without them, which
 * goes into *kept beside what is there; *fine is false after a complaint. */
static IrExpr read_where(Elab *el, const AstExpr *condition, Ranges *r, Val *kept, bool *fine)
{
    if (condition == NULL) {
        return 0;
    }
    Val v = el_body(el, condition, r);
    bool pixels = el_is_mask(el, v) || el_is_truth(el, v);
    double known;
    if (pixels && ir_is_const(el->g, v.expr, &known) && known != 0) {
        return 0;
    }
    if (v.kind == VAL_NUMBER && pixels && r->n > 0 && ir_expr(el->g, v.expr)->rank == IR_INDEX) {
        return v.expr;
    }
    if (pixels) {
        *kept = kept->expr == 0 ? v : el_op2(el, IR_X_AND, *kept, v, condition->span);
    } else if (!el_is_bad(v)) {
        Diag *d = el_error(el, NEEDS_MASK, condition->span, el_describe(el, v));
        diag_help(el->diags, d, "what stays is a comparison: where v[dx = i] > 3");
    }
    *fine = *fine && pixels;
    return 0;
}

/* Conditions on indices, 0 for none, as one. */
static IrExpr all_of(Elab *el, IrExpr a, IrExpr b)
{
    return a == 0 ? b : b == 0 ? a : ir_op2(el->g, IR_X_AND, a, b);
}

/* A selection of pixels is elements of which those stay. */
static Val take_apart(Elab *el, Val body, Val *kept)
{
    if (body.kind != VAL_SELECTION) {
        return body;
    }
    *kept = el_image(el, body.mask, body.grid);
    return el_image(el, body.expr, body.grid);
}

/* The share of a percentile, percentile(... for ..., q = 90), which pixels may find; it meets the elements. */
static IrExpr read_share(Elab *el, const AstExpr *e, WordFold w, Val *body)
{
    if (w != WORD_PERCENTILE) {
        return ir_const(el->g, 0.5);
    }
    if (e->args == NULL) {
        Diag *d = el_error(el, MISSING_ARGUMENT, e->word, "percentile", "q");
        diag_help(el->diags, d, "percentile(v[dx = i] for i in -2 .. 2, q = 90)");
        return 0;
    }
    Val q = el_op2(el, IR_X_DIV, el_expr(el, e->args->value), el_number(el, 100), e->args->value->span);
    Val both[2] = {*body, q};
    if (el_is_bad(q) || !el_meet(el, both, 2, e->args->value->span)) {
        return 0;
    }
    *body = both[0];
    if (q.kind == VAL_IMAGE && body->kind != VAL_IMAGE) {
        *body = el_image(el, body->expr, both[1].grid);
    }
    return both[1].expr;
}

typedef struct Read {
    IrId at[IR_MOST_READS];
    int n;
} Read;

static void note_image(const IrGraph *g, IrExpr e, void *ctx)
{
    Read *read = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool image = n->op == IR_X_READ || n->op == IR_X_READAT || n->op == IR_X_LOOKUP;
    int i = 0;
    while (i < read->n && i < IR_MOST_READS && read->at[i] != n->node) {
        i++;
    }
    if (image && i == read->n) {
        read->at[i < IR_MOST_READS ? i : 0] = n->node;
        read->n++;
    }
}

/* What follows from an index cannot be stored in between (passes/narrow.c), so that a kernel reads all of it. */
static bool reads_few_images(const Elab *el, IrExpr e)
{
    Read read = {.n = 0};
    ir_walk(el->g, e, note_image, &read);
    return read.n <= IR_MOST_READS;
}

Val el_comprehension(Elab *el, const AstExpr *e)
{
    WordFold w = find_fold(e->name);
    if (w == WORD_FOLDS) {
        const char *near = fe_nearest(e->name, WORDS_FOLDS, WORD_FOLDS);
        Diag *d = el_error(el, UNKNOWN_FOLD, e->word, e->name);
        diag_help(el->diags, d, "%s",
                  near != NULL ? arena_printf(el->arena, "did you mean `%s`?", near)
                               : "sum, prod, min, max, mean, var, std, median, "
                                 "percentile, mode, count, any, all and blend take `for`");
        return el_err();
    }
    Ranges ranges = {.outer = el->ranges};
    Scope *before = el_push(el, el->scope);
    el->ranges = &ranges;
    bool fine = true;
    for (const AstFor *f = e->fors; f != NULL; f = f->next) {
        fine = bind_range(el, f, &ranges) && fine;
    }
    Val kept = {.expr = 0};              /* what stays, by pixel; 0: all */
    bool tied = e->a->kind == AST_WHERE; /* a condition stands behind the element */
    Val body = take_apart(el, el_body(el, tied ? e->a->a : e->a, &ranges), &kept);
    IrExpr where = tied ? read_where(el, e->a->b, &ranges, &kept, &fine) : 0;
    where = all_of(el, where, read_where(el, e->b, &ranges, &kept, &fine));
    where = all_of(el, ranges.where, where);
    el->scope = before;
    el->ranges = ranges.outer;
    if (!fine || !check_body(el, w, body, e)) {
        return el_err();
    }
    body = as_elements(el, w, el_unitless(el, body, -1, e->a->span), kept, e->span);
    IrExpr share = el_is_bad(body) ? 0 : read_share(el, e, w, &body);
    if (share == 0) {
        return el_err();
    }
    if (sorts(w)) { /* how many there are, and which one is taken, is known before the loops begin */
        el_note_index(el, where);
        el_note_index(el, share);
    } else if (w == WORD_BLEND && (el_follows_index(el, body.expr) || el_follows_index(el, where))) {
        el_note_index(el, body.expr); /* weights have one index: there will be a blend for each of the others */
        el_note_index(el, where);
        w = WORD_SUM;
    }
    if (body.kind == VAL_IMAGE) {
        note_window(el, &ranges, body.expr);
    }
    Elements of = {.r = &ranges, .where = where, .kept = kept.expr, .share = share, .span = e->span};
    of.grid = body.kind == VAL_IMAGE ? body.grid : -1;
    of.count = of.kept != 0 ? sum_of(el, &of, ir_cast(el->g, of.kept, ELEM_I32)) : how_many(el, &ranges, where);
    IrExpr v = combine(el, w, &of, body.expr);
    if (v == 0) {
        Diag *d = el_error(el, BLEND_OF_MORE, e->a->span, "");
        diag_help(el->diags, d, "blend(exp(-i * i / 8) * v[dx = i] for i in -6 .. 6); sum(...) takes anything");
        return el_err();
    }
    if (body.kind == VAL_IMAGE && !reads_few_images(el, v)) {
        Diag *d = el_error(el, TOO_MANY_AT_ONCE, e->span, IR_MOST_READS);
        diag_help(el->diags, d,
                  "add up comprehensions of some of the images each: sum(... for i in 1 .. 3) + "
                  "sum(... for i in 1 .. 3)");
        return el_err();
    }
    return body.kind == VAL_IMAGE ? el_image(el, v, body.grid) : el_scalar(el, v);
}
