/* image_tiff_decode: libtiff over a descriptor that others read from, too. */
#include "image_tiff_decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what libtiff asks for --------------------------------------------------------------- */

static int on_error(TIFF *tif, void *user, const char *module, const char *format, va_list ap)
{
    TiffDecoder *d = user;
    (void)tif;
    (void)module;
    if (d->message[0] == '\0') {
        vsnprintf(d->message, sizeof d->message, format, ap);
        size_t n = strlen(d->message);
        while (n > 0 && (d->message[n - 1] == '.' || d->message[n - 1] == '\n')) {
            d->message[--n] = '\0';
        }
    }
    return 1;
}

static int on_warning(TIFF *tif, void *user, const char *module, const char *format, va_list ap)
{
    (void)tif;
    (void)user;
    (void)module;
    (void)format;
    (void)ap;
    return 1;
}

static tmsize_t on_read(thandle_t user, void *to, tmsize_t size)
{
    TiffDecoder *d = user;
    size_t got;
    bool ok = image_pread(d->source->fd, to, (size_t)size, d->position, &got);
    d->position += got;
    return ok || errno == 0 ? (tmsize_t)got : -1;
}

static tmsize_t on_write(thandle_t user, void *from, tmsize_t size)
{
    (void)user;
    (void)from;
    (void)size;
    return -1;
}

static toff_t on_seek(thandle_t user, toff_t offset, int whence)
{
    TiffDecoder *d = user;
    const uint64_t from[] = {[SEEK_SET] = 0, [SEEK_CUR] = d->position, [SEEK_END] = d->source->size};
    d->position = from[whence] + offset;
    return d->position;
}

static int on_close(thandle_t user)
{
    (void)user; /* the descriptor is the file's */
    return 0;
}

static toff_t on_size(thandle_t user)
{
    const TiffDecoder *d = user;
    return d->source->size;
}

static bool open_libtiff(TiffDecoder *d, Err *err)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)BAND_MAX);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, d);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, d);
    d->message[0] = '\0';
    /* m: no memory map, which would kill the process if the file shrank; c: strips as they are */
    d->tif = TIFFClientOpenExt("image", "rmc", d, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    if (d->tif == NULL) {
        return err_set(err, CODE_FILES, "it is damaged (%s)", d->message);
    }
    return true;
}

/* ---- the page ---------------------------------------------------------------------------- */

static bool see_page(TiffDecoder *d, const TiffPage *page, Err *err)
{
    const TiffLayout *now = page->layout;
    d->message[0] = '\0';
    if (!TIFFSetSubDirectory(d->tif, page->at)) {
        return err_set(err, CODE_FILES, "its directory is damaged (%s)", d->message);
    }
    if (now->photometric == PHOTOMETRIC_LUMA) {
        TIFFSetField(d->tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    }
    uint64_t row = now->tiled ? TIFFTileRowSize64(d->tif) : TIFFScanlineSize64(d->tif);
    uint64_t samples = now->planar ? 1 : now->samples;
    uint64_t expected = (now->tile_x * samples * now->bits + 7) / 8;
    if (row != expected || (TIFFIsTiled(d->tif) != 0) != now->tiled) {
        return err_set(err, CODE_FILES, "its directory is damaged (rows of %llu bytes, not %llu)",
                       (unsigned long long)row, (unsigned long long)expected);
    }
    return true;
}

bool tiff_decoder_seek(TiffDecoder *d, const TiffPage *page, Err *err)
{
    d->source = page->source;
    if (d->tif != NULL && d->at == page->at) {
        return true;
    }
    d->at = 0;
    TRY((d->tif != NULL || open_libtiff(d, err)) && see_page(d, page, err));
    d->at = page->at;
    return true;
}

void tiff_decoder_close(TiffDecoder *d)
{
    if (d->tif != NULL) {
        TIFFClose(d->tif);
    }
    free(d->tile);
}

/* ---- decoding ---------------------------------------------------------------------------- */

/* Fax codes that are none are left out by libtiff, which complains and goes on. */
static bool decoded(const TiffDecoder *d, tmsize_t got, uint64_t size)
{
    return got == (tmsize_t)size && d->message[0] == '\0';
}

static bool decode_error(const TiffDecoder *d, const char *what, uint64_t number, Err *err)
{
    return err_set(err, CODE_FILES, "%s %llu is damaged or cut off (%s)", what, (unsigned long long)number,
                   d->message[0] == '\0' ? "it ends too early" : d->message);
}

static bool is_absent(const TiffPage *page, uint64_t band)
{
    return page->absent != NULL && page->absent[band] != 0;
}

/* Copies what is filled behind itself until all is; samples of less than a byte are 0 where they are absent. */
static void fill(const TiffPage *page, uint8_t *to, uint64_t size)
{
    uint64_t done = page->layout->bits >= 8 ? page->layout->bits / 8 : 1;
    memcpy(to, page->nothing, (size_t)done);
    for (uint64_t more; done < size; done += more) {
        more = size - done < done ? size - done : done;
        memcpy(to + done, to, (size_t)more);
    }
}

static bool decode_strip(TiffDecoder *d, const TiffPage *page, uint64_t strip, uint8_t *to, Err *err)
{
    const TiffLayout *now = page->layout;
    uint64_t first = strip % now->bands * now->band_rows, left = now->y - first;
    uint64_t rows = left < now->band_rows ? left : now->band_rows, size = rows * tiff_row_bytes(now);
    if (is_absent(page, strip)) {
        fill(page, to, size);
        return true;
    }
    d->message[0] = '\0';
    tmsize_t got = TIFFReadEncodedStrip(d->tif, (uint32_t)strip, to, (tmsize_t)size);
    return decoded(d, got, size) || decode_error(d, "strip", strip, err);
}

bool tiff_need(uint8_t **memory, uint64_t *has, uint64_t size, Err *err)
{
    if (*has < size) {
        free(*memory);
        *memory = malloc((size_t)size);
        *has = *memory == NULL ? 0 : size;
    }
    return *memory != NULL || err_set(err, CODE_FILES, "out of memory");
}

/* Tiles of a row side by side; bands of tiles are as wide as all tiles together. */
static bool decode_tile(TiffDecoder *d, const TiffPage *page, uint64_t band, uint64_t column, uint8_t *to, Err *err)
{
    const TiffLayout *now = page->layout;
    uint64_t columns = tiff_tiles_across(now), tile = band * columns + column;
    uint64_t row = TIFFTileRowSize64(d->tif), size = row * now->band_rows;
    TRY(tiff_need(&d->tile, &d->tile_bytes, size, err));
    d->message[0] = '\0';
    if (is_absent(page, tile)) {
        fill(page, d->tile, size);
    } else if (!decoded(d, TIFFReadEncodedTile(d->tif, (uint32_t)tile, d->tile, (tmsize_t)size), size)) {
        return decode_error(d, "tile", tile, err);
    }
    for (uint64_t y = 0; y < now->band_rows; y++) {
        memcpy(to + (y * columns + column) * row, d->tile + y * row, (size_t)row);
    }
    return true;
}

uint64_t tiff_tiles_across(const TiffLayout *layout)
{
    return (layout->x + layout->tile_x - 1) / layout->tile_x;
}

bool tiff_decode(TiffDecoder *d, const TiffPage *page, uint64_t band, uint64_t column, uint8_t *to, Err *err)
{
    TRY(tiff_decoder_seek(d, page, err));
    return page->layout->tiled ? decode_tile(d, page, band, column, to, err) : decode_strip(d, page, band, to, err);
}

bool tiff_decode_row(TiffDecoder *d, const TiffPage *page, uint64_t row, uint64_t sample, uint8_t *to, Err *err)
{
    const TiffLayout *now = page->layout;
    uint64_t strip = sample * now->bands + row / now->band_rows;
    TRY(tiff_decoder_seek(d, page, err));
    if (is_absent(page, strip)) {
        fill(page, to, tiff_row_bytes(now));
        return true;
    }
    d->message[0] = '\0';
    return (TIFFReadScanline(d->tif, to, (uint32_t)row, (uint16_t)sample) == 1 && d->message[0] == '\0') ||
           decode_error(d, "strip", strip, err);
}
