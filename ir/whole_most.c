/* whole_most: see whole_most.h.  range.h has the ends of what may be rounded. */
#include "whole_most.h"

#include <math.h>

typedef struct Bound {
    const IrGraph *g;
    double file; /* the largest pixel of files whose type nobody has declared */
    IrId input;  /* such a file that was met; 0: none */
} Bound;

enum { DEEPEST = 12 };

static double most_in(Elem type)
{
    switch (type) {
    case ELEM_F32:
        return 0x1p24;
    case ELEM_F64:
        return 0x1p53;
    case ELEM_I32:
        return 0x1p31 - 1;
    default:
        return -1;
    }
}

static double largest(Bound *b, IrExpr e, int depth);

static double largest_read(Bound *b, const IrExprNode *n, int depth)
{
    const IrNode *of = ir_node(b->g, n->node);
    if (n->border == BORDER_CONSTANT) {
        return INFINITY;
    }
    if (of->op == IR_MAP) {
        return largest(b, of->map.value, depth + 1);
    }
    if (of->op != IR_INPUT) {
        return INFINITY;
    }
    if (of->elem == ELEM_FILE && (b->input == 0 || b->input == n->node)) {
        b->input = n->node;
        return b->file;
    }
    return of->elem == ELEM_BOOL ? 1 : of->elem == ELEM_U8 ? 255 : of->elem == ELEM_U16 ? 65535 : INFINITY;
}

static double largest_sum(Bound *b, const IrExprNode *n, int depth)
{
    double lo, hi;
    const bool known = ir_is_const(b->g, n->b, &lo) && ir_is_const(b->g, n->c, &hi);
    return known && n->where == 0 && n->fold == IR_FOLD_SUM ? fmax(hi - lo + 1, 0) * largest(b, n->a, depth) : INFINITY;
}

/* The largest that an expression can be of whole numbers, none of them negative (nor -0); infinite: it may be something
 * else, or an operation on the way is rounded. */
static double largest(Bound *b, IrExpr e, int depth)
{
    const IrExprNode *n = ir_expr(b->g, e);
    double v = INFINITY;
    if (depth > DEEPEST) {
        return INFINITY;
    }
    switch (n->op) {
    case IR_X_CONST:
        v = n->num >= 0 && !signbit(n->num) && n->num == floor(n->num) ? n->num : INFINITY;
        break;
    case IR_X_READ:
        v = largest_read(b, n, depth + 1);
        break;
    case IR_X_CAST:
        v = largest(b, n->a, depth + 1);
        break;
    case IR_X_ADD:
        v = largest(b, n->a, depth + 1) + largest(b, n->b, depth + 1);
        break;
    case IR_X_MUL:
        v = largest(b, n->a, depth + 1) * largest(b, n->b, depth + 1);
        break;
    case IR_X_FOLD:
        v = largest_sum(b, n, depth + 1);
        break;
    default:
        break;
    }
    return n->op == IR_X_CONST || n->op == IR_X_READ || v <= most_in(n->type) ? v : INFINITY; /* NaN: 0 * infinity */
}

IrWhole ir_whole_most(const IrGraph *g, IrExpr e, double file)
{
    Bound b = {.g = g, .file = file};
    const double value = largest(&b, e, 0);
    return (IrWhole){value, b.input};
}

IrWhole ir_whole_sum_most(const IrGraph *g, const IrExprNode *fold, double file)
{
    Bound b = {.g = g, .file = file};
    const double value = largest_sum(&b, fold, 0);
    return (IrWhole){value, b.input};
}
