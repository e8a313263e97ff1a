/*
 * cl_cache: one file for each compiled program, named by a digest of its key.  The key is the whole
 * text that decides the binary (source, options, device, driver, version); it is kept in the file, and a digest of
 * everything makes a broken file the same as a missing one.
 */
#include "cl_cache.h"

#include "../../base/digest.h"
#include "../../base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4200 };

typedef struct Header {
    char magic[16];
    uint64_t key_size, binary_size;
    char check[DIGEST_TEXT - 1]; /* of key and binary */
} Header;

static const char MAGIC[16] = "pipec kernel 2\n";

static void path_of(const ClCache *cache, const char *key, char *path, size_t size)
{
    char hex[DIGEST_TEXT];
    digest_of_text(key, hex);
    snprintf(path, size, "%s/%s.kernel", cache->path, hex);
}

static void check_of(const char *bytes, size_t n, char check[DIGEST_TEXT])
{
    Digest digest;
    digest_begin(&digest);
    digest_add(&digest, bytes, n);
    digest_end(&digest, check);
}

static bool intact(const char *file, size_t size, const char *key, Header *header)
{
    if (size < sizeof *header) {
        return false;
    }
    memcpy(header, file, sizeof *header);
    size_t rest = size - sizeof *header, key_size = strlen(key);
    if (memcmp(header->magic, MAGIC, sizeof MAGIC) != 0 || header->key_size != key_size || key_size > rest ||
        header->binary_size != rest - key_size || memcmp(file + sizeof *header, key, key_size) != 0) {
        return false;
    }
    char check[DIGEST_TEXT];
    check_of(file + sizeof *header, rest, check);
    return memcmp(check, header->check, sizeof header->check) == 0;
}

static void folder_of(const char *chosen, char *folder, size_t size)
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

/* Files are opened below the folder that was judged, since another could take its name. */
bool cl_cache_open(const char *chosen, ClCache *out, Err *err)
{
    char folder[PATH_BYTES];
    *out = (ClCache){.fd = -1};
    folder_of(chosen, folder, sizeof folder);
    if (folder[0] == '\0') {
        return true;
    }
    TRY(file_make_private_folder(folder, err));
    TRY(file_open_private(folder, &out->fd, err));
    snprintf(out->path, sizeof out->path, "/proc/self/fd/%d", out->fd);
    (void)file_sweep(out->path); /* what killed runs have left */
    return true;
}

void cl_cache_close(ClCache *cache)
{
    if (cache->fd >= 0) {
        close(cache->fd);
    }
    cache->fd = -1;
}

bool cl_cache_keeps(const ClCache *cache)
{
    return cache->fd >= 0 && !cache->kept_elsewhere;
}

bool cl_cache_load(const ClCache *cache, const char *key, void **binary, size_t *size)
{
    char path[PATH_BYTES], *file = NULL;
    size_t n = 0;
    Err ignored = {0};
    Header header;
    path_of(cache, key, path, sizeof path);
    if (!cl_cache_keeps(cache) || !file_read(path, &file, &n, &ignored)) {
        err_clear(&ignored);
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

void cl_cache_store(const ClCache *cache, const char *key, const void *binary, size_t size)
{
    Header header = {.key_size = strlen(key), .binary_size = size};
    size_t total = sizeof header + (size_t)header.key_size + size;
    char path[PATH_BYTES], *file = cl_cache_keeps(cache) ? malloc(total) : NULL;
    if (!file) {
        return;
    }
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    memcpy(file + sizeof header, key, (size_t)header.key_size);
    memcpy(file + sizeof header + header.key_size, binary, size);
    char check[DIGEST_TEXT];
    check_of(file + sizeof header, total - sizeof header, check);
    memcpy(header.check, check, sizeof header.check);
    memcpy(file, &header, sizeof header);
    path_of(cache, key, path, sizeof path);
    Err ignored = {0};
    (void)file_write(path, file, total, &ignored);
    free(file);
}

bool cl_cache_is_first(const ClCache *cache, const char *key)
{
    char hex[DIGEST_TEXT], path[PATH_BYTES];
    digest_of_text(key, hex);
    snprintf(path, sizeof path, "%s/%s.met", cache->path, hex);
    const int fd = cache->fd >= 0 ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        close(fd);
    }
    return cache->fd < 0 || fd >= 0 || errno != EEXIST;
}
