/*
 * builtin: operators on pixels, images' sizes and coordinates, and footprints.
 */
#include "elab.h"

#include "../../base/window.h"
#include "../../ir/pixels.h"
#include "../../ir/range.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const Builtin BUILTINS[] = {
#define GROUP(title)
#define OP(name, signature, impl, doc, text, example, clesperanto, skimage, scipy) impl,
#include "../ops/ops.def"
#undef OP
#undef GROUP
};

Builtin el_builtin(const Op *op)
{
    return BUILTINS[op->index];
}

/* ---- arithmetic ------------------------------------------------------------------------ */

/* The operator of exprs.def that has this operator's name. */
Val el_math(Elab *el, Call *call)
{
    IrExprOp op = ir_expr_op_from_name(call->op->name);
    assert(op != IR_X_NONE);
    if (ir_expr_op_arity(op) == 1) {
        return el_op1(el, op, call->arg[0], call->span);
    }
    return el_op2(el, op, call->arg[0], call->arg[1], call->span);
}

Val el_constant_border(Elab *el, Call *call)
{
    (void)el;
    return (Val){.kind = VAL_BORDER, .grid = -1, .border = BORDER_CONSTANT, .expr = call->arg[CONSTANT_VALUE].expr};
}

Val el_squared_border(Elab *el, Call *call)
{
    Val border = call->arg[SQUARED_BORDER_BORDER];
    if (border.border == BORDER_CONSTANT) {
        border.expr = ir_op2(el->g, IR_X_MUL, border.expr, border.expr);
    }
    return border;
}

Val el_repeats(Elab *el, Call *call)
{
    Border border = call->arg[0].border;
    bool own = border == BORDER_REFLECT || border == BORDER_MIRROR || border == BORDER_WRAP;
    return el_host(ir_const_typed(el->g, own, ELEM_BOOL));
}

Val el_as_number(Elab *el, Call *call)
{
    Val v = call->arg[NUMBER_V];
    IrGraph *g = el->g;
    if (el_is_truth(el, v)) {
        return el_scalar(el, ir_op3(g, IR_X_SELECT, v.expr, ir_const(g, 1), ir_const(g, 0)));
    }
    if (v.kind == VAL_IMAGE && v.image != IR_K_IMAGE) {
        return el_image(el, ir_cast(g, el_numbers(el, v).expr, ELEM_I32), v.grid);
    }
    bool truths = v.kind == VAL_VECTOR && ir_expr(g, v.expr)->type == ELEM_BOOL;
    return truths ? el_vector(ir_cast(g, v.expr, ELEM_I32), v.node) : v;
}

Val el_convert(Elab *el, Val v, Elem elem)
{
    IrGraph *g = el->g;
    if (v.kind != VAL_IMAGE) {
        return v;
    }
    bool labels = v.image == IR_K_LABELS;
    v = el_numbers(el, v);
    const IrExprNode *e = ir_expr(g, v.expr);
    bool narrower = e->op == IR_X_CAST && e->num != 0 && (Elem)e->num != elem; /* it would be stored as such */
    bool have = e->type == elem && !narrower;
    if (elem == ELEM_F32 || elem == ELEM_F64) {
        IrExpr converted = ir_cast(g, v.expr, elem);
        bool user = v.image == IR_K_IMAGE && elem == ELEM_F32 && el->call.source == NULL && el->ranges == NULL;
        bool said = user && ir_pixels(g, v.expr).elem != ELEM_NONE; /* of what is computed it would say nothing */
        return el_image(el, said ? ir_as_is(g, converted) : converted, v.grid);
    }
    return have && v.image == IR_K_IMAGE && !labels ? v : el_image(el, ir_saturate(g, v.expr, elem), v.grid);
}

Val el_to_type(Elab *el, Call *call)
{
    Elem elem = elem_from_name(call->op->name);
    Val v = call->arg[0];
    if (el_is_mask(el, v)) {
        v = el_image(el, ir_cast(el->g, v.expr, ELEM_I32), v.grid);
    }
    return el_convert(el, v, elem);
}

/* ---- sizes and coordinates ------------------------------------------------------------- */

typedef struct AxisWord {
    const char *name;
    int axis;
} AxisWord;

static int axis_called(const AxisWord *words, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(words[i].name, name) == 0) {
            return words[i].axis;
        }
    }
    assert(false && "no axis of that name");
    return 0;
}

/* An axis that an image lacks has one place.  False after a complaint: one that has been taken away is asked for by mistake. */
static bool may_lack(Elab *el, const Call *call, int axis)
{
    const Val v = call->arg[0];
    bool named = el->call.source == NULL && axis != IR_AX_C && el_are_named(el, v.grid);
    return !named || el_need_axis(el, v, axis, call->span);
}

Val el_coordinate(Elab *el, Call *call)
{
    static const AxisWord WORDS[] = {{"x_of", IR_AX_X}, {"y_of", IR_AX_Y}, {"z_of", IR_AX_Z}, {"c_of", IR_AX_C}};
    int axis = axis_called(WORDS, 4, call->op->name);
    if (!may_lack(el, call, axis)) {
        return el_err();
    }
    axis = el_axis(el, call->arg[0], axis);
    if (!el_has(el, call->arg[0], axis)) {
        return el_image(el, ir_const_typed(el->g, 0, ELEM_I32), call->arg[0].grid);
    }
    return el_image(el, ir_coord(el->g, axis), call->arg[0].grid);
}

Val el_size(Elab *el, Call *call)
{
    static const AxisWord WORDS[] = {{"width", IR_AX_X},
                                     {"height", IR_AX_Y},
                                     {"depth", IR_AX_Z},
                                     {"channels", IR_AX_C}};
    int axis = axis_called(WORDS, 4, call->op->name);
    return may_lack(el, call, axis) ? el_host(el_extent(el, call->arg[0], el_axis(el, call->arg[0], axis))) : el_err();
}

Val el_dimensions(Elab *el, Call *call)
{
    return el_number(el, el_ndim(el, call->arg[DIMENSIONS_V]));
}

Val el_has_axis(Elab *el, Call *call)
{
    static const AxisWord WORDS[] = {{"x", IR_AX_X}, {"y", IR_AX_Y}, {"z", IR_AX_Z}, {"c", IR_AX_C}};
    int axis = el_axis(el, call->arg[HAS_AXIS_V], axis_called(WORDS, 4, call->arg[HAS_AXIS_AXIS].text));
    return el_host(ir_const_typed(el->g, el_has(el, call->arg[HAS_AXIS_V], axis), ELEM_BOOL));
}

Val el_pixel_size(Elab *el, Call *call)
{
    static const AxisWord WORDS[] = {{"x", IR_AX_X}, {"y", IR_AX_Y}, {"z", IR_AX_Z}};
    int axis = axis_called(WORDS, 3, call->arg[PIXEL_SIZE_AXIS].text);
    int grid = el_grid_of(el, call->arg[PIXEL_SIZE_OF]);
    IrExpr size = el_size_along(el, grid, grid >= 0 ? el_axis(el, call->arg[PIXEL_SIZE_OF], axis) : axis);
    if (size == 0) {
        Diag *d = el_error(el, NO_PIXEL_SIZE, call->span, "xyz"[axis]);
        diag_help(el->diags, d, "pixel_size(%c) is that of the pipeline's first input", "xyz"[axis]);
        return el_err();
    }
    return el_host(size);
}

Val el_sky_map(Elab *el, Call *call)
{
    double entry = 0;
    const Val *of[2] = {&call->arg[SKY_MAP_V], &call->arg[SKY_MAP_ONTO]};
    for (int k = 0; k < 2; k++) {
        const IrPlace *place = el_place_of(el, of[k]->grid);
        if (place->moved || ir_inputs(el->g) == 0) {
            Diag *d = el_error(el, SKY_PLACE, call->at[k], el_words(el, call->at[k]));
            diag_help(el->diags, d, "the pixels of both images lie as those of an input do: crop or scale the result");
            return el_err();
        }
    }
    IrId input = 1;
    for (int n = el_place_of(el, of[0]->grid)->input; n > 0 || ir_node(el->g, input)->op != IR_INPUT; input++) {
        n -= ir_node(el->g, input)->op == IR_INPUT;
    }
    (void)el_constant(el, call->arg[SKY_MAP_ENTRY], &entry);
    return el_host(ir_sky(el->g, input, el_place_of(el, of[1]->grid)->input, (int)entry));
}

Val el_goes_upwards(Elab *el, Call *call)
{
    (void)call;
    return el_host(ir_op2(el->g, IR_X_NE, ir_upwards(el->g), ir_const(el->g, 0)));
}

/* Zeros with the axes of an image and other extents. */
Val el_canvas(Elab *el, Call *call)
{
    IrGrid grid = *el_grid(el, call->arg[CANVAS_V]);
    IrPlace place = *el_place_of(el, call->arg[CANVAS_V].grid);
    for (int ax = 0; ax < IR_AXES; ax++) {
        if (!call->given[ax + 1] || call->arg[ax + 1].kind != VAL_NUMBER) {
            continue;
        }
        grid.has[ax] = true;
        grid.extent[ax] = call->arg[ax + 1].expr;
        place = ax < 3 ? el_nowhere() : place;
    }
    return el_image(el, ir_const_typed(el->g, 0, ELEM_F32),
                    el_add_grid(el, grid, place, *el_names_of(el, call->arg[CANVAS_V].grid)));
}

/* 0, 1, 2 ... along the axis that is named first; the others only have an extent. */
Val el_ramp(Elab *el, Call *call)
{
    IrGrid grid = {.extent = {0}};
    int first = -1;
    for (int ax = 0; ax < 3; ax++) {
        if (!call->given[ax]) {
            continue;
        }
        grid.has[ax] = true;
        grid.extent[ax] = call->arg[ax].expr;
        if (first < 0 || call->at[ax].begin < call->at[first].begin) {
            first = ax;
        }
    }
    if (first < 0) {
        Diag *d = el_error(el, MISSING_ARGUMENT, call->word, "ramp", "x");
        diag_help(el->diags, d, "ramp(x = 100) is 0, 1 ... 99; ramp(y = 50, x = 100) counts rows");
        return el_err();
    }
    return el_image(el, ir_coord(el->g, first), el_add_grid(el, grid, el_nowhere(), el_as_they_lie()));
}

/* ---- footprints ------------------------------------------------------------------------ */

static Val footprint(Elab *el, const char *shape, Val x, Val y, Val z)
{
    Val v = el_record(el, 3);
    v.kind = VAL_FOOTPRINT;
    v.text = shape;
    v.items[0] = (ValItem){"x", x};
    v.items[1] = (ValItem){"y", y};
    v.items[2] = (ValItem){"z", z};
    return v;
}

/* A radius keeps its unit until the image is known whose pixels it counts. */
Val el_round_footprint(Elab *el, Call *call)
{
    const char *name = call->op->name;
    const Val r = call->arg[0];
    bool flat = strcmp(name, "disk") == 0;
    return footprint(el, name, r, r, flat ? el_number(el, 0) : r);
}

Val el_box_footprint(Elab *el, Call *call)
{
    const Val r = call->arg[BOX_RADIUS];
    return footprint(el, "box", *el_member(r, "x"), *el_member(r, "y"), *el_member(r, "z"));
}

typedef struct Rows {
    int nx, ny, nz;
    double *cell; /* z, y, x */
} Rows;

static bool holds_lists(Val list)
{
    return list.kind == VAL_LIST && list.n > 0 && list.items[0].val.kind == VAL_LIST;
}

static bool holds_planes(Val list)
{
    return holds_lists(list) && holds_lists(list.items[0].val);
}

/* The shape of nested lists; false when rows differ in length or are no lists. */
static bool shape_of(Val list, Rows *rows)
{
    bool deep = holds_planes(list);
    const Val *plane = deep ? &list.items[0].val : &list;
    rows->nz = deep ? list.n : 1;
    bool nested = holds_lists(*plane);
    rows->ny = nested ? plane->n : 1;
    rows->nx = nested ? plane->items[0].val.n : plane->n;
    return rows->nx > 0;
}

static bool cell_at(const Elab *el, Val list, const Rows *rows, int z, int y, int x, double *value)
{
    Val plane = holds_planes(list) ? list.items[z].val : list;
    bool nested = holds_lists(plane);
    if (plane.kind != VAL_LIST || (nested ? plane.n : 1) != rows->ny) {
        return false;
    }
    Val row = nested ? plane.items[y].val : plane;
    if (row.kind != VAL_LIST || row.n != rows->nx) {
        return false;
    }
    return el_constant(el, row.items[x].val, value);
}

static bool read_rows(Elab *el, Val list, Rows *rows, Span span)
{
    bool fine = shape_of(list, rows);
    double cells = (double)rows->nx * rows->ny * rows->nz;
    if (fine && cells > ELAB_MAX_UNROLL) {
        Diag *d = el_error(el, LIST_TOO_LONG, span, cells, ELAB_MAX_UNROLL);
        diag_help(el->diags, d,
                  "a kernel may be a function of the offsets: convolve(v, f, radius = 75) with "
                  "fn f(i, j) = exp(-(i * i + j * j) / 800)");
        return false;
    }
    rows->cell = arena_array(el->arena, double, fine ? rows->nx * rows->ny * rows->nz : 1);
    int k = 0;
    for (int z = 0; fine && z < rows->nz; z++) {
        for (int y = 0; fine && y < rows->ny; y++) {
            for (int x = 0; fine && x < rows->nx; x++) {
                fine = cell_at(el, list, rows, z, y, x, &rows->cell[k++]);
            }
        }
    }
    if (!fine) {
        Diag *d = el_error(el, LIST_NOT_RECTANGULAR, span, "");
        diag_help(el->diags, d,
                  "rows of numbers, all of one length: [[0, 1, 0], [1, 1, 1], "
                  "[0, 1, 0]]");
        return false;
    }
    return true;
}

Val el_literal_footprint(Elab *el, Val list, Span span)
{
    Rows rows;
    if (!read_rows(el, list, &rows, span)) {
        return el_err();
    }
    if (rows.nx % 2 == 0 || rows.ny % 2 == 0 || rows.nz % 2 == 0) {
        Diag *d = el_error(el, LIST_NOT_ODD, span, rows.nx, rows.ny);
        diag_help(el->diags, d,
                  "add a row or column of zeros: the middle one is the current "
                  "pixel");
        return el_err();
    }
    bool full = true;
    Val cells = el_record(el, rows.nx * rows.ny * rows.nz);
    for (int i = 0; i < cells.n; i++) {
        full = full && rows.cell[i] != 0;
        cells.items[i].val = el_number(el, rows.cell[i]);
    }
    Val v = footprint(el, full ? "box" : "literal", el_number(el, rows.nx / 2), el_number(el, rows.ny / 2),
                      el_number(el, rows.nz / 2));
    Val with_cells = el_record(el, 4);
    with_cells.kind = VAL_FOOTPRINT;
    with_cells.text = v.text;
    memcpy(with_cells.items, v.items, sizeof *v.items * 3);
    with_cells.items[3] = (ValItem){"cells", cells};
    return with_cells;
}

static IrExpr square(Elab *el, IrExpr e)
{
    return ir_op2(el->g, IR_X_MUL, e, e);
}

/* (i, j, k) is one of the cells that are not 0. */
static IrExpr among_cells(Elab *el, Val f, const IrExpr at[3])
{
    IrGraph *g = el->g;
    const Val cells = *el_member(f, "cells");
    double r[3] = {0, 0, 0}, value;
    for (int ax = 0; ax < 3; ax++) {
        ir_is_const(g, f.items[ax].val.expr, &r[ax]);
    }
    int nx = 2 * (int)r[0] + 1, ny = 2 * (int)r[1] + 1;
    IrExpr any = ir_const_typed(g, 0, ELEM_BOOL);
    for (int i = 0; i < cells.n; i++) {
        if (!el_constant(el, cells.items[i].val, &value) || value == 0) {
            continue;
        }
        const double cell[3] = {i % nx - r[0], i / nx % ny - r[1], i / (nx * ny) - r[2]};
        IrExpr here = ir_const_typed(g, 1, ELEM_BOOL);
        for (int ax = 0; ax < 3; ax++) {
            IrExpr equal = ir_op2(g, IR_X_EQ, at[ax], ir_const(g, cell[ax]));
            here = ir_op2(g, IR_X_AND, here, equal);
        }
        any = ir_op2(g, IR_X_OR, any, here);
    }
    return any;
}

/* Its radius along the axis; 0: it has none there. */
static IrExpr radius_of(const Elab *el, Val f, int ax)
{
    double r;
    IrExpr e = f.items[ax].val.expr;
    return ir_is_const(el->g, e, &r) && r == 0 ? 0 : e;
}

/* A length was so many pixels along one axis and others along the next. */
static bool has_several_radii(const Elab *el, Val f)
{
    IrExpr x = radius_of(el, f, 0), y = radius_of(el, f, 1), z = radius_of(el, f, 2);
    return (x != 0 && y != 0 && x != y) || (y != 0 && z != 0 && y != z) || (x != 0 && z != 0 && x != z);
}

/* Times all radii but the one along `ax`; -1: times all. */
static IrExpr times_radii(Elab *el, Val f, IrExpr e, int ax)
{
    for (int other = 0; other < 3; other++) {
        IrExpr r = radius_of(el, f, other);
        e = other == ax || r == 0 ? e : ir_op2(el->g, IR_X_MUL, e, r);
    }
    return e;
}

/* The offset in radii is at most 1 long, or its parts together; not divided, for a radius may come out as 0. */
static IrExpr within_radii(Elab *el, Val f, const IrExpr at[3])
{
    IrGraph *g = el->g;
    bool diamond = strcmp(f.text, "diamond") == 0;
    IrExpr sum = 0, most = times_radii(el, f, ir_const(g, 1), -1);
    for (int ax = 0; ax < 3; ax++) {
        IrExpr way = times_radii(el, f, at[ax], ax);
        way = diamond ? ir_op1(g, IR_X_ABS, way) : square(el, way);
        if (radius_of(el, f, ax) != 0) {
            sum = sum == 0 ? way : ir_op2(g, IR_X_ADD, sum, way);
        }
    }
    return ir_op2(g, IR_X_LE, sum, diamond ? most : square(el, most));
}

/* True where a footprint has the offset x, y, z. */
Val el_footprint_has(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    const Val f = call->arg[FOOTPRINT_HAS_F];
    const IrExpr at[3] = {call->arg[FOOTPRINT_HAS_X].expr, call->arg[FOOTPRINT_HAS_Y].expr,
                          call->arg[FOOTPRINT_HAS_Z].expr};
    IrExpr r = f.items[0].val.expr;
    if (strcmp(f.text, "box") == 0) {
        return el_host(ir_const_typed(g, 1, ELEM_BOOL));
    }
    if (strcmp(f.text, "literal") == 0) {
        return el_host(among_cells(el, f, at));
    }
    if (has_several_radii(el, f)) {
        return el_host(within_radii(el, f, at));
    }
    if (strcmp(f.text, "diamond") == 0) {
        IrExpr sum = ir_op2(g, IR_X_ADD, ir_op1(g, IR_X_ABS, at[0]), ir_op1(g, IR_X_ABS, at[1]));
        sum = ir_op2(g, IR_X_ADD, sum, ir_op1(g, IR_X_ABS, at[2]));
        return el_host(ir_op2(g, IR_X_LE, sum, r));
    }
    IrExpr sum = ir_op2(g, IR_X_ADD, square(el, at[0]), square(el, at[1]));
    if (strcmp(f.text, "ball") == 0) {
        sum = ir_op2(g, IR_X_ADD, sum, square(el, at[2]));
    }
    return el_host(ir_op2(g, IR_X_LE, sum, square(el, r)));
}

Val el_has_shape(Elab *el, Call *call)
{
    bool alike = strcmp(call->arg[HAS_SHAPE_F].text, call->arg[HAS_SHAPE_SHAPE].text) == 0;
    return el_host(ir_const_typed(el->g, alike, ELEM_BOOL));
}

/* Round shapes and boxes are their own mirror images. */
Val el_turned(Elab *el, Call *call)
{
    Val f = call->arg[TURNED_F];
    if (strcmp(f.text, "literal") != 0) {
        return f;
    }
    const Val cells = *el_member(f, "cells");
    Val turned = el_record(el, f.n), back = el_record(el, cells.n);
    for (int i = 0; i < cells.n; i++) {
        back.items[i] = cells.items[cells.n - 1 - i];
    }
    memcpy(turned.items, f.items, sizeof *f.items * (size_t)f.n);
    turned.items[f.n - 1].val = back;
    turned.kind = VAL_FOOTPRINT;
    turned.text = f.text;
    return turned;
}

/* A footprint whose cells are known; false when radii are found at run time. */
static bool known_window(Elab *el, Val f, Window *w)
{
    *w = (Window){.shape = window_shape(f.text)};
    for (int ax = 0; ax < 3; ax++) {
        if (!el_constant(el, f.items[ax].val, &w->radius[ax])) {
            return false;
        }
    }
    if (w->shape == WINDOW_LITERAL) {
        const Val cells = *el_member(f, "cells");
        char *text = arena_array(el->arena, char, cells.n + 1);
        for (int i = 0; i < cells.n; i++) {
            double cell = 0;
            text[i] = el_constant(el, cells.items[i].val, &cell) && cell != 0 ? '1' : '0';
        }
        w->cells = text;
    }
    return true;
}

/* True when a window has more pixels than that, or may have them. */
Val el_is_large(Elab *el, Call *call)
{
    Window w;
    int pixels = 0;
    double most = 0;
    bool known = known_window(el, call->arg[IS_LARGE_F], &w) && el_constant(el, call->arg[IS_LARGE_MOST], &most);
    double box = (2 * w.radius[0] + 1) * (2 * w.radius[1] + 1) * (2 * w.radius[2] + 1);
    bool large =
        !known || (w.shape != WINDOW_LITERAL && !(box <= 16 * most)); /* all others fill a sixth of their box */
    if (!large) {
        window_runs(&w, NULL, 0, &pixels);
        large = pixels > most;
    }
    return el_host(ir_const_typed(el->g, large, ELEM_BOOL));
}

/* Runs list the pixels of a window one by one.  Complains about more than they can; what a run finds out it checks. */
static bool check_window(Elab *el, const Call *call, Val f)
{
    enum { MOST_CELLS = 1 << 24 };
    IrGraph *g = el->g;
    IrExpr cells = ir_const(g, 1);
    for (int ax = 0; ax < 3; ax++) {
        IrExpr r = ir_op1(g, IR_X_FLOOR, f.items[ax].val.expr);
        IrExpr side = ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_MUL, ir_const(g, 2), r), ir_const(g, 1));
        cells = ir_op2(g, IR_X_MUL, cells, side);
    }
    double n;
    bool indexed = ir_expr(g, cells)->rank == IR_INDEX; /* then it is as large as any turn makes it */
    bool known = indexed ? isfinite(n = ir_range(g, cells).hi) : ir_default(g, cells, (double)NAN, &n);
    if (known && !(n <= MOST_CELLS)) {
        el_error(el, WINDOW_TOO_LARGE, call->span, n, MOST_CELLS);
        return false;
    }
    if (ir_expr(g, cells)->rank == IR_HOST && !el->guarded) {
        const IrBound bound = {.what = "the number of pixels in a window",
                               .must = "at most 16777216",
                               .value = cells,
                               .lo = 0,
                               .hi = MOST_CELLS,
                               .span = el_place(el, call->span)};
        vec_push(el->arena, &g->bounds, bound);
    }
    return true;
}

static Val add_window(Elab *el, const Call *call, Val f, Val border, IrExpr percent, bool mode)
{
    IrGraph *g = el->g;
    Window w;
    if (!check_window(el, call, f)) {
        return el_err();
    }
    known_window(el, f, &w);
    Val v = el_beside_outside(el, call->arg[0], border.border, border.expr);
    IrExpr in = ir_read(g, el_store(el, v, "value", call->span));
    IrNode node = {.op = IR_WINDOW_RANK,
                   .kind = IR_K_IMAGE,
                   .elem = ir_expr(g, in)->type,
                   .grid = v.grid,
                   .window_rank = {.image = in,
                                   .shape = ir_const(g, (double)w.shape),
                                   .radius = {f.items[0].val.expr, f.items[1].val.expr, f.items[2].val.expr},
                                   .percent = percent,
                                   .border = ir_const(g, border.border),
                                   .outside = border.border == BORDER_CONSTANT ? border.expr : ir_const(g, 0),
                                   .mode = ir_const(g, mode)},
                   .text = w.cells};
    return el_node(el, el_add_once(el, node, "window", call->span));
}

Val el_window_rank(Elab *el, Call *call)
{
    return add_window(el, call, call->arg[WINDOW_RANK_RADIUS], call->arg[WINDOW_RANK_BORDER],
                      call->arg[WINDOW_RANK_Q].expr, false);
}

Val el_window_mode(Elab *el, Call *call)
{
    return add_window(el, call, call->arg[WINDOW_MODE_RADIUS], call->arg[WINDOW_MODE_BORDER], ir_const(el->g, 0), true);
}

/* ---- literal kernels ------------------------------------------------------------------- */

static IrExpr read_cell(Elab *el, IrId node, int dx, int dy, int dz, Val border)
{
    const IrExpr offset[3] = {ir_const(el->g, dx), ir_const(el->g, dy), ir_const(el->g, dz)};
    return ir_read_offset(el->g, node, offset, 0, border.border, border.expr);
}

/* How far cell i of n lies from the middle one, number n / 2 of the kernel as it is written. */
static int from_middle(int i, int n, bool flip)
{
    return flip ? i - (n - 1) / 2 : i - n / 2;
}

/* A sum of products in the order of the rows, each fused: one fma a weight that is not 0. */
Val el_literal_kernel(Elab *el, Call *call)
{
    Rows rows;
    const Val border = call->arg[LITERAL_KERNEL_BORDER],
              v = el_beside_outside(el, call->arg[LITERAL_KERNEL_V], border.border, border.expr);
    bool flip = el_is_truth(el, call->arg[LITERAL_KERNEL_FLIPPED]);
    double value = 0;
    flip = flip && el_constant(el, call->arg[LITERAL_KERNEL_FLIPPED], &value) && value != 0;
    if (!read_rows(el, call->arg[LITERAL_KERNEL_ROWS], &rows, call->at[LITERAL_KERNEL_ROWS])) {
        return el_err();
    }
    if ((rows.ny > 1 && !el_has(el, v, IR_AX_Y)) || (rows.nz > 1 && !el_has(el, v, IR_AX_Z))) {
        el_error(el, NO_SUCH_AXIS, call->at[LITERAL_KERNEL_ROWS], rows.nz > 1 ? "z" : "y", el_axes(el, v.grid));
        return el_err();
    }
    IrGraph *g = el->g;
    IrId node = el_store(el, v, "value", call->span);
    IrExpr acc = ir_const_typed(g, 0, ELEM_F32);
    int n = rows.nx * rows.ny * rows.nz;
    for (int i = 0; i < n; i++) {
        double w = rows.cell[flip ? n - 1 - i : i];
        if (w != 0) {
            int dx = from_middle(i % rows.nx, rows.nx, flip);
            int dy = from_middle(i / rows.nx % rows.ny, rows.ny, flip);
            int dz = from_middle(i / (rows.nx * rows.ny), rows.nz, flip);
            IrExpr read = read_cell(el, node, dx, dy, dz, border);
            acc = ir_op3(g, IR_X_FMA, ir_const_typed(g, w, ELEM_F32), read, acc);
        }
    }
    return el_image(el, acc, v.grid);
}

/* Of the seven images that it may have, one is needed. */
Val el_merge(Elab *el, Call *call)
{
    bool any = false;
    for (int i = 0; i < call->op->n_params; i++) {
        any = any || call->arg[i].kind == VAL_IMAGE;
    }
    if (!any) {
        Diag *d = el_error(el, MISSING_ARGUMENT, call->word, "merge", "red");
        diag_help(el->diags, d,
                  "merge(actin, tubulin, dna) is red, green and blue; merge(green = actin, magenta = dna)");
        return el_err();
    }
    return el_from_prelude(el, "merge", call->arg, call->at, call->op->n_params, call->span);
}

/* Bytes in channels are made for the eye. */
Val el_is_picture(Elab *el, Call *call)
{
    const Val v = call->arg[IS_PICTURE_V];
    bool bytes = el_has(el, v, IR_AX_C) && ir_pixels(el->g, v.expr).elem == ELEM_U8;
    return el_host(ir_const_typed(el->g, bytes, ELEM_BOOL));
}

/* A kernel is a list of rows, or a function of the offsets. */
Val el_is_list(Elab *el, Call *call)
{
    return el_host(ir_const_typed(el->g, call->arg[IS_LIST_V].kind == VAL_LIST, ELEM_BOOL));
}

Val el_list_length(Elab *el, Call *call)
{
    return el_number(el, call->arg[LIST_LENGTH_LIST].n);
}

/* The number in a list of numbers: nested choices, so that the index may be a pixel. */
Val el_pick(Elab *el, Call *call)
{
    const Val index = call->arg[PICK_INDEX], list = call->arg[PICK_LIST];
    if (list.n == 0) {
        el_error(el, LIST_NOT_RECTANGULAR, call->at[PICK_LIST], "");
        return el_err();
    }
    if (list.n > ELAB_MAX_UNROLL) {
        el_error(el, LIST_TOO_LONG, call->at[PICK_LIST], (double)list.n, ELAB_MAX_UNROLL);
        return el_err();
    }
    Val picked = list.items[list.n - 1].val;
    for (int i = list.n - 2; i >= 0; i--) {
        Val here = el_op2(el, IR_X_LE, index, el_number(el, i), call->span);
        picked = el_select(el, here, list.items[i].val, picked, call->span);
    }
    return picked;
}

Val el_is_mask_op(Elab *el, Call *call)
{
    return el_host(ir_const_typed(el->g, el_is_mask(el, call->arg[IS_MASK_V]), ELEM_BOOL));
}

static Val per_axis(Elab *el, IrExpr x, IrExpr y, IrExpr z)
{
    Val record = el_record(el, 3);
    record.items[0] = (ValItem){"x", el_host(x)};
    record.items[1] = (ValItem){"y", el_host(y)};
    record.items[2] = (ValItem){"z", el_host(z)};
    return record;
}

/* How far a kernel reaches: half the rows of a list; for a function what the user says. */
Val el_kernel_radius(Elab *el, Call *call)
{
    Rows rows;
    if (call->arg[KERNEL_RADIUS_KERNEL].kind == VAL_FUNCTION) {
        if (call->arg[KERNEL_RADIUS_RADIUS].kind != VAL_RECORD) {
            Diag *d = el_error(el, MISSING_ARGUMENT, call->span, "a kernel function", "radius");
            diag_help(el->diags, d, "convolve(v, f, radius = 3) takes f of the offsets -3 .. 3");
            return el_err();
        }
        return call->arg[KERNEL_RADIUS_RADIUS];
    }
    if (!read_rows(el, call->arg[KERNEL_RADIUS_KERNEL], &rows, call->at[KERNEL_RADIUS_KERNEL])) {
        return el_err();
    }
    IrGraph *g = el->g;
    return per_axis(el, ir_const(g, rows.nx / 2), ir_const(g, rows.ny / 2), ir_const(g, rows.nz / 2));
}

/* How many cells a kernel has along each axis, which may be an even number where it is a list. */
Val el_kernel_extent(Elab *el, Call *call)
{
    static const char *const NAMES[] = {"x", "y", "z"};
    IrGraph *g = el->g;
    Rows rows;
    Val radius = el_kernel_radius(el, call);
    if (el_is_bad(radius)) {
        return radius;
    }
    if (call->arg[KERNEL_EXTENT_KERNEL].kind == VAL_LIST) {
        read_rows(el, call->arg[KERNEL_EXTENT_KERNEL], &rows, call->at[KERNEL_EXTENT_KERNEL]);
        return per_axis(el, ir_const(g, rows.nx), ir_const(g, rows.ny), ir_const(g, rows.nz));
    }
    IrExpr extent[3];
    for (int ax = 0; ax < 3; ax++) {
        IrExpr r = el_member(radius, NAMES[ax])->expr;
        extent[ax] = ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_MUL, ir_const(g, 2), r), ir_const(g, 1));
    }
    return per_axis(el, extent[0], extent[1], extent[2]);
}

/* True when a number is 0 whatever the parameters are. */
Val el_known_zero(Elab *el, Call *call)
{
    double value;
    bool zero = el_constant(el, call->arg[KNOWN_ZERO_N], &value) && value == 0;
    return el_host(ir_const_typed(el->g, zero, ELEM_BOOL));
}
