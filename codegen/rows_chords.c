/*
 * rows_chords: smallest and largest values of windows that are no rectangles.
 *
 * Each row of a disk is a chord, and the shorter chords lie inside the longer ones.  So the extreme of a chord is made of
 * that of the next shorter one and the pixels at its ends (E. R. Urbach and M. H. F. Wilkinson, 2008): for a disk of
 * radius 7 that takes 29 steps a pixel, where its pixels are 149.  Of equal values, such as zeros, an extreme
 * is the last one, and of NaNs the first; pixels keep their order here, so that the bits are those of one after the other.
 */
#include "rows.h"

#include "../ir/edit.h"

#include <math.h>

enum { MOST_ROWS = 128, INSTRUCTIONS = 3 /* of an extreme, where a sum has one */ };

typedef struct Chord {
    int from, to; /* along x */
} Chord;

struct Chords {
    IrExprNode outer, inner; /* the fold over rows, and that along x */
    int first;               /* row of the window */
    int n_rows, n_chords;
    int of[MOST_ROWS];      /* by row: which chord it is; -1: it has no pixels */
    Chord chord[MOST_ROWS]; /* each inside the next one */
};

typedef struct Number {
    double index, value;
} Number;

static IrExpr with_numbers(IrGraph *g, IrExpr e, void *ctx)
{
    const Number *is = ctx;
    const IrExprNode *n = ir_expr(g, e);
    for (int i = 0; i < 2 && n->op == IR_X_INDEX; i++) {
        if (n->num == is[i].index) {
            return ir_const(g, is[i].value);
        }
    }
    return ir_made_anew(g, e);
}

/* Is the pixel of a window's row there?  -1: only a run knows. */
static int is_there(IrGraph *g, const Chords *c, int row, int column)
{
    Number is[] = {{c->outer.num, row}, {c->inner.num, column}};
    double there = 1;
    bool known = c->inner.where == 0 || ir_is_const(g, ir_rewrite(g, c->inner.where, with_numbers, is), &there);
    return known ? there != 0 : -1;
}

/* The pixels of a row; false: they are no chord. */
static bool measure(IrGraph *g, const Chords *c, int row, int from, int to, Chord *chord)
{
    *chord = (Chord){.from = 1, .to = 0};
    for (int i = from; i <= to; i++) {
        int there = is_there(g, c, row, i);
        bool begins = chord->from > chord->to;
        if (there < 0 || (there > 0 && !begins && chord->to != i - 1)) {
            return false;
        }
        if (there > 0) {
            *chord = (Chord){begins ? i : chord->from, i};
        }
    }
    return true;
}

/* The place of a chord among those that are known, in order of their lengths; false: it crosses one of them. */
static bool add_chord(Chords *c, Chord new, int row)
{
    int at = 0;
    while (at < c->n_chords && c->chord[at].to - c->chord[at].from < new.to - new.from) {
        at++;
    }
    bool known = at < c->n_chords && c->chord[at].from == new.from && c->chord[at].to == new.to;
    const Chord *in = at > 0 ? &c->chord[at - 1] : &new, *around = at < c->n_chords ? &c->chord[at] : &new;
    if (in->from < new.from || in->to > new.to || around->from > new.from || around->to < new.to) {
        return false;
    }
    for (int i = c->n_chords; i > at && !known; i--) {
        c->chord[i] = c->chord[i - 1];
    }
    for (int i = 0; i < row && !known; i++) {
        c->of[i] += c->of[i] >= at;
    }
    c->chord[at] = new;
    c->n_chords += !known;
    c->of[row] = at;
    return true;
}

/* max(v[dx = i, dy = j] for j ..., i ...) and its like. */
static bool is_extreme(const Rows *r, const Chords *c)
{
    const IrGraph *g = r->k->g;
    const IrExprNode *read = ir_expr(g, c->inner.a);
    IrExpr along = rows_stream_z(r) ? read->c : read->b, across = rows_stream_z(r) ? read->b : read->c;
    const IrExprNode *row = ir_expr(g, along), *column = ir_expr(g, read->a);
    bool picks = c->outer.fold >= IR_FOLD_MIN && c->outer.fold <= IR_FOLD_ALL;
    return picks && c->outer.flat && !c->inner.flat && read->op == IR_X_READ && read->channel == 0 && across == 0 &&
           row->op == IR_X_INDEX && row->num == c->outer.num && column->op == IR_X_INDEX && column->num == c->inner.num;
}

const Chords *rows_find_chords(Rows *r, IrExpr fold)
{
    IrGraph *g = r->k->g;
    double first, last, from, to;
    Chords *c = arena_new(g->arena, Chords);
    c->outer = *ir_expr(g, fold);
    c->inner = *ir_expr(g, c->outer.a);
    if (!is_extreme(r, c) || !ir_is_const(g, c->outer.b, &first) || !ir_is_const(g, c->outer.c, &last) ||
        !ir_is_const(g, c->inner.b, &from) || !ir_is_const(g, c->inner.c, &to) || last - first >= MOST_ROWS ||
        to - from >= MOST_ROWS || last < first) {
        return NULL;
    }
    c->first = (int)first;
    c->n_rows = (int)(last - first) + 1;
    for (int i = 0; i < c->n_rows; i++) {
        Chord chord;
        c->of[i] = -1;
        if (!measure(g, c, c->first + i, (int)from, (int)to, &chord) ||
            (chord.from <= chord.to && !add_chord(c, chord, i))) {
            return NULL;
        }
    }
    return c->n_chords > 0 ? c : NULL;
}

int rows_chord_steps(const Chords *c)
{
    const Chord *longest = &c->chord[c->n_chords - 1];
    return INSTRUCTIONS * (longest->to - longest->from + c->n_rows);
}

static const char *extreme_of(Rows *r, const Chords *c, const char *a, const char *b)
{
    if (c->outer.fold >= IR_FOLD_ANY) {
        return arena_printf(r->k->arena, "(%s %s %s)", a, c->outer.fold == IR_FOLD_ANY ? "||" : "&&", b);
    }
    return arena_printf(r->k->arena, "%s(%s, %s)", cg_chooser(r->k, &c->outer, c->inner.a), a, b);
}

/* `so_far` and the pixels of a row from one column to another; NULL: nothing so far. */
static const char *with_pixels(Rows *r, const Chords *c, const char *so_far, int from, int to)
{
    CgContext *cx = &r->cx;
    for (int i = from; i <= to; i++) {
        const int memo = cx->memo.n, loops = cx->loops.n;
        vec_push(r->k->arena, &cx->loops, (CgLoop){(int)c->outer.num, c->outer.b, c->outer.c, "j"});
        vec_push(r->k->arena, &cx->loops,
                 (CgLoop){(int)c->inner.num, c->inner.b, c->inner.c, cg_literal(r->k->arena, i)});
        const char *pixel = cg_whole_operand(cx, c->inner.a, cg_bare(r->k->arena, cg_expr(cx, c->inner.a)));
        cx->memo.n = memo;
        cx->loops.n = loops;
        so_far = so_far == NULL ? pixel : extreme_of(r, c, so_far, pixel);
    }
    return so_far;
}

/* What makes a chord of the one before it. */
static void emit_chord(Rows *r, const Chords *c, int which, const char *name)
{
    const Chord to = c->chord[which], from = which > 0 ? c->chord[which - 1] : (Chord){to.to + 1, to.to};
    const char *chord = arena_printf(r->k->arena, "%s[k]", name);
    cg_line(&r->cx, "PX_UNROLL for (int k = 0; k < %s; k++) {", rows_width(r, r->stage));
    r->cx.indent++; /* pixels may get names */
    const char *all = with_pixels(r, c, NULL, to.from, from.from - 1);
    if (which > 0) {
        all = all != NULL ? extreme_of(r, c, all, chord) : chord;
        all = with_pixels(r, c, all, from.to + 1, to.to);
    }
    cg_line(&r->cx, "%s = %s;", chord, all);
    r->cx.indent--;
    cg_line(&r->cx, "}");
}

void rows_emit_chords(Rows *r, const Chords *c, const char *open, int last)
{
    CgContext *cx = &r->cx;
    const char *name = arena_printf(r->k->arena, "%s_chord", open), *width = rows_width(r, r->stage);
    const int begins = last - c->first; /* the sum that this row begins; its row is the window's first */
    cg_line(cx, "%s %s[%s];", cg_type(c->outer.type), name, width);
    cg_line(cx, "PX_UNROLL for (int k = 0; k < %s; k++) %s[turn + %d][k] = %s;", width, open, begins,
            cg_fold_start(&c->outer));
    for (int which = 0; which < c->n_chords; which++) {
        emit_chord(r, c, which, name);
        for (int row = 0; row < c->n_rows; row++) {
            const char *sum = arena_printf(r->k->arena, "%s[turn + %d][k]", open, begins - row);
            if (c->of[row] == which) {
                cg_line(cx, "PX_UNROLL for (int k = 0; k < %s; k++) %s = %s;", width, sum,
                        extreme_of(r, c, sum, arena_printf(r->k->arena, "%s[k]", name)));
            }
        }
    }
}
