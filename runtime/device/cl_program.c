/* cl_program: kernels from sources or from the cache on disk. */
#include "cl_state.h"

#include "cl_codes.h"
#include "cl_limits.h"
#include "cl_setup.h"
#include "cl_source.h"
#include "soften.h"
#include "../host/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cl_free_program(DevProgram *program)
{
    for (DevKernel *kernel = program->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        UNLESS_LOST(program->dev, clReleaseKernel(kernel->kernel));
        free(kernel);
    }
    if (program->program) {
        UNLESS_LOST(program->dev, clReleaseProgram(program->program));
    }
    free(program->key);
    free(program);
}

static bool build_failure(Device *dev, cl_program program, cl_int status, const char *name, const char *source,
                          Err *err)
{
    size_t size = 0;
    char *log = NULL;
    if (clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS &&
        (log = calloc(1, size + 1))) {
        (void)clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    }
    cl_source_failed(&dev->info, dev->dump, name, source, log ? log : "", cl_code(status)->name, err);
    free(log);
    return false;
}

/* NULL where the driver does not take it. */
static cl_program from_bytes(Device *dev, const void *binary, size_t size, const char *options)
{
    cl_int status = CL_SUCCESS, loaded = CL_SUCCESS;
    const unsigned char *at = binary;
    cl_program program = clCreateProgramWithBinary(dev->context, 1, &dev->id, &size, &at, &loaded, &status);
    if (!program || status != CL_SUCCESS || loaded != CL_SUCCESS ||
        clBuildProgram(program, 1, &dev->id, options, NULL, NULL) != CL_SUCCESS) {
        if (program) {
            (void)clReleaseProgram(program);
        }
        return NULL;
    }
    return program;
}

static cl_program from_offer(Device *dev, const char *key, const char *options)
{
    char hash[DIGEST_TEXT];
    digest_of_text(key, hash);
    const Offered *offered = dev->offered;
    while (offered && strcmp(offered->key, hash) != 0) {
        offered = offered->next;
    }
    return offered ? from_bytes(dev, offered->bytes, offered->size, options) : NULL;
}

static cl_program from_binary(Device *dev, const char *key, const char *options)
{
    void *binary = NULL;
    size_t size = 0;
    cl_program program = NULL;
    if (cl_cache_load(&dev->cache, key, &binary, &size)) {
        program = from_bytes(dev, binary, size, options);
    }
    free(binary);
    return program ? program : from_offer(dev, key, options);
}

/* Owned by the caller (free); NULL where the driver does not tell it. */
static void *binary_of(cl_program program, size_t *size)
{
    *size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) != CL_SUCCESS || *size == 0) {
        return NULL;
    }
    unsigned char *binary = malloc(*size);
    if (binary && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) != CL_SUCCESS) {
        free(binary);
        return NULL;
    }
    return binary;
}

static void keep_binary(Device *dev, cl_program program, const char *key)
{
    size_t size;
    void *binary = cl_cache_keeps(&dev->cache) ? binary_of(program, &size) : NULL;
    if (binary) {
        cl_cache_store(&dev->cache, key, binary, size);
    }
    free(binary);
}

bool dev_offer(Device *dev, const char *key, const void *bytes, size_t size, Err *err)
{
    for (const Offered *known = dev->offered; known; known = known->next) {
        if (strcmp(known->key, key) == 0) {
            return true;
        }
    }
    Offered *offered = malloc(sizeof *offered);
    if (!offered) {
        return cl_no_host_memory(err, "a program");
    }
    *offered = (Offered){.next = dev->offered, .bytes = bytes, .size = size};
    snprintf(offered->key, sizeof offered->key, "%s", key);
    dev->offered = offered;
    return true;
}

bool dev_binary(Device *dev, int i, char key[DIGEST_TEXT], void **bytes, size_t *size)
{
    const DevProgram *program = dev->programs;
    for (; program && i > 0; i--) {
        program = program->next;
    }
    *bytes = NULL;
    if (!program) {
        return false;
    }
    digest_of_text(program->key, key);
    *bytes = binary_of(program->program, size);
    return *bytes != NULL;
}

/* *status: whether it is built; NULL: there is no program. */
static cl_program build_texts(Device *dev, const char **texts, cl_uint n, const char *options, cl_int *status)
{
    cl_program program = clCreateProgramWithSource(dev->context, n, texts, NULL, status);
    if (*status != CL_SUCCESS) {
        return NULL;
    }
    status_build(true);
    *status = clBuildProgram(program, 1, &dev->id, options, NULL, NULL);
    status_build(false);
    return program;
}

/* NULL: it cannot be built so. */
static cl_program build_pruned(Device *dev, const char *source, const char *options)
{
    (void)pthread_mutex_lock(&dev->lock);
    char *pruned = dev->pruner ? prune(dev->pruner, source, options) : NULL;
    (void)pthread_mutex_unlock(&dev->lock);
    const char *texts[] = {pruned};
    cl_int status;
    cl_program program = pruned ? build_texts(dev, texts, 1, options, &status) : NULL;
    free(pruned);
    if (program && status != CL_SUCCESS) {
        (void)clReleaseProgram(program);
        program = NULL;
    }
    return program;
}

/* What is wrong with a text, and where, is said of all of it. */
static bool from_source(Device *dev, const char *name, const char *source, const char *options, const char *key,
                        cl_program *out, Err *err)
{
    cl_int status = CL_SUCCESS;
    const char *texts[] = {dev->head, "#line 1\n", source};
    cl_uint n = sizeof texts / sizeof *texts, from = dev->head ? 0 : n - 1;
    if (dev->cache.kept_elsewhere && dev->cache.fd >= 0 && cl_cache_is_first(&dev->cache, key)) {
        status_compiles(); /* PoCL does so when a kernel is launched */
    }
    cl_program program = build_pruned(dev, source, options);
    program = program ? program : build_texts(dev, texts + from, n - from, options, &status);
    if (!program) {
        return cl_fail(dev, status, "clCreateProgramWithSource", err, "for kernel '%s'", name);
    }
    if (status != CL_SUCCESS) {
        build_failure(dev, program, status, name, source, err);
        (void)clReleaseProgram(program);
        return false;
    }
    (void)pthread_mutex_lock(&dev->lock);
    dev->builds++;
    (void)pthread_mutex_unlock(&dev->lock);
    keep_binary(dev, program, key);
    *out = program;
    return true;
}

/* The program with a key, once no thread builds it any more; else a new one, which the caller builds, and which
 * takes over the key.  NULL: no memory. */
static DevProgram *known_or_new(Device *dev, char *key, bool *fresh)
{
    (void)pthread_mutex_lock(&dev->lock);
    DevProgram *program = dev->programs;
    while (program && (strcmp(program->key, key) != 0 || program->building)) {
        if (strcmp(program->key, key) == 0) {
            (void)pthread_cond_wait(&dev->built, &dev->lock);
            program = dev->programs; /* it may have failed, and be gone */
        } else {
            program = program->next;
        }
    }
    *fresh = !program;
    if (*fresh && (program = calloc(1, sizeof *program))) {
        *program = (DevProgram){.dev = dev, .key = key, .building = true, .next = dev->programs};
        dev->programs = program;
    }
    (void)pthread_mutex_unlock(&dev->lock);
    return program;
}

/* One that has failed is taken off the list and freed. */
static void end_building(Device *dev, DevProgram *program, bool ok)
{
    (void)pthread_mutex_lock(&dev->lock);
    DevProgram **link = &dev->programs;
    while (*link != program) {
        link = &(*link)->next;
    }
    if (!ok) {
        *link = program->next;
    }
    program->building = false;
    (void)pthread_cond_broadcast(&dev->built);
    (void)pthread_mutex_unlock(&dev->lock);
    if (!ok) {
        cl_free_program(program);
    }
}

static bool build(Device *dev, const char *name, const char *source, const char *options, DevProgram *program, Err *err)
{
    program->program = from_binary(dev, program->key, options);
    bool ok = program->program || from_source(dev, name, source, options, program->key, &program->program, err);
    end_building(dev, program, ok);
    return ok;
}

/* The same program with kernels of its own, whose arguments another thread does not set. */
static bool share_program(Device *dev, const DevProgram *of, DevProgram **out, Err *err)
{
    cl_int status = CL_SUCCESS;
    (void)pthread_mutex_lock(&dev->lock);
    DevProgram *program = dev->programs;
    while (program && program->program != of->program) {
        program = program->next;
    }
    if (!program) {
        program = calloc(1, sizeof *program);
        status = program ? clRetainProgram(of->program) : CL_OUT_OF_HOST_MEMORY;
        if (status == CL_SUCCESS) {
            *program = (DevProgram){.program = of->program, .dev = dev, .next = dev->programs};
            dev->programs = program;
        } else {
            free(program);
        }
    }
    (void)pthread_mutex_unlock(&dev->lock);
    *out = status == CL_SUCCESS ? program : NULL;
    return *out || cl_fail(dev, status, "clRetainProgram", err, "%s", "");
}

bool dev_program(Device *dev, const char *name, const char *source, const char *options, DevProgram **out, Err *err)
{
    char all[1000], *text;
    *out = NULL;
    if (dev->first != dev) {
        DevProgram *of;
        return dev_program(dev->first, name, source, options, &of, err) && share_program(dev, of, out, err);
    }
    snprintf(all, sizeof all, "%s %s", dev->options, options ? options : "");
    TRY(cl_source_text(dev->load, dev->dump, name, source, &text, err));
    if (!dev->info.fp64) {
        char *plain = text;
        const bool ok = soften(name, plain, all, dev->info.fma, &text, err);
        free(plain);
        TRY(ok);
    }
    char *key = cl_source_key(&dev->info, text, all);
    bool fresh = false, ok = key && (*out = known_or_new(dev, key, &fresh));
    if (!ok) {
        cl_no_host_memory(err, "a program's text");
    } else if (fresh) {
        ok = build(dev, name, text, all, *out, err);
    }
    if (!fresh || !*out) {
        free(key);
    }
    free(text);
    *out = ok ? *out : NULL;
    return ok;
}

bool dev_is_first(Device *dev, const char *source)
{
    Device *all = dev->first;
    char *key = cl_source_key(&dev->info, source, "");
    Met *fresh = key ? malloc(sizeof *fresh) : NULL;
    bool first = true;
    if (fresh) {
        digest_of_text(key, fresh->key);
        (void)pthread_mutex_lock(&all->lock);
        const Met *met = all->met;
        while (met && strcmp(met->key, fresh->key) != 0) {
            met = met->next;
        }
        first = met || cl_cache_is_first(&all->cache, key);
        if (first && !met) {
            fresh->next = all->met;
            all->met = fresh;
            fresh = NULL;
        }
        (void)pthread_mutex_unlock(&all->lock);
    }
    free(fresh);
    free(key);
    return first;
}

static cl_int make_kernel(Device *dev, DevKernel *kernel)
{
    cl_int status;
    kernel->kernel = clCreateKernel(kernel->program->program, kernel->name, &status);
    if (status == CL_SUCCESS &&
        (status = clGetKernelInfo(kernel->kernel, CL_KERNEL_NUM_ARGS, sizeof kernel->n_args, &kernel->n_args, NULL)) ==
            CL_SUCCESS &&
        (status = clGetKernelWorkGroupInfo(kernel->kernel, dev->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof kernel->max_group,
                                           &kernel->max_group, NULL)) == CL_SUCCESS) {
        status = clGetKernelWorkGroupInfo(kernel->kernel, dev->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof kernel->local,
                                          &kernel->local, NULL);
    }
    if (!cl_setup_knows_kernels(&dev->info)) {
        kernel->max_group = dev->info.max_group;
        kernel->local = 0;
    }
    if (status != CL_SUCCESS && kernel->kernel) {
        (void)clReleaseKernel(kernel->kernel);
    }
    return status;
}

bool dev_kernel(DevProgram *program, const char *name, DevKernel **out, Err *err)
{
    for (*out = program->kernels; *out; *out = (*out)->next) {
        if (strcmp((*out)->name, name) == 0) {
            return true;
        }
    }
    size_t length = strlen(name) + 1;
    DevKernel *kernel = calloc(1, sizeof *kernel + length);
    if (!kernel) {
        return cl_no_host_memory(err, "a kernel");
    }
    memcpy(kernel->name, name, length);
    kernel->program = program;
    cl_int status = make_kernel(program->dev, kernel);
    if (status != CL_SUCCESS) {
        free(kernel);
        return cl_fail(program->dev, status, "clCreateKernel", err, "for kernel '%s'", name);
    }
    kernel->next = program->kernels;
    program->kernels = kernel;
    *out = kernel;
    return true;
}

uint64_t dev_spilled(const DevProgram *program, const char *name)
{
    cl_int status;
    cl_ulong bytes = 0;
    cl_kernel kernel = program->dev->info.cpu ? NULL : clCreateKernel(program->program, name, &status);
    if (kernel) {
        status =
            clGetKernelWorkGroupInfo(kernel, program->dev->id, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof bytes, &bytes, NULL);
        bytes = status == CL_SUCCESS ? bytes : 0;
        UNLESS_LOST(program->dev, clReleaseKernel(kernel));
    }
    return bytes;
}

size_t dev_kernel_max_group(Device *dev, DevKernel *kernel)
{
    return kernel->max_group < dev->info.max_group ? kernel->max_group : dev->info.max_group;
}
