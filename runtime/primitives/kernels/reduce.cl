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
#define REDUCE_AHEAD (VISIT_HIGH ? VISIT_COUNT : 1)
#ifdef READ_HAS_1
#define REDUCE_SELECTS 1
#else
#define REDUCE_SELECTS 0
#endif
#define REDUCE_FINISHED (VISIT_CPU_SHAPE ? 1 : 32) /* partial results that a work-item reads at once */

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

/* Eight lanes, `step` apart from the first, added as three halvings of the tree would. */
VISIT_INLINE double reduce_eight(int quantity, const local double *lanes, int step)
{
    double of[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        of[i] = lanes[i * step];
    }
#pragma unroll
    for (int left = 4; left > 0; left /= 2) {
#pragma unroll
        for (int i = 0; i < left; i++) {
            of[i] = reduce_combined(quantity, of[i], of[i + left]);
        }
    }
    return of[0];
}

/* Adds the upper half of some lanes to the lower half. */
VISIT_INLINE void reduce_halve(int quantity, int step, local double *lanes)
{
    for (int t = (int)get_local_id(0); t < step; t += VISIT_GROUP) {
        lanes[t] = reduce_combined(quantity, lanes[t], lanes[t + step]);
    }
}

/* Adds the upper half of each row of lanes to the lower half until one is left, the row's first; the rows are
 * of the quantities from the first on.  On GPUs a row has 32 work-items, which take three halvings at once;
 * the whole group comes here. */
VISIT_INLINE void reduce_tree(int first, int rows, local double (*lanes)[REDUCE_LANES])
{
    barrier(CLK_LOCAL_MEM_FENCE);
#if VISIT_CPU_SHAPE
    for (int step = REDUCE_LANES / 2; step > 0; step /= 2) {
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (reduce_is_wanted(first + r)) {
                reduce_halve(first + r, step, lanes[r]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    const int r = (int)get_local_id(0) / 32, t = (int)get_local_id(0) % 32, q = first + r;
    const bool wanted = r < rows && reduce_is_wanted(q);
    if (wanted) {
        lanes[r][t] = reduce_eight(q, lanes[r] + t, 32);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wanted && t < 4) {
        lanes[r][t] = reduce_eight(q, lanes[r] + t, 4);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wanted && t == 0) {
        lanes[r][0] = reduce_combined(q, reduce_combined(q, lanes[r][0], lanes[r][2]),
                                      reduce_combined(q, lanes[r][1], lanes[r][3]));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
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

/* The rows of a column from own_y on that a work-item reads at once.  The last ones of an image are moved up
 * and the first of them, which others had, are left out. */
VISIT_INLINE void reduce_read(READ_PARAMS, int own_c, int own_w, int own_h, int own_y, int own_plane,
                              float *own_v)
{
    const int own_x = min(own_c, own_w - 1), own_top = min(own_y, own_h - REDUCE_AHEAD);
#pragma unroll
    for (int own_k = 0; own_k < REDUCE_AHEAD; own_k++) {
        own_v[own_k] = visit_pixel(READ_ARGS, own_x, own_top + own_k, own_plane);
    }
    if (own_top < own_y || own_c >= own_w) {
        const int own_from = own_c < own_w ? own_y - own_top : REDUCE_AHEAD;
#pragma unroll
        for (int own_k = 0; own_k < REDUCE_AHEAD; own_k++) {
            own_v[own_k] = own_k < own_from ? NAN : own_v[own_k];
        }
    }
}

/* Running values of a column. */
typedef struct ReduceColumn {
    double sum, squares;
    float low, high;
    int count;
} ReduceColumn;

/* Adds rows, of which all are numbers as a rule. */
VISIT_INLINE void reduce_add(const float *v, ReduceColumn *column)
{
    bool full = true;
#pragma unroll
    for (int k = 0; k < REDUCE_AHEAD; k++) {
        full &= v[k] == v[k];
    }
    if ((REDUCE_WANTED & 3) != 0 && (REDUCE_SELECTS || !full)) {
#pragma unroll
        for (int k = 0; k < REDUCE_AHEAD; k++) {
            REDUCE_ADD_PIXEL(v[k], column->sum, column->count, column->squares, column->low,
                             column->high);
        }
    } else {
#pragma unroll
        for (int k = 0; k < REDUCE_AHEAD; k++) {
            const double x = (double)v[k], square = x * x;
            column->sum += x;
            column->squares += square;
            column->low = fmin(column->low, v[k]);
            column->high = fmax(column->high, v[k]);
        }
        column->count += REDUCE_AHEAD;
    }
}

/* The sums of a block's columns: each work-item takes one.  While it adds some rows the next ones are on
 * their way. */
VISIT_INLINE void reduce_block_columns(READ_PARAMS, int own_w, int own_h, int own_x0, int own_y0,
                                       int own_plane, local double (*own_lanes)[REDUCE_LANES])
{
    const int own_item = (int)get_local_id(0), own_c = own_x0 + own_item;
    const int own_bottom = min(own_y0 + REDUCE_BLOCK_ROWS, own_h);
    ReduceColumn own_column = {0, 0, INFINITY, -INFINITY, 0};
    float own_even[REDUCE_AHEAD], own_odd[REDUCE_AHEAD];
    if (own_y0 < own_bottom) {
        reduce_read(READ_ARGS, own_c, own_w, own_h, own_y0, own_plane, own_even);
    }
    for (int own_y = own_y0; own_y < own_bottom; own_y += 2 * REDUCE_AHEAD) {
        const int own_next = own_y + REDUCE_AHEAD, own_after = own_next + REDUCE_AHEAD;
        if (own_next < own_bottom) {
            reduce_read(READ_ARGS, own_c, own_w, own_h, own_next, own_plane, own_odd);
        }
        reduce_add(own_even, &own_column);
        if (own_after < own_bottom) {
            reduce_read(READ_ARGS, own_c, own_w, own_h, own_after, own_plane, own_even);
        }
        if (own_next < own_bottom) {
            reduce_add(own_odd, &own_column);
        }
    }
    if (REDUCE_WANTED & 1) {
        own_lanes[REDUCE_SUM][own_item] = own_column.sum;
        own_lanes[REDUCE_COUNT][own_item] = own_column.count;
    }
    if (REDUCE_WANTED & 2) {
        own_lanes[REDUCE_SQUARES][own_item] = own_column.squares;
    }
    if (REDUCE_WANTED & 4) {
        own_lanes[REDUCE_LOW][own_item] = own_column.low;
        own_lanes[REDUCE_HIGH][own_item] = own_column.high;
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

    reduce_block_columns(READ_ARGS, own_w, own_h, own_x0, own_y0, own_plane, own_lanes);
    reduce_tree(0, REDUCE_QUANTITIES, own_lanes);
    for (int own_q = own_item; own_q < REDUCE_QUANTITIES; own_q += VISIT_GROUP) {
        if (reduce_is_wanted(own_q)) {
            own_partial[(size_t)own_q * own_blocks + own_first + own_block] = own_lanes[own_q][0];
        }
    }
}

#endif /* !REDUCE_FED */

/* Group q finishes quantity q: lane t takes blocks t, t + 256 ... in order, then the tree.  Beyond the last
 * block is nothing, which changes no sum. */
VISIT_KERNEL void reduce_finish(global const double *partial, uint blocks, global double *values,
                                int value)
{
    local double lanes[1][REDUCE_LANES];
    const int q = (int)get_group_id(0), item = (int)get_local_id(0);
    const uint n = reduce_is_wanted(q) ? blocks : 0;
    partial += (size_t)q * n;
    for (int t = item; t < REDUCE_LANES; t += VISIT_GROUP) {
        double all = reduce_nothing(q);
        for (uint from = (uint)t; from < n; from += REDUCE_FINISHED * REDUCE_LANES) {
            double part[REDUCE_FINISHED];
#pragma unroll
            for (uint k = 0; k < REDUCE_FINISHED; k++) {
                const uint i = from + k * REDUCE_LANES;
                part[k] = partial[min(i, n - 1)];
                part[k] = i < n ? part[k] : reduce_nothing(q);
            }
#pragma unroll
            for (uint k = 0; k < REDUCE_FINISHED; k++) {
                all = reduce_combined(q, all, part[k]);
            }
        }
        lanes[0][t] = all;
    }
    reduce_tree(q, 1, lanes);
    /* One zero and one NaN, whatever the device makes of signs. */
    if (item == 0 && n > 0) {
        values[value + q] =
            as_double(isnan(lanes[0][0]) ? 0x7ff8000000000000UL : as_ulong(lanes[0][0] + 0.0));
    }
}
