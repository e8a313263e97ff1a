/*
 * f64_math: the elementary functions in double, the same text for C11 and for OpenCL C 1.2.
 *
 * What ir/px_math.h is for pixels, this is for whole-image values, weights and the formulae of
 * measures: built from + - * /, fma, sqrt, rint and integer arithmetic alone, never contracted, so
 * that the compiler, the host of a run, the evaluator and every device get the same bits.
 *
 * Results are within one unit in the last place over the full range, denormals included; special
 * cases are those of C99, and a NaN that comes out is always the same NaN.  Numbers that need more
 * than 53 bits on the way are unevaluated sums hi + lo of two doubles (T. J. Dekker, 1971).
 * Polynomials are Chebyshev fits, their coefficients rounded to double.
 */
#ifndef BASE_F64_MATH_H
#define BASE_F64_MATH_H

#ifdef __OPENCL_C_VERSION__

#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma clang diagnostic ignored "-Wunused-function"
#define F64_TABLE constant
#define F64_WORD ulong
#define F64_WHOLE long
#define f64_bits(x) as_ulong(x)
#define f64_from_bits(b) as_double((ulong)(b))
#define f64_product_high(a, b) mul_hi((ulong)(a), (ulong)(b))

#else

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define F64_TABLE static const
#define F64_WORD uint64_t
#define F64_WHOLE int64_t

static inline uint64_t f64_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline double f64_from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* The upper 64 of the product's 128 bits. */
static inline uint64_t f64_product_high(uint64_t a, uint64_t b)
{
    uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xffffffff);
    return ah * bh + (middle >> 32) + (other >> 32);
}

#endif

/* ---- parts ----------------------------------------------------------------------------- */

typedef struct F64Pair {
    double hi, lo; /* their sum is meant */
} F64Pair;

static inline F64Pair f64_pair(double hi, double lo)
{
    F64Pair p;
    p.hi = hi;
    p.lo = lo;
    return p;
}

/* a + b exactly, where |a| >= |b| or a is 0. */
static inline F64Pair f64_sum(double a, double b)
{
    double s = a + b;
    return f64_pair(s, b - (s - a));
}

static inline F64Pair f64_times(F64Pair a, F64Pair b)
{
    double p = a.hi * b.hi;
    return f64_pair(p, fma(a.hi, b.hi, -p) + fma(a.hi, b.lo, a.lo * b.hi));
}

/* (n.hi + n.lo) / (d.hi + d.lo) */
static inline F64Pair f64_quotient(F64Pair n, F64Pair d)
{
    double q = n.hi / d.hi;
    return f64_pair(q, (fma(-q, d.hi, n.hi) + (n.lo - q * d.lo)) / d.hi);
}

static inline double f64_nan(void)
{
    return f64_from_bits(0x7ff8000000000000u);
}

/* 2 ** n for n in -1022 .. 1023 */
static inline double f64_power_of_two(int n)
{
    return f64_from_bits((F64_WORD)(n + 1023) << 52);
}

/* v * 2 ** n for v near 1 and n in -2040 .. 2040, rounded once, also where it is denormal */
static inline double f64_scale(double v, int n)
{
    int half_n = n / 2;
    return v * f64_power_of_two(half_n) * f64_power_of_two(n - half_n);
}

/* ---- exponentials ---------------------------------------------------------------------- */

/* e ** (r.hi + r.lo) for |r| <= 0.3467 */
static inline F64Pair f64_exp_near_zero(F64Pair r)
{
    double p = fma(r.hi, 0x1.61b2cab08aa6ap-33, 0x1.1f7315649f2d7p-29);
    p = fma(r.hi, p, 0x1.ae643440b654bp-26);
    p = fma(r.hi, p, 0x1.27e4db5bb725ap-22);
    p = fma(r.hi, p, 0x1.71de3a5906976p-19);
    p = fma(r.hi, p, 0x1.a01a01a6db488p-16);
    p = fma(r.hi, p, 0x1.a01a01a019b27p-13);
    p = fma(r.hi, p, 0x1.6c16c16c162cfp-10);
    p = fma(r.hi, p, 0x1.1111111111111p-7);
    p = fma(r.hi, p, 0x1.5555555555556p-5);
    p = fma(r.hi, p, 0x1.5555555555555p-3);
    double z = r.hi * r.hi, zl = fma(r.hi, r.hi, -z);
    F64Pair line = f64_sum(1.0, r.hi);
    F64Pair square = f64_sum(line.hi, 0.5 * z);
    double rest = fma(r.hi, r.lo, r.lo) + (line.lo + square.lo + 0.5 * zl);
    return f64_sum(square.hi, fma(r.hi * z, p, rest));
}

/* e ** (x.hi + x.lo) = result * 2 ** *k, for |x| <= 800 */
static inline F64Pair f64_exp_parts(F64Pair x, int *k)
{
    double n = rint(x.hi * 0x1.71547652b82fep+0);
    *k = (int)n;
    /* ln 2 in two parts; n times the first is exact */
    double r = fma(-n, 0x1.62e42fefa38p-1, x.hi);
    double hi = fma(-n, 0x1.ef35793c7673p-45, r);
    double lo = fma(-n, 0x1.ef35793c7673p-45, r - hi) + x.lo;
    F64Pair near = f64_sum(hi, lo);
    return f64_exp_near_zero(near);
}

static inline double f64_exp_of(F64Pair x)
{
    int k;
    F64Pair e = f64_exp_parts(x, &k);
    return f64_scale(e.hi, k);
}

static inline double f64_exp(double x)
{
    double inside = x > -800.0 ? (x < 800.0 ? x : 800.0) : -800.0;
    return x != x ? f64_nan() : f64_exp_of(f64_pair(inside, 0.0));
}

static inline double f64_exp2(double x)
{
    double inside = x > -1200.0 ? (x < 1200.0 ? x : 1200.0) : -1200.0, n = rint(inside);
    F64Pair ln2 = f64_pair(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
    F64Pair e = f64_exp_near_zero(f64_times(f64_pair(inside - n, 0.0), ln2));
    return x != x ? f64_nan() : f64_scale(e.hi, (int)n);
}

/* ---- logarithms and powers ------------------------------------------------------------- */

/*
 * x = m * 2 ** *k with m between sqrt(1/2) and sqrt(2), for positive finite x; returns ln(m),
 * which is 2 atanh(t) for t = (m - 1) / (m + 1), good to some 70 bits.
 */
static inline F64Pair f64_log_parts(double x, int *k)
{
    int e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    F64_WORD bits = f64_bits(x) - 0x3fe6a09e667f3bcdu;
    *k = e + (int)((F64_WHOLE)bits >> 52);
    double m = f64_from_bits((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);

    F64Pair d = m > 1.0 ? f64_sum(m, 1.0) : f64_sum(1.0, m);
    F64Pair t = f64_quotient(f64_pair(m - 1.0, 0.0), d), s = f64_times(t, t);
    double p = fma(s.hi, 0x1.b2e4e67eba775p-5, 0x1.acf7e0d5b9a26p-5);
    p = fma(s.hi, p, 0x1.e1effe75d53acp-5);
    p = fma(s.hi, p, 0x1.1110f7fc82ca4p-4);
    p = fma(s.hi, p, 0x1.3b13b16b6085ep-4);
    p = fma(s.hi, p, 0x1.745d1745a3d74p-4);
    p = fma(s.hi, p, 0x1.c71c71c71c823p-4);
    p = fma(s.hi, p, 0x1.2492492492492p-3);
    /* atanh(t) / t - 1 = s (1/3 + s (1/5 + s p)) with s = t t; thirds and fifths as pairs */
    F64Pair fifth = f64_sum(0x1.999999999999ap-3, s.hi * p);
    fifth.lo -= 0x1.999999999999ap-57;
    F64Pair by_s = f64_times(s, fifth), third = f64_sum(0x1.5555555555555p-2, by_s.hi);
    third.lo += by_s.lo + 0x1.5555555555555p-56;
    F64Pair u = f64_times(f64_times(s, third), t), sum = f64_sum(t.hi, u.hi);
    sum = f64_sum(sum.hi, sum.lo + (u.lo + t.lo));
    return f64_pair(2.0 * sum.hi, 2.0 * sum.lo);
}

/*
 * The logarithm of positive finite x to the base whose 1 / ln(base) is `factor` and whose log of 2
 * is kh + kl, kh short enough for exact products.
 */
static inline F64Pair f64_log_to_base(double x, F64Pair factor, double kh, double kl)
{
    int k;
    F64Pair m = f64_times(f64_log_parts(x, &k), factor);
    F64Pair sum = f64_sum((double)k * kh, m.hi);
    return f64_sum(sum.hi, sum.lo + fma((double)k, kl, m.lo));
}

/* log(x) at 0, infinity, NaN and below 0 */
static inline double f64_log_special(double x)
{
    return x == 0.0 ? -(double)INFINITY : x > 0.0 ? x : f64_nan();
}

static inline bool f64_log_is_special(double x)
{
    return !(x > 0.0 && x < (double)INFINITY);
}

static inline F64Pair f64_log_of(double x)
{
    return f64_log_to_base(x, f64_pair(1.0, 0.0), 0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45);
}

static inline double f64_log(double x)
{
    return f64_log_is_special(x) ? f64_log_special(x) : f64_log_of(x).hi;
}

static inline double f64_log2(double x)
{
    F64Pair factor = f64_pair(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
    return f64_log_is_special(x) ? f64_log_special(x) : f64_log_to_base(x, factor, 1.0, 0.0).hi;
}

static inline double f64_log10(double x)
{
    if (f64_log_is_special(x)) {
        return f64_log_special(x);
    }
    F64Pair factor = f64_pair(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
    return f64_log_to_base(x, factor, 0x1.34413509f78p-2, 0x1.fef311f12b358p-46).hi;
}

/* |x| ** y for finite x and y, x not 0 */
static inline double f64_pow_of(double x, double y)
{
    F64Pair p = f64_times(f64_log_of(fabs(x)), f64_pair(y, 0.0));
    if (!(fabs(p.hi) < 800.0)) {
        p = f64_pair(p.hi > 0.0 ? 800.0 : -800.0, 0.0);
    }
    return f64_exp_of(p);
}

static inline double f64_pow(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    bool whole = rint(y) == y;
    bool odd = whole && b < 0x1p53 && ((F64_WHOLE)y & 1) != 0;
    double sign = odd ? copysign(1.0, x) : 1.0;
    if (x == 1.0 || y == 0.0 || (x == -1.0 && b == (double)INFINITY)) {
        return 1.0;
    }
    if (x != x || y != y) {
        return f64_nan();
    }
    if (b == (double)INFINITY) {
        return (a < 1.0) == (y < 0.0) ? (double)INFINITY : 0.0;
    }
    if (a == 0.0 || a == (double)INFINITY) {
        return (a == 0.0) == (y < 0.0) ? sign * (double)INFINITY : sign * 0.0;
    }
    if (x < 0.0 && !whole) {
        return f64_nan();
    }
    return sign * f64_pow_of(x, y);
}

/* ---- sine, cosine, tangent ------------------------------------------------------------- */

/* 2 / pi in binary, after 64 zeros */
F64_TABLE F64_WORD F64_TWO_OVER_PI[21] = {0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u,
                                          0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
                                          0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
                                          0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
                                          0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u,
                                          0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau,
                                          0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du};

/* 64 bits of 2 / pi from bit `shift` of a word on, shift in 0 .. 63 */
static inline F64_WORD f64_two_over_pi(int word, int shift)
{
    return F64_TWO_OVER_PI[word] << shift | F64_TWO_OVER_PI[word + 1] >> 1 >> (63 - shift);
}

/* top * 2 ** 128 + middle * 2 ** 64 + low, times 2 ** -190 */
static inline F64Pair f64_fraction(F64_WORD top, F64_WORD middle, F64_WORD low)
{
    F64Pair a = f64_sum((double)(top >> 32) * 0x1p-30, (double)(top & 0xffffffffu) * 0x1p-62);
    F64Pair b = f64_sum(a.hi, (double)(middle >> 32) * 0x1p-94);
    F64Pair c = f64_sum(b.hi, (double)(middle & 0xffffffffu) * 0x1p-126);
    return f64_sum(c.hi, c.lo + (b.lo + a.lo) + (double)(low >> 32) * 0x1p-158);
}

/*
 * x = *quadrant * pi / 2 + result, |result| <= pi / 4, for every finite x.  Multiplies the 53 bits
 * of x by those 192 bits of 2 / pi that matter (M. H. Payne and R. N. Hanek, 1983): the upper bits
 * of the product are 2 of quadrant and 190 of fraction.
 */
static inline F64Pair f64_reduce_angle(double x, int *quadrant)
{
    *quadrant = 0;
    if (fabs(x) <= 0x1.921fb54442d18p-1) {
        return f64_pair(x, 0.0);
    }
    F64_WORD bits = f64_bits(fabs(x));
    F64_WORD m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
    int place = (int)(bits >> 52) - 1013, word = place >> 6, shift = place & 63;
    F64_WORD w0 = f64_two_over_pi(word, shift), w1 = f64_two_over_pi(word + 1, shift);
    F64_WORD w2 = f64_two_over_pi(word + 2, shift);
    F64_WORD low = m * w2, carry = f64_product_high(m, w2), middle = m * w1 + carry;
    F64_WORD top = m * w0 + f64_product_high(m, w1) + (middle < carry ? 1 : 0);

    F64_WORD n = (top + 0x2000000000000000u) >> 62;
    top -= n << 62;
    bool below = top >> 63 != 0;
    if (below) {
        low = ~low + 1;
        middle = ~middle + (low == 0 ? 1 : 0);
        top = ~top + (low == 0 && middle == 0 ? 1 : 0);
    }
    F64Pair r = f64_times(f64_fraction(top, middle, low), f64_pair(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54));
    *quadrant = (int)(x < 0.0 ? 4 - n : n) & 3;
    return below != (x < 0.0) ? f64_pair(-r.hi, -r.lo) : r;
}

static inline F64Pair f64_sin_near_zero(F64Pair r)
{
    double z = r.hi * r.hi;
    double p = fma(z, -0x1.ab17bdcbd3414p-41, 0x1.61217ee5cca1bp-33);
    p = fma(z, p, -0x1.ae64541295cdfp-26);
    p = fma(z, p, 0x1.71de3a54607a5p-19);
    p = fma(z, p, -0x1.a01a01a019937p-13);
    p = fma(z, p, 0x1.111111111111p-7);
    p = fma(z, p, -0x1.5555555555555p-3);
    return f64_sum(r.hi, fma(r.hi * z, p, r.lo * fma(-0.5, z, 1.0)));
}

static inline F64Pair f64_cos_near_zero(F64Pair r)
{
    double z = r.hi * r.hi, zl = fma(r.hi, r.hi, -z);
    double p = fma(z, 0x1.ab78473be59d7p-45, -0x1.9394b9eb4d56dp-37);
    p = fma(z, p, 0x1.1eed8deb82809p-29);
    p = fma(z, p, -0x1.27e4fb7712ca2p-22);
    p = fma(z, p, 0x1.a01a01a019d0ap-16);
    p = fma(z, p, -0x1.6c16c16c16c16p-10);
    p = fma(z, p, 0x1.5555555555555p-5);
    F64Pair w = f64_sum(1.0, -0.5 * z);
    double rest = fma(z * z, p, fma(-r.hi, r.lo, -0.5 * zl));
    return f64_sum(w.hi, w.lo + rest);
}

/* The sine of x plus `turns` quarter turns. */
static inline double f64_sin_turned(double x, int turns)
{
    if (!(fabs(x) < (double)INFINITY)) {
        return f64_nan();
    }
    int quadrant;
    F64Pair r = f64_reduce_angle(x, &quadrant);
    quadrant += turns;
    double v = quadrant & 1 ? f64_cos_near_zero(r).hi : f64_sin_near_zero(r).hi;
    return quadrant & 2 ? -v : v;
}

static inline double f64_sin(double x)
{
    return fabs(x) < 0x1p-27 ? x : f64_sin_turned(x, 0);
}

static inline double f64_cos(double x)
{
    return f64_sin_turned(x, 1);
}

static inline double f64_tan(double x)
{
    if (!(fabs(x) < (double)INFINITY)) {
        return f64_nan();
    }
    if (fabs(x) < 0x1p-27) {
        return x;
    }
    int quadrant;
    F64Pair r = f64_reduce_angle(x, &quadrant);
    F64Pair s = f64_sin_near_zero(r), c = f64_cos_near_zero(r);
    F64Pair q = quadrant & 1 ? f64_quotient(c, s) : f64_quotient(s, c);
    return quadrant & 1 ? -(q.hi + q.lo) : q.hi + q.lo;
}

/* ---- their inverses -------------------------------------------------------------------- */

/* asin(x) = x + x * result, for z = x * x <= 1/4 */
static inline double f64_asin_rest(double z)
{
    double p = fma(z, 0x1.e529c6fce9bb4p-6, -0x1.3b416bb7d9257p-6);
    p = fma(z, p, 0x1.406192d124629p-6);
    p = fma(z, p, 0x1.8f193743418ffp-9);
    p = fma(z, p, 0x1.31622469ce5adp-7);
    p = fma(z, p, 0x1.3b49de7121487p-7);
    p = fma(z, p, 0x1.7b027ee1dd585p-7);
    p = fma(z, p, 0x1.c990ad3d8fdcap-7);
    p = fma(z, p, 0x1.1c4efce23019fp-6);
    p = fma(z, p, 0x1.6e8ba123e494cp-6);
    p = fma(z, p, 0x1.f1c71c7a52ba3p-6);
    p = fma(z, p, 0x1.6db6db6dac1ep-5);
    p = fma(z, p, 0x1.3333333333388p-4);
    p = fma(z, p, 0x1.5555555555555p-3);
    return z * p;
}

/* acos(a) for a in 1/2 .. 1, which is 2 asin(sqrt((1 - a) / 2)) */
static inline F64Pair f64_acos_near_one(double a)
{
    double z = 0.5 * (1.0 - a);
    double s = sqrt(z);
    double sl = s > 0.0 ? 0.5 * fma(-s, s, z) / s : 0.0;
    return f64_pair(2.0 * s, 2.0 * fma(s, f64_asin_rest(z), sl));
}

/* pi / 2 times `quarters` (1 or 2) minus p */
static inline F64Pair f64_minus_from_pi(double quarters, F64Pair p)
{
    F64Pair d = f64_sum(quarters * 0x1.921fb54442d18p+0, -p.hi);
    return f64_pair(d.hi, d.lo + fma(quarters, 0x1.1a62633145c07p-54, -p.lo));
}

static inline double f64_asin(double x)
{
    double a = fabs(x);
    if (!(a <= 1.0)) {
        return f64_nan();
    }
    if (a < 0.5) {
        return a < 0x1p-27 ? x : fma(x, f64_asin_rest(x * x), x);
    }
    F64Pair r = f64_minus_from_pi(1.0, f64_acos_near_one(a));
    return copysign(r.hi + r.lo, x);
}

static inline double f64_acos(double x)
{
    double a = fabs(x);
    if (!(a <= 1.0)) {
        return f64_nan();
    }
    F64Pair r;
    if (a < 0.5) {
        r = f64_minus_from_pi(1.0, f64_pair(x, x * f64_asin_rest(x * x)));
    } else {
        r = f64_acos_near_one(a);
        if (x < 0.0) {
            r = f64_minus_from_pi(2.0, r);
        }
    }
    return r.hi + r.lo;
}

/* atan(t.hi + t.lo) for |t| <= tan(pi / 8) */
static inline F64Pair f64_atan_near_zero(F64Pair t)
{
    double z = t.hi * t.hi;
    double p = fma(z, 0x1.0ad10221730d6p-6, -0x1.1b32a3266af2ep-5);
    p = fma(z, p, 0x1.74dd67f0d3109p-5);
    p = fma(z, p, -0x1.ac7a7bd8f05cp-5);
    p = fma(z, p, 0x1.e19a10824a50bp-5);
    p = fma(z, p, -0x1.110e87e6a8722p-4);
    p = fma(z, p, 0x1.3b1392d7e8f74p-4);
    p = fma(z, p, -0x1.745d165de250bp-4);
    p = fma(z, p, 0x1.c71c71c3045bap-4);
    p = fma(z, p, -0x1.249249248d7e6p-3);
    p = fma(z, p, 0x1.9999999999953p-3);
    p = fma(z, p, -0x1.5555555555555p-2);
    return f64_sum(t.hi, fma(t.hi * z, p, fma(-z, t.lo, t.lo)));
}

/* atan(n / d) for 0 <= n <= d; above tan(pi / 8) it is pi / 4 + atan((n - d) / (n + d)) */
static inline F64Pair f64_atan_of_ratio(double n, double d)
{
    double scale = d > 0x1p500 ? 0x1p-600 : d < 0x1p-500 ? 0x1p600 : 1.0;
    double top = n * scale, bottom = d * scale;
    if (top > 0.41421356 * bottom) {
        F64Pair t = f64_quotient(f64_sum(-bottom, top), f64_sum(bottom, top));
        F64Pair a = f64_atan_near_zero(t), sum = f64_sum(0x1.921fb54442d18p-1, a.hi);
        return f64_sum(sum.hi, sum.lo + (a.lo + 0x1.1a62633145c07p-55));
    }
    double t = d > 0.0 ? n / d : 0.0;
    double rest = t > 0x1p-100 ? fma(-t, bottom, top) / bottom : 0.0;
    return f64_atan_near_zero(f64_pair(t, rest));
}

static inline double f64_atan2(double y, double x)
{
    if (x != x || y != y) {
        return f64_nan();
    }
    double a = fabs(y), b = fabs(x);
    if (a == (double)INFINITY && b == (double)INFINITY) {
        a = b = 1.0;
    }
    F64Pair r = f64_pair(0.0, 0.0);
    if (a < (double)INFINITY && b < (double)INFINITY) {
        r = f64_atan_of_ratio(a < b ? a : b, a < b ? b : a);
    }
    if (a > b) {
        r = f64_minus_from_pi(1.0, r);
    }
    if (copysign(1.0, x) < 0.0) {
        r = f64_minus_from_pi(2.0, r);
    }
    return copysign(r.hi + r.lo, y);
}

static inline double f64_atan(double x)
{
    return f64_atan2(x, 1.0);
}

/* ---- hyperbolic functions -------------------------------------------------------------- */

/* (e ** a + sign * e ** -a) / 2 for a >= 1/4 */
static inline double f64_half_exp_sum(double a, double sign)
{
    int k;
    F64Pair e = f64_exp_parts(f64_pair(a < 800.0 ? a : 800.0, 0.0), &k);
    double power = f64_power_of_two(-2 * (k < 60 ? k : 60));
    F64Pair other = f64_quotient(f64_pair(power, 0.0), e);
    F64Pair sum = f64_sum(e.hi, sign * other.hi);
    return f64_scale(sum.hi + (sum.lo + (e.lo + sign * other.lo)), k - 1);
}

static inline double f64_sinh(double x)
{
    double a = fabs(x);
    if (x != x) {
        return f64_nan();
    }
    if (a < 0.25) {
        double z = x * x;
        double p = fma(z, 0x1.aed2ecc78d37cp-26, 0x1.71de2e378db0ap-19);
        p = fma(z, p, 0x1.a01a01a12f6bep-13);
        p = fma(z, p, 0x1.1111111111086p-7);
        p = fma(z, p, 0x1.5555555555555p-3);
        return a < 0x1p-27 ? x : fma(x * z, p, x);
    }
    return copysign(f64_half_exp_sum(a, -1.0), x);
}

static inline double f64_cosh(double x)
{
    return x != x ? f64_nan() : f64_half_exp_sum(fabs(x), 1.0);
}

static inline double f64_tanh(double x)
{
    double a = fabs(x);
    if (x != x) {
        return f64_nan();
    }
    if (a < 0.25) {
        double z = x * x;
        double p = fma(z, 0x1.17c1f674f0a5fp-11, -0x1.7c29b0e14d1bbp-10);
        p = fma(z, p, 0x1.d6c9e87e879a1p-9);
        p = fma(z, p, -0x1.226e22dcef9fep-7);
        p = fma(z, p, 0x1.664f485d22182p-6);
        p = fma(z, p, -0x1.ba1ba1b9f6064p-5);
        p = fma(z, p, 0x1.111111111109ep-3);
        p = fma(z, p, -0x1.5555555555555p-2);
        return a < 0x1p-27 ? x : fma(x * z, p, x);
    }
    int k;
    F64Pair e = f64_exp_parts(f64_pair(a < 22.0 ? 2.0 * a : 44.0, 0.0), &k);
    double power = f64_power_of_two(k);
    F64Pair n = f64_sum(e.hi * power, -1.0), d = f64_sum(e.hi * power, 1.0);
    n.lo += e.lo * power;
    d.lo += e.lo * power;
    F64Pair q = f64_quotient(n, d);
    return copysign(q.hi + q.lo, x);
}

/* ---- cube root ------------------------------------------------------------------------- */

static inline double f64_cbrt(double x)
{
    double a = fabs(x);
    if (x != x) {
        return f64_nan();
    }
    if (a == 0.0 || a == (double)INFINITY) {
        return x;
    }
    int e = 0;
    if (a < 0x1p-1022) {
        a *= 0x1p54;
        e = -18;
    }
    /* a = m * 8 ** third, m in 1 .. 8 */
    F64_WORD bits = f64_bits(a);
    int third = (int)(bits >> 52) / 3 - 341;
    double m = f64_from_bits(bits - ((F64_WORD)(3 * third) << 52));

    /* a guess to 5 bits from a third of the exponent, then Halley's steps and Newton's */
    double t = f64_from_bits(f64_bits(m) / 3u + 0x2a9f789300000000u);
    for (int i = 0; i < 2; i++) {
        double cube = t * t * t;
        t = t * (m + m + cube) / (m + cube + cube);
    }
    double square = t * t;
    double residue = fma(square, t, -m) + fma(t, t, -square) * t;
    t = t - residue / (3.0 * square);
    return copysign(t * f64_power_of_two(third + e), x);
}

/* ---- division -------------------------------------------------------------------------- */

/*
 * Python's % and //: the rest is exact, rounded once where b is added to a negative one (positive, if b is
 * negative), and has b's sign; the quotient is the one that it belongs to.  a / b may be rounded up to a whole number
 * that a does not reach, which the sign of a - q b shows; it has no more digits than a and b as long as q
 * is below 2 ** 52.  Beyond, powers of two times b are taken away one after the other.
 */
static inline double f64_rest_of_many(double a, double b)
{
    double left = fabs(a), least = fabs(b);
    if (!(left < INFINITY) || !(least > 0)) {
        return f64_nan();
    }
    double part = least;
    while (part <= left * 0.5) {
        part *= 2;
    }
    for (; part >= least; part *= 0.5) {
        left -= left >= part ? part : 0;
    }
    return a < 0 ? -left : left;
}

static inline double f64_rest(double a, double b)
{
    double q = floor(a / b);
    double rest = q == 0 ? a : fabs(q) < 0x1p52 ? fma(-q, b, a) : f64_rest_of_many(a, b);
    if (rest == 0) {
        return copysign(rest, b);
    }
    bool other = b < 0 ? rest > 0 : rest < 0;
    return other ? rest + b : rest;
}

static inline double f64_floored(double a, double b)
{
    double q = floor(a / b);
    double rest = q == 0 ? a : fabs(q) < 0x1p53 ? fma(-q, b, a) : 0;
    if (q != q) {
        return f64_nan();
    }
    bool other = b < 0 ? rest > 0 : rest < 0;
    return other ? q - 1 : q;
}

/* ---- numbers of f32 beside a number ------------------------------------------------------ */

#ifdef __OPENCL_C_VERSION__
#define f64_rounded_down(x) convert_float_rtn(x)
#else

static inline float f64_rounded_down(double x)
{
    float nearest = (float)x;
    return (double)nearest > x ? nextafterf(nearest, -INFINITY) : nearest;
}

#endif

/* The largest f32 that is not above x, the smallest that is not below. */
static inline double f64_f32_below(double x)
{
    return x != x ? f64_nan() : (double)f64_rounded_down(x);
}

static inline double f64_f32_above(double x)
{
    return x != x ? f64_nan() : -(double)f64_rounded_down(-x);
}

#endif
