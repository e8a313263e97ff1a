/*
 * engine: the threads of a batch.  Readers open images and decode frames, a thread for each device
 * runs the pipeline, writers encode results and give files their names, in the order of frames.  Frames
 * under way are bounded in number and in bytes.
 */
#ifndef RUNTIME_ENGINE_H
#define RUNTIME_ENGINE_H

#include "journal.h"
#include "hooks.h"
#include "../command/options.h"
#include "batch_list.h"
#include "notes.h"
#include "profile.h"
#include "progress.h"

typedef enum ImageState { IMAGE_WAITING, IMAGE_BEFORE, IMAGE_DONE, IMAGE_FAILED } ImageState;

/* From so many images on, it pays to prepare for the next ones: memory is pinned, GPUs have two images at once. */
enum { ENGINE_MANY = 4 };

/* What became of an image. */
typedef struct ImageFate {
    ImageState state;  /* WAITING: not begun, or given up; BEFORE: done by an earlier run */
    const char *again; /* WAITING: why what an earlier run has made does not count; NULL: it has made nothing */
    char *values;      /* BEFORE, DONE: see sink_values */
    Err *err;          /* FAILED */
    const char *stage; /* FAILED: "reading", "computing" or "writing" */
} ImageFate;

/* One frame at a time is on a device.  A spare one is the second user of a device (dev_share), which goes where that
 * one needs the memory, or has something to do that is not a matter of one frame. */
typedef struct EngineDevice {
    Device *dev;
    bool spare;
} EngineDevice;

typedef struct EngineSetup {
    const Program *program;
    const Options *options;
    const BatchList *list;
    const RtHooks *hooks;
    const EngineDevice *devices; /* none: the compiler's evaluator computes */
    int n_devices;
    Journal *journal;   /* may be NULL */
    Progress *progress; /* may be NULL */
    Notes *notes;       /* may be NULL */
    Profile *profile;   /* may be NULL */
    Owners *ranks;      /* processes that share the frames of the only image (together.h); NULL: none */
    const char *software, *parameters;
} EngineSetup;

/*
 * Works on all images whose fate is WAITING; texts in `fates` are owned by the caller (free).
 * Failures of single images are in their fates; false when the batch had to be given up: no device,
 * no room for outputs.
 */
bool engine_run(const EngineSetup *setup, ImageFate *fates, Err *err);

/* The bounds of a run: threads that read, as many that write; frames under way, and the bytes of their pixels. */
typedef struct EngineSizes {
    int jobs, frames;
    size_t bytes;
} EngineSizes;

EngineSizes engine_sizes(const Options *options, int devices, int images);

#endif
