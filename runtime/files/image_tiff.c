/*
 * image_tiff: TIFF and BigTIFF files in.
 *
 * The directories are walked once when a file is opened; pages are then reached by offset, so
 * that a stack of any length can be read in any order.  Uncompressed pixels that lie in one piece
 * are read where they lie, which also covers ImageJ's stacks above 4 GB (one directory, all
 * planes behind it).  Everything else is decoded (image_tiff_decode.h), a few strips or a row of tiles (bands) at
 * a time, by a crew if there is one; bands are kept as the file packs them, so that all samples of a pixel share one.
 * Strips too large to be held are decoded row by row, from their beginning on.
 */
#include "image_format.h"
#include "image_meta.h"
#include "image_microscope.h"
#include "image_ome.h"
#include "image_tiff.h"
#include "image_tiff_decode.h"
#include "image_tiff_levels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t GROUP_MAX = (uint64_t)32 << 20; /* bytes of bands that are decoded at once, if not of one alone */
static const uint64_t CACHE_MAX = (uint64_t)256 << 20; /* bytes of bands kept for other samples */
static const uint64_t SCAN_MIN = (uint64_t)64 << 20;   /* bytes of a strip decoded row by row */
static const uint64_t CHUNK = (uint64_t)8 << 20;       /* bytes read at once and then unpacked */
enum { MOST_PIECES = 8 };                              /* of one job for a crew */
enum { SLOWER = 4 };                                   /* decoding takes so many times as long as copying, or longer */

typedef struct TiffFile {
    TiffSource source;
    TiffDirectory dir; /* of the current page */
    uint64_t *ifd;     /* offsets of the pages' directories */
    uint64_t rest;     /* that of the first page that does not look like them; 0: there is none */
    int64_t pages, cap;
    bool all_count;     /* thumbnails are pages as others */
    bool all_marked;    /* there are no others */
    int64_t thumbnails; /* pages that are marked and count */
    char *text;         /* the description of the first page; NULL: there is none */
    OmeXml *ome;        /* what it says if it is OME-XML; NULL: it is not */
    MetaPlan plan;
    TiffLayout shape; /* of every page; storage details of the first */
    bool stored;      /* palettes and white zeros are left alone */

    int64_t current; /* page that the rest is about; -1: none */
    TiffLayout now;
    PixelForm form;
    uint8_t map[3 * 256];
    uint64_t *raw;        /* offsets of planes in place; NULL: decode */
    uint8_t *absent;      /* flags of strips or tiles that have no bytes; NULL: there are none */
    uint8_t nothing[8];   /* a sample there */
    bool offset;          /* ImageJ's signed 16 bits */
    float *curve;         /* another calibration of ImageJ; NULL: there is none */
    uint8_t **band;       /* decoded bands, [sample][band]; NULL: not there */
    uint64_t bands, held; /* how many there can be, how many there are */
    uint64_t low, high;   /* those that are there lie between these, both included */
    uint64_t scanned;     /* row after the one in scratch, of a strip decoded by rows; 0: none */
    uint64_t scanned_sample;
    uint8_t *scratch; /* rows as the file packs them */
    uint64_t scratch_size;
    uint64_t read_at,
        read_n; /* what of the file is in scratch, for the other samples of its pixels; 0 bytes: nothing */

    TiffDecoder decoder[TIFF_DECODERS];
    Crew *crew; /* NULL: one decoder works alone */
} TiffFile;

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- pages ----------------------------------------------------------------------------- */

static bool page_error(const TiffFile *file, int64_t page, Err *err)
{
    return file->pages > 1 || file->plan.contiguous ? err_prefix(err, "page %lld", (long long)page + 1) : false;
}

static bool add_page(TiffFile *file, uint64_t at, Err *err)
{
    if (file->pages == file->cap) {
        int64_t cap = file->cap == 0 ? 16 : 2 * file->cap;
        uint64_t *more = realloc(file->ifd, (size_t)cap * sizeof *more);
        if (more == NULL) {
            return err_set(err, CODE_FILES, "out of memory");
        }
        file->ifd = more;
        file->cap = cap;
    }
    file->ifd[file->pages++] = at;
    return true;
}

/* The page that says how all that are read must look. */
static bool take_model(TiffFile *file, const TiffDirectory *dir, TiffLayout *layout, Err *err)
{
    TRY(tiff_layout_check(&file->source, dir, layout, err));
    file->shape = *layout;
    return true;
}

/* The description of the file, whatever its first page is.  OME-XML counts all pages, thumbnails too. */
static bool read_description(TiffFile *file, const TiffDirectory *first, const char *name, Err *err)
{
    free(file->text);
    TRY(tiff_text(&file->source, first, TAG_DESCRIPTION, &file->text, err));
    TRY(file->text == NULL || file->ome != NULL || ome_read(file->text, name, &file->ome, err));
    file->all_count = file->ome != NULL;
    return true;
}

/* A page that is not left out: of an OME-TIFF what lies before the first page of the image that is read belongs to
 * others.  *more is false at the first page that looks otherwise, where reading ends. */
static bool take_page(TiffFile *file, uint64_t at, const TiffDirectory *dir, bool *more, Err *err)
{
    TiffLayout layout;
    int64_t model = file->ome != NULL ? ome_first_page(file->ome) : 0;
    TRY(tiff_layout_read(&file->source, dir, &layout, err));
    if (file->pages == model) {
        TRY(take_model(file, dir, &layout, err));
    } else if (file->pages > model && !tiff_layout_same(&file->shape, &layout)) {
        file->rest = at;
        *more = false;
        return true;
    }
    return add_page(file, at, err);
}

/*
 * Collects the pages that look like the first, up to one that does not, without those that are marked.  A chain that
 * leads back to an earlier page is found as in Brent's algorithm: one remembered offset, replaced ever more rarely.
 */
static bool walk_pages(TiffFile *file, const char *name, bool marks, Err *err)
{
    TiffDirectory dir = {0};
    uint64_t seen = 0, walked = 0;
    bool ok = true, more = true;
    file->thumbnails = 0;
    for (uint64_t at = file->source.first; ok && more && at != 0; at = dir.next) {
        if (at == seen) {
            ok = err_set(err, CODE_FILES, "its list of pages leads back to an earlier page");
            break;
        }
        seen = (walked & (walked + 1)) == 0 ? at : seen;
        walked++;
        ok = tiff_directory_read(&file->source, at, &dir, err) &&
             (walked > 1 || read_description(file, &dir, name, err));
        bool marked = ok && tiff_is_marked(&file->source, &dir);
        file->thumbnails += marked && file->all_count;
        if (ok && !(marks && marked && !file->all_count)) {
            ok = take_page(file, at, &dir, &more, err);
        }
    }
    tiff_directory_free(&dir);
    if (!ok && walked > 1) {
        err_prefix(err, "page %lld", (long long)walked);
    }
    return ok;
}

/* Where all pages are marked, marks say nothing. */
static bool find_pages(TiffFile *file, const char *path, Err *err)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    TRY(walk_pages(file, name, true, err));
    file->all_marked = file->pages == 0;
    TRY(!file->all_marked || walk_pages(file, name, false, err));
    if (file->ome != NULL && file->pages <= ome_first_page(file->ome)) { /* the XML is not about these pages */
        ome_forget_planes(file->ome);
        file->pages = 0;
        TRY(walk_pages(file, name, false, err));
    }
    return true;
}

/* The pages that are left out without being marked.  Nobody reads them: where their list is damaged, or leads
 * back as above, it ends. */
static int64_t count_rest(const TiffFile *file)
{
    TiffDirectory dir = {0};
    Err ignored = {0};
    uint64_t at = file->rest, seen = 0;
    int64_t pages = 0, unmarked = 0;
    while (at != 0 && at != seen && tiff_directory_read(&file->source, at, &dir, &ignored)) {
        seen = (pages & (pages + 1)) == 0 ? at : seen;
        pages++;
        unmarked += !tiff_is_marked(&file->source, &dir);
        at = dir.next;
    }
    tiff_directory_free(&dir);
    return unmarked;
}

/* ---- the current page ------------------------------------------------------------------- */

static void drop_bands(TiffFile *file)
{
    for (uint64_t i = file->low; file->held > 0 && i <= file->high; i++) {
        free(file->band[i]);
        file->band[i] = NULL;
    }
    file->held = 0;
}

static bool make_band_table(TiffFile *file, Err *err)
{
    drop_bands(file);
    free(file->band);
    file->scanned = 0;
    file->bands = file->now.bands * (file->now.planar ? file->now.samples : 1);
    file->band = calloc((size_t)file->bands, sizeof *file->band);
    return file->band != NULL || err_set(err, CODE_FILES, "out of memory");
}

static bool has_palette(const TiffFile *file, const TiffLayout *layout)
{
    return layout->photometric == PHOTOMETRIC_INDEX && !file->stored;
}

static void set_form(TiffFile *file)
{
    const TiffLayout *now = &file->now;
    bool palette = has_palette(file, now);
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

static bool load_page(TiffFile *file, int64_t page, Err *err)
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
    if (has_palette(file, now)) {
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
            drop_bands(file);
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

static bool read_decoded(TiffFile *file, const ImageRows *at, int sample, void *to, size_t pitch, Err *err)
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

static bool read_raw(TiffFile *file, const ImageRows *at, int sample, uint64_t offset, void *to, size_t pitch, Err *err)
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

/* ---- pages and planes ---------------------------------------------------------------------- */

/* The first page of the image that is read. */
static int64_t model_page(const TiffFile *file)
{
    return file->ome != NULL ? ome_first_page(file->ome) : 0;
}

static bool read_tags(TiffFile *file, MetaTags *tags, Err *err)
{
    const TiffSource *source = &file->source;
    *tags = (MetaTags){
        .ome = file->ome,
        .pages = file->pages,
        .x = (int64_t)file->shape.x,
        .y = (int64_t)file->shape.y,
        .samples = (int64_t)file->shape.samples,
        .planar = file->shape.planar,
        .elem = file->shape.elem,
    };
    TRY(tiff_directory_read(source, file->ifd[model_page(file)], &file->dir, err));
    TRY(tiff_inverse(source, &file->dir, TAG_X_RESOLUTION, &tags->size_x, err));
    TRY(tiff_inverse(source, &file->dir, TAG_Y_RESOLUTION, &tags->size_y, err));
    TRY(tiff_uint(source, &file->dir, TAG_RESOLUTION_UNIT, 2, &tags->resolution_unit, err));
    TRY(tiff_microscope(source, &file->dir, &tags->microscope, err));
    if (file->ome == NULL) { /* that of a thumbnail in front is not about the image */
        free(file->text);
        TRY(tiff_text(source, &file->dir, TAG_DESCRIPTION, &file->text, err));
    }
    tags->description = file->text;
    return true;
}

/*
 * A description that promises more planes than there are pages is true when the planes lie behind
 * the first one's pixels.  When only a part of them does, the file is cut off; when none does, the
 * description was copied from another file.  Nobody copies the tag of an STK file.
 */
static bool check_contiguous(TiffFile *file, const MetaTags *tags, ImageInfo *info, Err *err)
{
    uint64_t planes = (uint64_t)(file->plan.t * file->plan.c * file->plan.z), *raw;
    uint64_t size = file->shape.y * tiff_row_bytes(&file->shape), here = 0;
    TRY(tiff_layout_raw(&file->source, &file->dir, &file->shape, &raw, err));
    if (raw != NULL && !file->shape.planar && file->dir.next == 0 && raw[0] < file->source.size) {
        here = (file->source.size - raw[0]) / size;
    }
    bool in_front = raw != NULL && file->ifd[0] < raw[0]; /* nothing but pixels follows */
    free(raw);
    if (here >= planes) {
        return true;
    }
    bool stk = tags->microscope.behind > 0;
    if (stk && here == 0) {
        return err_set(err, CODE_FILES,
                       "its %llu planes are compressed or lie apart, which pipec reads in no STK file; "
                       "convert it to OME-TIFF with Bio-Formats (bfconvert)",
                       (unsigned long long)planes);
    }
    if (stk || (here > 1 && in_front && file->source.size > file->ifd[0] + 4096)) {
        return err_set(err, CODE_FILES, "it is cut off: it should hold %llu planes and has %llu",
                       (unsigned long long)planes, (unsigned long long)here);
    }
    meta_plain(tags, info, &file->plan);
    info->remarks[REMARK_DESCRIPTION] = 1;
    return true;
}

static bool read_meta(TiffFile *file, ImageInfo *info, Err *err)
{
    MetaTags tags;
    TRY(read_tags(file, &tags, err));
    TRY(meta_read(&tags, info, &file->plan, err));
    return !file->plan.contiguous || check_contiguous(file, &tags, info, err);
}

/* ---- what pixels stand for ------------------------------------------------------------------ */

/* What the directory says of pixels that is left to the user. */
static bool remark_tags(const TiffFile *file, ImageInfo *info, Err *err)
{
    const TiffDirectory *dir = &file->dir;
    uint64_t orientation;
    TRY(tiff_uint(&file->source, dir, TAG_ORIENTATION, 1, &orientation, err));
    info->remarks[REMARK_ORIENTATION] = orientation > 1;
    info->remarks[REMARK_NODATA] = tiff_find(dir, TAG_NODATA) != NULL;
    info->remarks[REMARK_ALPHA] = file->shape.alphas != 0;
    TiffWhite white = tiff_white(&file->shape, file->stored);
    info->remarks[REMARK_BITS] = white == WHITE_BITS;
    info->remarks[REMARK_WHITE] = white == WHITE_TURNED;
    info->remarks[REMARK_WHITE_KEPT] = white == WHITE_KEPT;
    info->remarks[REMARK_MARKS] = file->all_marked;
    info->remarks[REMARK_UNCALIBRATED] |= tiff_find(dir, TAG_GRAY_CURVE) != NULL;
    return true;
}

/* ImageJ's calibration of bytes and 16 bits; one that only makes them signed leaves them whole. */
static bool apply_calibration(TiffFile *file, ImageInfo *info, Err *err)
{
    const MetaPlan *plan = &file->plan;
    const TiffLayout *shape = &file->shape;
    const double *term = plan->term;
    bool makes_signed = plan->terms == 2 && term[0] == -32768 && term[1] == 1;
    bool plain = shape->format == FORMAT_UINT && (shape->bits == 8 || shape->bits == 16);
    if (plan->terms == 0 || (makes_signed && shape->format == FORMAT_INT && shape->bits == 16)) {
        return true;
    }
    info->remarks[plain ? REMARK_CALIBRATED : REMARK_UNCALIBRATED] = 1;
    file->offset = plain && makes_signed && shape->bits == 16;
    if (file->offset || !plain) {
        info->elem = file->offset ? ELEM_I16 : info->elem;
        return true;
    }
    size_t n = (size_t)1 << shape->bits;
    file->curve = malloc(n * sizeof *file->curve);
    for (size_t i = 0; file->curve != NULL && i < n; i++) {
        double value = 0;
        for (int k = plan->terms - 1; k >= 0; k--) {
            value = value * (double)i + term[k];
        }
        file->curve[i] = (float)value;
    }
    info->elem = ELEM_F32;
    return file->curve != NULL || err_set(err, CODE_FILES, "out of memory");
}

/* ImageJ's palettes and white zeros are about display; its pixel values are the stored ones, but for a calibration. */
static bool read_meaning(TiffFile *file, ImageInfo *info, Err *err)
{
    const TiffLayout *shape = &file->shape;
    bool gray = true;
    file->stored = strcmp(info->style, "imagej") == 0;
    if (has_palette(file, shape)) {
        TRY(tiff_palette(&file->source, &file->dir, shape, file->map, &gray, err));
    }
    int64_t samples = gray ? (int64_t)shape->kept : 3;
    bool rgb = shape->photometric == PHOTOMETRIC_COLOURS || shape->photometric == PHOTOMETRIC_LUMA;
    info->elem = has_palette(file, shape) ? ELEM_U8 : shape->elem;
    info->rgb = (rgb || !gray) && samples == 3 && info->c == 1;
    info->has_c = info->has_c || samples > 1;
    info->c *= samples;
    TRY(rgb || apply_calibration(file, info, err));
    return remark_tags(file, info, err);
}

/* ---- the format ------------------------------------------------------------------------- */

static bool is_tiff(const unsigned char *head, size_t n)
{
    return n >= 4 && (memcmp(head, "II\x2A\0", 4) == 0 || memcmp(head, "MM\0\x2A", 4) == 0 ||
                      memcmp(head, "II\x2B\0", 4) == 0 || memcmp(head, "MM\0\x2B", 4) == 0);
}

static void close_tiff(void *state)
{
    TiffFile *file = state;
    if (file == NULL) {
        return;
    }
    for (int i = 0; i < TIFF_DECODERS; i++) {
        tiff_decoder_close(&file->decoder[i]);
    }
    close(file->source.fd);
    drop_bands(file);
    free(file->band);
    free(file->raw);
    free(file->absent);
    free(file->curve);
    free(file->scratch);
    free(file->ifd);
    free(file->text);
    ome_free(file->ome);
    meta_plan_free(&file->plan);
    tiff_directory_free(&file->dir);
    free(file);
}

/* An image that the XML lists has its pages among those that are left out. */
static void count_unread(const TiffFile *file, ImageInfo *info)
{
    const MetaPlan *plan = &file->plan;
    int64_t rest = count_rest(file), listed = plan->t * plan->c * plan->z + plan->unfinished + file->thumbnails;
    int64_t unlisted = plan->page != NULL && file->pages > listed ? file->pages - listed : 0;
    if (plan->others > 0 && rest + unlisted > 0) {
        info->remarks[REMARK_IMAGES] = plan->others;
    } else {
        info->remarks[REMARK_PAGES] = rest;
        info->remarks[REMARK_UNLISTED] = unlisted;
    }
    info->remarks[REMARK_UNFINISHED] = plan->unfinished;
    info->remarks[REMARK_ABSENT] = plan->absent;
    info->remarks[REMARK_FILES] = plan->in_other_files;
    info->remarks[REMARK_XML] = plan->elsewhere;
}

/* What of the pages lies in the file: sparse files leave strips and tiles out. */
static bool count_bytes(const TiffFile *file, double *bytes, Err *err)
{
    TiffDirectory dir = {0};
    bool ok = true;
    *bytes = 0;
    for (int64_t page = model_page(file); ok && page < file->pages; page++) {
        TiffLayout layout;
        double present = 0;
        uint8_t *flags = NULL;
        ok = file->ifd[page] == 0 || (tiff_directory_read(&file->source, file->ifd[page], &dir, err) &&
                                      tiff_layout_read(&file->source, &dir, &layout, err) &&
                                      tiff_layout_check(&file->source, &dir, &layout, err) &&
                                      tiff_layout_absent(&file->source, &dir, &layout, &flags, &present, err));
        *bytes += present;
        free(flags);
    }
    tiff_directory_free(&dir);
    return ok;
}

static bool check_plausible(const TiffFile *file, Err *err)
{
    uint64_t pages = (uint64_t)(file->pages - model_page(file)), size = file->source.size;
    double bytes = tiff_page_bytes(&file->shape) * (double)pages;
    Err ignored = {0};
    return file->plan.contiguous || tiff_layout_plausible(&file->shape, pages, bytes, size, &ignored) ||
           (count_bytes(file, &bytes, err) && tiff_layout_plausible(&file->shape, pages, bytes, size, err));
}

/* What stands in brackets behind the name, "level=2": pages are those of that level from now on. */
static bool take_level(TiffFile *file, const char *part, ImageInfo *info, Err *err)
{
    const TiffPages pages = {file->ifd, model_page(file), file->plan.contiguous ? 0 : file->pages};
    const TiffLayout fine = file->shape;
    int64_t level;
    TRY(image_path_level(part, &level) ||
        err_set(err, CODE_FILES, "TIFF files have levels, as in [level=2], and no part [%s]", part));
    TRY(level == 0 || tiff_level_pages(&file->source, &pages, level, &file->shape, err));
    info->x = (int64_t)file->shape.x;
    info->y = (int64_t)file->shape.y;
    const double step[2] = {tiff_level_step(fine.x, file->shape.x), tiff_level_step(fine.y, file->shape.y)};
    for (int axis = 0; axis < 2; axis++) {
        info->origin[axis] += info->size[axis] * (step[axis] - 1) / 2;
        info->size[axis] *= step[axis];
        info->size_um[axis] *= step[axis];
    }
    return true;
}

static bool open_tiff(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    TiffFile *file = calloc(1, sizeof *file);
    if (file == NULL) {
        close(fd);
        return err_set(err, CODE_FILES, "out of memory");
    }
    file->current = -1;
    file->source.fd = fd;
    bool ok = tiff_source_open(&file->source, fd, err) && find_pages(file, path->file, err) &&
              read_meta(file, info, err) && read_meaning(file, info, err) && take_level(file, path->part, info, err) &&
              check_plausible(file, err);
    if (!ok) {
        close_tiff(file);
        return false;
    }
    count_unread(file, info);
    *state = file;
    return true;
}

static bool read_tiff(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    TiffFile *file = state;
    const MetaPlan *plan = &file->plan;
    int64_t samples = info->c / plan->c, c = at->c / samples;
    int sample = has_palette(file, &file->shape) ? (int)(at->c % samples)
                                                 : tiff_kept_sample(&file->shape, (int)(at->c % samples));
    int64_t plane = plan->page != NULL ? plan->page[(at->t * plan->c + c) * plan->z + at->z]
                                       : at->t * plan->step_t + c * plan->step_c + at->z * plan->step_z;
    int64_t page = plan->contiguous ? 0 : plane;
    if (at->rows == 0) {
        return true;
    }
    bool ok = file->current == page || load_page(file, page, err);
    if (ok && file->raw != NULL) {
        uint64_t offset = file->raw[file->now.planar ? sample : 0];
        if (plan->contiguous) {
            offset += (uint64_t)plane * file->now.y * tiff_row_bytes(&file->now);
        }
        ok = read_raw(file, at, sample, offset, to, pitch, err);
    } else if (ok) {
        ok = read_decoded(file, at, sample, to, pitch, err);
    }
    return ok || page_error(file, plane, err);
}

/* Pixels that lie in the file as they are wanted, of one page, are read without touching the state. */
static bool shares_tiff(void *state)
{
    TiffFile *file = state;
    Err ignored = {0};
    bool one = file->plan.contiguous || file->pages == 1;
    return one && (file->current == 0 || load_page(file, 0, &ignored)) && file->raw != NULL &&
           pixels_are_plain(&file->form);
}

static void see_tiff(void *state, Seen *seen)
{
    TiffFile *file = state;
    file->source.seen = seen;
}

static void use_crew_tiff(void *state, Crew *crew)
{
    TiffFile *file = state;
    file->crew = crew;
}

const ImageFormat image_tiff = {
    .name = "tif",
    .has_parts = true,
    .matches = is_tiff,
    .open = open_tiff,
    .read = read_tiff,
    .shares = shares_tiff,
    .use_crew = use_crew_tiff,
    .see = see_tiff,
    .close = close_tiff,
    .create = tiff_create,
    .write = tiff_write,
    .finish = tiff_finish,
    .discard = tiff_discard,
    .grain = tiff_grain,
    .create_part = tiff_create_part,
    .end_part = tiff_end_part,
    .join = tiff_join,
};
