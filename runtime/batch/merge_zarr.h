/*
 * merge_zarr: the tables of a whole batch that are folders of zarr, put one below the other as one such folder.  Beside labels
 * it has columns that say which image a row is of and what the image's name tells.
 */
#ifndef RUNTIME_MERGE_ZARR_H
#define RUNTIME_MERGE_ZARR_H

#include "merge.h"

/* The parts' texts are folders that table_zarr.h has written.  Of the columns only those of the images' names count.  It has
 * the version of zarr of the first part, and all rows are in memory at once. */
bool merge_zarr(const char *path, const MergeColumns *with, const MergePart *parts, int n, Err *err);
/* The measures of one such folder as the text of a table that is a file: without labels; owned by the caller (free). */
bool merge_zarr_text(const char *folder, char **text, Err *err);

#endif
