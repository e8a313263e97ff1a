/*
 * test_zarr_write: OME-Zarr as pipec writes it: levels, bands of several planes at once, label images of an image, the
 * place of pixels, and what happens to a folder that has the name.  tests/cross/read_zarr.py reads the same with other
 * libraries.
 */
#include "images.h"

#include "../../base/file.h"
#include "../../runtime/files/image_levels.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* With PIPEC_KEEP_IMAGES folders stay in that one. */
static const char *place_of(const char *name)
{
    static char path[4][600];
    static int next;
    const char *keep = getenv("PIPEC_KEEP_IMAGES");
    if (keep == NULL) {
        return scratch_path(name);
    }
    char *to = path[next++ % 4];
    snprintf(to, 600, "%s/%s", keep, name);
    return to;
}

/* A pixel that differs from its neighbours, and from those of other planes. */
static double value(int64_t plane, int64_t y, int64_t x)
{
    return (double)((x * 7 + y * y % 1009 * 13 + x * y % 31 + plane * 5000) % 60000);
}

static void must(bool ok, const Err *err)
{
    if (!ok) {
        fail_msg("%s", err->text);
    }
}

/* Writes an image, some rows of all planes before the next ones; some chunks are zeros. */
static void write_image(const char *path, const ImageInfo *shape, Elem elem, const ImageMeta *meta)
{
    ImageWriter *writer;
    Err err = {0};
    size_t line = (size_t)shape->x * elem_size(elem);
    char *rows = malloc(99 * line);
    int64_t planes = shape->t * shape->c * shape->z;
    assert_non_null(rows);
    must(image_create(path, meta->pyramid ? "tif" : "zarr", shape, elem, meta, &writer, &err), &err);
    for (int64_t y = 0; y < shape->y; y += 99) {
        int64_t n = shape->y - y < 99 ? shape->y - y : 99;
        for (int64_t p = 0; p < planes; p++) {
            for (int64_t i = 0; i < n * shape->x; i++) {
                bool empty = p == 0 && i % shape->x < 512 && y + i / shape->x < 512;
                pixel_put(elem, rows, (size_t)i, empty ? 0 : value(p, y + i / shape->x, i % shape->x));
            }
            must(image_write(writer, p / (shape->c * shape->z), p / shape->z % shape->c, p % shape->z, y, n, rows, line,
                             &err),
                 &err);
        }
    }
    free(rows);
    must(image_commit(writer, &err), &err);
}

/* All pixels of a plane of a level; owned by the caller (free). */
static void *read_plane(const char *path, int level, int64_t plane, ImageInfo *info)
{
    char name[640];
    ImageFile *file;
    Err err = {0};
    snprintf(name, sizeof name, "%s[level=%d]", path, level);
    must(image_open(name, &file, &err), &err);
    *info = *image_info(file);
    size_t line = (size_t)info->x * elem_size(info->elem);
    void *pixels = malloc(line * (size_t)info->y);
    assert_non_null(pixels);
    must(image_read(file, plane / (info->c * info->z), plane / info->z % info->c, plane % info->z, 0, info->y, pixels,
                    line, &err),
         &err);
    image_close(file);
    return pixels;
}

/* The pixel that a level should have, from the level before it. */
static double reduced(const ImageInfo *from, const void *pixels, int64_t y, int64_t x, bool nearest)
{
    int64_t y1 = 2 * y + 1 < from->y ? 2 * y + 1 : 2 * y, x1 = 2 * x + 1 < from->x ? 2 * x + 1 : 2 * x;
    double a = pixel_get(from->elem, pixels, (size_t)(2 * y * from->x + 2 * x));
    double sum = a + pixel_get(from->elem, pixels, (size_t)(2 * y * from->x + x1)) +
                 pixel_get(from->elem, pixels, (size_t)(y1 * from->x + 2 * x)) +
                 pixel_get(from->elem, pixels, (size_t)(y1 * from->x + x1));
    return nearest ? a : elem_is_integer(from->elem) ? floor((sum + 2) / 4) : (double)(float)(sum / 4);
}

static void check_levels(const char *path, const ImageInfo *shape, Elem elem, int levels, bool nearest)
{
    for (int64_t p = 0; p < shape->t * shape->c * shape->z; p++) {
        ImageInfo above, info;
        void *before = read_plane(path, 0, p, &above);
        for (int64_t i = 0; i < shape->x * shape->y; i++) {
            bool empty = p == 0 && i % shape->x < 512 && i / shape->x < 512;
            double want = empty ? 0 : value(p, i / shape->x, i % shape->x);
            want = elem == ELEM_BOOL ? (fmod(want, 256) != 0) * 255.0 : want;
            if (pixel_get(above.elem, before, (size_t)i) != want) {
                fail_msg("%s: plane %d, pixel %d is not %g", path, (int)p, (int)i, want);
            }
        }
        for (int level = 1; level < levels; level++) {
            void *pixels = read_plane(path, level, p, &info);
            assert_true(info.x == (above.x + 1) / 2 && info.y == (above.y + 1) / 2 && info.elem == above.elem);
            for (int64_t i = 0; i < info.x * info.y; i++) {
                double want = reduced(&above, before, i / info.x, i % info.x, nearest);
                if (pixel_get(info.elem, pixels, (size_t)i) != want) {
                    fail_msg("%s: level %d, pixel %d is not %g", path, level, (int)i, want);
                }
            }
            free(before);
            before = pixels;
            above = info;
        }
        free(before);
    }
    ImageFile *file;
    Err err = {0};
    char name[640];
    snprintf(name, sizeof name, "%s[level=%d]", path, levels);
    assert_false(image_open(name, &file, &err));
}

static void test_levels(void **state)
{
    static const struct {
        const char *name;
        ImageInfo shape;
        Elem elem;
        ImageMeta meta;
        int levels;
    } cases[] = {
        {"mean.ome.zarr",
         {.x = 1300, .y = 1025, .z = 2, .c = 1, .t = 1, .has_z = true},
         ELEM_U16,
         {.zarr = OME_ZARR_0_4},
         3},
        {"shards.ome.zarr", {.x = 1300, .y = 1025, .z = 1, .c = 2, .t = 1}, ELEM_U16, {.zarr = OME_ZARR_0_5}, 3},
        {"floats.ome.zarr", {.x = 600, .y = 513, .z = 1, .c = 1, .t = 1}, ELEM_F32, {.zarr = OME_ZARR_0_5}, 2},
        {"labels.ome.zarr",
         {.x = 1027, .y = 700, .z = 1, .c = 1, .t = 1},
         ELEM_U32,
         {.labels = true, .compress = true},
         3},
        {"mask.ome.zarr", {.x = 600, .y = 600, .z = 1, .c = 1, .t = 1}, ELEM_BOOL, {.zarr = OME_ZARR_0_4}, 2},
        {"chunks.ome.zarr",
         {.x = 1027, .y = 700, .z = 1, .c = 1, .t = 1},
         ELEM_U16,
         {.tile = 96, .zarr = OME_ZARR_0_5, .compress = true},
         3},
        {"files.ome.zarr",
         {.x = 600, .y = 7, .z = 1, .c = 1, .t = 1},
         ELEM_U16,
         {.tile = 256, .zarr = OME_ZARR_0_5, .unsharded = true},
         2},
        {"flat.ome.zarr", {.x = 600, .y = 7, .z = 1, .c = 1, .t = 1}, ELEM_U16, {.flat = true, .plain = true}, 1},
        {"tiles.tif",
         {.x = 530, .y = 50, .z = 2, .c = 3, .t = 1, .has_z = true, .has_c = true, .rgb = true},
         ELEM_U16,
         {.pyramid = true, .tile = 48},
         2},
        {"mean.tif",
         {.x = 1300, .y = 1025, .z = 2, .c = 2, .t = 1, .has_z = true, .has_c = true},
         ELEM_U16,
         {.pyramid = true},
         3},
        {"packed.tif",
         {.x = 600, .y = 513, .z = 1, .c = 1, .t = 2, .has_t = true},
         ELEM_F32,
         {.pyramid = true, .compress = true},
         2},
        {"colours.tif",
         {.x = 515, .y = 1027, .z = 1, .c = 3, .t = 1, .has_c = true, .rgb = true},
         ELEM_U16,
         {.pyramid = true},
         3},
        {"apart.tif",
         {.x = 600, .y = 515, .z = 2, .c = 3, .t = 1, .has_z = true, .has_c = true, .rgb = true},
         ELEM_U16,
         {.pyramid = true, .compress = true, .zstd = true},
         2},
        {"labels.tif",
         {.x = 1027, .y = 700, .z = 1, .c = 1, .t = 1},
         ELEM_U32,
         {.pyramid = true, .labels = true, .compress = true},
         3},
        {"mask.tif", {.x = 600, .y = 601, .z = 1, .c = 1, .t = 1}, ELEM_BOOL, {.pyramid = true, .compress = true}, 2},
        {"small.tif", {.x = 512, .y = 9, .z = 1, .c = 1, .t = 1}, ELEM_U16, {.pyramid = true}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = place_of(cases[i].name);
        write_image(path, &cases[i].shape, cases[i].elem, &cases[i].meta);
        check_levels(path, &cases[i].shape, cases[i].elem, cases[i].levels,
                     cases[i].elem == ELEM_BOOL || cases[i].meta.labels);
    }
    assert_int_equal(access(place_of("mean.ome.zarr/0/0/0/0"), F_OK), -1); /* zeros */
    assert_int_equal(access(place_of("mean.ome.zarr/0/1/0/0"), F_OK), 0);
    assert_int_equal(access(place_of("chunks.ome.zarr/1/c/3/0"), F_OK), 0);
    assert_int_equal(access(place_of("files.ome.zarr/0/c/0/2"), F_OK), 0);
}

/* Means of negative numbers are rounded as those of others: halves up. */
static void test_means(void **state)
{
    const int16_t above[5] = {-1, -1, -32768, -32768, -3}, below[5] = {-1, 0, -32768, -32768, -4};
    const uint32_t most[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX - 1};
    const double nan[2] = {(double)NAN, 1};
    int16_t words[3];
    uint32_t whole[1];
    double floats[1], low = (double)INFINITY, high = -(double)INFINITY;
    (void)state;
    levels_mean(ELEM_I16, above, below, 5, words);
    assert_true(words[0] == -1 && words[1] == -32768 && words[2] == -3); /* -0.75, -3.5 */
    levels_mean(ELEM_U32, most, most + 2, 2, whole);
    assert_true(whole[0] == UINT32_MAX); /* a quarter below */
    levels_mean(ELEM_F64, nan, nan, 2, floats);
    assert_true(isnan(floats[0]));
    levels_range(ELEM_F64, nan, 2, &low, &high);
    assert_true(low == 1 && high == 1);
}

static char *text_of(const char *path)
{
    char *text;
    size_t size;
    Err err = {0};
    must(file_read(path, &text, &size, &err), &err);
    return text;
}

static void shows(const char *path, const char *what)
{
    char *text = text_of(path);
    if (strstr(text, what) == NULL) {
        fail_msg("%s has no %s: %s", path, what, text);
    }
    free(text);
}

/* Sizes, places, names and colours go through a file and back. */
static void test_metadata(void **state)
{
    const ImageInfo shape = {.x = 600, .y = 9, .z = 2, .c = 2, .t = 3, .has_z = true, .has_c = true, .has_t = true};
    ImageInfo like = {.size = {0.5, 0.25, 2},
                      .size_um = {500, 250, 2000},
                      .origin = {3, 0, -1},
                      .unit = "mm",
                      .interval = 1.5,
                      .channels = "\xCE\xB1 \"1\"\0b\\",
                      .colours = "12AB34\0"
                                 "0000FF"};
    ImageMeta meta = {.like = &like, .channels = true, .software = "pipec", .parameters = "k=\x01\xFF"};
    (void)state;
    for (int version = OME_ZARR_0_4; version <= OME_ZARR_0_5; version++) {
        const char *path = place_of(version == OME_ZARR_0_4 ? "meta4.ome.zarr" : "meta5.ome.zarr");
        ImageInfo info;
        meta.zarr = (ZarrVersion)version;
        write_image(path, &shape, ELEM_U8, &meta);
        free(read_plane(path, 1, 3, &info));
        assert_true(info.size_um[0] == 1000 && info.size_um[1] == 500 && info.size_um[2] == 2000 &&
                    info.interval == 1.5);
        assert_true(info.origin[0] == 3250 && info.origin[1] == 125 && info.origin[2] == -1000);
        assert_string_equal(info.unit, "micrometer");
        ImageFile *file;
        Err err = {0};
        must(image_open(path, &file, &err), &err);
        assert_memory_equal(image_info(file)->channels, like.channels, 9);
        assert_memory_equal(image_info(file)->colours, like.colours, 14);
        image_close(file);
        char name[640];
        snprintf(name, sizeof name, "%s/%s", path, version == OME_ZARR_0_4 ? ".zattrs" : "zarr.json");
        shows(name, "\"label\": \"\xCE\xB1 \\\"1\\\"\"");
        shows(name, "\"label\": \"b\\\\\"");
        shows(name, "\"color\": \"0000FF\"");
        shows(name, "k=\\u0001\xEF\xBF\xBD");
    }
    /* Pixels that were cut out, and those of every second column. */
    const ImageInfo line = {.x = 20, .y = 4, .z = 1, .c = 1, .t = 1};
    meta = (ImageMeta){.like = &like, .place = {true, {{2, 0, 0, 10}, {0, 1, 0, 4}, {0, 0, 1, 0}}}};
    ImageInfo info;
    write_image(place_of("moved.ome.zarr"), &line, ELEM_U8, &meta);
    free(read_plane(place_of("moved.ome.zarr"), 0, 0, &info));
    assert_true(info.size_um[0] == 1000 && info.size_um[1] == 250 && info.origin[0] == 8000 && info.origin[1] == 1000);
}

/* A picture of red, green and blue stays one. */
static void test_colours(void **state)
{
    const ImageInfo shape = {.x = 20, .y = 9, .z = 1, .c = 3, .t = 1, .rgb = true};
    ImageInfo info;
    (void)state;
    write_image(place_of("colours.ome.zarr"), &shape, ELEM_U8, &(ImageMeta){.zarr = OME_ZARR_0_5});
    free(read_plane(place_of("colours.ome.zarr"), 0, 0, &info));
    assert_true(info.rgb && info.c == 3 && info.channels == NULL);
}

/* Label images of an image have its version and stand in a list. */
static void test_labels(void **state)
{
    const ImageInfo shape = {.x = 20, .y = 9, .z = 1, .c = 1, .t = 1};
    const ImageMeta labels = {.labels = true};
    ImageWriter *writer;
    Err err = {0};
    (void)state;
    for (int version = OME_ZARR_0_4; version <= OME_ZARR_0_5; version++) {
        const char *image = version == OME_ZARR_0_4 ? "four.ome.zarr" : "five.ome.zarr";
        const char *meta = version == OME_ZARR_0_4 ? ".zattrs" : "zarr.json";
        char name[200];
        ImageInfo info;
        write_image(place_of(image), &shape, ELEM_U8, &(ImageMeta){.zarr = (ZarrVersion)version});
        for (int i = 0; i < 3; i++) { /* the first one twice */
            snprintf(name, sizeof name, "%s/labels/%s", image, i == 1 ? "b" : "a");
            write_image(place_of(name), &shape, ELEM_U16, &labels);
            free(read_plane(place_of(name), 0, 0, &info));
        }
        snprintf(name, sizeof name, "%s/labels/%s", image, meta);
        shows(place_of(name), "\"labels\": [\"b\", \"a\"]");
        snprintf(name, sizeof name, "%s/labels/a/%s", image, meta);
        shows(place_of(name), "\"source\": {\"image\": \"../../\"}");
    }
    assert_false(image_create(place_of("none.ome.zarr/labels/a"), "zarr", &shape, ELEM_U16, &labels, &writer, &err));
    assert_non_null(strstr(err.text, "none.ome.zarr' is no image of OME-Zarr that could have labels"));
    file_discard(place_of("none.ome.zarr"), -1);
}

/* Fields of a plate are listed in it, in their order, whoever comes first. */
static void test_plates(void **state)
{
    static const char *const FIELDS[] = {"B/10/1", "A/2/0", "B/10/0", "B/9/0", "A/2/0"};
    const ImageInfo shape = {.x = 20, .y = 9, .z = 1, .c = 1, .t = 1};
    ImageWriter *writer;
    Err err = {0};
    (void)state;
    for (int version = OME_ZARR_0_4; version <= OME_ZARR_0_5; version++) {
        const char *plate = version == OME_ZARR_0_4 ? "plate4.zarr" : "plate5.zarr";
        const char *meta = version == OME_ZARR_0_4 ? ".zattrs" : "zarr.json";
        char name[200];
        for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS;
             i++) { /* those after the first have the plate's version */
            ImageInfo info;
            snprintf(name, sizeof name, "%s/%s", plate, FIELDS[i]);
            write_image(place_of(name), &shape, ELEM_U8,
                        &(ImageMeta){.zarr = i == 0 ? (ZarrVersion)version : OME_ZARR_0_4});
            free(read_plane(place_of(name), 0, 0, &info));
        }
        snprintf(name, sizeof name, "%s/%s", plate, meta);
        shows(place_of(name), "\"rows\": [{\"name\": \"A\"}, {\"name\": \"B\"}]");
        shows(place_of(name), "\"columns\": [{\"name\": \"2\"}, {\"name\": \"9\"}, {\"name\": \"10\"}]");
        shows(place_of(name), "{\"path\": \"B/10\", \"rowIndex\": 1, \"columnIndex\": 2}");
        snprintf(name, sizeof name, "%s/B/10/%s", plate, meta);
        shows(place_of(name), "\"images\": [{\"path\": \"0\"}, {\"path\": \"1\"}]");
    }
    assert_false(image_create(place_of("five.ome.zarr/A/1/0"), "zarr", &shape, ELEM_U8, NULL, &writer, &err));
    assert_non_null(strstr(err.text, "five.ome.zarr' is there, and no plate"));
    err_clear(&err);
    static const char BAD[] = "{\"plate\": {\"wells\": [{\"path\": \"..\"}]}}";
    must(file_write(place_of("bad.zarr/.zattrs"), BAD, strlen(BAD), &err), &err);
    must(image_create(place_of("bad.zarr/A/2/0"), "zarr", &shape, ELEM_U8, NULL, &writer, &err), &err);
    const char zeros[20 * 9] = {0};
    must(image_write(writer, 0, 0, 0, 0, 9, zeros, 20, &err), &err);
    assert_false(image_commit(writer, &err));
    assert_non_null(strstr(err.text, "list what is no well or field"));
    file_discard(place_of("bad.zarr"), -1);
}

/* A folder that has the name is replaced as a whole; a file, and a folder of something else, are not. */
static void test_replaced(void **state)
{
    const ImageInfo shape = {.x = 20, .y = 9, .z = 1, .c = 1, .t = 1};
    ImageWriter *writer;
    Err err = {0};
    (void)state;
    write_image(place_of("again.ome.zarr"), &shape, ELEM_U8, &(ImageMeta){.zarr = OME_ZARR_0_4});
    assert_true(image_may_replace(place_of("again.ome.zarr"), "zarr"));
    assert_true(image_create(place_of("again.ome.zarr"), "zarr", &shape, ELEM_U8, NULL, &writer, &err));
    image_abort(writer);
    assert_int_equal(access(place_of("again.ome.zarr/.zattrs"), F_OK), 0);
    write_image(place_of("again.ome.zarr"), &shape, ELEM_U8, &(ImageMeta){.zarr = OME_ZARR_0_5});
    assert_int_equal(access(place_of("again.ome.zarr/.zattrs"), F_OK), -1);
    assert_int_equal(access(place_of("again.ome.zarr/zarr.json"), F_OK), 0);
    mkdir(place_of("folder.zarr"), 0777);
    assert_false(image_may_replace(place_of("folder.zarr"), "zarr"));
    must(file_write(place_of("file.zarr"), "text", 4, &err), &err);
    assert_false(image_may_replace(place_of("file.zarr"), "zarr"));
    assert_false(image_create(place_of("file.zarr"), "zarr", &shape, ELEM_U8, NULL, &writer, &err));
    assert_non_null(strstr(err.text, "it is a file, and the output is a folder"));
    file_discard(place_of("folder.zarr"), -1);
    file_discard(place_of("file.zarr"), -1);
}

/* Folders that killed processes have left are swept, those of this one at the end of it. */
static void test_swept(void **state)
{
    char temp[600];
    int fd;
    Err err = {0};
    (void)state;
    must(file_temp_folder(scratch_path("left.zarr"), temp, sizeof temp, &fd, &err), &err);
    assert_int_equal(mkdirat(fd, "0", 0777), 0);
    close(fd);
    char *pid = strrchr(temp, '-'), gone[700]; /* of a process that there is none of */
    *pid = '\0';
    *strrchr(temp, '-') = '\0';
    snprintf(gone, sizeof gone, "%s-999999999-%s", temp, pid + 1);
    *pid = '-';
    temp[strlen(temp)] = '-';
    assert_int_equal(rename(temp, gone), 0);
    assert_int_equal(file_sweep(scratch_path("")), 1);
    assert_int_equal(access(gone, F_OK), -1);
}

static int remove_all(void **state)
{
    (void)state;
    file_discard(scratch_path(""), -1);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),   cmocka_unit_test(test_means),  cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_colours),  cmocka_unit_test(test_labels), cmocka_unit_test(test_plates),
        cmocka_unit_test(test_replaced), cmocka_unit_test(test_swept),
    };
    return cmocka_run_group_tests(tests, NULL, remove_all);
}
