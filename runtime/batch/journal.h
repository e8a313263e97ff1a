/*
 * journal: what a batch has finished, so that a later run can go on.
 *
 * One line of text for each image, appended after its outputs have their names, and synced now and
 * then.  The first line is a key made of everything that decides the results; a journal with
 * another key belongs to another run and is refused.  The outputs are what counts: the journal
 * only saves time, and doing an image again is always safe.
 */
#ifndef RUNTIME_JOURNAL_H
#define RUNTIME_JOURNAL_H

#include "../../base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct Journal Journal;

enum { JOURNAL_KEY = 20 }; /* characters of a key, with the zero */

/*
 * Opens or makes the journal and locks it against other runs.  With `resume` earlier records are
 * read, otherwise they are dropped.  CODE_USAGE when the key differs or another run is at work.
 */
bool journal_open(const char *path, const char *key, bool resume, Journal **out, Err *err);
/* Reads the records of a journal, and nothing else: *out is NULL where there is none.  Errors as above, but for the
 * other run. */
bool journal_look(const char *path, const char *key, Journal **out, Err *err);
void journal_close(Journal *journal); /* NULL is allowed */

/*
 * True when an image was finished from these very input files (path, size, time of change) and its
 * outputs still exist as whole as they were written; *values are the rows recorded with it, valid until journal_close.
 */
bool journal_find(const Journal *journal, const char *const *inputs, int n, const char **values);

/* What input files are now, before they are read; owned by the caller (free).  NULL when one is missing or
 * memory is out. */
char *journal_stamp(const char *const *inputs, int n);

/* Records an image that was made from what the files were when `stamp` was taken; NULL: it is done again.  May be
 * called from several threads, not at the same time. */
bool journal_add(Journal *journal, const char *stamp, const char *const *outputs, int n_outputs,
                 const char *values, Err *err);

#endif
