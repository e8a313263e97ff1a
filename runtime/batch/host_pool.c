/*
 * host_pool: a list of blocks, few and large.
 *
 * A block serves requests of its size up to a quarter less.  Where many images are to come, blocks are pinned when they
 * are made: the first transfer from and to plain memory takes about as long as that.  Else blocks begin as plain memory,
 * and stay: the only image never waits for pinning.  A size that is asked for again and again gets pinned blocks, one each
 * time that a device's thread comes by, until all that are in use at one time are pinned; a plain block goes for each.
 */
#include "host_pool.h"

#include "../../base/pages.h"

#include <pthread.h>
#include <stdlib.h>

/* Smaller blocks are not worth the trouble; sizes asked for less often are not pinned. */
enum { SMALL = 1 << 16, OFTEN = 3, PAGE = 4096 };

typedef struct Block {
    struct Block *next;
    void *at;
    size_t bytes;
    int taken;   /* how often */
    Device *dev; /* that it is pinned for; NULL: plain */
    bool busy;
    bool leaves; /* dropped when it is given back: a pinned one has taken its place */
} Block;

struct HostPool {
    size_t most, kept, pinned; /* kept: bytes of all plain blocks */
    bool many;
    Device *const *devices;
    int n_devices, turn; /* turn: the next one that memory is pinned for */
    Block *blocks;
    pthread_mutex_t lock;
};

HostPool *host_pool_new(size_t most, bool many, Device *const *devices, int n)
{
    HostPool *pool = calloc(1, sizeof *pool);
    if (pool != NULL) {
        *pool = (HostPool){.most = most, .many = many && n > 0, .devices = devices, .n_devices = n};
        pthread_mutex_init(&pool->lock, NULL);
    }
    return pool;
}

/* Takes a block out of the list and frees it; pinned ones only when no thread has their device. */
static void drop(HostPool *pool, Block **link)
{
    Block *block = *link;
    *link = block->next;
    if (block->dev != NULL) {
        pool->pinned -= block->bytes;
        dev_host_free(block->dev, block->at);
    } else {
        pool->kept -= block->bytes;
        free(block->at);
    }
    free(block);
}

void host_pool_free(HostPool *pool)
{
    if (pool != NULL) {
        while (pool->blocks != NULL) {
            drop(pool, &pool->blocks);
        }
        pthread_mutex_destroy(&pool->lock);
        free(pool);
    }
}

static bool serves(const Block *block, size_t bytes)
{
    return block->bytes >= bytes && block->bytes - bytes <= block->bytes / 4;
}

/* How good a block is for transfers of `dev`, or of any device: others' pinned ones are left to them. */
static int merit(const Block *block, const Device *dev)
{
    bool own = block->dev != NULL && (dev == NULL || dev_info(block->dev)->number == dev_info(dev)->number);
    return own ? 2 : block->dev == NULL ? 1 : 0;
}

/* The best free block. */
static Block *find(const HostPool *pool, size_t bytes, const Device *dev)
{
    Block *found = NULL;
    for (Block *b = pool->blocks; b != NULL; b = b->next) {
        if (!b->busy && serves(b, bytes) && (found == NULL || merit(b, dev) > merit(found, dev))) {
            found = b;
        }
    }
    return found;
}

static Block *add(HostPool *pool, void *at, size_t bytes, Device *dev)
{
    Block *block = calloc(1, sizeof *block);
    if (block != NULL) {
        *block = (Block){.next = pool->blocks, .at = at, .bytes = bytes, .dev = dev};
        pool->blocks = block;
    }
    return block;
}

/* Takes so many bytes from what may be pinned; called with the lock. */
static bool may_pin(HostPool *pool, size_t bytes)
{
    bool may = bytes > 0 && pool->pinned + bytes <= pool->most;
    pool->pinned += may ? bytes : 0;
    return may;
}

/* A new block, pinned for the device if it can be, or plain; called and left with the lock, which others may have
 * meanwhile. */
static Block *make(HostPool *pool, size_t bytes, Device *dev)
{
    Err refused = {0};
    void *at = NULL;
    bool pins = pool->many && bytes >= SMALL && may_pin(pool, bytes);
    dev = dev != NULL || !pins ? dev : pool->devices[pool->turn++ % pool->n_devices];
    pthread_mutex_unlock(&pool->lock);
    bool pinned = pins && dev_host_alloc(dev, bytes, &at, &refused);
    at = pinned ? at : pages_alloc(bytes);
    err_clear(&refused);
    pthread_mutex_lock(&pool->lock);
    Block *block = at != NULL ? add(pool, at, bytes, pinned ? dev : NULL) : NULL;
    if (block == NULL && pinned) {
        dev_host_free(dev, at);
    } else if (block == NULL) {
        free(at);
    }
    pool->pinned -= pins && !(pinned && block != NULL) ? bytes : 0;
    pool->kept += !pinned && block != NULL ? bytes : 0;
    return block;
}

void *host_pool_take(HostPool *pool, size_t bytes, Device *dev)
{
    bytes = (bytes + PAGE) / PAGE * PAGE;
    pthread_mutex_lock(&pool->lock);
    Block *block = find(pool, bytes, dev);
    block = block != NULL ? block : make(pool, bytes, dev);
    if (block != NULL) {
        block->busy = true;
        block->taken++;
    }
    pthread_mutex_unlock(&pool->lock);
    return block != NULL ? block->at : NULL;
}

static Block **link_of(HostPool *pool, const void *at)
{
    Block **link = &pool->blocks;
    while (*link != NULL && (*link)->at != at) {
        link = &(*link)->next;
    }
    return link;
}

/* Frees plain blocks that nobody has, the oldest first, until `most` is kept. */
static void trim(HostPool *pool, size_t most)
{
    while (pool->kept > most) {
        Block **oldest = NULL;
        for (Block **link = &pool->blocks; *link != NULL; link = &(*link)->next) {
            oldest = !(*link)->busy && (*link)->dev == NULL ? link : oldest;
        }
        if (oldest == NULL) {
            return;
        }
        drop(pool, oldest);
    }
}

void host_pool_give(HostPool *pool, void *at)
{
    if (at == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    Block **link = link_of(pool, at);
    (*link)->busy = false;
    if ((*link)->bytes < SMALL || (*link)->leaves) {
        drop(pool, link);
    }
    trim(pool, pool->most);
    pthread_mutex_unlock(&pool->lock);
}

/* A plain block of a size that is in demand (bytes 0), or of just that size. */
static Block **find_plain(HostPool *pool, size_t bytes)
{
    for (Block **link = &pool->blocks; *link != NULL; link = &(*link)->next) {
        const Block *b = *link;
        bool wanted = bytes > 0 ? b->bytes == bytes : b->taken >= OFTEN;
        if (b->dev == NULL && !b->leaves && wanted) {
            return link;
        }
    }
    return NULL;
}

/* The size that is to be pinned next, which counts from now on; 0: none. */
static size_t worth_pinning(HostPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    Block **link = find_plain(pool, 0);
    size_t bytes = link != NULL ? (*link)->bytes : 0;
    bytes = may_pin(pool, bytes) ? bytes : 0;
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}

/* Pinning takes long and is done without the lock. */
bool host_pool_pin(HostPool *pool, Device *dev)
{
    Err refused = {0};
    void *at;
    size_t bytes = worth_pinning(pool);
    if (bytes == 0) {
        return true;
    }
    bool pinned = dev_host_alloc(dev, bytes, &at, &refused);
    err_clear(&refused);
    pthread_mutex_lock(&pool->lock);
    if (pinned && add(pool, at, bytes, dev) == NULL) {
        dev_host_free(dev, at);
        pinned = false;
    }
    if (!pinned) {
        pool->pinned -= bytes;
        pthread_mutex_unlock(&pool->lock);
        return false;
    }
    Block **plain = find_plain(pool, bytes);
    if (plain != NULL && (*plain)->busy) {
        (*plain)->leaves = true;
    } else if (plain != NULL) {
        drop(pool, plain);
    }
    pthread_mutex_unlock(&pool->lock);
    return true;
}

int host_pool_device(HostPool *pool, const void *at)
{
    pthread_mutex_lock(&pool->lock);
    Block **link = link_of(pool, at);
    int number = *link != NULL && (*link)->dev != NULL ? dev_info((*link)->dev)->number : -1;
    pthread_mutex_unlock(&pool->lock);
    return number;
}

size_t host_pool_pinned(const HostPool *pool)
{
    return pool->pinned;
}
