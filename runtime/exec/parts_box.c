/*
 * parts_box: what a part needs of an image that is read at computed places.
 *
 * Each read gives the range of its coordinates (host_range); the border maps what lies beyond the
 * image back into it; the box is the hull of all reads.  Under the border `wrap` it may reach over
 * the image's end and begin again (ARG_SEAM).
 */
#include "parts.h"

#include <limits.h>
#include <stdlib.h>

enum {
    COLUMNS = 256,        /* tiles are whole multiples of a work-group's columns */
    MOST_LOOKED_AT = 4096 /* parts, where only the least memory is asked for */
};

bool parts_reads_box(const ProgRead *read)
{
    return read->in_rounds || (read->below < 0 && (read->at[0] >= 0 || read->at[1] >= 0 || read->at[2] >= 0));
}

bool parts_has_columns(const ExecPlan *plan, const PartsSegment *seg)
{
    const ProgStep *step = seg->n_tasks == 1 ? &plan->program->steps[seg->tasks[0].step] : NULL;
    return seg->kind == PARTS_CUT && step && step->kind == STEP_LAUNCH && step->boxed &&
           parts_grid(plan, seg->tasks[0].step)->w > COLUMNS;
}

/* ---- one read ---------------------------------------------------------------------------- */

typedef struct Span {
    int64_t lo, hi;
} Span;

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static Span hull(Span a, Span b)
{
    return (Span){at_most(a.lo, b.lo), at_least(a.hi, b.hi)};
}

static Span thrown_back(Span s, int64_t n)
{
    if (s.lo <= -n || s.hi >= 2 * n - 1) {
        return (Span){0, n - 1};
    }
    Span all = {at_least(s.lo, 0), at_most(s.hi, n - 1)};
    all = all.lo <= all.hi ? all : (Span){n - 1, 0}; /* nothing */
    if (s.lo < 0) {                                  /* reflect gives -i - 1, mirror -i */
        all = hull(all, (Span){at_least(-at_most(s.hi, -1) - 1, 0), at_most(-s.lo, n - 1)});
    }
    if (s.hi >= n) {
        all = hull(all, (Span){at_least(2 * n - 2 - s.hi, 0), 2 * n - 1 - at_least(s.lo, n)});
    }
    return all;
}

static Span mapped(Span s, int64_t n, int axis, Border border)
{
    if (s.lo >= 0 && s.hi < n) {
        return s;
    }
    switch (border) {
    case BORDER_REFLECT:
    case BORDER_MIRROR:
        return thrown_back(s, n);
    case BORDER_WRAP:
        return axis > 0 && s.hi - s.lo + 1 < n ? s : (Span){0, n - 1};
    case BORDER_NEAREST:
    case BORDER_CONSTANT:
    case BORDER_KINDS:
        break;
    }
    return (Span){at_least(at_most(s.lo, n - 1), 0), at_least(at_most(s.hi, n - 1), 0)};
}

/* Pixels that a task computes for a part: the first and last along x, y and z. */
static void pixels_of(const ExecPlan *plan, const PartsSegment *seg, const PartsTask *task, PartsPart part,
                      int first[3], int last[3])
{
    const ExecGrid *g = parts_grid(plan, task->step);
    const int extent[3] = {g->w, g->h, g->d}, cut = seg->planes ? 2 : 1;
    for (int ax = 0; ax < 3; ax++) {
        first[ax] = 0;
        last[ax] = extent[ax] - 1;
    }
    int64_t from = (int64_t)part.at - task->lo - task->around;
    int64_t to = (int64_t)part.at + part.rows + task->hi + task->around - 1;
    first[cut] = (int)at_least(from, 0);
    last[cut] = (int)at_most(to, seg->extent - 1);
    if (seg->cols > 0) {
        first[0] = part.col;
        last[0] = part.col + part.cols - 1;
    }
}

static bool read_span(const ExecPlan *plan, const PartsSegment *seg, const ProgRead *read, const int first[3],
                      const int last[3], int axis, int n, Span *span, Err *err)
{
    *span = (Span){0, n - 1};
    if (read->below >= 0 && axis == (seg->planes ? 2 : 1)) {
        int below, above;
        TRY(parts_halo(plan, seg->planes, read, &below, &above, err));
        *span = mapped((Span){(int64_t)first[axis] - below, (int64_t)last[axis] + above}, n, axis, BORDER_NEAREST);
    } else if (read->below < 0 && read->at[axis] >= 0) {
        HostRange r;
        TRY(host_range(plan->program, &plan->host, read->at[axis], first, last, &r, err));
        if (r.lo >= INT_MIN && r.hi <= INT_MAX) {
            *span = mapped((Span){(int64_t)r.lo, (int64_t)r.hi}, n, axis, read->border);
        }
    }
    return true;
}

/* ---- slabs ------------------------------------------------------------------------------- */

/* The slab of a round: rows (planes) of all columns; the last one ends where the image does. */
static PartsBox slab_of(const ExecGrid *g, const PartsWindow *w, int round)
{
    PartsBox box = {{0, 0, 0}, {g->w, g->h, g->d}};
    int axis = g->has_z ? 2 : 1, rows = w->most[axis];
    box.from[axis] = round * rows;
    box.n[axis] = (int)at_most(rows, box.n[axis] - box.from[axis]);
    return box;
}

/* Slabs of as many bytes as the segment says; loaded for each part, unless there is but one. */
static void slab_all(const ExecPlan *plan, PartsSegment *seg, PartsWindow *w)
{
    const ExecGrid *g = &plan->grids[plan->program->buffers[w->buffer].grid];
    const int extent = g->has_z ? g->d : g->h, axis = g->has_z ? 2 : 1;
    uint64_t bytes = plan->buffers[w->buffer].bytes, row = bytes / (uint64_t)extent;
    int rows = seg->slab < row ? 1 : (int)(seg->slab / row < (uint64_t)extent ? seg->slab / row : (uint64_t)extent);
    w->most[0] = g->w;
    w->most[1] = g->h;
    w->most[2] = g->d;
    w->most[axis] = rows;
    seg->rounds = (extent + rows - 1) / rows;
    w->loaded = seg->rounds > 1 ? bytes * (uint64_t)seg->parts : bytes;
}

/* ---- all reads --------------------------------------------------------------------------- */

bool parts_box(const ExecPlan *plan, const PartsSegment *seg, int i, PartsPart part, PartsBox *box, Err *err)
{
    const PartsWindow *w = &seg->windows[i];
    const ExecGrid *g = &plan->grids[plan->program->buffers[w->buffer].grid];
    const int extent[3] = {g->w, g->h, g->d};
    if (w->in_rounds) {
        *box = slab_of(g, w, part.round);
        return true;
    }
    Span all[3] = {{INT_MAX, INT_MIN}, {INT_MAX, INT_MIN}, {INT_MAX, INT_MIN}}, span;
    for (int t = 0; t < seg->n_tasks; t++) {
        const ProgStep *step = &plan->program->steps[seg->tasks[t].step];
        int first[3], last[3];
        pixels_of(plan, seg, &seg->tasks[t], part, first, last);
        for (int r = 0; r < step->n_reads; r++) {
            for (int ax = 0; step->reads[r].buffer == w->buffer && ax < 3; ax++) {
                TRY(read_span(plan, seg, &step->reads[r], first, last, ax, extent[ax], &span, err));
                all[ax] = hull(all[ax], span);
            }
        }
    }
    for (int ax = 0; ax < 3; ax++) {
        int64_t n = all[ax].hi - all[ax].lo + 1, e = extent[ax];
        box->n[ax] = n < e ? (int)n : extent[ax];
        box->from[ax] = n < e ? (int)((all[ax].lo % e + e) % e) : 0;
    }
    return true;
}

/* Part `number` of the segment, row by row of tiles. */
static PartsPart part_of(const PartsSegment *seg, int64_t number, int width, int cols)
{
    int64_t across = (width + cols - 1) / cols;
    int at = (int)(number / across) * seg->rows, col = (int)(number % across) * cols;
    return (PartsPart){at, (int)at_most(seg->rows, seg->extent - at), col, (int)at_most(cols, width - col), 0};
}

bool parts_box_all(const ExecPlan *plan, PartsSegment *seg, int i, Err *err)
{
    PartsWindow *w = &seg->windows[i];
    if (w->in_rounds) {
        slab_all(plan, seg, w);
        return true;
    }
    const ExecGrid *g = &plan->grids[plan->program->buffers[w->buffer].grid];
    uint64_t row = (uint64_t)g->w * elem_size(plan->buffers[w->buffer].elem) * (uint64_t)g->c;
    int width = seg->n_tasks > 0 ? parts_grid(plan, seg->tasks[0].step)->w : 1;
    int cols = seg->cols > 0 ? seg->cols : width;
    int64_t n = ((int64_t)seg->extent + seg->rows - 1) / seg->rows * ((width + cols - 1) / cols);
    int64_t skip = seg->roughly ? 1 + n / MOST_LOOKED_AT : 1;
    PartsBox box, before = {.n = {0, 0, 0}};
    w->loaded = 0;
    w->most[0] = w->most[1] = w->most[2] = 0;
    for (int64_t number = 0; number < n && parts_box_bytes(plan, w) <= seg->enough; number += skip) {
        TRY(parts_box(plan, seg, i, part_of(seg, number, width, cols), &box, err));
        bool same = true;
        for (int ax = 0; ax < 3; ax++) {
            w->most[ax] = box.n[ax] > w->most[ax] ? box.n[ax] : w->most[ax];
            same = same && box.from[ax] == before.from[ax] && box.n[ax] == before.n[ax];
        }
        w->loaded += same ? 0 : row * (uint64_t)box.n[1] * (uint64_t)box.n[2] * (uint64_t)(number > 0 ? skip : 1);
        before = box;
    }
    return true;
}

/* ---- what no part can do without ----------------------------------------------------------- */

/* All rows (planes) of an image are there for one part of several. */
static bool has_all_rows(const ExecPlan *plan, const PartsSegment *seg, const PartsWindow *w)
{
    const ExecGrid *g = &plan->grids[plan->program->buffers[w->buffer].grid];
    bool box = w->boxed && (seg->planes ? w->most[2] == g->d : w->most[1] == g->h);
    bool several = seg->kind == PARTS_CUT && (seg->parts > 1 || seg->cols > 0);
    return several && (box || w->whole) && !parts_is_vector(plan, w->buffer);
}

/* The first step of the segment that reads it otherwise than by rows around the part; -1: none. */
static int reader_of(const ExecPlan *plan, const PartsSegment *seg, int buffer)
{
    for (int t = 0; t < seg->n_tasks; t++) {
        const ProgStep *step = &plan->program->steps[seg->tasks[t].step];
        for (int r = 0; r < parts_reads(plan, &seg->tasks[t]); r++) {
            if (step->reads[r].buffer == buffer && step->reads[r].below < 0) {
                return seg->tasks[t].step;
            }
        }
    }
    return -1;
}

PartsAnywhere parts_read_anywhere(const ExecPlan *plan, const PartsPlan *parts)
{
    PartsAnywhere most = {.step = -1, .buffer = -1};
    for (int i = 0; i < parts->n; i++) {
        const PartsSegment *seg = &parts->segments[i];
        for (int k = 0; k < seg->n_windows; k++) {
            const PartsWindow *w = &seg->windows[k];
            int reader = reader_of(plan, seg, w->buffer);
            if (w->bytes > most.bytes && reader >= 0 && has_all_rows(plan, seg, w)) {
                most = (PartsAnywhere){reader, w->buffer, seg->planes, w->bytes};
            }
        }
    }
    return most;
}
