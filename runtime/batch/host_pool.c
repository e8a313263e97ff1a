/*
 * host_pool: a list of blocks, few and large.
 *
 * A block serves requests of its size up to a quarter less.  Blocks begin as plain memory, and
 * stay: the first image of a batch does not wait for pinning, the only one never does.  A size
 * that is asked for again and again gets pinned blocks, one each time that the device's thread
 * comes by, until all that are in use at one time are pinned; a plain block goes for each.
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
    int taken; /* how often */
    bool busy, pinned;
    bool leaves; /* dropped when it is given back: a pinned one has taken its place */
} Block;

struct HostPool {
    Device *dev;
    bool pins;
    size_t most, kept, pinned; /* kept: bytes of all plain blocks */
    Block *blocks;
    pthread_mutex_t lock;
};

HostPool *host_pool_new(size_t most, Device *dev)
{
    HostPool *pool = calloc(1, sizeof *pool);
    if (pool != NULL) {
        pool->most = most;
        pool->dev = dev;
        pool->pins = dev != NULL;
        pthread_mutex_init(&pool->lock, NULL);
    }
    return pool;
}

/* Takes a block out of the list and frees it; pinned ones only on the device's thread. */
static void drop(HostPool *pool, Block **link)
{
    Block *block = *link;
    *link = block->next;
    if (block->pinned) {
        pool->pinned -= block->bytes;
        dev_host_free(pool->dev, block->at);
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

/* A free block, a pinned one first. */
static Block *find(const HostPool *pool, size_t bytes)
{
    Block *found = NULL;
    for (Block *b = pool->blocks; b != NULL; b = b->next) {
        if (!b->busy && serves(b, bytes) && (found == NULL || (b->pinned && !found->pinned))) {
            found = b;
        }
    }
    return found;
}

static Block *add(HostPool *pool, void *at, size_t bytes, bool pinned)
{
    Block *block = calloc(1, sizeof *block);
    if (block != NULL) {
        *block = (Block){.next = pool->blocks, .at = at, .bytes = bytes, .pinned = pinned};
        *(pinned ? &pool->pinned : &pool->kept) += bytes;
        pool->blocks = block;
    }
    return block;
}

void *host_pool_take(HostPool *pool, size_t bytes)
{
    bytes = (bytes + PAGE) / PAGE * PAGE;
    pthread_mutex_lock(&pool->lock);
    Block *block = find(pool, bytes);
    if (block == NULL) {
        void *at = pages_alloc(bytes);
        block = at != NULL ? add(pool, at, bytes, false) : NULL;
        if (block == NULL) {
            free(at);
        }
    }
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
            oldest = !(*link)->busy && !(*link)->pinned ? link : oldest;
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
        if (!b->pinned && !b->leaves && wanted) {
            return link;
        }
    }
    return NULL;
}

/* The size that is to be pinned next; 0: none. */
static size_t worth_pinning(HostPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    Block **link = find_plain(pool, 0);
    size_t bytes = link != NULL ? (*link)->bytes : 0;
    bool room = pool->pinned + bytes <= pool->most;
    pthread_mutex_unlock(&pool->lock);
    return room ? bytes : 0;
}

/* Pinning takes long and is done without the lock.  A device that cannot pin is not asked again. */
void host_pool_pin(HostPool *pool)
{
    Err err = {0};
    void *at;
    size_t bytes = pool->pins ? worth_pinning(pool) : 0;
    if (bytes == 0) {
        return;
    }
    if (!dev_host_alloc(pool->dev, bytes, &at, &err)) {
        pool->pins = false;
        return;
    }
    pthread_mutex_lock(&pool->lock);
    if (add(pool, at, bytes, true) == NULL) {
        dev_host_free(pool->dev, at);
    }
    Block **plain = find_plain(pool, bytes);
    if (plain != NULL && (*plain)->busy) {
        (*plain)->leaves = true;
    } else if (plain != NULL) {
        drop(pool, plain);
    }
    pthread_mutex_unlock(&pool->lock);
}

size_t host_pool_pinned(const HostPool *pool)
{
    return pool->pinned;
}
