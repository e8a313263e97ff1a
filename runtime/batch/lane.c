/*
 * lane: one thread for each device, which takes the frame that comes first, whichever image it is of.
 *
 * Frames of one image may be computed in any order, and are written in theirs.  Those that go through the device row by
 * row (stream.h) use the files or the sink of their image meanwhile: they are taken one at a time, in order.
 *
 * A lane closes when its device fails, and gives the frame back, as long as another lane is open: the last one is where
 * failures count.  A spare lane, the second on its device, also closes where memory is short: it is there to use the
 * device while the first one waits for the bus or the host, and only for frames that fit beside others.  A frame that a
 * device has no memory for goes to one that has; it fails when no lane is left that could have it.
 */
#include "engine_state.h"

#include "../../base/stack.h"
#include "../host/signals.h"
#include "../host/status.h"
#include "../host/stopwatch.h"
#include "../host/owners_threads.h"
#include "together.h"

#include <stdlib.h>

struct Lane {
    Engine *engine;
    Device *dev; /* NULL: the evaluator */
    Exec *exec;  /* NULL: the evaluator, and once it is closed */
    bool spare, started;
    bool closed; /* with the engine's lock */
    bool pins;   /* memory can be pinned for the device */
    pthread_t thread;
    ExecInput *bound;  /* by input */
    Volume **uploaded; /* by input: what the device holds; NULL: nothing to rely on */
    const void **seen; /* by input: the frame's pixels, as hooks see them */
};

/* What became of a frame: handed to writers, or dropped with or without a failure; or others have to do it, and the lane
 * goes on, or does not. */
typedef enum Outcome { COMPUTED, DROPPED, LATER, CLOSES } Outcome;

/* ---- inputs ---------------------------------------------------------------------------- */

static void forget_uploads(Lane *lane)
{
    for (int i = 0; lane->uploaded != NULL && i < lane->engine->program->n_inputs; i++) {
        volume_release(lane->uploaded[i]);
        lane->uploaded[i] = NULL;
    }
}

static bool upload(Lane *lane, int input, Volume *v, Err *err)
{
    const int64_t *extent = v->like.extent;
    size_t row = (size_t)extent[0] * elem_size(v->like.elem), plane = row * (size_t)extent[1];
    int64_t first = v->channel >= 0 ? v->channel : 0, channels = v->channel >= 0 ? 1 : extent[3];
    if (lane->uploaded[input] == v && exec_keeps(lane->exec, input)) {
        return true;
    }
    volume_release(lane->uploaded[input]);
    lane->uploaded[input] = NULL;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t z = 0; z < extent[2]; z++) {
            const char *from = (const char *)v->pixels + (size_t)(c * extent[2] + z) * plane;
            TRY(exec_upload(lane->exec, input, first + c, z, 0, extent[1], from, row, err));
        }
    }
    lane->uploaded[input] = volume_keep(v);
    return true;
}

/* Asks spare lanes to close, and waits until they have; false when there was none. */
static bool make_room(Lane *lane)
{
    Engine *e = lane->engine;
    pthread_mutex_lock(&e->lock);
    bool any = !lane->spare && e->spare > 0;
    e->make_way = true;
    pthread_cond_broadcast(&e->frames_moved);
    while (any && e->spare > 0) {
        pthread_cond_wait(&e->frames_moved, &e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return any;
}

static bool bind(Lane *lane, Frame *frame, Err *err)
{
    const Engine *e = lane->engine;
    const ExecInput *inputs = reader_inputs(frame->job->reader);
    bool same = exec_bound(lane->exec) != NULL;
    for (int i = 0; i < e->program->n_inputs; i++) {
        same = same && exec_same_input(e->program, &inputs[i], &lane->bound[i]);
        lane->bound[i] = inputs[i];
    }
    if (!same) {
        forget_uploads(lane);
    }
    exec_set_images(lane->exec, (uint64_t)e->setup->list->n * (uint64_t)frame->job->frames);
    if (exec_bind(lane->exec, inputs, e->setup->options->params, err)) {
        return true;
    }
    if (err->code != CODE_MEMORY || !make_room(lane)) {
        return false;
    }
    err_clear(err);
    return exec_bind(lane->exec, inputs, e->setup->options->params, err);
}

/* ---- hooks ----------------------------------------------------------------------------- */

/* What went into a frame, as hooks see it. */
static RtFrame what_went_in(const Lane *lane, const Frame *frame)
{
    const Engine *e = lane->engine;
    for (int i = 0; i < e->program->n_inputs; i++) {
        lane->seen[i] = frame->volumes[i]->pixels;
    }
    return (RtFrame){.image = frame->job->item->name,
                     .number = frame->number,
                     .inputs = reader_inputs(frame->job->reader),
                     .pixels = lane->seen,
                     .params = e->setup->options->params};
}

static void add_results(RtFrame *view, const Results *r)
{
    view->grids = r->grids;
    view->elems = r->elems;
    view->values = r->values;
    view->tables = r->tables;
}

static bool check(Lane *lane, const Frame *frame, Err *err)
{
    Engine *e = lane->engine;
    if (!e->setup->options->check) {
        return true;
    }
    RtFrame view = what_went_in(lane, frame);
    add_results(&view, frame->results);
    view.images = (const void *const *)frame->results->images;
    pthread_mutex_lock(&e->hooks);
    bool ok = e->setup->hooks->check(e->setup->hooks->context, &view, err);
    pthread_mutex_unlock(&e->hooks);
    return ok;
}

static void let_see(Engine *e, const Frame *frame)
{
    const RtHooks *hooks = e->setup->hooks;
    if (hooks != NULL && hooks->seen != NULL) {
        RtFrame view = {.image = frame->job->item->name, .number = frame->number, .params = e->setup->options->params};
        add_results(&view, frame->results);
        pthread_mutex_lock(&e->hooks);
        hooks->seen(hooks->context, &view);
        pthread_mutex_unlock(&e->hooks);
    }
}

/* ---- a frame on the device --------------------------------------------------------------- */

/* Without a device: the compiler's evaluator computes the frame. */
static bool run_reference(Lane *lane, Frame *frame, Err *err)
{
    const RtHooks *hooks = lane->engine->setup->hooks;
    RtFrame view = what_went_in(lane, frame);
    TRY(results_new(lane->engine->program, &frame->results, err));
    return hooks->reference(hooks->context, &view, frame->results, err);
}

static bool upload_all(Lane *lane, Frame *frame, Err *err)
{
    const Engine *e = lane->engine;
    for (int i = 0; i < e->program->n_inputs; i++) {
        TRY(upload(lane, i, frame->volumes[i], err));
    }
    return results_begin(lane->exec, e->program, e->pool, lane->dev, &frame->results, err);
}

static bool compute(Lane *lane, Frame *frame, Err *err)
{
    (void)frame;
    return exec_run(lane->exec, err);
}

/* Frames of one stack of labels have 16 bits, or 32, all of them; and who looks at results has them as the device does. */
static bool may_narrow(const Lane *lane, const Job *job)
{
    return job->frames == 1 && !engine_looks_at_all(lane->engine);
}

static bool download_all(Lane *lane, Frame *frame, Err *err)
{
    TRY(results_finish(lane->exec, frame->results, err));
    TRY(!may_narrow(lane, frame->job) || results_narrow(lane->exec, frame->results, err));
    return results_download(lane->exec, frame->results, err);
}

static bool in_phase(Phase phase, bool (*work)(Lane *, Frame *, Err *), Lane *lane, Frame *frame, Err *err)
{
    Phase before = stopwatch_begin(phase);
    bool ok = work(lane, frame, err);
    stopwatch_end(before);
    return ok;
}

static bool run_whole(Lane *lane, Frame *frame, Err *err)
{
    return in_phase(PHASE_UPLOAD, upload_all, lane, frame, err) && in_phase(PHASE_COMPUTE, compute, lane, frame, err) &&
           in_phase(PHASE_DOWNLOAD, download_all, lane, frame, err);
}

/* Waits until the frames before this one are written; false: it is not wanted any more. */
static bool wait_for_sink(Engine *e, const Frame *frame)
{
    const Job *job = frame->job;
    pthread_mutex_lock(&e->lock);
    while (!engine_stopped(e) && job->err.code == CODE_OK && job->written < frame->number) {
        pthread_cond_wait(&e->frames_moved, &e->lock);
    }
    bool wanted = !engine_stopped(e) && job->err.code == CODE_OK;
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
    engine_show(shown->engine, job, ((double)shown->frame->number + part) / (double)job->frames);
}

/* Results that are too large to be held go to the sink row by row; --check needs them all. */
static bool collects(const Lane *lane, const Job *job)
{
    const Engine *e = lane->engine;
    return engine_looks_at_all(e) || results_image_bytes(lane->exec, e->program) <= engine_most_held(e, job);
}

static bool run_stream(Lane *lane, Frame *frame, Err *err)
{
    Engine *e = lane->engine;
    bool collect = collects(lane, frame->job);
    Shown shown = {e, frame};
    StreamSetup setup = {.program = e->program,
                         .dev = lane->dev,
                         .exec = lane->exec,
                         .reader = frame->job->reader,
                         .frame = frame->number,
                         .volumes = frame->volumes,
                         .sink = frame->job->sink,
                         .bytes = e->stream,
                         .behind = e->behind,
                         .keep = e->keep,
                         .narrow = may_narrow(lane, frame->job),
                         .progress = show_stream,
                         .context = &shown};
    forget_uploads(lane);
    TRY(results_begin(lane->exec, e->program, collect ? e->pool : NULL, lane->dev, &frame->results, err));
    frame->spilled = !collect;
    return (collect || wait_for_sink(e, frame)) && stream_run(&setup, frame->results, err);
}

/* Whether the frame may go through the device row by row now: those of its image before it have, and the lane is no
 * spare one. */
static bool may_stream(Lane *lane, Frame *frame)
{
    Engine *e = lane->engine;
    pthread_mutex_lock(&e->lock);
    frame->job->serial = true;
    bool may = frame->job->computed == frame->number && (!lane->spare || e->open == 1);
    frame->later = !may;
    pthread_mutex_unlock(&e->lock);
    return may;
}

static bool profile(const Lane *lane, const Frame *frame, Err *err)
{
    Engine *e = lane->engine;
    if (e->setup->profile == NULL) {
        return true;
    }
    pthread_mutex_lock(&e->hooks);
    bool ok = profile_collect(e->setup->profile, lane->dev, exec_bound(lane->exec), frame->job->item->name, err);
    pthread_mutex_unlock(&e->hooks);
    return ok;
}

/* ---- a frame on several devices ------------------------------------------------------------ */

enum { LARGE = 256 << 20 /* bytes of pixels that are worth all devices, where one could hold them */ };

/* What helpers wait for. */
typedef enum Start { START_WAIT, START_GO, START_NOT } Start;

typedef struct Helper {
    Engine *engine;
    Share share;
    pthread_t thread;
    const Start *start; /* with the engine's lock */
} Helper;

/* All owners of a frame; the lane that has it is the first. */
typedef struct Help {
    Owners *owners;
    OwnersThreads *threads;
    Helper *helpers;
    int n;
    Start start;
} Help;

static void *help(void *context)
{
    Err err = {0};
    const Helper *helper = context;
    Engine *e = helper->engine;
    pthread_mutex_lock(&e->lock);
    while (*helper->start == START_WAIT) {
        pthread_cond_wait(&e->frames_moved, &e->lock);
    }
    bool go = *helper->start == START_GO;
    pthread_mutex_unlock(&e->lock);
    if (go) {
        engine_watch(e, "device");
        (void)together_share(&helper->share, &err); /* the first owner says what went wrong */
        stopwatch_use(NULL, NULL);
    }
    return NULL;
}

/* The only frame of the run, so that all other lanes wait; and so large that a share of it is worth a device. */
static bool is_for_all(const Lane *lane, const Frame *frame)
{
    const Engine *e = lane->engine;
    const Job *job = frame->job;
    bool alone = e->setup->list->n == 1 && job->frames == 1 && !lane->spare && !engine_looks_at_all(e);
    return alone && e->open - e->spare > 1 && (exec_in_parts(lane->exec) || reader_frame_bytes(job->reader) >= LARGE);
}

/* Lanes that wait. */
static void find_helpers(const Lane *lane, const Frame *frame, Help *h)
{
    Engine *e = lane->engine;
    pthread_mutex_lock(&e->lock);
    for (int i = 0; i < e->n_lanes; i++) {
        const Lane *other = &e->lanes[i];
        if (other != lane && !other->spare && other->exec != NULL) {
            Share share = {.program = e->program,
                           .options = e->setup->options,
                           .item = frame->job->item,
                           .cache = &e->cache,
                           .dev = other->dev,
                           .exec = other->exec,
                           .owners = &h->owners[h->n + 1],
                           .inputs = reader_inputs(frame->job->reader),
                           .frame = frame->number,
                           .volumes = frame->volumes,
                           .bytes = e->stream,
                           .keep = e->keep};
            h->helpers[h->n++] = (Helper){.engine = e, .start = &h->start, .share = share};
        }
    }
    pthread_mutex_unlock(&e->lock);
}

/* All start, or none does. */
static bool start_helpers(Engine *e, Help *h, Err *err)
{
    int started = 0;
    while (started < h->n && stack_thread(&h->helpers[started].thread, STACK_DEEP, help, &h->helpers[started])) {
        started++;
    }
    pthread_mutex_lock(&e->lock);
    h->start = started == h->n ? START_GO : START_NOT;
    pthread_cond_broadcast(&e->frames_moved);
    pthread_mutex_unlock(&e->lock);
    for (int i = 0; started < h->n && i < started; i++) {
        pthread_join(h->helpers[i].thread, NULL);
    }
    return started == h->n || err_set(err, CODE_MEMORY, "cannot start a thread");
}

/* The first owner's share, which has the results. */
static bool run_share(Lane *lane, Frame *frame, Owners *owners, Err *err)
{
    bool together;
    const ExecInput *inputs = reader_inputs(frame->job->reader);
    TRY(together_bind(lane->exec, inputs, lane->engine->setup->options->params, owners, &together, err));
    if (!together) {
        exec_set_owners(lane->exec, NULL);
        TRY(exec_bind(lane->exec, inputs, lane->engine->setup->options->params, err));
    }
    bool ok = may_stream(lane, frame) && run_stream(lane, frame, err) &&
              (!together || together_join(owners, frame->job->sink, err));
    if (!ok && together) {
        owners_fail(owners, err);
    }
    const char *alone = ok && together ? exec_alone(lane->exec) : NULL;
    if (alone != NULL) {
        notes_add(lane->engine->setup->notes, "not every step is shared out", frame->job->item->name,
                  "'%s' is not shared out: each device does all of it", alone);
    }
    return ok;
}

/* The same with processes, which wait to be told of it. */
static bool run_with_ranks(Lane *lane, Frame *frame, Err *err)
{
    Owners *ranks = lane->engine->setup->ranks;
    return may_stream(lane, frame) && together_call(ranks, frame->number, err) && run_share(lane, frame, ranks, err);
}

static bool run_together(Lane *lane, Frame *frame, Err *err)
{
    Engine *e = lane->engine;
    size_t lanes = (size_t)e->n_lanes;
    Help h = {.owners = calloc(lanes, sizeof *h.owners), .helpers = calloc(lanes, sizeof *h.helpers)};
    bool ok =
        (h.owners != NULL && h.helpers != NULL) || err_set(err, CODE_MEMORY, "out of host memory for the devices");
    if (ok) {
        find_helpers(lane, frame, &h);
    }
    ok = ok && owners_threads_new(h.n + 1, h.owners, &h.threads, err) && start_helpers(e, &h, err);
    if (ok) {
        ok = run_share(lane, frame, &h.owners[0], err);
        for (int i = 0; i < h.n; i++) {
            pthread_join(h.helpers[i].thread, NULL);
            exec_set_owners(h.helpers[i].share.exec, NULL);
        }
    }
    owners_threads_free(h.threads);
    free(h.owners);
    free(h.helpers);
    return ok;
}

/* False without a failure: later, or it is not wanted any more. */
static bool run_frame(Lane *lane, Frame *frame, Err *err)
{
    if (lane->dev == NULL) {
        return run_reference(lane, frame, err);
    }
    bool ranks = lane->engine->setup->ranks != NULL;
    status_say(STATUS_DEVICE, "planning for %s", frame->job->item->name);
    TRY(ranks || in_phase(PHASE_PREPARE, bind, lane, frame, err));
    status_say(STATUS_DEVICE, NULL);
    if (ranks || is_for_all(lane, frame)) {
        bool ok = in_phase(PHASE_COMPUTE, ranks ? run_with_ranks : run_together, lane, frame, err) &&
                  profile(lane, frame, err);
        exec_set_owners(lane->exec, NULL);
        return ok;
    }
    bool stream = frame->job->streams || !collects(lane, frame->job) || exec_in_parts(lane->exec);
    if (stream) {
        TRY(may_stream(lane, frame) && in_phase(PHASE_COMPUTE, run_stream, lane, frame, err));
    } else {
        TRY(run_whole(lane, frame, err));
    }
    return profile(lane, frame, err) && check(lane, frame, err);
}

/* ---- frames that come and go --------------------------------------------------------------- */

/* Inputs are no longer needed; results are held now. */
static void recount(Engine *e, Frame *frame)
{
    for (int i = 0; i < e->program->n_inputs; i++) {
        volume_release(frame->volumes[i]);
        frame->volumes[i] = NULL;
    }
    if (frame->results->bytes < frame->bytes) {
        pthread_cond_broadcast(&e->room);
    }
    e->bytes = e->bytes - frame->bytes + frame->results->bytes;
    frame->bytes = frame->results->bytes;
}

static void hand_to_writers(Engine *e, Frame *frame)
{
    pthread_mutex_lock(&e->lock);
    recount(e, frame);
    frame->job->computed++;
    frame_insert(&frame->job->results, frame);
    engine_queue(e, frame->job);
    pthread_mutex_unlock(&e->lock);
}

/* A frame that is not wanted any more; results behind it need not wait for it. */
static void drop(Engine *e, Frame *frame, const Err *err)
{
    pthread_mutex_lock(&e->lock);
    if (err->code != CODE_OK) {
        engine_job_fail(e, frame->job, "computing", err);
    }
    engine_queue(e, frame->job);
    pthread_mutex_unlock(&e->lock);
    engine_frame_leave(e, frame);
}

/* As it was when it was taken; false: that cannot be. */
static bool restore(const Engine *e, Frame *frame)
{
    Err err = {0};
    Job *job = frame->job;
    results_free(frame->results);
    frame->results = NULL;
    if (frame->spilled && job->frames == 1) {
        sink_free(job->sink);
        job->sink = NULL;
        frame->spilled = !engine_open_sink(e, job, &err);
    }
    return !frame->spilled;
}

/* Whether a lane that is open may have memory for the frame; called with the lock. */
static bool any_may_hold(const Engine *e, const Frame *frame)
{
    bool any = false;
    for (int i = 0; i < e->n_lanes; i++) {
        any = any || !(e->lanes[i].closed || e->lanes[i].spare || (frame->lacked != NULL && frame->lacked[i]));
    }
    return any;
}

/* The lane's device has no memory for the frame; true: another's may have. */
static bool lacks(const Lane *lane, Frame *frame)
{
    const Engine *e = lane->engine;
    frame->lacked = frame->lacked != NULL ? frame->lacked : calloc((size_t)e->n_lanes, sizeof *frame->lacked);
    for (int i = 0; frame->lacked != NULL && i < e->n_lanes; i++) {
        frame->lacked[i] = frame->lacked[i] || e->lanes[i].dev == NULL || lane->dev == NULL ||
                           dev_info(e->lanes[i].dev)->number == dev_info(lane->dev)->number;
    }
    return frame->lacked != NULL && any_may_hold(e, frame);
}

/* Whether another lane has to do the frame, which failed so, or did not even that. */
static Outcome judge(const Lane *lane, Frame *frame, bool wanted, const Err *err)
{
    Engine *e = lane->engine;
    bool later = frame->later, memory = err->code == CODE_MEMORY;
    pthread_mutex_lock(&e->lock);
    bool others = e->open > 1, stop = engine_stopped(e) || frame->job->err.code != CODE_OK;
    later = later || (memory && !lane->spare && lacks(lane, frame));
    pthread_mutex_unlock(&e->lock);
    bool closes = err->code == CODE_DEVICE || (lane->spare && (memory || frame->later));
    frame->later = false;
    return !wanted || stop || !others ? DROPPED : closes ? CLOSES : later ? LATER : DROPPED;
}

static void give_back(Engine *e, Frame *frame)
{
    pthread_mutex_lock(&e->lock);
    frame_insert(&e->ready, frame);
    pthread_cond_broadcast(&e->frames_moved);
    pthread_mutex_unlock(&e->lock);
}

/* May the lane have it now, to run or to drop it?  One that has no memory for it leaves it to others, as long as there
 * are any. */
static bool is_due(const Lane *lane, const Frame *frame)
{
    Engine *e = lane->engine;
    const Job *job = frame->job;
    bool left = frame->lacked != NULL && frame->lacked[lane - e->lanes] && any_may_hold(e, frame);
    return job->err.code != CODE_OK || engine_stopped(e) || (!left && (!job->serial || job->computed == frame->number));
}

/* Whether some pixels of the frame are pinned for another device: these come over the bus at a fraction of its speed. */
static bool is_elsewhere(const Lane *lane, const Frame *frame)
{
    bool elsewhere = false;
    for (int i = 0; lane->dev != NULL && i < lane->engine->program->n_inputs; i++) {
        int device = frame->volumes[i] != NULL ? frame->volumes[i]->device : -1;
        elsewhere = elsewhere || (device >= 0 && device != dev_info(lane->dev)->number);
    }
    return elsewhere;
}

/* The first frame that is due, and rather one that is not pinned for another device; NULL: none. */
static Frame *first_due(const Lane *lane)
{
    Engine *e = lane->engine;
    Frame *before = NULL, *frame = NULL;
    for (Frame *f = e->ready.first, *last = NULL; f != NULL; last = f, f = f->next) {
        bool here = is_due(lane, f) && !is_elsewhere(lane, f);
        if (here || (frame == NULL && is_due(lane, f))) {
            frame = f;
            before = last;
        }
        if (here) {
            break;
        }
    }
    if (frame != NULL) {
        *(before == NULL ? &e->ready.first : &before->next) = frame->next;
        e->ready.last = e->ready.last == frame ? before : e->ready.last;
    }
    return frame;
}

/* The next frame; NULL when the lane is to close.  *wanted: run it, else drop it. */
static Frame *take_frame(Lane *lane, bool *wanted)
{
    Engine *e = lane->engine;
    Frame *frame = NULL;
    pthread_mutex_lock(&e->lock);
    while (!(lane->spare && e->make_way) && (frame = first_due(lane)) == NULL &&
           (e->readers > 0 || e->working > 0 || e->ready.first != NULL)) {
        pthread_cond_wait(&e->frames_moved, &e->lock);
    }
    *wanted = frame != NULL && !engine_stopped(e) && frame->job->err.code == CODE_OK;
    e->working += frame != NULL;
    pthread_mutex_unlock(&e->lock);
    return frame;
}

static void end_work(Engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->working--;
    pthread_cond_broadcast(&e->frames_moved);
    pthread_mutex_unlock(&e->lock);
}

/* Why a lane closes that is no spare one. */
static void tell(const Lane *lane, const Err *err)
{
    if (err->code == CODE_DEVICE) {
        notes_add(lane->engine->setup->notes, "a device has failed, and others do its images",
                  dev_info(lane->dev)->name, "%s; its images are done by other devices", err->text);
    }
}

/* Runs one frame to its end. */
static Outcome work_on(Lane *lane, Frame *frame, bool wanted)
{
    Engine *e = lane->engine;
    Err err = {0};
    if (wanted && run_frame(lane, frame, &err)) {
        let_see(e, frame);
        hand_to_writers(e, frame);
        return COMPUTED;
    }
    if (err.code != CODE_OK) {
        forget_uploads(lane);
    }
    Outcome outcome = judge(lane, frame, wanted, &err);
    if (outcome == DROPPED) {
        drop(e, frame, &err);
        return DROPPED;
    }
    if (outcome == CLOSES) {
        tell(lane, &err);
    }
    if (restore(e, frame)) {
        give_back(e, frame);
    } else {
        err.code = CODE_FILES; /* of this image alone */
        drop(e, frame, &err);
    }
    return outcome;
}

static void close_lane(Lane *lane)
{
    Engine *e = lane->engine;
    forget_uploads(lane);
    exec_free(lane->exec);
    lane->exec = NULL;
    pthread_mutex_lock(&e->lock);
    lane->closed = true;
    e->open--;
    e->spare -= lane->spare;
    e->device_done = e->open == 0;
    pthread_cond_broadcast(&e->frames_moved);
    pthread_cond_broadcast(&e->results);
    pthread_mutex_unlock(&e->lock);
}

static void *lane_thread(void *context)
{
    Lane *lane = context;
    Engine *e = lane->engine;
    Outcome outcome = COMPUTED;
    bool wanted;
    engine_watch(e, "device");
    for (Frame *frame; outcome != CLOSES && (frame = take_frame(lane, &wanted)) != NULL;) {
        lane->pins = lane->pins && host_pool_pin(e->pool, lane->dev);
        outcome = work_on(lane, frame, wanted);
        end_work(e);
    }
    close_lane(lane);
    stopwatch_use(NULL, NULL);
    return NULL;
}

/* ---- all lanes --------------------------------------------------------------------------- */

static bool interrupted(void *nothing)
{
    (void)nothing;
    return signals_interrupted();
}

static bool lane_open(Lane *lane, Err *err)
{
    const Engine *e = lane->engine;
    size_t inputs = (size_t)e->program->n_inputs + 1;
    lane->bound = calloc(inputs, sizeof *lane->bound);
    lane->uploaded = calloc(inputs, sizeof *lane->uploaded);
    lane->seen = calloc(inputs, sizeof *lane->seen);
    if (lane->bound == NULL || lane->uploaded == NULL || lane->seen == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for the inputs");
    }
    TRY(exec_new(e->program, lane->dev, &lane->exec, err));
    exec_set_stop(lane->exec, interrupted, NULL);
    exec_set_narrows(lane->exec);
    exec_set_host_memory(lane->exec, engine_store(e));
    return true;
}

bool lanes_open(Engine *e, Err *err)
{
    const EngineSetup *s = e->setup;
    e->lanes = calloc((size_t)e->n_lanes, sizeof *e->lanes);
    if (e->lanes == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for the devices");
    }
    for (int i = 0; i < e->n_lanes; i++) {
        Lane *lane = &e->lanes[i];
        *lane = (Lane){.engine = e};
        if (i < s->n_devices) {
            lane->dev = s->devices[i].dev;
            lane->spare = s->devices[i].spare;
            lane->pins = true;
        }
        TRY(lane_open(lane, err));
    }
    return true;
}

/* A lane whose thread cannot be started leaves its frames to the others. */
void lanes_run(Engine *e)
{
    e->open = e->n_lanes;
    for (int i = 1; i < e->n_lanes; i++) {
        e->spare += e->lanes[i].spare;
    }
    for (int i = 1; i < e->n_lanes; i++) {
        Lane *lane = &e->lanes[i];
        lane->started = stack_thread(&lane->thread, STACK_DEEP, lane_thread, lane);
        if (!lane->started) {
            close_lane(lane);
        }
    }
    (void)lane_thread(&e->lanes[0]);
    for (int i = 1; i < e->n_lanes; i++) {
        if (e->lanes[i].started) {
            pthread_join(e->lanes[i].thread, NULL);
        }
    }
}

void lanes_close(Engine *e)
{
    for (int i = 0; e->lanes != NULL && i < e->n_lanes; i++) {
        Lane *lane = &e->lanes[i];
        if (lane->engine != NULL) {
            forget_uploads(lane);
            exec_free(lane->exec);
            free(lane->bound);
            free(lane->uploaded);
            free(lane->seen);
        }
    }
    free(e->lanes);
}
