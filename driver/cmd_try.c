/*
 * try: runs a pipeline, and runs it again when its file, one that it includes, an image or a value changes.
 *
 * Every run is one of `pipec run`: outputs are written beside their names and then take their place, so that a viewer
 * never sees half a file.  The device stays open between runs, with all programs that were compiled for it, so that
 * a run which needs no new ones is as fast as its image is read and written.  Files are asked for their times a few
 * times a second: that works on any file system, and with editors that replace files instead of writing them.
 */
#include "run.h"

#include "../runtime/batch/batch.h"
#include "../runtime/command/options.h"
#include "../runtime/host/decimal.h"
#include "../runtime/host/signals.h"
#include "../runtime/host/status.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ASK_MS = 150, LINE_BYTES = 1000 };

typedef struct Watched {
    const char *path;
    struct stat seen;
} Watched;

/* What came out of the frames of a run, by output of the program. */
typedef struct Outcome {
    int frames;
    double *sum; /* of values the last one; of labels and tables how many */
    ExecGrid *grid;
    Elem *elem;
} Outcome;

typedef struct Trial {
    Run run; /* first: it is what the hooks get */
    Arena arena;
    int argc;
    char **argv; /* of the run; [1] is the pipeline */
    CompileOptions options;
    Vec(char *) set; /* "sigma=3": what was typed, the last one counts */
    Vec(Watched) watched;
    Device *device;
    Outcome outcome;
    char line[LINE_BYTES]; /* what was typed and not yet looked at */
    size_t typed;
    bool closed; /* nothing more will be typed */
} Trial;

/* ---- what came out ---------------------------------------------------------------------- */

static void see(void *context, const RtFrame *frame)
{
    Trial *t = context;
    const Program *program = t->run.reference.program;
    for (int i = 0; i < program->n_outputs; i++) {
        const ProgOutput *out = &program->outputs[i];
        double *sum = &t->outcome.sum[i];
        t->outcome.grid[i] = frame->grids[i];
        t->outcome.elem[i] = frame->elems[i];
        *sum = out->kind == OUT_TABLE    ? *sum + (double)frame->tables[out->table].rows
               : out->kind == OUT_LABELS ? *sum + frame->values[i]
                                         : frame->values[i];
    }
    t->outcome.frames++;
}

static void clear_outcome(Trial *t, const Program *program, Arena *arena)
{
    const size_t n = (size_t)program->n_outputs + 1;
    t->outcome = (Outcome){.sum = arena_array(arena, double, n),
                           .grid = arena_array(arena, ExecGrid, n),
                           .elem = arena_array(arena, Elem, n)};
}

static const char *plural(double n)
{
    return n > 1 || n < 1 ? "s" : "";
}

static void print_outcome(const Trial *t, const Program *program)
{
    for (int i = 0; i < program->n_outputs && t->outcome.frames > 0; i++) {
        const ProgOutput *out = &program->outputs[i];
        const double sum = t->outcome.sum[i];
        const ExecGrid *g = &t->outcome.grid[i];
        char value[DECIMAL_BYTES];
        printf("  %-16s ", out->name);
        if (out->kind == OUT_TABLE) {
            printf("%.0f row%s", sum, plural(sum));
        } else if (out->kind == OUT_LABELS) {
            printf("%.0f object%s", sum, plural(sum));
        } else if (out->kind == OUT_VALUE) {
            decimal_shortest(sum, value);
            fputs(value, stdout);
        } else if (g->d > 1) {
            printf("%lld x %lld x %lld %s", (long long)g->w, (long long)g->h, (long long)g->d,
                   elem_name(t->outcome.elem[i]));
        } else {
            printf("%lld x %lld %s", (long long)g->w, (long long)g->h, elem_name(t->outcome.elem[i]));
        }
        puts(t->outcome.frames > 1 && out->kind != OUT_VALUE && out->kind != OUT_IMAGE ? " in all" : "");
    }
}

/* ---- files that are watched ---------------------------------------------------------------- */

/* A file from now on; folders are not watched, since outputs may go there. */
static void watch(Trial *t, const char *path)
{
    Watched w = {.path = arena_strdup(&t->arena, path)};
    for (int i = 0; i < t->watched.n; i++) {
        if (strcmp(t->watched.at[i].path, path) == 0) {
            return;
        }
    }
    if (stat(path, &w.seen) == 0 && S_ISREG(w.seen.st_mode)) {
        vec_push(&t->arena, &t->watched, w);
    }
}

/* Files that the pipeline includes; where it has mistakes, those that have them. */
static void watch_included(Trial *t, const Compilation *c)
{
    for (int i = 0; c->lowered != NULL && i < c->lowered->included.n; i++) {
        watch(t, c->lowered->included.at[i]->path);
    }
    for (const Diag *d = c->diags.first; d != NULL; d = diag_next(d)) {
        if (diag_span(d).source != NULL && diag_span(d).source->path != NULL) {
            watch(t, diag_span(d).source->path);
        }
    }
}

/* ---- a run ------------------------------------------------------------------------------ */

/* What was typed goes over what the command line says.  What is no param any more, or never was one, is forgotten. */
static bool set_params(Trial *t, const Program *program, double *params)
{
    bool ok = true;
    int kept = 0;
    for (int i = 0; i < t->set.n; i++) {
        Err err = {0};
        char *text = t->set.at[i], *equals = strchr(text, '=');
        const char *name = arena_strndup(&t->arena, text, (size_t)(equals - text));
        if (options_set_param(program, name, equals + 1, params, &err)) {
            t->set.at[kept++] = text;
        } else {
            complain(&err);
            ok = false;
        }
    }
    t->set.n = kept;
    return ok;
}

static void run_with(Trial *t, const Program *program, Options *options, Arena *arena)
{
    RtHooks hooks = run_hooks(&t->run);
    hooks.device = &t->device;
    hooks.seen = see;
    if (!set_params(t, program, options->params)) {
        return;
    }
    program = hooks.planned(hooks.context, options->params);
    clear_outcome(t, program, arena);
    if (batch_run(program, options, &hooks, NULL) == CODE_OK) {
        char *params = options_params_text(program, options->params);
        if (params != NULL && params[0] != '\0') {
            printf("  %s\n", params);
        }
        free(params);
        print_outcome(t, program);
    }
}

/* Compiles and runs; what goes wrong is said, and may be mended. */
static void run_once(Trial *t)
{
    Compilation c;
    Err err = {0};
    rt_status(false);
    status_say(STATUS_REST, "compiling the pipeline");
    if (compile(&c, t->argv[1], &t->options, STAGE_PROGRAM)) {
        Options options;
        char **argv = arena_array(&c.arena, char *, (size_t)t->argc + 1); /* parsing reorders them */
        memcpy(argv, t->argv, sizeof *argv * (size_t)t->argc);
        t->run = (Run){.reference = {c.lowered, c.program}, .c = &c};
        if (options_parse(c.program, t->argc - 1, argv + 1, &options, &err)) {
            run_with(t, c.program, &options, &c.arena);
        } else {
            complain(&err);
        }
        options_free(&options);
        compile_free(&t->run.planned);
    }
    watch_included(t, &c);
    compile_free(&c);
    status_close();
    fflush(stdout);
}

/* ---- waiting ---------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Whether a file is another one, and stays the same from one question to the next: a file that is being written, or
 * that is gone for a moment, waits. */
static bool file_changed(Watched *w)
{
    struct stat now, then;
    const struct timespec moment = {.tv_nsec = 30 * 1000 * 1000};
    if (stat(w->path, &now) != 0 || same_file(&now, &w->seen)) {
        return false;
    }
    (void)nanosleep(&moment, NULL);
    if (stat(w->path, &then) != 0 || !same_file(&now, &then)) {
        return false;
    }
    w->seen = now;
    return true;
}

static void show_params(Trial *t)
{
    Compilation c;
    if (compile(&c, t->argv[1], &t->options, STAGE_PROGRAM)) {
        double *values = default_params(c.program, &c.arena);
        (void)set_params(t, c.program, values);
        for (int i = 0; i < c.program->n_params; i++) {
            const ProgParam *p = &c.program->params[i];
            char range[2 * DECIMAL_BYTES + 16];
            options_range_text(p, range, sizeof range);
            printf("  %s=%g  %s  %s\n", p->name, values[i], range, p->help != NULL ? p->help : "");
        }
    }
    compile_free(&c);
    puts("  NAME=VALUE sets one, an empty line runs again, q ends");
    fflush(stdout);
}

typedef enum Wish { WISH_NOTHING, WISH_RUN, WISH_END } Wish;

/* "sigma = 3" or "sigma 3" as "sigma=3"; NULL: it is nothing like it. */
static char *setting(Trial *t, const char *line)
{
    const size_t name = strcspn(line, " \t=");
    const char *value = line + name + strspn(line + name, " \t=");
    return name > 0 && *value != '\0' ? arena_printf(&t->arena, "%.*s=%s", (int)name, line, value) : NULL;
}

static Wish obey(Trial *t, char *line)
{
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--) {
        line[n - 1] = '\0';
    }
    if (strcmp(line, "q") == 0 || strcmp(line, "quit") == 0 || strcmp(line, "exit") == 0) {
        return WISH_END;
    }
    if (line[0] == '\0') {
        return WISH_RUN;
    }
    char *set = setting(t, line);
    if (set == NULL) {
        show_params(t);
        return WISH_NOTHING;
    }
    vec_push(&t->arena, &t->set, set);
    return WISH_RUN;
}

/* The line that was typed, if it is whole; longer ones than anybody types are cut. */
static Wish take_line(Trial *t)
{
    char *end = memchr(t->line, '\n', t->typed);
    if (end == NULL && t->typed < LINE_BYTES - 1 && !(t->closed && t->typed > 0)) {
        return WISH_NOTHING;
    }
    char line[LINE_BYTES];
    const size_t n = end != NULL ? (size_t)(end - t->line) : t->typed, behind = n + (end != NULL);
    memcpy(line, t->line, n);
    line[n] = '\0';
    t->typed -= behind;
    memmove(t->line, t->line + behind, t->typed);
    return obey(t, line);
}

static void listen(Trial *t)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&in, t->closed ? 0 : 1, ASK_MS) > 0) {
        const ssize_t n = read(STDIN_FILENO, t->line + t->typed, LINE_BYTES - 1 - t->typed);
        t->closed = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
        t->typed += n > 0 ? (size_t)n : 0;
    }
}

/* Until there is a reason to run; false: it is to end. */
static bool wait_for_change(Trial *t)
{
    while (!signals_interrupted()) {
        const Wish wish = take_line(t);
        bool run = wish == WISH_RUN;
        for (int i = 0; i < t->watched.n; i++) {
            run = file_changed(&t->watched.at[i]) || run;
        }
        if (wish == WISH_END || run) {
            return run;
        }
        listen(t);
    }
    return false;
}

/* ---- */

int cmd_try(int argc, char **argv)
{
    Trial t = {.argc = argc};
    const char *choice;
    if (!take_compile_options(&t.argc, argv, &t.options)) {
        return CODE_USAGE;
    }
    if (!run_take_pipeline(t.argc, argv)) {
        return usage_error("which pipeline? pipec try FILE.pipe IMAGE...");
    }
    if (!run_takes_device(t.argc, argv, &choice)) {
        return usage_error("try runs on a device: leave out --help, --dry-run and --device reference");
    }
    driver_arena(&t.arena);
    t.argv = argv;
    if (!t.options.planned_for) {
        t.options.measured = figures_of_device(choice, &t.options.plan_for, t.options.tuned_for);
    }
    for (int i = 1; i < t.argc; i++) {
        watch(&t, argv[i]);
    }
    signals_install(SIGNALS_IN_ORDER);
    (void)driver_python(false);
    puts("NAME=VALUE sets a param, ? shows them, q ends; a changed file runs again");
    do {
        run_once(&t);
    } while (wait_for_change(&t));
    dev_close(t.device);
    arena_free(&t.arena);
    return signals_interrupted() ? CODE_INTERRUPTED : CODE_OK;
}
