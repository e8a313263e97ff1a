/*
 * convert: every element type fits into a double exactly, so a pair of types is one loop through
 * doubles: out of memory, checked, into memory.  All pairs are made from one list.
 */
#include "convert.h"

#include <math.h>
#include <stdint.h>

#define TYPES(T)                                                                                   \
    T(BOOL, uint8_t, true)                                                                         \
    T(U8, uint8_t, true)                                                                           \
    T(U16, uint16_t, true)                                                                         \
    T(I16, int16_t, true)                                                                          \
    T(U32, uint32_t, true)                                                                         \
    T(I32, int32_t, true)                                                                          \
    T(F32, float, false)                                                                           \
    T(F64, double, false)

/* From one type to another; gives the number of the first pixel that does not fit, or n. */
#define PAIR(TO, to_type, to_whole, FROM, from_type, from_whole)                                   \
    static size_t FROM##_to_##TO(const void *in, void *out, size_t n)                              \
    {                                                                                              \
        const double lo = elem_min(ELEM_##TO), hi = elem_max(ELEM_##TO);                           \
        const from_type *from = in;                                                                \
        to_type *to = out;                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            double value = (double)from[i];                                                        \
            if (ELEM_##TO == ELEM_BOOL) {                                                          \
                value = value != 0;                                                                \
            } else if (to_whole && !(value >= lo && value <= hi &&                                 \
                                     (from_whole || value == trunc(value)))) {                     \
                return i;                                                                          \
            }                                                                                      \
            value = value != value ? (double)NAN : value;                                          \
            to[i] = (to_type)value;                                                                \
        }                                                                                          \
        return n;                                                                                  \
    }
#define FROM_EACH(TO, to_type, to_whole)                                                           \
    PAIR(TO, to_type, to_whole, BOOL, uint8_t, true)                                               \
    PAIR(TO, to_type, to_whole, U8, uint8_t, true)                                                 \
    PAIR(TO, to_type, to_whole, U16, uint16_t, true)                                               \
    PAIR(TO, to_type, to_whole, I16, int16_t, true)                                                \
    PAIR(TO, to_type, to_whole, U32, uint32_t, true)                                               \
    PAIR(TO, to_type, to_whole, I32, int32_t, true)                                                \
    PAIR(TO, to_type, to_whole, F32, float, false)                                                 \
    PAIR(TO, to_type, to_whole, F64, double, false)
TYPES(FROM_EACH)

static size_t (*const CONVERT[ELEM_COUNT][ELEM_COUNT])(const void *in, void *out, size_t n) = {
#define ROW(TO, to_type, to_whole)                                                                 \
    [ELEM_##TO] = {                                                                                \
        [ELEM_BOOL] = BOOL_to_##TO,                                                                \
        [ELEM_U8] = U8_to_##TO,                                                                    \
        [ELEM_U16] = U16_to_##TO,                                                                  \
        [ELEM_I16] = I16_to_##TO,                                                                  \
        [ELEM_U32] = U32_to_##TO,                                                                  \
        [ELEM_I32] = I32_to_##TO,                                                                  \
        [ELEM_F32] = F32_to_##TO,                                                                  \
        [ELEM_F64] = F64_to_##TO,                                                                  \
    },
    TYPES(ROW)
};

/* Blocks of a known length are compared several at a time, at twice the rate of a plain loop. */
enum { NAN_BLOCK = 64 };

#define HAS_NAN(NAME, type, whole)                                                                 \
    static bool has_nan_##NAME(const void *row, size_t n)                                          \
    {                                                                                              \
        const type *at = row;                                                                      \
        size_t i = 0;                                                                              \
        int has = 0;                                                                               \
        for (; !whole && i + NAN_BLOCK <= n; i += NAN_BLOCK) {                                     \
            int here = 0;                                                                          \
            for (size_t k = 0; k < NAN_BLOCK; k++) {                                               \
                here |= at[i + k] != at[i + k];                                                    \
            }                                                                                      \
            has |= here;                                                                           \
        }                                                                                          \
        for (; !whole && i < n; i++) {                                                             \
            has |= at[i] != at[i];                                                                 \
        }                                                                                          \
        return has != 0;                                                                           \
    }
TYPES(HAS_NAN)

static bool (*const HAS_NAN_OF[ELEM_COUNT])(const void *row, size_t n) = {
#define HAS_NAN_ROW(NAME, type, whole) [ELEM_##NAME] = has_nan_##NAME,
    TYPES(HAS_NAN_ROW)
};

#define MAX(NAME, type, whole)                                                                     \
    static double max_##NAME(const void *row, size_t n)                                            \
    {                                                                                              \
        const type *at = row;                                                                      \
        double most = -INFINITY;                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            most = (double)at[i] > most ? (double)at[i] : most;                                    \
        }                                                                                          \
        return most;                                                                               \
    }
TYPES(MAX)

static double (*const MAX_OF[ELEM_COUNT])(const void *row, size_t n) = {
#define MAX_ROW(NAME, type, whole) [ELEM_##NAME] = max_##NAME,
    TYPES(MAX_ROW)
};

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
