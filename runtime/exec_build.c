/*
 * exec_build: compiling takes most of the time of a first run, so where the driver can compile
 * several programs at once, every thread takes the next kernel until none is left.
 */
#include "exec_build.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 4 };

struct ExecBuilt {
    int n;
    char **text;  /* by kernel: what is compiled, then freed; a reader's stays */
    bool *reader; /* by kernel: it is a reader */
    DevKernel **kernel;
    DevProgram **program;
    /* while building */
    const Program *of;
    Device *dev;
    atomic_int next;
};

typedef struct Worker {
    ExecBuilt *built;
    pthread_t thread;
    bool started;
    Err err;
} Worker;

static void *work(void *at)
{
    Worker *worker = at;
    ExecBuilt *built = worker->built;
    for (int k; (k = atomic_fetch_add(&built->next, 1)) < built->n;) {
        if (built->text[k] && !built->reader[k] &&
            !dev_program(built->dev, built->of->kernels[k].name, built->text[k], NULL,
                         &built->program[k], &worker->err)) {
            atomic_store(&built->next, built->n);
        }
    }
    return NULL;
}

/* NVIDIA's driver gains a quarter from several threads; PoCL takes one program at a time, and
 * oclgrind crashes. */
static int count_threads(const DeviceInfo *info, int kernels)
{
    if (strcmp(info->platform, "NVIDIA CUDA") != 0) {
        return kernels > 0 ? 1 : 0;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = cores > MAX_THREADS ? MAX_THREADS : cores > 1 ? (int)cores : 1;
    return n < kernels ? n : kernels;
}

static bool compile(ExecBuilt *built, int n_texts, Err *err)
{
    Worker workers[MAX_THREADS] = {0};
    int n = count_threads(dev_info(built->dev), n_texts);
    for (int i = 0; i < n; i++) {
        workers[i].built = built;
        workers[i].started =
            i > 0 && pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
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
static bool make_texts(ExecBuilt *built, ExecPlan *plan, const ExecTarget *target, int *n, Err *err)
{
    *n = 0;
    for (int s = 0; s < plan->program->n_steps; s++) {
        const ProgStep *step = &plan->program->steps[s];
        bool has = step->kind == STEP_LAUNCH || (step->kind == STEP_PRIMITIVE && step->kernel >= 0);
        if (has && !built->text[step->kernel]) {
            bool reader = step->kind == STEP_PRIMITIVE;
            TRY(exec_plan_text(plan, target, step->kernel, reader, &built->text[step->kernel],
                               err));
            built->reader[step->kernel] = reader;
            *n += !reader;
        }
    }
    return true;
}

static bool fill(ExecBuilt *built, ExecPlan *plan, const ExecTarget *target, Err *err)
{
    int n;
    TRY(make_texts(built, plan, target, &n, err));
    TRY(compile(built, n, err));
    for (int k = 0; k < built->n; k++) {
        if (built->program[k]) {
            TRY(dev_kernel(built->program[k], built->of->kernels[k].name, &built->kernel[k], err));
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
        built->of = plan->program;
        built->dev = dev;
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
