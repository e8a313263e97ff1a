/*
 * register_types: the type in which a kernel's work-items have the pixels that they load.
 *
 * Pixels of whole numbers are read as i32 or u32.  Where all that a step wants of them is what they are as f32,
 * as a fold with weights does, they become that when they are loaded: once, and not at each of the fold's
 * steps, which share them.  A conversion takes as long as several multiplications.
 */
#include "kernel.h"

typedef struct Types {
    CgRegisterTypes *types;
    Arena *arena;
} Types;

static void enter(const Types *t, IrId node, Elem type)
{
    int place = id_map_add(&t->types->nodes, t->arena, node);
    if (place == t->types->type.n) {
        vec_push(t->arena, &t->types->type, type);
    }
    t->types->type.at[place] = type;
}

static void note(const IrGraph *g, IrExpr e, const Types *t)
{
    const IrExprNode *n = ir_expr(g, e);
    if (e != 0 && n->op == IR_X_READ) {
        enter(t, n->node, n->type);
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

const CgRegisterTypes *cg_register_types(const CgKernel *k, const IrStep *step)
{
    const IrGraph *g = k->g;
    Types t = {arena_new(k->arena, CgRegisterTypes), k->arena};
    for (int i = 0; i < step->stages.n; i++) {
        IrId stage = step->stages.at[i];
        IrExpr e = ir_node(g, stage)->map.value;
        ir_walk(g, e, note_reads, &t);
        note(g, e, &t);
        enter(&t, stage, ir_read_type(g, stage));
    }
    return t.types;
}

Elem cg_register_type(const CgContext *cx, IrId node)
{
    Elem type = ir_read_type(cx->k->g, node);
    if (cx->registers == NULL) {
        return type;
    }
    int place = id_map_find(&cx->registers->nodes, node);
    return place >= 0 ? cx->registers->type.at[place] : type != ELEM_BOOL ? ELEM_F32 : ELEM_BOOL;
}

Elem cg_text_type(const CgContext *cx, const IrExprNode *n)
{
    return n->op == IR_X_READ && cx->registers != NULL ? cg_register_type(cx, n->node) : n->type;
}

const char *cg_outside(CgContext *cx, IrId node, IrExpr outside)
{
    IrGraph *g = cx->k->g;
    Elem type = ir_read_type(g, node), own = cg_register_type(cx, node);
    if (outside == 0) {
        return "0";
    }
    IrExpr pixel = ir_cast(g, outside, type);
    if (own == type || ir_expr(g, pixel)->op == IR_X_CONST) {
        return cg_expr(cx, ir_cast(g, pixel, own));
    }
    /* Host expressions are rounded where they end: to a pixel of the image, then to the type in registers. */
    return arena_printf(cx->k->arena, "(%s)%s", cg_type(own), cg_expr(cx, pixel));
}
