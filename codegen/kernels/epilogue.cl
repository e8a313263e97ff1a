/*
 * Reductions of what a kernel stores, taken on the way (EPILOGUE): the columns of a work-item by
 * itself, then those of a group in the tree of reduce.cl, so that a group with 64 rows gives a block's
 * result.  NaN is left out.
 *
 *     REDUCED_LANES  room for so many numbers of each of a group's columns
 *     REDUCED_OPEN   declares what a work-item has so far, of pixels reduced as V: float or double
 *     REDUCED_ADD    adds the pixels of a row that are stored as T; `wanted` as in reduce.cl
 *     REDUCED_CLOSE  writes the group's results to to[quantity * groups + group]
 *
 * All work-items of a group come to the end.  Those beyond the image's edge compute the last columns
 * once more, or, where they have their columns from the group's tile, columns that nobody stores; what
 * they reduce is left out, as are columns between the edge and theirs.
 */
#if EPILOGUE
#define EPILOGUE_X min((int)get_global_id(0) * PX, (w - 1) / PX * PX)
#if PX == 4
#define EPILOGUE_TILE_X (int)get_global_id(0) * PX
#else
#define EPILOGUE_TILE_X EPILOGUE_X
#endif
#define REDUCED_LANES(rows)                                                                        \
    local double px_lanes[(rows)*PX * LX];                                                                \
    const int px_own = clamp(w - (int)get_global_id(0) * PX, 0, PX)
#define REDUCED_OPEN(name, V)                                                                      \
    double name##_sum[PX], name##_squares[PX];                                                     \
    V name##_first[PX], name##_low[PX], name##_high[PX];                                           \
    int name##_count[PX];                                                                          \
    PX_UNROLL for (int px_k = 0; px_k < PX; px_k++) {                                              \
        name##_sum[px_k] = name##_squares[px_k] = 0.0;                                             \
        name##_count[px_k] = 0;                                                                    \
        name##_first[px_k] = 0;                                                                    \
        name##_low[px_k] = INFINITY;                                                               \
        name##_high[px_k] = -INFINITY;                                                             \
    }
#define REDUCED_ADD(name, V, wanted, T, from)                                                      \
    PX_UNROLL for (int px_k = 0; px_k < PX; px_k++) {                                              \
        const V px_v = (V)(T)(from)[px_k];                                                         \
        const bool px_there = !isnan(px_v);                                                        \
        const double px_f = (double)(px_there ? px_v : 0);                                         \
        if ((wanted)&2) {                                                                          \
            name##_first[px_k] = px_there && name##_count[px_k] == 0 ? px_v : name##_first[px_k];  \
            const double px_far = px_there ? px_f - (double)name##_first[px_k] : 0;                \
            name##_squares[px_k] += px_far * px_far;                                               \
        }                                                                                          \
        if ((wanted)&3) {                                                                          \
            name##_sum[px_k] += px_f;                                                              \
            name##_count[px_k] += px_there;                                                        \
        }                                                                                          \
        if ((wanted)&4) {                                                                          \
            name##_low[px_k] = fmin(name##_low[px_k], px_v);                                       \
            name##_high[px_k] = fmax(name##_high[px_k], px_v);                                     \
        }                                                                                          \
    }
#define REDUCED_CLOSE(name, wanted, to)                                                            \
    if ((wanted)&2) {                                                                              \
        PX_UNROLL for (int px_k = 0; px_k < PX; px_k++) {                                          \
            const double px_n = name##_count[px_k];                                                \
            const double px_off = name##_sum[px_k] - px_n * (double)name##_first[px_k];            \
            const double px_one = px_n > 0 ? name##_squares[px_k] - px_off * px_off / px_n : 0;    \
            const int px_t = PX * (int)get_local_id(0) + px_k;                                     \
            const bool px_in = px_k < px_own;                                                      \
            px_lanes[px_t] = px_in ? name##_sum[px_k] : 0;                                         \
            px_lanes[PX * LX + px_t] = px_in ? px_n : 0;                                           \
            px_lanes[2 * PX * LX + px_t] = px_in ? (px_one < 0 ? 0 : px_one) : 0;                  \
        }                                                                                          \
        px_unite_lanes(px_lanes, to);                                                              \
    } else if ((wanted)&1) {                                                                       \
        REDUCED_QUANTITY(0, name##_sum, 0.0, to)                                                   \
        REDUCED_QUANTITY(1, name##_count, 0, to)                                                   \
    }                                                                                              \
    if ((wanted)&4) {                                                                              \
        REDUCED_QUANTITY(3, name##_low, INFINITY, to)                                              \
        REDUCED_QUANTITY(4, name##_high, -INFINITY, to)                                            \
    }
#define REDUCED_QUANTITY(quantity, of, nothing, to)                                                \
    PX_UNROLL for (int px_k = 0; px_k < PX; px_k++) {                                              \
        px_lanes[PX * (int)get_local_id(0) + px_k] = px_k < px_own ? of[px_k] : nothing;           \
    }                                                                                              \
    px_reduce_lanes(quantity, px_lanes, to);

/* Adds the upper half of the lanes to the lower half until one is left, the group's result. */
static inline __attribute__((always_inline)) void px_reduce_lanes(int quantity, local double *lanes,
                                                                  global double *to)
{
    const size_t groups = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
    const size_t group =
        (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
    const int item = (int)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = PX * LX / 2; step > 0; step /= 2) {
        for (int t = item; t < step; t += LX) {
            const double a = lanes[t], b = lanes[t + step];
            lanes[t] = quantity == 3 ? fmin(a, b) : quantity == 4 ? fmax(a, b) : a + b;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) {
        to[(size_t)quantity * groups + group] = lanes[0];
    }
}

/* Sums, counts and squared distances from the mean, as reduce_united has them. */
static inline __attribute__((always_inline)) void px_unite_lanes(local double *lanes, global double *to)
{
    const size_t groups = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
    const size_t group =
        (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
    const int item = (int)get_local_id(0);
    local double *const counts = lanes + PX * LX, *const squares = counts + PX * LX;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = PX * LX / 2; step > 0; step /= 2) {
        for (int t = item; t < step; t += LX) {
            const double a = counts[t], b = counts[t + step], n = a + b;
            const double between = a * lanes[t + step] - b * lanes[t];
            const double more = between * (1 / (a * b * n)) * between;
            squares[t] = squares[t] + squares[t + step] + (a > 0 && b > 0 ? more : 0);
            lanes[t] += lanes[t + step];
            counts[t] = n;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) {
        to[group] = lanes[0];
        to[groups + group] = counts[0];
        to[2 * groups + group] = squares[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#else
#define EPILOGUE_X (int)get_global_id(0) * PX
#define EPILOGUE_TILE_X EPILOGUE_X
#define REDUCED_LANES(rows)
#define REDUCED_OPEN(name, V)
#define REDUCED_ADD(name, V, wanted, T, from)
#define REDUCED_CLOSE(name, wanted, to)
#endif
