/*
 * rows_extremes: smallest and largest values along x, and along the stream, in fewer steps than one for each pixel.
 *
 * Neighbouring windows share most of their pixels.  Along x four columns share the middle of their windows, and add what lies
 * before and behind it; CPUs, which have more columns side by side, double the length of their runs instead.
 * Along the stream a turn's rows all belong to most of the open windows, which take their extreme once: a window that ends
 * in the turn takes that of the first rows, one that begins in it that of the last ones (M. van Herk, 1992).
 * Of equal values, such as zeros, an extreme is the last one; pixels keep their order here, and windows may
 * overlap, so that the bits are those of one after the other.
 */
#include "rows.h"

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

bool rows_is_march_extreme(const Rows *r, const IrExprNode *fold, const char *late)
{
    int first, count;
    return strcmp(late, "0") == 0 && is_extreme(r->k->g, fold, FEWEST_ROWS, &first, &count);
}

void rows_open_extremes(Rows *r, const char *open, const IrExprNode *fold, const char *rows)
{
    Arena *arena = r->k->arena;
    const char *before = cg_minus(arena, rows, "1"), *width = rows_width(r, r->stage), *type = cg_type(fold->type);
    const char *choose = cg_chooser(r->k, fold, fold->a);
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
    const char *width = rows_width(r, r->stage), *choose = cg_chooser(r->k, fold, fold->a);
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
