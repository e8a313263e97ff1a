/*
 * window_slide: one of the sorted pixels under a footprint that moves pixel by pixel, on CPUs: a group is one
 * work-item.
 *
 * A group takes a tile of the image and all that windows around its pixels reach: the neighbourhood,
 * whose places are counted along y, then x, then z, also those beyond the image's edges.  Their keys
 * (window_keys.cl) are sorted once, so that each place has a rank of its own, whatever the type.  What is
 * under a window is then a set of ranks, a bit each, counted in blocks of 1024 bits.  A step of the window
 * flips the bits of places that leave and enter, found in lists of the edges (Huang, Yang and Tang, 1979), and
 * the rank's pixel is the n-th bit that is set: the cost of a pixel grows with the edge, not with the area, and
 * not with the bits of the type.  The window goes through a tile's rows to and fro, so that each step is one to a
 * neighbour.
 *
 * The host defines SLIDE_PLACE, a type that holds places.
 */
#define SLIDE_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1)))
#define SLIDE_WORDS 32   /* of a block */
#define SLIDE_DIGITS 256 /* a pass of sorting looks at a byte */

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

/* The ranks under the window: a bit each, and how many there are in each block. */
typedef struct SlideSet {
    local uint *words, *blocks;
    global const SLIDE_PLACE *ranks;
    uint n_blocks;
} SlideSet;

/* Lists of places seen from the window's middle: the ends of the footprint's rows and of its columns. */
typedef struct SlideEdges {
    global const int *left, *right, *top, *bottom;
    int n_rows, n_columns;
} SlideEdges;

/* ---- sorting ----------------------------------------------------------------------------- */

/* Reads the neighbourhood; the bits in which keys differ.  Rows that no window needs may be missing in the memory
 * of a part, and are taken as the last one that is there. */
LANES_INLINE uint slide_read(const SlideOrder *order, const SlideTile *tile, WindowPlace at,
                             global const WINDOW_PIXEL *volume)
{
    const int last_y = tile->rows + 2 * tile->reach_y - 1, last_z = tile->planes + 2 * tile->reach_z - 1;
    uint some = 0, all = UINT_MAX;
    for (int row = 0; row < tile->high * tile->deep; row++) {
        const LanesSplit z = lanes_split((uint)row, (uint)tile->high);
        const int4 run = (int4)(0, 0, min((int)z.rest, last_y), min((int)z.over, last_z));
        global const WINDOW_PIXEL *const pixels = window_row(volume, &at, run);
        uint place = z.over * (uint)(tile->wide * tile->high) + z.rest;
        for (int x = 0; x < tile->wide; x++, place += (uint)tile->high) {
            const uint key = window_key_at(pixels, &at, at.x + x);
            order->keys[place] = key;
            order->now[place] = (SLIDE_PLACE)place;
            some |= key;
            all &= key;
        }
    }
    return some ^ all;
}

/* Sorts by one digit more, and keeps the order of those that have the same. */
LANES_INLINE void slide_pass(SlideOrder *order, int shift, local uint *counts)
{
    for (uint i = 0; i < SLIDE_DIGITS; i++) {
        counts[i] = 0;
    }
    for (uint i = 0; i < order->n; i++) {
        counts[order->keys[i] >> shift & (SLIDE_DIGITS - 1)]++;
    }
    uint before = 0;
    for (uint i = 0; i < SLIDE_DIGITS; i++) {
        const uint count = counts[i];
        counts[i] = before;
        before += count;
    }
    for (uint i = 0; i < order->n; i++) {
        const SLIDE_PLACE place = order->now[i];
        order->next[counts[order->keys[place] >> shift & (SLIDE_DIGITS - 1)]++] = place;
    }
    global SLIDE_PLACE *const now = order->now;
    order->now = order->next;
    order->next = now;
}

/* Sorts the places by key, and by place; `next` are then the ranks by place. */
LANES_INLINE void slide_sort(SlideOrder *order, uint differ, local uint *counts)
{
    for (int shift = 0; shift < 32; shift += 8) {
        if ((differ >> shift & (SLIDE_DIGITS - 1)) != 0) {
            slide_pass(order, shift, counts);
        }
    }
    for (uint i = 0; i < order->n; i++) {
        order->next[order->now[i]] = (SLIDE_PLACE)i;
    }
}

/* ---- sliding ----------------------------------------------------------------------------- */

LANES_INLINE void slide_flip(const SlideSet *set, int place, uint change)
{
    const uint rank = set->ranks[place];
    set->words[rank / 32] ^= 1u << rank % 32;
    set->blocks[rank / (32 * SLIDE_WORDS)] += change;
}

/* The set of what is under the window around `centre`. */
LANES_INLINE void slide_start(const SlideSet *set, const SlideEdges *edges, int centre)
{
    for (uint i = 0; i < set->n_blocks * SLIDE_WORDS; i++) {
        set->words[i] = 0;
    }
    for (uint i = 0; i < set->n_blocks; i++) {
        set->blocks[i] = 0;
    }
    for (int i = 0; i < edges->n_columns; i++) {
        for (int place = edges->top[i]; place <= edges->bottom[i]; place++) {
            slide_flip(set, centre + place, 1);
        }
    }
}

/* The window moves from `from` to `to`: what leaves, what enters. */
LANES_INLINE void slide_step(const SlideSet *set, int from, global const int *leaving, int to,
                             global const int *entering, int n)
{
    for (int i = 0; i < n; i++) {
        slide_flip(set, from + leaving[i], UINT_MAX);
        slide_flip(set, to + entering[i], 1);
    }
}

/* The n-th rank of the set, which has as many, counted from 0. */
LANES_INLINE uint slide_find(const SlideSet *set, uint n)
{
    uint block = 0;
    while (n >= set->blocks[block]) {
        n -= set->blocks[block++];
    }
    uint at = block * SLIDE_WORDS, word = set->words[at], bits = popcount(word);
    while (n >= bits) {
        n -= bits;
        word = set->words[++at];
        bits = popcount(word);
    }
    for (; n > 0; n--) {
        word &= word - 1;
    }
    return at * 32 + popcount((word & -word) - 1);
}

/* ---- tiles ------------------------------------------------------------------------------- */

/* All windows around the pixels of plane z of the tile. */
LANES_INLINE void slide_plane(const SlideSet *set, const SlideTile *tile, const SlideOrder *order,
                              const SlideEdges *edges, int z, uint rank, global WINDOW_RESULT *out,
                              size_t pitch)
{
    int x = 0, ahead = 1;
    int centre = ((z + tile->reach_z) * tile->wide + tile->reach_x) * tile->high + tile->reach_y;
    slide_start(set, edges, centre);
    for (int y = 0; y < tile->rows; y++) {
        global WINDOW_RESULT *const row = out + (size_t)y * pitch;
        for (int i = 0; i < tile->columns; i++) {
            row[x] = window_value(order->keys[order->now[slide_find(set, rank)]]);
            if (i + 1 < tile->columns) {
                const int next = centre + ahead * tile->high;
                slide_step(set, centre, ahead > 0 ? edges->left : edges->right, next,
                           ahead > 0 ? edges->right : edges->left, edges->n_rows);
                centre = next;
                x += ahead;
            }
        }
        ahead = -ahead;
        if (y + 1 < tile->rows) {
            slide_step(set, centre, edges->top, centre + 1, edges->bottom, edges->n_columns);
            centre++;
        }
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
    const uint n = (uint)(wide * high * long_z), n_blocks = (n + 1023) / 1024;
    const size_t pitch = (size_t)out_pitch, area = (size_t)h * pitch;
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
                   slide_read(&order, &tile, place, image + (first + (long)layer.over * image_d * tall * in_pitch)),
                   room);
        const SlideSet set = {room, room + n_blocks * SLIDE_WORDS, order.next, n_blocks};
        for (int k = 0; k < tile.planes; k++) {
            slide_plane(&set, &tile, &order, &edges, k, rank,
                        out + (((size_t)layer.over * (size_t)d + (size_t)(z + k)) * area + (size_t)y * pitch + (size_t)x),
                        pitch);
        }
    }
}
