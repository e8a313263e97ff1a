/*
 * guarded: a library for LD_PRELOAD that puts every buffer of a CPU's OpenCL between pages that nobody may touch.
 *
 * A kernel that reads or writes beyond a buffer ends the program, whatever lies there, and whether or not the
 * pixels matter.  Buffers begin where such a page ends; with GUARD_END set they end where one begins, as far as
 * the alignment of buffers lets them.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

typedef cl_mem (*Create)(cl_context context, cl_mem_flags flags, size_t n, void *host, cl_int *status);

enum { PAGE = 4096, GUARD = 1 << 20, ALIGNMENT = 128 };

/* Stays until the program ends: who frees a buffer is not known here. */
static void *guarded(size_t n)
{
    size_t room = (n + PAGE - 1) / PAGE * PAGE;
    char *at = mmap(NULL, room + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || mprotect(at + GUARD, room, PROT_READ | PROT_WRITE) != 0) {
        return NULL;
    }
    size_t behind = getenv("GUARD_END") != NULL ? (room - n) / ALIGNMENT * ALIGNMENT : 0;
    return at + GUARD + behind;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t n, void *host,
                                               cl_int *status)
{
    Create create;
    *(void **)&create = dlsym(RTLD_NEXT, "clCreateBuffer");
    void *at = host == NULL ? guarded(n) : NULL;
    if (at == NULL) {
        return create(context, flags, n, host, status);
    }
    flags &= ~(cl_mem_flags)CL_MEM_ALLOC_HOST_PTR;
    return create(context, flags | CL_MEM_USE_HOST_PTR, n, at, status);
}
