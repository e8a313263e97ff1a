/*
 * measure_rows: an object's rows: where they begin and end, and sums over them; from them its hull and
 * its moments.
 *
 * Each object has a place in the work area for all rows of its box.  Hulls in 3-D are those of
 * measure_space.c.
 */
#include "measure_rows.h"

enum {
    GROUP = 256,
    LANES = 32,
    FERET_GROUP = 64,
    SIDES = 128,        /* of hulls, a group: MEASURE_SIDES of kernels/measure_hull.cl */
    FEW_OBJECTS = 4096, /* fewer may be large, and are painted by several groups each */
    PAINTERS = 64
};

extern const char kernel_text_measure_rows[], kernel_text_measure_hull[];
extern const char kernel_text_measure_moments[], kernel_text_measure_values[];

bool measure_rows_reads(const Measuring *m, DevProgram **program)
{
    return measuring_program(m, kernel_text_measure_rows, true, 0, program);
}

/* Hulls of volumes have a program of their own, but are painted by this one, too. */
bool measure_rows_hull(const Measuring *m, DevProgram **program)
{
    bool wanted = m->lanes.convex >= 0 && (!m->lanes.space || m->result == MEASURE_MASK);
    return !wanted || measuring_program(m, kernel_text_measure_hull, false, 0, program);
}

bool measure_rows_moments(const Measuring *m, DevProgram **program)
{
    return measuring_program(m, kernel_text_measure_moments, false, 0, program);
}

bool measure_rows_open(Measuring *m, MeasureRows *r)
{
    PrimCall *call = m->call;
    size_t align = dev_alignment(call->dev), rows = m->at.rows;
    size_t pair = (2 * rows * sizeof(int32_t) + align - 1) / align * align;
    TRY(dev_slice(call->dev, m->work, 0, pair, &r->ends, call->err));
    size_t next = pair;
    if (m->lanes.convex >= 0) {
        TRY(dev_slice(call->dev, m->work, next, pair, &r->corners, call->err));
        next += pair;
    }
    if (m->lanes.convex >= 0 && m->lanes.space) {
        size_t points = (2 * rows * sizeof(uint64_t) + align - 1) / align * align;
        TRY(dev_slice(call->dev, m->work, next, points, &r->points, call->err));
        next += points;
    }
    if (m->lanes.powers > 0) {
        size_t bytes = (size_t)m->lanes.powers * rows * sizeof(uint64_t);
        TRY(dev_slice(call->dev, m->work, next, bytes, &r->powers, call->err));
        next += (bytes + align - 1) / align * align;
    }
    if (m->at.weights) {
        size_t bytes = MEASURE_WEIGHTS * rows * sizeof(double);
        TRY(dev_slice(call->dev, m->work, next, bytes, &r->weights, call->err));
        next += (bytes + align - 1) / align * align;
    }
    if (call->part.cut) {
        TRY(dev_slice(call->dev, m->work, next, rows * MEASURE_KEPT, &r->kept, call->err));
    }
    return measure_rows_reads(m, &r->reads) && measure_rows_hull(m, &r->hull);
}

void measure_rows_close(const Measuring *m, MeasureRows *r)
{
    dev_free(m->call->dev, r->ends);
    dev_free(m->call->dev, r->corners);
    dev_free(m->call->dev, r->points);
    dev_free(m->call->dev, r->powers);
    dev_free(m->call->dev, r->weights);
    dev_free(m->call->dev, r->kept);
}

bool measure_rows_find(Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    PrimCall *call = m->call;
    TRY(measuring_clear_rows(m, share, INT32_MAX, -1, r->ends, r->powers));
    const DevArg args[] = {dev_int(call->w),
                           dev_int(call->h),
                           dev_int(call->d),
                           dev_int(call->part.y),
                           dev_int(call->part.z),
                           dev_int(m->strip),
                           dev_uint(m->first),
                           dev_uint(m->n),
                           dev_uint(share->from),
                           dev_uint(share->to),
                           dev_uint(m->at.rows),
                           dev_mem(m->table),
                           dev_mem(m->lows),
                           dev_mem(m->place),
                           dev_mem(m->heights),
                           dev_mem(r->ends),
                           dev_mem(r->powers != NULL ? r->powers : m->table)};
    return measuring_launch(m, &(MeasuringLaunch){.program = r->reads,
                                                  .kernel = "measure_ends",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 17});
}

bool measure_rows_weigh(Measuring *m, const MeasureRows *r, const MeasureShare *share, int image)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    TRY(measuring_program(m, kernel_text_measure_values, true, image + 1, &program));
    const DevArg args[] = {dev_int(call->h), dev_int(call->part.y), dev_int(call->part.z), dev_uint(m->first),
                           dev_uint(m->n),   dev_uint(share->from), dev_uint(m->at.rows),  dev_mem(m->table),
                           dev_mem(m->lows), dev_mem(m->place),     dev_mem(m->heights),   dev_mem(r->weights)};
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = "measure_weigh_rows",
                                                  .reads = true,
                                                  .groups = {share->to - share->from, 1, 1},
                                                  .group = LANES,
                                                  .args = args,
                                                  .n_args = 12});
}

/* Moments to lanes from `lane` on; `real`: weighted ones. */
static bool launch_moments(Measuring *m, const MeasureRows *r, const MeasureShare *share, int lane, uint64_t mask,
                           bool real)
{
    int powers = real ? MEASURE_WEIGHTS : m->lanes.powers;
    DevProgram *program = NULL;
    TRY(measure_rows_moments(m, &program));
    const DevArg args[] = {dev_uint(m->n),
                           dev_uint(share->from),
                           dev_uint(lane),
                           dev_uint(m->at.rows),
                           dev_uint(m->lanes.space),
                           dev_int(powers),
                           dev_int(real),
                           dev_ulong(mask),
                           dev_mem(m->table),
                           dev_mem(m->lows),
                           dev_mem(m->place),
                           dev_mem(m->heights),
                           dev_mem(real ? r->weights : r->powers)};
    return measuring_launch(m,
                            &(MeasuringLaunch){.program = program,
                                               .kernel = "measure_moments",
                                               .groups = {share->to - share->from, (size_t)measure_z_powers(mask), 1},
                                               .group = LANES,
                                               .args = args,
                                               .n_args = 13});
}

static bool launch_hull(Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    size_t sides = 2 * (size_t)(share->to - share->from);
    const DevArg args[] = {dev_uint(m->n),       dev_uint(share->from), dev_uint(share->to), dev_uint(m->lanes.convex),
                           dev_uint(m->at.rows), dev_mem(m->table),     dev_mem(m->place),   dev_mem(m->heights),
                           dev_mem(r->ends),     dev_mem(r->corners)};
    return measuring_launch(m, &(MeasuringLaunch){.program = r->hull,
                                                  .kernel = "measure_hull",
                                                  .groups = {(sides + SIDES - 1) / SIDES, 1, 1},
                                                  .group = SIDES,
                                                  .args = args,
                                                  .n_args = 10});
}

static bool launch_feret(Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    const double *s = m->frame.spacing;
    const DevArg args[] = {dev_uint(m->n),      dev_uint(share->from), dev_uint(m->lanes.feret), dev_uint(m->at.rows),
                           dev_double(s[0]),    dev_double(s[1]),      dev_mem(m->table),        dev_mem(m->place),
                           dev_mem(m->heights), dev_mem(r->ends),      dev_mem(r->corners)};
    return measuring_launch(m, &(MeasuringLaunch){.program = r->hull,
                                                  .kernel = "measure_feret",
                                                  .groups = {share->to - share->from, 1, 1},
                                                  .group = FERET_GROUP,
                                                  .args = args,
                                                  .n_args = 11});
}

bool measure_rows_finish(Measuring *m, MeasureRows *r, const MeasureShare *share)
{
    const MeasureLanes *at = &m->lanes;
    if (at->moments >= 0) {
        TRY(launch_moments(m, r, share, at->moments, at->moments_mask, false));
    }
    if (at->convex < 0) {
        return true;
    }
    if (at->space) {
        return measure_space(m, r, share);
    }
    TRY(launch_hull(m, r, share));
    return at->feret < 0 || launch_feret(m, r, share);
}

bool measure_rows_paint(Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    const PrimImage *mask = &m->call->out[0];
    size_t objects = share->to - share->from;
    const PrimPart *part = &m->call->part;
    int first = (int)(mask->before / (size_t)mask->h); /* plane */
    const DevArg args[] = {dev_uint(m->n),       dev_uint(share->from), dev_uint(m->at.rows), dev_int(m->frame.dims),
                           dev_int(part->y),     dev_int(part->z),      dev_mem(m->lows),     dev_mem(m->place),
                           dev_mem(m->heights),  dev_mem(r->ends),      dev_int(first),       dev_int(mask->h),
                           dev_int(mask->pitch), dev_mem(mask->mem)};
    return measuring_launch(m, &(MeasuringLaunch){.program = r->hull,
                                                  .kernel = "measure_paint",
                                                  .groups = {objects, objects < FEW_OBJECTS ? PAINTERS : 1, 1},
                                                  .group = LANES,
                                                  .args = args,
                                                  .n_args = 14});
}

bool measure_rows_finish_weighted(Measuring *m, const MeasureRows *r, const MeasureShare *share, int image)
{
    const ImageLanes *lanes = &m->lanes.image[image];
    return launch_moments(m, r, share, lanes->weighted, lanes->weighted_mask, true);
}
