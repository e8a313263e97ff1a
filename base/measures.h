/*
 * measures: everything that can be measured of an object in a label image, and the formulae that
 * turn sums over its pixels into columns of a table.
 *
 * measures.def is the one list.  The checker takes names and hints from it, the device primitive
 * and the reference take from it which base quantities to sum; both then call measure_value, so
 * that a formula exists once and equal sums give equal bits.
 *
 * Values are those of scikit-image's regionprops; with a pixel spacing, those of its releases that
 * have one.  Where scikit-image gives nothing (hulls of flat objects in 3-D) the plain geometry
 * does.
 */
#ifndef BASE_MEASURES_H
#define BASE_MEASURES_H

#include "err.h"
#include "measure_object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Base quantities beyond the count, the coordinate sums and the bounding box. */
enum {
    MEASURE_SUM = 1,    /* of an image: exact sum of the values */
    MEASURE_SQUARE = 2, /* exact sum of squares */
    MEASURE_CENTER = 4, /* exact sums of value times coordinate */
    MEASURE_RANGE = 8,  /* min and max */
    MEASURE_MEDIAN = 16,
    MEASURE_WEIGHTED_THIRD = 32, /* moments weighted with the values, orders 0 to 3 */
    MEASURE_WEIGHTED = 64,       /* all of them */
    MEASURE_HULL = 128,
    MEASURE_FERET = 256,
    MEASURE_FILLED = 512,
    MEASURE_SECOND = 1024,  /* moments of order 2 */
    MEASURE_THIRD = 2048,   /* of orders 2 and 3 */
    MEASURE_MOMENTS = 4096, /* all */
    MEASURE_PERIMETER = 8192,
    MEASURE_CROFTON = 16384,
    MEASURE_EULER = 32768,
};

/* How many columns: 1; one an axis; two an axis; axes times axes; 4 to the power of axes; 7. */
typedef enum MeasureShape {
    MEASURE_SHAPE_SCALAR,
    MEASURE_SHAPE_AXES,
    MEASURE_SHAPE_BOX,
    MEASURE_SHAPE_TENSOR,
    MEASURE_SHAPE_MOMENTS,
    MEASURE_SHAPE_SEVEN
} MeasureShape;

typedef enum MeasureId {
#define M(ID, ...) MEASURE_ID_##ID,
#include "measures.def"
#undef M
    MEASURE_IDS
} MeasureId;

typedef struct Measure {
    MeasureId id;
    const char *name, *aliases, *doc;
    bool intensity; /* needs an image */
    int dims;       /* 2: only in 2-D; 0: any */
    unsigned needs;
    MeasureShape shape;
    int integer;          /* 1: whole numbers; 2: whole numbers when the spacing is 1 */
    const char *function; /* its name in measure_formulae.h, without value_ */
    void (*value)(const MeasureFrame *frame, const MeasureObject *object, const MeasureIntensity *intensity,
                  double *out);
} Measure;

extern const Measure MEASURES[MEASURE_IDS];
/* What a neighbourhood adds to eight times the Euler number; bits x + 4 x-1, times 2 for y-1, times
 * 16 for z-1. */
extern const int8_t MEASURE_EULER_3D[256];

/* The measure called so (current or other name), or NULL.  percentile_N is the one of any N. */
const Measure *measure_find(const char *name, size_t length);
/* The percentile that a measure with MEASURE_MEDIAN is, by its name: 50 of the median, 99.5 of percentile_99_5. */
double measure_percent(const char *name, size_t length);
/* Number of columns in 2 or 3 dimensions. */
int measure_columns(const Measure *measure, int dims);
/* Name of column i of a measure that the user calls `header`: "centroid-0"; numbers stand in place of a #:
 * "centroid_weighted#-2" gives "centroid_weighted-0-2". */
void measure_header(const Measure *measure, int dims, const char *header, int i, char *out, size_t size);

enum { MEASURE_MAX_ITEMS = 480, MEASURE_MAX_HEADER = 56, MEASURE_MAX_IMAGES = 40 };

typedef struct MeasureItem {
    const Measure *measure;
    int image; /* 0 for measures without one */
    char header[MEASURE_MAX_HEADER];
} MeasureItem;

typedef struct MeasureList {
    int dims;
    int n, columns, images; /* images: one more than the largest image number used */
    unsigned needs;         /* of all items, without those of images */
    unsigned image_needs[MEASURE_MAX_IMAGES];
    double fraction[MEASURE_MAX_IMAGES]; /* of the image whose needs have MEASURE_MEDIAN: the percentile / 100 */
    MeasureItem at[MEASURE_MAX_ITEMS];
} MeasureList;

/*
 * Reads "label,area,0:mean,1:mean=mean_of_green": names as the user spells them, k: in front for
 * image k, =header behind for the name in the table.  A first item "2d" or "3d" fixes the
 * dimensions; without it they are `dims`.
 */
bool measure_parse(const char *text, int dims, MeasureList *list, Err *err);

/* The name of every column, and whether it is a whole number, with pixels of this size along x, y, z. */
void measure_names(const MeasureList *list, const double spacing[3], char (*names)[64], bool *integer);

/* Which moments (bits, by index in MeasureObject.moments) must be summed for `needs`; those of
 * orders 0 and 1 follow from count and sums unless weighted. */
uint64_t measure_moments(unsigned needs, int dims, bool weighted);

/* Sums of an object with NaN or infinite pixels (min and max tell) become what IEEE gives. */
void measure_close(MeasureIntensity *intensity);

/* All columns of one item, in the order of the table. */
static inline void measure_value(const Measure *measure, const MeasureFrame *frame, const MeasureObject *object,
                                 const MeasureIntensity *intensity, double *out)
{
    measure->value(frame, object, intensity, out);
}

#endif
