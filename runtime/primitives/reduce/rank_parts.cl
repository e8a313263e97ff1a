/*
 * rank_parts: counts the keys of an image in parts, for the host to find a rank in
 * (runtime/rank_parts.c).
 *
 * Keys are u32 in the order of the f32.  Counted are their upper halves, but for those next to each
 * other among which the rank may be (the guess): of keys with these the lower halves are counted.  Found
 * is also the smallest key above all of those.  Keys in more upper halves around the guess, with fewer
 * pixels, go to a list, too.  kernels/visit.cl comes before this text.
 */
#pragma OPENCL FP_CONTRACT OFF

#define RANK_PARTS_HALF 16
#define RANK_PARTS_BINS (1 << RANK_PARTS_HALF)
#define RANK_PARTS_GUESSED 3 /* upper halves */
#define RANK_PARTS_ALL ((1 + RANK_PARTS_GUESSED) * RANK_PARTS_BINS)
#define RANK_PARTS_SMALLEST RANK_PARTS_ALL      /* behind them: the smallest key, */
#define RANK_PARTS_LISTED (RANK_PARTS_ALL + 1)  /* how many keys would be in the list, */
#define RANK_PARTS_LIST (RANK_PARTS_ALL + 2)    /* and the list */

#ifdef READ_PARAMS

/* -0 counts as 0. */
VISIT_INLINE uint rank_parts_key(float value)
{
    const uint bits = as_uint(value + 0.0f);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

/* Counts of a group are first taken in local memory, where an entry belongs to the first bin that asks
 * for it; others that would have it, few as a rule, go to global memory.  Values of both signs have
 * entries of their own: around 0 they are alike.  Neighbours that are alike cost one access together. */
#define RANK_PARTS_ENTRIES 2048
#define RANK_PARTS_FREE 0xffffffffu

VISIT_INLINE void rank_parts_add(local uint *owners, local uint *counts, global uint *bins,
                                 uint bin, uint run)
{
    const uint sign = bin >> (RANK_PARTS_HALF - 1) & 1, each = RANK_PARTS_ENTRIES / 2;
    const uint entry = sign * each + bin % each;
    uint owner = owners[entry];
    if (owner == RANK_PARTS_FREE) {
        owner = atomic_cmpxchg(&owners[entry], RANK_PARTS_FREE, bin);
    }
    if (owner == RANK_PARTS_FREE || owner == bin) {
        atomic_add(&counts[entry], run);
    } else {
        atomic_add(bins + bin, run);
    }
}

VISIT_KERNEL void rank_parts_count(READ_PARAMS, int own_w, int own_h, uint own_tiles, uint own_guess,
                                   uint own_from, uint own_span, uint own_capacity,
                                   global uint *own_bins)
{
    local uint own_owners[RANK_PARTS_ENTRIES], own_counts[RANK_PARTS_ENTRIES];
    uint own_smallest = 0xffffffffu, own_run = 0, own_last = 0;
    for (int own_i = (int)get_local_id(0); own_i < RANK_PARTS_ENTRIES; own_i += VISIT_GROUP) {
        own_owners[own_i] = RANK_PARTS_FREE;
        own_counts[own_i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float own_ahead[VISIT_COUNT], own_v[VISIT_COUNT];
    VisitWalk own_walk = visit_walk(READ_ARGS, own_tiles, own_w, own_h, own_ahead);
    while (visit_take(READ_ARGS, &own_walk, own_ahead, own_v)) {
#pragma unroll
        for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
            const uint own_key = rank_parts_key(own_v[own_k]);
            const uint own_top = own_key >> RANK_PARTS_HALF;
            const uint own_low = own_key & (RANK_PARTS_BINS - 1);
            const uint own_nth = own_top - own_guess; /* wraps around below the guess */
            const uint own_bin = own_nth < RANK_PARTS_GUESSED
                                     ? (1 + own_nth) * RANK_PARTS_BINS + own_low
                                     : own_top;
            const bool own_there = !isnan(own_v[own_k]);
            if (own_there) {
                if (own_bin != own_last && own_run > 0) {
                    rank_parts_add(own_owners, own_counts, own_bins, own_last, own_run);
                    own_run = 0;
                }
                own_last = own_bin;
                own_run++;
            }
            if (own_there && own_nth >= RANK_PARTS_GUESSED && own_top - own_from < own_span) {
                const uint own_at = atomic_inc(own_bins + RANK_PARTS_LISTED);
                if (own_at < own_capacity) {
                    own_bins[RANK_PARTS_LIST + own_at] = own_key;
                }
            }
            own_smallest = own_there && own_top >= own_guess + RANK_PARTS_GUESSED
                               ? min(own_smallest, own_key)
                               : own_smallest;
        }
    }
    if (own_run > 0) {
        rank_parts_add(own_owners, own_counts, own_bins, own_last, own_run);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int own_i = (int)get_local_id(0); own_i < RANK_PARTS_ENTRIES; own_i += VISIT_GROUP) {
        if (own_counts[own_i] > 0) {
            atomic_add(own_bins + own_owners[own_i], own_counts[own_i]);
        }
    }
    if (own_smallest != 0xffffffffu) {
        atomic_min(own_bins + RANK_PARTS_SMALLEST, own_smallest);
    }
}

#else

/* Of the listed keys with this upper half the lower halves. */
VISIT_KERNEL void rank_parts_listed(uint listed, uint upper, global uint *bins)
{
    for (size_t i = get_global_id(0); i < listed; i += get_global_size(0)) {
        const uint key = bins[RANK_PARTS_LIST + i];
        if (key >> RANK_PARTS_HALF == upper) {
            atomic_inc(bins + (key & (RANK_PARTS_BINS - 1)));
        }
    }
}

#endif
