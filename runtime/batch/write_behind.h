/*
 * write_behind: rows on their way to the files of an image: copied, and written by a thread while
 * whoever gave them goes on.  Memory is bounded.
 */
#ifndef RUNTIME_WRITE_BEHIND_H
#define RUNTIME_WRITE_BEHIND_H

#include "../host/crew.h"
#include "sink.h"

typedef struct WriteBehind WriteBehind;

/* Nobody else may use the sink meanwhile.  `bytes`: for rows; at least one row is held.  `crew`: borrowed, of
 * the thread that gives rows. */
bool write_behind_start(Sink *sink, int64_t frame, size_t bytes, Crew *crew, WriteBehind **out, Err *err);
/* Takes rows over; the first failure so far is reported. */
bool write_behind_rows(WriteBehind *behind, const SinkRows *rows, Err *err);
/* Waits until all is written, and frees; false after any failure. */
bool write_behind_finish(WriteBehind *behind, Err *err);

#endif
