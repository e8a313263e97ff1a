/* digest: see digest.h. */
#include "digest.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef XXHASH_BY_PROCESSOR
#include <xxh_x86dispatch.h> /* XXH3 by what the processor has */
#else
#include <xxhash.h>
#endif

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(Digest), "the state fits");

static struct sha256_ctx *state_of(Digest *digest)
{
    return (struct sha256_ctx *)(void *)digest->state;
}

void digest_begin(Digest *digest)
{
    sha256_init(state_of(digest));
}

void digest_add(Digest *digest, const void *bytes, size_t n)
{
    sha256_update(state_of(digest), n, bytes);
}

void digest_add_text(Digest *digest, const char *text)
{
    text = text != NULL ? text : "";
    digest_add(digest, text, strlen(text) + 1);
}

void digest_block(const void *bytes, size_t n, unsigned char tag[DIGEST_TAG])
{
    XXH128_canonical_t canonical;
    _Static_assert(sizeof canonical == DIGEST_TAG, "128 bits");
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, n));
    memcpy(tag, &canonical, DIGEST_TAG);
}

/* Bytes of a whole block, unless the file ends before; below 0: a failure. */
static ssize_t read_block(int fd, unsigned char block[DIGEST_BLOCK])
{
    ssize_t got = 0, n = 1;
    while (got < DIGEST_BLOCK && (n > 0 || (n < 0 && errno == EINTR))) {
        n = read(fd, block + got, (size_t)(DIGEST_BLOCK - got));
        got += n > 0 ? n : 0;
    }
    return n < 0 ? n : got;
}

bool digest_add_file(Digest *digest, const char *path)
{
    unsigned char block[DIGEST_BLOCK], tag[DIGEST_TAG];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? DIGEST_BLOCK : -1;
    while (n == DIGEST_BLOCK && (n = read_block(fd, block)) > 0) {
        digest_block(block, (size_t)n, tag);
        digest_add(digest, tag, sizeof tag);
    }
    if (fd >= 0) {
        int error = errno;
        close(fd);
        errno = error;
    }
    return n >= 0;
}

void digest_end(Digest *digest, char hex[DIGEST_TEXT])
{
    uint8_t bytes[SHA256_DIGEST_SIZE];
    sha256_digest(state_of(digest), sizeof bytes, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    }
}

void digest_of_text(const char *text, char hex[DIGEST_TEXT])
{
    Digest digest;
    digest_begin(&digest);
    digest_add_text(&digest, text);
    digest_end(&digest, hex);
}
