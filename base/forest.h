/*
 * forest: a trained random forest as a table of words, which compiler, evaluator and kernels walk alike.
 *
 * A node is two words.  Of a split these are the bits of a float, its threshold, and feature << 24 | left: a value up
 * to the threshold goes to node `left`, one above it to the node behind, and so does NaN unless FOREST_NAN is set.  Of a
 * leaf the second word is 255 << 24 | its number.  The roots come first, then each level of all trees; a child lies behind its parent,
 * so that every walk ends.  Behind the nodes lie the leaves, each with a weight for every class: of FOREST_F32 floats,
 * else doubles, the low word first.  Leaves that are alike are there once.
 *
 * As text: "features classes trees sums nodes leaves number number ...:", the numbers of the classes, and then the words
 * with eight hexadecimal digits each.
 */
#ifndef BASE_FOREST_H
#define BASE_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FOREST_FEATURES = 60,
    FOREST_CLASSES = 64,
    FOREST_TREES = 10000,
    FOREST_DEPTH = 1000,
    FOREST_WORDS = 1 << 22,
    FOREST_LEAF = 255,
    FOREST_NAN = 1 << 30 /* of a split's second word: NaN goes to the left */
};

/* How the weights of the trees are added, always in their order. */
typedef enum ForestSums {
    FOREST_F32,   /* whole numbers: floats are exact */
    FOREST_MIXED, /* a float and a double, rounded to a float, as APOC's kernels do */
    FOREST_F64    /* doubles, and their means are compared, as scikit-learn does */
} ForestSums;

typedef struct Forest {
    int features, classes, trees;
    ForestSums sums;
    uint32_t nodes, leaves;
    int32_t number[FOREST_CLASSES]; /* what the classes are called */
} Forest;

/* Words of a leaf, and of all. */
uint32_t forest_stride(const Forest *f);
size_t forest_length(const Forest *f);
/* The head of such a text; *words are the digits behind it.  False: it is none. */
bool forest_head(const char *text, Forest *f, const char **words);
/* The words of a text whose head has been read; false: other letters, or not as many. */
bool forest_words(const Forest *f, const char *digits, uint32_t *to);
/* Whether every node leads to others behind it or to a leaf that is there. */
bool forest_is_sound(const Forest *f, const uint32_t *words);
/* The number of the class of a pixel with these features (`wanted` 0), or the share of class number[wanted - 1]. */
double forest_apply(const Forest *f, const uint32_t *words, const double *features, int wanted);

#endif
