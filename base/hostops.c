/* hostops: hostops.def as a table of functions. */
#include "hostops.h"

#include "f64_math.h"

#include <stddef.h>
#include <string.h>

#define H(NAME, text, operands, expression)                 \
    static double eval_##NAME(double a, double b, double c) \
    {                                                       \
        (void)b;                                            \
        (void)c;                                            \
        return expression;                                  \
    }
#include "hostops.def"
#undef H

static const struct OpRow {
    const char *name;
    int operands;
    double (*eval)(double a, double b, double c);
} OPS[HOSTOP_COUNT] = {
#define H(NAME, text, operands, expression) {text, operands, eval_##NAME},
#include "hostops.def"
#undef H
};

int hostop_from_name(const char *name)
{
    for (int op = 0; op < HOSTOP_COUNT; op++) {
        if (strcmp(OPS[op].name, name) == 0) {
            return op;
        }
    }
    return -1;
}

int hostop_arity(int op)
{
    return op >= 0 && op < HOSTOP_COUNT ? OPS[op].operands : 0;
}

const char *hostop_name(int op)
{
    return op >= 0 && op < HOSTOP_COUNT ? OPS[op].name : NULL;
}

double hostop_eval(int op, double a, double b, double c)
{
    return op >= 0 && op < HOSTOP_COUNT ? OPS[op].eval(a, b, c) : NAN;
}
