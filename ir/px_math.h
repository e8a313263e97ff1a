/*
 * px_math: the functions of pixel arithmetic, the same text for C11 and for OpenCL C 1.2.
 *
 * A library's exp() differs from device to device in the last bits.  These functions are built
 * from operations that IEEE 754 fixes to the bit and every device offers: + - * /, fma, sqrt,
 * rint, floor, comparisons and integer arithmetic, never contracted.  So a kernel on a GPU, the
 * same kernel on a CPU and the reference evaluator agree in every bit, denormals included.
 *
 * Results are within one unit in the last place over the full range, denormals included; special
 * cases are those of C99, and a NaN that comes out is always the same NaN.  Where f32 is too
 * narrow on the way, a number is carried as an unevaluated sum hi + lo of two floats
 * (T. J. Dekker, 1971).  Polynomials are minimax fits, their coefficients rounded to f32 one
 * after the other.
 *
 * A double handed to one of these functions is rounded to f32 first.  What compares, rounds and counts is in
 * px_whole.h.
 */
#ifndef PX_MATH_H
#define PX_MATH_H

#ifdef __OPENCL_C_VERSION__

#define PX_OPENCL
#pragma OPENCL FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wunused-function"
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef uint PxU32;
typedef ulong PxU64;
typedef long PxI64;
#define PX_TABLE constant
#define px_fma fma
#define px_sqrt sqrt
#define px_floor floor
#define px_rint rint
#define px_fabs fabs
#define px_copysign copysign
#define px_bits(x) as_uint(x)
#define px_from_bits(b) as_float((uint)(b))

#else

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
typedef uint32_t PxU32;
typedef uint64_t PxU64;
typedef int64_t PxI64;
#define PX_TABLE static const
#define px_fma fmaf
#define px_sqrt sqrtf
#define px_floor floorf
#define px_rint rintf
#define px_fabs fabsf
#define px_copysign copysignf

static inline PxU32 px_bits(float x)
{
    PxU32 b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline float px_from_bits(PxU32 b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

#endif

/* ---- parts ----------------------------------------------------------------------------- */

typedef struct PxPair {
    float hi, lo; /* their sum is meant */
} PxPair;

static inline PxPair px_pair(float hi, float lo)
{
    PxPair p;
    p.hi = hi;
    p.lo = lo;
    return p;
}

/* a + b exactly, where |a| >= |b| or a is 0. */
static inline PxPair px_sum(float a, float b)
{
    float s = a + b;
    return px_pair(s, b - (s - a));
}

/* (a.hi + a.lo) * (hi + lo) */
static inline PxPair px_times(PxPair a, float hi, float lo)
{
    float p = a.hi * hi;
    return px_pair(p, px_fma(a.hi, hi, -p) + px_fma(a.hi, lo, a.lo * hi));
}

/* (n.hi + n.lo) / (d.hi + d.lo), rounded once but for a hair */
static inline float px_ratio(PxPair n, PxPair d)
{
    float q = n.hi / d.hi;
    return q + (px_fma(-q, d.hi, n.hi) + (n.lo - q * d.lo)) / d.hi;
}

static inline float px_nan(void)
{
    return px_from_bits(0x7fc00000u);
}

/* 2 ** n for n in -126 .. 127 */
static inline float px_power_of_two(int n)
{
    return px_from_bits((PxU32)(n + 127) << 23);
}

/* v * 2 ** n for v near 1 and n in -250 .. 250, rounded once, also where it is denormal */
static inline float px_scale(float v, int n)
{
    int half_n = n / 2;
    return v * px_power_of_two(half_n) * px_power_of_two(n - half_n);
}

/* ---- exponentials ---------------------------------------------------------------------- */

/* e ** (r.hi + r.lo) for |r| <= 0.35 */
static inline PxPair px_exp_near_zero(PxPair r)
{
    float p = px_fma(r.hi, 0x1.a2507ep-13f, 0x1.6d4cecp-10f);
    p = px_fma(r.hi, p, 0x1.110ffep-7f);
    p = px_fma(r.hi, p, 0x1.5554e8p-5f);
    p = px_fma(r.hi, p, 0x1.555556p-3f);
    p = px_fma(r.hi, p, 0.5f);
    PxPair one_plus_r = px_sum(1.0f, r.hi);
    float rest = px_fma(r.hi * r.hi, p, px_fma(r.hi, r.lo, r.lo));
    return px_sum(one_plus_r.hi, one_plus_r.lo + rest);
}

/* e ** x = result * 2 ** *k, for |x| <= 110 */
static inline PxPair px_exp_parts(float x, int *k)
{
    float n = px_rint(x * 0x1.715476p0f);
    *k = (int)n;
    /* ln 2 in two parts; n times the first is exact */
    float r = px_fma(-n, 0x1.62e4p-1f, x);
    float hi = px_fma(-n, 0x1.7f7d1cp-20f, r);
    return px_exp_near_zero(px_pair(hi, px_fma(-n, 0x1.7f7d1cp-20f, r - hi)));
}

/*
 * The nearest whole number of x / ln 2 is found by adding 1.5 * 2 ** 23, which leaves it in the low
 * bits of the sum; two halves of it become powers of two, so that a denormal result is rounded
 * once.  No branches: one that only NaN takes still costs every pixel.
 */
static inline float px_exp(float x)
{
    float below = x < 100.0f ? x : 100.0f, inside = below > -110.0f ? below : -110.0f;
    float shifted = px_fma(inside, 0x1.715476p0f, 0x1.8p23f);
    float n = shifted - 0x1.8p23f;
    float r = px_fma(-n, 0x1.7f7d1cp-20f, px_fma(-n, 0x1.62e4p-1f, inside));
    float p = px_fma(r, 0x1.a2507ep-13f, 0x1.6d4cecp-10f);
    p = px_fma(r, p, 0x1.110ffep-7f);
    p = px_fma(r, p, 0x1.5554e8p-5f);
    p = px_fma(r, p, 0x1.555556p-3f);
    p = px_fma(r, p, 0.5f);
    float e = 1.0f + px_fma(r * r, p, r);
    PxU32 above = px_bits(shifted) - (0x4b400000u - 320u), half_above = above >> 1;
    float y = e * px_from_bits((half_above - 33u) << 23) * px_from_bits((above - half_above - 33u) << 23);
    return x != x ? px_nan() : y;
}

/* 2 ** (x.hi + x.lo) for |x| <= 240 */
static inline float px_exp2_of(PxPair x)
{
    float n = px_rint(x.hi);
    PxPair f = px_sum(x.hi - n, x.lo);
    PxPair e = px_exp_near_zero(px_times(f, 0x1.62e43p-1f, -0x1.05c61p-29f));
    return px_scale(e.hi + e.lo, (int)n);
}

static inline float px_exp2(float x)
{
    if (x != x) {
        return px_nan();
    }
    return px_exp2_of(px_pair(x > 200.0f ? 200.0f : x < -200.0f ? -200.0f : x, 0.0f));
}

/* ---- logarithms and powers ------------------------------------------------------------- */

/*
 * x = m * 2 ** *k with m between sqrt(1/2) and sqrt(2), for positive finite x; returns ln(m) / 2,
 * which is atanh(t) for t = (m - 1) / (m + 1), good to some 40 bits.
 */
static inline PxPair px_log_parts(float x, int *k)
{
    int e = 0;
    if (x < 0x1p-126f) {
        x *= 0x1p24f;
        e = -24;
    }
    PxU32 bits = px_bits(x) - 0x3f3504f3u;
    *k = e + ((int)bits >> 23);
    float m = px_from_bits((bits & 0x007fffffu) + 0x3f3504f3u);

    PxPair d = px_sum(1.0f, m);
    if (m > 1.0f) {
        d = px_sum(m, 1.0f);
    }
    float inverse = 1.0f / d.hi;
    float t = (m - 1.0f) * inverse;
    float tl = px_fma(-t, d.lo, px_fma(-t, d.hi, m - 1.0f)) * inverse;

    /* atanh(t) / t - 1 = s/3 + s s/5 + s s s/7 ... with s = t t; the first term as a pair */
    float s = t * t;
    float sl = px_fma(t, t, -s) + 2.0f * t * tl;
    float p = px_fma(s, 0x1.903ac2p-4f, 0x1.c640dp-4f);
    p = px_fma(s, p, 0x1.2493b2p-3f);
    p = px_fma(s, p, 0x1.999998p-3f);
    PxPair c = px_times(px_pair(s, sl), 0x1.555556p-2f, -0x1.555556p-27f);
    c.lo = px_fma(s * s, p, c.lo);
    PxPair u = px_times(c, t, tl);
    PxPair sum = px_sum(t, u.hi);
    return px_pair(sum.hi, sum.lo + (u.lo + tl));
}

/*
 * The logarithm of positive finite x to the base whose 2 / ln(base) is `twice` and whose log of 2
 * is kh + kl, kh short enough for exact products.
 */
static inline PxPair px_log_to_base(float x, PxPair twice, float kh, float kl)
{
    int k;
    PxPair m = px_times(px_log_parts(x, &k), twice.hi, twice.lo);
    PxPair sum = px_sum((float)k * kh, m.hi);
    return px_sum(sum.hi, sum.lo + px_fma((float)k, kl, m.lo));
}

/* log(x) at 0, infinity, NaN and below 0 */
static inline float px_log_special(float x)
{
    return x == 0.0f ? -INFINITY : x > 0.0f ? x : px_nan();
}

static inline bool px_log_is_special(float x)
{
    return !(x > 0.0f && x < INFINITY);
}

static inline float px_log(float x)
{
    if (px_log_is_special(x)) {
        return px_log_special(x);
    }
    return px_log_to_base(x, px_pair(2.0f, 0.0f), 0x1.62e4p-1f, 0x1.7f7d1cp-20f).hi;
}

static inline PxPair px_log2_of(float x)
{
    return px_log_to_base(x, px_pair(0x1.715476p1f, 0x1.4ae0cp-25f), 1.0f, 0.0f);
}

static inline float px_log2(float x)
{
    return px_log_is_special(x) ? px_log_special(x) : px_log2_of(x).hi;
}

static inline float px_log10(float x)
{
    if (px_log_is_special(x)) {
        return px_log_special(x);
    }
    PxPair twice = px_pair(0x1.bcb7b2p-1f, -0x1.5b235ep-26f);
    return px_log_to_base(x, twice, 0x1.344p-2f, 0x1.3509f8p-18f).hi;
}

/* |x| ** y for finite x and y, x not 0 */
static inline float px_pow_of(float x, float y)
{
    PxPair l = px_log2_of(px_fabs(x));
    PxPair p = px_times(l, y, 0.0f);
    if (!(px_fabs(p.hi) < 200.0f)) {
        p = px_pair(p.hi > 0.0f ? 200.0f : -200.0f, 0.0f);
    }
    return px_exp2_of(p);
}

static inline float px_pow(float x, float y)
{
    float a = px_fabs(x), b = px_fabs(y);
    bool whole = px_rint(y) == y;
    bool odd = whole && ((int)(b < 0x1p24f ? y : 0.0f) & 1) != 0;
    float sign = odd ? px_copysign(1.0f, x) : 1.0f;
    if (x == 1.0f || y == 0.0f || (x == -1.0f && b == INFINITY)) {
        return 1.0f;
    }
    if (x != x || y != y) {
        return px_nan();
    }
    if (b == INFINITY) {
        return (a < 1.0f) == (y < 0.0f) ? INFINITY : 0.0f;
    }
    if (a == 0.0f || a == INFINITY) {
        return (a == 0.0f) == (y < 0.0f) ? sign * INFINITY : sign * 0.0f;
    }
    if (x < 0.0f && !whole) {
        return px_nan();
    }
    return sign * px_pow_of(x, y);
}

/* ---- sine, cosine, tangent ------------------------------------------------------------- */

/* 2 / pi in binary, after 32 zeros */
PX_TABLE PxU32 PX_TWO_OVER_PI[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                    0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

/*
 * x = *quadrant * pi / 2 + result, |result| <= pi / 4, for every finite x.  Multiplies the 24 bits
 * of x by those 96 bits of 2 / pi that matter (M. H. Payne and R. N. Hanek, 1983): the upper 64
 * of the product are 2 bits of quadrant and 62 of fraction, true to the last bit but one.
 */
static inline PxPair px_reduce_angle(float x, int *quadrant)
{
    *quadrant = 0;
    if (px_fabs(x) <= 0x1.921fb6p-1f) {
        return px_pair(x, 0.0f);
    }
    PxU32 bits = px_bits(px_fabs(x));
    PxU32 m = (bits & 0x007fffffu) | 0x00800000u;
    int place = (int)(bits >> 23) - 120, word = place >> 5, shift = place & 31;
    PxU64 w0 = PX_TWO_OVER_PI[word], w1 = PX_TWO_OVER_PI[word + 1];
    PxU64 w2 = PX_TWO_OVER_PI[word + 2], w3 = PX_TWO_OVER_PI[word + 3];
    PxU32 t0 = (PxU32)(((w0 << 32 | w1) << shift) >> 32);
    PxU32 t1 = (PxU32)(((w1 << 32 | w2) << shift) >> 32);
    PxU32 t2 = (PxU32)(((w2 << 32 | w3) << shift) >> 32);
    PxU64 turns = ((PxU64)(m * t0) << 32) + (PxU64)m * t1 + (((PxU64)m * t2) >> 32);

    PxU64 n = (turns + ((PxU64)1 << 61)) >> 62;
    PxI64 fraction = (PxI64)(turns - (n << 62));
    float hi = (float)fraction, lo = (float)(fraction - (PxI64)hi);
    PxPair r = px_times(px_pair(hi, lo), 0x1.921fb6p-62f, -0x1.777a5cp-87f);
    if (x < 0.0f) {
        *quadrant = (int)(4 - n) & 3;
        return px_pair(-r.hi, -r.lo);
    }
    *quadrant = (int)n & 3;
    return r;
}

static inline PxPair px_sin_near_zero(PxPair r)
{
    float z = r.hi * r.hi;
    float p = px_fma(z, 0x1.7ccd2p-19f, -0x1.a05ba4p-13f);
    p = px_fma(z, p, 0x1.111176p-7f);
    p = px_fma(z, p, -0x1.555556p-3f);
    return px_sum(r.hi, px_fma(r.hi * z, p, r.lo * px_fma(-0.5f, z, 1.0f)));
}

static inline PxPair px_cos_near_zero(PxPair r)
{
    float z = r.hi * r.hi, zl = px_fma(r.hi, r.hi, -z);
    float p = px_fma(z, -0x1.371b84p-22f, 0x1.a075d6p-16f);
    p = px_fma(z, p, -0x1.6c1762p-10f);
    p = px_fma(z, p, 0x1.555556p-5f);
    PxPair w = px_sum(1.0f, -0.5f * z);
    float rest = px_fma(z * z, p, px_fma(-r.hi, r.lo, -0.5f * zl));
    return px_sum(w.hi, w.lo + rest);
}

/* The sine of x plus `turns` quarter turns. */
static inline float px_sin_turned(float x, int turns)
{
    if (!(px_fabs(x) < INFINITY)) {
        return px_nan();
    }
    int quadrant;
    PxPair r = px_reduce_angle(x, &quadrant);
    quadrant += turns;
    float v = quadrant & 1 ? px_cos_near_zero(r).hi : px_sin_near_zero(r).hi;
    return quadrant & 2 ? -v : v;
}

static inline float px_sin(float x)
{
    return px_fabs(x) < 0x1p-13f ? x : px_sin_turned(x, 0);
}

static inline float px_cos(float x)
{
    return px_sin_turned(x, 1);
}

static inline float px_tan(float x)
{
    if (!(px_fabs(x) < INFINITY)) {
        return px_nan();
    }
    if (px_fabs(x) < 0x1p-13f) {
        return x;
    }
    int quadrant;
    PxPair r = px_reduce_angle(x, &quadrant);
    PxPair s = px_sin_near_zero(r), c = px_cos_near_zero(r);
    return quadrant & 1 ? -px_ratio(c, s) : px_ratio(s, c);
}

/* ---- their inverses -------------------------------------------------------------------- */

/* asin(x) = x + x * result, for z = x * x <= 1/4 */
static inline float px_asin_rest(float z)
{
    float p = px_fma(z, 0x1.341b76p-5f, 0x1.d6d08p-7f);
    p = px_fma(z, p, 0x1.04bb2p-5f);
    p = px_fma(z, p, 0x1.6ca976p-5f);
    p = px_fma(z, p, 0x1.3338a4p-4f);
    p = px_fma(z, p, 0x1.55554cp-3f);
    return z * p;
}

/* acos(a) for a in 1/2 .. 1, which is 2 asin(sqrt((1 - a) / 2)) */
static inline PxPair px_acos_near_one(float a)
{
    float z = 0.5f * (1.0f - a);
    float s = px_sqrt(z);
    float sl = s > 0.0f ? 0.5f * px_fma(-s, s, z) / s : 0.0f;
    return px_pair(2.0f * s, 2.0f * px_fma(s, px_asin_rest(z), sl));
}

/* pi / 2 times `quarters` (1 or 2) minus p */
static inline PxPair px_minus_from_pi(float quarters, PxPair p)
{
    PxPair d = px_sum(quarters * 0x1.921fb6p0f, -p.hi);
    return px_pair(d.hi, d.lo + px_fma(quarters, -0x1.777a5cp-25f, -p.lo));
}

static inline float px_asin(float x)
{
    float a = px_fabs(x);
    if (!(a <= 1.0f)) {
        return px_nan();
    }
    if (a < 0.5f) {
        return a < 0x1p-13f ? x : px_fma(x, px_asin_rest(x * x), x);
    }
    PxPair r = px_minus_from_pi(1.0f, px_acos_near_one(a));
    return px_copysign(r.hi + r.lo, x);
}

static inline float px_acos(float x)
{
    float a = px_fabs(x);
    if (!(a <= 1.0f)) {
        return px_nan();
    }
    PxPair r;
    if (a < 0.5f) {
        r = px_minus_from_pi(1.0f, px_pair(x, x * px_asin_rest(x * x)));
    } else {
        r = px_acos_near_one(a);
        if (x < 0.0f) {
            r = px_minus_from_pi(2.0f, r);
        }
    }
    return r.hi + r.lo;
}

/* atan(n / d) for 0 <= n <= d; above tan(pi / 8) it is pi / 4 + atan((n - d) / (n + d)) */
static inline PxPair px_atan_of_ratio(float n, float d)
{
    PxPair top = px_pair(n, 0.0f), bottom = px_pair(d, 0.0f);
    if (d < 0x1p-60f) {
        top.hi *= 0x1p80f;
        bottom.hi *= 0x1p80f;
    }
    bool steep = n > 0.41421357f * d;
    if (steep) {
        float scale = d > 0x1p60f ? 0x1p-40f : 1.0f;
        n = top.hi * scale;
        d = bottom.hi * scale;
        top = px_sum(-d, n);
        bottom = px_sum(d, n);
    }
    float t = d > 0.0f ? top.hi / bottom.hi : 0.0f;
    float rest = px_fma(-t, bottom.hi, top.hi) + (top.lo - t * bottom.lo);
    float tl = px_fabs(t) > 0x1p-30f ? rest / bottom.hi : 0.0f;
    float z = t * t;
    float p = px_fma(z, -0x1.f2efa4p-5f, 0x1.b226ccp-4f);
    p = px_fma(z, p, -0x1.23b9dp-3f);
    p = px_fma(z, p, 0x1.9991e4p-3f);
    p = px_fma(z, p, -0x1.55554ap-2f);
    float lo = px_fma(t * z, p, px_fma(-z, tl, tl));
    if (!steep) {
        return px_sum(t, lo);
    }
    PxPair sum = px_sum(0x1.921fb6p-1f, t);
    return px_sum(sum.hi, sum.lo + (lo - 0x1.777a5cp-26f));
}

static inline float px_atan2(float y, float x)
{
    if (x != x || y != y) {
        return px_nan();
    }
    float a = px_fabs(y), b = px_fabs(x);
    if (a == INFINITY && b == INFINITY) {
        a = b = 1.0f;
    }
    PxPair r = px_atan_of_ratio(a < b ? a : b, a < b ? b : a);
    if (a > b) {
        r = px_minus_from_pi(1.0f, r);
    }
    if (px_copysign(1.0f, x) < 0.0f) {
        r = px_minus_from_pi(2.0f, r);
    }
    return px_copysign(r.hi + r.lo, y);
}

static inline float px_atan(float x)
{
    return px_atan2(x, 1.0f);
}

/* ---- hyperbolic functions -------------------------------------------------------------- */

/* (e ** a + sign * e ** -a) / 2 for a >= 0 */
static inline float px_half_exp_sum(float a, float sign)
{
    int k;
    PxPair e = px_exp_parts(a < 100.0f ? a : 100.0f, &k);
    float other = px_power_of_two(-2 * (k < 30 ? k : 30)) / e.hi;
    return px_scale(e.hi + (e.lo + sign * other), k - 1);
}

static inline float px_sinh(float x)
{
    float a = px_fabs(x);
    if (x != x) {
        return px_nan();
    }
    if (a < 1.0f) {
        float z = x * x;
        float p = px_fma(z, 0x1.75a6fcp-19f, 0x1.a02156p-13f);
        p = px_fma(z, p, 0x1.1110e2p-7f);
        p = px_fma(z, p, 0x1.555556p-3f);
        return a < 0x1p-13f ? x : px_fma(x * z, p, x);
    }
    return px_copysign(px_half_exp_sum(a, -1.0f), x);
}

static inline float px_cosh(float x)
{
    return x != x ? px_nan() : px_half_exp_sum(px_fabs(x), 1.0f);
}

static inline float px_tanh(float x)
{
    float a = px_fabs(x);
    if (x != x) {
        return px_nan();
    }
    if (a < 0.55f) {
        float z = x * x;
        float p = px_fma(z, 0x1.1972f8p-9f, -0x1.0c8d7cp-7f);
        p = px_fma(z, p, 0x1.63b964p-6f);
        p = px_fma(z, p, -0x1.b9f39ep-5f);
        p = px_fma(z, p, 0x1.111082p-3f);
        p = px_fma(z, p, -0x1.555554p-2f);
        return a < 0x1p-13f ? x : px_fma(x * z, p, x);
    }
    int k;
    PxPair e = px_exp_parts(a < 10.0f ? 2.0f * a : 20.0f, &k);
    float power = px_power_of_two(k);
    PxPair n = px_sum(e.hi * power, -1.0f), d = px_sum(e.hi * power, 1.0f);
    n.lo += e.lo * power;
    d.lo += e.lo * power;
    return px_copysign(px_ratio(n, d), x);
}

/* ---- cube root ------------------------------------------------------------------------- */

static inline float px_cbrt(float x)
{
    float a = px_fabs(x);
    if (x != x) {
        return px_nan();
    }
    if (a == 0.0f || a == INFINITY) {
        return x;
    }
    int e = 0;
    if (a < 0x1p-126f) {
        a *= 0x1p24f;
        e = -8;
    }
    /* a = m * 8 ** third, m in 1 .. 8 */
    PxU32 bits = px_bits(a);
    int third = ((int)(bits >> 23) + 2) / 3 - 43;
    float m = px_from_bits(bits - ((PxU32)(3 * third) << 23));

    /* a guess to 5 bits from a third of the exponent, then Halley's and Newton's steps */
    float t = px_from_bits(px_bits(m) / 3u + 0x2a5119f2u);
    float cube = t * t * t;
    t = t * (m + m + cube) / (m + cube + cube);
    float square = t * t;
    float residue = px_fma(square, t, -m) + px_fma(t, t, -square) * t;
    t = t - residue / (3.0f * square);
    return px_copysign(t * px_power_of_two(third + e), x);
}

/* ---- division -------------------------------------------------------------------------- */

/*
 * x / c for a constant c, where y is 1 / c, rounded: the same bits in six operations.  x * y is less
 * than one unit in the last place away from the quotient, its remainder is exact, and what the
 * remainder adds rounds correctly (P. Markstein, 1990).  That c is odd and whole keeps remainders
 * exact among denormals, too, where no quotient then lies half-way between two of them.  The sign is given back to
 * zeros, which a compiler that moves the minus inside would take it from.
 */
static inline float px_div_by(float x, float c, float y)
{
    float q = x * y;
    float exact = px_fma(-px_fma(c, q, -x), y, q);
    return px_fabs(x) < INFINITY ? px_copysign(exact, x) : q;
}

/* The same where y is so far from 1 / c that x * y may be more than a unit away: the first remainder brings it nearer. */
static inline float px_div_by_far(float x, float c, float y)
{
    float q = x * y;
    float near = px_fma(-px_fma(c, q, -x), y, q);
    float exact = px_fma(-px_fma(c, near, -x), y, near);
    return px_fabs(x) < INFINITY ? px_copysign(exact, x) : q;
}

/*
 * The same for even c = odd / part, where q is x / odd.  q * part is the quotient, unless it is denormal and q was
 * rounded towards half-way between two of them.  Then the remainder moves it; y, which is 1 / c rounded down, leaves
 * it alone where the quotient itself is half-way.
 */
static inline float px_div_by_even(float x, float c, float y, float q, float part)
{
    float near = q * part;
    float exact = px_fma(-px_fma(c, near, -x), y, near);
    return px_fabs(x) < INFINITY ? px_copysign(exact, x) : near;
}

#if !defined(PX_OPENCL) || defined(__NV_CL_C_VERSION)
/* The same as px_div_by_far in f64, for a compiler whose own division branches. */
static inline double px_div_wide_by(double x, double c, double y)
{
    double q = x * y;
    double near = fma(-fma(c, q, -x), y, q);
    double exact = fma(-fma(c, near, -x), y, near);
    return fabs(x) < INFINITY ? copysign(exact, x) : q;
}
#endif

#ifndef PX_OPENCL
/* What c is divided by to be odd, where these functions divide by c: whole numbers that are no power of two; else 0. */
static inline float px_even_part(float c)
{
    float part = 1;
    if (!(c > 2.0f && c < 0x1p24f && px_floor(c) == c)) {
        return 0;
    }
    while (px_floor(c * 0.5f) == c * 0.5f) {
        c *= 0.5f;
        part *= 2;
    }
    return c > 1 ? part : 0;
}

/* Is px_div_by the division for this odd number?  If its reciprocal is half as far from a float as it might be. */
static inline bool px_divides_by(float odd)
{
    return fabs((double)(1.0f / odd) * (double)odd - 1) <= 0x1p-25;
}

/* Does px_div_wide_by divide by c?  It is whole and odd. */
static inline bool px_divides_wide_by(double c)
{
    return c > 2 && c < 0x1p24 && fmod(c, 2) == 1;
}

/* 1 / c, rounded down. */
static inline float px_below_reciprocal(float c)
{
    float y = 1.0f / c;
    return (double)y * (double)c > 1 ? px_from_bits(px_bits(y) - 1) : y;
}
#endif

/*
 * Python's % and //: the rest is exact, rounded once where b is added to a negative one (positive, if b is
 * negative), and has b's sign; the quotient is the one that it belongs to.  a / b may be rounded up to a whole number
 * that a does not reach, which the sign of a - q b shows; it has no more digits than a and b as long as q
 * is below 2 ** 23, or is the whole number next to a / b, as it is up to 2 ** 24.  Beyond, powers of two times b are
 * taken away one after the other.
 */
static inline float px_rest_of_many(float a, float b)
{
    float left = px_fabs(a), least = px_fabs(b);
    if (!(left < INFINITY) || !(least > 0)) {
        return px_nan();
    }
    float part = least;
    while (part <= left * 0.5f) {
        part *= 2;
    }
    for (; part >= least; part *= 0.5f) {
        left -= left >= part ? part : 0;
    }
    return a < 0 ? -left : left;
}

static inline float px_rest(float a, float b)
{
    float q = px_floor(a / b);
    float rest = q == 0 ? a : px_fabs(q) < 0x1p23f ? px_fma(-q, b, a) : px_rest_of_many(a, b);
    if (rest == 0) {
        return px_copysign(rest, b);
    }
    bool other = b < 0 ? rest > 0 : rest < 0;
    return other ? rest + b : rest;
}

static inline float px_floored(float a, float b)
{
    float q = px_floor(a / b);
    float rest = q == 0 ? a : px_fabs(q) < 0x1p24f ? px_fma(-q, b, a) : 0;
    if (q != q) {
        return px_nan();
    }
    bool other = b < 0 ? rest > 0 : rest < 0;
    return other ? q - 1 : q;
}

#endif
