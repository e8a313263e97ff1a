/* engine_state: what the threads of a batch share, for engine.c (readers and writers) and lane.c (devices). */
#ifndef RUNTIME_ENGINE_STATE_H
#define RUNTIME_ENGINE_STATE_H

#include "engine.h"
#include "reader.h"
#include "sink.h"

#include <pthread.h>

typedef struct Job Job;

typedef struct Frame {
    struct Frame *next;
    Job *job;
    int64_t number;
    Volume **volumes; /* by input; NULL: a stream */
    Results *results;
    size_t bytes; /* counted in Engine.bytes */
    bool spilled; /* rows of it may be in the sink */
    bool later;   /* it has to wait for one before it, or for a lane that is no spare one */
    bool *lacked; /* by lane: its device has no memory for it; NULL: nobody has said so */
} Frame;

/* In the order of their numbers, those of one job. */
typedef struct FrameQueue {
    Frame *first, *last;
} FrameQueue;

struct Job {
    Job *next; /* in the queue of the writers */
    const BatchItem *item;
    int place; /* in the list */
    Reader *reader;
    Sink *sink;
    char *begun; /* what the journal is to know of it; NULL: nobody asks */
    FrameQueue results;
    bool queued; /* in the queue, or with a writer */
    int users;   /* its reader, its writer and the frames under way */
    bool streams;
    bool serial;             /* its frames go through devices one at a time */
    int64_t frames, written; /* of these, how many writers have done, and have taken */
    int64_t taken, computed; /* by writers, by devices */
    double shown;            /* what the progress has seen of it, 0 .. 1 */
    Err err;
    const char *stage; /* at which it failed */
    double begin;
};

typedef struct Lane Lane;

typedef struct Engine {
    const EngineSetup *setup;
    const Program *program;
    ImageFate *fates;
    HostPool *pool;
    Device **pinning; /* memory is pinned for these from the start */
    int n_pinning;
    VolumeCache cache;
    pthread_mutex_t lock;
    /* What threads wait for: readers for room, lanes for frames and for other lanes, writers for results.  One condition
     * for all would wake thirty threads a dozen times for each image. */
    pthread_cond_t room, frames_moved, results;
    int next_image, readers; /* reader threads at work */
    bool stop, device_done;
    Err fatal;
    FrameQueue ready;
    Job *write_first, *write_last;
    int frames, max_frames; /* under way */
    size_t bytes, max_bytes;
    size_t whole, stream; /* bytes of pixels above which frames are streams; for rows of a stream */
    size_t behind;        /* for rows of it that wait to be written: the device need not wait for files */
    size_t keep;          /* for all rows of a stream that the device reads more than once */
    Lane *lanes;
    int n_lanes, open, spare; /* lanes; those that are not closed, and of these the spare ones */
    int working;              /* lanes that have a frame */
    bool make_way;            /* spare lanes are to close, for the memory that they hold */
    pthread_mutex_t hooks;    /* of what is called by one lane at a time */
} Engine;

/* ---- for lanes, with the lock held ------------------------------------------------------- */

bool engine_stopped(Engine *e);
/* Takes a failure of a job at a stage over; the first one counts. */
void engine_job_fail(Engine *e, Job *job, const char *stage, const Err *err);
/* Lets a writer look at the job, where it has results. */
void engine_queue(Engine *e, Job *job);
void frame_insert(FrameQueue *queue, Frame *frame);

/* ---- without it -------------------------------------------------------------------------- */

/* Counts this thread's time, where somebody wants to know; `role`: see stopwatch_use. */
void engine_watch(const Engine *e, const char *role);
/* The job has come to `part` (0 .. 1) of its work. */
void engine_show(Engine *e, Job *job, double part);
/* The end of a frame, done or dropped. */
void engine_frame_leave(Engine *e, Frame *frame);
/* Reference and --check look at all pixels. */
bool engine_looks_at_all(const Engine *e);
/* How large a frame may be that is held, and its results. */
size_t engine_most_held(const Engine *e, const Job *job);
bool engine_open_sink(const Engine *e, Job *job, Err *err);
/* For pixels that a lane's run in parts comes back to; more go to a temporary file. */
uint64_t engine_store(const Engine *e);

/* ---- lane.c ------------------------------------------------------------------------------ */

/* Makes the lanes of the setup's devices. */
bool lanes_open(Engine *e, Err *err);
/* Runs all frames, each by the lane that comes first; one lane is the calling thread. */
void lanes_run(Engine *e);
void lanes_close(Engine *e);

#endif
