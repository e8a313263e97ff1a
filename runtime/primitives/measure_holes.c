/*
 * measure_holes: floods what is not in the object from the border of its box.
 *
 * Rows are swept from the first to the last and back, each taking from its neighbours what they have
 * so far, until nothing changes; within a row the flood runs over whole words.
 */
#include "measure_holes.h"

#include <stdbool.h>

static int count_bits(uint32_t v)
{
    int n = 0;
    for (; v != 0; v &= v - 1) {
        n++;
    }
    return n;
}

/* Bits of `open` that `seed`, a part of it, reaches to the left and right. */
static uint32_t flood_word(uint32_t seed, uint32_t open)
{
    uint32_t up = seed, down = seed, p = open, q = open;
    for (int step = 1; step < 32; step *= 2) {
        up |= p & (up << step);
        p &= p << step;
        down |= q & (down >> step);
        q &= q >> step;
    }
    return up | down;
}

/* Open pixels of the box's edge are reached; so are the bits behind the end of a row. */
static uint32_t edge(const MeasureBits *b, size_t y, size_t z, size_t k)
{
    bool ends = y == 0 || y == b->tall - 1 || (b->deep > 1 && (z == 0 || z == b->deep - 1));
    size_t begin = 32 * k, last = b->wide - 1;
    uint32_t right = last < begin ? UINT32_MAX : last - begin < 32 ? UINT32_MAX << (last - begin) : 0;
    return ends ? UINT32_MAX : (k == 0 ? 1U : 0U) | right;
}

/* A word and the pixels beside each of its own. */
static uint32_t spread(const uint32_t *row, size_t k, size_t words)
{
    uint32_t v = row[k];
    uint32_t left = k > 0 ? row[k - 1] >> 31 : 0, right = k + 1 < words ? row[k + 1] << 31 : 0;
    return v | v << 1 | v >> 1 | left | right;
}

static const uint32_t *row_at(const MeasureBits *b, size_t y, size_t z)
{
    return b->reached + (z * b->tall + y) * b->words;
}

/* What word k of a row has from all rows around it. */
static uint32_t around(const MeasureBits *b, size_t y, size_t z, size_t k)
{
    uint32_t seed = 0;
    for (size_t nz = z > 0 ? z - 1 : 0; nz <= z + 1 && nz < b->deep; nz++) {
        for (size_t ny = y > 0 ? y - 1 : 0; ny <= y + 1 && ny < b->tall; ny++) {
            seed |= spread(row_at(b, ny, nz), k, b->words);
        }
    }
    return seed;
}

/* True when the row has grown. */
static bool flood_row(const MeasureBits *b, size_t y, size_t z)
{
    size_t at = (z * b->tall + y) * b->words;
    const uint32_t *open = b->open + at;
    uint32_t *row = b->reached + at, carry = 0, grown = 0;
    for (size_t k = 0; k < b->words; k++) {
        uint32_t v = flood_word((around(b, y, z, k) | carry) & open[k], open[k]);
        grown |= v ^ row[k];
        row[k] = v;
        carry = v >> 31;
    }
    carry = 0;
    for (size_t k = b->words; k-- > 0;) {
        uint32_t v = flood_word((row[k] | carry << 31) & open[k], open[k]);
        grown |= v ^ row[k];
        row[k] = v;
        carry = v & 1;
    }
    return grown != 0;
}

uint64_t measure_filled(const MeasureBits *b)
{
    size_t rows = b->tall * b->deep;
    for (size_t i = 0; i < rows * b->words; i++) {
        size_t row = i / b->words;
        b->reached[i] = b->open[i] & edge(b, row % b->tall, row / b->tall, i % b->words);
    }
    bool again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < 2 * rows; i++) {
            size_t row = i < rows ? i : 2 * rows - 1 - i;
            again = flood_row(b, row % b->tall, row / b->tall) || again;
        }
    }
    uint64_t filled = (uint64_t)b->wide * rows;
    for (size_t i = 0; i < rows * b->words; i++) {
        size_t begin = 32 * (i % b->words), left = b->wide - begin;
        filled -= (uint64_t)count_bits(left < 32 ? b->reached[i] & ((1U << left) - 1)
                                                 : b->reached[i]);
    }
    return filled;
}
