/*
 * together: one frame on several devices (parts_share.h): of this host, a thread each, or of processes.  The first owner
 * has the files of outputs; the others do their share of the parts, read what they need themselves, and write their rows
 * where a format has parts (image_create_part).
 */
#ifndef RUNTIME_TOGETHER_H
#define RUNTIME_TOGETHER_H

#include "reader.h"
#include "stream.h"

/* What an owner that is not the first needs for its share. */
typedef struct Share {
    const Program *program;
    const Options *options;
    const BatchItem *item;
    VolumeCache *cache;
    Device *dev;
    Exec *exec; /* bound by this */
    Owners *owners;
    const ExecInput *inputs; /* of the frame */
    int64_t frame;
    Volume *const *volumes; /* by input; [0] NULL: rows are read from the files */
    size_t bytes, keep;     /* as in StreamSetup */
} Share;

/* Binds with owners, and asks them whether all can: false with a sentence where one cannot.  *together: the frame is cut;
 * else the first does it alone. */
bool together_bind(Exec *exec, const ExecInput *inputs, const double *params, Owners *owners, bool *together, Err *err);
/* At the end of a frame that was cut: the first owner's sink takes what those of the others tell. */
bool together_join(Owners *owners, Sink *sink, Err *err);
/* A share of a frame from together_bind on; what goes wrong the first owner says, too. */
bool together_share(const Share *share, Err *err);

/* Processes: the first tells the others of a frame, -1: of the end. */
bool together_call(Owners *ranks, int64_t frame, Err *err);
/* What another process does until the end: its shares of the frames of the only image. */
bool together_follow(const Program *program, const Options *options, const BatchItem *item, Owners *ranks, Err *err);

#endif
