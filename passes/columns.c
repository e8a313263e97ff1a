/*
 * columns: what a fold does to each pixel is a stage of its kernel.
 *
 * Where `v = image / 255` was put into a blur of v, each step of the blur divides again: compilers do not see that
 * neighbours divide the same pixels, since quotients branch.  In a kernel that streams over rows, what folds take of one
 * pixel becomes a stage of that kernel, which is computed once for each column of a row that a work-item reads; where
 * the group's rows come through local memory, once for each pixel (codegen/rows_tile.c).  So does what takes long and several of
 * its stages have at the pixel itself.  Such a stage is never stored.
 * This is done last: which stages share a kernel does not depend on it, and the cost counts it so (cost.c).
 *
 * Sums of whole numbers stay as they are: neighbours share them in another way (codegen/rows_extremes.c).
 */
#include "columns.h"

#include "cost.h"
#include "rows.h"

#include "../base/id_map.h"
#include "../ir/apply.h"
#include "../ir/edit.h"
#include "../ir/whole_most.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_WORK = 5,    /* of what is worth a stage, in multiplications */
    LEAST_SHARED = 16, /* of what several stages have at the pixel itself */
    LEAST_STEPS = 5    /* of a fold that is worth one */
};

/* Where an expression looks: not at pixels, at the pixel itself, at one that folds' indices choose, or elsewhere as well. */
typedef struct Looks {
    enum { NOWHERE, HERE, AT_ONE, ELSEWHERE } where;
    IrExpr read; /* HERE, AT_ONE: of the pixel */
    double work;
} Looks;

typedef struct Column {
    IrExpr value;
    IrId stage, reader; /* the first one in the graph */
} Column;
typedef Vec(Column) ColumnList;

typedef struct Columns {
    IrGraph *g;
    IrStep *step;
    IrId reader;        /* the stage that is looked at */
    int place;          /* among those of the step */
    IdMap folds;        /* indices of its folds that are long enough */
    IdMap met;          /* expressions of the step, */
    Vec(int) stages;    /* and how many of its stages have each */
    IdMap known;        /* expressions, */
    Vec(Looks) looks;   /* and where they look */
    ColumnList columns; /* of the step, so far */
} Columns;

static Looks looks_of(const Columns *c, IrExpr e)
{
    const int place = id_map_find(&c->known, e);
    return place >= 0 ? c->looks.at[place] : (Looks){ELSEWHERE, 0, 0};
}

static void know(Columns *c, IrExpr e, Looks looks)
{
    if (id_map_add(&c->known, c->g->arena, e) == c->looks.n) {
        vec_push(c->g->arena, &c->looks, looks);
    }
}

static void find_index(const IrGraph *g, IrExpr e, void *ctx)
{
    const IrExprNode *n = ir_expr(g, e);
    int *index = ctx;
    *index = n->op == IR_X_INDEX && *index < 0 ? (int)n->num : *index;
}

/* Is a read moved by the index of a fold that is long enough? */
static bool is_folded(const Columns *c, const IrExprNode *read)
{
    bool folded = false;
    for (int ax = 0; ax < 3; ax++) {
        int index = -1;
        if (read->child[ax] != 0) {
            ir_walk(c->g, read->child[ax], find_index, &index);
        }
        folded = folded || (index >= 0 && id_map_find(&c->folds, (uint32_t)index) >= 0);
    }
    return folded;
}

static bool is_same_place(const IrGraph *g, IrExpr a, IrExpr b)
{
    const IrExprNode *p = ir_expr(g, a), *q = ir_expr(g, b);
    return p->a == q->a && p->b == q->b && p->c == q->c && p->border == q->border;
}

static Looks looks_of_read(const Columns *c, IrExpr e, const IrExprNode *n)
{
    const bool moved = n->a != 0 || n->b != 0 || n->c != 0;
    const bool channel = n->channel == 0 || ir_expr(c->g, n->channel)->rank <= IR_HOST;
    if (n->rank != IR_PIXEL || !channel || (moved && (n->border == BORDER_CONSTANT || !is_folded(c, n)))) {
        return (Looks){ELSEWHERE, 0, 0};
    }
    return (Looks){moved ? AT_ONE : HERE, e, 0};
}

/* Of an operator, by its operands. */
static Looks looks_of_operator(const Columns *c, const IrExprNode *n, int arity)
{
    Looks all = {.where = NOWHERE, .work = n->op == IR_X_CAST ? 0 : ir_op_work(n->op)};
    for (int i = 0; i < arity; i++) {
        const Looks one = looks_of(c, n->child[i]);
        const bool apart = one.where == ELSEWHERE ||
                           (one.where != NOWHERE && all.where != NOWHERE && !is_same_place(c->g, one.read, all.read));
        all.where = apart ? ELSEWHERE : one.where > all.where ? one.where : all.where;
        all.read = one.where != NOWHERE ? one.read : all.read;
        all.work += one.work;
    }
    return all;
}

static IrExpr take_off(IrGraph *g, IrExpr e, void *ctx)
{
    (void)ctx;
    const IrExprNode n = *ir_expr(g, e);
    const IrExpr none[3] = {0, 0, 0};
    return n.op == IR_X_READ && n.rank == IR_PIXEL ? ir_read_offset(g, n.node, none, n.channel, BORDER_NEAREST, 0) : e;
}

static void add_stage(Columns *c, IrId id)
{
    IrStep *step = c->step;
    vec_push(c->g->arena, &step->stages, id);
    memmove(step->stages.at + c->place + 1, step->stages.at + c->place,
            (size_t)(step->stages.n - 1 - c->place) * sizeof *step->stages.at);
    step->stages.at[c->place++] = id;
}

/* The stage with this value at each pixel, a new one where the step has none. */
static IrId stage_of(Columns *c, IrExpr value)
{
    IrGraph *g = c->g;
    for (int i = 0; i < c->columns.n; i++) {
        Column *there = &c->columns.at[i];
        if (there->value == value) {
            there->reader = c->reader < there->reader ? c->reader : there->reader;
            return there->stage;
        }
    }
    const IrNode *reader = ir_node(g, c->reader);
    IrNode node = {.op = IR_MAP,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_F32,
                   .grid = reader->grid,
                   .name = arena_printf(g->arena, "%s_column%d", reader->name, c->columns.n),
                   .span = reader->span,
                   .loop = reader->loop};
    node.map.value = value;
    const IrId id = ir_add_node(g, node);
    const Column column = {value, id, c->reader};
    vec_push(g->arena, &c->columns, column);
    add_stage(c, id);
    return id;
}

static bool is_shared(const Columns *c, IrExpr e)
{
    const int place = id_map_find(&c->met, e);
    return place >= 0 && c->stages.at[place] > 1;
}

/* A read of the stage that has the value of e, where that is worth one; else e. */
static IrExpr named(Columns *c, IrExpr e)
{
    IrGraph *g = c->g;
    const Looks looks = looks_of(c, e);
    const bool worth = (looks.where == AT_ONE && looks.work >= LEAST_WORK) ||
                       (looks.where == HERE && looks.work >= LEAST_SHARED && is_shared(c, e));
    if (e == 0 || !worth || ir_expr(g, e)->type != ELEM_F32 || c->step->stages.n == PASS_MAX_STAGES) {
        return e;
    }
    const IrExprNode at = *ir_expr(g, looks.read);
    const IrExpr offset[3] = {at.a, at.b, at.c};
    return ir_read_offset(g, stage_of(c, ir_rewrite(g, e, take_off, NULL)), offset, 0, at.border, 0);
}

/* The factors of a product that is added with one rounding stay factors. */
static IrExpr named_in_body(Columns *c, const IrExprNode *fold)
{
    IrExprNode body = *ir_expr(c->g, fold->a);
    if (!fold->fused || body.op != IR_X_MUL) {
        return named(c, fold->a);
    }
    body.a = named(c, body.a);
    body.b = named(c, body.b);
    return ir_intern(c->g, body);
}

static bool is_exact(const IrGraph *g, IrExpr fold)
{
    enum { LARGEST_BYTE = 255 };
    const IrExprNode *n = ir_expr(g, fold);
    return n->fold == IR_FOLD_SUM && ir_whole_most(g, fold, LARGEST_BYTE).value < INFINITY;
}

static IrExpr name_parts(IrGraph *g, IrExpr e, void *ctx)
{
    Columns *c = ctx;
    IrExprNode n = *ir_expr(g, e);
    const int arity = n.op == IR_X_CAST ? 1 : ir_expr_op_arity(n.op);
    Looks looks = {ELSEWHERE, 0, 0};
    if (n.op == IR_X_READ) {
        looks = looks_of_read(c, e, &n);
    } else if (n.op == IR_X_FOLD) {
        n.a = is_exact(g, e) ? n.a : named_in_body(c, &n);
    } else if (arity > 0) {
        looks = looks_of_operator(c, &n, arity);
        const bool whole = looks.where == AT_ONE || (looks.where == HERE && is_shared(c, e));
        for (int i = 0; i < arity && !whole; i++) {
            n.child[i] = named(c, n.child[i]);
        }
    } else if (n.rank < IR_PIXEL && n.rank != IR_INDEX) {
        looks.where = NOWHERE;
    }
    e = ir_intern(g, n);
    know(c, e, looks);
    return e;
}

static void find_long(const IrGraph *g, IrExpr e, void *ctx)
{
    Columns *c = ctx;
    const IrExprNode n = *ir_expr(g, e);
    double lo, hi;
    if (n.op == IR_X_FOLD && n.rank == IR_PIXEL && cost_value(c->g, n.b, &lo) && cost_value(c->g, n.c, &hi) &&
        hi - lo + 1 >= LEAST_STEPS) {
        (void)id_map_add(&c->folds, c->g->arena, (uint32_t)n.num);
    }
}

static void count_stage(const IrGraph *g, IrExpr e, void *ctx)
{
    Columns *c = ctx;
    const int place = id_map_add(&c->met, g->arena, e);
    if (place == c->stages.n) {
        vec_push(g->arena, &c->stages, 0);
    }
    c->stages.at[place]++;
}

static void name_in_step(IrGraph *g, IrStep *step, ColumnList *all)
{
    Columns c = {.g = g, .step = step};
    for (int i = 0; i < step->stages.n; i++) {
        ir_walk(g, ir_node(g, step->stages.at[i])->map.value, count_stage, &c);
    }
    for (c.place = 0; c.place < step->stages.n; c.place++) {
        c.reader = step->stages.at[c.place];
        memset(&c.folds, 0, sizeof c.folds);
        memset(&c.known, 0, sizeof c.known);
        memset(&c.looks, 0, sizeof c.looks);
        ir_walk(g, ir_node(g, c.reader)->map.value, find_long, &c);
        const IrExpr value = ir_rewrite(g, ir_node(g, c.reader)->map.value, name_parts, &c);
        ir_node(g, c.reader)->map.value = ir_node(g, c.reader)->elem == ELEM_F32 ? named(&c, value) : value;
    }
    for (int i = 0; i < c.columns.n; i++) {
        vec_push(g->arena, all, c.columns.at[i]);
    }
}

static void move(IrGraph *g, IrId id, IrId *to)
{
    const IrNode node = *ir_node(g, id);
    to[id] = ir_add_node(g, node);
    ir_node(g, id)->dead = true;
}

/* Nodes stand in the order in which they are computed: from the first reader on all are moved, new ones in front of theirs. */
static void put_in_order(IrGraph *g, const ColumnList *columns, IrId before, IrId *to)
{
    IrId first = before;
    for (int i = 0; i < columns->n; i++) {
        first = columns->at[i].reader < first ? columns->at[i].reader : first;
    }
    for (IrId id = first; id < before; id++) {
        for (int i = 0; i < columns->n; i++) {
            if (columns->at[i].reader == id) {
                move(g, columns->at[i].stage, to);
            }
        }
        if (!ir_node(g, id)->dead && ir_node(g, id)->op != IR_INPUT) {
            move(g, id, to);
        }
    }
    ir_replace_nodes(g, to);
}

static IrId now(const IrId *to, IrId id)
{
    return to[id] != 0 ? to[id] : id;
}

/* The schedule, by the nodes' new numbers. */
static void renumber(IrGraph *g, IrSchedule *s, IrId before, const IrId *to)
{
    const IrSchedule old = *s;
    s->stored = arena_array(g->arena, bool, g->nodes.n);
    s->step = arena_array(g->arena, int, g->nodes.n);
    s->taken_from = arena_array(g->arena, IrId, g->nodes.n);
    s->reduced = arena_array(g->arena, bool, g->nodes.n);
    for (IrId id = 1; id < before; id++) {
        s->stored[now(to, id)] = old.stored[id];
        s->step[now(to, id)] = old.step[id];
        s->taken_from[now(to, id)] = now(to, old.taken_from[id]);
        s->reduced[now(to, id)] = old.reduced[id];
    }
    for (int i = 0; i < s->steps.n; i++) {
        for (int k = 0; k < s->steps.at[i].stages.n; k++) {
            IrId *stage = &s->steps.at[i].stages.at[k];
            *stage = now(to, *stage);
            s->step[*stage] = i;
        }
    }
    for (int i = 0; i < s->remarks.n; i++) {
        IrRemark *r = &s->remarks.at[i];
        r->from = now(to, r->from);
        r->to = now(to, r->to);
    }
}

void pass_name_columns(IrGraph *g, IrSchedule *s)
{
    const IrId before = (IrId)g->nodes.n;
    ColumnList columns = {0};
    for (int i = 0; i < s->steps.n; i++) {
        IrStep *step = &s->steps.at[i];
        if (step->kind == IR_STEP_KERNEL && step->shape == IR_SHAPE_ROWS && step->ahead == 0) {
            name_in_step(g, step, &columns);
        }
    }
    if (columns.n > 0) {
        IrId *to = arena_array(g->arena, IrId, 2 * g->nodes.n);
        put_in_order(g, &columns, before, to);
        renumber(g, s, before, to);
    }
}
