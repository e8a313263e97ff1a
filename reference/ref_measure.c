/*
 * ref_measure: measures of labelled objects in plain C, one object at a time from the list of its
 * pixels: sums over pixels, neighbourhoods looked up one by one, hulls tested point by point.
 * Only the closing formulae (base/measures.h) are shared with the device.
 */
#include "ref.h"

#include "../base/exact.h"
#include "hull.h"
#include "../base/measures.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pixel {
    int x, y, z;
    size_t at; /* in the image */
} Pixel;

/* One object: its pixels, and a mask of its bounding box with a border of two. */
typedef struct Object {
    MeasureObject base;
    const Pixel *pixels;
    size_t n;
    uint8_t *mask, *work;
    int ex, ey, ez; /* extents of the mask */
} Object;

enum { BORDER = 2 };

/* ---- gathering ------------------------------------------------------------------------- */

static uint8_t *cell(uint8_t *mask, const Object *o, int x, int y, int z)
{
    return &mask[((size_t)z * (size_t)o->ey + (size_t)y) * (size_t)o->ex + (size_t)x];
}

static size_t cells(const Object *o)
{
    return (size_t)o->ex * (size_t)o->ey * (size_t)o->ez;
}

static void find_box(Object *o)
{
    MeasureObject *b = &o->base;
    for (int axis = 0; axis < 3; axis++) {
        b->lo[axis] = INT32_MAX;
        b->hi[axis] = -1;
        b->sum[axis] = 0;
    }
    for (size_t i = 0; i < o->n; i++) {
        int at[3] = {o->pixels[i].x, o->pixels[i].y, o->pixels[i].z};
        for (int axis = 0; axis < 3; axis++) {
            b->lo[axis] = at[axis] < b->lo[axis] ? at[axis] : b->lo[axis];
            b->hi[axis] = at[axis] > b->hi[axis] ? at[axis] : b->hi[axis];
            b->sum[axis] += at[axis];
        }
    }
}

/* The border in z is only there in 3-D. */
static bool make_mask(Object *o, int dims)
{
    const MeasureObject *b = &o->base;
    int bz = dims == 3 ? BORDER : 0;
    o->ex = b->hi[0] - b->lo[0] + 1 + 2 * BORDER;
    o->ey = b->hi[1] - b->lo[1] + 1 + 2 * BORDER;
    o->ez = b->hi[2] - b->lo[2] + 1 + 2 * bz;
    o->mask = calloc(cells(o), 1);
    o->work = calloc(cells(o), 1);
    if (o->mask == NULL || o->work == NULL) {
        return false;
    }
    for (size_t i = 0; i < o->n; i++) {
        const Pixel *p = &o->pixels[i];
        *cell(o->mask, o, p->x - b->lo[0] + BORDER, p->y - b->lo[1] + BORDER, p->z - b->lo[2] + bz) = 1;
    }
    return true;
}

/* ---- moments --------------------------------------------------------------------------- */

enum { LANES = 32 }; /* MEASURE_LANES of the kernels */

/* Of each row of the box, channels one over the other: sums of values times powers of the distance from the anchor. */
static void sum_rows(const Object *o, const float *image, double (*rows)[4])
{
    const MeasureObject *b = &o->base;
    const int64_t anchor = measure_anchor(b->sum[0], o->n);
    const int tall = b->hi[1] - b->lo[1] + 1;
    for (size_t i = 0; i < o->n; i++) {
        const Pixel *p = &o->pixels[i];
        double *row = rows[(p->z - b->lo[2]) * tall + p->y - b->lo[1]];
        double dx = (double)(p->x - anchor), value = image != NULL ? (double)image[p->at] : 1;
        row[0] += value;
        row[1] += value * dx;
        row[2] += value * (dx * dx);
        row[3] += value * (dx * dx * dx);
    }
}

/* Rows are added to one of LANES sums in turn, and these by halves: beyond 2^53 the order is heard. */
static bool sum_moments(const Object *o, int dims, const float *image, double *m)
{
    const MeasureObject *b = &o->base;
    const int tall = b->hi[1] - b->lo[1] + 1, n = tall * (b->hi[2] - b->lo[2] + 1);
    double lanes[LANES][MEASURE_MAX_MOMENTS] = {{0}}, (*rows)[4] = calloc((size_t)n, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    sum_rows(o, image, rows);
    for (int i = 0; i < n; i++) {
        const double dy = (double)(b->lo[1] + i % tall - measure_anchor(b->sum[1], o->n)),
                     dz = (double)(b->lo[2] + i / tall - measure_anchor(b->sum[2], o->n));
        double along_z = 1;
        for (int r = 0; r < (dims == 3 ? 4 : 1); r++, along_z *= dz) {
            double scale = along_z;
            for (int q = 0; q < 4; q++, scale *= dy) {
                for (int p = 0; p < 4; p++) {
                    lanes[i % LANES][16 * r + 4 * q + p] += rows[i][p] * scale;
                }
            }
        }
    }
    free(rows);
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half * MEASURE_MAX_MOMENTS; i++) {
            lanes[i / MEASURE_MAX_MOMENTS][i % MEASURE_MAX_MOMENTS] +=
                lanes[i / MEASURE_MAX_MOMENTS + half][i % MEASURE_MAX_MOMENTS];
        }
    }
    memcpy(m, lanes[0], sizeof lanes[0]);
    return true;
}

/* ---- outline --------------------------------------------------------------------------- */

static int bits_at(const Object *o, int x, int y, int z)
{
    static const int BIT[8] = {1, 4, 2, 8, 16, 64, 32, 128}; /* by -x + 2 -y + 4 -z */
    int code = 0;
    for (int k = 0; k < (o->ez > 1 ? 8 : 4); k++) {
        code += BIT[k] * *cell(o->mask, o, x - (k & 1), y - (k >> 1 & 1), z - (k >> 2));
    }
    return code;
}

static void count_neighbourhoods(Object *o, int dims)
{
    static const int EULER_2D[16] = {0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, -1, 0};
    static const int CROFTON[16] = {-1, 0, 1, 2, -1, 0, -1, 1, 3, 4, 1, 1, 3, 4, -1, -1};
    for (int z = dims == 3; z < o->ez; z++) {
        for (int y = 1; y < o->ey; y++) {
            for (int x = 1; x < o->ex; x++) {
                int code = bits_at(o, x, y, z);
                if (dims == 3) {
                    o->base.euler += MEASURE_EULER_3D[code];
                    continue;
                }
                o->base.euler += EULER_2D[code];
                if (CROFTON[code] >= 0) {
                    o->base.crofton[CROFTON[code]]++;
                }
            }
        }
    }
}

/* The border is what a 4-neighbourhood erodes; its pixels count by how the border goes on. */
static void count_perimeter(Object *o)
{
    for (int y = 1; y + 1 < o->ey; y++) {
        for (int x = 1; x + 1 < o->ex; x++) {
            int inside = *cell(o->mask, o, x - 1, y, 0) & *cell(o->mask, o, x + 1, y, 0) &
                         *cell(o->mask, o, x, y - 1, 0) & *cell(o->mask, o, x, y + 1, 0);
            *cell(o->work, o, x, y, 0) = *cell(o->mask, o, x, y, 0) && !inside;
        }
    }
    static const int8_t WEIGHT[50] =
        {[5] = 1, [7] = 1, [15] = 1, [17] = 1, [25] = 1, [27] = 1, [21] = 2, [33] = 2, [13] = 3, [23] = 3};
    for (int y = 1; y + 1 < o->ey; y++) {
        for (int x = 1; x + 1 < o->ex; x++) {
            int code = 0;
            for (int k = 0; k < 9; k++) {
                int dx = k % 3 - 1, dy = k / 3 - 1;
                int weight = dx == 0 && dy == 0 ? 1 : dx == 0 || dy == 0 ? 2 : 10;
                code += weight * *cell(o->work, o, x + dx, y + dy, 0);
            }
            if (WEIGHT[code] > 0) {
                o->base.perimeter[WEIGHT[code] - 1]++;
            }
        }
    }
}

/* Floods the outside of the mask through all neighbours; what it does not reach is filled. */
static bool count_filled(Object *o)
{
    size_t n = cells(o), top = 0, reached = 1;
    size_t *stack = malloc(n * sizeof *stack);
    if (stack == NULL) {
        return false;
    }
    memset(o->work, 0, n);
    stack[top++] = 0;
    o->work[0] = 1;
    while (top > 0) {
        size_t i = stack[--top];
        int x = (int)(i % (size_t)o->ex), y = (int)(i / (size_t)o->ex % (size_t)o->ey);
        int z = (int)(i / (size_t)o->ex / (size_t)o->ey);
        for (int k = 0; k < 27; k++) {
            int nx = x + k % 3 - 1, ny = y + k / 3 % 3 - 1, nz = z + k / 9 - 1;
            if (nx < 0 || ny < 0 || nz < 0 || nx >= o->ex || ny >= o->ey || nz >= o->ez) {
                continue;
            }
            size_t at = (size_t)(cell(o->mask, o, nx, ny, nz) - o->mask);
            if (!o->mask[at] && !o->work[at]) {
                o->work[at] = 1;
                stack[top++] = at;
                reached++;
            }
        }
    }
    o->base.filled = (double)(n - reached);
    free(stack);
    return true;
}

/* ---- hull ------------------------------------------------------------------------------ */

/* All of the object's points in doubled coordinates, half a pixel off along each axis; of these
 * only a row's first and last pixels can be corners of the hull. */
static size_t outline_points(const Object *o, const uint8_t *mask, int dims, HullPoint *points)
{
    size_t n = 0;
    for (int z = 0; z < o->ez; z++) {
        for (int y = 1; y + 1 < o->ey; y++) {
            for (int x = 1; x + 1 < o->ex; x++) {
                size_t at = (size_t)(cell(o->work, o, x, y, z) - o->work);
                if (!mask[at] || (mask[at - 1] && mask[at + 1])) {
                    continue;
                }
                for (int axis = 0; axis < dims; axis++) {
                    for (int side = -1; side <= 1; side += 2) {
                        HullPoint p = {{2 * x, 2 * y, 2 * z}};
                        p.at[axis] += side;
                        points[n++] = p;
                    }
                }
            }
        }
    }
    return n;
}

/* The sign of the turn a, b, c in the plane. */
static int64_t turn(const HullPoint *a, const HullPoint *b, const HullPoint *c)
{
    return (b->at[0] - a->at[0]) * (c->at[1] - a->at[1]) - (b->at[1] - a->at[1]) * (c->at[0] - a->at[0]);
}

/* Gift wrapping in the plane: halfspaces of the edges. */
static int wrap(const HullPoint *points, size_t n, HullPlane *planes, int cap)
{
    size_t start = 0;
    for (size_t i = 1; i < n; i++) {
        if (points[i].at[0] < points[start].at[0] ||
            (points[i].at[0] == points[start].at[0] && points[i].at[1] < points[start].at[1])) {
            start = i;
        }
    }
    int count = 0;
    size_t at = start;
    do {
        size_t next = at == 0 ? 1 : 0;
        for (size_t i = 0; i < n; i++) {
            int64_t t = turn(&points[at], &points[next], &points[i]);
            int64_t far = llabs(points[i].at[0] - points[at].at[0]) + llabs(points[i].at[1] - points[at].at[1]);
            int64_t now = llabs(points[next].at[0] - points[at].at[0]) + llabs(points[next].at[1] - points[at].at[1]);
            if (i != at && (t < 0 || (t == 0 && far > now))) {
                next = i;
            }
        }
        HullPlane *plane = &planes[count++];
        plane->normal[0] = points[next].at[1] - points[at].at[1];
        plane->normal[1] = points[at].at[0] - points[next].at[0];
        plane->normal[2] = 0;
        plane->offset = plane->normal[0] * points[at].at[0] + plane->normal[1] * points[at].at[1];
        at = next;
    } while (at != start && count < cap);
    return count;
}

static bool inside(const HullPlane *planes, int n, int x, int y, int z)
{
    for (int i = 0; i < n; i++) {
        const int64_t *v = planes[i].normal;
        if (2 * (v[0] * x + v[1] * y + v[2] * z) > planes[i].offset) {
            return false;
        }
    }
    return true;
}

/* The hull image goes to `work`. */
static void paint_hull(Object *o, const HullPlane *planes, int n)
{
    o->base.convex = 0;
    for (int z = 0; z < o->ez; z++) {
        for (int y = 0; y < o->ey; y++) {
            for (int x = 0; x < o->ex; x++) {
                bool in = inside(planes, n, x, y, z);
                *cell(o->work, o, x, y, z) = in;
                o->base.convex += in;
            }
        }
    }
}

static void find_feret(Object *o, const MeasureFrame *frame, HullPoint *points)
{
    size_t n = outline_points(o, o->work, frame->dims, points);
    o->base.feret = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double d = 0;
            for (int axis = 0; axis < frame->dims; axis++) {
                double v = (double)(points[i].at[axis] - points[j].at[axis]) / 2;
                d += v * frame->spacing[axis] * (v * frame->spacing[axis]);
            }
            o->base.feret = d > o->base.feret ? d : o->base.feret;
        }
    }
}

static bool find_hull(Object *o, const MeasureFrame *frame, bool feret)
{
    /* A row's two ends, in each of them 2 * dims points. */
    size_t cap = 4 * (size_t)frame->dims * cells(o);
    HullPoint *points = malloc(cap * sizeof *points);
    HullPlane *planes = NULL;
    size_t n = 0;
    int n_planes = 0;
    bool ok = points != NULL;
    if (ok) {
        n = outline_points(o, o->mask, frame->dims, points);
        if (frame->dims == 3) {
            ok = hull_planes(points, n, &planes, &n_planes);
        } else {
            planes = malloc((n + 1) * sizeof *planes);
            ok = planes != NULL;
            n_planes = ok ? wrap(points, n, planes, (int)n) : 0;
        }
    }
    if (ok) {
        paint_hull(o, planes, n_planes);
        if (feret) {
            find_feret(o, frame, points);
        }
    }
    free(points);
    free(planes);
    return ok;
}

/* ---- intensity ------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void find_percentile(const Object *o, const float *image, double fraction, float *sorted, MeasureIntensity *v)
{
    double rank = measure_rank(o->n, fraction);
    size_t lower = (size_t)rank, upper = lower + ((double)lower < rank);
    for (size_t i = 0; i < o->n; i++) {
        sorted[i] = image[o->pixels[i].at] + 0.0f; /* -0 is 0 */
    }
    qsort(sorted, o->n, sizeof *sorted, compare_floats);
    v->median = measure_between((double)sorted[lower], (double)sorted[upper], rank);
}

/* What sums are multiples of, of values and of their squares; 0: whatever these are multiples of. */
typedef struct Units {
    double value, square;
} Units;

/* Sums hold 96 bits below the largest value of the labelled pixels, and 128 below the largest square; what lies below is cut off
 * (runtime/primitives/measure/measure.cl). */
static Units find_units(const uint32_t *labels, const float *image, size_t n)
{
    int top = INT_MIN, low = INT_MAX;
    for (size_t i = 0; i < n; i++) {
        const float v = fabsf(image[i]);
        int exponent;
        if (labels[i] == 0 || !isfinite(v) || v <= 0) {
            continue;
        }
        const unsigned mantissa = (unsigned)ldexpf(frexpf(v, &exponent), 24);
        int last = exponent - 24;
        for (unsigned rest = mantissa; rest % 2 == 0; rest /= 2) {
            last++;
        }
        top = exponent > top ? exponent : top;
        low = last < low ? last : low;
    }
    const int range = top > low ? top - low : 0;
    return (Units){range > 96 ? ldexp(1, top - 96) : 0, range > 64 ? ldexp(1, 2 * top - 128) : 0};
}

static double cut_off(double v, double unit)
{
    return unit > 0 ? trunc(v / unit) * unit : v;
}

static void sum_intensity(const Object *o, const float *image, Units units, MeasureIntensity *v)
{
    Exact sum, square, by[3];
    exact_clear(&sum);
    exact_clear(&square);
    for (int axis = 0; axis < 3; axis++) {
        exact_clear(&by[axis]);
    }
    v->min = (double)INFINITY;
    v->max = -(double)INFINITY;
    for (size_t i = 0; i < o->n; i++) {
        const Pixel *p = &o->pixels[i];
        double value = (double)image[p->at];
        v->min = value < v->min || isnan(value) ? value : v->min;
        v->max = value > v->max || isnan(value) ? value : v->max;
        if (!isfinite(value)) {
            continue;
        }
        const double kept = cut_off(value, units.value);
        exact_add_double(&sum, kept);
        exact_add_double(&square, cut_off(value * value, units.square));
        exact_add_double(&by[0], kept * p->x);
        exact_add_double(&by[1], kept * p->y);
        exact_add_double(&by[2], kept * p->z);
    }
    exact_round(&sum, v->sum);
    exact_round(&square, v->square);
    for (int axis = 0; axis < 3; axis++) {
        exact_round(&by[axis], v->by[axis]);
    }
}

static bool measure_intensity(const Object *o, const float *image, Units units, int dims, unsigned needs,
                              double fraction, MeasureIntensity *v)
{
    sum_intensity(o, image, units, v);
    if (needs & (MEASURE_WEIGHTED | MEASURE_WEIGHTED_THIRD) && !sum_moments(o, dims, image, v->moments)) {
        return false;
    }
    measure_close(v);
    if (needs & MEASURE_MEDIAN) {
        float *sorted = malloc(o->n * sizeof *sorted);
        if (sorted == NULL) {
            return false;
        }
        if (isnan(v->min)) {
            v->median = (double)NAN;
        } else {
            find_percentile(o, image, fraction, sorted, v);
        }
        free(sorted);
    }
    return true;
}

/* ---- objects --------------------------------------------------------------------------- */

static bool measure_object(Object *o, const MeasureFrame *frame, unsigned needs)
{
    find_box(o);
    if (needs & (MEASURE_SECOND | MEASURE_THIRD | MEASURE_MOMENTS) &&
        !sum_moments(o, frame->dims, NULL, o->base.moments)) {
        return false;
    }
    unsigned masked = MEASURE_HULL | MEASURE_FILLED | MEASURE_PERIMETER | MEASURE_CROFTON | MEASURE_EULER;
    bool ok = true;
    if (needs & masked) {
        ok = make_mask(o, frame->dims);
    }
    if (ok && (needs & (MEASURE_CROFTON | MEASURE_EULER))) {
        count_neighbourhoods(o, frame->dims);
    }
    if (ok && (needs & MEASURE_PERIMETER)) {
        count_perimeter(o);
    }
    if (ok && (needs & MEASURE_FILLED)) {
        ok = count_filled(o);
    }
    if (ok && (needs & MEASURE_HULL)) {
        ok = find_hull(o, frame, needs & MEASURE_FERET);
    }
    free(o->mask);
    free(o->work);
    return ok;
}

typedef struct Measuring {
    const MeasureList *list;
    MeasureFrame frame;
    const float *const *images;
    Units units[MEASURE_MAX_IMAGES];
    double *out;
    size_t stride;
    int64_t rows;
} Measuring;

static bool measure_row(Measuring *m, uint32_t label, const Pixel *pixels, size_t n)
{
    Object o = {.base = {.label = label, .count = n}, .pixels = pixels, .n = n};
    MeasureIntensity v[MEASURE_MAX_IMAGES];
    if (!measure_object(&o, &m->frame, m->list->needs)) {
        return false;
    }
    for (int k = 0; k < m->list->images; k++) {
        if (m->list->image_needs[k] != 0 && !measure_intensity(&o, m->images[k], m->units[k], m->frame.dims,
                                                               m->list->image_needs[k], m->list->fraction[k], &v[k])) {
            return false;
        }
    }
    int column = 0;
    for (int i = 0; i < m->list->n; i++) {
        const MeasureItem *item = &m->list->at[i];
        double values[MEASURE_MAX_MOMENTS];
        measure_value(item->measure, &m->frame, &o.base, &v[item->image], values);
        for (int c = 0; c < measure_columns(item->measure, m->frame.dims); c++) {
            m->out[(size_t)column++ * m->stride + (size_t)m->rows] = values[c];
        }
    }
    m->rows++;
    return true;
}

/* Pixels sorted by label; begin[l] .. begin[l + 1] are those of label l. */
static void sort_pixels(const uint32_t *labels, RefShape s, uint32_t count, size_t *begin, Pixel *pixels)
{
    size_t n = ref_pixels(s);
    for (size_t i = 0; i < n; i++) {
        if (labels[i] != 0 && labels[i] <= count) {
            begin[labels[i] + 1]++;
        }
    }
    for (uint32_t l = 1; l <= count; l++) {
        begin[l + 1] += begin[l];
    }
    for (size_t i = 0; i < n; i++) {
        if (labels[i] != 0 && labels[i] <= count) {
            size_t plane = i / (size_t)s.w / (size_t)s.h;
            pixels[begin[labels[i]]++] =
                (Pixel){(int)(i % (size_t)s.w), (int)(i / (size_t)s.w % (size_t)s.h), (int)(plane % (size_t)s.d), i};
        }
    }
    for (uint32_t l = count + 1; l > 0; l--) {
        begin[l] = begin[l - 1];
    }
}

static bool parse_columns(const char *columns, RefShape s, MeasureList *list)
{
    Err err = {0};
    return measure_parse(columns, s.d > 1 ? 3 : 2, list, &err);
}

int ref_measure_columns(const char *columns, RefShape s)
{
    MeasureList list;
    return parse_columns(columns, s, &list) ? list.columns : 0;
}

int ref_measure(const uint32_t *labels, const float *const *images, int n_images, RefShape s, uint32_t count,
                const char *columns, const double spacing[3], double *out, int64_t *rows)
{
    MeasureList list;
    *rows = 0;
    if (!parse_columns(columns, s, &list) || list.images > n_images) {
        return 0;
    }
    Measuring m = {.list = &list,
                   .frame = {list.dims, {spacing[0], spacing[1], spacing[2]}},
                   .images = images,
                   .out = out,
                   .stride = (size_t)count + 1};
    for (int k = 0; k < list.images; k++) {
        m.units[k] = find_units(labels, images[k], ref_pixels(s));
    }
    size_t *begin = calloc((size_t)count + 3, sizeof *begin);
    Pixel *pixels = malloc((ref_pixels(s) + 1) * sizeof *pixels);
    bool ok = begin != NULL && pixels != NULL;
    if (ok) {
        sort_pixels(labels, s, count, begin, pixels);
    }
    for (uint32_t l = 1; ok && l <= count; l++) {
        if (begin[l + 1] > begin[l]) {
            ok = measure_row(&m, l, pixels + begin[l], begin[l + 1] - begin[l]);
        }
    }
    free(begin);
    free(pixels);
    *rows = m.rows;
    return ok ? list.columns : 0;
}
