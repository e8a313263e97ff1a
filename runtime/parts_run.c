/*
 * parts_run: the executor over parts.
 *
 * In a segment every window has its place on the device and, where its rows come from the host or go
 * there, as much pinned memory beside it.  From one part to the next the rows that both need stay on
 * the host, so that inputs are read once a segment, in order.
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
#include "parts_pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK = 8 << 20, /* bytes of whole images and scratch that are copied at a time */
    LINE = 64        /* windows on the host begin at multiples of so many bytes */
};

typedef struct Run {
    Exec *exec;
    const Program *program;
    const ExecPlan *plan;
    PartsPlan *parts;
    PartsPixels pixels;
    int64_t *vectors;      /* by buffer: elements */
    double *labels;        /* by value slot, of the segment under way; NaN: not known */
    void **state;          /* by step */
    bool *done;            /* by step: its remaining passes have nothing to do */
    PartsStore **scratch;  /* by step: between passes */
    void *host;            /* pinned memory for the rows of a segment's windows, used by all */
    size_t host_bytes;
    uint64_t *resident;    /* by buffer: where in the arena all of it still is; NOWHERE */
    Err *err;
} Run;

#define NOWHERE UINT64_MAX

/* A segment under way. */
typedef struct Segment {
    Run *run;
    PartsSegment *plan;
    DevMem **mem;      /* by window */
    DevMem **scratch;  /* by task */
    char **host;       /* by window: as many rows as the device has; in Run.host */
    int *from, *to;    /* by window: rows that `host` holds */
    PartsBox *box;     /* by window: what was loaded last; n[0] == 0: nothing */
    int at, rows;      /* the part */
    int col, cols;     /* where parts are tiles: its columns */
} Segment;

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for a run in parts");
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static const ExecGrid *grid_of(const Run *run, int buffer)
{
    return &run->plan->grids[run->program->buffers[buffer].grid];
}

/* Bytes of a row on the device. */
static size_t pitch_of(const Run *run, int buffer)
{
    return (size_t)grid_of(run, buffer)->pitch * elem_size(run->plan->buffers[buffer].elem);
}

/* ---- whole images and vectors ---------------------------------------------------------- */

typedef bool (*Copy)(Run *run, int buffer, DevMem *mem, PartsSpan span, char *rows);

static bool copy_in(Run *run, int buffer, DevMem *mem, PartsSpan span, char *rows)
{
    size_t row = parts_row_bytes(run->exec, buffer), pitch = pitch_of(run, buffer);
    size_t first = (size_t)(span.plane * grid_of(run, buffer)->h + span.row);
    TRY(parts_read(&run->pixels, buffer, span, rows, run->err));
    return dev_write_rows(run->exec->dev, mem, first * pitch, pitch, rows, row, row,
                          (size_t)span.rows, run->err);
}

static bool copy_out(Run *run, int buffer, DevMem *mem, PartsSpan span, char *rows)
{
    size_t row = parts_row_bytes(run->exec, buffer), pitch = pitch_of(run, buffer);
    size_t first = (size_t)(span.plane * grid_of(run, buffer)->h + span.row);
    TRY(dev_read_rows(run->exec->dev, mem, first * pitch, pitch, rows, row, row, (size_t)span.rows,
                      run->err));
    return parts_write(&run->pixels, buffer, span, rows, run->parts->given[buffer], run->err);
}

static bool copy_image(Run *run, int buffer, DevMem *mem, Copy copy)
{
    const ExecGrid *g = grid_of(run, buffer);
    size_t row = parts_row_bytes(run->exec, buffer);
    int64_t chunk = larger(smaller((int)(CHUNK / (row + 1)), g->h), 1);
    void *rows;
    TRY(dev_host_alloc(run->exec->dev, (size_t)chunk * row, &rows, run->err));
    bool ok = true;
    for (int64_t plane = 0; ok && plane < g->planes; plane++) {
        for (int64_t y = 0; ok && y < g->h; y += chunk) {
            PartsSpan span = {plane, y, y + chunk < g->h ? chunk : g->h - y};
            ok = !exec_stopped(run->exec, run->err) && copy(run, buffer, mem, span, rows);
        }
    }
    dev_host_free(run->exec->dev, rows);
    return ok;
}

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
        return copy_image(run, w->buffer, seg->mem[i], copy_in);
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
        run->vectors[w->buffer] =
            (int64_t)(w->bytes / elem_size(run->plan->buffers[w->buffer].elem));
        TRY(parts_renew(&run->pixels, w->buffer, w->bytes, run->err));
        return copy_bytes(run, seg->mem[i], run->pixels.store[w->buffer], w->bytes, true);
    }
    return copy_image(run, w->buffer, seg->mem[i], copy_out);
}

/* ---- what stays in the arena ----------------------------------------------------------- */

static bool overlap(uint64_t at, uint64_t bytes, uint64_t other_at, uint64_t other_bytes)
{
    return at < other_at + other_bytes && other_at < at + bytes;
}

/* All rows of the image are in the window at once. */
static bool holds_all(const Segment *seg, const PartsWindow *w)
{
    return (w->whole || seg->plan->parts == 1) &&
           w->bytes == seg->run->plan->buffers[w->buffer].bytes;
}

/* Something else of the segment lies in [at, at + bytes), now or later. */
static bool is_shared(const Segment *seg, int buffer, uint64_t at, uint64_t bytes)
{
    for (int i = 0; i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        if (w->buffer != buffer && overlap(at, bytes, w->offset, w->bytes)) {
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
        if (run->resident[b] != NOWHERE &&
            is_shared(seg, b, run->resident[b], run->plan->buffers[b].bytes)) {
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

/* ---- rows of a part -------------------------------------------------------------------- */

/* Rows (planes) of a window for the part. */
static void window_rows(const Segment *seg, const PartsWindow *w, int *from, int *to)
{
    *from = larger(seg->at - w->lo, 0);
    *to = smaller(seg->at + seg->rows + w->hi, seg->plan->extent);
}

/* Rows of pixels in a row of the part: a plane has many. */
static int64_t lines_of(const Segment *seg, int buffer)
{
    return seg->plan->planes ? grid_of(seg->run, buffer)->h : 1;
}

static int channels_of(const Segment *seg, int buffer)
{
    return grid_of(seg->run, buffer)->c;
}

/* Rows [from, to) of the image, next to each other, channel `c`. */
static bool read_rows(const Segment *seg, int buffer, int c, int from, int to, char *rows)
{
    Run *run = seg->run;
    size_t row = parts_row_bytes(run->exec, buffer);
    if (!seg->plan->planes) {
        PartsSpan span = {c, from, to - from};
        return parts_read(&run->pixels, buffer, span, rows, run->err);
    }
    int64_t h = grid_of(run, buffer)->h, first = (int64_t)c * grid_of(run, buffer)->d;
    for (int z = from; z < to; z++) {
        PartsSpan span = {first + z, 0, h};
        TRY(parts_read(&run->pixels, buffer, span, rows + (size_t)(z - from) * (size_t)h * row,
                       run->err));
    }
    return true;
}

/* What the part before has left stays; the rest is read. */
static bool load_rows(Segment *seg, int i)
{
    Run *run = seg->run;
    const PartsWindow *w = &seg->plan->windows[i];
    int from, to;
    window_rows(seg, w, &from, &to);
    size_t line = parts_row_bytes(run->exec, w->buffer), pitch = pitch_of(run, w->buffer);
    int64_t lines = lines_of(seg, w->buffer);
    size_t row = line * (size_t)lines, channel = row * (size_t)w->rows;
    int have = seg->at > 0 ? larger(seg->to[i], from) : from;
    for (int c = 0; c < channels_of(seg, w->buffer); c++) {
        char *rows = seg->host[i] + (size_t)c * channel;
        if (have > from) {
            memmove(rows, rows + (size_t)(from - seg->from[i]) * row, (size_t)(have - from) * row);
        }
        TRY(read_rows(seg, w->buffer, c, have, to, rows + (size_t)(have - from) * row));
        TRY(dev_write_rows(run->exec->dev, seg->mem[i],
                           (size_t)c * (size_t)w->rows * (size_t)lines * pitch, pitch, rows, line,
                           line, (size_t)(to - from) * (size_t)lines, run->err));
    }
    seg->from[i] = from;
    seg->to[i] = to;
    return true;
}

/* The pixels of a tile in an image of the segment's grid. */
static PartsBox tile_of(const Segment *seg, const ExecGrid *g)
{
    PartsBox tile = {{seg->col, seg->at, 0}, {seg->cols, seg->rows, g->d}};
    if (seg->plan->planes) {
        tile = (PartsBox){{seg->col, 0, seg->at}, {seg->cols, g->h, seg->rows}};
    }
    return tile;
}

/* The part itself, without the rows around it. */
static bool save_rows(Segment *seg, int i)
{
    Run *run = seg->run;
    const PartsWindow *w = &seg->plan->windows[i];
    int from, to;
    window_rows(seg, w, &from, &to);
    if (seg->plan->cols > 0) {
        return parts_save_tile(&run->pixels, w, seg->plan->cols, seg->mem[i],
                               tile_of(seg, grid_of(run, w->buffer)), run->err);
    }
    size_t line = parts_row_bytes(run->exec, w->buffer), pitch = pitch_of(run, w->buffer);
    int64_t lines = lines_of(seg, w->buffer);
    bool give = run->parts->given[w->buffer];
    for (int c = 0; c < channels_of(seg, w->buffer); c++) {
        size_t first = ((size_t)c * (size_t)w->rows + (size_t)(seg->at - from)) * (size_t)lines;
        TRY(dev_read_rows(run->exec->dev, seg->mem[i], first * pitch, pitch, seg->host[i], line,
                          line, (size_t)seg->rows * (size_t)lines, run->err));
        for (int k = 0; k < (seg->plan->planes ? seg->rows : 1); k++) {
            PartsSpan span = {c, seg->at, seg->rows};
            if (seg->plan->planes) {
                int64_t channel = (int64_t)c * grid_of(run, w->buffer)->d;
                span = (PartsSpan){channel + seg->at + k, 0, lines};
            }
            TRY(parts_write(&run->pixels, w->buffer, span,
                            seg->host[i] + (size_t)k * (size_t)lines * line, give, run->err));
        }
    }
    return true;
}

/* ---- tasks ----------------------------------------------------------------------------- */

static size_t divided_up(int64_t a, int64_t b)
{
    return (size_t)((a + b - 1) / b);
}

static bool run_launch(Segment *seg, const PartsTask *task)
{
    Run *run = seg->run;
    const ProgStep *step = &run->program->steps[task->step];
    const ExecStep *planned = &run->plan->steps[task->step];
    const ExecGrid *g = &run->plan->grids[step->grid];
    int from = larger(seg->at - task->lo, 0);
    int to = smaller(seg->at + seg->rows + task->hi, seg->plan->extent);
    ExecRange range = {.from = from, .to = to};
    size_t groups[3] = {planned->groups[0], divided_up(to - from, planned->strip),
                        planned->groups[2]};
    if (seg->plan->kind == PARTS_WHOLE) {
        range = (ExecRange){.to = planned->rows};
        memcpy(groups, planned->groups, sizeof groups);
    } else if (seg->plan->planes && !step->march_z) {
        range = (ExecRange){.to = g->h, .plane_from = from};
        groups[1] = planned->groups[1];
        groups[2] = (size_t)(to - from);
    }
    if (seg->plan->cols > 0) {
        range.cols_from = seg->col;
        groups[0] = divided_up(seg->cols, run->exec->target.lx * run->exec->target.px);
    }
    DevArg args[EXEC_MAX_ARGS];
    const size_t group[3] = {(size_t)run->exec->target.lx, 1, 1};
    bool apart = seg->plan->kind == PARTS_CUT && seg->plan->planes && !step->march_z;
    for (int c = 0; c < (apart ? g->c : 1); c++) { /* planes of each channel lie apart */
        range.plane_from = apart ? c * g->d + from : range.plane_from;
        TRY(exec_args(run->exec, task->step, &range, args, run->err));
        TRY(dev_launch(run->exec->dev, exec_built_kernel(run->exec->built, step->kernel), args,
                       step->n_args, groups, group, step->name, run->err));
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
    int i = window_number(seg, buffer);
    const PartsWindow *w = &seg->plan->windows[i];
    *slice = NULL;
    image->mem = seg->mem[i];
    if (parts_is_vector(run->plan, buffer)) {
        image->length = (int64_t)(w->bytes / elem_size(image->elem));
        image->w = image->pitch = image->length < INT32_MAX ? (int)image->length : INT32_MAX;
        return true;
    }
    if (seg->plan->kind == PARTS_WHOLE || c == 0) {
        return true;
    }
    size_t channel = (size_t)w->rows * (size_t)lines_of(seg, buffer) * pitch_of(run, buffer);
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
        range.part_plane = seg->plan->planes ? c * g->d + seg->at : c;
    }
    DevArg args[EXEC_MAX_ARGS];
    DevMem *slices[16] = {NULL};
    PrimCall call;
    double labels = step->of_value >= 0 ? run->labels[step->of_value] : (double)NAN;
    TRY(exec_args(run->exec, task->step, &range, args, run->err));
    parts_call(run->plan, seg->plan, task, run->exec->dev, seg->at, seg->rows, c, labels, &call);
    exec_call(run->exec, task->step, args, &call, run->err);
    call.scratch = seg->scratch[t];
    call.scratch_size = (size_t)seg->plan->scratch[t];
    call.state = &run->state[task->step];
    bool ok = true;
    int n = 0;
    for (int i = 0; ok && i < step->n_inputs; i++) {
        ok = step->inputs[i] < 0 ||
             give_image(seg, step->inputs[i], c, &call.in[i], &slices[n++]);
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

static bool run_task(Segment *seg, int t)
{
    const PartsTask *task = &seg->plan->tasks[t];
    const ProgStep *step = &seg->run->program->steps[task->step];
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

/* ---- segments -------------------------------------------------------------------------- */

/* Numbers of labels that are known by now, and the largest label of outputs. */
static bool read_labels(Run *run, const PartsSegment *seg)
{
    size_t n = (size_t)run->program->n_values;
    double *values = malloc((n + 1) * sizeof *values);
    bool ok = (values || no_memory(run->err)) &&
              dev_read(run->exec->dev, run->exec->values_mem, 0, values, n * sizeof *values,
                       run->err);
    for (size_t i = 0; ok && i < n; i++) {
        run->labels[i] = values[i];
    }
    for (int i = 0; ok && i < run->program->n_outputs; i++) {
        const ProgOutput *output = &run->program->outputs[i];
        bool known = output->kind == OUT_LABELS && output->value >= 0;
        run->pixels.most[i] = known ? values[output->value] : (double)NAN;
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
    TRY(exec_slice(exec, w->offset, w->bytes, &seg->mem[i], run->err));
    exec->mem[w->buffer] = seg->mem[i];
    bool stored = run->parts->kept[w->buffer] || seg->plan->cols > 0;
    if (w->keep && !parts_is_vector(run->plan, w->buffer) && stored) {
        const ExecGrid *g = grid_of(run, w->buffer);
        uint64_t bytes = (uint64_t)g->planes * (uint64_t)g->h *
                         parts_row_bytes(exec, w->buffer);
        TRY(parts_renew(&run->pixels, w->buffer, bytes, run->err));
    }
    if (w->whole || parts_is_vector(run->plan, w->buffer)) {
        exec->place[w->buffer] = exec_place_all(run->plan, w->buffer);
        bool there = run->resident[w->buffer] != NOWHERE;
        return !w->load || there || load_whole(seg, i);
    }
    return true;
}

/* Bytes on the host for the rows of a window that come and go. */
static size_t host_bytes(const Segment *seg, const PartsWindow *w)
{
    const Run *run = seg->run;
    bool there = run->resident[w->buffer] != NOWHERE;
    bool apart = w->whole || w->boxed || (w->keep && seg->plan->cols > 0);
    if (seg->plan->kind != PARTS_CUT || apart || parts_is_vector(run->plan, w->buffer) ||
        !((w->load && !there) || w->keep)) {
        return 0;
    }
    size_t bytes = (size_t)w->rows * (size_t)lines_of(seg, w->buffer) *
                   (size_t)channels_of(seg, w->buffer) * parts_row_bytes(run->exec, w->buffer);
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Pinning takes long, so what one segment has had the next one has again. */
static bool open_host(Segment *seg)
{
    Run *run = seg->run;
    size_t all = 0;
    for (int i = 0; i < seg->plan->n_windows; i++) {
        all += host_bytes(seg, &seg->plan->windows[i]);
    }
    if (all > run->host_bytes) {
        dev_host_free(run->exec->dev, run->host);
        run->host = NULL;
        run->host_bytes = 0;
        TRY(dev_host_alloc(run->exec->dev, all, &run->host, run->err));
        run->host_bytes = all;
    }
    char *at = run->host;
    for (int i = 0; i < seg->plan->n_windows; i++) {
        size_t bytes = host_bytes(seg, &seg->plan->windows[i]);
        seg->host[i] = bytes > 0 ? at : NULL;
        at += bytes;
    }
    return true;
}

static bool open_scratch(Segment *seg, int t)
{
    Run *run = seg->run;
    const PartsTask *task = &seg->plan->tasks[t];
    TRY(exec_slice(run->exec, seg->plan->scratch_at[t], seg->plan->scratch[t], &seg->scratch[t],
                   run->err));
    PartsStore *kept = run->scratch[task->step];
    if (task->pass == 0 || !kept || !seg->scratch[t]) {
        return true;
    }
    uint64_t bytes = parts_store_bytes(kept), room = seg->plan->scratch[t];
    return copy_bytes(run, seg->scratch[t], kept, bytes < room ? bytes : room, false);
}

static bool open_all(Segment *seg)
{
    TRY(open_host(seg));
    for (int i = 0; i < seg->plan->n_windows; i++) {
        TRY(open_window(seg, i));
    }
    for (int t = 0; t < seg->plan->n_tasks; t++) {
        TRY(open_scratch(seg, t));
    }
    return true;
}

/* Where the rows of a window lie that is there for the part. */
static ExecPlace place_rows(const Segment *seg, const PartsWindow *w)
{
    const ExecGrid *g = grid_of(seg->run, w->buffer);
    ExecPlace place = exec_place_all(seg->run->plan, w->buffer);
    int from, to;
    window_rows(seg, w, &from, &to);
    place.rows = seg->plan->planes ? g->h : (int)w->rows;
    place.planes = seg->plan->planes ? (int)w->rows : g->d;
    place.row0 = seg->plan->planes ? (int64_t)from * g->h : from;
    if (seg->plan->cols > 0 && !w->load) {
        place.pitch = parts_box_pitch(seg->plan->cols);
        place.col0 = seg->col;
    }
    return place;
}

/* Loads the box that the part needs, unless it is there, and says where it lies. */
static bool load_box(Segment *seg, int i)
{
    Run *run = seg->run;
    const PartsWindow *w = &seg->plan->windows[i];
    const PartsPart part = {seg->at, seg->rows, seg->col, seg->cols};
    PartsBox box;
    TRY(parts_box(run->plan, seg->plan, i, part, &box, run->err));
    run->exec->place[w->buffer] = parts_box_place(run->plan, w, &box);
    bool there = run->resident[w->buffer] != NOWHERE ||
                 memcmp(&box, &seg->box[i], sizeof box) == 0;
    seg->box[i] = box;
    return there || parts_load_box(&run->pixels, w, seg->mem[i], &box, run->err);
}

static bool run_part(Segment *seg)
{
    Exec *exec = seg->run->exec;
    bool cut = seg->plan->kind == PARTS_CUT;
    for (int i = 0; cut && i < seg->plan->n_windows; i++) {
        const PartsWindow *w = &seg->plan->windows[i];
        if (w->boxed) {
            TRY(load_box(seg, i));
        } else if (!w->whole) {
            bool there = seg->run->resident[w->buffer] != NOWHERE;
            TRY(!w->load || there || load_rows(seg, i));
            exec->place[w->buffer] = place_rows(seg, w);
        }
    }
    for (int t = 0; t < seg->plan->n_tasks; t++) {
        TRY(!exec_stopped(exec, seg->run->err) && run_task(seg, t));
    }
    for (int i = 0; cut && i < seg->plan->n_windows; i++) {
        if (seg->plan->windows[i].keep && !seg->plan->windows[i].whole) {
            TRY(save_rows(seg, i));
        }
    }
    return true;
}

/* The part, tile by tile where it is one of all columns. */
static bool run_columns(Segment *seg)
{
    const PartsSegment *plan = seg->plan;
    if (plan->cols == 0) {
        return run_part(seg);
    }
    int width = parts_grid(seg->run->plan, plan->tasks[0].step)->w;
    for (seg->col = 0; seg->col < width; seg->col += plan->cols) {
        seg->cols = smaller(plan->cols, width - seg->col);
        TRY(run_part(seg));
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
        } else if (w->keep && seg->plan->cols > 0 && run->parts->given[w->buffer]) {
            TRY(parts_give(&run->pixels, w->buffer, run->err));
        }
    }
    for (int t = 0; t < seg->plan->n_tasks; t++) {
        const PartsTask *task = &seg->plan->tasks[t];
        PartsStore **kept = &run->scratch[task->step];
        parts_store_drop(*kept);
        *kept = NULL;
        if (!task->last_pass && seg->plan->scratch[t] > 0) {
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
    for (int i = seg->plan->n_windows - 1; i >= 0 && seg->mem && seg->host; i--) {
        dev_free(exec->dev, seg->mem[i]);
        exec->mem[seg->plan->windows[i].buffer] = NULL;
    }
    free(seg->mem);
    free(seg->scratch);
    free(seg->host);
    free(seg->from);
    free(seg->to);
    free(seg->box);
}

static bool segment_begin(Segment *seg, Run *run, PartsSegment *plan)
{
    size_t windows = (size_t)plan->n_windows + 1, tasks = (size_t)plan->n_tasks + 1;
    *seg = (Segment){.run = run, .plan = plan};
    seg->mem = calloc(windows, sizeof *seg->mem);
    seg->scratch = calloc(tasks, sizeof *seg->scratch);
    seg->host = calloc(windows, sizeof *seg->host);
    seg->from = calloc(windows, sizeof *seg->from);
    seg->to = calloc(windows, sizeof *seg->to);
    seg->box = calloc(windows, sizeof *seg->box);
    return (seg->mem && seg->scratch && seg->host && seg->from && seg->to && seg->box) ||
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

static bool run_segment(Run *run, PartsSegment *plan)
{
    Segment seg;
    for (int t = 0; t < plan->n_tasks; t++) {
        run->done[plan->tasks[t].step] = run->done[plan->tasks[t].step] && plan->tasks[t].pass > 0;
    }
    if (is_done(run, plan)) {
        return true;
    }
    TRY(read_labels(run, plan));
    TRY(parts_layout(run->plan, &run->exec->target, run->parts, plan, run->labels, run->vectors,
                     run->parts->peak, run->err));
    bool ok = segment_begin(&seg, run, plan);
    if (ok) {
        forget_overwritten(&seg);
        ok = open_all(&seg);
    }
    for (int at = 0; ok && at < plan->extent; at += plan->rows) {
        seg.at = at;
        seg.rows = smaller(plan->rows, plan->extent - at);
        ok = run_columns(&seg);
    }
    ok = ok && (plan->kind != PARTS_WHOLE || read_labels(run, &(PartsSegment){0})) &&
         save_all(&seg);
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

/* ---- loops ----------------------------------------------------------------------------- */

/* All carries take their next images at once; nothing is copied. */
static bool carry(Run *run, const ProgStep *end)
{
    PartsStore **store = run->pixels.store;
    PartsStore **next = calloc((size_t)end->n_carries + 1, sizeof *next);
    if (!next) {
        return no_memory(run->err);
    }
    for (int i = 0; i < end->n_carries; i++) {
        const ProgCarry *c = &end->carries[i];
        next[i] = !c->is_value && store[c->next] ? parts_store_keep(store[c->next]) : NULL;
    }
    for (int i = 0; i < end->n_carries; i++) {
        if (next[i]) {
            run->resident[end->carries[i].carry] = NOWHERE;
            parts_store_drop(store[end->carries[i].carry]);
            store[end->carries[i].carry] = next[i];
        }
    }
    free(next);
    return exec_carry_values(end, run->exec->dev, run->exec->values_mem, run->err);
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
    const ProgStep *step = &run->program->steps[s];
    bool watch = step->n_exprs > 0 && step->exprs[0] < 0 && step->value >= 0;
    double before = NAN, now = NAN;
    for (int round = 0; round < run->plan->steps[s].rounds; round++) {
        TRY(run_range(run, loop + 1, end));
        if (watch) {
            TRY(dev_read(run->exec->dev, run->exec->values_mem,
                         (size_t)step->value * sizeof now, &now, sizeof now, run->err));
        }
        TRY(carry(run, &run->program->steps[run->plan->steps[s].end]));
        if (watch && now == before) {
            break;
        }
        before = now;
    }
    return true;
}

static bool run_range(Run *run, int from, int to)
{
    for (int i = from; i < to; i++) {
        PartsSegment *seg = &run->parts->segments[i];
        if (seg->kind == PARTS_LOOP) {
            TRY(run_loop(run, i));
            i = end_of(run->parts, i);
        } else {
            TRY(run_segment(run, seg));
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
    run->state = calloc(steps, sizeof *run->state);
    run->done = calloc(steps, sizeof *run->done);
    run->scratch = calloc(steps, sizeof *run->scratch);
    run->resident = malloc(buffers * sizeof *run->resident);
    for (size_t i = 0; run->resident && i < buffers; i++) {
        run->resident[i] = NOWHERE;
    }
    run->pixels.store = calloc(buffers, sizeof *run->pixels.store);
    run->pixels.most = calloc((size_t)run->program->n_outputs + 1, sizeof *run->pixels.most);
    return (run->vectors && run->labels && run->state && run->done && run->scratch &&
            run->resident &&
            run->pixels.store && run->pixels.most) ||
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
    free(run->state);
    free(run->done);
    free(run->scratch);
    free(run->resident);
    dev_host_free(run->exec->dev, run->host);
    free(run->pixels.store);
    free(run->pixels.most);
    free(run->pixels.line);
}

bool parts_run(Exec *exec, const ExecStream *stream, Err *err)
{
    Run run = {.exec = exec,
               .program = exec->program,
               .plan = exec->plan,
               .parts = exec->plan->parts,
               .pixels = {.exec = exec, .stream = stream, .budget = {store_budget(exec)}},
               .err = err};
    bool ok = begin(&run) && parts_count_labels(&run.pixels, err) && exec_write_counts(exec, err) &&
              run_range(&run, 0, run.parts->n) &&
              read_labels(&run, &(PartsSegment){0}) &&
              parts_give_rest(&run.pixels, err);
    end(&run);
    return ok;
}
