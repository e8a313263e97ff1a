/*
 * histogram: how many pixels lie in each bin.
 *
 * A group counts in local memory as long as it works and adds its counts to the result at the end.
 * With few bins each is there up to 32 times, one for each work-item of a hardware bundle, next to each
 * other: neighbours never meet in a word or a memory bank, however equal their pixels are.  Bins beyond
 * local memory (integers of more than LOCAL_WORDS values, counted from the smallest) go to global
 * memory, runs of equal pixels at once.
 *
 * Floats: numpy's rule is a guess in f32, corrected by the edges of the bins.  The edges are only looked
 * at where a guess is so near to a whole number that rounding could matter (`doubt`).
 *
 * The host defines INTEGER and LOCAL_WORDS in front of this text; kernels/visit.cl and range.cl come
 * before it.
 */
#pragma OPENCL FP_CONTRACT OFF

#if CPU_SHAPE
#define COUNT_ONE(word) ((word)++)
#define MOST_COPIES 1
#else
#define COUNT_ONE(word) atomic_inc(&(word))
#define MOST_COPIES 32
#endif

/* How far a guess and the true place of an edge can be apart, in bins: 4 roundings of the guess and
 * one of the edge, taken twice. */
INLINE float doubt_of(const Range *r)
{
    const float largest = fmax(fabs(r->lo), fabs(r->hi));
    const float doubt = 0x1p-24f * (8.0f * (float)r->bins + 2.0f * largest * r->norm);
    return doubt < 0.25f ? doubt : 2.0f;
}

/* The bin of a pixel; -1 when it has none. */
INLINE int bin_of(const Range *r, float doubt, float v)
{
    if (!(v >= r->lo && v <= r->hi)) {
        return -1;
    }
#if INTEGER
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

GROUP_KERNEL void histogram(READ_PARAMS, int w, int h, uint tiles, int bins, global uint *counts)
{
    local uint words[LOCAL_WORDS];
    const int item = (int)get_local_id(0);
    const double lo = (double)read_2(READ_ARGS, 0, 0, 0), hi = (double)read_3(READ_ARGS, 0, 0, 0);
    Range range = range_of(lo, hi, bins);
    int used = bins;
#if INTEGER
    range.lo = (float)lo;
    range.hi = (float)hi;
    range.usable = lo <= hi && isfinite(lo) && isfinite(hi);
    used = range.usable && hi - lo + 1 < bins ? (int)(hi - lo) + 1 : bins;
#endif
    const float doubt = doubt_of(&range);
    const uint my_tiles = range.usable ? tiles : 0;
    const int near_bins = min(used, LOCAL_WORDS);
    int shift = 0;
    while ((2 << shift) <= MOST_COPIES && (near_bins << (shift + 1)) <= LOCAL_WORDS) {
        shift++;
    }
    const int copies = 1 << shift, copy = item & (copies - 1);

    for (int i = item; i < near_bins << shift; i += GROUP) {
        words[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int far_bin = 0;
    uint far_run = 0;
    for (uint tile = (uint)get_group_id(0); tile < my_tiles; tile += (uint)get_num_groups(0)) {
        const Place place = visit_place(tile, w, h);
        for (int batch = 0; batch < BATCHES; batch++) {
            float v[BATCH];
            VISIT_BATCH(v, place, batch);
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                const int bin = bin_of(&range, doubt, v[k]);
                if (bin >= 0 && bin < near_bins) {
                    COUNT_ONE(words[bin << shift | copy]);
                } else if (bin >= 0) {
                    if (bin != far_bin && far_run > 0) {
                        atomic_add(counts + far_bin, far_run);
                        far_run = 0;
                    }
                    far_bin = bin;
                    far_run++;
                }
            }
        }
    }
    if (far_run > 0) {
        atomic_add(counts + far_bin, far_run);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int bin = item; bin < near_bins; bin += GROUP) {
        uint total = 0;
        for (int i = 0; i < copies; i++) {
            total += words[bin << shift | ((i + item) & (copies - 1))];
        }
        if (total > 0) {
            atomic_add(counts + bin, total);
        }
    }
}
