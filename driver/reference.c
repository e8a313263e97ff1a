/* reference: frames of the runtime to the evaluator and back, element by element. */
#include "reference.h"

#include "../base/measures.h"
#include "../base/near.h"
#include "../reference/eval.h"
#include "../runtime/batch/results.h"
#include "../runtime/exec/exec_plan.h"
#include "../runtime/host/convert.h"
#include "../runtime/primitives/prim.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- evaluating a frame -------------------------------------------------------------------- */

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "not enough memory for the reference");
}

/* A graph that was evaluated, and the inputs, which its places and types are asked for, too. */
typedef struct Evaluated {
    IrEval *ev;
    IrEvalInput *inputs; /* owned */
    int n_inputs;
} Evaluated;

static void evaluated_free(Evaluated *e)
{
    ir_eval_free(e->ev);
    for (int i = 0; e->inputs != NULL && i < e->n_inputs; i++) {
        free((void *)(uintptr_t)e->inputs[i].pixels);
    }
    free(e->inputs);
}

/* Pixels of the type that the pipeline asks for, as doubles; refuses what a device would be refused. */
static bool convert_pixels(const ProgInput *input, const ExecInput *from, const void *pixels, size_t n, Elem to,
                           double *v, Err *err)
{
    void *converted = malloc((n + 1) * elem_size(to));
    size_t bad, width = (size_t)from->extent[0];
    bool ok = converted != NULL || no_memory(err);
    if (ok && !convert_row(from->elem, pixels, to, converted, n, &bad)) {
        ok = err_set(err, CODE_FILES, "'%s' has the value %g in column %zu of row %zu, which is no %s", input->name,
                     convert_get(from->elem, pixels, bad), bad % width, bad / width, elem_name(to));
    }
    for (size_t i = 0; ok && i < n; i++) {
        v[i] = elem_get(converted, i, to);
    }
    free(converted);
    return ok;
}

static bool take_input(const ProgInput *input, const ExecInput *from, const void *pixels, IrEvalInput *to, Err *err)
{
    size_t n = 1;
    for (int ax = 0; ax < 4; ax++) {
        to->extent[ax] = (int)from->extent[ax];
        n *= (size_t)from->extent[ax];
    }
    memcpy(to->pixelsize, from->pixel_um, sizeof to->pixelsize);
    to->upwards = from->upwards;
    to->sky = from->sky;
    to->elem = input->elem == ELEM_FILE ? from->elem : input->elem;
    double *v = malloc((n + 1) * sizeof *v);
    to->pixels = v;
    return v != NULL ? convert_pixels(input, from, pixels, n, to->elem, v, err) : no_memory(err);
}

static bool labels_fit(const ExecPlan *plan, const RtFrame *frame, int input, Err *err)
{
    const ExecInput *in = &frame->inputs[input];
    double n = 1, largest = 0;
    for (int ax = 0; ax < 4; ax++) {
        n *= (double)in->extent[ax];
    }
    if (plan->program->inputs[input].count >= 0) {
        largest = convert_max(in->elem, frame->pixels[input], (size_t)n, 0);
    }
    return exec_plan_ids(plan, input, largest, err) != IDS_REFUSED;
}

/* Refuses what a device would be refused: images whose extents do not fit together, and labels beyond all room. */
static bool images_fit(const Reference *ref, const RtFrame *frame, Err *err)
{
    ExecTarget target = exec_target(NULL);
    ExecPlan *plan = NULL;
    bool ok = exec_plan_new(ref->program, &target, frame->inputs, frame->params, &plan, err);
    for (int i = 0; ok && i < ref->program->n_inputs; i++) {
        ok = labels_fit(plan, frame, i, err);
    }
    exec_plan_free(plan);
    return ok;
}

/* Freed by the caller (evaluated_free), also after a failure. */
static bool evaluate(const Reference *ref, const RtFrame *frame, Evaluated *e, Err *err)
{
    int n = ref->program->n_inputs;
    *e = (Evaluated){.inputs = calloc((size_t)n + 1, sizeof *e->inputs), .n_inputs = n};
    bool ok = e->inputs != NULL || no_memory(err);
    for (int i = 0; ok && i < n; i++) {
        ok = take_input(&ref->program->inputs[i], &frame->inputs[i], frame->pixels[i], &e->inputs[i], err);
    }
    return ok && ir_eval(ref->graph, e->inputs, frame->params, &e->ev, err);
}

/* ---- --device reference -------------------------------------------------------------------- */

static ImagePlace give_place(IrEval *ev, const IrPlace *from)
{
    ImagePlace to = {.moved = from->moved};
    for (int i = 0; i < 12 && to.moved; i++) {
        IrExpr e = from->of[i / 4][i % 4];
        to.of[i / 4][i % 4] = e != 0 ? ir_eval_uniform(ev, e) : 0;
    }
    return to;
}

static bool give_image(const IrEvalNode *from, Elem elem, struct Results *to, int output, Err *err)
{
    const int *e = from->extent;
    size_t n = (size_t)e[0] * (size_t)e[1] * (size_t)e[2] * (size_t)e[3];
    to->grids[output] = (ExecGrid){.w = e[0], .h = e[1], .d = e[2], .c = e[3], .planes = e[2] * e[3], .pitch = e[0]};
    to->elems[output] = elem;
    to->images[output] = malloc(n * elem_size(elem) + 1);
    if (to->images[output] == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        elem_put(to->images[output], i, elem, from->pixels[i]);
    }
    to->bytes += n * elem_size(elem);
    return true;
}

/* The rows are in the order that the pipeline asks for. */
static bool give_table(const Reference *ref, const RtFrame *frame, IrEval *ev, int output, PrimTable *to, Err *err)
{
    const Program *program = ref->program;
    const ProgTable *table = &program->tables[program->outputs[output].table];
    const IrOutput *o = &ref->graph->outputs.at[output];
    const IrNode *node = ir_node(ref->graph, o->node);
    const IrEvalNode *from = ir_eval_node(ev, o->node);
    const ImagePlace place = give_place(ev, &o->place);
    MeasureList list;
    TRY(node->op == IR_NEAR_PAIRS || measure_parse(node->text, 2, &list, err));
    to->rows = from->rows;
    to->columns = from->columns;
    size_t columns = (size_t)from->columns, cells = columns * (size_t)from->rows;
    to->names = calloc(columns + 1, sizeof *to->names);
    to->integer = calloc(columns + 1, sizeof *to->integer);
    to->at = malloc((cells + 1) * sizeof *to->at);
    if (to->names == NULL || to->integer == NULL || to->at == NULL) {
        return no_memory(err);
    }
    memcpy(to->at, from->table, cells * sizeof *to->at);
    if (node->op == IR_NEAR_PAIRS) {
        near_names(to->names, to->integer);
    } else {
        measure_names(&list, from->spacing, to->names, to->integer);
    }
    return results_sky(to, table->sky, &place, &frame->inputs[o->place.input].sky, err) &&
           results_sort(to, table->sort, err);
}

bool reference_run(void *context, const RtFrame *frame, struct Results *to, Err *err)
{
    const Reference *ref = context;
    Evaluated e = {0};
    bool ok = images_fit(ref, frame, err) && evaluate(ref, frame, &e, err);
    IrEval *ev = e.ev;
    for (int i = 0; ok && i < ref->program->n_outputs; i++) {
        const ProgOutput *out = &ref->program->outputs[i];
        const IrOutput *o = &ref->graph->outputs.at[i];
        if (out->kind == OUT_VALUE) {
            to->values[i] = ir_eval_uniform(ev, o->value);
        } else if (out->kind == OUT_TABLE) {
            ok = give_table(ref, frame, ev, i, &to->tables[out->table], err);
        } else {
            ok = give_image(ir_eval_node(ev, o->node), ir_eval_elem(ev, o->node), to, i, err);
            to->grids[i].place = give_place(ev, &o->place);
            if (ok && out->kind == OUT_LABELS) {
                to->values[i] = out->value >= 0 ? ir_eval_node(ev, o->node)->value[0] : (double)NAN;
            }
        }
    }
    evaluated_free(&e);
    return ok;
}

/* ---- --check ------------------------------------------------------------------------------- */

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool check_image(const RtFrame *frame, int i, const char *name, const IrEvalNode *want, Err *err)
{
    const ExecGrid *g = &frame->grids[i];
    size_t n = (size_t)g->w * (size_t)g->h * (size_t)g->planes;
    for (size_t p = 0; p < n; p++) {
        double got = elem_get(frame->images[i], p, frame->elems[i]);
        if (!same(got, want->pixels[p])) {
            return err_set(err, CODE_FILES,
                           "%s: output '%s' differs from the reference at x %zu, y %zu, plane %zu: "
                           "%.9g instead of %.9g",
                           frame->image, name, p % (size_t)g->w, p / (size_t)g->w % (size_t)g->h,
                           p / ((size_t)g->w * (size_t)g->h), got, want->pixels[p]);
        }
    }
    return true;
}

static bool check_table(const RtFrame *frame, const PrimTable *got, const char *name, const PrimTable *want, Err *err)
{
    if (got->rows != want->rows || got->columns != want->columns) {
        return err_set(err, CODE_FILES, "%s: table '%s' has %" PRId64 " rows, the reference %" PRId64, frame->image,
                       name, got->rows, want->rows);
    }
    for (int64_t i = 0; i < got->rows * got->columns; i++) {
        if (!same(got->at[i], want->at[i])) {
            return err_set(err, CODE_FILES,
                           "%s: table '%s' differs from the reference in row %" PRId64
                           " of column '%s': %.17g instead of %.17g",
                           frame->image, name, i % got->rows, got->names[i / got->rows], got->at[i], want->at[i]);
        }
    }
    return true;
}

bool reference_check(void *context, const RtFrame *frame, Err *err)
{
    const Reference *ref = context;
    Evaluated e;
    bool ok = evaluate(ref, frame, &e, err);
    IrEval *ev = e.ev;
    for (int i = 0; ok && i < ref->program->n_outputs; i++) {
        const ProgOutput *out = &ref->program->outputs[i];
        const IrOutput *o = &ref->graph->outputs.at[i];
        if (out->kind == OUT_VALUE) {
            double got = frame->values[i], want = ir_eval_uniform(ev, o->value);
            ok = same(got, want) || err_set(err, CODE_FILES, "%s: value '%s' is %.17g, the reference %.17g",
                                            frame->image, out->name, got, want);
        } else if (out->kind == OUT_TABLE) {
            PrimTable want = {.rows = 0};
            ok = give_table(ref, frame, ev, i, &want, err) &&
                 check_table(frame, &frame->tables[out->table], out->name, &want, err);
            prim_table_free(&want);
        } else {
            ok = check_image(frame, i, out->name, ir_eval_node(ev, o->node), err);
        }
    }
    evaluated_free(&e);
    return ok;
}
