/* cost: bytes, operations and registers of a kernel, counted over its stages' expressions. */
#include "cost.h"

#include "figures.h"

#include "../base/id_map.h"
#include "../base/strips.h"
#include "../ir/footprint.h"
#include "../ir/range.h"

enum {
    PIXELS = 4,               /* of a work-item */
    FOLD_REGISTERS = 64,      /* of a fold beside its open rows: rows of a turn, and what is on its way */
    FILE_BYTES = 2,           /* a pixel of an input whose type the file decides */
    UNKNOWN_ROUNDS = 8,       /* of a fold */
    MIDDLING_PIXELS = 1 << 24 /* of an image: what a launch costs is spread over so many */
};

typedef struct Count {
    IrGraph *g;
    IdMap counted;   /* expressions */
    Vec(double) ops; /* of each */
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

/* Is the fold one over rows or planes? */
typedef struct March {
    double index;
    bool found;
} March;

static void look_for_march(const IrGraph *g, IrExpr e, void *ctx)
{
    March *m = ctx;
    const IrExprNode *n = ir_expr(g, e);
    const IrExpr rows[2] = {n->b, n->c};
    for (int i = 0; i < 2 && n->op == IR_X_READ; i++) {
        const IrExprNode *row = ir_expr(g, rows[i]);
        m->found = m->found || (rows[i] != 0 && row->op == IR_X_INDEX && row->num == m->index);
    }
}

static double count(Count *c, IrExpr e);

static double count_fold(Count *c, const IrExprNode *n)
{
    double rounds = rounds_of(c, n);
    March march = {.index = n->num};
    ir_walk(c->g, n->a, look_for_march, &march);
    if (march.found) { /* kept transposed: a partial result for every open row */
        c->of->registers += PIXELS * rounds + FOLD_REGISTERS;
        c->of->halo = rounds - 1 > c->of->halo ? rounds - 1 : c->of->halo;
    }
    const double step = n->fold == IR_FOLD_BLEND ? 2 : 1; /* a product more */
    return rounds * (step + count(c, n->a)) + count(c, n->nth);
}

/* Instructions of an operator beyond the first. */
static double more_than_one(IrExprOp op)
{
    return op == IR_X_DIV || op == IR_X_SQRT ? 7 : op >= IR_X_CBRT && op <= IR_X_TANH ? 19 : op == IR_X_POW ? 40 : 0;
}

bool cost_is_costly(IrExprOp op)
{
    return more_than_one(op) > 0;
}

static double count(Count *c, IrExpr e)
{
    if (e == 0) {
        return 0;
    }
    const IrExprNode n = *ir_expr(c->g, e);
    if (n.rank != IR_PIXEL || n.op == IR_X_READ) {
        return 0;
    }
    int known = id_map_find(&c->counted, e);
    if (known >= 0) {
        return c->ops.at[known];
    }
    double own = n.op == IR_X_FOLD ? count_fold(c, &n) : 1 + count(c, n.a) + count(c, n.b) + count(c, n.c);
    (void)id_map_add(&c->counted, c->g->arena, e);
    vec_push(c->g->arena, &c->ops, own);
    c->of->work += more_than_one(n.op);
    return own;
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
        stage->ops += count(&counter, e);
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

CostKernel cost_kernel(Cost *c, const IrId *stages, int n)
{
    CostKernel k = {.known = true};
    for (int i = 0; i < n; i++) {
        const CostStage *stage = cost_stage(c, stages[i]);
        k.ops += stage->ops;
        k.registers += stage->registers;
        k.halo = stage->halo > k.halo ? stage->halo : k.halo;
        k.known = k.known && stage->known;
        k.bytes += c->s->stored[stages[i]] ? bytes_of(c->g, stages[i]) : 0;
        for (int r = 0; r < stage->reads.n; r++) {
            IrId from = stage->reads.at[r];
            bool new = ir_has_pixels(c->g, from) && !is_there(c, stages, n, i, from);
            k.bytes += new ? bytes_of(c->g, from) : 0;
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
