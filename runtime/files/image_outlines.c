/*
 * image_outlines: labels and masks as outlines: GeoJSON, as QuPath opens it, and zip archives of ImageJ's ROIs, as Fiji's ROI manager
 * opens them.  Neither is read.
 *
 * Points are corners of pixels, (0, 0) the upper left one of the first pixel, as both programs count.  A plane is traced once its last row
 * has come; what it gives waits until all planes are there, so that files do not depend on their order.  ImageJ's format is described in its RoiDecoder: a
 * header of 64 bytes, coordinates, and a second header with the place in a stack and the name.
 */
#include "image_format.h"

#include "../../base/file.h"
#include "outlines.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct Written {
    char *text;
    size_t n;
} Written;

/* A plane, and how many there are of its kind. */
typedef struct Plane {
    const ImageInfo *shape;
    int64_t t, c, z;
    bool mask;
} Plane;

/* Writes what is between two rings of different labels. */
typedef bool WriteObject(FILE *to, const Plane *plane, const Outlines *all, size_t first, size_t end, Err *err);

typedef struct OutlinesOut {
    const char *path;
    int fd;
    ImageInfo shape;
    Elem elem;
    bool labels;
    uint32_t **pixels; /* by plane, while its rows come */
    Written *planes;
} OutlinesOut;

static bool no_memory(const char *path, Err *err)
{
    return err_set(err, CODE_MEMORY, "cannot write '%s': out of memory", path);
}

static bool create(const char *path, int fd, const ImageInfo *shape, Elem elem, const ImageMeta *meta, void **state,
                   Err *err)
{
    if (shape->x > OUTLINES_MOST_PIXELS / shape->y) {
        return err_set(err, CODE_FILES,
                       "cannot write '%s': outlines are of planes with at most %d pixels; write it as tif", path,
                       OUTLINES_MOST_PIXELS);
    }
    const size_t planes = (size_t)(shape->z * shape->c * shape->t);
    OutlinesOut *out = calloc(1, sizeof *out);
    *state = out;
    if (out != NULL) {
        *out = (OutlinesOut){.path = path, .fd = fd, .shape = *shape, .elem = elem, .labels = meta->labels};
        out->pixels = calloc(planes, sizeof *out->pixels);
        out->planes = calloc(planes, sizeof *out->planes);
    }
    return (out != NULL && out->pixels != NULL && out->planes != NULL) || no_memory(path, err);
}

static void discard(void *state)
{
    OutlinesOut *out = state;
    const int64_t planes = out->shape.z * out->shape.c * out->shape.t;
    for (int64_t i = 0; i < planes && out->pixels != NULL && out->planes != NULL; i++) {
        free(out->pixels[i]);
        free(out->planes[i].text);
    }
    free(out->pixels);
    free(out->planes);
    free(out);
}

static uint32_t label_at(const void *from, Elem elem, int64_t x)
{
    switch (elem) {
    case ELEM_U16:
        return ((const uint16_t *)from)[x];
    case ELEM_U32:
        return ((const uint32_t *)from)[x];
    default:
        return ((const unsigned char *)from)[x] != 0;
    }
}

static bool write_plane(OutlinesOut *out, const ImageRows *at, int64_t i, WriteObject *object, Err *err)
{
    Outlines all;
    const Plane plane = {&out->shape, at->t, at->c, at->z, !out->labels};
    bool fine = outlines_of(out->pixels[i], (int32_t)out->shape.x, (int32_t)out->shape.y, &all, err);
    free(out->pixels[i]);
    out->pixels[i] = NULL;
    FILE *to = fine ? open_memstream(&out->planes[i].text, &out->planes[i].n) : NULL;
    fine = fine && (to != NULL || no_memory(out->path, err));
    for (size_t first = 0, end; fine && first < all.n_rings; first = end) {
        for (end = first + 1; end < all.n_rings && all.rings[end].label == all.rings[first].label;) {
            end++;
        }
        fine = object(to, &plane, &all, first, end, err);
    }
    bool broken = to != NULL && ferror(to) != 0;
    broken = (to != NULL && fclose(to) != 0) || broken;
    outlines_free(&all);
    return fine && (!broken || no_memory(out->path, err));
}

static bool write_rows(OutlinesOut *out, const ImageRows *at, const void *from, size_t pitch, WriteObject *object,
                       Err *err)
{
    const int64_t width = out->shape.x, i = (at->t * out->shape.c + at->c) * out->shape.z + at->z;
    if (out->pixels[i] == NULL) {
        out->pixels[i] = malloc((size_t)(width * out->shape.y) * sizeof **out->pixels);
    }
    if (out->pixels[i] == NULL) {
        return no_memory(out->path, err);
    }
    for (int64_t row = 0; row < at->rows; row++) {
        const char *line = (const char *)from + (size_t)row * pitch;
        for (int64_t x = 0; x < width; x++) {
            out->pixels[i][(at->row + row) * width + x] = label_at(line, out->elem, x);
        }
    }
    return at->row + at->rows < out->shape.y || write_plane(out, at, i, object, err);
}

static bool put(OutlinesOut *out, const void *from, size_t n, uint64_t *at, Err *err)
{
    if (!image_pwrite(out->fd, from, n, *at)) {
        return file_err_set(err, CODE_OUTPUT, "write", out->path, errno);
    }
    *at += n;
    return true;
}

/* ---- GeoJSON ------------------------------------------------------------------------------- */

static const char GEOJSON_HEAD[] = "{\"type\":\"FeatureCollection\",\"features\":[\n", GEOJSON_TAIL[] = "\n]}\n";

static bool is_geojson(const unsigned char *head, size_t n)
{
    return n >= sizeof GEOJSON_HEAD - 1 && memcmp(head, GEOJSON_HEAD, sizeof GEOJSON_HEAD - 1) == 0;
}

static void print_ring(FILE *to, const Outlines *all, const OutlineRing *ring)
{
    fputc('[', to);
    for (size_t i = 0; i <= ring->n; i++) {
        const OutlinePoint *p = &all->points[ring->first + i % ring->n];
        fprintf(to, "%s[%d,%d]", i > 0 ? "," : "", (int)p->x, (int)p->y);
    }
    fputc(']', to);
}

/* A polygon, or several of them where the object has several parts. */
static void print_coordinates(FILE *to, const Outlines *all, size_t first, size_t end)
{
    const OutlineRing *rings = all->rings;
    const bool several = rings[first].part != rings[end - 1].part;
    fprintf(to, "\"type\":\"%s\",\"coordinates\":%s", several ? "MultiPolygon" : "Polygon", several ? "[[" : "[");
    for (size_t i = first; i < end; i++) {
        fputs(i == first ? "" : rings[i].part != rings[i - 1].part ? "],[" : ",", to);
        print_ring(to, all, &rings[i]);
    }
    fputs(several ? "]]" : "]", to);
}

static bool feature(FILE *to, const Plane *plane, const Outlines *all, size_t first, size_t end, Err *err)
{
    (void)err;
    fprintf(to, "%s{\"type\":\"Feature\",\"geometry\":{", ftell(to) > 0 ? ",\n" : "");
    print_coordinates(to, all, first, end);
    if (plane->shape->z > 1 || plane->shape->t > 1 || plane->shape->c > 1) {
        fprintf(to, ",\"plane\":{\"c\":%lld,\"z\":%lld,\"t\":%lld}", plane->shape->c > 1 ? (long long)plane->c : -1,
                (long long)plane->z, (long long)plane->t);
    }
    if (plane->mask) {
        fputs("},\"properties\":{\"objectType\":\"annotation\"}}", to);
    } else {
        const unsigned label = all->rings[first].label;
        fprintf(to, "},\"properties\":{\"objectType\":\"detection\",\"name\":\"%u\",\"label\":%u}}", label, label);
    }
    return true;
}

static bool write_geojson(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err)
{
    return write_rows(state, at, from, pitch, feature, err);
}

static bool finish_geojson(void *state, Err *err)
{
    OutlinesOut *out = state;
    uint64_t at = 0;
    bool any = false;
    TRY(put(out, GEOJSON_HEAD, sizeof GEOJSON_HEAD - 1, &at, err));
    for (int64_t i = 0; i < out->shape.z * out->shape.c * out->shape.t; i++) {
        if (out->planes[i].n > 0) {
            TRY(put(out, ",\n", any ? 2 : 0, &at, err));
            TRY(put(out, out->planes[i].text, out->planes[i].n, &at, err));
            any = true;
        }
    }
    return put(out, GEOJSON_TAIL, sizeof GEOJSON_TAIL - 1, &at, err);
}

const ImageFormat image_geojson = {
    .name = "geojson",
    .matches = is_geojson,
    .create = create,
    .write = write_geojson,
    .finish = finish_geojson,
    .discard = discard,
};

/* ---- ROIs ------------------------------------------------------------------------------------- */

enum {
    ROI_HEADER = 64,
    ROI_RECTANGLE = 1, /* what an outline of several rings says it is */
    ROI_TRACED = 8,
    ROI_VERSION = 228,
    ROI_MOST_POINTS =
        65535, /* of a single ring, and its largest coordinate, where the decoder would see a sign beyond */
    ROI_MOST_PLACE = 60000,
    LOCAL_HEADER = 30,
    CENTRAL_HEADER = 46,
    YEAR_1980 = 0x21 /* 1 January: archives of the same outlines are the same */
};

static bool is_zip(const unsigned char *head, size_t n)
{
    return n >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

/* Numbers with the most significant byte in front, or behind as zip has them. */
static void big(unsigned char *to, int bytes, uint32_t v)
{
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(v >> 8 * (bytes - 1 - i));
    }
}

static void little(unsigned char *to, int bytes, uint64_t v)
{
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(v >> 8 * i);
    }
}

static uint64_t from_little(const unsigned char *from, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) {
        v = v << 8 | from[i];
    }
    return v;
}

static void put_float(unsigned char **to, int32_t v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    big(*to, 4, bits);
    *to += 4;
}

typedef struct Box {
    int32_t left, top, right, bottom;
} Box;

static Box box_of(const Outlines *all, size_t first, size_t end)
{
    Box box = {INT32_MAX, INT32_MAX, 0, 0};
    for (size_t r = first; r < end; r++) {
        for (size_t i = 0; i < all->rings[r].n; i++) {
            const OutlinePoint *p = &all->points[all->rings[r].first + i];
            box.left = p->x < box.left ? p->x : box.left;
            box.top = p->y < box.top ? p->y : box.top;
            box.right = p->x > box.right ? p->x : box.right;
            box.bottom = p->y > box.bottom ? p->y : box.bottom;
        }
    }
    return box;
}

/* Coordinates of one ring from the corner of its box: all x, then all y. */
static unsigned char *put_traced(unsigned char *to, const Outlines *all, const OutlineRing *ring, Box box)
{
    for (size_t i = 0; i < ring->n; i++) {
        const OutlinePoint *p = &all->points[ring->first + i];
        big(to + 2 * i, 2, (uint32_t)(p->x - box.left));
        big(to + 2 * (ring->n + i), 2, (uint32_t)(p->y - box.top));
    }
    return to + 4 * ring->n;
}

/* Several rings as a path: begin (0), lines (1), end (4), each number a float. */
static unsigned char *put_path(unsigned char *to, const Outlines *all, size_t first, size_t end)
{
    for (size_t r = first; r < end; r++) {
        for (size_t i = 0; i < all->rings[r].n; i++) {
            const OutlinePoint *p = &all->points[all->rings[r].first + i];
            put_float(&to, i > 0);
            put_float(&to, p->x);
            put_float(&to, p->y);
        }
        put_float(&to, 4);
    }
    return to;
}

/* Places in a stack are counted from 1; of a hyperstack they are three. */
static void put_place(unsigned char *header, unsigned char *second, const Plane *plane)
{
    const ImageInfo *shape = plane->shape;
    const bool hyperstack = (shape->z > 1) + (shape->t > 1) + (shape->c > 1) > 1;
    if (hyperstack) {
        big(second + 4, 4, shape->c > 1 ? (uint32_t)plane->c + 1 : 0);
        big(second + 8, 4, (uint32_t)plane->z + 1);
        big(second + 12, 4, (uint32_t)plane->t + 1);
    } else if (shape->z * shape->t * shape->c > 1) {
        big(header + 56, 4, (uint32_t)(plane->z + plane->t + plane->c) + 1);
    }
}

static void put_name(char *to, size_t size, const Plane *plane, uint32_t label)
{
    int n = plane->mask ? snprintf(to, size, "mask") : snprintf(to, size, "%u", (unsigned)label);
    const struct {
        char axis;
        int64_t extent, at;
    } AXES[] = {{'c', plane->shape->c, plane->c}, {'z', plane->shape->z, plane->z}, {'t', plane->shape->t, plane->t}};
    for (int i = 0; i < 3; i++) {
        n += AXES[i].extent > 1 ? snprintf(to + n, size - (size_t)n, "-%c%lld", AXES[i].axis, (long long)AXES[i].at + 1)
                                : 0;
    }
}

/* A whole ROI; its size.  `to` has room for 2 headers, 16 bytes a point and 4 a ring, and the name. */
static size_t put_roi(unsigned char *to, const Plane *plane, const Outlines *all, size_t first, size_t end,
                      const char *name)
{
    const Box box = box_of(all, first, end);
    const OutlineRing *ring = &all->rings[first];
    const bool single =
        end == first + 1 && ring->n <= ROI_MOST_POINTS && box.right < ROI_MOST_PLACE && box.bottom < ROI_MOST_PLACE;
    memcpy(to, "Iout", 4);
    big(to + 4, 2, ROI_VERSION);
    to[6] = single ? ROI_TRACED : ROI_RECTANGLE;
    big(to + 8, 2, (uint32_t)box.top & 0xFFFF);
    big(to + 10, 2, (uint32_t)box.left & 0xFFFF);
    big(to + 12, 2, (uint32_t)box.bottom & 0xFFFF);
    big(to + 14, 2, (uint32_t)box.right & 0xFFFF);
    unsigned char *at = to + ROI_HEADER;
    if (single) {
        big(to + 16, 2, (uint32_t)ring->n);
        at = put_traced(at, all, ring, box);
    } else {
        at = put_path(at, all, first, end);
        big(to + 36, 4, (uint32_t)((at - to - ROI_HEADER) / 4));
    }
    big(to + 60, 4, (uint32_t)(at - to));
    put_place(to, at, plane);
    big(at + 16, 4, (uint32_t)(at - to) + ROI_HEADER);
    big(at + 20, 4, (uint32_t)strlen(name));
    at += ROI_HEADER;
    for (const char *p = name; *p != '\0'; p++, at += 2) {
        big(at, 2, (unsigned char)*p);
    }
    return (size_t)(at - to);
}

/* A file of the archive: its header, name and bytes. */
static bool roi(FILE *to, const Plane *plane, const Outlines *all, size_t first, size_t end, Err *err)
{
    char name[80];
    put_name(name, sizeof name, plane, all->rings[first].label);
    size_t points = 0;
    for (size_t r = first; r < end; r++) {
        points += all->rings[r].n;
    }
    size_t room = 2 * ROI_HEADER + 16 * points + 4 * (end - first) + 2 * sizeof name;
    unsigned char *bytes = room < UINT32_MAX ? calloc(room, 1) : NULL;
    if (bytes == NULL) {
        return err_set(err, CODE_MEMORY, "out of memory for the outlines of objects");
    }
    const size_t n = put_roi(bytes, plane, all, first, end, name);
    unsigned char head[LOCAL_HEADER] = "PK\3\4";
    little(head + 4, 2, 20);
    little(head + 12, 2, YEAR_1980);
    little(head + 14, 4, crc32(0, bytes, (uInt)n));
    little(head + 18, 4, n);
    little(head + 22, 4, n);
    little(head + 26, 2, strlen(name) + 4);
    fwrite(head, 1, sizeof head, to);
    fprintf(to, "%s.roi", name);
    fwrite(bytes, 1, n, to);
    free(bytes);
    return true;
}

static bool write_roi(void *state, const ImageRows *at, const void *from, size_t pitch, Err *err)
{
    return write_rows(state, at, from, pitch, roi, err);
}

/* The entry of the directory for a file whose header lies in `local`, `offset` bytes into the archive; the bytes of the file with header and name. */
static bool put_entry(OutlinesOut *out, const unsigned char *local, uint64_t offset, uint64_t *at, size_t *size,
                      Err *err)
{
    const size_t name = (size_t)from_little(local + 26, 2);
    unsigned char entry[CENTRAL_HEADER] = "PK\1\2";
    little(entry + 4, 2, 20);
    memcpy(entry + 6, local + 4, 26);
    little(entry + 42, 4, offset);
    *size = LOCAL_HEADER + name + (size_t)from_little(local + 18, 4);
    return put(out, entry, sizeof entry, at, err) && put(out, local + LOCAL_HEADER, name, at, err);
}

/* The end of the directory; of more than 65535 files it is there a second time, with longer numbers. */
static bool put_end(OutlinesOut *out, uint64_t files, uint64_t directory, uint64_t *at, Err *err)
{
    unsigned char longer[56] = "PK\6\6", locator[20] = "PK\6\7", end[22] = "PK\5\6";
    const uint64_t size = *at - directory, here = *at;
    if (files > 0xFFFF) {
        little(longer + 4, 8, sizeof longer - 12);
        little(longer + 12, 2, 45);
        little(longer + 14, 2, 45);
        little(longer + 24, 8, files);
        little(longer + 32, 8, files);
        little(longer + 40, 8, size);
        little(longer + 48, 8, directory);
        little(locator + 8, 8, here);
        little(locator + 16, 4, 1);
        TRY(put(out, longer, sizeof longer, at, err));
        TRY(put(out, locator, sizeof locator, at, err));
    }
    little(end + 8, 2, files > 0xFFFF ? 0xFFFF : files);
    little(end + 10, 2, files > 0xFFFF ? 0xFFFF : files);
    little(end + 12, 4, size);
    little(end + 16, 4, directory);
    return put(out, end, sizeof end, at, err);
}

static bool finish_roi(void *state, Err *err)
{
    OutlinesOut *out = state;
    const int64_t planes = out->shape.z * out->shape.c * out->shape.t;
    uint64_t at = 0, files = 0, offset = 0;
    for (int64_t i = 0; i < planes; i++) {
        TRY(put(out, out->planes[i].text, out->planes[i].n, &at, err));
    }
    const uint64_t directory = at;
    for (int64_t i = 0; i < planes; i++) {
        size_t size;
        for (size_t k = 0; k < out->planes[i].n; k += size, offset += size, files++) {
            TRY(put_entry(out, (const unsigned char *)out->planes[i].text + k, offset, &at, &size, err));
        }
    }
    if (at > UINT32_MAX) {
        return err_set(
            err, CODE_FILES,
            "cannot write '%s': its outlines take more than 4 GiB, which archives of ROIs do not hold; write them as geojson",
            out->path);
    }
    return put_end(out, files, directory, &at, err);
}

const ImageFormat image_roi = {
    .name = "roi",
    .ending = "zip",
    .matches = is_zip,
    .create = create,
    .write = write_roi,
    .finish = finish_roi,
    .discard = discard,
};
