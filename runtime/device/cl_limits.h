/* cl_limits: what a device can bear, checked before it is asked. */
#ifndef RUNTIME_CL_LIMITS_H
#define RUNTIME_CL_LIMITS_H

#include "cl.h"

/* Bytes that may be held in all: the limit (0: none), or what the device offers. */
uint64_t cl_limits_all(const DeviceInfo *info, uint64_t limit);
/* True when `bytes` more fit beside `held`, under `limit` (0: none) and the device's own. */
bool cl_limits_memory(const DeviceInfo *info, uint64_t limit, uint64_t held, uint64_t bytes, Err *err);

typedef struct ClLaunch {
    const char *kernel, *what;
    int takes, given;         /* arguments */
    uint64_t local;           /* bytes of local memory a group */
    size_t items, most_items; /* of a group */
} ClLaunch;

bool cl_limits_launch(const DeviceInfo *info, const ClLaunch *launch, Err *err);

#endif
