/* prim_label: what the tests may ask of the labelling primitives beyond the table's functions. */
#ifndef RUNTIME_PRIM_LABEL_H
#define RUNTIME_PRIM_LABEL_H

#include "../prim.h"

/*
 * The primitives with nodes of 32 or 64 bits; `run` takes 64 for images whose nodes 32 bits cannot
 * count.  label: beyond 2^28 words of 32 pixels, less where extents are not powers of two;
 * label_equal: from 2^32 pixels on, padding counted.
 */
bool prim_label_run(PrimCall *call, int node_bits);
bool prim_label_equal_run(PrimCall *call, int node_bits);
size_t prim_label_equal_scratch(const PrimCall *call, int node_bits);

#endif
