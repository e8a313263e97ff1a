/*
 * measure_outline: border pixels and 2 x 2 (x 2) neighbourhoods of every object, for perimeters and
 * Euler numbers.
 *
 * A neighbourhood that holds k pixels of an object must be counted once for it: the pixel with the
 * lowest bit in the neighbourhood's code counts it.  Neighbours belong to the object when they
 * have the same label, so touching objects do not disturb each other.
 *
 * The host defines, all with MEASURE_ in front, SPACE, OUTLINE (how many sums), OUTLINE_BITS and
 * where the sums begin (-1: not wanted): PERIMETER, CROFTON, EULER.
 */
typedef struct MeasureCounts {
    int perimeter[3], crofton[5], euler;
} MeasureCounts;

#define MEASURE_READ_LABEL(one_x, one_y, one_plane)                                                \
    ((one_x) >= 0 && (one_y) >= own_above && (one_x) < own_w && (one_y) < own_below                \
         ? read_0(READ_ARGS, one_x, one_y, one_plane)                                              \
         : 0u)

#if !MEASURE_SPACE
/* By 2 x 2 code: which of Crofton's weights, and the weight for Euler's number. */
constant char MEASURE_CROFTON_OF[16] = {-1, 0, 1, 2, -1, 0, -1, 1, 3, 4, 1, 1, 3, 4, -1, -1};
constant char MEASURE_EULER_OF[16] = {0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, -1, 0};

/* Neighbours of the same label are bits, 5 a row, with the pixel itself in the middle. */
enum { MEASURE_SELF = 12, MEASURE_NINE = 0x739c0, MEASURE_CROSS = 0x22880 };

MEASURE_INLINE void measure_count_code(MeasureCounts *c, uint code, uint own)
{
    const bool mine = (code & (own - 1)) == 0;
    const int which = MEASURE_CROFTON_OF[code];
    for (int i = 0; i < 5; i++) {
        c->crofton[i] += mine && which == i;
    }
    c->euler += mine ? MEASURE_EULER_OF[code] : 0;
}

/* The four 2 x 2 neighbourhoods; bits: 1 lower right, 4 to its left, 2 above it, 8 above left. */
MEASURE_INLINE void measure_count_codes(MeasureCounts *c, uint same)
{
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const uint part = same >> (MEASURE_SELF + i + 5 * j - 6);
            const uint code =
                (part >> 6 & 1) | (part >> 5 & 1) << 2 | (part >> 1 & 1) << 1 | (part & 1) << 3;
            measure_count_code(c, code, j == 0 ? (i == 0 ? 1 : 4) : (i == 0 ? 2 : 8));
        }
    }
}

/* The pixel is on the border (of the label, but with a 4-neighbour that is not); how the border
 * goes on around it decides its length. */
MEASURE_INLINE void measure_count_border(MeasureCounts *c, uint same)
{
    const uint inside = same >> 1 & same << 1 & same >> 5 & same << 5;
    const uint border = same & ~inside;
    const int straight = popcount(border & MEASURE_CROSS);
    const int oblique = popcount(border & (MEASURE_NINE & ~MEASURE_CROSS & ~(1 << MEASURE_SELF)));
    const int code = 1 + 2 * straight + 10 * oblique;
    c->perimeter[0] +=
        code == 5 || code == 7 || code == 15 || code == 17 || code == 25 || code == 27;
    c->perimeter[1] += code == 21 || code == 33;
    c->perimeter[2] += code == 13 || code == 23;
}

/* The labels of the rows around go along, as far as the border of a neighbour depends on them; one more row is read here. */
enum { MEASURE_REACH = MEASURE_PERIMETER >= 0 ? 2 : 1, MEASURE_AROUND = 2 * MEASURE_REACH + 1 };
#define MEASURE_NEAR                                                                               \
    uint own_near[MEASURE_AROUND][MEASURE_AROUND];                                                 \
    _Pragma("unroll") for (int own_k = 0; own_k < (MEASURE_AROUND - 1) * MEASURE_AROUND; own_k++) { \
        own_near[1 + own_k / MEASURE_AROUND][own_k % MEASURE_AROUND] =                             \
            MEASURE_READ_LABEL(own_x + own_k % MEASURE_AROUND - MEASURE_REACH,                     \
                               own_y0 + own_k / MEASURE_AROUND - MEASURE_REACH, own_plane);        \
    }
#define MEASURE_STEP                                                                               \
    _Pragma("unroll") for (int own_k = 0; own_k < MEASURE_AROUND; own_k++) {                       \
        _Pragma("unroll") for (int own_j = 1; own_j < MEASURE_AROUND; own_j++) {                   \
            own_near[own_j - 1][own_k] = own_near[own_j][own_k];                                   \
        }                                                                                          \
        own_near[MEASURE_AROUND - 1][own_k] = MEASURE_READ_LABEL(                                  \
            own_x + own_k - MEASURE_REACH, own_y + MEASURE_REACH, own_plane);                      \
    }                                                                                              \
    const uint own_label = own_near[MEASURE_REACH][MEASURE_REACH];
/* Bits of the neighbours with the same label, as far as `reach`. */
#define MEASURE_SAME(own_same, reach)                                                              \
    _Pragma("unroll") for (int own_j = -(reach); own_j <= (reach); own_j++) {                      \
        _Pragma("unroll") for (int own_k = -(reach); own_k <= (reach); own_k++) {                  \
            own_same |= (uint)(own_near[MEASURE_REACH + own_j][MEASURE_REACH + own_k] == own_label) \
                        << (MEASURE_SELF + own_k + own_j * 5);                                     \
        }                                                                                          \
    }
#define MEASURE_LOOK(own_c)                                                                        \
    {                                                                                              \
        uint own_same = 0;                                                                         \
        MEASURE_SAME(own_same, 1)                                                                  \
        if (own_same != MEASURE_NINE) {                                                            \
            measure_count_codes(own_c, own_same);                                                  \
        }                                                                                          \
        if (MEASURE_PERIMETER >= 0 && (own_same & MEASURE_CROSS) != MEASURE_CROSS) {               \
            MEASURE_SAME(own_same, MEASURE_REACH)                                                  \
            measure_count_border(own_c, own_same);                                                 \
        }                                                                                          \
    }
#else
/* Bits by offset -x + 2 -y + 4 -z; MEASURE_EULER_3D is the host's. */
constant uchar MEASURE_BIT[8] = {1, 4, 2, 8, 16, 64, 32, 128};

#define MEASURE_LOOK(own_c)                                                                        \
    {                                                                                              \
        uint own_same = 0; /* a bit for each of the 27 neighbours */                               \
        for (int own_k = 0; own_k < 27; own_k++) {                                                 \
            const int own_nz = own_plane % own_d + own_k / 9 - 1;                                  \
            const bool own_in = own_nz >= own_before && own_nz < own_behind;                       \
            own_same |=                                                                            \
                (own_in && MEASURE_READ_LABEL(own_x + own_k % 3 - 1, own_y + own_k / 3 % 3 - 1,    \
                                              own_plane + own_k / 9 - 1) == own_label)             \
                    ? 1u << own_k                                                                  \
                    : 0;                                                                           \
        }                                                                                          \
        for (int own_corner = 0; own_corner < 8 && own_same != 0x7ffffff; own_corner++) {          \
            uint own_code = 0;                                                                     \
            for (int own_k = 0; own_k < 8; own_k++) {                                              \
                const int own_at = 13 + (own_corner & 1) - (own_k & 1) +                           \
                                   3 * ((own_corner >> 1 & 1) - (own_k >> 1 & 1)) +                \
                                   9 * ((own_corner >> 2) - (own_k >> 2));                         \
                own_code |= own_same >> own_at & 1 ? MEASURE_BIT[own_k] : 0;                       \
            }                                                                                      \
            (own_c)->euler +=                                                                      \
                (own_code & (MEASURE_BIT[own_corner] - 1)) == 0 ? MEASURE_EULER_3D[own_code] : 0;  \
        }                                                                                          \
    }
#endif

#if MEASURE_SPACE
#define MEASURE_NEAR
#define MEASURE_STEP const uint own_label = read_0(READ_ARGS, own_x, own_y, own_plane);
#endif

#define MEASURE_FLUSH()                                                                            \
    if (own_current != 0) {                                                                        \
        long own_sum[MEASURE_OUTLINE];                                                             \
        for (int own_i = 0; own_i < 3 && MEASURE_PERIMETER >= 0; own_i++) {                        \
            own_sum[MEASURE_PERIMETER + own_i] = own_counts.perimeter[own_i];                      \
        }                                                                                          \
        for (int own_i = 0; own_i < 5 && MEASURE_CROFTON >= 0; own_i++) {                          \
            own_sum[MEASURE_CROFTON + own_i] = own_counts.crofton[own_i];                          \
        }                                                                                          \
        if (MEASURE_EULER >= 0) {                                                                  \
            own_sum[MEASURE_EULER] = own_counts.euler;                                             \
        }                                                                                          \
        measure_tally_run(own_table, MEASURE_OUTLINE_BITS, MEASURE_OUTLINE, 0, own_totals,         \
                          own_current, own_sum, &own_none);                                        \
    }

/* Rows own_above .. own_below and planes own_before .. own_behind are there: the part has neighbours
 * in the image. */
MEASURE_GROUP_KERNEL void measure_outline(READ_PARAMS, const int own_w, const int own_h,
                                          const int own_d, const int own_above, const int own_below,
                                          const int own_before, const int own_behind,
                                          const int own_rows, const uint own_first,
                                          const uint own_n, const uint own_lane,
                                          global ulong *own_sums)
{
    local uint own_table[MEASURE_TALLY_WORDS(MEASURE_OUTLINE_BITS, MEASURE_OUTLINE, 0)];
    const MeasureTotals own_totals = {own_sums + (size_t)own_lane * own_n, 0, own_n};
    const uint own_none = 0;
    const int own_x = (int)get_global_id(0), own_plane = (int)get_group_id(2);
    const int own_y0 = (int)get_group_id(1) * own_rows,
              own_y1 = own_x < own_w ? min(own_y0 + own_rows, own_h) : own_y0;
    const MeasureCounts own_zero = {{0, 0, 0}, {0, 0, 0, 0, 0}, 0};
    measure_tally_clear(own_table, MEASURE_OUTLINE_BITS, MEASURE_OUTLINE, 0);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint own_current = 0;
    MeasureCounts own_counts = own_zero;
    MEASURE_NEAR
    for (int own_y = own_y0; own_y < own_y1; own_y++) {
        MEASURE_STEP
        const uint own_object = measure_tally_object(own_label, own_first, own_n);
        if (own_object != 0 && own_object != own_current) {
            MEASURE_FLUSH()
            own_current = own_object;
            own_counts = own_zero;
        }
        if (own_object != 0) {
            MEASURE_LOOK(&own_counts)
        }
    }
    MEASURE_FLUSH()
    barrier(CLK_LOCAL_MEM_FENCE);
    measure_tally_write(own_table, MEASURE_OUTLINE_BITS, MEASURE_OUTLINE, 0, own_totals);
}
