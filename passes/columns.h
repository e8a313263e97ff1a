/* columns: what folds do to each pixel. */
#ifndef PASSES_COLUMNS_H
#define PASSES_COLUMNS_H

#include "../ir/schedule.h"

/* What takes long of what the folds of streaming kernels do to each pixel becomes a stage of its kernel.  In the step it stands
 * in front of its readers, in the graph behind all nodes. */
void pass_name_columns(IrGraph *g, IrSchedule *s);

#endif
