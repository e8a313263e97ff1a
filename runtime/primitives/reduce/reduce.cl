/*
 * reduce: sum, count, sum of squares, smallest and largest of the selected pixels.
 *
 * The order of additions is part of the result: blocks of 256 columns by 64 rows, each column
 * summed from top to bottom in f64, the 256 columns added in a tree, then the blocks lane by lane.
 * On GPUs a work-item is a column; on CPUs a work-item is a block and goes along the rows, 256 sums
 * side by side, which adds the same numbers in the same order.
 *
 * What is wanted are bits: 1 sum and count, 2 squares, 4 extremes.  Where there is a reader, REDUCE_WANTED is defined
 * in front of this text, and REDUCE_IN_SUMMARY: another kernel makes the partial results, with what this text has
 * for it, and counts more.  reduce_finish is the text without a reader.
 */
#pragma OPENCL FP_CONTRACT OFF

#define REDUCE_LANES 256
#define REDUCE_BLOCK_ROWS 64
/* Rows that are on their way; a summary needs registers for more than those. */
#define REDUCE_AHEAD (!VISIT_HIGH ? 1 : REDUCE_IN_SUMMARY ? VISIT_COUNT / 2 : VISIT_COUNT)
#ifdef READ_HAS_1
#define REDUCE_SELECTS 1
#else
#define REDUCE_SELECTS 0
#endif
#define REDUCE_FINISHED (VISIT_CPU_SHAPE ? 1 : 32) /* partial results that a work-item reads at once */

enum { REDUCE_SUM, REDUCE_COUNT, REDUCE_SQUARES, REDUCE_LOW, REDUCE_HIGH, REDUCE_QUANTITIES };
#define REDUCE_MORE REDUCE_QUANTITIES /* of a summary: counts that are added like these, but in one block */

VISIT_INLINE bool reduce_is_wanted(int wanted, int quantity)
{
    const int bit = quantity == REDUCE_LOW || quantity == REDUCE_HIGH ? 4
                    : quantity == REDUCE_SQUARES                      ? 2
                                                                      : 1;
    return quantity == REDUCE_MORE || (wanted & bit) != 0;
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
VISIT_INLINE void reduce_tree(int wanted, int first, int rows, local double (*lanes)[REDUCE_LANES])
{
    barrier(CLK_LOCAL_MEM_FENCE);
#if VISIT_CPU_SHAPE
    for (int step = REDUCE_LANES / 2; step > 0; step /= 2) {
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (reduce_is_wanted(wanted, first + r)) {
                reduce_halve(first + r, step, lanes[r]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    const int r = (int)get_local_id(0) / 32, t = (int)get_local_id(0) % 32, q = first + r;
    const bool here = r < rows && reduce_is_wanted(wanted, q);
    if (here) {
        lanes[r][t] = reduce_eight(q, lanes[r] + t, 32);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here && t < 4) {
        lanes[r][t] = reduce_eight(q, lanes[r] + t, 4);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here && t == 0) {
        lanes[r][0] = reduce_combined(q, reduce_combined(q, lanes[r][0], lanes[r][2]),
                                      reduce_combined(q, lanes[r][1], lanes[r][3]));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

#ifdef READ_PARAMS

/* The square of an f32 is exact in f64, so that the sum is rounded once, fused or not; that of an f64 is rounded. */
#ifdef READ_WIDE
#define REDUCE_SQUARED(x, sum) ((sum) + (x) * (x))
#else
#define REDUCE_SQUARED(x, sum) (VISIT_CPU_SHAPE ? (sum) + (x) * (x) : fma(x, x, sum))
#endif

/* Adds a pixel to running values of a column; NaN is not a pixel. */
#define REDUCE_ADD_PIXEL(v, sum, count, squares, low, high)                                        \
    do {                                                                                           \
        const bool one_there = !isnan(v);                                                          \
        if (REDUCE_WANTED & 3) {                                                                   \
            const double one_x = (double)(one_there ? (v) : 0);                                    \
            if (REDUCE_WANTED & 1) {                                                               \
                sum += one_x;                                                                      \
                count += one_there;                                                                \
            }                                                                                      \
            if (REDUCE_WANTED & 2) {                                                               \
                squares = REDUCE_SQUARED(one_x, squares);                                          \
            }                                                                                      \
        }                                                                                          \
        if (REDUCE_WANTED & 4) {                                                                   \
            low = fmin(low, v);                                                                    \
            high = fmax(high, v);                                                                  \
        }                                                                                          \
    } while (0)

/* A block of the image. */
typedef struct ReduceBlock {
    uint number;
    int x0, y0, plane, right, bottom;
} ReduceBlock;

VISIT_INLINE ReduceBlock reduce_block_of(int w, int h)
{
    const uint number = (uint)get_group_id(0);
    const uint across = ((uint)w + REDUCE_LANES - 1) / REDUCE_LANES;
    const uint down = ((uint)h + REDUCE_BLOCK_ROWS - 1) / REDUCE_BLOCK_ROWS;
    const uint row = number / across, plane = row / down;
    const int x0 = (int)((number - row * across) * REDUCE_LANES);
    const int y0 = (int)(row - plane * down) * REDUCE_BLOCK_ROWS;
    const ReduceBlock block = {number, x0, y0, (int)plane, min(w, x0 + REDUCE_LANES),
                               min(h, y0 + REDUCE_BLOCK_ROWS)};
    return block;
}

#if VISIT_CPU_SHAPE

/* Running values of a block's columns. */
typedef struct ReduceColumns {
    double sum[REDUCE_LANES], squares[REDUCE_LANES];
    VisitPixel low[REDUCE_LANES], high[REDUCE_LANES];
    int count[REDUCE_LANES];
} ReduceColumns;

VISIT_INLINE void reduce_begin(ReduceColumns *columns)
{
    for (int c = 0; c < REDUCE_LANES; c++) {
        columns->sum[c] = columns->squares[c] = 0;
        columns->count[c] = 0;
        columns->low[c] = INFINITY;
        columns->high[c] = -INFINITY;
    }
}

VISIT_INLINE void reduce_add(VisitPixel v, int c, ReduceColumns *columns)
{
    REDUCE_ADD_PIXEL(v, columns->sum[c], columns->count[c], columns->squares[c], columns->low[c],
                     columns->high[c]);
}

VISIT_INLINE void reduce_end(const ReduceColumns *columns, local double (*lanes)[REDUCE_LANES])
{
    for (int c = 0; c < REDUCE_LANES; c++) {
        lanes[REDUCE_SUM][c] = columns->sum[c];
        lanes[REDUCE_COUNT][c] = columns->count[c];
        lanes[REDUCE_SQUARES][c] = columns->squares[c];
        lanes[REDUCE_LOW][c] = columns->low[c];
        lanes[REDUCE_HIGH][c] = columns->high[c];
    }
}

#else

/* The rows of a column from own_y on that a work-item reads at once.  The last ones of an image are moved up
 * and the first of them, which others had, are left out. */
VISIT_INLINE void reduce_read(READ_PARAMS, int own_c, int own_w, int own_h, int own_y, int own_plane,
                              VisitPixel *own_v)
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
    VisitPixel low, high;
    int count;
} ReduceColumn;

/* Adds rows, of which all are numbers as a rule. */
VISIT_INLINE void reduce_add(const VisitPixel *v, ReduceColumn *column)
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
            const double x = (double)v[k];
            column->sum += x;
            column->squares = REDUCE_SQUARED(x, column->squares);
            column->low = fmin(column->low, v[k]);
            column->high = fmax(column->high, v[k]);
        }
        column->count += REDUCE_AHEAD;
    }
}

VISIT_INLINE void reduce_begin(ReduceColumn *column)
{
    const ReduceColumn nothing = {0, 0, INFINITY, -INFINITY, 0};
    *column = nothing;
}

VISIT_INLINE void reduce_end(const ReduceColumn *column, local double (*lanes)[REDUCE_LANES])
{
    const int item = (int)get_local_id(0);
    if (REDUCE_WANTED & 1) {
        lanes[REDUCE_SUM][item] = column->sum;
        lanes[REDUCE_COUNT][item] = column->count;
    }
    if (REDUCE_WANTED & 2) {
        lanes[REDUCE_SQUARES][item] = column->squares;
    }
    if (REDUCE_WANTED & 4) {
        lanes[REDUCE_LOW][item] = column->low;
        lanes[REDUCE_HIGH][item] = column->high;
    }
}

#endif

/* The group writes the results of its block, one of all blocks: partial[quantity * blocks + number]. */
VISIT_INLINE void reduce_write(local double (*lanes)[REDUCE_LANES], uint number, uint blocks,
                               global double *partial)
{
    for (int q = (int)get_local_id(0); q < REDUCE_QUANTITIES; q += VISIT_GROUP) {
        if (reduce_is_wanted(REDUCE_WANTED, q)) {
            partial[(size_t)q * blocks + number] = lanes[q][0];
        }
    }
}

#if !REDUCE_IN_SUMMARY

/* Group g takes block g of the part, which is block own_first + g of all own_blocks.  On GPUs each work-item
 * takes a column: while it adds some rows the next ones are on their way. */
VISIT_KERNEL void reduce_blocks(READ_PARAMS, int own_w, int own_h, uint own_blocks, uint own_first,
                                uint own_others, global double *own_partial)
{
    if (VISIT_ENDED) {
        return;
    }
    local double own_lanes[REDUCE_QUANTITIES][REDUCE_LANES];
    const ReduceBlock own_b = reduce_block_of(own_w, own_h);
#if VISIT_CPU_SHAPE
    ReduceColumns own_columns;
    reduce_begin(&own_columns);
    for (int own_y = own_b.y0; own_y < own_b.bottom; own_y++) {
        for (int own_x = own_b.x0; own_x < own_b.right; own_x++) {
            const VisitPixel own_v = visit_pixel(READ_ARGS, own_x, own_y, own_b.plane);
            reduce_add(own_v, own_x - own_b.x0, &own_columns);
        }
    }
    reduce_end(&own_columns, own_lanes);
#else
    const int own_c = own_b.x0 + (int)get_local_id(0);
    ReduceColumn own_column;
    VisitPixel own_even[REDUCE_AHEAD], own_odd[REDUCE_AHEAD];
    reduce_begin(&own_column);
    reduce_read(READ_ARGS, own_c, own_w, own_h, own_b.y0, own_b.plane, own_even);
    for (int own_y = own_b.y0; own_y < own_b.bottom; own_y += 2 * REDUCE_AHEAD) {
        const int own_next = own_y + REDUCE_AHEAD, own_after = own_next + REDUCE_AHEAD;
        if (own_next < own_b.bottom) {
            reduce_read(READ_ARGS, own_c, own_w, own_h, own_next, own_b.plane, own_odd);
        }
        reduce_add(own_even, &own_column);
        if (own_after < own_b.bottom) {
            reduce_read(READ_ARGS, own_c, own_w, own_h, own_after, own_b.plane, own_even);
        }
        if (own_next < own_b.bottom) {
            reduce_add(own_odd, &own_column);
        }
    }
    reduce_end(&own_column, own_lanes);
#endif
    reduce_tree(REDUCE_WANTED, 0, REDUCE_QUANTITIES, own_lanes);
    const uint own_before = own_first + (uint)own_b.plane * own_others;
    reduce_write(own_lanes, own_before + own_b.number, own_blocks, own_partial);
}

#endif

#else /* !READ_PARAMS */

/* Group q finishes quantity q: lane t takes blocks t, t + 256 ... in order, then the tree.  Beyond the last
 * block is nothing, which changes no sum. */
VISIT_KERNEL void reduce_finish(global const double *partial, uint blocks, int wanted, int ended,
                                global double *values, int value)
{
    if (VISIT_ENDED) {
        return;
    }
    local double lanes[1][REDUCE_LANES];
    const int q = (int)get_group_id(0), item = (int)get_local_id(0);
    const uint n = reduce_is_wanted(wanted, q) ? blocks : 0;
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
    reduce_tree(wanted, q, 1, lanes);
    /* One zero and one NaN, whatever the device makes of signs. */
    if (item == 0 && n > 0) {
        values[value + q] =
            as_double(isnan(lanes[0][0]) ? 0x7ff8000000000000UL : as_ulong(lanes[0][0] + 0.0));
    }
}

#endif
