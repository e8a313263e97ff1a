/*
 * hostops: the arithmetic of host expressions.  The compiler folds constants with it, the run
 * evaluates what depends on parameters and extents; both get the same numbers.
 */
#ifndef BASE_HOSTOPS_H
#define BASE_HOSTOPS_H

/* The operators, in the order of hostops.def. */
enum {
#define H(NAME, text, operands, expression) HOSTOP_##NAME,
#include "hostops.def"
#undef H
    HOSTOP_COUNT
};

/* The operator called `name` ("add", as in hostops.def), or -1. */
int hostop_from_name(const char *name);
/* Its number of operands; 0 when there is no such operator. */
int hostop_arity(int op);
/* Its name; NULL when there is no such operator. */
const char *hostop_name(int op);
/* Operands that it does not have are ignored; NaN when there is no such operator. */
double hostop_eval(int op, double a, double b, double c);

#endif
