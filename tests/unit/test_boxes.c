/*
 * Runs in parts whose stages read images at places that follow from the part: turned round, scaled,
 * projected, put together, round the ends; and volumes with several channels.  Whatever the parts
 * are, the bits are the evaluator's, and no stage needs an image whole.  What is read anywhere is read
 * in rounds, too, each with a third of the image.
 */
#include "both.h"
#include "pipelines.h"
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
} Scene;

#define PLANE "input image[y, x]\n"
#define VOLUME "input image[z, y, x]\n"
#define COLOURS "input image[y, x, c]\n"
#define CHANNELS "input image[z, y, x, c]\n"

static const Scene SCENES[] = {
    {"flips", PLANE "output a = flip(image, y)\noutput b = flip(image, x) - image\n", {37, 29, 1, 1}, ELEM_U16},
    {"blurred flips",
     PLANE "output a = gaussian(flip(gaussian(image, 1), y), 1)\noutput b = image + flip(image, y)\n",
     {37, 29, 1, 1},
     ELEM_U16},
    {"planes turned",
     VOLUME "output a = flip(image, z)\noutput b = flip(image, y)\noutput c = flip(image, x)\n",
     {19, 11, 9, 1},
     ELEM_U8},
    {"sizes",
     PLANE "output a = downscale(image, 3)\noutput b = resize(image, 23, 50)\n"
           "output c = scale(image, 0.4)\noutput d = crop(image, 3, 5, width = 20, height = 13)\n"
           "output e = pad(image, 4)\noutput f = pad(image, 40, border = mirror)\n"
           "output g = pad(image, 7, border = wrap)\noutput h = pad(image, 31, border = reflect)\n",
     {35, 27, 1, 1},
     ELEM_U16},
    {"sizes of volumes",
     VOLUME "output a = downscale(image, 2)\noutput b = resize(image, 9, 20, 14)\n"
            "output c = pad(image, 3, border = reflect)\n"
            "output d = crop(image, 2, 3, 1, width = 7, height = 5, depth = 6)\n",
     {15, 12, 10, 1},
     ELEM_U8},
    {"put together",
     PLANE "output a = concatenate(image, flip(image, y), y)\noutput b = concatenate(image, image)\n"
           "output c = paste(image, downscale(image, 2), 4, 5)\n",
     {21, 26, 1, 1},
     ELEM_U8},
    {"shifts",
     PLANE "output a = roll(image, 3, 5)\noutput b = roll(image, 0, -50)\n"
           "output c = translate(image, 2.5, -1.25)\n"
           "output d = translate(image, 1, 30, border = wrap)\n",
     {21, 26, 1, 1},
     ELEM_U8},
    {"round the ends",
     PLANE "output a = gaussian(image, 2, border = wrap)\n"
           "output b = image[dy = -3, border = wrap] - image[dy = 5, dx = 2, border = wrap]\n"
           "output c = median_filter(image, 1, border = wrap)\n",
     {33, 26, 1, 1},
     ELEM_U8},
    {"volumes round the ends",
     VOLUME "output a = gaussian(image, 1, border = wrap)\noutput b = roll(image, 1, 2, 3)\n",
     {15, 12, 10, 1},
     ELEM_U8},
    {"projections",
     VOLUME "output a = max_project(image)\noutput b = std_project(image, y)\n"
            "output c = mean_project(image, x)\noutput d = median_project(image, z)\n"
            "output e = argmax_project(image, z)\noutput f = sum_project(image, y)\n",
     {13, 17, 9, 1},
     ELEM_U16},
    {"projections of planes",
     PLANE "output a = max_project(image, y)\noutput b = sum_project(image, x)\n"
           "output c = std_project(image, y)\noutput d = mean_project(image, x) + 1\n",
     {300, 270, 1, 1},
     ELEM_U16},
    {"transposes",
     PLANE "output a = transpose(image)\noutput b = transpose(gaussian(image, 1))\n",
     {290, 310, 1, 1},
     ELEM_U8},
    {"transposes of volumes",
     VOLUME "output a = transpose(image)\noutput b = transpose(image, x, z)\n"
            "output c = transpose(image, y, z)\n",
     {13, 17, 9, 1},
     ELEM_U8},
    {"rotations",
     PLANE "output a = rotate(image, 33)\noutput b = rotate(image, 90, interpolation = nearest)\n"
           "output c = affine(image, [[1, 0.2, -3], [0.1, 0.9, 4]], border = reflect)\n",
     {300, 280, 1, 1},
     ELEM_U16},
    {"beside a transpose",
     PLANE
     "b = median_filter(image, 1)\noutput a = transpose(image) - flip(b, y)\noutput c = b - transpose(image)[x = x_of(b), y = y_of(b)]\n",
     {290, 290, 1, 1},
     ELEM_U8},
    {"volumes moved",
     VOLUME "output a = rotate(image, 20)\n"
            "output b = affine(image, [[1, 0.2, 0, 1], [0, 1, 0.1, 0], [0.1, 0, 1, 2]])\n",
     {31, 22, 9, 1},
     ELEM_U8},
    {"readers",
     PLANE "f = flip(image, y)\noutput a = sum(f where f > 20)\noutput b = label(downscale(image, 2) > 128)\n"
           "output c = percentile(roll(image, 0, 7), 30)\noutput d = median(transpose(image))\n",
     {35, 41, 1, 1},
     ELEM_U8},
    {"computed",
     PLANE "output a = image[x = x_of(image), y = (y_of(image) * 7) % 11, border = nearest]\n"
           "output b = image[x = x_of(image) // 2, y = abs(y_of(image) - 9), border = nearest]\n"
           "output c = image[x = x_of(image), y = min(y_of(image), sqrt(f32(x_of(image)))), border = nearest]\n"
           "output d = image[x = x_of(image), y = y_of(image) if image > 99 else 3, border = nearest]\n",
     {35, 41, 1, 1},
     ELEM_U8},
    {"follow pixels",
     PLANE
     "output a = image[y = y_of(image) + image / 32, border = nearest]\n"
     "output b = image[x = x_of(image) + image - 128, y = y_of(image) + min(max(image - 100, -3), 4), border = mirror]\n"
     "near = i16(min(max(f32(image) - 128, -5), 5))\n"
     "output c = image[y = y_of(image) + near, border = reflect]\n"
     "output d = image[y = y_of(image) - near, border = wrap]\n"
     "output e = image[x = x_of(image) + i16(image > 99), y = y_of(image) + (2 if image < 50 else -1), border = nearest]\n"
     "output f = image[y = image % 7, border = nearest]\n"
     "output g = image[y = y_of(image) + 3 * sign(f32(image) - 77), border = constant(9)]\n",
     {35, 41, 1, 1},
     ELEM_U8},
    {"follow pixels that may be no numbers",
     PLANE "d = max(min(sqrt(image) / (image - 3), 5), -5)\n"
           "output a = image[y = y_of(image) + d, border = nearest]\n"
           "output b = image[y = y_of(image) + (d if d == d else 1), border = wrap]\n"
           "output c = image[y = y_of(image) + i16(d), border = mirror]\n"
           "output e = image[y = 7 * d, border = reflect]\n"
           "output f = image[y = y_of(image) * image, border = reflect]\n"
           "output g = image[y = y_of(image) + 3e9 * (image - 2), border = mirror]\n",
     {35, 41, 1, 1},
     ELEM_F32},
    {"planes that follow pixels",
     VOLUME
     "output a = image[z = z_of(image) + image / 64, border = nearest]\n"
     "output b = image[z = z_of(image) + min(max(image - 128, -1), 2), y = y_of(image) - image / 50, border = mirror]\n"
     "output c = image[y = y_of(image) - min(2, max(gaussian(image, 1) - 128, -2)), border = wrap]\n",
     {15, 12, 10, 1},
     ELEM_U8},
    {"anywhere",
     PLANE "d = f32(image) - 99.5\ny = y_of(image) + d\ny0 = floor(y)\nfar = image[y = y0 + 1, border = mirror]\n"
           "near = image[y = y0, border = mirror]\noutput a = near + (far - near) * (y - y0)\n"
           "output b = image[x = x_of(image) - d, y = image[y = image * 3, border = wrap] / 2, border = reflect]\n"
           "m = image > 128\noutput c = m[y = y_of(image) + d, border = constant(1)]\n"
           "k = label(m)\noutput e = k[y = y_of(image) - d, x = y_of(image), border = nearest]\n"
           "output f = sum(image[y = y_of(image) + d, border = constant(7)] where m)\n"
           "output g = median_filter(near, 1) + image[y = gaussian(image, 1), border = nearest]\n"
           "output h = image[y = y_of(image) + median_filter(image, 1) - 128, border = mirror]\n",
     {35, 41, 1, 1},
     ELEM_U8},
    {"anywhere between pixels",
     PLANE
     "fn mix(a, b, t) = a + (b - a) * t\nd = f32(image) - 99.5\ny = y_of(image) + d / 3\nx = x_of(image) + d / 5\n"
     "x0 = floor(x)\ny0 = floor(y)\n"
     "up = mix(image[y = y0, x = x0, border = constant(7)], image[y = y0, x = x0 + 1, border = constant(7)], x - x0)\n"
     "down = mix(image[y = y0 + 1, x = x0, border = mirror], image[y = y0 + 1, x = x0 + 1, border = mirror], x - x0)\n"
     "output a = mix(up, down, y - y0)\noutput b = sum(mix(up, down, y - y0) where down > 5)\n"
     "output c = up + image[y = up, x = x0, border = wrap]\n",
     {290, 41, 1, 1},
     ELEM_U8},
    {"anywhere by whole values",
     PLANE "output a = image[y = y_of(image) + mean(image) - 120, border = wrap]\n"
           "n = count(label(image > 200))\noutput b = image[y = n, border = mirror]\noutput c = a - image\n",
     {300, 41, 1, 1},
     ELEM_U8},
    {"anywhere in loops",
     PLANE
     "v = f32(image)\nrepeat 3 {\n  v = v[y = v, border = mirror] + 1\n}\noutput a = v\n"
     "w = f32(image)\nrepeat 2 {\n  s = mean(w)\n  w = w[y = y_of(image) + s - w, x = s, border = nearest]\n}\noutput b = w\n",
     {35, 41, 1, 1},
     ELEM_U8},
    {"planes anywhere",
     VOLUME "d = f32(image) / 10\noutput a = image[z = d, border = mirror]\n"
            "output b = image[z = z_of(image) - d, y = d, border = constant(3)]\n"
            "output c = image[y = y_of(image) + d, border = nearest]\n"
            "p = max_project(image)\noutput e = p[y = p - 128, border = mirror]\n"
            "output f = image[z = median(image) / 30, x = x_of(image) + 1, border = nearest]\n",
     {15, 12, 10, 1},
     ELEM_U8},
    {"windows anywhere",
     PLANE
     "d = f32(image) - 99.5\ny = y_of(image) + d\nx = x_of(image) - d\n"
     "output a = sum((1.5 - abs(j)) * image[y = y + j, x = x + i, border = mirror] for j in -1 .. 1, i in -2 .. 2 where i <= j)\n"
     "output b = median(image[y = y + j, x = x + i, border = nearest] for j in -1 .. 1, i in -1 .. 1)\n"
     "output c = mode(image[y = y + j, border = wrap] // 64 for j in -2 .. 2)\n"
     "output e = min(image[y = y_of(image) + image[dy = k] * k, border = reflect] for k in -2 .. 2)\n"
     "m = image > 128\noutput f = any(m[y = y + j, border = constant(1)] for j in 0 .. 3 where j != 1)\n"
     "output g = sum(image[y = y + j * mean(image) / 50 + j * j * 0.5, x = k, border = mirror] for j in 1 .. 3, k in 2 .. 3)\n"
     "output h = max(image[y = y - j * image[y = y + j, border = wrap], border = wrap] for j in 0 .. 2)\n",
     {35, 41, 1, 1},
     ELEM_U8},
    {"windows anywhere in a param's range",
     PLANE
     "param r = 2 in 0 .. 5\nparam step = 0.75\nd = f32(image) - 99.5\n"
     "output a = mean(image[y = y_of(image) + d * j * step + r, x = x_of(image) + j, border = nearest] for j in -r .. r)\n"
     "output b = sum(image[y = y_of(image) + d + j, border = nearest] for j in r .. 1)\n",
     {35, 41, 1, 1},
     ELEM_U8},
    {"colours in windows anywhere",
     COLOURS
     "d = f32(image) - 99.5\n"
     "output a = sum(image[y = y_of(image) + d + j, x = x_of(image) + i, border = mirror] for j in 0 .. 1, i in 0 .. 2)\n"
     "output b = max(image[y = y_of(image) + image[c = k] - j, c = k, border = nearest] for k in 0 .. 2, j in 0 .. 1)\n"
     "output c = median(image[y = y_of(image) + f32(image[c = 0]) * j, border = wrap] for j in -1 .. 1)\n"
     "output e = sum(image[y = y_of(image) + f32(image[c = k]) - c_of(image), c = k, border = wrap] for k in 0 .. 2)\n",
     {23, 19, 1, 3},
     ELEM_U8},
    {"volumes in windows anywhere",
     VOLUME
     "d = f32(image) / 10\noutput a = mean(image[z = d + k, y = y_of(image) + j, border = mirror] for k in -1 .. 1, j in -1 .. 1)\n"
     "p = max_project(image)\noutput b = sum(p[y = p + j, border = mirror] for j in 0 .. 3)\n",
     {15, 12, 10, 1},
     ELEM_U8},
    {"colours anywhere",
     COLOURS "output a = image[y = image / 3, border = mirror]\noutput b = image[y = image[c = 1], border = nearest]\n"
             "output c = image[y = y_of(image) - f32(image[c = 0]), c = 2, border = wrap]\n",
     {23, 19, 1, 3},
     ELEM_U8},
    {"channels of volumes anywhere",
     CHANNELS
     "output a = image[z = image / 30, border = mirror]\noutput b = image[z = image[c = 1] / 30, c = 0, border = nearest]\n",
     {15, 11, 9, 3},
     ELEM_U8},
    {"colours",
     COLOURS "output a = flip(image, y)\noutput b = downscale(image, 2)\noutput c = roll(image, 3, 4)\n"
             "output d = gaussian(image, 1, border = wrap)\noutput e = image - flip(image[c = 1], y)\n",
     {23, 19, 1, 3},
     ELEM_U8},
    {"channels of volumes",
     CHANNELS "output a = gaussian(image, 1)\noutput b = max_project(image)\n"
              "output c = image[c = 1] - image[c = 0]\noutput d = image - image[c = 1]\n"
              "output e = flip(image, z)\noutput f = gaussian(image, 1, border = wrap)\n",
     {15, 11, 9, 3},
     ELEM_U8},
    {"whole values of channels",
     CHANNELS "output a = sum(image)\noutput b = median(image)\noutput c = max(gaussian(image, 1))\n"
              "output d = otsu(image[c = 2])\noutput e = label(image[c = 1] > 128)\n"
              "output t = measure(label(image[c = 0] > 200), image[c = 1], area, mean)\n",
     {15, 11, 9, 3},
     ELEM_U8},
};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

/* Of which only the program for rounds needs no image whole. */
static const Scene IN_ROUNDS[] = {
    {"large windows round the ends",
     PLANE
     "output a = median_filter(image, box(9), border = wrap)\n"
     "output b = percentile_filter(gaussian(image, 1), 30, disk(6), border = wrap) - image\n"
     "output c = mode_filter(image // 16, box(40), border = wrap)\nm = label(median_filter(image, box(5), border = wrap) > 128)\n"
     "output e = count(m)\nk = f32(image)\nrepeat 2 { k = median_filter(k + 1, box(5), border = wrap) }\noutput k\n",
     {31, 43, 1, 1},
     ELEM_U8},
    {"large windows of volumes round the ends",
     VOLUME
     "output a = median_filter(image, box(2), border = wrap)\noutput b = percentile_filter(image, 80, ball(3), border = wrap)\n",
     {15, 12, 10, 1},
     ELEM_U16},
};
enum { IN_ROUNDS_COUNT = sizeof IN_ROUNDS / sizeof *IN_ROUNDS };

/* No step needs all of its images because of how it reads. */
static bool is_cut(const ExecPlan *plan)
{
    bool cut = plan->parts != NULL;
    for (int i = 0; cut && i < plan->parts->n; i++) {
        const PartsSegment *seg = &plan->parts->segments[i];
        for (int k = 0; k < seg->n_windows; k++) {
            cut = cut && (!seg->windows[k].whole || parts_is_vector(plan, seg->windows[k].buffer));
        }
    }
    return cut;
}

static const char *const ACROSS[] = {"", " across planes"};

static void check(Exec *exec, const Program *program, const BothCase *in, const BothResult *want, const char *name)
{
    BothResult got = {0};
    Err err = {0};
    char why[400];
    if (!both_execute(exec, program, in, &got, &err)) {
        fail_msg("%s, parts of %d%s: %s", name, in->part_rows, ACROSS[in->across], err.text);
    }
    if (!both_same(want, &got, why, sizeof why)) {
        fail_msg("%s, parts of %d%s: %s", name, in->part_rows, ACROSS[in->across], why);
    }
    if (in->part_rows > 0 && !is_cut(exec_bound(exec))) {
        fail_msg("%s, parts of %d%s: something is whole", name, in->part_rows, ACROSS[in->across]);
    }
    both_free(&got);
}

static IrGraph *graph_of(Arena *arena, const char *name, const char *text)
{
    const char *complaints = "";
    IrGraph *g = pipeline_graph(arena, "scene.pipe", text, &complaints);
    if (g == NULL) {
        fail_msg("%s: %s", name, complaints);
    }
    return g;
}

/* NULL: the program for rounds is asked for, and is no other. */
static const Program *program_of(Arena *arena, const char *name, const char *text, bool in_rounds)
{
    IrGraph *g = graph_of(arena, name, text);
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    const Program *program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
    if (!in_rounds) {
        return program;
    }
    if (!pass_wants_rounds(g)) {
        return NULL;
    }
    g = graph_of(arena, name, text);
    cx = (PassContext){.fuse = FUSE_ALL, .verify = true, .in_rounds = true};
    program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
    assert_false(pass_wants_rounds(g));
    return program;
}

/* False: there is no such program. */
static bool check_scene(const Scene *scene, bool in_rounds, Device *dev)
{
    static const int ROWS[] = {0, 1, 3, 8, 1000};
    const int *e = scene->extent;
    Arena arena;
    Err err = {0};
    BothResult want = {0};
    Exec *exec;
    arena_init(&arena);
    const Program *program = program_of(&arena, scene->name, scene->text, in_rounds);
    if (program == NULL) {
        arena_free(&arena);
        return false;
    }
    IrGraph *g = graph_of(&arena, scene->name, scene->text);
    BothCase in = {.n_inputs = 1};
    in.inputs[0] = both_image(e[0], e[1], e[2], e[3], scene->elem, 7, BOTH_NOISE);
    if (!both_evaluate(g, &in, &want, &err)) {
        fail_msg("%s: %s", scene->name, err.text);
    }
    assert_true(exec_new(program, dev, &exec, &err));
    enum { WAYS = sizeof ROWS / sizeof *ROWS };
    for (int i = 0; i < (e[2] > 1 ? 2 : 1) * WAYS; i++) {
        in.part_rows = ROWS[i % WAYS];
        in.across = i >= WAYS;
        check(exec, program, &in, &want, scene->name);
    }
    exec_free(exec);
    both_free(&want);
    free((void *)(uintptr_t)in.inputs[0].pixels);
    arena_free(&arena);
    return true;
}

static bool is_chosen(const Scene *list, int i)
{
    const char *only = getenv("PIPEC_TEST_CASE");
    return only == NULL ? turn_has(i) : strcmp(only, list[i].name) == 0;
}

static void parts_of_any_length_give_the_same_bits(void **state)
{
    (void)state;
    Device *dev;
    Err err = {0};
    const char *wanted = getenv("PIPEC_TEST_DEVICE");
    const DevOptions options = {.choice = wanted != NULL ? wanted : "cpu", .flags = getenv("PIPEC_TEST_FLAGS")};
    assert_true(dev_open(&options, &dev, &err));
    for (int i = 0; i < SCENE_COUNT; i++) {
        if (is_chosen(SCENES, i)) {
            assert_true(check_scene(&SCENES[i], false, dev));
            (void)check_scene(&SCENES[i], true, dev);
        }
    }
    for (int i = 0; i < IN_ROUNDS_COUNT; i++) {
        assert_true(!is_chosen(IN_ROUNDS, i) || check_scene(&IN_ROUNDS[i], true, dev));
    }
    dev_close(dev);
}

/* ---- how much is needed ------------------------------------------------------------------ */

/* One stage each, with the memory that it must do with. */
typedef struct Need {
    const char *text;
    int extent[4];
    int kibibytes;
} Need;

static const Need NEEDS[] = {
    {PLANE "output a = flip(image, y)\n", {2000, 2000, 1, 1}, 32},
    {PLANE "output a = gaussian(image, 2, border = wrap)\n", {2000, 2000, 1, 1}, 256},
    {PLANE "output a = resize(image, 3000, 3100)\n", {2000, 2000, 1, 1}, 32},
    {PLANE "output a = resize(image, 23, 50)\n", {2000, 2000, 1, 1}, 128},
    {PLANE "output a = scale(image, 3, interpolation = nearest)\n", {2000, 2000, 1, 1}, 64},
    {PLANE "output a = downscale(image, 3)\n", {2000, 2000, 1, 1}, 33},
    {PLANE "output a = pad(image, 400, border = mirror)\n", {2000, 2000, 1, 1}, 64},
    {PLANE "output a = crop(image, 100, 900, width = 200)\n", {2000, 2000, 1, 1}, 16},
    {PLANE "output a = concatenate(image, gaussian(image, 1), y)\n", {2000, 2000, 1, 1}, 256},
    {PLANE "output a = roll(image, 3, 700)\n", {2000, 2000, 1, 1}, 32},
    {PLANE "output a = translate(image, 2.5, -100.25)\n", {2000, 2000, 1, 1}, 32},
    {PLANE "output a = std_project(image, y)\n", {2000, 2000, 1, 1}, 600},
    {PLANE "output a = max_project(image, x)\n", {2000, 2000, 1, 1}, 600},
    {PLANE "output a = transpose(image)\n", {2000, 2000, 1, 1}, 64},
    {PLANE "output a = rotate(image, 30)\n", {2000, 2000, 1, 1}, 256},
    {PLANE "output a = image[y = y_of(image) + min(max(image - 128, -8), 8), border = nearest]\n",
     {2000, 2000, 1, 1},
     64},
    {PLANE
     "d = gaussian(image, 1)\noutput a = image[y = y_of(image) + (max(-4, min(d, 4)) if d == d else 0), border = mirror]\n",
     {2000, 2000, 1, 1},
     600},
    {PLANE "output a = image[x = x_of(image) + image / 16, y = y_of(image) - u8(image / 16), border = mirror]\n",
     {2000, 2000, 1, 1},
     64},
    {PLANE "output a = image[y = 100 * f32(image), border = mirror]\n", {2000, 2000, 1, 1}, 200},
    {PLANE
     "y = y_of(image) + 50 * sqrt(image)\noutput a = image[y = y, border = mirror] + image[y = y + 1, border = mirror]\n",
     {2000, 2000, 1, 1},
     400},
    {PLANE "output a = image[y = y_of(image) - mean(image), border = wrap]\n", {2000, 2000, 1, 1}, 600},
    {VOLUME "output a = image[z = f32(image), border = mirror]\n", {500, 500, 50, 1}, 3000},
    {PLANE "output a = sum(flip(image, y))\n", {2000, 2000, 1, 1}, 600},
    {VOLUME "output a = max_project(image)\n", {2000, 2000, 50, 1}, 600},
    {VOLUME "output a = mean_project(image, y)\n", {2000, 2000, 50, 1}, 4200},
    {VOLUME "output a = flip(image, z)\n", {500, 500, 50, 1}, 1400},
    {VOLUME "output a = resize(image, 700, 700, 70)\n", {500, 500, 50, 1}, 1600},
    {VOLUME "output a = transpose(image, y, z)\n", {500, 50, 500, 1}, 1300},
    {CHANNELS "output a = gaussian(image[c = 0], 1)\n", {500, 500, 50, 3}, 12000},
    {CHANNELS "output a = image + 1\noutput b = median(image)\n", {500, 500, 50, 3}, 6000},
};

static void little_memory_is_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++) {
        const Need *need = &NEEDS[i];
        Arena arena;
        Err err = {0};
        arena_init(&arena);
        Program program = *program_of(&arena, need->text, need->text, false);
        program.in_rounds = program_of(&arena, need->text, need->text, true);
        ExecInput input = {.elem = ELEM_U8};
        for (int ax = 0; ax < 4; ax++) {
            input.extent[ax] = need->extent[ax];
        }
        ExecTarget target = exec_target(NULL);
        ExecPlan *plan = NULL;
        target.limit = (uint64_t)need->kibibytes << 10;
        if (!exec_plan_new(&program, &target, &input, NULL, &plan, &err)) {
            fail_msg("%s: %s", need->text, err.text);
        }
        assert_true(plan->peak <= target.limit);
        exec_plan_free(plan);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_any_length_give_the_same_bits),
        cmocka_unit_test(little_memory_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
