/*
 * prim_host: what primitives that work on the host share: planes of images from the device and back.
 */
#ifndef RUNTIME_PRIM_HOST_H
#define RUNTIME_PRIM_HOST_H

#include "prim.h"

/* Room to move planes of a call through; `pixels` holds the plane, without padding. */
typedef struct HostPlane {
    const PrimCall *call;
    void *raw, *pixels;
} HostPlane;
bool host_plane_open(HostPlane *plane, const PrimCall *call);
void host_plane_close(HostPlane *plane);

/* Downloads plane z (counted over all channels) into plane->pixels, as pixels of type `to`. */
bool host_fetch(HostPlane *plane, const PrimImage *image, size_t z, Elem to);
/* Uploads plane z from pixels of the image's own type, whose rows are `pitch` pixels apart. */
bool host_store(const PrimCall *call, const PrimImage *image, size_t z, const void *pixels, size_t pitch);
/* Sets the call's value, where it has one. */
bool host_value(const PrimCall *call, double value);

/* True when an image in parts has more pixels than 32 bits can count. */
bool host_is_huge(const PrimCall *call);
/*
 * Of huge images: adds the n counts of a part to those of the parts before, which the call's state
 * keeps (free).  With the last part the sums replace the counts: wide ones by their low words, behind
 * all n of these their high words, and one word that is 0 where all of those are; of others one above 32 bits is an error, but that of the background, the first.
 */
bool host_add_counts(PrimCall *call, DevMem *counts, size_t n, bool wide);

/* Asks between long pieces of work whether to go on; true, with an error, where not. */
bool host_stopped(const PrimCall *call);

/* Says that the host has no memory; returns false. */
bool host_no_memory(const PrimCall *call);

#endif
