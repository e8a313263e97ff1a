/*
 * image_tiff_write: TIFF and BigTIFF files out.
 *
 * Where the pixels are not compressed, the place of every row is known before the first one comes:
 * header, then plane after plane in ImageJ's order, then all directories.  Rows are therefore
 * written where they belong, whatever the order of planes, and nothing is held in memory.  (libtiff
 * would have to finish one page before the next begins.)  The pixels of a file are one piece,
 * which is what makes tools map it into memory.
 *
 * Compressed strips stand in the order in which they come (image_tiff_pack.h), before the directories, too.
 *
 * Samples of RGB pixels come one channel at a time and are merged with what the file holds.
 */
#include "image_meta.h"
#include "image_tiff.h"
#include "image_tiff_pack.h"

#include "../../base/file.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DATA_AT = 16, /* pixels begin here, behind either header */
    STRIP_BYTES = 1 << 18,
    CHUNK_BYTES = 1 << 20, /* rows are converted in pieces of this size */
    TAGS_MAX = 20,
    COLOURS = 256, /* of ImageJ's tables */
};

/* Readers that count in 32 bits need some room for the directories below 2^32. */
static const uint64_t CLASSIC_MAX = 3900000000u;

typedef struct TiffOut {
    const char *path;
    int fd;
    ImageInfo shape;
    Elem elem;
    bool big, chunky;
    uint64_t row_bytes;   /* of all samples that share a row */
    uint64_t plane_bytes; /* of a page */
    uint64_t pages;
    uint32_t rows_per_strip;
    uint64_t strips;       /* of a page */
    double size_x, size_y; /* pixel size for the resolution tags; 0: unknown */
    uint16_t resolution_unit;
    char *description, *software;
    bool coloured; /* labels, for ImageJ */
    uint16_t colours[3 * COLOURS];
    unsigned char *chunk; /* CHUNK_BYTES, or one row if that is longer */
    size_t chunk_size;
    TiffPack *pack;      /* NULL: the pixels are not compressed */
    unsigned char *tail; /* the directories in the making */
    size_t tail_n, tail_cap;
} TiffOut;

/* ---- directories ------------------------------------------------------------------------ */

/* A growing piece of memory: directories and what they point to. */
static bool tail_need(TiffOut *out, size_t more, Err *err)
{
    if (out->tail_n + more > out->tail_cap) {
        size_t cap = out->tail_cap == 0 ? 4096 : out->tail_cap;
        while (cap < out->tail_n + more) {
            cap *= 2;
        }
        unsigned char *tail = realloc(out->tail, cap);
        if (tail == NULL) {
            return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
        }
        memset(tail + out->tail_cap, 0, cap - out->tail_cap);
        out->tail = tail;
        out->tail_cap = cap;
    }
    return true;
}

/* A number of n bytes in this machine's byte order. */
static void put(unsigned char *to, uint64_t value, size_t n)
{
    uint64_t v8 = value;
    uint32_t v4 = (uint32_t)value;
    uint16_t v2 = (uint16_t)value;
    memcpy(to, n == 8 ? (void *)&v8 : n == 4 ? (void *)&v4 : (void *)&v2, n);
}

/* One tag to be written: `count` values of `size` bytes each, made by copying or counting. */
typedef struct TagRow {
    int tag, type;
    uint64_t count;
    const void *values; /* NULL: value, or the offsets and sizes of strips */
    uint64_t value;
} TagRow;

static size_t value_size(int type)
{
    return type == TIFF_TYPE_SHORT ? 2 : type == TIFF_TYPE_LONG ? 4 : type == TIFF_TYPE_ASCII ? 1 : 8;
}

/* The values of a tag, at `to`; page is needed for strips. */
static void put_values(const TiffOut *out, const TagRow *row, uint64_t page, unsigned char *to)
{
    size_t size = value_size(row->type);
    uint64_t strip = (uint64_t)out->rows_per_strip * out->row_bytes;
    if (row->values != NULL) {
        memcpy(to, row->values, (size_t)row->count * size);
        return;
    }
    for (uint64_t i = 0; i < row->count; i++) {
        uint64_t value = row->value;
        if (out->pack != NULL && row->tag == TAG_STRIP_OFFSETS) {
            value = tiff_pack_offset(out->pack, page, i);
        } else if (out->pack != NULL && row->tag == TAG_STRIP_COUNTS) {
            value = tiff_pack_size(out->pack, page, i);
        } else if (row->tag == TAG_STRIP_OFFSETS) {
            value = DATA_AT + page * out->plane_bytes + i * strip;
        } else if (row->tag == TAG_STRIP_COUNTS) {
            value = i + 1 < out->strips ? strip : out->plane_bytes - i * strip;
        }
        put(to + i * size, value, size);
    }
}

/*
 * A pixel size as resolution, pixels per unit: the simplest fraction that reads back as the same
 * size, by continued fractions; the closest one that 32 bits hold if there is none.
 */
static void resolution(double size, uint32_t to[2])
{
    double above0 = 0, above1 = 1, below0 = 1, below1 = 0, rest = size;
    to[0] = to[1] = 1;
    if (!(size > 0)) {
        return;
    }
    for (int i = 0; i < 64; i++) {
        double whole = floor(rest);
        double above = whole * above1 + above0, below = whole * below1 + below0;
        if (above > UINT32_MAX || below > UINT32_MAX) {
            break;
        }
        above0 = above1;
        above1 = above;
        below0 = below1;
        below1 = below;
        if (above > 0) { /* size = above / below, and the tag holds its inverse */
            to[0] = (uint32_t)below;
            to[1] = (uint32_t)above;
        }
        if (above / below == size || rest == whole) {
            break;
        }
        rest = 1 / (rest - whole);
    }
}

/*
 * Reds, greens and blues in which ImageJ shows labels, from black for 0 to the display range's end; it takes such a table
 * with pixels of any type, and others leave it.  Hues are turned by the golden angle, so that those of near labels differ,
 * with more and less white.
 */
static void fill_colours(uint16_t colours[3 * COLOURS])
{
    for (int i = 1; i < COLOURS; i++) {
        double hue = fmod(i * 0.61803398875, 1), white = i % 3 * 0.2;
        for (int k = 0; k < 3; k++) {
            double way = fabs(fmod(hue + k / 3.0, 1) * 6 - 3) - 1, share = way < 0 ? 0 : way > 1 ? 1 : way;
            colours[k * COLOURS + i] = (uint16_t)(257 * floor(255 * (white + (1 - white) * share)));
        }
    }
}

/* The tags of a page, in ascending order as the format demands; returns how many. */
static int list_tags(const TiffOut *out, uint64_t page, const uint32_t resolutions[4], TagRow rows[TAGS_MAX])
{
    uint64_t samples = out->chunky ? 3 : 1, bits = 8 * elem_size(out->elem);
    bool is_float = out->elem == ELEM_F32 || out->elem == ELEM_F64;
    bool is_signed = out->elem == ELEM_I16 || out->elem == ELEM_I32;
    int word = out->big ? TIFF_TYPE_LONG8 : TIFF_TYPE_LONG, n = 0;
    const int s = TIFF_TYPE_SHORT, l = TIFF_TYPE_LONG, r = TIFF_TYPE_RATIONAL, a = TIFF_TYPE_ASCII;
    rows[n++] = (TagRow){TAG_WIDTH, l, 1, NULL, (uint64_t)out->shape.x};
    rows[n++] = (TagRow){TAG_LENGTH, l, 1, NULL, (uint64_t)out->shape.y};
    rows[n++] = (TagRow){TAG_BITS, s, samples, NULL, bits};
    rows[n++] = (TagRow){TAG_COMPRESSION, s, 1, NULL, out->pack != NULL ? COMPRESSION_DEFLATE : COMPRESSION_NONE};
    rows[n++] = (TagRow){TAG_PHOTOMETRIC, s, 1, NULL, out->chunky ? PHOTOMETRIC_COLOURS : PHOTOMETRIC_BLACK_IS_ZERO};
    if (page == 0) {
        rows[n++] = (TagRow){TAG_DESCRIPTION, a, strlen(out->description) + 1, out->description, 0};
    }
    rows[n++] = (TagRow){TAG_STRIP_OFFSETS, word, out->strips, NULL, 0};
    rows[n++] = (TagRow){TAG_SAMPLES, s, 1, NULL, samples};
    rows[n++] = (TagRow){TAG_ROWS_PER_STRIP, l, 1, NULL, out->rows_per_strip};
    rows[n++] = (TagRow){TAG_STRIP_COUNTS, word, out->strips, NULL, 0};
    rows[n++] = (TagRow){TAG_X_RESOLUTION, r, 1, resolutions, 0};
    rows[n++] = (TagRow){TAG_Y_RESOLUTION, r, 1, resolutions + 2, 0};
    rows[n++] = (TagRow){TAG_PLANAR, s, 1, NULL, 1};
    rows[n++] = (TagRow){TAG_RESOLUTION_UNIT, s, 1, NULL, out->resolution_unit};
    if (page == 0 && out->software != NULL) {
        rows[n++] = (TagRow){TAG_SOFTWARE, a, strlen(out->software) + 1, out->software, 0};
    }
    if (page == 0 && out->coloured) {
        rows[n++] = (TagRow){TAG_COLOUR_MAP, s, 3 * COLOURS, out->colours, 0};
    }
    rows[n++] = (TagRow){TAG_SAMPLE_FORMAT, s, samples, NULL,
                         is_float    ? FORMAT_FLOAT
                         : is_signed ? FORMAT_INT
                                     : FORMAT_UINT};
    return n;
}

/* Appends one directory; `base` is where the tail will stand in the file. */
static bool add_directory(TiffOut *out, uint64_t page, uint64_t base, const uint32_t resolutions[4], Err *err)
{
    TagRow rows[TAGS_MAX];
    int n = list_tags(out, page, resolutions, rows);
    size_t word = out->big ? 8 : 4, head = out->big ? 8 : 2, entry = out->big ? 20 : 12;
    size_t at = out->tail_n, after = at + head + (size_t)n * entry + word, end = after;
    for (int i = 0; i < n; i++) {
        end += ((size_t)rows[i].count * value_size(rows[i].type) + 7) / 8 * 8;
    }
    end = (end + 7) / 8 * 8;
    TRY(tail_need(out, end - at, err));
    put(out->tail + at, (uint64_t)n, head);
    at += head;
    for (int i = 0; i < n; i++, at += entry) {
        size_t size = (size_t)rows[i].count * value_size(rows[i].type);
        put(out->tail + at, (uint64_t)rows[i].tag, 2);
        put(out->tail + at + 2, (uint64_t)rows[i].type, 2);
        put(out->tail + at + 4, rows[i].count, word);
        if (size <= word) {
            put_values(out, &rows[i], page, out->tail + at + 4 + word);
        } else {
            put(out->tail + at + 4 + word, base + after, word);
            put_values(out, &rows[i], page, out->tail + after);
            after += (size + 1) / 2 * 2;
        }
    }
    bool last = page + 1 == out->pages;
    put(out->tail + at, last ? 0 : base + end, word);
    out->tail_n = end;
    return true;
}

/* ---- pixels ---------------------------------------------------------------------------- */

static bool write_error(const TiffOut *out, Err *err)
{
    return file_err_set(err, CODE_OUTPUT, "write", out->path, errno);
}

/* Rows of a plane that has the file's rows to itself. */
static bool write_plane_rows(TiffOut *out, const char *from, size_t pitch, int64_t rows, uint64_t offset, Err *err)
{
    size_t row = (size_t)out->row_bytes;
    if (pitch == row && out->elem != ELEM_BOOL) {
        return image_pwrite(out->fd, from, row * (size_t)rows, offset) || write_error(out, err);
    }
    int64_t chunk = (int64_t)(out->chunk_size / row);
    for (int64_t i = 0; i < rows; i += chunk) {
        int64_t n = rows - i < chunk ? rows - i : chunk;
        for (int64_t k = 0; k < n; k++) {
            unsigned char *to = out->chunk + (size_t)k * row;
            memcpy(to, from + (size_t)(i + k) * pitch, row);
            for (size_t x = 0; x < row && out->elem == ELEM_BOOL; x++) {
                to[x] = to[x] != 0 ? 255 : 0;
            }
        }
        if (!image_pwrite(out->fd, out->chunk, (size_t)n * row, offset + (uint64_t)i * row)) {
            return write_error(out, err);
        }
    }
    return true;
}

/* Rows of one sample, merged with the others; what was never written reads as zeros. */
static bool write_sample_rows(TiffOut *out, const char *from, size_t pitch, int64_t rows, uint64_t offset,
                              int64_t sample, Err *err)
{
    size_t row = (size_t)out->row_bytes, size = elem_size(out->elem);
    int64_t chunk = (int64_t)(out->chunk_size / row);
    for (int64_t i = 0; i < rows; i += chunk) {
        size_t n = (size_t)(rows - i < chunk ? rows - i : chunk), got;
        uint64_t at = offset + (uint64_t)i * row;
        if (!image_pread(out->fd, out->chunk, n * row, at, &got)) {
            if (errno != 0) {
                return write_error(out, err);
            }
            memset(out->chunk + got, 0, n * row - got);
        }
        for (size_t k = 0; k < n; k++) {
            const char *line = from + ((size_t)i + k) * pitch;
            unsigned char *to = out->chunk + k * row + (size_t)sample * size;
            for (size_t x = 0; x < (size_t)out->shape.x; x++) {
                memcpy(to + 3 * x * size, line + x * size, size);
            }
        }
        if (!image_pwrite(out->fd, out->chunk, n * row, at)) {
            return write_error(out, err);
        }
    }
    return true;
}

bool tiff_write(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err)
{
    TiffOut *out = state;
    const ImageInfo *shape = &out->shape;
    int64_t channels = out->chunky ? 1 : shape->c, c = out->chunky ? 0 : at->c;
    int64_t page = (at->t * shape->z + at->z) * channels + c;
    if (out->pack != NULL) {
        return tiff_pack_rows(out->pack, (uint64_t)page, (uint64_t)at->row, (uint64_t)at->rows, from, pitch,
                              out->elem == ELEM_BOOL, err);
    }
    uint64_t offset = DATA_AT + (uint64_t)page * out->plane_bytes + (uint64_t)at->row * out->row_bytes;
    return out->chunky ? write_sample_rows(out, from, pitch, at->rows, offset, at->c, err)
                       : write_plane_rows(out, from, pitch, at->rows, offset, err);
}

/* ---- begin and end ---------------------------------------------------------------------- */

static void choose_resolution(TiffOut *out, const ImageInfo *like)
{
    out->resolution_unit = 1;
    if (like == NULL) {
        return;
    }
    out->size_x = like->size[0];
    out->size_y = like->size[1];
    double um = meta_unit_um(like->unit);
    if (strcmp(like->style, "ome") == 0) {
        /* The tag knows centimetres; OME-XML has the exact numbers. */
        out->resolution_unit = like->size_um[0] > 0 ? 3 : 1;
        out->size_x = like->size_um[0] / 1e4;
        out->size_y = like->size_um[1] / 1e4;
    } else if (um == 25400) {
        out->resolution_unit = 2;
    } else if (um == 1e4) {
        out->resolution_unit = 3;
    }
}

static char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

static void plan_file(TiffOut *out)
{
    uint64_t strip;
    out->row_bytes = (uint64_t)out->shape.x * elem_size(out->elem) * (out->chunky ? 3 : 1);
    out->plane_bytes = out->row_bytes * (uint64_t)out->shape.y;
    out->pages = (uint64_t)(out->shape.t * out->shape.z * (out->chunky ? 1 : out->shape.c));
    strip = out->row_bytes >= STRIP_BYTES ? 1 : STRIP_BYTES / out->row_bytes;
    strip = strip < (uint64_t)out->shape.y ? strip : (uint64_t)out->shape.y;
    out->rows_per_strip = (uint32_t)strip;
    out->strips = ((uint64_t)out->shape.y + strip - 1) / strip;
    out->big = out->pages * (out->plane_bytes + 400 + 16 * out->strips) > CLASSIC_MAX;
}

bool tiff_create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                 Err *err)
{
    TiffOut *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    *state = out;
    out->path = path;
    out->fd = fd;
    out->shape = *shape;
    out->elem = elem;
    out->chunky = shape->rgb && shape->c == 3 && (elem == ELEM_U8 || elem == ELEM_U16);
    plan_file(out);
    choose_resolution(out, meta->like);
    out->coloured = meta->labels && !(meta->like != NULL && strcmp(meta->like->style, "ome") == 0);
    fill_colours(out->colours);
    out->chunk_size = out->row_bytes > CHUNK_BYTES ? (size_t)out->row_bytes : CHUNK_BYTES;
    out->chunk = malloc(out->chunk_size);
    out->software = meta->software == NULL ? NULL : copy_text(meta->software);
    if (out->chunk == NULL || (meta->software != NULL && out->software == NULL)) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    if (meta->compress && !out->chunky) {
        const TiffPackShape strips = {.path = path,
                                      .fd = fd,
                                      .at = DATA_AT,
                                      .pages = out->pages,
                                      .rows = (uint64_t)shape->y,
                                      .row_bytes = out->row_bytes,
                                      .rows_per_strip = out->rows_per_strip};
        TRY(tiff_pack_new(&strips, &out->pack, err));
    }
    return meta_describe(shape, out->chunky, elem, meta, &out->description, err);
}

bool tiff_finish(void *state, Err *err)
{
    TiffOut *out = state;
    uint64_t end = out->pack != NULL ? tiff_pack_end(out->pack) : DATA_AT + out->pages * out->plane_bytes;
    uint64_t base = (end + 7) / 8 * 8;
    uint32_t resolutions[4];
    resolution(out->size_x, resolutions);
    resolution(out->size_y, resolutions + 2);
    for (uint64_t page = 0; page < out->pages; page++) {
        TRY(add_directory(out, page, base, resolutions, err));
    }
    unsigned char head[DATA_AT] = {0};
    const uint16_t one = 1;
    memcpy(head, *(const unsigned char *)&one == 1 ? "II" : "MM", 2);
    put(head + 2, out->big ? 43 : 42, 2);
    if (out->big) {
        put(head + 4, 8, 2);
        put(head + 8, base, 8);
    } else {
        put(head + 4, base, 4);
    }
    return (image_pwrite(out->fd, out->tail, out->tail_n, base) && image_pwrite(out->fd, head, sizeof head, 0)) ||
           write_error(out, err);
}

void tiff_discard(void *state)
{
    TiffOut *out = state;
    tiff_pack_free(out->pack);
    free(out->description);
    free(out->software);
    free(out->chunk);
    free(out->tail);
    free(out);
}
