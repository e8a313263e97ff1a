/*
 * host_range: interval arithmetic over host expressions, for what a part reads.
 *
 * Rounding never turns two numbers round, so the ends of an interval, rounded as the kernel rounds
 * them, are the ends of what the kernel computes: an interval holds every coordinate that a pixel
 * asks for, to the last one.
 */
#include "host.h"

#include "../../base/hostops.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const HostRange ANYTHING = {-INFINITY, INFINITY};

typedef struct Ranges {
    const Program *program;
    const HostContext *context;
    const int *first, *last;
    Err *err;
} Ranges;

static HostRange one(double value)
{
    return (HostRange){value, value};
}

static bool is_known(HostRange r)
{
    return isfinite(r.lo) && isfinite(r.hi);
}

static HostRange hull(const double *at, int n)
{
    HostRange r = one(at[0]);
    for (int i = 0; i < n; i++) {
        r.lo = at[i] < r.lo ? at[i] : r.lo;
        r.hi = at[i] > r.hi ? at[i] : r.hi;
    }
    return r;
}

/* ---- operators --------------------------------------------------------------------------- */

/* Those that are monotone in each operand: what comes of the ends. */
static HostRange of_corners(int op, HostRange a, HostRange b)
{
    const double at[4] = {hostop_eval(op, a.lo, b.lo, 0), hostop_eval(op, a.lo, b.hi, 0),
                          hostop_eval(op, a.hi, b.lo, 0), hostop_eval(op, a.hi, b.hi, 0)};
    return hull(at, 4);
}

static HostRange of_quotient(int op, HostRange a, HostRange b)
{
    return b.lo <= 0 && b.hi >= 0 ? ANYTHING : of_corners(op, a, b);
}

/* Within one period the rest rises with its number. */
static HostRange of_rest(int op, HostRange a, HostRange b)
{
    if (b.lo != b.hi || b.lo <= 0) {
        return ANYTHING;
    }
    bool same = floor(a.lo / b.lo) == floor(a.hi / b.lo);
    return same ? of_corners(op, a, b) : (HostRange){0, b.lo};
}

static HostRange of_size(int op, HostRange a, HostRange b)
{
    HostRange r = of_corners(op, a, b);
    r.lo = a.lo <= 0 && a.hi >= 0 ? 0 : r.lo;
    return r;
}

static HostRange of_root(int op, HostRange a, HostRange b)
{
    return a.lo < 0 ? ANYTHING : of_corners(op, a, b);
}

typedef struct Rule {
    const char *name;
    HostRange (*of)(int op, HostRange a, HostRange b);
} Rule;

static const Rule RULES[] = {
    {"add", of_corners},   {"sub", of_corners},       {"mul", of_corners}, {"min", of_corners},
    {"max", of_corners},   {"div", of_quotient},      {"neg", of_corners}, {"floor", of_corners},
    {"ceil", of_corners},  {"round", of_corners},     {"abs", of_size},    {"trunc", of_corners},
    {"mod", of_rest},      {"floordiv", of_quotient}, {"sqrt", of_root},
};

static HostRange of_operator(int op, HostRange a, HostRange b)
{
    if (a.lo == a.hi && b.lo == b.hi) {
        return one(hostop_eval(op, a.lo, b.lo, 0));
    }
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        if (strcmp(RULES[i].name, hostop_name(op)) == 0) {
            return RULES[i].of(op, a, b);
        }
    }
    return ANYTHING;
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

static HostRange range_of(const Ranges *r, int expr)
{
    const HostNode *node = &r->program->host[expr];
    HostRange a = ANYTHING, b = one(0);
    if (node->op == HOST_INDEX) {
        return variable(r, node);
    }
    if (node->op == HOST_KNOWN) {
        return one(host_eval(r->program, r->context, node->a, r->err));
    }
    a = range_of(r, node->a);
    b = node->op == HOST_OP2 || node->op == HOST_RANGE ? range_of(r, node->b) : b;
    if (!is_known(a) || !is_known(b)) {
        return ANYTHING;
    }
    switch ((HostOp)node->op) {
    case HOST_RANGE:
        return hull((const double[]){a.lo, a.hi, b.lo, b.hi}, 4);
    case HOST_F32:
        return (HostRange){(double)(float)a.lo, (double)(float)a.hi};
    case HOST_I32:
        return a.lo >= INT_MIN && a.hi <= INT_MAX ? a : ANYTHING;
    default:
        return of_operator(node->d, a, b);
    }
}

bool host_range(const Program *program, const HostContext *context, int expr, const int first[3],
                const int last[3], HostRange *range, Err *err)
{
    const Ranges r = {program, context, first, last, err};
    *range = range_of(&r, expr);
    *range = is_known(*range) ? *range : ANYTHING;
    return err->code == CODE_OK;
}
