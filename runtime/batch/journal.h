/*
 * journal: what a batch has finished, so that a later run can go on.
 *
 * One line of text for each image, appended after its outputs have their names, and synced now and
 * then.  The first line is a key, a digest of everything that decides the results but the images; a journal with
 * another key belongs to another run and is refused.  A line says what the inputs and the outputs were (file_state.h):
 * an image counts as finished while all of them are the same.  The outputs are what counts: the journal
 * only saves time, and doing an image again is always safe.
 */
#ifndef RUNTIME_JOURNAL_H
#define RUNTIME_JOURNAL_H

#include "../../base/digest.h"
#include "../../base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct Journal Journal;

/* An image: paths, however they are spelled. */
typedef struct JournalImage {
    char *const *inputs;
    int n_inputs; /* at least one */
    char *const *outputs;
    int n_outputs; /* NULL for those that are no files */
} JournalImage;

/* What became of it before. */
typedef enum JournalFate {
    JOURNAL_NEW, /* nothing is known of it */
    JOURNAL_DONE,
    JOURNAL_OTHER_INPUT,  /* an input is not what it was */
    JOURNAL_OTHER_OUTPUT, /* an output is not what was written, or gone */
} JournalFate;

/*
 * Opens or makes the journal, which no other run has open (folder_lock.h).  With `resume` earlier records are
 * read, otherwise they are dropped; a new journal takes over what the whole batch, or shards of another number, have left in
 * its folder.  CODE_USAGE when the key differs.
 */
bool journal_open(const char *path, const char *key, bool resume, Journal **out, Err *err);
/* Reads the records of a journal, and nothing else: *out is NULL where there is none.  Errors as above. */
bool journal_look(const char *path, const char *key, Journal **out, Err *err);
/* Makes one journal of several, whole, where there are any; what they say of one image stays in their order. */
bool journal_join(const char *path, const char *key, const char *const *parts, int n, Err *err);
void journal_close(Journal *journal); /* NULL is allowed */

/*
 * DONE when an image was finished from inputs with the content that they have now, and its
 * outputs are as they were written; *values are the rows recorded with it, valid until journal_close.  Where only the
 * contents say so, and not the stamps, the journal takes a note of the new stamps.
 */
JournalFate journal_find(Journal *journal, const JournalImage *image, const char **values);

/* What an image is now, before it is read; owned by the caller (free).  NULL when an input is missing or
 * memory is out.  May be called from several threads.  What the content of the first input is may still be open. */
char *journal_begin(Journal *journal, const JournalImage *image);
/* Puts that in, once the input has been read, if it has not changed since; takes `begun` and gives another text for it,
 * owned like that.  NULL as above. */
char *journal_read(const JournalImage *image, char *begun, const char *content);

/* Records an image that was made from what the inputs were when `begun` was made, and the files that were written; NULL:
 * it is done again.  May be called from several threads. */
bool journal_add(Journal *journal, const char *begun, const char *const *files, int n, const char *values, Err *err);

#endif
