/*
 * ref_label: connected components, renumbering and sums by label in plain C.
 *
 * Components: union-find over pixels, the smallest pixel of a component is its root, so that
 * numbering the roots in order numbers the objects in raster order of their first pixels.  The
 * label image itself holds the parents (pixel + 1; 0 is background).
 *
 * Sums by label (fold 0) are made exact in integers.  With E the largest biased exponent of a
 * label's finite values (that of the smallest normal number for subnormal ones), its values are
 * counted in units of 2^(E - 216): 66 bits below the last bit of a number of exponent E.  Bits
 * below the unit are cut off (towards zero), which happens to values below 2^-66 of the largest
 * alone.  The sum of the integers is rounded once, to the nearest f32, ties to even.
 */
#include "ref.h"

#include "../base/connectivity.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- components ------------------------------------------------------------------------------ */

/* True when pixels p and q belong together, should they be neighbours; p == q: when p is an object.
 */
typedef bool (*SameObject)(const void *image, size_t p, size_t q);

static bool both_set(const void *image, size_t p, size_t q)
{
    const uint8_t *mask = image;
    return mask[p] != 0 && mask[q] != 0;
}

static bool both_equal(const void *image, size_t p, size_t q)
{
    const double *v = image;
    return v[p] != 0 && v[p] == v[q];
}

static uint32_t find_root(const uint32_t *labels, uint32_t p)
{
    while (labels[p] != p + 1) {
        p = labels[p] - 1;
    }
    return p;
}

static void unite(uint32_t *labels, uint32_t p, uint32_t q)
{
    p = find_root(labels, p);
    q = find_root(labels, q);
    if (p < q) {
        labels[q] = p + 1;
    } else {
        labels[p] = q + 1;
    }
}

typedef struct Offset {
    int x, y, z;
} Offset;

/* The neighbours that come earlier in raster order; their number. */
static int offsets_before(int connectivity, Offset out[13])
{
    int n = 0;
    for (int z = -1; z <= 0; z++) {
        for (int y = -1; y <= 1; y++) {
            for (int x = -1; x <= 1; x++) {
                bool before = z < 0 || (z == 0 && (y < 0 || (y == 0 && x < 0)));
                if (before && x * x + y * y + z * z <= connectivity) {
                    out[n++] = (Offset){x, y, z};
                }
            }
        }
    }
    return n;
}

static void link_pixel(const void *image, SameObject same, RefShape s, int plane, int y, int x, const Offset *offsets,
                       int n, uint32_t *labels)
{
    size_t p = ((size_t)plane * (size_t)s.h + (size_t)y) * (size_t)s.w + (size_t)x;
    labels[p] = same(image, p, p) ? (uint32_t)p + 1 : 0;
    for (int i = 0; i < n && labels[p] != 0; i++) {
        Offset o = offsets[i];
        bool inside = x + o.x >= 0 && x + o.x < s.w && y + o.y >= 0 && y + o.y < s.h && plane % s.d + o.z >= 0;
        int64_t q = (int64_t)p + ((int64_t)o.z * s.h + o.y) * s.w + o.x;
        if (inside && same(image, p, (size_t)q)) {
            unite(labels, (uint32_t)p, (uint32_t)q);
        }
    }
}

static uint32_t components(const void *image, SameObject same, RefShape s, int connectivity, uint32_t *labels)
{
    assert(ref_pixels(s) < UINT32_MAX);
    if (connectivity > CONNECTIVITY_PLANAR) { /* each plane by itself */
        s = (RefShape){s.w, s.h, 1, s.d * s.c};
        connectivity -= CONNECTIVITY_PLANAR;
    }
    Offset offsets[13];
    int n = offsets_before(connectivity, offsets);
    for (int plane = 0; plane < s.d * s.c; plane++) {
        for (int y = 0; y < s.h; y++) {
            for (int x = 0; x < s.w; x++) {
                link_pixel(image, same, s, plane, y, x, offsets, n, labels);
            }
        }
    }
    uint32_t pixels = (uint32_t)ref_pixels(s);
    for (uint32_t p = 0; p < pixels; p++) {
        labels[p] = labels[p] != 0 ? find_root(labels, p) + 1 : 0;
    }
    uint32_t count = 0;
    for (uint32_t p = 0; p < pixels; p++) {
        if (labels[p] == p + 1) {
            labels[p] = ++count; /* a root: it comes before all other pixels of its object */
        } else if (labels[p] != 0) {
            labels[p] = labels[labels[p] - 1];
        }
    }
    return count;
}

uint32_t ref_label(const uint8_t *mask, RefShape s, int connectivity, uint32_t *labels)
{
    return components(mask, both_set, s, connectivity, labels);
}

uint32_t ref_label_equal(const double *v, RefShape s, int connectivity, uint32_t *labels)
{
    return components(v, both_equal, s, connectivity, labels);
}

/* ---- renumbering ----------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t ref_compact(const uint32_t *labels, const uint8_t *keep, RefShape s, uint32_t *out)
{
    size_t pixels = ref_pixels(s), n = 0;
    uint32_t *ids = malloc((pixels + 1) * sizeof *ids);
    assert(ids != NULL);
    for (size_t p = 0; p < pixels; p++) {
        bool kept = labels[p] != 0 && keep[p] != 0;
        if (kept && (n == 0 || ids[n - 1] != labels[p])) {
            ids[n++] = labels[p];
        }
    }
    qsort(ids, n, sizeof *ids, compare_ids);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (count == 0 || ids[count - 1] != ids[i]) {
            ids[count++] = ids[i];
        }
    }
    for (size_t p = 0; p < pixels; p++) {
        const uint32_t *at = bsearch(&labels[p], ids, count, sizeof *ids, compare_ids);
        out[p] = at != NULL ? (uint32_t)(at - ids) + 1 : 0;
    }
    free(ids);
    return (uint32_t)count;
}

void ref_colours(const uint32_t *labels, RefShape s, bool dense, uint8_t *out)
{
    static const uint8_t TABLE[10][3] = {{255, 0, 0},  {0, 0, 255},   {255, 255, 0}, {255, 0, 255},   {0, 128, 0},
                                         {75, 0, 130}, {255, 140, 0}, {0, 255, 255}, {255, 192, 203}, {154, 205, 50}};
    RefShape one = s;
    one.c = 1;
    size_t n = ref_pixels(one);
    uint32_t *places = malloc((n + 1) * sizeof *places);
    uint8_t *all = malloc(n + 1);
    assert(places != NULL && all != NULL);
    memset(all, 1, n);
    memcpy(places, labels, n * sizeof *places);
    if (!dense) {
        (void)ref_compact(labels, all, one, places);
    }
    for (int c = 0; c < s.c; c++) {
        for (size_t p = 0; p < n; p++) {
            out[(size_t)c * n + p] = places[p] == 0 ? 0 : TABLE[(places[p] - 1) % 10][c];
        }
    }
    free(places);
    free(all);
}

/* ---- values by label ------------------------------------------------------------------------- */

/* A two's complement integer of 128 bits. */
typedef struct Wide {
    uint64_t high, low;
} Wide;

static Wide wide_add(Wide a, Wide b)
{
    uint64_t low = a.low + b.low;
    return (Wide){a.high + b.high + (low < a.low), low};
}

static Wide wide_negate(Wide a)
{
    return wide_add((Wide){~a.high, ~a.low}, (Wide){0, 1});
}

static Wide wide_shift(uint64_t v, int left)
{
    if (left < 0) {
        return (Wide){0, left > -64 ? v >> -left : 0};
    }
    if (left >= 64) {
        return (Wide){v << (left - 64), 0};
    }
    return (Wide){left > 0 ? v >> (64 - left) : 0, v << left};
}

enum { BELOW = 66, EXPONENT_INFINITE = 255 };

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static int biased_exponent(float v)
{
    int exponent = (int)(bits_of(v) >> 23 & 255);
    return exponent > 0 ? exponent : 1;
}

/* v in units of 2^(largest - 216). */
static Wide in_units(float v, int largest)
{
    uint32_t bits = bits_of(v);
    uint32_t mantissa = (bits & 0x7fffff) | ((bits >> 23 & 255) != 0 ? 0x800000 : 0);
    Wide n = wide_shift(mantissa, biased_exponent(v) - largest + BELOW);
    return bits >> 31 != 0 ? wide_negate(n) : n;
}

static bool wide_bit(Wide a, int i)
{
    return ((i < 64 ? a.low >> i : a.high >> (i - 64)) & 1) != 0;
}

/* The f32 nearest to sum * 2^(largest - 216). */
static float rounded(Wide sum, int largest)
{
    bool negative = sum.high >> 63 != 0;
    Wide m = negative ? wide_negate(sum) : sum;
    int top = 127;
    while (top >= 0 && !wide_bit(m, top)) {
        top--;
    }
    int unit = largest - 150 - BELOW; /* of bit 0, as a power of two */
    int last = top - 23;              /* the lowest bit that the result has */
    if (last + unit < -149) {
        last = -149 - unit;
    }
    double kept = 0;
    for (int i = top; i >= last && i >= 0; i--) {
        kept += ldexp(wide_bit(m, i), i - last);
    }
    bool half = last > 0 && wide_bit(m, last - 1), more = false;
    for (int i = 0; i < last - 1; i++) {
        more = more || wide_bit(m, i);
    }
    if (half && (more || fmod(kept, 2) != 0)) {
        kept += 1;
    }
    double value = ldexp(kept, last + unit);
    return (float)(negative ? -value : value); /* exact, or beyond all f32 and so infinite */
}

typedef struct LabelSum {
    Wide sum;
    int largest;      /* biased exponent; 0: nothing yet */
    bool plus, minus; /* infinities seen */
} LabelSum;

static void sums(const uint32_t *labels, const float *v, size_t pixels, uint32_t count, float *out)
{
    LabelSum *all = calloc((size_t)count + 1, sizeof *all);
    assert(all != NULL);
    for (size_t p = 0; p < pixels; p++) {
        LabelSum *at = labels[p] <= count ? &all[labels[p]] : NULL;
        if (at != NULL && isfinite(v[p]) && biased_exponent(v[p]) > at->largest) {
            at->largest = biased_exponent(v[p]);
        }
    }
    for (size_t p = 0; p < pixels; p++) {
        LabelSum *at = labels[p] <= count ? &all[labels[p]] : NULL;
        if (at != NULL && isfinite(v[p])) {
            at->sum = wide_add(at->sum, in_units(v[p], at->largest));
        } else if (at != NULL && isinf(v[p])) {
            at->plus |= v[p] > 0;
            at->minus |= v[p] < 0;
        }
    }
    for (size_t i = 0; i <= count; i++) {
        const LabelSum *at = &all[i];
        out[i] = at->plus && at->minus ? NAN
                 : at->plus            ? INFINITY
                 : at->minus           ? -INFINITY
                                       : rounded(at->sum, at->largest);
    }
    free(all);
}

/* Order of f32 with -0 below +0. */
static bool less(float a, float b)
{
    return a < b || (a == b && signbit(a) > signbit(b));
}

void ref_perlabel(const uint32_t *labels, const float *v, RefShape s, uint32_t count, LabelFold fold, float *out)
{
    size_t pixels = ref_pixels(s);
    if (fold == LABEL_SUM) {
        sums(labels, v, pixels, count, out);
        return;
    }
    for (size_t i = 0; i <= count; i++) {
        out[i] = fold == LABEL_MIN ? INFINITY : fold == LABEL_MAX ? -INFINITY : 0;
    }
    uint32_t *counts = calloc((size_t)count + 1, sizeof *counts);
    assert(counts != NULL);
    for (size_t p = 0; p < pixels; p++) {
        float *at = labels[p] <= count && !isnan(v[p]) ? &out[labels[p]] : NULL;
        if (at != NULL) {
            counts[labels[p]]++;
            *at = (fold == LABEL_MIN && less(v[p], *at)) || (fold == LABEL_MAX && less(*at, v[p])) ? v[p] : *at;
        }
    }
    for (size_t i = 0; i <= count && fold == LABEL_COUNT; i++) {
        out[i] = (float)counts[i];
    }
    free(counts);
}

/* ---- points ------------------------------------------------------------------------------------ */

void ref_points(const float *const at[4], uint32_t count, RefShape s, uint32_t *out)
{
    const int extent[4] = {s.w, s.h, s.d, s.c};
    memset(out, 0, ref_pixels(s) * sizeof *out);
    for (size_t label = 1; label <= count; label++) {
        size_t pixel = 0;
        bool inside = true;
        for (int axis = 3; axis >= 0; axis--) {
            double place = rint((double)at[axis][label]);
            inside = inside && place >= 0 && place < extent[axis];
            pixel = pixel * (size_t)extent[axis] + (inside ? (size_t)place : 0);
        }
        if (inside) {
            out[pixel] = (uint32_t)label;
        }
    }
}

/* ---- touching labels ------------------------------------------------------------------------- */

typedef struct Meeting {
    uint32_t own, other;
    size_t at; /* pixel * 6 + side */
} Meeting;

static int compare_meetings(const void *p, const void *q)
{
    const Meeting *a = p, *b = q;
    if (a->own != b->own) {
        return a->own < b->own ? -1 : 1;
    }
    if (a->other != b->other) {
        return a->other < b->other ? -1 : 1;
    }
    return (a->at > b->at) - (a->at < b->at);
}

static uint32_t beyond(const uint32_t *labels, RefShape s, size_t p, int side)
{
    int x = (int)(p % (size_t)s.w), y = (int)(p / (size_t)s.w % (size_t)s.h);
    int z = (int)(p / (size_t)s.w / (size_t)s.h % (size_t)s.d), step = side % 2 == 0 ? -1 : 1;
    const int at[3] = {x, y, z}, extent[3] = {s.w, s.h, s.d};
    const ptrdiff_t stride[3] = {1, s.w, (ptrdiff_t)s.w * s.h};
    int to = at[side / 2] + step;
    return to >= 0 && to < extent[side / 2] ? labels[(ptrdiff_t)p + step * stride[side / 2]] : 0;
}

bool ref_touches(const uint32_t *labels, RefShape s, uint8_t *bits)
{
    size_t pixels = ref_pixels(s), n = 0;
    Meeting *all = malloc((6 * pixels + 1) * sizeof *all);
    if (all == NULL) {
        return false;
    }
    for (size_t p = 0; p < pixels; p++) {
        for (int side = 0; side < 6; side++) {
            uint32_t other = beyond(labels, s, p, side);
            if (labels[p] != 0 && other != 0 && other != labels[p]) {
                all[n++] = (Meeting){labels[p], other, 6 * p + (size_t)side};
            }
        }
    }
    qsort(all, n, sizeof *all, compare_meetings);
    memset(bits, 0, pixels);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || all[i].own != all[i - 1].own || all[i].other != all[i - 1].other) {
            bits[all[i].at / 6] |= (uint8_t)(1 << all[i].at % 6);
        }
    }
    free(all);
    return true;
}
