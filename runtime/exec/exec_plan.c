/* exec_plan: evaluates a program's host expressions for one set of inputs and packs the arena. */
#include "exec_plan.h"

#include "exec_launch.h"
#include "parts.h"
#include "plan.h"

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
    PITCH = 16,          /* rows are whole multiples of this many elements */
    CPU_PX = 16, /* pixels a work-item */
    GPU_PX = 4,
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
        known->elem = input->elem == ELEM_FILE ? inputs[i].elem : input->elem;
        if (elem_size(known->elem) == 0 || elem_size(inputs[i].elem) == 0) {
            return err_set(err, CODE_FILES, "the pixels of '%s' have no type", input->name);
        }
    }
    for (int i = 0; i < program->n_params; i++) {
        plan->params[i] = params[i];
    }
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
            TRY(host_eval_int(program, &plan->host, program->grids[i].extent[axis],
                              "an image's extent", &e[axis], err));
            if (e[axis] < 1 || e[axis] > INT_MAX - EXEC_COLUMNS) {
                return err_set(err, CODE_USAGE,
                               "an image would be %d pixels long along its %c axis", e[axis],
                               "xyzc"[axis]);
            }
        }
        if ((int64_t)e[2] * e[3] > INT_MAX) {
            return err_set(err, CODE_MEMORY, "an image would have %d channels of %d planes", e[3],
                           e[2]);
        }
        plan->grids[i] = (ExecGrid){.w = e[0],
                                    .h = e[1],
                                    .d = e[2],
                                    .c = e[3],
                                    .planes = e[2] * e[3],
                                    .pitch = (e[0] + PITCH - 1) / PITCH * PITCH,
                                    .has_z = program->grids[i].has_z};
    }
    return true;
}

/* Says which images do not fit together; those that the pipeline makes have no names here. */
static bool refuse_need(const ExecPlan *plan, const ProgNeed *need, double a, double b, Err *err)
{
    static const char *const AXES[] = {"width", "height", "depth", "number of channels"};
    const HostNode *one = &plan->program->host[need->a], *other = &plan->program->host[need->b];
    if (need->below || one->op != HOST_EXTENT || other->op != HOST_EXTENT) {
        return err_set(err, CODE_FILES, "%s%s: %g and %g do not fit", need->where, need->what, a, b);
    }
    const ProgInput *inputs = plan->program->inputs;
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
        if (need->below ? !(a < b) : a != b) {
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
    to->elem = from->elem == ELEM_FILE ? plan->inputs[from->elem_of].elem : from->elem;
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

/* Whose results take the place of images that die as they are made. */
typedef enum Overwriting {
    NOBODY,
    PRIMITIVES, /* which do it at no cost */
    EVERYBODY,  /* kernels, too, whose compiler then knows less of what they read and write */
    OVERWRITINGS
} Overwriting;

static bool is_of_primitive(const Program *program, int buffer)
{
    bool is = false;
    for (int s = 0; s < program->n_steps; s++) {
        const ProgStep *step = &program->steps[s];
        for (int i = 0; step->kind == STEP_PRIMITIVE && i < step->n_writes; i++) {
            is = is || step->writes[i] == buffer;
        }
    }
    return is;
}

/* Each result that is as wide as what it may take the place of does; how many there are. */
static int find_onto(ExecPlan *plan, Overwriting who)
{
    int n = 0;
    for (int i = 0; i < plan->program->n_buffers; i++) {
        int onto = plan->program->buffers[i].onto;
        bool may = who == EVERYBODY || (who == PRIMITIVES && is_of_primitive(plan->program, i));
        bool as_wide = may && onto >= 0 && plan->buffers[onto].bytes == plan->buffers[i].bytes;
        plan->buffers[i].onto = as_wide ? onto : -1;
        n += as_wide;
    }
    return n;
}

/* The file must be as large as what the program makes of it. */
static bool check_input(ExecPlan *plan, int i, Err *err)
{
    static const char *const axes[] = {"width", "height", "depth", "number of channels"};
    const ProgInput *input = &plan->program->inputs[i];
    plan->channel[i] = -1;
    if (input->channel >= 0) {
        TRY(host_eval_int(plan->program, &plan->host, input->channel, "the channel",
                          &plan->channel[i], err));
        if (plan->channel[i] < 0 || plan->channel[i] >= plan->inputs[i].extent[3]) {
            return err_set(err, CODE_FILES, "'%s' has no channel %d: it has %" PRId64, input->name,
                           plan->channel[i], plan->inputs[i].extent[3]);
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
            return err_set(err, CODE_FILES,
                           "the %s of '%s' is %" PRId64 ", but the pipeline needs %" PRId64,
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
    return host_eval_int(plan->program, &plan->host, rounds, "the number of rounds",
                         &plan->steps[s].rounds, err);
}

static PrimImage image_of(const ExecPlan *plan, int buffer)
{
    const ProgBuffer *from = &plan->program->buffers[buffer];
    const ExecBuffer *to = &plan->buffers[buffer];
    PrimImage image = {.elem = to->elem, .length = to->length, .h = 1, .d = 1, .planes = 1};
    if (from->grid >= 0) {
        const ExecGrid *g = &plan->grids[from->grid];
        image.w = g->w;
        image.h = g->h;
        image.d = g->d;
        image.planes = g->planes;
        image.pitch = g->pitch;
    } else {
        image.w = image.pitch = to->length < INT_MAX ? (int)to->length : INT_MAX;
    }
    return image;
}

void exec_plan_call(const ExecPlan *plan, Device *dev, int s, PrimCall *call)
{
    enum { MAX_IN = sizeof call->in / sizeof call->in[0] };
    enum { MAX_OUT = sizeof call->out / sizeof call->out[0] };
    enum { MAX_ARG = sizeof call->arg / sizeof call->arg[0] };
    const ProgStep *step = &plan->program->steps[s];
    const ExecGrid *g = &plan->grids[step->grid];
    *call = (PrimCall){.dev = dev,
                       .name = step->name,
                       .w = g->w,
                       .h = g->h,
                       .d = g->d,
                       .planes = g->planes,
                       .pitch = g->pitch,
                       .text = step->text,
                       .labels = NAN,
                       .value = step->value,
                       .fed = plan->steps[s].fed,
                       .of_value = step->of_value};
    assert(step->n_inputs <= MAX_IN && step->n_pixels <= MAX_IN);
    assert(step->n_writes <= MAX_OUT && step->n_exprs <= MAX_ARG);
    for (int i = 0; i < step->n_inputs; i++) {
        call->in[i] = step->inputs[i] >= 0 ? image_of(plan, step->inputs[i]) : (PrimImage){0};
    }
    for (int i = 0; i < step->n_pixels; i++) {
        call->pixels[i] = step->pixels[i] >= 0 ? plan->buffers[step->pixels[i]].elem : ELEM_NONE;
    }
    for (int i = 0; i < step->n_writes; i++) {
        call->out[i] = image_of(plan, step->writes[i]);
    }
    for (int i = 0; i < step->n_exprs; i++) {
        call->arg[i] = plan->steps[s].values[step->n_args + i];
    }
}

static bool plan_primitive(ExecPlan *plan, const ExecTarget *target, int s, Err *err)
{
    const ProgStep *step = &plan->program->steps[s];
    const Primitive *primitive = prim_find(step->primitive);
    if (!primitive) {
        return err_set(err, CODE_USAGE, "this version cannot run '%s' (needed by '%s')",
                       step->primitive, step->name);
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
    return (uint64_t)g->w * (uint64_t)g->h * (uint64_t)g->planes *
           elem_size(plan->buffers[buffer].elem);
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
    if (step->kind == STEP_PRIMITIVE) {
        return plan_primitive(plan, target, s, err);
    }
    exec_plan_launch(plan, target, s);
    return true;
}

/* ---- memory ---------------------------------------------------------------------------- */

/* The program's buffers, then the values, then every step's scratch; how many. */
static int list_arena(const ExecPlan *plan, PlanBuffer *list)
{
    const Program *program = plan->program;
    int n = 0;
    for (int i = 0; i < program->n_buffers; i++) {
        const ProgBuffer *b = &program->buffers[i];
        list[n++] = (PlanBuffer){plan->buffers[i].bytes, b->first, b->last, plan->buffers[i].onto, 0};
    }
    for (int i = 0; i < program->n_inputs; i++) { /* uploaded before the first step */
        if (program->inputs[i].buffer >= 0) {
            list[program->inputs[i].buffer].first = -1;
        }
    }
    uint64_t bytes = (uint64_t)(program->n_values + 1) * sizeof(double);
    list[n++] = (PlanBuffer){bytes, 0, program->n_steps, -1, 0};
    for (int s = 0; s < program->n_steps; s++) {
        int from = plan->steps[s].fed > 0 ? plan->steps[s].fed_from : s;
        list[n++] = (PlanBuffer){plan->steps[s].scratch, from, s, -1, 0};
    }
    return n;
}

static void take_arena(ExecPlan *plan, const PlanBuffer *list, PlanResult result)
{
    int n = plan->program->n_buffers;
    for (int i = 0; i < n; i++) {
        plan->buffers[i].offset = list[i].offset;
        plan->buffers[i].onto = list[i].onto;
    }
    for (int s = 0; s < plan->program->n_steps; s++) {
        plan->steps[s].scratch_at = list[n + 1 + s].offset;
    }
    plan->values_at = list[n].offset;
    plan->peak = result.peak;
    plan->load = result.load;
}

/* Results are written onto what dies there if that makes the peak smaller; those of kernels only where the
 * run does not fit otherwise, for kernels are faster where no image is both read and written. */
static bool plan_arena(ExecPlan *plan, const ExecTarget *target, Err *err)
{
    size_t most = (size_t)plan->program->n_buffers + 1 + (size_t)plan->program->n_steps;
    PlanBuffer *both = calloc(most * 2, sizeof *both), *taken = both, *tried = both + most;
    PlanResult best = {.peak = UINT64_MAX};
    bool ok = both != NULL || no_memory(err);
    plan->least = UINT64_MAX;
    for (int who = NOBODY, before = -1; ok && who < OVERWRITINGS; who++) {
        PlanResult result = {0};
        int n = find_onto(plan, (Overwriting)who);
        if (n == before) {
            continue;
        }
        before = n;
        ok = plan_pack(tried, list_arena(plan, tried), target->alignment, target->max_alloc, &result, err);
        bool short_of = target->limit > 0 && best.peak > target->limit;
        if (ok && result.peak < best.peak && (who != EVERYBODY || short_of)) {
            PlanBuffer *list = taken;
            taken = tried;
            tried = list;
            best = result;
        }
        plan->least = ok && result.peak < plan->least ? result.peak : plan->least;
    }
    if (ok) {
        take_arena(plan, taken, best);
    }
    free(both);
    return ok;
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
            plan->places[i].of[k / 4][k % 4] =
                expr >= 0 ? host_eval(program, &plan->host, expr, &unknown) : 0;
        }
    }
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
    return plan->inputs && plan->params && plan->channel && plan->grids && plan->places &&
           plan->buffers && plan->steps;
}

static bool fill(ExecPlan *plan, const ExecTarget *target, const ExecInput *inputs,
                 const double *params, Err *err)
{
    TRY(plan_inputs(plan, inputs, params, err));
    TRY(check_bounds(plan, err) && plan_grids(plan, err) && check_needs(plan, err));
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
    return true;
}

/* What a plan in parts leaves for the values, which come behind everything else. */
static uint64_t room_for_values(const ExecPlan *plan, const ExecTarget *target)
{
    uint64_t values = (uint64_t)(plan->program->n_values + 1) * sizeof(double);
    return values + target->alignment + (target->max_alloc ? values : 0);
}

static bool plan_parts(ExecPlan *plan, const ExecTarget *target, uint64_t limit, Err *err)
{
    uint64_t room = room_for_values(plan, target);
    (void)find_onto(plan, EVERYBODY);
    if (limit <= room) {
        return err_set(err, CODE_MEMORY, "no run fits into %" PRIu64 " bytes", limit);
    }
    TRY(parts_plan_new(plan, target, limit - room, &plan->parts, err));
    plan->parts->beside = room;
    return true;
}

/* Whether it runs in so much memory; `whole`: bytes of a run in one piece. */
static bool would_do(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t limit)
{
    Err ignored = {0};
    bool parts = limit < whole && plan_parts(plan, target, limit, &ignored);
    parts_plan_free(plan->parts);
    plan->parts = NULL;
    return limit >= whole || parts;
}

/* The same, quickly: what is said not to do does not. */
static bool might_do(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t limit)
{
    uint64_t room = room_for_values(plan, target);
    return limit >= whole || (limit > room && parts_may_fit(plan, target, limit - room));
}

typedef bool Question(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t limit);

/* The smallest limit from `low` on that will do, to the byte; 0: there is none. */
static uint64_t smallest(ExecPlan *plan, const ExecTarget *target, uint64_t whole, uint64_t low, Question *does)
{
    enum { FIRST_STEP = 1 << 12, MOST = 60 };
    uint64_t high = low, step = FIRST_STEP;
    if (does(plan, target, whole, low)) {
        return low;
    }
    while (high < (uint64_t)1 << MOST && !does(plan, target, whole, high + step)) {
        high += step;
        step *= 2;
    }
    low = high;
    high += step;
    if (high >= (uint64_t)1 << MOST) {
        return 0;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (does(plan, target, whole, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* The smallest limit that will do; 0: there is none, or it is not for want of device memory that the plan has
 * failed. */
static uint64_t least_limit(ExecPlan *plan, const ExecTarget *target, uint64_t whole)
{
    (void)find_onto(plan, EVERYBODY);
    uint64_t low = smallest(plan, target, whole, target->limit, might_do);
    uint64_t least = low > 0 ? smallest(plan, target, whole, low, would_do) : 0;
    return least > target->limit ? least : 0;
}

/* Says the least limit, and which image asks for most of that, where it is one that may be read anywhere. */
static void refuse(ExecPlan *plan, const ExecTarget *target, uint64_t least, Err *err)
{
    const Program *p = plan->program;
    char because[300] = "";
    Err ignored = {0};
    PartsAnywhere read = {.bytes = 0};
    if (plan_parts(plan, target, least, &ignored)) {
        read = parts_read_anywhere(plan, plan->parts);
    }
    if (read.bytes > least / 2) {
        snprintf(because, sizeof because,
                 ": '%s' (line %s) may read any %s of '%s', so that %.3f MiB of it have to be there at once",
                 p->steps[read.step].name, p->steps[read.step].lines, read.planes ? "plane" : "row",
                 p->buffers[read.buffer].name, (double)read.bytes / 0x1p20);
    }
    parts_plan_free(plan->parts);
    plan->parts = NULL;
    err_clear(err);
    err_set(err, CODE_MEMORY,
            "the pipeline does not run in %.3f MiB of device memory, not even when the image is "
            "cut into parts; the least that will do is --memory %" PRIu64 " (%.3f MiB)%s",
            (double)target->limit / 0x1p20, least, (double)least / 0x1p20, because);
}

void exec_plan_place_values(ExecPlan *plan, const ExecTarget *target)
{
    uint64_t values = (uint64_t)(plan->program->n_values + 1) * sizeof(double);
    uint64_t at = (plan->parts->peak + target->alignment - 1) / target->alignment *
                  target->alignment;
    if (target->max_alloc && at / target->max_alloc != (at + values - 1) / target->max_alloc) {
        at = (at / target->max_alloc + 1) * target->max_alloc;
    }
    plan->values_at = at;
    plan->peak = plan->load = at + values;
}

/* In one piece where that fits, else in parts; where neither does, *least is the smallest limit that will do, if there
 * is one and anybody asks. */
static bool cut(ExecPlan *plan, const ExecTarget *target, uint64_t *least, Err *err)
{
    Err one = {0};
    bool fits = plan_arena(plan, target, &one);
    if (!fits && (one.code != CODE_MEMORY || target->limit == 0)) {
        *err = one;
        return false;
    }
    bool forced = target->part_rows > 0;
    if (fits && !forced && (target->limit == 0 || plan->peak <= target->limit)) {
        return true;
    }
    if (!plan_parts(plan, target, target->limit, err)) {
        uint64_t whole = fits && !forced ? plan->peak : UINT64_MAX;
        if (least && err->code == CODE_MEMORY) {
            *least = least_limit(plan, target, whole);
        }
        if (least && *least > 0) {
            refuse(plan, target, *least, err);
        }
        return false;
    }
    exec_plan_place_values(plan, target);
    return true;
}

/* As this very program. */
static bool plan_as(const Program *program, const ExecTarget *target, const ExecInput *inputs,
                    const double *params, uint64_t *least, ExecPlan **out, Err *err)
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
    if (!fill(plan, target, inputs, params, err) || !cut(plan, target, least, err)) {
        exec_plan_free(plan);
        return false;
    }
    *out = plan;
    return true;
}

bool exec_plan_new(const Program *program, const ExecTarget *target, const ExecInput *inputs,
                   const double *params, ExecPlan **out, Err *err)
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
        bool fits = plan_arena(plan, &none, &ignored) && none.part_rows == 0;
        least = least_limit(plan, &none, fits ? plan->peak : UINT64_MAX);
    }
    exec_plan_free(plan);
    return least;
}

bool exec_plan_takes_labels(const ExecPlan *plan, int input, double largest, Err *err)
{
    const ProgInput *in = &plan->program->inputs[input];
    return in->vector == 0 || largest < (double)plan->buffers[in->vector - 1].length ||
           err_set(err, CODE_USAGE, "'%s' has the label %.0f, which is more than it has pixels; number its labels "
                   "anew in the pipeline: relabel(%s)", in->name, largest, in->name);
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

static bool has_by_products(const ExecPlan *plan, int kernel)
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

bool exec_plan_text(const ExecPlan *plan, const ExecTarget *target, int kernel, bool reader,
                    char **text, Err *err)
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
        fprintf(out,
                "#define PX %d\n#define LX %d\n#define BY_PRODUCTS %d\n", target->px, target->lx,
                has_by_products(plan, kernel));
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
