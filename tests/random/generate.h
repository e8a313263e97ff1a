/*
 * generate: random pipelines, the same one for the same seed.
 *
 * Statements are drawn one after another and the compiler is the judge: what it refuses is dropped,
 * and of what it accepts it says what kind of value came out.  So the generator knows only how
 * expressions are written; operators come from the table (ops.def) with arguments drawn from their
 * signatures, and a new row is covered without a change here.
 */
#ifndef TESTS_GENERATE_H
#define TESTS_GENERATE_H

#include "subject.h"

/* For each operator of the table: how many accepted statements call it. */
enum { GENERATE_OPS = 256 };

/* Fills `subject`.  While a statement is tried out `subject->text` holds it, so that whoever shares
 * the memory knows what crashed the compiler. */
void generate(unsigned seed, Subject *subject, unsigned used[GENERATE_OPS]);

#endif
