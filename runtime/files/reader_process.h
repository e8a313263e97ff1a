/*
 * reader_process: programs that read images for a run, and the pipes to them (docs/readers.md).
 *
 * A program serves one image at a time and is kept for the next one.  Nothing that it does or leaves out hangs a run: it
 * has so many seconds for each answer, and is killed after them.  Any thread may call these functions, for processes
 * of its own.
 */
#ifndef RUNTIME_FILES_READER_PROCESS_H
#define RUNTIME_FILES_READER_PROCESS_H

#include "../../base/err.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ReaderProcess ReaderProcess;

/* One that waits for work, or a new one.  `command` runs as in `sh -c` and outlives the process; `seconds` are for each
 * answer. */
bool reader_process_take(const char *command, int seconds, ReaderProcess **out, Err *err);
/* True when it has served another image before. */
bool reader_process_is_used(const ReaderProcess *process);
/* NULL, or once it was found to have ended, the last line of its standard error, which may be empty. */
const char *reader_process_last_words(const ReaderProcess *process);
/* It waits for another image, unless it failed or said more than it was asked. */
void reader_process_give(ReaderProcess *process);
/* Kills it. */
void reader_process_end(ReaderProcess *process);

/* A line to it, without its end, and the line that it answers: borrowed until the next call.  After false nothing can be
 * asked any more. */
bool reader_process_ask(ReaderProcess *process, const char *request, char **reply, Err *err);
/* The bytes behind a line. */
bool reader_process_bytes(ReaderProcess *process, void *to, size_t size, Err *err);

/* Copies a text that a program wrote: one line, without control characters, cut to `size`. */
void reader_process_line(const char *text, char *to, size_t size);

#endif
