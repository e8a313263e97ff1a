/*
 * cl: what calls OpenCL.  Everything above it sees devices, slices of memory, kernels and launches;
 * every failing call becomes a sentence in an Err.
 *
 * One Device is one context with an in-order queue for all work, and one each for rows that go up and
 * down beside it.  A Device is used by one thread at a time; several may share what it is opened on (dev_share).
 */
#ifndef RUNTIME_CL_H
#define RUNTIME_CL_H

#include "../../base/digest.h"
#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Device Device;
typedef struct DevMem DevMem;         /* an allocation or a slice of one */
typedef struct DevProgram DevProgram; /* built source; owned by the device */
typedef struct DevKernel DevKernel;   /* owned by its program */

typedef struct DeviceInfo {
    int number; /* counted over all platforms, from 0; `--device '#number'` */
    char name[128], platform[128], driver[64], version[64];
    bool cpu;           /* a CPU device: local memory is a loss, wide work-items pay */
    bool fp64;          /* else doubles are computed in whole numbers (soften.h): so, too, wherever the environment
                            has PIPEC_SOFT_DOUBLE */
    bool fma;           /* of f32, rounded once; else in whole numbers, too, where doubles are */
    bool promises;      /* all that pipec needs of f32 and f64; else it is tried (cl_check.h) */
    bool quick;         /* its compiler takes half the time where it need not optimise */
    bool wide_atomics;  /* of 64 bits, in global memory */
    uint64_t memory;    /* bytes of global memory */
    uint64_t max_alloc; /* largest single allocation */
    uint64_t local;     /* bytes of local memory a group */
    uint64_t constants; /* bytes of constants that a kernel may have */
    size_t max_group;
    int units;
} DeviceInfo;

/* Says, before anything below is called, that nobody else in this process compiles kernels, and that no user has changed any:
 * drivers that read much for each of them are told to read less (cl_pocl.h). */
void dev_alone(void);

/* All devices; *list is owned by the caller (free).  No platform at all is not an error: *n is 0
 * and *why says what is wrong and how to mend it. */
bool dev_list(DeviceInfo **list, int *n, char *why, size_t why_size, Err *err);

typedef struct DevOptions {
    const char *choice;      /* NULL: first GPU, else first device; "cpu", "gpu", "#k", or part of a name */
    bool profile;            /* event times of every launch and transfer are kept */
    const char *cache;       /* folder for compiled kernels; NULL: $XDG_CACHE_HOME/pipec or
                              ~/.cache/pipec, unless the driver has its own; "": none */
    const char *flags;       /* for the driver's compiler, beside those that every kernel needs; NULL: none */
    const char *dump, *load; /* folders for --dump-kernels and --load-kernels */
    uint64_t memory_limit;   /* bytes that dev_alloc may hold in all; 0: no limit but the device's */
    uint64_t local_limit;    /* bytes of local memory a group may take; 0: no limit but the device's */
    bool narrow_atomics;     /* atomics of 64 bits are not used, as if there were none */
} DevOptions;

bool dev_open(const DevOptions *options, Device **out, Err *err);
/* A second user of an open device, for another thread: with its own queues, under the same limit of memory, and with the
 * programs of the first, which is to be closed last. */
bool dev_share(Device *first, Device **out, Err *err);
void dev_close(Device *dev); /* NULL is allowed */
/* True once a call failed in a way that leaves the device unusable; open it anew. */
bool dev_lost(const Device *dev);
const DeviceInfo *dev_info(const Device *dev);
/* Bytes held now and at most so far. */
uint64_t dev_held(const Device *dev);
uint64_t dev_peak(const Device *dev);
/* Bytes that may be held in all: memory_limit, or what the device offers. */
uint64_t dev_limit(const Device *dev);

/*
 * Builds source (or takes it from memory, or from the disk cache: key = source, options, device,
 * driver, pipec's version; written atomically, a broken entry is rebuilt).  `name` is used for
 * messages and for dumped files (NAME.cl).  Standard options are always given:
 * -cl-std=CL1.2, WIDE_ATOMICS and, where the device can, -cl-fp32-correctly-rounded-divide-sqrt.
 * Same source and options: the same DevProgram.
 */
bool dev_program(Device *dev, const char *name, const char *source, const char *options, DevProgram **out, Err *err);
/* True in the first process, of all with one cache, that meets a text, as long as the device is open: what runs for images of
 * several sizes is not compiled in two ways. */
bool dev_is_first(Device *dev, const char *source);
/* Before a program is compiled, this is tried too: what dev_binary gave on such a device.  The bytes are
 * borrowed. */
bool dev_offer(Device *dev, const char *key, const void *bytes, size_t size, Err *err);
/* Number `i` of the programs that there are: its key and what the driver made of it, owned by the
 * caller (free).  False: there are no more, or the driver does not tell it (*bytes NULL). */
bool dev_binary(Device *dev, int i, char key[DIGEST_TEXT], void **bytes, size_t *size);
bool dev_kernel(DevProgram *program, const char *name, DevKernel **out, Err *err);
/* Bytes that a work-item of the kernel has in memory, for want of registers or of fixed places; 0 on CPUs, and where the
 * driver does not tell it. */
uint64_t dev_spilled(const DevProgram *program, const char *name);
/* Largest work-group with which the kernel can run here. */
size_t dev_kernel_max_group(Device *dev, DevKernel *kernel);

/* Allocates and touches, so that missing memory is noticed here: CODE_MEMORY. */
bool dev_alloc(Device *dev, size_t bytes, DevMem **out, Err *err);
/* A part of `of`; offset a multiple of dev_alignment.  Parts may overlap, and are freed in any order
 * (the memory goes when all have). */
bool dev_slice(Device *dev, DevMem *of, size_t offset, size_t bytes, DevMem **out, Err *err);
void dev_free(Device *dev, DevMem *mem); /* NULL is allowed */
size_t dev_alignment(const Device *dev); /* at least 256, a power of two */
size_t dev_bytes(const DevMem *mem);

/* Host memory that the device's transfers are fast from and to (pinned on GPUs: six times as fast), which takes none
 * of the device's.  Freed with the device at the latest.  From any thread. */
bool dev_host_alloc(Device *dev, size_t bytes, void **out, Err *err);
/* Makes memory such that is there, and begins with a page; dev_host_free leaves it to its owner. */
bool dev_host_pin(Device *dev, void *at, size_t bytes, Err *err);
void dev_host_free(Device *dev, void *at);

typedef struct DevArg {
    enum { DEV_MEM, DEV_INT, DEV_UINT, DEV_LONG, DEV_ULONG, DEV_FLOAT, DEV_DOUBLE, DEV_LOCAL } kind;
    union {
        DevMem *mem;
        int32_t i;
        uint32_t u;
        int64_t l;
        uint64_t ul;
        float f;
        double d;
        size_t local; /* bytes of local memory */
    };
} DevArg;

#define dev_mem(x) ((DevArg){.kind = DEV_MEM, .mem = (x)})
#define dev_int(x) ((DevArg){.kind = DEV_INT, .i = (int32_t)(x)})
#define dev_uint(x) ((DevArg){.kind = DEV_UINT, .u = (uint32_t)(x)})
#define dev_long(x) ((DevArg){.kind = DEV_LONG, .l = (int64_t)(x)})
#define dev_ulong(x) ((DevArg){.kind = DEV_ULONG, .ul = (uint64_t)(x)})
#define dev_float(x) ((DevArg){.kind = DEV_FLOAT, .f = (float)(x)})
#define dev_double(x) ((DevArg){.kind = DEV_DOUBLE, .d = (double)(x)})
#define dev_local(x) ((DevArg){.kind = DEV_LOCAL, .local = (size_t)(x)})

/*
 * Enqueues a kernel; returns without waiting.  `groups` counts work-groups, not items; a count of
 * 0 in any dimension launches nothing.  `what` labels the launch in profiles and messages.
 */
bool dev_launch(Device *dev, DevKernel *kernel, const DevArg *args, int n_args, const size_t groups[3],
                const size_t group[3], const char *what, Err *err);

/* Transfers on the work queue.  Reads wait; writes return when `from` may be reused. */
bool dev_write(Device *dev, DevMem *to, size_t offset, const void *from, size_t bytes, Err *err);
bool dev_read(Device *dev, DevMem *from, size_t offset, void *to, size_t bytes, Err *err);
/* `rows` rows of `bytes` each, host and device row lengths given in bytes. */
bool dev_write_rows(Device *dev, DevMem *to, size_t offset, size_t pitch, const void *from, size_t host_pitch,
                    size_t bytes, size_t rows, Err *err);
bool dev_read_rows(Device *dev, DevMem *from, size_t offset, size_t pitch, void *to, size_t host_pitch, size_t bytes,
                   size_t rows, Err *err);
bool dev_fill(Device *dev, DevMem *mem, size_t offset, size_t bytes, uint32_t word, Err *err);
bool dev_copy(Device *dev, DevMem *from, size_t from_at, DevMem *to, size_t to_at, size_t bytes, Err *err);
bool dev_finish(Device *dev, Err *err); /* all lanes */

/*
 * Lanes.  Everything above goes through DEV_COMPUTE, in order.  Two run beside it; what one of them needs
 * of another is said with marks.
 */
typedef enum DevLane { DEV_COMPUTE, DEV_UPLOAD, DEV_DOWNLOAD, DEV_LANES } DevLane;
typedef struct DevMark DevMark; /* what was enqueued on a lane so far; owned by the caller */

bool dev_mark(Device *dev, DevLane lane, DevMark **out, Err *err);
/* What is enqueued on the lane from now on begins when the mark is reached; NULL: at once. */
bool dev_after(Device *dev, DevLane lane, const DevMark *mark, Err *err);
/* The same with a mark of all that the other lane has been given by now. */
bool dev_follow(Device *dev, DevLane lane, DevLane other, Err *err);
bool dev_reach(Device *dev, const DevMark *mark, Err *err); /* waits; NULL: does not */
void dev_mark_free(Device *dev, DevMark *mark);             /* NULL is allowed */
/* As dev_write_rows and dev_read_rows, but on the lanes DEV_UPLOAD and DEV_DOWNLOAD, and without
 * waiting: the host's memory is left alone until *done is reached. */
bool dev_send_rows(Device *dev, DevMem *to, size_t offset, size_t pitch, const void *from, size_t host_pitch,
                   size_t bytes, size_t rows, DevMark **done, Err *err);
bool dev_fetch_rows(Device *dev, DevMem *from, size_t offset, size_t pitch, void *to, size_t host_pitch, size_t bytes,
                    size_t rows, DevMark **done, Err *err);

/* What was enqueued since the last call, in order (profile only); valid until the next call. */
typedef struct DevEvent {
    const char *what; /* as given to dev_launch; "upload", "download", "fill", "copy" */
    const char *kind; /* "kernel", "upload", "download", "fill", "copy" */
    uint64_t begin_ns, end_ns;
    uint64_t bytes; /* transfers */
} DevEvent;
bool dev_events(Device *dev, const DevEvent **list, int *n, Err *err);
/* Counts since dev_open. */
uint64_t dev_launches(const Device *dev);
uint64_t dev_waits(const Device *dev); /* reads, marks and dev_finish: what the host stood still for */
/* Why kernels are not kept on the disk though they should be, as a sentence; NULL: they are. */
const char *dev_no_cache(const Device *dev);
uint64_t dev_builds(const Device *dev); /* programs really compiled, not taken from a cache */

#endif
