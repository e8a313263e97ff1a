/*
 * tuned: plans that `pipec tune` has found, a file for each pipeline and device, kept beside the compiled kernels:
 *
 *     inline 12 0 1 blurred
 *
 * the kind of the decision, its stages, the answer, and the first stage's name for whoever reads it.
 */
#ifndef LIBRARY_TUNED_H
#define LIBRARY_TUNED_H

#include "../base/err.h"
#include "../passes/decisions.h"

/* The plan for a pipeline of this hash; false: there is none, and *n is 0.  That of the rules has no answers, too. */
bool tuned_load(const char *hash, const char *device, Arena *arena, const Decision **out, int *n);
bool tuned_store(const char *hash, const char *device, const Decision *plan, int n, Arena *arena, Err *err);

#endif
