/*
 * passes: what each pass does to a graph, seen in its text; and that none of them, alone or in any
 * company, changes a bit.
 */
#include "base/file.h"
#include "fixtures.h"
#include "ir/verify.h"
#include "reference/eval.h"
#include "passes/pass.h"
#include "tests/support/both.h"
#include "tests/support/pipelines.h"
#include "tests/support/turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static IrGraph *parse(const char *text)
{
    const char *complaints;
    IrGraph *g = pipeline_parse(&arena, "test.ir", text, &complaints);
    if (g == NULL) {
        fail_msg("%s\n%s", text, complaints);
    }
    return g;
}

/* The graph's text after some passes. */
static const char *after(IrGraph *g, const char *passes)
{
    PassContext cx = {.fuse = FUSE_ALL, .only = passes, .verify = true};
    for (int i = 0; i < PASS_COUNT; i++) {
        if (strstr(passes, PASSES[i].name) != NULL) {
            PASSES[i].run(g, &cx);
        }
    }
    return pipeline_print(g);
}

static void assert_in(const char *text, const char *words)
{
    if (strstr(text, words) == NULL) {
        fail_msg("expected\n  %s\nin\n%s", words, text);
    }
}

static void assert_not_in(const char *text, const char *words)
{
    if (strstr(text, words) != NULL) {
        fail_msg("did not expect\n  %s\nin\n%s", words, text);
    }
}

static int count_in(const char *text, const char *words)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, words)) != NULL; p++) {
        n++;
    }
    return n;
}

#define HEAD                                                                             \
    "graph test\nparam k = 2 in 0 .. 9\ngrid 0 [x = extent(%1, x), y = extent(%1, y)]\n" \
    "%1 image = input \"yx\" : image file grid 0\n"
#define MAP(number, name) "%" #number " " name " = map : image f32 grid 0\n    in 0 "

/* What becomes of one expression. */
static void assert_folds(const char *before, const char *want)
{
    const char *head = arena_printf(&arena, "%s%s", HEAD, MAP(2, "b"));
    IrGraph *g = parse(arena_printf(&arena, "%s%s\noutput b = %%2 as tif\n", head, before));
    const char *line = arena_printf(&arena, "    in 0 %s\n", want);
    assert_in(after(g, "fold"), line);
}

static void fold_removes_what_changes_nothing(void **state)
{
    (void)state;
    assert_folds("mul(%1, 1:f32)", "%1");
    assert_folds("mul(1:f32, %1)", "%1");
    assert_folds("div(%1, 1:f32)", "%1");
    assert_folds("neg(neg(%1))", "%1");
    assert_folds("f32(not(not(gt(%1, 3:f32))))", "f32(gt(%1, 3:f32))");
    assert_folds("select(1:bool, %1, 0:f32)", "%1");
    assert_folds("select(0:bool, %1, 0:f32)", "0:f32");
    assert_folds("select(gt(%1, 2:f32), %1, %1)", "%1");
    assert_folds("select(isnan(f32(gt(%1, 2:f32))), 0:f32, %1)", "%1");
    assert_folds("select(any(#0 in 0 .. 4, isnan(f32(gt(%1@[x = #0], 2:f32)))), 0:f32, %1)", "%1");
    assert_folds("add(%1, f32(7))", "add(%1, 7:f32)");
    assert_folds("add(%1, f32(mul(2, 3)))", "add(%1, 6:f32)");
    assert_folds("abs(sub(%1[x = -1], %1))", "abs(sub(%1, %1[x = -1]))");
    assert_folds("abs(mul(neg(sub(%1, %1[y = 1])), 3:f32))", "abs(mul(sub(%1[y = 1], %1), 3:f32))");
    assert_folds("abs(sub(%1[x = 9], %1[y = 1]))", "abs(sub(%1[y = 1], %1[x = 9]))");
    assert_folds("sub(%1[x = 1, border = reflect], %1[x = -1, y = 1, border = reflect])",
                 "sub(%1[x = 1], %1[x = -1, y = 1])");
    assert_folds("sum(#0 in 0 .. 3, %1[y = add(#0, -3)])", "sum(#1 in -3 .. 0, %1[y = #1])");
    assert_folds("sum(#0 in 1 .. 2, sum(#1 in 0 .. 3, %1[x = add(#1, -2), y = #0]))",
                 "sum(#0 in 1 .. 2, sum(#2 in -2 .. 1, %1[x = #2, y = #0]))");
}

static void fold_keeps_what_would_change_a_bit(void **state)
{
    (void)state;
    assert_folds("add(%1, 0:f32)", "add(%1, 0:f32)"); /* -0 + 0 is 0 */
    assert_folds("mul(%1, 0:f32)", "mul(%1, 0:f32)"); /* NaN and the infinities */
    assert_folds("sub(%1, %1)", "sub(%1, %1)");
    assert_folds("div(%1, %1)", "div(%1, %1)");
    assert_folds("mul(sub(%1[x = -1], %1), %1)", "mul(sub(%1[x = -1], %1), %1)");
    assert_folds("abs(add(%1, neg(%1[x = 1])))", "abs(add(%1, neg(%1[x = 1])))");
    assert_folds("sub(%1[x = 1, border = reflect], %1[x = 2, border = reflect])",
                 "sub(%1[x = 1, border = reflect], %1[x = 2, border = reflect])");
    assert_folds("sub(%1[x = 1, border = mirror], %1)", "sub(%1[x = 1, border = mirror], %1)");
    assert_folds("sum(#0 in 0 .. 3, %1[x = #0, y = add(#0, -3)])", "sum(#0 in 0 .. 3, %1[x = #0, y = add(#0, -3)])");
    assert_folds("sum(#0 in 0 .. 3, %1[x = add(#0, 1), y = add(#0, -3)])",
                 "sum(#0 in 0 .. 3, %1[x = add(#0, 1), y = add(#0, -3)])");
}

#define REDUCED "%2 m = reduce : value f64\n    in 0 %1\n    arg 0 7\n"

static void limits_are_rounded_once(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"gt(f64(%1), %2.0)", "gt(%1, f32(f32_below(%2.0)))"},
        {"le(f64(%1), %2.0)", "le(%1, f32(f32_below(%2.0)))"},
        {"lt(f64(%1), %2.0)", "lt(%1, f32(f32_above(%2.0)))"},
        {"ge(f64(%1), %2.0)", "ge(%1, f32(f32_above(%2.0)))"},
        {"gt(%2.0, f64(%1))", "lt(%1, f32(f32_above(%2.0)))"},
        {"le(%2.0, f64(%1))", "ge(%1, f32(f32_above(%2.0)))"},
        {"gt(f64(%1), 0x1.0000000000001p0)", "gt(%1, 1:f32)"},
        {"lt(f64(%1), inf)", "lt(%1, inf:f32)"},
        {"eq(f64(%1), %2.0)", "eq(f64(%1), %2.0)"},
        {"gt(f64(%1), f64(coord(x)))", "gt(f64(%1), f64(coord(x)))"},
        {"gt(f64(coord(x)), %2.0)", "gt(f64(coord(x)), %2.0)"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const char *head = arena_printf(&arena, "%s%s%s", HEAD, REDUCED, MAP(3, "b"));
        IrGraph *g = parse(arena_printf(&arena, "%sf32(%s)\noutput b = %%3 as tif\n", head, ROWS[i][0]));
        assert_in(after(g, "limits"), arena_printf(&arena, "    in 0 f32(%s)\n", ROWS[i][1]));
    }
}

static void folds_that_choose_are_unrolled(void **state)
{
    (void)state;
    static const struct {
        const char *of, *becomes;
    } CASES[] = {
        {"max(s * gaussian(image, s, border = wrap) for s in 1 .. 2)", "max(mul(1:f32, %3), mul(2:f32, %5))"},
        {"sum(gaussian(image, s) for s in 1 .. 2)", "add(add(0:f32, %3), %5)"},
        {"prod(gaussian(image, s + t) for s in 1 .. 2, t in 0 .. 1 where s != t)", "mul(mul(%3, %5), %7)"},
        {"any(image > gaussian(image, s) for s in 1 .. 2)", "or(gt(%1, %3), gt(%1, %5))"},
        {"std(gaussian(image, s) for s in 1 .. 2)",
         "fma(sub(%5, %6), sub(%5, %6), fma(sub(%3, %6), sub(%3, %6), 0:f32))"},
        {"sum(s * image for s in 1 .. 2)", "sum(#0 in 1 .. 2"},
        {"median(gaussian(image, s) for s in 1 .. 3)", "rank("},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *text = arena_printf(&arena, "input image[y, x]\noutput a = %s\n", CASES[i].of);
        assert_in(after(pipeline_must("test.pipe", text), "unroll"), CASES[i].becomes);
    }
}

static void a_window_that_is_ranked_beside_folds_is_an_image(void **state)
{
    (void)state;
    static const struct {
        const char *of, *becomes;
    } CASES[] = {
        {"median_filter(image, 1) - median_filter(image, [0, 1])", "sub(%3, %4)"},
        {"median_filter(image, [0, 1]) / max_filter(image, [0, 1])", "div(%3, max(#"},
        {"median_filter(image, [0, 1]) * median_filter(image, [0, 1])", "mul(t1, t1)"},
        {"image - median_filter(image, [0, 1])", "sub(%1, rank(#"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *text = arena_printf(&arena, "input image[y, x]\noutput a = %s\n", CASES[i].of);
        assert_in(after(pipeline_must("test.pipe", text), "ranks"), CASES[i].becomes);
    }
}

static void folds_over_one_range_share_a_loop(void **state)
{
    (void)state;
    static const struct {
        const char *of;
        int loops; /* of different indices */
    } CASES[] = {
        {"sum(exp(-abs(image[dx = i] - image)) * image[dx = i] for i in -2 .. 2) / "
         "sum(exp(-abs(image[dx = i] - image)) for i in -2 .. 2)",
         1},
        {"max(image[dx = i] for i in -2 .. 2) - min(image[dx = i] for i in -2 .. 2)", 1},
        {"sum(image[dx = i] for i in -2 .. 2) / count(image[dx = k] > 3 for k in -2 .. 2)", 1},
        /* the folds inside as well, outside of which an index has another name */
        {"sum(image[dx = i] * sum(image[dx = i + k] for k in 0 .. 1) for i in -2 .. 2) / "
         "sum(sqrt(sum(image[dx = i + m] for m in 0 .. 1)) for i in -2 .. 2)",
         2},
        /* Not: other ranges, other pixels, one in the other, sorted. */
        {"max(image[dx = i] for i in -2 .. 2) - min(image[dx = i] for i in -1 .. 2)", 2},
        {"max(image[dx = i] for i in -2 .. 2) - min(image[dy = i] for i in -2 .. 2)", 2},
        {"max(image[dx = i] - min(image[dx = k] for k in -2 .. 2) for i in -2 .. 2)", 2},
        {"max(image[dx = i] for i in -2 .. 2) - median(image[dx = i] for i in -2 .. 2)", 2},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IrGraph *g =
            pipeline_must("test.pipe", arena_printf(&arena, "input image[y, x]\noutput a = %s\n", CASES[i].of));
        const char *text = after(g, "abreast");
        int loops = 0;
        for (int k = 0; k < g->next_index; k++) {
            loops += strstr(text, arena_printf(&arena, "(#%d in ", k)) != NULL;
        }
        if (loops != CASES[i].loops) {
            fail_msg("%s: %d loops\n%s", CASES[i].of, loops, text);
        }
    }
}

static void equal_nodes_become_one(void **state)
{
    (void)state;
    IrGraph *g = parse(HEAD MAP(2, "b") "sqrt(%1)\n" MAP(3, "c") "sqrt(%1)\n" MAP(4, "d") "add(%2, 1:f32)\n" MAP(
        5, "e") "add(%3, 1:f32)\n" MAP(6, "f") "mul(%4, %5)\n"
                                               "output f = %6 as tif\noutput e = %5 as tif\n");
    const char *text = after(g, "cse");
    assert_in(text, "in 0 mul(%4, %4)\n");
    assert_in(text, "output e = %4 as tif");
    assert_not_in(text, "%3 c");
    assert_not_in(text, "%5 e");
}

static void nodes_that_differ_stay_apart(void **state)
{
    (void)state;
    IrGraph *g = parse(HEAD MAP(2, "b") "%1\n%3 c = map : image u8 grid 0\n    in 0 sat_u8(%1)\n"
                                        "%4 r = reduce : value f64\n    in 0 %1\n    arg 0 1\n"
                                        "%5 s = reduce : value f64\n    in 0 %1\n    arg 0 2\n"
                                        "output b = %2 as tif\noutput c = %3 as tif\n"
                                        "output v as csv\n    value add(%4.0, %5.2)\n");
    const char *before = pipeline_print(g);
    assert_string_equal(after(g, "cse"), before);
}

/* `of`, loops and their carries are renamed, too. */
static void merged_nodes_are_renamed_everywhere(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x]\na = image * 2\nb = image * 2\nk = a\nl = b\n"
                                            "repeat 3 { k = k + otsu(a)\n l = l + otsu(b) }\n"
                                            "output k\noutput l\n");
    assert_int_equal(count_in(pipeline_print(g), " = histogram"), 2);
    const char *text = after(g, "cse,dce");
    assert_int_equal(count_in(text, " = histogram"), 1);
    assert_int_equal(count_in(text, " = threshold"), 1);
    assert_int_equal(count_in(text, "    carry %"), 2);
    assert_not_in(text, " b = ");
}

static void what_no_output_needs_is_removed(void **state)
{
    (void)state;
    IrGraph *g = parse(
        HEAD MAP(2, "b") "sqrt(%1)\n" MAP(3,
                                          "unused") "sqrt(%2)\n" MAP(4,
                                                                     "unused_too") "sqrt(%3)\noutput b = %2 as tif\n");
    const char *text = after(g, "dce");
    assert_in(text, "%2 b");
    assert_not_in(text, "unused");
}

static void loops_that_nothing_reads_are_removed(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x]\nk = image\nrepeat 3 { k = gaussian(k, 2) }\n"
                                            "output a = image + 1\nprobe = k\n");
    assert_in(pipeline_print(g), "loop 1 in 0");
    const char *text = after(g, "dce");
    assert_not_in(text, "loop");
    assert_not_in(text, "gaussian_x");
    /* A carry that only itself reads goes alone. */
    g = pipeline_must("test.pipe", "input image[y, x]\nk = image\nl = image\n"
                                   "repeat 3 { k = k + 1\n l = gaussian(l, 2) }\noutput k\n");
    text = after(g, "dce");
    assert_int_equal(count_in(text, "    carry %"), 1);
    assert_not_in(text, "gaussian_x");
}

static void reductions_compute_what_is_used(void **state)
{
    (void)state;
    IrGraph *g =
        pipeline_must("test.pipe", "input image[y, x]\noutput a = mean(image)\noutput b = image / max(image)\n");
    assert_in(after(g, "demand"), "arg 0 5\n"); /* sum and count, extremes */
    g = pipeline_must("test.pipe", "input image[y, x]\nlo = mean(image)\n"
                                   "repeat until std(image where image > lo) is stable, at most 5 {\n"
                                   "  lo = mean(image where image > lo)\n}\noutput a = image > lo\n");
    assert_in(after(g, "demand"), "arg 0 3\n"); /* also the squares */
}

/* One reading for both, but not of other pixels, nor of what a kernel reduces while it stores it. */
static void percentiles_and_reductions_share_a_reading(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x]\noutput a = mean(image)\noutput b = median(image)\n"
                                            "output c = percentile(image, 90)\n");
    const char *text = after(g, "summary");
    assert_in(text, " = summary : value f64");
    assert_in(text, "arg 0 1\n    arg 1 50\n");
    assert_in(text, "value %2.5\n");
    assert_int_equal(count_in(text, " = rank"), 1);
    assert_not_in(text, " = reduce");
    g = pipeline_must("test.pipe", "input image[y, x]\nm = median(image)\noutput a = m - mean(image)\n");
    text = after(g, "summary"); /* the rank comes first */
    assert_in(text, "value sub(%2.5, div(%2.0, %2.1))\n");
    g = pipeline_must("test.pipe",
                      "input image[y, x]\noutput a = mean(image where image > 3)\noutput b = median(image)\n");
    assert_not_in(after(g, "summary"), " = summary");
    g = pipeline_must("test.pipe", "input image[y, x]\ng = gaussian(image, 2)\noutput g\n"
                                   "output a = mean(g)\noutput b = median(g)\n");
    assert_not_in(after(g, "summary"), " = summary");
}

/* Nothing but the range may be wanted of the reduction, nothing but otsu of the histogram. */
static void otsu_is_one_node_with_its_range(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x] : f32\noutput a = otsu(image)\noutput b = max(image)\n");
    const char *text = after(g, "summary");
    assert_in(text, " = otsu : value f64");
    assert_in(text, "arg 0 256\n    arg 1 0\n");
    assert_in(text, "value %2.5\n");
    assert_in(text, "value %2.4\n");
    assert_not_in(text, " = reduce");
    assert_not_in(text, " = histogram");
    assert_not_in(text, " = threshold");
    g = pipeline_must("test.pipe", "input image[y, x] : f32\noutput a = otsu(image)\noutput b = yen(image)\n");
    assert_not_in(after(g, "summary"), " = otsu :");
    g = pipeline_must("test.pipe", "input image[y, x] : f32\noutput a = otsu(image)\noutput b = mean(image)\n");
    assert_not_in(after(g, "summary"), " = otsu :");
    g = pipeline_must("test.pipe", "input image[y, x] : f32\ng = gaussian(image, 2)\noutput g\noutput a = otsu(g)\n");
    assert_not_in(after(g, "summary"), " = otsu :");
}

static void pointwise_stages_are_computed_where_they_are_read(void **state)
{
    (void)state;
    IrGraph *g = parse(HEAD MAP(2, "b") "sqrt(%1)\n" MAP(3, "c") "add(%2, %2)\noutput c = %3 as tif\n");
    const char *text = after(g, "inline,dce");
    assert_in(text, "in 0 add(sqrt(%1), sqrt(%1))\n");
    assert_not_in(text, "%2 b");
}

/* A primitive computes what it reads itself only where that takes a few pixels. */
static void stencils_in_front_of_primitives_are_stages(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x]\noutput a = label(erode(image > 3, disk(2)))\n");
    const char *text = after(g, "inline,dce");
    assert_int_equal(count_in(text, " = map"), 2);
    assert_in(text, "= label : labels u32 grid 0");
    g = pipeline_must("test.pipe", "input image[y, x] : f32\noutput a = label(image[dx = 1] > image[dx = -1])\n");
    assert_int_equal(count_in(after(g, "inline,dce"), " = map"), 0);
}

static void what_several_readers_share_is_computed_once(void **state)
{
    (void)state;
    IrGraph *g =
        pipeline_must("test.pipe", "input image[y, x] : f32\na = sqrt(exp(sin(cos(image))))\nb = a * 2\nc = a * 3\n"
                                   "d = a * 5\nf = a * 7\nh = a * 11\ni = a * 13\nj = a * 17\nk = a * 19\n"
                                   "output l = b + c + d + f + h + i + j + k\n");
    const char *text = after(g, "inline,dce");
    assert_int_equal(count_in(text, " = map"), 1);
    /* For each channel it would be computed anew. */
    g = pipeline_must("test.pipe", "input image[y, x] : f32\n"
                                   "a = sqrt(exp(sin(cos(sqrt(exp(sin(cos(sqrt(exp(sin(cos(sqrt(image)))))))))))))\n"
                                   "output p = a * c_of(canvas(image, channels = 3))\n");
    assert_int_equal(count_in(after(g, "inline,dce"), " = map"), 2);
    g = pipeline_must("test.pipe",
                      "input image[y, x] : f32\na = image * 2\noutput p = a * c_of(canvas(image, channels = 3))\n");
    assert_int_equal(count_in(after(g, "inline,dce"), " = map"), 1);
}

/* Two long folds in one kernel would keep their sums in memory; folds of a few rows share one. */
static void folds_share_a_kernel_as_far_as_registers_go(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int kernels;
    } CASES[] = {
        {"output a = gaussian(image, 1) - gaussian(image, 3)\n", 1},
        {"d = image - gaussian(image, 8)\noutput a = d / max(sqrt(gaussian(d * d, 8)), 1)\n", 4},
        {"a = gaussian(image * image[dx = 1], 3)\nb = gaussian(image * image[dx = 2], 3)\noutput c = a / max(b, 1)\n",
         3},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IrGraph *g = pipeline_must("test.pipe", arena_printf(&arena, "input image[y, x]\n%s", CASES[i].text));
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        assert_int_equal(pass_run_all(g, &cx)->steps.n, CASES[i].kernels);
    }
}

static void images_between_kernels_keep_the_type_of_their_pixels(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        Elem elem;
    } CASES[] = {{"input image[z, y, x]\noutput a = f32(max_filter(image, 1)) + 0.5\n", ELEM_FILE},
                 {"input image[z, y, x] : u8\noutput a = f32(max_filter(image, 1)) + 0.5\n", ELEM_U8},
                 {"input image[z, y, x]\noutput a = gaussian(image, 1)\n", ELEM_F32}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IrGraph *g = pipeline_must("test.pipe", CASES[i].text);
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        const IrSchedule *s = pass_run_all(g, &cx);
        int stored = 0;
        for (IrId id = 1; id < (IrId)g->nodes.n; id++) {
            if (s->stored[id] && !ir_node(g, id)->dead && ir_node(g, id)->op == IR_MAP && id != g->outputs.at[0].node) {
                assert_int_equal(ir_node(g, id)->elem, CASES[i].elem);
                stored++;
            }
        }
        assert_int_equal(stored, 1);
        ir_verify(g, "keep");
    }
}

static void values_in_a_row_share_a_launch(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("test.pipe", "input image[y, x]\noutput a = mean(image)\noutput b = std(image)\n"
                                            "output c = mean(image) * 2\n");
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    const IrSchedule *s = pass_run_all(g, &cx);
    assert_int_equal(s->steps.n, 2);
    assert_int_equal(s->steps.at[1].kind, IR_STEP_SCALARS);
    assert_int_equal(s->steps.at[1].stages.n, 3);
}

static const char *const PROGRAM =
    "input image[y, x]\nparam k = 2 in 1 .. 9\n"
    "fn norm(v) = (v - mean(v)) / std(v)\n"
    "blurred = gaussian(norm(image), k) * 1\n"
    "edges = sobel(blurred)\nagain = sobel(blurred)\n"
    "lo = mean(image)\nrepeat 3 { lo = mean(image where image > lo) }\n"
    "unused = median_filter(image, disk(1))\n"
    "output scales = max(s * gaussian(image, s) for s in 1 .. 2)\n"
    "labels = label(edges > otsu(again))\n"
    "output labels\noutput level = lo\noutput sum_of = edges + again if image > lo else -(-blurred)\n"
    "output table = measure(labels, image, area, mean)\n";

static IrEval *evaluate(const IrGraph *g, const IrEvalInput *input)
{
    const double params[] = {2};
    IrEval *ev;
    Err err = {0};
    if (!ir_eval(g, input, params, &ev, &err)) {
        fail_msg("%s", err.text);
    }
    return ev;
}

static void assert_same_outputs(const IrGraph *g, IrEval *want, const IrGraph *h, IrEval *got, const char *passes)
{
    for (int i = 0; i < g->outputs.n; i++) {
        const IrOutput *o = &g->outputs.at[i], *q = &h->outputs.at[i];
        if (o->node == 0) {
            assert_true(ir_eval_uniform(want, o->value) == ir_eval_uniform(got, q->value));
            continue;
        }
        const IrEvalNode *a = ir_eval_node(want, o->node), *b = ir_eval_node(got, q->node);
        assert_int_equal(a->rows, b->rows);
        size_t rows = (size_t)(a->rows * a->columns) * sizeof(double);
        assert_true(rows == 0 || memcmp(a->table, b->table, rows) == 0);
        size_t n = a->pixels != NULL ? (size_t)(a->extent[0] * a->extent[1]) : 0;
        if (n > 0 && memcmp(a->pixels, b->pixels, n * sizeof(double)) != 0) {
            fail_msg("output %s differs after the passes %s", o->name, passes);
        }
    }
}

/* Of the passes whose bits are set. */
static void check_choice(int choice, const IrGraph *plain, IrEval *want, IrEvalInput *input)
{
    Str names;
    str_init(&names, &arena);
    for (int i = 0; i < PASS_COUNT; i++) {
        if (choice >> i & 1) {
            str_addf(&names, "%s%s", names.n > 0 ? "," : "", PASSES[i].name);
        }
    }
    IrGraph *g = pipeline_must("test.pipe", PROGRAM);
    PassContext cx = {.fuse = FUSE_ALL, .only = names.at, .verify = true};
    assert_non_null(pass_run_all(g, &cx));
    IrEval *got = evaluate(g, input);
    assert_same_outputs(plain, want, g, got, names.at);
    ir_eval_free(got);
}

static void no_choice_of_passes_changes_a_bit(void **state)
{
    (void)state;
    enum { AT_ONCE = 256 }; /* before their memory is given back */
    IrEvalInput input = both_image(17, 13, 1, 1, ELEM_U8, 5, 1);
    for (int first = 0; first < 1 << PASS_COUNT; first += AT_ONCE) {
        IrGraph *plain = pipeline_must("test.pipe", PROGRAM);
        IrEval *want = evaluate(plain, &input);
        for (int choice = first; choice < first + AT_ONCE; choice++) {
            if (turn_has(choice)) {
                check_choice(choice, plain, want, &input);
            }
        }
        ir_eval_free(want);
        arena_free(&arena);
        arena_init(&arena);
    }
    free((void *)(uintptr_t)input.pixels);
}

/* ---- the examples in front of the passes ---------------------------------------------------- */

/* The lines of a comment's example that follow these words. */
static const char *example_after(const char *source, const char *words)
{
    static const char MARGIN[] = " *     ";
    const char *line = strstr(source, words);
    Str text;
    str_init(&text, &arena);
    for (int indented = 0; line != NULL && (line = strchr(line, '\n')) != NULL;) {
        const char *end = strchr(++line, '\n');
        if (strncmp(line, MARGIN, strlen(MARGIN)) == 0) {
            str_addn(&text, line + strlen(MARGIN), (size_t)(end + 1 - line) - strlen(MARGIN));
            indented++;
        } else if (indented > 0) {
            break;
        }
    }
    return text.at;
}

/* A printed graph without what all examples have in common, and without places in a source. */
static const char *as_example(const char *printed)
{
    static const char *const COMMON[] = {"graph ", "source ", "grid 0 ", "    1 \"", "%1 image ", "\n"};
    Str text;
    str_init(&text, &arena);
    for (const char *line = printed, *end; *line != '\0'; line = end) {
        end = strchr(line, '\n') + 1;
        bool common = false;
        for (size_t i = 0; i < sizeof COMMON / sizeof *COMMON; i++) {
            common = common || strncmp(line, COMMON[i], strlen(COMMON[i])) == 0;
        }
        const char *place = strstr(line, " at 0:");
        str_addn(&text, line, common ? 0 : (size_t)((place != NULL && place < end ? place : end - 1) - line));
        str_add(&text, common ? "" : "\n");
    }
    return text.at;
}

static void examples_become_what_is_said(void **state)
{
    (void)state;
    for (int i = 0; i < PASS_COUNT; i++) {
        char *source;
        size_t size;
        Err err = {0};
        assert_true(file_read(arena_printf(&arena, TEST_ROOT "/passes/%s.c", PASSES[i].name), &source, &size, &err));
        const char *before = example_after(source, "For example,"), *want = example_after(source, " * becomes");
        free(source);
        IrGraph *g = parse(arena_printf(&arena,
                                        "graph example\ngrid 0 [x = extent(%%1, x), y = extent(%%1, y)]\n"
                                        "%%1 image = input \"yx\" : image f32 grid 0\n%s",
                                        before));
        PassContext cx = {.fuse = FUSE_ALL, .in_rounds = true};
        assert_true(PASSES[i].run(g, &cx));
        const char *got = as_example(pipeline_print(g));
        if (strcmp(got, want) != 0) {
            fail_msg("%s makes\n%sof\n%s", PASSES[i].name, got, before);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(examples_become_what_is_said),
        TEST(fold_removes_what_changes_nothing),
        TEST(fold_keeps_what_would_change_a_bit),
        TEST(limits_are_rounded_once),
        TEST(folds_that_choose_are_unrolled),
        TEST(a_window_that_is_ranked_beside_folds_is_an_image),
        TEST(folds_over_one_range_share_a_loop),
        TEST(equal_nodes_become_one),
        TEST(nodes_that_differ_stay_apart),
        TEST(merged_nodes_are_renamed_everywhere),
        TEST(what_no_output_needs_is_removed),
        TEST(loops_that_nothing_reads_are_removed),
        TEST(reductions_compute_what_is_used),
        TEST(percentiles_and_reductions_share_a_reading),
        TEST(otsu_is_one_node_with_its_range),
        TEST(pointwise_stages_are_computed_where_they_are_read),
        TEST(stencils_in_front_of_primitives_are_stages),
        TEST(what_several_readers_share_is_computed_once),
        TEST(folds_share_a_kernel_as_far_as_registers_go),
        TEST(images_between_kernels_keep_the_type_of_their_pixels),
        TEST(values_in_a_row_share_a_launch),
        TEST(no_choice_of_passes_changes_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
