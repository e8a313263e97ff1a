/*
 * What kernels share: reductions that are taken while an image is written, and stages that read the
 * same image; how many steps that leaves, and that it changes no bit, in one piece and in parts.
 */
#include "fixtures.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const IrSchedule *schedule_of(const char *text, IrGraph **g)
{
    *g = pipeline_must("test.pipe", text);
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    return pass_run_all(*g, &cx);
}

/* One image under one plan. */
static void check(const char *text, const int size[4], Elem elem, int kind, PassFuse fuse,
                  int part_rows)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    BothCase in = {.n_inputs = 1, .part_rows = part_rows};
    in.inputs[0] = both_image(size[0], size[1], size[2], size[3], elem, 7, kind);
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = fuse, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%d x %d x %d, %s of %s, fuse %d, parts of %d: %s\n%s", size[0], size[1], size[2],
                 BOTH_KIND_NAMES[kind], elem_name(elem), (int)fuse, part_rows, why, text);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

/* Sizes with more than one group in each direction, and less than one. */
static const int SIZES[][2] = {{1, 1}, {5, 70}, {300, 130}, {259, 3}, {520, 65}};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES };

static void check_all(const char *text)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    const IrGrid *grid = &g->grids.at[ir_node(g, 1)->grid];
    for (int i = 0; i < N_SIZES; i++) {
        const int size[4] = {SIZES[i][0], SIZES[i][1], grid->has[IR_AX_Z] ? 5 : 1,
                             grid->has[IR_AX_C] ? 3 : 1};
        Elem declared = ir_node(g, 1)->elem;
        Elem elem = declared != ELEM_FILE ? declared : i % 2 ? ELEM_U8 : ELEM_F32;
        check(text, size, elem, i == 1 ? BOTH_SPECIAL : BOTH_NOISE, FUSE_ALL, 0);
        check(text, size, elem, BOTH_NOISE, i % 2 ? FUSE_NONE : FUSE_POINTWISE, 0);
        check(text, size, elem, BOTH_NOISE, FUSE_ALL, grid->has[IR_AX_Z] ? 2 : 33);
    }
}

/* ---- reductions --------------------------------------------------------------------------- */

static int count_taken(const IrGraph *g, const IrSchedule *s)
{
    int n = 0;
    for (int i = 0; i < g->nodes.n; i++) {
        n += s->taken_from[i] != 0;
    }
    return n;
}

static void reductions_are_taken_on_the_way(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int taken, strip;
    } CASES[] = {
        /* In any order: extremes, counts, sums of small whole numbers. */
        {"input image[y, x]\nb = gaussian(image, 2)\noutput m = b > otsu(b)\n", 1, 0},
        {"input image[y, x]\nparam s = 3\nb = gaussian(image, s)\noutput n = b / max(b)\n", 1, 0},
        {"input image[y, x]\noutput m = image > 3\noutput n = count(m)\n", 1, 0},
        {"input image[y, x]\noutput e = u16(sobel(image))\noutput a = mean(e)\n", 1, 0},
        {"input image[z, y, x]\nb = gaussian(image, 1)\noutput n = b - min(b)\n", 1, 0},
        {"input image[y, x, c]\nb = gaussian(image, 1)\noutput n = b - min(b)\n", 1, 0},
        {"input image[y, x]\nv = image\nrepeat 3 {\n b = gaussian(v, 1)\n v = b / (max(b) + 1)\n}\n"
         "output v\n", 1, 0},
        /* In the order of blocks. */
        {"input image[y, x] : f32\nb = gaussian(image, 1)\noutput n = b - mean(b)\n", 1, 64},
        {"input image[y, x]\nb = gaussian(image, 2)\noutput n = (b - mean(b)) / std(b) + max(b)\n",
         1, 64},
        {"input image[z, y, x]\nb = sobel(image)\noutput n = b - mean(b)\n", 0, 0},
        {"input image[y, x]\noutput e = u16(sobel(image))\noutput a = std(e)\n", 1, 64},
        /* Not: of a wide blur, which strips of 64 rows would compute twice; of some pixels only; of
         * an input. */
        {"input image[y, x]\nb = gaussian(image, 8)\noutput n = b - mean(b)\n", 0, 0},
        {"input image[y, x]\nb = gaussian(image, 2)\noutput n = b / max(b where b < 100)\n", 0, 0},
        {"input image[y, x]\noutput n = image / max(image)\n", 0, 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IrGraph *g;
        const IrSchedule *s = schedule_of(CASES[i].text, &g);
        int strip = 0;
        for (int k = 0; k < s->steps.n; k++) {
            strip = s->steps.at[k].strip > strip ? s->steps.at[k].strip : strip;
        }
        if (count_taken(g, s) != CASES[i].taken || strip != CASES[i].strip) {
            fail_msg("%s\n%d taken on the way, strips of %d", CASES[i].text, count_taken(g, s), strip);
        }
        check_all(CASES[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reductions_are_taken_on_the_way, arena_setup,
                                        arena_teardown),
    };
    return cmocka_run_group_tests_name("fusion", tests, open_device, close_device);
}
