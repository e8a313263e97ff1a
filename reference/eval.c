/*
 * eval: a tree walk over expressions for every pixel of every node, in the order of the graph.
 *
 * Values are remembered for the current pixel, those that depend on indices of folds until one of these goes on, host
 * expressions and weights of windows for the whole run.  Loops re-run their nodes.  The evaluator is slow by intention:
 * it contains no cleverness that a kernel could share a mistake with.
 */
#include "eval_internal.h"
#include "../ir/apply.h"
#include "ref.h"
#include "../ir/function.h"
#include "../base/blend.h"
#include "../base/hostops.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOREVER UINT64_MAX /* the stamp of what never changes */

static double eval(IrEval *ev, IrExpr e);

/* ---- borders and reads ----------------------------------------------------------------- */

static double read_pixel(IrEval *ev, const IrExprNode *n, int x, int y, int z, int c)
{
    const IrEvalNode *from = &ev->nodes[n->node];
    const int *ext = from->extent;
    bool inside = x >= 0 && x < ext[0] && y >= 0 && y < ext[1] && z >= 0 && z < ext[2];
    if (!inside && n->border == BORDER_CONSTANT) {
        return ir_convert(eval(ev, n->outside), n->type);
    }
    if (!inside) {
        x = ir_map_border(n->border, x, ext[0]);
        y = ir_map_border(n->border, y, ext[1]);
        z = ir_map_border(n->border, z, ext[2]);
    }
    c = c < 0 ? 0 : c >= ext[3] ? ext[3] - 1 : c;
    size_t plane = (size_t)c * (size_t)ext[2] + (size_t)z;
    double v = from->pixels[(plane * (size_t)ext[1] + (size_t)y) * (size_t)ext[0] + (size_t)x];
    return n->type == ELEM_F32 ? (double)(float)v : v; /* of a file's type */
}

static int shift(IrEval *ev, IrExpr offset)
{
    return offset != 0 ? (int)eval(ev, offset) : 0;
}

static double eval_read(IrEval *ev, const IrExprNode *n)
{
    int c = n->channel != 0 ? (int)eval(ev, n->channel) : ev->c;
    return read_pixel(ev, n, ev->x + shift(ev, n->a), ev->y + shift(ev, n->b), ev->z + shift(ev, n->c), c);
}

static double eval_read_at(IrEval *ev, const IrExprNode *n)
{
    int c = n->channel != 0 ? (int)eval(ev, n->channel) : ev->c;
    return read_pixel(ev, n, n->a != 0 ? (int)eval(ev, n->a) : ev->x, n->b != 0 ? (int)eval(ev, n->b) : ev->y,
                      n->c != 0 ? (int)eval(ev, n->c) : ev->z, c);
}

static double eval_lookup(IrEval *ev, const IrExprNode *n)
{
    const IrEvalNode *vector = &ev->nodes[n->node];
    double at = eval(ev, n->a);
    return at < (double)vector->length ? vector->pixels[(int64_t)at] : 0;
}

/* ---- folds ----------------------------------------------------------------------------- */

typedef struct FoldState {
    IrFold kind;
    Elem type;
    double acc;
    double *list; /* of what is sorted */
    int n, cap;
    const double *weight; /* of a blend, from the first index on, of which `middle` is the middle */
    int middle;
    double before;
} FoldState;

static void add_weighted(FoldState *st, double weight, double v)
{
    if (st->type == ELEM_F32) {
        st->acc = (double)fmaf((float)weight, (float)v, (float)st->acc);
    } else {
        st->acc += weight * v;
    }
}

static void blend_push(FoldState *st, double v)
{
    if (st->n > 0) {
        add_weighted(st, st->weight[st->n], ir_apply(IR_X_SUB, st->type, v, st->before, 0));
    }
    if (st->n == st->middle) {
        add_weighted(st, st->weight[0], v);
    }
    st->before = v;
    st->n++;
}

/* One step of the innermost fold of a sequence. */
static void fold_push(IrEval *ev, FoldState *st, const IrExprNode *fold)
{
    if (st->kind == IR_FOLD_BLEND) {
        blend_push(st, eval(ev, fold->a));
        return;
    }
    const IrExprNode *n = ir_expr(ev->g, fold->a);
    if (fold->fused && n->op == IR_X_MUL) {
        st->acc = (double)fmaf((float)eval(ev, n->a), (float)eval(ev, n->b), (float)st->acc);
        return;
    }
    double v = eval(ev, fold->a);
    switch (st->kind) {
    case IR_FOLD_SUM:
        st->acc = ir_apply(IR_X_ADD, st->type, st->acc, v, 0);
        break;
    case IR_FOLD_PROD:
        st->acc = ir_apply(IR_X_MUL, st->type, st->acc, v, 0);
        break;
    case IR_FOLD_MIN:
        st->acc = st->n == 0 ? v : ir_apply(IR_X_MIN, st->type, st->acc, v, 0);
        break;
    case IR_FOLD_MAX:
        st->acc = st->n == 0 ? v : ir_apply(IR_X_MAX, st->type, st->acc, v, 0);
        break;
    case IR_FOLD_ANY:
        st->acc = st->acc != 0 || v != 0;
        break;
    case IR_FOLD_ALL:
        st->acc = st->acc != 0 && v != 0;
        break;
    default:
        if (st->n == st->cap) {
            st->cap = st->cap ? 2 * st->cap : 64;
            double *list = realloc(st->list, sizeof *list * (size_t)st->cap);
            if (list == NULL) {
                abort();
            }
            st->list = list;
        }
        st->list[st->n] = v + 0.0; /* one zero */
    }
    st->n++;
}

bool ir_eval_count(IrEval *ev, double elements)
{
    if (!((double)ev->left >= elements)) {
        ev->left = 0; /* what is smaller ends, too */
        return err_set(ev->err, CODE_INTERRUPTED, "the reference would take too long");
    }
    ev->left -= (uint64_t)elements;
    return true;
}

/* Runs the index of `e` and those of the folds that go on with it. */
static void fold_run(IrEval *ev, FoldState *st, IrExpr e)
{
    const IrExprNode *n = ir_expr(ev->g, e);
    double lo = ceil(eval(ev, n->b)), hi = floor(eval(ev, n->c));
    if (isnan(lo) || isnan(hi)) {
        err_set(ev->err, CODE_FILES, "a window ends at no number");
    } else if (lo <= hi && (lo < -HOSTOP_MOST_INDEX || hi > HOSTOP_MOST_INDEX)) {
        err_set(ev->err, CODE_USAGE, "an index goes to %g, which does not fit into 32 bits",
                lo < -HOSTOP_MOST_INDEX ? lo : hi);
        return;
    }
    double hidden = ev->index[(int)n->num]; /* an outer fold may use the same index */
    for (double i = lo; i <= hi && ir_eval_count(ev, 1); i++) {
        ev->index[(int)n->num] = i;
        ev->turn++;
        if (n->flat) {
            fold_run(ev, st, n->a);
        } else if (n->where == 0 || eval(ev, n->where) != 0) {
            fold_push(ev, st, n);
        }
    }
    ev->index[(int)n->num] = hidden;
    ev->turn++;
}

/* NaN comes last. */
static int compare_doubles(const void *p, const void *q)
{
    double a = *(const double *)p, b = *(const double *)q;
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static IrExpr innermost(const IrGraph *g, IrExpr e)
{
    while (ir_expr(g, e)->flat) {
        e = ir_expr(g, e)->a;
    }
    return e;
}

static double of_none(Elem type)
{
    return type == ELEM_F32 || type == ELEM_F64 ? NAN : 0;
}

static double ranked(IrEval *ev, IrExpr fold, const FoldState *st)
{
    double before = ev->count;
    ev->count = st->n;
    ev->turn++;
    double nth = eval(ev, ir_expr(ev->g, innermost(ev->g, fold))->nth);
    ev->count = before;
    ev->turn++;
    nth = fmin(fmax(nth, 0), st->n - 1);
    return st->list[(int)nth];
}

/* The weights of a blend, of its pixels at first; NULL: it has no pixels, or what is wrong is told when it runs. */
static double *blend_weights(IrEval *ev, const IrExprNode *n, FoldState *st)
{
    const double lo = eval(ev, n->b), hi = eval(ev, n->c);
    if (!(lo <= hi && lo >= -HOSTOP_MOST_INDEX && hi <= HOSTOP_MOST_INDEX) || !ir_eval_count(ev, hi - lo + 1)) {
        return NULL;
    }
    double *weight = malloc(sizeof *weight * (size_t)(hi - lo + 1)), hidden = ev->index[(int)n->num];
    if (weight == NULL) {
        abort();
    }
    for (double i = lo; i <= hi; i++) {
        ev->index[(int)n->num] = i;
        ev->turn++;
        weight[(int)(i - lo)] = eval(ev, n->weight);
    }
    ev->index[(int)n->num] = hidden;
    ev->turn++;
    blend_by_parts(weight, (int)lo, (int)hi);
    st->weight = weight;
    st->middle = blend_middle((int)lo, (int)hi) - (int)lo;
    return weight;
}

static double eval_fold(IrEval *ev, IrExpr e)
{
    const IrExprNode *n = ir_expr(ev->g, e);
    FoldState st = {.kind = n->fold, .type = n->type};
    st.acc = n->fold == IR_FOLD_PROD || n->fold == IR_FOLD_ALL ? 1 : 0;
    double *weights = n->fold == IR_FOLD_BLEND ? blend_weights(ev, n, &st) : NULL;
    fold_run(ev, &st, e);
    free(weights);
    if (st.n == 0 && (n->fold == IR_FOLD_MIN || n->fold == IR_FOLD_MAX)) {
        st.acc = n->fold == IR_FOLD_MIN ? elem_max(n->type) : elem_min(n->type);
    }
    if (ir_sorts(n)) {
        if (st.n > 0) {
            qsort(st.list, (size_t)st.n, sizeof *st.list, compare_doubles);
        }
        bool mode = n->fold == IR_FOLD_MODE;
        st.acc = st.n == 0 ? of_none(n->type) : mode ? ref_mode(st.list, st.n) : ranked(ev, e, &st);
        free(st.list);
    }
    return st.acc;
}

/* ---- expressions ----------------------------------------------------------------------- */

static double eval_call(IrEval *ev, const IrExprNode *n)
{
    double args[IR_FN_MAX_VARS];
    int k = 0;
    for (IrExpr a = n->a; a != 0; a = ir_expr(ev->g, a)->b) {
        args[k++] = eval(ev, ir_expr(ev->g, a)->a);
    }
    return ir_function_eval(ev->g, ev->g->functions.at[(int)n->num], args);
}

static double eval_cast(IrEval *ev, const IrExprNode *n)
{
    double v = eval(ev, n->a);
    return n->num != 0 ? ir_saturate_value(v, (Elem)n->num) : ir_convert(v, n->type);
}

/* Which input, counted over the INPUT nodes, a node is. */
static int input_number(const IrGraph *g, IrId node)
{
    int k = 0;
    for (IrId i = 1; i < node; i++) {
        k += ir_node(g, i)->op == IR_INPUT && !ir_node(g, i)->dead;
    }
    return k;
}

static double eval_pixelsize(IrEval *ev, int axis)
{
    double size = ev->inputs != NULL ? ev->inputs[0].pixelsize[axis] : 0;
    if (size <= 0) {
        err_set(ev->err, CODE_FILES, "the pipeline uses lengths in micrometres, but the image has no pixel size");
        return 1;
    }
    return size;
}

static double index_value(const IrEval *ev, int index)
{
    return index == COUNT_INDEX ? ev->count : ev->index[index];
}

static double eval_sky(IrEval *ev, const IrExprNode *n)
{
    double map[3][3];
    const int of = (int)n->num;
    const bool is = sky_map(&ev->inputs[input_number(ev->g, n->node)].sky, &ev->inputs[of / 9].sky, map, &(Err){0});
    return is ? map[of % 9 / 3][of % 3] : (double)NAN;
}

static double eval_node(IrEval *ev, IrExpr e)
{
    const IrExprNode *n = ir_expr(ev->g, e);
    switch (n->op) {
    case IR_X_CONST:
        return n->num;
    case IR_X_PARAM:
        return ev->params[(int)n->num];
    case IR_X_EXTENT:
        return ev->inputs[input_number(ev->g, n->node)].extent[(int)n->num];
    case IR_X_PIXELSIZE:
        return eval_pixelsize(ev, (int)n->num);
    case IR_X_UPWARDS:
        return ev->inputs != NULL && ev->inputs[0].upwards;
    case IR_X_SKY:
        return eval_sky(ev, n);
    case IR_X_LARGEST:
        return elem_max(ev->inputs[input_number(ev->g, n->node)].elem);
    case IR_X_INDEX:
        return index_value(ev, (int)n->num);
    case IR_X_COORD: {
        const int at[IR_AXES] = {ev->x, ev->y, ev->z, ev->c};
        return at[(int)n->num];
    }
    case IR_X_VALUE:
        return ev->nodes[n->node].value[(int)n->num];
    case IR_X_READ:
        return eval_read(ev, n);
    case IR_X_READAT:
        return eval_read_at(ev, n);
    case IR_X_LOOKUP:
        return eval_lookup(ev, n);
    case IR_X_CAST:
        return eval_cast(ev, n);
    case IR_X_FOLD:
        return eval_fold(ev, e);
    case IR_X_CALL:
        return eval_call(ev, n);
    case IR_X_SELECT:
        return eval(ev, n->a) != 0 ? eval(ev, n->b) : eval(ev, n->c);
    default: {
        Elem type = ir_expr(ev->g, n->a)->type;
        return ir_apply(n->op, type, eval(ev, n->a), n->b != 0 ? eval(ev, n->b) : 0, n->c != 0 ? eval(ev, n->c) : 0);
    }
    }
}

/* Weights are the same at every pixel, and often dear. */
static double eval_weight(IrEval *ev, IrExpr e, const EvalIndices *in)
{
    double i = index_value(ev, in->at[0]), j = in->n > 1 ? index_value(ev, in->at[1]) : 0;
    unsigned hash = (unsigned)e * 2654435761u ^ (unsigned)(int)i * 40503u ^ (unsigned)(int)j * 9973u;
    EvalWeight *w = &ev->weights[(hash ^ hash >> 14) % WEIGHTS];
    if (w->expr != e || w->at[0] != i || w->at[1] != j) {
        double value = eval_node(ev, e); /* which may use this place itself */
        *w = (EvalWeight){e, {i, j}, value};
    }
    return w->value;
}

static double eval(IrEval *ev, IrExpr e)
{
    IrRank rank = ir_expr(ev->g, e)->rank;
    const EvalIndices *in = &ev->indices[e];
    if (rank <= IR_INDEX && in->n == 0) {
        if (ev->stamp[e] != FOREVER) {
            ev->memo[e] = eval_node(ev, e);
            ev->stamp[e] = FOREVER;
        }
        return ev->memo[e];
    }
    if (in->n > 0 && in->n <= 2 && rank == IR_INDEX) {
        return eval_weight(ev, e, in);
    }
    const uint64_t *now = in->n > 0 ? &ev->turn : &ev->serial;
    if (ev->stamp[e] != *now) {
        ev->memo[e] = eval_node(ev, e); /* where *now may go on */
        ev->stamp[e] = *now;
    }
    return ev->memo[e];
}

/* A new pixel: nothing is remembered any more. */
static void move_to(IrEval *ev, int x, int y, int z, int c)
{
    ev->x = x;
    ev->y = y;
    ev->z = z;
    ev->c = c;
    ev->serial++;
    ev->turn++;
}

double ir_eval_uniform(IrEval *ev, IrExpr e)
{
    move_to(ev, 0, 0, 0, 0);
    return eval(ev, e);
}

/* ---- nodes ----------------------------------------------------------------------------- */

Elem ir_eval_elem(const IrEval *ev, IrId id)
{
    const IrNode *node = ir_node(ev->g, id);
    return node->elem != ELEM_FILE ? node->elem
           : node->op == IR_INPUT  ? ev->inputs[input_number(ev->g, id)].elem
                                   : elem_kept(ev->inputs[input_number(ev->g, node->of)].elem);
}

static double store(double v, Elem elem)
{
    switch (elem) {
    case ELEM_U8:
    case ELEM_U16:
    case ELEM_I16:
    case ELEM_U32:
    case ELEM_I32:
        return ir_saturate_value(v, elem);
    case ELEM_F32:
        return (double)(float)v;
    default:
        return v;
    }
}

size_t ir_eval_extents(IrEval *ev, IrId id, int grid)
{
    size_t pixels = 1;
    for (int ax = 0; ax < IR_AXES; ax++) {
        IrExpr e = grid >= 0 ? ev->g->grids.at[grid].extent[ax] : 0;
        double n = e != 0 ? floor(ir_eval_uniform(ev, e)) : 1;
        ev->extent[ax] = n >= 1 && n <= MAX_PIXELS ? (int)n : 0;
        pixels *= (size_t)ev->extent[ax];
        if (pixels == 0 || pixels > MAX_PIXELS) {
            err_set(ev->err, CODE_MEMORY,
                    "'%s' would have an extent of %g pixels: too small or too large for the reference",
                    ir_node(ev->g, id)->name, n);
            return 0;
        }
    }
    return pixels;
}

double *ir_eval_pixels(IrEval *ev, IrId id, size_t n)
{
    free(ev->nodes[id].pixels);
    ev->nodes[id].pixels = calloc(n ? n : 1, sizeof(double));
    ev->nodes[id].length = (int64_t)n;
    if (ev->nodes[id].pixels == NULL) {
        err_set(ev->err, CODE_MEMORY, "not enough memory for the reference");
    }
    return ev->nodes[id].pixels;
}

void ir_eval_image(IrEval *ev, IrExpr e, double *to)
{
    for (int c = 0; c < ev->extent[3]; c++) {
        for (int z = 0; z < ev->extent[2]; z++) {
            for (int y = 0; y < ev->extent[1]; y++) {
                for (int x = 0; x < ev->extent[0]; x++) {
                    move_to(ev, x, y, z, c);
                    *to++ = eval(ev, e);
                }
            }
        }
    }
}

static void eval_map(IrEval *ev, IrId id)
{
    const IrNode *node = ir_node(ev->g, id);
    size_t n = ir_eval_extents(ev, id, node->grid);
    double *to = calloc(n ? n : 1, sizeof *to);
    if (n == 0 || to == NULL) {
        free(to);
        err_set(ev->err, CODE_MEMORY, "not enough memory for the reference");
        return;
    }
    const Elem elem = ir_eval_elem(ev, id);
    memcpy(ev->nodes[id].extent, ev->extent, sizeof ev->extent);
    ir_eval_image(ev, node->map.value, to);
    for (size_t i = 0; i < n; i++) {
        to[i] = store(to[i], elem);
    }
    free(ev->nodes[id].pixels);
    ev->nodes[id].pixels = to;
}

static void eval_input(IrEval *ev, IrId id)
{
    const IrEvalInput *in = &ev->inputs[input_number(ev->g, id)];
    const IrNode *node = ir_node(ev->g, id);
    size_t n = 1;
    for (int ax = 0; ax < IR_AXES; ax++) {
        ev->nodes[id].extent[ax] = in->extent[ax];
        n *= (size_t)in->extent[ax];
    }
    double *to = ir_eval_pixels(ev, id, n), most = 0;
    if (to == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double v = in->pixels[i];
        to[i] = node->kind == IR_K_MASK     ? v != 0
                : node->kind == IR_K_LABELS ? ir_convert(v, ELEM_U32)
                : node->elem == ELEM_FILE   ? (double)(float)v
                                            : v;
        most = fmax(most, to[i]);
    }
    ev->nodes[id].value[0] = most;
    ir_eval_give_places(ev, id);
}

static void eval_scalar(IrEval *ev, IrId id)
{
    const IrNode *node = ir_node(ev->g, id);
    for (int k = 0; k < 5 && node->in[k] != 0; k++) {
        ev->nodes[id].value[k] = ir_eval_uniform(ev, node->in[k]);
    }
}

/* Pixels and values of `from` into `to`, whose old pixels are freed. */
static void copy_node(IrEval *ev, const IrEvalNode *from, IrEvalNode *to)
{
    double *pixels = NULL;
    if (from->pixels != NULL) {
        size_t n = 1;
        for (int ax = 0; ax < IR_AXES; ax++) {
            n *= (size_t)from->extent[ax];
        }
        pixels = malloc(n * sizeof *pixels);
        if (pixels == NULL) {
            err_set(ev->err, CODE_MEMORY, "not enough memory for the reference");
            return;
        }
        memcpy(pixels, from->pixels, n * sizeof *pixels);
    }
    free(to->pixels);
    *to = *from;
    to->pixels = pixels;
    to->table = NULL;
    to->ids = NULL;
}

static void eval_one(IrEval *ev, IrId id)
{
    switch (ir_node(ev->g, id)->op) {
    case IR_INPUT:
        eval_input(ev, id);
        break;
    case IR_IDS:
        ir_eval_ids(ev, id);
        break;
    case IR_MAP:
        eval_map(ev, id);
        break;
    case IR_SCALAR:
        eval_scalar(ev, id);
        break;
    case IR_CARRY:
        break; /* set when its loop begins */
    default:
        ir_eval_primitive(ev, id);
    }
}

/* ---- loops ----------------------------------------------------------------------------- */

static void eval_nodes(IrEval *ev, int loop);

/* The loop directly inside `loop` that contains `inner`, or 0. */
static int child_loop(const IrGraph *g, int loop, int inner)
{
    while (inner != 0 && g->loops.at[inner].parent != loop) {
        inner = g->loops.at[inner].parent;
    }
    return inner;
}

/* All carries are read before any is written: one may take the value of another. */
static void apply_carries(IrEval *ev, const IrLoop *loop)
{
    int n = loop->carries.n;
    IrEvalNode *next = calloc((size_t)n + 1, sizeof *next);
    if (next == NULL) {
        err_set(ev->err, CODE_MEMORY, "not enough memory for the reference");
        return;
    }
    for (int i = 0; i < n; i++) {
        copy_node(ev, &ev->nodes[loop->carries.at[i].next], &next[i]);
    }
    for (int i = 0; i < n; i++) {
        IrEvalNode *to = &ev->nodes[loop->carries.at[i].carry];
        free(to->pixels);
        *to = next[i];
    }
    free(next);
}

enum { ROUND = 256 }; /* elements that a round counts as, though it may have no folds */

static void eval_loop(IrEval *ev, int id)
{
    const IrLoop *loop = &ev->g->loops.at[id];
    for (int i = 0; i < loop->carries.n; i++) {
        copy_node(ev, &ev->nodes[loop->carries.at[i].first], &ev->nodes[loop->carries.at[i].carry]);
    }
    double rounds = floor(ir_eval_uniform(ev, loop->count != 0 ? loop->count : loop->at_most));
    double before = NAN;
    if (!(fabs(rounds) <= INT_MAX)) {
        err_set(ev->err, CODE_USAGE, "the number of rounds is %g, which is not a whole number that fits", rounds);
        return;
    }
    for (double k = 0; k < rounds && ev->err->code == CODE_OK && ir_eval_count(ev, ROUND); k++) {
        eval_nodes(ev, id);
        double now = loop->until != 0 ? ir_eval_uniform(ev, loop->until) : NAN;
        apply_carries(ev, loop);
        if (now == before) {
            break;
        }
        before = now;
    }
}

static void eval_nodes(IrEval *ev, int loop)
{
    const IrGraph *g = ev->g;
    int done = 0; /* the child loop that has just run */
    for (IrId id = 1; id < (IrId)g->nodes.n && ev->err->code == CODE_OK; id++) {
        const IrNode *node = ir_node(g, id);
        if (node->dead) {
            continue;
        }
        if (node->loop == loop) {
            eval_one(ev, id);
            continue;
        }
        int child = child_loop(g, loop, node->loop);
        if (child != 0 && child != done) {
            eval_loop(ev, child);
            done = child;
        }
    }
}

/* ---- the whole graph ------------------------------------------------------------------- */

static void add_index(EvalIndices *to, int index)
{
    for (int i = 0; i < to->n && i < INDICES; i++) {
        if (to->at[i] == index) {
            return;
        }
    }
    if (to->n < INDICES) {
        to->at[to->n] = index;
    }
    to->n += to->n <= INDICES;
}

static void add_indices(EvalIndices *to, const EvalIndices *of)
{
    for (int i = 0; i < of->n && i < INDICES; i++) {
        add_index(to, of->at[i]);
    }
    to->n = of->n > INDICES ? of->n : to->n;
}

static void remove_index(EvalIndices *from, int index)
{
    for (int i = 0; i < from->n && from->n <= INDICES; i++) {
        if (from->at[i] == index) {
            from->at[i] = from->at[--from->n];
        }
    }
}

/* What changes with which index: marked bottom-up, children have smaller ids.  A fold depends on
 * its own index only from outside its bounds; a rank sets the number of its elements itself. */
static void mark_indexed(IrEval *ev)
{
    const IrGraph *g = ev->g;
    for (int e = 1; e < g->exprs.n; e++) {
        const IrExprNode *n = &g->exprs.at[e];
        const IrExpr inside[] = {n->a, n->where, n->nth, n->weight}, around[] = {n->b, n->c, n->channel, n->outside};
        EvalIndices *to = &ev->indices[e];
        for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
            add_indices(to, &ev->indices[inside[i]]);
        }
        if (n->op == IR_X_FOLD) {
            remove_index(to, (int)n->num);
            if (n->fold == IR_FOLD_RANK) {
                remove_index(to, COUNT_INDEX);
            }
        } else if (n->op == IR_X_INDEX) {
            add_index(to, (int)n->num);
        }
        for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
            add_indices(to, &ev->indices[around[i]]);
        }
    }
}

static void check_bounds(IrEval *ev)
{
    for (int i = 0; i < ev->g->bounds.n && ev->err->code == CODE_OK; i++) {
        const IrBound *bound = &ev->g->bounds.at[i];
        double value = ir_eval_uniform(ev, bound->value);
        if (ev->err->code == CODE_OK && !hostop_within(value, bound->lo, bound->hi, bound->above)) {
            err_set(ev->err, CODE_USAGE, "%s is %g, it must be %s", bound->what, value, bound->must);
        }
    }
    for (int i = 0; i < ev->g->equals.n && ev->err->code == CODE_OK; i++) {
        const IrEqual *equal = &ev->g->equals.at[i];
        double a = ir_eval_uniform(ev, equal->a), b = ir_eval_uniform(ev, equal->b);
        if (ev->err->code == CODE_OK && a != b) {
            err_set(ev->err, CODE_FILES, "images that are used together have the extents %g and %g", a, b);
        }
    }
}

bool ir_eval_within(uint64_t elements, const IrGraph *g, const IrEvalInput *inputs, const double *params, IrEval **out,
                    Err *err)
{
    IrEval *ev = calloc(1, sizeof *ev);
    *out = ev;
    if (ev == NULL) {
        return err_set(err, CODE_MEMORY, "not enough memory for the reference");
    }
    size_t n = (size_t)g->exprs.n;
    ev->g = g;
    ev->inputs = inputs;
    ev->params = params;
    ev->err = err;
    ev->left = elements;
    ev->n_nodes = g->nodes.n; /* the graph may grow before the evaluation is freed */
    ev->nodes = calloc((size_t)g->nodes.n, sizeof *ev->nodes);
    ev->memo = calloc(n, sizeof *ev->memo);
    ev->stamp = calloc(n, sizeof *ev->stamp);
    ev->indices = calloc(n, sizeof *ev->indices);
    ev->weights = calloc(WEIGHTS, sizeof *ev->weights);
    if (ev->nodes == NULL || ev->memo == NULL || ev->stamp == NULL || ev->indices == NULL || ev->weights == NULL ||
        g->next_index > MAX_INDICES) {
        return err_set(err, CODE_MEMORY, "not enough memory for the reference");
    }
    mark_indexed(ev);
    check_bounds(ev);
    if (err->code == CODE_OK) {
        eval_nodes(ev, 0);
        ir_eval_number_outputs(ev);
    }
    return err->code == CODE_OK;
}

bool ir_eval(const IrGraph *g, const IrEvalInput *inputs, const double *params, IrEval **out, Err *err)
{
    return ir_eval_within(UINT64_MAX, g, inputs, params, out, err);
}

const IrEvalNode *ir_eval_node(const IrEval *ev, IrId node)
{
    return &ev->nodes[node];
}

void ir_eval_free(IrEval *ev)
{
    if (ev == NULL) {
        return;
    }
    for (int i = 0; ev->nodes != NULL && i < ev->n_nodes; i++) {
        free(ev->nodes[i].pixels);
        free(ev->nodes[i].table);
        free(ev->nodes[i].ids);
    }
    free(ev->nodes);
    free(ev->memo);
    free(ev->stamp);
    free(ev->indices);
    free(ev->weights);
    free(ev);
}
