/* exact: a long fixed-point accumulator in 32-bit digits with room for carries. */
#include "exact.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 Wide;

/* 2^exponent for exponents of normal doubles. */
static double power_of_2(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* v * 2^exponent as two doubles; v has at most 126 bits, so that it can be rounded up. */
static void round_wide(Wide v, int exponent, double out[2])
{
    double scale = power_of_2(exponent), high = (double)v;
    out[0] = high * scale;
    out[1] = (double)(v - (Wide)high) * scale;
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

/* The 126 bits from the top bit on; what is below cannot show in two doubles. */
void exact_round(const Exact *sum, double out[2])
{
    Exact digits = *sum;
    int sign = normalise(digits.limb), top = EXACT_LIMBS - 1, shift = 30;
    while (top > 4 && digits.limb[top] == 0) {
        top--;
    }
    uint64_t high = (uint64_t)digits.limb[top] << 32 | (uint64_t)digits.limb[top - 1];
    uint64_t low = (uint64_t)digits.limb[top - 2] << 32 | (uint64_t)digits.limb[top - 3];
    while (shift > 0 && high >> (62 - shift) != 0) {
        shift--;
    }
    if (high >> 62 != 0) {
        low = low >> 2 | high << 62;
        high >>= 2;
        shift = -2;
    } else if (shift > 0) {
        high = high << shift | low >> (64 - shift);
        low = low << shift | (uint64_t)digits.limb[top - 4] >> (32 - shift);
    }
    Wide v = ((Wide)(int64_t)high << 64) + (Wide)low;
    round_wide(sign < 0 ? -v : v, 32 * (top - 3) + EXACT_LOW - shift, out);
}

void exact_join(const int64_t *digits, int n, int exponent, double out[2])
{
    if (n <= 3) {
        Wide v = 0;
        for (int i = n - 1; i >= 0; i--) {
            v = v * 4294967296 + digits[i];
        }
        round_wide(v, exponent, out);
        return;
    }
    Exact sum;
    exact_clear(&sum);
    for (int i = 0; i < n; i++) {
        exact_add(&sum, digits[i], exponent + 32 * i);
    }
    exact_round(&sum, out);
}
