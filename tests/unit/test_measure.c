/*
 * Measures: the reference against tables that scikit-image made (tests/golden/make_measures.py),
 * and the device primitive against the reference.
 *
 * PIPEC_TEST_SMALL=1 leaves out the larger images, for slow checkers of kernels (oclgrind).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/exact.h"
#include "reference/hull.h"
#include "base/measures.h"
#include "reference/ref.h"
#include "runtime/primitives/prim.h"
#include "tests/support/on_device.h"
#include "tests/support/turn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scenes, as in make_measures.py ---------------------------------------------------- */

typedef struct Scene {
    RefShape shape;
    uint32_t *labels;
    float *images[3];
    Elem types[3]; /* as which pipelines have them; ELEM_NONE: computed */
    uint32_t count;
} Scene;

enum { BOX, DISK, LINE };

static const int PLANE[][7] = {
    {BOX, 1, 2, 3, 9, 6},    {DISK, 2, 22, 12, 64, 0}, {DISK, 3, 34, 12, 36, 0},  {DISK, 4, 52, 14, 100, 30},
    {BOX, 5, 51, 13, 3, 2},  {BOX, 6, 0, 20, 12, 3},   {BOX, 6, 0, 23, 3, 11},    {BOX, 7, 5, 30, 1, 1},
    {BOX, 8, 20, 30, 17, 1}, {BOX, 9, 40, 28, 1, 14},  {LINE, 10, 45, 30, 11, 0}, {DISK, 11, 69, 47, 130, 0},
    {BOX, 13, 10, 40, 8, 8}, {BOX, 0, 11, 41, 2, 5},   {BOX, 0, 15, 42, 1, 3},    {DISK, 14, 30, 40, 20, 0},
    {BOX, 14, 20, 45, 3, 2},
};

static const int SPACE[][8] = {
    {DISK, 1, 7, 7, 6, 30, 0},    {DISK, 2, 17, 8, 7, 40, 12},  {BOX, 3, 1, 15, 1, 6, 4, 5},
    {BOX, 0, 3, 16, 0, 2, 2, 9},  {BOX, 4, 12, 17, 2, 3, 2, 2}, {BOX, 4, 12, 19, 2, 2, 3, 6},
    {BOX, 6, 20, 18, 0, 4, 4, 4},
};

static uint32_t plane_label(int x, int y)
{
    int label = 0;
    for (size_t i = 0; i < sizeof PLANE / sizeof *PLANE; i++) {
        const int *s = PLANE[i];
        int dx = x - s[2], dy = y - s[3], r = dx * dx + dy * dy;
        bool in = s[0] == BOX    ? dx >= 0 && dx < s[4] && dy >= 0 && dy < s[5]
                  : s[0] == DISK ? r <= s[4] && r >= s[5]
                                 : dx == dy && dx >= 0 && dx < s[4];
        label = in ? s[1] : label;
    }
    return (uint32_t)label;
}

static uint32_t mosaic_label(int x, int y)
{
    int label = 1 + ((x / 5) * 3 + (y / 4) * 5) % 6;
    return (uint32_t)((x * x * 7 + y * 13 + x * y) % 11 < 3 ? 0 : label);
}

static uint32_t space_label(int x, int y, int z)
{
    int label = 0;
    for (size_t i = 0; i < sizeof SPACE / sizeof *SPACE; i++) {
        const int *s = SPACE[i];
        int dx = x - s[2], dy = y - s[3], dz = z - s[4], r = dx * dx + dy * dy + dz * dz;
        bool in =
            s[0] == BOX ? dx >= 0 && dx < s[5] && dy >= 0 && dy < s[6] && dz >= 0 && dz < s[7] : r <= s[5] && r >= s[6];
        label = in ? s[1] : label;
    }
    return (uint32_t)label;
}

static Scene new_scene(int w, int h, int d)
{
    Scene s = {.shape = {w, h, d, 1}};
    size_t n = ref_pixels(s.shape);
    s.labels = calloc(n, sizeof *s.labels);
    assert_non_null(s.labels);
    for (int k = 0; k < 3; k++) {
        s.images[k] = calloc(n, sizeof *s.images[k]);
        assert_non_null(s.images[k]);
    }
    return s;
}

static void free_scene(Scene *s)
{
    free(s->labels);
    for (int k = 0; k < 3; k++) {
        free(s->images[k]);
    }
}

static Scene paint(const char *name)
{
    Scene s = name[0] == 'p' ? new_scene(74, 52, 1) : name[0] == 'm' ? new_scene(40, 31, 1) : new_scene(25, 23, 14);
    size_t i = 0;
    for (int z = 0; z < s.shape.d; z++) {
        for (int y = 0; y < s.shape.h; y++) {
            for (int x = 0; x < s.shape.w; x++, i++) {
                s.labels[i] = name[0] == 'p'   ? plane_label(x, y)
                              : name[0] == 'm' ? mosaic_label(x, y)
                                               : space_label(x, y, z);
                s.count = s.labels[i] > s.count ? s.labels[i] : s.count;
                s.images[0][i] = (float)((x * 37 + y * 59 + z * 17) % 256);
                s.images[1][i] = (float)((x * x * 3 + y * 5 + z * 7) % 1000) * 0.25f - 120;
                s.images[2][i] = 1000000 + (float)((x * 31 + y * 17 + z * 3) % 101) / 8;
            }
        }
    }
    return s;
}

/* ---- the reference against scikit-image ------------------------------------------------ */

/* What scikit-image's own rounding may do to a column, beyond 1e-9 of the value. */
static double noise(const Measure *m, double count, double weight, int order)
{
    double size = pow(30, order);
    switch (m->id) {
    case MEASURE_ID_AXIS_MINOR: /* the root of what should be 0 */
    case MEASURE_ID_ECCENTRICITY:
        return 1e-6;
    case MEASURE_ID_MOMENTS_CENTRAL:
        return 1e-13 * count * size;
    case MEASURE_ID_MOMENTS_WEIGHTED_CENTRAL:
    case MEASURE_ID_MOMENTS_WEIGHTED:
        return 1e-13 * count * weight * size;
    case MEASURE_ID_CENTROID_WEIGHTED:
    case MEASURE_ID_CENTROID_WEIGHTED_LOCAL:
        return 1e-11;
    case MEASURE_ID_MOMENTS_NORMALIZED:
    case MEASURE_ID_INERTIA:
    case MEASURE_ID_INERTIA_EIGVALS:
        return 1e-12;
    case MEASURE_ID_MOMENTS_HU:
        return 1e-13;
    case MEASURE_ID_MOMENTS_WEIGHTED_NORMALIZED:
    case MEASURE_ID_MOMENTS_WEIGHTED_HU:
        return 1e-14;
    default:
        return 0;
    }
}

/* The sum of the digits in "moments-1-2". */
static int order_of(const char *header)
{
    int order = 0;
    for (const char *p = strchr(header, '-'); p != NULL; p = strchr(p + 1, '-')) {
        order += p[1] - '0';
    }
    return order;
}

static void check_table(FILE *file, const char *name, int n_rows_max)
{
    static char columns[2000], header[8000], line[20000];
    Scene s = paint(name);
    int k = 0;
    (void)sscanf(name, "%*s %d", &k);
    assert_non_null(fgets(columns, sizeof columns, file));
    assert_non_null(fgets(header, sizeof header, file));
    columns[strcspn(columns, "\n")] = header[strcspn(header, "\n")] = '\0';

    MeasureList list;
    Err err = {0};
    assert_true(measure_parse(columns, s.shape.d > 1 ? 3 : 2, &list, &err));
    size_t stride = (size_t)s.count + 1;
    double *out = calloc(stride * (size_t)list.columns, sizeof *out);
    const float *image = s.images[k];
    int64_t rows = 0;
    const double spacing[3] = {1, 1, 1};
    int n = ref_measure(s.labels, &image, 1, s.shape, s.count, columns, spacing, out, &rows);
    assert_int_equal(n, list.columns);
    double weight = k == 2 ? 1e6 : 100;
    bool weighted = strncmp(columns, "label,mean", 10) == 0;
    int64_t row = 0;
    for (; row < rows; row++) {
        assert_non_null(fgets(line, sizeof line, file));
        const char *at = line, *title = header;
        int column = 0;
        for (int i = 0; i < list.n; i++) {
            const MeasureItem *item = &list.at[i];
            for (int c = 0; c < measure_columns(item->measure, list.dims); c++, column++) {
                char *end, expected[64];
                double want = strtod(at, &end), got = out[(size_t)column * stride + (size_t)row];
                measure_header(item->measure, list.dims, item->header, c, expected, sizeof expected);
                size_t length = strcspn(title, ",");
                if (strlen(expected) != length || memcmp(expected, title, length) != 0) {
                    fail_msg("column %d is %s, not %.*s", column, expected, (int)length, title);
                }
                double slack = noise(item->measure, 300, weighted ? weight : 1, order_of(expected));
                if (item->measure->id == MEASURE_ID_ORIENTATION &&
                    fabs(fabs(want - got) - 3.14159265358979 / 2) < 1e-9) {
                    slack = 2; /* a symmetric object has two main axes */
                }
                bool near = fabs(want - got) <= 1e-9 * fabs(want) + slack;
                if (!near && !(isnan(want) && isnan(got))) {
                    fail_msg("%s: label %g: %s: %.17g instead of %.17g", name, out[row], expected, got, want);
                }
                at = end + 1;
                title += length + 1;
            }
        }
    }
    assert_true(row <= n_rows_max);
    free(out);
    free_scene(&s);
}

static void reference_equals_skimage(void **state)
{
    (void)state;
    FILE *file = fopen(TEST_ROOT "/tests/golden/measures.txt", "r");
    assert_non_null(file);
    static char line[20000];
    int tables = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char name[40];
        assert_int_equal(sscanf(line, "scene %39[^\n]", name), 1);
        check_table(file, name, 14);
        tables++;
    }
    assert_int_equal(tables, 12);
    (void)fclose(file);
}

/* ---- the table of measures ------------------------------------------------------------- */

static void names_are_unique(void **state)
{
    (void)state;
    for (int i = 0; i < MEASURE_IDS; i++) {
        char all[400];
        (void)snprintf(all, sizeof all, "%s %s", MEASURES[i].name, MEASURES[i].aliases);
        for (char *name = strtok(all, " "); name != NULL; name = strtok(NULL, " ")) {
            assert_ptr_equal(measure_find(name, strlen(name)), &MEASURES[i]);
        }
    }
    assert_null(measure_find("area_", 5));
    assert_null(measure_find("", 0));
}

static void columns_are_parsed(void **state)
{
    (void)state;
    MeasureList list;
    Err err = {0};
    assert_true(measure_parse("label,1:mean,0:mean=green,centroid", 2, &list, &err));
    assert_int_equal(list.n, 4);
    assert_int_equal(list.columns, 5);
    assert_int_equal(list.images, 2);
    assert_int_equal(list.at[1].image, 1);
    assert_string_equal(list.at[1].header, "mean");
    assert_string_equal(list.at[2].header, "green");
    assert_true(measure_parse("3d,centroid,moments", 2, &list, &err));
    assert_int_equal(list.columns, 67);
    /* The image's number comes last, as in scikit-image. */
    char names[4][64];
    bool integer[4];
    assert_true(measure_parse("label,1:mean=mean#-1,1:centroid_weighted=centroid_weighted#-1", 2, &list, &err));
    measure_names(&list, (const double[3]){1, 1, 1}, names, integer);
    assert_string_equal(names[1], "mean-1");
    assert_string_equal(names[2], "centroid_weighted-0-1");
    assert_string_equal(names[3], "centroid_weighted-1-1");
    assert_false(measure_parse("label,wonder", 2, &list, &err));
    assert_string_equal(err.text, "'wonder' is nothing that can be measured");
    err_clear(&err);
    assert_false(measure_parse("label,perimeter", 3, &list, &err));
}

static void exact_sums_are_exact(void **state)
{
    (void)state;
    Exact sum;
    double out[2];
    exact_clear(&sum);
    exact_add_double(&sum, 1e30);
    exact_add_double(&sum, -3.5);
    exact_add_double(&sum, -1e30);
    exact_add(&sum, -5, -1);
    exact_round(&sum, out);
    assert_true(out[0] == -6 && out[1] == 0);
    exact_add(&sum, INT64_MAX, 0);
    exact_round(&sum, out);
    assert_true(out[0] == 9223372036854775808.0 && out[1] == -7);
    exact_add(&sum, -INT64_MAX, 0);
    exact_add_double(&sum, ldexp(1, -100));
    exact_round(&sum, out);
    assert_true(out[0] == -6 && out[1] == ldexp(1, -100));
}

/* The plane through three points if all others lie on one side of it. */
static bool is_face(const HullPoint *p, int n, const int corner[3], HullPlane *plane)
{
    int64_t u[3], v[3], above = 0, below = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = p[corner[1]].at[k] - p[corner[0]].at[k];
        v[k] = p[corner[2]].at[k] - p[corner[0]].at[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        plane->normal[k] = u[i] * v[j] - u[j] * v[i];
    }
    plane->offset = 0;
    for (int k = 0; k < 3; k++) {
        plane->offset += plane->normal[k] * p[corner[0]].at[k];
    }
    for (int i = 0; i < n; i++) {
        int64_t d = -plane->offset;
        for (int k = 0; k < 3; k++) {
            d += plane->normal[k] * p[i].at[k];
        }
        above += d > 0;
        below += d < 0;
    }
    return above == 0 && below > 0;
}

static bool has_plane(const HullPlane *planes, int n, const HullPlane *wanted)
{
    for (int i = 0; i < n; i++) {
        int64_t a = 0, b = 0; /* the one is a multiple of the other */
        for (int k = 0; k < 3; k++) {
            a += llabs(planes[i].normal[k]);
            b += llabs(wanted->normal[k]);
        }
        bool same = planes[i].offset * b == wanted->offset * a;
        for (int k = 0; k < 3; k++) {
            same = same && planes[i].normal[k] * b == wanted->normal[k] * a;
        }
        if (same) {
            return true;
        }
    }
    return false;
}

/* Every face that trying all triples finds is there, and no plane cuts a point off. */
static void hulls_have_all_faces(void **state)
{
    (void)state;
    enum { POINTS = 24 };
    for (int round = 0; round < 200; round++) {
        HullPoint p[POINTS];
        HullPlane *planes = NULL, face;
        int n = 4 + (int)below(POINTS - 3), n_planes = 0;
        uint32_t size = round % 3 == 0 ? 3 : round % 3 == 1 ? 7 : 200;
        for (int i = 0; i < n; i++) {
            p[i] = (HullPoint){{below(size), below(size), round < 5 ? 1 : below(size)}};
        }
        assert_true(hull_planes(p, (size_t)n, &planes, &n_planes));
        for (int i = 0; i < n_planes; i++) {
            for (int j = 0; j < n; j++) {
                int64_t d = 0;
                for (int k = 0; k < 3; k++) {
                    d += planes[i].normal[k] * p[j].at[k];
                }
                assert_true(d <= planes[i].offset);
            }
        }
        for (int i = 0; i < n * n * n; i++) {
            const int corner[3] = {i % n, i / n % n, i / n / n};
            if (is_face(p, n, corner, &face)) {
                assert_true(has_plane(planes, n_planes, &face));
            }
        }
        free(planes);
    }
}

/* ---- the device against the reference -------------------------------------------------- */

extern const Primitive prim_measure, prim_column, prim_hull;

/* How often the last run of a primitive waited for the device, and what it launched. */
static uint64_t waited, launched;

static const char READER[] =
    "#define READ_PARAMS int w, int h, int pitch, global const uint *table, global const "
    "float *sum, global const float *current, global const float *x0\n"
    "#define READ_ARGS w, h, pitch, table, sum, current, x0\n"
    "#define READ_AT ((long)plane * h + y) * pitch + x\n"
    "static inline uint read_0(READ_PARAMS, int x, int y, int plane)\n{ return table[READ_AT]; }\n"
    "static inline float read_1(READ_PARAMS, int x, int y, int plane)\n{ return sum[READ_AT]; }\n"
    "static inline float read_2(READ_PARAMS, int x, int y, int plane)\n"
    "{ return current[READ_AT]; }\n"
    "static inline float read_3(READ_PARAMS, int x, int y, int plane)\n{ return x0[READ_AT]; }\n";

/* Rows go to a pitch of 16; what lies between holds anything. */
static DevMem *upload(RefShape s, const void *pixels)
{
    Err err = {0};
    size_t width = (size_t)s.w * 4, pitch = (width + 63) / 64 * 64;
    size_t rows = (size_t)s.h * (size_t)s.d;
    DevMem *mem = allocate(pitch * rows);
    char *padded = malloc(pitch * rows);
    assert_non_null(padded);
    memset(padded, 1, pitch * rows);
    for (size_t row = 0; row < rows; row++) {
        memcpy(padded + row * pitch, (const char *)pixels + row * width, width);
    }
    must(dev_write(device, mem, 0, padded, pitch * rows, &err), &err);
    free(padded);
    return mem;
}

/* A table, or `result`: a vector, or a mask. */
static void run_primitive(const Primitive *primitive, const Scene *s, const char *columns, const double spacing[3],
                          PrimTable *table, PrimImage result)
{
    Err err = {0};
    DevArg args[7] = {dev_int(s->shape.w), dev_int(s->shape.h), dev_int((s->shape.w + 15) / 16 * 16)};
    args[3] = dev_mem(upload(s->shape, s->labels));
    for (int k = 0; k < 3; k++) {
        args[4 + k] = dev_mem(upload(s->shape, s->images[k]));
    }
    double slots[2] = {-1, (double)s->count};
    DevMem *values = allocate(sizeof slots);
    must(dev_write(device, values, 0, slots, sizeof slots, &err), &err);
    PrimCall call = {.dev = device,
                     .name = "table",
                     .reader = READER,
                     .reader_args = args,
                     .n_reader_args = 7,
                     .w = s->shape.w,
                     .h = s->shape.h,
                     .d = s->shape.d,
                     .planes = s->shape.d,
                     .pitch = args[2].i,
                     .arg = {spacing[0], spacing[1], spacing[2]},
                     .text = columns,
                     .values = values,
                     .value = -1,
                     .of_value = 1,
                     .pixels = {ELEM_U32, s->types[0], s->types[1], s->types[2]},
                     .table = table,
                     .in = {{.mem = args[3].mem,
                             .elem = ELEM_U32,
                             .w = s->shape.w,
                             .h = s->shape.h,
                             .d = s->shape.d,
                             .planes = s->shape.d,
                             .pitch = args[2].i}},
                     .out = {result},
                     .err = &err};
    call.scratch_size = primitive->scratch_bytes(&call);
    assert_true(call.scratch_size > 0);
    call.scratch = allocate(call.scratch_size);
    waited = dev_waits(device);
    launched = dev_launches(device);
    must(primitive->run(&call), &err);
    waited = dev_waits(device) - waited;
    launched = dev_launches(device) - launched;
    dev_free(device, call.scratch);
    dev_free(device, values);
    for (int k = 3; k < 7; k++) {
        dev_free(device, args[k].mem);
    }
}

static void run_measure(const Scene *s, const char *columns, const double spacing[3], PrimTable *table)
{
    run_primitive(&prim_measure, s, columns, spacing, table, (PrimImage){0});
}

static bool same_bits(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Weighted moments are summed in another order. */
static double tolerance(const char *name)
{
    return strstr(name, "weighted") != NULL && strstr(name, "moments") != NULL ? 1e-12 : 0;
}

static void check_device(const Scene *s, const char *columns, const double spacing[3])
{
    MeasureList list;
    Err err = {0};
    PrimTable table = {0};
    must(measure_parse(columns, s->shape.d > 1 ? 3 : 2, &list, &err), &err);
    run_measure(s, columns, spacing, &table);
    size_t stride = (size_t)s->count + 1;
    double *out = calloc(stride * (size_t)list.columns + 1, sizeof *out);
    assert_non_null(out);
    int64_t rows = 0;
    const float *images[3] = {s->images[0], s->images[1], s->images[2]};
    assert_int_equal(ref_measure(s->labels, images, 3, s->shape, s->count, columns, spacing, out, &rows),
                     table.columns);
    assert_int_equal(rows, table.rows);
    for (int c = 0; c < table.columns; c++) {
        double largest = 0;
        for (int64_t row = 0; row < rows; row++) {
            double v = fabs(out[(size_t)c * stride + (size_t)row]);
            largest = v > largest ? v : largest;
        }
        for (int64_t row = 0; row < rows; row++) {
            double want = out[(size_t)c * stride + (size_t)row], got = table.at[c * rows + row];
            double slack = tolerance(table.names[c]) * largest;
            if (!same_bits(want, got) && !(slack > 0 && fabs(want - got) <= slack)) {
                fail_msg("%s of label %g: %.17g instead of %.17g", table.names[c], table.at[table.columns * rows + row],
                         got, want);
            }
        }
    }
    free(out);
    prim_table_free(&table);
}

static const double UNIT[3] = {1, 1, 1};

static const char BASICS[] = "label,area,num_pixels,bbox,centroid,area_bbox,extent,centroid_local,"
                             "equivalent_diameter";
static const char INTENSITIES[] =
    "label,0:mean,1:mean,2:mean,0:min,1:max,2:std,1:std,0:std,0:sum,1:sum,2:center_of_mass,"
    "1:center_of_mass,0:centroid_weighted_local";

static const char HULLS[] = "label,area_convex,solidity,feret_diameter_max";
static const char MOMENTS[] = "label,moments,moments_central,moments_normalized,inertia_tensor,inertia_tensor_eigvals,"
                              "axis_major_length,axis_minor_length";
static const char PLANAR[] = "label,eccentricity,orientation,moments_hu,perimeter,perimeter_crofton";
static const char OTHERS[] = "label,euler_number,area_filled,0:median,1:percentile_90,2:median";
static const char WEIGHTED[] = "label,1:moments_weighted,0:moments_weighted_central,2:moments_weighted_normalized";
/* Kernels differ by these lists, which are taken in turn; the last ones are for planes. */
static const char *const LISTS[] = {BASICS,
                                    INTENSITIES,
                                    OTHERS,
                                    HULLS,
                                    MOMENTS,
                                    WEIGHTED,
                                    PLANAR,
                                    "label,1:moments_weighted_hu",
                                    "3d,label,bbox,centroid,area_convex,euler_number,area_filled"};
enum { IN_VOLUMES = 6, N_LISTS = sizeof LISTS / sizeof *LISTS };

static void device_measures_shapes(void **state)
{
    (void)state;
    static const char *const names[] = {"mosaic", "plane", "space"};
    for (int i = 0; i < (small ? 1 : 3); i++) {
        Scene s = paint(names[i]);
        for (int k = 0; k < N_LISTS; k++) {
            if (turn_has(k) && (k < IN_VOLUMES || s.shape.d == 1)) {
                check_device(&s, LISTS[k], UNIT);
            }
        }
        free_scene(&s);
    }
}

static uint32_t below_24_bits(void)
{
    return below(4096) << 12 | below(4096);
}

/* Labels by cells with ragged borders, some missing; `odd` puts NaN and infinities into images. */
static Scene scatter(int w, int h, int d, int cell, bool odd)
{
    Scene s = new_scene(w, h, d);
    int across = (w + cell - 1) / cell, down = (h + cell - 1) / cell;
    size_t i = 0;
    for (int z = 0; z < d; z++) {
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++, i++) {
                int cx = (x + (int)below(cell > 1 ? 3 : 1)) / cell % across;
                int cy = (y + (int)below(cell > 1 ? 2 : 1)) / cell % down;
                uint32_t label = (uint32_t)((z / cell * down + cy) * across + cx + 1);
                s.labels[i] = below(8) == 0 || label % 7 == 3 ? 0 : label;
                s.count = s.labels[i] > s.count ? s.labels[i] : s.count;
                s.images[0][i] = (float)below(65536);
                float a = (float)below_24_bits() - (1 << 23), b = (float)below_24_bits() - (1 << 22);
                s.images[1][i] = a * (float)ldexp(1, (int)below(20));
                s.images[2][i] = b * (float)ldexp(1, (int)below(39) - 60);
                if (odd && below(40) == 0) {
                    static const float ODD[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f};
                    s.images[below(3)][i] = ODD[below(5)];
                }
            }
        }
    }
    return s;
}

/* Hulls of so many rows are the work of a whole group: a lens, a wedge, a ragged bar, and rows of which many are empty. */
static void tall_objects_have_hulls(void **state)
{
    (void)state;
    turn_or_skip(0);
    enum { W = 120, H = 700 };
    Scene s = new_scene(W, H, 1);
    s.count = 4;
    for (int y = 0; y < H; y++) {
        const int bulge = y * (H - y) / 9000, ragged = (int)below(6);
        for (int x = 0; x < W; x++) {
            const bool lens = x >= 16 - bulge / 4 && x<16 + bulge / 4, wedge = y> 20 && x > 35 && x < 40 + y / 30;
            const bool bar = y >= 100 && y < 356 && x > 70 && x<80 + ragged, rare = x> 90 && below(900) == 0;
            s.labels[y * W + x] = lens ? 1 : wedge ? 2 : bar ? 3 : rare ? 4 : 0;
        }
    }
    check_device(&s, HULLS, UNIT);
    free_scene(&s);
}

static const double SPACINGS[][3] = {{1, 1, 1}, {0.5, 0.5, 2}, {0.3, 0.7, 1.1}};

static uint32_t label_at(const Scene *s, int x, int y)
{
    bool inside = x >= 0 && x < s->shape.w && y >= 0 && y < s->shape.h;
    return inside ? s->labels[(size_t)y * (size_t)s->shape.w + (size_t)x] : 0;
}

/* Crofton's length, line by line: how often the lines of a direction enter the object, times their distance, times the
 * angle between the directions half way to the next ones. */
static double crofton(const Scene *s, uint32_t label, double w, double h)
{
    static const int STEP[4][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}};
    double way[6], length = 0;
    for (int k = 0; k < 6; k++) { /* one more on either side */
        const int *step = STEP[(k + 3) % 4];
        way[k] = atan2(step[1] * h, step[0] * w) + (k == 0 ? -1 : k == 5 ? 1 : 0) * atan2(0, -1);
    }
    for (int k = 0; k < 4; k++) {
        int entries = 0;
        for (int y = 0; y < s->shape.h; y++) {
            for (int x = 0; x < s->shape.w; x++) {
                entries += label_at(s, x, y) == label && label_at(s, x - STEP[k][0], y - STEP[k][1]) != label;
            }
        }
        length += entries * w * h / hypot(STEP[k][0] * w, STEP[k][1] * h) * (way[k + 2] - way[k]) / 2;
    }
    return length;
}

static void borders_are_measured_with_any_pixels(void **state)
{
    (void)state;
    turn_or_skip(1);
    Scene s = paint("plane");
    for (int i = 0; i < 3; i++) {
        double *out = calloc(2 * ((size_t)s.count + 1), sizeof *out);
        int64_t rows = 0;
        assert_int_equal(ref_measure(s.labels, NULL, 0, s.shape, s.count, "label,perimeter_crofton", SPACINGS[i], out,
                                     &rows),
                         2);
        assert_true(rows > 5);
        for (int64_t row = 0; row < rows; row++) {
            double want = crofton(&s, (uint32_t)out[row], SPACINGS[i][0], SPACINGS[i][1]);
            assert_true(fabs(out[s.count + 1 + row] - want) < 1e-12 * want);
        }
        free(out);
    }
    free_scene(&s);
}

static void device_measures_anything(void **state)
{
    (void)state;
    static const int SHAPES[][4] = {{131, 97, 1, 9}, {64, 48, 1, 1}, {1, 70, 1, 5},    {300, 1, 1, 20},
                                    {37, 29, 11, 8}, {20, 15, 9, 1}, {513, 40, 1, 64}, {5, 4, 1, 9}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        const int *n = SHAPES[i];
        const double *spacing = SPACINGS[i % 3];
        if (small && n[0] * n[1] * n[2] > 1000) {
            continue;
        }
        Scene s = scatter(n[0], n[1], n[2], n[3], i % 2 == 1);
        for (int k = 0; k < N_LISTS; k++) {
            if (turn_has(k) && (k < IN_VOLUMES || n[2] == 1) && (LISTS[k] != WEIGHTED || i % 2 == 0)) {
                check_device(&s, LISTS[k], spacing);
            }
        }
        free_scene(&s);
    }
}

/* Objects of more than 2^16 pixels have a way of their own to their medians. */
static void device_measures_large_objects(void **state)
{
    (void)state;
    turn_or_skip(2);
    if (small) {
        return;
    }
    Scene s = scatter(700, 400, 1, 360, false);
    check_device(&s, "label,area,0:percentile_97_5,1:median,2:percentile_10", UNIT);
    s.images[1][200 * 700 + 100] = NAN;
    check_device(&s, "label,1:median,1:max", UNIT);
    free_scene(&s);
}

/* Enough rows for several blocks and threads; an object a pixel, and some missing. */
static void device_measures_many_objects(void **state)
{
    (void)state;
    turn_or_skip(3);
    if (small) {
        return;
    }
    Scene s = scatter(130, 100, 1, 1, false);
    assert_true(s.count > 3 * 4096);
    check_device(&s, BASICS, UNIT);
    free_scene(&s);
}

/* Values further apart than sums have bits: what lies below is cut off, and the evaluator says the same. */
static void device_measures_wide_values(void **state)
{
    (void)state;
    turn_or_skip(5);
    Scene s = scatter(60, 40, 1, 9, false);
    for (size_t i = 0; i < 60 * 40; i++) {
        const float v = (float)below_24_bits() - (1 << 22);
        s.images[1][i] = ldexpf(v, (int)below(50) - 30);                                /* squares are cut off */
        s.images[2][i] = ldexpf(v, (int)(s.labels[i] % 5) * 30 - 100 + (int)below(40)); /* sums, too */
    }
    check_device(&s, INTENSITIES, UNIT);
    free_scene(&s);
}

static void device_measures_nothing(void **state)
{
    (void)state;
    turn_or_skip(4);
    Scene s = new_scene(20, 10, 1);
    check_device(&s, BASICS, UNIT);
    check_device(&s, INTENSITIES, UNIT);
    s.count = 3;
    check_device(&s, HULLS, UNIT);
    check_device(&s, INTENSITIES, UNIT);
    free_scene(&s);
}

static void columns_become_vectors(void **state)
{
    (void)state;
    turn_or_skip(6);
    Scene s = paint("plane");
    Err err = {0};
    PrimTable table = {0};
    run_measure(&s, "area,0:mean", UNIT, &table);
    DevMem *vector = allocate(15 * sizeof(float));
    must(dev_fill(device, vector, 0, 15 * sizeof(float), UINT32_MAX, &err), &err);
    run_primitive(&prim_column, &s, "label,0:mean", UNIT, NULL,
                  (PrimImage){.mem = vector, .elem = ELEM_F32, .length = 15});
    float got[15];
    must(dev_read(device, vector, 0, got, sizeof got, &err), &err);
    assert_true(got[0] == 0 && got[12] == 0);
    assert_true(got[7] == 163); /* (5, 30): 5 * 37 + 30 * 59 modulo 256 */
    assert_int_equal(table.rows, 13);
    assert_string_equal(table.names[1], "mean");
    assert_true(table.integer[0] && !table.integer[1]);
    dev_free(device, vector);
    prim_table_free(&table);
    free_scene(&s);
}

/* Once for the number of labels and what pixel values are like, and once for the table. */
static void device_is_waited_for_twice(void **state)
{
    (void)state;
    turn_or_skip(7);
    Scene s = paint("plane");
    check_device(&s, "label,area,0:mean,solidity", UNIT);
    assert_int_equal(waited, 2);
    check_device(&s, "label,area,area_filled,0:median,moments_hu,perimeter", UNIT);
    assert_int_equal(waited, 2);
    free_scene(&s);
}

/* Whole numbers over all of their type. */
static void fill_with(Scene *s, int image, Elem type)
{
    static const int64_t STEP = 40503; /* odd: goes through all of 16 bits */
    int64_t least = (int64_t)elem_min(type), most = (int64_t)elem_max(type);
    for (size_t i = 0; i < ref_pixels(s->shape); i++) {
        s->images[image][i] = (float)(least + (int64_t)i * STEP % (most - least + 1));
    }
    s->types[image] = type;
}

/* Whole numbers of 16 bits need no kernel that looks at them, if all images are of them. */
static void types_say_how_sums_are(void **state)
{
    (void)state;
    turn_or_skip(8);
    static const char columns[] = "label,0:mean,0:std,0:centroid_weighted,1:mean,1:std,1:max,2:min";
    static const Elem types[] = {ELEM_BOOL, ELEM_U8, ELEM_U16, ELEM_I16};
    Scene s = paint("plane");
    check_device(&s, columns, UNIT);
    uint64_t looking = launched;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        fill_with(&s, 0, types[i]);
        fill_with(&s, 1, ELEM_I16);
        check_device(&s, columns, UNIT);
        assert_true(launched < looking);
        fill_with(&s, 1, ELEM_U32);
        check_device(&s, columns, UNIT);
        assert_int_equal(launched, looking);
    }
    free_scene(&s);
}

/* Labels thrown over bands of columns of the image: each has a box almost as large as its band. */
static Scene strew(int w, int h, int d, int bands, uint32_t labels)
{
    Scene s = new_scene(w, h, d);
    s.count = labels;
    const uint32_t each = labels / (uint32_t)bands;
    for (size_t i = 0; i < (size_t)w * (size_t)h * (size_t)d; i++) {
        const uint32_t band = (uint32_t)(i % (size_t)w * (size_t)bands / (size_t)w);
        s.labels[i] = below(3) == 0 ? band * each + below(each) + 1 : 0;
        s.images[0][i] = (float)below(65536);
    }
    return s;
}

/* Boxes of all objects together have more rows than there is room for: they are measured in shares. */
static void device_measures_in_shares(void **state)
{
    (void)state;
    turn_or_skip(9);
    Scene s = small ? strew(12, 90, 1, 1, 60) : strew(160, 150, 1, 1, 60);
    check_device(&s, HULLS, UNIT);
    assert_true(waited > 2);
    check_device(&s, OTHERS, UNIT);
    assert_true(waited > 2);
    check_device(&s, "label,moments,area_filled,0:mean", UNIT);
    assert_true(waited > 2);
    free_scene(&s);
    s = strew(20, 9, 12, 1, small ? 20 : 90);
    check_device(&s, HULLS, UNIT);
    assert_true(small || waited > 2);
    free_scene(&s);
}

/* More than comes over at once, and in shares, too. */
static void device_measures_many_in_shares(void **state)
{
    (void)state;
    turn_or_skip(10);
    if (small) {
        return;
    }
    Scene s = strew(700, 420, 1, 180, 18000);
    check_device(&s, "label,area,solidity,moments,moments_central", UNIT);
    assert_true(waited > 20);
    free_scene(&s);
}

/* Every other column is an object: vectors and masks of them, which nobody waits for, are in shares as well. */
static void results_on_the_device_are_in_shares(void **state)
{
    (void)state;
    turn_or_skip(11);
    enum { W = 120, H = 90, PITCH = (W + 15) / 16 * 16, COUNT = W / 2 };
    Scene s = new_scene(W, H, 1);
    Err err = {0};
    static uint8_t mask[H * PITCH];
    float vector[COUNT + 1];
    for (int i = 0; i < W * H; i++) {
        s.labels[i] = i % W % 2 == 0 ? (uint32_t)(i % W / 2 + 1) : 0;
    }
    s.count = COUNT;
    DevMem *mem = allocate(sizeof mask);
    run_primitive(&prim_column, &s, "label,area_convex", UNIT, NULL,
                  (PrimImage){.mem = mem, .elem = ELEM_F32, .length = COUNT + 1});
    assert_true(waited > 2);
    must(dev_read(device, mem, 0, vector, sizeof vector, &err), &err);
    for (int label = 1; label <= COUNT; label++) {
        assert_true(vector[label] == H);
    }
    const PrimImage out =
        {.mem = mem, .elem = ELEM_BOOL, .w = W, .h = H, .d = 1, .planes = 1, .pitch = PITCH, .length = sizeof mask};
    run_primitive(&prim_hull, &s, NULL, (double[3]){0, 0, 0}, NULL, out);
    assert_true(waited > 2);
    must(dev_read(device, mem, 0, mask, sizeof mask, &err), &err);
    for (int i = 0; i < W * H; i++) {
        assert_int_equal(mask[i / W * PITCH + i % W], i % W % 2 == 0);
    }
    dev_free(device, mem);
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(columns_are_parsed),
        cmocka_unit_test(exact_sums_are_exact),
        cmocka_unit_test(hulls_have_all_faces),
        cmocka_unit_test(reference_equals_skimage),
        cmocka_unit_test(device_measures_shapes),
        cmocka_unit_test(tall_objects_have_hulls),
        cmocka_unit_test(borders_are_measured_with_any_pixels),
        cmocka_unit_test(device_measures_anything),
        cmocka_unit_test(device_measures_large_objects),
        cmocka_unit_test(device_measures_many_objects),
        cmocka_unit_test(device_measures_nothing),
        cmocka_unit_test(device_measures_wide_values),
        cmocka_unit_test(columns_become_vectors),
        cmocka_unit_test(device_is_waited_for_twice),
        cmocka_unit_test(types_say_how_sums_are),
        cmocka_unit_test(device_measures_in_shares),
        cmocka_unit_test(device_measures_many_in_shares),
        cmocka_unit_test(results_on_the_device_are_in_shares),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device) +
           cmocka_run_group_tests_name("without atomics of 64 bits", tests, open_narrow_device, close_device);
}
