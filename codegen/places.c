/* places: expressions of coordinates become host expressions; one walk over what is read. */
#include "places.h"

#include "../base/hostops.h"
#include "../ir/footprint.h"

#include <assert.h>
#include <string.h>

/* Ends of the part, among the variables of host expressions. */
static int part_end(CgHost *host, int axis, bool last)
{
    int first = last ? PROG_PART_LAST : PROG_PART_FIRST;
    return cg_host_node(host, (HostNode){.op = HOST_INDEX, .a = first - axis});
}

typedef struct Bound {
    int index;
    IrExpr lo, hi;
} Bound;

typedef struct Places {
    CgKernel *k;
    IrId node;
    const CgHalo *own; /* the stage that reads is computed on so many rows and planes more than the part */
    Bound bounds[64];
    int n_bounds;
} Places;

static int place(Places *p, IrExpr e);

static int op(Places *p, const char *name, int a, int b)
{
    if (a < 0 || b < 0) {
        return -1;
    }
    return cg_host_node(&p->k->cg->host, (HostNode){.op = HOST_OP2,
                                                    .d = (uint8_t)hostop_from_name(name),
                                                    .a = a,
                                                    .b = b});
}

static int op1(Places *p, const char *name, int a)
{
    HostNode node = {.op = HOST_OP1, .d = (uint8_t)hostop_from_name(name), .a = a};
    return a < 0 ? -1 : cg_host_node(&p->k->cg->host, node);
}

static int range(Places *p, int a, int b)
{
    HostNode node = {.op = HOST_RANGE, .a = a, .b = b};
    return a < 0 || b < 0 ? -1 : cg_host_node(&p->k->cg->host, node);
}

/* A value of this type: floats are rounded, whole numbers must fit. */
static int typed(Places *p, int a, Elem type)
{
    static const uint8_t ROUNDS[ELEM_COUNT] = {[ELEM_F32] = HOST_F32, [ELEM_I32] = HOST_I32};
    if (a < 0 || type == ELEM_F64) {
        return a;
    }
    HostNode node = {.op = ROUNDS[type], .a = a};
    return ROUNDS[type] != 0 ? cg_host_node(&p->k->cg->host, node) : -1;
}

static int host_of(Places *p, IrExpr e)
{
    CgHost *host = &p->k->cg->host;
    return cg_host_node(host, (HostNode){.op = HOST_KNOWN, .a = cg_host(host, e)});
}

/* ---- coordinates ------------------------------------------------------------------------- */

static int coordinate(Places *p, int axis)
{
    IrGraph *g = p->k->g;
    if (axis == IR_AX_C) {
        IrExpr n = g->grids.at[p->k->domain].extent[IR_AX_C];
        n = n != 0 ? n : ir_const(g, 1);
        return range(p, host_of(p, ir_const(g, 0)), host_of(p, ir_op2(g, IR_X_SUB, n, ir_const(g, 1))));
    }
    CgHost *host = &p->k->cg->host;
    int first = part_end(host, axis, false), last = part_end(host, axis, true);
    IrExpr lo = p->own->reach.lo[axis], hi = p->own->reach.hi[axis];
    first = lo != 0 ? op(p, "add", first, host_of(p, lo)) : first;
    last = hi != 0 ? op(p, "add", last, host_of(p, hi)) : last;
    return range(p, first, last);
}

static int index_place(Places *p, int index)
{
    for (int i = p->n_bounds - 1; i >= 0; i--) {
        const Bound *b = &p->bounds[i];
        if (b->index == index) {
            return range(p, host_of(p, b->lo), host_of(p, b->hi));
        }
    }
    return -1;
}

static int cast_place(Places *p, const IrExprNode *n)
{
    Elem from = ir_expr(p->k->g, n->a)->type;
    if (n->type == ELEM_BOOL || (n->num != 0 && (Elem)n->num != ELEM_I32)) {
        return -1;
    }
    if (from == ELEM_BOOL) {
        return range(p, host_of(p, ir_const(p->k->g, 0)), host_of(p, ir_const(p->k->g, 1)));
    }
    int a = place(p, n->a);
    const char *whole = n->num != 0 ? "round" : "trunc";
    return typed(p, n->type == ELEM_I32 ? op1(p, whole, a) : a, n->type);
}

/* Of floats only what is computed in single steps. */
static int quotient_place(Places *p, const IrExprNode *n, int a, int b)
{
    bool whole = n->type == ELEM_I32;
    if (whole) {
        return typed(p, op(p, ir_expr_op_name(n->op), a, b), n->type);
    }
    int floored = op1(p, "floor", typed(p, op(p, "div", a, b), n->type));
    if (n->op == IR_X_FLOORDIV) {
        return floored;
    }
    return typed(p, op(p, "sub", a, typed(p, op(p, "mul", b, floored), n->type)), n->type);
}

static int operator_place(Places *p, const IrExprNode *n)
{
    switch (n->op) {
    case IR_X_ADD:
    case IR_X_SUB:
    case IR_X_MUL:
    case IR_X_DIV:
    case IR_X_MIN:
    case IR_X_MAX:
        return typed(p, op(p, ir_expr_op_name(n->op), place(p, n->a), place(p, n->b)), n->type);
    case IR_X_FLOORDIV:
    case IR_X_MOD:
        return quotient_place(p, n, place(p, n->a), place(p, n->b));
    case IR_X_NEG:
    case IR_X_ABS:
    case IR_X_SQRT:
    case IR_X_FLOOR:
    case IR_X_CEIL:
    case IR_X_ROUND:
    case IR_X_TRUNC:
        return typed(p, op1(p, ir_expr_op_name(n->op), place(p, n->a)), n->type);
    case IR_X_SELECT:
        return range(p, place(p, n->b), place(p, n->c));
    default:
        return -1;
    }
}

static int place(Places *p, IrExpr e)
{
    const IrExprNode n = *ir_expr(p->k->g, e);
    if (n.rank <= IR_HOST) { /* whole numbers are cut, as a kernel's arguments are */
        return typed(p, n.type == ELEM_I32 ? op1(p, "trunc", host_of(p, e)) : host_of(p, e), n.type);
    }
    switch (n.op) {
    case IR_X_COORD:
        return coordinate(p, (int)n.num);
    case IR_X_INDEX:
        return index_place(p, (int)n.num);
    case IR_X_CAST:
        return cast_place(p, &n);
    default:
        return operator_place(p, &n);
    }
}

/* ---- reads ------------------------------------------------------------------------------- */

static void visit(Places *p, IrExpr e);

static void note_read(Places *p, const IrExprNode *n)
{
    static const ProgBorder BORDERS[IR_BORDERS] = {[IR_NEAREST] = PROG_NEAREST,
                                                   [IR_REFLECT] = PROG_REFLECT,
                                                   [IR_MIRROR] = PROG_MIRROR,
                                                   [IR_WRAP] = PROG_WRAP,
                                                   [IR_CONSTANT] = PROG_CONSTANT};
    const IrExpr offset[3] = {n->a, n->b, n->c};
    int at[3];
    for (int ax = 0; ax < 3; ax++) {
        at[ax] = n->op == IR_X_READAT && offset[ax] != 0
                     ? place(p, ir_cast(p->k->g, offset[ax], ELEM_I32))
                     : coordinate(p, ax);
        if (n->op == IR_X_READ && offset[ax] != 0) {
            at[ax] = op(p, "add", at[ax], place(p, ir_cast(p->k->g, offset[ax], ELEM_I32)));
        }
        bool both = p->own->wraps && ax != IR_AX_X && offset[ax] != 0 && n->border != IR_WRAP;
        at[ax] = (ax == IR_AX_X && !p->k->boxed) || both ? -1 : at[ax];
    }
    cg_read_at(p->k, p->node, at, p->own->wraps ? PROG_WRAP : BORDERS[n->border]);
}

static void visit_fold(Places *p, const IrExprNode *n)
{
    bool fits = p->n_bounds < 64;
    if (fits) {
        p->bounds[p->n_bounds++] = (Bound){(int)n->num, n->b, n->c};
    }
    visit(p, n->a);
    p->n_bounds -= fits;
}

static void visit(Places *p, IrExpr e)
{
    if (e == 0) {
        return;
    }
    const IrExprNode n = *ir_expr(p->k->g, e);
    if (n.rank <= IR_INDEX) {
        return;
    }
    if (n.op == IR_X_FOLD) {
        visit_fold(p, &n);
        return;
    }
    bool reads = n.op == IR_X_READ || n.op == IR_X_READAT;
    if (reads && n.node == p->node) {
        note_read(p, &n);
    }
    if (n.op != IR_X_READ) {
        visit(p, n.a);
        visit(p, n.b);
        visit(p, n.c);
    }
}

/* The same pixels, though one may have channels. */
static bool same_places(const IrGraph *g, int one, int other)
{
    const IrGrid *a = &g->grids.at[one], *b = &g->grids.at[other];
    return one == other ||
           (a->extent[IR_AX_X] == b->extent[IR_AX_X] && a->extent[IR_AX_Y] == b->extent[IR_AX_Y] &&
            a->extent[IR_AX_Z] == b->extent[IR_AX_Z] && a->has[IR_AX_Z] == b->has[IR_AX_Z]);
}

/* A stored node: a halo where that says it, else the places of each read. */
static void read_stored(CgKernel *k, IrExpr e, const IrReach *reach, const CgHalo *own,
                        const CgReach *all)
{
    IrGraph *g = k->g;
    int grid = ir_node(g, reach->node)->grid;
    bool apart = reach->whole || reach->wraps || own->wraps || grid < 0 ||
                 !same_places(g, grid, k->domain);
    if (!apart || own->whole || grid < 0) {
        cg_read(k, reach->node, apart || own->whole ? NULL : all);
        return;
    }
    Places p = {.k = k, .node = reach->node, .own = own};
    visit(&p, e);
}

/* A stage of the kernel itself. */
static void read_stage(const IrGraph *g, const CgKernel *k, const IrReach *reach, CgHalo *to,
                       const CgHalo *own, const CgReach *all)
{
    for (int ax = IR_AX_Y; ax <= IR_AX_Z; ax++) {
        IrExpr *lo = &to->reach.lo[ax], *hi = &to->reach.hi[ax];
        *lo = *lo != 0 ? ir_op2(k->g, IR_X_MIN, *lo, all->lo[ax]) : all->lo[ax];
        *hi = *hi != 0 ? ir_op2(k->g, IR_X_MAX, *hi, all->hi[ax]) : all->hi[ax];
    }
    to->wraps = to->wraps || own->wraps || reach->wraps;
    to->whole = to->whole || own->whole || reach->whole ||
                !same_places(g, ir_node(g, reach->node)->grid, k->domain);
}

static bool is_stage(const IrStep *step, IrId id)
{
    for (int i = 0; i < step->stages.n; i++) {
        if (step->stages.at[i] == id) {
            return true;
        }
    }
    return false;
}

/* What a stage that is reached so far itself reaches through a read. */
static CgReach reach_on(IrGraph *g, const CgReach *own, const IrReach *reach)
{
    CgReach all = {.lo = {0}};
    for (int ax = IR_AX_Y; ax <= IR_AX_Z; ax++) {
        IrExpr lo = reach->lo[ax], hi = reach->hi[ax];
        if (reach->reflects) { /* beyond an end it goes the same way back */
            lo = ir_op2(g, IR_X_MIN, lo, ir_op1(g, IR_X_NEG, hi));
            hi = ir_op2(g, IR_X_MAX, hi, ir_op1(g, IR_X_NEG, reach->lo[ax]));
        }
        all.lo[ax] = own->lo[ax] != 0 ? ir_op2(g, IR_X_ADD, own->lo[ax], lo) : lo;
        all.hi[ax] = own->hi[ax] != 0 ? ir_op2(g, IR_X_ADD, own->hi[ax], hi) : hi;
    }
    return all;
}

void cg_reads(CgKernel *k, const IrStep *step, IrId id, CgHalo *halo)
{
    IrGraph *g = k->g;
    const CgHalo own = halo[id];
    for (int i = 0; i < IR_MAX_IN; i++) {
        IrExpr e = ir_node(g, id)->in[i];
        IrFootprint fp = ir_footprint(g, e);
        for (int r = 0; r < fp.reach.n; r++) {
            const IrReach *reach = &fp.reach.at[r];
            if (ir_node(g, reach->node)->kind == IR_K_VALUE) {
                continue;
            }
            const CgReach all = reach_on(g, &own.reach, reach);
            if (k->cg->buffer[reach->node] >= 0 && !is_stage(step, reach->node)) {
                read_stored(k, e, reach, &own, &all);
            } else {
                read_stage(g, k, reach, &halo[reach->node], &own, &all);
            }
        }
    }
}

/* ---- seams ------------------------------------------------------------------------------- */

typedef struct Seams {
    uint8_t *of;   /* by node */
    uint8_t reader; /* of the stage that reads, which is computed where it is read */
} Seams;

static void note_seam(const IrGraph *g, IrExpr e, void *ctx)
{
    const Seams *seams = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_READ || n->op == IR_X_READAT) {
        int own = n->border == IR_WRAP ? (n->b != 0) << IR_AX_Y | (n->c != 0) << IR_AX_Z : 0;
        seams->of[n->node] = (uint8_t)(seams->of[n->node] | own | seams->reader);
    }
}

uint8_t *cg_find_seams(IrGraph *g, const IrSchedule *schedule)
{
    Seams seams = {.of = arena_array(g->arena, uint8_t, g->nodes.n)};
    for (int i = g->nodes.n - 1; i > 0; i--) {
        seams.reader = schedule->stored[i] ? 0 : seams.of[i];
        for (int k = 0; k < IR_MAX_IN && !g->nodes.at[i].dead; k++) {
            if (g->nodes.at[i].in[k] != 0) {
                ir_walk(g, g->nodes.at[i].in[k], note_seam, &seams);
            }
        }
    }
    return seams.of;
}
