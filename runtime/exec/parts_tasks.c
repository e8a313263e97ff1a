/* parts_tasks: a launch or a primitive on one part. */
#include "parts_state.h"

#include "../host/status.h"

#include <math.h>
#include <string.h>

static size_t divided_up(int64_t a, int64_t b)
{
    return (size_t)((a + b - 1) / b);
}

/* Its stream goes along the part's rows (planes), or all the way, beside those of the part. */
static bool run_launch(Segment *seg, const PartsTask *task)
{
    Run *run = seg->run;
    const ProgStep *step = &run->program->steps[task->step];
    const ExecStep *planned = &run->plan->steps[task->step];
    const ExecGrid *g = &run->plan->grids[step->grid];
    const int end = seg->at + seg->rows + task->hi;
    const int from = seg->at > task->lo ? seg->at - task->lo : 0;
    const int to = end < seg->plan->extent ? end : seg->plan->extent;
    ExecRange range = {.from = from, .to = to};
    bool beside = seg->plan->kind == PARTS_CUT && seg->plan->planes != step->stream_z;
    size_t groups[3] = {planned->groups[0], divided_up(to - from, planned->strip), planned->groups[2]};
    if (seg->plan->kind == PARTS_WHOLE) {
        range = (ExecRange){.to = planned->rows};
        memcpy(groups, planned->groups, sizeof groups);
    } else if (beside) {
        range = (ExecRange){.to = planned->rows, .plane_from = from};
        groups[1] = planned->groups[1];
        groups[2] = (size_t)(to - from);
    }
    range.wanted = seg->scratch[task - seg->plan->tasks];
    range.slab = seg->slab;
    if (seg->plan->cols > 0) {
        range.cols_from = seg->col;
        groups[0] = divided_up(seg->cols, run->exec->target.lx * run->exec->target.px);
    }
    const DevArg *args;
    const size_t group[3] = {(size_t)run->exec->target.lx, 1, 1};
    for (int c = 0; c < (beside ? g->c : 1); c++) { /* planes of each channel lie apart */
        range.plane_from = beside ? c * (step->stream_z ? g->h : g->d) + from : 0;
        TRY(exec_args(run->exec, task->step, &range, &args, run->err));
        TRY(dev_launch(run->exec->dev, exec_built_kernel(run->exec->built, step->kernel), args, exec_n_args(step),
                       groups, group, step->name, run->err));
    }
    return true;
}

static int window_number(const Segment *seg, int buffer)
{
    int i = 0;
    while (seg->plan->windows[i].buffer != buffer) {
        i++;
    }
    return i;
}

/* A primitive's image on the part of channel c; *slice is to be freed. */
static bool give_image(Segment *seg, int buffer, int c, PrimImage *image, DevMem **slice)
{
    Run *run = seg->run;
    int i = window_number(seg, buffer), from, to;
    const PartsWindow *w = &seg->plan->windows[i];
    *slice = NULL;
    image->mem = seg->mem[i];
    if (parts_is_vector(run->plan, buffer)) {
        image->length = (int64_t)(w->bytes / elem_size(image->elem));
        image->w = image->pitch = image->length < INT32_MAX ? (int)image->length : INT32_MAX;
        return true;
    }
    if (seg->plan->kind == PARTS_WHOLE) {
        return true;
    }
    const ExecGrid *g = parts_grid_of(run, buffer);
    bool across = parts_is_across(seg->plan, g);
    int64_t lines = parts_lines_of(seg, buffer);
    if (w->whole || parts_resident(seg, i) != NULL) {
        image->before = (size_t)((int64_t)c * g->d * g->h + seg->at * lines);
        image->h = across ? g->h : image->h;
        return true;
    }
    parts_window_rows(seg, w, &from, &to);
    image->before = (size_t)((seg->at - from) * lines);
    image->h = across ? to - from : image->h;
    if (c == 0) {
        return true;
    }
    size_t rows = across ? (size_t)(to - from) * (size_t)w->planes : (size_t)w->rows * (size_t)lines;
    size_t channel = rows * parts_pitch_of(run, buffer);
    TRY(dev_slice(run->exec->dev, seg->mem[i], (size_t)c * channel, channel, slice, run->err));
    image->mem = *slice;
    return true;
}

static bool call_primitive(Segment *seg, int t, int c)
{
    Run *run = seg->run;
    const PartsTask *task = &seg->plan->tasks[t];
    const ProgStep *step = &run->program->steps[task->step];
    bool whole = seg->plan->kind == PARTS_WHOLE;
    ExecRange range = {0};
    if (!whole) {
        range.part_y = seg->plan->planes ? 0 : seg->at;
        const ExecGrid *g = &run->plan->grids[step->grid];
        range.part_plane = c * g->d + (seg->plan->planes ? seg->at : 0);
    }
    const DevArg *args;
    DevMem *slices[NODE_INPUTS + 8] = {NULL};
    PrimCall call;
    double labels = step->of_value >= 0 ? run->labels[step->of_value] : (double)NAN;
    TRY(exec_args(run->exec, task->step, &range, &args, run->err));
    parts_call(run->plan, seg->plan, task, run->exec->dev, seg->at, seg->rows, c, labels, &call);
    exec_call(run->exec, task->step, args, &call, run->err);
    if (seg->shared) {
        call.owners = run->owners;
        call.part.first = seg->at == seg->from && c == 0;
        call.part.last = seg->at + seg->rows >= seg->to && c + 1 == call.part.channels;
    }
    call.scratch = seg->scratch[t];
    call.scratch_size = (size_t)seg->plan->scratch[t];
    call.state = &run->state[task->step];
    call.note = &run->notes[task->step];
    call.room = run->parts->room;
    call.limit = run->parts->limit;
    call.certain = !isnan(labels);
    call.budget = &run->pixels.budget;
    call.stop = run->exec->stop;
    call.stop_context = run->exec->stop_context;
    bool ok = true, reads = parts_reads(run->plan, task) > 0;
    int n = 0;
    for (int i = 0; ok && reads && i < step->n_inputs; i++) {
        ok = step->inputs[i] < 0 || give_image(seg, step->inputs[i], c, &call.in[i], &slices[n++]);
    }
    for (int i = 0; ok && i < step->n_writes; i++) {
        ok = give_image(seg, step->writes[i], c, &call.out[i], &slices[n++]);
    }
    ok = ok && prim_find(step->primitive)->run(&call);
    run->done[task->step] = call.done;
    while (n > 0) {
        dev_free(run->exec->dev, slices[--n]);
    }
    return ok;
}

bool parts_run_task(Segment *seg, int t)
{
    const PartsTask *task = &seg->plan->tasks[t];
    const Program *program = seg->run->program;
    const ProgStep *step = &program->steps[task->step];
    status_step("step", task->step + 1, program->n_steps, step->name, !seg->run->exec->warm);
    if (step->kind == STEP_LAUNCH) {
        return run_launch(seg, task);
    }
    if (seg->run->done[task->step]) {
        return true;
    }
    int channels = seg->plan->kind == PARTS_WHOLE ? 1 : seg->run->plan->grids[step->grid].c;
    for (int c = 0; c < channels; c++) {
        TRY(call_primitive(seg, t, c));
    }
    return true;
}
