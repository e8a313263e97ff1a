/*
 * slices: kernels whose windows are ranked bit by bit, 32 pixels a word (kernels/slices.cl says
 * how), for windows of pixels as the file has them.
 *
 * All but the rank is the text of the direct kernel: the expression at a pixel finds the rank's
 * value under a name instead of sorting for it.  Which of the two texts a device compiles is for
 * the preprocessor to say, since the type of a file's pixels is known when it is read.
 */
#include "kernel.h"

#include "../ir/footprint.h"

#include <string.h>

/* ---- which window ------------------------------------------------------------------------ */

typedef struct FoldWalk {
    IrExpr window; /* the fold that ranks, with those that go on with it */
    bool others;   /* there are folds beside them */
} FoldWalk;

/* Bodies are met before what they are in. */
static void look_at_fold(const IrGraph *g, IrExpr e, void *ctx)
{
    FoldWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_FOLD || n->rank != IR_PIXEL || e == w->window) {
        return;
    }
    bool around = n->flat && n->a == w->window;
    w->others = w->others || n->fold != IR_FOLD_RANK || (w->window != 0 && !around);
    w->window = e;
}

/* The one window of a kernel, if its pixels are read as they are from planes of the kernel's own
 * grid; else 0. */
static IrExpr find_window(CgKernel *k, const IrStep *step)
{
    FoldWalk w = {0};
    for (int i = 0; i < step->stages.n; i++) {
        ir_walk(k->g, ir_node(k->g, step->stages.at[i])->map.value, look_at_fold, &w);
    }
    if (w.window == 0 || w.others || k->boxed || cg_picks(k->g, w.window)) {
        return 0;
    }
    const IrExprNode *fold = ir_expr(k->g, w.window);
    const IrExprNode *inner = fold;
    while (inner->flat) {
        inner = ir_expr(k->g, inner->a);
    }
    const IrExprNode *read = ir_expr(k->g, inner->a);
    bool planes = read->op == IR_X_READ && read->c != 0 && k->g->grids.at[k->domain].has[IR_AX_C];
    bool plain = fold->type == ELEM_F32 && read->op == IR_X_READ && !planes && read->channel == 0 &&
                 read->border != BORDER_CONSTANT;
    if (!plain) {
        return 0;
    }
    const IrNode *node = ir_node(k->g, read->node);
    bool small = node->elem == ELEM_U8 || node->elem == ELEM_U16 || node->elem == ELEM_FILE;
    return small && !k->boxed && node->grid == k->domain ? w.window : 0;
}

/* ---- its text ---------------------------------------------------------------------------- */

static const char *slice_text(CgContext *cx, IrExpr read)
{
    const IrExprNode n = *ir_expr(cx->k->g, read);
    const char *plane = n.c == 0 ? "0" : cg_offset_text(cx, n.c, IR_AX_Z);
    return arena_printf(cx->k->arena, "SLICE(at, %s, y, %s, %s)", plane,
                        n.b != 0 ? cg_offset_text(cx, n.b, IR_AX_Y) : "0",
                        n.a != 0 ? cg_offset_text(cx, n.a, IR_AX_X) : "0");
}

static const char *reach_text(CgKernel *k, IrExpr reach, const char *side)
{
    return cg_define_int(k, reach, cg_of_kernel(k, side));
}

static void write_gather(CgKernel *k, IrExpr window, CgSliced *s)
{
    CgContext cx;
    Str body;
    str_init(&body, k->arena);
    cg_context(&cx, k, &body, &body, slice_text);
    cx.indent = 1;
    cg_window_loops(&cx, window, "window", slice_text);
    str_addf(&s->gather,
             "static inline __attribute__((always_inline)) void %s(const local uint *at, int y, uint *window)\n"
             "{\n%s}\n",
             cg_of_kernel(k, "gather"), body.at);
}

/* The stages at one pixel, with the rank in px_ranked. */
static void write_stages(CgKernel *k, const IrStep *step, IrExpr window, Str *prologue, Str *body)
{
    CgContext cx;
    cg_context(&cx, k, body, prologue, cg_read_memory);
    for (int i = 0; i < step->stages.n; i++) {
        cg_count_uses(&cx, ir_node(k->g, step->stages.at[i])->map.value);
    }
    cx.indent = 5;
    cx.prologue_indent = 1;
    vec_push(k->arena, &cx.memo, ((CgMemo){window, "px_ranked"}));
    for (int i = 0; i < step->stages.n; i++) {
        IrId id = step->stages.at[i];
        const char *value = cg_store_text(&cx, ir_node(k->g, id)->map.value, id);
        const char *to = cg_param_buffer(k, id, true);
        cg_line(&cx, "%s[%s] = %s;", to, cg_pixel(k, id, to, "c", "z", "plane", "y", "x"), cg_bare(k->arena, value));
    }
}

bool cg_sliced(CgKernel *k, const IrStep *step, CgSliced *s)
{
    IrExpr window = find_window(k, step);
    if (window == 0) {
        return false;
    }
    CgContext cx;
    Str body, prologue, planes;
    str_init(&s->gather, k->arena);
    str_init(&s->body, k->arena);
    str_init(&body, k->arena);
    str_init(&prologue, k->arena);
    str_init(&planes, k->arena);
    cg_context(&cx, k, &body, &prologue, cg_read_memory);
    const CgWindow w = cg_window(&cx, window);
    const IrExprNode read = *ir_expr(k->g, w.body);
    IrFootprint fp = ir_footprint(k->g, window);
    const IrReach reach = *ir_reach(&fp, read.node);
    const char *left = reach_text(k, ir_op1(k->g, IR_X_NEG, reach.lo[0]), "LEFT");
    const char *right = reach_text(k, reach.hi[0], "RIGHT");
    const char *up = reach_text(k, ir_op1(k->g, IR_X_NEG, reach.lo[1]), "UP");
    const char *down = reach_text(k, reach.hi[1], "DOWN");
    const char *front = reach_text(k, ir_op1(k->g, IR_X_NEG, reach.lo[2]), "FRONT");
    const char *behind = reach_text(k, reach.hi[2], "BEHIND");
    s->condition = arena_printf(k->arena, "IS_SLICED(%s, %s, %s, %s, %s, %s, %s, %s)", w.key, w.size, left, right, up,
                                down, front, behind);
    str_addf(&s->gather, "SLICES_OF(%s, %s, %s, %s, %s);\n", w.key, up, down, front, behind);
    write_gather(k, window, s);
    write_stages(k, step, window, &prologue, &body);
    const char *image = cg_param_buffer(k, read.node, false);
    cg_param_extent(k, 0, 0);
    const char *y = arena_printf(k->arena, "%s(y, %s)", CG_BORDER_MAPS[read.border], cg_param_extent(k, 0, 1));
    const char *plane = "plane";
    if (read.c != 0) {
        plane = arena_printf(k->arena, "%s(plane + px_z, %s)", CG_BORDER_MAPS[read.border], cg_param_extent(k, 0, 2));
    }
    const char *row = cg_row(k, read.node, image, "c", read.c != 0 ? plane : "z", plane, y);
    cg_plane_names(k, arena_printf(k->arena, "%s%s", body.at, row), &planes);
    str_addf(&s->body,
             "%s%s"
             "    SLICES(%s);\n"
             "    for (int from = y0 - px_slice_warm_up; from < end; from += SLICE_TURN) {\n"
             "        FETCH_SLICES(%s, %s, from, y0, end - 1, %s, %s, %s + %s);\n"
             "        SLICES_ARE_KEPT;\n"
             "        if (from >= y0) {\n"
             "            RANK_SLICES(%s, %s, %s, %s, from);\n"
             "        }\n"
             "        SLICES_ARE_KEPT;\n"
             "        for (int y = max(from, y0); y < min(from + SLICE_TURN, end); y++) {\n"
             "            for (int k = 0; k < PX; k++) {\n"
             "                const int x = x0 + k * LX;\n"
             "                if (x < w) {\n"
             "                    const float px_ranked = PX_VALUE(%s, RANK_AT(y - from, k));\n"
             "%s"
             "                }\n"
             "            }\n"
             "        }\n"
             "    }\n",
             planes.at, prologue.at, w.key, w.key, CG_BORDER_MAPS[read.border], up, down, image, row, w.key,
             cg_of_kernel(k, "gather"), w.size, w.nth, w.key, body.at);
    return true;
}
