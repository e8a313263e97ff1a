/* exec_fit: how a run fits into the device's memory, for the plan and for runs that have grown. */
#ifndef RUNTIME_EXEC_FIT_H
#define RUNTIME_EXEC_FIT_H

#include "exec_plan.h"

/* Fits a plan whose buffers, steps and grids are known into target->limit: in one piece, else in parts; where neither
 * is possible, *least is the smallest limit that will do, if there is one and anybody asks. */
bool exec_fit(ExecPlan *plan, const ExecTarget *target, uint64_t *least, Err *err);
/* That limit, from target->limit on; 0: there is none. */
uint64_t exec_fit_least(ExecPlan *plan, const ExecTarget *target);
/* In parts: the peak of the plan is that of the parts, and the values behind them. */
void exec_fit_place_values(ExecPlan *plan, const ExecTarget *target);

/* Of a limit, what the run may hold itself (exec_limit.c); */
uint64_t exec_limit_usable(const ExecPlan *plan, const ExecTarget *target, uint64_t limit);
/* how much memory of the host may be pinned under it; */
uint64_t exec_limit_pinnable(uint64_t limit, uint64_t usable);
/* and the limit under which it may hold so many bytes. */
uint64_t exec_limit_for(const ExecPlan *plan, const ExecTarget *target, uint64_t bytes);

#endif
