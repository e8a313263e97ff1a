/*
 * elaborate: from the syntax tree to the graph, checking on the way.
 *
 * Functions are generic and instantiated at each call, so the kinds of things are known only
 * while the graph is made: checking and lowering are one walk.
 */
#ifndef FRONTEND_ELABORATE_H
#define FRONTEND_ELABORATE_H

#include "../ir/ir.h"
#include "ast.h"
#include "diag.h"

/* What every file may call: the operators and the prelude, parsed. */
typedef struct FeLibrary {
    const struct Ops *ops;
    const AstFile **prelude; /* OPS_PRELUDE_N files */
} FeLibrary;
const FeLibrary *fe_library(Arena *arena);

/* The graph of a file, or NULL when there are errors.  All errors of the file are reported. */
IrGraph *fe_elaborate(Arena *arena, const AstFile *file, Diags *diags);
/* The same for whoever compiles many files with one library. */
IrGraph *fe_elaborate_with(Arena *arena, const FeLibrary *library, const AstFile *file,
                           Diags *diags);

#endif
