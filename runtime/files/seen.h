/*
 * seen: the digest of a file, made as it is read for something else, so that it need not be read once more.  Blocks that
 * nobody has read whole are read in the end.
 */
#ifndef RUNTIME_SEEN_H
#define RUNTIME_SEEN_H

#include "../../base/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Seen Seen;

/* Of a file of so many bytes; NULL without memory. */
Seen *seen_new(uint64_t size);
void seen_free(Seen *seen); /* NULL is allowed */
/* Bytes as they are in the file, from `offset` on.  May be called from several threads, for bytes that do not overlap. */
void seen_add(Seen *seen, uint64_t offset, const void *bytes, size_t n);
/* Adds what digest_add_file would of the file; false when blocks that are missing cannot be read. */
bool seen_end(const Seen *seen, const char *path, Digest *digest);

#endif
