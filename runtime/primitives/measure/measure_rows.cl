/*
 * measure_rows: where the rows of every object begin and end, once counts and bounding boxes are known.
 *
 * An object's rows (all rows of its bounding box, in all its planes) lie side by side from
 * place[object] on.  Only objects from..to of the chunk are about, and of these only those with
 * heights; `lows` holds their boxes.  `top` and `front` are the row and plane of the image where its
 * part begins; of an object that the part cuts, the rows in the part alone have a place.
 *
 * The host defines MEASURE_POWERS (how many sums over rows are wanted).
 */

/* Sums of 1, i, i^2, i^3 for i up to n: two of them, subtracted, are the sums over a run. */
MEASURE_INLINE void measure_power_sums(long n, long *out)
{
    const long triangle = n * (n + 1) / 2;
    out[0] = n;
    out[1] = triangle;
    out[2] = n * (n + 1) * (2 * n + 1) / 6;
    out[3] = triangle * triangle;
}

/* Of an object with many runs in a row, such as ground with noise in it, most look no further than this many pixels to
 * see that they are not the outermost one, and leave the row's ends, which all of them share, alone. */
#define MEASURE_SEEN 4

/* ends: first and last x of each row.  powers: sums over the row of powers 0, 1, ... of the
 * distance from the anchor, [power][row]. */
MEASURE_GROUP_KERNEL void measure_ends(READ_PARAMS, const int own_w, const int own_h,
                                       const int own_d, const int own_top, const int own_front,
                                       const int own_rows, const uint own_first, const uint own_n,
                                       const uint own_from, const uint own_to,
                                       const uint own_capacity, global const ulong *own_sums,
                                       global const uint *own_lows, global const uint *own_place,
                                       global const uint *own_heights, global int *own_ends,
                                       global ulong *own_powers)
{
    const int own_x = (int)get_global_id(0), own_plane = (int)get_group_id(2),
              own_z = own_front + own_plane % own_d;
    const int own_y0 = (int)get_group_id(1) * own_rows,
              own_y1 = own_x < own_w ? min(own_y0 + own_rows, own_h) : own_y0;
    for (int own_y = own_y0; own_y < own_y1; own_y++) {
        const uint own_label = read_0(READ_ARGS, own_x, own_y, own_plane);
        const uint own_object = own_label - own_first;
        if (own_label == 0 || own_object < own_from || own_object >= own_to) {
            continue;
        }
        bool own_begins =
            own_x == 0 || read_0(READ_ARGS, own_x - 1, own_y, own_plane) != own_label;
        bool own_stops =
            own_x == own_w - 1 || read_0(READ_ARGS, own_x + 1, own_y, own_plane) != own_label;
        for (int own_k = 2; MEASURE_POWERS == 0 && own_k <= MEASURE_SEEN; own_k++) {
            own_begins = own_begins && (own_x < own_k || read_0(READ_ARGS, own_x - own_k, own_y,
                                                                own_plane) != own_label);
            own_stops = own_stops &&
                        (own_x + own_k >= own_w ||
                         read_0(READ_ARGS, own_x + own_k, own_y, own_plane) != own_label);
        }
        if ((!own_begins && !own_stops) || own_heights[own_object] == 0) {
            continue;
        }
        const MeasureBox own_box = measure_box_of(own_lows, own_n, own_object);
        const int own_first_y = max(own_box.y0, own_top), own_first_z = max(own_box.z0, own_front);
        const int own_tall = min(own_box.y1, own_top + own_h - 1) - own_first_y + 1;
        const uint own_row = own_place[own_object] + (uint)(own_z - own_first_z) * (uint)own_tall +
                             (uint)(own_top + own_y - own_first_y);
        if (own_begins) {
            atomic_min(own_ends + own_row, own_x);
        }
        if (own_stops) {
            atomic_max(own_ends + own_capacity + own_row, own_x);
        }
        if (MEASURE_POWERS > 0) {
            const ulong own_count = own_sums[own_object],
                        own_sum = own_sums[own_n + (size_t)own_object];
            const long own_at = own_x - (long)((own_sum + own_count / 2) / own_count);
            long own_before[4] = {0, 0, 0, 0}, own_after[4] = {0, 0, 0, 0};
            if (own_begins) {
                measure_power_sums(own_at - 1, own_before);
            }
            if (own_stops) {
                measure_power_sums(own_at, own_after);
            }
            for (int own_i = 0; own_i < MEASURE_POWERS; own_i++) {
                wide_add(own_powers + own_i * (size_t)own_capacity + own_row,
                         (ulong)(own_after[own_i] - own_before[own_i]));
            }
        }
    }
}
