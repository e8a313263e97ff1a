/*
 * threshold: a threshold from a histogram, by one work-group; the same operations in the same order as
 * in ir/ref_reduce.c, which has the methods in plain C.
 *
 * Sums over the bins are taken in LANES stretches of consecutive bins: each stretch is added up, the
 * totals are added from left to right, then each stretch runs on from there.
 *
 * The host defines GROUP (work-items), METHOD and INTEGER in front of this text; kernels/range.cl
 * comes before it.
 */
#pragma OPENCL FP_CONTRACT OFF

#define OTSU 0
#define YEN 1
#define TRIANGLE 2
#define ISODATA 3
#define MINIMUM 4
#define LI 5

#define LANES 256
#define MOST_ROUNDS 10000
#define MOST_LI_ROUNDS 1000
#define EACH_LANE(t) for (int t = (int)get_local_id(0); t < LANES; t += GROUP)

typedef struct Hist {
    const global uint *counts;
    int n;       /* bins in use; 0 when there is no histogram to speak of */
    int stretch; /* bins of a lane */
    double lo;
    Range range;
    /* Running sums of the counts and of the method's second quantity, up to (1) and from (2) a bin. */
    global double *weight1, *sum1, *weight2, *sum2;
    int end, step;        /* triangle: the longer tail's end and the way from there, */
    double height, width; /* the peak seen from there */
    global double *curve; /* minimum: smoothed counts, */
    int from, to;         /* and where the valley is sought */
} Hist;

/* What a search for a maximum goes by. */
enum { BY_COUNT, BY_PRESENCE, BY_LAST_PRESENCE, BY_METHOD };

INLINE double centre(const Hist *h, int i)
{
#if INTEGER
    return h->lo + i;
#else
    return (range_edge(&h->range, i) + range_edge(&h->range, i + 1)) / 2.0f;
#endif
}

INLINE double second(const Hist *h, int i)
{
    const double count = h->counts[i];
#if METHOD == YEN
    return count * count;
#elif METHOD == LI
    return count * i;
#else
    return count * centre(h, i);
#endif
}

/* Fills the four running sums. */
INLINE void scan(const Hist *h, local double (*totals)[LANES])
{
    EACH_LANE(t) {
        double total[4] = {0, 0, 0, 0};
        for (int e = t * h->stretch; e < h->n && e < (t + 1) * h->stretch; e++) {
            const int back = h->n - 1 - e;
            total[0] += h->counts[e];
            total[1] += second(h, e);
            total[2] += h->counts[back];
            total[3] += second(h, back);
        }
        for (int q = 0; q < 4; q++) {
            totals[q][t] = total[q];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int q = (int)get_local_id(0); q < 4; q += GROUP) {
        double before = 0;
        for (int t = 0; t < LANES; t++) {
            const double total = totals[q][t];
            totals[q][t] = before;
            before += total;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_LANE(t) {
        double weight1 = totals[0][t], sum1 = totals[1][t];
        double weight2 = totals[2][t], sum2 = totals[3][t];
        for (int e = t * h->stretch; e < h->n && e < (t + 1) * h->stretch; e++) {
            const int back = h->n - 1 - e;
            weight1 += h->counts[e];
            sum1 += second(h, e);
            weight2 += h->counts[back];
            sum2 += second(h, back);
            h->weight1[e] = weight1;
            h->sum1[e] = sum1;
            h->weight2[back] = weight2;
            h->sum2[back] = sum2;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* How good bin i is by the method's own measure. */
INLINE double method_merit(const Hist *h, int i)
{
#if METHOD == OTSU
    const double w1 = h->weight1[i], w2 = h->weight2[i + 1];
    const double between = h->sum1[i] / w1 - h->sum2[i + 1] / w2;
    return w1 * w2 * (between * between);
#elif METHOD == YEN
    const double w1 = h->weight1[i], w2 = h->weight2[i + 1];
    return (w1 * w2) * (w1 * w2) / (h->sum1[i] * h->sum2[i + 1]);
#elif METHOD == TRIANGLE
    return h->height * i - h->width * h->counts[h->end + i * h->step];
#elif METHOD == ISODATA
    const double width = centre(h, 1) - centre(h, 0), all = h->sum1[h->n - 1];
    const double lower = h->sum1[i] / h->weight1[i];
    const double higher = (all - h->sum1[i]) / h->weight2[i + 1];
    const double distance = (lower + higher) / 2.0 - centre(h, i);
    return distance >= 0 && distance < width;
#elif METHOD == MINIMUM
    return i >= h->from && i <= h->to ? -h->curve[i] : -INFINITY;
#else
    return 0;
#endif
}

INLINE double merit(const Hist *h, int kind, int i)
{
    return kind == BY_COUNT           ? (double)h->counts[i]
           : kind == BY_PRESENCE      ? (double)(h->counts[i] > 0)
           : kind == BY_LAST_PRESENCE ? (double)(h->counts[i] > 0 ? i : -1)
                                      : method_merit(h, i);
}

/* The first of bins 0 .. count - 1 that has the greatest merit, 0 when none has any: best[0], and its
 * merit most[0]. */
INLINE void find_first_maximum(const Hist *h, int kind, int count, local double *most,
                               local int *best)
{
    EACH_LANE(t) {
        double lane_most = -INFINITY;
        int lane_best = 0;
        for (int i = t * h->stretch; i < count && i < (t + 1) * h->stretch; i++) {
            const double m = merit(h, kind, i);
            if (m > lane_most) {
                lane_most = m;
                lane_best = i;
            }
        }
        most[t] = lane_most;
        best[t] = lane_best;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        for (int t = 1; t < LANES; t++) {
            if (most[t] > most[0]) {
                most[0] = most[t];
                best[0] = best[t];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE int first_maximum(const Hist *h, int kind, int count, local double *most, local int *best)
{
    find_first_maximum(h, kind, count, most, best);
    const int found = best[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

/* ---- triangle ---------------------------------------------------------------------------- */

INLINE double triangle(Hist *h, local double *most, local int *best)
{
    const int peak = first_maximum(h, BY_COUNT, h->n, most, best);
    const int low = first_maximum(h, BY_PRESENCE, h->n, most, best);
    const int high = first_maximum(h, BY_LAST_PRESENCE, h->n, most, best);
    const bool flip = peak - low < high - peak;
    const int steps = flip ? high - peak : peak - low;
    h->end = flip ? high : low;
    h->step = flip ? -1 : 1;
    const double height = h->counts[peak], width = steps;
    const double norm = sqrt(height * height + width * width);
    h->height = height / norm;
    h->width = width / norm;
    const int found = first_maximum(h, BY_METHOD, h->n > 0 ? steps : 0, most, best);
    return centre(h, h->end + found * h->step);
}

/* ---- minimum ----------------------------------------------------------------------------- */

/* The ups and downs of one lane's stretch of a curve. */
enum { FIRST, FIRST_AT, LAST, MAXIMA, MAXIMUM_AT, LANE_WORDS = MAXIMUM_AT + 2 };

INLINE void lane_maxima(const global double *y, int from, int to, local int *lane)
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
                lane[MAXIMUM_AT + maxima] = i;
            }
            maxima++;
        }
        last = way != 0 ? way : last;
    }
    lane[FIRST] = first;
    lane[FIRST_AT] = first_at;
    lane[LAST] = last;
    lane[MAXIMA] = maxima;
}

/* Puts the lanes together: counts maxima up to three, notes the first two.  A curve begins rising. */
INLINE int count_maxima(local int (*lanes)[LANE_WORDS], local int *at)
{
    int maxima = 0;
    bool rising = true;
    for (int t = 0; t < LANES && maxima < 3; t++) {
        if (lanes[t][FIRST] < 0 && rising) {
            if (maxima < 2) {
                at[maxima] = lanes[t][FIRST_AT];
            }
            maxima++;
        }
        for (int k = 0; k < lanes[t][MAXIMA] && maxima < 3; k++) {
            if (maxima < 2) {
                at[maxima] = lanes[t][MAXIMUM_AT + k];
            }
            maxima++;
        }
        rising = lanes[t][FIRST] == 0 ? rising : lanes[t][LAST] > 0;
    }
    return maxima;
}

INLINE double minimum(Hist *h, local double *most, local int *best,
                      local int (*lanes)[LANE_WORDS], local int *found)
{
    const int item = (int)get_local_id(0);
    global double *from = h->weight1, *to = h->weight2;
    for (int i = item; i < h->n; i += GROUP) {
        from[i] = h->counts[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    int maxima = h->n > 0 ? 3 : 0, round = 0;
    for (; round < MOST_ROUNDS && maxima > 2; round++) {
        for (int i = item; i < h->n; i += GROUP) {
            const double before = from[i > 0 ? i - 1 : 0];
            const double after = from[i + 1 < h->n ? i + 1 : i];
            to[i] = (before + from[i] + after) / 3;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        global double *old = from;
        from = to;
        to = old;
        EACH_LANE(t) {
            lane_maxima(from, min(t * h->stretch, h->n - 1), min((t + 1) * h->stretch, h->n - 1),
                        lanes[t]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0) {
            found[2] = count_maxima(lanes, found);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        maxima = found[2];
    }
    const bool good = maxima == 2 && round < MOST_ROUNDS;
    h->curve = from;
    h->from = good ? found[0] : 0;
    h->to = good ? found[1] : 0;
    const int valley = first_maximum(h, BY_METHOD, good ? h->n : 0, most, best);
    return good ? centre(h, valley) : (double)NAN;
}

/* ---- li ---------------------------------------------------------------------------------- */

/* Sun's fdlibm, e_log.c, by +, -, * and / alone.  Positive normal numbers, and 0. */
INLINE double natural_log(double x)
{
    const ulong bits = as_ulong(x);
    int exponent = (int)(bits >> 52) - 1023;
    double m = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
    if (m > 1.4142135623730951) {
        m /= 2;
        exponent++;
    }
    const double f = m - 1, s = f / (2 + f), z = s * s, w = z * z, k = exponent;
    const double odd = w * (0.3999999999940942 + w * (0.22222198432149784 + w * 0.15313837699209373));
    const double even = z * (0.6666666666666735 +
                             w * (0.2857142874366239 +
                                  w * (0.1818357216161805 + w * 0.14798198605116586)));
    const double half_square = 0.5 * f * f;
    const double result =
        k * 0.6931471803691238 -
        ((half_square - (s * (half_square + (even + odd)) + k * 1.9082149292705877e-10)) - f);
    return x == 0 ? -(double)INFINITY : result;
}

INLINE double li(const Hist *h)
{
    const double count = h->weight1[h->n - 1], all = h->sum1[h->n - 1];
    double next = all / count, at = -1;
    for (int round = 0; round < MOST_LI_ROUNDS && fabs(next - at) > 0.5; round++) {
        at = next;
        const int i = (int)at;
        const double back = h->sum1[i] / h->weight1[i];
        const double fore = (all - h->sum1[i]) / (count - h->weight1[i]);
        next = (back - fore) / (natural_log(back) - natural_log(fore));
    }
    return next + h->lo;
}

/* ---- the kernel -------------------------------------------------------------------------- */

/* `room`: 4 * bins doubles. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
threshold(READ_PARAMS, const global uint *counts, int bins, global double *room,
          global double *values, int value)
{
    local double totals[4][LANES], most[LANES];
    local int best[LANES], lanes[LANES][LANE_WORDS], found[3];
    const double lo = (double)read_0(READ_ARGS, 0, 0, 0), hi = (double)read_1(READ_ARGS, 0, 0, 0);
    const bool finite = lo <= hi && isfinite(lo) && isfinite(hi);

    Hist h;
    h.counts = counts;
    h.lo = lo;
    h.range = range_of(lo, hi, bins);
#if INTEGER
    h.n = finite && lo < hi && hi - lo + 1 <= bins ? (int)(hi - lo) + 1 : 0;
#else
    h.n = finite && lo < hi && h.range.usable ? bins : 0;
#endif
    h.stretch = (h.n + LANES - 1) / LANES;
    h.weight1 = room;
    h.sum1 = room + h.n;
    h.weight2 = room + 2 * h.n;
    h.sum2 = room + 3 * h.n;
    scan(&h, totals);
    const bool empty = h.n == 0 || h.weight1[max(h.n - 1, 0)] == 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    h.n = empty ? 0 : h.n;

    double result = NAN;
#if METHOD == OTSU || METHOD == YEN
    result = centre(&h, first_maximum(&h, BY_METHOD, h.n - 1, most, best));
#elif METHOD == ISODATA
    find_first_maximum(&h, BY_METHOD, h.n - 1, most, best);
    result = most[0] > 0 ? centre(&h, best[0]) : (double)NAN;
#elif METHOD == TRIANGLE
    result = triangle(&h, most, best);
#elif METHOD == MINIMUM
    result = minimum(&h, most, best, lanes, found);
#elif INTEGER
    if (get_local_id(0) == 0 && !empty) {
        result = li(&h);
    }
#endif
    if (get_local_id(0) == 0) {
        result = finite && lo == hi ? lo : empty || isnan(result) ? (double)NAN : result + 0.0;
        values[value] = result;
    }
}
