/*
 * measuring: what a measurement of a whole image (prim_measure.c) and one of its parts
 * (measure_parts.c) both do: programs and launches, the first kernels, memory, and the table.
 */
#include "measuring.h"

#include "../prim_program.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LONGEST_STRIP is the most that kernels/measure.cl can sum up in 32 bits. */
enum { GROUP = 256, ENOUGH_GROUPS = 2048, LONGEST_STRIP = 128, SHORTEST_STRIP = 16 };

/* What minima of spreads begin with: MEASURE_NO_SPREAD of kernels/measure_range.cl. */
enum { NO_SPREAD = 1000 };

/* Whole numbers of 16 bits are summed in the same way whatever they are: as zeros are. */
static const MeasureSpread SHORT[MEASURE_MAX_IMAGES] = {{0, 0, 0}};

extern const char kernel_text_wide_atomics[], kernel_text_measure_tally[], kernel_text_measure_range[];
extern const char kernel_text_measure[], kernel_text_measure_outline[], kernel_text_measure_reach[];

/* ---- launching ------------------------------------------------------------------------- */

bool measuring_program(const Measuring *m, const char *text, bool reads, int value, DevProgram **program)
{
    const PrimCall *call = m->call;
    char list[1000 + 1000 * MEASURE_MAX_IMAGES], few[140], defines[sizeof list + sizeof few + 60];
    measure_defines(&m->list, &m->lanes, dev_info(call->dev)->local, list, sizeof list);
    (void)snprintf(few, sizeof few,
                   "#pragma OPENCL FP_CONTRACT OFF\n#define MEASURE_FERET %d\n#define MEASURE_CHANNELS %d\n",
                   m->lanes.feret >= 0, m->lanes.space ? 1 : call->planes);
    (void)snprintf(defines, sizeof defines, "%s%s#define MEASURE_READ_VALUE read_%d\n", few, list, value);
    const char *const with_reader[] = {call->reader, kernel_text_wide_atomics, kernel_text_measure_tally, text, NULL};
    const char *const bare[] = {kernel_text_wide_atomics, text, NULL};
    return reads ? prim_program(call, defines, with_reader, program) : prim_program(call, few, bare, program);
}

bool measuring_launch(const Measuring *m, const MeasuringLaunch *launch)
{
    enum { MAX_ARGS = 192 };
    const PrimCall *call = m->call;
    DevKernel *kernel = NULL;
    DevArg args[MAX_ARGS];
    int n = 0, readers = launch->reads ? call->n_reader_args : 0;
    TRY(dev_kernel(launch->program, launch->kernel, &kernel, call->err));
    if (readers + launch->n_args > MAX_ARGS) {
        return err_set(call->err, CODE_USAGE, "%s reads from more than %d places at once", call->name,
                       MAX_ARGS - launch->n_args);
    }
    for (int i = 0; i < readers; i++) {
        args[n++] = call->reader_args[i];
    }
    for (int i = 0; i < launch->n_args; i++) {
        args[n++] = launch->args[i];
    }
    const size_t group[3] = {launch->group, 1, 1};
    size_t image[3] = {((size_t)call->w + GROUP - 1) / GROUP,
                       ((size_t)call->h + (size_t)m->strip - 1) / (size_t)m->strip, (size_t)call->planes};
    const size_t *groups = launch->groups[0] == 0 ? image : launch->groups;
    return dev_launch(call->dev, kernel, args, n, groups, group, call->name, call->err);
}

/* Long strips make few runs, short ones many groups. */
int measuring_strip(const PrimCall *call)
{
    int64_t across = (call->w + GROUP - 1) / GROUP;
    int strip = LONGEST_STRIP;
    while (strip > SHORTEST_STRIP && across * ((call->h + strip - 1) / strip) * call->planes < ENOUGH_GROUPS) {
        strip /= 2;
    }
    return strip;
}

/* ---- the first kernels ----------------------------------------------------------------- */

static bool is_windowed(const Measuring *m)
{
    bool windowed = false;
    for (int k = 0; k < m->list.images; k++) {
        windowed = windowed || (m->list.image_needs[k] & MEASURE_WINDOWED);
    }
    return windowed;
}

/* Whether some image is summed whose type does not say how. */
static bool must_look(const Measuring *m)
{
    bool must = false;
    for (int k = 0; k < m->list.images; k++) {
        Elem type = m->call->pixels[1 + k];
        bool fits = elem_is_integer(type) && elem_size(type) <= 2;
        must = must || (!fits && (m->list.image_needs[k] & MEASURE_WINDOWED));
    }
    return must;
}

bool measuring_clear_spread(Measuring *m)
{
    return dev_fill(m->call->dev, m->numbers, 0, sizeof(int32_t[MEASURE_MAX_IMAGES][3]), NO_SPREAD, m->call->err);
}

bool measuring_find_spread(Measuring *m)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    TRY(measuring_program(m, kernel_text_measure_range, true, 0, &program));
    const DevArg args[] = {dev_int(call->w), dev_int(call->h), dev_int(m->strip), dev_mem(m->numbers)};
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = "measure_range",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 4});
}

/* The spread, where it is needed, and the number of labels, where it is asked for, in one wait. */
static bool read_numbers(const Measuring *m, bool counts, MeasureNumbers *numbers)
{
    const PrimCall *call = m->call;
    size_t at = offsetof(MeasureNumbers, count), size = sizeof numbers->count;
    size_t slot = counts ? (size_t)call->of_value * size : 0;
    if (!m->looks) {
        return !counts || dev_read(call->dev, call->values, slot, &numbers->count, size, call->err);
    }
    TRY(!counts || dev_copy(call->dev, call->values, slot, m->numbers, at, size, call->err));
    return dev_read(call->dev, m->numbers, 0, numbers, sizeof *numbers, call->err);
}

bool measuring_fix_lanes(Measuring *m, double *count)
{
    PrimCall *call = m->call;
    MeasureNumbers numbers;
    MeasureSpread spread[MEASURE_MAX_IMAGES] = {{0, 0, 0}};
    int32_t window[2 * MEASURE_MAX_IMAGES];
    bool windowed = is_windowed(m);
    size_t images = (size_t)m->list.images;
    TRY(read_numbers(m, count != NULL, &numbers));
    for (size_t k = 0; k < images; k++) {
        const int32_t *found = numbers.spread[k];
        spread[k] = m->looks ? (MeasureSpread){-found[0], found[1], found[2] != NO_SPREAD} : SHORT[k];
    }
    if (count != NULL) {
        *count = numbers.count;
    }
    measure_lanes(&m->list, spread, call, &m->lanes);
    for (size_t k = 0; k < images; k++) {
        window[2 * k] = m->lanes.image[k].base;
        window[2 * k + 1] = m->lanes.image[k].base2;
    }
    return !windowed || dev_write(call->dev, m->window, 0, window, 2 * sizeof *window * images, call->err);
}

bool measuring_clear_sums(Measuring *m)
{
    PrimCall *call = m->call;
    TRY(dev_fill(call->dev, m->table, 0, (size_t)m->lanes.all * m->n * sizeof(uint64_t), 0, call->err));
    return dev_fill(call->dev, m->lows, 0, (size_t)m->lanes.lows * m->n * sizeof(uint32_t), UINT32_MAX, call->err);
}

bool measuring_add_sums(Measuring *m)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    TRY(measuring_program(m, kernel_text_measure, true, 0, &program));
    const DevArg args[] = {dev_int(call->w),      dev_int(call->h),  dev_int(call->d),   dev_int(call->part.y),
                           dev_int(call->part.z), dev_int(m->strip), dev_uint(m->first), dev_uint(m->n),
                           dev_mem(m->window),    dev_mem(m->table), dev_mem(m->lows)};
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = "measure_sums",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 11});
}

bool measuring_add_outline(Measuring *m)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    if (m->lanes.n_outline == 0) {
        return true;
    }
    TRY(measuring_program(m, kernel_text_measure_outline, true, 0, &program));
    PrimPart part = prim_part(call);
    const DevArg args[] = {dev_int(call->w),         dev_int(call->h), dev_int(call->d),           dev_int(-part.y),
                           dev_int(part.h - part.y), dev_int(-part.z), dev_int(part.d - part.z),   dev_int(m->strip),
                           dev_uint(m->first),       dev_uint(m->n),   dev_uint(m->lanes.outline), dev_mem(m->table)};
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = "measure_outline",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 12});
}

bool measuring_reach_program(const Measuring *m, DevProgram **program)
{
    return measuring_program(m, kernel_text_measure_reach, true, 0, program);
}

bool measuring_find_reach(Measuring *m, int halo, uint32_t *least, uint32_t *most)
{
    PrimCall *call = m->call;
    const PrimPart *part = &call->part;
    DevProgram *program = NULL;
    bool planes = !part->across && m->frame.dims > 2;
    int first = planes ? part->z : part->y, here = planes ? call->planes : call->h;
    int before = halo < first ? halo : first, left = (planes ? part->d : part->h) - first - here;
    int behind = halo < left ? halo : left;
    int y0 = planes ? 0 : -before, y1 = planes ? call->h : call->h + behind;
    size_t deep = (size_t)call->planes + (planes ? (size_t)(before + behind) : 0);
    uint32_t reach[2];
    const DevArg args[] = {dev_int(call->w),  dev_int(y0),      dev_int(y1), dev_int(planes ? -before : 0),
                           dev_int(m->strip), dev_mem(m->place)};
    TRY(measuring_reach_program(m, &program));
    TRY(dev_fill(call->dev, m->place, 0, sizeof reach, UINT32_MAX, call->err));
    TRY(measuring_launch(m, &(MeasuringLaunch){.program = program,
                                               .kernel = "measure_reach",
                                               .reads = true,
                                               .groups = {((size_t)call->w + GROUP - 1) / GROUP,
                                                          (size_t)(y1 - y0 + m->strip - 1) / (size_t)m->strip, deep},
                                               .group = GROUP,
                                               .args = args,
                                               .n_args = 6}));
    TRY(dev_read(call->dev, m->place, 0, reach, sizeof reach, call->err));
    *least = reach[0];
    *most = ~reach[1];
    return true;
}

/* ---- memory ---------------------------------------------------------------------------- */

bool measuring_open_slices(Measuring *m)
{
    PrimCall *call = m->call;
    const MeasureScratch *s = &m->at;
    struct {
        DevMem **to;
        size_t begin, end;
    } slices[] = {{&m->numbers, s->numbers, s->window}, {&m->window, s->window, s->table},
                  {&m->table, s->table, s->lows},       {&m->lows, s->lows, s->place},
                  {&m->place, s->place, s->heights},    {&m->heights, s->heights, s->sizes},
                  {&m->sizes, s->sizes, s->others},     {&m->others, s->others, s->groups},
                  {&m->groups, s->groups, s->work},     {&m->work, s->work, s->all}};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        size_t begin = slices[i].begin, bytes = slices[i].end - begin;
        if (bytes > 0) {
            TRY(dev_slice(call->dev, call->scratch, begin, bytes, slices[i].to, call->err));
        }
    }
    return true;
}

void measuring_close_slices(Measuring *m)
{
    DevMem **slices[] = {&m->numbers, &m->window, &m->table,  &m->lows,   &m->place,
                         &m->heights, &m->sizes,  &m->others, &m->groups, &m->work};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        dev_free(m->call->dev, *slices[i]);
        *slices[i] = NULL;
    }
}

bool measuring_no_memory(const Measuring *m)
{
    return err_set(m->call->err, CODE_MEMORY, "%s: no memory for the rows of %u objects", m->call->name, m->n);
}

bool measuring_open(PrimCall *call, Measuring *m)
{
    *m = (Measuring){.call = call, .strip = measuring_strip(call)};
    TRY(measure_parse(call->text != NULL ? call->text : "", prim_part(call).d > 1 ? 3 : 2, &m->list, call->err));
    m->frame.dims = m->list.dims;
    for (int axis = 0; axis < 3; axis++) {
        m->frame.spacing[axis] = call->measure.spacing[axis] > 0 ? call->measure.spacing[axis] : 1;
    }
    m->looks = must_look(m);
    measure_lanes(&m->list, m->looks ? NULL : SHORT, call, &m->lanes);
    measure_scratch(&m->list, &m->lanes, call, &m->at);
    return true;
}
