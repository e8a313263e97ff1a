/*
 * perlabel: for each label the exact sum, the smallest, the largest or the number of its values.
 *
 * Work-items march down columns.  A run of equal labels is folded in registers; finished runs go, a few
 * rows' worth at a time, into a small hash table in local memory, and what the group has
 * collected there goes to global memory at the end.  Background has its own registers and entry.
 *
 * All folds are on integers, so their order does not matter:
 *   PERLABEL_EXPONENTS  the largest biased exponent (1 for subnormal numbers, 255 for infinities)
 *   PERLABEL_SUM        128 bits in units of 2^(largest exponent - 216); bits below the unit are cut off.
 *              Labels with an infinity count these instead: +inf below, -inf above.
 *   PERLABEL_LOWEST, PERLABEL_HIGHEST  keys with the order of f32 (-0 below +0), larger is better; 0: none yet
 *   PERLABEL_COUNT
 * NaN is left out.
 *
 * Sums take four words a label.  They are computed for `range` labels at a time, beginning at
 * `first`; ranges beyond the last label end at once.  All else is folded in the result itself.
 *
 * Names that meet a reader's begin with own_ or perlabel_.  The host defines PERLABEL_FOLD: the nodes' 0 sum,
 * 1 min, 2 max, 3 count.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define PERLABEL_INLINE static inline __attribute__((always_inline))
#define PERLABEL_GROUP 256
#define PERLABEL_STRIP 64    /* rows that a work-item marches over */
#define PERLABEL_BATCH 4     /* rows that are read together; as many runs can end there */
#define PERLABEL_ENTRIES 128 /* of the local table; one more for background */
#define PERLABEL_PROBES 4
#define PERLABEL_PIECES 4    /* 32-bit words of an accumulator */

enum { PERLABEL_SUM, PERLABEL_LOWEST, PERLABEL_HIGHEST, PERLABEL_COUNT, PERLABEL_EXPONENTS };

/* What has been folded: for PERLABEL_SUM 128 bits, else a number in `low`. */
typedef struct PerlabelRun {
    uint label; /* 0: none */
    int largest;
    ulong low, high;
} PerlabelRun;

/* Where results go. */
typedef struct PerlabelTo {
    volatile global uint *table; /* the result, by label */
    volatile global uint *sums;  /* by label - first */
    uint first, end;    /* labels that are folded now */
    volatile local uint *keys, *entries;
} PerlabelTo;

PERLABEL_INLINE bool perlabel_is_nan(uint bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

PERLABEL_INLINE int perlabel_exponent(uint bits)
{
    return max((int)(bits >> 23 & 255), 1);
}

/* Unsigned keys in the order of f32. */
PERLABEL_INLINE uint perlabel_key(uint bits)
{
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000;
}

PERLABEL_INLINE void perlabel_add_128(PerlabelRun *run, ulong low, ulong high)
{
    run->low += low;
    run->high += high + (run->low < low ? 1 : 0);
}

/* Adds a number that is not NaN to a sum. */
PERLABEL_INLINE void perlabel_add_value(PerlabelRun *run, uint bits)
{
    const int exponent = perlabel_exponent(bits), shift = exponent - run->largest + 66;
    ulong low = 0, high = 0;
    if (run->largest == 255) {
        low = bits == 0x7f800000;
        high = bits == 0xff800000;
    } else {
        const ulong mantissa = (bits & 0x7fffff) | ((bits >> 23 & 255) != 0 ? 0x800000 : 0);
        if (shift >= 64) {
            high = mantissa << (shift - 64);
        } else if (shift > 0) {
            low = mantissa << shift;
            high = mantissa >> (64 - shift);
        } else {
            low = shift > -24 ? mantissa >> -shift : 0;
        }
        if (bits >> 31 != 0) {
            high = ~high + (low == 0 ? 1 : 0);
            low = -low;
        }
    }
    perlabel_add_128(run, low, high);
}

PERLABEL_INLINE void perlabel_fold(const int fold, PerlabelRun *run, uint bits)
{
    if (perlabel_is_nan(bits)) {
        return;
    }
    if (fold == PERLABEL_SUM) {
        perlabel_add_value(run, bits);
    } else if (fold == PERLABEL_COUNT) {
        run->low++;
    } else {
        const uint key = fold == PERLABEL_EXPONENTS ? (uint)perlabel_exponent(bits)
                         : fold == PERLABEL_LOWEST  ? ~perlabel_key(bits)
                                           : perlabel_key(bits);
        run->low = max(run->low, (ulong)key);
    }
}

/* Begins a run of a label that is folded now. */
PERLABEL_INLINE PerlabelRun perlabel_begin(const int fold, const PerlabelTo *to, uint label)
{
    PerlabelRun run;
    run.label = label;
    run.low = run.high = 0;
    run.largest = fold == PERLABEL_SUM && label >= to->first && label < to->end ? (int)to->table[label] : 0;
    return run;
}

/* Adds a run to an accumulator in local or global memory, carrying from word to word. */
#define PERLABEL_POUR(fold, run, at)                                                               \
    do {                                                                                           \
        if ((fold) == PERLABEL_SUM) {                                                                       \
            const uint piece_[PERLABEL_PIECES] = {(uint)(run)->low, (uint)((run)->low >> 32),               \
                                         (uint)(run)->high, (uint)((run)->high >> 32)};            \
            uint carry_ = 0;                                                                       \
            for (int i_ = 0; i_ < PERLABEL_PIECES; i_++) {                                                  \
                const uint add_ = piece_[i_] + carry_;                                             \
                /* All ones and a carry: nothing is added here, the carry goes on. */              \
                const uint over_ = add_ < carry_ ? 1 : 0;                                          \
                const uint was_ = add_ != 0 ? atomic_add(&(at)[i_], add_) : 0;                     \
                carry_ = over_ + (was_ + add_ < was_ ? 1 : 0);                                     \
            }                                                                                      \
        } else if ((fold) == PERLABEL_COUNT) {                                                              \
            atomic_add((at), (uint)(run)->low);                                                    \
        } else if (*(at) < (uint)(run)->low) {                                                     \
            atomic_max((at), (uint)(run)->low);                                                    \
        }                                                                                          \
    } while (0)

PERLABEL_INLINE void perlabel_pour_global(const int fold, const PerlabelTo *to,
                                          const PerlabelRun *run)
{
    if (run->label >= to->first && run->label < to->end) {
        if (fold == PERLABEL_SUM) {
            PERLABEL_POUR(PERLABEL_SUM, run, to->sums + (size_t)(run->label - to->first) * PERLABEL_PIECES);
        } else {
            PERLABEL_POUR(fold, run, to->table + run->label);
        }
    }
}

/* Adds a run of an object to its entry of the local table, or globally when there is no room. */
PERLABEL_INLINE void perlabel_pour(const int fold, const PerlabelTo *to, const PerlabelRun *run)
{
    if (run->label < to->first || run->label >= to->end || (run->low | run->high) == 0) {
        return;
    }
    uint entry = run->label * 2654435761u / (0xffffffffu / PERLABEL_ENTRIES + 1);
    bool found = false;
    for (int probe = 0; probe < PERLABEL_PROBES && !found; probe++) {
        uint was = to->keys[entry];
        was = was == 0 ? atomic_cmpxchg(&to->keys[entry], 0, run->label) : was;
        found = was == 0 || was == run->label;
        entry = found ? entry : (entry + 1) % PERLABEL_ENTRIES;
    }
    if (found) {
        PERLABEL_POUR(fold, run, to->entries + entry * PERLABEL_PIECES);
    } else {
        perlabel_pour_global(fold, to, run);
    }
}

/* What a work-item has in its registers.  Runs that have ended wait until the batch is done, so that
 * few instructions are spent on runs while most of a warp has none. */
typedef struct PerlabelState {
    PerlabelRun now, background, waiting[PERLABEL_BATCH];
} PerlabelState;

PERLABEL_INLINE void perlabel_step(const int fold, const PerlabelTo *to, PerlabelState *state,
                                   uint label, uint bits)
{
    if (label == 0) {
        perlabel_fold(fold, &state->background, bits);
    } else {
        if (label != state->now.label) {
#pragma unroll
            for (int i = PERLABEL_BATCH - 1; i > 0; i--) {
                state->waiting[i] = state->waiting[i - 1];
            }
            state->waiting[0] = state->now;
            state->now = perlabel_begin(fold, to, label);
        }
        perlabel_fold(fold, &state->now, bits);
    }
}

PERLABEL_INLINE void perlabel_pour_waiting(const int fold, const PerlabelTo *to,
                                           PerlabelState *state)
{
    while (state->waiting[0].label != 0) {
        perlabel_pour(fold, to, &state->waiting[0]);
#pragma unroll
        for (int i = 0; i < PERLABEL_BATCH - 1; i++) {
            state->waiting[i] = state->waiting[i + 1];
        }
        state->waiting[PERLABEL_BATCH - 1].label = 0;
    }
}

PERLABEL_INLINE void perlabel_open(local uint *keys, local uint *entries)
{
    for (uint i = (uint)get_local_id(0); i < (PERLABEL_ENTRIES + 1) * PERLABEL_PIECES; i += PERLABEL_GROUP) {
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
    if ((background->low | background->high) != 0) {
        PERLABEL_POUR(fold, background, to->entries + PERLABEL_ENTRIES * PERLABEL_PIECES);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i <= PERLABEL_ENTRIES; i += PERLABEL_GROUP) {
        volatile local const uint *entry = to->entries + i * PERLABEL_PIECES;
        PerlabelRun run;
        run.label = i < PERLABEL_ENTRIES ? to->keys[i] : 0;
        run.low = entry[0] | (ulong)entry[1] << 32;
        run.high = entry[2] | (ulong)entry[3] << 32;
        if ((run.low | run.high) != 0) {
            perlabel_pour_global(fold, to, &run);
        }
    }
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

/* Sets the entries of all labels, and the sums of the first range, to nothing. */
PERLABEL_KERNEL void perlabel_start(PERLABEL_ABOUT)
{
    const uint end = perlabel_end(own_capacity, own_labels, own_slot);
    for (uint i = (uint)get_global_id(0); i < end; i += (uint)get_global_size(0)) {
        own_table[i] = 0;
        for (int k = 0; PERLABEL_FOLD == PERLABEL_SUM && i < own_range && k < PERLABEL_PIECES; k++) {
            own_sums[(size_t)i * PERLABEL_PIECES + (size_t)k] = 0;
        }
    }
}

typedef struct PerlabelSpot {
    int x, y, plane;
} PerlabelSpot;

/* The top of a work-item's column: strips of a group lie below each other where the image is narrow. */
PERLABEL_INLINE PerlabelSpot perlabel_spot(int w, int h, int lanes)
{
    const uint item = (uint)get_local_id(0), span = (uint)1 << lanes;
    const uint across = ((uint)w + span - 1) >> lanes;
    const uint strips = ((uint)h + PERLABEL_STRIP - 1) / PERLABEL_STRIP;
    const uint group = (uint)get_group_id(0), below = group / across;
    const uint strip = below * ((uint)PERLABEL_GROUP >> lanes) + (item >> lanes);
    PerlabelSpot at;
    at.x = (int)(((group - below * across) << lanes) + (item & (span - 1)));
    at.plane = (int)(strip / strips);
    at.y = (int)(strip - (uint)at.plane * strips) * PERLABEL_STRIP;
    return at;
}

/* Reads PERLABEL_BATCH rows of a column, all before any is used.  Pixels outside are NaN of the background. */
#define PERLABEL_READ(label, bits, at, top)                                                        \
    uint label[PERLABEL_BATCH], bits[PERLABEL_BATCH];                                                                \
    _Pragma("unroll") for (int own_k = 0; own_k < PERLABEL_BATCH; own_k++)                                  \
    {                                                                                              \
        const int own_x = min((at).x, own_w - 1), own_y = min((top) + own_k, own_h - 1);           \
        const int own_z = min((at).plane, own_planes - 1);                                         \
        label[own_k] = (uint)read_0(READ_ARGS, own_x, own_y, own_z);                               \
        bits[own_k] = as_uint((float)read_1(READ_ARGS, own_x, own_y, own_z));                      \
    }                                                                                              \
    _Pragma("unroll") for (int own_k = 0; own_k < PERLABEL_BATCH; own_k++)                                  \
    {                                                                                              \
        if ((at).x >= own_w || (top) + own_k >= own_h || (at).plane >= own_planes) {               \
            label[own_k] = 0;                                                                      \
            bits[own_k] = 0x7fc00000;                                                              \
        }                                                                                          \
    }

/* A group folds its columns. */
#define PERLABEL_MARCH(fold)                                                                       \
    local uint own_keys[PERLABEL_ENTRIES], own_entries[(PERLABEL_ENTRIES + 1) * PERLABEL_PIECES];                             \
    const uint own_end = perlabel_end(own_capacity, own_labels, own_slot);                         \
    const uint own_last = (fold) == PERLABEL_SUM ? min((ulong)own_end, (ulong)own_first + own_range)        \
                                        : own_end;                                                 \
    const PerlabelTo own_to = {own_table, own_sums,    own_first, own_last,                        \
                               own_keys,  own_entries};                                            \
    const PerlabelSpot own_at = perlabel_spot(own_w, own_h, own_lanes);                            \
    PerlabelState own_state;                                                                       \
    own_state.now = own_state.background = perlabel_begin(fold, &own_to, 0);                       \
    _Pragma("unroll") for (int own_k = 0; own_k < PERLABEL_BATCH; own_k++)                         \
    {                                                                                              \
        own_state.waiting[own_k] = own_state.now;                                                  \
    }                                                                                              \
    perlabel_open(own_keys, own_entries);                                                          \
    for (int own_row = 0; own_row < PERLABEL_STRIP && own_first < own_last; own_row += PERLABEL_BATCH) {             \
        PERLABEL_READ(own_label, own_bits, own_at, own_at.y + own_row)                             \
        _Pragma("unroll") for (int own_k = 0; own_k < PERLABEL_BATCH; own_k++)                              \
        {                                                                                          \
            perlabel_step(fold, &own_to, &own_state, own_label[own_k], own_bits[own_k]);           \
        }                                                                                          \
        perlabel_pour_waiting(fold, &own_to, &own_state);                                          \
    }                                                                                              \
    own_state.waiting[0] = own_state.now;                                                          \
    perlabel_pour_waiting(fold, &own_to, &own_state);                                              \
    perlabel_close(fold, &own_to, &own_state.background);

PERLABEL_KERNEL void perlabel_run(READ_PARAMS, int own_w, int own_h, int own_planes, int own_lanes,
                                  PERLABEL_ABOUT)
{
    PERLABEL_MARCH(PERLABEL_FOLD)
}

#if PERLABEL_FOLD == 0

PERLABEL_KERNEL void perlabel_exponents(READ_PARAMS, int own_w, int own_h, int own_planes,
                                        int own_lanes, PERLABEL_ABOUT)
{
    PERLABEL_MARCH(PERLABEL_EXPONENTS)
}

#endif

/* The f32 nearest to a sum in units of 2^(largest - 216), ties to even. */
PERLABEL_INLINE float perlabel_round(ulong low, ulong high, int largest)
{
    const bool negative = high >> 63 != 0;
    if (negative) {
        high = ~high + (low == 0 ? 1 : 0);
        low = -low;
    }
    const int top = high != 0 ? 127 - (int)clz(high) : 63 - (int)clz(low), unit = largest - 216;
    const int last = max(top - 23, -149 - unit); /* the lowest bit that the result has */
    ulong kept, below;                           /* `below`: the bits under it, from the top */
    if (last >= 64) {
        kept = last < 128 ? high >> (last - 64) : 0;
        below = last == 64 ? low : high << (128 - last) | low >> (last - 64);
        below |= last > 64 && low << (128 - last) != 0 ? 1 : 0;
    } else if (last > 0) {
        kept = low >> last | high << (64 - last);
        below = low << (64 - last);
    } else {
        kept = low << -last;
        below = 0;
    }
    const ulong middle = (ulong)1 << 63;
    kept += below > middle || (below == middle && (kept & 1) != 0) ? 1 : 0;
    const ulong bits = kept == 0 ? 0 : ((ulong)(last + unit + 149) << 23) + kept;
    return as_float((uint)min(bits, (ulong)0x7f800000) | (negative ? 0x80000000 : 0));
}

/* Turns a label's accumulator into its result, in place of the key; sums are ready to be used again. */
PERLABEL_INLINE float perlabel_result(uint key, global uint *sums, size_t at)
{
#if PERLABEL_FOLD == 0
    global uint *const piece = sums + at * PERLABEL_PIECES;
    const ulong low = piece[0] | (ulong)piece[1] << 32, high = piece[2] | (ulong)piece[3] << 32;
    for (int k = 0; k < PERLABEL_PIECES; k++) {
        piece[k] = 0;
    }
    if (key == 255) {
        return low != 0 && high != 0 ? NAN : low != 0 ? INFINITY : -INFINITY;
    }
    return low == 0 && high == 0 ? 0.0f : perlabel_round(low, high, (int)key);
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
