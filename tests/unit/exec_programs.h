/* exec_programs: a hand-written program and a device, for the tests of the executor. */
#ifndef TESTS_EXEC_PROGRAMS_H
#define TESTS_EXEC_PROGRAMS_H

#include "runtime/exec/exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { W = 301, H = 77 }; /* neither a multiple of a group's columns nor of a strip */

/* The frame of every kernel here: `x`, `y` and `plane` run over the group's pixels. */
#define PIXELS(body)                                                                          \
    "    const int x0 = (int)get_group_id(0) * PX * LX + (int)get_local_id(0);\n"             \
    "    const int y0 = from + (int)get_group_id(1) * strip, plane = (int)get_group_id(2);\n" \
    "    for (int y = y0; y < min(y0 + strip, to); y++) {\n"                                  \
    "        for (int x = x0; x < min(x0 + PX * LX, w); x += LX) {\n"                         \
    "            const size_t at = ((size_t)plane * h + y) * pitch + x;\n"                    \
    "            " body "\n"                                                                  \
    "        }\n"                                                                             \
    "    }\n"
#define FRAME_PARAMS "int w, int h, int pitch, int from, int to, int strip"
#define FRAME_ARGS(grid)                                                                                             \
    {ARG_EXTENT, grid, 0}, {ARG_EXTENT, grid, 1}, {ARG_EXTENT, grid, 4}, {ARG_ROWS_FROM, 0, 0}, {ARG_ROWS_TO, 0, 0}, \
    {                                                                                                                \
        ARG_STRIP, 0, 0                                                                                              \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Host expressions that the programs share. */
enum { X_W, X_H, X_D, X_C, X_ONE, X_TWO, X_MINUS, X_GAIN, X_INDEX, X_TEN, X_HUNDRED, X_NODES };
static const HostNode HOST[X_NODES] = {
    [X_W] = {.op = HOST_EXTENT, .a = 0, .b = 0},  [X_H] = {.op = HOST_EXTENT, .a = 0, .b = 1},
    [X_D] = {.op = HOST_EXTENT, .a = 0, .b = 2},  [X_C] = {.op = HOST_EXTENT, .a = 0, .b = 3},
    [X_ONE] = {.op = HOST_CONST, .num = 1},       [X_TWO] = {.op = HOST_CONST, .num = 2},
    [X_MINUS] = {.op = HOST_CONST, .num = -2},    [X_GAIN] = {.op = HOST_PARAM, .a = 0},
    [X_INDEX] = {.op = HOST_INDEX, .a = 1},       [X_TEN] = {.op = HOST_CONST, .num = 10},
    [X_HUNDRED] = {.op = HOST_CONST, .num = 100},
};
static const ProgGrid GRIDS[] = {{{X_W, X_H, X_ONE, X_ONE}, false},
                                 {{X_ONE, X_ONE, X_ONE, X_ONE}, false},
                                 {{X_W, X_H, X_D, X_C}, true}};
static const ProgInput IMAGE = {"image", "yx", ELEM_FILE, false, false, 0, -1, 0, -1};
static const ProgParam GAIN = {"gain", "", 2, 0, 100, false, NULL};
static const ProgDefine IMAGE_TYPE = {.kind = DEF_TYPE, .name = "IMAGE_T", .expr = 0};

static inline Program program_with(const ProgBuffer *buffers, int n_buffers, const ProgKernel *kernels, int n_kernels,
                                   const ProgStep *steps, int n_steps, const ProgOutput *outputs, int n_outputs)
{
    return (Program){.name = "test",
                     .version = "0",
                     .hash = "0",
                     .source = "",
                     .host = HOST,
                     .n_host = X_NODES,
                     .inputs = &IMAGE,
                     .n_inputs = 1,
                     .params = &GAIN,
                     .n_params = 1,
                     .outputs = outputs,
                     .n_outputs = n_outputs,
                     .grids = GRIDS,
                     .n_grids = COUNT(GRIDS),
                     .buffers = buffers,
                     .n_buffers = n_buffers,
                     .n_values = 8,
                     .kernels = kernels,
                     .n_kernels = n_kernels,
                     .steps = steps,
                     .n_steps = n_steps};
}

static inline Device *device(void **state)
{
    return *state;
}

static inline int open_device(void **state)
{
    Err err = {0};
    Device *dev;
    if (!dev_open(&(DevOptions){.profile = true}, &dev, &err)) {
        print_message("%s\n", err.text);
        return 1;
    }
    *state = dev;
    return 0;
}

static inline int close_device(void **state)
{
    dev_close(*state);
    return 0;
}

static inline ExecInput like(int w, int h, Elem elem)
{
    return (ExecInput){.extent = {w, h, 1, 1}, .elem = elem};
}

/* ---- a gain, a column filter with weights -2 .. 2, and a sum in place ----------------------- */

enum { B_IMAGE, B_SCALED, B_SMOOTH, B_SHIFTED };

static const ProgArg SCALE_ARGS[] = {{ARG_BUFFER, B_IMAGE, 0},
                                     {ARG_BUFFER, B_SCALED, 0},
                                     {ARG_HOST_FLOAT, X_GAIN, 0},
                                     FRAME_ARGS(0)};
static const ProgArg SMOOTH_ARGS[] = {{ARG_BUFFER, B_SCALED, 0}, {ARG_BUFFER, B_SMOOTH, 0}, FRAME_ARGS(0)};
static const ProgArg SHIFT_ARGS[] = {{ARG_BUFFER, B_SMOOTH, 0},
                                     {ARG_BUFFER, B_SHIFTED, 0},
                                     {ARG_HOST_INT, X_TEN, 0},
                                     {ARG_HOST_DOUBLE, X_GAIN, 0},
                                     FRAME_ARGS(0)};

static const ProgDefine SMOOTH_DEFINES[] = {{.kind = DEF_TABLE,
                                             .name = "WEIGHTS",
                                             .expr = X_INDEX,
                                             .n = 1,
                                             .index = {1},
                                             .lo = {X_MINUS},
                                             .hi = {X_TWO},
                                             .elem = ELEM_F32},
                                            {.kind = DEF_INT, .name = "RADIUS", .expr = X_TWO}};

static const ProgKernel CHAIN_KERNELS[] =
    {{"scaled",
      "kernel void scaled(global const IMAGE_T *image, global float *scaled, float "
      "gain, " FRAME_PARAMS ")\n{\n" PIXELS("scaled[at] = (float)image[at] * gain;") "}\n",
      &IMAGE_TYPE, 1, "1"},
     {"smooth",
      "kernel void smooth(global const float *scaled, global float *smooth, " FRAME_PARAMS
      ")\n{\n" PIXELS("float sum = 0;\n"
                      "for (int j = -RADIUS; j <= RADIUS; j++) {\n"
                      "    sum += WEIGHTS[j + RADIUS] * scaled[at + (clamp(y + j, 0, h - 1) - y) * pitch];\n"
                      "}\n"
                      "smooth[at] = sum;") "}\n",
      SMOOTH_DEFINES, 2, "2"},
     {"shifted",
      "kernel void shifted(global const float *smooth, global float *shifted, int ten, double "
      "gain, " FRAME_PARAMS ")\n{\n" PIXELS("shifted[at] = smooth[at] + ten + (float)gain;") "}\n",
      NULL, 0, "3"}};

static const ProgRead SMOOTH_READS[] = {{.buffer = B_SCALED, .below = X_MINUS, .above = X_TWO}};
static const ProgStep CHAIN_STEPS[] = {{.kind = STEP_LAUNCH,
                                        .name = "scaled",
                                        .lines = "1",
                                        .kernel = 0,
                                        .args = SCALE_ARGS,
                                        .n_args = COUNT(SCALE_ARGS),
                                        .value = -1},
                                       {.kind = STEP_LAUNCH,
                                        .name = "smooth",
                                        .lines = "2",
                                        .kernel = 1,
                                        .args = SMOOTH_ARGS,
                                        .n_args = COUNT(SMOOTH_ARGS),
                                        .reads = SMOOTH_READS,
                                        .n_reads = 1,
                                        .value = -1},
                                       {.kind = STEP_LAUNCH,
                                        .name = "shifted",
                                        .lines = "3",
                                        .kernel = 2,
                                        .args = SHIFT_ARGS,
                                        .n_args = COUNT(SHIFT_ARGS),
                                        .value = -1}};
static const ProgBuffer CHAIN_BUFFERS[] = {{"image", ELEM_FILE, 0, 0, -1, 0, 0, -1},
                                           {"scaled", ELEM_F32, -1, 0, -1, 0, 1, -1},
                                           {"smooth", ELEM_F32, -1, 0, -1, 1, 2, -1},
                                           {"shifted", ELEM_F32, -1, 0, -1, 2, 2, B_SMOOTH}};
static const ProgOutput CHAIN_OUTPUT = {"shifted", "tif", OUT_IMAGE, B_SHIFTED, -1, -1, "yx", {0}, {{0}}, 0};

static inline Program chain(void)
{
    return program_with(CHAIN_BUFFERS, 4, CHAIN_KERNELS, 3, CHAIN_STEPS, 3, &CHAIN_OUTPUT, 1);
}

static inline float chain_pixel(const uint8_t *image, int w, int h, int x, int y, double gain)
{
    float sum = 0;
    for (int j = -2; j <= 2; j++) {
        int row = y + j < 0 ? 0 : y + j >= h ? h - 1 : y + j;
        sum += (float)j * ((float)image[row * w + x] * (float)gain);
    }
    return sum + 10 + (float)gain;
}

static inline uint8_t *noise(int n)
{
    uint8_t *image = malloc((size_t)n);
    uint32_t seed = 5;
    assert_non_null(image);
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        image[i] = (uint8_t)(seed >> 24);
    }
    return image;
}

static inline void run_chain(Exec *exec, int w, int h, double gain)
{
    uint8_t *image = noise(w * h);
    float *out = malloc(sizeof *out * (size_t)(w * h));
    ExecInput input = like(w, h, ELEM_U8);
    ExecGrid grid;
    Elem elem;
    Err err = {0};
    assert_non_null(out);
    assert_true(exec_bind(exec, &input, &gain, &err));
    assert_true(exec_upload(exec, 0, 0, 0, 0, 5, image, (size_t)w, &err));
    assert_true(exec_upload(exec, 0, 0, 0, 5, h - 5, image + 5 * w, (size_t)w, &err));
    assert_true(exec_run(exec, &err));
    exec_output(exec, 0, &grid, &elem);
    assert_int_equal(elem, ELEM_F32);
    assert_true(grid.w == w && grid.h == h && grid.planes == 1 && grid.pitch % 16 == 0);
    assert_true(exec_download(exec, 0, 0, 0, 0, h - 3, out, sizeof *out * (size_t)w, &err));
    assert_true(exec_download(exec, 0, 0, 0, h - 3, 3, out + (h - 3) * w, sizeof *out * (size_t)w, &err));
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            assert_true(out[y * w + x] == chain_pixel(image, w, h, x, y, gain));
        }
    }
    free(image);
    free(out);
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)

#endif
