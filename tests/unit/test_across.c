/*
 * Volumes that are cut across their planes: parts of rows of all planes.  Whatever the parts are, the bits are
 * the evaluator's; a limit in which the planes of a halo have no room is kept, to the byte.
 */
#include "pipelines.h"
#include "scene.h"
#include "turn.h"

#include "codegen/codegen.h"
#include "runtime/exec/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Scene {
    const char *name, *text;
    int extent[4];
    Elem elem;
    int kind;
    bool mixed; /* something in it has planes only */
} Scene;

#define VOLUME "input image[z, y, x]\n"
#define CHANNELS "input image[z, y, x, c]\n"

static const Scene SCENES[] = {
    {"borders",
     VOLUME "output a = gaussian(image, 1)\noutput b = gaussian(image, 1, border = reflect)\n"
            "output c = gaussian(image, 1, border = mirror)\noutput d = gaussian(image, 1, border = wrap)\n"
            "output e = gaussian(image, 1, border = constant(7))\n",
     {19, 23, 9, 1},
     ELEM_U16,
     BOTH_NOISE,
     false},
    {"one axis each",
     VOLUME "output a = image[dz = 2, border = wrap] - image[dy = -3, border = reflect]\n"
            "output b = mean(image[dz = k] for k in -2 .. 1)\noutput c = image[dy = 1, dz = -1]\n"
            "output d = max(image[dy = k] for k in -1 .. 4)\noutput e = image[dy = -20, border = mirror]\n",
     {19, 23, 9, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"windows",
     VOLUME "output a = median_filter(image, 1)\noutput b = erode(dilate(image, 2), 2)\noutput c = sobel(image)\n"
            "output d = tophat(image, 2)\noutput e = max_project(gaussian(image, 1), z) - min_project(image, z)\n",
     {21, 18, 8, 1},
     ELEM_U8,
     BOTH_SMOOTH,
     false},
    {"flat", VOLUME "output a = gaussian(image, 2) - mean(image)\n", {21, 40, 1, 1}, ELEM_U8, BOTH_NOISE, false},
    {"values",
     VOLUME "b = gaussian(image, 1)\noutput a = sum(b)\noutput c = std(b)\noutput d = min(image)\n"
            "output e = b - mean(b)\noutput f = median(b)\noutput g = percentile(image, 30)\n"
            "output h = image > otsu(image)\noutput s = kappa_sigma(image, 2).std\n",
     {300, 150, 7, 1},
     ELEM_F32,
     BOTH_SPECIAL,
     false},
    {"rounds",
     VOLUME "estimate = image\n"
            "repeat 3 { estimate = estimate * gaussian(image / max(gaussian(estimate, 1), 1e-3), 1) }\n"
            "output estimate\n",
     {20, 30, 10, 1},
     ELEM_U16,
     BOTH_SMOOTH,
     false},
    {"labels",
     VOLUME "m = gaussian(image, 0.7) > 128\noutput a = label(m)\noutput b = label(m, connectivity = 6)\n"
            "output c = label(m, connectivity = 18)\noutput f = label(m, connectivity = 4)\n"
            "output d = remove_small_objects(label(image > 160, connectivity = 6), 3)\n"
            "output e = label_equal(image / 64)\n",
     {35, 26, 11, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"labels of channels",
     CHANNELS "output a = label(image > 128, connectivity = 6)\noutput b = gaussian(image, 1)\n"
              "output c = relabel(label(image[c = 1] > 200))\noutput d = label_equal(image / 128)\n",
     {17, 13, 6, 3},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"numbers of labels",
     VOLUME "l = label(image > 190)\noutput a = label_sum(l, image)[l]\noutput b = keep_labels(l, image > 250)\n"
            "output c = label2rgb(l)\noutput d = centroids(l)\noutput n = count(l)\n",
     {33, 20, 9, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"measures",
     VOLUME
     "l = label(gaussian(image, 1.5) > 128)\n"
     "output a = measure(l, image, area, bbox, centroid, mean, min, max, std, sum, euler_number)\n"
     "output b = measure(l, image, solidity, median, percentile_90, moments_central, moments_weighted, area_filled)\n"
     "output c = hull(l)\noutput d = property(l, area)[l]\n",
     {31, 27, 12, 1},
     ELEM_U8,
     BOTH_SMOOTH,
     false},
    {"measures of many",
     VOLUME "l = label(image > 200, connectivity = 6)\n"
            "output a = measure(l, image, area, mean, median, axis_major_length, feret_diameter_max, mass_center_z)\n"
            "output b = measure(label(image < 230), image, area_filled, area_convex, median, centroid_weighted)\n",
     {25, 22, 10, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"distances",
     VOLUME "m = image > 30\noutput a = distance(m)\noutput b = distance(m, spacing = [3, 0.7, 1.3])\n"
            "output c = distance(image > 0, spacing = 2)\noutput d = distance(not (image > 250))\n"
            "output e = gaussian(distance(m), 1) - max(distance(m))\n",
     {23, 90, 37, 1},
     ELEM_U8,
     BOTH_SMOOTH,
     false},
    {"no site",
     VOLUME "output a = distance(image > -1)\noutput b = voronoi(label(image < 0))\n",
     {9, 40, 5, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"nearest labels",
     VOLUME
     "l = label(image > 253)\noutput a = voronoi(l)\noutput b = expand_labels(l, 3)\n"
     "output c = expand_labels(l, 6.5, spacing = [2, 1, 1.5])\n"
     "output d = expand_labels(l, 100, spacing = [0.001, 7, 1])\noutput e = measure(voronoi(l), image, area, mean)\n",
     {31, 80, 13, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"nearest of few",
     VOLUME "output a = voronoi(label(image > 5))\noutput b = distance(not (image > 5))\n",
     {33, 140, 70, 1},
     ELEM_U8,
     BOTH_SPARSE,
     false},
    {"nearest of channels",
     CHANNELS
     "l = label(image > 252)\noutput a = voronoi(l)\noutput b = expand_labels(l, 2.5)\noutput c = distance(image < 251)\n",
     {17, 41, 6, 3},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"planes apart by more than sums tell",
     VOLUME "output a = gaussian(image, 1)\nl = label(image > 200 and ramp(z = 5) == 2)\n"
            "output b = expand_labels(l, 1e10, spacing = [1e9, 1e-9, 1])\n",
     {11, 19, 5, 1},
     ELEM_U8,
     BOTH_NOISE,
     true},
    {"ranks",
     VOLUME
     "output a = median_filter(image, 3)\noutput b = percentile_filter(image, 20, [1, 5, 2], border = reflect)\n"
     "output c = median_filter(image, [9, 2, 1], border = mirror)\n"
     "output d = percentile_filter(image, 70, 3, border = constant(9))\noutput e = sobel(gaussian(image, 3))\n"
     "output f = median_filter(image, [5, 0, 5], border = wrap)\noutput g = median_filter(image[dy = 2] - image, 3)\n",
     {17, 27, 9, 1},
     ELEM_I16,
     BOTH_NOISE,
     false},
    {"ranks of channels",
     CHANNELS
     "output a = median_filter(image, 3)\noutput b = gaussian(image, 1)\noutput c = median_filter(image[c = 1], [2, 1, 3])\n",
     {15, 19, 7, 3},
     ELEM_F32,
     BOTH_SPECIAL,
     false},
    {"touching",
     VOLUME
     "l = label_equal(image / 40)\noutput a = touches(l)\noutput b = touching_pairs(l)\n"
     "output c = neighbour_count(l)\noutput d = neighbour_value(l, property(l, area))\noutput e = image[dy = 3]\n",
     {23, 31, 9, 1},
     ELEM_U8,
     BOTH_SMOOTH,
     false},
    {"touching in channels",
     CHANNELS
     "l = label_equal(image / 128)\noutput a = touches(l)\noutput b = touches(label(image > 100, connectivity = 6))\noutput c = gaussian(image, 2)\n",
     {14, 12, 5, 3},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"touching everywhere",
     VOLUME "output a = touches(label_equal(image))\noutput b = touches(voronoi(label(image > 250)))\n",
     {40, 33, 8, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"reconstruction",
     VOLUME "m = gaussian(image, 0.8)\noutput a = reconstruct(erode(m, 2), m)\n"
            "output b = reconstruct(image + 9, image, method = erosion, connectivity = 1)\n"
            "output c = fill_holes(image > 90)\noutput d = h_maxima(m, 6)\noutput e = hysteresis(m, 130, 150)\n"
            "output f = reconstruct(image - 20, image, connectivity = 2)\n",
     {24, 21, 9, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"reconstruction of channels",
     CHANNELS "output a = reconstruct(erode(image, 1), image)\noutput b = gaussian(number(local_maxima(image)), 1)\n",
     {17, 22, 5, 2},
     ELEM_U16,
     BOTH_SMOOTH,
     false},
    {"reconstruction of what is computed",
     VOLUME "m = gaussian(image, 1)\nr = reconstruct(m - 3, m)\n"
            "output a = reconstruct(erode(r, 1), r) - mean(r)\noutput b = reconstruct(r[dy = 2] - 1, dilate(r, 1))\n",
     {13, 29, 6, 1},
     ELEM_F32,
     BOTH_SPECIAL,
     false},
    {"a corridor through all parts and back",
     VOLUME "x = x_of(image)\ny = y_of(image)\nend = 0 if x % 4 == 1 else height(image) - 1\n"
            "m = 0 if x % 2 == 1 and y != end else 255 - image / 8\n"
            "output a = reconstruct(m if x == 6 and y == 9 else 0, m, connectivity = 1)\n"
            "output b = reconstruct(-m if x == 6 and y == 9 else 0, -m, connectivity = 1, method = erosion)\n",
     {14, 20, 3, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"plateaus",
     VOLUME
     "output a = local_maxima(floor(image / 80))\noutput b = local_maxima(number(image > 128), connectivity = 1)\n"
     "m = gaussian(image, 1)\noutput c = local_maxima(m, connectivity = 2)\noutput g = m[dy = 4] - m[dy = -3]\n"
     "output d = local_minima(floor(image / 60)) and image[dy = 3] > 20\noutput e = label(local_maxima(floor(image / 100)))\n"
     "output f = local_maxima(0 * image)\n",
     {25, 20, 9, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"flat plateaus",
     VOLUME "output a = local_maxima(floor(image / 80))\noutput b = reconstruct(erode(image, 1), image)\n",
     {25, 20, 1, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"basins",
     VOLUME "m = gaussian(image, 1)\nseeds = label(local_maxima(m))\noutput a = watershed(-m, seeds)\n"
            "output b = watershed(image, seeds, image > 60, connectivity = 3)\n"
            "output c = watershed(floor(image / 32), seeds, line = true)\n",
     {23, 21, 8, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"basins of channels",
     CHANNELS "output a = watershed(image, label(image > 220), ties = raster)\n",
     {15, 18, 6, 2},
     ELEM_U8,
     BOTH_NOISE,
     false},
    {"all kinds of parts",
     VOLUME "m = gaussian(image, 1) > 128\nd = distance(m)\noutput a = gaussian(d, 1) - mean(d)\n"
            "output b = label(local_maxima(d))\noutput c = expand_labels(label(m), 2)\n",
     {23, 19, 8, 1},
     ELEM_U8,
     BOTH_NOISE,
     false},
};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

/* Volumes are in parts of rows, everywhere; or, `mixed`, there are parts of planes, too. */
static bool is_across(const ExecPlan *plan, bool mixed)
{
    int planes = 0, rows = 0;
    for (int i = 0; plan->parts != NULL && i < plan->parts->n; i++) {
        planes += plan->parts->segments[i].planes;
        rows += plan->parts->segments[i].kind == PARTS_CUT && !plan->parts->segments[i].planes;
    }
    return rows > 0 && (planes > 0) == mixed;
}

static void run(const Scene *scene, const Subject *s, Exec *exec)
{
    BothResult got = {0};
    Err err = {0};
    char why[400];
    if (!both_execute(exec, s->program, &s->in, &got, &err)) {
        fail_msg("%s, parts of %d, shape %d: %s", scene->name, s->in.part_rows, s->in.shape, err.text);
    }
    if (!both_same(&s->want, &got, why, sizeof why)) {
        fail_msg("%s, parts of %d, shape %d: %s", scene->name, s->in.part_rows, s->in.shape, why);
    }
    if (!is_across(exec_bound(exec), scene->mixed)) {
        fail_msg("%s, parts of %d: they are cut in another way", scene->name, s->in.part_rows);
    }
    both_free(&got);
}

static Device *open_device(uint64_t limit)
{
    Device *dev;
    Err err = {0};
    const char *wanted = getenv("PIPEC_TEST_DEVICE");
    assert_true(dev_open(&(DevOptions){.choice = wanted != NULL ? wanted : "cpu",
                                       .flags = getenv("PIPEC_TEST_FLAGS"),
                                       .memory_limit = limit},
                         &dev, &err));
    return dev;
}

static void parts_of_rows_give_the_same_bits(void **state)
{
    (void)state;
    static const struct {
        int rows, shape;
    } RUNS[] = {{1, SHAPE_BY_DEVICE}, {8, SHAPE_BY_DEVICE}, {1000, SHAPE_BY_DEVICE}, {5, SHAPE_GPU}};
    const char *only = getenv("PIPEC_TEST_CASE");
    Device *dev = open_device(0);
    for (int i = 0; i < SCENE_COUNT; i++) {
        Subject s;
        Exec *exec;
        Err err = {0};
        if (only != NULL ? strcmp(only, SCENES[i].name) != 0 : !turn_has(i)) {
            continue;
        }
        scene_open(&s, SCENES[i].text, SCENES[i].extent, SCENES[i].elem, SCENES[i].kind);
        assert_true(exec_new(s.program, dev, &exec, &err));
        s.in.across = true;
        for (size_t k = 0; k < sizeof RUNS / sizeof *RUNS; k++) {
            s.in.part_rows = RUNS[k].rows;
            s.in.shape = RUNS[k].shape;
            run(&SCENES[i], &s, exec);
        }
        exec_free(exec);
        scene_close(&s);
    }
    dev_close(dev);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static const Scene LIMITED[] = {
    {"blobs",
     VOLUME "b = gaussian(image, 2)\noutput o = b - mean(b)\noutput l = label(b > otsu(b))\n",
     {48, 300, 24, 1},
     ELEM_U16,
     BOTH_SMOOTH,
     false},
    {"neighbourhoods",
     VOLUME
     "m = median_filter(image, [1, 4, 2])\nd = distance(m > mean(image))\noutput o = gaussian(d, 2) - max(d)\n"
     "l = expand_labels(label(d > 4), 5)\noutput l\noutput t = touches(l)\noutput n = measure(l, m, area, mean)\n",
     {48, 300, 24, 1},
     ELEM_U8,
     BOTH_SMOOTH,
     false},
    {"peaks",
     VOLUME "b = gaussian(image, 2)\noutput o = reconstruct(erode(b, 2), b)\n"
            "output l = watershed(-b, label(local_maxima(b)))\n",
     {40, 200, 24, 1},
     ELEM_U16,
     BOTH_SMOOTH,
     false},
};

/* Whether it is in parts, across planes. */
static bool run_under(const Scene *scene, const Subject *s, uint64_t limit)
{
    Exec *exec;
    Err err = {0};
    Device *dev = open_device(limit);
    BothResult got = {0};
    char why[400] = "";
    assert_true(exec_new(s->program, dev, &exec, &err));
    if (!both_execute(exec, s->program, &s->in, &got, &err) || !both_same(&s->want, &got, why, sizeof why)) {
        fail_msg("%s under %llu bytes: %s%s", scene->name, (unsigned long long)limit, err.text, why);
    }
    assert_int_equal(dev_held(dev), exec_bound(exec)->peak);
    assert_true(dev_peak(dev) <= limit);
    bool across = exec_in_parts(exec) && is_across(exec_bound(exec), scene->mixed);
    both_free(&got);
    exec_free(exec);
    dev_close(dev);
    return across;
}

/* From the least that will do to what one piece takes: the right bits, and held is what was planned. */
static void limits_below_a_halo_of_planes_are_kept(void **state)
{
    (void)state;
    const char *only = getenv("PIPEC_TEST_CASE");
    for (size_t i = 0; i < sizeof LIMITED / sizeof *LIMITED; i++) {
        const Scene *scene = &LIMITED[i];
        Subject s;
        ExecInput inputs[8];
        int across = 0;
        if (only != NULL ? strcmp(only, scene->name) != 0 : !turn_has((int)i)) {
            continue;
        }
        scene_open(&s, scene->text, scene->extent, scene->elem, scene->kind);
        both_inputs(&s.in, inputs);
        Device *cpu = open_device(0);
        ExecTarget target = exec_target(cpu);
        uint64_t least = exec_plan_least(s.program, &target, inputs, s.in.params);
        dev_close(cpu);
        for (uint64_t limit = least; limit < 4 << 20; limit += limit / 2) {
            across += run_under(scene, &s, limit);
        }
        assert_true(across >= 2);
        scene_close(&s);
    }
}

/* A pipeline, and memory in which its planes do not fit. */
typedef struct Need {
    const char *text;
    int extent[3], mebibytes;
} Need;

static const Need NEEDS[] = {
    {VOLUME "output a = gaussian(image, 2)\n", {20000, 20000, 100}, 1024},
    {VOLUME "output a = label(gaussian(image, 2) > otsu(gaussian(image, 2)))\n", {20000, 20000, 100}, 2048},
    {VOLUME "b = gaussian(image, 2)\noutput o = b - mean(b)\noutput l = label(b > otsu(b))\n", {4000, 4000, 100}, 256},
    {VOLUME "output a = expand_labels(label(median_filter(image, 3) > 100), 5)\n", {20000, 20000, 100}, 2048},
    {VOLUME "d = distance(gaussian(image, 2) > 100)\noutput d\noutput t = touches(label(d > 5))\n",
     {20000, 20000, 100},
     1024},
};

static void planes_need_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++) {
        const Need *need = &NEEDS[i];
        const char *complaints = "";
        Arena arena;
        Err err = {0};
        arena_init(&arena);
        IrGraph *g = pipeline_graph(&arena, "need.pipe", need->text, &complaints);
        if (g == NULL) {
            fail_msg("%s: %s", need->text, complaints);
        }
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        const Program *program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef");
        ExecInput input = {.extent = {need->extent[0], need->extent[1], need->extent[2], 1}, .elem = ELEM_U16};
        ExecTarget target = exec_target(NULL);
        ExecPlan *plan = NULL;
        target.limit = (uint64_t)need->mebibytes << 20;
        if (!exec_plan_new(program, &target, &input, NULL, &plan, &err)) {
            fail_msg("%s: %s", need->text, err.text);
        }
        assert_true(plan->peak <= target.limit);
        assert_true(is_across(plan, false));
        exec_plan_free(plan);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_rows_give_the_same_bits),
        cmocka_unit_test(limits_below_a_halo_of_planes_are_kept),
        cmocka_unit_test(planes_need_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
