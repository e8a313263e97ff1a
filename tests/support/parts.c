/* parts: one call a pass and part, each with a reader that is set to the part. */
#include "parts.h"

#include "runtime/primitives/parts_store.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = 9 + PARTS_INPUTS, READER_SIZE = 6000, PARTS_HALO = 16 };

typedef struct Run {
    const PartsJob *job;
    Err *err;
    DevMem *image[PARTS_INPUTS], *in[PARTS_INPUTS], *values, *scratch, *out;
    int pitch;
    void *state;
    PartsBudget budget;
    PrimProgram *programs; /* of the step that this is */
    bool done;
    char reader[READER_SIZE];
} Run;

static int pitch_of(int w)
{
    return (w + 15) / 16 * 16;
}

static void *zeroed(size_t bytes)
{
    void *at = calloc(bytes + 1, 1);
    if (at == NULL) {
        abort();
    }
    return at;
}

static bool allocate(Run *r, size_t bytes, DevMem **out)
{
    size_t words = (bytes + 3) / 4 + 1;
    TRY(dev_alloc(r->job->dev, words * 4, out, r->err));
    return dev_fill(r->job->dev, *out, 0, words * 4, 0xdededede, r->err);
}

static bool upload_rows(Run *r, DevMem *to, Elem elem, const void *from, size_t rows)
{
    size_t row = (size_t)r->job->s.w * elem_size(elem), pitch = (size_t)r->pitch * elem_size(elem);
    return dev_write_rows(r->job->dev, to, 0, pitch, from, row, row, rows, r->err);
}

/* ---- the reader ------------------------------------------------------------------------ */

static void write_reader(Run *r)
{
    const PartsJob *job = r->job;
    char *at = r->reader, *end = r->reader + sizeof r->reader;
#define ADD(...) at += snprintf(at, (size_t)(end - at), __VA_ARGS__)
    ADD("#define READ_PARAMS int w, int h, int pitch, int part_y, int part_plane, int y_from, "
        "int y_to, int plane_from, int plane_to");
    for (int k = 0; k < PARTS_INPUTS; k++) {
        ADD(", global const %s *restrict in_%d", elem_cl_name(job->pixels[k] != NULL ? job->elem[k] : ELEM_U8), k);
    }
    ADD("\n#define READ_ARGS w, h, pitch, part_y, part_plane, y_from, y_to, plane_from, plane_to, "
        "in_0, in_1, in_2, in_3\n");
    for (int k = 0; k < PARTS_INPUTS; k++) {
        if (job->pixels[k] != NULL) {
            const char *type = elem_cl_name(job->elem[k]);
            ADD("#define READ_HAS_%d 1\n#define READ_TYPE_%d %s\n", k, k, type);
            ADD("static inline %s read_%d(READ_PARAMS, int x, int y, int plane)\n"
                "{ const bool there = x >= 0 && x < w && y >= y_from && y < y_to && "
                "plane >= plane_from && plane < plane_to;\n"
                "  return there ? in_%d[((long)(plane + part_plane) * h + y + part_y) * pitch + x]"
                " : (%s)(x %% 3 + 1); }\n",
                type, k, k, type);
        }
    }
    ADD("%s", job->functions != NULL ? job->functions : "");
#undef ADD
    assert(at < end);
}

static int smallest(int a, int b)
{
    return a < b ? a : b;
}

/* The rows and planes that may be read: those of the part, and `halo` beyond that are there. */
static void set_reader(Run *r, const PrimCall *call, int halo, DevArg *args)
{
    RefShape s = r->job->s;
    const PrimPart *part = &call->part;
    bool deep = s.d > 1;
    int up = deep ? 0 : smallest(halo, part->y), down = deep ? 0 : smallest(halo, s.h - part->y - call->h);
    int before = deep ? smallest(halo, part->z) : 0;
    int behind = deep ? smallest(halo, s.d - part->z - call->d) : 0;
    const int numbers[] =
        {s.w, s.h, r->pitch, part->y, part->c * s.d + part->z, -up, call->h + down, -before, call->planes + behind};
    for (int i = 0; i < 9; i++) {
        args[i] = dev_int(numbers[i]);
    }
    for (int k = 0; k < PARTS_INPUTS; k++) {
        args[9 + k] = dev_mem(r->image[k]);
    }
}

/* ---- calls ----------------------------------------------------------------------------- */

static PrimCall call_of(Run *r, PrimPart part, int h, int d, int planes)
{
    const PartsJob *job = r->job;
    PrimCall call = {.dev = job->dev,
                     .name = job->primitive->name,
                     .reader = job->stored ? job->functions : r->reader,
                     .n_reader_args = job->stored ? 0 : ARGS,
                     .w = job->s.w,
                     .h = h,
                     .d = d,
                     .planes = planes,
                     .pitch = r->pitch,
                     .text = job->text,
                     .values = r->values,
                     .value = PARTS_VALUE,
                     .of_value = isnan(job->count) ? -1 : PARTS_OF_VALUE,
                     .part = part,
                     .labels = job->count,
                     .state = &r->state,
                     .table = job->table,
                     .shape = job->shape,
                     .err = r->err};
    memcpy(call.arg, job->arg, sizeof call.arg);
    call.out[0] = (PrimImage){.mem = r->out,
                              .elem = job->out,
                              .w = job->s.w,
                              .h = h,
                              .d = d,
                              .planes = planes,
                              .pitch = r->pitch,
                              .length = job->length > 0 ? job->length : (int64_t)planes * h * r->pitch};
    for (int k = 0; k < PARTS_INPUTS && job->stored && job->pixels[k] != NULL; k++) {
        call.in[k] = call.out[0];
        call.in[k].mem = r->in[k];
        call.in[k].elem = job->elem[k];
    }
    call.programs = &r->programs;
    call.budget = &r->budget;
    call.note = r->job->note;
    call.scratch = r->scratch;
    return call;
}

/* Stored input k on the part and `halo` rows (planes) around it, where the image has them; beyond
 * them poison. */
static bool store_input(Run *r, PrimCall *call, int k, int halo)
{
    const PartsJob *job = r->job;
    RefShape s = job->s;
    const PrimPart *part = &call->part;
    bool deep = part->cut && s.d > 1;
    int at = deep ? part->z : part->y, n = deep ? call->d : call->h, all = deep ? s.d : s.h;
    int before = smallest(halo, at), behind = smallest(halo, all - at - n);
    size_t lines = deep ? (size_t)s.h : 1, size = elem_size(job->elem[k]);
    size_t rows = part->cut ? (size_t)(before + n + behind) * lines : (size_t)call->h * (size_t)call->planes;
    size_t first =
        ((size_t)part->c * (size_t)s.d + (size_t)part->z) * (size_t)s.h + (size_t)part->y - (size_t)before * lines;
    call->in[k].before = (size_t)before * lines;
    TRY(dev_fill(job->dev, r->in[k], 0, dev_bytes(r->in[k]) / 4 * 4, 0x3f3f3f3f, r->err));
    return upload_rows(r, r->in[k], job->elem[k], (const char *)job->pixels[k] + first * (size_t)s.w * size, rows);
}

static bool run_call(Run *r, PrimCall *call, void *to)
{
    const PartsJob *job = r->job;
    RefShape s = job->s;
    DevArg args[ARGS];
    int halo = call->part.cut && job->primitive->halo != NULL ? job->primitive->halo(call) : 0;
    size_t rows = (size_t)call->h * (size_t)call->planes;
    size_t first = ((size_t)call->part.c * (size_t)s.d + (size_t)call->part.z) * (size_t)s.h + (size_t)call->part.y;
    set_reader(r, call, halo, args);
    call->reader_args = args;
    for (int k = 0; k < PARTS_INPUTS && job->stored && job->pixels[k] != NULL; k++) {
        TRY(store_input(r, call, k, halo));
    }
    TRY(job->primitive->run(call));
    r->done = call->done;
    if (to == NULL || job->length > 0) {
        return true;
    }
    size_t size = elem_size(job->out), row = (size_t)s.w * size;
    return dev_read_rows(job->dev, r->out, 0, (size_t)r->pitch * size, (char *)to + first * row, row, row, rows,
                         r->err);
}

/* The part behind row (or plane) `at`. */
static int next_extent(const PartsJob *job, int at, int all)
{
    int odd = at % 5 + 1;
    return smallest(job->step > 0 ? job->step : odd, all - at);
}

/* How many parts lie before row (or plane) `to`. */
static int count_parts(const PartsJob *job, int to)
{
    int n = 0;
    for (int at = 0; at < to; at += next_extent(job, at, job->s.d > 1 ? job->s.d : job->s.h)) {
        n++;
    }
    return n;
}

static bool run_strip(Run *r, int pass, int c, int at, int n, bool first, bool last, void *to)
{
    const PartsJob *job = r->job;
    RefShape s = job->s;
    bool deep = s.d > 1;
    int longest = job->step > 0 ? job->step : 5;
    PrimPart part = {.cut = true,
                     .y = deep ? 0 : at,
                     .z = deep ? at : 0,
                     .c = c,
                     .h = job->extent > 0 ? (int)job->extent : s.h,
                     .d = s.d,
                     .channels = s.c,
                     .rows = deep ? s.h : longest,
                     .planes = deep ? longest : 1,
                     .number = count_parts(job, at),
                     .parts = count_parts(job, deep ? s.d : s.h),
                     .pass = pass,
                     .first = first,
                     .last = last};
    PrimCall call = call_of(r, part, deep ? s.h : n, deep ? n : 1, deep ? n : 1);
    return run_call(r, &call, to);
}

/* Scratch for the pass, with what the passes before have left in it. */
static bool make_scratch(Run *r, PrimCall call, int pass)
{
    const Primitive *primitive = r->job->primitive;
    call.part.pass = pass;
    size_t bytes = primitive->scratch_bytes != NULL ? primitive->scratch_bytes(&call) : 0;
    size_t have = r->scratch != NULL ? dev_bytes(r->scratch) : 0;
    DevMem *before = r->scratch;
    if (bytes <= have) {
        return true;
    }
    TRY(allocate(r, bytes, &r->scratch));
    bool ok = before == NULL || dev_copy(r->job->dev, before, 0, r->scratch, 0, have, r->err);
    dev_free(r->job->dev, before);
    return ok;
}

/* All parts of a pass. */
static bool run_pass(Run *r, int pass, void *to)
{
    const PartsJob *job = r->job;
    int all = job->s.d > 1 ? job->s.d : job->s.h, channels = job->s.c;
    int outer = job->by_channel ? channels : 1, inner = job->by_channel ? 1 : channels;
    for (int o = 0; o < outer; o++) {
        for (int at = 0, n = 0; at < all; at += n) {
            n = next_extent(job, at, all);
            for (int i = 0; i < inner; i++) {
                bool first = o == 0 && at == 0 && i == 0;
                bool last = o == outer - 1 && at + n == all && i == inner - 1;
                TRY(run_strip(r, pass, o + i, at, n, first, last, to));
            }
        }
    }
    return true;
}

static bool run_parts(Run *r, void *to)
{
    const PartsJob *job = r->job;
    bool deep = job->s.d > 1;
    int longest = job->step > 0 ? job->step : 5;
    PrimPart part = {.cut = true,
                     .h = job->extent > 0 ? (int)job->extent : job->s.h,
                     .d = job->s.d,
                     .channels = job->s.c};
    part.rows = deep ? job->s.h : longest;
    part.planes = deep ? longest : 1;
    int planes = deep ? longest : 1;
    PrimCall call = call_of(r, part, part.rows, planes, planes);
    int passes = job->primitive->passes(&call);
    assert(passes > 0);
    for (int pass = 0; pass < passes && !r->done; pass++) {
        TRY(make_scratch(r, call, pass));
        TRY(run_pass(r, pass, to));
        if (job->passes != NULL) {
            *job->passes = pass + 1;
        }
    }
    return true;
}

static bool run_whole(Run *r, void *to)
{
    RefShape s = r->job->s;
    PrimCall call = call_of(r, (PrimPart){0}, s.h, s.d, s.d * s.c);
    size_t bytes = r->job->primitive->scratch_bytes != NULL ? r->job->primitive->scratch_bytes(&call) : 0;
    if (bytes > 0) {
        TRY(allocate(r, bytes, &r->scratch));
        call.scratch = r->scratch;
    }
    return run_call(r, &call, to);
}

/* ---- all of it ------------------------------------------------------------------------- */

static bool open_run(Run *r, size_t rows)
{
    const PartsJob *job = r->job;
    RefShape s = job->s;
    for (int k = 0; k < PARTS_INPUTS; k++) {
        Elem elem = job->pixels[k] != NULL ? job->elem[k] : ELEM_U8;
        size_t all = (size_t)s.h * (size_t)s.d * (size_t)s.c;
        TRY(allocate(r, job->pixels[k] != NULL ? all * (size_t)r->pitch * elem_size(elem) : 1, &r->image[k]));
        TRY(job->pixels[k] == NULL || upload_rows(r, r->image[k], elem, job->pixels[k], all));
    }
    size_t pixels = rows * (size_t)r->pitch;
    TRY(allocate(r, (job->length > 0 ? (size_t)job->length : pixels) * sizeof(double), &r->out));
    size_t around = rows + 2 * PARTS_HALO * (size_t)(s.d > 1 ? s.h : 1);
    for (int k = 0; k < PARTS_INPUTS && job->stored; k++) {
        TRY(allocate(r, around * (size_t)r->pitch * 8, &r->in[k]));
    }
    TRY(allocate(r, PARTS_SLOTS * sizeof(double), &r->values));
    double *slots = zeroed(PARTS_SLOTS * sizeof *slots);
    slots[PARTS_OF_VALUE] = job->count;
    bool ok = dev_write(job->dev, r->values, 0, slots, PARTS_SLOTS * sizeof *slots, r->err);
    free(slots);
    write_reader(r);
    return ok;
}

static bool close_run(Run *r, bool ok, void *to, double values[PARTS_SLOTS])
{
    const PartsJob *job = r->job;
    if (ok && to != NULL && job->length > 0) {
        ok = dev_read(job->dev, r->out, 0, to, (size_t)job->length * 4, r->err);
    }
    ok = ok && dev_read(job->dev, r->values, 0, values, PARTS_SLOTS * sizeof *values, r->err);
    for (int k = 0; k < PARTS_INPUTS; k++) {
        dev_free(job->dev, r->image[k]);
        dev_free(job->dev, r->in[k]);
    }
    DevMem *const memory[] = {r->values, r->scratch, r->out};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        dev_free(job->dev, memory[i]);
    }
    if (r->state != NULL) {
        job->primitive->forget(r->state);
    }
    prim_programs_free(&r->programs);
    return ok;
}

bool parts_run(const PartsJob *job, void *to, double values[PARTS_SLOTS], Err *err)
{
    Run r = {.job = job, .err = err, .pitch = pitch_of(job->s.w), .budget = {.left = (uint64_t)-1}};
    int longest = job->step > 0 ? job->step : 5;
    size_t rows = (size_t)(job->s.d > 1 ? job->s.h * longest : longest);
    bool ok = open_run(&r, rows) && run_parts(&r, to);
    return close_run(&r, ok, to, values);
}

bool parts_run_whole(const PartsJob *job, void *to, double values[PARTS_SLOTS], Err *err)
{
    Run r = {.job = job, .err = err, .pitch = pitch_of(job->s.w)};
    size_t rows = (size_t)job->s.h * (size_t)job->s.d * (size_t)job->s.c;
    bool ok = open_run(&r, rows) && run_whole(&r, to);
    return close_run(&r, ok, to, values);
}
