/*
 * held: the type in which a kernel's work-items hold the pixels that they load.
 *
 * Pixels of whole numbers are read as i32 or u32.  Where all that a step wants of them is what they are as f32,
 * as a fold with weights does, they become that when they are loaded: once, and not at each of the fold's
 * steps, which share them.  A conversion takes as long as several multiplications.
 */
#include "kernel.h"

typedef struct Holding {
    CgHeld *held;
    Arena *arena;
} Holding;

static void hold(const Holding *h, IrId node, Elem type)
{
    int place = id_map_add(&h->held->nodes, h->arena, node);
    if (place == h->held->type.n) {
        vec_push(h->arena, &h->held->type, type);
    }
    h->held->type.at[place] = type;
}

static void note(const IrGraph *g, IrExpr e, const Holding *h)
{
    const IrExprNode *n = ir_expr(g, e);
    if (e != 0 && n->op == IR_X_READ) {
        hold(h, n->node, n->type);
    }
}

static void note_reads(const IrGraph *g, IrExpr e, void *ctx)
{
    const IrExprNode *n = ir_expr(g, e);
    bool casts = n->op == IR_X_CAST && n->num == 0 && n->type == ELEM_F32;
    for (int i = casts ? 1 : 0; i < IR_CHILDREN; i++) {
        note(g, n->child[i], ctx);
    }
}

const CgHeld *cg_held(const CgKernel *k, const IrStep *step)
{
    const IrGraph *g = k->g;
    Holding h = {arena_new(k->arena, CgHeld), k->arena};
    for (int i = 0; i < step->stages.n; i++) {
        IrId stage = step->stages.at[i];
        IrExpr e = ir_node(g, stage)->map.value;
        ir_walk(g, e, note_reads, &h);
        note(g, e, &h);
        hold(&h, stage, ir_read_type(g, stage));
    }
    return h.held;
}

Elem cg_held_type(const CgContext *cx, IrId node)
{
    Elem type = ir_read_type(cx->k->g, node);
    if (cx->held == NULL) {
        return type;
    }
    int place = id_map_find(&cx->held->nodes, node);
    return place >= 0 ? cx->held->type.at[place] : type != ELEM_BOOL ? ELEM_F32 : ELEM_BOOL;
}

Elem cg_text_type(const CgContext *cx, const IrExprNode *n)
{
    return n->op == IR_X_READ && cx->held != NULL ? cg_held_type(cx, n->node) : n->type;
}

const char *cg_outside(CgContext *cx, IrId node, IrExpr outside)
{
    IrGraph *g = cx->k->g;
    Elem type = ir_read_type(g, node), held = cg_held_type(cx, node);
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
