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

static bool upload(Exec *exec, const BothCase *in, Err *err)
{
    for (int i = 0; i < in->n_inputs; i++) {
        const IrEvalInput *image = &in->inputs[i];
        size_t w = (size_t)image->extent[0], h = (size_t)image->extent[1];
        size_t bytes = elem_size(image->elem);
        void *plane = malloc(w * h * bytes);
        bool ok = plane != NULL;
        for (int c = 0; ok && c < image->extent[3]; c++) {
            for (int z = 0; ok && z < image->extent[2]; z++) {
                size_t base = ((size_t)c * (size_t)image->extent[2] + (size_t)z) * w * h;
                for (size_t p = 0; p < w * h; p++) {
                    elem_put(plane, p, image->elem, image->pixels[base + p]);
                }
                ok = exec_upload(exec, i, c, z, 0, (int64_t)h, plane, w * bytes, err);
            }
        }
        free(plane);
        TRY(ok);
    }
    return true;
}

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static bool compare_image(Exec *exec, int output, const char *name, const IrEvalNode *want,
                          char *why, size_t size, Err *err)
{
    ExecGrid grid;
    Elem elem;
    exec_output(exec, output, &grid, &elem);
    if (grid.w != want->extent[0] || grid.h != want->extent[1] || grid.d != want->extent[2] ||
        grid.c != want->extent[3]) {
        snprintf(why, size, "output %s: extents differ", name);
        return true;
    }
    size_t w = (size_t)grid.w, h = (size_t)grid.h;
    void *plane = malloc(w * h * 8);
    bool ok = plane != NULL;
    for (int p = 0; ok && p < grid.planes && why[0] == '\0'; p++) {
        ok = exec_download(exec, output, p / grid.d, p % grid.d, 0, grid.h, plane,
                           w * elem_size(elem), err);
        for (size_t i = 0; ok && i < w * h && why[0] == '\0'; i++) {
            double a = want->pixels[(size_t)p * w * h + i], b = elem_get(plane, i, elem);
            if (!same_bits(a, b)) {
                snprintf(why, size, "output %s: pixel x %zu y %zu plane %d is %.9g, not %.9g", name,
                         i % w, i / w, p, b, a);
            }
        }
    }
    free(plane);
    return ok;
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

static bool compare(Exec *exec, const IrGraph *g, const Program *program, IrEval *ev,
                    const IrId *nodes, const double *values, char *why, size_t size, Err *err)
{
    (void)g;
    (void)ev;
    for (int i = 0; i < program->n_outputs && why[0] == '\0'; i++) {
        const ProgOutput *o = &program->outputs[i];
        if (o->kind == OUT_VALUE) {
            const double *got;
            TRY(exec_values(exec, &got, err));
            if (!same_bits(got[o->value], values[i])) {
                snprintf(why, size, "value %s is %.17g, not %.17g", o->name, got[o->value],
                         values[i]);
            }
        } else if (o->kind == OUT_TABLE) {
            compare_table(exec_table(exec, o->table), ir_eval_node(ev, nodes[i]), o->name, why,
                          size);
        } else {
            TRY(compare_image(exec, i, o->name, ir_eval_node(ev, nodes[i]), why, size, err));
        }
    }
    return true;
}

static bool run_program(const Program *program, const BothCase *in, Device *dev, Exec **exec,
                        Err *err)
{
    ExecInput inputs[8];
    for (int i = 0; i < in->n_inputs; i++) {
        inputs[i] = (ExecInput){.elem = in->inputs[i].elem};
        for (int ax = 0; ax < 4; ax++) {
            inputs[i].extent[ax] = in->inputs[i].extent[ax];
        }
        memcpy(inputs[i].pixel_um, in->inputs[i].pixelsize, sizeof inputs[i].pixel_um);
    }
    TRY(exec_new(program, dev, exec, err));
    TRY(exec_bind(*exec, inputs, in->params, err));
    TRY(upload(*exec, in, err));
    return exec_run(*exec, err);
}

bool both_run(IrGraph *g, PassContext *cx, const BothCase *in, Device *dev, char *why, size_t size)
{
    Err err = {0};
    IrEval *ev = NULL;
    Exec *exec = NULL;
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
        const Program *program = cg_program(g, schedule, "0123456789abcdef0123456789abcdef");
        ok = run_program(program, in, dev, &exec, &err) &&
             compare(exec, g, program, ev, nodes, values, why, size, &err);
    }
    if (!ok) {
        snprintf(why, size, "%s", err.text);
    }
    exec_free(exec);
    ir_eval_free(ev);
    return ok && why[0] == '\0';
}
