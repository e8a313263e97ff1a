/*
 * label_tiles: the first kernel of label (see label_nodes.cl), which computes the mask, packs it
 * and solves each tile on its own.
 *
 * On GPUs a group has a tile and a work-item one of its words.  Each run first takes as its parent
 * an earlier run that it touches, which needs no atomics; what then is left to unite is little
 * where objects are smooth.  On CPUs a work-item solves a tile row by row.
 */
#pragma OPENCL FP_CONTRACT OFF

#if LABEL_CPU

/* ---- label_tiles for CPUs: a work-item solves a tile from its first row to the last ---------- */

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
    for (uint own_i = 0; own_i < LABEL_TILE_WORDS; own_i++) {
        const LabelSpot own_at = label_in_tile(own_tile, own_i);
        if (label_in_image(own_tile, own_at)) {
            own_scratch[label_index(own_shape, own_at)] = label_pack(READ_ARGS, own_shape, own_at);
        }
    }
    for (uint own_i = 0; own_i < LABEL_TILE_WORDS; own_i++) {
        const LabelSpot own_at = label_in_tile(own_tile, own_i);
        if (label_in_image(own_tile, own_at)) {
            label_add_word(own_shape, own_tile, own_at, own_scratch, own_parents);
        }
    }
    for (uint own_i = 0; own_i < LABEL_TILE_WORDS; own_i++) {
        const LabelSpot own_at = label_in_tile(own_tile, own_i);
        if (label_in_image(own_tile, own_at)) {
            const uint own_index = label_index(own_shape, own_at);
            label_roots(own_shape, own_scratch)[own_index] =
                label_flatten_word(own_shape, own_at, own_scratch[own_index], own_parents);
        }
    }
}

#else

/* ---- label_tiles for GPUs: a work-item has a word of the tile, a group solves it ------------- */

/* The bits of a word that lie in the image. */
LABEL_INLINE uint label_image_bits(LabelShape s, LabelTile tile, uint number)
{
    const LabelSpot at = label_in_tile(tile, number);
    const int columns = label_in_image(tile, at) ? s.w - at.word * 32 : 0;
    return columns >= 32 ? 0xffffffff : ((uint)1 << columns) - 1;
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
#define LABEL_PACK_ROWS (LABEL_TILE_X < 8 ? 8 / LABEL_TILE_X : 1) /* that are read together */

/* Where the row of a tile's word lies; beyond the image, the border is read. */
LABEL_INLINE LabelSpot label_pack_row(LabelTile tile, uint number)
{
    LabelSpot at = label_in_tile(tile, number);
    at.y = min(at.y, tile.first.y + tile.down - 1);
    at.plane = min(at.plane, tile.first.plane + tile.deep - 1);
    return at;
}

/*
 * The work-item's word.  Each warp packs its 32 words one after the other, a pixel a work-item. The
 * pixels of a row are all read before the first vote, for loads do not pass votes.
 */
LABEL_INLINE uint label_pack(READ_PARAMS, LabelShape own_shape, LabelTile own_tile,
                             local uchar *own_flags)
{
    const uint own_item = (uint)get_local_id(0), own_lane = own_item & 31;
    const int own_x = own_tile.first.word * 32 + (int)own_lane;
    uint own_word = 0;
    for (uint own_row = 0; own_row < 32 / LABEL_TILE_X; own_row += LABEL_PACK_ROWS) {
        bool own_set[LABEL_PACK_ROWS][LABEL_TILE_X];
#pragma unroll
        for (uint own_k = 0; own_k < LABEL_PACK_ROWS; own_k++) {
            const LabelSpot own_at =
                label_pack_row(own_tile, (own_item & ~31u) + (own_row + own_k) * LABEL_TILE_X);
#pragma unroll
            for (int own_i = 0; own_i < LABEL_TILE_X; own_i++) {
                own_set[own_k][own_i] = read_0(READ_ARGS, min(own_x + own_i * 32, own_shape.w - 1),
                                               own_at.y, own_at.plane);
            }
        }
#pragma unroll
        for (uint own_i = 0; own_i < LABEL_PACK_ROWS * LABEL_TILE_X; own_i++) {
            const uint own_packed =
                label_ballot(own_set[own_i / LABEL_TILE_X][own_i % LABEL_TILE_X]);
            own_word = own_row * LABEL_TILE_X + own_i == own_lane ? own_packed : own_word;
        }
    }
    return own_word & label_image_bits(own_shape, own_tile, own_item);
}

#else

#define LABEL_PACK_LOCAL (LABEL_TILE_WORDS * 32)

/* The same without warps: neighbouring work-items compute neighbouring pixels into local memory. */
LABEL_INLINE uint label_pack(READ_PARAMS, LabelShape own_shape, LabelTile own_tile,
                             local uchar *own_flags)
{
    const uint own_item = (uint)get_local_id(0);
#pragma unroll 8
    for (uint own_i = 0; own_i < 32; own_i++) {
        const uint own_at = own_i * LABEL_TILE_WORDS + own_item;
        const LabelSpot own_spot = label_in_tile(own_tile, own_at / 32);
        const int own_x = min(own_spot.word * 32 + (int)(own_at & 31), own_shape.w - 1);
        const int own_y = min(own_spot.y, own_tile.first.y + own_tile.down - 1);
        const int own_z = min(own_spot.plane, own_tile.first.plane + own_tile.deep - 1);
        own_flags[own_at] = read_0(READ_ARGS, own_x, own_y, own_z);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint own_word = 0;
    for (uint own_i = 0; own_i < 32; own_i++) {
        own_word |= (uint)own_flags[own_item * 32 + own_i] << own_i;
    }
    return own_word & label_image_bits(own_shape, own_tile, own_item);
}

#endif

/* Nodes of a tile are numbered word * 16 + run; all first runs lie together, to spread over banks.
 */
LABEL_INLINE uint label_local(uint node)
{
    return (node & (LABEL_RUNS - 1)) * LABEL_TILE_WORDS + node / LABEL_RUNS;
}

/*
 * The root of a node.  With `halve`, parents that are passed are set to their own parents; only
 * nodes that are no roots any more are written to, with an earlier node of the same object, so a
 * store that comes late does no harm.
 */
LABEL_INLINE uint label_find_local(volatile local uint *parents, uint node, const bool halve)
{
    for (;;) {
        const uint up = parents[label_local(node)];
        if (up == node) {
            return node;
        }
        const uint above = parents[label_local(up)];
        if (above == up) {
            return up;
        }
        if (halve) {
            parents[label_local(node)] = above;
        }
        node = above;
    }
}

/* Only roots get a new parent, a smaller one; who finds that a root is none any more goes on. */
LABEL_INLINE void label_unite_local(volatile local uint *parents, uint a, uint b)
{
    a = label_find_local(parents, a, true);
    b = label_find_local(parents, b, true);
    while (a != b) {
        const uint high = max(a, b), low = min(a, b);
        const uint was = atomic_cmpxchg(&parents[label_local(high)], high, low);
        a = was == high ? low : label_find_local(parents, was, true);
        b = low;
    }
}

typedef struct LabelItem {
    int x, y, z; /* of the work-item's word in its tile */
    uint number;
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
    const uint starts = label_starts(item.word), own = item.number * LABEL_RUNS;
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

/* Shortens the paths from the work-item's runs, which lead up row by row. */
LABEL_INLINE void label_shorten(LabelItem item, volatile local uint *parents)
{
    const uint runs = (uint)popcount(label_starts(item.word));
    for (uint run = 0; run < runs; run++) {
        const uint node = item.number * LABEL_RUNS + run;
        const uint root = label_find_local(parents, node, true);
        if (root != node) {
            parents[label_local(node)] = root;
        }
    }
}

LABEL_INLINE void label_unite_rest(LabelItem item, LabelRow row, LabelRest rest,
                                   const local uint *words, volatile local uint *parents)
{
    const uint starts = label_starts(item.word), own = item.number * LABEL_RUNS;
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
                label_unite_local(parents, own, other - LABEL_RUNS + label_last_run(there.before));
            }
            if (links.after) {
                label_unite_local(parents, own + label_last_run(item.word), other + LABEL_RUNS);
            }
        }
    }
}

/* Writes the parents of a word's runs, which are roots of the tile; returns which runs are these.
 */
LABEL_INLINE uint label_write_parents(LabelShape s, LabelTile tile, LabelItem item, LabelSpot at,
                                      volatile local uint *local_parents, global LabelNode *parents)
{
    const uint runs = (uint)popcount(label_starts(item.word));
    uint apart, roots = 0;
    const size_t place = label_place(s, at, &apart);
    for (uint run = 0; run < runs; run++) {
        const uint node = item.number * LABEL_RUNS + run;
        const uint root = label_find_local(local_parents, node, false);
        roots |= (uint)(root == node) << run;
        parents[place + run * apart] =
            label_node(s, label_in_tile(tile, root / LABEL_RUNS), root % LABEL_RUNS);
    }
    return roots;
}

LABEL_INLINE void label_solve(LabelShape s, LabelTile tile, uint word, local uint *words,
                              volatile local uint *local_parents, global uint *scratch,
                              global LabelNode *parents)
{
    LabelItem item;
    item.number = (uint)get_local_id(0);
    item.x = (int)(item.number % LABEL_TILE_X);
    item.y = (int)(item.number / LABEL_TILE_X % LABEL_TILE_Y);
    item.z = (int)(item.number / (LABEL_TILE_X * LABEL_TILE_Y));
    item.word = word;
    words[item.number] = word;
    barrier(CLK_LOCAL_MEM_FENCE);
    LabelRow row = {0, word, 0};
    row.before = item.x > 0 ? words[item.number - 1] : 0;
    row.after = item.x + 1 < LABEL_TILE_X ? words[item.number + 1] : 0;
    const LabelRest rest = label_first_parents(item, row, words, local_parents);
    barrier(CLK_LOCAL_MEM_FENCE);
    label_shorten(item, local_parents);
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
