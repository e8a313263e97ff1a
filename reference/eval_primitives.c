/*
 * eval_primitives: runs the plain C references of ref.h inside the evaluator: inputs are
 * evaluated into dense images of the reference's type, results are turned back into doubles.
 */
#include "eval_internal.h"
#include "../ir/apply.h"
#include "../ir/footprint.h"
#include "../ir/function.h"
#include "ref.h"

#include "../base/near.h"
#include "../base/track.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HELD = 16 + 2 * NODE_INPUTS }; /* inputs as doubles and in their own type, and what belongs to them */

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

/* An input of the node over the domain; NULL when there is none (or after an error). */
static double *input(Prim *p, IrExpr e)
{
    double *v = e != 0 ? hold(p, p->n * sizeof *v) : NULL;
    if (v != NULL) {
        ir_eval_image(p->ev, e, v);
    }
    return v;
}

#define DEFINE_INPUT(name, Type)                                  \
    static Type *name(Prim *p, IrExpr e)                          \
    {                                                             \
        double *v = input(p, e);                                  \
        Type *to = v != NULL ? hold(p, p->n * sizeof *to) : NULL; \
        for (size_t i = 0; to != NULL && i < p->n; i++) {         \
            to[i] = (Type)v[i];                                   \
        }                                                         \
        return to;                                                \
    }
DEFINE_INPUT(floats, float)
DEFINE_INPUT(bytes, uint8_t)
DEFINE_INPUT(uints, uint32_t)

static double number(Prim *p, IrExpr e)
{
    return e != 0 ? ir_eval_uniform(p->ev, e) : 0;
}

static void numbers(Prim *p, const IrExpr of[3], double to[3])
{
    for (int axis = 0; axis < 3; axis++) {
        to[axis] = number(p, of[axis]);
    }
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
DEFINE_RESULT(result_counts, uint64_t)

static double count_of(Prim *p)
{
    return p->ev->nodes[p->node->of].value[0];
}

/* ---- one function an op ---------------------------------------------------------------- */

static void run_reduce(Prim *p)
{
    bool wide = ir_expr(p->ev->g, p->node->reduce.value)->type == ELEM_F64;
    const void *v = wide ? (const void *)input(p, p->node->reduce.value) : floats(p, p->node->reduce.value);
    ref_reduce(v, wide ? ELEM_F64 : ELEM_F32, bytes(p, p->node->reduce.where), p->shape, p->out->value);
}

static void run_rank(Prim *p)
{
    p->out->value[0] = ref_rank(floats(p, p->node->rank.value), bytes(p, p->node->rank.where), p->shape,
                                number(p, p->node->rank.percent));
}

static void run_summary(Prim *p)
{
    float *v = floats(p, p->node->summary.value);
    uint8_t *where = bytes(p, p->node->summary.where);
    ref_reduce(v, ELEM_F32, where, p->shape, p->out->value);
    p->out->value[SUMMARY_RANK] = ref_rank(v, where, p->shape, number(p, p->node->summary.percent));
}

static void run_histogram(Prim *p)
{
    int bins = (int)number(p, p->node->histogram.bins);
    if (bins < 1) {
        err_set(p->ev->err, CODE_USAGE, "'%s' has %d bins", p->node->name, bins);
        return;
    }
    uint64_t *counts = hold(p, (size_t)bins * sizeof *counts);
    if (counts == NULL) {
        return;
    }
    double lo = ir_eval_uniform(p->ev, p->node->histogram.lo), hi = ir_eval_uniform(p->ev, p->node->histogram.hi);
    float *v = floats(p, p->node->histogram.value);
    ir_eval_extents(p->ev, p->id, ir_domain((IrGraph *)p->ev->g, p->id));
    ref_histogram(v, bytes(p, p->node->histogram.where), p->shape, lo, hi, bins,
                  number(p, p->node->histogram.integer) != 0, counts);
    result_counts(p, counts, (size_t)bins);
}

static void run_boxes(Prim *p)
{
    const IrNode *node = p->node;
    double size[3], length = number(p, node->boxes.length);
    numbers(p, node->boxes.size, size);
    if (!(size[0] >= 1 && size[1] >= 1 && size[2] >= 1)) {
        err_set(p->ev->err, CODE_USAGE, "'%s' has boxes of less than a pixel", node->name);
        return;
    }
    float *to = hold(p, (size_t)length * sizeof *to);
    float *v = floats(p, node->boxes.value);
    uint8_t *where = bytes(p, node->boxes.where);
    if (v == NULL || to == NULL || p->ev->err->code != CODE_OK) {
        return;
    }
    int whole[3];
    for (int axis = 0; axis < 3; axis++) {
        whole[axis] = size[axis] < INT_MAX ? (int)size[axis] : INT_MAX;
    }
    if (!ref_boxes(v, where, p->shape, whole, number(p, node->boxes.kappa), (int)number(p, node->boxes.rounds), to)) {
        err_set(p->ev->err, CODE_MEMORY, "not enough memory for the reference");
        return;
    }
    result_floats(p, to, (size_t)length);
}

static void run_threshold(Prim *p)
{
    const IrEvalNode *hist = &p->ev->nodes[p->node->of];
    uint64_t *counts = hold(p, (size_t)hist->length * sizeof *counts);
    for (int64_t i = 0; counts != NULL && i < hist->length; i++) {
        counts[i] = (uint64_t)hist->pixels[i];
    }
    double lo = ir_eval_uniform(p->ev, p->node->threshold.lo), hi = ir_eval_uniform(p->ev, p->node->threshold.hi);
    if (counts != NULL) {
        p->out->value[0] = ref_threshold(counts, (int)hist->length, lo, hi, number(p, p->node->threshold.integer) != 0,
                                         (ThresholdMethod)number(p, p->node->threshold.method));
    }
}

static void run_otsu(Prim *p)
{
    int bins = (int)number(p, p->node->otsu.bins);
    bool integer = number(p, p->node->otsu.integer) != 0;
    float *v = floats(p, p->node->otsu.value);
    uint8_t *where = bytes(p, p->node->otsu.where);
    uint64_t *counts = hold(p, (size_t)bins * sizeof *counts);
    if (counts == NULL) {
        return;
    }
    double *out = p->out->value;
    ref_reduce(v, ELEM_F32, where, p->shape, out);
    ref_histogram(v, where, p->shape, out[REDUCE_MIN], out[REDUCE_MAX], bins, integer, counts);
    out[OTSU_THRESHOLD] = ref_threshold(counts, bins, out[REDUCE_MIN], out[REDUCE_MAX], integer, METHOD_OTSU);
}

static void run_label(Prim *p)
{
    uint32_t *labels = hold(p, p->n * sizeof *labels);
    uint8_t *mask = bytes(p, p->node->label.mask);
    if (labels != NULL && mask != NULL) {
        p->out->value[0] = ref_label(mask, p->shape, (int)number(p, p->node->label.connectivity), labels);
        result_uints(p, labels, p->n);
    }
}

static void run_label_equal(Prim *p)
{
    uint32_t *labels = hold(p, p->n * sizeof *labels);
    double *v = input(p, p->node->label_equal.image);
    if (labels != NULL && v != NULL) {
        p->out->value[0] = ref_label_equal(v, p->shape, (int)number(p, p->node->label_equal.connectivity), labels);
        result_uints(p, labels, p->n);
    }
}

static void run_compact(Prim *p)
{
    uint32_t *to = hold(p, p->n * sizeof *to), *labels = uints(p, p->node->compact.labels);
    uint8_t *keep = bytes(p, p->node->compact.keep);
    if (to != NULL && labels != NULL && keep != NULL) {
        p->out->value[0] = ref_compact(labels, keep, p->shape, to);
        result_uints(p, to, p->n);
    }
}

static void run_colours(Prim *p)
{
    uint32_t *labels = uints(p, p->node->colours.labels);
    uint8_t *to = hold(p, p->n);
    if (to != NULL && labels != NULL) {
        ref_colours(labels, p->shape, number(p, p->node->colours.numbers) == 0, to);
        result_bytes(p, to, p->n);
    }
}

static void run_perlabel(Prim *p)
{
    uint32_t *labels = uints(p, p->node->perlabel.labels), count = (uint32_t)count_of(p);
    float *v = floats(p, p->node->perlabel.value), *to = hold(p, ((size_t)count + 1) * sizeof *to);
    if (labels != NULL && v != NULL && to != NULL) {
        ref_perlabel(labels, v, p->shape, count, (LabelFold)number(p, p->node->perlabel.fold), to);
        result_floats(p, to, (size_t)count + 1);
    }
}

/* Columns of ref_measure, `stride` apart; NULL when memory is out. */
static const double *measured(Prim *p, size_t stride, int *columns)
{
    float *images[NODE_INPUTS] = {NULL};
    int n_images = 0;
    uint32_t *labels = uints(p, p->node->measure.labels);
    while (n_images < NODE_INPUTS - 1 && p->node->measure.image[n_images] != 0) {
        images[n_images] = floats(p, p->node->measure.image[n_images]);
        n_images++;
    }
    double spacing[3];
    numbers(p, p->node->measure.spacing, spacing);
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
    numbers(p, p->node->measure.spacing, p->out->spacing);
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
    double spacing[3];
    numbers(p, p->node->distance.spacing, spacing);
    uint8_t *mask = bytes(p, p->node->distance.mask);
    float *to = hold(p, p->n * sizeof *to);
    if (mask != NULL && to != NULL) {
        ref_distance(mask, p->shape, spacing, to);
        result_floats(p, to, p->n);
    }
}

static void run_nearest_label(Prim *p)
{
    double spacing[3];
    numbers(p, p->node->nearest_label.spacing, spacing);
    uint32_t *labels = uints(p, p->node->nearest_label.labels), *to = hold(p, p->n * sizeof *to);
    if (labels != NULL && to != NULL) {
        ref_nearest_label(labels, p->shape, number(p, p->node->watershed.connectivity), spacing, to);
        result_uints(p, to, p->n);
        p->out->value[0] = 0;
        for (size_t i = 0; i < p->n; i++) {
            p->out->value[0] = fmax(p->out->value[0], to[i]);
        }
    }
}

static void run_watershed(Prim *p)
{
    float *image = floats(p, p->node->watershed.image);
    uint32_t *markers = uints(p, p->node->watershed.markers), *to = hold(p, p->n * sizeof *to);
    uint8_t *mask = bytes(p, p->node->watershed.mask);
    if (image != NULL && markers != NULL && to != NULL) {
        RefFlood how = {(int)number(p, p->node->watershed.connectivity), number(p, p->node->watershed.line) != 0,
                        number(p, p->node->watershed.raster) != 0};
        p->out->value[0] = ref_watershed(image, markers, mask, p->shape, how, to);
        result_uints(p, to, p->n);
    }
}

static void run_reconstruct(Prim *p)
{
    float *seed = floats(p, p->node->reconstruct.seed), *mask = floats(p, p->node->reconstruct.mask),
          *to = hold(p, p->n * sizeof *to);
    if (seed != NULL && mask != NULL && to != NULL) {
        ref_reconstruct(seed, mask, p->shape, (int)number(p, p->node->reconstruct.connectivity),
                        number(p, p->node->reconstruct.erosion) != 0, to);
        result_floats(p, to, p->n);
    }
}

static void run_local_maxima(Prim *p)
{
    float *v = floats(p, p->node->local_maxima.image);
    uint8_t *to = hold(p, p->n);
    if (v != NULL && to != NULL) {
        ref_local_maxima(v, p->shape, (int)number(p, p->node->local_maxima.connectivity), to);
        result_bytes(p, to, p->n);
    }
}

static void run_window_rank(Prim *p)
{
    const IrNode *node = p->node;
    RefWindowRank how = {.window = {.shape = (WindowShape)number(p, p->node->window_rank.shape), .cells = node->text},
                         .percent = number(p, p->node->window_rank.percent),
                         .mode = number(p, p->node->window_rank.mode) != 0,
                         .border = (Border)number(p, p->node->window_rank.border),
                         .outside = ir_convert(number(p, p->node->window_rank.outside), node->elem)};
    numbers(p, node->window_rank.radius, how.window.radius);
    double elements = (double)p->n;
    for (int axis = 0; axis < 3; axis++) {
        elements *= 2 * floor(how.window.radius[axis]) + 1;
    }
    double *v = input(p, p->node->window_rank.image), *to = v != NULL ? ir_eval_pixels(p->ev, p->id, p->n) : NULL;
    if (to != NULL && ir_eval_count(p->ev, elements)) {
        ref_window_rank(v, p->shape, &how, to);
    }
}

/* So many inputs as expressions of the label, which stands in for x. */
static void by_number(Prim *p, int labels, const IrExpr *in, int n, const float **of)
{
    int extent[IR_AXES];
    size_t pixels = p->n;
    memcpy(extent, p->ev->extent, sizeof extent);
    p->n = (size_t)labels;
    memcpy(p->ev->extent, (int[IR_AXES]){labels, 1, 1, 1}, sizeof extent);
    for (int k = 0; k < n; k++) {
        of[k] = floats(p, in[k]);
    }
    p->n = pixels;
    memcpy(p->ev->extent, extent, sizeof extent);
}

static void by_label(Prim *p, const IrExpr *in, int n, const float **of)
{
    by_number(p, (int)count_of(p) + 1, in, n, of);
}

static void run_points(Prim *p)
{
    uint32_t count = (uint32_t)count_of(p), *to = hold(p, p->n * sizeof *to);
    const float *at[4] = {NULL};
    by_label(p, p->node->in, 4, at);
    if (to != NULL && p->ev->err->code == CODE_OK) {
        ref_points(at, count, p->shape, to);
        p->out->value[0] = count;
        result_uints(p, to, p->n);
    }
}

static void run_touches(Prim *p)
{
    uint32_t *labels = uints(p, p->node->touches.labels);
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
    by_label(p, p->node->in, 4, of);
    *values = of[3];
    RefNear near = {.at = {of[0], of[1], of[2]},
                    .n = number(p, p->node->near.n),
                    .limit = number(p, p->node->near.limit)};
    numbers(p, p->node->near.spacing, near.spacing);
    return near;
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
    if (!ref_near(&near, values, count, (int)number(p, p->node->near.fold), to)) {
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

static void run_track(Prim *p)
{
    const IrNode *node = p->node;
    TrackJob job = {.n = (uint32_t)count_of(p),
                    .paired = number(p, node->track.paired) != 0,
                    .limit = number(p, node->track.limit),
                    .gap = number(p, node->track.gap),
                    .splits = number(p, node->track.splits) != 0,
                    .merges = number(p, node->track.merges) != 0};
    const float *of[2] = {NULL};
    uint32_t *to = hold(p, ((size_t)job.n + 1) * sizeof *to);
    by_label(p, &node->track.frame, 2, of);
    if (job.paired && !track_count(number(p, node->track.pairs), &job.pairs, p->ev->err)) {
        return;
    }
    by_number(p, (job.paired ? (int)job.pairs : (int)job.n) + 1, &node->track.first, 3, job.value);
    job.frame = of[0];
    job.last = of[1];
    if (to != NULL && p->ev->err->code == CODE_OK &&
        track_objects(&job, (TrackWhat)number(p, node->track.what), to, p->ev->err)) {
        result_uints(p, to, (size_t)job.n + 1);
    }
}

static void run_hull(Prim *p)
{
    uint32_t *labels = uints(p, p->node->hull.labels);
    uint8_t *to = hold(p, p->n);
    if (labels != NULL && to != NULL) {
        ref_hull(labels, p->shape, (uint32_t)count_of(p), to);
        result_bytes(p, to, p->n);
    }
}

static void run_fourier(Prim *p)
{
    float *re = floats(p, p->node->fourier.real), *to = hold(p, p->n * sizeof *to);
    float *im = p->node->fourier.imaginary != 0 ? floats(p, p->node->fourier.imaginary) : NULL;
    if (re != NULL && to != NULL && p->ev->err->code == CODE_OK) {
        ref_fourier(re, im, p->shape, (int)number(p, p->node->fourier.axes), number(p, p->node->fourier.inverse) != 0,
                    to);
        result_floats(p, to, p->n);
    }
}

static void run_forest(Prim *p)
{
    const IrForest *forest = ir_forest_of(p->ev->g, p->id);
    size_t n = forest_length(&forest->shape);
    double *to = ir_eval_pixels(p->ev, p->id, n);
    for (size_t i = 0; to != NULL && i < n; i++) {
        to[i] = forest->words[i];
    }
}

static void (*const RUN[IR_OPS])(Prim *) = {
    [IR_FOREST] = run_forest,
    [IR_REDUCE] = run_reduce,
    [IR_RANK] = run_rank,
    [IR_SUMMARY] = run_summary,
    [IR_HISTOGRAM] = run_histogram,
    [IR_BOXES] = run_boxes,
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
    [IR_TRACK] = run_track,
    [IR_HULL] = run_hull,
    [IR_FOURIER] = run_fourier,
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
