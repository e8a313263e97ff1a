/*
 * convert: rows are converted block by block: whether all pixels of a block fit, and then all of them.  Both loops
 * have a known length and no way out, so that the compiler makes vectors of them.  All pairs of types are made
 * from one list.
 */
#include "convert.h"

#include <math.h>
#include <stdint.h>

/* Name, C type, and the smallest and largest whole number of types that are whole. */
#define TYPES(T)                                \
    T(BOOL, uint8_t, true, 0, UINT8_MAX)        \
    T(U8, uint8_t, true, 0, UINT8_MAX)          \
    T(U16, uint16_t, true, 0, UINT16_MAX)       \
    T(I16, int16_t, true, INT16_MIN, INT16_MAX) \
    T(U32, uint32_t, true, 0, UINT32_MAX)       \
    T(I32, int32_t, true, INT32_MIN, INT32_MAX) \
    T(F32, float, false, 0, 0)                  \
    T(F64, double, false, 0, 0)

enum { BLOCK = 64 };

/* What type TO holds of whole numbers of type FROM, in that type: comparing there takes no conversion. */
#define LARGER(a, b) ((int64_t)(a) > (int64_t)(b) ? (int64_t)(a) : (int64_t)(b))
#define SMALLER(a, b) ((int64_t)(a) < (int64_t)(b) ? (int64_t)(a) : (int64_t)(b))

/* From one type to another; gives the number of the first pixel that does not fit, or n. */
#define PAIR(TO, to_type, to_whole, to_lo, to_hi, FROM, from_type, from_whole, from_lo, from_hi)                       \
    static inline bool FROM##_fits_##TO(from_type v)                                                                   \
    {                                                                                                                  \
        const from_type lo = (from_type)LARGER(to_lo, from_lo), hi = (from_type)SMALLER(to_hi, from_hi);               \
        if (!to_whole || ELEM_##TO == ELEM_BOOL) {                                                                     \
            return true;                                                                                               \
        }                                                                                                              \
        return from_whole ? (v >= lo) & (v <= hi)                                                                      \
                          : (double)v >= (double)to_lo && (double)v <= (double)to_hi && (double)v == trunc((double)v); \
    }                                                                                                                  \
    static inline to_type FROM##_as_##TO(from_type v)                                                                  \
    {                                                                                                                  \
        if (ELEM_##TO == ELEM_BOOL) {                                                                                  \
            return (to_type)(v != 0);                                                                                  \
        }                                                                                                              \
        return from_whole || to_whole || v == v ? (to_type)v : (to_type)NAN;                                           \
    }                                                                                                                  \
    static size_t FROM##_to_##TO(const void *in, void *out, size_t n)                                                  \
    {                                                                                                                  \
        const from_type *from = in;                                                                                    \
        to_type *to = out;                                                                                             \
        size_t i = 0;                                                                                                  \
        for (int misfits = 0; i + BLOCK <= n && !misfits; i += misfits ? 0 : BLOCK) {                                  \
            for (size_t k = 0; k < BLOCK; k++) {                                                                       \
                misfits |= !FROM##_fits_##TO(from[i + k]);                                                             \
            }                                                                                                          \
            for (size_t k = 0; k < BLOCK && !misfits; k++) {                                                           \
                to[i + k] = FROM##_as_##TO(from[i + k]);                                                               \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < n && FROM##_fits_##TO(from[i]); i++) {                                                              \
            to[i] = FROM##_as_##TO(from[i]);                                                                           \
        }                                                                                                              \
        return i;                                                                                                      \
    }
#define FROM_EACH(TO, type, whole, lo, hi)                                  \
    PAIR(TO, type, whole, lo, hi, BOOL, uint8_t, true, 0, UINT8_MAX)        \
    PAIR(TO, type, whole, lo, hi, U8, uint8_t, true, 0, UINT8_MAX)          \
    PAIR(TO, type, whole, lo, hi, U16, uint16_t, true, 0, UINT16_MAX)       \
    PAIR(TO, type, whole, lo, hi, I16, int16_t, true, INT16_MIN, INT16_MAX) \
    PAIR(TO, type, whole, lo, hi, U32, uint32_t, true, 0, UINT32_MAX)       \
    PAIR(TO, type, whole, lo, hi, I32, int32_t, true, INT32_MIN, INT32_MAX) \
    PAIR(TO, type, whole, lo, hi, F32, float, false, 0, 0)                  \
    PAIR(TO, type, whole, lo, hi, F64, double, false, 0, 0)
TYPES(FROM_EACH)

static size_t (*const CONVERT[ELEM_COUNT][ELEM_COUNT])(const void *in, void *out, size_t n) = {
#define ROW(TO, type, whole, lo, hi)                                                                              \
    [ELEM_##TO] = {                                                                                               \
        [ELEM_BOOL] = BOOL_to_##TO, [ELEM_U8] = U8_to_##TO,   [ELEM_U16] = U16_to_##TO, [ELEM_I16] = I16_to_##TO, \
        [ELEM_U32] = U32_to_##TO,   [ELEM_I32] = I32_to_##TO, [ELEM_F32] = F32_to_##TO, [ELEM_F64] = F64_to_##TO, \
    },
    TYPES(ROW)};

#define HAS_NAN(NAME, type, whole, lo, hi)                \
    static bool has_nan_##NAME(const void *row, size_t n) \
    {                                                     \
        const type *at = row;                             \
        size_t i = 0;                                     \
        int has = 0;                                      \
        for (; !whole && i + BLOCK <= n; i += BLOCK) {    \
            int here = 0;                                 \
            for (size_t k = 0; k < BLOCK; k++) {          \
                here |= at[i + k] != at[i + k];           \
            }                                             \
            has |= here;                                  \
        }                                                 \
        for (; !whole && i < n; i++) {                    \
            has |= at[i] != at[i];                        \
        }                                                 \
        return has != 0;                                  \
    }
TYPES(HAS_NAN)

static bool (*const HAS_NAN_OF[ELEM_COUNT])(const void *row, size_t n) = {
#define HAS_NAN_ROW(NAME, type, whole, lo, hi) [ELEM_##NAME] = has_nan_##NAME,
    TYPES(HAS_NAN_ROW)};

#define MAX(NAME, type, whole, lo, hi)                          \
    static double max_##NAME(const void *row, size_t n)         \
    {                                                           \
        const type *at = row;                                   \
        double most = -INFINITY;                                \
        for (size_t i = 0; i < n; i++) {                        \
            most = (double)at[i] > most ? (double)at[i] : most; \
        }                                                       \
        return most;                                            \
    }
TYPES(MAX)

static double (*const MAX_OF[ELEM_COUNT])(const void *row, size_t n) = {
#define MAX_ROW(NAME, type, whole, lo, hi) [ELEM_##NAME] = max_##NAME,
    TYPES(MAX_ROW)};

bool convert_row(Elem from, const void *in, Elem to, void *out, size_t n, size_t *bad)
{
    *bad = CONVERT[to][from](in, out, n);
    return *bad == n;
}

double convert_get(Elem elem, const void *row, size_t i)
{
    return elem_get(row, i, elem);
}

bool convert_has_nan(Elem elem, const void *row, size_t n)
{
    return HAS_NAN_OF[elem](row, n);
}

double convert_max(Elem elem, const void *row, size_t n, double least)
{
    return fmax(least, MAX_OF[elem](row, n));
}
