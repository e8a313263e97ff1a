/*
 * prim_watershed: floods an image from markers, pixel for pixel as skimage.segmentation.watershed.
 *
 * GPUs flood all pixels at once (watershed_paths.c).  What is here goes through the queue
 * (watershed_queue.c), on the host: image, markers and mask are downloaded, flooded one volume
 * after the other and the labels uploaded; the device waits.
 *
 * In parts the first pass collects the pixels on the host and floods each channel when it is there;
 * the second gives the labels back.
 */
#include "watershed_paths.h"
#include "watershed_queue.h"

#include <assert.h>
#include <stdlib.h>

static bool store_plane(const WatershedQueue *q, HostPlane *plane, size_t z, size_t top, size_t from, uint32_t *largest)
{
    const PrimCall *call = q->call;
    size_t w = (size_t)call->w;
    uint32_t *labels = plane->pixels;
    for (size_t y = 0; y < (size_t)call->h; y++) {
        const WatershedCell *row = watershed_queue_row(q, top + y, from);
        for (size_t x = 0; x < w; x++) {
            labels[y * w + x] = row[x].label;
            *largest = row[x].label > *largest ? row[x].label : *largest;
        }
    }
    return host_store(call, &call->out[0], z, labels, w);
}

static bool flood_volumes(WatershedQueue *q, HostPlane *plane)
{
    size_t depth = (size_t)q->call->d, planes = (size_t)q->call->planes;
    uint32_t largest = 0;
    for (size_t first = 0; first < planes; first += depth) {
        for (size_t z = 0; z < depth; z++) {
            TRY(watershed_queue_load(q, plane, first + z, 0, z));
        }
        TRY(watershed_queue_flood(q));
        for (size_t z = 0; z < depth; z++) {
            TRY(store_plane(q, plane, first + z, 0, z, &largest));
        }
    }
    return host_value(q->call, largest);
}

/* ---- parts ----------------------------------------------------------------------------- */

/* What is kept between the calls of a run in parts. */
typedef struct Basins {
    WatershedCell **at; /* by channel */
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

/* Cells for all channels. */
static bool open_basins(const WatershedQueue *q)
{
    const PrimCall *call = q->call;
    forget(*call->state);
    Basins *b = *call->state = calloc(1, sizeof *b);
    if (b == NULL) {
        return host_no_memory(call);
    }
    b->channels = call->part.channels;
    b->at = calloc((size_t)b->channels, sizeof *b->at);
    for (int c = 0; b->at != NULL && c < b->channels; c++) {
        b->at[c] = watershed_queue_cells(q);
        if (b->at[c] == NULL) {
            return host_no_memory(call);
        }
    }
    return b->at != NULL || host_no_memory(call);
}

/* Takes the part, floods its channel when that is all there. */
static bool collect(WatershedQueue *q, HostPlane *plane)
{
    const PrimPart *part = &q->call->part;
    Basins *b = *q->call->state;
    for (int z = 0; z < q->call->d; z++) {
        TRY(watershed_queue_load(q, plane, (size_t)z, (size_t)part->y, (size_t)(part->z + z)));
    }
    if (part->number + 1 == part->parts) {
        TRY(watershed_queue_flood(q));
        for (size_t at = 0; at < q->cells; at++) {
            b->largest = q->at[at].label > b->largest ? q->at[at].label : b->largest;
        }
    }
    return !part->last || host_value(q->call, b->largest);
}

static bool run_part(WatershedQueue *q, HostPlane *plane)
{
    const PrimPart *part = &q->call->part;
    if (part->pass == 0 && part->first) {
        TRY(open_basins(q));
    }
    Basins *b = *q->call->state;
    q->at = b->at[part->c];
    if (part->pass == 0) {
        return collect(q, plane);
    }
    for (int z = 0; z < q->call->d; z++) {
        TRY(store_plane(q, plane, (size_t)z, (size_t)part->y, (size_t)(part->z + z), &b->largest));
    }
    return true;
}

static bool run_whole(WatershedQueue *q, HostPlane *plane)
{
    q->at = watershed_queue_cells(q);
    bool ok = (q->at != NULL || host_no_memory(q->call)) && flood_volumes(q, plane);
    free(q->at);
    return ok;
}

/* ---- calls ----------------------------------------------------------------------------- */

static bool run_queue(const PrimCall *call)
{
    WatershedQueue q;
    HostPlane plane = {0};
    TRY(watershed_queue_open(&q, call));
    bool ok = host_plane_open(&plane, call) && (call->part.cut ? run_part(&q, &plane) : run_whole(&q, &plane));
    host_plane_close(&plane);
    watershed_queue_close(&q);
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
