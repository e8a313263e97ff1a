/* parts: what segments, their tasks and their windows are, by the plan. */
#include "parts.h"

#include <stdlib.h>

const ExecGrid *parts_grid(const ExecPlan *plan, int step)
{
    return &plan->grids[plan->program->steps[step].grid];
}

bool parts_is_vector(const ExecPlan *plan, int buffer)
{
    return plan->program->buffers[buffer].grid < 0;
}

int parts_reads(const ExecPlan *plan, const PartsTask *task)
{
    const ProgStep *step = &plan->program->steps[task->step];
    const Primitive *p = step->kind == STEP_PRIMITIVE ? prim_find(step->primitive) : NULL;
    bool blind = p && p->reading > 0 && task->pass >= p->reading;
    return blind ? 0 : step->n_reads;
}

int parts_extent(const ExecGrid *grid, bool planes)
{
    return planes ? grid->d : grid->h;
}

bool parts_is_across(const PartsSegment *seg, const ExecGrid *grid)
{
    return seg->kind == PARTS_CUT && grid->has_z && !seg->planes;
}

bool parts_halo(const ExecPlan *plan, bool planes, const ProgRead *read, int *lo, int *hi, Err *err)
{
    const Program *program = plan->program;
    *lo = *hi = 0;
    if (read->below < 0) {
        return true;
    }
    bool across = plan->grids[program->buffers[read->buffer].grid].has_z && !planes;
    int below = across ? read->rows_below : read->below, above = across ? read->rows_above : read->above;
    TRY(host_eval_int(program, &plan->host, below, "a halo", lo, err));
    TRY(host_eval_int(program, &plan->host, above, "a halo", hi, err));
    *lo = abs(*lo);
    *hi = abs(*hi);
    return true;
}

void parts_call(const ExecPlan *plan, const PartsSegment *segment, const PartsTask *task, Device *dev, int from,
                int rows, int c, double labels, PrimCall *call)
{
    const ProgStep *step = &plan->program->steps[task->step];
    const ExecGrid *g = parts_grid(plan, task->step);
    exec_plan_call(plan, dev, task->step, call);
    call->labels = labels;
    if (segment->kind == PARTS_WHOLE) {
        return;
    }
    call->part = (PrimPart){.cut = true,
                            .across = parts_is_across(segment, g),
                            .y = segment->planes ? 0 : from,
                            .z = segment->planes ? from : 0,
                            .c = c,
                            .h = g->h,
                            .d = g->d,
                            .channels = g->c,
                            .rows = segment->planes ? g->h : segment->rows,
                            .planes = segment->planes ? segment->rows : g->d,
                            .number = from / segment->rows,
                            .parts = segment->parts,
                            .pass = task->pass,
                            .first = from == 0 && c == 0,
                            .last = from + rows >= segment->extent && c + 1 == g->c};
    call->h = segment->planes ? g->h : rows;
    call->d = call->planes = segment->planes ? rows : g->d;
    for (int i = 0; i < step->n_inputs + step->n_writes; i++) {
        bool in = i < step->n_inputs;
        PrimImage *image = in ? &call->in[i] : &call->out[i - step->n_inputs];
        int buffer = in ? step->inputs[i] : step->writes[i - step->n_inputs];
        if (buffer >= 0 && !parts_is_vector(plan, buffer)) {
            image->h = call->h;
            image->d = image->planes = call->d;
            image->length = (int64_t)image->planes * image->h * image->pitch;
        }
    }
}

int parts_box_pitch(int cols)
{
    return (cols + EXEC_PITCH - 1) / EXEC_PITCH * EXEC_PITCH;
}

uint64_t parts_box_bytes(const ExecPlan *plan, const PartsWindow *w)
{
    const ExecGrid *g = &plan->grids[plan->program->buffers[w->buffer].grid];
    return (uint64_t)parts_box_pitch(w->most[0]) * elem_size(plan->buffers[w->buffer].elem) * (uint64_t)w->most[1] *
           (uint64_t)w->most[2] * (uint64_t)g->c;
}
