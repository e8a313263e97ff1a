/*
 * rank: the exact k-th smallest pixel and the one after it, reading the image once where possible.
 *
 *   rank_sample   takes a sample of the pixels.
 *   rank_bracket  picks two of its values, low and high, so that the wanted rank lies between them
 *                 almost certainly.
 *   rank_count    reads the image: counts the pixels below low, not above low, not above high, and
 *                 keeps a copy of those strictly between.  Images with few different values keep
 *                 almost nothing, since what they have is equal to low or high.  (In a summary its
 *                 place is taken by a kernel that reduces the pixels, too; kernels/summary.cl.)
 *   rank_refine   (three times) counts 2048 bins of the range that is left, among the copies, or
 *                 among the image's pixels when the sample was wrong or the copies too many.  Each
 *                 launch first narrows the range by what the one before has counted.
 *   rank_finish   narrows once more and interpolates.
 *
 * The sample decides only how long this takes; the result is exact.  Ranks and counts never leave
 * the device.  Values are ordered by keys: u32 in the order of the f32; key 0 is never a value.
 * The smallest key not below some bound is what finds rank k + 1 when it is in another bin than k.
 *
 * rank_bracket and rank_finish are the text without a reader.  The host defines RANK_HEADER_WORDS, the words of
 * scratch in front of the copies, and where there is a reader RANK_IN_SUMMARY.
 */
#pragma OPENCL FP_CONTRACT OFF

#define RANK_BINS 2048
#define RANK_BIN_BITS 11
#define RANK_BINS_AN_ITEM (RANK_BINS / VISIT_GROUP)
#define RANK_PASSES 3
#define RANK_TURN (VISIT_CPU_SHAPE ? 64 : 8) /* batches after which a group writes its copies together */
#define RANK_SLOTS (VISIT_COUNT + (VISIT_CPU_SHAPE ? 64 * VISIT_COUNT : 8)) /* that a work-item can hold */
#define RANK_NO_BIN RANK_BINS

/* Scratch, in words. */
#define RANK_SAMPLE_SIZE 16384
#define RANK_AT_LOW 0 /* the bracket, as f32 */
#define RANK_AT_HIGH 1
#define RANK_AT_BELOW 2 /* counts of pixels: less than low, */
#define RANK_AT_TO_LOW 3 /* not above low, */
#define RANK_AT_TO_HIGH 4 /* not above high, */
#define RANK_AT_COUNT 5   /* all */
#define RANK_COUNTS 4
#define RANK_AT_COPIES 6 /* strictly between, whether or not there was room for a copy */
#define RANK_AT_STATES 16    /* one State for each pass and the last */
#define RANK_AT_NEXT (RANK_AT_STATES + (RANK_PASSES + 1) * RANK_STATE_WORDS)
#define RANK_AT_BINS (RANK_AT_NEXT + 16)
#define RANK_AT_SAMPLE (RANK_AT_BINS + RANK_PASSES * RANK_BINS)
#define RANK_AT_KEPT RANK_HEADER_WORDS

/* Where to look for rank k (a range of keys) and for rank k + 1. */
enum { RANK_NOWHERE, RANK_COPIES, RANK_IMAGE };       /* RANK_SOURCE */
enum { RANK_SAME_RANGE, RANK_KNOWN, RANK_NOT_BELOW }; /* RANK_NEXT_HOW */
enum {
    RANK_SOURCE,   /* what the pass reads */
    RANK_FOUND,    /* 1: RANK_KEY is the answer for rank k */
    RANK_KEY,      /* else: the first key of its range, */
    RANK_SPAN,     /* the range's last key less the first, */
    RANK_SHIFT,    /* bits of a key that a bin leaves open, */
    RANK_RANK,     /* and the rank within the range */
    RANK_NEXT_HOW, /* rank k + 1: in the same range; RANK_NEXT; the smallest key >= it */
    RANK_NEXT,
    RANK_STATE_WORDS
};
typedef char rank_header_has_room[RANK_AT_SAMPLE + RANK_SAMPLE_SIZE <= RANK_HEADER_WORDS ? 1 : -1];

/* found[0] = the bin that holds `rank` (RANK_NO_BIN: none), found[1] = how many are in the bins
 * before; found[2] and found[3] the same of rank `next`. */
VISIT_INLINE void rank_find_ranks(const local uint *bins, local uint *sums, uint rank, uint next,
                                  local uint *found)
{
    const int item = (int)get_local_id(0);
    uint own = 0;
    for (int i = 0; i < RANK_BINS_AN_ITEM; i++) {
        own += bins[item * RANK_BINS_AN_ITEM + i];
    }
    sums[item] = own;
    if (item == 0) {
        found[0] = found[2] = RANK_NO_BIN;
        found[1] = found[3] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < VISIT_GROUP; step *= 2) {
        const uint left = item >= step ? sums[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint before = sums[item] - own;
    for (int i = item * RANK_BINS_AN_ITEM; i < (item + 1) * RANK_BINS_AN_ITEM; i++) {
        if (rank >= before && rank - before < bins[i]) {
            found[0] = (uint)i;
            found[1] = before;
        }
        if (next >= before && next - before < bins[i]) {
            found[2] = (uint)i;
            found[3] = before;
        }
        before += bins[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

VISIT_INLINE void rank_clear_bins(local uint *bins)
{
    for (int i = (int)get_local_id(0); i < RANK_BINS; i += VISIT_GROUP) {
        bins[i] = 0;
    }
}

/* ---- the bracket ----------------------------------------------------------------------------- */

#ifdef READ_PARAMS

/* The key of number i of the sample, 0 when that pixel is left out: one pixel of each stretch of
 * the image, at a place in it that no pattern of the image follows. */
VISIT_INLINE uint rank_sample_key(READ_PARAMS, uint own_i, int own_w, int own_h, int own_planes)
{
    const ulong own_pixels = (ulong)own_w * (ulong)own_h * (ulong)own_planes;
    const uint own_from = (uint)(own_pixels * own_i / RANK_SAMPLE_SIZE);
    const uint own_stretch = (uint)(own_pixels * (own_i + 1) / RANK_SAMPLE_SIZE) - own_from;
    uint own_hash = own_i * 0x9e3779b9u;
    own_hash = (own_hash ^ (own_hash >> 16)) * 0x85ebca6bu;
    own_hash = (own_hash ^ (own_hash >> 13)) * 0xc2b2ae35u;
    own_hash ^= own_hash >> 16;
    float own_value = NAN;
    if (own_stretch > 0) {
        const uint own_at = own_from + mul_hi(own_hash, own_stretch);
        const uint own_row = own_at / (uint)own_w, own_plane = own_row / (uint)own_h;
        const int own_x = (int)(own_at - own_row * (uint)own_w);
        const int own_y = (int)(own_row - own_plane * (uint)own_h);
        own_value = visit_pixel(READ_ARGS, own_x, own_y, (int)own_plane);
    }
    return isnan(own_value) ? 0 : visit_key_of(own_value);
}

/* Also clears what the launches after it add to. */
VISIT_KERNEL void rank_sample(READ_PARAMS, int own_w, int own_h, int own_planes,
                              global uint *own_scratch)
{
    if (VISIT_ENDED) {
        return;
    }
    const int own_step = (int)get_global_size(0);
    for (int own_i = (int)get_global_id(0); own_i < RANK_AT_SAMPLE; own_i += own_step) {
        own_scratch[own_i] = own_i >= RANK_AT_NEXT && own_i < RANK_AT_BINS ? 0xffffffffu : 0;
    }
    for (int own_i = (int)get_global_id(0); own_i < RANK_SAMPLE_SIZE; own_i += own_step) {
        own_scratch[RANK_AT_SAMPLE + own_i] =
            rank_sample_key(READ_ARGS, (uint)own_i, own_w, own_h, own_planes);
    }
}

#else

/* Does something with each key of the sample; some are read at once. */
#define RANK_EACH_SAMPLE(key, does)                                                                \
    for (int one_from = item; one_from < RANK_SAMPLE_SIZE; one_from += VISIT_COUNT * VISIT_GROUP) {\
        uint one_keys[VISIT_COUNT];                                                                \
        _Pragma("unroll") for (int one_k = 0; one_k < VISIT_COUNT; one_k++)                        \
        {                                                                                          \
            one_keys[one_k] = sample[one_from + one_k * VISIT_GROUP];                              \
        }                                                                                          \
        _Pragma("unroll") for (int one_k = 0; one_k < VISIT_COUNT; one_k++)                        \
        {                                                                                          \
            const uint key = one_keys[one_k];                                                      \
            does;                                                                                  \
        }                                                                                          \
    }

/* One group.  The ends of the bracket are values of the sample, found to 22 bits by two rounds of
 * counting; the third takes the smallest and the largest that have these bits. */
VISIT_KERNEL void rank_bracket(double percent, int ended, global uint *scratch,
                               global const double *values)
{
    if (VISIT_ENDED) {
        return;
    }
    local uint bins[2][RANK_BINS], sums[VISIT_GROUP], found[4], found_high[4], ends[2], count;
    const int item = (int)get_local_id(0);
    const global uint *sample = scratch + RANK_AT_SAMPLE;

    rank_clear_bins(bins[0]);
    rank_clear_bins(bins[1]);
    if (item == 0) {
        ends[0] = 0xffffffffu;
        ends[1] = 0;
        count = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0;
    RANK_EACH_SAMPLE(key, {
        if (key != 0) {
            atomic_inc(&bins[0][key >> 21]);
            own++;
        }
    });
    atomic_add(&count, own);
    barrier(CLK_LOCAL_MEM_FENCE);

    /* Four standard deviations of a sampled rank to either side, and a little for the tails. */
    const double share = percent / 100, n = count;
    const double margin = 4 * sqrt(share * (1 - share) * n) + 8;
    const double first = floor(share * (n - 1) - margin), last = ceil(share * (n - 1) + margin);
    const bool open_below = !(first >= 0), open_above = !(last <= n - 1);
    const uint rank_low = open_below ? 0 : (uint)first;
    const uint rank_high = open_above ? count - 1 : (uint)last;
    rank_find_ranks(bins[0], sums, rank_low, rank_high, found);
    const uint top_low = found[0], left_low = rank_low - found[1];
    const uint top_high = found[2], left_high = rank_high - found[3];
    rank_clear_bins(bins[0]);
    barrier(CLK_LOCAL_MEM_FENCE);

    RANK_EACH_SAMPLE(key, {
        if (key != 0 && key >> 21 == top_low) {
            atomic_inc(&bins[0][(key >> 10) & (RANK_BINS - 1)]);
        }
        if (key != 0 && key >> 21 == top_high) {
            atomic_inc(&bins[1][(key >> 10) & (RANK_BINS - 1)]);
        }
    });
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_find_ranks(bins[0], sums, left_low, left_low, found);
    rank_find_ranks(bins[1], sums, left_high, left_high, found_high);

    const uint prefix_low = top_low << RANK_BIN_BITS | found[0];
    const uint prefix_high = top_high << RANK_BIN_BITS | found_high[0];
    RANK_EACH_SAMPLE(key, {
        if (key != 0 && key >> 10 == prefix_low) {
            atomic_min(&ends[0], key);
        }
        if (key != 0 && key >> 10 == prefix_high) {
            atomic_max(&ends[1], key);
        }
    });
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        scratch[RANK_AT_LOW] = as_uint(open_below ? -INFINITY : visit_value_of(ends[0]));
        scratch[RANK_AT_HIGH] = as_uint(open_above ? INFINITY : visit_value_of(ends[1]));
    }
}

#endif

/* ---- the reading ----------------------------------------------------------------------------- */

#ifdef READ_PARAMS

/* What a work-item has found. */
typedef struct RankTally {
    uint below, to_low, to_high, count; /* pixels: less than low, not above low, not above high, all */
    uint held;                          /* copies that are held, times VISIT_GROUP */
} RankTally;

/* Writes the copies that a work-item holds, as far as there is room for them. */
VISIT_INLINE void rank_write_copies(const local float *held, RankTally *tally, uint to, uint capacity,
                                    global uint *scratch)
{
    for (uint i = 0; i < tally->held; i += VISIT_GROUP, to++) {
        if (to < capacity) {
            scratch[RANK_AT_KEPT + to] = as_uint(held[i]);
        }
    }
    tally->held = 0;
}

/* Writes them where there may be no room for those of one more batch. */
VISIT_INLINE void rank_make_room(const local float *held, RankTally *tally, uint capacity,
                                 global uint *scratch)
{
    if (tally->held > (RANK_SLOTS - VISIT_COUNT) * VISIT_GROUP) {
        const uint to = atomic_add(scratch + RANK_AT_COPIES, tally->held / VISIT_GROUP);
        rank_write_copies(held, tally, to, capacity, scratch);
    }
}

/* The same for all of the group, which comes here: it asks for room once, where all groups meet. */
VISIT_INLINE void rank_write_group(const local float *held, RankTally *tally, local uint *used,
                                   local uint *to, uint capacity, global uint *scratch)
{
    const bool leads = get_local_id(0) == 0;
    if (leads) {
        *used = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint before = tally->held > 0 ? atomic_add(used, tally->held / VISIT_GROUP) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (leads && *used > 0) {
        *to = atomic_add(scratch + RANK_AT_COPIES, *used);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_write_copies(held, tally, *to + before, capacity, scratch);
}

/* Counts a batch of n pixels.  Nothing branches: each is put into the next slot, which moves on where it is to
 * be held. */
VISIT_INLINE void rank_tally(const float *v, int n, float low, float high, local float *held,
                             RankTally *tally)
{
    bool full = true;
#pragma unroll
    for (int k = 0; k < n; k++) {
        const bool to_low = v[k] <= low;
        tally->below += v[k] < low;
        tally->to_low += to_low;
        tally->to_high += v[k] <= high;
        full &= v[k] == v[k];
        held[tally->held] = v[k];
        tally->held += ((v[k] < high) & !to_low) ? VISIT_GROUP : 0;
    }
    tally->count += (uint)n;
    if (!full) {
#pragma unroll
        for (int k = 0; k < n; k++) {
            tally->count -= isnan(v[k]);
        }
    }
}

#if !RANK_IN_SUMMARY

VISIT_KERNEL void rank_count(READ_PARAMS, int own_w, int own_h, uint own_tiles, uint own_capacity,
                             global uint *own_scratch)
{
    if (VISIT_ENDED) {
        return;
    }
    local float own_slots[RANK_SLOTS * VISIT_GROUP];
    local uint own_used, own_to, own_totals[RANK_COUNTS];
    const uint own_item = (uint)get_local_id(0);
    local float *const own_held = own_slots + own_item;
    const float own_low = as_float(own_scratch[RANK_AT_LOW]);
    const float own_high = as_float(own_scratch[RANK_AT_HIGH]);
    RankTally own_tally = {0, 0, 0, 0, 0};
    for (uint own_i = own_item; own_i < RANK_COUNTS; own_i += VISIT_GROUP) {
        own_totals[own_i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float own_ahead[VISIT_COUNT], own_v[VISIT_COUNT];
    VisitWalk own_walk = visit_walk(READ_ARGS, own_tiles, own_w, own_h, own_ahead);
    bool own_more = true;
    while (own_more) {
        for (int own_turn = 0; own_turn < RANK_TURN && own_more; own_turn++) {
            rank_make_room(own_held, &own_tally, own_capacity, own_scratch);
            own_more = visit_take(READ_ARGS, &own_walk, own_ahead, own_v);
            if (own_more) {
                rank_tally(own_v, VISIT_COUNT, own_low, own_high, own_held, &own_tally);
            }
        }
        rank_write_group(own_held, &own_tally, &own_used, &own_to, own_capacity, own_scratch);
    }

    const uint own_all[RANK_COUNTS] = {own_tally.below, own_tally.to_low, own_tally.to_high,
                                       own_tally.count};
#pragma unroll
    for (int own_i = 0; own_i < RANK_COUNTS; own_i++) {
        atomic_add(&own_totals[own_i], own_all[own_i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint own_i = own_item; own_i < RANK_COUNTS; own_i += VISIT_GROUP) {
        atomic_add(own_scratch + RANK_AT_BELOW + own_i, own_totals[own_i]);
    }
}

#endif
#endif /* READ_PARAMS */

/* ---- narrowing ------------------------------------------------------------------------------- */

VISIT_INLINE double rank_position_of(double percent, uint count)
{
    return percent / 100 * ((double)count - 1);
}

/* A range of keys to count in bins. */
VISIT_INLINE void rank_set_range(local uint *state, uint source, uint first, uint last, uint rank)
{
    const uint bits = 32 - clz(last - first);
    state[RANK_SOURCE] = source;
    state[RANK_FOUND] = 0;
    state[RANK_KEY] = first;
    state[RANK_SPAN] = last - first;
    state[RANK_SHIFT] = bits > RANK_BIN_BITS ? bits - RANK_BIN_BITS : 0;
    state[RANK_RANK] = rank;
}

/* The state for the first pass, from what the reading has found. */
VISIT_INLINE void rank_state_from_counts(const global uint *scratch, uint capacity, double percent,
                                         local uint *state)
{
    const uint low = visit_key_of(as_float(scratch[RANK_AT_LOW]));
    const uint high = visit_key_of(as_float(scratch[RANK_AT_HIGH]));
    const uint count = scratch[RANK_AT_COUNT], copies = scratch[RANK_AT_COPIES];
    const uint to_low = scratch[RANK_AT_BELOW], to_between = scratch[RANK_AT_TO_LOW];
    const uint to_high = to_between + copies, to_above = scratch[RANK_AT_TO_HIGH];
    const uint source = copies <= capacity ? RANK_COPIES : RANK_IMAGE;

    for (int i = 0; i < RANK_STATE_WORDS; i++) {
        state[i] = 0;
    }
    state[RANK_SOURCE] = RANK_NOWHERE;
    state[RANK_FOUND] = 1;
    state[RANK_NEXT_HOW] = RANK_KNOWN;
    if (count > 0) {
        const uint k = (uint)rank_position_of(percent, count);
        const uint next = min(k + 1, count - 1);
        if (k < to_low) {
            rank_set_range(state, RANK_IMAGE, 1, low - 1, k);
        } else if (k < to_between) {
            state[RANK_KEY] = low;
        } else if (k < to_high) {
            rank_set_range(state, source, low + 1, high - 1, k - to_between);
        } else if (k < to_above) {
            state[RANK_KEY] = high;
        } else {
            rank_set_range(state, RANK_IMAGE, high + 1, 0xffffffffu, k - to_above);
        }
        /* The ends of a bracket are pixels or infinite, so a range's neighbour is known. */
        if (next < to_low) {
            state[RANK_NEXT_HOW] = RANK_SAME_RANGE;
        } else if (next < to_between) {
            state[RANK_NEXT] = low;
        } else if (next < to_high) {
            state[RANK_NEXT_HOW] = k < to_between ? RANK_NOT_BELOW : RANK_SAME_RANGE;
            state[RANK_NEXT] = low + 1;
            state[RANK_SOURCE] = source;
        } else if (next < to_above) {
            state[RANK_NEXT] = high;
        } else {
            state[RANK_NEXT_HOW] = k < to_above ? RANK_NOT_BELOW : RANK_SAME_RANGE;
            state[RANK_NEXT] = high + 1;
            state[RANK_SOURCE] = RANK_IMAGE;
        }
    }
}

/* The state after a pass: from the one before and the bins in which k and k + 1 were found. */
VISIT_INLINE void rank_narrow_state(const local uint *found, uint smallest, local uint *state)
{
    const uint first = state[RANK_KEY], shift = state[RANK_SHIFT], source = state[RANK_SOURCE];
    if (state[RANK_NEXT_HOW] == RANK_NOT_BELOW) {
        state[RANK_NEXT_HOW] = RANK_KNOWN;
        state[RANK_NEXT] = smallest;
    }
    state[RANK_SOURCE] = RANK_NOWHERE;
    if (!state[RANK_FOUND]) {
        const uint begin = first + (found[0] << shift);
        const uint left = first + state[RANK_SPAN] - begin, wide = (1u << shift) - 1;
        rank_set_range(state, source, begin, begin + min(left, wide), state[RANK_RANK] - found[1]);
        if (state[RANK_NEXT_HOW] == RANK_SAME_RANGE && found[2] != found[0]) {
            /* No rank after k in its range: k is the last of all. */
            state[RANK_NEXT_HOW] = found[2] == RANK_NO_BIN ? RANK_KNOWN
                                   : shift == 0            ? RANK_KNOWN
                                                           : RANK_NOT_BELOW;
            state[RANK_NEXT] = first + (found[2] << shift);
        }
        state[RANK_FOUND] = shift == 0;
        if (shift == 0 && state[RANK_NEXT_HOW] == RANK_SAME_RANGE) {
            state[RANK_NEXT_HOW] = RANK_KNOWN;
            state[RANK_NEXT] = begin;
        }
        state[RANK_SOURCE] = shift == 0 ? RANK_NOWHERE : source;
    }
}

/* Makes the state for `pass` (0: after the reading) in local memory; every group makes the same, the
 * first one keeps it for the next launch. */
VISIT_INLINE void rank_make_state(int pass, uint capacity, double percent, global uint *scratch,
                                  local uint *bins, local uint *sums, local uint *found,
                                  local uint *state)
{
    const int item = (int)get_local_id(0);
    if (pass == 0 && item == 0) {
        rank_state_from_counts(scratch, capacity, percent, state);
    }
    for (int i = item; pass > 0 && i < RANK_STATE_WORDS; i += VISIT_GROUP) {
        state[i] = scratch[RANK_AT_STATES + (pass - 1) * RANK_STATE_WORDS + i];
    }
    for (int i = item; i < RANK_BINS; i += VISIT_GROUP) {
        bins[i] = pass > 0 ? scratch[RANK_AT_BINS + (pass - 1) * RANK_BINS + i] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rank = state[RANK_RANK];
    rank_find_ranks(bins, sums, rank, rank + 1, found);
    if (pass > 0 && item == 0) {
        rank_narrow_state(found, scratch[RANK_AT_NEXT + pass - 1], state);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0) {
        for (int i = item; i < RANK_STATE_WORDS; i += VISIT_GROUP) {
            scratch[RANK_AT_STATES + pass * RANK_STATE_WORDS + i] = state[i];
        }
    }
}

/* ---- the passes ------------------------------------------------------------------------------ */

#ifdef READ_PARAMS

/* What a pass does with one value. */
#define RANK_TALLY(v)                                                                              \
    do {                                                                                           \
        const uint one_key = visit_key_of(v);                                                      \
        const uint one_offset = one_key - own_first;                                               \
        if (!isnan(v) && own_counts && one_offset <= own_span) {                                   \
            atomic_inc(&own_bins[one_offset >> own_shift]);                                        \
        }                                                                                          \
        if (!isnan(v) && one_key >= own_bound) {                                                   \
            own_smallest = min(own_smallest, one_key);                                             \
        }                                                                                          \
    } while (0)

VISIT_KERNEL void rank_refine(READ_PARAMS, int own_w, int own_h, uint own_tiles, uint own_capacity,
                              double own_percent, int own_pass, global uint *own_scratch)
{
    if (VISIT_ENDED) {
        return;
    }
    local uint own_bins[RANK_BINS], own_sums[VISIT_GROUP], own_found[4],
        own_state[RANK_STATE_WORDS], own_next;
    const uint own_item = (uint)get_local_id(0);
    rank_make_state(own_pass, own_capacity, own_percent, own_scratch, own_bins, own_sums, own_found,
                    own_state);
    const uint own_first = own_state[RANK_KEY], own_span = own_state[RANK_SPAN];
    const uint own_shift = own_state[RANK_SHIFT];
    const bool own_counts = !own_state[RANK_FOUND];
    const uint own_bound =
        own_state[RANK_NEXT_HOW] == RANK_NOT_BELOW ? own_state[RANK_NEXT] : 0xffffffffu;
    const uint own_copies = own_state[RANK_SOURCE] == RANK_COPIES ? own_scratch[RANK_AT_COPIES] : 0;
    const uint own_my_tiles = own_state[RANK_SOURCE] == RANK_IMAGE ? own_tiles : 0;
    uint own_smallest = 0xffffffffu;

    rank_clear_bins(own_bins);
    if (own_item == 0) {
        own_next = 0xffffffffu;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint own_from = (uint)get_group_id(0) * VISIT_GROUP * VISIT_COUNT; own_from < own_copies;
         own_from += (uint)get_num_groups(0) * VISIT_GROUP * VISIT_COUNT) {
        float own_v[VISIT_COUNT];
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            const uint own_i = own_from + (uint)own_k * VISIT_GROUP + own_item;
            own_v[own_k] = own_i < own_copies ? as_float(own_scratch[RANK_AT_KEPT + own_i]) : NAN;
        }
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            RANK_TALLY(own_v[own_k]);
        }
    }
    float own_ahead[VISIT_COUNT], own_pixels[VISIT_COUNT];
    VisitWalk own_walk = visit_walk(READ_ARGS, own_my_tiles, own_w, own_h, own_ahead);
    while (visit_take(READ_ARGS, &own_walk, own_ahead, own_pixels)) {
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            RANK_TALLY(own_pixels[own_k]);
        }
    }
    atomic_min(&own_next, own_smallest);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int own_i = (int)own_item; own_i < RANK_BINS; own_i += VISIT_GROUP) {
        if (own_bins[own_i] != 0) {
            atomic_add(own_scratch + RANK_AT_BINS + own_pass * RANK_BINS + own_i, own_bins[own_i]);
        }
    }
    if (own_item == 0) {
        atomic_min(own_scratch + RANK_AT_NEXT + own_pass, own_next);
    }
}

#else

/* One group.  numpy's interpolation, from the nearer end.  One NaN, whatever the device's is. */
VISIT_KERNEL void rank_finish(double percent, uint capacity, int ended, global uint *scratch,
                              global double *values, int value)
{
    if (VISIT_ENDED) {
        return;
    }
    local uint bins[RANK_BINS], sums[VISIT_GROUP], found[4], state[RANK_STATE_WORDS];
    rank_make_state(RANK_PASSES, capacity, percent, scratch, bins, sums, found, state);
    if (get_local_id(0) == 0) {
        double result = NAN;
        const uint count = scratch[RANK_AT_COUNT];
        if (count > 0) {
            const double at = rank_position_of(percent, count), part = at - floor(at);
            const double a = visit_value_of(state[RANK_KEY]), b = visit_value_of(state[RANK_NEXT]);
            const double step = (b - a) * (part < 0.5 ? part : 1 - part);
            result = part == 0 || a == b ? a : part < 0.5 ? a + step : b - step;
        }
        values[value] = as_double(isnan(result) ? 0x7ff8000000000000UL : as_ulong(result));
    }
}

#endif
