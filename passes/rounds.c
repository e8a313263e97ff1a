/*
 * rounds: several rounds of a loop of small stencils become one.
 *
 * A round that does little reads and writes its images, and waits for that.  A kernel that computes two to four rounds
 * has the images of those in between in registers, where each round follows the one before it down the rows
 * (ir/ahead.h), and reads and writes once for all of them.  It computes the columns beside a work-item's own ones
 * several times, so that loops which are bound by their operations stay as they are.
 *
 * As many rounds are joined as divide the number that there are.  Each gets its own copy of the loop's stages.
 *
 * For example, where %1 is an image,
 *
 *     loop 1 in 0
 *         count 4
 *         carry %2 from %1 next %3
 *     %2 u = carry : image f32 grid 0 loop 1
 *     %3 next = map : image f32 grid 0 loop 1
 *         in 0 add(%2[y = -1], %2[y = 1])
 *     output u = %2 as tif
 *
 * becomes
 *
 *     loop 1 in 0
 *         count 1
 *         carry %2 from %1 next %6
 *     %2 u = carry : image f32 grid 0 loop 1
 *     %3 next = map : image f32 grid 0 loop 1
 *         in 0 add(%2[y = -1], %2[y = 1])
 *     %4 next_2 = map : image f32 grid 0 loop 1
 *         in 0 add(%3[y = -1], %3[y = 1])
 *     %5 next_3 = map : image f32 grid 0 loop 1
 *         in 0 add(%4[y = -1], %4[y = 1])
 *     %6 next_4 = map : image f32 grid 0 loop 1
 *         in 0 add(%5[y = -1], %5[y = 1])
 *     output u = %2 as tif
 */
#include "cost.h"
#include "pass.h"

#include "../ir/ahead.h"
#include "../ir/edit.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 4, MOST_STAGES = 12 /* of a round */ };

static const double LESS = 0.9; /* time that a kernel of more rounds must not exceed, of that of fewer */

typedef struct Rounds {
    IrGraph *g;
    PassContext *cx;
    int loop;
    double count;
    IrId stage[MOST_STAGES]; /* of the first round */
    int n;
    IrId *latest; /* by stage of the first round and by carry: what stands for it in the latest round; 0: itself */
    int n_nodes;  /* before any round was copied */
} Rounds;

/* ---- which loops --------------------------------------------------------------------------- */

typedef struct Fit {
    int grid;
    bool fits;
} Fit;

static void look_for_misfit(const IrGraph *g, IrExpr e, void *ctx)
{
    Fit *f = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool far = n->op == IR_X_READAT || (n->op == IR_X_FOLD && n->rank == IR_PIXEL);
    bool channel = n->op == IR_X_COORD && (int)n->num == IR_AX_C;
    bool other = n->op == IR_X_READ && n->rank == IR_PIXEL && ir_node(g, n->node)->grid != f->grid;
    f->fits = f->fits && !far && !channel && !other;
}

static bool is_stage(const IrGraph *g, IrId id, int grid)
{
    const IrNode *n = ir_node(g, id);
    Fit f = {grid, n->op == IR_MAP && n->of == 0 && n->grid == grid && n->elem != ELEM_FILE};
    ir_walk(g, n->map.value, look_for_misfit, &f);
    return f.fits;
}

/* What it carries are images that it computes, each another one. */
static bool carries_images(const IrGraph *g, int loop)
{
    const IrLoop *l = &g->loops.at[loop];
    bool fits = l->carries.n > 0;
    for (int i = 0; i < l->carries.n && fits; i++) {
        const IrNode *carry = ir_node(g, l->carries.at[i].carry), *next = ir_node(g, l->carries.at[i].next);
        fits = next->op == IR_MAP && next->loop == loop && next->elem == carry->elem && next->kind == carry->kind &&
               next->grid == carry->grid;
        for (int k = 0; k < i; k++) {
            fits = fits && l->carries.at[k].next != l->carries.at[i].next;
        }
    }
    return fits;
}

static bool find_stages(Rounds *r)
{
    const IrGraph *g = r->g;
    const IrLoop *l = &g->loops.at[r->loop];
    if (l->count == 0 || !ir_is_const(g, l->count, &r->count) || r->count < 2 || !carries_images(g, r->loop)) {
        return false;
    }
    const int grid = ir_node(g, l->carries.at[0].carry)->grid;
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        const IrNode *n = ir_node(g, id);
        bool inner = !n->dead && n->loop != 0 && g->loops.at[n->loop].parent == r->loop;
        if (inner) {
            return false;
        }
        if (n->dead || n->loop != r->loop || n->op == IR_CARRY) {
            continue;
        }
        if (r->n == MOST_STAGES || !is_stage(g, id, grid)) {
            return false;
        }
        r->stage[r->n++] = id;
    }
    return true;
}

/* ---- one round more ------------------------------------------------------------------------ */

/* Reads of what the round before had become reads of what this one has. */
static IrExpr a_round_later(IrGraph *g, IrExpr e, void *ctx)
{
    const Rounds *r = ctx;
    IrExprNode n = *ir_expr(g, e);
    if (n.op != IR_X_READ || (int)n.node >= r->n_nodes || r->latest[n.node] == 0) {
        return e;
    }
    n.node = r->latest[n.node];
    return ir_intern(g, n);
}

static IrId latest_of(const Rounds *r, IrId stage)
{
    return r->latest[stage] != 0 ? r->latest[stage] : stage;
}

static void add_round(Rounds *r)
{
    IrGraph *g = r->g;
    const IrLoop *l = &g->loops.at[r->loop];
    IrId *next = arena_array(g->arena, IrId, l->carries.n);
    for (int i = 0; i < l->carries.n; i++) {
        next[i] = latest_of(r, l->carries.at[i].next);
    }
    for (int i = 0; i < l->carries.n; i++) {
        r->latest[l->carries.at[i].carry] = next[i];
    }
    for (int i = 0; i < r->n; i++) {
        IrNode copy = *ir_node(g, r->stage[i]);
        copy.map.value = ir_rewrite(g, copy.map.value, a_round_later, r);
        r->latest[r->stage[i]] = ir_add_node(g, copy);
    }
}

/* ---- how many ------------------------------------------------------------------------------ */

/* Time of a round, when as many as there are now are one kernel; below 0: they cannot be. */
static double time_of(Rounds *r, int rounds)
{
    IrGraph *g = r->g;
    Cost cost = cost_new(g, r->cx, NULL);
    const IrLoop *l = &g->loops.at[r->loop];
    IrId all[MOST_STAGES * MOST_ROUNDS];
    bool *stored = arena_array(g->arena, bool, g->nodes.n);
    memcpy(all, r->stage, sizeof r->stage);
    int n = r->n;
    for (int i = r->n_nodes; i < r->n_nodes + (rounds - 1) * r->n; i++) {
        all[n++] = (IrId)i;
    }
    for (int i = 0; i < l->carries.n; i++) {
        stored[latest_of(r, l->carries.at[i].next)] = true;
    }
    IrAhead ahead;
    if (!ir_find_ahead(g, all, n, stored, &ahead) || ir_ahead_registers(g, &ahead, COST_OWN_COLUMNS) > COST_MOST_KEPT) {
        return -1;
    }
    double bytes = 0;
    for (int i = 0; i < ahead.of.n; i++) {
        const IrRowsOf *of = &ahead.of.at[i];
        const bool moves = !of->computed || stored[of->node];
        bytes += moves ? (double)elem_size(ir_node(g, of->node)->elem) : 0;
    }
    const CostKernel kernel = {.bytes = bytes, .ops = cost_ahead(&cost, &ahead)};
    return cost_time(&cost, &kernel) / rounds;
}

/* Rounds that are added beyond these go again, and the loop carries what the last one that stays makes. */
static void keep_rounds(Rounds *r, int rounds)
{
    IrGraph *g = r->g;
    IrLoop *l = &g->loops.at[r->loop];
    const IrId first = (IrId)(r->n_nodes + (rounds - 2) * r->n); /* of the last round's stages */
    for (int i = r->n_nodes + (rounds - 1) * r->n; i < g->nodes.n; i++) {
        g->nodes.at[i].dead = true;
    }
    for (int i = 0; i < l->carries.n && rounds > 1; i++) {
        int at = 0;
        while (r->stage[at] != l->carries.at[i].next) {
            at++;
        }
        l->carries.at[i].next = first + (IrId)at;
    }
    l->count = ir_const(g, r->count / rounds);
    l->joined = rounds;
}

static bool join_rounds(Rounds *r)
{
    const IrId carry = r->g->loops.at[r->loop].carries.at[0].carry;
    double best_time = time_of(r, 1);
    int best = 1, least = 0;
    for (int rounds = 2; rounds <= MOST_ROUNDS && rounds <= r->count && best_time >= 0; rounds++) {
        add_round(r);
        const bool divides = fmod(r->count, rounds) == 0;
        const double time = time_of(r, rounds);
        if (time < 0) {
            break;
        }
        least = least == 0 && divides ? rounds : least;
        if (divides && time < LESS * best_time) {
            best = rounds;
            best_time = time;
        }
    }
    const bool joins = least > 0 && pass_decide(r->cx, r->g, DECISION_ROUNDS, carry, 0, best > 1);
    keep_rounds(r, !joins ? 1 : best > 1 ? best : least);
    return joins;
}

bool pass_rounds(IrGraph *g, PassContext *cx)
{
    bool any = false;
    for (int loop = 1; loop < g->loops.n && cx->fuse == FUSE_ALL; loop++) {
        Rounds r = {.g = g, .cx = cx, .loop = loop, .n_nodes = g->nodes.n};
        r.latest = arena_array(g->arena, IrId, g->nodes.n);
        any = (find_stages(&r) && join_rounds(&r)) || any;
    }
    return any;
}
