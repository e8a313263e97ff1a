/*
 * parts_layout: how many rows the parts of a segment have, and where everything lies in the arena.
 *
 * Every byte counts: windows, whole buffers, scratch of primitives.  What does not live at the same
 * time shares its place (plan.h).  The longest parts that stay within the limit are found by halving,
 * then made equally long.
 *
 * Where the device has memory of its own, windows whose rows come and go are double-buffered, so
 * that rows move while a part is computed.  Such parts are many rather than long: the first part's rows
 * and the last one's move while nothing is computed.
 */
#include "parts.h"

#include "plan.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GRAIN = 16,              /* longest parts are looked for in steps of this many rows */
    BUFFER_PARTS = 8,        /* as many parts are enough for double buffers, */
    BUFFER_BYTES = 16 << 20, /* but rows that move take at least so many bytes a part, */
    BUFFER_HALO = 8,         /* and the part is so many times what is around it */
    SHORT_BYTES = 32 << 20,  /* are enough to move a part where longer parts would take the room of
                               resident rows; */
    SHORT_SHARE = 8,         /* and so is such a share of the limit */
    SLAB_SHARE = 8, /* of the limit: what a round has of an image that is read anywhere.  Longer parts save more */
    NEARLY = 64,    /* parts that were looked for among some of them are shortened by this part */
    COLUMNS = 256   /* tiles are multiples of so many columns */
};

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the plan of a run in parts");
}

/* As many as there are or, where nobody knows, are expected. */
static double labels_of(const ExecPlan *plan, const PartsPlan *parts, int s, const double *labels)
{
    int slot = plan->program->steps[s].of_value;
    return slot >= 0 && labels && !isnan(labels[slot]) ? labels[slot] : parts->labels;
}

/* Elements of a vector: as many as it was made with, else as its maker would make it. */
static int64_t vector_length(const ExecPlan *plan, const PartsPlan *parts, int buffer, const double *labels,
                             const int64_t *vectors)
{
    int maker = parts->maker[buffer];
    int64_t most = plan->buffers[buffer].length;
    if (vectors && vectors[buffer] > 0) {
        return vectors[buffer];
    }
    if (maker < 0 || plan->program->steps[maker].of_value < 0) {
        return most;
    }
    double wanted = labels_of(plan, parts, maker, labels) + 2;
    return wanted < (double)most ? (int64_t)wanted : most;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* So many rows (planes) that channels begin where slices of memory may. */
static int64_t aligned_rows(const ExecTarget *target, int64_t rows, uint64_t bytes)
{
    int64_t step = (int64_t)(target->alignment / common_divisor(target->alignment, bytes));
    return (rows + step - 1) / step * step;
}

/* A primitive takes the channels of the buffer one by one. */
static bool has_slices(const ExecPlan *plan, const PartsSegment *seg, int buffer)
{
    bool has = false;
    for (int t = 0; t < seg->n_tasks; t++) {
        const ProgStep *step = &plan->program->steps[seg->tasks[t].step];
        for (int i = 0; step->kind == STEP_PRIMITIVE && i < step->n_inputs; i++) {
            has = has || step->inputs[i] == buffer;
        }
        for (int i = 0; step->kind == STEP_PRIMITIVE && i < step->n_writes; i++) {
            has = has || step->writes[i] == buffer;
        }
    }
    return has;
}

/* So many planes that channels begin where slices of memory may, however many rows they have. */
static int aligned_planes(const ExecTarget *target, int planes, Elem elem)
{
    uint64_t least = EXEC_PITCH * elem_size(elem);
    uint64_t step = target->alignment / common_divisor(target->alignment, least);
    return (int)(((uint64_t)planes + step - 1) / step * step);
}

/* A window of rows around the part; of a tile's columns, where the segment writes it. */
static void size_rows(const ExecPlan *plan, const ExecTarget *target, const PartsSegment *seg, PartsWindow *w)
{
    const ExecBuffer *b = &plan->buffers[w->buffer];
    const ExecGrid *g = &plan->grids[plan->program->buffers[w->buffer].grid];
    bool across = !w->whole && parts_is_across(seg, g);
    bool slices = g->c > 1 && !w->whole && has_slices(plan, seg, w->buffer);
    int extent = parts_extent(g, g->has_z && !across);
    int64_t rows = w->whole ? extent : (int64_t)seg->rows + w->lo + w->hi;
    int64_t pitch = seg->cols > 0 && !w->load ? parts_box_pitch(seg->cols) : g->pitch;
    uint64_t line = (uint64_t)pitch * elem_size(b->elem);
    w->rows = rows < extent ? rows : extent;
    w->planes = across && slices ? aligned_planes(target, g->d, b->elem) : g->d;
    line *= (uint64_t)(across ? w->planes : g->has_z ? g->h : 1);
    if (slices && !across) {
        w->rows = aligned_rows(target, w->rows, line);
    }
    w->bytes = line * (uint64_t)w->rows * (uint64_t)g->c;
}

static bool size_box(const ExecPlan *plan, PartsSegment *seg, int i, Err *err)
{
    PartsWindow *w = &seg->windows[i];
    bool exact = !w->in_rounds && !seg->roughly && seg->enough == UINT64_MAX;
    if (exact && w->known.rows == seg->rows && w->known.cols == seg->cols) {
        memcpy(w->most, w->known.most, sizeof w->most);
        w->loaded = w->known.loaded;
    } else {
        TRY(parts_box_all(plan, seg, i, err));
    }
    if (exact) {
        w->known = (PartsBoxes){seg->rows, seg->cols, {w->most[0], w->most[1], w->most[2]}, w->loaded};
    }
    w->rows = w->most[1];
    w->bytes = parts_box_bytes(plan, w);
    return true;
}

static bool size_windows(const ExecPlan *plan, const ExecTarget *target, const PartsPlan *parts, PartsSegment *seg,
                         const double *labels, const int64_t *vectors, Err *err)
{
    for (int i = 0; i < seg->n_windows; i++) {
        PartsWindow *w = &seg->windows[i];
        const ExecBuffer *b = &plan->buffers[w->buffer];
        int grid = plan->program->buffers[w->buffer].grid;
        if (grid < 0) {
            w->rows = 1;
            w->bytes = elem_size(b->elem) * (uint64_t)vector_length(plan, parts, w->buffer, labels, vectors);
            continue;
        }
        if (w->boxed) {
            TRY(size_box(plan, seg, i, err));
        } else {
            size_rows(plan, target, seg, w);
        }
    }
    return true;
}

static bool size_scratch(const ExecPlan *plan, const ExecTarget *target, const PartsPlan *parts, PartsSegment *seg,
                         const double *labels, Err *err)
{
    for (int t = 0; t < seg->n_tasks; t++) {
        const PartsTask *task = &seg->tasks[t];
        const ProgStep *step = &plan->program->steps[task->step];
        const Primitive *primitive = step->kind == STEP_PRIMITIVE ? prim_find(step->primitive) : NULL;
        seg->scratch[t] = seg->rounds > 1 ? (uint64_t)seg->rounds * sizeof(int32_t) : 0;
        if (primitive && primitive->scratch_bytes) {
            PrimCall call;
            parts_call(plan, seg, task, target->dev, 0, seg->rows, 0, labels_of(plan, parts, task->step, labels),
                       &call);
            for (int i = 0; i < step->n_writes; i++) {
                if (parts_is_vector(plan, step->writes[i])) {
                    call.out[i].length = vector_length(plan, parts, step->writes[i], labels, NULL);
                }
            }
            call.state = parts->state ? &parts->state[task->step] : NULL;
            call.err = err;
            call.room = parts->room;
            call.limit = parts->limit;
            call.certain = step->of_value >= 0 && labels && !isnan(labels[step->of_value]);
            seg->scratch[t] = primitive->scratch_bytes(&call);
        }
    }
    return err->code == CODE_OK;
}

bool parts_is_double_buffered(const PartsSegment *seg, const PartsWindow *w)
{
    return seg->double_buffers && !w->whole && (w->load || w->keep);
}

/* The window whose place the one that task t makes takes: the same rows, which nobody needs any more. */
static int onto_of(const ExecPlan *plan, const PartsSegment *seg, int i)
{
    const PartsWindow *w = &seg->windows[i];
    int onto = -1;
    for (int k = 0; k < seg->n_windows && plan->buffers[w->buffer].onto >= 0; k++) {
        const PartsWindow *under = &seg->windows[k];
        bool plain = !w->whole && !under->whole && !w->load && !under->keep && !under->boxed &&
                     !parts_is_double_buffered(seg, w) && !parts_is_double_buffered(seg, under);
        bool same = under->lo == w->lo && under->hi == w->hi && under->rows == w->rows && under->bytes == w->bytes;
        bool again = under->load && (under->lo + under->hi > 0 || seg->cols > 0); /* for the next part */
        if (under->buffer == plan->buffers[w->buffer].onto && under->last == w->first && plain && same && !again) {
            onto = k;
        }
    }
    return onto;
}

/* Behind the resident rows.  In the list: windows, tasks' scratch, the second places of windows. */
static bool pack(const ExecPlan *plan, const ExecTarget *target, PartsSegment *seg, Err *err)
{
    int second = seg->n_windows + seg->n_tasks;
    size_t n = (size_t)(second + seg->n_windows);
    uint64_t base = seg->crowded ? 0 : seg->base;
    PlanBuffer *list = calloc(n + 1, sizeof *list);
    PlanResult result = {0};
    if (!list) {
        return no_memory(err);
    }
    for (int i = 0; i < seg->n_windows; i++) {
        const PartsWindow *w = &seg->windows[i];
        bool two = parts_is_double_buffered(seg, w);
        list[i] = (PlanBuffer){w->bytes,
                               w->load ? -1
                               : two   ? 0
                                       : w->first,
                               two ? seg->n_tasks : w->last, onto_of(plan, seg, i), 0};
        list[second + i] = (PlanBuffer){two ? w->bytes : 0, 0, seg->n_tasks, -1, 0};
    }
    for (int t = 0; t < seg->n_tasks; t++) {
        list[seg->n_windows + t] = (PlanBuffer){seg->scratch[t], 0, seg->n_tasks, -1, 0};
    }
    bool ok = plan_pack(list, (int)n, target->alignment, target->max_alloc, &result, err);
    for (int i = 0; ok && i < seg->n_windows; i++) {
        seg->windows[i].offset = base + list[i].offset;
        seg->windows[i].second = base + list[second + i].offset;
    }
    for (int t = 0; ok && t < seg->n_tasks; t++) {
        seg->scratch_at[t] = base + list[seg->n_windows + t].offset;
    }
    seg->bytes = base + result.peak;
    free(list);
    return ok;
}

/* The segment with parts of this many rows, as few as that makes, and of equal length. */
static bool try_rows(const ExecPlan *plan, const ExecTarget *target, const PartsPlan *parts, PartsSegment *seg,
                     const double *labels, const int64_t *vectors, int rows, Err *err)
{
    seg->rows = rows < seg->extent ? rows : seg->extent;
    seg->parts = (seg->extent + seg->rows - 1) / seg->rows;
    if (seg->cols > 0) {
        int width = parts_grid(plan, seg->tasks[0].step)->w;
        int64_t tiles = (int64_t)seg->parts * ((width + seg->cols - 1) / seg->cols);
        seg->parts = tiles < INT_MAX ? (int)tiles : INT_MAX;
    }
    return size_windows(plan, target, parts, seg, labels, vectors, err) &&
           size_scratch(plan, target, parts, seg, labels, err) && pack(plan, target, seg, err);
}

/* Plans fit: only what is known while they run can be too much. */
static bool does_not_fit(const ExecPlan *plan, const PartsSegment *seg, uint64_t limit, Err *err)
{
    const ProgStep *step = &plan->program->steps[seg->tasks[seg->n_tasks - 1].step];
    return err_set(err, CODE_MEMORY, "'%s' needs %.3f MiB on the device, but only %.3f MiB were planned", step->name,
                   (double)seg->bytes / 0x1p20, (double)limit / 0x1p20);
}

int parts_grain(const ExecPlan *plan, const ExecTarget *target, const PartsSegment *seg)
{
    bool across = seg->n_tasks > 0 && parts_is_across(seg, parts_grid(plan, seg->tasks[0].step));
    int grain = seg->planes || across || target->part_rows > 0 ? 1 : GRAIN;
    for (int i = 0; i < seg->n_windows; i++) { /* few rows may need many */
        grain = seg->windows[i].boxed ? 1 : grain;
    }
    for (int t = 0; !seg->planes && t < seg->n_tasks; t++) {
        const ProgStep *step = &plan->program->steps[seg->tasks[t].step];
        int own = step->kind == STEP_PRIMITIVE ? prim_find(step->primitive)->grain : 1;
        grain = own > grain ? own : grain;
    }
    return grain;
}

bool parts_least(const ExecPlan *plan, const ExecTarget *target, const PartsPlan *parts, PartsSegment *seg,
                 const double *labels, const int64_t *vectors, Err *err)
{
    int grain = seg->grain;
    if (seg->kind == PARTS_LOOP || seg->kind == PARTS_END) {
        return true;
    }
    seg->double_buffers = false;
    seg->slab = 0;
    seg->enough = UINT64_MAX;
    seg->cols = parts_has_columns(plan, seg) ? COLUMNS : 0;
    seg->roughly = true;
    bool ok = try_rows(plan, target, parts, seg, labels, vectors, seg->kind == PARTS_WHOLE ? seg->extent : grain, err);
    seg->roughly = false;
    return ok;
}

/* A layout that is looked for. */
typedef struct Search {
    const ExecPlan *plan;
    const ExecTarget *target;
    const PartsPlan *parts;
    const double *labels;
    const int64_t *vectors;
    uint64_t limit;
    Err *err;
} Search;

static bool lay_out(const Search *s, PartsSegment *seg, int rows)
{
    return try_rows(s->plan, s->target, s->parts, seg, s->labels, s->vectors, rows, s->err);
}

/* The longest parts of at most `most` rows that seem to stay within the limit, in grains; 0: not even the shortest
 * do.  The boxes of thousands of parts say nearly as much as those of millions, and never more. */
static bool find_grains(const Search *s, PartsSegment *seg, int most, int *grains)
{
    int low = 1, high = (most + seg->grain - 1) / seg->grain;
    bool ok = true;
    seg->roughly = true;
    while (low < high && ok) {
        int middle = low + (high - low + 1) / 2;
        ok = lay_out(s, seg, middle * seg->grain);
        if (seg->bytes <= s->limit) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    ok = ok && lay_out(s, seg, low * seg->grain);
    seg->roughly = false;
    *grains = seg->bytes <= s->limit ? low : 0;
    return ok;
}

/* The longest parts of at most `most` rows that stay within the limit, if any do, all alike. */
static bool find_rows(const Search *s, PartsSegment *seg, int most)
{
    int grain = seg->grain, low;
    TRY(find_grains(s, seg, most, &low));
    if (low == 0) {
        return true;
    }
    TRY(lay_out(s, seg, low * grain));
    while (seg->bytes > s->limit && low > 1) {
        low -= 1 + low / NEARLY;
        low = low > 1 ? low : 1;
        TRY(lay_out(s, seg, low * grain));
    }
    if (seg->bytes > s->limit || s->target->part_rows > 0) {
        return true;
    }
    int rows = seg->rows, strips = (seg->extent + rows - 1) / rows;
    TRY(lay_out(s, seg, ((seg->extent + strips - 1) / strips + grain - 1) / grain * grain));
    return seg->bytes <= s->limit || lay_out(s, seg, rows); /* boxes may be a row longer elsewhere */
}

static double loaded_bytes(const PartsSegment *seg)
{
    double bytes = 0;
    for (int i = 0; i < seg->n_windows; i++) {
        bytes += seg->windows[i].boxed ? (double)seg->windows[i].loaded : 0;
    }
    return bytes;
}

/* The columns of tiles, halved `times` times; 0: all of them. */
static int columns_of(int width, int times)
{
    return times == 0 ? 0 : ((width >> times) + COLUMNS - 1) / COLUMNS * COLUMNS;
}

/* What tiles of so many columns seem to load; infinite where not even the shortest seem to fit. */
static bool estimate(const Search *s, PartsSegment *seg, int cols, int most, double *load)
{
    int grains;
    seg->cols = cols;
    seg->enough = s->limit;
    bool ok = find_grains(s, seg, most, &grains);
    seg->enough = UINT64_MAX;
    *load = grains > 0 ? loaded_bytes(seg) : INFINITY;
    return ok;
}

static bool lay_out_rows(const Search *s, PartsSegment *seg, int fixed, int most)
{
    return fixed > 0 ? lay_out(s, seg, fixed) : find_rows(s, seg, most);
}

/* Tiles where they are the only way, or load less than strips of all columns: the best by what seems so, of
 * those that do fit. */
static bool lay_out_tiles(const Search *s, PartsSegment *seg, int fixed, int most)
{
    enum { MOST = 31 };
    double load[MOST];
    int width = parts_grid(s->plan, seg->tasks[0].step)->w, n = 0;
    bool tests = s->target->part_rows > 0, last = tests;
    for (; !tests && n < MOST && (n == 0 || width >> n > COLUMNS / 2); n++) {
        TRY(estimate(s, seg, columns_of(width, n), most, &load[n]));
    }
    do {
        int best = 0;
        for (int i = 1; i < n; i++) {
            best = load[i] < load[best] ? i : best;
        }
        seg->cols = tests ? COLUMNS : columns_of(width, best);
        TRY(lay_out_rows(s, seg, fixed, most));
        last = last || isinf(load[best]);
        load[best] = INFINITY;
    } while (seg->bytes > s->limit && !last);
    return true;
}

/* Rows around parts, the most of any window that is loaded, and bytes that move for a row. */
static void what_moves(const ExecPlan *plan, const PartsSegment *seg, int *around, uint64_t *bytes)
{
    *around = 0;
    *bytes = 1;
    for (int i = 0; i < seg->n_windows; i++) {
        const PartsWindow *w = &seg->windows[i];
        if (!w->whole && (w->load || w->keep)) {
            *around = w->lo + w->hi > *around ? w->lo + w->hi : *around;
            *bytes += (w->boxed ? w->loaded : plan->buffers[w->buffer].bytes) / (uint64_t)seg->extent;
        }
    }
}

/* Double buffers, if the parts do not get too short with them. */
static bool try_double_buffers(const Search *s, PartsSegment *seg, int fixed)
{
    int around, rows = seg->rows;
    uint64_t bytes;
    what_moves(s->plan, seg, &around, &bytes);
    if (bytes <= 1 || seg->parts == 1 || seg->cols > 0 || seg->rounds > 1 ||
        (s->target->cpu && s->target->part_rows == 0)) {
        return true;
    }
    int enough = (seg->extent + BUFFER_PARTS - 1) / BUFFER_PARTS, least = BUFFER_HALO * around;
    int moves = (uint64_t)enough * bytes < BUFFER_BYTES ? (int)(BUFFER_BYTES / bytes) : enough;
    int most = moves > least ? moves : least;
    seg->double_buffers = true;
    TRY(fixed > 0 ? lay_out(s, seg, fixed) : find_rows(s, seg, rows < most ? rows : most));
    bool tests = s->target->part_rows > 0;
    if (seg->bytes <= s->limit && (tests || fixed > 0 || seg->rows >= least)) {
        return true;
    }
    seg->double_buffers = false;
    return lay_out(s, seg, rows);
}

int parts_short(const ExecPlan *plan, const PartsSegment *seg, uint64_t limit)
{
    int around;
    uint64_t bytes, enough = limit / SHORT_SHARE < SHORT_BYTES ? limit / SHORT_SHARE : SHORT_BYTES;
    if (seg->rounds > 1) { /* each part costs all of an image */
        return 0;
    }
    what_moves(plan, seg, &around, &bytes);
    int rows = bytes > enough ? 1 : (int)(enough / bytes), least = BUFFER_HALO * around;
    return bytes <= 1 ? 0 : rows > least ? rows : least;
}

/* Tests have several rounds. */
static uint64_t slab_of(const Search *s, const PartsSegment *seg)
{
    uint64_t bytes = 0;
    for (int i = 0; i < seg->n_windows; i++) {
        const PartsWindow *w = &seg->windows[i];
        uint64_t slab = s->target->part_rows > 0 ? s->plan->buffers[w->buffer].bytes / 3 : s->limit / SLAB_SHARE;
        bytes = w->in_rounds ? slab : bytes;
    }
    return bytes;
}

/* Rows whose pixels primitives can count in 32 bits, with as many again around them. */
static int countable(const ExecPlan *plan, const PartsSegment *seg)
{
    double row = 1;
    for (int t = 0; t < seg->n_tasks; t++) {
        const ProgStep *step = &plan->program->steps[seg->tasks[t].step];
        if (step->kind == STEP_PRIMITIVE && step->grid >= 0) {
            const ExecGrid *g = &plan->grids[step->grid];
            double own = (double)g->w * (seg->planes ? (double)g->h * g->c : (double)g->planes);
            row = own > row ? own : row;
        }
    }
    double rows = UINT32_MAX / 2 / row;
    return rows < 1 ? 1 : rows < seg->extent ? (int)rows : seg->extent;
}

static bool layout_with(const Search *s, PartsSegment *seg, uint64_t slab)
{
    int fixed = seg->kind == PARTS_WHOLE ? seg->extent : seg->fixed, most = countable(s->plan, seg);
    most = seg->most > 0 && seg->most < most ? seg->most : most;
    if (s->target->owners > 1) {
        int share = seg->extent / s->target->owners / seg->grain * seg->grain;
        most = share < seg->grain ? seg->grain : share < most ? share : most;
    }
    most = s->target->part_rows > 0 ? s->target->part_rows : most;
    seg->slab = slab;
    seg->double_buffers = false;
    seg->enough = UINT64_MAX;
    seg->cols = 0;
    return parts_has_columns(s->plan, seg) ? lay_out_tiles(s, seg, fixed, most) : lay_out_rows(s, seg, fixed, most);
}

/* Resident rows keep their place. */
static bool layout_behind(const Search *s, PartsSegment *seg)
{
    uint64_t slab = slab_of(s, seg);
    return layout_with(s, seg, slab) && (seg->bytes <= s->limit || slab == 0 || layout_with(s, seg, 0));
}

bool parts_layout(const ExecPlan *plan, const ExecTarget *target, const PartsPlan *parts, PartsSegment *seg,
                  const double *labels, const int64_t *vectors, uint64_t limit, Err *err)
{
    const Search s = {plan, target, parts, labels, vectors, limit, err};
    if (seg->kind == PARTS_LOOP || seg->kind == PARTS_END) {
        return true;
    }
    seg->crowded = false;
    TRY(layout_behind(&s, seg));
    if (seg->bytes > limit && seg->base > 0) {
        seg->crowded = true;
        TRY(layout_behind(&s, seg));
    }
    if (seg->bytes > limit) {
        return does_not_fit(plan, seg, limit, err);
    }
    return seg->kind == PARTS_WHOLE || try_double_buffers(&s, seg, seg->fixed);
}
