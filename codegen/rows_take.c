/* rows_take: the columns of a row of an image come from memory into registers (rows.c). */
#include "rows.h"

#include <string.h>

/* Where a row of a stored node lies.  While the folds warm up the stream stands in front of the
 * strip, perhaps of the image: there only what a fold moved is read as it is. */
const char *rows_row_text(Rows *r, IrId node, const char *y, const char *plane, const char *channel)
{
    CgKernel *k = r->k;
    const char *buffer = cg_param_buffer(k, node, false);
    const IrGrid *grid = &k->g->grids.at[ir_node(k->g, node)->grid];
    const char *stream = rows_stream_z(r) ? "plane" : "y";
    if (r->warms_up && strcmp(rows_stream_z(r) ? plane : y, stream) == 0) {
        *(rows_stream_z(r) ? &plane : &y) = arena_printf(k->arena, "max(%s, first)", stream);
    }
    const char *c = channel[0] != '\0' ? channel : "c";
    const char *z = k->g->grids.at[k->domain].has[IR_AX_C] ? "z" : plane;
    if (channel[0] != '\0') {
        plane = grid->has[IR_AX_Z] ? z : channel;
    }
    return arena_printf(k->arena, "%s + %s", buffer, cg_row(k, node, buffer, c, z, plane, y));
}

/* The columns of a row straight from memory, mapped at the edges. */
void rows_take(Rows *r, IrId node, const char *array, const char *at)
{
    Arena *arena = r->k->arena;
    const char *element = cg_element(r->k, node), *left = rows_left(r, node), *width = rows_width(r, node);
    Border border = rows_extent(r, node)->border;
    if (strcmp(width, "PX") == 0) {
        rows_line(r, arena_printf(arena, "LOAD_COLUMNS(%s, %s, PX, %s + %s);", element, array, at,
                                  r->warms_up ? "IN_ROW(x)" : "x"));
        return;
    }
    if (r->inside) {
        rows_line(r, arena_printf(arena, "LOAD_COLUMNS(%s, %s, %s, %s + x - %s);", element, array, width, at, left));
        return;
    }
    rows_line(r, arena_printf(arena, "if (x >= %s && %s <= w) {", left, cg_plus(arena, "x + PX", rows_right(r, node))));
    rows_line(r, arena_printf(arena, "    LOAD_COLUMNS(%s, %s, %s, %s + x - %s);", element, array, width, at, left));
    rows_line(r, "} else {");
    if (border == BORDER_NEAREST) {
        rows_line(r, arena_printf(arena, "    LOAD_NEAREST(%s, %s, %s, %s, x - %s, %s, w);", element, array, width, at,
                                  left, left));
    } else {
        rows_line(r, arena_printf(arena,
                                  "    PX_UNROLL for (int k = 0; k < %s; k++) %s[k] = (%s)[%s(x - "
                                  "%s + k, w)];",
                                  width, array, at, CG_BORDER_MAPS[border], left));
    }
    rows_line(r, "}");
}

/* Under a constant border columns beyond the image's edges have its value. */
void rows_mend_sides(Rows *r, IrId node, const char *array)
{
    const char *left = rows_left(r, node), *width = rows_width(r, node);
    if (strcmp(width, "PX") != 0 && !r->inside && rows_extent(r, node)->border == BORDER_CONSTANT) {
        const char *outside = cg_outside(&r->cx, node, rows_extent(r, node)->outside);
        rows_line(r, arena_printf(r->k->arena,
                                  "PX_UNROLL for (int k = 0; k < %s; k++) %s[k] = (uint)(x + k - "
                                  "%s) < (uint)w ? %s[k] : %s;",
                                  width, array, left, array, outside));
    }
}
