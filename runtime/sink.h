/*
 * sink: the output files of one image, filled frame by frame and given their names at the end.
 */
#ifndef RUNTIME_SINK_H
#define RUNTIME_SINK_H

#include "batch_list.h"
#include "frames.h"
#include "results.h"

typedef struct Sink Sink;

typedef struct SinkSource {
    const BatchItem *item;
    const Frames *frames;
    const ImageInfo *like;             /* the first input; NULL when there is none */
    const char *software, *parameters; /* see ImageMeta */
} SinkSource;

/* Everything in `source` is borrowed until the sink is gone. */
bool sink_new(const Program *program, const SinkSource *source, Sink **out, Err *err);
/* Frames come in order, each once. */
bool sink_frame(Sink *sink, int64_t frame, const Results *results, Err *err);
/* Gives all files their names.  After it, or instead of it, the sink is freed. */
bool sink_commit(Sink *sink, Err *err);
void sink_free(Sink *sink); /* discards what is not committed; NULL is allowed */

/* The files that were committed. */
const char *const *sink_files(const Sink *sink, int *n);
/*
 * The whole-image values, as the journal keeps them: a line of three digits, 1 for each looped axis
 * (frame, channel, z), then a line "frame,channel,z,value,value..." for each frame.
 */
const char *sink_values(const Sink *sink);

#endif
