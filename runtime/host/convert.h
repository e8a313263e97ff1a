/* convert: rows of pixels from one element type to another, refusing what the other cannot hold. */
#ifndef RUNTIME_CONVERT_H
#define RUNTIME_CONVERT_H

#include "../../base/elem.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * n pixels of type `from` at `in` become type `to` at `out`.  Integers must fit; floats become
 * integers only when they are whole; anything becomes a float, rounded to nearest, and a bool:
 * false for 0.  False at the first pixel that does not fit: *bad is its number.  Of floats every NaN becomes
 * the same one, whatever device has made it.
 */
bool convert_row(Elem from, const void *in, Elem to, void *out, size_t n, size_t *bad);
/* One pixel as a number. */
double convert_get(Elem elem, const void *row, size_t i);
/* One of n pixels is NaN. */
bool convert_has_nan(Elem elem, const void *row, size_t n);
/* The largest of n pixels, at least `least`. */
double convert_max(Elem elem, const void *row, size_t n, double least);

#endif
