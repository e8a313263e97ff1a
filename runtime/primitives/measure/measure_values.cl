/*
 * measure_values: what is made of an image's values once counts and bounding boxes of objects are known:
 * the values of each side by side, its weighted moments, digits of its median.  Objects, places and parts are
 * as in measure_rows.cl.
 *
 * The host defines MEASURE_SPACE, MEASURE_CHANNELS and MEASURE_READ_VALUE (the reader of the image).
 */

/* The cursor of an object that has no place is at least this. */
#define MEASURE_NOWHERE ((ulong)1 << 63)

/* Keys of an image's values, object after object: cursor[object] is where the next one goes. */
MEASURE_GROUP_KERNEL void measure_gather(READ_PARAMS, const int own_w, const int own_h,
                                         const int own_rows, const uint own_first, const uint own_n,
                                         global ulong *own_cursor, global uint *own_keys)
{
    const int own_x = (int)get_global_id(0), own_plane = (int)get_group_id(2);
    const int own_y0 = (int)get_group_id(1) * own_rows,
              own_y1 = own_x < own_w ? min(own_y0 + own_rows, own_h) : own_y0;
    int own_y = own_y0;
    while (own_y < own_y1) {
        const uint own_object =
            measure_tally_object(read_0(READ_ARGS, own_x, own_y, own_plane), own_first, own_n);
        int own_end = own_y + 1;
        while (own_object != 0 && own_end < own_y1 &&
               read_0(READ_ARGS, own_x, own_end, own_plane) == own_object - 1 + own_first) {
            own_end++;
        }
        if (own_object != 0) {
            ulong own_at = wide_take(own_cursor + own_object - 1, (uint)(own_end - own_y));
            for (int own_i = own_y; own_i < own_end && own_at < MEASURE_NOWHERE; own_i++) {
                const float own_v =
                    (float)MEASURE_READ_VALUE(READ_ARGS, own_x, own_i, own_plane) + 0.0f;
                const uint own_bits = as_uint(own_v);
                own_keys[own_at++] = isnan(own_v)
                                         ? 0xffffffff
                                         : own_bits ^ (own_bits >> 31 ? 0xffffffff : 0x80000000);
            }
        }
        own_y = own_end;
    }
}

#define MEASURE_LANES 32

/* Sums over a row of an object of its values times powers of the distance from the anchor; channels lie one
 * over the other. */
#define MEASURE_WEIGH_ROW(own_t, own_y, own_z)                                                     \
    double own_t[4] = {0, 0, 0, 0};                                                                \
    for (int own_c = 0; own_c < MEASURE_CHANNELS; own_c++) {                                       \
        for (int own_x = own_box.x0; own_x <= own_box.x1; own_x++) {                               \
            if (read_0(READ_ARGS, own_x, own_y, (own_z) + own_c) == own_first + own_object) {      \
                const double own_v = (double)MEASURE_READ_VALUE(READ_ARGS, own_x, own_y,           \
                                                                (own_z) + own_c),                  \
                             own_dx = own_x - own_ax;                                              \
                own_t[0] += own_v;                                                                 \
                own_t[1] += own_v * own_dx;                                                        \
                own_t[2] += own_v * (own_dx * own_dx);                                             \
                own_t[3] += own_v * (own_dx * own_dx * own_dx);                                    \
            }                                                                                      \
        }                                                                                          \
    }

/* These sums of the rows that an object has in the part: a group an object, a work-item every 32nd
 * row; [power][row].  measure_moments goes on from there. */
kernel __attribute__((reqd_work_group_size(MEASURE_LANES, 1, 1))) void
measure_weigh_rows(READ_PARAMS, const int own_h, const int own_top, const int own_front, const uint own_first,
                   const uint own_n, const uint own_from, const uint own_capacity, global const ulong *own_sums,
                   global const uint *own_lows, global const uint *own_place,
                   global const uint *own_heights, global double *own_weights)
{
    const uint own_object = own_from + get_group_id(0);
    const ulong own_count = max(own_sums[own_object], (ulong)1);
    const MeasureBox own_box = measure_box_of(own_lows, own_n, own_object);
    const int own_ax =
        (int)((own_sums[own_n + (size_t)own_object] + own_count / 2) / own_count);
    const int own_y0 = max(own_box.y0, own_top), own_z0 = max(own_box.z0, own_front);
    const int own_tall = max(min(own_box.y1, own_top + own_h - 1) - own_y0 + 1, 1);
    const int own_all = (int)own_heights[own_object];
    for (int own_row = (int)get_local_id(0); own_row < own_all; own_row += MEASURE_LANES) {
        const int own_y = own_y0 + own_row % own_tall - own_top;
        const int own_z = own_z0 + own_row / own_tall - own_front;
        const uint own_at = own_place[own_object] + (uint)own_row;
        MEASURE_WEIGH_ROW(own_t, own_y, own_z)
        for (int own_p = 0; own_p < 4; own_p++) {
            own_weights[own_p * (size_t)own_capacity + own_at] = own_t[own_p];
        }
    }
}

/* Moments weighted with the image: a group an object (and power of z), a work-item every 32nd row;
 * the order of all additions is that of the rows. */
kernel __attribute__((reqd_work_group_size(MEASURE_LANES, 1, 1))) void
measure_weigh(READ_PARAMS, const uint own_first, const uint own_n, const uint own_out,
              const ulong own_wanted, global ulong *own_sums, global const uint *own_lows)
{
    /* 17: else all lanes would meet in the same banks. */
    local double own_lanes[MEASURE_LANES][17];
    const uint own_object = get_group_id(0), own_power = get_group_id(1),
               own_lane = get_local_id(0);
    const ulong own_count = own_sums[own_object];
    double own_m[16];
    for (int own_i = 0; own_i < 16; own_i++) {
        own_m[own_i] = 0;
    }
    if (own_count != 0) {
        const MeasureBox own_box = measure_box_of(own_lows, own_n, own_object);
        const size_t own_stride = own_n;
        const int own_ax = (int)((own_sums[own_stride + own_object] + own_count / 2) / own_count);
        const int own_ay =
            (int)((own_sums[2 * own_stride + own_object] + own_count / 2) / own_count);
        const int own_az =
            MEASURE_SPACE
                ? (int)((own_sums[3 * own_stride * MEASURE_SPACE + own_object] + own_count / 2) /
                        own_count)
                : 0;
        const int own_tall = own_box.y1 - own_box.y0 + 1,
                  own_all = own_tall * (own_box.z1 - own_box.z0 + 1);
        for (int own_row = (int)own_lane; own_row < own_all; own_row += MEASURE_LANES) {
            const int own_y = own_box.y0 + own_row % own_tall,
                      own_z = own_box.z0 + own_row / own_tall;
            MEASURE_WEIGH_ROW(own_t, own_y, own_z)
            const double own_dy = own_y - own_ay, own_dz = own_z - own_az;
            double own_scale = 1;
            for (uint own_i = 0; own_i < own_power; own_i++) {
                own_scale *= own_dz;
            }
            for (int own_q = 0; own_q < 4; own_q++) {
                for (int own_p = 0; own_p < 4; own_p++) {
                    own_m[4 * own_q + own_p] += own_t[own_p] * own_scale;
                }
                own_scale *= own_dy;
            }
        }
    }
    for (int own_i = 0; own_i < 16; own_i++) {
        own_lanes[own_lane][own_i] = own_m[own_i];
    }
    for (uint own_half = MEASURE_LANES / 2; own_half > 0; own_half /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own_lane < own_half) {
            for (int own_i = 0; own_i < 16; own_i++) {
                own_lanes[own_lane][own_i] += own_lanes[own_lane + own_half][own_i];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong own_bit = (ulong)1 << (16 * own_power + own_lane % 16);
    if (own_lane < 16 && (own_wanted & own_bit) != 0) {
        const size_t own_lane_at = own_out + popcount(own_wanted & (own_bit - 1));
        own_sums[own_lane_at * own_n + own_object] = as_ulong(own_lanes[0][own_lane]);
    }
}

/* What parts have counted of an object's values so far, in a round; as in kernels/measure_cuts.cl. */
typedef struct MeasureDigits {
    uint above, largest; /* above: the complement of the smallest key above those with the prefix */
    ulong histogram[256];
} MeasureDigits;

/* Counts the digits at `shift` of the keys of objects that the part cuts which begin as their middle one does;
 * and finds an object's smallest key above all of these, and its largest.  digits[record[object]] is the
 * object's. The sums in own_lane: see there. */
MEASURE_GROUP_KERNEL void measure_digits(READ_PARAMS, const int own_w, const int own_h,
                                         const int own_rows, const int own_shift,
                                         const uint own_first, const uint own_n,
                                         const uint own_lane, global const ulong *own_record,
                                         global const ulong *own_sums,
                                         global MeasureDigits *own_digits)
{
    const int own_x = (int)get_global_id(0), own_plane = (int)get_group_id(2);
    const int own_y0 = (int)get_group_id(1) * own_rows,
              own_y1 = own_x < own_w ? min(own_y0 + own_rows, own_h) : own_y0;
    for (int own_y = own_y0; own_y < own_y1; own_y++) {
        const uint own_object =
            measure_tally_object(read_0(READ_ARGS, own_x, own_y, own_plane), own_first, own_n);
        const ulong own_at = own_object != 0 ? own_record[own_object - 1] : MEASURE_NOWHERE;
        if (own_at < MEASURE_NOWHERE) {
            global MeasureDigits *own_to = own_digits + own_at;
            const uint own_key = measure_order_key(
                (float)MEASURE_READ_VALUE(READ_ARGS, own_x, own_y, own_plane));
            const ulong own_top = (ulong)own_key >> (own_shift + 8);
            const ulong own_prefix = own_shift < 24 ? own_sums[own_lane * (size_t)own_n + own_object - 1] >> 40 : 0;
            if (own_top == own_prefix) {
                atom_inc(&own_to->histogram[own_key >> own_shift & 255]);
            } else if (own_top > own_prefix) {
                atomic_max(&own_to->above, ~own_key);
            }
            atomic_max(&own_to->largest, own_key);
        }
    }
}
