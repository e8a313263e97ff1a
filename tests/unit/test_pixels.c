/*
 * Types of pixels, and whether they are whole: pixels that were only moved or chosen keep the type of their file or the one
 * that was declared, whatever they go through; arithmetic keeps whole numbers whole.
 */
#include "fixtures.h"
#include "ir/pixels.h"
#include "tests/support/pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct Case {
    const char *lines; /* the last one of which gives `a` a value */
    const char *type;  /* of a's pixels where the input declares none */
    const char *u8;    /* and where it declares u8 */
    const char *whole; /* "file": if those of the file are */
} Case;

static const Case CASES[] = {
    {"a = v", "file", "u8", "file"},
    {"a = crop(v, 1, 2, width = 3)", "file", "u8", "file"},
    {"a = transpose(flip(v, y), x, z)", "file", "u8", "file"},
    {"a = roll(v, 3)", "file", "u8", "file"},
    {"a = v[z = 2]", "file", "u8", "file"},
    {"a = v[x = v]", "file", "u8", "file"},
    {"a = resize(v, 5, 6, 7, interpolation = nearest)", "file", "u8", "file"},
    {"a = concatenate(v, flip(v), y)", "file", "u8", "file"},
    {"a = median_filter(v, 1)", "file", "u8", "file"},
    {"a = median_filter(v, disk(9))", "file", "u8", "file"},
    {"a = percentile_filter(v, 20, 1)", "file", "u8", "file"},
    {"a = mode_filter(v, 1)", "file", "u8", "file"},
    {"a = max_filter(v, disk(2))", "file", "u8", "file"},
    {"a = closing(opening(v, 1), ball(2))", "file", "u8", "file"},
    {"a = max_project(min_project(v, z), y)", "file", "u8", "file"},
    {"a = reconstruct(erode(v, 2), v)", "file", "u8", "file"},
    {"a = max(v, v[dx = 1], flip(v))", "file", "u8", "file"},
    {"b = v\nrepeat 3 { b = max_filter(b, 1) }\na = b", "file", "u8", "file"},
    {"b = v\nrepeat 3 { b = b + v }\na = b", "f32", "i32", "file"},
    {"b = f32(v)\nc = b\nrepeat 3 {\nb = flip(c)\nc = b / 2\n}\na = b", "f32", "f32", "never"},
    /* numbers beside them */
    {"a = pad(v, 2)", "file", "u8", "file"},
    {"a = pad(v, 2, constant(255))", "file", "u8", "file"},
    {"a = pad(v, 2, constant(-1))", "f32", "i32", "file"},
    {"a = pad(v, 2, constant(7.5))", "f32", "f32", "never"},
    {"a = median_filter(v, 6, border = constant(300))", "f32", "i32", "file"},
    {"a = v if v > 3 else 0", "file", "u8", "file"},
    {"a = v if v > 3 else 256", "f32", "i32", "file"},
    {"a = v if v > 3 else nan", "f32", "f32", "never"},
    {"param k = 3 in 0 .. 9\na = clip(v, k, 200)", "file", "u8", "file"},
    {"param k = 3.5 in 0 .. 9\na = max(v, k)", "f32", "f32", "never"},
    {"a = 255 if v > 3 else 0", "i32", "i32", "always"},
    {"a = v if v > 3 else mean(v)", "f32", "f32", "never"},
    /* converted and computed */
    {"a = f32(v)", "f32", "f32", "file"},
    {"a = u16(v)", "u16", "u16", "always"},
    {"a = flip(u8(v / 2))", "u8", "u8", "always"},
    {"a = flip(label(v > 3) if v > 5 else 0)", "u32", "u32", "always"},
    {"a = v + 1", "f32", "i32", "file"},
    {"a = v / 2", "f32", "f32", "never"},
    {"a = v * 0.5", "f32", "f32", "never"},
    {"a = tophat(v, 2)", "f32", "i32", "file"},
    {"a = abs(v - min(v)) * 2", "f32", "f32", "file"},
    {"a = sum(v[dx = i] * i for i in 0 .. 3)", "f32", "i32", "file"},
    {"a = v - mean(v)", "f32", "f32", "never"},
    {"a = gaussian(v, 1)", "f32", "f32", "never"},
    {"a = median_project(v)", "f32", "f32", "never"},
    {"a = sum_project(v)", "f32", "i32", "file"},
    {"a = resize(v, 5, 6, 7)", "f32", "f32", "never"},
    {"a = x_of(v)", "i32", "i32", "always"},
};

static int wrong_about(const Case *c, const char *declared, const char *type, const char *whole)
{
    char text[600];
    snprintf(text, sizeof text, "input v[z, y, x]%s\n%s\noutput a\n", declared, c->lines);
    IrGraph *g = pipeline_must("pixels.pipe", text);
    const IrNode node = *ir_node(g, g->outputs.at[0].node);
    const bool file = node.elem == ELEM_FILE && ir_node(g, node.of)->op == IR_INPUT;
    if (strcmp(elem_name(node.elem), type) != 0 || file != (node.elem == ELEM_FILE)) {
        print_error("%s\nis %s, not %s\n", text, elem_name(node.elem), type);
        return 1;
    }
    double known = -1;
    (void)ir_is_const(g, ir_pixels(g, ir_read(g, g->outputs.at[0].node)).whole, &known);
    const char *is = known < 0 ? "file" : known != 0 ? "always" : "never";
    if (strcmp(is, whole) != 0) {
        print_error("%s\nis whole: %s, not %s\n", text, is, whole);
        return 1;
    }
    return 0;
}

static void pixels_keep_types_and_whole_numbers(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const Case *c = &CASES[i];
        wrong += wrong_about(c, "", c->type, c->whole);
        wrong += wrong_about(c, " : u8", c->u8, strcmp(c->whole, "file") == 0 ? "always" : c->whole);
    }
    assert_int_equal(wrong, 0);
}

/* Pixels of two files have no type that is known before both are open. */
static void pixels_of_two_files_are_f32(void **state)
{
    (void)state;
    const IrGraph *g = pipeline_must("two.pipe", "input v[y, x]\ninput w[y, x]\noutput a = max(v, w)\noutput b = w\n");
    const IrNode *a = ir_node(g, g->outputs.at[0].node), *b = ir_node(g, g->outputs.at[1].node);
    assert_int_equal(a->elem, ELEM_F32);
    assert_int_equal(b->elem, ELEM_FILE);
    assert_string_equal(ir_node(g, b->of)->name, "w");
}

#define in_arena(test) cmocka_unit_test_setup_teardown(test, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_arena(pixels_keep_types_and_whole_numbers),
        in_arena(pixels_of_two_files_are_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
