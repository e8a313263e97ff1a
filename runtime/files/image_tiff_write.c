/*
 * image_tiff_write: TIFF and BigTIFF files out.
 *
 * Where the pixels are not compressed, the place of every row is known before the first one comes:
 * header, then plane after plane in ImageJ's order, then all directories.  Rows are therefore
 * written where they belong, whatever the order of planes, and nothing is held in memory.  (libtiff
 * would have to finish one page before the next begins.)  The pixels of a file are one piece,
 * which is what makes tools map it into memory.
 *
 * Compressed strips and tiles stand in the order in which they come (image_tiff_pack.h), before the directories, too.
 *
 * Levels of detail are halved row by row from the one before.  They stand behind it, and their directories (SubIFDs) in
 * front of that of their page.
 *
 * Parts of a file (image_create_part) write rows where they belong, or pack their strips, which the whole appends.
 *
 * Samples of RGB pixels come one channel at a time and are merged with what the file holds; where they are compressed or
 * in tiles, they stay apart.
 */
#include "image_levels.h"
#include "image_meta.h"
#include "image_tiff.h"
#include "image_tiff_levels.h"
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
    TAGS_MAX = 22,
    TILE = 512,    /* width and height of tiles, where nothing else is said */
    COLOURS = 256, /* of ImageJ's tables */
};

/* Readers that count in 32 bits need some room for the directories below 2^32. */
static const uint64_t CLASSIC_MAX = 3900000000u;
static const double WAIT_MOST = 0x1p30; /* bytes of rows that wait for tiles */

/* The image, or a smaller version. */
typedef struct OutLevel {
    uint64_t x, y;
    uint64_t row_bytes;   /* of all samples that share a row */
    uint64_t plane_bytes; /* of a page */
    uint32_t rows_per_strip;
    uint64_t strips; /* of a page, or tiles */
    uint64_t at;     /* where its pixels begin if they are not compressed */
    TiffPack *pack;  /* NULL: they are not */
    uint32_t resolutions[4];
    char **
        waiting; /* [t][z][c]: a row whose lower neighbour has not come; NULL: none.  NULL: there is no smaller level */
    char *halves; /* rows on their way to that one: CHUNK_BYTES, or one row if that is longer */
} OutLevel;

typedef struct TiffOut {
    const char *path;
    int fd;
    ImageInfo shape;
    Elem elem;
    bool big;
    TiffMethod method;
    uint32_t tile;          /* width and height; 0: strips */
    bool part;              /* strips that are packed are kept for the whole */
    bool rgb, apart;        /* c is samples of a pixel, which are not stored side by side */
    bool nearest;           /* levels have every second pixel, others means */
    uint64_t pages, planes; /* planes: of one sample each */
    OutLevel level[LEVELS_MOST];
    int levels;
    uint64_t end;          /* of all pixels, so far if they are compressed */
    double size_x, size_y; /* pixel size for the resolution tags; 0: unknown */
    uint16_t resolution_unit;
    char *description, *software;
    bool coloured; /* labels, for ImageJ */
    uint16_t colours[3 * COLOURS];
    unsigned char *chunk; /* CHUNK_BYTES, or one row if that is longer */
    size_t chunk_size;
    unsigned char *tail;                  /* the directories in the making */
    size_t tail_n, tail_cap, link;        /* link: where in it the last page tells of the next one */
    unsigned char below[8 * LEVELS_MOST]; /* where a page's levels have their directories */
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
static void put_values(const OutLevel *level, const TagRow *row, uint64_t page, unsigned char *to)
{
    size_t size = value_size(row->type);
    uint64_t strip = (uint64_t)level->rows_per_strip * level->row_bytes;
    uint64_t parts = row->count / level->strips; /* of a page, whose samples may be apart */
    if (row->values != NULL) {
        memcpy(to, row->values, (size_t)row->count * size);
        return;
    }
    for (uint64_t i = 0; i < row->count; i++) {
        uint64_t value = row->value;
        if (level->pack != NULL && (row->tag == TAG_STRIP_OFFSETS || row->tag == TAG_TILE_OFFSETS)) {
            value = tiff_pack_offset(level->pack, page * parts + i / level->strips, i % level->strips);
        } else if (level->pack != NULL && (row->tag == TAG_STRIP_COUNTS || row->tag == TAG_TILE_COUNTS)) {
            value = tiff_pack_size(level->pack, page * parts + i / level->strips, i % level->strips);
        } else if (row->tag == TAG_STRIP_OFFSETS) {
            value = level->at + page * level->plane_bytes + i * strip;
        } else if (row->tag == TAG_STRIP_COUNTS) {
            value = i + 1 < level->strips ? strip : level->plane_bytes - i * strip;
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

static const uint64_t COMPRESSIONS[] =
    {[TIFF_STORE] = COMPRESSION_NONE, [TIFF_DEFLATE] = COMPRESSION_DEFLATE, [TIFF_ZSTD] = COMPRESSION_BY_ZSTD};

/* The tags of a page, in ascending order as the format demands; returns how many. */
static int list_tags(const TiffOut *out, const OutLevel *level, uint64_t page, TagRow rows[TAGS_MAX])
{
    bool whole = level == out->level, first = whole && page == 0;
    uint64_t samples = out->rgb ? 3 : 1, strips = level->strips * (out->apart ? 3 : 1), bits = 8 * elem_size(out->elem);
    bool is_float = out->elem == ELEM_F32 || out->elem == ELEM_F64;
    bool is_signed = out->elem == ELEM_I16 || out->elem == ELEM_I32;
    int word = out->big ? TIFF_TYPE_LONG8 : TIFF_TYPE_LONG, n = 0;
    const int s = TIFF_TYPE_SHORT, l = TIFF_TYPE_LONG, r = TIFF_TYPE_RATIONAL, a = TIFF_TYPE_ASCII;
    if (!whole) {
        rows[n++] = (TagRow){TAG_SUBFILE, l, 1, NULL, 1};
    }
    rows[n++] = (TagRow){TAG_WIDTH, l, 1, NULL, level->x};
    rows[n++] = (TagRow){TAG_LENGTH, l, 1, NULL, level->y};
    rows[n++] = (TagRow){TAG_BITS, s, samples, NULL, bits};
    rows[n++] = (TagRow){TAG_COMPRESSION, s, 1, NULL, COMPRESSIONS[out->method]};
    rows[n++] = (TagRow){TAG_PHOTOMETRIC, s, 1, NULL, out->rgb ? PHOTOMETRIC_COLOURS : PHOTOMETRIC_BLACK_IS_ZERO};
    if (first) {
        rows[n++] = (TagRow){TAG_DESCRIPTION, a, strlen(out->description) + 1, out->description, 0};
    }
    if (out->tile == 0) {
        rows[n++] = (TagRow){TAG_STRIP_OFFSETS, word, strips, NULL, 0};
    }
    rows[n++] = (TagRow){TAG_SAMPLES, s, 1, NULL, samples};
    if (out->tile == 0) {
        rows[n++] = (TagRow){TAG_ROWS_PER_STRIP, l, 1, NULL, level->rows_per_strip};
        rows[n++] = (TagRow){TAG_STRIP_COUNTS, word, strips, NULL, 0};
    }
    rows[n++] = (TagRow){TAG_X_RESOLUTION, r, 1, level->resolutions, 0};
    rows[n++] = (TagRow){TAG_Y_RESOLUTION, r, 1, level->resolutions + 2, 0};
    rows[n++] = (TagRow){TAG_PLANAR, s, 1, NULL, out->apart ? 2 : 1};
    rows[n++] = (TagRow){TAG_RESOLUTION_UNIT, s, 1, NULL, out->resolution_unit};
    if (first && out->software != NULL) {
        rows[n++] = (TagRow){TAG_SOFTWARE, a, strlen(out->software) + 1, out->software, 0};
    }
    if (first && out->coloured) {
        rows[n++] = (TagRow){TAG_COLOUR_MAP, s, 3 * COLOURS, out->colours, 0};
    }
    if (out->tile > 0) {
        rows[n++] = (TagRow){TAG_TILE_WIDTH, l, 1, NULL, out->tile};
        rows[n++] = (TagRow){TAG_TILE_LENGTH, l, 1, NULL, out->tile};
        rows[n++] = (TagRow){TAG_TILE_OFFSETS, word, strips, NULL, 0};
        rows[n++] = (TagRow){TAG_TILE_COUNTS, word, strips, NULL, 0};
    }
    if (whole && out->levels > 1) {
        rows[n++] = (TagRow){TAG_SUB_IFDS, word, (uint64_t)out->levels - 1, out->below, 0};
    }
    rows[n++] = (TagRow){TAG_SAMPLE_FORMAT, s, samples, NULL,
                         is_float    ? FORMAT_FLOAT
                         : is_signed ? FORMAT_INT
                                     : FORMAT_UINT};
    return n;
}

/* Appends the directory of a page, or of a level of it; `base` is where the tail will stand in the file. */
static bool add_directory(TiffOut *out, const OutLevel *level, uint64_t page, uint64_t base, Err *err)
{
    TagRow rows[TAGS_MAX];
    int n = list_tags(out, level, page, rows);
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
            put_values(level, &rows[i], page, out->tail + at + 4 + word);
        } else {
            put(out->tail + at + 4 + word, base + after, word);
            put_values(level, &rows[i], page, out->tail + after);
            after += (size + 1) / 2 * 2;
        }
    }
    out->link = at;
    out->tail_n = end;
    return true;
}

/* The directories of a page's levels, and its own behind them, which the page before leads to; *first: where that of the
 * first page is. */
static bool add_page(TiffOut *out, uint64_t page, uint64_t base, uint64_t *first, Err *err)
{
    size_t word = out->big ? 8 : 4, link = out->link;
    for (int i = 1; i < out->levels; i++) {
        put(out->below + (size_t)(i - 1) * word, base + out->tail_n, word);
        TRY(add_directory(out, &out->level[i], page, base, err));
    }
    uint64_t at = base + out->tail_n;
    if (page == 0) {
        *first = at;
    } else {
        put(out->tail + link, at, word);
    }
    return add_directory(out, out->level, page, base, err);
}

/* ---- pixels ---------------------------------------------------------------------------- */

static bool write_error(const TiffOut *out, Err *err)
{
    return file_err_set(err, CODE_OUTPUT, "write", out->path, errno);
}

/* Rows of a plane that has the file's rows to itself. */
static bool write_plane_rows(TiffOut *out, const OutLevel *level, const char *from, size_t pitch, int64_t rows,
                             uint64_t offset, Err *err)
{
    size_t row = (size_t)level->row_bytes;
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
static bool write_sample_rows(TiffOut *out, const OutLevel *level, const char *from, size_t pitch, int64_t rows,
                              uint64_t offset, int64_t sample, Err *err)
{
    size_t row = (size_t)level->row_bytes, size = elem_size(out->elem);
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
            for (size_t x = 0; x < (size_t)level->x; x++) {
                memcpy(to + 3 * x * size, line + x * size, size);
            }
        }
        if (!image_pwrite(out->fd, out->chunk, n * row, at)) {
            return write_error(out, err);
        }
    }
    return true;
}

static bool write_rows(TiffOut *out, const OutLevel *level, const ImageRows *at, const char *from, size_t pitch,
                       Err *err)
{
    const ImageInfo *shape = &out->shape;
    bool together = out->rgb && !out->apart;
    int64_t channels = together ? 1 : shape->c, c = together ? 0 : at->c;
    int64_t page = (at->t * shape->z + at->z) * channels + c;
    if (level->pack != NULL) {
        return tiff_pack_rows(level->pack, (uint64_t)page, (uint64_t)at->row, (uint64_t)at->rows, from, pitch,
                              out->elem == ELEM_BOOL, err);
    }
    uint64_t offset = level->at + (uint64_t)page * level->plane_bytes + (uint64_t)at->row * level->row_bytes;
    return together ? write_sample_rows(out, level, from, pitch, at->rows, offset, at->c, err)
                    : write_plane_rows(out, level, from, pitch, at->rows, offset, err);
}

static bool write_level(TiffOut *out, int number, const ImageRows *at, const char *from, size_t pitch, Err *err);

/* Keeps a row until its lower neighbour comes. */
static bool keep_row(const TiffOut *out, char **waiting, const char *row, size_t bytes, Err *err)
{
    *waiting = malloc(bytes);
    if (*waiting == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
    }
    memcpy(*waiting, row, bytes);
    return true;
}

/* Makes rows of the next level of those of a level: of two rows one, the last one may be alone. */
static bool halve(TiffOut *out, int number, const ImageRows *at, const char *from, size_t pitch, Err *err)
{
    OutLevel *level = &out->level[number];
    char **waiting = &level->waiting[(at->t * out->shape.z + at->z) * out->shape.c + at->c];
    size_t size = elem_size(out->elem), bytes = (size_t)level->x * size, line = (size_t)level[1].x * size;
    int64_t most = line < CHUNK_BYTES ? (int64_t)(CHUNK_BYTES / line) : 1, end = at->row + at->rows;
    ImageRows to = {at->t, at->c, at->z, at->row / 2, 0};
    for (int64_t row = at->row; row < end;) {
        const char *above = from + (size_t)(row - at->row) * pitch, *below = above + pitch;
        bool second = row % 2 != 0, last = row + 1 == (int64_t)level->y;
        if (!second && !last && row + 1 == end) {
            TRY(keep_row(out, waiting, above, bytes, err));
            break;
        }
        row += second || last ? 1 : 2;
        below = second || last ? above : below;
        above = second ? *waiting : above;
        char *half = level->halves + (size_t)to.rows++ * line;
        if (out->nearest) {
            levels_nearest(out->elem, above, (size_t)level->x, half);
        } else {
            levels_mean(out->elem, above, below, (size_t)level->x, half);
        }
        if (second) {
            free(*waiting);
            *waiting = NULL;
        }
        if (to.rows == most) {
            TRY(write_level(out, number + 1, &to, level->halves, line, err));
            to.row += to.rows;
            to.rows = 0;
        }
    }
    return to.rows == 0 || write_level(out, number + 1, &to, level->halves, line, err);
}

static bool write_level(TiffOut *out, int number, const ImageRows *at, const char *from, size_t pitch, Err *err)
{
    TRY(write_rows(out, &out->level[number], at, from, pitch, err));
    return number + 1 == out->levels || halve(out, number, at, from, pitch, err);
}

bool tiff_write(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err)
{
    return write_level(state, 0, at, from, pitch, err);
}

/* ---- begin and end ---------------------------------------------------------------------- */

/* A fraction of 32 bits. */
static bool tag_holds(double size)
{
    return size == 0 || (size >= 1.0 / UINT32_MAX && size <= UINT32_MAX);
}

/* Sizes of pixels along x and y stand in the tags alone, but for OME-TIFF; those that do not fit are better unknown. */
static void forget_size(ImageInfo *like)
{
    if (strcmp(like->style, "ome") != 0 && !(tag_holds(like->size[0]) && tag_holds(like->size[1]))) {
        memset(like->size, 0, sizeof like->size);
        like->unit[0] = '\0';
    }
}

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
        out->size_x = like->size_um[0] / 1e4;
        out->size_y = like->size_um[1] / 1e4;
        out->resolution_unit = out->size_x > 0 && tag_holds(out->size_x) && tag_holds(out->size_y) ? 3 : 1;
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

/* Lays a level out behind byte `at`. */
static void plan_level(const TiffOut *out, int64_t x, int64_t y, uint64_t at, OutLevel *level)
{
    uint64_t strip;
    level->x = (uint64_t)x;
    level->y = (uint64_t)y;
    level->row_bytes = level->x * elem_size(out->elem) * (out->rgb && !out->apart ? 3 : 1);
    level->plane_bytes = level->row_bytes * level->y;
    strip = level->row_bytes >= STRIP_BYTES ? 1 : STRIP_BYTES / level->row_bytes;
    strip = strip < level->y ? strip : level->y;
    level->rows_per_strip = (uint32_t)strip;
    level->strips = (level->y + strip - 1) / strip;
    if (out->tile > 0) {
        level->rows_per_strip = out->tile;
        level->strips = ((level->y + out->tile - 1) / out->tile) * ((level->x + out->tile - 1) / out->tile);
    }
    level->at = at;
    resolution(out->size_x * tiff_level_step(out->level[0].x, level->x), level->resolutions);
    resolution(out->size_y * tiff_level_step(out->level[0].y, level->y), level->resolutions + 2);
}

static void plan_file(TiffOut *out, bool pyramid)
{
    int64_t x[LEVELS_MOST], y[LEVELS_MOST];
    uint64_t room = 0;
    out->planes = (uint64_t)(out->shape.t * out->shape.z * out->shape.c);
    out->pages = out->rgb ? out->planes / 3 : out->planes;
    out->levels = levels_of(out->shape.x, out->shape.y, x, y);
    out->levels = pyramid ? out->levels : 1;
    out->end = DATA_AT;
    for (int i = 0; i < out->levels; i++) {
        OutLevel *level = &out->level[i];
        uint64_t at = i == 0 ? DATA_AT : (out->end + 7) / 8 * 8;
        plan_level(out, x[i], y[i], at, level);
        out->end = at + out->pages * level->plane_bytes;
        const uint64_t pixels =
            out->tile == 0 ? level->plane_bytes : level->strips * out->tile * out->tile * (level->row_bytes / level->x);
        room += (out->apart ? out->planes : out->pages) * (pixels + 400 + 16 * level->strips);
    }
    out->big = room > CLASSIC_MAX;
}

/* Levels are for viewers, which look at tiles, as far as not too many rows have to wait until tiles are full. */
static uint32_t tile_of(const TiffOut *out, const ImageMeta *meta)
{
    const ImageInfo *s = &out->shape;
    double waits = (double)s->x * TILE * (double)elem_size(out->elem) * (double)s->z * (double)s->c;
    bool best = meta->pyramid && (s->x > TILE || s->y > TILE) && waits <= WAIT_MOST;
    return meta->tile > 0 ? (uint32_t)meta->tile : best ? TILE : 0;
}

static bool take_memory(TiffOut *out, bool pack, Err *err)
{
    const uint64_t row = out->level[0].row_bytes;
    out->chunk_size = row > CHUNK_BYTES ? (size_t)row : CHUNK_BYTES;
    out->chunk = malloc(out->chunk_size);
    bool ok = out->chunk != NULL;
    for (int i = 0; ok && i + 1 < out->levels; i++) {
        out->level[i].waiting = calloc((size_t)out->planes, sizeof *out->level[i].waiting);
        out->level[i].halves = malloc(out->chunk_size);
        ok = out->level[i].waiting != NULL && out->level[i].halves != NULL;
    }
    if (!ok) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
    }
    out->end = pack ? DATA_AT : out->end;
    for (int i = 0; pack && i < out->levels; i++) {
        OutLevel *level = &out->level[i];
        const TiffPackShape strips = {.path = out->path,
                                      .fd = out->part ? -1 : out->fd,
                                      .end = &out->end,
                                      .pages = out->apart ? out->planes : out->pages,
                                      .rows = level->y,
                                      .row_bytes = level->row_bytes,
                                      .rows_per_strip = level->rows_per_strip,
                                      .pixel_bytes = (size_t)(level->row_bytes / level->x),
                                      .tile_bytes = out->tile * (level->row_bytes / level->x),
                                      .method = out->method};
        TRY(tiff_pack_new(&strips, &level->pack, err));
    }
    return true;
}

static bool create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, bool part,
                   void **state, Err *err)
{
    TiffOut *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    ImageInfo like = meta->like != NULL ? *meta->like : (ImageInfo){.t = 1};
    ImageMeta with = *meta;
    with.like = meta->like != NULL || meta->pyramid ? &like : NULL;
    if (meta->pyramid) { /* programs look for levels in OME-TIFF */
        strcpy(like.style, "ome");
    }
    forget_size(&like);
    *state = out;
    out->path = path;
    out->fd = fd;
    out->part = part;
    out->shape = *shape;
    out->elem = elem;
    out->method = !meta->compress ? TIFF_STORE : meta->zstd ? TIFF_ZSTD : TIFF_DEFLATE;
    out->nearest = meta->labels || elem == ELEM_BOOL;
    out->rgb = shape->rgb && shape->c == 3 && (elem == ELEM_U8 || elem == ELEM_U16);
    out->tile = tile_of(out, meta);
    bool pack = meta->compress || out->tile > 0;
    out->apart = out->rgb && pack;
    choose_resolution(out, with.like);
    plan_file(out, meta->pyramid);
    out->coloured = meta->labels && !(with.like != NULL && strcmp(with.like->style, "ome") == 0);
    fill_colours(out->colours);
    out->software = meta->software == NULL ? NULL : copy_text(meta->software);
    if (meta->software != NULL && out->software == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    return take_memory(out, pack, err) && meta_describe(shape, out->rgb, elem, &with, &out->description, err);
}

bool tiff_create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                 Err *err)
{
    return create(path, fd, shape, elem, meta, false, state, err);
}

/* Whole strips; of images that are packed, so many bytes may come together that the first writer packs them alone. */
int64_t tiff_grain(const void *state)
{
    const TiffOut *out = state;
    bool plain = out->levels == 1 && out->tile == 0 && !out->rgb;
    return plain && (out->method == TIFF_STORE || out->nearest) ? (int64_t)out->level[0].rows_per_strip : 0;
}

bool tiff_create_part(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                      Err *err)
{
    return create(path, fd, shape, elem, meta, true, state, err);
}

bool tiff_end_part(void *state, FILE *to, Err *err)
{
    const TiffOut *out = state;
    return out->level[0].pack == NULL || tiff_pack_tell(out->level[0].pack, to) ||
           err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
}

bool tiff_join(void *state, const void *from, size_t bytes, Err *err)
{
    TiffOut *out = state;
    return out->level[0].pack == NULL || tiff_pack_join(out->level[0].pack, from, bytes, err);
}

bool tiff_finish(void *state, Err *err)
{
    TiffOut *out = state;
    uint64_t base = (out->end + 7) / 8 * 8, first = 0;
    for (uint64_t page = 0; page < out->pages; page++) {
        TRY(add_page(out, page, base, &first, err));
    }
    unsigned char head[DATA_AT] = {0};
    const uint16_t one = 1;
    memcpy(head, *(const unsigned char *)&one == 1 ? "II" : "MM", 2);
    put(head + 2, out->big ? 43 : 42, 2);
    if (out->big) {
        put(head + 4, 8, 2);
        put(head + 8, first, 8);
    } else {
        put(head + 4, first, 4);
    }
    return (image_pwrite(out->fd, out->tail, out->tail_n, base) && image_pwrite(out->fd, head, sizeof head, 0)) ||
           write_error(out, err);
}

void tiff_discard(void *state)
{
    TiffOut *out = state;
    for (int i = 0; i < out->levels; i++) {
        OutLevel *level = &out->level[i];
        for (uint64_t plane = 0; level->waiting != NULL && plane < out->planes; plane++) {
            free(level->waiting[plane]);
        }
        free(level->waiting);
        free(level->halves);
        tiff_pack_free(level->pack);
    }
    free(out->description);
    free(out->software);
    free(out->chunk);
    free(out->tail);
    free(out);
}
