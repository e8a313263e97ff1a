/*
 * colours: scikit-image's ten colours for labels, in turn, by a label's place among those that there are.
 *
 * The labels that there are, less 1, are marked in a bitmap, as compact.cl does, which stands in front of
 * this text; then the planes of all three channels are written.
 *
 * Labels come in runs.  While they are marked, each column of 32 rows leaves its runs: a word with a bit for
 * each row that begins one, and the labels of the first three, 16 bytes for 128.  These are what is read the second
 * time, but for columns with more runs, whose labels are.
 *
 * The first bitmap has a bit for each id that labels from a pipeline can have.  Should there be a larger
 * one (*large is then not 0), a label's place is found in two steps, each with a bitmap: that of its leading
 * digits among those that there are, and then of this followed by the other digits (`rest` bits), which is a
 * number of not many more digits than there are pixels.
 *
 *   colours_mark    round 0: marks ids in the first bitmap, and says when one does not fit.
 *                   Rounds 1 and 2: leading digits in the second bitmap, then places in the first one,
 *                   which is larger now
 *   compact_count, scan_sums   as in compact.cl
 *   colours_clear, colours_count, colours_scan   of rounds 1 and 2
 *   colours_write   the three planes
 *
 * All that belongs to rounds 1 and 2 does nothing where all ids fitted: the host need not know.
 *
 * Defined in front: COMPACT_TREE, where the first bitmap is a level of the tree and there are no such
 * rounds; COLOURS_DENSE, where labels are from 1 without gaps, which takes colours_write alone and no bitmap;
 * COLOURS_RUNS, where there is room for runs.
 */
#pragma OPENCL FP_CONTRACT OFF

#define COLOURS_COLUMN 32 /* rows of a column */
#define COLOURS_MARKED 2  /* columns of a work-item that marks, 2^lanes apart, */
#define COLOURS_BATCH 8   /* and their rows that it reads at once */
#define COLOURS_QUAD 4    /* neighbours of a work-item that writes, which it stores at once, */
#define COLOURS_ROWS 8    /* and its rows */
#define COLOURS_FEW 3     /* runs whose labels are kept */

constant uint COLOURS[10] = {0xff0000, 0x0000ff, 0xffff00, 0xff00ff, 0x008000,
                             0x4b0082, 0xff8c00, 0x00ffff, 0xffc0cb, 0x9acd32};

#if !COLOURS_DENSE

/* Where a label is marked in a round, before its own bitmap is complete. */
COMPACT_INLINE uint colours_key(CompactBits leading, int round, int rest, uint id)
{
    if (round == 2) {
        return compact_rank(leading, id >> rest) << rest | (id & (((uint)1 << rest) - 1));
    }
    return round == 1 ? id >> rest : id;
}

#endif

/* Words of the first bitmap, of round 0 and of round 2, and of the second one; and the runs. */
#define COLOURS_PARAMS                                                                             \
    global uint *own_large, global uint *own_first, uint own_few, uint own_many,                   \
        global uint *own_second, uint own_second_words, global uint4 *own_runs

/* The runs of a column, from above; what comes before the first one is background.  Ids are labels less 1. */
typedef struct ColoursRuns {
    uint starts; /* bit k: row k begins one */
    uint ids[COLOURS_FEW];
} ColoursRuns;

COMPACT_INLINE void colours_begin(ColoursRuns *runs, int row, uint id)
{
    const uint before = (uint)popcount(runs->starts);
#pragma unroll
    for (uint i = 0; i < COLOURS_FEW; i++) {
        runs->ids[i] = i == before ? id : runs->ids[i];
    }
    runs->starts |= 1u << row;
}

/* Leaves out the first run; its id. */
COMPACT_INLINE uint colours_next(ColoursRuns *runs)
{
    const uint id = runs->ids[0];
#pragma unroll
    for (int i = 1; i < COLOURS_FEW; i++) {
        runs->ids[i - 1] = runs->ids[i];
    }
    return id;
}

COMPACT_INLINE size_t colours_column(CompactGrid g, CompactSpot at)
{
    const size_t strips = (size_t)(g.h + COLOURS_COLUMN - 1) / COLOURS_COLUMN;
    return ((size_t)at.plane * strips + (size_t)(at.y / COLOURS_COLUMN)) * (size_t)g.pitch + (size_t)at.x;
}

#if !COLOURS_DENSE

/* Marks an id in the bitmap of the round. */
COMPACT_INLINE void colours_set(CompactBits bits, global uint *large, uint key)
{
    if (key / 32 >= bits.words) {
        *large = 1;
    } else if (!compact_is_set(bits, key)) {
        atomic_or(&bits.bitmap[key / 32], 1u << (key & 31));
    }
}

/* The image's pieces are `groups`, of which each group takes every n-th.  Rows beyond the last are that one
 * again, which marks nothing. */
kernel void colours_mark(READ_PARAMS, COMPACT_PARAMS, COLOURS_PARAMS, uint own_groups COMPACT_TREE_PARAMS)
{
    local uint own_seen[COMPACT_SEEN];
    const CompactGrid own_grid = COMPACT_GRID;
    const CompactBits own_leading = compact_bits(own_second, own_second_words);
    CompactBits own_bits = compact_bits(own_first, own_round == 0 ? own_few : own_many);
    if (own_round == 1) {
        own_bits = own_leading;
    }
    for (uint own_i = (uint)get_local_id(0); own_i < COMPACT_SEEN;
         own_i += (uint)get_local_size(0)) {
        own_seen[own_i] = COMPACT_NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint own_last_group = own_round == 0 || *own_large != 0 ? own_groups : 0;
    for (uint own_group = (uint)get_group_id(0); own_group < own_last_group;
         own_group += (uint)get_num_groups(0)) {
        CompactSpot own_at = compact_spot(own_grid, COLOURS_MARKED, COLOURS_COLUMN, own_group);
        const int own_end = own_at.plane < own_planes ? min(own_at.y + COLOURS_COLUMN, own_h) : 0;
        uint own_last[COLOURS_MARKED] = {COMPACT_NONE, COMPACT_NONE};
        ColoursRuns own_found[COLOURS_MARKED] = {{0}};
        for (int own_y = own_at.y; own_y < own_end; own_y += COLOURS_BATCH) {
            uint own_ids[COLOURS_BATCH][COLOURS_MARKED];
#pragma unroll
            for (int own_i = 0; own_i < COLOURS_BATCH * COLOURS_MARKED; own_i++) {
                const int own_r = own_i / COLOURS_MARKED, own_c = own_i % COLOURS_MARKED;
                const int own_x = own_at.x + (own_c << own_lanes);
                const uint own_id = read_0(READ_ARGS, min(own_x, own_w - 1),
                                           min(own_y + own_r, own_end - 1), own_at.plane);
                own_ids[own_r][own_c] = own_x < own_w ? own_id - 1 : COMPACT_NONE;
            }
#pragma unroll
            for (int own_i = 0; own_i < COLOURS_BATCH * COLOURS_MARKED; own_i++) {
                const int own_r = own_i / COLOURS_MARKED, own_c = own_i % COLOURS_MARKED;
                const uint own_id = own_ids[own_r][own_c];
                if (own_id != own_last[own_c]) {
                    colours_begin(&own_found[own_c], own_y - own_at.y + own_r, own_id);
                    if (own_id != COMPACT_NONE && compact_is_new(own_seen, own_id)) {
                        colours_set(own_bits, own_large,
                                    COMPACT_KEY(colours_key(own_leading, own_round, own_rest, own_id)));
                    }
                }
                own_last[own_c] = own_id;
            }
        }
#if COLOURS_RUNS
#pragma unroll
        for (int own_c = 0; own_c < COLOURS_MARKED; own_c++) {
            CompactSpot own_column = own_at;
            own_column.x += own_c << own_lanes;
            if (own_round == 0 && own_end > 0 && own_column.x < own_w) {
                own_runs[colours_column(own_grid, own_column)] =
                    (uint4)(own_found[own_c].starts, own_found[own_c].ids[0], own_found[own_c].ids[1],
                            own_found[own_c].ids[2]);
            }
        }
#endif
    }
}

/* Bits only: what is behind them is written by colours_count. */
kernel void colours_clear(global const uint *large, global uint *bitmap, uint words)
{
    for (size_t i = get_global_id(0); *large != 0 && i < words; i += get_global_size(0)) {
        bitmap[i] = 0;
    }
}

kernel __attribute__((reqd_work_group_size(COMPACT_GROUP, 1, 1))) void
colours_count(global const uint *large, global uint *bitmap, uint words, uint blocks)
{
    local uint sums[COMPACT_GROUP];
    const uint end = *large != 0 ? blocks : 0; /* for all of the group */
    for (uint i = (uint)get_group_id(0); i < end; i += (uint)get_num_groups(0)) {
        compact_count_block(sums, compact_bits(bitmap, words), i);
    }
}

kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1))) void
colours_scan(global const uint *large, global uint *bitmap, uint words, uint blocks)
{
    local uint sums[SCAN_GROUP];
    (void)scan_numbers(sums, bitmap + words + words / 2, *large != 0 ? blocks : 0);
}

#endif

typedef struct ColoursBits {
    CompactBits first, second;
    int rest; /* 0: one bitmap tells */
} ColoursBits;

/* 65536 red + 256 green + blue, of an id and its key in the first bitmap. */
COMPACT_INLINE uint colours_of(ColoursBits bits, uint id, uint key)
{
#if COLOURS_DENSE
    (void)bits;
    (void)key;
    return COLOURS[id % 10];
#else
    (void)id;
    return COLOURS[compact_rank(bits.first, key) % 10];
#endif
}

/* Where there is no tree. */
COMPACT_INLINE uint colours_place(ColoursBits bits, uint id)
{
#if COLOURS_DENSE
    (void)bits;
    return id;
#else
    return bits.rest == 0 ? id : colours_key(bits.second, 2, bits.rest, id);
#endif
}

/* Takes the ids of a work-item's rows, from `at` on, from the runs of its columns; false when some column has
 * too many. */
COMPACT_INLINE bool colours_unfold(CompactGrid g, global const uint4 *all, CompactSpot at,
                                   uint ids[COLOURS_ROWS][COLOURS_QUAD])
{
    bool few = true;
#pragma unroll
    for (int i = 0; i < COLOURS_QUAD; i++) {
        CompactSpot column = at;
        column.x = min(at.x + i, g.w - 1);
        const uint4 kept = all[colours_column(g, column)];
        ColoursRuns runs = {kept.x, {kept.y, kept.z, kept.w}};
        few &= popcount(runs.starts) <= COLOURS_FEW;
        const int above = at.y % COLOURS_COLUMN;
        const uint passed = (uint)popcount(runs.starts & ((1u << above) - 1));
        uint id = COMPACT_NONE;
#pragma unroll
        for (uint k = 0; k < COLOURS_FEW; k++) {
            id = k < passed ? colours_next(&runs) : id;
        }
#pragma unroll
        for (int r = 0; r < COLOURS_ROWS; r++) {
            if ((runs.starts >> (above + r) & 1) != 0) {
                id = colours_next(&runs);
            }
            ids[r][i] = id;
        }
    }
    return few;
}

/* A group writes a column's rows of as many quads as it has work-items for.  `channel`: the only one to be
 * written, or -1: all of them, whose planes are `planes` apart. */
kernel void colours_write(READ_PARAMS, COMPACT_PARAMS, COLOURS_PARAMS, int own_channel,
                          global uchar *own_out COMPACT_TREE_PARAMS)
{
    const CompactGrid own_grid = COMPACT_GRID;
    ColoursBits own_bits;
#ifdef COMPACT_TREE
    const bool own_fit = true;
#else
    const bool own_fit = COLOURS_DENSE || *own_large == 0;
#endif
    own_bits.first = compact_bits(own_first, own_fit ? own_few : own_many);
    own_bits.second = compact_bits(own_second, own_second_words);
    own_bits.rest = own_fit ? 0 : own_rest;
    const uint own_each = (uint)get_local_size(0) / (COLOURS_COLUMN / COLOURS_ROWS);
    const uint own_tiles = ((uint)own_pitch / COLOURS_QUAD + own_each - 1) / own_each;
    const uint own_strips = ((uint)own_h + COLOURS_COLUMN - 1) / COLOURS_COLUMN;
    const uint own_item = (uint)get_local_id(0), own_group = (uint)get_group_id(0);
    const uint own_strip = own_group / own_tiles;
    CompactSpot own_at;
    own_at.x = (int)((own_group - own_strip * own_tiles) * own_each + own_item % own_each) * COLOURS_QUAD;
    own_at.plane = (int)(own_strip / own_strips);
    own_at.y = (int)(own_strip - (uint)own_at.plane * own_strips) * COLOURS_COLUMN +
               (int)(own_item / own_each) * COLOURS_ROWS;
    if (own_at.x < own_pitch && own_at.y < own_h) {
        uint own_ids[COLOURS_ROWS][COLOURS_QUAD];
        bool own_known = false;
#if COLOURS_RUNS
        own_known = own_fit && colours_unfold(own_grid, own_runs, own_at, own_ids);
#endif
        if (!own_known) {
#pragma unroll
            for (int own_i = 0; own_i < COLOURS_ROWS * COLOURS_QUAD; own_i++) {
                const int own_r = own_i / COLOURS_QUAD, own_c = own_i % COLOURS_QUAD;
                const uint own_label = read_0(READ_ARGS, min(own_at.x + own_c, own_w - 1),
                                              min(own_at.y + own_r, own_h - 1), own_at.plane);
                own_ids[own_r][own_c] = own_label - 1;
            }
        }
        uint own_last[COLOURS_QUAD] = {COMPACT_NONE, COMPACT_NONE, COMPACT_NONE, COMPACT_NONE};
        uint own_colours[COLOURS_QUAD] = {0};
#pragma unroll
        for (int own_r = 0; own_r < COLOURS_ROWS; own_r++) {
#pragma unroll
            for (int own_i = 0; own_i < COLOURS_QUAD; own_i++) {
                const uint own_id = own_ids[own_r][own_i];
                const int own_beside = max(own_i - 1, 0);
                if (own_id != own_last[own_i]) {
                    own_last[own_i] = own_id;
                    if (own_id == COMPACT_NONE) {
                        own_colours[own_i] = 0;
                    } else if (own_i > 0 && own_id == own_last[own_beside]) {
                        own_colours[own_i] = own_colours[own_beside];
                    } else {
                        own_colours[own_i] = colours_of(
                            own_bits, own_id, COMPACT_KEY(colours_place(own_bits, own_id)));
                    }
                }
            }
            CompactSpot own_place = own_at;
            own_place.y += own_r;
            for (int own_c = 0; own_c < 3 && own_place.y < own_h; own_c++) {
                const int own_shift = 16 - 8 * own_c;
                const uchar4 own_bytes = (uchar4)(
                    (uchar)(own_colours[0] >> own_shift), (uchar)(own_colours[1] >> own_shift),
                    (uchar)(own_colours[2] >> own_shift), (uchar)(own_colours[3] >> own_shift));
                own_place.plane = own_channel < 0 ? own_at.plane + own_c * own_planes : own_at.plane;
                if (own_channel < 0 || own_channel == own_c) {
                    *(global uchar4 *)(own_out + compact_pixel(own_grid, own_place)) = own_bytes;
                }
            }
        }
    }
}
