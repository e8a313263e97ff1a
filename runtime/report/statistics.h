/* statistics: what is usual among numbers, NaN left out. */
#ifndef REPORT_STATISTICS_H
#define REPORT_STATISTICS_H

#include <stddef.h>

typedef struct Usual {
    size_t n;
    double mean, median, spread; /* spread: 1.4826 times the median distance from the median (MAD) */
    double low, high;            /* the smallest and the largest but for half a percent at each end */
} Usual;

/* How far beyond the usual an image is called unusual, in spreads. */
#define UNUSUAL 3.0

/* All zero and n = 0 where there are no numbers, or no memory. */
Usual usual_of(const double *at, size_t n);
/* How many spreads a number lies above the median; 0 where that says nothing. */
double usual_distance(const Usual *usual, double value);

#endif
