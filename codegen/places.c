/*
 * places: expressions of coordinates become host expressions; one walk over what is read.
 *
 * Coordinates that follow from pixels are as far bounded as the pixels' numbers are: by their type
 * (of bytes 0 to 255), by what the image is computed from, and by what is computed from them (least
 * and greatest of two numbers, saturation).  The numbers of an image are those of all its pixels, wherever
 * they lie, so that it does not matter where it is read.
 */
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

enum {
    MOST_NUMBERS = 16,
    MOST_STEPS = 1 << 14 /* of one walk; what shares much and is chosen among often is anything */
};

typedef struct Places {
    CgKernel *k;
    IrId node;
    const CgHalo *own; /* the stage that reads is computed on so many rows and planes more than the part;
                          NULL: all pixels of `grid` */
    int grid;
    Bound bounds[64];
    int n_bounds;
    IrExpr numbers[MOST_NUMBERS]; /* expressions that are not NaN where a choice was made */
    int n_numbers, steps;
    IrPassed passed;
    int *memo; /* by expression; 0 not asked for yet */
    int memo_cap;
} Places;

static int place(Places *p, IrExpr e);

static int node(Places *p, HostNode host)
{
    return cg_host_node(&p->k->cg->host, host);
}

static int op1(Places *p, const char *name, int a)
{
    return a < 0 ? -1 : node(p, (HostNode){.op = HOST_OP1, .d = (uint8_t)hostop_from_name(name), .a = a});
}

static int op(Places *p, const char *name, int a, int b)
{
    HostNode host = {.op = HOST_OP2, .d = (uint8_t)hostop_from_name(name), .a = a, .b = b};
    return a < 0 || b < 0 ? -1 : node(p, host);
}

static int range(Places *p, int a, int b)
{
    return a < 0 || b < 0 ? -1 : node(p, (HostNode){.op = HOST_RANGE, .a = a, .b = b});
}

static int of_type(Places *p, Elem type, int input)
{
    return node(p, (HostNode){.op = HOST_PIXEL, .d = (uint8_t)type, .a = input});
}

/* One end is enough for the least or greatest of two numbers, and for what saturates. */
static int bounded(Places *p, int a)
{
    return a >= 0 ? a : of_type(p, ELEM_F64, 0);
}

/* A value of this type: floats are rounded, whole numbers begin again beyond their ends. */
static int typed(Places *p, int a, Elem type)
{
    if (a < 0 || type == ELEM_F64) {
        return a;
    }
    if (type == ELEM_F32) {
        return node(p, (HostNode){.op = HOST_F32, .a = a});
    }
    return node(p, (HostNode){.op = HOST_WRAP, .d = (uint8_t)type, .a = a});
}

static int host_of(Places *p, IrExpr e)
{
    CgHost *host = &p->k->cg->host;
    return cg_host_node(host, (HostNode){.op = HOST_KNOWN, .a = cg_host(host, e)});
}

/* ---- coordinates ------------------------------------------------------------------------- */

static int whole_extent(Places *p, int grid, int axis)
{
    IrGraph *g = p->k->g;
    IrExpr n = g->grids.at[grid].extent[axis];
    n = n != 0 ? n : ir_const(g, 1);
    return range(p, host_of(p, ir_const(g, 0)), host_of(p, ir_op2(g, IR_X_SUB, n, ir_const(g, 1))));
}

static int coordinate(Places *p, int axis)
{
    if (p->own == NULL || axis == IR_AX_C) {
        return whole_extent(p, p->own == NULL ? p->grid : p->k->domain, axis);
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
    Elem from = ir_expr(p->k->g, n->a)->type, to = n->num != 0 ? (Elem)n->num : n->type;
    int a = place(p, n->a);
    if (!elem_is_integer(to)) {
        return typed(p, a, to);
    }
    if (elem_is_integer(from) || from == ELEM_BOOL || a < 0) {
        a = to == ELEM_I32 && a < 0 ? -1 : bounded(p, a);
    } else {
        a = op1(p, n->num != 0 ? "round" : "trunc", a);
    }
    return a < 0 ? -1 : node(p, (HostNode){.op = HOST_SATURATE, .d = (uint8_t)to, .a = a});
}

/* Of floats only what is computed in single steps. */
static int quotient_place(Places *p, const IrExprNode *n, int a, int b)
{
    if (elem_is_integer(n->type)) {
        return typed(p, op(p, ir_expr_op_name(n->op), a, b), n->type);
    }
    int floored = op1(p, "floor", typed(p, op(p, "div", a, b), n->type));
    if (n->op == IR_X_FLOORDIV) {
        return floored;
    }
    return typed(p, op(p, "sub", a, typed(p, op(p, "mul", b, floored), n->type)), n->type);
}

/* Adds what is not NaN where `condition` is `truth`: what was compared, and found to be so. */
static void add_numbers(Places *p, IrExpr condition, bool truth)
{
    const IrExprNode n = *ir_expr(p->k->g, condition);
    bool compared =
        truth && (n.op == IR_X_EQ || n.op == IR_X_LT || n.op == IR_X_LE || n.op == IR_X_GT || n.op == IR_X_GE);
    bool tested = n.op == IR_X_ISNAN ? !truth : n.op == IR_X_ISFINITE && truth;
    if (n.op == IR_X_NOT) {
        add_numbers(p, n.a, !truth);
    } else if (n.op == IR_X_AND && truth) {
        add_numbers(p, n.a, truth);
        add_numbers(p, n.b, truth);
    } else if ((compared || tested) && !elem_is_integer(ir_expr(p->k->g, n.a)->type) &&
               p->n_numbers + 2 <= MOST_NUMBERS) {
        p->numbers[p->n_numbers++] = n.a;
        p->numbers[p->n_numbers++] = compared ? n.b : n.a;
    }
}

static int chosen(Places *p, const IrExprNode *n, bool truth)
{
    int before = p->n_numbers;
    add_numbers(p, n->a, truth);
    int at = place(p, truth ? n->b : n->c);
    p->n_numbers = before;
    return at;
}

static int operator_place(Places *p, const IrExprNode *n)
{
    switch (n->op) {
    case IR_X_MIN:
    case IR_X_MAX: {
        int a = place(p, n->a), b = place(p, n->b);
        bool none = a < 0 && b < 0;
        return none ? -1 : typed(p, op(p, ir_expr_op_name(n->op), bounded(p, a), bounded(p, b)), n->type);
    }
    case IR_X_ADD:
    case IR_X_SUB:
    case IR_X_MUL:
    case IR_X_DIV:
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
    case IR_X_SIGN:
        return typed(p, op1(p, ir_expr_op_name(n->op), place(p, n->a)), n->type);
    case IR_X_SELECT:
        return typed(p, range(p, chosen(p, n, true), chosen(p, n, false)), n->type);
    default:
        return -1;
    }
}

/* ---- pixels ------------------------------------------------------------------------------ */

static Places all_pixels(CgKernel *k, int grid)
{
    int cap = k->g->exprs.n;
    return (Places){.k = k, .grid = grid, .memo = arena_array(k->arena, int, cap), .memo_cap = cap};
}

/* What its expression can be, wherever the pixel lies; what is stored may be less. */
static int computed_values(Places *p, IrId id)
{
    const IrNode n = *ir_node(p->k->g, id);
    if (n.op != IR_MAP || n.grid < 0 || ir_expr(p->k->g, n.map.value)->type != ir_read_type(p->k->g, id)) {
        return -1;
    }
    Places all = all_pixels(p->k, n.grid);
    int at = place(&all, n.map.value);
    return n.elem == ELEM_FILE ? -1 : typed(p, at, n.elem);
}

static int values_of(Places *p, IrId id)
{
    const IrGraph *g = p->k->g;
    int *known = &p->k->cg->values[id];
    if (*known == 0) {
        Elem elem = ir_node(g, id)->elem;
        bool input = ir_node(g, id)->op == IR_INPUT;
        *known = -1;
        bool typed_so = elem == ELEM_FILE ? input : elem_is_integer(elem) || elem == ELEM_BOOL;
        int at = ir_has_pixels(g, id) ? computed_values(p, id) : -1;
        if (at < 0 && ir_has_pixels(g, id) && typed_so) {
            at = of_type(p, elem, input ? cg_input_number(g, id) : 0);
        }
        *known = typed(p, at, ir_read_type(g, id));
    }
    return *known;
}

static int pixel_place(Places *p, const IrExprNode *n)
{
    int at = values_of(p, n->node);
    if (n->border != BORDER_CONSTANT || n->outside == 0) {
        return at;
    }
    return range(p, at, place(p, ir_cast(p->k->g, n->outside, n->type)));
}

static int find_place(Places *p, IrExpr e)
{
    const IrExprNode n = *ir_expr(p->k->g, e);
    if (n.type == ELEM_BOOL) {
        return of_type(p, ELEM_BOOL, 0);
    }
    if (n.rank <= IR_HOST) { /* whole numbers are cut, as a kernel's arguments are */
        return typed(p, elem_is_integer(n.type) ? op1(p, "trunc", host_of(p, e)) : host_of(p, e), n.type);
    }
    switch (n.op) {
    case IR_X_COORD:
        return coordinate(p, (int)n.num);
    case IR_X_INDEX:
        return index_place(p, (int)n.num);
    case IR_X_CAST:
        return cast_place(p, &n);
    case IR_X_READ:
    case IR_X_READAT:
        return pixel_place(p, &n);
    default:
        return operator_place(p, &n);
    }
}

static bool is_number(const Places *p, IrExpr e)
{
    bool is = false;
    for (int i = 0; i < p->n_numbers; i++) {
        is = is || p->numbers[i] == e;
    }
    return is;
}

static int place(Places *p, IrExpr e)
{
    bool kept = p->n_numbers == 0 && (int)e < p->memo_cap;
    if (kept && p->memo[e] != 0) {
        return p->memo[e];
    }
    int at = p->steps++ < MOST_STEPS ? find_place(p, e) : -1;
    at = at >= 0 && is_number(p, e) ? node(p, (HostNode){.op = HOST_NUMBER, .a = at}) : at;
    if (kept) {
        p->memo[e] = at;
    }
    return at;
}

/* ---- reads ------------------------------------------------------------------------------- */

static void visit(Places *p, IrExpr e);

static void note_read(Places *p, const IrExprNode *n)
{
    const IrExpr offset[3] = {n->a, n->b, n->c};
    int at[3];
    for (int ax = 0; ax < 3; ax++) {
        at[ax] = n->op == IR_X_READAT && offset[ax] != 0 ? place(p, ir_cast(p->k->g, offset[ax], ELEM_I32))
                                                         : coordinate(p, ax);
        if (n->op == IR_X_READ && offset[ax] != 0) {
            at[ax] = op(p, "add", at[ax], place(p, ir_cast(p->k->g, offset[ax], ELEM_I32)));
        }
        bool both = p->own->wraps && ax != IR_AX_X && offset[ax] != 0 && n->border != BORDER_WRAP;
        at[ax] = (ax == IR_AX_X && !p->k->boxed) || both ? -1 : at[ax];
    }
    cg_read_at(p->k, p->node, at, p->own->wraps ? BORDER_WRAP : n->border);
}

/* What an index is, is the fold's. */
static void forget(Places *p)
{
    memset(p->memo, 0, sizeof *p->memo * (size_t)p->memo_cap);
}

static void visit_fold(Places *p, const IrExprNode *n)
{
    bool fits = p->n_bounds < 64;
    if (fits) {
        p->bounds[p->n_bounds++] = (Bound){(int)n->num, n->b, n->c};
    }
    forget(p);
    const int around = ir_pass_into(&p->passed);
    visit(p, n->a);
    p->passed.fold = around;
    forget(p);
    p->n_bounds -= fits;
    visit(p, n->nth);
}

static void visit(Places *p, IrExpr e)
{
    if (e == 0) {
        return;
    }
    const IrExprNode n = *ir_expr(p->k->g, e);
    if (n.rank <= IR_INDEX || ir_passed(p->k->g, &p->passed, e)) {
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
    return one == other || (a->extent[IR_AX_X] == b->extent[IR_AX_X] && a->extent[IR_AX_Y] == b->extent[IR_AX_Y] &&
                            a->extent[IR_AX_Z] == b->extent[IR_AX_Z] && a->has[IR_AX_Z] == b->has[IR_AX_Z]);
}

/* A stored node: a halo where that says it, else the places of each read. */
static void read_stored(CgKernel *k, IrExpr e, const IrReach *reach, const CgHalo *own, const CgReach *all)
{
    IrGraph *g = k->g;
    int grid = ir_node(g, reach->node)->grid;
    bool apart = reach->whole || reach->wraps || own->wraps || grid < 0 || !same_places(g, grid, k->domain);
    if (!apart || own->whole || grid < 0) {
        cg_read(k, reach->node, apart || own->whole ? NULL : all);
        return;
    }
    Places p = all_pixels(k, k->domain);
    p.node = reach->node;
    p.own = own;
    visit(&p, e);
}

/* A stage of the kernel itself. */
static void read_stage(const IrGraph *g, const CgKernel *k, const IrReach *reach, CgHalo *to, const CgHalo *own,
                       const CgReach *all)
{
    for (int ax = IR_AX_Y; ax <= IR_AX_Z; ax++) {
        IrExpr *lo = &to->reach.lo[ax], *hi = &to->reach.hi[ax];
        *lo = *lo != 0 ? ir_op2(k->g, IR_X_MIN, *lo, all->lo[ax]) : all->lo[ax];
        *hi = *hi != 0 ? ir_op2(k->g, IR_X_MAX, *hi, all->hi[ax]) : all->hi[ax];
    }
    to->wraps = to->wraps || own->wraps || reach->wraps;
    to->whole = to->whole || own->whole || reach->whole || !same_places(g, ir_node(g, reach->node)->grid, k->domain);
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

void cg_reads(CgKernel *k, const IrStep *step, int at, CgHalo *halo)
{
    IrGraph *g = k->g;
    const CgHalo own = halo[at];
    for (int i = 0; i < NODE_INPUTS; i++) {
        IrExpr e = ir_node(g, step->stages.at[at])->in[i];
        IrFootprint fp = ir_footprint(g, e);
        for (int r = 0; r < fp.reach.n; r++) {
            const IrReach *reach = &fp.reach.at[r];
            if (ir_node(g, reach->node)->kind == IR_K_VALUE) {
                continue;
            }
            const CgReach all = reach_on(g, &own.reach, reach);
            int stage = ir_stage_place(step, reach->node);
            if (stage >= 0) {
                read_stage(g, k, reach, &halo[stage], &own, &all);
            } else if (k->cg->buffer[reach->node] >= 0) {
                read_stored(k, e, reach, &own, &all);
            }
        }
    }
}

/* ---- seams ------------------------------------------------------------------------------- */

typedef struct Seams {
    uint8_t *of;    /* by node */
    uint8_t reader; /* of the stage that reads, which is computed where it is read */
} Seams;

static void note_seam(const IrGraph *g, IrExpr e, void *ctx)
{
    const Seams *seams = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_READ || n->op == IR_X_READAT) {
        int own = n->border == BORDER_WRAP ? (n->b != 0) << IR_AX_Y | (n->c != 0) << IR_AX_Z : 0;
        seams->of[n->node] = (uint8_t)(seams->of[n->node] | own | seams->reader);
    }
}

uint8_t *cg_find_seams(IrGraph *g, const IrSchedule *schedule)
{
    Seams seams = {.of = arena_array(g->arena, uint8_t, g->nodes.n)};
    for (int i = g->nodes.n - 1; i > 0; i--) {
        seams.reader = schedule->stored[i] ? 0 : seams.of[i];
        for (int k = 0; k < NODE_INPUTS && !g->nodes.at[i].dead; k++) {
            if (g->nodes.at[i].in[k] != 0) {
                ir_walk(g, g->nodes.at[i].in[k], note_seam, &seams);
            }
        }
    }
    return seams.of;
}
