/*
 * shrink: makes a failing subject smaller as long as it fails in the same way.
 *
 * What is tried follows from the syntax tree, as replacements of pieces of text: statements are
 * left out, blocks replaced by what is in them, expressions by their operands or by a number,
 * arguments dropped, numbers simplified; then runs are left out, images cut and made plain.
 */
#ifndef TESTS_SHRINK_H
#define TESTS_SHRINK_H

#include "subject.h"

/* True when this subject still fails in the way that is looked for. */
typedef bool (*ShrinkFails)(const Subject *subject, void *context);

/* At most `tries` calls of `fails`. */
void shrink(Subject *subject, ShrinkFails fails, void *context, int tries);

#endif
