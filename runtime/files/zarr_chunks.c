/*
 * zarr_chunks: each chunk is a file, or a part of a shard.  Of shards the tables of places are kept, beside the bands.
 * Bands that no call has asked for lately go when there are more than the memory that is set aside; while planes are read
 * one after the other, the bands of chunks of several planes stay for the next ones.
 */
#include "zarr_chunks.h"

#include "../host/stopwatch.h"
#include "image_format.h"
#include "image_pixels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t GROUP_MOST = (size_t)32 << 20;  /* bytes of bands that are decoded at once, if not of one alone */
static const size_t TABLES_MOST = (size_t)64 << 20; /* bytes of tables of shards */
enum {
    HANDS = 8,
    SLOWER = 4,       /* decoding takes so many times as long as copying, or longer */
    BANDS_KEPT = 4096 /* among which one is looked for */
};

typedef struct Band {
    int64_t number; /* its place, as one number */
    uint64_t used;  /* the call that has asked last */
    void **chunk;   /* NULL: not there */
    size_t bytes;
} Band;

typedef struct Table {
    int64_t number;  /* of the shard */
    uint64_t *place; /* offset and size of each chunk */
} Table;

struct ZarrChunks {
    int folder;
    const ZarrArray *array;
    int along;
    int64_t across;           /* chunks of a band */
    int64_t count[ZARR_DIMS]; /* chunks along each axis */
    size_t numbers, room;     /* of a chunk: numbers, bytes while they become pixels */
    Band *band;
    int n_band, cap_band;
    size_t keep, kept; /* bytes: at most, unless one call needs more; that are there */
    uint64_t calls;
    Table *table;
    int n_table, cap_table;
    size_t tables;
    ZarrScratch scratch[HANDS];
    Crew *crew;
};

static bool no_memory(Err *err)
{
    return err_set(err, CODE_FILES, "out of memory");
}

static int64_t chunks_in_file(const ZarrArray *a, int axis)
{
    return a->file[axis] / a->chunk[axis];
}

/* ---- bytes of files -------------------------------------------------------------------- */

/* *fd is -1 where there is no such file. */
static bool open_file(const ZarrChunks *c, const char *key, int *fd, uint64_t *size, Err *err)
{
    struct stat st;
    *fd = openat(c->folder, key, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return true;
    }
    if (*fd >= 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
        return true;
    }
    int error = *fd < 0 ? errno : 0;
    if (*fd >= 0) {
        close(*fd);
    }
    return err_set(err, CODE_FILES, "it is no file that can be read (error %d)", error);
}

static bool read_part(int fd, void *to, size_t size, uint64_t at, Err *err)
{
    size_t got;
    return image_pread(fd, to, size, at, &got) ||
           err_set(err, CODE_FILES, "it is cut off at byte %llu (error %d)", (unsigned long long)(at + got), errno);
}

/* The place of a chunk in its shard's table, and that of the shard among all shards. */
static int64_t place_in_file(const ZarrChunks *c, const int64_t at[ZARR_DIMS], int64_t file[ZARR_DIMS], int64_t *number)
{
    int64_t place = 0;
    *number = 0;
    for (int i = 0; i < c->array->dims; i++) {
        int64_t per = chunks_in_file(c->array, i);
        file[i] = at[i] / per;
        place = place * per + at[i] % per;
        *number = *number * ((c->count[i] + per - 1) / per) + file[i];
    }
    return place;
}

/* ---- shards ---------------------------------------------------------------------------- */

static size_t table_entries(const ZarrArray *a)
{
    size_t n = 1;
    for (int i = 0; i < a->dims; i++) {
        n *= (size_t)chunks_in_file(a, i);
    }
    return n;
}

/* The table of a shard; all its places are "none" where there is no such file. */
static bool load_table(ZarrChunks *c, const char *key, uint64_t *place, Err *err)
{
    const ZarrArray *a = c->array;
    size_t size = table_entries(a) * 16, packed = size + 4 * (size_t)a->index.n;
    uint64_t bytes = 0;
    int fd;
    memset(place, 0xFF, size);
    TRY(open_file(c, key, &fd, &bytes, err));
    if (fd < 0) {
        return true;
    }
    unsigned char *raw = zarr_scratch(&c->scratch[0], 0, packed);
    bool ok = raw != NULL || no_memory(err);
    ok = ok &&
         (bytes >= packed || err_set(err, CODE_FILES, "it is cut off: %llu bytes have no room for its table of chunks",
                                     (unsigned long long)bytes));
    ok = ok && read_part(fd, raw, packed, a->index_first ? 0 : bytes - packed, err) &&
         zarr_chain_undo(&a->index, &c->scratch[0], raw, packed, (unsigned char *)place, size, err);
    close(fd);
    if (ok && a->index_big == zarr_host_is_little()) {
        pixels_swap(place, size / 8, 8);
    }
    return ok;
}

static const uint64_t *find_table(const ZarrChunks *c, int64_t number)
{
    for (int i = 0; i < c->n_table; i++) {
        if (c->table[i].number == number) {
            return c->table[i].place;
        }
    }
    return NULL;
}

static void drop_tables(ZarrChunks *c)
{
    for (int i = 0; i < c->n_table; i++) {
        free(c->table[i].place);
    }
    c->n_table = 0;
    c->tables = 0;
}

static bool add_table(ZarrChunks *c, const int64_t at[ZARR_DIMS], Err *err)
{
    int64_t file[ZARR_DIMS], number;
    char key[ZARR_KEY_BYTES];
    size_t bytes = table_entries(c->array) * 16;
    (void)place_in_file(c, at, file, &number);
    if (find_table(c, number) != NULL) {
        return true;
    }
    if (c->n_table == c->cap_table) {
        int cap = c->cap_table > 0 ? 2 * c->cap_table : 16;
        Table *more = realloc(c->table, (size_t)cap * sizeof *more);
        TRY(more != NULL || no_memory(err));
        c->table = more;
        c->cap_table = cap;
    }
    uint64_t *place = malloc(bytes);
    zarr_array_key(c->array, file, key);
    if (place == NULL || !load_table(c, key, place, err)) {
        free(place);
        return place == NULL ? no_memory(err) : err_prefix(err, "the shard %s", key);
    }
    c->table[c->n_table++] = (Table){number, place};
    c->tables += bytes;
    return true;
}

/* The tables of all shards that have chunks of a band. */
static bool add_tables(ZarrChunks *c, const int64_t band[ZARR_DIMS], Err *err)
{
    int64_t at[ZARR_DIMS];
    memcpy(at, band, sizeof at);
    for (at[c->along] = 0; at[c->along] < c->across; at[c->along] += chunks_in_file(c->array, c->along)) {
        TRY(add_table(c, at, err));
    }
    return true;
}

/* ---- one chunk ------------------------------------------------------------------------- */

/* Its bytes in the hand's scratch; *there is false where there are none. */
static bool load_chunk(ZarrChunks *c, ZarrScratch *hand, const int64_t at[ZARR_DIMS], size_t want, size_t *n,
                       bool *there, Err *err)
{
    enum { NONE = -1 };
    int64_t file[ZARR_DIMS], shard, place = place_in_file(c, at, file, &shard);
    char key[ZARR_KEY_BYTES];
    uint64_t size = 0, offset = 0;
    int fd = NONE;
    *there = false;
    const uint64_t *table = c->array->sharded ? find_table(c, shard) : NULL;
    if (table != NULL && table[2 * place] == UINT64_MAX && table[2 * place + 1] == UINT64_MAX) {
        return true;
    }
    zarr_array_key(c->array, file, key);
    TRY(open_file(c, key, &fd, &size, err));
    if (fd == NONE) {
        return true;
    }
    bool ok = true;
    if (table != NULL) {
        offset = table[2 * place];
        ok = (offset <= size && table[2 * place + 1] <= size - offset) ||
             err_set(err, CODE_FILES, "its shard's table leads behind the end of the file");
        size = table[2 * place + 1];
    }
    ok = ok && (size <= zarr_chain_bound(&c->array->chain, want) ||
                err_set(err, CODE_FILES, "it has %llu bytes, too many for %zu bytes of pixels",
                        (unsigned long long)size, want));
    unsigned char *raw = ok ? zarr_scratch(hand, 0, (size_t)size) : NULL;
    ok = ok && (raw != NULL || no_memory(err)) && read_part(fd, raw, (size_t)size, offset, err);
    close(fd);
    *n = (size_t)size;
    *there = ok;
    return ok;
}

static bool decode_chunk(ZarrChunks *c, ZarrScratch *hand, const int64_t at[ZARR_DIMS], void **to, Err *err)
{
    const ZarrArray *a = c->array;
    size_t want = c->numbers * (size_t)a->type->bytes, n;
    bool there;
    TRY(load_chunk(c, hand, at, want, &n, &there, err));
    if (!there) {
        return true;
    }
    *to = malloc(c->room);
    TRY(*to != NULL || no_memory(err));
    TRY(zarr_chain_undo(&a->chain, hand, hand->room[0], n, *to, want, err));
    if (a->big == zarr_host_is_little()) {
        pixels_swap(*to, c->numbers, (size_t)a->type->bytes);
    }
    return a->type->become == NULL || a->type->become(*to, c->numbers) ||
           err_set(err, CODE_FILES, "it has numbers that %s cannot hold", elem_name(a->type->elem));
}

static bool name_chunk(const ZarrChunks *c, const int64_t at[ZARR_DIMS], Err *err)
{
    char text[ZARR_KEY_BYTES];
    int n = 0;
    for (int i = 0; i < c->array->dims; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld", i > 0 ? "," : "", (long long)at[i]);
    }
    return err_prefix(err, "chunk %s", text);
}

/* ---- bands ----------------------------------------------------------------------------- */

typedef struct Decoding {
    ZarrChunks *chunks;
    const int64_t (*at)[ZARR_DIMS]; /* of each band that is not there */
    Band *const *band;
    int64_t units; /* chunks of all of them */
    int pieces;
    Err *err; /* by piece */
} Decoding;

static void decode_piece(void *context, int piece)
{
    const Decoding *d = context;
    ZarrChunks *c = d->chunks;
    bool ok = true;
    for (int64_t unit = piece; ok && unit < d->units; unit += d->pieces) {
        int64_t k = unit / c->across, at[ZARR_DIMS];
        memcpy(at, d->at[k], sizeof at);
        at[c->along] = unit % c->across;
        ok = decode_chunk(c, &c->scratch[piece], at, &d->band[k]->chunk[unit % c->across], &d->err[piece]) ||
             name_chunk(c, at, &d->err[piece]);
    }
}

static bool decode(ZarrChunks *c, const int64_t (*at)[ZARR_DIMS], Band *const *band, int n, Err *err)
{
    Err errors[HANDS] = {{0}};
    Decoding d = {.chunks = c, .at = at, .band = band, .units = n * c->across, .err = errors};
    d.pieces = crew_pieces(c->crew, (size_t)d.units * c->room * SLOWER);
    d.pieces = d.pieces < HANDS ? d.pieces : HANDS;
    d.pieces = d.pieces < d.units ? d.pieces : (int)d.units;
    crew_run(c->crew, decode_piece, &d, d.pieces);
    for (int i = 0; i < d.pieces; i++) {
        if (errors[i].code != CODE_OK) {
            *err = errors[i];
            return false;
        }
    }
    return true;
}

static void drop_band(ZarrChunks *c, int k)
{
    Band *band = &c->band[k];
    for (int64_t i = 0; i < c->across; i++) {
        free(band->chunk[i]);
    }
    free(band->chunk);
    c->kept -= band->bytes;
    *band = c->band[--c->n_band];
}

/* Room for `bytes` more: bands go that were asked for longest ago, but none that this call has asked for. */
static void make_room(ZarrChunks *c, size_t bytes)
{
    while (c->kept + bytes > c->keep || c->n_band >= BANDS_KEPT) {
        int oldest = -1;
        for (int i = 0; i < c->n_band; i++) {
            bool older = c->band[i].used < c->calls && (oldest < 0 || c->band[i].used < c->band[oldest].used);
            oldest = older ? i : oldest;
        }
        if (oldest < 0) {
            return;
        }
        drop_band(c, oldest);
    }
}

static int find_band(const ZarrChunks *c, int64_t number)
{
    for (int i = 0; i < c->n_band; i++) {
        if (c->band[i].number == number) {
            return i;
        }
    }
    return -1;
}

/* A band without chunks; what it will have is counted as if no chunk was missing. */
static bool add_band(ZarrChunks *c, int64_t number, Err *err)
{
    size_t bytes = (size_t)c->across * c->room;
    make_room(c, bytes);
    if (c->n_band == c->cap_band) {
        int cap = c->cap_band > 0 ? 2 * c->cap_band : 16;
        Band *more = realloc(c->band, (size_t)cap * sizeof *more);
        TRY(more != NULL || no_memory(err));
        c->band = more;
        c->cap_band = cap;
    }
    void **chunk = calloc((size_t)c->across, sizeof *chunk);
    TRY(chunk != NULL || no_memory(err));
    c->band[c->n_band++] = (Band){number, c->calls, chunk, bytes};
    c->kept += bytes;
    return true;
}

static int64_t number_of(const ZarrChunks *c, const int64_t at[ZARR_DIMS])
{
    int64_t number = 0;
    for (int i = 0; i < c->array->dims; i++) {
        number = i == c->along ? number : number * c->count[i] + at[i];
    }
    return number;
}

int zarr_chunks_most(const ZarrChunks *chunks)
{
    size_t n = GROUP_MOST / ((size_t)chunks->across * chunks->room);
    return n < 1 ? 1 : n > ZARR_BANDS ? ZARR_BANDS : (int)n;
}

/* A band that failed is forgotten, with all others of its call: a chunk that is NULL would be one that is missing. */
static void drop_call(ZarrChunks *c)
{
    for (int i = c->n_band - 1; i >= 0; i--) {
        if (c->band[i].used == c->calls) {
            drop_band(c, i);
        }
    }
}

static bool get_bands(ZarrChunks *c, const int64_t at[ZARR_DIMS], int by, int n, Err *err)
{
    int64_t fresh_at[ZARR_BANDS][ZARR_DIMS], number[ZARR_BANDS];
    Band *fresh[ZARR_BANDS];
    int missing = 0;
    for (int k = 0; k < n; k++) {
        int64_t place[ZARR_DIMS];
        memcpy(place, at, sizeof place);
        place[by] += k;
        int64_t own = number_of(c, place);
        int found = find_band(c, own);
        if (found >= 0) {
            c->band[found].used = c->calls;
            continue;
        }
        memcpy(fresh_at[missing], place, sizeof place);
        number[missing++] = own;
    }
    if (c->tables > TABLES_MOST) {
        drop_tables(c);
    }
    for (int k = 0; k < missing; k++) {
        TRY(!c->array->sharded || add_tables(c, fresh_at[k], err));
        TRY(add_band(c, number[k], err));
    }
    for (int k = 0; k < missing; k++) { /* the list stays where it is from here on */
        fresh[k] = &c->band[find_band(c, number[k])];
    }
    return missing == 0 || decode(c, (const int64_t(*)[ZARR_DIMS])fresh_at, fresh, missing, err);
}

bool zarr_chunks_get(ZarrChunks *chunks, const int64_t at[ZARR_DIMS], int by, int n, void **to, Err *err)
{
    chunks->calls++;
    if (!get_bands(chunks, at, by, n, err)) {
        drop_call(chunks);
        return false;
    }
    for (int k = 0; k < n; k++) {
        int64_t place[ZARR_DIMS];
        memcpy(place, at, sizeof place);
        place[by] += k;
        const Band *band = &chunks->band[find_band(chunks, number_of(chunks, place))];
        memcpy(to + (size_t)k * (size_t)chunks->across, band->chunk, (size_t)chunks->across * sizeof *to);
    }
    return true;
}

/* ---- begin and end --------------------------------------------------------------------- */

bool zarr_chunks_new(int folder, const ZarrArray *array, int along, size_t keep, ZarrChunks **out, Err *err)
{
    ZarrChunks *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL) {
        close(folder);
        return no_memory(err);
    }
    *c = (ZarrChunks){.folder = folder, .array = array, .along = along, .keep = keep};
    size_t wide = elem_size(array->type->elem) > (size_t)array->type->bytes ? elem_size(array->type->elem)
                                                                            : (size_t)array->type->bytes;
    double chunks = 1;
    for (int i = 0; i < array->dims; i++) {
        c->count[i] = (array->shape[i] + array->chunk[i] - 1) / array->chunk[i];
        chunks *= (double)c->count[i];
    }
    c->across = c->count[along];
    c->numbers = zarr_array_numbers(array);
    c->room = c->numbers * wide;
    if (chunks > 0x1p52) {
        return err_set(err, CODE_FILES, "it has %.3g chunks, which nobody can count", chunks);
    }
    return true;
}

void zarr_chunks_free(ZarrChunks *chunks)
{
    if (chunks == NULL) {
        return;
    }
    while (chunks->n_band > 0) {
        drop_band(chunks, chunks->n_band - 1);
    }
    drop_tables(chunks);
    for (int i = 0; i < HANDS; i++) {
        zarr_scratch_free(&chunks->scratch[i]);
    }
    close(chunks->folder);
    free(chunks->band);
    free(chunks->table);
    free(chunks);
}

void zarr_chunks_use_crew(ZarrChunks *chunks, Crew *crew)
{
    chunks->crew = crew;
}
