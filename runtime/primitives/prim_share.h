/* prim_share: how primitives whose parts are shared out (Primitive.shares) make one of what all owners have found. */
#ifndef RUNTIME_PRIM_SHARE_H
#define RUNTIME_PRIM_SHARE_H

#include "prim.h"

/* For Primitive.shares. */
bool share_all_passes(const PrimCall *call);

/* What all owners have, by owner; owned by the caller (share_drop, also after a failure).  NULL: that failed. */
OwnersPiece *share_tell(const PrimCall *call, void *bytes, uint64_t n);
void share_drop(const PrimCall *call, OwnersPiece *pieces);

/* Adds up n whole numbers of 64 bits of all owners, in memory; of places that only one has written where all are 0
 * before, that is what it has written. */
bool share_add_words(const PrimCall *call, DevMem *memory, size_t n);
/* The same for n counts as host_add_counts leaves them. */
bool share_add_counts(const PrimCall *call, DevMem *memory, size_t n, bool wide);
/* The least of n whole numbers of 32 bits, with a sign or without. */
bool share_least(const PrimCall *call, DevMem *memory, size_t n, bool with_sign);

#endif
