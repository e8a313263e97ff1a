/*
 * threshold: a threshold from a histogram, by one work-group; the same operations in the same order
 * as in reference/ref_reduce.c, which has the methods in plain C.
 *
 * Sums over the bins are taken in 256 stretches of consecutive bins: each stretch is added up, the
 * totals are added from left to right, then each stretch runs on from there.
 *
 * The host defines THRESHOLD_GROUP (work-items), THRESHOLD_METHOD and THRESHOLD_IN_OTSU (another text has the
 * kernel) in front of this text; kernels/range.cl comes before it.
 */
#pragma OPENCL FP_CONTRACT OFF

#define THRESHOLD_INLINE static inline __attribute__((always_inline))

#define THRESHOLD_OTSU 0
#define THRESHOLD_YEN 1
#define THRESHOLD_TRIANGLE 2
#define THRESHOLD_ISODATA 3
#define THRESHOLD_MINIMUM 4
#define THRESHOLD_LI 5

#define THRESHOLD_LANES 256
#define THRESHOLD_AHEAD 16 /* of them, whose sums are read at once */
#define THRESHOLD_MOST_ROUNDS 10000
#define THRESHOLD_MOST_LI_ROUNDS 1000
#define THRESHOLD_EACH_LANE(t)                                                                     \
    for (int t = (int)get_local_id(0); t < THRESHOLD_LANES; t += THRESHOLD_GROUP)

/* The bins of a lane.  Mostly it is one, and a loop that is unrolled takes longer to compile than to run. */
#define THRESHOLD_STRETCH(i, t, count)                                                             \
    _Pragma("unroll 1") for (int i = t * h->stretch; i < count && i < (t + 1) * h->stretch; i++)

typedef struct ThresholdBins {
    const global uint *counts; /* low words of all, then high ones, then whether any of these is not 0 */
    int high;                  /* where the first high word is; 0: all are 0 */
    int n;       /* bins in use; 0 when there is no histogram to speak of */
    int stretch; /* bins of a lane */
    bool integer; /* whole numbers (range_of_integers) */
    RangeBins range;
    /* Running sums of the counts and the method's second quantity, up to a bin and from it on. */
    global double *weight1, *sum1, *weight2, *sum2;
    int end, step;        /* triangle: the longer tail's end and the way from there, */
    double height, width; /* the peak seen from there */
    global double *curve; /* minimum: smoothed counts, */
    int from, to;         /* and where the valley is sought */
} ThresholdBins;

/* What a search for a maximum goes by. */
enum { THRESHOLD_BY_COUNT, THRESHOLD_BY_PRESENCE, THRESHOLD_BY_LAST_PRESENCE, THRESHOLD_BY_METHOD };

THRESHOLD_INLINE double threshold_count(const ThresholdBins *h, int i)
{
    const double low = h->counts[i];
    return h->high > 0 ? low + 4294967296.0 * h->counts[h->high + i] : low;
}

/* The last of a bin's whole numbers: a threshold there leaves all of them below. */
THRESHOLD_INLINE double threshold_last(const ThresholdBins *h, int i)
{
    return (double)h->range.lo + ((double)i + 1) / h->range.a_number - 1;
}

THRESHOLD_INLINE double threshold_centre(const ThresholdBins *h, int i)
{
    return h->integer ? threshold_last(h, i)
                      : (range_edge(&h->range, i) + range_edge(&h->range, i + 1)) / 2.0f;
}

THRESHOLD_INLINE double threshold_second(const ThresholdBins *h, int i)
{
    const double count = threshold_count(h, i);
#if THRESHOLD_METHOD == THRESHOLD_YEN
    return count * count;
#elif THRESHOLD_METHOD == THRESHOLD_LI
    return count * i;
#else
    return count * threshold_centre(h, i);
#endif
}

/* Fills the four running sums. */
THRESHOLD_INLINE void threshold_scan(const ThresholdBins *h,
                                     local double (*totals)[THRESHOLD_LANES])
{
    THRESHOLD_EACH_LANE (t) {
        double total[4] = {0, 0, 0, 0};
        THRESHOLD_STRETCH (e, t, h->n) {
            const int back = h->n - 1 - e;
            total[0] += threshold_count(h, e);
            total[1] += threshold_second(h, e);
            total[2] += threshold_count(h, back);
            total[3] += threshold_second(h, back);
        }
        for (int q = 0; q < 4; q++) {
            totals[q][t] = total[q];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int q = (int)get_local_id(0); q < 4; q += THRESHOLD_GROUP) {
        double before = 0;
        for (int t = 0; t < THRESHOLD_LANES; t += THRESHOLD_AHEAD) {
            double total[THRESHOLD_AHEAD];
#pragma unroll
            for (int k = 0; k < THRESHOLD_AHEAD; k++) {
                total[k] = totals[q][t + k];
            }
#pragma unroll
            for (int k = 0; k < THRESHOLD_AHEAD; k++) {
                totals[q][t + k] = before;
                before += total[k];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    THRESHOLD_EACH_LANE (t) {
        double weight1 = totals[0][t], sum1 = totals[1][t];
        double weight2 = totals[2][t], sum2 = totals[3][t];
        THRESHOLD_STRETCH (e, t, h->n) {
            const int back = h->n - 1 - e;
            weight1 += threshold_count(h, e);
            sum1 += threshold_second(h, e);
            weight2 += threshold_count(h, back);
            sum2 += threshold_second(h, back);
            h->weight1[e] = weight1;
            h->sum1[e] = sum1;
            h->weight2[back] = weight2;
            h->sum2[back] = sum2;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* How good bin i is by the method's own measure. */
THRESHOLD_INLINE double threshold_method_merit(const ThresholdBins *h, int i)
{
#if THRESHOLD_METHOD == THRESHOLD_OTSU
    const double w1 = h->weight1[i], w2 = h->weight2[i + 1];
    const double between = h->sum1[i] / w1 - h->sum2[i + 1] / w2;
    return w1 * w2 * (between * between);
#elif THRESHOLD_METHOD == THRESHOLD_YEN
    const double w1 = h->weight1[i], w2 = h->weight2[i + 1];
    return (w1 * w2) * (w1 * w2) / (h->sum1[i] * h->sum2[i + 1]);
#elif THRESHOLD_METHOD == THRESHOLD_TRIANGLE
    return h->height * i - h->width * threshold_count(h, h->end + i * h->step);
#elif THRESHOLD_METHOD == THRESHOLD_ISODATA
    const double width = threshold_centre(h, 1) - threshold_centre(h, 0), all = h->sum1[h->n - 1];
    const double lower = h->sum1[i] / h->weight1[i];
    const double higher = (all - h->sum1[i]) / h->weight2[i + 1];
    const double distance = (lower + higher) / 2.0 - threshold_centre(h, i);
    return distance < width;
#elif THRESHOLD_METHOD == THRESHOLD_MINIMUM
    return i >= h->from && i <= h->to ? -h->curve[i] : -INFINITY;
#else
    return 0;
#endif
}

THRESHOLD_INLINE double threshold_merit(const ThresholdBins *h, int kind, int i)
{
    return kind == THRESHOLD_BY_COUNT           ? threshold_count(h, i)
           : kind == THRESHOLD_BY_PRESENCE      ? (double)(threshold_count(h, i) > 0)
           : kind == THRESHOLD_BY_LAST_PRESENCE ? (double)(threshold_count(h, i) > 0 ? i : -1)
                                                : threshold_method_merit(h, i);
}

/* The first of bins 0 .. count - 1 that has the greatest merit, 0 when none has any: best[0], and
 * its merit most[0]. */
THRESHOLD_INLINE void threshold_find_first_maximum(const ThresholdBins *h, int kind, int count,
                                                   local double *most, local int *best)
{
    THRESHOLD_EACH_LANE (t) {
        double lane_most = -INFINITY;
        int lane_best = 0;
        THRESHOLD_STRETCH (i, t, count) {
            const double m = threshold_merit(h, kind, i);
            if (m > lane_most) {
                lane_most = m;
                lane_best = i;
            }
        }
        most[t] = lane_most;
        best[t] = lane_best;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < THRESHOLD_LANES; step *= 2) {
        THRESHOLD_EACH_LANE (t) {
            if ((t & (2 * step - 1)) == 0 && most[t + step] > most[t]) {
                most[t] = most[t + step];
                best[t] = best[t + step];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

THRESHOLD_INLINE int threshold_first_maximum(const ThresholdBins *h, int kind, int count,
                                             local double *most, local int *best)
{
    threshold_find_first_maximum(h, kind, count, most, best);
    const int found = best[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

/* ---- triangle ---------------------------------------------------------------------------- */

THRESHOLD_INLINE double threshold_triangle(ThresholdBins *h, local double *most, local int *best)
{
    const int peak = threshold_first_maximum(h, THRESHOLD_BY_COUNT, h->n, most, best);
    const int low = threshold_first_maximum(h, THRESHOLD_BY_PRESENCE, h->n, most, best);
    const int high = threshold_first_maximum(h, THRESHOLD_BY_LAST_PRESENCE, h->n, most, best);
    const bool flip = peak - low < high - peak;
    const int steps = flip ? high - peak : peak - low;
    h->end = flip ? high : low;
    h->step = flip ? -1 : 1;
    const double height = threshold_count(h, peak), width = steps;
    const double norm = sqrt(height * height + width * width);
    h->height = height / norm;
    h->width = width / norm;
    const int found =
        threshold_first_maximum(h, THRESHOLD_BY_METHOD, h->n > 0 ? steps : 0, most, best);
    return threshold_centre(h, h->end + found * h->step);
}

/* ---- minimum ----------------------------------------------------------------------------- */

/* The ups and downs of one lane's stretch of a curve. */
enum {
    THRESHOLD_FIRST,
    THRESHOLD_FIRST_AT,
    THRESHOLD_LAST,
    THRESHOLD_MAXIMA,
    THRESHOLD_MAXIMUM_AT,
    THRESHOLD_LANE_WORDS = THRESHOLD_MAXIMUM_AT + 2
};

THRESHOLD_INLINE void threshold_lane_maxima(const global double *y, int from, int to,
                                            local int *lane)
{
    int first = 0, first_at = 0, last = 0, maxima = 0;
    for (int i = from; i < to; i++) {
        const double a = y[i], b = y[i + 1];
        const int way = (b > a) - (b < a);
        if (way != 0 && last == 0) {
            first = way;
            first_at = i;
        } else if (way < 0 && last > 0) {
            if (maxima < 2) {
                lane[THRESHOLD_MAXIMUM_AT + maxima] = i;
            }
            maxima++;
        }
        last = way != 0 ? way : last;
    }
    lane[THRESHOLD_FIRST] = first;
    lane[THRESHOLD_FIRST_AT] = first_at;
    lane[THRESHOLD_LAST] = last;
    lane[THRESHOLD_MAXIMA] = maxima;
}

/* Puts the lanes together: counts maxima up to three, notes the first two.  Curves begin rising. */
THRESHOLD_INLINE int threshold_count_maxima(local int (*lanes)[THRESHOLD_LANE_WORDS], local int *at)
{
    int maxima = 0;
    bool rising = true;
    for (int t = 0; t < THRESHOLD_LANES && maxima < 3; t++) {
        if (lanes[t][THRESHOLD_FIRST] < 0 && rising) {
            if (maxima < 2) {
                at[maxima] = lanes[t][THRESHOLD_FIRST_AT];
            }
            maxima++;
        }
        for (int k = 0; k < lanes[t][THRESHOLD_MAXIMA] && maxima < 3; k++) {
            if (maxima < 2) {
                at[maxima] = lanes[t][THRESHOLD_MAXIMUM_AT + k];
            }
            maxima++;
        }
        rising = lanes[t][THRESHOLD_FIRST] == 0 ? rising : lanes[t][THRESHOLD_LAST] > 0;
    }
    return maxima;
}

THRESHOLD_INLINE double threshold_minimum(ThresholdBins *h, local double *most, local int *best,
                                          local int (*lanes)[THRESHOLD_LANE_WORDS],
                                          local int *found)
{
    const int item = (int)get_local_id(0);
    global double *from = h->weight1, *to = h->weight2;
    for (int i = item; i < h->n; i += THRESHOLD_GROUP) {
        from[i] = threshold_count(h, i);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    int maxima = h->n > 0 ? 3 : 0, round = 0;
    for (; round < THRESHOLD_MOST_ROUNDS && maxima > 2; round++) {
        for (int i = item; i < h->n; i += THRESHOLD_GROUP) {
            const double before = from[i > 0 ? i - 1 : 0];
            const double after = from[i + 1 < h->n ? i + 1 : i];
            to[i] = (before + from[i] + after) / 3;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        global double *old = from;
        from = to;
        to = old;
        THRESHOLD_EACH_LANE (t) {
            threshold_lane_maxima(from, min(t * h->stretch, h->n - 1),
                                  min((t + 1) * h->stretch, h->n - 1), lanes[t]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0) {
            found[2] = threshold_count_maxima(lanes, found);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        maxima = found[2];
    }
    const bool good = maxima == 2 && round < THRESHOLD_MOST_ROUNDS;
    h->curve = from;
    h->from = good ? found[0] : 0;
    h->to = good ? found[1] : 0;
    const int valley = threshold_first_maximum(h, THRESHOLD_BY_METHOD, good ? h->n : 0, most, best);
    return good ? threshold_centre(h, valley) : (double)NAN;
}

/* ---- li ---------------------------------------------------------------------------------- */

/* Sun's fdlibm, e_log.c, by +, -, * and / alone.  Positive normal numbers, and 0. */
THRESHOLD_INLINE double threshold_natural_log(double x)
{
    const ulong bits = as_ulong(x);
    int exponent = (int)(bits >> 52) - 1023;
    double m = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
    if (m > 1.4142135623730951) {
        m /= 2;
        exponent++;
    }
    const double f = m - 1, s = f / (2 + f), z = s * s, w = z * z, k = exponent;
    const double odd =
        w * (0.3999999999940942 + w * (0.22222198432149784 + w * 0.15313837699209373));
    const double even =
        z * (0.6666666666666735 +
             w * (0.2857142874366239 + w * (0.1818357216161805 + w * 0.14798198605116586)));
    const double half_square = 0.5 * f * f;
    const double result =
        k * 0.6931471803691238 -
        ((half_square - (s * (half_square + (even + odd)) + k * 1.9082149292705877e-10)) - f);
    return x == 0 ? -(double)INFINITY : result;
}

/* The smallest distance between values that are there. */
THRESHOLD_INLINE int threshold_smallest_gap(const ThresholdBins *h)
{
    int gap = h->n, last = -h->n;
    for (int i = 0; i < h->n && gap > 1; i++) {
        if (threshold_count(h, i) > 0) {
            gap = min(i - last, gap);
            last = i;
        }
    }
    return gap;
}

THRESHOLD_INLINE double threshold_li(const ThresholdBins *h)
{
    const double count = h->weight1[h->n - 1], all = h->sum1[h->n - 1];
    const double tolerance = 0.5 * threshold_smallest_gap(h);
    double next = all / count, at = -INFINITY;
    for (int round = 0; round < THRESHOLD_MOST_LI_ROUNDS && fabs(next - at) > tolerance; round++) {
        at = next;
        const int i = (int)at;
        const double back = h->sum1[i] / h->weight1[i];
        if (back == 0) {
            break;
        }
        const double fore = (all - h->sum1[i]) / (count - h->weight1[i]);
        next = (back - fore) / (threshold_natural_log(back) - threshold_natural_log(fore));
    }
    return next / h->range.a_number + h->range.lo;
}

/* ---- the kernel -------------------------------------------------------------------------- */

/* A group's local memory.  It is one variable, because no method uses all of it, and PoCL from 4.0 on stops at those
 * that a kernel does not use, unless it optimises. */
typedef struct ThresholdLocals {
    double totals[4][THRESHOLD_LANES], most[THRESHOLD_LANES];
    int best[THRESHOLD_LANES], lanes[THRESHOLD_LANES][THRESHOLD_LANE_WORDS], found[3];
} ThresholdLocals;

THRESHOLD_INLINE double threshold_by_method(ThresholdBins *h, local ThresholdLocals *own)
{
#if THRESHOLD_METHOD == THRESHOLD_OTSU || THRESHOLD_METHOD == THRESHOLD_YEN
    const int i = threshold_first_maximum(h, THRESHOLD_BY_METHOD, h->n - 1, own->most, own->best);
    return threshold_centre(h, i);
#elif THRESHOLD_METHOD == THRESHOLD_ISODATA
    threshold_find_first_maximum(h, THRESHOLD_BY_METHOD, h->n - 1, own->most, own->best);
    return own->most[0] > 0 ? threshold_centre(h, own->best[0]) : (double)NAN;
#elif THRESHOLD_METHOD == THRESHOLD_TRIANGLE
    return threshold_triangle(h, own->most, own->best);
#elif THRESHOLD_METHOD == THRESHOLD_MINIMUM
    return threshold_minimum(h, own->most, own->best, own->lanes, own->found);
#else
    return get_local_id(0) == 0 && h->n > 0 && h->integer ? threshold_li(h) : (double)NAN;
#endif
}

/* The threshold, in the first work-item.  One NaN and one zero, whatever the device's signs are. */
THRESHOLD_INLINE double threshold_of(const global uint *counts, int bins, double lo, double hi,
                                     bool integer, global double *room, local ThresholdLocals *own)
{
    const bool finite = lo <= hi && isfinite(lo) && isfinite(hi);
    ThresholdBins h;
    h.counts = counts;
    h.high = counts[2 * bins] > 0 ? bins : 0;
    h.range = integer ? range_of_integers(lo, hi, bins) : range_of(lo, hi, bins);
    h.integer = integer;
    h.n = 0;
    if (finite && lo < hi && h.range.usable) {
        h.n = integer ? range_integer_bins(&h.range) : bins;
    }
    h.stretch = (h.n + THRESHOLD_LANES - 1) / THRESHOLD_LANES;
    h.weight1 = room;
    h.sum1 = room + h.n;
    h.weight2 = room + 2 * h.n;
    h.sum2 = room + 3 * h.n;
    threshold_scan(&h, own->totals);
    const bool empty = h.n == 0 || h.weight1[max(h.n - 1, 0)] == 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    h.n = empty ? 0 : h.n;
    const double found_value = threshold_by_method(&h, own);
    const double result = finite && lo == hi ? lo : empty ? (double)NAN : found_value;
    return as_double(isnan(result) ? 0x7ff8000000000000UL : as_ulong(result + 0.0));
}

#if !THRESHOLD_IN_OTSU

/* `own_room`: 4 * own_bins doubles. */
kernel __attribute__((reqd_work_group_size(THRESHOLD_GROUP, 1, 1))) void
threshold_find(READ_PARAMS, const global uint *own_counts, int own_bins, int own_integer,
               global double *own_room, global double *own_values, int own_value)
{
    local ThresholdLocals own_locals;
    const double own_lo = (double)read_0(READ_ARGS, 0, 0, 0);
    const double own_hi = (double)read_1(READ_ARGS, 0, 0, 0);
    const double own_result =
        threshold_of(own_counts, own_bins, own_lo, own_hi, own_integer != 0, own_room, &own_locals);
    if (get_local_id(0) == 0) {
        own_values[own_value] = own_result;
    }
}

#endif
