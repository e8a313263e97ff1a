/*
 * measure_stages: what needs an object's box first: its rows, and from them its hull and moments
 * (measure_rows.c); its values side by side, and of these the middle ones; its holes.
 *
 * Each stage gives every object a place in the work area (measure_places.c), as many objects at a
 * time as fit.  Mostly all do, so the first share of them is measured as if they did, and the host asks only when
 * it waits for results, too, whether some were left out.
 */
#include "measure_rows.h"
#include "../prim_program.h"

#include <stddef.h>

enum {
    GROUP = 256,
    LANES = 32,
    FILL_GROUP = 128,
    SELECT_GROUP = 256,
    SMALL = 256, /* values: MEASURE_SMALL of kernels/measure_median.cl */
    FOUND = 3,   /* numbers that measure_sort_out counts there */
    GROUPS_A_UNIT = 32
};

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

static bool rows_of_share(Measuring *m, const MeasureShare *share)
{
    MeasureRows rows = {0};
    bool ok = measure_rows_open(m, &rows) && measuring_place_rows(m, share) && measure_rows_find(m, &rows, share) &&
              measure_rows_finish(m, &rows, share) &&
              (m->result != MEASURE_MASK || measure_rows_paint(m, &rows, share)) &&
              (!m->at.weights || weigh_rows(m, &rows, share));
    measure_rows_close(m, &rows);
    return ok;
}

/* ---- medians ------------------------------------------------------------------------------- */

static bool launch_medians(Measuring *m, DevProgram *program, const char *kernel, const size_t groups[2], size_t group,
                           const DevArg *args, int n_args)
{
    return measuring_launch(m, &(MeasuringLaunch){.program = program,
                                                  .kernel = kernel,
                                                  .groups = {groups[0], groups[1], 1},
                                                  .group = group,
                                                  .args = args,
                                                  .n_args = n_args});
}

/* At most so many groups go over what the device has found to do. */
static size_t enough(const Measuring *m, size_t most)
{
    int units = dev_info(m->call->dev)->units;
    size_t groups = (size_t)(units > 0 ? units : 1) * GROUPS_A_UNIT;
    return most < groups ? most : groups;
}

/* So many objects can have more values than `least`. */
static size_t most_above(const Measuring *m, size_t least)
{
    const PrimCall *call = m->call;
    size_t fit = (size_t)call->w * (size_t)call->h * (size_t)call->planes / (least + 1);
    return fit < m->n ? fit : m->n;
}

/* Groups go over the segments of all large objects; a work-item for each object there may be. */
static bool select_large(Measuring *m, DevProgram *program, int lane, double fraction, DevMem *larges)
{
    const PrimCall *call = m->call;
    size_t larges_most = most_above(m, MEASURE_LARGE);
    size_t segments = (size_t)call->w * (size_t)call->h * (size_t)call->planes / MEASURE_SEGMENT;
    const size_t all[2] = {enough(m, segments + larges_most), 1}, each[2] = {larges_most, 1};
    for (int shift = 24; shift >= 0; shift -= 8) {
        const DevArg count[] = {dev_uint(MEASURE_SEGMENT), dev_int(shift),   dev_mem(m->numbers), dev_mem(m->table),
                                dev_mem(m->place),         dev_mem(m->work), dev_mem(larges)};
        const DevArg choose[] = {dev_mem(m->numbers), dev_mem(larges)};
        TRY(launch_medians(m, program, "measure_large_count", all, SELECT_GROUP, count, 7));
        TRY(launch_medians(m, program, "measure_large_choose", each, 1, choose, 2));
    }
    const DevArg above[] = {dev_uint(MEASURE_SEGMENT), dev_mem(m->numbers), dev_mem(m->table),
                            dev_mem(m->place),         dev_mem(m->work),    dev_mem(larges)};
    const DevArg write[] = {dev_uint(m->n),      dev_uint(lane),    dev_double(fraction),
                            dev_mem(m->numbers), dev_mem(m->table), dev_mem(larges)};
    TRY(launch_medians(m, program, "measure_large_above", all, SELECT_GROUP, above, 6));
    return launch_medians(m, program, "measure_large_write", each, 1, write, 6);
}

/* Objects by the number of their values: a few work-items, a group, or many groups each.  Of the latter two only
 * the device knows how many there are. */
static bool select_medians(Measuring *m, DevProgram *program, int lane, double fraction, DevMem *larges)
{
    PrimCall *call = m->call;
    const size_t objects[2] = {m->n, 1}, groups[2] = {((size_t)m->n + SELECT_GROUP - 1) / SELECT_GROUP, 1},
                 middling[2] = {enough(m, most_above(m, SMALL)), 1};
    const DevArg sort[] = {dev_uint(m->n),       dev_uint(MEASURE_LARGE), dev_uint(MEASURE_SEGMENT),
                           dev_double(fraction), dev_mem(m->table),       dev_mem(m->place),
                           dev_mem(m->heights),  dev_mem(m->numbers),     dev_mem(larges)};
    const DevArg small[] = {dev_uint(m->n),    dev_uint(lane),    dev_double(fraction),
                            dev_mem(m->table), dev_mem(m->place), dev_mem(m->work)};
    const DevArg select[] = {dev_uint(m->n),    dev_uint(lane),    dev_double(fraction), dev_mem(m->numbers),
                             dev_mem(m->table), dev_mem(m->place), dev_mem(m->heights),  dev_mem(m->work)};
    TRY(dev_fill(call->dev, m->numbers, 0, FOUND * sizeof(uint32_t), 0, call->err));
    TRY(launch_medians(m, program, "measure_sort_out", groups, SELECT_GROUP, sort, 9));
    TRY(launch_medians(m, program, "measure_select_small", objects, LANES, small, 6));
    TRY(launch_medians(m, program, "measure_select", middling, SELECT_GROUP, select, 8));
    return most_above(m, MEASURE_LARGE) == 0 || select_large(m, program, lane, fraction, larges);
}

static bool find_median(Measuring *m, int image)
{
    PrimCall *call = m->call;
    DevProgram *reads = NULL, *selects = NULL;
    DevMem *larges = NULL;
    TRY((double)call->w * call->h * call->planes <= UINT32_MAX || prim_needs_wide_atomics(call));
    TRY(measuring_program(m, kernel_text_measure_values, true, image + 1, &reads));
    TRY(measuring_program(m, kernel_text_measure_median, false, 0, &selects));
    const DevArg args[] = {dev_int(call->w), dev_int(call->h),  dev_int(m->strip), dev_uint(m->first),
                           dev_uint(m->n),   dev_mem(m->place), dev_mem(m->work)};
    TRY(measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                               .kernel = "measure_gather",
                                               .reads = true,
                                               .group = GROUP,
                                               .args = args,
                                               .n_args = 7}));
    TRY(dev_slice(call->dev, m->work, m->at.keys, dev_bytes(m->work) - m->at.keys, &larges, call->err));
    bool ok = select_medians(m, selects, m->lanes.image[image].median, m->list.fraction[image], larges);
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

static bool holes_of_share(Measuring *m, const MeasureShare *share)
{
    DevProgram *reads = NULL;
    TRY(measuring_program(m, kernel_text_measure_fill, true, 0, &reads));
    TRY(measuring_place(m, m->sizes, share));
    const DevArg args[] = {dev_int(m->call->part.y), dev_int(m->call->part.z), dev_uint(m->first),
                           dev_uint(m->n),           dev_uint(share->from),    dev_uint(m->lanes.filled),
                           dev_ulong(m->at.words),   dev_mem(m->table),        dev_mem(m->lows),
                           dev_mem(m->place),        dev_mem(m->work)};
    return measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                                  .kernel = "measure_fill",
                                                  .reads = true,
                                                  .groups = {share->to - share->from, 1, 1},
                                                  .group = FILL_GROUP,
                                                  .args = args,
                                                  .n_args = 11});
}

static bool pixel_stages(Measuring *m)
{
    const MeasureShare all = {0, m->n, UINT64_MAX};
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
    return true;
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

/* ---- shares -------------------------------------------------------------------------------- */

/* A stage that goes over objects in shares: those of one that fit together. */
typedef struct Shares {
    bool wanted;
    MeasureSizes of;
    uint64_t capacity;
    size_t at; /* of what all of them take, in MeasureWanted */
    bool (*work)(Measuring *, const MeasureShare *);
} Shares;

enum { STAGES_OF_SHARES = 2 };

static void list_shares(const Measuring *m, Shares list[STAGES_OF_SHARES])
{
    list[0] = (Shares){measuring_has_rows(m), MEASURE_ROWS, m->at.rows, offsetof(MeasureWanted, rows), rows_of_share};
    list[1] =
        (Shares){m->lanes.filled >= 0, MEASURE_WORDS, m->at.words, offsetof(MeasureWanted, words), holes_of_share};
}

/* Few objects fit, however large they are. */
static bool are_few(const Measuring *m)
{
    const PrimCall *call = m->call;
    uint64_t rows = (uint64_t)m->n * (uint64_t)call->h * (uint64_t)call->d;
    bool rows_fit = !measuring_has_rows(m) || rows <= m->at.rows;
    return rows_fit && (m->lanes.filled < 0 || rows * (((uint64_t)call->w + 31) / 32) <= m->at.words);
}

static bool first_share(Measuring *m, const Shares *of)
{
    MeasureShare share;
    TRY(measuring_find_sizes(m, of->of));
    TRY(measuring_first_share(m, of->capacity, of->at, &share));
    return of->work(m, &share);
}

/* The first one is behind us. */
static bool other_shares(Measuring *m, const Shares *of)
{
    MeasureShare share = {0, 0, 0};
    TRY(measuring_find_sizes(m, of->of));
    TRY(measuring_take_share(m, of->capacity, &share));
    TRY(measuring_take_share(m, of->capacity, &share));
    while (share.from < share.to) {
        TRY(of->work(m, &share));
        TRY(measuring_take_share(m, of->capacity, &share));
    }
    return true;
}

bool measuring_stages(Measuring *m)
{
    Shares list[STAGES_OF_SHARES];
    list_shares(m, list);
    m->unsure = !are_few(m);
    for (int i = 0; i < STAGES_OF_SHARES; i++) {
        TRY(!list[i].wanted || first_share(m, &list[i]));
    }
    return pixel_stages(m);
}

bool measuring_lacks_room(const Measuring *m)
{
    bool rows = measuring_has_rows(m) && m->wanted.rows > m->at.rows;
    return m->unsure && (rows || (m->lanes.filled >= 0 && m->wanted.words > m->at.words));
}

bool measuring_copy_wanted(const Measuring *m, DevMem *to, size_t offset)
{
    const PrimCall *call = m->call;
    return !m->unsure ||
           dev_copy(call->dev, m->numbers, offsetof(MeasureNumbers, wanted), to, offset, sizeof m->wanted, call->err);
}

bool measuring_other_shares(Measuring *m)
{
    Shares list[STAGES_OF_SHARES];
    list_shares(m, list);
    for (int i = 0; i < STAGES_OF_SHARES; i++) {
        TRY(!list[i].wanted || other_shares(m, &list[i]));
    }
    m->unsure = false;
    return true;
}

bool measuring_settle(Measuring *m, bool *some)
{
    const PrimCall *call = m->call;
    TRY(!m->unsure ||
        dev_read(call->dev, m->numbers, offsetof(MeasureNumbers, wanted), &m->wanted, sizeof m->wanted, call->err));
    *some = measuring_lacks_room(m);
    m->unsure = *some;
    return !*some || measuring_other_shares(m);
}
