/* columns: what folds do to each pixel. */
#ifndef PASSES_COLUMNS_H
#define PASSES_COLUMNS_H

#include "../ir/schedule.h"

/* What takes long of what the folds of streaming kernels do to each pixel becomes a stage of its kernel.  Nodes of the graph,
 * and the schedule with them, take other numbers. */
void pass_name_columns(IrGraph *g, IrSchedule *s);

#endif
