/*
 * px_whole: what pixel arithmetic compares, rounds and counts, the same text for C11 and for OpenCL C 1.2:
 * least and greatest numbers, saturating conversions, whole numbers that wrap, reads outside the image.
 *
 * Unlike the functions of px_math.h, which stands before it in a kernel's text, these have forms of their
 * own for each type.
 */
#ifndef PX_WHOLE_H
#define PX_WHOLE_H

#ifndef __OPENCL_C_VERSION__
#include "px_math.h"
#endif

/* ---- least, greatest, sign ------------------------------------------------------------- */

/*
 * px_min, px_max: a NaN on either side is the result, as in numpy.minimum; of two zeros b.
 * px_sign: -1, 0 or 1, NaN for NaN.
 *
 * px_round_u8 ... px_round_u32: to the nearest integer, ties to even, saturated; NaN gives 0.
 *
 * These are written once in a macro that makes the float and the double form.  OpenCL C picks
 * the form by overloading, C by _Generic.
 */
#define PX_SATURATE(NAME, RESULT, FLOAT, RINT, LOWEST, HIGHEST)       \
    static inline PX_OVERLOAD RESULT NAME(FLOAT x)                    \
    {                                                                 \
        FLOAT r = RINT(x);                                            \
        if (r != r) {                                                 \
            return 0;                                                 \
        }                                                             \
        if (r <= (FLOAT)(LOWEST)) {                                   \
            return LOWEST;                                            \
        }                                                             \
        return r >= (FLOAT)(HIGHEST) ? (RESULT)(HIGHEST) : (RESULT)r; \
    }

#define PX_FORMS(FLOAT, RINT, MIN, MAX, SIGN, U8, U16, I16, I32, U32) \
    static inline PX_OVERLOAD FLOAT MIN(FLOAT a, FLOAT b)             \
    {                                                                 \
        return a < b || a != a ? a : b;                               \
    }                                                                 \
    static inline PX_OVERLOAD FLOAT MAX(FLOAT a, FLOAT b)             \
    {                                                                 \
        return a > b || a != a ? a : b;                               \
    }                                                                 \
    static inline PX_OVERLOAD FLOAT SIGN(FLOAT x)                     \
    {                                                                 \
        return x != x ? x : (FLOAT)((x > 0) - (x < 0));               \
    }                                                                 \
    PX_SATURATE(U8, int, FLOAT, RINT, 0, 255)                         \
    PX_SATURATE(U16, int, FLOAT, RINT, 0, 65535)                      \
    PX_SATURATE(I16, int, FLOAT, RINT, -32768, 32767)                 \
    PX_SATURATE(I32, int, FLOAT, RINT, -2147483647 - 1, 2147483647)   \
    PX_SATURATE(U32, PxU32, FLOAT, RINT, 0, 4294967295u)

#ifdef PX_OPENCL

#define PX_OVERLOAD __attribute__((overloadable))
PX_FORMS(float, rint, px_min, px_max, px_sign, px_round_u8, px_round_u16, px_round_i16, px_round_i32, px_round_u32)
#ifdef cl_khr_fp64
PX_FORMS(double, rint, px_min, px_max, px_sign, px_round_u8, px_round_u16, px_round_i16, px_round_i32, px_round_u32)
#endif

#else

#define PX_OVERLOAD
PX_FORMS(float, rintf, px_min_f32, px_max_f32, px_sign_f32, px_round_u8_f32, px_round_u16_f32, px_round_i16_f32,
         px_round_i32_f32, px_round_u32_f32)
PX_FORMS(double, rint, px_min_f64, px_max_f64, px_sign_f64, px_round_u8_f64, px_round_u16_f64, px_round_i16_f64,
         px_round_i32_f64, px_round_u32_f64)
#define PX_PICK(x, name) _Generic((x), double : name##_f64, default : name##_f32)
#define px_min(a, b) PX_PICK((a) + (b), px_min)(a, b)
#define px_max(a, b) PX_PICK((a) + (b), px_max)(a, b)
#define px_sign(x) PX_PICK(x, px_sign)(x)
#define px_round_u8(x) PX_PICK(x, px_round_u8)(x)
#define px_round_u16(x) PX_PICK(x, px_round_u16)(x)
#define px_round_i16(x) PX_PICK(x, px_round_i16)(x)
#define px_round_i32(x) PX_PICK(x, px_round_i32)(x)
#define px_round_u32(x) PX_PICK(x, px_round_u32)(x)

#endif

/* ---- numbers of f32 beside a number ------------------------------------------------------ */

/* The largest f32 that is not above x, the smallest that is not below: in f64 that is work (base/f64_math.h). */
static inline float px_f32_below(float x)
{
    return x;
}

static inline float px_f32_above(float x)
{
    return x;
}

/* ---- integers -------------------------------------------------------------------------- */

/*
 * px_add, px_sub, px_mul, px_neg, px_signum: results wrap to 32 bits.  Of plain ints a compiler may believe that
 * they never do: image * image > 2 is then true even where the product is negative.
 */
#ifdef PX_OPENCL
#define PX_ADD_I32 px_add
#define PX_ADD_U32 px_add
#define PX_SUB_I32 px_sub
#define PX_SUB_U32 px_sub
#define PX_MUL_I32 px_mul
#define PX_MUL_U32 px_mul
#define PX_NEG_I32 px_neg
#define PX_NEG_U32 px_neg
#define PX_SIGNUM_I32 px_signum
#define PX_SIGNUM_U32 px_signum
#else
#define PX_ADD_I32 px_add_i32
#define PX_ADD_U32 px_add_u32
#define PX_SUB_I32 px_sub_i32
#define PX_SUB_U32 px_sub_u32
#define PX_MUL_I32 px_mul_i32
#define PX_MUL_U32 px_mul_u32
#define PX_NEG_I32 px_neg_i32
#define PX_NEG_U32 px_neg_u32
#define PX_SIGNUM_I32 px_signum_i32
#define PX_SIGNUM_U32 px_signum_u32
#define px_add(a, b) _Generic((a) + (b), PxU32 : px_add_u32, default : px_add_i32)(a, b)
#define px_sub(a, b) _Generic((a) + (b), PxU32 : px_sub_u32, default : px_sub_i32)(a, b)
#define px_mul(a, b) _Generic((a) + (b), PxU32 : px_mul_u32, default : px_mul_i32)(a, b)
#define px_neg(a) _Generic((a), PxU32 : px_neg_u32, default : px_neg_i32)(a)
#define px_signum(a) _Generic((a), PxU32 : px_signum_u32, default : px_signum_i32)(a)
#endif

/*
 * px_whole: the number itself, by a permutation of its bytes that NVIDIA's assembler does not see through.
 * On Hopper the one of CUDA 12 makes one instruction of min(min(a, -b), c), and of three maxima, that
 * takes b for -b.  So what is computed goes through this before it is compared.
 */
#ifdef __NV_CL_C_VERSION
static inline int px_whole(int x)
{
    int same;
    asm("prmt.b32 %0, %1, 0, 0x3210;" : "=r"(same) : "r"(x));
    return same;
}
#else
#define px_whole(x) (x)
#endif

static inline PX_OVERLOAD int PX_ADD_I32(int a, int b)
{
    return (int)((PxU32)a + (PxU32)b);
}

static inline PX_OVERLOAD PxU32 PX_ADD_U32(PxU32 a, PxU32 b)
{
    return a + b;
}

static inline PX_OVERLOAD int PX_SUB_I32(int a, int b)
{
    return (int)((PxU32)a - (PxU32)b);
}

static inline PX_OVERLOAD PxU32 PX_SUB_U32(PxU32 a, PxU32 b)
{
    return a - b;
}

static inline PX_OVERLOAD int PX_MUL_I32(int a, int b)
{
    return (int)((PxU32)a * (PxU32)b);
}

static inline PX_OVERLOAD PxU32 PX_MUL_U32(PxU32 a, PxU32 b)
{
    return a * b;
}

static inline PX_OVERLOAD int PX_NEG_I32(int a)
{
    return (int)(0u - (PxU32)a);
}

static inline PX_OVERLOAD PxU32 PX_NEG_U32(PxU32 a)
{
    return 0u - a;
}

/* -1, 0 or 1, of the number's own type. */
static inline PX_OVERLOAD int PX_SIGNUM_I32(int a)
{
    return (a > 0) - (a < 0);
}

static inline PX_OVERLOAD PxU32 PX_SIGNUM_U32(PxU32 a)
{
    return a > 0;
}

/*
 * px_floordiv, px_mod: Python's // and %, for int and for unsigned: the quotient is rounded down,
 * the remainder has the sign of b; both are 0 where b is 0, and results wrap to 32 bits.
 */
#ifdef PX_OPENCL
#define PX_FLOORDIV_I32 px_floordiv
#define PX_FLOORDIV_U32 px_floordiv
#define PX_MOD_I32 px_mod
#define PX_MOD_U32 px_mod
#else
#define PX_FLOORDIV_I32 px_floordiv_i32
#define PX_FLOORDIV_U32 px_floordiv_u32
#define PX_MOD_I32 px_mod_i32
#define PX_MOD_U32 px_mod_u32
#define px_floordiv(a, b) _Generic((a) + (b), PxU32 : px_floordiv_u32, default : px_floordiv_i32)(a, b)
#define px_mod(a, b) _Generic((a) + (b), PxU32 : px_mod_u32, default : px_mod_i32)(a, b)
#endif

static inline PX_OVERLOAD int PX_FLOORDIV_I32(int a, int b)
{
    if (b == 0 || b == -1) {
        return b == 0 ? 0 : (int)(0u - (PxU32)a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline PX_OVERLOAD PxU32 PX_FLOORDIV_U32(PxU32 a, PxU32 b)
{
    return b == 0 ? 0 : a / b;
}

static inline PX_OVERLOAD int PX_MOD_I32(int a, int b)
{
    if (b == 0 || b == -1) {
        return 0;
    }
    int r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline PX_OVERLOAD PxU32 PX_MOD_U32(PxU32 a, PxU32 b)
{
    return b == 0 ? 0 : a % b;
}

/* ---- borders --------------------------------------------------------------------------- */

/* Where a coordinate i outside 0 .. n - 1 is read; any i, any n >= 1. */

/* a a a | a b c d | d d d */
static inline int px_nearest(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* c b a | a b c d | d c b */
static inline int px_reflect(int i, int n)
{
    PxU32 m = (PxU32)n, u = (PxU32)(i < 0 ? ~i : i);
    u = u < m ? u : u % (2u * m);
    return (int)(u < m ? u : 2u * m - 1u - u);
}

/* d c b | a b c d | c b a */
static inline int px_mirror(int i, int n)
{
    PxU32 m = (PxU32)n, u = i < 0 ? 0u - (PxU32)i : (PxU32)i;
    if (u < m) {
        return (int)u;
    }
    if (n == 1) {
        return 0;
    }
    u %= 2u * m - 2u;
    return (int)(u < m ? u : 2u * m - 2u - u);
}

/* b c d | a b c d | a b c */
static inline int px_wrap(int i, int n)
{
    PxU32 m = (PxU32)n, u = (PxU32)(i < 0 ? ~i : i);
    u = u < m ? u : u % m;
    return (int)(i < 0 ? m - 1u - u : u);
}

#endif
