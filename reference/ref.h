/*
 * ref: the primitives once more in plain C, the reference that the device is held against.
 * Obvious beats fast here.  Images are dense: [plane][y][x], no pitch; planes = channels * d, and
 * every channel is a volume of its own.
 */
#ifndef IR_REF_H
#define IR_REF_H

#include "../ir/ir.h"

#include "../base/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RefShape {
    int w, h, d, c; /* d = 1 for 2-D */
} RefShape;

static inline size_t ref_pixels(RefShape s)
{
    return (size_t)s.w * (size_t)s.h * (size_t)s.d * (size_t)s.c;
}

/* reduce of f32 or f64.  out: sum, count, squared distances from the mean added up, min, max.  NaN is left out; `where`
 * may be NULL.
 * The order of additions: each plane is cut into blocks of 256 columns by 64 rows, aligned to the
 * image's corner.  In a block each column is summed top to bottom in f64; the 256 column sums
 * (absent ones are 0) are added in a tree: c += c + 128, then 64, 32 ... 1.  Blocks are then
 * taken in order (plane, block row, block column): with n blocks, lane t of 256 adds blocks t,
 * t + 256, ... in order, and the 256 lanes are added in the same tree.  Distances of a column are those from its first
 * pixel; wherever sums are added, they become those from the mean of both (united, in ref_reduce.c). */
void ref_reduce(const void *v, Elem elem, const uint8_t *where, RefShape s, double out[5]);
/* Percentile 0..100, linear between ranks as numpy; NaN when nothing is left. */
double ref_rank(const float *v, const uint8_t *where, RefShape s, double percent);
void ref_histogram(const float *v, const uint8_t *where, RefShape s, double lo, double hi, int bins, bool integer,
                   uint64_t *counts);
/*
 * boxes.  The image is cut into boxes of size[] pixels, x first, from its corner on; those at its end have what is left, and
 * none is larger than the image.  out: BOXES_COUNT, BOXES_MEDIAN, BOXES_MEAN, BOXES_STD, each [channel][z][y][x] of boxes.
 * Pixels count that are finite and where `where` is true.  In each of so many rounds those that are farther than
 * kappa standard deviations from the median are left out, until none is; what lies within the last limits counts then,
 * also what an earlier round has left out (astropy.stats.sigma_clip).  A median is the mean of the middle two.  Sums are
 * those of differences to the middle pixel, the lower one of two, and of their squares, in f64: lane t of 256 adds pixels t, t + 256 ... of the box in
 * order, and the lanes are added in the tree of ref_reduce.  NaN where nothing counts.  False: out of memory.
 */
bool ref_boxes(const float *v, const uint8_t *where, RefShape s, const int size[3], double kappa, int rounds,
               float *out);
double ref_threshold(const uint64_t *counts, int bins, double lo, double hi, bool integer, ThresholdMethod method);

/* label.  Returns the number of objects. */
uint32_t ref_label(const uint8_t *mask, RefShape s, int connectivity, uint32_t *labels);
/* In f64, which holds the numbers of u32 and i32. */
uint32_t ref_label_equal(const double *v, RefShape s, int connectivity, uint32_t *labels);
uint32_t ref_compact(const uint32_t *labels, const uint8_t *keep, RefShape s, uint32_t *out);
/* scikit-image's ten colours for labels, which are the same in all three channels; `dense`: a label's place is
 * its number. */
void ref_colours(const uint32_t *labels, RefShape s, bool dense, uint8_t *out);
/* out has count + 1 elements, out[0] about the background. */
void ref_perlabel(const uint32_t *labels, const float *v, RefShape s, uint32_t count, LabelFold fold, float *out);

/* Labels 1..count, each at the pixel nearest to at[axis][label], x first; the largest of several. */
void ref_points(const float *const at[4], uint32_t count, RefShape s, uint32_t *out);

/* Bits for the sides through which a pixel's label meets each other label for the first time. */
bool ref_touches(const uint32_t *labels, RefShape s, uint8_t *bits);

/*
 * near.  Labels 1..count lie at at[axis][label]; those at a place that is not finite lie nowhere.  The squared
 * distance of two is ((dx * sx)^2 + (dy * sy)^2) + (dz * sz)^2 in f64, of differences in f64.  Near a label
 * are the n others with the smallest ones that are at most limit * limit, of equal ones those with the smaller
 * label; n below 0: the -n with the largest ones, again with the smaller label.  The rest is in f32: distances
 * are rounded once, sums are exact and rounded once (ref_perlabel), a mean is the sum over their number, a std
 * the root of the mean of (value - mean)^2, a median that of rank floor(number / 2), a mode the smallest of the
 * most frequent ones.  NaN is left out, -0 is 0, nothing gives 0.
 */
typedef struct RefNear {
    const float *at[3]; /* x first */
    double spacing[3];
    double n, limit;
} RefNear;
/* fold: base/near.h.  values NULL: the distances themselves.  out has count + 1 elements; out[0] is 0.  False:
 * out of memory. */
bool ref_near(const RefNear *near, const float *values, uint32_t count, int fold, float *out);
/* The table: *table[column * rows + row], owned by the caller (free); rows, -1 when out of memory. */
int64_t ref_near_pairs(const RefNear *near, uint32_t count, double **table);

/* distance and shape */
void ref_distance(const uint8_t *mask, RefShape s, const double spacing[3], float *out);
void ref_nearest_label(const uint32_t *labels, RefShape s, double limit, const double spacing[3], uint32_t *out);
/* A flood; `raster`: equal markers begin in the order of their pixels, not in that of scikit-image's heap. */
typedef struct RefFlood {
    int connectivity;
    bool line, raster;
} RefFlood;
uint32_t ref_watershed(const float *image, const uint32_t *markers, const uint8_t *mask, RefShape s, RefFlood how,
                       uint32_t *out);
void ref_reconstruct(const float *seed, const float *mask, RefShape s, int connectivity, bool erosion, float *out);
void ref_local_maxima(const float *v, RefShape s, int connectivity, uint8_t *out);
void ref_hull(const uint32_t *labels, RefShape s, uint32_t count, uint8_t *out);

/* Fourier transform along axes (bits 1 x, 2 y, 4 z) of images without channels; im may be NULL.  out: real parts, then
 * imaginary ones. */
void ref_fourier(const float *re, const float *im, RefShape s, int axes, bool inverse, float *out);

/* The value that most of n sorted ones have, NaN last: the smallest of several, NaN only where there is nothing else,
 * 0 where there is nothing. */
double ref_mode(const double *sorted, int n);

/* window_rank, on pixels of any type. */
typedef struct RefWindowRank {
    Window window;
    double percent;
    bool mode; /* takes the mode instead */
    Border border;
    double outside;
} RefWindowRank;
void ref_window_rank(const double *v, RefShape s, const RefWindowRank *how, double *out);

/*
 * measure.  `columns` as in nodes.def MEASURE: comma-separated column names; names with an image
 * in front as "k:name" use image k (0-based).  Fills rows for present labels; *rows is their
 * number; out[column * (count + 1) + row].  Both return the number of columns, 0 on failure.
 */
int ref_measure_columns(const char *columns, RefShape s);
int ref_measure(const uint32_t *labels, const float *const *images, int n_images, RefShape s, uint32_t count,
                const char *columns, const double spacing[3], double *out, int64_t *rows);

#endif
