/* image_levels: levels of detail that are written: each is half as wide and half as high as the one before. */
#ifndef RUNTIME_IMAGE_LEVELS_H
#define RUNTIME_IMAGE_LEVELS_H

#include "../../base/elem.h"

#include <stddef.h>
#include <stdint.h>

enum { LEVELS_MOST = 24, LEVELS_COARSEST = 512 }; /* width and height of the coarsest level, at most */

/* Extents of all levels of an image, which is the first; returns how many they are. */
int levels_of(int64_t x, int64_t y, int64_t to_x[LEVELS_MOST], int64_t to_y[LEVELS_MOST]);

/* One row of (n + 1) / 2 pixels of two rows of n, which may be the same: means, rounded to the nearest and halves up; the
 * last column counts twice where n is odd. */
void levels_mean(Elem elem, const void *above, const void *below, size_t n, void *to);
/* The same of the first pixel of each four. */
void levels_nearest(Elem elem, const void *above, size_t n, void *to);
/* Widens low .. high to all finite values of n pixels. */
void levels_range(Elem elem, const void *row, size_t n, double *low, double *high);

#endif
