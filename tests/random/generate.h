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

#include "frontend/ops/ops.h"

/* What accepted statements call: for each operator how many; for each of its parameters how many give it an
 * argument of each type (ops.h; the last one: leave it out), and each of its words. */
enum { COVERAGE_OPS = 1024, COVERAGE_WORDS = 16 };
typedef struct Coverage {
    unsigned op[COVERAGE_OPS];
    unsigned type[COVERAGE_OPS][OP_MAX_PARAMS][OP_TYPES + 1];
    unsigned word[COVERAGE_OPS][OP_MAX_PARAMS][COVERAGE_WORDS];
} Coverage;

typedef struct GenerateHow {
    bool renamed; /* with names of generated code, which otherwise one seed in three has */
    bool small;   /* of one statement or two, with one output */
} GenerateHow;

/* Fills `subject`.  While a statement is tried out `subject->text` holds it, so that whoever shares the memory knows what
 * crashed the compiler. */
void generate(unsigned seed, GenerateHow how, Subject *subject, Coverage *coverage);

#endif
