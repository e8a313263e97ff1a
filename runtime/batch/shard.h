/*
 * shard: what a shard of a batch leaves when it has ended, a hidden list of its images; and `merge`, which joins what all
 * shards have left to what a run in one piece writes, byte for byte.
 *
 * Shard i of n has the images i - 1, i - 1 + n, ... of the batch, so that lists need no numbers.
 */
#ifndef RUNTIME_SHARD_H
#define RUNTIME_SHARD_H

#include "join.h"

typedef struct Shard {
    const char *name;            /* of the pipeline */
    const char *key;             /* of what decides the results (batch_list_key) */
    const char *folder;          /* with its slash; in front of all paths, which are written without it */
    const char *journal, *whole; /* paths of the shard's journal, and of the one of all shards */
    int shard, shards;
    int images; /* of all shards */
} Shard;

/* Writes the list; `join` has the shard's images, and the tables and the list of failures of all shards. */
bool shard_write(const char *path, const Shard *shard, const Join *join, Err *err);

/*
 * Joins what is in the folders: tables, values, summaries, failures, journals.  They are written to the folder `output`,
 * NULL: the first of the folders.  `name`: of the pipeline; NULL: each that has left something.  `shards`: of batches
 * of so many alone; 0: of the one that is there.  Prints what it did,
 * failures and errors, among them which shards are missing; returns the exit code that a run in one piece had had.
 */
int shard_merge(const char *const *folders, int n, const char *output, const char *name, int shards,
                const char *command);

#endif
