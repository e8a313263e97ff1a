/*
 * exec_stream: rows of inputs from a stream to the device, and of outputs back, of a run in one piece.
 * They go through the blocks of staging.h, so that the device moves some while the host has others.
 */
#include "exec_state.h"

#include "../host/convert.h"

#include <math.h>
#include <stdlib.h>

/* Rows of an output that are on their way. */
typedef struct Piece {
    int output;
    double most;
    int64_t c, z, row, rows;
} Piece;

typedef struct Saving {
    Exec *exec;
    const ExecStream *stream;
    Piece pieces[STAGING_BLOCKS]; /* under way, the oldest first */
    int n;
    Err *err;
} Saving;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool exec_stage(Exec *exec, Err *err)
{
    if (!exec->staging) {
        exec->staging = staging_new(exec->dev);
    }
    return exec->staging || err_set(err, CODE_MEMORY, "out of host memory for rows");
}

/* ---- up -------------------------------------------------------------------------------- */

/* Rows of an input in the type of its buffer, close together. */
static bool read_rows(Exec *exec, const ExecStream *stream, int input, const Piece *p, char *to, Err *err)
{
    const ExecInput *file = &exec->bound[input];
    Elem want = exec->plan->inputs[input].elem;
    size_t line = (size_t)file->extent[0] * elem_size(want);
    size_t wide = (size_t)file->extent[0] * elem_size(file->elem);
    if (file->elem == want) {
        return stream->read(stream->context, input, p->c, p->z, p->row, p->rows, to, line, err);
    }
    char *rows = malloc(wide * (size_t)p->rows + 1);
    bool ok =
        (rows || err_set(err, CODE_MEMORY, "out of host memory for rows of '%s'", exec->program->inputs[input].name)) &&
        stream->read(stream->context, input, p->c, p->z, p->row, p->rows, rows, wide, err) &&
        exec_convert(exec, input, p->row, p->rows, rows, wide, to, err);
    free(rows);
    return ok;
}

static bool load_plane(Exec *exec, const ExecStream *stream, int input, int64_t c, int64_t z, Err *err)
{
    const ProgInput *in = &exec->program->inputs[input];
    const ExecGrid *g = &exec->plan->grids[exec->program->buffers[in->buffer].grid];
    Elem elem = exec->plan->inputs[input].elem;
    size_t line = (size_t)g->w * elem_size(elem), pitch = (size_t)g->pitch * elem_size(elem);
    int64_t first = ((exec->plan->channel[input] >= 0 ? 0 : c) * g->d + z) * g->h;
    int64_t step = (int64_t)staging_rows(line);
    for (int64_t row = 0; row < g->h; row += step) {
        const Piece p = {.c = c, .z = z, .row = row, .rows = smaller(step, g->h - row)};
        size_t rows = (size_t)p.rows;
        char *at;
        TRY(staging_room(exec->staging, rows * line, &at, err) && read_rows(exec, stream, input, &p, at, err));
        if (in->count >= 0) {
            exec->counts[input] = convert_max(elem, at, rows * (size_t)g->w, exec->counts[input]);
        }
        const StagingRows to = {exec->planned[in->buffer], (size_t)(first + row) * pitch, pitch, line, rows};
        TRY(staging_send(exec->staging, &to, err));
    }
    return true;
}

static bool load_input(Exec *exec, const ExecStream *stream, int input, Err *err)
{
    const int64_t *extent = exec->bound[input].extent;
    exec->counts[input] = 0;
    label_ids_drop(&exec->ids[input]);
    for (int64_t c = 0; c < extent[3]; c++) {
        for (int64_t z = 0; exec_wants(exec, input, c) && z < extent[2]; z++) {
            TRY(load_plane(exec, stream, input, c, z, err));
        }
    }
    return true;
}

bool exec_load(Exec *exec, const ExecStream *stream, Err *err)
{
    bool ok = exec_stage(exec, err) && dev_follow(exec->dev, DEV_UPLOAD, DEV_COMPUTE, err);
    for (int i = 0; ok && i < exec->program->n_inputs; i++) {
        ok = load_input(exec, stream, i, err);
    }
    ok = ok && dev_follow(exec->dev, DEV_COMPUTE, DEV_UPLOAD, err);
    if (!ok && exec->staging) {
        staging_forget(exec->staging);
    }
    return ok;
}

/* ---- down ------------------------------------------------------------------------------ */

static size_t line_of(const Exec *exec, int output)
{
    ExecGrid g;
    Elem elem;
    exec_output(exec, output, &g, &elem);
    return (size_t)g.w * elem_size(elem);
}

static bool give_oldest(Saving *s)
{
    const Piece p = s->pieces[0];
    char *at;
    TRY(staging_take(s->exec->staging, &at, s->err));
    s->n--;
    for (int i = 0; i < s->n; i++) {
        s->pieces[i] = s->pieces[i + 1];
    }
    const LabelIds *ids = exec_ids(s->exec, p.output);
    if (ids != NULL) {
        label_ids_to_numbers(ids, (uint32_t *)(void *)at,
                             (size_t)p.rows * line_of(s->exec, p.output) / sizeof(uint32_t));
    }
    return s->stream->write(s->stream->context, p.output, p.most, p.c, p.z, p.row, p.rows, at,
                            line_of(s->exec, p.output), s->err);
}

static bool give_all(Saving *s)
{
    while (s->n > 0) {
        TRY(give_oldest(s));
    }
    return true;
}

static bool save_plane(Saving *s, int output, double most, int64_t plane)
{
    ExecGrid g;
    Elem elem;
    exec_output(s->exec, output, &g, &elem);
    size_t line = line_of(s->exec, output), pitch = exec_stored_pitch(s->exec, output);
    DevMem *mem = s->exec->mem[s->exec->program->outputs[output].buffer];
    int64_t step = (int64_t)staging_rows(line);
    for (int64_t row = 0; row < g.h; row += step) {
        const Piece p = {output, most, plane / g.d, plane % g.d, row, smaller(step, g.h - row)};
        const StagingRows from = {mem, (size_t)(plane * g.h + row) * pitch, pitch, line, (size_t)p.rows};
        TRY(!staging_is_full(s->exec->staging) || give_oldest(s));
        TRY(staging_fetch(s->exec->staging, &from, s->err));
        s->pieces[s->n++] = p;
    }
    return true;
}

static bool save_output(Saving *s, int output)
{
    const ProgOutput *of = &s->exec->program->outputs[output];
    const double *values;
    ExecGrid g;
    Elem elem;
    TRY(exec_values(s->exec, &values, s->err));
    exec_output(s->exec, output, &g, &elem);
    bool known = of->kind == OUT_LABELS && of->value >= 0;
    double most = known ? exec_largest_label(s->exec, output, values[of->value]) : (double)NAN;
    for (int64_t plane = 0; of->buffer >= 0 && plane < g.planes; plane++) {
        TRY(save_plane(s, output, most, plane));
    }
    return true;
}

bool exec_save(Exec *exec, const ExecStream *stream, Err *err)
{
    Saving s = {.exec = exec, .stream = stream, .err = err};
    bool ok = exec_stage(exec, err) && dev_follow(exec->dev, DEV_DOWNLOAD, DEV_COMPUTE, err);
    for (int i = 0; ok && i < exec->program->n_outputs; i++) {
        ok = save_output(&s, i);
    }
    ok = ok && give_all(&s);
    if (!ok && exec->staging) {
        staging_forget(exec->staging);
    }
    return ok;
}
