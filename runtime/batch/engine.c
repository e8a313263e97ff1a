/*
 * engine: one lock and one condition for everything that the threads share; decoding, running and
 * encoding happen outside of it.
 *
 * A Job is an image under way, a Frame is one of its frames.  A frame goes from its reader to the
 * device and on to the job's list of results; a job with results stands in the queue of the
 * writers, once, so that the frames of one file are written in order by one thread at a time.
 * Whoever drops the last user of a job finishes it: commits its files, or discards them.
 *
 * A frame that is too large to be held goes through the device as a stream: its reader hands over
 * no pixels, and the device's thread sends rows from the job's files to its sink (stream.h).  All
 * frames of a job are alike, so nobody else is at its files then; the sink is free once the frames
 * before are written.
 */
#include "engine.h"

#include "noteworthy.h"
#include "reader.h"
#include "../host/signals.h"
#include "../host/status.h"
#include "sink.h"
#include "../host/stopwatch.h"
#include "stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 64, DEFAULT_JOBS = 8 };

static const size_t STREAM_MAX = (size_t)128 << 20; /* bytes of rows that are read ahead */

typedef struct Job Job;

typedef struct Frame {
    struct Frame *next;
    Job *job;
    int64_t number;
    Volume **volumes; /* by input; NULL: a stream */
    Results *results;
    size_t bytes; /* counted in Engine.bytes */
} Frame;

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
    int64_t frames, written;
    double shown; /* what the progress has seen of it, 0 .. 1 */
    Err err;
    const char *stage; /* at which it failed */
    double begin;
};

typedef struct Engine {
    const EngineSetup *setup;
    const Program *program;
    ImageFate *fates;
    HostPool *pool;
    VolumeCache cache;
    pthread_mutex_t lock;
    pthread_cond_t changed;
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
    /* of the device's thread */
    Exec *exec;
    ExecInput *bound;  /* by input */
    Volume **uploaded; /* by input: what the device holds; NULL: nothing to rely on */
    const void **seen; /* by input: the frame's pixels, as hooks see them */
} Engine;

static double now(void)
{
    return 1e-9 * (double)stopwatch_now();
}

/* Counts this thread's time, where somebody wants to know. */
static void watch_thread(const Engine *e)
{
    stopwatch_use(e->setup->profile != NULL ? profile_watch(e->setup->profile) : NULL);
}

static void frame_push(FrameQueue *queue, Frame *frame)
{
    frame->next = NULL;
    if (queue->first == NULL) {
        queue->first = frame;
    } else {
        queue->last->next = frame;
    }
    queue->last = frame;
}

static Frame *frame_pop(FrameQueue *queue)
{
    Frame *frame = queue->first;
    if (frame != NULL) {
        queue->first = frame->next;
    }
    return frame;
}

/* ---- the end of a job ------------------------------------------------------------------ */

/* Failures after which no image can go well. */
static bool ends_all(int code)
{
    return code == CODE_DEVICE || code == CODE_OUTPUT || code == CODE_INTERRUPTED;
}

static bool stopped(Engine *e)
{
    if (signals_interrupted()) {
        e->stop = true;
    }
    return e->stop;
}

static const char READING[] = "reading", COMPUTING[] = "computing", WRITING[] = "writing";

/* Takes a failure of a job at a stage over; the first one counts.  With the lock held. */
static void job_fail(Engine *e, Job *job, const char *stage, const Err *err)
{
    if (job->err.code == CODE_OK) {
        job->err = *err;
        job->stage = stage;
    }
    if (ends_all(err->code) && e->fatal.code == CODE_OK) {
        e->fatal = *err;
        e->stop = true;
    }
}

/* The job has come to `part` (0 .. 1) of its work. */
static void show(Engine *e, Job *job, double part)
{
    pthread_mutex_lock(&e->lock);
    double more = part - job->shown;
    job->shown = more > 0 ? part : job->shown;
    pthread_mutex_unlock(&e->lock);
    if (more > 0) {
        progress_part(e->setup->progress, more);
    }
}

static bool record(Engine *e, const Job *job, Err *err)
{
    const EngineSetup *s = e->setup;
    int n;
    const char *const *files = sink_files(job->sink, &n);
    if (s->journal == NULL) {
        return true;
    }
    return journal_add(s->journal, job->begun, files, n, sink_values(job->sink), err);
}

/* Commits or discards; no other thread has the job any more. */
static void job_finish(Engine *e, Job *job)
{
    ImageFate *fate = &e->fates[job->place];
    bool whole = job->err.code == CODE_OK && job->sink != NULL && job->written == job->frames;
    Err err = job->err;
    Phase before = stopwatch_begin(PHASE_ENCODE);
    status_say(STATUS_WRITE, "writing the results of %s", job->item->name);
    whole = whole && sink_commit(job->sink, &err);
    status_say(STATUS_WRITE, NULL);
    stopwatch_end(before);
    if (whole && record(e, job, &err)) {
        fate->values = strdup(sink_values(job->sink));
        fate->state = IMAGE_DONE;
        if (fate->values == NULL) {
            err_set(&err, CODE_MEMORY, "out of host memory for the values");
        }
    }
    char detail[100];
    snprintf(detail, sizeof detail, "%.2f s", now() - job->begin);
    if (err.code != CODE_OK && err.code != CODE_INTERRUPTED) {
        fate->state = IMAGE_FAILED;
        fate->stage = job->err.code != CODE_OK ? job->stage : WRITING;
        fate->err = malloc(sizeof *fate->err);
        if (fate->err != NULL) {
            *fate->err = err;
        }
        snprintf(detail, sizeof detail, "failed");
    }
    if (fate->state != IMAGE_WAITING) {
        show(e, job, 1);
        progress_image(e->setup->progress, job->item->name, detail);
    }
    pthread_mutex_lock(&e->lock);
    job_fail(e, job, WRITING, &err);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    sink_free(job->sink);
    reader_close(job->reader);
    free(job->begun);
    free(job);
}

/* One user less; the last one finishes the job. */
static void job_leave(Engine *e, Job *job)
{
    pthread_mutex_lock(&e->lock);
    bool last = --job->users == 0;
    pthread_mutex_unlock(&e->lock);
    if (last) {
        job_finish(e, job);
    }
}

static void frame_free(Engine *e, Frame *frame)
{
    for (int i = 0; i < e->program->n_inputs; i++) {
        volume_release(frame->volumes[i]);
    }
    results_free(frame->results);
    free(frame->volumes);
    free(frame);
}

/* The end of a frame, done or dropped. */
static void frame_leave(Engine *e, Frame *frame)
{
    Job *job = frame->job;
    pthread_mutex_lock(&e->lock);
    e->frames--;
    e->bytes -= frame->bytes;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    frame_free(e, frame);
    job_leave(e, job);
}

/* ---- readers --------------------------------------------------------------------------- */

/* The next image to work on, or -1. */
static int take_image(Engine *e)
{
    int place = -1;
    pthread_mutex_lock(&e->lock);
    while (place < 0 && !stopped(e) && e->next_image < e->setup->list->n) {
        if (e->fates[e->next_image].state == IMAGE_WAITING) {
            place = e->next_image;
        }
        e->next_image++;
    }
    pthread_mutex_unlock(&e->lock);
    return place;
}

/* Waits for room for a frame; false when the job or the run is to end. */
static bool take_room(Engine *e, const Job *job, size_t bytes)
{
    pthread_mutex_lock(&e->lock);
    while (!stopped(e) && job->err.code == CODE_OK && e->frames > 0 &&
           (e->frames >= e->max_frames || e->bytes + bytes > e->max_bytes)) {
        pthread_cond_wait(&e->changed, &e->lock);
    }
    bool ok = !stopped(e) && job->err.code == CODE_OK;
    if (ok) {
        e->frames++;
        e->bytes += bytes;
    }
    pthread_mutex_unlock(&e->lock);
    return ok;
}

static Frame *frame_new(const Engine *e, Job *job, int64_t number, size_t bytes)
{
    Frame *frame = calloc(1, sizeof *frame);
    if (frame != NULL) {
        *frame = (Frame){.job = job, .number = number, .bytes = bytes};
        frame->volumes = calloc((size_t)e->program->n_inputs + 1, sizeof *frame->volumes);
    }
    if (frame == NULL || frame->volumes == NULL) {
        free(frame);
        return NULL;
    }
    return frame;
}

static void read_frames(Engine *e, Job *job)
{
    size_t bytes = job->streams ? 2 * e->stream : reader_frame_bytes(job->reader);
    for (int64_t k = 0; k < job->frames && take_room(e, job, bytes); k++) {
        Err err = {0};
        Frame *frame = frame_new(e, job, k, bytes);
        bool ok = frame != NULL || err_set(&err, CODE_MEMORY, "out of host memory for a frame");
        Phase before = stopwatch_begin(PHASE_DECODE);
        ok = ok && (job->streams || reader_frame(job->reader, k, frame->volumes, &err));
        stopwatch_end(before);
        pthread_mutex_lock(&e->lock);
        if (ok) {
            job->users++;
            frame_push(&e->ready, frame);
        } else {
            job_fail(e, job, READING, &err);
            e->frames--;
            e->bytes -= bytes;
        }
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        if (!ok && frame != NULL) {
            frame_free(e, frame);
        }
    }
}

/* Reference and --check look at all pixels. */
static bool looks_at_all(const Engine *e)
{
    return e->setup->dev == NULL || e->setup->options->check;
}

/*
 * How large a frame may be that is held, and its results.  With one frame in all nothing is won by
 * reading it whole before it is uploaded, or by holding results until they are written.
 */
static size_t most_held(const Engine *e, const Job *job)
{
    bool alone = e->setup->list->n == 1 && job->frames == 1 && !looks_at_all(e);
    return alone && e->whole > STREAM_MAX ? STREAM_MAX : e->whole;
}

static bool choose_stream(const Engine *e, Job *job, Err *err)
{
    size_t bytes = reader_frame_bytes(job->reader);
    job->frames = reader_frames(job->reader)->n;
    job->streams = bytes > most_held(e, job);
    if (job->streams && looks_at_all(e)) {
        return err_set(err, CODE_MEMORY,
                       "%s holds whole images in host memory; this one has %.4g MiB, and "
                       "--host-memory is %.4g MiB",
                       e->setup->dev == NULL ? "--device reference" : "--check", (double)bytes / 0x1p20,
                       (double)e->whole / 0x1p20);
    }
    return true;
}

static bool job_open(Engine *e, Job *job, Err *err)
{
    const EngineSetup *s = e->setup;
    if (s->journal != NULL) {
        JournalImage image = batch_item_files(e->program, job->item);
        job->begun = journal_begin(s->journal, &image);
    }
    TRY(reader_open(e->program, job->item, s->options, looks_at_all(e), &e->cache, &job->reader, err));
    noteworthy(s->notes, e->program, s->options, job->item, job->reader);
    TRY(choose_stream(e, job, err));
    SinkSource source = {.item = job->item,
                         .frames = reader_frames(job->reader),
                         .like = reader_info(job->reader, 0),
                         .software = s->software,
                         .parameters = s->parameters,
                         .compress = s->options->compress};
    return sink_new(e->program, &source, &job->sink, err);
}

static void *reader_thread(void *context)
{
    Engine *e = context;
    int place;
    watch_thread(e);
    while ((place = take_image(e)) >= 0) {
        Err err = {0};
        Job *job = calloc(1, sizeof *job);
        if (job == NULL) {
            e->fates[place].state = IMAGE_FAILED; /* without a reason: there is no memory for one */
            e->fates[place].stage = READING;
            continue;
        }
        *job = (Job){.item = &e->setup->list->items[place], .place = place, .users = 1, .begin = now()};
        Phase before = stopwatch_begin(PHASE_DECODE);
        status_say(STATUS_READ, "reading %s", job->item->name);
        bool open = job_open(e, job, &err);
        stopwatch_end(before);
        if (open) {
            read_frames(e, job);
        } else {
            job->err = err;
            job->stage = READING;
        }
        status_say(STATUS_READ, NULL);
        job_leave(e, job);
    }
    pthread_mutex_lock(&e->lock);
    e->readers--;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- writers --------------------------------------------------------------------------- */

/* The next result of the job; NULL when there is none, and the job is out of the queue then. */
static Frame *next_result(Engine *e, Job *job)
{
    pthread_mutex_lock(&e->lock);
    Frame *frame = frame_pop(&job->results);
    job->queued = frame != NULL;
    pthread_mutex_unlock(&e->lock);
    return frame;
}

static void write_frame(Engine *e, Frame *frame)
{
    Job *job = frame->job;
    Err err = {0};
    pthread_mutex_lock(&e->lock);
    bool wanted = job->err.code == CODE_OK && !stopped(e);
    pthread_mutex_unlock(&e->lock);
    Phase before = stopwatch_begin(PHASE_ENCODE);
    status_say(STATUS_WRITE, "writing the results of %s", job->item->name);
    wanted = wanted && sink_frame(job->sink, frame->number, frame->results, &err);
    status_say(STATUS_WRITE, NULL);
    stopwatch_end(before);
    if (wanted) {
        show(e, job, (double)(frame->number + 1) / (double)job->frames);
        pthread_mutex_lock(&e->lock);
        job->written++;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
    }
    if (err.code != CODE_OK) {
        pthread_mutex_lock(&e->lock);
        job_fail(e, job, WRITING, &err);
        pthread_mutex_unlock(&e->lock);
    }
}

static Job *take_job(Engine *e)
{
    pthread_mutex_lock(&e->lock);
    while (e->write_first == NULL && !e->device_done) {
        pthread_cond_wait(&e->changed, &e->lock);
    }
    Job *job = e->write_first;
    if (job != NULL) {
        e->write_first = job->next;
        job->users++; /* so that it outlives its last frame */
    }
    pthread_mutex_unlock(&e->lock);
    return job;
}

static void *writer_thread(void *context)
{
    Engine *e = context;
    Job *job;
    watch_thread(e);
    while ((job = take_job(e)) != NULL) {
        for (Frame *frame; (frame = next_result(e, job)) != NULL;) {
            write_frame(e, frame);
            frame_leave(e, frame);
        }
        job_leave(e, job);
    }
    return NULL;
}

/* ---- the device ------------------------------------------------------------------------ */

static bool same_input(const ExecInput *a, const ExecInput *b)
{
    bool same = a->elem == b->elem;
    for (int i = 0; i < 4; i++) {
        same = same && a->extent[i] == b->extent[i];
    }
    for (int i = 0; i < 3; i++) {
        same = same && !(a->pixel_um[i] < b->pixel_um[i]) && !(a->pixel_um[i] > b->pixel_um[i]);
    }
    return same;
}

static void forget_uploads(Engine *e)
{
    for (int i = 0; i < e->program->n_inputs; i++) {
        volume_release(e->uploaded[i]);
        e->uploaded[i] = NULL;
    }
}

static bool upload(Engine *e, int input, Volume *v, Err *err)
{
    const int64_t *extent = v->like.extent;
    size_t row = (size_t)extent[0] * elem_size(v->like.elem), plane = row * (size_t)extent[1];
    int64_t first = v->channel >= 0 ? v->channel : 0, channels = v->channel >= 0 ? 1 : extent[3];
    if (e->uploaded[input] == v && exec_keeps(e->exec, input)) {
        return true;
    }
    volume_release(e->uploaded[input]);
    e->uploaded[input] = NULL;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t z = 0; z < extent[2]; z++) {
            const char *from = (const char *)v->pixels + (size_t)(c * extent[2] + z) * plane;
            TRY(exec_upload(e->exec, input, first + c, z, 0, extent[1], from, row, err));
        }
    }
    e->uploaded[input] = volume_keep(v);
    return true;
}

static bool bind(Engine *e, Frame *frame, Err *err)
{
    const ExecInput *inputs = reader_inputs(frame->job->reader);
    bool same = exec_bound(e->exec) != NULL;
    for (int i = 0; i < e->program->n_inputs; i++) {
        same = same && same_input(&inputs[i], &e->bound[i]);
        e->bound[i] = inputs[i];
    }
    if (!same) {
        forget_uploads(e);
    }
    exec_set_images(e->exec, (uint64_t)e->setup->list->n * (uint64_t)frame->job->frames);
    return exec_bind(e->exec, inputs, e->setup->options->params, err);
}

/* What went into a frame, as hooks see it. */
static RtFrame what_went_in(const Engine *e, const Frame *frame)
{
    for (int i = 0; i < e->program->n_inputs; i++) {
        e->seen[i] = frame->volumes[i]->pixels;
    }
    return (RtFrame){.image = frame->job->item->name,
                     .number = frame->number,
                     .inputs = reader_inputs(frame->job->reader),
                     .pixels = e->seen,
                     .params = e->setup->options->params};
}

static void add_results(RtFrame *view, const Results *r)
{
    view->grids = r->grids;
    view->elems = r->elems;
    view->values = r->values;
    view->tables = r->tables;
}

static bool check(const Engine *e, const Frame *frame, Err *err)
{
    if (!e->setup->options->check) {
        return true;
    }
    RtFrame view = what_went_in(e, frame);
    add_results(&view, frame->results);
    view.images = (const void *const *)frame->results->images;
    return e->setup->hooks->check(e->setup->hooks->context, &view, err);
}

static void let_see(const Engine *e, const Frame *frame)
{
    const RtHooks *hooks = e->setup->hooks;
    if (hooks != NULL && hooks->seen != NULL) {
        RtFrame view = {.image = frame->job->item->name, .number = frame->number, .params = e->setup->options->params};
        add_results(&view, frame->results);
        hooks->seen(hooks->context, &view);
    }
}

/* Without a device: the compiler's evaluator computes the frame. */
static bool run_reference(const Engine *e, Frame *frame, Err *err)
{
    RtFrame view = what_went_in(e, frame);
    TRY(results_new(e->program, &frame->results, err));
    return e->setup->hooks->reference(e->setup->hooks->context, &view, frame->results, err);
}

static bool upload_all(Engine *e, Frame *frame, Err *err)
{
    for (int i = 0; i < e->program->n_inputs; i++) {
        TRY(upload(e, i, frame->volumes[i], err));
    }
    return results_begin(e->exec, e->program, e->pool, &frame->results, err);
}

static bool compute(Engine *e, Frame *frame, Err *err)
{
    (void)frame;
    return exec_run(e->exec, err);
}

static bool download_all(Engine *e, Frame *frame, Err *err)
{
    return results_download(e->exec, frame->results, err) && results_finish(e->exec, frame->results, err);
}

static bool in_phase(Phase phase, bool (*work)(Engine *, Frame *, Err *), Engine *e, Frame *frame, Err *err)
{
    Phase before = stopwatch_begin(phase);
    bool ok = work(e, frame, err);
    stopwatch_end(before);
    return ok;
}

static bool run_whole(Engine *e, Frame *frame, Err *err)
{
    return in_phase(PHASE_UPLOAD, upload_all, e, frame, err) && in_phase(PHASE_COMPUTE, compute, e, frame, err) &&
           in_phase(PHASE_DOWNLOAD, download_all, e, frame, err);
}

/* Waits until the frames before this one are written; false: it is not wanted any more. */
static bool wait_for_sink(Engine *e, const Frame *frame)
{
    const Job *job = frame->job;
    pthread_mutex_lock(&e->lock);
    while (!stopped(e) && job->err.code == CODE_OK && job->written < frame->number) {
        pthread_cond_wait(&e->changed, &e->lock);
    }
    bool wanted = !stopped(e) && job->err.code == CODE_OK;
    pthread_mutex_unlock(&e->lock);
    return wanted;
}

typedef struct Shown {
    Engine *engine;
    Frame *frame;
} Shown;

static void show_stream(void *context, double part)
{
    const Shown *shown = context;
    Job *job = shown->frame->job;
    show(shown->engine, job, ((double)shown->frame->number + part) / (double)job->frames);
}

/* Results that are too large to be held go to the sink row by row; --check needs them all. */
static bool collects(const Engine *e, const Job *job)
{
    return looks_at_all(e) || results_image_bytes(e->exec, e->program) <= most_held(e, job);
}

static bool run_stream(Engine *e, Frame *frame, Err *err)
{
    bool collect = collects(e, frame->job);
    Shown shown = {e, frame};
    StreamSetup setup = {.program = e->program,
                         .dev = e->setup->dev,
                         .exec = e->exec,
                         .reader = frame->job->reader,
                         .frame = frame->number,
                         .volumes = frame->volumes,
                         .sink = frame->job->sink,
                         .bytes = e->stream,
                         .behind = e->behind,
                         .keep = e->keep,
                         .progress = show_stream,
                         .context = &shown};
    forget_uploads(e);
    TRY(results_begin(e->exec, e->program, collect ? e->pool : NULL, &frame->results, err));
    return (collect || wait_for_sink(e, frame)) && stream_run(&setup, frame->results, err);
}

static bool run_frame(Engine *e, Frame *frame, Err *err)
{
    const EngineSetup *s = e->setup;
    if (s->dev == NULL) {
        return run_reference(e, frame, err);
    }
    status_say(STATUS_DEVICE, "planning for %s", frame->job->item->name);
    TRY(in_phase(PHASE_PREPARE, bind, e, frame, err));
    status_say(STATUS_DEVICE, NULL);
    bool stream = frame->job->streams || !collects(e, frame->job) || exec_in_parts(e->exec);
    TRY(stream ? in_phase(PHASE_COMPUTE, run_stream, e, frame, err) : run_whole(e, frame, err));
    TRY(s->profile == NULL || profile_collect(s->profile, s->dev, exec_bound(e->exec), frame->job->item->name, err));
    return check(e, frame, err);
}

/* Inputs are no longer needed; results are held now. */
static void recount(Engine *e, Frame *frame)
{
    for (int i = 0; i < e->program->n_inputs; i++) {
        volume_release(frame->volumes[i]);
        frame->volumes[i] = NULL;
    }
    e->bytes = e->bytes - frame->bytes + frame->results->bytes;
    frame->bytes = frame->results->bytes;
}

static void hand_to_writers(Engine *e, Frame *frame)
{
    Job *job = frame->job;
    pthread_mutex_lock(&e->lock);
    recount(e, frame);
    frame_push(&job->results, frame);
    if (!job->queued) {
        job->queued = true;
        job->next = NULL;
        if (e->write_first == NULL) {
            e->write_first = job;
        } else {
            e->write_last->next = job;
        }
        e->write_last = job;
    }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* The next frame for the device; NULL when there will be none.  *wanted: run it, else drop it. */
static Frame *take_frame(Engine *e, bool *wanted)
{
    pthread_mutex_lock(&e->lock);
    while (e->ready.first == NULL && e->readers > 0) {
        pthread_cond_wait(&e->changed, &e->lock);
    }
    Frame *frame = frame_pop(&e->ready);
    *wanted = frame != NULL && !stopped(e) && frame->job->err.code == CODE_OK;
    pthread_mutex_unlock(&e->lock);
    return frame;
}

static void run_device(Engine *e)
{
    bool wanted;
    watch_thread(e);
    for (Frame *frame; (frame = take_frame(e, &wanted)) != NULL;) {
        Err err = {0};
        host_pool_pin(e->pool);
        if (wanted && run_frame(e, frame, &err)) {
            let_see(e, frame);
            hand_to_writers(e, frame);
            continue;
        }
        if (err.code != CODE_OK) {
            forget_uploads(e);
            pthread_mutex_lock(&e->lock);
            job_fail(e, frame->job, COMPUTING, &err);
            pthread_mutex_unlock(&e->lock);
        }
        frame_leave(e, frame);
    }
    stopwatch_use(NULL);
    pthread_mutex_lock(&e->lock);
    e->device_done = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* ---- all threads ----------------------------------------------------------------------- */

/* A thread of each kind for every 2 processors, from 1 to 8, unless --jobs says otherwise. */
static int choose_jobs(const Options *options, int images)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int jobs = options->jobs > 0 ? options->jobs : (int)((processors + 1) / 2);
    int most = options->jobs > 0 ? MAX_JOBS : DEFAULT_JOBS;
    jobs = jobs > most ? most : jobs;
    jobs = jobs > images ? images : jobs;
    return jobs > 0 ? jobs : 1;
}

/* For the pixels of all frames under way: a quarter of the memory, unless --host-memory says. */
static size_t choose_bytes(const Options *options)
{
    if (options->host > 0) {
        return (size_t)options->host;
    }
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t memory = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)4 << 30;
    return memory / 4;
}

/*
 * A frame that the device cannot hold goes through it in parts anyway, so its pixels need not be in
 * host memory either; unless something else than the device wants to see them.
 */
static size_t choose_whole(const Engine *e)
{
    const EngineSetup *s = e->setup;
    if (looks_at_all(e)) {
        return e->max_bytes;
    }
    uint64_t device = s->options->memory > 0 ? s->options->memory : dev_info(s->dev)->memory;
    return device < e->max_bytes ? (size_t)device : e->max_bytes;
}

/* Who limits a device that has the host's memory, and does not say what the host may take, means
 * both. */
static bool is_short(const Engine *e)
{
    const Options *o = e->setup->options;
    return o->host == 0 && o->memory > 0 && e->setup->dev != NULL && dev_info(e->setup->dev)->cpu;
}

/* For pixels that a run in parts comes back to; more go to a temporary file. */
static uint64_t choose_store(const Engine *e)
{
    uint64_t half = e->max_bytes / 2, twice = 2 * e->setup->options->memory;
    return is_short(e) && twice < half ? twice : half;
}

static bool start(pthread_t *threads, int n, void *(*body)(void *), Engine *e, int *started, Err *err)
{
    for (*started = 0; *started < n; ++*started) {
        if (pthread_create(&threads[*started], NULL, body, e) != 0) {
            return *started > 0 || err_set(err, CODE_MEMORY, "cannot start a thread");
        }
    }
    return true;
}

static void join(const pthread_t *threads, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Writers first: without them nothing could be finished. */
static bool run_threads(Engine *e, int jobs, Err *err)
{
    pthread_t readers[MAX_JOBS], writers[MAX_JOBS];
    uint64_t begin = stopwatch_now();
    int n_readers = 0, n_writers = 0;
    bool ok = start(writers, jobs, writer_thread, e, &n_writers, err);
    if (ok) {
        pthread_mutex_lock(&e->lock);
        ok = start(readers, jobs, reader_thread, e, &n_readers, err);
        e->readers = n_readers;
        pthread_mutex_unlock(&e->lock);
    }
    run_device(e);
    join(readers, n_readers);
    join(writers, n_writers);
    if (e->setup->profile != NULL) {
        profile_threads(e->setup->profile, jobs, stopwatch_now() - begin);
    }
    return ok;
}

static bool interrupted(void *nothing)
{
    (void)nothing;
    return signals_interrupted();
}

bool engine_run(const EngineSetup *setup, ImageFate *fates, Err *err)
{
    const Program *program = setup->program;
    int jobs = choose_jobs(setup->options, setup->list->n);
    Engine e = {.setup = setup,
                .program = program,
                .fates = fates,
                .max_frames = 2 * jobs + 2,
                .max_bytes = choose_bytes(setup->options)};
    e.whole = choose_whole(&e);
    e.stream = e.max_bytes / 4 < STREAM_MAX ? e.max_bytes / 4 : STREAM_MAX;
    e.behind = is_short(&e) || e.max_bytes / 16 < e.stream ? e.stream : e.max_bytes / 16;
    e.keep = is_short(&e) ? e.stream : e.max_bytes / 4;
    pthread_mutex_init(&e.lock, NULL);
    pthread_cond_init(&e.changed, NULL);
    e.bound = calloc((size_t)program->n_inputs + 1, sizeof *e.bound);
    e.uploaded = calloc((size_t)program->n_inputs + 1, sizeof *e.uploaded);
    e.seen = calloc((size_t)program->n_inputs + 1, sizeof *e.seen);
    e.pool = host_pool_new(e.max_bytes / 2, setup->dev);
    bool ok = volume_cache_init(&e.cache, program->n_inputs, e.pool, err) &&
              ((e.pool != NULL && e.bound != NULL && e.uploaded != NULL && e.seen != NULL) ||
               err_set(err, CODE_MEMORY, "out of host memory for the inputs")) &&
              exec_new(program, setup->dev, &e.exec, err);
    if (ok) {
        exec_set_stop(e.exec, interrupted, NULL);
        exec_set_host_memory(e.exec, choose_store(&e));
        ok = run_threads(&e, jobs, err);
        forget_uploads(&e);
    }
    if (ok && e.fatal.code != CODE_OK) {
        *err = e.fatal;
        ok = false;
    }
    exec_free(e.exec);
    volume_cache_free(&e.cache);
    host_pool_free(e.pool);
    free(e.bound);
    free(e.uploaded);
    free(e.seen);
    pthread_cond_destroy(&e.changed);
    pthread_mutex_destroy(&e.lock);
    return ok;
}
