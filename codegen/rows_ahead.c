/*
 * rows_ahead: kernels whose stages keep their rows in registers for those who read them.
 *
 * At each row of the stream every stage is computed once, as far ahead as the stages behind it need (ir/ahead.h), out
 * of the rows of what it reads, which are all there.  So a stencil of a stencil of a stencil, or several rounds of a
 * loop, are one kernel that computes nothing twice but the columns beside a work-item's own ones.
 *
 * Beyond the image's first and last row a stage has the value that its readers' border gives it: under `nearest` its
 * last row stands again below the image, and its first one, once it is there, above.  Strips away from the edges need
 * none of that; they load their rows a turn ahead (rows_carry.c).  Their quotients and roots have no branches.  Where
 * that is not for some operands, a strip is computed again as one at an edge is.
 */
#include "rows.h"

#include <string.h>

static const IrRowsOf *rows_of(const Rows *r, IrId node)
{
    return ir_rows_of(r->ahead, node);
}

static const char *array_name(const Rows *r, IrId node)
{
    for (int i = 0; i < r->carried.n; i++) {
        if (r->carried.at[i].node == node) {
            return r->carried.at[i].array;
        }
    }
    return cg_of_node(r->k, node, "kept");
}

const char *rows_kept(const Rows *r, IrId node, int by)
{
    const int at = by - rows_of(r, node)->lo;
    return arena_printf(r->k->arena, at == 0 ? "%s[turn]" : "%s[turn + %d]", array_name(r, node), at);
}

const char *rows_kept_beside(const Rows *r, IrId stage, const IrExprNode *read)
{
    double by = 0;
    if (read->b != 0) {
        (void)ir_is_const(r->k->g, read->b, &by);
    }
    return rows_kept(r, read->node, rows_of(r, stage)->hi + (int)by);
}

/* ---- what stands around the stream ---------------------------------------------------------- */

static const char *ahead_of(const Rows *r, const char *from, int rows)
{
    return rows == 0 ? from : cg_plus(r->k->arena, from, arena_printf(r->k->arena, rows < 0 ? "(%d)" : "%d", rows));
}

/* The first rows of the stream are before those that a part of the image has of an image that is needed later. */
static const char *least_row(const Rows *r, const IrRowsOf *of)
{
    return of->lo - r->ahead->warm < of->from ? ahead_of(r, "first", of->from) : NULL;
}

static void add_carried(Rows *r, const IrRowsOf *of)
{
    Carried c = {.node = of->node,
                 .channel = "",
                 .array = arena_printf(r->k->arena, "px_carried%d", r->carried.n),
                 .lo = of->lo,
                 .hi = of->hi,
                 .least = least_row(r, of)};
    vec_push(r->k->arena, &r->carried, c);
    rows_extent(r, of->node)->carried = true;
}

/* The first rows of a stage, which are moved out before a result follows from them, are defined all the same: compilers may
 * do anything where a branch depends on what is not. */
static void declare_rows(Rows *r, const IrRowsOf *of, const char *array)
{
    const char *width = rows_width(r, of->node);
    str_addf(r->before, "    %s %s[%d + TURNS][%s];\n", cg_type(cg_register_type(&r->cx, of->node)), array,
             of->hi - of->lo, width);
    if (of->computed && of->hi > of->lo) {
        str_addf(r->before,
                 "    PX_UNROLL for (int m = 0; m < %d; m++) {\n"
                 "        PX_UNROLL for (int k = 0; k < %s; k++) %s[m][k] = 0;\n"
                 "    }\n",
                 of->hi - of->lo, width, array);
    }
}

static void move_rows(Rows *r, const IrRowsOf *of, const char *array)
{
    if (of->hi > of->lo) {
        str_addf(r->after,
                 "        PX_UNROLL for (int m = 0; m < %d; m++) {\n"
                 "            PX_UNROLL for (int k = 0; k < %s; k++) %s[m][k] = %s[m + TURNS][k];\n"
                 "        }\n",
                 of->hi - of->lo, rows_width(r, of->node), array, array);
    }
}

/* Loads a row of an image, mapped at the edges, into an array. */
static void load_row(Rows *r, const IrRowsOf *of, const char *at, const char *array)
{
    CgKernel *k = r->k;
    const char *least = least_row(r, of), *row = cg_of_node(k, of->node, "row"), *h = cg_param_extent(k, 0, 1);
    const char *there = least != NULL ? arena_printf(k->arena, "max(%s, %s)", at, least) : at;
    const Border border = of->moved ? of->border : BORDER_NEAREST;
    rows_line(r, arena_printf(k->arena, "const int %s = %s(%s, %s);", row, CG_BORDER_MAPS[border], there, h));
    rows_take(r, of->node, array, rows_row_text(r, of->node, row, "plane", ""));
    rows_mend_sides(r, of->node, array);
    if (of->moved && border == BORDER_CONSTANT) {
        rows_line(r, arena_printf(k->arena,
                                  "if ((uint)(%s) >= (uint)%s) { PX_UNROLL for (int k = 0; k < %s; k++) %s[k] = %s; }",
                                  there, h, rows_width(r, of->node), array, cg_outside(&r->cx, of->node, of->outside)));
    }
}

/* The rows that are there before the first one of the stream. */
static void load_first_rows(Rows *r, const IrRowsOf *of, const char *array)
{
    if (of->hi == of->lo) {
        return;
    }
    Str *const body = r->body;
    r->body = r->before;
    r->cx.indent = 1;
    rows_line(r, arena_printf(r->k->arena, "PX_UNROLL for (int m = 0; m < %d; m++) {", of->hi - of->lo));
    r->cx.indent++;
    load_row(r, of, ahead_of(r, "begin + m", of->lo), arena_printf(r->k->arena, "%s[m]", array));
    r->cx.indent--;
    rows_line(r, "}");
    r->body = body;
}

static void lay_node(Rows *r, const IrRowsOf *of)
{
    const char *array = array_name(r, of->node);
    if (of->computed || !r->inside) { /* else as rows_carry.c loads them */
        declare_rows(r, of, array);
        move_rows(r, of, array);
    }
    if (!of->computed && !r->inside) {
        load_first_rows(r, of, array);
    }
    r->lo = of->lo < r->lo ? of->lo : r->lo;
    r->hi = of->hi > r->hi ? of->hi : r->hi;
}

/* A strip may be computed twice where nothing is counted on the way.  (What lies where it is read: kernels/rows.cl.) */
static bool may_repeat(const Rows *r)
{
    bool may = true;
    for (int i = 0; i < r->step->stages.n; i++) {
        may = may && !r->k->cg->sched->reduced[r->step->stages.at[i]];
    }
    return may;
}

void rows_lay_ahead(Rows *r, const IrAhead *ahead)
{
    r->ahead = ahead;
    r->repeats = r->inside && may_repeat(r);
    r->depth = arena_printf(r->k->arena, "%d", ahead->warm + 1);
    r->early = ahead->warm > 0 ? ir_const(r->k->g, ahead->warm) : 0;
    for (int i = 0; i < ahead->of.n && r->inside; i++) {
        if (!ahead->of.at[i].computed) {
            add_carried(r, &ahead->of.at[i]);
        }
    }
    for (int i = 0; i < ahead->of.n; i++) {
        lay_node(r, &ahead->of.at[i]);
    }
}

/* ---- on a row ------------------------------------------------------------------------------ */

/* Above and below the image. */
static void mend_rows(Rows *r, const IrRowsOf *of, const char *row, const char *array)
{
    CgKernel *k = r->k;
    const char *width = rows_width(r, of->node), *h = cg_param_extent(k, 0, 1), *all = array_name(r, of->node);
    if (of->border == BORDER_CONSTANT) {
        rows_line(r, arena_printf(k->arena,
                                  "if ((uint)%s >= (uint)%s) { PX_UNROLL for (int k = 0; k < %s; k++) %s[k] = %s; }",
                                  row, h, width, array, cg_outside(&r->cx, of->node, of->outside)));
        return;
    }
    rows_line(r, arena_printf(k->arena, "if (%s >= %s) { PX_UNROLL for (int k = 0; k < %s; k++) %s[k] = %s[k]; }", row,
                              h, width, array, rows_kept(r, of->node, of->hi - 1)));
    rows_line(r, arena_printf(k->arena, "if (%s == 0) {", row));
    rows_line(r, arena_printf(k->arena,
                              "    PX_UNROLL for (int m = 0; m < %d; m++) { PX_UNROLL for (int k = 0; k < %s; k++) "
                              "%s[turn + m][k] = %s[k]; }",
                              of->hi - of->lo, width, all, array));
    rows_line(r, "}");
}

/* A stage with quotients or roots that may be rare.  Rows before those that some result needs are of no account, nor are those
 * behind the strip's last one, which stand there twice. */
static void emit_stage(Rows *r, const IrRowsOf *of, Row at, const char *array)
{
    CgKernel *k = r->k;
    const char *rare = cg_of_node(k, of->node, "rare");
    const size_t begin = r->body->n;
    rows_line(r, arena_printf(k->arena, "uint %s = 0;", rare));
    const size_t end = r->body->n;
    r->cx.rare = r->repeats ? rare : NULL;
    rows_emit_stage(r, of->node, at, array);
    r->cx.rare = NULL;
    if (strstr(r->body->at + end, rare) == NULL) {
        str_cut(r->body, begin, end);
        return;
    }
    r->rare = true;
    const char *early = arena_printf(k->arena, "%d", of->hi - of->from);
    rows_line(r, arena_printf(k->arena, "if ((uint)(%s) < %s) px_rare |= %s;",
                              cg_plus(k->arena, "from + turn - first", early), cg_plus(k->arena, "kept_rows", early),
                              rare));
}

static void emit_node(Rows *r, const IrRowsOf *of)
{
    CgKernel *k = r->k;
    const char *array = rows_kept(r, of->node, of->hi), *y = ahead_of(r, "y", of->hi);
    if (!of->computed) {
        if (!r->inside) {
            load_row(r, of, y, array);
        }
        return;
    }
    const char *row = y;
    const size_t begin = r->body->n;
    if (of->hi != 0) {
        row = cg_of_node(k, of->node, "row");
        rows_line(r, arena_printf(k->arena, "const int %s = %s;", row, y));
    }
    const size_t end = r->body->n;
    const Row at = {.y = row, .plane = "plane", .y_of = y, .plane_of = "plane", .base = "", .axis = -1};
    emit_stage(r, of, at, array);
    if (of->moved && !r->inside) {
        mend_rows(r, of, row, array);
    }
    if (strstr(r->body->at + end, row) == NULL) { /* nobody asks for its number */
        str_cut(r->body, begin, end);
    }
}

void rows_emit_ahead(Rows *r)
{
    const int stages = r->step->stages.n; /* they come first, and read what comes behind them */
    for (int i = stages; i < r->ahead->of.n; i++) {
        emit_node(r, &r->ahead->of.at[i]);
    }
    for (int i = 0; i < stages; i++) {
        emit_node(r, &r->ahead->of.at[i]);
    }
}
