/*
 * test_image_bad: damaged and hostile files.  Each row takes a good file, damages it in one way,
 * and must be refused with a sentence that says so.  Then every fixture is cut off at every length
 * and has bytes changed: whatever comes out, nothing may crash, hang, leak or eat memory (the
 * sanitizers and a limit on memory watch), and every failure names its file.
 */
#include "images.h"

#include "../../base/file.h"
#include "../../runtime/files/image_fits_streams.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

static char *load(const char *name, size_t *size)
{
    char path[512], *text;
    Err err = {0};
    snprintf(path, sizeof path, "%s/images/%s", TEST_DATA, name);
    if (!file_read(path, &text, size, &err)) {
        fail_msg("%s", err.text);
    }
    return text;
}

static void store(const char *path, const void *data, size_t size)
{
    unlink(path); /* cutting an existing file to nothing makes some file systems wait for the disk */
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(data, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
}

/* Opens a file and reads every plane; planes above 64 MB are only begun. */
static bool read_everything(const char *path, Err *err)
{
    ImageFile *file;
    if (!image_open(path, &file, err)) {
        return false;
    }
    const ImageInfo *info = image_info(file);
    size_t pitch = (size_t)info->x * elem_size(info->elem);
    int64_t rows = pitch > 1 << 26 ? 1 : (1 << 26) / (int64_t)pitch;
    rows = rows < info->y ? rows : info->y;
    void *pixels = malloc(pitch * (size_t)rows);
    bool ok = pixels != NULL;
    int64_t planes = info->t * info->c * info->z;
    for (int64_t i = 0; ok && i < planes && i < 100; i++) {
        ok = image_read(file, i / (info->c * info->z), i / info->z % info->c, i % info->z, 0, rows, pixels, pitch, err);
    }
    free(pixels);
    image_close(file);
    return ok;
}

/* ---- one damage, one sentence --------------------------------------------------------------- */

static uint32_t get(const unsigned char *at, int n)
{
    uint32_t value = 0;
    for (int i = n - 1; i >= 0; i--) {
        value = value << 8 | at[i];
    }
    return value;
}

static void set(unsigned char *at, int n, uint32_t value)
{
    for (int i = 0; i < n; i++, value >>= 8) {
        at[i] = (unsigned char)value;
    }
}

/* The entry of a tag in the first directory of a little-endian TIFF; NULL when it has none. */
static unsigned char *entry_of(unsigned char *file, int tag)
{
    unsigned char *dir = file + get(file + 4, 4);
    for (uint32_t i = 0; i < get(dir, 2); i++) {
        if (get(dir + 2 + 12 * i, 2) == (uint32_t)tag) {
            return dir + 2 + 12 * i;
        }
    }
    return NULL;
}

enum { VALUE, COUNT, TYPE, NAME, AT }; /* what of a tag is changed; AT: a byte of the file */

static const struct Damage {
    const char *file;
    int tag, what;
    uint32_t value;
    const char *why;
} DAMAGES[] = {
    {"type_u16.tif", 256, VALUE, 0, "width or height is 0"},
    {"type_u16.tif", 257, VALUE, 0, "width or height is 0"},
    {"type_u16.tif", 256, VALUE, 3000000000u, "2147483647 is the most"},
    {"type_u16.tif", 256, TYPE, 12, "tag 256 is damaged"},
    {"type_u16.tif", 256, COUNT, 0, "tag 256 is damaged"},
    {"type_u16.tif", 258, VALUE, 0, "0-bit unsigned"},
    {"type_u16.tif", 258, VALUE, 7, "7-bit unsigned"},
    {"type_u16.tif", 258, VALUE, 24, "24-bit unsigned"},
    {"type_i16.tif", 339, VALUE, 5, "16-bit complex"},
    {"type_i16.tif", 339, VALUE, 3, ""}, /* half floats */
    {"sparse_bits.tif", 305, VALUE, 0, "stand for 77, which pipec does not know in 12-bit pixels"},
    {"bits_12_jpeg.tif", 305, VALUE, 0, "JPEG of 12 bits, and 8 are read"},
    {"type_u16.tif", 259, VALUE, 4711, "compression (method 4711)"},
    {"type_u16.tif", 259, VALUE, 6, "compression (method 6, old JPEG)"},
    {"type_u16.tif", 259, VALUE, 33003, "compression (method 33003, JPEG 2000)"},
    {"type_u32.tif", 262, VALUE, 3, "palette for pixels that are not single numbers of up to 16 bits"},
    {"type_u16.tif", 262, VALUE, 5, "CMYK"},
    {"type_u16.tif", 262, VALUE, 2, "RGB colours but has 1 samples"},
    {"type_u16.tif", 262, VALUE, 6, "YCbCr"},
    {"type_u8.tif", 262, VALUE, 3, "palette is missing"},
    {"type_u16.tif", 278, VALUE, 0, "strip size is damaged"},
    {"type_u16.tif", 278, VALUE, 1, "needs 5 strips and lists 1"},
    {"type_u16.tif", 277, VALUE, 65535, "cannot hold them"},
    {"type_u16.tif", 277, VALUE, 0, "0 samples a pixel"},
    {"type_u16.tif", 273, VALUE, 100000, "cut off"},
    {"type_u16.tif", 273, NAME, 60000, "lists 0"},
    {"type_u16.tif", 257, VALUE, 1000000, "needs 200000 strips"},
    {"type_u16.tif", 256, VALUE, 1000000, "cannot hold them"},
    {"type_u16.tif", 305, VALUE, 0, ""}, /* no such tag: nothing is changed */
    {"type_u16.tif", 4, AT, 0, "holds no image"},
    {"type_u16.tif", 4, AT, 255, "directory"},
    {"tile_u8.tif", 322, VALUE, 1 << 28, "damaged"},
    {"tile_u8.tif", 322, VALUE, 0, "tile size is damaged"},
    {"tile_u8.tif", 323, VALUE, 0, "tile size is damaged"},
    {"tile_u16.tif", 323, VALUE, 1 << 28, "tile size is damaged"},
    {"tile_u8.tif", 324, COUNT, 2, "needs 9 tiles and lists 2"},
    {"z_deflate.tif", 256, VALUE, 100000000, "cannot hold them"},
    {"z_webp.tif", 259, VALUE, 8, "tile 0 is damaged"},
    {"z_deflate.tif", 259, VALUE, 50001, "damaged"},
    {"levels.ome.tif", 330, COUNT, 1 << 30, "claim more data"},
    {"levels.ome.tif", 330, COUNT, 0, "only the image itself"},
    {"levels.ome.tif", 330, COUNT, 1, "level 1: "}, /* the place of the list, where no directory is */
    {"levels.ome.tif", 330, VALUE, 8, "level 1: "},
    {"z_deflate.tif", 259, VALUE, 5, "strip 0 is damaged"},
    {"z_lzw.tif", 259, VALUE, 8, "strip 0 is damaged"},
    {"z_zstd.tif", 259, VALUE, 34925, "strip 0 is damaged"},
    {"z_fax.tif", 10, AT, 1, "strip 0 is damaged"},
    {"jpeg_gray.tif", 258, VALUE, 16, "JPEG of 16 bits"},
    {"rgb_planar.tif", 284, VALUE, 1, ""}, /* the same bytes as chunky pixels: legal */
    {"stack.tif", 4, AT, 254, "directory"},
};

static void check_damage(const struct Damage *damage)
{
    size_t size;
    char *text = load(damage->file, &size);
    unsigned char *file = (unsigned char *)text;
    const char *path = scratch_path("damaged.tif");
    Err err = {0};
    if (damage->what == AT) {
        file[damage->tag] = (unsigned char)damage->value;
        file[damage->tag + 1] = (unsigned char)damage->value;
    } else {
        unsigned char *entry = entry_of(file, damage->tag);
        if (entry != NULL) {
            static const struct {
                int offset, bytes;
            } where[] = {[VALUE] = {8, 4}, [COUNT] = {4, 4}, [TYPE] = {2, 2}, [NAME] = {0, 2}};
            set(entry + where[damage->what].offset, where[damage->what].bytes, damage->value);
        }
    }
    store(path, file, size);
    free(text);
    char level[600];
    snprintf(level, sizeof level, "%s%s", path, damage->tag == 330 ? "[level=1]" : "");
    bool ok = read_everything(level, &err);
    bool should = damage->why[0] == '\0';
    if (ok != should || (!should && (strstr(err.text, damage->why) == NULL || strstr(err.text, path) == NULL))) {
        fail_msg("%s, tag %d: %s", damage->file, damage->tag, ok ? "was read" : err.text);
    }
    assert_true(ok || err.code == CODE_FILES);
}

static void test_damages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof DAMAGES / sizeof *DAMAGES; i++) {
        check_damage(&DAMAGES[i]);
    }
    unlink(scratch_path("damaged.tif"));
}

static void refuse(const char *name, const void *data, size_t size, const char *why)
{
    Err err = {0};
    const char *path = scratch_path(name);
    store(path, data, size);
    if (read_everything(path, &err) || strstr(err.text, why) == NULL) {
        fail_msg("%s: %s", name, err.code == CODE_OK ? "was read" : err.text);
    }
    unlink(path);
}

static void test_heads(void **state)
{
    (void)state;
    refuse("empty.tif", "", 0, "is empty");
    refuse("short.tif", "II*\0", 4, "cut off");
    refuse("head.tif", "II*\0\x08\0\0\0", 8, "cut off");
    refuse("big.tif", "II+\0\x08\0\0\0\x10\0\0\0\0\0\0", 16, "cut off");
    refuse("odd.tif", "II+\0\x04\0\0\0\x10\0\0\0\0\0\0", 16, "header is damaged");
    refuse("zero.tif", "MM\0*\0\0\0\0", 8, "holds no image");
    refuse("none.tif", "MM\0*\0\0\0\x08\0\0\0\0\0\0", 14, "claims 0 tags");
    refuse("head.png", "\x89PNG\r\n\x1a\n", 8, "damaged");
    refuse("head.fits", "SIMPLE  =                    T", 30, "damaged");
    refuse("photo.jpg", "\xFF\xD8\xFF\xE0", 4, "it is damaged");
    refuse("photo.j2k", "\xFF\x4F\xFF\x51", 4, "it is damaged");
    refuse("scan.data", "ZISRAWFILE\0\0\0", 13, "Zeiss CZI");
    refuse("text.txt", "hello", 5, "neither a TIFF, a PNG, a JPEG nor a FITS");
}

/* What libjpeg would make up, and what a header claims that a few bytes cannot hold. */
static void test_jpeg(void **state)
{
    size_t size, at = 0;
    char *text = load("photo_gray.jpg", &size);
    (void)state;
    refuse("cut.jpg", text, size - 200, "cut off");
    refuse("half.jpg", text, size / 2, "cut off");
    while (memcmp(text + at, "\xFF\xC0\0\x0B\x08", 5) != 0) {
        at++;
    }
    memcpy(text + at + 5, "\xFF\xDC\xFF\xDC", 4);
    refuse("huge.jpg", text, size, "claims 65500 x 65500 pixels");
    text[at + 4] = 12;
    refuse("bits.jpg", text, size, "precision 12");
    free(text);
    text = load("photo_cmyk.jpg", &size);
    refuse("cmyk.jpg", text, size, "neither gray nor RGB");
    free(text);
}

/* The same of openjpeg. */
static void test_jp2(void **state)
{
    size_t size, at = 0;
    char *text = load("photo_rgb.j2k", &size);
    (void)state;
    refuse("cut.j2k", text, size - 200, "cut off");
    refuse("half.j2k", text, size / 2, "cut off");
    while (memcmp(text + at, "\xFF\x51", 2) != 0) { /* the size: SIZ, length, capabilities, width, height */
        at++;
    }
    char *samples = text + at + 40; /* depth and subsampling of each */
    const char depth = samples[0];
    samples[1] = 2;
    refuse("apart.j2k", text, size, "not all of one size");
    samples[1] = 1;
    for (int i = 0; i < 3; i++) {
        samples[3 * i] = 23;
    }
    refuse("deep.j2k", text, size, "more than 16 bits");
    for (int i = 0; i < 3; i++) {
        samples[3 * i] = depth;
    }
    memcpy(text + at + 6, "\0\0\xFF\xDC\0\0\xFF\xDC", 8);
    memcpy(text + at + 22, "\0\0\xFF\xDC\0\0\xFF\xDC", 8); /* one tile */
    refuse("huge.j2k", text, size, "claims 65500 x 65500 pixels");
    free(text);
}

/* A FITS header may promise anything. */
static void test_fits_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *x, *y, *why;
        size_t size;
    } cases[] = {
        {"8", "6", "should end at byte 3072, the file at 3071", 3071},
        {"8", "6", "its header has no end", 2879},
        {"2000000000", "2000000000", "cut off", 5760},
        {"-8", "6", "illegal NAXISn", 5760},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[5760] = "";
        const char *const cards[][2] = {{"SIMPLE", "T"},
                                        {"BITPIX", "-32"},
                                        {"NAXIS", "2"},
                                        {"NAXIS1", cases[i].x},
                                        {"NAXIS2", cases[i].y}};
        memset(text, ' ', 2880);
        for (size_t k = 0; k < 5; k++) {
            char card[81];
            snprintf(card, sizeof card, "%-8s= %20s", cards[k][0], cards[k][1]);
            memcpy(text + 80 * k, card, strlen(card));
        }
        memcpy(text + 400, "END", 3);
        refuse("size.fits", text, cases[i].size, cases[i].why);
    }
}

/* A header of as many axes, and pixels for them, at `to`; returns where they end. */
static size_t put_axes(char *to, int axes, bool first)
{
    const char *const more = first ? "SIMPLE  =                    T" : "XTENSION= 'IMAGE   '";
    const int sizes[] = {8, axes, 0, 1}; /* of BITPIX, NAXIS, PCOUNT, GCOUNT */
    static const char *const KEYS[] = {"BITPIX", "NAXIS", "PCOUNT", "GCOUNT"};
    size_t card = 0, end = ((size_t)(axes + 6) * 80 + 2879) / 2880 * 2880;
    memset(to, ' ', end);
    memcpy(to, more, strlen(more));
    for (int i = 0; i < axes + 4; i++) {
        int k = i < 2 ? i : i < axes + 2 ? -1 : i - axes;
        char key[16], text[81];
        snprintf(key, sizeof key, "NAXIS%d", i - 1);
        snprintf(text, sizeof text, "%-8s= %20d", k < 0 ? key : KEYS[k], k < 0 ? 1 : sizes[k]);
        memcpy(to + 80 * ++card, text, strlen(text));
    }
    memcpy(to + 80 * ++card, "END", 3);
    memset(to + end, 7, 2880);
    return end + 2880;
}

/* cfitsio has room for nine axes; what has more is not shown to it, also behind a part that is read. */
static void test_fits_axes(void **state)
{
    static const int axes[] = {10, 11, 18, 20, 32, 99, 500, 998, 999, 1000, 1500};
    char *text = malloc((size_t)1 << 20);
    Err err = {0};
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        size_t size = put_axes(text, axes[i], true);
        refuse("axes.fits", text, size, "axes, and 9 is the most");
        size = put_axes(text, 2, true);
        size += put_axes(text + size, axes[i], false);
        const char *path = scratch_path("axes.fits");
        store(path, text, size);
        if (!read_everything(path, &err)) {
            fail_msg("%s", err.text);
        }
        char part[600];
        snprintf(part, sizeof part, "%s[1]", path);
        assert_false(read_everything(part, &err));
        assert_non_null(strstr(err.text, "has no part [1]"));
        unlink(path);
    }
    size_t size = put_axes(text, 9, true);
    const char *path = scratch_path("axes.fits");
    store(path, text, size);
    assert_true(read_everything(path, &err));
    unlink(path);
    /* Which of two sizes counts is not known. */
    memcpy(text + 80 * 12, "NAXIS1  =                 7777", 30);
    refuse("axes.fits", text, size, "gives two sizes for one thing");
    free(text);
}

/* cfitsio believes what a header says of tiles, and what they say themselves. */
static void test_fits_tiles(void **state)
{
    static const char *const CARDS[][2] = {{"ZTILE1  =", "0"},   {"ZTILE2  =", "-1"}, {"ZTILE1  =", "1D-300"},
                                           {"ZTILE1  =", "'7'"}, {"ZVAL1   =", "0"},  {"ZVAL2   =", "0"},
                                           {"ZVAL1   =", "257"}, {"ZNAXIS1 =", "0"}};
    size_t size;
    char *text = load("rice.fits", &size), card[81];
    (void)state;
    for (size_t i = 0; i < sizeof CARDS / sizeof *CARDS; i++) {
        char *at = text;
        while (memcmp(at, CARDS[i][0], 9) != 0) {
            at += 80;
        }
        memcpy(card, at, 80);
        snprintf(at, 80, "%s %20s", CARDS[i][0], CARDS[i][1]);
        memset(at + strlen(at), ' ', 50);
        refuse("tiles.fits", text, size, CARDS[i][0][1] == 'V' ? "blocks of its tiles" : "its tiles have no extent");
        memcpy(at, card, 80);
    }
    free(text);
    /* It writes as many pixels as a tile packed by H-compress claims to be. */
    text = load("hcompress_1.fits.fz", &size);
    size_t at = 0;
    while (memcmp(text + at, "\xDD\x99", 2) != 0) {
        at++;
    }
    text[at + 5]++;
    refuse("tiles.fits", text, size, "compressed tiles are not what its header says");
    free(text);
}

/* The first tile of a compressed file, and how long the table says that it is. */
static uint8_t *first_tile(char *text, size_t bytes, const char *begins, size_t *length)
{
    char *at = text, *table = text;
    while (memcmp(at, "XTENSION", 8) != 0) {
        at += 80;
    }
    while (memcmp(at, "END     ", 8) != 0) {
        at += 80;
    }
    table += ((at - text) / 2880 + 1) * 2880;
    while (memcmp(at, begins, bytes) != 0) {
        at++;
    }
    *length = 0;
    for (int i = 0; i < 4; i++) {
        *length = *length << 8 | (unsigned char)table[i];
    }
    return (uint8_t *)at;
}

/* cfitsio reads on where a tile has less than it says: it must have all, and it has no more than that. */
static void test_fits_streams(void **state)
{
    size_t size, length;
    char *text = load("hcompress_1.fits.fz", &size);
    uint8_t *tile = first_tile(text, 2, "\xDD\x99", &length);
    (void)state;
    for (size_t n = 0; n < length; n++) {
        assert_false(fits_hcompress_is_whole(tile, n, 1e6));
    }
    assert_true(fits_hcompress_is_whole(tile, length, 1e6));
    tile[22] += 20; /* bit planes */
    refuse("streams.fits", text, size, "compressed tiles are not what its header says");
    tile[22] = 200;
    refuse("streams.fits", text, size, "compressed tiles are not what its header says");
    free(text);
    text = load("plio_1.fits.fz", &size);
    tile = first_tile(text, 6, "\0\0\0\x07\xFF\x9C", &length);
    for (size_t n = 0; n < 2 * length; n++) {
        assert_false(fits_plio_is_whole(tile, n));
    }
    assert_true(fits_plio_is_whole(tile, 2 * length));
    /* Where it ends, its first instruction, and one at the end that has a second word. */
    static const struct {
        int at;
        uint8_t is[2];
    } DAMAGE[] = {{6, {0x7F, 0xFF}}, {8, {0x7F, 0xFF}}, {8, {0xFF, 0xFF}}, {2, {0x80, 0}}, {4, {0x7F, 0xFF}}};
    for (size_t i = 0; i < sizeof DAMAGE / sizeof *DAMAGE; i++) {
        uint8_t was[2];
        memcpy(was, tile + DAMAGE[i].at, 2);
        memcpy(tile + DAMAGE[i].at, DAMAGE[i].is, 2);
        refuse("streams.fits", text, size, "compressed tiles are not what its header says");
        memcpy(tile + DAMAGE[i].at, was, 2);
    }
    tile[2 * length - 2] = 0x10;
    refuse("streams.fits", text, size, "compressed tiles are not what its header says");
    free(text);
}

/* The same of Rice, whose last byte has the end of its last pixel, and of gzip, of which cfitsio waits for the end. */
static void test_fits_more_streams(void **state)
{
    static const uint8_t NO_LOW_BITS[] = {[1] = 0x20, [2] = 0x10, [4] = 0x08};
    size_t size, length;
    char *text = load("rice.fits", &size);
    uint8_t *tile = first_tile(text, 2, "\x82\x83", &length);
    (void)state;
    for (size_t n = 0; n < length; n++) {
        assert_false(fits_rice_is_whole(tile, n, 7, 32, 2));
    }
    assert_true(fits_rice_is_whole(tile, length, 7, 32, 2) && !fits_rice_is_whole(tile, length, 700, 32, 2));
    for (int bytes = 1; bytes <= 4; bytes *= 2) { /* high bits of a difference that no one ends */
        uint8_t endless[100] = {0};
        endless[bytes] = NO_LOW_BITS[bytes];
        assert_false(fits_rice_is_whole(endless, sizeof endless, 7, 32, bytes));
    }
    tile[2] = 0x10;
    memset(tile + 3, 0, length - 3);
    refuse("streams.fits", text, size, "compressed tiles are not what its header says");
    free(text);
    text = load("gzip_1.fits.fz", &size);
    tile = first_tile(text, 2, "\x1F\x8B", &length);
    for (size_t n = 0; n < length; n++) {
        assert_false(fits_gzip_is_whole(tile, n, 1e6));
    }
    assert_true(fits_gzip_is_whole(tile, length, 1e6) && !fits_gzip_is_whole(tile, length, 1));
    tile[length - 9] ^= 0x40;
    refuse("streams.fits", text, size, "compressed tiles are not what its header says");
    free(text);
}

/* Lengths of strips that are not compressed: with a gap behind a short one, libtiff would read what lies in it. */
static void test_short_strips(void **state)
{
    size_t size;
    char *text = load("rows_u16.tif", &size);
    unsigned char *file = (unsigned char *)text, *offsets = entry_of(file, 273), *counts = entry_of(file, 279);
    const int width[] = {get(offsets + 2, 2) == 3 ? 2 : 4, get(counts + 2, 2) == 3 ? 2 : 4};
    const uint32_t n = get(counts + 4, 4);
    Err err = {0};
    (void)state;
    offsets = file + get(offsets + 8, 4);
    counts = file + get(counts + 8, 4);
    set(counts + 3 * width[1], width[1], 10); /* the next strip says that it is whole */
    const char *path = scratch_path("strips.tif");
    store(path, file, size);
    assert_true(read_everything(path, &err));
    unlink(path);
    set(offsets + 4 * width[0], width[0], get(offsets + 4 * width[0], width[0]) - 32);
    refuse("strips.tif", file, size, "strip 3 is cut off: it has 10 bytes, and its rows have 42");
    set(offsets + 4 * width[0], width[0], get(offsets + 4 * width[0], width[0]) + 32);
    set(counts + 3 * width[1], width[1], 42);
    set(counts + (n - 1) * (uint32_t)width[1], width[1], 4);
    refuse("strips.tif", file, size, "strip 13 is cut off: it has 4 bytes, and its rows have 14");
    free(text);
}

static void test_second_page(void **state)
{
    size_t size;
    char *text = load("stack_deflate.tif", &size);
    unsigned char *file = (unsigned char *)text;
    Err err = {0};
    (void)state;
    uint32_t dir = get(file + 4, 4);
    uint32_t second = get(file + dir + 2 + 12 * get(file + dir, 2), 4);
    uint32_t strip = 0;
    for (uint32_t i = 0; i < get(file + second, 2); i++) {
        unsigned char *entry = file + second + 2 + 12 * i;
        strip = get(entry, 2) == 273 ? get(entry + 8, 4) : strip;
    }
    memset(file + strip, 0x5A, 8);
    const char *path = scratch_path("second.tif");
    store(path, file, size);
    assert_false(read_everything(path, &err));
    assert_non_null(strstr(err.text, "second.tif': page 2: strip 0 is damaged"));
    free(text);
    unlink(path);
}

/* ---- hostile directories ------------------------------------------------------------------ */

/* 4000 private tags of 900 KB each that all point at the same bytes: gigabytes, if believed. */
static void test_tag_bomb(void **state)
{
    enum { TAGS = 4000, BYTES = 900000, DATA = 8 + 2 + TAGS * 12 + 4 };
    unsigned char *file = calloc(1, DATA + BYTES);
    (void)state;
    assert_non_null(file);
    memcpy(file, "II*\0\x08", 5);
    set(file + 8, 2, TAGS);
    for (int i = 0; i < TAGS; i++) {
        unsigned char *entry = file + 10 + 12 * i;
        set(entry, 2, (uint32_t)(40000 + i));
        set(entry + 2, 2, 1);
        set(entry + 4, 4, BYTES);
        set(entry + 8, 4, DATA);
    }
    refuse("bomb.tif", file, DATA + BYTES, "tags claim more data than the file holds");
    free(file);
}

/* Directories of one page each, all alike; `last` says where the last one leads. */
static void chain(int pages, uint32_t last, const char *why)
{
    static const uint16_t tags[][2] = {{256, 7}, {257, 5}, {258, 8}, {259, 1}, {273, 8}, {277, 1}, {278, 5}, {279, 35}};
    enum { N = 8, SIZE = 2 + 12 * N + 4, FIRST = 8 + 36 };
    size_t size = FIRST + (size_t)pages * SIZE;
    unsigned char *file = calloc(1, size);
    Err err = {0};
    assert_non_null(file);
    memcpy(file, "II*\0", 4);
    set(file + 4, 4, FIRST);
    for (int p = 0; p < pages; p++) {
        unsigned char *dir = file + FIRST + (size_t)p * SIZE;
        set(dir, 2, N);
        for (int i = 0; i < N; i++) {
            set(dir + 2 + 12 * i, 2, tags[i][0]);
            set(dir + 4 + 12 * i, 2, 3);
            set(dir + 6 + 12 * i, 4, 1);
            set(dir + 10 + 12 * i, 4, tags[i][1]);
        }
        uint32_t next = FIRST + (uint32_t)(p + 1) * SIZE;
        set(dir + 2 + 12 * N, 4, p + 1 < pages ? next : last == 0 ? 0 : FIRST + (last - 1) * SIZE);
    }
    const char *path = scratch_path("chain.tif");
    store(path, file, size);
    free(file);
    bool ok = read_everything(path, &err);
    if (ok != (why == NULL) || (why != NULL && strstr(err.text, why) == NULL)) {
        fail_msg("%d pages: %s", pages, ok ? "was read" : err.text);
    }
    unlink(path);
}

static void test_chains(void **state)
{
    (void)state;
    chain(1, 1, "leads back");
    chain(5, 1, "leads back");
    chain(5, 5, "leads back");
    chain(1000, 700, "leads back");
    chain(1000, 2000, "cut off");
    chain(60000, 0, NULL);
}

/* ---- everything else ----------------------------------------------------------------------- */

static void try_file(const char *name, const unsigned char *file, size_t size)
{
    Err err = {0};
    const char *path = scratch_path("tried");
    store(path, file, size);
    bool ok = read_everything(path, &err);
    if (!ok && (err.code != CODE_FILES || strstr(err.text, path) == NULL)) {
        fail_msg("%s: code %d, %s", name, err.code, err.text);
    }
}

/* Calls `work` for every fixture. */
static void each_fixture(void (*work)(const char *name, unsigned char *file, size_t size))
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s/images", TEST_DATA);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.') {
            size_t size;
            char *text = load(entry->d_name, &size);
            work(entry->d_name, (unsigned char *)text, size);
            free(text);
        }
    }
    closedir(dir);
    unlink(scratch_path("tried"));
}

static void cut(const char *name, unsigned char *file, size_t size)
{
    size_t step = size > 1000 ? size / 97 : 7;
    for (size_t n = 0; n < size; n += step) {
        try_file(name, file, n);
    }
}

static void test_cut_off(void **state)
{
    (void)state;
    each_fixture(cut);
}

/* Changes one to eight bytes at places and to values that a fixed sequence chooses, mostly in the
 * first and last 400 bytes, where directories and headers are. */
static void scramble(const char *name, unsigned char *file, size_t size)
{
    const char *rounds = getenv("PIPEC_FUZZ_ROUNDS");
    unsigned char *copy = malloc(size);
    uint64_t seed = 88172645463325252u;
    assert_non_null(copy);
    for (int i = 0, n = rounds == NULL ? 40 : atoi(rounds); i < n; i++) {
        memcpy(copy, file, size);
        for (int k = i % 8; k >= 0; k--) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            size_t near = size < 400 ? size : 400, at = (size_t)(seed >> 8);
            at = i % 3 == 0 ? at % size : i % 3 == 1 ? at % near : size - 1 - at % near;
            copy[at] = (unsigned char)(seed & 3 ? seed >> 40 : 255);
        }
        try_file(name, copy, size);
    }
    free(copy);
}

static void test_scrambled(void **state)
{
    (void)state;
    each_fixture(scramble);
}

/* Libraries ask for what damaged files claim, and bear a refusal; the sanitizer must not abort. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static int limit_memory(void **state)
{
    (void)state;
#if !defined __SANITIZE_ADDRESS__ && !defined __clang__
    struct rlimit limit = {(rlim_t)3 << 30, (rlim_t)3 << 30}; /* sanitizers map terabytes */
    return setrlimit(RLIMIT_AS, &limit);
#else
    return 0;
#endif
}

static int remove_scratch(void **state)
{
    (void)state;
    return rmdir(scratch_path(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damages),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_damages),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_jp2),
        cmocka_unit_test(test_fits_sizes),
        cmocka_unit_test(test_fits_axes),
        cmocka_unit_test(test_fits_tiles),
        cmocka_unit_test(test_fits_streams),
        cmocka_unit_test(test_fits_more_streams),
        cmocka_unit_test(test_second_page),
        cmocka_unit_test(test_short_strips),
        cmocka_unit_test(test_tag_bomb),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_scrambled),
    };
    return cmocka_run_group_tests(tests, limit_memory, remove_scratch);
}
