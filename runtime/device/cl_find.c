/*
 * cl_find: devices are numbered over all platforms, GPUs first, so that `--device '#0'` is the one that
 * is taken without a choice.
 */
#include "cl_find.h"

#include "cl_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the list of devices");
}

static void info_text(cl_device_id id, cl_device_info which, char *out, size_t size)
{
    char text[1024] = "";
    (void)clGetDeviceInfo(id, which, sizeof text - 1, text, NULL);
    snprintf(out, size, "%s", text);
}

cl_ulong cl_device_ulong(cl_device_id id, cl_device_info which)
{
    cl_ulong value = 0; /* large enough for every integer type; little-endian hosts only */
    (void)clGetDeviceInfo(id, which, sizeof value, &value, NULL);
    return value;
}

static void platform_text(cl_platform_id platform, cl_platform_info which, char *out, size_t size)
{
    char text[1024] = "";
    (void)clGetPlatformInfo(platform, which, sizeof text - 1, text, NULL);
    snprintf(out, size, "%s", text);
}

static bool has_extension(cl_device_id id, const char *name)
{
    size_t size = 0;
    (void)clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    char *names = calloc(size + 1, 1);
    bool has = names != NULL && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, names, NULL) == CL_SUCCESS &&
               strstr(names, name) != NULL;
    free(names);
    return has;
}

static ClFound describe(cl_platform_id platform, cl_device_id id)
{
    ClFound found = {.platform = platform, .id = id};
    DeviceInfo *info = &found.info;
    cl_device_type type = cl_device_ulong(id, CL_DEVICE_TYPE);
    bool gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    info->cpu = !gpu && (type & CL_DEVICE_TYPE_CPU) != 0;
    found.rank = gpu ? 0 : info->cpu ? 2 : 1;
    info_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    info_text(id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    info_text(id, CL_DEVICE_VERSION, info->version, sizeof info->version);
    platform_text(platform, CL_PLATFORM_NAME, info->platform, sizeof info->platform);
    const cl_ulong singles = cl_device_ulong(id, CL_DEVICE_SINGLE_FP_CONFIG);
    const cl_ulong needed = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    const bool doubles = cl_device_ulong(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->fp64 = doubles && !getenv("PIPEC_SOFT_DOUBLE");
    info->fma = (singles & CL_FP_FMA) != 0;
    info->promises = doubles && (singles & needed) == needed;
    info->quick = cl_setup_is_quick(info);
    info->wide_atomics =
        has_extension(id, "cl_khr_int64_base_atomics") && has_extension(id, "cl_khr_int64_extended_atomics");
    info->memory = cl_device_ulong(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_alloc = cl_device_ulong(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->local = cl_device_ulong(id, CL_DEVICE_LOCAL_MEM_SIZE);
    info->constants = cl_device_ulong(id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    info->max_group = (size_t)cl_device_ulong(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->units = (int)cl_device_ulong(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    return found;
}

/* Appends the devices of one rank; more than MAX_DEVICES are ignored. */
static void find_rank(cl_platform_id platform, int rank, ClFound *list, int *n)
{
    cl_device_id ids[MAX_DEVICES];
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count) != CL_SUCCESS) {
        return;
    }
    for (cl_uint i = 0; i < count && i < MAX_DEVICES && *n < MAX_DEVICES; i++) {
        ClFound found = describe(platform, ids[i]);
        if (found.rank == rank) {
            found.info.number = *n;
            list[(*n)++] = found;
        }
    }
}

/* *list: all devices, owned by the caller (free); *n = 0 and `why` set when there are none. */
static bool find_devices(ClFound **list, int *n, char *why, size_t why_size, Err *err)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n_platforms = 0;
    *n = 0;
    why[0] = '\0';
    *list = calloc(MAX_DEVICES, sizeof **list);
    if (!*list) {
        return no_memory(err);
    }
    cl_setup_prepare();
    (void)clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms); /* leaves 0 when it fails */
    if (n_platforms == 0) {
        cl_setup_explain(NULL, why, why_size);
        return true;
    }
    for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS; p++) {
        char version[1024];
        platform_text(platforms[p], CL_PLATFORM_VERSION, version, sizeof version);
        cl_setup_platform(version);
    }
    for (int rank = 0; rank < 3; rank++) {
        for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS; p++) {
            find_rank(platforms[p], rank, *list, n);
        }
    }
    if (*n == 0) {
        char name[128];
        platform_text(platforms[0], CL_PLATFORM_NAME, name, sizeof name);
        cl_setup_explain(name, why, why_size);
    }
    return true;
}

bool cl_find(const char *choice, ClFound *out, Err *err)
{
    ClFound *list;
    char why[700], names[800] = "";
    int n = 0, at = 0;
    TRY(find_devices(&list, &n, why, sizeof why, err));
    while (at < n && !cl_setup_matches(&list[at].info, choice)) {
        char name[400];
        size_t used = strlen(names);
        cl_setup_name(&list[at].info, name, sizeof name);
        snprintf(names + used, sizeof names - used, "%s%s", at ? ", " : "", name);
        at++;
    }
    if (at < n) {
        *out = list[at];
    } else if (n == 0) {
        err_set(err, CODE_DEVICE, "%s", why);
    } else {
        err_set(err, CODE_DEVICE, "no device matches '%s'; there are: %s", choice, names);
    }
    free(list);
    return at < n;
}

bool dev_list(DeviceInfo **list, int *n, char *why, size_t why_size, Err *err)
{
    ClFound *found;
    *list = NULL;
    bool ok = find_devices(&found, n, why, why_size, err);
    if (ok && !(*list = calloc((size_t)*n + 1, sizeof **list))) {
        ok = no_memory(err);
    }
    for (int i = 0; ok && i < *n; i++) {
        (*list)[i] = found[i].info;
    }
    free(found);
    return ok;
}
