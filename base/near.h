/*
 * near: what is folded over the labels near a label, and the columns of a table of them; compiler,
 * evaluator and runtime have it from here.
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stdbool.h>
#include <string.h>

typedef enum NearFold {
    NEAR_COUNT,
    NEAR_SUM,
    NEAR_MEAN,
    NEAR_MIN,
    NEAR_MAX,
    NEAR_STD,
    NEAR_MEDIAN,
    NEAR_MODE
} NearFold;

enum { NEAR_COLUMNS = 3 };
#define NEAR_COLUMN_TEXT "label,neighbour,distance"

static inline void near_names(char (*names)[64], bool *integer)
{
    static const char *const NAMES[NEAR_COLUMNS] = {"label", "neighbour", "distance"};
    for (int i = 0; i < NEAR_COLUMNS; i++) {
        strcpy(names[i], NAMES[i]);
        integer[i] = i < NEAR_COLUMNS - 1;
    }
}

#endif
