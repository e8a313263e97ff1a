/*
 * watershed_paths: the flood of prim_watershed.c on the device, where it can be had so.
 */
#ifndef RUNTIME_WATERSHED_PATHS_H
#define RUNTIME_WATERSHED_PATHS_H

#include "../prim.h"

size_t watershed_paths_scratch(const PrimCall *call);

/* Floods the image, unless *flooded says that it cannot: the queue must then.  Waits for the
 * device. */
bool watershed_paths_run(const PrimCall *call, bool *flooded);

#endif
