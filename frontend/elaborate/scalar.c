/*
 * scalar: functions whose control flow depends on pixels.
 *
 * Such a function is compiled, for the types of its arguments, to the statements of
 * ir/function.h.  Types of locals are found by compiling again until none of them changes: a
 * local that takes a fraction anywhere is f32 everywhere.  Numbers from outside the function
 * (params, whole-image values) become arguments of their own.
 */
#include "scalar.h"
#include "../syntax/words.h"

#include "../../base/stack.h"
#include "../../ir/apply.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct Local {
    const char *name;
    int var;
    bool loop;    /* a loop's variable: not assignable */
    IrExpr value; /* of a parameter of an inlined function; 0: it is a variable */
    struct Local *up;
} Local;

typedef struct Known { /* a local and the type found so far, in the order of appearance */
    Elem type;
} Known;

typedef struct Compiler {
    Elab *el;
    const AstStmt *fn;
    Scope *env;
    IrFunction *f;
    Local *locals;
    Vec(Known) known;
    Vec(ScalarCapture) captures;
    Vec(double) sizes; /* by expression, as far as asked for: of its text without what it shares */
    int next_local;
    Elem result;
    bool changed, bad;
} Compiler;

static IrExpr compile(Compiler *c, const AstExpr *e);

Elem scalar_type_of_number(double value, bool whole)
{
    bool i32 = value >= elem_min(ELEM_I32) && value <= elem_max(ELEM_I32);
    bool u32 = value >= 0 && value <= elem_max(ELEM_U32);
    return whole && i32 ? ELEM_I32 : whole && u32 ? ELEM_U32 : ELEM_F32;
}

/* ---- names ----------------------------------------------------------------------------- */

static Local *find_local(Compiler *c, const char *name)
{
    for (Local *l = c->locals; l != NULL; l = l->up) {
        if (strcmp(l->name, name) == 0) {
            return l;
        }
    }
    return NULL;
}

/* Several variables of a function may have one name, in loops that follow one another. */
static const char *unique_name(Compiler *c, const char *name)
{
    const char *unique = name;
    for (int k = 2;; k++) {
        bool twice = false;
        for (int i = 0; i < c->f->vars.n; i++) {
            twice = twice || strcmp(c->f->vars.at[i].name, unique) == 0;
        }
        if (!twice) {
            return unique;
        }
        unique = arena_printf(c->el->arena, "%s_%d", name, k);
    }
}

static int add_var(Compiler *c, const char *name, Elem type)
{
    if (c->f->vars.n == IR_FN_MAX_VARS) {
        if (!c->bad) {
            Elab *el = c->el;
            el_error(el, FUNCTION_TOO_BIG, c->fn->name_span, c->fn->name, IR_FN_MAX_VARS);
        }
        c->bad = true;
        return 0;
    }
    IrFnVar var = {unique_name(c, name), type};
    vec_push(c->el->arena, &c->f->vars, var);
    return c->f->vars.n - 1;
}

static Local *add_local(Compiler *c, const char *name, int var)
{
    Local *l = arena_new(c->el->arena, Local);
    *l = (Local){.name = name, .var = var, .up = c->locals};
    c->locals = l;
    return l;
}

/* ---- types ----------------------------------------------------------------------------- */

static Elem join(Elem p, Elem q)
{
    if (p == ELEM_NONE || p == q) {
        return q;
    }
    if (p == ELEM_F32 || q == ELEM_F32) {
        return ELEM_F32;
    }
    return ELEM_I32;
}

static IrExpr broken(Compiler *c)
{
    c->bad = true;
    return ir_const(c->el->g, 0);
}

/* The type of an expression; a constant without one has that of its number. */
static Elem type_of(const Compiler *c, IrExpr e)
{
    const IrExprNode *n = ir_expr(c->el->g, e);
    bool number = n->op == IR_X_CONST && n->type == ELEM_F64;
    return number ? scalar_type_of_number(n->num, n->num == floor(n->num)) : n->type;
}

/* A constant is calculated with in f64, as everywhere, and rounded once where it meets a pixel; 3.0 is one of f32. */
static IrExpr constant(Compiler *c, double value, bool whole)
{
    IrGraph *g = c->el->g;
    return !whole && value == floor(value) ? ir_const_typed(g, value, ELEM_F32) : ir_const(g, value);
}

Elem scalar_arithmetic(Elem e)
{
    switch (e) {
    case ELEM_BOOL:
    case ELEM_U32:
    case ELEM_F32:
        return e;
    case ELEM_F64:
        return ELEM_F32;
    default:
        return ELEM_I32;
    }
}

/* A written type as one of the function's; NONE and a complaint when it is none of them. */
static Elem written_type(Elab *el, const char *type, Span span)
{
    if (strcmp(type, "mask") == 0) {
        return ELEM_BOOL;
    }
    if (strcmp(type, "number") == 0 || strcmp(type, "image") == 0) {
        return ELEM_F32;
    }
    Elem e = elem_from_name(type);
    if (e == ELEM_NONE || e == ELEM_FILE || e == ELEM_F64) {
        Diag *d = el_error(el, UNKNOWN_TYPE, span, type);
        diag_help(el->diags, d, "in a function with control flow types are i32 u32 f32 and bool");
        return ELEM_NONE;
    }
    return scalar_arithmetic(e);
}

/* ---- expressions ------------------------------------------------------------------------ */

/* b is 0 where the operator has one operand. */
static IrExpr make_op(Compiler *c, IrExprOp op, IrExpr a, IrExpr b)
{
    IrGraph *g = c->el->g;
    double x, y = 0;
    IrRule rule = ir_op_rule(op);
    bool numbers = rule == IR_RULE_ARITH || rule == IR_RULE_FLOAT;
    if (numbers && ir_is_const(g, a, &x) && (b == 0 || ir_is_const(g, b, &y))) {
        bool whole = type_of(c, a) != ELEM_F32 && (b == 0 || type_of(c, b) != ELEM_F32);
        return constant(c, ir_apply(op, ELEM_F64, x, y, 0), whole && rule == IR_RULE_ARITH);
    }
    return b != 0 ? ir_op2(g, op, a, b) : ir_op1(g, op, a);
}

static IrExpr variable(Compiler *c, int var)
{
    return ir_local(c->el->g, var, c->f->vars.at[var].type);
}

static IrExpr capture(Compiler *c, const AstExpr *e, Val v)
{
    IrExpr value = v.kind == VAL_NUMBER ? el_pixels(c->el, v, -1, IR_AX_X, e->span) : v.expr;
    for (int i = 0; i < c->captures.n; i++) {
        if (strcmp(c->captures.at[i].name, e->name) == 0) {
            Local *l = find_local(c, e->name);
            return l != NULL ? variable(c, l->var) : ir_const_typed(c->el->g, 0, c->captures.at[i].type);
        }
    }
    bool whole = v.kind == VAL_NUMBER && el_is_integral(c->el, value);
    Elem type = el_is_truth(c->el, v) ? ELEM_BOOL : whole ? ELEM_I32 : ELEM_F32;
    vec_push(c->el->arena, &c->captures, (ScalarCapture){e->name, value, type});
    c->changed = true;
    return ir_const_typed(c->el->g, 0, type); /* the next round has a variable */
}

static IrExpr compile_name(Compiler *c, const AstExpr *e)
{
    Elab *el = c->el;
    Local *l = find_local(c, e->name);
    if (l != NULL) {
        return l->value != 0 ? l->value : variable(c, l->var);
    }
    Binding *b = el_find(c->env, e->name);
    const WordConstant *known = words_constant(e->name);
    if (b == NULL && known != NULL) {
        return constant(c, known->value, false);
    }
    if (b == NULL) {
        Scope *before = el->scope;
        el->scope = c->env;
        el_unknown(el, e->name, e->span);
        el->scope = before;
        return broken(c);
    }
    b->used = true;
    double value;
    if (el_constant(el, b->val, &value) && b->val.unit == NULL) {
        return el_is_truth(el, b->val) ? ir_const_typed(el->g, value, ELEM_BOOL) : ir_const(el->g, value);
    }
    if (el_is_scalar(b->val)) {
        return capture(c, e, b->val);
    }
    if (!el_is_bad(b->val)) {
        Diag *d = el_error(el, IMAGE_IN_SCALAR, e->span, e->name, el_describe(el, b->val));
        diag_help(el->diags, d, "give it to the function as an argument: one pixel at a time");
    }
    return broken(c);
}

static bool want_truth(Compiler *c, IrExpr e, bool truth, Span span)
{
    Elab *el = c->el;
    if ((type_of(c, e) == ELEM_BOOL) == truth || c->bad) {
        return true;
    }
    if (truth) {
        Diag *d = el_error(el, NEEDS_MASK, span, "a number");
        diag_help(el->diags, d, "compare it with something: n > 0");
    } else {
        Diag *d = el_error(el, MASK_AS_NUMBER, span, "a truth value");
        diag_help(el->diags, d, "number(...) is 0 or 1");
    }
    c->bad = true;
    return false;
}

static IrExpr power(Compiler *c, IrExpr a, IrExpr b)
{
    double n = 0;
    (void)ir_is_const(c->el->g, b, &n);
    if (n == 0.5) {
        return make_op(c, IR_X_SQRT, a, 0);
    }
    if (n != floor(n) || n < 1 || n > 8) {
        return make_op(c, IR_X_POW, a, b);
    }
    IrExpr result = 0, square = a;
    for (int k = (int)n; k > 0; k /= 2) {
        if (k % 2 == 1) {
            result = result == 0 ? square : make_op(c, IR_X_MUL, square, result);
        }
        square = k > 1 ? make_op(c, IR_X_MUL, square, square) : square;
    }
    return result;
}

static IrExpr compile_op2(Compiler *c, IrExprOp op, IrExpr a, IrExpr b, const AstExpr *e)
{
    bool logic = op == IR_X_AND || op == IR_X_OR || op == IR_X_XOR;
    bool equality = op == IR_X_EQ || op == IR_X_NE;
    bool truths = type_of(c, a) == ELEM_BOOL && type_of(c, b) == ELEM_BOOL;
    if (op == IR_X_POW) {
        return power(c, a, b);
    }
    if (equality && truths) {
        return ir_op2(c->el->g, op, ir_cast(c->el->g, a, ELEM_I32), ir_cast(c->el->g, b, ELEM_I32));
    }
    bool fine = want_truth(c, a, logic, e->a->span);
    fine = want_truth(c, b, logic, e->b->span) && fine;
    return fine ? make_op(c, op, a, b) : broken(c);
}

static IrExpr compile_unary(Compiler *c, const AstExpr *e)
{
    IrExpr a = compile(c, e->a);
    bool negates = strcmp(e->op, "not") == 0;
    if (!want_truth(c, a, negates, e->a->span)) {
        return a;
    }
    return make_op(c, negates ? IR_X_NOT : IR_X_NEG, a, 0);
}

static IrExpr compile_cond(Compiler *c, const AstExpr *e)
{
    IrExpr cond = compile(c, e->b), a = compile(c, e->a), b = compile(c, e->c);
    want_truth(c, cond, true, e->b->span);
    want_truth(c, b, type_of(c, a) == ELEM_BOOL, e->c->span);
    return c->bad ? cond : ir_op3(c->el->g, IR_X_SELECT, cond, a, b);
}

static int compile_args(Compiler *c, const AstExpr *e, IrExpr args[SCALAR_MAX_ARGS])
{
    int n = 0;
    for (const AstArg *a = e->args; a != NULL && n < SCALAR_MAX_ARGS; a = a->next) {
        args[n++] = compile(c, a->value);
    }
    return n;
}

/* i32(x) and the like: rounded to even and saturated. */
static IrExpr convert_number(Compiler *c, IrExpr v, Elem to)
{
    IrGraph *g = c->el->g;
    if (!elem_is_integer(to) || to == ELEM_BOOL) {
        return ir_cast(g, v, scalar_arithmetic(to));
    }
    return ir_saturate(g, type_of(c, v) == ELEM_BOOL ? ir_cast(g, v, ELEM_I32) : v, to);
}

static IrExpr call_op(Compiler *c, const Op *op, const AstExpr *e)
{
    Elab *el = c->el;
    IrExpr args[SCALAR_MAX_ARGS];
    int n = compile_args(c, e, args);
    Elem to = elem_from_name(op->name);
    if (to != ELEM_NONE && n == 1) {
        return convert_number(c, args[0], to);
    }
    if (strcmp(op->name, "number") == 0 && n == 1) {
        return type_of(c, args[0]) == ELEM_BOOL ? ir_cast(el->g, args[0], ELEM_I32) : args[0];
    }
    IrExprOp x = ir_expr_op_from_name(op->name);
    int arity = x != IR_X_NONE ? ir_expr_op_arity(x) : 0;
    if (arity == 1 && n == 1) {
        return make_op(c, x, args[0], 0);
    }
    if (arity == 2 && n >= 2) {
        IrExpr v = args[0];
        for (int i = 1; i < n; i++) {
            v = make_op(c, x, v, args[i]);
        }
        return v;
    }
    Diag *d = el_error(el, NOT_IN_SCALAR, e->word, op->name);
    diag_help(el->diags, d,
              "inside a function with control flow there is one pixel only: "
              "arithmetic, sqrt, min and the like");
    return broken(c);
}

static IrExpr compile_default(Compiler *c, const AstStmt *fn, const AstName *p, Span span)
{
    Default own;
    if (!el_begin_default(c->el, fn, p, &own, span)) {
        return broken(c);
    }
    IrExpr v = compile(c, p->value);
    c->el->defaults = own.up;
    return v;
}

static double size_of(Compiler *c, IrExpr e)
{
    while (c->sizes.n <= (int)e) {
        vec_push(c->el->arena, &c->sizes, 0);
    }
    if (c->sizes.at[e] == 0) {
        const IrExprNode n = *ir_expr(c->el->g, e);
        double size = 1;
        for (int i = 0; i < IR_CHILDREN; i++) {
            size += n.child[i] != 0 ? size_of(c, n.child[i]) : 0;
        }
        c->sizes.at[e] = size;
    }
    return c->sizes.at[e];
}

static IrExpr call_inline(Compiler *c, const AstStmt *fn, const AstExpr *e)
{
    Elab *el = c->el;
    IrExpr args[SCALAR_MAX_ARGS];
    int n = compile_args(c, e, args), i = 0;
    if (c->bad || !el_may_expand(el, fn, e->word)) {
        return broken(c);
    }
    Local *before = c->locals, *mine = NULL;
    for (const AstName *p = fn->names; p != NULL; p = p->next, i++) {
        IrExpr v = i < n ? args[i] : p->value != NULL ? compile_default(c, fn, p, e->word) : 0;
        if (v == 0) {
            el_error(el, MISSING_ARGUMENT, e->word, fn->name, p->name);
            return broken(c);
        }
        Local *l = arena_new(el->arena, Local);
        *l = (Local){.name = p->name, .value = v, .up = mine};
        mine = l;
    }
    Frame frame = {fn, el->frame};
    el->frame = &frame;
    c->locals = mine;
    IrExpr v = compile(c, fn->a);
    c->locals = before;
    el->frame = frame.up;
    if (size_of(c, v) > ELAB_MAX_EXPANDED && !c->bad) {
        el_expands_too_much(el, e->word);
        return broken(c);
    }
    return v;
}

static IrExpr call_compiled(Compiler *c, const AstStmt *fn, Scope *env, const AstExpr *e)
{
    Elab *el = c->el;
    IrExpr args[SCALAR_MAX_ARGS + 32];
    Elem types[SCALAR_MAX_ARGS];
    int n = compile_args(c, e, args), n_captures;
    ScalarCapture *captures;
    for (int i = 0; i < n; i++) {
        types[i] = type_of(c, args[i]);
    }
    if (c->bad) {
        return broken(c);
    }
    Frame frame = {c->fn, el->frame};
    el->frame = &frame;
    IrFunction *f = scalar_function(el, fn, env, types, n, e->word, &captures, &n_captures);
    el->frame = frame.up;
    if (f == NULL) {
        return broken(c);
    }
    for (int i = 0; i < n_captures && n < SCALAR_MAX_ARGS + 32; i++) {
        AstExpr name = {.kind = AST_NAME, .name = captures[i].name, .span = e->word};
        args[n++] = compile_name(c, &name);
    }
    for (int i = 0; i < n; i++) {
        args[i] = ir_cast(el->g, args[i], f->vars.at[i].type);
    }
    return ir_call(el->g, scalar_index(el, f), args, n);
}

static IrExpr compile_call(Compiler *c, const AstExpr *e)
{
    Elab *el = c->el;
    if (e->a != NULL) {
        return compile_call(c, el_without_dot(el, e));
    }
    Binding *b = el_find(c->env, e->name);
    if (b != NULL && b->val.kind == VAL_FUNCTION && b->val.fn != NULL) {
        b->used = true;
        el_mark_called(el, b->val.fn);
        return b->val.fn->a != NULL ? call_inline(c, b->val.fn, e) : call_compiled(c, b->val.fn, b->val.env, e);
    }
    const Op *op = ops_find(el->ops, e->name);
    if (op != NULL) {
        return call_op(c, op, e);
    }
    el_unknown_operator(el, e);
    return broken(c);
}

static IrExpr compile_any(Compiler *c, const AstExpr *e)
{
    Elab *el = c->el;
    switch (e->kind) {
    case AST_NUMBER:
        return constant(c, e->num, e->is_int);
    case AST_BOOL:
        return ir_const_typed(el->g, e->num, ELEM_BOOL);
    case AST_NAME:
        return compile_name(c, e);
    case AST_UNARY:
        return compile_unary(c, e);
    case AST_BINARY: {
        IrExpr a = compile(c, e->a), b = compile(c, e->b);
        return compile_op2(c, el_binary_op(e->op), a, b, e);
    }
    case AST_COND:
        return compile_cond(c, e);
    case AST_CALL:
        return compile_call(c, e);
    case AST_ERROR:
        return broken(c);
    default: {
        Diag *d = el_error(el, NOT_IN_SCALAR, e->span, "this");
        diag_help(el->diags, d,
                  "inside a function with control flow there is one pixel only: "
                  "arithmetic, sqrt, min and the like");
        return broken(c);
    }
    }
}

static IrExpr compile(Compiler *c, const AstExpr *e)
{
    IrExpr v = stack_is_low() ? 0 : compile_any(c, e);
    bool deep = v == 0 || ir_expr(c->el->g, v)->depth > ELAB_MAX_BRACKETS;
    if (deep && !c->bad) {
        Diag *d = el_error(c->el, TOO_DEEP, e->span, "");
        diag_help(c->el->diags, d, "in a function with control flow an expression is at most %d operators deep",
                  ELAB_MAX_BRACKETS);
    }
    return deep ? broken(c) : v;
}

/* ---- statements ------------------------------------------------------------------------- */

static IrFnStmt *compile_block(Compiler *c, const AstStmt *s);

static IrFnStmt *new_stmt(Compiler *c, IrFnStmtKind kind)
{
    IrFnStmt *st = arena_new(c->el->arena, IrFnStmt);
    st->kind = kind;
    return st;
}

/* The type found for a new local in the last round; NONE in the first. */
static Elem *known_type(Compiler *c)
{
    if (c->next_local == c->known.n) {
        vec_push(c->el->arena, &c->known, (Known){ELEM_NONE});
    }
    return &c->known.at[c->next_local++].type;
}

static void widen(Compiler *c, Elem *known, Elem type)
{
    Elem joined = join(*known, type);
    c->changed = c->changed || joined != *known;
    *known = joined;
}

static IrFnStmt *compile_assign(Compiler *c, const AstStmt *s)
{
    Elab *el = c->el;
    IrExpr v = compile(c, s->a);
    Local *l = find_local(c, s->name);
    if (l != NULL && l->loop) {
        Diag *d = el_error(el, LOOP_VARIABLE, s->name_span, s->name);
        diag_help(el->diags, d, "use a while loop, or another name");
        c->bad = true;
        return NULL;
    }
    if (l == NULL) {
        Elem *known = known_type(c);
        widen(c, known, type_of(c, v));
        l = add_local(c, s->name, add_var(c, s->name, *known));
    } else if (l->var >= c->f->n_params) {
        int slot = l->var - c->f->n_params;
        widen(c, &c->known.at[slot].type, type_of(c, v));
    }
    Elem have = c->f->vars.at[l->var].type;
    if ((have == ELEM_BOOL) != (type_of(c, v) == ELEM_BOOL) && !c->bad && !c->changed) {
        el_error(el, LOCAL_CHANGES, s->name_span, s->name);
        c->bad = true;
    }
    IrFnStmt *st = new_stmt(c, IR_FN_SET);
    st->var = l->var;
    st->a = ir_cast(el->g, v, have);
    return st;
}

/* A bound as i32: a / b of whole numbers is the floor, and fractions are rounded inwards. */
static IrExpr compile_bound(Compiler *c, const AstExpr *e, bool upper)
{
    IrGraph *g = c->el->g;
    IrExpr v;
    if (e->kind == AST_BINARY && strcmp(e->op, "/") == 0) {
        IrExpr a = compile(c, e->a), b = compile(c, e->b);
        bool whole = type_of(c, a) != ELEM_F32 && type_of(c, b) != ELEM_F32;
        v = make_op(c, whole ? IR_X_FLOORDIV : IR_X_DIV, a, b);
    } else {
        v = compile(c, e);
    }
    want_truth(c, v, false, e->span);
    if (type_of(c, v) == ELEM_F32) {
        v = make_op(c, upper ? IR_X_FLOOR : IR_X_CEIL, v, 0);
    }
    v = ir_cast(g, v, ELEM_I32);
    /* The loop's variable goes one past its last value, which must not overflow. */
    const IrExprNode *n = ir_expr(g, v);
    double number;
    bool halved = n->op == IR_X_FLOORDIV && ir_is_const(g, n->b, &number) && number >= 2;
    bool small = ir_is_const(g, v, &number) && number < elem_max(ELEM_I32);
    return upper && !halved && !small ? ir_op2(g, IR_X_MIN, v, ir_const(g, elem_max(ELEM_I32) - 1)) : v;
}

static IrFnStmt *compile_for(Compiler *c, const AstStmt *s)
{
    IrFnStmt *st = new_stmt(c, IR_FN_FOR);
    st->a = compile_bound(c, s->lo, false);
    st->b = compile_bound(c, s->hi, true);
    Local *before = c->locals;
    *known_type(c) = ELEM_I32;
    Local *l = add_local(c, s->name, add_var(c, s->name, ELEM_I32));
    l->loop = true;
    st->var = l->var;
    st->body = compile_block(c, s->body);
    /* Names that the body made stay; the loop's own variable goes. */
    l->name = "";
    (void)before;
    return st;
}

static IrFnStmt *compile_return(Compiler *c, const AstStmt *s)
{
    IrExpr v = compile(c, s->a);
    if (c->fn->type == NULL) {
        widen(c, &c->result, type_of(c, v));
    }
    if ((c->result == ELEM_BOOL) != (type_of(c, v) == ELEM_BOOL) && !c->bad) {
        Elab *el = c->el;
        el_error(el, RETURN_TYPE, s->a->span, c->fn->name, elem_name(c->result), elem_name(type_of(c, v)));
        c->bad = true;
    }
    IrFnStmt *st = new_stmt(c, IR_FN_RETURN);
    st->a = ir_cast(c->el->g, v, c->result);
    return st;
}

static IrFnStmt *compile_control(Compiler *c, const AstStmt *s)
{
    IrFnStmt *st = new_stmt(c, s->kind == AST_IF ? IR_FN_IF : IR_FN_WHILE);
    st->a = compile(c, s->a);
    want_truth(c, st->a, true, s->a->span);
    st->body = compile_block(c, s->body);
    st->other = s->other != NULL ? compile_block(c, s->other) : NULL;
    return st;
}

static IrFnStmt *compile_stmt(Compiler *c, const AstStmt *s)
{
    Elab *el = c->el;
    switch (s->kind) {
    case AST_ASSIGN:
        return compile_assign(c, s);
    case AST_FOR:
        return compile_for(c, s);
    case AST_IF:
    case AST_WHILE:
        return compile_control(c, s);
    case AST_RETURN:
        return compile_return(c, s);
    default: {
        Diag *d = el_error(el, NOT_IN_SCALAR, s->span, "this statement");
        diag_help(el->diags, d,
                  "a function with control flow assigns, loops with for and while, "
                  "and returns");
        c->bad = true;
        return NULL;
    }
    }
}

static IrFnStmt *compile_block(Compiler *c, const AstStmt *s)
{
    IrFnStmt *first = NULL, **end = &first;
    for (; s != NULL && c->f->vars.n < IR_FN_MAX_VARS + !c->bad; s = s->next) { /* it has become too big */
        IrFnStmt *st = compile_stmt(c, s);
        if (st != NULL) {
            *end = st;
            end = &st->next;
        }
    }
    return first;
}

static bool always_returns(const AstStmt *s)
{
    for (; s != NULL; s = s->next) {
        bool both = s->kind == AST_IF && s->other != NULL && always_returns(s->body) && always_returns(s->other);
        if (s->kind == AST_RETURN || both) {
            return true;
        }
    }
    return false;
}

/* ---- whole functions -------------------------------------------------------------------- */

/* One round of compiling with the types and captures known so far. */
static void compile_once(Compiler *c, const Elem *types, int n_types)
{
    Elab *el = c->el;
    int i = 0;
    c->f = arena_new(el->arena, IrFunction);
    c->locals = NULL;
    c->changed = false;
    c->next_local = 0;
    for (const AstName *p = c->fn->names; p != NULL && i < n_types; p = p->next, i++) {
        add_local(c, p->name, add_var(c, p->name, types[i]));
    }
    for (int k = 0; k < c->captures.n; k++) {
        add_local(c, c->captures.at[k].name, add_var(c, c->captures.at[k].name, c->captures.at[k].type));
    }
    c->f->n_params = c->f->vars.n;
    c->f->body = compile_block(c, c->fn->body);
    c->f->type = c->result;
}

static const char *function_name(Elab *el, const char *name)
{
    const char *unique = name;
    for (int k = 2;; k++) {
        bool taken = false;
        for (int i = 0; i < el->g->functions.n; i++) {
            taken = taken || strcmp(el->g->functions.at[i]->name, unique) == 0;
        }
        if (!taken) {
            return unique;
        }
        unique = arena_printf(el->arena, "%s_%d", name, k);
    }
}

int scalar_index(const Elab *el, const IrFunction *f)
{
    int i = 0;
    while (el->g->functions.at[i] != f) {
        i++;
    }
    return i;
}

/* The types of the parameters: as written, else as given; false after a complaint. */
static bool param_types(Elab *el, const AstStmt *fn, const Elem *given, int n, Elem *types, Span span)
{
    int i = 0;
    for (const AstName *p = fn->names; p != NULL; p = p->next, i++) {
        if (i >= n || i >= SCALAR_MAX_ARGS) {
            el_error(el, MISSING_ARGUMENT, span, fn->name, p->name);
            return false;
        }
        types[i] = p->type != NULL ? written_type(el, p->type, p->type_span) : scalar_arithmetic(given[i]);
        if (types[i] == ELEM_NONE) {
            return false;
        }
    }
    if (i < n) {
        el_error(el, TOO_MANY_ARGUMENTS, span, fn->name, i);
        return false;
    }
    return true;
}

static bool same_types(const Compiled *have, const AstStmt *fn, const Elem *types, int n)
{
    if (have->fn != fn || have->n_types != n) {
        return false;
    }
    return memcmp(have->types, types, sizeof *types * (size_t)n) == 0;
}

IrFunction *scalar_function(Elab *el, const AstStmt *fn, Scope *env, const Elem *given, int n, Span span,
                            ScalarCapture **captures, int *n_captures)
{
    Elem types[SCALAR_MAX_ARGS];
    for (const Frame *f = el->frame; f != NULL; f = f->up) {
        if (f->fn == fn) {
            Diag *d = el_error(el, RECURSION, span, fn->name);
            diag_help(el->diags, d, "write a loop: while or for");
            return NULL;
        }
    }
    if (!param_types(el, fn, given, n, types, span)) {
        return NULL;
    }
    for (int i = 0; i < el->compiled.n; i++) {
        const Compiled *have = &el->compiled.at[i];
        if (same_types(have, fn, types, n)) {
            *captures = have->captures;
            *n_captures = have->n_captures;
            return have->f;
        }
    }
    Compiler c = {.el = el, .fn = fn, .env = env};
    c.result = fn->type != NULL ? written_type(el, fn->type, fn->type_span) : ELEM_NONE;
    if (fn->type != NULL && c.result == ELEM_NONE) {
        return NULL;
    }
    if (!always_returns(fn->body)) {
        Diag *d = el_error(el, MISSING_RETURN, fn->name_span, fn->name);
        el_help_return(el, d, fn);
        return NULL;
    }
    do {
        compile_once(&c, types, n);
    } while (c.changed && !c.bad);
    if (c.bad) {
        return NULL;
    }
    c.f->name = function_name(el, fn->name);
    vec_push(el->arena, &el->g->functions, c.f);
    Compiled done = {.fn = fn,
                     .f = c.f,
                     .n_types = n,
                     .captures = c.captures.at,
                     .n_captures = c.captures.n,
                     .index = el->g->functions.n - 1};
    memcpy(done.types, types, sizeof *types * (size_t)n);
    vec_push(el->arena, &el->compiled, done);
    *captures = c.captures.at;
    *n_captures = c.captures.n;
    return c.f;
}
