/* exec_plan: evaluates a program's host expressions for one set of inputs. */
#include "exec_plan.h"

#include "exec_fit.h"
#include "exec_launch.h"
#include "parts.h"

#include "../../base/hostops.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_COMPILERS = 3, /* threads; more gain nothing */
    QUICK_PIXELS = 1 << 19,
    QUICK_INPUTS = 3,     /* labels and two images */
    QUICK_OPS = 1000,     /* a pixel */
    QUICK_WORK = 1 << 23, /* operations, which take some 8 ns without */
    MOST_WORK = 1 << 25,  /* the same, for the first time: less than optimising takes */
    CPU_PX = 16,          /* pixels a work-item */
    GPU_PX = 4,
    PAYS_ON_CPU = 64,   /* images of some megapixels: their labels take as long to convert as the kernel to compile */
    UNKNOWN_UNITS = 132 /* an H200's */
};

static bool no_memory(Err *err)
{
    return err_set(err, CODE_MEMORY, "out of host memory for the plan of a run");
}

/* NVIDIA's driver takes one program at a time through each of its two halves; more threads than keep both busy
 * only lose the order.  PoCL takes one program at a time, and oclgrind crashes. */
static int count_compilers(const DeviceInfo *info)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = cores > MOST_COMPILERS ? MOST_COMPILERS : cores > 1 ? (int)cores : 1;
    return strcmp(info->platform, "NVIDIA CUDA") == 0 ? n : 1;
}

ExecTarget exec_target(Device *dev)
{
    ExecTarget target = {.dev = dev, .alignment = 512};
    if (dev) {
        const DeviceInfo *info = dev_info(dev);
        target.alignment = dev_alignment(dev);
        target.max_alloc = info->max_alloc / target.alignment * target.alignment;
    }
    target.compilers = dev ? count_compilers(dev_info(dev)) : 1;
    exec_shape(&target, SHAPE_BY_DEVICE);
    return target;
}

bool exec_narrows(const ExecTarget *target)
{
    return target->narrows && (!target->cpu || target->images >= PAYS_ON_CPU);
}

void exec_shape(ExecTarget *target, int shape)
{
    const DeviceInfo *info = target->dev != NULL ? dev_info(target->dev) : NULL;
    bool cpu = info != NULL && info->cpu;
    target->cpu = shape == SHAPE_CPU || (shape == SHAPE_BY_DEVICE && cpu);
    target->units = info == NULL ? UNKNOWN_UNITS : info->units;
    if (target->units < 1 || (cpu && !target->cpu)) { /* tests: small images fill several rounds of a small GPU */
        target->units = 1;
    }
    target->px = target->cpu ? CPU_PX : GPU_PX;
    target->lx = EXEC_COLUMNS / target->px;
    target->ahead = !target->cpu;
}

/* ---- extents and buffers --------------------------------------------------------------- */

static bool plan_inputs(ExecPlan *plan, const ExecInput *inputs, const double *params, Err *err)
{
    const Program *program = plan->program;
    for (int i = 0; i < program->n_inputs; i++) {
        const ProgInput *input = &program->inputs[i];
        HostInput *known = &plan->inputs[i];
        for (int axis = 0; axis < 4; axis++) {
            known->extent[axis] = inputs[i].extent[axis];
            if (inputs[i].extent[axis] < 1 || inputs[i].extent[axis] > INT_MAX - EXEC_COLUMNS) {
                return err_set(err, CODE_FILES, "the extent %" PRId64 " of '%s' is out of range",
                               inputs[i].extent[axis], input->name);
            }
        }
        known->sky = inputs[i].sky;
        known->elem = input->elem == ELEM_FILE ? inputs[i].elem : input->elem;
        if (elem_size(known->elem) == 0 || elem_size(inputs[i].elem) == 0) {
            return err_set(err, CODE_FILES, "the pixels of '%s' have no type", input->name);
        }
    }
    for (int i = 0; i < program->n_params; i++) {
        plan->params[i] = params[i];
    }
    plan->host.upwards = program->n_inputs > 0 && inputs[0].upwards;
    for (int axis = 0; axis < 3 && program->n_inputs > 0; axis++) {
        plan->host.pixel_um[axis] = inputs[0].pixel_um[axis];
    }
    return true;
}

static bool plan_grids(ExecPlan *plan, Err *err)
{
    const Program *program = plan->program;
    for (int i = 0; i < program->n_grids; i++) {
        int e[4];
        for (int axis = 0; axis < 4; axis++) {
            TRY(host_eval_int(program, &plan->host, program->grids[i].extent[axis], "an image's extent", &e[axis],
                              err));
            if (e[axis] < 1 || e[axis] > INT_MAX - EXEC_COLUMNS) {
                return err_set(err, CODE_USAGE, "an image would be %d pixels long along its %c axis", e[axis],
                               "xyzc"[axis]);
            }
        }
        if ((int64_t)e[2] * e[3] > INT_MAX) {
            return err_set(err, CODE_MEMORY, "an image would have %d channels of %d planes", e[3], e[2]);
        }
        plan->grids[i] = (ExecGrid){.w = e[0],
                                    .h = e[1],
                                    .d = e[2],
                                    .c = e[3],
                                    .planes = e[2] * e[3],
                                    .pitch = (e[0] + EXEC_PITCH - 1) / EXEC_PITCH * EXEC_PITCH,
                                    .has_z = program->grids[i].has_z};
    }
    return true;
}

/* Says which images do not fit together; those that the pipeline makes have no names here. */
static bool refuse_need(const ExecPlan *plan, const ProgNeed *need, double a, double b, Err *err)
{
    static const char *const AXES[] = {"width", "height", "depth", "number of channels"};
    const HostNode *one = &plan->program->host[need->a], *other = &plan->program->host[need->b];
    const ProgInput *inputs = plan->program->inputs;
    if (need->below) {
        return err_set(err, CODE_FILES, "%s%s are %g and %g, but the first must %s", need->where, need->what, a, b,
                       a < b ? "not be negative" : "be below the second");
    }
    if (one->op != HOST_EXTENT && other->op != HOST_EXTENT) {
        return err_set(err, CODE_FILES, "%s%s: %g and %g do not fit", need->where, need->what, a, b);
    }
    if (one->op != HOST_EXTENT || other->op != HOST_EXTENT) {
        const bool first = one->op == HOST_EXTENT;
        const HostNode *known = first ? one : other;
        return err_set(err, CODE_FILES,
                       "%sthe %s of '%s' is %g, and that of an image it is used with %g: these do not fit", need->where,
                       AXES[known->b], inputs[known->a].name, first ? a : b, first ? b : a);
    }
    return err_set(err, CODE_FILES,
                   "%sthe %s of '%s' and the %s of '%s', which are used together, are %g and %g: these do not fit",
                   need->where, AXES[one->b], inputs[one->a].name, AXES[other->b], inputs[other->a].name, a, b);
}

static bool check_needs(ExecPlan *plan, Err *err)
{
    for (int i = 0; i < plan->program->n_needs; i++) {
        const ProgNeed *need = &plan->program->needs[i];
        double a = host_eval(plan->program, &plan->host, need->a, err);
        double b = host_eval(plan->program, &plan->host, need->b, err);
        TRY(err->code == CODE_OK);
        if (need->below ? !(a > -1 && a < b) : a != b) {
            return refuse_need(plan, need, a, b, err);
        }
    }
    return true;
}

static bool check_bounds(ExecPlan *plan, Err *err)
{
    for (int i = 0; i < plan->program->n_bounds; i++) {
        const ProgBound *bound = &plan->program->bounds[i];
        double value = host_eval(plan->program, &plan->host, bound->value, err);
        TRY(err->code == CODE_OK);
        if (!hostop_within(value, bound->lo, bound->hi, bound->above)) {
            return err_set(err, CODE_USAGE, "%s%s is %g, it must be %s", bound->where, bound->what, value, bound->must);
        }
    }
    return true;
}

static bool too_large(const char *name, Err *err)
{
    return err_set(err, CODE_MEMORY, "the image '%s' is too large for any memory", name);
}

static bool plan_buffer(ExecPlan *plan, int i, Err *err)
{
    const Program *program = plan->program;
    const ProgBuffer *from = &program->buffers[i];
    ExecBuffer *to = &plan->buffers[i];
    to->elem = from->elem != ELEM_FILE                      ? from->elem
               : program->inputs[from->elem_of].buffer == i ? plan->inputs[from->elem_of].elem
                                                            : elem_kept(plan->inputs[from->elem_of].elem);
    if (from->grid >= 0) {
        const ExecGrid *g = &plan->grids[from->grid];
        int64_t rows = (int64_t)g->planes * g->h; /* both below 2^31 */
        if (rows > INT64_MAX / 8 / g->pitch) {
            return too_large(from->name, err);
        }
        to->length = rows * g->pitch;
    } else {
        double length = floor(host_eval(program, &plan->host, from->length, err));
        TRY(err->code == CODE_OK);
        if (!(length >= 0 && length < 1e15)) {
            return too_large(from->name, err);
        }
        to->length = (int64_t)length;
    }
    to->bytes = (uint64_t)to->length * elem_size(to->elem);
    to->onto = -1;
    return true;
}

static bool check_input(ExecPlan *plan, int i, Err *err)
{
    static const char *const axes[] = {"width", "height", "depth", "number of channels"};
    const ProgInput *input = &plan->program->inputs[i];
    plan->channel[i] = -1;
    if (input->channel >= 0) {
        TRY(host_eval_int(plan->program, &plan->host, input->channel, "the channel", &plan->channel[i], err));
        if (plan->channel[i] < 0 || plan->channel[i] >= plan->inputs[i].extent[3]) {
            return err_set(err, CODE_FILES, "'%s' has no channel %d: it has %" PRId64, input->name, plan->channel[i],
                           plan->inputs[i].extent[3]);
        }
    }
    if (input->buffer < 0) {
        return true;
    }
    const ProgBuffer *buffer = &plan->program->buffers[input->buffer];
    const ExecGrid *g = &plan->grids[buffer->grid];
    const int64_t want[4] = {g->w, g->h, g->d, g->c};
    for (int axis = 0; axis < 4; axis++) {
        int64_t have = plan->inputs[i].extent[axis];
        if (axis == 3 && plan->channel[i] >= 0) {
            have = 1;
        }
        if (have != want[axis]) {
            return err_set(err, CODE_FILES, "the %s of '%s' is %" PRId64 ", but the pipeline needs %" PRId64,
                           axes[axis], input->name, have, want[axis]);
        }
    }
    return true;
}

/* ---- steps ----------------------------------------------------------------------------- */

/* Rows beyond its own that the widest reads of a step need. */
static bool plan_halo(ExecPlan *plan, int s, Err *err)
{
    const ProgStep *step = &plan->program->steps[s];
    ExecStep *to = &plan->steps[s];
    for (int i = 0; i < step->n_reads; i++) {
        const ProgRead *read = &step->reads[i];
        int below, above;
        if (read->below < 0 || read->above < 0) {
            to->whole = true;
            continue;
        }
        TRY(host_eval_int(plan->program, &plan->host, read->below, "a halo", &below, err));
        TRY(host_eval_int(plan->program, &plan->host, read->above, "a halo", &above, err));
        to->below = abs(below) > to->below ? abs(below) : to->below;
        to->above = abs(above) > to->above ? abs(above) : to->above;
    }
    return true;
}

static double as_uint(double value)
{
    return isnan(value) ? 0 : trunc(fmin(fmax(value, 0), UINT32_MAX));
}

static bool plan_arguments(ExecPlan *plan, int s, Err *err)
{
    const ProgStep *step = &plan->program->steps[s];
    ExecStep *to = &plan->steps[s];
    bool launch = step->kind == STEP_LAUNCH || step->kind == STEP_PRIMITIVE;
    int n = launch ? step->n_args + step->n_exprs : 0;
    to->values = calloc((size_t)n + 1, sizeof *to->values);
    if (!to->values) {
        return no_memory(err);
    }
    for (int i = 0; launch && i < step->n_args; i++) {
        const ProgArg *arg = &step->args[i];
        int whole;
        if (arg->kind == ARG_HOST_INT || (arg->kind == ARG_STRIP && arg->b == 1)) {
            TRY(host_eval_int(plan->program, &plan->host, arg->a, step->name, &whole, err));
            to->values[i] = whole;
        } else if (arg->kind == ARG_HOST_UINT) {
            to->values[i] = as_uint(host_eval(plan->program, &plan->host, arg->a, err));
        } else if (arg->kind == ARG_HOST_FLOAT || arg->kind == ARG_HOST_DOUBLE) {
            to->values[i] = host_eval(plan->program, &plan->host, arg->a, err);
        }
    }
    for (int i = 0; launch && i < step->n_exprs; i++) {
        to->values[step->n_args + i] = host_eval(plan->program, &plan->host, step->exprs[i], err);
    }
    return err->code == CODE_OK;
}

static int end_of(const Program *program, int loop)
{
    int depth = 0;
    for (int s = loop; s < program->n_steps; s++) {
        depth += program->steps[s].kind == STEP_LOOP;
        depth -= program->steps[s].kind == STEP_END;
        if (depth == 0) {
            return s;
        }
    }
    return -1;
}

static bool plan_loop(ExecPlan *plan, int s, Err *err)
{
    const ProgStep *step = &plan->program->steps[s];
    int rounds = step->n_exprs > 0 && step->exprs[0] >= 0 ? step->exprs[0] : step->at_most;
    plan->steps[s].end = end_of(plan->program, s);
    if (plan->steps[s].end < 0) {
        return err_set(err, CODE_USAGE, "the loop in step %d does not end", s);
    }
    return host_eval_int(plan->program, &plan->host, rounds, "the number of rounds", &plan->steps[s].rounds, err);
}

static bool is_in_loop(const ExecPlan *plan, int s)
{
    bool is = false;
    for (int before = 0; before < s; before++) {
        is = is || (plan->program->steps[before].kind == STEP_LOOP && s < plan->steps[before].end);
    }
    return is;
}

/* What a few small images gain by optimising is lost while kernels are compiled.  An executable that brings compiled ones
 * has them optimised.  Tables of many images are, too: without it a group's variables take 0.8 MiB of a thread's stack for
 * each of them; and kernels of much text. */
static ExecQuick is_quick(const ExecPlan *plan, const ExecTarget *target, int s)
{
    const ProgStep *step = &plan->program->steps[s];
    const ExecGrid *g = &plan->grids[step->grid];
    const double images = target->images > 0 ? (double)target->images : 1;
    const double pixels = (double)g->w * g->h * g->planes * images, work = pixels * step->ops;
    if (target->dev == NULL || !dev_info(target->dev)->quick || pixels > QUICK_PIXELS ||
        plan->program->n_binaries > 0 || is_in_loop(plan, s)) {
        return QUICK_NEVER;
    }
    if (step->kind == STEP_PRIMITIVE) {
        return step->n_inputs <= QUICK_INPUTS ? QUICK_ALWAYS : QUICK_NEVER;
    }
    const bool known = target->images > 0 && step->ops > 0 && step->ops <= QUICK_OPS;
    return !known || work > MOST_WORK ? QUICK_NEVER : work > QUICK_WORK ? QUICK_ONCE : QUICK_ALWAYS;
}

static bool plan_primitive(ExecPlan *plan, const ExecTarget *target, int s, Err *err)
{
    const ProgStep *step = &plan->program->steps[s];
    const Primitive *primitive = prim_find(step->primitive);
    if (!primitive) {
        return err_set(err, CODE_USAGE, "this version cannot run '%s' (needed by '%s')", step->primitive, step->name);
    }
    PrimCall call;
    exec_plan_call(plan, target->dev, s, &call);
    call.err = err;
    if (primitive->scratch_bytes) {
        plan->steps[s].scratch = primitive->scratch_bytes(&call);
    }
    return err->code == CODE_OK;
}

static uint64_t pixel_bytes(const ExecPlan *plan, int buffer)
{
    int grid = plan->program->buffers[buffer].grid;
    if (grid < 0) {
        return plan->buffers[buffer].bytes;
    }
    const ExecGrid *g = &plan->grids[grid];
    return (uint64_t)g->w * (uint64_t)g->h * (uint64_t)g->planes * elem_size(plan->buffers[buffer].elem);
}

static bool reads_before(const ProgStep *step, int i)
{
    for (int j = 0; j < i; j++) {
        if (step->reads[j].buffer == step->reads[i].buffer) {
            return true;
        }
    }
    return false;
}

/* Bytes that the step must move at least: what it reads and what it writes, each once. */
static uint64_t traffic_of(const ExecPlan *plan, const ProgStep *step)
{
    uint64_t bytes = 0;
    for (int i = 0; i < step->n_reads; i++) {
        bytes += reads_before(step, i) ? 0 : pixel_bytes(plan, step->reads[i].buffer);
    }
    for (int i = 0; i < step->n_writes; i++) {
        bytes += pixel_bytes(plan, step->writes[i]);
    }
    return bytes;
}

static bool plan_step(ExecPlan *plan, const ExecTarget *target, int s, Err *err)
{
    const ProgStep *step = &plan->program->steps[s];
    TRY(plan_arguments(plan, s, err));
    if (step->kind == STEP_LOOP) {
        return plan_loop(plan, s, err);
    }
    if (step->kind == STEP_END) {
        return true;
    }
    plan->steps[s].traffic = plan->steps[s].fed > 0 ? 0 : traffic_of(plan, step);
    TRY(plan_halo(plan, s, err));
    plan->steps[s].quick = is_quick(plan, target, s);
    if (step->kind == STEP_PRIMITIVE) {
        return plan_primitive(plan, target, s, err);
    }
    exec_plan_launch(plan, target, s);
    return true;
}

/* A place that cannot be computed is not known. */
static void plan_places(ExecPlan *plan)
{
    const Program *program = plan->program;
    for (int i = 0; i < program->n_outputs; i++) {
        const ProgOutput *output = &program->outputs[i];
        plan->places[i].moved = output->place.moved;
        for (int k = 0; k < 12 && output->place.moved; k++) {
            int expr = output->place.of[k / 4][k % 4];
            Err unknown = {0};
            plan->places[i].of[k / 4][k % 4] = expr >= 0 ? host_eval(program, &plan->host, expr, &unknown) : 0;
        }
    }
}

bool exec_same_input(const Program *program, const ExecInput *a, const ExecInput *b)
{
    bool same = a->elem == b->elem && a->upwards == b->upwards && memcmp(a->extent, b->extent, sizeof a->extent) == 0 &&
                memcmp(a->pixel_um, b->pixel_um, sizeof a->pixel_um) == 0;
    for (int i = 0; same && i < program->n_host; i++) {
        same = program->host[i].op != HOST_SKY || memcmp(&a->sky, &b->sky, sizeof a->sky) == 0;
    }
    return same;
}

bool exec_plan_sky(const Program *program, const ExecInput *inputs, Err *err)
{
    for (int i = 0; i < program->n_outputs; i++) {
        const ProgOutput *output = &program->outputs[i];
        const bool asked = output->kind == OUT_TABLE && program->tables[output->table].sky[0] != 0;
        const Sky *sky = &inputs[output->place.input].sky;
        if (asked && sky->projection == SKY_NONE && sky->why[0] != '\0') {
            return err_set(err, CODE_FILES, "'%s' has no RA and Dec: %s", program->inputs[output->place.input].name,
                           sky->why);
        }
    }
    return true;
}

static bool allocate(ExecPlan *plan, const Program *program)
{
    plan->program = program;
    plan->inputs = calloc((size_t)program->n_inputs + 1, sizeof *plan->inputs);
    plan->params = calloc((size_t)program->n_params + 1, sizeof *plan->params);
    plan->channel = calloc((size_t)program->n_inputs + 1, sizeof *plan->channel);
    plan->grids = calloc((size_t)program->n_grids + 1, sizeof *plan->grids);
    plan->places = calloc((size_t)program->n_outputs + 1, sizeof *plan->places);
    plan->buffers = calloc((size_t)program->n_buffers + 1, sizeof *plan->buffers);
    plan->steps = calloc((size_t)program->n_steps + 1, sizeof *plan->steps);
    plan->host.inputs = plan->inputs;
    plan->host.params = plan->params;
    return plan->inputs && plan->params && plan->channel && plan->grids && plan->places && plan->buffers && plan->steps;
}

static bool fill(ExecPlan *plan, const ExecTarget *target, const ExecInput *inputs, const double *params, Err *err)
{
    TRY(plan_inputs(plan, inputs, params, err));
    TRY(check_bounds(plan, err) && plan_grids(plan, err) && check_needs(plan, err));
    TRY(exec_plan_sky(plan->program, inputs, err));
    plan_places(plan);
    for (int i = 0; i < plan->program->n_buffers; i++) {
        TRY(plan_buffer(plan, i, err));
    }
    for (int i = 0; i < plan->program->n_inputs; i++) {
        TRY(check_input(plan, i, err));
    }
    for (int s = 0; s < plan->program->n_steps; s++) {
        TRY(plan_step(plan, target, s, err));
    }
    return host_fits(plan->program, &plan->host, err);
}

/* As this very program. */
static bool plan_as(const Program *program, const ExecTarget *target, const ExecInput *inputs, const double *params,
                    uint64_t *least, ExecPlan **out, Err *err)
{
    ExecPlan *plan = calloc(1, sizeof *plan);
    *out = NULL;
    if (least) {
        *least = 0;
    }
    if (!plan || !allocate(plan, program)) {
        exec_plan_free(plan);
        return no_memory(err);
    }
    if (!fill(plan, target, inputs, params, err) || !exec_fit(plan, target, least, err)) {
        exec_plan_free(plan);
        return false;
    }
    *out = plan;
    return true;
}

bool exec_plan_new(const Program *program, const ExecTarget *target, const ExecInput *inputs, const double *params,
                   ExecPlan **out, Err *err)
{
    Err other = {0};
    uint64_t least, in_rounds;
    if (plan_as(program, target, inputs, params, program->in_rounds ? NULL : &least, out, err)) {
        return true;
    }
    if (err->code != CODE_MEMORY || program->in_rounds == NULL) {
        return false;
    }
    if (plan_as(program->in_rounds, target, inputs, params, &in_rounds, out, &other)) {
        err_clear(err);
        return true;
    }
    err_clear(err);
    (void)plan_as(program, target, inputs, params, &least, out, err);
    if (in_rounds > 0 && (least == 0 || in_rounds < least)) {
        *err = other;
    }
    return false;
}

static uint64_t least_as(const Program *program, const ExecTarget *target, const ExecInput *inputs,
                         const double *params)
{
    ExecTarget none = *target;
    ExecPlan *plan = calloc(1, sizeof *plan);
    Err ignored = {0};
    uint64_t least = 0;
    none.limit = 1;
    if (plan && allocate(plan, program) && fill(plan, &none, inputs, params, &ignored)) {
        least = exec_fit_least(plan, &none);
    }
    exec_plan_free(plan);
    return least;
}

InputIds exec_plan_ids(const ExecPlan *plan, int input, double largest, Err *err)
{
    const ProgInput *in = &plan->program->inputs[input];
    if (in->ids == IDS_NUMBERS || in->buffer < 0) {
        return IDS_NUMBERS;
    }
    const ExecGrid *g = &plan->grids[plan->program->buffers[in->buffer].grid];
    if (largest <= (double)g->w * g->h * g->planes) {
        return IDS_NUMBERS;
    }
    if (in->ids == IDS_REFUSED) {
        err_set(err, CODE_USAGE,
                "'%s' has the label %.0f, which is more than it has pixels, and meets labels with other "
                "numbers; number its labels anew in the pipeline: relabel(%s)",
                in->name, largest, in->name);
    }
    return in->ids;
}

uint64_t exec_plan_least(const Program *program, const ExecTarget *target, const ExecInput *inputs,
                         const double *params)
{
    uint64_t least = least_as(program, target, inputs, params), in_rounds = 0;
    if (program->in_rounds != NULL) {
        in_rounds = least_as(program->in_rounds, target, inputs, params);
    }
    return in_rounds > 0 && (least == 0 || in_rounds < least) ? in_rounds : least;
}

void exec_plan_free(ExecPlan *plan)
{
    if (!plan) {
        return;
    }
    for (int s = 0; plan->steps && s < plan->program->n_steps; s++) {
        free(plan->steps[s].values);
    }
    parts_plan_free(plan->parts);
    host_forget(&plan->host);
    free(plan->inputs);
    free(plan->params);
    free(plan->channel);
    free(plan->grids);
    free(plan->places);
    free(plan->buffers);
    free(plan->steps);
    free(plan);
}

/* The kernel writes a result onto what it reads, or may in parts. */
static bool works_in_place(const ExecPlan *plan, int kernel)
{
    bool in_place = false;
    for (int s = 0; s < plan->program->n_steps; s++) {
        const ProgStep *step = &plan->program->steps[s];
        for (int i = 0; step->kernel == kernel && i < step->n_writes; i++) {
            in_place = in_place || plan->buffers[step->writes[i]].onto >= 0;
        }
    }
    return in_place;
}

static bool has_epilogue(const ExecPlan *plan, int kernel)
{
    bool any = false;
    for (int s = 0; plan->parts == NULL && s < plan->program->n_steps; s++) {
        const ProgStep *step = &plan->program->steps[s];
        any = any || (step->kind == STEP_LAUNCH && step->kernel == kernel && plan->steps[s].hands_on);
    }
    return any;
}

bool exec_plan_runs_ahead(const ExecPlan *plan, const ExecTarget *target)
{
    return plan->parts == NULL && target->ahead;
}

bool exec_plan_text(const ExecPlan *plan, const ExecTarget *target, int kernel, bool reader, char **text, Err *err)
{
    const ProgKernel *k = &plan->program->kernels[kernel];
    size_t size;
    *text = NULL;
    FILE *out = open_memstream(text, &size);
    if (!out) {
        return no_memory(err);
    }
    fputs("#pragma OPENCL FP_CONTRACT OFF\n", out);
    if (works_in_place(plan, kernel)) {
        fputs("#define restrict /* a result lies where something is read */\n", out);
    }
    fprintf(out, "#define RUNS_AHEAD %d\n", exec_plan_runs_ahead(plan, target));
    if (!reader) {
        fprintf(out, "#define PX %d\n#define LX %d\n#define EPILOGUE %d\n", target->px, target->lx,
                has_epilogue(plan, kernel));
    }
    uint64_t constants = target->dev != NULL ? dev_info(target->dev)->constants : UINT64_MAX;
    bool ok = host_defines(plan->program, &plan->host, k->defines, k->n_defines, constants, out, err) ||
              err_prefix(err, "line %s", k->lines);
    if (plan->program->library) {
        fputs(plan->program->library, out);
    }
    fputs(k->source, out);
    ok = (fclose(out) == 0 || no_memory(err)) && ok;
    if (!ok) {
        free(*text);
        *text = NULL;
    }
    return ok;
}
