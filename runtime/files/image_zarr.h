/*
 * image_zarr: a folder of OME-Zarr as an image: 0.4 (zarr 2) and 0.5 (zarr 3), and arrays of zarr without OME's metadata.
 */
#ifndef RUNTIME_IMAGE_ZARR_H
#define RUNTIME_IMAGE_ZARR_H

#include "image_format.h"

#include <stdbool.h>

extern const ImageFormat image_zarr;

/* The writing half of the format, in image_zarr_write.c; see ImageFormat. */
bool zarr_create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                 Err *err);
bool zarr_write(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err);
bool zarr_finish(void *state, Err *err);
bool zarr_publish(void *state, Err *err);
void zarr_discard(void *state);
int64_t zarr_grain(const void *state);
bool zarr_create_part(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                      Err *err);
bool zarr_end_part(void *state, FILE *to, Err *err);
bool zarr_join(void *state, const void *from, size_t bytes, Err *err);

/* True for a folder that has metadata of zarr. */
bool image_zarr_is(const char *folder);

#endif
