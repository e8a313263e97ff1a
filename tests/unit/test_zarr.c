/*
 * test_zarr: folders of zarr that zarr-python, tensorstore and ome-zarr have written (tests/data/make_zarr.py): every type,
 * codec, chunking and version; damaged and hostile ones.
 */
#include "images.h"

#include "../../base/file.h"
#include "../../runtime/files/file_list.h"
#include "../../runtime/files/file_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum {
    TYPED,
    BYTE,
    CONSTANT,
    SMALLER
}; /* what pixels are: the type's formula; b - 125; a value around the middle; the
                                        formula at every second pixel */

typedef struct Row {
    const char *file;
    int64_t x, y, z, c, t;
    const char *has;
    Elem elem;
    int pixels;
    double value; /* CONSTANT */
} Row;

/* A type of numbers: images of 7 x 5 by both versions; some with high bytes first. */
static const struct Type {
    const char *name;
    Elem elem;
    int pixels;
    bool big;
} TYPES[] = {
    {"bool", ELEM_BOOL, TYPED, false}, {"u8", ELEM_U8, TYPED, false},   {"i8", ELEM_I16, BYTE, false},
    {"u16", ELEM_U16, TYPED, true},    {"i16", ELEM_I16, TYPED, false}, {"u32", ELEM_U32, TYPED, false},
    {"i32", ELEM_I32, TYPED, false},   {"u64", ELEM_U32, TYPED, false}, {"i64", ELEM_I32, TYPED, true},
    {"f16", ELEM_F32, TYPED, false},   {"f32", ELEM_F32, TYPED, true},  {"f64", ELEM_F64, TYPED, false},
};

/* Ways of packing chunks: images of 70 x 50, u16. */
static const char *const PACKED[] = {
    "two_none",     "two_zlib",         "two_gzip",    "two_zstd",    "three_none",
    "three_gzip",   "three_zstd",       "three_blosc", "three_crc",   "three_chain",
    "three_shards", "three_shards_crc", "store_end",   "store_start", "store_two",
};
static const char *const BLOSC[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"}; /* each with three ways of shuffling */

static const Row ROWS[] = {
    {"two_columns.zarr", 6, 5, 4, 3, 1, "cz", ELEM_U16, TYPED, 0},
    {"two_slash.zarr", 6, 5, 4, 3, 1, "cz", ELEM_U16, TYPED, 0},
    {"three_points.zarr", 6, 5, 4, 3, 1, "cz", ELEM_U16, TYPED, 0},
    {"three_turned.zarr", 6, 5, 4, 3, 1, "cz", ELEM_U16, TYPED, 0},
    {"three_twice.zarr", 6, 5, 4, 3, 1, "cz", ELEM_U16, TYPED, 0},
    {"three_named.zarr", 6, 5, 4, 3, 1, "cz", ELEM_U16, TYPED, 0},
    {"three_line.zarr", 6, 1, 1, 1, 1, "", ELEM_U16, TYPED, 0},
    {"three_five.zarr", 3, 4, 2, 2, 3, "tcz", ELEM_F32, TYPED, 0},
    {"three_one.zarr", 7, 5, 1, 1, 1, "", ELEM_U16, TYPED, 0},
    {"two_missing_u8.zarr", 6, 6, 1, 1, 1, "", ELEM_U8, CONSTANT, 9},
    {"two_missing_inf.zarr", 6, 6, 1, 1, 1, "", ELEM_F32, CONSTANT, (double)INFINITY},
    {"three_missing_f32.zarr", 6, 6, 1, 1, 1, "", ELEM_F32, CONSTANT, -2.5},
    {"three_missing_nan.zarr", 6, 6, 1, 1, 1, "", ELEM_F32, CONSTANT, (double)NAN},
    {"three_missing_bits.zarr", 6, 6, 1, 1, 1, "", ELEM_F32, CONSTANT, 0x1.921fb6p+1},
    {"three_missing_shards.zarr", 6, 6, 1, 1, 1, "", ELEM_U8, CONSTANT, 7},
    {"three_missing_bool.zarr", 6, 6, 1, 1, 1, "", ELEM_BOOL, CONSTANT, 1},
    {"image_04.ome.zarr", 16, 12, 3, 2, 1, "cz", ELEM_U16, TYPED, 0},
    {"image_04.ome.zarr[level=1]", 8, 6, 3, 2, 1, "cz", ELEM_U16, SMALLER, 0},
    {"image_04.ome.zarr/labels/spots", 16, 12, 1, 1, 1, "", ELEM_U8, TYPED, 0},
    {"image_05.ome.zarr", 16, 12, 3, 2, 1, "cz", ELEM_U16, TYPED, 0},
    {"image_05.ome.zarr[level=1]", 8, 6, 3, 2, 1, "cz", ELEM_U16, SMALLER, 0},
    {"image_05.ome.zarr/labels/spots", 16, 12, 1, 1, 1, "", ELEM_U8, TYPED, 0},
    {"image_05.ome.zarr/s1", 8, 6, 3, 2, 1, "cz", ELEM_U16, SMALLER, 0}, /* an array alone */
    {"plate.zarr/B/2/1", 7, 5, 1, 1, 1, "", ELEM_U16, TYPED, 0},
    {"series.zarr", 7, 5, 1, 1, 1, "", ELEM_U16, TYPED, 0},
    {"series.zarr/1", 7, 5, 1, 1, 1, "", ELEM_U16, TYPED, 0},
};

/* The folders stand in one file, unpacked once. */
static int unpack(void **state)
{
    char command[1200];
    (void)state;
    snprintf(command, sizeof command, "tar -xzf '%s/zarr.tar.gz' -C '%s'", TEST_DATA, scratch_path(""));
    return system(command);
}

static int remove_all(void **state)
{
    char command[600];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_path(""));
    return system(command);
}

static ImageFile *open_zarr(const char *name)
{
    ImageFile *file;
    Err err = {0};
    if (!image_open(scratch_path(name), &file, &err)) {
        fail_msg("%s", err.text);
    }
    return file;
}

static double wanted(const Row *row, const int64_t at[3], int64_t y, int64_t x)
{
    int64_t step = row->pixels == SMALLER ? 2 : 1;
    bool middle = y >= 2 && y < 4 && x >= 2 && x < 4;
    double b = pixel_base(at[0], at[1], at[2], y * step, x * step);
    return row->pixels == BYTE       ? b - 125
           : row->pixels == CONSTANT ? (middle && row->elem != ELEM_BOOL ? 5 : row->value)
                                     : pixel_typed(row->elem, b);
}

/* Some rows of a plane, which lie apart in memory. */
static void check_rows(const Row *row, ImageFile *file, const int64_t at[3], int64_t first, int64_t n)
{
    Err err = {0};
    size_t pitch = (size_t)row->x * elem_size(row->elem), wide = pitch + 24;
    char *pixels = malloc((size_t)n * wide);
    assert_non_null(pixels);
    memset(pixels, 0x55, (size_t)n * wide);
    if (!image_read(file, at[0], at[1], at[2], first, n, pixels, wide, &err)) {
        fail_msg("%s", err.text);
    }
    for (int64_t i = 0; i < row->x * n; i++) {
        int64_t y = first + i / row->x, x = i % row->x;
        double got = pixel_get(row->elem, pixels + (size_t)(y - first) * wide, (size_t)x), want = wanted(row, at, y, x);
        if (got != want && !(isnan(got) && isnan(want))) {
            fail_msg("%s: pixel t %d c %d z %d y %d x %d is %g, not %g", row->file, (int)at[0], (int)at[1], (int)at[2],
                     (int)y, (int)x, got, want);
        }
    }
    for (int64_t y = 0; y < n; y++) {
        for (size_t i = pitch; i < wide; i++) {
            assert_int_equal(pixels[(size_t)y * wide + i], 0x55);
        }
    }
    free(pixels);
}

static void check_row(const Row *row, Crew *crew)
{
    ImageFile *file = open_zarr(row->file);
    const ImageInfo *info = image_info(file);
    image_use_crew(file, crew);
    if (info->x != row->x || info->y != row->y || info->z != row->z || info->c != row->c || info->t != row->t ||
        info->elem != row->elem || info->has_z != (strchr(row->has, 'z') != NULL) ||
        info->has_c != (strchr(row->has, 'c') != NULL) || info->has_t != (strchr(row->has, 't') != NULL)) {
        fail_msg("%s: x %d y %d z %d c %d t %d %s", row->file, (int)info->x, (int)info->y, (int)info->z, (int)info->c,
                 (int)info->t, elem_name(info->elem));
    }
    for (int64_t t = 0; t < row->t; t++) {
        for (int64_t c = row->c - 1; c >= 0; c--) {
            for (int64_t z = 0; z < row->z; z++) {
                check_rows(row, file, (int64_t[]){t, c, z}, 0, row->y);
                check_rows(row, file, (int64_t[]){t, c, z}, row->y / 2, 1);
            }
        }
    }
    image_close(file);
}

static void check_type(const struct Type *type, Crew *crew)
{
    static const char *const WAYS[] = {"two_", "three_", "two_big_", "three_big_"};
    for (int i = 0; i < (type->big ? 4 : 2); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s.zarr", WAYS[i], type->name);
        check_row(&(Row){name, 7, 5, 1, 1, 1, "", type->elem, type->pixels, 0}, crew);
    }
}

static void check_packed(const char *name, Crew *crew)
{
    char file[64];
    snprintf(file, sizeof file, "%s.zarr", name);
    check_row(&(Row){file, 70, 50, 1, 1, 1, "", ELEM_U16, TYPED, 0}, crew);
}

static void test_pixels(void **state)
{
    Crew *crew = crew_new(3);
    (void)state;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        check_type(&TYPES[i], crew);
    }
    for (size_t i = 0; i < sizeof PACKED / sizeof *PACKED; i++) {
        check_packed(PACKED[i], crew);
    }
    for (size_t i = 0; i < 3 * sizeof BLOSC / sizeof *BLOSC; i++) {
        char name[64];
        snprintf(name, sizeof name, "two_blosc_%s_%zu", BLOSC[i / 3], i % 3);
        check_packed(name, NULL);
    }
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        check_row(&ROWS[i], i % 2 == 0 ? crew : NULL);
    }
    crew_free(crew);
}

static void test_metadata(void **state)
{
    (void)state;
    for (int level = 0; level < 4; level++) {
        char name[64];
        snprintf(name, sizeof name, "image_0%d.ome.zarr[level=%d]", 4 + level / 2, level % 2);
        ImageFile *file = open_zarr(name);
        const ImageInfo *info = image_info(file);
        double k = 1 + level % 2;
        assert_true(info->size_um[0] == 0.25 * k && info->size_um[1] == 0.5 * k && info->size_um[2] == 2);
        assert_true(info->origin[0] == 10 + 0.125 * (k - 1) && info->origin[1] == 0.25 * (k - 1) &&
                    info->origin[2] == 4);
        assert_string_equal(info->unit, "micrometer");
        assert_string_equal(info->style, "ome");
        assert_string_equal(info->channels, "DAPI");
        assert_string_equal(info->channels + 5, "GFP \xC2\xB5");
        image_close(file);
    }
    ImageFile *file = open_zarr("series.zarr");
    assert_int_equal(image_info(file)->remarks[REMARK_IMAGES], 1);
    image_close(file);
}

/* ---- lists ------------------------------------------------------------------------------- */

static void check_list(const char *given, const char *const *names, size_t n)
{
    FileList list;
    Err err = {0};
    char path[600];
    snprintf(path, sizeof path, "%s", scratch_path(given));
    if (!file_list((const char *const[]){path}, 1, false, &list, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(list.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(list.at[i].path, scratch_path(names[i]));
    }
    file_list_free(&list);
}

static void test_lists(void **state)
{
    (void)state;
    check_list("plate.zarr/",
               (const char *const[]){"plate.zarr/A/1/0", "plate.zarr/A/1/1", "plate.zarr/B/2/0", "plate.zarr/B/2/1"},
               4);
    check_list("plate.zarr/B/2", (const char *const[]){"plate.zarr/B/2/0", "plate.zarr/B/2/1"}, 2);
    check_list("image_04.ome.zarr", (const char *const[]){"image_04.ome.zarr"}, 1);
    check_list("image_04.ome.zarr[level=1]", (const char *const[]){"image_04.ome.zarr[level=1]"}, 1);
    mkdir(scratch_path("folder"), 0777);
    assert_int_equal(rename(scratch_path("two_none.zarr"), scratch_path("folder/b.zarr")), 0);
    assert_int_equal(rename(scratch_path("two_zlib.zarr"), scratch_path("folder/a10.ome.zarr")), 0);
    assert_int_equal(rename(scratch_path("two_gzip.zarr"), scratch_path("folder/a9.zarr")), 0);
    check_list("folder", (const char *const[]){"folder/a9.zarr", "folder/a10.ome.zarr", "folder/b.zarr"}, 3);
}

/* Whether a folder is what it was: every file of the image counts, its label images do not. */
static void test_state(void **state)
{
    char first[DIGEST_TEXT], second[DIGEST_TEXT];
    (void)state;
    assert_true(file_state_content(scratch_path("image_04.ome.zarr"), first));
    Err err = {0};
    assert_true(file_write(scratch_path("image_04.ome.zarr/labels/more"), "more", 4, &err));
    assert_true(file_state_content(scratch_path("image_04.ome.zarr"), second));
    assert_string_equal(first, second);
    assert_true(file_write(scratch_path("image_04.ome.zarr/1/.zattrs"), "{ }", 3, &err));
    assert_true(file_state_content(scratch_path("image_04.ome.zarr"), second));
    assert_string_not_equal(first, second);
}

/* ---- damaged and hostile ones ------------------------------------------------------------- */

static bool read_everything(const char *name, Err *err)
{
    ImageFile *file;
    if (!image_open(scratch_path(name), &file, err)) {
        return false;
    }
    const ImageInfo *info = image_info(file);
    size_t pitch = (size_t)info->x * elem_size(info->elem);
    int64_t rows = pitch < 1 << 22 ? info->y < 64 ? info->y : 64 : 1;
    char *pixels = malloc((size_t)rows * pitch);
    bool ok = pixels != NULL;
    for (int64_t i = 0; ok && i < info->t * info->c * info->z && i < 8; i++) {
        ok = image_read(file, i / (info->c * info->z), i / info->z % info->c, i % info->z, 0, rows, pixels, pitch, err);
    }
    free(pixels);
    image_close(file);
    return ok;
}

static char *load(const char *name, size_t *size)
{
    char *text;
    Err err = {0};
    if (!file_read(scratch_path(name), &text, size, &err)) {
        fail_msg("%s", err.text);
    }
    return text;
}

static void store(const char *name, const char *text, size_t size)
{
    unlink(scratch_path(name)); /* cutting an existing file to nothing makes some file systems wait for the disk */
    FILE *to = fopen(scratch_path(name), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, size, to), size);
    fclose(to);
}

/* `from` in a file of metadata, without white space, becomes `to`; the sentence has `why`, "": it is read. */
static const struct Damage {
    const char *folder, *file, *from, *to, *why;
} DAMAGES[] = {
    {"two_u16.zarr", ".zarray", "{", "", "it is no object of JSON"},
    {"two_u16.zarr", ".zarray", "{", "{{", "it is no object of JSON"},
    {"two_u16.zarr", ".zarray", "\"zarr_format\":2", "\"zarr_format\":9",
     "(.zarray) is of another version of zarr than 2"},
    {"three_shards.zarr", "zarr.json", "\"zarr_format\":3", "\"zarr_format\":9",
     "(zarr.json) is of another version of zarr than 3"},
    {"two_u16.zarr", ".zarray", "\"shape\"", "\"sape\"", "its shape is damaged"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[5,-7]", "its shape is damaged"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[5,7.5]", "its shape is damaged"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[0,7]", "its shape is damaged"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[]", "it has 0 axes"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[1,1,1,1,5,7]", "it has 6 axes"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[5,3000000000]", "more than 2147483647 pixels"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[1e300,7]", "its shape is damaged"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[2000000000,2000000000]", "those that are there cannot hold them"},
    {"two_u16.zarr", ".zarray", "[5,7]", "[5,2147483647]", "those that are there cannot hold them"},
    {"two_u16.zarr", ".zarray", "[3,4]", "[3]", "the shape of its chunks is damaged"},
    {"two_u16.zarr", ".zarray", "[3,4]", "[0,4]", "the shape of its chunks is damaged"},
    {"two_u16.zarr", ".zarray", "[3,4]", "[100000,100000]", "its chunks are too large"},
    {"two_u16.zarr", ".zarray", "[3,4]", "[3,5]", "chunk 0,0: it has"},
    {"two_u16.zarr", ".zarray", "[3,4]", "[2,4]", "chunk 0,0: it is damaged (zstd)"},
    {"two_u16.zarr", ".zarray", "<u2", "<u3", "its numbers are '<u3'"},
    {"two_u16.zarr", ".zarray", "<u2", "<c8", "its numbers are '<c8'"},
    {"two_u16.zarr", ".zarray", "\"<u2\"", "[[\"a\",\"<u2\"]]", "its numbers are '?'"},
    {"two_u16.zarr", ".zarray", "\"fill_value\":0", "\"fill_value\":70000", "its fill value is none that u16"},
    {"two_u16.zarr", ".zarray", "\"fill_value\":0", "\"fill_value\":\"0x1G\"", "its fill value is none"},
    {"two_u16.zarr", ".zarray", "\"fill_value\":0", "\"fill_value\":\"NaN\"", "its fill value is none"},
    {"two_u16.zarr", ".zarray", "\"fill_value\":0", "\"fill_value\":null", ""},
    {"two_u16.zarr", ".zarray", "\"fill_value\":0", "\"fill_value\":[1]", "its fill value is none"},
    {"two_u16.zarr", ".zarray", "\"filters\":null", "\"filters\":{}", "'filters' in its metadata is damaged"},
    {"two_u16.zarr", ".zarray", "{\"id\":\"zstd\",\"level\":0}", "3", "'compressor' in its metadata is damaged"},
    {"two_u16.zarr", ".zarray", "\"order\":\"C\"", "\"order\":\"D\"", "its order is neither C nor F"},
    {"two_u16.zarr", ".zarray", "\"filters\":null", "\"filters\":[{\"id\":\"delta\"}]", "through the filter 'delta'"},
    {"two_u16.zarr", ".zarray", "\"dimension_separator\":\".\"", "\"dimension_separator\":\"-\"", "separated by '-'"},
    {"two_u16.zarr", ".zarray", "\"zstd\"", "\"lzma\"", "packed with 'lzma'"},
    {"two_u16.zarr", ".zarray", "\"zstd\"", "\"blosc\"", "it is damaged (blosc)"},
    {"two_u16.zarr", ".zarray", "\"zstd\"", "\"gzip\"", "it is damaged (gzip)"},
    {"two_u16.zarr", ".zarray", "{\"id\":\"zstd\",\"level\":0}", "null", "it has"},
    {"three_u16.zarr", "zarr.json", "\"regular\"", "\"rectangular\"", "that is 'rectangular'"},
    {"three_u16.zarr", "zarr.json", "\"uint16\"", "\"uint24\"", "its numbers are 'uint24'"},
    {"three_u16.zarr", "zarr.json", "\"bytes\"", "\"vlen-utf8\"", "become bytes by 'vlen-utf8'"},
    {"three_u16.zarr", "zarr.json", "\"little\"", "\"middle\"", "stored 'middle'"},
    {"three_u16.zarr", "zarr.json", "\"default\"", "\"other\"", "named by 'other'"},
    {"three_u16.zarr", "zarr.json", "\"storage_transformers\":[]", "\"storage_transformers\":[1]", "is transformed"},
    {"three_u16.zarr", "zarr.json", "\"array\"", "\"group\"", "without an image"},
    {"three_turned.zarr", "zarr.json", "[1,3,0,2]", "[1,3,0,3]", "transposition in its metadata is damaged"},
    {"three_turned.zarr", "zarr.json", "[1,3,0,2]", "[1,3,0]", "transposition in its metadata is damaged"},
    {"three_shards.zarr", "zarr.json", "\"chunk_shape\":[8,16]", "\"chunk_shape\":[7,16]", "do not fill shards"},
    {"three_shards.zarr", "zarr.json", "\"end\"", "\"start\"", "the shard c/0/0: it is damaged (crc32c)"},
    {"three_shards.zarr", "zarr.json", "\"end\"", "\"middle\"", "is at the 'middle'"},
    {"three_shards.zarr", "zarr.json", "\"chunk_shape\":[16,64]", "\"chunk_shape\":[16000000,16000000]", "too large"},
    {"image_05.ome.zarr", "zarr.json", "\"path\":\"s0\"", "\"path\":\"../image_04.ome.zarr/0\"",
     "the path of its level 0 is none"},
    {"image_05.ome.zarr", "zarr.json", "\"path\":\"s0\"", "\"path\":\"/\"", "the path of its level 0 is none"},
    {"image_05.ome.zarr", "zarr.json", "\"path\":\"s0\"", "\"path\":\"7\"", "its level 0 ('7') is missing"},
    {"image_05.ome.zarr", "zarr.json", "\"name\":\"z\"", "\"name\":\"w\"", "its axis 'w' is one too many"},
    {"image_05.ome.zarr", "zarr.json", "\"name\":\"z\"", "\"name\":\"y\"", "its axis 'y' is one too many"},
    {"image_05.ome.zarr", "zarr.json", "\"datasets\"", "\"data\"", "name no level"},
    {"image_05.ome.zarr", "zarr.json", "[1,2,0.5,0.25]", "[1,2,0.5]", "its scale has 3 numbers for 4 axes"},
    {"image_05.ome.zarr", "zarr.json", "[1,2,0.5,0.25]", "[1,2,0.5,0]", "its scale along axis 3"},
    {"image_05.ome.zarr", "zarr.json", "[1,2,0.5,0.25]", "[1,2,0.5,1e999]", "its scale along axis 3"},
};

/* Without white space, as `from` and `to` are written. */
static size_t squeeze(char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (strchr(" \n", text[i]) == NULL || (n > 1 && i + 1 < size && strchr("\",:[{ \n", text[i + 1]) == NULL &&
                                               strchr("\",:[{}] \n", text[i - 1]) == NULL)) {
            text[n++] = text[i];
        }
    }
    text[n] = '\0';
    return n;
}

static void check_damage(const struct Damage *d)
{
    char name[300], *changed, *at;
    size_t size;
    Err err = {0};
    snprintf(name, sizeof name, "%s/%s", d->folder, d->file);
    char *good = load(name, &size), *text = load(name, &size);
    size_t n = squeeze(text, size);
    at = strstr(text, d->from);
    changed = malloc(n + strlen(d->to) + 1);
    if (at == NULL || changed == NULL) {
        fail_msg("%s has no %s: %s", name, d->from, text);
        return;
    }
    int length = sprintf(changed, "%.*s%s%s", (int)(at - text), text, d->to, at + strlen(d->from));
    store(name, changed, (size_t)length);
    bool ok = read_everything(d->folder, &err), should = d->why[0] == '\0';
    if (ok != should || (!should && (strstr(err.text, d->why) == NULL || strstr(err.text, d->folder) == NULL))) {
        fail_msg("%s, %s: %s", name, d->to, ok ? "was read" : err.text);
    }
    assert_true(ok || err.code == CODE_FILES);
    store(name, good, size);
    free(good);
    free(text);
    free(changed);
}

static void test_damages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof DAMAGES / sizeof *DAMAGES; i++) {
        check_damage(&DAMAGES[i]);
    }
}

static void refuse(const char *name, const char *why)
{
    Err err = {0};
    if (read_everything(name, &err) || strstr(err.text, why) == NULL) {
        fail_msg("%s: %s", name, err.code == CODE_OK ? "was read" : err.text);
    }
}

/* What cannot be read is in the list all the same: it fails, and what else is there is done. */
static void test_damaged_lists(void **state)
{
    (void)state;
    size_t size;
    char *good = load("plate.zarr/B/2/.zattrs", &size);
    store("plate.zarr/B/2/.zattrs", "{", 1);
    check_list("plate.zarr", (const char *const[]){"plate.zarr/A/1/0", "plate.zarr/A/1/1", "plate.zarr/B/2"}, 3);
    refuse("plate.zarr/B/2", "(.zattrs) is damaged");
    store("plate.zarr/B/2/.zattrs", good, size);
    free(good);
    good = load("plate.zarr/.zattrs", &size);
    store("plate.zarr/.zattrs", "{", 1);
    check_list("plate.zarr", (const char *const[]){"plate.zarr"}, 1);
    refuse("plate.zarr", "(.zattrs) is damaged");
    store("plate.zarr/.zattrs", good, size);
    free(good);
}

static void test_folders(void **state)
{
    (void)state;
    refuse("plate.zarr", "it is a plate");
    refuse("plate.zarr/A/1", "it is a well");
    refuse("image_04.ome.zarr/labels", "it has label images");
    refuse("image_04.ome.zarr[level=2]", "it has no level 2; levels are 0 .. 1");
    refuse("image_04.ome.zarr[SCI]", "no part [SCI]");
    refuse("image_04.ome.zarr[level=-1]", "no part [level=-1]");
    refuse("two_u8.zarr[level=0]", "which has no part");
    mkdir(scratch_path("round.zarr"), 0777); /* a series whose first image is itself */
    store("round.zarr/.zattrs", "{\"bioformats2raw.layout\":3}", 27);
    assert_int_equal(symlink(".", scratch_path("round.zarr/0")), 0);
    refuse("round.zarr", "its images are folders of images");
    mkdir(scratch_path("pipe.zarr"), 0777);
    assert_int_equal(mkfifo(scratch_path("pipe.zarr/.zarray"), 0666), 0);
    refuse("pipe.zarr", "is no file");
}

/* Bytes of chunks and shards changed and cut off: nothing may crash, and each failure names the folder. */
static void test_scrambled(void **state)
{
    static const char *const FILES[] = {"two_zstd.zarr/0.0",
                                        "two_blosc_lz4_1.zarr/1.1",
                                        "two_blosc_zstd_2.zarr/0.0",
                                        "two_blosc_blosclz_1.zarr/0.0",
                                        "two_blosc_zlib_0.zarr/0.0",
                                        "three_gzip.zarr/c/0/0",
                                        "three_chain.zarr/c/0/0",
                                        "three_shards.zarr/c/0/0",
                                        "store_start.zarr/c/0/0",
                                        "image_05.ome.zarr/zarr.json",
                                        "image_05.ome.zarr/s0/zarr.json",
                                        "three_shards.zarr/zarr.json",
                                        "image_04.ome.zarr/.zattrs",
                                        "two_f32.zarr/.zarray"};
    uint64_t seed = 88172645463325252u;
    const char *more = getenv("PIPEC_FUZZ_ROUNDS");
    int rounds = more != NULL ? atoi(more) : 60;
    (void)state;
    for (size_t k = 0; k < sizeof FILES / sizeof *FILES; k++) {
        size_t size;
        char folder[100], *good = load(FILES[k], &size), *bad = malloc(size);
        assert_non_null(bad);
        snprintf(folder, sizeof folder, "%.*s", (int)(strstr(FILES[k], ".zarr/") - FILES[k] + 5), FILES[k]);
        for (int i = 0; i < rounds; i++) {
            Err err = {0};
            memcpy(bad, good, size);
            for (int n = i % 6; n >= 0; n--) {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                size_t near = i % 2 == 0 && size > 32 ? 32 : size;
                bad[(seed >> 8) % near] = (char)(seed >> 40);
            }
            store(FILES[k], bad, i % 5 == 0 ? (size_t)(seed % size) : size);
            bool ok = read_everything(folder, &err);
            assert_true(ok || (err.code == CODE_FILES && strstr(err.text, folder) != NULL));
        }
        store(FILES[k], good, size);
        free(good);
        free(bad);
    }
}

/* Numbers of 64 bits that no type of ours holds. */
static void test_wide_numbers(void **state)
{
    size_t size;
    char *meta = load("two_u64.zarr/.zarray", &size);
    char *packer = strstr(meta, "\"compressor\"");
    uint64_t values[12] = {[5] = (uint64_t)1 << 32};
    (void)state;
    assert_non_null(packer);
    memcpy(packer, "\"c", 2);
    memset(packer + 2, 'x', 9);
    store("two_u64.zarr/.zarray", meta, size);
    store("two_u64.zarr/0.0", (const char *)values, sizeof values);
    refuse("two_u64.zarr", "chunk 0,0: it has numbers that u32 cannot hold");
    free(meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),        cmocka_unit_test(test_metadata), cmocka_unit_test(test_damages),
        cmocka_unit_test(test_damaged_lists), cmocka_unit_test(test_folders),  cmocka_unit_test(test_scrambled),
        cmocka_unit_test(test_state),         cmocka_unit_test(test_lists),    cmocka_unit_test(test_wide_numbers),
    };
    return cmocka_run_group_tests(tests, unpack, remove_all);
}
