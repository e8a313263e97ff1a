/*
 * measure_median: the two middle keys of each object's values, which measure_gather put side by
 * side, or those around another percentile, which is `fraction` of the way from the first to the last.
 *
 * Radix selection: a histogram of the top 8 bits says which digit the middle key begins with, then
 * one of the next 8 bits of the keys that begin so, four times.  The upper middle key is the same
 * one, or the smallest above it.  An object is done by a group.  Large ones (more than `least` values)
 * are cut into segments for many groups, and keep their histogram and what is known so far in a record
 * in global memory.  In small ones, a key's place among the sorted ones is counted.
 *
 * The host does not know how many objects are middling or large: groups go over those that are listed.
 */
#pragma OPENCL FP_CONTRACT OFF

#define MEASURE_GROUP 256
#define MEASURE_KERNEL kernel __attribute__((reqd_work_group_size(MEASURE_GROUP, 1, 1))) void
#define MEASURE_INLINE static inline __attribute__((always_inline))

/* The whole ranks around a percentile; as measure_rank of base/measure_object.h. */
MEASURE_INLINE ulong lower_rank(ulong count, double fraction)
{
    return (ulong)((double)(count - 1) * fraction);
}

MEASURE_INLINE ulong upper_rank(ulong count, double fraction)
{
    const ulong lower = lower_rank(count, fraction);
    return lower + ((double)lower < (double)(count - 1) * fraction);
}

/* Both keys; all ones when there is a NaN among the values, whose key is the largest of all. */
MEASURE_INLINE ulong middle_keys(uint prefix, uint next, uint not_above, uint largest, ulong count,
                                 double fraction)
{
    const uint upper = not_above > upper_rank(count, fraction) ? prefix : next;
    return largest == 0xffffffff ? 0xffffffffffffffff : (ulong)prefix << 32 | upper;
}

/* Counts the digits at `shift` of the keys that begin with `prefix`. */
MEASURE_INLINE void count_digits(local uint *histogram, global const uint *key, ulong count,
                                 uint prefix, int shift)
{
    for (ulong i = get_local_id(0); i < count; i += MEASURE_GROUP) {
        const uint k = key[i];
        if (shift == 24 || k >> (shift + 8) == prefix) {
            atomic_inc(&histogram[k >> shift & 255]);
        }
    }
}

/* How many keys are not above `prefix`, the smallest that is, and the largest of all. */
MEASURE_INLINE void look_above(local uint *next, local uint *not_above, local uint *largest,
                               global const uint *key, ulong count, uint prefix)
{
    uint my_next = 0xffffffff, mine = 0, my_largest = 0;
    for (ulong i = get_local_id(0); i < count; i += MEASURE_GROUP) {
        const uint k = key[i];
        my_next = k > prefix ? min(my_next, k) : my_next;
        mine += k <= prefix;
        my_largest = max(my_largest, k);
    }
    atomic_min(next, my_next);
    atomic_add(not_above, mine);
    atomic_max(largest, my_largest);
}

/* A large object's record. */
typedef struct Large {
    uint object, prefix, rest, next, not_above, largest, unused[2];
    uint histogram[256];
} Large;

#define MEASURE_LANES 32
#define MEASURE_SMALL 256

/* Some objects have been given no place (MEASURE_NOWHERE of measure_values.cl). */
MEASURE_INLINE ulong count_of(global const ulong *sums, global const ulong *cursor, uint object)
{
    return cursor[object] >> 63 != 0 ? 0 : sums[object];
}

/* What `found` holds: how many objects are middling, how many large, and the segments of the largest. */
enum { FOUND_MIDDLING, FOUND_LARGE, FOUND_SEGMENTS };

/* Lists the objects that are not small, in any order. */
MEASURE_KERNEL measure_sort_out(const uint n, const uint least, const uint segment, const double fraction,
                                global const ulong *sums, global const ulong *cursor,
                                global uint *middling, global uint *found, global Large *larges)
{
    const uint object = get_global_id(0);
    const ulong count = object < n ? count_of(sums, cursor, object) : 0;
    if (count > least) {
        global Large *large = larges + atomic_inc(found + FOUND_LARGE);
        large->object = object;
        large->prefix = large->not_above = large->largest = 0;
        large->rest = (uint)lower_rank(count, fraction);
        large->next = 0xffffffff;
        for (int i = 0; i < 256; i++) {
            large->histogram[i] = 0;
        }
        atomic_max(found + FOUND_SEGMENTS, (uint)((count + segment - 1) / segment));
    } else if (count > MEASURE_SMALL) {
        middling[atomic_inc(found + FOUND_MIDDLING)] = object;
    }
}

/* Objects of at most MEASURE_SMALL values, a group of MEASURE_LANES work-items each. */
kernel __attribute__((reqd_work_group_size(MEASURE_LANES, 1, 1))) void
measure_select_small(const uint n, const uint out, const double fraction, global ulong *sums, global const ulong *cursor,
                     global const uint *keys)
{
    local uint key[MEASURE_SMALL];
    local uint lower, upper, largest;
    const uint object = get_group_id(0), lane = get_local_id(0);
    const ulong all = count_of(sums, cursor, object);
    const uint count = all > MEASURE_SMALL ? 0 : (uint)all;
    const size_t begin = cursor[object] - count; /* the cursor stands behind the last */
    if (lane == 0) {
        lower = upper = largest = 0;
    }
    for (uint i = lane; i < count; i += MEASURE_LANES) {
        key[i] = keys[begin + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < count; i += MEASURE_LANES) {
        const uint mine = key[i];
        uint before = 0;
        for (uint k = 0; k < count; k++) {
            before += key[k] < mine || (key[k] == mine && k < i);
        }
        if (before == lower_rank(count, fraction)) {
            lower = mine;
        }
        if (before == upper_rank(count, fraction)) {
            upper = mine;
        }
        if (before == count - 1) {
            largest = mine;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && count != 0) {
        sums[out * (size_t)n + object] =
            largest == 0xffffffff ? 0xffffffffffffffff : (ulong)lower << 32 | upper;
    }
}

/* What a group knows of an object; only the first work-item begins and ends with it. */
typedef struct Middle {
    uint histogram[MEASURE_GROUP];
    uint chosen, rest, next, not_above, largest;
} Middle;

/* The middle keys of `count`, for the first work-item; 0 for the others, while it may be at the next object. */
MEASURE_INLINE ulong select_middle(local Middle *m, global const uint *key, ulong count, double fraction)
{
    const uint lane = get_local_id(0);
    uint prefix = 0;
    if (lane == 0) {
        m->rest = (uint)lower_rank(count, fraction);
        m->next = 0xffffffff;
        m->not_above = m->largest = 0;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        m->histogram[lane] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        count_digits(m->histogram, key, count, prefix, shift);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            uint digit = 0;
            while (digit < 255 && m->rest >= m->histogram[digit]) {
                m->rest -= m->histogram[digit++];
            }
            m->chosen = digit;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        prefix = prefix << 8 | m->chosen;
    }
    look_above(&m->next, &m->not_above, &m->largest, key, count, prefix);
    barrier(CLK_LOCAL_MEM_FENCE);
    return lane == 0 ? middle_keys(prefix, m->next, m->not_above, m->largest, count, fraction) : 0;
}

/* Objects of the list, a group each. */
MEASURE_KERNEL measure_select(const uint n, const uint out, const double fraction, global const uint *found,
                              global ulong *sums, global const ulong *cursor,
                              global const uint *list, global const uint *keys)
{
    local Middle middle;
    for (uint i = get_group_id(0); i < found[FOUND_MIDDLING]; i += get_num_groups(0)) {
        const uint object = list[i];
        const ulong count = sums[object];
        /* The cursor stands behind the last. */
        const ulong keys_of = select_middle(&middle, keys + (cursor[object] - count), count, fraction);
        if (get_local_id(0) == 0) {
            sums[out * (size_t)n + object] = keys_of;
        }
    }
}

/* The keys of one segment of `segment` keys. */
typedef struct Segment {
    global const uint *key;
    ulong count;
} Segment;

/* Number `which` of the object's. */
MEASURE_INLINE Segment segment_of(global const Large *large, uint which, uint segment,
                                  global const ulong *sums, global const ulong *cursor,
                                  global const uint *keys)
{
    const ulong count = sums[large->object], begin = (ulong)which * segment;
    Segment part;
    part.key = keys + (cursor[large->object] - count + begin);
    part.count = begin < count ? min((ulong)segment, count - begin) : 0;
    return part;
}

/* Goes over as many segments of each large object as the largest one has. */
#define FOR_SEGMENTS(i)                                                                            \
    for (ulong i = get_group_id(0), all = (ulong)found[FOUND_LARGE] * found[FOUND_SEGMENTS];       \
         i < all; i += get_num_groups(0))

MEASURE_KERNEL measure_large_count(const uint segment, const int shift, global const uint *found,
                                   global const ulong *sums, global const ulong *cursor,
                                   global const uint *keys, global Large *larges)
{
    local uint histogram[MEASURE_GROUP];
    const uint lane = get_local_id(0);
    FOR_SEGMENTS(i) {
        global Large *large = larges + i / found[FOUND_SEGMENTS];
        const Segment part =
            segment_of(large, (uint)(i % found[FOUND_SEGMENTS]), segment, sums, cursor, keys);
        histogram[lane] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        count_digits(histogram, part.key, part.count, large->prefix, shift);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (histogram[lane] != 0) {
            atomic_add(&large->histogram[lane], histogram[lane]);
        }
    }
}

/* A work-item for each large object that there may be. */
kernel void measure_large_choose(global const uint *found, global Large *larges)
{
    if (get_global_id(0) < found[FOUND_LARGE]) {
        global Large *large = larges + get_global_id(0);
        uint digit = 0, rest = large->rest;
        while (digit < 255 && rest >= large->histogram[digit]) {
            rest -= large->histogram[digit++];
        }
        for (int i = 0; i < 256; i++) {
            large->histogram[i] = 0;
        }
        large->rest = rest;
        large->prefix = large->prefix << 8 | digit;
    }
}

MEASURE_KERNEL measure_large_above(const uint segment, global const uint *found,
                                   global const ulong *sums, global const ulong *cursor,
                                   global const uint *keys, global Large *larges)
{
    local uint next, not_above, largest;
    const uint lane = get_local_id(0);
    FOR_SEGMENTS(i) {
        global Large *large = larges + i / found[FOUND_SEGMENTS];
        const Segment part =
            segment_of(large, (uint)(i % found[FOUND_SEGMENTS]), segment, sums, cursor, keys);
        if (lane == 0) {
            next = 0xffffffff;
            not_above = largest = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        look_above(&next, &not_above, &largest, part.key, part.count, large->prefix);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0) {
            atomic_min(&large->next, next);
            atomic_add(&large->not_above, not_above);
            atomic_max(&large->largest, largest);
        }
    }
}

kernel void measure_large_write(const uint n, const uint out, const double fraction, global const uint *found,
                                global ulong *sums, global const Large *larges)
{
    if (get_global_id(0) < found[FOUND_LARGE]) {
        global const Large *large = larges + get_global_id(0);
        sums[out * (size_t)n + large->object] = middle_keys(
            large->prefix, large->next, large->not_above, large->largest, sums[large->object], fraction);
    }
}
