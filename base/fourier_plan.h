/*
 * fourier_plan: in which steps a line of pixels is transformed (base/fourier.h).  It follows from the length alone,
 * so that it is the same on every device.
 *
 * Lengths made of 2, 3, 5 and 7 are taken apart into radices up to 8.  Any other length n is a convolution with a
 * chirp exp(pi i k^2 / n), in lines of such a length that is at least 2 n - 1 (L. I. Bluestein, 1970).
 */
#ifndef BASE_FOURIER_PLAN_H
#define BASE_FOURIER_PLAN_H

#include <stdbool.h>

enum {
    FOURIER_MOST_STEPS = 32,
    FOURIER_MOST_RADIX = 8,
    FOURIER_MOST_OF_PASS = 128 /* the product of the radices of a pass */
};

/* Steps are put together into passes, each of which a device does with one reading and one writing of the line. */
typedef struct FourierPlan {
    int n;      /* pixels of the line */
    int length; /* that steps are about; n where there is no chirp */
    bool chirp;
    int n_steps, radix[FOURIER_MOST_STEPS];
    int n_passes, end[FOURIER_MOST_STEPS]; /* of pass i: the step behind its last one */
} FourierPlan;

/* n from 1 on; a length of 1 has one step, of radix 1. */
FourierPlan fourier_plan(int n);

/* The angle 2 pi t / n as (cosine, sine) of its negative, for t below n, in f32. */
void fourier_turn_of(int t, int n, float *c, float *s);
/* exp(-pi i t^2 / n). */
void fourier_chirp_of(int t, int n, float *c, float *s);

#endif
