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

#define MEASURE_READ_LABEL(own_x_, own_y_, own_plane_)                                             \
    ((own_x_) >= 0 && (own_y_) >= 0 && (own_x_) < own_w && (own_y_) < own_h                        \
         ? read_0(READ_ARGS, own_x_, own_y_, own_plane_)                                           \
         : 0u)

#if !MEASURE_SPACE
/* By 2 x 2 code: which of Crofton's weights, and the weight for Euler's number. */
constant char MEASURE_CROFTON_OF[16] = {-1, 0, 1, 2, -1, 0, -1, 1, 3, 4, 1, 1, 3, 4, -1, -1};
constant char MEASURE_EULER_OF[16] = {0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, -1, 0};

MEASURE_INLINE void measure_count_code(MeasureCounts *c, uint code, uint own)
{
    const bool mine = (code & (own - 1)) == 0;
    const int which = MEASURE_CROFTON_OF[code];
    for (int i = 0; i < 5; i++) {
        c->crofton[i] += mine && which == i;
    }
    c->euler += mine ? MEASURE_EULER_OF[code] : 0;
}

/* Bits: 1 the pixel itself, 4 to its left, 2 above, 8 above left.  same[y + 1][x + 1] */
MEASURE_INLINE void measure_count_codes(MeasureCounts *c, const uint same[3][3])
{
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const uint code =
                same[j + 1][i + 1] | same[j + 1][i] << 2 | same[j][i + 1] << 1 | same[j][i] << 3;
            measure_count_code(c, code, j == 0 ? (i == 0 ? 1 : 4) : (i == 0 ? 2 : 8));
        }
    }
}

/* True when the pixel is of the label but has a 4-neighbour that is not. */
MEASURE_INLINE bool measure_on_border(READ_PARAMS, int own_w, int own_h, uint own_label, int own_x,
                                      int own_y, int own_plane)
{
    return MEASURE_READ_LABEL(own_x, own_y, own_plane) == own_label &&
           (MEASURE_READ_LABEL(own_x - 1, own_y, own_plane) != own_label ||
            MEASURE_READ_LABEL(own_x + 1, own_y, own_plane) != own_label ||
            MEASURE_READ_LABEL(own_x, own_y - 1, own_plane) != own_label ||
            MEASURE_READ_LABEL(own_x, own_y + 1, own_plane) != own_label);
}

/* The pixel is on the border; how the border goes on around it decides its length. */
MEASURE_INLINE void measure_count_border(READ_PARAMS, MeasureCounts *own_c, int own_w, int own_h,
                                         uint own_label, int own_x, int own_y, int own_plane)
{
    const int own_straight =
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x - 1, own_y, own_plane) +
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x + 1, own_y, own_plane) +
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x, own_y - 1, own_plane) +
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x, own_y + 1, own_plane);
    const int own_oblique =
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x - 1, own_y - 1, own_plane) +
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x + 1, own_y - 1, own_plane) +
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x - 1, own_y + 1, own_plane) +
        measure_on_border(READ_ARGS, own_w, own_h, own_label, own_x + 1, own_y + 1, own_plane);
    const int own_code = 1 + 2 * own_straight + 10 * own_oblique;
    own_c->perimeter[0] += own_code == 5 || own_code == 7 || own_code == 15 || own_code == 17 ||
                           own_code == 25 || own_code == 27;
    own_c->perimeter[1] += own_code == 21 || own_code == 33;
    own_c->perimeter[2] += own_code == 13 || own_code == 23;
}

#define MEASURE_LOOK(own_c)                                                                        \
    {                                                                                              \
        uint own_same[3][3];                                                                       \
        for (int own_k = 0; own_k < 9; own_k++) {                                                  \
            own_same[own_k / 3][own_k % 3] =                                                       \
                MEASURE_READ_LABEL(own_x + own_k % 3 - 1, own_y + own_k / 3 - 1, own_plane) ==     \
                own_label;                                                                         \
        }                                                                                          \
        const uint own_cross = own_same[0][1] & own_same[1][0] & own_same[1][2] & own_same[2][1];  \
        if ((own_cross & own_same[0][0] & own_same[0][2] & own_same[2][0] & own_same[2][2]) ==     \
            0) {                                                                                   \
            measure_count_codes(own_c, own_same);                                                  \
        }                                                                                          \
        if (MEASURE_PERIMETER >= 0 && own_cross == 0) {                                            \
            measure_count_border(READ_ARGS, own_c, own_w, own_h, own_label, own_x, own_y,          \
                                 own_plane);                                                       \
        }                                                                                          \
    }
#else
/* Bits by offset -x + 2 -y + 4 -z; MEASURE_EULER_3D is the host's. */
constant uchar MEASURE_BIT[8] = {1, 4, 2, 8, 16, 64, 32, 128};

#define MEASURE_LOOK(own_c)                                                                        \
    {                                                                                              \
        uint own_same = 0; /* a bit for each of the 27 neighbours */                               \
        for (int own_k = 0; own_k < 27; own_k++) {                                                 \
            const int own_nz = own_z + own_k / 9 - 1;                                              \
            const bool own_in = own_nz >= 0 && own_nz < own_d;                                     \
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

MEASURE_GROUP_KERNEL void measure_outline(READ_PARAMS, const int own_w, const int own_h,
                                          const int own_d, const int own_rows, const uint own_first,
                                          const uint own_n, const uint own_lane,
                                          global ulong *own_sums)
{
    local uint own_table[MEASURE_TALLY_WORDS(MEASURE_OUTLINE_BITS, MEASURE_OUTLINE, 0)];
    const MeasureTotals own_totals = {own_sums + (size_t)own_lane * own_n, 0, own_n};
    const uint own_none = 0;
    const int own_x = (int)get_global_id(0), own_plane = (int)get_group_id(2),
              own_z = own_plane % own_d;
    const int own_y0 = (int)get_group_id(1) * own_rows,
              own_y1 = own_x < own_w ? min(own_y0 + own_rows, own_h) : own_y0;
    const MeasureCounts own_zero = {{0, 0, 0}, {0, 0, 0, 0, 0}, 0};
    measure_tally_clear(own_table, MEASURE_OUTLINE_BITS, MEASURE_OUTLINE, 0);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint own_current = 0;
    MeasureCounts own_counts = own_zero;
    for (int own_y = own_y0; own_y < own_y1; own_y++) {
        const uint own_label = read_0(READ_ARGS, own_x, own_y, own_plane);
        const uint own_object = measure_tally_object(own_label, own_first, own_n);
        if (own_object != own_current) {
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
