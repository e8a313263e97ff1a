/*
 * convert: every element type fits into a double exactly, so one pair of functions a type is all
 * there is: from memory to double and back.
 */
#include "convert.h"

#include <math.h>
#include <stdint.h>

#define TYPES(T)                                                                                   \
    T(BOOL, uint8_t)                                                                               \
    T(U8, uint8_t)                                                                                 \
    T(U16, uint16_t)                                                                               \
    T(I16, int16_t)                                                                                \
    T(U32, uint32_t)                                                                               \
    T(I32, int32_t)                                                                                \
    T(F32, float)                                                                                  \
    T(F64, double)

#define ACCESS(NAME, type)                                                                         \
    static double get_##NAME(const void *row, size_t i)                                            \
    {                                                                                              \
        return (double)((const type *)row)[i];                                                     \
    }                                                                                              \
    static void put_##NAME(void *row, size_t i, double value)                                      \
    {                                                                                              \
        ((type *)row)[i] = (type)value;                                                            \
    }
TYPES(ACCESS)
#undef ACCESS

static const struct Access {
    double (*get)(const void *row, size_t i);
    void (*put)(void *row, size_t i, double value);
} ACCESS[ELEM_COUNT] = {
#define ROW(NAME, type) [ELEM_##NAME] = {get_##NAME, put_##NAME},
    TYPES(ROW)
#undef ROW
};

bool convert_row(Elem from, const void *in, Elem to, void *out, size_t n, size_t *bad)
{
    double lo = elem_min(to), hi = elem_max(to);
    bool whole = elem_is_integer(to);
    for (size_t i = 0; i < n; i++) {
        double value = ACCESS[from].get(in, i);
        if (to == ELEM_BOOL) {
            value = value != 0;
        } else if (whole && !(value >= lo && value <= hi && value == trunc(value))) {
            *bad = i;
            return false;
        }
        ACCESS[to].put(out, i, value);
    }
    return true;
}

double convert_get(Elem elem, const void *row, size_t i)
{
    return ACCESS[elem].get(row, i);
}

double convert_max(Elem elem, const void *row, size_t n, double least)
{
    for (size_t i = 0; i < n; i++) {
        double value = ACCESS[elem].get(row, i);
        least = value > least ? value : least;
    }
    return least;
}
