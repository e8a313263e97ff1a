/* exec_build: the kernels of a bound program, compiled several at a time. */
#ifndef RUNTIME_EXEC_BUILD_H
#define RUNTIME_EXEC_BUILD_H

#include "exec_plan.h"

typedef struct ExecBuilt ExecBuilt;

/* Owned by the caller (exec_built_free), before the device is closed. */
bool exec_build(ExecPlan *plan, const ExecTarget *target, Device *dev, ExecBuilt **out, Err *err);
void exec_built_free(ExecBuilt *built); /* NULL is allowed */
/* The kernel of a LAUNCH, and the reader of a PRIMITIVE, by the program's kernel number. */
DevKernel *exec_built_kernel(const ExecBuilt *built, int kernel);
const char *exec_built_reader(const ExecBuilt *built, int kernel);

#endif
