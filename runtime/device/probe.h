/* probe: what a device can do, measured. */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

#include "cl.h"

typedef struct Probe {
    double copy_gb;  /* 10^9 bytes a second that a copy moves, read and written */
    double giga_ops; /* 10^9 float operations a second */
    double local_gb; /* 10^9 bytes a second that are read from local memory */
} Probe;

/* The device was opened with `profile`. */
bool probe_device(Device *dev, Probe *out, Err *err);
/* Microseconds that a kernel takes that does nothing, of many in a row; the device was opened without `profile`,
 * which makes it several times as long. */
bool probe_launch(Device *dev, double *us, Err *err);

#endif
