/*
 * image: the formats behind one interface, chosen by the first bytes of a file when reading and
 * by name when writing.  What is the same for all formats is done here: bounds, names in messages,
 * temporary files, and the check that every row of an output was written.
 */
#include "image.h"

#include "../../base/file.h"
#include "file_state.h"
#include "image_external.h"
#include "image_fits_sky.h"
#include "image_format.h"
#include "image_zarr.h"
#include "../host/stopwatch.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const ImageFormat *const FORMATS[] = {&image_tiff, &image_png,  &image_fits,    &image_jpeg,
                                             &image_jp2,  &image_zarr, &image_geojson, &image_roi};

enum { N_FORMATS = sizeof FORMATS / sizeof *FORMATS, HEAD_BYTES = 1024, PATH_BYTES = IMAGE_PATH_BYTES };

#define CONVERT "convert it to OME-TIFF with Bio-Formats (bfconvert) or bioio"

/* What people try to open instead; the hint saves them a search. */
static const struct Stranger {
    const char *head, *text;
    size_t n;
} STRANGERS[] = {
    {"GIF8", "a GIF image; convert it to TIFF or PNG", 4},
    {"BM", "a BMP image; convert it to TIFF or PNG", 2},
    {"ZISRAWFILE", "a Zeiss CZI file; " CONVERT, 10},
    {"\x89HDF", "an HDF5 file; convert it to TIFF", 4},
    {"\xDA\xCE\xBE\x0A", "a Nikon ND2 file; " CONVERT, 4},
    {"\x93NUMPY", "a numpy array; convert it to TIFF (tifffile.imwrite)", 6},
    {"P5", "a PGM image; convert it to TIFF or PNG", 2},
    {"P6", "a PPM image; convert it to TIFF or PNG", 2},
    {"\x70\0\0\0", "a Leica LIF file; " CONVERT, 4},
    {"{\"type\":\"FeatureCollection\"", "GeoJSON, which has outlines and no pixels", 27},
    {"PK\3\4", "a zip archive; unpack it first", 4},
};

struct ImageFile {
    const ImageFormat *format;
    ImageInfo info;
    void *state;
    Seen *seen; /* of the file's bytes; NULL: nobody wants that, or can do it */
    char path[PATH_BYTES];
};

struct ImageWriter {
    const ImageFormat *format;
    ImageInfo shape;
    void *state;
    int fd;
    bool part;     /* of another writer's file or folder */
    int64_t *done; /* rows written so far of each plane, [t][c][z] */
    char path[PATH_BYTES], temp[PATH_BYTES];
};

/* ---- reading --------------------------------------------------------------------------- */

static bool refuse_stranger(const unsigned char *head, size_t n, Err *err)
{
    if (n == 0) {
        return err_set(err, CODE_FILES, "the file is empty");
    }
    for (size_t i = 0; i < sizeof STRANGERS / sizeof *STRANGERS; i++) {
        if (n >= STRANGERS[i].n && memcmp(head, STRANGERS[i].head, STRANGERS[i].n) == 0) {
            return err_set(err, CODE_FILES, "it is %s", STRANGERS[i].text);
        }
    }
    return err_set(err, CODE_FILES, "it is neither a TIFF, a PNG, a JPEG nor a FITS image");
}

static bool open_as(ImageFile *file, const ImageFormat *format, const ImagePath *path, int fd, Err *err)
{
    file->format = format;
    if (*path->part != '\0' && !format->has_parts) {
        close(fd);
        return err_set(
            err, CODE_FILES,
            "cannot read '%s': only FITS files and those of readers have parts, and TIFF files and OME-Zarr levels",
            file->path);
    }
    return format->open(path, fd, &file->info, &file->state, err) || err_prefix(err, "cannot read '%s'", file->path);
}

static bool open_by_content(ImageFile *file, const ImagePath *path, int fd, Err *err)
{
    unsigned char head[HEAD_BYTES];
    size_t n;
    if (!image_pread(fd, head, sizeof head, 0, &n) && errno != 0) {
        int error = errno;
        close(fd);
        return file_err_set(err, CODE_FILES, "read", file->path, error);
    }
    for (int i = 0; i < N_FORMATS; i++) {
        if (FORMATS[i]->open != NULL && FORMATS[i]->matches != NULL && FORMATS[i]->matches(head, n)) {
            return open_as(file, FORMATS[i], path, fd, err);
        }
    }
    if (n > 0 && image_external_may_read(path->file)) {
        return open_as(file, &image_external, path, fd, err);
    }
    close(fd);
    refuse_stranger(head, n, err);
    return err_prefix(err, "cannot read '%s'", file->path);
}

/* Sizes of pixels that nothing can have, and whose areas no number holds, are a damaged text. */
static bool is_length(double size)
{
    return size == 0 || (size > 1e-18 && size < 1e36);
}

static void keep_lengths(ImageInfo *info)
{
    for (int k = 0; k < 3; k++) {
        if (!is_length(info->size[k]) || !is_length(info->size_um[k])) {
            info->size[k] = info->size_um[k] = 0;
            info->remarks[REMARK_LENGTHS] = 1;
        }
    }
}

bool image_open(const char *path, ImageFile **out, Err *err)
{
    *out = NULL;
    ImagePath at;
    int fd = -1;
    if (image_path(path, &at)) {
        fd = open(at.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for its writer */
    }
    if (fd < 0) {
        return file_err_set(err, CODE_FILES, "read", path, errno);
    }
    struct stat st;
    if (fstat(fd, &st) != 0 || (!S_ISREG(st.st_mode) && !at.folder)) {
        close(fd);
        return err_set(err, CODE_FILES, "cannot read '%s': it is not a regular file", path);
    }
    ImageFile *file = calloc(1, sizeof *file);
    if (file == NULL || strlen(path) >= sizeof file->path) {
        free(file);
        close(fd);
        return err_set(err, CODE_FILES, "cannot read '%s': %s", path,
                       file == NULL ? "out of memory" : "the name is too long");
    }
    strcpy(file->path, path);
    const ImageFormat *known = image_external_claims(at.file) ? &image_external
                               : !at.folder                   ? NULL
                               : image_zarr_is(at.file)       ? &image_zarr
                                                              : &image_folder;
    if (!(known != NULL ? open_as(file, known, &at, fd, err) : open_by_content(file, &at, fd, err))) {
        free(file);
        return false;
    }
    keep_lengths(&file->info);
    *out = file;
    return true;
}

void image_close(ImageFile *file)
{
    if (file != NULL) {
        file->format->close(file->state);
        seen_free(file->seen);
        free(file);
    }
}

const ImageInfo *image_info(const ImageFile *file)
{
    return &file->info;
}

static void exchange_axes(ImageInfo *info)
{
    int64_t t = info->t;
    bool has_t = info->has_t;
    info->t = info->z;
    info->has_t = info->has_z;
    info->z = t;
    info->has_z = has_t;
}

static void exchange_place(ImageRows *at)
{
    int64_t t = at->t;
    at->t = at->z;
    at->z = t;
}

void image_time_as_z(ImageFile *file)
{
    exchange_axes(&file->info);
    file->info.time_as_z = true;
    file->info.size[2] = file->info.size_um[2] = 0; /* time is no length */
}

void image_numbers(ImageFile *file)
{
    ImageInfo *info = &file->info;
    info->elem = file->format->numbers(file->state);
    info->c /= 3;
    info->has_c = info->c > 1;
    info->rgb = info->palette = false;
    info->remarks[REMARK_NUMBERS] = 1;
}

bool image_goes_upwards(const ImageInfo *info)
{
    return strcmp(info->style, "fits") == 0;
}

void image_sky(const ImageInfo *info, Sky *sky)
{
    if (strcmp(info->style, "fits") == 0 && info->extra != NULL) {
        fits_sky(info->extra, sky);
    } else {
        *sky = (Sky){.projection = SKY_NONE, .why = "the file is not FITS"};
    }
}

void image_pixel_size(ImageFile *file, const double um[3])
{
    ImageInfo *info = &file->info;
    for (int axis = 0; axis < 3; axis++) {
        info->size_um[axis] = um[axis] > 0 ? um[axis] : info->size_um[axis];
    }
    if (um[0] > 0 || um[1] > 0 || um[2] > 0) {
        memcpy(info->size, info->size_um, sizeof info->size);
        strcpy(info->unit, "um");
    }
}

static bool inside(const ImageInfo *info, const ImageRows *at)
{
    return at->t >= 0 && at->t < info->t && at->c >= 0 && at->c < info->c && at->z >= 0 && at->z < info->z &&
           at->row >= 0 && at->rows >= 0 && at->rows <= info->y - at->row;
}

bool image_read(ImageFile *file, int64_t t, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch,
                Err *err)
{
    ImageRows at = {t, c, z, row, rows};
    assert(inside(&file->info, &at));
    assert(pitch >= (size_t)file->info.x * elem_size(file->info.elem));
    if (file->info.time_as_z) {
        exchange_place(&at);
    }
    return file->format->read(file->state, &file->info, &at, to, pitch, err) ||
           err_prefix(err, "cannot read '%s'", file->path);
}

bool image_shares(ImageFile *file)
{
    return file->format->shares != NULL && file->format->shares(file->state);
}

void image_use_crew(ImageFile *file, Crew *crew)
{
    if (file->format->use_crew != NULL) {
        file->format->use_crew(file->state, crew);
    }
}

void image_see(ImageFile *file)
{
    ImagePath at;
    struct stat st;
    bool may = file->format->see != NULL && file->seen == NULL && image_path(file->path, &at) &&
               stat(at.file, &st) == 0 && file_state_has_content((uint64_t)st.st_size);
    file->seen = may ? seen_new((uint64_t)st.st_size) : file->seen;
    if (file->seen != NULL) {
        file->format->see(file->state, file->seen);
    }
}

bool image_content(ImageFile *file, char content[DIGEST_TEXT])
{
    return file_state_content_of(file->path, file->seen, content);
}

/* ---- writing --------------------------------------------------------------------------- */

static const ImageFormat *format_called(const char *name)
{
    for (int i = 0; i < N_FORMATS; i++) {
        if (strcmp(FORMATS[i]->name, name) == 0) {
            return FORMATS[i];
        }
    }
    return NULL;
}

bool image_may_replace(const char *path, const char *format)
{
    const ImageFormat *f = format_called(format);
    return f->folder ? access(path, F_OK) != 0 || image_zarr_is(path) : file_may_replace(path, f->matches);
}

bool image_check_target(const char *path, const char *format, int code, Err *err)
{
    const ImageFormat *f = format_called(format);
    return (f != NULL && f->folder ? file_check_folder_target : file_check_target)(path, code, err);
}

const char *image_ending(const char *format)
{
    const ImageFormat *f = format_called(format);
    return f != NULL && f->ending != NULL ? f->ending : format;
}

/* The length of a step along one axis, given the sizes of the pixels that it crosses; 0: unknown. */
static double step_length(const ImagePlace *place, const double size[3], int by)
{
    double sum = 0, only = 0;
    int n = 0;
    for (int along = 0; along < 3; along++) {
        double step = fabs(place->of[along][by]);
        if (step != 0) {
            only = step * size[along];
            sum += only > 0 ? only * only : (double)NAN; /* of an axis without a size, or NaN */
            n++;
        }
    }
    double length = n == 1 ? only : sqrt(sum);
    return length > 0 && isfinite(length) ? length : 0;
}

/* Where the first pixel lies along one axis: known where this axis, and no other, runs along one of the input. */
static double first_pixel(const ImagePlace *place, const ImageInfo *like, int by)
{
    int along = -1;
    for (int axis = 0; axis < 3; axis++) {
        bool runs = place->of[axis][by] != 0;
        for (int other = 0; runs && other < 3; other++) {
            runs = other == by || place->of[axis][other] == 0;
        }
        along = runs ? axis : along;
    }
    double at = along >= 0 ? like->origin[along] + place->of[along][3] * like->size[along] : 0;
    return isfinite(at) ? at : 0;
}

/* The input as it would be with pixels like those of the new file.  A plane has the sizes of both its
 * axes or none, because readers take what is missing for 1; a line has one. */
static ImageInfo resized(const ImageInfo *like, const ImagePlace *place, int64_t rows)
{
    ImageInfo out = *like;
    for (int by = 0; by < 3 && place->moved; by++) {
        out.size[by] = step_length(place, like->size, by);
        out.size_um[by] = step_length(place, like->size_um, by);
        out.origin[by] = first_pixel(place, like, by);
    }
    if (place->moved && out.size[1] == 0 && rows == 1) {
        out.size[1] = out.size[0];
        out.size_um[1] = out.size_um[0];
    }
    if (place->moved && (out.size[0] == 0 || out.size[1] == 0)) {
        memset(out.size, 0, sizeof out.size);
        memset(out.size_um, 0, sizeof out.size_um);
        out.unit[0] = '\0';
    }
    return out;
}

/* A new temporary file or folder, or that of the whole. */
static bool open_output(ImageWriter *writer, const char *whole, Err *err)
{
    const bool folder = writer->format->folder;
    if (whole == NULL) {
        return (folder ? file_temp_folder : file_temp)(writer->path, writer->temp, sizeof writer->temp, &writer->fd,
                                                       err);
    }
    writer->part = true;
    writer->fd = open(whole, (folder ? O_RDONLY | O_DIRECTORY : O_RDWR) | O_CLOEXEC);
    return writer->fd >= 0 || file_err_set(err, CODE_OUTPUT, "write", writer->path, errno);
}

static bool create(const char *path, const char *format, const ImageInfo *shape, Elem elem, const ImageMeta *meta,
                   const char *whole, ImageWriter **out, Err *err)
{
    static const ImageMeta nothing;
    *out = NULL;
    meta = meta == NULL ? &nothing : meta;
    assert(shape->x > 0 && shape->y > 0 && shape->z > 0 && shape->c > 0 && shape->t > 0);
    assert(elem_size(elem) > 0);
    ImageWriter *writer = calloc(1, sizeof *writer);
    int64_t *done = calloc((size_t)(shape->z * shape->c * shape->t), sizeof *done);
    if (writer == NULL || done == NULL || strlen(path) >= sizeof writer->path) {
        bool memory = writer == NULL || done == NULL;
        err_set(err, memory ? CODE_MEMORY : CODE_FILES, "cannot write '%s': %s", path,
                memory ? "out of memory" : "the name is too long");
        free(done);
        free(writer);
        return false;
    }
    strcpy(writer->path, path);
    writer->done = done;
    writer->shape = *shape;
    writer->shape.extra = NULL;
    if (meta->like != NULL && meta->like->time_as_z) {
        exchange_axes(&writer->shape);
        writer->shape.time_as_z = true;
    }
    writer->format = format_called(format);
    assert(writer->format != NULL);
    if (!open_output(writer, whole, err)) {
        free(done);
        free(writer);
        return false;
    }
    ImageInfo like = {.t = 0};
    ImageMeta with = *meta;
    if (meta->like != NULL) {
        like = resized(meta->like, &meta->place, shape->y);
        with.like = &like;
    }
    if (!(whole == NULL ? writer->format->create : writer->format->create_part)(writer->path, writer->fd,
                                                                                &writer->shape, elem, &with,
                                                                                &writer->state, err)) {
        image_abort(writer);
        return false;
    }
    *out = writer;
    return true;
}

bool image_create(const char *path, const char *format, const ImageInfo *shape, Elem elem, const ImageMeta *meta,
                  ImageWriter **out, Err *err)
{
    return create(path, format, shape, elem, meta, NULL, out, err);
}

bool image_write(ImageWriter *writer, int64_t t, int64_t c, int64_t z, int64_t row, int64_t rows, const void *from,
                 size_t pitch, Err *err)
{
    ImageRows at = {t, c, z, row, rows};
    const ImageInfo *shape = &writer->shape;
    if (shape->time_as_z) {
        exchange_place(&at);
    }
    assert(inside(shape, &at));
    int64_t *done = &writer->done[(at.t * shape->c + c) * shape->z + at.z];
    assert(writer->part || *done == row);
    TRY(writer->format->write(writer->state, &at, from, pitch, err));
    *done += rows;
    return true;
}

bool image_write_all(ImageWriter *writer, const void *pixels, Err *err)
{
    const ImageInfo *shape = &writer->shape;
    if (writer->format->lend == NULL || !writer->format->lend(writer->state, pixels, err)) {
        return false;
    }
    for (int64_t i = 0; i < shape->t * shape->c * shape->z; i++) {
        writer->done[i] = shape->y;
    }
    return true;
}

static bool all_rows_written(const ImageWriter *writer)
{
    const ImageInfo *shape = &writer->shape;
    for (int64_t i = 0; i < shape->t * shape->c * shape->z; i++) {
        if (writer->done[i] != shape->y) {
            return false;
        }
    }
    return true;
}

bool image_commit(ImageWriter *writer, Err *err)
{
    assert(all_rows_written(writer));
    bool ok = writer->format->finish(writer->state, err);
    if (ok) {
        Phase before = stopwatch_begin(PHASE_WRITE);
        ok = (writer->format->folder ? file_commit_folder : file_commit)(writer->temp, writer->path, writer->fd, err);
        stopwatch_end(before);
    } else {
        file_discard(writer->temp, writer->fd);
    }
    ok = ok && (writer->format->published == NULL || writer->format->published(writer->state, err));
    writer->format->discard(writer->state);
    free(writer->done);
    free(writer);
    return ok;
}

void image_abort(ImageWriter *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->state != NULL) {
        writer->format->discard(writer->state);
    }
    if (writer->part) {
        (void)close(writer->fd);
    } else {
        file_discard(writer->temp, writer->fd);
    }
    free(writer->done);
    free(writer);
}

/* ---- parts ----------------------------------------------------------------------------- */

int64_t image_grain(const ImageWriter *writer)
{
    return writer->format->grain != NULL ? writer->format->grain(writer->state) : 0;
}

const char *image_temporary(const ImageWriter *writer)
{
    return writer->temp;
}

bool image_create_part(const char *path, const char *format, const ImageInfo *shape, Elem elem, const ImageMeta *meta,
                       const char *whole, ImageWriter **out, Err *err)
{
    return create(path, format, shape, elem, meta, whole, out, err);
}

static size_t done_bytes(const ImageWriter *writer)
{
    return (size_t)(writer->shape.t * writer->shape.c * writer->shape.z) * sizeof *writer->done;
}

/* How many rows of each plane, and what the format tells. */
bool image_end_part(ImageWriter *part, void **told, size_t *bytes, Err *err)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, bytes);
    bool ok = to != NULL;
    if (ok) {
        ok = fwrite(part->done, 1, done_bytes(part), to) == done_bytes(part) &&
             part->format->end_part(part->state, to, err);
        ok = fclose(to) == 0 && ok;
    }
    *told = text;
    if (!ok && err->code == CODE_OK) {
        err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", part->path);
    }
    return ok;
}

bool image_join(ImageWriter *whole, const void *told, size_t bytes, Err *err)
{
    const int64_t *done = told;
    for (size_t i = 0; i < done_bytes(whole) / sizeof *done; i++) {
        whole->done[i] += done[i];
    }
    return whole->format->join(whole->state, (const char *)told + done_bytes(whole), bytes - done_bytes(whole), err);
}
