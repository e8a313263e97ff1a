/* exact: a long fixed-point accumulator in 32-bit digits with room for carries. */
#include "exact.h"

#include <math.h>
#include <string.h>

/* a + b as a rounded sum and its error (Knuth). */
static void two_sum(double a, double b, double out[2])
{
    double s = a + b;
    double t = s - a;
    out[1] = (a - (s - t)) + (b - t);
    out[0] = s;
}

/* Digits 0 .. 2^32 - 1 in place of limbs; the sign of the number is returned. */
static int normalise(int64_t *limb)
{
    int64_t carry = 0;
    for (int i = 0; i < EXACT_LIMBS; i++) {
        int64_t v = limb[i] + carry;
        limb[i] = v & 0xffffffff;
        carry = (v - limb[i]) / 4294967296;
    }
    if (carry >= 0) {
        return 1;
    }
    carry = 1;
    for (int i = 0; i < EXACT_LIMBS; i++) {
        int64_t v = 0xffffffff - limb[i] + carry;
        limb[i] = v & 0xffffffff;
        carry = v >> 32;
    }
    return -1;
}

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
    Exact digits = *sum;
    int sign = normalise(digits.limb);
    out[0] = out[1] = 0;
    for (int i = EXACT_LIMBS - 1; i >= 0; i--) {
        if (digits.limb[i] != 0) {
            double tail = out[1], next[2];
            two_sum(out[0], ldexp((double)digits.limb[i], 32 * i + EXACT_LOW), next);
            two_sum(next[0], tail + next[1], out);
        }
    }
    out[0] *= sign;
    out[1] *= sign;
}
