/* read_function: functions of a graph's text, as blocks of statements. */
#include "reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int read_variable(Reader *r)
{
    const char *word = read_name(r);
    for (int i = 0; i < r->function->vars.n; i++) {
        if (strcmp(r->function->vars.at[i].name, word) == 0) {
            return i;
        }
    }
    read_fail(r, "there is no variable '%s'", word);
    return 0;
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

static IrFnStmt *fn_block(Reader *r);

static void fn_inner(Reader *r, IrFnStmt *s)
{
    read_end_line(r);
    if (++r->nested > MAX_NESTED) {
        read_fail(r, "the blocks are nested too deeply%s", "");
    }
    s->body = fn_block(r);
    if (s->kind == IR_FN_IF && read_accept(r, "else")) {
        read_end_line(r);
        s->other = fn_block(r);
    }
    read_expect(r, "end");
    r->nested--;
}

static IrExpr fn_typed(Reader *r, Elem type)
{
    const char *from = r->p;
    IrExpr e = read_expression(r);
    if (read_ok(r) && ir_expr(r->g, e)->type != type) {
        r->p = from;
        read_fail(r, "expected an expression of type %s", elem_name(type));
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

static IrFnStmt *fn_statement(Reader *r)
{
    static const char *const WORDS[] = {[IR_FN_SET] = "set",
                                        [IR_FN_IF] = "if",
                                        [IR_FN_WHILE] = "while",
                                        [IR_FN_FOR] = "for",
                                        [IR_FN_RETURN] = "return"};
    IrFnStmt *s = arena_new(r->arena, IrFnStmt);
    s->kind = (IrFnStmtKind)read_one_of(r, WORDS, IR_FN_RETURN + 1, "a statement");
    if (s->kind == IR_FN_SET || s->kind == IR_FN_FOR) {
        s->var = read_variable(r);
        read_expect(r, s->kind == IR_FN_SET ? "=" : "in");
    }
    bool assigns = s->kind == IR_FN_SET || s->kind == IR_FN_FOR;
    Elem type = assigns && read_ok(r)     ? r->function->vars.at[s->var].type
                : s->kind == IR_FN_RETURN ? r->function->type
                                          : ELEM_BOOL;
    s->a = fn_typed(r, type);
    if (s->kind == IR_FN_FOR) {
        read_expect(r, "..");
        s->b = fn_typed(r, type);
    }
    if (s->kind == IR_FN_IF || s->kind == IR_FN_WHILE || s->kind == IR_FN_FOR) {
        fn_inner(r, s);
    }
    read_end_line(r);
    return s;
}

/* Statements up to `else`, `end` or the end of the function. */
static IrFnStmt *fn_block(Reader *r)
{
    IrFnStmt *first = NULL, **next = &first;
    while (read_ok(r) && read_indented(r)) {
        const char *from = r->p;
        bool ends = read_accept(r, "else") || read_accept(r, "end");
        r->p = from;
        if (ends) {
            break;
        }
        *next = fn_statement(r);
        next = &(*next)->next;
    }
    return first;
}

static void read_forest(Reader *r, const char *name)
{
    double wanted = read_number(r);
    const IrForest *forest = ir_forest(r->arena, read_string(r));
    if (forest == NULL || wanted < 0 || wanted > forest->shape.classes || wanted != floor(wanted)) {
        read_fail(r, "this is no forest, or it has no such class%s", "");
        return;
    }
    read_end_line(r);
    (void)ir_forest_function(r->g, name, forest, (int)wanted);
}

void read_function(Reader *r)
{
    IrFunction *f = arena_new(r->arena, IrFunction);
    r->function = f;
    f->name = read_name(r);
    if (read_accept(r, "forest")) {
        read_forest(r, f->name);
        return;
    }
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
    f->body = fn_block(r);
    if (!returns(f->body)) {
        read_fail(r, "function %s does not always return a value", f->name);
    }
    r->function = NULL;
    vec_push(r->arena, &r->g->functions, f);
}
