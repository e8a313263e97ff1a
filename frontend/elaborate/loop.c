/*
 * loop: repeat.
 *
 * A name that has a value before the loop and gets a new one inside is carried: a CARRY node
 * starts as the value before and takes the new one at the end of each round.  `until` is
 * evaluated at the end of a round, where names stand for the new values.
 */
#include "elab.h"

#include <math.h>
#include <string.h>

typedef struct Carried {
    const char *name;
    Span span;
    IrId carry, first;
} Carried;

typedef Vec(Carried) CarriedList;

/* Adds the names assigned in the body that have a value here, each once. */
static void collect(Elab *el, const AstStmt *s, CarriedList *list)
{
    for (; s != NULL; s = s->next) {
        if (s->kind != AST_FN) {
            collect(el, s->body, list);
            collect(el, s->other, list);
        }
        if (s->kind != AST_ASSIGN || el_find_here(el->scope, s->name) == NULL) {
            continue;
        }
        bool known = false;
        for (int i = 0; i < list->n; i++) {
            known = known || strcmp(list->at[i].name, s->name) == 0;
        }
        if (!known) {
            vec_push(el->arena, list, (Carried){.name = s->name, .span = s->name_span});
        }
    }
}

static const char *named(Elab *el, const char *name, const char *suffix)
{
    const char *full = el->depth > 0 ? el_hint(el, name) : name;
    return suffix[0] != '\0' ? arena_printf(el->arena, "%s_%s", full, suffix) : full;
}

static IrId add_named(Elab *el, IrNode node, const char *name, Span span)
{
    const char *hint = el->hint;
    el->hint = NULL;
    IrId id = el_add(el, node, name, span);
    el->hint = hint;
    return id;
}

static IrId scalar_node(Elab *el, IrExpr value, const char *name, Span span)
{
    IrNode node = {.op = IR_SCALAR, .kind = IR_K_VALUE, .elem = ELEM_F64, .scalar.value = {value}};
    return add_named(el, node, name, span);
}

/* The node that the carry starts as, and the carry itself; false after a complaint. */
static bool start(Elab *el, Carried *c)
{
    const Binding *b = el_find_here(el->scope, c->name);
    Val v = b->val;
    const char *first = named(el, c->name, "first");
    if (el_is_bad(v)) {
        return false;
    }
    if (el_is_scalar(v) && !el_is_truth(el, v)) {
        IrExpr value = v.kind == VAL_NUMBER ? el_pixels(el, v, -1, IR_AX_X, b->span) : v.expr;
        c->first = scalar_node(el, value, first, b->span);
        return true;
    }
    if (v.kind != VAL_IMAGE) {
        Diag *d = el_error(el, CARRY_KIND, c->span, c->name, el_describe(el, v));
        diag_note(el->diags, d, b->span, "its value before the loop is given here");
        diag_help(el->diags, d,
                  "numbers, whole-image values and images can change from round to "
                  "round");
        return false;
    }
    IrId node;
    bool plain = el_plain_read(el, v.expr, &node);
    Elem type = ir_expr(el->g, v.expr)->type;
    bool as_is = plain && ir_node(el->g, node)->elem == type && el->lies.at[node] == v.grid;
    if (!as_is) {
        node = el_store_as(el, v, first, b->span);
    }
    c->first = node;
    return true;
}

static void add_carry(Elab *el, Carried *c)
{
    const IrNode *first = ir_node(el->g, c->first);
    IrNode node = {.op = IR_CARRY, .kind = first->kind, .elem = first->elem, .grid = el->lies.at[c->first]};
    c->carry = add_named(el, node, named(el, c->name, ""), c->span);
    Binding *b = el_find_here(el->scope, c->name);
    b->val = el_node(el, c->carry);
}

/* The node that the carry becomes at the end of a round; 0 after a complaint. */
static IrId next_node(Elab *el, const Carried *c)
{
    const Binding *b = el_find_here(el->scope, c->name);
    const IrNode carry = *ir_node(el->g, c->carry);
    Val v = b->val;
    if (el_is_bad(v)) {
        return 0;
    }
    bool value = carry.kind == IR_K_VALUE;
    bool fits = value ? el_is_scalar(v) && !el_is_truth(el, v) : v.kind == VAL_IMAGE && v.image == carry.kind;
    if (!fits) {
        Val before = el_node(el, c->carry);
        Diag *d = el_error(el, CARRY_CHANGES, b->span, c->name, el_describe(el, before), el_describe(el, v));
        diag_help(el->diags, d, "what is assigned in a loop has the kind that it had before");
        return 0;
    }
    if (value) {
        const IrExprNode *e = ir_expr(el->g, v.expr);
        const IrNode *of = e->op == IR_X_VALUE && e->num == 0 ? ir_node(el->g, e->node) : NULL;
        bool as_is = of != NULL && of->kind == IR_K_VALUE && of->op != IR_CARRY; /* labels have a number, too */
        return as_is ? e->node : scalar_node(el, v.expr, named(el, c->name, "next"), b->span);
    }
    Val both[2] = {el_node(el, c->carry), v};
    Elem type = ir_expr(el->g, v.expr)->type;
    if (!el_meet(el, both, 2, b->span)) {
        return 0;
    }
    bool same_axes = both[0].grid == both[1].grid && el->grids.at[both[0].grid].extents == carry.grid;
    bool widens = carry.elem == ELEM_F32 && (type == ELEM_I32 || type == ELEM_U32);
    if (!same_axes || (type != carry.elem && !widens)) {
        Diag *d =
            el_error(el, CARRY_CHANGES, b->span, c->name, el_describe(el, el_node(el, c->carry)), el_describe(el, v));
        diag_help(el->diags, d, "start it with the type that it has later: f32(%s)", c->name);
        return 0;
    }
    both[1].expr = ir_cast(el->g, both[1].expr, carry.elem);
    both[1].image = v.image;
    IrId id = el_store(el, both[1], "next", b->span);
    /* A node that is stored otherwise (an input's own type, on the grid of another image) or older than this round is copied. */
    const IrNode *node = ir_node(el->g, id);
    if (node->elem != carry.elem || node->op == IR_INPUT || node->grid != carry.grid) {
        id = el_store_as(el, both[1], named(el, c->name, "next"), b->span);
    }
    return id;
}

static bool read_count(Elab *el, const AstStmt *s, IrLoop *loop)
{
    double n;
    bool until = s->kind == AST_UNTIL;
    const AstExpr *e = until ? s->b : s->a;
    IrExpr count = el_host_number(el, e, "the number of rounds");
    if (count != 0 && ir_is_const(el->g, count, &n) && !(n >= 1 && n <= INT32_MAX && n == floor(n))) {
        el_error(el, BAD_ROUNDS, e->span, n);
        return false;
    }
    el_note_index(el, count);
    *(until ? &loop->at_most : &loop->count) = count;
    return count != 0;
}

static void read_until(Elab *el, const AstStmt *s, int id)
{
    Val v = el_expr(el, s->a);
    if (el_is_bad(v)) {
        return;
    }
    if (v.kind != VAL_UNIFORM) {
        Diag *d = el_error(el, UNTIL_NOT_VALUE, s->a->span, el_describe(el, v));
        diag_help(el->diags, d,
                  v.kind == VAL_IMAGE ? "watch a value of it: repeat until sum(%s) is stable, at "
                                        "most 100"
                                      : "a number never changes; use: repeat 20%.0s",
                  el_words(el, s->a->span));
        return;
    }
    el_note_index(el, v.expr);
    el->g->loops.at[id].until = v.expr;
}

/* Is there a round whatever the params are?  A wrong number of rounds was told. */
static bool has_round(const Elab *el, const IrLoop *loop)
{
    IrExpr count = loop->count != 0 ? loop->count : loop->at_most;
    const IrExprNode *n = ir_expr(el->g, count);
    return count == 0 || (n->op == IR_X_PARAM ? el->g->params.at[(int)n->num].lo >= 1 : n->op == IR_X_CONST);
}

/* Selections made inside cannot be used after: their masks read values that have moved on.  What is not carried has a value
 * where there was a round. */
static void lose_names(Elab *el, int id, const CarriedList *list)
{
    bool round = has_round(el, &el->g->loops.at[id]);
    for (Binding *b = el->scope->first; b != NULL; b = b->next) {
        bool carried = false;
        for (int i = 0; i < list->n; i++) {
            carried = carried || strcmp(list->at[i].name, b->name) == 0;
        }
        if (b->loop == id && b->val.kind == VAL_SELECTION) {
            b->lost = LOST_SELECTION;
        } else if (b->loop == id && !carried && !round && b->lost == KEPT) {
            b->lost = LOST_WITHOUT_ROUND;
        }
    }
}

bool el_is_lost(Elab *el, const Binding *b, Span span)
{
    if (b->lost == LOST_SELECTION) {
        Diag *d = el_error(el, LOST_SELECTION, span, b->name);
        diag_note(el->diags, d, b->span, "`%s` is selected here, inside the loop", b->name);
        diag_help(el->diags, d, "select again after the loop");
    } else if (b->lost == LOST_WITHOUT_ROUND) {
        Diag *d = el_error(el, WITHOUT_ROUND, span, b->name);
        diag_note(el->diags, d, b->span, "`%s` is given a value here, inside the loop", b->name);
        diag_help(el->diags, d, "give `%s` a value before the loop, or the param a range: param rounds = 3 in 1 .. 100",
                  b->name);
    }
    return b->lost != KEPT;
}

static void body(Elab *el, const AstStmt *s, int id, const CarriedList *list)
{
    Val result = el_err();
    el->loop = id;
    for (int i = 0; i < list->n; i++) {
        add_carry(el, &list->at[i]);
        IrCarry carry = {list->at[i].carry, list->at[i].first, 0};
        vec_push(el->arena, &el->g->loops.at[id].carries, carry);
    }
    el_block(el, s->body, &result);
    for (int i = 0; i < list->n; i++) {
        Carried *c = &list->at[i];
        IrId next = next_node(el, c);
        if (next != 0) {
            el->g->loops.at[id].carries.at[i].next = next;
            Binding *b = el_find_here(el->scope, c->name);
            b->val = ir_node(el->g, next)->kind == IR_K_VALUE ? b->val : el_node(el, next);
        }
    }
    if (s->kind == AST_UNTIL) {
        read_until(el, s, id);
    }
}

void el_loop(Elab *el, const AstStmt *s)
{
    CarriedList list = {0};
    IrLoop loop = {.parent = el->loop};
    bool fine = read_count(el, s, &loop);
    collect(el, s->body, &list);
    for (int i = 0; i < list.n; i++) {
        fine = start(el, &list.at[i]) && fine;
    }
    if (!fine) {
        for (int i = 0; i < list.n; i++) {
            el_find_here(el->scope, list.at[i].name)->val = el_err();
        }
        list.n = 0;
    }
    if (list.n == 0 && fine) {
        Diag *d = el_error(el, LOOP_WITHOUT_CARRY, s->span, "");
        diag_help(el->diags, d, "assign inside the loop to a name that has a value before it");
    }
    vec_push(el->arena, &el->g->loops, loop);
    int id = el->g->loops.n - 1, outer = el->loop;
    body(el, s, id, &list);
    el->loop = outer;
    lose_names(el, id, &list);
    for (int i = 0; i < list.n; i++) {
        Binding *b = el_find_here(el->scope, list.at[i].name);
        b->val = el_node(el, list.at[i].carry);
        b->used = b->used || el->depth > 0;
    }
}
