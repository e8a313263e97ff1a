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
 * one (COLOURS_LARGE is then not 0), a label's place is found in two steps, each with a bitmap: that of its leading
 * digits among those that there are, and then of this followed by the other digits (`rest` bits), which is a
 * number of not many more digits than there are pixels.
 *
 *   colours_clear   the first bitmap
 *   colours_mark    round 0: marks ids in the first bitmap, and says when one does not fit.
 *                   Rounds 1 and 2: leading digits in the second bitmap, then places in the first one,
 *                   which is larger now
 *   colours_rank    counts the bits of a round's bitmap; round 0, when some id does not fit, clears both instead
 *   compact_count, scan_sums   the same in parts, as in compact.cl
 *   colours_write   the three planes
 *
 * All that belongs to rounds 1 and 2 does nothing where all ids fitted: the host need not know.
 *
 * colours_clear and colours_rank are the text without a reader, behind scan.cl, with COMPACT_GROUP work-items.
 *
 * Defined in front of a reader's: COMPACT_TREE, where the first bitmap is a level of the tree and there are no such
 * rounds; COLOURS_DENSE, where labels are from 1 without gaps, which takes colours_write alone and no bitmap;
 * COLOURS_RUNS, where there is room for runs.
 */
#pragma OPENCL FP_CONTRACT OFF

#define COLOURS_COLUMN 32 /* rows of a column */
#define COLOURS_BATCH 16  /* of them, that are read at once */
#define COLOURS_FEW 3     /* runs whose labels are kept */
#define COLOURS_WIDE 256  /* work-items of a group, and columns that it writes, */
#define COLOURS_QUAD 4    /* as many at a time, */
#define COLOURS_QUADS (COLOURS_WIDE / COLOURS_QUAD)
#define COLOURS_ROWS (COLOURS_COLUMN * COLOURS_QUADS / COLOURS_WIDE) /* of a work-item, */
#define COLOURS_READ 4    /* of which it reads so many at once */
#define COLOURS_LARGE 0   /* word that tells of an id that does not fit, */
#define COLOURS_DONE 1    /* and from which on groups of colours_rank are counted, for each round */

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

/* Words about all, of the first bitmap, in round 0 and in round 2, and of the second one; and the runs. */
#define COLOURS_PARAMS                                                                             \
    global uint *own_about, global uint *own_first, uint own_few, uint own_many,                   \
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
COMPACT_INLINE void colours_set(CompactBits bits, global uint *about, uint key)
{
    if (key / 32 >= bits.words) {
        about[COLOURS_LARGE] = 1;
    } else if (!compact_is_set(bits, key)) {
        atomic_or(&bits.bitmap[key / 32], 1u << (key & 31));
    }
}

#ifdef READ_PARAMS

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
    const uint own_last_group = own_round == 0 || own_about[COLOURS_LARGE] != 0 ? own_groups : 0;
    for (uint own_group = (uint)get_group_id(0); own_group < own_last_group;
         own_group += (uint)get_num_groups(0)) {
        const CompactSpot own_at = compact_spot(own_grid, 1, COLOURS_COLUMN, own_group);
        const bool own_inside = own_at.plane < own_planes && own_at.x < own_w;
        const int own_end = own_inside ? min(own_at.y + COLOURS_COLUMN, own_h) : 0;
        uint own_last = COMPACT_NONE;
        ColoursRuns own_found = {0};
        for (int own_y = own_at.y; own_y < own_end; own_y += COLOURS_BATCH) {
            uint own_ids[COLOURS_BATCH];
#pragma unroll
            for (int own_r = 0; own_r < COLOURS_BATCH; own_r++) {
                own_ids[own_r] =
                    read_0(READ_ARGS, own_at.x, min(own_y + own_r, own_end - 1), own_at.plane) - 1;
            }
#pragma unroll
            for (int own_r = 0; own_r < COLOURS_BATCH; own_r++) {
                const uint own_id = own_ids[own_r];
                if (own_id != own_last) {
                    colours_begin(&own_found, own_y - own_at.y + own_r, own_id);
                    if (own_id != COMPACT_NONE && compact_is_new(own_seen, own_id)) {
                        colours_set(own_bits, own_about,
                                    COMPACT_KEY(colours_key(own_leading, own_round, own_rest, own_id)));
                    }
                }
                own_last = own_id;
            }
        }
#if COLOURS_RUNS
        if (own_round == 0 && own_inside) {
            own_runs[colours_column(own_grid, own_at)] =
                (uint4)(own_found.starts, own_found.ids[0], own_found.ids[1], own_found.ids[2]);
        }
#endif
    }
}

#else

/* Bits only: what is behind them is written by colours_rank. */
COMPACT_INLINE void colours_clear_words(global uint *words, uint n)
{
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        words[i] = 0;
    }
}

kernel void colours_clear(global uint *about, uint about_words, global uint *bitmap, uint words)
{
    colours_clear_words(about, about_words);
    colours_clear_words(bitmap, words);
}

/* The bitmap of the round is `own`, of so many words.  The group that comes to its end last adds up the sums of all
 * blocks, which go through atomics alone so that it sees them. */
kernel __attribute__((reqd_work_group_size(COMPACT_GROUP, 1, 1))) void
colours_rank(global uint *about, int round, global uint *own, uint words, global uint *first, uint many,
             global uint *second, uint second_words)
{
    local uint sums[COMPACT_GROUP];
    local bool is_last;
    const CompactBits bits = compact_bits(own, words);
    const bool large = about[COLOURS_LARGE] != 0, counts = large == (round > 0);
    const uint blocks = counts ? (words + COMPACT_BLOCK - 1) / COMPACT_BLOCK : 0;
    const uint groups = (uint)get_num_groups(0), item = (uint)get_local_id(0);
    if (round == 0 && large) {
        colours_clear_words(first, many);
        colours_clear_words(second, second_words);
    }
    bool seen = counts;
    for (uint i = (uint)get_group_id(0); i < blocks; i += groups) {
        const uint sum = compact_count_block(sums, bits, i);
        if (item == 0) {
            atomic_xchg(&bits.sums[i], sum);
            seen = seen && atomic_or(&bits.sums[i], 0) == sum;
        }
    }
    if (item == 0) {
        is_last = seen && atomic_inc(&about[COLOURS_DONE + round]) == groups - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint summed = is_last ? blocks : 0; /* for all of the group */
    for (uint i = item; i < summed; i += COMPACT_GROUP) {
        bits.sums[i] = atomic_or(&bits.sums[i], 0);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    (void)scan_numbers(sums, bits.sums, summed);
}

#endif
#endif

#ifdef READ_PARAMS

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

/* What a group writes: four neighbours in a word. */
typedef uint ColoursPlane[COLOURS_COLUMN][COLOURS_QUADS];

COMPACT_INLINE void colours_keep(local ColoursPlane *planes, int row, uint quad,
                                 const uint colours[COLOURS_QUAD])
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const int shift = 16 - 8 * c;
        planes[c][row][quad] = (colours[0] >> shift & 255) | (colours[1] >> shift & 255) << 8 |
                               (colours[2] >> shift & 255) << 16 | (colours[3] >> shift & 255) << 24;
    }
}

#if COLOURS_RUNS
/* The runs of a column with colours for ids; with all rows as beginnings where there are more than three, or ids are
 * too large. */
COMPACT_INLINE uint4 colours_of_runs(ColoursBits bits, uint4 kept)
{
    const uint n = (uint)popcount(kept.x);
    const bool few = bits.rest == 0 && n <= COLOURS_FEW;
    const uint ids[COLOURS_FEW] = {kept.y, kept.z, kept.w};
    uint colours[COLOURS_FEW];
#pragma unroll
    for (uint k = 0; k < COLOURS_FEW; k++) { /* without a branch, so that all are under way at once */
        const bool there = few && k < n && ids[k] != COMPACT_NONE;
        const uint id = there ? ids[k] : 0;
        colours[k] = colours_of(bits, id, id) & (there ? ~0u : 0u);
    }
    return (uint4)(few ? kept.x : ~0u, colours[0], colours[1], colours[2]);
}

/* Writes a work-item's rows of a quad, from `from` on, from the runs of its columns; false when one has too many. */
COMPACT_INLINE bool colours_unfold(local const uint4 *columns, local ColoursPlane *planes, int from, uint quad)
{
    ColoursRuns runs[COLOURS_QUAD];
    uint colours[COLOURS_QUAD];
    bool few = true;
#pragma unroll
    for (int i = 0; i < COLOURS_QUAD; i++) {
        const uint4 column = columns[quad * COLOURS_QUAD + (uint)i];
        const uint passed = (uint)popcount(column.x & ((1u << from) - 1));
        few &= column.x != ~0u;
        runs[i].starts = column.x >> from;
        runs[i].ids[0] = column.y;
        runs[i].ids[1] = column.z;
        runs[i].ids[2] = column.w;
        colours[i] = 0;
#pragma unroll
        for (uint k = 0; k < COLOURS_FEW; k++) {
            colours[i] = k < passed ? colours_next(&runs[i]) : colours[i];
        }
    }
    if (!few) {
        return false;
    }
#pragma unroll
    for (int r = 0; r < COLOURS_ROWS; r++) {
#pragma unroll
        for (int i = 0; i < COLOURS_QUAD; i++) {
            if ((runs[i].starts >> r & 1) != 0) {
                colours[i] = colours_next(&runs[i]);
            }
        }
        colours_keep(planes, from + r, quad, colours);
    }
    return true;
}
#endif

/* A group writes columns of rows, each work-item some rows of four of them, which come together in local memory and
 * go out 16 bytes at a time.  `channel`: the only one to be written, or -1: all of them, whose planes are `planes`
 * apart. */
kernel __attribute__((reqd_work_group_size(COLOURS_WIDE, 1, 1))) void
colours_write(READ_PARAMS, COMPACT_PARAMS, COLOURS_PARAMS, int own_channel,
              global uchar *own_out COMPACT_TREE_PARAMS)
{
    local ColoursPlane own_kept[3] __attribute__((aligned(16)));
    const CompactGrid own_grid = COMPACT_GRID;
    ColoursBits own_bits;
#ifdef COMPACT_TREE
    const bool own_fit = true;
#else
    const bool own_fit = COLOURS_DENSE || own_about[COLOURS_LARGE] == 0;
#endif
    own_bits.first = compact_bits(own_first, own_fit ? own_few : own_many);
    own_bits.second = compact_bits(own_second, own_second_words);
    own_bits.rest = own_fit ? 0 : own_rest;
    const uint own_tiles = ((uint)own_pitch + COLOURS_WIDE - 1) / COLOURS_WIDE;
    const uint own_strips = ((uint)own_h + COLOURS_COLUMN - 1) / COLOURS_COLUMN;
    const uint own_item = (uint)get_local_id(0), own_group = (uint)get_group_id(0);
    const uint own_strip = own_group / own_tiles;
    CompactSpot own_at;
    own_at.x = (int)((own_group - own_strip * own_tiles) * COLOURS_WIDE);
    own_at.plane = (int)(own_strip / own_strips);
    own_at.y = (int)(own_strip - (uint)own_at.plane * own_strips) * COLOURS_COLUMN;
    const uint own_quad = own_item % COLOURS_QUADS;
    const int own_from = (int)(own_item / COLOURS_QUADS) * COLOURS_ROWS;
    bool own_known = false;
#if COLOURS_RUNS
    local uint4 own_columns[COLOURS_WIDE];
    CompactSpot own_column = own_at;
    own_column.x = min(own_at.x + (int)own_item, own_w - 1);
    own_columns[own_item] = colours_of_runs(own_bits, own_runs[colours_column(own_grid, own_column)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    own_known = colours_unfold(own_columns, own_kept, own_from, own_quad);
#endif
    const int own_rows = own_known ? 0 : min(COLOURS_ROWS, own_h - own_at.y - own_from);
    uint own_last = COMPACT_NONE, own_colour = 0;
    for (int own_row = 0; own_row < own_rows; own_row += COLOURS_READ) {
        uint own_ids[COLOURS_READ][COLOURS_QUAD];
#pragma unroll
        for (int own_i = 0; own_i < COLOURS_READ * COLOURS_QUAD; own_i++) {
            const int own_x = own_at.x + (int)own_quad * COLOURS_QUAD + own_i % COLOURS_QUAD;
            const int own_y = own_at.y + own_from + own_row + own_i / COLOURS_QUAD;
            own_ids[own_i / COLOURS_QUAD][own_i % COLOURS_QUAD] =
                read_0(READ_ARGS, min(own_x, own_w - 1), min(own_y, own_h - 1), own_at.plane) - 1;
        }
#pragma unroll
        for (int own_r = 0; own_r < COLOURS_READ; own_r++) {
            uint own_colours[COLOURS_QUAD];
#pragma unroll
            for (int own_i = 0; own_i < COLOURS_QUAD; own_i++) {
                const uint own_id = own_ids[own_r][own_i];
                if (own_id != own_last) {
                    own_last = own_id;
                    own_colour = 0;
                    if (own_id != COMPACT_NONE) {
                        own_colour = colours_of(own_bits, own_id,
                                                COMPACT_KEY(colours_place(own_bits, own_id)));
                    }
                }
                own_colours[own_i] = own_colour;
            }
            colours_keep(own_kept, own_from + own_row + own_r, own_quad, own_colours);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint own_pieces = COLOURS_QUADS / 4; /* of a row */
    for (uint own_i = own_item; own_i < 3 * COLOURS_COLUMN * own_pieces; own_i += COLOURS_WIDE) {
        const uint own_piece = own_i % own_pieces, own_y = own_i / own_pieces % COLOURS_COLUMN;
        const int own_c = (int)(own_i / own_pieces / COLOURS_COLUMN);
        CompactSpot own_place = {own_at.x + (int)own_piece * 16, own_at.y + (int)own_y,
                                 own_channel < 0 ? own_at.plane + own_c * own_planes : own_at.plane};
        if (own_place.x < own_pitch && own_place.y < own_h && (own_channel < 0 || own_channel == own_c)) {
            *(global uint4 *)(own_out + compact_pixel(own_grid, own_place)) =
                *(local const uint4 *)&own_kept[own_c][own_y][own_piece * 4];
        }
    }
}

#endif
