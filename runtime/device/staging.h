/*
 * staging: pinned blocks of host memory between rows on the host and on the device, a few for each
 * direction, so that the device moves one while the host fills or empties another.  Pinning takes as
 * long as copying, so the blocks are small and stay.
 */
#ifndef RUNTIME_STAGING_H
#define RUNTIME_STAGING_H

#include "cl.h"

enum { STAGING_BLOCKS = 3, STAGING_BYTES = 8 << 20 };

typedef struct Staging Staging;

/* Rows on the device: `line` bytes each, `pitch` apart, from byte `offset` on. */
typedef struct StagingRows {
    DevMem *mem;
    size_t offset, pitch, line, rows;
} StagingRows;

/* The device is borrowed.  NULL: out of memory. */
Staging *staging_new(Device *dev);
void staging_free(Staging *staging); /* NULL is allowed */

/* Rows of `line` bytes that a block is to hold: at least 1. */
size_t staging_rows(size_t line);
/* A block for `bytes` on their way up, when it is free; staging_send sends what was put there. */
bool staging_room(Staging *staging, size_t bytes, char **at, Err *err);
bool staging_send(Staging *staging, const StagingRows *to, Err *err);

/* Rows begin to come down; not when as many blocks as there are have not been taken. */
bool staging_is_full(const Staging *staging);
bool staging_fetch(Staging *staging, const StagingRows *from, Err *err);
/* Waits for the oldest of them; the block is valid until the next call but staging_room and _send. */
bool staging_take(Staging *staging, char **at, Err *err);
/* Waits for all that is under way, and forgets it: after a failure. */
void staging_forget(Staging *staging);

#endif
