/*
 * summary: a percentile takes its pixels from the reading of a reduction of the same pixels, and so does Otsu's
 * threshold, whose reduction is the range of its histogram.
 *
 * They become one node with the values of all.  Reductions of what a kernel stores are left
 * alone: that kernel takes them on the way, without reading anything (epilogue.c).
 *
 * For example, where %1 is an image,
 *
 *     %2 m = reduce : value f64
 *         in 0 %1
 *         arg 0 7
 *     %3 r = rank : value f64
 *         in 0 %1
 *         arg 0 50
 *     output mean as csv
 *         value div(%2.0, %2.1)
 *     output median as csv
 *         value %3.0
 *
 * becomes
 *
 *     %2 m = summary : value f64
 *         in 0 %1
 *         arg 0 7
 *         arg 1 50
 *     output mean as csv
 *         value div(%2.0, %2.1)
 *     output median as csv
 *         value %2.5
 */
#include "pass.h"

#include "epilogue.h"

#include "../ir/edit.h"
#include "../ir/uses.h"

#include <string.h>

typedef struct Joined {
    IrId reduction, last, to;
} Joined;

static IrExpr rename_value(IrGraph *g, IrExpr e, void *ctx)
{
    const Joined *joined = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_VALUE || (n.node != joined->reduction && n.node != joined->last)) {
        return e;
    }
    return ir_value(g, joined->to, n.node == joined->last ? REDUCE_VALUES : (int)n.num);
}

/* Loops hand the whole node on from round to round. */
static bool is_carried(const IrGraph *g, IrId id)
{
    bool is = false;
    for (int i = 1; i < g->loops.n; i++) {
        for (int k = 0; k < g->loops.at[i].carries.n; k++) {
            const IrCarry *c = &g->loops.at[i].carries.at[k];
            is = is || c->first == id || c->next == id;
        }
    }
    return is;
}

static bool may_be_fed(const IrGraph *g, const IrNode *reduction)
{
    IrId image = pass_reduced_image(g, reduction);
    return image != 0 && ir_node(g, image)->op == IR_MAP;
}

static bool same_pixels(const IrNode *a, const IrNode *b)
{
    return a->loop == b->loop && a->grid == b->grid && memcmp(a->in, b->in, sizeof a->in) == 0;
}

/* The reduction of the pixels of a rank; 0: there is none. */
static IrId partner_of(const IrGraph *g, IrId rank)
{
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *node = ir_node(g, id);
        if (!node->dead && node->op == IR_REDUCE && same_pixels(node, ir_node(g, rank)) && !may_be_fed(g, node) &&
            !is_carried(g, id)) {
            return id;
        }
    }
    return 0;
}

/* Where the first of the two was: whoever reads either comes after it. */
static void join(IrGraph *g, IrId reduction, IrId rank)
{
    Joined joined = {reduction, rank, reduction < rank ? reduction : rank};
    IrNode node = *ir_node(g, reduction);
    node.op = IR_SUMMARY;
    node.summary.percent = ir_node(g, rank)->rank.percent;
    g->nodes.at[reduction].dead = g->nodes.at[rank].dead = true;
    g->nodes.at[joined.to] = node;
    ir_rewrite_all(g, rename_value, &joined);
}

/* ---- otsu -------------------------------------------------------------------------------- */

static bool is_number(const IrGraph *g, IrExpr e, double number)
{
    double value;
    return ir_is_const(g, e, &value) && value == number;
}

static bool is_value_of(const IrGraph *g, IrExpr e, IrId node, int number)
{
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_VALUE && n->node == node && (int)n->num == number;
}

/* The reduction that is the range of a threshold's histogram and nothing else, where nobody else wants the
 * histogram; 0: there is none. */
static IrId range_of(const IrGraph *g, const int *users, const IrNode *threshold)
{
    const IrNode *histogram = ir_node(g, threshold->of);
    const IrExprNode *lo = ir_expr(g, threshold->threshold.lo);
    IrId id = lo->op == IR_X_VALUE ? lo->node : 0;
    const IrNode *range = ir_node(g, id);
    bool otsu = is_number(g, threshold->threshold.method, METHOD_OTSU) && users[threshold->of] == 1;
    bool fits = otsu && id != 0 && range->op == IR_REDUCE && is_number(g, range->reduce.wanted, WANTED_EXTREMES) &&
                range->loop == histogram->loop && range->loop == threshold->loop && range->grid == histogram->grid &&
                range->reduce.value == histogram->histogram.value &&
                range->reduce.where == histogram->histogram.where && !may_be_fed(g, range) && !is_carried(g, id);
    fits = fits && is_value_of(g, threshold->threshold.lo, id, REDUCE_MIN) &&
           is_value_of(g, threshold->threshold.hi, id, REDUCE_MAX) &&
           is_value_of(g, histogram->histogram.lo, id, REDUCE_MIN) &&
           is_value_of(g, histogram->histogram.hi, id, REDUCE_MAX);
    return fits ? id : 0;
}

static void join_otsu(IrGraph *g, IrId range, IrId threshold)
{
    Joined joined = {range, threshold, range};
    IrId counts = ir_node(g, threshold)->of;
    IrNode node = *ir_node(g, range);
    node.op = IR_OTSU;
    node.name = ir_node(g, threshold)->name;
    node.otsu.bins = ir_node(g, counts)->histogram.bins;
    node.otsu.integer = ir_node(g, counts)->histogram.integer;
    g->nodes.at[threshold].dead = g->nodes.at[counts].dead = true;
    g->nodes.at[range] = node;
    ir_rewrite_all(g, rename_value, &joined);
}

static bool join_thresholds(IrGraph *g)
{
    bool changed = false;
    const int *users = ir_count_users(ir_uses_new(g, g->arena));
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *node = ir_node(g, id);
        bool threshold = !node->dead && node->op == IR_THRESHOLD && !is_carried(g, id);
        IrId range = threshold ? range_of(g, users, node) : 0;
        if (range != 0) {
            join_otsu(g, range, id);
            changed = true;
        }
    }
    return changed;
}

bool pass_summary(IrGraph *g, PassContext *cx)
{
    (void)cx;
    bool changed = join_thresholds(g);
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        bool rank = !ir_node(g, id)->dead && ir_node(g, id)->op == IR_RANK && !is_carried(g, id);
        IrId reduction = rank ? partner_of(g, id) : 0;
        if (reduction != 0) {
            join(g, reduction, id);
            changed = true;
        }
    }
    return changed;
}
