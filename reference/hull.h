/*
 * hull: convex hulls of points with integer coordinates in space, exact.
 *
 * Incremental: each point replaces the faces that it sees by faces from their horizon to it.  All
 * decisions are signs of integer determinants, so coplanar and repeated points need no care: a
 * point in a face's plane does not see it.
 */
#ifndef IR_HULL_H
#define IR_HULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Coordinates up to 2^19: determinants fit 64 bits. */
typedef struct HullPoint {
    int64_t at[3];
} HullPoint;

/* normal . p <= offset for all points of the hull; divided by the normal's common divisor. */
typedef struct HullPlane {
    int64_t normal[3], offset;
} HullPlane;

/*
 * The planes of the hull's faces, each once.  *planes is owned by the caller (free).  False when
 * memory is out.  Points that all lie in a plane have no hull: *n is 0.
 */
bool hull_planes(const HullPoint *points, size_t n_points, HullPlane **planes, int *n);

#endif
