/*
 * siblings: kernels that read the same image become one.
 */
#ifndef PASSES_SIBLINGS_H
#define PASSES_SIBLINGS_H

#include "grouping.h"

/* Joins kernels of the schedule; whether there were any. */
bool pass_join_siblings(Grouping *b);

#endif
