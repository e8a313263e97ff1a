/*
 * compact: labels that are kept, renumbered from 1 in their old order.
 *
 * The ids to keep, less 1, are marked in a bitmap; an id's new number is how many bits are set up
 * to its own.
 *
 *   compact_mark   sets bits
 *   compact_count  counts the bits before each word in its block, and of each block
 *   scan_sums      adds the blocks up
 *   compact_write  writes the numbers
 *
 * Ids that are too large for a bitmap go through this several times, from the first digits to the
 * last: after a round a pixel holds the rank of its id's leading digits, followed by the digits
 * that are left (`rest` bits), which fits into 32 bits again because ranks are small.  COMPACT_NONE
 * is background and what has been dropped.
 *
 * In parts, with COMPACT_TREE, there is no such intermediate image: all bitmaps stay, one for each
 * level of digits, and an id's key in a level is the rank of its key in the level above, followed by the
 * level's digits.
 *
 * Names that meet a reader's begin with own_ or compact_.  What counts is the text without a reader, behind scan.cl;
 * the host defines COMPACT_GROUP for it.
 */
#pragma OPENCL FP_CONTRACT OFF

#define COMPACT_INLINE static inline __attribute__((always_inline))
#define COMPACT_BLOCK 1024 /* words that share a sum */
#define COMPACT_COLUMNS 4  /* of a work-item, 2^lanes apart */
#define COMPACT_ROWS 16    /* of a work-item */
#define COMPACT_SEEN 256   /* ids that a group remembers */
#define COMPACT_NONE 0xffffffffu

typedef struct CompactGrid {
    int w, h, planes, pitch;
    int lanes; /* log2 of the work-items of a group that lie in a row */
    int rest;  /* bits of the ids that later rounds look at */
    int round; /* 0: ids come from the reader */
} CompactGrid;

#define COMPACT_PARAMS                                                                             \
    int own_w, int own_h, int own_planes, int own_pitch, int own_lanes, int own_rest, int own_round
#define COMPACT_GRID                                                                               \
    {                                                                                              \
        own_w, own_h, own_planes, own_pitch, own_lanes, own_rest, own_round                        \
    }

/* From scratch: the bitmap, 16 bits for each of its words, a sum for each block of words. */
typedef struct CompactBits {
    global uint *bitmap;
    global ushort *before;
    global uint *sums;
    uint words;
} CompactBits;

COMPACT_INLINE CompactBits compact_bits(global uint *scratch, uint words)
{
    CompactBits bits;
    bits.bitmap = scratch;
    bits.before = (global ushort *)(scratch + words);
    bits.sums = scratch + words + words / 2;
    bits.words = words;
    return bits;
}

typedef struct CompactSpot {
    int x, y, plane;
} CompactSpot;

/* The top of the first of a work-item's columns of so many rows.  Where the image is narrow, a group has strips
 * below each other. */
COMPACT_INLINE CompactSpot compact_spot(CompactGrid g, uint columns, uint rows, uint group)
{
    const uint item = (uint)get_local_id(0), lane = item & (((uint)1 << g.lanes) - 1);
    const uint span = columns << g.lanes;
    const uint tiles = ((uint)g.w + span - 1) / span;
    const uint strips = ((uint)g.h + rows - 1) / rows;
    const uint below = group / tiles;
    const uint strip = below * ((uint)get_local_size(0) >> g.lanes) + (item >> g.lanes);
    CompactSpot at;
    at.x = (int)((group - below * tiles) * span + lane);
    at.plane = (int)(strip / strips);
    at.y = (int)(strip - (uint)at.plane * strips) * (int)rows;
    return at;
}

COMPACT_INLINE size_t compact_pixel(CompactGrid g, CompactSpot at)
{
    return ((size_t)at.plane * (size_t)g.h + (size_t)at.y) * (size_t)g.pitch + (size_t)at.x;
}

COMPACT_INLINE bool compact_is_set(CompactBits bits, uint key)
{
    return key / 32 < bits.words && (bits.bitmap[key / 32] >> (key & 31) & 1) != 0;
}

/* Reads the ids, less 1 so that background is none, of row `at.y` of a work-item's columns. */
#define COMPACT_READ(ids, at)                                                                      \
    uint ids[COMPACT_COLUMNS];                                                                     \
    _Pragma("unroll") for (int own_i = 0; own_i < COMPACT_COLUMNS; own_i++)                        \
    {                                                                                              \
        CompactSpot own_place = (at);                                                              \
        own_place.x += own_i << own_lanes;                                                         \
        const bool own_inside = own_place.x < own_w;                                               \
        const int own_x = min(own_place.x, own_w - 1);                                             \
        ids[own_i] = COMPACT_NONE;                                                                 \
        if (own_round == 0) {                                                                      \
            const uint own_id = read_0(READ_ARGS, own_x, own_place.y, own_place.plane);            \
            ids[own_i] = own_inside ? own_id - 1 : COMPACT_NONE;                                   \
        } else if (own_inside) {                                                                   \
            ids[own_i] = own_out[compact_pixel(own_grid, own_place)];                              \
        }                                                                                          \
    }

/* How many keys before this one are marked. */
COMPACT_INLINE uint compact_rank(CompactBits bits, uint key)
{
    const uint word = key / 32, bit = 1u << (key & 31);
    return bits.sums[word / COMPACT_BLOCK] + bits.before[word] +
           (uint)popcount(bits.bitmap[word] & (bit - 1));
}

#ifdef COMPACT_TREE
#define COMPACT_TOP 18  /* digits of the first level, */
#define COMPACT_LEVEL 7 /* and of each of the others */
/* Which level the bitmap is, and the levels above it. */
#define COMPACT_TREE_PARAMS                                                                        \
    , int own_level, global uint *own_top, uint own_top_words, global uint *own_middle,            \
        uint own_middle_words
#define COMPACT_KEY(id)                                                                            \
    compact_tree_key(compact_bits(own_top, own_top_words),                                         \
                     compact_bits(own_middle, own_middle_words), own_level, id)

/* COMPACT_NONE where the level above has no such leading digits, which no key is: there is no id that
 * large. */
COMPACT_INLINE uint compact_tree_key(CompactBits top, CompactBits middle, int level, uint id)
{
    const uint digits = (1u << COMPACT_LEVEL) - 1;
    uint key = id >> (32 - COMPACT_TOP);
    for (int i = 1; i <= level && key != COMPACT_NONE; i++) {
        const CompactBits above = i == 1 ? top : middle;
        const uint next = id >> (32 - COMPACT_TOP - i * COMPACT_LEVEL) & digits;
        key = compact_is_set(above, key) ? compact_rank(above, key) << COMPACT_LEVEL | next
                                         : COMPACT_NONE;
    }
    return key;
}
#else
#define COMPACT_TREE_PARAMS
#define COMPACT_KEY(id) (id)
#endif

/* True when no work-item of the group has come here with this id of late. */
COMPACT_INLINE bool compact_is_new(local uint *seen, uint id)
{
    volatile local uint *const at = &seen[id * 2654435761u >> 24];
    return *at != id && atomic_xchg(at, id) != id;
}

#ifdef COMPACT_KEEPS /* colours.cl has kernels of its own */
/*
 * Most pixels of a label that is kept continue their column's run of it or belong to one that the
 * group has marked already; few cost an access to the bitmap.  Any pixel may say that its label is
 * kept, so those of labels that are not known to be are all asked.
 */
kernel void compact_mark(READ_PARAMS, COMPACT_PARAMS, global uint *own_scratch, uint own_words,
                         global const uint *own_out COMPACT_TREE_PARAMS)
{
    local uint own_seen[COMPACT_SEEN];
    const CompactGrid own_grid = COMPACT_GRID;
    const CompactBits own_bits = compact_bits(own_scratch, own_words);
    CompactSpot own_at =
        compact_spot(own_grid, COMPACT_COLUMNS, COMPACT_ROWS, (uint)get_group_id(0));
    for (uint own_i = (uint)get_local_id(0); own_i < COMPACT_SEEN;
         own_i += (uint)get_local_size(0)) {
        own_seen[own_i] = COMPACT_NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int own_end = own_at.plane < own_planes ? min(own_at.y + COMPACT_ROWS, own_h) : 0;
    uint own_last[COMPACT_COLUMNS] = {COMPACT_NONE, COMPACT_NONE, COMPACT_NONE, COMPACT_NONE};
    for (; own_at.y < own_end; own_at.y++) {
        COMPACT_READ(own_ids, own_at)
#pragma unroll
        for (int own_i = 0; own_i < COMPACT_COLUMNS; own_i++) {
            const uint own_id = own_ids[own_i];
            const bool own_known = own_id == own_last[own_i];
            const bool own_asks = !own_known && own_id != COMPACT_NONE;
            const uint own_key = own_asks ? COMPACT_KEY(own_id) >> own_rest : COMPACT_NONE;
            const bool own_kept =
                own_known ||
                (own_key / 32 < own_words &&
                 (own_round != 0 ||
                  read_1(READ_ARGS, own_at.x + (own_i << own_lanes), own_at.y, own_at.plane)));
            if (own_kept && own_asks && compact_is_new(own_seen, own_id) &&
                !compact_is_set(own_bits, own_key)) {
                atomic_or(&own_bits.bitmap[own_key / 32], 1u << (own_key & 31));
            }
            own_last[own_i] = own_kept ? own_id : COMPACT_NONE;
        }
    }
}

#endif

#ifndef READ_PARAMS
/* Counts a block of words and returns their sum; `sums` has an element for each work-item of the group, all of which
 * come here. */
COMPACT_INLINE uint compact_count_block(local uint *sums, CompactBits bits, uint group)
{
    const uint each = COMPACT_BLOCK / COMPACT_GROUP;
    const uint item = (uint)get_local_id(0);
    const uint first = group * COMPACT_BLOCK + item * each;
    uint own = 0, all;
    for (uint i = first; i < first + each && i < bits.words; i++) {
        own += (uint)popcount(bits.bitmap[i]);
    }
    uint before = scan_group(sums, own, &all);
    for (uint i = first; i < first + each && i < bits.words; i++) {
        bits.before[i] = (ushort)before;
        before += (uint)popcount(bits.bitmap[i]);
    }
    return all;
}

kernel __attribute__((reqd_work_group_size(COMPACT_GROUP, 1, 1))) void
compact_count(global uint *scratch, uint words)
{
    local uint sums[COMPACT_GROUP];
    const CompactBits bits = compact_bits(scratch, words);
    const uint sum = compact_count_block(sums, bits, (uint)get_group_id(0));
    if (get_local_id(0) == 0) {
        bits.sums[get_group_id(0)] = sum;
    }
}
#endif

#ifdef COMPACT_KEEPS
COMPACT_INLINE uint compact_result(CompactGrid g, CompactBits bits, uint id)
{
    const uint key = id >> g.rest;
    if (id == COMPACT_NONE || !compact_is_set(bits, key)) {
        return g.rest == 0 ? 0 : COMPACT_NONE;
    }
    const uint rank = compact_rank(bits, key);
    return g.rest == 0 ? rank + 1 : rank << g.rest | (id & ((1u << g.rest) - 1));
}

kernel void compact_write(READ_PARAMS, COMPACT_PARAMS, global uint *own_scratch, uint own_words,
                          global uint *own_out COMPACT_TREE_PARAMS)
{
    const CompactGrid own_grid = COMPACT_GRID;
    const CompactBits own_bits = compact_bits(own_scratch, own_words);
    const uint own_nothing = own_rest == 0 ? 0 : COMPACT_NONE;
    CompactSpot own_at =
        compact_spot(own_grid, COMPACT_COLUMNS, COMPACT_ROWS, (uint)get_group_id(0));
    const int own_end = own_at.plane < own_planes ? min(own_at.y + COMPACT_ROWS, own_h) : 0;
    uint own_last[COMPACT_COLUMNS] = {COMPACT_NONE, COMPACT_NONE, COMPACT_NONE, COMPACT_NONE};
    uint own_new[COMPACT_COLUMNS] = {own_nothing, own_nothing, own_nothing, own_nothing};
    for (; own_at.y < own_end; own_at.y++) {
        COMPACT_READ(own_ids, own_at)
#pragma unroll
        for (int own_i = 0; own_i < COMPACT_COLUMNS; own_i++) {
            CompactSpot own_place = own_at;
            own_place.x += own_i << own_lanes;
            uint own_id = own_ids[own_i];
            /* Ids that share their leading digits with kept ones may yet be dropped. */
            if (own_round == 0 && own_rest != 0 && own_id != COMPACT_NONE &&
                !read_1(READ_ARGS, own_place.x, own_place.y, own_place.plane)) {
                own_id = COMPACT_NONE;
            }
            if (own_id != own_last[own_i]) {
                own_new[own_i] = compact_result(own_grid, own_bits,
                                                own_id != COMPACT_NONE ? COMPACT_KEY(own_id) : own_id);
                own_last[own_i] = own_id;
            }
            if (own_place.x < own_w) {
                own_out[compact_pixel(own_grid, own_place)] = own_new[own_i];
            }
        }
    }
}
#endif
