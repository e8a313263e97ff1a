/*
 * stream: runs a frame whose pixels are not handed over in one piece: rows come from the files, or
 * from volumes, when the executor asks for them, and go to the sink, or into results, as they are
 * ready.  Reading, computing and writing overlap.
 */
#ifndef RUNTIME_STREAM_H
#define RUNTIME_STREAM_H

#include "reader.h"
#include "sink.h"

typedef struct StreamSetup {
    const Program *program;
    Device *dev;
    Exec *exec; /* bound */
    Reader *reader;
    int64_t frame;
    Volume *const *volumes; /* by input; [0] NULL: rows are read from the files */
    Sink *sink;             /* where rows of a frame without memory for them in its results go; NULL: no rows come */
    size_t bytes;           /* for rows that are read ahead */
    size_t behind;          /* for rows that are to be written */
    size_t keep;            /* for all rows of the inputs, where they are read again and again */
    bool narrow;            /* labels that fit go down with 16 bits */
    /* Called from time to time, by the calling thread: a part (0 .. 1) of the frame is done. */
    void (*progress)(void *context, double part);
    void *context;
} StreamSetup;

/* `results` are begun; they are finished here. */
bool stream_run(const StreamSetup *setup, Results *results, Err *err);

#endif
