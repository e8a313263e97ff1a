/*
 * reduce: sum, count, sum of squares, smallest and largest of the selected pixels.
 *
 * The order of additions is part of the result: blocks of 256 columns by 64 rows, each column summed
 * from top to bottom in f64, the 256 columns added in a tree, then the blocks lane by lane.  On GPUs a
 * work-item is a column; on CPUs a work-item is a block and goes along the rows, 256 sums side by
 * side, which adds the same numbers in the same order.
 *
 * WANTED (bits: 1 sum and count, 2 squares, 4 extremes) is defined in front of this text.
 */
#pragma OPENCL FP_CONTRACT OFF

#define LANES 256
#define BLOCK_ROWS 64
#define AHEAD BATCH

enum { SUM, COUNT, SQUARES, LOW, HIGH, QUANTITIES };

INLINE bool is_wanted(int quantity)
{
    return quantity == LOW || quantity == HIGH ? (WANTED & 4) != 0
           : quantity == SQUARES               ? (WANTED & 2) != 0
                                               : (WANTED & 1) != 0;
}

INLINE double nothing(int quantity)
{
    return quantity == LOW ? INFINITY : quantity == HIGH ? -INFINITY : 0.0;
}

INLINE double combined(int quantity, double a, double b)
{
    return quantity == LOW ? (b < a ? b : a) : quantity == HIGH ? (b > a ? b : a) : a + b;
}

/* Adds the upper half of the lanes to the lower half until one is left. */
INLINE void tree(int quantity, int step, local double *lanes)
{
    for (int t = (int)get_local_id(0); t < step; t += GROUP) {
        lanes[t] = combined(quantity, lanes[t], lanes[t + step]);
    }
}

/* Adds a pixel to running values of a column; NaN is not a pixel. */
#define ADD_PIXEL(v, sum, count, squares, low, high)                                               \
    do {                                                                                           \
        const bool there_ = !isnan(v);                                                             \
        if (WANTED & 3) {                                                                          \
            const double x_ = (double)(there_ ? (v) : 0.0f);                                       \
            if (WANTED & 1) {                                                                      \
                sum += x_;                                                                         \
                count += there_;                                                                   \
            }                                                                                      \
            if (WANTED & 2) {                                                                      \
                const double square_ = x_ * x_;                                                    \
                squares += square_;                                                                \
            }                                                                                      \
        }                                                                                          \
        if (WANTED & 4) {                                                                          \
            low = (v) < low ? (v) : low;                                                           \
            high = (v) > high ? (v) : high;                                                        \
        }                                                                                          \
    } while (0)

#if CPU_SHAPE

/* The sums of a block's columns. */
INLINE void block_columns(READ_PARAMS, int w, int h, int x0, int y0, int plane,
                          local double (*lanes)[LANES])
{
    double sum[LANES], squares[LANES];
    float low[LANES], high[LANES];
    int count[LANES];
    for (int c = 0; c < LANES; c++) {
        sum[c] = squares[c] = 0;
        count[c] = 0;
        low[c] = INFINITY;
        high[c] = -INFINITY;
    }
    const int width = min(LANES, w - x0), bottom = min(h, y0 + BLOCK_ROWS);
    for (int y = y0; y < bottom; y++) {
        for (int c = 0; c < width; c++) {
            const float v = visit_pixel(READ_ARGS, x0 + c, y, plane, w, h);
            ADD_PIXEL(v, sum[c], count[c], squares[c], low[c], high[c]);
        }
    }
    for (int c = 0; c < LANES; c++) {
        lanes[SUM][c] = sum[c];
        lanes[COUNT][c] = count[c];
        lanes[SQUARES][c] = squares[c];
        lanes[LOW][c] = low[c];
        lanes[HIGH][c] = high[c];
    }
}

#else

/* The sums of a block's columns: each work-item takes one, AHEAD rows at a time. */
INLINE void block_columns(READ_PARAMS, int w, int h, int x0, int y0, int plane,
                          local double (*lanes)[LANES])
{
    const int c = (int)get_local_id(0);
    double sum = 0, squares = 0;
    float low = INFINITY, high = -INFINITY;
    int count = 0;
    for (int y = y0; y < y0 + BLOCK_ROWS; y += AHEAD) {
        float v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            v[k] = visit_pixel(READ_ARGS, x0 + c, y + k, plane, w, h);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            ADD_PIXEL(v[k], sum, count, squares, low, high);
        }
    }
    if (WANTED & 1) {
        lanes[SUM][c] = sum;
        lanes[COUNT][c] = count;
    }
    if (WANTED & 2) {
        lanes[SQUARES][c] = squares;
    }
    if (WANTED & 4) {
        lanes[LOW][c] = low;
        lanes[HIGH][c] = high;
    }
}

#endif

/* Group g takes block g; partial[quantity * blocks + block]. */
GROUP_KERNEL void reduce_blocks(READ_PARAMS, int w, int h, uint blocks, global double *partial)
{
    local double lanes[QUANTITIES][LANES];
    const uint block = (uint)get_group_id(0);
    const uint across = ((uint)w + LANES - 1) / LANES;
    const uint down = ((uint)h + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const uint row = block / across;
    const int x0 = (int)((block - row * across) * LANES), y0 = (int)(row % down * BLOCK_ROWS);
    const int plane = (int)(row / down), item = (int)get_local_id(0);

    block_columns(READ_ARGS, w, h, x0, y0, plane, lanes);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = LANES / 2; step > 0; step /= 2) {
#pragma unroll
        for (int q = 0; q < QUANTITIES; q++) {
            if (is_wanted(q)) {
                tree(q, step, lanes[q]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int q = item; q < QUANTITIES; q += GROUP) {
        if (is_wanted(q)) {
            partial[(size_t)q * blocks + block] = lanes[q][0];
        }
    }
}

/* Group q finishes quantity q: lane t takes blocks t, t + 256 ... in order, then the tree. */
GROUP_KERNEL void reduce_finish(global const double *partial, uint blocks, global double *values,
                                int value)
{
    local double lanes[LANES];
    const int q = (int)get_group_id(0), item = (int)get_local_id(0);
    const size_t n = is_wanted(q) ? blocks : 0;
    partial += (size_t)q * n;
    for (int t = item; t < LANES; t += GROUP) {
        double all = nothing(q);
        size_t i = (size_t)t;
        for (; i + (AHEAD - 1) * LANES < n; i += AHEAD * LANES) {
            double part[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                part[k] = partial[i + (size_t)k * LANES];
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                all = combined(q, all, part[k]);
            }
        }
        for (; i < n; i += LANES) {
            all = combined(q, all, partial[i]);
        }
        lanes[t] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = LANES / 2; step > 0; step /= 2) {
        tree(q, step, lanes);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    /* One zero and one NaN, whatever the device makes of signs. */
    if (item == 0 && n > 0) {
        values[value + q] = isnan(lanes[0]) ? (double)NAN : lanes[0] + 0.0;
    }
}
