/* edit: changes to a graph that passes share. */
#include "edit.h"
#include "footprint.h"

static IrId moved(const IrId *to, IrId id)
{
    return to[id] != 0 ? to[id] : id;
}

static IrExpr move_reads(IrGraph *g, IrExpr e, void *ctx)
{
    const IrId *to = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (to[n.node] == 0) {
        return e;
    }
    n.node = to[n.node];
    return ir_intern(g, n);
}

static bool rewrite_one(IrGraph *g, IrExpr *e, IrRewrite visit, void *ctx)
{
    if (*e == 0) {
        return false;
    }
    IrExpr before = *e;
    IrExpr after = ir_rewrite(g, before, visit, ctx);
    *e = after;
    return after != before;
}

bool ir_rewrite_all(IrGraph *g, IrRewrite visit, void *ctx)
{
    bool changed = false;
    for (int i = 1; i < g->nodes.n; i++) {
        if (g->nodes.at[i].dead) {
            continue;
        }
        for (int k = 0; k < NODE_INPUTS; k++) {
            IrExpr e = g->nodes.at[i].in[k];
            changed = rewrite_one(g, &e, visit, ctx) || changed;
            g->nodes.at[i].in[k] = e;
        }
        for (int k = 0; k < NODE_ARGUMENTS; k++) {
            IrExpr e = g->nodes.at[i].arg[k];
            changed = rewrite_one(g, &e, visit, ctx) || changed;
            g->nodes.at[i].arg[k] = e;
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        changed = rewrite_one(g, &g->outputs.at[i].value, visit, ctx) || changed;
    }
    for (int i = 1; i < g->loops.n; i++) {
        changed = rewrite_one(g, &g->loops.at[i].until, visit, ctx) || changed;
    }
    return changed;
}

typedef struct Part {
    IrExpr part, by;
} Part;

static IrExpr replace_part(IrGraph *g, IrExpr e, void *ctx)
{
    const Part *p = ctx;
    (void)g;
    return e == p->part ? p->by : e;
}

IrExpr ir_replace_part(IrGraph *g, IrExpr e, IrExpr part, IrExpr by)
{
    return ir_rewrite(g, e, replace_part, &(Part){part, by});
}

void ir_replace_in(IrGraph *g, IrId id, const IrId *to)
{
    assert(id != 0 && to[0] == 0);
    for (int k = 0; k < NODE_INPUTS + NODE_ARGUMENTS; k++) {
        IrNode *n = ir_node(g, id);
        IrExpr *e = k < NODE_INPUTS ? &n->in[k] : &n->arg[k - NODE_INPUTS];
        *e = ir_rewrite(g, *e, move_reads, (void *)(uintptr_t)to); /* nodes stay where they are */
    }
    ir_node(g, id)->of = moved(to, ir_node(g, id)->of);
}

void ir_replace_nodes(IrGraph *g, const IrId *to)
{
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        if (!ir_node(g, id)->dead) {
            ir_replace_in(g, id, to);
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        IrOutput *o = &g->outputs.at[i];
        o->node = moved(to, o->node);
        o->value = ir_rewrite(g, o->value, move_reads, (void *)(uintptr_t)to);
    }
    for (int i = 1; i < g->loops.n; i++) {
        IrLoop *loop = &g->loops.at[i];
        loop->until = ir_rewrite(g, loop->until, move_reads, (void *)(uintptr_t)to);
        for (int k = 0; k < loop->carries.n; k++) {
            IrCarry *c = &loop->carries.at[k];
            *c = (IrCarry){moved(to, c->carry), moved(to, c->first), moved(to, c->next)};
        }
    }
}

void ir_move_to_end(IrGraph *g, IrId id)
{
    assert(id != 0 && !ir_node(g, id)->dead);
    IrNode node = *ir_node(g, id);
    vec_push(g->arena, &g->nodes, node);
    ir_node(g, id)->dead = true;
    IrId *to = arena_array(g->arena, IrId, g->nodes.n);
    to[id] = (IrId)(g->nodes.n - 1);
    ir_replace_nodes(g, to);
}

IrExpr ir_as_stored(IrGraph *g, IrId map)
{
    const IrNode *n = ir_node(g, map);
    assert(n->op == IR_MAP && n->map.value != 0);
    Elem elem = n->elem == ELEM_FILE ? ELEM_F32 : n->elem; /* whose pixels it stores as they are */
    if (elem == ELEM_U8 || elem == ELEM_U16 || elem == ELEM_I16) {
        const IrExprNode *e = ir_expr(g, n->map.value);
        bool ready = e->op == IR_X_CAST && (Elem)e->num == elem;
        return ready ? n->map.value : ir_saturate(g, n->map.value, elem);
    }
    return ir_cast(g, n->map.value, elem);
}

IrExpr ir_made_anew(IrGraph *g, IrExpr e)
{
    const IrExprNode n = *ir_expr(g, e);
    if (n.op == IR_X_CAST) {
        return n.num == 0 && ir_expr(g, n.a)->op == IR_X_CONST ? ir_cast(g, n.a, n.type) : e;
    }
    switch (ir_expr_op_arity(n.op)) {
    case 1:
        return ir_op1(g, n.op, n.a);
    case 2:
        return ir_op2(g, n.op, n.a, n.b);
    case 3:
        return ir_op3(g, n.op, n.a, n.b, n.c);
    default:
        return e;
    }
}
