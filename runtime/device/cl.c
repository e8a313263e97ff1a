/*
 * cl: OpenCL 1.2, seen from above.
 *
 * Every call is checked once, by cl_fail() or enqueued(), which turn the status into a sentence with
 * the device, the kernel or transfer, and the call.  Memory is counted here, against the user's
 * limit and the device's, because drivers allocate lazily: what is counted and touched when it is
 * allocated cannot run out in the middle of an image.
 *
 * On CPU devices buffers are CL_MEM_ALLOC_HOST_PTR: PoCL then allocates at once and reports a lack
 * of memory, where it otherwise ends the process at the first use.
 */
#include "cl_state.h"

#include "cl_check.h"
#include "cl_codes.h"
#include "cl_fill.h"
#include "cl_find.h"
#include "cl_limits.h"
#include "cl_setup.h"

#include "../../base/pages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char kernel_text_builtins[];

enum { MAX_FILL = 1 << 30, LARGE_HOST = 4 << 20, PAGE = 4096 };

/* ---- failures -------------------------------------------------------------------------- */

bool cl_fail(Device *dev, cl_int status, const char *call, Err *err, const char *where, ...)
{
    const ClCode *row = cl_code(status);
    char place[200], number[32];
    va_list ap;
    va_start(ap, where);
    vsnprintf(place, sizeof place, where, ap);
    va_end(ap);
    if (row->lost) {
        dev->first->lost = true;
    }
    const bool first = err->code == CODE_OK;
    err_set(err, row->code, "the device '%s' %s (%s)%s%s (%s)", dev->info.name, row->meaning,
            cl_code_name(status, number), place[0] ? " " : "", place, call);
    err->transient = first ? row->lost || status == CL_DEVICE_NOT_AVAILABLE : err->transient;
    return false;
}

bool cl_no_host_memory(Err *err, const char *what)
{
    return err_set(err, CODE_MEMORY, "out of host memory for %s", what);
}

/* ---- opening and closing ---------------------------------------------------------------- */

static bool open_lane(Device *dev, DevLane lane, Err *err)
{
    cl_command_queue_properties how = dev->profile ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_int status;
    if (dev->lanes[lane]) {
        return true;
    }
    dev->lanes[lane] = clCreateCommandQueue(dev->context, dev->id, how, &status);
    return status == CL_SUCCESS || cl_fail(dev, status, "clCreateCommandQueue", err, "%s", "");
}

static bool open_context(Device *dev, cl_platform_id platform, Err *err)
{
    const cl_context_properties on[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_int status;
    dev->context = clCreateContext(on, 1, &dev->id, NULL, NULL, &status);
    if (status != CL_SUCCESS) {
        return cl_fail(dev, status, "clCreateContext", err, "when it was opened");
    }
    TRY(open_lane(dev, DEV_COMPUTE, err));
    dev->queue = dev->lanes[DEV_COMPUTE];
    return true;
}

static bool is_pocl(const DeviceInfo *info)
{
    return strcmp(info->platform, "Portable Computing Language") == 0;
}

static Device *device_new(Err *err)
{
    Device *dev = calloc(1, sizeof *dev);
    bool lock = dev && pthread_mutex_init(&dev->lock, NULL) == 0;
    if (!lock || pthread_cond_init(&dev->built, NULL) != 0) {
        if (lock) {
            (void)pthread_mutex_destroy(&dev->lock);
        }
        free(dev);
        (void)cl_no_host_memory(err, "a device");
        return NULL;
    }
    dev->first = dev;
    return dev;
}

bool dev_share(Device *first, Device **out, Err *err)
{
    Device *dev = *out = device_new(err);
    if (!dev) {
        return false;
    }
    dev->first = first;
    dev->info = first->info;
    dev->id = first->id;
    dev->profile = first->profile;
    dev->limit = first->limit;
    dev->alignment = first->alignment;
    cl_int status = clRetainContext(first->context);
    bool ok = status == CL_SUCCESS || cl_fail(dev, status, "clRetainContext", err, "%s", "");
    dev->context = ok ? first->context : NULL;
    if (!ok || !open_lane(dev, DEV_COMPUTE, err)) {
        dev_close(dev);
        *out = NULL;
        return false;
    }
    dev->queue = dev->lanes[DEV_COMPUTE];
    return true;
}

/* PoCL keeps kernels itself, and to give a binary it compiles each of them once more, for groups of any size: half of the
 * time that a first run takes.  Without memory for the reason why none are kept they are compiled all the same. */
static void open_cache(Device *dev, const char *chosen)
{
    const bool kept_elsewhere = chosen == NULL && is_pocl(&dev->info);
    Err err = {0};
    const bool open = cl_cache_open(chosen, &dev->cache, &err);
    dev->cache.kept_elsewhere = kept_elsewhere;
    const char *refused = !open && !kept_elsewhere ? err.text : is_pocl(&dev->info) ? cl_setup_refused() : NULL;
    dev->no_cache = refused != NULL ? strdup(refused) : NULL;
    err_clear(&err);
}

bool dev_open(const DevOptions *options, Device **out, Err *err)
{
    ClFound found;
    *out = NULL;
    TRY(cl_find(options->choice, &found, err));
    Device *dev = device_new(err);
    TRY(dev != NULL);
    dev->info = found.info;
    if (options->local_limit != 0 && options->local_limit < dev->info.local) {
        dev->info.local = options->local_limit;
    }
    dev->info.wide_atomics &= !options->narrow_atomics;
    dev->id = found.id;
    dev->profile = options->profile;
    dev->limit = options->memory_limit;
    open_cache(dev, options->cache);
    snprintf(dev->dump, sizeof dev->dump, "%s", options->dump ? options->dump : "");
    snprintf(dev->load, sizeof dev->load, "%s", options->load ? options->load : "");
    bool rounds = cl_device_ulong(dev->id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    /* Texts that a user has changed may call anything. */
    bool declares = !options->load && cl_setup_declares(&dev->info);
    dev->head = declares ? kernel_text_builtins : NULL;
    dev->pruner = declares ? pruner_new(dev->head) : NULL;
    /* -w: drivers write to stderr how many warnings there were, and a pipeline may well say x == x. */
    snprintf(dev->options, sizeof dev->options, "-cl-std=CL1.2 -w -DWIDE_ATOMICS=%d%s%s%s%s", dev->info.wide_atomics,
             declares ? " -D_OPENCL_H_" : "", rounds ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             options->flags ? " " : "", options->flags ? options->flags : "");
    dev->alignment = 256;
    while (dev->alignment < cl_device_ulong(dev->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8) {
        dev->alignment *= 2;
    }
    if (!open_context(dev, found.platform, err) || !cl_check(dev, err)) {
        dev_close(dev);
        return false;
    }
    dev->peak = dev->launches = dev->waits = dev->builds = 0;
    *out = dev;
    return true;
}

void dev_close(Device *dev)
{
    if (!dev) {
        return;
    }
    for (int lane = 0; lane < DEV_LANES; lane++) {
        if (dev->lanes[lane]) {
            UNLESS_LOST(dev, clFinish(dev->lanes[lane]));
        }
    }
    while (dev->host_blocks) {
        dev_host_free(dev, dev->host_blocks->at);
    }
    for (DevProgram *program = dev->programs, *next; program; program = next) {
        next = program->next;
        cl_free_program(program);
    }
    for (Offered *offered = dev->offered, *next; offered; offered = next) {
        next = offered->next;
        free(offered);
    }
    for (Met *met = dev->met, *next; met; met = next) {
        next = met->next;
        free(met);
    }
    for (int i = 0; i < dev->n_pending; i++) {
        UNLESS_LOST(dev, clReleaseEvent(dev->pending[i].event));
    }
    for (int lane = 0; lane < DEV_LANES; lane++) {
        if (dev->lanes[lane]) {
            UNLESS_LOST(dev, clReleaseCommandQueue(dev->lanes[lane]));
        }
    }
    if (dev->context) {
        UNLESS_LOST(dev, clReleaseContext(dev->context));
    }
    if (dev->first == dev) {
        cl_cache_close(&dev->cache);
    }
    pruner_free(dev->pruner);
    free(dev->no_cache);
    free(dev->pending);
    free(dev->reported);
    free(dev->events);
    (void)pthread_cond_destroy(&dev->built);
    (void)pthread_mutex_destroy(&dev->lock);
    free(dev);
}

const DeviceInfo *dev_info(const Device *dev)
{
    return &dev->info;
}

const char *dev_no_cache(const Device *dev)
{
    return dev->first->no_cache;
}

uint64_t dev_held(const Device *dev)
{
    return dev->first->held;
}

uint64_t dev_limit(const Device *dev)
{
    return cl_limits_all(&dev->info, dev->limit);
}

uint64_t dev_peak(const Device *dev)
{
    return dev->first->peak;
}

bool dev_lost(const Device *dev)
{
    return dev->first->lost;
}

size_t dev_alignment(const Device *dev)
{
    return dev->alignment;
}

uint64_t dev_launches(const Device *dev)
{
    return dev->launches;
}

uint64_t dev_waits(const Device *dev)
{
    return dev->waits;
}

uint64_t dev_builds(const Device *dev)
{
    return dev->builds;
}

/* ---- memory ---------------------------------------------------------------------------- */

/* All who share the device are under one limit. */
static bool count_memory(Device *dev, size_t bytes, Err *err)
{
    Device *first = dev->first;
    (void)pthread_mutex_lock(&first->lock);
    bool fits = cl_limits_memory(&first->info, first->limit, first->held, bytes, err);
    first->held += fits ? bytes : 0;
    first->peak = first->held > first->peak ? first->held : first->peak;
    (void)pthread_mutex_unlock(&first->lock);
    return fits;
}

static void discount_memory(Device *dev, size_t bytes)
{
    (void)pthread_mutex_lock(&dev->first->lock);
    dev->first->held -= bytes;
    (void)pthread_mutex_unlock(&dev->first->lock);
}

bool dev_alloc(Device *dev, size_t bytes, DevMem **out, Err *err)
{
    size_t counted = bytes < 4 ? 4 : (bytes + 3) / 4 * 4;
    char need[32];
    cl_size_text(need, counted);
    *out = NULL;
    TRY(count_memory(dev, counted, err));
    DevMem *mem = calloc(1, sizeof *mem);
    if (!mem) {
        discount_memory(dev, counted);
        return cl_no_host_memory(err, "a buffer's description");
    }
    cl_int status;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (dev->info.cpu ? CL_MEM_ALLOC_HOST_PTR : 0u);
    mem->mem = clCreateBuffer(dev->context, flags, counted, NULL, &status);
    if (status != CL_SUCCESS) {
        discount_memory(dev, counted);
        free(mem);
        return cl_fail(dev, status, "clCreateBuffer", err, "when %s were allocated", need);
    }
    *mem = (DevMem){mem->mem, bytes, counted, mem, 0, mem, NULL, false};
    const uint32_t odd = 0xffffffffu; /* NaN, an absurd label: what nobody wrote shows */
    Err touch = {0};
    if (!dev_fill(dev, mem, 0, counted, odd, &touch) || !dev_finish(dev, &touch)) {
        dev_free(dev, mem);
        return err_set(err, touch.code, "%s were not to be had: %s", need, touch.text);
    }
    *out = mem;
    return true;
}

bool dev_slice(Device *dev, DevMem *of, size_t offset, size_t bytes, DevMem **out, Err *err)
{
    *out = NULL;
    if (offset % dev->alignment != 0) { /* some drivers would take it */
        return err_set(err, CODE_USAGE, "a slice of memory at %zu is not aligned", offset);
    }
    DevMem *mem = calloc(1, sizeof *mem);
    if (!mem) {
        return cl_no_host_memory(err, "a buffer's description");
    }
    *mem = (DevMem){.bytes = bytes, .root = of->root, .offset = of->offset + offset};
    cl_buffer_region region = {mem->offset, bytes ? bytes : 1};
    cl_int status;
    mem->mem = clCreateSubBuffer(of->root->mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    if (status != CL_SUCCESS) {
        free(mem);
        return cl_fail(dev, status, "clCreateSubBuffer", err, "for a slice of %zu bytes at %zu", bytes, offset);
    }
    mem->older = mem->root->newest;
    mem->root->newest = mem;
    *out = mem;
    return true;
}

/* Memory waits for the slices that were made after it: NVIDIA's driver crashes when sub-buffers
 * that overlap are released in any order but the reverse of their making. */
void dev_free(Device *dev, DevMem *mem)
{
    if (!mem) {
        return;
    }
    mem->dropped = true;
    for (DevMem *root = mem->root, *top = root->newest, *older; top && top->dropped; top = older) {
        older = top->older;
        root->newest = older ? older : root;
        UNLESS_LOST(dev, clReleaseMemObject(top->mem));
        discount_memory(dev, top->counted);
        free(top);
    }
}

size_t dev_bytes(const DevMem *mem)
{
    return mem->bytes;
}

/* A buffer in host memory is what OpenCL has for pinning.  It is never mapped: NVIDIA's driver pins the memory as soon as
 * the buffer is made, and a mapped one would take as much of the device's memory besides. */
static bool pin(Device *dev, void *at, size_t bytes, void *own, Err *err)
{
    HostBlock *block = calloc(1, sizeof *block);
    cl_int status = CL_SUCCESS;
    if (!block) {
        return cl_no_host_memory(err, "a buffer's description");
    }
    *block = (HostBlock){.at = at, .own = own};
    if (!dev->info.cpu) {
        block->mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, at, &status);
    }
    if (status != CL_SUCCESS) {
        free(block);
        return cl_fail(dev, status, "clCreateBuffer", err, "for pinned host memory");
    }
    (void)pthread_mutex_lock(&dev->lock);
    block->next = dev->host_blocks;
    dev->host_blocks = block;
    (void)pthread_mutex_unlock(&dev->lock);
    return true;
}

/* In large pages pinning takes a third of the time. */
static void *host_pages(size_t bytes)
{
    void *at = NULL;
    return bytes >= LARGE_HOST ? pages_alloc(bytes) : posix_memalign(&at, PAGE, bytes) == 0 ? at : NULL;
}

bool dev_host_alloc(Device *dev, size_t bytes, void **out, Err *err)
{
    bytes = bytes > 0 ? bytes : 1;
    void *own = host_pages(bytes);
    *out = NULL;
    if (!own) {
        return cl_no_host_memory(err, "pinned memory");
    }
    for (size_t i = 0; !dev->info.cpu && i < bytes; i += PAGE) {
        ((char *)own)[i] = 0; /* the driver's faults take longer than ours */
    }
    if (!pin(dev, own, bytes, own, err)) {
        free(own);
        return false;
    }
    *out = own;
    return true;
}

bool dev_host_pin(Device *dev, void *at, size_t bytes, Err *err)
{
    return pin(dev, at, bytes, NULL, err);
}

void dev_host_free(Device *dev, void *at)
{
    (void)pthread_mutex_lock(&dev->lock);
    HostBlock **link = &dev->host_blocks;
    while (*link && (*link)->at != at) {
        link = &(*link)->next;
    }
    HostBlock *block = at ? *link : NULL;
    if (block) {
        *link = block->next;
    }
    (void)pthread_mutex_unlock(&dev->lock);
    if (!block) {
        return;
    }
    for (int lane = 0; lane < DEV_LANES; lane++) { /* any of them may be at it */
        UNLESS_LOST(dev, dev->lanes[lane] ? clFinish(dev->lanes[lane]) : CL_SUCCESS);
    }
    UNLESS_LOST(dev, block->mem ? clReleaseMemObject(block->mem) : CL_SUCCESS);
    free(block->own);
    free(block);
}

/* ---- work ------------------------------------------------------------------------------ */

static bool remember(Device *dev, cl_event event, const char *kind, const char *what, uint64_t bytes, Err *err)
{
    if (dev->n_pending == dev->cap_pending) {
        int cap = dev->cap_pending ? 2 * dev->cap_pending : 64;
        Pending *larger = realloc(dev->pending, sizeof *larger * (size_t)cap);
        if (!larger) {
            (void)clReleaseEvent(event);
            return cl_no_host_memory(err, "the profile");
        }
        dev->pending = larger;
        dev->cap_pending = cap;
    }
    Pending *pending = &dev->pending[dev->n_pending++];
    *pending = (Pending){.event = event, .kind = kind, .bytes = bytes};
    snprintf(pending->what, sizeof pending->what, "%s", what);
    return true;
}

/* Ends every enqueueing function: a failure becomes a sentence, an event is kept. */
static bool enqueued(Device *dev, cl_int status, cl_event event, const char *kind, const char *what, uint64_t bytes,
                     const char *call, Err *err)
{
    if (status != CL_SUCCESS) {
        bool kernel = strcmp(kind, "kernel") == 0;
        return kernel ? cl_fail(dev, status, call, err, "in kernel '%s'", what)
                      : cl_fail(dev, status, call, err, "in %s %s%s%s", kind[0] == 'u' ? "an" : "a", kind,
                                dev->last[0] ? " after kernel " : "", dev->last);
    }
    return !event || remember(dev, event, kind, what, bytes, err);
}

/* Where an enqueueing call is to put its event. */
static cl_event *slot(Device *dev, cl_event *event)
{
    *event = NULL;
    return dev->profile ? event : NULL;
}

/* Every argument but memory is passed as it lies in the union. */
static cl_int set_arg(DevKernel *kernel, cl_uint i, const DevArg *arg)
{
    static const size_t sizes[] = {
        [DEV_INT] = sizeof arg->i,    [DEV_UINT] = sizeof arg->u,  [DEV_LONG] = sizeof arg->l,
        [DEV_ULONG] = sizeof arg->ul, [DEV_FLOAT] = sizeof arg->f, [DEV_DOUBLE] = sizeof arg->d,
    };
    if (arg->kind == DEV_MEM) {
        return clSetKernelArg(kernel->kernel, i, sizeof(cl_mem), arg->mem ? &arg->mem->mem : NULL);
    }
    if (arg->kind == DEV_LOCAL) {
        return clSetKernelArg(kernel->kernel, i, arg->local, NULL);
    }
    return clSetKernelArg(kernel->kernel, i, sizes[arg->kind], &arg->i);
}

static bool set_args(Device *dev, DevKernel *kernel, const DevArg *args, int n_args, Err *err)
{
    for (int i = 0; i < n_args; i++) {
        cl_int status = set_arg(kernel, (cl_uint)i, &args[i]);
        if (status != CL_SUCCESS) {
            return cl_fail(dev, status, "clSetKernelArg", err, "for argument %d of kernel '%s'", i, kernel->name);
        }
    }
    return true;
}

bool dev_launch(Device *dev, DevKernel *kernel, const DevArg *args, int n_args, const size_t groups[3],
                const size_t group[3], const char *what, Err *err)
{
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) {
        return true;
    }
    size_t items = group[0] * group[1] * group[2], most = dev_kernel_max_group(dev, kernel);
    ClLaunch launch = {kernel->name, what, (int)kernel->n_args, n_args, kernel->local, items, most};
    for (int i = 0; i < n_args; i++) {
        launch.local += args[i].kind == DEV_LOCAL ? args[i].local : 0;
    }
    TRY(cl_limits_launch(&dev->info, &launch, err));
    TRY(set_args(dev, kernel, args, n_args, err));
    size_t global[3] = {groups[0] * group[0], groups[1] * group[1], groups[2] * group[2]};
    snprintf(dev->last, sizeof dev->last, "'%.120s'", what);
    cl_event event;
    cl_int status =
        clEnqueueNDRangeKernel(dev->queue, kernel->kernel, 3, NULL, global, group, 0, NULL, slot(dev, &event));
    dev->launches++;
    return enqueued(dev, status, event, "kernel", what, 0, "clEnqueueNDRangeKernel", err);
}

typedef struct Transfer {
    bool up;
    DevMem *mem;
    size_t offset, pitch;
    void *host;
    size_t host_pitch, bytes, rows;
} Transfer;

/* Where *done is wanted: on a lane of its own, and without waiting. */
static bool transfer(Device *dev, const Transfer *t, DevMark **done, Err *err)
{
    static const char *const calls[2][2] = {{"clEnqueueReadBuffer", "clEnqueueWriteBuffer"},
                                            {"clEnqueueReadBufferRect", "clEnqueueWriteBufferRect"}};
    const char *what = t->up ? "upload" : "download";
    const size_t at[3] = {t->offset, 0, 0}, zero[3] = {0, 0, 0}, region[3] = {t->bytes, t->rows, 1};
    size_t all = t->bytes * t->rows;
    bool flat = (t->pitch == t->bytes && t->host_pitch == t->bytes) || t->rows <= 1;
    cl_event event, *to = slot(dev, &event);
    cl_bool wait = done == NULL;
    DevLane lane = wait ? DEV_COMPUTE : t->up ? DEV_UPLOAD : DEV_DOWNLOAD;
    cl_int status;
    if (all == 0) {
        return true;
    }
    TRY(open_lane(dev, lane, err));
    dev->waits += wait && !t->up;
    to = wait ? to : &event;
    cl_command_queue queue = dev->lanes[lane];
    cl_mem mem = t->mem->mem;
    if (flat && t->up) {
        status = clEnqueueWriteBuffer(queue, mem, wait, t->offset, all, t->host, 0, NULL, to);
    } else if (flat) {
        status = clEnqueueReadBuffer(queue, mem, wait, t->offset, all, t->host, 0, NULL, to);
    } else {
        status = t->up ? clEnqueueWriteBufferRect(queue, mem, wait, at, zero, region, t->pitch, 0, t->host_pitch, 0,
                                                  t->host, 0, NULL, to)
                       : clEnqueueReadBufferRect(queue, mem, wait, at, zero, region, t->pitch, 0, t->host_pitch, 0,
                                                 t->host, 0, NULL, to);
    }
    if (status == CL_SUCCESS && !wait) {
        *done = (DevMark *)event;
        status = clFlush(queue);
        event = status == CL_SUCCESS && dev->profile && clRetainEvent(event) == CL_SUCCESS ? event : NULL;
    }
    return enqueued(dev, status, event, what, what, all, calls[!flat][t->up], err);
}

bool dev_write(Device *dev, DevMem *to, size_t offset, const void *from, size_t bytes, Err *err)
{
    return transfer(dev, &(Transfer){true, to, offset, 0, (void *)from, 0, bytes, 1}, NULL, err);
}

bool dev_read(Device *dev, DevMem *from, size_t offset, void *to, size_t bytes, Err *err)
{
    return transfer(dev, &(Transfer){false, from, offset, 0, to, 0, bytes, 1}, NULL, err);
}

bool dev_write_rows(Device *dev, DevMem *to, size_t offset, size_t pitch, const void *from, size_t host_pitch,
                    size_t bytes, size_t rows, Err *err)
{
    const Transfer t = {true, to, offset, pitch, (void *)from, host_pitch, bytes, rows};
    return transfer(dev, &t, NULL, err);
}

bool dev_read_rows(Device *dev, DevMem *from, size_t offset, size_t pitch, void *to, size_t host_pitch, size_t bytes,
                   size_t rows, Err *err)
{
    const Transfer t = {false, from, offset, pitch, to, host_pitch, bytes, rows};
    return transfer(dev, &t, NULL, err);
}

bool dev_send_rows(Device *dev, DevMem *to, size_t offset, size_t pitch, const void *from, size_t host_pitch,
                   size_t bytes, size_t rows, DevMark **done, Err *err)
{
    const Transfer t = {true, to, offset, pitch, (void *)from, host_pitch, bytes, rows};
    *done = NULL;
    return transfer(dev, &t, done, err);
}

bool dev_fetch_rows(Device *dev, DevMem *from, size_t offset, size_t pitch, void *to, size_t host_pitch, size_t bytes,
                    size_t rows, DevMark **done, Err *err)
{
    const Transfer t = {false, from, offset, pitch, to, host_pitch, bytes, rows};
    *done = NULL;
    return transfer(dev, &t, done, err);
}

bool dev_mark(Device *dev, DevLane lane, DevMark **out, Err *err)
{
    cl_event event = NULL;
    *out = NULL;
    TRY(open_lane(dev, lane, err));
    cl_int status = clEnqueueMarkerWithWaitList(dev->lanes[lane], 0, NULL, &event);
    if (status == CL_SUCCESS) {
        *out = (DevMark *)event;
        status = clFlush(dev->lanes[lane]); /* else what waits for it in another lane may wait for ever */
    }
    return status == CL_SUCCESS || cl_fail(dev, status, "clEnqueueMarkerWithWaitList", err, "%s", "");
}

bool dev_after(Device *dev, DevLane lane, const DevMark *mark, Err *err)
{
    const cl_event event = (cl_event)mark;
    if (mark == NULL) {
        return true;
    }
    TRY(open_lane(dev, lane, err));
    cl_int status = clEnqueueBarrierWithWaitList(dev->lanes[lane], 1, &event, NULL);
    return status == CL_SUCCESS || cl_fail(dev, status, "clEnqueueBarrierWithWaitList", err, "%s", "");
}

bool dev_follow(Device *dev, DevLane lane, DevLane other, Err *err)
{
    DevMark *mark;
    bool ok = dev_mark(dev, other, &mark, err) && dev_after(dev, lane, mark, err);
    dev_mark_free(dev, mark);
    return ok;
}

bool dev_reach(Device *dev, const DevMark *mark, Err *err)
{
    const cl_event event = (cl_event)mark;
    cl_int status = mark ? clWaitForEvents(1, &event) : CL_SUCCESS;
    dev->waits += mark != NULL;
    return status == CL_SUCCESS ||
           cl_fail(dev, status, "clWaitForEvents", err, "%s%s", dev->last[0] ? "after kernel " : "", dev->last);
}

void dev_mark_free(Device *dev, DevMark *mark)
{
    if (mark) {
        UNLESS_LOST(dev, clReleaseEvent((cl_event)mark));
    }
}

bool dev_fill(Device *dev, DevMem *mem, size_t offset, size_t bytes, uint32_t word, Err *err)
{
    size_t whole = bytes / 4 * 4;
    if (!dev->info.cpu && mem->offset + offset + bytes > MAX_FILL) {
        TRY(cl_fill_words(dev, mem, offset, whole / 4, word, err));
    } else if (whole > 0) {
        cl_event event;
        cl_int status =
            clEnqueueFillBuffer(dev->queue, mem->mem, &word, sizeof word, offset, whole, 0, NULL, slot(dev, &event));
        TRY(enqueued(dev, status, event, "fill", "fill", whole, "clEnqueueFillBuffer", err));
    }
    return dev_write(dev, mem, offset + whole, &word, bytes - whole, err);
}

bool dev_copy(Device *dev, DevMem *from, size_t from_at, DevMem *to, size_t to_at, size_t bytes, Err *err)
{
    if (bytes == 0) {
        return true;
    }
    cl_event event;
    cl_int status =
        clEnqueueCopyBuffer(dev->queue, from->mem, to->mem, from_at, to_at, bytes, 0, NULL, slot(dev, &event));
    return enqueued(dev, status, event, "copy", "copy", bytes, "clEnqueueCopyBuffer", err);
}

bool dev_finish(Device *dev, Err *err)
{
    cl_int status = CL_SUCCESS;
    dev->waits++;
    for (int lane = 0; lane < DEV_LANES && status == CL_SUCCESS; lane++) {
        status = dev->lanes[lane] ? clFinish(dev->lanes[lane]) : CL_SUCCESS;
    }
    return status == CL_SUCCESS ||
           cl_fail(dev, status, "clFinish", err, "%s%s", dev->last[0] ? "after kernel " : "", dev->last);
}

static bool times_of(Device *dev, Pending *pending, DevEvent *out, Err *err)
{
    cl_ulong begin = 0, end = 0;
    cl_int status = clGetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    if (status == CL_SUCCESS) {
        status = clGetEventProfilingInfo(pending->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    }
    *out = (DevEvent){pending->what, pending->kind, begin, end, pending->bytes};
    return status == CL_SUCCESS || cl_fail(dev, status, "clGetEventProfilingInfo", err, "for '%s'", pending->what);
}

bool dev_events(Device *dev, const DevEvent **list, int *n, Err *err)
{
    free(dev->events);
    dev->events = calloc((size_t)dev->n_pending + 1, sizeof *dev->events);
    if (!dev->events) {
        return cl_no_host_memory(err, "the profile");
    }
    bool ok = dev_finish(dev, err);
    for (int i = 0; i < dev->n_pending; i++) {
        ok = ok && times_of(dev, &dev->pending[i], &dev->events[i], err);
        (void)clReleaseEvent(dev->pending[i].event);
    }
    *list = dev->events;
    *n = ok ? dev->n_pending : 0;
    free(dev->reported);
    dev->reported = dev->pending;
    dev->pending = NULL;
    dev->n_pending = dev->cap_pending = 0;
    return ok;
}
