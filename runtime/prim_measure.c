/*
 * prim_measure: a table with a row for each object of a label image.
 *
 * One kernel goes over the image and sums what can be summed in integers (kernels/measure.cl),
 * others count outlines, find rows, hulls, moments and medians; the closing formulae run on the
 * host, over one row of sums an object.  Labels are measured in chunks, so that memory does not
 * grow with their number.  The number of labels and the spread of the pixel values are the two
 * things that the host must know before it can enqueue; it reads them at the same time.
 */
#include "measuring.h"

#include "prim_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LONGEST_STRIP is the most that kernels/measure.cl can sum up in 32 bits. */
enum { GROUP = 256, ENOUGH_GROUPS = 2048, LONGEST_STRIP = 128, SHORTEST_STRIP = 16, BLOCK = 8192 };

extern const char kernel_text_measure_tally[], kernel_text_measure_range[];
extern const char kernel_text_measure[], kernel_text_measure_outline[];

/* ---- launching ------------------------------------------------------------------------- */

bool measuring_program(const Measuring *m, const char *text, bool reads, int value,
                       DevProgram **program)
{
    const PrimCall *call = m->call;
    static const char pragma[] = "#pragma OPENCL FP_CONTRACT OFF\n";
    char list[6000], defines[sizeof list + 100];
    measure_defines(&m->list, &m->lanes, dev_info(call->dev)->local, list, sizeof list);
    (void)snprintf(defines, sizeof defines, "%s%s#define MEASURE_READ_VALUE read_%d\n", pragma, list,
                   value);
    const char *const with_reader[] = {call->reader, kernel_text_measure_tally, text, NULL};
    const char *const bare[] = {text, NULL};
    return reads ? prim_program(call, defines, with_reader, program)
                 : prim_program(call, pragma, bare, program);
}

bool measuring_launch(const Measuring *m, const MeasuringLaunch *launch)
{
    enum { MAX_ARGS = 96 };
    const PrimCall *call = m->call;
    DevKernel *kernel = NULL;
    DevArg args[MAX_ARGS];
    int n = 0, readers = launch->reads ? call->n_reader_args : 0;
    TRY(dev_kernel(launch->program, launch->kernel, &kernel, call->err));
    if (readers + launch->n_args > MAX_ARGS) {
        return err_set(call->err, CODE_USAGE, "%s reads from more than %d places at once",
                       call->name, MAX_ARGS - launch->n_args);
    }
    for (int i = 0; i < readers; i++) {
        args[n++] = call->reader_args[i];
    }
    for (int i = 0; i < launch->n_args; i++) {
        args[n++] = launch->args[i];
    }
    const size_t group[3] = {launch->group, 1, 1};
    size_t image[3] = {((size_t)call->w + GROUP - 1) / GROUP,
                       ((size_t)call->h + (size_t)m->strip - 1) / (size_t)m->strip,
                       (size_t)call->planes};
    const size_t *groups = launch->groups[0] == 0 ? image : launch->groups;
    return dev_launch(call->dev, kernel, args, n, groups, group, call->name, call->err);
}

/* Long strips make few runs, short ones many groups. */
static int choose_strip(const PrimCall *call)
{
    int64_t across = (call->w + GROUP - 1) / GROUP;
    int strip = LONGEST_STRIP;
    while (strip > SHORTEST_STRIP &&
           across * ((call->h + strip - 1) / strip) * call->planes < ENOUGH_GROUPS) {
        strip /= 2;
    }
    return strip;
}

/* ---- the first kernels ----------------------------------------------------------------- */

/* Finds how far pixel values spread, reads it and the number of labels, and fixes the lanes. */
static bool begin(Measuring *m)
{
    PrimCall *call = m->call;
    MeasureSpread spread[MEASURE_MAX_IMAGES];
    bool windowed = false;
    for (int k = 0; k < m->list.images; k++) {
        spread[k] = (MeasureSpread){-1000, 1000, 0};
        windowed = windowed || (m->list.image_needs[k] & MEASURE_WINDOWED);
    }
    size_t bytes = (size_t)m->list.images * sizeof *spread;
    if (windowed) {
        DevProgram *program = NULL;
        measure_lanes(&m->list, NULL, call, &m->lanes);
        TRY(dev_write(call->dev, m->spread, 0, spread, bytes, call->err));
        TRY(measuring_program(m, kernel_text_measure_range, true, 0, &program));
        const DevArg args[] = {dev_int(call->w), dev_int(call->h), dev_int(m->strip),
                               dev_mem(m->spread)};
        TRY(measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                   .kernel = "measure_range",
                                                   .reads = true,
                                                   .group = GROUP,
                                                   .args = args,
                                                   .n_args = 4}));
        TRY(dev_read(call->dev, m->spread, 0, spread, bytes, call->err));
    }
    double count = 0;
    TRY(dev_read(call->dev, call->values, (size_t)call->of_value * sizeof count, &count,
                 sizeof count, call->err));
    m->count = count > 0 && count < UINT32_MAX ? (uint32_t)count : 0;
    measure_lanes(&m->list, spread, call, &m->lanes);
    int32_t window[2 * MEASURE_MAX_IMAGES];
    for (int k = 0; k < m->list.images; k++) {
        window[2 * k] = m->lanes.image[k].base;
        window[2 * k + 1] = m->lanes.image[k].base2;
    }
    return !windowed || dev_write(call->dev, m->window, 0, window,
                                  2 * sizeof *window * (size_t)m->list.images, call->err);
}

static bool launch_sums(Measuring *m)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    TRY(dev_fill(call->dev, m->table, 0, (size_t)m->lanes.all * m->n * sizeof(uint64_t), 0,
                 call->err));
    TRY(dev_fill(call->dev, m->lows, 0, (size_t)m->lanes.lows * m->n * sizeof(uint32_t),
                 UINT32_MAX, call->err));
    TRY(measuring_program(m, kernel_text_measure, true, 0, &program));
    const DevArg args[] = {dev_int(call->w),  dev_int(call->h),  dev_int(call->d),
                           dev_int(m->strip), dev_uint(m->first), dev_uint(m->n),
                           dev_mem(m->window), dev_mem(m->table), dev_mem(m->lows)};
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = "measure_sums",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 9});
}

static bool launch_outline(Measuring *m)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    if (m->lanes.n_outline == 0) {
        return true;
    }
    TRY(measuring_program(m, kernel_text_measure_outline, true, 0, &program));
    const DevArg args[] = {dev_int(call->w),   dev_int(call->h), dev_int(call->d),
                           dev_int(m->strip),  dev_uint(m->first), dev_uint(m->n),
                           dev_uint(m->lanes.outline), dev_mem(m->table)};
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = "measure_outline",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 8});
}

static bool read_boxes(Measuring *m)
{
    PrimCall *call = m->call;
    size_t boxes = 2 * (size_t)m->frame.dims * m->n * sizeof *m->boxes;
    TRY(dev_read(call->dev, m->table, 0, m->counts, m->n * sizeof *m->counts, call->err));
    return dev_read(call->dev, m->lows, 0, m->boxes, boxes, call->err);
}

static bool measure_chunk(Measuring *m, PrimTable *table)
{
    TRY(launch_sums(m));
    TRY(launch_outline(m));
    if (measuring_has_stages(m)) {
        TRY(read_boxes(m));
        TRY(measuring_stages(m));
    }
    return measuring_finish(m, table);
}

/* ---- memory ---------------------------------------------------------------------------- */

static bool cut_scratch(Measuring *m)
{
    PrimCall *call = m->call;
    const MeasureScratch *s = &m->at;
    struct {
        DevMem **to;
        size_t begin, end;
    } parts[] = {{&m->spread, s->spread, s->window}, {&m->window, s->window, s->table},
                 {&m->table, s->table, s->lows},     {&m->lows, s->lows, s->place},
                 {&m->place, s->place, s->heights},  {&m->heights, s->heights, s->work},
                 {&m->work, s->work, s->all}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t bytes = parts[i].end - parts[i].begin;
        if (bytes > 0) {
            TRY(dev_slice(call->dev, call->scratch, parts[i].begin, bytes, parts[i].to, call->err));
        }
    }
    return true;
}

static void free_measuring(Measuring *m)
{
    DevMem *slices[] = {m->spread, m->window, m->table, m->lows, m->place, m->heights, m->work};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        dev_free(m->call->dev, slices[i]);
    }
    free(m->counts);
    free(m->boxes);
    free(m->hull);
    free(m->feret);
    free(m->sums);
    free(m->minima);
}

static bool host_memory(Measuring *m)
{
    size_t n = m->at.objects, stages = measuring_has_stages(m) ? n : 1;
    size_t hulls = m->lanes.space && m->lanes.convex >= 0 ? n : 1;
    m->block = n < BLOCK ? n : BLOCK;
    m->counts = malloc(stages * sizeof *m->counts);
    m->boxes = malloc(stages * 2 * (size_t)m->frame.dims * sizeof *m->boxes);
    m->hull = malloc(hulls * sizeof *m->hull);
    m->feret = malloc(hulls * sizeof *m->feret);
    m->sums = malloc(m->block * (size_t)m->lanes.all * sizeof *m->sums);
    m->minima = malloc(m->block * (size_t)m->lanes.lows * sizeof *m->minima);
    if (m->counts == NULL || m->boxes == NULL || m->hull == NULL || m->feret == NULL ||
        m->sums == NULL || m->minima == NULL) {
        return err_set(m->call->err, CODE_MEMORY, "%s: no memory for the sums of %zu objects",
                       m->call->name, n);
    }
    return true;
}

/* Names, kinds and room for a row for each label, with one column more: the labels. */
static bool begin_table(const Measuring *m, PrimTable *table)
{
    const MeasureList *list = &m->list;
    size_t columns = (size_t)list->columns;
    *table = (PrimTable){.columns = list->columns};
    table->names = calloc(columns + 1, sizeof *table->names);
    table->integer = calloc(columns + 1, sizeof *table->integer);
    table->at = malloc((columns + 1) * ((size_t)m->count + 1) * sizeof *table->at);
    if (table->names == NULL || table->integer == NULL || table->at == NULL) {
        return err_set(m->call->err, CODE_MEMORY, "%s: no memory for a table of %u rows",
                       m->call->name, m->count);
    }
    const double *s = m->frame.spacing;
    bool unit = s[0] == 1 && s[1] == 1 && (list->dims == 2 || s[2] == 1);
    int column = 0;
    for (int i = 0; i < list->n; i++) {
        const MeasureItem *item = &list->at[i];
        for (int c = 0; c < measure_columns(item->measure, list->dims); c++, column++) {
            measure_header(item->measure, list->dims, item->header, c, table->names[column],
                           sizeof table->names[column]);
            int kind = item->measure->integer;
            table->integer[column] = kind == 1 || (kind == 2 && unit);
        }
    }
    return true;
}

/* Columns were `count` apart. */
static void close_table(const Measuring *m, PrimTable *table)
{
    for (int c = 1; c <= table->columns && table->rows < m->count; c++) {
        memmove(table->at + (int64_t)c * table->rows, table->at + (int64_t)c * m->count,
                (size_t)table->rows * sizeof *table->at);
    }
}

/* ---- the primitive --------------------------------------------------------------------- */

static bool read_call(PrimCall *call, Measuring *m)
{
    *m = (Measuring){.call = call, .strip = choose_strip(call)};
    TRY(measure_parse(call->text != NULL ? call->text : "", call->d > 1 ? 3 : 2, &m->list,
                      call->err));
    m->frame.dims = m->list.dims;
    for (int axis = 0; axis < 3; axis++) {
        m->frame.spacing[axis] = call->arg[axis] > 0 ? call->arg[axis] : 1;
    }
    return true;
}

static size_t scratch_bytes(const PrimCall *call)
{
    Err ignored = {0};
    PrimCall copy = *call;
    Measuring m;
    copy.err = &ignored;
    if (!read_call(&copy, &m)) {
        return 0;
    }
    measure_lanes(&m.list, NULL, call, &m.lanes);
    measure_scratch(&m.list, &m.lanes, call, &m.at);
    return m.at.all;
}

static bool run_measuring(Measuring *m)
{
    PrimTable *table = m->call->table;
    measure_lanes(&m->list, NULL, m->call, &m->lanes);
    measure_scratch(&m->list, &m->lanes, m->call, &m->at);
    TRY(cut_scratch(m));
    TRY(begin(m));
    m->at.objects = m->at.objects < m->count ? m->at.objects : m->count;
    TRY(begin_table(m, table));
    if (m->count == 0) {
        return true;
    }
    TRY(host_memory(m));
    for (uint64_t first = 1; first <= m->count; first += m->at.objects) {
        uint64_t left = m->count - first + 1;
        m->first = (uint32_t)first;
        m->n = left < m->at.objects ? (uint32_t)left : m->at.objects;
        TRY(measure_chunk(m, table));
    }
    close_table(m, table);
    return true;
}

static bool run(PrimCall *call)
{
    Measuring m;
    TRY(read_call(call, &m));
    bool ok = run_measuring(&m);
    free_measuring(&m);
    return ok;
}

/* One column of a finished table as a vector by label: 0 where there is no such object. */
static bool run_column(PrimCall *call)
{
    const PrimTable *table = call->table;
    int64_t n = call->out[0].length;
    int column = (int)call->arg[0];
    float *vector = calloc((size_t)n + 1, sizeof *vector);
    if (vector == NULL) {
        return err_set(call->err, CODE_MEMORY, "%s: no memory for %lld labels", call->name,
                       (long long)n);
    }
    const double *labels = table->at + (int64_t)table->columns * table->rows;
    for (int64_t row = 0; row < table->rows; row++) {
        if (labels[row] < (double)n) {
            vector[(int64_t)labels[row]] = (float)table->at[column * table->rows + row];
        }
    }
    bool ok = dev_write(call->dev, call->out[0].mem, 0, vector, (size_t)n * sizeof *vector,
                        call->err);
    free(vector);
    return ok;
}

const Primitive prim_measure = {.name = "measure", .scratch_bytes = scratch_bytes, .run = run};
const Primitive prim_column = {.name = "column", .run = run_column};
