/*
 * ref_near: the labels near a label in plain C: every other one is looked at, and sorted.
 */
#include "ref.h"

#include "../base/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Neighbour {
    double key; /* the squared distance; its negative where the farthest come first */
    uint32_t label;
} Neighbour;

static int compare_neighbours(const void *p, const void *q)
{
    const Neighbour *a = p, *b = q;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return (a->label > b->label) - (a->label < b->label);
}

static bool is_somewhere(const RefNear *near, uint32_t label)
{
    return isfinite(near->at[0][label]) && isfinite(near->at[1][label]) && isfinite(near->at[2][label]);
}

static double squared_distance(const RefNear *near, uint32_t a, uint32_t b)
{
    double square[3];
    for (int axis = 0; axis < 3; axis++) {
        double way = ((double)near->at[axis][b] - (double)near->at[axis][a]) * near->spacing[axis];
        square[axis] = way * way;
    }
    return square[0] + square[1] + square[2];
}

/* Those near a label, in order; their number. */
static size_t neighbours_of(const RefNear *near, uint32_t count, uint32_t label, Neighbour *list)
{
    size_t n = 0, most = (size_t)count;
    double limit = near->limit * near->limit;
    for (uint32_t other = 1; is_somewhere(near, label) && other <= count; other++) {
        double square = other != label && is_somewhere(near, other) ? squared_distance(near, label, other) : NAN;
        if (square <= limit) {
            list[n++] = (Neighbour){near->n < 0 ? -square : square, other};
        }
    }
    qsort(list, n, sizeof *list, compare_neighbours);
    most = fabs(near->n) < (double)count ? (size_t)fabs(near->n) : most;
    return n < most ? n : most;
}

/* ---- folds over the values that are there ------------------------------------------------- */

static float exact_sum(const float *v, const uint32_t *ones, size_t n)
{
    float out[2];
    ref_perlabel(ones, v, (RefShape){(int)n, 1, 1, 1}, 1, LABEL_SUM, out);
    return out[1];
}

static float mean_of(const float *v, const uint32_t *ones, size_t n)
{
    return (float)((double)exact_sum(v, ones, n) / (double)n);
}

/* Overwrites the values. */
static float std_of(float *v, const uint32_t *ones, size_t n)
{
    float mean = mean_of(v, ones, n);
    for (size_t i = 0; i < n; i++) {
        float way = v[i] - mean;
        v[i] = way * way;
    }
    float square = (float)((double)exact_sum(v, ones, n) / (double)n);
    return (float)sqrt((double)square);
}

static int compare_floats(const void *p, const void *q)
{
    float a = *(const float *)p, b = *(const float *)q;
    return (a > b) - (a < b);
}

static float mode_of(const float *sorted, size_t n)
{
    size_t most = 0, from = 0, best = 0;
    for (size_t i = 0; i < n; i++) {
        from = sorted[i] != sorted[from] ? i : from;
        if (i - from + 1 > most) {
            most = i - from + 1;
            best = i;
        }
    }
    return sorted[best];
}

static float fold_values(float *v, const uint32_t *ones, size_t n, int fold)
{
    if (n == 0) {
        return 0;
    }
    if (fold == NEAR_SUM) {
        return exact_sum(v, ones, n);
    }
    if (fold == NEAR_MEAN) {
        return mean_of(v, ones, n);
    }
    if (fold == NEAR_STD) {
        return std_of(v, ones, n);
    }
    qsort(v, n, sizeof *v, compare_floats);
    return fold == NEAR_MIN ? v[0] : fold == NEAR_MAX ? v[n - 1] : fold == NEAR_MEDIAN ? v[n / 2] : mode_of(v, n);
}

/* What the neighbours have, without NaN; their number. */
static size_t values_of(const Neighbour *list, size_t n, const float *values, float *v)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        float value = values != NULL ? values[list[i].label] + 0.0f : (float)sqrt(fabs(list[i].key));
        if (!isnan(value)) {
            v[kept++] = value;
        }
    }
    return kept;
}

bool ref_near(const RefNear *near, const float *values, uint32_t count, int fold, float *out)
{
    Neighbour *list = malloc(((size_t)count + 1) * sizeof *list);
    float *v = malloc(((size_t)count + 1) * sizeof *v);
    uint32_t *ones = malloc(((size_t)count + 1) * sizeof *ones);
    bool ok = list != NULL && v != NULL && ones != NULL;
    out[0] = 0;
    for (uint32_t label = 0; ok && label <= count; label++) {
        ones[label] = 1;
    }
    for (uint32_t label = 1; ok && label <= count; label++) {
        size_t n = neighbours_of(near, count, label, list);
        out[label] = fold == NEAR_COUNT ? (float)n : fold_values(v, ones, values_of(list, n, values, v), fold);
    }
    free(list);
    free(v);
    free(ones);
    return ok;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* The rows of one label, from `at` on. */
static void put_rows(double *table, int64_t rows, int64_t at, uint32_t label, const Neighbour *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        table[at + (int64_t)i] = label;
        table[rows + at + (int64_t)i] = list[i].label;
        table[2 * rows + at + (int64_t)i] = sqrt(fabs(list[i].key));
    }
}

int64_t ref_near_pairs(const RefNear *near, uint32_t count, double **table)
{
    Neighbour *list = malloc(((size_t)count + 1) * sizeof *list);
    int64_t rows = 0, at = 0;
    for (uint32_t label = 1; list != NULL && label <= count; label++) {
        rows += (int64_t)neighbours_of(near, count, label, list);
    }
    *table = calloc(NEAR_COLUMNS * (size_t)rows + 1, sizeof **table);
    bool ok = list != NULL && *table != NULL;
    for (uint32_t label = 1; ok && label <= count; label++) {
        size_t n = neighbours_of(near, count, label, list);
        put_rows(*table, rows, at, label, list, n);
        at += (int64_t)n;
    }
    free(list);
    return ok ? rows : -1;
}
