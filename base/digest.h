/*
 * digest: what stands for a content: SHA-256 (FIPS 180-4), as nettle computes it.  Nobody can make two contents that have
 * the same.  Of files, which are long, the 128 bits of XXH3 (xxhash) stand for each block of the content: twenty times as
 * fast, and the same for two blocks by accident in one of 2^128 cases, but not where somebody means them to be.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DIGEST_TEXT = 65, /* hex digits, and the terminator */
    DIGEST_BLOCK = 1 << 16,
    DIGEST_TAG = 16
};

/* nettle's state, which only digest.c knows: programs that pipec builds are compiled without nettle's headers. */
typedef struct Digest {
    uint64_t state[16];
} Digest;

void digest_begin(Digest *digest);
void digest_add(Digest *digest, const void *bytes, size_t n);
/* With its terminator, so that "a" "bc" and "ab" "c" differ; NULL is the empty text. */
void digest_add_text(Digest *digest, const char *text);
/* What stands for one block of a file, n bytes, of which all but the last have DIGEST_BLOCK. */
void digest_block(const void *bytes, size_t n, unsigned char tag[DIGEST_TAG]);
/* The content of a file, by its blocks; false, with errno set, when it cannot be read. */
bool digest_add_file(Digest *digest, const char *path);
void digest_end(Digest *digest, char hex[DIGEST_TEXT]);
/* Of one text. */
void digest_of_text(const char *text, char hex[DIGEST_TEXT]);

#endif
