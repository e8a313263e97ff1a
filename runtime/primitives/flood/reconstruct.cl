/*
 * reconstruct: what propagate.cl needs for grey reconstruction, and the kernels around it.
 *
 * Numbers are kept as integers in the same order (-0 before 0), NaN before all, so that a NaN of the
 * mask lets nothing through.  Erosion is dilation of numbers with the other sign.  The host defines
 * RECONSTRUCT_SEED and PROPAGATE_IMAGE (the mask's type).
 */
#pragma OPENCL FP_CONTRACT OFF

#define PROPAGATE_VALUE int
#define PROPAGATE_LEAST INT_MIN

LANES_INLINE int reconstruct_rank(float v, int erosion)
{
    const int bits = as_int(erosion ? -v : v);
    return isnan(v) ? INT_MIN : bits >= 0 ? bits : INT_MIN - bits - 1;
}

LANES_INLINE int propagate_ceiling(global const PROPAGATE_IMAGE *mask, size_t at, int value,
                                   int erosion)
{
    return reconstruct_rank((float)mask[at], erosion);
}

/* Seeds, but not above the mask, become integers. */
LANES_KERNEL void reconstruct_start(int lanes, int w, uint rows, int pitch, int erosion,
                                    global int *ranks, int seed_pitch, int mask_pitch,
                                    ulong seed_first, ulong mask_first,
                                    global const RECONSTRUCT_SEED *seed,
                                    global const PROPAGATE_IMAGE *mask)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const size_t row = at.row, x = (size_t)at.x;
        const float from = (float)seed[seed_first + row * (size_t)seed_pitch + x];
        const float most = (float)mask[mask_first + row * (size_t)mask_pitch + x];
        ranks[row * (size_t)pitch + x] =
            min(reconstruct_rank(from, erosion), reconstruct_rank(most, erosion));
    }
}

/* Integers become numbers again, in place. */
LANES_KERNEL void reconstruct_end(int lanes, int w, uint rows, int pitch, int erosion,
                                  global int *ranks)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        global int *const pixel = ranks + (size_t)at.row * (size_t)pitch + (size_t)at.x;
        const int rank = *pixel, bits = rank >= 0 ? rank : INT_MIN - rank - 1;
        *pixel = rank == INT_MIN ? 0x7fc00000 : bits ^ (erosion ? INT_MIN : 0);
    }
}
