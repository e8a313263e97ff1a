/*
 * cl_codes: one row for each OpenCL status.  Rows with a meaning of their own are those that a
 * user can do something about; for all others the name alone is for whoever reads the report.
 */
#include "cl_codes.h"

#include "../../base/err.h"

#include <stddef.h>
#include <stdio.h>

#define REFUSED "refused a call"
#define MEMORY "ran out of memory"
#define LOST "was lost"

static const ClCode ROWS[] = {
    {-1, "CL_DEVICE_NOT_FOUND", "was not found", CODE_DEVICE, false},
    {-2, "CL_DEVICE_NOT_AVAILABLE", "is not available", CODE_DEVICE, false},
    {-3, "CL_COMPILER_NOT_AVAILABLE", "has no compiler", CODE_DEVICE, false},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", MEMORY, CODE_MEMORY, false},
    {-5, "CL_OUT_OF_RESOURCES", "ran out of resources", CODE_DEVICE, true},
    {-6, "CL_OUT_OF_HOST_MEMORY", "found no host memory", CODE_MEMORY, false},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE", "kept no times", CODE_DEVICE, false},
    {-8, "CL_MEM_COPY_OVERLAP", REFUSED, CODE_DEVICE, false},
    {-9, "CL_IMAGE_FORMAT_MISMATCH", REFUSED, CODE_DEVICE, false},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED", REFUSED, CODE_DEVICE, false},
    {-11, "CL_BUILD_PROGRAM_FAILURE", "could not compile a kernel", CODE_DEVICE, false},
    {-12, "CL_MAP_FAILURE", "could not map memory", CODE_MEMORY, false},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET", REFUSED, CODE_DEVICE, false},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", LOST, CODE_DEVICE, true},
    {-15, "CL_COMPILE_PROGRAM_FAILURE", "could not compile a kernel", CODE_DEVICE, false},
    {-16, "CL_LINKER_NOT_AVAILABLE", "has no linker", CODE_DEVICE, false},
    {-17, "CL_LINK_PROGRAM_FAILURE", "could not link a kernel", CODE_DEVICE, false},
    {-18, "CL_DEVICE_PARTITION_FAILED", REFUSED, CODE_DEVICE, false},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", REFUSED, CODE_DEVICE, false},
    {-30, "CL_INVALID_VALUE", REFUSED, CODE_DEVICE, false},
    {-31, "CL_INVALID_DEVICE_TYPE", REFUSED, CODE_DEVICE, false},
    {-32, "CL_INVALID_PLATFORM", REFUSED, CODE_DEVICE, false},
    {-33, "CL_INVALID_DEVICE", LOST, CODE_DEVICE, true},
    {-34, "CL_INVALID_CONTEXT", LOST, CODE_DEVICE, true},
    {-35, "CL_INVALID_QUEUE_PROPERTIES", REFUSED, CODE_DEVICE, false},
    {-36, "CL_INVALID_COMMAND_QUEUE", LOST, CODE_DEVICE, true},
    {-37, "CL_INVALID_HOST_PTR", REFUSED, CODE_DEVICE, false},
    {-38, "CL_INVALID_MEM_OBJECT", REFUSED, CODE_DEVICE, false},
    {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", REFUSED, CODE_DEVICE, false},
    {-40, "CL_INVALID_IMAGE_SIZE", REFUSED, CODE_DEVICE, false},
    {-41, "CL_INVALID_SAMPLER", REFUSED, CODE_DEVICE, false},
    {-42, "CL_INVALID_BINARY", REFUSED, CODE_DEVICE, false},
    {-43, "CL_INVALID_BUILD_OPTIONS", REFUSED, CODE_DEVICE, false},
    {-44, "CL_INVALID_PROGRAM", REFUSED, CODE_DEVICE, false},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE", REFUSED, CODE_DEVICE, false},
    {-46, "CL_INVALID_KERNEL_NAME", REFUSED, CODE_DEVICE, false},
    {-47, "CL_INVALID_KERNEL_DEFINITION", REFUSED, CODE_DEVICE, false},
    {-48, "CL_INVALID_KERNEL", REFUSED, CODE_DEVICE, false},
    {-49, "CL_INVALID_ARG_INDEX", REFUSED, CODE_DEVICE, false},
    {-50, "CL_INVALID_ARG_VALUE", REFUSED, CODE_DEVICE, false},
    {-51, "CL_INVALID_ARG_SIZE", REFUSED, CODE_DEVICE, false},
    {-52, "CL_INVALID_KERNEL_ARGS", REFUSED, CODE_DEVICE, false},
    {-53, "CL_INVALID_WORK_DIMENSION", REFUSED, CODE_DEVICE, false},
    {-54, "CL_INVALID_WORK_GROUP_SIZE", REFUSED, CODE_DEVICE, false},
    {-55, "CL_INVALID_WORK_ITEM_SIZE", REFUSED, CODE_DEVICE, false},
    {-56, "CL_INVALID_GLOBAL_OFFSET", REFUSED, CODE_DEVICE, false},
    {-57, "CL_INVALID_EVENT_WAIT_LIST", REFUSED, CODE_DEVICE, false},
    {-58, "CL_INVALID_EVENT", REFUSED, CODE_DEVICE, false},
    {-59, "CL_INVALID_OPERATION", REFUSED, CODE_DEVICE, false},
    {-60, "CL_INVALID_GL_OBJECT", REFUSED, CODE_DEVICE, false},
    {-61, "CL_INVALID_BUFFER_SIZE", "cannot hold so much in one piece", CODE_MEMORY, false},
    {-62, "CL_INVALID_MIP_LEVEL", REFUSED, CODE_DEVICE, false},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE", REFUSED, CODE_DEVICE, false},
    {-64, "CL_INVALID_PROPERTY", REFUSED, CODE_DEVICE, false},
    {-65, "CL_INVALID_IMAGE_DESCRIPTOR", REFUSED, CODE_DEVICE, false},
    {-66, "CL_INVALID_COMPILER_OPTIONS", REFUSED, CODE_DEVICE, false},
    {-67, "CL_INVALID_LINKER_OPTIONS", REFUSED, CODE_DEVICE, false},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT", REFUSED, CODE_DEVICE, false},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", "has no platform", CODE_DEVICE, false},
    {-9999, "illegal access, NVIDIA", LOST, CODE_DEVICE, true},
};

const ClCode *cl_code(int number)
{
    static const ClCode unknown = {0, "unknown status", REFUSED, CODE_DEVICE, false};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        if (ROWS[i].number == number) {
            return &ROWS[i];
        }
    }
    return &unknown;
}

const char *cl_code_name(int number, char text[32])
{
    const ClCode *row = cl_code(number);
    if (row->number == number) {
        return row->name;
    }
    snprintf(text, 32, "status %d", number);
    return text;
}

void cl_size_text(char out[32], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}
