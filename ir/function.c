/* function: functions with control flow, interpreted and walked over. */
#include "function.h"
#include "apply.h"

#include <assert.h>
#include <string.h>

void ir_function_walk(const IrGraph *g, const IrFnStmt *s, void (*visit)(const IrGraph *g, IrExpr e, void *ctx),
                      void *ctx)
{
    for (; s != NULL; s = s->next) {
        visit(g, s->a, ctx);
        if (s->b != 0) {
            visit(g, s->b, ctx);
        }
        ir_function_walk(g, s->body, visit, ctx);
        ir_function_walk(g, s->other, visit, ctx);
    }
}

typedef struct Frame {
    const IrGraph *g;
    double var[IR_FN_MAX_VARS];
    double result;
    long *left; /* statements that may still run, also in functions called */
} Frame;

static double call(const IrGraph *g, const IrFunction *f, const double *args, long *left);

static double eval(Frame *fr, IrExpr e);

static double eval_call(Frame *fr, const IrExprNode *n)
{
    double args[IR_FN_MAX_VARS];
    int k = 0;
    for (IrExpr a = n->a; a != 0; a = ir_expr(fr->g, a)->b) {
        args[k++] = eval(fr, ir_expr(fr->g, a)->a);
    }
    return call(fr->g, fr->g->functions.at[(int)n->num], args, fr->left);
}

static double eval(Frame *fr, IrExpr e)
{
    const IrExprNode *n = ir_expr(fr->g, e);
    switch (n->op) {
    case IR_X_CONST:
        return n->num;
    case IR_X_LOCAL:
        return fr->var[(int)n->num];
    case IR_X_CAST:
        return n->num != 0 ? ir_saturate_value(eval(fr, n->a), (Elem)n->num) : ir_convert(eval(fr, n->a), n->type);
    case IR_X_CALL:
        return eval_call(fr, n);
    case IR_X_SELECT:
        return eval(fr, eval(fr, n->a) != 0 ? n->b : n->c);
    default:
        break;
    }
    double b = n->b != 0 ? eval(fr, n->b) : 0, c = n->c != 0 ? eval(fr, n->c) : 0;
    return ir_apply(n->op, ir_expr(fr->g, n->a)->type, eval(fr, n->a), b, c);
}

/* Runs statements; true when one of them returned. */
static bool run(Frame *fr, const IrFnStmt *s);

static bool run_for(Frame *fr, const IrFnStmt *s)
{
    double lo = eval(fr, s->a), hi = eval(fr, s->b);
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
        fr->var[s->var] = eval(fr, s->a);
        return false;
    case IR_FN_IF:
        return run(fr, eval(fr, s->a) != 0 ? s->body : s->other);
    case IR_FN_WHILE:
        while (eval(fr, s->a) != 0) {
            if (run(fr, s->body) || --*fr->left < 0) {
                return true;
            }
        }
        return false;
    case IR_FN_FOR:
        return run_for(fr, s);
    default:
        fr->result = eval(fr, s->a);
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

static double call(const IrGraph *g, const IrFunction *f, const double *args, long *left)
{
    assert(f->vars.n <= IR_FN_MAX_VARS);
    Frame fr;
    memset(&fr, 0, sizeof fr);
    fr.g = g;
    fr.left = left;
    memcpy(fr.var, args, sizeof *args * (size_t)f->n_params);
    run(&fr, f->body);
    return *left < 0 ? 0 : fr.result;
}

bool ir_function_eval_within(const IrGraph *g, const IrFunction *f, const double *args, long steps, double *result)
{
    *result = call(g, f, args, &steps);
    return steps >= 0;
}

double ir_function_eval(const IrGraph *g, const IrFunction *f, const double *args)
{
    long left = IR_FN_MAX_STEPS;
    return f->forest != NULL ? forest_apply(&f->forest->shape, f->forest->words, args, f->wanted)
                             : call(g, f, args, &left);
}
