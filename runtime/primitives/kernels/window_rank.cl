/*
 * window_rank: one of the sorted pixels under a footprint, found digit by digit.
 *
 * Pixels become keys, whole numbers in their order: NaN is the largest, zeros are one.  The key at a
 * rank is the largest one that no more than `rank` keys are below.  Smallest and largest key say which
 * leading bits all have in common; the bits behind are decided two at a time, each time by counting
 * over the window how many keys are below the three numbers that the next two bits could begin.
 *
 * The host defines WINDOW_PIXEL and WINDOW_RESULT (types), of what the keys are: WINDOW_REAL, or a
 * WINDOW_WHOLE with WINDOW_LEAST (the smallest value of a signed type, negated); and WINDOW_BORDER (as
 * IrBorder).
 */
#if WINDOW_BORDER == 1
#define WINDOW_MAP px_reflect
#elif WINDOW_BORDER == 2
#define WINDOW_MAP px_mirror
#elif WINDOW_BORDER == 3
#define WINDOW_MAP px_wrap
#else
#define WINDOW_MAP px_nearest
#endif
#define WINDOW_CONSTANT (WINDOW_BORDER == 4)
#define WINDOW_NAN UINT_MAX

LANES_INLINE uint window_key(WINDOW_PIXEL pixel)
{
#if WINDOW_REAL
    const float v = (float)pixel + 0.0f;
    const uint bits = as_uint(v);
    return isnan(v) ? WINDOW_NAN : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
#else
    return (uint)(WINDOW_WHOLE)pixel + WINDOW_LEAST;
#endif
}

LANES_INLINE WINDOW_RESULT window_value(uint key)
{
#if WINDOW_REAL
    return key == WINDOW_NAN ? NAN : as_float((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
#elif WINDOW_LEAST
    return (WINDOW_RESULT)(int)(key - WINDOW_LEAST); /* as a float, too */
#else
    return (WINDOW_RESULT)key;
#endif
}

typedef struct WindowPlace {
    int w, h, d, pitch, x, y, z; /* of the image, also where only a part of it is there */
    int tall;     /* rows from plane to plane that are there */
    uint outside; /* the key of a constant border */
} WindowPlace;

/* The row of the image that a run lies in, or NULL when it is all constant border. */
LANES_INLINE global const WINDOW_PIXEL *window_row(global const WINDOW_PIXEL *volume,
                                                   const WindowPlace *at, int4 run)
{
    const int y = at->y + run.z, z = at->z + run.w;
    const bool inside = (uint)y < (uint)at->h && (uint)z < (uint)at->d;
    const size_t row = (size_t)WINDOW_MAP(z, at->d) * (size_t)at->tall + (size_t)WINDOW_MAP(y, at->h);
    return WINDOW_CONSTANT && !inside ? (global const WINDOW_PIXEL *)0
                                      : volume + row * (size_t)at->pitch;
}

LANES_INLINE uint window_key_at(global const WINDOW_PIXEL *row, const WindowPlace *at, int x)
{
    if (WINDOW_CONSTANT && (row == 0 || (uint)x >= (uint)at->w)) {
        return at->outside;
    }
    return window_key(row[WINDOW_MAP(x, at->w)]);
}

LANES_INLINE uint window_find(global const WINDOW_PIXEL *volume, const WindowPlace *at,
                              global const int4 *runs, int n_runs, uint rank)
{
    uint least = UINT_MAX, most = 0;
    for (int r = 0; r < n_runs; r++) {
        global const WINDOW_PIXEL *const row = window_row(volume, at, runs[r]);
        for (int x = at->x + runs[r].x; x <= at->x + runs[r].y; x++) {
            const uint key = window_key_at(row, at, x);
            least = min(least, key);
            most = max(most, key);
        }
    }
    if (least >= most) {
        return n_runs > 0 ? least : window_key((WINDOW_PIXEL)0);
    }
    int shift = (31 - (int)clz(least ^ most)) & ~1;
    uint found = shift == 30 ? 0 : least >> (shift + 2) << (shift + 2);
    for (; shift >= 0; shift -= 2) {
        const uint step = (uint)1 << shift;
        const uint one = found + step, two = one + step, three = two + step;
        uint below_one = 0, below_two = 0, below_three = 0;
        for (int r = 0; r < n_runs; r++) {
            global const WINDOW_PIXEL *const row = window_row(volume, at, runs[r]);
            for (int x = at->x + runs[r].x; x <= at->x + runs[r].y; x++) {
                const uint key = window_key_at(row, at, x);
                below_one += key < one;
                below_two += key < two;
                below_three += key < three;
            }
        }
        found = rank >= below_three ? three : rank >= below_two ? two : rank >= below_one ? one : found;
    }
    return found;
}

/* runs: first and last x, y, z.  A part of h rows and d planes begins at (top, front) of its image, of
 * whose planes `tall` rows are there; `first` is the pixel of the memory where the image would begin. */
LANES_KERNEL void window_rank(int lanes, int w, int h, int d, uint rows, int in_pitch, int out_pitch,
                              int image_h, int image_d, int top, int front, int tall, long first,
                              global const WINDOW_PIXEL *image, global const int4 *runs, int n_runs,
                              uint rank, uint outside, global WINDOW_RESULT *out)
{
    const LanesSpot spot = lanes_spot(w, lanes);
    if (spot.x < w && spot.row < rows) {
        const LanesSplit plane = lanes_split(spot.row, (uint)h), z = lanes_split(plane.over, (uint)d);
        const WindowPlace at = {w,      image_h, image_d, in_pitch, spot.x, (int)plane.rest + top,
                                (int)z.rest + front, tall, outside};
        global const WINDOW_PIXEL *const volume =
            image + (first + (long)z.over * image_d * tall * in_pitch);
        out[(size_t)spot.row * (size_t)out_pitch + (size_t)spot.x] =
            window_value(window_find(volume, &at, runs, n_runs, rank));
    }
}
