/* parts_run: runs a bound program segment by segment, part by part (parts.h). */
#ifndef RUNTIME_PARTS_RUN_H
#define RUNTIME_PARTS_RUN_H

#include "exec_state.h"

/* The plan has parts.  Values and tables are the executor's afterwards. */
bool parts_run(Exec *exec, const ExecStream *stream, Err *err);

#endif
