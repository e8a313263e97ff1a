/* cl_state: what a Device is, for cl.c and cl_program.c, which call OpenCL. */
#ifndef RUNTIME_CL_STATE_H
#define RUNTIME_CL_STATE_H

#include "cl.h"
#include "cl_cache.h"
#include "prune.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PATH_SIZE = 4096 };

struct DevMem {
    cl_mem mem;
    size_t bytes;
    size_t counted;                /* bytes on the device's account; 0 for slices */
    struct DevMem *root;           /* the allocation that a slice is part of */
    size_t offset;                 /* from the root's start */
    struct DevMem *newest, *older; /* a root and its slices, as a stack */
    bool dropped;
};

struct DevKernel {
    cl_kernel kernel;
    DevProgram *program;
    DevKernel *next;
    cl_uint n_args;
    cl_ulong local; /* bytes of local memory without arguments */
    size_t max_group;
    char name[];
};

struct DevProgram {
    cl_program program;
    Device *dev;
    DevProgram *next;
    DevKernel *kernels;
    char *key;     /* NULL: that of the first device has it */
    bool building; /* by a thread, others wait for it */
};

typedef struct HostBlock {
    struct HostBlock *next;
    void *at, *own; /* own: to be freed with it */
    cl_mem mem;
} HostBlock;

typedef struct Offered {
    struct Offered *next;
    const void *bytes;
    size_t size;
    char key[DIGEST_TEXT];
} Offered;

/* A text that this process was the first to meet. */
typedef struct Met {
    struct Met *next;
    char key[DIGEST_TEXT];
} Met;

/* Something enqueued whose times nobody has asked for yet. */
typedef struct Pending {
    cl_event event;
    char what[96];
    const char *kind;
    uint64_t bytes;
} Pending;

struct Device {
    DeviceInfo info;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue lanes[DEV_LANES]; /* made when they are first used; [DEV_COMPUTE]: queue */
    Device *first; /* that one opened, whose memory is counted and whose programs are built; mostly itself */
    bool profile;
    atomic_bool lost; /* of the first */
    uint64_t limit, held, peak, launches, waits, builds;
    size_t alignment;
    char options[160];
    const char *head; /* what stands before every text; NULL: nothing */
    Pruner *pruner;   /* with that head; NULL: texts are compiled as they are */
    ClCache cache;
    char *no_cache; /* why there is none; NULL: nobody need know */
    char dump[PATH_SIZE], load[PATH_SIZE];
    pthread_mutex_t
        lock; /* programs, builds, met, host_blocks: programs may be built, and memory pinned, by several threads */
    pthread_cond_t built; /* a program is no longer building */
    DevProgram *programs;
    Offered *offered;
    Met *met;
    HostBlock *host_blocks;
    char last[128];              /* the latest kernel, for failures that only show when waiting */
    Pending *pending, *reported; /* reported: what dev_events last gave out, for its names */
    int n_pending, cap_pending;
    DevEvent *events;
};

/* What belongs to a lost device is not released: NVIDIA's driver crashes when it is. */
#define UNLESS_LOST(dev, call) ((void)((dev)->first->lost || (call) != CL_SUCCESS))

/* Turns a failed call into a sentence.  `where` completes it: "in kernel 'blurred'"; may be empty. */
__attribute__((format(printf, 5, 6))) bool cl_fail(Device *dev, cl_int status, const char *call, Err *err,
                                                   const char *where, ...);
bool cl_no_host_memory(Err *err, const char *what);
void cl_free_program(DevProgram *program);

#endif
