/*
 * prim_watershed: floods an image from markers, pixel for pixel as skimage.segmentation.watershed.
 *
 * GPUs flood all pixels at once where that gives the same (watershed_paths.c).  What is here is the
 * queue, on the host: image, markers and mask are downloaded, flooded one volume after the other and
 * the labels uploaded; the device waits.  Each pixel's turn depends on all before it: pixels leave a
 * queue by value, then by age, and even markers of equal value, which all have age 0, leave it in the
 * order that scikit-image's binary heap happens to give.  So the heap here does, step for step, what
 * that one does (push appends and rises, pop puts the last one first and sinks); only its items are
 * smaller: value and age in one 64-bit key, the place, and the label.  In raster order each marker
 * has an age of its own, before those of all that is pushed.
 *
 * Neighbours are taken nearest first, equally near ones in raster order, as scikit-image does since it
 * sorts them stably.  NaN floods last.  The volume is padded by closed pixels, so that neighbours need
 * no tests.  On the host it takes 8 bytes a pixel and 16 an item of the queue.
 *
 * What takes time is waiting for memory, for turns jump about in the image and in the heap: a pixel
 * is one word, and what is needed soon is asked for early.
 *
 * In parts the first pass collects the pixels on the host and floods each channel when it is there;
 * the second gives the labels back.
 */
#include "prim_host.h"
#include "watershed_paths.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Drop {
    uint64_t key; /* rank of the value, then age */
    uint32_t at, label;
} Drop;

typedef struct Cell {
    uint32_t rank;  /* of the value; CLOSED: not in the mask, or on a line */
    uint32_t label; /* 0: none yet */
} Cell;
enum { CLOSED = 0 }; /* no value has this rank */

typedef struct Flood {
    PrimCall *call;
    bool line, raster;
    size_t wide, tall, deep, cells; /* of the padded volume */
    int64_t offsets[26];
    int n_offsets;
    Cell *at;
    Drop *heap;
    size_t n, cap;
    uint32_t age, largest;
    uint32_t marked; /* markers have ages up to this one */
} Flood;

/* ---- queue ----------------------------------------------------------------------------- */

static bool push(Flood *f, Drop drop)
{
    if (f->n == f->cap) {
        size_t cap = 2 * f->cap + 4096;
        Drop *heap = realloc(f->heap, cap * sizeof *heap);
        if (heap == NULL) {
            return host_no_memory(f->call);
        }
        f->heap = heap;
        f->cap = cap;
    }
    size_t at = f->n++;
    while (at > 0 && drop.key < f->heap[(at - 1) / 2].key) {
        f->heap[at] = f->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    f->heap[at] = drop;
    return true;
}

static Drop pop(Flood *f)
{
    Drop first = f->heap[0], last = f->heap[--f->n];
    size_t at = 0;
    for (size_t child = 1; child < f->n; child = 2 * at + 1) {
        __builtin_prefetch(&f->heap[8 * at + 7]); /* three levels below lie side by side */
        __builtin_prefetch(&f->heap[8 * at + 11]);
        child += child + 1 < f->n && f->heap[child + 1].key < f->heap[child].key;
        if (f->heap[child].key >= last.key) {
            break;
        }
        f->heap[at] = f->heap[child];
        at = child;
    }
    f->heap[at] = last;
    return first;
}

/* ---- flood ----------------------------------------------------------------------------- */

static void list_offsets(Flood *f, int connectivity, bool space)
{
    for (int far = 1; far <= connectivity; far++) {
        for (int k = 0; k < 27; k++) {
            int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
            if (x * x + y * y + z * z == far && (space || z == 0)) {
                f->offsets[f->n_offsets++] =
                    ((int64_t)z * (int64_t)f->tall + y) * (int64_t)f->wide + x;
            }
        }
    }
}

/* A cell between two basins becomes a part of the line: it is closed. */
static bool meets_line(Flood *f, uint32_t at)
{
    uint32_t first = 0;
    for (int i = 0; i < f->n_offsets && f->at[at].rank != CLOSED; i++) {
        const Cell *q = &f->at[at + f->offsets[i]];
        if (q->rank != CLOSED && q->label != 0) {
            first = first == 0 ? q->label : first;
            f->at[at].rank = q->label == first ? f->at[at].rank : CLOSED;
        }
    }
    return f->at[at].rank == CLOSED;
}

static bool spread(Flood *f, Drop drop)
{
    for (int i = 0; i < f->n_offsets; i++) {
        int64_t q = drop.at + f->offsets[i];
        if (f->at[q].rank != CLOSED && f->at[q].label == 0) {
            if (!f->line) {
                f->at[q].label = drop.label;
            }
            Drop next = {(uint64_t)f->at[q].rank << 32 | ++f->age, (uint32_t)q, drop.label};
            TRY(push(f, next));
        }
    }
    return true;
}

static bool push_markers(Flood *f)
{
    f->age = f->marked = 0;
    for (size_t at = 0; at < f->cells; at++) {
        if (f->at[at].label != 0) {
            f->marked += f->raster;
            uint64_t key = (uint64_t)f->at[at].rank << 32 | f->marked;
            TRY(push(f, (Drop){key, (uint32_t)at, f->at[at].label}));
        }
    }
    f->age = f->marked;
    return true;
}

/* The cells around the one whose turn is probably next. */
static void look_ahead(const Flood *f)
{
    for (int row = -1; row <= 1 && f->n > 0; row++) {
        __builtin_prefetch(&f->at[f->heap[0].at + row * (int64_t)f->wide]);
    }
}

static bool flood(Flood *f)
{
    TRY(push_markers(f));
    while (f->n > 0) {
        Drop drop = pop(f);
        look_ahead(f);
        if (f->line) {
            bool marker = (uint32_t)drop.key <= f->marked;
            if ((f->at[drop.at].label != 0 && !marker) || meets_line(f, drop.at)) {
                continue;
            }
            f->at[drop.at].label = drop.label;
        }
        TRY(spread(f, drop));
    }
    return true;
}

/* ---- volumes --------------------------------------------------------------------------- */

/* Numbers in the order of values, from 0x7fffff (-inf) on; -0 and 0 are the same, NaN comes last.
 */
static uint32_t rank_of(float v)
{
    uint32_t bits;
    v += 0.0F;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? UINT32_MAX : bits >> 31 ? ~bits : bits | 0x80000000U;
}

static Cell *cell_row(const Flood *f, size_t y, size_t z)
{
    return f->at + ((z + (f->deep > 1)) * f->tall + y + 1) * f->wide + 1;
}

/* Plane z of the call into plane `to` of the volume, whose rows begin at `top`. */
static bool load_plane(Flood *f, HostPlane *plane, size_t z, size_t top, size_t to)
{
    const PrimCall *call = f->call;
    size_t w = (size_t)call->w, n = w * (size_t)call->h;
    bool masked = call->in[2].mem != NULL;
    TRY(host_fetch(plane, &call->in[0], z, ELEM_F32));
    for (size_t p = 0; p < n; p++) {
        cell_row(f, top + p / w, to)[p % w].rank = rank_of(((const float *)plane->pixels)[p]);
    }
    TRY(host_fetch(plane, &call->in[1], z, ELEM_U32));
    for (size_t p = 0; p < n; p++) {
        cell_row(f, top + p / w, to)[p % w].label = ((const uint32_t *)plane->pixels)[p];
    }
    TRY(!masked || host_fetch(plane, &call->in[2], z, ELEM_BOOL));
    for (size_t p = 0; p < n && masked; p++) {
        if (((const uint8_t *)plane->pixels)[p] == 0) {
            cell_row(f, top + p / w, to)[p % w] = (Cell){CLOSED, 0};
        }
    }
    return true;
}

static bool store_plane(Flood *f, HostPlane *plane, size_t z, size_t top, size_t from)
{
    const PrimCall *call = f->call;
    size_t w = (size_t)call->w, n = w * (size_t)call->h;
    uint32_t *labels = plane->pixels;
    for (size_t p = 0; p < n; p++) {
        labels[p] = cell_row(f, top + p / w, from)[p % w].label;
        f->largest = labels[p] > f->largest ? labels[p] : f->largest;
    }
    return host_store(call, &call->out[0], z, labels, w);
}

static bool flood_volumes(Flood *f, HostPlane *plane)
{
    size_t depth = (size_t)f->call->d, planes = (size_t)f->call->planes;
    for (size_t first = 0; first < planes; first += depth) {
        for (size_t z = 0; z < depth; z++) {
            TRY(load_plane(f, plane, first + z, 0, z));
        }
        TRY(flood(f));
        for (size_t z = 0; z < depth; z++) {
            TRY(store_plane(f, plane, first + z, 0, z));
        }
    }
    return host_value(f->call, f->largest);
}

/* ---- parts ----------------------------------------------------------------------------- */

/* What is kept between the calls of a run in parts. */
typedef struct Basins {
    Cell **at; /* by channel */
    int channels;
    uint32_t largest;
} Basins;

static void forget(void *state)
{
    Basins *b = state;
    for (int c = 0; b != NULL && b->at != NULL && c < b->channels; c++) {
        free(b->at[c]);
    }
    if (b != NULL) {
        free(b->at);
        free(b);
    }
}

static Cell *new_cells(const Flood *f)
{
    return calloc(f->cells, sizeof *f->at); /* closed: the frame stays so */
}

/* Cells for all channels. */
static bool open_basins(const Flood *f)
{
    const PrimCall *call = f->call;
    forget(*call->state);
    Basins *b = *call->state = calloc(1, sizeof *b);
    if (b == NULL) {
        return host_no_memory(call);
    }
    b->channels = call->part.channels;
    b->at = calloc((size_t)b->channels, sizeof *b->at);
    for (int c = 0; b->at != NULL && c < b->channels; c++) {
        b->at[c] = new_cells(f);
        if (b->at[c] == NULL) {
            return host_no_memory(call);
        }
    }
    return b->at != NULL || host_no_memory(call);
}

/* Takes the part, floods its channel when that is all there. */
static bool collect(Flood *f, HostPlane *plane)
{
    const PrimPart *part = &f->call->part;
    Basins *b = *f->call->state;
    for (int z = 0; z < f->call->d; z++) {
        TRY(load_plane(f, plane, (size_t)z, (size_t)part->y, (size_t)(part->z + z)));
    }
    if (part->number + 1 == part->parts) {
        TRY(flood(f));
        for (size_t at = 0; at < f->cells; at++) {
            b->largest = f->at[at].label > b->largest ? f->at[at].label : b->largest;
        }
    }
    return !part->last || host_value(f->call, b->largest);
}

static bool run_part(Flood *f, HostPlane *plane)
{
    const PrimPart *part = &f->call->part;
    if (part->pass == 0 && part->first) {
        TRY(open_basins(f));
    }
    f->at = ((Basins *)*f->call->state)->at[part->c];
    if (part->pass == 0) {
        return collect(f, plane);
    }
    for (int z = 0; z < f->call->d; z++) {
        TRY(store_plane(f, plane, (size_t)z, (size_t)part->y, (size_t)(part->z + z)));
    }
    return true;
}

static bool run_whole(Flood *f, HostPlane *plane)
{
    f->at = new_cells(f);
    bool ok = (f->at != NULL || host_no_memory(f->call)) && flood_volumes(f, plane);
    free(f->at);
    return ok;
}

/* ---- calls ----------------------------------------------------------------------------- */

/* Places and ages are counted in 32 bits. */
static bool check_size(const Flood *f, const PrimPart *part)
{
    double pushes = (double)f->cells * (f->line ? f->n_offsets + 1 : 1);
    if (pushes >= UINT32_MAX) {
        return err_set(f->call->err, CODE_MEMORY,
                       "%s: %d x %d x %d pixels are more than it can count; cut the image into "
                       "smaller ones",
                       f->call->name, f->call->w, part->h, part->d);
    }
    return true;
}

static bool run_queue(PrimCall *call)
{
    const PrimPart part = prim_part(call);
    Flood f = {.call = call,
               .line = call->arg[WATERSHED_LINE] != 0,
               .raster = call->arg[WATERSHED_RASTER] != 0};
    f.wide = (size_t)call->w + 2;
    f.tall = (size_t)part.h + 2;
    f.deep = part.d > 1 ? (size_t)part.d + 2 : 1;
    f.cells = f.wide * f.tall * f.deep;
    list_offsets(&f, (int)call->arg[WATERSHED_CONNECTIVITY], part.d > 1);
    TRY(check_size(&f, &part));
    HostPlane plane = {0};
    bool ok = host_plane_open(&plane, call) &&
              (call->part.cut ? run_part(&f, &plane) : run_whole(&f, &plane));
    host_plane_close(&plane);
    free(f.heap);
    return ok;
}

static bool run(PrimCall *call)
{
    bool flooded = false;
    assert(call->out[0].elem == ELEM_U32);
    TRY(watershed_paths_run(call, &flooded));
    return flooded || run_queue(call);
}

static int passes(const PrimCall *call)
{
    (void)call;
    return 2;
}

const Primitive prim_watershed = {.name = "watershed",
                                  .scratch_bytes = watershed_paths_scratch,
                                  .run = run,
                                  .passes = passes,
                                  .reading = 1,
                                  .forget = forget};
