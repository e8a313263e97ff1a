/*
 * turn: long tests take their cases in turn.
 *
 * Compiling kernels is what tests wait for.  PIPEC_TEST_TURN=k/n in the environment lets each loop or test that asks take the
 * k-th of every n cases (from 0); without it all are taken.  ../README.md says who sets it: after n commits all have run.
 */
#ifndef SUPPORT_TURN_H
#define SUPPORT_TURN_H

#include <stdbool.h>

/* Is case number `i` of a loop to be run this time? */
bool turn_has(int i);

/* At the head of a test that is case number `i` of its file: leaves it where it is another's turn. */
void turn_or_skip(int i);

#endif
