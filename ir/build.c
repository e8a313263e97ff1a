/*
 * build: makes nodes and expressions.
 *
 * Expressions are interned by a hash of their fields, so that common subexpressions are found
 * while they are made.  The typed constructors place conversions where types meet and fold what
 * is constant; nothing here reorders arithmetic.
 */
#include "ir.h"
#include "apply.h"
#include "function.h"
#include "range.h"
#include "whole_compare.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const IR_BORDER_NAMES[BORDER_KINDS] = {"nearest", "reflect", "mirror", "wrap", "constant"};
const char *const IR_FOLD_NAMES[IR_FOLDS] = {"sum", "prod", "min", "max", "any", "all", "blend", "rank", "mode"};
const char *const IR_KIND_NAMES[IR_KINDS] = {"image", "mask", "labels", "value", "vector", "table"};
const char *const IR_NOTE_NAMES[NOTE_KINDS] = {"place", "along", "part"};
const char *const IR_RANK_NAMES[IR_RANKS] = {"const", "host", "index", "uniform", "pixel"};

IrGraph *ir_graph_new(Arena *arena, const char *name, const Source *source)
{
    IrGraph *g = arena_new(arena, IrGraph);
    g->arena = arena;
    g->name = name;
    g->source = source;
    vec_push(arena, &g->nodes, (IrNode){.dead = true, .grid = -1, .name = ""});
    vec_push(arena, &g->exprs, (IrExprNode){.op = IR_X_NONE});
    vec_push(arena, &g->loops, (IrLoop){.parent = 0});
    return g;
}

IrId ir_add_node(IrGraph *g, IrNode node)
{
    assert(node.op > IR_NONE && node.op < IR_OPS && node.kind < IR_KINDS && node.grid < g->grids.n);
    node.name = ir_free_name(g, node.name != NULL && node.name[0] != '\0' ? node.name : "stage");
    vec_push(g->arena, &g->nodes, node);
    return (IrId)(g->nodes.n - 1);
}

int ir_inputs(const IrGraph *g)
{
    int n = 0;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        n += ir_node(g, id)->op == IR_INPUT;
    }
    return n;
}

int ir_add_grid(IrGraph *g, IrGrid grid)
{
    for (int i = 0; i < g->grids.n; i++) {
        const IrGrid *have = &g->grids.at[i];
        bool same = true;
        for (int ax = 0; ax < IR_AXES; ax++) {
            same = same && have->extent[ax] == grid.extent[ax] && have->has[ax] == grid.has[ax];
        }
        if (same) {
            return i;
        }
    }
    vec_push(g->arena, &g->grids, grid);
    return g->grids.n - 1;
}

int ir_new_index(IrGraph *g)
{
    return g->next_index++;
}

void ir_set_ends(IrGraph *g, int index, IrExpr lo, IrExpr hi)
{
    assert(index >= 0 && index < g->next_index);
    while (g->ends.n <= index) {
        vec_push(g->arena, &g->ends, (IrEnds){0});
    }
    g->ends.at[index] = (IrEnds){lo, hi};
}

/* ---- interning ------------------------------------------------------------------------- */

static uint32_t mix(uint32_t h, uint32_t v)
{
    h ^= v;
    h *= 16777619u;
    return h ^ (h >> 13);
}

static uint32_t hash_expr(const IrExprNode *e)
{
    uint64_t bits;
    memcpy(&bits, &e->num, sizeof bits);
    const uint32_t fields[] = {(uint32_t)e->op,
                               (uint32_t)e->type,
                               e->node,
                               (uint32_t)bits,
                               (uint32_t)(bits >> 32),
                               e->a,
                               e->b,
                               e->c,
                               e->channel,
                               (uint32_t)e->border,
                               e->outside,
                               (uint32_t)e->fold,
                               e->where,
                               e->nth,
                               (uint32_t)e->flat,
                               (uint32_t)e->fused,
                               (uint32_t)e->rank,
                               e->weight};
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        h = mix(h, fields[i]);
    }
    return h;
}

static bool same_expr(const IrExprNode *p, const IrExprNode *q)
{
    return p->op == q->op && p->type == q->type && p->node == q->node && memcmp(&p->num, &q->num, sizeof p->num) == 0 &&
           p->a == q->a && p->b == q->b && p->c == q->c && p->channel == q->channel && p->border == q->border &&
           p->outside == q->outside && p->fold == q->fold && p->where == q->where && p->nth == q->nth &&
           p->weight == q->weight && p->flat == q->flat && p->fused == q->fused && p->rank == q->rank;
}

static void rehash(IrGraph *g)
{
    g->hash_cap = g->hash_cap ? 2 * g->hash_cap : 256;
    g->hash = arena_array(g->arena, uint32_t, g->hash_cap);
    for (int i = 1; i < g->exprs.n; i++) {
        uint32_t at = hash_expr(&g->exprs.at[i]) & (uint32_t)(g->hash_cap - 1);
        while (g->hash[at] != 0) {
            at = (at + 1) & (uint32_t)(g->hash_cap - 1);
        }
        g->hash[at] = (uint32_t)i;
    }
}

bool ir_keeps_whole(IrExprOp op)
{
    return op == IR_X_ADD || op == IR_X_SUB || op == IR_X_MUL || op == IR_X_MIN || op == IR_X_MAX || op == IR_X_MOD ||
           op == IR_X_FLOORDIV || op == IR_X_NEG || op == IR_X_ABS;
}

/* Of an expression whose operands have been asked already, so that what they share is not asked again and again. */
static bool is_integral(const IrGraph *g, const IrExprNode *n)
{
    switch (n->op) {
    case IR_X_CONST:
        return n->num == floor(n->num) && fabs(n->num) <= 2147483647.0;
    case IR_X_EXTENT:
    case IR_X_INDEX:
    case IR_X_FLOOR:
    case IR_X_CEIL:
    case IR_X_ROUND:
    case IR_X_TRUNC:
        return true;
    case IR_X_PARAM:
        return g->params.at[(int)n->num].integer;
    default:
        return ir_keeps_whole(n->op) && ir_is_integral(g, n->a) &&
               (ir_expr_op_arity(n->op) == 1 || ir_is_integral(g, n->b));
    }
}

static int depth_of(const IrGraph *g, const IrExprNode *n)
{
    int depth = 0;
    for (int i = 0; i < IR_CHILDREN; i++) {
        int own = n->child[i] != 0 ? ir_expr(g, n->child[i])->depth : 0;
        depth = own > depth ? own : depth;
    }
    return depth + 1;
}

IrExpr ir_intern(IrGraph *g, IrExprNode e)
{
    assert(e.op > IR_X_NONE && e.op < IR_X_COUNT && (int)e.node < g->nodes.n);
    if (2 * (g->exprs.n + 1) > g->hash_cap) {
        rehash(g);
    }
    uint32_t at = hash_expr(&e) & (uint32_t)(g->hash_cap - 1);
    while (g->hash[at] != 0) {
        if (same_expr(&g->exprs.at[g->hash[at]], &e)) {
            return g->hash[at];
        }
        at = (at + 1) & (uint32_t)(g->hash_cap - 1);
    }
    e.integral = is_integral(g, &e);
    e.depth = depth_of(g, &e);
    vec_push(g->arena, &g->exprs, e);
    g->hash[at] = (uint32_t)(g->exprs.n - 1);
    return (IrExpr)(g->exprs.n - 1);
}

/* ---- types and ranks ------------------------------------------------------------------- */

/* The folds around an expression, innermost first. */
typedef struct Around {
    int index;
    const struct Around *outer;
} Around;

static bool is_bound(const Around *around, int index)
{
    while (around != NULL && around->index != index) {
        around = around->outer;
    }
    return around != NULL;
}

/* Does it follow from an index that no fold around or in it binds? */
static bool has_free_index(const IrGraph *g, IrExpr e, const Around *around)
{
    const IrExprNode *n = ir_expr(g, e);
    if (e == 0 || n->rank < IR_INDEX) {
        return false;
    }
    if (n->op == IR_X_INDEX) {
        return n->num >= 0 && !is_bound(around, (int)n->num);
    }
    const Around fold = {(int)n->num, around}, *inside = n->op == IR_X_FOLD ? &fold : around;
    return has_free_index(g, n->a, inside) || has_free_index(g, n->b, around) || has_free_index(g, n->c, around) ||
           has_free_index(g, n->where, inside) || has_free_index(g, n->channel, around);
}

/* A fold over host things alone has the rank of what is left when its index is bound. */
static IrRank fold_rank(const IrGraph *g, const IrExprNode *n)
{
    IrRank rank = n->fold == IR_FOLD_BLEND ? IR_PIXEL : ir_expr(g, n->a)->rank;
    if (rank > IR_INDEX) {
        return rank;
    }
    const Around own = {(int)n->num, NULL};
    const IrExpr part[4] = {n->b, n->c, n->where, n->a};
    bool free = false;
    for (int i = 0; i < 4; i++) {
        free = free || (ir_expr(g, part[i])->rank == IR_INDEX && has_free_index(g, part[i], &own));
    }
    return free ? IR_INDEX : IR_HOST;
}

static IrRank operand_rank(const IrGraph *g, const IrExprNode *n)
{
    const IrExpr operand[3] = {n->a, n->b, n->c};
    IrRank rank = IR_CONST;
    for (int i = 0; i < 3; i++) {
        IrRank own = operand[i] != 0 ? ir_expr(g, operand[i])->rank : IR_CONST;
        rank = own > rank ? own : rank;
    }
    return rank;
}

static bool gives_truth(IrExprOp op)
{
    IrRule rule = ir_op_rule(op);
    return rule == IR_RULE_COMPARE || rule == IR_RULE_LOGIC || rule == IR_RULE_TEST;
}

static void set(IrExprNode *n, Elem type, IrRank rank)
{
    n->type = type;
    n->rank = rank;
}

void ir_derive(const IrGraph *g, IrExprNode *n)
{
    switch (n->op) {
    case IR_X_CONST:
        n->rank = IR_CONST;
        break;
    case IR_X_PARAM:
    case IR_X_EXTENT:
    case IR_X_PIXELSIZE:
    case IR_X_UPWARDS:
    case IR_X_LARGEST:
    case IR_X_SKY:
        set(n, ELEM_F64, IR_HOST);
        break;
    case IR_X_INDEX:
        set(n, ELEM_F64, IR_INDEX);
        break;
    case IR_X_VALUE:
        set(n, ELEM_F64, IR_UNIFORM);
        break;
    case IR_X_COORD:
        set(n, ELEM_I32, IR_PIXEL);
        break;
    case IR_X_READ:
    case IR_X_READAT:
        set(n, ir_read_type(g, n->node), IR_PIXEL);
        break;
    case IR_X_LOOKUP:
        set(n, ir_node(g, n->node)->elem == ELEM_U32 ? ELEM_U32 : ELEM_F32, IR_PIXEL);
        break;
    case IR_X_CAST:
        n->rank = ir_expr(g, n->a)->rank;
        break;
    case IR_X_FOLD:
        set(n, ir_expr(g, n->a)->type, fold_rank(g, n));
        break;
    case IR_X_LOCAL:
        n->rank = IR_PIXEL;
        break;
    case IR_X_CALL:
        set(n, g->functions.at[(int)n->num]->type, IR_PIXEL);
        break;
    case IR_X_ARG:
        set(n, ir_expr(g, n->a)->type, operand_rank(g, n)); /* the highest from here to the last */
        break;
    default: {
        IrExpr first = n->op == IR_X_SELECT ? n->b : n->a;
        set(n, gives_truth(n->op) ? ELEM_BOOL : ir_expr(g, first)->type, operand_rank(g, n));
    }
    }
}

static IrExpr make(IrGraph *g, IrExprNode n)
{
    ir_derive(g, &n);
    return ir_intern(g, n);
}

/* ---- leaves ---------------------------------------------------------------------------- */

IrExpr ir_const_typed(IrGraph *g, double value, Elem type)
{
    assert(type != ELEM_FILE && type < ELEM_COUNT);
    value = ir_convert(value, type);
    return make(g, (IrExprNode){.op = IR_X_CONST, .type = type, .num = value});
}

IrExpr ir_const(IrGraph *g, double value)
{
    return ir_const_typed(g, value, ELEM_F64);
}

IrExpr ir_param(IrGraph *g, int param)
{
    assert(param >= 0 && param < g->params.n);
    return make(g, (IrExprNode){.op = IR_X_PARAM, .num = param});
}

IrExpr ir_extent(IrGraph *g, IrId node, int axis)
{
    assert(node != 0 && axis >= 0 && axis < IR_AXES);
    const IrNode *n = ir_node(g, node);
    if (n->op != IR_INPUT) {
        IrExpr extent = g->grids.at[n->grid].extent[axis];
        return extent != 0 ? extent : ir_const(g, 1);
    }
    return make(g, (IrExprNode){.op = IR_X_EXTENT, .node = node, .num = axis});
}

IrExpr ir_pixelsize(IrGraph *g, int axis)
{
    assert(axis >= 0 && axis < IR_AX_C);
    return make(g, (IrExprNode){.op = IR_X_PIXELSIZE, .num = axis});
}

IrExpr ir_upwards(IrGraph *g)
{
    return make(g, (IrExprNode){.op = IR_X_UPWARDS});
}

IrExpr ir_largest(IrGraph *g, IrId node)
{
    return make(g, (IrExprNode){.op = IR_X_LARGEST, .node = node});
}

IrExpr ir_sky(IrGraph *g, IrId from, int to, int entry)
{
    assert(to >= 0 && entry >= 0 && entry < 9);
    return make(g, (IrExprNode){.op = IR_X_SKY, .node = from, .num = 9 * to + entry});
}

IrExpr ir_index(IrGraph *g, int index)
{
    assert(index >= -1 && index < g->next_index); /* -1: a place for what is put in later */
    return make(g, (IrExprNode){.op = IR_X_INDEX, .num = index});
}

IrExpr ir_coord(IrGraph *g, int axis)
{
    assert(axis >= 0 && axis < IR_AXES);
    return make(g, (IrExprNode){.op = IR_X_COORD, .num = axis});
}

IrExpr ir_local(IrGraph *g, int var, Elem type)
{
    assert(var >= 0 && var < IR_FN_MAX_VARS);
    return make(g, (IrExprNode){.op = IR_X_LOCAL, .type = type, .num = var});
}

IrExpr ir_value(IrGraph *g, IrId node, int which)
{
    assert(node != 0 && which >= 0);
    return make(g, (IrExprNode){.op = IR_X_VALUE, .node = node, .num = which});
}

Elem ir_read_type(const IrGraph *g, IrId node)
{
    const IrNode *n = ir_node(g, node);
    switch (n->elem) {
    case ELEM_BOOL:
    case ELEM_U32:
    case ELEM_I32:
    case ELEM_F64:
        return n->elem;
    case ELEM_U8:
    case ELEM_U16:
    case ELEM_I16:
        return ELEM_I32;
    default:
        return ELEM_F32;
    }
}

/* What a constant border holds: of masks true or false. */
static IrExpr outside_of(IrGraph *g, IrId node, Border border, IrExpr outside)
{
    double value;
    if (border != BORDER_CONSTANT || outside == 0) {
        return 0;
    }
    bool whole = ir_is_const(g, outside, &value) && (value == 0 || value == 1);
    return ir_read_type(g, node) != ELEM_BOOL || whole ? outside : ir_op2(g, IR_X_NE, outside, ir_const(g, 0));
}

IrExpr ir_read_offset(IrGraph *g, IrId node, const IrExpr offset[3], IrExpr channel, Border border, IrExpr outside)
{
    assert(node != 0 && border < BORDER_KINDS);
    double zero;
    IrExpr at[3];
    for (int i = 0; i < 3; i++) {
        at[i] = offset[i] != 0 && ir_is_const(g, offset[i], &zero) && zero == 0 ? 0 : offset[i];
    }
    bool plain = at[0] == 0 && at[1] == 0 && at[2] == 0;
    return make(g, (IrExprNode){.op = IR_X_READ,
                                .node = node,
                                .a = at[0],
                                .b = at[1],
                                .c = at[2],
                                .channel = channel,
                                .border = plain ? BORDER_NEAREST : border,
                                .outside = plain ? 0 : outside_of(g, node, border, outside)});
}

IrExpr ir_read(IrGraph *g, IrId node)
{
    const IrExpr none[3] = {0, 0, 0};
    return ir_read_offset(g, node, none, 0, BORDER_NEAREST, 0);
}

IrExpr ir_read_at(IrGraph *g, IrId node, const IrExpr position[3], IrExpr channel, Border border, IrExpr outside)
{
    assert(node != 0 && border < BORDER_KINDS);
    return make(g, (IrExprNode){.op = IR_X_READAT,
                                .node = node,
                                .a = position[0],
                                .b = position[1],
                                .c = position[2],
                                .channel = channel,
                                .border = border,
                                .outside = outside_of(g, node, border, outside)});
}

IrExpr ir_lookup(IrGraph *g, IrId vector, IrExpr index)
{
    assert(vector != 0 && index != 0);
    return make(g, (IrExprNode){.op = IR_X_LOOKUP, .node = vector, .a = ir_cast(g, index, ELEM_U32)});
}

bool ir_is_const(const IrGraph *g, IrExpr e, double *value)
{
    if (ir_expr(g, e)->op != IR_X_CONST) {
        return false;
    }
    *value = ir_expr(g, e)->num;
    return true;
}

/* ---- conversions ----------------------------------------------------------------------- */

IrExpr ir_cast(IrGraph *g, IrExpr e, Elem type)
{
    assert(e != 0 && type != ELEM_FILE && type < ELEM_COUNT);
    const IrExprNode *n = ir_expr(g, e);
    if (n->type == type) {
        return e;
    }
    if (n->op == IR_X_CONST) {
        return ir_const_typed(g, n->num, type);
    }
    return make(g, (IrExprNode){.op = IR_X_CAST, .type = type, .a = e});
}

IrExpr ir_as_is(IrGraph *g, IrExpr e)
{
    return make(g, (IrExprNode){.op = IR_X_CAST, .type = ir_expr(g, e)->type, .a = e});
}

IrExpr ir_saturate(IrGraph *g, IrExpr e, Elem storage)
{
    assert(e != 0 && storage < ELEM_COUNT);
    Elem type = storage == ELEM_U32 ? ELEM_U32 : ELEM_I32;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_CONST) {
        return ir_const_typed(g, ir_saturate_value(n->num, storage), type);
    }
    return make(g, (IrExprNode){.op = IR_X_CAST, .type = type, .a = e, .num = (double)storage});
}

bool ir_is_integral(const IrGraph *g, IrExpr e)
{
    return ir_expr(g, e)->integral;
}

static bool is_number(const IrExprNode *e)
{
    return e->rank != IR_PIXEL && e->type == ELEM_F64;
}

/* May one of the numbers be below 0? */
static bool may_be_negative(const IrGraph *g, const IrExpr *operand, int n)
{
    bool negative = false;
    for (int i = 0; i < n; i++) {
        negative = negative || (is_number(ir_expr(g, operand[i])) && !(ir_range(g, operand[i]).lo >= 0));
    }
    return negative;
}

/* A constant whole number that u32 can be and i32 cannot. */
static bool needs_u32(const IrGraph *g, IrExpr e)
{
    double value;
    return ir_is_const(g, e, &value) && value == floor(value) && value > elem_max(ELEM_I32) &&
           value <= elem_max(ELEM_U32);
}

static bool fits_32_bits(const IrGraph *g, IrExpr e)
{
    return ir_is_integral(g, e) || needs_u32(g, e);
}

/* The type in which operands meet.  Host and uniform operands have no say beside pixels, except
 * that a fraction beside integer pixels makes the result f32, as does what only u32 can be beside i32,
 * and what may be below 0 beside u32 i32. */
static Elem meet(const IrGraph *g, const IrExpr *operand, int n)
{
    bool pixel = false, f64 = false, f32 = false, i32 = false, u32 = false, large = false;
    for (int i = 0; i < n; i++) {
        const IrExprNode *e = ir_expr(g, operand[i]);
        if (is_number(e)) {
            large = large || needs_u32(g, operand[i]);
            f32 = f32 || !(e->rank < IR_UNIFORM && fits_32_bits(g, operand[i]));
            continue;
        }
        pixel = true;
        f64 = f64 || e->type == ELEM_F64;
        f32 = f32 || e->type == ELEM_F32;
        i32 = i32 || e->type == ELEM_I32 || e->type == ELEM_BOOL;
        u32 = u32 || e->type == ELEM_U32;
    }
    if (!pixel || f64) {
        return ELEM_F64;
    }
    bool natural = u32 && !i32 && !may_be_negative(g, operand, n);
    return f32 ? ELEM_F32 : natural ? ELEM_U32 : large ? ELEM_F32 : ELEM_I32;
}

/* The type of pixels that are one of two numbers. */
static Elem of_numbers(const IrGraph *g, const IrExpr number[2])
{
    bool large = needs_u32(g, number[0]) || needs_u32(g, number[1]);
    if (!fits_32_bits(g, number[0]) || !fits_32_bits(g, number[1]) || (large && may_be_negative(g, number, 2))) {
        return ELEM_F32;
    }
    return large ? ELEM_U32 : ELEM_I32;
}

static IrExpr to_bool(IrGraph *g, IrExpr e)
{
    return ir_cast(g, e, ELEM_BOOL);
}

/* `type` is the operands'. */
static IrExpr make_op(IrGraph *g, IrExprOp op, Elem type, IrExpr a, IrExpr b, IrExpr c)
{
    IrExprNode n = {.op = op, .a = a, .b = b, .c = c};
    ir_derive(g, &n);
    if (n.rank == IR_CONST) {
        double value = ir_apply(op, type, ir_expr(g, a)->num, ir_expr(g, b)->num, ir_expr(g, c)->num);
        return ir_const_typed(g, value, n.type);
    }
    return ir_intern(g, n);
}

/* The operands' type by the operator's rule. */
static Elem operand_type(const IrGraph *g, IrExprOp op, const IrExpr *operand, int n)
{
    IrRule rule = ir_op_rule(op);
    if (rule == IR_RULE_LOGIC) {
        return ELEM_BOOL;
    }
    Elem type = meet(g, operand, n);
    bool floats = rule == IR_RULE_FLOAT || rule == IR_RULE_TEST;
    return floats && type != ELEM_F64 ? ELEM_F32 : type;
}

IrExpr ir_op1(IrGraph *g, IrExprOp op, IrExpr a)
{
    assert(ir_expr_op_arity(op) == 1 && a != 0);
    Elem type = operand_type(g, op, &a, 1);
    a = type == ELEM_BOOL ? to_bool(g, a) : ir_cast(g, a, type);
    return make_op(g, op, type, a, 0, 0);
}

IrExpr ir_op2(IrGraph *g, IrExprOp op, IrExpr a, IrExpr b)
{
    assert(ir_expr_op_arity(op) == 2 && a != 0 && b != 0);
    IrExpr compared = ir_whole_compare(g, op, a, b);
    if (compared != 0) {
        return compared;
    }
    const IrExpr operand[2] = {a, b};
    Elem type = operand_type(g, op, operand, 2);
    a = ir_cast(g, a, type);
    b = ir_cast(g, b, type);
    return make_op(g, op, type, a, b, 0);
}

IrExpr ir_op3(IrGraph *g, IrExprOp op, IrExpr a, IrExpr b, IrExpr c)
{
    assert(ir_expr_op_arity(op) == 3 && a != 0 && b != 0 && c != 0);
    if (op == IR_X_SELECT) {
        const IrExpr branch[2] = {b, c};
        bool masks = ir_expr(g, b)->type == ELEM_BOOL && ir_expr(g, c)->type == ELEM_BOOL;
        bool pixel = ir_expr(g, a)->rank == IR_PIXEL;
        Elem type = masks ? ELEM_BOOL : meet(g, branch, 2);
        if (pixel && type == ELEM_F64 && ir_expr(g, b)->rank != IR_PIXEL && ir_expr(g, c)->rank != IR_PIXEL) {
            type = of_numbers(g, branch);
        }
        return make_op(g, op, type, to_bool(g, a), ir_cast(g, b, type), ir_cast(g, c, type));
    }
    const IrExpr operand[3] = {a, b, c};
    Elem type = operand_type(g, op, operand, 3);
    return make_op(g, op, type, ir_cast(g, a, type), ir_cast(g, b, type), ir_cast(g, c, type));
}

/* ---- folds and calls ------------------------------------------------------------------- */

void ir_join(const IrGraph *g, IrExprNode *fold)
{
    const IrExprNode *body = ir_expr(g, fold->a);
    fold->flat =
        body->op == IR_X_FOLD && body->fold == fold->fold && body->rank == fold->rank && fold->fold != IR_FOLD_BLEND;
    fold->fused = fold->fold == IR_FOLD_SUM && fold->type == ELEM_F32 && body->op == IR_X_MUL;
}

static IrExpr first_index(IrGraph *g, IrExpr lo)
{
    return ir_is_integral(g, lo) ? lo : ir_op1(g, IR_X_CEIL, lo);
}

static IrExpr last_index(IrGraph *g, IrExpr hi)
{
    return ir_is_integral(g, hi) ? hi : ir_op1(g, IR_X_FLOOR, hi);
}

IrExpr ir_fold(IrGraph *g, IrFold fold, int index, IrExpr lo, IrExpr hi, IrExpr where, IrExpr nth, bool innermost,
               IrExpr body)
{
    assert(fold < IR_FOLDS && fold != IR_FOLD_BLEND && index >= 0 && index < g->next_index);
    assert(lo != 0 && hi != 0 && body != 0);
    if (fold == IR_FOLD_ANY || fold == IR_FOLD_ALL) {
        body = to_bool(g, body);
    } else if (ir_expr(g, body)->type == ELEM_BOOL) {
        body = ir_cast(g, body, ELEM_I32);
    }
    IrExprNode n = {.op = IR_X_FOLD,
                    .num = index,
                    .a = body,
                    .b = first_index(g, lo),
                    .c = last_index(g, hi),
                    .where = where,
                    .nth = nth,
                    .fold = fold};
    ir_derive(g, &n);
    ir_join(g, &n);
    n.flat = n.flat && !(innermost && ir_sorts(&n));
    return ir_intern(g, n);
}

IrExpr ir_blend(IrGraph *g, int index, IrExpr lo, IrExpr hi, IrExpr weight, IrExpr body)
{
    assert(index >= 0 && index < g->next_index && lo != 0 && hi != 0 && weight != 0 && body != 0);
    return make(g, (IrExprNode){.op = IR_X_FOLD,
                                .num = index,
                                .a = body,
                                .b = first_index(g, lo),
                                .c = last_index(g, hi),
                                .weight = weight,
                                .fold = IR_FOLD_BLEND});
}

IrExpr ir_blend_middle(IrGraph *g, const IrExprNode *fold)
{
    return ir_op2(g, IR_X_MIN, ir_op2(g, IR_X_MAX, fold->b, ir_const(g, 0)), fold->c);
}

IrExpr ir_call(IrGraph *g, int function, const IrExpr *args, int n)
{
    assert(function >= 0 && function < g->functions.n);
    IrExpr list = 0;
    for (int i = n - 1; i >= 0; i--) {
        list = make(g, (IrExprNode){.op = IR_X_ARG, .a = args[i], .b = list});
    }
    return make(g, (IrExprNode){.op = IR_X_CALL, .num = function, .a = list});
}
