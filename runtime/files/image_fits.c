/*
 * image_fits: FITS images in, through cfitsio.
 *
 * The first image of at least two axes counts, compressed or not, or the part that the path names.  Axes 1 and 2 are x and y; later
 * ones of extent 1 are dropped, as radio images carry them; those that are left are c for STOKES,
 * t for TIME and else z.  Integers that only have an offset stay integers; scaled ones, and those
 * with a BLANK value (which becomes NaN), are read as f32.  Row 1 of the file is row 0: nothing is
 * turned over.  Headers are walked over and tiles looked at before cfitsio sees them
 * (image_fits_scan.h, image_fits_tiles.h).
 *
 * Pixels have a size where CUNITn is a length.  ImageInfo.extra is the header: cards of 80 letters in
 * one terminated text.  To that of an extension belongs what the file's first header says of all.
 */
#include "cfitsio.h"
#include "image_fits_place.h"
#include "image_fits_scan.h"
#include "image_fits_tiles.h"
#include "image_meta.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AXES_MAX = FITS_AXES_MAX };

static const double COMPRESSED_MAX = 1e5; /* bytes that one byte may become in good faith */

typedef struct FitsIn {
    fitsfile *file;
    char *memory;  /* the file, where cfitsio cannot read it from the disk; NULL: it can; owned */
    size_t room;   /* of it; cfitsio keeps pointers to both */
    uint64_t size; /* of the file, when it is unpacked */
    bool zipped;
    FitsScan scan;
    FitsTiles tiles;
    int stuck; /* status of cfitsio where it could not go to a part: it is between two parts then, and knows neither */
    int type;  /* of cfitsio, for the elements */
    int axes;  /* of the image */
    int axis_of[3];  /* FITS axis (from 1) of t, c, z; 0: none */
    bool find_nulls; /* but in tiles that are exact */
    char *header;    /* owned */
} FitsIn;

/* How pixel types are called by pipec and by cfitsio. */
static const struct Type {
    int image, type;
    Elem elem;
} TYPES[] = {
    {BYTE_IMG, TBYTE, ELEM_U8},      {SBYTE_IMG, TSHORT, ELEM_I16},    {SHORT_IMG, TSHORT, ELEM_I16},
    {USHORT_IMG, TUSHORT, ELEM_U16}, {LONG_IMG, TINT, ELEM_I32},       {ULONG_IMG, TUINT, ELEM_U32},
    {LONGLONG_IMG, TINT, ELEM_I32},  {ULONGLONG_IMG, TUINT, ELEM_U32}, {FLOAT_IMG, TFLOAT, ELEM_F32},
    {DOUBLE_IMG, TDOUBLE, ELEM_F64},
};

/* A gzip file counts when FITS is inside. */
static bool is_fits(const unsigned char *head, size_t n)
{
    return (n >= 9 && memcmp(head, "SIMPLE  =", 9) == 0) || fits_is_zipped(head, n);
}

/* Turns a status of cfitsio into a sentence, and empties its stack of messages. */
static bool fits_failure(int status, const char *what, Err *err)
{
    char text[FLEN_STATUS], more[FLEN_ERRMSG];
    cfitsio.get_errstatus(status, text);
    if (cfitsio.read_errmsg(more) == 0) {
        more[0] = '\0';
    }
    cfitsio.clear_errmsg();
    return err_set(err, CODE_FILES, "%s: %s%s%s", what, text, more[0] == '\0' ? "" : "; ", more);
}

/* Looks at the part that is current: has it pixels, and as many axes?  A line is an image of one row. */
static bool is_image(FitsIn *in, int least, LONGLONG extents[AXES_MAX], int *status)
{
    int type = 0;
    in->axes = 0;
    cfitsio.get_hdu_type(in->file, &type, status);
    if (*status == 0 && type == IMAGE_HDU) {
        cfitsio.get_img_dim(in->file, &in->axes, status);
        cfitsio.get_img_sizell(in->file, AXES_MAX, extents, status);
    }
    extents[1] = in->axes == 1 ? 1 : extents[1];
    return *status == 0 && in->axes >= least && extents[0] > 0 && extents[1] > 0;
}

/* True when a part has this name, and this version if one is asked for (0: any). */
static bool is_called(FitsIn *in, const char *name, int version)
{
    static const char *const KEYS[] = {"EXTNAME", "HDUNAME"};
    char value[FLEN_VALUE];
    bool called = false;
    for (int i = 0; i < 2; i++) {
        int status = 0;
        cfitsio.read_key(in->file, TSTRING, KEYS[i], value, NULL, &status);
        called = called || (status == 0 && strcasecmp(value, name) == 0);
    }
    int found = 1, status = 0;
    cfitsio.read_key(in->file, TINT, "EXTVER", &found, NULL, &status);
    cfitsio.clear_errmsg();
    return called && (version == 0 || version == (status == 0 ? found : 1));
}

/* Goes to a part, from 1 on; cfitsio sees none that was not scanned. */
static bool go_to(FitsIn *in, int64_t part)
{
    return part >= 1 && part <= in->scan.parts && in->stuck == 0 &&
           cfitsio.movabs_hdu(in->file, (int)part, NULL, &in->stuck) == 0;
}

/* "ERR", "SCI,2" (its second), or a number from 0 on, as astropy counts. */
static bool move_to_part(FitsIn *in, const char *part, Err *err)
{
    char name[IMAGE_PART_BYTES], *end;
    int version = 0;
    long number = strtol(part, &end, 10);
    bool found = false;
    snprintf(name, sizeof name, "%s", part);
    if (*end == '\0') {
        found = go_to(in, (int64_t)number + 1);
    } else {
        char *comma = strrchr(name, ',');
        if (comma != NULL) {
            *comma = '\0';
            version = atoi(comma + 1);
        }
        for (int i = 1; !found && go_to(in, i); i++) {
            found = is_called(in, name, version);
        }
    }
    return found            ? true
           : in->stuck != 0 ? fits_failure(in->stuck, "it is damaged", err)
                            : err_set(err, CODE_FILES, "it has no part [%s]", part);
}

/* Steps to the part that is asked for, or to the first image with two axes or more, or to the first line. */
static bool find_image(FitsIn *in, const char *part, LONGLONG extents[AXES_MAX], Err *err)
{
    int status = 0;
    bool found = false;
    if (*part != '\0') {
        TRY(move_to_part(in, part, err));
        found = is_image(in, 1, extents, &status);
    }
    for (int least = 2; least >= 1; least--) {
        for (int i = 1; *part == '\0' && !found && status == 0 && go_to(in, i); i++) {
            found = is_image(in, least, extents, &status);
        }
    }
    status = status != 0 ? status : in->stuck;
    if (!found && status == 0 && in->scan.stopped.code != CODE_OK) {
        *err = in->scan.stopped; /* it may be in what was not looked at */
        return false;
    }
    return found           ? true
           : status != 0   ? fits_failure(status, "it is damaged", err)
           : *part != '\0' ? err_set(err, CODE_FILES, "its part [%s] is no image", part)
                           : err_set(err, CODE_FILES, "it holds no image");
}

static bool choose_axes(FitsIn *in, const LONGLONG *extents, ImageInfo *info, Err *err)
{
    int64_t *extent[3] = {&info->t, &info->c, &info->z};
    bool *has[3] = {&info->has_t, &info->has_c, &info->has_z};
    info->x = extents[0];
    info->y = extents[1];
    info->t = info->c = info->z = 1;
    if (!fits_axes(in->header, in->axis_of)) {
        return err_set(err, CODE_FILES, "it has more than five axes");
    }
    for (int i = 0; i < 3; i++) {
        int k = in->axis_of[i];
        if (k > 0 && extents[k - 1] < 1) {
            return err_set(err, CODE_FILES, "one of its axes has extent 0");
        }
        *extent[i] = k > 0 ? extents[k - 1] : 1;
        *has[i] = k > 0;
    }
    if (info->x > INT32_MAX || info->y > INT32_MAX) {
        return err_set(err, CODE_FILES, "it claims %lld x %lld pixels, and 2147483647 is the most", (long long)info->x,
                       (long long)info->y);
    }
    return true;
}

/* Of what cfitsio takes for compressed, some it cannot unpack: it fails, or leaves the memory as it is. */
static bool check_method(FitsIn *in, int stored, Err *err)
{
    char method[FLEN_VALUE] = "";
    int status = 0;
    bool packed = cfitsio.is_compressed_image(in->file, &status);
    cfitsio.read_key(in->file, TSTRING, "ZCMPTYPE", method, NULL, &status);
    cfitsio.clear_errmsg();
    if (packed && stored == LONGLONG_IMG) {
        return err_set(err, CODE_FILES,
                       "it has 64-bit integers in compressed tiles, which pipec does not read; "
                       "store them without compression, or as 32-bit integers");
    }
    return !packed || strncmp(method, "NOCOMPRESS", 10) != 0 ||
           err_set(err, CODE_FILES,
                   "its tiles are stored by NOCOMPRESS, which pipec does not read; store it as an image "
                   "without tiles, or compressed");
}

/* True where tiles hold whole numbers that stand for floats, and nothing says which: cfitsio would take their bits. */
static bool lacks_scale(FitsIn *in)
{
    char method[FLEN_VALUE] = "", key[FLEN_KEYWORD], column[FLEN_VALUE];
    int status = 0, fields = 0;
    double scale;
    cfitsio.read_key(in->file, TSTRING, "ZCMPTYPE", method, NULL, &status);
    cfitsio.read_key(in->file, TINT, "TFIELDS", &fields, NULL, &status);
    bool whole = status == 0 && strncmp(method, "GZIP", 4) != 0;
    bool said = cfitsio.read_key(in->file, TDOUBLE, "ZSCALE", &scale, NULL, &status) == 0;
    for (int i = 1; whole && !said && i <= fields; i++) {
        status = 0;
        snprintf(key, sizeof key, "TTYPE%d", i);
        said =
            cfitsio.read_key(in->file, TSTRING, key, column, NULL, &status) == 0 && strcasecmp(column, "ZSCALE") == 0;
    }
    cfitsio.clear_errmsg();
    return whole && !said;
}

/* A number of the header; 0 when it has none of that name. */
static double header_number(FitsIn *in, const char *key)
{
    double value = 0;
    int status = 0;
    if (cfitsio.read_key(in->file, TDOUBLE, key, &value, NULL, &status) != 0) {
        cfitsio.clear_errmsg();
        return 0;
    }
    return value;
}

static bool choose_type(FitsIn *in, ImageInfo *info, Err *err)
{
    int stored = 0, means = 0, status = 0;
    long long blank;
    cfitsio.get_img_type(in->file, &stored, &status);
    cfitsio.get_img_equivtype(in->file, &means, &status);
    if (status != 0) {
        return fits_failure(status, "it is damaged", err);
    }
    TRY(check_method(in, stored, err));
    if (stored < 0 && cfitsio.is_compressed_image(in->file, &status) && lacks_scale(in)) {
        return err_set(
            err, CODE_FILES,
            "its floats are compressed as whole numbers without a scale, so nobody knows what they were; compress "
            "it with fpack, or with quantize_level=16 in astropy");
    }
    bool has_blank = stored > 0 && cfitsio.read_key(in->file, TLONGLONG, "BLANK", &blank, NULL, &status) == 0;
    cfitsio.clear_errmsg();
    status = 0;
    if (stored > 0 && (has_blank || means < 0)) { /* wide enough for all digits of what is stored */
        means = stored > SHORT_IMG ? DOUBLE_IMG : FLOAT_IMG;
    }
    if (stored == LONGLONG_IMG && means > 0 && header_number(in, "BZERO") == 0x1p63) {
        means = ULONGLONG_IMG; /* cfitsio says so of fewer bits only */
    }
    /* Asking for nulls makes cfitsio turn infinities into NaN, so it is asked only where there
     * can be some that are not NaN already. */
    in->find_nulls = means < 0 && (stored > 0 || cfitsio.is_compressed_image(in->file, &status));
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (TYPES[i].image == means) {
            in->type = TYPES[i].type;
            info->elem = TYPES[i].elem;
            return true;
        }
    }
    return err_set(err, CODE_FILES, "its pixels are of a type that pipec does not read; store integers or floats");
}

/* Compares what the header promises with what the file can hold. */
static bool check_size(FitsIn *in, int fd, const ImageInfo *info, Err *err)
{
    struct stat st;
    int status = 0, part = 1;
    double pixels = (double)info->x * (double)info->y * (double)info->z * (double)info->c * (double)info->t;
    cfitsio.get_hdu_num(in->file, &part);
    uint64_t end = in->scan.end[part - 1];
    if (fstat(fd, &st) != 0) {
        return err_set(err, CODE_FILES, "reading failed");
    }
    if (in->zipped || cfitsio.is_compressed_image(in->file, &status)) {
        double size = (double)st.st_size;
        if (pixels * (double)elem_size(info->elem) > size * COMPRESSED_MAX) {
            return err_set(err, CODE_FILES, "it claims %.0f pixels, and has %.0f bytes", pixels, size);
        }
    }
    if (end == UINT64_MAX) {
        return err_set(err, CODE_FILES, "it is cut off or damaged: its header claims more pixels than a file can have");
    }
    return end <= in->size ||
           err_set(err, CODE_FILES, "it is cut off: its image should end at byte %llu, the file at %llu%s",
                   (unsigned long long)end, (unsigned long long)in->size, in->zipped ? " (unpacked)" : "");
}

static void close_fits(void *state)
{
    FitsIn *in = state;
    int status = 0;
    if (in == NULL) {
        return;
    }
    if (in->file != NULL) {
        cfitsio.close_file(in->file, &status);
    }
    cfitsio.clear_errmsg();
    fits_scan_free(&in->scan);
    fits_tiles_free(&in->tiles);
    free(in->memory);
    free(in->header);
    free(in);
}

/* The length of a step along FITS axis k (from 1), in the unit of its coordinates. */
static double step_along(FitsIn *in, int k)
{
    char key[FLEN_KEYWORD];
    double sum = 0;
    for (int i = 1; i <= in->axes && i <= 9; i++) {
        snprintf(key, sizeof key, "CD%d_%d", i, k);
        double part = header_number(in, key);
        sum += part * part;
    }
    snprintf(key, sizeof key, "CDELT%d", k);
    return sum > 0 ? sqrt(sum) : fabs(header_number(in, key));
}

/* The unit of FITS axis k; "" when it has none. */
static void read_unit(FitsIn *in, int k, char unit[FLEN_VALUE])
{
    char key[FLEN_KEYWORD];
    int status = 0;
    snprintf(key, sizeof key, "CUNIT%d", k);
    if (cfitsio.read_key(in->file, TSTRING, key, unit, NULL, &status) != 0) {
        cfitsio.clear_errmsg();
        unit[0] = '\0';
    }
}

/* Pixels have a size where coordinates are lengths; those of the sky are angles.  So frames have an interval where those
 * of time are seconds or what is made of them. */
static void read_sizes(FitsIn *in, ImageInfo *info)
{
    const int axis_of[3] = {1, 2, in->axis_of[2]};
    char unit[FLEN_VALUE];
    double first = 0;
    for (int k = 0; k < 3; k++) {
        read_unit(in, axis_of[k], unit);
        double um = axis_of[k] > 0 ? meta_unit_um(unit) : 0, size = um > 0 ? step_along(in, axis_of[k]) : 0;
        if (!(size > 0) || !isfinite(size * um)) {
            continue;
        }
        if (first == 0) {
            first = um;
            snprintf(info->unit, sizeof info->unit, "%.31s", unit);
        }
        info->size[k] = um == first ? size : size * um / first;
        info->size_um[k] = size * um;
    }
    if (in->axis_of[0] > 0) {
        read_unit(in, in->axis_of[0], unit);
        double interval = meta_unit_seconds(unit) * step_along(in, in->axis_of[0]);
        info->interval = isfinite(interval) ? interval : 0;
    }
}

/* True when a header has a card of this keyword, of any length. */
static bool has_card(const char *header, const char *card)
{
    const char *value = memcmp(card, "HIERARCH", 8) == 0 ? memchr(card, '=', FITS_CARD) : NULL;
    size_t n = value != NULL ? (size_t)(value - card) + 1 : 8;
    for (; fits_is_card(header); header += FITS_CARD) {
        if (memcmp(header, card, n) == 0) {
            return true;
        }
    }
    return false;
}

/* `own` with those cards of `first` in front of its end that it does not have.  Remarks are no
 * statements about the image, and coordinates go together. */
static bool join_headers(const char *own, const char *first, char **out, Err *err)
{
    size_t size = strlen(own);
    assert(size >= FITS_CARD); /* of the end */
    char *to = *out = malloc(size + strlen(first) + 1);
    if (to == NULL) {
        return err_set(err, CODE_FILES, "out of memory");
    }
    size -= FITS_CARD;
    memcpy(to, own, size);
    for (bool keep = false; fits_is_card(first); first += FITS_CARD) {
        char key[9];
        fits_key(first, key);
        if (strcmp(key, "CONTINUE") != 0) { /* those follow the card that they continue */
            keep = *key != '\0' && strcmp(key, "COMMENT") != 0 && strcmp(key, "HISTORY") != 0 &&
                   !fits_is_of_axis(first) && !has_card(own, first);
        }
        memcpy(to + size, first, FITS_CARD);
        size += keep ? FITS_CARD : 0;
    }
    strcpy(to + size, own + strlen(own) - FITS_CARD);
    return true;
}

/* A first part without pixels speaks of all parts, but of those that do not want it. */
static bool inherits(FitsIn *in, int part)
{
    int wanted = 1, axes = -1, status = 0, absent = 0;
    if (cfitsio.read_key(in->file, TLOGICAL, "INHERIT", &wanted, NULL, &absent) != 0) {
        cfitsio.clear_errmsg();
    }
    if (go_to(in, 1)) {
        cfitsio.get_img_dim(in->file, &axes, &status);
    }
    return part > 1 && wanted != 0 && axes == 0;
}

static bool read_header(FitsIn *in, Err *err)
{
    int part = 1, cards = 0, status = 0;
    char *own = NULL, *first = NULL;
    cfitsio.convert_hdr2str(in->file, 0, NULL, 0, &own, &cards, &status);
    cfitsio.get_hdu_num(in->file, &part);
    if (status == 0 && inherits(in, part)) {
        cfitsio.convert_hdr2str(in->file, 0, NULL, 0, &first, &cards, &status);
    }
    status = status != 0 || go_to(in, part) ? status : in->stuck;
    bool ok = status == 0 ? join_headers(own, first != NULL ? first : "", &in->header, err)
                          : fits_failure(status, "its header is damaged", err);
    status = 0;
    cfitsio.free_memory(own, &status);
    cfitsio.free_memory(first, &status);
    return ok;
}

/* Looks at the file first, and gives it to cfitsio in memory where it could not read it. */
static bool open_scanned(FitsIn *in, const char *path, int fd, Err *err)
{
    struct stat st;
    unsigned char head[2];
    size_t got;
    uint64_t room;
    int status = 0;
    if (fstat(fd, &st) != 0 || !image_pread(fd, head, sizeof head, 0, &got)) {
        return err_set(err, CODE_FILES, "reading failed");
    }
    in->zipped = head[0] == 0x1F;
    in->size = (uint64_t)st.st_size;
    FitsBytes bytes = {.fd = fd, .size = in->size};
    TRY(in->zipped || fits_scan(&bytes, &in->scan, err));
    if (!in->zipped && !fits_scan_is_short(&in->scan, in->size)) {
        cfitsio.open_diskfile(&in->file, path, READONLY, &status);
    } else {
        TRY(fits_load(fd, &in->memory, &in->size, &room, err));
        bytes = (FitsBytes){.fd = -1, .at = in->memory, .size = in->size};
        fits_scan_free(&in->scan);
        TRY(fits_scan(&bytes, &in->scan, err));
        in->room = (size_t)room;
        cfitsio.open_memfile(&in->file, "image", READONLY, (void **)&in->memory, &in->room, 0, NULL, &status);
    }
    if (status != 0) {
        in->file = NULL;
        return fits_failure(status, "it is damaged", err);
    }
    return true;
}

static bool check_tiles(FitsIn *in, int fd, Err *err)
{
    int status = 0;
    FitsBytes bytes = {.fd = in->memory != NULL ? -1 : fd, .at = in->memory, .size = in->size};
    return !cfitsio.is_compressed_image(in->file, &status) || fits_check_tiles(in->file, &bytes, &in->tiles, err);
}

static bool open_fits(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    LONGLONG extents[AXES_MAX] = {0};
    FitsIn *in = NULL;
    bool ok = cfitsio_load(err);
    ok = ok && ((in = calloc(1, sizeof *in)) != NULL || err_set(err, CODE_FILES, "out of memory"));
    ok = ok && open_scanned(in, path->file, fd, err) && find_image(in, path->part, extents, err) &&
         read_header(in, err) && choose_axes(in, extents, info, err) && choose_type(in, info, err) &&
         check_size(in, fd, info, err) && check_tiles(in, fd, err);
    close(fd);
    if (!ok) {
        close_fits(in);
        return false;
    }
    read_sizes(in, info);
    info->remarks[REMARK_PARTS] = *path->part == '\0' ? in->scan.images - 1 : 0;
    info->extra = in->header;
    strcpy(info->style, "fits");
    *state = in;
    return true;
}

/* So many pixels of consecutive rows, or of one row. */
static bool read_pixels(FitsIn *in, const ImageInfo *info, LONGLONG *first, int64_t pixels, bool nulls, void *to,
                        Err *err)
{
    int status = 0, any = 0;
    float nan32 = NAN;
    double nan64 = (double)NAN;
    void *null = in->type == TFLOAT ? (void *)&nan32 : (void *)&nan64;
    null = nulls ? null : NULL;
    if (in->tiles.axes > 3) { /* cfitsio reads pixels in a row of up to three packed axes, and boxes of more */
        long from[AXES_MAX], last[AXES_MAX], step[AXES_MAX];
        for (int k = 0; k < AXES_MAX; k++) {
            from[k] = last[k] = (long)first[k];
            step[k] = 1;
        }
        last[0] += pixels < info->x ? pixels - 1 : info->x - 1;
        last[1] += pixels < info->x ? 0 : pixels / info->x - 1;
        cfitsio.read_subset(in->file, in->type, from, last, step, null, to, &any, &status);
    } else {
        cfitsio.read_pixll(in->file, in->type, first, pixels, null, to, &any, &status);
    }
    if (status == NUM_OVERFLOW) { /* of 64 bits */
        cfitsio.clear_errmsg();
        return err_set(err, CODE_FILES, "it has numbers that %s cannot hold", elem_name(info->elem));
    }
    return status == 0 || fits_failure(status, "its pixels are damaged or cut off", err);
}

/* A row, tile by tile. */
static bool read_tiles(FitsIn *in, const ImageInfo *info, LONGLONG *first, char *to, Err *err)
{
    int64_t run;
    for (int64_t x = 0; x < info->x; x += run) {
        bool exact;
        first[0] = x + 1;
        run = fits_tile_run(&in->tiles, first, &exact);
        TRY(read_pixels(in, info, first, run, !exact, to + (size_t)x * elem_size(info->elem), err));
    }
    return true;
}

static bool read_fits(void *state, const ImageInfo *info, const ImageRows *at, void *to, size_t pitch, Err *err)
{
    FitsIn *in = state;
    LONGLONG first[AXES_MAX];
    int64_t place[3] = {at->t, at->c, at->z};
    bool tiled = in->find_nulls && in->tiles.exact != NULL;
    bool whole = !tiled && pitch == (size_t)info->x * elem_size(info->elem);
    for (int k = 0; k < AXES_MAX; k++) {
        first[k] = 1;
    }
    for (int axis = 0; axis < 3; axis++) {
        if (in->axis_of[axis] > 0) {
            first[in->axis_of[axis] - 1] = place[axis] + 1;
        }
    }
    for (int64_t i = 0; i < at->rows; i += whole ? at->rows : 1) {
        char *row = (char *)to + (size_t)i * pitch;
        first[1] = at->row + i + 1;
        TRY(tiled ? read_tiles(in, info, first, row, err)
                  : read_pixels(in, info, first, info->x * (whole ? at->rows : 1), in->find_nulls, row, err));
    }
    return true;
}

const ImageFormat image_fits = {
    .name = "fits",
    .has_parts = true,
    .matches = is_fits,
    .open = open_fits,
    .read = read_fits,
    .close = close_fits,
    .create = fits_out_create,
    .write = fits_out_write,
    .finish = fits_out_finish,
    .discard = fits_out_discard,
};
