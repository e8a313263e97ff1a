/*
 * cells: a synthetic image of any size and what a pipeline must find in it, both row by row, so
 * that images larger than memory can be tried.
 *
 *     cells make IMAGE WIDTH HEIGHT [strips|strip|tiles]
 *         writes the image (u8; strips, the default, are not compressed, the others are)
 *     cells check LABELS TABLE WIDTH HEIGHT
 *         label image and table (label, area, centroid-0, centroid-1, max) as they must be
 *     cells count WIDTH HEIGHT
 *         prints how many objects there are
 *
 * Objects are rectangles in cells of CELL x CELL pixels; every one touches the top of its cell, so
 * that labels count cells in raster order.  Width, height and brightness follow from the cell.
 * Every seventh column of cells has one long object instead, from the first row to the last:
 * whatever parts an image is cut into, it lies in all of them.
 */
#include "../../runtime/files/image.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

enum { CELL = 40, LONG = 7, TILE = 512, TOP = 3, LEFT = 5, BRIGHT = 100 };

typedef struct Scene {
    int64_t width, height;
    int64_t columns, rows; /* of cells that are whole */
} Scene;

static Scene scene_of(const char *width, const char *height)
{
    Scene s = {.width = strtoll(width, NULL, 10), .height = strtoll(height, NULL, 10)};
    s.columns = s.width / CELL;
    s.rows = s.height / CELL;
    return s;
}

static bool is_long(int64_t column)
{
    return column % LONG == LONG - 1;
}

static int64_t object_width(int64_t column, int64_t row)
{
    return is_long(column) ? 4 : 6 + (column * 3 + row) % 25;
}

static int64_t object_height(const Scene *s, int64_t column, int64_t row)
{
    return is_long(column) ? s->rows * CELL - TOP : 4 + (column + row * 5) % 30;
}

static int object_max(int64_t column, int64_t row)
{
    return BRIGHT + 1 + (int)((column + 11 * row) % 150);
}

/* Long columns before `column`. */
static int64_t long_before(int64_t column)
{
    return column / LONG;
}

static int64_t objects(const Scene *s)
{
    int64_t wide = long_before(s->columns);
    return s->rows > 0 ? (s->columns - wide) * s->rows + wide : 0;
}

/* The label of a cell's object: all of the first row of cells come first, long ones among them. */
static int64_t label_of(const Scene *s, int64_t column, int64_t row)
{
    if (row == 0 || is_long(column)) {
        return column + 1;
    }
    int64_t shorts = s->columns - long_before(s->columns);
    return s->columns + (row - 1) * shorts + column - long_before(column) + 1;
}

/* The cell whose object is at a pixel; false: background. */
static bool object_at(const Scene *s, int64_t x, int64_t y, int64_t *column, int64_t *row)
{
    *column = x / CELL;
    *row = y / CELL;
    if (*column >= s->columns || *row >= s->rows) {
        return false;
    }
    int64_t from = is_long(*column) ? 0 : *row;
    int64_t u = x % CELL - LEFT, v = y - from * CELL - TOP;
    *row = from;
    return u >= 0 && v >= 0 && u < object_width(*column, from) && v < object_height(s, *column, from);
}

static uint8_t brightness(const Scene *s, int64_t x, int64_t y)
{
    int64_t column, row;
    if (object_at(s, x, y, &column, &row)) {
        return (uint8_t)object_max(column, row);
    }
    return (uint8_t)((x * 31 + y * 17) % BRIGHT);
}

static int complain(const char *what)
{
    fprintf(stderr, "cells: %s\n", what);
    return 1;
}

/* ---- the image ------------------------------------------------------------------------- */

static bool put_strips(TIFF *tif, const Scene *s, uint8_t *row)
{
    for (int64_t y = 0; y < s->height; y++) {
        for (int64_t x = 0; x < s->width; x++) {
            row[x] = brightness(s, x, y);
        }
        if (TIFFWriteScanline(tif, row, (uint32_t)y, 0) != 1) {
            return false;
        }
    }
    return true;
}

static bool put_tiles(TIFF *tif, const Scene *s, uint8_t *tile)
{
    for (int64_t y0 = 0; y0 < s->height; y0 += TILE) {
        for (int64_t x0 = 0; x0 < s->width; x0 += TILE) {
            for (int64_t i = 0; i < TILE * TILE; i++) {
                tile[i] = brightness(s, x0 + i % TILE, y0 + i / TILE);
            }
            if (TIFFWriteTile(tif, tile, (uint32_t)x0, (uint32_t)y0, 0, 0) < 0) {
                return false;
            }
        }
    }
    return true;
}

static int make(const char *path, const Scene *s, const char *how)
{
    bool tiles = strcmp(how, "tiles") == 0, plain = strcmp(how, "strips") == 0;
    TIFF *tif = TIFFOpen(path, "w8");
    uint8_t *pixels = malloc((size_t)(tiles ? TILE * TILE : s->width));
    if (tif == NULL || pixels == NULL) {
        return complain("cannot write the image");
    }
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, (uint32_t)s->width);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, (uint32_t)s->height);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tif, TIFFTAG_COMPRESSION, plain ? COMPRESSION_NONE : COMPRESSION_ADOBE_DEFLATE);
    if (tiles) {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, TILE);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, TILE);
    } else {
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, plain ? 64 : (uint32_t)s->height);
    }
    bool ok = tiles ? put_tiles(tif, s, pixels) : put_strips(tif, s, pixels);
    ok = ok && TIFFFlush(tif) == 1;
    TIFFClose(tif);
    free(pixels);
    return ok ? 0 : complain("cannot write the image");
}

/* ---- the results ----------------------------------------------------------------------- */

static bool right_row(const Scene *s, int64_t y, const char *row, Elem elem)
{
    int64_t column, cell;
    for (int64_t x = 0; x < s->width; x++) {
        int64_t want = object_at(s, x, y, &column, &cell) ? label_of(s, column, cell) : 0;
        double got = elem_get(row, (size_t)x, elem);
        if (got != (double)want) {
            fprintf(stderr, "cells: pixel (%" PRId64 ", %" PRId64 ") has label %g, not %" PRId64 "\n", x, y, got, want);
            return false;
        }
    }
    return true;
}

static int check_labels(const char *path, const Scene *s)
{
    ImageFile *file;
    Err err = {0};
    if (!image_open(path, &file, &err)) {
        return complain(err.text);
    }
    const ImageInfo *info = image_info(file);
    size_t pitch = (size_t)info->x * elem_size(info->elem);
    char *row = malloc(pitch);
    bool ok = row != NULL && info->x == s->width && info->y == s->height &&
              info->elem == (objects(s) > 65535 ? ELEM_U32 : ELEM_U16);
    if (!ok) {
        complain("the label image has other extents or another type");
    }
    for (int64_t y = 0; ok && y < s->height; y++) {
        ok = image_read(file, 0, 0, 0, y, 1, row, pitch, &err) && right_row(s, y, row, info->elem);
    }
    free(row);
    image_close(file);
    return ok ? 0 : complain(err.code != CODE_OK ? err.text : "wrong labels");
}

static bool right_line(const Scene *s, int64_t column, int64_t row, const char *line)
{
    double got[5], w = (double)object_width(column, row), h = (double)object_height(s, column, row);
    const double want[5] = {(double)label_of(s, column, row), w * h, (double)(row * CELL + TOP) + (h - 1) / 2,
                            (double)(column * CELL + LEFT) + (w - 1) / 2, object_max(column, row)};
    bool ok = sscanf(line, "%lf,%lf,%lf,%lf,%lf", &got[0], &got[1], &got[2], &got[3], &got[4]) == 5;
    for (int i = 0; ok && i < 5; i++) {
        ok = fabs(got[i] - want[i]) <= 1e-9 * (1 + fabs(want[i]));
    }
    if (!ok) {
        fprintf(stderr, "cells: object %g is '%s', not %g,%.10g,%.10g,%g\n", want[0], line, want[1], want[2], want[3],
                want[4]);
    }
    return ok;
}

static int check_table(const char *path, const Scene *s)
{
    char line[500];
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL ||
        strcmp(line, "label,area,centroid-0,centroid-1,max\n") != 0) {
        return complain("no table, or one with other columns");
    }
    bool ok = true;
    for (int64_t row = 0; ok && row < s->rows; row++) {
        for (int64_t column = 0; ok && column < s->columns; column++) {
            if (row == 0 || !is_long(column)) {
                ok = fgets(line, sizeof line, file) != NULL && right_line(s, column, row, line);
            }
        }
    }
    ok = ok && fgets(line, sizeof line, file) == NULL;
    fclose(file);
    return ok ? 0 : complain("wrong table");
}

int main(int argc, char **argv)
{
    if (argc >= 5 && strcmp(argv[1], "make") == 0) {
        Scene s = scene_of(argv[3], argv[4]);
        return make(argv[2], &s, argc > 5 ? argv[5] : "strips");
    }
    if (argc == 6 && strcmp(argv[1], "check") == 0) {
        Scene s = scene_of(argv[4], argv[5]);
        return check_labels(argv[2], &s) + check_table(argv[3], &s);
    }
    if (argc == 4 && strcmp(argv[1], "count") == 0) {
        Scene s = scene_of(argv[2], argv[3]);
        printf("%" PRId64 "\n", objects(&s));
        return 0;
    }
    return complain("wrong usage");
}
