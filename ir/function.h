/*
 * function: the little tree of a function with control flow that runs once a pixel.
 *
 * Most functions of the language are expanded where they are called.  One whose control flow
 * depends on pixels (is_prime of every number) cannot be; it is kept as a tree of statements over
 * typed locals.  The tree is interpreted by the reference evaluator and printed as text that is
 * valid C and valid OpenCL C.  Both round every operation to its type in the same way, because
 * both take the operators from exprs.def.
 *
 * Types are BOOL, I32, U32 and F32.  Functions do not recurse: a function may only call one that
 * was complete before it.
 */
#ifndef IR_FUNCTION_H
#define IR_FUNCTION_H

#include "ir.h"

typedef struct IrFnExpr IrFnExpr;
typedef struct IrFnStmt IrFnStmt;

typedef enum IrFnExprKind {
    IR_FN_CONST, /* num */
    IR_FN_VAR,   /* var */
    IR_FN_OP,    /* op on a, b, c, which have the operands' type */
    IR_FN_CAST,  /* a to `type`, as ir_cast */
    IR_FN_CALL   /* callee on args */
} IrFnExprKind;

struct IrFnExpr {
    IrFnExprKind kind;
    Elem type;
    double num;
    double written; /* CONST: before it was rounded to its type */
    int var;
    IrExprOp op;
    IrFnExpr *a, *b, *c;
    const IrFunction *callee;
    IrFnExpr **args;
    double size; /* of the text: what it shares counts as often as it is met */
    int depth;   /* of its brackets, 1 of a leaf */
};

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
    IrFnExpr *a, *b;
    IrFnStmt *body, *other;
    IrFnStmt *next;
};

typedef struct IrFnVar {
    const char *name; /* unique in the function, a word */
    Elem type;
} IrFnVar;

enum { IR_FN_MAX_VARS = 64, IR_FN_MAX_STEPS = 0x7fffffff };

struct IrFunction {
    const char *name; /* unique in the graph, a word */
    Elem type;        /* of the result */
    int n_params;     /* the first of vars */
    Vec(IrFnVar) vars;
    IrFnStmt *body; /* every path ends in a return */
};

IrFnExpr *ir_fn_const(IrGraph *g, double value, Elem type);
IrFnExpr *ir_fn_var(IrGraph *g, const IrFunction *f, int var);
/* The expression converted; itself when it has the type already. */
IrFnExpr *ir_fn_cast(IrGraph *g, IrFnExpr *e, Elem type);
/* Operators of exprs.def; operands are converted by the operator's rule; b and c may be NULL. */
IrFnExpr *ir_fn_op(IrGraph *g, IrExprOp op, IrFnExpr *a, IrFnExpr *b, IrFnExpr *c);
/* `args` is borrowed; the arguments are converted to the parameters' types. */
IrFnExpr *ir_fn_call(IrGraph *g, const IrFunction *callee, IrFnExpr *const *args);

/* A number as text of C and of OpenCL C, as short as gives it back: "100.0f", "(-0.5)", "NAN". */
const char *ir_c_number(Arena *arena, double v, bool is_double);
/* The name that the function has in C and in OpenCL C. */
const char *ir_function_c_name(Arena *arena, const IrFunction *f);
/* A static inline function, C and OpenCL C alike; needs px_math.h before it. */
void ir_function_print_c(const IrFunction *f, Str *out);
/* One call.  `args` hold values of the parameters' types.  A call that takes more than
 * IR_FN_MAX_STEPS statements gives 0. */
double ir_function_eval(const IrFunction *f, const double *args);
/* The same within `steps` statements; false when they do not suffice. */
bool ir_function_eval_within(const IrFunction *f, const double *args, long steps, double *result);

#endif
