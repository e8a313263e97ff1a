/*
 * merge: the tables of a whole batch.  Tables of single images are read back and put one below the
 * other with a first column `image`; so a resumed run gives the same files as one that was never
 * interrupted.
 */
#ifndef RUNTIME_MERGE_H
#define RUNTIME_MERGE_H

#include "columns.h"
#include "summary.h"

typedef struct MergePart {
    const char *image;         /* what the first column says */
    const char *const *fields; /* and the columns that the image's name tells */
    const char *text;          /* path of a table; for merge_values: the rows (see sink_values) */
} MergePart;

/* What stands beside the rows of each image. */
typedef struct MergeColumns {
    const Columns *columns;
    Summary *summary; /* takes the rows; NULL: none is wanted */
    const int *by;    /* the numbers of its columns among these */
    int n_by;
} MergeColumns;

/* Columns frame, channel and z appear when one of the parts has them; 0 where a part does not. */
bool merge_tables(const char *path, const MergeColumns *with, const MergePart *parts, int n, Err *err);
/* `header`: the names of the values, separated by commas. */
bool merge_values(const char *path, const char *header, const MergeColumns *with, const MergePart *parts, int n,
                  Err *err);

#endif
