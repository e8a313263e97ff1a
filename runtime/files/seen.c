/* seen: see seen.h. */
#include "seen.h"

#include "image_format.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct Seen {
    uint64_t size, blocks;
    unsigned char (*tag)[DIGEST_TAG]; /* by block */
    bool known[];                     /* by block */
};

Seen *seen_new(uint64_t size)
{
    const uint64_t blocks = (size + DIGEST_BLOCK - 1) / DIGEST_BLOCK;
    Seen *seen = calloc(1, sizeof *seen + blocks * sizeof *seen->known);
    if (seen != NULL) {
        seen->size = size;
        seen->blocks = blocks;
        seen->tag = calloc(blocks + 1, sizeof *seen->tag);
    }
    if (seen != NULL && seen->tag == NULL) {
        seen_free(seen);
        seen = NULL;
    }
    return seen;
}

void seen_free(Seen *seen)
{
    if (seen != NULL) {
        free(seen->tag);
        free(seen);
    }
}

static size_t block_bytes(const Seen *seen, uint64_t block)
{
    const uint64_t left = seen->size - block * DIGEST_BLOCK;
    return left < DIGEST_BLOCK ? (size_t)left : DIGEST_BLOCK;
}

void seen_add(Seen *seen, uint64_t offset, const void *bytes, size_t n)
{
    for (uint64_t block = (offset + DIGEST_BLOCK - 1) / DIGEST_BLOCK; block < seen->blocks; block++) {
        const uint64_t from = block * DIGEST_BLOCK - offset;
        const size_t size = block_bytes(seen, block);
        if (from + size > n) {
            break;
        }
        digest_block((const char *)bytes + from, size, seen->tag[block]);
        seen->known[block] = true;
    }
}

bool seen_end(const Seen *seen, const char *path, Digest *digest)
{
    unsigned char piece[DIGEST_BLOCK], tag[DIGEST_TAG];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0;
    for (uint64_t block = 0; ok && block < seen->blocks; block++) {
        const size_t size = block_bytes(seen, block);
        size_t got;
        if (seen->known[block]) {
            digest_add(digest, seen->tag[block], DIGEST_TAG);
        } else if ((ok = image_pread(fd, piece, size, block * DIGEST_BLOCK, &got))) {
            digest_block(piece, size, tag);
            digest_add(digest, tag, DIGEST_TAG);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}
