/*
 * label: the kernels that make one labelling of solved tiles (see label_nodes.cl): union over the
 * borders of tiles, ranks of the roots, and the label image.
 */
#pragma OPENCL FP_CONTRACT OFF

/* ---- label_seams ----------------------------------------------------------------------------- */

/*
 * The root of a node that has been a root of its tile.  Parents that are passed are lowered to
 * their own parents (path halving).  Only nodes that are no roots any more are written to, and
 * lowering is atomic, so that a parent which already is the final root stays.
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
        label_lower(&parents[place], above);
        node = above;
    }
}

/* Unites the objects of any two runs.  Their own parents, roots of the tile, must stay as they are.
 * It is a lot of text wherever it is called, and takes as long to compile. */
LABEL_INLINE void label_unite(LabelShape s, volatile global LabelNode *parents, LabelSpot at_a,
                              uint run_a, LabelSpot at_b, uint run_b)
{
    LabelNode a = parents[label_place_of(s, label_node(s, at_a, run_a))];
    LabelNode b = parents[label_place_of(s, label_node(s, at_b, run_b))];
    for (;;) {
        a = label_find(s, parents, a);
        b = label_find(s, parents, b);
        if (a == b) {
            break;
        }
        const LabelNode high = max(a, b), low = min(a, b);
        a = label_exchange(&parents[label_place_of(s, high)], high, low);
        b = low;
        if (a == high) {
            break;
        }
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
    return other->y >= 0 && other->y < s.h && (label_back_z(back) == 0 || at.plane % s.d > 0);
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
            uint left = links.inside;
            bool before = links.before && at.word % LABEL_TILE_X != 0;
            bool after = links.after && (at.word + 1) % LABEL_TILE_X != 0;
            while (left != 0 || before || after) {
                const uint bit = left & -left;
                LabelSpot with = other;
                uint run = label_run_at(starts, bit);
                uint run_with = label_run_at(label_starts(there.word), bit);
                if (left != 0) {
                    left -= bit;
                } else if (before) {
                    before = false;
                    with.word--;
                    run = 0;
                    run_with = label_last_run(there.before);
                } else {
                    after = false;
                    with.word++;
                    run = label_last_run(row.word);
                    run_with = 0;
                }
                label_unite(s, parents, at, run, with, run_with);
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
        bool joined = false;
        if (back == 0) {
            up_left = other_left.word;
            up_right = other_right.word;
            joined = label_joined(row_left.word, row_right.word, up_left, up_right);
        } else if (back == 1) {
            below_left = other_left.word;
            below_right = other_right.word;
        }
        const uint part_left = label_part(back, row_left.word, up_left, below_left);
        const uint part_right = label_part(back, row_right.word, up_right, below_right);
        bool before = label_links(row_right, part_right, other_right, label_reach(back)).before;
        bool after = label_links(row_left, part_left, other_left, label_reach(back)).after;
        while (joined || before || after) {
            LabelSpot at = right, with = other;
            uint run = 0, run_with = label_last_run(other_left.word);
            if (joined) {
                joined = false;
                with = left;
                run_with = label_last_run(row_left.word);
            } else if (before) {
                before = false;
            } else {
                after = false;
                at = left;
                with.word++;
                run = label_last_run(row_left.word);
                run_with = 0;
            }
            label_unite(s, parents, at, run, with, run_with);
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
        at.y = (int)(row - (uint)at.plane * (uint)s.h);
#else
        const uint seams = ((uint)s.h + LABEL_TILE_Y - 1) / LABEL_TILE_Y - 1;
        at.plane = (int)(row / seams);
        at.y = (int)(row - (uint)at.plane * seams + 1) * LABEL_TILE_Y;
#endif
        label_seam_row(s, at, mask, parents);
    } else if (item - rows < columns) {
        const uint number = (uint)(item - rows), all = (uint)s.planes * (uint)s.h;
        const uint border = number / all, row = number - border * all;
        at.word = (int)border * LABEL_TILE_X + LABEL_TILE_X - 1;
        at.plane = (int)(row / (uint)s.h);
        at.y = (int)(row - (uint)at.plane * (uint)s.h);
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
    at.y = (int)(row - (uint)at.plane * (uint)s.h);
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

kernel __attribute__((reqd_work_group_size(LABEL_COUNTERS, 1, 1))) void
label_rank(LABEL_PARAMS, global uint *scratch, volatile global LabelNode *parents)
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
 * parent is the root of its tile.  So one more step is enough, and it needs to be taken only inside
 * the tile.
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
        const uint one_bits = (word) >> (shift)&15, one_starts = label_starts(word);               \
        if (one_bits != 0) {                                                                       \
            const uint one_low = one_bits & -one_bits, one_other = one_bits & (one_bits + one_low);\
            const uint one_run = label_run_at(one_starts, one_low << (shift));                     \
            const uint one_a = (labels)[(first) + one_run * (apart)];                              \
            const uint one_b = one_other != 0 ? (labels)[(first) + (one_run + 1) * (apart)] : 0;   \
            quad.x = one_bits & 1 ? one_a : 0;                                                     \
            quad.y = one_other & 2 ? one_b : one_bits & 2 ? one_a : 0;                             \
            quad.z = one_other & 4 ? one_b : one_bits & 4 ? one_a : 0;                             \
            quad.w = one_other & 8 ? one_b : one_bits & 8 ? one_a : 0;                             \
        }                                                                                          \
    }

LABEL_INLINE size_t label_pixel_at(LabelShape s, LabelSpot at, int x)
{
    return ((size_t)at.plane * (size_t)s.h + (size_t)at.y) * (size_t)s.pitch + (size_t)x;
}

#if LABEL_CPU

/* Rows are written from the last one to the first: parents always lie in earlier ones or the same.
 */
LABEL_INLINE void label_write_row(LabelShape s, LabelTile tile, LabelSpot at, global uint *scratch,
                                  global uint *labels)
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
    const uint item = (uint)get_local_id(0);
    const LabelSpot own = label_in_tile(tile, item);
    const uint word = label_in_image(tile, own) ? scratch[label_index(s, own)] : 0;
    words[item] = word;
    if (word != 0) {
        const uint runs = (uint)popcount(label_starts(word));
        global const LabelNode *parents = (global const LabelNode *)labels;
        uint apart;
        const size_t place = label_place(s, own, &apart);
        for (uint run = 0; run < runs; run++) {
            numbers[run * LABEL_TILE_WORDS + item] =
                label_of_run(s, tile, parents[place + run * apart], parents, scratch);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = 0; i < 8; i++) {
        const uint quad_number = i * LABEL_TILE_WORDS + item, number = quad_number / 8;
        const uint shift = quad_number % 8 * 4;
        const LabelSpot at = label_in_tile(tile, number);
        const int x = at.word * 32 + (int)shift;
        if (label_in_image(tile, at) && x < s.pitch) {
            LABEL_QUAD(quad, words[number], shift, numbers, number, LABEL_TILE_WORDS);
            *(global uint4 *)(labels + label_pixel_at(s, at, x)) = quad;
        }
    }
}

#endif
