/* results: downloads, and deep copies of tables. */
#include "results.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the results");
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    if (to != NULL && bytes > 0) {
        memcpy(to, from, bytes);
    }
    return to;
}

static bool copy_table(const PrimTable *from, PrimTable *to, Err *err)
{
    size_t columns = (size_t)from->columns;
    to->rows = from->rows;
    to->columns = from->columns;
    to->names = copy_of(from->names, columns * sizeof *from->names);
    to->integer = copy_of(from->integer, columns * sizeof *from->integer);
    to->at = copy_of(from->at, columns * (size_t)from->rows * sizeof *from->at);
    return (to->names && to->integer && to->at) || no_memory(err);
}

static bool download(Exec *exec, int output, Results *r, Err *err)
{
    ExecGrid *g = &r->grids[output];
    exec_output(exec, output, g, &r->elems[output]);
    size_t row = (size_t)g->w * elem_size(r->elems[output]), plane = row * (size_t)g->h;
    size_t bytes = plane * (size_t)g->planes;
    char *pixels = malloc(bytes + 1);
    r->images[output] = pixels;
    if (pixels == NULL) {
        return no_memory(err);
    }
    r->bytes += bytes;
    for (int64_t p = 0; p < g->planes; p++) {
        TRY(exec_download(exec, output, p / g->d, p % g->d, 0, g->h, pixels + (size_t)p * plane,
                          row, err));
    }
    return true;
}

static bool take_all(Exec *exec, Results *r, Err *err)
{
    const Program *p = r->program;
    const double *values;
    for (int i = 0; i < p->n_outputs; i++) {
        ProgOutputKind kind = p->outputs[i].kind;
        if (kind != OUT_TABLE && kind != OUT_VALUE) {
            TRY(download(exec, i, r, err));
        }
    }
    TRY(exec_values(exec, &values, err));
    memcpy(r->values, values, (size_t)p->n_values * sizeof *values);
    for (int i = 0; i < p->n_tables; i++) {
        TRY(copy_table(exec_table(exec, i), &r->tables[i], err));
    }
    return true;
}

bool results_new(const Program *program, Results **out, Err *err)
{
    Results *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL) {
        return no_memory(err);
    }
    size_t outputs = (size_t)program->n_outputs + 1;
    r->program = program;
    r->grids = calloc(outputs, sizeof *r->grids);
    r->elems = calloc(outputs, sizeof *r->elems);
    r->images = calloc(outputs, sizeof *r->images);
    r->values = calloc((size_t)program->n_values + 1, sizeof *r->values);
    r->tables = calloc((size_t)program->n_tables + 1, sizeof *r->tables);
    if (!r->grids || !r->elems || !r->images || !r->values || !r->tables) {
        results_free(r);
        return no_memory(err);
    }
    *out = r;
    return true;
}

bool results_take(Exec *exec, const Program *program, Results **out, Err *err)
{
    TRY(results_new(program, out, err));
    if (!take_all(exec, *out, err)) {
        results_free(*out);
        *out = NULL;
        return false;
    }
    return true;
}

void results_free(Results *results)
{
    if (results == NULL) {
        return;
    }
    for (int i = 0; results->images != NULL && i < results->program->n_outputs; i++) {
        free(results->images[i]);
    }
    for (int i = 0; results->tables != NULL && i < results->program->n_tables; i++) {
        prim_table_free(&results->tables[i]);
    }
    free(results->grids);
    free(results->elems);
    free(results->images);
    free(results->values);
    free(results->tables);
    free(results);
}
