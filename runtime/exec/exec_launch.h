/*
 * exec_launch: how a launch is divided among work-items.
 */
#ifndef RUNTIME_EXEC_LAUNCH_H
#define RUNTIME_EXEC_LAUNCH_H

#include "exec_plan.h"

enum { EXEC_COLUMNS = 256 }; /* of a group */

/* Groups and strips of a step that is a launch, and which reductions get their pixels from it. */
void exec_plan_launch(ExecPlan *plan, const ExecTarget *target, int step);

#endif
