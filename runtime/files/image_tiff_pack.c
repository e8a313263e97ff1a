/* image_tiff_pack: whole strips and bands are packed where they lie, others once their rows are together. */
#include "image_tiff_pack.h"

#include "../../base/file.h"
#include "../host/crew.h"
#include "image_format.h"
#include "runs.h"

#include <assert.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    LEVEL = 1,       /* of both methods: more effort makes labels a little shorter and takes three times as long */
    RUNS_SHARE = 12, /* strips that runs make so many times shorter are left to runs.h */
    AT_ONCE = 32,    /* strips that are packed before they are written, by several threads */
    HANDS = 8,       /* threads, at most */
    LARGE = 64 << 20 /* bytes of a file for which several are worth it: smaller ones are written several at a time */
};

/* A way to pack; each thread has what `begin` makes, NULL where memory lacks. */
typedef struct Method {
    void *(*begin)(void);
    void (*end)(void *hand);
    size_t (*bound)(size_t bytes);
    /* `unit`: bytes of a pixel; 0: out of memory. */
    size_t (*pack)(void *hand, size_t unit, const void *from, size_t bytes, void *to, size_t room);
} Method;

typedef struct Deflate {
    struct libdeflate_compressor *any;
    RunsCode runs;
} Deflate;

static void deflate_end(void *hand)
{
    Deflate *deflate = hand;
    if (deflate != NULL) {
        libdeflate_free_compressor(deflate->any);
        free(deflate);
    }
}

static void *deflate_begin(void)
{
    Deflate *deflate = calloc(1, sizeof *deflate);
    if (deflate == NULL || (deflate->any = libdeflate_alloc_compressor(LEVEL)) == NULL) {
        deflate_end(deflate);
        return NULL;
    }
    runs_code(&deflate->runs);
    return deflate;
}

static size_t deflate_bound(size_t bytes)
{
    return libdeflate_zlib_compress_bound(NULL, bytes);
}

static size_t deflate_pack(void *hand, size_t unit, const void *from, size_t bytes, void *to, size_t room)
{
    const Deflate *deflate = hand;
    size_t runs = unit <= RUNS_UNIT_MOST ? runs_pack(&deflate->runs, unit, from, bytes, to, bytes / RUNS_SHARE) : 0;
    return runs > 0 ? runs : libdeflate_zlib_compress(deflate->any, from, bytes, to, room);
}

static void *zstd_begin(void)
{
    return ZSTD_createCCtx();
}

static void zstd_end(void *hand)
{
    ZSTD_freeCCtx(hand);
}

static size_t zstd_pack(void *hand, size_t unit, const void *from, size_t bytes, void *to, size_t room)
{
    (void)unit;
    size_t size = ZSTD_compressCCtx(hand, to, room, from, bytes, LEVEL);
    return ZSTD_isError(size) ? 0 : size;
}

/* Tiles that are not compressed; there is nothing to keep, and NULL would be a lack of memory. */
static void *store_begin(void)
{
    return malloc(1);
}

static size_t store_bound(size_t bytes)
{
    return bytes;
}

static size_t store_pack(void *hand, size_t unit, const void *from, size_t bytes, void *to, size_t room)
{
    (void)hand;
    (void)unit;
    assert(bytes <= room);
    memcpy(to, from, bytes);
    return bytes;
}

static const Method METHODS[] = {
    [TIFF_STORE] = {store_begin, free, store_bound, store_pack},
    [TIFF_DEFLATE] = {deflate_begin, deflate_end, deflate_bound, deflate_pack},
    [TIFF_ZSTD] = {zstd_begin, zstd_end, ZSTD_compressBound, zstd_pack},
};

/* The first rows of a strip or band whose others have not come. */
typedef struct Partial {
    uint64_t page;
    char *rows; /* room for a strip; NULL: this place is free */
} Partial;

typedef struct Strip {
    uint64_t number; /* among all of the file */
    const char *from;
    size_t bytes;
    size_t pitch, wide, rows; /* of a tile: of the band, and what of it lies in the image */
    char *own;                /* from, if it is freed afterwards */
    char *packed;             /* room for all that there can be */
    size_t size;
} Strip;

struct TiffPack {
    TiffPackShape shape;
    uint64_t strips;         /* of a page, or tiles */
    uint64_t across;         /* tiles beside each other; 1 for strips */
    uint64_t *offset, *size; /* by strip */
    size_t bound;
    Partial *partial;
    int n_partial;
    Strip strip[AT_ONCE];
    int n;
    const Method *method;
    void *hand[HANDS];
    char *tile[HANDS];  /* cut from its band; NULL: strips */
    int hands, at_once; /* 1 where the caller does all: its memory is warm then */
    Crew *crew;
    char *kept; /* strips that are not in a file */
    size_t kept_bytes;
    FILE *keeps;
};

static bool no_memory(const TiffPack *pack, Err *err)
{
    return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", pack->shape.path);
}

bool tiff_pack_new(const TiffPackShape *shape, TiffPack **out, Err *err)
{
    TiffPack *pack = calloc(1, sizeof *pack);
    *out = pack;
    if (pack == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", shape->path);
    }
    pack->shape = *shape;
    pack->method = &METHODS[shape->method];
    const uint64_t wide = shape->tile_bytes > 0 ? shape->tile_bytes : shape->row_bytes;
    pack->across = (shape->row_bytes + wide - 1) / wide;
    pack->strips = (shape->rows + shape->rows_per_strip - 1) / shape->rows_per_strip * pack->across;
    pack->offset = calloc((size_t)(shape->pages * pack->strips), sizeof *pack->offset);
    pack->size = calloc((size_t)(shape->pages * pack->strips), sizeof *pack->size);
    pack->keeps = shape->fd < 0 ? open_memstream(&pack->kept, &pack->kept_bytes) : NULL;
    TRY(shape->fd >= 0 || pack->keeps != NULL || no_memory(pack, err));
    bool large = shape->pages * shape->rows * shape->row_bytes >= LARGE;
    pack->hands = large ? HANDS : 1;
    pack->at_once = large ? AT_ONCE : 1;
    pack->crew = large ? crew_new(HANDS - 1) : NULL;
    for (int i = 0; i < pack->hands; i++) {
        pack->hand[i] = pack->method->begin();
        pack->tile[i] = shape->tile_bytes > 0 ? malloc((size_t)(shape->rows_per_strip * wide)) : NULL;
        TRY((pack->hand[i] != NULL && (shape->tile_bytes == 0 || pack->tile[i] != NULL)) || no_memory(pack, err));
    }
    pack->bound = pack->method->bound((size_t)(shape->rows_per_strip * wide));
    return (pack->offset != NULL && pack->size != NULL) || no_memory(pack, err);
}

void tiff_pack_free(TiffPack *pack)
{
    if (pack == NULL) {
        return;
    }
    for (int i = 0; i < pack->hands; i++) {
        pack->method->end(pack->hand[i]);
        free(pack->tile[i]);
    }
    for (int i = 0; i < pack->n_partial; i++) {
        free(pack->partial[i].rows);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        free(pack->strip[i].packed);
        free(pack->strip[i].own);
    }
    crew_free(pack->crew);
    if (pack->keeps != NULL) {
        (void)fclose(pack->keeps);
    }
    free(pack->kept);
    free(pack->partial);
    free(pack->offset);
    free(pack->size);
    free(pack);
}

/* ---- packing --------------------------------------------------------------------------- */

static void cut_tile(const TiffPack *pack, const Strip *s, char *to)
{
    const size_t wide = (size_t)pack->shape.tile_bytes;
    memset(to, 0, s->bytes);
    for (size_t y = 0; y < s->rows; y++) {
        memcpy(to + y * wide, s->from + y * s->pitch, s->wide);
    }
}

static void pack_share(void *context, int hand)
{
    TiffPack *pack = context;
    for (int i = hand; i < pack->n; i += pack->hands) {
        Strip *s = &pack->strip[i];
        const char *from = s->from;
        if (pack->tile[hand] != NULL) {
            cut_tile(pack, s, pack->tile[hand]);
            from = pack->tile[hand];
        }
        s->size = pack->method->pack(pack->hand[hand], pack->shape.pixel_bytes, from, s->bytes, s->packed, pack->bound);
    }
}

static bool put(const TiffPack *pack, const void *from, size_t size, Err *err)
{
    if (pack->keeps != NULL) {
        return fwrite(from, 1, size, pack->keeps) == size || no_memory(pack, err);
    }
    return image_pwrite(pack->shape.fd, from, size, *pack->shape.end) ||
           file_err_set(err, CODE_OUTPUT, "write", pack->shape.path, errno);
}

/* Packs the strips that are there and writes them. */
static bool flush(TiffPack *pack, Err *err)
{
    crew_run(pack->crew, pack_share, pack, pack->hands);
    for (int i = 0; i < pack->n; i++) {
        Strip *s = &pack->strip[i];
        TRY((s->size > 0 || no_memory(pack, err)) && put(pack, s->packed, s->size, err));
        pack->offset[s->number] = *pack->shape.end;
        pack->size[s->number] = s->size;
        *pack->shape.end += s->size;
        free(s->own);
        s->own = NULL;
    }
    pack->n = 0;
    return true;
}

/* The strip is complete; with `own` its rows are freed when it is written. */
static bool add(TiffPack *pack, Strip strip, Err *err)
{
    Strip *s = &pack->strip[pack->n];
    strip.packed = s->packed != NULL ? s->packed : malloc(pack->bound);
    if (strip.packed == NULL) {
        free(strip.own);
        return no_memory(pack, err);
    }
    *s = strip;
    pack->n++;
    return pack->n < pack->at_once || flush(pack, err);
}

/* All tiles of a band are written before its rows go. */
static bool add_band(TiffPack *pack, uint64_t first, const char *from, size_t pitch, uint64_t rows, Err *err)
{
    const TiffPackShape *shape = &pack->shape;
    for (uint64_t x = 0; x < pack->across; x++) {
        const uint64_t left = shape->row_bytes - x * shape->tile_bytes;
        const Strip tile = {.number = first + x,
                            .from = from + (size_t)(x * shape->tile_bytes),
                            .bytes = (size_t)(shape->rows_per_strip * shape->tile_bytes),
                            .pitch = pitch,
                            .wide = (size_t)(left < shape->tile_bytes ? left : shape->tile_bytes),
                            .rows = (size_t)rows};
        TRY(add(pack, tile, err));
    }
    return pack->n == 0 || flush(pack, err);
}

/* The rows of a strip, or of a band, are together; `own` is freed when they are written. */
static bool add_rows(TiffPack *pack, uint64_t page, uint64_t number, const char *from, size_t pitch, uint64_t rows,
                     char *own, Err *err)
{
    const uint64_t first = page * pack->strips + number * pack->across;
    if (pack->tile[0] == NULL) {
        return add(pack, (Strip){.number = first, .from = from, .bytes = (size_t)rows * pitch, .own = own}, err);
    }
    bool ok = add_band(pack, first, from, pitch, rows, err);
    free(own);
    return ok;
}

/* ---- rows ------------------------------------------------------------------------------ */

/* The rows of the page's strip that are together; NULL: out of memory. */
static Partial *partial_of(TiffPack *pack, uint64_t page)
{
    Partial *free_one = NULL;
    for (int i = 0; i < pack->n_partial; i++) {
        Partial *p = &pack->partial[i];
        if (p->rows != NULL && p->page == page) {
            return p;
        }
        free_one = p->rows == NULL ? p : free_one;
    }
    if (free_one == NULL) {
        Partial *more = realloc(pack->partial, (size_t)(pack->n_partial + 1) * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        pack->partial = more;
        free_one = &more[pack->n_partial++];
    }
    *free_one = (Partial){page, malloc((size_t)(pack->shape.rows_per_strip * pack->shape.row_bytes))};
    return free_one->rows != NULL ? free_one : NULL;
}

static void copy_rows(const TiffPack *pack, char *to, const char *from, size_t pitch, uint64_t rows, bool masks)
{
    size_t row = (size_t)pack->shape.row_bytes;
    for (uint64_t y = 0; y < rows; y++, to += row, from += pitch) {
        memcpy(to, from, row);
        for (size_t x = 0; masks && x < row; x++) {
            to[x] = to[x] != 0 ? (char)255 : 0;
        }
    }
}

/* Some rows of one strip or band, from its row `first` on; `full`: so many it has. */
static bool take(TiffPack *pack, uint64_t page, uint64_t strip, uint64_t first, uint64_t rows, uint64_t full,
                 const char *from, size_t pitch, bool masks, Err *err)
{
    size_t row = (size_t)pack->shape.row_bytes;
    if (rows == full && (pitch == row || pack->tile[0] != NULL) && !masks) {
        return add_rows(pack, page, strip, from, pitch, full, NULL, err);
    }
    Partial *p = partial_of(pack, page);
    if (p == NULL) {
        return no_memory(pack, err);
    }
    copy_rows(pack, p->rows + first * row, from, pitch, rows, masks);
    if (first + rows < full) {
        return true;
    }
    char *own = p->rows;
    p->rows = NULL;
    return add_rows(pack, page, strip, own, row, full, own, err);
}

bool tiff_pack_rows(TiffPack *pack, uint64_t page, uint64_t row, uint64_t rows, const char *from, size_t pitch,
                    bool masks, Err *err)
{
    const uint64_t high = pack->shape.rows_per_strip, end = row + rows;
    while (row < end) {
        uint64_t strip = row / high, first = row % high, left = pack->shape.rows - strip * high;
        uint64_t full = left < high ? left : high, n = end - row < full - first ? end - row : full - first;
        TRY(take(pack, page, strip, first, n, full, from, pitch, masks, err));
        row += n;
        from += n * pitch;
    }
    return pack->n == 0 || flush(pack, err); /* the caller's rows go */
}

/* ---- strips of others -------------------------------------------------------------------- */

/* Where they begin, how many there are, their sizes, their bytes. */
bool tiff_pack_tell(const TiffPack *pack, FILE *to)
{
    uint64_t all = pack->shape.pages * pack->strips, head[2] = {0, all};
    for (; head[0] < all && pack->size[head[0]] == 0; head[0]++) {
    }
    for (; head[1] > head[0] && pack->size[head[1] - 1] == 0; head[1]--) {
    }
    head[1] -= head[0];
    return fflush(pack->keeps) == 0 && fwrite(head, sizeof head, 1, to) == 1 &&
           fwrite(pack->size + head[0], sizeof *pack->size, (size_t)head[1], to) == head[1] &&
           fwrite(pack->kept, 1, pack->kept_bytes, to) == pack->kept_bytes;
}

bool tiff_pack_join(TiffPack *pack, const void *from, size_t bytes, Err *err)
{
    uint64_t head[2];
    memcpy(head, from, sizeof head);
    const char *at = (const char *)from + sizeof head;
    memcpy(pack->size + head[0], at, (size_t)head[1] * sizeof *pack->size);
    at += head[1] * sizeof *pack->size;
    TRY(put(pack, at, bytes - (size_t)(at - (const char *)from), err));
    for (uint64_t i = head[0]; i < head[0] + head[1]; i++) {
        pack->offset[i] = *pack->shape.end;
        *pack->shape.end += pack->size[i];
    }
    return true;
}

uint64_t tiff_pack_offset(const TiffPack *pack, uint64_t page, uint64_t strip)
{
    return pack->offset[page * pack->strips + strip];
}

uint64_t tiff_pack_size(const TiffPack *pack, uint64_t page, uint64_t strip)
{
    return pack->size[page * pack->strips + strip];
}
