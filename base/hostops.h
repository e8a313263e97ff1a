/*
 * hostops: the arithmetic of host expressions.  The compiler folds constants with it, the run
 * evaluates what depends on parameters and extents; both get the same numbers.
 */
#ifndef BASE_HOSTOPS_H
#define BASE_HOSTOPS_H

#include <stdbool.h>

/* The operators, in the order of hostops.def. */
enum {
#define H(NAME, text, operands, expression) HOSTOP_##NAME,
#include "hostops.def"
#undef H
    HOSTOP_COUNT
};

/* How far from 0 an index of a range gets: kernels count in 32 bits, and end a loop one beyond its last index. */
#define HOSTOP_MOST_INDEX 2147483646

/* In lo .. hi; with `above`, above lo.  NaN is not. */
static inline bool hostop_within(double value, double lo, double hi, bool above)
{
    return (above ? value > lo : value >= lo) && value <= hi;
}

/* The operator called `name` ("add", as in hostops.def), or -1. */
int hostop_from_name(const char *name);
/* Its number of operands; 0 when there is no such operator. */
int hostop_arity(int op);
/* Its name; NULL when there is no such operator. */
const char *hostop_name(int op);
/* Operands that it does not have are ignored; NaN when there is no such operator. */
double hostop_eval(int op, double a, double b, double c);

#endif
