/*
 * parts_run: the executor over parts.
 *
 * In a segment every window has its place on the device, or two of them in turns, so that rows come
 * and go while a part is computed (parts_rows.c).
 *
 * What is whole in the arena stays there from one segment to the next where both have it at the same
 * place and nothing else comes to lie on it: an image that fits is loaded once for all rounds of a
 * loop.
 *
 * What a primitive keeps between its passes (scratch, vectors) goes to stores at the end of a segment
 * and comes back in the next one: between segments the device holds nothing but values.
 */
#include "parts_run.h"

#include "exec_carry.h"
#include "parts_boxes.h"
#include "parts_share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 8 << 20 }; /* bytes of vectors and scratch that are copied at a time */

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for a run in parts");
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* ---- what outlives segments ------------------------------------------------------------ */

/* Bytes between the device and a store. */
static bool copy_bytes(Run *run, DevMem *mem, PartsStore *store, uint64_t bytes, bool save)
{
    char *chunk = malloc(CHUNK);
    bool ok = chunk || no_memory(run->err);
    for (uint64_t at = 0; ok && at < bytes; at += CHUNK) {
        size_t n = (size_t)(bytes - at < CHUNK ? bytes - at : CHUNK);
        if (save) {
            ok = dev_read(run->exec->dev, mem, (size_t)at, chunk, n, run->err) &&
                 parts_store_put(store, at, chunk, n, run->err);
        } else {
            ok = parts_store_get(store, at, chunk, n, run->err) &&
                 dev_write(run->exec->dev, mem, (size_t)at, chunk, n, run->err);
        }
    }
    free(chunk);
    return ok;
}

static bool load_whole(Segment *seg, int i)
{
    Run *run = seg->run;
    const PartsWindow *w = &seg->plan->windows[i];
    if (!parts_is_vector(run->plan, w->buffer)) {
        return parts_load_image(run, w->buffer, seg->mem[i]);
    }
    PartsStore *store = run->pixels.store[w->buffer];
    uint64_t bytes = parts_store_bytes(store);
    return copy_bytes(run, seg->mem[i], store, bytes < w->bytes ? bytes : w->bytes, false);
}

static bool save_whole(Segment *seg, int i)
{
    Run *run = seg->run;
    const PartsWindow *w = &seg->plan->windows[i];
    if (parts_is_vector(run->plan, w->buffer)) {
        run->vectors[w->buffer] = (int64_t)(w->bytes / elem_size(run->plan->buffers[w->buffer].elem));
        TRY(parts_renew(&run->pixels, w->buffer, w->bytes, w->bytes, run->err));
        return copy_bytes(run, seg->mem[i], run->pixels.store[w->buffer], w->bytes, true);
    }
    return parts_save_image(run, w->buffer, seg->mem[i]);
}

/* ---- what stays in the arena ----------------------------------------------------------- */

static bool overlap(uint64_t at, uint64_t bytes, uint64_t other_at, uint64_t other_bytes)
{
    return at < other_at + other_bytes && other_at < at + bytes;
}

/* All rows of the image are in the window at once; a box may have as many bytes, but not its columns. */
static bool holds_all(const Segment *seg, const PartsWindow *w)
{
    return (w->whole || (seg->plan->parts == 1 && !w->boxed)) && w->bytes == seg->run->plan->buffers[w->buffer].bytes;
}

/* Something else of the segment lies in [at, at + bytes), now or later. */
static bool is_shared(const Segment *seg, int buffer, uint64_t at, uint64_t bytes)
{
    if (!seg->plan->crowded && overlap(at, bytes, 0, seg->plan->base)) {
        return true;
    }
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        bool there = overlap(at, bytes, w->offset, w->bytes) ||
                     (parts_is_double_buffered(seg->plan, w) && overlap(at, bytes, w->second, w->bytes));
        if (w->buffer != buffer && there) {
            return true;
        }
    }
    for (int t = 0; t < seg->plan->n_tasks; t++) {
        if (overlap(at, bytes, seg->plan->scratch_at[t], seg->plan->scratch[t])) {
            return true;
        }
    }
    return false;
}

/* Before a segment: what it will overwrite, or has elsewhere, is no longer to be relied on. */
static void forget_overwritten(const Segment *seg)
{
    Run *run = seg->run;
    for (int b = 0; b < run->program->n_buffers; b++) {
        if (run->resident[b] != NOWHERE && is_shared(seg, b, run->resident[b], run->plan->buffers[b].bytes)) {
            run->resident[b] = NOWHERE;
        }
    }
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        bool same = w->load && holds_all(seg, w) && w->offset == run->resident[w->buffer];
        run->resident[w->buffer] = same ? w->offset : NOWHERE;
    }
}

/* After a segment: whole images that nothing else has overwritten. */
static void note_resident(const Segment *seg)
{
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        if (w->load && holds_all(seg, w) && !parts_is_vector(seg->run->plan, w->buffer) &&
            !is_shared(seg, w->buffer, w->offset, w->bytes)) {
            seg->run->resident[w->buffer] = w->offset;
        }
    }
}

/* ---- segments -------------------------------------------------------------------------- */

/* Numbers of labels that are known by now, and the largest label of outputs. */
static bool read_labels(Run *run, const PartsSegment *seg)
{
    size_t n = (size_t)run->program->n_values;
    double *values = malloc((n + 1) * sizeof *values);
    bool ok = (values || no_memory(run->err)) &&
              dev_read(run->exec->dev, run->exec->values_mem, 0, values, n * sizeof *values, run->err);
    for (size_t i = 0; ok && i < n; i++) {
        run->labels[i] = values[i];
    }
    for (int i = 0; ok && i < run->program->n_outputs; i++) {
        const ProgOutput *output = &run->program->outputs[i];
        bool known = output->kind == OUT_LABELS && output->value >= 0;
        run->pixels.most[i] = known ? exec_largest_label(run->exec, i, values[output->value]) : (double)NAN;
    }
    for (int t = 0; ok && t < seg->n_tasks; t++) { /* what this segment finds is not known yet */
        int slot = run->program->steps[seg->tasks[t].step].value;
        for (int i = 0; i < run->program->n_outputs; i++) {
            if (slot >= 0 && seg->tasks[t].pass == 0 && run->program->outputs[i].value == slot) {
                run->pixels.most[i] = NAN;
            }
        }
    }
    free(values);
    return ok;
}

static bool open_window(Segment *seg, int i)
{
    Run *run = seg->run;
    Exec *exec = run->exec;
    const PartsWindow *w = &seg->plan->windows[i];
    TRY(exec_slice(exec, w->offset, w->bytes, &seg->places[0][i], run->err));
    if (parts_is_double_buffered(seg->plan, w)) {
        TRY(exec_slice(exec, w->second, w->bytes, &seg->places[1][i], run->err));
    }
    exec->mem[w->buffer] = seg->mem[i] = seg->places[0][i];
    bool passes = seg->shared && run->owners->number > 0; /* to those before it, at least the rows at its cut */
    bool stored = run->parts->kept[w->buffer] || parts_gives_late(seg, w->buffer) || passes;
    if (w->keep && !parts_is_vector(run->plan, w->buffer) && stored) {
        const ExecGrid *g = parts_grid_of(run, w->buffer);
        uint64_t bytes = (uint64_t)g->planes * (uint64_t)g->h * parts_row_bytes(exec, w->buffer);
        bool own = passes && !run->parts->kept[w->buffer]; /* no more than its share */
        uint64_t put = own ? bytes / (uint64_t)seg->plan->extent * (uint64_t)(seg->to - seg->from) : bytes;
        TRY(parts_renew(&run->pixels, w->buffer, bytes, put, run->err));
    }
    if (w->whole || parts_is_vector(run->plan, w->buffer)) {
        exec->place[w->buffer] = exec_place_all(run->plan, w->buffer);
        bool there = run->resident[w->buffer] != NOWHERE;
        return !w->load || there || load_whole(seg, i);
    }
    return true;
}

static bool open_scratch(Segment *seg, int t)
{
    Run *run = seg->run;
    const PartsTask *task = &seg->plan->tasks[t];
    TRY(exec_slice(run->exec, seg->plan->scratch_at[t], seg->plan->scratch[t], &seg->scratch[t], run->err));
    PartsStore *kept = run->scratch[task->step];
    if (task->pass == 0 || !kept || !seg->scratch[t]) {
        return true;
    }
    uint64_t bytes = parts_store_bytes(kept), room = seg->plan->scratch[t];
    return copy_bytes(run, seg->scratch[t], kept, bytes < room ? bytes : room, false);
}

static bool open_all(Segment *seg)
{
    TRY(parts_open_residents(seg));
    for (int i = 0; i < seg->plan->n_windows; i++) {
        TRY(open_window(seg, i));
    }
    for (int t = 0; t < seg->plan->n_tasks; t++) {
        TRY(open_scratch(seg, t));
    }
    return true;
}

static bool run_tasks(Segment *seg)
{
    for (int t = 0; t < seg->plan->n_tasks; t++) {
        TRY(!exec_stopped(seg->run->exec, seg->run->err) && parts_run_task(seg, t));
    }
    return true;
}

/* Where the rows of a window lie that is there for the part. */
static ExecPlace place_rows(const Segment *seg, const PartsWindow *w)
{
    const ExecGrid *g = parts_grid_of(seg->run, w->buffer);
    ExecPlace place = exec_place_all(seg->run->plan, w->buffer);
    int from, to;
    parts_window_rows(seg, w, &from, &to);
    bool across = parts_is_across(seg->plan, g);
    place.rows = seg->plan->planes ? g->h : across ? to - from : (int)w->rows;
    place.planes = seg->plan->planes ? (int)w->rows : across ? w->planes : g->d;
    place.row0 = seg->plan->planes ? (int64_t)from * g->h : from;
    if (seg->plan->cols > 0 && !w->load) {
        place.pitch = parts_box_pitch(seg->plan->cols);
        place.col0 = seg->col;
    }
    return place;
}

/* Windows are where the part has them. */
static bool place_windows(Segment *seg)
{
    Exec *exec = seg->run->exec;
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        PartsBox box;
        if (w->whole) {
            continue;
        }
        DevMem *resident = parts_resident(seg, i);
        seg->mem[i] = resident != NULL ? resident : seg->places[seg->places[1][i] ? seg->slot : 0][i];
        exec->mem[w->buffer] = seg->mem[i];
        if (resident != NULL) {
            exec->place[w->buffer] = exec_place_all(seg->run->plan, w->buffer);
        } else if (w->boxed) {
            TRY(parts_place_box(seg, i, &box, &exec->place[w->buffer]));
        } else {
            exec->place[w->buffer] = place_rows(seg, w);
        }
    }
    return true;
}

static bool renew(const Run *run, DevMark **mark)
{
    dev_mark_free(run->exec->dev, *mark);
    return dev_mark(run->exec->dev, DEV_COMPUTE, mark, run->err);
}

/* What was made may come down, and rows go up to where others were, when all that is enqueued is computed. */
static bool mark(Segment *seg)
{
    TRY(renew(seg->run, &seg->computed[seg->slot]));
    return !seg->loads || renew(seg->run, &seg->used[seg->slot]);
}

/* Which slabs of an image that is read anywhere the part reads: often few, for places mostly are not far away. */
static bool ask(Segment *seg, int32_t *wanted)
{
    Run *run = seg->run;
    size_t bytes = (size_t)seg->plan->rounds * sizeof *wanted;
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        seg->slab = w->in_rounds ? w->most[parts_grid_of(run, w->buffer)->has_z ? 2 : 1] : seg->slab;
    }
    bool ok = dev_write(run->exec->dev, seg->scratch[0], 0, wanted, bytes, run->err) && place_windows(seg) &&
              run_tasks(seg) && dev_read(run->exec->dev, seg->scratch[0], 0, wanted, bytes, run->err);
    seg->slab = 0;
    return ok;
}

/* The part in rounds, each with a slab of the image that is read anywhere. */
static bool run_rounds(Segment *seg)
{
    int32_t *wanted = calloc((size_t)seg->plan->rounds, sizeof *wanted);
    seg->round = 0;
    bool ok = (wanted != NULL || no_memory(seg->run->err)) && ask(seg, wanted);
    for (; ok && seg->round < seg->plan->rounds; seg->round++) {
        ok = !wanted[seg->round] || (parts_load_slab(seg) && place_windows(seg) && run_tasks(seg) && mark(seg));
    }
    free(wanted);
    return ok;
}

/* The part in `slot`; nothing waits for the device but for what tasks ask of it. */
static bool run_part(Segment *seg)
{
    TRY(parts_load_rows(seg));
    TRY(seg->plan->rounds > 1 ? run_rounds(seg) : place_windows(seg) && run_tasks(seg));
    return parts_keep_made(seg) && mark(seg);
}

/* All columns of the part, tile by tile; each tile waits for the one before. */
static bool run_tiles(Segment *seg)
{
    const PartsSegment *plan = seg->plan;
    int width = parts_grid(seg->run->plan, plan->tasks[0].step)->w;
    for (seg->col = 0; seg->col < width; seg->col += plan->cols) {
        seg->cols = smaller(plan->cols, width - seg->col);
        TRY(run_part(seg));
        for (int i = 0; i < plan->n_windows; i++) {
            TRY(!plan->windows[i].keep || parts_save_tile(seg, i));
        }
    }
    return true;
}

/* With double buffers the rows of the part before are taken while this one is computed, and the next one's go
 * up before this one's are taken; else each part waits for the one before. */
static bool run_parts(Segment *seg)
{
    const PartsSegment *plan = seg->plan;
    TRY(dev_follow(seg->run->exec->dev, DEV_UPLOAD, DEV_COMPUTE, seg->run->err));
    for (int at = seg->from; at < seg->to; at += plan->rows) {
        seg->at = at;
        seg->rows = smaller(plan->rows, plan->extent - at);
        TRY((plan->cols > 0 ? run_tiles : run_part)(seg));
        TRY(parts_finish_saving(seg) && parts_begin_saving(seg));
        TRY(plan->double_buffers || parts_finish_saving(seg));
        seg->slot = plan->double_buffers ? 1 - seg->slot : 0;
    }
    return parts_finish_saving(seg);
}

/* What outputs take in another order than it was made, from stores; nobody else may want that. */
static bool give_late(const Segment *seg, int buffer)
{
    Run *run = seg->run;
    PartsStore **store = &run->pixels.store[buffer];
    bool gives = run->parts->given[buffer] && !run->muted;
    if (parts_gives_in_turn(seg, buffer)) {
        TRY(!gives || parts_share_give(run, buffer));
    } else {
        TRY(!gives || (parts_share_collect(run, buffer) && parts_give(&run->pixels, buffer, run->err)));
    }
    if (!run->parts->kept[buffer]) {
        parts_store_drop(*store);
        *store = NULL;
    }
    return true;
}

/* What outlives the segment in one piece: vectors, whole images, scratch between passes. */
static bool save_all(Segment *seg)
{
    Run *run = seg->run;
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        if (w->keep && w->whole) {
            TRY(save_whole(seg, i));
        } else if (w->keep && (parts_gives_late(seg, w->buffer) || parts_gives_in_turn(seg, w->buffer))) {
            TRY(give_late(seg, w->buffer));
        }
    }
    for (int t = 0; t < seg->plan->n_tasks; t++) {
        const PartsTask *task = &seg->plan->tasks[t];
        PartsStore **kept = &run->scratch[task->step];
        parts_store_drop(*kept);
        *kept = NULL;
        if (!task->last_pass && !run->done[task->step] && seg->plan->scratch[t] > 0) {
            TRY(parts_store_new(&run->pixels.budget, seg->plan->scratch[t], kept, run->err));
            TRY(copy_bytes(run, seg->scratch[t], *kept, seg->plan->scratch[t], true));
        }
    }
    return true;
}

static void forget(Run *run, int step)
{
    const ProgStep *s = &run->program->steps[step];
    const Primitive *primitive = s->kind == STEP_PRIMITIVE ? prim_find(s->primitive) : NULL;
    if (run->state[step] && primitive && primitive->forget) {
        primitive->forget(run->state[step]);
    }
    run->state[step] = NULL;
}

static void close_all(Segment *seg)
{
    Exec *exec = seg->run->exec;
    for (int t = seg->plan->n_tasks - 1; t >= 0 && seg->scratch; t--) {
        dev_free(exec->dev, seg->scratch[t]);
    }
    for (int i = seg->plan->n_windows - 1; i >= 0 && seg->places[0] && seg->places[1]; i--) {
        dev_free(exec->dev, seg->places[1][i]);
        dev_free(exec->dev, seg->places[0][i]);
        exec->mem[seg->plan->windows[i].buffer] = NULL;
    }
    for (int i = 0; i < seg->plan->n_windows && seg->rests; i++) {
        free(seg->rests[i].rows);
    }
    parts_close_residents(seg);
    for (int slot = 0; slot < 2; slot++) {
        dev_mark_free(exec->dev, seg->computed[slot]);
        dev_mark_free(exec->dev, seg->used[slot]);
    }
    free(seg->mem);
    free(seg->places[0]);
    free(seg->places[1]);
    free(seg->scratch);
    free(seg->residents);
    free(seg->rests);
    free(seg->boxes[0]);
    free(seg->boxes[1]);
}

static bool segment_begin(Segment *seg, Run *run, PartsSegment *plan)
{
    size_t windows = (size_t)plan->n_windows + 1, tasks = (size_t)plan->n_tasks + 1;
    *seg = (Segment){.run = run, .plan = plan};
    seg->mem = calloc(windows, sizeof *seg->mem);
    seg->scratch = calloc(tasks, sizeof *seg->scratch);
    seg->residents = calloc((size_t)run->parts->n_residents + 1, sizeof *seg->residents);
    seg->places[0] = calloc(windows, sizeof *seg->places[0]);
    seg->places[1] = calloc(windows, sizeof *seg->places[1]);
    seg->rests = calloc(windows, sizeof *seg->rests);
    seg->boxes[0] = calloc(windows, sizeof *seg->boxes[0]);
    seg->boxes[1] = calloc(windows, sizeof *seg->boxes[1]);
    return (seg->mem && seg->scratch && seg->residents && seg->places[0] && seg->places[1] && seg->rests &&
            seg->boxes[0] && seg->boxes[1]) ||
           no_memory(run->err);
}

/* Nobody wants anything of the segment any more. */
static bool is_done(const Run *run, const PartsSegment *plan)
{
    bool done = plan->kind == PARTS_CUT;
    for (int t = 0; t < plan->n_tasks; t++) {
        const ProgStep *step = &run->program->steps[plan->tasks[t].step];
        bool wanted = step->kind == STEP_PRIMITIVE && !run->done[plan->tasks[t].step];
        done = done && !wanted;
    }
    for (int i = 0; i < plan->n_windows; i++) {
        done = done && !(plan->windows[i].keep && !plan->windows[i].whole);
    }
    return done;
}

/* There are more labels than the segment has room for: it and those that share its primitives are laid out
 * again, and run from the first of them on. */
static bool lay_out_again(Run *run, int i, int *from)
{
    int to;
    uint64_t before = run->parts->peak;
    if (run->err->code != CODE_MEMORY || i == run->laid_out) {
        return false;
    }
    err_clear(run->err);
    TRY(parts_arrange_again(run->plan, &run->exec->target, run->parts, i, run->labels, run->vectors, from, &to,
                            run->err));
    run->again = run->laid_out = i;
    for (int k = *from; k <= i; k++) {
        for (int t = 0; t < run->parts->segments[k].n_tasks; t++) {
            forget(run, run->parts->segments[k].tasks[t].step);
        }
    }
    for (int b = 0; b < run->program->n_buffers; b++) {
        run->resident[b] = NOWHERE;
    }
    memset(run->filled, 0, (size_t)run->parts->n_residents * sizeof *run->filled);
    return run->parts->peak == before || exec_grow(run->exec, run->err);
}

/* Vectors that the segment makes are as long as there are labels now: in the round of a loop before there may have been fewer. */
static void forget_lengths(Run *run, const PartsSegment *plan)
{
    for (int i = 0; i < plan->n_windows; i++) {
        const PartsWindow *w = &plan->windows[i];
        if (!w->load && parts_is_vector(run->plan, w->buffer)) {
            run->vectors[w->buffer] = 0;
        }
    }
}

/* Segment i with as many labels as there are; *from: the one to run now, which may be one before. */
static bool lay_out(Run *run, int i, int *from)
{
    PartsSegment *plan = &run->parts->segments[i];
    *from = i;
    TRY(read_labels(run, plan));
    forget_lengths(run, plan);
    return parts_layout(run->plan, &run->exec->target, run->parts, plan, run->labels, run->vectors, run->parts->peak,
                        run->err) ||
           lay_out_again(run, i, from);
}

static bool run_laid_out(Run *run, PartsSegment *plan)
{
    Segment seg;
    bool ok = segment_begin(&seg, run, plan);
    if (ok) {
        parts_share_out(&seg);
        forget_overwritten(&seg);
        ok = parts_share_agree(&seg) && parts_share_fetch(&seg) && open_all(&seg);
    }
    seg.rows = plan->rows;
    ok = ok && (plan->kind == PARTS_CUT ? run_parts : run_tasks)(&seg);
    ok = ok && (plan->kind != PARTS_WHOLE || read_labels(run, &(PartsSegment){0}));
    if (ok) {
        parts_share_note(&seg);
    }
    ok = ok && save_all(&seg);
    if (ok) {
        note_resident(&seg);
    }
    close_all(&seg);
    for (int t = 0; t < plan->n_tasks; t++) {
        if (plan->tasks[t].last_pass) {
            forget(run, plan->tasks[t].step);
        }
    }
    return ok;
}

/* *next: the segment behind it, or one that has to run again first. */
static bool run_segment(Run *run, int i, int *next)
{
    PartsSegment *plan = &run->parts->segments[i];
    int from;
    *next = i + 1;
    for (int t = 0; t < plan->n_tasks; t++) {
        run->done[plan->tasks[t].step] = run->done[plan->tasks[t].step] && plan->tasks[t].pass > 0;
    }
    if (is_done(run, plan)) {
        return true;
    }
    TRY(lay_out(run, i, &from));
    if (from < i) {
        *next = from;
        return true;
    }
    run->muted = i < run->again;
    run->laid_out = i == run->laid_out ? -1 : run->laid_out;
    return run_laid_out(run, plan);
}

/* ---- loops ----------------------------------------------------------------------------- */

/* All carries take their next images at once; nothing is copied. */
static bool carry_images(Run *run, const ProgStep *end)
{
    PartsStore **store = run->pixels.store;
    PartsStore **next = calloc((size_t)end->n_carries + 1, sizeof *next);
    PartsMade *made = calloc((size_t)end->n_carries + 1, sizeof *made);
    if (!next || !made) {
        free(next);
        free(made);
        return no_memory(run->err);
    }
    for (int i = 0; i < end->n_carries; i++) {
        const ProgCarry *c = &end->carries[i];
        next[i] = !c->is_value && store[c->next] ? parts_store_keep(store[c->next]) : NULL;
        made[i] = next[i] ? run->made[c->next] : made[i];
    }
    for (int i = 0; i < end->n_carries; i++) {
        if (next[i]) {
            run->resident[end->carries[i].carry] = NOWHERE;
            parts_store_drop(store[end->carries[i].carry]);
            store[end->carries[i].carry] = next[i];
            run->made[end->carries[i].carry] = made[i];
        }
    }
    free(next);
    free(made);
    return true;
}

static bool run_range(Run *run, int from, int to);

static int end_of(const PartsPlan *parts, int loop)
{
    int depth = 0, i = loop;
    do {
        depth += parts->segments[i].kind == PARTS_LOOP;
        depth -= parts->segments[i].kind == PARTS_END;
        i++;
    } while (depth > 0);
    return i - 1;
}

static bool run_loop(Run *run, int loop)
{
    int s = run->parts->segments[loop].step, end = end_of(run->parts, loop);
    const ProgStep *step = &run->program->steps[s], *last = &run->program->steps[run->plan->steps[s].end];
    Device *dev = run->exec->dev;
    DevMem *values = run->exec->values_mem;
    double ended = 0;
    TRY(exec_carry_begin(step, dev, values, run->err));
    for (int round = 0; round < run->plan->steps[s].rounds && ended != 1; round++) {
        TRY(run_range(run, loop + 1, end) && carry_images(run, last));
        TRY(exec_carry_values(step, last, round, dev, values, &run->exec->ends[s], run->err));
        if (step->ended > 0) {
            TRY(dev_read(dev, values, (size_t)step->ended * sizeof ended, &ended, sizeof ended, run->err));
        }
    }
    return true;
}

static bool run_range(Run *run, int from, int to)
{
    for (int i = from, next; i < to; i = next) {
        if (run->parts->segments[i].kind == PARTS_LOOP) {
            TRY(run_loop(run, i));
            next = end_of(run->parts, i) + 1;
        } else {
            TRY(run_segment(run, i, &next));
        }
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------- */

/* What pixels between segments may take. */
static uint64_t store_budget(const Exec *exec)
{
    if (exec->host > 0) {
        return exec->host;
    }
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 : (uint64_t)1 << 30;
}

static bool begin(Run *run)
{
    size_t buffers = (size_t)run->program->n_buffers + 1;
    size_t steps = (size_t)run->program->n_steps + 1;
    run->vectors = calloc(buffers, sizeof *run->vectors);
    run->labels = calloc((size_t)run->program->n_values + 1, sizeof *run->labels);
    run->state = run->parts->state = calloc(steps, sizeof *run->state);
    run->notes = calloc(steps, sizeof *run->notes);
    run->done = calloc(steps, sizeof *run->done);
    run->scratch = calloc(steps, sizeof *run->scratch);
    run->filled = calloc((size_t)run->parts->n_residents + 1, sizeof *run->filled);
    run->resident = malloc(buffers * sizeof *run->resident);
    for (size_t i = 0; run->resident && i < buffers; i++) {
        run->resident[i] = NOWHERE;
    }
    run->made = calloc(buffers, sizeof *run->made);
    run->grain = calloc(buffers, sizeof *run->grain);
    run->pixels.all_give = calloc((size_t)run->program->n_outputs + 1, sizeof *run->pixels.all_give);
    run->pixels.store = calloc(buffers, sizeof *run->pixels.store);
    run->pixels.most = calloc((size_t)run->program->n_outputs + 1, sizeof *run->pixels.most);
    return (run->vectors && run->labels && run->state && run->notes && run->done && run->scratch && run->filled &&
            run->resident && run->made && run->grain && run->pixels.all_give && run->pixels.store &&
            run->pixels.most) ||
           no_memory(run->err);
}

static void end(Run *run)
{
    for (int s = 0; run->state && s < run->program->n_steps; s++) {
        forget(run, s);
    }
    for (int s = 0; run->scratch && s < run->program->n_steps; s++) {
        parts_store_drop(run->scratch[s]);
    }
    for (int i = 0; run->pixels.store && i < run->program->n_buffers; i++) {
        parts_store_drop(run->pixels.store[i]);
    }
    free(run->vectors);
    free(run->labels);
    run->parts->state = NULL;
    free(run->state);
    free(run->notes);
    free(run->done);
    free(run->scratch);
    free(run->filled);
    free(run->resident);
    free(run->made);
    free(run->grain);
    free(run->pixels.all_give);
    free(run->pixels.store);
    free(run->pixels.most);
    free(run->pixels.line);
}

/* What outputs still want of whole images. */
static bool give_rest(Run *run)
{
    for (int i = 0; i < run->program->n_outputs; i++) {
        int buffer = run->program->outputs[i].buffer;
        TRY(buffer < 0 || run->parts->given[buffer] || parts_share_collect(run, buffer));
    }
    return parts_give_rest(&run->pixels, run->err);
}

bool parts_run(Exec *exec, const ExecStream *stream, Err *err)
{
    Run run = {.exec = exec,
               .owners = exec->owners,
               .program = exec->program,
               .plan = exec->plan,
               .parts = exec->plan->parts,
               .again = -1,
               .laid_out = -1,
               .pixels = {.exec = exec, .stream = stream, .budget = {store_budget(exec), stream->crew}},
               .err = err};
    exec->alone = NULL;
    bool ok = exec_stage(exec, err) && begin(&run) && (run.owners == NULL || parts_share_check(&run)) &&
              parts_count_labels(&run.pixels, err) && exec_write_counts(exec, err) &&
              run_range(&run, 0, run.parts->n) && read_labels(&run, &(PartsSegment){0}) && give_rest(&run);
    ok = parts_share_end(&run, ok);
    if (!ok && exec->staging) {
        staging_forget(exec->staging);
    }
    end(&run);
    return ok;
}
