/*
 * read_ahead: the rows of one frame, read from its files by a thread that is ahead of whoever asks
 * for them.  Memory is bounded; rows may be asked for again from any place, from the first one on
 * for instance, which costs reading them again.
 */
#ifndef RUNTIME_READ_AHEAD_H
#define RUNTIME_READ_AHEAD_H

#include "../host/crew.h"
#include "reader.h"

typedef struct ReadAhead ReadAhead;

/* Nobody else may use the reader meanwhile.  `bytes`: for rows; some rows of each input are kept
 * even if they are more.  `copiers`: borrowed, used while rows are asked for. */
bool read_ahead_start(const Program *program, Reader *reader, int64_t frame, size_t bytes, Crew *copiers,
                      ReadAhead **out, Err *err);
/* Rows [row, row + rows) of plane z, channel c of an input, `pitch` bytes apart. */
bool read_ahead_rows(ReadAhead *ahead, int input, int64_t c, int64_t z, int64_t row, int64_t rows, void *to,
                     size_t pitch, Err *err);
/* True when all rows of an input stay once they are read: how many there are through all planes, and bytes of one,
 * [channel][x]. */
bool read_ahead_keeps(const ReadAhead *ahead, int input, int64_t *rows, size_t *bytes);
/* Where rows [row, row + rows), through all planes, of such an input lie, once they are read; NULL: that failed. */
void *read_ahead_kept(ReadAhead *ahead, int input, int64_t row, int64_t rows);
void read_ahead_stop(ReadAhead *ahead); /* frees; NULL is allowed */

#endif
