/*
 * window_slide: one of the sorted pixels under a footprint that moves pixel by pixel, or the value that most of them
 * have.
 *
 * A group sorts a tile of the image and all that windows around its pixels reach once (window_sort.cl), so that
 * each place has a number, whatever the type.  What is under a window is then a set of numbers (window_bits.cl,
 * window_counts.cl).  A step of the window flips places that leave and enter, found in lists of the footprint's edges
 * (Huang, Yang and Tang, 1979).  The cost of a pixel grows with the edge, not with the area, and not with the bits
 * of the type.
 *
 * All work-items of a group sort; then some of them, the walkers, have a strip of the tile's columns and
 * a set each, and go down and up the columns, so that each step is one to a neighbour.  Walkers side by side
 * read numbers side by side, and nobody waits for anybody; the numbers that they find become values at the end, by all
 * items.
 *
 * The host defines SLIDE_WALKERS (the most of a group) and SLIDE_AHEAD (ends of runs whose numbers are asked for while those before them
 * are flipped).
 */
#define SLIDE_KERNEL kernel __attribute__((reqd_work_group_size(SLIDE_ITEMS, 1, 1)))

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

/* ---- sliding ----------------------------------------------------------------------------- */

/* The set of what is under the window around `centre`. */
LANES_INLINE void slide_start(SlideSet *set, const SlideEdges *edges, int centre)
{
    slide_clear(set);
    for (int i = 0; i < edges->n_rows; i++) {
        const int last = edges->right[i];
        for (int place = edges->left[i]; place <= last; place += 2 * SLIDE_AHEAD) {
            uint numbers[2 * SLIDE_AHEAD];
#pragma unroll
            for (int k = 0; k < 2 * SLIDE_AHEAD; k++) {
                numbers[k] = set->numbers[centre + min(place + k, last)];
            }
#pragma unroll
            for (int k = 0; k < 2 * SLIDE_AHEAD; k++) {
                if (place + k <= last) {
                    slide_flip(set, numbers[k], 1);
                }
            }
        }
    }
}

/* The numbers of the edges from number i on. */
LANES_INLINE void slide_fetch(uint *numbers, const SlideSet *set, const SlideMove *move, int i)
{
#pragma unroll
    for (int k = 0; k < SLIDE_AHEAD; k++) {
        numbers[2 * k] = set->numbers[move->from + move->leaving[i + k]];
        numbers[2 * k + 1] = set->numbers[move->to + move->entering[i + k]];
    }
}

/* The window moves; `ahead` are the first numbers. */
LANES_INLINE void slide_step(SlideSet *set, const SlideMove *move, uint *ahead)
{
    for (int i = 0; i < move->n; i += SLIDE_AHEAD) {
        uint numbers[2 * SLIDE_AHEAD];
#pragma unroll
        for (int k = 0; k < 2 * SLIDE_AHEAD; k++) {
            numbers[k] = ahead[k];
        }
        if (i + SLIDE_AHEAD < move->n) {
            slide_fetch(ahead, set, move, i + SLIDE_AHEAD);
        }
#pragma unroll
        for (int k = 0; k < 2 * SLIDE_AHEAD; k += 2) {
            slide_flip(set, numbers[k], UINT_MAX);
            slide_flip(set, numbers[k + 1], 1);
        }
    }
}

/* ---- tiles ------------------------------------------------------------------------------- */

/* The numbers found for columns `first` to before `end` of plane z of the tile. */
LANES_INLINE void slide_strip(SlideSet *set, const SlideTile *tile, const SlideEdges *edges, int z, int first,
                              int end, uint rank, global SLIDE_PLACE *found)
{
    int x = first, y = 0, ahead = 1;
    int centre = ((z + tile->reach_z) * tile->high + tile->reach_y) * tile->wide + tile->reach_x + first;
    slide_start(set, edges, centre);
    while (x < end) {
        uint numbers[2 * SLIDE_AHEAD];
        const bool down = ahead > 0, turns = y == (down ? tile->rows - 1 : 0);
        const SlideMove along = {centre, centre + ahead * tile->wide, down ? edges->top : edges->bottom,
                                 down ? edges->bottom : edges->top, edges->n_columns};
        const SlideMove across = {centre, centre + 1, edges->left, edges->right, x + 1 < end ? edges->n_rows : 0};
        const SlideMove move = turns ? across : along;
        if (move.n > 0) {
            slide_fetch(numbers, set, &move, 0);
        }
        found[y * tile->columns + x] = (SLIDE_PLACE)slide_find(set, rank);
        slide_step(set, &move, numbers);
        centre = move.to;
        x += turns;
        y += turns ? 0 : ahead;
        ahead = turns ? -ahead : ahead;
    }
}

/* The values of the numbers found. */
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
                               global const WINDOW_PIXEL *image, uint rank, ulong outside, int reach_x,
                               int reach_y, int reach_z, int tile_w, int tile_h, int tile_d,
                               int across, int down, int deep, uint tiles, global uint *scratch, int n_rows,
                               int n_columns, ulong at, ulong words, local uint *room,
                               uint room_words,
                               global WINDOW_RESULT *out)
{
    const int wide = tile_w + 2 * reach_x, high = tile_h + 2 * reach_y, long_z = tile_d + 2 * reach_z;
    const int item = (int)get_local_id(0);
    const uint n = (uint)(wide * high * long_z);
    const size_t pitch = (size_t)out_pitch;
    global const int *const lists = (global const int *)scratch;
    const SlideEdges edges = {lists, lists + n_rows, lists + 2 * n_rows, lists + 2 * n_rows + n_columns,
                              n_rows, n_columns};
    global WindowKey *const keys = (global WindowKey *)(scratch + (at + get_group_id(0) * words));
    global SLIDE_PLACE *const orders = (global SLIDE_PLACE *)(keys + n), *const found = orders + SLIDE_ORDERS * n;
    for (uint number = (uint)get_group_id(0); number < tiles; number += (uint)get_num_groups(0)) {
        const LanesSplit row = lanes_split(number, (uint)across), plane = lanes_split(row.over, (uint)down);
        const LanesSplit layer = lanes_split(plane.over, (uint)deep);
        const int x = (int)row.rest * tile_w, y = (int)plane.rest * tile_h, z = (int)layer.rest * tile_d;
        const SlideTile tile = {min(tile_w, w - x), min(tile_h, h - y), min(tile_d, d - z), wide, high,
                                long_z,             reach_x,            reach_y,            reach_z};
        const WindowPlace place = {w,  image_h, image_d, in_pitch, x - reach_x, y + top - reach_y,
                                   z + front - reach_z,  tall,     (WindowKey)outside};
        SlideOrder order = {keys, orders, orders + n, orders + 2 * n, n};
        slide_sort(&order,
                   slide_read(&order, &tile, place,
                              image + (first + (long)layer.over * image_d * tall * in_pitch), room),
                   room);
        SlideSet set = slide_number(&order, room, room_words);
        const int walkers = (int)set.walkers, strip = (tile_w + walkers - 1) / walkers;
        const int from = item * strip, end = item < walkers ? min(from + strip, tile.columns) : 0;
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
