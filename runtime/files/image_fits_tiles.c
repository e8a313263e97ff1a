/*
 * image_fits_tiles: how long a packed tile is stands in the table, and cfitsio makes room for as much, whatever the
 * file has.  Where the table has no such column, or fewer rows than there are tiles, it reads beside the table.
 * What H-compress and PLIO have packed says itself how many pixels it is, or where it ends, and cfitsio believes that:
 * it would read or write behind the room that it made for the tile.
 */
#include "image_fits_tiles.h"

#include "image_fits.h"
#include "image_fits_streams.h"

#include <stdlib.h>
#include <string.h>

enum { AXES = 6 };

typedef enum Method {
    METHOD_BOUNDED,
    METHOD_HCOMPRESS,
    METHOD_PLIO
} Method; /* bounded: what cfitsio unpacks with care */

typedef struct Tiling {
    int axes;
    int64_t extent[AXES], tile[AXES];
} Tiling;

static int64_t header_whole(fitsfile *file, const char *key, int64_t missing)
{
    LONGLONG value;
    int status = 0;
    cfitsio.read_key(file, TLONGLONG, key, &value, NULL, &status);
    return status == 0 ? (int64_t)value : missing;
}

/* Tiles are rows if nothing else is said. */
static bool read_tiling(fitsfile *file, Tiling *t)
{
    char key[FLEN_KEYWORD];
    t->axes = (int)header_whole(file, "ZNAXIS", 0);
    bool ok = t->axes > 0 && t->axes <= AXES;
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
static double tile_pixels(const Tiling *t, int64_t number)
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

static double tiles_of(const Tiling *t)
{
    double tiles = 1;
    for (int i = 0; i < t->axes; i++) {
        tiles *= (double)((t->extent[i] + t->tile[i] - 1) / t->tile[i]);
    }
    return tiles;
}

static Method method_of(fitsfile *file)
{
    char method[FLEN_VALUE] = "";
    int status = 0;
    cfitsio.read_key(file, TSTRING, "ZCMPTYPE", method, NULL, &status);
    return strncmp(method, "HCOMPRESS", 9) == 0 ? METHOD_HCOMPRESS
           : strncmp(method, "PLIO", 4) == 0    ? METHOD_PLIO
                                                : METHOD_BOUNDED;
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

/* n bytes at a place of the file; a tile of none is in another column, packed in another way. */
static bool is_whole(const FitsBytes *bytes, uint64_t at, size_t n, Method method, double pixels)
{
    uint8_t *stream = malloc(n + 1);
    bool ok = stream != NULL && read_stream(bytes, at, n, stream) &&
              (n == 0 ||
               (method == METHOD_PLIO ? fits_plio_is_whole(stream, n) : fits_hcompress_is_whole(stream, n, pixels)));
    free(stream);
    return ok;
}

bool fits_check_tiles(fitsfile *file, const FitsBytes *bytes, Err *err)
{
    char name[] = "COMPRESSED_DATA";
    LONGLONG head, data, end, length, offset;
    int status = 0, column = 0;
    Tiling t = {.axes = 0};
    const Method method = method_of(file);
    const int64_t unit = method == METHOD_PLIO ? 2 : 1; /* bytes */
    cfitsio.get_hduaddrll(file, &head, &data, &end, &status);
    cfitsio.get_colnum(file, CASEINSEN, name, &column, &status);
    int64_t rows = header_whole(file, "NAXIS2", 0), row_bytes = header_whole(file, "NAXIS1", 0);
    int64_t heap = header_whole(file, "THEAP", row_bytes * rows);
    bool walk = method != METHOD_BOUNDED;
    bool ok = status == 0 && heap >= 0 && read_tiling(file, &t) && tiles_of(&t) <= (double)rows &&
              (!walk || letter_of(file, column) == (unit == 2 ? 'I' : 'B'));
    for (int64_t row = 0; ok && row < rows; row++) {
        cfitsio.read_descriptll(file, column, row + 1, &length, &offset, &status);
        ok = status == 0 && offset >= 0 && length >= 0 && (uint64_t)length <= bytes->size &&
             (!walk || is_whole(bytes, (uint64_t)data + (uint64_t)heap + (uint64_t)offset, (size_t)(length * unit),
                                method, tile_pixels(&t, row)));
    }
    cfitsio.clear_errmsg();
    return ok || err_set(err, CODE_FILES, "it is damaged: its compressed tiles are not what its header says");
}
