/*
 * function: building, printing and interpreting functions with control flow.
 *
 * The printed text takes every operator from exprs.def with the operands put in the place of a,
 * b and c, so it cannot drift from what the kernels and the evaluator do.
 */
#include "function.h"
#include "apply.h"

#include "../base/user_text.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- building -------------------------------------------------------------------------- */

static IrFnExpr *new_expr(IrGraph *g, IrFnExprKind kind, Elem type)
{
    IrFnExpr *e = arena_new(g->arena, IrFnExpr);
    e->kind = kind;
    e->type = type;
    e->size = e->depth = 1;
    return e;
}

static void contain(IrFnExpr *e, const IrFnExpr *part)
{
    if (part != NULL) {
        e->size += part->size;
        e->depth = part->depth >= e->depth ? part->depth + 1 : e->depth;
    }
}

IrFnExpr *ir_fn_const(IrGraph *g, double value, Elem type)
{
    IrFnExpr *e = new_expr(g, IR_FN_CONST, type);
    e->num = ir_convert(value, type);
    e->written = value;
    return e;
}

IrFnExpr *ir_fn_var(IrGraph *g, const IrFunction *f, int var)
{
    IrFnExpr *e = new_expr(g, IR_FN_VAR, f->vars.at[var].type);
    e->var = var;
    return e;
}

IrFnExpr *ir_fn_cast(IrGraph *g, IrFnExpr *e, Elem type)
{
    if (e->type == type) {
        return e;
    }
    if (e->kind == IR_FN_CONST) {
        return ir_fn_const(g, e->written, type);
    }
    IrFnExpr *cast = new_expr(g, IR_FN_CAST, type);
    cast->a = e;
    contain(cast, e);
    return cast;
}

/* Beside u32 a constant that fits is one, too; one that only u32 holds is f32 beside i32. */
static Elem type_beside(const IrFnExpr *e, Elem other)
{
    bool constant = e->kind == IR_FN_CONST;
    if (constant && other == ELEM_U32 && e->num == floor(e->num) && e->num >= 0 && e->num <= elem_max(ELEM_U32)) {
        return ELEM_U32;
    }
    return constant && e->type == ELEM_U32 && other == ELEM_I32 ? ELEM_F32 : e->type;
}

static Elem meet(const IrFnExpr *a, const IrFnExpr *b)
{
    Elem p = type_beside(a, b->type), q = type_beside(b, a->type);
    if (p == ELEM_F32 || q == ELEM_F32) {
        return ELEM_F32;
    }
    return p == ELEM_U32 && q == ELEM_U32 ? ELEM_U32 : ELEM_I32;
}

static Elem operand_type(IrExprOp op, const IrFnExpr *a, const IrFnExpr *b, const IrFnExpr *c)
{
    switch (ir_op_rule(op)) {
    case IR_RULE_LOGIC:
        return ELEM_BOOL;
    case IR_RULE_FLOAT:
    case IR_RULE_TEST:
        return ELEM_F32;
    case IR_RULE_SELECT:
        return b->type == ELEM_BOOL && c->type == ELEM_BOOL ? ELEM_BOOL : meet(b, c);
    default:
        assert(c == NULL);
        return meet(a, b != NULL ? b : a);
    }
}

static bool gives_truth(IrExprOp op)
{
    IrRule rule = ir_op_rule(op);
    return rule == IR_RULE_COMPARE || rule == IR_RULE_LOGIC || rule == IR_RULE_TEST;
}

IrFnExpr *ir_fn_op(IrGraph *g, IrExprOp op, IrFnExpr *a, IrFnExpr *b, IrFnExpr *c)
{
    Elem type = operand_type(op, a, b, c);
    IrFnExpr *e = new_expr(g, IR_FN_OP, gives_truth(op) ? ELEM_BOOL : type);
    e->op = op;
    e->a = ir_fn_cast(g, a, ir_op_rule(op) == IR_RULE_SELECT ? ELEM_BOOL : type);
    e->b = b != NULL ? ir_fn_cast(g, b, type) : NULL;
    e->c = c != NULL ? ir_fn_cast(g, c, type) : NULL;
    contain(e, e->a);
    contain(e, e->b);
    contain(e, e->c);
    return e;
}

IrFnExpr *ir_fn_call(IrGraph *g, const IrFunction *callee, IrFnExpr *const *args)
{
    IrFnExpr *e = new_expr(g, IR_FN_CALL, callee->type);
    e->callee = callee;
    e->args = arena_array(g->arena, IrFnExpr *, callee->n_params + 1);
    for (int i = 0; i < callee->n_params; i++) {
        e->args[i] = ir_fn_cast(g, args[i], callee->vars.at[i].type);
        contain(e, e->args[i]);
    }
    return e;
}

/* ---- printing -------------------------------------------------------------------------- */

/* Names that C and OpenCL C share; a truth value is an int there. */
static const char *c_type(Elem type)
{
    return type == ELEM_F32 ? "float" : type == ELEM_U32 ? "unsigned int" : "int";
}

static void print_expr(const IrFunction *f, const IrFnExpr *e, bool bare, Str *out);

/* The fewest digits that give the number back. */
static int digits_of(double v, bool is_double)
{
    char text[48];
    for (int digits = 1; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (is_double ? strtod(text, NULL) == v : strtof(text, NULL) == (float)v) {
            return digits;
        }
    }
    return 17;
}

const char *ir_c_number(Arena *arena, double v, bool is_double)
{
    if (isnan(v)) {
        return is_double ? "((double)NAN)" : "NAN";
    }
    if (isinf(v)) {
        return arena_printf(arena, v > 0 && !is_double ? "%s%sINFINITY" : "(%s%sINFINITY)", v > 0 ? "" : "-",
                            is_double ? "(double)" : "");
    }
    char text[48];
    snprintf(text, sizeof text, "%.*g", digits_of(v, is_double), v);
    char *exponent = strchr(text, 'e');
    if (exponent != NULL && exponent[1] == '+' && fabs(v) < 1e9) { /* such numbers are whole: 1e+02 */
        snprintf(text, sizeof text, "%.0f", strtod(text, NULL));
    } else if (exponent != NULL && exponent[2] == '0') { /* 1e-06 */
        memmove(exponent + 2, exponent + 3, strlen(exponent + 3) + 1);
    }
    const char *point = strpbrk(text, ".e") == NULL ? ".0" : "", *suffix = is_double ? "" : "f";
    return arena_printf(arena, signbit(v) ? "(%s%s%s)" : "%s%s%s", text, point, suffix);
}

static void print_const(const IrFnExpr *e, Str *out)
{
    if (e->type != ELEM_F32) {
        const char *suffix = e->type == ELEM_U32 ? "u" : "";
        bool lowest = e->num == -2147483648.0;
        str_addf(out, lowest ? "(-2147483647 - 1)" : e->num < 0 ? "(%.0f%s)" : "%.0f%s", e->num, suffix);
    } else {
        str_add(out, ir_c_number(out->arena, e->num, false));
    }
}

/* True when a text is one call, px_mod(a, b): it needs no brackets around it. */
static bool is_call(const char *text)
{
    size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return name > 1 && text[name] == '(' && strchr(text, ')') == text + strlen(text) - 1;
}

/* The operator's text with its operands in place of the letters. */
static void print_op(const IrFunction *f, const IrFnExpr *e, bool bare, Str *out)
{
    const IrFnExpr *first = e->op == IR_X_SELECT ? e->b : e->a;
    const IrFnExpr *operand[3] = {e->a, e->b, e->c};
    const char *text = ir_op_text(e->op, first->type != ELEM_F32);
    bool call = is_call(text);
    bare = bare || call || text[0] == '(';
    str_add(out, bare ? "" : "(");
    for (const char *p = text; *p != '\0';) {
        size_t n = 0;
        while (isalnum((unsigned char)p[n]) || p[n] == '_') {
            n++;
        }
        if (n == 1 && p[0] >= 'a' && p[0] <= 'c' && operand[p[0] - 'a'] != NULL) {
            print_expr(f, operand[p[0] - 'a'], call, out);
        } else {
            str_addn(out, p, n > 0 ? n : 1);
        }
        p += n > 0 ? n : 1;
    }
    str_add(out, bare ? "" : ")");
}

static void print_cast(const IrFunction *f, const IrFnExpr *e, Str *out)
{
    bool from_float = e->a->type == ELEM_F32;
    bool sign = (e->a->type == ELEM_U32 && e->type == ELEM_I32) || (e->a->type == ELEM_I32 && e->type == ELEM_U32);
    if (e->type == ELEM_BOOL) {
        str_add(out, "(");
        print_expr(f, e->a, false, out);
        str_add(out, " != 0)");
    } else if (from_float) {
        str_add(out, e->type == ELEM_U32 ? "px_round_u32(trunc(" : "px_round_i32(trunc(");
        print_expr(f, e->a, true, out);
        str_add(out, "))");
    } else if (sign) {
        str_add(out, e->type == ELEM_U32 ? "convert_uint_sat(" : "convert_int_sat(");
        print_expr(f, e->a, true, out);
        str_add(out, ")");
    } else {
        str_addf(out, "(%s)", c_type(e->type));
        print_expr(f, e->a, false, out);
    }
}

static void print_var(const IrFunction *f, int var, Str *out)
{
    str_add(out, user_name(out->arena, f->vars.at[var].name));
}

const char *ir_function_c_name(Arena *arena, const IrFunction *f)
{
    return user_part(arena, f->name, "fn");
}

/* `bare`: brackets around the whole are not needed. */
static void print_expr(const IrFunction *f, const IrFnExpr *e, bool bare, Str *out)
{
    switch (e->kind) {
    case IR_FN_CONST:
        print_const(e, out);
        break;
    case IR_FN_VAR:
        print_var(f, e->var, out);
        break;
    case IR_FN_OP:
        print_op(f, e, bare, out);
        break;
    case IR_FN_CAST:
        print_cast(f, e, out);
        break;
    case IR_FN_CALL:
        str_addf(out, "%s(", ir_function_c_name(out->arena, e->callee));
        for (int i = 0; i < e->callee->n_params; i++) {
            str_add(out, i > 0 ? ", " : "");
            print_expr(f, e->args[i], true, out);
        }
        str_add(out, ")");
    }
}

static void print_block(const IrFunction *f, const IrFnStmt *s, int depth, Str *out);

static void print_for(const IrFunction *f, const IrFnStmt *s, int depth, Str *out)
{
    const char *name = user_name(out->arena, f->vars.at[s->var].name);
    str_addf(out, "for (%s = ", name);
    print_expr(f, s->a, true, out);
    /* A bound that cannot change is tested as it is; another one would be computed each time. */
    bool fixed = s->b->kind == IR_FN_CONST;
    str_addf(out, "; %s <= ", name);
    if (fixed) {
        print_expr(f, s->b, true, out);
    } else {
        str_add(out, user_part(out->arena, f->vars.at[s->var].name, "last"));
    }
    str_addf(out, "; %s++) ", name);
    print_block(f, s->body, depth, out);
}

static void print_control(const IrFunction *f, const IrFnStmt *s, int depth, Str *out);

static void print_else(const IrFunction *f, const IrFnStmt *s, int depth, Str *out)
{
    if (s->other == NULL) {
        return;
    }
    str_addf(out, "%*selse ", 4 * depth, "");
    if (s->other->kind == IR_FN_IF && s->other->next == NULL) {
        print_control(f, s->other, depth, out);
    } else {
        print_block(f, s->other, depth, out);
    }
}

static void print_control(const IrFunction *f, const IrFnStmt *s, int depth, Str *out)
{
    str_add(out, s->kind == IR_FN_IF ? "if (" : "while (");
    print_expr(f, s->a, true, out);
    str_add(out, ") ");
    print_block(f, s->body, depth, out);
    print_else(f, s, depth, out);
}

static void print_stmt(const IrFunction *f, const IrFnStmt *s, int depth, Str *out)
{
    if (s->kind == IR_FN_FOR && s->b->kind != IR_FN_CONST) {
        str_addf(out, "%*sint %s = ", 4 * depth, "", user_part(out->arena, f->vars.at[s->var].name, "last"));
        print_expr(f, s->b, true, out);
        str_add(out, ";\n");
    }
    str_addf(out, "%*s", 4 * depth, "");
    switch (s->kind) {
    case IR_FN_SET:
        print_var(f, s->var, out);
        str_add(out, " = ");
        print_expr(f, s->a, true, out);
        str_add(out, ";\n");
        break;
    case IR_FN_IF:
    case IR_FN_WHILE:
        print_control(f, s, depth, out);
        break;
    case IR_FN_FOR:
        print_for(f, s, depth, out);
        break;
    case IR_FN_RETURN:
        str_add(out, "return ");
        print_expr(f, s->a, true, out);
        str_add(out, ";\n");
    }
}

static void print_block(const IrFunction *f, const IrFnStmt *s, int depth, Str *out)
{
    str_add(out, "{\n");
    for (; s != NULL; s = s->next) {
        print_stmt(f, s, depth + 1, out);
    }
    str_addf(out, "%*s}\n", 4 * depth, "");
}

void ir_function_print_c(const IrFunction *f, Str *out)
{
    str_addf(out, "static inline %s %s(", c_type(f->type), ir_function_c_name(out->arena, f));
    for (int i = 0; i < f->n_params; i++) {
        str_addf(out, "%s%s ", i > 0 ? ", " : "", c_type(f->vars.at[i].type));
        print_var(f, i, out);
    }
    str_add(out, f->n_params > 0 ? ")\n{\n" : "void)\n{\n");
    for (int i = f->n_params; i < f->vars.n; i++) {
        str_addf(out, "    %s ", c_type(f->vars.at[i].type));
        print_var(f, i, out);
        str_add(out, " = 0;\n");
    }
    for (const IrFnStmt *s = f->body; s != NULL; s = s->next) {
        print_stmt(f, s, 1, out);
    }
    str_add(out, "}\n");
}

/* ---- interpreting ---------------------------------------------------------------------- */

typedef struct Frame {
    double var[IR_FN_MAX_VARS];
    double result;
    long *left; /* statements that may still run, also in functions called */
} Frame;

static double call(const IrFunction *f, const double *args, long *left);

static double eval_expr(Frame *fr, const IrFnExpr *e)
{
    switch (e->kind) {
    case IR_FN_CONST:
        return e->num;
    case IR_FN_VAR:
        return fr->var[e->var];
    case IR_FN_CAST:
        return ir_convert(eval_expr(fr, e->a), e->type);
    case IR_FN_CALL: {
        double args[IR_FN_MAX_VARS];
        for (int i = 0; i < e->callee->n_params; i++) {
            args[i] = eval_expr(fr, e->args[i]);
        }
        return call(e->callee, args, fr->left);
    }
    default:
        break;
    }
    double a = eval_expr(fr, e->a);
    if (e->op == IR_X_SELECT) {
        return eval_expr(fr, a != 0 ? e->b : e->c);
    }
    double b = e->b != NULL ? eval_expr(fr, e->b) : 0;
    double c = e->c != NULL ? eval_expr(fr, e->c) : 0;
    return ir_apply(e->op, e->a->type, a, b, c);
}

/* Runs statements; true when one of them returned. */
static bool run(Frame *fr, const IrFnStmt *s);

static bool run_for(Frame *fr, const IrFnStmt *s)
{
    double lo = eval_expr(fr, s->a), hi = eval_expr(fr, s->b);
    for (fr->var[s->var] = lo; fr->var[s->var] <= hi; fr->var[s->var]++) {
        if (run(fr, s->body) || --*fr->left < 0) {
            return true;
        }
    }
    return false;
}

static bool run_one(Frame *fr, const IrFnStmt *s)
{
    switch (s->kind) {
    case IR_FN_SET:
        fr->var[s->var] = eval_expr(fr, s->a);
        return false;
    case IR_FN_IF:
        return run(fr, eval_expr(fr, s->a) != 0 ? s->body : s->other);
    case IR_FN_WHILE:
        while (eval_expr(fr, s->a) != 0) {
            if (run(fr, s->body) || --*fr->left < 0) {
                return true;
            }
        }
        return false;
    case IR_FN_FOR:
        return run_for(fr, s);
    default:
        fr->result = eval_expr(fr, s->a);
        return true;
    }
}

static bool run(Frame *fr, const IrFnStmt *s)
{
    for (; s != NULL; s = s->next) {
        if (--*fr->left < 0 || run_one(fr, s)) {
            return true;
        }
    }
    return false;
}

static double call(const IrFunction *f, const double *args, long *left)
{
    assert(f->vars.n <= IR_FN_MAX_VARS);
    Frame fr;
    memset(&fr, 0, sizeof fr);
    fr.left = left;
    memcpy(fr.var, args, sizeof *args * (size_t)f->n_params);
    run(&fr, f->body);
    return *left < 0 ? 0 : fr.result;
}

bool ir_function_eval_within(const IrFunction *f, const double *args, long steps, double *result)
{
    *result = call(f, args, &steps);
    return steps >= 0;
}

double ir_function_eval(const IrFunction *f, const double *args)
{
    long left = IR_FN_MAX_STEPS;
    return call(f, args, &left);
}
