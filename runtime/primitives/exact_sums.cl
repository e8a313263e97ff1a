/*
 * exact_sums: sums of f32 that do not depend on their order, as reference/ref_label.c has them: 128 bits in units of
 * 2^(largest biased exponent - 216); bits below the unit are cut off.  The exponent is 1 for subnormal numbers
 * and 255 for infinities, which are counted instead: +inf below, -inf above.
 */
#pragma OPENCL FP_CONTRACT OFF

#define EXACT_INLINE static inline __attribute__((always_inline))

typedef struct ExactSum {
    ulong low, high;
} ExactSum;

EXACT_INLINE bool exact_is_nan(uint bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

EXACT_INLINE int exact_exponent(uint bits)
{
    return max((int)(bits >> 23 & 255), 1);
}

/* Unsigned keys in the order of f32. */
EXACT_INLINE uint exact_key(uint bits)
{
    return bits >> 31 != 0 ? ~bits : bits | 0x80000000;
}

/* A number that is not NaN, in units of a label's sum. */
EXACT_INLINE ExactSum exact_in_units(uint bits, int largest)
{
    ExactSum v;
    if (largest == 255) {
        v.low = bits == 0x7f800000;
        v.high = bits == 0xff800000;
        return v;
    }
    const ulong mantissa = (bits & 0x7fffff) | ((bits >> 23 & 255) != 0 ? 0x800000 : 0);
    const int down =
        largest - exact_exponent(bits); /* the top of the mantissa is bit 89 - down */
    v.high = down < 26 ? mantissa << 2 >> down : 0;
    v.low = down == 0    ? 0
            : down < 64  ? mantissa << 2 << (64 - down)
            : down < 128 ? mantissa << 2 >> (down - 64)
                         : 0;
    if (bits >> 31 != 0) {
        v.high = ~v.high + (v.low == 0 ? 1 : 0);
        v.low = -v.low;
    }
    return v;
}

EXACT_INLINE void exact_add(ExactSum *to, ExactSum v)
{
    to->low += v.low;
    to->high += v.high + (to->low < v.low ? 1 : 0);
}

/* The f32 nearest to a sum in units of 2^(largest - 216), ties to even. */
EXACT_INLINE float exact_round(ExactSum sum, int largest)
{
    ulong low = sum.low, high = sum.high;
    if (largest == 255) {
        return low != 0 && high != 0 ? NAN : low != 0 ? INFINITY : -INFINITY;
    }
    if (low == 0 && high == 0) {
        return 0.0f;
    }
    const bool negative = high >> 63 != 0;
    if (negative) {
        high = ~high + (low == 0 ? 1 : 0);
        low = -low;
    }
    const int top = high != 0 ? 127 - (int)clz(high) : 63 - (int)clz(low), unit = largest - 216;
    const int last = max(top - 23, -149 - unit); /* the lowest bit that the result has */
    ulong kept, below;                           /* `below`: the bits under it, from the top */
    if (last >= 64) {
        kept = last < 128 ? high >> (last - 64) : 0;
        below = last == 64 ? low : high << (128 - last) | low >> (last - 64);
        below |= last > 64 && low << (128 - last) != 0 ? 1 : 0;
    } else if (last > 0) {
        kept = low >> last | high << (64 - last);
        below = low << (64 - last);
    } else {
        kept = low << -last;
        below = 0;
    }
    const ulong middle = (ulong)1 << 63;
    kept += below > middle || (below == middle && (kept & 1) != 0) ? 1 : 0;
    const ulong bits = kept == 0 ? 0 : ((ulong)(last + unit + 149) << 23) + kept;
    return as_float((uint)min(bits, (ulong)0x7f800000) | (negative ? 0x80000000 : 0));
}
