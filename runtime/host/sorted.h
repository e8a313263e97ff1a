/* sorted: numbers in order, and the one in the middle. */
#ifndef RUNTIME_SORTED_H
#define RUNTIME_SORTED_H

#include <stddef.h>

/* Smallest first; none of them is NaN. */
void sorted_numbers(double *at, size_t n);
/* Of numbers in order, at least one; of an even number the mean of the two in the middle. */
double sorted_median(const double *at, size_t n);

#endif
