/*
 * parts_arrange: how the layouts of segments go together.
 *
 * A primitive sees the same parts in all its passes, so the segments with these have parts alike.
 *
 * What several segments load goes over the bus again each time, and in a loop each round, while the
 * memory that long parts take makes nothing faster: parts need only be so long that launches and
 * halos cost little.  So where an image is loaded again, parts are short, and the rest of the memory
 * has as many of its first rows as there is room for.  They are resident, in the arena before everything else:
 * images in the order of how often they are loaded, each in one place as long as it is used.  How many
 * rows are resident may differ from segment to segment; those that do not are loaded again.
 */
#include "exec_fit.h"
#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    ROUNDS = 8, /* that are expected of a loop, at most */
    SHARE = 8,  /* less than this part of an image is not worth shorter parts */
    ROOM = 8    /* such a share of the limit is for what is known of labels, if that leaves enough */
};

typedef struct Arranging {
    const ExecPlan *plan;
    const ExecTarget *target;
    PartsPlan *parts;
    int *weight;    /* by segment: how often it runs */
    int *from, *to; /* by segment: the outermost loop around it, else itself */
    Err *err;
} Arranging;

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the plan of a run in parts");
}

static bool is_mark(const PartsSegment *seg)
{
    return seg->kind == PARTS_LOOP || seg->kind == PARTS_END;
}

/* ---- parts alike ----------------------------------------------------------------------- */

int parts_task(const PartsSegment *seg, int step)
{
    for (int i = 0; i < seg->n_tasks; i++) {
        if (seg->tasks[i].step == step) {
            return i;
        }
    }
    return -1;
}

static bool share_task(const PartsSegment *a, const PartsSegment *b)
{
    for (int i = 0; i < a->n_tasks; i++) {
        if (parts_task(b, a->tasks[i].step) >= 0 && (a->tasks[i].pass > 0 || !a->tasks[i].last_pass)) {
            return true;
        }
    }
    return false;
}

/* The shortest parts of segments that share primitives are for all of them; false when there are none. */
static bool fix_rows(PartsPlan *p)
{
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < p->n; i++) {
            for (int k = 0; k < p->n; k++) {
                PartsSegment *a = &p->segments[i], *b = &p->segments[k];
                bool both = i != k && a->kind == PARTS_CUT && b->kind == PARTS_CUT;
                if (both && share_task(a, b) && (a->rows != b->rows || a->fixed != b->fixed || a->fixed == 0)) {
                    a->rows = b->rows = a->rows < b->rows ? a->rows : b->rows;
                    a->fixed = b->fixed = a->rows;
                    changed = any = true;
                }
            }
        }
    }
    return any;
}

/* So their parts must do for the primitives of all of them: each grain divides the larger ones. */
static void share_grains(const Arranging *a)
{
    PartsPlan *p = a->parts;
    for (int i = 0; i < p->n; i++) {
        p->segments[i].grain = parts_grain(a->plan, a->target, &p->segments[i]);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < p->n; i++) {
            for (int k = 0; k < p->n; k++) {
                PartsSegment *x = &p->segments[i], *y = &p->segments[k];
                if (x->grain < y->grain && (share_task(x, y) || share_task(y, x))) {
                    x->grain = y->grain;
                    changed = true;
                }
            }
        }
    }
}

static bool lay_out_all(const Arranging *a)
{
    PartsPlan *p = a->parts;
    for (int i = 0; i < p->n; i++) {
        p->segments[i].fixed = 0;
    }
    for (int round = 0; round == 0 || (round == 1 && fix_rows(p)); round++) {
        for (int i = 0; i < p->n; i++) {
            TRY(parts_layout(a->plan, a->target, p, &p->segments[i], NULL, NULL, p->limit, a->err));
        }
    }
    fix_rows(p);
    return true;
}

/* ---- what is resident ------------------------------------------------------------------------ */

int parts_resident_rows(const PartsSegment *seg, int i)
{
    return seg->resident == NULL || seg->crowded ? 0 : seg->resident[i];
}

uint64_t parts_resident_bytes(const ExecPlan *plan, const PartsResident *resident, int rows)
{
    uint64_t before = (uint64_t)(plan->grids[plan->program->buffers[resident->buffer].grid].c - 1);
    return rows > 0 ? (before * (uint64_t)resident->rows + (uint64_t)rows) * resident->bytes : 0;
}

/* Loops around segments, and how often these run. */
static void find_loops(const Arranging *a)
{
    const PartsPlan *p = a->parts;
    int depth = 0, weight[64] = {1}, begin = 0;
    for (int i = 0; i < p->n; i++) {
        const PartsSegment *seg = &p->segments[i];
        if (seg->kind == PARTS_LOOP) {
            int rounds = a->plan->steps[seg->step].rounds;
            begin = depth == 0 ? i : begin;
            weight[(depth + 1) % 64] = weight[depth % 64] * (rounds < ROUNDS ? rounds : ROUNDS);
            depth++;
        }
        a->weight[i] = weight[depth % 64];
        a->from[i] = a->to[i] = i;
        depth -= seg->kind == PARTS_END;
        for (int k = begin; seg->kind == PARTS_END && depth == 0 && k <= i; k++) {
            a->from[k] = begin;
            a->to[k] = i;
        }
    }
}

static void count_loads(const Arranging *a)
{
    for (int i = 0; i < a->parts->n; i++) {
        const PartsSegment *seg = &a->parts->segments[i];
        for (int k = 0; k < seg->n_windows; k++) {
            a->parts->times[seg->windows[k].buffer] += seg->windows[k].load ? a->weight[i] : 0;
        }
    }
}

static bool is_carried(const Program *program, int buffer)
{
    bool is = false;
    for (int s = 0; s < program->n_steps; s++) {
        const ProgStep *step = &program->steps[s];
        for (int i = 0; step->kind == STEP_END && i < step->n_carries; i++) {
            const ProgCarry *carry = &step->carries[i];
            is = is || (!carry->is_value && (carry->carry == buffer || carry->next == buffer));
        }
    }
    return is;
}

static const PartsWindow *window_of(const PartsSegment *seg, int buffer)
{
    for (int i = 0; i < seg->n_windows; i++) {
        if (seg->windows[i].buffer == buffer) {
            return &seg->windows[i];
        }
    }
    return NULL;
}

/* How often resident rows of the image need not be loaded; 0: there is nothing to gain. */
static int gain_of(const Arranging *a, int buffer, PartsResident *resident)
{
    const PartsPlan *p = a->parts;
    int gain = 0;
    bool image = !parts_is_vector(a->plan, buffer);
    bool has_z = image && a->plan->grids[a->plan->program->buffers[buffer].grid].has_z;
    bool possible = image && !is_carried(a->plan->program, buffer);
    *resident = (PartsResident){.buffer = buffer, .first = p->n, .last = -1};
    for (int i = 0; possible && i < p->n; i++) {
        const PartsWindow *w = window_of(&p->segments[i], buffer);
        bool cut =
            w != NULL && p->segments[i].kind == PARTS_CUT && p->segments[i].cols == 0 && p->segments[i].planes == has_z;
        bool loads = cut && w->load && !w->whole && !w->boxed;
        possible = w == NULL || !(w->load && w->keep);
        if (loads || (cut && w->keep)) {
            gain += loads ? a->weight[i] : 0;
            resident->first = a->from[i] < resident->first ? a->from[i] : resident->first;
            resident->last = a->to[i] > resident->last ? a->to[i] : resident->last;
        }
    }
    return possible ? gain - (p->maker[buffer] < 0) : 0;
}

/* Where whole images keep their places from one segment to the next, and where channels lie apart, as
 * many rows are resident in all segments. */
static bool is_steady(const Arranging *a, const PartsResident *resident)
{
    bool steady = a->plan->grids[a->plan->program->buffers[resident->buffer].grid].c > 1;
    for (int i = resident->first; i <= resident->last; i++) {
        const PartsSegment *seg = &a->parts->segments[i];
        for (int k = 0; k < seg->n_windows; k++) {
            const PartsWindow *w = &seg->windows[k];
            steady = steady || (w->load && w->whole && !parts_is_vector(a->plan, w->buffer));
        }
    }
    return steady;
}

static uint64_t aligned(const Arranging *a, uint64_t bytes)
{
    return (bytes + a->target->alignment - 1) / a->target->alignment * a->target->alignment;
}

/* Rows for which the segment has room behind what lies before them.  Tests have a part and a half. */
static int rows_in(const Arranging *a, const PartsResident *resident, const PartsSegment *seg)
{
    const ExecGrid *g = &a->plan->grids[a->plan->program->buffers[resident->buffer].grid];
    uint64_t taken = resident->offset + seg->bytes + a->target->alignment;
    uint64_t room = a->parts->limit > taken ? a->parts->limit - taken : 0;
    int tests = a->target->part_rows, extent = parts_extent(g, g->has_z);
    uint64_t most = (uint64_t)(tests > 0 && tests + tests / 2 < extent ? tests + tests / 2 : extent);
    uint64_t rows = room / (resident->bytes * (uint64_t)g->c);
    return (int)(rows < most ? rows : most);
}

/* The next place above those that are taken at some time of it. */
static void place(const Arranging *a, PartsResident *resident)
{
    const PartsPlan *p = a->parts;
    for (int i = 0; i < p->n_residents; i++) {
        const PartsResident *other = &p->residents[i];
        uint64_t end = aligned(a, other->offset + parts_resident_bytes(a->plan, other, other->rows));
        if (other->first <= resident->last && resident->first <= other->last && end > resident->offset) {
            resident->offset = end;
        }
    }
}

/* Takes the image if there is room for enough of it. */
static void add_resident(const Arranging *a, PartsResident resident)
{
    PartsPlan *p = a->parts;
    int fewest = INT32_MAX;
    bool steady = is_steady(a, &resident);
    const ExecGrid *g = &a->plan->grids[a->plan->program->buffers[resident.buffer].grid];
    const int extent = parts_extent(g, g->has_z);
    resident.bytes = a->plan->buffers[resident.buffer].bytes / (uint64_t)extent / (uint64_t)g->c;
    place(a, &resident);
    for (int i = resident.first; i <= resident.last; i++) {
        int rows = is_mark(&p->segments[i]) ? resident.rows : rows_in(a, &resident, &p->segments[i]);
        resident.rows = rows > resident.rows ? rows : resident.rows;
        fewest = rows < fewest && !is_mark(&p->segments[i]) ? rows : fewest;
    }
    resident.rows = steady ? fewest : resident.rows;
    bool worth = a->target->part_rows > 0 || resident.rows >= extent / SHARE;
    resident.rows = worth ? resident.rows : 0;
    for (int i = resident.first; i <= resident.last && resident.rows > 0; i++) {
        PartsSegment *seg = &p->segments[i];
        if (!is_mark(seg)) {
            seg->resident[p->n_residents] = steady ? fewest : rows_in(a, &resident, seg);
        }
    }
    p->residents[p->n_residents] = resident;
    p->n_residents += resident.rows > 0;
}

/* Those with the most to gain first. */
static bool choose_residents(Arranging *a)
{
    PartsPlan *p = a->parts;
    int buffers = a->plan->program->n_buffers, n = 0;
    PartsResident *list = calloc((size_t)buffers + 1, sizeof *list);
    int *gain = calloc((size_t)buffers + 1, sizeof *gain);
    bool ok = (list && gain) || no_memory(a->err);
    for (int b = 0; ok && b < buffers; b++) {
        PartsResident resident;
        int own = gain_of(a, b, &resident), at = n;
        for (; own > 0 && at > 0 && gain[at - 1] < own; at--) {
            gain[at] = gain[at - 1];
            list[at] = list[at - 1];
        }
        if (own > 0) {
            gain[at] = own;
            list[at] = resident;
            n++;
        }
    }
    for (int i = 0; ok && i < p->n && n > 0; i++) {
        PartsSegment *seg = &p->segments[i];
        seg->most = seg->kind == PARTS_CUT ? parts_short(a->plan, seg, p->limit) : 0;
        seg->resident = is_mark(seg) ? NULL : calloc((size_t)n, sizeof *seg->resident);
        ok = seg->resident != NULL || is_mark(seg) || no_memory(a->err);
    }
    ok = ok && (n == 0 || lay_out_all(a));
    p->residents = ok ? calloc((size_t)n + 1, sizeof *p->residents) : NULL;
    ok = p->residents != NULL || (ok && no_memory(a->err));
    for (int i = 0; ok && i < n; i++) {
        add_resident(a, list[i]);
    }
    free(list);
    free(gain);
    return ok;
}

/* The segments get what is left, for long parts where all is resident that is to be. */
static bool make_room(Arranging *a)
{
    PartsPlan *p = a->parts;
    for (int i = 0; i < p->n; i++) {
        PartsSegment *seg = &p->segments[i];
        bool all = true;
        for (int k = 0; k < p->n_residents && !is_mark(seg); k++) {
            const PartsResident *resident = &p->residents[k];
            uint64_t bytes = parts_resident_bytes(a->plan, resident, seg->resident[k]);
            uint64_t end = bytes > 0 ? aligned(a, resident->offset + bytes) : 0;
            seg->base = end > seg->base ? end : seg->base;
            const ExecGrid *g = &a->plan->grids[a->plan->program->buffers[resident->buffer].grid];
            bool wanted = i >= resident->first && i <= resident->last;
            all = all && (!wanted || seg->resident[k] == parts_extent(g, g->has_z));
        }
        seg->most = all ? 0 : seg->most;
    }
    return lay_out_all(a);
}

/* ---- all of it ------------------------------------------------------------------------- */

/* An arena that is several allocations has nothing resident: places would have to keep off their ends. */
static bool arrange(Arranging *a)
{
    PartsPlan *p = a->parts;
    bool several = a->target->max_alloc > 0 && p->limit > a->target->max_alloc;
    TRY(lay_out_all(a));
    find_loops(a);
    count_loads(a);
    return several || (choose_residents(a) && make_room(a));
}

static bool find_least(const Arranging *a)
{
    PartsPlan *p = a->parts;
    p->least = 0;
    for (int i = 0; i < p->n; i++) {
        PartsSegment *seg = &p->segments[i];
        TRY(parts_least(a->plan, a->target, p, seg, NULL, NULL, a->err));
        p->least = seg->bytes > p->least ? seg->bytes : p->least;
    }
    return true;
}

bool parts_find_least(const ExecPlan *plan, const ExecTarget *target, PartsPlan *p, Err *err)
{
    const Arranging a = {.plan = plan, .target = target, .parts = p, .err = err};
    share_grains(&a);
    p->room = p->limit / ROOM;
    TRY(find_least(&a));
    if (p->least > p->limit) {
        p->room = 0;
        TRY(find_least(&a));
    }
    return true;
}

bool parts_arrange(const ExecPlan *plan, const ExecTarget *target, PartsPlan *p, Err *err)
{
    size_t n = (size_t)p->n + 1;
    Arranging a = {.plan = plan, .target = target, .parts = p, .err = err};
    a.weight = calloc(n, sizeof *a.weight);
    a.from = calloc(n, sizeof *a.from);
    a.to = calloc(n, sizeof *a.to);
    bool ok = (a.weight && a.from && a.to) || no_memory(err);
    ok = ok && arrange(&a);
    for (int i = 0; i < p->n; i++) {
        p->peak = p->segments[i].bytes > p->peak ? p->segments[i].bytes : p->peak;
    }
    free(a.weight);
    free(a.from);
    free(a.to);
    return ok;
}

/* ---- again ----------------------------------------------------------------------------- */

/* Segments around number i that go on with the primitives of each other. */
static void find_group(const PartsPlan *p, int i, int *from, int *to)
{
    *from = *to = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < p->n; k++) {
            for (int own = *from; own <= *to && (k < *from || k > *to); own++) {
                const PartsSegment *a = &p->segments[own], *b = &p->segments[k];
                if (share_task(a, b) || share_task(b, a)) {
                    *from = k < *from ? k : *from;
                    *to = k > *to ? k : *to;
                    changed = true;
                }
            }
        }
    }
}

typedef struct Known {
    const double *labels;
    const int64_t *vectors;
} Known;

/* Bytes without which the segments do not run, however short parts are; *which needs them. */
static bool least_of(const Arranging *a, const Known *known, int from, int to, uint64_t *least, int *which)
{
    PartsPlan *p = a->parts;
    *least = 0;
    for (int i = from; i <= to; i++) {
        PartsSegment *seg = &p->segments[i];
        seg->crowded = true;
        TRY(parts_least(a->plan, a->target, p, seg, known->labels, known->vectors, a->err));
        *which = !is_mark(seg) && seg->bytes > *least ? i : *which;
        *least = !is_mark(seg) && seg->bytes > *least ? seg->bytes : *least;
    }
    return true;
}

static bool too_many_labels(const Arranging *a, uint64_t least, int which)
{
    const PartsSegment *seg = &a->parts->segments[which];
    const ProgStep *step = &a->plan->program->steps[seg->tasks[seg->n_tasks - 1].step];
    return err_set(a->err, CODE_MEMORY,
                   "'%s' needs %.3f MiB on the device even when the image is cut into parts, but only %.3f MiB "
                   "may be used: there are more labels than could be expected; it takes at least --memory %" PRIu64,
                   step->name, (double)least / 0x1p20, (double)a->parts->limit / 0x1p20,
                   exec_limit_for(a->plan, a->target, least + a->parts->beside));
}

static bool lay_out_group(const Arranging *a, const Known *known, int from, int to)
{
    PartsPlan *p = a->parts;
    for (int i = from; i <= to; i++) {
        p->segments[i].fixed = 0;
    }
    for (int round = 0; round < 2; round++) {
        for (int i = from; i <= to; i++) {
            TRY(parts_layout(a->plan, a->target, p, &p->segments[i], known->labels, known->vectors, p->limit, a->err));
        }
        fix_rows(p);
    }
    for (int i = from; i <= to; i++) {
        p->peak = p->segments[i].bytes > p->peak ? p->segments[i].bytes : p->peak;
    }
    return true;
}

bool parts_arrange_again(const ExecPlan *plan, const ExecTarget *target, PartsPlan *p, int i, const double *labels,
                         const int64_t *vectors, int *from, int *to, Err *err)
{
    const Arranging a = {.plan = plan, .target = target, .parts = p, .err = err};
    const Known known = {labels, vectors};
    uint64_t least;
    int which = i;
    for (int s = 0; s < plan->program->n_steps; s++) {
        int slot = plan->program->steps[s].of_value;
        p->labels = slot >= 0 && labels[slot] > p->labels ? labels[slot] : p->labels;
    }
    find_group(p, i, from, to);
    TRY(least_of(&a, &known, *from, *to, &least, &which));
    if (least > p->limit) {
        p->room = 0;
        TRY(least_of(&a, &known, *from, *to, &least, &which));
    }
    return least > p->limit ? too_many_labels(&a, least, which) : lay_out_group(&a, &known, *from, *to);
}
