/*
 * held: the type in which a kernel's work-items hold the pixels that they load.
 *
 * Pixels of whole numbers are read as i32 or u32.  Where all that a step wants of them is what they are as f32,
 * as a fold with weights does, they become that when they are loaded: once, and not at each of the fold's
 * steps, which share them.  A conversion takes as long as several multiplications.
 */
#include "kernel.h"

static void note(const IrGraph *g, IrExpr e, Elem *held)
{
    const IrExprNode *n = ir_expr(g, e);
    if (e != 0 && n->op == IR_X_READ) {
        held[n->node] = n->type;
    }
}

static void note_reads(const IrGraph *g, IrExpr e, void *held)
{
    const IrExprNode *n = ir_expr(g, e);
    const IrExpr child[] = {n->a, n->b, n->c, n->channel, n->outside, n->where, n->nth};
    bool casts = n->op == IR_X_CAST && n->num == 0 && n->type == ELEM_F32;
    for (size_t i = casts ? 1 : 0; i < sizeof child / sizeof *child; i++) {
        note(g, child[i], held);
    }
}

const Elem *cg_held(const CgKernel *k, const IrStep *step)
{
    const IrGraph *g = k->g;
    Elem *held = arena_array(k->arena, Elem, g->nodes.n);
    for (int i = 0; i < step->stages.n; i++) {
        IrId stage = step->stages.at[i];
        IrExpr e = ir_node(g, stage)->in[0];
        ir_walk(g, e, note_reads, held);
        note(g, e, held);
        held[stage] = ir_read_type(g, stage);
    }
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        bool number = ir_read_type(g, id) != ELEM_BOOL;
        held[id] = held[id] != ELEM_NONE ? held[id] : number ? ELEM_F32 : ELEM_BOOL;
    }
    return held;
}

Elem cg_text_type(const CgContext *cx, const IrExprNode *n)
{
    return n->op == IR_X_READ && cx->held != NULL ? cx->held[n->node] : n->type;
}

const char *cg_outside(CgContext *cx, IrId node, IrExpr outside)
{
    IrGraph *g = cx->k->g;
    Elem type = ir_read_type(g, node), held = cx->held != NULL ? cx->held[node] : type;
    if (outside == 0) {
        return "0";
    }
    IrExpr pixel = ir_cast(g, outside, type);
    if (held == type || ir_expr(g, pixel)->op == IR_X_CONST) {
        return cg_expr(cx, ir_cast(g, pixel, held));
    }
    /* Host expressions are rounded where they end: to a pixel of the image, then to what is held. */
    return arena_printf(cx->k->arena, "(%s)%s", cg_type(held), cg_expr(cx, pixel));
}
