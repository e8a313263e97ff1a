/*
 * host_range: interval arithmetic over host expressions, for what a part reads.
 *
 * Rounding never turns two numbers round, so the ends of an interval, rounded as the kernel rounds
 * them, are the ends of what the kernel computes: an interval holds every coordinate that a pixel
 * asks for, to the last one.  Ends may be infinite, and floats that come from pixels may be NaN, which
 * stays what it is until a whole number is made of it: then it is 0.
 *
 * Thousands of parts ask for the same expressions: what does not depend on the part is computed once.
 */
#include "host.h"

#include "../../base/hostops.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const HostRange ANYTHING = {-INFINITY, INFINITY, true};

enum { FOREVER = -1 };

typedef struct Known {
    int64_t epoch; /* of the part that it was found for; FOREVER: whatever the part is */
    HostRange range;
} Known;

struct HostRanges {
    int64_t epoch;
    int part[6]; /* that was asked for last: its first and last pixel */
    Known of[];  /* by host expression */
};

typedef struct Ranges {
    const Program *program;
    const HostContext *context;
    const int *first, *last;
    Err *err;
} Ranges;

static HostRange one(double value)
{
    return isnan(value) ? ANYTHING : (HostRange){value, value, false};
}

static bool is_finite(HostRange r)
{
    return isfinite(r.lo) && isfinite(r.hi);
}

static bool has_zero(HostRange r)
{
    return r.lo <= 0 && r.hi >= 0;
}

static HostRange hull(const double at[4])
{
    HostRange r = one(at[0]);
    for (int i = 0; i < 4; i++) {
        if (isnan(at[i])) {
            return ANYTHING;
        }
        r.lo = at[i] < r.lo ? at[i] : r.lo;
        r.hi = at[i] > r.hi ? at[i] : r.hi;
    }
    return r;
}

static HostRange both(HostRange a, HostRange b)
{
    HostRange r = hull((const double[]){a.lo, a.hi, b.lo, b.hi});
    r.nan = a.nan || b.nan;
    return r;
}

/* ---- operators --------------------------------------------------------------------------- */

/* Those that are monotone in each operand: what comes of the ends; infinite ones that make a NaN are
 * always ends. */
static HostRange of_corners(int op, HostRange a, HostRange b)
{
    const double at[4] = {hostop_eval(op, a.lo, b.lo, 0), hostop_eval(op, a.lo, b.hi, 0),
                          hostop_eval(op, a.hi, b.lo, 0), hostop_eval(op, a.hi, b.hi, 0)};
    return hull(at);
}

/* Zero times infinity is a NaN, though zero is no end. */
static HostRange of_product(int op, HostRange a, HostRange b)
{
    bool none = (has_zero(a) && !is_finite(b)) || (has_zero(b) && !is_finite(a));
    return none ? ANYTHING : of_corners(op, a, b);
}

static HostRange of_quotient(int op, HostRange a, HostRange b)
{
    return has_zero(b) ? ANYTHING : of_corners(op, a, b);
}

/* Within one period the rest rises with its number. */
static HostRange of_rest(int op, HostRange a, HostRange b)
{
    if (b.lo != b.hi || b.lo <= 0 || !is_finite(a) || !is_finite(b)) {
        return ANYTHING;
    }
    bool same = hostop_eval(HOSTOP_FLOORDIV, a.lo, b.lo, 0) == hostop_eval(HOSTOP_FLOORDIV, a.hi, b.lo, 0);
    return same ? of_corners(op, a, b) : (HostRange){0, b.lo, false};
}

static HostRange of_size(int op, HostRange a, HostRange b)
{
    HostRange r = of_corners(op, a, b);
    r.lo = has_zero(a) ? 0 : r.lo;
    return r;
}

static HostRange of_root(int op, HostRange a, HostRange b)
{
    return a.lo < 0 ? ANYTHING : of_corners(op, a, b);
}

/* Waves are within 1 of 0, but for the last digit of f32. */
static HostRange of_wave(int op, HostRange a, HostRange b)
{
    (void)op, (void)b;
    return is_finite(a) ? (HostRange){-1 - FLT_EPSILON, 1 + FLT_EPSILON, false} : ANYTHING;
}

typedef HostRange Rule(int op, HostRange a, HostRange b);

static Rule *const RULES[HOSTOP_COUNT] = {
    [HOSTOP_ADD] = of_corners,   [HOSTOP_SUB] = of_corners,       [HOSTOP_MUL] = of_product,
    [HOSTOP_MIN] = of_corners,   [HOSTOP_MAX] = of_corners,       [HOSTOP_DIV] = of_quotient,
    [HOSTOP_NEG] = of_corners,   [HOSTOP_ABS] = of_size,          [HOSTOP_SIGN] = of_corners,
    [HOSTOP_FLOOR] = of_corners, [HOSTOP_CEIL] = of_corners,      [HOSTOP_ROUND] = of_corners,
    [HOSTOP_TRUNC] = of_corners, [HOSTOP_FLOORDIV] = of_quotient, [HOSTOP_MOD] = of_rest,
    [HOSTOP_SQRT] = of_root,     [HOSTOP_SIN] = of_wave,          [HOSTOP_COS] = of_wave,
};

static HostRange of_operator(int op, HostRange a, HostRange b)
{
    bool plain = a.lo == a.hi && b.lo == b.hi;
    if (!plain && RULES[op] == NULL) {
        return ANYTHING;
    }
    HostRange r = plain ? one(hostop_eval(op, a.lo, b.lo, 0)) : RULES[op](op, a, b);
    r.nan = r.nan || a.nan || b.nan;
    return r;
}

/* ---- types ------------------------------------------------------------------------------- */

static HostRange of_type(Elem type)
{
    bool whole = elem_is_integer(type) || type == ELEM_BOOL;
    return whole ? (HostRange){elem_min(type), elem_max(type), false} : ANYTHING;
}

/* What goes beyond an end of the type begins again at the other. */
static HostRange wrapped(HostRange a, Elem type)
{
    HostRange all = of_type(type);
    return !a.nan && a.lo >= all.lo && a.hi <= all.hi ? a : all;
}

static HostRange saturated(HostRange a, Elem type)
{
    HostRange all = of_type(type);
    HostRange r = {fmin(fmax(a.lo, all.lo), all.hi), fmax(fmin(a.hi, all.hi), all.lo), false};
    return a.nan ? both(r, one(0)) : r;
}

static HostRange as_float(HostRange a)
{
    return (HostRange){(double)(float)a.lo, (double)(float)a.hi, a.nan};
}

/* ---- nodes ------------------------------------------------------------------------------- */

static HostRange range_of(const Ranges *r, int expr);

static HostRange variable(const Ranges *r, const HostNode *node)
{
    int axis = PROG_PART_FIRST - node->a;
    if (axis >= 0 && axis < 3) {
        return one(r->first[axis]);
    }
    axis = PROG_PART_LAST - node->a;
    return axis >= 0 && axis < 3 ? one(r->last[axis]) : ANYTHING;
}

static HostRange find(const Ranges *r, const HostNode *node)
{
    HostRange a = range_of(r, node->a);
    bool two = node->op == HOST_OP2 || node->op == HOST_RANGE;
    HostRange b = two ? range_of(r, node->b) : one(0);
    switch ((HostOp)node->op) {
    case HOST_RANGE:
        return both(a, b);
    case HOST_F32:
        return as_float(a);
    case HOST_WRAP:
        return wrapped(a, (Elem)node->d);
    case HOST_SATURATE:
        return saturated(a, (Elem)node->d);
    case HOST_NUMBER:
        return (HostRange){a.lo, a.hi, false};
    default:
        return of_operator(node->d, a, b);
    }
}

static HostRange range_of(const Ranges *r, int expr)
{
    const HostNode *node = &r->program->host[expr];
    struct HostRanges *ranges = r->context->ranges;
    Known *known = &ranges->of[expr];
    if (known->epoch == ranges->epoch || known->epoch == FOREVER) {
        return known->range;
    }
    known->epoch = FOREVER;
    switch ((HostOp)node->op) {
    case HOST_INDEX:
        known->range = variable(r, node);
        known->epoch = ranges->epoch;
        break;
    case HOST_KNOWN:
        known->range = one(host_eval(r->program, r->context, node->a, r->err));
        break;
    case HOST_PIXEL:
        known->range = of_type(node->d == ELEM_FILE ? r->context->inputs[node->a].elem : (Elem)node->d);
        break;
    default:
        known->range = find(r, node);
        known->epoch = ranges->epoch;
    }
    return known->range;
}

static bool start(const Program *program, const HostContext *context, const int first[3], const int last[3], Err *err)
{
    const int part[6] = {first[0], first[1], first[2], last[0], last[1], last[2]};
    if (!context->ranges) {
        size_t n = (size_t)program->n_host;
        struct HostRanges *ranges = calloc(1, sizeof *ranges + n * sizeof *ranges->of);
        if (!ranges) {
            return err_set(err, CODE_MEMORY, "out of host memory for %d expressions", program->n_host);
        }
        ranges->epoch = 1;
        ((HostContext *)context)->ranges = ranges; /* a cache, not a part of what is asked */
    }
    if (memcmp(context->ranges->part, part, sizeof part) != 0) {
        memcpy(context->ranges->part, part, sizeof part);
        context->ranges->epoch++;
    }
    return true;
}

bool host_range(const Program *program, const HostContext *context, int expr, const int first[3], const int last[3],
                HostRange *range, Err *err)
{
    const Ranges r = {program, context, first, last, err};
    TRY(start(program, context, first, last, err));
    *range = range_of(&r, expr);
    *range = range->nan ? ANYTHING : *range;
    return err->code == CODE_OK;
}
