/*
 * axes: what users call the axes of an image.
 *
 * In memory the axes of an image are packed: a projection along x makes columns of rows and rows of planes.  For the user
 * the axes that are left keep their names, wherever they lie.  What the user writes is translated where an axis is named:
 * words, arguments such as x and width, places, coordinates, extents; the prelude works with axes as they lie.  Images
 * whose axes lie elsewhere meet by their names.
 */
#include "elab.h"

#include <string.h>

ElNames el_as_they_lie(void)
{
    return (ElNames){{IR_AX_X, IR_AX_Y, IR_AX_Z}};
}

const ElNames *el_names_of(const Elab *el, int grid)
{
    return &el->grids.at[grid].names;
}

static const bool *axes_of(const Elab *el, int grid)
{
    return el->g->grids.at[el->grids.at[grid].extents].has;
}

bool el_are_named(const Elab *el, int grid)
{
    bool named = false;
    for (int ax = 0; ax < 3; ax++) {
        named = named || (axes_of(el, grid)[ax] && el_names_of(el, grid)->of[ax] != ax);
    }
    return named;
}

int el_lies_at(const Elab *el, int grid, int axis)
{
    for (int ax = 0; ax < 3; ax++) {
        if (axes_of(el, grid)[ax] && el_names_of(el, grid)->of[ax] == axis) {
            return ax;
        }
    }
    return -1;
}

int el_axis(const Elab *el, Val v, int axis)
{
    const bool *has = axes_of(el, v.grid);
    int at = axis;
    if (el->call.source != NULL || axis == IR_AX_C || (has[axis] && el_names_of(el, v.grid)->of[axis] == axis)) {
        return axis;
    }
    int lies = el_lies_at(el, v.grid, axis);
    while (lies < 0 && has[at]) { /* where none lies, of at most two */
        at = (at + 1) % 3;
    }
    return lies >= 0 ? lies : at;
}

static bool input_has_axis(const Elab *el, int axis)
{
    bool has = false;
    for (int i = 1; i < el->g->nodes.n; i++) {
        const IrNode *n = &el->g->nodes.at[i];
        has = has || (n->op == IR_INPUT && el->g->grids.at[n->grid].has[axis]);
    }
    return has;
}

bool el_no_axis(Elab *el, Val v, int axis, Span span)
{
    static const char *const NAMES[] = {"x", "y", "z", "c"};
    Diag *d = el_error(el, NO_SUCH_AXIS, span, NAMES[axis], el_axes(el, v.grid));
    IrId node;
    bool made = !el_plain_read(el, v.expr, &node) || ir_node(el->g, node)->op != IR_INPUT;
    if (made && input_has_axis(el, axis)) {
        const char *place = arena_printf(el->arena, " or a known place (v[%s = 0])", NAMES[axis]);
        int left = IR_AX_X; /* the innermost that is left */
        while (left <= IR_AX_Z && el_lies_at(el, v.grid, left) < 0) {
            left++;
        }
        diag_help(el->diags, d, "a projection%s has taken it away; the axes that are left keep their names%s%s%s",
                  axis == IR_AX_Z || axis == IR_AX_C ? place : "", left <= IR_AX_Z ? ": write `" : "",
                  left <= IR_AX_Z ? NAMES[left] : "", left <= IR_AX_Z ? "`" : "");
    } else if (axis >= IR_AX_Z && el_has(el, v, axis == IR_AX_Z ? IR_AX_C : IR_AX_Z)) {
        diag_help(el->diags, d,
                  axis == IR_AX_Z ? "it has channels: v[c = 0] is the first, max(v[c = k] for k in 0 .. 2) takes them "
                                    "together; planes: input image[z, y, x, c]"
                                  : "it has planes: z = 0 is the first; channels: input image[z, y, x, c]");
    } else {
        diag_help(el->diags, d, "an image has the axes that its input names: input image[%s]",
                  axis == IR_AX_C ? "y, x, c" : "z, y, x");
    }
    return false;
}

bool el_need_axis(Elab *el, Val v, int axis, Span span)
{
    return el_has(el, v, el_axis(el, v, axis)) || el_no_axis(el, v, axis, span);
}

/* ---- arguments that name axes -------------------------------------------------------------- */

/* Arguments called as the axes of the user become those of the axes as they lie. */
static void move_arguments(const Elab *el, Call *call, const char *const names[3])
{
    const Call from = *call;
    for (int axis = 0; axis < 3; axis++) {
        int i = el_argument(call, names[axis]), to = el_argument(call, names[el_axis(el, from.arg[0], axis)]);
        if (i >= 0 && to >= 0) {
            call->arg[to] = from.arg[i];
            call->given[to] = from.given[i];
            call->at[to] = from.at[i];
        }
    }
}

bool el_names_axis(const OpParam *p, Val v)
{
    return (p->types & OP_AXIS) != 0 && v.text != NULL && strlen(v.text) == 1 && strchr("xyz", v.text[0]) != NULL;
}

void el_settle_axes(Elab *el, Call *call)
{
    static const char *const PLACES[] = {"x", "y", "z"}, *const SIZES[] = {"width", "height", "depth"};
    const Val v = call->arg[0];
    if (el->call.source != NULL || (v.kind != VAL_IMAGE && v.kind != VAL_SELECTION) || !el_are_named(el, v.grid)) {
        return;
    }
    for (int i = 1; i < call->op->n_params; i++) {
        if (el_names_axis(&call->op->param[i], call->arg[i])) {
            call->arg[i] = el_word(PLACES[el_axis(el, v, call->arg[i].text[0] - 'x')]);
        }
    }
    move_arguments(el, call, PLACES);
    move_arguments(el, call, SIZES);
}

/* ---- fewer axes ---------------------------------------------------------------------------- */

/* What lies behind the axis moves up. */
Val el_without_axis(Elab *el, Call *call)
{
    const Val v = call->arg[WITHOUT_AXIS_V];
    int gone = call->arg[WITHOUT_AXIS_AXIS].text[0] - 'x';
    IrGrid grid = *el_grid(el, v);
    ElNames names = *el_names_of(el, v.grid);
    if (el_ndim(el, v) == 1) {
        Diag *d = el_error(el, LAST_AXIS, call->span, el_axes(el, v.grid));
        diag_help(el->diags, d, "one value for all of it: sum(v), max(v), median(v)");
        return el_err();
    }
    for (int ax = gone; ax < 3; ax++) {
        bool behind = ax < IR_AX_Z && grid.has[ax + 1];
        grid.has[ax] = behind;
        grid.extent[ax] = behind ? grid.extent[ax + 1] : 0;
        names.of[ax] = behind ? names.of[ax + 1] : ax;
    }
    return el_image(el, ir_const_typed(el->g, 0, ELEM_F32), el_add_grid(el, grid, el_nowhere(), names));
}

/* ---- images meet by the names of their axes ------------------------------------------------ */

static IrExpr extent_along(const Elab *el, int grid, int axis)
{
    int at = el_lies_at(el, grid, axis);
    return at >= 0 ? el->g->grids.at[el->grids.at[grid].extents].extent[at] : 0;
}

int el_joined_by_name(Elab *el, int p, int q)
{
    bool of_p = true, of_q = true, has[3];
    for (int axis = 0; axis < 3; axis++) {
        has[axis] = extent_along(el, p, axis) != 0 || extent_along(el, q, axis) != 0;
        of_p = of_p && (!has[axis] || extent_along(el, p, axis) != 0);
        of_q = of_q && (!has[axis] || extent_along(el, q, axis) != 0);
    }
    const int like = of_p ? p : of_q ? q : -1;
    IrGrid grid = {.extent = {0}};
    ElNames names = like >= 0 ? *el_names_of(el, like) : el_as_they_lie();
    for (int axis = 0, n = 0; axis < 3; axis++) {
        if (has[axis]) {
            const int at = like >= 0 ? el_lies_at(el, like, axis) : n++;
            IrExpr extent = extent_along(el, p, axis);
            grid.has[at] = true;
            grid.extent[at] = extent != 0 ? extent : extent_along(el, q, axis);
            names.of[at] = axis;
        }
    }
    const int c = axes_of(el, p)[IR_AX_C] ? p : q;
    grid.has[IR_AX_C] = axes_of(el, c)[IR_AX_C];
    grid.extent[IR_AX_C] = el->g->grids.at[el->grids.at[c].extents].extent[IR_AX_C];
    return el_add_grid(el, grid, like >= 0 ? *el_place_of(el, like) : el_nowhere(), names);
}
