/* zarr_reduce: rows of the next level of detail: half as wide, of every two rows one. */
#ifndef RUNTIME_FILES_ZARR_REDUCE_H
#define RUNTIME_FILES_ZARR_REDUCE_H

#include "../../base/elem.h"

#include <stddef.h>
#include <stdint.h>

/* One row of (n + 1) / 2 pixels of two rows of n, which may be the same: means, rounded to the nearest and halves up; the
 * last column counts twice where n is odd. */
void zarr_reduce_mean(Elem elem, const void *above, const void *below, size_t n, void *to);
/* The same of the first pixel of each four. */
void zarr_reduce_nearest(Elem elem, const void *above, size_t n, void *to);
/* Widens low .. high to all finite values of n pixels. */
void zarr_reduce_range(Elem elem, const void *row, size_t n, double *low, double *high);

#endif
