/*
 * forest_text: a trained random forest from a file or a text.
 *
 * Two kinds of text are read: the OpenCL files that APOC writes, of which nothing is run, and the plain one that
 * pipec.forest_text() of the Python package makes of a forest of scikit-learn,
 *
 *   forest 1 features 2 classes 0 1 trees 1
 *   split 0 99.5
 *   leaf 1 0
 *   leaf 0.25 0.75
 *
 * whose words are separated by blanks or line ends.  A tree is a leaf with a weight for each class, or a split with the
 * number of a feature and a threshold, followed by the tree for values up to the threshold and the one for others.  NaN
 * is one of the others, unless `nan` stands behind the threshold.
 */
#ifndef FRONTEND_FOREST_TEXT_H
#define FRONTEND_FOREST_TEXT_H

#include "../../base/arena.h"
#include "../../base/err.h"
#include "../../base/forest.h"

/* A forest as base/forest.h writes it, and what the file calls the features that it was trained with ("gaussian_blur=2
 * original"; "" where it says nothing); false with the line and what is wrong.  Both are the arena's. */
bool forest_from_text(Arena *arena, const char *text, const char **forest, const char **features, Err *err);

#endif
