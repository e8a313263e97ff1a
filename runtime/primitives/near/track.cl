/*
 * track: hands what is known of each object, or of each pair of objects, to the host (base/track.h).
 *
 *   track_take    five numbers of each of `many` labels or pairs from `from` on, each in a row of its own
 *   track_pairs   how many pairs there are
 *
 * The reader's x is the label, or the pair.  Names that meet a reader's begin with own_.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void track_take(READ_PARAMS, uint own_from, uint own_many, int own_pairs, global float *own_out)
{
    for (size_t own_i = get_global_id(0); own_i < own_many; own_i += get_global_size(0)) {
        const int own_label = (int)(own_from + (uint)own_i);
        if (!own_pairs) {
            own_out[own_i] = (float)read_0(READ_ARGS, own_label, 0, 0);
            own_out[own_i + own_many] = (float)read_1(READ_ARGS, own_label, 0, 0);
        }
#ifdef READ_HAS_5
        const bool own_wanted = own_pairs;
#else
        const bool own_wanted = !own_pairs;
#endif
        if (own_wanted) {
            own_out[own_i + 2 * (size_t)own_many] = (float)read_2(READ_ARGS, own_label, 0, 0);
            own_out[own_i + 3 * (size_t)own_many] = (float)read_3(READ_ARGS, own_label, 0, 0);
            own_out[own_i + 4 * (size_t)own_many] = (float)read_4(READ_ARGS, own_label, 0, 0);
        }
    }
}

kernel void track_pairs(READ_PARAMS, global double *own_out)
{
    if (get_global_id(0) == 0) {
#ifdef READ_HAS_5
        own_out[0] = (double)read_5(READ_ARGS, 0, 0, 0);
#else
        own_out[0] = 0;
#endif
    }
}
