/*
 * fourier: the arithmetic of Fourier transforms, the same text for C11 and for OpenCL C 1.2.
 *
 * A line of pixels is transformed in steps (Stockham's form, no order of bits to mend).  Which ones follows from its
 * length alone (fourier_plan.h).  A step of radix r takes r numbers that lie a share of the line apart, turns them by
 * what earlier steps have left, and transforms them here.  All sums are in f32, in a fixed order, and fma stands
 * only where it is meant: devices and the reference get the same bits.
 *
 * Numbers are complex, re[] and im[]; results take their place.
 */
#ifndef BASE_FOURIER_H
#define BASE_FOURIER_H

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#define FOURIER_INLINE static inline __attribute__((always_inline))
#define FOURIER_FMA(a, b, c) fma(a, b, c)
#else
#include <math.h>
#define FOURIER_INLINE static inline
#define FOURIER_FMA(a, b, c) fmaf(a, b, c)
#endif

/* Times the complex number (c, s). */
FOURIER_INLINE void fourier_turn(float *re, float *im, float c, float s)
{
    const float a = *re, b = *im;
    *re = FOURIER_FMA(a, c, -(b * s));
    *im = FOURIER_FMA(a, s, b * c);
}

FOURIER_INLINE void fourier_1(float *re, float *im)
{
    (void)re;
    (void)im;
}

FOURIER_INLINE void fourier_pair(float *re, float *im, int i, int k)
{
    const float a = re[i], b = im[i];
    re[i] = a + re[k];
    im[i] = b + im[k];
    re[k] = a - re[k];
    im[k] = b - im[k];
}

FOURIER_INLINE void fourier_2(float *re, float *im)
{
    fourier_pair(re, im, 0, 1);
}

/* Of the numbers i, i + by, i + 2 by, i + 3 by. */
FOURIER_INLINE void fourier_four_of(float *re, float *im, int i, int by)
{
    const int k = i + by, l = k + by, m = l + by;
    fourier_pair(re, im, i, l);
    fourier_pair(re, im, k, m);
    fourier_pair(re, im, i, k);
    const float a = re[l], b = im[l], c = re[m], d = im[m], e = re[k], f = im[k];
    re[k] = a + d;
    im[k] = b - c;
    re[l] = e;
    im[l] = f;
    re[m] = a - d;
    im[m] = b + c;
}

FOURIER_INLINE void fourier_4(float *re, float *im)
{
    fourier_four_of(re, im, 0, 1);
}

FOURIER_INLINE void fourier_8(float *re, float *im)
{
    const float root = 0.70710678f; /* of a half */
    fourier_four_of(re, im, 0, 2);
    fourier_four_of(re, im, 1, 2);
    const float a = re[3], b = im[3], c = re[5], d = im[5], e = re[7], f = im[7];
    re[3] = (a + b) * root;
    im[3] = (b - a) * root;
    re[5] = d;
    im[5] = -c;
    re[7] = (f - e) * root;
    im[7] = -((e + f) * root);
    float x[8], y[8];
    for (int i = 0; i < 4; i++) {
        x[i] = re[2 * i] + re[2 * i + 1];
        y[i] = im[2 * i] + im[2 * i + 1];
        x[i + 4] = re[2 * i] - re[2 * i + 1];
        y[i + 4] = im[2 * i] - im[2 * i + 1];
    }
    for (int i = 0; i < 8; i++) {
        re[i] = x[i];
        im[i] = y[i];
    }
}

FOURIER_INLINE void fourier_3(float *re, float *im)
{
    const float sine = 0.8660254f;
    const float a = re[1] + re[2], b = im[1] + im[2];
    const float c = (re[1] - re[2]) * sine, d = (im[1] - im[2]) * sine;
    const float e = FOURIER_FMA(a, -0.5f, re[0]), f = FOURIER_FMA(b, -0.5f, im[0]);
    re[0] += a;
    im[0] += b;
    re[1] = e + d;
    im[1] = f - c;
    re[2] = e - d;
    im[2] = f + c;
}

FOURIER_INLINE void fourier_5(float *re, float *im)
{
    const float c1 = 0.30901699f, c2 = -0.80901699f, s1 = 0.95105652f, s2 = 0.58778525f;
    const float a = re[1] + re[4], b = im[1] + im[4], c = re[2] + re[3], d = im[2] + im[3];
    const float p = re[1] - re[4], q = im[1] - im[4], r = re[2] - re[3], s = im[2] - im[3];
    const float e = FOURIER_FMA(c, c2, FOURIER_FMA(a, c1, re[0])), f = FOURIER_FMA(d, c2, FOURIER_FMA(b, c1, im[0]));
    const float g = FOURIER_FMA(c, c1, FOURIER_FMA(a, c2, re[0])), h = FOURIER_FMA(d, c1, FOURIER_FMA(b, c2, im[0]));
    const float t = FOURIER_FMA(r, s2, p * s1), u = FOURIER_FMA(s, s2, q * s1);
    const float v = FOURIER_FMA(r, -s1, p * s2), w = FOURIER_FMA(s, -s1, q * s2);
    re[0] = re[0] + a + c;
    im[0] = im[0] + b + d;
    re[1] = e + u;
    im[1] = f - t;
    re[2] = g + w;
    im[2] = h - v;
    re[3] = g - w;
    im[3] = h + v;
    re[4] = e - u;
    im[4] = f + t;
}

/* One of the three pairs of results of a radix 7, from sums a of opposite numbers and differences d. */
FOURIER_INLINE void fourier_seventh(float *re, float *im, int k, float x, float y, const float *a, const float *b,
                                    const float *p, const float *q, float c1, float c2, float c3, float s1, float s2,
                                    float s3)
{
    const float e = FOURIER_FMA(a[2], c3, FOURIER_FMA(a[1], c2, FOURIER_FMA(a[0], c1, x)));
    const float f = FOURIER_FMA(b[2], c3, FOURIER_FMA(b[1], c2, FOURIER_FMA(b[0], c1, y)));
    const float t = FOURIER_FMA(p[2], s3, FOURIER_FMA(p[1], s2, p[0] * s1));
    const float u = FOURIER_FMA(q[2], s3, FOURIER_FMA(q[1], s2, q[0] * s1));
    re[k] = e + u;
    im[k] = f - t;
    re[7 - k] = e - u;
    im[7 - k] = f + t;
}

FOURIER_INLINE void fourier_7(float *re, float *im)
{
    const float c1 = 0.6234898f, c2 = -0.22252093f, c3 = -0.90096887f;
    const float s1 = 0.78183148f, s2 = 0.97492791f, s3 = 0.43388374f;
    const float x = re[0], y = im[0];
    float a[3], b[3], p[3], q[3];
    for (int i = 0; i < 3; i++) {
        a[i] = re[i + 1] + re[6 - i];
        b[i] = im[i + 1] + im[6 - i];
        p[i] = re[i + 1] - re[6 - i];
        q[i] = im[i + 1] - im[6 - i];
    }
    re[0] = x + a[0] + a[1] + a[2];
    im[0] = y + b[0] + b[1] + b[2];
    fourier_seventh(re, im, 1, x, y, a, b, p, q, c1, c2, c3, s1, s2, s3);
    fourier_seventh(re, im, 2, x, y, a, b, p, q, c2, c3, c1, s2, -s3, -s1);
    fourier_seventh(re, im, 3, x, y, a, b, p, q, c3, c1, c2, s3, -s1, s2);
}

#endif
