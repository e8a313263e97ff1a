/* image_fits_streams: do the bytes of a compressed tile hold all that cfitsio would read of them? */
#ifndef RUNTIME_IMAGE_FITS_STREAMS_H
#define RUNTIME_IMAGE_FITS_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of H-compress: n bytes at `at`, a tile of at most `pixels` pixels.  False also when memory is out. */
bool fits_hcompress_is_whole(const uint8_t *at, size_t n, double pixels);

/* Of PLIO: n bytes, which are words of two, high bytes first. */
bool fits_plio_is_whole(const uint8_t *at, size_t n);

/* Of Rice: n bytes, a tile of so many pixels in blocks of `block`, which were numbers of 1, 2 or 4 bytes. */
bool fits_rice_is_whole(const uint8_t *at, size_t n, double pixels, int64_t block, int bytes);

/* Of gzip: n bytes, a tile of so many pixels of at most 8 bytes.  False also when memory is out. */
bool fits_gzip_is_whole(const uint8_t *at, size_t n, double pixels);

#endif
