/*
 * notes: what is to be said of images that do not fail: one line for an image, beside the progress.
 * Where many have the same said of them, the first few are named and the others counted at the end.
 *
 * notes_add may be called from several threads.
 */
#ifndef RUNTIME_NOTES_H
#define RUNTIME_NOTES_H

#include "progress.h"

typedef struct Notes Notes;

/* `progress` is borrowed, and prints.  NULL when there is none (--quiet) or no memory: the functions
 * below do nothing then. */
Notes *notes_new(Progress *progress);
/* "note: NAME: TEXT".  `kind` is the same for all that is of one kind, and is said of those that are only
 * counted; of one name a kind is said once. */
void notes_add(Notes *notes, const char *kind, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "note: and 997 more images: KIND", where there are more; frees; NULL is allowed. */
void notes_end(Notes *notes);

#endif
