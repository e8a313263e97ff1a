/*
 * reduce: sum, count, sum of squares, smallest and largest of the selected pixels.
 *
 * The order of additions is part of the result: blocks of 256 columns by 64 rows, each column
 * summed from top to bottom in f64, the 256 columns added in a tree, then the blocks lane by lane.
 * On GPUs a work-item is a column; on CPUs a work-item is a block and goes along the rows, 256 sums
 * side by side, which adds the same numbers in the same order.
 *
 * REDUCE_WANTED (bits: 1 sum and count, 2 squares, 4 extremes) is defined in front of this text, and
 * REDUCE_FED where partial results are there and nothing is read.
 */
#pragma OPENCL FP_CONTRACT OFF

#define REDUCE_LANES 256
#define REDUCE_BLOCK_ROWS 64
#define REDUCE_AHEAD (VISIT_MODE == VISIT_DOWN ? VISIT_COUNT : 1)

enum { REDUCE_SUM, REDUCE_COUNT, REDUCE_SQUARES, REDUCE_LOW, REDUCE_HIGH, REDUCE_QUANTITIES };

VISIT_INLINE bool reduce_is_wanted(int quantity)
{
    return quantity == REDUCE_LOW || quantity == REDUCE_HIGH ? (REDUCE_WANTED & 4) != 0
           : quantity == REDUCE_SQUARES                      ? (REDUCE_WANTED & 2) != 0
                                                             : (REDUCE_WANTED & 1) != 0;
}

VISIT_INLINE double reduce_nothing(int quantity)
{
    return quantity == REDUCE_LOW ? INFINITY : quantity == REDUCE_HIGH ? -INFINITY : 0.0;
}

VISIT_INLINE double reduce_combined(int quantity, double a, double b)
{
    return quantity == REDUCE_LOW    ? (b < a ? b : a)
           : quantity == REDUCE_HIGH ? (b > a ? b : a)
                                     : a + b;
}

/* Adds the upper half of the lanes to the lower half until one is left. */
VISIT_INLINE void reduce_tree(int quantity, int step, local double *lanes)
{
    for (int t = (int)get_local_id(0); t < step; t += VISIT_GROUP) {
        lanes[t] = reduce_combined(quantity, lanes[t], lanes[t + step]);
    }
}

#if !REDUCE_FED

/* Adds a pixel to running values of a column; NaN is not a pixel. */
#define REDUCE_ADD_PIXEL(v, sum, count, squares, low, high)                                        \
    do {                                                                                           \
        const bool there_ = !isnan(v);                                                             \
        if (REDUCE_WANTED & 3) {                                                                   \
            const double x_ = (double)(there_ ? (v) : 0.0f);                                       \
            if (REDUCE_WANTED & 1) {                                                               \
                sum += x_;                                                                         \
                count += there_;                                                                   \
            }                                                                                      \
            if (REDUCE_WANTED & 2) {                                                               \
                const double square_ = x_ * x_;                                                    \
                squares += square_;                                                                \
            }                                                                                      \
        }                                                                                          \
        if (REDUCE_WANTED & 4) {                                                                   \
            low = fmin(low, v);                                                                    \
            high = fmax(high, v);                                                                  \
        }                                                                                          \
    } while (0)

#if VISIT_CPU_SHAPE

/* The sums of a block's columns. */
VISIT_INLINE void reduce_block_columns(READ_PARAMS, int own_w, int own_h, int own_x0, int own_y0,
                                       int own_plane, local double (*own_lanes)[REDUCE_LANES])
{
    double own_sum[REDUCE_LANES], own_squares[REDUCE_LANES];
    float own_low[REDUCE_LANES], own_high[REDUCE_LANES];
    int own_count[REDUCE_LANES];
    for (int own_c = 0; own_c < REDUCE_LANES; own_c++) {
        own_sum[own_c] = own_squares[own_c] = 0;
        own_count[own_c] = 0;
        own_low[own_c] = INFINITY;
        own_high[own_c] = -INFINITY;
    }
    const int own_width = min(REDUCE_LANES, own_w - own_x0);
    const int own_bottom = min(own_h, own_y0 + REDUCE_BLOCK_ROWS);
    for (int own_y = own_y0; own_y < own_bottom; own_y++) {
        for (int own_c = 0; own_c < own_width; own_c++) {
            const float own_v = visit_pixel(READ_ARGS, own_x0 + own_c, own_y, own_plane);
            REDUCE_ADD_PIXEL(own_v, own_sum[own_c], own_count[own_c], own_squares[own_c],
                             own_low[own_c], own_high[own_c]);
        }
    }
    for (int own_c = 0; own_c < REDUCE_LANES; own_c++) {
        own_lanes[REDUCE_SUM][own_c] = own_sum[own_c];
        own_lanes[REDUCE_COUNT][own_c] = own_count[own_c];
        own_lanes[REDUCE_SQUARES][own_c] = own_squares[own_c];
        own_lanes[REDUCE_LOW][own_c] = own_low[own_c];
        own_lanes[REDUCE_HIGH][own_c] = own_high[own_c];
    }
}

#else

/* The sums of a block's columns: each work-item takes one, a batch of rows at a time.  The last
 * batch of an image is moved up and its first rows, which others had, are left out. */
VISIT_INLINE void reduce_block_columns(READ_PARAMS, int own_w, int own_h, int own_x0, int own_y0,
                                       int own_plane, local double (*own_lanes)[REDUCE_LANES])
{
    const int own_c = (int)get_local_id(0), own_x = min(own_x0 + own_c, own_w - 1);
    const int own_bottom = min(own_y0 + REDUCE_BLOCK_ROWS, own_h);
    double own_sum = 0, own_squares = 0;
    float own_low = INFINITY, own_high = -INFINITY;
    int own_count = 0;
    for (int own_y = own_y0; own_y < own_bottom; own_y += REDUCE_AHEAD) {
        const int own_top = min(own_y, own_h - REDUCE_AHEAD);
        float own_v[REDUCE_AHEAD];
#pragma unroll
        for (int own_k = 0; own_k < REDUCE_AHEAD; own_k++) {
            own_v[own_k] = visit_pixel(READ_ARGS, own_x, own_top + own_k, own_plane);
        }
        if (own_top < own_y || own_x0 + own_c >= own_w) {
            const int own_from = own_x0 + own_c < own_w ? own_y - own_top : REDUCE_AHEAD;
#pragma unroll
            for (int own_k = 0; own_k < REDUCE_AHEAD; own_k++) {
                own_v[own_k] = own_k < own_from ? NAN : own_v[own_k];
            }
        }
#pragma unroll
        for (int own_k = 0; own_k < REDUCE_AHEAD; own_k++) {
            REDUCE_ADD_PIXEL(own_v[own_k], own_sum, own_count, own_squares, own_low, own_high);
        }
    }
    if (REDUCE_WANTED & 1) {
        own_lanes[REDUCE_SUM][own_c] = own_sum;
        own_lanes[REDUCE_COUNT][own_c] = own_count;
    }
    if (REDUCE_WANTED & 2) {
        own_lanes[REDUCE_SQUARES][own_c] = own_squares;
    }
    if (REDUCE_WANTED & 4) {
        own_lanes[REDUCE_LOW][own_c] = own_low;
        own_lanes[REDUCE_HIGH][own_c] = own_high;
    }
}

#endif

/* Group g takes block g of the part, which is block own_first + g of all own_blocks;
 * partial[quantity * blocks + block]. */
VISIT_KERNEL void reduce_blocks(READ_PARAMS, int own_w, int own_h, uint own_blocks, uint own_first,
                                global double *own_partial)
{
    local double own_lanes[REDUCE_QUANTITIES][REDUCE_LANES];
    const uint own_block = (uint)get_group_id(0);
    const uint own_across = ((uint)own_w + REDUCE_LANES - 1) / REDUCE_LANES;
    const uint own_down = ((uint)own_h + REDUCE_BLOCK_ROWS - 1) / REDUCE_BLOCK_ROWS;
    const uint own_row = own_block / own_across;
    const int own_x0 = (int)((own_block - own_row * own_across) * REDUCE_LANES);
    const int own_plane = (int)(own_row / own_down), own_item = (int)get_local_id(0);
    const int own_y0 = (int)(own_row - (uint)own_plane * own_down) * REDUCE_BLOCK_ROWS;

    reduce_block_columns(READ_ARGS, own_w, READ_ENDED ? 0 : own_h, own_x0, own_y0, own_plane,
                         own_lanes);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int own_step = REDUCE_LANES / 2; own_step > 0; own_step /= 2) {
#pragma unroll
        for (int own_q = 0; own_q < REDUCE_QUANTITIES; own_q++) {
            if (reduce_is_wanted(own_q)) {
                reduce_tree(own_q, own_step, own_lanes[own_q]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int own_q = own_item; own_q < REDUCE_QUANTITIES; own_q += VISIT_GROUP) {
        if (reduce_is_wanted(own_q)) {
            own_partial[(size_t)own_q * own_blocks + own_first + own_block] = own_lanes[own_q][0];
        }
    }
}

#endif /* !REDUCE_FED */

/* Group q finishes quantity q: lane t takes blocks t, t + 256 ... in order, then the tree. */
VISIT_KERNEL void reduce_finish(global const double *partial, uint blocks, global double *values,
                                int value)
{
    local double lanes[REDUCE_LANES];
    const int q = (int)get_group_id(0), item = (int)get_local_id(0);
    const size_t n = reduce_is_wanted(q) ? blocks : 0;
    partial += (size_t)q * n;
    for (int t = item; t < REDUCE_LANES; t += VISIT_GROUP) {
        double all = reduce_nothing(q);
        size_t i = (size_t)t;
        for (; i + (VISIT_COUNT - 1) * REDUCE_LANES < n; i += VISIT_COUNT * REDUCE_LANES) {
            double part[VISIT_COUNT];
#pragma unroll
            for (int k = 0; k < VISIT_COUNT; k++) {
                part[k] = partial[i + (size_t)k * REDUCE_LANES];
            }
#pragma unroll
            for (int k = 0; k < VISIT_COUNT; k++) {
                all = reduce_combined(q, all, part[k]);
            }
        }
        for (; i < n; i += REDUCE_LANES) {
            all = reduce_combined(q, all, partial[i]);
        }
        lanes[t] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = REDUCE_LANES / 2; step > 0; step /= 2) {
        reduce_tree(q, step, lanes);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    /* One zero and one NaN, whatever the device makes of signs. */
    if (item == 0 && n > 0) {
        values[value + q] =
            as_double(isnan(lanes[0]) ? 0x7ff8000000000000UL : as_ulong(lanes[0] + 0.0));
    }
}
