/*
 * host_pool: host memory for pixels, used again for images of the same size.  Fresh memory costs a
 * page fault every 4 KiB, and devices copy from and to it at a fraction of what pinned memory
 * reaches; pinning takes long, so what is pinned must be used often.  A block is pinned for one device, and is plain
 * memory to others.
 */
#ifndef RUNTIME_HOST_POOL_H
#define RUNTIME_HOST_POOL_H

#include "../device/cl.h"

typedef struct HostPool HostPool;

/* `most`: bytes that may be kept for later, and as many pinned.  `many`: so much is to come that all blocks are pinned from
 * the start, those of no device in turn for `devices`, which are borrowed and must outlive the pool.  NULL: out of
 * memory. */
HostPool *host_pool_new(size_t most, bool many, Device *const *devices, int n);
/* After all is given back, when no thread has a device any more; NULL is allowed. */
void host_pool_free(HostPool *pool);

/* Memory for `bytes`, with any content, best what is pinned for `dev`; NULL: for whichever device.  Returns NULL: out of
 * memory.  From any thread. */
void *host_pool_take(HostPool *pool, size_t bytes, Device *dev);
void host_pool_give(HostPool *pool, void *at); /* from any thread; NULL is allowed */

/* Pins a block more for the device if that pays; called from time to time by the thread that has it.  The device is
 * borrowed, and must outlive the pool.  False: it cannot pin, and need not be asked again. */
bool host_pool_pin(HostPool *pool, Device *dev);
/* The number of the device (DeviceInfo) that memory is pinned for; below 0: none. */
int host_pool_device(HostPool *pool, const void *at);
/* Bytes that are pinned now. */
size_t host_pool_pinned(const HostPool *pool);

#endif
