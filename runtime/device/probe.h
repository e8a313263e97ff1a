/* probe: what a device can do, measured. */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

#include "cl.h"

typedef struct Probe {
    double copy_gb;   /* 10^9 bytes a second that a copy moves, read and written */
    double giga_ops;  /* 10^9 float operations a second */
    double local_gb;  /* 10^9 bytes a second that are read from local memory */
    double launch_us; /* from the begin of a kernel that does nothing to that of the next one */
} Probe;

/* The device was opened with `profile`. */
bool probe_device(Device *dev, Probe *out, Err *err);

#endif
