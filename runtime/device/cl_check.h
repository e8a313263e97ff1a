/*
 * cl_check: whether a device that does not promise it computes as pipec needs.
 *
 * All results are the same bits on every device, so f32 must be IEEE 754's: subnormal numbers too, division and square
 * root correctly rounded, fma rounded once.  And loops must have as many turns as they are told: Mesa's llvmpipe ends
 * all of a work-item's after 65535 without a word.
 */
#ifndef RUNTIME_CL_CHECK_H
#define RUNTIME_CL_CHECK_H

#include "cl.h"

/* A sentence where it does not.  With PIPEC_ANY_DEVICE in the environment nobody asks. */
bool cl_check(Device *dev, Err *err);

#endif
