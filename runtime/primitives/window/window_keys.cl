/*
 * window_keys: pixels under a window as keys, whole numbers in their order: NaN is the largest, zeros are
 * one.
 *
 * The host defines WINDOW_PIXEL and WINDOW_RESULT (types), of what the keys are: WINDOW_REAL (bytes of a
 * floating-point number), or 0 and a WINDOW_WHOLE with WINDOW_LEAST (the smallest value of a signed type, negated);
 * and WINDOW_BORDER (as Border).
 */
#if WINDOW_REAL == 8
typedef ulong WindowKey;
typedef double WindowReal;
#define WINDOW_BITS_OF(real) as_ulong(real)
#define WINDOW_REAL_OF(bits) as_double(bits)
#else
typedef uint WindowKey;
typedef float WindowReal;
#define WINDOW_BITS_OF(real) as_uint(real)
#define WINDOW_REAL_OF(bits) as_float(bits)
#endif
#define WINDOW_BITS (8 * (int)sizeof(WindowKey))
#define WINDOW_SIGN ((WindowKey)1 << (WINDOW_BITS - 1))
#define WINDOW_LARGEST (~(WindowKey)0)

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

LANES_INLINE bool window_is_nan(WindowKey key)
{
    return WINDOW_REAL && key == WINDOW_LARGEST;
}

LANES_INLINE WindowKey window_key(WINDOW_PIXEL pixel)
{
#if WINDOW_REAL
    const WindowReal v = (WindowReal)pixel + 0.0f;
    const WindowKey bits = WINDOW_BITS_OF(v);
    return isnan(v) ? WINDOW_LARGEST : (bits & WINDOW_SIGN) != 0 ? ~bits : bits | WINDOW_SIGN;
#else
    return (uint)(WINDOW_WHOLE)pixel + WINDOW_LEAST;
#endif
}

LANES_INLINE WINDOW_RESULT window_value(WindowKey key)
{
#if WINDOW_REAL
    return window_is_nan(key) ? NAN : WINDOW_REAL_OF((key & WINDOW_SIGN) != 0 ? key & ~WINDOW_SIGN : ~key);
#elif WINDOW_LEAST
    return (WINDOW_RESULT)(int)(key - WINDOW_LEAST); /* as a float, too */
#else
    return (WINDOW_RESULT)key;
#endif
}

typedef struct WindowPlace {
    int w, h, d, pitch, x, y, z; /* of the image, also where only a part of it is there */
    int tall;     /* rows from plane to plane that are there */
    WindowKey outside; /* the key of a constant border */
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

LANES_INLINE WindowKey window_key_at(global const WINDOW_PIXEL *row, const WindowPlace *at, int x)
{
    if (WINDOW_CONSTANT && (row == 0 || (uint)x >= (uint)at->w)) {
        return at->outside;
    }
    return window_key(row[WINDOW_MAP(x, at->w)]);
}
