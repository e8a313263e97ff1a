/*
 * file: whole files in, whole files out, by temporary name, fsync and rename.
 *
 * The temporary name is `.NAME.pipec-WHERE-PID-XXXXXX` in the folder of the target, because rename is
 * atomic only inside one file system; WHERE tells machines and containers apart, each of which counts processes for
 * itself.  Names that are pending stand in a fixed array whose slots
 * are claimed with atomic operations: several threads may write files, and a signal handler may
 * unlink everything without taking a lock or touching the heap.
 */
#define _DEFAULT_SOURCE /* syscall */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PENDING_MAX = 4096, /* files that may be in the making at once: a pipeline of so many outputs */
    PATH_BYTES = 4096,
    WHERE_BYTES = 9, /* with its end */
    SUFFIX_BYTES = 7,
    NAME_BYTES = 255,   /* longest name of a file on every common file system */
    TRIES = 100,        /* random suffixes before giving up */
    PATIENCE_MS = 5000, /* with a pipe that says nothing */
};

static const char MARK[] = ".pipec-"; /* stands between the name and where the process is */

/* ---- names that are pending ------------------------------------------------------------ */

enum { SLOT_FREE, SLOT_FILLING, SLOT_PENDING };

/* Other threads compare keys only, so that nobody reads a name while its slot is refilled. */
static struct PendingSlot {
    atomic_int state;
    atomic_ullong key; /* hash of the name */
    char name[PATH_BYTES];
} pending[PENDING_MAX];

static atomic_bool over; /* no file is begun any more */

/* FNV-1a: temporary names are random already, 64 bits keep them apart. */
static unsigned long long key_of(const char *name)
{
    unsigned long long key = 0xCBF29CE484222325u;
    for (; *name != '\0'; name++) {
        key = (key ^ (unsigned char)*name) * 0x100000001B3u;
    }
    return key;
}

static bool pending_add(const char *name)
{
    for (int i = 0; i < PENDING_MAX; i++) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&pending[i].state, &expected, SLOT_FILLING)) {
            snprintf(pending[i].name, sizeof pending[i].name, "%s", name);
            atomic_store(&pending[i].key, key_of(name));
            atomic_store(&pending[i].state, SLOT_PENDING);
            return true;
        }
    }
    return false;
}

static void pending_remove(const char *name)
{
    unsigned long long key = key_of(name);
    for (int i = 0; i < PENDING_MAX; i++) {
        if (atomic_load(&pending[i].state) == SLOT_PENDING && atomic_load(&pending[i].key) == key) {
            atomic_store(&pending[i].state, SLOT_FREE);
            return;
        }
    }
}

/* ---- reasons --------------------------------------------------------------------------- */

/* What the common errno values mean to somebody who wanted a file. */
static const struct Reason {
    int error;
    const char *text;
} REASONS[] = {
    {ENOENT, "there is no such file or folder"},
    {ENOTDIR, "a part of the path is a file, not a folder"},
    {EISDIR, "it is a folder"},
    {EACCES, "permission denied"},
    {EPERM, "permission denied"},
    {EROFS, "the file system is read-only"},
    {ENOSPC, "the disk is full; free some space or write elsewhere"},
    {EDQUOT, "the disk quota is used up; free some space or write elsewhere"},
    {EFBIG, "the file would exceed the size limit (ulimit -f, or that of the file system)"},
    {EMFILE, "too many files are open; raise the limit (ulimit -n)"},
    {ENFILE, "too many files are open on this machine"},
    {ENAMETOOLONG, "the name is too long"},
    {ENOMEM, "out of memory"},
    {ELOOP, "too many symbolic links"},
    {EOVERFLOW, "it is larger than any text of its kind"},
    {ETIME, "nothing has come from the pipe for five seconds"},
    {ETXTBSY, "it is a program that is running"},
};

bool file_error_passes(int error)
{
    static const int PASS[] = {ENOSPC, EDQUOT, EIO, ESTALE, ETIMEDOUT, ENFILE, ENOMEM, EAGAIN, ENOLCK};
    bool passes = false;
    for (size_t i = 0; i < sizeof PASS / sizeof *PASS; i++) {
        passes = passes || PASS[i] == error;
    }
    return passes;
}

bool file_err_set(Err *err, int code, const char *verb, const char *path, int error)
{
    const bool first = err->code == CODE_OK;
    char other[160];
    const char *text = NULL;
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++) {
        if (REASONS[i].error == error) {
            text = REASONS[i].text;
        }
    }
    if (text == NULL) {
        if (strerror_r(error, other, sizeof other) != 0) {
            snprintf(other, sizeof other, "error %d", error);
        }
        text = other;
    }
    err_set(err, code, "cannot %s '%s': %s", verb, path, text);
    err->transient = first ? file_error_passes(error) : err->transient;
    return false;
}

/* ---- reading --------------------------------------------------------------------------- */

/* Waits for more of a pipe that is read without blocking; false with errno ETIME when nothing comes. */
static bool wait_for_more(int fd)
{
    struct pollfd pipe = {.fd = fd, .events = POLLIN};
    int ready = poll(&pipe, 1, PATIENCE_MS);
    errno = ready == 0 ? ETIME : errno;
    return ready > 0 || (ready < 0 && errno == EINTR);
}

/* Makes room for more than n bytes and an end; false with errno set. */
static bool make_room(char **at, size_t *cap, size_t n, size_t most)
{
    if (n + 1 < *cap) {
        return true;
    }
    char *more = *cap <= SIZE_MAX / 2 ? realloc(*at, 2 * *cap) : NULL;
    errno = n > most ? EOVERFLOW : ENOMEM;
    if (more == NULL || n > most) {
        *at = more != NULL ? more : *at;
        return false;
    }
    *at = more;
    *cap *= 2;
    return true;
}

/* Reads to the end, also from pipes, whose size nobody knows; more than `most` bytes are EOVERFLOW. */
static bool read_all(int fd, size_t most, char **text, size_t *size)
{
    size_t cap = 1 << 16, n = 0;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        cap = (uintmax_t)st.st_size < most ? (size_t)st.st_size + 2 : cap;
    }
    char *at = malloc(cap);
    bool ok = at != NULL;
    while (ok) {
        ssize_t got = read(fd, at + n, cap - 1 - n);
        if (got == 0) {
            at[n] = '\0';
            *text = at;
            *size = n;
            ok = n <= most;
            errno = ok ? errno : EOVERFLOW;
            break;
        }
        n += got > 0 ? (size_t)got : 0;
        ok = got > 0 ? make_room(&at, &cap, n, most) : errno == EINTR || (errno == EAGAIN && wait_for_more(fd));
    }
    int error = errno;
    if (!ok) {
        free(at);
    }
    errno = error;
    return ok;
}

static bool read_file(const char *path, int flags, size_t most, char **text, size_t *size, Err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0) {
        return file_err_set(err, CODE_FILES, "read", path, errno);
    }
    bool ok = read_all(fd, most, text, size);
    int error = errno;
    close(fd);
    return ok || file_err_set(err, CODE_FILES, "read", path, error);
}

bool file_read(const char *path, char **text, size_t *size, Err *err)
{
    return read_file(path, 0, SIZE_MAX - 1, text, size, err);
}

/* To open a device may already do something, and a pipe nobody writes to is not waited for. */
bool file_read_text(const char *path, size_t most, char **text, size_t *size, Err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISSOCK(st.st_mode))) {
        return err_set(err, CODE_FILES, "cannot read '%s': it is a %s, not a file", path,
                       S_ISSOCK(st.st_mode) ? "socket" : "device");
    }
    TRY(read_file(path, O_NONBLOCK | O_NOCTTY, most, text, size, err));
    if (*size == 0 && there && S_ISFIFO(st.st_mode)) {
        free(*text);
        *text = NULL;
        return err_set(err, CODE_FILES, "cannot read '%s': it is a pipe that nobody has written to", path);
    }
    return true;
}

bool file_may_replace(const char *path, bool (*is_ours)(const unsigned char *head, size_t n))
{
    unsigned char head[1024];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        return true; /* what else is wrong with the name is said where it is written */
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0) {
        close(fd);
    }
    return n >= 0 && is_ours(head, (size_t)n);
}

/* ---- folders --------------------------------------------------------------------------- */

bool file_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool make_folders(const char *path, mode_t mode, Err *err)
{
    char part[PATH_BYTES];
    size_t n = strlen(path);
    if (n >= sizeof part) {
        return file_err_set(err, CODE_OUTPUT, "make the folder", path, ENAMETOOLONG);
    }
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        part[i] = '\0';
        /* Another process may make the same folder at the same time, hence no test before. */
        int error = mkdir(part, mode) == 0 ? 0 : errno;
        if (error != 0 && !file_is_folder(part)) {
            error = error == EEXIST ? ENOTDIR : error;
            return file_err_set(err, CODE_OUTPUT, "make the folder", path, error);
        }
        part[i] = path[i];
    }
    return true;
}

bool file_make_folder(const char *path, Err *err)
{
    return make_folders(path, 0777, err);
}

bool file_make_private_folder(const char *path, Err *err)
{
    return make_folders(path, 0700, err);
}

bool file_open_private(const char *folder, int *fd, Err *err)
{
    struct stat st;
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0) {
        return file_err_set(err, CODE_OUTPUT, "open", folder, errno);
    }
    bool known = fstat(*fd, &st) == 0, own_group = known && st.st_gid == (gid_t)st.st_uid;
    if (known && st.st_uid == geteuid() && (st.st_mode & S_IWOTH) == 0 && ((st.st_mode & S_IWGRP) == 0 || own_group)) {
        return true;
    }
    close(*fd);
    *fd = -1;
    return err_set(err, CODE_OUTPUT,
                   "the folder '%s' belongs to another user, or others can write to it, so that what is in it may be "
                   "anybody's; delete it, or choose one of your own",
                   folder);
}

/* The folder of `path` with its final slash; empty for a bare name. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static bool make_folder_of(const char *path, Err *err)
{
    char folder[PATH_BYTES];
    size_t n = folder_length(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    if (n == 0) {
        return true;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)n, path);
    return file_is_folder(folder) || file_make_folder(folder, err);
}

/* A rename lasts through a power failure only once its folder is on the disk. */
static void sync_folder_of(const char *path)
{
    char folder[PATH_BYTES];
    size_t n = folder_length(path);
    snprintf(folder, sizeof folder, "%.*s", n == 0 ? 1 : (int)n, n == 0 ? "." : path);
    int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd); /* some file systems cannot sync folders, and the file is there */
        close(fd);
    }
}

/* ---- writing --------------------------------------------------------------------------- */

/* Where a process id is that of one process: a hash of this start of the machine and of the name space of
 * process ids.  False, and zeros, where the system does not say. */
static bool own_where(char to[WHERE_BYTES])
{
    char text[300] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, 100) : -1;
    ssize_t more = n > 0 ? readlink("/proc/self/ns/pid", text + n, sizeof text - 1 - (size_t)n) : -1;
    if (fd >= 0) {
        close(fd);
    }
    snprintf(to, WHERE_BYTES, "%08llx", more > 0 ? key_of(text) & 0xFFFFFFFF : 0);
    return more > 0;
}

/* Six letters that differ between calls, threads and processes; O_EXCL makes them unique. */
static void random_suffix(char to[SUFFIX_BYTES])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    static atomic_uint calls;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t x = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30);
    x += (uint64_t)atomic_fetch_add(&calls, 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    for (int i = 0; i < 6; i++) {
        to[i] = letters[(x >> (5 * i)) & 31];
    }
    to[6] = '\0';
}

/* A name that is too long fails at the end. */
static bool check_name(const char *path, int code, Err *err)
{
    if (path[0] == '\0' || path[strlen(path) - 1] == '/') {
        return err_set(err, code, "cannot write '%s': it is not the name of a file", path);
    }
    if (strlen(path) + NAME_BYTES >= PATH_BYTES || strlen(path + folder_length(path)) > NAME_BYTES) {
        return file_err_set(err, code, "write", path, ENAMETOOLONG);
    }
    return true;
}

bool file_check_folder_target(const char *path, int code, Err *err)
{
    struct stat st;
    TRY(check_name(path, code, err));
    return stat(path, &st) != 0 || S_ISDIR(st.st_mode) ||
           err_set(err, code, "cannot write '%s': it is a file, and the output is a folder", path);
}

/* Renaming onto a device or a folder would replace or fail oddly. */
bool file_check_target(const char *path, int code, Err *err)
{
    struct stat st;
    TRY(check_name(path, code, err));
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        return file_err_set(err, code, "write", path, EISDIR);
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return err_set(err, code,
                       "cannot write '%s': it is a device or a pipe, and outputs are written "
                       "beside their place and renamed",
                       path);
    }
    return true;
}

int file_open_in_place(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
        errno = ELOOP;
    }
    return fd;
}

/* Makes the temporary file or folder and opens it; below 0 with errno set. */
typedef int Make(const char *temp);

static int make_file(const char *temp)
{
    return open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int make_temp_folder(const char *temp)
{
    int fd = mkdir(temp, 0777) == 0 ? open(temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int error = errno;
    if (fd < 0 && error != EEXIST) {
        (void)rmdir(temp);
    }
    errno = error;
    return fd;
}

static bool make_temp(Make *make, const char *path, char *temp, size_t size, int *fd, Err *err)
{
    TRY(make_folder_of(path, err));
    int folder = (int)folder_length(path);
    int name = (int)strlen(path + folder);
    if (name > NAME_BYTES - 50) {
        name = NAME_BYTES - 50; /* the suffix must fit, even behind the longest name */
    }
    char where[WHERE_BYTES], suffix[SUFFIX_BYTES];
    own_where(where);
    for (int i = 0; i < TRIES; i++) {
        random_suffix(suffix);
        int n = snprintf(temp, size, "%.*s.%.*s%s%s-%ld-%s", folder, path, name, path + folder, MARK, where,
                         (long)getpid(), suffix);
        if (n < 0 || (size_t)n >= size || n >= PATH_BYTES) {
            return file_err_set(err, CODE_OUTPUT, "write", path, ENAMETOOLONG);
        }
        if (!pending_add(temp)) {
            return err_set(err, CODE_OUTPUT, "cannot write '%s': more than %d outputs are being written at once", path,
                           PENDING_MAX);
        }
        if (atomic_load(&over)) {
            pending_remove(temp);
            return err_set(err, CODE_INTERRUPTED, "interrupted before '%s' was begun", path);
        }
        *fd = make(temp);
        if (*fd >= 0) {
            return true;
        }
        int error = errno;
        pending_remove(temp);
        if (error != EEXIST) {
            return file_err_set(err, CODE_OUTPUT, "write", path, error);
        }
    }
    return file_err_set(err, CODE_OUTPUT, "write", path, EEXIST);
}

bool file_temp(const char *path, char *temp, size_t size, int *fd, Err *err)
{
    return file_check_target(path, CODE_OUTPUT, err) && make_temp(make_file, path, temp, size, fd, err);
}

bool file_temp_folder(const char *path, char *temp, size_t size, int *fd, Err *err)
{
    return file_check_folder_target(path, CODE_OUTPUT, err) && make_temp(make_temp_folder, path, temp, size, fd, err);
}

/* What has its name is synced with its folder; what has not is removed. */
static bool end_commit(const char *temp, const char *path, bool ok, int error, Err *err)
{
    if (!ok) {
        file_discard(temp, -1);
        return file_err_set(err, CODE_OUTPUT, "write", path, error);
    }
    pending_remove(temp);
    sync_folder_of(path);
    return true;
}

bool file_commit(const char *temp, const char *path, int fd, Err *err)
{
    bool ok = true;
    int error = 0;
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL) {
        ok = false;
        error = errno;
    }
    /* Network file systems report a full disk as late as here. */
    if (fd >= 0 && close(fd) != 0 && ok && errno != EINTR) {
        ok = false;
        error = errno;
    }
    if (ok && rename(temp, path) != 0) {
        ok = false;
        error = errno;
    }
    return end_commit(temp, path, ok, error, err);
}

/* Removes what an open folder holds, and closes it. */
static void empty_folder(int folder)
{
    DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
    if (dir == NULL) {
        close(folder);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *name = entry->d_name;
        bool own = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (!own && unlinkat(folder, name, 0) != 0) { /* a link is removed, not what it leads to */
            empty_folder(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            (void)unlinkat(folder, name, AT_REMOVEDIR);
        }
    }
    closedir(dir);
}

/* A file, or a folder with all that is in it. */
static void remove_all(const char *path)
{
    if (unlink(path) != 0) {
        empty_folder(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        (void)rmdir(path);
    }
}

/* A folder that has the name is moved away first, so that there is never a mixture of both. */
static bool exchange_folders(const char *temp, const char *path)
{
    char old[PATH_BYTES];
    if (rename(temp, path) == 0) {
        return true;
    }
    if (errno != ENOTEMPTY && errno != EEXIST) {
        return false;
    }
    if (snprintf(old, sizeof old, "%s", temp) >= (int)sizeof old) {
        errno = ENAMETOOLONG;
        return false;
    }
    random_suffix(old + strlen(old) - (SUFFIX_BYTES - 1));
    if (rename(path, old) != 0) {
        return false;
    }
    if (rename(temp, path) != 0) {
        int error = errno;
        (void)rename(old, path);
        errno = error;
        return false;
    }
    remove_all(old);
    return true;
}

bool file_commit_folder(const char *temp, const char *path, int fd, Err *err)
{
    bool ok = syscall(SYS_syncfs, fd) == 0 || errno == ENOSYS;
    int error = errno;
    close(fd);
    if (ok && !exchange_folders(temp, path)) {
        ok = false;
        error = errno;
    }
    return end_commit(temp, path, ok, error, err);
}

void file_discard(const char *temp, int fd)
{
    if (fd >= 0) {
        close(fd);
    }
    remove_all(temp);
    pending_remove(temp);
}

/* Threads may still make files in them, which then have no folder. */
void file_discard_folders(void)
{
    for (int i = 0; i < PENDING_MAX; i++) {
        if (atomic_load(&pending[i].state) == SLOT_PENDING) {
            remove_all(pending[i].name);
        }
    }
}

static void unlink_pending(void)
{
    for (int i = 0; i < PENDING_MAX; i++) {
        if (atomic_load(&pending[i].state) == SLOT_PENDING) {
            unlink(pending[i].name);
        }
    }
}

/* Another thread may be about to open what is pending already: it has a moment, and is swept behind. */
void file_discard_all(void)
{
    enum { MOMENT_MS = 10 };
    atomic_store(&over, true);
    unlink_pending();
    (void)poll(NULL, 0, MOMENT_MS);
    unlink_pending();
}

bool file_put(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t put = write(fd, at, size < (1u << 30) ? size : (1u << 30));
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return false;
        }
        at += put;
        size -= (size_t)put;
    }
    return true;
}

bool file_write(const char *path, const void *data, size_t size, Err *err)
{
    char temp[PATH_BYTES];
    int fd;
    TRY(file_temp(path, temp, sizeof temp, &fd, err));
    if (!file_put(fd, data, size)) {
        int error = errno;
        file_discard(temp, fd);
        return file_err_set(err, CODE_OUTPUT, "write", path, error);
    }
    return file_commit(temp, path, fd, err);
}

/* ---- what killed processes leave behind ------------------------------------------------- */

/* The process id in a temporary name, and where that process is; 0 when the name is not one of ours. */
static long owner_of(const char *name, char where[WHERE_BYTES])
{
    const char *mark = NULL;
    for (const char *p = name; (p = strstr(p, MARK)) != NULL; p++) {
        mark = p;
    }
    if (name[0] != '.' || mark == NULL) {
        return 0;
    }
    char *end;
    snprintf(where, WHERE_BYTES, "%s", mark + sizeof MARK - 1);
    const char *after = mark + sizeof MARK - 1 + strlen(where);
    long pid = *after == '-' ? strtol(after + 1, &end, 10) : 0;
    return pid > 0 && *end == '-' && strlen(end) == SUFFIX_BYTES ? pid : 0;
}

/* Nobody writes to a file whose process is gone from here, or that was not touched for long by one elsewhere. */
static bool is_left_behind(const char *path, const char *name, const char *here)
{
    enum { LONG_SECONDS = 3600 };
    char where[WHERE_BYTES];
    struct stat st;
    long pid = owner_of(name, where);
    if (pid == 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH || lstat(path, &st) != 0 ||
        !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        return false;
    }
    bool known = strcmp(here, where) == 0;
    return known || time(NULL) - st.st_mtime > LONG_SECONDS;
}

int file_sweep(const char *folder)
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return 0;
    }
    int removed = 0;
    char where[WHERE_BYTES];
    const char *here = own_where(where) ? where : "";
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[PATH_BYTES];
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (n < (int)sizeof path && is_left_behind(path, entry->d_name, here)) {
            remove_all(path);
            removed += access(path, F_OK) != 0;
        }
    }
    closedir(dir);
    return removed;
}

void file_sweep_beside(const char *path)
{
    char folder[PATH_BYTES];
    size_t n = folder_length(path);
    if (n < sizeof folder) {
        snprintf(folder, sizeof folder, "%.*s", n > 0 ? (int)n : 1, n > 0 ? path : ".");
        (void)file_sweep(folder);
    }
}
