/* prim_program: the programs of primitives, put together from texts. */
#ifndef RUNTIME_PRIM_PROGRAM_H
#define RUNTIME_PRIM_PROGRAM_H

#include "prim.h"

/*
 * Builds the defines and then the texts, of which NULL is the last; a newline follows each.  Texts
 * that have the same address must be the same as long as the call's list of programs lives.
 */
bool prim_program(const PrimCall *call, const char *defines, const char *const *texts, DevProgram **program);

/* Refuses a call whose kernels need atomics of 64 bits, where the device has none. */
bool prim_needs_wide_atomics(const PrimCall *call);

#endif
