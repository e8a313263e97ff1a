/*
 * image_pixels: from pixels as files pack them to rows of one sample in a type that pipec has.
 */
#ifndef RUNTIME_IMAGE_PIXELS_H
#define RUNTIME_IMAGE_PIXELS_H

#include "../../base/elem.h"
#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a row is packed; native byte order. */
typedef struct PixelForm {
    int bits;           /* of one sample: 1, 2, 4, 8, 10, 12, 14, 16, 32, 64 */
    int samples;        /* of one pixel in the row */
    bool widen;         /* signed bytes, which become i16 */
    bool half;          /* floats of 16 bits, which become f32 */
    bool narrow;        /* whole numbers of 64 bits, which become u32 or i32 where they fit */
    bool invert;        /* 0 is white: unsigned values are turned over */
    bool offset;        /* 16 bits that count from -32768 on, and become i16 */
    const float *curve; /* bytes or 16 bits become curve[value]; NULL: they stay */
    const uint8_t *map; /* palette: map[sample * 256 + index]; NULL: none */
    Elem elem;          /* of the result */
} PixelForm;

/* True when a row of the file is a row of the result, byte for byte. */
bool pixels_are_plain(const PixelForm *form);
/* Sample `sample` of n pixels; false where one of them does not fit. */
bool pixels_row(const PixelForm *form, const uint8_t *row, int sample, size_t n, void *to);
/* Turns the bytes of n elements over. */
void pixels_swap(void *at, size_t n, size_t bytes);
/* Turns black and white over. */
void pixels_invert(void *at, size_t n, Elem elem, int bits);
/* What 16 bits of IEEE 754 stand for. */
float pixels_from_half(uint16_t half);
/* n of them become f32 in place; there is room for these. */
void pixels_widen_half(void *at, size_t n);
/* Sample `first` of n pixels of 64 bits, `step` samples each, as u32 or i32; false where one does not fit.  `to` may be
 * `from`. */
bool pixels_narrow(const uint8_t *from, size_t step, size_t first, size_t n, Elem elem, void *to);
/* Can a file of `file_size` bytes hold a plane of so many bytes, when each of the file's stands for `ratio` of them at most?
 * If not, the plane's size is what a damaged file claims. */
bool pixels_fit_file(int64_t x, int64_t y, uint64_t bytes, uint64_t file_size, uint64_t ratio, Err *err);

#endif
