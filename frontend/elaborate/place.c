/*
 * place: where the pixels of an image lie on the first input.
 *
 * What reads pixels from elsewhere (crop, resize, transpose, v[x = 2 * x_of(c)]) makes an image
 * whose pixels have another size.  Nothing has to be declared for it: positions that are linear in
 * the coordinates say themselves where each pixel comes from, so that sizes, sky coordinates and
 * lengths in micrometres follow from the reads.  Where interpolation reads several places, placed()
 * says which one is meant.
 *
 * A position that is not linear (a displacement field) is taken for a small one: the image stays
 * where its coordinates are.
 */
#include "elab.h"

#include <math.h>
#include <string.h>

int el_add_grid(Elab *el, IrGrid extents, IrPlace place, ElNames names)
{
    for (int ax = 0; ax < IR_AXES; ax++) {
        el_note_index(el, extents.extent[ax]);
    }
    for (int i = 0; i < 12 && place.moved; i++) {
        el_note_index(el, place.of[i / 4][i % 4]);
    }
    ElGrid grid = {.extents = ir_add_grid(el->g, extents), .place = place, .names = names};
    for (int i = 0; i < el->grids.n; i++) {
        const ElGrid *have = &el->grids.at[i];
        if (have->extents == grid.extents && have->place.moved == place.moved && have->place.input == place.input &&
            memcmp(&have->names, &names, sizeof names) == 0 && memcmp(have->place.of, place.of, sizeof place.of) == 0) {
            return i;
        }
    }
    vec_push(el->arena, &el->grids, grid);
    return el->grids.n - 1;
}

const IrPlace *el_place_of(const Elab *el, int grid)
{
    return &el->grids.at[grid].place;
}

IrPlace el_nowhere(void)
{
    return (IrPlace){.moved = true};
}

static bool is_nowhere(const IrPlace *p)
{
    static const IrPlace nowhere = {.moved = true};
    return p->moved && memcmp(p->of, nowhere.of, sizeof p->of) == 0;
}

IrPlace el_joined_place(const Elab *el, int p, int q)
{
    const bool other = el->grids.at[q].place.input < el->grids.at[p].place.input && !is_nowhere(&el->grids.at[q].place);
    const ElGrid *a = &el->grids.at[other ? q : p], *b = &el->grids.at[other ? p : q];
    const IrGrid *has = &el->g->grids.at[a->extents];
    IrPlace place = a->place;
    if (is_nowhere(&place)) {
        return b->place;
    }
    for (int by = 0; by < 3 && place.moved && b->place.moved; by++) {
        for (int along = 0; along < 3 && !has->has[by]; along++) {
            place.of[along][by] = b->place.of[along][by];
        }
    }
    return place;
}

/* ---- positions that are linear in the coordinates -------------------------------------- */

typedef struct Linear {
    IrExpr by[4]; /* of x, y, z, and what is added; 0 for 0 */
    bool is;      /* else what stands above says nothing */
} Linear;

static IrExpr unknown(Elab *el)
{
    return ir_const(el->g, (double)NAN);
}

/* 0 for the constant 0. */
static IrExpr simple(const Elab *el, IrExpr e)
{
    double value;
    return e != 0 && ir_is_const(el->g, e, &value) && value == 0 ? 0 : e;
}

static IrExpr times(Elab *el, IrExpr a, IrExpr b)
{
    return a == 0 || b == 0 ? 0 : simple(el, ir_op2(el->g, IR_X_MUL, a, b));
}

static IrExpr plus(Elab *el, IrExpr a, IrExpr b)
{
    return a == 0 ? b : b == 0 ? a : simple(el, ir_op2(el->g, IR_X_ADD, a, b));
}

static bool is_number(const Linear *l)
{
    return l->by[0] == 0 && l->by[1] == 0 && l->by[2] == 0;
}

static Linear scaled(Elab *el, const Linear *l, IrExpr factor)
{
    Linear out = {.by = {0}};
    for (int k = 0; k < 4; k++) {
        out.by[k] = times(el, l->by[k], factor);
    }
    return out;
}

static bool linear(Elab *el, IrExpr e, Linear *out);

static bool linear_sum(Elab *el, const IrExprNode *n, Linear *out)
{
    Linear b;
    if (!linear(el, n->a, out) || !linear(el, n->b, &b)) {
        return false;
    }
    IrExpr minus = ir_const(el->g, -1);
    b = n->op == IR_X_SUB ? scaled(el, &b, minus) : b;
    for (int k = 0; k < 4; k++) {
        out->by[k] = plus(el, out->by[k], b.by[k]);
    }
    return true;
}

static bool linear_product(Elab *el, const IrExprNode *n, Linear *out)
{
    Linear a, b;
    if (!linear(el, n->a, &a) || !linear(el, n->b, &b) || (!is_number(&a) && !is_number(&b))) {
        return false;
    }
    *out = is_number(&b) ? scaled(el, &a, b.by[3]) : scaled(el, &b, a.by[3]);
    return true;
}

/* A quotient cut to a whole number lies somewhere below the quotient. */
static bool linear_quotient(Elab *el, const IrExprNode *n, Linear *out)
{
    Linear b;
    if (!linear(el, n->a, out) || !linear(el, n->b, &b) || !is_number(&b) || b.by[3] == 0) {
        return false;
    }
    for (int k = 0; k < 4; k++) {
        out->by[k] = out->by[k] == 0 ? 0 : ir_op2(el->g, IR_X_DIV, out->by[k], b.by[3]);
    }
    out->by[3] = n->op == IR_X_DIV ? out->by[3] : unknown(el);
    return true;
}

/* Values that only the device or a comprehension knows move an image by something unknown. */
static bool linear_scalar(Elab *el, IrExpr e, const IrExprNode *n, Linear *out)
{
    *out = (Linear){.by = {0}};
    out->by[3] = n->rank > IR_HOST ? unknown(el) : simple(el, e);
    return true;
}

static bool find_linear(Elab *el, IrExpr e, Linear *out)
{
    const IrExprNode n = *ir_expr(el->g, e);
    *out = (Linear){.by = {0}};
    if (n.type == ELEM_F64 && n.rank <= IR_UNIFORM) {
        return linear_scalar(el, e, &n, out);
    }
    switch (n.op) {
    case IR_X_CONST:
        out->by[3] = simple(el, ir_const(el->g, n.num));
        return true;
    case IR_X_COORD:
        out->by[(int)n.num] = n.num < 3 ? ir_const(el->g, 1) : 0;
        return n.num < 3;
    case IR_X_CAST:
        return linear(el, n.a, out);
    case IR_X_READ: {
        const IrNode *node = ir_node(el->g, n.node);
        bool plain = n.a == 0 && n.b == 0 && n.c == 0 && n.channel == 0;
        return plain && node->op == IR_MAP && linear(el, node->map.value, out);
    }
    case IR_X_NEG:
        if (!linear(el, n.a, out)) {
            return false;
        }
        *out = scaled(el, out, ir_const(el->g, -1));
        return true;
    case IR_X_ADD:
    case IR_X_SUB:
        return linear_sum(el, &n, out);
    case IR_X_MUL:
        return linear_product(el, &n, out);
    case IR_X_DIV:
    case IR_X_FLOORDIV:
        return linear_quotient(el, &n, out);
    case IR_X_FLOOR:
    case IR_X_CEIL:
    case IR_X_TRUNC:
        if (!linear(el, n.a, out)) {
            return false;
        }
        out->by[3] = unknown(el);
        return true;
    case IR_X_ROUND:
        return linear(el, n.a, out);
    default:
        return false;
    }
}

/* What is found is kept: positions that use one another twice would take forever. */
static bool linear(Elab *el, IrExpr e, Linear *out)
{
    while (el->linear.n <= (int)e) {
        vec_push(el->arena, &el->linear, NULL);
    }
    if (el->linear.at[e] == NULL) {
        Linear *found = arena_new(el->arena, Linear);
        found->is = find_linear(el, e, found);
        el->linear.at[e] = found;
    }
    *out = *el->linear.at[e];
    return out->is;
}

/* ---- places ---------------------------------------------------------------------------- */

/* The place as it is written when no pixel moved, if that is what it says. */
static IrPlace settled(Elab *el, IrPlace place)
{
    IrExpr one = ir_const(el->g, 1);
    const IrPlace same = {.of = {{one, 0, 0, 0}, {0, one, 0, 0}, {0, 0, one, 0}}};
    return memcmp(same.of, place.of, sizeof same.of) == 0 ? (IrPlace){.input = place.input} : place;
}

/* Where pixels lie that come from the places `from` of an image that lies at `on`. */
static IrPlace composed(Elab *el, const IrPlace *on, const Linear from[3])
{
    IrPlace place = {.input = on->input, .moved = true};
    for (int along = 0; along < 3; along++) {
        for (int by = 0; by < 4; by++) {
            IrExpr sum = on->moved && by == 3 ? on->of[along][3] : 0;
            for (int k = 0; k < 3 && on->moved; k++) {
                sum = plus(el, sum, times(el, on->of[along][k], from[k].by[by]));
            }
            place.of[along][by] = on->moved ? sum : from[along].by[by];
        }
    }
    return settled(el, place);
}

/* Along axes that the image lacks, planes of a file may be looped over: they stay. */
int el_placed(Elab *el, int grid, int on, const Val position[3])
{
    Linear from[3];
    for (int ax = 0; ax < 3; ax++) {
        bool said = el_is_scalar(position[ax]) || position[ax].kind == VAL_IMAGE;
        bool has = el->g->grids.at[el->grids.at[on].extents].has[ax];
        IrExpr e = said && has ? position[ax].expr : ir_coord(el->g, ax);
        if (!linear(el, e, &from[ax])) {
            return grid;
        }
    }
    const IrPlace under = *el_place_of(el, on);
    return el_add_grid(el, el->g->grids.at[el->grids.at[grid].extents], composed(el, &under, from),
                       *el_names_of(el, grid));
}

Val el_placed_on(Elab *el, Call *call)
{
    Val v = call->arg[PLACED_V];
    v.grid = el_placed(el, v.grid, call->arg[PLACED_OF].grid, &call->arg[PLACED_X]);
    return v;
}

bool el_is_somewhere(Elab *el, int grid)
{
    const IrPlace *place = el_place_of(el, grid);
    bool known = !is_nowhere(place);
    for (int i = 0; i < 8 && place->moved; i++) {
        double value;
        const IrExpr of = place->of[i / 4][i % 4];
        known = known && !(of != 0 && ir_is_const(el->g, of, &value) && isnan(value));
    }
    return known;
}

/* ---- sizes of pixels ------------------------------------------------------------------- */

IrExpr el_size_along(Elab *el, int grid, int axis)
{
    IrGraph *g = el->g;
    if (grid < 0 || !el_place_of(el, grid)->moved) {
        return ir_pixelsize(g, axis);
    }
    IrExpr sum = 0, only = 0;
    int n = 0;
    for (int along = 0; along < 3; along++) {
        IrExpr by = el_place_of(el, grid)->of[along][axis];
        double value = 0;
        if (by == 0) {
            continue;
        }
        if (ir_is_const(g, by, &value) && isnan(value)) {
            return 0;
        }
        bool one = ir_is_const(g, by, &value) && fabs(value) == 1;
        IrExpr size = ir_pixelsize(g, along);
        only = one ? size : ir_op2(g, IR_X_MUL, ir_op1(g, IR_X_ABS, by), size);
        IrExpr square = ir_op2(g, IR_X_MUL, only, only);
        sum = sum == 0 ? square : ir_op2(g, IR_X_ADD, sum, square);
        n++;
    }
    return n == 1 ? only : n == 0 ? 0 : ir_op1(g, IR_X_SQRT, sum);
}

int el_grid_of(const Elab *el, Val v)
{
    if (v.kind == VAL_VECTOR) {
        return el->lies.at[v.node];
    }
    return v.kind == VAL_IMAGE || v.kind == VAL_SELECTION ? v.grid : -1;
}

/* 0.3 / 0.1 is 2.9999999999999996, and sizes of pixels in files are rounded, too: numbers of pixels that are whole but
 * for the seventh digit are whole, so that a disk has its outermost pixels. */
static IrExpr whole_if_near(IrGraph *g, IrExpr pixels)
{
    IrExpr whole = ir_op1(g, IR_X_ROUND, pixels);
    IrExpr away = ir_op1(g, IR_X_ABS, ir_op2(g, IR_X_SUB, pixels, whole));
    IrExpr most = ir_op2(g, IR_X_MUL, ir_const(g, 1e-6), ir_op1(g, IR_X_ABS, pixels));
    return ir_op3(g, IR_X_SELECT, ir_op2(g, IR_X_LE, away, most), whole, pixels);
}

IrExpr el_pixels(Elab *el, Val v, int grid, int axis, Span span)
{
    if (v.unit == NULL) {
        return v.expr;
    }
    static const struct Measured {
        const char *unit;
        int axes;
    } UNITS[] = {{"um", 1}, {"um2", 2}, {"um3", 3}};
    int axes = 1;
    for (int i = 0; i < 3; i++) {
        axes = strcmp(v.unit, UNITS[i].unit) == 0 ? UNITS[i].axes : axes;
    }
    IrExpr size = 0;
    for (int k = 0; k < axes; k++) {
        IrExpr one = el_size_along(el, grid, axes == 1 ? axis : k);
        if (one == 0) {
            Diag *d = el_error(el, NO_PIXEL_SIZE, span, "xyz"[axes == 1 ? axis : k]);
            diag_help(el->diags, d,
                      "write it in pixels, or say where the image's pixels lie: "
                      "placed(v, image, x = 2 * x_of(v), y = 2 * y_of(v))");
            return ir_const(el->g, 1);
        }
        size = size == 0 ? one : ir_op2(el->g, IR_X_MUL, size, one);
    }
    return whole_if_near(el->g, ir_op2(el->g, IR_X_DIV, v.expr, size));
}
