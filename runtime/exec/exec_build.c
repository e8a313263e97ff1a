/*
 * exec_build: compiling takes most of the time of a first run, so where the driver can compile
 * several programs at once, every thread takes the next one until none is left: the kernels, and then the
 * programs of primitives that are known beforehand.  These from the last step on: what comes last is compiled
 * alone, and reductions, which are short, stand first.
 *
 * How many registers a kernel takes only the driver knows, who says so once it is compiled.  One that keeps numbers in memory
 * instead is compiled again for fewer rows a turn (ROWS_AT_MOST of codegen/kernels/rows.cl), and that which keeps least is
 * what runs; a few bytes cost nothing.
 */
#include "exec_build.h"

#include "../../base/stack.h"
#include "../host/status.h"
#include "narrow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_THREADS = 16,
    HARMLESS = 128 /* bytes in memory that cost less than shorter turns do (bench/NOTES.md) */
};

struct ExecBuilt {
    int n;
    char **text;  /* by kernel: what is compiled, then freed; a reader's stays */
    bool *reader; /* by kernel: it is a reader */
    DevKernel **kernel;
    DevProgram **program;
    /* while building */
    const ExecPlan *plan;
    Device *dev;
    bool cpu; /* the target is one */
    struct Task {
        int step, which; /* a primitive's program, or with a step below 0 */
        int kernel;      /* a kernel, or below 0 that of narrow.h */
    } * tasks;
    int n_tasks;
    atomic_int next;
};

typedef struct Worker {
    ExecBuilt *built;
    pthread_t thread;
    bool started;
    Err err;
} Worker;

static bool is_quick(const ExecBuilt *built, int kernel)
{
    const ExecPlan *plan = built->plan;
    ExecQuick quick = QUICK_ALWAYS;
    for (int s = 0; s < plan->program->n_steps; s++) {
        const bool less = plan->program->steps[s].kernel == kernel && plan->steps[s].quick < quick;
        quick = less ? plan->steps[s].quick : quick;
    }
    return quick == QUICK_ALWAYS || (quick == QUICK_ONCE && dev_is_first(built->dev, built->text[kernel]));
}

/* Every number of rows gives the same bits. */
static bool compile_kernel(ExecBuilt *built, int k, Err *err)
{
    const char *const FEWER[] = {is_quick(built, k) ? "-cl-opt-disable" : NULL, "-DROWS_AT_MOST=4", "-DROWS_AT_MOST=2",
                                 "-DROWS_AT_MOST=1"};
    const char *name = built->plan->program->kernels[k].name, *text = built->text[k];
    const size_t n = strstr(text, "\n#define TURNS ") ? sizeof FEWER / sizeof *FEWER : 1;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n && least > HARMLESS; i++) {
        DevProgram *program;
        TRY(dev_program(built->dev, name, text, FEWER[i], &program, err));
        const uint64_t spilled = dev_spilled(program, name);
        built->program[k] = spilled < least ? program : built->program[k];
        least = spilled < least ? spilled : least;
    }
    return true;
}

static bool compile_one(ExecBuilt *built, const struct Task *task, Err *err)
{
    const Program *of = built->plan->program;
    if (task->kernel >= 0) {
        return compile_kernel(built, task->kernel, err);
    }
    DevProgram *program; /* the device keeps it until it is asked for */
    if (task->step < 0) {
        return narrow_program(built->dev, built->cpu, &program, err);
    }
    const ProgStep *step = &of->steps[task->step];
    PrimCall call;
    exec_plan_call(built->plan, built->dev, task->step, &call);
    call.reader = step->kernel >= 0 ? built->text[step->kernel] : NULL;
    call.err = err;
    return prim_find(step->primitive)->program(&call, task->which, &program);
}

static const char *task_name(const ExecBuilt *built, int k)
{
    const struct Task *task = &built->tasks[k];
    const Program *of = built->plan->program;
    return task->kernel >= 0 ? of->kernels[task->kernel].name : task->step >= 0 ? of->steps[task->step].name : "labels";
}

static void *work(void *at)
{
    Worker *worker = at;
    ExecBuilt *built = worker->built;
    for (int k; (k = atomic_fetch_add(&built->next, 1)) < built->n_tasks;) {
        status_step("kernel", k + 1, built->n_tasks, task_name(built, k), true);
        if (!compile_one(built, &built->tasks[k], &worker->err)) {
            atomic_store(&built->next, built->n_tasks);
        }
    }
    return NULL;
}

static int count_ahead(const ProgStep *step)
{
    return step->kind == STEP_PRIMITIVE ? prim_find(step->primitive)->programs : 0;
}

static bool has_labels(const Program *of)
{
    bool has = false;
    for (int i = 0; i < of->n_outputs; i++) {
        has = has || (of->outputs[i].kind == OUT_LABELS && of->outputs[i].value >= 0);
    }
    return has;
}

/* With one thread, or where a step sees a part of the image, primitives compile what they want when they
 * run: it may not come to that. */
static bool list_tasks(ExecBuilt *built, int threads, bool narrows, Err *err)
{
    const Program *of = built->plan->program;
    bool ahead = threads > 1 && built->plan->parts == NULL;
    int most = of->n_kernels + 2;
    for (int s = 0; s < of->n_steps; s++) {
        most += count_ahead(&of->steps[s]);
    }
    built->tasks = calloc((size_t)most, sizeof *built->tasks);
    if (!built->tasks) {
        return err_set(err, CODE_MEMORY, "out of host memory for the kernels");
    }
    for (int k = 0; k < of->n_kernels; k++) {
        if (built->text[k] && !built->reader[k]) {
            built->tasks[built->n_tasks++] = (struct Task){-1, 0, k};
        }
    }
    for (int s = of->n_steps - 1; ahead && s >= 0; s--) {
        for (int which = 0; which < count_ahead(&of->steps[s]); which++) {
            built->tasks[built->n_tasks++] = (struct Task){s, which, -1};
        }
    }
    if (ahead && narrows && has_labels(of)) {
        built->tasks[built->n_tasks++] = (struct Task){-1, 0, -1};
    }
    return true;
}

static bool compile(ExecBuilt *built, const ExecTarget *target, Err *err)
{
    Worker workers[MAX_THREADS] = {0};
    const int threads = target->compilers < MAX_THREADS ? target->compilers : MAX_THREADS;
    TRY(list_tasks(built, threads, exec_narrows(target), err));
    int n = threads < built->n_tasks ? threads : built->n_tasks;
    for (int i = 0; i < n; i++) {
        workers[i].built = built;
        workers[i].started = i > 0 && stack_thread(&workers[i].thread, STACK_DRIVER, work, &workers[i]);
    }
    if (n > 0) {
        (void)work(&workers[0]); /* this thread works too, and alone if it must */
    }
    for (int i = 0; i < n; i++) {
        if (workers[i].started) {
            (void)pthread_join(workers[i].thread, NULL);
        }
        if (workers[i].err.code != CODE_OK) {
            err_set(err, workers[i].err.code, "%s", workers[i].err.text);
        }
    }
    return err->code == CODE_OK;
}

/* Texts are made one after the other: they share remembered values. */
static bool make_texts(ExecBuilt *built, ExecPlan *plan, const ExecTarget *target, Err *err)
{
    for (int s = 0; s < plan->program->n_steps; s++) {
        const ProgStep *step = &plan->program->steps[s];
        bool has = step->kind == STEP_LAUNCH || (step->kind == STEP_PRIMITIVE && step->kernel >= 0);
        if (has && !built->text[step->kernel]) {
            bool reader = step->kind == STEP_PRIMITIVE;
            TRY(exec_plan_text(plan, target, step->kernel, reader, &built->text[step->kernel], err));
            built->reader[step->kernel] = reader;
        }
    }
    return true;
}

static bool fill(ExecBuilt *built, ExecPlan *plan, const ExecTarget *target, Err *err)
{
    TRY(make_texts(built, plan, target, err));
    TRY(compile(built, target, err));
    for (int k = 0; k < built->n; k++) {
        if (built->program[k]) {
            TRY(dev_kernel(built->program[k], plan->program->kernels[k].name, &built->kernel[k], err));
            free(built->text[k]);
            built->text[k] = NULL;
        }
    }
    return true;
}

bool exec_build(ExecPlan *plan, const ExecTarget *target, Device *dev, ExecBuilt **out, Err *err)
{
    size_t n = (size_t)plan->program->n_kernels + 1;
    ExecBuilt *built = calloc(1, sizeof *built);
    *out = NULL;
    if (built) {
        built->n = plan->program->n_kernels;
        built->plan = plan;
        built->dev = dev;
        built->cpu = target->cpu;
        built->text = calloc(n, sizeof *built->text);
        built->reader = calloc(n, sizeof *built->reader);
        built->kernel = calloc(n, sizeof *built->kernel);
        built->program = calloc(n, sizeof *built->program);
    }
    if (!built || !built->text || !built->reader || !built->kernel || !built->program) {
        exec_built_free(built);
        return err_set(err, CODE_MEMORY, "out of host memory for the kernels");
    }
    if (!fill(built, plan, target, err)) {
        exec_built_free(built);
        return false;
    }
    *out = built;
    return true;
}

void exec_built_free(ExecBuilt *built)
{
    if (!built) {
        return;
    }
    for (int k = 0; k < built->n && built->text; k++) {
        free(built->text[k]);
    }
    free(built->text);
    free(built->reader);
    free(built->kernel);
    free(built->program);
    free(built->tasks);
    free(built);
}

DevKernel *exec_built_kernel(const ExecBuilt *built, int kernel)
{
    return built->kernel[kernel];
}

const char *exec_built_reader(const ExecBuilt *built, int kernel)
{
    return built->text[kernel];
}
