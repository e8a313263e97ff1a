/*
 * engine: one lock for everything that the threads share; decoding, running and encoding happen outside of it.
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

#include "engine_state.h"
#include "noteworthy.h"
#include "../host/signals.h"
#include "../host/status.h"
#include "../host/stopwatch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 64, DEFAULT_JOBS = 16 };

static const size_t STREAM_MAX = (size_t)128 << 20; /* bytes of rows that are read ahead */

static double now(void)
{
    return 1e-9 * (double)stopwatch_now();
}

void engine_watch(const Engine *e, const char *role)
{
    stopwatch_use(e->setup->profile != NULL ? profile_watch(e->setup->profile) : NULL, role);
}

void frame_insert(FrameQueue *queue, Frame *frame)
{
    Frame **link = &queue->first;
    while (*link != NULL && ((*link)->job != frame->job || (*link)->number < frame->number)) {
        link = &(*link)->next;
    }
    frame->next = *link;
    *link = frame;
    queue->last = frame->next == NULL ? frame : queue->last;
}

/* At the end. */
static void frame_push(FrameQueue *queue, Frame *frame)
{
    frame->next = NULL;
    *(queue->first == NULL ? &queue->first : &queue->last->next) = frame;
    queue->last = frame;
}

/* ---- the end of a job ------------------------------------------------------------------ */

/* Failures after which no image can go well. */
static bool ends_all(int code)
{
    return code == CODE_DEVICE || code == CODE_OUTPUT || code == CODE_INTERRUPTED;
}

bool engine_stopped(Engine *e)
{
    if (signals_interrupted()) {
        e->stop = true;
    }
    return e->stop;
}

static const char READING[] = "reading", WRITING[] = "writing";

void engine_queue(Engine *e, Job *job)
{
    if (job->results.first != NULL && !job->queued) {
        job->queued = true;
        job->next = NULL;
        *(e->write_first == NULL ? &e->write_first : &e->write_last->next) = job;
        e->write_last = job;
        pthread_cond_signal(&e->results);
    }
}

static void wake_all(Engine *e)
{
    pthread_cond_broadcast(&e->room);
    pthread_cond_broadcast(&e->frames_moved);
    pthread_cond_broadcast(&e->results);
}

void engine_job_fail(Engine *e, Job *job, const char *stage, const Err *err)
{
    if (job->err.code == CODE_OK) {
        job->err = *err;
        job->stage = stage;
    }
    if (ends_all(err->code) && e->fatal.code == CODE_OK) {
        e->fatal = *err;
        e->stop = true;
    }
    engine_queue(e, job);
    if (err->code != CODE_OK) {
        wake_all(e);
    }
}

void engine_show(Engine *e, Job *job, double part)
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
    const double took = now() - job->begin;
    const bool compiled = took > 1 && status_has_compiled(job->begin); /* less may be a cache that is read */
    snprintf(detail, sizeof detail, "%.2f s%s", took, compiled ? ", compiling included" : "");
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
        engine_show(e, job, 1);
        progress_image(e->setup->progress, job->item->name, detail);
    }
    pthread_mutex_lock(&e->lock);
    engine_job_fail(e, job, WRITING, &err);
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
    free(frame->lacked);
    free(frame->volumes);
    free(frame);
}

void engine_frame_leave(Engine *e, Frame *frame)
{
    Job *job = frame->job;
    pthread_mutex_lock(&e->lock);
    e->frames--;
    e->bytes -= frame->bytes;
    pthread_cond_broadcast(&e->room);
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
    while (place < 0 && !engine_stopped(e) && e->next_image < e->setup->list->n) {
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
    while (!engine_stopped(e) && job->err.code == CODE_OK && e->frames > 0 &&
           (e->frames >= e->max_frames || e->bytes + bytes > e->max_bytes)) {
        pthread_cond_wait(&e->room, &e->lock);
    }
    bool ok = !engine_stopped(e) && job->err.code == CODE_OK;
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
            pthread_cond_broadcast(&e->frames_moved);
        } else {
            e->frames--;
            e->bytes -= bytes;
            engine_job_fail(e, job, READING, &err);
        }
        pthread_mutex_unlock(&e->lock);
        if (!ok && frame != NULL) {
            frame_free(e, frame);
        }
    }
}

/* Nobody has changed the input since the job began, or the journal hears nothing. */
static void note_content(const Engine *e, Job *job)
{
    char content[DIGEST_TEXT];
    if (job->begun != NULL && reader_content(job->reader, content)) {
        JournalImage image = batch_item_files(e->program, job->item);
        job->begun = journal_read(&image, job->begun, content);
    }
}

/* Files are read once, for their pixels and for the journal; those of a stream are read by the device's thread, later. */
static void read_image(Engine *e, Job *job)
{
    if (job->streams) {
        note_content(e, job);
        read_frames(e, job);
    } else {
        reader_see(job->reader);
        read_frames(e, job);
        note_content(e, job);
    }
}

bool engine_looks_at_all(const Engine *e)
{
    return e->setup->n_devices == 0 || e->setup->options->check;
}

/*
 * How large a frame may be that is held, and its results.  With one frame in all nothing is won by
 * reading it whole before it is uploaded, or by holding results until they are written.
 */
size_t engine_most_held(const Engine *e, const Job *job)
{
    bool alone = e->setup->list->n == 1 && job->frames == 1 && !engine_looks_at_all(e);
    return alone && e->whole > STREAM_MAX ? STREAM_MAX : e->whole;
}

static bool choose_stream(const Engine *e, Job *job, Err *err)
{
    size_t bytes = reader_frame_bytes(job->reader);
    job->frames = reader_frames(job->reader)->n;
    job->streams = job->serial = bytes > engine_most_held(e, job);
    if (job->streams && engine_looks_at_all(e)) {
        return err_set(err, CODE_MEMORY,
                       "%s holds whole images in host memory; this one has %.4g MiB, and "
                       "--host-memory is %.4g MiB",
                       e->setup->n_devices == 0 ? "--device reference" : "--check", (double)bytes / 0x1p20,
                       (double)e->whole / 0x1p20);
    }
    return true;
}

bool engine_open_sink(const Engine *e, Job *job, Err *err)
{
    const EngineSetup *s = e->setup;
    SinkSource source = {.item = job->item,
                         .frames = reader_frames(job->reader),
                         .like = reader_info(job->reader, 0),
                         .reader = job->reader,
                         .software = s->software,
                         .parameters = s->parameters,
                         .compress = s->options->compress,
                         .pyramid = s->options->pyramid,
                         .zarr = s->options->zarr};
    return sink_new(e->program, &source, &job->sink, err);
}

static bool job_open(Engine *e, Job *job, Err *err)
{
    const EngineSetup *s = e->setup;
    if (s->journal != NULL) {
        JournalImage image = batch_item_files(e->program, job->item);
        job->begun = journal_begin(s->journal, &image);
    }
    TRY(reader_open(e->program, job->item, s->options, engine_looks_at_all(e), &e->cache, &job->reader, err));
    noteworthy(s->notes, e->program, s->options, job->item, job->reader);
    TRY(choose_stream(e, job, err));
    return engine_open_sink(e, job, err);
}

static void *reader_thread(void *context)
{
    Engine *e = context;
    int place;
    engine_watch(e, "reader");
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
            read_image(e, job);
        } else {
            job->err = err;
            job->stage = READING;
        }
        status_say(STATUS_READ, NULL);
        job_leave(e, job);
    }
    pthread_mutex_lock(&e->lock);
    e->readers--;
    pthread_cond_broadcast(&e->frames_moved);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- writers --------------------------------------------------------------------------- */

/* The next result of the job, in order; NULL when it has not come yet, and the job is out of the queue then. */
static Frame *next_result(Engine *e, Job *job)
{
    pthread_mutex_lock(&e->lock);
    Frame *frame = job->results.first;
    bool due = frame != NULL && (frame->number == job->taken || job->err.code != CODE_OK || engine_stopped(e));
    job->queued = due;
    if (due) {
        job->results.first = frame->next;
        job->taken = frame->number + 1;
    }
    pthread_mutex_unlock(&e->lock);
    return due ? frame : NULL;
}

static void write_frame(Engine *e, Frame *frame)
{
    Job *job = frame->job;
    Err err = {0};
    pthread_mutex_lock(&e->lock);
    bool wanted = job->err.code == CODE_OK && !engine_stopped(e);
    pthread_mutex_unlock(&e->lock);
    Phase before = stopwatch_begin(PHASE_ENCODE);
    status_say(STATUS_WRITE, "writing the results of %s", job->item->name);
    wanted = wanted && sink_frame(job->sink, frame->number, frame->results, &err);
    status_say(STATUS_WRITE, NULL);
    stopwatch_end(before);
    if (wanted) {
        engine_show(e, job, (double)(frame->number + 1) / (double)job->frames);
        pthread_mutex_lock(&e->lock);
        job->written++;
        pthread_cond_broadcast(&e->frames_moved);
        pthread_mutex_unlock(&e->lock);
    }
    if (err.code != CODE_OK) {
        pthread_mutex_lock(&e->lock);
        engine_job_fail(e, job, WRITING, &err);
        pthread_mutex_unlock(&e->lock);
    }
}

static Job *take_job(Engine *e)
{
    pthread_mutex_lock(&e->lock);
    while (e->write_first == NULL && !e->device_done) {
        pthread_cond_wait(&e->results, &e->lock);
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
    engine_watch(e, "writer");
    while ((job = take_job(e)) != NULL) {
        for (Frame *frame; (frame = next_result(e, job)) != NULL;) {
            write_frame(e, frame);
            engine_frame_leave(e, frame);
        }
        job_leave(e, job);
    }
    return NULL;
}

/* ---- all threads ----------------------------------------------------------------------- */

/* A thread of each kind for every 2 processors, from 1 to 16 for each device, unless --jobs says otherwise. */
static int choose_jobs(const Options *options, int devices, int images)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int jobs = options->jobs > 0 ? options->jobs : (int)((processors + 1) / 2);
    int most = options->jobs > 0 ? MAX_JOBS : DEFAULT_JOBS * devices;
    most = most < MAX_JOBS ? most : MAX_JOBS;
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
    if (engine_looks_at_all(e)) {
        return e->max_bytes;
    }
    uint64_t device = e->max_bytes;
    for (int i = 0; i < s->n_devices; i++) {
        uint64_t own = s->options->memory > 0 ? s->options->memory : dev_info(s->devices[i].dev)->memory;
        device = own < device ? own : device;
    }
    return (size_t)device;
}

/* Who limits a device that has the host's memory, and does not say what the host may take, means
 * both. */
static bool is_short(const Engine *e)
{
    const Options *o = e->setup->options;
    return o->host == 0 && o->memory > 0 && e->setup->n_devices > 0 && dev_info(e->setup->devices[0].dev)->cpu;
}

/* For pixels that a run in parts comes back to; more go to a temporary file. */
uint64_t engine_store(const Engine *e)
{
    uint64_t half = e->max_bytes / 2 / (uint64_t)e->n_lanes, twice = 2 * e->setup->options->memory;
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
    lanes_run(e);
    join(readers, n_readers);
    join(writers, n_writers);
    if (e->setup->profile != NULL) {
        profile_threads(e->setup->profile, jobs, e->n_lanes, stopwatch_now() - begin);
    }
    return ok;
}

EngineSizes engine_sizes(const Options *options, int devices, int images)
{
    int jobs = choose_jobs(options, devices, images);
    return (EngineSizes){jobs, 2 * jobs + 4 * devices, choose_bytes(options)};
}

/* The memory of frames.  CPU devices copy from any memory alike. */
static bool make_pool(Engine *e, Err *err)
{
    const EngineSetup *s = e->setup;
    e->pinning = calloc((size_t)s->n_devices + 1, sizeof *e->pinning);
    for (int i = 0; e->pinning != NULL && i < s->n_devices; i++) {
        if (!s->devices[i].spare && !dev_info(s->devices[i].dev)->cpu) {
            e->pinning[e->n_pinning++] = s->devices[i].dev;
        }
    }
    bool many = s->list->n >= ENGINE_MANY;
    e->pool = e->pinning != NULL ? host_pool_new(e->max_bytes / 2, many, e->pinning, e->n_pinning) : NULL;
    return e->pool != NULL || err_set(err, CODE_MEMORY, "out of host memory for the inputs");
}

/* Devices, each once. */
static int count_devices(const EngineSetup *setup)
{
    int devices = 0;
    for (int i = 0; i < setup->n_devices; i++) {
        devices += !setup->devices[i].spare;
    }
    return devices > 0 ? devices : 1;
}

bool engine_run(const EngineSetup *setup, ImageFate *fates, Err *err)
{
    const EngineSizes sizes = engine_sizes(setup->options, count_devices(setup), setup->list->n);
    int lanes = setup->n_devices > 0 ? setup->n_devices : 1, more = lanes - 2 * count_devices(setup);
    Engine e = {.setup = setup,
                .program = setup->program,
                .fates = fates,
                .n_lanes = lanes,
                .max_frames = sizes.frames + (more > 0 ? 2 * more : 0),
                .max_bytes = sizes.bytes};
    e.whole = choose_whole(&e);
    e.stream = e.max_bytes / 4 < STREAM_MAX ? e.max_bytes / 4 : STREAM_MAX;
    e.behind = is_short(&e) || e.max_bytes / 16 < e.stream ? e.stream : e.max_bytes / 16;
    e.keep = is_short(&e) ? e.stream : e.max_bytes / 4;
    pthread_mutex_init(&e.lock, NULL);
    pthread_mutex_init(&e.hooks, NULL);
    pthread_cond_init(&e.room, NULL);
    pthread_cond_init(&e.frames_moved, NULL);
    pthread_cond_init(&e.results, NULL);
    bool ok =
        make_pool(&e, err) && volume_cache_init(&e.cache, e.program->n_inputs, e.pool, err) && lanes_open(&e, err);
    ok = ok && run_threads(&e, sizes.jobs, err);
    if (ok && e.fatal.code != CODE_OK) {
        *err = e.fatal;
        ok = false;
    }
    lanes_close(&e);
    volume_cache_free(&e.cache);
    host_pool_free(e.pool);
    free(e.pinning);
    pthread_cond_destroy(&e.results);
    pthread_cond_destroy(&e.frames_moved);
    pthread_cond_destroy(&e.room);
    pthread_mutex_destroy(&e.hooks);
    pthread_mutex_destroy(&e.lock);
    return ok;
}
