/*
 * long_folds: kernels whose one stage is a fold longer than registers.
 *
 * A work-item has PX columns of several rows, and a sum for each of these pixels.  Along y or z it
 * takes the rows that any of them needs, one after the other, from memory: each is added to the
 * sums of LONG_ROWS rows that it is part of, with another weight to each.  Along x it takes its
 * columns out of a tile (kernels/long_folds.cl), which every pixel of the image enters once for
 * LONG_TAPS steps of the fold, mapped where it lies beyond the edge.  So memory is read once for
 * many operations, the steps of each sum are in their order, and no loop is so long that compilers
 * would be busy with it.
 */
#include "epilogue.h"
#include "kernel.h"

#include "../ir/long_fold.h"

#include <string.h>

enum { LONG_ROWS = 16, LONG_ROWS_X = 4 }; /* as in kernels/long_folds.cl for GPUs */

typedef struct Long {
    CgKernel *k;
    const IrStep *step;
    IrLongFold of;
    CgContext cx;
    Str body, prologue;
    const char *lo, *hi; /* of the fold's index */
    bool blends;         /* it is one by parts: of differences, and of the pixel in the middle */
    CgBlend blend;
    const char *rows;   /* macro: how many of them a work-item has */
    const char *stream; /* variable: "y" or "plane" */
} Long;

static IrExprNode fold_of(const Long *l)
{
    return *ir_expr(l->k->g, l->of.fold);
}

static IrExprNode read_of(const Long *l, int i)
{
    return *ir_expr(l->k->g, l->of.read[i]);
}

/* ---- reads of the fold ------------------------------------------------------------------- */

/* What the fold reads has been taken from the tile, or from its row, already. */
static const char *read_text(CgContext *cx, IrExpr read)
{
    const Long *l = cx->user;
    for (int i = 0; i < l->of.n_reads; i++) {
        if (l->of.read[i] == read) {
            return arena_printf(l->k->arena, l->of.axis == IR_AX_X ? "LONG_NEAR(tile%d, r, i, k + s)" : "near%d[k]", i);
        }
    }
    return cg_read_memory(cx, read);
}

/* The same while a tile is filled that lies inside of the image. */
static const char *read_row(CgContext *cx, IrExpr read)
{
    const Long *l = cx->user;
    const char *at = cx->loops.at[cx->loops.n - 1].name;
    for (int i = 0; i < l->of.n_reads; i++) {
        Elem own = cg_register_type(cx, read_of(l, i).node);
        if (l->of.read[i] == read) {
            return own == ELEM_BOOL ? arena_printf(l->k->arena, "(px_row%d[%s] != 0)", i, at)
                                    : arena_printf(l->k->arena, "(%s)px_row%d[%s]", cg_type(own), i, at);
        }
    }
    return cg_read_memory(cx, read);
}

/* What is folded, for the pixel at these coordinates and this index. */
static const char *body_text(Long *l, CgReadText read, const char *x, const char *stream, const char *index)
{
    CgContext *cx = &l->cx;
    const CgContext around = *cx;
    const IrExprNode fold = fold_of(l);
    cx->read = read;
    cx->x = x;
    cx->y = l->of.axis == IR_AX_Z ? cx->y : stream;
    cx->plane = l->of.axis == IR_AX_Z ? stream : cx->plane;
    cx->z = l->of.axis == IR_AX_Z ? stream : cx->z;
    vec_push(l->k->arena, &cx->loops, (CgLoop){(int)fold.num, fold.b, fold.c, index});
    const char *text = cg_atom(l->k->arena, cg_expr(cx, fold.a));
    cx->read = around.read;
    cx->x = around.x;
    cx->y = around.y;
    cx->plane = around.plane;
    cx->z = around.z;
    cx->memo.n = around.memo.n;
    cx->loops.n = around.loops.n;
    return text;
}

/* How many tiles there are: of what is read, or of the differences of a blend. */
static int tiles_of(const Long *l)
{
    return l->blends ? 1 : l->of.n_reads;
}

/* A tile's type: there are no vectors of truths. */
static const char *tile_type(const Long *l, int i)
{
    if (l->blends) {
        return cg_type(fold_of(l).type);
    }
    Elem type = cg_register_type(&l->cx, read_of(l, i).node);
    return type == ELEM_BOOL ? "uchar" : cg_type(type);
}

static const char *row_start(Long *l, IrId node, const char *plane, const char *y)
{
    const char *buffer = cg_param_buffer(l->k, node, false);
    const char *z = l->of.axis == IR_AX_Z ? plane : "z";
    return arena_printf(l->k->arena, "%s + %s", buffer, cg_row(l->k, node, buffer, "c", z, plane, y));
}

/* ---- sums -------------------------------------------------------------------------------- */

static void open_each(Long *l, const char *name, const char *count)
{
    cg_line(&l->cx, "PX_UNROLL for (int %s = 0; %s < %s; %s++) {", name, name, count, name);
    l->cx.indent++;
}

static void close(Long *l, int loops)
{
    for (int i = 0; i < loops; i++) {
        l->cx.indent--;
        cg_line(&l->cx, "}");
    }
}

static void begin_sums(Long *l)
{
    const IrExprNode fold = fold_of(l);
    cg_line(&l->cx, "%s sum[%s][PX];", cg_type(fold.type), l->rows);
    open_each(l, "r", l->rows);
    open_each(l, "k", "PX");
    cg_line(&l->cx, "sum[r][k] = %s;", cg_fold_start(&fold));
    close(l, 2);
}

/* The step's index, where something asks for it: `steps` is the text behind this line, which begins at `line`. */
static void drop_unused_index(Long *l, size_t line, size_t steps)
{
    if (!cg_mentions(l->body.at + steps, "j")) {
        str_cut(&l->body, line, steps);
    }
}

/* The step of each column's sum, whose index is j. */
static void step_sums(Long *l)
{
    const IrExprNode fold = fold_of(l);
    CgContext *cx = &l->cx;
    int memo = cx->memo.n, loops = cx->loops.n;
    open_each(l, "k", "PX");
    if (l->blends) {
        const char *rise = l->of.axis == IR_AX_X ? "LONG_NEAR(tile0, r, i, k + s)" : "rise[k]";
        cg_line(cx, "sum[r][k] = %s;", cg_blend_rise(l->k, &l->blend, "j", rise, "sum[r][k]"));
        close(l, 1);
        return;
    }
    vec_push(l->k->arena, &cx->loops, (CgLoop){(int)fold.num, fold.b, fold.c, "j"});
    cg_fold_steps(cx, l->of.fold, "sum[r][k]");
    cx->memo.n = memo;
    cx->loops.n = loops;
    close(l, 1);
}

/* Finished rows are stored one after the other, each in the place of the first one: the text of all of them, where each takes
 * long, is more than compilers unroll, and sums that they do not know by their places are kept in memory. */
static void store_sums(Long *l)
{
    enum { LITTLE_WORK = 40 };
    CgContext *cx = &l->cx;
    CgKernel *k = l->k;
    IrId id = l->step->stages.at[0];
    const char *element = cg_element(k, id);
    const char *to = cg_param_buffer(k, id, true);
    const bool moves = cg_work(k->g, ir_node(k->g, id)->map.value) > LITTLE_WORK;
    CgMemo memo = {l->of.fold, moves ? "sum[0][k]" : "sum[r][k]"};
    if (moves) {
        cg_line(cx, "#pragma unroll 1");
        cg_line(cx, "for (int r = 0; r < %s; r++) {", l->rows);
        cx->indent++;
    } else {
        open_each(l, "r", l->rows);
    }
    cg_line(cx, "const int %s = from + r;", l->stream);
    cg_line(cx, "if (%s <= last && x < w) {", l->stream);
    cx->indent++;
    cg_line(cx, "%s value[PX];", element);
    open_each(l, "k", "PX");
    cx->y = "y";
    vec_push(k->arena, &cx->memo, memo);
    cg_line(cx, "value[k] = %s;", cg_bare(k->arena, cg_store_text(cx, ir_node(k->g, id)->map.value, id)));
    cx->memo.n = 0;
    close(l, 1);
    const char *row = cg_row(k, id, to, "c", l->of.axis == IR_AX_Z ? "plane" : "z", "plane", "y");
    cg_line(cx, "STORE_COLUMNS(%s, %s + %s + x, value);", element, to, row);
    close(l, 1);
    if (moves) {
        open_each(l, "s", arena_printf(k->arena, "%s - 1", l->rows));
        open_each(l, "k", "PX");
        cg_line(cx, "sum[s][k] = sum[s + 1][k];");
        close(l, 2);
    }
    close(l, 1);
}

/* ---- along y and z ----------------------------------------------------------------------- */

/* The columns of the row that is t rows from the first.  Behind what the last row takes there may be none
 * in memory. */
static void take_row(Long *l, int i)
{
    CgContext *cx = &l->cx;
    const IrExprNode read = read_of(l, i);
    bool z = l->of.axis == IR_AX_Z;
    const char *extent = cg_param_extent(l->k, read.node, z ? 2 : 1);
    const char *at = arena_printf(l->k->arena, "at%d", i);
    cg_line(cx, "const int %s = %s(min(from + t, last + %s), %s);", at, CG_BORDER_MAPS[read.border], l->hi, extent);
    cg_line(cx, "%s near%d[PX];", cg_type(cg_register_type(cx, read.node)), i);
    cg_line(cx, "LOAD_COLUMNS(%s, near%d, PX, %s + x);", cg_element(l->k, read.node), i,
            z ? row_start(l, read.node, at, "y") : row_start(l, read.node, "plane", at));
    if (read.border == BORDER_CONSTANT) {
        const char *outside = cg_outside(cx, read.node, read.outside);
        open_each(l, "k", "PX");
        cg_line(cx, "near%d[k] = (uint)(from + t) < (uint)%s ? near%d[k] : %s;", i, extent, i, outside);
        close(l, 1);
    }
}

/* The columns of this row, and what they are more than those of the row before. */
static void take_rise(Long *l)
{
    open_each(l, "k", "PX");
    const char *here = body_text(l, read_text, "(x + k)", "from", "t");
    cg_line(&l->cx, "const %s here = %s;", cg_type(fold_of(l).type), here);
    cg_line(&l->cx, "rise[k] = here - before[k];");
    cg_line(&l->cx, "before[k] = here;");
    close(l, 1);
}

/* The condition for row t to be in the sum whose index is j. */
static const char *is_in_sum(const Long *l)
{
    return arena_printf(l->k->arena, "j %s %s && j <= %s", l->blends ? ">" : ">=", l->lo, l->hi);
}

/* The steps of row t, for the sums of which `test` is true; NULL: for all. */
static void take_steps(Long *l, const char *test)
{
    CgContext *cx = &l->cx;
    for (int i = 0; i < l->of.n_reads; i++) {
        take_row(l, i);
    }
    if (l->blends) {
        take_rise(l);
    }
    open_each(l, "r", l->rows);
    const size_t line = l->body.n;
    cg_line(cx, "const int j = t - r;");
    const size_t steps = l->body.n;
    if (test != NULL) {
        cg_line(cx, "if (%s) {", test);
        cx->indent++;
    }
    step_sums(l);
    close(l, test == NULL ? 1 : 2);
    drop_unused_index(l, line, steps);
}

/* Rows t from `first` to `last`; `all`: each of them is in every sum.  Otherwise they are at most LONG_ROWS, of which compilers
 * for GPUs are to know the sums that each is part of: found out while it runs, half of the steps would be in vain. */
static void take_rows(Long *l, const char *first, const char *last, bool all)
{
    CgContext *cx = &l->cx;
    cg_line(cx, all ? "LONG_UNROLL" : "PX_UNROLL");
    cg_line(cx, "for (int t = %s; t <= %s; t++) {", first, last);
    cx->indent++;
    take_steps(l, all ? NULL : is_in_sum(l));
    close(l, 1);
}

/* The rows that are the middle of one blend each, four a round, so that compilers know of all but four sums that they
 * are not the one: found out while it runs, the sums would be in memory, and take twenty times as long. */
static void take_middle(Long *l)
{
    CgContext *cx = &l->cx;
    Arena *arena = l->k->arena;
    const CgBlend *b = &l->blend;
    cg_line(cx, "const bool in_all = min(%s, %s) >= LONG_ROWS;", cg_bare(arena, cg_minus(arena, b->middle, b->lo)),
            cg_bare(arena, cg_minus(arena, b->hi, b->middle)));
    cg_line(cx, "for (int own = 0; %s <= %s && own < LONG_ROWS; own += 4) {", b->lo, b->hi);
    cx->indent++;
    open_each(l, "s", "4");
    cg_line(cx, "const int t = %s;", cg_bare(arena, cg_plus(arena, "own + s", b->middle)));
    take_steps(l, arena_printf(arena, "in_all || (%s)", is_in_sum(l)));
    cg_line(cx, "PX_UNROLL for (int r = s; r < LONG_ROWS; r += 4) {");
    cx->indent++;
    cg_line(cx, "if (own == r - s) {");
    cx->indent++;
    open_each(l, "k", "PX");
    cg_line(cx, "sum[r][k] = %s;", cg_blend_own(l->k, b, "before[k]", "sum[r][k]"));
    close(l, 5);
}

/* A row is at first only in the first sums, in the end only in the last ones. */
static void fold_down(Long *l)
{
    Arena *arena = l->k->arena;
    const char *lo = l->lo, *hi = l->hi;
    const char *all = cg_plus(arena, "LONG_ROWS", cg_minus(arena, lo, "1"));
    const char *before = cg_plus(arena, "LONG_ROWS", cg_minus(arena, lo, "2"));
    const char *end = cg_plus(arena, "LONG_ROWS", cg_minus(arena, hi, "1"));
    take_rows(l, cg_bare(arena, lo), arena_printf(arena, "min(%s, %s)", before, end), false);
    take_rows(l, all, cg_bare(arena, hi), true);
    take_rows(l, arena_printf(arena, "max(%s, %s)", cg_plus(arena, hi, "1"), all), end, false);
}

/* The same of a blend, whose first row has no difference, before, in and behind the middle. */
static void blend_down(Long *l)
{
    Arena *arena = l->k->arena;
    const char *lo = l->lo, *hi = l->hi, *middle = l->blend.middle;
    const char *all = cg_plus(arena, "LONG_ROWS", lo), *ahead = cg_minus(arena, middle, "1");
    const char *before = cg_plus(arena, "LONG_ROWS", cg_minus(arena, lo, "1"));
    const char *behind = arena_printf(arena, "max(%s, %s)", all, cg_plus(arena, "LONG_ROWS", middle));
    cg_line(&l->cx, "%s rise[PX], before[PX];", cg_type(fold_of(l).type));
    cg_line(&l->cx, "PX_UNROLL for (int k = 0; k < PX; k++) before[k] = 0.0f;");
    take_rows(l, cg_bare(arena, lo), arena_printf(arena, "min(%s, %s)", before, ahead), false);
    take_rows(l, all, cg_bare(arena, ahead), true);
    take_middle(l);
    take_rows(l, behind, cg_bare(arena, hi), true);
    take_rows(l, arena_printf(arena, "max(%s, %s)", cg_plus(arena, hi, "1"), behind),
              cg_plus(arena, "LONG_ROWS", cg_minus(arena, hi, "1")), false);
}

/* ---- along x ----------------------------------------------------------------------------- */

/* What lies under the tile, whose first column is `begin`: as it is inside of the image, mapped elsewhere. */
static void fill_tile(Long *l, int i)
{
    CgContext *cx = &l->cx;
    const IrExprNode read = read_of(l, i), fold = fold_of(l);
    const char *element = cg_element(l->k, read.node), *test = read.type == ELEM_BOOL ? " != 0" : "";
    cg_line(cx, "if (begin >= 0 && begin + LONG_COLUMNS(taps) <= w) {");
    cx->indent++;
    cg_line(cx, "const global %s *px_row = %s + begin;", element, row_start(l, read.node, "plane", "y"));
    cg_line(cx, "LONG_FILL(i, taps) tile%d[r][i] = px_row[i]%s;", i, test);
    cx->indent--;
    cg_line(cx, "} else {");
    cx->indent++;
    int loops = cx->loops.n;
    const char *x = cx->x;
    cx->x = "begin";
    cx->y = "y";
    vec_push(l->k->arena, &cx->loops, (CgLoop){(int)fold.num, fold.b, fold.c, "i"});
    cg_line(cx, "LONG_FILL(i, taps) tile%d[r][i] = %s;", i, cg_read_memory(cx, l->of.read[i]));
    cx->x = x;
    cx->loops.n = loops;
    close(l, 1);
}

static void fill_rises(Long *l, CgReadText read)
{
    CgContext *cx = &l->cx;
    cg_line(cx, "LONG_FILL(i, taps) {");
    cx->indent++;
    const char *before = body_text(l, read, "begin", "y", "(i - 1)"), *here = body_text(l, read, "begin", "y", "i");
    cg_line(cx, "tile0[r][i] = %s - %s;", here, before);
    close(l, 1);
}

/* Four of a blend's differences at a time, of five pixels, the first four of which are one vector in memory; of all rows
 * before the next four, so that their loads are under way together. */
static void fill_four_rises(Long *l)
{
    CgContext *cx = &l->cx;
    const char *type = cg_type(fold_of(l).type);
    cg_line(cx, "LONG_FILL_FOUR(i, taps) {");
    cx->indent++;
    open_each(l, "r", l->rows);
    cg_line(cx, "const int y = min(from + r, last);");
    for (int i = 0; i < l->of.n_reads; i++) {
        const IrId node = read_of(l, i).node;
        const char *element = cg_element(l->k, node);
        cg_line(cx, "%s px_row%d[5];", element, i);
        cg_line(cx, "LONG_FIVE(%s, px_row%d, %s + begin + i - 1);", element, i, row_start(l, node, "plane", "y"));
    }
    cg_line(cx, "%s here[5];", type);
    open_each(l, "s", "5");
    cg_line(cx, "here[s] = %s;", body_text(l, read_row, "begin", "y", "s"));
    close(l, 1);
    cg_line(cx, "LONG_RISES(%s, tile0[r] + i, here);", type);
    close(l, 2);
}

/* A row of the tile's differences, each of two pixels that are mapped by themselves. */
static void fill_rises_of_row(Long *l)
{
    CgContext *cx = &l->cx;
    cg_line(cx, "if (begin >= 1 && begin + LONG_COLUMNS(taps) <= w) {");
    cx->indent++;
    for (int i = 0; i < l->of.n_reads; i++) {
        const IrId node = read_of(l, i).node;
        cg_line(cx, "const global %s *px_row%d = %s + begin;", cg_element(l->k, node), i,
                row_start(l, node, "plane", "y"));
    }
    fill_rises(l, read_row);
    cx->indent--;
    cg_line(cx, "} else {");
    cx->indent++;
    fill_rises(l, cg_read_memory);
    close(l, 1);
}

static void fill_tiles(Long *l)
{
    CgContext *cx = &l->cx;
    cg_line(cx, "LONG_FILLED;");
    cg_line(cx, "const int begin = LONG_BEGIN + tap, taps = min(LONG_TAPS, %s - tap);",
            cg_plus(l->k->arena, l->hi, "1"));
    if (l->blends) {
        cg_line(cx, "#if PX == 4");
        cg_line(cx, "if (LONG_IN_FOURS(begin, taps, w)) {");
        cx->indent++;
        fill_four_rises(l);
        cx->indent--;
        cg_line(cx, "} else");
        cg_line(cx, "#endif");
    }
    cg_line(cx, "for (int r = 0; r < %s; r++) {", l->rows);
    cx->indent++;
    cg_line(cx, "const int y = min(from + r, last);");
    if (l->blends) {
        fill_rises_of_row(l);
    }
    for (int i = 0; i < l->of.n_reads && !l->blends; i++) {
        fill_tile(l, i);
    }
    close(l, 1);
    cg_line(cx, "LONG_FILLED;");
}

static void each_tile(Long *l, const char *what, const char *more)
{
    for (int i = 0; i < tiles_of(l); i++) {
        cg_line(&l->cx, "%s(%s, tile%d%s);", what, tile_type(l, i), i, more);
    }
}

/* The taps from i on, LONG_STEP of them; `all`: none of them is behind the last. */
static void take_taps(Long *l, bool all)
{
    CgContext *cx = &l->cx;
    each_tile(l, "LONG_TAKE", ", i");
    open_each(l, "s", "LONG_STEP");
    const size_t line = l->body.n;
    cg_line(cx, "const int j = tap + i + s;");
    const size_t steps = l->body.n;
    if (!all) {
        cg_line(cx, l->blends ? "if (j <= %s && j > %s) {" : "if (j <= %s) {", l->hi, l->lo);
        cx->indent++;
    }
    open_each(l, "r", l->rows);
    step_sums(l);
    close(l, all ? 2 : 3);
    drop_unused_index(l, line, steps);
}

/* So many taps at once as long as there are as many in front of tap i = `end` of the tile, and then the rest. */
static void take_until(Long *l, const char *end)
{
    CgContext *cx = &l->cx;
    cg_line(cx, "LONG_TWICE");
    cg_line(cx, "for (; i + LONG_STEP <= %s; i += LONG_STEP) {", end);
    cx->indent++;
    take_taps(l, true);
    close(l, 1);
    cg_line(cx, "if (i < %s) {", end);
    cx->indent++;
    take_taps(l, false);
    close(l, 1);
}

static void open_tiles(Long *l, const char *first)
{
    CgContext *cx = &l->cx;
    cg_line(cx, "for (int tap = %s; tap <= %s; tap += LONG_TAPS) {", first, cg_bare(l->k->arena, l->hi));
    cx->indent++;
    fill_tiles(l);
    each_tile(l, "LONG_OPEN", "");
    cg_line(cx, "int i = 0;");
}

static void fold_along(Long *l)
{
    open_tiles(l, cg_bare(l->k->arena, l->lo));
    take_until(l, "taps");
    close(l, 1);
}

/* The pixels in the middle, straight from memory: by vectors where they are the work-item's own columns. */
static void add_own_columns(Long *l)
{
    CgContext *cx = &l->cx;
    const CgBlend *b = &l->blend;
    const bool own = strcmp(b->middle, "0") == 0;
    cg_line(cx, "if (%s <= %s && side == 0 && i > 0 && tap + i == %s + 1) {", b->lo, b->hi, b->middle);
    cx->indent++;
    open_each(l, "r", l->rows);
    cg_line(cx, "const int y = min(from + r, last);");
    for (int i = 0; i < l->of.n_reads && own; i++) {
        const IrId node = read_of(l, i).node;
        const char *element = cg_element(l->k, node);
        cg_line(cx, "%s px_row%d[PX];", element, i);
        cg_line(cx, "LOAD_COLUMNS(%s, px_row%d, PX, %s + IN_ROW(x));", element, i, row_start(l, node, "plane", "y"));
    }
    open_each(l, "k", "PX");
    const char *pixel =
        own ? body_text(l, read_row, "x", "y", "k") : body_text(l, cg_read_memory, "(x + k)", "y", b->middle);
    cg_line(cx, "sum[r][k] = %s;", cg_blend_own(l->k, b, pixel, "sum[r][k]"));
    close(l, 3);
}

/* A blend's taps are the differences up to that of the middle, whose pixel is added then, and those behind it: steps
 * end there, and so the first one may begin before the first difference. */
static void blend_along(Long *l)
{
    CgContext *cx = &l->cx;
    const CgBlend *b = &l->blend;
    open_tiles(l, arena_printf(l->k->arena, "LONG_FIRST(%s, %s)", b->lo, b->middle));
    cg_line(cx, "if (tap <= %s) {", b->lo);
    cx->indent++;
    take_taps(l, false);
    cg_line(cx, "i = LONG_STEP;");
    close(l, 1);
    cg_line(cx, "for (int side = 0; side < 2; side++) {");
    cx->indent++;
    cg_line(cx, "const int end = side == 0 ? clamp(%s + 1 - tap, i, taps) : taps;", b->middle);
    take_until(l, "end");
    add_own_columns(l);
    close(l, 2);
}

/* ---- the kernel -------------------------------------------------------------------------- */

static void begin_long(Long *l, CgKernel *k, const IrStep *step)
{
    *l = (Long){.k = k, .step = step};
    str_init(&l->body, k->arena);
    str_init(&l->prologue, k->arena);
    ir_long_fold(k->g, step->stages.at[0], &l->of);
    cg_context(&l->cx, k, &l->body, &l->prologue, read_text);
    l->cx.user = l;
    l->cx.registers = cg_register_types(k, step);
    l->cx.indent = l->cx.prologue_indent = 1;
    cg_count_uses(&l->cx, ir_node(k->g, step->stages.at[0])->map.value);
    const IrExprNode fold = fold_of(l);
    bool z = l->of.axis == IR_AX_Z;
    l->lo = cg_define_int(k, fold.b, cg_of_kernel(k, "LO"));
    l->hi = cg_define_int(k, fold.c, cg_of_kernel(k, "HI"));
    l->blends = fold.fold == IR_FOLD_BLEND;
    l->blend = l->blends ? cg_blend(k, l->of.fold) : (CgBlend){0};
    l->rows = l->of.axis == IR_AX_X ? "LONG_ROWS_X" : "LONG_ROWS";
    l->stream = z ? "plane" : "y";
    l->cx.x = "(x + k)";
    l->cx.y = z ? "y" : "(from + r)";
    l->cx.plane = z ? "(from + r)" : "plane";
    l->cx.z = z ? l->cx.plane : l->cx.z;
}

void cg_kernel_long(CgKernel *k, const IrStep *step, Str *out)
{
    Long l;
    Str planes;
    str_init(&planes, k->arena);
    begin_long(&l, k, step);
    bool along = l.of.axis == IR_AX_X, z = l.of.axis == IR_AX_Z;
    if (along) {
        each_tile(&l, "LONG_TILE", "");
    }
    cg_line(&l.cx, "for (int from = first; from <= last; from += %s) {", l.rows);
    l.cx.indent++;
    begin_sums(&l);
    if (along) {
        (l.blends ? blend_along : fold_along)(&l);
    } else {
        (l.blends ? blend_down : fold_down)(&l);
    }
    store_sums(&l);
    close(&l, 1);
    if (!z) {
        cg_plane_names(k, l.body.at, &planes);
    }
    cg_range_params(k, (ProgArg){ARG_STRIP, l.of.axis == IR_AX_X ? LONG_ROWS_X : LONG_ROWS, 2}, z);
    cg_functions(k, out);
    cg_open_kernel(k, out);
    cg_write_place(k, step, along, out);
    str_addf(out, "%s%s%s}\n", planes.at, l.prologue.at, l.body.at);
}
