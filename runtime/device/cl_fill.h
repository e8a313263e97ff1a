/* cl_fill: filling with a kernel, for where clEnqueueFillBuffer cannot be trusted. */
#ifndef RUNTIME_CL_FILL_H
#define RUNTIME_CL_FILL_H

#include "cl.h"

/* Writes `words` words from byte `offset` on, a multiple of 4. */
bool cl_fill_words(Device *dev, DevMem *mem, size_t offset, size_t words, uint32_t word, Err *err);

#endif
