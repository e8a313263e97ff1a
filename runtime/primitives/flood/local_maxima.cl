/*
 * local_maxima: what propagate.cl needs for maxima, and the kernels around it.
 *
 * A pixel without a higher neighbour is a candidate.  Candidates that are neighbours are as high as
 * each other; they are a maximum unless one of them has a neighbour as high that is no candidate.
 * Pixels have the states 0 no candidate, 1 candidate, 2 no maximum, and 2 spreads over candidates.
 * NaN is neither a candidate nor higher.  The host defines LOCAL_MAXIMA_PIXEL.
 *
 * A work-item has LOCAL_MAXIMA_COLUMNS pixels of a row, which share the rows around them: vectors where all of their
 * neighbours are there, else one pixel after the other.  Candidates with a neighbour as high are few, but in flat areas,
 * of which the inside needs no second look: a group collects the others, and looks at them side by side.
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

/* Vectors of pixels and of bytes, one after the other in memory; the first of four bytes is the lowest of the word. */
#define LOCAL_MAXIMA_COLUMNS 4
#define LOCAL_MAXIMA_JOINED(a, b) a##b
#define LOCAL_MAXIMA_JOIN(a, b) LOCAL_MAXIMA_JOINED(a, b)
#define LOCAL_MAXIMA_PIXELS LOCAL_MAXIMA_JOIN(LOCAL_MAXIMA_PIXEL, 4)
#define LOCAL_MAXIMA_ONES 0x01010101u

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

/* The work-item's first pixel. */
LANES_INLINE LanesSpot local_maxima_place(int w, int lanes)
{
    LanesSpot at = lanes_spot((w + LOCAL_MAXIMA_COLUMNS - 1) / LOCAL_MAXIMA_COLUMNS, lanes);
    at.x *= LOCAL_MAXIMA_COLUMNS;
    return at;
}

/* Whether all of a work-item's pixels have all neighbours, and lie where vectors may. */
LANES_INLINE bool local_maxima_in_vectors(LanesSpot at, LocalMaximaSpot first, int w, int pitches)
{
    const uint beside = 0x1249249 | 0x2492492;
    return (first.inside & beside) == beside && at.x + LOCAL_MAXIMA_COLUMNS < w &&
           pitches % LOCAL_MAXIMA_COLUMNS == 0;
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

LANES_INLINE uchar local_maxima_mark_of(global const LOCAL_MAXIMA_PIXEL *pixel, uint inside, int h, int pitch)
{
    const float own = (float)*pixel;
    const uint found = local_maxima_look(pixel, own, inside, h, pitch);
    const bool highest = !isnan(own) && (found & LOCAL_MAXIMA_HIGHER) == 0;
    return highest ? 1 + (found >> 1) : 0;
}

/* Four pixels and the largest of each one's neighbours, all of which are there and some number. */
LANES_INLINE void local_maxima_largest(global const LOCAL_MAXIMA_PIXEL *pixel, int h, int pitch, float *own,
                                       float *largest)
{
    float beside[6]; /* above and below the pixels and their neighbours along x; in `largest` the pixels' own columns */
#pragma unroll
    for (int i = 0; i < 6; i++) {
        beside[i] = largest[min(i, 3)] = -INFINITY;
    }
#pragma unroll
    for (int k = LOCAL_MAXIMA_FIRST + 1; k < LOCAL_MAXIMA_END; k += 3) { /* the middle of each row */
        if (LOCAL_MAXIMA_COUNTS(k)) {
            global const LOCAL_MAXIMA_PIXEL *const row = pixel + local_maxima_step(k, h, pitch);
            const LOCAL_MAXIMA_PIXELS there = *(global const LOCAL_MAXIMA_PIXELS *)row;
            const float here[4] = {(float)there.x, (float)there.y, (float)there.z, (float)there.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                own[i] = k == 13 ? here[i] : own[i];
                largest[i] = k == 13 ? largest[i] : fmax(largest[i], here[i]);
                beside[i + 1] = LOCAL_MAXIMA_COUNTS(k + 1) ? fmax(beside[i + 1], here[i]) : beside[i + 1];
            }
            if (LOCAL_MAXIMA_COUNTS(k + 1)) {
                beside[0] = fmax(beside[0], (float)row[-1]);
                beside[5] = fmax(beside[5], (float)row[LOCAL_MAXIMA_COLUMNS]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        largest[i] = fmax(largest[i], fmax(beside[i], beside[i + 2]));
    }
}

/* Marks of four pixels with all neighbours, a byte each: 2 also where none of these is a number, which is found out
 * later. */
LANES_INLINE uint local_maxima_marks_of(global const LOCAL_MAXIMA_PIXEL *pixel, int h, int pitch)
{
    float own[4], largest[4];
    uint marks = 0;
    local_maxima_largest(pixel, h, pitch, own, largest);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        marks |= (uint)(own[i] >= largest[i] ? own[i] == largest[i] ? 2 : 1 : 0) << 8 * i;
    }
    return marks;
}

/* Marks candidates, with 2 where a neighbour is as high. */
LANES_KERNEL void local_maxima_mark(LOCAL_MAXIMA_SHAPE, global const LOCAL_MAXIMA_PIXEL *image,
                                    global uchar *marks)
{
    const LanesSpot at = local_maxima_place(w, lanes);
    if (at.x < w && at.row < rows) {
        const LocalMaximaSpot spot = local_maxima_spot(at, w, h, d);
        global const LOCAL_MAXIMA_PIXEL *const pixel =
            image + local_maxima_pixel(at, spot, image_h, image_pitch, image_first);
        global uchar *const mark = marks + (size_t)at.row * (size_t)pitch + (size_t)at.x;
        if (local_maxima_in_vectors(at, spot, w, pitch | image_pitch)) {
            *(global uint *)mark = local_maxima_marks_of(pixel, image_h, image_pitch);
        } else {
#pragma unroll 1
            for (int i = 0; i < min(LOCAL_MAXIMA_COLUMNS, w - at.x); i++) {
                const LanesSpot own = {at.x + i, at.row};
                mark[i] = local_maxima_mark_of(pixel + i, local_maxima_spot(own, w, h, d).inside, image_h, image_pitch);
            }
        }
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

/* Which of four pixels have candidates alone as neighbours, all of which are there: 1 in each such byte. */
LANES_INLINE uint local_maxima_among_candidates(global const uchar *mark, int h, int pitch)
{
    uint all = LOCAL_MAXIMA_ONES;
#pragma unroll
    for (int k = LOCAL_MAXIMA_FIRST + 1; k < LOCAL_MAXIMA_END; k += 3) {
        global const uchar *const row = mark + local_maxima_step(k, h, pitch);
        if (LOCAL_MAXIMA_COUNTS(k)) {
            const uint here = *(global const uint *)row, is = here | here >> 1;
            all &= k == 13 ? LOCAL_MAXIMA_ONES : is;
            if (LOCAL_MAXIMA_COUNTS(k + 1)) {
                const uint left = row[-1] != 0, right = row[LOCAL_MAXIMA_COLUMNS] != 0;
                all &= (is << 8 | left) & ((is & LOCAL_MAXIMA_ONES) >> 8 | right << 24);
            }
        }
    }
    return all;
}

/* Whether "no maximum" spreads from a candidate with a neighbour as high; then the tiles of the candidates beside it are
 * flagged. */
LANES_INLINE bool local_maxima_spoils(LanesSpot at, LocalMaximaSpot spot, int h, int pitch, int image_h, int image_pitch,
                                      global const LOCAL_MAXIMA_PIXEL *pixel, global const uchar *mark, uint across,
                                      uint down, uint deep, global uint *flags)
{
    const uint beside = local_maxima_candidates(mark, spot.inside, h, pitch);
    const uint others = local_maxima_neighbours(spot.inside) & ~beside;
    const bool spoiled = others != 0 && local_maxima_is_level(pixel, others, image_h, image_pitch);
#pragma unroll 1
    for (int k = LOCAL_MAXIMA_FIRST; k < LOCAL_MAXIMA_END && spoiled && beside != 0; k++) {
        if ((beside >> k & 1) != 0) {
            const uint tx = (uint)(at.x + LOCAL_MAXIMA_X(k)) / PROPAGATE_X;
            const uint ty = (uint)(spot.y + LOCAL_MAXIMA_Y(k)) / PROPAGATE_Y;
            const uint tz = (uint)(spot.z + LOCAL_MAXIMA_Z(k)) / PROPAGATE_Z;
            flags[((spot.channel * deep + tz) * down + ty) * across + tx] = 1;
        }
    }
    return spoiled;
}

/*
 * Finds the candidates from which "no maximum" spreads, among those with a neighbour as high, and flags the
 * tiles of the candidates beside them.  Channels that have anything but candidates are not all of one value: the first
 * pixel of a row says so where it can, else others.
 */
LANES_KERNEL void local_maxima_start(LOCAL_MAXIMA_SHAPE, global const LOCAL_MAXIMA_PIXEL *image,
                                     global const uchar *marks, global uchar *states,
                                     ulong uneven_at, ulong flags_at, uint across, uint down,
                                     uint deep, global uint *scratch)
{
    local LanesSpot asked[LANES_GROUP * LOCAL_MAXIMA_COLUMNS];
    local uint count;
    if (get_local_id(0) == 0) {
        count = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const LanesSpot at = local_maxima_place(w, lanes);
    if (at.x < w && at.row < rows) {
        const LocalMaximaSpot spot = local_maxima_spot(at, w, h, d);
        const size_t first = (size_t)at.row * (size_t)pitch;
        global const uchar *const mark = marks + first + (size_t)at.x;
        global uchar *const state = states + first + (size_t)at.x;
        uint level = 0; /* bytes, not 0 for candidates with a neighbour as high */
        bool uneven = false;
        if (local_maxima_in_vectors(at, spot, w, pitch | image_pitch)) {
            const uint own = *(global const uint *)mark, is = (own | own >> 1) & LOCAL_MAXIMA_ONES;
            level = own >> 1 & LOCAL_MAXIMA_ONES;
            if ((level & (level - 1)) != 0) { /* several are in a flat area, one is mostly alone */
                level &= ~local_maxima_among_candidates(mark, h, pitch);
            }
            uneven = is != LOCAL_MAXIMA_ONES;
            *(global uint *)state = is;
        } else {
#pragma unroll 1
            for (int i = 0; i < min(LOCAL_MAXIMA_COLUMNS, w - at.x); i++) {
                level |= (uint)(mark[i] > 1) << 8 * i;
                uneven = uneven || mark[i] == 0;
                state[i] = mark[i] != 0;
            }
        }
#pragma unroll 1
        for (; level != 0; level &= level - 1) {
            const LanesSpot own = {at.x + (31 - (int)clz(level & (0 - level))) / 8, at.row};
            asked[atomic_inc(&count)] = own;
        }
        const bool says = uneven && (at.x == 0 || (marks[first] != 0 && (mark[0] != 0 || mark[-1] != 0)));
        if (says && scratch[uneven_at + spot.channel] == 0) {
            scratch[uneven_at + spot.channel] = 1;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i < count; i += LANES_GROUP) {
        const LanesSpot own = asked[i];
        const LocalMaximaSpot spot = local_maxima_spot(own, w, h, d);
        const size_t pixel = (size_t)own.row * (size_t)pitch + (size_t)own.x;
        if (local_maxima_spoils(own, spot, h, pitch, image_h, image_pitch,
                                image + local_maxima_pixel(own, spot, image_h, image_pitch, image_first),
                                marks + pixel, across, down, deep, scratch + flags_at)) {
            states[pixel] = 2;
        }
    }
}

/* States become a mask, in place; an even channel has no maximum. */
LANES_KERNEL void local_maxima_end(LOCAL_MAXIMA_SHAPE, ulong uneven_at, global const uint *scratch,
                                   global uchar *states)
{
    const LanesSpot at = local_maxima_place(w, lanes);
    if (at.x < w && at.row < rows) {
        global uchar *const state = states + (size_t)at.row * (size_t)pitch + (size_t)at.x;
        const bool uneven = scratch[uneven_at + at.row / ((uint)h * (uint)d)] != 0;
        if (pitch % LOCAL_MAXIMA_COLUMNS == 0) {
            global uint *const all = (global uint *)state;
            *all = uneven ? *all & LOCAL_MAXIMA_ONES : 0;
        } else {
            for (int i = 0; i < min(LOCAL_MAXIMA_COLUMNS, w - at.x); i++) {
                state[i] = uneven && state[i] == 1;
            }
        }
    }
}
