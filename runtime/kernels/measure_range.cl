/*
 * measure_range: how far the values of the labelled pixels of each image spread, so that they can be
 * put into integers without loss (measure.cl).
 *
 * The host defines IMAGES and FOR_IMAGES(DO).
 */
#define DECLARE_SPREAD(k) int top_##k = -1000, low_##k = 1000, odd_##k = 0;
#define ADD_SPREAD(k)                                                                              \
    {                                                                                              \
        const float v = (float)read_##k(READ_ARGS, x, y, plane);                                   \
        const uint m = mantissa(as_uint(v));                                                       \
        const int e = exponent(as_uint(v)) - 150;                                                  \
        odd_##k |= !isfinite(v);                                                                   \
        if (m != 0 && isfinite(v)) {                                                               \
            top_##k = max(top_##k, e + 32 - (int)clz(m));                                          \
            low_##k = min(low_##k, e + 31 - (int)clz(m & (0 - m)));                                \
        }                                                                                          \
    }
#define JOIN_SPREAD(k)                                                                             \
    atomic_max(&group_spread[3 * (k) - 3], top_##k);                                               \
    atomic_min(&group_spread[3 * (k) - 2], low_##k);                                               \
    atomic_or(&group_spread[3 * (k) - 1], odd_##k);
#define WRITE_SPREAD(k)                                                                            \
    atomic_max(&spread[3 * (k) - 3], group_spread[3 * (k) - 3]);                                   \
    atomic_min(&spread[3 * (k) - 2], group_spread[3 * (k) - 2]);                                   \
    atomic_or(&spread[3 * (k) - 1], group_spread[3 * (k) - 1]);

/* Of the labelled pixels of each image: all are below 2^top and multiples of 2^low, or not finite. */
GROUP_KERNEL void measure_range(READ_PARAMS, const int w, const int h, const int rows,
                                global int *spread)
{
    local int group_spread[3 * IMAGES];
    const int x = (int)get_global_id(0), plane = (int)get_group_id(2);
    const int y0 = (int)get_group_id(1) * rows, y1 = x < w ? min(y0 + rows, h) : y0;
    for (int i = get_local_id(0); i < 3 * IMAGES; i += GROUP) {
        group_spread[i] = i % 3 == 0 ? -1000 : i % 3 == 1 ? 1000 : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_IMAGES(DECLARE_SPREAD)
    for (int y = y0; y < y1; y++) {
        if (read_0(READ_ARGS, x, y, plane) != 0) {
            FOR_IMAGES(ADD_SPREAD)
        }
    }
    FOR_IMAGES(JOIN_SPREAD)
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        FOR_IMAGES(WRITE_SPREAD)
    }
}
