/* prim_reduce: the steps of a reduction, for prim_summary.c, which reads the image itself. */
#ifndef RUNTIME_PRIM_REDUCE_H
#define RUNTIME_PRIM_REDUCE_H

#include "../prim.h"

/* As in kernels/reduce.cl. */
enum { REDUCE_BLOCK_ROWS = 64 };
enum { REDUCE_PROGRAMS = 2 };

extern const char kernel_text_reduce[];
extern const Primitive prim_reduce;

/* Blocks of the whole image: so many partial results of each quantity are in scratch. */
size_t reduce_blocks(const PrimCall *call);
/* The program that finishes them. */
bool reduce_finish_program(const PrimCall *call, DevProgram **program);
/* The values, from these; `wanted`: bits. */
bool reduce_finish(const PrimCall *call, int wanted);

#endif
