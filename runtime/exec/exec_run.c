/* exec_run: a run of what is bound: labels get places, steps run in one piece or in parts, tables get numbers. */
#include "exec_state.h"

#include "../host/status.h"
#include "parts_run.h"

#include <stdlib.h>
#include <string.h>

/* Takes a plane of an input from the device and gives it back with places, or adds its numbers (`places` false). */
static bool visit_plane(Exec *exec, int input, int64_t plane, bool places, uint32_t *rows, Err *err)
{
    int buffer = exec->program->inputs[input].buffer;
    const ExecGrid *g = &exec->plan->grids[exec->program->buffers[buffer].grid];
    size_t line = (size_t)g->w * sizeof *rows, pitch = (size_t)g->pitch * sizeof *rows, n = (size_t)g->w * (size_t)g->h;
    size_t at = (size_t)plane * (size_t)g->h * pitch;
    TRY(dev_read_rows(exec->dev, exec->planned[buffer], at, pitch, rows, line, line, (size_t)g->h, err));
    if (!places) {
        return label_ids_add(&exec->ids[input], rows, n, err);
    }
    label_ids_to_places(&exec->ids[input], rows, n);
    return dev_write_rows(exec->dev, exec->planned[buffer], at, pitch, rows, line, line, (size_t)g->h, err);
}

static bool give_input_places(Exec *exec, int input, Err *err)
{
    const ExecGrid *g = &exec->plan->grids[exec->program->buffers[exec->program->inputs[input].buffer].grid];
    uint32_t *rows = malloc((size_t)g->w * (size_t)g->h * sizeof *rows + 1);
    bool ok = rows != NULL || err_set(err, CODE_MEMORY, "out of host memory for rows of an image");
    for (int64_t i = 0; ok && i < 2 * (int64_t)g->planes; i++) {
        if (i == g->planes) {
            label_ids_sort(&exec->ids[input]);
            exec->counts[input] = (double)exec->ids[input].n;
        }
        ok = visit_plane(exec, input, i % g->planes, i >= g->planes, rows, err);
    }
    free(rows);
    return ok;
}

/* Inputs have come in with the numbers of their labels; few have any that are too large. */
static bool give_places(Exec *exec, Err *err)
{
    for (int i = 0; i < exec->program->n_inputs; i++) {
        InputIds ids = exec_plan_ids(exec->plan, i, exec->counts[i], err);
        TRY(ids != IDS_REFUSED && (ids == IDS_NUMBERS || give_input_places(exec, i, err)));
    }
    return true;
}

/* Gives tables the numbers of labels. */
static void number_tables(Exec *exec)
{
    for (int i = 0; i < exec->program->n_tables; i++) {
        const ProgTable *table = &exec->program->tables[i];
        PrimTable *of = &exec->tables[table->step];
        for (int column = 0; column < PROG_IDS_COLUMNS; column++) {
            const LabelIds *ids = table->ids[column] > 0 ? &exec->ids[table->ids[column] - 1] : NULL;
            for (int64_t row = 0; ids != NULL && ids->n > 0 && row < of->rows; row++) {
                double *at = &of->at[column * of->rows + row];
                *at = label_ids_number(ids, *at);
            }
        }
    }
}

static bool finish(Exec *exec, Err *err)
{
    TRY(dev_finish(exec->dev, err));
    status_say(STATUS_DEVICE, NULL);
    number_tables(exec);
    exec->ran = exec->warm = true;
    return true;
}

bool exec_run_parts(Exec *exec, const ExecStream *stream, Err *err)
{
    exec->values_known = exec->ran = false;
    TRY(parts_run(exec, stream, err));
    return finish(exec, err);
}

bool exec_run(Exec *exec, Err *err)
{
    const Program *program = exec->program;
    exec->values_known = exec->ran = false;
    memset(exec->narrowed, 0, sizeof *exec->narrowed * (size_t)program->n_outputs);
    memcpy(exec->mem, exec->planned, sizeof *exec->mem * (size_t)program->n_buffers);
    for (int i = 0; i < program->n_buffers; i++) {
        exec->place[i] = exec_place_all(exec->plan, i);
    }
    TRY(give_places(exec, err));
    TRY(exec_write_counts(exec, err));
    TRY(exec_steps(exec, 0, program->n_steps, err));
    return finish(exec, err);
}
