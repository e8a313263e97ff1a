/*
 * image_zarr_write: OME-Zarr out.
 *
 * A *band* is the rows of one plane of one level that have the height of a chunk.  Rows come in any order of planes, and
 * wait in the band of their plane until it is full; then it is cut into chunks, which are packed and written by several
 * threads, and halved into a band of the next level.  Chunks of zeros are not written: readers take the fill value.
 *
 * A part (image_create_part) begins with a band, of which chunks are written where those of the whole are.  Where its first
 * band, or its last one, is but half of one of the next level, it tells the whole of that half, and the whole goes on.
 *
 * What waits is held in memory up to a bound, and in a file without a name beyond it: that happens to volumes that come as
 * rows of all planes.
 */
#include "image_zarr.h"

#include "../../base/file.h"
#include "../host/crew.h"
#include "zarr_describe.h"
#include "zarr_ome.h"
#include "zarr_plate_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HANDS = 8,        /* threads, at most */
    HANDS_MOST = 24,  /* of an image of HUGE bytes, which is alone */
    LARGE = 64 << 20, /* bytes of an image for which several are worth it: smaller ones are written several at a time */
    HUGE = 1 << 30,
    TEXT_BYTES = 256
};
static const size_t HELD_MOST = (size_t)1 << 30; /* bytes of bands in memory */

typedef struct Packed {
    unsigned char *at; /* owned */
    size_t n;          /* 0: all zeros */
} Packed;

typedef struct ZarrOut {
    const char *path;
    int fd;
    ZarrPlan plan;
    bool truth;   /* bytes 0 and 1 become 0 and 255 */
    size_t bytes; /* of a pixel */
    int64_t planes;
    char **band[LEVELS_MOST]; /* rows of a plane that wait; NULL: none */
    bool *mapped[LEVELS_MOST];
    int64_t *half[LEVELS_MOST]; /* by plane: which of its bands has its upper half; -1: none */
    bool part;                  /* another writer has the rest */
    struct Half *halves;        /* lower ones of which a part has not the upper */
    int n_halves;
    size_t held;                        /* bytes of those in memory */
    unsigned char *scratch[HANDS_MOST]; /* a chunk */
    int hands;
    Crew *crew; /* NULL: the caller does all */
} ZarrOut;

/* Half of a band of a level, from its row `first` on. */
typedef struct Half {
    int64_t level, plane, y, first, rows;
    char *at; /* owned */
} Half;

static bool no_memory(const ZarrOut *out, Err *err)
{
    return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", out->path);
}

static bool write_error(const ZarrOut *out, Err *err)
{
    return file_err_set(err, CODE_OUTPUT, "write", out->path, errno);
}

/* ---- files ----------------------------------------------------------------------------- */

/* A file in the image's folder. */
static bool put_file(const ZarrOut *out, const char *name, const void *data, size_t size, Err *err)
{
    int fd = openat(out->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && image_pwrite(fd, data, size, 0);
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && ok) { /* network file systems report a full disk as late as here */
        ok = false;
        error = errno;
    }
    errno = error;
    return ok || write_error(out, err);
}

static bool put_folder(const ZarrOut *out, const char *name, Err *err)
{
    return mkdirat(out->fd, name, 0777) == 0 || errno == EEXIST || write_error(out, err);
}

/* "0/c/2/5/0/7": the chunk of a plane at these places along y and x; makes the folders of it.  x is 0 for shards. */
static bool name_chunk(const ZarrOut *out, int level, int64_t plane, int64_t y, int64_t x, bool make,
                       char to[TEXT_BYTES], Err *err)
{
    const ImageInfo *s = &out->plan.shape;
    int n = snprintf(to, TEXT_BYTES, "%d%s", level, out->plan.version == 3 ? "/c" : "");
    for (const char *axis = out->plan.axes; *axis != '\0'; axis++) {
        int64_t at = *axis == 'x'   ? x
                     : *axis == 'y' ? y
                     : *axis == 'z' ? plane % s->z
                     : *axis == 'c' ? plane / s->z % s->c
                                    : plane / s->z / s->c;
        TRY(!make || put_folder(out, to, err));
        n += snprintf(to + n, TEXT_BYTES - (size_t)n, "/%lld", (long long)at);
    }
    return true;
}

/* ---- chunks ---------------------------------------------------------------------------- */

/* Some whole band on its way. */
typedef struct Band {
    ZarrOut *out;
    int level;
    int64_t plane, y; /* its place among those of the plane */
    int64_t rows;
    const char *from;
    size_t pitch;
    int pieces;
    Packed *packed; /* by chunk: of a shard; NULL: each chunk is a file */
    Err *err;       /* by piece */
} Band;

/* The pixels of a chunk, with zeros beyond the image's edge; false: there are only zeros. */
static bool cut_chunk(const Band *b, int64_t x, unsigned char *to)
{
    const ZarrPlan *plan = &b->out->plan;
    size_t bytes = b->out->bytes, high = (size_t)zarr_plan_chunk(plan, b->level, 'y');
    size_t wide = (size_t)zarr_plan_chunk(plan, b->level, 'x') * bytes,
           left = (size_t)plan->x[b->level] * bytes - (size_t)x * wide;
    size_t n = left < wide ? left : wide;
    unsigned char any = 0;
    memset(to, 0, high * wide);
    for (size_t y = 0; y < (size_t)b->rows; y++) {
        memcpy(to + y * wide, b->from + y * b->pitch + (size_t)x * wide, n);
    }
    for (size_t i = 0; i < high * wide && any == 0; i++) {
        any = to[i];
    }
    return any != 0;
}

/* Packs a chunk; NULL: out of memory, or blosc has failed. */
static unsigned char *pack(const ZarrOut *out, const unsigned char *from, size_t size, size_t *n)
{
    unsigned char *to = malloc(zarr_blosc_bound(size));
    *n = size;
    if (to != NULL && out->plan.plain) {
        memcpy(to, from, size);
    } else if (to != NULL) {
        *n = zarr_blosc_pack(out->plan.effort, out->bytes, from, size, to);
    }
    if (*n == 0) {
        free(to);
        return NULL;
    }
    return to;
}

static bool do_chunk(const Band *b, int64_t x, unsigned char *scratch, Err *err)
{
    const ZarrOut *out = b->out;
    size_t size =
        (size_t)(zarr_plan_chunk(&out->plan, b->level, 'y') * zarr_plan_chunk(&out->plan, b->level, 'x')) * out->bytes;
    if (!cut_chunk(b, x, scratch)) {
        return true;
    }
    Packed own = {.n = 0};
    own.at = pack(out, scratch, size, &own.n);
    if (own.at == NULL) {
        return no_memory(out, err);
    }
    if (b->packed != NULL) {
        b->packed[x] = own;
        return true;
    }
    char name[TEXT_BYTES];
    bool ok = name_chunk(out, b->level, b->plane, b->y, x, false, name, err) && put_file(out, name, own.at, own.n, err);
    free(own.at);
    return ok;
}

static void do_piece(void *context, int piece)
{
    const Band *b = context;
    int64_t across = zarr_plan_across(&b->out->plan, b->level);
    bool ok = true;
    for (int64_t x = piece; ok && x < across; x += b->pieces) {
        ok = do_chunk(b, x, b->out->scratch[piece], &b->err[piece]);
    }
}

static void put_word(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8) {
        to[i] = (unsigned char)value;
    }
}

/* All chunks of a band in one file, and the table of their places behind them. */
static bool put_shard(const Band *b, Err *err)
{
    const ZarrOut *out = b->out;
    size_t across = (size_t)zarr_plan_across(&out->plan, b->level), table = 16 * across, size = 0;
    char name[TEXT_BYTES];
    for (size_t x = 0; x < across; x++) {
        size += b->packed[x].n;
    }
    unsigned char *file = size > 0 ? malloc(size + table + 4) : NULL;
    if (file == NULL) {
        return size == 0 || no_memory(out, err);
    }
    size_t at = 0;
    for (size_t x = 0; x < across; x++) {
        const Packed *p = &b->packed[x];
        put_word(file + size + 16 * x, p->n > 0 ? at : UINT64_MAX, 8);
        put_word(file + size + 16 * x + 8, p->n > 0 ? p->n : UINT64_MAX, 8);
        if (p->n > 0) {
            memcpy(file + at, p->at, p->n);
            at += p->n;
        }
    }
    put_word(file + size + table, zarr_crc32c(file + size, table), 4);
    bool ok = name_chunk(out, b->level, b->plane, b->y, 0, true, name, err) &&
              put_file(out, name, file, size + table + 4, err);
    free(file);
    return ok;
}

static bool write_band(Band *b, Err *err)
{
    ZarrOut *out = b->out;
    int64_t across = zarr_plan_across(&out->plan, b->level);
    Err errors[HANDS_MOST] = {{0}};
    char name[TEXT_BYTES];
    bool shard = out->plan.shards && across > 1;
    TRY(shard || name_chunk(out, b->level, b->plane, b->y, 0, true, name, err));
    b->packed = shard ? calloc((size_t)across, sizeof *b->packed) : NULL;
    TRY(!shard || b->packed != NULL || no_memory(out, err));
    b->err = errors;
    b->pieces = across < out->hands ? (int)across : out->hands;
    crew_run(out->crew, do_piece, b, b->pieces);
    bool ok = true;
    for (int i = 0; ok && i < b->pieces; i++) {
        ok = errors[i].code == CODE_OK;
        *err = ok ? *err : errors[i];
    }
    ok = ok && (!shard || put_shard(b, err));
    for (int64_t x = 0; shard && x < across; x++) {
        free(b->packed[x].at);
    }
    free(b->packed);
    return ok;
}

/* ---- bands that wait ------------------------------------------------------------------- */

static int64_t band_rows(const ZarrOut *out, int level, int64_t y)
{
    int64_t left = out->plan.y[level] - y * out->plan.block;
    return left < out->plan.block ? left : out->plan.block;
}

static size_t band_bytes(const ZarrOut *out, int level)
{
    return (size_t)zarr_plan_chunk(&out->plan, level, 'y') * (size_t)out->plan.x[level] * out->bytes;
}

/* Memory in a file without a name, whose room on the disk is reserved; NULL with errno set. */
static char *map_band(const ZarrOut *out, size_t size)
{
    static const char NAME[] = ".rows";
    int fd = openat(out->fd, NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return NULL;
    }
    (void)unlinkat(out->fd, NAME, 0);
    errno = posix_fallocate(fd, 0, (off_t)size);
    void *at = errno == 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    int error = errno;
    close(fd);
    errno = error;
    return at != MAP_FAILED ? at : NULL;
}

static bool need_band(ZarrOut *out, int level, int64_t plane, Err *err)
{
    size_t size = band_bytes(out, level);
    if (out->band[level][plane] != NULL) {
        return true;
    }
    bool map = out->held + size > HELD_MOST && out->held > 0;
    out->mapped[level][plane] = map;
    out->band[level][plane] = map ? map_band(out, size) : malloc(size);
    out->held += map ? 0 : size;
    return out->band[level][plane] != NULL || (map ? write_error(out, err) : no_memory(out, err));
}

static void drop_band(ZarrOut *out, int level, int64_t plane)
{
    size_t size = band_bytes(out, level);
    if (out->band[level][plane] != NULL && out->mapped[level][plane]) {
        (void)munmap(out->band[level][plane], size);
    } else if (out->band[level][plane] != NULL) {
        free(out->band[level][plane]);
        out->held -= size;
    }
    out->band[level][plane] = NULL;
}

/* ---- levels ---------------------------------------------------------------------------- */

typedef struct Halving {
    const Band *band;
    char *to;
    int64_t rows; /* of the result */
    int pieces;
} Halving;

static void halve_piece(void *context, int piece)
{
    const Halving *h = context;
    const Band *b = h->band;
    const ZarrPlan *plan = &b->out->plan;
    size_t n = (size_t)plan->x[b->level], line = (size_t)plan->x[b->level + 1] * b->out->bytes;
    for (int64_t y = h->rows * piece / h->pieces; y < h->rows * (piece + 1) / h->pieces; y++) {
        const char *above = b->from + (size_t)(2 * y) * b->pitch,
                   *below = 2 * y + 1 < b->rows ? above + b->pitch : above;
        if (plan->nearest) {
            levels_nearest(plan->elem, above, n, h->to + (size_t)y * line);
        } else {
            levels_mean(plan->elem, above, below, n, h->to + (size_t)y * line);
        }
    }
}

static void look_at_range(const Band *b)
{
    ZarrPlan *plan = &b->out->plan;
    int64_t c = b->plane / plan->shape.z % plan->shape.c;
    for (int64_t y = 0; y < b->rows; y++) {
        levels_range(plan->elem, b->from + (size_t)y * b->pitch, (size_t)plan->x[b->level], &plan->low[c],
                     &plan->high[c]);
    }
}

/* The memory of a band goes to the list of halves. */
static bool keep_half(ZarrOut *out, Half half, Err *err)
{
    Half *more = realloc(out->halves, ((size_t)out->n_halves + 1) * sizeof *more);
    TRY(more != NULL || no_memory(out, err));
    size_t line = (size_t)out->plan.x[half.level] * out->bytes, bytes = (size_t)half.rows * line;
    out->halves = more;
    half.at = malloc(bytes + 1);
    TRY(half.at != NULL || no_memory(out, err));
    memcpy(half.at, out->band[half.level][half.plane] + (size_t)half.first * line, bytes);
    more[out->n_halves++] = half;
    drop_band(out, (int)half.level, half.plane);
    return true;
}

/* A band is complete: it is written, and so are those of coarser levels that it completes. */
static bool end_band(Band b, Err *err)
{
    ZarrOut *out = b.out;
    for (;; b.level++) {
        int next = b.level + 1;
        TRY(write_band(&b, err));
        if (next == out->plan.levels) {
            look_at_range(&b);
            drop_band(out, b.level, b.plane);
            return true;
        }
        TRY(need_band(out, next, b.plane, err));
        size_t line = (size_t)out->plan.x[next] * out->bytes;
        int64_t first = b.y % 2 * (out->plan.block / 2);
        Halving h = {.band = &b, .rows = (b.rows + 1) / 2, .to = out->band[next][b.plane] + (size_t)first * line};
        h.pieces = crew_pieces(out->crew, (size_t)h.rows * line);
        crew_run(out->crew, halve_piece, &h, h.pieces);
        drop_band(out, b.level, b.plane);
        b.y /= 2;
        b.rows = band_rows(out, next, b.y);
        if (first > 0 && out->half[next][b.plane] != b.y) {
            return keep_half(out, (Half){next, b.plane, b.y, first, h.rows, NULL}, err);
        }
        out->half[next][b.plane] = first == 0 ? b.y : -1;
        if (first + h.rows < b.rows) {
            return true;
        }
        b.from = out->band[next][b.plane];
        b.pitch = line;
    }
}

static void copy_rows(const ZarrOut *out, char *to, const char *from, size_t pitch, int64_t rows)
{
    size_t line = (size_t)out->plan.x[0] * out->bytes;
    crew_copy(out->crew, to, line, from, pitch, line, (size_t)rows);
    for (size_t i = 0; out->truth && i < line * (size_t)rows; i++) {
        to[i] = to[i] != 0 ? (char)255 : 0;
    }
}

bool zarr_write(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err)
{
    ZarrOut *out = state;
    const ImageInfo *s = &out->plan.shape;
    int64_t plane = (at->t * s->c + at->c) * s->z + at->z, n;
    size_t line = (size_t)s->x * out->bytes;
    for (int64_t row = at->row; row < at->row + at->rows; row += n) {
        int64_t y = row / out->plan.block, first = row % out->plan.block, rows = band_rows(out, 0, y);
        const char *rest = (const char *)from + (size_t)(row - at->row) * pitch;
        Band band = {.out = out, .plane = plane, .y = y, .rows = rows, .from = rest, .pitch = pitch};
        n = at->row + at->rows - row < rows - first ? at->row + at->rows - row : rows - first;
        if (n < rows || out->truth) {
            TRY(need_band(out, 0, plane, err));
            copy_rows(out, out->band[0][plane] + (size_t)first * line, rest, pitch, n);
            band.from = out->band[0][plane];
            band.pitch = line;
        }
        TRY(first + n < rows || end_band(band, err));
    }
    return true;
}

/* ---- the image that labels are of ---------------------------------------------------------- */

/* Of ".../image.zarr/labels/nuclei", or a field of a plate in its place, the length of the image's folder; 0: the path is no
 * such name. */
static size_t image_length(const char *path)
{
    static const char LABELS[] = "/labels/", ENDING[] = ".zarr/";
    const char *slash = strrchr(path, '/'), *zarr = strstr(path, ENDING);
    size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0, m = sizeof LABELS - 1;
    bool inside = n > m && memcmp(path + n - m, LABELS, m) == 0 && zarr != NULL && zarr < slash - 1;
    return inside ? n - m : 0;
}

/* The version of that image; false where there is none. */
static bool find_image(const char *path, size_t n, int *version, Err *err)
{
    ZarrOme ome;
    char *folder = strndup(path, n);
    int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool ok = fd >= 0 && zarr_ome_read(fd, &ome, err);
    if (ok) {
        *version = ome.version;
        ok = ome.kind == ZARR_IMAGE;
        zarr_ome_free(&ome);
    }
    if (fd >= 0) {
        close(fd);
    }
    free(folder);
    return ok || err_set(err, CODE_OUTPUT, "cannot write '%s': '%.*s' is no image of OME-Zarr that could have labels",
                         path, (int)n, path);
}

/* Writes a text of metadata into a folder that is there for good. */
static bool put_text(const char *folder, size_t n, const char *name, const char *text, size_t size, Err *err)
{
    size_t room = n + strlen(name) + 16;
    char *path = malloc(room);
    TRY(path != NULL || err_set(err, CODE_MEMORY, "out of memory"));
    snprintf(path, room, "%.*s/labels/%s", (int)n, folder, name);
    bool ok = file_write(path, text, size, err);
    free(path);
    return ok;
}

/* Lists label images that are there and the new one. */
static bool put_list(const ZarrOut *out, size_t n, const cJSON *list, const char *name, Err *err)
{
    int had = cJSON_GetArraySize(list), count = 0;
    const char **names = calloc((size_t)had + 1, sizeof *names);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    bool ok = (names != NULL && to != NULL) || no_memory(out, err);
    for (int i = 0; ok && i < had; i++) {
        const char *old = cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
        if (old != NULL && strcmp(old, name) != 0) {
            names[count++] = old;
        }
    }
    if (ok) {
        names[count++] = name;
        zarr_put_labels(to, out->plan.version, names, count);
    }
    ok = (to == NULL || fclose(to) == 0) && ok;
    bool two = out->plan.version == 2;
    ok = ok && (!two || put_text(out->path, n, ".zgroup", ZARR_GROUP_TWO, strlen(ZARR_GROUP_TWO), err)) &&
         put_text(out->path, n, two ? ".zattrs" : "zarr.json", text, size, err);
    free(names);
    free(text);
    return ok;
}

/* The image has its name now: a plate, or the group of label images, lists it. */
bool zarr_publish(void *state, Err *err)
{
    const ZarrOut *out = state;
    size_t n = image_length(out->path), plate = zarr_plate_length(out->path);
    if (!out->plan.inside) {
        return plate == 0 || zarr_plate_add(out->path, plate, out->plan.version, err);
    }
    ZarrOme ome;
    char *folder = strndup(out->path, n + sizeof "/labels" - 1);
    int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool ok = fd >= 0 ? zarr_ome_read(fd, &ome, err) : no_memory(out, err);
    if (ok) {
        ok = put_list(out, n, zarr_json_array(ome.at, "labels"), strrchr(out->path, '/') + 1, err);
        zarr_ome_free(&ome);
    }
    if (fd >= 0) {
        close(fd);
    }
    free(folder);
    return ok;
}

/* ---- beginning and end ------------------------------------------------------------------- */

static bool put_array(const ZarrOut *out, int level, Err *err)
{
    char name[TEXT_BYTES], *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    TRY(to != NULL || no_memory(out, err));
    zarr_put_array(to, &out->plan, level);
    bool ok = fclose(to) == 0 || no_memory(out, err);
    snprintf(name, sizeof name, "%d", level);
    ok = ok && put_folder(out, name, err);
    snprintf(name, sizeof name, "%d/%s", level, out->plan.version == 2 ? ".zarray" : "zarr.json");
    ok = ok && put_file(out, name, text, size, err);
    free(text);
    return ok;
}

/* What makes the folder an image comes last. */
bool zarr_finish(void *state, Err *err)
{
    ZarrOut *out = state;
    char *text = NULL;
    size_t size = 0;
    bool two = out->plan.version == 2;
    FILE *to = open_memstream(&text, &size);
    TRY(to != NULL || no_memory(out, err));
    zarr_put_image(to, &out->plan);
    bool ok = fclose(to) == 0 || no_memory(out, err);
    ok = ok && (!two || put_file(out, ".zgroup", ZARR_GROUP_TWO, strlen(ZARR_GROUP_TWO), err)) &&
         put_file(out, two ? ".zattrs" : "zarr.json", text, size, err);
    free(text);
    return ok;
}

void zarr_discard(void *state)
{
    ZarrOut *out = state;
    for (int level = 0; level < out->plan.levels; level++) {
        for (int64_t plane = 0; out->band[level] != NULL && out->mapped[level] != NULL && plane < out->planes;
             plane++) {
            drop_band(out, level, plane);
        }
        free(out->band[level]);
        free(out->mapped[level]);
        free(out->half[level]);
    }
    for (int i = 0; i < out->n_halves; i++) {
        free(out->halves[i].at);
    }
    free(out->halves);
    for (int i = 0; i < HANDS_MOST; i++) {
        free(out->scratch[i]);
    }
    zarr_plan_free(&out->plan);
    crew_free(out->crew);
    free(out);
}

/* Packing is what such an image waits for. */
static int most_hands(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN), most = processors * 3 / 4;
    return most < HANDS ? HANDS : most < HANDS_MOST ? (int)most : HANDS_MOST;
}

static bool take_memory(ZarrOut *out, Err *err)
{
    const ImageInfo *s = &out->plan.shape;
    size_t chunk = (size_t)(zarr_plan_chunk(&out->plan, 0, 'y') * zarr_plan_chunk(&out->plan, 0, 'x')) * out->bytes;
    bool ok = true;
    out->planes = s->t * s->c * s->z;
    for (int level = 0; ok && level < out->plan.levels; level++) {
        out->band[level] = calloc((size_t)out->planes, sizeof *out->band[level]);
        out->mapped[level] = calloc((size_t)out->planes, sizeof *out->mapped[level]);
        out->half[level] = malloc((size_t)out->planes * sizeof *out->half[level]);
        ok = out->band[level] != NULL && out->mapped[level] != NULL && out->half[level] != NULL;
        for (int64_t plane = 0; ok && plane < out->planes; plane++) {
            out->half[level][plane] = -1;
        }
    }
    double bytes = (double)out->planes * (double)s->x * (double)s->y * (double)out->bytes;
    out->hands = bytes >= HUGE ? most_hands() : HANDS;
    for (int i = 0; ok && i < out->hands; i++) {
        out->scratch[i] = malloc(chunk);
        ok = out->scratch[i] != NULL;
    }
    out->crew = ok && bytes >= LARGE ? crew_new(out->hands - 1) : NULL;
    return ok || no_memory(out, err);
}

static bool create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, bool part,
                   void **state, Err *err)
{
    ZarrOut *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
    }
    *state = out;
    out->path = path;
    out->fd = fd;
    out->part = part;
    out->truth = elem == ELEM_BOOL;
    out->bytes = elem_size(elem);
    size_t image = image_length(path), plate = zarr_plate_length(path);
    int version = meta->zarr == OME_ZARR_0_5 ? 3 : 2;
    TRY(image == 0 || find_image(path, image, &version, err));
    TRY(plate == 0 || zarr_plate_version(path, plate, &version, err));
    TRY(zarr_plan(path, shape, elem, meta, version, image > 0 && meta->labels, &out->plan, err));
    if (!out->plan.plain && !zarr_blosc_load(err)) {
        err->code = CODE_OUTPUT;
        return false;
    }
    TRY(take_memory(out, err));
    for (int level = 0; level < out->plan.levels && !part; level++) {
        TRY(put_array(out, level, err));
    }
    return true;
}

bool zarr_create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                 Err *err)
{
    return create(path, fd, shape, elem, meta, false, state, err);
}

/* ---- parts ------------------------------------------------------------------------------- */

int64_t zarr_grain(const void *state)
{
    const ZarrOut *out = state;
    return out->plan.block % 2 == 0 ? out->plan.block : 0;
}

bool zarr_create_part(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                      Err *err)
{
    return create(path, fd, shape, elem, meta, true, state, err);
}

static int by_level(const void *a, const void *b)
{
    const Half *x = a, *y = b;
    return x->level != y->level ? (x->level > y->level) - (x->level < y->level) : (x->y > y->y) - (x->y < y->y);
}

/* The range of pixels, and halves: their places, each with its rows. */
bool zarr_end_part(void *state, FILE *to, Err *err)
{
    ZarrOut *out = state;
    const size_t c = (size_t)out->plan.shape.c;
    for (int level = 1; level < out->plan.levels; level++) {
        for (int64_t plane = 0; plane < out->planes; plane++) {
            int64_t y = out->half[level][plane];
            if (out->band[level][plane] != NULL && y >= 0) {
                TRY(keep_half(out, (Half){level, plane, y, 0, out->plan.block / 2, NULL}, err));
            }
        }
    }
    if (out->n_halves > 0) {
        qsort(out->halves, (size_t)out->n_halves, sizeof *out->halves, by_level);
    }
    bool ok = fwrite(out->plan.low, sizeof *out->plan.low, c, to) == c &&
              fwrite(out->plan.high, sizeof *out->plan.high, c, to) == c;
    for (int i = 0; ok && i < out->n_halves; i++) {
        const Half *h = &out->halves[i];
        size_t bytes = (size_t)h->rows * (size_t)out->plan.x[h->level] * out->bytes;
        ok = fwrite(h, sizeof *h, 1, to) == 1 && fwrite(h->at, 1, bytes, to) == bytes;
    }
    return ok || no_memory(out, err);
}

/* Half of a band comes: a lower one completes it. */
static bool join_half(ZarrOut *out, const Half *h, const char *from, Err *err)
{
    const int level = (int)h->level;
    size_t line = (size_t)out->plan.x[level] * out->bytes;
    TRY(need_band(out, level, h->plane, err));
    memcpy(out->band[level][h->plane] + (size_t)h->first * line, from, (size_t)h->rows * line);
    out->half[level][h->plane] = h->first == 0 ? h->y : -1;
    Band band = {.out = out, .level = level, .plane = h->plane, .y = h->y, .rows = band_rows(out, level, h->y)};
    band.from = out->band[level][h->plane];
    band.pitch = line;
    return h->first + h->rows < band.rows || end_band(band, err);
}

bool zarr_join(void *state, const void *from, size_t bytes, Err *err)
{
    ZarrOut *out = state;
    const size_t c = (size_t)out->plan.shape.c;
    const char *at = from, *end = at + bytes;
    for (size_t i = 0; i < 2 * c; i++, at += sizeof(double)) {
        double value;
        memcpy(&value, at, sizeof value);
        double *to = i < c ? &out->plan.low[i] : &out->plan.high[i - c];
        *to = i < c ? (value < *to ? value : *to) : (value > *to ? value : *to);
    }
    while (at < end) {
        Half half;
        memcpy(&half, at, sizeof half);
        at += sizeof half;
        TRY(join_half(out, &half, at, err));
        at += (size_t)half.rows * (size_t)out->plan.x[half.level] * out->bytes;
    }
    return true;
}
