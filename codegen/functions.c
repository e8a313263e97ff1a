/*
 * functions: the functions with control flow that a kernel calls, as OpenCL C in front of it.
 *
 * Expressions are written as those of a pixel are (expr.c).  What one of them uses twice gets a name in front of its
 * statement; the condition of a `while`, which is computed in each turn, then stands inside the loop.
 */
#include "kernel.h"

#include "../base/user_text.h"
#include "../ir/function.h"

#include <string.h>

static void print_block(CgContext *cx, const IrFnStmt *s);

/* How locals become text. */
static const char *variable(const CgContext *cx, int var)
{
    const IrFunction *f = cx->user;
    return user_name(cx->k->arena, f->vars.at[var].name);
}

static const char *read_local(CgContext *cx, IrExpr local)
{
    return variable(cx, (int)ir_expr(cx->k->g, local)->num);
}

static const char *text_of(CgContext *cx, IrExpr e)
{
    cx->memo.n = 0;
    cg_forget_uses(cx);
    cg_count_uses(cx, e);
    return cg_bare(cx->k->arena, cg_expr(cx, e));
}

static void print_body(CgContext *cx, const IrFnStmt *s)
{
    cx->indent++;
    print_block(cx, s);
    cx->indent--;
}

static void print_if(CgContext *cx, const IrFnStmt *s)
{
    cg_line(cx, "if (%s) {", text_of(cx, s->a));
    print_body(cx, s->body);
    if (s->other != NULL) {
        cg_line(cx, "} else {");
        print_body(cx, s->other);
    }
    cg_line(cx, "}");
}

static void print_while(CgContext *cx, const IrFnStmt *s)
{
    Str names, *out = cx->out;
    str_init(&names, cx->k->arena);
    cx->out = &names;
    cx->indent++;
    const char *condition = text_of(cx, s->a);
    cx->indent--;
    cx->out = out;
    bool named = names.n > 0;
    cg_line(cx, "while (%s) {", named ? "true" : condition);
    str_add(out, names.at);
    if (named) {
        cg_line(cx, "    if (!(%s)) {\n%*s        break;\n%*s    }", condition, 4 * cx->indent, "", 4 * cx->indent, "");
    }
    print_body(cx, s->body);
    cg_line(cx, "}");
}

/* An end that is no constant is computed once. */
static void print_for(CgContext *cx, const IrFnStmt *s)
{
    const char *name = variable(cx, s->var), *from = text_of(cx, s->a), *to = text_of(cx, s->b);
    if (ir_expr(cx->k->g, s->b)->op != IR_X_CONST) {
        const IrFunction *f = cx->user;
        const char *last = user_part(cx->k->arena, f->vars.at[s->var].name, "last");
        cg_line(cx, "const int %s = %s;", last, to);
        to = last;
    }
    cg_line(cx, "for (%s = %s; %s <= %s; %s++) {", name, from, name, to, name);
    print_body(cx, s->body);
    cg_line(cx, "}");
}

static void print_block(CgContext *cx, const IrFnStmt *s)
{
    for (; s != NULL; s = s->next) {
        switch (s->kind) {
        case IR_FN_SET:
            cg_line(cx, "%s = %s;", variable(cx, s->var), text_of(cx, s->a));
            break;
        case IR_FN_IF:
            print_if(cx, s);
            break;
        case IR_FN_WHILE:
            print_while(cx, s);
            break;
        case IR_FN_FOR:
            print_for(cx, s);
            break;
        case IR_FN_RETURN:
            cg_line(cx, "return %s;", text_of(cx, s->a));
        }
    }
}

static void print_function(CgKernel *k, const IrFunction *f, Str *out)
{
    CgContext cx;
    cg_context(&cx, k, out, out, read_local);
    cx.user = (void *)(uintptr_t)f;
    cx.indent = 1;
    str_addf(out, "static inline %s %s(", cg_type(f->type), cg_function_name(k->arena, f));
    for (int i = 0; i < f->n_params; i++) {
        str_addf(out, "%s%s %s", i > 0 ? ", " : "", cg_type(f->vars.at[i].type), variable(&cx, i));
    }
    str_add(out, f->n_params > 0 ? ")\n{\n" : "void)\n{\n");
    for (int i = f->n_params; i < f->vars.n; i++) {
        cg_line(&cx, "%s %s = 0;", cg_type(f->vars.at[i].type), variable(&cx, i));
    }
    print_block(&cx, f->body);
    str_add(out, "}\n\n");
}

const char *cg_function_name(Arena *arena, const IrFunction *f)
{
    return user_part(arena, f->name, "fn");
}

void cg_need_function(CgKernel *k, int function)
{
    if (k->needs_function == NULL) {
        k->needs_function = arena_array(k->arena, bool, k->g->functions.n);
    }
    k->needs_function[function] = true;
}

static void need_if_called(const IrGraph *g, IrExpr e, void *ctx)
{
    if (ir_expr(g, e)->op == IR_X_CALL) {
        cg_need_function(ctx, (int)ir_expr(g, e)->num);
    }
}

static void need_called(const IrGraph *g, IrExpr e, void *ctx)
{
    ir_walk(g, e, need_if_called, ctx);
}

/* A function calls only those that come before it in the graph. */
void cg_functions(CgKernel *k, Str *out)
{
    for (int i = k->g->functions.n - 1; k->needs_function != NULL && i >= 0; i--) {
        if (k->needs_function[i]) {
            ir_function_walk(k->g, k->g->functions.at[i]->body, need_called, k);
        }
    }
    for (int i = 0; k->needs_function != NULL && i < k->g->functions.n; i++) {
        if (k->needs_function[i]) {
            const IrFunction *f = k->g->functions.at[i];
            (f->forest != NULL) ? cg_forest(f, out) : print_function(k, f, out);
        }
    }
}
