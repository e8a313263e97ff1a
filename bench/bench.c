/*
 * bench: how long the device works for a pipeline whose input is already there.
 *
 *     build/bench [--device NAME] [--runs N] [--only NAME] [--divide N] [--wall] [--verbose]   (from the sources)
 *
 * Each case of cases.def is compiled from bench/cases, checked against the evaluator on a small
 * image, then run N times on its full size.  Reported is the median time from the first kernel's
 * beginning to the last one's end, by the device's own clock; bytes are the compulsory ones (each
 * input read once, each output written once) and their rate as a share of a device copy measured
 * in the same run.
 *
 * With --wall it is the host's clock, from asking for the run until it is done, and the device keeps no times,
 * which make the gaps between kernels longer.
 *
 * With --hand FOLDER every case's input (one plane of it) and results are left in FOLDER, a line with
 * the time says so, and the next case waits for a line: bench/peers.py does the same work meanwhile.
 */
#include "tests/support/both.h"

#include "npy.h"

#include "base/file.h"
#include "codegen/codegen.h"
#include "frontend/syntax/ast.h"
#include "frontend/diag/diag.h"
#include "frontend/elaborate/elaborate.h"
#include "passes/figures.h"
#include "passes/search.h"
#include "runtime/device/probe.h"
#include "runtime/exec/exec.h"
#include "runtime/host/signals.h"
#include "runtime/host/stopwatch.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Content { SMOOTH, SMALL, TOUCHING, CELLS, NOISE, SKY } Content;

typedef struct Case {
    const char *name, *file;
    int w, h, d;
    Elem elem;
    Content content;
    double out_bytes; /* per pixel */
    double ops;       /* per pixel; 0: bytes take longer */
    double goal_ms;   /* 0: none */
} Case;

static const Case CASES[] = {
#define C(name, file, w, h, d, elem, content, out, ops, goal) \
    {name, file, w, h, d, ELEM_##elem, content, out, ops, goal},
#include "cases.def"
#undef C
};
enum { N_CASES = sizeof CASES / sizeof *CASES };

/* ---- images ------------------------------------------------------------------------------ */

static uint32_t hash(uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ (v >> 16);
}

/* Disks on a grid: one a cell, its middle jittered from `first` on, its radius from `least` on. */
typedef struct Disks {
    int cell, first, jitter, least, radii;
} Disks;
static const Disks DISKS[] = {
    [SMOOTH] = {48, 14, 20, 6, 6},
    [SMALL] = {16, 6, 4, 3, 3},
    [TOUCHING] = {24, 8, 8, 9, 7},
    [CELLS] = {48, 14, 20, 6, 6},
};

static bool in_disk(const Disks *d, int cx, int cy, int x, int y)
{
    uint32_t c = hash((uint32_t)cy * 9176u + (uint32_t)cx + 77u);
    int dx = x - cx * d->cell - d->first - (int)(c % (uint32_t)d->jitter);
    int dy = y - cy * d->cell - d->first - (int)(c / 32 % (uint32_t)d->jitter);
    int r = d->least + (int)(c / 1024 % (uint32_t)d->radii);
    return dx * dx + dy * dy < r * r;
}

/* Smooth and small: disks some 30 and 10 pixels apart with a little noise; touching: disks that
 * overlap; cells: labels of disks; noise: half of the pixels over 127; sky: gaussian noise by adding
 * uniforms, and sources on a jittered grid. */
static float pixel(Content content, int x, int y)
{
    uint32_t h = hash((uint32_t)y * 65537u + (uint32_t)x);
    if (content == NOISE) {
        return (float)(h & 255);
    }
    if (content != SKY) {
        const Disks *d = &DISKS[content];
        int cx = x / d->cell, cy = y / d->cell, beyond = content == TOUCHING;
        bool inside = false;
        for (int k = 0; k < 9; k++) {
            bool near = abs(k % 3 - 1) <= beyond && abs(k / 3 - 1) <= beyond;
            inside = inside || (near && in_disk(d, cx + k % 3 - 1, cy + k / 3 - 1, x, y));
        }
        return content == CELLS ? (float)(inside ? cy * 1024 + cx + 1 : 0)
                                : (inside ? 180.0f : 40.0f) + (float)(h % 32);
    }
    float noise = 0;
    for (uint32_t k = 0; k < 4; k++) {
        noise += (float)(hash(h + k) & 65535) / 65536.0f - 0.5f;
    }
    int cx = x / 128, cy = y / 128;
    uint32_t c = hash((uint32_t)cy * 7919u + (uint32_t)cx);
    float dx = (float)(x % 128 - 20 - (int)(c % 80)), dy = (float)(y % 128 - 20 - (int)(c / 256 % 80));
    return noise * 0.02f + 0.5f * (float)exp((double)(-(dx * dx + dy * dy) / 8.0f));
}

typedef struct Part {
    const Case *c;
    unsigned char *at;
    int w, from, to;
} Part;

static void *fill_part(void *arg)
{
    const Part *part = arg;
    const Case *c = part->c;
    unsigned char *at = part->at;
    int w = part->w;
    for (int y = part->from; y < part->to; y++) {
        for (int x = 0; x < w; x++) {
            float v = pixel(c->content, x, y);
            size_t i = (size_t)y * (size_t)w + (size_t)x;
            if (c->elem == ELEM_U8) {
                at[i] = (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
            } else if (c->elem == ELEM_U32) {
                ((uint32_t *)(void *)at)[i] = (uint32_t)v;
            } else {
                ((float *)(void *)at)[i] = v;
            }
        }
    }
    return NULL;
}

static void *plane_of(const Case *c, int w, int h)
{
    enum { THREADS = 16 };
    unsigned char *at = malloc((size_t)w * (size_t)h * elem_size(c->elem));
    pthread_t thread[THREADS];
    Part part[THREADS];
    for (int t = 0; at != NULL && t < THREADS; t++) {
        part[t] = (Part){c, at, w, (int)((long)h * t / THREADS), (int)((long)h * (t + 1) / THREADS)};
        if (pthread_create(&thread[t], NULL, fill_part, &part[t]) != 0) {
            abort();
        }
    }
    for (int t = 0; at != NULL && t < THREADS; t++) {
        pthread_join(thread[t], NULL);
    }
    return at;
}

/* ---- compiling --------------------------------------------------------------------------- */

static IrGraph *graph_of(Arena *arena, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.pipe", BENCH_CASES, file);
    Err err = {0};
    char *text;
    size_t size;
    if (!file_read(path, &text, &size, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return NULL;
    }
    Source *source = source_new(arena, arena_strdup(arena, path), arena_strndup(arena, text, size));
    free(text);
    Diags diags;
    diags_init(&diags, arena);
    AstFile *ast = fe_parse(arena, source, &diags);
    IrGraph *g = fe_elaborate(arena, ast, &diags);
    if (diags.errors > 0) {
        Str s;
        str_init(&s, arena);
        diags_render(&diags, &s, false, 0);
        fputs(s.at, stderr);
        return NULL;
    }
    return g;
}

/* ---- one case ---------------------------------------------------------------------------- */

/* Planes and channels are the case's content, a row further each. */
static IrEvalInput small_image(const Case *c, int w, int h, int d, int channels)
{
    IrEvalInput image = both_image(w, h, d, channels, c->elem, 1, 1);
    double *v = (double *)(uintptr_t)image.pixels;
    for (int row = 0; row < h * d * channels; row++) {
        for (int x = 0; x < w; x++) {
            const double px = (double)pixel(c->content, x, row % h + row / h);
            *v++ = c->elem == ELEM_U8 ? floor(px < 0 ? 0 : px > 255 ? 255 : px) : px;
        }
    }
    return image;
}

static bool check_small(const Case *c, Device *dev, char *why, size_t size)
{
    Arena arena;
    arena_init(&arena);
    IrGraph *g = graph_of(&arena, c->file);
    BothCase in = {0};
    int w = 300, h = 200, d = c->d > 1 ? 20 : 1;
    if (d > 1) {
        w = 70;
        h = 40;
    }
    for (IrId id = 1; g != NULL && id < (IrId)g->nodes.n && ir_node(g, id)->op == IR_INPUT; id++) {
        in.inputs[in.n_inputs++] = small_image(c, w, h, d, strchr(ir_node(g, id)->text, 'c') != NULL ? 3 : 1);
    }
    for (int i = 0; g != NULL && i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = FUSE_ALL};
    bool ok = g != NULL && both_run(g, &cx, &in, dev, why, size);
    for (int i = 0; i < in.n_inputs; i++) {
        free((void *)(uintptr_t)in.inputs[i].pixels);
    }
    arena_free(&arena);
    return ok;
}

/* As `pipec run` plans (library/compile.c). */
static const IrSchedule *plan_for(IrGraph *g, const Device *dev, Arena *arena)
{
    enum { MOST_PLANS = 100 };
    const DeviceFigures *known = figures_known(dev_info(dev)->name);
    PassContext cx = {.fuse = FUSE_ALL, .figures = known != NULL ? known : figures_known(NULL)};
    Decisions decisions = {.given = NULL};
    const PassSearch found = pass_search(g, &cx, SEARCH_TRUSTED, MOST_PLANS, arena);
    if (found.sure && !dev_info(dev)->cpu) {
        decisions.given = found.answers;
        decisions.n_given = found.n_answers;
        cx.decisions = &decisions;
    }
    return pass_run_all(g, &cx);
}

static int by_value(const void *p, const void *q)
{
    double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

static int channels_of(const ProgInput *input)
{
    return strchr(input->axes, 'c') != NULL ? 3 : 1;
}

/* All inputs, planes and channels are the same plane. */
static bool upload(Exec *exec, const Case *c, const Program *program, int w, int h, const void *plane, Err *err)
{
    for (int i = 0; i < program->n_inputs; i++) {
        for (int k = 0; k < c->d * channels_of(&program->inputs[i]); k++) {
            TRY(exec_upload(exec, i, k / c->d, k % c->d, 0, h, plane, (size_t)w * elem_size(c->elem), err));
        }
    }
    return true;
}

static bool keeps(const Exec *exec, const Program *program)
{
    bool all = true;
    for (int i = 0; i < program->n_inputs; i++) {
        all = all && exec_keeps(exec, i);
    }
    return all;
}

typedef struct Wanted {
    int runs, divide;
    bool verbose, check;
    bool wall;        /* by the host's clock, for which no events are kept */
    const char *hand; /* folder for input and results; NULL: nobody asks for them */
} Wanted;

/* Milliseconds of one run, from when it is asked for until the device has done it. */
static bool time_wall(Exec *exec, double *took, Err *err)
{
    uint64_t begin = stopwatch_now();
    TRY(exec_run(exec, err));
    *took = (double)(stopwatch_now() - begin) * 1e-6;
    return true;
}

/* By the device's clock: from the first kernel's beginning to the last one's end, and all of them alone. */
static bool time_events(Exec *exec, Device *dev, double *took, double *busy, int *launches, Err *err)
{
    const DevEvent *events;
    int n;
    TRY(dev_events(dev, &events, &n, err)); /* forget what was before */
    TRY(exec_run(exec, err) && dev_finish(dev, err));
    TRY(dev_events(dev, &events, &n, err));
    uint64_t begin = UINT64_MAX, end = 0, sum = 0;
    for (int k = 0; k < n; k++) {
        begin = events[k].begin_ns < begin ? events[k].begin_ns : begin;
        end = events[k].end_ns > end ? events[k].end_ns : end;
        sum += events[k].end_ns - events[k].begin_ns;
    }
    *took = n > 0 ? (double)(end - begin) * 1e-6 : 0;
    *busy = (double)sum * 1e-6;
    *launches = n;
    return true;
}

/* At least `runs`, and of short cases so many that the device comes up to speed. */
static int runs_for(double once_ms, int runs, int most)
{
    enum { AT_LEAST_MS = 30 };
    double wanted = once_ms > 0 ? AT_LEAST_MS / once_ms : runs;
    return wanted < runs ? runs : wanted > most ? most : (int)wanted;
}

static bool time_runs(Exec *exec, Device *dev, const Case *c, const Program *program, int w, int h, const void *plane,
                      const Wanted *wanted, double *median, int *launches, double *busy, Err *err)
{
    enum { MOST = 100 };
    double times[MOST + 1], work[MOST + 1] = {0};
    int runs = wanted->runs < MOST ? wanted->runs : MOST;
    for (int i = 0; i <= runs; i++) {
        TRY(i == 0 || keeps(exec, program) || upload(exec, c, program, w, h, plane, err));
        TRY(dev_finish(dev, err));
        TRY(wanted->wall ? time_wall(exec, &times[i], err)
                         : time_events(exec, dev, &times[i], &work[i], launches, err));
        runs = i == 0 ? runs_for(times[0], runs, MOST) : runs;
    }
    qsort(times + 1, (size_t)runs, sizeof *times, by_value); /* the first run warms up */
    qsort(work + 1, (size_t)runs, sizeof *work, by_value);
    *median = times[1 + runs / 2];
    *busy = work[1 + runs / 2];
    return true;
}

/* The device's work in the order in which it began, of a run on the image as it was uploaded. */
static bool print_kernels(Device *dev, Exec *exec, Err *err)
{
    const DevEvent *events;
    int n;
    TRY(dev_finish(dev, err));
    TRY(dev_events(dev, &events, &n, err)); /* forget what was before */
    TRY(exec_run(exec, err));
    TRY(dev_events(dev, &events, &n, err));
    printf("        %-44s %12s %12s\n", "", "begins", "takes, ms");
    for (int i = 0; i < n; i++) {
        printf("        %-44s %12.4f %12.4f\n", events[i].what,
               (double)(events[i].begin_ns - events[0].begin_ns) * 1e-6,
               (double)(events[i].end_ns - events[i].begin_ns) * 1e-6);
    }
    return true;
}

static bool hand_over(const char *folder, const Case *c, int w, int h, const void *plane, const Program *program,
                      Exec *exec, Err *err)
{
    TRY(npy_write(folder, "input", c->elem, (const int64_t[]){w, h, 1, 1}, plane, err));
    return npy_write_results(folder, program, exec, err);
}

/* What the device can do: bytes a second of a copy, operations a second. */
typedef struct Rates {
    double copy, ops;
} Rates;

/* Milliseconds below which no plan can get. */
static double floor_ms(const Case *c, double pixels, double bytes, const Rates *rates)
{
    return 1e3 * fmax(bytes / rates->copy, c->ops * pixels / rates->ops);
}

static bool run_case(const Case *c, Device *dev, const Wanted *wanted, const Rates *rates, double *median, Err *err)
{
    Arena arena;
    arena_init(&arena);
    IrGraph *g = graph_of(&arena, c->file);
    if (g == NULL) {
        arena_free(&arena);
        return err_set(err, CODE_USAGE, "%s does not compile", c->file);
    }
    const IrSchedule *schedule = plan_for(g, dev, &arena);
    const Program *program = cg_program(g, schedule, "bench");
    int w = c->w / wanted->divide, h = c->h / wanted->divide;
    ExecInput inputs[8];
    double in_bytes = 0;
    for (int i = 0; i < program->n_inputs; i++) {
        const int channels = channels_of(&program->inputs[i]);
        inputs[i] = (ExecInput){.extent = {w, h, c->d, channels}, .elem = c->elem, .pixel_um = {1, 1, 1}};
        in_bytes += (double)elem_size(c->elem) * channels;
    }
    double params[32] = {0};
    for (int i = 0; i < program->n_params; i++) {
        params[i] = program->params[i].value;
    }
    Exec *exec = NULL;
    void *plane = plane_of(c, w, h);
    bool ok = plane != NULL && exec_new(program, dev, &exec, err) && exec_bind(exec, inputs, params, err);
    ok = ok && upload(exec, c, program, w, h, plane, err);
    double busy = 0;
    int launches = 0;
    ok = ok && time_runs(exec, dev, c, program, w, h, plane, wanted, median, &launches, &busy, err);
    if (ok) {
        double pixels = (double)w * h * c->d;
        double bytes = pixels * (in_bytes + c->out_bytes);
        printf("%-22s %6d^2 %s %10.4f %10.4f %8.4f %8.0f %6.1f %% %8.2f %5d\n", c->name, w, elem_name(c->elem), *median,
               busy, c->goal_ms, bytes / *median * 1e-6, 100 * bytes / (*median * 1e-3) / rates->copy,
               *median / floor_ms(c, pixels, bytes, rates), launches);
        fflush(stdout);
        ok = !wanted->hand || hand_over(wanted->hand, c, w, h, plane, program, exec, err);
        ok = ok && (!wanted->verbose || (upload(exec, c, program, w, h, plane, err) && print_kernels(dev, exec, err)));
    }
    free(plane);
    exec_free(exec);
    arena_free(&arena);
    return ok;
}

/* Bytes a second of a copy, read and written, of 1 GiB (64 MiB on a CPU). */
static double copy_rate(Device *dev)
{
    Err err = {0};
    size_t size = dev_info(dev)->cpu ? (size_t)64 << 20 : (size_t)1 << 30;
    DevMem *a = NULL, *b = NULL;
    double best = 1e9;
    const DevEvent *events;
    int n;
    if (dev_alloc(dev, size, &a, &err) && dev_alloc(dev, size, &b, &err)) {
        for (int i = 0; i < 10; i++) {
            dev_events(dev, &events, &n, &err);
            if (!dev_copy(dev, a, 0, b, 0, size, &err) || !dev_finish(dev, &err) ||
                !dev_events(dev, &events, &n, &err) || n == 0) {
                break;
            }
            double t = (double)(events[0].end_ns - events[0].begin_ns) * 1e-9;
            best = t < best ? t : best;
        }
    }
    dev_free(dev, a);
    dev_free(dev, b);
    return 2.0 * (double)size / best;
}

static bool read_option(Wanted *wanted, DevOptions *options, const char **only, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **text;
        int *number;
    } known[] = {{"--device", &options->choice, NULL}, {"--only", only, NULL},
                 {"--dump", &options->dump, NULL},     {"--load", &options->load, NULL},
                 {"--hand", &wanted->hand, NULL},      {"--runs", NULL, &wanted->runs},
                 {"--divide", NULL, &wanted->divide}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) == 0 && known[i].text) {
            *known[i].text = value;
            return true;
        }
        if (strcmp(name, known[i].name) == 0) {
            *known[i].number = atoi(value);
            return true;
        }
    }
    return false;
}

static bool read_options(int argc, char **argv, Wanted *wanted, DevOptions *options, const char **only)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0) {
            wanted->verbose = true;
        } else if (strcmp(argv[i], "--no-check") == 0) {
            wanted->check = false;
        } else if (strcmp(argv[i], "--wall") == 0) {
            wanted->wall = true;
        } else if (i + 1 == argc || !read_option(wanted, options, only, argv[i], argv[i + 1])) {
            return false;
        } else {
            i++;
        }
    }
    return wanted->runs >= 1 && wanted->runs <= 100 && wanted->divide >= 1;
}

/* Says that the case's files are there, or with no time that there are none, and waits. */
static void wait_for_peers(double median)
{
    char line[16];
    printf(median > 0 ? "ready %.6f\n" : "ready\n", median);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) {
        fprintf(stderr, "bench: nobody reads along any more\n");
    }
}

static bool measure_case(const Case *c, Device *dev, const Wanted *wanted, const Rates *rates)
{
    char why[300] = "";
    Err err = {0};
    double median = 0;
    bool same = !wanted->check || check_small(c, dev, why, sizeof why);
    if (!same) {
        printf("%-22s DIFFERS FROM THE EVALUATOR: %s\n", c->name, why);
    }
    bool ran = run_case(c, dev, wanted, rates, &median, &err);
    if (!ran) {
        printf("%-22s failed: %s\n", c->name, err.text);
    }
    if (wanted->hand) {
        wait_for_peers(ran ? median : 0);
    }
    return same && ran;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    Wanted wanted = {.runs = 9, .divide = 1, .check = true};
    DevOptions options = {0};
    if (!read_options(argc, argv, &wanted, &options, &only)) {
        fprintf(stderr, "bench [--device NAME] [--runs N] [--only CASE] [--divide N] [--verbose] "
                        "[--wall] [--no-check] [--dump DIR] [--load DIR] [--hand DIR]\n");
        return 2;
    }
    signals_install(SIGNALS_AT_ONCE);
    Err err = {0};
    Device *dev = NULL;
    Rates rates = {0};
    for (int i = 0; i < 1 + wanted.wall; i++) { /* a copy is timed by the device in any case */
        dev_close(dev);
        options.profile = i == 0;
        if (!dev_open(&options, &dev, &err)) {
            fprintf(stderr, "bench: %s\n", err.text);
            return err.code;
        }
        Probe probe;
        if (i == 0 && !probe_device(dev, &probe, &err)) {
            fprintf(stderr, "bench: %s\n", err.text);
            return err.code;
        }
        rates = i == 0 ? (Rates){copy_rate(dev), probe.giga_ops * 1e9} : rates;
    }
    printf("device %s, driver %s; copy %.0f GB/s, %.0f Gop/s\n", dev_info(dev)->name, dev_info(dev)->driver,
           rates.copy * 1e-9, rates.ops * 1e-9);
    printf("%-22s %8s %s %10s %10s %8s %8s %8s %8s %5s\n", "case", "size", "type", "ms", "busy ms", "goal ms", "GB/s",
           "of copy", "of floor", "steps");
    int failed = 0;
    for (int i = 0; i < N_CASES; i++) {
        if (only == NULL || strstr(CASES[i].name, only) != NULL) {
            failed += !measure_case(&CASES[i], dev, &wanted, &rates);
        }
    }
    dev_close(dev);
    return failed > 0;
}
