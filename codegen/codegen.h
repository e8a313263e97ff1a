/*
 * codegen: from a scheduled graph to a program: kernels as text, buffers, steps, outputs.
 */
#ifndef CODEGEN_CODEGEN_H
#define CODEGEN_CODEGEN_H

#include "../ir/schedule.h"
#include "../program/program.h"

/* The program, in the graph's arena.  `hash` identifies source and compiler. */
const Program *cg_program(IrGraph *g, const IrSchedule *schedule, const char *hash);

/* The program as C initialisers: `static const Program NAME = {...};` and what it points to, whose names begin
 * with NAME_ as well. */
void cg_emit_c(const Program *program, const char *name, Str *out);

/* The kernels as `pipec show --kernels` prints them: without the library of exact functions,
 * which every kernel that needs it has in front. */
void cg_show_kernels(const Program *program, Str *out);

#endif
