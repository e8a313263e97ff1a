/*
 * folder_lock: who writes to a folder.  A lock ends with its process, however that ends; on network file systems it holds
 * for all machines, as far as these have locks.
 */
#ifndef RUNTIME_FOLDER_LOCK_H
#define RUNTIME_FOLDER_LOCK_H

#include "../../base/err.h"

typedef struct FolderLock FolderLock;

/* With whom a folder is shared: with those who give the same group and have none of the same parts. */
typedef struct LockShare {
    const char *group;
    char *const *parts; /* paths or other texts; NULL for those that are none */
    int n;
} LockShare;

/*
 * Locks a folder ("": the current one; else with its slash).  `share` NULL: against everybody.  CODE_USAGE, with the
 * process that is named, when another run has it.  *out is NULL where there can be no lock.
 */
bool folder_lock(const char *folder, const LockShare *share, FolderLock **out, Err *err);
void folder_unlock(FolderLock *lock); /* NULL is allowed */

#endif
