/*
 * measure_plan: which sums the measuring kernels make of an object, where they lie, and how the
 * scratch memory of a measurement is divided.
 *
 * Sums are 64 bits wide and lie in lanes of one element an object; behind them come 32-bit
 * minima.  See kernels/measure.cl for digits, classes and windows.
 */
#ifndef RUNTIME_MEASURE_PLAN_H
#define RUNTIME_MEASURE_PLAN_H

#include "../../../base/measures.h"
#include "../prim.h"

/* What the first kernel reads an image for, and what of that needs windows. */
enum {
    MEASURE_WINDOWED = MEASURE_SUM | MEASURE_SQUARE | MEASURE_CENTER,
    MEASURE_READ = MEASURE_WINDOWED | MEASURE_RANGE
};

/* The most digits of a sum. */
enum { MEASURE_DIGITS = 8 };

/* How far the pixels of an image spread: below 2^top, multiples of 2^low. */
typedef struct MeasureSpread {
    int32_t top, low, not_finite;
} MeasureSpread;

typedef struct ImageLanes {
    int kind; /* CLASS */
    int base, base2;
    int sum, sum_digits, square, square_digits, by[3], by_digits;
    int range;              /* first of two minima; -1 none */
    int weighted, median;   /* -1 none */
    uint64_t weighted_mask; /* which moments, by index; their lanes are without gaps */
} ImageLanes;

typedef struct MeasureLanes {
    int space;                          /* 1 in 3-D */
    int sums;                           /* lanes of the first kernel: count, x, y, (z,) images */
    int outline, n_outline;             /* lanes of the outline kernel */
    int perimeter, crofton, euler;      /* counted from `outline`; -1 none */
    int convex, feret, filled, moments; /* -1 none */
    uint64_t moments_mask;
    int powers; /* sums over rows of 1, x, x^2 (, x^3): 0, 3 or 4 */
    int all;    /* all 64-bit lanes */
    int lows;   /* 32-bit lanes */
    ImageLanes image[MEASURE_MAX_IMAGES];
} MeasureLanes;

/* Powers of z in a mask of moments: one more than the largest. */
int measure_z_powers(uint64_t mask);

/* spread NULL: as if pixels were anything. */
void measure_lanes(const MeasureList *list, const MeasureSpread *spread, const PrimCall *call, MeasureLanes *lanes);

/* Sums over a row that are weighted with an image: powers 0 to 3. */
enum { MEASURE_WEIGHTS = 4 };
/* Bytes of a row that come back together of what parts kept: at most four sums. */
enum { MEASURE_KEPT = 4 * sizeof(uint64_t) };

/* Objects with more values than this are cut into segments to find their median. */
enum { MEASURE_LARGE = 1 << 16, MEASURE_SEGMENT = 1 << 15 };

/* What is known of the median of a large object; as in kernels/measure_median.cl. */
typedef struct MeasureLarge {
    uint32_t object, prefix, rest, next, not_above, largest, unused[2];
    uint32_t histogram[256];
} MeasureLarge;

/* What parts have counted of the values of an object that they cut: CutsDigits of kernels/measure_cuts.cl. */
enum { MEASURE_RECORD = 2 * sizeof(uint32_t) + 256 * sizeof(uint64_t) };

/* What all of a chunk's objects take of the work area: rows; words of holes' bit masks. */
typedef struct MeasureWanted {
    uint64_t rows, words;
} MeasureWanted;

/* Numbers for the host, side by side, so that it waits once for all that are known at a time. */
typedef struct MeasureNumbers {
    int32_t spread[MEASURE_MAX_IMAGES][3]; /* minima of kernels/measure_range.cl; medians count objects here */
    double count;                          /* labels */
    MeasureWanted wanted;
} MeasureNumbers;

/* Bytes; offsets are aligned for any device. */
typedef struct MeasureScratch {
    size_t numbers, window, table, lows, place, heights, sizes, others, groups, work, all;
    uint32_t objects; /* at a time */
    uint32_t rows;    /* of objects, at a time */
    uint64_t words;   /* of holes' bit masks, at a time; in parts with a row (plane) on either side */
    size_t keys;      /* bytes of all values, for medians; large objects' records follow */
    bool weights;     /* in parts: rows have sums weighted with an image */
} MeasureScratch;

void measure_scratch(const MeasureList *list, const MeasureLanes *lanes, const PrimCall *call, MeasureScratch *scratch);

/* The host's defines for the kernels of measure.cl and measure_outline.cl. */
void measure_defines(const MeasureList *list, const MeasureLanes *lanes, uint64_t local, char *out, size_t size);
/* Those of measure_finish.cl, whose groups have `group` work-items. */
void measure_item_defines(const MeasureList *list, const MeasureLanes *lanes, int group, char *out, size_t size);

#endif
