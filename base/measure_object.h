/*
 * measure_object: what is summed of an object and its pixel values before the formulae; the same text
 * for C11 and for OpenCL C 1.2.
 */
#ifndef BASE_MEASURE_OBJECT_H
#define BASE_MEASURE_OBJECT_H

#ifdef __OPENCL_C_VERSION__
#define int32_t int
#define uint32_t uint
#define int64_t long
#define uint64_t ulong
#else
#include <stdint.h>
#endif

/* Axes are x, y, z here: innermost first. */
typedef struct MeasureFrame {
    int dims;          /* 2 or 3 */
    double spacing[3]; /* size of a pixel */
} MeasureFrame;

enum { MEASURE_MAX_MOMENTS = 64 };

/* What is summed of one object; only what is needed is set. */
typedef struct MeasureObject {
    uint32_t label;
    uint64_t count;
    int64_t sum[3];       /* of the coordinates */
    int32_t lo[3], hi[3]; /* bounding box, both ends included */
    double convex;        /* pixels of the convex hull image */
    double feret;         /* square of the largest distance, in units of the spacing */
    double filled;        /* pixels with holes filled */
    int64_t perimeter[3]; /* border pixels that weigh 1, sqrt 2, (1 + sqrt 2) / 2 */
    int64_t crofton[5];   /* 2 x 2 neighbourhoods of the five weights, see measure_formulae.h */
    int64_t euler;        /* Euler number; in 3-D eight times it */
    /* Sums of dx^p dy^q dz^r from the anchor, [r][q][p] with p, q, r in 0..3; 0: not needed. */
    double moments[MEASURE_MAX_MOMENTS];
} MeasureObject;

/* Exact sums come as a double and what it lacks. */
typedef struct MeasureIntensity {
    double sum[2], square[2], by[3][2]; /* by: times the coordinate */
    double min, max;                    /* NaN when a pixel is */
    double median;                      /* or another percentile */
    double moments[MEASURE_MAX_MOMENTS];
} MeasureIntensity;

/* Where a percentile lies among the sorted values of an object, from 0, as a fraction of 1: between two of them. */
static inline double measure_rank(uint64_t count, double fraction)
{
    return (double)(count - 1) * fraction;
}

/* What is there, with the values at the whole ranks around it; linear as in numpy. */
static inline double measure_between(double lower, double upper, double rank)
{
    double part = rank - (double)(int64_t)rank;
    return lower == upper ? (lower + upper) / 2 : lower * (1 - part) + upper * part;
}

/* The place from which an object's moments are summed: the pixel at its centroid. */
static inline int64_t measure_anchor(int64_t sum, uint64_t count)
{
    return (sum + (int64_t)(count / 2)) / (int64_t)count;
}

#endif
