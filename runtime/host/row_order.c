/*
 * row_order: numbers in order, by a radix sort of their bits.
 *
 * A double's bits, with the sign turned, are in the order of the doubles; 11 of them at a time,
 * from the last to the first, are counted and put in their places, which keeps what is equal in
 * order.  Digits that all numbers share are skipped: whole numbers, which most columns of tables
 * are, differ in few.
 */
#include "row_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 6, VALUES = 1 << DIGIT_BITS };

typedef struct Keyed {
    uint64_t key;
    int64_t row;
} Keyed;

/* NaN is behind everything; both zeros are the same. */
static uint64_t key_of(double v)
{
    double plain = v + 0.0;
    uint64_t bits, sign = (uint64_t)1 << 63;
    memcpy(&bits, &plain, sizeof bits);
    return isnan(v) ? UINT64_MAX : (bits & sign) != 0 ? ~bits : bits | sign;
}

static int digit_of(uint64_t key, int digit)
{
    return (int)(key >> (digit * DIGIT_BITS)) & (VALUES - 1);
}

/* From counts to the places where the numbers with each digit begin; false: all have the same one.
 */
static bool find_places(int64_t *counts, int64_t n)
{
    int64_t place = 0;
    for (int v = 0; v < VALUES; v++) {
        int64_t count = counts[v];
        if (count == n) {
            return false;
        }
        counts[v] = place;
        place += count;
    }
    return true;
}

static void sort(Keyed *from, Keyed *to, int64_t n, int64_t (*counts)[VALUES], int64_t *order)
{
    for (int d = 0; d < DIGITS; d++) {
        if (!find_places(counts[d], n)) {
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            to[counts[d][digit_of(from[i].key, d)]++] = from[i];
        }
        Keyed *swapped = from;
        from = to;
        to = swapped;
    }
    for (int64_t i = 0; i < n; i++) {
        order[i] = from[i].row;
    }
}

bool row_order(const double *v, int64_t n, bool descending, int64_t *order)
{
    Keyed *keyed = malloc((size_t)n * 2 * sizeof *keyed + 1);
    int64_t(*counts)[VALUES] = calloc(DIGITS, sizeof *counts);
    bool ok = keyed != NULL && counts != NULL;
    for (int64_t i = 0; ok && i < n; i++) {
        keyed[i] = (Keyed){key_of(descending ? -v[i] : v[i]), i};
        for (int d = 0; d < DIGITS; d++) {
            counts[d][digit_of(keyed[i].key, d)]++;
        }
    }
    if (ok) {
        sort(keyed, keyed + n, n, counts, order);
    }
    free(keyed);
    free(counts);
    return ok;
}
