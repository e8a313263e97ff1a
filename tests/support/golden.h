/*
 * golden: pipelines with small images of several kinds, and what another package gives for them; files of tests/data.
 *
 *     image NAME TYPE EXTENTS...      z y x, y x or x; TYPE as of a file; its pixels are 2 um along x, else 1
 *     VALUES...
 *     case NAME TOLERANCE INPUTS...   names of images, in the order of the pipeline's inputs
 *     | a line of the pipeline
 *     = EXTENTS...                    one for each output, in their order: of its pixels, or columns and rows of
 *     VALUES...                       a table; "=" alone: of a value
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "both.h"

enum { GOLDEN_OUTPUTS = 64 };

typedef struct GoldenCase {
    const char *name, *text;
    double tolerance; /* absolute, and relative to values above 1 */
    bool quiet;       /* what differs is not said */
    BothCase in;
    int n_outputs, length[GOLDEN_OUTPUTS];
    double *want[GOLDEN_OUTPUTS];
} GoldenCase;

typedef struct Golden {
    Vec(GoldenCase) cases;
} Golden;

/* All cases of a file of TEST_DATA, in the arena of fixtures.h. */
Golden golden_read(const char *folder, const char *name);
/* Evaluates a case; says what differs and returns false. */
bool golden_agrees(const GoldenCase *c);

#endif
