/* digest: see digest.h. */
#include "digest.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <nettle/umac.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

bool digest_add_file(Digest *digest, const char *path)
{
    static const uint8_t key[UMAC_KEY_SIZE] = {0};
    uint8_t piece[1 << 16], tag[UMAC128_DIGEST_SIZE];
    struct umac128_ctx umac;
    umac128_set_key(&umac, key);
    umac128_set_nonce(&umac, 1, key);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? 1 : -1;
    while (n > 0 || (n < 0 && fd >= 0 && errno == EINTR)) {
        n = read(fd, piece, sizeof piece);
        umac128_update(&umac, n > 0 ? (size_t)n : 0, piece);
    }
    int error = errno;
    umac128_digest(&umac, sizeof tag, tag);
    digest_add(digest, tag, sizeof tag);
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return n == 0;
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
