/*
 * watershed_queue: floods a volume from markers, pixel for pixel as skimage.segmentation.watershed.
 *
 * Each pixel's turn depends on all before it: pixels leave a queue by level, the highest value on
 * their way, then by age, and even markers of equal value, which all have age 0, leave it in the
 * order that scikit-image's binary heap happens to give.  So the heap here does, step for step,
 * what that one does (push appends and rises, pop puts the last one first and sinks); only its
 * items are smaller: level and age in one 64-bit key, the place, and the label.  In raster order
 * each marker has an age of its own, before those of all that is pushed.
 *
 * Neighbours are taken nearest first, equally near ones in raster order, as scikit-image does since
 * it sorts them stably.  NaN floods last.  The volume is padded by closed cells, so that neighbours
 * need no tests.  It takes 8 bytes a pixel and 16 an item of the queue.
 *
 * What takes time is waiting for memory, for turns jump about in the image and in the heap: a pixel
 * is one word, and what is needed soon is asked for early.
 */
#include "watershed_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLOSED = 0,     /* no value has this rank */
    TURNS = 1 << 20 /* between two questions whether to go on */
};

/* ---- queue ----------------------------------------------------------------------------- */

static bool push(WatershedQueue *q, WatershedDrop drop)
{
    if (q->n == q->cap) {
        size_t cap = 2 * q->cap + 4096;
        WatershedDrop *heap = realloc(q->heap, cap * sizeof *heap);
        if (heap == NULL) {
            return host_no_memory(q->call);
        }
        q->heap = heap;
        q->cap = cap;
    }
    size_t at = q->n++;
    while (at > 0 && drop.key < q->heap[(at - 1) / 2].key) {
        q->heap[at] = q->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    q->heap[at] = drop;
    return true;
}

static WatershedDrop pop(WatershedQueue *q)
{
    WatershedDrop first = q->heap[0], last = q->heap[--q->n];
    size_t at = 0;
    for (size_t child = 1; child < q->n; child = 2 * at + 1) {
        __builtin_prefetch(&q->heap[8 * at + 7]); /* three levels below lie side by side */
        __builtin_prefetch(&q->heap[8 * at + 11]);
        child += child + 1 < q->n && q->heap[child + 1].key < q->heap[child].key;
        if (q->heap[child].key >= last.key) {
            break;
        }
        q->heap[at] = q->heap[child];
        at = child;
    }
    q->heap[at] = last;
    return first;
}

/* ---- flood ----------------------------------------------------------------------------- */

/* Does a label come to a cell beside another one?  Then the cell is a part of the line: closed. */
static bool meets_line(WatershedQueue *q, uint32_t at, uint32_t label)
{
    bool meets = false;
    for (int i = 0; i < q->n_offsets && !meets; i++) {
        const WatershedCell *beside = &q->at[at + q->offsets[i]];
        meets = beside->rank != CLOSED && beside->label != 0 && beside->label != label;
    }
    q->at[at].rank = meets ? CLOSED : q->at[at].rank;
    return meets;
}

/* The level never falls: what lies lower than the pixel beside it gets that one's rank. */
static bool spread(WatershedQueue *q, WatershedDrop drop)
{
    uint32_t level = (uint32_t)(drop.key >> 32);
    for (int i = 0; i < q->n_offsets; i++) {
        int64_t to = drop.at + q->offsets[i];
        uint32_t rank = q->at[to].rank;
        if (rank != CLOSED && q->at[to].label == 0) {
            if (!q->line) {
                q->at[to].label = drop.label;
            }
            uint64_t key = (uint64_t)(rank > level ? rank : level) << 32 | ++q->age;
            TRY(push(q, (WatershedDrop){key, (uint32_t)to, drop.label}));
        }
    }
    return true;
}

static bool push_markers(WatershedQueue *q)
{
    q->age = q->marked = 0;
    for (size_t at = 0; at < q->cells; at++) {
        if (q->at[at].label != 0) {
            q->marked += q->raster;
            uint64_t key = (uint64_t)q->at[at].rank << 32 | q->marked;
            TRY(push(q, (WatershedDrop){key, (uint32_t)at, q->at[at].label}));
        }
    }
    q->age = q->marked;
    q->waiting = q->n;
    return true;
}

/* The cells around the one whose turn is probably next. */
static void look_ahead(const WatershedQueue *q)
{
    for (int row = -1; row <= 1 && q->n > 0; row++) {
        __builtin_prefetch(&q->at[q->heap[0].at + row * (int64_t)q->wide]);
    }
}

/* Does the drop's cell spread?  With lines cells get their labels here, those of the line none.  A
 * cell of the line spreads as often as it was reached, as scikit-image's do: that changes nothing
 * but the heap's order, so that it matters only while markers wait, and can take forever: then it
 * ends. */
static bool spreads(WatershedQueue *q, WatershedDrop drop, bool marker)
{
    WatershedCell *cell = &q->at[drop.at];
    if (!q->line) {
        return true;
    }
    if (cell->rank == CLOSED) {
        return q->waiting > 0 && q->age <= q->patience;
    }
    if (cell->label != 0 && !marker) {
        return false;
    }
    if (!meets_line(q, drop.at, drop.label)) {
        cell->label = drop.label;
    }
    return true;
}

/* Floods until the queue's first item has a later key than `last`. */
static bool flood_until(WatershedQueue *q, uint64_t last)
{
    for (uint64_t turn = 1; q->n > 0 && q->heap[0].key <= last; turn++) {
        WatershedDrop drop = pop(q);
        bool marker = (uint32_t)drop.key <= q->marked;
        look_ahead(q);
        q->waiting -= marker;
        if (q->turns != NULL && marker) {
            q->turns[q->n_turns++] = drop.at;
        }
        TRY(!spreads(q, drop, marker) || spread(q, drop));
        TRY(turn % TURNS != 0 || !host_stopped(q->call));
    }
    return true;
}

bool watershed_queue_flood(WatershedQueue *q)
{
    return push_markers(q) && flood_until(q, UINT64_MAX);
}

bool watershed_queue_turns(WatershedQueue *q, uint32_t highest)
{
    q->n = q->n_turns = 0;
    TRY(push_markers(q));
    free(q->turns);
    q->turns = malloc((q->n + 1) * sizeof *q->turns);
    return (q->turns != NULL || host_no_memory(q->call)) && flood_until(q, (uint64_t)highest << 32 | q->marked);
}

/* ---- volumes --------------------------------------------------------------------------- */

static void list_offsets(WatershedQueue *q, int connectivity, bool space)
{
    for (int far = 1; far <= connectivity; far++) {
        for (int k = 0; k < 27; k++) {
            int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
            if (x * x + y * y + z * z == far && (space || z == 0)) {
                q->offsets[q->n_offsets++] = ((int64_t)z * (int64_t)q->tall + y) * (int64_t)q->wide + x;
            }
        }
    }
}

/* Pushes up to which lines spread again, as in reference/ref_shape.c. */
static double patience(double volume)
{
    return volume < 1 << 14 ? 1 << 18 : 16 * volume;
}

/* Places and ages are counted in 32 bits. */
static bool check_size(WatershedQueue *q, const PrimPart *part)
{
    double pushes = (double)q->cells * (q->line ? q->n_offsets + 1 : 1);
    if (pushes >= UINT32_MAX) {
        return err_set(q->call->err, CODE_MEMORY,
                       "%s: %d x %d x %d pixels are more than it can count; cut the image into "
                       "smaller ones",
                       q->call->name, q->call->w, part->h, part->d);
    }
    q->patience = (uint32_t)fmin(patience((double)q->call->w * part->h * part->d), UINT32_MAX - pushes);
    return true;
}

bool watershed_queue_open(WatershedQueue *q, const PrimCall *call)
{
    const PrimPart part = prim_part(call);
    *q = (WatershedQueue){.call = call, .line = call->watershed.line != 0, .raster = call->watershed.raster != 0};
    q->wide = (size_t)call->w + 2;
    q->tall = (size_t)part.h + 2;
    q->deep = part.d > 1 ? (size_t)part.d + 2 : 1;
    q->cells = q->wide * q->tall * q->deep;
    list_offsets(q, (int)call->watershed.connectivity, part.d > 1);
    return check_size(q, &part);
}

void watershed_queue_close(WatershedQueue *q)
{
    free(q->heap);
    free(q->turns);
    q->heap = NULL;
    q->turns = NULL;
}

WatershedCell *watershed_queue_cells(const WatershedQueue *q)
{
    return calloc(q->cells, sizeof *q->at); /* closed: the frame stays so */
}

WatershedCell *watershed_queue_row(const WatershedQueue *q, size_t y, size_t z)
{
    return q->at + ((z + (q->deep > 1)) * q->tall + y + 1) * q->wide + 1;
}

/* Numbers in the order of values, from 0x7fffff (-inf) on; -0 and 0 are the same, NaN comes last.
 */
static uint32_t rank_of(float v)
{
    uint32_t bits;
    v += 0.0F;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? UINT32_MAX : bits >> 31 ? ~bits : bits | 0x80000000U;
}

bool watershed_queue_load(WatershedQueue *q, HostPlane *plane, size_t z, size_t top, size_t to)
{
    const PrimCall *call = q->call;
    size_t w = (size_t)call->w, h = (size_t)call->h;
    bool masked = call->watershed.mask.mem != NULL;
    TRY(host_fetch(plane, &call->watershed.image, z, ELEM_F32));
    for (size_t y = 0; y < h; y++) {
        const float *from = (const float *)plane->pixels + y * w;
        WatershedCell *row = watershed_queue_row(q, top + y, to);
        for (size_t x = 0; x < w; x++) {
            row[x].rank = rank_of(from[x]);
        }
    }
    TRY(host_fetch(plane, &call->watershed.markers, z, ELEM_U32));
    for (size_t y = 0; y < h; y++) {
        const uint32_t *from = (const uint32_t *)plane->pixels + y * w;
        WatershedCell *row = watershed_queue_row(q, top + y, to);
        for (size_t x = 0; x < w; x++) {
            row[x].label = from[x];
        }
    }
    TRY(!masked || host_fetch(plane, &call->watershed.mask, z, ELEM_BOOL));
    for (size_t y = 0; y < h && masked; y++) {
        const uint8_t *from = (const uint8_t *)plane->pixels + y * w;
        WatershedCell *row = watershed_queue_row(q, top + y, to);
        for (size_t x = 0; x < w; x++) {
            row[x] = from[x] != 0 ? row[x] : (WatershedCell){CLOSED, 0};
        }
    }
    return true;
}
