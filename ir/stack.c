/*
 * stack: an index becomes arithmetic of the channel's number, and a read whose offset or channel followed from it
 * one at a place.
 */
#include "stack.h"

#include "edit.h"
#include "indices.h"

/* ---- the grid ------------------------------------------------------------------------------ */

typedef struct Bounds {
    int index;
    IrExpr lo, hi; /* 0: no fold was found */
    bool several;
} Bounds;

/* Folds that share an index have the same bounds, or there is none to go by. */
static void look_for_bounds(const IrGraph *g, IrExpr e, void *ctx)
{
    Bounds *b = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_FOLD && (int)n->num == b->index) {
        b->several = b->several || (b->lo != 0 && (b->lo != n->b || b->hi != n->c));
        b->lo = n->b;
        b->hi = n->c;
    }
}

static bool find_bounds(const IrGraph *g, IrExpr root, Bounds *b)
{
    ir_walk(g, root, look_for_bounds, b);
    return b->lo != 0 && !b->several && ir_expr(g, b->lo)->rank <= IR_HOST && ir_expr(g, b->hi)->rank <= IR_HOST;
}

static IrExpr count_of(IrGraph *g, const Bounds *b)
{
    IrExpr one = ir_const(g, 1);
    return ir_op2(g, IR_X_MAX, ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_SUB, b->hi, b->lo), one), one);
}

/* Divides the combination among the indices, the last one fastest. */
static void divide(IrGraph *g, IrStack *s, const Bounds *bounds, IrExpr combination)
{
    IrExpr stride = ir_const(g, 1);
    for (int i = s->indices - 1; i >= 0; i--) {
        const Bounds *b = &bounds[i];
        IrExpr count = count_of(g, b);
        IrExpr at = i < s->indices - 1 ? ir_op2(g, IR_X_FLOORDIV, combination, stride) : combination;
        at = i > 0 ? ir_op2(g, IR_X_MOD, at, count) : at;
        s->at[i] = ir_cast(g, ir_op2(g, IR_X_ADD, at, b->lo), ELEM_I32);
        IrExpr step = ir_op2(g, IR_X_SUB, ir_index(g, b->index), b->lo);
        IrExpr own = ir_op2(g, IR_X_MUL, step, stride);
        s->channel = s->channel != 0 ? ir_op2(g, IR_X_ADD, own, s->channel) : own;
        stride = ir_op2(g, IR_X_MUL, stride, count);
    }
}

bool ir_stack_for(IrGraph *g, IrExpr root, IrExpr e, int domain, IrStack *stack)
{
    const IrIndices *free = ir_free_indices(g, e);
    Bounds bounds[IR_STACK_INDICES];
    IrStack s = {.indices = free->n, .n = ir_const(g, 1)};
    bool known = free->n > 0 && free->n <= IR_STACK_INDICES;
    for (int i = 0; i < free->n && known; i++) {
        s.index[i] = free->at[i];
        bounds[i] = (Bounds){.index = free->at[i]};
        known = find_bounds(g, root, &bounds[i]);
        s.n = known ? ir_op2(g, IR_X_MUL, s.n, count_of(g, &bounds[i])) : s.n;
    }
    double n;
    if (!known || (ir_is_const(g, s.n, &n) && n > IR_STACK_MOST)) {
        return false;
    }
    IrGrid grid = g->grids.at[domain];
    IrExpr channel = ir_coord(g, IR_AX_C), own = grid.extent[IR_AX_C];
    s.colours = grid.has[IR_AX_C];
    s.colour = s.colours ? ir_op2(g, IR_X_FLOORDIV, channel, s.n) : 0;
    divide(g, &s, bounds, s.colours ? ir_op2(g, IR_X_MOD, channel, s.n) : channel);
    if (s.colours) {
        s.channel = ir_op2(g, IR_X_ADD, ir_op2(g, IR_X_MUL, channel, s.n), ir_cast(g, s.channel, ELEM_I32));
    }
    grid.has[IR_AX_C] = true;
    grid.extent[IR_AX_C] = own != 0 ? ir_op2(g, IR_X_MUL, own, s.n) : s.n;
    s.grid = ir_add_grid(g, grid);
    *stack = s;
    return true;
}

/* ---- what is computed over it -------------------------------------------------------------- */

typedef struct Stacking {
    const IrStack *stack;
    bool failed;
} Stacking;

/* Which of the stack's indices; -1 none. */
static int stack_index(const IrStack *s, int index)
{
    int i = s->indices - 1;
    while (i >= 0 && s->index[i] != index) {
        i--;
    }
    return i;
}

static IrExpr index_at(IrGraph *g, const IrStack *s, IrExpr e)
{
    int i = stack_index(s, (int)ir_expr(g, e)->num);
    return i >= 0 ? ir_cast(g, s->at[i], ELEM_F64) : e;
}

static bool is_of_pixel(const IrGraph *g, IrExpr e)
{
    return e != 0 && ir_expr(g, e)->rank > IR_INDEX;
}

/* What a read at the current pixel looks at when something of where it looks has become a pixel's. */
static void make_place(IrGraph *g, IrExprNode *n)
{
    IrExpr *const at[3] = {&n->a, &n->b, &n->c};
    for (int ax = 0; ax < 3; ax++) {
        if (*at[ax] != 0) {
            *at[ax] = ir_op2(g, IR_X_ADD, ir_coord(g, ax), ir_cast(g, *at[ax], ELEM_I32));
        }
    }
    n->op = IR_X_READAT;
}

static IrExpr read_at(IrGraph *g, const IrStack *s, IrExprNode n)
{
    bool colour = s->colours && n.channel == 0 && g->grids.at[ir_node(g, n.node)->grid].has[IR_AX_C];
    n.channel = colour ? s->colour : is_of_pixel(g, n.channel) ? ir_cast(g, n.channel, ELEM_I32) : n.channel;
    bool moved = is_of_pixel(g, n.a) || is_of_pixel(g, n.b) || is_of_pixel(g, n.c) || is_of_pixel(g, n.channel);
    if (n.op == IR_X_READ && moved) {
        make_place(g, &n);
    }
    return ir_intern(g, n);
}

/* A whole number that took the way over f64 goes straight. */
static IrExpr cast_at(IrGraph *g, IrExprNode n)
{
    const IrExprNode *from = ir_expr(g, n.a);
    bool whole = from->op == IR_X_CAST && from->type == ELEM_F64 && ir_expr(g, from->a)->type == ELEM_I32;
    if (whole && n.num == 0) {
        return ir_cast(g, from->a, n.type);
    }
    ir_derive(g, &n);
    return ir_intern(g, n);
}

static IrExpr stack_expr(IrGraph *g, IrExpr e, void *ctx)
{
    Stacking *st = ctx;
    IrExprNode n = *ir_expr(g, e);
    st->failed = st->failed || is_of_pixel(g, n.outside);
    switch (n.op) {
    case IR_X_INDEX:
        return index_at(g, st->stack, e);
    case IR_X_COORD:
        return st->stack->colours && (int)n.num == IR_AX_C ? st->stack->colour : e;
    case IR_X_READ:
    case IR_X_READAT:
        return read_at(g, st->stack, n);
    case IR_X_CAST:
        return cast_at(g, n);
    case IR_X_FOLD:
        st->failed = st->failed || is_of_pixel(g, n.b) || is_of_pixel(g, n.c) || is_of_pixel(g, n.where) ||
                     is_of_pixel(g, n.nth) || is_of_pixel(g, n.weight) || stack_index(st->stack, (int)n.num) >= 0;
        ir_derive(g, &n);
        return ir_intern(g, n);
    default:
        ir_derive(g, &n);
        return ir_made_anew(g, ir_intern(g, n));
    }
}

IrExpr ir_stacked(IrGraph *g, const IrStack *stack, IrExpr e)
{
    Stacking st = {.stack = stack};
    IrExpr made = ir_rewrite(g, e, stack_expr, &st);
    return st.failed ? 0 : made;
}

IrExpr ir_read_stack(IrGraph *g, const IrStack *stack, IrId stored)
{
    const IrExpr here[3] = {0, 0, 0};
    return stack->colours ? ir_read_at(g, stored, here, stack->channel, BORDER_NEAREST, 0)
                          : ir_read_offset(g, stored, here, stack->channel, BORDER_NEAREST, 0);
}
