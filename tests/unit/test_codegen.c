/* Graphs made by hand, run by the evaluator and as generated kernels: the same bits.  What programs say of their inputs. */
#include "codegen/codegen.h"
#include "tests/support/both.h"
#include "tests/support/fixtures.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"
#include "tests/support/scene.h"
#include "tests/support/turn.h"

#include "ir/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Fixture {
    Arena arena;
    IrGraph *g;
    IrId image;
    int grid;
} Fixture;

static void begin(Fixture *f, bool volume)
{
    arena_init(&f->arena);
    f->g = ir_graph_new(&f->arena, "test", NULL);
    IrNode input = {.op = IR_INPUT, .elem = ELEM_FILE, .grid = -1, .name = "image", .text = volume ? "zyx" : "yx"};
    f->image = ir_add_node(f->g, input);
    IrGrid grid = {.has = {true, true, volume, false}};
    for (int ax = 0; ax < (volume ? 3 : 2); ax++) {
        grid.extent[ax] = ir_extent(f->g, f->image, ax);
    }
    f->grid = ir_add_grid(f->g, grid);
    ir_node(f->g, f->image)->grid = f->grid;
}

static IrId map(Fixture *f, const char *name, IrExpr value, Elem elem)
{
    IrNode node = {.op = IR_MAP,
                   .kind = elem == ELEM_BOOL ? IR_K_MASK : IR_K_IMAGE,
                   .elem = elem,
                   .grid = f->grid,
                   .name = name};
    node.in[0] = value;
    return ir_add_node(f->g, node);
}

static void output(Fixture *f, IrId id)
{
    IrOutput o = {.name = ir_node(f->g, id)->name, .format = "tif", .node = id};
    vec_push(&f->arena, &f->g->outputs, o);
}

static void check_all(Fixture *f, int w, int h, int d, Elem elem, int kind, PassFuse fuse)
{
    BothCase in = {.n_inputs = 1};
    in.inputs[0] = both_image(w, h, d, 1, elem, 7, kind);
    PassContext cx = {.fuse = fuse, .verify = true};
    char why[400];
    if (!both_run(f->g, &cx, &in, device, why, sizeof why)) {
        Str s;
        str_init(&s, &f->arena);
        ir_print(f->g, &s);
        fail_msg("%d x %d x %d, fuse %d: %s\n%s", w, h, d, (int)fuse, why, s.at);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

/* sum(w(i) * v[axis = i] for i in -r .. r) */
static IrExpr blur(Fixture *f, IrId v, int axis, int radius, Border border)
{
    IrGraph *g = f->g;
    int index = ir_new_index(g);
    IrExpr i = ir_index(g, index);
    IrExpr weight = ir_op1(g, IR_X_EXP, ir_op2(g, IR_X_MUL, ir_const(g, -0.1), ir_op2(g, IR_X_MUL, i, i)));
    IrExpr offset[3] = {0, 0, 0};
    offset[axis] = i;
    IrExpr read = ir_read_offset(g, v, offset, 0, border, ir_const(g, 3));
    IrExpr body = ir_op2(g, IR_X_MUL, weight, read);
    return ir_fold(g, IR_FOLD_SUM, index, ir_const(g, -radius), ir_const(g, radius), 0, 0, true, body);
}

static const int SIZES[][2] = {{1, 1}, {1, 9}, {9, 1}, {5, 3}, {40, 33}, {257, 70}, {300, 5}};

static void each_size(void (*make)(Fixture *, Border), bool volume, Border border)
{
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        for (int fuse = FUSE_NONE; fuse <= FUSE_ALL; fuse++) {
            Fixture f;
            begin(&f, volume);
            make(&f, border);
            check_all(&f, SIZES[i][0], SIZES[i][1], volume ? 5 : 1, i % 2 ? ELEM_U8 : ELEM_F32, 0, (PassFuse)fuse);
            arena_free(&f.arena);
        }
    }
}

static void make_gaussian(Fixture *f, Border border)
{
    IrId x = map(f, "blurred_x", blur(f, f->image, 0, 6, border), ELEM_F32);
    IrId y = map(f, "blurred", blur(f, x, 1, 6, border), ELEM_F32);
    output(f, y);
}

static void make_difference(Fixture *f, Border border)
{
    IrGraph *g = f->g;
    IrId x1 = map(f, "small_x", blur(f, f->image, 0, 2, border), ELEM_F32);
    IrId y1 = map(f, "small", blur(f, x1, 1, 2, border), ELEM_F32);
    IrId x2 = map(f, "large_x", blur(f, f->image, 0, 5, border), ELEM_F32);
    IrId y2 = map(f, "large", blur(f, x2, 1, 5, border), ELEM_F32);
    output(f, map(f, "difference", ir_op2(g, IR_X_SUB, ir_read(g, y1), ir_read(g, y2)), ELEM_F32));
}

static IrExpr at(Fixture *f, IrId v, int dx, int dy, Border border)
{
    IrExpr offset[3] = {ir_const(f->g, dx), ir_const(f->g, dy), 0};
    return ir_read_offset(f->g, v, offset, 0, border, ir_const(f->g, 3));
}

/* sum(sum(v[dx = i, dy = j])) with the row sums as a stage of their own */
static IrExpr box(Fixture *f, IrId v, const char *name, Border border)
{
    IrGraph *g = f->g;
    int i = ir_new_index(g), j = ir_new_index(g);
    IrExpr across[3] = {ir_index(g, i), 0, 0}, down[3] = {0, ir_index(g, j), 0};
    IrExpr three = ir_const(g, 3), lo = ir_const(g, -1), hi = ir_const(g, 1);
    IrExpr rows = ir_fold(g, IR_FOLD_SUM, i, lo, hi, 0, 0, true, ir_read_offset(g, v, across, 0, border, three));
    IrId row = map(f, name, rows, ELEM_F32);
    return ir_fold(g, IR_FOLD_SUM, j, lo, hi, 0, 0, true, ir_read_offset(g, row, down, 0, border, three));
}

static void make_harris(Fixture *f, Border border)
{
    IrGraph *g = f->g;
    IrId gx =
        map(f, "gx", ir_op2(g, IR_X_SUB, at(f, f->image, 1, 0, border), at(f, f->image, -1, 0, border)), ELEM_F32);
    IrId gy =
        map(f, "gy", ir_op2(g, IR_X_SUB, at(f, f->image, 0, 1, border), at(f, f->image, 0, -1, border)), ELEM_F32);
    IrExpr a = ir_read(g, gx), b = ir_read(g, gy);
    IrId pxx = map(f, "pxx", ir_op2(g, IR_X_MUL, a, a), ELEM_F32);
    IrId pyy = map(f, "pyy", ir_op2(g, IR_X_MUL, b, b), ELEM_F32);
    IrId pxy = map(f, "pxy", ir_op2(g, IR_X_MUL, a, b), ELEM_F32);
    IrId xx = map(f, "xx", box(f, pxx, "xx_rows", border), ELEM_F32);
    IrId yy = map(f, "yy", box(f, pyy, "yy_rows", border), ELEM_F32);
    IrId xy = map(f, "xy", box(f, pxy, "xy_rows", border), ELEM_F32);
    IrExpr det = ir_op2(g, IR_X_SUB, ir_op2(g, IR_X_MUL, ir_read(g, xx), ir_read(g, yy)),
                        ir_op2(g, IR_X_MUL, ir_read(g, xy), ir_read(g, xy)));
    IrExpr trace = ir_op2(g, IR_X_ADD, ir_read(g, xx), ir_read(g, yy));
    IrExpr value = ir_op2(g, IR_X_SUB, det, ir_op2(g, IR_X_MUL, ir_const(g, 0.04), ir_op2(g, IR_X_MUL, trace, trace)));
    output(f, map(f, "corners", value, ELEM_F32));
}

static void make_volume_blur(Fixture *f, Border border)
{
    IrId x = map(f, "bx", blur(f, f->image, 0, 2, border), ELEM_F32);
    IrId y = map(f, "by", blur(f, x, 1, 2, border), ELEM_F32);
    output(f, map(f, "bz", blur(f, y, 2, 2, border), ELEM_F32));
}

static void test_gaussian(void **state)
{
    (void)state;
    turn_or_skip(1);
    for (int b = 0; b < BORDER_KINDS; b++) {
        each_size(make_gaussian, false, (Border)b);
    }
}

static void test_difference(void **state)
{
    (void)state;
    turn_or_skip(2);
    each_size(make_difference, false, BORDER_NEAREST);
}

static void test_harris(void **state)
{
    (void)state;
    turn_or_skip(3);
    for (int b = 0; b < BORDER_KINDS; b++) {
        each_size(make_harris, false, (Border)b);
    }
}

static void test_volume(void **state)
{
    (void)state;
    turn_or_skip(4);
    each_size(make_volume_blur, true, BORDER_REFLECT);
}

/* A file's labels are counted by the host, pixel by pixel. */
static void labels_are_counted_where_somebody_asks(void **state)
{
    static const struct {
        const char *output;
        bool counted;
    } CASES[] = {
        {"cells > 0", false},
        {"label2rgb(cells)", false},
        {"gaussian(number(cells[dx = 1] == cells), 2)", false},
        {"(cells)", true}, /* the largest says how wide the file's numbers are */
        {"measure(cells, area)", true},
        {"max(cells)", false},
        {"property(cells, area)[cells]", true},
        {"expand_labels(cells, 3)", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[200];
        snprintf(text, sizeof text, "input cells[y, x] : labels\noutput o = %s\n", CASES[i].output);
        Subject s;
        scene_open(&s, text, (const int[4]){9, 7, 1, 1}, ELEM_U16, BOTH_SPARSE);
        if ((s.program->inputs[0].count >= 0) != CASES[i].counted) {
            fail_msg("%s: slot %d", CASES[i].output, s.program->inputs[0].count);
        }
        scene_close(&s);
    }
}

typedef struct Texts {
    size_t length;
    int unrolled; /* loops */
} Texts;

static Texts texts_of(const char *expression)
{
    char text[200];
    Texts texts = {0};
    snprintf(text, sizeof text, "input image[y, x]\noutput o = %s\n", expression);
    IrGraph *g = pipeline_must("text.pipe", text);
    PassContext cx = {.fuse = FUSE_ALL};
    const Program *program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
    for (int i = 0; i < program->n_kernels; i++) {
        const char *source = program->kernels[i].source;
        texts.length += strlen(source);
        while ((source = strstr(source, "#pragma unroll\n")) != NULL) {
            texts.unrolled++;
            source++;
        }
    }
    return texts;
}

/* A large number makes long loops, not a long text; and a window of 23 x 23 windows is a loop, where one of 3 x 3 is none.  The kernel
 * has both texts, inside and at the edges. */
static void large_numbers_are_loops(void **state)
{
    static const char *const CASES[] = {
        "hough_circle(image > 9, 1000)",
        "hough_line(image > 9, 500)",
        "gabor(image, 0.005)",
        "kuwahara(image, 64)",
        "rolling_ball(image, 300)",
        "aperture_sum(image, 200, 3)",
        "sum_filter(image, disk(200))",
        "max_filter(image, diamond(100))",
        "bilateral(image, 10, 60)",
        "local_binary_pattern(image, 24, 90)",
        "star_height(image, 60)",
        "denoise_nl_means(image, 7, 11, h = 9)",
        "denoise_nl_means(image, 80, 5, h = 9)",
        "gaussian(image, 300)",
        "entropy(image, 100)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const size_t length = texts_of(CASES[i]).length;
        if (length > 40000) {
            fail_msg("%s: kernels of %zu bytes", CASES[i], length);
        }
    }
    assert_int_equal(texts_of("denoise_nl_means(image, 3, 1, h = 9)").unrolled, 8);
    assert_int_equal(texts_of("denoise_nl_means(image, 7, 11, h = 9)").unrolled, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_harris),
        cmocka_unit_test(test_volume),
        cmocka_unit_test(labels_are_counted_where_somebody_asks),
        cmocka_unit_test_setup_teardown(large_numbers_are_loops, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
