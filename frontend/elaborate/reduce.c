/*
 * reduce: whole-image values: sums, extremes, ranks, histograms and thresholds.
 *
 * Equal requests share a node: mean, std and max of one image are values of one reduction.
 */
#include "elab.h"

#include "../../ir/pixels.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FLOAT_BINS = 256, INTEGER_BINS = 65536 };

/* ---- what is reduced ------------------------------------------------------------------- */

typedef struct Pixels {
    IrExpr value, where; /* where 0: everywhere */
    int grid;
    IrExpr integer; /* host: 1 when the pixels are whole numbers */
} Pixels;

/* Whether pixels are whole numbers, as a number. */
static IrExpr is_integer(Elab *el, IrExpr e)
{
    IrGraph *g = el->g;
    return ir_op3(g, IR_X_SELECT, ir_pixels(g, e).whole, ir_const(g, 1), ir_const(g, 0));
}

/* Sums and extremes take pixels that f32 does not hold as f64: those of the wide types, but where they are stored in a
 * narrow one. */
static Elem summed_type(Elab *el, IrExpr e)
{
    const IrExprNode *n = ir_expr(el->g, e);
    bool read = n->op == IR_X_READ || n->op == IR_X_READAT;
    Elem type = read && ir_node(el->g, n->node)->elem != ELEM_FILE ? ir_node(el->g, n->node)->elem : n->type;
    return type == ELEM_I32 || type == ELEM_U32 || type == ELEM_F64 ? ELEM_F64 : ELEM_F32;
}

/* The pixels of an image or a selection as `type`. */
static Pixels pixels_of(Elab *el, Val v, Elem type, Span span)
{
    v = v.kind == VAL_VECTOR ? el_each_once(el, v, span) : v;
    Val value = el_numbers(el, v);
    value.kind = VAL_IMAGE;
    Pixels p = {.integer = is_integer(el, v.expr)};
    value = el_readable(el, value, "value", span);
    if (v.kind == VAL_SELECTION) {
        Val mask = el_readable(el, el_image(el, v.mask, v.grid), "where", span);
        p.where = mask.expr;
    }
    p.value = ir_cast(el->g, value.expr, type);
    p.grid = value.grid;
    return p;
}

/* The reduction of these pixels in this loop, with at least the wanted values. */
static IrId reduction(Elab *el, const Pixels *p, int wanted, Span span)
{
    IrGraph *g = el->g;
    for (int i = g->nodes.n - 1; i > 0; i--) {
        IrNode *n = &g->nodes.at[i];
        if (n->op == IR_REDUCE && n->loop == el->loop && n->reduce.value == p->value && n->reduce.where == p->where) {
            double have = 0;
            ir_is_const(g, n->reduce.wanted, &have);
            n->reduce.wanted = ir_const(g, (int)have | wanted);
            return (IrId)i;
        }
    }
    IrNode node = {.op = IR_REDUCE,
                   .kind = IR_K_VALUE,
                   .elem = ELEM_F64,
                   .reduce = {.value = p->value, .where = p->where, .wanted = ir_const(g, wanted)}};
    return el_add(el, node, "reduce", span);
}

static IrExpr value_of(Elab *el, Val v, int wanted, int which, Span span)
{
    Pixels p = pixels_of(el, v, summed_type(el, v.expr), span);
    return ir_value(el->g, reduction(el, &p, wanted, span), which);
}

/* ---- sums and extremes ----------------------------------------------------------------- */

static bool is_pixels(Val v)
{
    return v.kind == VAL_IMAGE || v.kind == VAL_SELECTION || v.kind == VAL_VECTOR;
}

Val el_sum(Elab *el, Call *call)
{
    return el_uniform(value_of(el, call->arg[SUM_V], WANTED_SUM, REDUCE_SUM, call->span));
}

static IrExpr mean_of(Elab *el, Val v, Span span)
{
    IrExpr sum = value_of(el, v, WANTED_SUM, REDUCE_SUM, span);
    return ir_op2(el->g, IR_X_DIV, sum, value_of(el, v, WANTED_SUM, REDUCE_COUNT, span));
}

Val el_mean(Elab *el, Call *call)
{
    return el_uniform(mean_of(el, call->arg[MEAN_V], call->span));
}

static IrExpr variance_of(Elab *el, Val v, Span span)
{
    IrExpr squares = value_of(el, v, WANTED_SUM | WANTED_SQUARES, REDUCE_SQUARES, span);
    return ir_op2(el->g, IR_X_DIV, squares, value_of(el, v, WANTED_SUM, REDUCE_COUNT, span));
}

Val el_variance(Elab *el, Call *call)
{
    return el_uniform(variance_of(el, call->arg[VAR_V], call->span));
}

Val el_deviation(Elab *el, Call *call)
{
    return el_uniform(ir_op1(el->g, IR_X_SQRT, variance_of(el, call->arg[STD_V], call->span)));
}

Val el_count(Elab *el, Call *call)
{
    Val v = call->arg[COUNT_V];
    bool truths = v.kind == VAL_VECTOR && ir_expr(el->g, v.expr)->type == ELEM_BOOL;
    if (v.kind == VAL_SELECTION || (v.kind == VAL_VECTOR && !truths)) {
        return el_uniform(value_of(el, v, WANTED_SUM, REDUCE_COUNT, call->span));
    }
    if (v.image == IR_K_LABELS) {
        v = el_without_gaps(el, v, call->span);
        return el_uniform(ir_value(el->g, el_store(el, v, "labels", call->span), 0));
    }
    return el_uniform(value_of(el, v, WANTED_SUM, REDUCE_SUM, call->span));
}

/* One argument: over all pixels; several: pixel by pixel. */
static Val extreme(Elab *el, Call *call, IrExprOp op, int which)
{
    Val v = call->arg[0];
    if (call->n > 1) {
        for (int i = 1; i < call->n; i++) {
            Val next = call->arg[i];
            if (el_is_bad(v)) {
                return v;
            }
            if (v.kind == VAL_SELECTION || next.kind == VAL_SELECTION) {
                el_error(el, NOT_A_NUMBER, call->at[i], el_describe(el, call->arg[0]));
                return el_err();
            }
            v = el_op2(el, op, v, next, call->span);
        }
        return v;
    }
    if (!is_pixels(v)) {
        Diag *d = el_error(el, MISSING_ARGUMENT, call->word, call->op->name, "...");
        diag_help(el->diags, d, "%s(a, b) compares; %s(image) is one value for the whole image", call->op->name,
                  call->op->name);
        return el_err();
    }
    return el_uniform(value_of(el, v, WANTED_EXTREMES, which, call->span));
}

Val el_minimum(Elab *el, Call *call)
{
    return extreme(el, call, IR_X_MIN, REDUCE_MIN);
}

Val el_maximum(Elab *el, Call *call)
{
    return extreme(el, call, IR_X_MAX, REDUCE_MAX);
}

/* False after a complaint about values of labels that are neither true nor false. */
static bool are_truths(Elab *el, Call *call)
{
    const Val v = call->arg[0];
    bool truths = v.kind != VAL_VECTOR || ir_expr(el->g, v.expr)->type == ELEM_BOOL;
    if (!truths) {
        Diag *d = el_error(el, NEEDS_MASK, call->at[0], el_describe(el, v));
        diag_help(el->diags, d, "compare it with something: %s > 0", el_words(el, call->at[0]));
    }
    return truths;
}

/* any: the number of true pixels is not 0; all: no pixel is false. */
Val el_any(Elab *el, Call *call)
{
    Val v = call->arg[ANY_MASK];
    if (!are_truths(el, call)) {
        return el_err();
    }
    IrExpr zero = ir_const(el->g, 0);
    return el_uniform(ir_op2(el->g, IR_X_GT, value_of(el, v, WANTED_SUM, REDUCE_SUM, call->span), zero));
}

Val el_all(Elab *el, Call *call)
{
    Val v = call->arg[ALL_MASK];
    if (!are_truths(el, call)) {
        return el_err();
    }
    IrExpr all = value_of(el, v, WANTED_SUM, REDUCE_COUNT, call->span);
    return el_uniform(ir_op2(el->g, IR_X_EQ, value_of(el, v, WANTED_SUM, REDUCE_SUM, call->span), all));
}

/* ---- ranks ----------------------------------------------------------------------------- */

static Val rank(Elab *el, Val v, IrExpr percent, Span span)
{
    Pixels p = pixels_of(el, v, ELEM_F32, span);
    IrNode node = {.op = IR_RANK,
                   .kind = IR_K_VALUE,
                   .elem = ELEM_F64,
                   .rank = {.value = p.value, .where = p.where, .percent = percent}};
    return el_uniform(ir_value(el->g, el_add_once(el, node, "rank", span), 0));
}

Val el_median(Elab *el, Call *call)
{
    return rank(el, call->arg[MEDIAN_V], ir_const(el->g, 50), call->span);
}

Val el_percentile(Elab *el, Call *call)
{
    return rank(el, call->arg[PERCENTILE_V], call->arg[PERCENTILE_Q].expr, call->span);
}

/* ---- selections as images --------------------------------------------------------------- */

Val el_parts(Elab *el, Call *call)
{
    Val v = call->arg[PARTS_V], parts = el_record(el, 2);
    v = v.kind == VAL_VECTOR ? el_each_once(el, v, call->span) : v;
    Val image = v;
    image.kind = VAL_IMAGE;
    bool selection = v.kind == VAL_SELECTION;
    IrExpr mask = selection ? v.mask : ir_const_typed(el->g, 1, ELEM_BOOL);
    parts.items[0] = (ValItem){"image", image};
    parts.items[1] = (ValItem){"mask", el_image(el, mask, v.grid)};
    return parts;
}

Val el_is_whole(Elab *el, Call *call)
{
    return el_host(ir_pixels(el->g, call->arg[IS_WHOLE_V].expr).whole);
}

/* scikit-image's range of an image: that of its type, up to 1 for floats; but what is computed here keeps
 * the range of what it was computed from, which is bytes as a rule. */
Val el_white(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    const IrPixels p = ir_pixels(g, call->arg[WHITE_V].expr);
    if (p.elem == ELEM_FILE) {
        return el_host(ir_op3(g, IR_X_SELECT, p.whole, ir_largest(g, p.file), ir_const(g, 1)));
    }
    return el_host(ir_const(g, p.elem == ELEM_NONE ? 255 : elem_is_integer(p.elem) ? elem_max(p.elem) : 1));
}

/* ---- histograms ------------------------------------------------------------------------- */

/* A given edge, or the smallest (largest) value; where both are the same the range is 1 wide. */
static void edges(Elab *el, Call *call, const Pixels *p, IrExpr edge[2])
{
    IrGraph *g = el->g;
    if (call->given[HISTOGRAM_LOW] && call->given[HISTOGRAM_HIGH]) {
        edge[0] = call->arg[HISTOGRAM_LOW].expr;
        edge[1] = call->arg[HISTOGRAM_HIGH].expr;
        return;
    }
    IrId extremes = reduction(el, p, WANTED_EXTREMES, call->span);
    IrExpr lo = call->given[HISTOGRAM_LOW] ? call->arg[HISTOGRAM_LOW].expr : ir_value(g, extremes, REDUCE_MIN);
    IrExpr hi = call->given[HISTOGRAM_HIGH] ? call->arg[HISTOGRAM_HIGH].expr : ir_value(g, extremes, REDUCE_MAX);
    IrExpr half = ir_op3(g, IR_X_SELECT, ir_op2(g, IR_X_EQ, lo, hi), ir_const(g, 0.5), ir_const(g, 0));
    edge[0] = ir_op2(g, IR_X_SUB, lo, half);
    edge[1] = ir_op2(g, IR_X_ADD, hi, half);
}

/* Counts as an image [x] with a pixel for each bin. */
Val el_histogram(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    Pixels p = pixels_of(el, call->arg[HISTOGRAM_V], ELEM_F32, call->span);
    IrExpr edge[2];
    edges(el, call, &p, edge);
    IrExpr bins = call->arg[HISTOGRAM_BINS].expr;
    IrNode histogram = {.op = IR_HISTOGRAM,
                        .kind = IR_K_VECTOR,
                        .elem = ELEM_U32,
                        .histogram = {.value = p.value,
                                      .where = p.where,
                                      .lo = edge[0],
                                      .hi = edge[1],
                                      .bins = bins,
                                      .integer = ir_const(g, 0)}};
    IrId counts = el_add_once(el, histogram, "histogram", call->span);
    IrGrid line = {.extent = {bins}, .has = {true}};
    IrExpr count = ir_lookup(g, counts, ir_coord(g, IR_AX_X));
    count = ir_op2(g, IR_X_MIN, count, ir_const_typed(g, INT32_MAX, ELEM_U32)); /* of which there is no whole type */
    return el_image(el, ir_cast(g, count, ELEM_I32), el_add_grid(el, line, el_nowhere(), el_as_they_lie()));
}

/* A statistic of the boxes that an image is cut into: an image with a pixel for each box.  An axis that is not there is one
 * pixel long. */
Val el_boxes(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    Pixels p = pixels_of(el, call->arg[BOXES_V], ELEM_F32, call->span);
    const Val *size = &call->arg[BOXES_WIDTH];
    IrGrid mesh = *el_grid(el, call->arg[BOXES_V]);
    IrExpr boxes = ir_const(g, 1), at = ir_const_typed(g, 0, ELEM_I32);
    IrNode node = {.op = IR_BOXES,
                   .kind = IR_K_VECTOR,
                   .elem = ELEM_F32,
                   .boxes = {.value = p.value,
                             .where = p.where,
                             .kappa = call->arg[BOXES_KAPPA].expr,
                             .rounds = call->arg[BOXES_ROUNDS].expr}};
    for (int ax = IR_AX_C; ax >= IR_AX_X; ax--) {
        if (ax != IR_AX_C) {
            node.boxes.size[ax] = mesh.has[ax] ? ir_op1(g, IR_X_FLOOR, size[ax].expr) : ir_const(g, 1);
        }
        if (!mesh.has[ax]) {
            continue;
        }
        if (ax != IR_AX_C) {
            mesh.extent[ax] = ir_op1(g, IR_X_CEIL, ir_op2(g, IR_X_DIV, mesh.extent[ax], node.boxes.size[ax]));
        }
        boxes = ir_op2(g, IR_X_MUL, boxes, mesh.extent[ax]);
        at = ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_MUL, at, ir_cast(g, mesh.extent[ax], ELEM_I32)), ir_coord(g, ax));
    }
    IrExpr first = ir_op2(g, IR_X_MUL, boxes, call->arg[BOXES_WHICH].expr);
    node.boxes.length = ir_op2(g, IR_X_MUL, boxes, ir_const(g, BOXES_VALUES));
    IrId found = el_add_once(el, node, "boxes", call->span);
    IrExpr value = ir_lookup(g, found, ir_op2(g, IR_X_ADD, at, ir_cast(g, first, ELEM_I32)));
    return el_image(el, value, el_add_grid(el, mesh, el_nowhere(), *el_names_of(el, call->arg[BOXES_V].grid)));
}

/* ---- thresholds ------------------------------------------------------------------------ */

static const char *const METHOD_OPS[THRESHOLD_METHODS] = {[METHOD_OTSU] = "otsu",
                                                          [METHOD_YEN] = "yen",
                                                          [METHOD_TRIANGLE] = "triangle",
                                                          [METHOD_ISODATA] = "isodata",
                                                          [METHOD_MINIMUM] = "minimum_threshold",
                                                          [METHOD_LI] = "li_counted"};

Val el_histogram_threshold(Elab *el, Call *call)
{
    IrGraph *g = el->g;
    Pixels p = pixels_of(el, call->arg[0], ELEM_F32, call->span);
    IrId extremes = reduction(el, &p, WANTED_EXTREMES, call->span);
    IrExpr lo = ir_value(g, extremes, REDUCE_MIN), hi = ir_value(g, extremes, REDUCE_MAX);
    IrExpr truth = ir_op2(g, IR_X_NE, p.integer, ir_const(g, 0));
    IrExpr bins = ir_op3(g, IR_X_SELECT, truth, ir_const(g, INTEGER_BINS), ir_const(g, FLOAT_BINS));
    IrNode histogram =
        {.op = IR_HISTOGRAM,
         .kind = IR_K_VECTOR,
         .elem = ELEM_U32,
         .histogram = {.value = p.value, .where = p.where, .lo = lo, .hi = hi, .bins = bins, .integer = p.integer}};
    IrId counts = el_add_once(el, histogram, "histogram", call->span);
    int method = 0;
    while (strcmp(METHOD_OPS[method], call->op->name) != 0) {
        method++;
        assert(method < THRESHOLD_METHODS);
    }
    IrNode threshold = {.op = IR_THRESHOLD,
                        .kind = IR_K_VALUE,
                        .elem = ELEM_F64,
                        .threshold = {.lo = lo, .hi = hi, .method = ir_const(g, method), .integer = p.integer},
                        .of = counts};
    return el_uniform(ir_value(g, el_add_once(el, threshold, "threshold", call->span), 0));
}
