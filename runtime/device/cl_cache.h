/*
 * cl_cache: compiled kernels on disk, from one process to the next.  A device runs what it finds there, so the folder
 * belongs to the user, and nobody else can write to it; one that is not so is refused.
 */
#ifndef RUNTIME_CL_CACHE_H
#define RUNTIME_CL_CACHE_H

#include "../../base/err.h"

#include <stddef.h>

typedef struct ClCache {
    int fd;              /* -1: there is none */
    char path[40];       /* that leads to the open folder, whatever becomes of its name */
    bool kept_elsewhere; /* the driver keeps kernels itself: only what was met is known here */
} ClCache;

/*
 * Opens the folder: `chosen`, else below $XDG_CACHE_HOME or $HOME; what is missing is made, for the user alone.  False when
 * it is refused, or cannot be made; "" and a home that nobody knows are no folder, and no failure.
 */
bool cl_cache_open(const char *chosen, ClCache *out, Err *err);
void cl_cache_close(ClCache *cache);
/* The binary stored for `key`, owned by the caller (free); false: none, or the file is broken. */
bool cl_cache_load(const ClCache *cache, const char *key, void **binary, size_t *size);
/* False where nothing would be stored. */
bool cl_cache_keeps(const ClCache *cache);
/* Stores a binary.  A cache that cannot be written only costs time, so failures are not told. */
void cl_cache_store(const ClCache *cache, const char *key, const void *binary, size_t size);
/* True the first time, over all processes, that it is asked about a key; without a folder always. */
bool cl_cache_is_first(const ClCache *cache, const char *key);

#endif
