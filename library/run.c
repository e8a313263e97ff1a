/* run: devices, plans, and runs on images in memory or row by row. */
#include "figures.h"
#include "library.h"

#include "../base/json.h"
#include "../runtime/batch/results.h"
#include "../runtime/command/options.h"
#include "../runtime/exec/exec.h"
#include "../runtime/host/crew.h"
#include "../runtime/host/decimal.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)PIPEC_BOOL == (int)ELEM_BOOL && (int)PIPEC_F64 == (int)ELEM_F64, "types are numbered alike");
_Static_assert(sizeof((PipecError){0}.text) == sizeof((Err){0}.text), "failures are described alike");

/* One pipeline at a time is bound to a device: the one that was run last. */
struct PipecDevice {
    pthread_mutex_t lock;
    Device *dev;
    DeviceFigures figures;
    char name[FIGURES_NAME];
    char *choice;
    uint64_t memory;
    Crew *crew;
    PipecPipeline *pipeline; /* NULL: none */
    Compilation planned;     /* the pipeline for this device and these params */
    double *params;          /* by param; NULL: nothing is planned */
    Exec *exec;              /* NULL: nothing is bound */
};

struct PipecResult {
    PipecPipeline *pipeline;
    Results *results;
};

/* ---- devices --------------------------------------------------------------------------- */

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory");
}

static void unbind(PipecDevice *d)
{
    exec_free(d->exec);
    d->exec = NULL;
    compile_free(&d->planned);
    memset(&d->planned, 0, sizeof d->planned);
    free(d->params);
    d->params = NULL;
    pipec_pipeline_free(d->pipeline);
    d->pipeline = NULL;
}

static bool open_device(PipecDevice *d, Err *err)
{
    DevOptions options = {.choice = d->choice, .memory_limit = d->memory};
    return dev_open(&options, &d->dev, err);
}

/* A device that was lost is opened anew. */
static bool revive(PipecDevice *d, Err *err)
{
    if (d->dev != NULL && !dev_lost(d->dev)) {
        return true;
    }
    unbind(d);
    dev_close(d->dev);
    d->dev = NULL;
    return open_device(d, err);
}

int pipec_open(const char *choice, uint64_t memory, PipecDevice **out, PipecError *error)
{
    Err err = {0};
    *out = NULL;
    PipecDevice *d = calloc(1, sizeof *d);
    if (d == NULL) {
        no_memory(&err);
        return library_code(&err, error);
    }
    d->memory = memory;
    d->figures = *figures_known(NULL);
    pthread_mutex_init(&d->lock, NULL);
    d->choice = choice != NULL ? strdup(choice) : NULL;
    if ((choice != NULL && d->choice == NULL && !no_memory(&err)) || !open_device(d, &err)) {
        pipec_close(d);
        return library_code(&err, error);
    }
    (void)figures_of_device(choice, &d->figures, d->name);
    d->crew = crew_new(0);
    *out = d;
    return PIPEC_OK;
}

void pipec_close(PipecDevice *d)
{
    if (d == NULL) {
        return;
    }
    unbind(d);
    dev_close(d->dev);
    crew_free(d->crew);
    free(d->choice);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

typedef struct DeviceList {
    DeviceInfo *at;
    int n;
} DeviceList;

static void put_text(FILE *to, const char *name, const char *text)
{
    fprintf(to, ", \"%s\": ", name);
    json_put_text(to, text);
}

static void put_devices(FILE *to, const void *of)
{
    const DeviceList *list = of;
    fputc('[', to);
    for (int i = 0; i < list->n; i++) {
        const DeviceInfo *d = &list->at[i];
        fprintf(to, "%s\n  {\"choice\": \"#%d\"", i > 0 ? "," : "", d->number);
        put_text(to, "name", d->name);
        put_text(to, "platform", d->platform);
        put_text(to, "driver", d->driver);
        put_text(to, "kind", d->cpu ? "CPU" : "GPU");
        fprintf(to, ", \"units\": %d, \"memory\": %llu, \"doubles\": %s}", d->units, (unsigned long long)d->memory,
                d->fp64 ? "true" : "false");
    }
    fputs("\n]\n", to);
}

int pipec_devices(char **out, PipecError *error)
{
    Err err = {0};
    DeviceList list = {NULL, 0};
    char why[sizeof err.text];
    *out = NULL;
    if (dev_list(&list.at, &list.n, why, sizeof why, &err)) {
        (void)(list.n > 0 ? library_text(put_devices, &list, out, &err) : err_set(&err, CODE_DEVICE, "%s", why));
    }
    free(list.at);
    return library_code(&err, error);
}

/* ---- what a run is about --------------------------------------------------------------- */

static bool check_input(const ProgInput *of, const PipecInput *input, ExecInput *to, Err *err)
{
    if (input->size < sizeof *input) {
        return err_set(err, CODE_USAGE, "the size of the input '%s' is not set", of->name);
    }
    to->elem = (Elem)input->image.type;
    if (to->elem <= ELEM_NONE || to->elem >= ELEM_FILE) {
        return err_set(err, CODE_USAGE, "the input '%s' has no type", of->name);
    }
    for (int axis = 0; axis < 4; axis++) {
        to->extent[axis] = input->image.extent[axis];
        bool has = strchr(of->axes, "xyzc"[axis]) != NULL;
        if (to->extent[axis] < 1 || (to->extent[axis] > 1 && !has)) {
            return err_set(err, CODE_FILES, "the input '%s' has the extent %lld along %c", of->name,
                           (long long)to->extent[axis], "xyzc"[axis]);
        }
    }
    memcpy(to->pixel_um, input->pixel_um, sizeof to->pixel_um);
    return input->read != NULL || input->image.data != NULL ||
           err_set(err, CODE_USAGE, "the input '%s' has no pixels", of->name);
}

static bool check_inputs(const Program *program, const PipecRun *run, ExecInput **out, Err *err)
{
    *out = calloc((size_t)program->n_inputs + 1, sizeof **out);
    if (*out == NULL) {
        return no_memory(err);
    }
    if (run->size < sizeof *run || (program->n_inputs > 0 && run->inputs == NULL)) {
        return err_set(err, CODE_USAGE, "the run has no size or no inputs");
    }
    for (int i = 0; i < program->n_inputs; i++) {
        TRY(check_input(&program->inputs[i], &run->inputs[i], &(*out)[i], err));
    }
    return true;
}

/* As options of a command line are. */
static bool check_params(const Program *program, const double *params, Err *err)
{
    for (int i = 0; i < program->n_params; i++) {
        char called[200], value[DECIMAL_BYTES];
        snprintf(called, sizeof called, "'%s'", program->params[i].name);
        decimal_shortest(params[i], value);
        TRY(options_param_allows(&program->params[i], called, params[i], value, err));
    }
    return true;
}

/* The run's params, or the defaults; owned by the caller (free). */
static bool take_params(const Program *program, const PipecRun *run, double **out, Err *err)
{
    *out = calloc((size_t)program->n_params + 1, sizeof **out);
    if (*out == NULL) {
        return no_memory(err);
    }
    for (int i = 0; i < program->n_params; i++) {
        (*out)[i] = run->params != NULL ? run->params[i] : program->params[i].value;
    }
    return check_params(program, *out, err);
}

/* An image of such a grid, dense: planes of a channel one behind the other. */
static void describe_image(const ExecGrid *g, Elem elem, PipecImage *image)
{
    int64_t size = (int64_t)elem_size(elem);
    *image = (PipecImage){.extent = {g->w, g->h, g->d, g->c}, .type = (int)elem};
    for (int axis = 0; axis < 4; axis++) {
        image->stride[axis] = size;
        size *= image->extent[axis];
    }
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 4; k++) {
            image->place[axis][k] = g->place.moved ? g->place.of[axis][k] : k == axis;
        }
    }
}

/* A series lies in memory along whatever axis was left; to the user it lies along its own. */
static void turn_series(const ProgOutput *output, PipecImage *image)
{
    int from = 0, to = output->kind == OUT_SERIES ? (int)(strchr("xyz", output->axes[0]) - "xyz") : 0;
    for (int axis = 0; axis < 4; axis++) {
        from = image->extent[axis] > 1 ? axis : from;
    }
    if (output->kind == OUT_SERIES && from != to) {
        image->extent[to] = image->extent[from];
        image->stride[to] = image->stride[from];
        image->extent[from] = 1;
    }
}

/* ---- plans ----------------------------------------------------------------------------- */

static void give_plan(const ExecPlan *of, PipecPlan *plan, PipecImage *outputs)
{
    const Program *program = of->program;
    plan->peak = of->peak;
    plan->in_parts = of->parts != NULL;
    for (int i = 0; outputs != NULL && i < program->n_outputs; i++) {
        int buffer = program->outputs[i].buffer;
        outputs[i] = (PipecImage){.type = PIPEC_NONE};
        if (buffer >= 0) {
            ExecGrid grid = of->grids[program->buffers[buffer].grid];
            grid.place = of->places[i];
            describe_image(&grid, of->buffers[buffer].elem, &outputs[i]);
            turn_series(&program->outputs[i], &outputs[i]);
        }
    }
}

static bool plan_run(const PipecPipeline *p, PipecDevice *d, uint64_t memory, const PipecRun *run, PipecPlan *plan,
                     PipecImage *outputs, Err *err)
{
    ExecInput *inputs = NULL;
    double *params = NULL;
    ExecPlan *made = NULL;
    ExecTarget target = exec_target(d != NULL ? d->dev : NULL);
    target.limit = memory > 0 || d == NULL ? memory : dev_limit(d->dev);
    bool ok = library_is_right(p, err) && check_inputs(p->c.program, run, &inputs, err) &&
              take_params(p->c.program, run, &params, err) &&
              exec_plan_new(p->c.program, &target, inputs, params, &made, err);
    if (ok) {
        give_plan(made, plan, outputs);
    }
    exec_plan_free(made);
    free(inputs);
    free(params);
    return ok;
}

int pipec_plan(PipecPipeline *pipeline, PipecDevice *device, uint64_t memory, const PipecRun *run, PipecPlan *plan,
               PipecImage *outputs, PipecError *error)
{
    Err err = {0};
    if (plan->size < sizeof *plan) {
        err_set(&err, CODE_USAGE, "the size of the plan is not set");
    } else if (device != NULL) {
        pthread_mutex_lock(&device->lock);
        (void)plan_run(pipeline, device, memory, run, plan, outputs, &err);
        pthread_mutex_unlock(&device->lock);
    } else {
        (void)plan_run(pipeline, NULL, memory, run, plan, outputs, &err);
    }
    return library_code(&err, error);
}

/* ---- a pipeline on a device ------------------------------------------------------------ */

typedef struct Planning {
    PipecDevice *device;
    const double *params;
} Planning;

static bool plan_for_device(void *context, Err *err)
{
    const Planning *planning = context;
    PipecDevice *d = planning->device;
    Compilation from = d->pipeline->c;
    (void)err;
    from.options.plan_for = d->figures;
    memcpy(from.options.tuned_for, d->name, sizeof d->name);
    compile_aside(&from, planning->params, &d->planned);
    return true;
}

/* Kernels are planned for this device and these params, as the command does it. */
static bool bind(PipecDevice *d, PipecPipeline *p, const double *params, Err *err)
{
    size_t bytes = sizeof *params * (size_t)p->c.program->n_params;
    if (d->pipeline == p && d->exec != NULL && memcmp(d->params, params, bytes) == 0) {
        return true;
    }
    unbind(d);
    d->pipeline = library_hold(p);
    d->params = malloc(bytes + 1);
    if (d->params == NULL) {
        return no_memory(err);
    }
    memcpy(d->params, params, bytes);
    return library_compiler(plan_for_device, &(Planning){d, params}, err) &&
           exec_new(d->planned.program, d->dev, &d->exec, err);
}

/* ---- rows ------------------------------------------------------------------------------ */

typedef struct Rows {
    const PipecRun *run;
    const Program *program;
    Results *results;
    double total, written; /* rows of outputs */
} Rows;

static bool tell(void *context)
{
    const Rows *rows = context;
    const PipecRun *run = rows->run;
    return run->progress != NULL && run->progress(run->context, rows->total > 0 ? rows->written / rows->total : 0) != 0;
}

/* Pixels of a row that do not lie close together. */
static void gather(char *to, const char *from, int64_t n, int64_t stride, size_t size)
{
#define GATHER(TYPE)                                            \
    for (int64_t x = 0; x < n; x++) {                           \
        memcpy(to + (size_t)x * size, from + x * stride, TYPE); \
    }
    switch (size) { /* with a size that the compiler knows, they are moved in registers */
    case 1:
        GATHER(1)
        break;
    case 2:
        GATHER(2)
        break;
    case 4:
        GATHER(4)
        break;
    default:
        GATHER(8)
    }
#undef GATHER
}

static void read_memory(const PipecImage *image, int64_t c, int64_t z, int64_t row, int64_t rows, char *to,
                        size_t pitch)
{
    const int64_t *stride = image->stride;
    size_t size = elem_size((Elem)image->type), line = size * (size_t)image->extent[0];
    const char *from = (const char *)image->data + c * stride[3] + z * stride[2] + row * stride[1];
    for (int64_t y = 0; y < rows; y++) {
        if (stride[0] == (int64_t)size) {
            memcpy(to, from, line);
        } else {
            gather(to, from, image->extent[0], stride[0], size);
        }
        from += stride[1];
        to += pitch;
    }
}

static bool read_rows(void *context, int input, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                      Err *err)
{
    const Rows *r = context;
    const PipecInput *in = &r->run->inputs[input];
    if (in->read == NULL) {
        read_memory(&in->image, c, z, row, rows, to, pitch);
        return true;
    }
    return in->read(in->context, c, z, row, rows, to, pitch) == 0 ||
           err_set(err, CODE_FILES, "rows of the input '%s' could not be read", r->program->inputs[input].name);
}

static bool write_rows(void *context, int output, double most, int64_t c, int64_t z, int64_t row, int64_t rows,
                       const void *from, size_t pitch, Err *err)
{
    Rows *r = context;
    const ExecGrid *g = &r->results->grids[output];
    const PipecSink *sink = r->run->sinks != NULL ? &r->run->sinks[output] : NULL;
    size_t line = (size_t)g->w * elem_size(r->results->elems[output]);
    (void)most;
    r->written += (double)rows;
    if (sink == NULL || sink->write == NULL) {
        char *to = (char *)r->results->images[output] + (size_t)((c * g->d + z) * g->h + row) * line;
        for (int64_t y = 0; y < rows; y++) {
            memcpy(to + (size_t)y * line, (const char *)from + (size_t)y * pitch, line);
        }
        return true;
    }
    return sink->write(sink->context, c, z, row, rows, from, pitch) == 0 ||
           err_set(err, CODE_OUTPUT, "rows of the output '%s' could not be written", r->program->outputs[output].name);
}

/* ---- runs ------------------------------------------------------------------------------ */

static bool make_room(Rows *rows, Err *err)
{
    const PipecRun *run = rows->run;
    for (int i = 0; i < rows->program->n_outputs; i++) {
        const ExecGrid *g = &rows->results->grids[i];
        size_t bytes = (size_t)g->w * (size_t)g->h * (size_t)g->planes * elem_size(rows->results->elems[i]);
        bool memory = bytes > 0 && (run->sinks == NULL || run->sinks[i].write == NULL);
        rows->total += (double)g->h * g->planes;
        rows->results->images[i] = memory ? malloc(bytes) : NULL;
        if (memory && rows->results->images[i] == NULL) {
            return no_memory(err);
        }
    }
    return true;
}

static bool run_bound(PipecDevice *d, const PipecRun *run, const ExecInput *inputs, Results **out, Err *err)
{
    Rows rows = {.run = run, .program = d->planned.program};
    const ExecStream stream = {.context = &rows, .crew = d->crew, .read = read_rows, .write = write_rows};
    exec_set_stop(d->exec, tell, &rows);
    bool ok = exec_bind(d->exec, inputs, d->params, err) && results_begin(d->exec, rows.program, NULL, NULL, out, err);
    if (ok) {
        rows.results = *out;
        ok = make_room(&rows, err) &&
             (exec_in_parts(d->exec)
                  ? exec_run_parts(d->exec, &stream, err)
                  : exec_load(d->exec, &stream, err) && exec_run(d->exec, err) && exec_save(d->exec, &stream, err)) &&
             results_finish(d->exec, *out, err);
    }
    exec_set_stop(d->exec, NULL, NULL);
    return ok;
}

static bool run_on(PipecDevice *d, PipecPipeline *p, const PipecRun *run, PipecResult *result, Err *err)
{
    ExecInput *inputs = NULL;
    double *params = NULL;
    bool ok = library_is_right(p, err) && check_inputs(p->c.program, run, &inputs, err) &&
              take_params(p->c.program, run, &params, err) && revive(d, err) && bind(d, p, params, err) &&
              run_bound(d, run, inputs, &result->results, err);
    if (!ok && d->exec == NULL) {
        unbind(d); /* half of it is worth nothing */
    }
    free(inputs);
    free(params);
    return ok;
}

int pipec_run(PipecDevice *device, PipecPipeline *pipeline, const PipecRun *run, PipecResult **out, PipecError *error)
{
    Err err = {0};
    *out = NULL;
    PipecResult *result = calloc(1, sizeof *result);
    if (result == NULL) {
        no_memory(&err);
        return library_code(&err, error);
    }
    result->pipeline = library_hold(pipeline);
    pthread_mutex_lock(&device->lock);
    bool ok = run_on(device, pipeline, run, result, &err);
    pthread_mutex_unlock(&device->lock);
    if (ok) {
        result->results->program = pipeline->c.program; /* the planned one may go before the result */
        *out = result;
    } else {
        pipec_result_free(result);
    }
    return library_code(&err, error);
}

void pipec_result_free(PipecResult *result)
{
    if (result == NULL) {
        return;
    }
    results_free(result->results);
    pipec_pipeline_free(result->pipeline);
    free(result);
}

/* ---- results --------------------------------------------------------------------------- */

static bool is_output(const PipecResult *result, int output, Err *err)
{
    int n = result->results->program->n_outputs;
    return (output >= 0 && output < n) || err_set(err, CODE_USAGE, "there is no output %d, only %d", output, n);
}

int pipec_image(const PipecResult *result, int output, PipecImage *image, PipecError *error)
{
    Err err = {0};
    const Results *r = result->results;
    if (is_output(result, output, &err) && r->images[output] == NULL) {
        err_set(&err, CODE_USAGE, "'%s' is no image in memory", r->program->outputs[output].name);
    }
    if (err.code == CODE_OK) {
        describe_image(&r->grids[output], r->elems[output], image);
        turn_series(&r->program->outputs[output], image);
        image->data = r->images[output];
    }
    return library_code(&err, error);
}

double pipec_value(const PipecResult *result, int output)
{
    Err err = {0};
    return is_output(result, output, &err) ? result->results->values[output] : (double)NAN;
}

int pipec_table(const PipecResult *result, int output, PipecTable *table, PipecError *error)
{
    Err err = {0};
    const Results *r = result->results;
    if (is_output(result, output, &err) && r->program->outputs[output].kind != OUT_TABLE) {
        err_set(&err, CODE_USAGE, "'%s' is no table", r->program->outputs[output].name);
    }
    if (err.code == CODE_OK) {
        const PrimTable *of = &r->tables[r->program->outputs[output].table];
        *table = (PipecTable){.rows = of->rows,
                              .columns = of->columns,
                              .at = of->at,
                              .names = (const char(*)[64])of->names,
                              .whole = (const char *)of->integer};
    }
    return library_code(&err, error);
}
