/*
 * rows: which kernels walk over the image in rows, and which stages share one.
 *
 * A stage can be computed in rows when it reads images on its own grid, at offsets that are known
 * when the kernel is compiled, and when its folds over rows (or planes) are plain: the index is
 * the offset, every read inside has it, and nothing is folded around them.  Such a fold is kept
 * transposed (codegen/rows.c), one level of them a kernel.
 *
 * A producer joins the kernel of its only consumers when it can be computed there in registers
 * on a few columns more; then it is never stored.  Otherwise it has a kernel of its own.
 */
#include "rows.h"
#include "cost.h"
#include "siblings.h"

#include "../ir/edit.h"
#include "../ir/uses.h"
#include "../ir/footprint.h"
#include "../ir/long_fold.h"

#include <string.h>

enum {
    MAX_COMPUTED_HALO = 8, /* columns computed twice, beside the four of a work-item */
    LONGEST_FOLD = 256,    /* of longer ones neither open rows nor columns fit into registers */
    LONG_FOLD = 72,        /* from here on a kernel of its own is faster, where it can have one */
    MAX_STAGES = PASS_MAX_STAGES
};

static const char TOO_LONG[] = "its window is longer than the registers of a work-item";

/* ---- what one stage allows --------------------------------------------------------------- */

typedef struct Form {
    bool rows;          /* it can be computed in rows at all */
    bool folds;         /* it has a fold over the march axis */
    bool y_fold, z_fold;
    const char *why;    /* when it cannot */
} Form;

typedef struct Walk {
    IrGraph *g;
    int domain;
    Form form;
    int depth;          /* folds around the expression */
    int march_index;    /* of the outermost fold, when it is over a march axis; -1 */
    int march_axis;
    bool marched;       /* a read in that fold has been seen; under which border: */
    IrBorder border;
    IrPassed passed;
} Walk;

static void refuse(Walk *w, const char *why)
{
    w->form.rows = false;
    w->form.why = w->form.why != NULL ? w->form.why : why;
}

static bool same_grid_but_channels(const IrGraph *g, int a, int b)
{
    const IrGrid *p = &g->grids.at[a], *q = &g->grids.at[b];
    for (int ax = 0; ax < IR_AX_C; ax++) {
        if (p->extent[ax] != q->extent[ax] || p->has[ax] != q->has[ax]) {
            return false;
        }
    }
    return true;
}

static void check_offset(Walk *w, IrExpr offset, int axis)
{
    if (offset == 0) {
        return;
    }
    const IrExprNode *o = ir_expr(w->g, offset);
    if (axis == IR_AX_X) {
        if (o->rank > IR_INDEX) {
            refuse(w, "it is read at offsets that depend on pixels");
        }
        return;
    }
    bool is_march = o->op == IR_X_INDEX && (int)o->num == w->march_index && axis == w->march_axis;
    if (!is_march && o->rank > IR_HOST) {
        refuse(w, "its window is not a plain fold over rows");
    }
}

static void check_read(Walk *w, const IrExprNode *n)
{
    int grid = ir_node(w->g, n->node)->grid;
    bool same = n->channel == 0 ? grid == w->domain : same_grid_but_channels(w->g, grid, w->domain);
    if (!same) {
        refuse(w, "it reads an image of another shape");
    }
    if (n->channel != 0 && ir_expr(w->g, n->channel)->rank > IR_HOST) {
        refuse(w, "it reads channels chosen by an index");
    }
    if (n->outside != 0 && ir_expr(w->g, n->outside)->rank > IR_HOST) {
        refuse(w, "the value outside is chosen by an index");
    }
    if (n->c != 0 && w->g->grids.at[w->domain].has[IR_AX_C]) {
        refuse(w, "it reads other planes, of several channels");
    }
    const IrExpr offset[3] = {n->a, n->b, n->c};
    for (int ax = 0; ax < 3; ax++) {
        check_offset(w, offset[ax], ax);
    }
    if (w->march_index >= 0) {
        const IrExpr march = offset[w->march_axis];
        bool marched = march != 0 && ir_expr(w->g, march)->op == IR_X_INDEX;
        if (!marched) {
            refuse(w, "a fold over rows also reads a fixed row");
        } else if (w->marched && w->border != n->border) { /* a row outside is another one for each */
            refuse(w, "a fold over rows reads under two borders");
        }
        w->marched = true;
        w->border = n->border;
    }
}

/* The axis of y and z along which a fold's index is an offset; -1 when along none. */
typedef struct AxisWalk {
    int index, axis;
    bool both;
} AxisWalk;

static void find_axis(const IrGraph *g, IrExpr e, void *ctx)
{
    AxisWalk *a = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READ) {
        return;
    }
    const IrExpr offset[3] = {n->a, n->b, n->c};
    for (int ax = IR_AX_Y; ax <= IR_AX_Z; ax++) {
        if (offset[ax] != 0 && ir_expr(g, offset[ax])->op == IR_X_INDEX &&
            (int)ir_expr(g, offset[ax])->num == a->index) {
            a->both = a->both || (a->axis >= 0 && a->axis != ax);
            a->axis = ax;
        }
    }
}

static bool is_long(IrGraph *g, const IrExprNode *fold, double least)
{
    double lo, hi;
    return cost_value(g, fold->b, &lo) && cost_value(g, fold->c, &hi) && hi - lo >= least;
}

/* The axis of a stage that is one long fold; -1. */
static int long_axis(IrGraph *g, IrId id)
{
    IrLongFold found;
    if (!ir_long_fold(g, id, &found)) {
        return -1;
    }
    const IrExprNode fold = *ir_expr(g, found.fold);
    return is_long(g, &fold, LONG_FOLD) ? found.axis : -1;
}

static void check(Walk *w, IrExpr e);

static void check_fold(Walk *w, const IrExprNode *n)
{
    if (ir_sorts(n) || is_long(w->g, n, LONGEST_FOLD)) {
        refuse(w, ir_sorts(n) ? "its window is sorted" : TOO_LONG);
        return;
    }
    AxisWalk axis = {.index = (int)n->num, .axis = -1};
    ir_walk(w->g, n->a, find_axis, &axis);
    int outer = w->march_index;
    if (axis.axis >= 0) {
        if (w->depth > 0 || axis.both) {
            refuse(w, "its window is not a plain fold over rows");
            return;
        }
        w->march_index = (int)n->num;
        w->march_axis = axis.axis;
        w->marched = false;
        w->form.folds = true;
        w->form.y_fold = w->form.y_fold || axis.axis == IR_AX_Y;
        w->form.z_fold = w->form.z_fold || axis.axis == IR_AX_Z;
    }
    int around = ir_pass_into(&w->passed);
    w->depth++;
    check(w, n->a);
    w->depth--;
    w->passed.fold = around;
    w->march_index = outer;
}

static void check(Walk *w, IrExpr e)
{
    if (e == 0 || !w->form.rows) {
        return;
    }
    const IrExprNode n = *ir_expr(w->g, e);
    if (n.rank != IR_PIXEL || ir_passed(w->g, &w->passed, e)) {
        return;
    }
    switch (n.op) {
    case IR_X_READ:
        check_read(w, &n);
        break;
    case IR_X_READAT:
        refuse(w, "it is read at computed positions");
        break;
    case IR_X_FOLD:
        check_fold(w, &n);
        break;
    case IR_X_COORD:
        if ((int)n.num == IR_AX_C) {
            refuse(w, "it depends on the channel");
        } else if (w->march_index >= 0) { /* a row is added to the sums of several pixels at once */
            refuse(w, "a fold over rows also takes the place of the pixel");
        }
        break;
    default:
        check(w, n.a);
        check(w, n.b);
        check(w, n.c);
    }
}

/* Reads of one node with offsets in x under two borders need two arrays: not in rows. */
typedef struct Borders {
    IrBorder *border;
    IrExpr *outside;
    bool *seen;
    bool mixed;
} Borders;

static void note_border(const IrGraph *g, IrExpr e, void *ctx)
{
    Borders *b = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READ || n->a == 0) {
        return;
    }
    bool other = b->seen[n->node] &&
                 (b->border[n->node] != n->border || b->outside[n->node] != n->outside);
    b->mixed = b->mixed || other;
    b->seen[n->node] = true;
    b->border[n->node] = n->border;
    b->outside[n->node] = n->outside;
}

static Borders borders_of(IrGraph *g, const IrId *stage, int n)
{
    Borders b = {.border = arena_array(g->arena, IrBorder, g->nodes.n),
                 .outside = arena_array(g->arena, IrExpr, g->nodes.n),
                 .seen = arena_array(g->arena, bool, g->nodes.n)};
    for (int i = 0; i < n; i++) {
        ir_walk(g, ir_node(g, stage[i])->in[0], note_border, &b);
    }
    return b;
}

static Form form_of(IrGraph *g, IrId id)
{
    Walk w = {.g = g, .domain = ir_node(g, id)->grid, .march_index = -1,
              .form = {.rows = true}};
    check(&w, ir_node(g, id)->in[0]);
    if (long_axis(g, id) >= 0) {
        refuse(&w, TOO_LONG);
    }
    if (w.form.y_fold && w.form.z_fold) {
        refuse(&w, "it folds over rows and planes");
    }
    if (borders_of(g, &id, 1).mixed) {
        refuse(&w, "it reads one image under two borders");
    }
    return w.form;
}

/* ---- what a kernel of several stages allows ----------------------------------------------- */

typedef struct Kernel {
    IrGraph *g;
    IrId stage[MAX_STAGES];
    int n;
} Kernel;

static bool has_stage(const Kernel *k, IrId id)
{
    for (int i = 0; i < k->n; i++) {
        if (k->stage[i] == id) {
            return true;
        }
    }
    return false;
}

/* How a stage is read by the others of the kernel. */
typedef struct RowWalk {
    IrId node;
    bool read;
    bool moved, fixed, shifted; /* along the march axis by a fold, by a constant; along x */
    IrBorder border;
} RowWalk;

static void look_at_read(const IrGraph *g, IrExpr e, void *ctx)
{
    RowWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_READ || n->node != w->node) {
        return;
    }
    const IrExpr rows[2] = {n->b, n->c};
    w->read = true;
    for (int i = 0; i < 2; i++) {
        bool index = rows[i] != 0 && ir_expr(g, rows[i])->op == IR_X_INDEX;
        w->moved = w->moved || index;
        w->fixed = w->fixed || (rows[i] != 0 && !index);
    }
    if (n->a != 0) {
        w->shifted = true;
        w->border = n->border;
    }
}

static bool halos_are_small(Kernel *k)
{
    IrGraph *g = k->g;
    double *left = arena_array(g->arena, double, g->nodes.n);
    double *right = arena_array(g->arena, double, g->nodes.n);
    for (int i = k->n - 1; i >= 0; i--) {
        IrFootprint fp = ir_footprint(g, ir_node(g, k->stage[i])->in[0]);
        for (int j = 0; j < fp.reach.n; j++) {
            const IrReach *r = &fp.reach.at[j];
            double lo, hi;
            if (!has_stage(k, r->node)) {
                continue;
            }
            if (!ir_is_const(g, r->lo[0], &lo) || !ir_is_const(g, r->hi[0], &hi)) {
                return false;
            }
            double l = left[k->stage[i]] - lo, h = right[k->stage[i]] + hi;
            left[r->node] = l > left[r->node] ? l : left[r->node];
            right[r->node] = h > right[r->node] ? h : right[r->node];
            if (left[r->node] + right[r->node] > MAX_COMPUTED_HALO) {
                return false;
            }
        }
    }
    return true;
}

/* Can all stages of k be computed in one walk over rows?  NULL, or the rule that says no. */
static const char *kernel_refusal(Kernel *k)
{
    IrGraph *g = k->g;
    bool *off_row = arena_array(g->arena, bool, g->nodes.n);
    bool y_fold = false, z_fold = false;
    for (int i = k->n - 1; i >= 0; i--) {
        Form form = form_of(g, k->stage[i]);
        if (!form.rows) {
            return form.why;
        }
        y_fold = y_fold || form.y_fold;
        z_fold = z_fold || form.z_fold;
        if (form.folds && off_row[k->stage[i]]) {
            return "one level of folds over rows a kernel: this one is stored in between";
        }
        for (int j = 0; j < i; j++) {
            RowWalk w = {.node = k->stage[j], .border = IR_NEAREST};
            ir_walk(g, ir_node(g, k->stage[i])->in[0], look_at_read, &w);
            off_row[w.node] = off_row[w.node] || w.moved || (w.read && off_row[k->stage[i]]);
            if (w.fixed) {
                return "it is read at other rows than it would be computed on";
            }
            if (w.shifted && w.border != IR_NEAREST && w.border != IR_CONSTANT) {
                return "its border needs columns that this work-item does not have";
            }
        }
    }
    if (y_fold && z_fold) {
        return "one kernel marches along one axis";
    }
    if (borders_of(g, k->stage, k->n).mixed) {
        return "it is read under two borders";
    }
    return halos_are_small(k) ? NULL : "too many columns would be computed twice";
}

/* ---- joining ------------------------------------------------------------------------------ */

typedef struct Reader {
    IrId node;
    bool found;
} Reader;

static void look_for_node(const IrGraph *g, IrExpr e, void *ctx)
{
    Reader *r = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool reads = n->op == IR_X_READ || n->op == IR_X_READAT || n->op == IR_X_LOOKUP ||
                 n->op == IR_X_VALUE;
    r->found = r->found || (reads && n->node == r->node);
}

static bool node_reads(IrGraph *g, IrId reader, IrId node)
{
    Reader r = {.node = node};
    for (int i = 0; i < IR_MAX_IN; i++) {
        ir_walk(g, ir_node(g, reader)->in[i], look_for_node, &r);
    }
    return r.found;
}

static bool step_uses(IrGraph *g, const IrStep *step, IrId node)
{
    for (int i = 0; i < step->stages.n; i++) {
        IrId stage = step->stages.at[i];
        if (ir_node(g, stage)->of == node || node_reads(g, stage, node)) {
            return true;
        }
    }
    return false;
}

/* A loop makes its carries, for those behind it, of their next values. */
static bool step_needs(IrGraph *g, const IrStep *reader, const IrStep *maker)
{
    bool needs = false;
    for (int i = 0; i < maker->stages.n; i++) {
        needs = needs || step_uses(g, reader, maker->stages.at[i]);
    }
    for (int i = 0; maker->kind == IR_STEP_LOOP && i < g->loops.at[maker->loop].carries.n; i++) {
        needs = needs || step_uses(g, reader, g->loops.at[maker->loop].carries.at[i].carry);
    }
    for (int i = 0; reader->kind == IR_STEP_LOOP && i < g->loops.at[reader->loop].carries.n; i++) {
        for (int k = 0; k < maker->stages.n; k++) {
            needs = needs || g->loops.at[reader->loop].carries.at[i].next == maker->stages.at[k];
        }
    }
    return needs;
}

int pass_joined_place(IrGraph *g, const IrSchedule *s, int a, int z)
{
    bool early = true, late = true;
    for (int i = a + 1; i < z; i++) {
        early = early && !step_needs(g, &s->steps.at[z], &s->steps.at[i]);
        late = late && !step_needs(g, &s->steps.at[i], &s->steps.at[a]);
    }
    return late ? z : early ? a : -1;
}

/* The one step whose stages are all that read `p`; -1 when there are several or other users. */
static int only_consumer(IrGraph *g, const IrSchedule *s, IrId p, const int *users)
{
    int step = -1, found = 0;
    for (IrId c = p + 1; c < (IrId)g->nodes.n; c++) {
        if (ir_node(g, c)->dead || !node_reads(g, c, p)) {
            continue;
        }
        if (step >= 0 && s->step[c] != step) {
            return -1;
        }
        step = s->step[c];
        found++;
    }
    return found == users[p] ? step : -1;
}

static void sort_stages(IrId *stage, int n)
{
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && stage[j] < stage[j - 1]; j--) {
            IrId t = stage[j];
            stage[j] = stage[j - 1];
            stage[j - 1] = t;
        }
    }
}

static void remark(IrGraph *g, IrSchedule *s, IrId from, int step, const char *why)
{
    double size = (double)elem_size(ir_node(g, from)->elem);
    for (int i = 0; i < s->remarks.n; i++) {
        IrRemark *r = &s->remarks.at[i];
        if (r->from == from && s->step[r->to] == step) {
            r->state = why == NULL ? IR_EDGE_LOCAL : IR_EDGE_GLOBAL;
            r->why = why == NULL ? "computed in registers on the row that is being read" : why;
            r->bytes = 2 * size;
        }
    }
}

void pass_merge_steps(IrGraph *g, IrSchedule *s, int from, int to)
{
    IrStep *joined = &s->steps.at[to], *gone = &s->steps.at[from];
    for (int i = 0; i < gone->stages.n; i++) {
        vec_push(g->arena, &joined->stages, gone->stages.at[i]);
        s->step[gone->stages.at[i]] = to;
    }
    gone->stages.n = 0;
    sort_stages(joined->stages.at, joined->stages.n);
}

const char *pass_rows_refusal(IrGraph *g, const IrId *stages, int n)
{
    Kernel k = {.g = g, .n = n};
    memcpy(k.stage, stages, (size_t)n * sizeof *stages);
    sort_stages(k.stage, n);
    return kernel_refusal(&k);
}

static bool try_to_join(IrGraph *g, IrSchedule *s, IrId p, const int *users)
{
    int from = s->step[p], to = only_consumer(g, s, p, users);
    if (to == from) { /* they met as siblings */
        remark(g, s, p, to, NULL);
        s->stored[p] = false;
        return true;
    }
    if (to < 0 || s->steps.at[to].kind != IR_STEP_KERNEL ||
        s->steps.at[to].loop != s->steps.at[from].loop) {
        return false;
    }
    const IrStep *a = &s->steps.at[from], *b = &s->steps.at[to];
    if (ir_node(g, a->stages.at[0])->grid != ir_node(g, b->stages.at[0])->grid ||
        ir_node(g, b->stages.at[0])->op == IR_CARRY || a->stages.n + b->stages.n > MAX_STAGES) {
        return false;
    }
    IrId stages[MAX_STAGES];
    memcpy(stages, a->stages.at, (size_t)a->stages.n * sizeof *stages);
    memcpy(stages + a->stages.n, b->stages.at, (size_t)b->stages.n * sizeof *stages);
    int place = pass_joined_place(g, s, from, to);
    const char *why = place < 0 ? "what is made with it is needed before"
                                : pass_rows_refusal(g, stages, a->stages.n + b->stages.n);
    remark(g, s, p, to, why);
    if (why != NULL) {
        return false;
    }
    pass_merge_steps(g, s, place == to ? from : to, place);
    s->stored[p] = false;
    return true;
}

static void drop_empty_steps(IrGraph *g, IrSchedule *s)
{
    int n = 0;
    for (int i = 0; i < s->steps.n; i++) {
        bool loop = s->steps.at[i].kind == IR_STEP_LOOP || s->steps.at[i].kind == IR_STEP_END;
        if (!loop && s->steps.at[i].stages.n == 0) {
            continue;
        }
        s->steps.at[n] = s->steps.at[i];
        for (int k = 0; k < s->steps.at[n].stages.n; k++) {
            s->step[s->steps.at[n].stages.at[k]] = n;
        }
        n++;
    }
    s->steps.n = n;
    (void)g;
}

static void join_producers(IrGraph *g, IrSchedule *s)
{
    const int *users = ir_count_users(g);
    for (IrId p = (IrId)g->nodes.n - 1; p > 0; p--) {
        const IrNode *n = ir_node(g, p);
        if (!n->dead && n->op == IR_MAP && n->of == 0 && s->stored[p]) {
            try_to_join(g, s, p, users);
        }
    }
}

void pass_choose_shapes(IrGraph *g, PassContext *cx, IrSchedule *s)
{
    if (cx->fuse == FUSE_ALL) {
        join_producers(g, s);
        if (pass_join_siblings(g, cx, s)) { /* what both read has one reader now */
            join_producers(g, s);
        }
    }
    drop_empty_steps(g, s);
    for (int i = 0; i < s->steps.n; i++) {
        IrStep *step = &s->steps.at[i];
        if (step->kind != IR_STEP_KERNEL) {
            continue;
        }
        bool z_fold = false;
        for (int j = 0; j < step->stages.n; j++) {
            z_fold = z_fold || form_of(g, step->stages.at[j]).z_fold;
        }
        bool rows = pass_rows_refusal(g, step->stages.at, step->stages.n) == NULL;
        int along = step->stages.n == 1 ? long_axis(g, step->stages.at[0]) : -1;
        step->shape = along >= 0 ? IR_SHAPE_LONG : rows ? IR_SHAPE_ROWS : IR_SHAPE_DIRECT;
        step->march = along >= 0 ? along : z_fold ? IR_AX_Z : IR_AX_Y;
    }
}
