/*
 * histogram: how many pixels lie in each bin.
 *
 * A group counts in local memory as long as it works and adds its counts to the result at the end.
 * With few bins each is there 32 times, one for each work-item of a hardware bundle, next to each
 * other: neighbours never meet in a word or a memory bank, however equal their pixels are.  Bins
 * beyond local memory (of integers, counted from the smallest) go to global memory, runs of equal
 * pixels at once.
 *
 * Floats: numpy's rule is a guess in f32, corrected by the edges of the bins.  Whatever guess is so
 * far from a whole number that rounding cannot matter gives the same bin, so a cheaper one is made,
 * and what is in doubt is left for after the batch, where the rule is followed to the letter.
 *
 * What costs is instructions, branches above all: a pixel without a bin counts in one more bin, which
 * nobody reads.
 *
 * The host defines HISTOGRAM_BINS, HISTOGRAM_INTEGER, HISTOGRAM_LOCAL_WORDS and HISTOGRAM_IN_OTSU in front of
 * this text; kernels/visit.cl and range.cl come before it.  Without a reader the text is what otsu's decision
 * needs of it.
 */
#pragma OPENCL FP_CONTRACT OFF

/* Where the range is from.  For otsu (kernels/otsu.cl) it is among its values, and maybe nobody needs counts. */
#if HISTOGRAM_IN_OTSU
#define HISTOGRAM_RANGE_PARAMS                                                                     \
    , const global uint *own_scratch, global const double *own_values, int own_value
#define HISTOGRAM_LOW own_values[own_value + OTSU_LOW]
#define HISTOGRAM_HIGH own_values[own_value + OTSU_HIGH]
#define HISTOGRAM_IS_KNOWN(scratch) (OTSU_FINE_BINS > 0 && (scratch)[OTSU_AT_DECIDED] != 0)
#else
#define HISTOGRAM_RANGE_PARAMS
#define HISTOGRAM_LOW (double)read_2(READ_ARGS, 0, 0, 0)
#define HISTOGRAM_HIGH (double)read_3(READ_ARGS, 0, 0, 0)
#define HISTOGRAM_IS_KNOWN(scratch) false
#endif

#if VISIT_CPU_SHAPE
#define HISTOGRAM_COUNT_ONE(word) ((word)++)
#define HISTOGRAM_COPY_BITS 0
#else
#define HISTOGRAM_COUNT_ONE(word) atomic_inc(&(word))
#define HISTOGRAM_COPY_BITS 5
#endif

/* The bin of a pixel in the range, by numpy's rule. */
VISIT_INLINE int histogram_exact_bin(const RangeBins *r, float v)
{
    const float guess = (v - r->lo) * r->norm;
    const int bin = guess < (float)r->bins ? (int)guess : r->bins - 1;
    if (v < range_edge(r, bin)) {
        return bin - 1;
    }
    return bin != r->bins - 1 && v >= range_edge(r, bin + 1) ? bin + 1 : bin;
}

#ifdef READ_PARAMS

/* The cheap guess: a pixel's place less a half, to be rounded to the nearest whole number. */
typedef struct HistogramGuess {
    float norm, offset;
    float low, high; /* no place is nearer to the range's ends, which are edges, but not in doubt */
    float sure;      /* the farthest from a whole number that is not in doubt */
} HistogramGuess;

VISIT_INLINE HistogramGuess histogram_guess_of(const RangeBins *r)
{
    HistogramGuess g;
    const float largest = fmax(fabs(r->lo), fabs(r->hi));
    /* How far the place and an edge can be apart, in bins: 3 roundings of numbers up to the bins'
     * number, 4 of numbers up to the largest pixel's, one of a half; and a little for rounding here. */
    const float doubt = 0x1p-24f * (4.0f * (float)r->bins + 5.0f * largest * r->norm + 1.0f);
    g.norm = r->norm;
    g.offset = -(r->lo * r->norm) - 0.5f;
    g.low = -0.5f + 2 * doubt;
    g.high = (float)r->bins - 0.5f - 2 * doubt;
    g.sure = doubt < 0.125f ? 0.5f - doubt : -1.0f;
    return g;
}

/* What stands for bin 0: the bits of a float beside which the last bit counts ones, so that adding rounds; of
 * whole numbers 0.  Bins keep it, which saves to take it away from every pixel. */
#if HISTOGRAM_INTEGER
#define HISTOGRAM_FIRST 0u
#else
#define HISTOGRAM_FIRST as_uint(0x1.8p23f)
#endif
#define HISTOGRAM_NO_BIN (HISTOGRAM_FIRST + HISTOGRAM_BINS)

/* The bin of pixel k of a batch.  It has none, too, when it is in doubt, which is noted.  Pixels outside of the
 * range are not as a rule: their places are moved to where there is no doubt. */
VISIT_INLINE uint histogram_bin_of(const RangeBins *r, const HistogramGuess *g, float v, int k,
                                   uint *doubts)
{
#if HISTOGRAM_INTEGER
    const float offset = (v - r->lo) * r->a_number;
    return ((v >= r->lo) & (v <= r->hi) & (offset < (float)r->bins)) ? (uint)offset
                                                                      : HISTOGRAM_NO_BIN;
#else
    const float place = fmin(fmax(fma(v, g->norm, g->offset), g->low), g->high);
    const float rounded = place + 0x1.8p23f, rest = place - (rounded - 0x1.8p23f);
    const bool sure = fabs(rest) <= g->sure;
    *doubts |= sure ? 0 : 1u << k;
    return (sure & (v >= r->lo) & (v <= r->hi)) ? as_uint(rounded) : HISTOGRAM_NO_BIN;
#endif
}

VISIT_INLINE int histogram_used(const RangeBins *r)
{
#if HISTOGRAM_INTEGER
    return r->usable ? range_integer_bins(r) : HISTOGRAM_BINS;
#else
    return HISTOGRAM_BINS;
#endif
}

/* Counts a pixel, whose bin is counted from `first`: near bins in local memory, of far ones runs of equals. */
#define HISTOGRAM_ALL_NEAR ((HISTOGRAM_BINS << HISTOGRAM_COPY_BITS) <= HISTOGRAM_LOCAL_WORDS)
#define HISTOGRAM_COUNT(counted)                                                                   \
    do {                                                                                           \
        const int bin = (int)((counted)-HISTOGRAM_FIRST);                                          \
        if (HISTOGRAM_ALL_NEAR) {                                                                  \
            HISTOGRAM_COUNT_ONE(own_words[((counted) << own_shift) + own_mine]);                   \
        } else {                                                                                   \
            HISTOGRAM_COUNT_ONE(                                                                   \
                own_words[((min(bin, own_near_bins) + HISTOGRAM_FIRST) << own_shift) + own_mine]); \
        }                                                                                          \
        if (HISTOGRAM_BINS > HISTOGRAM_LOCAL_WORDS && (bin) >= own_near_bins &&                    \
            (bin) < HISTOGRAM_BINS) {                                                              \
            if ((bin) != own_far_bin && own_far_run > 0) {                                         \
                atomic_add(own_counts + own_far_bin, own_far_run);                                 \
                own_far_run = 0;                                                                   \
            }                                                                                      \
            own_far_bin = (bin);                                                                   \
            own_far_run++;                                                                         \
        }                                                                                          \
    } while (0)

VISIT_KERNEL void histogram_count(READ_PARAMS, int own_w, int own_h, uint own_tiles,
                                  global uint *own_counts HISTOGRAM_RANGE_PARAMS)
{
    local uint own_words[HISTOGRAM_LOCAL_WORDS + (1 << HISTOGRAM_COPY_BITS)];
    const int own_item = (int)get_local_id(0);
    if (HISTOGRAM_IS_KNOWN(own_scratch)) {
        return;
    }
    const double own_lo = HISTOGRAM_LOW, own_hi = HISTOGRAM_HIGH;
#if HISTOGRAM_INTEGER
    const RangeBins own_range = range_of_integers(own_lo, own_hi, HISTOGRAM_BINS);
#else
    const RangeBins own_range = range_of(own_lo, own_hi, HISTOGRAM_BINS);
#endif
    const HistogramGuess own_guess = histogram_guess_of(&own_range);
    const uint own_my_tiles = own_range.usable ? own_tiles : 0;
#if HISTOGRAM_ALL_NEAR
    const int own_near_bins = HISTOGRAM_BINS, own_shift = HISTOGRAM_COPY_BITS;
#else
    const int own_near_bins =
        min(histogram_used(&own_range), HISTOGRAM_LOCAL_WORDS);
    int own_shift = 0;
    while (own_shift < HISTOGRAM_COPY_BITS &&
           own_near_bins << (own_shift + 1) <= HISTOGRAM_LOCAL_WORDS) {
        own_shift++;
    }
#endif
    const int own_copies = 1 << own_shift;
    /* Where the work-item's copy of bin 0 is; the compiler shall not take it apart. */
    uint own_mine = ((uint)own_item & (uint)(own_copies - 1)) - (HISTOGRAM_FIRST << own_shift);
#ifdef __NV_CL_C_VERSION
    asm("mov.u32 %0, %0;" : "+r"(own_mine));
#endif

    for (int own_i = own_item; own_i < own_near_bins << own_shift; own_i += VISIT_GROUP) {
        own_words[own_i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int own_far_bin = 0;
    uint own_far_run = 0;
    float own_ahead[VISIT_COUNT], own_v[VISIT_COUNT];
    VisitWalk own_walk = visit_walk(READ_ARGS, own_my_tiles, own_w, own_h, own_ahead);
    while (visit_take(READ_ARGS, &own_walk, own_ahead, own_v)) {
        uint own_doubts = 0;
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            const uint own_bin =
                histogram_bin_of(&own_range, &own_guess, own_v[own_k], own_k, &own_doubts);
            HISTOGRAM_COUNT(own_bin);
        }
        for (; own_doubts != 0; own_doubts &= own_doubts - 1) {
            const int own_k = (int)popcount((own_doubts & -own_doubts) - 1);
            const float own_one = visit_read_one(READ_ARGS, &own_walk, own_k);
            const bool own_inside = visit_counts(&own_walk, own_k) & (own_one >= own_range.lo) &
                                    (own_one <= own_range.hi);
            const uint own_bin =
                own_inside ? HISTOGRAM_FIRST + (uint)histogram_exact_bin(&own_range, own_one)
                           : HISTOGRAM_NO_BIN;
            HISTOGRAM_COUNT(own_bin);
        }
    }
    if (own_far_run > 0) {
        atomic_add(own_counts + own_far_bin, own_far_run);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int own_bin = own_item; own_bin < own_near_bins; own_bin += VISIT_GROUP) {
        uint own_total = 0;
        for (int own_i = 0; own_i < own_copies; own_i++) {
            own_total += own_words[own_bin << own_shift | ((own_i + own_item) & (own_copies - 1))];
        }
        if (own_total > 0) {
            atomic_add(own_counts + own_bin, own_total);
        }
    }
}

#endif
