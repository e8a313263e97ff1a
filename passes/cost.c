/* cost: bytes, operations and registers of a kernel, counted over its stages' expressions. */
#include "cost.h"

#include "figures.h"

#include "../base/id_map.h"
#include "../base/strips.h"
#include "../ir/apply.h"
#include "../ir/footprint.h"
#include "../ir/range.h"
#include "../ir/whole_most.h"

#include <math.h>

enum {
    PIXELS = 4,               /* of a work-item */
    FOLD_REGISTERS = 64,      /* of a fold beside its open rows: rows of a turn, and what is on its way */
    FILE_BYTES = 2,           /* a pixel of an input whose type the file decides */
    UNKNOWN_ROUNDS = 8,       /* of a fold */
    SOME_ROUNDS = 10,         /* of a loop */
    MIDDLING_PIXELS = 1 << 24 /* of an image: what a launch costs is spread over so many */
};

/* How many operators an expression has, and how long they take in multiplications.  A kernel gives what it has twice a name:
 * each expression counts once. */
typedef struct Ops {
    double n, time;
} Ops;

typedef struct Count {
    IrGraph *g;
    IdMap counted; /* expressions */
    CostStage *of;
} Count;

/* um: what lengths are taken for that only an image's pixels turn into windows.  Small, since long forms of short
 * windows lose a little, and short forms of long ones everything: a blur of 80 pixels took 66 s to compile on an
 * H200 and 243 ms at 4096^2 (long ones of 40 take 2.4 ms at 8192^2). */
static const double PIXEL_SIZE = 0.1;

bool cost_value(IrGraph *g, IrExpr e, double *value)
{
    *value = 0;
    return e == 0 || ir_default(g, e, PIXEL_SIZE, value);
}

static double rounds_of(Count *c, const IrExprNode *fold)
{
    double lo, hi;
    if (!cost_value(c->g, fold->b, &lo) || !cost_value(c->g, fold->c, &hi)) {
        c->of->known = false;
        return UNKNOWN_ROUNDS;
    }
    return hi >= lo ? hi - lo + 1 : 0;
}

static bool is_index(const IrGraph *g, IrExpr e, double index)
{
    return e != 0 && ir_expr(g, e)->op == IR_X_INDEX && ir_expr(g, e)->num == index;
}

/* Does a fold over the index go over rows or planes? */
static bool is_stream(const IrGraph *g, IrExpr e, const void *ctx)
{
    const double *index = ctx;
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_READ && (is_index(g, n->b, *index) || is_index(g, n->c, *index));
}

/* Whether an expression's value is one of the column (axis x) or row that the index names: its neighbours have it as well. */
static bool is_of_place(const IrGraph *g, IrExpr e, double index, int axis)
{
    const IrExprNode *n = ir_expr(g, e);
    if (e == 0 || n->rank <= IR_HOST) {
        return true;
    }
    if (n->op == IR_X_READ) {
        const IrExpr offset[] = {n->a, n->b, n->c};
        bool is = is_index(g, offset[axis], index) && (n->channel == 0 || ir_expr(g, n->channel)->rank <= IR_HOST);
        for (int ax = 0; ax < IR_AX_C; ax++) {
            is = is && (ax == axis || offset[ax] == 0 || ir_expr(g, offset[ax])->rank <= IR_HOST);
        }
        return is;
    }
    return ir_expr_op_arity(n->op) > 0 && is_of_place(g, n->a, index, axis) && is_of_place(g, n->b, index, axis) &&
           is_of_place(g, n->c, index, axis);
}

/* How often a fold's body is computed for a pixel: that of a row once for all open rows, that of a column for those that a
 * work-item reads, and any other in each round. */
static double times_of(const IrGraph *g, const IrExprNode *fold, double rounds)
{
    if (is_of_place(g, fold->a, fold->num, IR_AX_X)) {
        return (PIXELS + rounds - 1) / PIXELS;
    }
    return is_of_place(g, fold->a, fold->num, IR_AX_Y) || is_of_place(g, fold->a, fold->num, IR_AX_Z) ? 1 : rounds;
}

static Ops count(Count *c, IrExpr e);

static Ops add(Ops a, Ops b)
{
    return (Ops){a.n + b.n, a.time + b.time};
}

static double time_of(const IrExprNode *n)
{
    enum { WIDE = 2, SLOW_WIDE = 16 }; /* times as long in double; what is slow branches, too */
    const double work = n->op == IR_X_CAST ? 1 : ir_op_work(n->op);
    return n->type != ELEM_F64 ? work : work * (work > 1 ? SLOW_WIDE : WIDE);
}

/* How many times as long a fold over whole rows takes that reads each of them from memory: 29 times with 17 rows, 125 with 441,
 * on an H100. */
static double direct_times(const IrGraph *g, const IrExprNode *fold, double rounds)
{
    enum { A_ROW = 2, MOST = 100 };
    const bool streams = is_of_place(g, fold->a, fold->num, IR_AX_Y) || is_of_place(g, fold->a, fold->num, IR_AX_Z);
    return !streams ? 0 : A_ROW * rounds < MOST ? A_ROW * rounds : MOST;
}

double cost_fold_width(IrGraph *g, IrExpr fold)
{
    enum { WIDE = 2 };
    const bool wide = ir_expr(g, fold)->type == ELEM_F64;
    return !wide ? 1 : ir_whole_most(g, fold, elem_max(ELEM_U8)).value < INFINITY ? COST_WIDTH_OF_FILES : WIDE;
}

static Ops count_fold(Count *c, IrExpr e, const IrExprNode *n)
{
    const double rounds = rounds_of(c, n), size = n->type == ELEM_F64 ? 2 : 1;
    const double step = n->fold == IR_FOLD_BLEND ? 2 : 1; /* a product more */
    const Ops body = count(c, n->a), nth = count(c, n->nth);
    const double times = times_of(c->g, n, rounds);
    const Ops all = {rounds * step + times * body.n + nth.n, rounds * size + times * body.time + nth.time};
    if (ir_any(c->g, n->a, is_stream, &n->num)) { /* kept transposed: a partial result for every open row */
        const double width = cost_fold_width(c->g, e);
        const CostFold fold = {e,        PIXELS * rounds * width + FOLD_REGISTERS, PIXELS * rounds * size, all.n,
                               all.time, all.time * direct_times(c->g, n, rounds)};
        vec_push(c->g->arena, &c->of->folds, fold);
        c->of->registers += fold.registers;
        c->of->halo = rounds - 1 > c->of->halo ? rounds - 1 : c->of->halo;
    }
    return all;
}

/* Instructions of an operator beyond the first. */
static double more_than_one(IrExprOp op)
{
    return ir_op_work(op) - 1;
}

static Ops count(Count *c, IrExpr e)
{
    if (e == 0) {
        return (Ops){0, 0};
    }
    const IrExprNode n = *ir_expr(c->g, e);
    if (n.rank != IR_PIXEL || n.op == IR_X_READ) {
        return (Ops){0, 0};
    }
    if (id_map_find(&c->counted, e) >= 0) {
        return (Ops){0, 0};
    }
    (void)id_map_add(&c->counted, c->g->arena, e);
    c->of->work += more_than_one(n.op);
    return n.op == IR_X_FOLD ? count_fold(c, e, &n)
                             : add(add((Ops){1, time_of(&n)}, count(c, n.a)), add(count(c, n.b), count(c, n.c)));
}

static double bytes_of(const IrGraph *g, IrId node)
{
    size_t size = elem_size(ir_node(g, node)->elem);
    return size > 0 ? (double)size : FILE_BYTES;
}

Cost cost_new(IrGraph *g, const PassContext *cx, const IrSchedule *s)
{
    const DeviceFigures *figures = cx->figures != NULL ? cx->figures : figures_known(NULL);
    return (Cost){g, s, figures->giga_ops / figures->copy_gb,
                  figures->giga_ops * 1e3 * figures->launch_us / MIDDLING_PIXELS,
                  arena_array(g->arena, CostStage, g->nodes.n)};
}

const CostStage *cost_stage(Cost *c, IrId id)
{
    CostStage *stage = &c->stages[id];
    if (stage->counted) {
        return stage;
    }
    IrGraph *g = c->g;
    *stage = (CostStage){.counted = true, .known = true};
    Count counter = {.g = g, .of = stage};
    for (int i = 0; i < NODE_INPUTS; i++) {
        IrExpr e = ir_node(g, id)->in[i];
        const Ops ops = count(&counter, e);
        stage->ops += ops.n;
        stage->time += ops.time;
        IrFootprint fp = ir_footprint(g, e);
        for (int r = 0; r < fp.reach.n; r++) {
            const IrReach *reach = &fp.reach.at[r];
            vec_push(g->arena, &stage->reads, reach->node);
            if (reach->offset || reach->whole) {
                vec_push(g->arena, &stage->moved, reach->node);
            }
        }
    }
    stage->work += stage->ops;
    return stage;
}

static bool is_among(const IrId *list, int n, IrId id)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == id) {
            return true;
        }
    }
    return false;
}

/* Whether a stage before number n reads it too, or it is computed in the kernel. */
static bool is_there(Cost *c, const IrId *stages, int n, int i, IrId from)
{
    bool there = is_among(stages, n, from);
    for (int k = 0; k < i && !there; k++) {
        const CostStage *before = cost_stage(c, stages[k]);
        there = is_among(before->reads.at, before->reads.n, from);
    }
    return there;
}

static bool has_fold(const CostStage *stage, IrExpr fold)
{
    for (int i = 0; i < stage->folds.n; i++) {
        if (stage->folds.at[i].fold == fold) {
            return true;
        }
    }
    return false;
}

/* The folds over rows of stage number n; one that a stage before it has, too, is computed for both at once. */
static void add_folds(Cost *c, CostKernel *k, const IrId *stages, int n)
{
    const CostStage *stage = cost_stage(c, stages[n]);
    for (int i = 0; i < stage->folds.n; i++) {
        const CostFold *fold = &stage->folds.at[i];
        bool there = false;
        for (int before = 0; before < n && !there; before++) {
            there = has_fold(cost_stage(c, stages[before]), fold->fold);
        }
        k->folds += !there;
        k->registers += there ? 0 : fold->registers;
        k->sums += there ? 0 : fold->sums;
        k->ops -= there ? fold->ops : 0;
        k->time -= there ? fold->time : 0;
        k->direct += there ? 0 : fold->direct;
    }
}

/* Columns of a stage that is computed at the pixel itself, and read beside it by none of those before (columns.c). */
static bool is_column(Cost *c, const IrId *stages, int i, IrId from)
{
    bool first = is_among(cost_stage(c, stages[i])->moved.at, cost_stage(c, stages[i])->moved.n, from) &&
                 !c->s->stored[from] && is_among(stages, i, from) && cost_stage(c, from)->moved.n == 0;
    for (int k = 0; k < i && first; k++) {
        const CostStage *before = cost_stage(c, stages[k]);
        first = !is_among(before->reads.at, before->reads.n, from);
    }
    return first;
}

CostKernel cost_kernel(Cost *c, const IrId *stages, int n)
{
    CostKernel k = {.known = true};
    for (int i = 0; i < n; i++) {
        const CostStage *stage = cost_stage(c, stages[i]);
        k.ops += stage->ops;
        k.time += stage->time;
        add_folds(c, &k, stages, i);
        k.halo = stage->halo > k.halo ? stage->halo : k.halo;
        k.known = k.known && stage->known;
        k.bytes += c->s->stored[stages[i]] ? bytes_of(c->g, stages[i]) : 0;
        for (int r = 0; r < stage->reads.n; r++) {
            IrId from = stage->reads.at[r];
            bool new = ir_has_pixels(c->g, from) && !is_there(c, stages, n, i, from);
            k.bytes += new ? bytes_of(c->g, from) : 0;
            k.images += new &&is_among(stage->moved.at, stage->moved.n, from);
            k.columns += is_column(c, stages, i, from);
        }
    }
    return k;
}

double cost_ahead(Cost *c, const IrAhead *ahead)
{
    double work = 0;
    for (int i = 0; i < ahead->of.n; i++) {
        const IrRowsOf *of = &ahead->of.at[i];
        const double columns = COST_OWN_COLUMNS + of->left + of->right;
        work += of->computed ? cost_stage(c, of->node)->work * columns / COST_OWN_COLUMNS : 0;
    }
    return work;
}

double cost_time(const Cost *c, const CostKernel *k)
{
    double moves = cost_bytes(c, k->bytes);
    return k->ops > moves ? k->ops : moves;
}

bool cost_has_room(const CostKernel *one, const CostKernel *two, const CostKernel *both)
{
    const double alone = one->registers > two->registers ? one->registers : two->registers;
    return both->registers <= (alone > COST_MOST_REGISTERS ? alone : COST_MOST_REGISTERS);
}

double cost_bytes(const Cost *c, double bytes)
{
    return bytes * c->ops_a_byte;
}

double cost_launch(const Cost *c)
{
    return c->ops_a_launch;
}

double cost_strip_factor(double halo)
{
    double strip = (double)strip_rows(STRIP_ROWS, (int64_t)halo);
    return (strip + halo) / strip;
}

/* The registers of a streaming kernel: open sums, rows of each image that is read, what is on its way in each fold.  Measured
 * on an H100 (bench/NOTES.md): 280 are no slower than two kernels, 330 take six times as long. */
static bool spills(const CostKernel *k)
{
    enum { A_FOLD = 16, AN_IMAGE = 48, COLUMNS = 24 };
    return k->folds > 1 &&
           k->sums + A_FOLD * k->folds + AN_IMAGE * k->images + COLUMNS * k->columns > COST_MOST_REGISTERS;
}

/* Rows in front of a strip are computed for nothing.  Few groups with many sums do not hide their reading: both count. */
static double step_cost(Cost *c, const IrStep *step)
{
    static const double SPILLED = 6;
    const CostKernel k = cost_kernel(c, step->stages.at, step->stages.n);
    if (step->kind == IR_STEP_SCALARS ||
        (step->kind == IR_STEP_PRIMITIVE && c->s->taken_from[step->stages.at[0]] != 0)) {
        return cost_launch(c);
    }
    const bool rows = step->kind == IR_STEP_KERNEL && step->shape == IR_SHAPE_ROWS;
    const double moves = cost_bytes(c, k.bytes);
    const bool direct = step->kind == IR_STEP_KERNEL && step->shape == IR_SHAPE_DIRECT;
    const double works =
        (k.time + (direct ? k.direct : 0)) * (rows ? cost_strip_factor(k.halo) * (spills(&k) ? SPILLED : 1) : 1);
    return cost_launch(c) + (k.folds > 0 ? moves + works : moves > works ? moves : works);
}

static double rounds_of_loop(IrGraph *g, int loop)
{
    double count;
    const IrExpr given = g->loops.at[loop].count;
    return given != 0 && cost_value(g, given, &count) && count >= 1 ? count : SOME_ROUNDS;
}

double cost_plan(IrGraph *g, const PassContext *cx, const IrSchedule *s)
{
    Cost c = cost_new(g, cx, s);
    double cost = 0, often = 1;
    for (int i = 0; i < s->steps.n; i++) {
        const IrStep *step = &s->steps.at[i];
        if (step->kind == IR_STEP_LOOP) {
            often *= rounds_of_loop(g, step->loop);
        } else if (step->kind == IR_STEP_END) {
            often /= rounds_of_loop(g, step->loop);
        } else {
            cost += often * step_cost(&c, step);
        }
    }
    return cost;
}
