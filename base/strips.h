/*
 * strips: how many rows a work-item of a GPU streams over, which the compiler counts with and runs plan by.
 */
#ifndef BASE_STRIPS_H
#define BASE_STRIPS_H

#include <stdint.h>

/* The first and the last row of a strip cost nothing where there is no halo, waiting does; with one, strips
 * of so many halos waste little. */
enum { STRIP_ROWS = 12, STRIP_HALOS = 12 };

static inline int64_t strip_rows(int64_t least, int64_t halo)
{
    return STRIP_HALOS * halo > least ? STRIP_HALOS * halo : least;
}

#endif
