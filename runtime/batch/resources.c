/*
 * resources: the plan of each image, and the engine's bounds.
 *
 * Memory is exact: the peak of the plan with what a GPU's driver takes beside it, and the frames that the engine has under
 * way at most.  What tracks need follows from the objects that there are, which nobody knows yet.  Time is a guess, by bytes: it is for asking a cluster's queue, which wants to know the order of magnitude.
 */
#include "resources.h"

#include "../exec/shape.h"
#include "../exec/exec_fit.h"
#include "../exec/parts.h"
#include "engine.h"
#include "reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The process beside its pixels: its own text, the driver and its compiler (docs/cluster.md). */
static const uint64_t PROCESS = (uint64_t)768 << 20;
/* Bytes a second: a device's memory, the bus, files read and written by one thread, with their coding. */
static const double DEVICE_RATE = 4e11, BUS_RATE = 1e10, READ_RATE = 1e9, WRITE_RATE = 5e7;
/* Of objects that are tracked: pixels of one, and what it takes with the four that it may be linked to (base/track.c). */
static const uint64_t OBJECT_PIXELS = 100, OBJECT_BYTES = 90 + 4 * 24;
static const double START_SECONDS = 5, FRAME_SECONDS = 2e-4;

/* One image: what a frame takes, and how many there are. */
typedef struct Share {
    uint64_t in, out, kept, tracks;
    int64_t frames;
    bool labels; /* some output waits in a temporary file until all frames are known */
    double traffic;
} Share;

static uint64_t pages(uint64_t bytes)
{
    return (bytes + 4096) / 4096 * 4096;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Images that a frame gives, and labels among them. */
static void add_outputs(const ExecPlan *plan, Share *share)
{
    const Program *p = plan->program;
    for (int i = 0; i < p->n_outputs; i++) {
        int buffer = p->outputs[i].buffer, grid = buffer >= 0 ? p->buffers[buffer].grid : -1;
        bool image = p->outputs[i].kind != OUT_TABLE && p->outputs[i].kind != OUT_VALUE;
        if (image && grid >= 0) {
            const ExecGrid *g = &plan->grids[grid];
            share->out +=
                pages((uint64_t)g->w * (uint64_t)g->h * (uint64_t)g->planes * elem_size(plan->buffers[buffer].elem));
            share->labels = share->labels || p->outputs[i].kind == OUT_LABELS;
        }
    }
}

static uint64_t most_pixels(const ExecPlan *plan)
{
    uint64_t most = 0;
    for (int i = 0; i < plan->program->n_grids; i++) {
        const ExecGrid *g = &plan->grids[i];
        most = most_of(most, (uint64_t)g->w * (uint64_t)g->h * (uint64_t)g->planes);
    }
    return most;
}

/* What a run moves on the device, and keeps on the host for later parts. */
static void add_work(const ExecPlan *plan, Share *share)
{
    const Program *p = plan->program;
    double rounds = 1;
    for (int s = 0; s < p->n_steps; s++) {
        const ExecStep *step = &plan->steps[s];
        rounds = p->steps[s].kind == STEP_LOOP ? fmax(step->rounds, 1) : p->steps[s].kind == STEP_END ? 1 : rounds;
        share->traffic += rounds * (double)step->traffic;
        if (p->steps[s].kind == STEP_PRIMITIVE && strcmp(p->steps[s].primitive, "track") == 0) {
            share->tracks = most_pixels(plan) / OBJECT_PIXELS * OBJECT_BYTES;
        }
    }
    for (int i = 0; plan->parts != NULL && i < p->n_buffers; i++) {
        share->kept += plan->parts->kept[i] ? plan->buffers[i].bytes : 0;
    }
}

static bool plan_image(const Program *program, const Options *options, const ExecInput *inputs, Share *share,
                       Resources *out, Err *err)
{
    ExecTarget target = exec_target(NULL);
    ExecPlan *plan;
    target.limit = options->memory;
    TRY(exec_plan_new(program, &target, inputs, options->params, &plan, err));
    const uint64_t one = options->memory > 0 ? options->memory : exec_limit_for(plan, &target, plan->peak);
    out->device = most_of(out->device, one);
    out->both = most_of(out->both, options->memory > 0 ? one : one + plan->peak);
    out->parts = out->parts || plan->parts != NULL;
    add_outputs(plan, share);
    add_work(plan, share);
    exec_plan_free(plan);
    target.limit = 0;
    out->least = most_of(out->least, exec_plan_least(program, &target, inputs, options->params));
    return true;
}

/* Frames of all images, and the largest ones. */
typedef struct Sum {
    Share largest; /* frames: of all images */
    double seconds;
} Sum;

static void add_share(Sum *sum, const Share *share, const EngineSizes *sizes, Resources *out)
{
    Share *l = &sum->largest;
    double frames = (double)share->frames, bytes = (double)(share->in + share->out);
    double device = FRAME_SECONDS + share->traffic / DEVICE_RATE + bytes / BUS_RATE;
    double host = ((double)share->in / READ_RATE + (double)share->out / WRITE_RATE) / sizes->jobs;
    sum->seconds += frames * fmax(device, host);
    l->in = most_of(l->in, share->in);
    l->out = most_of(l->out, share->out);
    l->kept = most_of(l->kept, share->kept);
    l->tracks = most_of(l->tracks, share->tracks);
    l->frames += share->frames;
    out->outputs += (uint64_t)share->frames * share->out;
    if (share->labels && share->frames > 1) {
        out->scratch = most_of(out->scratch, (uint64_t)share->frames * share->out);
    }
}

/* The engine holds so many frames, each before or behind the device; one is on it, with both.  Frames that are longer go
 * through it as rows, with as much memory as they may have. */
static void finish(const Sum *sum, const Options *options, const EngineSizes *sizes, Resources *out)
{
    out->outputs += options->pyramid ? (out->outputs + 2) / 3 : 0; /* a quarter of the level before, again and again */
    const Share *l = &sum->largest;
    uint64_t frames = (uint64_t)l->frames < (uint64_t)sizes->frames ? (uint64_t)l->frames : (uint64_t)sizes->frames;
    uint64_t all = frames * most_of(l->in, l->out) + (l->in < l->out ? l->in : l->out) + l->kept;
    out->pixels = all < sizes->bytes ? all : sizes->bytes;
    const bool cpu = options->device != NULL && strncmp(options->device, "cpu", 3) == 0;
    out->both = cpu || out->images < ENGINE_MANY ? out->device : out->both;
    out->tracks = l->tracks * (out->both > out->device ? 2 : 1);
    out->host = out->pixels + out->pixels / 2 + out->tracks + PROCESS; /* half as much is kept for the next frames */
    out->host += cpu ? out->device : 0;                                /* which is the host's */
    out->threads = 2 * sizes->jobs + 1;
    out->scratch += l->kept > sizes->bytes / 2 ? l->kept - sizes->bytes / 2 : 0;
    out->seconds = START_SECONDS + sum->seconds;
}

static bool of_shape(const Program *program, const Options *options, Sum *sum, Resources *out, Err *err)
{
    ExecInput *inputs = calloc((size_t)program->n_inputs + 1, sizeof *inputs);
    Share share = {.frames = 1};
    bool ok = (inputs != NULL || err_set(err, CODE_MEMORY, "out of memory")) &&
              shape_parse(program, options->shape, inputs, err) &&
              plan_image(program, options, inputs, &share, out, err);
    for (int i = 0; ok && i < program->n_inputs; i++) {
        const int64_t *e = inputs[i].extent;
        share.in += pages((uint64_t)(e[0] * e[1] * e[2] * e[3]) * elem_size(inputs[i].elem));
    }
    const EngineSizes sizes = engine_sizes(options, 1, 1);
    add_share(sum, &share, &sizes, out);
    free(inputs);
    out->images = 1;
    return ok;
}

/* Most images of a folder are alike: the one that was planned last, and what it takes. */
typedef struct Last {
    ExecInput *inputs; /* NULL: none was */
    Share share;
} Last;

static bool of_image(const Program *program, const Options *options, const BatchItem *item, VolumeCache *cache,
                     Last *last, Resources *out, Err *err)
{
    Reader *reader;
    size_t bytes = (size_t)program->n_inputs * sizeof(ExecInput);
    TRY(reader_open(program, item, options, false, cache, &reader, err));
    const ExecInput *inputs = reader_inputs(reader);
    bool ok = true;
    if (last->inputs == NULL || memcmp(last->inputs, inputs, bytes) != 0) {
        free(last->inputs);
        *last = (Last){.inputs = malloc(bytes + 1), .share = {.in = pages(reader_frame_bytes(reader))}};
        ok = last->inputs != NULL || err_set(err, CODE_MEMORY, "out of memory");
        ok = ok && plan_image(program, options, inputs, &last->share, out, err);
        if (ok) {
            memcpy(last->inputs, inputs, bytes);
        } else {
            free(last->inputs);
            last->inputs = NULL;
        }
    }
    last->share.frames = reader_frames(reader)->n;
    reader_close(reader);
    return ok;
}

static bool of_images(const Program *program, const Options *options, const BatchList *list, const EngineSizes *sizes,
                      Sum *sum, Resources *out, Err *err)
{
    VolumeCache cache;
    Last last = {0};
    Err first = {0};
    bool ok = volume_cache_init(&cache, program->n_inputs, NULL, err);
    for (int i = 0; ok && i < list->n; i++) {
        Err failed = {0};
        if (of_image(program, options, &list->items[i], &cache, &last, out, &failed)) {
            add_share(sum, &last.share, sizes, out);
            out->images++;
        } else if (first.code == CODE_OK) {
            first = failed;
        }
    }
    free(last.inputs);
    volume_cache_free(&cache);
    return ok && (out->images > 0 || list->n == 0 || err_set(err, first.code, "%s", first.text));
}

bool resources_of(const Program *program, const Options *options, const BatchList *list, Resources *out, Err *err)
{
    Sum sum = {0};
    const EngineSizes sizes = engine_sizes(options, 1, list != NULL ? list->n : 1);
    *out = (Resources){0};
    TRY(list != NULL ? of_images(program, options, list, &sizes, &sum, out, err)
                     : of_shape(program, options, &sum, out, err));
    finish(&sum, options, &sizes, out);
    return true;
}

/* ---- printing -------------------------------------------------------------------------- */

static void print_bytes(const char *what, uint64_t bytes, const char *more)
{
    printf("%-15s %15" PRIu64 " bytes, %.1f MiB%s\n", what, bytes, (double)bytes / 0x1p20, more);
}

static void print_text(const Resources *r)
{
    printf("%-15s %15d\n", "images", r->images);
    print_bytes("device memory", r->device, r->parts ? "; --memory, in parts" : "; --memory, in one piece");
    if (r->both > r->device) {
        print_bytes("two at once", r->both, "; so has a GPU the images of a batch where there is room");
    }
    if (r->least > 0) {
        print_bytes("at least", r->least, ", in parts");
    }
    print_bytes("pixels", r->pixels, " on the host; --host-memory");
    if (r->tracks > 0) {
        print_bytes("tracks", r->tracks, " on the host, for an object in 100 pixels");
    }
    print_bytes("host memory", r->host, " for the whole process");
    printf("%-15s %15d\n", "threads", r->threads);
    print_bytes("scratch", r->scratch, " of temporary files");
    print_bytes("outputs", r->outputs, " of images, before they are compressed");
    printf("%-15s %15.0f seconds, very roughly\n", "time", ceil(r->seconds));
}

static void print_json(const Resources *r)
{
    printf("{\"images\": %d, \"device_bytes\": %" PRIu64 ", \"device_least_bytes\": %" PRIu64
           ", \"device_bytes_of_two\": %" PRIu64 ", \"in_parts\": %s, \"pixel_bytes\": %" PRIu64
           ", \"track_bytes\": %" PRIu64 ", \"host_bytes\": %" PRIu64 ", \"threads\": %d"
           ", \"scratch_bytes\": %" PRIu64 ", \"output_bytes\": %" PRIu64 ", \"seconds\": %.0f}\n",
           r->images, r->device, r->least, r->both, r->parts ? "true" : "false", r->pixels, r->tracks, r->host,
           r->threads, r->scratch, r->outputs, ceil(r->seconds));
}

int resources_print(const Program *program, const Options *options)
{
    Err err = {0};
    BatchList list = {.program = program};
    Resources r;
    bool shape = options->shape != NULL;
    bool ok = (shape || batch_list(program, options, &list, &err)) &&
              resources_of(program, options, shape ? NULL : &list, &r, &err);
    if (ok) {
        (options->json ? print_json : print_text)(&r);
    } else {
        fprintf(stderr, "%s: %s\n", options->command, err.text);
    }
    batch_list_free(&list);
    return err_exit_code(&err);
}
