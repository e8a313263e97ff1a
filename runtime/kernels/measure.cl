/*
 * measure: counts, coordinate sums, bounding boxes and exact intensity sums of every object.
 *
 * Pixels of an image become integers: a pixel is m * 2^e with a 24-bit m, and measure_range finds
 * how far the e of labelled pixels spread.  With LSB 2^base
 *
 *   CLASS 0   all pixels are integers of 16 bits                      one long
 *   CLASS 1   48 bits                                                 one long
 *   CLASS 2   any; what lies below 96 bits is cut off                 three 32-bit digits
 *
 * and squares of classes 1 and 2 are four 32-bit digits of LSB 2^base2.  A run's sums are split
 * into 32-bit digits (the last one signed and as long as it gets) before they are added to
 * others, so that no sum can overflow.
 *
 * The host defines SPACE (1 in 3-D), SUMS and LOWS (how many there are), SLOT_BITS, FOR_IMAGES(DO)
 * and for each image k: CLASS_k, and where its sums begin and how many digits they have (0: not
 * wanted): SUM_k, SUM_DIGITS_k, SQUARE_k, SQUARE_DIGITS_k, BY_X_k, BY_Y_k, BY_Z_k, BY_DIGITS_k;
 * RANGE_k (index of its minima, -1: not wanted).
 */
enum { AT_COUNT, AT_X, AT_Y, AT_Z };

typedef struct Tally {
    long sum[3], by_y[3], square[4];
    uint low, high;
} Tally;

typedef struct Window {
    int base, base2;
} Window;

INLINE void add_digits(long *digit, const int digits, ulong value, int at, long sign)
{
    const int cut = min(max(-at, 0), 63), place = max(at, 0);
    const int word = place >> 5, bit = place & 31;
    const ulong v = value >> cut;
    const ulong low = (v & 0xffffffff) << bit, high = (v >> 32) << bit;
    const long d0 = sign * (long)(low & 0xffffffff);
    const long d1 = sign * (long)((low >> 32) + (high & 0xffffffff));
    const long d2 = sign * (long)(high >> 32);
    for (int i = 0; i < digits; i++) {
        digit[i] += word == i ? d0 : word == i - 1 ? d1 : word == i - 2 ? d2 : 0;
    }
}

INLINE void tally_start(Tally *t)
{
    for (int i = 0; i < 3; i++) {
        t->sum[i] = t->by_y[i] = t->square[i] = 0;
    }
    t->square[3] = 0;
    t->low = t->high = 0xffffffff;
}

INLINE void tally_pixel(Tally *t, float v, int dy, Window window, const int class,
                        const bool square, const bool by, const bool range)
{
    const uint bits = as_uint(v), m = isfinite(v) ? mantissa(bits) : 0;
    const int shift = exponent(bits) - 150 - window.base;
    const long sign = bits >> 31 ? -1 : 1;
    if (class == 2) {
        long digit[3] = {0, 0, 0};
        add_digits(digit, 3, m, shift, sign);
        for (int i = 0; i < 3; i++) {
            t->sum[i] += digit[i];
            t->by_y[i] += by ? digit[i] * dy : 0;
        }
    } else {
        const long q = sign * (long)(shift < 0 ? (ulong)m >> min(-shift, 63) : (ulong)m << (shift & 63));
        t->sum[0] += q;
        t->by_y[0] += by ? q * dy : 0;
        t->square[0] += square && class == 0 ? q * q : 0;
    }
    if (square && class != 0) {
        add_digits(t->square, 4, (ulong)m * m, 2 * (exponent(bits) - 150) - window.base2, 1);
    }
    if (range) {
        const uint key = order_key(v);
        t->low = min(t->low, key);
        t->high = min(t->high, ~key);
    }
}

/* The number made of `parts` pieces times factor, as `digits` digits. */
INLINE void put(long *out, const int digits, const long *piece, const int pieces, long factor)
{
    long carry = 0;
    for (int i = 0; i < digits; i++) {
        const long v = carry + (i < pieces ? piece[i] * factor : 0);
        out[i] = i < digits - 1 ? v & 0xffffffff : v;
        carry = v >> 32;
    }
}

/* A class 1 sum times a coordinate may need more than 64 bits: two pieces. */
INLINE void put_sum(long *out, const int digits, const long *sum, const int class, long factor)
{
    if (class == 1) {
        const long piece[2] = {sum[0] & 0xffffffff, sum[0] >> 32};
        put(out, digits, piece, 2, factor);
    } else {
        put(out, digits, sum, class == 0 ? 1 : 3, factor);
    }
}

INLINE void put_by_y(long *out, const int digits, const Tally *t, const int class, int y0)
{
    if (class == 1) {
        const long piece[2] = {(t->by_y[0] & 0xffffffff) + (t->sum[0] & 0xffffffff) * y0,
                               (t->by_y[0] >> 32) + (t->sum[0] >> 32) * y0};
        put(out, digits, piece, 2, 1);
    } else {
        long piece[3];
        for (int i = 0; i < 3; i++) {
            piece[i] = t->by_y[i] + t->sum[i] * y0;
        }
        put(out, digits, piece, class == 0 ? 1 : 3, 1);
    }
}

#define START_IMAGE(k) tally_start(&tally_##k);
#define DECLARE_IMAGE(k)                                                                           \
    Tally tally_##k;                                                                               \
    float value_##k[BATCH];                                                                        \
    const Window window_##k = {window[2 * (k) - 2], window[2 * (k) - 1]};
#define READ_IMAGE(k) value_##k[j] = object[j] != 0 ? (float)read_##k(READ_ARGS, x, y + j, plane) : 0;
#define ADD_IMAGE(k)                                                                               \
    tally_pixel(&tally_##k, value_##k[j], y + j - y0, window_##k, CLASS_##k,                       \
                SQUARE_DIGITS_##k > 0, BY_DIGITS_##k > 0, RANGE_##k >= 0);
#define PUT_IMAGE(k)                                                                               \
    put_sum(sum + SUM_##k, SUM_DIGITS_##k, tally_##k.sum, CLASS_##k, 1);                           \
    put(sum + SQUARE_##k, SQUARE_DIGITS_##k, tally_##k.square, CLASS_##k == 0 ? 1 : 4, 1);         \
    put_sum(sum + BY_X_##k, BY_DIGITS_##k, tally_##k.sum, CLASS_##k, x);                           \
    put_by_y(sum + BY_Y_##k, BY_DIGITS_##k, &tally_##k, CLASS_##k, y0);                            \
    put_sum(sum + BY_Z_##k, SPACE ? BY_DIGITS_##k : 0, tally_##k.sum, CLASS_##k, z);               \
    if (RANGE_##k >= 0) {                                                                          \
        low[RANGE_##k] = tally_##k.low;                                                            \
        low[RANGE_##k + 1] = tally_##k.high;                                                       \
    }

#define FLUSH()                                                                                    \
    if (current != 0) {                                                                            \
        long sum[SUMS];                                                                            \
        uint low[LOWS];                                                                            \
        const long n_ = last - begin + 1;                                                          \
        sum[AT_COUNT] = n_;                                                                           \
        sum[AT_X] = n_ * x;                                                                       \
        sum[AT_Y] = n_ * (begin + last) / 2;                                                      \
        low[0] = (uint)x;                                                                          \
        low[1] = (uint)begin;                                                                      \
        low[2 + SPACE] = ~(uint)x;                                                                 \
        low[3 + SPACE] = ~(uint)last;                                                              \
        if (SPACE) {                                                                               \
            sum[AT_Z * SPACE] = n_ * z;                                                           \
            low[2 * SPACE] = (uint)z;                                                              \
            low[5 * SPACE] = ~(uint)z;                                                             \
        }                                                                                          \
        FOR_IMAGES(PUT_IMAGE)                                                                      \
        tally_run(table, SLOT_BITS, SUMS, LOWS, totals, current, sum, low);                        \
    }

/* Groups: columns of 256, strips of `rows` rows, planes. */
GROUP_KERNEL void measure_sums(READ_PARAMS, const int w, const int h, const int d, const int rows,
                               const uint first, const uint n, global const int *window,
                               global ulong *sums, global uint *lows)
{
    local uint table[TALLY_WORDS(SLOT_BITS, SUMS, LOWS)];
    const Totals totals = {sums, lows, n};
    const int x = (int)get_global_id(0), plane = (int)get_group_id(2), z = plane % d;
    const int y0 = (int)get_group_id(1) * rows, y1 = x < w ? min(y0 + rows, h) : y0;
    tally_clear(table, SLOT_BITS, SUMS, LOWS);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint current = 0;
    int begin = 0, last = 0;
    FOR_IMAGES(DECLARE_IMAGE)
    FOR_IMAGES(START_IMAGE)
    for (int y = y0; y < y1; y += BATCH) {
        uint object[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            object[j] = y + j < y1 ? tally_object(read_0(READ_ARGS, x, y + j, plane), first, n) : 0;
        }
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            FOR_IMAGES(READ_IMAGE)
        }
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            if (object[j] != current) {
                FLUSH()
                current = object[j];
                begin = y + j;
                FOR_IMAGES(START_IMAGE)
            }
            if (current != 0) {
                last = y + j;
                FOR_IMAGES(ADD_IMAGE)
            }
        }
    }
    FLUSH()
    barrier(CLK_LOCAL_MEM_FENCE);
    tally_write(table, SLOT_BITS, SUMS, LOWS, totals);
}
