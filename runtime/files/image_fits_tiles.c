/*
 * image_fits_tiles: how long a packed tile is stands in the table, and cfitsio makes room for as much, whatever the
 * file has.  Where the table has no such column, or fewer rows than there are tiles, it reads beside the table.
 * What H-compress has packed says itself how many pixels it is, and cfitsio believes that: it would write them
 * behind the room that it made for the tile.
 */
#include "image_fits_tiles.h"

#include "image_fits.h"

#include <stdlib.h>
#include <string.h>

enum { TILE_HEAD = 10, AXES = 6 }; /* of a packed tile: two letters, and its extents with high bytes first */

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

static bool read_head(const FitsBytes *bytes, uint64_t at, unsigned char head[TILE_HEAD])
{
    size_t got;
    if (at > bytes->size || bytes->size - at < TILE_HEAD) {
        return false;
    }
    if (bytes->fd < 0) {
        memcpy(head, bytes->at + at, TILE_HEAD);
        return true;
    }
    return image_pread(bytes->fd, head, TILE_HEAD, at, &got);
}

static double extent_at(const unsigned char *at)
{
    return (double)at[0] * 16777216 + at[1] * 65536 + at[2] * 256 + at[3];
}

static bool is_within(double pixels, double most)
{
    return pixels > 0 && pixels <= most;
}

bool fits_check_tiles(fitsfile *file, const FitsBytes *bytes, Err *err)
{
    char method[FLEN_VALUE] = "", name[] = "COMPRESSED_DATA";
    LONGLONG head, data, end, length, offset;
    int status = 0, column = 0;
    Tiling t = {.axes = 0};
    cfitsio.read_key(file, TSTRING, "ZCMPTYPE", method, NULL, &status);
    cfitsio.get_hduaddrll(file, &head, &data, &end, &status);
    cfitsio.get_colnum(file, CASEINSEN, name, &column, &status);
    bool claims = strncmp(method, "HCOMPRESS", 9) == 0;
    int64_t rows = header_whole(file, "NAXIS2", 0), row_bytes = header_whole(file, "NAXIS1", 0);
    int64_t heap = header_whole(file, "THEAP", row_bytes * rows);
    bool ok = status == 0 && heap >= 0 && read_tiling(file, &t) && tiles_of(&t) <= (double)rows;
    for (int64_t row = 0; ok && row < rows; row++) {
        unsigned char packed[TILE_HEAD];
        cfitsio.read_descriptll(file, column, row + 1, &length, &offset, &status);
        ok = status == 0 && offset >= 0 && length >= 0 && (uint64_t)length <= bytes->size;
        if (ok && claims && length > 0) { /* else the tile is in another column, packed in another way */
            ok = length >= TILE_HEAD && read_head(bytes, (uint64_t)data + (uint64_t)heap + (uint64_t)offset, packed) &&
                 is_within(extent_at(packed + 2) * extent_at(packed + 6), tile_pixels(&t, row));
        }
    }
    cfitsio.clear_errmsg();
    return ok || err_set(err, CODE_FILES, "it is damaged: its compressed tiles are not what its header says");
}
