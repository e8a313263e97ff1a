/*
 * function: a function with control flow that runs once a pixel.
 *
 * Most functions of the language are expanded where they are called.  One whose control flow
 * depends on pixels (is_prime of every number) cannot be; it is kept as a list of statements over
 * typed variables.  Their expressions are the graph's: constants, IR_X_LOCAL, conversions, operators and
 * calls.  The reference evaluator interprets them, and codegen/functions.c prints them.
 *
 * Variables are BOOL, I32, U32 and F32.  Functions do not recurse: a function may only call one that
 * was complete before it.
 *
 * A trained forest is a function, too: of its features, and of a look-up in the vector that holds it (IR_FOREST), which
 * kernels take as a pointer.
 */
#ifndef IR_FUNCTION_H
#define IR_FUNCTION_H

#include "ir.h"

#include "../base/forest.h"

typedef struct IrFnStmt IrFnStmt;

typedef enum IrFnStmtKind {
    IR_FN_SET,   /* var = a */
    IR_FN_IF,    /* if a body else other */
    IR_FN_WHILE, /* while a body */
    IR_FN_FOR,   /* var from a to b, both included: body does not assign var */
    IR_FN_RETURN /* return a */
} IrFnStmtKind;

struct IrFnStmt {
    IrFnStmtKind kind;
    int var;
    IrExpr a, b; /* of the variable's type, BOOL of conditions, the function's of RETURN */
    IrFnStmt *body, *other;
    IrFnStmt *next;
};

typedef struct IrFnVar {
    const char *name; /* unique in the function, a word */
    Elem type;
} IrFnVar;

enum { IR_FN_MAX_VARS = 64, IR_FN_MAX_STEPS = 0x7fffffff };

typedef struct IrForest {
    Forest shape;
    const uint32_t *words;
    const char *text; /* both as text (base/forest.h) */
} IrForest;

struct IrFunction {
    const char *name; /* unique in the graph, a word */
    Elem type;        /* of the result */
    int n_params;     /* the first of vars */
    Vec(IrFnVar) vars;
    IrFnStmt *body;         /* every path ends in a return */
    const IrForest *forest; /* instead of a body; NULL: none */
    int wanted;             /* of it: as forest_apply */
};

/* A forest from its text; NULL: it is none. */
const IrForest *ir_forest(Arena *arena, const char *text);
/* That of a node IR_FOREST; NULL where it has none of its length. */
const IrForest *ir_forest_of(const IrGraph *g, IrId node);
/* How many operations a call is, about. */
int ir_call_ops(const IrGraph *g, const IrExprNode *call);
/* Makes its class (`wanted` 0), or the share of one, a function of the graph; returns its number. */
int ir_forest_function(IrGraph *g, const char *name, const IrForest *forest, int wanted);

/* Calls visit on the expressions of statements, in their order. */
void ir_function_walk(const IrGraph *g, const IrFnStmt *s, void (*visit)(const IrGraph *g, IrExpr e, void *ctx),
                      void *ctx);
/* One call.  `args` hold values of the parameters' types.  A call that takes more than
 * IR_FN_MAX_STEPS statements gives 0. */
double ir_function_eval(const IrGraph *g, const IrFunction *f, const double *args);
/* The same within `steps` statements; false when they do not suffice. */
bool ir_function_eval_within(const IrGraph *g, const IrFunction *f, const double *args, long steps, double *result);

#endif
