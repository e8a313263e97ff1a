/* exec_args: what a step's kernel, or a primitive's reader, is given. */
#include "exec_state.h"

#include <string.h>

/* Where the reduction that has these values keeps its partial results. */
static DevMem *partials_of(const Exec *exec, int value)
{
    return exec->scratch[exec_plan_reduction(exec->program, value)];
}

ExecPlace exec_place_all(const ExecPlan *plan, int buffer)
{
    int grid = plan->program->buffers[buffer].grid;
    const ExecGrid *g = grid >= 0 ? &plan->grids[grid] : NULL;
    return g ? (ExecPlace){.rows = g->h, .planes = g->d, .pitch = g->pitch, .end = g->has_z ? g->d : g->h}
             : (ExecPlace){0};
}

static DevArg arg_of(const Exec *exec, int s, int i, const ExecRange *range)
{
    const ProgArg *arg = &exec->program->steps[s].args[i];
    const ExecStep *step = &exec->plan->steps[s];
    const ExecGrid *g;
    switch (arg->kind) {
    case ARG_BUFFER:
        return dev_mem(exec->mem[arg->a]);
    case ARG_ROW0:
        return dev_long(exec->place[arg->a].row0);
    case ARG_ROWS:
        return dev_int(exec->place[arg->a].rows);
    case ARG_PLANES:
        return dev_int(exec->place[arg->a].planes);
    case ARG_PITCH:
        return dev_int(exec->place[arg->a].pitch);
    case ARG_COL0:
        return dev_int(exec->place[arg->a].col0);
    case ARG_FIRST:
        return dev_int(exec->place[arg->a].first);
    case ARG_END:
        return dev_int(exec->place[arg->a].end);
    case ARG_WANTED_SLABS:
        return dev_mem(range->wanted);
    case ARG_SLAB:
        return dev_int(range->slab);
    case ARG_SEAM:
        return dev_int(exec->place[arg->a].seam[arg->b]);
    case ARG_EXTENT:
        g = &exec->plan->grids[arg->a];
        return dev_int(((const int[]){g->w, g->h, g->d, g->planes, g->pitch})[arg->b]);
    case ARG_VALUES:
        return dev_mem(exec->values_mem);
    case ARG_HOST_INT:
        return dev_int(step->values[i]);
    case ARG_HOST_UINT:
        return dev_uint(step->values[i]);
    case ARG_HOST_FLOAT:
        return dev_float(step->values[i]);
    case ARG_HOST_DOUBLE:
        return dev_double(step->values[i]);
    case ARG_ROWS_FROM:
        return dev_int(range->from);
    case ARG_ROWS_TO:
        return dev_int(range->to);
    case ARG_PLANE_FROM:
        return dev_int(range->plane_from);
    case ARG_COLS_FROM:
        return dev_int(range->cols_from);
    case ARG_PART_Y:
        return dev_int(range->part_y);
    case ARG_PART_PLANE:
        return dev_int(range->part_plane);
    case ARG_STRIP:
        return dev_int(step->strip);
    case ARG_PARTIALS:
        return dev_mem(partials_of(exec, arg->a));
    }
    return dev_int(0);
}

static uint64_t bits_of(const DevArg *arg)
{
    static const size_t SIZES[] =
        {[DEV_INT] = sizeof arg->i,    [DEV_UINT] = sizeof arg->u,  [DEV_LONG] = sizeof arg->l,
         [DEV_ULONG] = sizeof arg->ul, [DEV_FLOAT] = sizeof arg->f, [DEV_DOUBLE] = sizeof arg->d};
    uint64_t bits = 0;
    memcpy(&bits, &arg->i, SIZES[arg->kind]);
    return bits;
}

/* Numbers change with the image, or with its parts; what is there already is not written again. */
static bool write_packed(Exec *exec, int s, const DevArg *args, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    uint64_t *there = exec->packed + step->packed_at;
    bool same = exec->packed_there[s] || step->n_packed == 0;
    exec->packed_there[s] = true;
    for (int i = 0; i < step->n_packed; i++) {
        uint64_t bits = bits_of(&args[i]);
        same = same && there[i] == bits;
        there[i] = bits;
    }
    return same || dev_write(exec->dev, exec->values_mem, (size_t)step->packed_at * sizeof *there, there,
                             (size_t)step->n_packed * sizeof *there, err);
}

int exec_n_args(const ProgStep *step)
{
    return step->n_args - step->n_packed;
}

bool exec_args(Exec *exec, int s, const ExecRange *range, const DevArg **args, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    for (int i = 0; i < step->n_args; i++) {
        exec->args[i] = arg_of(exec, s, i, range);
    }
    *args = exec->args;
    return write_packed(exec, s, exec->args + exec_n_args(step), err);
}

/* The table that a primitive fills.  A fresh one keeps its memory. */
static PrimTable *table_of(Exec *exec, int s, bool fresh)
{
    if (fresh) {
        exec->tables[s].rows = 0;
    }
    return &exec->tables[s];
}

/* The slot that says whether the rounds of the loop around a step are over; 0: there is none, or nobody asks. */
static int ended_slot(const Exec *exec, int s)
{
    const ProgStep *steps = exec->program->steps;
    int depth = exec_plan_runs_ahead(exec->plan, &exec->target) ? 0 : s;
    while (s > 0 && depth >= 0) {
        s--;
        depth += (steps[s].kind == STEP_END) - (steps[s].kind == STEP_LOOP);
    }
    return depth < 0 ? steps[s].ended + PROG_ENDED : 0;
}

void exec_call(Exec *exec, int s, const DevArg *args, PrimCall *call, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    call->reader = step->kernel >= 0 ? exec_built_reader(exec->built, step->kernel) : NULL;
    call->reader_args = args;
    call->n_reader_args = exec_n_args(step);
    call->values = exec->values_mem;
    call->ended = ended_slot(exec, s);
    call->programs = &exec->programs[s];
    if (step->ids > 0 && exec->ids[step->ids - 1].n > 0) {
        call->numbers = exec->ids[step->ids - 1].at;
        call->n_numbers = exec->ids[step->ids - 1].n;
    }
    call->table = table_of(exec, s, call->part.pass == 0 && (!call->part.cut || call->part.first));
    call->err = err;
}
