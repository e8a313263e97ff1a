/*
 * otsu: the threshold that maximises the variance between two classes, from one reading of the image as a rule.
 *
 *   otsu_sample  takes the smallest and the largest of one tile in many: a provisional range.
 *   otsu_read    reads the image: its exact range, and counts of 8192 fine bins of the provisional one.  The
 *                few pixels outside of that are kept as they are.
 *   otsu_decide  now knows the edges of the 256 bins.  Each cuts a fine bin, so that the counts up to edges are
 *                known as intervals, and so is by how much the best threshold beats each other one.  If that
 *                is more than nothing for all of them, they need not be known better.
 *   otsu_find    else: takes the threshold from the histogram that histogram_count has read meanwhile.
 *
 * What is compared.  N(k) is how many pixels lie below edge k, c(i) the centre of bin i.  From threshold t to a
 * higher one q the bins between, n pixels with the mean m, change sides: with the weights W1 and W2 of the classes and
 * their means u1 and u2 the variance between classes, times all pixels, grows by n (p - r), where
 *
 *     p = (W2(q) (u2(q) - m))^2 / (W2(q) W2(t)),    r = (W1(t) (m - u1(t)))^2 / (W1(t) W1(q)).
 *
 * Both products are sums of (c(k) - c(k-1)) N(k) over edges k on one side, which each interval enters once.  The
 * sign is certain for nearly all t and q where variances, as intervals, would overlap: their errors are shared.
 * What two neighbours differ in is far above what rounding does; where it is not, nothing is decided.
 *
 * The host defines OTSU_FINE_BINS (0: without the fine bins) and the words of scratch; kernels/visit.cl, range.cl
 * and histogram.cl come before this text, and without a reader threshold.cl, which otsu_find needs.
 */
#pragma OPENCL FP_CONTRACT OFF

#ifndef READ_PARAMS

/* `room`: 4 * bins doubles. */
VISIT_KERNEL void otsu_find(const global uint *scratch, const global uint *counts, int bins,
                            int integer, global double *room, global double *values, int value)
{
    local ThresholdLocals own;
    if (HISTOGRAM_IS_KNOWN(scratch)) {
        return;
    }
    const double result =
        threshold_of(counts, bins, values[value + OTSU_LOW], values[value + OTSU_HIGH],
                     integer != 0, room, &own);
    if (get_local_id(0) == 0) {
        values[value + OTSU_THRESHOLD] = result;
    }
}

#endif

#if OTSU_FINE_BINS > 0

#define OTSU_BINS 256
#define OTSU_WORDS_AN_ITEM (OTSU_FINE_BINS / OTSU_BINS)
#define OTSU_FIRST as_uint(0x1.8p23f) /* stands for fine bin 0, as in kernels/histogram.cl */

/* ---- the sample -------------------------------------------------------------------------- */

/* The smallest and the largest key of the group; all of it comes here. */
VISIT_INLINE void otsu_ends(float low, float high, local uint *ends)
{
    if (get_local_id(0) == 0) {
        ends[0] = 0xffffffffu;
        ends[1] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_min(&ends[0], visit_key_of(low));
    atomic_max(&ends[1], visit_key_of(high));
    barrier(CLK_LOCAL_MEM_FENCE);
}

#ifdef READ_PARAMS

/* A group takes a tile somewhere in its share of them.  Also clears what the launches after it add to. */
VISIT_KERNEL void otsu_sample(READ_PARAMS, int own_w, int own_h, uint own_tiles,
                              global uint *own_scratch, global uint *own_counts)
{
    local uint own_ends[2];
    const uint own_group = (uint)get_group_id(0), own_groups = (uint)get_num_groups(0);
    for (uint own_i = (uint)get_global_id(0); own_i <= 2 * OTSU_BINS; own_i += (uint)get_global_size(0)) {
        own_counts[own_i] = 0;
    }
    for (uint own_i = (uint)get_global_id(0); own_i < OTSU_AT_KEPT; own_i += (uint)get_global_size(0)) {
        if (own_i < OTSU_AT_SAMPLE || own_i >= OTSU_AT_FINE) {
            own_scratch[own_i] = own_i == OTSU_AT_LOW ? 0xffffffffu : 0;
        }
    }
    const uint own_from = (uint)((ulong)own_tiles * own_group / own_groups);
    const uint own_share = (uint)((ulong)own_tiles * (own_group + 1) / own_groups) - own_from;
    const uint own_tile = own_from + mul_hi(own_group * 0x9e3779b9u, own_share);
    const uint own_across = ((uint)own_w + VISIT_TILE_W - 1) / VISIT_TILE_W;
    const uint own_down = ((uint)own_h + VISIT_TILE_H - 1) / VISIT_TILE_H;
    VisitWalk own_walk;
    own_walk.w = own_w;
    own_walk.h = own_h;
    own_walk.x = own_tile % own_across;
    own_walk.row = own_tile / own_across % own_down;
    own_walk.plane = own_tile / own_across / own_down;
    float own_low = INFINITY, own_high = -INFINITY, own_v[VISIT_COUNT];
    for (own_walk.batch = 0; own_walk.batch < VISIT_BATCHES; own_walk.batch++) {
        visit_read(READ_ARGS, visit_batch(&own_walk), own_v);
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            own_low = fmin(own_low, own_v[own_k]);
            own_high = fmax(own_high, own_v[own_k]);
        }
    }
    otsu_ends(own_low, own_high, own_ends);
    if (get_local_id(0) < 2) {
        own_scratch[OTSU_AT_SAMPLE + 2 * own_group + get_local_id(0)] = own_ends[get_local_id(0)];
    }
}

#endif

/* ---- the reading ------------------------------------------------------------------------- */

/* Fine bins: a pixel's place, to be rounded to the nearest whole number; that never falls as pixels rise. */
typedef struct OtsuFine {
    float norm, offset;
} OtsuFine;

/* The ends of the sample's range are in the middle of the first and of the last bin. */
VISIT_INLINE OtsuFine otsu_fine_of(const global uint *scratch, uint samples, local uint *ends)
{
    float low = INFINITY, high = -INFINITY;
    for (uint i = (uint)get_local_id(0); i < samples; i += VISIT_GROUP) {
        low = fmin(low, visit_value_of(scratch[OTSU_AT_SAMPLE + 2 * i]));
        high = fmax(high, visit_value_of(scratch[OTSU_AT_SAMPLE + 2 * i + 1]));
    }
    otsu_ends(low, high, ends);
    low = visit_value_of(ends[0]);
    high = visit_value_of(ends[1]);
    const float norm = (float)(OTSU_FINE_BINS - 1) / (high - low);
    const bool usable = norm > 0 && isfinite(norm) && isfinite(low * norm);
    const OtsuFine fine = {usable ? norm : 0.0f, usable ? -(low * norm) : 0.0f};
    barrier(CLK_LOCAL_MEM_FENCE);
    return fine;
}

/* OTSU_FIRST and the fine bin: one less than the first (also of NaN), or one more than the last, outside. */
VISIT_INLINE uint otsu_place(const OtsuFine *fine, float v)
{
    const float place = fma(v, fine->norm, fine->offset);
    return as_uint(fmin(fmax(place, -1.0f), (float)OTSU_FINE_BINS) + 0x1.8p23f);
}

#ifdef READ_PARAMS

VISIT_KERNEL void otsu_read(READ_PARAMS, int own_w, int own_h, uint own_tiles, uint own_samples,
                            global uint *own_scratch)
{
    local uint own_words[OTSU_FINE_BINS + 2], own_ends[2], own_kept;
    const uint own_item = (uint)get_local_id(0);
    const uint own_keep = OTSU_AT_KEPT + (uint)get_group_id(0) * OTSU_KEPT;
    const OtsuFine own_fine = otsu_fine_of(own_scratch, own_samples, own_ends);
    for (uint own_i = own_item; own_i < OTSU_FINE_BINS + 2; own_i += VISIT_GROUP) {
        own_words[own_i] = 0;
    }
    if (own_item == 0) {
        own_kept = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Where the word of bin 0 is; the compiler shall not take it apart. */
    uint own_mine = 1 - OTSU_FIRST;
#ifdef __NV_CL_C_VERSION
    asm("mov.u32 %0, %0;" : "+r"(own_mine));
#endif
    bool own_full = false;
    float own_low = INFINITY, own_high = -INFINITY, own_ahead[VISIT_COUNT], own_v[VISIT_COUNT];
    VisitWalk own_walk = visit_walk(READ_ARGS, own_tiles, own_w, own_h, own_ahead);
    while (visit_take(READ_ARGS, &own_walk, own_ahead, own_v)) {
        uint own_outside = 0;
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            const uint own_place = otsu_place(&own_fine, own_v[own_k]);
            const bool own_out = own_place - OTSU_FIRST >= OTSU_FINE_BINS;
            own_outside |= (own_out & (own_v[own_k] == own_v[own_k])) ? 1u << own_k : 0;
            atomic_inc(&own_words[own_place + own_mine]);
            own_low = fmin(own_low, own_v[own_k]);
            own_high = fmax(own_high, own_v[own_k]);
        }
        for (; own_outside != 0 && !own_full; own_outside &= own_outside - 1) {
            const int own_k = (int)popcount((own_outside & -own_outside) - 1);
            const uint own_to = atomic_inc(&own_kept);
            own_full = own_to >= OTSU_KEPT;
            if (!own_full) {
                own_scratch[own_keep + own_to] =
                    as_uint(visit_read_one(READ_ARGS, &own_walk, own_k));
            }
        }
    }
    otsu_ends(own_low, own_high, own_ends);
    for (uint own_i = own_item; own_i < OTSU_FINE_BINS; own_i += VISIT_GROUP) {
        if (own_words[own_i + 1] > 0) {
            atomic_add(own_scratch + OTSU_AT_FINE + own_i, own_words[own_i + 1]);
        }
    }
    if (own_item == 0) {
        own_scratch[OTSU_AT_KEPT_COUNTS + get_group_id(0)] = own_kept;
        atomic_min(own_scratch + OTSU_AT_LOW, own_ends[0]);
        atomic_max(own_scratch + OTSU_AT_HIGH, own_ends[1]);
    }
}

#else

/* ---- the decision ------------------------------------------------------------------------ */

/* What is known of the edges: pixels below, at least and at most; and sums of what each edge weighs (the
 * distance of the centres to its sides), times pixels below it up to an edge, or above it from one on. */
typedef struct OtsuEdges {
    local uint *low, *high;
    local double *below_low, *below_high, *above_low, *above_high;
    uint all;
    RangeBins range;
} OtsuEdges;

VISIT_INLINE double otsu_centre(const RangeBins *r, int i)
{
    return (range_edge(r, i) + range_edge(r, i + 1)) / 2.0f;
}

/* Running sums, each in as many steps as all of them. */
VISIT_INLINE void otsu_add_up_counts(local uint *a, local uint *b)
{
    const int item = (int)get_local_id(0);
    for (int step = 1; step < OTSU_BINS; step *= 2) {
        const bool more = item >= step;
        const uint more_a = more ? a[item - step] : 0, more_b = more ? b[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        a[item] += more_a;
        b[item] += more_b;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

VISIT_INLINE void otsu_add_up_weights(local double (*up)[OTSU_BINS], local double (*down)[OTSU_BINS])
{
    const int item = (int)get_local_id(0);
    for (int step = 1; step < OTSU_BINS; step *= 2) {
        double more_up[2], more_down[2];
        for (int i = 0; i < 2; i++) {
            more_up[i] = item >= step ? up[i][item - step] : 0;
            more_down[i] = item + step < OTSU_BINS ? down[i][item + step] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 2; i++) {
            up[i][item] += more_up[i];
            down[i][item] += more_down[i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Counts the kept pixels in their bins.  False, in any work-item: some have got lost. */
VISIT_INLINE bool otsu_count_kept(const global uint *scratch, int groups, const RangeBins *range,
                                  local uint *bins)
{
    bool all = true;
    for (int g = (int)get_local_id(0); g < groups; g += VISIT_GROUP) {
        const uint kept = scratch[OTSU_AT_KEPT_COUNTS + g];
        all = all && kept <= OTSU_KEPT;
        for (uint i = 0; i < min(kept, (uint)OTSU_KEPT); i++) {
            const float v = as_float(scratch[OTSU_AT_KEPT + (uint)g * OTSU_KEPT + i]);
            atomic_inc(&bins[histogram_exact_bin(range, v)]);
        }
    }
    return all;
}

/* The pixels below edge `item`: running sums of the fine bins (of stretches of them) and of kept pixels. */
VISIT_INLINE void otsu_bound(const OtsuFine *fine, const local uint *words,
                             const local uint *stretches, const local uint *kept, OtsuEdges *e)
{
    const int item = (int)get_local_id(0);
    const int place = (int)(otsu_place(fine, range_edge(&e->range, item)) - OTSU_FIRST);
    uint low = item > 0 ? kept[item - 1] : 0, cut = 0;
    if (place >= 0) {
        const int end = min(place, OTSU_FINE_BINS), stretch = end / OTSU_WORDS_AN_ITEM;
        low += stretch > 0 ? stretches[stretch - 1] : 0;
        for (int i = stretch * OTSU_WORDS_AN_ITEM; i < end; i++) {
            low += words[i];
        }
        cut = place < OTSU_FINE_BINS ? words[place] : 0;
    }
    /* The smallest pixel is below all inner edges, the largest one above. */
    e->low[item] = item > 0 ? max(low, 1u) : 0;
    e->high[item] = item > 0 ? min(low + cut, e->all - 1) : 0;
}

/* What edge `item` adds to the sums. */
VISIT_INLINE void otsu_weigh(const OtsuEdges *e)
{
    const int item = (int)get_local_id(0);
    const double step =
        item > 0 ? otsu_centre(&e->range, item) - otsu_centre(&e->range, item - 1) : 0;
    e->below_low[item] = step * e->low[item];
    e->below_high[item] = step * e->high[item];
    e->above_low[item] = step * (e->all - e->high[item]);
    e->above_high[item] = step * (e->all - e->low[item]);
}

/* About what the threshold at bin t is worth. */
VISIT_INLINE double otsu_merit(const OtsuEdges *e, int t)
{
    const double w1 = 0.5 * ((double)e->low[t + 1] + e->high[t + 1]), w2 = e->all - w1;
    const double below = 0.5 * (e->below_low[t + 1] + e->below_high[t + 1]);
    const double above =
        t + 2 < OTSU_BINS ? 0.5 * (e->above_low[t + 2] + e->above_high[t + 2]) : 0;
    const double between = below / w1 + above / w2;
    return w1 * w2 * (between * between);
}

/* The least difference of variances between classes, over all pixels, that no rounding turns round: 256 centres
 * and more are added up, of which little is left where the image is far from zero. */
VISIT_INLINE double otsu_least(const OtsuEdges *e, int best, double merit)
{
    const double w1 = e->low[best + 1], w2 = e->all - w1;
    const double farthest = fmax(fabs((double)e->range.lo), fabs((double)e->range.hi));
    return 1e-11 * (1 + farthest / sqrt(merit / (w1 * w2))) * (merit / e->all);
}

/* Whether the threshold at bin `best` beats that at bin t for certain. */
VISIT_INLINE bool otsu_beats(const OtsuEdges *e, int best, int t, double least)
{
    const int a = min(best, t) + 1, b = max(best, t); /* the bins that change sides */
    const double w1_low = e->low[a], w1_high = e->high[a];
    const double w1_to_low = e->low[b + 1], w1_to_high = e->high[b + 1];
    const double w2_low = e->all - w1_high, w2_high = e->all - w1_low;
    const double w2_to_low = e->all - w1_to_high, w2_to_high = e->all - w1_to_low;
    const double n_low = w1_to_low - w1_high, n_high = w1_to_high - w1_low;
    if (n_high <= 0) {
        return t > best; /* the same two classes: the first one is taken */
    }
    if (n_low <= 0) {
        return false;
    }
    /* Their mean.  Sums over all edges are off by some roundings of the largest. */
    const double ca = otsu_centre(&e->range, a), cb = otsu_centre(&e->range, b), across = cb - ca;
    const double rounded = 1e-14 * e->below_high[OTSU_BINS - 1];
    const double up = (e->below_high[b] - e->below_high[a] - across * w1_low + rounded) / (w1_to_low - w1_low);
    const double down = (e->below_low[b] - e->below_low[a] - across * w1_high - rounded) /
                        (w1_to_high - w1_high);
    const double m_low = cb - fmin(up, across), m_high = cb - fmax(down, 0.0);
    double better, worse; /* the roots of p and r */
    if (t > best) {
        const double end = otsu_centre(&e->range, OTSU_BINS - 1) - m_low;
        better = (e->below_low[a] + (m_low - ca) * w1_low) / sqrt(w1_high * w1_to_high);
        worse = (e->above_high[b + 1] + (cb - m_low) * w2_to_high) / sqrt(w2_to_low * w2_low);
        worse = fmin(worse, end * sqrt(w2_to_high / (w2_to_high + n_low)));
    } else {
        const double end = m_high - otsu_centre(&e->range, 0);
        better = (e->above_low[b + 1] + (cb - m_high) * w2_to_low) / sqrt(w2_high * w2_to_high);
        worse = (e->below_high[a] + (m_high - ca) * w1_high) / sqrt(w1_low * w1_to_low);
        worse = fmin(worse, end * sqrt(w1_high / (w1_high + n_low)));
    }
    better *= 1 - 1e-9;
    return better > 0 && n_low * (better * better - worse * worse) > least;
}

/* The first bin of all with the largest merit, about; in every work-item. */
VISIT_INLINE int otsu_first_guess(double merit, local double *most, local uint *first)
{
    const int item = (int)get_local_id(0);
    most[item] = merit;
    if (item == 0) {
        *first = OTSU_BINS;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = OTSU_BINS / 2; step > 0; step /= 2) {
        if (item < step) {
            most[item] = fmax(most[item], most[item + step]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (merit == most[0]) {
        atomic_min(first, (uint)item);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (int)*first;
}

/* One group. */
VISIT_KERNEL void otsu_decide(global uint *scratch, uint samples, int groups,
                              global double *values, int value)
{
    local double room[OTSU_FINE_BINS / 2], sums[4][OTSU_BINS];
    local uint stretches[OTSU_BINS], kept[OTSU_BINS], low[OTSU_BINS], high[OTSU_BINS], ends[2];
    local uint unsure;
    local uint *const words = (local uint *)room;
    const int item = (int)get_local_id(0);
    const double lo = visit_value_of(scratch[OTSU_AT_LOW]), hi = visit_value_of(scratch[OTSU_AT_HIGH]);
    const OtsuFine fine = otsu_fine_of(scratch, samples, ends);
    OtsuEdges e = {low, high, sums[0], sums[1], sums[2], sums[3], 0, range_of(lo, hi, OTSU_BINS)};
    if (item == 0) {
        values[value + OTSU_LOW] = lo;
        values[value + OTSU_HIGH] = hi;
        unsure = 0;
    }
    /* Bins of few different floats have edges that are not where they should be. */
    if (!(lo < hi) || !e.range.usable || e.range.step < 0x1p-16 * fmax(fabs(lo), fabs(hi))) {
        return;
    }
    kept[item] = 0;
    for (int i = item; i < OTSU_FINE_BINS; i += VISIT_GROUP) {
        words[i] = scratch[OTSU_AT_FINE + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!otsu_count_kept(scratch, groups, &e.range, kept)) {
        unsure = 1;
    }
    stretches[item] = 0;
    for (int i = 0; i < OTSU_WORDS_AN_ITEM; i++) {
        stretches[item] += words[item * OTSU_WORDS_AN_ITEM + (i + item) % OTSU_WORDS_AN_ITEM];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    otsu_add_up_counts(stretches, kept);
    e.all = stretches[OTSU_BINS - 1] + kept[OTSU_BINS - 1];
    otsu_bound(&fine, words, stretches, kept, &e);
    barrier(CLK_LOCAL_MEM_FENCE);
    otsu_weigh(&e);
    barrier(CLK_LOCAL_MEM_FENCE);
    otsu_add_up_weights(sums, sums + 2);
    const double merit = item < OTSU_BINS - 1 ? otsu_merit(&e, item) : 0;
    const int best = otsu_first_guess(merit, room, ends);
    /* Merits that differ by this do so whatever is rounded. */
    const double least = otsu_least(&e, best, room[0]);
    if (item < OTSU_BINS - 1 && item != best && !otsu_beats(&e, best, item, least)) {
        unsure = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && unsure == 0) {
        values[value + OTSU_THRESHOLD] = otsu_centre(&e.range, best) + 0.0;
        scratch[OTSU_AT_DECIDED] = 1;
    }
}

#endif /* READ_PARAMS */
#endif
