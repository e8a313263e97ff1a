/* prim_rank: the steps of a percentile in one piece, for prim_summary.c, which reads the image itself. */
#ifndef RUNTIME_PRIM_RANK_H
#define RUNTIME_PRIM_RANK_H

#include "../prim.h"

enum { RANK_HEADER_WORDS = 24576 /* of scratch, in front of the copies */ };

extern const char kernel_text_rank[];
extern const Primitive prim_rank;

/* Copies that there is room for. */
uint32_t rank_capacity(const PrimCall *call);
/* The program without the reader. */
bool rank_bare_program(const PrimCall *call, DevProgram **program);
/* The sample and the bracket, which only steer; `reads`: the program with the reader. */
bool rank_bracket(const PrimCall *call, DevProgram *reads);
/* The percentile among what the reading has kept. */
bool rank_find(const PrimCall *call, DevProgram *reads);

#endif
