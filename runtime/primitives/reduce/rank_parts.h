/* rank_parts: an exact percentile of an image in parts; for prim_rank.c. */
#ifndef RUNTIME_RANK_PARTS_H
#define RUNTIME_RANK_PARTS_H

#include "../prim.h"

enum { RANK_PARTS_PASSES = 2 };

size_t rank_parts_scratch(const PrimCall *call);
/* `percent`: 0 .. 100. */
bool rank_parts_run(PrimCall *call, double percent);
void rank_parts_forget(void *state);

#endif
