/*
 * horizontal: horizontal fusion: kernels that read the same image become one.
 */
#ifndef PASSES_HORIZONTAL_H
#define PASSES_HORIZONTAL_H

#include "grouping.h"

/* Joins kernels of the schedule; whether there were any. */
bool pass_fuse_horizontally(Grouping *b);

#endif
