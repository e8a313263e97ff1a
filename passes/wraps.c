/*
 * wraps: windows that come round from the other end rank an image that has been put together round its ends.
 *
 * The primitive that ranks large windows wants the rows that a window reaches beside the part; under the border
 * `wrap` these may lie at the other end, so that the image has to be there whole.  In a larger image, which repeats as
 * many rows at each end as a window reaches, no window comes to an end: ranked there and cut out again the
 * pixels are the same, and a map can read from both ends in parts.
 *
 * That takes two images more, so that it is for a second program (Program.in_rounds), which only runs where the
 * first one does not fit; the pass does nothing otherwise.
 *
 * For example, where %1 is an image,
 *
 *     %2 a = window_rank : image f32 grid 0
 *         in 0 %1
 *         arg 0 0
 *         arg 1 9
 *         arg 2 9
 *         arg 3 0
 *         arg 4 50
 *         arg 5 3
 *         arg 6 0
 *         arg 7 0
 *     output a = %2 as tif
 *
 * becomes
 *
 *     grid 1 [x = add(extent(%1, x), 18), y = add(extent(%1, y), 18)]
 *     %3 a_round = map : image f32 grid 1
 *         in 0 %1@[x = sub(coord(x), 9:i32), y = sub(coord(y), 9:i32), border = wrap]
 *     %4 a_window = window_rank : image f32 grid 1
 *         in 0 %3
 *         arg 0 0
 *         arg 1 9
 *         arg 2 9
 *         arg 3 0
 *         arg 4 50
 *         arg 5 0
 *         arg 6 0
 *         arg 7 0
 *     %5 a = map : image f32 grid 0
 *         in 0 %4@[x = add(coord(x), 9:i32), y = add(coord(y), 9:i32)]
 *     output a = %5 as tif
 */
#include "pass.h"

#include "../ir/edit.h"

static bool is_border(const IrGraph *g, IrExpr e, Border border)
{
    double v;
    return ir_is_const(g, e, &v) && v == (double)border;
}

static bool is_wrapped(const IrGraph *g, IrId id)
{
    const IrNode *n = ir_node(g, id);
    return !n->dead && n->op == IR_WINDOW_RANK && is_border(g, n->window_rank.border, BORDER_WRAP);
}

bool pass_wants_wraps(const IrGraph *g)
{
    bool wants = false;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        wants = wants || is_wrapped(g, id);
    }
    return wants;
}

/* How far a window reaches along each axis that the image has; 0 along others. */
static void find_reach(IrGraph *g, const IrNode *n, IrExpr reach[3])
{
    for (int ax = 0; ax < 3; ax++) {
        IrExpr radius = ir_op1(g, IR_X_FLOOR, n->window_rank.radius[ax]);
        bool has = g->grids.at[n->grid].has[ax];
        reach[ax] = has ? ir_op2(g, IR_X_MAX, radius, ir_const(g, 0)) : 0;
    }
}

static int larger_grid(IrGraph *g, int of, const IrExpr reach[3])
{
    IrGrid grid = g->grids.at[of];
    for (int ax = 0; ax < 3; ax++) {
        IrExpr both = reach[ax] != 0 ? ir_op2(g, IR_X_MUL, reach[ax], ir_const(g, 2)) : 0;
        grid.extent[ax] = both != 0 ? ir_op2(g, IR_X_ADD, grid.extent[ax], both) : grid.extent[ax];
    }
    return ir_add_grid(g, grid);
}

/* Reads an image so many pixels before (after) the current one. */
static IrExpr read_moved(IrGraph *g, IrId image, const IrExpr reach[3], IrExprOp way, Border border)
{
    IrExpr at[3];
    for (int ax = 0; ax < 3; ax++) {
        at[ax] = reach[ax] != 0 ? ir_op2(g, way, ir_coord(g, ax), reach[ax]) : 0;
    }
    return ir_read_at(g, image, at, 0, border, 0);
}

static IrId add_map(IrGraph *g, const IrNode *like, int grid, Elem elem, IrExpr e, const char *what)
{
    IrNode map = {.op = IR_MAP,
                  .kind = like->kind,
                  .elem = elem,
                  .grid = grid,
                  .name = arena_printf(g->arena, "%s_%s", like->name, what),
                  .span = like->span,
                  .loop = like->loop,
                  .map.value = e};
    return ir_add_node(g, map);
}

/* The node becomes what cuts the result out. */
static void put_round(IrGraph *g, IrId id)
{
    const IrNode own = *ir_node(g, id);
    IrExpr reach[3];
    find_reach(g, &own, reach);
    IrId image = ir_expr(g, own.window_rank.image)->node;
    Elem elem = ir_node(g, image)->elem;
    int grid = larger_grid(g, own.grid, reach);
    IrExpr round = read_moved(g, image, reach, IR_X_SUB, BORDER_WRAP);
    IrNode window = own;
    window.grid = grid;
    window.name = arena_printf(g->arena, "%s_window", own.name);
    window.window_rank.image = ir_read(g, add_map(g, &own, grid, elem == ELEM_FILE ? own.elem : elem, round, "round"));
    window.window_rank.border = ir_const(g, BORDER_NEAREST);
    IrId ranked = ir_add_node(g, window);
    IrExpr result = read_moved(g, ranked, reach, IR_X_ADD, BORDER_NEAREST);
    *ir_node(g, id) = (IrNode){.op = IR_MAP,
                               .kind = own.kind,
                               .elem = own.elem,
                               .grid = own.grid,
                               .name = own.name,
                               .span = own.span,
                               .loop = own.loop,
                               .map.value = result};
}

bool pass_wraps(IrGraph *g, PassContext *cx)
{
    bool any = false;
    for (IrId id = 1, n = (IrId)g->nodes.n; cx->in_rounds && id < n; id++) {
        if (is_wrapped(g, id)) {
            put_round(g, id);
            any = true;
        }
        if (any && !ir_node(g, id)->dead && ir_node(g, id)->op != IR_INPUT) {
            ir_move_to_end(g, id);
        }
    }
    return any;
}
