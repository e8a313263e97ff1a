/*
 * pixels: where an expression's values come from, followed through expressions and nodes back to the inputs.
 *
 * Pixels that are read at some place, chosen by a condition, a minimum, a rank, or spread by reconstruction are pixels of
 * the image that they come from, and keep its type.  A number may stand beside them, outside of an image or in a choice,
 * if the type has it; of a file's type, which nobody knows yet, that is a whole number from 0 to 255.
 *
 * Sums, differences and products of whole numbers are whole as well, though computed in f32.
 *
 * What a loop carries is what it begins as and what a round makes of it: a greatest fixed point.
 */
#include "pixels.h"
#include "range.h"

#include "../base/id_map.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct Known {
    enum { NOT_YET, PIXELS, NUMBER, ANYTHING } is; /* NUMBER: in lo .. hi; ANYTHING: as whatever it meets */
    IrPixels p;
    double lo, hi;
} Known;

/* What is known of the few nodes or expressions that were asked about. */
typedef struct Table {
    IdMap ids;
    Vec(Known) at; /* by place */
} Table;

typedef struct Walk {
    IrGraph *g;
    Table expr, node; /* by number, as far as they are known */
    Table carried;    /* by node: what carries are taken for */
} Walk;

static Known of_expr(Walk *w, IrExpr e);
static Known of_node(Walk *w, IrId id);

static Known look_up(const Table *table, uint32_t id)
{
    int place = id_map_find(&table->ids, id);
    return place >= 0 ? table->at.at[place] : (Known){.is = NOT_YET};
}

static void enter(Walk *w, Table *table, uint32_t id, Known known)
{
    int place = id_map_add(&table->ids, w->g->arena, id);
    if (place == table->at.n) {
        vec_push(w->g->arena, &table->at, known);
    }
    table->at.at[place] = known;
}

static IrExpr truth(Walk *w, bool is)
{
    return ir_const_typed(w->g, is, ELEM_BOOL);
}

static bool demands(const IrGraph *g, IrExpr all, IrExpr one)
{
    const IrExprNode *n = ir_expr(g, all);
    return all == one || (n->op == IR_X_AND && (demands(g, n->a, one) || demands(g, n->b, one)));
}

/* Each condition once: what a loop makes of several files would grow with every round, else. */
static IrExpr both(Walk *w, IrExpr a, IrExpr b)
{
    const IrExpr always = truth(w, true), never = truth(w, false);
    if (a == never || b == never) {
        return never;
    }
    if (a == always || b == always) {
        return a == always ? b : a;
    }
    const IrExprNode n = *ir_expr(w->g, a);
    if (n.op == IR_X_AND) {
        return both(w, n.a, both(w, n.b, b));
    }
    return demands(w->g, b, a) ? b : ir_op2(w->g, IR_X_AND, a, b);
}

static Known computed(IrExpr whole)
{
    return (Known){.is = PIXELS, .p = {.whole = whole}};
}

static Known typed(Walk *w, Elem elem)
{
    return (Known){.is = PIXELS, .p = {.elem = elem, .whole = truth(w, elem_is_integer(elem))}};
}

static Known number(Walk *w, IrExpr e)
{
    while (ir_expr(w->g, e)->op == IR_X_CAST && ir_expr(w->g, e)->num == 0) {
        e = ir_expr(w->g, e)->a;
    }
    const IrRange r = ir_range(w->g, e);
    const bool whole = ir_is_integral(w->g, e) || ir_expr(w->g, e)->type == ELEM_BOOL;
    return (Known){.is = NUMBER, .p = {.whole = truth(w, whole)}, .lo = r.lo, .hi = r.hi};
}

/* Does a type have a number, whatever it is? */
static bool holds(Walk *w, const Known *pixels, const Known *n)
{
    const bool file = pixels->p.elem == ELEM_FILE;
    const double lo = file ? 0 : elem_min(pixels->p.elem), hi = file ? elem_max(ELEM_U8) : elem_max(pixels->p.elem);
    const bool real = pixels->p.elem == ELEM_F32 || pixels->p.elem == ELEM_F64;
    return real || (n->p.whole == truth(w, true) && n->lo >= lo && n->hi <= hi && !(n->lo == 0 && signbit(n->lo)));
}

/* One of two. */
static Known either(Walk *w, Known a, Known b)
{
    if (a.is == ANYTHING || b.is == ANYTHING) {
        return a.is == ANYTHING ? b : a;
    }
    const IrExpr whole = both(w, a.p.whole, b.p.whole);
    if (a.is == NUMBER && b.is == NUMBER) {
        return (Known){.is = NUMBER, .p = {.whole = whole}, .lo = fmin(a.lo, b.lo), .hi = fmax(a.hi, b.hi)};
    }
    Known one = a.is == NUMBER ? b : a;
    const Known *other = a.is == NUMBER ? &a : &b;
    const bool same =
        other->is == NUMBER ? holds(w, &one, other) : one.p.elem == other->p.elem && one.p.file == other->p.file;
    one.p = same ? one.p : (IrPixels){.elem = ELEM_NONE};
    one.p.whole = whole;
    one.p.none = a.p.none || b.p.none;
    return one;
}

/* ---- nodes ------------------------------------------------------------------------------- */

static Known of_input(Walk *w, IrId id)
{
    const IrNode *n = ir_node(w->g, id);
    if (n->elem != ELEM_FILE) {
        return n->kind == IR_K_IMAGE ? typed(w, n->elem) : computed(truth(w, true));
    }
    Known file = typed(w, ELEM_FILE);
    file.p.file = id;
    file.p.whole = ir_op2(w->g, IR_X_LT, ir_largest(w->g, id), ir_const(w->g, (double)INFINITY));
    return file;
}

static Known of_window(Walk *w, const IrNode *n)
{
    double border = 0;
    const Known inside = of_expr(w, n->window_rank.image);
    const bool constant = ir_is_const(w->g, n->window_rank.border, &border) && border == BORDER_CONSTANT;
    return constant ? either(w, inside, number(w, n->window_rank.outside)) : inside;
}

static Known make_node(Walk *w, IrId id)
{
    const IrNode n = *ir_node(w->g, id);
    const bool narrow = n.elem == ELEM_U8 || n.elem == ELEM_U16 || n.elem == ELEM_I16;
    switch (n.op) {
    case IR_INPUT:
        return of_input(w, id);
    case IR_MAP:
        return narrow ? typed(w, n.elem) : n.of != 0 ? of_node(w, n.of) : of_expr(w, n.map.value);
    case IR_CARRY: {
        const Known taken = look_up(&w->carried, id);
        return taken.is != NOT_YET ? taken : computed(truth(w, elem_is_integer(n.elem)));
    }
    case IR_WINDOW_RANK:
        return of_window(w, &n);
    case IR_RECONSTRUCT: {
        const Known seed = of_expr(w, n.reconstruct.seed);
        return either(w, seed, of_expr(w, n.reconstruct.mask));
    }
    case IR_PERLABEL:
        return computed(n.elem == ELEM_U32 ? truth(w, true) : of_expr(w, n.perlabel.value).p.whole);
    case IR_COLOURS:
        return typed(w, n.elem);
    default:
        return computed(truth(w, elem_is_integer(n.elem)));
    }
}

static Known of_node(Walk *w, IrId id)
{
    Known known = look_up(&w->node, id);
    if (known.is == NOT_YET) {
        known = make_node(w, id);
        enter(w, &w->node, id, known);
    }
    return known;
}

/* ---- expressions ------------------------------------------------------------------------- */

/* Sums, extremes and numbers of pixels are whole where these are. */
static Known of_value(Walk *w, const IrExprNode *n)
{
    const IrNode node = *ir_node(w->g, n->node);
    const bool counts = node.kind == IR_K_LABELS;
    const IrExpr of = node.op == IR_REDUCE   ? node.reduce.value
                      : node.op == IR_SCALAR ? node.scalar.value[(int)n->num]
                                             : 0;
    return computed(of != 0 ? of_expr(w, of).p.whole : truth(w, counts));
}

static Known of_cast(Walk *w, const IrExprNode *n)
{
    if (n->num != 0) {
        return typed(w, (Elem)n->num);
    }
    Known known = of_expr(w, n->a);
    const Elem from = ir_expr(w->g, n->a)->type;
    const bool narrow = known.p.elem == ELEM_U8 || known.p.elem == ELEM_U16 || known.p.elem == ELEM_I16;
    const bool exact = n->type == ELEM_F32 && from != ELEM_F32 && narrow; /* for arithmetic, not by the user */
    known.p.elem = exact ? known.p.elem : ELEM_NONE;
    return known;
}

static Known of_operands(Walk *w, const IrExprNode *n)
{
    IrExpr whole = of_expr(w, n->a).p.whole;
    whole = n->b != 0 ? both(w, whole, of_expr(w, n->b).p.whole) : whole;
    return computed(n->c != 0 ? both(w, whole, of_expr(w, n->c).p.whole) : whole);
}

static Known of_read(Walk *w, const IrExprNode *n)
{
    const Known inside = of_node(w, n->node);
    return n->border == BORDER_CONSTANT && n->outside != 0 ? either(w, inside, number(w, n->outside)) : inside;
}

/* A condition on its indices is taken for one that some fulfil. */
static Known of_choice(Walk *w, const IrExprNode *n)
{
    Known known = of_expr(w, n->a);
    known.p.none = known.p.none || !(ir_range(w->g, n->c).lo >= ir_range(w->g, n->b).hi);
    return known;
}

static Known of_fold(Walk *w, const IrExprNode *n)
{
    switch (n->fold) {
    case IR_FOLD_MIN:
    case IR_FOLD_MAX:
    case IR_FOLD_RANK:
    case IR_FOLD_MODE:
        return of_choice(w, n);
    case IR_FOLD_SUM:
    case IR_FOLD_PROD:
        return computed(of_expr(w, n->a).p.whole);
    default:
        return computed(truth(w, false));
    }
}

static Known make_expr(Walk *w, IrExpr e)
{
    const IrExprNode n = *ir_expr(w->g, e);
    if (n.rank <= IR_INDEX) {
        return number(w, e);
    }
    switch (n.op) {
    case IR_X_READ:
    case IR_X_READAT:
        return of_read(w, &n);
    case IR_X_VALUE:
        return of_value(w, &n);
    case IR_X_LOOKUP:
        return computed(of_node(w, n.node).p.whole);
    case IR_X_CAST:
        return of_cast(w, &n);
    case IR_X_FOLD:
        return of_fold(w, &n);
    case IR_X_SELECT: {
        const Known one = of_expr(w, n.b);
        return either(w, one, of_expr(w, n.c));
    }
    case IR_X_MIN:
    case IR_X_MAX: {
        const Known one = of_expr(w, n.a);
        return either(w, one, of_expr(w, n.b));
    }
    case IR_X_ADD:
    case IR_X_SUB:
    case IR_X_MUL:
    case IR_X_FMA:
    case IR_X_NEG:
    case IR_X_ABS:
        return of_operands(w, &n);
    default:
        return computed(truth(w, false));
    }
}

/* Arithmetic in whole numbers is whole, whatever it is. */
static Known of_expr(Walk *w, IrExpr e)
{
    Known known = look_up(&w->expr, e);
    if (known.is == NOT_YET) {
        known = make_expr(w, e);
        known.p.whole = elem_is_integer(ir_expr(w->g, e)->type) ? truth(w, true) : known.p.whole;
        enter(w, &w->expr, e, known);
    }
    return known;
}

/* ---- loops ------------------------------------------------------------------------------- */

static bool same(const Known *a, const Known *b)
{
    return a->is == b->is && a->p.elem == b->p.elem && a->p.file == b->p.file && a->p.whole == b->p.whole &&
           a->p.none == b->p.none;
}

/* One round over all carries; false when none has changed. */
static bool carry_on(Walk *w)
{
    bool changed = false;
    for (int l = 1; l < w->g->loops.n; l++) {
        for (int i = 0; i < w->g->loops.at[l].carries.n; i++) {
            const IrCarry c = w->g->loops.at[l].carries.at[i];
            if (!ir_has_pixels(w->g, c.carry)) {
                continue;
            }
            const Known first = of_node(w, c.first), now = either(w, first, of_node(w, c.next));
            const Known before = look_up(&w->carried, c.carry);
            if (!same(&now, &before)) {
                enter(w, &w->carried, c.carry, now);
                changed = true;
                w->expr = w->node = (Table){.ids.n_slots = 0}; /* all is found out anew */
            }
        }
    }
    return changed;
}

static void take_carries(Walk *w)
{
    const Known anything = {.is = ANYTHING, .p = {.whole = truth(w, true)}};
    for (int l = 1; l < w->g->loops.n; l++) {
        for (int i = 0; i < w->g->loops.at[l].carries.n; i++) {
            enter(w, &w->carried, w->g->loops.at[l].carries.at[i].carry, anything);
        }
    }
    while (carry_on(w)) {
    }
}

IrPixels ir_pixels(IrGraph *g, IrExpr e)
{
    assert(e != 0);
    Walk w = {.g = g};
    take_carries(&w);
    return of_expr(&w, e).p;
}
