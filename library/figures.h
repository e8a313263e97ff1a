/*
 * figures: what `pipec devices --probe` has measured of devices, kept beside the compiled kernels.
 */
#ifndef LIBRARY_FIGURES_H
#define LIBRARY_FIGURES_H

#include "../base/arena.h"
#include "../base/err.h"
#include "../passes/figures.h"

enum { FIGURES_NAME = 128 };

/* Those of the device whose name contains `name`; false when there are none. */
bool figures_measured(const char *name, DeviceFigures *out);
/* Those of the device that `--device choice` takes (NULL: without it): measured ones, which it tells, or the
 * table's; *out stays where neither are known.  Its name is "" where there is no such device. */
bool figures_of_device(const char *choice, DeviceFigures *out, char name[FIGURES_NAME]);
/* Keeps them in place of what is known of the device. */
bool figures_store(const DeviceFigures *figures, Arena *arena, Err *err);

#endif
