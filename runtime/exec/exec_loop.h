/* exec_loop: loops of a run in one piece. */
#ifndef RUNTIME_EXEC_LOOP_H
#define RUNTIME_EXEC_LOOP_H

#include "exec.h"

/* Doubles behind both copies of the values: the watched value of the round before, and two flags. */
enum { EXEC_LOOP_VALUES = 3 };

/* The loop that begins with step s. */
bool exec_loop(Exec *exec, int s, Err *err);
/* Readers in the loop read. */
bool exec_loop_begin(const Exec *exec, int s, Err *err);
/* Waits until nothing is on its way to the host. */
void exec_loop_forget(Exec *exec);

#endif
