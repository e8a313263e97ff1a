/*
 * rows: which kernels walk over the image in rows, and which stages share one.
 *
 * A stage can be computed in rows when it reads images on its own grid, at offsets that are known
 * when the kernel is compiled, and when its folds over rows (or planes) are plain: the index is
 * the offset, every read inside has it, and nothing is folded around them.  Such a fold is kept
 * transposed (codegen/rows.c), one level of them a kernel.
 *
 * A producer joins the kernel of its only consumers when it can be computed there in registers
 * on a few columns more; then it is never stored.  Without folds over rows it may also be read on other rows: each of
 * its rows is computed once and kept for those who read it (ir/ahead.h), as far as registers allow, or computed for
 * each of a few, if that costs little.  Otherwise it has a kernel of its own.
 */
#include "rows.h"
#include "figures.h"
#include "horizontal.h"
#include "shifted.h"

#include "../ir/ahead.h"
#include "../ir/long_fold.h"

#include <math.h>
#include <string.h>

enum {
    MAX_COMPUTED_HALO = 8, /* columns computed twice, beside the four of a work-item */
    FARTHEST = 1024,       /* pixels to the side that still share a row of registers */
    LONGEST_FOLD = 256,    /* of longer ones neither open rows nor columns fit into registers */
    LONG_FOLD = 64,        /* from here on a kernel of its own is faster, where it can have one */
    LONG_FILES_FOLD = 36,  /* of rows in f64, if bytes of a file need none */
    LONG_WIDE_FOLD = 28,   /* of other rows in f64 */
    MAX_STAGES = PASS_MAX_STAGES,
    MAX_ROWS = 8 /* on which one stage is computed */
};

static const char TOO_LONG[] = "its window is longer than the registers of a work-item";

/* ---- what one stage allows --------------------------------------------------------------- */

typedef struct Form {
    bool rows;  /* it can be computed in rows at all */
    bool folds; /* it has a fold over the stream axis */
    bool y_fold, z_fold;
    const char *why; /* when it cannot */
} Form;

typedef struct Walk {
    IrGraph *g;
    int domain;
    Form form;
    int depth;        /* folds around the expression */
    int stream_index; /* of the outermost fold, when it is over a stream axis; -1 */
    int stream_axis;
    bool streamed; /* a read in that fold has been seen; under which border: */
    Border border;
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
        double far;
        if (o->rank > IR_INDEX) {
            refuse(w, "it is read at offsets that depend on pixels");
        } else if (o->rank <= IR_HOST && cost_value(w->g, offset, &far) && !(fabs(far) <= FARTHEST)) {
            refuse(w, "it is read so far to the side that no row holds both pixels");
        }
        return;
    }
    bool is_stream = o->op == IR_X_INDEX && (int)o->num == w->stream_index && axis == w->stream_axis;
    if (!is_stream && o->rank > IR_HOST) {
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
    if (w->stream_index >= 0) {
        const IrExpr stream = offset[w->stream_axis];
        bool streamed = stream != 0 && ir_expr(w->g, stream)->op == IR_X_INDEX;
        if (!streamed) {
            refuse(w, "a fold over rows also reads a fixed row");
        } else if (w->streamed && w->border != n->border) { /* a row outside is another one for each */
            refuse(w, "a fold over rows reads under two borders");
        }
        w->streamed = true;
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
    const double width = found.axis == IR_AX_X ? 1 : cost_fold_width(g, found.fold); /* columns stay in no registers */
    const int least = width > COST_WIDTH_OF_FILES ? LONG_WIDE_FOLD : width > 1 ? LONG_FILES_FOLD : LONG_FOLD;
    return is_long(g, &fold, least) ? found.axis : -1;
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
    int outer = w->stream_index;
    if (axis.axis >= 0) {
        if (w->depth > 0 || axis.both) {
            refuse(w, "its window is not a plain fold over rows");
            return;
        }
        w->stream_index = (int)n->num;
        w->stream_axis = axis.axis;
        w->streamed = false;
        w->form.folds = true;
        w->form.y_fold = w->form.y_fold || axis.axis == IR_AX_Y;
        w->form.z_fold = w->form.z_fold || axis.axis == IR_AX_Z;
    }
    int around = ir_pass_into(&w->passed);
    w->depth++;
    check(w, n->a);
    w->depth--;
    w->passed.fold = around;
    w->stream_index = outer;
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
        } else if (w->stream_index >= 0) { /* a row is added to the sums of several pixels at once */
            refuse(w, "a fold over rows also takes the place of the pixel");
        }
        break;
    default:
        check(w, n.a);
        check(w, n.b);
        check(w, n.c);
    }
}

/* The first read of the node by the stage with an offset in x; 0 none. */
static IrExpr first_beside(const Grouping *b, IrId stage, IrId node)
{
    int n;
    const IrExpr *read = ir_uses_of(b->uses, stage, node, &n);
    for (int i = 0; i < n; i++) {
        const IrExprNode *r = ir_expr(b->g, read[i]);
        if (r->op == IR_X_READ && r->a != 0) {
            return read[i];
        }
    }
    return 0;
}

/* Reads of one node with offsets in x under two borders need two arrays: not in rows. */
static bool has_two_borders(const Grouping *b, const IrId *stage, int n)
{
    bool two = false;
    for (int i = 0; i < n; i++) {
        const IrReads *reads = &b->uses->reads[stage[i]];
        for (int k = 0; k < reads->n && !two; k++) {
            const IrExprNode *r = ir_expr(b->g, reads->at[k]);
            bool beside = r->op == IR_X_READ && r->a != 0;
            for (int j = 0; j <= i && beside; j++) {
                IrExpr other = first_beside(b, stage[j], r->node);
                const IrExprNode *o = ir_expr(b->g, other);
                two = two || (other != 0 && (o->border != r->border || o->outside != r->outside));
            }
        }
    }
    return two;
}

static const Form *form_of(Grouping *b, IrId id)
{
    if (b->form[id] != NULL) {
        return b->form[id];
    }
    IrGraph *g = b->g;
    Walk w = {.g = g, .domain = ir_node(g, id)->grid, .stream_index = -1, .form = {.rows = true}};
    check(&w, ir_node(g, id)->map.value);
    if (long_axis(g, id) >= 0) {
        refuse(&w, TOO_LONG);
    }
    if (w.form.y_fold && w.form.z_fold) {
        refuse(&w, "it folds over rows and planes");
    }
    if (has_two_borders(b, &id, 1)) {
        refuse(&w, "it reads one image under two borders");
    }
    b->form[id] = arena_new(g->arena, Form);
    *b->form[id] = w.form;
    return b->form[id];
}

/* ---- what a kernel of several stages allows ----------------------------------------------- */

typedef struct Kernel {
    Grouping *b;
    IrId stage[MAX_STAGES];
    int n;
} Kernel;

/* The place of a node among the stages; -1. */
static int place_of(const Kernel *k, IrId id)
{
    for (int i = 0; i < k->n; i++) {
        if (k->stage[i] == id) {
            return i;
        }
    }
    return -1;
}

/* How a stage is read by another one of the kernel. */
typedef struct RowUse {
    bool read;
    bool moved, fixed, shifted; /* along the stream axis by a fold, by a constant; along x */
    Border border;
} RowUse;

static RowUse row_use(const Kernel *k, IrId reader, IrId node)
{
    const IrGraph *g = k->b->g;
    RowUse use = {.border = BORDER_NEAREST};
    int n;
    const IrExpr *read = ir_uses_of(k->b->uses, reader, node, &n);
    for (int i = 0; i < n; i++) {
        const IrExprNode *r = ir_expr(g, read[i]);
        const IrExpr rows[2] = {r->b, r->c};
        for (int j = 0; j < 2 && r->op == IR_X_READ; j++) {
            bool index = rows[j] != 0 && ir_expr(g, rows[j])->op == IR_X_INDEX;
            use.moved = use.moved || index;
            use.fixed = use.fixed || (rows[j] != 0 && !index);
        }
        if (r->op == IR_X_READ && r->a != 0) {
            use.shifted = true;
            use.border = r->border;
        }
        use.read = use.read || r->op == IR_X_READ;
    }
    return use;
}

static bool halos_are_small(const Kernel *k)
{
    IrGraph *g = k->b->g;
    double left[MAX_STAGES] = {0}, right[MAX_STAGES] = {0};
    for (int i = k->n - 1; i >= 0; i--) {
        const IrFootprint *fp = grouping_footprint(k->b, k->stage[i]);
        for (int j = 0; j < fp->reach.n; j++) {
            const IrReach *r = &fp->reach.at[j];
            int from = place_of(k, r->node);
            double lo, hi;
            if (from < 0) {
                continue;
            }
            if (!ir_is_const(g, r->lo[0], &lo) || !ir_is_const(g, r->hi[0], &hi)) {
                return false;
            }
            double l = left[i] - lo, h = right[i] + hi;
            left[from] = l > left[from] ? l : left[from];
            right[from] = h > right[from] ? h : right[from];
            if (left[from] + right[from] > MAX_COMPUTED_HALO) {
                return false;
            }
        }
    }
    return true;
}

/* The rows on which a stage is computed for those that read it, from the one that the kernel is at. */
typedef struct ComputedRows {
    double at[MAX_ROWS][2]; /* rows and planes */
    int n;
} ComputedRows;

static bool add_row(ComputedRows *rows, double y, double z)
{
    for (int i = 0; i < rows->n; i++) {
        if (rows->at[i][0] == y && rows->at[i][1] == z) {
            return true;
        }
    }
    if (rows->n == MAX_ROWS) {
        return false;
    }
    rows->at[rows->n][0] = y;
    rows->at[rows->n++][1] = z;
    return true;
}

/* The rows on which `node` is read by a stage that is computed on these. */
static bool add_rows_read(const Kernel *k, IrId reader, const ComputedRows *of, IrId node, ComputedRows *rows)
{
    int n;
    bool few = true;
    const IrExpr *read = ir_uses_of(k->b->uses, reader, node, &n);
    for (int i = 0; i < n; i++) {
        const IrExprNode *r = ir_expr(k->b->g, read[i]);
        double y = 0, z = 0;
        few = few && r->op == IR_X_READ && (r->b == 0 || ir_is_const(k->b->g, r->b, &y)) &&
              (r->c == 0 || ir_is_const(k->b->g, r->c, &z));
        for (int j = 0; j < of->n && few; j++) {
            few = add_row(rows, of->at[j][0] + y, of->at[j][1] + z);
        }
    }
    return few;
}

/* Is it cheap to compute each stage again on all rows on which others read it? */
static bool repeats_little(const Kernel *k)
{
    const DeviceFigures *figures = k->b->cx->figures != NULL ? k->b->cx->figures : figures_known(NULL);
    ComputedRows rows[MAX_STAGES] = {{.n = 0}};
    double again = 0;
    bool few = true;
    for (int i = k->n - 1; i >= 0 && few; i--) {
        few = !form_of(k->b, k->stage[i])->folds && (rows[i].n > 0 || add_row(&rows[i], 0, 0));
        again += (rows[i].n - 1) * cost_stage(&k->b->cost, k->stage[i])->ops;
        for (int j = 0; j < i && few; j++) {
            few = add_rows_read(k, k->stage[i], &rows[i], k->stage[j], &rows[j]);
        }
    }
    return few && again <= figures_repeated_ops(figures);
}

/* Can each row of each stage be computed once, and be kept for those who read it? */
static bool keeps_rows(const Kernel *k, IrAhead *ahead)
{
    for (int i = 0; i < k->n; i++) {
        if (form_of(k->b, k->stage[i])->folds) {
            return false;
        }
    }
    return ir_find_ahead(k->b->g, k->stage, k->n, k->b->s->stored, ahead) &&
           ir_ahead_registers(k->b->g, ahead, COST_OWN_COLUMNS) <= COST_MOST_KEPT;
}

/* Rows that a turn of such a kernel takes; 0: no stage keeps any, nor do the rows of a turn share what takes long. */
static int rows_a_turn(const Kernel *k)
{
    IrAhead ahead;
    if (!keeps_rows(k, &ahead)) {
        return 0;
    }
    bool shares = false;
    for (int i = 0; i < k->n && !shares; i++) {
        shares = pass_is_shifted(k->b->g, k->stage[i]);
    }
    if (!shares && !ir_ahead_keeps(&ahead)) {
        return 0;
    }
    const double work = cost_ahead(&k->b->cost, &ahead);
    return work <= COST_LITTLE_WORK ? 3 : shares || work <= COST_MUCH_WORK ? 2 : 1;
}

/* Can all stages of k be computed in one walk over rows?  NULL, or the rule that says no. */
static const char *kernel_refusal(const Kernel *k)
{
    bool off_row[MAX_STAGES] = {false};
    bool y_fold = false, z_fold = false, fixed = false;
    for (int i = k->n - 1; i >= 0; i--) {
        const Form *form = form_of(k->b, k->stage[i]);
        if (!form->rows) {
            return form->why;
        }
        y_fold = y_fold || form->y_fold;
        z_fold = z_fold || form->z_fold;
        if (form->folds && off_row[i]) {
            return "a kernel streams one level of windows; this one is stored in between";
        }
        for (int j = 0; j < i; j++) {
            RowUse use = row_use(k, k->stage[i], k->stage[j]);
            off_row[j] = off_row[j] || use.moved || (use.read && off_row[i]);
            fixed = fixed || use.fixed;
            if (use.shifted && use.border != BORDER_NEAREST && use.border != BORDER_CONSTANT) {
                return "its border needs columns that this work-item does not have";
            }
        }
    }
    IrAhead ahead;
    if (fixed && !keeps_rows(k, &ahead) && !repeats_little(k)) {
        return "it is read at other rows than it would be computed on";
    }
    if (y_fold && z_fold) {
        return "one kernel streams along one axis";
    }
    if (has_two_borders(k->b, k->stage, k->n)) {
        return "it is read under two borders";
    }
    if (ir_uses_images(k->b->uses, k->stage, k->n) > IR_MOST_READS) {
        return "the kernel would read too many images";
    }
    return halos_are_small(k) ? NULL : "too many columns would be computed twice";
}

/* ---- joining ------------------------------------------------------------------------------ */

/* The one step whose stages are all that read `p`; -1 when there are several or other users. */
static int only_consumer(const Grouping *b, IrId p)
{
    const IrReaders readers = b->uses->readers[p];
    int step = readers.n > 0 && readers.n == b->users[p] ? b->s->step[readers.at[0]] : -1;
    for (int i = 1; i < readers.n; i++) {
        step = b->s->step[readers.at[i]] == step ? step : -1;
    }
    return step;
}

static void remark(Grouping *b, IrId from, int step, const char *why)
{
    double size = (double)elem_size(ir_node(b->g, from)->elem);
    for (int at = b->first_remark[from]; at != 0; at = b->next_remark.at[at - 1]) {
        IrRemark *r = &b->s->remarks.at[at - 1];
        if (b->s->step[r->to] == step) {
            r->state = why == NULL ? IR_EDGE_LOCAL : IR_EDGE_GLOBAL;
            r->why = why == NULL ? "computed in registers, row by row" : why;
            r->bytes = 2 * size;
        }
    }
}

/* All stages of one or two steps, in order. */
static Kernel kernel_of(Grouping *b, const IrStep *one, const IrStep *two)
{
    Kernel k = {.b = b, .n = one->stages.n};
    memcpy(k.stage, one->stages.at, (size_t)one->stages.n * sizeof *k.stage);
    for (int i = 0; two != NULL && i < two->stages.n; i++) { /* both are in order */
        int at = k.n++;
        for (; at > 0 && k.stage[at - 1] > two->stages.at[i]; at--) {
            k.stage[at] = k.stage[at - 1];
        }
        k.stage[at] = two->stages.at[i];
    }
    return k;
}

const char *pass_rows_refusal(Grouping *b, const IrStep *one, const IrStep *two)
{
    const Kernel k = kernel_of(b, one, two);
    return kernel_refusal(&k);
}

/* Whether both have folds, whose sums together are more than registers hold: the kernel would keep them in memory. */
static bool spills(Grouping *b, const IrStep *one, const IrStep *two)
{
    const Kernel k = kernel_of(b, one, two);
    const CostKernel first = cost_kernel(&b->cost, one->stages.at, one->stages.n);
    const CostKernel second = cost_kernel(&b->cost, two->stages.at, two->stages.n);
    const CostKernel both = cost_kernel(&b->cost, k.stage, k.n);
    return first.registers > 0 && second.registers > 0 && !cost_has_room(&first, &second, &both);
}

static bool try_to_join(Grouping *b, IrId p)
{
    const IrGraph *g = b->g;
    IrSchedule *s = b->s;
    int from = s->step[p], to = only_consumer(b, p);
    if (to == from) { /* they were fused horizontally */
        remark(b, p, to, NULL);
        s->stored[p] = false;
        return true;
    }
    if (to < 0 || s->steps.at[to].kind != IR_STEP_KERNEL || s->steps.at[to].loop != s->steps.at[from].loop) {
        return false;
    }
    const IrStep *one = &s->steps.at[from], *two = &s->steps.at[to];
    if (ir_node(g, one->stages.at[0])->grid != ir_node(g, two->stages.at[0])->grid ||
        ir_node(g, two->stages.at[0])->op == IR_CARRY || one->stages.n + two->stages.n > MAX_STAGES) {
        return false;
    }
    int place = grouping_joined_place(b, from, to);
    const char *why = place < 0 ? "what is made with it is needed before" : pass_rows_refusal(b, one, two);
    bool full = why == NULL && spills(b, one, two);
    if (why == NULL && !pass_decide(b->cx, g, DECISION_JOIN, p, 0, !full)) {
        why = full ? COST_FULL : "a plan that was measured stores it";
    }
    remark(b, p, to, why);
    if (why != NULL) {
        return false;
    }
    grouping_merge(b, place == to ? from : to, place);
    s->stored[p] = false;
    return true;
}

static void join_producers(Grouping *b)
{
    for (IrId p = (IrId)b->g->nodes.n - 1; p > 0; p--) {
        const IrNode *n = ir_node(b->g, p);
        if (!n->dead && n->op == IR_MAP && n->of == 0 && b->s->stored[p]) {
            try_to_join(b, p);
        }
    }
}

static bool is_carried(const IrLoop *loop, IrId stage)
{
    bool carried = false;
    for (int i = 0; i < loop->carries.n; i++) {
        carried = carried || loop->carries.at[i].next == stage;
    }
    return carried;
}

/* The stages of a loop whose rounds were joined are one kernel, of which what the loop carries is stored. */
static void join_rounds(Grouping *b, int loop)
{
    IrSchedule *s = b->s;
    Kernel k = {.b = b};
    int last = b->loop_step[loop];
    for (int i = last; s->steps.at[i].kind != IR_STEP_END; i++) {
        const IrStep *step = &s->steps.at[i];
        if (step->kind == IR_STEP_KERNEL) {
            k = kernel_of(b, step, &(IrStep){.stages = {.at = k.stage, .n = k.n}});
            last = i;
        }
    }
    for (int i = 0; i < k.n; i++) {
        s->stored[k.stage[i]] = is_carried(&b->g->loops.at[loop], k.stage[i]);
    }
    const bool fits = kernel_refusal(&k) == NULL;
    for (int i = 0; i < k.n; i++) {
        if (fits && s->step[k.stage[i]] != last) {
            grouping_merge(b, s->step[k.stage[i]], last);
        }
    }
    for (int i = 0; i < k.n; i++) {
        if (fits && !s->stored[k.stage[i]]) {
            remark(b, k.stage[i], last, NULL);
        }
        s->stored[k.stage[i]] = s->stored[k.stage[i]] || !fits;
    }
}

void pass_choose_shapes(Grouping *b)
{
    for (int i = 1; i < b->g->loops.n; i++) {
        if (b->g->loops.at[i].joined > 1) {
            join_rounds(b, i);
        }
    }
    if (b->cx->fuse == FUSE_ALL) {
        join_producers(b);
        if (pass_fuse_horizontally(b)) { /* what both read has one reader now */
            join_producers(b);
        }
    }
    grouping_drop_empty(b);
    for (int i = 0; i < b->s->steps.n; i++) {
        IrStep *step = &b->s->steps.at[i];
        if (step->kind != IR_STEP_KERNEL) {
            continue;
        }
        bool z_fold = false;
        for (int j = 0; j < step->stages.n; j++) {
            z_fold = z_fold || form_of(b, step->stages.at[j])->z_fold;
        }
        const Kernel k = kernel_of(b, step, NULL);
        bool rows = kernel_refusal(&k) == NULL;
        int along = step->stages.n == 1 ? long_axis(b->g, step->stages.at[0]) : -1;
        step->shape = along >= 0 ? IR_SHAPE_LONG : rows ? IR_SHAPE_ROWS : IR_SHAPE_DIRECT;
        step->ahead = step->shape == IR_SHAPE_ROWS ? rows_a_turn(&k) : 0;
        step->stream = along >= 0 ? along : z_fold ? IR_AX_Z : IR_AX_Y;
    }
}
