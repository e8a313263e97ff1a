/*
 * measure_fill: pixels of an object's box that are in the object, or cannot be reached from outside
 * it over pixels and corners (holes).
 *
 * A group floods one object's box; pixels are bits of words, rows begin with a new word.  There
 * are three buffers: open pixels (not in the object), and the reached ones, twice.  A round first
 * sweeps down and up inside every column of words, for speed; then every row takes what all its
 * neighbours in one buffer have into the other, which is right whatever the order, and tells
 * whether anything changed.
 *
 * The host defines MEASURE_SPACE and MEASURE_CHANNELS, which lie one over the other.
 */
#define MEASURE_FILL_GROUP 128

typedef struct MeasureFlood {
    int wide, tall, deep, words, rows; /* words: a row */
    global const uint *open;
} MeasureFlood;

/* Bits of `open` that `seed` reaches to the left and right. */
MEASURE_INLINE uint measure_flood_word(uint seed, uint open)
{
    uint up = seed, down = seed, p = open, q = open;
    for (int step = 1; step < 32; step *= 2) {
        up |= p & (up << step);
        p &= p << step;
        down |= q & (down >> step);
        q &= q >> step;
    }
    return up | down;
}

/* A word and what comes into it from the pixels beside each. */
MEASURE_INLINE uint measure_spread_word(global const uint *row, int k, int words)
{
    const uint v = row[k];
    const uint left = k > 0 ? row[k - 1] >> 31 : 0, right = k + 1 < words ? row[k + 1] << 31 : 0;
    return v | v << 1 | v >> 1 | left | right;
}

/* Open pixels of the box's edge are reached; so are the bits behind the end of a row. */
MEASURE_INLINE uint measure_edge(MeasureFlood f, int row, int k)
{
    const int y = row % f.tall, z = row / f.tall, last = f.wide - 1 - 32 * k;
    const bool end_y = y == 0 || y == f.tall - 1, end_z = z == 0 || z == f.deep - 1;
    const bool ends = end_y || (end_z && MEASURE_SPACE);
    const uint right = last < 0 ? 0xffffffff : last < 32 ? 0xffffffff << last : 0;
    return ends ? 0xffffffff : (k == 0 ? 1 : 0) | right;
}

MEASURE_INLINE void measure_sweep(MeasureFlood f, global uint *a)
{
    for (int i = (int)get_local_id(0); i < f.words * f.deep; i += MEASURE_FILL_GROUP) {
        const int base = i / f.words * f.tall * f.words + i % f.words;
        uint last = 0;
        for (int step = 0; step < 2 * f.tall; step++) {
            const int at = base + f.words * (step < f.tall ? step : 2 * f.tall - 1 - step);
            const uint seed = (a[at] | last | last << 1 | last >> 1) & f.open[at];
            last = measure_flood_word(seed, f.open[at]);
            a[at] = last;
        }
    }
}

/* What word k of a row gets from all rows around it. */
MEASURE_INLINE uint measure_around(MeasureFlood f, global const uint *a, int row, int k)
{
    const int y = row % f.tall, z = row / f.tall;
    uint seed = 0;
    for (int s = 0; s < (MEASURE_SPACE ? 9 : 3); s++) {
        const int ny = y + s % 3 - 1, nz = z + (MEASURE_SPACE ? s / 3 - 1 : 0);
        if (ny >= 0 && ny < f.tall && nz >= 0 && nz < f.deep) {
            seed |= measure_spread_word(a + (nz * f.tall + ny) * (long)f.words, k, f.words);
        }
    }
    return seed;
}

/* From a to b; true when one of this work-item's rows changed. */
MEASURE_INLINE bool measure_step(MeasureFlood f, global const uint *a, global uint *b)
{
    uint differs = 0;
    for (int row = (int)get_local_id(0); row < f.rows; row += MEASURE_FILL_GROUP) {
        uint carry = 0;
        for (int k = 0; k < f.words; k++) {
            const int at = row * f.words + k;
            const uint seed = (measure_around(f, a, row, k) | carry) & f.open[at];
            b[at] = measure_flood_word(seed, f.open[at]);
            carry = b[at] >> 31;
        }
        carry = 0;
        for (int k = f.words - 1; k >= 0; k--) {
            const int at = row * f.words + k;
            b[at] = measure_flood_word((b[at] | carry << 31) & f.open[at], f.open[at]);
            carry = b[at] & 1;
            differs |= b[at] ^ a[at];
        }
    }
    return differs != 0;
}

MEASURE_INLINE uint measure_count(MeasureFlood f, global const uint *a)
{
    uint count = 0;
    for (int i = (int)get_local_id(0); i < f.words * f.rows; i += MEASURE_FILL_GROUP) {
        const int beyond = 32 * (i % f.words + 1) - f.wide; /* bits that are no pixels */
        count += popcount(beyond > 0 ? a[i] & 0xffffffff >> beyond : a[i]);
    }
    return count;
}

/* An object without a place is not about. */
#define MEASURE_NOWHERE ((ulong)1 << 63)

/* The word of an object's pixels that are not in it; those behind the end of a row are not. */
#define MEASURE_OPEN_WORD(own_mask, own_y, own_z, own_k, own_wide)                                 \
    uint own_mask = 0xffffffff;                                                                    \
    for (int own_c = 0; own_c < MEASURE_CHANNELS; own_c++) {                                       \
        for (int own_x = 32 * (own_k); own_x < min(32 * (own_k) + 32, own_wide); own_x++) {        \
            const uint own_label = read_0(READ_ARGS, own_box.x0 + own_x, own_y, (own_z) + own_c);  \
            own_mask &= ~(own_label == own_first + own_object ? 1u << own_x % 32 : 0);             \
        }                                                                                          \
    }

/* An object's box, or what of it lies in a part and the rows (planes) around it, as a flood. */
MEASURE_INLINE MeasureFlood measure_flood_of(MeasureBox box, global const uint *open)
{
    const int wide = box.x1 - box.x0 + 1, tall = box.y1 - box.y0 + 1, deep = box.z1 - box.z0 + 1;
    MeasureFlood f = {wide, tall, deep, (wide + 31) / 32, tall * deep, open};
    return f;
}

MEASURE_INLINE MeasureBox measure_clip(MeasureBox box, int y0, int y1, int z0, int z1)
{
    box.y0 = max(box.y0, y0);
    box.y1 = min(box.y1, y1);
    box.z0 = max(box.z0, z0);
    box.z1 = min(box.z1, z1);
    return box;
}

/* Floods from what is reached in `a` until nothing changes; then `a` and `b` are the same. */
#define MEASURE_FLOOD(own_flood, own_a, own_b, own_lane)                                           \
    bool own_again = true;                                                                         \
    while (own_again) {                                                                            \
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);                                       \
        if (own_lane == 0) {                                                                       \
            own_changed = 0;                                                                       \
        }                                                                                          \
        measure_sweep(own_flood, own_a);                                                           \
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);                                       \
        if (measure_step(own_flood, own_a, own_b)) {                                               \
            atomic_or(&own_changed, 1);                                                            \
        }                                                                                          \
        barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);                                       \
        own_again = own_changed != 0;                                                              \
        global uint *own_swap = own_a;                                                             \
        own_a = own_b;                                                                             \
        own_b = own_swap;                                                                          \
    }

/* Of objects that the part cuts, what lies in it, at place[object]: open pixels, and `capacity` words behind
 * them those at the edge of an object's whole box, which are reached. */
kernel __attribute__((reqd_work_group_size(MEASURE_FILL_GROUP, 1, 1))) void
measure_open(READ_PARAMS, const int own_h, const int own_d, const int own_top, const int own_front,
             const uint own_first, const uint own_n, const uint own_from, const ulong own_capacity,
             global const uint *own_lows, global const ulong *own_place, global uint *own_bits)
{
    const uint own_object = own_from + get_group_id(0);
    const ulong own_at = own_place[own_object];
    const MeasureBox own_box = measure_box_of(own_lows, own_n, own_object);
    const MeasureBox own_part = measure_clip(own_box, own_top, own_top + own_h - 1, own_front,
                                             own_front + own_d - 1);
    const MeasureFlood own_flood = measure_flood_of(own_box, own_bits),
                       own_here = measure_flood_of(own_part, own_bits);
    const int own_all = own_at < MEASURE_NOWHERE ? own_here.words * own_here.rows : 0;
    for (int own_i = (int)get_local_id(0); own_i < own_all; own_i += MEASURE_FILL_GROUP) {
        const int own_row = own_i / own_here.words, own_k = own_i % own_here.words;
        const int own_y = own_part.y0 + own_row % own_here.tall,
                  own_z = own_part.z0 + own_row / own_here.tall;
        const int own_whole = (own_z - own_box.z0) * own_flood.tall + own_y - own_box.y0;
        MEASURE_OPEN_WORD(own_mask, own_y - own_top, own_z - own_front, own_k, own_flood.wide)
        own_bits[own_at + own_i] = own_mask;
        own_bits[own_capacity + own_at + own_i] =
            own_mask & measure_edge(own_flood, own_whole, own_k);
    }
}

/* What is reached from the pixels of the part, and of the row (plane) on either side of it, that are. */
kernel __attribute__((reqd_work_group_size(MEASURE_FILL_GROUP, 1, 1))) void
measure_flood(const uint own_n, const uint own_from, const int own_y0, const int own_y1,
              const int own_z0, const int own_z1, const ulong own_capacity,
              global const uint *own_lows, global const ulong *own_place, global uint *own_bits)
{
    local uint own_changed;
    const uint own_object = own_from + get_group_id(0), own_lane = get_local_id(0);
    const bool own_present = own_place[own_object] < MEASURE_NOWHERE;
    global uint *own_open = own_bits + (own_present ? own_place[own_object] : 0);
    global uint *own_a = own_open + own_capacity, *own_b = own_a + own_capacity;
    const MeasureBox own_box = measure_clip(measure_box_of(own_lows, own_n, own_object), own_y0,
                                            own_y1, own_z0, own_z1);
    MeasureFlood own_flood = {0, 0, 0, 0, 0, own_open};
    if (own_present) {
        own_flood = measure_flood_of(own_box, own_open);
    }
    MEASURE_FLOOD(own_flood, own_a, own_b, own_lane)
}

/* Adds the pixels of the part that are not reached, of objects whose last row (plane) is among `first` ..
 * `last`. */
kernel __attribute__((reqd_work_group_size(MEASURE_FILL_GROUP, 1, 1))) void
measure_unreached(const uint own_n, const uint own_from, const int own_y0, const int own_y1,
                  const int own_z0, const int own_z1, const int own_along_z, const int own_begin,
                  const int own_end, const uint own_out, global ulong *own_sums,
                  global const uint *own_lows, global const ulong *own_place,
                  global const uint *own_reached)
{
    local uint own_pixels;
    const uint own_object = own_from + get_group_id(0), own_lane = get_local_id(0);
    const MeasureBox own_box = measure_box_of(own_lows, own_n, own_object);
    const int own_last = own_along_z ? own_box.z1 : own_box.y1;
    const bool own_present = own_place[own_object] < MEASURE_NOWHERE && own_last >= own_begin &&
                             own_last <= own_end;
    MeasureFlood own_flood = {0, 0, 0, 0, 0, own_reached};
    if (own_present) {
        own_flood =
            measure_flood_of(measure_clip(own_box, own_y0, own_y1, own_z0, own_z1), own_reached);
    }
    if (own_lane == 0) {
        own_pixels = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&own_pixels,
               measure_count(own_flood, own_reached + (own_present ? own_place[own_object] : 0)));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own_lane == 0 && own_present) {
        own_sums[own_out * (size_t)own_n + own_object] +=
            (ulong)own_flood.wide * (ulong)own_flood.rows - own_pixels;
    }
}

kernel __attribute__((reqd_work_group_size(MEASURE_FILL_GROUP, 1, 1))) void
measure_fill(READ_PARAMS, const int own_top, const int own_front, const uint own_first,
             const uint own_n, const uint own_from, const uint own_out, const ulong own_capacity,
             global ulong *own_sums, global const uint *own_lows, global const ulong *own_place,
             global uint *own_bits)
{
    local uint own_changed, own_reached;
    const uint own_object = own_from + get_group_id(0), own_lane = get_local_id(0);
    const MeasureBox own_box = measure_box_of(own_lows, own_n, own_object);
    const bool own_present = own_sums[own_object] != 0 && own_place[own_object] < MEASURE_NOWHERE;
    global uint *own_open = own_bits + (own_present ? own_place[own_object] : 0);
    global uint *own_a = own_open + own_capacity, *own_b = own_a + own_capacity;
    MeasureFlood own_flood = {0, 0, 0, 0, 0, own_open};
    if (own_present) {
        own_flood = measure_flood_of(own_box, own_open);
    }
    for (int own_i = (int)own_lane; own_i < own_flood.words * own_flood.rows;
         own_i += MEASURE_FILL_GROUP) {
        const int own_row = own_i / own_flood.words, own_k = own_i % own_flood.words;
        const int own_y = own_box.y0 + own_row % own_flood.tall;
        const int own_z = own_box.z0 + own_row / own_flood.tall;
        MEASURE_OPEN_WORD(own_mask, own_y - own_top, own_z - own_front, own_k, own_flood.wide)
        own_open[own_i] = own_mask;
        own_a[own_i] = own_mask & measure_edge(own_flood, own_row, own_k);
    }
    if (own_lane == 0) {
        own_reached = 0;
    }
    MEASURE_FLOOD(own_flood, own_a, own_b, own_lane)
    atomic_add(&own_reached, measure_count(own_flood, own_a));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own_lane == 0 && own_present) {
        own_sums[own_out * (size_t)own_n + own_object] =
            (ulong)own_flood.wide * (ulong)own_flood.rows - own_reached;
    }
}
