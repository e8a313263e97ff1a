/*
 * summary: one row for all rows of a table with the same values in some columns: how many there are, and for each of the
 * table's columns the mean and the median of the numbers that are there.
 */
#ifndef RUNTIME_SUMMARY_H
#define RUNTIME_SUMMARY_H

#include "../../base/err.h"

#include <stddef.h>

typedef struct Summary Summary;

/* `by`: the names of the n columns by which rows belong together, borrowed.  NULL: no memory. */
Summary *summary_new(const char *const *by, int n);
void summary_free(Summary *summary); /* NULL is allowed */
/* The table's columns, "area,mean", once. */
bool summary_columns(Summary *summary, const char *names, size_t n, Err *err);
/* A row: what stands in the columns of `by`, and the numbers "12,3.5", empty where there is none. */
bool summary_row(Summary *summary, const char *const *key, const char *numbers, size_t n, Err *err);
/* Writes the rows in the order in which their groups came first. */
bool summary_write(Summary *summary, const char *path, Err *err);

#endif
