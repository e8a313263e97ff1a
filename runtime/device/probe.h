/* probe: what a device can do, measured. */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

#include "cl.h"

/* 10^9 bytes a second of a copy, read and written, and 10^9 float operations a second.  The device was
 * opened with `profile`. */
bool probe_device(Device *dev, double *copy_gb, double *giga_ops, Err *err);

#endif
