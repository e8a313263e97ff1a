/*
 * points: labels painted at single pixels.  A work-item takes every n-th label, asks the reader where it
 * goes (x of the reader is the label) and puts it there with an atomic maximum, so that of several labels at
 * one pixel the largest stays, whatever ran first.
 *
 * The part of the image that is painted begins at row y0 and plane z0 of channel c0.  Names that meet
 * a reader's begin with own_.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* The pixel nearest to a place, ties to even; -1 where that is not in the image (NaN too). */
static inline __attribute__((always_inline)) int points_near(float place, int extent)
{
    const float pixel = rint(place);
    return pixel >= 0 && pixel < 2147483648.0f && (int)pixel < extent ? (int)pixel : -1;
}

kernel void points_paint(READ_PARAMS, global double *own_values, int own_of_value, int own_value,
                         int own_w, int own_h, int own_d, int own_channels, int own_y0, int own_z0,
                         int own_c0, int own_pitch, int own_whole_h, int own_whole_d,
                         int own_whole_channels, global uint *own_out)
{
    const double own_count = own_values[own_of_value];
    if (get_global_id(0) == 0) {
        own_values[own_value] = own_count;
    }
    for (ulong own_i = get_global_id(0); (double)own_i < own_count; own_i += get_global_size(0)) {
        const uint own_label = (uint)own_i + 1;
        const int own_at[] = {
            points_near((float)read_0(READ_ARGS, (int)own_label, 0, 0), own_w),
            points_near((float)read_1(READ_ARGS, (int)own_label, 0, 0), own_whole_h),
            points_near((float)read_2(READ_ARGS, (int)own_label, 0, 0), own_whole_d),
            points_near((float)read_3(READ_ARGS, (int)own_label, 0, 0), own_whole_channels)};
        const bool own_inside = own_at[0] >= 0 && own_at[1] >= own_y0 && own_at[1] - own_y0 < own_h &&
                                own_at[2] >= own_z0 && own_at[2] - own_z0 < own_d &&
                                own_at[3] >= own_c0 && own_at[3] - own_c0 < own_channels;
        if (own_inside) {
            const size_t own_plane = (size_t)(own_at[3] - own_c0) * (size_t)own_d + (size_t)(own_at[2] - own_z0);
            const size_t own_row = own_plane * (size_t)own_h + (size_t)(own_at[1] - own_y0);
            atomic_max(own_out + own_row * (size_t)own_pitch + (size_t)own_at[0], own_label);
        }
    }
}
