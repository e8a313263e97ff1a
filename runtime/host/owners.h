/*
 * owners: those that do one run together, each in the same order and each its share: ranks of MPI, each a process, or
 * threads of this one, each with a device.  What they tell each other they swap, all of them at once; nothing else is
 * shared.  One that fails tells the others with the next swap, and all end with its sentence.
 */
#ifndef RUNTIME_OWNERS_H
#define RUNTIME_OWNERS_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct OwnersPiece {
    void *bytes;
    uint64_t n;
} OwnersPiece;

/* How pieces travel: give[k] to owner k, take[k] from it, which has so many bytes.  Called by all at once. */
typedef void OwnersSwap(void *context, const OwnersPiece *give, const OwnersPiece *take);

typedef struct Owners {
    int n, number;     /* how many; which one this is, from 0 */
    int local, locals; /* which one of how many on its host; threads: 0 of 1 */
    OwnersSwap *swap;
    void *context;
    bool ended; /* one has failed: nothing is swapped any more */
} Owners;

/* give[k] goes to owner k; what owner k has given this one comes to take[k], owned by the caller (owners_drop, also after
 * a failure). */
bool owners_swap(Owners *owners, const OwnersPiece *give, OwnersPiece *take, Err *err);
/* The same piece for all. */
bool owners_tell(Owners *owners, void *bytes, uint64_t n, OwnersPiece *take, Err *err);
/* This one has failed, and the others end with its sentence. */
void owners_fail(Owners *owners, const Err *err);
void owners_drop(const Owners *owners, OwnersPiece *pieces);

#endif
