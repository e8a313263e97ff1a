/*
 * label_parts: one labelling of an image that is labelled part by part.
 *
 * In the first pass objects of a part have provisional ids; those that touch across a seam are united
 * on the host.  The number of objects is known after it.  In the second pass each part, labelled
 * again, takes the final numbers: in raster order of the first pixel, channel after channel.
 */
#ifndef RUNTIME_LABEL_PARTS_H
#define RUNTIME_LABEL_PARTS_H

#include "../prim.h"

enum { LABEL_PARTS_PASSES = 2 };

/* The call that labels a part for itself: its count goes to the call's value in the first pass
 * alone. */
PrimCall label_parts_call(const PrimCall *call);

/*
 * What is to be done after a part has been labelled.  `values`: objects touch where these are equal,
 * too; NULL: wherever there are labels.  Overwrites scratch, which has room for a number for each of
 * the part's objects.
 */
bool label_parts_run(PrimCall *call, const PrimImage *values);

void label_parts_forget(void *state); /* NULL is allowed */

/* True where the planes of a volume are labelled each by itself; and the call as one about planes then. */
bool label_is_planar(const PrimCall *call);
PrimCall label_call(const PrimCall *call);

#endif
