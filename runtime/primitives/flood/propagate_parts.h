/*
 * propagate_parts: values that rise (prim_propagate.h) in an image that comes in parts, in two passes.
 *
 * The first pass keeps every part's values on the host, and the image that the ceilings come from.
 * When all are there, parts are taken back to the device one by one, each with a row (in volumes a
 * plane, or a row of all planes) of its neighbours on either side, until none has anything left to rise
 * to.  The second pass gives the values back.
 */
#ifndef RUNTIME_PROPAGATE_PARTS_H
#define RUNTIME_PROPAGATE_PARTS_H

#include "prim_propagate.h"

enum {
    PROPAGATE_PARTS_PASSES = 2,
    PROPAGATE_PARTS_SLICE = 4096 /* slices of scratch begin at multiples of so many bytes */
};

/* Bytes of scratch, behind others; `image` may be NULL: ceilings come from the values themselves. */
size_t propagate_parts_bytes(const PrimCall *call, const PrimImage *image);

/* The call about the part and as many as `around` rows (planes) of its neighbours on either side;
 * *lead: the row of the memory in which the part begins. */
PrimCall propagate_parts_slab(const PrimCall *call, int around, size_t *lead);
/* The shape of the largest of them. */
PrimCall propagate_parts_longest(const PrimCall *call, int around);

/* Takes the part's values, which begin at row `lead` of the slab's output, and its rows of the image. */
bool propagate_parts_keep(const PrimCall *call, const PrimCall *slab, size_t lead, const PrimImage *image);

/* What rises, as for propagate_program. */
typedef struct PropagateRules {
    const char *defines, *text;
    int connectivity, how;
} PropagateRules;
/* Lets all parts rise until stable; `at`: where in the scratch its bytes begin. */
bool propagate_parts_settle(const PrimCall *call, const PropagateRules *rules, const PrimImage *image, size_t at);

/* The part's values, into the call's output. */
bool propagate_parts_give(const PrimCall *call);

void propagate_parts_forget(void *state); /* NULL is allowed */

#endif
