/*
 * prim_distance: exact euclidean distances to the nearest false pixel (distance), and the labels of
 * the nearest labelled pixels (nearest_label).  Every channel is a volume of its own.
 *
 * Both find nearest pixels axis by axis as kernels/distance.cl says, in 3 launches for planes and 4
 * for volumes, 2 more for each axis along which distances may be long.  No word comes to the host.
 * Distances are those of reference/ref_shape.c bit for bit: squares in double (in integers when every
 * spacing is 1, which is the same), summed in the order z, y, x, one square root in double, rounded
 * to f32.  Without a false pixel they are +inf.  Of labels as near as each other the one with the
 * smallest x wins, then with the smallest y, then z, as in scipy.
 *
 * Scratch: 4 bytes a pixel, and an eighth of that for bits and coarse answers.
 *
 * In parts the axis that is cut is the first one, so all others are searched in the part: y across planes,
 * and z after it.  The first pass finds the first site of each column in each part.  Gone through from
 * the last part to the first, on the host, they become the first sites behind each part.  The second
 * pass does the rest; from part to part it takes the last sites so far along.
 *
 * Of sites as far away as each other the search of y keeps the nearest one alone, so that across planes one that
 * is nearer along y but has the same sum, because the square of the way along z is so much larger, would hide the
 * one with the smallest y.  Where spacings are as far apart as that, labels need whole planes.
 */
#include "../parts_store.h"
#include "../prim_host.h"
#include "../prim_lanes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG_WAY = 64, /* searches that can go farther have coarse rounds */
    LEVELS = 2,
    MOST_CODE_BITS = 31
};

#define ROUNDING 0x1p50     /* sums of squares that are this many times their differences are told apart */
#define NO_SITE 0xffffffffU /* DISTANCE_NO_SITE */

static const int STEPS[LEVELS] = {512, 32}; /* between the pixels of a coarse round */

extern const char kernel_text_distance[];

typedef struct Distance {
    PrimCall *call;
    PrimPart part;
    bool labels, space, whole;
    int first;                /* the first axis: 1, y, of planes and in parts across them; else 2, z */
    double limit, spacing[3]; /* x, y, z */
    size_t rows;              /* of words of sites */
    size_t codes, words;      /* 32-bit words of scratch */
    size_t answers;
    size_t columns, carry; /* lines along the first axis; words of what is carried of each */
    size_t at_sites, at_answers, at_before, at_behind, at_largest, end;
    DevProgram *reads, *bare; /* with the reader, and without */
} Distance;
enum { READS, BARE, PROGRAMS };

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

static Distance measure(const PrimCall *call, bool labels)
{
    const double *spacing = labels ? call->nearest_label.spacing : call->distance.spacing;
    Distance d = {.call = (PrimCall *)call,
                  .part = prim_part(call),
                  .labels = labels,
                  .limit = labels ? call->nearest_label.limit : INFINITY,
                  .spacing = {spacing[0], spacing[1], spacing[2]}};
    double corner = (double)call->w * call->w + (double)d.part.h * d.part.h + (double)d.part.d * d.part.d;
    d.space = d.part.d > 1;
    d.first = d.space && !d.part.across ? 2 : 1;
    d.whole = spacing[0] == 1 && spacing[1] == 1 && spacing[2] == 1 && corner < INT32_MAX;
    size_t lines = (size_t)call->planes * (size_t)call->h;
    d.codes = lines * (size_t)call->out[0].pitch;
    d.rows = d.first == 2 ? lanes_divided_up((size_t)call->d, 32) * (size_t)call->h * (size_t)(call->planes / call->d)
                          : lanes_divided_up((size_t)call->h, 32) * (size_t)call->planes;
    d.words = d.rows * (size_t)call->w;
    d.columns = (size_t)call->w * (size_t)(d.first == 2 ? call->h : call->d);
    d.carry = call->part.cut ? d.columns * (1 + (size_t)labels) : 0;
    for (int axis = 0; axis < d.first; axis++) {
        size_t answers = count_answers(&d, axis, 0) + count_answers(&d, axis, 1);
        d.answers = answers > d.answers ? answers : d.answers;
    }
    return d;
}

/* Behind the codes lie the words of sites, later the answers.  A part needs the sites to the end; behind
 * the answers it has what is carried of each channel, and what lies behind.  At the end is the
 * largest label.  All parts have the places of the longest one. */
static Distance describe(const PrimCall *call, bool labels)
{
    PrimCall longest = prim_longest(call);
    Distance d = measure(call, labels), l = measure(&longest, labels);
    bool cut = call->part.cut;
    size_t most = l.words > l.answers ? l.words : l.answers;
    d.at_sites = l.codes;
    d.at_answers = d.at_sites + (cut ? l.words : 0);
    d.at_before = cut ? d.at_answers + l.answers : d.at_sites + most;
    d.at_behind = d.at_before + l.carry * (size_t)d.part.channels;
    d.at_largest = d.at_behind + l.carry;
    d.end = d.at_largest + labels;
    return d;
}

static size_t bytes_of(const Distance *d)
{
    return d->end * sizeof(uint32_t);
}

static bool check_size(const Distance *d)
{
    const PrimCall *call = d->call;
    int bits = lanes_bits_for(d->part.h) + (d->space ? lanes_bits_for(d->part.d) : 0);
    if (bits > MOST_CODE_BITS) {
        return err_set(call->err, CODE_MEMORY,
                       "%s: %d rows by %d planes are more than it can count; cut the image into "
                       "smaller ones",
                       call->name, d->part.h, d->part.d);
    }
    return visit_check_count(call);
}

/* ---- launches -------------------------------------------------------------------------- */

static bool build(const Distance *d, int which, DevProgram **program)
{
    const PrimCall *call = d->call;
    char defines[200];
    snprintf(defines, sizeof defines,
             "#define DISTANCE_LABELS %d\n#define DISTANCE_3D %d\n#define DISTANCE_WHOLE %d\n"
             "#define DISTANCE_PART %d\n#define DISTANCE_ACROSS %d\n#define DISTANCE_OUT %s\n",
             d->labels, d->space, d->whole, call->part.cut, d->space && d->first == 1, elem_cl_name(call->out[0].elem));
    const char *const texts[] = {kernel_text_lanes, kernel_text_distance, NULL};
    return (which == READS ? visit_program : visit_bare_program)(call, defines, texts, program);
}

/* A work-item for each of `columns` times `rows`; its arguments are the shape and then `more`. */
static bool launch(const Distance *d, const char *kernel, size_t columns, size_t rows, bool reads, const DevArg *more,
                   int n_more)
{
    const PrimCall *call = d->call;
    DevArg args[24] = {dev_int(call->w),
                       dev_int(call->h),
                       dev_int(call->d),
                       dev_int(call->planes),
                       dev_int(call->out[0].pitch),
                       dev_int(d->first == 2 ? d->part.z : d->part.y),
                       dev_int(lanes_bits_for(d->part.h)),
                       dev_double(d->spacing[0]),
                       dev_double(d->spacing[1]),
                       dev_double(d->spacing[2])};
    for (int i = 0; i < n_more; i++) {
        args[10 + i] = more[i];
    }
    return lanes_launch(call, &(LanesLaunch){.program = reads ? d->reads : d->bare,
                                             .kernel = kernel,
                                             .reads = reads,
                                             .columns = columns,
                                             .rows = rows,
                                             .args = args,
                                             .n_args = 10 + n_more});
}

/* Words of sites; they may be read until the answers lie there. */
static bool find_sites(const Distance *d)
{
    const DevArg args[] = {dev_uint(d->rows), dev_ulong(d->at_sites), dev_ulong(d->at_largest),
                           dev_mem(d->call->scratch)};
    return launch(d, "distance_sites", (size_t)d->call->w, d->rows, true, args, 4);
}

/* Where the carry of the call's channel lies. */
static size_t at_before(const Distance *d)
{
    return d->at_before + d->carry * (size_t)d->part.c;
}

static bool first_axis(const Distance *d, DevMem *codes)
{
    const PrimCall *call = d->call;
    const DevArg args[] = {dev_uint(d->rows),       dev_int(reach_of(d, d->first) / 32 + 1),
                           dev_ulong(d->at_sites),  dev_ulong(at_before(d)),
                           dev_ulong(d->at_behind), dev_mem(call->scratch),
                           dev_mem(codes)};
    return launch(d, "distance_first", (size_t)call->w, d->rows, false, args, 7);
}

typedef struct Bounds {
    int step; /* of the finest coarse round; 0: there is none */
    size_t at;
} Bounds;

/* The coarse rounds along an axis. */
static bool coarse_rounds(const Distance *d, int axis, DevMem *codes, Bounds *bounds)
{
    const PrimCall *call = d->call;
    size_t rows = (size_t)call->planes, at = d->at_answers;
    *bounds = (Bounds){0, at};
    for (int level = 0; level < LEVELS; level++) {
        if (!has_level(d, axis, level)) {
            continue;
        }
        size_t count = lanes_divided_up((size_t)(axis == 0 ? call->w : call->h), (size_t)STEPS[level]);
        const DevArg args[] = {dev_mem(codes),        dev_int(STEPS[level]), dev_int(bounds->step),
                               dev_ulong(bounds->at), dev_ulong(at),         dev_mem(call->scratch)};
        bool ok = axis == 0 ? launch(d, "distance_coarse_x", count, rows * (size_t)call->h, false, args, 6)
                            : launch(d, "distance_coarse_y", (size_t)call->w, rows * count, false, args, 6);
        TRY(ok);
        *bounds = (Bounds){STEPS[level], at};
        at += count_answers(d, axis, level);
    }
    return true;
}

/* Of a volume, from the codes of the first axis in `first` to those of both in scratch. */
static bool second_axis(const Distance *d, DevMem *first)
{
    const PrimCall *call = d->call;
    size_t rows = (size_t)call->planes * (size_t)call->h;
    Bounds b;
    if (d->first == 1) {
        const DevArg z[] = {dev_mem(first), dev_int(reach_of(d, 2)), dev_mem(call->scratch)};
        return launch(d, "distance_z", (size_t)call->w, rows, false, z, 3);
    }
    TRY(coarse_rounds(d, 1, first, &b));
    const DevArg y[] = {dev_mem(first),  dev_int(reach_of(d, 1)), dev_int(b.step),
                        dev_ulong(b.at), dev_mem(call->scratch),  dev_mem(call->scratch)};
    return launch(d, "distance_y", (size_t)call->w, rows, false, y, 6);
}

static bool last_axis(const Distance *d)
{
    const PrimCall *call = d->call;
    size_t rows = (size_t)call->planes * (size_t)call->h;
    Bounds b;
    TRY(coarse_rounds(d, 0, call->scratch, &b));
    const DevArg x[] = {dev_mem(call->scratch),   dev_int(reach_of(d, 0)), dev_int(b.step),
                        dev_ulong(b.at),          dev_mem(call->scratch),  dev_double(d->limit),
                        dev_uint(d->columns),     dev_ulong(at_before(d)), dev_ulong(d->at_behind),
                        dev_mem(call->out[0].mem)};
    return launch(d, "distance_x", (size_t)call->w, rows, d->labels, x, 10);
}

/* All that is left when sites are known. */
static bool find_nearest(const Distance *d)
{
    DevMem *first = d->space ? d->call->out[0].mem : d->call->scratch;
    return first_axis(d, first) && (!d->space || second_axis(d, first)) && last_axis(d);
}

static bool clear_largest(const Distance *d)
{
    return !d->labels || dev_fill(d->call->dev, d->call->scratch, d->at_largest * sizeof(uint32_t), sizeof(uint32_t), 0,
                                  d->call->err);
}

static bool find_value(const Distance *d)
{
    const PrimCall *call = d->call;
    if (!d->labels || call->value < 0) {
        return true;
    }
    const DevArg args[] = {dev_ulong(d->at_largest), dev_mem(call->scratch), dev_int(call->of_value),
                           dev_int(call->value), dev_mem(call->values)};
    return visit_launch(call, &(VisitLaunch){.program = d->bare,
                                             .kernel = "distance_value",
                                             .groups = 1,
                                             .group = 1,
                                             .args = args,
                                             .n_args = 5});
}

/* ---- parts ----------------------------------------------------------------------------- */

/* By part, then channel: of each column the first site in it, after the first pass behind it. */
typedef struct Carries {
    PartsStore *store;
    size_t words; /* of one of them */
    uint32_t *now, *next;
} Carries;

static void forget(void *state)
{
    Carries *c = state;
    if (c != NULL) {
        parts_store_drop(c->store);
        free(c->now);
        free(c->next);
        free(c);
    }
}

static bool open_carries(const Distance *d)
{
    const PrimCall *call = d->call;
    size_t bytes = d->carry * sizeof(uint32_t);
    forget(*call->state);
    Carries *c = *call->state = calloc(1, sizeof *c);
    if (c == NULL) {
        return host_no_memory(call);
    }
    c->words = d->carry;
    c->now = malloc(bytes);
    c->next = malloc(bytes);
    return ((c->now != NULL && c->next != NULL) || host_no_memory(call)) &&
           parts_store_new(call->budget, (uint64_t)bytes * (uint64_t)d->part.parts * (uint64_t)d->part.channels,
                           &c->store, call->err);
}

static uint64_t carry_at(const Distance *d, const Carries *c, int part, int channel)
{
    uint64_t number = (uint64_t)part * (uint64_t)d->part.channels + (uint64_t)channel;
    return number * c->words * sizeof(uint32_t);
}

/* Takes over the sites that are there; where there are none, those behind stay the first. */
static void put_before(const Distance *d, const uint32_t *sites, uint32_t *behind)
{
    for (size_t i = 0; i < d->columns; i++) {
        if (sites[i] != NO_SITE) {
            behind[i] = sites[i];
            if (d->labels) {
                behind[d->columns + i] = sites[d->columns + i];
            }
        }
    }
}

/* From first sites in parts to first sites behind parts. */
static bool look_back(const Distance *d, Carries *c)
{
    uint64_t bytes = c->words * sizeof(uint32_t);
    for (int channel = 0; channel < d->part.channels; channel++) {
        memset(c->next, 0xff, (size_t)bytes);
        for (int part = d->part.parts - 1; part >= 0; part--) {
            uint64_t at = carry_at(d, c, part, channel);
            TRY(parts_store_get(c->store, at, c->now, bytes, d->call->err));
            TRY(parts_store_put(c->store, at, c->next, bytes, d->call->err));
            put_before(d, c->now, c->next);
        }
    }
    return true;
}

/* The first or last sites of the part's columns, to word `to` of the scratch. */
static bool find_carry(const Distance *d, bool last, size_t to)
{
    const PrimCall *call = d->call;
    const DevArg args[] = {dev_int(last), dev_uint(d->columns), dev_ulong(d->at_sites), dev_ulong(to),
                           dev_mem(call->scratch)};
    return launch(d, "distance_carry", (size_t)call->w, d->columns / (size_t)call->w, d->labels, args, 5);
}

static bool first_pass(const Distance *d)
{
    const PrimCall *call = d->call;
    TRY(!d->part.first || (open_carries(d) && clear_largest(d)));
    Carries *c = *call->state;
    size_t bytes = c->words * sizeof(uint32_t);
    TRY(find_sites(d) && find_carry(d, false, d->at_behind));
    TRY(dev_read(call->dev, call->scratch, d->at_behind * sizeof(uint32_t), c->now, bytes, call->err));
    TRY(parts_store_put(c->store, carry_at(d, c, d->part.number, d->part.c), c->now, bytes, call->err));
    return !d->part.last || (look_back(d, c) && find_value(d));
}

static bool second_pass(const Distance *d)
{
    const PrimCall *call = d->call;
    Carries *c = *call->state;
    size_t word = sizeof(uint32_t), bytes = c->words * word;
    size_t all = bytes * (size_t)d->part.channels;
    TRY(!d->part.first || dev_fill(call->dev, call->scratch, d->at_before * word, all, NO_SITE, call->err));
    TRY(parts_store_get(c->store, carry_at(d, c, d->part.number, d->part.c), c->now, bytes, call->err));
    TRY(dev_write(call->dev, call->scratch, d->at_behind * word, c->now, bytes, call->err));
    return find_sites(d) && find_nearest(d) && find_carry(d, true, at_before(d));
}

static int distance_passes(const PrimCall *call)
{
    (void)call;
    return 2;
}

/* Sums of squares differ where the squares along y do. */
static bool tells_rows(const Distance *d)
{
    double y = d->spacing[1], z = d->spacing[2];
    double longest = y * y * d->part.h * d->part.h + z * z * d->part.d * d->part.d;
    return longest < y * y * ROUNDING;
}

static int nearest_passes(const PrimCall *call)
{
    Distance d = describe(call, true);
    return call->part.across && !tells_rows(&d) ? 0 : 2;
}

/* ---- the two primitives ---------------------------------------------------------------- */

static bool run(PrimCall *call, bool labels)
{
    Distance d = describe(call, labels);
    TRY(check_size(&d));
    TRY(build(&d, READS, &d.reads) && build(&d, BARE, &d.bare));
    if (call->part.cut) {
        return call->part.pass == 0 ? first_pass(&d) : second_pass(&d);
    }
    return clear_largest(&d) && find_sites(&d) && find_nearest(&d) && find_value(&d);
}

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

static bool distance_program(const PrimCall *call, int which, DevProgram **program)
{
    Distance d = describe(call, false);
    return build(&d, which, program);
}

static bool nearest_program(const PrimCall *call, int which, DevProgram **program)
{
    Distance d = describe(call, true);
    return build(&d, which, program);
}

static bool distance_run(PrimCall *call)
{
    return run(call, false);
}

static bool nearest_run(PrimCall *call)
{
    return run(call, true);
}

const Primitive prim_distance = {.name = "distance",
                                 .scratch_bytes = distance_scratch,
                                 .run = distance_run,
                                 .passes = distance_passes,
                                 .programs = PROGRAMS,
                                 .program = distance_program,
                                 .forget = forget};
const Primitive prim_nearest_label = {.name = "nearest_label",
                                      .scratch_bytes = nearest_scratch,
                                      .run = nearest_run,
                                      .passes = nearest_passes,
                                      .programs = PROGRAMS,
                                      .program = nearest_program,
                                      .forget = forget};
