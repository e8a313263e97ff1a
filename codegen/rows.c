/*
 * rows: kernels that stream over the image a row at a time.
 *
 * A work-item owns PX neighbouring columns.  For every row it takes the columns around them,
 * computes the stages on them in registers, and adds what it has to all the sums over rows that
 * this row is part of: a fold over the stream axis is kept transposed, as one partial result for
 * every output row that is still open.  Only the columns of the halo are computed twice, and the
 * rows at the beginning of a strip.
 *
 * A kernel with such folds takes TURNS rows a turn: accumulators move up once a turn, not once a
 * row.  On a GPU the pixels of the next turn are on their way from memory while one is computed,
 * and the work-items of a group share them: they are converted, once each, and put into local
 * memory (TILE_ROWS, FETCH_ROWS, KEEP_ROWS, TAKE_COLUMNS of kernels/rows.cl).  Columns beyond the
 * image's edge are mapped on the way into local memory.  On a CPU the same text reads its rows
 * straight from memory.  Folds over three or four rows are too short for all that.
 *
 * Borders: a stage that is read beyond the image's edge has there the value that it has at the
 * mapped coordinate.  Rows are mapped before anything is computed on them; columns are loaded
 * mapped, or, for stages computed here, overwritten by the column that they map to.
 */
#include "rows.h"

#include "epilogue.h"

#include <assert.h>
#include <string.h>

enum {
    MAX_TILES = 4, /* arrays that come through local memory, which is small */
    SHORT_FOLD = 4 /* rows; a kernel with none longer shares nothing */
};

/* ---- rows -------------------------------------------------------------------------------- */

void rows_line(Rows *r, const char *text)
{
    str_addf(r->body, "%*s%s\n", 4 * r->cx.indent, "", text);
}

/* The row that lies `offset` from `base` along an axis; declared when it is new. */
static Row derive_row(Rows *r, Row base, int axis, IrExpr offset, Border border)
{
    CgKernel *k = r->k;
    const char *from = axis == IR_AX_Y ? base.y : base.plane;
    for (int i = 0; i < r->rows.n; i++) {
        const Row *have = &r->rows.at[i];
        if (have->axis == axis && have->offset == offset && have->border == border && strcmp(have->base, from) == 0 &&
            strcmp(axis == IR_AX_Y ? have->plane : have->y, axis == IR_AX_Y ? base.plane : base.y) == 0) {
            return *have;
        }
    }
    const char *name = arena_printf(k->arena, "%s%d", axis == IR_AX_Y ? "r" : "p", r->rows.n);
    const char *shift = cg_define_int(k, offset, cg_of_kernel(k, "AHEAD"));
    const char *extent = cg_param_extent(k, 0, axis == IR_AX_Y ? 1 : 2);
    Row row = base;
    row.base = from;
    row.offset = offset;
    row.axis = axis;
    row.border = border;
    row.inside = NULL;
    double ahead;
    row.fixed = base.fixed && axis == r->step->stream && ir_is_const(k->g, offset, &ahead);
    row.ahead = row.fixed ? base.ahead + (int)ahead : 0;
    const char *there = cg_plus(k->arena, from, shift);
    const char *written = arena_printf(k->arena, "%s(%s, %s)", CG_BORDER_MAPS[border],
                                       cg_plus(k->arena, axis == IR_AX_Y ? base.y_of : base.plane_of, shift), extent);
    if (axis == IR_AX_Y) {
        row.y = name;
        row.y_of = written;
    } else {
        row.plane = name;
        row.plane_of = written;
    }
    rows_line(r, r->inside ? arena_printf(k->arena, "const int %s = %s;", name, there)
                           : arena_printf(k->arena, "const int %s = %s(%s, %s);", name, CG_BORDER_MAPS[border], there,
                                          extent));
    if (border == BORDER_CONSTANT && !r->inside) {
        row.inside = arena_printf(k->arena, "%s_inside", name);
        rows_line(r, arena_printf(k->arena, "const bool %s = (uint)(%s) < (uint)%s;", row.inside, there, extent));
    }
    vec_push(k->arena, &r->rows, row);
    return row;
}

/* While the longest fold warms up, the stream stands so far in front of the strip that what others read from there may
 * lie before the rows that are there at all, in a part of the image: they begin `rows` - 1 rows before it. */
static Row not_before(const Rows *r, Row row, const char *rows)
{
    const char *stream = rows_stream_z(r) ? "plane" : "y";
    const char **name = rows_stream_z(r) ? &row.plane : &row.y, **of = rows_stream_z(r) ? &row.plane_of : &row.y_of;
    if (r->warms_up && strcmp(*name, stream) == 0) {
        const char *first =
            strcmp(rows, "1") == 0 ? "first" : cg_minus(r->k->arena, "first", cg_one_less(r->k->arena, rows));
        *name = *of = arena_printf(r->k->arena, "max(%s, %s)", stream, first);
    }
    return row;
}

/* Rows that are derived from this one belong to a fold. */
static void note_folded(Rows *r, Row *row)
{
    row->folded = true;
    for (int i = 0; i < r->rows.n; i++) {
        Row *have = &r->rows.at[i];
        have->folded = have->folded || (strcmp(have->y, row->y) == 0 && strcmp(have->plane, row->plane) == 0);
    }
}

/* Rows that are only fetched a turn ahead are named nowhere else. */
static void drop_unused_rows(Rows *r)
{
    for (int i = r->rows.n - 1; i >= 0; i--) {
        const Row *row = &r->rows.at[i];
        const char *name = row->axis == IR_AX_Y ? row->y : row->plane;
        const char *declaration = arena_printf(r->k->arena, "const int %s = ", name);
        size_t from = (size_t)(strstr(r->body->at, declaration) - r->body->at);
        size_t to = from + strcspn(r->body->at + from, "\n") + 1;
        if (!cg_mentions(r->body->at + to, name)) {
            str_cut(r->body, from - 4 * (size_t)r->cx.indent, to);
        }
    }
}

/* ---- reads ------------------------------------------------------------------------------- */

static IrExpr stream_offset(const Rows *r, const IrExprNode *n)
{
    return rows_stream_z(r) ? n->c : n->b;
}

static bool is_folded(const Rows *r, IrExpr offset)
{
    const IrExprNode *o = ir_expr(r->k->g, offset);
    return offset != 0 && o->op == IR_X_INDEX && (int)o->num == r->fold_index;
}

/* The row that a read of the current stage looks at: the fold's, and from there the other way. */
static Row row_of_read(Rows *r, const IrExprNode *n)
{
    const IrExpr offset[2] = {n->b, n->c};
    Row row = is_folded(r, n->b) || is_folded(r, n->c) ? r->fold_row : r->at;
    const char *other = row.inside;
    for (int i = 0; i < 2; i++) {
        if (offset[i] == 0 || is_folded(r, offset[i])) {
            continue;
        }
        int axis = i == 0 ? IR_AX_Y : IR_AX_Z;
        row = derive_row(r, axis == r->step->stream ? not_before(r, row, "1") : row, axis, offset[i], n->border);
        if (other != NULL && row.inside != NULL) { /* off the image along either */
            row.inside = arena_printf(r->k->arena, "(%s && %s)", other, row.inside);
        }
        other = row.inside;
    }
    return row;
}

/* A read that moves to a row outside finds the border's value there; one that does not belongs to
 * a stage that is mended itself. */
static bool is_mended(const IrExprNode *n, const Row *row)
{
    return row->inside != NULL && (n->b != 0 || n->c != 0);
}

/* The array of what a read looks at, if there is one with the value outside that it finds there; n NULL: of the
 * node as it is. */
static Columns *find_columns(Rows *r, IrId node, const Row *row, const char *channel, const IrExprNode *n)
{
    bool mended = n != NULL && is_mended(n, row);
    for (int i = 0; i < r->columns.n; i++) {
        Columns *c = &r->columns.at[i];
        if (c->node == node && strcmp(c->y, row->y) == 0 && strcmp(c->plane, row->plane) == 0 &&
            strcmp(c->channel, channel) == 0 && c->mended == mended && (!mended || c->outside == n->outside)) {
            return c;
        }
    }
    return NULL;
}

const char *rows_channel_text(Rows *r, const IrExprNode *n)
{
    if (n->channel == 0) {
        return "";
    }
    const char *text = cg_int_text(&r->cx, n->channel, "CHANNEL");
    return text != NULL ? text : cg_param_host(r->k, n->channel, ELEM_I32);
}

static Columns *new_columns(Rows *r, IrId node, const Row *row, const char *channel)
{
    CgKernel *k = r->k;
    const bool here = strcmp(row->y, "y") == 0 && strcmp(row->plane, "plane") == 0;
    const char *name = cg_of_node(k, node, here ? "at" : row->axis == IR_AX_Z ? row->plane : row->y);
    for (int i = 0, serial = 2; i < r->columns.n; i++) {
        if (strcmp(r->columns.at[i].array, name) == 0) {
            name = arena_printf(k->arena, "%s_%d", name, serial++);
            i = -1;
        }
    }
    Columns c = {.node = node, .y = row->y, .plane = row->plane, .channel = channel, .array = name};
    vec_push(k->arena, &r->columns, c);
    return &r->columns.at[r->columns.n - 1];
}

/* Where the row lies outside the image the value of the constant border stands. */
static void mend_row(Rows *r, const IrExprNode *n, const Row *row, const char *array)
{
    if (!is_mended(n, row)) {
        return;
    }
    const char *outside = cg_outside(&r->cx, n->node, n->outside);
    rows_line(r, arena_printf(r->k->arena, "if (!%s) { PX_UNROLL for (int k = 0; k < %s; k++) %s[k] = %s; }",
                              row->inside, rows_width(r, n->node), array, outside));
    for (int i = 0; i < r->columns.n; i++) {
        Columns *c = &r->columns.at[i];
        if (strcmp(c->array, array) == 0) {
            c->mended = true;
            c->outside = n->outside;
        }
    }
}

/* Replaces columns beyond the image in a computed stage by the value at the mapped column. */
static void fix_edges(Rows *r, IrId node, const char *array)
{
    const Extent *e = rows_extent(r, node);
    Arena *arena = r->k->arena;
    const char *left = rows_left(r, node), *width = rows_width(r, node);
    if (strcmp(width, "PX") == 0 || r->inside || (e->border != BORDER_NEAREST && e->border != BORDER_CONSTANT)) {
        return; /* of other borders, what it is computed of has been mapped */
    }
    cg_param_extent(r->k, 0, 0);
    rows_line(r, arena_printf(arena, "if (x < %s || %s > w) {", left, cg_plus(arena, "x + PX", rows_right(r, node))));
    if (e->border == BORDER_CONSTANT) {
        const char *outside = cg_outside(&r->cx, node, e->outside);
        rows_line(r, arena_printf(arena,
                                  "    PX_UNROLL for (int k = 0; k < %s; k++) %s[k] = (uint)(x + k "
                                  "- %s) < (uint)w ? %s[k] : %s;",
                                  width, array, left, array, outside));
    } else {
        rows_line(r, arena_printf(arena, "    NEAREST_COLUMNS(%s, %s, x - %s, %s, w);", array, width, left, left));
    }
    rows_line(r, "}");
}

static const char *find_rises(const Rows *r, const char *of)
{
    for (int i = 0; i < r->rises.n; i++) {
        if (strcmp(r->rises.at[i].of, of) == 0) {
            return r->rises.at[i].array;
        }
    }
    return NULL;
}

static const char *new_rises(Rows *r, const char *of, const char *width)
{
    Arena *arena = r->k->arena;
    bool named = of[strlen(of) - 1] != ']'; /* a row of several has no name of its own */
    const Rises rises = {of, named ? arena_printf(arena, "%s_rise", of) : arena_printf(arena, "px_rise%d", r->rises.n)};
    vec_push(arena, &r->rises, rises);
    rows_line(r, arena_printf(arena, "float %s[%s];", rises.array, width));
    return rises.array;
}

/* Loads the columns of a stored node. */
static void load_columns(Rows *r, IrId node, Row row, const IrExprNode *n)
{
    CgKernel *k = r->k;
    Arena *arena = k->arena;
    const char *channel = rows_channel_text(r, n);
    if (find_columns(r, node, &row, channel, n) != NULL || rows_carried(r, node, &row, channel) != NULL) {
        return;
    }
    Columns *c = new_columns(r, node, &row, channel);
    const char *array = c->array, *width = rows_width(r, node);
    const char *type = cg_type(cg_register_type(&r->cx, node));
    bool wide = strcmp(width, "PX") != 0;
    if (wide) {
        cg_param_extent(k, 0, 0);
    }
    bool folded = row.y == r->fold_row.y && row.plane == r->fold_row.plane;
    bool tile = r->fetches && (wide || folded) && r->tiles.n < MAX_TILES;
    c->own = tile && rows_extent(r, node)->rises;
    rows_line(r, arena_printf(arena, "%s %s[%s];", type, array, c->own ? "PX" : width));
    if (c->own) {
        new_rises(r, array, width);
    }
    if (tile) {
        rows_take_stored(r, node, row, c);
    } else {
        rows_take(r, node, array, rows_row_text(r, node, row.y, row.plane, channel));
    }
    rows_mend_sides(r, node, array);
    mend_row(r, n, &row, array);
}

static void columns_of_read(Rows *r, const IrExprNode *n)
{
    if (r->ahead != NULL) { /* all that it reads is there */
        return;
    }
    Row row = row_of_read(r, n);
    if (!rows_extent(r, n->node)->computed) {
        load_columns(r, n->node, row, n);
        return;
    }
    if (find_columns(r, n->node, &row, "", n) != NULL) {
        return;
    }
    if (rows_extent(r, n->node)->tiled) {
        rows_take_computed(r, n->node, row, new_columns(r, n->node, &row, "")->array);
        return;
    }
    IrId stage = r->stage;
    Row at = r->at;
    int fold_index = r->fold_index;
    Row fold_row = r->fold_row;
    const char *array = rows_emit_stage(r, n->node, row, NULL);
    mend_row(r, n, &row, array);
    r->stage = stage;
    r->at = at;
    r->fold_index = fold_index;
    r->fold_row = fold_row;
}

/* The array of a read's columns, which are there already. */
static const char *array_of_read(Rows *r, const IrExprNode *n, bool *own)
{
    *own = false;
    if (r->ahead != NULL) {
        return rows_kept_beside(r, r->stage, n);
    }
    Row row = row_of_read(r, n);
    const char *channel = rows_channel_text(r, n), *carried = rows_carried(r, n->node, &row, channel);
    const Columns *c = carried == NULL ? find_columns(r, n->node, &row, channel, n) : NULL;
    assert(c != NULL || carried != NULL);
    *own = c != NULL && c->own;
    return c != NULL ? c->array : carried;
}

/* All that blends along x take of a read's columns. */
static void add_rises(Rows *r, const IrExprNode *n)
{
    columns_of_read(r, n);
    bool own;
    const char *array = array_of_read(r, n, &own), *width = rows_width(r, n->node);
    if (find_rises(r, array) == NULL) {
        const char *rises = new_rises(r, array, width);
        rows_line(r, arena_printf(r->k->arena, "RISES_OF(%s, %s, %s);", array, rises, width));
    }
}

/* An element of an array, whose first column is `left` columns beside the work-item's own ones, inside the loop over
 * the stage's columns. */
static const char *element_text(Rows *r, const IrExprNode *n, const char *array, const char *left)
{
    CgKernel *k = r->k;
    const char *own = rows_left(r, r->stage);
    const char *offset = n->a != 0 ? cg_offset_text(&r->cx, n->a, IR_AX_X) : "0", *at = "k";
    long a, b, c;
    const bool whole = cg_is_literal(left, &a) && cg_is_literal(own, &b);
    if (whole && cg_is_literal(offset, &c)) {
        at = cg_plus(k->arena, at, cg_literal(k->arena, a - b + c));
    } else if (whole || strcmp(left, own) == 0) {
        at = cg_plus(k->arena, at, whole ? cg_literal(k->arena, a - b) : "0");
        at = cg_plus(k->arena, at, offset);
    } else {
        at = cg_minus(k->arena, cg_plus(k->arena, at, left), own);
        at = cg_plus(k->arena, at, offset);
    }
    return arena_printf(k->arena, "%s[%s]", array, at);
}

static const char *read_text(CgContext *cx, IrExpr e)
{
    Rows *r = cx->user;
    const IrExprNode n = *ir_expr(r->k->g, e);
    bool own;
    const char *array = array_of_read(r, &n, &own);
    return element_text(r, &n, array, own ? "0" : rows_left(r, n.node));
}

static const char *rise_text(CgContext *cx, IrExpr e)
{
    Rows *r = cx->user;
    const IrExprNode n = *ir_expr(r->k->g, e);
    bool own;
    return element_text(r, &n, find_rises(r, array_of_read(r, &n, &own)), rows_left(r, n.node));
}

/* ---- folds over the stream axis ----------------------------------------------------------- */

typedef struct StreamWalk {
    const Rows *r;
    int index;
    bool found;
    Border border;
} StreamWalk;

static void look_for_stream(const IrGraph *g, IrExpr e, void *ctx)
{
    StreamWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READ) {
        return;
    }
    IrExpr offset = stream_offset(w->r, n);
    if (offset != 0 && ir_expr(g, offset)->op == IR_X_INDEX && (int)ir_expr(g, offset)->num == w->index) {
        w->found = true;
        w->border = n->border;
    }
}

/* Is this a fold over the stream axis?  Then under which border. */
static bool is_stream_fold(const Rows *r, IrExpr e, Border *border)
{
    const IrExprNode *n = ir_expr(r->k->g, e);
    if (n->op != IR_X_FOLD || n->rank != IR_PIXEL) {
        return false;
    }
    StreamWalk w = {.r = r, .index = (int)n->num};
    ir_walk(r->k->g, n->a, look_for_stream, &w);
    *border = w.border;
    return w.found;
}

static void look_for_fold(const IrGraph *g, IrExpr e, void *ctx)
{
    Rows *r = ctx;
    Border border;
    const IrExprNode *n = ir_expr(g, e);
    IrExpr offset = n->op == IR_X_READ ? stream_offset(r, n) : 0;
    r->shifts = r->shifts || (offset != 0 && ir_expr(g, offset)->op != IR_X_INDEX);
    if (!is_stream_fold(r, e, &border)) {
        return;
    }
    double lo, hi;
    bool is_short = ir_is_const(g, n->b, &lo) && ir_is_const(g, n->c, &hi) && hi - lo < SHORT_FOLD;
    vec_push(r->k->arena, &r->last_rows, ((LastRow){n->c, n->b, border}));
    r->warms_up = true;
    r->fetches = r->fetches || !is_short;
}

/* The arrays that an expression reads, made before the loop over columns begins. */
static void prepare(Rows *r, IrExpr e);

static void prepare_reads(Rows *r, IrExpr e)
{
    if (e == 0) {
        return;
    }
    const IrExprNode n = *ir_expr(r->k->g, e);
    if (n.rank != IR_PIXEL) {
        return;
    }
    if (n.op == IR_X_READ) {
        columns_of_read(r, &n);
        return;
    }
    prepare(r, n.a);
    prepare(r, n.b);
    prepare(r, n.c);
}

/* The accumulators of a fold over rows: one for each row that is open, and TURNS for those that a
 * turn finishes; at its end they move up. */
static void declare_open(Rows *r, const char *open, const IrExprNode *n, const char *rows, const char *width,
                         const char *unroll)
{
    const char *before = cg_minus(r->k->arena, rows, "1");
    str_addf(r->before, "    %s %s[%s + TURNS][%s];\n", cg_type(n->type), open, before, width);
    str_addf(r->before,
             "    %sfor (int m = 0; m < %s; m++) {\n"
             "        PX_UNROLL for (int k = 0; k < %s; k++) %s[m][k] = %s;\n    }\n",
             unroll, before, width, open, cg_fold_start(n));
    str_addf(r->after,
             "        %sfor (int m = 0; m < %s; m++) {\n"
             "            PX_UNROLL for (int k = 0; k < %s; k++) %s[m][k] = %s[m + TURNS][k];\n"
             "        }\n",
             unroll, before, width, open, open);
}

/* Of windows with many pixels the open rows do not fit into registers, nor a step for each of them and each column
 * into the instruction cache: the loop over rows stays one. */
static const char *unroll_for(IrGraph *g, IrExpr fold)
{
    double n;
    return ir_is_const(g, cg_most_steps(g, fold), &n) && n > CG_MOST_UNROLLED ? "" : "PX_UNROLL ";
}

/* The columns of this row, and what they are more than those of the row before, are the same for all open sums. */
static void emit_rise(Rows *r, const IrExprNode *n, const char *open, const char *width)
{
    Arena *arena = r->k->arena;
    const char *type = cg_type(n->type);
    str_addf(r->before, "    %s %s_last[%s];\n    PX_UNROLL for (int k = 0; k < %s; k++) %s_last[k] = 0.0f;\n", type,
             open, width, width, open);
    rows_line(r, arena_printf(arena, "%s %s_rise[%s];", type, open, width));
    rows_line(r, arena_printf(arena, "PX_UNROLL for (int k = 0; k < %s; k++) {", width));
    r->cx.indent++;
    const int memo = r->cx.memo.n;
    const char *v = cg_expr(&r->cx, n->a);
    r->cx.memo.n = memo;
    rows_line(r, arena_printf(arena, "const %s here = %s;", type, v));
    rows_line(r, arena_printf(arena, "%s_rise[k] = here - %s_last[k];", open, open));
    rows_line(r, arena_printf(arena, "%s_last[k] = here;", open));
    r->cx.indent--;
    rows_line(r, "}");
}

/* A blend's row more: the difference for all sums but the one that begins, and the row itself for the one of which it is
 * the middle. */
static void emit_blend_row(Rows *r, IrExpr e, const char *open, const char *hi, const char *late, const char *rows)
{
    CgKernel *k = r->k;
    Arena *arena = k->arena;
    const IrExprNode n = *ir_expr(k->g, e);
    const char *width = rows_width(r, r->stage), *unroll = unroll_for(k->g, e);
    const CgBlend b = cg_blend(k, e);
    const char *sum = arena_printf(arena, "%s[turn + m][k]", open), *rise = arena_printf(arena, "%s_rise[k]", open);
    emit_rise(r, &n, open, width);
    const char *before = cg_minus(arena, rows, "1");
    rows_line(r, arena_printf(arena, "%sfor (int m = %s; m < %s; m++) {", unroll, late, before));
    rows_line(r, arena_printf(arena, "    const int j = %s - m;", hi));
    rows_line(r, arena_printf(arena, "    PX_UNROLL for (int k = 0; k < %s; k++) %s = %s;", width, sum,
                              cg_blend_rise(k, &b, "j", rise, sum)));
    rows_line(r, "}");
    rows_line(r, arena_printf(arena, "PX_UNROLL for (int k = 0; k < %s; k++) %s[turn + %s][k] = 0.0f;", width, open,
                              before));
    const char *middle = arena_printf(arena, "%s[turn + %s][k]", open, cg_minus(arena, hi, b.middle));
    rows_line(r, arena_printf(arena, "PX_UNROLL for (int k = 0; k < %s; k++) %s = %s;", width, middle,
                              cg_blend_own(k, &b, arena_printf(arena, "%s_last[k]", open), middle)));
}

static void emit_sum_row(Rows *r, IrExpr e, const char *open, const char *hi, const char *late, const char *rows)
{
    Arena *arena = r->k->arena;
    const IrExprNode n = *ir_expr(r->k->g, e);
    const char *width = rows_width(r, r->stage);
    rows_line(r, arena_printf(arena, "%sfor (int m = %s; m < %s; m++) {", unroll_for(r->k->g, e), late, rows));
    r->cx.indent++;
    size_t before = r->body->n;
    rows_line(r, arena_printf(arena, "const int j = %s - m;", hi));
    size_t after = r->body->n;
    rows_line(r, arena_printf(arena, "PX_UNROLL for (int k = 0; k < %s; k++) {", width));
    r->cx.indent++;
    rows_line(r, arena_printf(arena, "%s sum = m < %s ? %s[turn + m][k] : %s;", cg_type(n.type),
                              cg_minus(arena, rows, "1"), open, cg_fold_start(&n)));
    int memo = r->cx.memo.n, loops = r->cx.loops.n;
    vec_push(arena, &r->cx.loops, (CgLoop){(int)n.num, n.b, n.c, "j"});
    cg_fold_steps(&r->cx, e, "sum");
    r->cx.memo.n = memo;
    r->cx.loops.n = loops;
    if (!cg_mentions(r->body->at + after, "j")) {
        str_cut(r->body, before, after);
    }
    rows_line(r, arena_printf(arena, "%s[turn + m][k] = sum;", open));
    r->cx.indent--;
    rows_line(r, "}");
    r->cx.indent--;
    rows_line(r, "}");
}

/* A line between two texts of which a condition chooses; nothing where there is none. */
static void write_choice(Str *out, const char *condition, const char *line)
{
    if (condition != NULL && *condition != '\0') {
        str_addf(out, "%s%s\n", line, strcmp(line, "#if ") == 0 ? condition : "");
    }
}

/* One row more for every open sum, which begins one; one of them is finished then, and the first
 * is taken.  Returns the text that replaces the fold. */
static const char *emit_stream_fold(Rows *r, IrExpr e, Border border)
{
    CgKernel *k = r->k;
    Arena *arena = k->arena;
    const IrExprNode n = *ir_expr(k->g, e);
    const char *open = arena_printf(arena, "open%d", k->n_temps++);
    const char *width = rows_width(r, r->stage);
    IrExpr last = rows_shared_last(r, &n, border);
    r->late = r->late || last != n.c;
    const char *hi = cg_define_int(k, last, cg_of_kernel(k, "HI"));
    const char *late = cg_define_int(k, ir_op2(k->g, IR_X_SUB, last, n.c), cg_of_kernel(k, "LATE"));
    IrExpr count = ir_op2(k->g, IR_X_ADD, ir_op2(k->g, IR_X_SUB, last, n.b), ir_const(k->g, 1));
    count = rows_max_of(k->g, count, ir_const(k->g, 1)); /* a window may be empty, where a param says how large it is */
    const char *rows = cg_define_int(k, count, cg_of_kernel(k, "ROWS"));
    double ahead;
    const Chords *chords = ir_is_const(k->g, last, &ahead) ? rows_find_chords(r, e) : NULL;
    IrExpr steps = chords != NULL ? ir_const(k->g, rows_chord_steps(chords)) : cg_fold_count(k->g, e);
    const char *turn = chords == NULL ? rows_turn_condition(r, e, late) : NULL;
    write_choice(r->before, turn, "#if ");
    write_choice(r->after, turn, "#if ");
    if (turn != NULL) {
        rows_open_extremes(r, open, &n, rows);
    }
    write_choice(r->before, turn, "#else");
    write_choice(r->after, turn, "#else");
    if (turn == NULL || *turn != '\0') {
        declare_open(r, open, &n, rows, width, unroll_for(k->g, e));
    }
    write_choice(r->before, turn, "#endif");
    write_choice(r->after, turn, "#endif");
    r->steps = r->steps == 0 ? steps : ir_op2(k->g, IR_X_ADD, r->steps, steps);
    r->open = r->open == 0 ? count : ir_op2(k->g, IR_X_ADD, r->open, count);
    r->early = rows_max_of(k->g, r->early, ir_op2(k->g, IR_X_SUB, last, n.b));
    r->uneven = r->uneven || (r->depth != NULL && strcmp(r->depth, rows) != 0);
    r->depth = r->depth != NULL ? cg_deeper(arena, r->depth, rows) : rows;

    int fold_index = r->fold_index;
    Row fold_row = r->fold_row;
    Row from = rows_begins_with_others(r, &n, last) ? r->at : not_before(r, r->at, rows);
    r->fold_row = derive_row(r, from, r->step->stream, last, border);
    note_folded(r, &r->fold_row);
    r->fold_index = (int)n.num;
    const int around = ir_pass_into(&r->passed);
    prepare(r, n.a);
    r->passed.fold = around;
    if (chords != NULL) {
        rows_emit_chords(r, chords, open, (int)ahead);
    } else if (turn == NULL) {
        (n.fold == IR_FOLD_BLEND ? emit_blend_row : emit_sum_row)(r, e, open, hi, late, rows);
    } else {
        write_choice(r->body, turn, "#if ");
        rows_emit_extremes(r, open, &n);
        write_choice(r->body, turn, "#else");
        if (*turn != '\0') {
            emit_sum_row(r, e, open, hi, late, rows);
        }
        write_choice(r->body, turn, "#endif");
    }
    r->fold_index = fold_index;
    r->fold_row = fold_row;
    const bool whole = turn != NULL && n.type == ELEM_F64; /* sums that may be open as whole numbers */
    return cg_unless_empty(k, e, arena_printf(arena, whole ? "(double)%s[turn][k]" : "%s[turn][k]", open));
}

/* The text of a fold over the stream axis, which a stage before may have on the same row and columns. */
static const char *stream_fold(Rows *r, IrExpr e, Border border)
{
    StreamFold fold = {e, r->at.y, r->at.plane, rows_left(r, r->stage), rows_width(r, r->stage), NULL};
    for (int i = 0; i < r->folds.n; i++) {
        const StreamFold *there = &r->folds.at[i];
        if (there->fold == e && strcmp(there->y, fold.y) == 0 && strcmp(there->plane, fold.plane) == 0 &&
            strcmp(there->left, fold.left) == 0 && strcmp(there->width, fold.width) == 0) {
            return there->text;
        }
    }
    fold.text = emit_stream_fold(r, e, border);
    vec_push(r->k->arena, &r->folds, fold);
    return fold.text;
}

static void prepare(Rows *r, IrExpr e)
{
    Border border;
    if (e == 0 || ir_expr(r->k->g, e)->rank != IR_PIXEL || ir_passed(r->k->g, &r->passed, e)) {
        return;
    }
    if (r->fold_index < 0 && is_stream_fold(r, e, &border)) {
        for (int i = 0; i < r->cx.memo.n; i++) {
            if (r->cx.memo.at[i].e == e) {
                return;
            }
        }
        CgMemo memo = {e, stream_fold(r, e, border)};
        vec_push(r->k->arena, &r->cx.memo, memo);
        return;
    }
    const IrExpr blended = cg_blended(&r->cx, e);
    if (blended != 0) {
        const IrExprNode read = *ir_expr(r->k->g, blended);
        add_rises(r, &read);
        return;
    }
    prepare_reads(r, e);
}

/* ---- stages ------------------------------------------------------------------------------ */

/* The stage's columns on a row, one by one or as vectors. */
static void emit_columns(Rows *r, IrId id, const Row *row, const char *array)
{
    Arena *arena = r->k->arena;
    const char *width = rows_width(r, id), *left = rows_left(r, id);
    const IrExpr e = ir_node(r->k->g, id)->map.value;
    r->cx.x = strcmp(left, "0") == 0 ? "(x + k)" : arena_printf(arena, "(x + k - %s)", left);
    r->cx.y = row->y;
    r->cx.plane = row->plane;
    r->cx.z = rows_stream_z(r) ? row->plane : r->cx.z;
    if (rows_column_extremes(r, e, array)) {
        return;
    }
    const char *exact = rows_column_sums(r, e, array);
    if (exact != NULL && *exact == '\0') {
        return;
    }
    const bool vectors = cg_register_type(&r->cx, id) == ELEM_F32 && cg_vector_sum(&r->cx, e, array, width);
    rows_line(r, arena_printf(arena, "PX_UNROLL for (int k = 0; k < %s; k++) {", width));
    r->cx.indent++;
    const bool file = ir_node(r->k->g, id)->elem == ELEM_FILE; /* the columns are f32 until they are stored */
    const char *value = file ? cg_expr(&r->cx, e) : cg_store_text(&r->cx, e, id);
    rows_line(r, arena_printf(arena, "%s[k] = %s;", array, cg_bare(arena, value)));
    r->cx.indent--;
    rows_line(r, "}");
    if (vectors) {
        rows_line(r, "#endif");
    }
    if (exact != NULL) {
        rows_line(r, "#endif");
    }
}

const char *rows_emit_stage(Rows *r, IrId id, Row row, const char *array)
{
    CgKernel *k = r->k;
    Arena *arena = k->arena;
    r->stage = id;
    r->at = row;
    r->fold_index = -1;
    /* Sums of the stage around this one are those of its row and its columns. */
    const CgContext around = r->cx;
    memset(&r->cx.memo, 0, sizeof r->cx.memo);
    IrExpr e = ir_node(k->g, id)->map.value;
    cg_begin(&r->cx, e);
    const int outer = ir_pass_into(&r->passed);
    prepare(r, e);
    r->passed.fold = outer;
    r->stage = id;
    r->at = row;
    if (array == NULL) {
        array = new_columns(r, id, &row, "")->array;
        rows_line(r,
                  arena_printf(arena, "%s %s[%s];", cg_type(cg_register_type(&r->cx, id)), array, rows_width(r, id)));
    }
    emit_columns(r, id, &row, array);
    r->cx.memo = around.memo;
    r->cx.abreast = around.abreast;
    fix_edges(r, id, array);
    return array;
}

static void store_stage(Rows *r, IrId id, const char *array)
{
    CgKernel *k = r->k;
    const char *to = cg_param_buffer(k, id, true);
    const char *left = rows_left(r, id);
    const char *from = strcmp(left, "0") == 0 ? array : arena_printf(k->arena, "(%s + %s)", array, left);
    const bool file = ir_node(k->g, id)->elem == ELEM_FILE;
    rows_line(r, arena_printf(k->arena, "%s(%s, %s + %s + x, %s);", file ? "STORE_AS_FILE" : "STORE_COLUMNS",
                              cg_element(k, id), to, cg_row(k, id, to, "c", "z", "plane", "y"), from));
    cg_add_epilogue(k, id, from, r->cx.indent, r->body);
}

static Rows *begin_rows(CgKernel *k, const IrStep *step, bool gpu, bool tiles_computed)
{
    Rows *r = arena_new(k->arena, Rows);
    *r = (Rows){.k = k, .step = step, .fold_index = -1, .gpu = gpu};
    for (int i = 0; i < step->stages.n; i++) {
        ir_walk(k->g, ir_node(k->g, step->stages.at[i])->map.value, look_for_fold, r);
    }
    r->tiles_computed = tiles_computed && r->fetches;
    Str **const text[] = {&r->body, &r->before, &r->after, &r->prologue, &r->stores};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        *text[i] = arena_new(k->arena, Str);
        str_init(*text[i], k->arena);
    }
    rows_find_extents(r);
    cg_context(&r->cx, k, r->body, r->prologue, read_text);
    r->cx.registers = cg_register_types(k, step);
    r->cx.rise = rise_text;
    r->cx.user = r;
    if (step->ahead == 0) {
        rows_find_rises(r);
    }
    rows_bound_extents(r);
    r->cx.prologue_indent = 1;
    for (int i = 0; i < step->stages.n; i++) {
        cg_count_uses(&r->cx, ir_node(k->g, step->stages.at[i])->map.value);
    }
    return r;
}

/* What is done on a row. */
static void emit_row(Rows *r)
{
    Str *body = r->body;
    const bool turns = r->warms_up || r->ahead != NULL;
    const int indent = r->cx.indent = turns ? 3 : 2;
    Row here = {.y = "y", .plane = "plane", .y_of = "y", .plane_of = "plane", .base = "", .axis = -1, .fixed = true};
    if (r->ahead != NULL) {
        rows_emit_ahead(r);
    }
    for (int i = 0; i < r->step->stages.n; i++) {
        IrId id = r->step->stages.at[i];
        if (r->k->cg->buffer[id] < 0) {
            continue;
        }
        const Columns *there = r->ahead == NULL ? find_columns(r, id, &here, "", NULL) : NULL;
        const char *array = r->ahead != NULL ? rows_kept(r, id, 0)
                            : there != NULL  ? there->array
                                             : rows_emit_stage(r, id, here, NULL);
        r->body = r->stores;
        r->cx.indent = turns ? indent + 1 : indent;
        store_stage(r, id, array);
        r->body = body;
        r->cx.indent = indent;
    }
    drop_unused_rows(r);
}

/* How the rows that are carried come from memory, and what has no columns beyond the edge. */
static void describe_inside(Rows *r)
{
    CgKernel *k = r->k;
    bool z = rows_stream_z(r);
    Str columns;
    str_init(&columns, k->arena);
    for (int i = 0; i < r->extents.n; i++) {
        IrId id = r->nodes.ids.at[i];
        const char *width = r->extents.at[i]->used ? rows_width(r, id) : "PX";
        const char *test = arena_printf(k->arena, " && IS_INSIDE(%s, %s, w)", rows_left(r, id), width);
        if (strcmp(width, "PX") != 0 && strstr(columns.at, test) == NULL) {
            str_add(&columns, test);
        }
    }
    cg_param_extent(k, 0, 0);
    r->columns_inside = columns.at;
    for (int i = 0; i < r->carried.n; i++) {
        Carried *c = &r->carried.at[i];
        c->element = cg_element(r->k, c->node);
        c->kept = cg_type(cg_register_type(&r->cx, c->node));
        c->left = rows_left(r, c->node);
        c->width = rows_width(r, c->node);
        c->row = rows_row_text(r, c->node, z ? "y" : "px_at", z ? "px_at" : "plane", c->channel);
    }
}

/* Stages whose rows are kept are written once for strips away from the image's edges, once for all others. */
static void write_ahead(CgKernel *k, Rows *plain, Rows *inside, Str *out)
{
    IrAhead ahead;
    bool fits = ir_find_ahead(k->g, plain->step->stages.at, plain->step->stages.n, k->cg->sched->stored, &ahead);
    assert(fits); /* the grouping pass has asked */
    (void)fits;
    rows_lay_ahead(plain, &ahead);
    inside->inside = true;
    rows_lay_ahead(inside, &ahead);
    describe_inside(inside);
    emit_row(plain);
    emit_row(inside);
    rows_begin_text(plain, out);
    str_add(out, "#if PX == 4\n");
    rows_write_kernel(plain, inside, out);
    str_add(out, "#else\n");
    rows_write_kernel(plain, NULL, out);
    str_add(out, "#endif\n");
}

/* GPUs have a text of their own where it differs. */
void cg_kernel_rows(CgKernel *k, const IrStep *step, Str *out)
{
    Rows *plain = begin_rows(k, step, false, false), *gpu = begin_rows(k, step, true, true);
    Rows *inside = begin_rows(k, step, true, false);
    if (step->ahead > 0) {
        write_ahead(k, plain, inside, out);
        return;
    }
    emit_row(plain);
    bool carries = rows_choose_carried(plain, inside);
    if (carries) {
        describe_inside(inside);
        emit_row(inside);
    } else if (plain->fetches) {
        emit_row(gpu);
        if (rows_computed_tiles(gpu) > ROWS_MOST_COMPUTED) {
            gpu = begin_rows(k, step, true, false);
            emit_row(gpu);
        }
    }
    rows_bound_open(plain);
    rows_begin_text(plain, out);
    const bool apart = carries || gpu->late || rows_computed_tiles(gpu) > 0;
    if (apart) {
        str_add(out, "#if PX == 4\n");
        rows_write_kernel(carries ? plain : gpu, carries ? inside : NULL, out);
        str_add(out, "#else\n");
    }
    rows_write_kernel(plain, NULL, out);
    str_add(out, apart ? "#endif\n" : "");
}
