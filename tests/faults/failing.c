/*
 * failing: a library for LD_PRELOAD that lets the n-th call of a kind fail.
 *
 *   FAIL_KIND   memory (malloc, calloc, realloc), files (write, pwrite, fsync, rename, ftruncate),
 *               device (OpenCL calls that do work) or large (buffers on the device)
 *   FAIL_AT     which call, from 1; 0: none, calls are only counted; of large: bytes that the device has,
 *               whatever it says
 *   FAIL_EVER   set: that call and all after it
 *   FAIL_FIRST  set: large counts for the device that has the first buffer, and not for others
 *   FAIL_LOG    a file that gets a line "NAME NUMBER" for each failure, and "calls N" at the end
 *
 * Only calls from the program itself count, not those of the libraries it uses: what LLVM does
 * without memory is not asked.  So the numbers are small and the same from run to run, but for what
 * its threads do in another order.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *at, size_t size);

static atomic_long calls;
static long fail_at;
static bool fail_ever;
static const char *kind = "", *log_path;
static uintptr_t program_begin, program_end;

/* ---- which calls count -------------------------------------------------------------------- */

/* The first object is the program. */
static int note_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            program_begin = info->dlpi_addr + part->p_vaddr;
            program_end = program_begin + part->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT"), *what = getenv("FAIL_KIND");
    fail_at = at != NULL ? atol(at) : 0;
    fail_ever = getenv("FAIL_EVER") != NULL;
    log_path = getenv("FAIL_LOG");
    kind = what != NULL ? what : "";
    if (strcmp(program_invocation_short_name, "pipec") == 0) { /* not in the linker that PoCL starts, and its shell */
        dl_iterate_phdr(note_program, NULL);
    }
}

/* Written without the functions of this file, which would count themselves. */
static void note(const char *name, long number)
{
    static ssize_t (*plain_write)(int, const void *, size_t);
    char line[80];
    int n = snprintf(line, sizeof line, "%s %ld\n", name, number);
    if (plain_write == NULL) {
        plain_write = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    }
    int fd = log_path != NULL ? open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd >= 0) {
        (void)!plain_write(fd, line, (size_t)n);
        (void)close(fd);
    }
}

__attribute__((destructor)) static void end(void)
{
    note("calls", atomic_load(&calls));
}

static bool fails(const char *of, const char *name, const void *caller)
{
    uintptr_t from = (uintptr_t)caller;
    if (strcmp(of, kind) != 0 || from < program_begin || from >= program_end) {
        return false;
    }
    long number = atomic_fetch_add(&calls, 1) + 1;
    bool now = fail_at > 0 && (fail_ever ? number >= fail_at : number == fail_at);
    if (now) {
        int before = errno;
        note(name, number);
        errno = before;
    }
    return now;
}

#define FAILS(of, name) fails(of, name, __builtin_return_address(0))
/* The function behind this one. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- memory -------------------------------------------------------------------------------- */

void *malloc(size_t size)
{
    return FAILS("memory", "malloc") ? (errno = ENOMEM, NULL) : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return FAILS("memory", "calloc") ? (errno = ENOMEM, NULL) : __libc_calloc(n, size);
}

void *realloc(void *at, size_t size)
{
    return FAILS("memory", "realloc") ? (errno = ENOMEM, NULL) : __libc_realloc(at, size);
}

/* ---- files --------------------------------------------------------------------------------- */

ssize_t write(int fd, const void *from, size_t size)
{
    bool file = fd > STDERR_FILENO;
    return file && FAILS("files", "write") ? (errno = ENOSPC, -1) : REAL(write)(fd, from, size);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    return FAILS("files", "pwrite") ? (errno = ENOSPC, -1) : REAL(pwrite)(fd, from, size, at);
}

int fsync(int fd)
{
    return FAILS("files", "fsync") ? (errno = EIO, -1) : REAL(fsync)(fd);
}

int rename(const char *from, const char *to)
{
    return FAILS("files", "rename") ? (errno = EIO, -1) : REAL(rename)(from, to);
}

int ftruncate(int fd, off_t size)
{
    return FAILS("files", "ftruncate") ? (errno = ENOSPC, -1) : REAL(ftruncate)(fd, size);
}

/* ---- device -------------------------------------------------------------------------------- */

/* A call that returns its status, and one that returns an object and the status behind it. */
#define CL_CALL(name, params, args)                                            \
    CL_API_ENTRY cl_int CL_API_CALL name params                                \
    {                                                                          \
        return FAILS("device", #name) ? CL_OUT_OF_RESOURCES : REAL(name) args; \
    }
#define CL_MAKE(type, name, params, args)                   \
    CL_API_ENTRY type CL_API_CALL name params               \
    {                                                       \
        if (FAILS("device", #name)) {                       \
            if (status != NULL) {                           \
                *status = CL_MEM_OBJECT_ALLOCATION_FAILURE; \
            }                                               \
            return NULL;                                    \
        }                                                   \
        return REAL(name) args;                             \
    }

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context c, cl_mem_flags f, size_t n, void *host, cl_int *status)
{
    static _Atomic(cl_context) first;
    cl_context nobody = NULL;
    bool is_first = atomic_compare_exchange_strong(&first, &nobody, c) || nobody == c;
    bool large = strcmp(kind, "large") == 0 && n > (size_t)fail_at && (is_first || getenv("FAIL_FIRST") == NULL);
    if (large) {
        note("clCreateBuffer", (long)n);
    }
    if (large || FAILS("device", "clCreateBuffer")) {
        if (status != NULL) {
            *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        }
        return NULL;
    }
    return REAL(clCreateBuffer)(c, f, n, host, status);
}

CL_MAKE(cl_mem, clCreateSubBuffer, (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *i, cl_int *status),
        (m, f, t, i, status))
CL_MAKE(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *status), (p, n, status))
CL_MAKE(cl_program, clCreateProgramWithSource,
        (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *status), (c, n, s, l, status))
CL_CALL(clBuildProgram,
        (cl_program p, cl_uint n, const cl_device_id *d, const char *o, void(CL_CALLBACK *f)(cl_program, void *),
         void *u),
        (p, n, d, o, f, u))
CL_CALL(clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *v), (k, i, n, v))
CL_CALL(clFinish, (cl_command_queue q), (q))
#define WAITS cl_uint n_waits, const cl_event *waits, cl_event *event
#define WAITS_ARGS n_waits, waits, event
CL_CALL(clEnqueueNDRangeKernel,
        (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, WAITS),
        (q, k, d, o, g, l, WAITS_ARGS))
CL_CALL(clEnqueueWriteBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, const void *p, WAITS),
        (q, m, b, o, n, p, WAITS_ARGS))
CL_CALL(clEnqueueReadBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t n, void *p, WAITS),
        (q, m, b, o, n, p, WAITS_ARGS))
CL_CALL(clEnqueueWriteBufferRect,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *bo, const size_t *ho, const size_t *r, size_t bp,
         size_t bs, size_t hp, size_t hs, const void *p, WAITS),
        (q, m, b, bo, ho, r, bp, bs, hp, hs, p, WAITS_ARGS))
CL_CALL(clEnqueueReadBufferRect,
        (cl_command_queue q, cl_mem m, cl_bool b, const size_t *bo, const size_t *ho, const size_t *r, size_t bp,
         size_t bs, size_t hp, size_t hs, void *p, WAITS),
        (q, m, b, bo, ho, r, bp, bs, hp, hs, p, WAITS_ARGS))
CL_CALL(clEnqueueFillBuffer, (cl_command_queue q, cl_mem m, const void *v, size_t vn, size_t o, size_t n, WAITS),
        (q, m, v, vn, o, n, WAITS_ARGS))
CL_CALL(clEnqueueCopyBuffer, (cl_command_queue q, cl_mem a, cl_mem b, size_t ao, size_t bo, size_t n, WAITS),
        (q, a, b, ao, bo, n, WAITS_ARGS))
CL_CALL(clEnqueueMarkerWithWaitList, (cl_command_queue q, WAITS), (q, WAITS_ARGS))
CL_CALL(clEnqueueBarrierWithWaitList, (cl_command_queue q, WAITS), (q, WAITS_ARGS))
CL_CALL(clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))
CL_CALL(clFlush, (cl_command_queue q), (q))
