/*
 * image_zarr: a folder of OME-Zarr as an image: 0.4 (zarr 2) and 0.5 (zarr 3), and arrays of zarr without OME's metadata.
 */
#ifndef RUNTIME_IMAGE_ZARR_H
#define RUNTIME_IMAGE_ZARR_H

#include "image_format.h"

#include <stdbool.h>

extern const ImageFormat image_zarr;

/* True for a folder that has metadata of zarr. */
bool image_zarr_is(const char *folder);

#endif
