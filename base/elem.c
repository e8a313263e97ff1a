/* elem: one table of the element types; every function here is a look-up in it. */
#include "elem.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const struct ElemRow {
    const char *name, *cl;
    size_t size;
    bool integer;
    double lo, hi;
} ROWS[ELEM_COUNT] = {
    [ELEM_NONE] = {"none", "void", 0, false, 0, 0},
    [ELEM_BOOL] = {"bool", "uchar", 1, true, 0, 1},
    [ELEM_U8] = {"u8", "uchar", 1, true, 0, 255},
    [ELEM_U16] = {"u16", "ushort", 2, true, 0, 65535},
    [ELEM_I16] = {"i16", "short", 2, true, -32768, 32767},
    [ELEM_U32] = {"u32", "uint", 4, true, 0, 4294967295.0},
    [ELEM_I32] = {"i32", "int", 4, true, -2147483648.0, 2147483647.0},
    [ELEM_F32] = {"f32", "float", 4, false, -INFINITY, INFINITY},
    [ELEM_F64] = {"f64", "double", 8, false, -INFINITY, INFINITY},
    [ELEM_FILE] = {"file", "file", 0, false, -INFINITY, INFINITY},
};

size_t elem_size(Elem e)
{
    return ROWS[e].size;
}

const char *elem_name(Elem e)
{
    return ROWS[e].name;
}

Elem elem_kept(Elem file)
{
    return file == ELEM_BOOL ? ELEM_U8 : file;
}

const char *elem_cl_name(Elem e)
{
    return ROWS[e].cl;
}

Elem elem_from_name(const char *name)
{
    for (int e = 1; e < ELEM_COUNT; e++) {
        if (strcmp(ROWS[e].name, name) == 0) {
            return (Elem)e;
        }
    }
    return ELEM_NONE;
}

bool elem_is_integer(Elem e)
{
    return ROWS[e].integer;
}

double elem_min(Elem e)
{
    return ROWS[e].lo;
}

double elem_max(Elem e)
{
    return ROWS[e].hi;
}

double elem_get(const void *from, size_t i, Elem e)
{
    switch (e) {
    case ELEM_BOOL:
    case ELEM_U8:
        return ((const uint8_t *)from)[i];
    case ELEM_U16:
        return ((const uint16_t *)from)[i];
    case ELEM_I16:
        return ((const int16_t *)from)[i];
    case ELEM_U32:
        return ((const uint32_t *)from)[i];
    case ELEM_I32:
        return ((const int32_t *)from)[i];
    case ELEM_F32:
        return (double)((const float *)from)[i];
    default:
        return ((const double *)from)[i];
    }
}

void elem_put(void *to, size_t i, Elem e, double value)
{
    switch (e) {
    case ELEM_BOOL:
    case ELEM_U8:
        ((uint8_t *)to)[i] = (uint8_t)value;
        break;
    case ELEM_U16:
        ((uint16_t *)to)[i] = (uint16_t)value;
        break;
    case ELEM_I16:
        ((int16_t *)to)[i] = (int16_t)value;
        break;
    case ELEM_U32:
        ((uint32_t *)to)[i] = (uint32_t)value;
        break;
    case ELEM_I32:
        ((int32_t *)to)[i] = (int32_t)value;
        break;
    case ELEM_F32:
        ((float *)to)[i] = (float)value;
        break;
    default:
        ((double *)to)[i] = value;
    }
}
