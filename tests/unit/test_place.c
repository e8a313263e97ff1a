/*
 * Places of pixels: what an output says about where its pixels lie on the first input, the same in
 * the plan of a run, in the evaluator and in the graph that was printed and read back; and what
 * becomes of it in files: sizes of pixels, and coordinates of FITS.
 */
#include "fixtures.h"
#include "codegen/codegen.h"
#include "reference/eval.h"
#include "passes/pass.h"
#include "runtime/exec/exec_plan.h"
#include "runtime/files/image.h"
#include "tests/support/both.h"
#include "tests/support/pipelines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { W = 60, H = 40, D = 8 };

static const double SIZE[3] = {0.5, 0.25, 2};

/* ---- what the graph says --------------------------------------------------------------------- */

typedef struct Case {
    const char *axes, *value;
    double size[3];  /* of the result's pixels, x, y, z; 0: unknown */
    double place[3]; /* of its first pixel; NaN: unknown */
} Case;

#define FLAT "y, x"
#define DEEP "z, y, x"
#define CROPPED "crop(image, x = 10, y = 5, width = 20, height = 20)"

static const Case CASES[] = {
    {FLAT, "gaussian(image, 2)", {0.5, 0.25, 2}, {0, 0, 0}},
    {FLAT, "downscale(image, 2)", {1, 0.5, 2}, {0.5, 0.5, 0}},
    {FLAT, "downscale(image, [2, 3])", {1.5, 0.5, 2}, {1, 0.5, 0}},
    {FLAT, "resize(image, 120, 50)", {0.25, 0.2, 2}, {-0.25, -0.1, 0}},
    {FLAT, "resize(image, 120, 50, interpolation = nearest)", {0.25, 0.2, 2}, {-0.25, -0.1, 0}},
    {FLAT, "scale(image, 0.5)", {1, 0.5, 2}, {0.5, 0.5, 0}},
    {FLAT, "scale(image, factor)", {0.2, 0.1, 2}, {-0.3, -0.3, 0}},
    {FLAT, "make_isotropic(image)", {0.5, 0.5, 2}, {0, 0.5, 0}},
    {FLAT, "make_isotropic(downscale(image, [6, 1]))", {0.5, 0.5, 2}, {0, -1.0 / 3 + 2.5 + 1.0 / 3 - 2, 0}},
    {FLAT, CROPPED, {0.5, 0.25, 2}, {10, 5, 0}},
    {FLAT, "crop(downscale(image, 2), x = 3)", {1, 0.5, 2}, {6.5, 0.5, 0}},
    {FLAT, "downscale(" CROPPED ", 2)", {1, 0.5, 2}, {10.5, 5.5, 0}},
    {FLAT, "pad(image, 3)", {0.5, 0.25, 2}, {-3, -3, 0}},
    {FLAT, "flip(image, x)", {0.5, 0.25, 2}, {W - 1, 0, 0}},
    {FLAT, "transpose(image, x, y)", {0.25, 0.5, 2}, {0, 0, 0}},
    {FLAT, "transpose(downscale(image, [2, 1]), x, y)", {0.5, 0.5, 2}, {0, 0.5, 0}},
    {FLAT, "concatenate(image, image, x)", {0.5, 0.25, 2}, {0, 0, 0}},
    {FLAT, "concatenate(downscale(image, 2), downscale(image, 2), y)", {1, 0.5, 2}, {0.5, 0.5, 0}},
    {FLAT, "translate(image, 1.5, 2)", {0.5, 0.25, 2}, {-1.5, -2, 0}},
    {FLAT, "rotate(image, 90)", {0.25, 0.5, 2}, {NAN, NAN, NAN}},
    {FLAT, "affine(image, [[2, 0, 1], [0, 3, 5]])", {1, 0.75, 2}, {1, 5, 0}},
    {FLAT, "affine(image, [[1, 3, 0], [0, 4, 0]])", {0.5, 1.8027756377319946, 2}, {0, 0, 0}},
    {FLAT, "paste(image, downscale(image, 2), 3, 4)", {0.5, 0.25, 2}, {0, 0, 0}},
    {FLAT, "roll(image, 3, 0)", {0.5, 0.25, 2}, {NAN, NAN, NAN}},
    {FLAT, "image[dx = 1] - image", {0.5, 0.25, 2}, {0, 0, 0}},
    {FLAT, "image[x = 4 * x_of(c), y = 2 * y_of(c) + 1]", {2, 0.5, 2}, {0, 1, 0}},
    {FLAT, "image[x = x_of(c) // 2, y = y_of(c)]", {0.25, 0.25, 2}, {NAN, 0, 0}},
    {FLAT, "image[x = x_of(c), y = mean(image) + y_of(c)]", {0.5, 0.25, 2}, {0, NAN, 0}},
    {FLAT, "image[x = x_of(image) + image, y = y_of(image)]", {0.5, 0.25, 2}, {0, 0, 0}},
    {FLAT, "f32(x_of(c))", {0, 0, 0}, {NAN, NAN, NAN}},
    {FLAT, "f32(x_of(c)) + " CROPPED, {0.5, 0.25, 2}, {10, 5, 0}},
    {FLAT, "placed(image, image, x = 3 * x_of(image) + 1)", {1.5, 0.25, 2}, {1, 0, 0}},
    {FLAT, "label(downscale(image, 2) > 9)", {1, 0.5, 2}, {0.5, 0.5, 0}},
    {FLAT, "colours(label(downscale(image, 2) > 9))", {1, 0.5, 2}, {0.5, 0.5, 0}},
    {FLAT, "distance(image > 9)", {0.5, 0.25, 2}, {0, 0, 0}},
    {DEEP, "image", {0.5, 0.25, 2}, {0, 0, 0}},
    {DEEP, "max_project(image, z)", {0.5, 0.25, 2}, {0, 0, 0}},
    {DEEP, "max_project(image, y)", {0.5, 2, 0}, {0, NAN, 0}},
    {DEEP, "max_project(image, x)", {0.25, 2, 0}, {NAN, 0, 0}},
    {DEEP, "image[z = 3]", {0.5, 0.25, 2}, {0, 0, 0}},
    {DEEP, "downscale(image, [1, 2, 2])", {1, 0.5, 2}, {0.5, 0.5, 0}},
    {DEEP, "downscale(image, [4, 1, 1])", {0.5, 0.25, 8}, {0, 0, 1.5}},
    {DEEP, "make_isotropic(image)", {0.5, 0.5, 0.5}, {0, 0.5, -0.375}},
    {DEEP, "transpose(image, x, z)", {2, 0.25, 0.5}, {0, 0, 0}},
    {DEEP, "rotate(image, 0)", {0.5, 0.25, 2}, {0, 0, 0}},
};

static IrGraph *graph_of(const Case *c)
{
    char text[600];
    bool canvas = strstr(c->value, "(c)") != NULL;
    snprintf(text, sizeof text, "input image[%s] : u8\nparam factor = 2.5\n%soutput a = %s\noutput b = image\n",
             c->axes, canvas ? "c = canvas(image, width = 20, height = 20)\n" : "", c->value);
    if (strstr(c->value, "factor") == NULL) {
        char *unused = strstr(text, "param factor = 2.5\n");
        memmove(unused, unused + 19, strlen(unused + 19) + 1);
    }
    return pipeline_must("place.pipe", text);
}

static bool close_to(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}

/* The size as files have it. */
static double size_along(const ImagePlace *p, int by)
{
    double sum = 0;
    for (int along = 0; along < 3; along++) {
        double step = p->moved ? p->of[along][by] : along == by;
        sum += step == 0 ? 0 : step * SIZE[along] * step * SIZE[along];
    }
    return isnan(sum) ? 0 : sqrt(sum);
}

static void check_place(const Case *c, const ImagePlace *p, const char *who)
{
    for (int ax = 0; ax < 3; ax++) {
        double at = p->moved ? p->of[ax][3] : 0, size = size_along(p, ax);
        bool flat = ax == 2 && strcmp(c->axes, FLAT) == 0;
        bool nowhere = p->moved && size == 0 && at == 0;
        bool known = isnan(c->place[ax]) || close_to(at, c->place[ax]) || flat;
        if (!(close_to(size, c->size[ax]) || flat) || !(known || nowhere)) {
            fail_msg("%s: along %c pixels of %s have the size %.17g, not %.17g, and begin at %.17g, "
                     "not %.17g",
                     who, "xyz"[ax], c -> value, size, c -> size[ax], at, c -> place[ax]);
        }
    }
}

static ImagePlace evaluated(const IrGraph *g, IrEvalInput input)
{
    IrEval *ev;
    Err err = {0};
    double params[] = {2.5};
    memcpy(input.pixelsize, SIZE, sizeof input.pixelsize);
    if (!ir_eval(g, &input, params, &ev, &err)) {
        fail_msg("%s", err.text);
    }
    const IrPlace *place = &g->outputs.at[0].place;
    ImagePlace out = {.moved = place->moved};
    for (int k = 0; k < 12; k++) {
        IrExpr e = place->of[k / 4][k % 4];
        out.of[k / 4][k % 4] = e != 0 ? ir_eval_uniform(ev, e) : 0;
    }
    ir_eval_free(ev);
    return out;
}

static ImagePlace planned(IrGraph *g, const double size[3])
{
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    const Program *program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
    bool deep = program->grids[0].has_z;
    ExecTarget target = exec_target(NULL);
    ExecInput input = {.extent = {W, H, deep ? D : 1, 1}, .elem = ELEM_U8};
    memcpy(input.pixel_um, size, sizeof input.pixel_um);
    ExecPlan *plan;
    Err err = {0};
    double params[] = {2.5};
    if (!exec_plan_new(program, &target, &input, params, &plan, &err)) {
        fail_msg("%s", err.text);
    }
    ImagePlace out = plan->places[0];
    assert_false(plan->places[1].moved);
    exec_plan_free(plan);
    return out;
}

static void outputs_say_where_their_pixels_lie(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const Case *c = &CASES[i];
        IrGraph *g = graph_of(c);
        const char *complaint, *text = pipeline_print(g);
        IrGraph *back = pipeline_parse(&arena, "graph.ir", text, &complaint);
        assert_non_null(back);
        assert_string_equal(pipeline_print(back), text);
        IrEvalInput input = both_image(W, H, strcmp(c->axes, DEEP) == 0 ? D : 1, 1, ELEM_U8, 3, 1);
        ImagePlace p = evaluated(g, input);
        check_place(c, &p, "the evaluator");
        free((void *)(uintptr_t)input.pixels);
        p = planned(back, SIZE);
        check_place(c, &p, "the plan of the graph that was read");
    }
}

/* A file without sizes has a place, too, and only sizes are not known. */
static void places_need_no_size(void **state)
{
    (void)state;
    const double unknown[3] = {0};
    ImagePlace p = planned(graph_of(&CASES[1]), unknown);
    assert_true(p.moved && p.of[0][0] == 2 && p.of[0][3] == 0.5);
}

static void broken_places_are_refused(void **state)
{
    (void)state;
    const char *text = "graph a\ngrid 0 [x = extent(%1, x)]\n%1 image = input \"x\" : image u8 grid 0\n"
                       "output a = %1 as tif\n    place x x 2\n",
               *complaint;
    assert_null(pipeline_parse(&arena, "graph.ir", text, &complaint));
    assert_non_null(strstr(complaint, "has a place but did not move"));
    text = "graph a\ngrid 0 [x = extent(%1, x)]\n%1 image = input \"x\" : image u8 grid 0\n"
           "output a = %1 as tif\n    moved\n    place x x f64(%1)\n";
    assert_null(pipeline_parse(&arena, "graph.ir", text, &complaint));
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* What the evaluator makes of two outputs is the same. */
static void assert_alike(const char *before, const char *one, const char *other)
{
    char text[600];
    snprintf(text, sizeof text, "input image[y, x] : u8\n%soutput a = %s\noutput b = %s\n", before, one, other);
    BothCase in = {.n_inputs = 1, .inputs = {both_image(W, H, 1, 1, ELEM_U8, 5, 0)}};
    BothResult got;
    Err err = {0};
    memcpy(in.inputs[0].pixelsize, SIZE, sizeof SIZE);
    if (!both_evaluate(pipeline_must("alike.pipe", text), &in, &got, &err)) {
        fail_msg("%s: %s", one, err.text);
    }
    size_t n = (size_t)got.at[0].extent[0] * (size_t)got.at[0].extent[1];
    assert_true(n > 1);
    for (size_t i = 0; i < n; i++) {
        if (got.at[0].pixels[i] != got.at[1].pixels[i]) {
            fail_msg("%s is not %s at pixel %zu", one, other, i);
        }
    }
    both_free(&got);
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

static void lengths_are_in_the_pixels_of_their_image(void **state)
{
    (void)state;
    const char *small = "small = downscale(image, [2, 4])\n"; /* pixels of 2 x 0.5 micrometres */
    assert_alike("", "gaussian(image, 1 um)", "gaussian(image, [4, 2])");
    assert_alike(small, "gaussian(small, 2 um)", "gaussian(small, [4, 1])");
    assert_alike(small, "small + gaussian(small * 2, 2 um)", "small + gaussian(small * 2, [4, 1])");
    assert_alike(small, "dilate(small > 9, 2 um)", "dilate(small > 9, [4, 1])");
    assert_alike("", "dilate(image > 9, disk(1 um))",
                 "dilate(image > 9, [[0, 0, 1, 0, 0], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], "
                 "[1, 1, 1, 1, 1], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]])");
    assert_alike("", "dilate(image > 9, diamond(1 um))",
                 "dilate(image > 9, [[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], "
                 "[1, 1, 1, 1, 1], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]])");
    assert_alike(small, "dilate(small > 9, ball(0.5 um))", "dilate(small > 9, [[1], [1], [1]])");
    assert_alike("", "dilate(image > 9, ball(0 um))", "image > 9");
    assert_alike(small, "small[dx = 4 um]", "small[dx = 2]");
    assert_alike(small, "small[x = 4 um + 1 um, y = 1 um]", "small[x = 2.5, y = 2]");
    assert_alike(small, "x_of(small) < 6 um", "x_of(small) < 3");
    assert_alike(small, "remove_small_objects(label(small > 128), 3 um2)",
                 "remove_small_objects(label(small > 128), 3)");
    assert_alike(small, "transpose(dilate(transpose(small > 9, x, y), 2 um), x, y)", "dilate(small > 9, [4, 1])");
    assert_alike(small, "small * pixel_size(x, small)", "small * 2");
    assert_alike(small, "small * pixel_size(x)", "small * 0.5");
}

static void lengths_count_pixels_beside_anything_else(void **state)
{
    (void)state;
    const char *small = "small = downscale(image, [2, 4])\n"; /* pixels of 2 x 0.5 micrometres */
    const char *d = "d = 2 um\n";                             /* 4 pixels of the image */
    assert_alike(d, "image * d", "image * 4");
    assert_alike(small, "small * 4 um", "small * 2");
    assert_alike(d, "image * d / 1 um", "image * 2");
    assert_alike(d, "image + d / 1 um", "image + 2");
    assert_alike(d, "image + d * mean(image)", "image + 4 * mean(image)");
    assert_alike(d, "image + (d if mean(image) > 3 else 1 um)", "image + (4 if mean(image) > 3 else 2)");
    assert_alike(d, "d if image > 9 else image", "4 if image > 9 else image");
    assert_alike(small, "small if small > 9 else 4 um", "small if small > 9 else 2");
    assert_alike(d, "image + sum(d for i in 1 .. 3)", "image + 12");
    assert_alike(d, "max(d if image[dx = i] > 9 else 0 for i in 0 .. 2)",
                 "max(4 if image[dx = i] > 9 else 0 for i in 0 .. 2)");
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes a small image that lies at `place` in `like`, and opens it. */
static ImageFile *written_cube(const char *path, const char *format, const ImageInfo *like, const ImagePlace *place,
                               const int64_t extent[5])
{
    static const uint8_t zeros[W * H];
    ImageInfo shape = {.x = extent[0],
                       .y = extent[1],
                       .z = extent[2],
                       .c = extent[3],
                       .t = extent[4],
                       .has_z = extent[2] > 1,
                       .has_c = extent[3] > 1,
                       .has_t = extent[4] > 1,
                       .elem = ELEM_U8};
    ImageMeta meta = {.like = like, .place = *place};
    ImageWriter *writer;
    ImageFile *file = NULL;
    Err err = {0};
    bool ok = image_create(path, format, &shape, ELEM_U8, &meta, &writer, &err);
    for (int64_t i = 0; ok && i < shape.z * shape.c * shape.t; i++) {
        int64_t z = i % shape.z, c = i / shape.z % shape.c, t = i / shape.z / shape.c;
        ok = image_write(writer, t, c, z, 0, shape.y, zeros, (size_t)shape.x, &err);
    }
    if (!ok || !image_commit(writer, &err) || !image_open(path, &file, &err)) {
        fail_msg("%s", err.text);
    }
    return file;
}

static ImageFile *written(const char *path, const char *format, const ImageInfo *like, const ImagePlace *place,
                          int64_t x, int64_t y)
{
    return written_cube(path, format, like, place, (int64_t[]){x, y, 1, 1, 1});
}

static ImagePlace scaled_place(double sx, double tx, double sy, double ty)
{
    return (ImagePlace){true, {{sx, 0, 0, tx}, {0, sy, 0, ty}, {0, 0, 1, 0}}};
}

static void sizes_follow_in_files(void **state)
{
    (void)state;
    static const struct {
        ImagePlace place;
        double x, y;
    } cases[] = {
        {{false, {{0}}}, 0.5, 0.25},
        {{true, {{2, 0, 0, 0.5}, {0, 3, 0, 1}, {0, 0, 1, 0}}}, 1, 0.75},
        {{true, {{0, 1, 0, 0}, {-1, 0, 0, 59}, {0, 0, 1, 0}}}, 0.25, 0.5},
        {{true, {{0.6, -0.8, 0, 0}, {0.8, 0.6, 0, 0}, {0, 0, 1, 0}}}, 0.360555127546399, 0.427200187265877},
        {{true, {{0}}}, 0, 0},
        {{true, {{2, 0, 0, NAN}, {0, NAN, 0, 0}, {0, 0, 1, 0}}}, 0, 0},
    };
    static const char *const FILES[] = {"a.tif", "a.fits"};
    ImageInfo like = {.size = {0.5, 0.25}, .size_um = {0.5, 0.25}, .unit = "um", .style = "imagej"};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *path = FILES[i % 2];
        ImageFile *file = written(path, i % 2 == 0 ? "tif" : "fits", &like, &cases[i / 2].place, 20, 10);
        const ImageInfo *info = image_info(file);
        assert_true(fabs(info->size_um[0] - cases[i / 2].x) < 1e-9);
        assert_true(fabs(info->size_um[1] - cases[i / 2].y) < 1e-9);
        image_close(file);
    }
}

/* From TIFF to FITS and back a size stays. */
static void sizes_go_from_format_to_format(void **state)
{
    (void)state;
    ImageInfo like = {.size = {325, 500}, .size_um = {0.325, 0.5}, .unit = "nm", .style = "imagej"};
    const ImagePlace same = {.moved = false};
    ImageFile *first = written("a.fits", "fits", &like, &same, W, H);
    ImageFile *second = written("a.tif", "tif", image_info(first), &same, W, H);
    assert_true(image_info(second)->size_um[0] == 0.325 && image_info(second)->size_um[1] == 0.5);
    ImageFile *third = written("b.fits", "fits", image_info(first), &same, W, H);
    assert_true(image_info(third)->size_um[0] == 0.325);
    const char *header = image_info(third)->extra, *cdelt = strstr(header, "CDELT1");
    assert_non_null(cdelt);
    assert_null(strstr(cdelt + 1, "CDELT1")); /* said once */
    image_close(first);
    image_close(second);
    image_close(third);
}

/* ---- coordinates of FITS --------------------------------------------------------------------- */

static const char *const CD[] = {"CTYPE1  = 'RA---TAN'",
                                 "CTYPE2  = 'DEC--TAN'",
                                 "CRVAL1  = 30.0",
                                 "CRVAL2  = -10.0",
                                 "CRPIX1  = 20.5 / reference",
                                 "CRPIX2  = 11",
                                 "CD1_1   = -1.0D-4",
                                 "CD1_2   = 4E-5",
                                 "CD2_1   = 4E-5",
                                 "CD2_2   = 1E-4",
                                 "LTV1    = 5.0",
                                 "OBJECT  = 'sky'",
                                 NULL};
static const char *const PC[] = {"CTYPE1  = 'RA---TAN'",
                                 "CTYPE2  = 'DEC--TAN'",
                                 "CRVAL1  = 30.0",
                                 "CRVAL2  = -10.0",
                                 "CRPIX1  = 20.5",
                                 "CRPIX2  = 11",
                                 "CDELT1  = -1E-4",
                                 "CDELT2  = 2E-4",
                                 "PC1_1   = 0.8",
                                 "PC1_2   = -0.6",
                                 "PC2_1   = 0.6",
                                 "PC2_2   = 0.8",
                                 NULL};
static const char *const SIP[] = {"CTYPE1  = 'RA---TAN-SIP'",
                                  "CTYPE2  = 'DEC--TAN-SIP'",
                                  "CRVAL1  = 30.0",
                                  "CRVAL2  = -10.0",
                                  "CRPIX1  = 20.5",
                                  "CRPIX2  = 11",
                                  "CD1_1   = -1E-4",
                                  "CD2_2   = 1E-4",
                                  "A_ORDER = 2",
                                  "A_2_0   = 1E-6",
                                  "CRPIX1A = 3",
                                  "CRVAL1A = 4",
                                  "CDELT1A = 2",
                                  NULL};
static const char *const TURNED[] = {"CRVAL1  = 30.0",  "CRVAL2  = -10.0", "CRPIX1  = 20.5", "CRPIX2  = 11",
                                     "CDELT1  = -1E-4", "CDELT2  = 1E-4",  "CROTA2  = 30.0", NULL};

static const char *const RADIO[] = {"NAXIS3  = 4",          "NAXIS4  = 1",          "NAXIS5  = 4",
                                    "CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'", "CTYPE3  = 'STOKES  '",
                                    "CTYPE4  = 'BEAM    '", "CTYPE5  = 'FREQ    '", "CRVAL3  = -1",
                                    "CRVAL5  = 1.4E9",      "CRPIX3  = 1",          "CRPIX5  = 3",
                                    "CDELT3  = -1",         "CDELT5  = 1E6",        "PC5_3   = 0.5",
                                    "PC4_3   = 0.25",       "CNAME5A = 'velocity'", NULL};

static char *header_with(const char *const *cards)
{
    char *text = arena_array(&arena, char, 40 * 80 + 1);
    int axes = 2;
    for (int i = 0; cards[i] != NULL; i++) {
        axes += strncmp(cards[i], "NAXIS", 5) == 0;
    }
    int n = snprintf(text, 81, "NAXIS   = %-70d", axes);
    n += snprintf(text + n, 81, "%-80s", "NAXIS1  = 60");
    n += snprintf(text + n, 81, "%-80s", "NAXIS2  = 40");
    for (int i = 0; cards[i] != NULL; i++) {
        n += snprintf(text + n, 81, "%-80s", cards[i]);
    }
    return text;
}

/* A number of a header, or what stands there where the card is missing. */
static double card(const char *header, const char *key, double missing)
{
    for (; strlen(header) >= 80; header += 80) {
        if (strncmp(header, key, strlen(key)) == 0 && header[8] == '=' &&
            (header[strlen(key)] == ' ' || strlen(key) == 8)) {
            char text[24] = "";
            memcpy(text, header + 10, 23);
            for (char *d = strchr(text, 'D'); d != NULL; d = NULL) {
                *d = 'E';
            }
            return strtod(text, NULL);
        }
    }
    return missing;
}

/* Coordinates on the plane of projection, of a pixel counted from 0. */
static void intermediate(const char *h, const double pixel[2], double to[2])
{
    double d[2] = {pixel[0] + 1 - card(h, "CRPIX1", NAN), pixel[1] + 1 - card(h, "CRPIX2", NAN)};
    bool cd = !isnan(card(h, "CD1_1", NAN));
    double turn = card(h, "CROTA2", 0) * 3.14159265358979323846 / 180;
    for (int i = 0; i < 2; i++) {
        to[i] = 0;
        for (int j = 0; j < 2; j++) {
            char key[9];
            snprintf(key, sizeof key, cd ? "CD%d_%d" : "PC%d_%d", i + 1, j + 1);
            double m = card(h, key, i == j && !cd ? 1 : 0);
            to[i] += m * d[j];
        }
    }
    if (!cd) {
        double x = to[0] * card(h, "CDELT1", NAN), y = to[1] * card(h, "CDELT2", NAN);
        to[0] = x * cos(turn) - y * sin(turn);
        to[1] = x * sin(turn) + y * cos(turn);
    }
}

static void coordinates_follow_in_fits(void **state)
{
    (void)state;
    static const double STEPS[][4] = {{1, 10, 1, 5},
                                      {2, 0.5, 2, 0.5},
                                      {3, 1, 2, 0.5},
                                      {-1, 59, 1, 0},
                                      {0.5, -0.25, 2.0 / 3, -1.0 / 6},
                                      {2, 10.5, -2, 23.5}};
    static const char *const *const HEADERS[] = {CD, PC};
    for (size_t k = 0; k < 2 * sizeof STEPS / sizeof *STEPS; k++) {
        const double *s = STEPS[k / 2];
        ImageInfo like = {.style = "fits", .extra = header_with(HEADERS[k % 2])};
        ImagePlace place = scaled_place(s[0], s[1], s[2], s[3]);
        ImageFile *file = written("sky.fits", "fits", &like, &place, 20, 10);
        const char *header = image_info(file)->extra;
        for (int p = 0; p < 9; p++) {
            double at[2] = {p % 3 * 7, p / 3 * 4}, got[2], want[2];
            double from[2] = {s[0] * at[0] + s[1], s[2] * at[1] + s[3]};
            intermediate(header, at, got);
            intermediate(like.extra, from, want);
            assert_true(fabs(got[0] - want[0]) < 1e-15 && fabs(got[1] - want[1]) < 1e-15);
        }
        assert_null(strstr(header, "LTV1"));
        assert_true(k % 2 == 1 || strstr(header, "/ reference") != NULL);
        assert_true(card(header, "CRVAL1", 0) == 30);
        image_close(file);
    }
}

/* The cards of a header that stay when an image is written at a place. */
static const char *after(const char *const *cards, ImagePlace place, int64_t x, int64_t y)
{
    ImageInfo like = {.style = "fits", .extra = header_with(cards)};
    ImageFile *file = written("sky.fits", "fits", &like, &place, x, y);
    const char *text = arena_strdup(&arena, image_info(file)->extra);
    image_close(file);
    return text;
}

static void coordinates_that_do_not_follow_are_left_out(void **state)
{
    (void)state;
    const ImagePlace nowhere = {.moved = true}, same = {.moved = false};
    const ImagePlace swapped = {true, {{0, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}}};
    const ImagePlace places[] = {nowhere, swapped, same, scaled_place(2, NAN, 2, 0)};
    for (int i = 0; i < 4; i++) {
        const char *header = after(CD, places[i], 20, 10); /* `same` has another size: another image */
        assert_null(strstr(header, "CRPIX"));
        assert_null(strstr(header, "CD1_1"));
        assert_null(strstr(header, "CTYPE"));
        assert_non_null(strstr(header, "OBJECT"));
    }
    const char *header = after(CD, same, W, H);
    assert_non_null(strstr(header, "LTV1"));
    assert_non_null(strstr(header, "CD1_1   = -1.0D-4"));
    header = after(SIP, scaled_place(1, 10, 1, 5), 20, 10);
    assert_non_null(strstr(header, "A_2_0"));
    assert_true(card(header, "CRPIX1", 0) == 10.5 && card(header, "CRPIX1A", 0) == -7);
    header = after(SIP, scaled_place(2, 0.5, 2, 0.5), 20, 10);
    assert_null(strstr(header, "A_2_0"));
    assert_null(strstr(header, "A_ORDER"));
    assert_null(strstr(header, "CTYPE1"));
    header = after(TURNED, scaled_place(2, 0.5, 2, 0.5), 20, 10);
    assert_true(card(header, "CROTA2", 0) == 30 && card(header, "CDELT1", 0) == -2e-4);
    header = after(TURNED, scaled_place(2, 0.5, 1, 0), 20, 10);
    assert_null(strstr(header, "CROTA2"));
    assert_null(strstr(header, "CDELT1"));
}

/* Stokes parameters come before frequencies in many cubes, and behind them in what is written. */
static void coordinates_go_with_their_axes(void **state)
{
    (void)state;
    static const ImagePlace SAME = {.moved = false}, EVERY_OTHER = {true, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 2, 1}}};
    static const struct {
        const ImagePlace *place;
        int64_t extent[5];
        const char *third, *fourth;
        double reference;
    } cases[] = {
        {&SAME, {W, H, 4, 4, 1}, "FREQ", "STOKES", 3}, {&SAME, {W, H, 4, 1, 1}, "FREQ", NULL, 3},
        {&SAME, {W, H, 1, 4, 1}, "STOKES", NULL, 1},   {&EVERY_OTHER, {W, H, 2, 4, 1}, "FREQ", "STOKES", 1.5},
        {&SAME, {W, H, 3, 4, 1}, NULL, "STOKES", NAN},
    };
    ImageInfo like = {.style = "fits", .extra = header_with(RADIO)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ImageFile *file = written_cube("cube.fits", "fits", &like, cases[i].place, cases[i].extent);
        const ImageInfo *info = image_info(file);
        const char *header = info->extra, *names[] = {cases[i].third, cases[i].fourth};
        assert_true(info->z == cases[i].extent[2] && info->c == cases[i].extent[3]);
        for (int k = 0; k < 2; k++) {
            char want[32];
            bool named = names[k] != NULL;
            snprintf(want, sizeof want, "CTYPE%d%s%s", k + 3, named ? "  = '" : "", named ? names[k] : "");
            assert_true((strstr(header, want) != NULL) == named);
        }
        bool by_frequency = names[0] != NULL && strcmp(names[0], "FREQ") == 0;
        assert_true(isnan(cases[i].reference) || card(header, "CRPIX3", 0) == cases[i].reference);
        assert_true(card(header, "CRVAL3", 0) == (by_frequency ? 1.4e9 : names[0] != NULL ? -1 : 0));
        assert_true(card(header, "CDELT4", 0) == (names[1] != NULL ? -1 : 0));
        assert_true((strstr(header, "CNAME3A = 'velocity'") != NULL) == by_frequency);
        assert_true((strstr(header, "PC3_4") != NULL) == (by_frequency && names[1] != NULL));
        assert_null(strstr(header, "PC4_3"));
        assert_null(strstr(header, "BEAM"));
        image_close(file);
    }
}

/* Where time points were planes of the pipeline, a place along its z is one along time. */
static void coordinates_of_time_as_z(void **state)
{
    (void)state;
    static const char *const FILM[] = {"NAXIS3  = 5",          "NAXIS4  = 3",   "CTYPE3  = 'TIME    '",
                                       "CTYPE4  = 'FREQ    '", "CRPIX3  = 4",   "CRPIX4  = 2",
                                       "CDELT3  = 60",         "CDELT4  = 1E6", NULL};
    const ImagePlace later = {true, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 2, 1}}};
    ImageInfo like = {.style = "fits", .time_as_z = true, .extra = header_with(FILM)};
    ImageFile *file = written_cube("film.fits", "fits", &like, &later, (int64_t[]){W, H, 2, 1, 3});
    const ImageInfo *info = image_info(file);
    const char *header = info->extra;
    assert_true(info->z == 3 && info->t == 2);
    assert_true(card(header, "CRPIX3", 0) == 2 && card(header, "CDELT3", 0) == 1e6);
    assert_true(card(header, "CRPIX4", 0) == 2 && card(header, "CDELT4", 0) == 120);
    image_close(file);
}

/* Wavelengths stay when the slit is summed up; those of a tilted spectrum depend on both axes. */
static void axes_of_their_own_stay(void **state)
{
    (void)state;
    static const char *const SLIT[] = {"CTYPE1  = 'WAVE    '", "CRVAL1  = 4000", "CRVAL2  = 3",
                                       "CRPIX1  = 5",          "CRPIX2  = 1",    "CDELT1  = 2",
                                       "CDELT2  = 0.5",        "PC1_2   = 0",    NULL};
    static const char *const TILTED[] = {"CTYPE1  = 'WAVE    '", "CRVAL1  = 4000", "CRVAL2  = 3",    "CRPIX1  = 5",
                                         "CRPIX2  = 1",          "CDELT1  = 2",    "PC1_2   = 0.01", NULL};
    const ImagePlace summed = {true, {{1, 0, 0, 0}, {0, NAN, 0, NAN}, {0, 0, 1, 0}}};
    const char *header = after(SLIT, summed, W, 1);
    assert_true(card(header, "CRVAL1", 0) == 4000 && card(header, "CRPIX1", 0) == 5);
    assert_null(strstr(header, "CRVAL2"));
    assert_null(strstr(header, "PC1_2"));
    assert_null(strstr(after(TILTED, summed, W, 1), "CRVAL"));
    assert_null(strstr(after(CD, summed, W, 1), "CRVAL"));
}

/* A spectrum has one axis in its file, and is written as an image of one row. */
static void a_line_has_coordinates(void **state)
{
    (void)state;
    static const char *const CARDS[] = {"NAXIS   = 1", "NAXIS1  = 60", "CRPIX1  = 5", "CRVAL1  = 4000", "CDELT1  = 2"};
    char text[5 * 80 + 1];
    for (int i = 0; i < 5; i++) {
        snprintf(text + 80 * i, 81, "%-80s", CARDS[i]);
    }
    ImageInfo like = {.style = "fits", .extra = text};
    const ImagePlace place = scaled_place(2, 0.5, 1, 0);
    ImageFile *file = written("line.fits", "fits", &like, &place, 30, 1);
    const char *header = image_info(file)->extra;
    assert_true(card(header, "CRPIX1", 0) == 2.75 && card(header, "CDELT1", 0) == 4);
    assert_true(card(header, "CRVAL1", 0) == 4000);
    image_close(file);
}

#define in_arena(test) cmocka_unit_test_setup_teardown(test, arena_setup, arena_teardown)

static int enter(void **state)
{
    return arena_setup(state) != 0 || folder_enter(state) != 0;
}

static int leave(void **state)
{
    return folder_leave(state) != 0 || arena_teardown(state) != 0;
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_arena(outputs_say_where_their_pixels_lie),
        in_arena(places_need_no_size),
        in_arena(broken_places_are_refused),
        in_arena(lengths_are_in_the_pixels_of_their_image),
        in_arena(lengths_count_pixels_beside_anything_else),
        in_folder(sizes_follow_in_files),
        in_folder(sizes_go_from_format_to_format),
        in_folder(coordinates_follow_in_fits),
        in_folder(coordinates_go_with_their_axes),
        in_folder(coordinates_of_time_as_z),
        in_folder(axes_of_their_own_stay),
        in_folder(a_line_has_coordinates),
        in_folder(coordinates_that_do_not_follow_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
