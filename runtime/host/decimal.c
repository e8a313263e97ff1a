/*
 * decimal: 15 digits are enough for most numbers that people write, 17 for every double; the
 * first of 15, 16, 17 that reads back unchanged is the text.  Whole numbers, the bulk of every
 * table, are written without trying.
 *
 * A double is m * 2^e with whole numbers m < 2^53 and e.  Times 10^k, which gives it 17 digits before the point, it is
 * m * 5^k * 2^(e + k): where 5^k has at most 128 bits this is a whole number of 192 bits and a shift, and so is the
 * distance to a text of fewer digits, which reads back if it is less than half of 5^k (all of it that belongs to a
 * unit of m).  Everything is exact, and takes a tenth of the time of printing and reading.  Numbers beyond
 * (below some 1e-35) are printed and read.
 */
#include "decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

enum { MOST_POWER = 55, MOST_SHIFT = 120, DIGITS = 17 };

static const uint64_t SMALLEST_OF_17 = 10000000000000000u; /* 10^16 */

static size_t whole(double value, char *to)
{
    char digits[24];
    size_t n = 0, at = 0;
    uint64_t left = (uint64_t)fabs(value);
    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        to[at++] = '-';
    }
    while (n > 0) {
        to[at++] = digits[--n];
    }
    to[at] = '\0';
    return at;
}

/* A number times 10^power: before the point, and behind it in units of 2^-shift. */
typedef struct Scaled {
    int power, shift;
    Wide fives; /* 5^power: in these units, what a unit of m is worth */
    uint64_t before;
    Wide behind;
} Scaled;

static Wide power_of_five(int power)
{
    enum { STEP = 27 };
    static const uint64_t FIVES[STEP + 1] = {1u,
                                             5u,
                                             25u,
                                             125u,
                                             625u,
                                             3125u,
                                             15625u,
                                             78125u,
                                             390625u,
                                             1953125u,
                                             9765625u,
                                             48828125u,
                                             244140625u,
                                             1220703125u,
                                             6103515625u,
                                             30517578125u,
                                             152587890625u,
                                             762939453125u,
                                             3814697265625u,
                                             19073486328125u,
                                             95367431640625u,
                                             476837158203125u,
                                             2384185791015625u,
                                             11920928955078125u,
                                             59604644775390625u,
                                             298023223876953125u,
                                             1490116119384765625u,
                                             7450580596923828125u};
    Wide fives = 1;
    for (; power > STEP; power -= STEP) {
        fives *= FIVES[STEP];
    }
    return fives * FIVES[power];
}

/* m * 2^e times 10^power. */
static bool scale(uint64_t m, int e, int power, Scaled *s)
{
    *s = (Scaled){.power = power, .shift = -(e + power)};
    if (power < 0 || power > MOST_POWER || s->shift < 1 || s->shift > MOST_SHIFT) {
        return false;
    }
    s->fives = power_of_five(power);
    Wide low = (Wide)(uint64_t)s->fives * m;
    Wide high = (Wide)(uint64_t)(s->fives >> 64) * m + (low >> 64); /* of 64 bits and more */
    Wide bottom = high << 64 | (uint64_t)low;
    s->before = s->shift < 64 ? (uint64_t)(high << (64 - s->shift) | (uint64_t)low >> s->shift)
                              : (uint64_t)(high >> (s->shift - 64));
    s->behind = bottom & (((Wide)1 << s->shift) - 1);
    return true;
}

/* The nearest multiple of `unit`, the even one of two; false: it does not read back. */
static bool round_to(const Scaled *s, uint64_t unit, uint64_t *rounded)
{
    uint64_t multiple = s->before / unit, rest = s->before % unit;
    Wide half = (Wide)1 << (s->shift - 1), whole_part = unit == 1 ? 0 : unit / 2;
    Wide least = unit == 1 ? half : 0; /* behind the point, of what lies in the middle */
    bool above = rest > whole_part || (rest == whole_part && s->behind > least);
    bool middle = rest == whole_part && s->behind == least;
    multiple += above || (middle && multiple % 2 == 1);
    *rounded = multiple * unit;
    Wide distance = *rounded > s->before ? ((Wide)(*rounded - s->before) << s->shift) - s->behind
                                         : ((Wide)(s->before - *rounded) << s->shift) + s->behind;
    return 2 * distance < s->fives;
}

/* As printf's %g: n digits, of which the first stands before the point where the exponent is 0; `most`: digits
 * that were asked for. */
static size_t print(const char *digits, int n, int exponent, int most, bool negative, char *to)
{
    size_t at = 0;
    if (negative) {
        to[at++] = '-';
    }
    if (exponent < -4 || exponent >= most) {
        to[at++] = digits[0];
        if (n > 1) {
            to[at++] = '.';
            memcpy(to + at, digits + 1, (size_t)n - 1);
            at += (size_t)n - 1;
        }
        return at + (size_t)snprintf(to + at, DECIMAL_BYTES - at, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    }
    for (int i = exponent < 0 ? exponent : 0; i < n || i <= exponent; i++) {
        to[at++] = i >= 0 && i < n ? digits[i] : '0';
        if (i == exponent && i + 1 < n) {
            to[at++] = '.';
        }
    }
    to[at] = '\0';
    return at;
}

/* 0: it is not one of the numbers for which this is exact. */
static size_t quick(double value, char *to)
{
    uint64_t bits, rounded = 0;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int e = (int)(bits >> 52 & 2047) - 1075, power = DIGITS - 1 - (int)floor(log10(fabs(value)));
    Scaled s;
    if (fraction == 0 || e == -1075) { /* below a power of two doubles lie closer */
        return 0;
    }
    uint64_t m = fraction | (uint64_t)1 << 52;
    bool ok = scale(m, e, power, &s);
    if (ok && (s.before < SMALLEST_OF_17 || s.before >= 10 * SMALLEST_OF_17)) { /* log10 is rounded */
        ok = scale(m, e, power + (s.before < SMALLEST_OF_17 ? 1 : -1), &s);
    }
    if (!ok || s.before < SMALLEST_OF_17 || s.before >= 10 * SMALLEST_OF_17) {
        return 0;
    }
    int most = 15;
    for (uint64_t unit = 100; !round_to(&s, unit, &rounded) && most < DIGITS; unit /= 10) {
        most++;
    }
    if (rounded == 10 * SMALLEST_OF_17) {
        rounded = SMALLEST_OF_17;
        s.power--;
    }
    char digits[DIGITS];
    int n = DIGITS;
    for (int i = DIGITS - 1; i >= 0; i--) {
        digits[i] = (char)('0' + rounded % 10);
        rounded /= 10;
        n = digits[i] == '0' && n == i + 1 ? i : n;
    }
    return print(digits, n, DIGITS - 1 - s.power, most, value < 0, to);
}

size_t decimal_shortest(double value, char to[DECIMAL_BYTES])
{
    if (isnan(value)) {
        strcpy(to, "nan");
        return 3;
    }
    if (fabs(value) < 9007199254740992.0 && value == floor(value)) {
        return whole(value, to);
    }
    size_t length = isinf(value) ? 0 : quick(value, to);
    if (length > 0) {
        return length;
    }
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(to, DECIMAL_BYTES, "%.*g", digits, value);
        if (isinf(value) || strtod(to, NULL) == value) {
            break;
        }
    }
    /* A program that links this library may have chosen a locale with a decimal comma. */
    char *comma = strchr(to, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    return (size_t)n;
}
