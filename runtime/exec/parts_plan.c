/*
 * parts_plan: cuts a program into segments (parts.h) and each segment into parts.
 *
 * Sinks are taken in the program's order.  Each is added to the segment under way together with the
 * launches that lead to it, unless it needs what that segment only has when it is done: a value, a
 * vector, a whole image, rows around a part that a primitive makes, another pass of the same
 * primitive; then the segment is closed and the sink begins the next one.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 64, /* of accumulated halo that are computed again rather than kept */
    MOST_PLANES = 8
};

/* A way to cut. */
typedef struct Way {
    bool again;  /* launches may be computed again with rows around parts */
    bool alone;  /* launches that read boxes are segments of their own, which may be tiles */
    bool across; /* volumes are cut across their planes, where that can be */
    bool single; /* every sink is a segment of its own: fewer buffers at a time, more reading */
} Way;

typedef struct Cutter {
    const ExecPlan *plan;
    const ExecTarget *target;
    const Program *program;
    PartsPlan *parts;
    int *level;  /* by step: the loop that it is in; -1 none */
    bool *apart; /* by buffer: rows around parts have grown so wide that it is read in another
                         segment than it is made in */
    Way way;
    bool *due;        /* by buffer: kept, or given to outputs, by the first segment that makes it: not yet planned */
    int *lo, *hi;     /* by buffer: rows around it that its makers read of kept buffers */
    PartsSegment now; /* under way */
    bool open;
    Err *err;
} Cutter;

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the plan of a run in parts");
}

static bool reads_whole(const ProgRead *read)
{
    return read->below < 0 || read->above < 0;
}

static bool uses_values(const ProgStep *step)
{
    return step->of_value >= 0 || step->n_uses > 0;
}

/* The first slot of another step behind those of `step`. */
static int slots_end(const Program *program, const ProgStep *step)
{
    int end = program->n_values;
    for (int i = 0; i < program->n_steps; i++) {
        int other = program->steps[i].value;
        end = other > step->value && other < end ? other : end;
    }
    return end;
}

static bool uses_values_of(const Program *program, const ProgStep *step, const ProgStep *finder)
{
    int end = slots_end(program, finder);
    bool uses = step->of_value >= finder->value && step->of_value < end;
    for (int i = 0; i < step->n_uses; i++) {
        uses = uses || (step->uses[i] >= finder->value && step->uses[i] < end);
    }
    return uses;
}

/* Passes over parts; 0: the step needs the whole image, or has none.  Across planes: where it cannot be cut so. */
static int passes_as(const Cutter *c, int s, bool across)
{
    const ProgStep *step = &c->program->steps[s];
    if (step->kind == STEP_LAUNCH) {
        return step->n_writes > 0 ? 1 : 0;
    }
    const Primitive *primitive = prim_find(step->primitive);
    if (!primitive || !primitive->passes) {
        return 0;
    }
    PrimCall call;
    Err ignored = {0};
    exec_plan_call(c->plan, c->target->dev, s, &call);
    call.part = prim_part(&call);
    call.part.cut = true;
    call.part.across = across;
    call.err = &ignored;
    return primitive->passes(&call);
}

/* The step goes over planes where its grid has them: it cannot be cut across, or need not. */
static bool takes_planes(const Cutter *c, int s)
{
    return parts_grid(c->plan, s)->has_z && !(c->way.across && passes_as(c, s, true) > 0);
}

static int passes_of(const Cutter *c, int s)
{
    return passes_as(c, s, parts_grid(c->plan, s)->has_z && !takes_planes(c, s));
}

/* ---- what is kept ---------------------------------------------------------------------- */

static bool loop_between(const Program *program, int from, int to)
{
    for (int s = from; s < to; s++) {
        if (program->steps[s].kind == STEP_LOOP) {
            return true;
        }
    }
    return false;
}

static void find_levels(Cutter *c)
{
    int level = -1;
    for (int s = 0; s < c->program->n_steps; s++) {
        if (c->program->steps[s].kind == STEP_END) {
            const int loop = level;
            level = c->level[loop];
            c->level[s] = loop;
            continue;
        }
        c->level[s] = level;
        level = c->program->steps[s].kind == STEP_LOOP ? s : level;
    }
}

static void find_makers(Cutter *c)
{
    const Program *program = c->program;
    for (int i = 0; i < program->n_buffers; i++) {
        c->parts->maker[i] = c->parts->input[i] = c->parts->last_use[i] = -1;
    }
    for (int i = 0; i < program->n_inputs; i++) {
        if (program->inputs[i].buffer >= 0) {
            c->parts->input[program->inputs[i].buffer] = i;
        }
    }
    for (int s = program->n_steps - 1; s >= 0; s--) {
        for (int i = 0; i < program->steps[s].n_writes; i++) {
            c->parts->maker[program->steps[s].writes[i]] = s;
        }
        for (int i = 0; program->steps[s].kind == STEP_END && i < program->steps[s].n_carries; i++) {
            const ProgCarry *carry = &program->steps[s].carries[i];
            if (!carry->is_value) {
                c->parts->kept[carry->carry] = c->parts->kept[carry->next] = true;
            }
        }
    }
    for (int i = 0; i < program->n_outputs; i++) {
        int b = program->outputs[i].buffer, maker = b >= 0 ? c->parts->maker[b] : -1;
        bool late = maker >= 0 && (c->level[maker] >= 0 || c->parts->kept[b]);
        if (maker >= 0) {
            c->parts->given[b] = !late;
            c->parts->kept[b] = late;
        }
    }
}

static bool reads_box(const ProgStep *step)
{
    bool reads = false;
    for (int i = 0; step->kind == STEP_LAUNCH && i < step->n_reads; i++) {
        reads = reads || parts_reads_box(&step->reads[i]);
    }
    return reads;
}

/* It is a segment of its own. */
static bool is_alone(const Cutter *c, const ProgStep *step)
{
    bool rounds = false;
    for (int i = 0; i < step->n_reads; i++) {
        rounds = rounds || step->reads[i].in_rounds;
    }
    return rounds || (c->way.alone && reads_box(step));
}

/* Whether what step s reads has to be there as pixels rather than be computed again. */
static bool must_be_kept(const Cutter *c, int s, const ProgRead *read)
{
    int maker = c->parts->maker[read->buffer];
    if (maker < 0) {
        return false;
    }
    const ProgStep *from = &c->program->steps[maker];
    return from->kind == STEP_PRIMITIVE || c->level[maker] != c->level[s] || reads_whole(read) ||
           passes_of(c, s) == 0 || is_alone(c, &c->program->steps[s]) ||
           (uses_values(from) && loop_between(c->program, maker, s));
}

/* Follows the halos through the launches; where they have grown too wide, what is read is kept. */
static bool follow_halos(Cutter *c, int s)
{
    const ProgStep *step = &c->program->steps[s];
    bool *kept = c->parts->kept;
    bool planes = step->grid >= 0 && takes_planes(c, s);
    int most = planes ? MOST_PLANES : MOST_ROWS;
    most = c->way.again ? most : 0;
    int lo = 0, hi = 0;
    for (int i = 0; i < step->n_reads; i++) {
        const ProgRead *read = &step->reads[i];
        int b = read->buffer, below, above;
        TRY(parts_halo(c->plan, planes, read, &below, &above, c->err));
        kept[b] = kept[b] || must_be_kept(c, s, read);
        bool again = c->parts->maker[b] >= 0 && !kept[b];
        if (again && c->lo[b] + c->hi[b] > 0 && below + above > 0 && c->lo[b] + c->hi[b] + below + above > most) {
            kept[b] = c->apart[b] = true;
            again = false;
        }
        below += again ? c->lo[b] : 0;
        above += again ? c->hi[b] : 0;
        lo = below > lo ? below : lo;
        hi = above > hi ? above : hi;
    }
    for (int i = 0; i < step->n_writes; i++) {
        c->lo[step->writes[i]] = lo;
        c->hi[step->writes[i]] = hi;
        kept[step->writes[i]] = kept[step->writes[i]] || is_alone(c, step);
    }
    return true;
}

/* What a step reads of one launch is there in one way: where some of it has to be there whole before
 * the step begins, so is the rest. */
static void keep_together(Cutter *c, const ProgStep *step)
{
    for (int i = 0; i < step->n_reads; i++) {
        int maker = c->parts->maker[step->reads[i].buffer];
        for (int k = 0; k < step->n_reads && reads_whole(&step->reads[i]); k++) {
            int other = step->reads[k].buffer;
            c->parts->kept[other] = c->parts->kept[other] || (maker >= 0 && c->parts->maker[other] == maker);
        }
    }
}

/* Across planes a primitive without a halo is given the part's rows alone: none of its images may be computed
 * with rows around the part of another one. */
static void keep_exact(Cutter *c, int s)
{
    const ProgStep *step = &c->program->steps[s];
    bool across = parts_grid(c->plan, s)->has_z && !takes_planes(c, s);
    int images = 0;
    for (int i = 0; i < step->n_inputs; i++) {
        images += step->inputs[i] >= 0 && !parts_is_vector(c->plan, step->inputs[i]);
    }
    for (int i = 0; i < step->n_inputs && across && images > 1 && prim_find(step->primitive)->halo == NULL; i++) {
        int b = step->inputs[i];
        bool made = b >= 0 && c->parts->maker[b] >= 0;
        c->parts->kept[b] = c->parts->kept[b] || (made && c->lo[b] + c->hi[b] > 0);
    }
}

/* And all that a launch makes is read in other segments when some of it is. */
static void part_together(Cutter *c, const ProgStep *step)
{
    bool apart = false;
    for (int i = 0; i < step->n_writes; i++) {
        apart = apart || c->apart[step->writes[i]];
    }
    for (int i = 0; i < step->n_writes && apart; i++) {
        c->parts->kept[step->writes[i]] = c->apart[step->writes[i]] = true;
    }
}

static bool find_kept(Cutter *c)
{
    find_levels(c);
    find_makers(c);
    for (int s = 0; s < c->program->n_steps; s++) {
        StepKind kind = c->program->steps[s].kind;
        if (kind == STEP_LAUNCH || kind == STEP_PRIMITIVE) {
            TRY(follow_halos(c, s));
            keep_together(c, &c->program->steps[s]);
        }
        if (kind == STEP_PRIMITIVE) {
            keep_exact(c, s);
        }
    }
    for (int s = 0; s < c->program->n_steps; s++) {
        part_together(c, &c->program->steps[s]);
    }
    return true;
}

/* ---- tasks ----------------------------------------------------------------------------- */

/* What makes labels knows their number before its last pass; values alone come with the last. */
static bool finds_values(const ProgStep *step, const PartsTask *task)
{
    bool labels = step->n_writes > 0 && task->pass > 0 && task->last_pass;
    return step->kind == STEP_PRIMITIVE && step->value >= 0 && !labels;
}

/* Some task wants values while an earlier one is still about to find some. */
static bool values_come_late(const Cutter *c)
{
    bool late = false;
    for (int i = 0; i < c->now.n_tasks; i++) {
        const ProgStep *step = &c->program->steps[c->now.tasks[i].step];
        for (int k = 0; k < i; k++) {
            const ProgStep *finder = &c->program->steps[c->now.tasks[k].step];
            late = late || (finds_values(finder, &c->now.tasks[k]) && uses_values_of(c->program, step, finder));
        }
    }
    return late;
}

/* Some task wants of another one what is only there when the segment is done; a launch that was taken
 * for one of the images that it makes may make that, too. */
static bool images_come_late(const Cutter *c)
{
    bool late = false;
    for (int i = 0; i < c->now.n_tasks; i++) {
        const ProgStep *step = &c->program->steps[c->now.tasks[i].step];
        for (int k = 0; k < step->n_reads; k++) {
            int b = step->reads[k].buffer, maker = c->parts->maker[b];
            bool here = maker >= 0 && maker < c->now.tasks[i].step && parts_task(&c->now, maker) >= 0;
            late = late || (here && (reads_whole(&step->reads[k]) || c->apart[b]));
        }
    }
    return late;
}

/* Tasks stand in the program's order. */
static void insert_task(PartsSegment *seg, PartsTask task)
{
    int at = seg->n_tasks++;
    while (at > 0 && seg->tasks[at - 1].step > task.step) {
        seg->tasks[at] = seg->tasks[at - 1];
        at--;
    }
    seg->tasks[at] = task;
}

/* The step has the parts that the segment under way has.  All passes of a primitive have parts alike. */
static bool fits_parts(const Cutter *c, int s)
{
    const PartsSegment *seg = &c->now;
    const ExecGrid *g = parts_grid(c->plan, s);
    bool launch = c->program->steps[s].kind == STEP_LAUNCH;
    bool planes = takes_planes(c, s) || (launch && g->has_z && seg->planes);
    return planes == seg->planes && parts_extent(g, planes) == seg->extent;
}

/* Adds a step and the launches that it reads from; false when the segment cannot have it. */
static bool add_task(Cutter *c, int s, int pass, bool last_pass)
{
    const ProgStep *step = &c->program->steps[s];
    int have = parts_task(&c->now, s);
    if (have >= 0) {
        return c->now.tasks[have].pass == pass;
    }
    bool apart = c->now.n_tasks > 0 && (is_alone(c, step) || is_alone(c, &c->program->steps[c->now.tasks[0].step]));
    if (c->now.n_tasks == 0) {
        c->now.planes = takes_planes(c, s);
        c->now.extent = parts_extent(parts_grid(c->plan, s), c->now.planes);
    }
    if (!fits_parts(c, s) || apart) {
        return false;
    }
    const PartsTask task = {.step = s, .pass = pass, .last_pass = last_pass};
    insert_task(&c->now, task);
    for (int i = 0; i < parts_reads(c->plan, &task); i++) {
        int b = step->reads[i].buffer, maker = c->parts->maker[b];
        int here = maker >= 0 ? parts_task(&c->now, maker) : -1;
        bool whole = reads_whole(&step->reads[i]) || parts_is_vector(c->plan, b);
        if (here >= 0 && maker < s) {
            bool primitive = c->program->steps[maker].kind == STEP_PRIMITIVE;
            if (whole || c->apart[b] || (primitive && !c->now.tasks[here].last_pass)) {
                return false;
            }
        } else if (maker >= 0 && !c->parts->kept[b] && !add_task(c, maker, 0, true)) {
            return false;
        }
    }
    return !values_come_late(c) && !images_come_late(c);
}

/* Rows around the part that each task computes: what later tasks read of it. */
static bool find_reach(Cutter *c, int *lo, int *hi)
{
    PartsSegment *seg = &c->now;
    memset(lo, 0, sizeof *lo * (size_t)c->program->n_buffers);
    memset(hi, 0, sizeof *hi * (size_t)c->program->n_buffers);
    for (int t = seg->n_tasks - 1; t >= 0; t--) {
        PartsTask *task = &seg->tasks[t];
        const ProgStep *step = &c->program->steps[task->step];
        task->lo = task->hi = 0;
        for (int i = 0; i < step->n_writes; i++) {
            int b = step->writes[i];
            task->lo = lo[b] > task->lo ? lo[b] : task->lo;
            task->hi = hi[b] > task->hi ? hi[b] : task->hi;
        }
        for (int i = 0; i < step->n_writes; i++) {
            lo[step->writes[i]] = task->lo;
            hi[step->writes[i]] = task->hi;
        }
        int around = 0;
        if (step->kind == STEP_PRIMITIVE) {
            const Primitive *primitive = prim_find(step->primitive);
            PrimCall call;
            Err ignored = {0};
            exec_plan_call(c->plan, c->target->dev, task->step, &call);
            call.part = prim_part(&call);
            call.part.cut = true;
            call.part.across = parts_is_across(seg, parts_grid(c->plan, task->step));
            call.part.pass = task->pass;
            call.err = &ignored;
            around = primitive->halo ? primitive->halo(&call) : 0;
        }
        task->around = around;
        for (int i = 0; i < parts_reads(c->plan, task); i++) {
            int b = step->reads[i].buffer, below, above;
            if (reads_whole(&step->reads[i])) {
                continue;
            }
            TRY(parts_halo(c->plan, seg->planes, &step->reads[i], &below, &above, c->err));
            below += task->lo + around;
            above += task->hi + around;
            lo[b] = below > lo[b] ? below : lo[b];
            hi[b] = above > hi[b] ? above : hi[b];
        }
    }
    return true;
}

/* Some task reads the image in another way than by rows around the part. */
static bool is_read_whole(const Cutter *c, int buffer)
{
    bool whole = false;
    for (int t = 0; t < c->now.n_tasks; t++) {
        const ProgStep *step = &c->program->steps[c->now.tasks[t].step];
        for (int i = 0; i < step->n_reads; i++) {
            whole = whole || (step->reads[i].buffer == buffer && reads_whole(&step->reads[i]));
        }
    }
    return whole;
}

/* Parts are all that a primitive makes, and across planes all that it is given, if it has no halo. */
static bool reach_is_possible(const Cutter *c, const int *lo, const int *hi)
{
    bool possible = true;
    for (int t = 0; t < c->now.n_tasks; t++) {
        int s = c->now.tasks[t].step;
        const ProgStep *step = &c->program->steps[s];
        bool across = parts_is_across(&c->now, parts_grid(c->plan, s));
        for (int i = 0; step->kind == STEP_PRIMITIVE && i < step->n_writes; i++) {
            possible = possible && lo[step->writes[i]] + hi[step->writes[i]] == 0;
        }
        bool exactly = step->kind == STEP_PRIMITIVE && across && prim_find(step->primitive)->halo == NULL;
        for (int i = 0; exactly && i < step->n_inputs; i++) {
            int b = step->inputs[i];
            bool image = b >= 0 && !parts_is_vector(c->plan, b);
            possible = possible && (!image || (lo[b] + hi[b] == 0 && !is_read_whole(c, b)));
        }
    }
    return possible;
}

/* ---- windows --------------------------------------------------------------------------- */

static PartsWindow *window_of(PartsSegment *seg, int buffer)
{
    for (int i = 0; i < seg->n_windows; i++) {
        if (seg->windows[i].buffer == buffer) {
            return &seg->windows[i];
        }
    }
    PartsWindow *w = &seg->windows[seg->n_windows++];
    *w = (PartsWindow){.buffer = buffer, .first = seg->n_tasks, .last = -1};
    return w;
}

static void live_at(PartsWindow *w, int task)
{
    w->first = task < w->first ? task : w->first;
    w->last = task > w->last ? task : w->last;
}

/* A primitive takes the image as it is stored. */
static bool is_given(const Cutter *c, const PartsSegment *seg, int buffer)
{
    bool given = false;
    for (int t = 0; t < seg->n_tasks; t++) {
        const ProgStep *step = &c->program->steps[seg->tasks[t].step];
        for (int i = 0; step->kind == STEP_PRIMITIVE && i < step->n_inputs; i++) {
            given = given || step->inputs[i] == buffer;
        }
    }
    return given;
}

static void find_windows(Cutter *c, const int *lo, const int *hi)
{
    PartsSegment *seg = &c->now;
    seg->n_windows = 0;
    for (int t = 0; t < seg->n_tasks; t++) {
        const PartsTask *task = &seg->tasks[t];
        const ProgStep *step = &c->program->steps[task->step];
        for (int i = 0; i < parts_reads(c->plan, task); i++) {
            int b = step->reads[i].buffer;
            PartsWindow *w = window_of(seg, b);
            int maker = c->parts->maker[b], here = maker >= 0 ? parts_task(seg, maker) : -1;
            w->load = w->load || here < 0 || here >= t;
            bool box = parts_reads_box(&step->reads[i]), whole = reads_whole(&step->reads[i]);
            w->boxed = w->boxed || box;
            w->in_rounds = w->in_rounds || step->reads[i].in_rounds;
            w->whole = w->whole || (whole && !box) || parts_is_vector(c->plan, b);
            live_at(w, w->load ? 0 : t);
            live_at(w, w->whole || w->boxed ? seg->n_tasks : t);
        }
        for (int i = 0; i < step->n_writes; i++) {
            int b = step->writes[i];
            PartsWindow *w = window_of(seg, b);
            w->whole = w->whole || parts_is_vector(c->plan, b);
            w->keep = c->due[b] && task->last_pass;
            /* Between the passes a vector goes to the host and comes back. */
            w->keep = w->keep || parts_is_vector(c->plan, b);
            w->load = w->load || (parts_is_vector(c->plan, b) && task->pass > 0);
            live_at(w, w->whole ? 0 : t);
            live_at(w, w->keep ? seg->n_tasks : t);
        }
    }
    for (int i = 0; i < seg->n_windows; i++) {
        PartsWindow *w = &seg->windows[i];
        w->whole = w->whole || (w->boxed && is_given(c, seg, w->buffer));
        w->boxed = w->boxed && !w->whole;
        w->lo = w->whole || w->boxed ? 0 : lo[w->buffer];
        w->hi = w->whole || w->boxed ? 0 : hi[w->buffer];
    }
}

/* ---- segments -------------------------------------------------------------------------- */

static bool segment_new(const Cutter *c, PartsSegment *seg)
{
    size_t steps = (size_t)c->program->n_steps + 1, buffers = (size_t)c->program->n_buffers + 1;
    *seg = (PartsSegment){.kind = PARTS_CUT, .step = -1, .rounds = 1};
    seg->tasks = calloc(steps, sizeof *seg->tasks);
    seg->windows = calloc(buffers, sizeof *seg->windows);
    seg->scratch = calloc(steps, sizeof *seg->scratch);
    seg->scratch_at = calloc(steps, sizeof *seg->scratch_at);
    return (seg->tasks && seg->windows && seg->scratch && seg->scratch_at) || no_memory(c->err);
}

static void segment_free(PartsSegment *seg)
{
    free(seg->tasks);
    free(seg->windows);
    free(seg->scratch);
    free(seg->scratch_at);
    free(seg->resident);
    *seg = (PartsSegment){0};
}

static bool append(Cutter *c, PartsSegment seg)
{
    PartsPlan *p = c->parts;
    PartsSegment *larger = realloc(p->segments, (size_t)(p->n + 1) * sizeof *larger);
    if (!larger) {
        segment_free(&seg);
        return no_memory(c->err);
    }
    p->segments = larger;
    for (int i = 0; i < seg.n_windows; i++) {
        if (seg.windows[i].keep && !parts_is_vector(c->plan, seg.windows[i].buffer)) {
            c->due[seg.windows[i].buffer] = false;
        }
        if (seg.windows[i].load) {
            p->last_use[seg.windows[i].buffer] = p->n;
        }
    }
    p->segments[p->n++] = seg;
    return true;
}

static bool close_segment(Cutter *c)
{
    if (!c->open) {
        return true;
    }
    c->open = false;
    PartsSegment seg = c->now;
    c->now = (PartsSegment){0};
    return append(c, seg);
}

/* The segment under way with one sink more; false, and unchanged, when that cannot be. */
static bool extend(Cutter *c, int s, int pass, bool last_pass, bool *possible)
{
    size_t n = (size_t)c->program->n_buffers + 1;
    PartsTask *before = calloc((size_t)c->program->n_steps + 1, sizeof *before);
    int n_before = c->now.n_tasks, *lo = calloc(n, sizeof *lo), *hi = calloc(n, sizeof *hi);
    bool ok = (before && lo && hi) || no_memory(c->err);
    if (ok) {
        memcpy(before, c->now.tasks, (size_t)n_before * sizeof *before);
        *possible = add_task(c, s, pass, last_pass);
        ok = !*possible || find_reach(c, lo, hi);
        *possible = *possible && ok && reach_is_possible(c, lo, hi);
        if (!*possible) {
            memcpy(c->now.tasks, before, (size_t)n_before * sizeof *before);
            c->now.n_tasks = n_before;
            ok = ok && find_reach(c, lo, hi);
        }
    }
    if (ok) {
        find_windows(c, lo, hi);
    }
    free(before);
    free(lo);
    free(hi);
    return ok;
}

static bool add_sink(Cutter *c, int s, int pass, bool last_pass)
{
    bool possible = false;
    if (c->open && !c->way.single) {
        TRY(extend(c, s, pass, last_pass, &possible));
    }
    if (!possible) {
        TRY(close_segment(c));
        TRY(segment_new(c, &c->now));
        c->open = true;
        TRY(extend(c, s, pass, last_pass, &possible));
    }
    return possible || err_set(c->err, CODE_MEMORY, "'%s' cannot be cut into parts", c->program->steps[s].name);
}

/* A step in one piece: all that it reads and writes is there whole. */
static bool add_whole(Cutter *c, int s)
{
    const ProgStep *step = &c->program->steps[s];
    PartsSegment seg;
    TRY(close_segment(c));
    if (!segment_new(c, &seg)) {
        segment_free(&seg);
        return false;
    }
    seg.kind = PARTS_WHOLE;
    seg.step = s;
    seg.rows = seg.extent = parts_extent(parts_grid(c->plan, s), parts_grid(c->plan, s)->has_z);
    seg.parts = 1;
    seg.tasks[seg.n_tasks++] = (PartsTask){.step = s, .last_pass = true};
    for (int i = 0; i < step->n_reads; i++) {
        PartsWindow *w = window_of(&seg, step->reads[i].buffer);
        w->load = w->whole = true;
        w->first = w->last = 0;
    }
    for (int i = 0; i < step->n_writes; i++) {
        PartsWindow *w = window_of(&seg, step->writes[i]);
        w->whole = w->keep = true;
        w->first = w->last = 0;
    }
    return append(c, seg);
}

static bool add_mark(Cutter *c, int s, PartsKind kind)
{
    TRY(close_segment(c));
    return append(c, (PartsSegment){.kind = kind, .step = s});
}

/* Carries, and outputs that are given at the end, are read without a segment that says so. */
static bool is_read_otherwise(const Cutter *c, int buffer)
{
    bool read = false;
    for (int s = 0; s < c->program->n_steps; s++) {
        const ProgStep *step = &c->program->steps[s];
        for (int i = 0; step->kind == STEP_END && i < step->n_carries; i++) {
            const ProgCarry *carry = &step->carries[i];
            read = read || (!carry->is_value && (carry->carry == buffer || carry->next == buffer));
        }
    }
    for (int i = 0; i < c->program->n_outputs; i++) {
        read = read || (c->program->outputs[i].buffer == buffer && !c->parts->given[buffer]);
    }
    return read;
}

/* What no later segment loads need not be kept. */
static void keep_what_is_read(Cutter *c)
{
    PartsPlan *p = c->parts;
    for (int b = 0; b < c->program->n_buffers; b++) {
        p->kept[b] = p->kept[b] && (p->last_use[b] >= 0 || is_read_otherwise(c, b));
    }
    for (int i = 0; i < p->n; i++) {
        for (int k = 0; k < p->segments[i].n_windows; k++) {
            PartsWindow *w = &p->segments[i].windows[k];
            w->keep = w->keep && (p->kept[w->buffer] || p->given[w->buffer] || parts_is_vector(c->plan, w->buffer));
        }
    }
}

/* Launches wait until a sink asks for them, unless what they write is one. */
static bool is_sink(const Cutter *c, int s)
{
    const ProgStep *step = &c->program->steps[s];
    bool sink = step->kind == STEP_PRIMITIVE;
    for (int i = 0; i < step->n_writes; i++) {
        sink = sink || c->due[step->writes[i]];
    }
    return sink;
}

static bool cut(Cutter *c)
{
    TRY(find_kept(c));
    for (int b = 0; b < c->program->n_buffers; b++) {
        c->due[b] = c->parts->kept[b] || c->parts->given[b];
    }
    for (int s = 0; s < c->program->n_steps; s++) {
        StepKind kind = c->program->steps[s].kind;
        if (kind == STEP_LOOP || kind == STEP_END) {
            TRY(add_mark(c, s, kind == STEP_LOOP ? PARTS_LOOP : PARTS_END));
            continue;
        }
        int passes = passes_of(c, s);
        if (passes == 0) {
            TRY(add_whole(c, s));
        }
        for (int pass = 0; pass < passes && is_sink(c, s); pass++) {
            TRY(add_sink(c, s, pass, pass + 1 == passes));
        }
    }
    TRY(close_segment(c));
    keep_what_is_read(c);
    return true;
}

/* ---- the whole plan -------------------------------------------------------------------- */

/* A thousandth of the limit for each label is the guess where their number is not known. */
static double expected_labels(uint64_t limit)
{
    double labels = (double)limit / 1024;
    return labels < 4294967294.0 ? labels : 4294967294.0;
}

static bool allocate(Cutter *c)
{
    size_t buffers = (size_t)c->program->n_buffers + 1, steps = (size_t)c->program->n_steps + 1;
    PartsPlan *p = c->parts;
    c->level = calloc(steps, sizeof *c->level);
    c->due = calloc(buffers, sizeof *c->due);
    c->lo = calloc(buffers, sizeof *c->lo);
    c->hi = calloc(buffers, sizeof *c->hi);
    c->apart = calloc(buffers, sizeof *c->apart);
    p->kept = calloc(buffers, sizeof *p->kept);
    p->given = calloc(buffers, sizeof *p->given);
    p->input = calloc(buffers, sizeof *p->input);
    p->maker = calloc(buffers, sizeof *p->maker);
    p->last_use = calloc(buffers, sizeof *p->last_use);
    p->times = calloc(buffers, sizeof *p->times);
    return (c->level && c->due && c->lo && c->hi && c->apart && p->kept && p->given && p->input && p->maker &&
            p->last_use && p->times) ||
           no_memory(c->err);
}

static const Way WAYS[] = {{.again = true},
                           {0},
                           {.again = true, .alone = true},
                           {.again = true, .across = true},
                           {.across = true},
                           {.again = true, .alone = true, .across = true},
                           {.single = true},
                           {.single = true, .across = true}};
enum { N_WAYS = sizeof WAYS / sizeof WAYS[0] };

/* A plan that does not fit, or is only to say whether it does, is not arranged. */
static bool plan_once(const ExecPlan *plan, const ExecTarget *target, uint64_t limit, Way way, bool arranged,
                      PartsPlan **out, Err *err)
{
    Cutter c = {.plan = plan, .target = target, .program = plan->program, .way = way, .err = err};
    *out = NULL;
    c.parts = calloc(1, sizeof *c.parts);
    if (!c.parts) {
        return no_memory(err);
    }
    c.parts->limit = limit;
    c.parts->labels = expected_labels(limit);
    bool ok = allocate(&c) && cut(&c) && parts_find_least(plan, target, c.parts, err);
    ok = ok && (!arranged || c.parts->least > limit || parts_arrange(plan, target, c.parts, err));
    if (c.open) {
        segment_free(&c.now);
    }
    free(c.level);
    free(c.due);
    free(c.lo);
    free(c.hi);
    free(c.apart);
    if (!ok) {
        parts_plan_free(c.parts);
        return false;
    }
    *out = c.parts;
    return true;
}

static bool is_better(const ExecPlan *plan, const PartsPlan *a, const PartsPlan *b)
{
    bool fits_a = a->least <= a->limit, fits_b = b->least <= b->limit;
    return !fits_a && !fits_b ? a->least < b->least
           : fits_a != fits_b ? fits_a
                              : parts_cost(plan, a) < parts_cost(plan, b);
}

/* Whole planes first; across them where these do not fit.  Single sinks where nothing else does. */
static bool is_tried(const ExecPlan *plan, const ExecTarget *target, Way way, const PartsPlan *best)
{
    bool volumes = false, fits = best != NULL && best->least <= best->limit;
    for (int i = 0; i < plan->program->n_grids; i++) {
        volumes = volumes || plan->grids[i].has_z;
    }
    bool across = volumes && (target->part_across || !fits);
    return (!way.single || !fits) && (way.across ? across : !(volumes && target->part_across));
}

bool parts_plan_new(const ExecPlan *plan, const ExecTarget *target, uint64_t limit, PartsPlan **out, Err *err)
{
    *out = NULL;
    for (int i = 0; i < N_WAYS; i++) {
        PartsPlan *other;
        if (!is_tried(plan, target, WAYS[i], *out)) {
            continue;
        }
        if (!plan_once(plan, target, limit, WAYS[i], true, &other, err)) {
            parts_plan_free(*out);
            *out = NULL;
            return false;
        }
        if (*out == NULL || is_better(plan, other, *out)) {
            PartsPlan *first = *out;
            *out = other;
            other = first;
        }
        parts_plan_free(other);
    }
    if ((*out)->least <= limit) {
        return true;
    }
    err_set(err, CODE_MEMORY,
            "the pipeline needs %.3f MiB on the device even when the image is cut into parts, but "
            "only %.3f MiB may be used",
            (double)(*out)->least / 0x1p20, (double)limit / 0x1p20);
    parts_plan_free(*out);
    *out = NULL;
    return false;
}

bool parts_may_fit(const ExecPlan *plan, const ExecTarget *target, uint64_t limit)
{
    bool fits = false;
    for (int i = 0; i < N_WAYS && !fits; i++) {
        Err ignored = {0};
        PartsPlan *parts = NULL;
        fits = is_tried(plan, target, WAYS[i], NULL) &&
               plan_once(plan, target, limit, WAYS[i], false, &parts, &ignored) && parts->least <= limit;
        parts_plan_free(parts);
    }
    return fits;
}

void parts_plan_free(PartsPlan *parts)
{
    if (!parts) {
        return;
    }
    for (int i = 0; i < parts->n; i++) {
        segment_free(&parts->segments[i]);
    }
    free(parts->segments);
    free(parts->kept);
    free(parts->given);
    free(parts->input);
    free(parts->maker);
    free(parts->last_use);
    free(parts->times);
    free(parts->residents);
    free(parts);
}
