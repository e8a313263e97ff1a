/*
 * plan: where in one arena every buffer of a run lies.
 *
 * Each buffer is a rectangle, its lifetime wide and its size high, that slides up and down until
 * no two overlap; the height of the pile is the peak.  The largest sum of sizes alive at once,
 * the load, is a lower bound: a plan whose peak equals it is proven minimal.
 */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include "../../base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PlanBuffer {
    uint64_t size;   /* bytes; 0 takes no place */
    int first, last; /* steps, both included; -1: from before the first one */
    int onto;        /* another buffer whose place it takes, element by element, where that one dies
                        and this one is born in the same step, or both die together; -1 none */
    uint64_t offset; /* the result */
} PlanBuffer;

typedef struct PlanResult {
    uint64_t peak; /* bytes of the arena */
    uint64_t load; /* lower bound */
} PlanResult;

/*
 * Fills the offsets, all multiples of `alignment` (a power of two).  With `segment` > 0 (a multiple
 * of the alignment) no buffer crosses a multiple of it, so that the arena can be several
 * allocations of that size.  The same buffers always get the same places.  CODE_MEMORY when one
 * buffer is larger than a segment.
 */
bool plan_pack(PlanBuffer *buffers, int n, uint64_t alignment, uint64_t segment, PlanResult *result, Err *err);

#endif
