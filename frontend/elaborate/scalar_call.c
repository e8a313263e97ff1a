/* scalar_call: a call of a function whose control flow depends on pixels, on images or on numbers that are known. */
#include "scalar.h"

#include <math.h>

enum { MAX_STEPS = 10000000 }; /* of a function that is called on numbers */

static Elem type_of_argument(Elab *el, Val v)
{
    if (v.kind == VAL_IMAGE) {
        return scalar_arithmetic(ir_expr(el->g, v.expr)->type);
    }
    if (el_is_truth(el, v)) {
        return ELEM_BOOL;
    }
    double value;
    if (v.kind != VAL_NUMBER || v.unit != NULL) { /* a whole number of um need not be one of pixels */
        return ELEM_F32;
    }
    if (el_constant(el, v, &value)) {
        return scalar_type_of_number(value, value == floor(value));
    }
    return el_is_integral(el, v.expr) ? ELEM_I32 : ELEM_F32;
}

/* The argument in the type of the parameter; 0 after a complaint. */
static IrExpr convert_argument(Elab *el, const IrFunction *f, int i, Val v, Span span)
{
    Elem have = type_of_argument(el, v), want = f->vars.at[i].type;
    bool loses = (want != ELEM_F32 && have == ELEM_F32) || (want == ELEM_BOOL) != (have == ELEM_BOOL);
    if (loses) {
        Diag *d = el_error(el, TYPE_MISMATCH, span, elem_name(want), el_describe(el, v));
        if (want == ELEM_BOOL || have == ELEM_BOOL) {
            diag_help(el->diags, d, want == ELEM_BOOL ? "compare it with something: %s > 0" : "number(%s) is 0 or 1",
                      el_words(el, span));
        } else {
            diag_help(el->diags, d, "%s(%s) rounds it", elem_name(want), el_words(el, span));
        }
        return 0;
    }
    IrExpr e = v.kind == VAL_NUMBER ? el_pixels(el, v, -1, IR_AX_X, span) : v.expr;
    return ir_cast(el->g, e, want);
}

static Val call_on_constants(Elab *el, const IrFunction *f, const IrExpr *args, int n, Span span)
{
    double values[IR_FN_MAX_VARS];
    for (int i = 0; i < n; i++) {
        if (!ir_is_const(el->g, args[i], &values[i])) {
            Diag *d = el_error(el, SCALAR_NEEDS_PIXELS, span, f->name);
            diag_help(el->diags, d, "call it on an image, or on numbers that are known");
            return el_err();
        }
    }
    double v;
    if (!ir_function_eval_within(el->g, f, values, MAX_STEPS, &v)) {
        Diag *d = el_error(el, ENDLESS, span, f->name, MAX_STEPS);
        diag_help(el->diags, d,
                  "does its loop end? on an image it runs on the device: call it on "
                  "one");
        return el_err();
    }
    return el_host(ir_const_typed(el->g, v, f->type == ELEM_BOOL ? ELEM_BOOL : ELEM_F64));
}

Val el_scalar_call(Elab *el, const AstStmt *fn, Scope *env, const Val *args, const Span *at, int n, Span span)
{
    Val vals[SCALAR_MAX_ARGS];
    Elem types[SCALAR_MAX_ARGS];
    IrExpr exprs[SCALAR_MAX_ARGS + 32];
    ScalarCapture *captures;
    int n_captures, grid = -1;
    if (n > SCALAR_MAX_ARGS) {
        el_error(el, TOO_MANY_ARGUMENTS, span, fn->name, SCALAR_MAX_ARGS);
        return el_err();
    }
    IrId labels;
    for (int i = 0; i < n; i++) {
        vals[i] = el_numbers(el, args[i]);
    }
    if (!el_by_label(el, vals, n, &labels, span)) {
        return el_err();
    }
    for (int i = 0; i < n; i++) {
        if (!el_is_scalar(vals[i]) && vals[i].kind != VAL_IMAGE) {
            el_error(el, NOT_A_NUMBER, at[i], el_describe(el, vals[i]));
            return el_err();
        }
        types[i] = type_of_argument(el, vals[i]);
    }
    if (!el_meet(el, vals, n, span)) {
        return el_err();
    }
    IrFunction *f = scalar_function(el, fn, env, types, n, span, &captures, &n_captures);
    if (f == NULL) {
        return el_err();
    }
    for (int i = 0; i < n; i++) {
        exprs[i] = convert_argument(el, f, i, vals[i], at[i]);
        grid = vals[i].kind == VAL_IMAGE ? vals[i].grid : grid;
        if (exprs[i] == 0) {
            return el_err();
        }
    }
    for (int i = 0; i < n_captures && n < SCALAR_MAX_ARGS + 32; i++) {
        exprs[n++] = ir_cast(el->g, captures[i].e, captures[i].type);
    }
    if (grid < 0) {
        return call_on_constants(el, f, exprs, n, span);
    }
    IrExpr result = ir_call(el->g, scalar_index(el, f), exprs, n);
    return labels != 0 ? el_vector(result, labels) : el_image(el, result, grid);
}
