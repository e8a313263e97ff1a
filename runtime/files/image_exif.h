/* image_exif: the EXIF block of JPEG and PNG files. */
#ifndef RUNTIME_IMAGE_EXIF_H
#define RUNTIME_IMAGE_EXIF_H

#include <stdbool.h>
#include <stddef.h>

/* True when the block, which is a TIFF file of `size` bytes, says that the image is to be shown turned or mirrored. */
bool exif_turned(const unsigned char *block, size_t size);

#endif
