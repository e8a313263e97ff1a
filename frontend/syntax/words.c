/* words: tables of the names that mean something everywhere. */
#include "words.h"

#include <math.h>
#include <string.h>

const WordConstant WORDS_CONSTANTS[] = {
    {"inf", INFINITY},
    {"nan", NAN},
    {"pi", 3.14159265358979323846},
};
const int WORDS_CONSTANTS_N = (int)(sizeof WORDS_CONSTANTS / sizeof *WORDS_CONSTANTS);

const char *const WORDS_FOLDS[WORD_FOLDS] = {
    [WORD_SUM] = "sum",   [WORD_PROD] = "prod",     [WORD_MIN] = "min",
    [WORD_MAX] = "max",   [WORD_MEAN] = "mean",     [WORD_VAR] = "var",
    [WORD_STD] = "std",   [WORD_MEDIAN] = "median", [WORD_PERCENTILE] = "percentile",
    [WORD_MODE] = "mode", [WORD_COUNT] = "count",   [WORD_ANY] = "any",
    [WORD_ALL] = "all",   [WORD_BLEND] = "blend",
};

const WordConstant *words_constant(const char *name)
{
    for (int i = 0; i < WORDS_CONSTANTS_N; i++) {
        if (strcmp(WORDS_CONSTANTS[i].name, name) == 0) {
            return &WORDS_CONSTANTS[i];
        }
    }
    return NULL;
}

Border words_border(const char *name)
{
    for (int i = 0; i < BORDER_CONSTANT; i++) {
        if (strcmp(IR_BORDER_NAMES[i], name) == 0) {
            return (Border)i;
        }
    }
    return BORDER_KINDS;
}

/* numpy's reflect is mirror here, scipy's is reflect. */
const char *words_border_elsewhere(const char *name)
{
    static const struct {
        const char *name, *here;
    } ELSEWHERE[] = {
        {"clamp", "nearest"},        {"edge", "nearest"},
        {"replicate", "nearest"},    {"symmetric", "reflect"},
        {"symm", "reflect"},         {"grid_mirror", "reflect"},
        {"reflect_101", "mirror"},   {"periodic", "wrap"},
        {"circular", "wrap"},        {"grid_wrap", "wrap"},
        {"zero", "constant(0)"},     {"zeros", "constant(0)"},
        {"constant", "constant(0)"}, {"grid_constant", "constant(0)"},
    };
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof *ELSEWHERE; i++) {
        if (strcmp(ELSEWHERE[i].name, name) == 0) {
            return ELSEWHERE[i].here;
        }
    }
    return NULL;
}

bool words_is_fold(const char *name)
{
    for (int i = 0; i < WORD_FOLDS; i++) {
        if (strcmp(WORDS_FOLDS[i], name) == 0) {
            return true;
        }
    }
    return false;
}

bool words_is_known(const char *name)
{
    bool axis = strlen(name) == 1 && strchr("xyz", name[0]) != NULL;
    return axis || strcmp(name, "none") == 0 || words_constant(name) != NULL || words_border(name) != BORDER_KINDS;
}
