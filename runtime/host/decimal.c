/*
 * decimal: 15 digits are enough for most numbers that people write, 17 for every double; the
 * first of 15, 16, 17 that reads back unchanged is the text.  Whole numbers, the bulk of every
 * table, are written without trying.
 */
#include "decimal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t whole(double value, char *to)
{
    char digits[24];
    size_t n = 0, at = 0;
    uint64_t left = (uint64_t)fabs(value);
    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        to[at++] = '-';
    }
    while (n > 0) {
        to[at++] = digits[--n];
    }
    to[at] = '\0';
    return at;
}

size_t decimal_shortest(double value, char to[DECIMAL_BYTES])
{
    if (isnan(value)) {
        strcpy(to, "nan");
        return 3;
    }
    if (fabs(value) < 9007199254740992.0 && value == floor(value)) {
        return whole(value, to);
    }
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(to, DECIMAL_BYTES, "%.*g", digits, value);
        if (isinf(value) || strtod(to, NULL) == value) {
            break;
        }
    }
    /* A program that links this library may have chosen a locale with a decimal comma. */
    char *comma = strchr(to, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    return (size_t)n;
}
