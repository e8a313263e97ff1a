/*
 * scalar: functions compiled to the statements of ir/function.h, for the files that compile and call them.
 */
#ifndef FRONTEND_SCALAR_H
#define FRONTEND_SCALAR_H

#include "elab.h"

#include "../../ir/function.h"

enum { SCALAR_MAX_ARGS = 12 };

/* A number from outside a function, which becomes an argument of its own. */
typedef struct ScalarCapture {
    const char *name;
    IrExpr e;
    Elem type;
} ScalarCapture;

/* The type with which a number enters a function. */
Elem scalar_arithmetic(Elem e);
Elem scalar_type_of_number(double value, bool whole);
/* Its number in the graph. */
int scalar_index(const Elab *el, const IrFunction *f);
/* The function for arguments of these types, compiled once; NULL after a complaint.  The captures follow the arguments. */
IrFunction *scalar_function(Elab *el, const AstStmt *fn, Scope *env, const Elem *types, int n_types, Span span,
                            ScalarCapture **captures, int *n_captures);

#endif
