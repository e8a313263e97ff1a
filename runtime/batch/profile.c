/*
 * profile: events are summed by name and kind, in the order in which they first appear.  The bytes
 * of a kernel are the compulsory ones, each input read once and each output written once, so its
 * share of the copy bandwidth says how far it is from the best that this memory allows.  Behind it
 * comes what the host's threads did, by phase (stopwatch.h).
 */
#include "profile.h"

#include "../../base/file.h"
#include "../../base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Row {
    char name[96], kind[16], lines[32];
    int runs;
    double ns;
    uint64_t bytes;
} Row;

typedef struct Span {
    int row, image, device;
    uint64_t begin, end, bytes;
} Span;

/* A device's clock is as far behind the host's as the last event of a frame was over, at least, when the host knew. */
typedef struct Clock {
    const DeviceInfo *device;
    int64_t behind;
} Clock;

struct Profile {
    Row *rows;
    int n_rows, cap_rows;
    Span *spans;
    int n_spans, cap_spans;
    char **images;
    int n_images, cap_images;
    Clock *clocks;
    int n_clocks, cap_clocks;
    Stopwatch watch;
    int jobs, lanes; /* 0: no threads */
    uint64_t wall_ns;
};

Profile *profile_new(bool threads)
{
    Profile *profile = calloc(1, sizeof(Profile));
    if (profile != NULL && threads && (profile->watch.log = stopwatch_log_new()) == NULL) {
        free(profile);
        return NULL;
    }
    return profile;
}

void profile_free(Profile *profile)
{
    if (!profile) {
        return;
    }
    for (int i = 0; i < profile->n_images; i++) {
        free(profile->images[i]);
    }
    stopwatch_log_free(profile->watch.log);
    free(profile->images);
    free(profile->clocks);
    free(profile->rows);
    free(profile->spans);
    free(profile);
}

Stopwatch *profile_watch(Profile *profile)
{
    return &profile->watch;
}

void profile_threads(Profile *profile, int jobs, int lanes, uint64_t wall_ns)
{
    profile->jobs = jobs;
    profile->lanes = lanes;
    profile->wall_ns = wall_ns;
}

/* Room for one more; *array may move. */
static bool grow(void **array, int n, int *cap, size_t size, Err *err)
{
    if (n < *cap) {
        return true;
    }
    int larger = *cap ? 2 * *cap : 64;
    void *moved = realloc(*array, size * (size_t)larger);
    if (!moved) {
        return err_set(err, CODE_MEMORY, "out of host memory for the profile");
    }
    *array = moved;
    *cap = larger;
    return true;
}

static const ProgStep *step_called(const ExecPlan *plan, const char *name, int *number)
{
    for (int s = 0; plan && s < plan->program->n_steps; s++) {
        if (strcmp(plan->program->steps[s].name, name) == 0) {
            *number = s;
            return &plan->program->steps[s];
        }
    }
    return NULL;
}

static bool row_of(Profile *profile, const DevEvent *event, const ProgStep *step, int *row, Err *err)
{
    for (*row = 0; *row < profile->n_rows; ++*row) {
        const Row *known = &profile->rows[*row];
        if (strcmp(known->name, event->what) == 0 && strcmp(known->kind, event->kind) == 0) {
            return true;
        }
    }
    void *rows = profile->rows;
    TRY(grow(&rows, profile->n_rows, &profile->cap_rows, sizeof *profile->rows, err));
    profile->rows = rows;
    Row *fresh = &profile->rows[profile->n_rows++];
    *fresh = (Row){0};
    snprintf(fresh->name, sizeof fresh->name, "%s", event->what);
    snprintf(fresh->kind, sizeof fresh->kind, "%s", event->kind);
    snprintf(fresh->lines, sizeof fresh->lines, "%s", step && step->lines ? step->lines : "");
    return true;
}

/* `before`: the row of the kernel before.  A primitive's launches in a row are one run of it.  In parts a run is
 * about some of the image, and what that moves is not known here. */
static bool add_event(Profile *profile, const ExecPlan *plan, int device, const DevEvent *event, int *before, Err *err)
{
    int number = -1, row;
    bool kernel = strcmp(event->kind, "kernel") == 0;
    const ProgStep *step = kernel ? step_called(plan, event->what, &number) : NULL;
    TRY(row_of(profile, event, step, &row, err));
    void *spans = profile->spans;
    TRY(grow(&spans, profile->n_spans, &profile->cap_spans, sizeof *profile->spans, err));
    profile->spans = spans;
    bool goes_on = step && step->kind == STEP_PRIMITIVE && row == *before;
    Row *to = &profile->rows[row];
    to->ns += (double)(event->end_ns - event->begin_ns);
    if (!goes_on) {
        to->runs++;
        to->bytes += !step ? event->bytes : plan->parts == NULL ? plan->steps[number].traffic : 0;
    }
    profile->spans[profile->n_spans++] =
        (Span){row, profile->n_images - 1, device, event->begin_ns, event->end_ns, event->bytes};
    *before = kernel ? row : *before;
    return true;
}

/* The number of the device's clock, which is set by what has just ended. */
static bool clock_of(Profile *profile, const Device *dev, const DevEvent *last, int *number, Err *err)
{
    int64_t behind = last != NULL ? (int64_t)(stopwatch_now() - last->end_ns) : INT64_MAX;
    for (*number = 0; *number < profile->n_clocks; ++*number) {
        if (profile->clocks[*number].device->number == dev_info(dev)->number) {
            break;
        }
    }
    if (*number == profile->n_clocks) {
        void *clocks = profile->clocks;
        TRY(grow(&clocks, profile->n_clocks, &profile->cap_clocks, sizeof *profile->clocks, err));
        profile->clocks = clocks;
        profile->clocks[profile->n_clocks++] = (Clock){dev_info(dev), behind};
    }
    Clock *clock = &profile->clocks[*number];
    clock->behind = behind < clock->behind ? behind : clock->behind;
    return true;
}

bool profile_collect(Profile *profile, Device *dev, const ExecPlan *plan, const char *image, Err *err)
{
    const DevEvent *events;
    int n, before = -1, device;
    TRY(dev_events(dev, &events, &n, err) && clock_of(profile, dev, n > 0 ? &events[n - 1] : NULL, &device, err));
    void *images = profile->images;
    TRY(grow(&images, profile->n_images, &profile->cap_images, sizeof *profile->images, err));
    profile->images = images;
    char *copy = strdup(image);
    if (!copy) {
        return err_set(err, CODE_MEMORY, "out of host memory for the profile");
    }
    profile->images[profile->n_images++] = copy;
    for (int i = 0; i < n; i++) {
        TRY(add_event(profile, plan, device, &events[i], &before, err));
    }
    return true;
}

/* ---- the yardstick --------------------------------------------------------------------- */

static const char COPY[] = "kernel void copy(global const float4 *restrict from, global float4 *restrict to)\n"
                           "{\n"
                           "    const size_t i = get_global_id(0);\n"
                           "    to[i] = from[i];\n"
                           "}\n";

static bool time_copy(Device *dev, DevKernel *kernel, DevMem *from, DevMem *to, size_t bytes, double *best, Err *err)
{
    const size_t group[3] = {256, 1, 1}, groups[3] = {bytes / sizeof(float[4]) / 256, 1, 1};
    const DevArg args[] = {dev_mem(from), dev_mem(to)};
    *best = 0;
    for (int i = 0; i < 8; i++) {
        const DevEvent *events;
        int n;
        TRY(dev_launch(dev, kernel, args, 2, groups, group, "copy", err));
        TRY(dev_events(dev, &events, &n, err));
        double ns = n > 0 ? (double)(events[n - 1].end_ns - events[n - 1].begin_ns) : 0;
        double rate = ns > 0 ? 2e9 * (double)bytes / ns : 0;
        *best = rate > *best ? rate : *best;
    }
    return true;
}

enum { LEAST_COPIED = 1 << 20 };

bool profile_copy_bandwidth(Device *dev, double *bytes_per_second, Err *err)
{
    const DeviceInfo *info = dev_info(dev);
    size_t bytes = (size_t)(info->cpu ? 64 : 512) << 20;
    uint64_t room = dev_limit(dev) - dev_held(dev);
    while (bytes > info->max_alloc || bytes > info->memory / 8 || bytes > room / 2) {
        bytes /= 2;
    }
    DevProgram *program;
    DevKernel *kernel;
    DevMem *from = NULL, *to = NULL;
    *bytes_per_second = 0;
    if (bytes < LEAST_COPIED) {
        return true; /* nothing to say where so little memory may be used */
    }
    bool ok = dev_program(dev, "copy", COPY, NULL, &program, err) && dev_kernel(program, "copy", &kernel, err) &&
              dev_alloc(dev, bytes, &from, err) && dev_alloc(dev, bytes, &to, err) &&
              time_copy(dev, kernel, from, to, bytes, bytes_per_second, err);
    dev_free(dev, from);
    dev_free(dev, to);
    return ok;
}

/* ---- the table ------------------------------------------------------------------------- */

/* What the threads did: the phase whose threads are always busy is what the run waits for. */
static void print_host(const Profile *profile, FILE *out)
{
    double wall = (double)profile->wall_ns;
    fprintf(out, "\n%-10s  %7s  %10s  %6s\n", "host", "threads", "time ms", "busy");
    for (int i = PHASE_NONE + 1; i < PHASES; i++) {
        bool device = i >= PHASE_PREPARE && i <= PHASE_DOWNLOAD;
        int threads = device ? profile->lanes : profile->jobs;
        double ns = (double)profile->watch.ns[i];
        fprintf(out, "%-10s  %7d  %10.3f  %4.0f %%\n", PHASE_NAMES[i], threads, ns / 1e6,
                wall > 0 ? 100 * ns / (wall * threads) : 0);
    }
    fprintf(out, "%-10s  %7s  %10.3f\n", "elapsed", "", wall / 1e6);
}

void profile_print(const Profile *profile, double copy, FILE *out)
{
    double all = 0;
    int width = 4;
    for (int i = 0; i < profile->n_rows; i++) {
        int length = (int)strlen(profile->rows[i].name);
        all += profile->rows[i].ns;
        width = length > width ? length : width;
    }
    fprintf(out, "%-*s  %-10s  %6s  %10s  %6s  %8s  %7s\n", width, "step", "lines", "runs", "time ms", "share", "GB/s",
            "of copy");
    for (int i = 0; i < profile->n_rows; i++) {
        const Row *row = &profile->rows[i];
        double rate = row->ns > 0 ? (double)row->bytes / row->ns : 0;
        fprintf(out, "%-*s  %-10s  %6d  %10.3f  %4.0f %%", width, row->name, row->lines, row->runs, row->ns / 1e6,
                all > 0 ? 100 * row->ns / all : 0);
        if (row->bytes > 0) {
            fprintf(out, "  %8.1f", rate);
        }
        if (row->bytes > 0 && copy > 0 && strcmp(row->kind, "kernel") == 0) {
            fprintf(out, "  %5.0f %%", 1e11 * rate / copy);
        }
        fputc('\n', out);
    }
    fprintf(out, "%-*s  %-10s  %6s  %10.3f", width, "all", "", "", all / 1e6);
    if (copy > 0) {
        fprintf(out, "  (copy: %.1f GB/s)", copy / 1e9);
    }
    fputc('\n', out);
    if (profile->jobs > 0) {
        print_host(profile, out);
    }
}

/* ---- the trace ------------------------------------------------------------------------- */

/* Devices, two tracks each, are process 1 of the trace, the host's threads process 2. */
enum { DEVICES = 1, HOST = 2 };

static void write_track(FILE *out, int process, int number, const char *what, const char *of)
{
    fprintf(out, "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"args\": {\"name\": ", process,
            number);
    char name[300];
    snprintf(name, sizeof name, "%s%s", what, of);
    json_put_text(out, name);
    fputs("}}", out);
}

static int64_t host_time(const Profile *profile, const Span *span)
{
    return (int64_t)span->begin + profile->clocks[span->device].behind;
}

static int64_t first_time(const Profile *profile, const StopwatchSpan *host, int n_host)
{
    int64_t start = INT64_MAX;
    for (int i = 0; i < profile->n_spans; i++) {
        int64_t begin = host_time(profile, &profile->spans[i]);
        start = begin < start ? begin : start;
    }
    for (int i = 0; i < n_host; i++) {
        start = (int64_t)host[i].begin < start ? (int64_t)host[i].begin : start;
    }
    return start;
}

static void write_device_events(const Profile *profile, int64_t start, FILE *out)
{
    for (int i = 0; i < profile->n_clocks; i++) {
        write_track(out, DEVICES, 2 * i + 1, "kernels on ", profile->clocks[i].device->name);
        fputs(",\n", out);
        write_track(out, DEVICES, 2 * i + 2, "transfers of ", profile->clocks[i].device->name);
        fputs(",\n", out);
    }
    for (int i = 0; i < profile->n_spans; i++) {
        const Span *span = &profile->spans[i];
        const Row *row = &profile->rows[span->row];
        bool kernel = strcmp(row->kind, "kernel") == 0;
        fputs("{\"name\": ", out);
        json_put_text(out, row->name);
        fprintf(out,
                ", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, "
                "\"dur\": %.3f, \"args\": {\"image\": ",
                row->kind, DEVICES, 2 * span->device + (kernel ? 1 : 2),
                (double)(host_time(profile, span) - start) / 1e3, (double)(span->end - span->begin) / 1e3);
        json_put_text(out, profile->images[span->image]);
        fprintf(out, ", \"lines\": \"%s\", \"bytes\": %" PRIu64 "}},\n", row->lines, span->bytes);
    }
}

static void write_host_events(const StopwatchSpan *spans, int n, int64_t start, FILE *out)
{
    for (int i = 0; i < n; i++) {
        const StopwatchSpan *span = &spans[i];
        fprintf(out, "{\"name\": \"%s\", \"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f},\n",
                PHASE_NAMES[span->phase], HOST, span->thread, (double)((int64_t)span->begin - start) / 1e3,
                (double)(span->end - span->begin) / 1e3);
    }
}

static void write_events(const Profile *profile, FILE *out)
{
    const StopwatchLog *log = profile->watch.log;
    int n_host = 0;
    const StopwatchSpan *host = log != NULL ? stopwatch_log_spans(log, &n_host) : NULL;
    int64_t start = first_time(profile, host, n_host);
    fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n", out);
    write_device_events(profile, start, out);
    write_host_events(host, n_host, start, out);
    for (int i = 0; log != NULL && stopwatch_log_role(log, i) != NULL; i++) {
        write_track(out, HOST, i, stopwatch_log_role(log, i), "");
        fputs(",\n", out);
    }
    fprintf(out, "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"args\": {\"name\": \"devices\"}},\n",
            DEVICES);
    fprintf(out, "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"args\": {\"name\": \"host\"}}", HOST);
    fputs("\n]}\n", out);
}

bool profile_write_trace(const Profile *profile, const char *path, Err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return err_set(err, CODE_MEMORY, "out of host memory for the trace");
    }
    write_events(profile, out);
    bool ok = fclose(out) == 0 || err_set(err, CODE_MEMORY, "out of host memory for the trace");
    ok = ok && file_write(path, text, size, err);
    free(text);
    return ok;
}
