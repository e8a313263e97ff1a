/*
 * images: what the tests of image files share: the formula of their pixels (see
 * tests/data/make_images.py), pixels of any type as numbers, and a folder for outputs.
 */
#ifndef TESTS_IMAGES_H
#define TESTS_IMAGES_H

#include "../../runtime/files/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline double pixel_base(int64_t t, int64_t c, int64_t z, int64_t y, int64_t x)
{
    return (double)((x + 7 * y + 31 * z + 61 * c + 101 * t) % 251);
}

/* The pixel of a type whose b is given. */
static inline double pixel_typed(Elem elem, double b)
{
    switch (elem) {
    case ELEM_BOOL:
        return fmod(b, 2);
    case ELEM_U8:
        return b;
    case ELEM_U16:
        return 257 * b;
    case ELEM_I16:
        return 257 * (b - 125);
    case ELEM_U32:
        return 16843009 * b;
    case ELEM_I32:
        return 16843009 * (b - 125);
    default:
        return b / 4 - 20;
    }
}

/* Element i of an array of any type. */
static inline double pixel_get(Elem elem, const void *at, size_t i)
{
    switch (elem) {
    case ELEM_U16:
        return ((const uint16_t *)at)[i];
    case ELEM_I16:
        return ((const int16_t *)at)[i];
    case ELEM_U32:
        return ((const uint32_t *)at)[i];
    case ELEM_I32:
        return ((const int32_t *)at)[i];
    case ELEM_F32:
        return (double)((const float *)at)[i];
    case ELEM_F64:
        return ((const double *)at)[i];
    default:
        return ((const uint8_t *)at)[i];
    }
}

static inline void pixel_put(Elem elem, void *at, size_t i, double value)
{
    switch (elem) {
    case ELEM_U16:
        ((uint16_t *)at)[i] = (uint16_t)value;
        break;
    case ELEM_I16:
        ((int16_t *)at)[i] = (int16_t)value;
        break;
    case ELEM_U32:
        ((uint32_t *)at)[i] = (uint32_t)value;
        break;
    case ELEM_I32:
        ((int32_t *)at)[i] = (int32_t)value;
        break;
    case ELEM_F32:
        ((float *)at)[i] = (float)value;
        break;
    case ELEM_F64:
        ((double *)at)[i] = value;
        break;
    default:
        ((uint8_t *)at)[i] = (uint8_t)(int64_t)value;
    }
}

/* A path in a fresh folder of this process, which lies below the folder of the build. */
static inline const char *scratch_path(const char *name)
{
    static char path[4][512];
    static int next;
    char *to = path[next++ % 4];
    const char *base = getenv("TMPDIR");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/pipec-test-%ld", base == NULL ? "/tmp" : base, (long)getpid());
    mkdir(folder, 0777);
    snprintf(to, 512, "%s/%s", folder, name);
    return to;
}

#endif
