/*
 * summary: the reading of a reduction and a percentile of the same pixels.
 *
 * Blocks are reduced as in kernels/reduce.cl, and each batch of pixels is counted and copied as in
 * rank_count of kernels/rank.cl; both texts come before this one, and their other kernels do the rest.
 */
#pragma OPENCL FP_CONTRACT OFF

/* Counts of a block, at most 2^14 each, side by side in a double: so the tree of the sums adds them, too. */
#define SUMMARY_BITS 15
#define SUMMARY_COUNT(packed, number) ((uint)((packed) >> (number) * SUMMARY_BITS) & ((1u << SUMMARY_BITS) - 1))

VISIT_INLINE double summary_packed(const RankTally *tally)
{
    return (double)tally->below + (double)((ulong)tally->to_low << SUMMARY_BITS) +
           (double)((ulong)tally->to_high << 2 * SUMMARY_BITS);
}

/* One work-item adds what the group has counted to the counts of all. */
VISIT_INLINE void summary_write_counts(local double (*lanes)[REDUCE_LANES], global uint *scratch)
{
    if (get_local_id(0) == 0) {
        const ulong packed = (ulong)lanes[REDUCE_MORE][0];
        atomic_add(scratch + RANK_AT_BELOW, SUMMARY_COUNT(packed, 0));
        atomic_add(scratch + RANK_AT_TO_LOW, SUMMARY_COUNT(packed, 1));
        atomic_add(scratch + RANK_AT_TO_HIGH, SUMMARY_COUNT(packed, 2));
        atomic_add(scratch + RANK_AT_COUNT, (uint)lanes[REDUCE_COUNT][0]);
    }
}

VISIT_KERNEL void summary_blocks(READ_PARAMS, int own_w, int own_h, uint own_blocks,
                                 global double *own_partial, uint own_capacity,
                                 global uint *own_scratch)
{
    if (VISIT_ENDED) {
        return;
    }
    local double own_lanes[REDUCE_QUANTITIES + 1][REDUCE_LANES];
    local float own_slots[RANK_SLOTS * VISIT_GROUP];
    local uint own_used, own_to;
    const int own_item = (int)get_local_id(0);
    local float *const own_held = own_slots + own_item;
    const ReduceBlock own_b = reduce_block_of(own_w, own_h);
    const float own_low = as_float(own_scratch[RANK_AT_LOW]);
    const float own_high = as_float(own_scratch[RANK_AT_HIGH]);
    RankTally own_tally = {0, 0, 0, 0, 0};
#if VISIT_CPU_SHAPE
    ReduceColumns own_columns;
    reduce_begin(&own_columns);
    for (int own_c = 0; own_c < REDUCE_LANES; own_c++) {
        own_lanes[REDUCE_MORE][own_c] = 0;
    }
    for (int own_y = own_b.y0; own_y < own_b.bottom; own_y++) {
        for (int own_x = own_b.x0; own_x < own_b.right; own_x += VISIT_COUNT) {
            float own_v[VISIT_COUNT];
            for (int own_k = 0; own_k < VISIT_COUNT; own_k++) {
                const int own_at = own_x + own_k;
                own_v[own_k] = own_at < own_b.right
                                   ? visit_pixel(READ_ARGS, own_at, own_y, own_b.plane)
                                   : NAN;
                reduce_add(own_v[own_k], own_at - own_b.x0, &own_columns);
            }
            rank_make_room(own_held, &own_tally, own_capacity, own_scratch);
            rank_tally(own_v, VISIT_COUNT, own_low, own_high, own_held, &own_tally);
        }
    }
    reduce_end(&own_columns, own_lanes);
#else
    const int own_c = own_b.x0 + own_item;
    ReduceColumn own_column;
    float own_ahead[REDUCE_AHEAD], own_v[REDUCE_AHEAD];
    reduce_begin(&own_column);
    reduce_read(READ_ARGS, own_c, own_w, own_h, own_b.y0, own_b.plane, own_ahead);
    for (int own_y = own_b.y0; own_y < own_b.bottom; own_y += REDUCE_AHEAD) {
#pragma unroll
        for (int own_k = 0; own_k < REDUCE_AHEAD; own_k++) {
            own_v[own_k] = own_ahead[own_k];
        }
        if (own_y + REDUCE_AHEAD < own_b.bottom) {
            reduce_read(READ_ARGS, own_c, own_w, own_h, own_y + REDUCE_AHEAD, own_b.plane, own_ahead);
        }
        reduce_add(own_v, &own_column);
        rank_make_room(own_held, &own_tally, own_capacity, own_scratch);
        rank_tally(own_v, REDUCE_AHEAD, own_low, own_high, own_held, &own_tally);
    }
    reduce_end(&own_column, own_lanes);
#endif
    own_lanes[REDUCE_MORE][own_item] = summary_packed(&own_tally);
    rank_write_group(own_held, &own_tally, &own_used, &own_to, own_capacity, own_scratch);
    reduce_tree(REDUCE_WANTED, 0, REDUCE_QUANTITIES + 1, own_lanes);
    reduce_write(own_lanes, own_b.number, own_blocks, own_partial);
    summary_write_counts(own_lanes, own_scratch);
}
