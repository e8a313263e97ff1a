/*
 * nearest: the name that was probably meant.
 *
 * Damerau-Levenshtein distance in its "optimal string alignment" form: insertions, deletions,
 * substitutions and swaps of two neighbours cost one each; capitals count as their small letters.  Three rows of the
 * table are kept.
 */
#include "diag.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 }; /* longer names are not corrected */

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, int na, const char *b, int nb)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= nb; j++) {
        above[j] = j;
        before[j] = j;
    }
    for (int i = 1; i <= na; i++) {
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            int cost = least(above[j], row[j - 1]) + 1;
            cost = least(cost, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                cost = least(cost, before[j - 2] + 1);
            }
            row[j] = cost;
        }
        int *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[nb];
}

const char *fe_nearest(const char *name, const char *const *candidates, int n)
{
    return fe_nearest_within(name, candidates, n, (int)strlen(name) / 3);
}

const char *fe_nearest_within(const char *name, const char *const *candidates, int n, int limit)
{
    size_t length = strlen(name);
    if (length > LONGEST) {
        return NULL;
    }
    const char *best = NULL;
    for (int i = 0; i < n; i++) {
        size_t size = candidates[i] == NULL ? LONGEST + 1 : strlen(candidates[i]);
        if (size > LONGEST || abs((int)size - (int)length) > limit) {
            continue;
        }
        int d = distance(name, (int)length, candidates[i], (int)size);
        if (d <= limit) {
            best = candidates[i];
            limit = d - 1;
        }
    }
    return best;
}

const char *fe_nearest_part(const char *name, const char *const *candidates, int n)
{
    const size_t length = strlen(name);
    const char *best = fe_nearest(name, candidates, n);
    for (int i = 0; i < n && best == NULL && length >= 3; i++) {
        best = candidates[i] != NULL && strncmp(candidates[i], name, length) == 0 ? candidates[i] : NULL;
    }
    return best;
}
