/* words: the names that mean something everywhere: constants, borders and reductions over
 * indices. */
#ifndef FRONTEND_WORDS_H
#define FRONTEND_WORDS_H

#include "../../ir/ir.h"

#include <stdbool.h>

typedef struct WordConstant {
    const char *name;
    double value;
} WordConstant;

extern const WordConstant WORDS_CONSTANTS[]; /* inf, nan, pi */
extern const int WORDS_CONSTANTS_N;

/* How a comprehension such as sum(... for i in ...) combines. */
typedef enum WordFold {
    WORD_SUM,
    WORD_BLEND,
    WORD_PROD,
    WORD_MIN,
    WORD_MAX,
    WORD_MEAN,
    WORD_VAR,
    WORD_STD,
    WORD_MEDIAN,
    WORD_PERCENTILE,
    WORD_MODE,
    WORD_COUNT,
    WORD_ANY,
    WORD_ALL,
    WORD_FOLDS
} WordFold;

extern const char *const WORDS_FOLDS[WORD_FOLDS];

const WordConstant *words_constant(const char *name);
/* The border called `name`, or BORDER_KINDS; "constant" alone is none. */
Border words_border(const char *name);
/* What to write for a border that others call `name`; NULL when nobody does. */
const char *words_border_elsewhere(const char *name);
bool words_is_fold(const char *name);
/* A constant, a border, an axis or "none". */
bool words_is_known(const char *name);

#endif
