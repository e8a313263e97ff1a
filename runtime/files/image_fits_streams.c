/*
 * image_fits_streams: cfitsio unpacks H-compress, PLIO and Rice without asking how long a tile is, so that a damaged one
 * makes it read the memory behind it, and for the rest of a gzip stream that was cut off it makes room without an end.
 * Here tiles are walked over as it does, and nothing is computed but where that ends.
 *
 * H-compress (White, Postman and Lattanzi 1992): a head of 25 bytes, the bit planes of four quadrants, from the highest
 * on, a code of 0, and a sign for each coefficient that is not 0.  A plane is written as it is, four pixels to a code,
 * or as a quadtree: a code has a bit for each quarter that has something in it.
 * Rice (White 1998): the first pixel, and for each block of differences how many low bits of them are stored; the bits
 * above are as many zeros, and a one.
 * PLIO (IRAF): words of instructions, four bits for what is done and twelve for how often or how much.
 */
#include "image_fits_streams.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 25, EXTENTS_AT = 2, PLANES_AT = 22, PLANES_MOST = 62 };

typedef struct Bits {
    const uint8_t *at;
    uint64_t n, next; /* bits; those behind the end are 0 */
} Bits;

typedef struct Quadrant {
    int64_t rows, columns;
    uint8_t *set;          /* of the image: which coefficients are not 0 */
    int64_t pitch;         /* of `set` */
    uint8_t *codes, *more; /* room for a code for each four coefficients */
} Quadrant;

static bool is_over(const Bits *b)
{
    return b->next > b->n;
}

static unsigned get(Bits *b, int n)
{
    unsigned value = 0;
    for (; n > 0; n--, b->next++) {
        value = value << 1 | (b->next < b->n ? b->at[b->next / 8] >> (7 - b->next % 8) & 1u : 0);
    }
    return value;
}

/* Three to six bits, by the first of them. */
static uint8_t get_code(Bits *b)
{
    static const uint8_t THREE[] = {1, 2, 4, 8}, FOUR[] = {3, 5, 10, 12, 15}, FIVE[] = {6, 7, 9, 11, 13};
    unsigned c = get(b, 3);
    if (c < 4) {
        return THREE[c];
    }
    c = c << 1 | get(b, 1);
    if (c < 13) {
        return FOUR[c - 8];
    }
    c = c << 1 | get(b, 1);
    return c < 31 ? FIVE[c - 26] : get(b, 1) == 0 ? 0 : 14;
}

/* What a code says of the pixel in this row and column. */
static unsigned bit_of(const uint8_t *codes, int64_t columns, int64_t y, int64_t x)
{
    return codes[y / 2 * ((columns + 1) / 2) + x / 2] >> (3 - y % 2 * 2 - x % 2) & 1u;
}

/* From the one code of the whole quadrant to those of four coefficients each. */
static void read_tree(Bits *b, Quadrant *q)
{
    int levels = 0;
    while (((int64_t)1 << levels) < (q->rows > q->columns ? q->rows : q->columns)) {
        levels++;
    }
    q->codes[0] = get_code(b);
    for (int k = levels - 1; k > 0; k--) {
        int64_t part = (int64_t)1 << k, rows = (q->rows + part - 1) / part, columns = (q->columns + part - 1) / part;
        for (int64_t i = rows * columns - 1; i >= 0; i--) {
            q->more[i] = bit_of(q->codes, columns, i / columns, i % columns) ? get_code(b) : 0;
        }
        uint8_t *done = q->codes;
        q->codes = q->more;
        q->more = done;
    }
}

static bool read_planes(Bits *b, Quadrant *q, int planes)
{
    enum { AS_IT_IS = 0, TREE = 15 };
    for (; planes > 0 && !is_over(b); planes--) {
        unsigned form = get(b, 4);
        if (form == TREE) {
            read_tree(b, q);
        } else if (form == AS_IT_IS) {
            for (int64_t i = 0; i < (q->rows + 1) / 2 * ((q->columns + 1) / 2); i++) {
                q->codes[i] = (uint8_t)get(b, 4);
            }
        } else {
            return false;
        }
        for (int64_t i = 0; i < q->rows * q->columns; i++) {
            int64_t y = i / q->columns, x = i % q->columns;
            q->set[y * q->pitch + x] |= (uint8_t)bit_of(q->codes, q->columns, y, x);
        }
    }
    return true;
}

/* The quadrants are those of even and odd rows and columns, which are put one behind the other. */
static bool read_quadrants(Bits *b, const uint8_t *planes, int64_t rows, int64_t columns, uint8_t *set, uint8_t *room)
{
    static const int PLANES_OF[] = {0, 1, 1, 2};
    int64_t upper = (rows + 1) / 2, left = (columns + 1) / 2;
    bool ok = true;
    for (int i = 0; ok && i < 4; i++) {
        bool below = i / 2 != 0, beside = i % 2 != 0;
        Quadrant q = {.rows = below ? rows / 2 : upper,
                      .columns = beside ? columns / 2 : left,
                      .set = set + (below ? upper * columns : 0) + (beside ? left : 0),
                      .pitch = columns,
                      .codes = room,
                      .more = room + upper * left};
        ok = read_planes(b, &q, planes[PLANES_OF[i]]);
    }
    return ok;
}

static int64_t extent_at(const uint8_t *at)
{
    return (int64_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

static bool has_planes(const uint8_t *planes)
{
    return planes[0] <= PLANES_MOST && planes[1] <= PLANES_MOST && planes[2] <= PLANES_MOST;
}

/* An extent of 1 would leave a quadrant without rows, for which cfitsio makes no room and has a code. */
bool fits_hcompress_is_whole(const uint8_t *at, size_t n, double pixels)
{
    if (n < HEAD || memcmp(at, "\xDD\x99", 2) != 0 || !has_planes(at + PLANES_AT)) {
        return false;
    }
    int64_t rows = extent_at(at + EXTENTS_AT), columns = extent_at(at + EXTENTS_AT + 4);
    if (rows < 2 || columns < 2 || (double)rows * (double)columns > pixels) {
        return false;
    }
    uint8_t *set = calloc((size_t)(rows * columns), 1);
    uint8_t *room = malloc((size_t)((rows + 1) / 2 * ((columns + 1) / 2) * 2));
    Bits bits = {.at = at, .n = 8 * (uint64_t)n, .next = 8 * HEAD};
    bool ok = set != NULL && room != NULL && read_quadrants(&bits, at + PLANES_AT, rows, columns, set, room) &&
              get(&bits, 4) == 0;
    uint64_t signs = (bits.next + 7) / 8 * 8;
    for (int64_t i = 0; ok && i < rows * columns; i++) {
        signs += set[i];
    }
    free(set);
    free(room);
    return ok && signs <= bits.n;
}

bool fits_plio_is_whole(const uint8_t *at, size_t n)
{
    enum {
        SET_HIGH = 1,
        SHORT_HEAD = 3,
        LONG_HEAD = 7
    }; /* words; the last is followed by the high part of its number */
    int64_t words = (int64_t)(n / 2);
    if (words < SHORT_HEAD) {
        return false;
    }
#define WORD(K) ((int16_t)(at[2 * (K)] << 8 | at[2 * (K) + 1]))
    bool is_short = WORD(2) > 0;
    if (!is_short && words < LONG_HEAD) {
        return false;
    }
    int64_t head = is_short ? SHORT_HEAD : WORD(1), end = is_short ? WORD(2) : (int64_t)WORD(4) * 32768 + WORD(3);
    if (head < SHORT_HEAD || end < 1 || end > words) {
        return false;
    }
    int64_t i = head;
    while (i < end) {
        i += WORD(i) / 4096 == SET_HIGH ? 2 : 1;
    }
#undef WORD
    return i == end || i == head; /* else the high part of the last number is missing */
}

/* The next 57 bits and more, from the highest on; those behind the end are 0. */
static uint64_t look(const Bits *b)
{
    uint64_t value = 0, first = b->next / 8;
    uint8_t end[8] = {0};
    const uint8_t *at = b->at + (first < b->n / 8 ? first : 0);
    if (first + 8 > b->n / 8) {
        if (first < b->n / 8) {
            memcpy(end, at, b->n / 8 - first);
        }
        at = end;
    }
    for (int i = 0; i < 8; i++) { /* which compilers make one load of */
        value = value << 8 | at[i];
    }
    return value << b->next % 8;
}

/* Steps over so many differences. */
static void skip_differences(Bits *b, int64_t differences, int low_bits)
{
    enum { LOOKED_AT = 57 };
    while (differences > 0 && !is_over(b)) {
        uint64_t bits = look(b);
        int zeros = bits != 0 ? __builtin_clzll((unsigned long long)bits) : LOOKED_AT;
        bool ended = zeros < LOOKED_AT;
        b->next += ended ? (uint64_t)(zeros + 1 + low_bits) : LOOKED_AT;
        differences -= ended;
    }
}

bool fits_rice_is_whole(const uint8_t *at, size_t n, double pixels, int64_t block, int bytes)
{
    static const struct {
        int bits, as_it_is; /* of the number before a block, and which of them says that pixels follow as they are */
    } CODES[] = {[1] = {3, 6}, [2] = {4, 14}, [4] = {5, 25}};
    Bits b = {.at = at, .n = 8 * (uint64_t)n, .next = 8 * (uint64_t)bytes};
    if (n <= (size_t)bytes || !(pixels < 1e15) || block < 1) {
        return false;
    }
    for (int64_t left = (int64_t)pixels; left > 0 && !is_over(&b); left -= block) {
        int64_t here = left < block ? left : block;
        int low_bits = (int)get(&b, CODES[bytes].bits) - 1; /* -1: no differences */
        if (low_bits == CODES[bytes].as_it_is) {
            b.next += (uint64_t)here * 8 * (uint64_t)bytes;
        } else if (low_bits >= 0) {
            skip_differences(&b, here, low_bits);
        }
    }
    return !is_over(&b);
}

bool fits_gzip_is_whole(const uint8_t *at, size_t n, double pixels)
{
    size_t taken, given;
    if (!(pixels < 1e15)) {
        return false;
    }
    struct libdeflate_decompressor *hand = libdeflate_alloc_decompressor();
    size_t room = 8 * (size_t)pixels;
    void *to = malloc(room + 1);
    bool ok = hand != NULL && to != NULL &&
              libdeflate_gzip_decompress_ex(hand, at, n, to, room, &taken, &given) == LIBDEFLATE_SUCCESS;
    free(to);
    libdeflate_free_decompressor(hand);
    return ok;
}
