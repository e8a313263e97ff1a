/* lifetimes: from which step to which each buffer is needed, and which one's place it may take. */
#ifndef CODEGEN_LIFETIMES_H
#define CODEGEN_LIFETIMES_H

#include "kernel.h"

typedef struct CgLifetimes {
    const CgShared *cg;
    const ProgStep *steps;
    int n_steps;
    ProgBuffer *buffers; /* first, last and onto are filled */
    int n_buffers;
    const int *step_of; /* by step of the schedule: the program's */
} CgLifetimes;

void cg_lifetimes(const CgLifetimes *l);

#endif
