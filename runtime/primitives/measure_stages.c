/*
 * measure_stages: what needs an object's box first: its rows, and from them its hull and moments
 * (measure_rows.c); its values side by side, and of these the middle ones; its holes.
 *
 * Each stage gives every object a place in the work area (measure_places.c), as many objects at a
 * time as fit.
 */
#include "measure_rows.h"
#include "prim_program.h"

enum { GROUP = 256, LANES = 32, FILL_GROUP = 128, SELECT_GROUP = 256 };

extern const char kernel_text_measure_values[];
extern const char kernel_text_measure_median[], kernel_text_measure_fill[];

/* ---- rows ---------------------------------------------------------------------------------- */

/* Weighted moments by way of the rows, as those of an image in parts are. */
static bool weigh_rows(Measuring *m, const MeasureRows *r, const MeasureShare *share)
{
    for (int k = 0; k < m->list.images; k++) {
        if (m->lanes.image[k].weighted >= 0) {
            TRY(measure_rows_weigh(m, r, share, k));
            TRY(measure_rows_finish_weighted(m, r, share, k));
        }
    }
    return true;
}

static bool find_rows(Measuring *m, MeasureRows *r)
{
    TRY(measure_rows_open(m, r));
    MeasureShare share = {0, 0, 0};
    TRY(measuring_find_sizes(m, MEASURE_ROWS));
    TRY(measuring_take_share(m, m->at.rows, &share));
    while (share.from < share.to) {
        TRY(measuring_place_rows(m, &share));
        TRY(measure_rows_find(m, r, &share));
        TRY(measure_rows_finish(m, r, &share));
        TRY(m->result != MEASURE_MASK || measure_rows_paint(m, r, &share));
        TRY(!m->at.weights || weigh_rows(m, r, &share));
        TRY(measuring_take_share(m, m->at.rows, &share));
    }
    return true;
}

static bool rows_stage(Measuring *m)
{
    MeasureRows rows = {0};
    bool ok = find_rows(m, &rows);
    measure_rows_close(m, &rows);
    return ok;
}

/* ---- medians ------------------------------------------------------------------------------- */

static bool launch_medians(Measuring *m, DevProgram *program, const char *kernel,
                           const size_t groups[2], size_t group, const DevArg *args, int n_args)
{
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = kernel,
                                                  .groups = {groups[0], groups[1], 1},
                                                  .group = group,
                                                  .args = args,
                                                  .n_args = n_args});
}

/* How many objects are of middling size, how many are large, and segments of the largest. */
typedef struct Found {
    uint32_t middling, large, segments;
} Found;

/* One kernel for all segments of all large objects, or one work-item for each of them. */
static bool select_large(Measuring *m, DevProgram *program, int lane, DevMem *larges,
                         const Found *found)
{
    const size_t all[2] = {found->segments, found->large}, each[2] = {found->large, 1};
    for (int shift = 24; shift >= 0; shift -= 8) {
        const DevArg count[] = {dev_uint(MEASURE_SEGMENT), dev_int(shift),   dev_mem(m->table),
                                dev_mem(m->place),         dev_mem(m->work), dev_mem(larges)};
        const DevArg choose[] = {dev_uint(found->large), dev_mem(larges)};
        TRY(launch_medians(m, program, "measure_large_count", all, SELECT_GROUP, count, 6));
        TRY(launch_medians(m, program, "measure_large_choose", each, 1, choose, 2));
    }
    const DevArg above[] = {dev_uint(MEASURE_SEGMENT), dev_mem(m->table), dev_mem(m->place),
                            dev_mem(m->work), dev_mem(larges)};
    const DevArg write[] = {dev_uint(m->n), dev_uint(lane), dev_uint(found->large),
                            dev_mem(m->table), dev_mem(larges)};
    TRY(launch_medians(m, program, "measure_large_above", all, SELECT_GROUP, above, 5));
    return launch_medians(m, program, "measure_large_write", each, 1, write, 5);
}

/* Objects by the number of their values: a few work-items, a group, or many groups each. */
static bool select_medians(Measuring *m, DevProgram *program, int lane, DevMem *larges)
{
    PrimCall *call = m->call;
    Found found;
    const size_t objects[2] = {m->n, 1},
                 groups[2] = {((size_t)m->n + SELECT_GROUP - 1) / SELECT_GROUP, 1};
    const DevArg sort[] = {dev_uint(m->n),     dev_uint(MEASURE_LARGE), dev_uint(MEASURE_SEGMENT),
                           dev_mem(m->table),  dev_mem(m->place),       dev_mem(m->heights),
                           dev_mem(m->spread), dev_mem(larges)};
    const DevArg small[] = {dev_uint(m->n), dev_uint(lane), dev_mem(m->table), dev_mem(m->place),
                            dev_mem(m->work)};
    TRY(dev_fill(call->dev, m->spread, 0, sizeof found, 0, call->err));
    TRY(launch_medians(m, program, "measure_sort_out", groups, SELECT_GROUP, sort, 8));
    TRY(launch_medians(m, program, "measure_select_small", objects, LANES, small, 5));
    TRY(dev_read(call->dev, m->spread, 0, &found, sizeof found, call->err));
    const size_t middling[2] = {found.middling, 1};
    const DevArg select[] = {dev_uint(m->n),    dev_uint(lane),      dev_mem(m->table),
                             dev_mem(m->place), dev_mem(m->heights), dev_mem(m->work)};
    TRY(found.middling == 0 ||
        launch_medians(m, program, "measure_select", middling, SELECT_GROUP, select, 6));
    return found.large == 0 || select_large(m, program, lane, larges, &found);
}

static bool find_median(Measuring *m, int image)
{
    PrimCall *call = m->call;
    DevProgram *reads = NULL, *selects = NULL;
    DevMem *larges = NULL;
    TRY((double)call->w * call->h * call->planes <= UINT32_MAX || prim_needs_wide_atomics(call));
    TRY(measuring_program(m, kernel_text_measure_values, true, image + 1, &reads));
    TRY(measuring_program(m, kernel_text_measure_median, false, 0, &selects));
    const DevArg args[] = {dev_int(call->w),   dev_int(call->h), dev_int(m->strip),
                           dev_uint(m->first), dev_uint(m->n),   dev_mem(m->place),
                           dev_mem(m->work)};
    TRY(measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                               .kernel = "measure_gather",
                                               .reads = true,
                                               .group = GROUP,
                                               .args = args,
                                               .n_args = 7}));
    TRY(dev_slice(call->dev, m->work, m->at.keys, dev_bytes(m->work) - m->at.keys, &larges,
                  call->err));
    bool ok = select_medians(m, selects, m->lanes.image[image].median, larges);
    dev_free(call->dev, larges);
    return ok;
}

static bool weigh(Measuring *m, int image)
{
    DevProgram *reads = NULL;
    TRY(measuring_program(m, kernel_text_measure_values, true, image + 1, &reads));
    const ImageLanes *lanes = &m->lanes.image[image];
    const DevArg args[] = {dev_uint(m->first),        dev_uint(m->n),
                           dev_uint(lanes->weighted), dev_ulong(lanes->weighted_mask),
                           dev_mem(m->table),         dev_mem(m->lows)};
    size_t powers = (size_t)measure_z_powers(lanes->weighted_mask);
    return measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                                  .kernel = "measure_weigh",
                                                  .reads = true,
                                                  .groups = {m->n, powers, 1},
                                                  .group = LANES,
                                                  .args = args,
                                                  .n_args = 6});
}

static bool fill_holes(Measuring *m)
{
    DevProgram *reads = NULL;
    MeasureShare share = {0, 0, 0};
    TRY(measuring_program(m, kernel_text_measure_fill, true, 0, &reads));
    TRY(measuring_find_sizes(m, MEASURE_WORDS));
    TRY(measuring_take_share(m, m->at.words, &share));
    while (share.from < share.to) {
        TRY(measuring_place(m, m->sizes, &share));
        const DevArg args[] = {
            dev_int(m->call->part.y), dev_int(m->call->part.z), dev_uint(m->first),
            dev_uint(m->n),           dev_uint(share.from),     dev_uint(m->lanes.filled),
            dev_ulong(m->at.words),   dev_mem(m->table),        dev_mem(m->lows),
            dev_mem(m->place),        dev_mem(m->work)};
        TRY(measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                                   .kernel = "measure_fill",
                                                   .reads = true,
                                                   .groups = {share.to - share.from, 1, 1},
                                                   .group = FILL_GROUP,
                                                   .args = args,
                                                   .n_args = 11}));
        TRY(measuring_take_share(m, m->at.words, &share));
    }
    return true;
}

static bool pixel_stages(Measuring *m)
{
    const MeasureShare all = {0, m->n, 0};
    bool sized = false;
    for (int k = 0; k < m->list.images; k++) {
        if (m->lanes.image[k].median >= 0) {
            TRY(sized || measuring_find_sizes(m, MEASURE_PIXELS));
            TRY(measuring_place(m, m->sizes, &all));
            TRY(find_median(m, k));
            sized = true;
        }
        if (m->lanes.image[k].weighted >= 0 && !m->at.weights) {
            TRY(weigh(m, k));
        }
    }
    return m->lanes.filled < 0 || fill_holes(m);
}

static bool needs_pixels(const Measuring *m)
{
    unsigned needs = 0;
    for (int k = 0; k < m->list.images; k++) {
        needs |= m->list.image_needs[k];
    }
    return needs & (MEASURE_MEDIAN | MEASURE_WEIGHTED | MEASURE_WEIGHTED_THIRD);
}

bool measuring_has_stages(const Measuring *m)
{
    return m->lanes.convex >= 0 || m->lanes.moments >= 0 || m->lanes.filled >= 0 || needs_pixels(m);
}

bool measuring_has_rows(const Measuring *m)
{
    return m->lanes.convex >= 0 || m->lanes.moments >= 0 || m->at.weights;
}

bool measuring_stages(Measuring *m)
{
    return (!measuring_has_rows(m) || rows_stage(m)) && pixel_stages(m);
}
