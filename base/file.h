/*
 * file: whole files in, whole files out.
 *
 * A file written here appears complete under its name or not at all: it is written under a
 * temporary name in the same folder, synced, and renamed.  A process that writes files should
 * ignore SIGXFSZ, so that a size limit is an error (EFBIG) and not a death.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "err.h"

#include <stddef.h>

/* Hidden, because libcfitsio has functions called file_read and file_write and would call ours. */
#pragma GCC visibility push(hidden)

/* Reads a whole file; the text is terminated and owned by the caller (free). */
bool file_read(const char *path, char **text, size_t *size, Err *err);
/* The same of a text that a user names, of `most` bytes: devices, and pipes that nothing comes from, are errors. */
bool file_read_text(const char *path, size_t most, char **text, size_t *size, Err *err);
/* Writes a whole file atomically; missing folders are made. */
bool file_write(const char *path, const void *data, size_t size, Err *err);
/* False for a file with something in it whose first bytes are not what `is_ours` knows. */
bool file_may_replace(const char *path, bool (*is_ours)(const unsigned char *head, size_t n));
/* False, with this code, when no file can be written under a name, because of the name or of what has it. */
bool file_check_target(const char *path, int code, Err *err);
/* The same of a folder that is written as a whole, in the place of one of its name. */
bool file_check_folder_target(const char *path, int code, Err *err);
/* True for a folder that is there, and for a link to one. */
bool file_is_folder(const char *path);
/* Makes a folder and its parents. */
bool file_make_folder(const char *path, Err *err);
/* The same for this user alone (mode 0700); folders that are there stay as they are. */
bool file_make_private_folder(const char *path, Err *err);
/* False when a folder belongs to another user, or others can write to it; a group with the user's own number is the user's
 * alone.  *fd is the open folder, or -1. */
bool file_open_private(const char *folder, int *fd, Err *err);

/* Opens a file that is written in place under a name that anybody knows, and makes it; never a link, which would lead
 * elsewhere, nor a pipe or a device.  -1 with errno, which is ELOOP for those. */
int file_open_in_place(const char *path);

/*
 * The atomic steps singly, for writers that need a file descriptor or a name of their own.
 * file_temp makes an empty temporary file beside `path` (name in `temp`, at most `size` bytes;
 * missing folders are made) and returns an open descriptor through fd.  Then either file_commit
 * (fsync, close, rename, sync of the folder) or file_discard (close, unlink) ends it; a commit
 * that fails discards, so that the descriptor is closed either way; a descriptor that the writer
 * has already closed is given as -1.  Names that are pending are unlinked by file_discard_all,
 * which is safe to call from a signal handler and is the end: no file is begun after it.
 */
bool file_temp(const char *path, char *temp, size_t size, int *fd, Err *err);
bool file_commit(const char *temp, const char *path, int fd, Err *err);
void file_discard(const char *temp, int fd);
void file_discard_all(void);

/*
 * The same for a folder: `temp` is an empty one, fd an open descriptor of it.  file_commit_folder brings all that is in it
 * to the disk, and takes a folder away that has the name; file_discard removes it with all that is in it.
 * file_discard_folders does so with all that are pending, and belongs behind file_discard_all, outside of a signal handler;
 * what it does not come to is hidden, and swept later.
 */
bool file_temp_folder(const char *path, char *temp, size_t size, int *fd, Err *err);
bool file_commit_folder(const char *temp, const char *path, int fd, Err *err);
void file_discard_folders(void);

/* Writes all of `data` to a descriptor, however often it takes; false with errno set. */
bool file_put(int fd, const void *data, size_t size);

/*
 * Removes temporary files and folders that killed processes have left in a folder: those of this machine whose process is gone,
 * and those of others that share the folder when nobody has touched them for an hour.  Returns how many.
 */
int file_sweep(const char *folder);
/* The same for the folder in which `path` is. */
void file_sweep_beside(const char *path);

/* True for an errno value that may be gone when the same is tried later: no space, or a file system that does not answer. */
bool file_error_passes(int error);
/* Records "cannot VERB 'PATH': the reason of errno value `error`, as a sentence"; returns false. */
bool file_err_set(Err *err, int code, const char *verb, const char *path, int error);

#pragma GCC visibility pop

#endif
