/*
 * window_slide: one of the sorted pixels under a footprint that moves pixel by pixel.
 *
 * A group takes a tile of the image and all that windows around its pixels reach: the neighbourhood,
 * whose places are counted along x, then y, then z, also those beyond the image's edges.  Their keys
 * (window_keys.cl) are sorted once, so that each place has a rank of its own, whatever the type.  What is
 * under a window is then a set of ranks, a bit each.  A step of the window flips the bits of places that leave and
 * enter, found in lists of the footprint's edges (Huang, Yang and Tang, 1979), and counts those that are below the
 * word in which the last pixel's rank was: the next one's is a few words from there.  The cost of a pixel grows
 * with the edge, not with the area, and not with the bits of the type.
 *
 * All work-items of a group sort; then some of them, the walkers, have a strip of the tile's columns and
 * a set each, and go down and up the columns, so that each step is one to a neighbour.  Walkers side by side
 * read ranks side by side, and nobody waits for anybody; the ranks that they find become values at the end, by all
 * items.  On CPUs a group is one work-item.
 *
 * The host defines SLIDE_ITEMS (of a group), SLIDE_WALKERS, SLIDE_DIGIT (bits that a pass of sorting looks at, at
 * most), SLIDE_AHEAD (ends of runs whose ranks are asked for while those before them are flipped) and SLIDE_PLACE,
 * a type that holds places.
 */
#define SLIDE_KERNEL kernel __attribute__((reqd_work_group_size(SLIDE_ITEMS, 1, 1)))

/* Items that take side by side what they sort, and have counts of their own. */
#define SLIDE_WAVE (SLIDE_ITEMS < 32 ? SLIDE_ITEMS : 32)
#define SLIDE_WAVES (SLIDE_ITEMS / SLIDE_WAVE)

/* A group of one has nobody to wait for, and no use for atomics.  Others have: of an atomic exchange with a word of its
 * own a walker need not wait for the result.  Counts lie so that items far from each other meet
 * in few banks. */
#if SLIDE_ITEMS == 1
#define SLIDE_WAIT(fence)
#define SLIDE_ADD_ONE(count) ((*(count))++)
#define SLIDE_OR(bits, more) (*(bits) |= (more))
#define SLIDE_XOR(word, bit) (*(word) ^= (bit))
#define SLIDE_COUNT(i) (i)
#else
#define SLIDE_WAIT(fence) barrier(fence)
#define SLIDE_ADD_ONE(count) atomic_inc(count)
#define SLIDE_OR(bits, more) atomic_or(bits, more)
#define SLIDE_XOR(word, bit) atomic_xor(word, bit)
#define SLIDE_COUNT(i) ((i) + (i) / 32)
#endif

/* Pixels of the part that a tile has, and all that is under their windows. */
typedef struct SlideTile {
    int columns, rows, planes;
    int wide, high, deep;          /* the neighbourhood's extents */
    int reach_x, reach_y, reach_z; /* it begins so far before the tile */
} SlideTile;

/* What is sorted: the keys by place, and places in the order of their keys; `next`, of the same size, is for
 * the order to come, and then for the ranks by place. */
typedef struct SlideOrder {
    global uint *keys;
    global SLIDE_PLACE *now, *next;
    uint n;
} SlideOrder;

/* The ranks under a walker's window: a bit each; `below` of them are before word `at`. */
typedef struct SlideSet {
    local uint *words;
    global const SLIDE_PLACE *ranks;
    uint n_words, at, below;
} SlideSet;

/* Lists of places seen from the window's middle: the ends of the footprint's rows and of its columns.  They are filled
 * up to whole multiples of SLIDE_AHEAD with runs of no place, of which a step takes as much away as it adds. */
typedef struct SlideEdges {
    global const int *left, *right, *top, *bottom;
    int n_rows, n_columns;
} SlideEdges;

/* A step from centre to centre: lists of what leaves, seen from the one, and of what enters, from the other. */
typedef struct SlideMove {
    int from, to;
    global const int *leaving, *entering;
    int n;
} SlideMove;

/* ---- sorting ----------------------------------------------------------------------------- */

/* Reads the neighbourhood; the bits in which keys differ.  Rows that no window needs may be missing in the memory
 * of a part, and are taken as the last one that is there. */
LANES_INLINE uint slide_read(const SlideOrder *order, const SlideTile *tile, WindowPlace at,
                             global const WINDOW_PIXEL *volume, local uint *differ)
{
    const int item = (int)get_local_id(0), lane = item % SLIDE_WAVE;
    const int last_y = tile->rows + 2 * tile->reach_y - 1, last_z = tile->planes + 2 * tile->reach_z - 1;
    const uint one = window_key_at(window_row(volume, &at, (int4)(0, 0, 0, 0)), &at, at.x);
    uint own = 0;
    if (item == 0) {
        *differ = 0;
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    for (int row = item / SLIDE_WAVE; row < tile->high * tile->deep; row += SLIDE_WAVES) {
        const LanesSplit z = lanes_split((uint)row, (uint)tile->high);
        const int4 run = (int4)(0, 0, min((int)z.rest, last_y), min((int)z.over, last_z));
        global const WINDOW_PIXEL *const pixels = window_row(volume, &at, run);
        for (int x = lane; x < tile->wide; x += SLIDE_WAVE) {
            const uint key = window_key_at(pixels, &at, at.x + x);
            order->keys[row * tile->wide + x] = key;
            own |= key ^ one;
        }
    }
    SLIDE_OR(differ, own);
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    own = *differ;
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
        const uint digit = order->keys[first ? i : order->now[i]] >> shift & mask;
        SLIDE_ADD_ONE(&counts[SLIDE_COUNT(digit * SLIDE_WAVES + wave)]);
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE);
    slide_add_up(counts, n_counts, room);
    if (first || SLIDE_ITEMS == 1) {
        for (uint i = from + lane; i < end; i += SLIDE_WAVE) {
            const uint place = first ? i : order->now[i], digit = order->keys[place] >> shift & mask;
            order->next[SLIDE_ADD_ONE(&counts[SLIDE_COUNT(digit * SLIDE_WAVES + wave)])] = (SLIDE_PLACE)place;
        }
    } else {
        for (uint i = 0; i < share; i += SLIDE_WAVE) {
            const bool has = from + i + lane < end;
            const uint place = has ? order->now[from + i + lane] : 0;
            const uint to = slide_turn(counts, room, has ? order->keys[place] >> shift & mask : UINT_MAX);
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

/* Sorts the places by key; `next` are then the ranks by place. */
LANES_INLINE void slide_sort(SlideOrder *order, uint differ, local uint *room)
{
    const int lowest = differ == 0 ? 0 : (int)popcount((differ & -differ) - 1);
    const int bits = differ == 0 ? 1 : 32 - (int)clz(differ) - lowest;
    const int passes = (bits + SLIDE_DIGIT - 1) / SLIDE_DIGIT, each = (bits + passes - 1) / passes;
    for (int bit = 0; bit < bits; bit += each) {
        slide_pass(order, lowest + bit, min(each, bits - bit), bit == 0, room);
    }
    for (uint i = (uint)get_local_id(0); i < order->n; i += SLIDE_ITEMS) {
        order->next[order->now[i]] = (SLIDE_PLACE)i;
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* ---- sliding ----------------------------------------------------------------------------- */

LANES_INLINE void slide_flip(SlideSet *set, uint rank, uint change)
{
    SLIDE_XOR(&set->words[rank / 32 * SLIDE_WALKERS], (uint)1 << rank % 32);
    set->below += rank / 32 < set->at ? change : 0;
}

/* The set of what is under the window around `centre`. */
LANES_INLINE void slide_start(SlideSet *set, const SlideEdges *edges, int centre)
{
    for (uint i = 0; i < set->n_words; i++) {
        set->words[i * SLIDE_WALKERS] = 0;
    }
    set->at = set->below = 0;
    for (int i = 0; i < edges->n_rows; i++) {
        const int last = edges->right[i];
        for (int place = edges->left[i]; place <= last; place += 2 * SLIDE_AHEAD) {
            uint ranks[2 * SLIDE_AHEAD];
#pragma unroll
            for (int k = 0; k < 2 * SLIDE_AHEAD; k++) {
                ranks[k] = set->ranks[centre + min(place + k, last)];
            }
#pragma unroll
            for (int k = 0; k < 2 * SLIDE_AHEAD; k++) {
                if (place + k <= last) {
                    slide_flip(set, ranks[k], 1);
                }
            }
        }
    }
}

/* The ranks of the edges from number i on. */
LANES_INLINE void slide_fetch(uint *ranks, const SlideSet *set, const SlideMove *move, int i)
{
#pragma unroll
    for (int k = 0; k < SLIDE_AHEAD; k++) {
        ranks[2 * k] = set->ranks[move->from + move->leaving[i + k]];
        ranks[2 * k + 1] = set->ranks[move->to + move->entering[i + k]];
    }
}

/* The window moves; `ahead` are the first ranks. */
LANES_INLINE void slide_step(SlideSet *set, const SlideMove *move, uint *ahead)
{
    for (int i = 0; i < move->n; i += SLIDE_AHEAD) {
        uint ranks[2 * SLIDE_AHEAD];
#pragma unroll
        for (int k = 0; k < 2 * SLIDE_AHEAD; k++) {
            ranks[k] = ahead[k];
        }
        if (i + SLIDE_AHEAD < move->n) {
            slide_fetch(ahead, set, move, i + SLIDE_AHEAD);
        }
#pragma unroll
        for (int k = 0; k < 2 * SLIDE_AHEAD; k += 2) {
            slide_flip(set, ranks[k], UINT_MAX);
            slide_flip(set, ranks[k + 1], 1);
        }
    }
}

/* The n-th rank of the set, which has as many, counted from 0. */
LANES_INLINE uint slide_find(SlideSet *set, uint n)
{
    while (n < set->below) {
        set->below -= popcount(set->words[--set->at * SLIDE_WALKERS]);
    }
    uint word = set->words[set->at * SLIDE_WALKERS], bits = popcount(word);
    while (n - set->below >= bits) {
        set->below += bits;
        word = set->words[++set->at * SLIDE_WALKERS];
        bits = popcount(word);
    }
    for (uint i = set->below; i < n; i++) {
        word &= word - 1;
    }
    return set->at * 32 + popcount((word & -word) - 1);
}

/* ---- tiles ------------------------------------------------------------------------------- */

/* The ranks found for columns `first` to before `end` of plane z of the tile. */
LANES_INLINE void slide_strip(SlideSet *set, const SlideTile *tile, const SlideEdges *edges, int z, int first,
                              int end, uint rank, global SLIDE_PLACE *found)
{
    int x = first, y = 0, ahead = 1;
    int centre = ((z + tile->reach_z) * tile->high + tile->reach_y) * tile->wide + tile->reach_x + first;
    slide_start(set, edges, centre);
    while (x < end) {
        uint ranks[2 * SLIDE_AHEAD];
        const bool down = ahead > 0, turns = y == (down ? tile->rows - 1 : 0);
        const SlideMove along = {centre, centre + ahead * tile->wide, down ? edges->top : edges->bottom,
                                 down ? edges->bottom : edges->top, edges->n_columns};
        const SlideMove across = {centre, centre + 1, edges->left, edges->right, x + 1 < end ? edges->n_rows : 0};
        const SlideMove move = turns ? across : along;
        if (move.n > 0) {
            slide_fetch(ranks, set, &move, 0);
        }
        found[y * tile->columns + x] = (SLIDE_PLACE)slide_find(set, rank);
        slide_step(set, &move, ranks);
        centre = move.to;
        x += turns;
        y += turns ? 0 : ahead;
        ahead = turns ? -ahead : ahead;
    }
}

/* The values of the ranks found. */
LANES_INLINE void slide_write(const SlideTile *tile, const SlideOrder *order, global const SLIDE_PLACE *found,
                              global WINDOW_RESULT *out, size_t pitch)
{
    const uint columns = (uint)tile->columns, n = columns * (uint)tile->rows;
    for (uint i = (uint)get_local_id(0); i < n; i += SLIDE_ITEMS) {
        const LanesSplit y = lanes_split(i, columns);
        out[(size_t)y.over * pitch + (size_t)y.rest] = window_value(order->keys[order->now[found[i]]]);
    }
}

/*
 * scratch: the edges, and from word `at` on `words` words for each group.  Tiles of tile_w x tile_h x
 * tile_d pixels; `across`, `down` and `deep` of them in a channel.  Further parameters as of kernel window_rank.
 */
SLIDE_KERNEL void window_slide(int w, int h, int d, int in_pitch, int out_pitch, int image_h, int image_d,
                               int top, int front, int tall, long first,
                               global const WINDOW_PIXEL *image, uint rank, uint outside, int reach_x,
                               int reach_y, int reach_z, int tile_w, int tile_h, int tile_d,
                               int across, int down, int deep, uint tiles, global uint *scratch, int n_rows,
                               int n_columns, ulong at, ulong words, local uint *room,
                               global WINDOW_RESULT *out)
{
    const int wide = tile_w + 2 * reach_x, high = tile_h + 2 * reach_y, long_z = tile_d + 2 * reach_z;
    const int item = (int)get_local_id(0), strip = (tile_w + SLIDE_WALKERS - 1) / SLIDE_WALKERS;
    const uint n = (uint)(wide * high * long_z);
    const size_t pitch = (size_t)out_pitch;
    global const int *const lists = (global const int *)scratch;
    const SlideEdges edges = {lists, lists + n_rows, lists + 2 * n_rows, lists + 2 * n_rows + n_columns,
                              n_rows, n_columns};
    global uint *const keys = scratch + (at + get_group_id(0) * words);
    global SLIDE_PLACE *const orders = (global SLIDE_PLACE *)(keys + n);
    for (uint number = (uint)get_group_id(0); number < tiles; number += (uint)get_num_groups(0)) {
        const LanesSplit row = lanes_split(number, (uint)across), plane = lanes_split(row.over, (uint)down);
        const LanesSplit layer = lanes_split(plane.over, (uint)deep);
        const int x = (int)row.rest * tile_w, y = (int)plane.rest * tile_h, z = (int)layer.rest * tile_d;
        const SlideTile tile = {min(tile_w, w - x), min(tile_h, h - y), min(tile_d, d - z), wide, high,
                                long_z,             reach_x,            reach_y,            reach_z};
        const WindowPlace place = {w,  image_h, image_d, in_pitch, x - reach_x, y + top - reach_y,
                                   z + front - reach_z,  tall,     outside};
        SlideOrder order = {keys, orders, orders + n, n};
        slide_sort(&order,
                   slide_read(&order, &tile, place,
                              image + (first + (long)layer.over * image_d * tall * in_pitch), room),
                   room);
        SlideSet set = {room + item, order.next, (n + 31) / 32, 0, 0};
        const int from = item * strip, end = item < SLIDE_WALKERS ? min(from + strip, tile.columns) : 0;
        global SLIDE_PLACE *const found = orders + 2 * n;
        for (int k = 0; k < tile.planes; k++) {
            const size_t plane_at = (size_t)layer.over * (size_t)d + (size_t)(z + k);
            if (from < end) {
                slide_strip(&set, &tile, &edges, k, from, end, rank, found);
            }
            SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            slide_write(&tile, &order, found, out + (plane_at * (size_t)h + (size_t)y) * pitch + (size_t)x, pitch);
            SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
    }
}
