/*
 * outlines: the outlines of labelled objects along the sides of their pixels.
 *
 * Pixels that meet at a corner alone are parts of their own, so that no ring touches itself: what comes out are valid polygons.
 */
#ifndef RUNTIME_OUTLINES_H
#define RUNTIME_OUTLINES_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A corner of pixels: (0, 0) is the upper left one of the first pixel. */
typedef struct OutlinePoint {
    int32_t x, y;
} OutlinePoint;

/* A closed line; the last point is not the first one again. */
typedef struct OutlineRing {
    uint32_t label;
    uint32_t part; /* pixels of a label that hang together by their sides; one outer ring and its holes */
    bool hole;
    size_t first, n; /* its points */
} OutlineRing;

/* Rings by label, parts of a label in the order of their first pixels, the outer ring in front of the holes. */
typedef struct Outlines {
    OutlinePoint *points;
    OutlineRing *rings;
    size_t n_points, n_rings, cap_points, cap_rings;
} Outlines;

enum { OUTLINES_MOST_PIXELS = INT32_MAX };

/* Of a plane of width * height labels, 0 is background; at most OUTLINES_MOST_PIXELS of them.  *out is owned by the caller
 * (outlines_free), also when it fails, which it does where memory does not suffice. */
bool outlines_of(const uint32_t *labels, int32_t width, int32_t height, Outlines *out, Err *err);
void outlines_free(Outlines *out);

#endif
