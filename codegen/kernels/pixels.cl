/* How generated kernels reach pixels: row `y` of plane `plane` of an image on the kernel's grid,
 * and of an image on a grid of its own or with a pitch of its own.  Of each plane the memory holds `rows` rows; `row0` is the
 * row that comes first.  The product of row and pitch is of factors without a sign, which compilers hold to be
 * of another kind than the other one, which therefore stays outside of loops over rows. */
#define ROW(image, plane, y) ROW_OF(image, plane, y, pitch)
#define ROW_OF(image, plane, y, pitch)                                                             \
    (((long)(plane) * image##_rows - image##_row0) * (pitch) + ROW_START((uint)(y), (uint)(pitch)))
#define ROW_START(y, pitch) ((long)((ulong)(y) * (pitch)))
/* Of an image that is read round its ends, rows (planes) before the seam lie behind the last of n. */
#define BEHIND_SEAM(at, seam, n) ((at) + ((at) < (seam) ? (n) : 0))

/*
 * Ranks are found among keys, which are whole numbers: pixels of whole numbers are their own keys,
 * floats become numbers in the same order, with one zero, and NaN behind all others.
 */
static inline int px_rank_key(float v)
{
    const int bits = as_int(v + 0.0f);
    return v != v ? INT_MAX : bits ^ ((bits >> 31) & INT_MAX);
}
static inline float px_rank_value(int key)
{
    return key == INT_MAX ? px_nan() : as_float(key ^ ((key >> 31) & INT_MAX));
}
static inline long px_rank_wide_key(double v)
{
    const long bits = as_long(v + 0.0);
    return v != v ? LONG_MAX : bits ^ ((bits >> 63) & LONG_MAX);
}
static inline double px_rank_wide_value(long key)
{
    return key == LONG_MAX ? (double)px_nan() : as_double(key ^ ((key >> 63) & LONG_MAX));
}
#define PX_PASTE_(a, b) a##b
#define PX_PASTE(a, b) PX_PASTE_(a, b)
#define PX_KEY(T, v) PX_PASTE(PX_KEY_, T)(v)
#define PX_KEY_uchar(v) (int)(v)
#define PX_KEY_ushort(v) (int)(v)
#define PX_KEY_short(v) (int)(v)
#define PX_KEY_uint(v) px_rank_key(v)
#define PX_KEY_int(v) px_rank_key(v)
#define PX_KEY_float(v) px_rank_key(v)
#define PX_KEY_double(v) px_rank_key((float)(v))
#define PX_KEY_wide(v) px_rank_wide_key(v)
#define PX_VALUE(T, key) PX_PASTE(PX_VALUE_, T)(key)
#define PX_VALUE_uchar(key) (float)(key)
#define PX_VALUE_ushort(key) (float)(key)
#define PX_VALUE_short(key) (float)(key)
#define PX_VALUE_uint(key) px_rank_value(key)
#define PX_VALUE_int(key) px_rank_value(key)
#define PX_VALUE_float(key) px_rank_value(key)
#define PX_VALUE_double(key) px_rank_value(key)
#define PX_VALUE_wide(key) px_rank_wide_value(key)

#define PX_ORDER(TYPE, a, b)                                                                       \
    {                                                                                              \
        const TYPE px_lo = min(a, b);                                                              \
        b = max(a, b);                                                                             \
        a = px_lo;                                                                                 \
    }
/* Brings number `nth` of a small array into its place: in registers, every index known when
 * compiled. */
#define PX_RANK(TYPE, v, n, nth)                                                                   \
    if ((n) >= 3 && 2 * (nth) + 1 == (n)) {                                                        \
        PX_MEDIAN(TYPE, v, n)                                                                      \
    } else {                                                                                       \
        PX_SORT(TYPE, v, n)                                                                        \
    }
/* Odd-even transposition.  All loops have as many rounds each time, or compilers do not unroll them. */
#define PX_SORT(TYPE, v, n)                                                                        \
    _Pragma("unroll") for (int px_a = 0; px_a < (n); px_a++) {                                     \
        _Pragma("unroll") for (int px_b = 0; px_b < (n) / 2; px_b++) {                             \
            const int px_i = 2 * px_b + (px_a & 1);                                                \
            if (px_i + 1 < (n)) {                                                                  \
                PX_ORDER(TYPE, v[px_i], v[px_i + 1])                                               \
            }                                                                                      \
        }                                                                                          \
    }
/* Brings the one that most are equal to to the front; `keys`: the largest number is the key of NaN. */
#define PX_MODE(TYPE, v, n, keys)                                                                  \
    PX_SORT(TYPE, v, n)                                                                            \
    {                                                                                              \
        const TYPE px_nan_key = sizeof(TYPE) == sizeof(long) ? (TYPE)LONG_MAX : (TYPE)INT_MAX;     \
        TYPE px_mode = v[0];                                                                       \
        int px_most = 0, px_run = 0;                                                               \
        _Pragma("unroll") for (int px_a = 1; px_a < (n); px_a++) {                                 \
            px_run = v[px_a] == v[px_a - 1] ? px_run + 1 : 0;                                      \
            if (px_run > px_most && !((keys) && v[px_a] == px_nan_key)) {                          \
                px_most = px_run;                                                                  \
                px_mode = v[px_a];                                                                 \
            }                                                                                      \
        }                                                                                          \
        v[0] = px_mode;                                                                            \
    }
/* Of more than half of the values neither the least nor the greatest is the median: both are
 * dropped and the next value is taken in, until none is left ("forgetful selection"). */
#define PX_MEDIAN(TYPE, v, n)                                                                      \
    _Pragma("unroll") for (int px_a = 0; px_a <= (n) - ((n) + 3) / 2; px_a++) {                    \
        const int px_z = ((n) + 3) / 2 - 1, px_n = px_z + 1 - px_a;                                \
        _Pragma("unroll") for (int px_b = 0; px_b < ((n) + 3) / 4; px_b++) {                       \
            if (px_b < px_n / 2) {                                                                 \
                PX_ORDER(TYPE, v[px_a + px_b], v[px_z - px_b])                                     \
            }                                                                                      \
        }                                                                                          \
        _Pragma("unroll") for (int px_b = 1; px_b < ((n) + 5) / 4; px_b++) {                       \
            if (px_b < (px_n + 1) / 2) {                                                           \
                PX_ORDER(TYPE, v[px_a], v[px_a + px_b])                                            \
                PX_ORDER(TYPE, v[px_z - px_b], v[px_z])                                            \
            }                                                                                      \
        }                                                                                          \
        if (px_z + 1 + px_a < (n)) {                                                               \
            v[px_z] = v[px_z + 1 + px_a];                                                          \
        }                                                                                          \
    }
