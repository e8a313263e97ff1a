/* image_bytes: bytes of files, however many the system takes at once, and the time that takes. */
#include "image_format.h"

#include "../host/stopwatch.h"

#include <errno.h>
#include <unistd.h>

static bool read_all(int fd, char *at, size_t size, uint64_t offset, size_t *got)
{
    for (*got = 0; *got < size;) {
        size_t part = size - *got < (1u << 30) ? size - *got : (1u << 30);
        ssize_t n = pread(fd, at + *got, part, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? 0 : errno;
            return false;
        }
        *got += (size_t)n;
    }
    return true;
}

bool image_pread(int fd, void *to, size_t size, uint64_t offset, size_t *got)
{
    Phase before = stopwatch_begin(PHASE_READ);
    bool ok = read_all(fd, to, size, offset, got);
    stopwatch_end(before);
    return ok;
}

static bool write_all(int fd, const void *from, size_t size, uint64_t offset)
{
    const char *at = from;
    while (size > 0) {
        size_t part = size < (1u << 30) ? size : (1u << 30);
        ssize_t n = pwrite(fd, at, part, (off_t)offset);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return false;
        }
        at += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

bool image_pwrite(int fd, const void *from, size_t size, uint64_t offset)
{
    Phase before = stopwatch_begin(PHASE_WRITE);
    bool ok = write_all(fd, from, size, offset);
    stopwatch_end(before);
    return ok;
}
