/*
 * elaborate: from the syntax tree to the graph, checking on the way.
 *
 * Functions are generic and instantiated at each call, so the kinds of things are known only
 * while the graph is made: checking and lowering are one walk.
 */
#ifndef FRONTEND_ELABORATE_H
#define FRONTEND_ELABORATE_H

#include "../../ir/ir.h"
#include "../syntax/ast.h"
#include "../diag/diag.h"

/* What every file may call: operators, the functions of the prelude, and what operators take by default.  Lives in an
 * arena; for one thread. */
typedef struct FeLibrary {
    Arena *arena;
    const struct Ops *ops;
    Vec(struct FeFunction) functions; /* by name */
    Vec(struct FeDefault) defaults;
} FeLibrary;
FeLibrary *fe_library(Arena *arena);
/* A function of the prelude, or NULL. */
const AstStmt *fe_library_function(FeLibrary *library, const char *name);
/* A default as ops.def has it: the same pointer is the same text. */
const AstExpr *fe_library_default(FeLibrary *library, const char *text);

/* The graph of a file, or NULL when there are errors.  All errors of the file are reported. */
IrGraph *fe_elaborate(Arena *arena, const AstFile *file, Diags *diags);
/* The same for whoever compiles many files with one library. */
IrGraph *fe_elaborate_with(Arena *arena, FeLibrary *library, const AstFile *file, Diags *diags);

#endif
