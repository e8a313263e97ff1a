/* exec_loop: loops of a run in one piece. */
#ifndef RUNTIME_EXEC_LOOP_H
#define RUNTIME_EXEC_LOOP_H

#include "exec.h"

/* All rounds of the loop that begins with step s. */
bool exec_loop(Exec *exec, int s, Err *err);

#endif
