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

#include <stdlib.h>

static size_t scratch_bytes(const PrimCall *call)
{
    Err ignored = {0};
    PrimCall copy = *call;
    Measuring m;
    copy.err = &ignored;
    return measuring_open(&copy, &m) ? m.at.all : 0;
}

static bool measure_chunk(Measuring *m, PrimTable *table)
{
    TRY(measuring_clear_sums(m));
    TRY(measuring_add_sums(m));
    TRY(measuring_add_outline(m));
    if (measuring_has_stages(m)) {
        TRY(measuring_read_boxes(m));
        TRY(measuring_stages(m));
    }
    return measuring_finish(m, table);
}

static bool read_count(Measuring *m)
{
    PrimCall *call = m->call;
    double count = 0;
    TRY(dev_read(call->dev, call->values, (size_t)call->of_value * sizeof count, &count,
                 sizeof count, call->err));
    m->count = count > 0 && count < UINT32_MAX ? (uint32_t)count : 0;
    m->at.objects = m->at.objects < m->count ? m->at.objects : m->count;
    return true;
}

static bool run_measuring(Measuring *m)
{
    PrimTable *table = m->call->table;
    TRY(measuring_open_slices(m));
    if (measuring_is_windowed(m)) {
        TRY(measuring_clear_spread(m));
        TRY(measuring_find_spread(m));
    }
    TRY(measuring_fix_lanes(m));
    TRY(read_count(m));
    TRY(measuring_begin_table(m, table));
    if (m->count == 0) {
        return true;
    }
    TRY(measuring_host_memory(m));
    for (uint64_t first = 1; first <= m->count; first += m->at.objects) {
        uint64_t left = m->count - first + 1;
        m->first = (uint32_t)first;
        m->n = left < m->at.objects ? (uint32_t)left : m->at.objects;
        TRY(measure_chunk(m, table));
    }
    measuring_close_table(m, table);
    return true;
}

static bool run(PrimCall *call)
{
    Measuring m;
    if (call->part.cut) {
        return measure_parts_run(call);
    }
    TRY(measuring_open(call, &m));
    bool ok = run_measuring(&m);
    measuring_close_slices(&m);
    measuring_free(&m);
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

const Primitive prim_measure = {.name = "measure",
                                .scratch_bytes = scratch_bytes,
                                .run = run,
                                .passes = measure_parts_passes,
                                .halo = measure_parts_halo,
                                .programs = MEASURING_AHEAD,
                                .program = measuring_program_ahead,
                                .forget = measure_parts_forget};
const Primitive prim_column = {.name = "column", .run = run_column};
