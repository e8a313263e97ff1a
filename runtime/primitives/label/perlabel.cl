/*
 * perlabel: for each label the exact sum, the smallest, the largest or the number of its values.
 *
 * Work-items stream down columns.  A run of equal labels is folded in registers; runs that have
 * ended go, a few rows' worth at a time, into a small table in local memory, and what the group has
 * collected there goes to global memory at the end.  Background has its own registers and entry.
 *
 * All folds are on integers, so their order does not matter:
 *   EXPONENTS  the largest biased exponent (1 for subnormal numbers, 255 for infinities)
 *   SUM        128 bits (exact_sums.cl)
 *   LOWEST, HIGHEST  keys with the order of f32 (-0 below +0), larger is better; 0: none yet
 *   COUNT
 * NaN is left out.
 *
 * Sums take four words a label.  They are computed for `range` labels at a time, beginning at
 * `first`; ranges beyond the last label end at once.  All else is folded in the result itself.
 *
 * Names that meet a reader's begin with own_ or perlabel_; perlabel_start and perlabel_finish are the text without
 * one.  The host defines PERLABEL_FOLD: the nodes' 0 sum, 1 min, 2 max, 3 count.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define PERLABEL_INLINE static inline __attribute__((always_inline))
#define PERLABEL_GROUP 256
#define PERLABEL_STRIP 64    /* rows that a work-item streams over */
#define PERLABEL_BATCH 8     /* rows that are read together */
#define PERLABEL_ENTRIES 512 /* of the local table; one more for background */
#define PERLABEL_PIECES 4    /* 32-bit words of a sum */

enum { PERLABEL_SUM, PERLABEL_LOWEST, PERLABEL_HIGHEST, PERLABEL_COUNT, PERLABEL_EXPONENTS };

typedef struct PerlabelRun {
    uint label; /* 0: none */
    int largest;
    ExactSum folded;
} PerlabelRun;

/* Where results go. */
typedef struct PerlabelTo {
    volatile global uint *table; /* the result, by label */
    volatile global uint *sums;  /* by label - first */
    uint first, end;             /* labels that are folded now */
    volatile local uint *keys, *entries;
} PerlabelTo;

/* What one value is to its label. */
PERLABEL_INLINE ExactSum perlabel_one(const int fold, uint bits, int largest)
{
    ExactSum v = {0, 0};
    if (!exact_is_nan(bits)) {
        if (fold == PERLABEL_SUM) {
            v = exact_in_units(bits, largest);
        } else {
            v.low = fold == PERLABEL_COUNT       ? 1
                    : fold == PERLABEL_EXPONENTS ? (uint)exact_exponent(bits)
                    : fold == PERLABEL_LOWEST    ? ~exact_key(bits)
                                                 : exact_key(bits);
        }
    }
    return v;
}

PERLABEL_INLINE void perlabel_fold(const int fold, ExactSum *to, ExactSum v)
{
    if (fold == PERLABEL_SUM) {
        exact_add(to, v);
    } else if (fold == PERLABEL_COUNT) {
        to->low = (uint)to->low + (uint)v.low;
    } else {
        to->low = max((uint)to->low, (uint)v.low);
    }
}

/* Begins a run of a label; sums need its largest exponent. */
PERLABEL_INLINE PerlabelRun perlabel_begin(const int fold, const PerlabelTo *to, uint label)
{
    PerlabelRun run = {label, 0, {0, 0}};
    if (fold == PERLABEL_SUM && label >= to->first && label < to->end) {
        run.largest = (int)to->table[label];
    }
    return run;
}

/* Adds what has been folded to an accumulator in local or global memory, carrying from word to
 * word. */
#define PERLABEL_POUR(fold, from, at)                                                              \
    do {                                                                                           \
        if ((fold) == PERLABEL_SUM) {                                                              \
            const uint one_piece[PERLABEL_PIECES] = {(uint)(from).low, (uint)((from).low >> 32),   \
                                                  (uint)(from).high, (uint)((from).high >> 32)};   \
            uint one_carry = 0;                                                                    \
            for (int one_i = 0; one_i < PERLABEL_PIECES; one_i++) {                                \
                /* All ones and a carry: nothing is added here, the carry goes on. */              \
                const uint one_add = one_piece[one_i] + one_carry, one_over = one_add < one_carry;\
                const uint one_was = one_add != 0 ? atomic_add(&(at)[one_i], one_add) : 0;         \
                one_carry = one_over + (one_was + one_add < one_was ? 1 : 0);                      \
            }                                                                                      \
        } else if ((fold) == PERLABEL_COUNT) {                                                     \
            atomic_add((at), (uint)(from).low);                                                    \
        } else if (*(at) < (uint)(from).low) {                                                     \
            atomic_max((at), (uint)(from).low);                                                    \
        }                                                                                          \
    } while (0)

PERLABEL_INLINE void perlabel_pour_global(const int fold, const PerlabelTo *to, uint label,
                                          ExactSum folded)
{
    if (label >= to->first && label < to->end) {
        if (fold == PERLABEL_SUM) {
            PERLABEL_POUR(PERLABEL_SUM, folded,
                          to->sums + (size_t)(label - to->first) * PERLABEL_PIECES);
        } else {
            PERLABEL_POUR(fold, folded, to->table + label);
        }
    }
}

/* Adds a run of an object to its place in the local table, or globally when that is taken. */
PERLABEL_INLINE void perlabel_pour(const int fold, const PerlabelTo *to, const PerlabelRun *run)
{
    if (run->label < to->first || run->label >= to->end) {
        return;
    }
    const uint entry = run->label * 2654435761u / (0xffffffffu / PERLABEL_ENTRIES + 1);
    uint key = to->keys[entry];
    if (key == 0) {
        key = atomic_cmpxchg(&to->keys[entry], 0, run->label);
    }
    if (key == 0 || key == run->label) {
        PERLABEL_POUR(fold, run->folded, to->entries + entry * PERLABEL_PIECES);
    } else {
        perlabel_pour_global(fold, to, run->label, run->folded);
    }
}

/* What a work-item has in its registers: two runs of objects, so that most runs that end can wait
 * until others of the warp have ended, too. */
typedef struct PerlabelState {
    PerlabelRun now, waiting, background;
} PerlabelState;

PERLABEL_INLINE void perlabel_settle(const int fold, const PerlabelTo *to, PerlabelRun *run)
{
    if (run->label != 0) {
        perlabel_pour(fold, to, run);
    }
    run->label = 0;
}

PERLABEL_INLINE void perlabel_step(const int fold, const PerlabelTo *to, PerlabelState *state,
                                   uint label, uint bits)
{
    if (label != 0 && label != state->now.label) {
        perlabel_settle(fold, to, &state->waiting);
        state->waiting = state->now;
        state->now = perlabel_begin(fold, to, label);
    }
    const ExactSum v =
        perlabel_one(fold, bits, label == 0 ? state->background.largest : state->now.largest);
    if (label == 0) {
        perlabel_fold(fold, &state->background.folded, v);
    } else {
        perlabel_fold(fold, &state->now.folded, v);
    }
}

PERLABEL_INLINE void perlabel_open(local uint *keys, local uint *entries)
{
    for (uint i = (uint)get_local_id(0); i < (PERLABEL_ENTRIES + 1) * PERLABEL_PIECES;
         i += PERLABEL_GROUP) {
        entries[i] = 0;
        if (i < PERLABEL_ENTRIES) {
            keys[i] = 0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Adds the background, then empties the local table. */
PERLABEL_INLINE void perlabel_close(const int fold, const PerlabelTo *to,
                                    const PerlabelRun *background)
{
    PERLABEL_POUR(fold, background->folded, to->entries + PERLABEL_ENTRIES * PERLABEL_PIECES);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i <= PERLABEL_ENTRIES; i += PERLABEL_GROUP) {
        volatile local const uint *entry = to->entries + i * PERLABEL_PIECES;
        const uint label = i < PERLABEL_ENTRIES ? to->keys[i] : 0;
        const ExactSum folded = {entry[0] | (ulong)entry[1] << 32,
                                       entry[2] | (ulong)entry[3] << 32};
        if ((folded.low | folded.high) != 0) {
            perlabel_pour_global(fold, to, label, folded);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Labels that have an entry in the result. */
PERLABEL_INLINE uint perlabel_end(ulong capacity, global const double *values, int of_value)
{
    const double labels = of_value >= 0 ? values[of_value] + 1.0 : (double)capacity;
    return (uint)min((ulong)labels, capacity);
}

#define PERLABEL_KERNEL kernel __attribute__((reqd_work_group_size(PERLABEL_GROUP, 1, 1)))
#define PERLABEL_ABOUT                                                                             \
    ulong own_capacity, global const double *own_labels, int own_slot, uint own_first,             \
        uint own_range, global uint *own_table, global uint *own_sums

#ifdef READ_PARAMS

typedef struct PerlabelSpot {
    int x, y, plane;
} PerlabelSpot;

/* Parts of the image that a group folds at a time: columns of strips, 2^lanes pixels wide; where
 * the image is narrow, several strips below each other. */
PERLABEL_INLINE uint perlabel_parts(int w, int h, int planes, int lanes)
{
    const uint across = ((uint)w + ((uint)1 << lanes) - 1) >> lanes;
    const uint strips = ((uint)h + PERLABEL_STRIP - 1) / PERLABEL_STRIP * (uint)planes;
    const uint each = (uint)PERLABEL_GROUP >> lanes;
    return across * ((strips + each - 1) / each);
}

/* The top of a work-item's column. */
PERLABEL_INLINE PerlabelSpot perlabel_spot(uint part, int w, int h, int lanes)
{
    const uint item = (uint)get_local_id(0), span = (uint)1 << lanes;
    const uint across = ((uint)w + span - 1) >> lanes;
    const uint strips = ((uint)h + PERLABEL_STRIP - 1) / PERLABEL_STRIP;
    const uint below = part / across;
    const uint strip = below * ((uint)PERLABEL_GROUP >> lanes) + (item >> lanes);
    PerlabelSpot at;
    at.x = (int)(((part - below * across) << lanes) + (item & (span - 1)));
    at.plane = (int)(strip / strips);
    at.y = (int)(strip - (uint)at.plane * strips) * PERLABEL_STRIP;
    return at;
}

/* Folds `rows` rows of a work-item's column from `top` on; all are read before any is used. */
#define PERLABEL_ROWS(fold, rows, top)                                                             \
    {                                                                                              \
        uint own_label[rows], own_bits[rows];                                                      \
        _Pragma("unroll") for (int own_k = 0; own_k < (rows); own_k++)                             \
        {                                                                                          \
            own_label[own_k] = (uint)read_0(READ_ARGS, own_at.x, (top) + own_k, own_at.plane);     \
            own_bits[own_k] =                                                                      \
                as_uint((float)read_1(READ_ARGS, own_at.x, (top) + own_k, own_at.plane));          \
        }                                                                                          \
        _Pragma("unroll") for (int own_k = 0; own_k < (rows); own_k++)                             \
        {                                                                                          \
            perlabel_step(fold, &own_to, &own_state, own_label[own_k], own_bits[own_k]);           \
        }                                                                                          \
    }

/* A work-item folds a column of a part. */
#define PERLABEL_COLUMN(fold, part)                                                                \
    {                                                                                              \
        const PerlabelSpot own_at = perlabel_spot(part, own_w, own_h, own_lanes);                  \
        const bool own_inside = own_at.x < own_w && own_at.plane < own_planes;                     \
        const int own_bottom = own_inside ? min(own_at.y + PERLABEL_STRIP, own_h) : 0;             \
        int own_row = own_at.y;                                                                    \
        for (; own_row + PERLABEL_BATCH <= own_bottom; own_row += PERLABEL_BATCH) {                \
            PERLABEL_ROWS(fold, PERLABEL_BATCH, own_row)                                           \
            perlabel_settle(fold, &own_to, &own_state.waiting);                                    \
        }                                                                                          \
        for (; own_row < own_bottom; own_row++) {                                                  \
            PERLABEL_ROWS(fold, 1, own_row)                                                        \
        }                                                                                          \
        perlabel_settle(fold, &own_to, &own_state.waiting);                                        \
        perlabel_settle(fold, &own_to, &own_state.now);                                            \
    }

/* A group folds every n-th part. */
#define PERLABEL_STREAM(fold)                                                                       \
    local uint own_keys[PERLABEL_ENTRIES], own_entries[(PERLABEL_ENTRIES + 1) * PERLABEL_PIECES];  \
    const uint own_end = perlabel_end(own_capacity, own_labels, own_slot);                         \
    const uint own_last = (uint)min((ulong)own_end, (ulong)own_first + own_range);                 \
    const PerlabelTo own_to = {own_table, own_sums, own_first, own_last, own_keys, own_entries};   \
    const uint own_parts =                                                                         \
        own_first < own_last ? perlabel_parts(own_w, own_h, own_planes, own_lanes) : 0;            \
    for (uint own_part = (uint)get_group_id(0); own_part < own_parts;                              \
         own_part += (uint)get_num_groups(0)) {                                                    \
        PerlabelState own_state;                                                                   \
        own_state.now = own_state.waiting = perlabel_begin(fold, &own_to, 0);                      \
        own_state.background = own_state.now;                                                      \
        perlabel_open(own_keys, own_entries);                                                      \
        PERLABEL_COLUMN(fold, own_part)                                                            \
        perlabel_close(fold, &own_to, &own_state.background);                                      \
    }

PERLABEL_KERNEL void perlabel_run(READ_PARAMS, int own_w, int own_h, int own_planes, int own_lanes,
                                  PERLABEL_ABOUT){PERLABEL_STREAM(PERLABEL_FOLD)}

#if PERLABEL_FOLD == 0

PERLABEL_KERNEL void perlabel_exponents(READ_PARAMS, int own_w, int own_h, int own_planes,
                                        int own_lanes, PERLABEL_ABOUT)
{
    PERLABEL_STREAM(PERLABEL_EXPONENTS)
}

#endif

#else

/* Sets the entries of all labels, and the sums of the first range, to nothing. */
PERLABEL_KERNEL void perlabel_start(PERLABEL_ABOUT)
{
    const uint end = perlabel_end(own_capacity, own_labels, own_slot);
    for (uint i = (uint)get_global_id(0); i < end; i += (uint)get_global_size(0)) {
        own_table[i] = 0;
        for (int k = 0; PERLABEL_FOLD == PERLABEL_SUM && i < own_range && k < PERLABEL_PIECES;
             k++) {
            own_sums[(size_t)i * PERLABEL_PIECES + (size_t)k] = 0;
        }
    }
}

/* Turns a label's accumulator into its result, in place of the key; sums are ready to be used
 * again. */
PERLABEL_INLINE float perlabel_result(uint key, global uint *sums, size_t at)
{
#if PERLABEL_FOLD == 0
    global uint *const piece = sums + at * PERLABEL_PIECES;
    const ulong low = piece[0] | (ulong)piece[1] << 32, high = piece[2] | (ulong)piece[3] << 32;
    for (int k = 0; k < PERLABEL_PIECES; k++) {
        piece[k] = 0;
    }
    return exact_round((ExactSum){low, high}, (int)key);
#elif PERLABEL_FOLD == 3
    return convert_float_rte(key);
#else
    const uint sorted = PERLABEL_FOLD == 1 ? ~key : key;
    const uint bits = sorted >> 31 != 0 ? sorted & 0x7fffffff : ~sorted;
    return key == 0 ? (PERLABEL_FOLD == 1 ? INFINITY : -INFINITY) : as_float(bits);
#endif
}

PERLABEL_KERNEL void perlabel_finish(PERLABEL_ABOUT)
{
    const uint end = perlabel_end(own_capacity, own_labels, own_slot);
    const uint last = (uint)min((ulong)end, (ulong)own_first + own_range);
    for (size_t i = own_first + get_global_id(0); i < last; i += get_global_size(0)) {
        own_table[i] = as_uint(perlabel_result(own_table[i], own_sums, i - own_first));
    }
}

#endif
