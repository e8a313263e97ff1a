/*
 * soft_double: numbers of IEEE 754's binary64 in integer arithmetic, the same text for C11 and for OpenCL C 1.2.
 *
 * For devices without double precision (runtime/device/soften.h).  Every operation rounds to the nearest, ties to
 * even, subnormal results too; a NaN that comes out is always the same one.  On the way a significand has its first
 * bit at 62, and bit 0 says whether anything was lost below it ("jammed"), which is all that rounding asks.
 * Functions that are not small stay functions: there are hundreds of calls in some kernels.
 */
#ifndef BASE_SOFT_DOUBLE_H
#define BASE_SOFT_DOUBLE_H

#ifdef __OPENCL_C_VERSION__

#define SOFT_WORD ulong
#define SOFT_WHOLE long
#define soft_zeros(m) ((int)clz((ulong)(m)))
#define soft_product_high(a, b) mul_hi((ulong)(a), (ulong)(b))
#define soft_float_bits(x) as_uint(x)
#define soft_float_from_bits(b) as_float((uint)(b))
#define SOFT_SMALL static inline __attribute__((always_inline))
#define SOFT_LARGE static __attribute__((noinline))

#else

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef unsigned int uint;
#define SOFT_WORD uint64_t
#define SOFT_WHOLE int64_t
#define soft_zeros(m) __builtin_clzll((unsigned long long)(m))
#define SOFT_SMALL static inline
#define SOFT_LARGE static inline

/* The upper 64 of the product's 128 bits. */
SOFT_SMALL uint64_t soft_product_high(uint64_t a, uint64_t b)
{
    const uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xffffffff);
    return ah * bh + (middle >> 32) + (other >> 32);
}

SOFT_SMALL uint soft_float_bits(float x)
{
    uint b;
    memcpy(&b, &x, sizeof b);
    return b;
}

SOFT_SMALL float soft_float_from_bits(uint b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

#endif

#define SOFT_SIGN 0x8000000000000000u
#define SOFT_INFINITY 0x7ff0000000000000u
#define SOFT_FRACTION 0x000fffffffffffffu
#define SOFT_ONE 0x0010000000000000u /* of a significand */

/* A structure, so that no operator of the language takes one by mistake. */
typedef struct SoftDouble {
    SOFT_WORD bits;
} SoftDouble;

SOFT_SMALL SoftDouble soft_from_bits(SOFT_WORD bits)
{
    SoftDouble x;
    x.bits = bits;
    return x;
}

SOFT_SMALL SoftDouble soft_nan(void)
{
    return soft_from_bits(0x7ff8000000000000u);
}

/* ---- parts ----------------------------------------------------------------------------- */

SOFT_SMALL int soft_exponent(SoftDouble a)
{
    return (int)(a.bits >> 52) & 0x7ff;
}

SOFT_SMALL SOFT_WORD soft_sign(SoftDouble a)
{
    return a.bits & SOFT_SIGN;
}

SOFT_SMALL SOFT_WORD soft_magnitude(SoftDouble a)
{
    return a.bits & ~SOFT_SIGN;
}

SOFT_SMALL int soft_isnan(SoftDouble a)
{
    return soft_magnitude(a) > SOFT_INFINITY;
}

SOFT_SMALL int soft_isinf(SoftDouble a)
{
    return soft_magnitude(a) == SOFT_INFINITY;
}

SOFT_SMALL int soft_isfinite(SoftDouble a)
{
    return soft_magnitude(a) < SOFT_INFINITY;
}

/* m / 2 ** n for n >= 0, with bit 0 set where anything is lost. */
SOFT_SMALL SOFT_WORD soft_jam(SOFT_WORD m, int n)
{
    const int shift = n & 63;
    const bool lost = (m & (((SOFT_WORD)1 << shift) - 1)) != 0;
    return n > 63 ? (m != 0 ? 1 : 0) : m >> shift | (lost ? 1 : 0);
}

/* The number with significand m, whose first bit is at 62, and biased exponent e. */
SOFT_SMALL SoftDouble soft_pack(SOFT_WORD sign, int e, SOFT_WORD m)
{
    m = e < 1 ? soft_jam(m, 1 - e) : m;
    e = e < 1 ? 1 : e;
    const SOFT_WORD tie = (m & 0x3ff) == 0x200 ? 1 : 0;
    m = (m + 0x200) >> 10 & ~tie;
    return soft_from_bits(sign | (e > 2046 ? SOFT_INFINITY : ((SOFT_WORD)(e - 1) << 52) + m));
}

/* The significand of a finite number other than 0 with its first bit at 52, *e its biased exponent. */
SOFT_SMALL SOFT_WORD soft_unpack(SoftDouble a, int *e)
{
    const SOFT_WORD m = a.bits & SOFT_FRACTION;
    const int known = soft_exponent(a), shift = known == 0 ? soft_zeros(m) - 11 : 0;
    *e = known == 0 ? 1 - shift : known;
    return known == 0 ? m << shift : m | SOFT_ONE;
}

/* ---- sums ------------------------------------------------------------------------------ */

SOFT_SMALL SoftDouble soft_neg(SoftDouble a)
{
    return soft_from_bits(a.bits ^ SOFT_SIGN);
}

SOFT_SMALL SoftDouble soft_fabs(SoftDouble a)
{
    return soft_from_bits(soft_magnitude(a));
}

SOFT_LARGE SoftDouble soft_add(SoftDouble x, SoftDouble y)
{
    const bool swap = soft_magnitude(x) < soft_magnitude(y);
    const SoftDouble a = swap ? y : x, b = swap ? x : y; /* |a| >= |b| */
    const bool minus = soft_sign(a) != soft_sign(b);
    if (!soft_isfinite(a)) {
        return soft_isnan(a) || (minus && soft_isinf(b)) ? soft_nan() : a;
    }
    const int known_a = soft_exponent(a), known_b = soft_exponent(b);
    int e = known_a > 0 ? known_a : 1;
    const SOFT_WORD ma = ((a.bits & SOFT_FRACTION) | (known_a > 0 ? SOFT_ONE : 0)) << 10;
    const SOFT_WORD mb = ((b.bits & SOFT_FRACTION) | (known_b > 0 ? SOFT_ONE : 0)) << 10;
    const SOFT_WORD moved = soft_jam(mb, e - (known_b > 0 ? known_b : 1));
    SOFT_WORD m = minus ? ma - moved : ma + moved;
    if (m == 0) {
        return soft_from_bits(minus ? 0 : soft_sign(a));
    }
    if (m >> 63 != 0) {
        return soft_pack(soft_sign(a), e + 1, soft_jam(m, 1));
    }
    const int shift = soft_zeros(m) - 1;
    return soft_pack(soft_sign(a), e - shift, m << shift);
}

SOFT_SMALL SoftDouble soft_sub(SoftDouble a, SoftDouble b)
{
    return soft_add(a, soft_neg(b));
}

/* ---- products -------------------------------------------------------------------------- */

SOFT_LARGE SoftDouble soft_mul(SoftDouble a, SoftDouble b)
{
    const SOFT_WORD sign = soft_sign(a) ^ soft_sign(b), x = soft_magnitude(a), y = soft_magnitude(b);
    if (!soft_isfinite(a) || !soft_isfinite(b)) {
        return soft_isnan(a) || soft_isnan(b) || x == 0 || y == 0 ? soft_nan() : soft_from_bits(sign | SOFT_INFINITY);
    }
    if (x == 0 || y == 0) {
        return soft_from_bits(sign);
    }
    int ea, eb;
    const SOFT_WORD ma = soft_unpack(a, &ea) << 10, mb = soft_unpack(b, &eb) << 11;
    const SOFT_WORD m = soft_product_high(ma, mb) | (ma * mb != 0 ? 1 : 0);
    const int carry = (int)(m >> 62);
    return soft_pack(sign, ea + eb - 1023 + carry, carry ? m : m << 1);
}

SOFT_LARGE SoftDouble soft_div(SoftDouble a, SoftDouble b)
{
    const SOFT_WORD sign = soft_sign(a) ^ soft_sign(b), x = soft_magnitude(a), y = soft_magnitude(b);
    if (soft_isnan(a) || soft_isnan(b) || (x == y && (x == 0 || x == SOFT_INFINITY))) {
        return soft_nan();
    }
    if (x == SOFT_INFINITY || y == 0) {
        return soft_from_bits(sign | SOFT_INFINITY);
    }
    if (x == 0 || y == SOFT_INFINITY) {
        return soft_from_bits(sign);
    }
    int ea, eb;
    SOFT_WORD rest = soft_unpack(a, &ea);
    const SOFT_WORD mb = soft_unpack(b, &eb);
    const int less = rest < mb ? 1 : 0;
    rest = (rest << less) - mb;
    SOFT_WORD quotient = 1;
    for (int i = 0; i < 5; i++) { /* eleven bits a time, as many as a remainder leaves room for */
        rest <<= 11;
        quotient = quotient << 11 | rest / mb;
        rest %= mb;
    }
    return soft_pack(sign, ea - eb + 1023 - less, quotient << 7 | (rest != 0 ? 1 : 0));
}

/* ---- root ------------------------------------------------------------------------------ */

/* By pairs of bits, as by hand. */
SOFT_LARGE SoftDouble soft_sqrt(SoftDouble a)
{
    if (soft_magnitude(a) == 0 || a.bits == SOFT_INFINITY) {
        return a;
    }
    if (soft_isnan(a) || soft_sign(a) != 0) {
        return soft_nan();
    }
    int e;
    SOFT_WORD m = soft_unpack(a, &e), root = 0, rest = 0;
    const int odd = (e & 1) == 0 ? 1 : 0;
    m <<= 10 + odd;
    for (int i = 0; i < 56; i++) {
        rest = rest << 2 | m >> 62;
        m <<= 2;
        const SOFT_WORD next = root << 2 | 1;
        const bool one = rest >= next;
        rest -= one ? next : 0;
        root = root << 1 | (one ? 1 : 0);
    }
    return soft_pack(0, (e - 1023 - odd) / 2 + 1023, root << 7 | (rest != 0 ? 1 : 0));
}

/* ---- product and sum, rounded once ----------------------------------------------------- */

/* 128 bits */
typedef struct SoftPair {
    SOFT_WORD hi, lo;
} SoftPair;

SOFT_SMALL SoftPair soft_pair(SOFT_WORD hi, SOFT_WORD lo)
{
    SoftPair p;
    p.hi = hi;
    p.lo = lo;
    return p;
}

SOFT_SMALL SoftPair soft_pair_up(SoftPair a, int n)
{
    const int shift = n & 63;
    return n > 63 ? soft_pair(a.lo << shift, 0) : soft_pair(a.hi << shift | a.lo >> 1 >> (63 - shift), a.lo << shift);
}

SOFT_SMALL SoftPair soft_pair_jam(SoftPair a, int n)
{
    const int shift = n & 63;
    if (n > 127) {
        return soft_pair(0, (a.hi | a.lo) != 0 ? 1 : 0);
    }
    if (n > 63) {
        return soft_pair(0, soft_jam(a.hi, shift) | (a.lo != 0 ? 1 : 0));
    }
    return soft_pair(a.hi >> shift, soft_jam(a.lo, shift) | a.hi << 1 << (63 - shift));
}

SOFT_SMALL bool soft_pair_less(SoftPair a, SoftPair b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

SOFT_LARGE SoftDouble soft_fma(SoftDouble a, SoftDouble b, SoftDouble c)
{
    const bool zero = soft_magnitude(a) == 0 || soft_magnitude(b) == 0;
    if (zero || !soft_isfinite(a) || !soft_isfinite(b) || !soft_isfinite(c)) {
        return soft_add(soft_isfinite(a) && soft_isfinite(b) && !zero ? soft_from_bits(0) : soft_mul(a, b), c);
    }
    if (soft_magnitude(c) == 0) {
        return soft_mul(a, b);
    }
    /* Both with their first bit at 125. */
    int ea, eb, ec;
    const SOFT_WORD ma = soft_unpack(a, &ea) << 10, mb = soft_unpack(b, &eb) << 10, mc = soft_unpack(c, &ec);
    SoftPair p = soft_pair(soft_product_high(ma, mb), ma * mb), q = soft_pair(mc << 9, 0);
    const int carry = (int)(p.hi >> 61);
    p = soft_pair_up(p, 1 - carry);
    int ep = ea + eb - 1023 + carry;
    SOFT_WORD sp = soft_sign(a) ^ soft_sign(b), sq = soft_sign(c);
    if (ep < ec || (ep == ec && soft_pair_less(p, q))) {
        const SoftPair other = p;
        const int e = ep;
        const SOFT_WORD s = sp;
        p = q, ep = ec, sp = sq;
        q = other, ec = e, sq = s;
    }
    q = soft_pair_jam(q, ep - ec);
    const SOFT_WORD lo = sp == sq ? p.lo + q.lo : p.lo - q.lo;
    const SOFT_WORD over = sp == sq ? (lo < p.lo ? 1 : 0) : (p.lo < q.lo ? 1 : 0);
    SoftPair sum = soft_pair(sp == sq ? p.hi + q.hi + over : p.hi - q.hi - over, lo);
    if ((sum.hi | sum.lo) == 0) {
        return soft_from_bits(0);
    }
    const int shift = (sum.hi != 0 ? soft_zeros(sum.hi) : 64 + soft_zeros(sum.lo)) - 1;
    sum = soft_pair_up(sum, shift);
    return soft_pack(sp, ep + 1 - shift, sum.hi | (sum.lo != 0 ? 1 : 0));
}

/* ---- comparisons ----------------------------------------------------------------------- */

/* Whole numbers in the order of numbers that are not NaN. */
SOFT_SMALL SOFT_WHOLE soft_order(SoftDouble a)
{
    const SOFT_WHOLE magnitude = (SOFT_WHOLE)soft_magnitude(a);
    return soft_sign(a) != 0 ? -magnitude : magnitude;
}

#define SOFT_COMPARE(NAME, OPERATOR)                                                     \
    SOFT_SMALL int soft_##NAME(SoftDouble a, SoftDouble b)                               \
    {                                                                                    \
        return !soft_isnan(a) && !soft_isnan(b) && soft_order(a) OPERATOR soft_order(b); \
    }
SOFT_COMPARE(lt, <)
SOFT_COMPARE(le, <=)
SOFT_COMPARE(gt, >)
SOFT_COMPARE(ge, >=)
SOFT_COMPARE(eq, ==)

SOFT_SMALL int soft_ne(SoftDouble a, SoftDouble b)
{
    return !soft_eq(a, b);
}

/* As a condition. */
SOFT_SMALL bool soft_true(SoftDouble a)
{
    return soft_magnitude(a) != 0;
}

SOFT_SMALL SoftDouble soft_fmin(SoftDouble a, SoftDouble b)
{
    return soft_isnan(a) || soft_lt(b, a) ? b : a;
}

SOFT_SMALL SoftDouble soft_fmax(SoftDouble a, SoftDouble b)
{
    return soft_isnan(a) || soft_gt(b, a) ? b : a;
}

SOFT_SMALL SoftDouble soft_min(SoftDouble a, SoftDouble b)
{
    return soft_lt(b, a) ? b : a;
}

SOFT_SMALL SoftDouble soft_max(SoftDouble a, SoftDouble b)
{
    return soft_lt(a, b) ? b : a;
}

SOFT_SMALL SoftDouble soft_clamp(SoftDouble a, SoftDouble low, SoftDouble high)
{
    return soft_fmin(soft_fmax(a, low), high);
}

SOFT_SMALL SoftDouble soft_copysign(SoftDouble a, SoftDouble b)
{
    return soft_from_bits(soft_magnitude(a) | soft_sign(b));
}

SOFT_SMALL int soft_signbit(SoftDouble a)
{
    return (int)(a.bits >> 63);
}

/* ---- whole parts ----------------------------------------------------------------------- */

SOFT_SMALL SoftDouble soft_trunc(SoftDouble a)
{
    const int e = soft_exponent(a) - 1023;
    const SOFT_WORD fraction = e < 0 ? ~SOFT_SIGN : e < 52 ? SOFT_FRACTION >> (e & 63) : 0;
    return soft_isnan(a) ? soft_nan() : soft_from_bits(a.bits & ~fraction);
}

/* The number of the same sign whose magnitude is one more, for whole numbers below 2 ** 52. */
SOFT_SMALL SoftDouble soft_away(SoftDouble a)
{
    return soft_add(a, soft_from_bits(0x3ff0000000000000u | soft_sign(a)));
}

SOFT_LARGE SoftDouble soft_floor(SoftDouble a)
{
    const SoftDouble whole = soft_trunc(a);
    return soft_sign(a) != 0 && soft_ne(whole, a) && !soft_isnan(a) ? soft_away(whole) : whole;
}

SOFT_SMALL SoftDouble soft_ceil(SoftDouble a)
{
    return soft_isnan(a) ? soft_nan() : soft_neg(soft_floor(soft_neg(a)));
}

/* The nearest whole number; a half goes to the even one, or else to the one further away. */
SOFT_LARGE SoftDouble soft_nearest(SoftDouble a, bool even)
{
    const SoftDouble whole = soft_trunc(a), middle = soft_from_bits(0x3fe0000000000000u);
    const SoftDouble rest = soft_fabs(soft_sub(a, whole)), halved = soft_mul(whole, middle);
    const bool odd = soft_ne(soft_trunc(halved), halved);
    const bool up = soft_gt(rest, middle) || (soft_eq(rest, middle) && (odd || !even));
    return soft_isfinite(a) && up ? soft_away(whole) : whole;
}

SOFT_SMALL SoftDouble soft_rint(SoftDouble a)
{
    return soft_nearest(a, true);
}

SOFT_SMALL SoftDouble soft_round(SoftDouble a)
{
    return soft_nearest(a, false);
}

/* ---- conversions ----------------------------------------------------------------------- */

SOFT_LARGE SoftDouble soft_of_word(SOFT_WORD sign, SOFT_WORD v)
{
    if (v == 0) {
        return soft_from_bits(0);
    }
    const int shift = soft_zeros(v);
    return soft_pack(sign, 1023 + 63 - shift, soft_jam(v << shift, 1));
}

SOFT_SMALL SoftDouble soft_of_ulong(SOFT_WORD v)
{
    return soft_of_word(0, v);
}

SOFT_SMALL SoftDouble soft_of_long(SOFT_WHOLE v)
{
    return soft_of_word(v < 0 ? SOFT_SIGN : 0, v < 0 ? (SOFT_WORD)0 - (SOFT_WORD)v : (SOFT_WORD)v);
}

SOFT_LARGE SoftDouble soft_of_float(float x)
{
    const uint bits = soft_float_bits(x), m = bits & 0x7fffffu;
    const int e = (int)(bits >> 23) & 0xff;
    const SOFT_WORD sign = (SOFT_WORD)(bits >> 31) << 63;
    if (e == 0xff) {
        return m != 0 ? soft_nan() : soft_from_bits(sign | SOFT_INFINITY);
    }
    if (e == 0) { /* m * 2 ** -149 */
        const SoftDouble whole = soft_of_word(sign, m);
        return m == 0 ? soft_from_bits(sign) : soft_from_bits(whole.bits - ((SOFT_WORD)149 << 52));
    }
    return soft_from_bits(sign | (SOFT_WORD)(e + 1023 - 127) << 52 | (SOFT_WORD)m << 29);
}

/* The f32 with significand m, whose first bit is at 30, and biased exponent e; down: the largest that is not above. */
SOFT_SMALL float soft_pack_float(uint sign, int e, SOFT_WORD m, bool down)
{
    m = e < 1 ? soft_jam(m, 1 - e) : m;
    e = e < 1 ? 1 : e;
    const SOFT_WORD lost = m & 0x7f;
    const bool up = down ? sign != 0 && lost != 0 : lost > 0x40 || (lost == 0x40 && (m & 0x80) != 0);
    const SOFT_WORD bits = ((SOFT_WORD)(e - 1) << 23) + (m >> 7) + (up ? 1 : 0);
    const uint most = down && sign == 0 ? 0x7f7fffffu : 0x7f800000u;
    return soft_float_from_bits(sign | (bits > most ? most : (uint)bits));
}

/* The f32 nearest to a, or the largest one that is not above it. */
SOFT_LARGE float soft_rounded(SoftDouble a, bool down)
{
    const uint sign = (uint)(a.bits >> 32) & 0x80000000u;
    const SOFT_WORD m = (a.bits & SOFT_FRACTION) | (soft_exponent(a) > 0 ? SOFT_ONE : 0);
    if (!soft_isfinite(a)) {
        return soft_float_from_bits(soft_isnan(a) ? 0x7fc00000u : sign | 0x7f800000u);
    }
    return soft_pack_float(sign, soft_exponent(a) - 1023 + 127, soft_jam(m, 22), down);
}

SOFT_SMALL float soft_to_float(SoftDouble a)
{
    return soft_rounded(a, false);
}

/* Fractions are cut; beyond the type it is its last number, and 0 for NaN. */
SOFT_LARGE SOFT_WORD soft_to_ulong(SoftDouble a)
{
    const int e = soft_exponent(a) - 1023;
    const SOFT_WORD m = ((a.bits & SOFT_FRACTION) | SOFT_ONE) << 11;
    if (soft_isnan(a) || soft_sign(a) != 0 || e < 0) {
        return 0;
    }
    return e > 63 ? ~(SOFT_WORD)0 : m >> (63 - e);
}

SOFT_SMALL SOFT_WHOLE soft_to_long(SoftDouble a)
{
    const SOFT_WORD v = soft_to_ulong(soft_fabs(a));
    if (soft_sign(a) != 0) {
        return v >= SOFT_SIGN ? -0x7fffffffffffffff - 1 : -(SOFT_WHOLE)v;
    }
    return v >= SOFT_SIGN ? 0x7fffffffffffffff : (SOFT_WHOLE)v;
}

/* The same, within low .. high. */
SOFT_SMALL SOFT_WHOLE soft_to_range(SoftDouble a, SOFT_WHOLE low, SOFT_WHOLE high)
{
    const SOFT_WHOLE v = soft_to_long(a);
    return v < low ? low : v > high ? high : v;
}

/* ---- f32 ------------------------------------------------------------------------------- */

/* The significand of a finite f32 other than 0 with its first bit at 23, *e its biased exponent. */
SOFT_SMALL SOFT_WORD soft_unpack_float(uint bits, int *e)
{
    const SOFT_WORD m = bits & 0x7fffffu;
    const int known = (int)(bits >> 23) & 0xff, shift = known == 0 ? soft_zeros(m) - 40 : 0;
    *e = known == 0 ? 1 - shift : known;
    return known == 0 ? m << shift : m | 0x800000u;
}

/* Finite, and not 0. */
SOFT_SMALL bool soft_is_ordinary(uint bits)
{
    return (bits & 0x7fffffffu) != 0 && (bits & 0x7f800000u) != 0x7f800000u;
}

/* x * y + z rounded once, for devices that have no such operation. */
SOFT_LARGE float soft_fma_float(float x, float y, float z)
{
    const uint a = soft_float_bits(x), b = soft_float_bits(y), c = soft_float_bits(z);
    if (!soft_is_ordinary(a) || !soft_is_ordinary(b)) {
        return x * y + z;
    }
    if (!soft_is_ordinary(c)) {
        return (c & 0x7fffffffu) == 0 ? x * y : z;
    }
    /* Both with their first bit at 61, exactly. */
    int ea, eb, eq;
    SOFT_WORD p = soft_unpack_float(a, &ea) * soft_unpack_float(b, &eb) << 14;
    SOFT_WORD q = soft_unpack_float(c, &eq) << 38;
    const int carry = (int)(p >> 61);
    int ep = ea + eb - 127 + carry;
    p <<= 1 - carry;
    uint sp = (a ^ b) & 0x80000000u, sq = c & 0x80000000u;
    if (ep < eq || (ep == eq && p < q)) {
        const SOFT_WORD m = p;
        const int e = ep;
        const uint sign = sp;
        p = q, ep = eq, sp = sq;
        q = m, eq = e, sq = sign;
    }
    q = soft_jam(q, ep - eq);
    const SOFT_WORD sum = sp == sq ? p + q : p - q;
    if (sum == 0) {
        return 0;
    }
    const int shift = soft_zeros(sum) - 1;
    return soft_pack_float(sp, ep + 1 - shift, soft_jam(sum << shift, 32), false);
}

#endif
