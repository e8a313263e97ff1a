/* eval_ids: the evaluator's labels of files that have places (ids.h). */
#include "eval_internal.h"
#include "../ir/ids.h"

#include <math.h>
#include <stdlib.h>

static size_t count_pixels(const IrEvalNode *node)
{
    size_t n = 1;
    for (int ax = 0; ax < IR_AXES; ax++) {
        n *= (size_t)node->extent[ax];
    }
    return n;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Labels with a number above that of the pixels are known by their places. */
static void give_places(IrEval *ev, IrEvalNode *node, size_t n)
{
    double *pixels = node->pixels;
    uint32_t *ids = malloc((n + 1) * sizeof *ids), count = 0;
    if (ids == NULL) {
        err_set(ev->err, CODE_MEMORY, "not enough memory for the reference");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        ids[i + 1] = (uint32_t)pixels[i];
    }
    qsort(ids + 1, n, sizeof *ids, compare_ids);
    for (size_t i = 1; i <= n; i++) {
        bool new = ids[i] != 0 && (count == 0 || ids[count] != ids[i]);
        ids[count + (new ? 1 : 0)] = new ? ids[i] : ids[count];
        count += new;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)pixels[i];
        const uint32_t *at = bsearch(&id, ids + 1, count, sizeof *ids, compare_ids);
        pixels[i] = at != NULL ? (double)(at - ids) : 0;
    }
    ids[0] = count;
    free(node->ids);
    node->ids = ids;
    node->value[0] = count;
}

void ir_eval_give_places(IrEval *ev, IrId id)
{
    const IrNode *input = ir_node(ev->g, id);
    IrEvalNode *node = &ev->nodes[id];
    double ids = 0;
    bool may = input->input.ids != 0 && ir_is_const(ev->g, input->input.ids, &ids) && ids == IDS_PLACES;
    if (may && node->value[0] > (double)count_pixels(node)) {
        give_places(ev, node, count_pixels(node));
    }
}

void ir_eval_ids(IrEval *ev, IrId id)
{
    const IrEvalNode *labels = &ev->nodes[ir_node(ev->g, id)->of];
    size_t n = labels->ids != NULL ? (size_t)labels->ids[0] + 1 : 1;
    double *to = ir_eval_pixels(ev, id, n);
    for (size_t i = 0; to != NULL && i < n; i++) {
        to[i] = labels->ids != NULL ? labels->ids[i] : 0;
    }
}

/* Numbers instead of places, 0 of 0; the largest. */
static double number_list(const IrEval *ev, IrId input, double *at, size_t n)
{
    const uint32_t *ids = ev->nodes[input].ids;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (ids != NULL) {
            at[i] = at[i] > 0 && at[i] <= ids[0] ? ids[(size_t)at[i]] : 0;
        }
        most = fmax(most, at[i]);
    }
    return most;
}

static void number_node(IrEval *ev, IrId id)
{
    IrEvalNode *of = &ev->nodes[id];
    const IrNode *node = ir_node(ev->g, id);
    for (int column = 0; of->table != NULL && column < 3 && column < of->columns; column++) {
        size_t rows = (size_t)of->rows;
        number_list(ev, ir_ids_of_column(ev->g, id, column), of->table + (size_t)column * rows, rows);
    }
    IrId input = node->kind == IR_K_LABELS ? ir_ids_of(ev->g, id) : 0;
    if (ev->nodes[input].ids != NULL && of->pixels != NULL) {
        of->value[0] = number_list(ev, input, of->pixels, count_pixels(of));
    }
}

void ir_eval_number_outputs(IrEval *ev)
{
    bool *done = calloc((size_t)ev->g->nodes.n, sizeof *done);
    for (int i = 0; done != NULL && i < ev->g->outputs.n; i++) {
        IrId id = ev->g->outputs.at[i].node;
        if (id != 0 && !done[id]) {
            number_node(ev, id);
        }
        done[id] = true;
    }
    if (done == NULL) {
        err_set(ev->err, CODE_MEMORY, "not enough memory for the reference");
    }
    free(done);
}
