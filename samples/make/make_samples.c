/*
 * make_samples: makes the images that the sample pipelines work on.
 *
 *     make_samples FOLDER
 *
 * Everything is computed in integers from one fixed random sequence (or in single float operations
 * that IEEE 754 defines exactly), so that every machine makes the same bytes.  Objects are round,
 * with the profile (1 - d^2 / r^2)^2, which looks like a blurred disc and needs no exponential,
 * and are placed apart, so that the number of objects is known.
 */
#include "../../runtime/files/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 80, TRIES = 20000 };

/* xorshift64*, G. Marsaglia and S. Vigna: the high half of the product is good in every bit. */
static uint64_t random_state;

static uint32_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)(random_state * 2685821657736338717u >> 32);
}

/* A whole number from low to high, both included. */
static int random_between(int low, int high)
{
    return low + (int)((uint64_t)random_bits() * (uint64_t)(high - low + 1) >> 32);
}

/* Normal noise of standard deviation 65536: twelve even numbers have variance 12 / 12. */
static int64_t random_normal(void)
{
    int64_t sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += random_bits() >> 16;
    }
    return sum - 6 * 65535;
}

/* ---- scenes ---------------------------------------------------------------------------- */

typedef struct Object {
    int x, y, z, r, peak;
    int dx, dy; /* movement in one frame */
} Object;

typedef struct Scene {
    int x, y, z; /* extents */
    Object object[OBJECTS_MAX];
    int n;
} Scene;

static bool is_free(const Scene *scene, const Object *one, int gap)
{
    for (int i = 0; i < scene->n; i++) {
        const Object *other = &scene->object[i];
        int dx = one->x - other->x, dy = one->y - other->y, dz = one->z - other->z;
        int apart = one->r + other->r + gap;
        if (dx * dx + dy * dy + dz * dz < apart * apart) {
            return false;
        }
    }
    return true;
}

/* Up to n objects, whole and apart from one another. */
static void place_objects(Scene *scene, int n, int r_low, int r_high, int peak_low, int peak_high, int gap)
{
    for (int i = 0; i < TRIES && scene->n < n; i++) {
        Object one = {.r = random_between(r_low, r_high)};
        one.peak = random_between(peak_low, peak_high);
        one.x = random_between(one.r, scene->x - 1 - one.r);
        one.y = random_between(one.r, scene->y - 1 - one.r);
        one.z = scene->z > 1 ? random_between(3, scene->z - 4) : 0;
        one.dx = random_between(-3, 3);
        one.dy = random_between(-3, 3);
        if (is_free(scene, &one, gap)) {
            scene->object[scene->n++] = one;
        }
    }
}

/* Brightness of all objects at a pixel; depth counts double, as slices are far apart. */
static int64_t light_at(const Scene *scene, int x, int y, int z, int frame)
{
    int64_t sum = 0;
    for (int i = 0; i < scene->n; i++) {
        const Object *one = &scene->object[i];
        int64_t dx = x - one->x - frame * one->dx, dy = y - one->y - frame * one->dy;
        int64_t dz = 2 * (z - one->z), r2 = (int64_t)one->r * one->r;
        int64_t rest = r2 - dx * dx - dy * dy - dz * dz;
        if (rest > 0) {
            sum += one->peak * rest * rest / (r2 * r2);
        }
    }
    return sum;
}

/* The same, at pixel i of a plane. */
static int64_t light_of(const Scene *scene, int i, int z, int frame)
{
    return light_at(scene, i % scene->x, i / scene->x, z, frame);
}

static int64_t clamp(int64_t value, int64_t high)
{
    return value < 0 ? 0 : value > high ? high : value;
}

/* ---- files ----------------------------------------------------------------------------- */

/* Writes pixels laid out [t][c][z][y][x]. */
static bool save(const char *folder, const char *name, const ImageInfo *shape, Elem elem, const void *pixels, Err *err)
{
    char path[4096];
    ImageWriter *writer;
    ImageMeta meta = {.like = shape, .software = "pipec samples"};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    TRY(image_create(path, strrchr(name, '.') + 1, shape, elem, &meta, &writer, err));
    size_t pitch = (size_t)shape->x * elem_size(elem), plane = pitch * (size_t)shape->y;
    for (int64_t i = 0; i < shape->t * shape->c * shape->z; i++) {
        int64_t t = i / (shape->c * shape->z), c = i / shape->z % shape->c, z = i % shape->z;
        const char *from = (const char *)pixels + (size_t)i * plane;
        if (!image_write(writer, t, c, z, 0, shape->y, from, pitch, err)) {
            image_abort(writer);
            return false;
        }
    }
    return image_commit(writer, err);
}

/* 60 bright blobs of several sizes on a noisy ground. */
static bool make_blobs(const char *folder, Err *err)
{
    static unsigned char pixels[254 * 256];
    static Scene scene = {.x = 256, .y = 254, .z = 1};
    ImageInfo shape = {.x = 256, .y = 254, .z = 1, .c = 1, .t = 1, .style = "imagej"};
    random_state = 1;
    place_objects(&scene, 60, 7, 14, 190, 280, 1);
    for (int i = 0; i < 254 * 256; i++) {
        int64_t noise = 8 * random_normal() / 65536;
        pixels[i] = (unsigned char)clamp(40 + noise + light_of(&scene, i, 0, 0), 255);
    }
    return save(folder, "blobs.tif", &shape, ELEM_U8, pixels, err);
}

/* Cells stained green; the other channels hold little but noise. */
static bool make_nuclei(const char *folder, Err *err)
{
    enum { SIDE = 320 };
    static unsigned char pixels[3 * SIDE * SIDE];
    static Scene scene = {.x = SIDE, .y = SIDE, .z = 1};
    ImageInfo shape = {.x = SIDE,
                       .y = SIDE,
                       .z = 1,
                       .c = 3,
                       .t = 1,
                       .has_c = true,
                       .rgb = true,
                       .size = {0.5, 0.5, 0},
                       .size_um = {0.5, 0.5, 0},
                       .unit = "um",
                       .style = "imagej"};
    random_state = 2;
    place_objects(&scene, 40, 14, 24, 200, 330, 2);
    for (int i = 0; i < 3 * SIDE * SIDE; i++) {
        int c = i / (SIDE * SIDE), p = i % (SIDE * SIDE);
        int64_t noise = 5 * random_normal() / 65536, light = light_of(&scene, p, 0, 0);
        light = c == 1 ? (light < 170 ? light : 170) : light / 12; /* flat tops, as nuclei have */
        pixels[i] = (unsigned char)clamp(20 + noise + light, 255);
    }
    return save(folder, "nuclei.tif", &shape, ELEM_U8, pixels, err);
}

/* Sources from 10 to 240 standard deviations above normal noise. */
static bool make_sky(const char *folder, Err *err)
{
    enum { SIDE = 300 };
    static float pixels[SIDE * SIDE];
    static Scene scene = {.x = SIDE, .y = SIDE, .z = 1};
    ImageInfo shape = {.x = SIDE, .y = SIDE, .z = 1, .c = 1, .t = 1};
    random_state = 3;
    place_objects(&scene, 40, 4, 6, 10, 60, 4);
    for (int i = 0; i < scene.n; i += 5) {
        scene.object[i].peak *= 4;
    }
    for (int i = 0; i < scene.n; i++) {
        scene.object[i].peak *= 65536;
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        /* Below 2^24 in magnitude, so the conversion is exact, and so is a power of two. */
        int64_t value = random_normal() + light_of(&scene, i, 0, 0);
        pixels[i] = (float)value * (1.0f / (1 << 23));
    }
    return save(folder, "sky.fits", &shape, ELEM_F32, pixels, err);
}

/* A dozen balls in 16 slices that lie two pixels apart. */
static bool make_volume(const char *folder, Err *err)
{
    enum { SIDE = 64, DEPTH = 16 };
    static uint16_t pixels[DEPTH * SIDE * SIDE];
    static Scene scene = {.x = SIDE, .y = SIDE, .z = DEPTH};
    ImageInfo shape = {.x = SIDE,
                       .y = SIDE,
                       .z = DEPTH,
                       .c = 1,
                       .t = 1,
                       .has_z = true,
                       .size = {0.25, 0.25, 0.5},
                       .size_um = {0.25, 0.25, 0.5},
                       .unit = "um",
                       .style = "imagej"};
    random_state = 4;
    place_objects(&scene, 12, 6, 8, 3000, 6000, 2);
    for (int i = 0; i < DEPTH * SIDE * SIDE; i++) {
        int z = i / (SIDE * SIDE), p = i % (SIDE * SIDE);
        int64_t noise = 100 * random_normal() / 65536;
        pixels[i] = (uint16_t)clamp(500 + noise + light_of(&scene, p, z, 0), 65535);
    }
    return save(folder, "volume.tif", &shape, ELEM_U16, pixels, err);
}

/* Ten spots that move for six frames, one every two seconds. */
static bool make_timelapse(const char *folder, Err *err)
{
    enum { SIDE = 96, FRAMES = 6 };
    static unsigned char pixels[FRAMES * SIDE * SIDE];
    static Scene scene = {.x = SIDE, .y = SIDE, .z = 1};
    ImageInfo shape = {.x = SIDE,
                       .y = SIDE,
                       .z = 1,
                       .c = 1,
                       .t = FRAMES,
                       .has_t = true,
                       .size = {1, 1, 0},
                       .size_um = {1, 1, 0},
                       .unit = "um",
                       .interval = 2,
                       .style = "imagej"};
    random_state = 5;
    place_objects(&scene, 10, 6, 9, 150, 220, 6);
    for (int i = 0; i < FRAMES * SIDE * SIDE; i++) {
        int t = i / (SIDE * SIDE), p = i % (SIDE * SIDE);
        int64_t noise = 6 * random_normal() / 65536;
        pixels[i] = (unsigned char)clamp(30 + noise + light_of(&scene, p, 0, t), 255);
    }
    return save(folder, "timelapse.tif", &shape, ELEM_U8, pixels, err);
}

int main(int argc, char **argv)
{
    Err err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: make_samples FOLDER\n");
        return CODE_USAGE;
    }
    if (!make_blobs(argv[1], &err) || !make_nuclei(argv[1], &err) || !make_sky(argv[1], &err) ||
        !make_volume(argv[1], &err) || !make_timelapse(argv[1], &err)) {
        fprintf(stderr, "make_samples: %s\n", err.text);
    }
    return err.code;
}
