/* uses: the reads of each node, sorted, and from them its readers. */
#include "uses.h"

#include <assert.h>
#include <string.h>

/* ---- making it ----------------------------------------------------------------------------- */

static void note_read(const IrGraph *g, IrExpr e, void *ctx)
{
    IrUses *u = ctx;
    if (ir_is_read(ir_expr(g, e))) {
        vec_push(u->arena, &u->reads[0], e); /* of node 0, which is none: gathered here */
    }
}

static bool comes_before(const IrGraph *g, IrExpr p, IrExpr q)
{
    IrId a = ir_expr(g, p)->node, b = ir_expr(g, q)->node;
    return a != b ? a < b : p < q;
}

/* A heap sort: qsort has no place for the graph. */
static void sift(const IrGraph *g, IrExpr *at, int from, int n)
{
    for (int child; (child = 2 * from + 1) < n; from = child) {
        child += child + 1 < n && comes_before(g, at[child], at[child + 1]);
        if (!comes_before(g, at[from], at[child])) {
            return;
        }
        IrExpr t = at[from];
        at[from] = at[child];
        at[child] = t;
    }
}

static void sort_reads(const IrGraph *g, IrExpr *at, int n)
{
    for (int i = n / 2 - 1; i >= 0; i--) {
        sift(g, at, i, n);
    }
    for (int end = n - 1; end > 0; end--) {
        IrExpr t = at[0];
        at[0] = at[end];
        at[end] = t;
        sift(g, at, 0, end);
    }
}

static void add_reader(IrUses *u, IrId node, IrId reader)
{
    IrReaders *list = &u->readers[node];
    int at = list->n;
    while (at > 0 && list->at[at - 1] > reader) {
        at--;
    }
    if (at > 0 && list->at[at - 1] == reader) {
        return;
    }
    vec_push(u->arena, list, reader);
    memmove(list->at + at + 1, list->at + at, sizeof *list->at * (size_t)(list->n - 1 - at));
    list->at[at] = reader;
}

/* Sorted, each once; how many are left. */
static int make_set(const IrGraph *g, IrExpr *reads, int n)
{
    int kept = 0;
    sort_reads(g, reads, n);
    for (int i = 0; i < n; i++) {
        if (i == 0 || reads[i] != reads[kept - 1]) {
            reads[kept++] = reads[i];
        }
    }
    return kept;
}

/* Is this the first read of its node in the set? */
static bool is_first(const IrGraph *g, const IrExpr *set, int i)
{
    return i == 0 || ir_expr(g, set[i - 1])->node != ir_expr(g, set[i])->node;
}

void ir_uses_set(IrUses *u, IrId reader, const IrExpr *reads, int n)
{
    assert(reader > 0 && (int)reader < u->g->nodes.n);
    IrReads *set = &u->reads[reader];
    set->at = arena_array(u->arena, IrExpr, n);
    for (int i = 0; i < n; i++) {
        set->at[i] = reads[i];
    }
    set->n = set->cap = make_set(u->g, set->at, n);
    for (int i = 0; i < set->n; i++) {
        if (is_first(u->g, set->at, i)) {
            add_reader(u, ir_expr(u->g, set->at[i])->node, reader);
        }
    }
}

void ir_uses_changed(IrUses *u, IrId node)
{
    u->reads[0].n = 0;
    for (int k = 0; k < NODE_INPUTS; k++) {
        ir_walk(u->g, ir_node(u->g, node)->in[k], note_read, u);
    }
    ir_uses_set(u, node, u->reads[0].at, u->reads[0].n);
}

static void look_at_loop(IrUses *u, const IrLoop *loop)
{
    for (int k = 0; k < loop->carries.n; k++) {
        const IrCarry *c = &loop->carries.at[k];
        u->pinned[c->first] = u->pinned[c->next] = true;
        u->next_of[c->next] = c->carry;
    }
}

IrUses *ir_uses_new(const IrGraph *g, Arena *arena)
{
    IrUses *u = arena_new(arena, IrUses);
    *u = (IrUses){.g = g,
                  .arena = arena,
                  .reads = arena_array(arena, IrReads, g->nodes.n),
                  .readers = arena_array(arena, IrReaders, g->nodes.n),
                  .belong = arena_array(arena, IrReaders, g->nodes.n),
                  .next_of = arena_array(arena, IrId, g->nodes.n),
                  .pinned = arena_array(arena, bool, g->nodes.n)};
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        if (!ir_node(g, id)->dead) {
            ir_uses_changed(u, id);
            vec_push(arena, &u->belong[ir_node(g, id)->of], id);
            u->pinned[ir_node(g, id)->of] = true;
        }
    }
    for (int i = 0; i < g->outputs.n; i++) {
        u->pinned[g->outputs.at[i].node] = true;
    }
    for (int i = 1; i < g->loops.n; i++) {
        look_at_loop(u, &g->loops.at[i]);
    }
    return u;
}

/* ---- asking it ----------------------------------------------------------------------------- */

const IrExpr *ir_uses_of(const IrUses *u, IrId reader, IrId node, int *n)
{
    assert((int)reader < u->g->nodes.n && (int)node < u->g->nodes.n);
    const IrReads *all = &u->reads[reader];
    int lo = 0, hi = all->n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (ir_expr(u->g, all->at[mid])->node < node) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    for (*n = 0; lo + *n < all->n && ir_expr(u->g, all->at[lo + *n])->node == node; ++*n) {
    }
    return all->at + lo;
}

static bool reads_node(const IrUses *u, IrId reader, IrId node)
{
    int n;
    (void)ir_uses_of(u, reader, node, &n);
    return n > 0;
}

IrReaders ir_uses_readers(IrUses *u, IrId node)
{
    assert(node > 0 && (int)node < u->g->nodes.n);
    IrReaders *list = &u->readers[node];
    int kept = 0;
    for (int i = 0; i < list->n; i++) {
        if (!ir_node(u->g, list->at[i])->dead && reads_node(u, list->at[i], node)) {
            list->at[kept++] = list->at[i];
        }
    }
    list->n = kept;
    return *list;
}

/* ---- how many ------------------------------------------------------------------------------ */

/* Of the nodes that an expression outside of all nodes reads. */
static void count_reads(IrUses *u, IrExpr e, int *count)
{
    IrReads *reads = &u->reads[0];
    reads->n = 0;
    ir_walk(u->g, e, note_read, u);
    int n = make_set(u->g, reads->at, reads->n);
    for (int i = 0; i < n; i++) {
        count[ir_expr(u->g, reads->at[i])->node] += is_first(u->g, reads->at, i);
    }
}

static bool is_alive(const IrGraph *g, const IrLoop *loop)
{
    for (int k = 0; k < loop->carries.n; k++) {
        if (!ir_node(g, loop->carries.at[k].carry)->dead) {
            return true;
        }
    }
    return false;
}

int *ir_count_users(IrUses *u)
{
    const IrGraph *g = u->g;
    int *count = arena_array(u->arena, int, g->nodes.n);
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        count[id] = u->belong[id].n + u->readers[id].n;
    }
    for (int i = 0; i < g->outputs.n; i++) {
        count[g->outputs.at[i].node]++;
        count_reads(u, g->outputs.at[i].value, count);
    }
    for (int i = 1; i < g->loops.n; i++) {
        const IrLoop *loop = &g->loops.at[i];
        for (int k = 0; is_alive(g, loop) && k < loop->carries.n; k++) {
            count[loop->carries.at[k].carry]++;
            count[loop->carries.at[k].first]++;
            count[loop->carries.at[k].next]++;
        }
        if (is_alive(g, loop)) {
            count_reads(u, loop->until, count);
        }
    }
    return count;
}

static bool is_in(const IrId *list, int n, IrId id)
{
    int i = 0;
    while (i < n && list[i] != id) {
        i++;
    }
    return i < n;
}

int ir_uses_images(const IrUses *u, const IrId *nodes, int n)
{
    int images = 0;
    for (int i = 0; i < n; i++) {
        const IrReads *reads = &u->reads[nodes[i]];
        IrId last = 0;
        for (int k = 0; k < reads->n; k++) {
            const IrExprNode *read = ir_expr(u->g, reads->at[k]);
            bool again = read->op == IR_X_VALUE || read->node == last || is_in(nodes, n, read->node);
            for (int j = 0; j < i && !again; j++) {
                again = reads_node(u, nodes[j], read->node);
            }
            images += !again;
            last = read->node;
        }
    }
    return images;
}
