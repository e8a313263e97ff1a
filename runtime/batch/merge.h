/*
 * merge: the tables of a whole batch.  Tables of single images are read back and put one below the
 * other with a first column `image`; so a resumed run gives the same files as one that was never
 * interrupted.
 */
#ifndef RUNTIME_MERGE_H
#define RUNTIME_MERGE_H

#include "../../base/err.h"

typedef struct MergePart {
    const char *image; /* what the first column says */
    const char *text;  /* path of a table; for merge_values: the rows (see sink_values) */
} MergePart;

/* Columns frame, channel and z appear when one of the parts has them; 0 where a part does not. */
bool merge_tables(const char *path, const MergePart *parts, int n, Err *err);
/* `header`: the names of the values, separated by commas. */
bool merge_values(const char *path, const char *header, const MergePart *parts, int n, Err *err);

#endif
