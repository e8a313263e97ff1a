/*
 * measure_range: how far the values of the labelled pixels of each image spread, so that they can
 * be put into integers without loss (measure.cl).
 *
 * The host defines MEASURE_IMAGES and MEASURE_FOR_IMAGES(DO).
 */
#define MEASURE_NO_SPREAD 1000
#define MEASURE_DECLARE_SPREAD(k)                                                                  \
    int own_top_##k = -MEASURE_NO_SPREAD, own_low_##k = MEASURE_NO_SPREAD, own_odd_##k = 0;        \
    float own_v_##k[MEASURE_BATCH];
#define MEASURE_LOAD_SPREAD(k)                                                                     \
    own_v_##k[own_j] =                                                                             \
        own_in[own_j] ? (float)read_##k(READ_ARGS, own_x, own_y + own_j, own_plane) : 0;
#define MEASURE_ADD_SPREAD(k)                                                                      \
    {                                                                                              \
        const float own_v = own_v_##k[own_j];                                                      \
        const uint own_m = measure_mantissa(as_uint(own_v));                                       \
        const int own_e = measure_exponent(as_uint(own_v)) - 150;                                  \
        own_odd_##k |= !isfinite(own_v);                                                           \
        if (own_m != 0 && isfinite(own_v)) {                                                       \
            own_top_##k = max(own_top_##k, own_e + 32 - (int)clz(own_m));                          \
            own_low_##k = min(own_low_##k, own_e + 31 - (int)clz(own_m & (0 - own_m)));            \
        }                                                                                          \
    }
#define MEASURE_JOIN_SPREAD(k)                                                                     \
    atomic_min(&own_group_spread[3 * (k)-3], -own_top_##k);                                        \
    atomic_min(&own_group_spread[3 * (k)-2], own_low_##k);                                         \
    atomic_min(&own_group_spread[3 * (k)-1], own_odd_##k ? 0 : MEASURE_NO_SPREAD);

/* The labelled pixels of an image are below 2^top and multiples of 2^low, or not finite: -top, low, and a 0 where
 * one is not.  All are minima from MEASURE_NO_SPREAD on, so that one fill begins them. */
MEASURE_GROUP_KERNEL void measure_range(READ_PARAMS, const int own_w, const int own_h,
                                        const int own_rows, global int *own_spread)
{
    local int own_group_spread[3 * MEASURE_IMAGES];
    const int own_x = (int)get_global_id(0), own_plane = (int)get_group_id(2);
    const int own_y0 = (int)get_group_id(1) * own_rows,
              own_y1 = own_x < own_w ? min(own_y0 + own_rows, own_h) : own_y0;
    for (int own_i = get_local_id(0); own_i < 3 * MEASURE_IMAGES; own_i += MEASURE_GROUP) {
        own_group_spread[own_i] = MEASURE_NO_SPREAD;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    MEASURE_FOR_IMAGES(MEASURE_DECLARE_SPREAD)
    for (int own_y = own_y0; own_y < own_y1; own_y += MEASURE_BATCH) {
        bool own_in[MEASURE_BATCH];
#pragma unroll
        for (int own_j = 0; own_j < MEASURE_BATCH; own_j++) {
            own_in[own_j] =
                own_y + own_j < own_y1 && read_0(READ_ARGS, own_x, own_y + own_j, own_plane) != 0;
        }
#pragma unroll
        for (int own_j = 0; own_j < MEASURE_BATCH; own_j++) {
            MEASURE_FOR_IMAGES(MEASURE_LOAD_SPREAD)
        }
#pragma unroll
        for (int own_j = 0; own_j < MEASURE_BATCH; own_j++) {
            MEASURE_FOR_IMAGES(MEASURE_ADD_SPREAD)
        }
    }
    MEASURE_FOR_IMAGES(MEASURE_JOIN_SPREAD)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int own_i = get_local_id(0); own_i < 3 * MEASURE_IMAGES; own_i += MEASURE_GROUP) {
        atomic_min(&own_spread[own_i], own_group_spread[own_i]);
    }
}
