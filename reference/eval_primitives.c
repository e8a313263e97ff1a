/*
 * eval_primitives: runs the plain C references of ref.h inside the evaluator: inputs are
 * evaluated into dense images of the reference's type, results are turned back into doubles.
 */
#include "eval_internal.h"
#include "../ir/apply.h"
#include "../ir/footprint.h"
#include "ref.h"

#include "../base/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HELD = 16 + 2 * IR_MAX_IN }; /* inputs as doubles and in their own type, and what belongs to them */

typedef struct Prim {
    IrEval *ev;
    IrId id;
    const IrNode *node;
    IrEvalNode *out;
    RefShape shape;
    size_t n;
    void *held[MOST_HELD]; /* freed at the end */
    int n_held;
} Prim;

static void *hold(Prim *p, size_t bytes)
{
    void *at = calloc(bytes ? bytes : 1, 1);
    if (at == NULL || p->n_held == MOST_HELD) {
        free(at);
        err_set(p->ev->err, CODE_MEMORY, "not enough memory for the reference");
        return NULL;
    }
    p->held[p->n_held++] = at;
    return at;
}

/* Input k of the node over the domain; NULL when there is none (or after an error). */
static double *input(Prim *p, int k)
{
    if (p->node->in[k] == 0) {
        return NULL;
    }
    double *v = hold(p, p->n * sizeof *v);
    if (v != NULL) {
        ir_eval_image(p->ev, p->node->in[k], v);
    }
    return v;
}

#define DEFINE_INPUT(name, Type)                                  \
    static Type *name(Prim *p, int k)                             \
    {                                                             \
        double *v = input(p, k);                                  \
        Type *to = v != NULL ? hold(p, p->n * sizeof *to) : NULL; \
        for (size_t i = 0; to != NULL && i < p->n; i++) {         \
            to[i] = (Type)v[i];                                   \
        }                                                         \
        return to;                                                \
    }
DEFINE_INPUT(floats, float)
DEFINE_INPUT(bytes, uint8_t)
DEFINE_INPUT(uints, uint32_t)

static double arg(Prim *p, int k)
{
    return p->node->arg[k] != 0 ? ir_eval_uniform(p->ev, p->node->arg[k]) : 0;
}

#define DEFINE_RESULT(name, Type)                         \
    static void name(Prim *p, const Type *from, size_t n) \
    {                                                     \
        double *to = ir_eval_pixels(p->ev, p->id, n);     \
        for (size_t i = 0; to != NULL && i < n; i++) {    \
            to[i] = (double)from[i];                      \
        }                                                 \
    }
DEFINE_RESULT(result_floats, float)
DEFINE_RESULT(result_bytes, uint8_t)
DEFINE_RESULT(result_uints, uint32_t)

static double count_of(Prim *p)
{
    return p->ev->nodes[p->node->of].value[0];
}

/* ---- one function an op ---------------------------------------------------------------- */

static void run_reduce(Prim *p)
{
    bool wide = ir_expr(p->ev->g, p->node->in[0])->type == ELEM_F64;
    const void *v = wide ? (const void *)input(p, 0) : floats(p, 0);
    ref_reduce(v, wide ? ELEM_F64 : ELEM_F32, bytes(p, 1), p->shape, p->out->value);
}

static void run_rank(Prim *p)
{
    p->out->value[0] = ref_rank(floats(p, 0), bytes(p, 1), p->shape, arg(p, 0));
}

static void run_summary(Prim *p)
{
    float *v = floats(p, 0);
    uint8_t *where = bytes(p, 1);
    ref_reduce(v, ELEM_F32, where, p->shape, p->out->value);
    p->out->value[5] = ref_rank(v, where, p->shape, arg(p, 1));
}

static void run_histogram(Prim *p)
{
    int bins = (int)arg(p, 0);
    if (bins < 1) {
        err_set(p->ev->err, CODE_USAGE, "'%s' has %d bins", p->node->name, bins);
        return;
    }
    uint32_t *counts = hold(p, (size_t)bins * sizeof *counts);
    if (counts == NULL) {
        return;
    }
    double lo = ir_eval_uniform(p->ev, p->node->in[2]), hi = ir_eval_uniform(p->ev, p->node->in[3]);
    float *v = floats(p, 0);
    ir_eval_extents(p->ev, p->id, ir_domain((IrGraph *)p->ev->g, p->id));
    ref_histogram(v, bytes(p, 1), p->shape, lo, hi, bins, arg(p, 1) != 0, counts);
    result_uints(p, counts, (size_t)bins);
}

static void run_threshold(Prim *p)
{
    const IrEvalNode *hist = &p->ev->nodes[p->node->of];
    uint32_t *counts = hold(p, (size_t)hist->length * sizeof *counts);
    for (int64_t i = 0; counts != NULL && i < hist->length; i++) {
        counts[i] = (uint32_t)hist->pixels[i];
    }
    double lo = ir_eval_uniform(p->ev, p->node->in[0]), hi = ir_eval_uniform(p->ev, p->node->in[1]);
    if (counts != NULL) {
        p->out->value[0] = ref_threshold(counts, (int)hist->length, lo, hi, arg(p, 1) != 0, (int)arg(p, 0));
    }
}

static void run_otsu(Prim *p)
{
    int bins = (int)arg(p, 0);
    bool integer = arg(p, 1) != 0;
    float *v = floats(p, 0);
    uint8_t *where = bytes(p, 1);
    uint32_t *counts = hold(p, (size_t)bins * sizeof *counts);
    if (counts == NULL) {
        return;
    }
    double *out = p->out->value;
    ref_reduce(v, ELEM_F32, where, p->shape, out);
    ref_histogram(v, where, p->shape, out[3], out[4], bins, integer, counts);
    out[5] = ref_threshold(counts, bins, out[3], out[4], integer, 0);
}

static void run_label(Prim *p)
{
    uint32_t *labels = hold(p, p->n * sizeof *labels);
    uint8_t *mask = bytes(p, 0);
    if (labels != NULL && mask != NULL) {
        p->out->value[0] = ref_label(mask, p->shape, (int)arg(p, 0), labels);
        result_uints(p, labels, p->n);
    }
}

static void run_label_equal(Prim *p)
{
    uint32_t *labels = hold(p, p->n * sizeof *labels);
    double *v = input(p, 0);
    if (labels != NULL && v != NULL) {
        p->out->value[0] = ref_label_equal(v, p->shape, (int)arg(p, 0), labels);
        result_uints(p, labels, p->n);
    }
}

static void run_compact(Prim *p)
{
    uint32_t *to = hold(p, p->n * sizeof *to), *labels = uints(p, 0);
    uint8_t *keep = bytes(p, 1);
    if (to != NULL && labels != NULL && keep != NULL) {
        p->out->value[0] = ref_compact(labels, keep, p->shape, to);
        result_uints(p, to, p->n);
    }
}

static void run_colours(Prim *p)
{
    uint32_t *labels = uints(p, 0);
    uint8_t *to = hold(p, p->n);
    if (to != NULL && labels != NULL) {
        ref_colours(labels, p->shape, arg(p, 0) == 0, to);
        result_bytes(p, to, p->n);
    }
}

static void run_perlabel(Prim *p)
{
    uint32_t *labels = uints(p, 0), count = (uint32_t)count_of(p);
    float *v = floats(p, 1), *to = hold(p, ((size_t)count + 1) * sizeof *to);
    if (labels != NULL && v != NULL && to != NULL) {
        ref_perlabel(labels, v, p->shape, count, (int)arg(p, 0), to);
        result_floats(p, to, (size_t)count + 1);
    }
}

/* Columns of ref_measure, `stride` apart; NULL when memory is out. */
static const double *measured(Prim *p, size_t stride, int *columns)
{
    float *images[IR_MAX_IN] = {NULL};
    int n_images = 0;
    uint32_t *labels = uints(p, 0);
    for (int k = 1; k < IR_MAX_IN && p->node->in[k] != 0; k++) {
        images[n_images++] = floats(p, k);
    }
    const double spacing[3] = {arg(p, 0), arg(p, 1), arg(p, 2)};
    int wide = ref_measure_columns(p->node->text, p->shape);
    double *out = hold(p, stride * (size_t)wide * sizeof *out);
    if (labels == NULL || out == NULL || p->ev->err->code != CODE_OK) {
        return NULL;
    }
    *columns = ref_measure(labels, (const float *const *)images, n_images, p->shape, (uint32_t)(stride - 1),
                           p->node->text, spacing, out, &p->out->rows);
    return out;
}

static void run_measure(Prim *p)
{
    size_t stride = (size_t)count_of(p) + 1;
    int columns = 0;
    const double *out = measured(p, stride, &columns);
    if (out == NULL) {
        return;
    }
    int64_t rows = p->out->rows;
    double *table = calloc((size_t)columns * (size_t)rows + 1, sizeof *table);
    if (table == NULL) {
        err_set(p->ev->err, CODE_MEMORY, "not enough memory for the reference");
        return;
    }
    for (int k = 0; k < columns; k++) {
        memcpy(table + (int64_t)k * rows, out + (size_t)k * stride, (size_t)rows * sizeof *table);
    }
    free(p->out->table);
    p->out->table = table;
    p->out->columns = columns;
    for (int axis = 0; axis < 3; axis++) {
        p->out->spacing[axis] = arg(p, axis);
    }
}

/* The last column, spread over the labels 0..count; the first one is the label. */
static void run_column(Prim *p)
{
    size_t stride = (size_t)count_of(p) + 1;
    int columns = 0;
    const double *out = measured(p, stride, &columns);
    double *to = out != NULL ? ir_eval_pixels(p->ev, p->id, stride) : NULL;
    for (int64_t row = 0; to != NULL && row < p->out->rows; row++) {
        to[(size_t)out[row]] = (double)(float)out[(size_t)(columns - 1) * stride + (size_t)row];
    }
}

static void run_distance(Prim *p)
{
    const double spacing[3] = {arg(p, 0), arg(p, 1), arg(p, 2)};
    uint8_t *mask = bytes(p, 0);
    float *to = hold(p, p->n * sizeof *to);
    if (mask != NULL && to != NULL) {
        ref_distance(mask, p->shape, spacing, to);
        result_floats(p, to, p->n);
    }
}

static void run_nearest_label(Prim *p)
{
    const double spacing[3] = {arg(p, 1), arg(p, 2), arg(p, 3)};
    uint32_t *labels = uints(p, 0), *to = hold(p, p->n * sizeof *to);
    if (labels != NULL && to != NULL) {
        ref_nearest_label(labels, p->shape, arg(p, 0), spacing, to);
        result_uints(p, to, p->n);
        p->out->value[0] = 0;
        for (size_t i = 0; i < p->n; i++) {
            p->out->value[0] = fmax(p->out->value[0], to[i]);
        }
    }
}

static void run_watershed(Prim *p)
{
    float *image = floats(p, 0);
    uint32_t *markers = uints(p, 1), *to = hold(p, p->n * sizeof *to);
    uint8_t *mask = bytes(p, 2);
    if (image != NULL && markers != NULL && to != NULL) {
        RefFlood how = {(int)arg(p, 0), arg(p, 1) != 0, arg(p, 2) != 0};
        p->out->value[0] = ref_watershed(image, markers, mask, p->shape, how, to);
        result_uints(p, to, p->n);
    }
}

static void run_reconstruct(Prim *p)
{
    float *seed = floats(p, 0), *mask = floats(p, 1), *to = hold(p, p->n * sizeof *to);
    if (seed != NULL && mask != NULL && to != NULL) {
        ref_reconstruct(seed, mask, p->shape, (int)arg(p, 0), arg(p, 1) != 0, to);
        result_floats(p, to, p->n);
    }
}

static void run_local_maxima(Prim *p)
{
    float *v = floats(p, 0);
    uint8_t *to = hold(p, p->n);
    if (v != NULL && to != NULL) {
        ref_local_maxima(v, p->shape, (int)arg(p, 0), to);
        result_bytes(p, to, p->n);
    }
}

static void run_window_rank(Prim *p)
{
    const IrNode *node = p->node;
    const RefWindowRank how = {.window = {.shape = (WindowShape)arg(p, 0),
                                          .radius = {arg(p, 1), arg(p, 2), arg(p, 3)},
                                          .cells = node->text},
                               .percent = arg(p, 4),
                               .mode = arg(p, 7) != 0,
                               .border = (IrBorder)arg(p, 5),
                               .outside = ir_convert(arg(p, 6), node->elem)};
    double elements = (double)p->n;
    for (int axis = 0; axis < 3; axis++) {
        elements *= 2 * floor(how.window.radius[axis]) + 1;
    }
    double *v = input(p, 0), *to = v != NULL ? ir_eval_pixels(p->ev, p->id, p->n) : NULL;
    if (to != NULL && ir_eval_count(p->ev, elements)) {
        ref_window_rank(v, p->shape, &how, to);
    }
}

/* Inputs 0..3 as expressions of the label, which stands in for x. */
static void by_label(Prim *p, const float *of[4])
{
    int extent[IR_AXES], labels = (int)count_of(p) + 1;
    size_t pixels = p->n;
    memcpy(extent, p->ev->extent, sizeof extent);
    p->n = (size_t)labels;
    memcpy(p->ev->extent, (int[IR_AXES]){labels, 1, 1, 1}, sizeof extent);
    for (int k = 0; k < 4; k++) {
        of[k] = floats(p, k);
    }
    p->n = pixels;
    memcpy(p->ev->extent, extent, sizeof extent);
}

static void run_points(Prim *p)
{
    uint32_t count = (uint32_t)count_of(p), *to = hold(p, p->n * sizeof *to);
    const float *at[4] = {NULL};
    by_label(p, at);
    if (to != NULL && p->ev->err->code == CODE_OK) {
        ref_points(at, count, p->shape, to);
        p->out->value[0] = count;
        result_uints(p, to, p->n);
    }
}

static void run_touches(Prim *p)
{
    uint32_t *labels = uints(p, 0);
    uint8_t *to = hold(p, p->n);
    if (labels != NULL && to != NULL) {
        if (!ref_touches(labels, p->shape, to)) {
            err_set(p->ev->err, CODE_MEMORY, "out of memory");
        }
        result_bytes(p, to, p->n);
    }
}

/* *values: what is folded, NULL without a fourth input. */
static RefNear near_of(Prim *p, const float **values)
{
    const float *of[4] = {NULL};
    by_label(p, of);
    *values = of[3];
    return (RefNear){.at = {of[0], of[1], of[2]},
                     .spacing = {arg(p, 0), arg(p, 1), arg(p, 2)},
                     .n = arg(p, 4),
                     .limit = arg(p, 5)};
}

static void run_near(Prim *p)
{
    uint32_t count = (uint32_t)count_of(p);
    const float *values;
    RefNear near = near_of(p, &values);
    float *to = hold(p, ((size_t)count + 1) * sizeof *to);
    if (to == NULL || p->ev->err->code != CODE_OK) {
        return;
    }
    if (!ref_near(&near, values, count, (int)arg(p, 3), to)) {
        err_set(p->ev->err, CODE_MEMORY, "out of memory");
    }
    result_floats(p, to, (size_t)count + 1);
}

static void run_near_pairs(Prim *p)
{
    const float *values;
    RefNear near = near_of(p, &values);
    if (p->ev->err->code != CODE_OK) {
        return;
    }
    free(p->out->table);
    p->out->table = NULL;
    p->out->columns = NEAR_COLUMNS;
    p->out->rows = ref_near_pairs(&near, (uint32_t)count_of(p), &p->out->table);
    if (p->out->rows < 0) {
        p->out->rows = 0;
        err_set(p->ev->err, CODE_MEMORY, "out of memory");
    }
}

static void run_hull(Prim *p)
{
    uint32_t *labels = uints(p, 0);
    uint8_t *to = hold(p, p->n);
    if (labels != NULL && to != NULL) {
        ref_hull(labels, p->shape, (uint32_t)count_of(p), to);
        result_bytes(p, to, p->n);
    }
}

static void (*const RUN[IR_OPS])(Prim *) = {
    [IR_REDUCE] = run_reduce,
    [IR_RANK] = run_rank,
    [IR_SUMMARY] = run_summary,
    [IR_HISTOGRAM] = run_histogram,
    [IR_THRESHOLD] = run_threshold,
    [IR_OTSU] = run_otsu,
    [IR_LABEL] = run_label,
    [IR_LABEL_EQUAL] = run_label_equal,
    [IR_COMPACT] = run_compact,
    [IR_COLOURS] = run_colours,
    [IR_PERLABEL] = run_perlabel,
    [IR_MEASURE] = run_measure,
    [IR_COLUMN] = run_column,
    [IR_DISTANCE] = run_distance,
    [IR_NEAREST_LABEL] = run_nearest_label,
    [IR_WATERSHED] = run_watershed,
    [IR_RECONSTRUCT] = run_reconstruct,
    [IR_LOCAL_MAXIMA] = run_local_maxima,
    [IR_WINDOW_RANK] = run_window_rank,
    [IR_POINTS] = run_points,
    [IR_TOUCHES] = run_touches,
    [IR_NEAR] = run_near,
    [IR_NEAR_PAIRS] = run_near_pairs,
    [IR_HULL] = run_hull,
};

void ir_eval_primitive(IrEval *ev, IrId id)
{
    Prim p = {.ev = ev, .id = id, .node = ir_node(ev->g, id), .out = &ev->nodes[id]};
    int grid = ir_domain((IrGraph *)ev->g, id);
    p.n = ir_eval_extents(ev, id, grid);
    if (p.n > 0 && RUN[p.node->op] != NULL) {
        p.shape = (RefShape){ev->extent[0], ev->extent[1], ev->extent[2], ev->extent[3]};
        memcpy(p.out->extent, ev->extent, sizeof ev->extent);
        RUN[p.node->op](&p);
    }
    for (int i = 0; i < p.n_held; i++) {
        free(p.held[i]);
    }
}
