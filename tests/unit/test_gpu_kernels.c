/* The kernels that GPUs get, on whatever device there is: what CPUs never run otherwise. */
#include "fixtures.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Extent {
    int w, h, d;
} Extent;

static void check(const char *text, Extent e, Elem elem, int kind, int part_rows)
{
    IrGraph *g = pipeline_must("test.pipe", text);
    BothCase in = {.n_inputs = 1, .shape = SHAPE_GPU, .part_rows = part_rows};
    in.inputs[0] = both_image(e.w, e.h, e.d, 1, elem, 5, kind);
    for (int i = 0; i < g->params.n; i++) {
        in.params[i] = g->params.at[i].value;
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%s\n%d x %d x %d of %s, parts of %d: %s", text, e.w, e.h, e.d, elem_name(elem),
                 part_rows, why);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

static const Extent SIZES[] = {{1, 1, 1},   {1, 40, 1},  {70, 3, 1},   {31, 17, 1},
                               {33, 9, 1},  {256, 19, 1}, {259, 150, 1}, {600, 21, 1}};

/* Every size, in one piece and in parts. */
static void check_sizes(const char *text, Elem elem, int kind)
{
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        check(text, SIZES[i], elem, kind, 0);
    }
    check(text, SIZES[6], elem, kind, 16);
    check(text, SIZES[7], elem, kind, 5);
}

static const char *const BORDERS[] = {"nearest", "reflect", "mirror", "wrap"};

static void windows_are_ranked_bit_by_bit(void **state)
{
    (void)state;
    for (int b = 0; b < 4; b++) {
        const char *text = arena_printf(
            &arena, "input image[y, x]\noutput a = u8(median(image[dx = i, dy = j, border = %s]\n"
                    "for j in -2 .. 2, i in -2 .. 2 where i * i + j * j <= 4))\n",
            BORDERS[b]);
        check_sizes(text, b % 2 ? ELEM_U16 : ELEM_U8, BOTH_NOISE);
    }
}

/* Of every rank and size of window; windows to one side; beside other reads, of planes, and what
 * is sorted still. */
static void windows_of_all_kinds(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "input image[y, x]\noutput a = median_filter(image, 3)\n",
        "input image[y, x]\noutput a = percentile_filter(image, 0, 1) + percentile_filter(image, 100, 1)\n",
        "input image[y, x]\noutput a = percentile(image[dx = i, dy = j] for j in -3 .. 3, i in -4 .. 4, q = 80)\n",
        "input image[y, x]\noutput a = percentile(image[dx = i] for i in -31 .. 31, q = 10)\n",
        "input image[y, x]\noutput a = percentile(image[dx = i] for i in 3 .. 9, q = 100)\n",
        "input image[y, x]\noutput a = median(image[dy = j] for j in -12 .. 12)\n",
        "input image[y, x]\noutput a = median(image[dy = j] for j in -9 .. -2)\n",
        "input image[y, x]\nparam r = 2\noutput a = image * x_of(image) - median_filter(image, r) / mean(image)\n",
        "input image[z, y, x]\noutput a = median(image[dx = i, dy = j] for j in -1 .. 1, i in -1 .. 1) + z_of(image)\n",
        "input image[z, y, x]\noutput a = median_filter(image, 1)\n",
        "input image[y, x]\noutput a = median(image[dx = i, dy = j, border = constant(7)] for j in -1 .. 1, i in -1 .. 1)\n",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        Extent e = {100, 60, i == 8 || i == 9 ? 3 : 1};
        check(TEXTS[i], e, ELEM_U8, BOTH_SMOOTH, 0);
        check(TEXTS[i], e, ELEM_U16, BOTH_EXTREME, 13);
        check(TEXTS[i], e, ELEM_F32, BOTH_SPECIAL, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(windows_are_ranked_bit_by_bit, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(windows_of_all_kinds, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
