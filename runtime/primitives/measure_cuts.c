/*
 * measure_cuts: from each part the rows, bits and digits of the objects that it cuts.
 *
 * Rows (their ends, power sums, weighted sums) and bits wait on the host until the object is there as
 * a whole; its rows then go through the same kernels as those of a whole image, in the same order,
 * and its holes are filled on the host.  Middle values are found by their digits, without keeping
 * values.  So memory is that of the boxes of the objects that are cut at a time, and of a histogram
 * for each one with a median.
 */
#include "measure_cuts.h"

#include "measure_holes.h"
#include "measure_rows.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 256, FILL_GROUP = 128, DIGITS = 256 };

extern const char kernel_text_measure_fill[], kernel_text_measure_values[];

/* As in kernels/measure_values.cl. */
typedef struct Digits {
    uint32_t prefix, next, largest, unused;
    uint32_t histogram[DIGITS];
} Digits;

/* The two middle keys of an object's values, as far as they are known. */
typedef struct Middle {
    uint64_t histogram[DIGITS], rest;
    uint32_t prefix, next, largest;
    uint64_t keys;
} Middle;

typedef struct Cut {
    size_t rows, words;
    uint64_t *sums;  /* [powers, then weights of each image][rows] */
    int32_t *ends;   /* [2][rows] */
    uint32_t *open;  /* [words], see measure_holes.h */
    uint64_t filled;
    Middle middle[]; /* of each image */
} Cut;

struct MeasureCuts {
    Cut **of;          /* [n]; NULL: not cut, or not seen yet */
    uint8_t *standing; /* [n] */
    uint32_t n;
    bool any;
    int pass;                          /* which the following are about */
    uint32_t *by_begin, n_begin, next; /* objects by their first row (plane); those that begin behind the
                                          part */
    uint32_t *here, n_here;            /* objects that the part has something of */
};

static void free_rows(Cut *cut)
{
    free(cut->sums);
    free(cut->ends);
    free(cut->open);
    cut->sums = NULL;
    cut->ends = NULL;
    cut->open = NULL;
}

void measure_cuts_free(Measuring *m)
{
    struct MeasureCuts *cuts = m->cuts;
    for (uint32_t k = 0; cuts != NULL && cuts->of != NULL && k < cuts->n; k++) {
        if (cuts->of[k] != NULL) {
            free_rows(cuts->of[k]);
            free(cuts->of[k]);
        }
    }
    if (cuts != NULL) {
        free(cuts->of);
        free(cuts->standing);
        free(cuts->by_begin);
        free(cuts->here);
        free(cuts);
    }
    m->cuts = NULL;
    m->standing = NULL;
}

/* The first and last row of object k, or plane, whichever parts are cut along. */
static void range_of(const Measuring *m, uint32_t k, int32_t *first, int32_t *last)
{
    int32_t lo[3], hi[3], from, to;
    int axis = measuring_cut_axis(m, &from, &to);
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    *first = lo[axis];
    *last = hi[axis];
}

/* Counts those that begin in each row, then puts them there. */
static bool sort_by_begin(Measuring *m)
{
    struct MeasureCuts *cuts = m->cuts;
    int32_t first, last;
    int axis = measuring_cut_axis(m, &first, &last);
    size_t rows = (size_t)(axis == 2 ? m->call->part.d : m->call->part.h);
    uint32_t *at = calloc(rows + 1, sizeof *at);
    if (at == NULL) {
        return measuring_no_memory(m);
    }
    for (uint32_t k = 0; k < m->n; k++) {
        range_of(m, k, &first, &last);
        if (m->counts[k] > 0) {
            at[first + 1]++;
        }
    }
    for (size_t row = 0; row < rows; row++) {
        at[row + 1] += at[row];
    }
    cuts->n_begin = at[rows];
    for (uint32_t k = 0; k < m->n; k++) {
        range_of(m, k, &first, &last);
        if (m->counts[k] > 0) {
            cuts->by_begin[at[first]++] = k;
        }
    }
    free(at);
    return true;
}

bool measure_cuts_begin(Measuring *m)
{
    measure_cuts_free(m);
    struct MeasureCuts *cuts = m->cuts = calloc(1, sizeof *cuts);
    if (cuts == NULL) {
        return measuring_no_memory(m);
    }
    cuts->n = m->n;
    cuts->of = calloc(m->n, sizeof(Cut *));
    cuts->standing = calloc(m->n, 1);
    cuts->by_begin = calloc(m->n, sizeof *cuts->by_begin);
    cuts->here = calloc(m->n, sizeof *cuts->here);
    m->standing = cuts->standing;
    bool ok = cuts->of != NULL && cuts->standing != NULL && cuts->by_begin != NULL && cuts->here != NULL;
    return ok ? sort_by_begin(m) : measuring_no_memory(m);
}

/* ---- which objects ------------------------------------------------------------------------- */

static uint8_t standing_of(const Measuring *m, uint32_t k, int32_t from, int32_t to)
{
    int32_t first, last;
    range_of(m, k, &first, &last);
    if (first >= from && last <= to) {
        return STANDING_INSIDE;
    }
    return last <= to ? STANDING_CUT | STANDING_LAST : STANDING_CUT;
}

/* Those that went on behind the part before, or begin in this one.  Parts come in order, in each pass. */
static void stand(Measuring *m)
{
    struct MeasureCuts *cuts = m->cuts;
    int32_t from, to, first, last;
    uint32_t n = 0;
    measuring_cut_axis(m, &from, &to);
    bool goes_on = cuts->pass == m->call->part.pass;
    for (uint32_t i = 0; i < cuts->n_here; i++) {
        range_of(m, cuts->here[i], &first, &last);
        cuts->standing[cuts->here[i]] = 0;
        cuts->here[n] = cuts->here[i];
        n += goes_on && last >= from;
    }
    cuts->pass = m->call->part.pass;
    for (cuts->next = goes_on ? cuts->next : 0; cuts->next < cuts->n_begin; cuts->next++) {
        range_of(m, cuts->by_begin[cuts->next], &first, &last);
        if (first > to) {
            break;
        }
        cuts->here[n++] = cuts->by_begin[cuts->next];
    }
    cuts->n_here = n;
    m->span_from = m->n;
    m->span_to = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = cuts->here[i];
        cuts->standing[k] = standing_of(m, k, from, to);
        m->span_from = k < m->span_from ? k : m->span_from;
        m->span_to = k >= m->span_to ? k + 1 : m->span_to;
    }
}

static int components_of(const Measuring *m)
{
    int n = m->lanes.powers;
    for (int i = 0; i < m->list.images; i++) {
        n += m->lanes.image[i].weighted >= 0 ? MEASURE_WEIGHTS : 0;
    }
    return n;
}

static bool has_rows(const Measuring *m)
{
    return m->lanes.convex >= 0 || m->lanes.moments >= 0 || m->at.weights;
}

static bool open_cut(Measuring *m, uint32_t k)
{
    size_t images = (size_t)m->list.images;
    Cut *cut = m->cuts->of[k] = calloc(1, sizeof *cut + images * sizeof cut->middle[0]);
    if (cut == NULL) {
        return measuring_no_memory(m);
    }
    for (size_t i = 0; i < images; i++) {
        cut->middle[i].rest = (m->counts[k] - 1) / 2;
        cut->middle[i].next = UINT32_MAX;
    }
    int32_t lo[3], hi[3];
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    cut->rows = (size_t)(hi[1] - lo[1] + 1) * (size_t)(hi[2] - lo[2] + 1);
    cut->words = cut->rows * (size_t)((hi[0] - lo[0] + 32) / 32);
    m->cuts->any = true;
    if (has_rows(m)) {
        cut->sums = malloc((size_t)components_of(m) * cut->rows * sizeof *cut->sums + 1);
        cut->ends = malloc(2 * cut->rows * sizeof *cut->ends);
    }
    if (m->lanes.filled >= 0) {
        cut->open = malloc(cut->words * sizeof *cut->open);
    }
    bool ok = (!has_rows(m) || (cut->sums != NULL && cut->ends != NULL)) &&
              (m->lanes.filled < 0 || cut->open != NULL);
    return ok || measuring_no_memory(m);
}

static bool open_cuts(Measuring *m)
{
    for (uint32_t i = 0; i < m->cuts->n_here; i++) {
        uint32_t k = m->cuts->here[i];
        if ((m->cuts->standing[k] & STANDING_CUT) && m->cuts->of[k] == NULL) {
            TRY(open_cut(m, k));
        }
    }
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* What happens to rows: those in the part are taken from it, or whole objects are finished; of hulls that
 * are to be painted, those in the part are. */
typedef enum Doing { TAKE, FINISH, PAINT } Doing;

/* Rows of one component, of a share's objects, on their way between device and host. */
typedef struct Ferry {
    Measuring *m;
    const MeasureRows *rows;
    const MeasureShare *share;
    char *hold; /* share->size elements */
    bool up;    /* to the device */
} Ferry;

/* Rows of an object's box that are in the part: of each of its planes as many, one after the other. */
typedef struct Slab {
    size_t planes, rows; /* of each plane */
    size_t first, tall;  /* number of the first one in the box, and rows from one plane to the next */
} Slab;

static Slab slab_of(const Measuring *m, uint32_t k)
{
    int32_t lo[3], hi[3], from[3], to[3];
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    measuring_clipped_box(m, k, from, to);
    Slab slab = {.planes = (size_t)(to[2] - from[2] + 1),
                 .rows = (size_t)(to[1] - from[1] + 1),
                 .tall = (size_t)(hi[1] - lo[1] + 1)};
    slab.first = (size_t)(from[2] - lo[2]) * slab.tall + (size_t)(from[1] - lo[1]);
    return slab;
}

/* Between component `at` of a share in memory and place `to` of each object's elements. */
static bool ferry(const Ferry *f, DevMem *memory, size_t at, size_t size, bool ends, size_t to)
{
    const Measuring *m = f->m;
    size_t offset = at * m->at.rows * size, bytes = (size_t)f->share->size * size;
    TRY(f->up || dev_read(m->call->dev, memory, offset, f->hold, bytes, m->call->err));
    for (uint32_t k = f->share->from; k < f->share->to; k++) {
        const Cut *cut = m->cuts->of[k];
        Slab slab = measuring_rows_of(m, k) > 0 ? slab_of(m, k) : (Slab){0};
        for (size_t z = 0; z < slab.planes; z++) {
            char *base = ends ? (char *)cut->ends : (char *)cut->sums;
            char *here = base + (to * cut->rows + slab.first + z * slab.tall) * size;
            char *there = f->hold + (f->rows->wide[k] + z * slab.rows) * size;
            memcpy(f->up ? there : here, f->up ? here : there, slab.rows * size);
        }
    }
    return !f->up || dev_write(m->call->dev, memory, offset, f->hold, bytes, m->call->err);
}

static bool ferry_ends(const Ferry *f)
{
    return ferry(f, f->rows->ends, 0, sizeof(int32_t), true, 0) &&
           ferry(f, f->rows->ends, 1, sizeof(int32_t), true, 1);
}

static bool ferry_rows(const Ferry *f)
{
    TRY(ferry_ends(f));
    for (size_t p = 0; p < (size_t)f->m->lanes.powers; p++) {
        TRY(ferry(f, f->rows->powers, p, sizeof(uint64_t), false, p));
    }
    return true;
}

/* The weighted sums of each image in turn: made and taken, or given and used. */
static bool ferry_weights(const Ferry *f)
{
    Measuring *m = f->m;
    size_t next = (size_t)m->lanes.powers;
    for (int i = 0; i < m->list.images; i++) {
        if (m->lanes.image[i].weighted < 0) {
            continue;
        }
        TRY(f->up || measure_rows_weigh(m, f->rows, f->share, i));
        for (size_t p = 0; p < MEASURE_WEIGHTS; p++) {
            TRY(ferry(f, f->rows->weights, p, sizeof(double), false, next++));
        }
        TRY(!f->up || measure_rows_finish_weighted(m, f->rows, f->share, i));
    }
    return true;
}

/* Takes the rows of a share that lie in the part. */
static bool take_rows(Ferry *f, MeasureRows *rows)
{
    TRY(measure_rows_find(f->m, rows, f->share));
    return ferry_rows(f) && ferry_weights(f);
}

/* Hulls that are to be painted come back instead of their objects' rows. */
static bool finish_rows(Ferry *f, MeasureRows *rows)
{
    f->up = true;
    TRY(ferry_rows(f));
    TRY(measure_rows_finish(f->m, rows, f->share));
    TRY(ferry_weights(f));
    f->up = false;
    return f->m->result != MEASURE_MASK || ferry_ends(f);
}

static bool paint_rows(Ferry *f, MeasureRows *rows)
{
    f->up = true;
    TRY(ferry_ends(f));
    return measure_rows_paint(f->m, rows, f->share);
}

static bool move_share(Measuring *m, MeasureRows *rows, const MeasureShare *share, Doing doing)
{
    static bool (*const DO[])(Ferry *, MeasureRows *) = {take_rows, finish_rows, paint_rows};
    Ferry f = {m, rows, share, malloc((size_t)share->size * sizeof(uint64_t) + 1), false};
    bool ok = f.hold != NULL || measuring_no_memory(m);
    ok = ok && measure_rows_place(m, rows, share) && DO[doing](&f, rows);
    free(f.hold);
    return ok;
}

static bool move_rows(Measuring *m, Doing doing)
{
    MeasureRows rows = {0};
    MeasureShare share = {0, 0, 0};
    bool ok = measure_rows_open(m, &rows);
    m->wanted = doing == FINISH ? STANDING_LAST : STANDING_CUT;
    while (ok && measuring_next_share(m, measuring_rows_of, m->at.rows, &share, rows.wide)) {
        ok = move_share(m, &rows, &share, doing);
    }
    measure_rows_close(m, &rows);
    return ok;
}

/* ---- holes --------------------------------------------------------------------------------- */

static bool take_open(Measuring *m, DevProgram *program, const MeasureShare *share,
                      const uint64_t *place, uint32_t *hold)
{
    PrimCall *call = m->call;
    TRY(measuring_write_places(m, place));
    const DevArg args[] = {dev_int(call->h),      dev_int(call->d),      dev_int(call->part.y),
                           dev_int(call->part.z), dev_uint(m->first),    dev_uint(m->n),
                           dev_uint(share->from), dev_mem(m->lows),      dev_mem(m->place),
                           dev_mem(m->work)};
    TRY(measuring_launch(m, &(MeasuringLaunch){.program = program,
                                               .kernel = "measure_open",
                                               .reads = true,
                                               .groups = {share->to - share->from, 1, 1},
                                               .group = FILL_GROUP,
                                               .args = args,
                                               .n_args = 10}));
    TRY(dev_read(call->dev, m->work, 0, hold, (size_t)share->size * sizeof *hold, call->err));
    for (uint32_t k = share->from; k < share->to; k++) {
        const Cut *cut = m->cuts->of[k];
        Slab slab = measuring_words_of(m, k) > 0 ? slab_of(m, k) : (Slab){0};
        for (size_t z = 0; z < slab.planes; z++) {
            size_t words = cut->words / cut->rows, row = slab.first + z * slab.tall;
            memcpy(cut->open + row * words, hold + place[k] + z * slab.rows * words,
                   slab.rows * words * sizeof *hold);
        }
    }
    return true;
}

static bool take_holes(Measuring *m)
{
    DevProgram *program = NULL;
    MeasureShare share = {0, 0, 0};
    uint64_t *place = calloc(m->n, sizeof *place);
    uint32_t *hold = malloc((size_t)m->at.words * sizeof *hold);
    bool ok = (place != NULL && hold != NULL) || measuring_no_memory(m);
    ok = ok && measuring_program(m, kernel_text_measure_fill, true, 0, &program);
    m->wanted = STANDING_CUT;
    while (ok && measuring_next_share(m, measuring_words_of, m->at.words, &share, place)) {
        ok = take_open(m, program, &share, place, hold);
    }
    free(place);
    free(hold);
    return ok;
}

static bool fill_cut(Measuring *m, uint32_t k)
{
    Cut *cut = m->cuts->of[k];
    int32_t lo[3], hi[3];
    measuring_box(m->boxes, m->n, m->frame.dims, k, lo, hi);
    MeasureBits bits = {.open = cut->open,
                        .reached = malloc(cut->words * sizeof *bits.reached),
                        .wide = (size_t)(hi[0] - lo[0] + 1),
                        .tall = (size_t)(hi[1] - lo[1] + 1),
                        .deep = (size_t)(hi[2] - lo[2] + 1),
                        .words = cut->words / cut->rows};
    if (bits.reached == NULL) {
        return measuring_no_memory(m);
    }
    cut->filled = measure_filled(&bits);
    free(bits.reached);
    return true;
}

/* ---- stages -------------------------------------------------------------------------------- */

/* What is left to do of objects that are there as a whole now.  Their hulls may have to be painted. */
static bool finish_last(Measuring *m)
{
    const struct MeasureCuts *cuts = m->cuts;
    TRY(!has_rows(m) || move_rows(m, FINISH));
    for (uint32_t i = 0; i < cuts->n_here && m->result != MEASURE_MASK; i++) {
        uint32_t k = cuts->here[i];
        if (cuts->standing[k] & STANDING_LAST) {
            TRY(m->lanes.filled < 0 || fill_cut(m, k));
            free_rows(m->cuts->of[k]);
        }
    }
    return true;
}

bool measure_cuts_stages(Measuring *m)
{
    stand(m);
    TRY(open_cuts(m));
    m->wanted = STANDING_INSIDE;
    TRY(m->result == MEASURE_MASK || measuring_stages(m));
    TRY(!has_rows(m) || move_rows(m, TAKE));
    TRY(m->lanes.filled < 0 || take_holes(m));
    return finish_last(m);
}

bool measure_cuts_paint(Measuring *m)
{
    stand(m);
    m->wanted = STANDING_INSIDE;
    return measuring_stages(m) && move_rows(m, PAINT);
}

/* ---- medians ------------------------------------------------------------------------------- */

static bool has_median(const Measuring *m)
{
    bool median = false;
    for (int i = 0; i < m->list.images; i++) {
        median = median || m->lanes.image[i].median >= 0;
    }
    return median;
}

bool measure_cuts_have_medians(const Measuring *m)
{
    return m->cuts != NULL && m->cuts->any && has_median(m);
}

static uint64_t one(const Measuring *m, uint32_t k)
{
    return measuring_count_of(m, k) > 0 ? 1 : 0;
}

static void add_digits(Middle *to, const Digits *from)
{
    for (int i = 0; i < DIGITS; i++) {
        to->histogram[i] += from->histogram[i];
    }
    to->next = from->next < to->next ? from->next : to->next;
    to->largest = from->largest > to->largest ? from->largest : to->largest;
}

/* The digits of a share's objects in the part. */
static bool count_share(Measuring *m, const MeasureShare *share, const uint64_t *place, int image,
                        int shift, Digits *digits)
{
    PrimCall *call = m->call;
    DevProgram *program = NULL;
    size_t bytes = (size_t)share->size * sizeof *digits;
    memset(digits, 0, bytes);
    for (uint32_t k = share->from; k < share->to; k++) {
        if (place[k] < MEASURE_NOWHERE) {
            digits[place[k]].prefix = m->cuts->of[k]->middle[image].prefix;
            digits[place[k]].next = UINT32_MAX;
        }
    }
    TRY(dev_write(call->dev, m->work, 0, digits, bytes, call->err));
    TRY(measuring_write_places(m, place));
    TRY(measuring_program(m, kernel_text_measure_values, true, image + 1, &program));
    const DevArg args[] = {dev_int(call->w),   dev_int(call->h),   dev_int(m->strip),
                           dev_int(shift),     dev_uint(m->first), dev_uint(m->n),
                           dev_mem(m->place),  dev_mem(m->work)};
    TRY(measuring_launch(m, &(MeasuringLaunch){.program = program,
                                               .kernel = "measure_digits",
                                               .reads = true,
                                               .group = GROUP,
                                               .args = args,
                                               .n_args = 8}));
    TRY(dev_read(call->dev, m->work, 0, digits, bytes, call->err));
    for (uint32_t k = share->from; k < share->to; k++) {
        if (place[k] < MEASURE_NOWHERE) {
            add_digits(&m->cuts->of[k]->middle[image], &digits[place[k]]);
        }
    }
    return true;
}

static bool count_image(Measuring *m, int image, int shift, uint64_t *place, Digits *digits,
                        size_t capacity)
{
    MeasureShare share = {0, 0, 0};
    for (;;) {
        for (uint32_t k = m->span_from; k < m->span_to; k++) {
            place[k] = MEASURE_NOWHERE;
        }
        if (!measuring_next_share(m, one, capacity, &share, place)) {
            return true;
        }
        TRY(count_share(m, &share, place, image, shift, digits));
    }
}

bool measure_cuts_count(Measuring *m, int round)
{
    if (!measure_cuts_have_medians(m)) {
        return true;
    }
    stand(m);
    m->wanted = STANDING_CUT;
    size_t capacity = dev_bytes(m->work) / sizeof(Digits);
    capacity = capacity < m->n ? capacity : m->n;
    uint64_t *place = malloc(m->n * sizeof *place);
    Digits *digits = malloc(capacity * sizeof *digits);
    bool ok = (place != NULL && digits != NULL) || measuring_no_memory(m);
    for (int i = 0; ok && i < m->list.images; i++) {
        ok = m->lanes.image[i].median < 0 ||
             count_image(m, i, 24 - 8 * round, place, digits, capacity);
    }
    free(place);
    free(digits);
    return ok;
}

/* The digit of the lower middle key; with the last one, both keys as kernels/measure_median.cl. */
static void choose(Middle *middle, uint64_t count, bool last)
{
    uint32_t digit = 0;
    while (digit < DIGITS - 1 && middle->rest >= middle->histogram[digit]) {
        middle->rest -= middle->histogram[digit++];
    }
    uint32_t next = middle->next;
    for (uint32_t d = DIGITS - 1; d > digit; d--) {
        next = middle->histogram[d] > 0 ? middle->prefix << 8 | d : next;
    }
    uint64_t not_above = (count - 1) / 2 - middle->rest + middle->histogram[digit];
    middle->prefix = middle->prefix << 8 | digit;
    if (last) {
        uint32_t upper = not_above > count / 2 ? middle->prefix : next;
        bool nan = middle->largest == UINT32_MAX;
        middle->keys = nan ? UINT64_MAX : (uint64_t)middle->prefix << 32 | upper;
    }
    memset(middle->histogram, 0, sizeof middle->histogram);
    middle->next = UINT32_MAX;
}

void measure_cuts_choose(Measuring *m, int round)
{
    for (uint32_t k = 0; m->cuts != NULL && k < m->n; k++) {
        for (int i = 0; m->cuts->of[k] != NULL && i < m->list.images; i++) {
            if (m->lanes.image[i].median >= 0) {
                choose(&m->cuts->of[k]->middle[i], m->counts[k],
                       round == MEASURE_MEDIAN_ROUNDS - 1);
            }
        }
    }
}

/* ---- results ------------------------------------------------------------------------------- */

/* image -1: filled pixels. */
static bool write_lane(Measuring *m, int lane, int image)
{
    PrimCall *call = m->call;
    size_t bytes = m->n * sizeof(uint64_t), at = (size_t)lane * bytes;
    uint64_t *values = malloc(bytes);
    if (values == NULL) {
        return measuring_no_memory(m);
    }
    bool ok = dev_read(call->dev, m->table, at, values, bytes, call->err);
    for (uint32_t k = 0; k < m->n; k++) {
        const Cut *cut = m->cuts->of[k];
        if (cut != NULL) {
            values[k] = image < 0 ? cut->filled : cut->middle[image].keys;
        }
    }
    ok = ok && dev_write(call->dev, m->table, at, values, bytes, call->err);
    free(values);
    return ok;
}

bool measure_cuts_write(Measuring *m)
{
    TRY(m->lanes.filled < 0 || write_lane(m, m->lanes.filled, -1));
    for (int i = 0; i < m->list.images; i++) {
        int lane = m->lanes.image[i].median;
        TRY(lane < 0 || write_lane(m, lane, i));
    }
    return true;
}
