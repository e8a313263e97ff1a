/*
 * measure_stages: what needs an object's box first: its rows, and from them its hull and moments;
 * its values side by side, and of these the middle ones; its holes.
 *
 * Each stage gives every object a place in the work area.  The host adds up the sizes and takes as
 * many objects at a time as fit; hulls in 3-D are found by the host itself (base/hull.h).
 */
#include "measuring.h"

#include "../base/hull.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 256, LANES = 32, FERET_GROUP = 64, FILL_GROUP = 128, SELECT_GROUP = 256 };

extern const char kernel_text_measure_rows[], kernel_text_measure_hull[];
extern const char kernel_text_measure_median[], kernel_text_measure_fill[];

/* Objects from .. to of the chunk have their places; `size` is what they take together. */
typedef struct Share {
    uint32_t from, to;
    uint64_t size;
} Share;

static uint64_t count_of(const Measuring *m, uint32_t k)
{
    return m->counts[k];
}

/* Rows of an object's box, in all its planes. */
static uint64_t rows_of(const Measuring *m, uint32_t k)
{
    int32_t lo[3], hi[3];
    if (count_of(m, k) == 0) {
        return 0;
    }
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    return (uint64_t)(hi[1] - lo[1] + 1) * (uint64_t)(hi[2] - lo[2] + 1);
}

static uint64_t words_of(const Measuring *m, uint32_t k)
{
    int32_t lo[3], hi[3];
    if (count_of(m, k) == 0) {
        return 0;
    }
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    return rows_of(m, k) * (uint64_t)((hi[0] - lo[0] + 32) / 32);
}

/* The next share of objects whose sizes fit into `capacity`; place[k] is where object k begins. */
static bool next_share(const Measuring *m, uint64_t (*size_of)(const Measuring *, uint32_t),
                       uint64_t capacity, Share *share, uint64_t *place)
{
    share->from = share->to;
    share->size = 0;
    while (share->to < m->n) {
        uint64_t size = size_of(m, share->to);
        if (share->size + size > capacity) {
            break;
        }
        place[share->to++] = share->size;
        share->size += size;
    }
    return share->to > share->from;
}

/* ---- rows ------------------------------------------------------------------------------ */

typedef struct Rows {
    DevMem *ends, *corners, *powers; /* slices of work */
    DevProgram *reads, *hull;
    uint32_t *place, *heights;       /* [n] */
    uint64_t *wide;                  /* [n] */
    int32_t *host_ends;              /* 3-D hulls */
    HullPoint *points;
    size_t n_points;
} Rows;

static bool no_memory(const Measuring *m)
{
    return err_set(m->call->err, CODE_MEMORY, "%s: no memory for the rows of %u objects",
                   m->call->name, m->n);
}

static bool host_hulls(const Measuring *m)
{
    return m->lanes.space && m->lanes.convex >= 0;
}

static bool begin_rows(Measuring *m, Rows *r)
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
    if (m->lanes.powers > 0) {
        TRY(dev_slice(call->dev, m->work, next, (size_t)m->lanes.powers * rows * sizeof(uint64_t),
                      &r->powers, call->err));
    }
    r->place = malloc(m->n * sizeof *r->place);
    r->heights = malloc(m->n * sizeof *r->heights);
    r->wide = malloc(m->n * sizeof *r->wide);
    if (r->place == NULL || r->heights == NULL || r->wide == NULL) {
        return no_memory(m);
    }
    if (host_hulls(m)) {
        r->host_ends = malloc(2 * rows * sizeof *r->host_ends);
        if (r->host_ends == NULL) {
            return no_memory(m);
        }
    }
    TRY(measuring_program(m, kernel_text_measure_rows, true, 0, &r->reads));
    return measuring_program(m, kernel_text_measure_hull, false, 0, &r->hull);
}

static void free_rows(const Measuring *m, Rows *r)
{
    dev_free(m->call->dev, r->ends);
    dev_free(m->call->dev, r->corners);
    dev_free(m->call->dev, r->powers);
    free(r->place);
    free(r->heights);
    free(r->wide);
    free(r->host_ends);
    free(r->points);
}

/* Where the rows begin and end, and their power sums. */
static bool find_rows(Measuring *m, Rows *r, const Share *share)
{
    PrimCall *call = m->call;
    size_t rows = m->at.rows;
    for (uint32_t k = 0; k < m->n; k++) {
        bool in = k >= share->from && k < share->to;
        r->place[k] = in ? (uint32_t)r->wide[k] : 0;
        r->heights[k] = in ? (uint32_t)rows_of(m, k) : 0;
    }
    TRY(dev_write(call->dev, m->place, 0, r->place, m->n * sizeof *r->place, call->err));
    TRY(dev_write(call->dev, m->heights, 0, r->heights, m->n * sizeof *r->heights, call->err));
    TRY(dev_fill(call->dev, r->ends, 0, rows * sizeof(int32_t), INT32_MAX, call->err));
    TRY(dev_fill(call->dev, r->ends, rows * sizeof(int32_t), rows * sizeof(int32_t), UINT32_MAX,
                 call->err));
    if (r->powers != NULL) {
        TRY(dev_fill(call->dev, r->powers, 0, (size_t)m->lanes.powers * rows * sizeof(uint64_t), 0,
                     call->err));
    }
    const DevArg args[] = {dev_int(call->w),     dev_int(call->h),      dev_int(call->d),
                           dev_int(m->strip),    dev_uint(m->first),    dev_uint(m->n),
                           dev_uint(share->from), dev_uint(share->to),  dev_uint(rows),
                           dev_mem(m->table),    dev_mem(m->lows),      dev_mem(m->place),
                           dev_mem(r->ends),
                           dev_mem(r->powers != NULL ? r->powers : m->table)};
    return measuring_launch(m, &(MeasuringLaunch){.program = r->reads,
                                                  .kernel = "measure_ends",
                                                  .reads = true,
                                                  .group = GROUP,
                                                  .args = args,
                                                  .n_args = 14});
}

static bool launch_moments(Measuring *m, const Rows *r, const Share *share)
{
    uint64_t mask = m->lanes.moments_mask;
    const MeasureLanes *at = &m->lanes;
    const DevArg args[] = {dev_uint(m->n),       dev_uint(share->from), dev_uint(at->moments),
                           dev_uint(m->at.rows), dev_uint(at->space),   dev_int(at->powers),
                           dev_ulong(mask),      dev_mem(m->table),     dev_mem(m->lows),
                           dev_mem(m->place),    dev_mem(m->heights),   dev_mem(r->powers)};
    return measuring_launch(
        m, &(MeasuringLaunch){
               .program = r->hull,
               .kernel = "measure_moments",
               .groups = {share->to - share->from, (size_t)measure_z_powers(mask), 1},
               .group = LANES,
               .args = args,
               .n_args = 12});
}

static bool launch_hull(Measuring *m, const Rows *r, const Share *share)
{
    size_t sides = 2 * (size_t)(share->to - share->from);
    const DevArg args[] = {dev_uint(m->n),       dev_uint(share->from),  dev_uint(share->to),
                           dev_uint(m->lanes.convex), dev_uint(m->at.rows), dev_mem(m->table),
                           dev_mem(m->place),    dev_mem(m->heights),    dev_mem(r->ends),
                           dev_mem(r->corners)};
    return measuring_launch(m, &(MeasuringLaunch){.program = r->hull,
                                                  .kernel = "measure_hull",
                                                  .groups = {(sides + LANES - 1) / LANES, 1, 1},
                                                  .group = LANES,
                                                  .args = args,
                                                  .n_args = 10});
}

static bool launch_feret(Measuring *m, const Rows *r, const Share *share)
{
    const double *s = m->frame.spacing;
    const DevArg args[] = {dev_uint(m->n),       dev_uint(share->from), dev_uint(m->lanes.feret),
                           dev_uint(m->at.rows), dev_double(s[0]),      dev_double(s[1]),
                           dev_mem(m->table),    dev_mem(m->place),     dev_mem(m->heights),
                           dev_mem(r->ends),     dev_mem(r->corners)};
    return measuring_launch(m, &(MeasuringLaunch){.program = r->hull,
                                                  .kernel = "measure_feret",
                                                  .groups = {share->to - share->from, 1, 1},
                                                  .group = FERET_GROUP,
                                                  .args = args,
                                                  .n_args = 11});
}

/* ---- hulls in 3-D ---------------------------------------------------------------------- */

static bool add_points(const Measuring *m, Rows *r, size_t *n, int32_t x, int y, int z)
{
    if (*n + 6 > r->n_points) {
        size_t more = 2 * r->n_points + 4096;
        HullPoint *points = realloc(r->points, more * sizeof *points);
        if (points == NULL) {
            return no_memory(m);
        }
        r->points = points;
        r->n_points = more;
    }
    for (int k = 0; k < 6; k++) {
        HullPoint p = {{2 * (int64_t)x, 2 * (int64_t)y, 2 * (int64_t)z}};
        p.at[k / 2] += k % 2 == 0 ? -1 : 1;
        r->points[(*n)++] = p;
    }
    return true;
}

/* Both ends of each row that has any. */
static bool points_of_rows(const Measuring *m, Rows *r, const int32_t *first, const int32_t *last,
                           int tall, int deep, size_t *n)
{
    *n = 0;
    for (int i = 0; i < tall * deep; i++) {
        if (last[i] >= first[i]) {
            TRY(add_points(m, r, n, first[i], i % tall, i / tall));
            TRY(first[i] == last[i] || add_points(m, r, n, last[i], i % tall, i / tall));
        }
    }
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* The pixels of row (y, z) inside all planes: first > last when there are none. */
static void cut_row(const HullPlane *planes, int n, int y, int z, int32_t *first, int32_t *last)
{
    int64_t lo = 0, hi = INT32_MAX;
    for (int i = 0; i < n; i++) {
        const int64_t *v = planes[i].normal;
        int64_t rest = planes[i].offset - 2 * (v[1] * y + v[2] * z);
        if (v[0] > 0) {
            int64_t most = floor_div(rest, 2 * v[0]);
            hi = most < hi ? most : hi;
        } else if (v[0] < 0) {
            int64_t least = -floor_div(rest, -2 * v[0]);
            lo = least > lo ? least : lo;
        } else if (rest < 0) {
            hi = -1;
        }
    }
    *first = (int32_t)(lo > INT32_MAX ? INT32_MAX : lo);
    *last = (int32_t)(hi < -1 ? -1 : hi);
}

/* The square of the largest distance between two of the points, in units of the spacing. */
static double widest(const Measuring *m, const HullPoint *p, size_t n)
{
    const double *s = m->frame.spacing;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double d = 0;
            for (int axis = 0; axis < 3; axis++) {
                double v = (double)(p[i].at[axis] - p[j].at[axis]) / 2 * s[axis];
                d += v * v;
            }
            most = d > most ? d : most;
        }
    }
    return most;
}

static bool hull_in_space(Measuring *m, Rows *r, uint32_t k)
{
    int32_t lo[3], hi[3];
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    int tall = hi[1] - lo[1] + 1, deep = hi[2] - lo[2] + 1, n_planes = 0;
    int32_t *first = r->host_ends + r->place[k], *last = first + m->at.rows;
    HullPlane *planes = NULL;
    size_t n = 0;
    TRY(points_of_rows(m, r, first, last, tall, deep, &n));
    if (!hull_planes(r->points, n, &planes, &n_planes)) {
        return no_memory(m);
    }
    m->hull[k] = 0;
    for (int i = 0; i < tall * deep; i++) {
        cut_row(planes, n_planes, i % tall, i / tall, &first[i], &last[i]);
        m->hull[k] += last[i] >= first[i] ? last[i] - first[i] + 1 : 0;
    }
    free(planes);
    if (m->lanes.feret >= 0) {
        TRY(points_of_rows(m, r, first, last, tall, deep, &n));
        m->feret[k] = widest(m, r->points, n);
    }
    return true;
}

static bool hulls_in_space(Measuring *m, Rows *r, const Share *share)
{
    size_t rows = m->at.rows * sizeof(int32_t);
    TRY(dev_read(m->call->dev, r->ends, 0, r->host_ends, 2 * rows, m->call->err));
    for (uint32_t k = share->from; k < share->to; k++) {
        if (count_of(m, k) > 0) {
            TRY(hull_in_space(m, r, k));
        }
    }
    return true;
}

static bool measure_rows(Measuring *m, Rows *r)
{
    TRY(begin_rows(m, r));
    Share share = {0, 0, 0};
    while (next_share(m, rows_of, m->at.rows, &share, r->wide)) {
        TRY(find_rows(m, r, &share));
        if (m->lanes.moments >= 0) {
            TRY(launch_moments(m, r, &share));
        }
        if (host_hulls(m)) {
            TRY(hulls_in_space(m, r, &share));
        } else if (m->lanes.convex >= 0) {
            TRY(launch_hull(m, r, &share));
            TRY(m->lanes.feret < 0 || launch_feret(m, r, &share));
        }
    }
    return true;
}

static bool rows_stage(Measuring *m)
{
    Rows rows = {0};
    bool ok = measure_rows(m, &rows);
    free_rows(m, &rows);
    return ok;
}

/* ---- medians, weighted moments, holes -------------------------------------------------- */

static bool write_places(Measuring *m, const uint64_t *place)
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
        *n += count_of(m, k) > MEASURE_LARGE;
    }
    MeasureLarge *list = calloc(*n + 1, sizeof *list), *to = list;
    for (uint32_t k = 0; k < m->n && list != NULL; k++) {
        uint64_t count = count_of(m, k);
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
        return no_memory(m);
    }
    size_t bytes = n * sizeof *list;
    bool ok = n == 0 || (dev_slice(call->dev, m->work, m->at.keys, bytes, &larges, call->err) &&
                         dev_write(call->dev, larges, 0, list, bytes, call->err) &&
                         select_large(m, program, lane, larges, n, segments));
    dev_free(call->dev, larges);
    free(list);
    return ok;
}

static bool median_of(Measuring *m, int image, const uint64_t *place)
{
    PrimCall *call = m->call;
    DevProgram *reads = NULL, *selects = NULL;
    int lane = m->lanes.image[image].median;
    TRY(measuring_program(m, kernel_text_measure_rows, true, image + 1, &reads));
    TRY(measuring_program(m, kernel_text_measure_median, false, 0, &selects));
    TRY(write_places(m, place));
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

static bool fill_holes(Measuring *m, uint64_t *place)
{
    DevProgram *reads = NULL;
    Share share = {0, 0, 0};
    memset(place, 0, m->n * sizeof *place);
    TRY(measuring_program(m, kernel_text_measure_fill, true, 0, &reads));
    while (next_share(m, words_of, m->at.words, &share, place)) {
        TRY(write_places(m, place));
        const DevArg args[] = {dev_uint(m->first),  dev_uint(m->n),
                               dev_uint(share.from), dev_uint(m->lanes.filled),
                               dev_ulong(m->at.words), dev_mem(m->table),
                               dev_mem(m->lows),    dev_mem(m->place),
                               dev_mem(m->work)};
        TRY(measuring_launch(m, &(MeasuringLaunch){.program = reads,
                                                   .kernel = "measure_fill",
                                                   .reads = true,
                                                   .groups = {share.to - share.from, 1, 1},
                                                   .group = FILL_GROUP,
                                                   .args = args,
                                                   .n_args = 9}));
    }
    return true;
}

static bool pixel_stages(Measuring *m, uint64_t *place)
{
    Share share = {0, 0, 0};
    (void)next_share(m, count_of, UINT64_MAX, &share, place);
    for (int k = 0; k < m->list.images; k++) {
        if (m->lanes.image[k].median >= 0) {
            TRY(median_of(m, k, place));
        }
        if (m->lanes.image[k].weighted >= 0) {
            TRY(weigh(m, k));
        }
    }
    return m->lanes.filled < 0 || fill_holes(m, place);
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
    if (m->lanes.convex >= 0 || m->lanes.moments >= 0) {
        TRY(rows_stage(m));
    }
    if (m->lanes.filled < 0 && !needs_pixels(m)) {
        return true;
    }
    uint64_t *place = malloc(m->n * sizeof *place);
    if (place == NULL) {
        return no_memory(m);
    }
    bool ok = pixel_stages(m, place);
    free(place);
    return ok;
}
