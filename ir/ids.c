/* ids: see ids.h. */
#include "ids.h"

#include "edit.h"

static IrId node_read(const IrGraph *g, IrExpr e)
{
    const IrExprNode *n = ir_expr(g, e);
    return n->op == IR_X_READ || n->op == IR_X_READAT ? n->node : 0;
}

/* What a loop's variable begins with; NULL in a graph that is not whole. */
static const IrCarry *carry_of(const IrGraph *g, IrId id)
{
    const IrLoop *loop = &g->loops.at[ir_node(g, id)->loop];
    for (int i = 0; i < loop->carries.n; i++) {
        if (loop->carries.at[i].carry == id) {
            return &loop->carries.at[i];
        }
    }
    return NULL;
}

IrId ir_ids_read(const IrGraph *g, IrExpr labels)
{
    const IrExprNode *n = ir_expr(g, labels);
    double other = 1;
    if (n->op == IR_X_SELECT && ir_is_const(g, n->c, &other) && other == 0) {
        labels = n->b;
    }
    IrId node = node_read(g, labels);
    const bool any = ir_node(g, node)->kind == IR_K_LABELS || ir_node(g, node)->op == IR_MAP;
    return any && ir_node(g, node)->elem == ELEM_U32 ? node : 0;
}

/* The labels of which these are copies, or grown from, or parts; 0: they have numbers of their own. */
static IrId labels_before(const IrGraph *g, IrId labels)
{
    const IrNode *node = ir_node(g, labels);
    switch (node->op) {
    case IR_MAP:
        return ir_ids_read(g, node->map.value);
    case IR_NEAREST_LABEL:
        return ir_ids_read(g, node->nearest_label.labels);
    case IR_WATERSHED:
        return ir_ids_read(g, node->watershed.markers);
    case IR_POINTS:
        return node->of;
    case IR_CARRY:
        return carry_of(g, labels) != NULL ? carry_of(g, labels)->first : 0;
    default:
        return 0;
    }
}

IrId ir_ids_first(const IrGraph *g, IrId labels)
{
    /* As many steps as nodes, since a graph from a file may go round in circles. */
    for (int left = g->nodes.n; left > 0; left--) {
        IrId before = labels_before(g, labels);
        if (before == 0) {
            return labels;
        }
        labels = before;
    }
    return 0;
}

IrId ir_ids_of(const IrGraph *g, IrId labels)
{
    IrId first = ir_ids_first(g, labels);
    bool input = ir_node(g, first)->op == IR_INPUT && ir_node(g, first)->kind == IR_K_LABELS;
    return input ? first : 0;
}

IrId ir_ids_of_column(const IrGraph *g, IrId table, int column)
{
    const IrNode *node = ir_node(g, table);
    bool pairs = node->op == IR_NEAR_PAIRS;
    if (column == 0 || (pairs && column == 1)) {
        return ir_ids_of(g, node->of);
    }
    IrExpr extent = pairs ? 0 : column == 1 ? node->measure.first : node->measure.second;
    const IrExprNode *e = extent != 0 ? ir_expr(g, extent) : NULL;
    return e != NULL && e->op == IR_X_EXTENT ? e->node : 0;
}

static bool is_ids_of(const IrGraph *g, IrId node, IrId input)
{
    return ir_node(g, node)->op == IR_IDS && ir_node(g, node)->of == input;
}

IrExpr ir_ids_numbers(IrGraph *g, IrExpr read)
{
    IrId input = ir_ids_of(g, ir_ids_read(g, read));
    if (input == 0) {
        return read;
    }
    IrId ids = input;
    while (!is_ids_of(g, ids, input)) {
        ids++; /* the frontend puts them behind each other */
    }
    IrExpr none = ir_const_typed(g, 0, ELEM_U32);
    IrExpr sparse = ir_op2(g, IR_X_NE, ir_lookup(g, ids, none), none);
    IrExpr other = ir_op2(g, IR_X_AND, ir_op2(g, IR_X_NE, read, none), sparse);
    return ir_op3(g, IR_X_SELECT, other, ir_lookup(g, ids, read), read);
}

/* ---- settling -------------------------------------------------------------------------- */

typedef struct Settle {
    IrGraph *g;
    bool *wanted, *mixed; /* by input: something is computed by its labels; they meet other labels */
} Settle;

/* A vector is looked up by labels that it is of, by a label that stands in for x, or by numbers. */
static void check_lookup(const IrGraph *g, IrExpr e, void *ctx)
{
    Settle *s = ctx;
    const IrExprNode *n = ir_expr(g, e);
    if (n->op != IR_X_LOOKUP || ir_node(g, n->node)->op == IR_IDS || ir_node(g, n->node)->of == 0) {
        return;
    }
    IrId input = ir_ids_of(g, ir_node(g, n->node)->of);
    IrExpr at = n->a;
    while (ir_expr(g, at)->op == IR_X_CAST) {
        at = ir_expr(g, at)->a;
    }
    if (ir_expr(g, at)->op != IR_X_COORD && ir_ids_of(g, ir_ids_read(g, at)) != input) {
        s->mixed[input] = true;
    }
}

static bool is_by_label(IrOp op)
{
    return op == IR_PERLABEL || op == IR_MEASURE || op == IR_COLUMN || op == IR_POINTS || op == IR_NEAR ||
           op == IR_NEAR_PAIRS || op == IR_TRACK;
}

static void note_node(Settle *s, IrId id)
{
    const IrGraph *g = s->g;
    const IrNode *node = ir_node(g, id);
    if (is_by_label(node->op)) {
        s->wanted[ir_ids_of(g, node->of)] = true;
    }
    if (node->op == IR_CARRY && node->kind == IR_K_LABELS) {
        const IrCarry *carry = carry_of(g, id);
        IrId before = ir_ids_of(g, carry->first), after = ir_ids_of(g, carry->next);
        s->mixed[before] = s->mixed[before] || before != after;
        s->mixed[after] = s->mixed[after] || before != after;
    }
    for (int k = 0; k < NODE_INPUTS; k++) {
        if (node->in[k] != 0) {
            ir_walk(g, node->in[k], check_lookup, s);
        }
    }
}

/* Numbers that are the labels as they are. */
static IrExpr without_lookup(IrGraph *g, IrExpr e, void *ctx)
{
    const Settle *s = ctx;
    const IrExprNode *n = ir_expr(g, e);
    const IrExprNode *b = n->op == IR_X_SELECT ? ir_expr(g, n->b) : NULL;
    if (b == NULL || b->op != IR_X_LOOKUP || ir_node(g, b->node)->op != IR_IDS) {
        return e;
    }
    IrId input = ir_node(g, b->node)->of;
    return s->wanted[input] && !s->mixed[input] ? e : n->c;
}

static void count_lookup(const IrGraph *g, IrExpr e, void *ctx)
{
    bool *used = ctx;
    const IrExprNode *n = ir_expr(g, e);
    used[n->node] = used[n->node] || n->op == IR_X_LOOKUP;
}

void ir_ids_settle(IrGraph *g)
{
    Settle s = {g, arena_array(g->arena, bool, g->nodes.n), arena_array(g->arena, bool, g->nodes.n)};
    bool *used = arena_array(g->arena, bool, g->nodes.n);
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        note_node(&s, id);
    }
    ir_rewrite_all(g, without_lookup, &s);
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        IrNode *node = ir_node(g, id);
        for (int k = 0; k < NODE_INPUTS; k++) {
            if (node->in[k] != 0) {
                ir_walk(g, node->in[k], count_lookup, used);
            }
        }
        bool labels = node->op == IR_INPUT && node->kind == IR_K_LABELS;
        if (labels && s.wanted[id]) {
            node->input.ids = ir_const(g, s.mixed[id] ? IDS_REFUSED : IDS_PLACES);
        }
    }
    for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
        ir_node(g, id)->dead |= ir_node(g, id)->op == IR_IDS && !used[id];
    }
}
