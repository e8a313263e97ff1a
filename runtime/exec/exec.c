/*
 * exec: the executor: one arena, slices of it for buffers, steps in order on one queue (exec_run.c).
 *
 * Nothing waits for the device between steps except where the host must know a value: primitives that count,
 * and loops that end by themselves where the host cannot run ahead (exec_steps.c).
 */
#include "exec_state.h"

#include "../host/convert.h"
#include "../host/status.h"
#include "exec_fit.h"
#include "narrow.h"
#include "parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making and binding ---------------------------------------------------------------- */

static bool is_for(const ProgVariant *variant, const double *params, int n)
{
    bool is = true;
    for (int i = 0; i < n; i++) {
        is = is && variant->least[i] <= params[i] && params[i] < variant->below[i];
    }
    return is;
}

const Program *exec_variant(const Program *program, const double *params)
{
    for (int i = 0; i < program->n_variants; i++) {
        if (is_for(&program->variants[i], params, program->n_params)) {
            return program->variants[i].program;
        }
    }
    return program;
}

static size_t most_args(const Program *program)
{
    int most = 0;
    for (int s = 0; s < program->n_steps; s++) {
        most = program->steps[s].n_args > most ? program->steps[s].n_args : most;
    }
    return (size_t)most;
}

static size_t larger(int a, int b)
{
    return (size_t)(a > b ? a : b);
}

bool exec_new(const Program *program, Device *dev, Exec **out, Err *err)
{
    Exec *exec = calloc(1, sizeof *exec);
    *out = NULL;
    if (exec) {
        const Program *other = program->in_rounds != NULL ? program->in_rounds : program;
        size_t buffers = larger(program->n_buffers, other->n_buffers) + 1;
        size_t steps = larger(program->n_steps, other->n_steps) + 1;
        size_t values = larger(program->n_values, other->n_values) + 1;
        *exec = (Exec){.given = program, .program = program, .dev = dev, .target = exec_target(dev)};
        exec->bound = calloc((size_t)program->n_inputs + 1, sizeof *exec->bound);
        exec->params = calloc((size_t)program->n_params + 1, sizeof *exec->params);
        exec->planned = calloc(buffers, sizeof *exec->planned);
        exec->mem = calloc(buffers, sizeof *exec->mem);
        exec->place = calloc(buffers, sizeof *exec->place);
        exec->scratch = calloc(steps, sizeof *exec->scratch);
        exec->values = calloc(values, sizeof *exec->values);
        exec->packed = calloc(values, sizeof *exec->packed);
        exec->packed_there = calloc(steps, sizeof *exec->packed_there);
        exec->args = calloc(most_args(program) + most_args(other) + 1, sizeof *exec->args);
        exec->counts = calloc((size_t)program->n_inputs + 1, sizeof *exec->counts);
        exec->ids = calloc((size_t)program->n_inputs + 1, sizeof *exec->ids);
        exec->tables = calloc(steps, sizeof *exec->tables);
        exec->programs = calloc(steps, sizeof *exec->programs);
        exec->ends = calloc(steps, sizeof *exec->ends);
        exec->narrowed = calloc((size_t)program->n_outputs + 1, sizeof *exec->narrowed);
    }
    if (!exec || !exec->bound || !exec->params || !exec->planned || !exec->mem || !exec->place || !exec->scratch ||
        !exec->values || !exec->packed || !exec->packed_there || !exec->args || !exec->counts || !exec->ids ||
        !exec->tables || !exec->programs || !exec->ends || !exec->narrowed) {
        exec_free(exec);
        return err_set(err, CODE_MEMORY, "out of host memory for the pipeline");
    }
    for (int i = 0; dev && i < program->n_binaries; i++) {
        const ProgBinary *binary = &program->binaries[i];
        if (!dev_offer(dev, binary->key, binary->bytes, binary->size, err)) {
            exec_free(exec);
            return false;
        }
    }
    *out = exec;
    return true;
}

static void drop_slices(Exec *exec)
{
    for (int i = 0; i < exec->program->n_buffers; i++) {
        dev_free(exec->dev, exec->planned[i]);
        exec->planned[i] = exec->mem[i] = NULL;
    }
    for (int s = 0; s < exec->program->n_steps; s++) {
        dev_free(exec->dev, exec->scratch[s]);
        exec->scratch[s] = NULL;
    }
    dev_free(exec->dev, exec->values_mem);
    exec->values_mem = NULL;
}

static void drop_arena(Exec *exec)
{
    for (int i = 0; i < exec->n_arenas; i++) {
        dev_free(exec->dev, exec->arenas[i]);
    }
    free(exec->arenas);
    exec->arenas = NULL;
    exec->n_arenas = 0;
    exec->arena_bytes = 0;
}

static void unbind(Exec *exec)
{
    drop_slices(exec);
    exec_built_free(exec->built);
    exec_plan_free(exec->plan);
    exec->built = NULL;
    exec->plan = NULL;
    exec->ran = exec->warm = exec->values_known = false;
    for (int s = 0; s < exec->program->n_steps; s++) {
        prim_table_free(&exec->tables[s]);
        prim_programs_free(&exec->programs[s]);
    }
    exec->program = exec->given;
}

void exec_free(Exec *exec)
{
    if (!exec) {
        return;
    }
    if (exec->planned && exec->mem && exec->scratch && exec->tables && exec->programs) {
        unbind(exec);
        drop_arena(exec);
    }
    free(exec->bound);
    staging_free(exec->staging);
    if (exec->told) {
        dev_host_free(exec->dev, exec->told);
    }
    free(exec->params);
    free(exec->packed);
    free(exec->packed_there);
    free(exec->args);
    free(exec->planned);
    free(exec->mem);
    free(exec->place);
    free(exec->scratch);
    free(exec->values);
    for (int i = 0; exec->ids != NULL && i < exec->given->n_inputs; i++) {
        label_ids_drop(&exec->ids[i]);
    }
    free(exec->ids);
    free(exec->counts);
    free(exec->tables);
    free(exec->programs);
    free(exec->ends);
    free(exec->narrowed);
    free(exec);
}

static bool bound_already(const Exec *exec, const ExecInput *inputs, const double *params)
{
    bool same = exec->plan && memcmp(params, exec->params, sizeof *params * (size_t)exec->program->n_params) == 0;
    for (int i = 0; same && i < exec->program->n_inputs; i++) {
        same = exec_same_input(exec->program, &inputs[i], &exec->bound[i]);
    }
    return same;
}

/* Makes the arena at least as large as the plan; a larger one is kept. */
static bool allocate(Exec *exec, Err *err)
{
    uint64_t peak = exec->plan->peak;
    uint64_t piece = exec->target.max_alloc ? exec->target.max_alloc : peak;
    if (peak <= exec->arena_bytes) {
        return true;
    }
    drop_arena(exec);
    size_t n = (size_t)((peak + piece - 1) / piece);
    exec->arenas = calloc(n, sizeof *exec->arenas);
    if (!exec->arenas) {
        return err_set(err, CODE_MEMORY, "out of host memory for the arena");
    }
    for (uint64_t done = 0; done < peak; done += piece) {
        uint64_t bytes = peak - done < piece ? peak - done : piece;
        TRY(dev_alloc(exec->dev, (size_t)bytes, &exec->arenas[exec->n_arenas], err));
        exec->n_arenas++;
    }
    exec->arena_bytes = peak;
    return true;
}

bool exec_slice(Exec *exec, uint64_t offset, uint64_t bytes, DevMem **out, Err *err)
{
    uint64_t piece = exec->target.max_alloc ? exec->target.max_alloc : exec->arena_bytes;
    *out = NULL;
    if (bytes == 0) {
        return true; /* nothing may touch it */
    }
    return dev_slice(exec->dev, exec->arenas[offset / piece], (size_t)(offset % piece), (size_t)bytes, out, err);
}

static bool slice_all(Exec *exec, Err *err)
{
    const ExecPlan *plan = exec->plan;
    uint64_t bytes = (uint64_t)(exec->program->n_values + 1) * sizeof(double);
    TRY(exec_slice(exec, plan->values_at, bytes, &exec->values_mem, err));
    memset(exec->packed_there, 0, (size_t)exec->program->n_steps * sizeof *exec->packed_there);
    for (int i = 0; !plan->parts && i < exec->program->n_buffers; i++) {
        TRY(exec_slice(exec, plan->buffers[i].offset, plan->buffers[i].bytes, &exec->planned[i], err));
    }
    for (int s = 0; !plan->parts && s < exec->program->n_steps; s++) {
        TRY(exec_slice(exec, plan->steps[s].scratch_at, plan->steps[s].scratch, &exec->scratch[s], err));
    }
    return true;
}

/* Where the device has less than it says, the plan is made again for three quarters of it, and at last for
 * the least; then what the device said stands in front of that. */
static bool plan_and_allocate(Exec *exec, const ExecInput *inputs, const double *params, Err *err)
{
    Err refusal = {0};
    uint64_t least = 0;
    for (;;) {
        if (!exec_plan_new(exec->program, &exec->target, inputs, params, &exec->plan, err)) {
            return refusal.code == CODE_OK ? false : err_prefix(err, "%s", refusal.text);
        }
        err_clear(&refusal);
        exec->program = exec->plan->program;
        if (allocate(exec, &refusal)) {
            return true;
        }
        drop_arena(exec);
        uint64_t peak = exec->plan->peak, less = peak / 4 * 3;
        exec_plan_free(exec->plan);
        exec->plan = NULL;
        exec->program = exec->given;
        if (refusal.code != CODE_MEMORY) {
            *err = refusal;
            return false;
        }
        least = least > 0 ? least : exec_plan_least(exec->program, &exec->target, inputs, params);
        exec->target.limit = less < least && least < peak ? least : less;
    }
}

bool exec_grow(Exec *exec, Err *err)
{
    size_t bytes = (size_t)exec->program->n_values * sizeof(double);
    double *values = malloc(bytes + 1);
    bool ok = values != NULL || err_set(err, CODE_MEMORY, "out of host memory for values");
    ok = ok && dev_read(exec->dev, exec->values_mem, 0, values, bytes, err);
    if (ok) {
        exec_fit_place_values(exec->plan, &exec->target);
        drop_slices(exec);
        ok = allocate(exec, err) && slice_all(exec, err) &&
             dev_write(exec->dev, exec->values_mem, 0, values, bytes, err);
    }
    free(values);
    return ok;
}

bool exec_bind(Exec *exec, const ExecInput *inputs, const double *params, Err *err)
{
    const Program *program = exec->program;
    TRY(exec_plan_sky(program, inputs, err));
    memset(exec->narrowed, 0, sizeof *exec->narrowed * (size_t)program->n_outputs);
    if (bound_already(exec, inputs, params)) {
        memcpy(exec->bound, inputs, sizeof *inputs * (size_t)program->n_inputs); /* the sky may be another one */
        return true;
    }
    unbind(exec);
    exec->target.limit = dev_limit(exec->dev) - (dev_held(exec->dev) - exec->arena_bytes);
    if (exec->limit > 0 && exec->limit < exec->target.limit) {
        exec->target.limit = exec->limit;
    }
    if (!plan_and_allocate(exec, inputs, params, err) || !slice_all(exec, err) ||
        !exec_build(exec->plan, &exec->target, exec->dev, &exec->built, err)) {
        unbind(exec);
        return false;
    }
    memcpy(exec->bound, inputs, sizeof *inputs * (size_t)program->n_inputs);
    memcpy(exec->params, params, sizeof *params * (size_t)program->n_params);
    return true;
}

const ExecPlan *exec_bound(const Exec *exec)
{
    return exec->plan;
}

/* ---- inputs ---------------------------------------------------------------------------- */

bool exec_wants(const Exec *exec, int input, int64_t c)
{
    assert(exec->plan != NULL && input >= 0 && input < exec->program->n_inputs);
    int channel = exec->plan->channel[input];
    return exec->program->inputs[input].buffer >= 0 && (channel < 0 || channel == c);
}

static bool apart(uint64_t at, uint64_t bytes, uint64_t other_at, uint64_t other_bytes)
{
    return at + bytes <= other_at || other_at + other_bytes <= at;
}

bool exec_keeps(const Exec *exec, int input)
{
    assert(exec->plan != NULL && input >= 0 && input < exec->program->n_inputs);
    const ExecPlan *plan = exec->plan;
    int buffer = exec->program->inputs[input].buffer;
    if (buffer < 0) {
        return true;
    }
    const ExecBuffer *own = &plan->buffers[buffer];
    bool keeps = true;
    for (int i = 0; i < exec->program->n_buffers; i++) {
        keeps =
            keeps && (i == buffer || apart(own->offset, own->bytes, plan->buffers[i].offset, plan->buffers[i].bytes));
    }
    for (int s = 0; s < exec->program->n_steps; s++) {
        keeps = keeps && apart(own->offset, own->bytes, plan->steps[s].scratch_at, plan->steps[s].scratch);
    }
    return keeps;
}

bool exec_convert(const Exec *exec, int input, int64_t row, int64_t rows, const void *from, size_t pitch, void *to,
                  Err *err)
{
    assert(input >= 0 && input < exec->program->n_inputs && row >= 0 && rows >= 0);
    Elem have = exec->bound[input].elem, want = exec->plan->inputs[input].elem;
    size_t width = (size_t)exec->bound[input].extent[0], bytes = width * elem_size(want), bad;
    for (int64_t y = 0; y < rows; y++) {
        const char *line = (const char *)from + (size_t)y * pitch;
        if (!convert_row(have, line, want, (char *)to + (size_t)y * bytes, width, &bad)) {
            return err_set(err, CODE_FILES,
                           "'%s' has the value %g in column %zu of row %lld, which "
                           "is no %s",
                           exec->program->inputs[input].name, convert_get(have, line, bad), bad, (long long)(row + y),
                           elem_name(want));
        }
    }
    return true;
}

static bool upload_rows(Exec *exec, int input, int64_t first, int64_t rows, const void *from, size_t pitch, Err *err)
{
    const ProgInput *in = &exec->program->inputs[input];
    const ExecGrid *g = &exec->plan->grids[exec->program->buffers[in->buffer].grid];
    size_t size = elem_size(exec->plan->inputs[input].elem), width = (size_t)g->w;
    size_t stored = (size_t)g->pitch * size;
    if (in->count >= 0) {
        for (int64_t y = 0; y < rows; y++) {
            exec->counts[input] = convert_max(exec->plan->inputs[input].elem, (const char *)from + (size_t)y * pitch,
                                              width, exec->counts[input]);
        }
    }
    return dev_write_rows(exec->dev, exec->planned[in->buffer], (size_t)first * stored, stored, from, pitch,
                          width * size, (size_t)rows, err);
}

bool exec_upload(Exec *exec, int input, int64_t c, int64_t z, int64_t row, int64_t rows, const void *from, size_t pitch,
                 Err *err)
{
    if (!exec_wants(exec, input, c)) {
        return true;
    }
    const ExecGrid *g = &exec->plan->grids[exec->program->buffers[exec->program->inputs[input].buffer].grid];
    int64_t channel = exec->plan->channel[input] >= 0 ? 0 : c;
    if (channel < 0 || channel >= g->c || z < 0 || z >= g->d || row < 0 || rows < 0 || row + rows > g->h) {
        return err_set(err, CODE_USAGE, "these rows are not part of '%s'", exec->program->inputs[input].name);
    }
    if (channel == 0 && z == 0 && row == 0) {
        exec->counts[input] = 0;
        label_ids_drop(&exec->ids[input]);
    }
    int64_t first = (channel * g->d + z) * g->h + row;
    if (exec->bound[input].elem == exec->plan->inputs[input].elem) {
        return upload_rows(exec, input, first, rows, from, pitch, err);
    }
    size_t line = (size_t)g->w * elem_size(exec->plan->inputs[input].elem);
    void *converted = malloc(line * (size_t)rows + 1);
    if (!converted) {
        return err_set(err, CODE_MEMORY, "out of host memory for rows of '%s'", exec->program->inputs[input].name);
    }
    bool ok = exec_convert(exec, input, row, rows, from, pitch, converted, err) &&
              upload_rows(exec, input, first, rows, converted, line, err);
    free(converted);
    return ok;
}

/* ---- what a run may do, and what it has found ------------------------------------------- */

void exec_set_host_memory(Exec *exec, uint64_t bytes)
{
    exec->host = bytes;
}

void exec_set_stop(Exec *exec, bool (*stop)(void *context), void *context)
{
    exec->stop = stop;
    exec->stop_context = context;
}

bool exec_stopped(const Exec *exec, Err *err)
{
    return exec->stop && exec->stop(exec->stop_context) && !err_set(err, CODE_INTERRUPTED, "interrupted");
}

bool exec_write_counts(Exec *exec, Err *err)
{
    for (int i = 0; i < exec->program->n_inputs; i++) {
        int slot = exec->program->inputs[i].count;
        if (slot >= 0) {
            TRY(dev_write(exec->dev, exec->values_mem, (size_t)slot * sizeof(double), &exec->counts[i], sizeof(double),
                          err));
        }
    }
    return true;
}

const LabelIds *exec_ids(const Exec *exec, int output)
{
    int input = exec->program->outputs[output].ids - 1;
    return input >= 0 && exec->ids[input].n > 0 ? &exec->ids[input] : NULL;
}

double exec_largest_label(const Exec *exec, int output, double value)
{
    const LabelIds *ids = exec_ids(exec, output);
    return ids != NULL && !isnan(value) ? label_ids_number(ids, value) : value;
}

void exec_set_parts(Exec *exec, int rows, bool across)
{
    exec->target.part_rows = rows;
    exec->target.part_across = across;
    unbind(exec);
}

void exec_set_owners(Exec *exec, Owners *owners)
{
    exec->owners = owners;
    exec->target.owners = owners != NULL ? owners->n : 1;
    unbind(exec);
}

const char *exec_alone(const Exec *exec)
{
    return exec->alone;
}

void exec_set_shape(Exec *exec, int shape)
{
    exec_shape(&exec->target, shape);
    unbind(exec);
}

void exec_set_compilers(Exec *exec, int compilers)
{
    exec->target.compilers = compilers;
    unbind(exec);
}

void exec_set_images(Exec *exec, uint64_t images)
{
    exec->target.images = images;
}

void exec_set_narrows(Exec *exec)
{
    exec->target.narrows = true;
    unbind(exec);
}

void exec_set_limit(Exec *exec, uint64_t bytes)
{
    exec->limit = bytes;
    unbind(exec);
}

uint64_t exec_pinnable(const Exec *exec)
{
    return exec->plan->parts->pinnable;
}

bool exec_in_parts(const Exec *exec)
{
    return exec->plan->parts != NULL;
}

/* ---- results --------------------------------------------------------------------------- */

void exec_output(const Exec *exec, int output, ExecGrid *grid, Elem *elem)
{
    int buffer = exec->program->outputs[output].buffer;
    int of = buffer >= 0 ? exec->program->buffers[buffer].grid : -1;
    *grid = of >= 0 ? exec->plan->grids[of] : (ExecGrid){0};
    grid->place = exec->plan->places[output];
    *elem = buffer < 0 ? ELEM_NONE : exec->narrowed[output] ? ELEM_U16 : exec->plan->buffers[buffer].elem;
}

size_t exec_stored_pitch(const Exec *exec, int output)
{
    const int buffer = exec->program->outputs[output].buffer;
    const ExecGrid *g = &exec->plan->grids[exec->program->buffers[buffer].grid];
    return (size_t)g->pitch * elem_size(exec->plan->buffers[buffer].elem);
}

/* Nothing else is in the memory of the output: neither an input, which may stay for the next run, nor another output. */
static bool is_alone(const Exec *exec, int output)
{
    const Program *p = exec->program;
    const int buffer = p->outputs[output].buffer;
    bool alone = true;
    for (int i = 0; i < p->n_inputs; i++) {
        alone = alone && (p->inputs[i].buffer < 0 || exec->mem[buffer] != exec->mem[p->inputs[i].buffer]);
    }
    for (int i = 0; i < p->n_outputs; i++) {
        alone =
            alone && (i == output || p->outputs[i].buffer < 0 || exec->mem[buffer] != exec->mem[p->outputs[i].buffer]);
    }
    return alone;
}

bool exec_narrow(Exec *exec, int output, double most, Err *err)
{
    ExecGrid g;
    Elem elem;
    exec_output(exec, output, &g, &elem);
    const bool fits = elem == ELEM_U32 && most <= UINT16_MAX && exec_ids(exec, output) == NULL;
    if (!fits || !exec_narrows(&exec->target) || exec->plan->parts != NULL || !is_alone(exec, output)) {
        return true;
    }
    TRY(narrow_rows(exec->dev, exec->target.cpu, exec->mem[exec->program->outputs[output].buffer],
                    (size_t)g.h * (size_t)g.planes, (size_t)g.w, (size_t)g.pitch, err));
    exec->narrowed[output] = true;
    return true;
}

bool exec_download(Exec *exec, int output, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                   Err *err)
{
    ExecGrid g;
    Elem elem;
    exec_output(exec, output, &g, &elem);
    if (c < 0 || c >= g.c || z < 0 || z >= g.d || row < 0 || rows < 0 || row + rows > g.h) {
        return err_set(err, CODE_USAGE, "these rows are not part of '%s'", exec->program->outputs[output].name);
    }
    size_t size = elem_size(elem), stored = exec_stored_pitch(exec, output);
    size_t first = (size_t)((c * g.d + z) * g.h + row);
    TRY(dev_read_rows(exec->dev, exec->mem[exec->program->outputs[output].buffer], first * stored, stored, to, pitch,
                      (size_t)g.w * size, (size_t)rows, err));
    const LabelIds *ids = exec_ids(exec, output);
    for (int64_t y = 0; ids != NULL && y < rows; y++) {
        label_ids_to_numbers(ids, (uint32_t *)(void *)((char *)to + (size_t)y * pitch), (size_t)g.w);
    }
    return true;
}

const Sky *exec_sky(const Exec *exec, int output)
{
    return &exec->bound[exec->program->outputs[output].place.input].sky;
}

bool exec_values(Exec *exec, const double **values, Err *err)
{
    if (!exec->values_known && exec->ran) {
        TRY(dev_read(exec->dev, exec->values_mem, 0, exec->values,
                     sizeof *exec->values * (size_t)exec->program->n_values, err));
        exec->values_known = true;
    }
    *values = exec->values;
    return true;
}

const PrimTable *exec_table(const Exec *exec, int table)
{
    return exec->ran ? &exec->tables[exec->program->tables[table].step] : NULL;
}
