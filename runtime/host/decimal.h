/*
 * decimal: numbers as the shortest text that reads back as the same double.
 */
#ifndef RUNTIME_DECIMAL_H
#define RUNTIME_DECIMAL_H

#include <stddef.h>

enum { DECIMAL_BYTES = 32 }; /* enough for every double */

/*
 * "3", "0.1", "6.02e+23", "inf", "-inf", "nan"; whole numbers below 2^53 without point or
 * exponent.  Independent of the locale.  Returns the length.
 */
size_t decimal_shortest(double value, char to[DECIMAL_BYTES]);

#endif
