/*
 * range: what an expression can be at the smallest and at the largest, whatever pixels and parameters are; and what
 * it is for the parameters' defaults.
 *
 * Parameters have ranges, pixels those of their types; operators have what comes of the ends of their operands.
 * Whole numbers that may wrap around can be anything of their type.
 */
#include "range.h"
#include "edit.h"

#include <math.h>

enum { LONGEST = 1 << 30, DEEPEST = 12 }; /* pixels along an axis; operators in one another */

static const IrRange ANY = {-INFINITY, INFINITY};

static IrRange range_of(const IrGraph *g, IrExpr e, int depth);

static IrRange of_type(Elem type)
{
    return elem_is_integer(type) ? (IrRange){elem_min(type), elem_max(type)} : ANY;
}

static bool lies_within(IrRange r, IrRange in)
{
    return r.lo >= in.lo && r.hi <= in.hi;
}

static IrRange either_of(IrRange a, IrRange b)
{
    return (IrRange){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

static double product(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static IrRange of_product(IrRange a, IrRange b)
{
    const double p = product(a.lo, b.lo), q = product(a.lo, b.hi), r = product(a.hi, b.lo), s = product(a.hi, b.hi);
    return (IrRange){fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
}

static IrRange of_absolute(IrRange a)
{
    return (IrRange){a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, ir_range_size(a)};
}

static IrRange rounded(IrRange a)
{
    return (IrRange){floor(a.lo), ceil(a.hi)};
}

/* Of pixels, and of what stands outside of the image. */
static IrRange of_read(const IrGraph *g, const IrExprNode *n, int depth)
{
    const IrNode *from = ir_node(g, n->node);
    bool computed = from->op == IR_MAP && (from->elem == ELEM_I32 || from->elem == ELEM_U32);
    IrRange inside = computed ? range_of(g, from->map.value, depth) : of_type(from->elem);
    return n->outside != 0 ? either_of(inside, rounded(range_of(g, n->outside, depth))) : inside;
}

/* Of an index, fractions cut. */
static IrRange of_index(const IrGraph *g, int index, int depth)
{
    const IrEnds ends = index < g->ends.n && index >= 0 ? g->ends.at[index] : (IrEnds){0};
    return (IrRange){ends.lo != 0 ? ceil(range_of(g, ends.lo, depth).lo) : -INFINITY,
                     ends.hi != 0 ? floor(range_of(g, ends.hi, depth).hi) : INFINITY};
}

/* Conversions to whole numbers saturate, but for that of whole numbers to others of 32 bits. */
static IrRange of_cast(const IrGraph *g, const IrExprNode *n, int depth)
{
    const IrRange type = of_type(n->num != 0 ? (Elem)n->num : n->type);
    if (n->type == ELEM_F32) {
        return ANY; /* it may have been rounded */
    }
    const IrRange from = range_of(g, n->a, depth), to = elem_is_integer(n->type) ? rounded(from) : from;
    return lies_within(to, type) ? to : type;
}

/* As if numbers had no end. */
static IrRange unbounded(const IrGraph *g, const IrExprNode *n, int depth)
{
    const IrRange a = n->a != 0 ? range_of(g, n->a, depth) : ANY, b = n->b != 0 ? range_of(g, n->b, depth) : ANY;
    switch (n->op) {
    case IR_X_FLOOR:
    case IR_X_CEIL:
    case IR_X_ROUND:
    case IR_X_TRUNC:
        return rounded(a);
    case IR_X_NEG:
        return (IrRange){-a.hi, -a.lo};
    case IR_X_ABS:
        return of_absolute(a);
    case IR_X_ADD:
        return (IrRange){a.lo + b.lo, a.hi + b.hi};
    case IR_X_SUB:
        return (IrRange){a.lo - b.hi, a.hi - b.lo};
    case IR_X_MUL:
        return of_product(a, b);
    case IR_X_MIN:
        return (IrRange){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
    case IR_X_MAX:
        return (IrRange){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
    case IR_X_SELECT:
        return either_of(b, range_of(g, n->c, depth));
    default:
        return ANY;
    }
}

static IrRange range_of(const IrGraph *g, IrExpr e, int depth)
{
    const IrExprNode *n = ir_expr(g, e);
    if (depth == DEEPEST || (n->type == ELEM_BOOL && n->rank == IR_PIXEL)) {
        return of_type(n->type);
    }
    switch (n->op) {
    case IR_X_CONST:
        return (IrRange){n->num, n->num};
    case IR_X_PARAM:
        return (IrRange){g->params.at[(int)n->num].lo, g->params.at[(int)n->num].hi};
    case IR_X_EXTENT:
        return (IrRange){1, LONGEST};
    case IR_X_COORD:
        return (IrRange){0, LONGEST};
    case IR_X_INDEX:
        return of_index(g, (int)n->num, depth + 1);
    case IR_X_READ:
    case IR_X_READAT:
        return of_read(g, n, depth + 1);
    case IR_X_CAST:
        return of_cast(g, n, depth + 1);
    default: {
        const IrRange type = of_type(n->type), r = unbounded(g, n, depth + 1);
        return lies_within(r, type) ? r : type;
    }
    }
}

IrRange ir_range(const IrGraph *g, IrExpr e)
{
    return range_of(g, e, 0);
}

double ir_range_size(IrRange r)
{
    return fmax(fabs(r.lo), fabs(r.hi));
}

static IrExpr default_of(IrGraph *g, IrExpr e, void *ctx)
{
    const double *pixel_size = ctx;
    const IrExprNode n = *ir_expr(g, e);
    return n.op == IR_X_PARAM                              ? ir_const(g, g->params.at[(int)n.num].value)
           : n.op == IR_X_PIXELSIZE && !isnan(*pixel_size) ? ir_const(g, *pixel_size)
                                                           : ir_made_anew(g, e);
}

bool ir_default(IrGraph *g, IrExpr e, double pixel_size, double *value)
{
    return ir_is_const(g, ir_rewrite(g, e, default_of, &pixel_size), value);
}
