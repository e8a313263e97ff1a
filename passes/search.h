/*
 * search: the plan that costs least by the model (cost.h), of all that the passes' decisions allow.
 *
 * Every answer to a decision gives the same bits, so that the answers may be searched.  What is asked for depends on the
 * answers before: plans are the leaves of a tree.  Of small graphs all leaves are compared; of larger ones answers
 * are turned round one at a time for as long as that makes the plan cheaper.
 */
#ifndef PASSES_SEARCH_H
#define PASSES_SEARCH_H

#include "pass.h"

typedef struct PassSearch {
    const Decision *answers; /* of the cheapest plan; where it is that of the rules, none */
    int n_answers;
    double cost, by_rules; /* a pixel, as cost_plan counts it: of that plan, and of that of the rules */
    int plans;             /* compared */
    bool all;              /* they are all that there are */
    bool sure;             /* it is cheaper than that of the rules by more than the model has been wrong */
} PassSearch;

/* Kinds of decisions, a bit each: all, and those of which the model was held against measurements. */
enum { SEARCH_ALL = (1 << DECISION_KIND_COUNT) - 1, SEARCH_TRUSTED = 1 << DECISION_INLINE | 1 << DECISION_BLOCKS };

/* Of a graph as it was lowered, which stays as it is.  Of `like` it takes what is to be fused, for which device, and the
 * passes.  Decisions of other kinds than `kinds` are left to the rules.  At most `most` plans are made.  The answers live in `arena`. */
PassSearch pass_search(const IrGraph *lowered, const PassContext *like, int kinds, int most, Arena *arena);

#endif
