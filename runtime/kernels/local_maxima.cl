/*
 * local_maxima: what propagate.cl needs for maxima, and the kernels around it.
 *
 * A pixel without a higher neighbour is a candidate.  Candidates that are neighbours are as high as
 * each other; they are a maximum unless one of them has a neighbour as high that is no candidate.
 * Pixels have the states 0 no candidate, 1 candidate, 2 no maximum, and 2 spreads over candidates.
 * NaN is neither a candidate nor higher.  The host defines LOCAL_MAXIMA_PIXEL.
 */
#pragma OPENCL FP_CONTRACT OFF

#define PROPAGATE_VALUE uchar
#define PROPAGATE_LEAST ((uchar)0)
#define PROPAGATE_IMAGE uchar

LANES_INLINE uchar propagate_ceiling(global const uchar *states, size_t at, uchar value, int how)
{
    return value == 0 ? (uchar)0 : (uchar)2;
}

#define LOCAL_MAXIMA_SHAPE                                                                         \
    int lanes, int w, int h, int d, uint rows, int pitch, int image_pitch
#define LOCAL_MAXIMA_PITCH(row, p) ((size_t)(row) * (size_t)(p))

/* Where the neighbour (dx, dy, dz) of a pixel lies, as a row; false where it is outside. */
LANES_INLINE bool local_maxima_near(LanesSpot at, int w, int h, int d, int dx, int dy, int dz,
                                    LanesSpot *to)
{
    const int y = (int)(at.row % (uint)h) + dy, z = (int)(at.row / (uint)h % (uint)d) + dz;
    to->x = at.x + dx;
    to->row = (uint)((long)at.row + dy + (long)dz * h);
    return to->x >= 0 && to->x < w && y >= 0 && y < h && z >= 0 && z < d;
}

#define LOCAL_MAXIMA_NEAR(k)                                                                       \
    (k % 3 - 1) * (k % 3 - 1) + (k / 3 % 3 - 1) * (k / 3 % 3 - 1) + (k / 9 - 1) * (k / 9 - 1)
#define LOCAL_MAXIMA_FIRST (PROPAGATE_3D ? 0 : 9)
#define LOCAL_MAXIMA_END (PROPAGATE_3D ? 27 : 18)

/* Marks candidates, and channels that have pixels of different values. */
LANES_KERNEL void local_maxima_mark(LOCAL_MAXIMA_SHAPE, global const LOCAL_MAXIMA_PIXEL *image,
                                    global uchar *marks, ulong uneven_at, global uint *scratch)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const float own = (float)image[LOCAL_MAXIMA_PITCH(at.row, image_pitch) + (size_t)at.x];
        bool highest = !isnan(own), uneven = isnan(own);
        for (int k = LOCAL_MAXIMA_FIRST; k < LOCAL_MAXIMA_END; k++) {
            LanesSpot to;
            if (LOCAL_MAXIMA_NEAR(k) <= PROPAGATE_CONNECTIVITY &&
                local_maxima_near(at, w, h, d, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1, &to)) {
                const float v =
                    (float)image[LOCAL_MAXIMA_PITCH(to.row, image_pitch) + (size_t)to.x];
                highest = highest && !(v > own);
                uneven = uneven || v != own;
            }
        }
        marks[LOCAL_MAXIMA_PITCH(at.row, pitch) + (size_t)at.x] = highest;
        if (uneven) {
            scratch[uneven_at + at.row / ((uint)h * (uint)d)] = 1;
        }
    }
}

/* Finds the candidates from which "no maximum" spreads. */
LANES_KERNEL void local_maxima_start(LOCAL_MAXIMA_SHAPE, global const LOCAL_MAXIMA_PIXEL *image,
                                     global const uchar *marks, global uchar *states)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const size_t pixel = LOCAL_MAXIMA_PITCH(at.row, pitch) + (size_t)at.x;
        const float own = (float)image[LOCAL_MAXIMA_PITCH(at.row, image_pitch) + (size_t)at.x];
        uchar state = marks[pixel];
        for (int k = LOCAL_MAXIMA_FIRST; k < LOCAL_MAXIMA_END && state == 1; k++) {
            LanesSpot to;
            if (LOCAL_MAXIMA_NEAR(k) <= PROPAGATE_CONNECTIVITY &&
                local_maxima_near(at, w, h, d, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1, &to) &&
                marks[LOCAL_MAXIMA_PITCH(to.row, pitch) + (size_t)to.x] == 0) {
                const float v =
                    (float)image[LOCAL_MAXIMA_PITCH(to.row, image_pitch) + (size_t)to.x];
                state = v == own ? 2 : state;
            }
        }
        states[pixel] = state;
    }
}

/* States become a mask, in place; an even channel has no maximum. */
LANES_KERNEL void local_maxima_end(LOCAL_MAXIMA_SHAPE, ulong uneven_at, global const uint *scratch,
                                   global uchar *states)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const size_t pixel = LOCAL_MAXIMA_PITCH(at.row, pitch) + (size_t)at.x;
        const bool uneven = scratch[uneven_at + at.row / ((uint)h * (uint)d)] != 0;
        states[pixel] = uneven && states[pixel] == 1;
    }
}
