/* cl_find: the devices of all platforms, and the one that the user chose. */
#ifndef RUNTIME_CL_FIND_H
#define RUNTIME_CL_FIND_H

#include "cl.h"

#include <CL/cl.h>

typedef struct ClFound {
    DeviceInfo info;
    cl_platform_id platform;
    cl_device_id id;
    int rank; /* GPUs before others before CPUs */
} ClFound;

/* The device that `choice` means (see DevOptions); CODE_DEVICE with what there is when none does. */
bool cl_find(const char *choice, ClFound *out, Err *err);
/* A property of a device that is a whole number; 0 when it cannot be had. */
cl_ulong cl_device_ulong(cl_device_id id, cl_device_info which);

#endif
