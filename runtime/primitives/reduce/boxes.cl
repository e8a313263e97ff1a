/*
 * boxes: statistics of the boxes that an image is cut into, after sigma clipping; what they are is said in reference/ref.h.
 *
 * A group has a box.  Its pixels are read once, as whole numbers in the order of the floats (keys), and stay in
 * registers; of larger boxes they are read again each time.  Limits are keys, too.  A median is found by halving the range
 * of keys between the limits: how many pixels lie below its middle is a sum over the group.  So there is no
 * sorting, and the order of work-items changes nothing.
 *
 * On GPUs a work-item is a lane of the sums; on CPUs a group is one work-item, which has all lanes.
 *
 * The host defines BOXES_X, BOXES_Y, BOXES_Z (pixels of a box) and BOXES_HELD (they are kept) in front of this text.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define BOXES_LANES 256
#if VISIT_CPU_SHAPE
#define BOXES_GROUP 1
#else
#define BOXES_GROUP BOXES_LANES
#endif
#if BOXES_HELD && !VISIT_CPU_SHAPE
#define BOXES_UNROLL _Pragma("unroll") /* an array is in registers only then */
#else
#define BOXES_UNROLL
#endif
#define BOXES_PIXELS (BOXES_X * BOXES_Y * BOXES_Z)
#define BOXES_TURNS ((BOXES_PIXELS + BOXES_GROUP - 1) / BOXES_GROUP)
#define BOXES_INLINE static inline __attribute__((always_inline))

/* Keys of the lowest and the highest number; what does not count is above. */
#define BOXES_LOWEST 0x00800000u
#define BOXES_HIGHEST 0xff7fffffu
#define BOXES_NONE 0xffffffffu

BOXES_INLINE uint boxes_key(float v)
{
    const uint bits = as_uint(v == 0.0f ? 0.0f : v);
    return isfinite(v) ? ((bits >> 31) != 0 ? ~bits : bits | 0x80000000u) : BOXES_NONE;
}

BOXES_INLINE float boxes_number(uint key)
{
    return as_float((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}

/* The lowest key that is at least a limit, and the highest one that is at most that. */
BOXES_INLINE uint boxes_from(double limit)
{
    if (limit <= (double)boxes_number(BOXES_LOWEST)) {
        return BOXES_LOWEST;
    }
    const float near = (float)limit;
    const uint key = boxes_key(near);
    return isinf(near) ? BOXES_NONE : (double)near < limit ? key + 1 : key;
}

BOXES_INLINE uint boxes_to(double limit)
{
    if (limit >= (double)boxes_number(BOXES_HIGHEST)) {
        return BOXES_HIGHEST;
    }
    const float near = (float)limit;
    const uint key = boxes_key(near);
    return isinf(near) ? 0 : (double)near > limit ? key - 1 : key;
}

/* The sum of what the work-items have. */
BOXES_INLINE uint boxes_total(uint mine, local uint *shared, int item)
{
#if VISIT_CPU_SHAPE
    return mine;
#else
    shared[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = BOXES_LANES / 4; step > 0; step /= 4) {
        if (item < step) {
            shared[item] += shared[item + step] + shared[item + 2 * step] + shared[item + 3 * step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const uint all = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return all;
#endif
}

/* The sums of all lanes, in a tree, and the smallest key of all; they lie in front then. */
BOXES_INLINE void boxes_add(local double *sums, local double *squares, local uint *keys, int item)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = BOXES_LANES / 2; step > 0; step /= 2) {
        for (int t = item; t < step; t += BOXES_GROUP) {
            sums[t] += sums[t + step];
            squares[t] += squares[t + step];
            keys[t] = min(keys[t], keys[t + step]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Where a box begins in the part, and how far the image goes from there. */
typedef struct BoxesBox {
    int x, y, z, w, h, d, plane;
} BoxesBox;

BOXES_INLINE uint boxes_read(READ_PARAMS, const BoxesBox *own_box, int own_i)
{
    const int own_x = own_i % BOXES_X, own_y = own_i / BOXES_X % BOXES_Y, own_z = own_i / (BOXES_X * BOXES_Y);
    if (own_x >= own_box->w || own_y >= own_box->h || own_z >= own_box->d || own_i >= BOXES_PIXELS) {
        return BOXES_NONE;
    }
    const int own_px = own_box->x + own_x, own_py = own_box->y + own_y, own_plane = own_box->plane + own_z;
#ifdef READ_HAS_1
    if (!read_1(READ_ARGS, own_px, own_py, own_plane)) {
        return BOXES_NONE;
    }
#endif
    return boxes_key(read_0(READ_ARGS, own_px, own_py, own_plane));
}

#if BOXES_HELD
#define BOXES_KEY(turn) own_keys[turn]
#else
#define BOXES_KEY(turn) boxes_read(READ_ARGS, &own_box, own_item + (turn)*BOXES_GROUP)
#endif

/* How many keys lie between two, these included; none where the first is the higher one. */
#define BOXES_COUNT_TO(n, low, high)                                                               \
    do {                                                                                           \
        uint own_n = 0;                                                                            \
        const uint own_start = (low), own_end = (high), own_reach = own_end - own_start;           \
        BOXES_UNROLL                                                                               \
        for (int own_turn = 0; own_turn < BOXES_TURNS; own_turn++) {                               \
            own_n += BOXES_KEY(own_turn) - own_start <= own_reach ? 1u : 0u;                       \
        }                                                                                          \
        n = boxes_total(own_start <= own_end ? own_n : 0, own_keys_of_all, own_item);              \
    } while (0)

kernel __attribute__((reqd_work_group_size(BOXES_GROUP, 1, 1))) void
boxes_find(READ_PARAMS, int own_w, int own_h, int own_d, int own_across, int own_down, int own_deep, int own_row,
           int own_layer, int own_y, int own_z, int own_planes, int own_rows_of_boxes, int own_layers_of_boxes, int own_channel,
           double own_kappa, int own_rounds, ulong own_boxes, global float *own_out)
{
    local uint own_keys_of_all[BOXES_LANES];
    local double own_sums[BOXES_LANES], own_squares[BOXES_LANES];
    const int own_item = (int)get_local_id(0), own_group = (int)get_group_id(0);
    const int own_bx = own_group % own_across, own_by = own_row + own_group / own_across % own_down;
    const int own_bz = own_layer + own_group / own_across / own_down % own_deep;
    const int own_c = own_group / own_across / own_down / own_deep;
    BoxesBox own_box = {own_bx * BOXES_X, own_by * BOXES_Y - own_y, own_bz * BOXES_Z - own_z, 0, 0, 0, 0};
    own_box.w = own_w - own_box.x;
    own_box.h = own_h - own_box.y;
    own_box.d = own_d - own_box.z;
    own_box.plane = own_c * own_planes + own_box.z;

#if BOXES_HELD
    uint own_keys[BOXES_TURNS];
    BOXES_UNROLL
    for (int own_turn = 0; own_turn < BOXES_TURNS; own_turn++) {
        own_keys[own_turn] = boxes_read(READ_ARGS, &own_box, own_item + own_turn * BOXES_GROUP);
    }
#endif
    /* The limits, and the last ones without those before them. */
    uint own_from = BOXES_LOWEST, own_to = BOXES_HIGHEST, own_least = own_from, own_most = own_to;
    uint own_count, own_before = 0;
    int own_round = 0;
    double own_median = NAN, own_mean = NAN, own_spread = NAN;
    bool own_last = own_rounds == 0;
    while (true) {
        BOXES_COUNT_TO(own_count, own_from, own_to);
        if (own_count == 0 || (own_count == own_before && own_last)) {
            break;
        }
        if (own_count == own_before) { /* nothing was left out: the last limits count alone */
            own_last = true;
            own_from = own_least;
            own_to = own_most;
            continue;
        }
        /* The lower one of the middle two, or the middle one; so many keys are not above it. */
        uint own_low = own_from, own_high = own_to, own_below = own_count;
        while (own_low < own_high) {
            const uint own_middle = own_low + (own_high - own_low) / 2;
            uint own_half;
            BOXES_COUNT_TO(own_half, own_from, own_middle);
            if (own_half > (own_count - 1) / 2) {
                own_high = own_middle;
                own_below = own_half;
            } else {
                own_low = own_middle + 1;
            }
        }
        for (int own_t = own_item; own_t < BOXES_LANES; own_t += BOXES_GROUP) {
            own_sums[own_t] = 0;
            own_squares[own_t] = 0;
            own_keys_of_all[own_t] = BOXES_NONE;
        }
        const double own_middle = (double)boxes_number(own_low);
        BOXES_UNROLL
        for (int own_turn = 0; own_turn < BOXES_TURNS; own_turn++) {
            const uint own_key = BOXES_KEY(own_turn);
            const int own_t = (own_item + own_turn * BOXES_GROUP) % BOXES_LANES;
            if (own_key >= own_from && own_key <= own_to) {
                const double own_far = (double)boxes_number(own_key) - own_middle;
                own_sums[own_t] += own_far;
                own_squares[own_t] += own_far * own_far;
            }
            own_keys_of_all[own_t] = own_key > own_low ? min(own_keys_of_all[own_t], own_key) : own_keys_of_all[own_t];
        }
        boxes_add(own_sums, own_squares, own_keys_of_all, own_item);
        const double own_offset = own_sums[0] / (double)own_count;
        const double own_variance = own_squares[0] / (double)own_count - own_offset * own_offset;
        const uint own_next = own_below > own_count / 2 ? own_low : own_keys_of_all[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        own_median = (own_middle + (double)boxes_number(own_next)) / 2;
        own_mean = own_middle + own_offset;
        own_spread = sqrt(own_variance > 0 ? own_variance : 0.0);
        if (own_last) {
            break;
        }
        const double own_reach = own_spread > 0 ? own_kappa * own_spread : 0.0;
        own_least = boxes_from(own_median - own_reach);
        own_most = boxes_to(own_median + own_reach);
        own_last = ++own_round == own_rounds;
        own_from = own_last ? own_least : max(own_from, own_least);
        own_to = own_last ? own_most : min(own_to, own_most);
        own_before = own_last ? 0 : own_count;
    }
    if (own_item == 0) {
        const ulong own_at = (((ulong)(own_channel + own_c) * own_layers_of_boxes + own_bz) * own_rows_of_boxes + own_by) * own_across + own_bx;
        const bool own_none = own_count == 0;
        own_out[own_at] = (float)own_count;
        own_out[own_at + own_boxes] = own_none ? NAN : (float)own_median;
        own_out[own_at + 2 * own_boxes] = own_none ? NAN : (float)own_mean;
        own_out[own_at + 3 * own_boxes] = own_none ? NAN : (float)own_spread;
    }
}
