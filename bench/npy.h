/* npy: results of a run as files that numpy reads, for bench/peers.py. */
#ifndef BENCH_NPY_H
#define BENCH_NPY_H

#include "runtime/exec/exec.h"

/* FOLDER/NAME.npy: elements of a dense array of 4 axes, the last one first. */
bool npy_write(const char *folder, const char *name, Elem elem, const int64_t extent[4], const void *at, Err *err);
/* Every output of the run in a file of its name: images as channels, planes, rows and columns; values as
 * an image of one pixel; tables with a row for each of their columns, the names of which are the lines of
 * NAME.names. */
bool npy_write_results(const char *folder, const Program *program, Exec *exec, Err *err);

#endif
