/*
 * folder_lock: locks (fcntl) on bytes of an empty file `.pipec.lock`, which the last who has it removes.  A byte stands for
 * a group, others for parts.  A process that shares the folder reads the byte of its group, and has the bytes of its parts
 * for itself; then it asks whether anybody has the byte of another group.  One who does not share has all bytes.
 */
#include "folder_lock.h"

#include "../../base/file.h"
#include "../../base/str.h"
#include "../host/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4200, TRIES = 4, MOMENT_MS = 50 };

/* Groups are below, parts from here on. */
static const off_t PARTS = (off_t)1 << 61;

struct FolderLock {
    int fd;
    char path[PATH_BYTES];
};

typedef enum Outcome { LOCKED, TAKEN, GONE, NO_LOCKS } Outcome;

static off_t byte_of(const char *text)
{
    return (off_t)(str_hash(STR_HASH, text) % (uint64_t)PARTS);
}

/* TAKEN: and *holder is the process, negative when it is one of another machine, 0 when nobody knows. */
static Outcome take(int fd, short type, off_t from, off_t n, pid_t *holder)
{
    struct flock bytes = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = n};
    if (fcntl(fd, F_SETLK, &bytes) == 0) {
        return LOCKED;
    }
    if (errno != EACCES && errno != EAGAIN) {
        return NO_LOCKS;
    }
    bool told = fcntl(fd, F_GETLK, &bytes) == 0 && bytes.l_type != F_UNLCK;
    *holder = told ? bytes.l_pid : 0;
    return TAKEN;
}

/* Whether anybody has one of these bytes. */
static Outcome ask(int fd, off_t from, off_t n, pid_t *holder)
{
    struct flock bytes = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = n};
    if (n == 0 || fcntl(fd, F_GETLK, &bytes) != 0 || bytes.l_type == F_UNLCK) {
        return LOCKED;
    }
    *holder = bytes.l_pid;
    return TAKEN;
}

/* Files of the folder have the name that they have in it. */
static const char *name_of(const char *part, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(part, folder, n) == 0 ? part + n : part;
}

static Outcome take_share(int fd, const char *folder, const LockShare *share, pid_t *holder)
{
    off_t group = byte_of(share->group);
    Outcome outcome = take(fd, F_RDLCK, group, 1, holder);
    for (int i = 0; outcome == LOCKED && i < share->n; i++) {
        const char *part = share->parts[i];
        outcome = part != NULL ? take(fd, F_WRLCK, PARTS + byte_of(name_of(part, folder)), 1, holder) : LOCKED;
    }
    outcome = outcome == LOCKED ? ask(fd, 0, group, holder) : outcome;
    return outcome == LOCKED ? ask(fd, group + 1, PARTS - group - 1, holder) : outcome;
}

/* GONE: the file was removed by the one who had it before. */
static Outcome take_all(const FolderLock *lock, const char *folder, const LockShare *share, pid_t *holder)
{
    struct stat open_one, named;
    Outcome outcome =
        share != NULL ? take_share(lock->fd, folder, share, holder) : take(lock->fd, F_WRLCK, 0, 0, holder);
    bool same = fstat(lock->fd, &open_one) == 0 && stat(lock->path, &named) == 0 && open_one.st_ino == named.st_ino;
    return outcome == LOCKED && !same ? GONE : outcome;
}

static bool taken(const char *folder, pid_t holder, Err *err)
{
    char who[60] = "";
    if (holder != 0) {
        snprintf(who, sizeof who, ", process %ld%s,", labs((long)holder), holder < 0 ? " of another machine" : "");
    }
    return err_set(
        err, CODE_USAGE,
        "another run%s is writing to the folder '%s'; wait until it has ended, or choose another folder with -o", who,
        folder[0] != '\0' ? folder : ".");
}

/* A run that has just ended may still be about to remove its file. */
static Outcome try_often(FolderLock *lock, const char *folder, const LockShare *share, pid_t *holder)
{
    Outcome outcome = GONE;
    for (int i = 0; i < TRIES && (outcome == GONE || outcome == TAKEN); i++) {
        if (lock->fd >= 0) {
            close(lock->fd);
            (void)poll(NULL, 0, MOMENT_MS);
        }
        lock->fd = file_open_in_place(lock->path);
        outcome = lock->fd >= 0 ? take_all(lock, folder, share, holder) : NO_LOCKS;
    }
    return outcome;
}

/* Where nobody shares it. */
static void remove_file(const FolderLock *lock)
{
    pid_t holder;
    if (take(lock->fd, F_WRLCK, 0, 0, &holder) == LOCKED) {
        (void)unlink(lock->path);
    }
}

static FolderLock *_Atomic held; /* by this process */
static atomic_flag seen_to = ATOMIC_FLAG_INIT;

/* Of a process that leaves in the middle of its work. */
static void remove_held(void)
{
    FolderLock *lock = atomic_load(&held);
    if (lock != NULL) {
        remove_file(lock);
    }
}

bool folder_lock(const char *folder, const LockShare *share, FolderLock **out, Err *err)
{
    pid_t holder = 0;
    FolderLock *lock = *out = malloc(sizeof *lock);
    if (lock == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory");
    }
    lock->fd = -1;
    snprintf(lock->path, sizeof lock->path, "%s.pipec.lock", folder);
    Outcome outcome = try_often(lock, folder, share, &holder);
    if (outcome == LOCKED) {
        atomic_store(&held, lock);
        if (!atomic_flag_test_and_set(&seen_to)) {
            signals_at_end(remove_held);
        }
        return true;
    }
    *out = NULL;
    if (outcome == NO_LOCKS && lock->fd >= 0) {
        (void)unlink(lock->path);
    }
    if (lock->fd >= 0) {
        close(lock->fd);
    }
    free(lock);
    return outcome == NO_LOCKS || taken(folder, holder, err);
}

void folder_unlock(FolderLock *lock)
{
    if (lock == NULL) {
        return;
    }
    remove_file(lock);
    atomic_store(&held, NULL);
    close(lock->fd);
    free(lock);
}
