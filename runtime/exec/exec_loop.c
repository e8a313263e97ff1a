/*
 * exec_loop: loops of a run in one piece: counted ones, and those that end when a value keeps still from one
 * round to the next.
 *
 * Of these the host waits for every round, or runs ahead.  It can where a round computes whole-image values
 * alone.  Then a kernel at the end of each round sees whether it is the last one, and until it is keeps a copy
 * of all values.  The host enqueues a round while the one before is computed, and only then looks at what that
 * one's kernel said; so one round too many is enqueued, whose readers find the slot `ended` set and read
 * nothing.  What it makes of the values does not matter: the copy takes their place.
 */
#include "exec_loop.h"

#include "exec_carry.h"
#include "exec_state.h"

#include <math.h>

enum { NAN_WORD = -1 };

static bool is_watched(const ProgStep *step)
{
    return step->n_exprs > 0 && step->exprs[0] < 0 && step->value >= 0;
}

/* Nothing but values comes out of the step, and the host does not wait in it. */
static bool step_runs_ahead(const Exec *exec, int s)
{
    const ProgStep *step = &exec->program->steps[s];
    const ExecGrid *grid = &exec->plan->grids[step->grid];
    if (step->n_writes > 0) {
        return false;
    }
    return step->kind == STEP_PRIMITIVE ? prim_find(step->primitive)->ahead
                                        : step->kind == STEP_LAUNCH && grid->w == 1 &&
                                              grid->h == 1 && grid->planes == 1;
}

static bool runs_ahead(const Exec *exec, int s, int end)
{
    const ProgStep *loop = &exec->program->steps[s], *last = &exec->program->steps[end];
    bool ahead = is_watched(loop) && loop->ended > 0;
    for (int k = s + 1; k < end && ahead; k++) {
        ahead = step_runs_ahead(exec, k);
    }
    for (int i = 0; i < last->n_carries && ahead; i++) {
        ahead = last->carries[i].is_value;
    }
    return ahead;
}

bool exec_loop_begin(const Exec *exec, int s, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    return step->ended <= 0 || dev_fill(exec->dev, exec->values_mem,
                                        (size_t)step->ended * sizeof(double), sizeof(double), 0, err);
}

/* ---- waiting for every round --------------------------------------------------------------- */

static bool run_waiting(Exec *exec, int s, int end, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    bool watch = is_watched(step);
    double before = NAN, now = NAN;
    for (int round = 0; round < exec->plan->steps[s].rounds; round++) {
        TRY(exec_steps(exec, s + 1, end, err));
        TRY(exec_carry(exec->program, exec->dev, s, end, exec->mem, exec->values_mem, err));
        if (watch) { /* after all else of the round: the host waits for it */
            TRY(dev_read(exec->dev, exec->values_mem, (size_t)step->value * sizeof now, &now,
                         sizeof now, err));
        }
        if (watch && now == before) {
            break;
        }
        before = now;
    }
    return true;
}

/* ---- running ahead --------------------------------------------------------------------------- */

/* Where the copy of the values begins; behind it the value of the round before, and two flags. */
static size_t copy_at(const Exec *exec)
{
    return (size_t)exec->program->n_values + 1;
}

void exec_loop_forget(Exec *exec)
{
    for (int i = 0; i < 2; i++) {
        Err ignored = {0};
        (void)dev_reach(exec->dev, exec->told[i], &ignored);
        dev_mark_free(exec->dev, exec->told[i]);
        exec->told[i] = NULL;
    }
}

/* What the end of a round says is on its way to the host. */
static bool ask(Exec *exec, int which, Err *err)
{
    size_t at = (2 * copy_at(exec) + 1 + (size_t)which) * sizeof(double), size = sizeof(double);
    TRY(dev_follow(exec->dev, DEV_DOWNLOAD, DEV_COMPUTE, err));
    return dev_fetch_rows(exec->dev, exec->values_mem, at, size, &exec->ended[which], size, size, 1,
                          &exec->told[which], err);
}

static bool is_answered(Exec *exec, int which, bool *ended, Err *err)
{
    TRY(dev_reach(exec->dev, exec->told[which], err));
    dev_mark_free(exec->dev, exec->told[which]);
    exec->told[which] = NULL;
    *ended = exec->ended[which] != 0;
    return true;
}

static bool run_rounds(Exec *exec, int s, int end, Err *err)
{
    const ProgStep *step = &exec->program->steps[s];
    const ExecCarryEnd last = {.watched = step->value,
                               .ended = step->ended,
                               .n_values = exec->program->n_values,
                               .copy = (int)copy_at(exec)};
    bool ended = false;
    for (int round = 0; round < exec->plan->steps[s].rounds && !ended; round++) {
        int which = round % 2;
        TRY(exec_steps(exec, s + 1, end, err));
        TRY(exec_carry_ahead(&exec->program->steps[end], &last, which, exec->dev, exec->values_mem,
                             err));
        TRY(ask(exec, which, err));
        TRY(round == 0 || is_answered(exec, 1 - which, &ended, err));
    }
    return true;
}

static bool run_ahead(Exec *exec, int s, int end, Err *err)
{
    size_t copy = copy_at(exec) * sizeof(double);
    size_t bytes = (size_t)exec->program->n_values * sizeof(double);
    exec_loop_forget(exec);
    TRY(dev_fill(exec->dev, exec->values_mem, 2 * copy, sizeof(double), (uint32_t)NAN_WORD, err));
    TRY(run_rounds(exec, s, end, err));
    return exec->plan->steps[s].rounds <= 0 ||
           dev_copy(exec->dev, exec->values_mem, copy, exec->values_mem, 0, bytes, err);
}

bool exec_loop(Exec *exec, int s, Err *err)
{
    int end = exec->plan->steps[s].end;
    TRY(exec_loop_begin(exec, s, err));
    return runs_ahead(exec, s, end) ? run_ahead(exec, s, end, err) : run_waiting(exec, s, end, err);
}
