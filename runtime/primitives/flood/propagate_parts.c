/*
 * propagate_parts: parts go up and down between host and device until all are stable.
 *
 * The rows of its neighbours that a part has with it rise there, too.  What they rise to is not kept, but those
 * that do are the ones whose own part has something to do: a part is visited again when another one would
 * raise it, and begins with the tiles along that seam.  Parts are taken in order, then against it, and so on:
 * a path that crosses no seam twice takes a single round.
 *
 * On the host rows lie in the order in which parts cut them off: those of one place in all planes, where
 * parts go across these, are next to each other.
 */
#include "propagate_parts.h"

#include "../parts_store.h"
#include "../prim_host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 8 << 20 }; /* bytes that are moved at a time */

/* An image on the host: rows of all channels, in the order of parts, without padding. */
typedef struct Kept {
    PartsStore *store; /* NULL: there is no such image */
    size_t size;       /* bytes of a pixel */
} Kept;

/* Where a piece may have something to do: at its first layer, at its last one. */
enum { RISING_FIRST = 1, RISING_LAST = 2, RISING_ALL = 4 };

typedef struct Piece {
    int channel, from, n; /* layers */
    unsigned rising;
} Piece;

typedef struct Rising {
    Device *dev;
    Kept values, image;
    Piece *pieces; /* by part, then channel */
    int n_pieces;
    size_t chunk; /* bytes of each of these */
    char *rows[2];
} Rising;

void propagate_parts_forget(void *state)
{
    Rising *r = state;
    if (r != NULL) {
        parts_store_drop(r->values.store);
        parts_store_drop(r->image.store);
        for (int i = 0; i < 2; i++) {
            dev_host_free(r->dev, r->rows[i]);
        }
        free(r->pieces);
        free(r);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* What parts are strips of are layers: rows, planes, or a row of each plane. */
static bool by_planes(const PrimCall *call)
{
    return call->part.d > 1 && !call->part.across;
}

/* Rows of pixels in a layer. */
static size_t lines_of(const PrimCall *call)
{
    return by_planes(call) ? (size_t)call->part.h : call->part.across ? (size_t)call->part.d : 1;
}

/* Rows of memory from a layer to the next. */
static size_t step_of(const PrimCall *call)
{
    return by_planes(call) ? (size_t)call->part.h : 1;
}

static int extent_of(const PrimCall *call)
{
    return by_planes(call) ? call->part.d : call->part.h;
}

static int first_of(const PrimCall *call)
{
    return by_planes(call) ? call->part.z : call->part.y;
}

static int layers_of(const PrimCall *call)
{
    return by_planes(call) ? call->d : call->h;
}

static PrimCall with_layers(const PrimCall *call, int n)
{
    PrimCall slab = *call;
    slab.h = by_planes(call) ? call->part.h : n;
    slab.d = slab.planes = by_planes(call) ? n : call->part.d;
    slab.out[0].h = slab.h;
    slab.out[0].d = slab.out[0].planes = slab.d;
    slab.out[0].length = (int64_t)slab.planes * slab.h * slab.out[0].pitch;
    return slab;
}

/* From and behind which layer the part and what is around it are. */
static void reach(const PrimCall *call, int from, int n, int around, int *first, int *end)
{
    int extent = extent_of(call);
    *first = from > around ? from - around : 0;
    *end = extent - from - n > around ? from + n + around : extent;
}

PrimCall propagate_parts_slab(const PrimCall *call, int around, size_t *lead)
{
    int from = first_of(call), first, end;
    reach(call, from, layers_of(call), around, &first, &end);
    *lead = (size_t)(from - first) * step_of(call);
    return with_layers(call, end - first);
}

PrimCall propagate_parts_longest(const PrimCall *call, int around)
{
    int n = (by_planes(call) ? call->part.planes : call->part.rows) + 2 * around;
    return with_layers(call, n < extent_of(call) ? n : extent_of(call));
}

/* ---- scratch --------------------------------------------------------------------------------- */

static size_t rounded_up(size_t bytes)
{
    return lanes_divided_up(bytes, PROPAGATE_PARTS_SLICE) * PROPAGATE_PARTS_SLICE;
}

static size_t slab_bytes(const PrimCall *call, const PrimImage *image)
{
    PrimCall slab = propagate_parts_longest(call, 1);
    size_t rows = (size_t)slab.h * (size_t)slab.planes;
    return rounded_up(rows * (size_t)image->pitch * elem_size(image->elem));
}

/* Values, then the image, then flags. */
size_t propagate_parts_bytes(const PrimCall *call, const PrimImage *image)
{
    PrimCall slab = propagate_parts_longest(call, 1);
    return slab_bytes(call, &call->out[0]) + (image != NULL ? slab_bytes(call, image) : 0) +
           propagate_words(&slab) * sizeof(uint32_t);
}

/* ---- between host and device ----------------------------------------------------------------- */

typedef enum Way { TO_HOST, TO_DEVICE, COMPARE } Way;

/* Layers of one memory, and where they are on the host. */
typedef struct Layers {
    const Kept *kept;
    DevMem *mem;
    size_t pitch;    /* pixels */
    size_t first;    /* row in the memory */
    size_t tall;     /* rows of a plane there */
    uint64_t row, n; /* on the host; how many rows */
} Layers;

/* Some of the rows from number `from` on, which are as far from each other in the memory; comparing, *differ is
 * set where the host has others. */
static bool move_chunk(const PrimCall *call, const Layers *layers, uint64_t from, size_t n, Way way, bool *differ)
{
    const Rising *r = *call->state;
    size_t size = layers->kept->size, line = (size_t)call->w * size, pitch = layers->pitch * size;
    size_t planes = call->part.across ? lines_of(call) : 1, apart = call->part.across ? layers->tall : 1;
    size_t at = layers->first + (size_t)from / planes + (size_t)from % planes * apart, bytes = n * line;
    uint64_t there = (layers->row + from) * line;
    PartsStore *store = layers->kept->store;
    if (way != TO_HOST) {
        TRY(parts_store_get(store, there, r->rows[0], bytes, call->err));
    }
    if (way == TO_DEVICE) {
        return dev_write_rows(call->dev, layers->mem, at * pitch, apart * pitch, r->rows[0], line, line, n, call->err);
    }
    TRY(dev_read_rows(call->dev, layers->mem, at * pitch, apart * pitch, r->rows[1], line, line, n, call->err));
    if (way == COMPARE) {
        *differ = *differ || memcmp(r->rows[0], r->rows[1], bytes) != 0;
        return true;
    }
    return parts_store_put(store, there, r->rows[1], bytes, call->err);
}

static bool move(const PrimCall *call, const Layers *layers, Way way, bool *differ)
{
    const Rising *r = *call->state;
    uint64_t most = r->chunk / ((size_t)call->w * layers->kept->size), lines = lines_of(call);
    for (uint64_t from = 0, n; from < layers->n; from += n) {
        uint64_t end = call->part.across ? from - from % lines + lines : layers->n;
        n = end - from < most ? end - from : most;
        TRY(move_chunk(call, layers, from, (size_t)n, way, differ));
    }
    return true;
}

/* The first row of a channel's layers from `from` on, among those of all channels. */
static uint64_t host_row(const PrimCall *call, int channel, int from)
{
    uint64_t extent = (uint64_t)extent_of(call);
    return ((uint64_t)channel * extent + (uint64_t)from) * lines_of(call);
}

/* ---- the first and the second pass ----------------------------------------------------------- */

static bool open_kept(const PrimCall *call, size_t size, Kept *kept)
{
    uint64_t rows = host_row(call, call->part.channels, 0);
    kept->size = size;
    return parts_store_new(call->budget, rows * (uint64_t)call->w * size, &kept->store, call->err);
}

static bool open_rising(const PrimCall *call, const PrimImage *image)
{
    propagate_parts_forget(*call->state);
    Rising *r = *call->state = calloc(1, sizeof *r);
    if (r == NULL) {
        return host_no_memory(call);
    }
    size_t size = elem_size(call->out[0].elem), other = image != NULL ? elem_size(image->elem) : 0;
    size_t line = (size_t)call->w * (size > other ? size : other);
    r->dev = call->dev;
    r->chunk = line > CHUNK ? line : CHUNK;
    r->n_pieces = call->part.parts * call->part.channels;
    r->pieces = calloc((size_t)r->n_pieces, sizeof *r->pieces);
    TRY(r->pieces != NULL || host_no_memory(call));
    for (int i = 0; i < 2; i++) {
        void *rows;
        TRY(dev_host_alloc(call->dev, r->chunk, &rows, call->err));
        r->rows[i] = rows;
    }
    return open_kept(call, size, &r->values) && (image == NULL || open_kept(call, other, &r->image));
}

bool propagate_parts_keep(const PrimCall *call, const PrimCall *slab, size_t lead, const PrimImage *image)
{
    const PrimPart *part = &call->part;
    TRY(!part->first || open_rising(call, image));
    Rising *r = *call->state;
    int from = first_of(call), n = layers_of(call);
    r->pieces[part->number * part->channels + part->c] = (Piece){part->c, from, n, RISING_ALL};
    Layers layers = {.kept = &r->values,
                     .mem = slab->out[0].mem,
                     .pitch = (size_t)call->out[0].pitch,
                     .first = lead,
                     .tall = (size_t)slab->h,
                     .row = host_row(call, part->c, from),
                     .n = (uint64_t)n * lines_of(call)};
    TRY(move(call, &layers, TO_HOST, NULL));
    if (image != NULL) {
        layers.kept = &r->image;
        layers.mem = image->mem;
        layers.pitch = (size_t)image->pitch;
        layers.first = image->before;
        layers.tall = (size_t)image->h;
        TRY(move(call, &layers, TO_HOST, NULL));
    }
    return true;
}

bool propagate_parts_give(const PrimCall *call)
{
    const Rising *r = *call->state;
    Layers layers = {.kept = &r->values,
                     .mem = call->out[0].mem,
                     .pitch = (size_t)call->out[0].pitch,
                     .tall = (size_t)call->h,
                     .row = host_row(call, call->part.c, first_of(call)),
                     .n = (uint64_t)call->h * (uint64_t)call->planes};
    return move(call, &layers, TO_DEVICE, NULL);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* A piece on the device, with a layer on either side. */
typedef struct Slab {
    PrimCall call;
    PrimImage image;
    int lead;     /* layers before the piece */
    size_t flags; /* word of the scratch */
} Slab;

/* Room in the scratch for values and image. */
static bool open_slab(const PrimCall *call, const PrimImage *image, size_t at, Slab *slab)
{
    size_t values = slab_bytes(call, &call->out[0]);
    size_t more = image != NULL ? slab_bytes(call, image) : 0;
    assert(PROPAGATE_PARTS_SLICE % dev_alignment(call->dev) == 0 && at % sizeof(uint32_t) == 0);
    *slab = (Slab){.flags = (at + values + more) / sizeof(uint32_t)};
    TRY(dev_slice(call->dev, call->scratch, at, values, &slab->call.out[0].mem, call->err));
    if (image == NULL) {
        return true;
    }
    slab->image = *image;
    return dev_slice(call->dev, call->scratch, at + values, more, &slab->image.mem, call->err);
}

static void close_slab(const PrimCall *call, const PrimImage *image, const Slab *slab)
{
    if (image != NULL) {
        dev_free(call->dev, slab->image.mem);
    }
    dev_free(call->dev, slab->call.out[0].mem);
}

/* What a piece's slab is made of: its layers and those beside it. */
static bool load_slab(const PrimCall *call, const PrimImage *image, const Piece *piece, Slab *slab)
{
    const Rising *r = *call->state;
    DevMem *values = slab->call.out[0].mem;
    int first, end;
    reach(call, piece->from, piece->n, 1, &first, &end);
    slab->lead = piece->from - first;
    slab->call = with_layers(call, end - first);
    slab->call.out[0].mem = values;
    Layers layers = {.kept = &r->values,
                     .mem = values,
                     .pitch = (size_t)call->out[0].pitch,
                     .tall = (size_t)slab->call.h,
                     .row = host_row(call, piece->channel, first),
                     .n = (uint64_t)(end - first) * lines_of(call)};
    TRY(move(call, &layers, TO_DEVICE, NULL));
    if (image == NULL) {
        slab->image = slab->call.out[0];
        return true;
    }
    layers.kept = &r->image;
    layers.mem = slab->image.mem;
    layers.pitch = (size_t)image->pitch;
    return move(call, &layers, TO_DEVICE, NULL);
}

/* Layer `at` of the slab as it is on the host, or was. */
static Layers layer_of(const PrimCall *call, const Slab *slab, const Piece *piece, int at)
{
    const Rising *r = *call->state;
    return (Layers){.kept = &r->values,
                    .mem = slab->call.out[0].mem,
                    .pitch = (size_t)call->out[0].pitch,
                    .first = (size_t)at * step_of(call),
                    .tall = (size_t)slab->call.h,
                    .row = host_row(call, piece->channel, piece->from - slab->lead + at),
                    .n = lines_of(call)};
}

/* A piece has something to do when its layer has risen in the slab of one beside it. */
static bool look_beside(const PrimCall *call, const Slab *slab, int number)
{
    Rising *r = *call->state;
    int channels = call->part.channels, end = layers_of(&slab->call);
    const Piece *piece = &r->pieces[number];
    bool before = false, behind = false;
    if (slab->lead > 0) {
        Layers last = layer_of(call, slab, piece, slab->lead - 1);
        TRY(move(call, &last, COMPARE, &before));
        r->pieces[number - channels].rising |= before ? RISING_LAST : 0;
    }
    if (end > slab->lead + piece->n) {
        Layers first = layer_of(call, slab, piece, slab->lead + piece->n);
        TRY(move(call, &first, COMPARE, &behind));
        r->pieces[number + channels].rising |= behind ? RISING_FIRST : 0;
    }
    return true;
}

/* The piece's own layers go to the host. */
static bool save_piece(const PrimCall *call, const Slab *slab, const Piece *piece)
{
    Layers own = layer_of(call, slab, piece, slab->lead);
    own.n *= (uint64_t)piece->n;
    return move(call, &own, TO_HOST, NULL);
}

/* Flags the tiles that have pixels of a layer. */
static bool flag_layer(const Slab *slab, int at)
{
    const PrimCall *call = &slab->call;
    PropagateTiles t = propagate_tiles(call);
    bool planes = by_planes(call);
    size_t row = (size_t)at / (size_t)(planes ? t.z : t.y), word = sizeof(uint32_t);
    size_t n = planes ? t.down * t.across : t.across, apart = t.down * t.across;
    for (size_t i = 0; i < (planes ? 1 : t.deep); i++) {
        TRY(dev_fill(call->dev, call->scratch, (slab->flags + i * apart + row * n) * word, n * word, 1, call->err));
    }
    return true;
}

static bool flag_tiles(const Slab *slab, const Piece *piece)
{
    return propagate_flag_all(&slab->call, slab->flags, (piece->rising & RISING_ALL) != 0) &&
           ((piece->rising & RISING_FIRST) == 0 || flag_layer(slab, slab->lead)) &&
           ((piece->rising & RISING_LAST) == 0 || flag_layer(slab, slab->lead + piece->n - 1));
}

static bool raise_piece(const PrimCall *call, const PropagateRules *rules, const PrimImage *image, Slab *slab,
                        int number)
{
    const Rising *r = *call->state;
    Piece *piece = &r->pieces[number];
    DevProgram *program = NULL;
    TRY(!host_stopped(call) && load_slab(call, image, piece, slab));
    TRY(propagate_program(&slab->call, rules->defines, rules->text, rules->connectivity, &program));
    TRY(flag_tiles(slab, piece));
    piece->rising = 0;
    TRY(propagate_run(&slab->call, program, &slab->image, rules->how, slab->flags));
    return look_beside(call, slab, number) && save_piece(call, slab, piece);
}

bool propagate_parts_settle(const PrimCall *call, const PropagateRules *rules, const PrimImage *image, size_t at)
{
    const Rising *r = *call->state;
    Slab slab;
    bool ok = open_slab(call, image, at, &slab), going = true;
    for (bool down = true; ok && going; down = !down) {
        going = false;
        for (int i = 0; ok && i < r->n_pieces; i++) {
            int number = down ? i : r->n_pieces - 1 - i;
            if (r->pieces[number].rising != 0) {
                ok = raise_piece(call, rules, image, &slab, number);
                going = true;
            }
        }
    }
    close_slab(call, image, &slab);
    return ok;
}
