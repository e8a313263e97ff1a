/* both: the evaluator and the device, side by side. */
#include "both.h"

#include "codegen/codegen.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- images ------------------------------------------------------------------------------ */

const char *const BOTH_KIND_NAMES[BOTH_KINDS] = {
    [BOTH_NOISE] = "noise",     [BOTH_SMOOTH] = "smooth",   [BOTH_CONSTANT] = "constant", [BOTH_CHECKER] = "checker",
    [BOTH_SPECIAL] = "special", [BOTH_EXTREME] = "extreme", [BOTH_SPARSE] = "sparse",
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static double extreme(unsigned r, Elem elem)
{
    static const double REALS[] = {0,         -0.0, FLT_MAX, -FLT_MAX, FLT_MIN,    0x1p-149,     -0x1p-140, HUGE_VAL,
                                   -HUGE_VAL, NAN,  1,       -1,       16777217.0, 2147483648.0, 0.5,       -2.5};
    if (elem == ELEM_F32 || elem == ELEM_F64) {
        return REALS[r % 16];
    }
    return r % 4 == 0 ? elem_min(elem) : r % 4 == 1 ? elem_max(elem) : (double)(r / 4 % 3);
}

static double sample(unsigned *state, int kind, unsigned seed, int x, int y, int z, Elem elem)
{
    bool real = elem == ELEM_F32 || elem == ELEM_F64;
    unsigned r = next_random(state);
    switch (kind) {
    case BOTH_NOISE:
        return real ? (double)(float)(((int)(r % 20001) - 10000) / 37.0) : (double)(r % 256);
    case BOTH_SMOOTH:
        return floor(100 + 60 * sin(x / 5.0) + 50 * cos(y / 4.0 + z) + r % 7);
    case BOTH_CONSTANT:
        return 42;
    case BOTH_CHECKER:
        return (x + y + z) % 2 ? 200 : 10;
    case BOTH_EXTREME:
        return extreme(r, elem);
    case BOTH_SPARSE:
        return r / 16 % 10 < 2 + seed % 7 ? 0 : (double)(r % 16);
    default:
        return !real ? (double)(r % 5) : r % 11 == 0 ? NAN : r % 13 == 0 ? INFINITY : (double)(r % 50);
    }
}

static double fitted(double v, Elem elem)
{
    return elem == ELEM_BOOL       ? fmod(v, 2) >= 1
           : elem_is_integer(elem) ? fmin(fmax(v, elem_min(elem)), elem_max(elem))
           : elem == ELEM_F32      ? (double)(float)v
                                   : v;
}

IrEvalInput both_image(int w, int h, int d, int c, Elem elem, unsigned seed, int kind)
{
    IrEvalInput in = {.extent = {w, h, d, c}, .elem = elem, .pixelsize = {0.5, 0.5, 1.5}};
    double *v = malloc(sizeof *v * (size_t)w * (size_t)h * (size_t)d * (size_t)c), *p = v;
    unsigned state = seed * 2654435761u + 12345u;
    for (int plane = 0; v != NULL && plane < d * c; plane++) {
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                *p++ = fitted(sample(&state, kind, seed, x, y, plane, elem), elem);
            }
        }
    }
    in.pixels = v;
    return in;
}

/* ---- results ----------------------------------------------------------------------------- */

void both_free(BothResult *result)
{
    for (int i = 0; i < result->n; i++) {
        free(result->at[i].pixels);
    }
    free(result->at);
    *result = (BothResult){0};
}

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "not enough memory for a result");
}

static bool make_result(BothResult *out, int n, Err *err)
{
    out->at = calloc((size_t)n + 1, sizeof *out->at);
    out->n = out->at != NULL ? n : 0;
    return out->at != NULL || no_memory(err);
}

static size_t cells(const BothOutput *o)
{
    const int *e = o->extent;
    return o->kind == IR_K_TABLE ? (size_t)o->rows * (size_t)o->columns
                                 : (size_t)e[0] * (size_t)e[1] * (size_t)e[2] * (size_t)e[3];
}

/* Room for an output's pixels or cells, copied from `from` unless that is NULL. */
static bool take_cells(BothOutput *o, const double *from, Err *err)
{
    size_t n = cells(o);
    o->pixels = malloc((n + 1) * sizeof *o->pixels);
    if (o->pixels == NULL) {
        return no_memory(err);
    }
    if (from != NULL) {
        memcpy(o->pixels, from, n * sizeof *from);
    }
    return true;
}

/* ---- the evaluator's side ---------------------------------------------------------------- */

static bool evaluated(const IrGraph *g, IrEval *ev, const IrOutput *from, BothOutput *to, Err *err)
{
    to->name = from->name;
    if (from->node == 0) {
        to->kind = IR_K_VALUE;
        to->value = ir_eval_uniform(ev, from->value);
        return true;
    }
    const IrEvalNode *node = ir_eval_node(ev, from->node);
    to->kind = ir_node(g, from->node)->kind;
    to->value = to->kind == IR_K_LABELS ? node->value[0] : 0;
    if (to->kind == IR_K_TABLE) {
        to->rows = node->rows;
        to->columns = node->columns;
        return take_cells(to, node->table, err);
    }
    memcpy(to->extent, node->extent, sizeof to->extent);
    return take_cells(to, node->pixels, err);
}

bool both_evaluate(const IrGraph *g, const BothCase *in, BothResult *out, Err *err)
{
    IrEval *ev = NULL;
    *out = (BothResult){0};
    const uint64_t elements = in->elements > 0 ? in->elements : UINT64_MAX;
    bool ok = ir_eval_within(elements, g, in->inputs, in->params, &ev, err) && make_result(out, g->outputs.n, err);
    for (int i = 0; ok && i < g->outputs.n; i++) {
        ok = evaluated(g, ev, &g->outputs.at[i], &out->at[i], err);
    }
    ir_eval_free(ev);
    return ok;
}

/* ---- the device's side ------------------------------------------------------------------- */

void both_inputs(const BothCase *in, ExecInput *inputs)
{
    for (int i = 0; i < in->n_inputs; i++) {
        inputs[i] = (ExecInput){.elem = in->inputs[i].elem};
        for (int ax = 0; ax < 4; ax++) {
            inputs[i].extent[ax] = in->inputs[i].extent[ax];
        }
        memcpy(inputs[i].pixel_um, in->inputs[i].pixelsize, sizeof inputs[i].pixel_um);
    }
}

/* A program's run: what goes in, and what comes out. */
typedef struct Run {
    const BothCase *in;
    Exec *exec;
    BothResult *out;
} Run;

/* Rows of an input in its element type. */
static void put_rows(const IrEvalInput *image, int64_t plane, int64_t row, int64_t rows, void *to)
{
    size_t w = (size_t)image->extent[0], first = (size_t)(plane * image->extent[1] + row) * w;
    for (size_t i = 0; i < (size_t)rows * w; i++) {
        elem_put(to, i, image->elem, image->pixels[first + i]);
    }
}

/* Rows of an output, from its element type. */
static void take_rows(const Run *run, int output, int64_t plane, int64_t row, int64_t rows, const void *from)
{
    ExecGrid g;
    Elem elem;
    exec_output(run->exec, output, &g, &elem);
    double *to = run->out->at[output].pixels + (size_t)(plane * g.h + row) * (size_t)g.w;
    for (size_t i = 0; i < (size_t)rows * (size_t)g.w; i++) {
        to[i] = elem_get(from, i, elem);
    }
}

static bool upload(const Run *run, Err *err)
{
    for (int i = 0; i < run->in->n_inputs; i++) {
        const IrEvalInput *image = &run->in->inputs[i];
        size_t row = (size_t)image->extent[0] * elem_size(image->elem);
        char *plane = malloc(row * (size_t)image->extent[1] + 1);
        bool ok = plane != NULL || no_memory(err);
        for (int p = 0; ok && p < image->extent[2] * image->extent[3]; p++) {
            put_rows(image, p, 0, image->extent[1], plane);
            ok = exec_upload(run->exec, i, p / image->extent[2], p % image->extent[2], 0, image->extent[1], plane, row,
                             err);
        }
        free(plane);
        TRY(ok);
    }
    return true;
}

static bool download(const Run *run, int output, Err *err)
{
    ExecGrid g;
    Elem elem;
    exec_output(run->exec, output, &g, &elem);
    size_t row = (size_t)g.w * elem_size(elem);
    void *plane = malloc(row * (size_t)g.h + 1);
    bool ok = plane != NULL || no_memory(err);
    for (int p = 0; ok && p < g.planes; p++) {
        ok = exec_download(run->exec, output, p / g.d, p % g.d, 0, g.h, plane, row, err);
        if (ok) {
            take_rows(run, output, p, 0, g.h, plane);
        }
    }
    free(plane);
    return ok;
}

static bool read_rows(void *context, int input, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                      Err *err)
{
    const Run *run = context;
    const IrEvalInput *image = &run->in->inputs[input];
    (void)err;
    run->out->rows_read += rows;
    for (int64_t y = 0; y < rows; y++) {
        put_rows(image, c * image->extent[2] + z, row + y, 1, (char *)to + (size_t)y * pitch);
    }
    return true;
}

static bool write_rows(void *context, int output, double most, int64_t c, int64_t z, int64_t row, int64_t rows,
                       const void *from, size_t pitch, Err *err)
{
    const Run *run = context;
    (void)err;
    (void)most;
    for (int64_t y = 0; y < rows; y++) {
        take_rows(run, output, c * run->out->at[output].extent[2] + z, row + y, 1,
                  (const char *)from + (size_t)y * pitch);
    }
    return true;
}

static bool is_image(const ProgOutput *o)
{
    return o->kind != OUT_TABLE && o->kind != OUT_VALUE;
}

/* What is known of the outputs before the run, and room for the images. */
static bool prepare(const Run *run, const Program *program, Err *err)
{
    static const IrKind KINDS[] = {[OUT_IMAGE] = IR_K_IMAGE, [OUT_MASK] = IR_K_MASK,   [OUT_LABELS] = IR_K_LABELS,
                                   [OUT_TABLE] = IR_K_TABLE, [OUT_VALUE] = IR_K_VALUE, [OUT_SERIES] = IR_K_IMAGE};
    TRY(make_result(run->out, program->n_outputs, err));
    for (int i = 0; i < program->n_outputs; i++) {
        const ProgOutput *o = &program->outputs[i];
        BothOutput *to = &run->out->at[i];
        to->name = o->name;
        to->kind = KINDS[o->kind];
        if (is_image(o)) {
            ExecGrid g;
            Elem elem;
            exec_output(run->exec, i, &g, &elem);
            const int extent[IR_AXES] = {g.w, g.h, g.d, g.c};
            memcpy(to->extent, extent, sizeof extent);
            TRY(take_cells(to, NULL, err));
        }
    }
    return true;
}

/* Tables, values and counts. */
static bool fetch(const Run *run, const Program *program, Err *err)
{
    for (int i = 0; i < program->n_outputs; i++) {
        const ProgOutput *from = &program->outputs[i];
        BothOutput *to = &run->out->at[i];
        if (from->kind == OUT_TABLE) {
            const PrimTable *table = exec_table(run->exec, from->table);
            to->rows = table->rows;
            to->columns = table->columns;
            TRY(take_cells(to, table->at, err));
        } else if (from->value >= 0) {
            const double *values;
            TRY(exec_values(run->exec, &values, err));
            to->value =
                from->kind == OUT_LABELS ? exec_largest_label(run->exec, i, values[from->value]) : values[from->value];
        }
    }
    return true;
}

static bool run_whole(const Run *run, const Program *program, Err *err)
{
    TRY(upload(run, err) && exec_run(run->exec, err));
    for (int i = 0; i < program->n_outputs; i++) {
        TRY(!is_image(&program->outputs[i]) || download(run, i, err));
    }
    return true;
}

bool both_execute(Exec *exec, const Program *program, const BothCase *in, BothResult *out, Err *err)
{
    ExecInput inputs[8];
    Run run = {in, exec, out};
    *out = (BothResult){0};
    both_inputs(in, inputs);
    exec_set_shape(exec, in->shape);
    exec_set_parts(exec, in->part_rows, in->across);
    exec_set_limit(exec, in->limit);
    TRY(exec_bind(exec, inputs, in->params, err) && prepare(&run, program, err));
    const ExecStream stream = {.context = &run, .read = read_rows, .write = write_rows};
    TRY(exec_in_parts(exec) ? exec_run_parts(exec, &stream, err) : run_whole(&run, program, err));
    return fetch(&run, program, err);
}

/* ---- comparing --------------------------------------------------------------------------- */

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void differ(const BothOutput *o, size_t i, double want, double got, char *why, size_t size)
{
    if (o->kind == IR_K_TABLE) {
        snprintf(why, size, "table %s: row %zu of column %zu is %.17g, not %.17g", o->name, i % (size_t)o->rows,
                 i / (size_t)o->rows, got, want);
    } else {
        size_t w = (size_t)o->extent[0], h = (size_t)o->extent[1];
        snprintf(why, size, "output %s: pixel x %zu y %zu plane %zu is %.9g, not %.9g", o->name, i % w, i / w % h,
                 i / (w * h), got, want);
    }
}

/* How many there are with the first one. */
static void count_others(const BothOutput *want, const BothOutput *got, size_t n, char *why, size_t size)
{
    size_t others = 0, end = strlen(why);
    for (size_t i = 0; i < n; i++) {
        others += !same_bits(want->pixels[i], got->pixels[i]);
    }
    snprintf(why + end, size - end, ", %zu of %zu differ", others, n);
}

static bool same_output(const BothOutput *want, const BothOutput *got, char *why, size_t size)
{
    if (want->kind != got->kind || memcmp(want->extent, got->extent, sizeof want->extent) != 0 ||
        want->rows != got->rows || want->columns != got->columns) {
        const int *e = got->extent, *w = want->extent;
        snprintf(why, size, "output %s: %s of %d x %d x %d x %d (%lld rows), not %s of %d x %d x %d x %d (%lld)",
                 want->name, IR_KIND_NAMES[got->kind], e[0], e[1], e[2], e[3], (long long)got->rows,
                 IR_KIND_NAMES[want->kind], w[0], w[1], w[2], w[3], (long long)want->rows);
        return false;
    }
    if (!same_bits(want->value, got->value)) {
        snprintf(why, size, "value %s is %.17g, not %.17g", want->name, got->value, want->value);
        return false;
    }
    size_t n = want->kind == IR_K_VALUE ? 0 : cells(want);
    for (size_t i = 0; i < n; i++) {
        if (!same_bits(want->pixels[i], got->pixels[i])) {
            differ(want, i, want->pixels[i], got->pixels[i], why, size);
            count_others(want, got, n, why, size);
            return false;
        }
    }
    return true;
}

bool both_same(const BothResult *want, const BothResult *got, char *why, size_t size)
{
    why[0] = '\0';
    if (want->n != got->n) {
        snprintf(why, size, "%d outputs, not %d", got->n, want->n);
        return false;
    }
    for (int i = 0; i < want->n; i++) {
        TRY(same_output(&want->at[i], &got->at[i], why, size));
    }
    return true;
}

bool both_run(IrGraph *g, PassContext *cx, const BothCase *in, Device *dev, char *why, size_t size)
{
    Err err = {0};
    Exec *exec = NULL;
    BothResult want, got = {0};
    why[0] = '\0';
    bool ok = both_evaluate(g, in, &want, &err);
    if (ok) {
        const IrSchedule *schedule = pass_run_all(g, cx);
        const Program *program = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
        ok = exec_new(program, dev, &exec, &err) && both_execute(exec, program, in, &got, &err);
    }
    if (!ok) {
        snprintf(why, size, "%s", err.text);
    }
    ok = ok && both_same(&want, &got, why, size);
    both_free(&want);
    both_free(&got);
    exec_free(exec);
    return ok;
}
