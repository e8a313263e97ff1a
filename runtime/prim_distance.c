/*
 * prim_distance: exact euclidean distances to the nearest false pixel (distance), and the labels of
 * the nearest labelled pixels (nearest_label).  Every channel is a volume of its own.
 *
 * Both find nearest pixels axis by axis as kernels/distance.cl says, in 3 launches for planes and 4
 * for volumes, 2 more for each axis along which distances may be long.  No word comes to the host.
 * Distances are those of ir/ref_shape.c bit for bit: squares in double (in integers when every
 * spacing is 1, which is the same), summed in the order z, y, x, one square root in double, rounded
 * to f32.  Without a false pixel they are +inf.  Of labels as near as each other the one with the
 * smallest x wins, then with the smallest y, then z, as in scipy.
 *
 * Scratch: 4 bytes a pixel, and an eighth of that for bits and coarse answers.
 */
#include "prim_lanes.h"

#include <math.h>
#include <stdio.h>

enum {
    LONG_WAY = 64,     /* searches that can go farther have coarse rounds */
    LEVELS = 2,
    MOST_CODE_BITS = 31
};

static const int STEPS[LEVELS] = {512, 32}; /* between the pixels of a coarse round */

extern const char kernel_text_distance[];

typedef struct Distance {
    PrimCall *call;
    bool labels, space, whole;
    double limit, spacing[3]; /* x, y, z */
    size_t rows;              /* of words of sites */
    size_t codes, words;      /* 32-bit words of scratch */
    size_t answers;
    DevProgram *program;
} Distance;

/* The pixels that a search along an axis can have to go. */
static int reach_of(const Distance *d, int axis)
{
    const PrimCall *call = d->call;
    int length = axis == 0 ? call->w : axis == 1 ? call->h : call->d;
    double steps = d->limit / d->spacing[axis] + 1;
    return steps < length ? (int)(steps > 0 ? steps : 0) : length;
}

static bool has_level(const Distance *d, int axis, int level)
{
    int length = axis == 0 ? d->call->w : d->call->h;
    return reach_of(d, axis) > LONG_WAY && length > 2 * STEPS[level];
}

/* The answers of a coarse round. */
static size_t count_answers(const Distance *d, int axis, int level)
{
    const PrimCall *call = d->call;
    size_t length = (size_t)(axis == 0 ? call->w : call->h);
    size_t lines = (size_t)(axis == 0 ? call->h : call->w) * (size_t)call->planes;
    return has_level(d, axis, level) ? lanes_divided_up(length, (size_t)STEPS[level]) * lines : 0;
}

static Distance describe(const PrimCall *call, bool labels)
{
    const double *spacing = call->arg + labels;
    Distance d = {.call = (PrimCall *)call,
                  .labels = labels,
                  .space = call->d > 1,
                  .limit = labels ? call->arg[0] : INFINITY,
                  .spacing = {spacing[0], spacing[1], spacing[2]}};
    double corner = (double)call->w * call->w + (double)call->h * call->h +
                    (double)call->d * call->d;
    d.whole = spacing[0] == 1 && spacing[1] == 1 && spacing[2] == 1 && corner < INT32_MAX;
    size_t lines = (size_t)call->planes * (size_t)call->h;
    d.codes = lines * (size_t)call->out[0].pitch;
    d.rows = d.space ? lanes_divided_up((size_t)call->d, 32) * (size_t)call->h *
                           (size_t)(call->planes / call->d)
                     : lanes_divided_up((size_t)call->h, 32) * (size_t)call->planes;
    d.words = d.rows * (size_t)call->w;
    for (int axis = 0; axis <= d.space; axis++) {
        size_t answers = count_answers(&d, axis, 0) + count_answers(&d, axis, 1);
        d.answers = answers > d.answers ? answers : d.answers;
    }
    return d;
}

/* Behind the codes lie the words of sites, later the answers; at the end the largest label. */
static size_t at_largest(const Distance *d)
{
    return d->codes + (d->words > d->answers ? d->words : d->answers);
}

static size_t bytes_of(const Distance *d)
{
    return (at_largest(d) + d->labels) * sizeof(uint32_t);
}

static bool check_size(const Distance *d)
{
    const PrimCall *call = d->call;
    int bits = lanes_bits_for(call->h) + (d->space ? lanes_bits_for(call->d) : 0);
    if (bits > MOST_CODE_BITS) {
        return err_set(call->err, CODE_MEMORY,
                       "%s: %d rows by %d planes are more than it can count; cut the image into "
                       "parts",
                       call->name, call->h, call->d);
    }
    return visit_check_count(call);
}

/* ---- launches -------------------------------------------------------------------------- */

static bool build(Distance *d)
{
    PrimCall *call = d->call;
    char defines[160];
    snprintf(defines, sizeof defines,
             "#define DISTANCE_LABELS %d\n#define DISTANCE_3D %d\n#define DISTANCE_WHOLE %d\n"
             "#define DISTANCE_OUT %s\n",
             d->labels, d->space, d->whole, elem_cl_name(call->out[0].elem));
    const char *const texts[] = {kernel_text_lanes, kernel_text_distance, NULL};
    return visit_program(call, defines, texts, &d->program);
}

/* A work-item for each of `columns` times `rows`; its arguments are the shape and then `more`. */
static bool launch(const Distance *d, const char *kernel, size_t columns, size_t rows, bool reads,
                   const DevArg *more, int n_more)
{
    const PrimCall *call = d->call;
    DevArg args[24] = {dev_int(call->w),
                       dev_int(call->h),
                       dev_int(call->d),
                       dev_int(call->planes),
                       dev_int(call->out[0].pitch),
                       dev_int(lanes_bits_for(call->h)),
                       dev_double(d->spacing[0]),
                       dev_double(d->spacing[1]),
                       dev_double(d->spacing[2])};
    for (int i = 0; i < n_more; i++) {
        args[9 + i] = more[i];
    }
    return lanes_launch(call, &(LanesLaunch){.program = d->program,
                                             .kernel = kernel,
                                             .reads = reads,
                                             .columns = columns,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = 9 + n_more});
}

static bool first_axis(const Distance *d, DevMem *codes)
{
    const PrimCall *call = d->call;
    const DevArg sites[] = {dev_uint(d->rows), dev_ulong(d->codes), dev_ulong(at_largest(d)),
                            dev_mem(call->scratch)};
    TRY(launch(d, "distance_sites", (size_t)call->w, d->rows, true, sites, 4));
    const DevArg first[] = {dev_uint(d->rows), dev_int(reach_of(d, d->space ? 2 : 1) / 32 + 1),
                            dev_ulong(d->codes), dev_mem(call->scratch), dev_mem(codes)};
    return launch(d, "distance_first", (size_t)call->w, d->rows, false, first, 5);
}

typedef struct Bounds {
    int step; /* of the finest coarse round; 0: there is none */
    size_t at;
} Bounds;

/* The coarse rounds along an axis. */
static bool coarse_rounds(const Distance *d, int axis, DevMem *codes, Bounds *bounds)
{
    const PrimCall *call = d->call;
    size_t rows = (size_t)call->planes, at = d->codes;
    *bounds = (Bounds){0, at};
    for (int level = 0; level < LEVELS; level++) {
        if (!has_level(d, axis, level)) {
            continue;
        }
        size_t count = lanes_divided_up((size_t)(axis == 0 ? call->w : call->h), (size_t)STEPS[level]);
        const DevArg args[] = {dev_mem(codes),          dev_int(STEPS[level]),
                               dev_int(bounds->step),   dev_ulong(bounds->at),
                               dev_ulong(at),           dev_mem(call->scratch)};
        bool ok = axis == 0 ? launch(d, "distance_coarse_x", count, rows * (size_t)call->h, false,
                                     args, 6)
                            : launch(d, "distance_coarse_y", (size_t)call->w, rows * count, false,
                                     args, 6);
        TRY(ok);
        *bounds = (Bounds){STEPS[level], at};
        at += count_answers(d, axis, level);
    }
    return true;
}

static bool other_axes(const Distance *d, DevMem *first)
{
    const PrimCall *call = d->call;
    size_t rows = (size_t)call->planes * (size_t)call->h;
    Bounds b;
    if (d->space) {
        TRY(coarse_rounds(d, 1, first, &b));
        const DevArg y[] = {dev_mem(first),   dev_int(reach_of(d, 1)), dev_int(b.step),
                            dev_ulong(b.at),  dev_mem(call->scratch),  dev_mem(call->scratch)};
        TRY(launch(d, "distance_y", (size_t)call->w, rows, false, y, 6));
    }
    TRY(coarse_rounds(d, 0, call->scratch, &b));
    const DevArg x[] = {dev_mem(call->scratch), dev_int(reach_of(d, 0)), dev_int(b.step),
                        dev_ulong(b.at),        dev_mem(call->scratch),  dev_double(d->limit),
                        dev_mem(call->out[0].mem)};
    return launch(d, "distance_x", (size_t)call->w, rows, true, x, 7);
}

static bool run(PrimCall *call, bool labels)
{
    Distance d = describe(call, labels);
    TRY(check_size(&d));
    TRY(build(&d));
    if (labels) {
        TRY(dev_fill(call->dev, call->scratch, at_largest(&d) * sizeof(uint32_t), sizeof(uint32_t),
                     0, call->err));
    }
    DevMem *first = d.space ? call->out[0].mem : call->scratch;
    TRY(first_axis(&d, first));
    TRY(other_axes(&d, first));
    if (!labels || call->value < 0) {
        return true;
    }
    const DevArg args[] = {dev_ulong(at_largest(&d)), dev_mem(call->scratch),
                           dev_int(call->of_value), dev_int(call->value), dev_mem(call->values)};
    return visit_launch(call, &(VisitLaunch){.program = d.program,
                                             .kernel = "distance_value",
                                             .groups = 1,
                                             .group = 1,
                                             .args = args,
                                             .n_args = 5});
}

/* ---- the two primitives ---------------------------------------------------------------- */

static size_t distance_scratch(const PrimCall *call)
{
    Distance d = describe(call, false);
    return bytes_of(&d);
}

static size_t nearest_scratch(const PrimCall *call)
{
    Distance d = describe(call, true);
    return bytes_of(&d);
}

static bool distance_run(PrimCall *call)
{
    return run(call, false);
}

static bool nearest_run(PrimCall *call)
{
    return run(call, true);
}

const Primitive prim_distance = {.name = "distance", .scratch_bytes = distance_scratch, .run = distance_run};
const Primitive prim_nearest_label = {.name = "nearest_label", .scratch_bytes = nearest_scratch, .run = nearest_run};
