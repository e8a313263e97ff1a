/*
 * image_fits_write: FITS images out.
 *
 * A FITS file is a text of 80-letter cards and the pixels behind it, high bytes first, both
 * filled up to blocks of 2880 bytes.  It is written directly rather than through cfitsio, so that
 * rows may come in any order of planes and every failure is the system's own.
 *
 * The header of a FITS input is carried over: everything but the cards that describe how pixels
 * are stored; image_fits_place.c says what becomes of the coordinates.  Where no card says how large
 * pixels are and the input does, CDELT and CUNIT say it.  Axes of extent 1 are left out.
 */
#include "image_fits_place.h"

#include "../../base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, LINE = 72 };

typedef struct FitsOut {
    const char *path;
    int fd;
    ImageInfo shape;
    Elem elem;
    int axes;
    int64_t extent[FITS_AXES]; /* of the axes that are written */
    char kind[FITS_AXES];      /* 'x', 'y', 'z', 'c', 't' */
    char *header;              /* cards, without END */
    size_t size, cap;
    uint64_t data;        /* where the pixels begin */
    unsigned char *chunk; /* CHUNK_BYTES, or one row if that is longer */
    size_t chunk_size;
} FitsOut;

/* ---- cards ----------------------------------------------------------------------------- */

/* Appends one card, filled up with blanks; letters that FITS does not know become '?'. */
static bool add_card(FitsOut *out, const char *text, size_t n)
{
    if (out->size + FITS_CARD > out->cap) {
        size_t cap = out->cap == 0 ? FITS_BLOCK : 2 * out->cap;
        char *more = realloc(out->header, cap);
        if (more == NULL) {
            return false;
        }
        out->header = more;
        out->cap = cap;
    }
    char *to = out->header + out->size;
    for (size_t i = 0; i < FITS_CARD; i++) {
        char ch = i < n ? text[i] : ' ';
        to[i] = ch >= 32 && ch < 127 ? ch : '?';
    }
    out->size += FITS_CARD;
    return true;
}

static bool add_number(FitsOut *out, const char *key, long long value, const char *comment)
{
    char card[128];
    int n = snprintf(card, sizeof card, "%-8s= %20lld / %s", key, value, comment);
    return add_card(out, card, (size_t)n);
}

static bool add_history(FitsOut *out, const char *text)
{
    char card[FITS_CARD + 1];
    size_t n = text == NULL ? 0 : strlen(text);
    for (size_t i = 0; i < n; i += LINE) {
        int length = snprintf(card, sizeof card, "HISTORY %.*s", LINE, text + i);
        if (!add_card(out, card, (size_t)length)) {
            return false;
        }
    }
    return true;
}

/* ---- the header of the input -------------------------------------------------------------- */

/* Cards that say how pixels are stored, or how large they were. */
static const char *const DROPPED[] = {
    "SIMPLE",   "BITPIX",  "EXTEND",   "BSCALE",  "BZERO",   "BLANK",    "PCOUNT",
    "GCOUNT",   "GROUPS",  "XTENSION", "EXTNAME", "EXTVER",  "EXTLEVEL", "INHERIT",
    "CHECKSUM", "DATASUM", "DATAMIN",  "DATAMAX", "WCSAXES", "NEXTEND",  "END",
};

static bool keep_card(const char *card, bool labels)
{
    char key[9];
    fits_key(card, key);
    for (size_t i = 0; i < sizeof DROPPED / sizeof *DROPPED; i++) {
        if (strcmp(key, DROPPED[i]) == 0) {
            return false;
        }
    }
    return strcmp(key, "NAXIS") != 0 && (strcmp(key, "BUNIT") != 0 || !labels);
}

static bool copy_header(FitsOut *out, const char *header, const FitsPlace *place, bool labels)
{
    char changed[FITS_CARD + 1];
    bool keep = true, ok = true;
    for (const char *card = header; ok && fits_is_card(card); card += FITS_CARD) {
        if (memcmp(card, "CONTINUE", 8) != 0) { /* those follow the card that they continue */
            keep = keep_card(card, labels) && fits_place_card(place, card, changed);
            ok = !keep || add_card(out, changed, FITS_CARD);
        } else {
            ok = !keep || add_card(out, card, FITS_CARD);
        }
    }
    return ok;
}

/* ---- the new header ----------------------------------------------------------------------- */

static int bits_of(Elem elem)
{
    int bits = 8 * (int)elem_size(elem);
    return elem == ELEM_F32 || elem == ELEM_F64 ? -bits : bits;
}

static void choose_axes(FitsOut *out)
{
    const ImageInfo *shape = &out->shape;
    const int64_t extent[FITS_AXES] = {shape->x, shape->y, shape->z, shape->c, shape->t};
    for (int i = 0; i < FITS_AXES; i++) {
        if (i < 2 || extent[i] > 1) {
            out->extent[out->axes] = extent[i];
            out->kind[out->axes++] = "xyzct"[i];
        }
    }
}

/* How far pixels are from each other along the axes of which no other card says it: of time the interval. */
static bool add_sizes(FitsOut *out, const ImageInfo *like, const char *header, const FitsPlace *place)
{
    bool ok = true;
    for (int i = 0; ok && like != NULL && i < out->axes; i++) {
        const char *axis = strchr("xyz", out->kind[i]);
        bool time = out->kind[i] == 't';
        double size = axis != NULL ? like->size_um[axis - "xyz"] : time ? like->interval : 0;
        if (size <= 0 || (header != NULL && place->kept[i])) {
            continue;
        }
        static const char *const CARDS[] = {"CRPIX%d  = %20.15G", "CRVAL%d  = %20.15G",
                                            "CDELT%d  = %20.15G / size of a pixel"};
        const double value[] = {1, 0, size};
        char card[96];
        for (int k = 0; ok && k < 3; k++) {
            int n = snprintf(card, sizeof card, CARDS[k], i + 1, value[k]);
            ok = add_card(out, card, (size_t)n);
        }
        int n = snprintf(card, sizeof card, "CUNIT%d  = '%-8s'", i + 1, time ? "s" : "um");
        ok = ok && add_card(out, card, (size_t)n);
    }
    return ok;
}

static bool make_header(FitsOut *out, const ImageMeta *meta)
{
    const ImageInfo *like = meta->like;
    FitsPlace place = {.moved = false};
    const char *header = NULL, first[] = "SIMPLE  =                    T / FITS standard";
    bool ok = add_card(out, first, sizeof first - 1);
    if (like != NULL && strcmp(like->style, "fits") == 0) {
        header = like->extra;
        fits_place_begin(&place, header, &meta->place, out->axes, out->extent, out->kind, out->shape.time_as_z);
    }
    ok = ok && add_number(out, "BITPIX", bits_of(out->elem), "bits of a pixel");
    ok = ok && add_number(out, "NAXIS", out->axes, "number of axes");
    for (int i = 0; ok && i < out->axes; i++) {
        char key[32];
        snprintf(key, sizeof key, "NAXIS%d", i + 1);
        ok = add_number(out, key, out->extent[i], "extent of the axis");
    }
    if (out->elem == ELEM_U16 || out->elem == ELEM_U32) {
        ok = ok && add_number(out, "BZERO", out->elem == ELEM_U16 ? 32768 : 2147483648LL, "pixels are unsigned");
        ok = ok && add_number(out, "BSCALE", 1, "and not scaled");
    }
    for (int i = 2; ok && i < out->axes; i++) {
        char card[96];
        bool copied = header != NULL && place.kept[i];
        if (!copied && out->kind[i] != 'z') {
            int n =
                snprintf(card, sizeof card, "CTYPE%d  = '%s'", i + 1, out->kind[i] == 'c' ? "CHANNEL " : "TIME    ");
            ok = add_card(out, card, (size_t)n);
        }
    }
    if (header != NULL) {
        ok = ok && copy_header(out, header, &place, meta->labels || out->elem == ELEM_BOOL);
    }
    ok = ok && add_sizes(out, like, header, &place);
    return ok && add_history(out, meta->software) && add_history(out, meta->parameters) && add_card(out, "END", 3);
}

bool fits_out_create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                     Err *err)
{
    FitsOut *out = calloc(1, sizeof *out);
    *state = out;
    bool ok = out != NULL;
    if (ok) {
        out->path = path;
        out->fd = fd;
        out->shape = *shape;
        out->elem = elem;
        choose_axes(out);
        size_t row = (size_t)shape->x * elem_size(elem);
        out->chunk_size = row > CHUNK_BYTES ? row : CHUNK_BYTES;
        out->chunk = malloc(out->chunk_size);
        ok = out->chunk != NULL && make_header(out, meta);
    }
    while (ok && out->size % FITS_BLOCK != 0) {
        ok = add_card(out, "", 0);
    }
    if (!ok) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    out->data = out->size;
    return image_pwrite(fd, out->header, out->size, 0) || file_err_set(err, CODE_OUTPUT, "write", path, errno);
}

/* ---- pixels ---------------------------------------------------------------------------- */

/* Elements with high bytes first; unsigned ones shifted by half their range. */
static void convert(const FitsOut *out, const unsigned char *from, size_t n, unsigned char *to)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    bool is_unsigned = out->elem == ELEM_U16 || out->elem == ELEM_U32;
    size_t size = elem_size(out->elem);
    for (size_t i = 0; i < n; i++, from += size, to += size) {
        for (size_t k = 0; k < size; k++) {
            to[k] = from[little ? size - 1 - k : k];
        }
        if (is_unsigned) {
            to[0] ^= 0x80;
        } else if (out->elem == ELEM_BOOL) {
            to[0] = to[0] != 0 ? 255 : 0;
        }
    }
}

bool fits_out_write(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err)
{
    FitsOut *out = state;
    const ImageInfo *shape = &out->shape;
    size_t row = (size_t)shape->x * elem_size(out->elem);
    int64_t plane = (at->t * shape->c + at->c) * shape->z + at->z;
    uint64_t offset = out->data + (uint64_t)(plane * shape->y + at->row) * row;
    int64_t chunk = (int64_t)(out->chunk_size / row);
    for (int64_t i = 0; i < at->rows; i += chunk) {
        int64_t n = at->rows - i < chunk ? at->rows - i : chunk;
        for (int64_t k = 0; k < n; k++) {
            convert(out, (const unsigned char *)from + (size_t)(i + k) * pitch, (size_t)shape->x,
                    out->chunk + (size_t)k * row);
        }
        if (!image_pwrite(out->fd, out->chunk, (size_t)n * row, offset + (uint64_t)i * row)) {
            return file_err_set(err, CODE_OUTPUT, "write", out->path, errno);
        }
    }
    return true;
}

bool fits_out_finish(void *state, Err *err)
{
    static const unsigned char zeros[FITS_BLOCK];
    FitsOut *out = state;
    const ImageInfo *shape = &out->shape;
    uint64_t end = out->data + (uint64_t)(shape->x * shape->y * shape->z * shape->c * shape->t) * elem_size(out->elem);
    size_t rest = (size_t)((FITS_BLOCK - end % FITS_BLOCK) % FITS_BLOCK);
    return image_pwrite(out->fd, zeros, rest, end) || file_err_set(err, CODE_OUTPUT, "write", out->path, errno);
}

void fits_out_discard(void *state)
{
    FitsOut *out = state;
    free(out->header);
    free(out->chunk);
    free(out);
}
