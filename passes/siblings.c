/*
 * siblings: kernels that read the same image become one.
 *
 * Two kernels over the same grid that march over rows are one with all their results when they read
 * the same image, or one reads at the same pixel what the other stores: each image is read once,
 * and what is read at the pixel comes from a register.  Time by the roofline (cost.h) must be less
 * for one kernel than for two, and the rows that it keeps open must fit into a work-item's registers.
 *
 * The joined kernel stands where the later one stood, if nobody between them needs what the earlier
 * one makes; or where the earlier one stood, if all is there that the later one needs.
 */
#include "siblings.h"

#include "cost.h"
#include "rows.h"

#include "../ir/footprint.h"

#include <string.h>

enum {
    MAX_IMAGES = 16,    /* of a kernel: each has three arguments */
    MAX_REGISTERS = 300 /* of a work-item, by cost.h */
};

/* ---- what they read ------------------------------------------------------------------------ */

typedef struct Reads {
    bool *image;  /* by node: its pixels are read */
    bool *moved;  /* and not only at the current one */
} Reads;

static Reads reads_of(IrGraph *g, const IrStep *step)
{
    Reads r = {arena_array(g->arena, bool, g->nodes.n), arena_array(g->arena, bool, g->nodes.n)};
    for (int i = 0; i < step->stages.n; i++) {
        IrFootprint fp = ir_footprint(g, ir_node(g, step->stages.at[i])->in[0]);
        for (int k = 0; k < fp.reach.n; k++) {
            const IrReach *reach = &fp.reach.at[k];
            r.image[reach->node] = ir_has_pixels(g, reach->node);
            r.moved[reach->node] = r.moved[reach->node] || reach->offset || reach->whole;
        }
    }
    return r;
}

/* The first image that both read, or the later one of the earlier one's stages; 0: none, or it is
 * read at other pixels than it is computed on. */
static IrId shared_image(IrGraph *g, const IrSchedule *s, int a, int b)
{
    Reads one = reads_of(g, &s->steps.at[a]), two = reads_of(g, &s->steps.at[b]);
    IrId shared = 0;
    int images = 0;
    for (IrId id = (IrId)g->nodes.n - 1; id > 0; id--) {
        bool made = s->step[id] == a && ir_node(g, id)->op == IR_MAP;
        if (made && two.moved[id]) {
            return 0;
        }
        shared = two.image[id] && (one.image[id] || made) ? id : shared;
        images += one.image[id] || two.image[id] || (s->stored[id] && (made || s->step[id] == b));
    }
    return images <= MAX_IMAGES ? shared : 0;
}

/* ---- where they stand ---------------------------------------------------------------------- */

typedef struct Need {
    IrId node;
    bool found;
} Need;

static void look_for_node(const IrGraph *g, IrExpr e, void *ctx)
{
    Need *need = ctx;
    need->found = need->found || ir_expr(g, e)->node == need->node;
}

static bool node_needs(IrGraph *g, IrId reader, IrId node)
{
    Need need = {node, ir_node(g, reader)->of == node};
    for (int i = 0; i < IR_MAX_IN; i++) {
        ir_walk(g, ir_node(g, reader)->in[i], look_for_node, &need);
    }
    return need.found;
}

static bool step_needs(IrGraph *g, const IrSchedule *s, int reader, int maker)
{
    const IrStep *from = &s->steps.at[maker], *to = &s->steps.at[reader];
    for (int i = 0; i < to->stages.n; i++) {
        for (int k = 0; k < from->stages.n; k++) {
            if (node_needs(g, to->stages.at[i], from->stages.at[k])) {
                return true;
            }
        }
    }
    return false;
}

/* Where the kernels a < b can stand as one: a, b, or -1. */
static int place_of(IrGraph *g, const IrSchedule *s, int a, int b)
{
    bool early = true, late = true;
    for (int i = a + 1; i < b; i++) {
        early = early && !step_needs(g, s, b, i);
        late = late && !step_needs(g, s, i, a);
    }
    return late ? b : early ? a : -1;
}

/* ---- joining ------------------------------------------------------------------------------- */

static bool is_candidate(const IrGraph *g, const IrStep *step)
{
    return step->kind == IR_STEP_KERNEL && step->stages.n > 0 &&
           ir_node(g, step->stages.at[0])->op == IR_MAP;
}

static bool pays(IrGraph *g, const IrSchedule *s, const IrStep *a, const IrStep *b,
                 const IrId *stages, double *saved)
{
    CostKernel one = cost_kernel(g, s, a->stages.at, a->stages.n);
    CostKernel two = cost_kernel(g, s, b->stages.at, b->stages.n);
    CostKernel both = cost_kernel(g, s, stages, a->stages.n + b->stages.n);
    *saved = one.bytes + two.bytes - both.bytes;
    return both.known && both.registers <= MAX_REGISTERS &&
           cost_time(&both) <= cost_time(&one) + cost_time(&two);
}

static bool try_to_join(IrGraph *g, IrSchedule *s, int a, int b)
{
    const IrStep *one = &s->steps.at[a], *two = &s->steps.at[b];
    int n = one->stages.n + two->stages.n;
    if (one->loop != two->loop || n > PASS_MAX_STAGES ||
        ir_node(g, one->stages.at[0])->grid != ir_node(g, two->stages.at[0])->grid) {
        return false;
    }
    IrId shared = shared_image(g, s, a, b), stages[PASS_MAX_STAGES];
    if (shared == 0) {
        return false;
    }
    memcpy(stages, one->stages.at, (size_t)one->stages.n * sizeof *stages);
    memcpy(stages + one->stages.n, two->stages.at, (size_t)two->stages.n * sizeof *stages);
    double saved;
    int place = place_of(g, s, a, b);
    if (place < 0 || pass_rows_refusal(g, stages, n) != NULL ||
        !pays(g, s, one, two, stages, &saved)) {
        return false;
    }
    IrRemark remark = {.from = shared, .to = two->stages.at[two->stages.n - 1],
                       .state = IR_EDGE_SHARED, .bytes = saved,
                       .why = arena_printf(g->arena, "one kernel with '%s', which reads it too",
                                           ir_node(g, one->stages.at[one->stages.n - 1])->name)};
    vec_push(g->arena, &s->remarks, remark);
    pass_merge_steps(g, s, place == a ? b : a, place);
    return true;
}

bool pass_join_siblings(IrGraph *g, IrSchedule *s)
{
    bool any = false;
    for (int b = 1; b < s->steps.n; b++) {
        for (int a = 0; a < b && is_candidate(g, &s->steps.at[b]); a++) {
            any = (is_candidate(g, &s->steps.at[a]) && try_to_join(g, s, a, b)) || any;
        }
    }
    return any;
}
