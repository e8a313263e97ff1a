/* picture: rows at even distances, each pixel the mean of those that it stands for along its row. */
#include "picture.h"

#include "../files/image.h"
#include "../host/convert.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is read ----------------------------------------------------------------------- */

typedef struct Rows {
    ImageFile *file;
    const ImageInfo *info;
    void *row;
} Rows;

static bool rows_open(const char *path, Rows *rows)
{
    Err ignored = {0};
    *rows = (Rows){0};
    if (path == NULL || !image_open(path, &rows->file, &ignored)) {
        return false;
    }
    rows->info = image_info(rows->file);
    rows->row = malloc((size_t)rows->info->x * elem_size(rows->info->elem));
    return rows->row != NULL;
}

static void rows_close(Rows *rows)
{
    free(rows->row);
    if (rows->file != NULL) {
        image_close(rows->file);
    }
}

/* The row that row i of n stands for. */
static bool rows_read(Rows *rows, int64_t c, int i, int n)
{
    Err ignored = {0};
    const ImageInfo *info = rows->info;
    int64_t y = (2 * i + 1) * info->y / (2 * n);
    size_t pitch = (size_t)info->x * elem_size(info->elem);
    return image_read(rows->file, 0, c, info->z / 2, y, 1, rows->row, pitch, &ignored);
}

/* ---- pixels ----------------------------------------------------------------------------- */

typedef struct Canvas {
    int width, height, channels;
    double *at; /* [row][column][channel] */
    double steps, squares;
} Canvas;

static void take_row(Canvas *canvas, const Rows *rows, int i, int c)
{
    const int64_t n = rows->info->x;
    double before = convert_get(rows->info->elem, rows->row, 0);
    for (int j = 0; j < canvas->width; j++) {
        int64_t from = j * n / canvas->width, to = (j + 1) * n / canvas->width;
        double sum = 0;
        to = to > from ? to : from + 1;
        for (int64_t x = from; x < to; x++) {
            double v = convert_get(rows->info->elem, rows->row, (size_t)x);
            v = isfinite(v) ? v : 0;
            sum += v;
            canvas->squares += v * v;
            canvas->steps += (v - before) * (v - before);
            before = v;
        }
        canvas->at[(i * canvas->width + j) * canvas->channels + c] = sum / (double)(to - from);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Numbers to 0 .. most, from the percentile 1 to 99.8. */
static bool stretch(const Canvas *canvas, int most, unsigned char *to)
{
    size_t n = (size_t)canvas->width * (size_t)canvas->height * (size_t)canvas->channels;
    double *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL) {
        return false;
    }
    memcpy(sorted, canvas->at, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    const double low = sorted[n / 100], high = sorted[n - 1 - n / 500];
    for (size_t i = 0; i < n; i++) {
        double v = high > low ? (canvas->at[i] - low) / (high - low) : 0;
        to[i] = (unsigned char)lrint(most * (v < 0 ? 0 : v > 1 ? 1 : v));
    }
    free(sorted);
    return true;
}

/* ---- PNG in base64 ---------------------------------------------------------------------- */

typedef struct Bytes {
    unsigned char *at;
    size_t n, room;
    bool failed;
} Bytes;

static void on_write(png_structp png, png_bytep from, size_t n)
{
    Bytes *to = png_get_io_ptr(png);
    if (to->n + n > to->room) {
        size_t room = 2 * (to->n + n) + 1024;
        unsigned char *more = realloc(to->at, room);
        if (more == NULL) {
            png_error(png, "out of memory");
        }
        to->at = more;
        to->room = room;
    }
    memcpy(to->at + to->n, from, n);
    to->n += n;
}

static void on_flush(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

typedef struct Kind {
    int bits, colour, channels;
    bool outlines; /* one colour on nothing */
} Kind;

static void put_png(png_structp png, png_infop info, Kind kind, int width, int height, const unsigned char *pixels)
{
    const png_color palette[] = {{0, 0, 0}, {255, 220, 0}};
    const png_byte alpha[] = {0, 255};
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, kind.bits, kind.colour, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (kind.outlines) {
        png_set_PLTE(png, info, palette, 2);
        png_set_tRNS(png, info, alpha, 2, NULL);
    }
    png_set_compression_level(png, 9);
    png_write_info(png, info);
    png_set_packing(png);
    for (int i = 0; i < height; i++) {
        png_write_row(png, pixels + (size_t)i * (size_t)(width * kind.channels));
    }
    png_write_end(png, info);
}

static bool png_bytes(Kind kind, int width, int height, const unsigned char *pixels, Bytes *to)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, to, on_error, on_warning);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    bool ok = info != NULL && setjmp(png_jmpbuf(png)) == 0;
    if (ok) {
        png_set_write_fn(png, to, on_write, on_flush);
        put_png(png, info, kind, width, height, pixels);
    }
    png_destroy_write_struct(&png, &info);
    return ok;
}

static char *base64(const unsigned char *from, size_t n)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(4 * ((n + 2) / 3) + 1), *to = text;
    for (size_t i = 0; text != NULL && i < n; i += 3) {
        unsigned bits =
            (unsigned)from[i] << 16 | (i + 1 < n ? (unsigned)from[i + 1] << 8 : 0) | (i + 2 < n ? from[i + 2] : 0);
        for (int k = 0; k < 4; k++) {
            *to++ = i + (size_t)k <= n ? DIGITS[bits >> (18 - 6 * k) & 63] : '=';
        }
    }
    if (text != NULL) {
        *to = '\0';
    }
    return text;
}

static char *encode(Kind kind, int width, int height, const unsigned char *pixels)
{
    Bytes png = {0};
    char *text = png_bytes(kind, width, height, pixels, &png) ? base64(png.at, png.n) : NULL;
    free(png.at);
    return text;
}

/* ---- the two pictures ------------------------------------------------------------------- */

static char *draw_pixels(Rows *rows, Picture *picture, bool fine)
{
    const int channels = rows->info->rgb && rows->info->c >= 3 ? 3 : 1;
    const size_t n = (size_t)picture->width * (size_t)picture->height * (size_t)channels;
    Canvas canvas = {.width = picture->width, .height = picture->height, .channels = channels};
    unsigned char *to = malloc(n);
    canvas.at = calloc(n, sizeof *canvas.at);
    bool ok = to != NULL && canvas.at != NULL;
    for (int i = 0; ok && i < canvas.height; i++) {
        for (int c = 0; ok && c < channels; c++) {
            ok = rows_read(rows, c, i, canvas.height);
            if (ok) {
                take_row(&canvas, rows, i, c);
            }
        }
    }
    const Kind gray = {fine ? 8 : 4, PNG_COLOR_TYPE_GRAY, 1, false}, colours = {8, PNG_COLOR_TYPE_RGB, 3, false};
    ok = ok && stretch(&canvas, channels == 3 || fine ? 255 : 15, to);
    char *text = ok ? encode(channels == 3 ? colours : gray, canvas.width, canvas.height, to) : NULL;
    picture->focus = ok && canvas.squares > 0 ? canvas.steps / canvas.squares : NAN;
    free(canvas.at);
    free(to);
    return text;
}

/* The number of the object at each pixel. */
static bool read_labels(Rows *rows, int width, int height, double *to)
{
    for (int i = 0; i < height; i++) {
        if (!rows_read(rows, 0, i, height)) {
            return false;
        }
        for (int j = 0; j < width; j++) {
            int64_t x = (2 * j + 1) * rows->info->x / (2 * width);
            to[i * width + j] = convert_get(rows->info->elem, rows->row, (size_t)x);
        }
    }
    return true;
}

static char *draw_outlines(Rows *rows, int width, int height)
{
    const size_t n = (size_t)width * (size_t)height;
    double *labels = malloc(n * sizeof *labels);
    unsigned char *to = malloc(n);
    bool ok = labels != NULL && to != NULL && read_labels(rows, width, height, labels);
    for (int i = 0; ok && i < height; i++) {
        for (int j = 0; j < width; j++) {
            const double *at = labels + i * width + j;
            double right = j + 1 < width ? at[1] : *at, below = i + 1 < height ? at[width] : *at;
            to[i * width + j] = right != *at || below != *at;
        }
    }
    const Kind outlines = {1, PNG_COLOR_TYPE_PALETTE, 1, true};
    char *text = ok ? encode(outlines, width, height, to) : NULL;
    free(labels);
    free(to);
    return text;
}

Picture picture_make(const char *image, const char *labels, int side, bool fine)
{
    Picture picture = {.focus = NAN};
    Rows rows, objects = {0};
    if (rows_open(image, &rows)) {
        const double x = (double)rows.info->x, y = (double)rows.info->y, longer = x > y ? x : y;
        const double scale = longer > side ? side / longer : 1;
        picture.width = (int)fmax(1, x * scale);
        picture.height = (int)fmax(1, y * scale);
        picture.pixels = draw_pixels(&rows, &picture, fine);
    }
    if (picture.pixels != NULL && rows_open(labels, &objects)) {
        picture.outlines = draw_outlines(&objects, picture.width, picture.height);
    }
    rows_close(&objects);
    rows_close(&rows);
    return picture;
}
