/*
 * prim_measure: a table with a row for each object of a label image, or one column of such a table as
 * a vector by label.
 *
 * One kernel goes over the image and sums what can be summed in integers (kernels/measure.cl),
 * others count outlines, find rows, hulls, moments and medians, and one puts the sums into the closing
 * formulae.  Labels are measured in chunks, so that memory does not grow with their number.  The number of
 * labels and, where the images' types do not say how they are summed, the spread of the pixel values are what the
 * host must know before it can enqueue; it waits once for both, and then for the table.
 */
#include "measuring.h"

size_t measuring_scratch(const PrimCall *call)
{
    Err ignored = {0};
    PrimCall copy = *call;
    Measuring m;
    copy.err = &ignored;
    return measuring_open(&copy, &m) ? m.at.all : 0;
}

static bool measure_chunk(Measuring *m)
{
    TRY(measuring_clear_sums(m));
    TRY(measuring_add_sums(m));
    TRY(measuring_add_outline(m));
    TRY(!measuring_has_stages(m) || measuring_stages(m));
    return measuring_finish(m);
}

/* What the host must know. */
static bool find_count(Measuring *m)
{
    double count = 0;
    if (m->looks) {
        TRY(measuring_clear_spread(m));
        TRY(measuring_find_spread(m));
    }
    TRY(measuring_fix_lanes(m, &count));
    m->count = count > 0 && count < UINT32_MAX ? (uint32_t)count : 0;
    m->at.objects = m->at.objects < m->count ? m->at.objects : m->count;
    return true;
}

static bool run_measuring(Measuring *m)
{
    TRY(measuring_open_slices(m));
    TRY(find_count(m));
    TRY(measuring_begin_result(m));
    if (m->count == 0) {
        return true;
    }
    for (uint64_t first = 1; first <= m->count; first += m->at.objects) {
        uint64_t left = m->count - first + 1;
        m->first = (uint32_t)first;
        m->n = left < m->at.objects ? (uint32_t)left : m->at.objects;
        TRY(measure_chunk(m));
    }
    return measuring_close_result(m);
}

bool measuring_run(PrimCall *call, MeasureResult result)
{
    Measuring m;
    if (call->part.cut) {
        return measure_parts_run(call, result);
    }
    TRY(measuring_open(call, &m));
    m.result = result;
    bool ok = run_measuring(&m);
    measuring_close_slices(&m);
    return ok;
}

static int passes(const PrimCall *call)
{
    return measure_parts_passes(call, MEASURE_TABLE);
}

static bool run_table(PrimCall *call)
{
    return measuring_run(call, MEASURE_TABLE);
}

static bool run_vector(PrimCall *call)
{
    return measuring_run(call, MEASURE_VECTOR);
}

#define MEASURING(NAME, RUN)                                                                     \
    {                                                                                            \
        .name = NAME, .scratch_bytes = measuring_scratch, .run = RUN, .passes = passes,          \
        .shares = measure_parts_shares, .halo = measure_parts_halo, .programs = MEASURING_AHEAD, \
        .program = measuring_program_ahead, .forget = measure_parts_forget                       \
    }

const Primitive prim_measure = MEASURING("measure", run_table);
const Primitive prim_column = MEASURING("column", run_vector);
