/* picture: rows at even distances, each pixel the mean of those that it stands for along its row. */
#include "picture.h"

#include "../files/image.h"
#include "../host/convert.h"
#include "../host/sorted.h"

#include <math.h>
#include <nettle/base64.h>
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

/* Numbers to 0 .. most, from the percentile 1 to 99.8. */
static bool stretch(const Canvas *canvas, int most, unsigned char *to)
{
    size_t n = (size_t)canvas->width * (size_t)canvas->height * (size_t)canvas->channels;
    double *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL) {
        return false;
    }
    memcpy(sorted, canvas->at, n * sizeof *sorted);
    sorted_numbers(sorted, n);
    const double low = sorted[n / 100], high = sorted[n - 1 - n / 500];
    for (size_t i = 0; i < n; i++) {
        double v = high > low ? (canvas->at[i] - low) / (high - low) : 0;
        to[i] = (unsigned char)lrint(most * (v < 0 ? 0 : v > 1 ? 1 : v));
    }
    free(sorted);
    return true;
}

/* ---- PNG in base64 ---------------------------------------------------------------------- */

enum { GRAYS = 16 };
static const unsigned char FEW_GRAYS[GRAYS] = {0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255};
static const unsigned char YELLOW_ON_NOTHING[2 * 4] = {0, 0, 0, 0, 255, 220, 0, 255};

/* `colours`: those that pixels are numbers of; NULL: pixels themselves. */
typedef struct Kind {
    png_uint_32 format;
    const unsigned char *colours;
    png_uint_32 n_colours;
} Kind;

static const Kind GRAY = {PNG_FORMAT_GRAY, NULL, 0}, COLOURS = {PNG_FORMAT_RGB, NULL, 0},
                  COARSE = {PNG_FORMAT_GRAY | PNG_FORMAT_FLAG_COLORMAP, FEW_GRAYS, GRAYS},
                  OUTLINES = {PNG_FORMAT_RGBA | PNG_FORMAT_FLAG_COLORMAP, YELLOW_ON_NOTHING, 2};

static char *base64(const unsigned char *from, size_t n)
{
    char *text = malloc(BASE64_ENCODE_RAW_LENGTH(n) + 1);
    if (text != NULL) {
        base64_encode_raw(text, n, from);
        text[BASE64_ENCODE_RAW_LENGTH(n)] = '\0';
    }
    return text;
}

static char *encode(Kind kind, int width, int height, const unsigned char *pixels)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = kind.format,
                       .colormap_entries = kind.n_colours};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    unsigned char *png = malloc(size);
    bool ok = png != NULL && png_image_write_to_memory(&image, png, &size, 0, pixels, 0, kind.colours);
    char *text = ok ? base64(png, size) : NULL;
    free(png);
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
    ok = ok && stretch(&canvas, channels == 3 || fine ? 255 : GRAYS - 1, to);
    char *text = ok ? encode(channels == 3 ? COLOURS : fine ? GRAY : COARSE, canvas.width, canvas.height, to) : NULL;
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
    char *text = ok ? encode(OUTLINES, width, height, to) : NULL;
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
