/*
 * measure_moments: moments of objects from the tables of rows that measure_rows.cl and measure_values.cl made.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define MEASURE_LANES 32

/* Moments about the anchor from the rows' power sums: a group an object (and power of z), a
 * work-item every 32nd row.  As long as they are below 2^53 all sums are exact.  `real`: the power
 * sums are weighted, and doubles. */
kernel __attribute__((reqd_work_group_size(MEASURE_LANES, 1, 1))) void
measure_moments(const uint n, const uint from, const uint out, const uint capacity,
                const uint space, const int n_powers, const int real, const ulong wanted,
                global ulong *sums,
                global const uint *lows, global const uint *place, global const uint *heights,
                global const ulong *powers)
{
    local double lanes[MEASURE_LANES][17]; /* 17: else all lanes would meet in the same banks */
    const uint object = from + get_group_id(0), power = get_group_id(1), lane = get_local_id(0);
    const size_t stride = n;
    const int rows = (int)heights[object];
    const ulong count = max(sums[object], (ulong)1);
    const int y0 = (int)lows[stride + object], z0 = space ? (int)lows[2 * stride + object] : 0;
    const int tall = max((int)~lows[(3 + space) * stride + object] - y0 + 1, 1);
    const int ay = (int)((sums[2 * stride + object] + count / 2) / count);
    const int az = space ? (int)((sums[3 * space * stride + object] + count / 2) / count) : 0;
    double m[16];
    for (int i = 0; i < 16; i++) {
        m[i] = 0;
    }
    for (int row = (int)lane; row < rows; row += MEASURE_LANES) {
        const double dy = y0 + row % tall - ay, dz = z0 + row / tall - az;
        double scale = 1, t[4];
        for (uint i = 0; i < power; i++) {
            scale *= dz;
        }
        for (int p = 0; p < 4; p++) {
            const size_t at = p * (size_t)capacity + place[object] + row;
            t[p] = p >= n_powers ? 0
                   : real        ? as_double(powers[at])
                                 : (double)(long)powers[at];
        }
        for (int q = 0; q < 4; q++) {
            for (int p = 0; p < 4; p++) {
                m[4 * q + p] += t[p] * scale;
            }
            scale *= dy;
        }
    }
    for (int i = 0; i < 16; i++) {
        lanes[lane][i] = m[i];
    }
    for (uint reach = MEASURE_LANES / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < reach) {
            for (int i = 0; i < 16; i++) {
                lanes[lane][i] += lanes[lane + reach][i];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong bit = (ulong)1 << (16 * power + lane % 16);
    if (lane < 16 && (wanted & bit) != 0 && rows > 0) {
        sums[(out + popcount(wanted & (bit - 1))) * stride + object] = as_ulong(lanes[0][lane]);
    }
}
