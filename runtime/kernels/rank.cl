/*
 * rank: the exact k-th smallest pixel and the one after it, reading the image once where possible.
 *
 *   rank_sample   takes a sample of the pixels.
 *   rank_bracket  picks two of its values, low and high, so that the wanted rank lies between them
 *                 almost certainly.
 *   rank_count    reads the image: counts the pixels below low, equal to low, equal to high, and keeps
 *                 a copy of those strictly between.  Images with few different values keep almost
 *                 nothing, since what they have is equal to low or high.
 *   rank_refine   (three times) counts 2048 bins of the range that is left, among the copies, or
 *                 among the image's pixels when the sample was wrong or there were too many copies.
 *                 Each launch first narrows the range by what the one before has counted.
 *   rank_finish   narrows once more and interpolates.
 *
 * The sample decides only how long this takes; the result is exact.  Ranks and counts never leave the
 * device.  Values are ordered by keys: u32 in the order of the f32; key 0 is never a value.
 * The smallest key not below some bound is what finds rank k + 1 when it is in another bin than k.
 *
 * The host defines HEADER_WORDS, the words of scratch in front of the copies.
 */
#pragma OPENCL FP_CONTRACT OFF

#define BINS 2048
#define BIN_BITS 11
#define BINS_AN_ITEM (BINS / GROUP)
#define PASSES 3
#define ROOM 2048           /* copies that a group holds back before it writes them */
#define HELD (ROOM + TILE_W * TILE_H)
#define NO_BIN BINS

/* Scratch, in words. */
#define SAMPLE_SIZE 16384
#define AT_LOW 0            /* the bracket, as f32 */
#define AT_HIGH 1
#define AT_BELOW 2          /* counts of pixels: less than low, */
#define AT_EQUAL_LOW 3
#define AT_EQUAL_HIGH 4     /* (not counted when low equals high) */
#define AT_COUNT 5          /* all */
#define AT_COPIES 6         /* strictly between, whether or not there was room for a copy */
#define AT_STATES 16        /* one State for each pass and the last */
#define AT_NEXT (AT_STATES + (PASSES + 1) * STATE_WORDS)
#define AT_BINS (AT_NEXT + 16)
#define AT_SAMPLE (AT_BINS + PASSES * BINS)
#define AT_KEPT HEADER_WORDS

/* Where to look for rank k (a range of keys) and for rank k + 1. */
enum { NOWHERE, COPIES, IMAGE };          /* SOURCE */
enum { SAME_RANGE, KNOWN, NOT_BELOW };    /* NEXT_HOW */
enum {
    SOURCE,   /* what the pass reads */
    FOUND,    /* 1: KEY is the answer for rank k */
    KEY,      /* else: the first key of its range, */
    SPAN,     /* the range's last key less the first, */
    SHIFT,    /* bits of a key that a bin leaves open, */
    RANK,     /* and the rank within the range */
    NEXT_HOW, /* rank k + 1: in the same range; NEXT itself; the smallest key >= NEXT */
    NEXT,
    STATE_WORDS
};
typedef char header_has_room[AT_SAMPLE + SAMPLE_SIZE <= HEADER_WORDS ? 1 : -1];

/* -0 counts as 0. */
INLINE uint key_of(float value)
{
    const uint bits = as_uint(value + 0.0f);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

INLINE float value_of(uint key)
{
    return as_float(key >> 31 ? key ^ 0x80000000u : ~key);
}

/* found[0] = the bin that holds `rank` (NO_BIN: none), found[1] = how many are in the bins before;
 * found[2] and found[3] the same of rank `next`. */
INLINE void find_ranks(const local uint *bins, local uint *sums, uint rank, uint next,
                       local uint *found)
{
    const int item = (int)get_local_id(0);
    uint own = 0;
    for (int i = 0; i < BINS_AN_ITEM; i++) {
        own += bins[item * BINS_AN_ITEM + i];
    }
    sums[item] = own;
    if (item == 0) {
        found[0] = found[2] = NO_BIN;
        found[1] = found[3] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < GROUP; step *= 2) {
        const uint left = item >= step ? sums[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint before = sums[item] - own;
    for (int i = item * BINS_AN_ITEM; i < (item + 1) * BINS_AN_ITEM; i++) {
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

INLINE void clear_bins(local uint *bins)
{
    for (int i = (int)get_local_id(0); i < BINS; i += GROUP) {
        bins[i] = 0;
    }
}

/* ---- the bracket ----------------------------------------------------------------------------- */

/* The key of number i of the sample, 0 when that pixel is left out: one pixel of each stretch of
 * the image, at a place in it that no pattern of the image follows. */
INLINE uint sample_key(READ_PARAMS, uint i, int w, int h, int planes)
{
    const ulong pixels = (ulong)w * (ulong)h * (ulong)planes;
    const uint from = (uint)(pixels * i / SAMPLE_SIZE);
    const uint stretch = (uint)(pixels * (i + 1) / SAMPLE_SIZE) - from;
    uint hash = i * 0x9e3779b9u;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    hash ^= hash >> 16;
    float value = NAN;
    if (stretch > 0) {
        const uint at = from + mul_hi(hash, stretch);
        const uint row = at / (uint)w;
        value = visit_pixel(READ_ARGS, (int)(at % (uint)w), (int)(row % (uint)h),
                            (int)(row / (uint)h), w, h);
    }
    return isnan(value) ? 0 : key_of(value);
}

/* Also clears what the launches after it add to. */
GROUP_KERNEL void rank_sample(READ_PARAMS, int w, int h, int planes, global uint *scratch)
{
    const int step = (int)get_global_size(0);
    for (int i = (int)get_global_id(0); i < AT_SAMPLE; i += step) {
        scratch[i] = i >= AT_NEXT && i < AT_BINS ? 0xffffffffu : 0;
    }
    for (int i = (int)get_global_id(0); i < SAMPLE_SIZE; i += step) {
        scratch[AT_SAMPLE + i] = sample_key(READ_ARGS, (uint)i, w, h, planes);
    }
}

/* One group.  The ends of the bracket are values of the sample, found to 22 bits by two rounds of
 * counting; the third takes the smallest and the largest that have these bits. */
GROUP_KERNEL void rank_bracket(double percent, global uint *scratch)
{
    local uint bins[2][BINS], sums[GROUP], found[4], found_high[4], ends[2], count;
    const int item = (int)get_local_id(0);
    const global uint *sample = scratch + AT_SAMPLE;

    clear_bins(bins[0]);
    clear_bins(bins[1]);
    if (item == 0) {
        ends[0] = 0xffffffffu;
        ends[1] = 0;
        count = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own = 0;
    for (int i = item; i < SAMPLE_SIZE; i += GROUP) {
        const uint key = sample[i];
        if (key != 0) {
            atomic_inc(&bins[0][key >> 21]);
            own++;
        }
    }
    atomic_add(&count, own);
    barrier(CLK_LOCAL_MEM_FENCE);

    /* Four standard deviations of a sampled rank to either side, and a little for the tails. */
    const double share = percent / 100, n = count;
    const double margin = 4 * sqrt(share * (1 - share) * n) + 8;
    const double first = floor(share * (n - 1) - margin), last = ceil(share * (n - 1) + margin);
    const bool open_below = !(first >= 0), open_above = !(last <= n - 1);
    const uint rank_low = open_below ? 0 : (uint)first;
    const uint rank_high = open_above ? count - 1 : (uint)last;
    find_ranks(bins[0], sums, rank_low, rank_high, found);
    const uint top_low = found[0], left_low = rank_low - found[1];
    const uint top_high = found[2], left_high = rank_high - found[3];
    clear_bins(bins[0]);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int i = item; i < SAMPLE_SIZE; i += GROUP) {
        const uint key = sample[i];
        if (key != 0 && key >> 21 == top_low) {
            atomic_inc(&bins[0][(key >> 10) & (BINS - 1)]);
        }
        if (key != 0 && key >> 21 == top_high) {
            atomic_inc(&bins[1][(key >> 10) & (BINS - 1)]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    find_ranks(bins[0], sums, left_low, left_low, found);
    find_ranks(bins[1], sums, left_high, left_high, found_high);

    const uint prefix_low = top_low << BIN_BITS | found[0];
    const uint prefix_high = top_high << BIN_BITS | found_high[0];
    for (int i = item; i < SAMPLE_SIZE; i += GROUP) {
        const uint key = sample[i];
        if (key != 0 && key >> 10 == prefix_low) {
            atomic_min(&ends[0], key);
        }
        if (key != 0 && key >> 10 == prefix_high) {
            atomic_max(&ends[1], key);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        scratch[AT_LOW] = as_uint(open_below ? -INFINITY : value_of(ends[0]));
        scratch[AT_HIGH] = as_uint(open_above ? INFINITY : value_of(ends[1]));
    }
}

/* ---- the reading ----------------------------------------------------------------------------- */

/* Writes the held copies out when there are more than `room`; all of the group call it. */
INLINE void write_copies(local float *held, local uint *used, local uint *to, uint room,
                         uint capacity, global uint *scratch)
{
    const uint item = (uint)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint n = *used > room ? *used : 0;
    if (n > 0 && item == 0) {
        *to = atomic_add(scratch + AT_COPIES, n);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < n; i += GROUP) {
        const uint at = *to + i;
        if (at < capacity) {
            scratch[AT_KEPT + at] = as_uint(held[i]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (n > 0 && item == 0) {
        *used = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

GROUP_KERNEL void rank_count(READ_PARAMS, int w, int h, uint tiles, uint capacity,
                             global uint *scratch)
{
    local float held[HELD];
    local uint used, to, totals[4];
    const uint item = (uint)get_local_id(0);
    const float low = as_float(scratch[AT_LOW]), high = as_float(scratch[AT_HIGH]);
    uint below = 0, equal_low = 0, equal_high = 0, count = 0;

    if (item == 0) {
        used = totals[0] = totals[1] = totals[2] = totals[3] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint tile = (uint)get_group_id(0); tile < tiles; tile += (uint)get_num_groups(0)) {
        const Place place = visit_place(tile, w, h);
        for (int batch = 0; batch < BATCHES; batch++) {
            float v[BATCH];
            uint closed = 0, between = 0;
            VISIT_BATCH(v, place, batch);
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                count += !isnan(v[k]);
                below += v[k] < low;
                closed |= (uint)(v[k] >= low && v[k] <= high) << k;
                between |= (uint)(v[k] > low && v[k] < high) << k;
            }
            if (closed != between) {
#pragma unroll
                for (int k = 0; k < BATCH; k++) {
                    equal_low += v[k] == low;
                    equal_high += v[k] == high && v[k] > low;
                }
            }
            if (between != 0) {
                uint at = atomic_add(&used, popcount(between));
#pragma unroll
                for (int k = 0; k < BATCH; k++) {
                    if (between >> k & 1) {
                        held[at] = v[k];
                        at++;
                    }
                }
            }
        }
        write_copies(held, &used, &to, ROOM, capacity, scratch);
    }
    write_copies(held, &used, &to, 0, capacity, scratch);

    atomic_add(&totals[0], below);
    atomic_add(&totals[1], equal_low);
    atomic_add(&totals[2], equal_high);
    atomic_add(&totals[3], count);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < 4; i += GROUP) {
        atomic_add(scratch + AT_BELOW + i, totals[i]);
    }
}

/* ---- narrowing ------------------------------------------------------------------------------- */

INLINE double position_of(double percent, uint count)
{
    return percent / 100 * ((double)count - 1);
}

/* A range of keys to count in bins. */
INLINE void set_range(local uint *state, uint source, uint first, uint last, uint rank)
{
    const uint bits = 32 - clz(last - first);
    state[SOURCE] = source;
    state[FOUND] = 0;
    state[KEY] = first;
    state[SPAN] = last - first;
    state[SHIFT] = bits > BIN_BITS ? bits - BIN_BITS : 0;
    state[RANK] = rank;
}

/* The state for the first pass, from what rank_count has found. */
INLINE void state_from_counts(const global uint *scratch, uint capacity, double percent,
                              local uint *state)
{
    const uint low = key_of(as_float(scratch[AT_LOW])), high = key_of(as_float(scratch[AT_HIGH]));
    const uint count = scratch[AT_COUNT], copies = scratch[AT_COPIES];
    const uint to_low = scratch[AT_BELOW], to_between = to_low + scratch[AT_EQUAL_LOW];
    const uint to_high = to_between + copies, to_above = to_high + scratch[AT_EQUAL_HIGH];
    const uint source = copies <= capacity ? COPIES : IMAGE;

    for (int i = 0; i < STATE_WORDS; i++) {
        state[i] = 0;
    }
    state[SOURCE] = NOWHERE;
    state[FOUND] = 1;
    state[NEXT_HOW] = KNOWN;
    if (count > 0) {
        const uint k = (uint)position_of(percent, count);
        const uint next = min(k + 1, count - 1);
        if (k < to_low) {
            set_range(state, IMAGE, 1, low - 1, k);
        } else if (k < to_between) {
            state[KEY] = low;
        } else if (k < to_high) {
            set_range(state, source, low + 1, high - 1, k - to_between);
        } else if (k < to_above) {
            state[KEY] = high;
        } else {
            set_range(state, IMAGE, high + 1, 0xffffffffu, k - to_above);
        }
        /* The ends of a bracket are pixels or infinite, so a range's neighbour is known. */
        if (next < to_low) {
            state[NEXT_HOW] = SAME_RANGE;
        } else if (next < to_between) {
            state[NEXT] = low;
        } else if (next < to_high) {
            state[NEXT_HOW] = k < to_between ? NOT_BELOW : SAME_RANGE;
            state[NEXT] = low + 1;
            state[SOURCE] = source;
        } else if (next < to_above) {
            state[NEXT] = high;
        } else {
            state[NEXT_HOW] = k < to_above ? NOT_BELOW : SAME_RANGE;
            state[NEXT] = high + 1;
            state[SOURCE] = IMAGE;
        }
    }
}

/* The state after a pass: from the one before and the bins in which k and k + 1 were found. */
INLINE void narrow_state(const local uint *found, uint smallest, local uint *state)
{
    const uint first = state[KEY], shift = state[SHIFT], source = state[SOURCE];
    if (state[NEXT_HOW] == NOT_BELOW) {
        state[NEXT_HOW] = KNOWN;
        state[NEXT] = smallest;
    }
    state[SOURCE] = NOWHERE;
    if (!state[FOUND]) {
        const uint begin = first + (found[0] << shift);
        const uint left = first + state[SPAN] - begin, wide = (1u << shift) - 1;
        set_range(state, source, begin, begin + min(left, wide), state[RANK] - found[1]);
        if (state[NEXT_HOW] == SAME_RANGE && found[2] != found[0]) {
            /* No rank after k in its range: k is the last of all. */
            state[NEXT_HOW] = found[2] == NO_BIN ? KNOWN : shift == 0 ? KNOWN : NOT_BELOW;
            state[NEXT] = first + (found[2] << shift);
        }
        state[FOUND] = shift == 0;
        if (shift == 0 && state[NEXT_HOW] == SAME_RANGE) {
            state[NEXT_HOW] = KNOWN;
            state[NEXT] = begin;
        }
        state[SOURCE] = shift == 0 ? NOWHERE : source;
    }
}

/* Makes the state for `pass` (0: after rank_count) in local memory; every group makes the same, the
 * first one keeps it for the next launch. */
INLINE void make_state(int pass, uint capacity, double percent, global uint *scratch,
                       local uint *bins, local uint *sums, local uint *found,
                       local uint *state)
{
    const int item = (int)get_local_id(0);
    if (pass == 0 && item == 0) {
        state_from_counts(scratch, capacity, percent, state);
    }
    for (int i = item; pass > 0 && i < STATE_WORDS; i += GROUP) {
        state[i] = scratch[AT_STATES + (pass - 1) * STATE_WORDS + i];
    }
    for (int i = item; i < BINS; i += GROUP) {
        bins[i] = pass > 0 ? scratch[AT_BINS + (pass - 1) * BINS + i] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rank = state[RANK];
    find_ranks(bins, sums, rank, rank + 1, found);
    if (pass > 0 && item == 0) {
        narrow_state(found, scratch[AT_NEXT + pass - 1], state);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 0) {
        for (int i = item; i < STATE_WORDS; i += GROUP) {
            scratch[AT_STATES + pass * STATE_WORDS + i] = state[i];
        }
    }
}

/* ---- the passes ------------------------------------------------------------------------------ */

/* What a pass does with one value. */
#define TALLY(v)                                                                                   \
    do {                                                                                           \
        const uint key_ = key_of(v);                                                               \
        const uint offset_ = key_ - first;                                                         \
        if (!isnan(v) && counts && offset_ <= span) {                                              \
            atomic_inc(&bins[offset_ >> shift]);                                                   \
        }                                                                                          \
        if (!isnan(v) && key_ >= bound) {                                                          \
            smallest = min(smallest, key_);                                                        \
        }                                                                                          \
    } while (0)

GROUP_KERNEL void rank_refine(READ_PARAMS, int w, int h, uint tiles, uint capacity, double percent,
                              int pass, global uint *scratch)
{
    local uint bins[BINS], sums[GROUP], found[4], state[STATE_WORDS], next;
    const uint item = (uint)get_local_id(0);
    make_state(pass, capacity, percent, scratch, bins, sums, found, state);
    const uint first = state[KEY], span = state[SPAN], shift = state[SHIFT];
    const bool counts = !state[FOUND];
    const uint bound = state[NEXT_HOW] == NOT_BELOW ? state[NEXT] : 0xffffffffu;
    const uint copies = state[SOURCE] == COPIES ? scratch[AT_COPIES] : 0;
    const uint my_tiles = state[SOURCE] == IMAGE ? tiles : 0;
    uint smallest = 0xffffffffu;

    clear_bins(bins);
    if (item == 0) {
        next = 0xffffffffu;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint from = (uint)get_group_id(0) * GROUP * BATCH; from < copies;
         from += (uint)get_num_groups(0) * GROUP * BATCH) {
        float v[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const uint i = from + (uint)k * GROUP + item;
            v[k] = i < copies ? as_float(scratch[AT_KEPT + i]) : NAN;
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            TALLY(v[k]);
        }
    }
    for (uint tile = (uint)get_group_id(0); tile < my_tiles; tile += (uint)get_num_groups(0)) {
        const Place place = visit_place(tile, w, h);
        for (int batch = 0; batch < BATCHES; batch++) {
            float v[BATCH];
            VISIT_BATCH(v, place, batch);
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                TALLY(v[k]);
            }
        }
    }
    atomic_min(&next, smallest);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = (int)item; i < BINS; i += GROUP) {
        if (bins[i] != 0) {
            atomic_add(scratch + AT_BINS + pass * BINS + i, bins[i]);
        }
    }
    if (item == 0) {
        atomic_min(scratch + AT_NEXT + pass, next);
    }
}

/* One group.  numpy's interpolation, from the nearer end. */
GROUP_KERNEL void rank_finish(double percent, uint capacity, global uint *scratch,
                              global double *values, int value)
{
    local uint bins[BINS], sums[GROUP], found[4], state[STATE_WORDS];
    make_state(PASSES, capacity, percent, scratch, bins, sums, found, state);
    if (get_local_id(0) == 0) {
        double result = NAN;
        const uint count = scratch[AT_COUNT];
        if (count > 0) {
            const double at = position_of(percent, count), part = at - floor(at);
            const double a = value_of(state[KEY]), b = value_of(state[NEXT]);
            const double step = (b - a) * (part < 0.5 ? part : 1 - part);
            result = part == 0 || a == b ? a : part < 0.5 ? a + step : b - step;
        }
        values[value] = isnan(result) ? (double)NAN : result;
    }
}
