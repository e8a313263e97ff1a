/* row_order: in which order rows are sorted by a column. */
#ifndef RUNTIME_ROW_ORDER_H
#define RUNTIME_ROW_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* The rows of v[0..n-1] in order, those with equal values as they were and NaN last, both ways.
 * False: no memory. */
bool row_order(const double *v, int64_t n, bool descending, int64_t *order);

#endif
