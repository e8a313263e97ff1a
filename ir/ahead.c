/* ahead: rows are found from the last stage back, when each begins to be needed likewise. */
#include "ahead.h"

#include "footprint.h"

#include <limits.h>

enum { UNKNOWN_COLUMNS = 4 };

typedef struct AheadWalk {
    IrAhead *to;
    int reader; /* place of the stage that reads */
    int begin;  /* the row of the stream from which on it is needed */
    int *first; /* by place: the same of each */
    bool fits;
    Arena *arena;
} AheadWalk;

static IrRowsOf *find(const IrAhead *ahead, IrId node)
{
    for (int i = 0; i < ahead->of.n; i++) {
        if (ahead->of.at[i].node == node) {
            return &ahead->of.at[i];
        }
    }
    return NULL;
}

const IrRowsOf *ir_rows_of(const IrAhead *ahead, IrId node)
{
    return find(ahead, node);
}

static void add(IrAhead *to, Arena *arena, IrId node, bool computed)
{
    if (find(to, node) == NULL) {
        const IrRowsOf of = {.node = node, .computed = computed, .lo = INT_MAX, .hi = INT_MIN, .from = INT_MAX};
        vec_push(arena, &to->of, of);
    }
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Rows from `lo` to `hi` are needed when the stream is at its row `begin` before the first result, and later. */
static void need(IrRowsOf *of, int lo, int hi, int begin)
{
    of->lo = smaller(of->lo, lo);
    of->hi = larger(of->hi, hi);
    of->from = smaller(of->from, begin + lo);
}

static void look_for_nodes(const IrGraph *g, IrExpr e, void *ctx)
{
    AheadWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op == IR_X_READ && n->rank == IR_PIXEL) {
        add(w->to, w->arena, n->node, false);
    }
}

static void look_for_rows(const IrGraph *g, IrExpr e, void *ctx)
{
    AheadWalk *w = ctx;
    const IrExprNode *n = ir_expr(g, e);
    w->fits = w->fits && n->op != IR_X_READAT;
    if (n->op != IR_X_READ || n->rank != IR_PIXEL) {
        return;
    }
    double by = 0;
    IrRowsOf *of = find(w->to, n->node);
    const IrRowsOf *reader = &w->to->of.at[w->reader];
    w->fits = w->fits && n->c == 0 && n->channel == 0 && (n->b == 0 || ir_is_const(g, n->b, &by)) &&
              by >= -IR_MOST_AHEAD && by <= IR_MOST_AHEAD;
    if (!w->fits) {
        return;
    }
    if (by != 0) {
        const bool same = !of->moved || (of->border == n->border && of->outside == n->outside);
        w->fits = same && (!of->computed || n->border == BORDER_NEAREST || n->border == BORDER_CONSTANT);
        of->moved = true;
        of->border = n->border;
        of->outside = n->outside;
    }
    need(of, reader->hi + smaller((int)by, 0), reader->hi + larger((int)by, 0), w->begin);
}

/* What the stage at `place` reads, it reads on as many more columns as it reaches. */
static void widen(AheadWalk *w, IrGraph *g)
{
    const IrRowsOf reader = w->to->of.at[w->reader];
    const IrFootprint fp = ir_footprint(g, ir_node(g, reader.node)->map.value);
    for (int i = 0; i < fp.reach.n; i++) {
        const IrReach *r = &fp.reach.at[i];
        IrRowsOf *of = find(w->to, r->node);
        double lo = -UNKNOWN_COLUMNS, hi = UNKNOWN_COLUMNS;
        if (of == NULL) { /* it has no pixels */
            continue;
        }
        const bool known = ir_is_const(g, r->lo[0], &lo) && ir_is_const(g, r->hi[0], &hi);
        w->fits = w->fits && (known || !of->computed) && lo > -IR_MOST_BESIDE && hi < IR_MOST_BESIDE;
        of->left = w->fits ? larger(of->left, reader.left - (int)lo) : 0;
        of->right = w->fits ? larger(of->right, reader.right + (int)hi) : 0;
    }
}

/* Below the image the last row stands again, so that it has to be there still. */
static void keep_last(IrRowsOf *of)
{
    if (of->computed && of->moved && of->border == BORDER_NEAREST && of->lo == of->hi) {
        of->lo--;
    }
}

bool ir_find_ahead(IrGraph *g, const IrId *stage, int n, const bool *stored, IrAhead *to)
{
    *to = (IrAhead){.warm = 0};
    AheadWalk w = {.to = to, .fits = true, .arena = g->arena};
    for (int i = 0; i < n; i++) {
        add(to, g->arena, stage[i], true);
        if (stored[stage[i]]) {
            need(&to->of.at[i], 0, 0, 0);
        }
    }
    for (int i = 0; i < n; i++) {
        ir_walk(g, ir_node(g, stage[i])->map.value, look_for_nodes, &w);
    }
    for (int i = n - 1; i >= 0 && w.fits; i--) {
        IrRowsOf *of = &to->of.at[i];
        if (of->from == INT_MAX) { /* nobody reads it */
            return false;
        }
        keep_last(of);
        w.reader = i;
        w.begin = of->from - of->hi;
        to->warm = larger(to->warm, -w.begin);
        ir_walk(g, ir_node(g, stage[i])->map.value, look_for_rows, &w);
        widen(&w, g);
    }
    return w.fits;
}

int ir_ahead_registers(const IrGraph *g, const IrAhead *ahead, int columns)
{
    int all = 0;
    for (int i = 0; i < ahead->of.n; i++) {
        const IrRowsOf *of = &ahead->of.at[i];
        const int words = ir_read_type(g, of->node) == ELEM_F64 ? 2 : 1;
        all += words * (of->hi - of->lo + 1) * (columns + of->left + of->right);
    }
    return all;
}

bool ir_ahead_keeps(const IrAhead *ahead)
{
    bool keeps = false;
    for (int i = 0; i < ahead->of.n; i++) {
        const IrRowsOf *of = &ahead->of.at[i];
        keeps = keeps || (of->computed && (of->lo != 0 || of->hi != 0));
    }
    return keeps;
}
