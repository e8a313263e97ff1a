/*
 * libpipec as a program uses it that has nothing but its header: texts and mistakes, plans, runs on memory of any layout
 * and row by row, results, failures, an end that is asked for, and several threads at once.
 */
#include "library/pipec.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { W = 61, H = 47 };

static const char SQUARES[] = "input image[y, x]\n"
                              "param least = 100 in 0 .. 255 \"of what is an object\"\n"
                              "mask = image >= least\n"
                              "objects = label(mask)\n"
                              "output twice = 2 * f32(image)\n"
                              "output objects\n"
                              "output most = max(image)\n"
                              "output table = measure(objects, area, centroid)\n";
enum { TWICE, OBJECTS, MOST, TABLE, OUTPUTS };

static PipecDevice *device;

/* Two squares, of 16 and 25 pixels, on a ramp. */
static void draw(uint8_t *to)
{
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            bool one = x >= 5 && x < 9 && y >= 6 && y < 10, other = x >= 30 && x < 35 && y >= 20 && y < 25;
            to[y * W + x] = one ? 200 : other ? 250 : (uint8_t)x;
        }
    }
}

static PipecPipeline *compile(const char *text)
{
    PipecPipeline *p;
    PipecError error;
    if (pipec_compile("squares.pipe", text, strlen(text), &p, &error) != PIPEC_OK) {
        fail_msg("%s", error.text);
    }
    return p;
}

static PipecInput input_of(uint8_t *pixels)
{
    return (PipecInput){.size = sizeof(PipecInput),
                        .image = {.data = pixels, .extent = {W, H, 1, 1}, .stride = {1, W}, .type = PIPEC_U8}};
}

/* ---- texts ----------------------------------------------------------------------------- */

static void mistakes_are_told(void **state)
{
    (void)state;
    PipecPipeline *p;
    PipecError error;
    char *text;
    const char wrong[] = "input image[y, x]\noutput a = gausian(image, 2)\n";
    assert_int_equal(pipec_compile("w.pipe", wrong, sizeof wrong - 1, &p, &error), PIPEC_USAGE);
    assert_non_null(p);
    assert_int_equal(pipec_text(p, PIPEC_MISTAKES, &text, &error), PIPEC_OK);
    assert_non_null(strstr(text, "w.pipe:2"));
    assert_non_null(strstr(text, "gaussian"));
    pipec_text_free(text);
    assert_int_equal(pipec_text(p, PIPEC_MISTAKES_JSON, &text, &error), PIPEC_OK);
    assert_non_null(strstr(text, "\"line\": 2"));
    pipec_text_free(text);
    assert_int_equal(pipec_text(p, PIPEC_KERNELS, &text, &error), PIPEC_USAGE);
    assert_null(text);
    PipecResult *result;
    assert_int_equal(pipec_run(device, p, &(PipecRun){.size = sizeof(PipecRun)}, &result, &error), PIPEC_USAGE);
    pipec_pipeline_free(p);
    assert_int_equal(pipec_compile("there is none.pipe", NULL, 0, &p, &error), PIPEC_IMAGE);
    assert_null(p);
    assert_int_equal(pipec_compile(NULL, NULL, 0, &p, NULL), PIPEC_USAGE);
}

static void texts_are_those_of_the_command(void **state)
{
    (void)state;
    static const char *const BEGINS[] = {
        [PIPEC_MISTAKES] = "",          [PIPEC_MISTAKES_JSON] = "[", [PIPEC_DESCRIPTION] = "{\n  \"name\": \"squares\"",
        [PIPEC_SOURCE] = "input image", [PIPEC_KERNELS] = "//",      [PIPEC_GRAPH] = "digraph",
        [PIPEC_IR] = "graph squares"};
    PipecPipeline *p = compile(SQUARES);
    for (int what = PIPEC_MISTAKES; what <= PIPEC_IR; what++) {
        char *text;
        PipecError error;
        assert_int_equal(pipec_text(p, what, &text, &error), PIPEC_OK);
        if (what == PIPEC_KERNELS) {
            assert_non_null(strstr(text, "kernel void"));
        } else {
            assert_memory_equal(text, BEGINS[what], strlen(BEGINS[what]));
        }
        pipec_text_free(text);
    }
    pipec_pipeline_free(p);
}

/* ---- runs ------------------------------------------------------------------------------ */

static void check_results(const PipecResult *result, const uint8_t *pixels)
{
    PipecImage image;
    PipecTable table;
    PipecError error;
    assert_int_equal(pipec_image(result, TWICE, &image, &error), PIPEC_OK);
    assert_int_equal(image.type, PIPEC_F32);
    for (int i = 0; i < W * H; i++) {
        assert_true(((float *)image.data)[i] == 2.0f * pixels[i]);
    }
    assert_int_equal(pipec_image(result, OBJECTS, &image, &error), PIPEC_OK);
    assert_int_equal(image.type, PIPEC_U32);
    assert_int_equal(((uint32_t *)image.data)[7 * W + 7], 1);
    assert_int_equal(((uint32_t *)image.data)[22 * W + 33], 2);
    assert_true(image.place[0][0] == 1 && image.place[1][1] == 1 && image.place[0][3] == 0);
    assert_true(pipec_value(result, OBJECTS) == 2 && pipec_value(result, MOST) == 250);
    assert_int_equal(pipec_table(result, TABLE, &table, &error), PIPEC_OK);
    assert_int_equal(table.rows, 2);
    assert_string_equal(table.names[1], "area");
    assert_true(table.at[2] == 16 && table.at[3] == 25 && table.whole[1]);
    assert_int_equal(pipec_image(result, MOST, &image, &error), PIPEC_USAGE);
    assert_int_equal(pipec_table(result, OUTPUTS, &table, &error), PIPEC_USAGE);
}

static void memory_of_any_layout(void **state)
{
    (void)state;
    uint8_t pixels[W * H], spread[3 * W * H];
    uint16_t turned[W * H];
    draw(pixels);
    for (int i = 0; i < W * H; i++) {
        spread[3 * i + 1] = pixels[i];
        turned[(i % W) * H + H - 1 - i / W] = pixels[i]; /* columns, from the last row up */
    }
    PipecInput inputs[] = {input_of(pixels), input_of(spread + 1), input_of(NULL)};
    inputs[1].image.stride[0] = 3;
    inputs[1].image.stride[1] = 3 * W;
    inputs[2].image = (PipecImage){.data = turned + H - 1,
                                   .extent = {W, H, 1, 1},
                                   .stride = {H * (int64_t)sizeof *turned, -(int64_t)sizeof *turned},
                                   .type = PIPEC_U16};
    PipecPipeline *p = compile(SQUARES);
    for (int i = 0; i < 3; i++) {
        PipecResult *result;
        PipecError error;
        const PipecRun run = {.size = sizeof run, .inputs = &inputs[i]};
        if (pipec_run(device, p, &run, &result, &error) != PIPEC_OK) {
            fail_msg("%s", error.text);
        }
        check_results(result, pixels);
        pipec_result_free(result);
    }
    pipec_pipeline_free(p);
}

typedef struct Rows {
    const uint8_t *from;
    float to[W * H];
    int read, written, fails;
} Rows;

static int read_rows(void *context, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch)
{
    Rows *r = context;
    assert_true(c == 0 && z == 0);
    for (int64_t y = 0; y < rows; y++) {
        memcpy((char *)to + (size_t)y * pitch, r->from + (row + y) * W, W);
    }
    r->read += (int)rows;
    return r->fails == 1;
}

static int write_rows(void *context, int64_t c, int64_t z, int64_t row, int64_t rows, const void *from, size_t pitch)
{
    Rows *r = context;
    assert_true(c == 0 && z == 0);
    for (int64_t y = 0; y < rows; y++) {
        memcpy(r->to + (row + y) * W, (const char *)from + (size_t)y * pitch, W * sizeof *r->to);
    }
    r->written += (int)rows;
    return r->fails == 2;
}

static int ends(void *context, double done)
{
    (void)context;
    assert_true(done >= 0 && done <= 1);
    return 1;
}

static void rows_come_and_go(void **state)
{
    (void)state;
    static const int codes[] = {PIPEC_OK, PIPEC_IMAGE, PIPEC_OUTPUT, PIPEC_CANCELLED};
    uint8_t pixels[W * H];
    draw(pixels);
    PipecPipeline *p = compile(SQUARES);
    for (int fails = 0; fails < 4; fails++) {
        Rows rows = {.from = pixels, .fails = fails};
        PipecInput input = input_of(NULL);
        PipecSink sinks[OUTPUTS] = {{.size = sizeof *sinks, .write = write_rows, .context = &rows}};
        input.read = read_rows;
        input.context = &rows;
        const PipecRun run = {.size = sizeof run,
                              .inputs = &input,
                              .sinks = sinks,
                              .progress = fails == 3 ? ends : NULL};
        PipecResult *result;
        PipecError error;
        assert_int_equal(pipec_run(device, p, &run, &result, &error), codes[fails]);
        assert_true((result != NULL) == (fails == 0));
        if (fails == 0) {
            PipecImage image;
            assert_int_equal(rows.read, H);
            assert_int_equal(rows.written, H);
            assert_true(rows.to[22 * W + 33] == 500);
            assert_int_equal(pipec_image(result, TWICE, &image, NULL), PIPEC_USAGE);
            assert_int_equal(pipec_image(result, OBJECTS, &image, NULL), PIPEC_OK);
        }
        pipec_result_free(result);
    }
    pipec_pipeline_free(p);
}

static void params_are_checked(void **state)
{
    (void)state;
    uint8_t pixels[W * H];
    draw(pixels);
    PipecPipeline *p = compile(SQUARES);
    const PipecInput input = input_of(pixels);
    static const struct {
        double value;
        int code, objects;
    } cases[] = {{100, PIPEC_OK, 2},
                 {225, PIPEC_OK, 1},
                 {100, PIPEC_OK, 2},
                 {256, PIPEC_USAGE, 0},
                 {NAN, PIPEC_USAGE, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PipecResult *result;
        const PipecRun run = {.size = sizeof run, .inputs = &input, .params = &cases[i].value};
        assert_int_equal(pipec_run(device, p, &run, &result, NULL), cases[i].code);
        assert_true(result == NULL || pipec_value(result, OBJECTS) == cases[i].objects);
        pipec_result_free(result);
    }
    pipec_pipeline_free(p);
}

static void inputs_are_checked(void **state)
{
    (void)state;
    uint8_t pixels[W * H];
    draw(pixels);
    PipecPipeline *p = compile(SQUARES);
    for (int i = 0; i < 5; i++) {
        static const int codes[] = {PIPEC_USAGE, PIPEC_USAGE, PIPEC_IMAGE, PIPEC_IMAGE, PIPEC_USAGE};
        PipecInput input = input_of(i == 0 ? NULL : pixels);
        input.image.type = i == 1 ? PIPEC_NONE : PIPEC_U8;
        input.image.extent[0] = i == 2 ? 0 : W;
        input.image.extent[2] = i == 3 ? 2 : 1;
        input.size = i == 4 ? 0 : sizeof input;
        PipecResult *result;
        PipecError error;
        assert_int_equal(pipec_run(device, p, &(PipecRun){.size = sizeof(PipecRun), .inputs = &input}, &result, &error),
                         codes[i]);
        assert_true(error.text[0] != '\0');
    }
    pipec_pipeline_free(p);
}

/* ---- plans and devices ----------------------------------------------------------------- */

static void plans_are_kept(void **state)
{
    (void)state;
    const char text[] = "input image[y, x]\noutput blurred = gaussian(image, 3)\n";
    const PipecInput input = {.size = sizeof input,
                              .image = {.data = (void *)(uintptr_t)text, /* plans do not look at pixels */
                                        .extent = {20000, 30000, 1, 1},
                                        .type = PIPEC_U16}};
    const PipecRun run = {.size = sizeof run, .inputs = &input};
    PipecPipeline *p = compile(text);
    PipecPlan plan = {.size = sizeof plan};
    PipecImage output;
    assert_int_equal(pipec_plan(p, NULL, 0, &run, &plan, &output, NULL), PIPEC_OK);
    assert_false(plan.in_parts);
    assert_true(plan.peak > (uint64_t)20000 * 30000 * 6);
    assert_int_equal(output.type, PIPEC_F32);
    assert_true(output.extent[0] == 20000 && output.extent[1] == 30000);
    assert_int_equal(pipec_plan(p, NULL, 1 << 26, &run, &plan, NULL, NULL), PIPEC_OK);
    assert_true(plan.in_parts && plan.peak <= 1 << 26);
    pipec_pipeline_free(p);
}

static void a_limit_is_kept(void **state)
{
    (void)state;
    uint8_t pixels[W * H];
    PipecDevice *small;
    PipecResult *result;
    PipecError error;
    draw(pixels);
    const PipecInput input = input_of(pixels);
    PipecPipeline *p = compile(SQUARES);
    assert_int_equal(pipec_open("cpu", 66000, &small, &error), PIPEC_OK);
    PipecPlan plan = {.size = sizeof plan};
    assert_int_equal(pipec_plan(p, small, 0, &(PipecRun){.size = sizeof(PipecRun), .inputs = &input}, &plan, NULL,
                                &error),
                     PIPEC_OK);
    assert_true(plan.in_parts && plan.peak <= 66000);
    if (pipec_run(small, p, &(PipecRun){.size = sizeof(PipecRun), .inputs = &input}, &result, &error) != PIPEC_OK) {
        fail_msg("%s", error.text);
    }
    check_results(result, pixels);
    pipec_pipeline_free(p);
    pipec_close(small);
    check_results(result, pixels); /* it outlives both */
    pipec_result_free(result);
    assert_int_equal(pipec_open("no such device", 0, &small, &error), PIPEC_DEVICE);
    char *list;
    assert_int_equal(pipec_devices(&list, &error), PIPEC_OK);
    assert_non_null(strstr(list, "\"kind\": \"CPU\""));
    pipec_text_free(list);
}

/* ---- threads --------------------------------------------------------------------------- */

static void *work(void *context)
{
    uint8_t pixels[W * H];
    draw(pixels);
    const PipecInput input = input_of(pixels);
    for (int i = 0; i < 5; i++) {
        PipecPipeline *own;
        PipecResult *result;
        const PipecRun run = {.size = sizeof run, .inputs = &input};
        if (pipec_compile("squares.pipe", SQUARES, strlen(SQUARES), &own, NULL) != PIPEC_OK) {
            return "a pipeline did not compile";
        }
        if (pipec_run(device, i % 2 == 0 ? own : context, &run, &result, NULL) != PIPEC_OK) {
            return "a run failed";
        }
        if (pipec_value(result, OBJECTS) != 2) {
            return "a result is wrong";
        }
        pipec_result_free(result);
        pipec_pipeline_free(own);
    }
    return NULL;
}

static void threads_call_at_once(void **state)
{
    (void)state;
    pthread_t threads[6];
    PipecPipeline *p = compile(SQUARES);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, p), 0);
    }
    for (int i = 0; i < 6; i++) {
        void *what;
        assert_int_equal(pthread_join(threads[i], &what), 0);
        if (what != NULL) {
            fail_msg("%s", (const char *)what);
        }
    }
    pipec_pipeline_free(p);
}

static int open_device(void **state)
{
    (void)state;
    return pipec_open("cpu", 0, &device, NULL);
}

static int close_device(void **state)
{
    (void)state;
    pipec_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told),    cmocka_unit_test(texts_are_those_of_the_command),
        cmocka_unit_test(memory_of_any_layout), cmocka_unit_test(rows_come_and_go),
        cmocka_unit_test(params_are_checked),   cmocka_unit_test(inputs_are_checked),
        cmocka_unit_test(plans_are_kept),       cmocka_unit_test(a_limit_is_kept),
        cmocka_unit_test(threads_call_at_once),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
