/*
 * window_sort: the pixels of a tile of the image, and of all that windows around these reach, in the order of
 * their keys (window_keys.cl).
 *
 * That is the neighbourhood, whose places are counted along x, then y, then z, also those beyond the image's edges.
 * All work-items of a group sort it, digit by digit; on CPUs a group is one work-item.
 *
 * The host defines SLIDE_ITEMS (of a group), SLIDE_DIGIT (bits that a pass of sorting looks at, at most) and
 * SLIDE_PLACE, a type that holds places.
 */
/* Items that take side by side what they sort, and have counts of their own. */
#define SLIDE_WAVE (SLIDE_ITEMS < 32 ? SLIDE_ITEMS : 32)
#define SLIDE_WAVES (SLIDE_ITEMS / SLIDE_WAVE)
#define SLIDE_WORDS (WINDOW_BITS / 32) /* of a key */

/* A group of one has nobody to wait for, and no use for atomics.  Counts lie so that items far from each other meet
 * in few banks. */
#if SLIDE_ITEMS == 1
#define SLIDE_WAIT(fence)
#define SLIDE_ADD_ONE(count) ((*(count))++)
#define SLIDE_OR(bits, more) (*(bits) |= (more))
#define SLIDE_COUNT(i) (i)
#else
#define SLIDE_WAIT(fence) barrier(fence)
#define SLIDE_ADD_ONE(count) atomic_inc(count)
#define SLIDE_OR(bits, more) atomic_or(bits, more)
#define SLIDE_COUNT(i) ((i) + (i) / 32)
#endif

/* Pixels of the part that a tile has, and all that is under their windows. */
typedef struct SlideTile {
    int columns, rows, planes;
    int wide, high, deep;          /* the neighbourhood's extents */
    int reach_x, reach_y, reach_z; /* it begins so far before the tile */
} SlideTile;

/* What is sorted: the keys by place, and places in the order of their keys; `next`, of the same size, is for
 * the order to come, and then for numbers by place, `spare` for what the set needs beside them (SLIDE_ORDERS is
 * then 3). */
typedef struct SlideOrder {
    global WindowKey *keys;
    global SLIDE_PLACE *now, *next, *spare;
    uint n;
} SlideOrder;

/* Reads the neighbourhood; the bits in which keys differ.  Rows that no window needs may be missing in the memory
 * of a part, and are taken as the last one that is there. */
LANES_INLINE WindowKey slide_read(const SlideOrder *order, const SlideTile *tile, WindowPlace at,
                             global const WINDOW_PIXEL *volume, local uint *differ)
{
    const int item = (int)get_local_id(0), lane = item % SLIDE_WAVE;
    const int last_y = tile->rows + 2 * tile->reach_y - 1, last_z = tile->planes + 2 * tile->reach_z - 1;
    const WindowKey one = window_key_at(window_row(volume, &at, (int4)(0, 0, 0, 0)), &at, at.x);
    WindowKey own = 0;
    for (int i = item; i < SLIDE_WORDS; i += SLIDE_ITEMS) {
        differ[i] = 0;
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    for (int row = item / SLIDE_WAVE; row < tile->high * tile->deep; row += SLIDE_WAVES) {
        const LanesSplit z = lanes_split((uint)row, (uint)tile->high);
        const int4 run = (int4)(0, 0, min((int)z.rest, last_y), min((int)z.over, last_z));
        global const WINDOW_PIXEL *const pixels = window_row(volume, &at, run);
        for (int x = lane; x < tile->wide; x += SLIDE_WAVE) {
            const WindowKey key = window_key_at(pixels, &at, at.x + x);
            order->keys[row * tile->wide + x] = key;
            own |= key ^ one;
        }
    }
    for (int i = 0; i < SLIDE_WORDS; i++) {
        SLIDE_OR(&differ[i], (uint)(own >> 32 * i));
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int i = 0; i < SLIDE_WORDS; i++) {
        own |= (WindowKey)differ[i] << 32 * i;
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    return own;
}

/* Makes of n counts how many are counted before each; `sums`: room for a number of each item. */
LANES_INLINE void slide_add_up(local uint *counts, uint n, local uint *sums)
{
    const uint item = (uint)get_local_id(0), share = (n + SLIDE_ITEMS - 1) / SLIDE_ITEMS;
    const uint first = min(item * share, n), end = min(first + share, n);
    uint sum = 0;
    for (uint i = first; i < end; i++) {
        sum += counts[SLIDE_COUNT(i)];
    }
    sums[item] = sum;
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < SLIDE_ITEMS; step *= 2) {
        const uint before = item >= step ? sums[item - step] : 0;
        SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
        sums[item] += before;
        SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    }
    sum = sums[item] - sum;
    for (uint i = first; i < end; i++) {
        const uint count = counts[SLIDE_COUNT(i)];
        counts[SLIDE_COUNT(i)] = sum;
        sum += count;
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
}

/* Where the item's digit goes: behind what its wave had of it before, and the lanes before it have.  All items are
 * here, some without a digit (UINT_MAX). */
LANES_INLINE uint slide_turn(local uint *counts, local uint *digits, uint digit)
{
    const uint item = (uint)get_local_id(0), lane = item % SLIDE_WAVE, wave = item / SLIDE_WAVE;
    local const uint *const beside = digits + wave * SLIDE_WAVE;
    local uint *const count = counts + SLIDE_COUNT(digit * SLIDE_WAVES + wave);
    digits[item] = digit;
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    uint same = 0;
    for (uint i = 0; i < SLIDE_WAVE; i++) {
        same |= (uint)(beside[i] == digit) << i;
    }
    const uint before = popcount(same & (((uint)1 << lane) - 1)), all = popcount(same);
    const uint to = digit == UINT_MAX ? 0 : *count + before;
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    if (digit != UINT_MAX && before == 0) {
        *count += all;
    }
    return to;
}

/* Sorts by one digit more, and keeps the order of those that have the same.  The first digit finds the places in
 * no order yet, and any will do.  `room`: a number for each item, and the counts, digit by digit those of each wave. */
LANES_INLINE void slide_pass(SlideOrder *order, int shift, int bits, bool first, local uint *room)
{
    const uint item = (uint)get_local_id(0), lane = item % SLIDE_WAVE, wave = item / SLIDE_WAVE;
    const uint n_counts = (uint)SLIDE_WAVES << bits, mask = ((uint)1 << bits) - 1;
    const uint share = (order->n + SLIDE_ITEMS - 1) / SLIDE_ITEMS * SLIDE_WAVE;
    const uint from = min(wave * share, order->n), end = min(from + share, order->n);
    local uint *const counts = room + SLIDE_ITEMS;
    for (uint i = item; i < n_counts; i += SLIDE_ITEMS) {
        counts[SLIDE_COUNT(i)] = 0;
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    for (uint i = from + lane; i < end; i += SLIDE_WAVE) {
        const uint digit = (uint)(order->keys[first ? i : order->now[i]] >> shift) & mask;
        SLIDE_ADD_ONE(&counts[SLIDE_COUNT(digit * SLIDE_WAVES + wave)]);
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    slide_add_up(counts, n_counts, room);
    if (first || SLIDE_ITEMS == 1) {
        for (uint i = from + lane; i < end; i += SLIDE_WAVE) {
            const uint place = first ? i : order->now[i], digit = (uint)(order->keys[place] >> shift) & mask;
            order->next[SLIDE_ADD_ONE(&counts[SLIDE_COUNT(digit * SLIDE_WAVES + wave)])] = (SLIDE_PLACE)place;
        }
    } else {
        for (uint i = 0; i < share; i += SLIDE_WAVE) {
            const bool has = from + i + lane < end;
            const uint place = has ? order->now[from + i + lane] : 0;
            const uint to = slide_turn(counts, room, has ? (uint)(order->keys[place] >> shift) & mask : UINT_MAX);
            if (has) {
                order->next[to] = (SLIDE_PLACE)place;
            }
        }
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    global SLIDE_PLACE *const now = order->now;
    order->now = order->next;
    order->next = now;
}

/* Sorts the places by key. */
LANES_INLINE void slide_sort(SlideOrder *order, WindowKey differ, local uint *room)
{
    const int lowest = differ == 0 ? 0 : (int)popcount((differ & (~differ + 1)) - 1);
    const int bits = differ == 0 ? 1 : WINDOW_BITS - (int)clz(differ) - lowest;
    const int passes = (bits + SLIDE_DIGIT - 1) / SLIDE_DIGIT, each = (bits + passes - 1) / passes;
    for (int bit = 0; bit < bits; bit += each) {
        slide_pass(order, lowest + bit, min(each, bits - bit), bit == 0, room);
    }
}
