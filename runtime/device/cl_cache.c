/*
 * cl_cache: one file for each compiled program, named by a hash of its key.  The key is the whole
 * text that decides the binary (source, options, device, driver, version); it is kept in the file,
 * so a collision of hashes is noticed, and a checksum over everything makes a broken file the same
 * as a missing one.
 */
#include "cl_cache.h"

#include "../../base/file.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Header {
    char magic[16];
    uint64_t key_size, binary_size;
    uint64_t check[2]; /* of key and binary */
} Header;

static const char MAGIC[16] = "pipec kernel 1\n";

/* FNV-1a and FNV-1 side by side: 128 bits that agree only by an accident nobody will see. */
static void hash_add(uint64_t hash[2], const void *data, size_t n)
{
    const unsigned char *at = data;
    const uint64_t prime = 0x100000001b3u;
    for (size_t i = 0; i < n; i++) {
        hash[0] = (hash[0] ^ at[i]) * prime;
        hash[1] = (hash[1] * prime) ^ at[i];
    }
}

static void hash_start(uint64_t hash[2])
{
    hash[0] = hash[1] = 0xcbf29ce484222325u;
}

static void path_of(const char *folder, const char *key, char *path, size_t size)
{
    char hex[33];
    cl_cache_hash(key, strlen(key), hex);
    snprintf(path, size, "%s/%s.kernel", folder, hex);
}

static bool intact(const char *file, size_t size, const char *key, Header *header)
{
    if (size < sizeof *header) {
        return false;
    }
    memcpy(header, file, sizeof *header);
    size_t rest = size - sizeof *header, key_size = strlen(key);
    if (memcmp(header->magic, MAGIC, sizeof MAGIC) != 0 || header->key_size != key_size ||
        key_size > rest || header->binary_size != rest - key_size ||
        memcmp(file + sizeof *header, key, key_size) != 0) {
        return false;
    }
    uint64_t check[2];
    hash_start(check);
    hash_add(check, file + sizeof *header, rest);
    return check[0] == header->check[0] && check[1] == header->check[1];
}

void cl_cache_hash(const char *text, size_t n, char hex[33])
{
    uint64_t hash[2];
    hash_start(hash);
    hash_add(hash, text, n);
    snprintf(hex, 33, "%016" PRIx64 "%016" PRIx64, hash[0], hash[1]);
}

void cl_cache_folder(const char *chosen, char *folder, size_t size)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (chosen) {
        snprintf(folder, size, "%s", chosen);
    } else if (xdg && xdg[0] == '/') {
        snprintf(folder, size, "%s/pipec", xdg);
    } else if (home && home[0] == '/') {
        snprintf(folder, size, "%s/.cache/pipec", home);
    } else {
        folder[0] = '\0';
    }
}

bool cl_cache_load(const char *folder, const char *key, void **binary, size_t *size)
{
    char path[4200], *file = NULL;
    size_t n = 0;
    Err ignored = {0};
    Header header;
    path_of(folder, key, path, sizeof path);
    if (!file_read(path, &file, &n, &ignored)) {
        return false;
    }
    if (!intact(file, n, key, &header)) {
        free(file);
        return false;
    }
    *size = (size_t)header.binary_size;
    memmove(file, file + sizeof header + header.key_size, *size);
    *binary = file;
    return true;
}

void cl_cache_store(const char *folder, const char *key, const void *binary, size_t size)
{
    Header header = {.key_size = strlen(key), .binary_size = size};
    size_t total = sizeof header + (size_t)header.key_size + size;
    char path[4200], *file = malloc(total);
    if (!file) {
        return;
    }
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    memcpy(file + sizeof header, key, (size_t)header.key_size);
    memcpy(file + sizeof header + header.key_size, binary, size);
    hash_start(header.check);
    hash_add(header.check, file + sizeof header, total - sizeof header);
    memcpy(file, &header, sizeof header);
    path_of(folder, key, path, sizeof path);
    Err ignored = {0};
    (void)file_write(path, file, total, &ignored);
    free(file);
}
