/* measure_space: convex hulls of objects of volumes, on the device (kernels/measure_space.cl). */
#include "measure_rows.h"
#include "../prim_program.h"
#include "../prim_visit.h"

#include <stdio.h>

enum {
    LANES = 64,      /* work-items of a group, on devices that are no CPUs */
    LEAST_ROWS = 64, /* of a group's share of an object */
    GROUPS = 4096,   /* that an object or a few have together, each at most MOST_GROUPS */
    MOST_GROUPS = 64,
    LEAST_GROUPS = 4 /* not on CPUs: one of many objects may be large */
};

extern const char kernel_text_measure_space[], kernel_text_wide_atomics[];

static size_t lanes(const Measuring *m)
{
    return visit_is_cpu(m->call) ? 1 : LANES;
}

bool measure_space_program(const Measuring *m, DevProgram **program)
{
    static const char *const texts[] = {kernel_text_wide_atomics, kernel_text_measure_space, NULL};
    char defines[100];
    (void)snprintf(defines, sizeof defines, "#pragma OPENCL FP_CONTRACT OFF\n#define SPACE_GROUP %zu\n", lanes(m));
    return prim_program(m->call, defines, texts, program);
}

/* Groups: objects, then (1), then (2). */
static bool launch(const Measuring *m, const char *kernel, const size_t groups[3], const DevArg *args, int n_args)
{
    DevProgram *program = NULL;
    TRY(measure_space_program(m, &program));
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = kernel,
                                                  .groups = {groups[0], groups[1], groups[2]},
                                                  .group = lanes(m),
                                                  .args = args,
                                                  .n_args = n_args});
}

static bool list_points(const Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    const size_t groups[3] = {share->to - share->from, 2, 1};
    const DevArg args[] = {dev_uint(m->n),   dev_uint(share->from), dev_uint(m->at.rows),
                           dev_mem(m->lows), dev_mem(m->place),     dev_mem(m->heights),
                           dev_mem(r->ends), dev_mem(r->corners),   dev_mem(r->points)};
    return launch(m, "space_points", groups, args, 9);
}

/* Groups that share an object: more where there are few, which may be large. */
static size_t helpers(const Measuring *m, const MeasureShare *share)
{
    size_t each = GROUPS / (share->to - share->from), least = visit_is_cpu(m->call) ? 1 : LEAST_GROUPS;
    return each > MOST_GROUPS ? MOST_GROUPS : each < least ? least : each;
}

static bool find_hulls(Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    const size_t groups[3] = {share->to - share->from, helpers(m, share), 2};
    const DevArg args[] = {dev_uint(m->n),      dev_uint(share->from), dev_uint(m->lanes.convex), dev_uint(m->at.rows),
                           dev_int(LEAST_ROWS), dev_mem(m->table),     dev_mem(m->lows),          dev_mem(m->place),
                           dev_mem(m->heights), dev_mem(r->ends),      dev_mem(r->corners),       dev_mem(r->points)};
    TRY(measuring_clear_rows(m, share, INT32_MIN, INT32_MIN, r->ends, NULL));
    return launch(m, "space_hull", groups, args, 12);
}

static bool find_diameters(const Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    const size_t groups[3] = {share->to - share->from, helpers(m, share), 1};
    const double *s = m->frame.spacing;
    const int launches = dev_info(m->call->dev)->wide_atomics ? 1 : 2; /* see wide_max */
    for (int i = 0; i < launches; i++) {
        const DevArg args[] = {dev_uint(m->n),    dev_uint(share->from), dev_uint(m->lanes.feret), dev_uint(m->at.rows),
                               dev_int(i),        dev_double(s[0]),      dev_double(s[1]),         dev_double(s[2]),
                               dev_mem(m->table), dev_mem(m->lows),      dev_mem(m->place),        dev_mem(m->heights),
                               dev_mem(r->ends),  dev_mem(r->corners),   dev_mem(r->points)};
        TRY(launch(m, "space_feret", groups, args, 15));
    }
    return true;
}

bool measure_space(Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    TRY(list_points(m, r, share));
    TRY(find_hulls(m, r, share));
    if (m->lanes.feret < 0) {
        return true;
    }
    TRY(list_points(m, r, share));
    return find_diameters(m, r, share);
}
