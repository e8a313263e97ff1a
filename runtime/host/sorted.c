/* sorted: by the C library. */
#include "sorted.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sorted_numbers(double *at, size_t n)
{
    qsort(at, n, sizeof *at, ascending);
}

double sorted_median(const double *at, size_t n)
{
    const double lower = at[(n - 1) / 2], upper = at[n / 2];
    return lower == upper ? lower : (lower + upper) / 2;
}
