/*
 * image_zarr: rows of a plane out of chunks of up to five axes.
 *
 * The axes of an array lie in any order, and so do the bytes of a chunk.  Both come down to how many pixels further on
 * in a chunk the next one along an axis is.  Where that is one for x, rows are copied.
 */
#include "image_zarr.h"

#include "image_meta.h"
#include "zarr_chunks.h"
#include "zarr_ome.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AXIS_T, AXIS_C, AXIS_Z, AXIS_Y, AXIS_X, AXES, NO_AXIS = -1 };
static const char LETTERS[AXES + 1] = "tczyx";

static const size_t KEEP_PLANES = (size_t)1 << 30; /* bytes of chunks of several planes that stay for the next plane */
static const size_t KEEP_ROWS = (size_t)32 << 20;  /* bytes of others, which stay for the next rows */
static const double LARGE = 0x1p28;     /* bytes above which an array has to show that it is no empty claim */
static const double SPARSE_MOST = 1e7;  /* bytes of pixels for one of files */
static const double MISSING_MOST = 1e6; /* files that are missing for one that is there */

typedef struct ZarrFile {
    ZarrArray array;
    ZarrLevel level;
    ZarrChunks *chunks;
    int axis[AXES];     /* the array's axis that is t, c, z, y, x; NO_AXIS: it has none */
    int64_t step[AXES]; /* pixels of a chunk from one to the next along it */
    char *channels;     /* names; NULL: they have none */
    char *colours;      /* likewise */
    Crew *crew;
} ZarrFile;

/* ---- rows ------------------------------------------------------------------------------ */

static int64_t chunk_along(const ZarrFile *file, int axis)
{
    return file->axis[axis] == NO_AXIS ? 1 : file->array.chunk[file->axis[axis]];
}

/* n pixels, `step` of them apart, to a row without gaps. */
static void gather(const unsigned char *from, int64_t step, size_t bytes, size_t n, unsigned char *to)
{
    if (step == 1) {
        memcpy(to, from, n * bytes);
        return;
    }
    for (size_t i = 0; i < n; i++, from += (size_t)step * bytes) {
        memcpy(to + i * bytes, from, bytes);
    }
}

static void repeat(const unsigned char fill[8], size_t bytes, size_t n, unsigned char *to)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(to + i * bytes, fill, bytes);
    }
}

/* Rows of bands that are there, on their way to where they are wanted. */
typedef struct Copying {
    const ZarrFile *file;
    void *const *chunk; /* [band][across] */
    int64_t across, width;
    int64_t start;     /* of the plane in each chunk, in pixels */
    int64_t row, rows; /* the first one, counted from the first band on */
    unsigned char *to;
    size_t pitch;
    int pieces;
} Copying;

static void copy_row(const Copying *c, int64_t row, unsigned char *to)
{
    const ZarrFile *file = c->file;
    size_t bytes = elem_size(file->array.type->elem);
    int64_t high = chunk_along(file, AXIS_Y), wide = chunk_along(file, AXIS_X);
    size_t skip = (size_t)(c->start + row % high * file->step[AXIS_Y]) * bytes;
    for (int64_t k = 0; k < c->across; k++, to += (size_t)wide * bytes) {
        const unsigned char *chunk = c->chunk[row / high * c->across + k];
        int64_t left = c->width - k * wide;
        size_t n = (size_t)(left < wide ? left : wide);
        if (chunk != NULL) {
            gather(chunk + skip, file->step[AXIS_X], bytes, n, to);
        } else {
            repeat(file->array.fill, bytes, n, to);
        }
    }
}

static void copy_piece(void *context, int piece)
{
    const Copying *c = context;
    for (int64_t y = c->rows * piece / c->pieces; y < c->rows * (piece + 1) / c->pieces; y++) {
        copy_row(c, c->row + y, c->to + (size_t)y * c->pitch);
    }
}

/* The chunks in which a plane begins, and where in them. */
static int64_t place_plane(const ZarrFile *file, const ImageRows *rows, int64_t at[ZARR_DIMS])
{
    const int64_t plane[] = {rows->t, rows->c, rows->z};
    int64_t start = 0;
    memset(at, 0, ZARR_DIMS * sizeof *at);
    for (int axis = AXIS_T; axis <= AXIS_Z; axis++) {
        if (file->axis[axis] != NO_AXIS) {
            int64_t chunk = chunk_along(file, axis);
            at[file->axis[axis]] = plane[axis] / chunk;
            start += plane[axis] % chunk * file->step[axis];
        }
    }
    return start;
}

static bool read_zarr(void *state, const ImageInfo *info, const ImageRows *rows, void *to, size_t pitch, Err *err)
{
    ZarrFile *file = state;
    int64_t at[ZARR_DIMS], high = chunk_along(file, AXIS_Y), end = rows->row + rows->rows;
    int by = file->axis[file->axis[AXIS_Y] != NO_AXIS ? AXIS_Y : AXIS_X];
    int64_t across = (info->x + chunk_along(file, AXIS_X) - 1) / chunk_along(file, AXIS_X);
    int most = zarr_chunks_most(file->chunks);
    Copying c = {.file = file, .across = across, .width = info->x, .pitch = pitch};
    void **chunk = malloc((size_t)most * (size_t)across * sizeof *chunk);
    bool ok = chunk != NULL || err_set(err, CODE_FILES, "out of memory");
    c.start = place_plane(file, rows, at);
    for (int64_t y = rows->row; ok && y < end; y += c.rows) {
        int64_t first = y / high, bands = (end - 1) / high - first + 1;
        int n = bands < most ? (int)bands : most;
        c.chunk = chunk;
        c.row = y - first * high;
        c.rows = (first + n) * high < end ? (first + n) * high - y : end - y;
        c.to = (unsigned char *)to + (size_t)(y - rows->row) * pitch;
        c.pieces = crew_pieces(file->crew, (size_t)c.rows * pitch);
        at[by] = file->axis[AXIS_Y] != NO_AXIS ? first : 0;
        ok = zarr_chunks_get(file->chunks, at, by, n, chunk, err);
        if (ok) {
            crew_run(file->crew, copy_piece, &c, c.pieces);
        }
    }
    free(chunk);
    return ok;
}

/* ---- axes ------------------------------------------------------------------------------ */

/* The letters of an array that OME's metadata say nothing of: its own names where all are letters, else the last ones
 * of t, c, z, y, x. */
static bool name_axes(const ZarrArray *array, char axes[ZARR_DIMS + 1])
{
    bool named = true;
    for (int i = 0; i < array->dims; i++) {
        const char *name = array->names[i];
        bool letter = strlen(name) == 1 && strchr(LETTERS, name[0]) != NULL;
        axes[i] = letter ? name[0] : '?';
        named = named && letter && memchr(axes, name[0], (size_t)i) == NULL;
    }
    axes[array->dims] = '\0';
    if (!named || strchr(axes, 'x') == NULL) {
        memcpy(axes, LETTERS + AXES - array->dims, (size_t)array->dims + 1);
    }
    return true;
}

/* Where the array's axes lie in its chunks. */
static void place_axes(ZarrFile *file)
{
    const ZarrArray *array = &file->array;
    int64_t step[ZARR_DIMS], next = 1;
    for (int i = array->dims - 1; i >= 0; i--) {
        step[array->order[i]] = next;
        next *= array->chunk[array->order[i]];
    }
    for (int axis = 0; axis < AXES; axis++) {
        const char *found = strchr(file->level.axes, LETTERS[axis]);
        file->axis[axis] = found != NULL ? (int)(found - file->level.axes) : NO_AXIS;
        file->step[axis] = found != NULL ? step[file->axis[axis]] : 0;
    }
}

static int64_t extent_along(const ZarrFile *file, int axis)
{
    return file->axis[axis] == NO_AXIS ? 1 : file->array.shape[file->axis[axis]];
}

/* Sizes are kept in one unit, that of x. */
static void fill_sizes(const ZarrFile *file, ImageInfo *info)
{
    const ZarrLevel *level = &file->level;
    const char *unit = level->unit[file->axis[AXIS_X]];
    double um = meta_unit_um(unit);
    snprintf(info->unit, sizeof info->unit, "%s", unit);
    for (int k = 0; k < 3; k++) {
        int axis = file->axis[AXIS_X - k];
        if (axis == NO_AXIS || !level->scaled) {
            continue;
        }
        double own = meta_unit_um(level->unit[axis]), size = fabs(level->scale[axis]);
        bool same = strcmp(level->unit[axis], unit) == 0;
        double factor = same ? 1 : um > 0 && own > 0 ? own / um : 0;
        info->size[k] = size * factor;
        info->size_um[k] = size * own;
        info->origin[k] = level->origin[axis] * factor;
    }
    if (unit[0] == '\0' && info->size[0] == 1 && info->size[1] == 1) { /* pixels of 1 say nothing */
        memset(info->size, 0, sizeof info->size);
    }
    int time = file->axis[AXIS_T];
    if (time != NO_AXIS && level->scaled) {
        info->interval = fabs(level->scale[time]) * meta_unit_seconds(level->unit[time]);
    }
}

static bool fill_info(ZarrFile *file, const ZarrOme *ome, ImageInfo *info, Err *err)
{
    int64_t *extent[AXES] = {&info->t, &info->c, &info->z, &info->y, &info->x};
    bool *has[AXES] = {&info->has_t, &info->has_c, &info->has_z, NULL, NULL}, picture;
    for (int axis = 0; axis < AXES; axis++) {
        *extent[axis] = extent_along(file, axis);
        if (has[axis] != NULL) {
            *has[axis] = file->axis[axis] != NO_AXIS;
        }
    }
    info->elem = file->array.type->elem;
    info->together.rows = chunk_along(file, AXIS_Y);
    info->together.planes = chunk_along(file, AXIS_Z);
    info->together.channels = chunk_along(file, AXIS_C);
    info->remarks[REMARK_IMAGES] = file->level.others;
    strcpy(info->style, "ome");
    fill_sizes(file, info);
    TRY(zarr_ome_channels(ome, info->c, &file->channels, &file->colours, &picture, err));
    info->rgb = picture && info->elem == ELEM_U8;
    info->colours = file->colours;
    info->channels = file->channels;
    info->remarks[REMARK_CHANNEL_NAMES] = file->channels != NULL;
    return true;
}

/* ---- opening --------------------------------------------------------------------------- */

/* What an array has, or claims: files, and bytes of them. */
typedef struct Amount {
    double files, bytes;
} Amount;

static bool is_enough(const Amount *found, const Amount *least)
{
    return found->files >= least->files && found->bytes >= least->bytes;
}

/* Counts in an open folder, which is closed, and in its folders, until there is enough. */
static void count_files(int folder, const Amount *least, int deep, Amount *found)
{
    DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
    if (dir == NULL) {
        close(folder);
        return;
    }
    for (struct dirent *entry; !is_enough(found, least) && (entry = readdir(dir)) != NULL;) {
        struct stat st;
        if (entry->d_name[0] == '.' || fstatat(folder, entry->d_name, &st, 0) != 0) {
            continue;
        }
        if (S_ISREG(st.st_mode)) {
            found->files++;
            found->bytes += (double)st.st_size;
        } else if (S_ISDIR(st.st_mode) && deep > 0) {
            count_files(openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), least, deep - 1, found);
        }
    }
    closedir(dir);
}

/* Chunks that are not there have no pixels but the fill value: what claims to be enormous must have some. */
static bool check_plausible(const ZarrFile *file, int folder, Err *err)
{
    const ZarrArray *array = &file->array;
    Amount claimed = {1, (double)elem_size(array->type->elem)}, found = {0, 0};
    for (int i = 0; i < array->dims; i++) {
        claimed.bytes *= (double)array->shape[i];
        claimed.files *= ceil((double)array->shape[i] / (double)array->file[i]);
    }
    const Amount least = {claimed.files / MISSING_MOST, claimed.bytes / SPARSE_MOST};
    if (claimed.files <= MISSING_MOST && claimed.bytes <= LARGE) {
        return true;
    }
    count_files(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &least, ZARR_DIMS, &found);
    return is_enough(&found, &least) ||
           err_set(
               err, CODE_FILES,
               "it claims %.3g MB of pixels in %.3g files, and those that are there cannot hold them: it is cut off or "
               "damaged",
               claimed.bytes / 1e6, claimed.files);
}

static bool check_extents(const ZarrFile *file, Err *err)
{
    int64_t planes = 1;
    for (int axis = AXIS_T; axis <= AXIS_Z; axis++) {
        int64_t n = extent_along(file, axis);
        if (planes > INT32_MAX / n) {
            return err_set(err, CODE_FILES, "it has more than %d planes", INT32_MAX);
        }
        planes *= n;
    }
    return true;
}

/* The array in an open folder, which is taken over. */
static bool open_array(ZarrFile *file, int folder, const ZarrOme *ome, ImageInfo *info, Err *err)
{
    bool found, ok = zarr_array_read(folder, &file->array, &found, err) &&
                     (found || err_set(err, CODE_FILES, "there is no array of zarr, where its metadata name one"));
    if (ok && file->level.axes[0] == '\0') {
        name_axes(&file->array, file->level.axes);
    }
    if (ok && (int)strlen(file->level.axes) != file->array.dims) {
        ok = err_set(err, CODE_FILES, "its metadata name %d axes, and its array has %d", (int)strlen(file->level.axes),
                     file->array.dims);
    }
    if (ok) {
        place_axes(file);
        ok = check_extents(file, err) && check_plausible(file, folder, err) && fill_info(file, ome, info, err);
    }
    if (!ok) {
        close(folder);
        return false;
    }
    bool deep = info->together.planes > 1 || info->together.channels > 1 || chunk_along(file, AXIS_T) > 1;
    return zarr_chunks_new(folder, &file->array, file->axis[AXIS_X], deep ? KEEP_PLANES : KEEP_ROWS, &file->chunks,
                           err);
}

/* What stands in brackets behind the name: "level=2". */
static bool read_part(const char *part, int64_t *level, Err *err)
{
    return image_path_level(part, level) ||
           err_set(err, CODE_FILES, "OME-Zarr has levels, as in [level=2], and no part [%s]", part);
}

static bool open_image(ZarrFile *file, int folder, const char *part, bool inside, ImageInfo *info, Err *err);

/* The first of several images in folders of numbers. */
static bool open_series(ZarrFile *file, int folder, const char *part, ImageInfo *info, Err *err)
{
    int64_t n = 0;
    char name[32] = "0";
    struct stat st;
    while (n < INT32_MAX && fstatat(folder, name, &st, 0) == 0) {
        snprintf(name, sizeof name, "%lld", (long long)++n);
    }
    int first = openat(folder, "0", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    TRY(first >= 0 || err_set(err, CODE_FILES, "its first image, in the folder 0, is missing"));
    bool ok = open_image(file, first, part, true, info, err);
    info->remarks[REMARK_IMAGES] += n - 1;
    return ok;
}

/* What holds no image itself, and where images are. */
static const char *const ELSEWHERE[] = {
    [ZARR_NONE] = "it is no folder of zarr",
    [ZARR_SERIES] = "its images are folders of images",
    [ZARR_PLATE] = "it is a plate; an image of it is named as in PLATE.zarr/A/1/0",
    [ZARR_WELL] = "it is a well of a plate; an image of it is named as in PLATE.zarr/A/1/0",
    [ZARR_LABELS] = "it has label images; one of them is named as in IMAGE.zarr/labels/NAME",
    [ZARR_GROUP] = "it is a folder of zarr without an image (its metadata has no multiscales)",
};

/* The image in an open folder, which is taken over; `inside`: one of several. */
static bool open_image(ZarrFile *file, int folder, const char *part, bool inside, ImageInfo *info, Err *err)
{
    ZarrOme ome;
    int64_t level;
    int array = -1;
    bool ok = zarr_ome_read(folder, &ome, err);
    if (ok && ome.kind == ZARR_IMAGE) {
        ok = read_part(part, &level, err) && zarr_ome_level(&ome, level, &file->level, err);
        array = ok ? openat(folder, file->level.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        ok = ok && (array >= 0 || err_set(err, CODE_FILES, "its level %lld ('%.200s') is missing", (long long)level,
                                          file->level.path));
        ok = ok && open_array(file, array, &ome, info, err);
    } else if (ok && ome.kind == ZARR_ARRAY) {
        array = dup(folder);
        ok = (part[0] == '\0' || err_set(err, CODE_FILES, "it is an array of zarr, which has no part [%s]", part)) &&
             open_array(file, array, &ome, info, err);
    } else if (ok) {
        ok = ome.kind == ZARR_SERIES && !inside ? open_series(file, folder, part, info, err)
                                                : err_set(err, CODE_FILES, "%s", ELSEWHERE[ome.kind]);
    }
    zarr_ome_free(&ome);
    close(folder);
    return ok;
}

static void close_zarr(void *state)
{
    ZarrFile *file = state;
    if (file != NULL) {
        zarr_chunks_free(file->chunks);
        free(file->channels);
        free(file->colours);
        free(file);
    }
}

static bool open_zarr(const ImagePath *path, int fd, ImageInfo *info, void **state, Err *err)
{
    ZarrFile *file = calloc(1, sizeof *file);
    if (file == NULL) {
        close(fd);
        return err_set(err, CODE_FILES, "out of memory");
    }
    if (!open_image(file, fd, path->part, false, info, err)) {
        err->code = CODE_FILES;
        close_zarr(file);
        return false;
    }
    *state = file;
    return true;
}

static void use_crew_zarr(void *state, Crew *crew)
{
    ZarrFile *file = state;
    file->crew = crew;
    zarr_chunks_use_crew(file->chunks, crew);
}

bool image_zarr_is(const char *folder)
{
    static const char *const NAMES[] = {"zarr.json", ".zattrs", ".zgroup", ".zarray"};
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    bool is = false;
    for (size_t i = 0; fd >= 0 && i < sizeof NAMES / sizeof *NAMES; i++) {
        is = is || fstatat(fd, NAMES[i], &st, 0) == 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return is;
}

const ImageFormat image_zarr = {
    .name = "zarr",
    .ending = "ome.zarr",
    .folder = true,
    .has_parts = true,
    .open = open_zarr,
    .read = read_zarr,
    .use_crew = use_crew_zarr,
    .close = close_zarr,
    .create = zarr_create,
    .write = zarr_write,
    .finish = zarr_finish,
    .published = zarr_publish,
    .discard = zarr_discard,
    .grain = zarr_grain,
    .create_part = zarr_create_part,
    .end_part = zarr_end_part,
    .join = zarr_join,
};
