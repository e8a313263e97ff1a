/*
 * zarr_plate: the images of a plate (HCS), or of one of its wells: fields, each a folder of its own.
 */
#ifndef RUNTIME_FILES_ZARR_PLATE_H
#define RUNTIME_FILES_ZARR_PLATE_H

#include "../../base/err.h"

#include <stdbool.h>

/* Calls `take` with the path of each field, "PLATE.zarr/A/1/0", in the order of the metadata, until it fails.  *is_plate is
 * false for a folder that is neither, or damaged, of which nothing is taken; a damaged well is taken as if it were a field. */
bool zarr_plate_fields(const char *folder, bool (*take)(void *context, const char *path, Err *err), void *context,
                       bool *is_plate, Err *err);

#endif
