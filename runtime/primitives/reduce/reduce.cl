/*
 * reduce: sum, count, squared distances from the mean, smallest and largest of the selected pixels.
 *
 * The order of additions is part of the result: blocks of 256 columns by 64 rows, each column
 * summed from top to bottom in f64, the 256 columns added in a tree, then the blocks lane by lane.
 * On GPUs a work-item is a column; on CPUs a work-item is a block and goes along the rows, 256 sums
 * side by side, which adds the same numbers in the same order.
 *
 * Squared distances are those from a column's first pixel, and from there on those of two sets from the mean of both:
 * squares of the pixels themselves would leave nothing of a small variance beside a large mean.
 *
 * What is wanted are bits: 1 sum and count, 2 squares and these, 4 extremes.  Where there is a reader, REDUCE_WANTED is defined
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
#define REDUCE_UNITED (VISIT_CPU_SHAPE ? 1 : 8)    /* the same of three quantities */
/* Sums are written when those who unite squares have read them. */
#if !defined READ_PARAMS || (REDUCE_WANTED & 2)
#define REDUCE_READ barrier(CLK_LOCAL_MEM_FENCE)
#else
#define REDUCE_READ (void)0
#endif

enum { REDUCE_SUM, REDUCE_COUNT, REDUCE_SQUARES, REDUCE_LOW, REDUCE_HIGH, REDUCE_QUANTITIES };
#define REDUCE_MORE REDUCE_QUANTITIES /* of a summary: counts that are added like these, but in one block */

VISIT_INLINE bool reduce_is_wanted(int wanted, int quantity)
{
    const int bit = quantity == REDUCE_LOW || quantity == REDUCE_HIGH ? 4
                    : quantity == REDUCE_SQUARES                      ? 2
                                                                      : 3;
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

/* Pixels whose squared distances are those from their mean. */
typedef struct ReduceSet {
    double sum, count, squares;
} ReduceSet;

/* Both sets in one: what lies between their means comes to their own distances (Chan, Golub and LeVeque). */
VISIT_INLINE ReduceSet reduce_united(ReduceSet a, ReduceSet b)
{
    const double between = a.count * b.sum - b.count * a.sum, count = a.count + b.count;
    const double more = between * (1 / (a.count * b.count * count)) * between;
    const ReduceSet both = {a.sum + b.sum, count,
                            a.squares + b.squares + (a.count > 0 && b.count > 0 ? more : 0)};
    return both;
}

VISIT_INLINE ReduceSet reduce_set(const local double (*lanes)[REDUCE_LANES], int lane)
{
    const ReduceSet set = {lanes[REDUCE_SUM][lane], lanes[REDUCE_COUNT][lane], lanes[REDUCE_SQUARES][lane]};
    return set;
}

/* Squares of lanes, `step` apart from the first, as halvings of the tree would unite them. */
VISIT_INLINE double reduce_few(int lanes_n, const local double (*lanes)[REDUCE_LANES], int lane, int step)
{
    ReduceSet of[8];
#pragma unroll
    for (int i = 0; i < lanes_n; i++) {
        of[i] = reduce_set(lanes, lane + i * step);
    }
#pragma unroll
    for (int left = lanes_n / 2; left > 0; left /= 2) {
#pragma unroll
        for (int i = 0; i < left; i++) {
            of[i] = reduce_united(of[i], of[i + left]);
        }
    }
    return of[0].squares;
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
 * of the quantities from the first on, with squares from REDUCE_SUM on.  On GPUs a row has 32 work-items, which take three halvings at once;
 * the whole group comes here. */
VISIT_INLINE void reduce_tree(int wanted, int first, int rows, local double (*lanes)[REDUCE_LANES])
{
    const bool unites = first == 0 && rows > REDUCE_SQUARES && reduce_is_wanted(wanted, REDUCE_SQUARES);
    barrier(CLK_LOCAL_MEM_FENCE);
#if VISIT_CPU_SHAPE
    for (int step = REDUCE_LANES / 2; step > 0; step /= 2) {
        for (int t = (int)get_local_id(0); unites && t < step; t += VISIT_GROUP) {
            lanes[REDUCE_SQUARES][t] = reduce_few(2, lanes, t, step); /* while their sums are there */
        }
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (reduce_is_wanted(wanted, first + r) && first + r != REDUCE_SQUARES) {
                reduce_halve(first + r, step, lanes[r]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    const int r = (int)get_local_id(0) / 32, t = (int)get_local_id(0) % 32, q = first + r;
    const bool here = r < rows && reduce_is_wanted(wanted, q), squares = unites && q == REDUCE_SQUARES;
    double all = 0;
    if (here) {
        all = squares ? reduce_few(8, lanes, t, 32) : reduce_eight(q, lanes[r] + t, 32);
    }
    REDUCE_READ;
    if (here) {
        lanes[r][t] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here && t < 4) {
        all = squares ? reduce_few(8, lanes, t, 4) : reduce_eight(q, lanes[r] + t, 4);
    }
    REDUCE_READ;
    if (here && t < 4) {
        lanes[r][t] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (here && t == 0) {
        all = squares ? reduce_few(4, lanes, 0, 1)
                      : reduce_combined(q, reduce_combined(q, lanes[r][0], lanes[r][2]),
                                        reduce_combined(q, lanes[r][1], lanes[r][3]));
    }
    REDUCE_READ;
    if (here && t == 0) {
        lanes[r][0] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

#ifdef READ_PARAMS

/* Of a column, from what its pixels are away from the first of them. */
VISIT_INLINE double reduce_squares(double first, double sum, int count, double squares)
{
    const double off = sum - (double)count * first;
    const double own = count > 0 ? squares - off * off / (double)count : 0;
    return own < 0 ? 0 : own;
}

/* Adds a pixel to running values of a column; NaN is not a pixel. */
#define REDUCE_ADD_PIXEL(v, first, sum, count, squares, low, high)                                        \
    do {                                                                                           \
        const bool one_there = !isnan(v);                                                          \
        if (REDUCE_WANTED & 3) {                                                                   \
            const double one_x = (double)(one_there ? (v) : 0);                                    \
            if (REDUCE_WANTED & 2) {                                                               \
                first = one_there && count == 0 ? (v) : first;                                     \
                const double one_far = one_there ? one_x - (double)first : 0;                      \
                squares += one_far * one_far;                                                      \
            }                                                                                      \
            sum += one_x;                                                                          \
            count += one_there;                                                                    \
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
    VisitPixel first[REDUCE_LANES], low[REDUCE_LANES], high[REDUCE_LANES];
    int count[REDUCE_LANES];
} ReduceColumns;

VISIT_INLINE void reduce_begin(ReduceColumns *columns)
{
    for (int c = 0; c < REDUCE_LANES; c++) {
        columns->sum[c] = columns->squares[c] = 0;
        columns->first[c] = 0;
        columns->count[c] = 0;
        columns->low[c] = INFINITY;
        columns->high[c] = -INFINITY;
    }
}

VISIT_INLINE void reduce_add(VisitPixel v, int c, ReduceColumns *columns)
{
    REDUCE_ADD_PIXEL(v, columns->first[c], columns->sum[c], columns->count[c], columns->squares[c],
                     columns->low[c], columns->high[c]);
}

VISIT_INLINE void reduce_end(const ReduceColumns *columns, local double (*lanes)[REDUCE_LANES])
{
    for (int c = 0; c < REDUCE_LANES; c++) {
        lanes[REDUCE_SUM][c] = columns->sum[c];
        lanes[REDUCE_COUNT][c] = columns->count[c];
        lanes[REDUCE_SQUARES][c] = reduce_squares((double)columns->first[c], columns->sum[c],
                                                  columns->count[c], columns->squares[c]);
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
    VisitPixel first, low, high;
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
            REDUCE_ADD_PIXEL(v[k], column->first, column->sum, column->count, column->squares,
                             column->low, column->high);
        }
    } else {
        column->first = column->count == 0 ? v[0] : column->first;
#pragma unroll
        for (int k = 0; k < REDUCE_AHEAD; k++) {
            const double x = (double)v[k], far = x - (double)column->first;
            column->sum += x;
            column->squares += far * far;
            column->low = fmin(column->low, v[k]);
            column->high = fmax(column->high, v[k]);
        }
        column->count += REDUCE_AHEAD;
    }
}

VISIT_INLINE void reduce_begin(ReduceColumn *column)
{
    const ReduceColumn nothing = {0, 0, 0, INFINITY, -INFINITY, 0};
    *column = nothing;
}

VISIT_INLINE void reduce_end(const ReduceColumn *column, local double (*lanes)[REDUCE_LANES])
{
    const int item = (int)get_local_id(0);
    if (REDUCE_WANTED & 3) {
        lanes[REDUCE_SUM][item] = column->sum;
        lanes[REDUCE_COUNT][item] = column->count;
    }
    if (REDUCE_WANTED & 2) {
        lanes[REDUCE_SQUARES][item] =
            reduce_squares((double)column->first, column->sum, column->count, column->squares);
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

/* What lane t of squares comes to, and the sums with which the tree unites it: blocks t, t + 256 ... in order. */
VISIT_INLINE void reduce_unite(global const double *partial, uint blocks, uint t, local double (*lanes)[REDUCE_LANES])
{
    ReduceSet all = {0, 0, 0};
    for (uint from = t; from < blocks; from += REDUCE_UNITED * REDUCE_LANES) {
        ReduceSet part[REDUCE_UNITED];
#pragma unroll
        for (uint k = 0; k < REDUCE_UNITED; k++) {
            const uint i = from + k * REDUCE_LANES;
            const size_t at = min(i, blocks - 1), of = blocks;
            const bool there = i < blocks;
            part[k].sum = there ? partial[REDUCE_SUM * of + at] : 0;
            part[k].count = there ? partial[REDUCE_COUNT * of + at] : 0;
            part[k].squares = there ? partial[REDUCE_SQUARES * of + at] : 0;
        }
#pragma unroll
        for (uint k = 0; k < REDUCE_UNITED; k++) {
            all = reduce_united(all, part[k]);
        }
    }
    lanes[REDUCE_SUM][t] = all.sum;
    lanes[REDUCE_COUNT][t] = all.count;
    lanes[REDUCE_SQUARES][t] = all.squares;
}

/* Group q finishes quantity q: lane t takes blocks t, t + 256 ... in order, then the tree.  Beyond the last
 * block is nothing, which changes no sum. */
VISIT_KERNEL void reduce_finish(global const double *partial, uint blocks, int wanted, int ended,
                                global double *values, int value)
{
    if (VISIT_ENDED) {
        return;
    }
    local double lanes[REDUCE_SQUARES + 1][REDUCE_LANES];
    const int q = (int)get_group_id(0), item = (int)get_local_id(0);
    const bool unites = q == REDUCE_SQUARES;
    const uint n = reduce_is_wanted(wanted, q) ? blocks : 0;
    for (int t = item; unites && t < REDUCE_LANES; t += VISIT_GROUP) {
        reduce_unite(partial, n, (uint)t, lanes);
    }
    partial += (size_t)q * n;
    for (int t = item; !unites && t < REDUCE_LANES; t += VISIT_GROUP) {
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
    reduce_tree(wanted, unites ? REDUCE_SUM : q, unites ? REDUCE_SQUARES + 1 : 1, lanes);
    /* One zero and one NaN, whatever the device makes of signs. */
    if (item == 0 && n > 0) {
        const int r = unites ? REDUCE_SQUARES : 0;
        values[value + q] =
            as_double(isnan(lanes[r][0]) ? 0x7ff8000000000000UL : as_ulong(lanes[r][0] + 0.0));
    }
}

#endif
