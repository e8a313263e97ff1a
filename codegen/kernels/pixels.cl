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

/* What is converted to a whole number: compilers that know it to be NaN may make anything of the conversion, where
 * NVIDIA's make 0. */
#ifdef __NV_CL_C_VERSION
#define px_number(v) (v)
#else
static inline float px_number(float v)
{
    return v == v ? v : 0.0f;
}
#endif

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
#define PX_PASTED(a, b) a##b
#define PX_PASTE(a, b) PX_PASTED(a, b)
/* The smaller and the larger one of two pixels of a type.  Whole numbers have neither NaN nor two zeros, so that one
 * instruction does what px_min needs three for. */
#ifdef __NV_CL_C_VERSION
#define px_lower(a, b) fmin(a, b)
#define px_higher(a, b) fmax(a, b)
#else
static inline float px_lower(float a, float b)
{
    return a < b ? a : b;
}
static inline float px_higher(float a, float b)
{
    return a > b ? a : b;
}
#endif
#define PX_LOWER(T) PX_PASTE(PX_LOWER_, T)
#define PX_LOWER_uchar px_lower
#define PX_LOWER_ushort px_lower
#define PX_LOWER_short px_lower
#define PX_LOWER_uint px_lower
#define PX_LOWER_int px_lower
#define PX_LOWER_float px_min
#define PX_LOWER_double px_min
#define PX_HIGHER(T) PX_PASTE(PX_HIGHER_, T)
#define PX_HIGHER_uchar px_higher
#define PX_HIGHER_ushort px_higher
#define PX_HIGHER_short px_higher
#define PX_HIGHER_uint px_higher
#define PX_HIGHER_int px_higher
#define PX_HIGHER_float px_max
#define PX_HIGHER_double px_max
/* Quotients by numbers that px_div_by does not divide by.  CPUs divide as fast. */
#if defined(PX) && PX == 4
#define PX_DIV_BY_FAR(x, c, y) px_div_by_far(x, c, y)
#define PX_DIV_BY_EVEN(x, c, y, q, part) px_div_by_even(x, c, y, q, part)
#else
#define PX_DIV_BY_FAR(x, c, y) ((x) / (c))
#define PX_DIV_BY_EVEN(x, c, y, q, part) ((x) / (c))
#endif
#if defined(PX) && PX == 4 && defined(__NV_CL_C_VERSION)
#define PX_DIV_WIDE_BY(x, c, y) px_div_wide_by(x, c, y)
#else
#define PX_DIV_WIDE_BY(x, c, y) ((x) / (c))
#endif
/* Tables of what follows from a byte, or from the difference of two, a whole number that f32 holds (codegen/byte_tables.c):
 * 1.5 * 2 ** 23 more has it in its lowest bits. */
#define PX_IS_BYTE(T) PX_PASTE(PX_IS_BYTE_, T)
#define PX_IS_BYTE_uchar 1
#define PX_IS_BYTE_ushort 0
#define PX_IS_BYTE_short 0
#define PX_IS_BYTE_uint 0
#define PX_IS_BYTE_int 0
#define PX_IS_BYTE_float 0
#define BYTE_LARGEST 255
#define BYTE_PLACES (2 * BYTE_LARGEST + 1)
#define BYTE_PLACE(key) (as_int((key) + 0x1.8p23f) - (0x4b400000 - BYTE_LARGEST))
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
/* A number that a pixel finds, a double, fractions cut. */
#define PX_NTH(nth, n) (int)fmin(fmax((double)(nth), 0.0), (double)((n) - 1))
/* Brings that one of them to the front. */
#define PX_PICK(TYPE, v, n, nth)                                                                   \
    {                                                                                              \
        const int px_nth = PX_NTH(nth, n);                                                         \
        PX_SORT(TYPE, v, n)                                                                        \
        _Pragma("unroll") for (int px_a = 1; px_a < (n); px_a++) {                                 \
            v[0] = px_a == px_nth ? v[px_a] : v[0];                                                \
        }                                                                                          \
    }
#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)
/* Batcher's odd-even merges (1968): blocks twice as long in each level, in steps that compare what is half as far from
 * each other; of up to 2^20 values.  All loops have as many rounds each time, or compilers do not unroll them. */
#define PX_LEVELS(n)                                                                               \
    (((n) > 1 << 0) + ((n) > 1 << 1) + ((n) > 1 << 2) + ((n) > 1 << 3) + ((n) > 1 << 4) +          \
     ((n) > 1 << 5) + ((n) > 1 << 6) + ((n) > 1 << 7) + ((n) > 1 << 8) + ((n) > 1 << 9) +          \
     ((n) > 1 << 10) + ((n) > 1 << 11) + ((n) > 1 << 12) + ((n) > 1 << 13) +                       \
     ((n) > 1 << 14) + ((n) > 1 << 15) + ((n) > 1 << 16) + ((n) > 1 << 17) +                       \
     ((n) > 1 << 18) + ((n) > 1 << 19))
#define PX_STEPS(n) (PX_LEVELS(n) * (PX_LEVELS(n) + 1) / 2)
#define PX_LEVEL_OF(s)                                                                             \
    (((s) >= 1) + ((s) >= 3) + ((s) >= 6) + ((s) >= 10) + ((s) >= 15) + ((s) >= 21) +              \
     ((s) >= 28) + ((s) >= 36) + ((s) >= 45) + ((s) >= 55) + ((s) >= 66) + ((s) >= 78) +           \
     ((s) >= 91) + ((s) >= 105) + ((s) >= 120) + ((s) >= 136) + ((s) >= 153) +                     \
     ((s) >= 171) + ((s) >= 190) + ((s) >= 210))
#define PX_SORT(TYPE, v, n)                                                                        \
    _Pragma("unroll") for (int px_s = 0; px_s < PX_STEPS(n); px_s++) {                             \
        const int px_l = PX_LEVEL_OF(px_s), px_e = px_l - (px_s - px_l * (px_l + 1) / 2);          \
        const int px_far = 1 << px_e, px_first = px_e < px_l ? px_far : 0;                         \
        _Pragma("unroll") for (int px_m = 0; px_m < (n) / 2; px_m++) {                             \
            const int px_i = px_first + ((px_m >> px_e) << (px_e + 1)) + (px_m & (px_far - 1));    \
            const int px_j = px_i + px_far;                                                        \
            if (px_j < (n) && px_i >> (px_l + 1) == px_j >> (px_l + 1)) {                          \
                PX_ORDER(TYPE, v[px_i], v[px_j])                                                   \
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
            const bool px_more = (px_run > px_most) & !((keys) & (v[px_a] == px_nan_key));         \
            px_most = px_more ? px_run : px_most;                                                  \
            px_mode = px_more ? v[px_a] : px_mode;                                                 \
        }                                                                                          \
        v[0] = px_mode;                                                                            \
    }
/*
 * Of more values than this neither registers nor the text of a sort have room.  They are read once a round instead:
 *
 *     PX_EACH_DIGIT   a round for each two bits of the key of a rank, from the highest ones on
 *     PX_COUNT_BELOW  counts a key where it is less than what is found with 1, 2, 3 as its next two bits
 *     PX_TAKE_DIGIT   takes the largest bits with which no more than `nth` keys were less
 *     PX_EACH_KEY     a round for each key, from the least on
 *     PX_COUNT_KEY    counts a key if it is that one, and finds the next one
 *     PX_TAKE_KEY     keeps the key that there are most of, and of several the least; with `keys` not that of NaN
 *     PX_COUNTED      the key that was found
 *
 * Their order is that of numbers without a sign.  Pixels of few bits have keys of few bits.
 */
#if defined(PX) && PX == 4
#define LONGEST_SORTED 64
#else
#define LONGEST_SORTED 4096
#endif
#define PX_ORDERED(TYPE) PX_PASTE(PX_ORDERED_, TYPE)
#define PX_ORDERED_int uint
#define PX_ORDERED_uint uint
#define PX_ORDERED_long ulong
#define PX_SIGN(TYPE) PX_PASTE(PX_SIGN_, TYPE)
#define PX_SIGN_int 0x80000000u
#define PX_SIGN_uint 0u
#define PX_SIGN_long 0x8000000000000000ul
#define PX_BITS(T) PX_PASTE(PX_BITS_, T)
#define PX_BITS_uchar 8
#define PX_BITS_ushort 16
#define PX_BITS_short 32
#define PX_BITS_uint 32
#define PX_BITS_int 32
#define PX_BITS_float 32
#define PX_BITS_double 32
#define PX_BITS_wide 64
#define PX_EACH_DIGIT(TYPE, v, T)                                                                  \
    PX_ORDERED(TYPE) v##_found = PX_BITS(T) < 32 ? PX_SIGN(TYPE) : 0;                              \
    int v##_1 = 0, v##_2 = 0, v##_3 = 0;                                                           \
    for (PX_ORDERED(TYPE) v##_step = (PX_ORDERED(TYPE))1 << (PX_BITS(T) - 2); v##_step > 0; v##_step >>= 2)
#define PX_COUNT_BELOW(TYPE, v, key)                                                               \
    {                                                                                              \
        const PX_ORDERED(TYPE) px_key = (PX_ORDERED(TYPE))(key) ^ PX_SIGN(TYPE);                   \
        v##_1 += px_key < v##_found + v##_step;                                                    \
        v##_2 += px_key < v##_found + 2 * v##_step;                                                \
        v##_3 += px_key < v##_found + 3 * v##_step;                                                \
    }
#define PX_TAKE_DIGIT(v, nth)                                                                      \
    {                                                                                              \
        const int px_nth = nth;                                                                    \
        v##_found += v##_step * ((v##_1 <= px_nth) + (v##_2 <= px_nth) + (v##_3 <= px_nth));       \
        v##_1 = v##_2 = v##_3 = 0;                                                                 \
    }
#define PX_EACH_KEY(TYPE, v, T)                                                                    \
    const PX_ORDERED(TYPE) v##_last = ~(PX_ORDERED(TYPE))0;                                        \
    PX_ORDERED(TYPE) v##_at = 0, v##_next = v##_last, v##_found = v##_last;                        \
    int v##_most = 0, v##_n = 0;                                                                   \
    for (bool v##_more = true; v##_more;)
#define PX_COUNT_KEY(TYPE, v, key)                                                                 \
    {                                                                                              \
        const PX_ORDERED(TYPE) px_key = (PX_ORDERED(TYPE))(key) ^ PX_SIGN(TYPE);                   \
        v##_n += px_key == v##_at;                                                                 \
        v##_next = px_key > v##_at ? min(v##_next, px_key) : v##_next;                             \
    }
#define PX_TAKE_KEY(v, keys)                                                                       \
    {                                                                                              \
        const bool px_takes = v##_n > v##_most && !((keys) && v##_at == v##_last);                 \
        v##_found = px_takes ? v##_at : v##_found;                                                 \
        v##_most = px_takes ? v##_n : v##_most;                                                    \
        v##_more = v##_at != v##_last;                                                             \
        v##_at = v##_next;                                                                         \
        v##_next = v##_last;                                                                       \
        v##_n = 0;                                                                                 \
    }
#define PX_COUNTED(TYPE, v) (TYPE)(v##_found ^ PX_SIGN(TYPE))
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
