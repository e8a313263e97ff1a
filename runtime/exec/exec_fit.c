/*
 * exec_fit: how a run fits into the device's memory: all buffers in one arena, with results in the places of what
 * dies; else in parts; and the least limit under which it does.
 */
#include "exec_fit.h"

#include "parts.h"
#include "plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the plan of a run");
}

/* ---- results onto what dies ---------------------------------------------------------------- */

/* Whose results take the place of images that die as they are made. */
typedef enum Overwriting {
    COPIES,     /* which then are none */
    PRIMITIVES, /* which do it at no cost */
    EVERYBODY,  /* kernels, too, whose compiler then knows less of what they read and write */
    OVERWRITINGS
} Overwriting;

static bool may_overwrite(const Program *program, int buffer, Overwriting who)
{
    bool may = who == EVERYBODY;
    for (int s = 0; s < program->n_steps; s++) {
        const ProgStep *step = &program->steps[s];
        const bool one = step->copies || (step->kind == STEP_PRIMITIVE && who == PRIMITIVES);
        for (int i = 0; one && i < step->n_writes; i++) {
            may = may || step->writes[i] == buffer;
        }
    }
    return may;
}

/* Each result that is as wide as what it may take the place of does; how many there are. */
static int find_onto(ExecPlan *plan, Overwriting who)
{
    int n = 0;
    for (int i = 0; i < plan->program->n_buffers; i++) {
        int onto = plan->program->buffers[i].onto;
        bool may = may_overwrite(plan->program, i, who);
        bool as_wide = may && onto >= 0 && plan->buffers[onto].bytes == plan->buffers[i].bytes;
        plan->buffers[i].onto = as_wide ? onto : -1;
        n += as_wide;
    }
    return n;
}

/* ---- one piece ----------------------------------------------------------------------------- */

/* The program's buffers, then the values, then every step's scratch; how many. */
static int list_arena(const ExecPlan *plan, PlanBuffer *list)
{
    const Program *program = plan->program;
    int n = 0;
    for (int i = 0; i < program->n_buffers; i++) {
        const ProgBuffer *b = &program->buffers[i];
        list[n++] = (PlanBuffer){plan->buffers[i].bytes, b->first, b->last, plan->buffers[i].onto, 0};
    }
    for (int i = 0; i < program->n_inputs; i++) { /* uploaded before the first step */
        if (program->inputs[i].buffer >= 0) {
            list[program->inputs[i].buffer].first = -1;
        }
    }
    uint64_t bytes = (uint64_t)(program->n_values + 1) * sizeof(double);
    list[n++] = (PlanBuffer){bytes, 0, program->n_steps, -1, 0};
    for (int s = 0; s < program->n_steps; s++) {
        int from = plan->steps[s].fed > 0 ? plan->steps[s].fed_from : s;
        list[n++] = (PlanBuffer){plan->steps[s].scratch, from, s, -1, 0};
    }
    return n;
}

static void take_arena(ExecPlan *plan, const PlanBuffer *list, PlanResult result)
{
    int n = plan->program->n_buffers;
    for (int i = 0; i < n; i++) {
        plan->buffers[i].offset = list[i].offset;
        plan->buffers[i].onto = list[i].onto;
    }
    for (int s = 0; s < plan->program->n_steps; s++) {
        plan->steps[s].scratch_at = list[n + 1 + s].offset;
    }
    plan->values_at = list[n].offset;
    plan->peak = result.peak;
    plan->load = result.load;
}

/* Results are written onto what dies there if that makes the peak smaller, copies always; those of kernels only where the
 * run does not fit otherwise, for kernels are faster where no image is both read and written. */
static bool in_one_piece(ExecPlan *plan, const ExecTarget *target, Err *err)
{
    size_t most = (size_t)plan->program->n_buffers + 1 + (size_t)plan->program->n_steps;
    PlanBuffer *both = calloc(most * 2, sizeof *both), *taken = both, *tried = both + most;
    PlanResult best = {.peak = UINT64_MAX};
    bool ok = both != NULL || no_memory(err);
    plan->least = UINT64_MAX;
    for (int who = COPIES, before = -1; ok && who < OVERWRITINGS; who++) {
        PlanResult result = {0};
        int n = find_onto(plan, (Overwriting)who);
        if (n == before) {
            continue;
        }
        before = n;
        ok = plan_pack(tried, list_arena(plan, tried), target->alignment, target->max_alloc, &result, err);
        bool short_of = target->limit > 0 && best.peak > exec_limit_usable(plan, target, target->limit);
        if (ok && result.peak < best.peak && (who != EVERYBODY || short_of)) {
            PlanBuffer *list = taken;
            taken = tried;
            tried = list;
            best = result;
        }
        plan->least = ok && result.peak < plan->least ? result.peak : plan->least;
    }
    if (ok) {
        take_arena(plan, taken, best);
    }
    free(both);
    return ok;
}

/* ---- parts, and the least limit ------------------------------------------------------------ */

/* What a plan in parts leaves for the values, which come behind everything else. */
static uint64_t room_for_values(const ExecPlan *plan, const ExecTarget *target)
{
    uint64_t values = (uint64_t)(plan->program->n_values + 1) * sizeof(double);
    return values + target->alignment + (target->max_alloc ? values : 0);
}

static bool plan_parts(ExecPlan *plan, const ExecTarget *target, uint64_t limit, Err *err)
{
    uint64_t room = room_for_values(plan, target), own = exec_limit_usable(plan, target, limit);
    (void)find_onto(plan, EVERYBODY);
    if (own <= room) {
        return err_set(err, CODE_MEMORY, "no run fits into %" PRIu64 " bytes", limit);
    }
    TRY(parts_plan_new(plan, target, own - room, &plan->parts, err));
    plan->parts->beside = room;
    plan->parts->pinnable = exec_limit_pinnable(limit, own);
    return true;
}

/* Whether it runs in so much memory; `whole`: bytes of a run in one piece. */
static bool would_do(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t limit)
{
    Err ignored = {0};
    bool one = exec_limit_usable(plan, target, limit) >= whole,
         parts = !one && plan_parts(plan, target, limit, &ignored);
    parts_plan_free(plan->parts);
    plan->parts = NULL;
    return one || parts;
}

/* The same, quickly: what is said not to do does not. */
static bool might_do(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t limit)
{
    uint64_t room = room_for_values(plan, target), own = exec_limit_usable(plan, target, limit);
    return own >= whole || (own > room && parts_may_fit(plan, target, own - room));
}

typedef bool Question(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t limit);

/* The smallest limit from `low` on that will do, to the byte; 0: there is none. */
static uint64_t smallest(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t low, Question *does)
{
    enum { FIRST_STEP = 1 << 12, MOST = 60 };
    uint64_t high = low, step = FIRST_STEP;
    if (does(plan, target, whole, low)) {
        return low;
    }
    while (high < (uint64_t)1 << MOST && !does(plan, target, whole, high + step)) {
        high += step;
        step *= 2;
    }
    low = high;
    high += step;
    if (high >= (uint64_t)1 << MOST) {
        return 0;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (does(plan, target, whole, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* The smallest limit that will do; 0: there is none, or it is not for want of device memory that the plan has
 * failed. */
static uint64_t least_limit(ExecPlan *plan, const ExecTarget *target, uint64_t whole)
{
    (void)find_onto(plan, EVERYBODY);
    uint64_t low = smallest(plan, target, whole, target->limit, might_do);
    uint64_t least = low > 0 ? smallest(plan, target, whole, low, would_do) : 0;
    return least > target->limit ? least : 0;
}

/* Says the least limit, and which image asks for most of that, where it is one that may be read anywhere. */
static void refuse(ExecPlan *plan, const ExecTarget *target, uint64_t least, Err *err)
{
    const Program *p = plan->program;
    char because[300] = "";
    Err ignored = {0};
    PartsAnywhere read = {.bytes = 0};
    if (plan_parts(plan, target, least, &ignored)) {
        read = parts_read_anywhere(plan, plan->parts);
    }
    if (read.bytes > least / 2) {
        snprintf(because, sizeof because,
                 ": '%s' (line %s) may read any %s of '%s', so that %.3f MiB of it have to be there at once",
                 p->steps[read.step].name, p->steps[read.step].lines, read.planes ? "plane" : "row",
                 p->buffers[read.buffer].name, (double)read.bytes / 0x1p20);
    }
    parts_plan_free(plan->parts);
    plan->parts = NULL;
    err_clear(err);
    char limit[32];
    snprintf(limit, sizeof limit, target->limit < 1 << 20 ? "%.0f bytes" : "%.3f MiB",
             (double)target->limit / (target->limit < 1 << 20 ? 1 : 0x1p20));
    err_set(err, CODE_MEMORY,
            "the pipeline does not run in %s of device memory, not even when the image is "
            "cut into parts; the least that will do is --memory %" PRIu64 " (%.3f MiB)%s",
            limit, least, (double)least / 0x1p20, because);
}

void exec_fit_place_values(ExecPlan *plan, const ExecTarget *target)
{
    uint64_t values = (uint64_t)(plan->program->n_values + 1) * sizeof(double);
    uint64_t at = (plan->parts->peak + target->alignment - 1) / target->alignment * target->alignment;
    if (target->max_alloc && at / target->max_alloc != (at + values - 1) / target->max_alloc) {
        at = (at / target->max_alloc + 1) * target->max_alloc;
    }
    plan->values_at = at;
    plan->peak = plan->load = at + values;
}

/* Primitives count pixels in 32 bits, and see no more at a time. */
static bool can_count(const ExecPlan *plan)
{
    bool can = true;
    for (int s = 0; s < plan->program->n_steps; s++) {
        const ProgStep *step = &plan->program->steps[s];
        const ExecGrid *g = step->kind == STEP_PRIMITIVE && step->grid >= 0 ? &plan->grids[step->grid] : NULL;
        can = can && (g == NULL || (double)g->w * g->h * g->planes <= UINT32_MAX);
    }
    return can;
}

bool exec_fit(ExecPlan *plan, const ExecTarget *target, uint64_t *least, Err *err)
{
    Err one = {0};
    bool fits = in_one_piece(plan, target, &one);
    if (!fits && (one.code != CODE_MEMORY || target->limit == 0)) {
        *err = one;
        return false;
    }
    bool shared = target->owners > 1,
         forced = target->part_rows > 0 || shared || (target->limit > 0 && !can_count(plan));
    if (fits && !forced && (target->limit == 0 || plan->peak <= exec_limit_usable(plan, target, target->limit))) {
        return true;
    }
    if (!plan_parts(plan, target, target->limit, err)) {
        if (fits && shared) { /* the first owner does it alone */
            err_clear(err);
            return in_one_piece(plan, target, err);
        }
        uint64_t whole = fits && !forced ? plan->peak : UINT64_MAX;
        if (least && err->code == CODE_MEMORY) {
            *least = least_limit(plan, target, whole);
        }
        if (least && *least > 0) {
            refuse(plan, target, *least, err);
        }
        return false;
    }
    exec_fit_place_values(plan, target);
    return true;
}

uint64_t exec_fit_least(ExecPlan *plan, const ExecTarget *target)
{
    Err ignored = {0};
    bool fits = in_one_piece(plan, target, &ignored) && target->part_rows == 0 && can_count(plan);
    return least_limit(plan, target, fits ? plan->peak : UINT64_MAX);
}
