/*
 * figures: what a device can do, for choices between moving bytes and computing again.
 *
 * Plans are made without a device.  They are for the one in devices.def that comes first, or for what
 * --plan-for names: one of the table, or one that was measured.  No output bit depends on it.
 */
#ifndef PASSES_FIGURES_H
#define PASSES_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct DeviceFigures {
    char name[128];
    double copy_gb;   /* 10^9 bytes a second that a copy moves, read and written */
    double giga_ops;  /* 10^9 float operations a second */
    double local_gb;  /* 10^9 bytes a second from local memory */
    double launch_us; /* of a kernel that does nothing, of many in a row */
    bool searched;    /* plans for it are searched by the model, which was held against measurements on GPUs */
} DeviceFigures;

/* The row of the table whose name is a part of `name` (upper or lower case); NULL: the first one.  NULL
 * when there is none. */
const DeviceFigures *figures_known(const char *name);
/* So many operations a pixel may be done again rather than storing their result and reading it back. */
int figures_repeated_ops(const DeviceFigures *figures);

#endif
