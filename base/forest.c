/* forest: see forest.h. */
#include "forest.h"

#include <stdio.h>
#include <string.h>

uint32_t forest_stride(const Forest *f)
{
    return (uint32_t)f->classes * (f->sums == FOREST_F32 ? 1u : 2u);
}

size_t forest_length(const Forest *f)
{
    return 2 * (size_t)f->nodes + (size_t)f->leaves * forest_stride(f);
}

static bool in_range(long v, long lo, long hi)
{
    return v >= lo && v <= hi;
}

bool forest_head(const char *text, Forest *f, const char **words)
{
    long v[6];
    int n = 0;
    memset(f, 0, sizeof *f);
    if (sscanf(text, "%9ld %9ld %9ld %9ld %9ld %9ld%n", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &n) != 6 ||
        !in_range(v[0], 1, FOREST_FEATURES) || !in_range(v[1], 1, FOREST_CLASSES) || !in_range(v[2], 1, FOREST_TREES) ||
        !in_range(v[3], FOREST_F32, FOREST_F64) || !in_range(v[4], v[2], FOREST_WORDS) ||
        !in_range(v[5], 1, FOREST_WORDS)) {
        return false;
    }
    *f = (Forest){.features = (int)v[0],
                  .classes = (int)v[1],
                  .trees = (int)v[2],
                  .sums = (ForestSums)v[3],
                  .nodes = (uint32_t)v[4],
                  .leaves = (uint32_t)v[5]};
    for (int c = 0; c < f->classes; c++) {
        int more = 0;
        long number;
        text += n;
        if (sscanf(text, " %11ld%n", &number, &more) != 1 || !in_range(number, INT32_MIN, INT32_MAX)) {
            return false;
        }
        f->number[c] = (int32_t)number;
        n = more;
    }
    *words = text + n + 1;
    return text[n] == ':' && forest_length(f) <= FOREST_WORDS;
}

bool forest_words(const Forest *f, const char *digits, uint32_t *to)
{
    size_t n = forest_length(f);
    for (size_t i = 0; i < n; i++) {
        uint32_t word = 0;
        for (int k = 0; k < 8; k++, digits++) {
            bool decimal = *digits >= '0' && *digits <= '9', letter = *digits >= 'a' && *digits <= 'f';
            if (!decimal && !letter) {
                return false;
            }
            word = word << 4 | (uint32_t)(decimal ? *digits - '0' : *digits - 'a' + 10);
        }
        to[i] = word;
    }
    return *digits == '\0';
}

bool forest_is_sound(const Forest *f, const uint32_t *words)
{
    for (uint32_t i = 0; i < f->nodes; i++) {
        uint32_t what = words[2 * i + 1], to = what & 0xffffff;
        bool leaf = what >> 24 == FOREST_LEAF;
        uint32_t feature = (what & ~(uint32_t)FOREST_NAN) >> 24;
        if (leaf ? to >= f->leaves : feature >= (uint32_t)f->features || to <= i || to + 1 >= f->nodes) {
            return false;
        }
    }
    return true;
}

static double weight_at(const Forest *f, const uint32_t *leaf, int c)
{
    float narrow;
    double wide;
    if (f->sums == FOREST_F32) {
        memcpy(&narrow, &leaf[c], sizeof narrow);
        return (double)narrow;
    }
    uint64_t bits = (uint64_t)leaf[2 * c + 1] << 32 | leaf[2 * c];
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static const uint32_t *leaf_of(const Forest *f, const uint32_t *words, const double *features, uint32_t at)
{
    uint32_t what = words[2 * at + 1];
    while (what >> 24 != FOREST_LEAF) {
        float threshold;
        memcpy(&threshold, &words[2 * at], sizeof threshold);
        double v = features[what >> 24 & 63];
        bool left = (what & FOREST_NAN) != 0 ? !(v > (double)threshold) : v <= (double)threshold;
        at = (what & 0xffffff) + (left ? 0 : 1);
        what = words[2 * at + 1];
    }
    return words + 2 * (size_t)f->nodes + (size_t)(what & 0xffffff) * forest_stride(f);
}

double forest_apply(const Forest *f, const uint32_t *words, const double *features, int wanted)
{
    double sum[FOREST_CLASSES] = {0};
    bool wide = f->sums == FOREST_F64;
    for (int t = 0; t < f->trees; t++) {
        const uint32_t *leaf = leaf_of(f, words, features, (uint32_t)t);
        for (int c = 0; c < f->classes; c++) {
            sum[c] += weight_at(f, leaf, c);
            sum[c] = wide ? sum[c] : (double)(float)sum[c];
        }
    }
    float all = 0;
    int best = 0;
    for (int c = 0; c < f->classes; c++) {
        all += (float)sum[c];
        sum[c] = wide ? sum[c] / f->trees : sum[c];
        best = sum[c] > sum[best] ? c : best;
    }
    return wanted == 0 ? f->number[best]
           : wide      ? (double)(float)sum[wanted - 1]
                       : (double)((float)sum[wanted - 1] / all);
}
