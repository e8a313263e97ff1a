/*
 * test_image_write: what is written is what is read back: every type, every set of axes, planes in
 * any order, every format; metadata survive; nothing appears before the commit, nothing stays
 * behind after a failure.
 */
#include "images.h"

#include "../../base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

static const Elem ELEMS[] = {ELEM_BOOL, ELEM_U8, ELEM_U16, ELEM_I16, ELEM_U32, ELEM_I32, ELEM_F32, ELEM_F64};

enum { N_ELEMS = sizeof ELEMS / sizeof *ELEMS };

static int entries_in(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

static void fill_rows(const ImageInfo *shape, Elem elem, const int64_t at[4], int64_t rows, char *to, size_t pitch)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t x = 0; x < shape->x; x++) {
            double b = pixel_base(at[0], at[1], at[2], at[3] + i, x);
            pixel_put(elem, to + (size_t)i * pitch, (size_t)x, pixel_typed(elem, b));
        }
    }
}

/* Writes all planes, the last first, in pieces of 3 rows that go round over the planes. */
static bool write_all(ImageWriter *writer, const ImageInfo *shape, Elem elem, size_t more, Err *err)
{
    size_t pitch = (size_t)shape->x * elem_size(elem) + more * elem_size(elem);
    char *rows = malloc(3 * pitch);
    bool ok = rows != NULL;
    int64_t planes = shape->t * shape->c * shape->z;
    for (int64_t y = 0; ok && y < shape->y; y += 3) {
        int64_t n = shape->y - y < 3 ? shape->y - y : 3;
        for (int64_t i = planes - 1; ok && i >= 0; i--) {
            int64_t t = i / (shape->c * shape->z), c = i / shape->z % shape->c, z = i % shape->z;
            fill_rows(shape, elem, (int64_t[]){t, c, z, y}, n, rows, pitch);
            ok = image_write(writer, t, c, z, y, n, rows, pitch, err);
        }
    }
    free(rows);
    return ok;
}

static double written(Elem elem, double b)
{
    return pixel_typed(elem, b) * (elem == ELEM_BOOL ? 255 : 1);
}

/* Opens what was written and compares shape and pixels; `as` is the type that comes back. */
static void check_back(const char *path, const ImageInfo *shape, Elem elem, Elem as)
{
    ImageFile *file;
    Err err = {0};
    if (!image_open(path, &file, &err)) {
        fail_msg("%s", err.text);
    }
    const ImageInfo *info = image_info(file);
    if (info->x != shape->x || info->y != shape->y || info->z != shape->z || info->c != shape->c ||
        info->t != shape->t || info->elem != as) {
        fail_msg("%s: x %d y %d z %d c %d t %d %s", path, (int)info->x, (int)info->y, (int)info->z, (int)info->c,
                 (int)info->t, elem_name(info->elem));
    }
    size_t pitch = (size_t)info->x * elem_size(as);
    void *pixels = malloc(pitch * (size_t)info->y);
    for (int64_t i = 0; i < info->t * info->c * info->z; i++) {
        int64_t t = i / (info->c * info->z), c = i / info->z % info->c, z = i % info->z;
        if (!image_read(file, t, c, z, 0, info->y, pixels, pitch, &err)) {
            fail_msg("%s", err.text);
        }
        for (int64_t k = 0; k < info->x * info->y; k++) {
            double want = written(elem, pixel_base(t, c, z, k / info->x, k % info->x));
            if (pixel_get(as, pixels, (size_t)k) != want) {
                fail_msg("%s: t %d c %d z %d pixel %d is %g, not %g", path, (int)t, (int)c, (int)z, (int)k,
                         pixel_get(as, pixels, (size_t)k), want);
            }
        }
    }
    free(pixels);
    image_close(file);
}

/* With PIPEC_KEEP_IMAGES the files stay in that folder, under names that tests/cross/read_back.py
 * understands; it reads them with other libraries. */
static const char *place_of(const char *format, const ImageInfo *shape, Elem elem, const char *kind)
{
    static char path[512];
    const char *keep = getenv("PIPEC_KEEP_IMAGES");
    if (keep == NULL) {
        snprintf(path, sizeof path, "%sback.%s", scratch_path(""), format);
    } else {
        snprintf(path, sizeof path, "%s/%s_%s_x%d_y%d_z%d_c%d_t%d%s.%s", keep, elem_name(elem), kind, (int)shape->x,
                 (int)shape->y, (int)shape->z, (int)shape->c, (int)shape->t, shape->rgb ? "_rgb" : "", format);
    }
    return path;
}

/* What is told apart by other libraries: the dialect of TIFF, the version of OME-Zarr. */
static const char *kind_of(const char *format, const ImageMeta *meta)
{
    bool zarr = strcmp(format, "zarr") == 0;
    return zarr ? (meta->zarr == OME_ZARR_0_4 ? "four" : "five") : meta != NULL ? "ome" : "plain";
}

static void round_trip(const char *format, const ImageInfo *shape, Elem elem, const ImageMeta *meta)
{
    ImageWriter *writer;
    Err err = {0};
    const char *path = place_of(format, shape, elem, kind_of(format, meta));
    file_discard(path, -1);
    if (!image_create(path, format, shape, elem, meta, &writer, &err) ||
        !write_all(writer, shape, elem, shape->t == 1 ? 0 : 2, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(access(path, F_OK), -1);
    if (!image_commit(writer, &err)) {
        fail_msg("%s", err.text);
    }
    Elem as = elem == ELEM_BOOL ? ELEM_U8 : elem;
    check_back(path, shape, elem, as);
    if (getenv("PIPEC_KEEP_IMAGES") == NULL) {
        file_discard(path, -1);
    }
    assert_int_equal(entries_in(scratch_path("")), 0);
}

static const ImageInfo SHAPES[] = {
    {.x = 7, .y = 5, .z = 1, .c = 1, .t = 1},
    {.x = 1, .y = 1, .z = 1, .c = 1, .t = 1},
    {.x = 9, .y = 8, .z = 3, .c = 1, .t = 1, .has_z = true},
    {.x = 9, .y = 8, .z = 1, .c = 4, .t = 1, .has_c = true},
    {.x = 9, .y = 8, .z = 1, .c = 1, .t = 3, .has_t = true},
    {.x = 6, .y = 7, .z = 3, .c = 2, .t = 4, .has_z = true, .has_c = true, .has_t = true},
    {.x = 6, .y = 7, .z = 1, .c = 3, .t = 1, .has_c = true, .rgb = true},
    {.x = 6, .y = 7, .z = 2, .c = 3, .t = 1, .has_z = true, .has_c = true, .rgb = true},
    {.x = 3000, .y = 500, .z = 1, .c = 1, .t = 1},
};

static void test_tiff(void **state)
{
    ImageInfo ome = {.style = "ome"};
    ImageMeta as_ome = {.like = &ome}, compressed = {.compress = true}, by_zstd = {.compress = true, .zstd = true};
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int e = 0; e < N_ELEMS; e++) {
            round_trip("tif", &SHAPES[i], ELEMS[e], NULL);
            round_trip("tif", &SHAPES[i], ELEMS[e], &as_ome);
            round_trip("tif", &SHAPES[i], ELEMS[e], &compressed);
            round_trip("tif", &SHAPES[i], ELEMS[e], &by_zstd);
        }
    }
}

/* Both versions, each packed in both ways and not at all. */
static void test_zarr(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int e = 0; e < N_ELEMS; e++) {
            int way = (int)i + e;
            const ImageMeta meta = {.zarr = way % 2 == 0 ? OME_ZARR_0_4 : OME_ZARR_0_5,
                                    .compress = way % 3 == 1,
                                    .plain = way % 3 == 2};
            round_trip("zarr", &SHAPES[i], ELEMS[e], &meta);
        }
    }
}

/* FITS has no channels of a pixel, but all axes. */
static void test_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int e = 0; e < N_ELEMS; e++) {
            round_trip("fits", &SHAPES[i], ELEMS[e], NULL);
        }
    }
}

static void test_png(void **state)
{
    static const Elem elems[] = {ELEM_BOOL, ELEM_U8, ELEM_U16};
    (void)state;
    for (size_t e = 0; e < sizeof elems / sizeof *elems; e++) {
        round_trip("png", &SHAPES[0], elems[e], NULL);
        round_trip("png", &SHAPES[6], elems[e], NULL);
    }
}

/* ---- PNG of types that it does not have ----------------------------------------------------- */

static void png_of(Elem elem, const double *values, int64_t n, bool labels, Elem as, const double *wanted)
{
    ImageInfo shape = {.x = n, .y = 1, .z = 1, .c = 1, .t = 1};
    ImageMeta meta = {.labels = labels};
    ImageWriter *writer;
    ImageFile *file;
    Err err = {0};
    double pixels[16];
    const char *path = scratch_path("scaled.png");
    for (int64_t i = 0; i < n; i++) {
        pixel_put(elem, pixels, (size_t)i, values[i]);
    }
    assert_true(image_create(path, "png", &shape, elem, &meta, &writer, &err));
    assert_true(image_write(writer, 0, 0, 0, 0, 1, pixels, 0, &err));
    assert_true(image_commit(writer, &err));
    assert_true(image_open(path, &file, &err));
    assert_int_equal(image_info(file)->elem, as);
    assert_true(image_read(file, 0, 0, 0, 0, 1, pixels, (size_t)n * elem_size(as), &err));
    for (int64_t i = 0; i < n; i++) {
        assert_true(pixel_get(as, pixels, (size_t)i) == wanted[i]);
    }
    image_close(file);
    unlink(path);
}

static void test_png_scaled(void **state)
{
    (void)state;
    png_of(ELEM_F32, (double[]){-1, 0, 1, (double)NAN, (double)INFINITY}, 5, false, ELEM_U8,
           (double[]){0, 128, 255, 0, 255});
    png_of(ELEM_F32, (double[]){7, 7}, 2, false, ELEM_U8, (double[]){0, 0});
    png_of(ELEM_F64, (double[]){(double)NAN, (double)NAN}, 2, false, ELEM_U8, (double[]){0, 0});
    png_of(ELEM_I16, (double[]){-32768, 32767}, 2, false, ELEM_U8, (double[]){0, 255});
    png_of(ELEM_I32, (double[]){0, 300, 65535}, 3, true, ELEM_U16, (double[]){0, 300, 65535});
    png_of(ELEM_U32, (double[]){0, 65536 * 2}, 2, true, ELEM_U8, (double[]){0, 255});

    ImageInfo shape = {.x = 2, .y = 2, .z = 2, .c = 1, .t = 1};
    ImageWriter *writer;
    Err err = {0};
    assert_false(image_create(scratch_path("deep.png"), "png", &shape, ELEM_U8, NULL, &writer, &err));
    assert_int_equal(err.code, CODE_FILES);
    assert_non_null(strstr(err.text, "2 planes of 1 channel; write it as tif"));
    assert_int_equal(entries_in(scratch_path("")), 0);
}

/* Of FITS the first row stands below; of all others above. */
static void test_png_of_fits(void **state)
{
    (void)state;
    for (int fits = 0; fits < 2; fits++) {
        ImageInfo shape = {.x = 1, .y = 3, .z = 1, .c = 1, .t = 1}, like = {.t = 1};
        ImageMeta meta = {.like = &like};
        ImageWriter *writer;
        ImageFile *file;
        Err err = {0};
        unsigned char pixels[3] = {1, 2, 3};
        const char *path = scratch_path("upwards.png");
        strcpy(like.style, fits ? "fits" : "tiff");
        assert_true(image_create(path, "png", &shape, ELEM_U8, &meta, &writer, &err));
        assert_true(image_write(writer, 0, 0, 0, 0, 3, pixels, 1, &err));
        assert_true(image_commit(writer, &err));
        assert_true(image_open(path, &file, &err));
        assert_true(image_read(file, 0, 0, 0, 0, 3, pixels, 1, &err));
        assert_int_equal(pixels[0], fits ? 3 : 1);
        assert_int_equal(pixels[2], fits ? 1 : 3);
        image_close(file);
        unlink(path);
    }
}

/* ---- metadata -------------------------------------------------------------------------- */

static ImageInfo write_and_open(const char *path, const ImageInfo *shape, Elem elem, const ImageMeta *meta,
                                ImageFile **file)
{
    ImageWriter *writer;
    Err err = {0};
    const char *point = strrchr(path, '.');
    if (!image_create(path, point + 1, shape, elem, meta, &writer, &err) || !write_all(writer, shape, elem, 0, &err) ||
        !image_commit(writer, &err) || !image_open(path, file, &err)) {
        fail_msg("%s", err.text);
    }
    return *image_info(*file);
}

static void test_pixel_sizes(void **state)
{
    static const struct {
        const char *style, *unit;
        double x, y, z, interval;
    } rows[] = {
        {"imagej", "um", 0.2, 0.3, 1.5, 0.25},
        {"imagej", "\\u00B5m", 0.1031746, 1.0 / 3, 2, 0},
        {"imagej", "micron", 1000000.0 / 666666, 3.14159265358979, 0.7, 1e-3},
        {"imagej", "inch", 1.0 / 300, 1.0 / 300, 0, 0},
        {"imagej", "", 0, 0, 0, 0},
        {"ome", "\xC2\xB5m", 0.0645, 0.0645, 0.3, 12.5},
        {"ome", "nm", 64.5, 64.5, 300, 0},
        {"ome", "", 0, 0, 0, 0},
        {"ome", "m", 1e20, 1e20, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ImageInfo like = {.size = {rows[i].x, rows[i].y, rows[i].z}, .interval = rows[i].interval};
        ImageInfo shape = {.x = 4, .y = 4, .z = 2, .c = 1, .t = 3, .has_z = true, .has_t = true};
        ImageMeta meta = {.like = &like, .software = "pipec 0.1 <test>", .parameters = "sigma=2 text=\"a & b\""};
        ImageFile *file;
        strcpy(like.unit, rows[i].unit);
        strcpy(like.style, rows[i].style);
        const char *path = scratch_path("meta.tif");
        ImageInfo back = write_and_open(path, &shape, ELEM_U16, &meta, &file);
        image_close(file);
        unlink(path);
        assert_string_equal(back.style, rows[i].style);
        assert_string_equal(back.unit, rows[i].unit);
        for (int axis = 0; axis < 3; axis++) { /* exactly */
            if (back.size[axis] != like.size[axis]) {
                fail_msg("row %zu: size %.17g became %.17g", i, like.size[axis], back.size[axis]);
            }
        }
        assert_true(back.interval == like.interval);
        assert_true(back.has_z && back.has_t && !back.has_c);
    }
}

/* A resolution is a fraction of 32 bits, and 1 would be another size. */
static void test_beyond_tags(void **state)
{
    static const double sizes[] = {1e12, 1e-12};
    (void)state;
    for (int i = 0; i < 2; i++) {
        ImageInfo like = {.size = {sizes[i], sizes[i], 1}, .unit = "cm", .style = "imagej"};
        ImageInfo shape = {.x = 4, .y = 4, .z = 1, .c = 1, .t = 1};
        ImageMeta meta = {.like = &like};
        ImageFile *file;
        const char *path = scratch_path("beyond.tif");
        ImageInfo back = write_and_open(path, &shape, ELEM_U8, &meta, &file);
        assert_true(back.size[0] == 0 && back.size[1] == 0 && back.unit[0] == '\0');
        image_close(file);
        unlink(path);
    }
}

/* PNG counts whole pixels a metre. */
static void test_png_sizes(void **state)
{
    ImageInfo like = {.size = {0.2, 0.65, 3}, .size_um = {0.2, 0.65, 3}, .unit = "um", .style = "imagej"};
    ImageInfo shape = {.x = 4, .y = 3, .z = 1, .c = 1, .t = 1};
    ImageMeta meta = {.like = &like};
    ImageFile *file;
    (void)state;
    const char *path = scratch_path("sizes.png");
    ImageInfo back = write_and_open(path, &shape, ELEM_U8, &meta, &file);
    image_close(file);
    assert_string_equal(back.unit, "um");
    assert_true(back.size_um[0] == 1e6 / 5000000 && back.size_um[1] == 1e6 / 1538462 && back.size_um[2] == 0);
    like.size_um[1] = 0;
    back = write_and_open(path, &shape, ELEM_U8, &meta, &file);
    image_close(file);
    unlink(path);
    assert_true(back.size[0] == 0 && back.unit[0] == '\0');
}

/* Names of channels go from OME-TIFF to OME-TIFF where they are said to stay. */
static void test_channel_names(void **state)
{
    ImageInfo like = {.x = 4, .y = 3, .z = 1, .c = 2, .t = 1, .style = "ome", .channels = "a \"<b>\"\0\xC2\xB5"};
    ImageInfo shape = like;
    ImageMeta meta = {.like = &like, .channels = true};
    ImageFile *file;
    (void)state;
    const char *path = scratch_path("names.tif");
    ImageInfo back = write_and_open(path, &shape, ELEM_U8, &meta, &file);
    assert_memory_equal(back.channels, like.channels, 11);
    image_close(file);
    meta.channels = false;
    back = write_and_open(path, &shape, ELEM_U8, &meta, &file);
    assert_null(back.channels);
    image_close(file);
    unlink(path);
}

/* Axes of extent 1 that the input names stay named, unless the format has no way to say so. */
static void test_axes_of_one(void **state)
{
    ImageInfo shape = {.x = 4, .y = 3, .z = 1, .c = 1, .t = 1, .has_z = true, .has_t = true};
    ImageFile *file;
    (void)state;
    const char *path = scratch_path("one.tif");
    ImageInfo back = write_and_open(path, &shape, ELEM_U8, NULL, &file);
    image_close(file);
    unlink(path);
    assert_true(back.has_z && back.has_t && !back.has_c);
}

/* The description and the colours of labels up to `most`. */
static void check_description(double most, const char *want)
{
    ImageInfo like = {.style = "imagej", .unit = "um", .size = {0.5, 0.5, 2}};
    ImageInfo shape = {.x = 4, .y = 3, .z = 2, .c = 1, .t = 1, .has_z = true};
    ImageMeta meta = {.like = &like,
                      .software = "pipec 0.1",
                      .parameters = "sigma=2\nkappa=3",
                      .labels = true,
                      .max = most};
    ImageFile *file;
    Err err = {0};
    char *text;
    size_t size;
    const char *path = scratch_path("labels.tif");
    write_and_open(path, &shape, ELEM_U16, &meta, &file);
    image_close(file);
    assert_true(file_read(path, &text, &size, &err));
    struct {
        uint16_t tag, type;
        uint32_t count;
    } colours = {320, 3, 768}; /* a table of 256 colours, which ImageJ takes for 16 bits too */
    bool found = false, software = false, coloured = false;
    for (size_t i = 0; i + strlen(want) < size; i++) {
        found = found || memcmp(text + i, want, strlen(want) + 1) == 0;
        software = software || memcmp(text + i, "pipec 0.1", 10) == 0;
        coloured = coloured || memcmp(text + i, &colours, sizeof colours) == 0;
    }
    assert_true(found);
    assert_true(software);
    assert_true(coloured);
    free(text);
    unlink(path);
}

static void test_description(void **state)
{
    (void)state;
#define BEFORE "ImageJ=1.11a\nimages=2\nslices=2\nunit=um\nspacing=2\nloop=false\nmin=0.0\nmax="
    check_description(49, BEFORE "49\npipec=sigma=2 kappa=3\n");
    check_description(511, BEFORE "511\npipec=sigma=2 kappa=3\n");
    check_description(40000, BEFORE "511\npipec=sigma=2 kappa=3\n"); /* label 1 keeps a colour of its own */
}

/* The header of a FITS input reaches its output, without what no longer holds. */
static void test_fits_header(void **state)
{
    char input[512];
    ImageFile *file, *copy;
    Err err = {0};
    (void)state;
    snprintf(input, sizeof input, "%s/images/sky.fits", TEST_DATA);
    assert_true(image_open(input, &file, &err));
    ImageInfo shape = *image_info(file);
    ImageMeta meta = {.like = image_info(file),
                      .software = "pipec 0.1 sources",
                      .parameters = "kappa=3",
                      .labels = true};
    const char *path = scratch_path("labels.fits");
    write_and_open(path, &shape, ELEM_U32, &meta, &copy);
    const char *header = image_info(copy)->extra;
    assert_non_null(strstr(header, "OBJECT  = 'M 31"));
    assert_non_null(strstr(header, "CTYPE1  = 'RA---SIN'"));
    assert_non_null(strstr(header, "PC1_2"));
    assert_non_null(strstr(header, "CONTINUE"));
    assert_non_null(strstr(header, "made for a test"));
    assert_non_null(strstr(header, "HISTORY pipec 0.1 sources"));
    assert_non_null(strstr(header, "HISTORY kappa=3"));
    assert_null(strstr(header, "BUNIT"));
    assert_null(strstr(header, "CTYPE3"));
    assert_null(strstr(header, "PC1_3"));
    image_close(copy);

    shape.x = 3; /* cut out: coordinates no longer hold */
    write_and_open(path, &shape, ELEM_F32, &meta, &copy);
    header = image_info(copy)->extra;
    assert_non_null(strstr(header, "OBJECT"));
    assert_null(strstr(header, "CTYPE1"));
    assert_null(strstr(header, "PC1_2"));
    image_close(copy);
    image_close(file);
    unlink(path);
}

/* ---- failures -------------------------------------------------------------------------- */

static void test_abort(void **state)
{
    ImageWriter *writer;
    Err err = {0};
    (void)state;
    for (int i = 0; i < 4; i++) {
        const char *format = (const char *const[]){"tif", "png", "fits", "zarr"}[i];
        char name[32];
        snprintf(name, sizeof name, "gone.%s", format);
        assert_true(image_create(scratch_path(name), format, &SHAPES[0], ELEM_F32, NULL, &writer, &err));
        assert_int_equal(entries_in(scratch_path("")), 1);
        image_abort(writer);
        assert_int_equal(entries_in(scratch_path("")), 0);
    }
    image_abort(NULL);
}

/* An old file stays as it was when the new one cannot be finished. */
static void test_too_large(void **state)
{
    ImageInfo shape = {.x = 2000, .y = 200, .z = 1, .c = 1, .t = 1};
    struct rlimit old, small;
    Err err = {0};
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    for (int i = 0; i < 3; i++) {
        const char *format = (const char *const[]){"tif", "png", "fits"}[i];
        small.rlim_cur = (rlim_t)(i == 1 ? 1000 : 100000);
        char name[32], *text;
        size_t size;
        ImageWriter *writer;
        snprintf(name, sizeof name, "large.%s", format);
        const char *path = scratch_path(name);
        assert_true(file_write(path, "old", 3, &err));
        setrlimit(RLIMIT_FSIZE, &small);
        bool ok = image_create(path, format, &shape, ELEM_U16, NULL, &writer, &err);
        assert_true(ok);
        ok = write_all(writer, &shape, ELEM_U16, 0, &err);
        if (ok) {
            ok = image_commit(writer, &err);
        } else {
            image_abort(writer);
        }
        setrlimit(RLIMIT_FSIZE, &old);
        assert_false(ok);
        assert_int_equal(err.code, CODE_OUTPUT);
        assert_non_null(strstr(err.text, "size limit"));
        assert_non_null(strstr(err.text, path));
        err_clear(&err);
        assert_true(file_read(path, &text, &size, &err));
        assert_int_equal(size, 3);
        free(text);
        unlink(path);
        assert_int_equal(entries_in(scratch_path("")), 0);
    }
}

static void test_no_folder(void **state)
{
    ImageWriter *writer;
    Err err = {0};
    (void)state;
    assert_true(file_write(scratch_path("file"), "", 0, &err));
    assert_false(image_create(scratch_path("file/a.tif"), "tif", &SHAPES[0], ELEM_U8, NULL, &writer, &err));
    assert_null(writer);
    assert_int_equal(err.code, CODE_OUTPUT);
    unlink(scratch_path("file"));
}

/* ---- more than 2^32 bytes ------------------------------------------------------------------ */

/* Reading: a BigTIFF made by hand, one strip of 70000 x 70000 bytes, a hole but for one row. */
static void test_huge_read(void **state)
{
    static const struct {
        uint16_t tag, type;
        uint64_t count, value;
    } tags[] = {
        {256, 4, 1, 70000}, {257, 4, 1, 70000}, {258, 3, 1, 8},
        {259, 3, 1, 1},     {262, 3, 1, 1},     {273, 16, 1, 4096},
        {277, 3, 1, 1},     {278, 4, 1, 70000}, {279, 16, 1, 4900000000u},
    };
    unsigned char head[16 + 8 + 9 * 20 + 8] = {'I', 'I', 43, 0, 8, 0, 0, 0, 16};
    static unsigned char pixels[3][70000];
    ImageFile *file;
    Err err = {0};
    (void)state;
    const char *path = scratch_path("huge.tif");
    head[16] = 9;
    for (int i = 0; i < 9; i++) {
        memcpy(head + 24 + 20 * i, &tags[i].tag, 2);
        memcpy(head + 24 + 20 * i + 2, &tags[i].type, 2);
        memcpy(head + 24 + 20 * i + 4, &tags[i].count, 8);
        memcpy(head + 24 + 20 * i + 12, &tags[i].value, 8);
    }
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    memset(pixels, 77, sizeof pixels);
    off_t at = 4096 + (off_t)69998 * 70000;
    assert_int_equal(pwrite(fd, head, sizeof head, 0), sizeof head);
    assert_int_equal(pwrite(fd, pixels, 70000, at), 70000);
    assert_int_equal(ftruncate(fd, 4096 + (off_t)70000 * 70000), 0);
    close(fd);
    assert_true(image_open(path, &file, &err));
    assert_int_equal(image_info(file)->y, 70000);
    assert_true(image_read(file, 0, 0, 0, 69997, 3, pixels, 70000, &err));
    assert_int_equal(pixels[0][69999], 0);
    assert_int_equal(pixels[1][0], 77);
    assert_int_equal(pixels[1][69999], 77);
    assert_int_equal(pixels[2][0], 0);
    image_close(file);
    unlink(path);
}

/* Writing 4.2 GB takes disk and time, so only when asked for: it becomes a BigTIFF. */
static void test_huge_write(void **state)
{
    ImageInfo shape = {.x = 70000, .y = 20000, .z = 3, .c = 1, .t = 1, .has_z = true};
    ImageWriter *writer;
    ImageFile *file;
    Err err = {0};
    (void)state;
    if (getenv("PIPEC_ALL_TESTS") == NULL) {
        skip();
    }
    const char *path = scratch_path("huge.tif");
    unsigned char *rows = malloc((size_t)70000 * 1000);
    assert_non_null(rows);
    assert_true(image_create(path, "tif", &shape, ELEM_U8, NULL, &writer, &err));
    for (int z = 2; z >= 0; z--) {
        for (int y = 0; y < 20000; y += 1000) {
            memset(rows, z * 20 + y / 1000, (size_t)70000 * 1000);
            assert_true(image_write(writer, 0, 0, z, y, 1000, rows, 70000, &err));
        }
    }
    assert_true(image_commit(writer, &err));
    assert_true(image_open(path, &file, &err));
    assert_int_equal(image_info(file)->z, 3);
    for (int z = 0; z < 3; z++) {
        assert_true(image_read(file, 0, 0, z, 18999, 2, rows, 70000, &err));
        assert_int_equal(rows[69999], z * 20 + 18);
        assert_int_equal(rows[70000], z * 20 + 19);
    }
    image_close(file);
    free(rows);
    unlink(path);
}

static int remove_scratch(void **state)
{
    char folder[512];
    (void)state;
    snprintf(folder, sizeof folder, "%s", scratch_path(""));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiff),          cmocka_unit_test(test_fits),        cmocka_unit_test(test_zarr),
        cmocka_unit_test(test_png),           cmocka_unit_test(test_png_scaled),  cmocka_unit_test(test_png_of_fits),
        cmocka_unit_test(test_pixel_sizes),   cmocka_unit_test(test_beyond_tags), cmocka_unit_test(test_png_sizes),
        cmocka_unit_test(test_channel_names), cmocka_unit_test(test_axes_of_one), cmocka_unit_test(test_description),
        cmocka_unit_test(test_fits_header),   cmocka_unit_test(test_abort),       cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_no_folder),     cmocka_unit_test(test_huge_read),   cmocka_unit_test(test_huge_write),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
