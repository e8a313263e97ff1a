/*
 * ref_reduce: sums, percentiles, histograms and thresholds of an image in plain C.
 *
 * The device must give the same bits, so the order of every floating-point addition is spelt out
 * here: reference/ref.h has that of ref_reduce; sums over a histogram are taken in 256 stretches of
 * consecutive bins, each from its first bin to its last, then stretch by stretch (see scan).  With
 * up to 256 bins, and with integers of any number of bins, that is what numpy.cumsum gives.
 *
 * Histograms are numpy's for f32 data (numpy.histogram with bins and range), thresholds those of
 * scikit-image 0.19 computed in f64 throughout.  That version itself goes through f32 in two
 * places, yen's probabilities and isodata's counts: the results agree unless two bins are equally
 * good to 7 digits.  Later versions round counts to f32 for otsu too, which changes it for more
 * than 2^24 pixels in a bin.  minimum smooths there by running sums, whose rounding errors decide
 * between the bins of an empty valley; here it is the first of them.
 */
#include "ref.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 256, BLOCK_ROWS = 64 };

/* ---- reduce ---------------------------------------------------------------------------- */

enum { SUM, COUNT, SQUARES, LOW, HIGH, QUANTITIES };

/* 256 columns, or 256 lanes, of each quantity. */
typedef struct Lanes {
    double of[QUANTITIES][LANES];
} Lanes;

static void clear_lanes(Lanes *lanes)
{
    for (int t = 0; t < LANES; t++) {
        lanes->of[SUM][t] = lanes->of[COUNT][t] = lanes->of[SQUARES][t] = 0;
        lanes->of[LOW][t] = INFINITY;
        lanes->of[HIGH][t] = -INFINITY;
    }
}

/* Squared distances from the mean of two sets together: their own, and those of their means (Chan, Golub and LeVeque). */
static double united(const double a[QUANTITIES], const double b[QUANTITIES])
{
    double between = a[COUNT] * b[SUM] - b[COUNT] * a[SUM];
    double more = between * (1 / (a[COUNT] * b[COUNT] * (a[COUNT] + b[COUNT]))) * between;
    return a[SQUARES] + b[SQUARES] + (a[COUNT] > 0 && b[COUNT] > 0 ? more : 0);
}

static void combine(Lanes *lanes, int t, const double with[QUANTITIES])
{
    const double have[QUANTITIES] = {lanes->of[SUM][t], lanes->of[COUNT][t], lanes->of[SQUARES][t]};
    lanes->of[SQUARES][t] = united(have, with);
    lanes->of[SUM][t] += with[SUM];
    lanes->of[COUNT][t] += with[COUNT];
    lanes->of[LOW][t] = fmin(lanes->of[LOW][t], with[LOW]);
    lanes->of[HIGH][t] = fmax(lanes->of[HIGH][t], with[HIGH]);
}

/* All lanes added in a tree. */
static void tree(Lanes *lanes, double out[QUANTITIES])
{
    for (int step = LANES / 2; step > 0; step /= 2) {
        for (int t = 0; t < step; t++) {
            double upper[QUANTITIES];
            for (int q = 0; q < QUANTITIES; q++) {
                upper[q] = lanes->of[q][t + step];
            }
            combine(lanes, t, upper);
        }
    }
    for (int q = 0; q < QUANTITIES; q++) {
        out[q] = lanes->of[q][0];
    }
}

/* Pixel i of `v`, which is of f32 or f64. */
static double pixel_of(const void *v, Elem elem, size_t i)
{
    return elem == ELEM_F64 ? ((const double *)v)[i] : ((const float *)v)[i];
}

static bool is_left_out(const float *v, const uint8_t *where, size_t i)
{
    return isnan(v[i]) || (where != NULL && !where[i]);
}

static void add_pixel(double all[QUANTITIES], double value, double far)
{
    all[SUM] += value;
    all[COUNT]++;
    all[SQUARES] += far * far;
    all[LOW] = fmin(all[LOW], value);
    all[HIGH] = fmax(all[HIGH], value);
}

/* From squared distances from the first pixel. */
static double column_squares(const double all[QUANTITIES], double first)
{
    double off = all[SUM] - all[COUNT] * first;
    double own = all[COUNT] > 0 ? all[SQUARES] - off * off / all[COUNT] : 0;
    return own < 0 ? 0 : own;
}

/* The block whose first pixel is (x0, y0) of the plane that begins at `plane`. */
static void reduce_block(const void *v, Elem elem, const uint8_t *where, RefShape s, size_t plane, int x0, int y0,
                         double out[QUANTITIES])
{
    Lanes columns;
    clear_lanes(&columns);
    for (int x = x0; x < s.w && x < x0 + LANES; x++) {
        double all[QUANTITIES] = {0, 0, 0, INFINITY, -INFINITY}, first = 0;
        for (int y = y0; y < s.h && y < y0 + BLOCK_ROWS; y++) {
            size_t i = plane + (size_t)y * (size_t)s.w + (size_t)x;
            double value = pixel_of(v, elem, i);
            if (!isnan(value) && (where == NULL || where[i])) {
                first = all[COUNT] == 0 ? value : first;
                add_pixel(all, value, value - first);
            }
        }
        all[SQUARES] = column_squares(all, first);
        combine(&columns, x - x0, all);
    }
    tree(&columns, out);
}

void ref_reduce(const void *v, Elem elem, const uint8_t *where, RefShape s, double out[5])
{
    Lanes lanes;
    clear_lanes(&lanes);
    int lane = 0;
    for (int p = 0; p < s.d * s.c; p++) {
        size_t plane = (size_t)p * (size_t)s.h * (size_t)s.w;
        for (int y = 0; y < s.h; y += BLOCK_ROWS) {
            for (int x = 0; x < s.w; x += LANES) {
                double block[QUANTITIES];
                reduce_block(v, elem, where, s, plane, x, y, block);
                combine(&lanes, lane, block);
                lane = (lane + 1) % LANES;
            }
        }
    }
    tree(&lanes, out);
    for (int q = 0; q < QUANTITIES; q++) {
        out[q] = isnan(out[q]) ? (double)NAN : out[q] + 0.0; /* one NaN and one zero */
    }
}

/* ---- rank ------------------------------------------------------------------------------ */

/* u32 in the order of the floats, -0 and 0 the same. */
static uint32_t key_of(float value)
{
    float positive_zero = value + 0.0F;
    uint32_t bits;
    memcpy(&bits, &positive_zero, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000U;
}

static float value_of(uint32_t key)
{
    uint32_t bits = key >> 31 ? key & 0x7fffffffU : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static size_t count_up_to(const float *v, const uint8_t *where, RefShape s, uint32_t key)
{
    size_t count = 0;
    for (size_t i = 0; i < ref_pixels(s); i++) {
        count += !is_left_out(v, where, i) && key_of(v[i]) <= key;
    }
    return count;
}

/* The smallest key that more than k pixels do not exceed, by halving. */
static uint32_t kth(const float *v, const uint8_t *where, RefShape s, size_t k)
{
    uint32_t lo = 0, hi = UINT32_MAX;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (count_up_to(v, where, s, middle) > k) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    return lo;
}

double ref_rank(const float *v, const uint8_t *where, RefShape s, double percent)
{
    size_t count = count_up_to(v, where, s, UINT32_MAX);
    if (count == 0) {
        return NAN;
    }
    double clamped = percent > 100 ? 100 : percent > 0 ? percent : 0;
    double at = clamped / 100 * ((double)count - 1);
    double part = at - floor(at);
    double a = value_of(kth(v, where, s, (size_t)at));
    if (part == 0) {
        return a;
    }
    double b = value_of(kth(v, where, s, (size_t)at + 1));
    if (a == b) {
        return a; /* also between equal infinities */
    }
    double step = (b - a) * (part < 0.5 ? part : 1 - part);
    double result = part < 0.5 ? a + step : b - step;
    return isnan(result) ? (double)NAN : result;
}

/* ---- histogram ------------------------------------------------------------------------- */

static bool is_usable(double lo, double hi)
{
    return lo <= hi && isfinite(lo) && isfinite(hi);
}

/* The range of a histogram of floats as numpy takes it. */
typedef struct Range {
    float lo, hi;
    double step;    /* from edge to edge */
    float a_number; /* bins for a whole number: 1, or a half, a quarter ... where there are more than bins */
    int bins;
    bool usable; /* finite, not inverted */
} Range;

static Range range_of(double lo, double hi, int bins)
{
    Range r = {.lo = (float)lo, .hi = (float)hi, .bins = bins};
    r.usable = r.lo <= r.hi && isfinite(r.lo) && isfinite(r.hi);
    if (r.lo == r.hi) {
        r.lo -= 0.5F;
        r.hi += 0.5F;
    }
    r.usable = r.usable && isfinite(r.lo) && isfinite(r.hi) && isfinite(r.hi - r.lo);
    r.step = ((double)r.hi - (double)r.lo) / bins;
    return r;
}

/* Bins of whole numbers. */
static Range range_of_integers(double lo, double hi, int bins)
{
    Range r = {.lo = (float)lo, .hi = (float)hi, .a_number = 1, .bins = bins};
    r.usable = is_usable(lo, hi) && isfinite(r.hi - r.lo);
    while (r.usable && (r.hi - r.lo) * r.a_number >= (float)bins) {
        r.a_number /= 2;
    }
    return r;
}

static int integer_bins(const Range *r)
{
    return (int)((r->hi - r->lo) * r->a_number) + 1;
}

static float edge(const Range *r, int i)
{
    return i == r->bins ? r->hi : (float)((double)i * r->step + (double)r->lo);
}

/* numpy's: a guess in f32, then corrected by the edges.  The last bin has its upper edge too. */
static int bin_of(const Range *r, float v)
{
    float norm = (float)(r->bins / (double)(r->hi - r->lo));
    float guess = (v - r->lo) * norm;
    int bin = guess < (float)r->bins ? (int)guess : r->bins - 1;
    if (v < edge(r, bin)) {
        bin--;
    } else if (bin != r->bins - 1 && v >= edge(r, bin + 1)) {
        bin++;
    }
    return bin;
}

void ref_histogram(const float *v, const uint8_t *where, RefShape s, double lo, double hi, int bins, bool integer,
                   uint64_t *counts)
{
    memset(counts, 0, (size_t)bins * sizeof *counts);
    Range range = integer ? range_of_integers(lo, hi, bins) : range_of(lo, hi, bins);
    if (!is_usable(lo, hi) || !range.usable) {
        return;
    }
    for (size_t i = 0; i < ref_pixels(s); i++) {
        if (is_left_out(v, where, i)) {
            continue;
        }
        if (integer) {
            float offset = (v[i] - range.lo) * range.a_number;
            if (offset >= 0 && v[i] <= range.hi && offset < (float)bins) {
                counts[(int)offset]++;
            }
        } else if (v[i] >= range.lo && v[i] <= range.hi) {
            counts[bin_of(&range, v[i])]++;
        }
    }
}

/* ---- threshold ------------------------------------------------------------------------- */

enum { MOST_ROUNDS = 10000, MOST_LI_ROUNDS = 1000 };

/* A histogram and its running sums: of the counts, and of a second quantity that the method
 * chooses, over the bins up to i (1) and over the bins from i on (2). */
typedef struct Hist {
    const uint64_t *counts;
    int n;
    bool integer;
    Range range;
    double *weight1, *sum1, *weight2, *sum2; /* also room for smoothing */
} Hist;

/* The value that stands for a bin; floats: the middle of its edges, in f32 as numpy has it. */
static double centre(const Hist *h, int i)
{
    if (h->integer) {
        return (double)h->range.lo + ((double)i + 1) / h->range.a_number - 1; /* the last of its numbers */
    }
    return (edge(&h->range, i) + edge(&h->range, i + 1)) / 2.0F;
}

static double second(const Hist *h, int method, int i)
{
    double count = (double)h->counts[i];
    return method == METHOD_YEN ? count * count : method == METHOD_LI ? count * i : count * centre(h, i);
}

static double item(const Hist *h, int method, int i)
{
    return method < 0 ? (double)h->counts[i] : second(h, method, i);
}

/* Running sums of the counts (method -1) or of the method's second quantity. */
static void scan(const Hist *h, int method, bool backward, double *out)
{
    int stretch = (h->n + LANES - 1) / LANES;
    double before = 0;
    for (int from = 0; from < h->n; from += stretch) {
        double total = 0, running = before;
        for (int e = from; e < h->n && e < from + stretch; e++) {
            int i = backward ? h->n - 1 - e : e;
            total += item(h, method, i);
            running += item(h, method, i);
            out[i] = running;
        }
        before += total;
    }
}

/* What otsu and yen want to be largest, for a threshold at bin i. */
static double criterion(const Hist *h, ThresholdMethod method, int i)
{
    double w1 = h->weight1[i], w2 = h->weight2[i + 1];
    if (method == METHOD_YEN) {
        return (w1 * w2) * (w1 * w2) / (h->sum1[i] * h->sum2[i + 1]);
    }
    double between = h->sum1[i] / w1 - h->sum2[i + 1] / w2;
    return w1 * w2 * (between * between);
}

static double largest_criterion(const Hist *h, ThresholdMethod method)
{
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < h->n - 1; i++) {
        double c = criterion(h, method, i);
        if (c > most) {
            most = c;
            best = i;
        }
    }
    return centre(h, best);
}

static double otsu(const Hist *h)
{
    return largest_criterion(h, METHOD_OTSU);
}

static double yen(const Hist *h)
{
    return largest_criterion(h, METHOD_YEN);
}

/* The bin farthest below the line from the peak to the end of the longer tail. */
static double triangle(const Hist *h)
{
    int peak = 0, low = h->n - 1, high = 0;
    for (int i = 0; i < h->n; i++) {
        peak = h->counts[i] > h->counts[peak] ? i : peak;
        low = h->counts[i] > 0 && i < low ? i : low;
        high = h->counts[i] > 0 ? i : high;
    }
    bool flip = peak - low < high - peak;
    int end = flip ? high : low, step = flip ? -1 : 1;
    int steps = flip ? high - peak : peak - low;
    double height = (double)h->counts[peak], width = steps;
    double norm = sqrt(height * height + width * width);
    height /= norm;
    width /= norm;
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < steps; i++) {
        double length = height * i - width * (double)h->counts[end + i * step];
        if (length > most) {
            most = length;
            best = i;
        }
    }
    return centre(h, end + best * step);
}

/* The first bin that lies, within a bin's width, half way between the means of the two classes.  The means only grow,
 * so that the distance shrinks by at most a bin's width from bin to bin, and the first that is smaller than a width is
 * not below 0, except by rounding. */
static double isodata(const Hist *h)
{
    double width = centre(h, 1) - centre(h, 0), all = h->sum1[h->n - 1];
    for (int i = 0; i < h->n - 1; i++) {
        double lower = h->sum1[i] / h->weight1[i];
        double higher = (all - h->sum1[i]) / h->weight2[i + 1];
        double distance = (lower + higher) / 2.0 - centre(h, i);
        if (distance < width) {
            return centre(h, i);
        }
    }
    return NAN;
}

/* Counts the maxima of a curve up to three, and notes the first two. */
static int count_maxima(const double *y, int n, int at[2])
{
    int maxima = 0;
    bool rising = true;
    for (int i = 0; i + 1 < n && maxima < 3; i++) {
        if (rising && y[i + 1] < y[i]) {
            rising = false;
            if (maxima < 2) {
                at[maxima] = i;
            }
            maxima++;
        } else if (!rising && y[i + 1] > y[i]) {
            rising = true;
        }
    }
    return maxima;
}

/* The valley between two maxima, after smoothing until no more are left. */
static double minimum(const Hist *h)
{
    double *from = h->weight1, *to = h->weight2;
    for (int i = 0; i < h->n; i++) {
        from[i] = (double)h->counts[i];
    }
    int maxima = 3, at[2] = {0, 0}, round = 0;
    for (; round < MOST_ROUNDS && maxima > 2; round++) {
        for (int i = 0; i < h->n; i++) {
            double before = from[i > 0 ? i - 1 : 0], after = from[i + 1 < h->n ? i + 1 : i];
            to[i] = (before + from[i] + after) / 3;
        }
        double *old = from;
        from = to;
        to = old;
        maxima = count_maxima(from, h->n, at);
    }
    if (maxima != 2 || round == MOST_ROUNDS) {
        return NAN;
    }
    int best = at[0];
    for (int i = at[0]; i <= at[1]; i++) {
        best = from[i] < from[best] ? i : best;
    }
    return centre(h, best);
}

/*
 * The natural logarithm by +, -, * and / alone, so that every device gives the same bits (Sun's
 * fdlibm, e_log.c; less than one ulp off).  Of 0, minus infinity.  Positive normal numbers only.
 */
static double natural_log(double x)
{
    if (x == 0) {
        return -INFINITY;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffU) | 0x3ff0000000000000U;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m /= 2;
        exponent++;
    }
    double f = m - 1, s = f / (2 + f), z = s * s, w = z * z, k = exponent;
    double odd = w * (0.3999999999940942 + w * (0.22222198432149784 + w * 0.15313837699209373));
    double even =
        z * (0.6666666666666735 + w * (0.2857142874366239 + w * (0.1818357216161805 + w * 0.14798198605116586)));
    double half_square = 0.5 * f * f;
    return k * 0.6931471803691238 -
           ((half_square - (s * (half_square + (even + odd)) + k * 1.9082149292705877e-10)) - f);
}

/* The smallest distance between values that are there. */
static int smallest_gap(const Hist *h)
{
    int gap = h->n, last = -h->n;
    for (int i = 0; i < h->n && gap > 1; i++) {
        if (h->counts[i] > 0) {
            gap = i - last < gap ? i - last : gap;
            last = i;
        }
    }
    return gap;
}

/* Li's minimum cross entropy: the logarithmic mean of the two classes' means, until it moves by no
 * more than half the smallest distance of two values, or nothing but the smallest value is below. */
static double li(const Hist *h)
{
    if (!h->integer) {
        return NAN;
    }
    double count = h->weight1[h->n - 1], all = h->sum1[h->n - 1];
    double next = all / count, at = -INFINITY, tolerance = 0.5 * smallest_gap(h);
    for (int round = 0; round < MOST_LI_ROUNDS && fabs(next - at) > tolerance; round++) {
        at = next;
        int i = (int)at;
        double back = h->sum1[i] / h->weight1[i];
        if (back == 0) {
            break;
        }
        double fore = (all - h->sum1[i]) / (count - h->weight1[i]);
        next = (back - fore) / (natural_log(back) - natural_log(fore));
    }
    return next / h->range.a_number + h->range.lo;
}

typedef double Threshold(const Hist *h);

static Threshold *const THRESHOLDS[THRESHOLD_METHODS] =
    {[METHOD_OTSU] = otsu,       [METHOD_YEN] = yen,         [METHOD_TRIANGLE] = triangle,
     [METHOD_ISODATA] = isodata, [METHOD_MINIMUM] = minimum, [METHOD_LI] = li};

double ref_threshold(const uint64_t *counts, int bins, double lo, double hi, bool integer, ThresholdMethod method)
{
    assert(method < THRESHOLD_METHODS);
    Hist h = {.counts = counts, .n = bins, .integer = integer};
    h.range = integer ? range_of_integers(lo, hi, bins) : range_of(lo, hi, bins);
    if (!is_usable(lo, hi) || !h.range.usable) {
        return NAN;
    }
    if (lo == hi) {
        return lo;
    }
    if (integer) {
        h.n = integer_bins(&h.range);
    }
    double *room = malloc(4 * (size_t)h.n * sizeof *room);
    if (room == NULL) {
        return NAN;
    }
    h.weight1 = room;
    h.sum1 = room + h.n;
    h.weight2 = room + 2 * h.n;
    h.sum2 = room + 3 * h.n;
    scan(&h, -1, false, h.weight1);
    scan(&h, (int)method, false, h.sum1);
    scan(&h, -1, true, h.weight2);
    scan(&h, (int)method, true, h.sum2);
    double result = h.weight1[h.n - 1] > 0 ? THRESHOLDS[method](&h) : (double)NAN;
    free(room);
    return isnan(result) ? (double)NAN : result + 0.0;
}
