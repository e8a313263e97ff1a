/*
 * measure: counts, coordinate sums, bounding boxes and exact intensity sums of every object.
 *
 * Pixels of an image become integers: a pixel is m * 2^e with a 24-bit m, and measure_range finds
 * how far the e of labelled pixels spread.  With LSB 2^base
 *
 *   CLASS 0   16 bits                                                 one int
 *   CLASS 1   48 bits                                                 one long
 *   CLASS 2   any; what lies below 96 bits is cut off                 three 32-bit digits
 *
 * and squares of classes 1 and 2 are four 32-bit digits of LSB 2^base2.  A run's sums are split
 * into 32-bit digits (the last one signed and as long as it gets) before they are added to
 * others, so that no sum can overflow.
 *
 * The host defines, all with MEASURE_ in front, SPACE (1 in 3-D), SUMS and LOWS (how many there
 * are), SLOT_BITS, FOR_IMAGES(DO) and for each image k: CLASS_k; where its sums begin and how many
 * digits they have (0: not wanted): SUM_k, SUM_DIGITS_k, SQUARE_k, SQUARE_DIGITS_k, BY_X_k, BY_Y_k,
 * BY_Z_k, BY_DIGITS_k; RANGE_k (index of its minima, -1: not wanted).
 *
 * In functions that take a reader's parameters, which have the pipeline's names, all names begin
 * with own_.
 */
enum { MEASURE_AT_COUNT, MEASURE_AT_X, MEASURE_AT_Y, MEASURE_AT_Z };

typedef struct MeasureTally {
    int small, small_by_y; /* CLASS 0: a run has at most 128 pixels */
    long sum[3], by_y[3], square[4];
    uint low, high;
} MeasureTally;

typedef struct MeasureWindow {
    int base, base2;
    float scale; /* 2^-base, for CLASS 0 */
} MeasureWindow;

MEASURE_INLINE void measure_add_digits(long *digit, const int digits, ulong value, int at,
                                       long sign)
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

MEASURE_INLINE void measure_tally_start(MeasureTally *t)
{
    for (int i = 0; i < 3; i++) {
        t->sum[i] = t->by_y[i] = t->square[i] = 0;
    }
    t->square[3] = 0;
    t->small = t->small_by_y = 0;
    t->low = t->high = 0xffffffff;
}

/* CLASS 0: v is less than 2^16 times 2^base. */
MEASURE_INLINE void measure_tally_small(MeasureTally *t, float v, int dy, MeasureWindow window,
                                        const bool square, const bool by)
{
    const int q = isfinite(v) ? (int)(v * window.scale) : 0;
    const uint size = abs(q);
    t->small += q;
    t->small_by_y += by ? q * dy : 0;
    t->square[0] += square ? size * size : 0;
}

MEASURE_INLINE void measure_tally_wide(MeasureTally *t, float v, int dy, MeasureWindow window,
                                       const int class, const bool square, const bool by)
{
    const uint bits = as_uint(v), m = isfinite(v) ? measure_mantissa(bits) : 0;
    const int shift = measure_exponent(bits) - 150 - window.base;
    const long sign = bits >> 31 ? -1 : 1;
    if (class == 2) {
        long digit[3] = {0, 0, 0};
        measure_add_digits(digit, 3, m, shift, sign);
        for (int i = 0; i < 3; i++) {
            t->sum[i] += digit[i];
            t->by_y[i] += by ? digit[i] * dy : 0;
        }
    } else {
        const long q =
            sign * (long)(shift < 0 ? (ulong)m >> min(-shift, 63) : (ulong)m << (shift & 63));
        t->sum[0] += q;
        t->by_y[0] += by ? q * dy : 0;
    }
    if (square) {
        const int place = 2 * (measure_exponent(bits) - 150) - window.base2;
        measure_add_digits(t->square, 4, (ulong)m * m, place, 1);
    }
}

MEASURE_INLINE void measure_tally_pixel(MeasureTally *t, float v, int dy, MeasureWindow window,
                                        const int class, const bool square, const bool by,
                                        const bool range)
{
    if (class == 0) {
        measure_tally_small(t, v, dy, window, square, by);
    } else {
        measure_tally_wide(t, v, dy, window, class, square, by);
    }
    if (range) {
        const uint key = measure_order_key(v);
        t->low = min(t->low, key);
        t->high = min(t->high, ~key);
    }
}

/* The number made of `parts` pieces times factor, as `digits` digits. */
MEASURE_INLINE void measure_put(long *out, const int digits, const long *piece, const int pieces,
                                long factor)
{
    long carry = 0;
    for (int i = 0; i < digits; i++) {
        const long v = carry + (i < pieces ? piece[i] * factor : 0);
        out[i] = i < digits - 1 ? v & 0xffffffff : v;
        carry = v >> 32;
    }
}

/* The run's sum times factor.  In class 1 that may need more than 64 bits: two pieces. */
MEASURE_INLINE void measure_put_sum(long *out, const int digits, const MeasureTally *t,
                                    const int class, long factor)
{
    if (class == 0) {
        const long piece = t->small;
        measure_put(out, digits, &piece, 1, factor);
    } else if (class == 1) {
        const long piece[2] = {t->sum[0] & 0xffffffff, t->sum[0] >> 32};
        measure_put(out, digits, piece, 2, factor);
    } else {
        measure_put(out, digits, t->sum, 3, factor);
    }
}

MEASURE_INLINE void measure_put_by_y(long *out, const int digits, const MeasureTally *t,
                                     const int class, int y0)
{
    if (class == 0) {
        const long piece = t->small_by_y + (long)t->small * y0;
        measure_put(out, digits, &piece, 1, 1);
    } else if (class == 1) {
        const long piece[2] = {(t->by_y[0] & 0xffffffff) + (t->sum[0] & 0xffffffff) * y0,
                               (t->by_y[0] >> 32) + (t->sum[0] >> 32) * y0};
        measure_put(out, digits, piece, 2, 1);
    } else {
        long piece[3];
        for (int i = 0; i < 3; i++) {
            piece[i] = t->by_y[i] + t->sum[i] * y0;
        }
        measure_put(out, digits, piece, 3, 1);
    }
}

MEASURE_INLINE MeasureWindow measure_window(global const int *windows, int image)
{
    const int base = windows[2 * image - 2], base2 = windows[2 * image - 1];
    const MeasureWindow window = {base, base2, as_float((127 - base) << 23)};
    return window;
}

#define MEASURE_START_IMAGE(k) measure_tally_start(&own_tally_##k);
#define MEASURE_DECLARE_IMAGE(k)                                                                   \
    MeasureTally own_tally_##k;                                                                    \
    float own_value_##k[MEASURE_BATCH];                                                            \
    const MeasureWindow own_window_##k = measure_window(own_window, k);
#define MEASURE_READ_IMAGE(k)                                                                      \
    own_value_##k[own_j] =                                                                         \
        own_object[own_j] != 0 ? (float)read_##k(READ_ARGS, own_x, own_y + own_j, own_plane) : 0;
#define MEASURE_ADD_IMAGE(k)                                                                       \
    measure_tally_pixel(&own_tally_##k, own_value_##k[own_j], own_y + own_j - own_y0,              \
                        own_window_##k, MEASURE_CLASS_##k, MEASURE_SQUARE_DIGITS_##k > 0,          \
                        MEASURE_BY_DIGITS_##k > 0, MEASURE_RANGE_##k >= 0);
#define MEASURE_PUT_IMAGE(k)                                                                       \
    measure_put_sum(own_sum + MEASURE_SUM_##k, MEASURE_SUM_DIGITS_##k, &own_tally_##k,             \
                    MEASURE_CLASS_##k, 1);                                                         \
    measure_put(own_sum + MEASURE_SQUARE_##k, MEASURE_SQUARE_DIGITS_##k, own_tally_##k.square,     \
                MEASURE_CLASS_##k == 0 ? 1 : 4, 1);                                                \
    measure_put_sum(own_sum + MEASURE_BY_X_##k, MEASURE_BY_DIGITS_##k, &own_tally_##k,             \
                    MEASURE_CLASS_##k, own_x);                                                     \
    measure_put_by_y(own_sum + MEASURE_BY_Y_##k, MEASURE_BY_DIGITS_##k, &own_tally_##k,            \
                     MEASURE_CLASS_##k, own_top + own_y0);                                         \
    measure_put_sum(own_sum + MEASURE_BY_Z_##k, MEASURE_SPACE ? MEASURE_BY_DIGITS_##k : 0,         \
                    &own_tally_##k, MEASURE_CLASS_##k, own_z);                                     \
    if (MEASURE_RANGE_##k >= 0) {                                                                  \
        own_low[MEASURE_RANGE_##k] = own_tally_##k.low;                                            \
        own_low[MEASURE_RANGE_##k + 1] = own_tally_##k.high;                                       \
    }

#define MEASURE_FLUSH()                                                                            \
    if (own_current != 0) {                                                                        \
        long own_sum[MEASURE_SUMS];                                                                \
        uint own_low[MEASURE_LOWS];                                                                \
        const long own_length = own_count;                                                         \
        own_sum[MEASURE_AT_COUNT] = own_length;                                                    \
        own_sum[MEASURE_AT_X] = own_length * own_x;                                                \
        own_sum[MEASURE_AT_Y] = own_down + own_length * (own_top + own_y0);                        \
        own_low[0] = (uint)own_x;                                                                  \
        own_low[1] = (uint)(own_top + own_begin);                                                  \
        own_low[2 + MEASURE_SPACE] = ~(uint)own_x;                                                 \
        own_low[3 + MEASURE_SPACE] = ~(uint)(own_top + own_last);                                  \
        if (MEASURE_SPACE) {                                                                       \
            own_sum[MEASURE_AT_Z * MEASURE_SPACE] = own_length * own_z;                            \
            own_low[2 * MEASURE_SPACE] = (uint)own_z;                                              \
            own_low[5 * MEASURE_SPACE] = ~(uint)own_z;                                             \
        }                                                                                          \
        MEASURE_FOR_IMAGES(MEASURE_PUT_IMAGE)                                                      \
        measure_tally_run(own_table, MEASURE_SLOT_BITS, MEASURE_SUMS, MEASURE_LOWS, own_totals,    \
                          own_current, own_sum, own_low);                                          \
    }

/* Groups: 256 columns, strips of `rows` rows, planes.  `top` and `front`: row and plane of the image
 * where its part begins. */
MEASURE_GROUP_KERNEL void measure_sums(READ_PARAMS, const int own_w, const int own_h,
                                       const int own_d, const int own_top, const int own_front,
                                       const int own_rows, const uint own_first, const uint own_n,
                                       global const int *own_window, global ulong *own_sums,
                                       global uint *own_lows)
{
    local uint own_table[MEASURE_TALLY_WORDS(MEASURE_SLOT_BITS, MEASURE_SUMS, MEASURE_LOWS)];
    const MeasureTotals own_totals = {own_sums, own_lows, own_n};
    const int own_x = (int)get_global_id(0), own_plane = (int)get_group_id(2),
              own_z = own_front + own_plane % own_d;
    const int own_y0 = (int)get_group_id(1) * own_rows,
              own_y1 = own_x < own_w ? min(own_y0 + own_rows, own_h) : own_y0;
    measure_tally_clear(own_table, MEASURE_SLOT_BITS, MEASURE_SUMS, MEASURE_LOWS);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint own_current = 0;
    int own_begin = 0, own_last = 0, own_count = 0, own_down = 0;
    MEASURE_FOR_IMAGES(MEASURE_DECLARE_IMAGE)
    MEASURE_FOR_IMAGES(MEASURE_START_IMAGE)
    for (int own_y = own_y0; own_y < own_y1; own_y += MEASURE_BATCH) {
        uint own_object[MEASURE_BATCH];
#pragma unroll
        for (int own_j = 0; own_j < MEASURE_BATCH; own_j++) {
            own_object[own_j] =
                own_y + own_j < own_y1
                    ? measure_tally_object(read_0(READ_ARGS, own_x, own_y + own_j, own_plane),
                                           own_first, own_n)
                    : 0;
        }
#pragma unroll
        for (int own_j = 0; own_j < MEASURE_BATCH; own_j++) {
            MEASURE_FOR_IMAGES(MEASURE_READ_IMAGE)
        }
#pragma unroll
        for (int own_j = 0; own_j < MEASURE_BATCH; own_j++) {
            if (own_object[own_j] != 0 && own_object[own_j] != own_current) {
                MEASURE_FLUSH()
                own_current = own_object[own_j];
                own_begin = own_y + own_j;
                own_count = own_down = 0;
                MEASURE_FOR_IMAGES(MEASURE_START_IMAGE)
            }
            if (own_object[own_j] != 0) {
                own_last = own_y + own_j;
                own_count++;
                own_down += own_last - own_y0;
                MEASURE_FOR_IMAGES(MEASURE_ADD_IMAGE)
            }
        }
    }
    MEASURE_FLUSH()
    barrier(CLK_LOCAL_MEM_FENCE);
    measure_tally_write(own_table, MEASURE_SLOT_BITS, MEASURE_SUMS, MEASURE_LOWS, own_totals);
}
