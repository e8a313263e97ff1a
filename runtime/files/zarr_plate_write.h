/*
 * zarr_plate_write: plates that are written: each image that gets a name such as PLATE.zarr/A/1/0 is listed in the metadata
 * of its well, and the well in those of the plate.
 */
#ifndef RUNTIME_FILES_ZARR_PLATE_WRITE_H
#define RUNTIME_FILES_ZARR_PLATE_WRITE_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Of ".../PLATE.zarr/A/1/0" the length of the plate's folder; 0: the path is no such name. */
size_t zarr_plate_length(const char *path);
/* The version of zarr of a plate that is there; *version stays where there is none.  False for a folder of something else. */
bool zarr_plate_version(const char *path, size_t plate, int *version, Err *err);
/* Lists the image, which is there, in well and plate.  By any thread and any process. */
bool zarr_plate_add(const char *path, size_t plate, int version, Err *err);

#endif
