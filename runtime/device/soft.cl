/*
 * soft: what soften calls beside base/soft_double.h, which stands in front of it: conversions from what a number
 * happens to be, x += y and the like wherever x lies, and vectors of four.
 */
#pragma clang diagnostic ignored "-Wunused-function"
#define SOFT_ANY static inline __attribute__((always_inline, overloadable))

/* ---- conversions ---- */

SOFT_ANY SoftDouble soft_from(int v) { return soft_of_long(v); }
SOFT_ANY SoftDouble soft_from(uint v) { return soft_of_ulong(v); }
SOFT_ANY SoftDouble soft_from(long v) { return soft_of_long(v); }
SOFT_ANY SoftDouble soft_from(ulong v) { return soft_of_ulong(v); }
SOFT_ANY SoftDouble soft_from(float v) { return soft_of_float(v); }
SOFT_ANY SoftDouble soft_from(SoftDouble v) { return v; }

#define soft_convert_float_rte(x) soft_rounded(x, false)
#define soft_convert_float_rtn(x) soft_rounded(x, true)
#define soft_convert_float(x) soft_rounded(x, false)
#define SOFT_SATURATED(T, LOW, HIGH)                                                                                   \
    static inline T soft_convert_##T##_sat(SoftDouble x)                                                               \
    {                                                                                                                  \
        return (T)soft_to_range(x, LOW, HIGH);                                                                         \
    }                                                                                                                  \
    static inline T soft_convert_##T##_sat_rte(SoftDouble x)                                                           \
    {                                                                                                                  \
        return (T)soft_to_range(soft_rint(x), LOW, HIGH);                                                              \
    }
SOFT_SATURATED(uchar, 0, 255)
SOFT_SATURATED(ushort, 0, 65535)
SOFT_SATURATED(short, -32768, 32767)
SOFT_SATURATED(uint, 0, 4294967295)
SOFT_SATURATED(int, -2147483647 - 1, 2147483647)

/* ---- x += y ---- */

#define SOFT_TO(NAME, SPACE)                                                                                           \
    SOFT_ANY SoftDouble soft_##NAME##_to(SPACE SoftDouble *x, SoftDouble y)                                            \
    {                                                                                                                  \
        *x = soft_##NAME(*x, y);                                                                                       \
        return *x;                                                                                                     \
    }
#define SOFT_TO_ALL(NAME) SOFT_TO(NAME, private) SOFT_TO(NAME, local) SOFT_TO(NAME, global)
SOFT_TO_ALL(add)
SOFT_TO_ALL(sub)
SOFT_TO_ALL(mul)
SOFT_TO_ALL(div)

/* ---- f32 ---- */

#define SOFT_FMA_EIGHT(PART) v.PART = soft_fma_float(a.PART, b.PART, c.PART)
SOFT_ANY float soft_fma_f32(float a, float b, float c)
{
    return soft_fma_float(a, b, c);
}
SOFT_ANY float8 soft_fma_f32(float8 a, float8 b, float8 c)
{
    float8 v;
    SOFT_FMA_EIGHT(s0), SOFT_FMA_EIGHT(s1), SOFT_FMA_EIGHT(s2), SOFT_FMA_EIGHT(s3);
    SOFT_FMA_EIGHT(s4), SOFT_FMA_EIGHT(s5), SOFT_FMA_EIGHT(s6), SOFT_FMA_EIGHT(s7);
    return v;
}

/* ---- vectors ---- */

typedef struct SoftDouble4 {
    SoftDouble x, y, z, w;
} SoftDouble4;

SOFT_ANY SoftDouble4 soft_double4(SoftDouble x, SoftDouble y, SoftDouble z, SoftDouble w)
{
    SoftDouble4 v;
    v.x = x, v.y = y, v.z = z, v.w = w;
    return v;
}

#define SOFT_FOURS(T)                                                                                                  \
    SOFT_ANY SoftDouble4 soft_convert_double4(T##4 v)                                                                  \
    {                                                                                                                  \
        return soft_double4(soft_from(v.x), soft_from(v.y), soft_from(v.z), soft_from(v.w));                           \
    }
SOFT_FOURS(int)
SOFT_FOURS(uint)
SOFT_FOURS(float)

SOFT_ANY float4 soft_convert_float4(SoftDouble4 v)
{
    return (float4)(soft_to_float(v.x), soft_to_float(v.y), soft_to_float(v.z), soft_to_float(v.w));
}

SOFT_ANY int4 soft_convert_int4(SoftDouble4 v)
{
    return (int4)((int)soft_to_long(v.x), (int)soft_to_long(v.y), (int)soft_to_long(v.z), (int)soft_to_long(v.w));
}

SOFT_ANY uint4 soft_convert_uint4(SoftDouble4 v)
{
    return (uint4)((uint)soft_to_long(v.x), (uint)soft_to_long(v.y), (uint)soft_to_long(v.z), (uint)soft_to_long(v.w));
}

