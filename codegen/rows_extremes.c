/*
 * rows_extremes: smallest and largest values along x, and along the stream, in fewer steps than one for each pixel; and
 * sums of whole numbers that are exact.
 *
 * Neighbouring windows share most of their pixels.  Along x four columns share the middle of their windows, and add what lies
 * before and behind it; CPUs, which have more columns side by side, double the length of their runs instead.
 * Along the stream a turn's rows all belong to most of the open windows, which take their extreme once: a window that ends
 * in the turn takes that of the first rows, one that begins in it that of the last ones (M. van Herk, 1992).
 * Of equal values, such as zeros, an extreme is the last one; pixels keep their order here, and windows may
 * overlap, so that the bits are those of one after the other.
 * A sum of whole numbers that are not negative, and that its type holds however they are put together, is the same in any
 * order, and windows that must not overlap do not.  One in f64 is one in f32 along x where that holds it, too: GPUs take
 * eight times as long for a conversion to f64.  Whether numbers are small enough may depend on the type of a file: then
 * the kernel has all texts, and the run's preprocessor chooses.
 */
#include "rows.h"

#include "../ir/whole_most.h"

#include <math.h>
#include <string.h>

enum {
    FEWEST_COLUMNS = 4, /* of a window whose middle four columns share */
    FEWEST_ROWS = 9     /* of a window that has a row in each turn's, which are at most eight */
};

/* Is it the smallest or largest of what one read finds between two numbers? */
static bool is_extreme(const IrGraph *g, const IrExprNode *n, int least, int *first, int *count)
{
    double lo, hi;
    const bool picks = n->op == IR_X_FOLD && (n->fold == IR_FOLD_MIN || n->fold == IR_FOLD_MAX);
    if (!picks || n->flat || n->where != 0 || ir_expr(g, n->a)->op != IR_X_READ || !ir_is_const(g, n->b, &lo) ||
        !ir_is_const(g, n->c, &hi) || hi - lo + 1 < least) {
        return false;
    }
    *first = (int)lo;
    *count = (int)(hi - lo) + 1;
    return true;
}

/* ---- exact sums ---------------------------------------------------------------------------- */

/* Under which condition a sum is exact; "": always, NULL: never. */
static const char *exact_condition(CgKernel *k, IrExpr fold)
{
    static const int FILES[] = {65535, 255};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        const IrWhole most = ir_whole_most(k->g, fold, FILES[i]);
        if (most.value < INFINITY) {
            return most.input == 0
                       ? ""
                       : arena_printf(k->arena, "PX_JOIN(LARGEST_, %s) <= %d", cg_pixel_type(k, most.input), FILES[i]);
        }
    }
    return NULL;
}

/* The same number in f32, of what ir_whole_most takes for whole. */
static IrExpr in_f32(IrGraph *g, IrExpr e)
{
    const IrExprNode n = *ir_expr(g, e);
    switch (n.op) {
    case IR_X_CONST:
        return ir_const_typed(g, n.num, ELEM_F32);
    case IR_X_READ:
        return ir_cast(g, e, ELEM_F32);
    case IR_X_CAST:
        return in_f32(g, n.a);
    default: {
        const IrExpr a = in_f32(g, n.a);
        return ir_op2(g, n.op, a, in_f32(g, n.b));
    }
    }
}

/* The type in which sums are open: whole numbers of 32 bits, where they are enough, take half of the registers of f64. */
static const char *sum_type(CgKernel *k, const IrExprNode *fold)
{
    for (int i = 0; i < 2 && fold->type == ELEM_F64 && fold->fold == IR_FOLD_SUM; i++) {
        const IrWhole most = ir_whole_sum_most(k->g, fold, i == 0 ? 255 : 65535);
        if (most.value > 0x1p31 - 1) {
            return i == 0 ? "double"
                          : arena_printf(k->arena, "PX_JOIN(BYTES_IN_INT_, %s)", cg_pixel_type(k, most.input));
        }
    }
    return fold->type == ELEM_F64 && fold->fold == IR_FOLD_SUM ? "int" : cg_type(fold->type);
}

typedef struct Moves {
    double index;
    bool so;
} Moves;

/* Are pixels read at the fold's index along x alone, and is it used for nothing else? */
static void look_whether_moves(const IrGraph *g, IrExpr e, void *ctx)
{
    Moves *m = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_READ && n->rank == IR_PIXEL) {
        const IrExprNode *by = ir_expr(g, n->a);
        m->so = m->so && n->a != 0 && by->op == IR_X_INDEX && by->num == m->index;
        for (int i = 0; i < 3; i++) {
            const IrExpr other[] = {n->b, n->c, n->channel};
            m->so = m->so && (other[i] == 0 || ir_expr(g, other[i])->rank <= IR_HOST);
        }
    }
    m->so = m->so && n->op != IR_X_FOLD && n->op != IR_X_COORD && n->op != IR_X_READAT;
}

/* ---- along x ------------------------------------------------------------------------------- */

static bool stays(const IrGraph *g, IrExpr offset)
{
    return offset == 0 || ir_expr(g, offset)->rank <= IR_HOST;
}

bool rows_column_extremes(Rows *r, IrExpr e, const char *array)
{
    CgContext *cx = &r->cx;
    const IrGraph *g = r->k->g;
    const IrExprNode n = *ir_expr(g, e);
    int first, count;
    if (cg_recall(cx->memo.at, cx->memo.n, e) != NULL || !is_extreme(g, &n, FEWEST_COLUMNS, &first, &count)) {
        return false;
    }
    const Elem stored = ir_node(g, r->stage)->elem; /* nothing is converted on the way */
    if (cg_register_type(cx, r->stage) != n.type || (stored != ELEM_FILE && stored != n.type)) {
        return false;
    }
    const IrExprNode *read = ir_expr(g, n.a), *by = read->a != 0 ? ir_expr(g, read->a) : NULL;
    if (by == NULL || by->op != IR_X_INDEX || by->num != n.num || !stays(g, read->b) || !stays(g, read->c) ||
        !stays(g, read->channel)) {
        return false;
    }
    const int memo = cx->memo.n, loops = cx->loops.n;
    vec_push(r->k->arena, &cx->loops, (CgLoop){(int)n.num, n.b, n.c, cg_literal(r->k->arena, first)});
    const char *column = cg_whole_operand(cx, n.a, cg_bare(r->k->arena, cg_expr(cx, n.a)));
    cx->memo.n = memo;
    cx->loops.n = loops;
    cg_line(cx, "EXTREME_COLUMNS(%s, %s, %s, %d, %s, %s)", cg_type(n.type), array, rows_width(r, r->stage), count,
            cg_chooser(r->k, &n, n.a), column);
    return true;
}

/* Declares the terms of the fold for all columns, and sums them up. */
static void write_column_sums(Rows *r, const IrExprNode *fold, int first, int count, const char *array)
{
    CgContext *cx = &r->cx;
    Arena *arena = r->k->arena;
    const int memo = cx->memo.n, loops = cx->loops.n;
    const char *type = cg_type(fold->type), *width = rows_width(r, r->stage);
    const char *columns = cg_plus(arena, width, cg_literal(arena, count - 1));
    cg_line(cx, "%s %s_terms[%s];", type, array, columns);
    cg_line(cx, "PX_UNROLL for (int k = 0; k < %s; k++) {", columns);
    cx->indent++;
    vec_push(arena, &cx->loops, (CgLoop){(int)fold->num, fold->b, fold->c, cg_literal(arena, first)});
    cg_line(cx, "%s_terms[k] = %s;", array, cg_bare(arena, cg_expr(cx, fold->a)));
    cx->memo.n = memo;
    cx->loops.n = loops;
    cx->indent--;
    cg_line(cx, "}");
    cg_line(cx, "EXACT_COLUMNS(%s, %s, %s, %d, %s_terms[k])", type, array, width, count, array);
}

const char *rows_column_sums(Rows *r, IrExpr e, const char *array)
{
    CgContext *cx = &r->cx;
    IrGraph *g = r->k->g;
    const IrExprNode n = *ir_expr(g, e);
    Moves moves = {n.num, true};
    double lo, hi;
    if (cg_recall(cx->memo.at, cx->memo.n, e) != NULL || n.op != IR_X_FOLD || n.fold != IR_FOLD_SUM || n.flat ||
        n.where != 0 || !ir_is_const(g, n.b, &lo) || !ir_is_const(g, n.c, &hi) || hi - lo + 1 < FEWEST_COLUMNS ||
        cg_register_type(cx, r->stage) != n.type || ir_node(g, r->stage)->elem != n.type) {
        return NULL;
    }
    ir_walk(g, n.a, look_whether_moves, &moves);
    const char *condition = moves.so ? exact_condition(r->k, e) : NULL;
    if (condition == NULL) {
        return NULL;
    }
    IrExprNode narrow = n;
    narrow.a = in_f32(g, n.a);
    narrow.type = ELEM_F32;
    const char *fits = n.type == ELEM_F64 ? exact_condition(r->k, ir_intern(g, narrow)) : NULL;
    if (fits != NULL && *fits != '\0') {
        cg_line(cx, "#if %s", fits);
    }
    if (fits != NULL) {
        write_column_sums(r, &narrow, (int)lo, (int)(hi - lo) + 1, array);
    }
    if (fits == NULL || strcmp(fits, condition) != 0) {
        if (*condition != '\0') {
            cg_line(cx, "#%s %s", fits != NULL ? "elif" : "if", condition);
        }
        write_column_sums(r, &n, (int)lo, (int)(hi - lo) + 1, array);
    }
    if (*condition != '\0') {
        cg_line(cx, "#else");
    }
    return condition;
}

/* ---- along the stream ---------------------------------------------------------------------- */

const char *rows_turn_condition(const Rows *r, IrExpr fold, const char *late)
{
    const IrExprNode n = *ir_expr(r->k->g, fold);
    int first, count;
    double lo, hi;
    if (strcmp(late, "0") != 0) {
        return NULL;
    }
    if (n.fold == IR_FOLD_SUM && !n.flat && n.where == 0 && ir_expr(r->k->g, n.a)->op == IR_X_READ &&
        ir_is_const(r->k->g, n.b, &lo) && ir_is_const(r->k->g, n.c, &hi) && hi - lo + 1 >= FEWEST_ROWS) {
        return exact_condition(r->k, fold);
    }
    return is_extreme(r->k->g, &n, FEWEST_ROWS, &first, &count) ? "" : NULL;
}

/* How two of the fold's pixels, or windows, become one. */
static const char *joins(const Rows *r, const IrExprNode *fold)
{
    return fold->fold == IR_FOLD_SUM ? "PX_SUM" : cg_chooser(r->k, fold, fold->a);
}

void rows_open_extremes(Rows *r, const char *open, const IrExprNode *fold, const char *rows)
{
    Arena *arena = r->k->arena;
    const char *before = cg_minus(arena, rows, "1"), *width = rows_width(r, r->stage), *type = sum_type(r->k, fold);
    const char *choose = joins(r, fold);
    str_addf(r->before,
             "    %s %s[%s][%s], %s_rows[TURNS][%s], %s_turn[%s];\n"
             "    PX_UNROLL for (int m = 0; m < %s; m++) {\n"
             "        PX_UNROLL for (int k = 0; k < %s; k++) %s[m][k] = %s;\n    }\n",
             type, open, before, width, open, width, open, width, before, width, open, cg_fold_start(fold));
    str_addf(r->after, "        EXTREME_TURN(%s, %s, %s, %s);\n", open, before, width, choose);
}

void rows_emit_extremes(Rows *r, const char *open, const IrExprNode *fold)
{
    CgContext *cx = &r->cx;
    const char *width = rows_width(r, r->stage), *choose = joins(r, fold);
    cg_line(cx, "PX_UNROLL for (int k = 0; k < %s; k++) {", width);
    cx->indent++;
    const int memo = cx->memo.n, loops = cx->loops.n;
    vec_push(r->k->arena, &cx->loops, (CgLoop){(int)fold->num, fold->b, fold->c, "j"});
    const char *pixel = cg_whole_operand(cx, fold->a, cg_bare(r->k->arena, cg_expr(cx, fold->a)));
    cx->memo.n = memo;
    cx->loops.n = loops;
    cg_line(cx, "%s_rows[turn][k] = %s;", open, pixel);
    cg_line(cx, "%s_turn[k] = turn == 0 ? %s_rows[turn][k] : %s(%s_turn[k], %s_rows[turn][k]);", open, open, choose,
            open, open);
    cg_line(cx, "%s[turn][k] = %s(%s[turn][k], %s_turn[k]);", open, choose, open, open);
    cx->indent--;
    cg_line(cx, "}");
}
