/*
 * file_state: whether a file, or a folder of files that is one image, is what it was before.
 *
 * A *stamp* costs no reading: it is made of the number of the file, its size, and the times when its content and when
 * anything about it changed last.  No program can set the latter, so that equal stamps prove equal contents.  A *content* is
 * a digest of the bytes; it still agrees when the file was copied or touched.
 */
#ifndef RUNTIME_FILE_STATE_H
#define RUNTIME_FILE_STATE_H

#include "../../base/digest.h"
#include "seen.h"

typedef struct FileState {
    char stamp[DIGEST_TEXT];   /* "": it proves nothing, for the file has changed as recently as now */
    char content[DIGEST_TEXT]; /* "": it is not known, as for what is too large to be read once more */
} FileState;

/* Of the file, the file of a part, or the folder that an image's path stands for; false when there is none. */
bool file_state_stamp(const char *path, char stamp[DIGEST_TEXT]);
bool file_state_content(const char *path, char content[DIGEST_TEXT]);
/* The same of one file, of which some has been read (NULL: nothing). */
bool file_state_content_of(const char *path, const Seen *seen, char content[DIGEST_TEXT]);
/* False for what is too large. */
bool file_state_has_content(uint64_t bytes);
bool file_state(const char *path, FileState *out); /* both */

/* True when a file is what it was; *proved is set to false when the stamp did not say so, but the content did. */
bool file_state_is(const char *path, const char *stamp, const char *content, bool *proved);

#endif
