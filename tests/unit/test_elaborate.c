/*
 * elaborate: that the tour's pipelines become the graphs that they should, that what the pages of
 * diag.def show is what happens, and that wrong programs are told so in the right place.
 */
#include "fixtures.h"
#include "pipelines.h"
#include "base/file.h"
#include "frontend/diag/diag.h"
#include "frontend/elaborate/elaborate.h"
#include "frontend/ops/ops.h"
#include "ir/function.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "pipe_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *name, *code, *page;
    bool warning;
} rows[] = {
#define ERROR false
#define WARNING true
#define D(NAME, code, severity, format, page) {#NAME, code, page, severity},
#include "frontend/diag/diag.def"
#undef D
#undef ERROR
#undef WARNING
};
enum { ROWS = sizeof rows / sizeof *rows };

static Diags diags;

static IrGraph *elaborate_as(const char *path, const char *text)
{
    Source *source = source_new(&arena, path, text);
    diags_init(&diags, &arena);
    const AstFile *file = fe_parse(&arena, source, &diags);
    return fe_elaborate_with(&arena, pipeline_library(), file, &diags);
}

static IrGraph *elaborate(const char *text)
{
    return elaborate_as("test.pipe", text);
}

static const char *complaints(void)
{
    Str s;
    str_init(&s, &arena);
    diags_render(&diags, &s, false, 0);
    return s.n > 0 ? s.at : "";
}

static int count_codes(const char *code)
{
    int n = 0;
    for (const Diag *d = diags.first; d != NULL; d = diag_next(d)) {
        n += code == NULL || strcmp(diag_code(d), code) == 0;
    }
    return n;
}

/* ---- the tour --------------------------------------------------------------------------- */

static void the_tour_elaborates_without_a_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pipe_samples / sizeof *pipe_samples; i++) {
        const IrGraph *g = elaborate_as(pipe_samples[i].name, pipe_samples[i].text);
        if (g == NULL || count_codes(NULL) != 0) {
            print_error("%s\n%s", pipe_samples[i].name, complaints());
            fail();
        }
        Str report;
        str_init(&report, &arena);
        ir_verify_report(g, &report);
        if (report.n != 0) {
            print_error("%s\n%s", pipe_samples[i].name, report.at);
            fail();
        }
        assert_true(g->outputs.n >= 1);
    }
}

/* ---- what becomes of it ------------------------------------------------------------------ */

static const char *graph_of(const char *text)
{
    const IrGraph *g = elaborate(text);
    if (g == NULL) {
        print_error("%s\n%s", text, complaints());
        fail();
    }
    Str s;
    str_init(&s, &arena);
    ir_print(g, &s);
    return s.at;
}

static void assert_in(const char *text, const char *words)
{
    if (strstr(text, words) == NULL) {
        print_error("expected\n  %s\nin\n%s\n", words, text);
        fail();
    }
}

static void assert_not_in(const char *text, const char *words)
{
    if (strstr(text, words) != NULL) {
        print_error("did not expect\n  %s\nin\n%s\n", words, text);
        fail();
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

static void stages_have_the_users_names_and_lines(void **state)
{
    (void)state;
    const char *g = graph_of("input image[y, x]\nblurred = gaussian(image, 2)\nagain = blurred\n"
                             "output a = again[dx = 1] + gaussian(image, 2)");
    assert_in(g, "%2 blurred_gaussian_x = map : image f32 grid 0 at 0:2:11+18\n");
    assert_in(g, "%3 blurred = map : image f32 grid 0 at 0:2:1+28\n");
    /* An alias is no stage, and an equal blur is not computed twice. */
    assert_not_in(g, " again = ");
    assert_int_equal(count_in(g, " = map : "), 3);
}

static void params_carry_units(void **state)
{
    (void)state;
    const char *g = graph_of("input image[y, x]\nparam s = 2 um in 0.5 um .. 9000 nm \"blur\"\n"
                             "output a = gaussian(image, s)");
    assert_in(g, "param s = 2 in 0.5 .. 9 \"blur (um)\"");
    assert_in(g, "div($s, pixelsize(x))");
    assert_in(graph_of("input image[y, x]\nparam s = 2 um in 0 .. inf\noutput a = gaussian(image, s)"),
              "param s = 2 in 0 .. inf \"um\"");
}

static void axes_can_be_asked_for(void **state)
{
    (void)state;
    assert_in(graph_of("input image[y, x, c]\noutput a = image if has_axis(image, c) else -image"), "    in 0 %1\n");
    assert_in(graph_of("input image[y, x]\noutput a = image if has_axis(image, c) else -image"), "    in 0 neg(%1)\n");
}

static void sums_are_computed_axis_by_axis(void **state)
{
    (void)state;
    const char *g =
        graph_of("input image[y, x]\noutput a = sum((i + 1) * (j + 2) / 9 * image[dx = i, dy = j, fill = 5]\n"
                 "  for j in -1 .. 1, i in -2 .. 2)");
    assert_in(g, "a_x = map");
    assert_in(g, "sum(#1 in -2 .. 2, mul(f32(add(#1, 1)), %1[x = #1, border = constant, outside = 5]))");
    /* Outside the rows stands what a row of fives becomes. */
    assert_in(g, "%2[y = #0, border = constant, outside = mul(5, sum(#1 in -2 .. 2, add(#1, 1)))]");
    /* Weights that depend on both indices, or on a condition, are one flat sum. */
    g = graph_of("input image[y, x]\noutput a = sum(exp(i * j) * image[dx = i, dy = j]\n"
                 "  for j in -1 .. 1, i in -1 .. 1)");
    assert_int_equal(count_in(g, " = map : "), 1);
    g = graph_of("input image[y, x]\noutput a = max_filter(image, disk(2))");
    assert_int_equal(count_in(g, " = map : "), 1);
    /* The largest value in a box is that of the columns' largest. */
    g = graph_of("input image[z, y, x]\noutput a = max_filter(image, 2)");
    assert_int_equal(count_in(g, " = map : "), 3);
    /* Both indices along one axis cannot be told apart. */
    g = graph_of("input image[y, x]\noutput a = sum(image[dx = i + j] for j in -1 .. 1, i in -1 .. 1)");
    assert_int_equal(count_in(g, " = map : "), 1);
}

static void whole_image_values_share_their_passes(void **state)
{
    (void)state;
    const char *g = graph_of("input image[y, x]\nm = image > 3\noutput a = image > mean(image) + std(image) "
                             "and image < max(image)\noutput b = sum(image where m) / count(image where m)");
    assert_int_equal(count_in(g, " = reduce : "), 2);
    assert_in(g, "arg 0 7");
    /* otsu counts integers one by one where the file has them, also behind a copy. */
    g = graph_of("input image[y, x, c]\ngreen = image[c = 1]\noutput a = green > otsu(green)");
    assert_in(g, "t1 = select(lt(largest(%1), inf), 1, 0)\n");
    assert_in(g, "arg 0 select(ne(t1, 0), 65536, 256)");
    g = graph_of("input image[y, x] : u16\noutput a = image > otsu(image)");
    assert_in(g, "arg 0 65536");
    g = graph_of("input image[y, x]\noutput a = image > otsu(image / 2)");
    assert_in(g, "arg 0 256");
}

static void lengths_become_pixels(void **state)
{
    (void)state;
    const char *g = graph_of("input image[y, x]\noutput a = gaussian(image, 500 nm)");
    assert_in(g, "div(0.5, pixelsize(x))");
    assert_in(g, "div(0.5, pixelsize(y))");
    g = graph_of("input image[y, x]\noutput a = remove_small_objects(image > 3, 2 * 12 um2)");
    assert_in(g, "t1 = div(24, mul(pixelsize(x), pixelsize(y)))");
    assert_in(g, "ge(%4, f32(select(le(abs(sub(t1, round(t1))), mul(1e-06, abs(t1))), round(t1), t1)))");
    g = graph_of("input image[y, x]\nfn f(v, r) {\n  if v > r { return r }\n  return v\n}\noutput a = f(image, 2 um)");
    assert_in(g, "param r : f32");
}

static void loops_carry_what_they_assign(void **state)
{
    (void)state;
    const char *g =
        graph_of("input image[y, x]\nlo = 0\nlevel = image\nrepeat until count(image where image > lo) is stable, "
                 "at most 9 {\n  old = level\n  lo = mean(image where image > lo)\n  level = max(old, lo)\n}\n"
                 "output level\noutput lo");
    assert_in(g, "loop 1 in 0\n    until");
    assert_in(g, "lo = carry : value f64 loop 1");
    assert_in(g, "lo_first = scalar : value f64");
    assert_in(g, "level = carry : image f32 grid 0 loop 1");
    assert_in(g, "level_first = map : image f32 grid 0");
    assert_in(g, "level_next = map : image f32 grid 0 loop 1");
    /* `old` is the value at the start of the round, also after the round. */
    assert_in(g, "old = map : image f32 grid 0 loop 1");
    const IrGraph *graph = elaborate("input image[y, x]\na = image\nrepeat 2 { repeat 3 { a = a + 1 } }\noutput a");
    assert_non_null(graph);
    assert_int_equal(graph->loops.n, 3);
    assert_int_equal(graph->loops.at[2].parent, 1);
    assert_int_equal(ir_node(graph, graph->outputs.at[0].node)->op, IR_CARRY);
}

/* Also where all values would fit into the type before it. */
static void the_last_conversion_says_how_an_output_is_stored(void **state)
{
    (void)state;
    const struct {
        const char *output;
        Elem elem;
    } stored[] = {
        {"u8(image)", ELEM_U8},        {"i32(u8(image))", ELEM_I32}, {"i32(i16(image))", ELEM_I32},
        {"u32(u16(image))", ELEM_U32}, {"u16(u8(image))", ELEM_U16}, {"u8(i32(image))", ELEM_U8},
        {"f32(u8(image))", ELEM_F32},  {"i32(image > 3)", ELEM_I32}, {"u8(u8(image))", ELEM_U8},
    };
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
        char text[100];
        snprintf(text, sizeof text, "input image[y, x]\noutput a = %s", stored[i].output);
        const IrGraph *g = elaborate(text);
        assert_non_null(g);
        const IrNode *node = ir_node(g, g->outputs.at[0].node);
        if (node->elem != stored[i].elem) {
            fail_msg("%s is stored as %s", stored[i].output, elem_name(node->elem));
        }
    }
}

static void tables_keep_the_users_spelling(void **state)
{
    (void)state;
    const char *g = graph_of("input image[y, x]\nl = label(image > 3)\n"
                             "output t = measure(l, image, image * 2, area, mean_intensity, centroid)");
    assert_in(g, "\"label,area,0:mean_intensity=mean_intensity#-0,1:mean_intensity=mean_intensity#-1,centroid\"");
    g = graph_of("input image[y, x]\nl = label(image > 3)\nmean = mean(image)\n"
                 "output t = measure(l, image, label, mean)\noutput a = image > mean");
    assert_in(g, "\"label,0:mean\"");
    g = graph_of("input image[y, x]\nl = label(image > 3)\narea = 2 * property(l, area)\n"
                 "output t = measure(l, label, area = area)"); /* columns of the user's own */
    assert_in(g, "\"label,0:intensity_mean=area\"");
}

static void control_flow_becomes_a_function(void **state)
{
    (void)state;
    IrGraph *g = elaborate("param limit = 3.5\nn = ramp(x = 100)\nfn half(t) = t / 2\nfn f(v) {\n"
                           "  s = 0\n  for i in 1 .. v {\n    if i % 3 == 0 and i > limit { s = s + half(i) }\n"
                           "    else if i == 7 { return s }\n  }\n  while s > 1e3 { s = s - 0.1 }\n"
                           "  return s\n}\noutput a = f(n)\noutput b = f(n + 1)");
    assert_non_null(g);
    assert_int_equal(g->functions.n, 1);
    Str s;
    str_init(&s, &arena);
    ir_print(g, &s);
    assert_in(s.at, "function f : f32\n"
                    "    param v : i32\n"
                    "    param limit : f32\n"
                    "    var s : f32\n"
                    "    var i : i32\n"
                    "    set s = 0:f32\n"
                    "    for i in 1:i32 .. min(&v, 2147483646:i32)\n"
                    "        if and(eq(mod(&i, 3:i32), 0:i32), gt(f64(&i), f64(&limit)))\n"
                    "            set s = add(&s, div(f32(&i), 2:f32))\n"
                    "        else\n"
                    "            if eq(&i, 7:i32)\n"
                    "                return &s\n"
                    "            end\n"
                    "        end\n"
                    "    end\n"
                    "    while gt(&s, 1000:f32)\n"
                    "        set s = sub(&s, 0.10000000149011612:f32)\n"
                    "    end\n"
                    "    return &s\n");
    /* 6 / 2 at i = 6, then out at 7. */
    const double args[2] = {20, 3.5};
    assert_true(ir_function_eval(g, g->functions.at[0], args) == 3);
    const double few[2] = {5, 3.5};
    assert_true(ir_function_eval(g, g->functions.at[0], few) == 0);
}

/* A whole number stays one until it meets a fraction; 3.0 is a fraction, and constants are f64 among themselves. */
static void numbers_of_functions_keep_their_types(void **state)
{
    (void)state;
    static const struct {
        const char *returns;
        double at_five;
        Elem type;
    } CASES[] = {{"7 // 2 + v", 8, ELEM_I32},
                 {"v / 2", 2.5, ELEM_F32},
                 {"6 / 2", 3, ELEM_F32},
                 {"3.0 * v", 15, ELEM_F32},
                 {"0.1 + 0.2 - 0.3", (double)(float)(0.1 + 0.2 - 0.3), ELEM_F32},
                 {"(1 if v > 4 else 2.5)", 1, ELEM_F32},
                 {"u8(v * 60 + 0.5)", 255, ELEM_I32},
                 {"3000000000", 3000000000, ELEM_U32},
                 {"v > 4.5", 1, ELEM_BOOL},
                 {"abs(-v) ** 2 % 7", 4, ELEM_I32}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        IrGraph *g = elaborate(arena_printf(&arena,
                                            "n = ramp(x = 9)\nfn f(v) {\n  while v < 0 { v = v + 1 }\n"
                                            "  return %s\n}\noutput a = f(n)",
                                            CASES[i].returns));
        assert_non_null(g);
        const double five = 5;
        assert_int_equal(g->functions.at[0]->type, CASES[i].type);
        assert_true(ir_function_eval(g, g->functions.at[0], &five) == CASES[i].at_five);
    }
}

/* ---- pages ------------------------------------------------------------------------------ */

/* The indented lines after a heading of the page. */
static const char *example(const char *page, const char *heading)
{
    const char *p = strstr(page, heading);
    assert_non_null(p);
    Str text;
    str_init(&text, &arena);
    p = strchr(p, '\n') + 1;
    while (strncmp(p, "    ", 4) == 0) {
        size_t n = strcspn(p, "\n") + 1;
        str_addn(&text, p + 4, n - 4);
        p += n;
    }
    return text.at;
}

/* Pages whose wrong example is too long to be shown as it is. */
static bool is_drawn(const char *name)
{
    static const char *const DRAWN[] = {"LIST_TOO_LONG", "TOO_MANY_AT_ONCE", "TOO_MANY_IMAGES"};
    for (size_t i = 0; i < sizeof DRAWN / sizeof *DRAWN; i++) {
        if (strcmp(DRAWN[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void pages_show_what_happens(void **state)
{
    (void)state;
    int checked = 0, wrong = 0;
    for (int i = 0; i < ROWS; i++) {
        if (strncmp(rows[i].code, "P01", 3) == 0 || is_drawn(rows[i].name)) {
            continue;
        }
        checked++;
        elaborate(example(rows[i].page, "Wrong:"));
        bool kind = (diags.errors == 1) == !rows[i].warning;
        if (count_codes(rows[i].code) != 1 || count_codes(NULL) != 1 || !kind) {
            print_error("%s %s is not what its page shows:\n%s\n%s", rows[i].code, rows[i].name,
                        example(rows[i].page, "Wrong:"), complaints());
            wrong++;
        }
        elaborate(example(rows[i].page, "Right:"));
        if (count_codes(NULL) != 0) {
            print_error("%s %s is right only on its page:\n%s\n%s", rows[i].code, rows[i].name,
                        example(rows[i].page, "Right:"), complaints());
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(checked >= 90);
}

/* ---- wrong programs --------------------------------------------------------------------- */

#define IMAGE "input image[y, x]\n"
#define LABELS IMAGE "objects = label(image > 3)\n"

/* Each gives exactly one complaint: its code, its line, and words of its help. */
static const struct {
    const char *text, *code;
    int line;
    const char *help;
} wrong_programs[] = {
    /* names */
    {IMAGE "a = imag * 2\noutput b = a", "P0201", 2, "did you mean `image`?"},
    {IMAGE "output b = image * x", "P0201", 2, "x_of(image)"},
    {IMAGE "output b = image[dx = 1, border = reflct]", "P0201", 2, "did you mean `reflect`?"},
    {IMAGE "output b = image * infinity", "P0201", 2, "give it a meaning"},
    {"output b = image * 2\ninput image[y, x]", "P0202", 1, "move this line"},
    {IMAGE "output b = a + 1\nc = 0\nrepeat 2 {\n  a = image\n  c = c + max(a)\n}", "P0202", 2, "move this line"},
    {IMAGE "output b = image > median", "P0203", 2, "median(...)"},
    {IMAGE "param image = 3\noutput b = image", "P0204", 2, "gets its meaning here"},
    {IMAGE "fn f(v) = v\nf = f(image)\noutput b = f", "P0204", 3, ""},
    {IMAGE "fn f(v) = v * q\noutput b = image", "P0201", 2, "give it a meaning"},
    {IMAGE "fn f(v) = gausian(v, 2)\noutput b = image", "P0501", 2, "gaussian"},
    {IMAGE "output c = d", "P0201", 2, "d = ..."},
    {IMAGE "output b = image + label", "P0203", 2, "label(...)"},
    /* inputs and params */
    {"input image[y, x, w]\noutput a = image", "P0220", 1, "looped over"},
    {"input image[x, y, x]\noutput a = image", "P0222", 1, "[y, x]"},
    {"input image[c]\noutput a = image", "P0223", 1, "[y, x]"},
    {"input image[y, x] : float\noutput a = image", "P0224", 1, "f32"},
    {IMAGE "param s = true in 0 .. 1\noutput a = image * 2", "P0230", 2, "written as numbers"},
    {IMAGE "param s = 1 um in 0 .. 5\noutput a = gaussian(image, s)", "P0234", 2, "the same unit: 5 um"},
    {IMAGE "output a = image[c = 1]", "P0403", 2, "input image[y, x, c]"},
    {IMAGE "fn ap(f, v) = f(v)\noutput a = ap(sobel, image)", "P0203", 3, "fn my_sobel(v)"},
    {IMAGE "param dry_run = 3\noutput a = image * dry_run", "P0233", 2, "dry_run_value"},
    {IMAGE "param device = 1\noutput a = image * device", "P0233", 2, "device_value"},
    {IMAGE "param n = -1 in 0 .. 3\noutput a = image * n", "P0232", 2, "the range is given"},
    /* outputs */
    {IMAGE "output a = 3", "P0243", 2, "known before"},
    {IMAGE "output a = width(image)", "P0243", 2, "known before"},
    {IMAGE "output a = nearest", "P0243", 2, "outputs are"},
    {IMAGE "fn f(v) = v\noutput f", "P0243", 3, "call it"},
    {LABELS "output a = label_count(objects)", "P0243", 3, "painted"},
    {LABELS "output t = measure(objects, area) as tif", "P0241", 3, "csv"},
    {IMAGE "output a = image as csv", "P0241", 2, "tif"},
    {IMAGE "output a", "P0201", 2, "give it a meaning"},
    {IMAGE "output k = kappa_sigma(image)\noutput k_mean = mean(image)", "P0242", 3, "first one"},
    /* kinds */
    {IMAGE "output a = image + (image > 3)", "P0301", 2, "number(mask)"},
    {IMAGE "output a = sqrt(image > 3)", "P0504", 2, "number(image > 3)"},
    {IMAGE "output a = (image > 3) < 2", "P0301", 2, "a mask is true or false already: `(image > 3)`"},
    {LABELS "output a = gaussian(objects, 2)", "P0504", 3, "names, not amounts"},
    {LABELS "output a = objects + 1", "P0302", 3, "compare them"},
    {LABELS "output a = mean(objects)", "P0504", 3, "number(objects == 1)"},
    {IMAGE "output a = not image", "P0303", 2, "image > 0"},
    {IMAGE "output a = image if image else 0", "P0303", 2, "comparison"},
    {IMAGE "output a = image + [1, 2]", "P0304", 2, ""},
    {IMAGE "output a = image + nearest", "P0304", 2, ""},
    {IMAGE "output a = image * \"2\"", "P0304", 2, ""},
    {IMAGE "output a = (image where image > 3) * 2", "P0304", 2, "can be measured"},
    {LABELS "t = measure(objects, area)\noutput a = t * 2", "P0304", 4, ""},
    {LABELS "t = measure(objects, area)\noutput a = gaussian(t, 2)", "P0504", 4, ""},
    {"n = ramp(x = 5)\nm = ramp(x = 6)\noutput a = n if m > 3 else m", "P0306", 3, ""},
    {IMAGE "output a = mean(image).x", "P0308", 2, ""},
    {IMAGE "output a = image.median", "P0308", 2, "median(image)"},
    {IMAGE "output a = kappa_sigma(image).maximum", "P0309", 2, ".max"},
    {IMAGE "output a = sum(image where 3)", "P0310", 2, "v where v > 0"},
    {IMAGE "output a = sum(kappa_sigma(image) where image > 2)", "P0311", 2, ""},
    /* stencils */
    {IMAGE "output a = image[dx = mean(image)]", "P0401", 2, "absolute"},
    {IMAGE "output a = image[dy = true]", "P0401", 2, "absolute"},
    {IMAGE "output a = image[dx = 1.5]", "P0402", 2, "translate"},
    {IMAGE "output a = image[c = 0]", "P0403", 2, "names"},
    {IMAGE "output a = image[z = 0]", "P0403", 2, "names"},
    {IMAGE "output a = image[x = nearest]", "P0404", 2, ""},
    {"input image[y, x, c]\noutput a = image[c = 0.5]", "P0405", 2, "from 0"},
    {"input image[y, x, c]\noutput a = image[c = mean(image)]", "P0313", 2, "param"},
    {IMAGE "output a = image[dx = 1, border = \"wrap\"]", "P0406", 2, "constant(0)"},
    {IMAGE "output a = image[dx = 1, fill = mean(image)]", "P0313", 2, "param"},
    {IMAGE "output a = image[dz = 1]", "P0403", 2, "names"},
    {IMAGE "output a = image[dx = 1, dx = 2]", "P0510", 2, ""},
    {IMAGE "output a = image[row = 1]", "P0408", 2, "image[y = 1]"},
    {IMAGE "output a = image[1, 2]", "P0409", 2, "image[dx = 1]"},
    {IMAGE "s = image where image > 3\noutput a = mean(s[dx = 1])", "P0410", 3, "then select"},
    {LABELS "n = label_count(objects)\noutput a = n[image > 3]", "P0411", 4, "v[labels]"},
    {IMAGE "output a = sum(image[dx = i] for i in 0 .. image)", "P0313", 2, "pixel to pixel"},
    {IMAGE "output a = sum(image[dx = i] for i in 0 .. width)", "P0203", 2, "width(...)"},
    {IMAGE "output a = count(image[dx = i] for i in 0 .. 3)", "P0303", 2, "count("},
    {IMAGE "output a = mean(image[dx = i] > 3 for i in 0 .. 3)", "P0301", 2, "number(mask)"},
    {IMAGE "output a = percentile(image[dx = i] for i in 0 .. 3)", "P0507", 2, "q = 90"},
    {IMAGE "output a = gaussian(image for i in 0 .. 3)", "P0423", 2, "take `for`"},
    /* calls */
    {IMAGE "output a = threshold_otsu(image)", "P0502", 2, "here: image > otsu(image)"},
    {IMAGE "output a = invert(image + 1)", "P0502", 2, "here: -(image + 1)"},
    {IMAGE "output a = regionprops_table(label(image > 3), image)", "P0502", 2, "measure(label(image > 3), image, "},
    {IMAGE "output a = kmeans(image)", "P0502", 2, "nothing like it"},
    {IMAGE "output a = meadian(image)", "P0501", 2, "`median`"},
    {IMAGE "b = image * 2\noutput a = b(3)", "P0503", 3, "b[dx = 1"},
    {IMAGE "output a = label(image)", "P0504", 2, "label(image > otsu(image))"},
    {IMAGE "output a = measure(image > 3, area)", "P0504", 2, "label(image > 3)"},
    {IMAGE "output a = measure(image, area)", "P0504", 2, "label(image > otsu(image))"},
    {IMAGE "output a = gaussian(image, mean(image))", "P0504", 2, "param"},
    {IMAGE "output a = gaussian(image, \"2\")", "P0504", 2, "without quotes"},
    {IMAGE "output a = erode(image, mean(image))", "P0504", 2, "disk(2)"},
    {IMAGE "output a = gaussian(image, 2, constant)", "P0203", 2, "constant(0)"},
    {IMAGE "output a = gaussian(image, 2, clamp)", "P0201", 2, "nearest"},
    {IMAGE "output a = image[dx = 1, border = symmetric]", "P0201", 2, "reflect"},
    {IMAGE "output a = gaussian(image, 2, 0)", "P0504", 2, "constant(0)"},
    {IMAGE "output a = percentile(image, 101)", "P0505", 2, ""},
    {IMAGE "output a = kappa_sigma(image, 0).std", "P0505", 2, ""},
    {IMAGE "output a = erode(image > 3, 1.5)", "P0506", 2, "whole number"},
    {IMAGE "output a = median_filter(image)", "P0507", 2, "radius"},
    {IMAGE "output a = otsu(image, 3)", "P0508", 2, "otsu(v"},
    {IMAGE "fn f(v) = v\noutput a = f(image, 3)", "P0508", 3, "written here"},
    {IMAGE "fn f(v, w) = v + w\noutput a = f(image)", "P0507", 3, "asked for here"},
    {IMAGE "fn f(v) = v\noutput a = f(w = image)", "P0509", 3, "written here"},
    {IMAGE "output a = label(image > 3, connect = 8)", "P0509", 2, "connectivity"},
    {IMAGE "output a = gaussian(v = image, sigma = 1, sigma = 2)", "P0510", 2, ""},
    {IMAGE "output a = gaussian(image, [2])", "P0511", 2, "in the order of the axes"},
    {"input image[z, y, x]\noutput a = label(image > 3, connectivity = 5)", "P0512", 2, "26"},
    {IMAGE "output a = convolve(image, [[1, 2, 1]], mode = valid)", "P0513", 2, "same or full"},
    {IMAGE "fn k(i, j) = i * j\noutput a = convolve(image, k)", "P0507", 3, "radius = 3"},
    {IMAGE "output a = erode(image, [[1, 1]])", "P0316", 2, "zeros"},
    {LABELS "output t = measure(objects, solidty)", "P0520", 3, "`solidity`"},
    {LABELS "output t = measure(objects, area, image, qqqqqqqq)", "P0520", 3, "pipec ops measure"},
    {LABELS "output t = measure(objects, sum)", "P0521", 3, "measure(objects, image, sum)"},
    {LABELS "output t = measure(objects, gaussian(image, -1), mean)", "P0505", 3, ""},
    /* functions and loops */
    {IMAGE "fn f(v) = f(v)\noutput a = f(image)", "P0603", 2, "write a loop"},
    {IMAGE "fn f(v) = g(v)\nfn g(v) = f(v)\noutput a = f(image)", "P0603", 3, "write a loop"},
    {IMAGE "fn f(v) { w = v }\noutput a = f(image)", "P0604", 2, "return"},
    {IMAGE "fn f(v : colour) = v\noutput a = f(image)", "P0224", 2, "types are"},
    {IMAGE "fn f(v : mask) = v\noutput a = f(image)", "P0307", 3, ""},
    {IMAGE "for i in 1 .. 3 { a = image }\noutput b = image", "P0212", 2, "repeat 3 {"},
    {IMAGE "return image\noutput b = image", "P0212", 2, "output result = image"},
    {IMAGE "fn f(v : f32) : bool {\n  if v > 1 { return v > 2 }\n  return v\n}\noutput a = f(image)", "P0616", 4, ""},
    {IMAGE "fn f(v : f32) {\n  if v { return 1 }\n  return 0\n}\noutput a = f(image)", "P0303", 3, "n > 0"},
    {IMAGE "fn f(v : f32) {\n  while v > 1 { v = w }\n  return 0\n}\noutput a = f(image)", "P0201", 3, ""},
    {IMAGE "fn f(v : f32) {\n  if v > 1 { return f(v) }\n  return 0\n}\noutput a = f(image)", "P0603", 3,
     "while or for"},
    {IMAGE "a = image\nrepeat 0 { a = a * 2 }\noutput a", "P0620", 3, ""},
    {IMAGE "a = image\nrepeat 1.5 { a = a * 2 }\noutput a", "P0620", 3, ""},
    {IMAGE "a = image\nrepeat 4294967296 { a = a * 2 }\noutput a", "P0620", 3, ""},
    {IMAGE "fn f(v) {\n  for i in 1 .. 4098 { v = v + i }\n  return v\n}\noutput a = f(image)", "P0608", 3, ""},
    {IMAGE "fn f(v) {\n  for i in 1 .. 4097 { for j in 1 .. 4097 { b = i * j } }\n  return v\n}\noutput a = f(image)",
     "P0608", 3, ""},
    {IMAGE "output a = rotate(image, 2 um)", "P0323", 2, "degrees"},
    {IMAGE "output a = normalize(image, 1 um)", "P0323", 2, "percent"},
    {IMAGE "output a = downscale(image, [2 um, 2])", "P0323", 2, "factor"},
    {IMAGE "output a = distance(image > 1, 2 um)", "P0323", 2, "pixel_size"},
    {IMAGE "output a = translate(image, 2 um2)", "P0312", 2, "lengths"},
    {IMAGE "output a = crop(image, 1 um3, 0, width = 3)", "P0312", 2, "lengths"},
    {IMAGE "a = image\nrepeat mean(image) { a = a * 2 }\noutput a", "P0313", 3, "param"},
    {IMAGE "a = image\nrepeat until 3 is stable, at most 9 { a = a * 2 }\noutput a", "P0621", 3, "never changes"},
    {IMAGE "a = 1\nrepeat 3 { a = image * a }\noutput a", "P0623", 3, "the kind"},
    {IMAGE "a = i32(image)\nrepeat 3 { a = a / 2 }\noutput a", "P0623", 3, "f32(a)"},
};

static int line_of(const Diag *d)
{
    int line, column;
    span_line_column(diag_span(d), &line, &column);
    return line;
}

static void wrong_programs_are_told_so(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof wrong_programs / sizeof *wrong_programs; i++) {
        const IrGraph *g = elaborate(wrong_programs[i].text);
        bool right =
            g == NULL && count_codes(NULL) == 1 && strcmp(diag_code(diags.first), wrong_programs[i].code) == 0 &&
            line_of(diags.first) == wrong_programs[i].line && strstr(complaints(), wrong_programs[i].help) != NULL;
        if (!right) {
            print_error("expected %s in line %d with '%s':\n%s\n%s\n", wrong_programs[i].code, wrong_programs[i].line,
                        wrong_programs[i].help, wrong_programs[i].text, complaints());
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Several mistakes are all reported, and what they spoil is not. */
static void all_mistakes_are_reported_at_once(void **state)
{
    (void)state;
    elaborate(IMAGE "a = gausian(image, 2)\nb = a + 1\nc = label(b)\nd = image[1]\n"
                    "output e = measure(c, image, mean)\noutput f = image as jpg\n");
    assert_int_equal(count_codes("P0501"), 1);
    assert_int_equal(count_codes("P0409"), 1);
    assert_int_equal(count_codes("P0240"), 1);
    assert_int_equal(count_codes(NULL), 3);
}

/* ---- whole reports ---------------------------------------------------------------------- */

/* tests/diag/NAME.pipe gives tests/diag/NAME.txt; with UPDATE_GOLDENS set the text is written. */
static void reports_read_as_they_did(void **state)
{
    (void)state;
    static const char *const names[] = {"declarations", "first_try",     "functions",    "vectors",         "kinds",
                                        "loops",        "peers",         "peer_calls",   "peer_calls_more", "modules",
                                        "axes",         "moved_labels",  "scikit_image", "stencils",        "tables",
                                        "warnings",     "windows",       "python",       "matlab",          "include",
                                        "late",         "pictures",      "go_on",        "rounds",          "formats",
                                        "newcomer",     "newcomer_more", "elsewhere",    "elsewhere_more",  "borrowed",
                                        "meant",        "meant_more"};
    int wrong = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text, *want;
        size_t size;
        Err err = {0};
        const char *base = arena_printf(&arena, TEST_ROOT "/tests/diag/%s", names[i]);
        assert_true(file_read(arena_printf(&arena, "%s.pipe", base), &text, &size, &err));
        elaborate_as(arena_printf(&arena, "%s.pipe", names[i]), arena_strdup(&arena, text));
        const char *got = complaints(), *golden = arena_printf(&arena, "%s.txt", base);
        free(text);
        if (getenv("UPDATE_GOLDENS") != NULL) {
            assert_true(file_write(golden, got, strlen(got), &err));
        }
        assert_true(file_read(golden, &want, &size, &err));
        if (strcmp(want, got) != 0) {
            print_error("%s gives\n%s\n", names[i], got);
            wrong++;
        }
        free(want);
    }
    assert_int_equal(wrong, 0);
}

/* ---- operators -------------------------------------------------------------------------- */

static void examples_of_operators_elaborate(void **state)
{
    (void)state;
    int wrong = 0;
    const Ops *ops = ops_load(&arena);
    for (int i = 0; i < ops->n; i++) {
        const char *text =
            arena_printf(&arena, "input image[y, x]\nmask = image > 3\nlabels = label(mask)\n%s\n", ops->at[i].example);
        const IrGraph *g = elaborate(text);
        if (g == NULL || diags.errors != 0) {
            print_error("%s\n%s\n%s", ops->at[i].name, text, complaints());
            wrong++;
            continue;
        }
        Str report;
        str_init(&report, &arena);
        ir_verify_report(g, &report);
        if (report.n != 0) {
            print_error("%s\n%s", ops->at[i].name, report.at);
            wrong++;
        }
        assert_true(strstr(ops->at[i].example, ops->at[i].name) != NULL);
        assert_true(ops->at[i].doc[0] != '\0');
    }
    assert_int_equal(wrong, 0);
}

/* What is suggested instead of a peer's name, on arguments of the kinds that it says. */
static const char *suggestion(const char *here, const char *arguments)
{
    Str s;
    str_init(&s, &arena);
    for (const char *p = here; *p != '\0'; p++) {
        if (*p != '$') {
            str_addn(&s, p, 1);
            continue;
        }
        int k = *++p - '1';
        assert_true(k >= 0 && k < (int)strlen(arguments));
        char kind = arguments[k];
        if (p[1] == '{') { /* where the argument is not given */
            size_t n = strcspn(p + 2, "}");
            str_addn(&s, p + 2, n);
            p += n + 2;
            continue;
        }
        str_add(&s, kind == 'i'   ? "image"
                    : kind == 'v' ? "volume"
                    : kind == 'm' ? "mask"
                    : kind == 'l' ? "labels"
                                  : "3");
    }
    return s.n > 0 ? s.at : "";
}

static int suggestion_is_wrong(const char *name, const char *here)
{
    if (here[0] == '\0' || strncmp(here, "input ", 6) == 0) {
        return 0;
    }
    /* Of an image, or of one that has colours. */
    static const char *const IMAGES[] = {"image[y, x]\nmask = image > 3", "image[y, x, c]\nmask = image[c = 0] > 3"};
    for (int i = 0; i < 2 && (i == 0 || diags.errors != count_codes("P0243")); i++) {
        elaborate(arena_printf(&arena, "input %s\ninput volume[z, y, x]\nlabels = label(mask)\n%s%s\n", IMAGES[i],
                               strncmp(here, "output ", 7) == 0 ? "" : "output a = ", here));
    }
    /* A number by itself is what the suggestion should be, but cannot be an output. */
    if (diags.errors != count_codes("P0243")) {
        print_error("%s\n%s", name, complaints());
        return 1;
    }
    return 0;
}

static void suggestions_for_peers_elaborate(void **state)
{
    (void)state;
    int wrong = 0;
    const Ops *ops = ops_load(&arena);
    for (int i = 0; i < OPS_PEERS_N; i++) {
        const Peer *peer = &OPS_PEERS[i];
        /* What the name means there is said where the package's module stands in front (method.c), and in tables. */
        static const char *const MODULES[] = {"clEsperanto", "OpenCV", "scipy"};
        bool table_only = false;
        for (int k = 0; k < 3; k++) {
            table_only = table_only || strcmp(peer->package, MODULES[k]) == 0;
        }
        assert_true(table_only || ops_find(ops, peer->name) == NULL);
        assert_ptr_equal(ops_peer(peer->name), peer);
        wrong += suggestion_is_wrong(peer->name, suggestion(peer->here, peer->arguments));
    }
    for (int i = 0; i < OPS_PEER_CALLS_N; i++) {
        const PeerCall *call = &OPS_PEER_CALLS[i];
        assert_non_null(ops_peer(call->name));
        wrong += suggestion_is_wrong(call->name, suggestion(call->here, call->arguments));
    }
    assert_int_equal(wrong, 0);
    assert_true(OPS_PEERS_N > 300);
}

/* The graph of a pipeline without mistakes; what it says of itself is to be added to `said`. */
static const IrGraph *elaborate_must(const char *head, const char *text, Str *said)
{
    const IrGraph *g = elaborate(arena_printf(&arena, "%s%s", head, text));
    if (g == NULL) {
        fail_msg("%s", complaints());
    }
    str_init(said, &arena);
    str_add(said, "");
    return g;
}

static void wants(const char *text, const char *wanted, const char *got)
{
    if (strcmp(got, wanted) != 0) {
        fail_msg("%swants '%s', not '%s'", text, wanted, got);
    }
}

/* Statements about one volume, and what a run is to note: "place z of image; " for each. */
static void runs_are_told_what_to_note(void **state)
{
    static const struct {
        const char *text, *notes;
    } each[] = {
        {"output a = image[z = 50]\n", "place z of image; "},
        {"output a = image[z = 50] + image[z = 50]\n", "place z of image; "},
        {"output a = image[x = 7, y = depth(image)]\n", "place x of image; place y of image; "},
        {"param k = 3\noutput a = image[z = k]\n", "place z of image; "},
        {"output a = gaussian(image, 1)[z = 4]\n", "place z of ; "},
        {"fn f(v) = v[z = 4]\noutput a = f(image)\n", "place z of v; "},
        {"output a = max(gaussian(image[z = k], 1) for k in 0 .. 2)\n", "place z of image; place z of image; "},
        {"output a = max_project(image)\n", "along z of max_project; "},
        {"output a = median_project(gaussian(image, 1) where image > 3)\n", "along z of median_project; "},
        {"output a = crop(image, 1, width = 5)\n", "part x of crop; part x of crop; "},
        {"param n = 9\noutput a = crop(image > 3, y = n, z = 1, depth = 1)\n", "part y of crop; part z of crop; "},
        {"output a = crop(canvas(image, width = 20), 3, width = 18)\n", "part x of crop; "},
        /* Always there, or the user says what is outside. */
        {"output a = image[z = 0]\n", ""},
        {"c = canvas(image, depth = 9)\noutput a = c[z = 8]\n", ""},
        {"output a = image[z = 50, border = nearest] + image[z = 50, fill = 0]\n", ""},
        {"output a = crop(canvas(image, width = 20), 3, width = 17)\n", ""},
        {"output a = crop(image, width = 1)\n", ""},
        {"output a = crop(image, 5) if width(image) > 5 else image\n", ""},
        {"output a = max(crop(image, k, width = 9) for k in 0 .. 2)\n", ""},
        {"output a = image[z = 5] if depth(image) > 5 else image[z = 0]\n", ""},
        {"output a = max_project(image) if depth(image) > 5 else image[z = 0]\n", ""},
        /* Places that differ. */
        {"output a = max(image[z = k] for k in 0 .. 50)\n", ""},
        {"output a = image[x = x_of(image) + 50]\n", ""},
        {"output a = image[y = max(image)]\n", ""},
        /* Along another axis, of something else, or without leaving the axis out. */
        {"output a = max_project(image, y)\n", ""},
        {"output a = flip(image, z)\n", ""},
        {"input other[z, y, x]\noutput a = max_project(other) + image[z = 0]\n", ""},
        {"output a = max_project(canvas(image, depth = 1))\n", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        Str got;
        const IrGraph *g = elaborate_must("input image[z, y, x]\n", each[i].text, &got);
        for (int k = 0; k < g->notes.n; k++) {
            const IrNote *note = &g->notes.at[k];
            str_addf(&got, "%s %c of %s; ", IR_NOTE_NAMES[note->kind], "xyz"[note->axis], note -> name);
        }
        wants(each[i].text, each[i].notes, got.at);
    }
}

/* An operator's range is asked of a run where what it is given may lie outside. */
static void params_are_bound_by_what_they_are_given_to(void **state)
{
    static const struct {
        const char *text, *bounds;
    } each[] = {
        {"param s = 2\noutput a = gaussian(image, s)\n", "'sigma' of 'gaussian' at least 0; "},
        {"param s = 2\noutput a = gaussian(image, s) + gaussian(image, [0, s])\n",
         "'sigma' of 'gaussian' at least 0; "},
        {"param s = 2\noutput a = gaussian(image, [s, s + 1])\n",
         "'sigma' of 'gaussian' at least 0; 'sigma' of 'gaussian' at least 0; "},
        {"param n = 3\noutput a = peak_local_max(image, n)\n", "'min_distance' of 'peak_local_max' at least 1; "},
        {"param r = 3 um\noutput a = rolling_ball(image, r)\n", "'radius' of 'rolling_ball' above 0; "},
        {"param q = 3\noutput a = percentile(image where image > 2, q)\n", "'q' of 'percentile' in 0 .. 100; "},
        {"param q = 3\nfn f(v, at) = percentile(v, at)\noutput a = f(image, q)\n", "'q' of 'percentile' in 0 .. 100; "},
        {"output a = gaussian(image, 100 - width(image))\n", "'sigma' of 'gaussian' at least 0; "},
        {"param s = 2 in -1 .. 5\noutput a = gaussian(image, s)\n", "'sigma' of 'gaussian' at least 0; "},
        /* The param's own range, or arithmetic, says enough. */
        {"param s = 2 in 0 .. 5\noutput a = gaussian(image, s)\n", ""},
        {"param s = 2 in 0 .. 5\noutput a = gaussian(image, 2 * s + 1)\n", ""},
        {"param s = 2\noutput a = gaussian(image, abs(s))\n", ""},
        {"output a = gaussian(image, 2)\n", ""},
        /* Whoever asks knows. */
        {"param r = 0\noutput a = image if r == 0 else rolling_ball(image, r)\n", ""},
        /* No range. */
        {"param r = 0\noutput a = rotate(image, r)\n", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        Str got;
        const IrGraph *g = elaborate_must("input image[y, x]\n", each[i].text, &got);
        for (int k = 0; k < g->bounds.n; k++) {
            str_addf(&got, "%s %s; ", g->bounds.at[k].what, g->bounds.at[k].must);
        }
        wants(each[i].text, each[i].bounds, got.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_tour_elaborates_without_a_word, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(stages_have_the_users_names_and_lines, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(params_carry_units, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(axes_can_be_asked_for, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(sums_are_computed_axis_by_axis, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(whole_image_values_share_their_passes, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(lengths_become_pixels, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(loops_carry_what_they_assign, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(the_last_conversion_says_how_an_output_is_stored, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(tables_keep_the_users_spelling, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(control_flow_becomes_a_function, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(numbers_of_functions_keep_their_types, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(pages_show_what_happens, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(wrong_programs_are_told_so, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(all_mistakes_are_reported_at_once, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(reports_read_as_they_did, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(examples_of_operators_elaborate, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(runs_are_told_what_to_note, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(params_are_bound_by_what_they_are_given_to, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(suggestions_for_peers_elaborate, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
