/*
 * image_png: PNG files in and out through libpng.
 *
 * PNG cannot be read from the middle, so a file is decoded whole when its first rows are wanted,
 * and an output is collected in memory and encoded at the end.  PNG is for pictures: alpha is
 * dropped, palettes become colours, and types that PNG does not have are scaled to bytes.  Pictures that are mostly runs
 * of a colour, as painted labels are, are packed by runs.h in a twentieth of the time, and all others by libpng.
 *
 * libpng reports failure by longjmp.  The functions that set the jump own nothing themselves and
 * change no local variable that is read after the jump; what is to be freed hangs on the state.
 */
#include "image_format.h"
#include "image_exif.h"
#include "../host/stopwatch.h"
#include "image_pixels.h"
#include "runs.h"

#include "../../base/file.h"
#include "../../base/pages.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t RATIO_MAX = 1100; /* deflate makes at most 1032 bytes of one */

enum {
    FRONT = RUNS_UNIT_MOST + 1, /* bytes before a line: the end of the one before, and the filter, which is none */
    RUNS_SHARE = 12,            /* pictures that runs make so many times shorter are packed so */
    CHUNK_BYTES = 1 << 20       /* of packed pixels */
};

static bool host_is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* ---- reading --------------------------------------------------------------------------- */

typedef struct PngIn {
    FILE *from;
    png_structp png;
    png_infop info;
    jmp_buf jump;
    char message[200];
    int64_t x, y;
    int samples;  /* 1 or 3 a pixel, after the transformations; a palette's numbers are one */
    size_t size;  /* bytes of a sample */
    bool palette; /* pixels are numbers of colours, `map` has these */
    bool gray;    /* ... whose three samples are equal: only one is handed on */
    uint8_t map[3 * 256];
    bool bits;         /* 1-bit gray */
    bool alpha;        /* which is left out */
    bool turned;       /* to be shown otherwise than its rows are stored */
    int64_t frames;    /* of an animation, beside the picture that is read */
    double um[2];      /* micrometres of a pixel along x and y; 0: unknown */
    unsigned char *at; /* all rows as libpng gives them; NULL: not decoded yet */
} PngIn;

static void on_read_error(png_structp png, png_const_charp message)
{
    PngIn *in = png_get_error_ptr(png);
    snprintf(in->message, sizeof in->message, "%s", message);
    longjmp(in->jump, 1);
}

static void on_read(png_structp png, png_bytep to, png_size_t n)
{
    PngIn *in = png_get_io_ptr(png);
    Phase before = stopwatch_begin(PHASE_READ);
    size_t got = fread(to, 1, n, in->from);
    stopwatch_end(before);
    if (got != n) {
        png_error(png, "it ends too early");
    }
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static bool is_png(const unsigned char *head, size_t n)
{
    return n >= 8 && png_sig_cmp(head, 0, 8) == 0;
}

static void close_png(void *state)
{
    PngIn *in = state;
    if (in == NULL) {
        return;
    }
    if (in->png != NULL) {
        png_destroy_read_struct(&in->png, &in->info, NULL);
    }
    if (in->from != NULL) {
        fclose(in->from);
    }
    free(in->at);
    free(in);
}

/* Numbers that it does not have are black. */
static void read_palette(PngIn *in)
{
    png_colorp colours;
    int n = 0;
    bool known = png_get_PLTE(in->png, in->info, &colours, &n) != 0;
    in->palette = in->gray = true;
    for (int i = 0; known && i < n && i < 256; i++) {
        in->map[i] = colours[i].red;
        in->map[256 + i] = colours[i].green;
        in->map[512 + i] = colours[i].blue;
        in->gray = in->gray && colours[i].red == colours[i].green && colours[i].red == colours[i].blue;
    }
}

/* 72 dots an inch, in either rounding, is what programs write that know nothing. */
static void read_sizes(PngIn *in)
{
    png_uint_32 per_metre[2] = {0, 0};
    int unit = PNG_RESOLUTION_UNKNOWN;
    bool known = png_get_pHYs(in->png, in->info, &per_metre[0], &per_metre[1], &unit) != 0 &&
                 unit == PNG_RESOLUTION_METER && per_metre[0] > 0 && per_metre[1] > 0 && per_metre[0] != 2834 &&
                 per_metre[0] != 2835;
    for (int axis = 0; axis < 2; axis++) {
        in->um[axis] = known ? 1e6 / per_metre[axis] : 0;
    }
}

/* Chunks that libpng leaves to us: acTL says how many frames an animation has. */
static int on_chunk(png_structp png, png_unknown_chunkp chunk)
{
    PngIn *in = png_get_user_chunk_ptr(png);
    if (memcmp(chunk->name, "acTL", 4) == 0 && chunk->size >= 4) {
        int64_t frames = png_get_uint_32(chunk->data);
        in->frames = frames > 1 ? frames - 1 : 0;
    }
    return 1;
}

static void read_exif(PngIn *in)
{
    png_uint_32 n = 0;
    png_bytep block = NULL;
    in->turned = png_get_eXIf_1(in->png, in->info, &n, &block) != 0 && exif_turned(block, n);
}

/* Reads the header and asks for gray or RGB in this machine's byte order, without alpha. */
static bool read_header(PngIn *in)
{
    if (setjmp(in->jump) != 0) {
        return false;
    }
    png_set_read_fn(in->png, in, on_read);
    png_set_user_limits(in->png, INT32_MAX, INT32_MAX);
    png_set_read_user_chunk_fn(in->png, in, on_chunk);
    png_read_info(in->png, in->info);
    int colour = png_get_color_type(in->png, in->info);
    int depth = png_get_bit_depth(in->png, in->info);
    in->bits = colour == PNG_COLOR_TYPE_GRAY && depth == 1;
    in->alpha = (colour & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(in->png, in->info, PNG_INFO_tRNS) != 0;
    read_sizes(in);
    read_exif(in);
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        read_palette(in);
    }
    if (in->palette || in->bits) {
        png_set_packing(in->png); /* one byte each */
    } else if (depth < 8) {
        png_set_expand_gray_1_2_4_to_8(in->png);
    }
    if ((colour & PNG_COLOR_MASK_ALPHA) != 0) {
        png_set_strip_alpha(in->png);
    }
    if (depth == 16 && host_is_little()) {
        png_set_swap(in->png);
    }
    png_set_interlace_handling(in->png);
    png_read_update_info(in->png, in->info);
    in->x = png_get_image_width(in->png, in->info);
    in->y = png_get_image_height(in->png, in->info);
    in->samples = png_get_channels(in->png, in->info);
    in->size = png_get_bit_depth(in->png, in->info) == 16 ? 2 : 1;
    return true;
}

static bool check_header(const PngIn *in, uint64_t file_size, Err *err)
{
    uint64_t bytes = (uint64_t)in->x * (uint64_t)in->samples * in->size * (uint64_t)in->y;
    if (in->samples != 1 && in->samples != 3) {
        return err_set(err, CODE_FILES, "it has %d samples a pixel", in->samples);
    }
    /* 8 bits may stand for one in the file */
    return pixels_fit_file(in->x, in->y, bytes / (in->size == 1 ? 8 : 1), file_size, RATIO_MAX, err);
}

static bool open_png(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    struct stat st;
    (void)path;
    PngIn *in = calloc(1, sizeof *in);
    if (in == NULL || fstat(fd, &st) != 0 || (in->from = fdopen(fd, "rb")) == NULL) {
        free(in);
        close(fd);
        return err_set(err, CODE_FILES, "out of memory");
    }
    in->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, in, on_read_error, on_warning);
    in->info = in->png == NULL ? NULL : png_create_info_struct(in->png);
    bool ok = in->info != NULL || err_set(err, CODE_FILES, "out of memory");
    ok = ok && (read_header(in) || err_set(err, CODE_FILES, "it is damaged (%s)", in->message));
    ok = ok && check_header(in, (uint64_t)st.st_size, err);
    if (!ok) {
        close_png(in);
        return false;
    }
    info->x = in->x;
    info->y = in->y;
    info->z = info->t = 1;
    info->c = in->palette && !in->gray ? 3 : in->samples;
    info->has_c = info->rgb = info->c == 3;
    info->palette = in->palette && info->rgb;
    info->elem = in->bits ? ELEM_BOOL : in->size == 2 ? ELEM_U16 : ELEM_U8;
    info->remarks[REMARK_ALPHA] = in->alpha;
    info->remarks[REMARK_ORIENTATION] = in->turned;
    info->remarks[REMARK_FRAMES] = in->frames;
    memcpy(info->size, in->um, sizeof in->um);
    memcpy(info->size_um, in->um, sizeof in->um);
    strcpy(info->unit, in->um[0] > 0 ? "um" : "");
    strcpy(info->style, "png");
    *state = in;
    return true;
}

static bool decode(PngIn *in, png_bytepp rows)
{
    if (setjmp(in->jump) != 0) {
        return false;
    }
    png_read_image(in->png, rows);
    png_read_end(in->png, NULL);
    return true;
}

static bool decode_once(PngIn *in, Err *err)
{
    if (in->at != NULL) {
        return true;
    }
    if (in->png == NULL) {
        return err_set(err, CODE_FILES, "it is damaged (%s)", in->message);
    }
    size_t row = (size_t)in->x * (size_t)in->samples * in->size;
    png_bytepp rows = malloc((size_t)in->y * sizeof *rows);
    in->at = malloc(row * (size_t)in->y);
    bool ok = rows != NULL && in->at != NULL;
    for (int64_t y = 0; ok && y < in->y; y++) {
        rows[y] = in->at + (size_t)y * row;
    }
    if (!ok) {
        err_set(err, CODE_FILES, "out of memory");
    } else if (!decode(in, rows)) {
        ok = err_set(err, CODE_FILES, "it is damaged or cut off (%s)", in->message);
    }
    free(rows);
    png_destroy_read_struct(&in->png, &in->info, NULL);
    if (!ok) {
        free(in->at);
        in->at = NULL;
    }
    return ok;
}

static bool read_png(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    PngIn *in = state;
    TRY(decode_once(in, err));
    PixelForm form = {.bits = (int)in->size * 8, .samples = in->samples, .elem = info->elem};
    form.map = in->palette ? in->map : NULL;
    size_t row = (size_t)in->x * (size_t)in->samples * in->size;
    for (int64_t i = 0; i < at->rows; i++) {
        pixels_row(&form, in->at + (size_t)(at->row + i) * row, (int)at->c, (size_t)in->x,
                   (char *)to + (size_t)i * pitch);
    }
    return true;
}

/* ---- writing --------------------------------------------------------------------------- */

typedef struct PngOut {
    const char *path;
    int fd, error;
    ImageInfo shape;
    Elem elem;
    bool labels;
    bool upwards; /* the first row stands below, as DS9 and astropy's fits2bitmap show FITS */
    char *software, *parameters;
    png_uint_32 per_metre[2]; /* pixels along x and y; 0: unknown */
    png_structp png;
    png_infop info;
    jmp_buf jump;
    char message[200];
    const unsigned char *at; /* planes, [c][y][x] */
    unsigned char *own;      /* they, as they came; NULL: they are lent */
    bool written;
    unsigned char *line; /* one row as it goes out, behind FRONT bytes */
    unsigned char *runs; /* packed pixels; NULL: libpng is to pack them */
    size_t runs_bytes;
    int samples, depth;
    double low, scale; /* scaled types: value = (v - low) * scale */
} PngOut;

static void on_write_error(png_structp png, png_const_charp message)
{
    PngOut *out = png_get_error_ptr(png);
    snprintf(out->message, sizeof out->message, "%s", message);
    longjmp(out->jump, 1);
}

static void on_write(png_structp png, png_bytep data, png_size_t n)
{
    PngOut *out = png_get_io_ptr(png);
    Phase before = stopwatch_begin(PHASE_WRITE);
    bool ok = file_put(out->fd, data, n);
    stopwatch_end(before);
    if (!ok) {
        out->error = errno;
        png_error(png, "write failed");
    }
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* A copy of a text; of none, an empty one. */
static char *copy_text(const char *text)
{
    text = text == NULL ? "" : text;
    char *copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

static void discard_png(void *state)
{
    PngOut *out = state;
    if (out->png != NULL) {
        png_destroy_write_struct(&out->png, &out->info);
    }
    free(out->software);
    free(out->parameters);
    free(out->own);
    free(out->line != NULL ? out->line - FRONT : NULL);
    free(out->runs);
    free(out);
}

/* Whole pixels a metre, as far as PNG can count them. */
static void choose_sizes(PngOut *out, const ImageInfo *like)
{
    double x = like != NULL ? 1e6 / like->size_um[0] : 0, y = like != NULL ? 1e6 / like->size_um[1] : 0;
    if (x >= 1 && x <= PNG_UINT_31_MAX && y >= 1 && y <= PNG_UINT_31_MAX) {
        out->per_metre[0] = (png_uint_32)nearbyint(x);
        out->per_metre[1] = (png_uint_32)nearbyint(y);
    }
}

static bool create_png(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                       Err *err)
{
    if (shape->z * shape->t > 1 || (shape->c != 1 && shape->c != 3)) {
        int64_t planes = shape->z * shape->t;
        return err_set(err, CODE_FILES,
                       "cannot write '%s': PNG holds one plane, gray or RGB, and the output has "
                       "%lld plane%s of %lld channel%s; write it as tif",
                       path, (long long)planes, planes == 1 ? "" : "s", (long long)shape->c, shape->c == 1 ? "" : "s");
    }
    PngOut *out = calloc(1, sizeof *out);
    *state = out;
    if (out != NULL) {
        out->path = path;
        out->fd = fd;
        out->shape = *shape;
        out->elem = elem;
        out->labels = meta->labels;
        out->upwards = meta->like != NULL && image_goes_upwards(meta->like);
        out->samples = (int)shape->c;
        choose_sizes(out, meta->like);
        out->software = copy_text(meta->software);
        out->parameters = copy_text(meta->parameters);
        unsigned char *line = calloc(1, FRONT + (size_t)(shape->x * shape->c) * 2);
        out->line = line != NULL ? line + FRONT : NULL;
    }
    if (out == NULL || out->line == NULL || out->software == NULL || out->parameters == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    return true;
}

static bool write_png(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err)
{
    PngOut *out = state;
    size_t row = (size_t)out->shape.x * elem_size(out->elem);
    if (out->own == NULL) {
        out->at = out->own = pages_alloc(row * (size_t)(out->shape.y * out->shape.c));
    }
    if (out->own == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
    }
    for (int64_t i = 0; i < at->rows; i++) {
        memcpy(out->own + (size_t)(at->c * out->shape.y + at->row + i) * row, (const char *)from + (size_t)i * pitch,
               row);
    }
    return true;
}

/* Element i of what was collected, as a number. */
static double value_at(const PngOut *out, size_t i)
{
    union {
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        float f32;
        double f64;
    } v;
    memcpy(&v, out->at + i * elem_size(out->elem), elem_size(out->elem));
    switch (out->elem) {
    case ELEM_U16:
        return v.u16;
    case ELEM_I16:
        return v.i16;
    case ELEM_U32:
        return v.u32;
    case ELEM_I32:
        return v.i32;
    case ELEM_F32:
        return (double)v.f32;
    case ELEM_F64:
        return v.f64;
    default:
        return out->at[i];
    }
}

/* Bytes and 16 bits stay; small labels keep their numbers; the rest is stretched to bytes. */
static void choose_depth(PngOut *out)
{
    size_t n = (size_t)(out->shape.x * out->shape.y * out->shape.c);
    double low = INFINITY, high = -INFINITY;
    out->depth = out->elem == ELEM_U16 ? 16 : 8;
    out->low = 0;
    out->scale = out->elem == ELEM_BOOL ? 255 : 1;
    if (elem_size(out->elem) == 1 || out->elem == ELEM_U16) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double v = value_at(out, i);
        if (isfinite(v)) {
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    }
    if (out->labels && elem_is_integer(out->elem) && low >= 0 && high <= 65535) {
        out->depth = 16;
        return;
    }
    out->low = low;
    out->scale = high > low ? 255 / (high - low) : 0;
}

/* Samples of three planes side by side.  Pictures of labels are runs: eight pixels that are like the eight before them
 * are copied. */
static void interleave(const unsigned char *from, size_t plane, size_t n, unsigned char *to)
{
    enum { GROUP = 8 };
    uint64_t now[3], last[3] = {0};
    for (size_t x = 0; x < n; x += GROUP, to += 3 * GROUP) {
        size_t left = n - x < GROUP ? n - x : GROUP;
        for (int c = 0; c < 3 && left == GROUP; c++) {
            memcpy(&now[c], from + (size_t)c * plane + x, GROUP);
        }
        if (left == GROUP && x > 0 && memcmp(now, last, sizeof now) == 0) {
            memcpy(to, to - 3 * GROUP, 3 * GROUP);
            continue;
        }
        if (left == GROUP) {
            memcpy(last, now, sizeof now);
        }
        for (size_t i = 0; i < left; i++) {
            to[3 * i] = from[x + i];
            to[3 * i + 1] = from[plane + x + i];
            to[3 * i + 2] = from[2 * plane + x + i];
        }
    }
}

/* Row y with its samples side by side, high bytes first. */
static void make_line(const PngOut *out, int64_t y)
{
    const ImageInfo *shape = &out->shape;
    unsigned char *to = out->line;
    const unsigned char *from = out->at + (size_t)(y * shape->x);
    size_t plane = (size_t)(shape->x * shape->y), width = (size_t)shape->x;
    if (out->elem == ELEM_U8 && shape->c == 1) {
        memcpy(to, from, width);
        return;
    }
    if (out->elem == ELEM_U8) {
        interleave(from, plane, width, to);
        return;
    }
    for (int64_t x = 0; x < shape->x; x++) {
        for (int64_t c = 0; c < shape->c; c++) {
            double v = value_at(out, (size_t)((c * shape->y + y) * shape->x + x));
            if (out->depth == 16) {
                *to++ = (unsigned char)((unsigned)v >> 8);
                *to++ = (unsigned char)((unsigned)v & 255);
                continue;
            }
            double scaled = floor((v - out->low) * out->scale + 0.5);
            *to++ = (unsigned char)(scaled > 0 ? (scaled < 255 ? scaled : 255) : 0);
        }
    }
}

/* The row of the file. */
static void make_row(const PngOut *out, int64_t row)
{
    make_line(out, out->upwards ? out->shape.y - 1 - row : row);
}

/* Packs the pixels, if they are runs. */
static bool pack_runs(PngOut *out, Err *err)
{
    static const size_t filter = 1;
    RunsCode code;
    Runs runs;
    size_t unit = (size_t)(out->samples * out->depth / 8), bytes = (size_t)out->shape.x * unit;
    size_t room = (size_t)out->shape.y * (filter + bytes) / RUNS_SHARE;
    if (unit > RUNS_UNIT_MOST) {
        return true;
    }
    out->runs = malloc(room + 1);
    if (out->runs == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
    }
    runs_code(&code);
    runs_begin(&runs, &code, unit, out->runs, room);
    bool fits = true;
    for (int64_t y = 0; fits && y < out->shape.y; y++) {
        memcpy(out->line - filter - unit, out->line + bytes - unit, unit);
        make_row(out, y);
        fits = runs_add(&runs, out->line - filter, filter + bytes);
    }
    if (fits) {
        out->runs_bytes = runs_end(&runs);
    } else {
        free(out->runs);
        out->runs = NULL;
    }
    return true;
}

/* libpng is not asked to end what it has not packed. */
static void write_runs(const PngOut *out)
{
    for (size_t at = 0; at < out->runs_bytes; at += CHUNK_BYTES) {
        size_t left = out->runs_bytes - at;
        png_write_chunk(out->png, (png_const_bytep) "IDAT", out->runs + at, left < CHUNK_BYTES ? left : CHUNK_BYTES);
    }
    png_write_chunk(out->png, (png_const_bytep) "IEND", NULL, 0);
}

static bool encode(PngOut *out)
{
    if (setjmp(out->jump) != 0) {
        return false;
    }
    png_set_write_fn(out->png, out, on_write, on_flush);
    png_set_user_limits(out->png, INT32_MAX, INT32_MAX);
    png_set_compression_level(out->png, 4);
    png_set_IHDR(out->png, out->info, (png_uint_32)out->shape.x, (png_uint_32)out->shape.y, out->depth,
                 out->samples == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (out->per_metre[0] > 0) {
        png_set_pHYs(out->png, out->info, out->per_metre[0], out->per_metre[1], PNG_RESOLUTION_METER);
    }
    char keys[2][16] = {"Software", "Comment"};
    char *texts[2] = {out->software, out->parameters};
    for (int i = 0; i < 2; i++) {
        if (texts[i][0] != '\0') {
            png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE,
                             .key = keys[i],
                             .text = texts[i],
                             .text_length = strlen(texts[i])};
            png_set_text(out->png, out->info, &text, 1);
        }
    }
    png_write_info(out->png, out->info);
    if (out->runs != NULL) {
        write_runs(out);
        return true;
    }
    for (int64_t y = 0; y < out->shape.y; y++) {
        make_row(out, y);
        png_write_row(out->png, out->line);
    }
    png_write_end(out->png, NULL);
    return true;
}

static bool write_all(PngOut *out, Err *err)
{
    out->written = true;
    out->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, out, on_write_error, on_warning);
    out->info = out->png == NULL ? NULL : png_create_info_struct(out->png);
    if (out->info == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
    }
    choose_depth(out);
    TRY(pack_runs(out, err));
    if (encode(out)) {
        return true;
    }
    return out->error != 0 ? file_err_set(err, CODE_OUTPUT, "write", out->path, out->error)
                           : err_set(err, CODE_FILES, "cannot write '%s': %s", out->path, out->message);
}

static bool finish_png(void *state, Err *err)
{
    PngOut *out = state;
    return out->written || write_all(out, err);
}

static bool lend_png(void *state, const void *pixels, Err *err)
{
    PngOut *out = state;
    out->at = pixels;
    return write_all(out, err);
}

static Elem numbers_png(void *state)
{
    PngIn *in = state;
    in->palette = false;
    return ELEM_U8;
}

const ImageFormat image_png = {
    .name = "png",
    .matches = is_png,
    .open = open_png,
    .read = read_png,
    .numbers = numbers_png,
    .close = close_png,
    .create = create_png,
    .write = write_png,
    .finish = finish_png,
    .discard = discard_png,
    .lend = lend_png,
};
