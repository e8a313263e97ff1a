/*
 * compare: holds what a pipeline wrote against what it should be; 0 when it is the same.
 *
 *     compare same A B            two images: extents and every pixel, bit for bit
 *     compare labels GOLDEN IMAGE extents, largest value and hash of all values
 *     compare points GOLDEN IMAGE extents, range and single pixels to 1e-5 of the range
 *     compare table GOLDEN TABLE  same header and rows; numbers to 1e-6 of their magnitude, or 1e-8
 *     compare extents IMAGE       prints "X Y PLANES"
 *
 * The goldens are made by tests/golden/make_samples_golden.py.
 */
#include "../../runtime/files/image.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096 };

/* All pixels of an image as numbers, plane by plane. */
typedef struct Pixels {
    long long x, y, planes;
    Elem elem;
    double *at; /* owned (free) */
} Pixels;

static int complain(const char *path, const char *what)
{
    fprintf(stderr, "compare: %s: %s\n", path, what);
    return 1;
}

static bool read_planes(ImageFile *file, Pixels *to, Err *err)
{
    const ImageInfo *info = image_info(file);
    size_t plane = (size_t)info->x * (size_t)info->y, pitch = (size_t)info->x * elem_size(info->elem);
    *to = (Pixels){info->x, info->y, info->z * info->c * info->t, info->elem, NULL};
    to->at = malloc((size_t)to->planes * plane * sizeof *to->at);
    char *row = malloc(pitch * (size_t)info->y);
    bool ok = (to->at != NULL && row != NULL) || err_set(err, CODE_MEMORY, "out of memory");
    for (int64_t p = 0; ok && p < to->planes; p++) {
        int64_t z = p % info->z, c = p / info->z % info->c, t = p / info->z / info->c;
        ok = image_read(file, t, c, z, 0, info->y, row, pitch, err);
        for (size_t i = 0; ok && i < plane; i++) {
            to->at[(size_t)p * plane + i] = elem_get(row, i, info->elem);
        }
    }
    free(row);
    return ok;
}

static bool read_pixels(const char *path, Pixels *to)
{
    Err err = {0};
    ImageFile *file = NULL;
    *to = (Pixels){0};
    bool ok = image_open(path, &file, &err) && read_planes(file, to, &err);
    image_close(file);
    if (!ok) {
        complain(path, err.text);
    }
    return ok;
}

static size_t count_of(const Pixels *p)
{
    return (size_t)p->x * (size_t)p->y * (size_t)p->planes;
}

/* ---- same ------------------------------------------------------------------------------ */

static int same_pixels(const char *path, const Pixels *a, const Pixels *b)
{
    if (a->x != b->x || a->y != b->y || a->planes != b->planes || a->elem != b->elem) {
        return complain(path, "another extent or pixel type");
    }
    for (size_t i = 0; i < count_of(a); i++) {
        if (memcmp(&a->at[i], &b->at[i], sizeof *a->at) != 0) {
            fprintf(stderr, "compare: %s: pixel %zu is %.17g, not %.17g\n", path, i, b->at[i], a->at[i]);
            return 1;
        }
    }
    return 0;
}

static int same(const char *first, const char *second)
{
    Pixels a, b = {0};
    int code = read_pixels(first, &a) && read_pixels(second, &b) ? same_pixels(second, &a, &b) : 1;
    free(a.at);
    free(b.at);
    return code;
}

/* ---- labels ---------------------------------------------------------------------------- */

static uint64_t hash_of(const Pixels *p, double *largest)
{
    uint64_t hash = 0xcbf29ce484222325u;
    *largest = 0;
    for (size_t i = 0; i < count_of(p); i++) {
        uint32_t value = (uint32_t)p->at[i];
        *largest = p->at[i] > *largest ? p->at[i] : *largest;
        for (int shift = 0; shift < 32; shift += 8) {
            hash = (hash ^ ((value >> shift) & 255)) * 0x100000001b3u;
        }
    }
    return hash;
}

static int labels(const char *golden, const char *path)
{
    char want[LINE] = "", got[LINE];
    Pixels p;
    double largest;
    FILE *file = fopen(golden, "r");
    if (file == NULL || fgets(want, sizeof want, file) == NULL) {
        return complain(golden, "cannot be read");
    }
    fclose(file);
    if (!read_pixels(path, &p)) {
        return 1;
    }
    uint64_t hash = hash_of(&p, &largest);
    snprintf(got, sizeof got, "%lld %lld %lld %.17g %016" PRIx64 "\n", p.x, p.y, p.planes, largest, hash);
    free(p.at);
    if (strcmp(want, got) != 0) {
        fprintf(stderr, "compare: %s is %s but should be %s", path, got, want);
        return 1;
    }
    return 0;
}

/* ---- points ---------------------------------------------------------------------------- */

static int points_of(FILE *file, const char *path, const Pixels *p)
{
    long long x, y, z;
    double low, high, value;
    int n = 0;
    if (fscanf(file, "%lld %lld %lld %lf %lf", &x, &y, &z, &low, &high) != 5 || x != p->x || y != p->y ||
        z != p->planes) {
        return complain(path, "another extent than in the golden values");
    }
    double limit = 1e-5 * (high - low);
    while (fscanf(file, "%lld %lld %lld %lf", &z, &y, &x, &value) == 4) {
        double got = p->at[(z * p->y + y) * p->x + x];
        if (!(fabs(got - value) <= limit)) {
            fprintf(stderr, "compare: %s at z %lld y %lld x %lld is %.9g, not %.9g\n", path, z, y, x, got, value);
            return 1;
        }
        n++;
    }
    return n >= 100 ? 0 : complain(path, "too few golden values");
}

static int points(const char *golden, const char *path)
{
    Pixels p;
    FILE *file = fopen(golden, "r");
    if (file == NULL) {
        return complain(golden, "cannot be read");
    }
    int code = read_pixels(path, &p) ? points_of(file, path, &p) : 1;
    free(p.at);
    fclose(file);
    return code;
}

/* ---- table ----------------------------------------------------------------------------- */

static bool same_line(char *want, char *got)
{
    char *w_rest, *g_rest;
    char *w = strtok_r(want, ",\r\n", &w_rest), *g = strtok_r(got, ",\r\n", &g_rest);
    while (w != NULL && g != NULL) {
        char *w_end, *g_end;
        double a = strtod(w, &w_end), b = strtod(g, &g_end);
        bool numbers = w_end != w && *w_end == '\0' && g_end != g && *g_end == '\0';
        if (numbers ? !(fabs(a - b) <= 1e-6 * fabs(a) + 1e-8) && a != b : strcmp(w, g) != 0) {
            fprintf(stderr, "compare: '%s' should be '%s'\n", g, w);
            return false;
        }
        w = strtok_r(NULL, ",\r\n", &w_rest);
        g = strtok_r(NULL, ",\r\n", &g_rest);
    }
    return w == NULL && g == NULL;
}

static int table(const char *golden, const char *path)
{
    char want[LINE], got[LINE];
    FILE *a = fopen(golden, "r"), *b = fopen(path, "r");
    int code = a != NULL && b != NULL ? 0 : complain(path, "or its golden table cannot be read");
    for (int line = 1; code == 0; line++) {
        char *w = fgets(want, sizeof want, a), *g = fgets(got, sizeof got, b);
        if (w == NULL && g == NULL) {
            code = line > 1 ? 0 : complain(golden, "is empty");
            break;
        }
        if (w == NULL || g == NULL || !same_line(want, got)) {
            fprintf(stderr, "compare: %s differs from %s in line %d\n", path, golden, line);
            code = 1;
        }
    }
    if (a != NULL) {
        fclose(a);
    }
    if (b != NULL) {
        fclose(b);
    }
    return code;
}

static int extents(const char *path)
{
    Pixels p;
    if (!read_pixels(path, &p)) {
        return 1;
    }
    printf("%lld %lld %lld\n", p.x, p.y, p.planes);
    free(p.at);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const char *golden, const char *path);
    } WAYS[] = {{"same", same}, {"labels", labels}, {"points", points}, {"table", table}};
    if (argc == 3 && strcmp(argv[1], "extents") == 0) {
        return extents(argv[2]);
    }
    for (size_t i = 0; argc == 4 && i < sizeof WAYS / sizeof *WAYS; i++) {
        if (strcmp(WAYS[i].name, argv[1]) == 0) {
            return WAYS[i].run(argv[2], argv[3]);
        }
    }
    fputs("usage: compare same|labels|points|table GOLDEN FILE, or compare extents FILE\n", stderr);
    return 2;
}
