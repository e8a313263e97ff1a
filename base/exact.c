/* exact: a long fixed-point accumulator in 32-bit digits with room for carries. */
#include "exact.h"

#include "exact_digits.h"

#include <string.h>

void exact_clear(Exact *sum)
{
    memset(sum, 0, sizeof *sum);
}

void exact_add(Exact *sum, int64_t v, int exponent)
{
    int shift = exponent - EXACT_LOW;
    int at = shift / 32, bits = shift % 32;
    uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    int64_t sign = v < 0 ? -1 : 1;
    uint64_t low = (m & 0xffffffff) << bits, high = (m >> 32) << bits;
    sum->limb[at] += sign * (int64_t)(low & 0xffffffff);
    if (at + 1 < EXACT_LIMBS) {
        sum->limb[at + 1] += sign * (int64_t)((low >> 32) + (high & 0xffffffff));
    }
    if (at + 2 < EXACT_LIMBS) {
        sum->limb[at + 2] += sign * (int64_t)(high >> 32);
    }
}

void exact_add_double(Exact *sum, double v)
{
    int exponent;
    double fraction = frexp(v, &exponent);
    if (v != 0) {
        exact_add(sum, (int64_t)ldexp(fraction, 53), exponent - 53);
    }
}

void exact_round(const Exact *sum, double out[2])
{
    exact_from_digits(sum->limb, EXACT_LIMBS, EXACT_LOW, out);
}
