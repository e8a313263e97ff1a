/*
 * host_pool: host memory for pixels, used again for images of the same size.  Fresh memory costs a
 * page fault every 4 KiB, and devices copy from and to it at a fraction of what pinned memory
 * reaches; pinning takes long, so what is pinned must be used often.
 */
#ifndef RUNTIME_HOST_POOL_H
#define RUNTIME_HOST_POOL_H

#include "../device/cl.h"

typedef struct HostPool HostPool;

/* `most`: bytes that may be kept for later, and as many pinned.  `dev`: borrowed, must outlive the
 * pool; NULL: nothing is pinned.  NULL: out of memory. */
HostPool *host_pool_new(size_t most, Device *dev);
/* After all is given back, by the thread that has the device; NULL is allowed. */
void host_pool_free(HostPool *pool);

/* Memory for `bytes`, with any content; NULL: out of memory.  From any thread. */
void *host_pool_take(HostPool *pool, size_t bytes);
void host_pool_give(HostPool *pool, void *at); /* from any thread; NULL is allowed */

/* Pins a block more if that pays; called from time to time by the thread that has the device. */
void host_pool_pin(HostPool *pool);
/* Bytes that are pinned now. */
size_t host_pool_pinned(const HostPool *pool);

#endif
