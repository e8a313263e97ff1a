/*
 * image_fits_tiles: how long a packed tile is stands in the table, and cfitsio makes room for as much, whatever the
 * file has.  Where the table has no such column, or fewer rows than there are tiles, it reads beside the table.
 * What H-compress, Rice and PLIO have packed says itself how many pixels it is, or where it ends, and cfitsio believes
 * that: it would read or write behind the room that it made for the tile.  Where a gzip stream is cut off, it waits.
 *
 * Rounded floats have a whole number for NaN, which cfitsio must be asked for.  Asked so, it takes infinite floats for NaN
 * and subnormal ones for 0 in the tiles beside them that are not rounded, so it must not be asked there.
 */
#include "image_fits_tiles.h"

#include "image_fits.h"
#include "image_fits_streams.h"

#include <stdlib.h>
#include <string.h>

/* A packed tile.  block, bytes: Rice's pixels of a block, and bytes of a pixel. */
typedef struct Tile {
    const uint8_t *at;
    size_t n; /* bytes */
    double pixels;
    int64_t block;
    int bytes;
} Tile;

typedef struct Method {
    const char *name; /* what ZCMPTYPE begins with */
    char letter;      /* type of the column */
    size_t unit;      /* bytes of a number in it */
    bool (*is_whole)(const Tile *tile);
} Method;

static int64_t header_whole(fitsfile *file, const char *key, int64_t missing)
{
    LONGLONG value;
    int status = 0;
    cfitsio.read_key(file, TLONGLONG, key, &value, NULL, &status);
    return status == 0 ? (int64_t)value : missing;
}

/* Tiles are rows if nothing else is said. */
static bool read_tiling(fitsfile *file, FitsTiles *t)
{
    char key[FLEN_KEYWORD];
    t->axes = (int)header_whole(file, "ZNAXIS", 0);
    bool ok = t->axes > 0 && t->axes <= FITS_TILE_AXES;
    for (int i = 0; ok && i < t->axes; i++) {
        snprintf(key, sizeof key, "ZNAXIS%d", i + 1);
        t->extent[i] = header_whole(file, key, 0);
        snprintf(key, sizeof key, "ZTILE%d", i + 1);
        t->tile[i] = header_whole(file, key, i == 0 ? t->extent[0] : 1);
        ok = t->extent[i] > 0 && t->tile[i] > 0;
    }
    return ok;
}

/* Pixels of tile `number`, from 0; those at the ends are smaller. */
static double tile_pixels(const FitsTiles *t, int64_t number)
{
    double pixels = 1;
    for (int i = 0; i < t->axes; i++) {
        int64_t along = (t->extent[i] + t->tile[i] - 1) / t->tile[i], at = number % along;
        int64_t left = t->extent[i] - at * t->tile[i];
        pixels *= (double)(left < t->tile[i] ? left : t->tile[i]);
        number /= along;
    }
    return pixels;
}

static double tiles_of(const FitsTiles *t)
{
    double tiles = 1;
    for (int i = 0; i < t->axes; i++) {
        tiles *= (double)((t->extent[i] + t->tile[i] - 1) / t->tile[i]);
    }
    return tiles;
}

static bool hcompress_is_whole(const Tile *t)
{
    return fits_hcompress_is_whole(t->at, t->n, t->pixels);
}

static bool plio_is_whole(const Tile *t)
{
    return fits_plio_is_whole(t->at, t->n);
}

static bool rice_is_whole(const Tile *t)
{
    return fits_rice_is_whole(t->at, t->n, t->pixels, t->block, t->bytes);
}

static bool gzip_is_whole(const Tile *t)
{
    return fits_gzip_is_whole(t->at, t->n, t->pixels);
}

static const Method METHODS[] = {
    {"GZIP", 'B', 1, gzip_is_whole},
    {"HCOMPRESS", 'B', 1, hcompress_is_whole},
    {"PLIO", 'I', 2, plio_is_whole},
    {"RICE", 'B', 1, rice_is_whole},
};

/* NULL: another one, which cfitsio refuses. */
static const Method *method_of(fitsfile *file)
{
    char name[FLEN_VALUE] = "";
    int status = 0;
    cfitsio.read_key(file, TSTRING, "ZCMPTYPE", name, NULL, &status);
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        if (strncmp(name, METHODS[i].name, strlen(METHODS[i].name)) == 0) {
            return &METHODS[i];
        }
    }
    return NULL;
}

/* Files from before ZVAL2 had this meaning name it NOISEBIT, which not every cfitsio knows: 0, where that matters. */
static int rice_bytes(fitsfile *file)
{
    char name[FLEN_VALUE] = "";
    int status = 0;
    int64_t bytes = header_whole(file, "ZVAL2", 4);
    bool small = bytes == 1 || bytes == 2;
    cfitsio.read_key(file, TSTRING, "ZNAME2", name, NULL, &status);
    return !small ? 4 : strncmp(name, "NOISEBIT", 8) == 0 ? 0 : (int)bytes;
}

/* The type of a column of arrays, as B of "1PB(312)"; 0: of another column. */
static char letter_of(fitsfile *file, int column)
{
    char key[FLEN_KEYWORD], form[FLEN_VALUE] = "";
    int status = 0;
    snprintf(key, sizeof key, "TFORM%d", column);
    cfitsio.read_key(file, TSTRING, key, form, NULL, &status);
    const char *at = form + strspn(form, "0123456789 ");
    return *at == 'P' || *at == 'Q' ? at[1] : '\0';
}

static bool read_stream(const FitsBytes *bytes, uint64_t at, size_t n, uint8_t *to)
{
    size_t got;
    if (at > bytes->size || bytes->size - at < n) {
        return false;
    }
    if (bytes->fd < 0) {
        memcpy(to, bytes->at + at, n);
        return true;
    }
    return image_pread(bytes->fd, to, n, at, &got);
}

/* At a place of the file; a tile of no bytes is in another column, packed in another way. */
static bool is_whole(const FitsBytes *bytes, uint64_t at, const Method *method, Tile tile)
{
    uint8_t *stream = malloc(tile.n + 1);
    tile.at = stream;
    bool ok = stream != NULL && read_stream(bytes, at, tile.n, stream) && (tile.n == 0 || method->is_whole(&tile));
    free(stream);
    return ok;
}

/* The tiles of one column. */
static bool check_column(fitsfile *file, const FitsBytes *bytes, const FitsTiles *t, int column, const Method *method)
{
    LONGLONG head, data, end, length, offset;
    int status = 0;
    cfitsio.get_hduaddrll(file, &head, &data, &end, &status);
    int64_t rows = header_whole(file, "NAXIS2", 0), row_bytes = header_whole(file, "NAXIS1", 0);
    int64_t heap = header_whole(file, "THEAP", row_bytes * rows);
    Tile tile = {.block = header_whole(file, "ZVAL1", 0), .bytes = rice_bytes(file)};
    bool ok = status == 0 && heap >= 0 && tiles_of(t) <= (double)rows && tile.bytes > 0 &&
              (method == NULL || letter_of(file, column) == method->letter);
    for (int64_t row = 0; ok && row < rows; row++) {
        cfitsio.read_descriptll(file, column, row + 1, &length, &offset, &status);
        ok = status == 0 && offset >= 0 && length >= 0 && (uint64_t)length <= bytes->size;
        if (ok && method != NULL) {
            tile.n = (size_t)length * method->unit;
            tile.pixels = tile_pixels(t, row);
            ok = is_whole(bytes, (uint64_t)data + (uint64_t)heap + (uint64_t)offset, method, tile);
        }
    }
    return ok;
}

/* A tile that has nothing in the column of packed ones is in another one, as it was. */
static bool find_exact(fitsfile *file, FitsTiles *t, int column, Err *err)
{
    size_t tiles = (size_t)tiles_of(t);
    LONGLONG length, offset;
    int status = 0;
    bool any = false;
    t->exact = calloc(tiles, sizeof *t->exact);
    if (t->exact == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    for (size_t i = 0; i < tiles && status == 0; i++) {
        cfitsio.read_descriptll(file, column, (LONGLONG)i + 1, &length, &offset, &status);
        t->exact[i] = length == 0;
        any = any || length == 0;
    }
    if (!any) {
        fits_tiles_free(t);
    }
    return true;
}

bool fits_check_tiles(fitsfile *file, const FitsBytes *bytes, FitsTiles *tiles, Err *err)
{
    char packed[] = "COMPRESSED_DATA", exact[] = "GZIP_COMPRESSED_DATA"; /* tiles of floats that may not be rounded */
    int status = 0, column = 0, exact_column = 0;
    cfitsio.get_colnum(file, CASEINSEN, packed, &column, &status);
    bool ok = status == 0 && read_tiling(file, tiles) && check_column(file, bytes, tiles, column, method_of(file));
    cfitsio.get_colnum(file, CASEINSEN, exact, &exact_column, &status);
    ok = ok && (status != 0 || check_column(file, bytes, tiles, exact_column, &METHODS[0]));
    cfitsio.clear_errmsg();
    return ok ? find_exact(file, tiles, column, err)
              : err_set(err, CODE_FILES, "it is damaged: its compressed tiles are not what its header says");
}

void fits_tiles_free(FitsTiles *tiles)
{
    free(tiles->exact);
    tiles->exact = NULL;
}

int64_t fits_tile_run(const FitsTiles *tiles, const LONGLONG *first, bool *exact)
{
    int64_t number = 0, along = 1;
    for (int i = 0; i < tiles->axes; i++) {
        number += (first[i] - 1) / tiles->tile[i] * along;
        along *= (tiles->extent[i] + tiles->tile[i] - 1) / tiles->tile[i];
    }
    int64_t left = tiles->tile[0] - (first[0] - 1) % tiles->tile[0], row = tiles->extent[0] - (first[0] - 1);
    *exact = tiles->exact[number];
    return left < row ? left : row;
}
