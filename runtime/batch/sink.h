/*
 * sink: the output files of one image, filled frame by frame and given their names at the end.
 */
#ifndef RUNTIME_SINK_H
#define RUNTIME_SINK_H

#include "batch_list.h"
#include "frames.h"
#include "reader.h"
#include "results.h"

typedef struct Sink Sink;

typedef struct SinkSource {
    const BatchItem *item;
    const Frames *frames;
    const ImageInfo *like;             /* the first input; NULL when there is none */
    const Reader *reader;              /* the others, whose headers FITS files have that lie on them */
    const char *software, *parameters; /* see ImageMeta */
    Compress compress;
    bool pyramid;
    ZarrVersion zarr;
} SinkSource;

/* Everything in `source` is borrowed until the sink is gone. */
bool sink_new(const Program *program, const SinkSource *source, Sink **out, Err *err);

/* Rows of an output that is an image. */
typedef struct SinkRows {
    int output;
    ExecGrid grid; /* of the whole frame */
    Elem elem;
    double most; /* labels: the largest of the frame; NaN: not known yet */
    int64_t c, z, row, rows;
    const void *pixels;
    size_t pitch;
} SinkRows;

/* Rows of a frame, before its sink_frame, those of a plane in ascending order.  Frames come in
 * order. */
/* Several sinks of one image, of owners who have some rows each (image_create_part, ExecStream.share). */
/* Before rows of an output come, which are as in `rows`: the first sink fills *share, the others take it. */
bool sink_share(Sink *sink, const SinkRows *rows, bool first, ExecShare *share, Err *err);
/* What another sink tells the first one at last (owned by the caller, free), and what it takes of all others, in order. */
bool sink_end_part(Sink *sink, void **told, size_t *bytes, Err *err);
bool sink_join(Sink *sink, const void *told, size_t bytes, Err *err);
bool sink_rows(Sink *sink, int64_t frame, const SinkRows *rows, Err *err);
/* Ends a frame: images (those whose rows did not come before), tables, values.  Each frame once, in
 * order. */
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
