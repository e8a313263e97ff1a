/* cl_setup: what must be right in the process's surroundings before OpenCL is first called. */
#ifndef RUNTIME_CL_SETUP_H
#define RUNTIME_CL_SETUP_H

#include "cl.h"

/* Runs once for a process, before the first OpenCL call. */
void cl_setup_prepare(void);
/* Does the same for a platform of this version, before its first kernel is compiled. */
void cl_setup_platform(const char *version);
/* True where a device's driver declares no built-in functions when _OPENCL_H_ is defined (builtins.cl). */
bool cl_setup_declares(const DeviceInfo *info);
/* True where a device's driver compiles in half the time without optimisation (-cl-opt-disable). */
bool cl_setup_is_quick(const DeviceInfo *info);
/* False where a driver's figures of single kernels are wrong: Mesa 22.3's rusticl counts local memory twice, and says
 * that groups have at most 32 work-items where 1024 run.  Launches that fail say so, too. */
bool cl_setup_knows_kernels(const DeviceInfo *info);
/* Why no device was found and how to mend it; `drivers`: those that have none, or NULL when
 * there is no driver. */
void cl_setup_explain(const char *drivers, char *why, size_t size);
/* "#0 NVIDIA H200 (NVIDIA CUDA, gpu)": the names by which a device can be chosen. */
void cl_setup_name(const DeviceInfo *info, char *to, size_t size);
/* True when a device is what the user chose with `--device` (see DevOptions); NULL: any is. */
bool cl_setup_matches(const DeviceInfo *info, const char *choice);

/* Why PoCL keeps no kernels from one process to the next, as a sentence; NULL: it does. */
const char *cl_setup_refused(void);

#endif
