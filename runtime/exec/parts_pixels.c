/* parts_pixels: rows from inputs and stores, rows to stores and outputs. */
#include "parts_pixels.h"

#include "../host/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4 << 20 }; /* bytes that are copied at a time */

static const ExecGrid *grid_of(const Exec *exec, int buffer)
{
    return &exec->plan->grids[exec->program->buffers[buffer].grid];
}

size_t parts_row_bytes(const Exec *exec, int buffer)
{
    return (size_t)grid_of(exec, buffer)->w * elem_size(exec->plan->buffers[buffer].elem);
}

/* ---- reading --------------------------------------------------------------------------- */

/* Rows of one plane in the type of the file, converted as they come. */
static bool read_converted(PartsPixels *p, int input, int64_t c, int64_t z, PartsSpan span, char *to, Err *err)
{
    const ExecInput *file = &p->exec->bound[input];
    size_t line = (size_t)file->extent[0] * elem_size(file->elem);
    size_t row = parts_row_bytes(p->exec, p->exec->program->inputs[input].buffer);
    if (line > p->line_bytes) {
        char *larger = realloc(p->line, line);
        if (!larger) {
            return err_set(err, CODE_MEMORY, "out of host memory for a row of '%s'",
                           p->exec->program->inputs[input].name);
        }
        p->line = larger;
        p->line_bytes = line;
    }
    for (int64_t y = 0; y < span.rows; y++) {
        TRY(p->stream->read(p->stream->context, input, c, z, span.row + y, 1, p->line, line, err));
        TRY(exec_convert(p->exec, input, span.row + y, 1, p->line, line, to + (size_t)y * row, err));
    }
    return true;
}

static bool read_input(PartsPixels *p, int input, PartsSpan span, void *to, Err *err)
{
    const Exec *exec = p->exec;
    int buffer = exec->program->inputs[input].buffer, only = exec->plan->channel[input];
    const ExecGrid *g = grid_of(exec, buffer);
    int64_t c = only >= 0 ? only : span.plane / g->d, z = span.plane % g->d;
    bool converted = exec->bound[input].elem != exec->plan->inputs[input].elem;
    TRY(converted ? read_converted(p, input, c, z, span, to, err)
                  : p->stream->read(p->stream->context, input, c, z, span.row, span.rows, to,
                                    parts_row_bytes(exec, buffer), err));
    if (exec->ids[input].n > 0) {
        label_ids_to_places(&exec->ids[input], to, (size_t)span.rows * (size_t)g->w);
    }
    return true;
}

bool parts_read(PartsPixels *p, int buffer, PartsSpan span, void *to, Err *err)
{
    int input = p->exec->plan->parts->input[buffer];
    size_t row = parts_row_bytes(p->exec, buffer);
    if (input >= 0) {
        return read_input(p, input, span, to, err);
    }
    uint64_t first = (uint64_t)(span.plane * grid_of(p->exec, buffer)->h + span.row);
    return parts_store_get(p->store[buffer], first * row, to, (uint64_t)span.rows * row, err);
}

const void *parts_lent(const PartsPixels *p, int buffer, PartsSpan *span, size_t *pitch)
{
    const Exec *exec = p->exec;
    const PartsPlan *parts = exec->plan->parts;
    int input = parts->input[buffer];
    if (input < 0 || p->stream->lend == NULL || exec->ids[input].n > 0 ||
        exec->bound[input].elem != exec->plan->inputs[input].elem) {
        return NULL;
    }
    const ExecGrid *g = grid_of(exec, buffer);
    int only = exec->plan->channel[input];
    return p->stream->lend(p->stream->context, input, parts->times[buffer], only >= 0 ? only : span->plane / g->d,
                           span->plane % g->d, span->row, &span->rows, pitch);
}

/* ---- writing --------------------------------------------------------------------------- */

bool parts_renew(PartsPixels *p, int buffer, uint64_t bytes, uint64_t put, Err *err)
{
    parts_store_drop(p->store[buffer]);
    p->store[buffer] = NULL;
    return parts_store_new_for(&p->budget, bytes, put, &p->store[buffer], err);
}

/* The first owner has the outputs, or each has some of its rows. */
static bool gives(const PartsPixels *p, int output)
{
    return p->exec->owners == NULL || p->exec->owners->number == 0 || p->all_give[output];
}

static bool give(const PartsPixels *p, int output, PartsSpan span, const void *from, Err *err)
{
    int buffer = p->exec->program->outputs[output].buffer;
    const ExecGrid *g = grid_of(p->exec, buffer);
    if (!gives(p, output)) {
        return true;
    }
    const LabelIds *ids = exec_ids(p->exec, output);
    size_t row = parts_row_bytes(p->exec, buffer), bytes = (size_t)span.rows * row;
    uint32_t *numbers = ids != NULL ? malloc(bytes + 1) : NULL;
    TRY(ids == NULL || numbers != NULL || err_set(err, CODE_MEMORY, "out of host memory for rows of an image"));
    if (numbers != NULL) {
        memcpy(numbers, from, bytes);
        label_ids_to_numbers(ids, numbers, bytes / sizeof *numbers);
    }
    bool ok = p->stream->write(p->stream->context, output, p->most[output], span.plane / g->d, span.plane % g->d,
                               span.row, span.rows, numbers != NULL ? numbers : from, row, err);
    free(numbers);
    return ok;
}

bool parts_give_rows(PartsPixels *p, int buffer, PartsSpan span, const void *from, Err *err)
{
    const Program *program = p->exec->program;
    for (int i = 0; i < program->n_outputs; i++) {
        if (program->outputs[i].buffer == buffer) {
            TRY(give(p, i, span, from, err));
        }
    }
    return true;
}

bool parts_write(PartsPixels *p, int buffer, PartsSpan span, const void *from, bool given, Err *err)
{
    size_t row = parts_row_bytes(p->exec, buffer);
    if (p->store[buffer] && (!given || p->exec->plan->parts->kept[buffer])) {
        uint64_t first = (uint64_t)(span.plane * grid_of(p->exec, buffer)->h + span.row);
        TRY(parts_store_put(p->store[buffer], first * row, from, (uint64_t)span.rows * row, err));
    }
    return !given || parts_give_rows(p, buffer, span, from, err);
}

bool parts_write_columns(PartsPixels *p, int buffer, int64_t plane, int64_t row, int64_t col, int64_t cols,
                         const void *from, Err *err)
{
    uint64_t line = parts_row_bytes(p->exec, buffer);
    uint64_t size = elem_size(p->exec->plan->buffers[buffer].elem);
    uint64_t first = (uint64_t)(plane * grid_of(p->exec, buffer)->h + row) * line;
    return parts_store_put(p->store[buffer], first + (uint64_t)col * size, from, (uint64_t)cols * size, err);
}

/* ---- before and after ------------------------------------------------------------------ */

/* Rows that are copied at a time, at least one. */
static int64_t chunk_of(const Exec *exec, int buffer)
{
    size_t row = parts_row_bytes(exec, buffer);
    int64_t rows = row > 0 ? (int64_t)(CHUNK / row) : 1;
    int64_t h = grid_of(exec, buffer)->h;
    return rows < 1 ? 1 : rows < h ? rows : h;
}

typedef struct Visit {
    PartsPixels *pixels;
    int buffer, output; /* output: to give to; -1: count labels */
    double most;
    LabelIds *ids; /* that numbers are added to; NULL: they are not */
} Visit;

static bool visit(Visit *v, PartsSpan span, const char *rows, Err *err)
{
    const Exec *exec = v->pixels->exec;
    if (v->output >= 0) {
        return give(v->pixels, v->output, span, rows, err);
    }
    size_t n = (size_t)span.rows * (size_t)grid_of(exec, v->buffer)->w;
    if (v->ids != NULL) {
        return label_ids_add(v->ids, (const uint32_t *)(const void *)rows, n, err);
    }
    v->most = convert_max(exec->plan->buffers[v->buffer].elem, rows, n, v->most);
    return true;
}

static bool visit_all(Visit *v, Err *err)
{
    const Exec *exec = v->pixels->exec;
    const ExecGrid *g = grid_of(exec, v->buffer);
    int64_t chunk = chunk_of(exec, v->buffer);
    char *rows = malloc((size_t)chunk * parts_row_bytes(exec, v->buffer) + 1);
    bool ok = rows || err_set(err, CODE_MEMORY, "out of host memory for rows of an image");
    for (int64_t plane = 0; ok && plane < g->planes; plane++) {
        for (int64_t y = 0; ok && y < g->h; y += chunk) {
            PartsSpan span = {plane, y, y + chunk < g->h ? chunk : g->h - y};
            ok = !exec_stopped(exec, err) && parts_read(v->pixels, v->buffer, span, rows, err) &&
                 visit(v, span, rows, err);
        }
    }
    free(rows);
    return ok;
}

/* Where numbers are too large, they are read once more; from then on rows that are read have places. */
static bool give_places(PartsPixels *p, int input, Visit *v, Err *err)
{
    LabelIds ids = {.n = 0};
    InputIds as = exec_plan_ids(p->exec->plan, input, v->most, err);
    v->ids = &ids;
    if (as != IDS_PLACES || !visit_all(v, err)) {
        label_ids_drop(&ids);
        return as == IDS_NUMBERS;
    }
    label_ids_sort(&ids);
    p->exec->ids[input] = ids;
    p->exec->counts[input] = (double)ids.n;
    return true;
}

bool parts_count_labels(PartsPixels *p, Err *err)
{
    const Program *program = p->exec->program;
    for (int i = 0; i < program->n_inputs; i++) {
        if (program->inputs[i].count >= 0 && program->inputs[i].buffer >= 0) {
            Visit v = {.pixels = p, .buffer = program->inputs[i].buffer, .output = -1};
            label_ids_drop(&p->exec->ids[i]);
            TRY(visit_all(&v, err));
            p->exec->counts[i] = v.most;
            TRY(give_places(p, i, &v, err));
        }
    }
    return true;
}

bool parts_give(PartsPixels *p, int buffer, Err *err)
{
    const Program *program = p->exec->program;
    for (int i = 0; i < program->n_outputs; i++) {
        if (program->outputs[i].buffer == buffer && gives(p, i)) {
            Visit v = {.pixels = p, .buffer = buffer, .output = i};
            TRY(visit_all(&v, err));
        }
    }
    return true;
}

bool parts_give_rest(PartsPixels *p, Err *err)
{
    const Program *program = p->exec->program;
    for (int i = 0; i < program->n_outputs; i++) {
        int buffer = program->outputs[i].buffer;
        if (buffer >= 0 && gives(p, i) && !p->exec->plan->parts->given[buffer]) {
            Visit v = {.pixels = p, .buffer = buffer, .output = i};
            TRY(visit_all(&v, err));
        }
    }
    return true;
}
