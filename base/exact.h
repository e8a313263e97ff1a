/*
 * exact: sums of doubles without rounding, rounded once at the end.
 *
 * A fixed-point number wide enough for every f32, its square and its product with a coordinate
 * (Kulisch's long accumulator): the sum does not depend on the order of its terms nor on how
 * they were grouped.
 */
#ifndef BASE_EXACT_H
#define BASE_EXACT_H

#include <stdint.h>

/* Bits from 2^-352 up to 2^352: f32 squares reach from 2^-298 to 2^256. */
enum { EXACT_LIMBS = 22, EXACT_LOW = -352 };

/* value = sum of limb[i] * 2^(32 i + EXACT_LOW); limbs hold carries of 2^29 terms. */
typedef struct Exact {
    int64_t limb[EXACT_LIMBS];
} Exact;

void exact_clear(Exact *sum);
/* Adds v * 2^exponent; the product must lie in the range above. */
void exact_add(Exact *sum, int64_t v, int exponent);
/* Adds a finite double. */
void exact_add_double(Exact *sum, double v);
/* The sum as the double nearest to it and the double nearest to what is left (exact_digits.h). */
void exact_round(const Exact *sum, double out[2]);

#endif
