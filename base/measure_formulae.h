/*
 * measure_formulae: the formulae of scikit-image's regionprops, from sums over pixels to columns;
 * the same text for C11 and for OpenCL C 1.2.
 *
 * Columns are in scikit-image's order of axes (z, y, x), the sums in ours (x, y, z).  Sums are
 * exact integers or exact sums of pixels, moments are about a pixel near the centroid: what is
 * subtracted here is never much larger than what is left, and where it could be (variance, second
 * moments) it is done in pairs of doubles.
 */
#ifndef BASE_MEASURE_FORMULAE_H
#define BASE_MEASURE_FORMULAE_H

#ifndef __OPENCL_C_VERSION__
#include "f64_math.h"
#include "measure_object.h"
#endif

#define MEASURE_PI 3.14159265358979323846

/* ---- helpers --------------------------------------------------------------------------- */

/* The sum of two pairs, neither of which need be the larger. */
static inline F64Pair add_pairs(F64Pair a, F64Pair b)
{
    double s = a.hi + b.hi;
    double t = s - a.hi;
    return f64_sum(s, (a.hi - (s - t)) + (b.hi - t) + a.lo + b.lo);
}

static inline F64Pair multiply_pairs(F64Pair a, F64Pair b)
{
    F64Pair p = f64_times(a, b);
    return f64_sum(p.hi, p.lo);
}

/* n * a - b * c, rounded once or nearly so. */
static inline double determinant(double n, F64Pair a, F64Pair b, F64Pair c)
{
    F64Pair bc = multiply_pairs(b, c);
    F64Pair product = multiply_pairs(f64_pair(n, 0), a);
    F64Pair d = add_pairs(product, f64_pair(-bc.hi, -bc.lo));
    return d.hi + d.lo;
}

/* ---- size and place -------------------------------------------------------------------- */

#define VALUE(NAME)                                                                                           \
    static inline void value_##NAME(const MeasureFrame *f, const MeasureObject *o, const MeasureIntensity *v, \
                                    double *out)

static inline double pixel_size(const MeasureFrame *f)
{
    double size = f->spacing[1] * f->spacing[0];
    return f->dims == 3 ? f->spacing[2] * size : size;
}

static inline double box_pixels(const MeasureFrame *f, const MeasureObject *o)
{
    double n = 1;
    for (int k = 0; k < f->dims; k++) {
        n *= o->hi[k] - o->lo[k] + 1;
    }
    return n;
}

VALUE(label)
{
    (void)f, (void)v;
    *out = o->label;
}

VALUE(num_pixels)
{
    (void)f, (void)v;
    *out = (double)o->count;
}

VALUE(area)
{
    (void)v;
    *out = (double)o->count * pixel_size(f);
}

VALUE(bbox)
{
    (void)v;
    for (int i = 0; i < f->dims; i++) {
        out[i] = o->lo[f->dims - 1 - i];
        out[f->dims + i] = o->hi[f->dims - 1 - i] + 1;
    }
}

VALUE(area_bbox)
{
    (void)v;
    *out = box_pixels(f, o) * pixel_size(f);
}

/* The centroid along an axis; 0 along one that is not there. */
static inline double center(const MeasureFrame *f, const MeasureObject *o, int axis)
{
    return axis < f->dims ? (double)o->sum[axis] / (double)o->count * f->spacing[axis] : 0;
}

VALUE(centroid)
{
    (void)v;
    for (int i = 0; i < f->dims; i++) {
        out[i] = center(f, o, f->dims - 1 - i);
    }
}

#define CENTER(NAME, AXIS)         \
    VALUE(NAME)                    \
    {                              \
        (void)v;                   \
        *out = center(f, o, AXIS); \
    }
CENTER(centroid_x, 0)
CENTER(centroid_y, 1)
CENTER(centroid_z, 2)

VALUE(centroid_local)
{
    (void)v;
    for (int i = 0; i < f->dims; i++) {
        int axis = f->dims - 1 - i;
        int64_t sum = o->sum[axis] - (int64_t)o->count * o->lo[axis];
        out[i] = (double)sum / (double)o->count * f->spacing[axis];
    }
}

VALUE(extent)
{
    (void)v;
    *out = (double)o->count / box_pixels(f, o);
}

VALUE(equivalent_diameter)
{
    double size;
    value_area(f, o, v, &size);
    *out = f64_pow(2 * f->dims * size / MEASURE_PI, 1.0 / f->dims);
}

VALUE(area_convex)
{
    (void)v;
    *out = o->convex * pixel_size(f);
}

VALUE(solidity)
{
    (void)f, (void)v;
    *out = (double)o->count / o->convex;
}

VALUE(feret)
{
    (void)f, (void)v;
    *out = sqrt(o->feret);
}

VALUE(area_filled)
{
    (void)v;
    *out = o->filled * pixel_size(f);
}

/* ---- intensity ------------------------------------------------------------------------- */

VALUE(intensity_mean)
{
    (void)f;
    *out = v->sum[0] / (double)o->count;
}

VALUE(intensity_min)
{
    (void)f, (void)o;
    *out = v->min;
}

VALUE(intensity_max)
{
    (void)f, (void)o;
    *out = v->max;
}

VALUE(intensity_sum)
{
    (void)f, (void)o;
    *out = v->sum[0];
}

VALUE(intensity_median)
{
    (void)f, (void)o;
    *out = v->median;
}

/* n * sum of squares - square of the sum: exact enough that nothing cancels. */
VALUE(intensity_std)
{
    (void)f;
    double n = (double)o->count;
    F64Pair sum = f64_pair(v->sum[0], v->sum[1]), square = f64_pair(v->square[0], v->square[1]);
    double d = determinant(n, square, sum, sum);
    *out = sqrt(d < 0 ? 0 : d) / n;
}

/* The weighted centroid in pixels from `lo`, along an axis. */
static inline double weighted_center(const MeasureIntensity *v, int axis, double lo)
{
    F64Pair sum = f64_pair(v->sum[0], v->sum[1]), by = f64_pair(v->by[axis][0], v->by[axis][1]);
    F64Pair shift = multiply_pairs(sum, f64_pair(-lo, 0));
    F64Pair inside = add_pairs(by, shift);
    return (inside.hi + inside.lo) / v->sum[0];
}

static inline double mass_center(const MeasureFrame *f, const MeasureIntensity *v, int axis)
{
    return axis < f->dims ? v->by[axis][0] / v->sum[0] * f->spacing[axis] : 0;
}

VALUE(centroid_weighted)
{
    (void)o;
    for (int i = 0; i < f->dims; i++) {
        out[i] = mass_center(f, v, f->dims - 1 - i);
    }
}

#define MASS_CENTER(NAME, AXIS)         \
    VALUE(NAME)                         \
    {                                   \
        (void)o;                        \
        *out = mass_center(f, v, AXIS); \
    }
MASS_CENTER(mass_center_x, 0)
MASS_CENTER(mass_center_y, 1)
MASS_CENTER(mass_center_z, 2)

VALUE(centroid_weighted_local)
{
    for (int i = 0; i < f->dims; i++) {
        int axis = f->dims - 1 - i;
        out[i] = weighted_center(v, axis, o->lo[axis]) * f->spacing[axis];
    }
}

/* ---- moments --------------------------------------------------------------------------- */

/* Four moments along one axis, `stride` apart, moved to an origin that is `by` further on. */
static inline void shift_line(double *m, int stride, double by)
{
    double m0 = m[0], m1 = m[stride], m2 = m[2 * stride], m3 = m[3 * stride];
    m[stride] = m1 - by * m0;
    m[2 * stride] = m2 - 2 * by * m1 + by * by * m0;
    m[3 * stride] = m3 - 3 * by * m2 + 3 * by * by * m1 - by * by * by * m0;
}

/* Moments about the anchor moved by `by` along each axis and put into units of the spacing. */
static inline void shift_moments(const MeasureFrame *f, const double *anchored, const double by[3], double *out)
{
    int n = f->dims == 3 ? 64 : 16;
    for (int i = 0; i < n; i++) {
        out[i] = anchored[i];
    }
    for (int axis = 0; axis < f->dims; axis++) {
        double s = f->spacing[axis];
        double scale[4] = {1, s, s * s, s * s * s};
        for (int i = 0; i < n; i++) {
            if ((i >> 2 * axis & 3) == 0) {
                shift_line(out + i, 1 << 2 * axis, by[axis]);
            }
        }
        for (int i = 0; i < n && s != 1; i++) {
            out[i] *= scale[i >> 2 * axis & 3];
        }
    }
}

static inline int64_t anchor_of(const MeasureObject *o, int axis)
{
    return measure_anchor(o->sum[axis], o->count);
}

static inline void to_corner(const MeasureFrame *f, const MeasureObject *o, const double *m, double *out)
{
    double by[3];
    for (int axis = 0; axis < 3; axis++) {
        by[axis] = (double)(o->lo[axis] - anchor_of(o, axis));
    }
    shift_moments(f, m, by, out);
}

/* Index of the moment of powers p, q along axes a and b. */
static inline int moment_at(int a, int p, int b, int q)
{
    return (p << 2 * a) + (q << 2 * b);
}

static inline double first_moment(const MeasureObject *o, int axis)
{
    return (double)(o->sum[axis] - anchor_of(o, axis) * (int64_t)o->count);
}

/* The second central moment along axes a and b, without cancellation, so that symmetric objects
 * are symmetric. */
static inline double second_central(const MeasureFrame *f, const MeasureObject *o, int a, int b)
{
    double n = (double)o->count;
    F64Pair both = f64_pair(o->moments[a == b ? moment_at(a, 2, b, 0) : moment_at(a, 1, b, 1)], 0);
    F64Pair first = f64_pair(first_moment(o, a), 0), second = f64_pair(first_moment(o, b), 0);
    return determinant(n, both, first, second) / n * (f->spacing[a] * f->spacing[b]);
}

static inline void central(const MeasureFrame *f, const MeasureObject *o, double *out)
{
    double by[3];
    for (int axis = 0; axis < 3; axis++) {
        by[axis] = first_moment(o, axis) / (double)o->count;
    }
    shift_moments(f, o->moments, by, out);
    for (int a = 0; a < f->dims; a++) {
        out[moment_at(a, 1, a, 0)] = 0;
        for (int b = 0; b <= a; b++) {
            out[a == b ? moment_at(a, 2, b, 0) : moment_at(a, 1, b, 1)] = second_central(f, o, a, b);
        }
    }
}

static inline void weighted_central(const MeasureFrame *f, const MeasureObject *o, const MeasureIntensity *v,
                                    double *out)
{
    double by[3];
    for (int axis = 0; axis < 3; axis++) {
        by[axis] = axis < f->dims ? v->moments[moment_at(axis, 1, axis, 0)] / v->moments[0] : 0;
    }
    (void)o;
    shift_moments(f, v->moments, by, out);
}

enum { HIGHEST_ORDER = 9 }; /* three times along each of three axes */

static inline void normalised(const MeasureFrame *f, double *m)
{
    double scale = f->spacing[0], mu0 = m[0];
    for (int axis = 1; axis < f->dims; axis++) {
        scale = f->spacing[axis] < scale ? f->spacing[axis] : scale;
    }
    double size[HIGHEST_ORDER + 1], mass[HIGHEST_ORDER + 1];
    for (int order = 2; order <= 3 * f->dims; order++) {
        size[order] = scale == 1 ? 1 : f64_pow(scale, order);
        mass[order] = f64_pow(mu0, (double)order / f->dims + 1);
    }
    for (int i = 0; i < (f->dims == 3 ? 64 : 16); i++) {
        int order = i % 4 + i / 4 % 4 + i / 16;
        m[i] = order < 2 ? (double)NAN : m[i] / size[order] / mass[order];
    }
}

static inline void hu(const double *nu, double *out)
{
    double n11 = nu[5], n02 = nu[2], n20 = nu[8], n03 = nu[3], n30 = nu[12], n12 = nu[6];
    double n21 = nu[9];
    double t0 = n30 + n12, t1 = n21 + n03, q0 = t0 * t0, q1 = t1 * t1;
    double n4 = 4 * n11, s = n20 + n02, d = n20 - n02;
    out[0] = s;
    out[1] = d * d + n4 * n11;
    out[3] = q0 + q1;
    out[5] = d * (q0 - q1) + n4 * t0 * t1;
    t0 *= q0 - 3 * q1;
    t1 *= 3 * q0 - q1;
    q0 = n30 - 3 * n12;
    q1 = 3 * n21 - n03;
    out[2] = q0 * q0 + q1 * q1;
    out[4] = q0 * t0 + q1 * t1;
    out[6] = q1 * t0 - q0 * t1;
}

VALUE(moments)
{
    (void)v;
    to_corner(f, o, o->moments, out);
}

VALUE(moments_central)
{
    (void)v;
    central(f, o, out);
}

VALUE(moments_normalized)
{
    (void)v;
    central(f, o, out);
    normalised(f, out);
}

VALUE(moments_hu)
{
    (void)v;
    double nu[MEASURE_MAX_MOMENTS];
    central(f, o, nu);
    normalised(f, nu);
    hu(nu, out);
}

VALUE(moments_weighted)
{
    to_corner(f, o, v->moments, out);
}

VALUE(moments_weighted_central)
{
    weighted_central(f, o, v, out);
}

VALUE(moments_weighted_normalized)
{
    weighted_central(f, o, v, out);
    normalised(f, out);
}

VALUE(moments_weighted_hu)
{
    double nu[MEASURE_MAX_MOMENTS];
    weighted_central(f, o, v, nu);
    normalised(f, nu);
    hu(nu, out);
}

/* ---- inertia --------------------------------------------------------------------------- */

/* T[i][j] in the table's order of axes. */
static inline void tensor(const MeasureFrame *f, const MeasureObject *o, double t[3][3])
{
    double square[3], sum = 0, n = (double)o->count;
    int last = f->dims - 1;
    for (int i = 0; i < f->dims; i++) {
        square[i] = second_central(f, o, last - i, last - i);
        sum += square[i];
    }
    for (int i = 0; i < f->dims; i++) {
        t[i][i] = (sum - square[i]) / n;
        for (int j = 0; j < i; j++) {
            t[i][j] = t[j][i] = -second_central(f, o, last - i, last - j) / n;
        }
    }
}

static inline double not_negative(double v)
{
    return v < 0 ? 0 : v;
}

/* One Jacobi rotation that makes t[p][q] vanish. */
static inline void rotate_axes(double t[3][3], int p, int q)
{
    if (t[p][q] == 0) {
        return;
    }
    int r = 3 - p - q;
    double theta = (t[q][q] - t[p][p]) / (2 * t[p][q]);
    double k = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(k * k + 1), s = k * c;
    double rp = t[r][p], rq = t[r][q];
    t[p][p] -= k * t[p][q];
    t[q][q] += k * t[p][q];
    t[p][q] = t[q][p] = 0;
    t[r][p] = t[p][r] = c * rp - s * rq;
    t[r][q] = t[q][r] = s * rp + c * rq;
}

/* Largest first. */
static inline void eigenvalues(const MeasureFrame *f, const MeasureObject *o, double out[3])
{
    double t[3][3];
    tensor(f, o, t);
    if (f->dims == 2) {
        double mean = (t[0][0] + t[1][1]) / 2, apart = (t[0][0] - t[1][1]) / 2;
        double root = sqrt(apart * apart + t[0][1] * t[0][1]);
        out[0] = not_negative(mean + root);
        out[1] = not_negative(mean - root);
        return;
    }
    for (int sweep = 0; sweep < 12; sweep++) {
        rotate_axes(t, 0, 1);
        rotate_axes(t, 0, 2);
        rotate_axes(t, 1, 2);
    }
    for (int i = 0; i < 3; i++) {
        out[i] = not_negative(t[i][i]);
        for (int k = i; k > 0 && out[k] > out[k - 1]; k--) {
            double swap = out[k];
            out[k] = out[k - 1];
            out[k - 1] = swap;
        }
    }
}

VALUE(inertia)
{
    (void)v;
    double t[3][3];
    tensor(f, o, t);
    for (int i = 0; i < f->dims * f->dims; i++) {
        out[i] = t[i / f->dims][i % f->dims];
    }
}

VALUE(inertia_eigvals)
{
    (void)v;
    double e[3];
    eigenvalues(f, o, e);
    for (int i = 0; i < f->dims; i++) {
        out[i] = e[i];
    }
}

VALUE(axis_major)
{
    (void)v;
    double e[3];
    eigenvalues(f, o, e);
    *out = f->dims == 2 ? 4 * sqrt(e[0]) : sqrt(10 * not_negative(e[0] + e[1] - e[2]));
}

VALUE(axis_minor)
{
    (void)v;
    double e[3];
    eigenvalues(f, o, e);
    *out = f->dims == 2 ? 4 * sqrt(e[1]) : sqrt(10 * not_negative(-e[0] + e[1] + e[2]));
}

VALUE(eccentricity)
{
    (void)v;
    double e[3];
    eigenvalues(f, o, e);
    *out = e[0] == 0 ? 0 : sqrt(1 - e[1] / e[0]);
}

VALUE(orientation)
{
    (void)v;
    double t[3][3];
    tensor(f, o, t);
    double a = t[0][0], b = t[0][1], c = t[1][1];
    /* 0 - 2 b is never -0: objects along the columns have +pi/2.  Diagonals go on with what is
     * nearly one, as from scikit-image 0.20 on; 0.19 has the other sign. */
    *out = a - c == 0 ? (b < 0 ? MEASURE_PI / 4 : -MEASURE_PI / 4) : 0.5 * f64_atan2(0 - 2 * b, c - a);
}

/* ---- outline --------------------------------------------------------------------------- */

/* What counts steps of the border is defined for square pixels only; elsewhere the field stays empty. */
static inline double square_side(const MeasureFrame *f)
{
    double ratio = f->spacing[0] / f->spacing[1];
    return fabs(ratio - 1) < 1e-6 ? f->spacing[0] : (double)NAN;
}

VALUE(perimeter)
{
    (void)v;
    double length =
        (double)o->perimeter[0] + (double)o->perimeter[1] * sqrt(2.0) + (double)o->perimeter[2] * ((1 + sqrt(2.0)) / 2);
    *out = length * square_side(f);
}

VALUE(circularity)
{
    double length;
    value_perimeter(f, o, v, &length);
    *out = 4 * MEASURE_PI * ((double)o->count * f->spacing[0] * f->spacing[1]) / (length * length);
}

/* Crofton: how often lines of four directions enter the object, times the distance between the lines and the angle that
 * a direction stands for: half way to its neighbours (Legland, Kieu, Devaux 2007, Computation of Minkowski measures).
 * The classes of 2 x 2 neighbourhoods are those of scikit-image's weights: codes 1, 5; 2, 7, 10, 11; 3; 8, 12; 9, 13. */
VALUE(perimeter_crofton)
{
    (void)v;
    double w = f->spacing[0], h = f->spacing[1], angle = f64_atan2(h, w);
    double along_x = (double)(o->crofton[3] + o->crofton[4]), along_y = (double)(o->crofton[0] + o->crofton[4]);
    double oblique = (double)(o->crofton[0] + o->crofton[1] + 2 * o->crofton[2]);
    *out = angle * h * along_x + (MEASURE_PI / 2 - angle) * w * along_y +
           MEASURE_PI / 4 * (w * h / sqrt(w * w + h * h)) * oblique;
}

VALUE(euler_number)
{
    (void)v;
    *out = (double)(f->dims == 3 ? o->euler / 8 : o->euler);
}

/* ---- not finite ------------------------------------------------------------------------ */

static inline void close_intensity(MeasureIntensity *v)
{
    if (v->min - v->min == 0 && v->max - v->max == 0) {
        return;
    }
    v->sum[0] = v->min + v->max;
    v->square[0] = (double)NAN;
    v->sum[1] = v->square[1] = 0;
    for (int axis = 0; axis < 3; axis++) {
        v->by[axis][0] = (double)NAN;
        v->by[axis][1] = 0;
    }
}

#endif
