/* hull_parts: the primitive "hull" for images in parts. */
#ifndef RUNTIME_HULL_PARTS_H
#define RUNTIME_HULL_PARTS_H

#include "prim.h"

int hull_parts_passes(const PrimCall *call);
bool hull_parts_run(PrimCall *call);
void hull_parts_forget(void *state);

#endif
