/*
 * exec_steps: the steps of a run in one piece.  Loops, counted or until a value keeps still from one round to the next,
 * are steps with others inside.
 *
 * Which round is the last one is decided on the device, by the kernel that ends each round (exec_carry.c).  The
 * host need not wait for that where it can run ahead: it enqueues a round while the one before is computed, and
 * only then looks at what that one said.  So one round too many may be enqueued, whose kernels find PROG_ENDED
 * and leave at once, and all memory is where it was before that round.  What is said goes to the host in a lane of
 * its own, so that the device does not wait either.
 *
 * It can on GPUs, where every step of a round is a generated kernel or a primitive that asks whether the rounds
 * are over, and carried images change places without being copied.
 */
#include "exec_carry.h"
#include "exec_state.h"

#include "../host/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A copy of what lies there already. */
static bool is_done(const Exec *exec, const ProgStep *step)
{
    if (!step->copies) {
        return false;
    }
    const int to = step->writes[0], from = step->reads[0].buffer;
    return exec->mem[to] == exec->planned[to] && exec->mem[from] == exec->planned[from] &&
           exec->plan->buffers[to].offset == exec->plan->buffers[from].offset;
}

static bool run_launch(Exec *exec, int s, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    if (is_done(exec, step)) {
        return true;
    }
    const size_t group[3] = {(size_t)exec->target.lx, 1, 1};
    const ExecRange all = {.to = exec->plan->steps[s].rows};
    const DevArg *args;
    TRY(exec_args(exec, s, &all, &args, err));
    return dev_launch(exec->dev, exec_built_kernel(exec->built, step->kernel), args, exec_n_args(step),
                      exec->plan->steps[s].groups, group, step->name, err);
}

static bool run_primitive(Exec *exec, int s, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    const ExecRange all = {0};
    const DevArg *args;
    PrimCall call;
    TRY(exec_args(exec, s, &all, &args, err));
    exec_plan_call(exec->plan, exec->dev, s, &call);
    exec_call(exec, s, args, &call, err);
    for (int i = 0; i < step->n_inputs; i++) {
        call.in[i].mem = step->inputs[i] >= 0 ? exec->mem[step->inputs[i]] : NULL;
    }
    for (int i = 0; i < step->n_writes; i++) {
        call.out[i].mem = exec->mem[step->writes[i]];
    }
    call.stop = exec->stop;
    call.stop_context = exec->stop_context;
    call.scratch = exec->scratch[s];
    call.scratch_size = (size_t)exec->plan->steps[s].scratch;
    return prim_find(step->primitive)->run(&call);
}

/* ---- loops ----------------------------------------------------------------------------- */

static bool runs_ahead(const Exec *exec, int s, int end)
{
    const Program *program = exec->program;
    bool ahead = exec_plan_runs_ahead(exec->plan, &exec->target) && program->steps[s].ended > 0 &&
                 exec_carry_exchanges(program, s, end);
    for (int k = s + 1; k < end && ahead; k++) {
        const ProgStep *step = &program->steps[k];
        ahead = step->kind == STEP_LAUNCH || (step->kind == STEP_PRIMITIVE && prim_find(step->primitive)->ahead);
    }
    return ahead;
}

static bool run_round(Exec *exec, int s, int end, int round, Err *err)
{
    const Program *program = exec->program;
    return exec_steps(exec, s + 1, end, err) && exec_carry_images(program, exec->dev, s, end, exec->mem, err) &&
           exec_carry_values(&program->steps[s], &program->steps[end], round, exec->dev, exec->values_mem,
                             &exec->ends[s], err);
}

static bool run_waiting(Exec *exec, int s, int end, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    double ended = 0;
    for (int round = 0; round < exec->plan->steps[s].rounds && ended != 1; round++) {
        TRY(run_round(exec, s, end, round, err));
        if (step->ended > 0) { /* after all else of the round: the host waits for it */
            TRY(dev_read(exec->dev, exec->values_mem, (size_t)step->ended * sizeof ended, &ended, sizeof ended, err));
        }
    }
    return true;
}

/* What the round's end says is on its way to the host. */
static bool ask(Exec *exec, int s, int round, DevMark **told, Err *err)
{
    int which = round % 2;
    size_t size = sizeof(double);
    size_t at = (size_t)(exec->program->steps[s].ended + PROG_TOLD + which) * size;
    TRY(dev_follow(exec->dev, DEV_DOWNLOAD, DEV_COMPUTE, err));
    return dev_fetch_rows(exec->dev, exec->values_mem, at, size, &exec->told[which], size, size, 1, &told[which], err);
}

static bool is_answered(Exec *exec, int round, DevMark **told, bool *ended, Err *err)
{
    int which = round % 2;
    bool ok = dev_reach(exec->dev, told[which], err);
    dev_mark_free(exec->dev, told[which]);
    told[which] = NULL;
    *ended = ok && exec->told[which] == 1;
    return ok;
}

/* kept: room for where every buffer is. */
static bool run_rounds(Exec *exec, int s, int end, DevMem **kept, DevMark **told, Err *err)
{
    size_t bytes = sizeof *kept * (size_t)exec->program->n_buffers;
    bool ended = false;
    for (int round = 0; round < exec->plan->steps[s].rounds && !ended; round++) {
        memcpy(kept, exec->mem, bytes);
        TRY(run_round(exec, s, end, round, err));
        TRY(ask(exec, s, round, told, err));
        TRY(round == 0 || is_answered(exec, round - 1, told, &ended, err));
    }
    if (ended) { /* with the round before the one that was enqueued last */
        memcpy(exec->mem, kept, bytes);
    }
    return true;
}

static bool run_ahead(Exec *exec, int s, int end, Err *err)
{
    DevMark *told[2] = {NULL, NULL};
    if (!exec->told) {
        void *at;
        TRY(dev_host_alloc(exec->dev, sizeof *exec->told * 2, &at, err));
        exec->told = at;
    }
    DevMem **kept = malloc(sizeof *kept * (size_t)exec->program->n_buffers + 1);
    bool ok = kept || err_set(err, CODE_MEMORY, "out of host memory for a loop");
    ok = ok && run_rounds(exec, s, end, kept, told, err);
    for (int i = 0; i < 2; i++) {
        dev_mark_free(exec->dev, told[i]);
    }
    free(kept);
    return ok;
}

static bool run_loop(Exec *exec, int s, Err *err)
{
    int end = exec->plan->steps[s].end;
    TRY(exec_carry_begin(&exec->program->steps[s], exec->dev, exec->values_mem, err));
    return runs_ahead(exec, s, end) ? run_ahead(exec, s, end, err) : run_waiting(exec, s, end, err);
}

/* ---- all ------------------------------------------------------------------------------- */

bool exec_steps(Exec *exec, int from, int to, Err *err)
{
    assert(from >= 0 && from <= to && to <= exec->program->n_steps);
    static bool (*const runs[])(Exec *, int, Err *) =
        {[STEP_LAUNCH] = run_launch, [STEP_PRIMITIVE] = run_primitive, [STEP_LOOP] = run_loop};
    for (int s = from; s < to; s++) {
        StepKind kind = exec->program->steps[s].kind;
        TRY(!exec_stopped(exec, err));
        status_step("step", s + 1, exec->program->n_steps, exec->program->steps[s].name, !exec->warm);
        TRY(runs[kind](exec, s, err));
        s = kind == STEP_LOOP ? exec->plan->steps[s].end : s;
    }
    return true;
}
