/*
 * histogram: how many pixels lie in each bin.
 *
 * A group counts in local memory as long as it works and adds its counts to the result at the end.
 * With few bins each is there 32 times, one for each work-item of a hardware bundle, next to each
 * other: neighbours never meet in a word or a memory bank, however equal their pixels are.  Bins
 * beyond local memory (of integers, counted from the smallest) go to global memory, runs of equal
 * pixels at once.
 *
 * Floats: numpy's rule is a guess in f32, corrected by the edges of the bins.  The edges are only
 * looked at where a guess is so near to a whole number that rounding could matter (`doubt`).
 *
 * The host defines HISTOGRAM_BINS, HISTOGRAM_INTEGER and HISTOGRAM_LOCAL_WORDS in front of this
 * text; kernels/visit.cl and range.cl come before it.
 */
#pragma OPENCL FP_CONTRACT OFF

#if VISIT_CPU_SHAPE
#define HISTOGRAM_COUNT_ONE(word) ((word)++)
#define HISTOGRAM_COPY_BITS 0
#else
#define HISTOGRAM_COUNT_ONE(word) atomic_inc(&(word))
#define HISTOGRAM_COPY_BITS 5
#endif

/* How far a guess and the true place of an edge can be apart, in bins: 4 roundings of the guess and
 * one of the edge, taken twice. */
VISIT_INLINE float histogram_doubt_of(const RangeBins *r)
{
    const float largest = fmax(fabs(r->lo), fabs(r->hi));
    const float doubt = 0x1p-24f * (8.0f * (float)r->bins + 2.0f * largest * r->norm);
    return doubt < 0.25f ? doubt : 2.0f;
}

/* The bin of a pixel; -1 when it has none. */
VISIT_INLINE int histogram_bin_of(const RangeBins *r, float doubt, float v)
{
    if (!(v >= r->lo && v <= r->hi)) {
        return -1;
    }
#if HISTOGRAM_INTEGER
    const float offset = v - r->lo;
    return offset < (float)r->bins ? (int)offset : -1;
#else
    const float guess = (v - r->lo) * r->norm;
    int bin = guess < (float)r->bins ? (int)guess : r->bins - 1;
    const float part = guess - (float)bin;
    if (!(part >= doubt && part <= 1.0f - doubt)) {
        if (v < range_edge(r, bin)) {
            bin--;
        } else if (bin != r->bins - 1 && v >= range_edge(r, bin + 1)) {
            bin++;
        }
    }
    return bin;
#endif
}

/* Bins that the range has: of integers, as many as there are values. */
VISIT_INLINE int histogram_used(const RangeBins *r, double lo, double hi)
{
#if HISTOGRAM_INTEGER
    return r->usable && hi - lo + 1 < HISTOGRAM_BINS ? (int)(hi - lo) + 1 : HISTOGRAM_BINS;
#else
    return HISTOGRAM_BINS;
#endif
}

VISIT_KERNEL void histogram_clear(global uint *counts)
{
    for (int i = (int)get_global_id(0); i < HISTOGRAM_BINS; i += (int)get_global_size(0)) {
        counts[i] = 0;
    }
}

VISIT_KERNEL void histogram_count(READ_PARAMS, int own_w, int own_h, uint own_tiles,
                                  global uint *own_counts)
{
    local uint own_words[HISTOGRAM_LOCAL_WORDS];
    const int own_item = (int)get_local_id(0);
    const double own_lo = (double)read_2(READ_ARGS, 0, 0, 0);
    const double own_hi = (double)read_3(READ_ARGS, 0, 0, 0);
    RangeBins own_range = range_of(own_lo, own_hi, HISTOGRAM_BINS);
#if HISTOGRAM_INTEGER
    own_range.lo = (float)own_lo;
    own_range.hi = (float)own_hi;
    own_range.usable = own_lo <= own_hi && isfinite(own_lo) && isfinite(own_hi);
#endif
    const float own_doubt = histogram_doubt_of(&own_range);
    const uint own_my_tiles = own_range.usable ? own_tiles : 0;
#if (HISTOGRAM_BINS << HISTOGRAM_COPY_BITS) <= HISTOGRAM_LOCAL_WORDS
    const int own_near_bins = HISTOGRAM_BINS, own_shift = HISTOGRAM_COPY_BITS;
#else
    const int own_near_bins =
        min(histogram_used(&own_range, own_lo, own_hi), HISTOGRAM_LOCAL_WORDS);
    int own_shift = 0;
    while (own_shift < HISTOGRAM_COPY_BITS &&
           own_near_bins << (own_shift + 1) <= HISTOGRAM_LOCAL_WORDS) {
        own_shift++;
    }
#endif
    const int own_copies = 1 << own_shift, own_copy = own_item & (own_copies - 1);

    for (int own_i = own_item; own_i < own_near_bins << own_shift; own_i += VISIT_GROUP) {
        own_words[own_i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int own_far_bin = 0;
    uint own_far_run = 0;
    for (uint own_tile = (uint)get_group_id(0); own_tile < own_my_tiles;
         own_tile += (uint)get_num_groups(0)) {
        for (int own_batch = 0; own_batch < VISIT_BATCHES; own_batch++) {
            float own_v[VISIT_COUNT];
            visit_read(READ_ARGS, own_tile, own_batch, own_w, own_h, own_v);
#pragma unroll
            for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
                const int own_bin = histogram_bin_of(&own_range, own_doubt, own_v[own_k]);
                const bool own_near =
                    HISTOGRAM_BINS <= HISTOGRAM_LOCAL_WORDS ? true : own_bin < own_near_bins;
                if (own_bin >= 0 && own_near) {
                    HISTOGRAM_COUNT_ONE(own_words[own_bin << own_shift | own_copy]);
                } else if (own_bin >= 0) {
                    if (own_bin != own_far_bin && own_far_run > 0) {
                        atomic_add(own_counts + own_far_bin, own_far_run);
                        own_far_run = 0;
                    }
                    own_far_bin = own_bin;
                    own_far_run++;
                }
            }
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
