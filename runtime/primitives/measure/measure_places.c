/*
 * measure_places: sizes, shares and places of objects, all on the device
 * (kernels/measure_places.cl).  How far a share reaches the host need not know of the first one, which mostly
 * is the only one.
 */
#include "measuring.h"
#include "../prim_program.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A work-item of a scan is about EACH objects. */
enum { GROUP = 256, EACH = 16, CLEARERS = 1024 };

extern const char kernel_text_scan[], kernel_text_measure_places[], kernel_text_measure_cuts[];

bool measuring_places_program(const Measuring *m, DevProgram **program)
{
    static const char *const texts[] = {kernel_text_scan, kernel_text_measure_places, kernel_text_measure_cuts, NULL};
    static const struct {
        const char *name;
        int value;
    } defines[] = {
        {"SCAN_GROUP", GROUP},           {"PLACES_EACH", EACH},
        {"PLACES_ROWS", MEASURE_ROWS},   {"PLACES_PIXELS", MEASURE_PIXELS},
        {"PLACES_WORDS", MEASURE_WORDS}, {"PLACES_RECORDS", MEASURE_RECORDS},
        {"PLACES_ANY", STANDING_ANY},    {"PLACES_INSIDE", STANDING_INSIDE},
        {"PLACES_CUT", STANDING_CUT},    {"PLACES_ENDING", STANDING_ENDING},
        {"PLACES_OPEN", STANDING_OPEN},
    };
    char text[600] = "#define SCAN_NUMBER ulong\n";
    size_t length = strlen(text);
    for (size_t i = 0; i < sizeof defines / sizeof *defines; i++) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "#define %s %d\n", defines[i].name, defines[i].value);
    }
    return prim_program(m->call, text, texts, program);
}

int measuring_cut_axis(const Measuring *m, int32_t *first, int32_t *last)
{
    const PrimCall *call = m->call;
    int axis = call->part.across ? 1 : m->frame.dims - 1;
    *first = axis == 2 ? call->part.z : call->part.y;
    *last = *first + (axis == 2 ? call->planes : call->h) - 1;
    return axis;
}

static bool launch(const Measuring *m, const char *kernel, const size_t groups[3], size_t group, const DevArg *args,
                   int n_args)
{
    DevProgram *program = NULL;
    TRY(measuring_places_program(m, &program));
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = kernel,
                                                  .groups = {groups[0], groups[1], groups[2]},
                                                  .group = group,
                                                  .args = args,
                                                  .n_args = n_args});
}

bool measuring_launch_about(const Measuring *m, const MeasuringAbout *what)
{
    enum { MOST_ARGS = 32 };
    const size_t each[3] = {((size_t)m->n + GROUP - 1) / GROUP, 1, 1};
    int32_t first, last;
    int n = 5;
    DevArg args[MOST_ARGS] = {dev_mem(m->table), dev_mem(m->lows), dev_uint(m->n), dev_int(m->frame.dims),
                              dev_int(measuring_cut_axis(m, &first, &last))};
    for (int i = 0; i < 2 && what->of[i] != NULL; i++) {
        args[n++] = dev_int(what->of[i]->standing);
        args[n++] = dev_int(what->of[i]->from);
        args[n++] = dev_int(what->of[i]->to);
        args[n++] = dev_int(what->of[i]->around);
    }
    assert(n + what->n_args <= MOST_ARGS);
    memcpy(args + n, what->args, (size_t)what->n_args * sizeof *args);
    bool given = what->group > 0;
    return launch(m, what->kernel, given ? what->groups : each, given ? what->group : GROUP, args, n + what->n_args);
}

bool measuring_add_sizes(Measuring *m, MeasureSizes of, const MeasureAbout *about, DevMem *before)
{
    size_t groups = (size_t)m->n / (GROUP * EACH) + 1;
    const DevArg sizes[] = {dev_int(of), dev_mem(m->groups), dev_mem(before)};
    const DevArg scan[] = {dev_mem(m->groups), dev_ulong(0), dev_uint(groups + 1), dev_mem(NULL), dev_int(-1)};
    MeasuringAbout what = {.kernel = "places_groups",
                           .groups = {groups + 1, 1, 1},
                           .group = GROUP,
                           .of = {about, NULL},
                           .args = sizes,
                           .n_args = 2};
    TRY(measuring_launch_about(m, &what));
    TRY(launch(m, "scan_sums", (const size_t[3]){1, 1, 1}, GROUP, scan, 5));
    what.kernel = "places_before";
    what.groups[0] = groups;
    what.n_args = 3;
    return measuring_launch_about(m, &what);
}

bool measuring_find_sizes(Measuring *m, MeasureSizes of)
{
    return measuring_add_sizes(m, of, &m->about, m->sizes);
}

bool measuring_first_share(Measuring *m, uint64_t capacity, size_t wanted, MeasureShare *share)
{
    const PrimCall *call = m->call;
    size_t at = offsetof(MeasureNumbers, wanted) + wanted;
    *share = (MeasureShare){0, m->n, capacity};
    return !m->unsure ||
           dev_copy(call->dev, m->sizes, m->n * sizeof(uint64_t), m->numbers, at, sizeof(uint64_t), call->err);
}

bool measuring_take_share(Measuring *m, uint64_t capacity, MeasureShare *share)
{
    PrimCall *call = m->call;
    uint64_t found[3];
    share->from = share->to;
    share->size = 0;
    if (share->from == m->n) {
        return true;
    }
    const DevArg args[] = {dev_uint(m->n), dev_uint(share->from), dev_ulong(capacity), dev_mem(m->sizes),
                           dev_mem(m->groups)};
    TRY(launch(m, "places_share", (const size_t[3]){1, 1, 1}, 1, args, 5));
    TRY(dev_read(call->dev, m->groups, 0, found, sizeof found, call->err));
    share->from = (uint32_t)found[0];
    share->to = (uint32_t)found[1];
    share->size = found[2];
    return true;
}

bool measuring_place_rows(Measuring *m, const MeasureShare *share)
{
    const size_t groups[3] = {((size_t)m->n + GROUP - 1) / GROUP, 1, 1};
    const DevArg args[] = {dev_uint(m->n),    dev_uint(share->from), dev_uint(share->to), dev_ulong(share->size),
                           dev_mem(m->sizes), dev_mem(m->place),     dev_mem(m->heights)};
    return launch(m, "places_of_rows", groups, GROUP, args, 7);
}

bool measuring_place(Measuring *m, DevMem *before, const MeasureShare *share)
{
    const size_t groups[3] = {((size_t)m->n + GROUP - 1) / GROUP, 1, 1};
    const DevArg args[] = {dev_uint(m->n),         dev_uint(share->from), dev_uint(share->to),
                           dev_ulong(share->size), dev_mem(before),       dev_mem(m->place)};
    return launch(m, "places_of_any", groups, GROUP, args, 6);
}

bool measuring_clear_rows(Measuring *m, const MeasureShare *share, int32_t first, int32_t last, DevMem *ends,
                          DevMem *powers)
{
    size_t all = ((size_t)m->at.rows + GROUP - 1) / GROUP;
    const size_t groups[3] = {all < CLEARERS ? all : CLEARERS, 1, 1};
    const DevArg args[] = {dev_uint(share->from),  dev_uint(share->to),
                           dev_ulong(share->size), dev_mem(m->sizes),
                           dev_uint(m->at.rows),   dev_int(first),
                           dev_int(last),          dev_int(powers != NULL ? m->lanes.powers : 0),
                           dev_mem(ends),          dev_mem(powers != NULL ? powers : m->table)};
    return launch(m, "places_clear", groups, GROUP, args, 10);
}
