/*
 * measure_reach: the smallest and the largest label of a part and of the rows and planes around it that count
 * for its outlines.
 */

/* Rows y0 .. y1 - 1, in planes from z0 on; reach: the smallest label, and the complement of the largest. */
MEASURE_GROUP_KERNEL void measure_reach(READ_PARAMS, const int own_w, const int own_y0,
                                        const int own_y1, const int own_z0, const int own_rows,
                                        global uint *own_reach)
{
    local uint own_low, own_high;
    const int own_x = (int)get_global_id(0), own_plane = own_z0 + (int)get_group_id(2);
    const int own_begin = own_y0 + (int)get_group_id(1) * own_rows,
              own_end = own_x < own_w ? min(own_begin + own_rows, own_y1) : own_begin;
    uint own_least = 0xffffffff, own_most = 0xffffffff;
    for (int own_y = own_begin; own_y < own_end; own_y++) {
        const uint own_label = read_0(READ_ARGS, own_x, own_y, own_plane);
        own_least = own_label != 0 ? min(own_least, own_label) : own_least;
        own_most = min(own_most, ~own_label);
    }
    if (get_local_id(0) == 0) {
        own_low = own_high = 0xffffffff;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_min(&own_low, own_least);
    atomic_min(&own_high, own_most);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_min(own_reach, own_low);
        atomic_min(own_reach + 1, own_high);
    }
}
