/*
 * measure_outline: border pixels and 2 x 2 (x 2) neighbourhoods of every object, for perimeters and
 * Euler numbers.
 *
 * A neighbourhood that holds k pixels of an object must be counted once for it: the pixel with the
 * lowest bit in the neighbourhood's code counts it.  Neighbours belong to the object when they
 * have the same label, so touching objects do not disturb each other.
 *
 * The host defines SPACE, OUTLINE (how many sums), OUTLINE_BITS and where the sums begin (-1: not wanted): PERIMETER,
 * CROFTON, EULER.
 */
typedef struct Counts {
    int perimeter[3], crofton[5], euler;
} Counts;

#define READ_LABEL(x_, y_, plane_)                                                                 \
    ((x_) >= 0 && (y_) >= 0 && (x_) < w && (y_) < h ? read_0(READ_ARGS, x_, y_, plane_) : 0u)

#if !SPACE
/* By 2 x 2 code: which of Crofton's weights, and the weight for Euler's number. */
constant char CROFTON_OF[16] = {-1, 0, 1, 2, -1, 0, -1, 1, 3, 4, 1, 1, 3, 4, -1, -1};
constant char EULER_OF[16] = {0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, -1, 0};

INLINE void count_code(Counts *c, uint code, uint own)
{
    const bool mine = (code & (own - 1)) == 0;
    const int which = CROFTON_OF[code];
    for (int i = 0; i < 5; i++) {
        c->crofton[i] += mine && which == i;
    }
    c->euler += mine ? EULER_OF[code] : 0;
}

/* Bits: 1 the pixel itself, 4 to its left, 2 above, 8 above left.  same[y + 1][x + 1] */
INLINE void count_codes(Counts *c, const uint same[3][3])
{
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            const uint code = same[j + 1][i + 1] | same[j + 1][i] << 2 | same[j][i + 1] << 1 |
                              same[j][i] << 3;
            count_code(c, code, j == 0 ? (i == 0 ? 1 : 4) : (i == 0 ? 2 : 8));
        }
    }
}

/* True when the pixel is of the label but has a 4-neighbour that is not. */
INLINE bool on_border(READ_PARAMS, int w, int h, uint label, int x, int y, int plane)
{
    return READ_LABEL(x, y, plane) == label &&
           (READ_LABEL(x - 1, y, plane) != label || READ_LABEL(x + 1, y, plane) != label ||
            READ_LABEL(x, y - 1, plane) != label || READ_LABEL(x, y + 1, plane) != label);
}

/* The pixel is on the border; how the border goes on around it decides its length. */
INLINE void count_border(READ_PARAMS, Counts *c, int w, int h, uint label, int x, int y, int plane)
{
    const int straight = on_border(READ_ARGS, w, h, label, x - 1, y, plane) +
                         on_border(READ_ARGS, w, h, label, x + 1, y, plane) +
                         on_border(READ_ARGS, w, h, label, x, y - 1, plane) +
                         on_border(READ_ARGS, w, h, label, x, y + 1, plane);
    const int oblique = on_border(READ_ARGS, w, h, label, x - 1, y - 1, plane) +
                        on_border(READ_ARGS, w, h, label, x + 1, y - 1, plane) +
                        on_border(READ_ARGS, w, h, label, x - 1, y + 1, plane) +
                        on_border(READ_ARGS, w, h, label, x + 1, y + 1, plane);
    const int code = 1 + 2 * straight + 10 * oblique;
    c->perimeter[0] +=
        code == 5 || code == 7 || code == 15 || code == 17 || code == 25 || code == 27;
    c->perimeter[1] += code == 21 || code == 33;
    c->perimeter[2] += code == 13 || code == 23;
}

#define LOOK(c)                                                                                    \
    {                                                                                              \
        uint same[3][3];                                                                           \
        for (int k = 0; k < 9; k++) {                                                              \
            same[k / 3][k % 3] = READ_LABEL(x + k % 3 - 1, y + k / 3 - 1, plane) == label;         \
        }                                                                                          \
        const uint cross = same[0][1] & same[1][0] & same[1][2] & same[2][1];                      \
        if ((cross & same[0][0] & same[0][2] & same[2][0] & same[2][2]) == 0) {                    \
            count_codes(c, same);                                                                  \
        }                                                                                          \
        if (PERIMETER >= 0 && cross == 0) {                                                        \
            count_border(READ_ARGS, c, w, h, label, x, y, plane);                                  \
        }                                                                                          \
    }
#else
/* Bits by offset -x + 2 -y + 4 -z; EULER_3D is the host's. */
constant uchar BIT[8] = {1, 4, 2, 8, 16, 64, 32, 128};

#define LOOK(c)                                                                                    \
    {                                                                                              \
        uint same = 0; /* a bit for each of the 27 neighbours */                                   \
        for (int k = 0; k < 27; k++) {                                                             \
            const int nz = z + k / 9 - 1;                                                          \
            const bool in = nz >= 0 && nz < d;                                                     \
            same |= (in && READ_LABEL(x + k % 3 - 1, y + k / 3 % 3 - 1, plane + k / 9 - 1) ==      \
                               label)                                                              \
                        ? 1u << k                                                                  \
                        : 0;                                                                       \
        }                                                                                          \
        for (int corner = 0; corner < 8 && same != 0x7ffffff; corner++) {                          \
            uint code = 0;                                                                         \
            for (int k = 0; k < 8; k++) {                                                          \
                const int at = 13 + (corner & 1) - (k & 1) + 3 * ((corner >> 1 & 1) - (k >> 1 & 1)) + \
                               9 * ((corner >> 2) - (k >> 2));                                     \
                code |= same >> at & 1 ? BIT[k] : 0;                                               \
            }                                                                                      \
            (c)->euler += (code & (BIT[corner] - 1)) == 0 ? EULER_3D[code] : 0;                    \
        }                                                                                          \
    }
#endif

#define FLUSH()                                                                                    \
    if (current != 0) {                                                                            \
        long sum[OUTLINE];                                                                            \
        for (int i = 0; i < 3 && PERIMETER >= 0; i++) {                                            \
            sum[PERIMETER + i] = counts.perimeter[i];                                              \
        }                                                                                          \
        for (int i = 0; i < 5 && CROFTON >= 0; i++) {                                              \
            sum[CROFTON + i] = counts.crofton[i];                                                  \
        }                                                                                          \
        if (EULER >= 0) {                                                                          \
            sum[EULER] = counts.euler;                                                             \
        }                                                                                          \
        tally_run(table, OUTLINE_BITS, OUTLINE, 0, totals, current, sum, &none);                         \
    }

GROUP_KERNEL void measure_outline(READ_PARAMS, const int w, const int h, const int d,
                                  const int rows, const uint first, const uint n, const uint lane,
                                  global ulong *sums)
{
    local uint table[TALLY_WORDS(OUTLINE_BITS, OUTLINE, 0)];
    const Totals totals = {sums + (size_t)lane * n, 0, n};
    const uint none = 0;
    const int x = (int)get_global_id(0), plane = (int)get_group_id(2), z = plane % d;
    const int y0 = (int)get_group_id(1) * rows, y1 = x < w ? min(y0 + rows, h) : y0;
    const Counts zero = {{0, 0, 0}, {0, 0, 0, 0, 0}, 0};
    tally_clear(table, OUTLINE_BITS, OUTLINE, 0);
    barrier(CLK_LOCAL_MEM_FENCE);

    uint current = 0;
    Counts counts = zero;
    for (int y = y0; y < y1; y++) {
        const uint label = read_0(READ_ARGS, x, y, plane);
        const uint object = tally_object(label, first, n);
        if (object != current) {
            FLUSH()
            current = object;
            counts = zero;
        }
        if (object != 0) {
            LOOK(&counts)
        }
    }
    FLUSH()
    barrier(CLK_LOCAL_MEM_FENCE);
    tally_write(table, OUTLINE_BITS, OUTLINE, 0, totals);
}
