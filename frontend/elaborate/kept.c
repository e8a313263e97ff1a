/*
 * kept: what a comprehension leaves out pixel by pixel: median(e where good for k in 0 .. 9), or with the
 * condition behind the ranges.
 *
 * What is left out becomes what does not change the result: 0 in a sum, the largest number where ranks are asked for, which
 * stands behind all others when they are sorted.  What is divided by, or a share is taken of, is the number of
 * elements that stay, another one for each pixel.
 */
#include "elab.h"

#include <limits.h>
#include <math.h>

/* The number that changes nothing when elements of this type are combined. */
static double neutral(WordFold w, Elem type)
{
    const bool real = type == ELEM_F32 || type == ELEM_F64;
    const double least = type == ELEM_U32 ? 0 : INT_MIN, most = type == ELEM_U32 ? UINT_MAX : INT_MAX;
    switch (w) {
    case WORD_PROD:
        return 1;
    case WORD_MIN:
        return real ? (double)INFINITY : most;
    case WORD_MAX:
        return real ? -(double)INFINITY : least;
    case WORD_MODE:
        return real ? (double)NAN : 0;
    case WORD_MEDIAN:
    case WORD_PERCENTILE: /* NaN is the last one, also of those that stay */
        return real ? (double)NAN : most;
    default:
        return 0;
    }
}

Val el_keep(Elab *el, WordFold w, Val condition, Val body, Span span)
{
    if (w == WORD_MODE && condition.kind != VAL_NUMBER) {
        Diag *d = el_error(el, WHERE_OF_MODE, span, el_describe(el, condition));
        diag_help(el->diags, d, "leave out indices: where i * i + j * j <= 4; or take the median");
        return el_err();
    }
    if (ir_expr(el->g, body.expr)->type == ELEM_BOOL) {
        bool all = w == WORD_ALL || w == WORD_MIN;
        return all ? el_op2(el, IR_X_OR, body, el_op1(el, IR_X_NOT, condition, span), span)
                   : el_op2(el, IR_X_AND, body, condition, span);
    }
    Elem type = ir_expr(el->g, body.expr)->type;
    Val nothing = el_host(ir_const_typed(el->g, neutral(w, type), type)); /* a number would be beyond i32 */
    Val kept = el_select(el, condition, body, nothing, span);
    bool alike = body.kind == VAL_IMAGE && kept.kind == VAL_NUMBER; /* nothing stays anywhere */
    return alike ? el_image(el, kept.expr, body.grid) : kept;
}
