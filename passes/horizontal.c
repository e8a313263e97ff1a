/*
 * horizontal: horizontal fusion: kernels that read the same image become one.
 *
 * Two kernels over the same grid that stream over rows are one with all their results when they read
 * the same image, or one reads at the same pixel what the other stores: each image is read once,
 * and what is read at the pixel comes from a register.  Time by the roofline (cost.h) must be less
 * for one kernel than for two, or as long with one launch less, and the rows that it keeps open must
 * fit into a work-item's registers.
 *
 * Gathers (ir/gather.h) from one image are one kernel where they are to be run in rounds: each slab of the image
 * is there once for all of them, and which are wanted is asked once.
 *
 * The joined kernel stands where the later one stood, if nobody between them needs what the earlier
 * one makes; or where the earlier one stood, if all is there that the later one needs.
 */
#include "horizontal.h"

#include "rows.h"

#include "../ir/gather.h"

#include <string.h>

enum {
    MAX_FUSED = 24,  /* stages of a joined kernel, */
    MAX_GATHERS = 8, /* as many as a pixel between pixels of a volume has neighbours */
    MAX_IMAGES = 16, /* and images, each with three arguments */
    MAX_READERS = 48 /* of an image before a kernel with which it is compared */
};

typedef struct Horizontal {
    Grouping *b;
    IrGraph *g;
    IrSchedule *s;
    Cost *cost;
    bool *rows;          /* by step: it is a kernel that streams over rows */
    Vec(int) candidates; /* steps with which one may become one kernel, in ascending order */
} Horizontal;

static bool is_in(const IrId *list, int n, IrId id)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == id) {
            return true;
        }
    }
    return false;
}

static bool step_reads(Horizontal *b, const IrStep *step, IrId id)
{
    for (int i = 0; i < step->stages.n; i++) {
        const CostStage *stage = cost_stage(b->cost, step->stages.at[i]);
        if (is_in(stage->reads.at, stage->reads.n, id)) {
            return true;
        }
    }
    return false;
}

static bool step_moves(Horizontal *b, const IrStep *step, IrId id)
{
    for (int i = 0; i < step->stages.n; i++) {
        const CostStage *stage = cost_stage(b->cost, step->stages.at[i]);
        if (is_in(stage->moved.at, stage->moved.n, id)) {
            return true;
        }
    }
    return false;
}

/* ---- what they share ----------------------------------------------------------------------- */

/* An image that two kernels both read, or that the earlier one makes for the later one; 0: none, or
 * it is read at other pixels than it is computed on. */
static IrId shared_image(Horizontal *b, const IrStep *one, const IrStep *two)
{
    IrId shared = 0;
    for (int i = 0; i < one->stages.n; i++) {
        IrId made = one->stages.at[i];
        if (step_moves(b, two, made)) {
            return 0;
        }
        shared = shared == 0 && step_reads(b, two, made) ? made : shared;
    }
    for (int i = 0; i < one->stages.n; i++) {
        const CostStage *stage = cost_stage(b->cost, one->stages.at[i]);
        for (int k = 0; k < stage->reads.n; k++) {
            IrId from = stage->reads.at[k];
            bool both = ir_has_pixels(b->g, from) && step_reads(b, two, from);
            shared = both && (shared == 0 || from < shared) ? from : shared;
        }
    }
    return shared;
}

/* Images that are arguments of a kernel of these stages, those read by several counted again. */
static int count_images(Horizontal *b, const IrId *stages, int n)
{
    int images = 0;
    for (int i = 0; i < n; i++) {
        const CostStage *stage = cost_stage(b->cost, stages[i]);
        images += b->s->stored[stages[i]];
        for (int k = 0; k < stage->reads.n; k++) {
            bool seen = is_in(stages, n, stage->reads.at[k]);
            for (int j = 0; j < i && !seen; j++) {
                const CostStage *before = cost_stage(b->cost, stages[j]);
                seen = is_in(before->reads.at, before->reads.n, stage->reads.at[k]);
            }
            images += !seen;
        }
    }
    return images;
}

/* ---- joining ------------------------------------------------------------------------------- */

static bool pays(Horizontal *b, const IrStep *one, const IrStep *two, const IrId *stages, double *saved)
{
    CostKernel first = cost_kernel(b->cost, one->stages.at, one->stages.n);
    CostKernel second = cost_kernel(b->cost, two->stages.at, two->stages.n);
    CostKernel both = cost_kernel(b->cost, stages, one->stages.n + two->stages.n);
    *saved = first.bytes + second.bytes - both.bytes;
    return both.known && cost_has_room(&first, &second, &both) &&
           cost_time(b->cost, &both) <= cost_time(b->cost, &first) + cost_time(b->cost, &second);
}

static void tell(Horizontal *b, IrId shared, const IrStep *one, const IrStep *two, double saved)
{
    IrRemark remark = {.from = shared,
                       .to = two->stages.at[two->stages.n - 1],
                       .state = IR_EDGE_SHARED,
                       .bytes = saved};
    IrId other = one->stages.at[one->stages.n - 1];
    remark.why = other == shared ? "it is in a register of the kernel that stores it"
                                 : arena_printf(b->g->arena, "one kernel with '%s', which reads it too",
                                                ir_node(b->g, other)->name);
    grouping_add_remark(b->b, remark);
}

static bool try_to_join(Horizontal *b, int a, int z)
{
    const IrStep *one = &b->s->steps.at[a], *two = &b->s->steps.at[z];
    int n = one->stages.n + two->stages.n;
    if (one->loop != two->loop || n > MAX_FUSED ||
        ir_node(b->g, one->stages.at[0])->grid != ir_node(b->g, two->stages.at[0])->grid) {
        return false;
    }
    IrId shared = shared_image(b, one, two), stages[MAX_FUSED];
    int place = shared != 0 ? grouping_joined_place(b->b, a, z) : -1;
    if (place < 0) {
        return false;
    }
    memcpy(stages, one->stages.at, (size_t)one->stages.n * sizeof *stages);
    memcpy(stages + one->stages.n, two->stages.at, (size_t)two->stages.n * sizeof *stages);
    double saved;
    bool rule = pays(b, one, two, stages, &saved);
    if (count_images(b, stages, n) > MAX_IMAGES || (!rule && b->b->cx->decisions == NULL) ||
        pass_rows_refusal(b->b, one, two) != NULL) {
        return false;
    }
    if (!pass_decide(b->b->cx, b->g, DECISION_SHARE, one->stages.at[0], two->stages.at[0], rule)) {
        return false;
    }
    tell(b, shared, one, two, saved);
    grouping_merge(b->b, place == a ? z : a, place);
    b->rows[a] = b->rows[z] = false;
    b->rows[place] = true;
    return true;
}

/* ---- gathers ------------------------------------------------------------------------------- */

/* The image that the kernel gathers from; 0: it does not. */
static IrId gathered_by(const IrGraph *g, const IrStep *step)
{
    IrId first = step->kind == IR_STEP_KERNEL && step->stages.n > 0 ? step->stages.at[0] : 0;
    return first != 0 && ir_is_gather(g, first) ? ir_expr(g, ir_node(g, first)->map.value)->node : 0;
}

/* Where a gather looks follows from what an earlier one has found. */
static bool follows(const IrGraph *g, const IrStep *late, const IrStep *early)
{
    bool does = false;
    for (int i = 0; i < late->stages.n; i++) {
        const IrExprNode *n = ir_expr(g, ir_node(g, late->stages.at[i])->map.value);
        for (int k = 0; k < early->stages.n; k++) {
            IrId made = early->stages.at[k];
            does = does || !ir_is_easy_place(g, n->a, made) || !ir_is_easy_place(g, n->b, made) ||
                   !ir_is_easy_place(g, n->c, made);
        }
    }
    return does;
}

static bool try_to_join_gathers(Horizontal *b, int a, int z)
{
    const IrStep *one = &b->s->steps.at[a], *two = &b->s->steps.at[z];
    IrId from = gathered_by(b->g, one);
    bool same = from != 0 && from == gathered_by(b->g, two) && one->loop == two->loop &&
                ir_node(b->g, one->stages.at[0])->grid == ir_node(b->g, two->stages.at[0])->grid;
    if (!same || one->stages.n + two->stages.n > MAX_GATHERS || follows(b->g, two, one)) {
        return false;
    }
    int place = grouping_joined_place(b->b, a, z);
    if (place >= 0) {
        grouping_merge(b->b, place == a ? z : a, place);
    }
    return place >= 0;
}

static bool join_gathers(Horizontal *b)
{
    bool any = false;
    for (int z = 1; z < b->s->steps.n; z++) {
        for (int a = 0; a < z; a++) {
            any = try_to_join_gathers(b, a, z) || any;
        }
    }
    return any;
}

/* ---- all of them --------------------------------------------------------------------------- */

static bool is_candidate(Grouping *b, const IrStep *step)
{
    return step->kind == IR_STEP_KERNEL && step->stages.n > 0 && ir_node(b->g, step->stages.at[0])->op == IR_MAP &&
           pass_rows_refusal(b, step, NULL) == NULL;
}

static void add_candidate(Horizontal *b, IrId stage, int after, int before)
{
    int step = b->s->step[stage], at = b->candidates.n;
    if (step <= after || step >= before || !b->rows[step]) {
        return;
    }
    while (at > 0 && b->candidates.at[at - 1] > step) {
        at--;
    }
    if (at == 0 || b->candidates.at[at - 1] != step) {
        vec_push(b->g->arena, &b->candidates, step);
        memmove(b->candidates.at + at + 1, b->candidates.at + at,
                sizeof *b->candidates.at * (size_t)(b->candidates.n - 1 - at));
        b->candidates.at[at] = step;
    }
}

/* How many of the readers, which stand in order, have a smaller number. */
static int readers_before(IrReaders readers, IrId stage)
{
    int lo = 0, hi = readers.n;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (readers.at[middle] < stage) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

/* The kernels behind step `after` and before z that make or read an image that z reads. */
static void find_candidates(Horizontal *b, int after, int z)
{
    const IrStep *step = &b->s->steps.at[z];
    b->candidates.n = 0;
    for (int i = 0; i < step->stages.n; i++) {
        const CostStage *stage = cost_stage(b->cost, step->stages.at[i]);
        for (int k = 0; k < stage->reads.n; k++) {
            const IrId from = stage->reads.at[k];
            if (!ir_has_pixels(b->g, from)) {
                continue;
            }
            if (ir_node(b->g, from)->op == IR_MAP) {
                add_candidate(b, from, after, z);
            }
            const IrReaders readers = b->b->uses->readers[from];
            const int near = readers_before(readers, step->stages.at[i]);
            for (int j = near > MAX_READERS ? near - MAX_READERS : 0; j < near; j++) {
                add_candidate(b, readers.at[j], after, z);
            }
        }
    }
}

static bool join_with_earlier(Horizontal *b, int z)
{
    bool any = false;
    find_candidates(b, -1, z);
    for (int i = 0; i < b->candidates.n && b->rows[z]; i++) {
        int a = b->candidates.at[i];
        if (b->rows[a] && try_to_join(b, a, z)) {
            any = true;
            find_candidates(b, a, z); /* it reads more now */
            i = -1;
        }
    }
    return any;
}

bool pass_fuse_horizontally(Grouping *grouping)
{
    IrSchedule *s = grouping->s;
    Horizontal b = {.b = grouping,
                    .g = grouping->g,
                    .s = s,
                    .cost = &grouping->cost,
                    .rows = arena_array(grouping->g->arena, bool, s->steps.n + 1)};
    bool any = false;
    for (int i = 0; i < s->steps.n; i++) {
        b.rows[i] = is_candidate(grouping, &s->steps.at[i]);
    }
    for (int z = 1; z < s->steps.n; z++) {
        any = (b.rows[z] && join_with_earlier(&b, z)) || any;
    }
    return (grouping->cx->in_rounds && join_gathers(&b)) || any;
}
