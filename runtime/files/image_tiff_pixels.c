/*
 * image_tiff_pixels: the pixels of the pages of a TIFF file.
 *
 * Uncompressed pixels that lie in one piece are read where they lie, which also covers ImageJ's stacks above 4 GB (one
 * directory, all planes behind it).  Everything else is decoded (image_tiff_decode.h), a few strips or a row of tiles (bands) at
 * a time, by a crew if there is one; bands are kept as the file packs them, so that all samples of a pixel share one.
 * Strips too large to be held are decoded row by row, from their beginning on.
 */
#include "image_tiff_state.h"

#include <stdlib.h>

static const uint64_t GROUP_MAX = (uint64_t)32 << 20; /* bytes of bands that are decoded at once, if not of one alone */
static const uint64_t CACHE_MAX = (uint64_t)256 << 20; /* bytes of bands kept for other samples */
static const uint64_t SCAN_MIN = (uint64_t)64 << 20;   /* bytes of a strip decoded row by row */
static const uint64_t CHUNK = (uint64_t)8 << 20;       /* bytes read at once and then unpacked */
enum { MOST_PIECES = 8 };                              /* of one job for a crew */
enum { SLOWER = 4 };                                   /* decoding takes so many times as long as copying, or longer */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- the current page ------------------------------------------------------------------- */

void tiff_drop_bands(TiffFile *file)
{
    for (uint64_t i = file->low; file->held > 0 && i <= file->high; i++) {
        free(file->band[i]);
        file->band[i] = NULL;
    }
    file->held = 0;
}

static bool make_band_table(TiffFile *file, Err *err)
{
    tiff_drop_bands(file);
    free(file->band);
    file->scanned = 0;
    file->bands = file->now.bands * (file->now.planar ? file->now.samples : 1);
    file->band = calloc((size_t)file->bands, sizeof *file->band);
    return file->band != NULL || err_set(err, CODE_FILES, "out of memory");
}

bool tiff_has_palette(const TiffFile *file, const TiffLayout *layout)
{
    return layout->photometric == PHOTOMETRIC_INDEX && !file->stored && layout->bits <= 8;
}

static void set_form(TiffFile *file)
{
    const TiffLayout *now = &file->now;
    bool palette = tiff_has_palette(file, now);
    file->form = (PixelForm){
        .bits = (int)now->bits,
        .samples = now->planar ? 1 : (int)now->samples,
        .widen = now->format == FORMAT_INT && now->bits == 8,
        .half = now->format == FORMAT_FLOAT && now->bits == 16,
        .narrow = now->format != FORMAT_FLOAT && now->bits == 64,
        .invert = tiff_white(now, file->stored) == WHITE_TURNED,
        .map = palette ? file->map : NULL,
        .offset = file->offset,
        .curve = file->curve,
        .elem = palette ? ELEM_U8 : now->elem, /* before the calibration */
    };
}

static TiffPage current_page(const TiffFile *file)
{
    return (TiffPage){&file->source, file->ifd[file->current], &file->now, file->absent, file->nothing};
}

bool tiff_load_page(TiffFile *file, int64_t page, Err *err)
{
    TiffLayout *now = &file->now;
    bool gray;
    double present;
    file->current = -1;
    free(file->raw);
    free(file->absent);
    file->raw = NULL;
    file->absent = NULL;
    TRY(file->ifd[page] != 0 || err_set(err, CODE_FILES, "it has no such level of detail"));
    TRY(tiff_directory_read(&file->source, file->ifd[page], &file->dir, err));
    TRY(tiff_layout_read(&file->source, &file->dir, now, err));
    TRY(tiff_layout_check(&file->source, &file->dir, now, err));
    if (!tiff_layout_same(now, &file->shape) || now->alphas != file->shape.alphas) {
        return err_set(err, CODE_FILES, "its pixels are not like those of the first page");
    }
    TRY(tiff_layout_absent(&file->source, &file->dir, now, &file->absent, &present, err));
    TRY(file->absent == NULL || tiff_layout_nothing(&file->source, &file->dir, now, file->nothing, err));
    TRY(file->absent != NULL || tiff_layout_raw(&file->source, &file->dir, now, &file->raw, err));
    if (tiff_has_palette(file, now)) {
        TRY(tiff_palette(&file->source, &file->dir, now, file->map, &gray, err));
    }
    TRY(make_band_table(file, err));
    set_form(file);
    file->current = page;
    const TiffPage at = current_page(file);
    return file->raw != NULL || tiff_decoder_seek(&file->decoder[0], &at, err);
}

static bool need_scratch(TiffFile *file, uint64_t size, Err *err)
{
    file->read_n = 0;
    return tiff_need(&file->scratch, &file->scratch_size, size, err);
}

/* ---- decoding -------------------------------------------------------------------------- */

static uint64_t band_row_bytes(const TiffFile *file)
{
    const TiffLayout *now = &file->now;
    uint64_t samples = now->planar ? 1 : now->samples;
    return now->tiled ? (now->tile_x * samples * now->bits + 7) / 8 * tiff_tiles_across(now) : tiff_row_bytes(now);
}

/*
 * Memory for a band of the sample, which bands [from, to] are wanted of.  Where a band serves one sample only, that of
 * one that is no longer wanted is used again; else bands stay for the other samples, as many as the cache may hold.
 */
static uint8_t *take_room(TiffFile *file, uint64_t from, uint64_t to, uint64_t size)
{
    bool one = file->now.planar || file->now.samples == 1;
    bool full = one || (file->held + 1) * size > CACHE_MAX;
    while (file->held > 0 && file->band[file->low] == NULL) {
        file->low++;
    }
    for (uint64_t i = file->low; full && file->held > 0 && i <= file->high; i++) {
        uint8_t *band = i < from || i > to ? file->band[i] : NULL;
        if (band != NULL) {
            file->band[i] = NULL;
            file->held--;
            return band;
        }
    }
    return malloc((size_t)size);
}

static bool make_room(TiffFile *file, uint64_t from, uint64_t to, uint64_t size, Err *err)
{
    for (uint64_t i = from; i <= to; i++) {
        file->band[i] = take_room(file, from, to, size);
        if (file->band[i] == NULL) {
            return err_set(err, CODE_FILES, "out of memory");
        }
        file->low = file->held == 0 || i < file->low ? i : file->low;
        file->high = file->held == 0 || i > file->high ? i : file->high;
        file->held++;
    }
    return true;
}

static int most_pieces(int pieces)
{
    return pieces < MOST_PIECES ? pieces : MOST_PIECES;
}

/* Forwards the first error of the pieces of a job. */
static bool all_went(const Err *errors, int pieces, Err *err)
{
    for (int i = 0; i < pieces; i++) {
        if (errors[i].code != CODE_OK) {
            *err = errors[i];
            return false;
        }
    }
    return true;
}

/* A sample of a row of the file, to where it is wanted. */
static bool take_row(const TiffFile *file, const uint8_t *row, int of_pixel, void *to, Err *err)
{
    return pixels_row(&file->form, row, of_pixel, (size_t)file->now.x, to) ||
           err_set(err, CODE_FILES, "it has numbers that %s cannot hold", elem_name(file->form.elem));
}

/* Strips or tiles of bands next to each other, each of which somebody decodes. */
typedef struct Decoding {
    TiffFile *file;
    uint64_t first, across, units; /* the first band, with all planes counted; tiles of one; all of them */
    int pieces;
    Err *err; /* by piece */
} Decoding;

static void decode_piece(void *context, int piece)
{
    const Decoding *d = context;
    TiffFile *file = d->file;
    const TiffPage page = current_page(file);
    uint64_t n = (uint64_t)d->pieces, end = d->units * ((uint64_t)piece + 1) / n;
    bool ok = true;
    for (uint64_t unit = d->units * (uint64_t)piece / n; ok && unit < end; unit++) {
        uint64_t band = d->first + unit / d->across;
        ok = tiff_decode(&file->decoder[piece], &page, band, unit % d->across, file->band[band], &d->err[piece]);
    }
}

static bool decode(TiffFile *file, uint64_t from, uint64_t to, Err *err)
{
    const TiffLayout *now = &file->now;
    Err errors[TIFF_DECODERS] = {{0}};
    Decoding d = {.file = file, .first = from, .across = tiff_tiles_across(now), .err = errors};
    d.units = (to - from + 1) * d.across;
    uint64_t bytes = (to - from + 1) * band_row_bytes(file) * now->band_rows;
    d.pieces = crew_pieces(file->crew, (size_t)bytes * SLOWER);
    d.pieces = (int)min_u64(min_u64((uint64_t)d.pieces, d.units), TIFF_DECODERS);
    crew_run(file->crew, decode_piece, &d, d.pieces);
    return all_went(errors, d.pieces, err);
}

/* A band that is there, or bands [from, *to] decoded, as many of those up to `to` as are held at once; they are valid
 * until the next call. */
static bool get_bands(TiffFile *file, uint64_t sample, uint64_t from, uint64_t *to, Err *err)
{
    const TiffLayout *now = &file->now;
    uint64_t row = band_row_bytes(file), size = row * now->band_rows, before = sample * now->bands;
    uint64_t last = from;
    if (row > BAND_MAX || size > BAND_MAX) {
        return err_set(err, CODE_FILES,
                       "one %s holds %.3g GB, and 4 GB is the most; rewrite the file with "
                       "smaller %s",
                       now->tiled ? "row of tiles" : "strip", (double)row * (double)now->band_rows / 1e9,
                       now->tiled ? "tiles" : "strips");
    }
    if (file->band[before + from] == NULL) {
        while (last < *to && file->band[before + last + 1] == NULL && (last - from + 2) * size <= GROUP_MAX) {
            last++;
        }
        bool ok =
            make_room(file, before + from, before + last, size, err) && decode(file, before + from, before + last, err);
        if (!ok) {
            tiff_drop_bands(file);
            return false;
        }
    }
    *to = last;
    return true;
}

static bool is_scanned(const TiffLayout *now)
{
    return !now->tiled && now->band_rows * tiff_row_bytes(now) > SCAN_MIN;
}

/* A row of a large strip: rows follow one another, going back begins the strip again. */
static bool scan_row(TiffFile *file, uint64_t row, uint64_t sample, Err *err)
{
    const TiffLayout *now = &file->now;
    const TiffPage page = current_page(file);
    uint64_t first = row / now->band_rows * now->band_rows;
    TRY(need_scratch(file, tiff_row_bytes(now), err));
    if (file->scanned_sample != sample || file->scanned < first || file->scanned > row + 1) {
        file->scanned = first;
        file->scanned_sample = sample;
    }
    for (; file->scanned <= row; file->scanned++) {
        if (!tiff_decode_row(&file->decoder[0], &page, file->scanned, sample, file->scratch, err)) {
            file->scanned = 0;
            return false;
        }
    }
    return true;
}

/* Rows of a group of bands, each on its way to where it is wanted. */
typedef struct Unpacking {
    const TiffFile *file;
    uint64_t sample, row, rows; /* sample: whose bands they are */
    int of_pixel;               /* sample of their pixels */
    char *to;
    size_t pitch;
    int pieces;
    Err err[MOST_PIECES];
} Unpacking;

static void unpack_piece(void *context, int piece)
{
    Unpacking *u = context;
    const TiffLayout *now = &u->file->now;
    uint64_t n = (uint64_t)u->pieces, end = u->rows * ((uint64_t)piece + 1) / n;
    for (uint64_t i = u->rows * (uint64_t)piece / n; i < end; i++) {
        uint64_t row = u->row + i;
        const uint8_t *band = u->file->band[u->sample * now->bands + row / now->band_rows];
        band += row % now->band_rows * band_row_bytes(u->file);
        take_row(u->file, band, u->of_pixel, u->to + (size_t)i * u->pitch, &u->err[piece]);
    }
}

static bool read_scanned(TiffFile *file, const ImageRows *at, uint64_t sample, int of_pixel, char *to, size_t pitch,
                         Err *err)
{
    for (int64_t i = 0; i < at->rows; i++) {
        TRY(scan_row(file, (uint64_t)(at->row + i), sample, err));
        TRY(take_row(file, file->scratch, of_pixel, to + (size_t)i * pitch, err));
    }
    return true;
}

bool tiff_read_decoded(TiffFile *file, const ImageRows *at, int sample, void *to, size_t pitch, Err *err)
{
    const TiffLayout *now = &file->now;
    uint64_t first = (uint64_t)at->row, end = first + (uint64_t)at->rows;
    Unpacking u = {.file = file,
                   .sample = now->planar ? (uint64_t)sample : 0,
                   .of_pixel = now->planar ? 0 : sample,
                   .pitch = pitch};
    if (is_scanned(now)) {
        return read_scanned(file, at, u.sample, u.of_pixel, to, pitch, err);
    }
    for (u.row = first; u.row < end; u.row += u.rows) {
        uint64_t last = (end - 1) / now->band_rows;
        TRY(get_bands(file, u.sample, u.row / now->band_rows, &last, err));
        u.rows = min_u64(end, (last + 1) * now->band_rows) - u.row;
        u.to = (char *)to + (size_t)(u.row - first) * pitch;
        u.pieces = most_pieces(crew_pieces(file->crew, (size_t)u.rows * pitch));
        crew_run(file->crew, unpack_piece, &u, u.pieces);
        TRY(all_went(u.err, u.pieces, err));
    }
    return true;
}

/* ---- pixels in place --------------------------------------------------------------------- */

/* Rows that need no unpacking and lie close go straight to where they are wanted. */
static bool read_direct(TiffFile *file, const ImageRows *at, uint64_t offset, char *to, Err *err)
{
    uint64_t row = tiff_row_bytes(&file->now), bytes = file->now.bits / 8, size = row * (uint64_t)at->rows;
    TRY(tiff_pixels(&file->source, to, size, offset, err));
    if (file->source.swap) {
        pixels_swap(to, (size_t)(size / bytes), (size_t)bytes);
    }
    if (file->form.invert) {
        pixels_invert(to, (size_t)(size / bytes), file->form.elem, file->form.bits);
    }
    return true;
}

/* Some rows of the file, read into scratch and taken apart by a crew. */
typedef struct Taking {
    TiffFile *file;
    uint64_t offset, rows, row; /* the last: bytes */
    int sample;
    char *to;
    size_t pitch;
    int pieces;
    Err err[MOST_PIECES];
} Taking;

static void load_piece(void *context, int piece)
{
    Taking *t = context;
    uint64_t n = (uint64_t)t->pieces, bytes = t->file->now.bits / 8;
    uint64_t from = t->rows * (uint64_t)piece / n * t->row, end = t->rows * ((uint64_t)piece + 1) / n * t->row;
    if (tiff_pixels(&t->file->source, t->file->scratch + from, end - from, t->offset + from, &t->err[piece]) &&
        t->file->source.swap) {
        pixels_swap(t->file->scratch + from, (size_t)((end - from) / bytes), (size_t)bytes);
    }
}

static void take_piece(void *context, int piece)
{
    Taking *t = context;
    uint64_t n = (uint64_t)t->pieces, end = t->rows * ((uint64_t)piece + 1) / n;
    const uint8_t *from = t->file->scratch + (t->offset - t->file->read_at);
    for (uint64_t y = t->rows * (uint64_t)piece / n; y < end; y++) {
        take_row(t->file, from + y * t->row, t->sample, t->to + (size_t)y * t->pitch, &t->err[piece]);
    }
}

/* Rows of the file into scratch, unless the last ones hold them. */
static bool load_rows(Taking *t, Err *err)
{
    TiffFile *file = t->file;
    uint64_t size = t->rows * t->row;
    if (t->offset >= file->read_at && t->offset + size <= file->read_at + file->read_n) {
        return true;
    }
    TRY(need_scratch(file, size, err));
    crew_run(file->crew, load_piece, t, t->pieces);
    TRY(all_went(t->err, t->pieces, err));
    file->read_at = t->offset;
    file->read_n = size;
    return true;
}

bool tiff_read_raw(TiffFile *file, const ImageRows *at, int sample, uint64_t offset, void *to, size_t pitch, Err *err)
{
    uint64_t row = tiff_row_bytes(&file->now), chunk = row > CHUNK ? 1 : CHUNK / row;
    offset += (uint64_t)at->row * row;
    if (pixels_are_plain(&file->form) && pitch == row) {
        return read_direct(file, at, offset, to, err);
    }
    for (uint64_t i = 0; i < (uint64_t)at->rows; i += chunk) {
        Taking t = {.file = file,
                    .offset = offset + i * row,
                    .rows = min_u64(chunk, (uint64_t)at->rows - i),
                    .row = row,
                    .sample = file->now.planar ? 0 : sample,
                    .to = (char *)to + (size_t)i * pitch,
                    .pitch = pitch};
        t.pieces = most_pieces(crew_pieces(file->crew, (size_t)(t.rows * row)));
        TRY(load_rows(&t, err));
        crew_run(file->crew, take_piece, &t, t.pieces);
        TRY(all_went(t.err, t.pieces, err));
    }
    return true;
}
