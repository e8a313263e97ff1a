/*
 * targets: whether the outputs may be written where their names say.
 *
 * An output of the usual ending replaces what has its name: that is how a run is repeated.  Under any other name may be
 * somebody's notes or the pipeline itself, which only an output of the same kind may have been.
 */
#ifndef RUNTIME_TARGETS_H
#define RUNTIME_TARGETS_H

#include "batch_list.h"

/* The format in which an output is written under a name: a name that ends in .zarr, or is that of label images of a folder
 * of zarr, makes OME-Zarr of what would be a TIFF file. */
const char *targets_format(const ProgOutput *output, const char *name);

/* CODE_USAGE for names that promise another kind of file, and for those of files that no run has written. */
bool targets_check(const BatchList *list, Err *err);

#endif
