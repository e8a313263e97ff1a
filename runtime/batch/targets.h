/*
 * targets: whether the outputs may be written where their names say.
 *
 * An output of the usual ending replaces what has its name: that is how a run is repeated.  Under any other name may be
 * somebody's notes or the pipeline itself, which only an output of the same kind may have been.
 */
#ifndef RUNTIME_TARGETS_H
#define RUNTIME_TARGETS_H

#include "batch_list.h"

/* CODE_USAGE for names that promise another kind of file, and for those of files that no run has written. */
bool targets_check(const BatchList *list, Err *err);

#endif
