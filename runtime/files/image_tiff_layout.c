/*
 * image_tiff_layout: from the tags of a page to how its pixels are stored.
 *
 * libtiff opens almost anything and hands packed bytes over; so what pipec reads is an explicit
 * list here, and everything else is refused with a sentence that says what it is.
 */
#include "image_tiff.h"

#include "../host/convert.h"

#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

/* Sample types that pipec reads. */
static const struct SampleRow {
    uint64_t format, bits;
    Elem elem;
} SAMPLES[] = {
    {FORMAT_UINT, 1, ELEM_BOOL},  {FORMAT_UINT, 2, ELEM_U8},    {FORMAT_UINT, 4, ELEM_U8},
    {FORMAT_UINT, 8, ELEM_U8},    {FORMAT_UINT, 16, ELEM_U16},  {FORMAT_UINT, 32, ELEM_U32},
    {FORMAT_INT, 8, ELEM_I16},    {FORMAT_INT, 16, ELEM_I16},   {FORMAT_INT, 32, ELEM_I32},
    {FORMAT_FLOAT, 32, ELEM_F32}, {FORMAT_FLOAT, 64, ELEM_F64}, {FORMAT_FLOAT, 16, ELEM_F32},
    {FORMAT_UINT, 64, ELEM_U32},  {FORMAT_INT, 64, ELEM_I32},   {FORMAT_UINT, 10, ELEM_U16},
    {FORMAT_UINT, 12, ELEM_U16},  {FORMAT_UINT, 14, ELEM_U16},
};

/*
 * The most that one byte of a file can become, generously; what exceeds it is damaged or made to
 * eat memory.  Methods that are missing here are run lengths or entropy coders without a bound
 * worth the name.
 */
static const struct Ratio {
    uint64_t compression, most;
} RATIOS[] = {
    {COMPRESSION_NONE, 1}, {5, 4096}, {8, 1100}, {32946, 1100}, {32773, 128}, {7, 2000},
};

static const uint64_t RATIO_UNKNOWN = 100000;
static const double TILE_MOST = 1 << 28; /* bytes of a tile that is much larger than the image */
static const double SPARSE_MOST = 1e7;   /* the same for files that leave pixels out */

static const struct Photometric {
    uint64_t code;
    const char *name;
} REFUSED[] = {
    {5, "CMYK colours"},
    {8, "CIELab colours"},
    {9, "ICCLab colours"},
    {10, "ITULab colours"},
    {32803, "a colour filter array"},
    {32844, "LogL pixels"},
    {32845, "LogLuv pixels"},
    {51177, "a depth map"},
};

/* All values of a tag with one value a sample must be equal. */
static bool read_same(const TiffSource *source, const TiffDirectory *dir, int tag, uint64_t missing, uint64_t *value,
                      Err *err)
{
    const TiffEntry *entry = tiff_find(dir, tag);
    uint64_t *all = NULL;
    *value = missing;
    if (entry == NULL) {
        return true;
    }
    TRY(tiff_uints(source, entry, &all, err));
    *value = all[0];
    for (uint64_t i = 1; i < entry->count; i++) {
        if (all[i] != all[0]) {
            *value = UINT64_MAX; /* refused later, as a type that does not exist */
        }
    }
    free(all);
    return true;
}

bool tiff_layout_read(const TiffSource *source, const TiffDirectory *dir, TiffLayout *layout, Err *err)
{
    uint64_t planar;
    memset(layout, 0, sizeof *layout);
    TRY(tiff_uint(source, dir, TAG_WIDTH, 0, &layout->x, err));
    TRY(tiff_uint(source, dir, TAG_LENGTH, 0, &layout->y, err));
    TRY(read_same(source, dir, TAG_BITS, 1, &layout->bits, err));
    TRY(read_same(source, dir, TAG_SAMPLE_FORMAT, FORMAT_UINT, &layout->format, err));
    TRY(tiff_uint(source, dir, TAG_SAMPLES, 1, &layout->samples, err));
    TRY(tiff_uint(source, dir, TAG_COMPRESSION, COMPRESSION_NONE, &layout->compression, err));
    TRY(tiff_uint(source, dir, TAG_PHOTOMETRIC, PHOTOMETRIC_BLACK_IS_ZERO, &layout->photometric, err));
    TRY(tiff_uint(source, dir, TAG_FILL_ORDER, 1, &layout->fill_order, err));
    TRY(tiff_uint(source, dir, TAG_PLANAR, 1, &planar, err));
    layout->planar = planar == 2 && layout->samples > 1;
    layout->tiled = tiff_find(dir, TAG_TILE_WIDTH) != NULL;
    if (layout->format == FORMAT_VOID) {
        layout->format = FORMAT_UINT;
    }
    return true;
}

bool tiff_is_marked(const TiffSource *source, const TiffDirectory *dir)
{
    enum { SMALLER = 1, MASK = 4, OLD_SMALLER = 2 };
    uint64_t now = 0, old = 0;
    Err ignored = {0};
    return tiff_uint(source, dir, TAG_SUBFILE, 0, &now, &ignored) &&
           tiff_uint(source, dir, TAG_OLD_SUBFILE, 0, &old, &ignored) &&
           ((now & (SMALLER | MASK)) != 0 || old == OLD_SMALLER);
}

bool tiff_layout_same(const TiffLayout *a, const TiffLayout *b)
{
    return a->x == b->x && a->y == b->y && a->bits == b->bits && a->format == b->format && a->samples == b->samples &&
           a->photometric == b->photometric;
}

uint64_t tiff_row_bytes(const TiffLayout *layout)
{
    uint64_t samples = layout->planar ? 1 : layout->samples;
    return (layout->x * samples * layout->bits + 7) / 8;
}

/* ---- checks ---------------------------------------------------------------------------- */

static bool check_size(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, Err *err)
{
    uint64_t depth;
    if (layout->x == 0 || layout->y == 0) {
        return err_set(err, CODE_FILES, "its width or height is 0");
    }
    if (layout->x > INT32_MAX || layout->y > INT32_MAX) {
        return err_set(err, CODE_FILES, "it claims %llu x %llu pixels, and 2147483647 is the most",
                       (unsigned long long)layout->x, (unsigned long long)layout->y);
    }
    if (layout->samples == 0 || layout->samples > UINT16_MAX) {
        return err_set(err, CODE_FILES, "it claims %llu samples a pixel", (unsigned long long)layout->samples);
    }
    TRY(tiff_uint(source, dir, TAG_IMAGE_DEPTH, 1, &depth, err));
    if (depth != 1) {
        return err_set(err, CODE_FILES,
                       "it stores whole volumes as one page (ImageDepth); write "
                       "one page for each plane");
    }
    return true;
}

static bool check_type(TiffLayout *layout, Err *err)
{
    for (size_t i = 0; i < sizeof SAMPLES / sizeof *SAMPLES; i++) {
        if (SAMPLES[i].format == layout->format && SAMPLES[i].bits == layout->bits) {
            layout->elem = SAMPLES[i].elem;
            return true;
        }
    }
    if (layout->bits == UINT64_MAX || layout->format == UINT64_MAX) {
        return err_set(err, CODE_FILES, "its samples differ in type");
    }
    static const char *const KIND[] = {"unknown", "unsigned", "signed", "float"};
    const char *kind = layout->format <= FORMAT_FLOAT ? KIND[layout->format] : "complex or unknown";
    return err_set(err, CODE_FILES,
                   "its pixels are %llu-bit %s numbers, which pipec does not read; store "
                   "integers of 8 to 64 bits or floats of 16, 32 or 64",
                   (unsigned long long)layout->bits, kind);
}

static bool check_meaning(const TiffLayout *layout, Err *err)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        if (REFUSED[i].code == layout->photometric) {
            return err_set(err, CODE_FILES,
                           "it holds %s, which pipec does not read; convert it "
                           "to gray or RGB",
                           REFUSED[i].name);
        }
    }
    if (layout->compression == COMPRESSION_NEW_JPEG && layout->bits != 8) { /* few builds of libtiff decode them */
        return err_set(err, CODE_FILES,
                       "its pixels are JPEG of %llu bits, and 8 are read; store it with deflate, LZW or none",
                       (unsigned long long)layout->bits);
    }
    if (layout->photometric == PHOTOMETRIC_COLOURS && layout->samples < 3) {
        return err_set(err, CODE_FILES, "it claims RGB colours but has %llu samples a pixel",
                       (unsigned long long)layout->samples);
    }
    if (layout->photometric == PHOTOMETRIC_INDEX &&
        (layout->bits > 16 || layout->format != FORMAT_UINT || layout->samples != 1)) {
        return err_set(err, CODE_FILES, "it has a palette for pixels that are not single numbers of up to 16 bits");
    }
    if (layout->photometric == PHOTOMETRIC_LUMA &&
        (layout->compression != COMPRESSION_NEW_JPEG || layout->bits != 8 || layout->samples != 3 || layout->planar)) {
        return err_set(err, CODE_FILES,
                       "it holds YCbCr colours that are not JPEG, which pipec "
                       "does not read; convert it to RGB");
    }
    return true;
}

/* Strips and tiles; their number is checked, because libtiff makes room for what is claimed. */
static bool check_bands(const TiffSource *source, const TiffDirectory *dir, TiffLayout *layout, Err *err)
{
    uint64_t rows, columns = 1;
    TRY(tiff_uint(source, dir, layout->tiled ? TAG_TILE_LENGTH : TAG_ROWS_PER_STRIP, UINT32_MAX, &rows, err));
    layout->tile_x = layout->x;
    if (layout->tiled) {
        TRY(tiff_uint(source, dir, TAG_TILE_WIDTH, 0, &layout->tile_x, err));
    }
    double tile = (double)layout->tile_x * (double)rows * (double)layout->samples * (double)layout->bits / 8;
    bool huge = tile > TILE_MOST && (layout->tile_x / 2 > layout->x || rows / 2 > layout->y);
    bool whole_bytes = layout->tile_x * (layout->planar ? 1 : layout->samples) * layout->bits % 8 == 0;
    if (rows == 0 || layout->tile_x == 0 || layout->tile_x > INT32_MAX ||
        (layout->tiled && (rows > INT32_MAX || huge || !whole_bytes))) {
        return err_set(err, CODE_FILES, "its %s size is damaged", layout->tiled ? "tile" : "strip");
    }
    layout->band_rows = layout->tiled || rows < layout->y ? rows : layout->y;
    layout->bands = (layout->y + layout->band_rows - 1) / layout->band_rows;
    columns = layout->tiled ? (layout->x + layout->tile_x - 1) / layout->tile_x : 1;
    uint64_t need = layout->bands * columns;
    uint64_t planes = layout->planar ? layout->samples : 1;
    /* Some writers keep tiles in the tags of strips. */
    uint64_t have = tiff_count(dir, layout->tiled ? TAG_TILE_OFFSETS : TAG_STRIP_OFFSETS);
    if (have == 0) {
        have = tiff_count(dir, layout->tiled ? TAG_STRIP_OFFSETS : TAG_TILE_OFFSETS);
    }
    if (have / planes < need) {
        return err_set(err, CODE_FILES, "it needs %llu %s and lists %llu", (unsigned long long)(need * planes),
                       layout->tiled ? "tiles" : "strips", (unsigned long long)have);
    }
    return true;
}

/* Of what comes after gray or colours only marked alpha goes. */
static bool count_kept(const TiffSource *source, const TiffDirectory *dir, TiffLayout *layout, Err *err)
{
    const TiffEntry *entry = tiff_find(dir, TAG_EXTRA_SAMPLES);
    bool colours = layout->photometric == PHOTOMETRIC_COLOURS || layout->photometric == PHOTOMETRIC_LUMA;
    uint64_t *extra, first = colours ? 3 : 1;
    layout->kept = layout->samples;
    layout->alphas = 0;
    if (entry == NULL || entry->count == 0 || layout->samples <= first) {
        return true;
    }
    TRY(tiff_uints(source, entry, &extra, err));
    uint64_t n = entry->count < layout->samples - first ? entry->count : layout->samples - first;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t sample = layout->samples - n + i;
        if (sample < 64 && (extra[i] == EXTRASAMPLE_ASSOCALPHA || extra[i] == EXTRASAMPLE_UNASSALPHA)) {
            layout->alphas |= (uint64_t)1 << sample;
            layout->kept--;
        }
    }
    free(extra);
    return true;
}

/*
 * Single bits of which 0 is white are what scikit-image and tifffile make of arrays of booleans, and what is set is
 * what was True: they are taken as they are stored.  Facsimiles are the exception, which those programs do not write.
 */
TiffWhite tiff_white(const TiffLayout *layout, bool stored)
{
    enum { FAX_FIRST = 2, FAX_LAST = 4, FAX_BY_WORDS = 32771 };
    bool fax =
        (layout->compression >= FAX_FIRST && layout->compression <= FAX_LAST) || layout->compression == FAX_BY_WORDS;
    if (layout->photometric != PHOTOMETRIC_WHITE_IS_ZERO || (stored && layout->bits >= 8)) {
        return WHITE_NO_MATTER;
    }
    return layout->bits == 1 && !fax                             ? WHITE_BITS
           : layout->format == FORMAT_UINT && layout->bits <= 32 ? WHITE_TURNED
                                                                 : WHITE_KEPT;
}

int tiff_kept_sample(const TiffLayout *layout, int k)
{
    int sample = 0;
    for (;; sample++) {
        bool goes = sample < 64 && (layout->alphas >> sample & 1) != 0;
        if (!goes && k-- == 0) {
            return sample;
        }
    }
}

/* What users know as names, of methods that libtiff does not have. */
static const char *method_name(uint64_t compression)
{
    static const struct {
        uint64_t code;
        const char *name;
    } METHODS[] = {
        {COMPRESSION_OLD_JPEG, ", old JPEG"},
        {33003, ", JPEG 2000"},
        {33004, ", JPEG 2000"},
        {33005, ", JPEG 2000"},
        {34712, ", JPEG 2000"},
        {22610, ", JPEG XR"},
        {34934, ", JPEG XR"},
        {50002, ", JPEG XL"},
        {52546, ", JPEG XL"},
    };
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        if (METHODS[i].code == compression) {
            return METHODS[i].name;
        }
    }
    return "";
}

bool tiff_layout_check(const TiffSource *source, const TiffDirectory *dir, TiffLayout *layout, Err *err)
{
    TRY(check_size(source, dir, layout, err));
    TRY(check_type(layout, err));
    TRY(check_meaning(layout, err));
    TRY(check_bands(source, dir, layout, err));
    TRY(count_kept(source, dir, layout, err));
    if (layout->compression > UINT16_MAX || layout->compression == COMPRESSION_OLD_JPEG ||
        !TIFFIsCODECConfigured((uint16_t)layout->compression)) {
        return err_set(err, CODE_FILES,
                       "its compression (method %llu%s) is not known here; store it with deflate, "
                       "LZW or none",
                       (unsigned long long)layout->compression, method_name(layout->compression));
    }
    return true;
}

double tiff_page_bytes(const TiffLayout *layout)
{
    return (double)tiff_row_bytes(layout) * (double)layout->y * (double)(layout->planar ? layout->samples : 1);
}

static uint64_t count_bands(const TiffLayout *layout)
{
    uint64_t columns = (layout->x + layout->tile_x - 1) / layout->tile_x;
    return layout->bands * columns * (layout->planar ? layout->samples : 1);
}

bool tiff_layout_plausible(const TiffLayout *layout, uint64_t planes, double bytes, uint64_t file_size, Err *err)
{
    uint64_t ratio = RATIO_UNKNOWN;
    for (size_t i = 0; i < sizeof RATIOS / sizeof *RATIOS; i++) {
        ratio = RATIOS[i].compression == layout->compression ? RATIOS[i].most : ratio;
    }
    double all = tiff_page_bytes(layout) * (double)planes;
    if (bytes > (double)file_size * (double)ratio || all > (double)file_size * SPARSE_MOST) {
        return err_set(err, CODE_FILES,
                       "it claims %llu x %llu pixels on %llu page%s (%.3g MB), and %llu bytes "
                       "cannot hold them: it is cut off or damaged",
                       (unsigned long long)layout->x, (unsigned long long)layout->y, (unsigned long long)planes,
                       planes == 1 ? "" : "s", all / 1e6, (unsigned long long)file_size);
    }
    return true;
}

/* ---- pixels that are left out ---------------------------------------------------------------- */

/* Where strips or tiles are, or how long; some writers keep those of tiles in the tags of strips. */
static const TiffEntry *band_entry(const TiffDirectory *dir, const TiffLayout *layout, int of_tiles, int of_strips)
{
    const TiffEntry *entry = tiff_find(dir, layout->tiled ? of_tiles : of_strips);
    return entry != NULL ? entry : tiff_find(dir, layout->tiled ? of_strips : of_tiles);
}

/* The lengths of strips or tiles; *counts is NULL where nobody knows them: without their tag, or where the only strip has
 * a place and room there, as some writers leave it that compress nothing. */
static bool band_lengths(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout,
                         const uint64_t *offsets, uint64_t n, uint64_t **counts, Err *err)
{
    const TiffEntry *entry = band_entry(dir, layout, TAG_TILE_COUNTS, TAG_STRIP_COUNTS);
    *counts = NULL;
    if (entry == NULL || entry->count < n) {
        return true;
    }
    TRY(tiff_uints(source, entry, counts, err));
    bool forgotten = n == 1 && (*counts)[0] == 0 && layout->compression == COMPRESSION_NONE && offsets[0] != 0 &&
                     (double)offsets[0] + tiff_page_bytes(layout) <= (double)source->size;
    if (forgotten) {
        free(*counts);
        *counts = NULL;
    }
    return true;
}

/*
 * libtiff reads on behind a strip that is not compressed and too short, into whatever lies there.  Some writers' lengths
 * mean nothing: those whose strips are one behind the other all the same, and that of an only strip.
 */
static bool check_lengths(const TiffLayout *layout, const uint64_t *offsets, const uint64_t *counts, uint64_t n,
                          Err *err)
{
    bool mean = n > 1 && layout->compression == COMPRESSION_NONE && !layout->tiled;
    for (uint64_t i = 0; mean && i < n; i++) {
        uint64_t left = layout->y - i % layout->bands * layout->band_rows;
        uint64_t need = (left < layout->band_rows ? left : layout->band_rows) * tiff_row_bytes(layout);
        bool absent = offsets[i] == 0 || counts[i] == 0, follows = i + 1 < n && offsets[i + 1] == offsets[i] + need;
        if (!absent && counts[i] < need && !follows) {
            return err_set(err, CODE_FILES, "strip %llu is cut off: it has %llu bytes, and its rows have %llu",
                           (unsigned long long)i, (unsigned long long)counts[i], (unsigned long long)need);
        }
        mean = absent || counts[i] >= need;
    }
    return true;
}

/* What is there of a page, decoded: of strips the rows, of tiles their share. */
static double present_bytes(const TiffLayout *layout, const uint8_t *flags, uint64_t n)
{
    double rows = 0, present = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t left = layout->y - i % layout->bands * layout->band_rows;
        rows += flags[i] ? 0 : (double)(left < layout->band_rows ? left : layout->band_rows);
        present += !flags[i];
    }
    return layout->tiled ? tiff_page_bytes(layout) * present / (double)n : rows * (double)tiff_row_bytes(layout);
}

bool tiff_layout_absent(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint8_t **flags,
                        double *present, Err *err)
{
    uint64_t n = count_bands(layout), absent = 0, *offsets, *counts = NULL;
    *flags = NULL;
    *present = tiff_page_bytes(layout);
    TRY(tiff_uints(source, band_entry(dir, layout, TAG_TILE_OFFSETS, TAG_STRIP_OFFSETS), &offsets, err));
    bool ok = band_lengths(source, dir, layout, offsets, n, &counts, err) &&
              (counts == NULL || check_lengths(layout, offsets, counts, n, err));
    for (uint64_t i = 0; ok && i < n; i++) {
        absent += offsets[i] == 0 || (counts != NULL && counts[i] == 0);
    }
    if (ok && absent > 0) {
        *flags = malloc((size_t)n);
        ok = *flags != NULL || err_set(err, CODE_FILES, "out of memory");
    }
    for (uint64_t i = 0; ok && *flags != NULL && i < n; i++) {
        (*flags)[i] = offsets[i] == 0 || (counts != NULL && counts[i] == 0);
    }
    if (ok && *flags != NULL) {
        *present = present_bytes(layout, *flags, n);
    }
    free(offsets);
    free(counts);
    return ok;
}

bool tiff_layout_nothing(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint8_t to[8],
                         Err *err)
{
    char *text = NULL, *end;
    memset(to, 0, 8);
    TRY(tiff_text(source, dir, TAG_NODATA, &text, err));
    double value = text != NULL ? strtod(text, &end) : 0;
    bool stored = layout->bits >= 8 && elem_size(layout->elem) * 8 == layout->bits;
    if (text != NULL && end != text && stored) {
        size_t bad;
        (void)convert_row(ELEM_F64, &value, layout->elem, to, 1, &bad); /* what does not fit leaves 0 */
    }
    bool told = text != NULL && end != text && value != 0;
    free(text);
    return stored || !told ||
           err_set(err, CODE_FILES,
                   "parts of it that are left out stand for %g, which pipec does not know in %llu-bit pixels; "
                   "store all of it",
                   value, (unsigned long long)layout->bits);
}

/* ---- pixels in place, palettes ----------------------------------------------------------- */

bool tiff_layout_raw(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint64_t **offsets,
                     Err *err)
{
    *offsets = NULL;
    const TiffEntry *entry = tiff_find(dir, TAG_STRIP_OFFSETS);
    if (layout->compression != COMPRESSION_NONE || layout->tiled || layout->bits % 8 != 0 || layout->fill_order != 1 ||
        entry == NULL) {
        return true;
    }
    uint64_t *strips, planes = layout->planar ? layout->samples : 1;
    TRY(tiff_uints(source, entry, &strips, err));
    uint64_t strip = layout->band_rows * tiff_row_bytes(layout);
    bool whole = true;
    for (uint64_t i = 0; i < planes * layout->bands; i++) {
        whole = whole && strips[i] != 0 && (i % layout->bands == 0 || strips[i] == strips[i - 1] + strip);
    }
    for (uint64_t i = 0; whole && i < planes; i++) {
        strips[i] = strips[i * layout->bands];
    }
    if (whole) {
        *offsets = strips;
    } else {
        free(strips);
    }
    return true;
}

bool tiff_palette(const TiffSource *source, const TiffDirectory *dir, const TiffLayout *layout, uint8_t map[3 * 256],
                  bool *gray, Err *err)
{
    const TiffEntry *entry = tiff_find(dir, TAG_COLOUR_MAP);
    uint64_t n = (uint64_t)1 << layout->bits, *all, most = 0;
    memset(map, 0, 3 * 256);
    *gray = true;
    if (entry == NULL || entry->count < 3 * n) {
        return err_set(err, CODE_FILES, "its pixels are indices, but their palette is missing");
    }
    TRY(tiff_uints(source, entry, &all, err));
    for (uint64_t i = 0; i < 3 * n; i++) {
        most = all[i] > most ? all[i] : most;
    }
    int shift = most > 255 ? 8 : 0; /* old writers store bytes where 16 bits are meant */
    for (uint64_t i = 0; i < 3 * n; i++) {
        map[i / n * 256 + i % n] = (uint8_t)(all[i] >> shift);
    }
    for (uint64_t i = 0; i < n; i++) {
        *gray = *gray && map[i] == map[256 + i] && map[i] == map[512 + i];
    }
    free(all);
    return true;
}
