/*
 * window_slices: one of the sorted pixels under a footprint, found bit by bit for 32 pixels at once.
 *
 * Word b of 32 neighbouring pixels has bit b of the key of each (their slices).  A group makes the slices of a tile
 * and of all that its windows reach.  Each work-item has the windows of a word.  From the highest bit down it counts
 * who has been like the result so far and has a 0 next: where these are no more than the rank, the bit is a 1, and
 * they are taken off the rank.  Counts and ranks are numbers of 32 pixels, too, a word for each digit, so that every
 * instruction works on 32 windows.  The cost grows with the footprint's area and with the square of the bits; up to
 * some hundred pixels it is far less than that of windows that slide.
 *
 * The host defines SLICES_BITS of a key, SLICES_KEY (a type that holds it), SLICES_DIGITS of a count of the
 * footprint's pixels, and SLICES_ROWS of a tile.
 */
#ifdef __NV_CL_C_VERSION
#define SLICES_UNROLLED _Pragma("unroll") /* so that slices stay in registers; CPUs' compilers take minutes over it */
#else
#define SLICES_UNROLLED _Pragma("nounroll")
#endif

enum {
    SLICES_WORDS = 8,                 /* of a row of the tile, and one to either side */
    SLICES_COLUMNS = 32 * SLICES_WORDS,
    SLICES_LINE = SLICES_WORDS + 2,
    SLICES_PITCH = SLICES_BITS * SLICES_LINE + 8, /* of a row: those of a warp begin in banks of their own */
    SLICES_ITEMS = SLICES_WORDS * SLICES_ROWS,
    SLICES_A_WORD = 32 / SLICES_BITS /* keys */
};

/* Adds two words to a digit; what is carried. */
LANES_INLINE uint slices_add(uint *digit, uint a, uint b)
{
    const uint carry = (*digit & a) | (b & (*digit | a));
    *digit ^= a ^ b;
    return carry;
}

/* Adds a word to a count from a digit on. */
LANES_INLINE void slices_carry(uint *count, int from, uint carry)
{
    SLICES_UNROLLED for (int i = from; i < SLICES_DIGITS; i++) {
        const uint next = count[i] & carry;
        count[i] ^= carry;
        carry = next;
    }
}

/* The slices of a row that a step looks at: bits from p up, of two neighbouring words. */
typedef struct SlicesPair {
    uint low[SLICES_BITS], high[SLICES_BITS];
} SlicesPair;

LANES_INLINE uint slices_at(const SlicesPair *pair, int bit, int dx)
{
    return (uint)(((ulong)pair->high[bit] << 32 | pair->low[bit]) >> (dx & 31));
}

/* The pixels dx to the right that are like what was found down to bit p, and have a 0 there. */
LANES_INLINE uint slices_zeros(const SlicesPair *pair, const uint *found, int p, int dx)
{
    uint like = ~slices_at(pair, p, dx);
    SLICES_UNROLLED for (int q = SLICES_BITS - 1; q > p; q--) {
        like &= ~(slices_at(pair, q, dx) ^ found[q]);
    }
    return like;
}

/* Counts them, for dx from first to last. */
LANES_INLINE void slices_count(uint *count, const SlicesPair *pair, const uint *found, int p, int first, int last)
{
    int dx = first;
    for (; dx + 3 <= last; dx += 4) {
        uint v[4];
        SLICES_UNROLLED for (int i = 0; i < 4; i++) {
            v[i] = slices_zeros(pair, found, p, dx + i);
        }
        const uint one = slices_add(&count[0], v[0], v[1]), two = slices_add(&count[0], v[2], v[3]);
        slices_carry(count, 2, slices_add(&count[1], one, two));
    }
    for (; dx <= last; dx++) {
        slices_carry(count, 0, slices_zeros(pair, found, p, dx));
    }
}

/* The slices from bit p up of words 0 and 1 of a row. */
LANES_INLINE void slices_take(SlicesPair *pair, local const uint *row, int p)
{
    SLICES_UNROLLED for (int q = SLICES_BITS - 1; q >= p; q--) {
        pair->low[q] = row[q * SLICES_LINE];
        pair->high[q] = row[q * SLICES_LINE + 1];
    }
}

/* Bit p of the results, and what is left of their ranks.  `at`: the item's word where the window's middle is. */
LANES_INLINE void slices_step(local const uint *at, int high, global const int4 *runs, int n_runs, uint *found,
                              uint *left, int p)
{
    uint count[SLICES_DIGITS] = {0};
    for (int r = 0; r < n_runs; r++) {
        const int4 run = runs[r];
        local const uint *const row = at + (run.w * high + run.z) * SLICES_PITCH;
        SlicesPair pair;
        if (run.x < 0) {
            slices_take(&pair, row - 1, p);
            slices_count(count, &pair, found, p, run.x, min(run.y, -1));
        }
        if (run.y >= 0) {
            slices_take(&pair, row, p);
            slices_count(count, &pair, found, p, max(run.x, 0), run.y);
        }
    }
    uint less[SLICES_DIGITS], borrow = 0;
    SLICES_UNROLLED for (int i = 0; i < SLICES_DIGITS; i++) {
        less[i] = left[i] ^ count[i] ^ borrow;
        borrow = (~left[i] & (count[i] | borrow)) | (count[i] & borrow);
    }
    found[p] = ~borrow;
    SLICES_UNROLLED for (int i = 0; i < SLICES_DIGITS; i++) {
        left[i] = (left[i] & borrow) | (less[i] & ~borrow);
    }
}

/* The slices of `high` rows of `deep` planes, from `at` on.  What no window needs is taken as the last one that is there. */
LANES_INLINE void slices_read(local uint *slices, WindowPlace at, global const WINDOW_PIXEL *volume, int high, int deep,
                              int first_x, int last_x, int last_y)
{
    const uint n = (uint)(high * deep * SLICES_LINE);
    for (uint i = (uint)get_local_id(0); i < n; i += SLICES_ITEMS) {
        const LanesSplit line = lanes_split(i, SLICES_LINE), z = lanes_split(line.over, (uint)high);
        const int x = 32 * ((int)line.rest - 1);
        global const WINDOW_PIXEL *const row =
            window_row(volume, &at, (int4)(0, 0, min((int)z.rest, last_y), (int)z.over));
        uint word[SLICES_BITS] = {0};
        for (int k = 0; k < 32; k++) {
            const uint key = (uint)window_key_at(row, &at, clamp(at.x + x + k, first_x, last_x));
            SLICES_UNROLLED for (int q = 0; q < SLICES_BITS; q++) {
                word[q] |= (key >> q & 1) << k;
            }
        }
        local uint *const to = slices + line.over * SLICES_PITCH + line.rest;
        SLICES_UNROLLED for (int q = 0; q < SLICES_BITS; q++) {
            to[q * SLICES_LINE] = word[q];
        }
    }
}

/* Tiles of SLICES_COLUMNS x SLICES_ROWS pixels; `across` and `down` of them in a plane.  Further parameters as of
 * kernel window_rank. */
kernel __attribute__((reqd_work_group_size(SLICES_ITEMS, 1, 1))) void
window_slices(int w, int h, int d, int in_pitch, int out_pitch, int image_h, int image_d, int top, int front, int tall,
              long first, global const WINDOW_PIXEL *image, global const int4 *runs, int n_runs, uint rank,
              ulong outside, int reach_x, int reach_y, int reach_z, uint across, uint down, local uint *slices,
              global WINDOW_RESULT *out)
{
    const uint item = (uint)get_local_id(0), word = item % SLICES_WORDS, own = item / SLICES_WORDS;
    const LanesSplit row = lanes_split((uint)get_group_id(0), across), plane = lanes_split(row.over, down);
    const LanesSplit layer = lanes_split(plane.over, (uint)d);
    const int x = (int)row.rest * SLICES_COLUMNS, y = (int)plane.rest * SLICES_ROWS, z = (int)layer.rest;
    const int high = SLICES_ROWS + 2 * reach_y, rows = min(SLICES_ROWS, h - y);
    const WindowPlace place = {w, image_h, image_d, in_pitch, x, y + top - reach_y, z + front - reach_z, tall,
                               (WindowKey)outside};
    slices_read(slices, place, image + (first + (long)layer.over * image_d * tall * in_pitch), high, 2 * reach_z + 1,
                -reach_x, w - 1 + reach_x, rows - 1 + 2 * reach_y);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint found[SLICES_BITS], left[SLICES_DIGITS];
    SLICES_UNROLLED for (int i = 0; i < SLICES_DIGITS; i++) {
        left[i] = (rank >> i & 1) != 0 ? ~(uint)0 : 0;
    }
    local const uint *const at = slices + (reach_z * high + reach_y + (int)own) * SLICES_PITCH + 1 + word;
    SLICES_UNROLLED for (int p = SLICES_BITS - 1; p >= 0; p--) {
        slices_step(at, high, runs, n_runs, found, left, p);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 32 / SLICES_A_WORD; i++) {
        uint keys = 0;
        SLICES_UNROLLED for (uint k = 0; k < 32; k++) {
            keys |= (found[k % SLICES_BITS] >> (i * SLICES_A_WORD + k / SLICES_BITS) & 1) << k;
        }
        slices[item * (32 / SLICES_A_WORD) + i] = keys;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    local const SLICES_KEY *const keys = (local const SLICES_KEY *)slices;
    global WINDOW_RESULT *const to = out + ((size_t)plane.over * (size_t)h + (size_t)y) * (size_t)out_pitch + (size_t)x;
    for (uint i = item; i < (uint)rows * SLICES_COLUMNS; i += SLICES_ITEMS) {
        const uint column = i % SLICES_COLUMNS;
        if (x + (int)column < w) {
            to[(size_t)(i / SLICES_COLUMNS) * (size_t)out_pitch + column] = window_value(keys[i]);
        }
    }
}
