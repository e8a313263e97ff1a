/*
 * check: whether every way of computing a pipeline gives the same bits.
 *
 * The evaluator on the graph as it was lowered is what all others are held against.  A *variant* is
 * a row of a table: how stages are fused and which pass is left out.  Each variant is checked as a
 * graph (the evaluator on what the passes made of it, the program and its plan; no OpenCL, thousands
 * a minute) and, where there is a device, as a run.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include "subject.h"

#include "passes/figures.h"

typedef enum Outcome {
    CHECK_SAME,
    CHECK_REFUSED, /* the text does not compile, or a case cannot be read: nothing was checked */
    CHECK_DIFFERS,
    CHECK_FORMAT,  /* the formatted text is another program */
    CHECK_FAILS,   /* a run ends with a message where the evaluator has a result */
    CHECK_CRASHES, /* set by whoever started the child */
    CHECK_HANGS,
    CHECK_OUTCOMES
} Outcome;
extern const char *const CHECK_NAMES[CHECK_OUTCOMES];

typedef struct Verdict {
    Outcome outcome;
    int variant;
    bool on_device;
    char why[1100];
} Verdict;

typedef struct Variant {
    const char *name;
    PassFuse fuse;
    const char *without;          /* the pass that is left out; NULL: none */
    int part_rows;                /* runs work on parts of so many rows; 0: in one piece */
    bool across;                  /* parts of volumes are rows of all planes */
    bool limited;                 /* runs get less memory than they need in one piece */
    int shape;                    /* of kernels: SHAPE_BY_DEVICE, or SHAPE_GPU on any device */
    const DeviceFigures *figures; /* what the plan is for; NULL: the table's first device */
    bool in_rounds;               /* what is read anywhere is a step of its own; nothing to do where there is none */
    bool others;                  /* where a plan has a choice, half of the answers are not those of the rules */
} Variant;
extern const Variant CHECK_VARIANTS[];
extern const int CHECK_VARIANTS_N;

/* Which of them: bits of CHECK_VARIANTS, as graphs and on the device (which may be NULL), there with the cases of
 * these bits. */
typedef struct Checks {
    unsigned graphs, runs, cases;
    Device *dev;
    bool soon; /* what the evaluator needs a second for is left out */
} Checks;

/* Stops at the first difference.  `at` is set to what is being checked, for whoever watches. */
Verdict check_subject(const Subject *subject, const Checks *checks, Verdict *at);

#endif
