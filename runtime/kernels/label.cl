/*
 * label: connected components of a mask that is computed on the fly.
 *
 * The mask is packed into words of 32 pixels of a row.  The nodes of a union-find forest are the runs
 * of set pixels inside a word.  A node's number is made of its plane, row, word and run (4 bits: a
 * word has at most 16), so numbers follow raster order; the smaller root always wins, so the root of
 * an object is the run of its first pixel, and counting roots in order numbers the objects in raster
 * order, whatever the scheduling was.
 *
 *   label_tiles  packs the mask and solves tiles on their own, in local memory on GPUs; each run then
 *                points to the first run of its object in the tile
 *   label_seams  unites over the borders of tiles
 *   label_rank   points every tile's roots to the root of the whole object; counts those
 *   scan_sums    adds the counts up
 *   label_write  writes the numbers
 *
 * Parents live in the label image: those of a tile's runs in the tile's own pixels, so that
 * label_write can read what it needs of them before it writes there.  Scratch holds two words for each
 * word of mask: the mask itself, and a bit for each run that is a root (below) with the number of
 * roots before it in its block (above).
 *
 * Two runs in neighbouring rows need to be united once, which is where the later one of them begins;
 * links that others already imply are left out (label_links).
 *
 * The host defines LABEL_CPU, LABEL_BALLOT, LABEL_WIDE (nodes of 64 bits), LABEL_CONNECTIVITY, LABEL_3D and
 * LABEL_TILE_X (words), LABEL_TILE_Y, LABEL_TILE_Z.  Names that meet a reader's begin with own_ or label_.
 */
#pragma OPENCL FP_CONTRACT OFF

#define LABEL_INLINE static inline __attribute__((always_inline))
#define LABEL_RUNS 16                            /* most runs in a word */
#define LABEL_TILE_WORDS (LABEL_TILE_X * LABEL_TILE_Y * LABEL_TILE_Z)   /* in a tile; on GPUs the work-items of a group */
#define LABEL_BLOCK 1024                         /* words that share a sum */
#if LABEL_CPU
#define LABEL_GROUP 1
#define LABEL_COUNTERS 1
#else
#define LABEL_GROUP LABEL_TILE_WORDS
#define LABEL_COUNTERS 256
#endif
#define LABEL_KERNEL kernel __attribute__((reqd_work_group_size(LABEL_GROUP, 1, 1)))

#if LABEL_WIDE
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
typedef ulong LabelNode;
#define label_exchange atom_cmpxchg
#else
typedef uint LabelNode;
#define label_exchange atomic_cmpxchg
#endif

typedef struct LabelShape {
    int w, h, d, planes; /* d: planes of a channel */
    int pitch;
    int words;           /* in a row */
    int bits_x, bits_y;  /* of a node's number, for word and row */
} LabelShape;

#define LABEL_PARAMS                                                                               \
    int own_w, int own_h, int own_d, int own_planes, int own_pitch, int own_bits_x, int own_bits_y
#define LABEL_SHAPE                                                                                \
    {                                                                                              \
        own_w, own_h, own_d, own_planes, own_pitch, (own_w + 31) / 32, own_bits_x, own_bits_y      \
    }

/* ---- words, runs and nodes ------------------------------------------------------------------ */

LABEL_INLINE uint label_starts(uint word)
{
    return word & ~(word << 1);
}

LABEL_INLINE uint label_last_run(uint word)
{
    return (uint)popcount(label_starts(word)) - 1;
}

/* Which run `bit` (one bit) lies in, or directly behind. */
LABEL_INLINE uint label_run_at(uint starts, uint bit)
{
    return (uint)popcount(starts & (bit | (bit - 1))) - 1;
}

typedef struct LabelSpot {
    int plane, y, word;
} LabelSpot;

LABEL_INLINE LabelNode label_node(LabelShape s, LabelSpot at, uint run)
{
    const LabelNode row = (LabelNode)at.plane << s.bits_y | (LabelNode)at.y;
    return (row << s.bits_x | (LabelNode)at.word) << 4 | run;
}

LABEL_INLINE LabelSpot label_spot(LabelShape s, LabelNode node)
{
    LabelSpot at;
    at.word = (int)(node >> 4 & (((LabelNode)1 << s.bits_x) - 1));
    at.y = (int)(node >> (4 + s.bits_x) & (((LabelNode)1 << s.bits_y) - 1));
    at.plane = (int)(node >> (4 + s.bits_x + s.bits_y));
    return at;
}

/* Index of a word in scratch; 32 bits are enough for 2^37 pixels. */
LABEL_INLINE uint label_index(LabelShape s, LabelSpot at)
{
    return ((uint)at.plane * (uint)s.h + (uint)at.y) * (uint)s.words + (uint)at.word;
}

LABEL_INLINE uint label_count_words(LabelShape s)
{
    return (uint)s.planes * (uint)s.h * (uint)s.words;
}

/* Parts of scratch. */
LABEL_INLINE global uint *label_roots(LabelShape s, global uint *scratch)
{
    return scratch + label_count_words(s);
}

LABEL_INLINE global uint *label_sums(LabelShape s, global uint *scratch)
{
    return scratch + 2 * (size_t)label_count_words(s);
}

/* What run 0 of a word has as its place among the parents, and how far apart the places of its runs
 * are.  First runs of a tile's words lie side by side, then second runs and so on. */
LABEL_INLINE size_t label_place(LabelShape s, LabelSpot at, uint *apart)
{
    const size_t row = ((size_t)at.plane * (size_t)s.h + (size_t)at.y) * (size_t)s.pitch;
#if LABEL_WIDE
    *apart = 1;
    return row / 2 + (size_t)at.word * LABEL_RUNS;
#else
    const int first = at.word & ~(LABEL_TILE_X - 1);
    *apart = (uint)min(LABEL_TILE_X, s.words - first);
    return row + (size_t)(first * 32 + (at.word - first));
#endif
}

LABEL_INLINE size_t label_place_of(LabelShape s, LabelNode node)
{
    uint apart;
    const size_t place = label_place(s, label_spot(s, node), &apart);
    return place + (uint)(node & (LABEL_RUNS - 1)) * apart;
}

/* ---- which runs are neighbours --------------------------------------------------------------- */

/* A word of a row with its neighbours to both sides. */
typedef struct LabelRow {
    uint before, word, after;
} LabelRow;

typedef struct LabelLinks {
    uint inside; /* a bit for each pair of neighbouring runs: where the later one begins (or, diagonally,
                    directly behind the end of the earlier one) */
    bool before; /* the first run of the row's word and the last of the other row's word before */
    bool after;  /* the last run and the first of the other row's word after */
} LabelLinks;

/*
 * What links a word to an earlier row, reaching `reach` (0 or 1) columns further.  `part`: the pixels
 * of the word whose links matter.  The diagonal links over the ends of the word are left out where a
 * pixel beside is set that both are linked to.
 */
LABEL_INLINE LabelLinks label_links(LabelRow row, uint part, LabelRow other, int reach)
{
    const uint starts = label_starts(part), other_starts = label_starts(other.word);
    LabelLinks links;
    if (reach == 0) {
        links.inside = (starts | other_starts) & part & other.word;
        links.before = links.after = false;
    } else {
        links.inside = (starts & (other.word | other.word << 1)) |
                       (other_starts & (part | part << 1));
        links.before = (part & other.before >> 31 & 1) != 0 && (other.word & 1) == 0 &&
                       row.before >> 31 == 0;
        links.after = (part >> 31 & other.after) != 0 && other.word >> 31 == 0 &&
                      (row.after & 1) == 0;
    }
    return links;
}

/* The rows before a row that can hold neighbours: y - 1; then in plane z - 1: y, y - 1, y + 1. */
#if !LABEL_3D
#define LABEL_BACK 1
#elif LABEL_CONNECTIVITY == 1
#define LABEL_BACK 2
#else
#define LABEL_BACK 4
#endif

LABEL_INLINE int label_back_y(int back)
{
    return back == 1 ? 0 : back == 3 ? 1 : -1;
}

LABEL_INLINE int label_back_z(int back)
{
    return back == 0 ? 0 : -1;
}

LABEL_INLINE int label_reach(int back)
{
    return LABEL_CONNECTIVITY == 1 || (LABEL_CONNECTIVITY == 2 && back >= 2) ? 0 : 1;
}

/* The pixels whose links to row `back` matter.  A pixel that is set in plane z - 1, too, is linked
 * to the rows beside through it, one that is set in row y - 1 to row y - 1 of plane z - 1. */
LABEL_INLINE uint label_part(int back, uint word, uint up, uint below)
{
    return back < 2 ? word : back == 2 ? word & ~below & ~up : word & ~below;
}

/* True when a word's first run needs to be united with the last one of the word before: not where
 * both have pixels above, which then are united and linked to them. */
LABEL_INLINE bool label_joined(uint before, uint word, uint up_before, uint up)
{
    return (word & before >> 31 & 1) != 0 && (up & up_before >> 31 & 1) == 0;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

typedef struct LabelTile {
    LabelSpot first;
    int across, down, deep; /* words, rows and planes that lie in the image */
} LabelTile;

LABEL_INLINE LabelTile label_tile(LabelShape s)
{
    const uint tiles_x = ((uint)s.words + LABEL_TILE_X - 1) / LABEL_TILE_X;
    const uint tiles_y = ((uint)s.h + LABEL_TILE_Y - 1) / LABEL_TILE_Y;
    const uint tiles_z = ((uint)s.d + LABEL_TILE_Z - 1) / LABEL_TILE_Z;
    const uint number = (uint)get_group_id(0);
    const uint row = number / tiles_x, layer = row / tiles_y;
    const int z = (int)(layer % tiles_z) * LABEL_TILE_Z;
    LabelTile tile;
    tile.first.word = (int)(number - row * tiles_x) * LABEL_TILE_X;
    tile.first.y = (int)(row - layer * tiles_y) * LABEL_TILE_Y;
    tile.first.plane = (int)(layer / tiles_z) * s.d + z;
    tile.across = min(LABEL_TILE_X, s.words - tile.first.word);
    tile.down = min(LABEL_TILE_Y, s.h - tile.first.y);
    tile.deep = min(LABEL_TILE_Z, s.d - z);
    return tile;
}

/* Where word `number` of a tile lies, counted along x, y, z. */
LABEL_INLINE LabelSpot label_in_tile(LabelTile tile, int number)
{
    LabelSpot at = tile.first;
    at.word += number % LABEL_TILE_X;
    at.y += number / LABEL_TILE_X % LABEL_TILE_Y;
    at.plane += number / (LABEL_TILE_X * LABEL_TILE_Y);
    return at;
}

LABEL_INLINE bool label_in_image(LabelTile tile, LabelSpot at)
{
    return at.word - tile.first.word < tile.across && at.y - tile.first.y < tile.down &&
           at.plane - tile.first.plane < tile.deep;
}

LABEL_INLINE bool label_is_inside(LabelTile tile, LabelSpot at)
{
    return (uint)(at.word - tile.first.word) < LABEL_TILE_X && (uint)(at.y - tile.first.y) < LABEL_TILE_Y &&
           (uint)(at.plane - tile.first.plane) < LABEL_TILE_Z;
}

#if LABEL_CPU

/* ---- label_tiles for CPUs: a work-item solves a tile from its first row to the last ------------ */

LABEL_INLINE uint label_pack(READ_PARAMS, LabelShape own_shape, LabelSpot own_at)
{
    const int own_x = own_at.word * 32, own_n = min(32, own_shape.w - own_x);
    uint own_word = 0;
    for (int own_i = 0; own_i < own_n; own_i++) {
        const bool own_set = read_0(READ_ARGS, own_x + own_i, own_at.y, own_at.plane);
        own_word |= (uint)own_set << own_i;
    }
    return own_word;
}

LABEL_INLINE LabelNode label_find_alone(LabelShape s, global LabelNode *parents, LabelNode node)
{
    for (;;) {
        const size_t place = label_place_of(s, node);
        const LabelNode up = parents[place];
        if (up == node) {
            return node;
        }
        const LabelNode above = parents[label_place_of(s, up)];
        parents[place] = above;
        node = above;
    }
}

LABEL_INLINE void label_unite_alone(LabelShape s, global LabelNode *parents, LabelNode a,
                                    LabelNode b)
{
    a = label_find_alone(s, parents, a);
    b = label_find_alone(s, parents, b);
    parents[label_place_of(s, max(a, b))] = min(a, b);
}

/* A word of the same tile; 0 outside. */
LABEL_INLINE uint label_get(LabelShape s, LabelTile tile, LabelSpot at, global const uint *mask)
{
    return label_is_inside(tile, at) && label_in_image(tile, at) ? mask[label_index(s, at)] : 0;
}

LABEL_INLINE LabelRow label_get_row(LabelShape s, LabelTile tile, LabelSpot at,
                                    global const uint *mask)
{
    LabelRow row;
    row.word = label_get(s, tile, at, mask);
    at.word--;
    row.before = label_get(s, tile, at, mask);
    at.word += 2;
    row.after = label_get(s, tile, at, mask);
    return row;
}

LABEL_INLINE void label_unite_back(LabelShape s, LabelSpot at, LabelSpot other, LabelRow row,
                                   LabelRow there, LabelLinks links, global LabelNode *parents)
{
    for (uint left = links.inside; left != 0; left &= left - 1) {
        const uint bit = left & -left;
        label_unite_alone(s, parents, label_node(s, at, label_run_at(label_starts(row.word), bit)),
                          label_node(s, other, label_run_at(label_starts(there.word), bit)));
    }
    if (links.before) {
        other.word--;
        label_unite_alone(s, parents, label_node(s, at, 0),
                          label_node(s, other, label_last_run(there.before)));
        other.word++;
    }
    if (links.after) {
        other.word++;
        label_unite_alone(s, parents, label_node(s, at, label_last_run(row.word)),
                          label_node(s, other, 0));
    }
}

/* Makes the runs of a word whose own and earlier words are packed nodes, and unites them. */
LABEL_INLINE void label_add_word(LabelShape s, LabelTile tile, LabelSpot at,
                                 global const uint *mask, global LabelNode *parents)
{
    const LabelRow row = label_get_row(s, tile, at, mask);
    const uint runs = (uint)popcount(label_starts(row.word));
    uint apart;
    const size_t place = label_place(s, at, &apart);
    for (uint run = 0; run < runs; run++) {
        parents[place + run * apart] = label_node(s, at, run);
    }
    uint up = 0, below = 0;
    for (int back = 0; back < LABEL_BACK && row.word != 0; back++) {
        LabelSpot other = at;
        other.y += label_back_y(back);
        other.plane += label_back_z(back);
        const LabelRow there = label_get_row(s, tile, other, mask);
        if (back == 0) {
            up = there.word;
            if (label_joined(row.before, row.word, there.before, up)) {
                LabelSpot left = at;
                left.word--;
                label_unite_alone(s, parents, label_node(s, at, 0),
                                  label_node(s, left, label_last_run(row.before)));
            }
        } else if (back == 1) {
            below = there.word;
        }
        const uint part = label_part(back, row.word, up, below);
        label_unite_back(s, at, other, row, there, label_links(row, part, there, label_reach(back)),
                         parents);
    }
}

/* Points the runs of a word to their roots; earlier words have been done. */
LABEL_INLINE uint label_flatten_word(LabelShape s, LabelSpot at, uint word,
                                     global LabelNode *parents)
{
    const uint runs = (uint)popcount(label_starts(word));
    uint apart, roots = 0;
    const size_t place = label_place(s, at, &apart);
    for (uint run = 0; run < runs; run++) {
        const LabelNode node = label_node(s, at, run), up = parents[place + run * apart];
        parents[place + run * apart] = parents[label_place_of(s, up)];
        roots |= (uint)(up == node) << run;
    }
    return roots;
}

LABEL_KERNEL void label_tiles(READ_PARAMS, LABEL_PARAMS, global uint *own_scratch,
                              global LabelNode *own_parents)
{
    const LabelShape own_shape = LABEL_SHAPE;
    const LabelTile own_tile = label_tile(own_shape);
    for (int own_i = 0; own_i < LABEL_TILE_WORDS; own_i++) {
        const LabelSpot own_at = label_in_tile(own_tile, own_i);
        if (label_in_image(own_tile, own_at)) {
            own_scratch[label_index(own_shape, own_at)] =
                label_pack(READ_ARGS, own_shape, own_at);
        }
    }
    for (int own_i = 0; own_i < LABEL_TILE_WORDS; own_i++) {
        const LabelSpot own_at = label_in_tile(own_tile, own_i);
        if (label_in_image(own_tile, own_at)) {
            label_add_word(own_shape, own_tile, own_at, own_scratch, own_parents);
        }
    }
    for (int own_i = 0; own_i < LABEL_TILE_WORDS; own_i++) {
        const LabelSpot own_at = label_in_tile(own_tile, own_i);
        if (label_in_image(own_tile, own_at)) {
            const uint own_index = label_index(own_shape, own_at);
            label_roots(own_shape, own_scratch)[own_index] =
                label_flatten_word(own_shape, own_at, own_scratch[own_index], own_parents);
        }
    }
}

#else

/* ---- label_tiles for GPUs: a work-item has a word of the tile, a group solves it --------------- */

LABEL_INLINE bool label_pixel(READ_PARAMS, LabelShape own_shape, LabelTile own_tile, int own_number,
                              int own_bit)
{
    const LabelSpot own_at = label_in_tile(own_tile, own_number);
    const int own_x = own_at.word * 32 + own_bit;
    const int own_last = own_tile.first.plane + own_tile.deep - 1;
    const bool own_set = read_0(READ_ARGS, min(own_x, own_shape.w - 1),
                                min(own_at.y, own_shape.h - 1), min(own_at.plane, own_last));
    return own_set && own_x < own_shape.w && own_at.y < own_shape.h && own_at.plane <= own_last;
}

#if LABEL_BALLOT

/* A bit from each of the 32 work-items of a warp. */
LABEL_INLINE uint label_ballot(bool set)
{
    uint bits;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; "
                     "vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                     : "=r"(bits)
                     : "r"((uint)set));
    return bits;
}

#define LABEL_PACK_LOCAL 1

/* The work-item's word: each warp packs its 32 words one after the other, a pixel a work-item. */
LABEL_INLINE uint label_pack(READ_PARAMS, LabelShape own_shape, LabelTile own_tile,
                             local uchar *own_flags)
{
    const int own_item = (int)get_local_id(0), own_lane = own_item & 31;
    uint own_word = 0;
#pragma unroll 8
    for (int own_i = 0; own_i < 32; own_i++) {
        const uint own_packed = label_ballot(label_pixel(
            READ_ARGS, own_shape, own_tile, (own_item & ~31) + own_i, own_lane));
        own_word = own_i == own_lane ? own_packed : own_word;
    }
    return own_word;
}

#else

#define LABEL_PACK_LOCAL (LABEL_TILE_WORDS * 32)

/* The same without warps: neighbouring work-items compute neighbouring pixels into local memory. */
LABEL_INLINE uint label_pack(READ_PARAMS, LabelShape own_shape, LabelTile own_tile,
                             local uchar *own_flags)
{
    const int own_item = (int)get_local_id(0);
#pragma unroll 8
    for (int own_i = 0; own_i < 32; own_i++) {
        const int own_at = own_i * LABEL_TILE_WORDS + own_item;
        own_flags[own_at] =
            label_pixel(READ_ARGS, own_shape, own_tile, own_at / 32, own_at % 32);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_word = 0;
    for (int own_i = 0; own_i < 32; own_i++) {
        own_word |= (uint)own_flags[own_item * 32 + own_i] << own_i;
    }
    return own_word;
}

#endif

/* Nodes of a tile are numbered word * 16 + run; all first runs lie together, to spread over banks. */
LABEL_INLINE uint label_local(uint node)
{
    return (node & (LABEL_RUNS - 1)) * LABEL_TILE_WORDS + node / LABEL_RUNS;
}

LABEL_INLINE uint label_find_local(volatile local uint *parents, uint node)
{
    for (;;) {
        const uint up = parents[label_local(node)];
        if (up == node) {
            return node;
        }
        node = up;
    }
}

/* Only roots get a new parent, a smaller one; who finds that a root is none any more goes on. */
LABEL_INLINE void label_unite_local(volatile local uint *parents, uint a, uint b)
{
    a = label_find_local(parents, a);
    b = label_find_local(parents, b);
    while (a != b) {
        const uint high = max(a, b), low = min(a, b);
        const uint was = atomic_cmpxchg(&parents[label_local(high)], high, low);
        a = was == high ? low : label_find_local(parents, was);
        b = low;
    }
}

typedef struct LabelItem {
    int x, y, z; /* of the work-item's word in its tile */
    int number;
    uint word;
} LabelItem;

/* The word of row `back` with its neighbours, inside the tile; *number: of the word. */
LABEL_INLINE LabelRow label_back_row(LabelItem item, int back, const local uint *words, int *number)
{
    const int y = item.y + label_back_y(back), z = item.z + label_back_z(back);
    LabelRow row = {0, 0, 0};
    *number = (z * LABEL_TILE_Y + y) * LABEL_TILE_X + item.x;
    if (y >= 0 && y < LABEL_TILE_Y && z >= 0) {
        row.word = words[*number];
        row.before = item.x > 0 ? words[*number - 1] : 0;
        row.after = item.x + 1 < LABEL_TILE_X ? words[*number + 1] : 0;
    }
    return row;
}

/* What is left to unite when each run has got its first parent. */
typedef struct LabelRest {
    LabelLinks links[LABEL_BACK];
    bool joined;
} LabelRest;

/*
 * Gives each run of the work-item's word a parent: an earlier run that it is linked to, where there
 * is one.  No other work-item writes there, so most of the uniting takes no atomic operation.
 */
LABEL_INLINE LabelRest label_first_parents(LabelItem item, LabelRow row, const local uint *words,
                                           volatile local uint *parents)
{
    const uint starts = label_starts(item.word), own = (uint)item.number * LABEL_RUNS;
    LabelRest rest;
    uint linked = 0, up = 0, below = 0;
    rest.joined = false;
#pragma unroll
    for (int back = 0; back < LABEL_BACK; back++) {
        int number;
        const LabelRow there = label_back_row(item, back, words, &number);
        if (back == 0) {
            up = there.word;
            rest.joined = label_joined(row.before, item.word, there.before, up);
        } else if (back == 1) {
            below = there.word;
        }
        const uint part = label_part(back, item.word, up, below);
        rest.links[back] = label_links(row, part, there, label_reach(back));
        for (uint left = rest.links[back].inside; left != 0; left &= left - 1) {
            const uint bit = left & -left, run = label_run_at(starts, bit);
            if ((linked >> run & 1) == 0) {
                linked |= 1u << run;
                rest.links[back].inside ^= bit;
                parents[label_local(own + run)] =
                    (uint)number * LABEL_RUNS + label_run_at(label_starts(there.word), bit);
            }
        }
    }
    if (rest.joined && (linked & 1) == 0) {
        linked |= 1;
        rest.joined = false;
        parents[label_local(own)] = own - LABEL_RUNS + label_last_run(row.before);
    }
    for (uint run = 0; run < (uint)popcount(starts); run++) {
        if ((linked >> run & 1) == 0) {
            parents[label_local(own + run)] = own + run;
        }
    }
    return rest;
}

LABEL_INLINE void label_unite_rest(LabelItem item, LabelRow row, LabelRest rest,
                                   const local uint *words, volatile local uint *parents)
{
    const uint starts = label_starts(item.word), own = (uint)item.number * LABEL_RUNS;
    if (rest.joined) {
        label_unite_local(parents, own, own - LABEL_RUNS + label_last_run(row.before));
    }
#pragma unroll
    for (int back = 0; back < LABEL_BACK; back++) {
        const LabelLinks links = rest.links[back];
        if (links.inside != 0 || links.before || links.after) {
            int number;
            const LabelRow there = label_back_row(item, back, words, &number);
            const uint other = (uint)number * LABEL_RUNS;
            for (uint left = links.inside; left != 0; left &= left - 1) {
                const uint bit = left & -left;
                label_unite_local(parents, own + label_run_at(starts, bit),
                                  other + label_run_at(label_starts(there.word), bit));
            }
            if (links.before) {
                label_unite_local(parents, own,
                                  other - LABEL_RUNS + label_last_run(there.before));
            }
            if (links.after) {
                label_unite_local(parents, own + label_last_run(item.word), other + LABEL_RUNS);
            }
        }
    }
}

/* Writes the parents of a word's runs, which are roots of the tile; returns which runs are these. */
LABEL_INLINE uint label_write_parents(LabelShape s, LabelTile tile, LabelItem item, LabelSpot at,
                                      volatile local uint *local_parents,
                                      global LabelNode *parents)
{
    const uint runs = (uint)popcount(label_starts(item.word));
    uint apart, roots = 0;
    const size_t place = label_place(s, at, &apart);
    for (uint run = 0; run < runs; run++) {
        const uint node = (uint)item.number * LABEL_RUNS + run;
        const uint root = label_find_local(local_parents, node);
        roots |= (uint)(root == node) << run;
        parents[place + run * apart] =
            label_node(s, label_in_tile(tile, (int)(root / LABEL_RUNS)), root % LABEL_RUNS);
    }
    return roots;
}

LABEL_INLINE void label_solve(LabelShape s, LabelTile tile, uint word, local uint *words,
                              volatile local uint *local_parents, global uint *scratch,
                              global LabelNode *parents)
{
    LabelItem item;
    item.number = (int)get_local_id(0);
    item.x = item.number % LABEL_TILE_X;
    item.y = item.number / LABEL_TILE_X % LABEL_TILE_Y;
    item.z = item.number / (LABEL_TILE_X * LABEL_TILE_Y);
    item.word = word;
    words[item.number] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    LabelRow row = {0, word, 0};
    row.before = item.x > 0 ? words[item.number - 1] : 0;
    row.after = item.x + 1 < LABEL_TILE_X ? words[item.number + 1] : 0;
    const LabelRest rest = label_first_parents(item, row, words, local_parents);
    barrier(CLK_LOCAL_MEM_FENCE);
    label_unite_rest(item, row, rest, words, local_parents);
    barrier(CLK_LOCAL_MEM_FENCE);
    const LabelSpot at = label_in_tile(tile, item.number);
    if (label_in_image(tile, at)) {
        const uint index = label_index(s, at);
        scratch[index] = word;
        label_roots(s, scratch)[index] =
            label_write_parents(s, tile, item, at, local_parents, parents);
    }
}

LABEL_KERNEL void label_tiles(READ_PARAMS, LABEL_PARAMS, global uint *own_scratch,
                              global LabelNode *own_parents)
{
    local uchar own_flags[LABEL_PACK_LOCAL];
    local uint own_words[LABEL_TILE_WORDS];
    local uint own_local[LABEL_TILE_WORDS * LABEL_RUNS];
    const LabelShape own_shape = LABEL_SHAPE;
    const LabelTile own_tile = label_tile(own_shape);
    const uint own_word = label_pack(READ_ARGS, own_shape, own_tile, own_flags);
    label_solve(own_shape, own_tile, own_word, own_words, own_local, own_scratch, own_parents);
}

#endif

/* ---- label_seams ----------------------------------------------------------------------------- */

/*
 * The root of a node that has been a root of its tile.  Parents that are passed are set to their
 * own parents (path halving).  Only nodes that are no roots any more are written to, with a smaller
 * node of the same object, so that a store which comes late does no harm.
 */
LABEL_INLINE LabelNode label_find(LabelShape s, volatile global LabelNode *parents, LabelNode node)
{
    for (;;) {
        const size_t place = label_place_of(s, node);
        const LabelNode up = parents[place];
        if (up == node) {
            return node;
        }
        const LabelNode above = parents[label_place_of(s, up)];
        if (above == up) {
            return up;
        }
        parents[place] = above;
        node = above;
    }
}

/* Unites the objects of any two runs.  Their own parents, roots of the tile, must stay as they are. */
LABEL_INLINE void label_unite(LabelShape s, volatile global LabelNode *parents, LabelSpot at_a,
                              uint run_a, LabelSpot at_b, uint run_b)
{
    LabelNode a = label_node(s, at_a, run_a), b = label_node(s, at_b, run_b);
    a = label_find(s, parents, parents[label_place_of(s, a)]);
    b = label_find(s, parents, parents[label_place_of(s, b)]);
    while (a != b) {
        const LabelNode high = max(a, b), low = min(a, b);
        const LabelNode was = label_exchange(&parents[label_place_of(s, high)], high, low);
        a = was == high ? low : label_find(s, parents, was);
        b = low;
    }
}

/* A word of the image and its neighbours; a row outside of the volume is empty. */
LABEL_INLINE LabelRow label_load(LabelShape s, LabelSpot at, bool is_row, global const uint *mask)
{
    LabelRow row = {0, 0, 0};
    if (is_row) {
        const uint index = label_index(s, at);
        row.before = at.word > 0 ? mask[index - 1] : 0;
        row.word = mask[index];
        row.after = at.word + 1 < s.words ? mask[index + 1] : 0;
    }
    return row;
}

/* Row `back` of a word: is there one in its volume? */
LABEL_INLINE bool label_back(LabelShape s, LabelSpot at, int back, LabelSpot *other)
{
    *other = at;
    other->y += label_back_y(back);
    other->plane += label_back_z(back);
    return other->y >= 0 && other->y < s.h &&
           (label_back_z(back) == 0 || at.plane % s.d > 0);
}

/* Unites a word with those earlier rows that belong to another tile. */
LABEL_INLINE void label_seam_row(LabelShape s, LabelSpot at, global const uint *mask,
                                 volatile global LabelNode *parents)
{
    const LabelRow row = label_load(s, at, true, mask);
    const uint starts = label_starts(row.word);
    uint up = 0, below = 0;
#pragma unroll
    for (int back = 0; back < LABEL_BACK; back++) {
        LabelSpot other;
        const bool is_row = label_back(s, at, back, &other) && row.word != 0;
        const LabelRow there = label_load(s, other, is_row, mask);
        up = back == 0 ? there.word : up;
        below = back == 1 ? there.word : below;
        const int z = at.plane % s.d;
        const bool same = other.y / LABEL_TILE_Y == at.y / LABEL_TILE_Y &&
                          (z + label_back_z(back)) / LABEL_TILE_Z == z / LABEL_TILE_Z;
        LabelLinks links =
            label_links(row, label_part(back, row.word, up, below), there, label_reach(back));
        if (is_row && !same) {
            for (uint left = links.inside; left != 0; left &= left - 1) {
                const uint bit = left & -left;
                label_unite(s, parents, at, label_run_at(starts, bit), other,
                            label_run_at(label_starts(there.word), bit));
            }
            if (links.before && at.word % LABEL_TILE_X != 0) {
                other.word--;
                label_unite(s, parents, at, 0, other, label_last_run(there.before));
                other.word++;
            }
            if (links.after && (at.word + 1) % LABEL_TILE_X != 0) {
                other.word++;
                label_unite(s, parents, at, label_last_run(row.word), other, 0);
            }
        }
    }
}

/* Unites over the border between a tile's last word of a row, `left`, and the next one. */
LABEL_INLINE void label_seam_column(LabelShape s, LabelSpot left, global const uint *mask,
                                    volatile global LabelNode *parents)
{
    LabelSpot right = left;
    right.word++;
    const uint index = label_index(s, left);
    const LabelRow row_left = {0, mask[index], mask[index + 1]};
    const LabelRow row_right = {mask[index], mask[index + 1], 0};
    uint up_left = 0, up_right = 0, below_left = 0, below_right = 0;
#pragma unroll
    for (int back = 0; back < LABEL_BACK; back++) {
        LabelSpot other;
        const bool is_row = label_back(s, left, back, &other);
        const uint there = is_row ? label_index(s, other) : 0;
        const LabelRow other_left = {0, is_row ? mask[there] : 0, is_row ? mask[there + 1] : 0};
        const LabelRow other_right = {other_left.word, other_left.after, 0};
        if (back == 0) {
            up_left = other_left.word;
            up_right = other_right.word;
            if (label_joined(row_left.word, row_right.word, up_left, up_right)) {
                label_unite(s, parents, right, 0, left, label_last_run(row_left.word));
            }
        } else if (back == 1) {
            below_left = other_left.word;
            below_right = other_right.word;
        }
        const uint part_left = label_part(back, row_left.word, up_left, below_left);
        const uint part_right = label_part(back, row_right.word, up_right, below_right);
        if (label_links(row_right, part_right, other_right, label_reach(back)).before) {
            label_unite(s, parents, right, 0, other, label_last_run(other_left.word));
        }
        if (label_links(row_left, part_left, other_left, label_reach(back)).after) {
            other.word++;
            label_unite(s, parents, left, label_last_run(row_left.word), other, 0);
        }
    }
}

/* Work-items are words that may have another tile above them, `rows` of these, then borders between
 * words, row by row.  In 3-D every word may. */
kernel void label_seams(LABEL_PARAMS, uint rows, uint columns, global const uint *mask,
                        volatile global LabelNode *parents)
{
    const LabelShape s = LABEL_SHAPE;
    const size_t item = get_global_id(0);
    LabelSpot at;
    if (item < rows) {
        const uint row = (uint)item / (uint)s.words;
        at.word = (int)((uint)item - row * (uint)s.words);
#if LABEL_3D
        at.plane = (int)(row / (uint)s.h);
        at.y = (int)(row % (uint)s.h);
#else
        const uint seams = ((uint)s.h + LABEL_TILE_Y - 1) / LABEL_TILE_Y - 1;
        at.plane = (int)(row / seams);
        at.y = (int)(row % seams + 1) * LABEL_TILE_Y;
#endif
        label_seam_row(s, at, mask, parents);
    } else if (item - rows < columns) {
        const uint number = (uint)(item - rows), all = (uint)s.planes * (uint)s.h;
        const uint row = number % all;
        at.word = (int)(number / all) * LABEL_TILE_X + LABEL_TILE_X - 1;
        at.plane = (int)(row / (uint)s.h);
        at.y = (int)(row % (uint)s.h);
        label_seam_column(s, at, mask, parents);
    }
}

/* ---- label_rank ------------------------------------------------------------------------------ */

/* Points a word's tile roots to the roots of their objects; returns which runs are roots still. */
LABEL_INLINE uint label_rank_word(LabelShape s, uint index, uint tile_roots,
                                  volatile global LabelNode *parents)
{
    const uint row = index / (uint)s.words;
    LabelSpot at;
    at.word = (int)(index - row * (uint)s.words);
    at.plane = (int)(row / (uint)s.h);
    at.y = (int)(row % (uint)s.h);
    uint roots = 0;
    for (uint left = tile_roots; left != 0; left &= left - 1) {
        const uint bit = left & -left;
        const LabelNode node = label_node(s, at, (uint)popcount(bit - 1));
        const LabelNode root = label_find(s, parents, node);
        if (root == node) {
            roots |= bit;
        } else {
            parents[label_place_of(s, node)] = root;
        }
    }
    return roots;
}

kernel __attribute__((reqd_work_group_size(LABEL_COUNTERS, 1, 1)))
void label_rank(LABEL_PARAMS, global uint *scratch, volatile global LabelNode *parents)
{
    local uint sums[LABEL_COUNTERS];
    const LabelShape s = LABEL_SHAPE;
    const uint each = LABEL_BLOCK / LABEL_COUNTERS, words = label_count_words(s);
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint first = group * LABEL_BLOCK + item * each;
    global uint *const roots = label_roots(s, scratch);
    uint own = 0, all;
    for (uint i = first; i < first + each && i < words; i++) {
        const uint tile_roots = roots[i];
        if (tile_roots != 0) {
            const uint left = label_rank_word(s, i, tile_roots, parents);
            roots[i] = left;
            own += (uint)popcount(left);
        }
    }
    uint before = scan_group(sums, own, &all);
    for (uint i = first; i < first + each && i < words; i++) {
        const uint left = roots[i];
        if (left != 0) {
            roots[i] = before << 16 | left;
            before += (uint)popcount(left);
        }
    }
    if (item == 0) {
        label_sums(s, scratch)[group] = all;
    }
}

/* ---- label_write ----------------------------------------------------------------------------- */

/*
 * The number of a run's object.  The parent of a tile's root is the object's root; any other run's
 * parent is the root of its tile.  So one more step is enough, and it needs to be taken only inside the
 * tile.
 */
LABEL_INLINE uint label_of_run(LabelShape s, LabelTile tile, LabelNode node,
                               global const LabelNode *parents, global uint *scratch)
{
    LabelSpot at = label_spot(s, node);
    if (label_is_inside(tile, at)) {
        node = parents[label_place_of(s, node)];
        at = label_spot(s, node);
    }
    const uint index = label_index(s, at);
    const uint roots = label_roots(s, scratch)[index], run = (uint)(node & (LABEL_RUNS - 1));
    return label_sums(s, scratch)[index / LABEL_BLOCK] + (roots >> 16) +
           (uint)popcount(roots & ((1u << run) - 1)) + 1;
}

/* Four pixels, `bits` of `word`; labels of a word's runs are `apart` elements from each other. */
#define LABEL_QUAD(quad, word, shift, labels, first, apart)                                        \
    uint4 quad = (uint4)(0);                                                                       \
    {                                                                                              \
        const uint bits_ = (word) >> (shift) & 15, starts_ = label_starts(word);                   \
        if (bits_ != 0) {                                                                          \
            const uint low_ = bits_ & -bits_, other_ = bits_ & (bits_ + low_);                     \
            const uint run_ = label_run_at(starts_, low_ << (shift));                              \
            const uint a_ = (labels)[(first) + run_ * (apart)];                                    \
            const uint b_ = other_ != 0 ? (labels)[(first) + (run_ + 1) * (apart)] : 0;            \
            quad.x = bits_ & 1 ? a_ : 0;                                                           \
            quad.y = other_ & 2 ? b_ : bits_ & 2 ? a_ : 0;                                         \
            quad.z = other_ & 4 ? b_ : bits_ & 4 ? a_ : 0;                                         \
            quad.w = other_ & 8 ? b_ : bits_ & 8 ? a_ : 0;                                         \
        }                                                                                          \
    }

LABEL_INLINE size_t label_pixel_at(LabelShape s, LabelSpot at, int x)
{
    return ((size_t)at.plane * (size_t)s.h + (size_t)at.y) * (size_t)s.pitch + (size_t)x;
}

#if LABEL_CPU

/* Rows are written from the last one to the first: parents always lie in earlier ones or the same. */
LABEL_INLINE void label_write_row(LabelShape s, LabelTile tile, LabelSpot at,
                                  global uint *scratch, global uint *labels)
{
    uint numbers[LABEL_TILE_X * LABEL_RUNS], words[LABEL_TILE_X];
    for (int i = 0; i < tile.across; i++, at.word++) {
        const uint word = scratch[label_index(s, at)];
        const uint runs = (uint)popcount(label_starts(word));
        global const LabelNode *parents = (global const LabelNode *)labels;
        uint apart;
        const size_t place = label_place(s, at, &apart);
        words[i] = word;
        for (uint run = 0; run < runs; run++) {
            numbers[(uint)i * LABEL_RUNS + run] =
                label_of_run(s, tile, parents[place + run * apart], parents, scratch);
        }
    }
    const int end = min(tile.across * 32, s.pitch - tile.first.word * 32);
    global uint *to = labels + label_pixel_at(s, at, tile.first.word * 32);
    for (int x = 0; x < end; x += 4) {
        const uint i = (uint)x / 32;
        LABEL_QUAD(quad, words[i], (uint)x % 32, numbers, i * LABEL_RUNS, 1);
        vstore4(quad, 0, to + x);
    }
}

LABEL_KERNEL void label_write(LABEL_PARAMS, global uint *scratch, global uint *labels)
{
    const LabelShape s = LABEL_SHAPE;
    const LabelTile tile = label_tile(s);
    for (int z = tile.deep - 1; z >= 0; z--) {
        for (int y = tile.down - 1; y >= 0; y--) {
            LabelSpot at = tile.first;
            at.plane += z;
            at.y += y;
            label_write_row(s, tile, at, scratch, labels);
        }
    }
}

#else

LABEL_KERNEL void label_write(LABEL_PARAMS, global uint *scratch, global uint *labels)
{
    local uint numbers[LABEL_TILE_WORDS * LABEL_RUNS], words[LABEL_TILE_WORDS];
    const LabelShape s = LABEL_SHAPE;
    const LabelTile tile = label_tile(s);
    const int item = (int)get_local_id(0);
    const LabelSpot own = label_in_tile(tile, item);
    const uint word = label_in_image(tile, own) ? scratch[label_index(s, own)] : 0;
    words[item] = word;
    if (word != 0) {
        const uint runs = (uint)popcount(label_starts(word));
        global const LabelNode *parents = (global const LabelNode *)labels;
        uint apart;
        const size_t place = label_place(s, own, &apart);
        for (uint run = 0; run < runs; run++) {
            numbers[run * LABEL_TILE_WORDS + (uint)item] =
                label_of_run(s, tile, parents[place + run * apart], parents, scratch);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int i = 0; i < 8; i++) {
        const int quad_number = i * LABEL_TILE_WORDS + item, number = quad_number / 8;
        const LabelSpot at = label_in_tile(tile, number);
        const int x = at.word * 32 + quad_number % 8 * 4;
        if (label_in_image(tile, at) && x < s.pitch) {
            LABEL_QUAD(quad, words[number], (uint)(quad_number % 8 * 4), numbers, (uint)number,
                       LABEL_TILE_WORDS);
            *(global uint4 *)(labels + label_pixel_at(s, at, x)) = quad;
        }
    }
}

#endif
