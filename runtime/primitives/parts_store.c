/* parts_store: read and written at places, like a file; small ones are memory. */
#include "parts_store.h"

#include "../../base/file.h"
#include "../../base/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct PartsStore {
    PartsBudget *budget;
    int users;
    uint64_t bytes, put; /* put: what counts */
    char *memory;        /* NULL: in the file */
    int fd;
};

static bool file_failed(const char *what, Err *err)
{
    const int error = errno;
    err_set(err, CODE_OUTPUT,
            "cannot %s the temporary file for pixels that do not fit into memory: %s; set "
            "TMPDIR to a folder with more room",
            what, strerror(error));
    err->transient = file_error_passes(error);
    return false;
}

static bool open_file(PartsStore *store, Err *err)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/pipec-XXXXXX", folder && *folder ? folder : "/tmp");
    if (n < 0 || (size_t)n >= sizeof path) {
        return err_set(err, CODE_OUTPUT, "the name of the temporary folder (TMPDIR) is too long");
    }
    store->fd = mkstemp(path);
    if (store->fd < 0) {
        return file_failed("make", err);
    }
    (void)unlink(path);
    return true;
}

bool parts_store_new(PartsBudget *budget, uint64_t bytes, PartsStore **out, Err *err)
{
    return parts_store_new_for(budget, bytes, bytes, out, err);
}

bool parts_store_new_for(PartsBudget *budget, uint64_t bytes, uint64_t put, PartsStore **out, Err *err)
{
    PartsStore *store = calloc(1, sizeof *store);
    *out = NULL;
    if (!store) {
        return err_set(err, CODE_MEMORY, "out of host memory for the pixels of a run in parts");
    }
    *store = (PartsStore){.budget = budget, .users = 1, .bytes = bytes, .put = put, .fd = -1};
    if (put <= budget->left) {
        store->memory = pages_alloc((size_t)bytes);
    }
    if (store->memory) {
        budget->left -= put;
    } else if (!open_file(store, err)) {
        free(store);
        return false;
    }
    *out = store;
    return true;
}

PartsStore *parts_store_keep(PartsStore *store)
{
    store->users++;
    return store;
}

void parts_store_drop(PartsStore *store)
{
    if (!store || --store->users > 0) {
        return;
    }
    if (store->memory) {
        store->budget->left += store->put;
    } else {
        (void)close(store->fd);
    }
    free(store->memory);
    free(store);
}

enum { PAGE = 4096 };

static void copy(const PartsStore *store, char *to, const char *from, size_t bytes)
{
    size_t pages = bytes / PAGE * PAGE;
    crew_copy(store->budget->crew, to, PAGE, from, PAGE, PAGE, bytes / PAGE);
    memcpy(to + pages, from + pages, bytes - pages);
}

bool parts_store_put(PartsStore *store, uint64_t at, const void *from, uint64_t bytes, Err *err)
{
    if (store->memory) {
        copy(store, store->memory + at, from, (size_t)bytes);
        return true;
    }
    for (uint64_t done = 0; done < bytes;) {
        ssize_t n = pwrite(store->fd, (const char *)from + done, (size_t)(bytes - done), (off_t)(at + done));
        if (n < 0 && errno != EINTR) {
            return file_failed("write", err);
        }
        done += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

bool parts_store_get(const PartsStore *store, uint64_t at, void *to, uint64_t bytes, Err *err)
{
    if (store->memory) {
        copy(store, to, store->memory + at, (size_t)bytes);
        return true;
    }
    for (uint64_t done = 0; done < bytes;) {
        ssize_t n = pread(store->fd, (char *)to + done, (size_t)(bytes - done), (off_t)(at + done));
        if (n == 0 || (n < 0 && errno != EINTR)) {
            errno = n == 0 ? EIO : errno;
            return file_failed("read", err);
        }
        done += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

uint64_t parts_store_bytes(const PartsStore *store)
{
    return store->bytes;
}
