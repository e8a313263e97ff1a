/*
 * outlines: rings of random labels, filled again by crossing them, are the labels; no ring has a corner twice, and parts have one outer
 * ring.  GeoJSON is what is expected word for word; ROIs are read as ImageJ's decoder does.
 */
#include "runtime/files/outlines.h"
#include "images.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include <cmocka.h>

enum { MOST = 40 };

typedef uint32_t Labels[MOST * MOST];

/* Turns the pixels of each row inside out to the right of a side that a ring has there: what is inside is odd. */
static void cross(const Outlines *all, const OutlineRing *ring, int width, unsigned char *odd)
{
    for (size_t i = 0; i < ring->n; i++) {
        const OutlinePoint p = all->points[ring->first + i], q = all->points[ring->first + (i + 1) % ring->n];
        assert_true((p.x == q.x) != (p.y == q.y));
        for (int y = p.y < q.y ? p.y : q.y; p.x == q.x && y < (p.y < q.y ? q.y : p.y); y++) {
            for (int x = p.x; x < width; x++) {
                odd[y * width + x] ^= 1;
            }
        }
    }
}

static void has_no_corner_twice(const Outlines *all, const OutlineRing *ring)
{
    for (size_t i = 0; i < ring->n; i++) {
        for (size_t k = 0; k < i; k++) {
            const OutlinePoint *p = &all->points[ring->first + i], *q = &all->points[ring->first + k];
            assert_false(p->x == q->x && p->y == q->y);
        }
    }
}

static void check_outlines(const uint32_t *labels, int width, int height)
{
    Outlines all;
    Err err = {0};
    assert_true(outlines_of(labels, width, height, &all, &err));
    for (size_t r = 0; r < all.n_rings; r++) {
        const OutlineRing *ring = &all.rings[r];
        const bool starts = r == 0 || ring[-1].label != ring->label || ring[-1].part != ring->part;
        has_no_corner_twice(&all, ring);
        assert_int_equal(starts, !ring->hole);
    }
    for (uint32_t label = 1; label <= 3; label++) {
        unsigned char odd[MOST * MOST] = {0};
        for (size_t r = 0; r < all.n_rings; r++) {
            if (all.rings[r].label == label) {
                cross(&all, &all.rings[r], width, odd);
            }
        }
        for (int i = 0; i < width * height; i++) {
            assert_int_equal(odd[i], labels[i] == label);
        }
    }
    outlines_free(&all);
}

static void random_labels_come_back(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int turn = 0; turn < 300; turn++) {
        Labels labels;
        const int width = 1 + turn % MOST, height = 1 + turn * 7 % MOST, most = turn % 3;
        for (int i = 0; i < width * height; i++) {
            random = random * 1664525 + 1013904223;
            const uint32_t draw = random >> 24;
            const bool same = turn % 4 == 1 && i > 0 && draw % 3 > 0;
            labels[i] = same ? labels[i - 1] : most == 0 ? draw % 2 : draw % 4;
        }
        check_outlines(labels, width, height);
    }
}

static char *written(const char *format, const ImageInfo *shape, Elem elem, bool labels, const void *pixels, size_t *n)
{
    char path[] = "/tmp/pipec-outlines-XXXXXX";
    int fd = mkstemp(path);
    ImageWriter *writer;
    Err err = {0};
    const ImageMeta meta = {.labels = labels};
    const size_t pitch = (size_t)shape->x * elem_size(elem);
    assert_true(fd >= 0);
    close(fd);
    assert_true(image_create(path, format, shape, elem, &meta, &writer, &err));
    for (int64_t z = shape->z - 1; z >= 0; z--) { /* the last plane first */
        for (int64_t y = 0; y < shape->y; y++) {
            assert_true(image_write(writer, 0, 0, z, y, 1, (const char *)pixels + (size_t)(z * shape->y + y) * pitch,
                                    pitch, &err));
        }
    }
    assert_true(image_commit(writer, &err));
    FILE *from = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    assert_non_null(from);
    *n = fread(text, 1, (1 << 16) - 1, from);
    fclose(from);
    ImageFile *file;
    assert_false(image_open(path, &file, &err));
    assert_non_null(strstr(err.text, strcmp(format, "roi") == 0 ? "a zip archive" : "GeoJSON, which has outlines"));
    unlink(path);
    return text;
}

/* A ring around a pixel of another label, two pixels that meet at a corner, and a plane without objects. */
static const uint16_t TWO_PLANES[] = {
    1, 1, 1, 0, 3, 0, 1, 2, 1, 0, 0, 3, 1, 1, 1, 0, 0, 0, /* */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7,
};

static void geojson_is_what_qupath_reads(void **state)
{
    (void)state;
    size_t n;
    const ImageInfo plane = {.x = 6, .y = 3, .z = 1, .c = 1, .t = 1}, stack = {.x = 6, .y = 3, .z = 2, .c = 1, .t = 1};
    char *text = written("geojson", &plane, ELEM_U16, true, TWO_PLANES, &n);
    assert_string_equal(
        text,
        "{\"type\":\"FeatureCollection\",\"features\":[\n"
        "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[3,0],[3,3],[0,3],[0,0]],"
        "[[1,2],[2,2],[2,1],[1,1],[1,2]]]},\"properties\":{\"objectType\":\"detection\",\"name\":\"1\",\"label\":1}},\n"
        "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[[1,1],[2,1],[2,2],[1,2],[1,1]]]},"
        "\"properties\":{\"objectType\":\"detection\",\"name\":\"2\",\"label\":2}},\n"
        "{\"type\":\"Feature\",\"geometry\":{\"type\":\"MultiPolygon\",\"coordinates\":[[[[4,0],[5,0],[5,1],[4,1],[4,0]]],"
        "[[[5,1],[6,1],[6,2],[5,2],[5,1]]]]},\"properties\":{\"objectType\":\"detection\",\"name\":\"3\",\"label\":3}}\n]}\n");
    free(text);
    text = written("geojson", &stack, ELEM_U16, true, TWO_PLANES, &n);
    assert_non_null(strstr(text, "[0,0]],[[1,2],[2,2],[2,1],[1,1],[1,2]]],\"plane\":{\"c\":-1,\"z\":0,\"t\":0}}"));
    assert_non_null(strstr(text,
                           "\"coordinates\":[[[5,2],[6,2],[6,3],[5,3],[5,2]]],\"plane\":{\"c\":-1,\"z\":1,\"t\":0}},"
                           "\"properties\":{\"objectType\":\"detection\",\"name\":\"7\",\"label\":7}}\n]}\n"));
    free(text);
    static const unsigned char mask[] = {0, 0, 255, 0};
    text = written("geojson", &(ImageInfo){.x = 2, .y = 2, .z = 1, .c = 1, .t = 1}, ELEM_BOOL, false, mask, &n);
    assert_string_equal(
        text,
        "{\"type\":\"FeatureCollection\",\"features\":[\n{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\","
        "\"coordinates\":[[[0,1],[1,1],[1,2],[0,2],[0,1]]]},\"properties\":{\"objectType\":\"annotation\"}}\n]}\n");
    free(text);
    static const unsigned char nothing[4];
    text = written("geojson", &(ImageInfo){.x = 2, .y = 2, .z = 1, .c = 1, .t = 1}, ELEM_BOOL, false, nothing, &n);
    assert_string_equal(text, "{\"type\":\"FeatureCollection\",\"features\":[\n\n]}\n");
    free(text);
}

static uint32_t big(const unsigned char *at, int bytes)
{
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++) {
        v = v << 8 | at[i];
    }
    return v;
}

static uint32_t little(const unsigned char *at, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) {
        v = v << 8 | at[i];
    }
    return v;
}

/* The ROI of an entry of the archive, whose place in it is kept in *at. */
static const unsigned char *next_roi(const unsigned char *archive, size_t *at, const char *name)
{
    const unsigned char *head = archive + *at, *roi = head + 30 + little(head + 26, 2);
    assert_memory_equal(head, "PK\3\4", 4);
    assert_int_equal(little(head + 26, 2), strlen(name));
    assert_memory_equal(head + 30, name, strlen(name));
    assert_int_equal(little(head + 14, 4), crc32(0, roi, (uInt)little(head + 18, 4)));
    assert_memory_equal(roi, "Iout", 4);
    *at += 30 + strlen(name) + little(head + 18, 4);
    return roi;
}

static void check_roi(const unsigned char *roi, int type, const int box[4], uint32_t position, const char *name)
{
    assert_int_equal(roi[6], type);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(big(roi + 8 + 2 * i, 2), box[i]);
    }
    assert_int_equal(big(roi + 56, 4), position);
    const unsigned char *second = roi + big(roi + 60, 4);
    assert_int_equal(big(second + 20, 4), strlen(name));
    for (size_t i = 0; i < strlen(name); i++) {
        assert_int_equal(big(roi + big(second + 16, 4) + 2 * i, 2), name[i]);
    }
}

static void rois_are_what_imagej_reads(void **state)
{
    (void)state;
    size_t n, at = 0;
    const ImageInfo stack = {.x = 6, .y = 3, .z = 2, .c = 1, .t = 1};
    char *text = written("roi", &stack, ELEM_U16, true, TWO_PLANES, &n);
    const unsigned char *archive = (const unsigned char *)text;

    const unsigned char *roi = next_roi(archive, &at, "1-z1.roi"); /* a path: begin, 3 lines, end, and the hole */
    check_roi(roi, 1, (int[]){0, 0, 3, 3}, 1, "1-z1");
    assert_int_equal(big(roi + 36, 4), 2 * (4 * 3 + 1));
    static const float path[] = {0, 0, 0, 1, 3, 0, 1, 3, 3, 1, 0, 3, 4, 0, 1, 2, 1, 2, 2, 1, 2, 1, 1, 1, 1, 4};
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        uint32_t bits = big(roi + 64 + 4 * i, 4);
        float v;
        memcpy(&v, &bits, sizeof v);
        assert_true(v == path[i]);
    }
    roi = next_roi(archive, &at, "2-z1.roi"); /* traced: 4 points from the corner of the box */
    check_roi(roi, 8, (int[]){1, 1, 2, 2}, 1, "2-z1");
    assert_int_equal(big(roi + 16, 2), 4);
    static const int traced[] = {0, 1, 1, 0, 0, 0, 1, 1};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(big(roi + 64 + 2 * i, 2), traced[i]);
    }
    check_roi(next_roi(archive, &at, "3-z1.roi"), 1, (int[]){0, 4, 2, 6}, 1, "3-z1");
    check_roi(next_roi(archive, &at, "7-z2.roi"), 8, (int[]){2, 5, 3, 6}, 2, "7-z2");
    const unsigned char *end = archive + n - 22;
    assert_memory_equal(archive + at, "PK\1\2", 4);
    assert_memory_equal(end, "PK\5\6", 4);
    assert_int_equal(little(end + 10, 2), 4);
    assert_int_equal(little(end + 16, 4), at);
    assert_int_equal(little(end + 12, 4), n - 22 - at);
    assert_int_equal(little(archive + at + 46 + 8 + 42, 4),
                     30 + 8 + little(archive + 18, 4)); /* where the second one lies */
    free(text);
}

/* More files than the archive's short numbers can count. */
static void many_rois_are_counted(void **state)
{
    (void)state;
    enum { SIDE = 520 };
    char path[] = "/tmp/pipec-outlines-XXXXXX", *text = malloc(1 << 26);
    const ImageInfo shape = {.x = SIDE, .y = SIDE, .z = 1, .c = 1, .t = 1};
    uint32_t *labels = calloc(SIDE * SIDE, sizeof *labels);
    ImageWriter *writer;
    Err err = {0};
    uint32_t count = 0;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && labels != NULL && text != NULL);
    close(fd);
    for (int i = 0; i < SIDE * SIDE; i++) {
        labels[i] = i % 2 == 0 && i / SIDE % 2 == 0 ? ++count : 0;
    }
    assert_true(count > 65535);
    assert_true(image_create(path, "roi", &shape, ELEM_U32, &(ImageMeta){.labels = true}, &writer, &err));
    assert_true(image_write(writer, 0, 0, 0, 0, SIDE, labels, SIDE * sizeof *labels, &err));
    assert_true(image_commit(writer, &err));
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    const size_t n = fread(text, 1, 1 << 26, from);
    fclose(from);
    unlink(path);
    const unsigned char *end = (const unsigned char *)text + n - 22;
    assert_memory_equal(end - 20, "PK\6\7", 4);
    assert_memory_equal(end - 76, "PK\6\6", 4);
    assert_int_equal(little(end + 10, 2), 65535);
    assert_int_equal(little(end - 76 + 32, 4), count);
    assert_int_equal(little(end - 20 + 8, 4), n - 98);
    free(labels);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_labels_come_back),
        cmocka_unit_test(geojson_is_what_qupath_reads),
        cmocka_unit_test(rois_are_what_imagej_reads),
        cmocka_unit_test(many_rois_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
