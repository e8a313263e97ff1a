/* read_function: functions of a graph's text, as blocks of statements. */
#include "reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct FnReader {
    Reader *r;
    IrFunction *f;
} FnReader;

static IrFnExpr *fn_expression(FnReader *x);

static int fn_var(FnReader *x, const char *word)
{
    for (int i = 0; i < x->f->vars.n; i++) {
        if (strcmp(x->f->vars.at[i].name, word) == 0) {
            return i;
        }
    }
    read_fail(x->r, "there is no variable '%s'", word);
    return 0;
}

/* The operands of a call or an operator; the name is behind us. */
static void fn_operands(FnReader *x, IrFnExpr **to, int n)
{
    read_expect(x->r, "(");
    for (int i = 0; i < n; i++) {
        if (i > 0) {
            read_expect(x->r, ",");
        }
        to[i] = fn_expression(x);
    }
    read_expect(x->r, ")");
}

static IrFnExpr *fn_call(FnReader *x)
{
    Reader *r = x->r;
    int function = read_function_number(r, read_name(r));
    IrFnExpr *args[IR_FN_MAX_VARS] = {NULL};
    if (read_ok(r)) {
        fn_operands(x, args, r->g->functions.at[function]->n_params);
    }
    return read_ok(r) ? ir_fn_call(r->g, r->g->functions.at[function], args) : NULL;
}

static IrFnExpr *fn_operator(FnReader *x, const char *word)
{
    Reader *r = x->r;
    IrFnExpr *operand[3] = {NULL, NULL, NULL};
    Elem type = elem_from_name(word);
    IrExprOp op = ir_expr_op_from_name(word);
    bool cast = type == ELEM_BOOL || (type >= ELEM_U32 && type <= ELEM_F32);
    int n = cast ? 1 : ir_expr_op_arity(op);
    if (n == 0) {
        read_fail(r, "there is no operator '%s'", word);
    }
    fn_operands(x, operand, n);
    if (!read_ok(r)) {
        return NULL;
    }
    return cast ? ir_fn_cast(r->g, operand[0], type) : ir_fn_op(r->g, op, operand[0], operand[1], operand[2]);
}

/* Functions have no f64. */
static Elem fn_type(Reader *r)
{
    const char *from = r->p;
    Elem type = read_arithmetic(r);
    if (type == ELEM_F64) {
        r->p = from;
        read_fail(r, "expected %s", "bool, i32, u32 or f32");
    }
    return type;
}

static IrFnExpr *fn_constant(FnReader *x)
{
    double v = read_number(x->r);
    read_expect(x->r, ":");
    Elem type = fn_type(x->r);
    return read_ok(x->r) ? ir_fn_const(x->r->g, v, type) : NULL;
}

static IrFnExpr *fn_expression(FnReader *x)
{
    Reader *r = x->r;
    read_skip_blanks(r);
    if (++r->nested > MAX_NESTED) {
        read_fail(r, "the brackets are nested too deeply%s", "");
    }
    bool digits = isdigit((unsigned char)*r->p) || *r->p == '-';
    bool infinite = strncmp(r->p, "inf:", 4) == 0 || strncmp(r->p, "nan:", 4) == 0;
    IrFnExpr *e;
    if (digits || infinite) {
        e = fn_constant(x);
    } else if (read_accept(r, "@")) {
        e = fn_call(x);
    } else {
        const char *word = read_name(r);
        int var = *r->p != '(' ? fn_var(x, word) : 0;
        e = *r->p == '(' ? fn_operator(x, word) : read_ok(r) ? ir_fn_var(r->g, x->f, var) : NULL;
    }
    r->nested--;
    read_skip_blanks(r);
    return e;
}

static IrFnStmt *fn_block(FnReader *x);

static void fn_inner(FnReader *x, IrFnStmt *s)
{
    Reader *r = x->r;
    read_end_line(r);
    if (++r->nested > MAX_NESTED) {
        read_fail(r, "the blocks are nested too deeply%s", "");
    }
    s->body = fn_block(x);
    if (s->kind == IR_FN_IF && read_accept(r, "else")) {
        read_end_line(r);
        s->other = fn_block(x);
    }
    read_expect(r, "end");
    r->nested--;
}

static IrFnExpr *fn_typed(FnReader *x, Elem type)
{
    const char *from = x->r->p;
    IrFnExpr *e = fn_expression(x);
    if (read_ok(x->r) && e->type != type) {
        x->r->p = from;
        read_fail(x->r, "expected an expression of type %s", elem_name(type));
    }
    return e;
}

static bool returns(const IrFnStmt *s)
{
    while (s != NULL && s->next != NULL) {
        s = s->next;
    }
    return s != NULL && (s->kind == IR_FN_RETURN || (s->kind == IR_FN_IF && returns(s->body) && returns(s->other)));
}

static IrFnStmt *fn_statement(FnReader *x)
{
    static const char *const WORDS[] = {[IR_FN_SET] = "set",
                                        [IR_FN_IF] = "if",
                                        [IR_FN_WHILE] = "while",
                                        [IR_FN_FOR] = "for",
                                        [IR_FN_RETURN] = "return"};
    Reader *r = x->r;
    IrFnStmt *s = arena_new(r->arena, IrFnStmt);
    s->kind = (IrFnStmtKind)read_one_of(r, WORDS, IR_FN_RETURN + 1, "a statement");
    if (s->kind == IR_FN_SET || s->kind == IR_FN_FOR) {
        s->var = fn_var(x, read_name(r));
        read_expect(r, s->kind == IR_FN_SET ? "=" : "in");
    }
    bool assigns = s->kind == IR_FN_SET || s->kind == IR_FN_FOR;
    Elem type = assigns && read_ok(r) ? x->f->vars.at[s->var].type : s->kind == IR_FN_RETURN ? x->f->type : ELEM_BOOL;
    s->a = fn_typed(x, type);
    if (s->kind == IR_FN_FOR) {
        read_expect(r, "..");
        s->b = fn_typed(x, type);
    }
    if (s->kind == IR_FN_IF || s->kind == IR_FN_WHILE || s->kind == IR_FN_FOR) {
        fn_inner(x, s);
    }
    read_end_line(r);
    return s;
}

/* Statements up to `else`, `end` or the end of the function. */
static IrFnStmt *fn_block(FnReader *x)
{
    Reader *r = x->r;
    IrFnStmt *first = NULL, **next = &first;
    while (read_ok(r) && read_indented(r)) {
        const char *from = r->p;
        bool ends = read_accept(r, "else") || read_accept(r, "end");
        r->p = from;
        if (ends) {
            break;
        }
        *next = fn_statement(x);
        next = &(*next)->next;
    }
    return first;
}

void read_function(Reader *r)
{
    IrFunction *f = arena_new(r->arena, IrFunction);
    FnReader x = {r, f};
    f->name = read_name(r);
    read_expect(r, ":");
    f->type = fn_type(r);
    read_end_line(r);
    while (read_ok(r) && read_indented(r)) {
        const char *from = r->p;
        bool takes = read_accept(r, "param");
        if (!takes && !read_accept(r, "var")) {
            r->p = from;
            break;
        }
        IrFnVar var = {.name = read_name(r)};
        read_expect(r, ":");
        var.type = fn_type(r);
        read_end_line(r);
        if (f->vars.n == IR_FN_MAX_VARS || (takes && f->n_params != f->vars.n)) {
            read_fail(r, "params come first, and there are at most 64 variables%s", "");
        }
        vec_push(r->arena, &f->vars, var);
        f->n_params += takes;
    }
    f->body = fn_block(&x);
    if (!returns(f->body)) {
        read_fail(r, "function %s does not always return a value", f->name);
    }
    vec_push(r->arena, &r->g->functions, f);
}
