/* cl_cache: compiled kernels on disk, from one process to the next. */
#ifndef RUNTIME_CL_CACHE_H
#define RUNTIME_CL_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* 32 hex digits that stand for the text, and the terminator. */
void cl_cache_hash(const char *text, size_t n, char hex[33]);
/* The folder to use: `chosen`, else below $XDG_CACHE_HOME or $HOME; "" when there is none. */
void cl_cache_folder(const char *chosen, char *folder, size_t size);
/* The binary stored for `key`, owned by the caller (free); false: none, or the file is broken. */
bool cl_cache_load(const char *folder, const char *key, void **binary, size_t *size);
/* Stores a binary.  A cache that cannot be written only costs time, so failures are not told. */
void cl_cache_store(const char *folder, const char *key, const void *binary, size_t size);

#endif
