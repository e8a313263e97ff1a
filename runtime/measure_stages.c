/*
 * measure_stages: what needs an object's box first: its rows, and from them its hull and moments
 * (measure_rows.c); its values side by side, and of these the middle ones; its holes.
 *
 * Each stage gives every object a place in the work area.  The host adds up the sizes and takes as
 * many objects at a time as fit.
 */
#include "measure_rows.h"

#include <stdlib.h>

enum { GROUP = 256, LANES = 32, FILL_GROUP = 128, SELECT_GROUP = 256 };

extern const char kernel_text_measure_rows[];
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
    while (measuring_next_share(m, measuring_rows_of, m->at.rows, &share, r->wide)) {
        TRY(measure_rows_place(m, r, &share));
        TRY(measure_rows_find(m, r, &share));
        TRY(measure_rows_finish(m, r, &share));
        TRY(!m->at.weights || weigh_rows(m, r, &share));
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

bool measuring_write_places(Measuring *m, const uint64_t *place)
{
    return dev_write(m->call->dev, m->place, 0, place, m->n * sizeof *place, m->call->err);
}

/* One kernel for all segments of all large objects, or one work-item for each of them. */
static bool launch_large(Measuring *m, DevProgram *program, const char *kernel, size_t segments,
                         size_t larges, const DevArg *args, int n_args)
{
    size_t group = segments > 0 ? SELECT_GROUP : 1;
    return measuring_launch(
        m, &(MeasuringLaunch){.program = program,
                              .kernel = kernel,
                              .groups = {segments > 0 ? segments : larges,
                                         segments > 0 ? larges : 1, 1},
                              .group = group,
                              .args = args,
                              .n_args = n_args});
}

/* Records of the objects that have more than MEASURE_LARGE values; *segments: of the largest. */
static MeasureLarge *list_large(const Measuring *m, size_t *n, size_t *segments)
{
    *n = *segments = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        *n += measuring_count_of(m, k) > MEASURE_LARGE;
    }
    MeasureLarge *list = calloc(*n + 1, sizeof *list), *to = list;
    for (uint32_t k = 0; k < m->n && list != NULL; k++) {
        uint64_t count = measuring_count_of(m, k);
        if (count > MEASURE_LARGE) {
            *to++ = (MeasureLarge){
                .object = k, .rest = (uint32_t)((count - 1) / 2), .next = UINT32_MAX};
            size_t parts = (size_t)((count + MEASURE_SEGMENT - 1) / MEASURE_SEGMENT);
            *segments = parts > *segments ? parts : *segments;
        }
    }
    return list;
}

static bool select_large(Measuring *m, DevProgram *program, int lane, DevMem *larges, size_t n,
                         size_t segments)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        const DevArg count[] = {dev_uint(MEASURE_SEGMENT), dev_int(shift), dev_mem(m->table),
                                dev_mem(m->place), dev_mem(m->work), dev_mem(larges)};
        const DevArg choose[] = {dev_uint(n), dev_mem(larges)};
        TRY(launch_large(m, program, "measure_large_count", segments, n, count, 6));
        TRY(launch_large(m, program, "measure_large_choose", 0, n, choose, 2));
    }
    const DevArg above[] = {dev_uint(MEASURE_SEGMENT), dev_mem(m->table), dev_mem(m->place),
                            dev_mem(m->work), dev_mem(larges)};
    const DevArg write[] = {dev_uint(m->n), dev_uint(lane), dev_uint(n), dev_mem(m->table),
                            dev_mem(larges)};
    TRY(launch_large(m, program, "measure_large_above", segments, n, above, 5));
    return launch_large(m, program, "measure_large_write", 0, n, write, 5);
}

static bool large_medians(Measuring *m, DevProgram *program, int lane)
{
    PrimCall *call = m->call;
    size_t n = 0, segments = 0;
    DevMem *larges = NULL;
    MeasureLarge *list = list_large(m, &n, &segments);
    if (list == NULL) {
        return measuring_no_memory(m);
    }
    size_t bytes = n * sizeof *list;
    bool ok = n == 0 || (dev_slice(call->dev, m->work, m->at.keys, bytes, &larges, call->err) &&
                         dev_write(call->dev, larges, 0, list, bytes, call->err) &&
                         select_large(m, program, lane, larges, n, segments));
    dev_free(call->dev, larges);
    free(list);
    return ok;
}

bool measuring_find_median(Measuring *m, int image, const uint64_t *place)
{
    PrimCall *call = m->call;
    DevProgram *reads = NULL, *selects = NULL;
    int lane = m->lanes.image[image].median;
    TRY(measuring_program(m, kernel_text_measure_rows, true, image + 1, &reads));
    TRY(measuring_program(m, kernel_text_measure_median, false, 0, &selects));
    TRY(measuring_write_places(m, place));
    const DevArg args[] = {dev_int(call->w),   dev_int(call->h), dev_int(m->strip),
                           dev_uint(m->first), dev_uint(m->n),   dev_mem(m->place),
                           dev_mem(m->work)};
    TRY(measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                               .kernel = "measure_gather",
                                               .reads = true,
                                               .group = GROUP,
                                               .args = args,
                                               .n_args = 7}));
    const DevArg select_args[] = {dev_uint(m->n), dev_uint(lane), dev_uint(MEASURE_LARGE),
                                  dev_mem(m->table), dev_mem(m->place), dev_mem(m->work)};
    TRY(measuring_launch(m, &(MeasuringLaunch){.program = selects,
                                               .kernel = "measure_select",
                                               .groups = {m->n, 1, 1},
                                               .group = SELECT_GROUP,
                                               .args = select_args,
                                               .n_args = 6}));
    return large_medians(m, selects, lane);
}

static bool weigh(Measuring *m, int image)
{
    DevProgram *reads = NULL;
    TRY(measuring_program(m, kernel_text_measure_rows, true, image + 1, &reads));
    const ImageLanes *lanes = &m->lanes.image[image];
    const DevArg args[] = {dev_uint(m->first), dev_uint(m->n), dev_uint(lanes->weighted),
                           dev_ulong(lanes->weighted_mask), dev_mem(m->table), dev_mem(m->lows)};
    size_t powers = (size_t)measure_z_powers(lanes->weighted_mask);
    return measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                                  .kernel = "measure_weigh",
                                                  .reads = true,
                                                  .groups = {m->n, powers, 1},
                                                  .group = LANES,
                                                  .args = args,
                                                  .n_args = 6});
}

bool measuring_fill_holes(Measuring *m, uint64_t *place)
{
    DevProgram *reads = NULL;
    MeasureShare share = {0, 0, 0};
    TRY(measuring_program(m, kernel_text_measure_fill, true, 0, &reads));
    while (measuring_next_share(m, measuring_words_of, m->at.words, &share, place)) {
        TRY(measuring_write_places(m, place));
        const DevArg args[] = {dev_int(m->call->part.y), dev_int(m->call->part.z),
                               dev_uint(m->first),       dev_uint(m->n),
                               dev_uint(share.from),     dev_uint(m->lanes.filled),
                               dev_ulong(m->at.words),   dev_mem(m->table),
                               dev_mem(m->lows),         dev_mem(m->place),
                               dev_mem(m->work)};
        TRY(measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                                   .kernel = "measure_fill",
                                                   .reads = true,
                                                   .groups = {share.to - share.from, 1, 1},
                                                   .group = FILL_GROUP,
                                                   .args = args,
                                                   .n_args = 11}));
    }
    return true;
}

static bool pixel_stages(Measuring *m, uint64_t *place)
{
    MeasureShare share = {0, 0, 0};
    (void)measuring_next_share(m, measuring_count_of, UINT64_MAX, &share, place);
    for (int k = 0; k < m->list.images; k++) {
        if (m->lanes.image[k].median >= 0) {
            TRY(measuring_find_median(m, k, place));
        }
        if (m->lanes.image[k].weighted >= 0 && !m->at.weights) {
            TRY(weigh(m, k));
        }
    }
    return m->lanes.filled < 0 || measuring_fill_holes(m, place);
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
    return m->lanes.convex >= 0 || m->lanes.moments >= 0 || m->lanes.filled >= 0 ||
           needs_pixels(m);
}

bool measuring_stages(Measuring *m)
{
    if (m->lanes.convex >= 0 || m->lanes.moments >= 0 || m->at.weights) {
        TRY(rows_stage(m));
    }
    if (m->lanes.filled < 0 && !needs_pixels(m)) {
        return true;
    }
    uint64_t *place = malloc(m->n * sizeof *place);
    if (place == NULL) {
        return measuring_no_memory(m);
    }
    bool ok = pixel_stages(m, place);
    free(place);
    return ok;
}
