/*
 * dce: what no output needs is removed.
 *
 * What is needed is marked from the outputs backwards.  A node in a loop needs what ends the loop;
 * a carry needs what it starts from and what it becomes.  So a carry that only its own loop reads
 * goes, and a loop with its last one.  Inputs stay: they are the program's interface.
 *
 * For example, where %1 is an image,
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 sqrt(%1)
 *     %3 unused = map : image f32 grid 0
 *         in 0 exp(%2)
 *     output a = %2 as tif
 *
 * becomes
 *
 *     %2 a = map : image f32 grid 0
 *         in 0 sqrt(%1)
 *     output a = %2 as tif
 */
#include "pass.h"

typedef struct Mark {
    IrGraph *g;
    bool *needed;      /* by node */
    Vec(IrId) waiting; /* marked, but not yet followed */
} Mark;

static void need(Mark *m, IrId id)
{
    if (!m->needed[id]) {
        m->needed[id] = true;
        vec_push(m->g->arena, &m->waiting, id);
    }
}

static void need_read(const IrGraph *g, IrExpr e, void *ctx)
{
    const IrExprNode *n = ir_expr(g, e);
    if (n->node != 0) {
        need(ctx, n->node);
    }
}

static void need_loop(Mark *m, int loop)
{
    for (; loop != 0; loop = m->g->loops.at[loop].parent) {
        ir_walk(m->g, m->g->loops.at[loop].until, need_read, m);
    }
}

static void follow(Mark *m, IrId id)
{
    const IrNode *n = ir_node(m->g, id);
    const IrLoop *loop = &m->g->loops.at[n->loop];
    for (int k = 0; k < NODE_INPUTS; k++) {
        ir_walk(m->g, n->in[k], need_read, m);
    }
    if (n->of != 0) {
        need(m, n->of);
    }
    need_loop(m, n->loop);
    for (int i = 0; n->op == IR_CARRY && i < loop->carries.n; i++) {
        if (loop->carries.at[i].carry == id) {
            need(m, loop->carries.at[i].first);
            need(m, loop->carries.at[i].next);
        }
    }
}

static void mark_all(Mark *m)
{
    const IrGraph *g = m->g;
    for (int i = 1; i < g->nodes.n; i++) {
        if (!g->nodes.at[i].dead && g->nodes.at[i].op == IR_INPUT) {
            need(m, (IrId)i);
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        if (g->outputs.at[i].node != 0) {
            need(m, g->outputs.at[i].node);
        }
        ir_walk(g, g->outputs.at[i].value, need_read, m);
    }
    while (m->waiting.n > 0) {
        follow(m, m->waiting.at[--m->waiting.n]);
    }
}

static void drop_carries(IrLoop *loop, const bool *needed)
{
    int kept = 0;
    for (int i = 0; i < loop->carries.n; i++) {
        if (needed[loop->carries.at[i].carry]) {
            loop->carries.at[kept++] = loop->carries.at[i];
        }
    }
    loop->carries.n = kept;
}

/* A loop in which nothing is left has no condition either, which would read dead nodes. */
static void drop_empty_loops(IrGraph *g)
{
    bool *lives = arena_array(g->arena, bool, g->loops.n);
    for (int i = 1; i < g->nodes.n; i++) {
        for (int k = g->nodes.at[i].dead ? 0 : g->nodes.at[i].loop; k != 0; k = g->loops.at[k].parent) {
            lives[k] = true;
        }
    }
    for (int i = 1; i < g->loops.n; i++) {
        if (!lives[i]) {
            g->loops.at[i].until = 0;
        }
    }
}

bool pass_dce(IrGraph *g, PassContext *cx)
{
    (void)cx;
    Mark m = {.g = g, .needed = arena_array(g->arena, bool, g->nodes.n)};
    bool changed = false;
    mark_all(&m);
    for (int i = 1; i < g->nodes.n; i++) {
        changed = changed || (!g->nodes.at[i].dead && !m.needed[i]);
        g->nodes.at[i].dead = !m.needed[i];
    }
    for (int i = 1; i < g->loops.n; i++) {
        drop_carries(&g->loops.at[i], m.needed);
    }
    drop_empty_loops(g);
    return changed;
}
