/* both: the evaluator and the device, side by side. */
#include "both.h"

#include "codegen/codegen.h"
#include "runtime/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static double sample(unsigned *state, int kind, int x, int y, int z, Elem elem)
{
    bool real = elem == ELEM_F32 || elem == ELEM_F64;
    unsigned r = next_random(state);
    double v = 0;
    switch (kind) {
    case 0:
        v = real ? (double)(float)(((int)(r % 20001) - 10000) / 37.0) : (double)(r % 256);
        break;
    case 1:
        v = floor(100 + 60 * sin(x / 5.0) + 50 * cos(y / 4.0 + z) + r % 7);
        break;
    case 2:
        v = 42;
        break;
    case 3:
        v = (x + y + z) % 2 ? 200 : 10;
        break;
    default:
        v = !real ? (double)(r % 5) : r % 11 == 0 ? NAN : r % 13 == 0 ? INFINITY : (double)(r % 50);
    }
    return elem == ELEM_BOOL ? fmod(v, 2) >= 1 : v;
}

IrEvalInput both_image(int w, int h, int d, int c, Elem elem, unsigned seed, int kind)
{
    IrEvalInput in = {.extent = {w, h, d, c}, .elem = elem, .pixelsize = {0.5, 0.5, 1.5}};
    double *v = malloc(sizeof *v * (size_t)w * (size_t)h * (size_t)d * (size_t)c), *p = v;
    unsigned state = seed * 2654435761u + 12345u;
    for (int plane = 0; plane < d * c; plane++) {
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                *p++ = sample(&state, kind, x, y, plane, elem);
            }
        }
    }
    in.pixels = v;
    return in;
}

/* ---- the device's side ------------------------------------------------------------------- */

/* A program's run: what goes in, and the images that come out, dense [c][z][y][x]. */
typedef struct Run {
    const BothCase *in;
    const Program *program;
    Exec *exec;
    char *images[16];
} Run;

/* Rows of an input in its element type. */
static void put_rows(const IrEvalInput *image, int64_t plane, int64_t row, int64_t rows, char *to)
{
    size_t w = (size_t)image->extent[0], first = (size_t)(plane * image->extent[1] + row) * w;
    for (size_t i = 0; i < (size_t)rows * w; i++) {
        elem_put(to, i, image->elem, image->pixels[first + i]);
    }
}

static bool read_rows(void *context, int input, int64_t c, int64_t z, int64_t row, int64_t rows,
                      void *to, size_t pitch, Err *err)
{
    const Run *run = context;
    const IrEvalInput *image = &run->in->inputs[input];
    (void)err;
    for (int64_t y = 0; y < rows; y++) {
        put_rows(image, c * image->extent[2] + z, row + y, 1, (char *)to + (size_t)y * pitch);
    }
    return true;
}

static bool write_rows(void *context, int output, double most, int64_t c, int64_t z, int64_t row,
                       int64_t rows, const void *from, size_t pitch, Err *err)
{
    const Run *run = context;
    ExecGrid g;
    Elem elem;
    (void)err;
    (void)most;
    exec_output(run->exec, output, &g, &elem);
    size_t bytes = (size_t)g.w * elem_size(elem), first = (size_t)((c * g.d + z) * g.h + row);
    for (int64_t y = 0; y < rows; y++) {
        memcpy(run->images[output] + (first + (size_t)y) * bytes,
               (const char *)from + (size_t)y * pitch, bytes);
    }
    return true;
}

static bool upload(const Run *run, Err *err)
{
    for (int i = 0; i < run->in->n_inputs; i++) {
        const IrEvalInput *image = &run->in->inputs[i];
        size_t row = (size_t)image->extent[0] * elem_size(image->elem);
        char *plane = malloc(row * (size_t)image->extent[1] + 1);
        bool ok = plane != NULL;
        for (int p = 0; ok && p < image->extent[2] * image->extent[3]; p++) {
            put_rows(image, p, 0, image->extent[1], plane);
            ok = exec_upload(run->exec, i, p / image->extent[2], p % image->extent[2], 0,
                             image->extent[1], plane, row, err);
        }
        free(plane);
        TRY(ok);
    }
    return true;
}

static bool download(Run *run, int output, Err *err)
{
    ExecGrid g;
    Elem elem;
    exec_output(run->exec, output, &g, &elem);
    size_t row = (size_t)g.w * elem_size(elem);
    for (int p = 0; p < g.planes; p++) {
        TRY(exec_download(run->exec, output, p / g.d, p % g.d, 0, g.h,
                          run->images[output] + (size_t)p * (size_t)g.h * row, row, err));
    }
    return true;
}

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void compare_image(const Run *run, int output, const char *name, const IrEvalNode *want,
                          char *why, size_t size)
{
    ExecGrid g;
    Elem elem;
    exec_output(run->exec, output, &g, &elem);
    if (g.w != want->extent[0] || g.h != want->extent[1] || g.d != want->extent[2] ||
        g.c != want->extent[3]) {
        snprintf(why, size, "output %s: extents differ", name);
        return;
    }
    size_t w = (size_t)g.w, h = (size_t)g.h, n = w * h * (size_t)g.planes;
    for (size_t i = 0; i < n && why[0] == '\0'; i++) {
        double a = want->pixels[i], b = elem_get(run->images[output], i, elem);
        if (!same_bits(a, b)) {
            snprintf(why, size, "output %s: pixel x %zu y %zu plane %zu is %.9g, not %.9g", name,
                     i % w, i / w % h, i / w / h, b, a);
        }
    }
}

static void compare_table(const PrimTable *got, const IrEvalNode *want, const char *name, char *why,
                          size_t size)
{
    if (got->rows != want->rows || got->columns != want->columns) {
        snprintf(why, size, "table %s: %lld x %d, not %lld x %d", name, (long long)got->rows,
                 got->columns, (long long)want->rows, want->columns);
        return;
    }
    for (int64_t i = 0; i < got->rows * got->columns; i++) {
        if (!same_bits(got->at[i], want->table[i])) {
            snprintf(why, size, "table %s: row %lld of column %s is %.17g, not %.17g", name,
                     (long long)(i % got->rows), got->names[i / got->rows], got->at[i],
                     want->table[i]);
            return;
        }
    }
}

static bool compare(const Run *run, IrEval *ev, const IrId *nodes, const double *values, char *why,
                    size_t size, Err *err)
{
    for (int i = 0; i < run->program->n_outputs && why[0] == '\0'; i++) {
        const ProgOutput *o = &run->program->outputs[i];
        if (o->kind == OUT_VALUE) {
            const double *got;
            TRY(exec_values(run->exec, &got, err));
            if (!same_bits(got[o->value], values[i])) {
                snprintf(why, size, "value %s is %.17g, not %.17g", o->name, got[o->value],
                         values[i]);
            }
        } else if (o->kind == OUT_TABLE) {
            compare_table(exec_table(run->exec, o->table), ir_eval_node(ev, nodes[i]), o->name,
                          why, size);
        } else {
            compare_image(run, i, o->name, ir_eval_node(ev, nodes[i]), why, size);
        }
    }
    return true;
}

static bool bind(Run *run, Device *dev, Err *err)
{
    const BothCase *in = run->in;
    ExecInput inputs[8];
    for (int i = 0; i < in->n_inputs; i++) {
        inputs[i] = (ExecInput){.elem = in->inputs[i].elem};
        for (int ax = 0; ax < 4; ax++) {
            inputs[i].extent[ax] = in->inputs[i].extent[ax];
        }
        memcpy(inputs[i].pixel_um, in->inputs[i].pixelsize, sizeof inputs[i].pixel_um);
    }
    TRY(exec_new(run->program, dev, &run->exec, err));
    exec_set_parts(run->exec, in->part_rows);
    return exec_bind(run->exec, inputs, in->params, err);
}

static bool run_program(Run *run, Device *dev, Err *err)
{
    TRY(bind(run, dev, err));
    for (int i = 0; i < run->program->n_outputs; i++) {
        ExecGrid g;
        Elem elem;
        exec_output(run->exec, i, &g, &elem);
        run->images[i] =
            malloc((size_t)g.w * (size_t)g.h * (size_t)g.planes * elem_size(elem) + 1);
        TRY(run->images[i] || err_set(err, CODE_MEMORY, "out of memory"));
    }
    if (exec_in_parts(run->exec)) {
        const ExecStream stream = {run, read_rows, write_rows};
        return exec_run_parts(run->exec, &stream, err);
    }
    TRY(upload(run, err) && exec_run(run->exec, err));
    for (int i = 0; i < run->program->n_outputs; i++) {
        TRY(run->program->outputs[i].buffer < 0 || download(run, i, err));
    }
    return true;
}

bool both_run(IrGraph *g, PassContext *cx, const BothCase *in, Device *dev, char *why, size_t size)
{
    Err err = {0};
    IrEval *ev = NULL;
    Run run = {.in = in};
    why[0] = '\0';
    bool ok = ir_eval(g, in->inputs, in->params, &ev, &err);
    IrId *nodes = arena_array(g->arena, IrId, g->outputs.n + 1);
    double *values = arena_array(g->arena, double, g->outputs.n + 1);
    for (int i = 0; ok && i < g->outputs.n; i++) {
        nodes[i] = g->outputs.at[i].node;
        values[i] = nodes[i] == 0 ? ir_eval_uniform(ev, g->outputs.at[i].value) : 0;
    }
    if (ok) {
        const IrSchedule *schedule = pass_run_all(g, cx);
        run.program = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
        ok = run_program(&run, dev, &err) &&
             compare(&run, ev, nodes, values, why, size, &err);
    }
    if (!ok) {
        snprintf(why, size, "%s", err.text);
    }
    for (int i = 0; i < 16; i++) {
        free(run.images[i]);
    }
    exec_free(run.exec);
    ir_eval_free(ev);
    return ok && why[0] == '\0';
}
