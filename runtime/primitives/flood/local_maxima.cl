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
    int lanes, int w, int h, int d, uint rows, int pitch, int image_h, int image_pitch, ulong image_first

/* Neighbour k of 27; only those within the connectivity count. */
#define LOCAL_MAXIMA_X(k) ((k) % 3 - 1)
#define LOCAL_MAXIMA_Y(k) ((k) / 3 % 3 - 1)
#define LOCAL_MAXIMA_Z(k) ((k) / 9 - 1)
#define LOCAL_MAXIMA_COUNTS(k)                                                                     \
    (LOCAL_MAXIMA_X(k) * LOCAL_MAXIMA_X(k) + LOCAL_MAXIMA_Y(k) * LOCAL_MAXIMA_Y(k) +               \
         LOCAL_MAXIMA_Z(k) * LOCAL_MAXIMA_Z(k) <=                                                  \
     PROPAGATE_CONNECTIVITY)
#define LOCAL_MAXIMA_FIRST (PROPAGATE_3D ? 0 : 9)
#define LOCAL_MAXIMA_END (PROPAGATE_3D ? 27 : 18)

typedef struct LocalMaximaSpot {
    int y, z;
    uint plane, channel; /* plane: over all channels */
    uint inside; /* bit k: neighbour k lies in the volume */
} LocalMaximaSpot;

LANES_INLINE LocalMaximaSpot local_maxima_spot(LanesSpot at, int w, int h, int d)
{
    LocalMaximaSpot s;
    const LanesSplit row = lanes_split(at.row, (uint)h), plane = lanes_split(row.over, (uint)d);
    s.y = (int)row.rest;
    s.z = (int)plane.rest;
    s.plane = row.over;
    s.channel = plane.over;
    s.inside = 0x2492492 | (at.x > 0 ? 0x1249249 : 0) | (at.x + 1 < w ? 0x4924924 : 0);
    s.inside &= 0x0e07038 | (s.y > 0 ? 0x01c0e07 : 0) | (s.y + 1 < h ? 0x70381c0 : 0);
    s.inside &= 0x003fe00 | (s.z > 0 ? 0x00001ff : 0) | (s.z + 1 < d ? 0x7fc0000 : 0);
    return s;
}

/* How far behind a pixel its neighbour k lies. */
LANES_INLINE long local_maxima_step(const int k, int h, int pitch)
{
    return LOCAL_MAXIMA_X(k) + (LOCAL_MAXIMA_Y(k) + (long)LOCAL_MAXIMA_Z(k) * h) * pitch;
}

/* Where a pixel is in the image, which has image_h rows of each plane. */
LANES_INLINE size_t local_maxima_pixel(LanesSpot at, LocalMaximaSpot s, int image_h, int image_pitch, ulong image_first)
{
    return image_first + ((size_t)s.plane * (size_t)image_h + (size_t)s.y) * (size_t)image_pitch + (size_t)at.x;
}

#define LOCAL_MAXIMA_ALL 0x7ffffffu
enum { LOCAL_MAXIMA_HIGHER = 1, LOCAL_MAXIMA_LEVEL = 2 };

/* What follows looks at all neighbours within the connectivity.  Nothing branches around a load, so that all of them
 * are under way at once: neighbours that are not there stand for the pixel itself.  Inside the volume all are. */
#define LOCAL_MAXIMA_NEIGHBOURS(first, end, inside, h, pitch, look)                                \
    _Pragma("unroll") for (int k = first; k < (end); k++) {                                        \
        if (LOCAL_MAXIMA_COUNTS(k) && k != 13) {                                                   \
            const bool there = ((inside) >> k & 1) != 0;                                           \
            const long step = there ? local_maxima_step(k, h, pitch) : 0;                          \
            look;                                                                                  \
        }                                                                                          \
    }
/* Whether some neighbour from number `first` on is higher than a pixel, and as high. */
LANES_INLINE uint local_maxima_around(const int first, const int end, global const LOCAL_MAXIMA_PIXEL *pixel, float own,
                                      uint inside, int h, int pitch)
{
    bool higher = false, level = false;
    LOCAL_MAXIMA_NEIGHBOURS(first, end, inside, h, pitch, const float beside = (float)pixel[step];
                            higher = higher | (beside > own); level = level | (there & (beside == own)))
    return (higher ? LOCAL_MAXIMA_HIGHER : 0) | (level ? LOCAL_MAXIMA_LEVEL : 0);
}

/* First in its own plane: most pixels have a higher one there. */
LANES_INLINE uint local_maxima_look(global const LOCAL_MAXIMA_PIXEL *pixel, float own, uint inside, int h, int pitch)
{
    const uint found = local_maxima_around(9, 18, pixel, own, inside, h, pitch);
    if (!PROPAGATE_3D || (found & LOCAL_MAXIMA_HIGHER) != 0) {
        return found;
    }
    return found | local_maxima_around(0, 9, pixel, own, inside, h, pitch) |
           local_maxima_around(18, 27, pixel, own, inside, h, pitch);
}

/* Marks candidates, with 2 where a neighbour is as high. */
LANES_KERNEL void local_maxima_mark(LOCAL_MAXIMA_SHAPE, global const LOCAL_MAXIMA_PIXEL *image,
                                    global uchar *marks)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const LocalMaximaSpot spot = local_maxima_spot(at, w, h, d);
        global const LOCAL_MAXIMA_PIXEL *const pixel =
            image + local_maxima_pixel(at, spot, image_h, image_pitch, image_first);
        const float own = (float)*pixel;
        const uint found = spot.inside == LOCAL_MAXIMA_ALL
                               ? local_maxima_look(pixel, own, LOCAL_MAXIMA_ALL, image_h, image_pitch)
                               : local_maxima_look(pixel, own, spot.inside, image_h, image_pitch);
        const bool highest = !isnan(own) && (found & LOCAL_MAXIMA_HIGHER) == 0;
        marks[(size_t)at.row * (size_t)pitch + (size_t)at.x] = highest ? 1 + (found >> 1) : 0;
    }
}

/* The neighbours that are candidates. */
LANES_INLINE uint local_maxima_candidates(global const uchar *mark, uint inside, int h, int pitch)
{
    uint beside = 0;
    LOCAL_MAXIMA_NEIGHBOURS(LOCAL_MAXIMA_FIRST, LOCAL_MAXIMA_END, inside, h, pitch,
                            beside |= (uint)(there & (mark[step] != 0)) << k)
    return beside;
}

/* The neighbours that count and are there. */
LANES_INLINE uint local_maxima_neighbours(uint inside)
{
    uint all = 0;
#pragma unroll
    for (int k = LOCAL_MAXIMA_FIRST; k < LOCAL_MAXIMA_END; k++) {
        all |= LOCAL_MAXIMA_COUNTS(k) && k != 13 ? (uint)1 << k : 0;
    }
    return all & inside;
}

/* Whether some of these neighbours is as high as the pixel. */
LANES_INLINE bool local_maxima_is_level(global const LOCAL_MAXIMA_PIXEL *pixel, uint of, int h, int pitch)
{
    const float own = (float)*pixel;
    bool level = false;
    LOCAL_MAXIMA_NEIGHBOURS(LOCAL_MAXIMA_FIRST, LOCAL_MAXIMA_END, of, h, pitch,
                            level = level | (there & ((float)pixel[step] == own)))
    return level;
}

/*
 * Finds the candidates from which "no maximum" spreads, among those with a neighbour as high, and flags the
 * tiles of the candidates beside them.  Channels that have anything but candidates are not all of one value: the first pixel of a
 * row says so where it can, else others.
 */
LANES_KERNEL void local_maxima_start(LOCAL_MAXIMA_SHAPE, global const LOCAL_MAXIMA_PIXEL *image,
                                     global const uchar *marks, global uchar *states,
                                     ulong uneven_at, ulong flags_at, uint across, uint down,
                                     uint deep, global uint *scratch)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const LocalMaximaSpot spot = local_maxima_spot(at, w, h, d);
        const size_t first = (size_t)at.row * (size_t)pitch;
        global const uchar *const mark = marks + first + (size_t)at.x;
        global const LOCAL_MAXIMA_PIXEL *const pixel =
            image + local_maxima_pixel(at, spot, image_h, image_pitch, image_first);
        const uchar own = *mark;
        uint beside = 0;
        bool spoiled = false;
        if (own > 1) {
            beside = spot.inside == LOCAL_MAXIMA_ALL ? local_maxima_candidates(mark, LOCAL_MAXIMA_ALL, h, pitch)
                                                     : local_maxima_candidates(mark, spot.inside, h, pitch);
            const uint others = local_maxima_neighbours(spot.inside) & ~beside;
            spoiled = others != 0 && local_maxima_is_level(pixel, others, image_h, image_pitch);
        }
        states[first + (size_t)at.x] = spoiled ? 2 : own != 0;
#pragma unroll 1
        for (int k = LOCAL_MAXIMA_FIRST; k < LOCAL_MAXIMA_END && spoiled && beside != 0; k++) {
            if ((beside >> k & 1) != 0) {
                const uint tx = (uint)(at.x + LOCAL_MAXIMA_X(k)) / PROPAGATE_X;
                const uint ty = (uint)(spot.y + LOCAL_MAXIMA_Y(k)) / PROPAGATE_Y;
                const uint tz = (uint)(spot.z + LOCAL_MAXIMA_Z(k)) / PROPAGATE_Z;
                scratch[flags_at + ((spot.channel * deep + tz) * down + ty) * across + tx] = 1;
            }
        }
        if (own == 0 && (at.x == 0 || (marks[first] != 0 && mark[-1] != 0))) {
            scratch[uneven_at + spot.channel] = 1;
        }
    }
}

/* States become a mask, in place; an even channel has no maximum. */
LANES_KERNEL void local_maxima_end(LOCAL_MAXIMA_SHAPE, ulong uneven_at, global const uint *scratch,
                                   global uchar *states)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        const size_t pixel = (size_t)at.row * (size_t)pitch + (size_t)at.x;
        const bool uneven = scratch[uneven_at + at.row / ((uint)h * (uint)d)] != 0;
        states[pixel] = uneven && states[pixel] == 1;
    }
}
