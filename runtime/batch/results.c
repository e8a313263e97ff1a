/* results: downloads, and deep copies of tables, sorted where the pipeline says so. */
#include "results.h"

#include "../host/row_order.h"

#include <math.h>
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

bool results_is_image(const ProgOutput *output)
{
    return output->kind != OUT_TABLE && output->kind != OUT_VALUE;
}

bool results_is_zarr_table(const ProgOutput *output)
{
    return output->kind == OUT_TABLE && strcmp(output->format, "zarr") == 0;
}

bool results_is_table(const ProgOutput *output)
{
    return (output->kind == OUT_TABLE && !results_is_zarr_table(output)) || output->kind == OUT_SERIES;
}

static size_t image_bytes(const ExecGrid *g, Elem elem)
{
    return (size_t)g->w * (size_t)g->h * (size_t)g->planes * elem_size(elem);
}

size_t results_image_bytes(const Exec *exec, const Program *program)
{
    size_t bytes = 0;
    for (int i = 0; i < program->n_outputs; i++) {
        if (results_is_image(&program->outputs[i])) {
            ExecGrid g;
            Elem elem;
            exec_output(exec, i, &g, &elem);
            bytes += image_bytes(&g, elem);
        }
    }
    return bytes;
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
    r->values = calloc(outputs, sizeof *r->values);
    r->tables = calloc((size_t)program->n_tables + 1, sizeof *r->tables);
    if (!r->grids || !r->elems || !r->images || !r->values || !r->tables) {
        results_free(r);
        return no_memory(err);
    }
    *out = r;
    return true;
}

static bool make_room(Results *r, Device *dev, int output, Err *err)
{
    size_t bytes = image_bytes(&r->grids[output], r->elems[output]);
    r->images[output] = host_pool_take(r->pool, bytes, dev);
    r->bytes += bytes;
    return r->images[output] != NULL || no_memory(err);
}

bool results_begin(Exec *exec, const Program *program, HostPool *pool, Device *dev, Results **out, Err *err)
{
    TRY(results_new(program, out, err));
    (*out)->pool = pool;
    bool ok = true;
    for (int i = 0; ok && i < program->n_outputs; i++) {
        if (results_is_image(&program->outputs[i])) {
            exec_output(exec, i, &(*out)->grids[i], &(*out)->elems[i]);
            ok = pool == NULL || make_room(*out, dev, i, err);
        }
    }
    if (!ok) {
        results_free(*out);
        *out = NULL;
    }
    return ok;
}

bool results_download(Exec *exec, Results *r, Err *err)
{
    for (int i = 0; i < r->program->n_outputs; i++) {
        const ExecGrid *g = &r->grids[i];
        size_t row = (size_t)g->w * elem_size(r->elems[i]), plane = row * (size_t)g->h;
        for (int64_t p = 0; r->images[i] != NULL && p < g->planes; p++) {
            TRY(exec_download(exec, i, p / g->d, p % g->d, 0, g->h, (char *)r->images[i] + (size_t)p * plane, row,
                              err));
        }
    }
    return true;
}

bool results_narrow(Exec *exec, Results *r, Err *err)
{
    for (int i = 0; i < r->program->n_outputs; i++) {
        if (r->program->outputs[i].kind == OUT_LABELS && r->program->outputs[i].value >= 0) {
            TRY(exec_narrow(exec, i, r->values[i], err));
            exec_output(exec, i, &r->grids[i], &r->elems[i]);
        }
    }
    return true;
}

bool results_sort(PrimTable *table, int by, Err *err)
{
    int64_t rows = table->rows;
    int column = abs(by) - 1;
    if (by == 0 || column >= table->columns || rows < 2) {
        return true;
    }
    int64_t *order = malloc((size_t)rows * sizeof *order);
    double *sorted = malloc((size_t)rows * sizeof *sorted);
    bool ok = order != NULL && sorted != NULL && row_order(table->at + column * rows, rows, by < 0, order);
    for (int k = 0; ok && k < table->columns; k++) {
        double *at = table->at + k * rows;
        for (int64_t i = 0; i < rows; i++) {
            sorted[i] = at[order[i]];
        }
        memcpy(at, sorted, (size_t)rows * sizeof *sorted);
    }
    free(order);
    free(sorted);
    return ok || no_memory(err);
}

/* Where a pixel lies along an axis of the input. */
static double on_input(const ImagePlace *place, int axis, double x, double y)
{
    const double *of = place->of[axis];
    return !place->moved ? (axis == 0 ? x : y) : of[0] * x + of[1] * y + of[3];
}

bool results_sky(PrimTable *table, const int columns[2], const ImagePlace *place, const Sky *sky, Err *err)
{
    static const char *const NAMES[] = {"ra", "dec"};
    if (columns[0] == 0) {
        return true;
    }
    if (sky->projection == SKY_NONE) {
        return err_set(err, CODE_FILES, "a table has no RA and Dec: nothing says where the image lies on the sky");
    }
    const size_t n = (size_t)table->columns, rows = (size_t)table->rows;
    char(*names)[64] = realloc(table->names, (n + 2) * sizeof *names);
    table->names = names != NULL ? names : table->names;
    bool *integer = realloc(table->integer, (n + 2) * sizeof *integer);
    table->integer = integer != NULL ? integer : table->integer;
    double *at = realloc(table->at, ((n + 2) * rows + 1) * sizeof *at);
    table->at = at != NULL ? at : table->at;
    if (names == NULL || integer == NULL || at == NULL) {
        return no_memory(err);
    }
    for (size_t k = 0; k < 2; k++) {
        snprintf(names[n + k], sizeof names[n + k], "%s", NAMES[k]);
        integer[n + k] = false;
    }
    const double *x = at + (size_t)(columns[0] - 1) * rows, *y = at + (size_t)(columns[1] - 1) * rows;
    for (size_t i = 0; i < rows; i++) {
        sky_of_pixel(sky, on_input(place, 0, x[i], y[i]), on_input(place, 1, x[i], y[i]), &at[n * rows + i],
                     &at[(n + 1) * rows + i]);
    }
    table->columns += 2;
    return true;
}

/* The table of an output, as the pipeline asks for it. */
static bool finish_table(Exec *exec, Results *r, int output, Err *err)
{
    const int number = r->program->outputs[output].table;
    const ProgTable *of = &r->program->tables[number];
    PrimTable *table = &r->tables[number];
    ExecGrid grid;
    Elem elem;
    exec_output(exec, output, &grid, &elem);
    return copy_table(exec_table(exec, number), table, err) &&
           results_sky(table, of->sky, &grid.place, exec_sky(exec, output), err) && results_sort(table, of->sort, err);
}

bool results_finish(Exec *exec, Results *r, Err *err)
{
    const Program *p = r->program, *bound = exec_bound(exec)->program;
    const double *values;
    TRY(exec_values(exec, &values, err));
    for (int i = 0; i < p->n_outputs; i++) {
        int slot = bound->outputs[i].value;
        r->values[i] = slot >= 0 ? exec_largest_label(exec, i, values[slot]) : (double)NAN;
    }
    for (int i = 0; i < p->n_outputs; i++) {
        const bool table = p->outputs[i].kind == OUT_TABLE && r->tables[p->outputs[i].table].names == NULL;
        TRY(!table || finish_table(exec, r, i, err));
    }
    return true;
}

void results_free(Results *results)
{
    if (results == NULL) {
        return;
    }
    for (int i = 0; results->images != NULL && i < results->program->n_outputs; i++) {
        if (results->pool != NULL) {
            host_pool_give(results->pool, results->images[i]);
        } else {
            free(results->images[i]);
        }
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
