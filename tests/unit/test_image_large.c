/* Large images row by row: less memory than their pixels would take is enough to read and write. */
#include "fixtures.h"
#include "runtime/files/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <tiffio.h>
#include <unistd.h>
#include <cmocka.h>

#include "images.h"

/* 72 MB of pixels; what a test may take. */
enum { W = 6000, H = 12000, TILE = 512, ROOM = 40 << 20 };

/* Limits the memory of the process to `more` bytes than it has now; 0: ends the limit. */
static void allow(size_t more)
{
#if !defined __SANITIZE_ADDRESS__ && !defined __clang__ /* sanitizers map terabytes */
    struct rlimit limit;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_true(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = more > 0 ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
#else
    (void)more;
#endif
}

static uint8_t pixel(int64_t c, int64_t y, int64_t x)
{
    return (uint8_t)pixel_base(0, c, 0, y, x);
}

static TIFF *begin(int64_t width, int64_t height, int samples)
{
    TIFF *tif = TIFFOpen("large.tif", "w");
    assert_non_null(tif);
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, (uint32_t)width);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, (uint32_t)height);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tif, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(tif, TIFFTAG_ZIPQUALITY, 1);
    return tif;
}

static void write_strips(int samples, int rows)
{
    int64_t width = W / samples;
    TIFF *tif = begin(width, H, samples);
    uint8_t *row = malloc(W);
    assert_non_null(row);
    TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, rows);
    for (int64_t y = 0; y < H; y++) {
        for (int64_t i = 0; i < width * samples; i++) {
            row[i] = pixel(i % samples, y, i / samples);
        }
        assert_int_equal(TIFFWriteScanline(tif, row, (uint32_t)y, 0), 1);
    }
    TIFFClose(tif);
    free(row);
}

/* All in one strip. */
static void write_strip(int samples)
{
    write_strips(samples, H);
}

static void write_tiles(void)
{
    TIFF *tif = begin(W, H, 1);
    uint8_t *tile = malloc(TILE * TILE);
    assert_non_null(tile);
    TIFFSetField(tif, TIFFTAG_TILEWIDTH, TILE);
    TIFFSetField(tif, TIFFTAG_TILELENGTH, TILE);
    for (int64_t y0 = 0; y0 < H; y0 += TILE) {
        for (int64_t x0 = 0; x0 < W; x0 += TILE) {
            for (int64_t i = 0; i < TILE * TILE; i++) {
                tile[i] = pixel(0, y0 + i / TILE, x0 + i % TILE);
            }
            assert_true(TIFFWriteTile(tif, tile, (uint32_t)x0, (uint32_t)y0, 0, 0) > 0);
        }
    }
    TIFFClose(tif);
    free(tile);
}

static void read_rows(ImageFile *file, int64_t c, int64_t row, int64_t rows)
{
    Err err = {0};
    size_t width = (size_t)image_info(file)->x;
    uint8_t *got = malloc((size_t)rows * width);
    assert_non_null(got);
    if (!image_read(file, 0, c, 0, row, rows, got, width, &err)) {
        fail_msg("%s", err.text);
    }
    for (int64_t y = 0; y < rows; y++) {
        for (size_t x = 0; x < width; x += 7) {
            assert_int_equal(got[(size_t)y * width + x], pixel(c, row + y, (int64_t)x));
        }
    }
    free(got);
}

static void read_all_with(Crew *crew, size_t room)
{
    Err err = {0};
    ImageFile *file;
    allow(room);
    if (!image_open("large.tif", &file, &err)) {
        fail_msg("%s", err.text);
    }
    image_use_crew(file, crew);
    int64_t step = image_info(file)->rgb ? 1 : 100;
    for (int64_t y = 0; y < H; y += step) {
        for (int64_t c = 0; c < image_info(file)->c; c++) {
            read_rows(file, c, y, step);
        }
    }
    read_rows(file, 0, H / 2, 10); /* backwards, again, and forwards */
    read_rows(file, 0, H / 2 + 9, 10);
    read_rows(file, 0, H - 1, 1);
    image_close(file);
    allow(0);
}

static void read_all(void)
{
    read_all_with(NULL, ROOM);
}

static void a_large_strip_is_decoded_by_rows(void **state)
{
    (void)state;
    write_strip(1);
    read_all();
    write_strip(3);
    read_all();
}

static void a_damaged_large_strip_is_named(void **state)
{
    (void)state;
    Err err = {0};
    ImageFile *file;
    uint8_t row[W];
    write_strip(1);
    FILE *raw = fopen("large.tif", "r+");
    assert_true(raw != NULL && fseek(raw, 100000, SEEK_SET) == 0);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(fputc(i * 37 & 255, raw), i * 37 & 255);
    }
    assert_int_equal(fclose(raw), 0);
    assert_true(image_open("large.tif", &file, &err));
    assert_false(image_read(file, 0, 0, 0, H - 1, 1, row, W, &err));
    assert_non_null(strstr(err.text, "strip 0 is damaged or cut off"));
    read_rows(file, 0, 0, 1);
    image_close(file);
}

static void tiles_are_decoded_by_rows_of_tiles(void **state)
{
    (void)state;
    write_tiles();
    read_all();
}

enum { STRIP = 3, HELPERS = 3 };

static void a_crew_decodes_strips_and_tiles(void **state)
{
    (void)state;
    Crew *crew = crew_new(HELPERS);
    assert_non_null(crew);
    write_strips(1, STRIP);
    read_all_with(crew, ROOM);
    write_strips(3, STRIP); /* bands are kept for the other samples */
    read_all_with(crew, 4 * ROOM);
    write_tiles();
    read_all_with(crew, ROOM);
    crew_free(crew);
}

/* Overwrites pixels of the strip in the middle of the file; its number. */
/* Tiles of which two of three are left out, or all rows but the last ones. */
static bool is_there(bool tiled, int64_t y, int64_t x)
{
    return tiled ? (y / TILE + x / TILE) % 3 == 0 : y >= H - STRIP;
}

static void write_sparse(bool tiled)
{
    TIFF *tif = begin(W, H, 1);
    uint8_t *data = malloc(TILE * TILE);
    assert_non_null(data);
    TIFFSetField(tif, tiled ? TIFFTAG_TILEWIDTH : TIFFTAG_ROWSPERSTRIP, tiled ? TILE : H - STRIP);
    if (tiled) {
        TIFFSetField(tif, TIFFTAG_TILELENGTH, TILE);
    }
    for (int64_t i = 0; !tiled && i < STRIP * W; i++) {
        data[i] = pixel(0, H - STRIP + i / W, i % W);
    }
    assert_true(tiled || TIFFWriteEncodedStrip(tif, 1, data, STRIP * W) > 0);
    for (int64_t y = 0; tiled && y < H; y += TILE) {
        for (int64_t x = 0; x < W; x += TILE) {
            for (int64_t i = 0; i < TILE * TILE; i++) {
                data[i] = pixel(0, y + i / TILE, x + i % TILE);
            }
            assert_true(!is_there(tiled, y, x) || TIFFWriteTile(tif, data, (uint32_t)x, (uint32_t)y, 0, 0) > 0);
        }
    }
    TIFFClose(tif);
    free(data);
}

static void check_sparse(bool tiled, Crew *crew)
{
    static const int64_t FROM[] = {0, H - 1500};
    Err err = {0};
    ImageFile *file;
    uint8_t *got = malloc(1500 * W);
    assert_non_null(got);
    write_sparse(tiled);
    if (!image_open("large.tif", &file, &err)) {
        fail_msg("%s", err.text);
    }
    image_use_crew(file, crew);
    for (int k = 0; k < 2; k++) {
        assert_true(image_read(file, 0, 0, 0, FROM[k], 1500, got, W, &err));
        for (int64_t i = 0; i < 1500 * W; i += 13) {
            int64_t y = FROM[k] + i / W, x = i % W;
            assert_int_equal(got[i], is_there(tiled, y, x) ? pixel(0, y, x) : 0);
        }
    }
    image_close(file);
    free(got);
}

/* Row by row, and by a crew. */
static void what_is_left_out_is_0(void **state)
{
    (void)state;
    Crew *crew = crew_new(HELPERS);
    assert_non_null(crew);
    check_sparse(false, NULL);
    check_sparse(true, crew);
    crew_free(crew);
}

static int damage_strip(void)
{
    uint64_t *at = NULL;
    int strip = H / STRIP / 2;
    TIFF *tif = TIFFOpen("large.tif", "r");
    assert_true(tif != NULL && TIFFGetField(tif, TIFFTAG_STRIPOFFSETS, &at));
    long offset = (long)at[strip];
    TIFFClose(tif);
    FILE *raw = fopen("large.tif", "r+");
    assert_true(raw != NULL && fseek(raw, offset + 2, SEEK_SET) == 0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(fputc(i * 37 & 255, raw), i * 37 & 255);
    }
    assert_int_equal(fclose(raw), 0);
    return strip;
}

/* Whoever of the crew finds it. */
static void a_damaged_strip_is_named_by_a_crew(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    Err err = {0};
    ImageFile *file;
    char want[80];
    uint8_t *rows = malloc((size_t)ROWS * W);
    Crew *crew = crew_new(HELPERS);
    assert_true(crew != NULL && rows != NULL);
    write_strips(1, STRIP);
    snprintf(want, sizeof want, "strip %d is damaged or cut off", damage_strip());
    assert_true(image_open("large.tif", &file, &err));
    image_use_crew(file, crew);
    for (int from = 0; from < ROWS; from += ROWS / 4) { /* it is another one's piece each time */
        assert_false(image_read(file, 0, 0, 0, H / 2 - from, ROWS, rows, W, &err));
        assert_non_null(strstr(err.text, want));
        err = (Err){0};
        read_rows(file, 0, H / 2 + STRIP, ROWS);
    }
    image_close(file);
    crew_free(crew);
    free(rows);
}

static void rows_are_written_as_they_come(void **state)
{
    (void)state;
    Err err = {0};
    ImageWriter *writer;
    uint32_t row[W];
    ImageInfo shape = {.x = W, .y = H / 4, .z = 1, .c = 1, .t = 1, .elem = ELEM_U32};
    allow(ROOM);
    assert_true(image_create("out.tif", "tif", &shape, ELEM_U32, NULL, &writer, &err));
    for (int64_t y = 0; y < shape.y; y++) {
        for (int64_t x = 0; x < W; x++) {
            row[x] = (uint32_t)(y * W + x);
        }
        assert_true(image_write(writer, 0, 0, 0, y, 1, row, sizeof row, &err));
    }
    assert_true(image_commit(writer, &err));
    allow(0);
    ImageFile *file;
    assert_true(image_open("out.tif", &file, &err));
    for (int64_t y = shape.y - 1; y >= 0; y -= 13) {
        assert_true(image_read(file, 0, 0, 0, y, 1, row, sizeof row, &err));
        for (int64_t x = 0; x < W; x++) {
            assert_int_equal(row[x], (uint32_t)(y * W + x));
        }
    }
    image_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_large_strip_is_decoded_by_rows, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(a_damaged_large_strip_is_named, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(tiles_are_decoded_by_rows_of_tiles, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(a_crew_decodes_strips_and_tiles, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(what_is_left_out_is_0, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(a_damaged_strip_is_named_by_a_crew, folder_enter, folder_leave),
        cmocka_unit_test_setup_teardown(rows_are_written_as_they_come, folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
