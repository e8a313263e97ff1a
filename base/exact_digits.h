/*
 * exact_digits: from the digits of an exact sum to two doubles, the same text for C11 and for
 * OpenCL C 1.2.
 */
#ifndef BASE_EXACT_DIGITS_H
#define BASE_EXACT_DIGITS_H

#ifndef __OPENCL_C_VERSION__
#include "f64_math.h"
#endif

/* The most digits that there may be; at least 3. */
#ifndef EXACT_MOST
#define EXACT_MOST 22
#endif

/* Sign and magnitude: 32-bit words of the number; words has n + 1 elements.  True: it is below 0.
 */
static inline bool exact_magnitude(const F64_WHOLE *digit, int n, F64_WORD *word)
{
    F64_WHOLE carry = 0;
    for (int i = 0; i < n; i++) {
        F64_WHOLE v = digit[i] + carry;
        word[i] = (F64_WORD)v & 0xffffffffu;
        carry = (v - (F64_WHOLE)word[i]) / 4294967296;
    }
    word[n] = (F64_WORD)carry & 0xffffffffu;
    if (carry >= 0) {
        return false;
    }
    F64_WORD up = 1;
    for (int i = 0; i <= n; i++) {
        F64_WORD v = (~word[i] & 0xffffffffu) + up;
        word[i] = v & 0xffffffffu;
        up = v >> 32;
    }
    return true;
}

/* How many of the upper bits of v, which is not 0, are 0. */
static inline int exact_zeros(F64_WORD v)
{
    int n = 0;
    for (int step = 32; step > 0; step /= 2) {
        bool empty = v >> (64 - step) == 0;
        n += empty ? step : 0;
        v = empty ? v << step : v;
    }
    return n;
}

/*
 * high * 2 ** 64 + low, with the top bit of high set, as the double nearest to it and the double
 * nearest to what is left, all times 2 ** exponent.
 */
static inline void exact_split(F64_WORD high, F64_WORD low, int exponent, double sign, double *out)
{
    F64_WORD kept = high >> 11, rest = high & 0x7ffu;
    bool up = rest > 0x400u || (rest == 0x400u && (low != 0 || (kept & 1) != 0));
    double scale = sign * f64_power_of_two(exponent);
    out[0] = (double)(kept + (up ? 1 : 0)) * 0x1p75 * scale;
    if (up) {
        rest = 0x800u - rest - (low != 0 ? 1 : 0);
        low = ~low + 1;
        scale = -scale;
    }
    out[1] = ((double)rest * 0x1p64 + (double)low) * scale;
}

/* The sum of digit[i] * 2 ** (32 i + exponent) as two doubles; digits are less than 2 ** 62.  Bits
 * more than 127 below the top one are cut off. */
static inline void exact_from_digits(const F64_WHOLE *digit, int n, int exponent, double *out)
{
    F64_WORD word[EXACT_MOST + 2];
    double sign = exact_magnitude(digit, n, word) ? -1.0 : 1.0;
    for (int i = n + 1; i < 4; i++) {
        word[i] = 0;
    }
    int top = n > 3 ? n : 3;
    while (top > 3 && word[top] == 0) {
        top--;
    }
    F64_WORD high = word[top] << 32 | word[top - 1], low = word[top - 2] << 32 | word[top - 3];
    exponent += 32 * (top - 3);
    if (high == 0) {
        high = low;
        low = 0;
        exponent -= 64;
    }
    out[0] = out[1] = 0;
    if (high != 0) {
        int shift = exact_zeros(high);
        F64_WORD below = top > 3 ? word[top - 4] << 32 : 0;
        high = high << shift | low >> 1 >> (63 - shift);
        low = low << shift | below >> 1 >> (63 - shift);
        exact_split(high, low, exponent - shift, sign, out);
    }
}

#endif
