/* image_fits: the writing half of the FITS format, in image_fits_write.c; see ImageFormat. */
#ifndef RUNTIME_IMAGE_FITS_H
#define RUNTIME_IMAGE_FITS_H

#include "image_format.h"

enum { FITS_CARD = 80, FITS_BLOCK = 2880 };

bool fits_out_create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                     Err *err);
bool fits_out_write(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err);
bool fits_out_finish(void *state, Err *err);
void fits_out_discard(void *state);

#endif
