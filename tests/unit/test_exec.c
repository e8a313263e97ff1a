/*
 * exec: hand-written programs, run and compared with plain C: pointwise kernels in place, stencils
 * with a table of weights, inputs of several types, primitives; and programs that cannot run.
 */
#include "exec_programs.h"

#include "../../runtime/exec/narrow.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static void chain_is_computed(void **state)
{
    Program program = chain();
    Exec *exec;
    Err err = {0};
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_null(exec_bound(exec));
    run_chain(exec, W, H, 2);
    assert_false(exec_keeps(exec, 0)); /* the smoothed image may lie where the input was */
    run_chain(exec, W, H, 2);
    exec_free(exec);
    exec_free(NULL);
}

static void binding_again_costs_nothing(void **state)
{
    Program program = chain();
    Device *dev = device(state);
    Exec *exec;
    Err err = {0};
    assert_true(exec_new(&program, dev, &exec, &err));
    run_chain(exec, W, H, 2);
    const ExecPlan *plan = exec_bound(exec);
    uint64_t builds = dev_builds(dev), held = dev_held(dev);
    assert_true(held >= plan->peak);
    run_chain(exec, W, H, 2);
    assert_ptr_equal(exec_bound(exec), plan);
    run_chain(exec, 40, 9, 2); /* smaller: the same memory */
    assert_int_equal(dev_held(dev), held);
    assert_int_equal(dev_builds(dev), builds);
    run_chain(exec, 1000, 33, 3.5); /* larger */
    assert_true(dev_held(dev) > held);
    assert_int_equal(dev_builds(dev), builds);
    exec_free(exec);
    assert_int_equal(dev_held(dev), 0);
}

/* ---- inputs ------------------------------------------------------------------------------ */

/* Copies the declared type into an f32 output, so that uploads can be seen. */
static const ProgArg SEEN_ARGS[] = {{ARG_BUFFER, 0, 0}, {ARG_BUFFER, 1, 0}, {ARG_VALUES, 0, 0}, FRAME_ARGS(2)};
static const ProgKernel SEEN_KERNEL = {"seen",
                                       "kernel void seen(global const IMAGE_T *image, global float "
                                       "*seen, global double *values, " FRAME_PARAMS
                                       ")\n{\n" PIXELS("seen[at] = (float)image[at];") "}\n",
                                       &IMAGE_TYPE, 1, "1"};
static const ProgStep SEEN_STEP =
    {.kind = STEP_LAUNCH, .name = "seen", .grid = 2, .args = SEEN_ARGS, .n_args = COUNT(SEEN_ARGS), .value = -1};
static const ProgBuffer SEEN_BUFFERS[] = {{"image", ELEM_FILE, 0, 2, -1, 0, 0, -1},
                                          {"seen", ELEM_F32, -1, 2, -1, 0, 0, -1}};
static const ProgOutput SEEN_OUTPUT = {"seen", "tif", OUT_IMAGE, 1, -1, -1, "zyxc", {0}, {{0}}, 0};

static Program seen(void)
{
    return program_with(SEEN_BUFFERS, 2, &SEEN_KERNEL, 1, &SEEN_STEP, 1, &SEEN_OUTPUT, 1);
}

static void planes_and_channels_have_their_places(void **state)
{
    Program program = seen();
    ExecInput input = {.extent = {5, 4, 3, 2}, .elem = ELEM_I16};
    Exec *exec;
    Err err = {0};
    double gain = 1;
    int16_t plane[4][8];
    float out[4][5];
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_true(exec_bind(exec, &input, &gain, &err));
    assert_true(exec_wants(exec, 0, 1));
    assert_true(exec_keeps(exec, 0)); /* alive together with the only other image */
    for (int i = 0; i < 6; i++) {
        for (int y = 0; y < 4; y++) {
            for (int x = 0; x < 5; x++) {
                plane[y][x] = (int16_t)(-1000 * i + 10 * y + x);
            }
        }
        assert_true(exec_upload(exec, 0, i / 3, i % 3, 0, 4, plane, sizeof plane[0], &err));
    }
    assert_true(exec_run(exec, &err));
    for (int i = 0; i < 6; i++) {
        assert_true(exec_download(exec, 0, i / 3, i % 3, 0, 4, out, sizeof out[0], &err));
        for (int y = 0; y < 4; y++) {
            for (int x = 0; x < 5; x++) {
                assert_true(out[y][x] == (float)(-1000 * i + 10 * y + x));
            }
        }
    }
    assert_false(exec_upload(exec, 0, 2, 0, 0, 4, plane, sizeof plane[0], &err));
    err_clear(&err);
    assert_false(exec_upload(exec, 0, 0, 0, 1, 4, plane, sizeof plane[0], &err));
    err_clear(&err);
    assert_false(exec_download(exec, 0, 0, 3, 0, 1, out, sizeof out[0], &err));
    exec_free(exec);
}

static void one_channel_of_several_is_stored(void **state)
{
    Program program = seen();
    ProgInput one = IMAGE;
    one.channel = X_TWO;
    program.inputs = &one;
    static const ProgGrid grids[] = {{{X_W, X_H, X_ONE, X_ONE}, false},
                                     {{X_ONE, X_ONE, X_ONE, X_ONE}, false},
                                     {{X_W, X_H, X_D, X_ONE}, true}};
    program.grids = grids;
    ExecInput input = {.extent = {3, 2, 1, 4}, .elem = ELEM_U8};
    Exec *exec;
    Err err = {0};
    double gain = 1;
    float out[2][3];
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_true(exec_bind(exec, &input, &gain, &err));
    for (int c = 0; c < 4; c++) {
        uint8_t plane[2][3];
        memset(plane, 10 * c, sizeof plane);
        assert_int_equal(exec_wants(exec, 0, c), c == 2);
        assert_true(exec_upload(exec, 0, c, 0, 0, 2, plane, 3, &err));
    }
    assert_true(exec_run(exec, &err));
    assert_true(exec_download(exec, 0, 0, 0, 0, 2, out, sizeof out[0], &err));
    assert_true(out[0][0] == 20 && out[1][2] == 20);
    input.extent[3] = 2; /* there is no third channel */
    assert_false(exec_bind(exec, &input, &gain, &err));
    assert_int_equal(err.code, CODE_FILES);
    assert_non_null(strstr(err.text, "'image' has no channel 2"));
    exec_free(exec);
}

static void pixels_are_converted_when_they_fit(void **state)
{
    Program program = seen();
    ProgInput declared = IMAGE;
    ProgBuffer buffers[2] = {SEEN_BUFFERS[0], SEEN_BUFFERS[1]};
    declared.elem = buffers[0].elem = ELEM_U8;
    program.inputs = &declared;
    program.buffers = buffers;
    ExecInput input = like(4, 1, ELEM_F64);
    Exec *exec;
    Err err = {0};
    double gain = 1, row[4] = {0, 255, 7, -0.0};
    float out[4];
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_true(exec_bind(exec, &input, &gain, &err));
    assert_true(exec_upload(exec, 0, 0, 0, 0, 1, row, sizeof row, &err));
    assert_true(exec_run(exec, &err));
    assert_true(exec_download(exec, 0, 0, 0, 0, 1, out, sizeof out, &err));
    assert_true(out[0] == 0 && out[1] == 255 && out[2] == 7 && out[3] == 0);
    static const double bad[] = {256, -1, 0.5, NAN};
    for (int i = 0; i < 4; i++) {
        row[2] = bad[i];
        assert_false(exec_upload(exec, 0, 0, 0, 0, 1, row, sizeof row, &err));
        assert_int_equal(err.code, CODE_FILES);
        assert_non_null(strstr(err.text, "column 2 of row 0, which is no u8"));
        err_clear(&err);
    }
    exec_free(exec);
}

static void largest_label_is_known_before_the_first_step(void **state)
{
    Program program = seen();
    ProgInput labels = IMAGE;
    labels.labels = true;
    labels.count = 3;
    program.inputs = &labels;
    ExecInput input = like(3, 2, ELEM_U16);
    Exec *exec;
    Err err = {0};
    double gain = 1;
    const double *values = NULL;
    static const uint16_t first[2][3] = {{0, 9, 2}, {1, 0, 70}}, second[2][3] = {{1}, {2}};
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_true(exec_bind(exec, &input, &gain, &err));
    assert_true(exec_upload(exec, 0, 0, 0, 0, 1, first[0], 6, &err));
    assert_true(exec_upload(exec, 0, 0, 0, 1, 1, first[1], 6, &err));
    assert_true(exec_run(exec, &err) && exec_values(exec, &values, &err));
    assert_true(values[3] == 70);
    assert_true(exec_upload(exec, 0, 0, 0, 0, 2, second, 6, &err));
    assert_true(exec_run(exec, &err) && exec_values(exec, &values, &err));
    assert_true(values[3] == 2);
    exec_free(exec);
}

static void wrong_shapes_are_refused(void **state)
{
    ProgGrid grids[3] = {GRIDS[0], GRIDS[1], {{X_TEN, X_H, X_D, X_C}, true}};
    Program program = seen();
    program.grids = grids;
    Exec *exec;
    Err err = {0};
    double gain = 1;
    assert_true(exec_new(&program, device(state), &exec, &err));
    ExecInput wide = like(11, 2, ELEM_U8), flat = like(10, 0, ELEM_U8), odd = like(10, 2, ELEM_NONE);
    assert_false(exec_bind(exec, &wide, &gain, &err));
    assert_int_equal(err.code, CODE_FILES);
    assert_non_null(strstr(err.text, "the width of 'image' is 11, but the pipeline needs 10"));
    err_clear(&err);
    assert_false(exec_bind(exec, &flat, &gain, &err));
    assert_int_equal(err.code, CODE_FILES);
    err_clear(&err);
    assert_false(exec_bind(exec, &odd, &gain, &err));
    assert_int_equal(err.code, CODE_FILES);
    err_clear(&err);
    grids[2].extent[2] = X_MINUS;
    assert_false(exec_bind(exec, &wide, &gain, &err));
    assert_int_equal(err.code, CODE_USAGE);
    exec_free(exec);
}

/* ---- runs ------------------------------------------------------------------------------- */

static bool stop_at_once(void *nothing)
{
    (void)nothing;
    return true;
}

static void interrupted_run_says_so(void **state)
{
    Program program = chain();
    Exec *exec;
    Err err = {0};
    ExecInput input = like(W, H, ELEM_U8);
    double gain = 1;
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_true(exec_bind(exec, &input, &gain, &err));
    exec_set_stop(exec, stop_at_once, NULL);
    assert_false(exec_run(exec, &err));
    assert_int_equal(err.code, CODE_INTERRUPTED);
    err_clear(&err);
    exec_set_stop(exec, NULL, NULL);
    run_chain(exec, W, H, 1);
    exec_free(exec);
}

/* ---- primitives ------------------------------------------------------------------------------ */

static const ProgArg READER_ARGS[] = {{ARG_BUFFER, 0, 0}, {ARG_EXTENT, 0, 4}};
static const ProgKernel READER = {"total",
                                  "#define READ_PARAMS global const IMAGE_T *image, int pitch\n"
                                  "#define READ_ARGS image, pitch\n"
                                  "#define READ_TYPE_0 float\n"
                                  "#define READ_HAS_0 1\n"
                                  "static inline float read_0(READ_PARAMS, int x, int y, int plane)\n"
                                  "{\n    return (float)image[y * pitch + x];\n}\n",
                                  &IMAGE_TYPE, 1, "1"};
static const int REDUCE_EXPRS[] = {X_ONE}, REDUCE_INPUTS[] = {-1};

static void primitives_read_what_is_computed(void **state)
{
    const ProgStep step = {.kind = STEP_PRIMITIVE,
                           .name = "total",
                           .primitive = "reduce",
                           .args = READER_ARGS,
                           .n_args = 2,
                           .exprs = REDUCE_EXPRS,
                           .n_exprs = 1,
                           .inputs = REDUCE_INPUTS,
                           .n_inputs = 1,
                           .value = 2,
                           .of_value = -1};
    Program program = program_with(CHAIN_BUFFERS, 1, &READER, 1, &step, 1, NULL, 0);
    ExecInput input = like(W, H, ELEM_U8);
    Exec *exec;
    Err err = {0};
    double gain = 1, sum = 0;
    const double *values;
    uint8_t *image = noise(W * H);
    for (int i = 0; i < W * H; i++) {
        sum += image[i];
    }
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_true(exec_bind(exec, &input, &gain, &err));
    assert_true(exec_upload(exec, 0, 0, 0, 0, H, image, W, &err));
    assert_true(exec_run(exec, &err));
    assert_true(exec_values(exec, &values, &err));
    assert_true(values[2] == sum && values[3] == W * H);
    exec_free(exec);
    free(image);
}

static void unknown_primitive_is_refused(void **state)
{
    const ProgStep step = {.kind = STEP_PRIMITIVE,
                           .name = "spots",
                           .primitive = "no_such_thing",
                           .kernel = -1,
                           .value = -1,
                           .of_value = -1};
    Program program = program_with(CHAIN_BUFFERS, 1, &READER, 1, &step, 1, NULL, 0);
    ExecInput input = like(W, H, ELEM_U8);
    Exec *exec;
    Err err = {0};
    double gain = 1;
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_false(exec_bind(exec, &input, &gain, &err));
    assert_non_null(strstr(err.text, "no_such_thing"));
    assert_non_null(strstr(err.text, "spots"));
    assert_null(exec_bound(exec));
    exec_free(exec);
}

/* ---- refusals ----------------------------------------------------------------------------------
 */

static void too_little_memory_is_noticed_before_any_work(void **state)
{
    (void)state;
    Program program = chain();
    Device *dev;
    Exec *exec;
    Err err = {0};
    ExecInput input = like(1024, 1024, ELEM_U8), small = like(W, H, ELEM_U8);
    double gain = 1;
    assert_true(dev_open(&(DevOptions){.memory_limit = 256 << 10}, &dev, &err));
    assert_true(exec_new(&program, dev, &exec, &err));
    assert_false(exec_bind(exec, &input, &gain, &err));
    assert_int_equal(err.code, CODE_MEMORY);
    assert_non_null(strstr(err.text, "--memory"));
    assert_int_equal(dev_launches(dev), 0);
    err_clear(&err);
    assert_true(exec_bind(exec, &small, &gain, &err));
    run_chain(exec, W, H, 1);
    exec_free(exec);
    assert_int_equal(dev_held(dev), 0);
    dev_close(dev);
}

static void huge_images_are_refused(void **state)
{
    Program program = seen();
    Exec *exec;
    Err err = {0};
    double gain = 1;
    static const int64_t extents[][4] = {{INT64_MAX, 1, 1, 1},
                                         {2000000000, 2000000000, 1, 1},
                                         {1, 1, 2000000000, 2000000000}};
    assert_true(exec_new(&program, device(state), &exec, &err));
    for (int i = 0; i < COUNT(extents); i++) {
        ExecInput input = {.elem = ELEM_U8};
        memcpy(input.extent, extents[i], sizeof input.extent);
        assert_false(exec_bind(exec, &input, &gain, &err));
        assert_true(err.code == CODE_MEMORY || err.code == CODE_FILES);
        err_clear(&err);
    }
    exec_free(exec);
}

static void bad_kernel_is_named(void **state)
{
    ProgKernel kernels[3];
    memcpy(kernels, CHAIN_KERNELS, sizeof kernels);
    kernels[1].source = "kernel void smooth(global float *a)\n{\n    a[0] = nonsense;\n}\n";
    Program program = program_with(CHAIN_BUFFERS, 4, kernels, 3, CHAIN_STEPS, 3, &CHAIN_OUTPUT, 1);
    Exec *exec;
    Err err = {0};
    ExecInput input = like(W, H, ELEM_U8);
    double gain = 1;
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_false(exec_bind(exec, &input, &gain, &err));
    assert_int_equal(err.code, CODE_DEVICE);
    assert_non_null(strstr(err.text, "'smooth'"));
    err_clear(&err);
    kernels[1] = CHAIN_KERNELS[1];
    kernels[1].lines = "7-9";
    kernels[1].n_defines = 1;
    kernels[1].defines = &(ProgDefine){.kind = DEF_TYPE, .name = "NO_TYPE", .expr = 77};
    assert_false(exec_bind(exec, &input, &gain, &err));
    assert_non_null(strstr(err.text, "line 7-9: there is no input 77"));
    exec_free(exec);
}

/* Three images of 100 MiB on a device that gives 256 MiB in one piece. */
static int run_in_two_arenas(void)
{
    static const ProgBuffer buffers[] = {{"image", ELEM_FILE, 0, 0, -1, 0, 2, -1},
                                         {"scaled", ELEM_F32, -1, 0, -1, 0, 2, -1},
                                         {"smooth", ELEM_F32, -1, 0, -1, 0, 2, -1},
                                         {"shifted", ELEM_F32, -1, 0, -1, 2, 2, 2}};
    Program program = program_with(buffers, 4, CHAIN_KERNELS, 3, CHAIN_STEPS, 3, &CHAIN_OUTPUT, 1);
    enum { WIDE = 6144, HIGH = 4500 };
    ExecInput input = like(WIDE, HIGH, ELEM_F32);
    Device *dev;
    Exec *exec;
    Err err = {0};
    double gain = 0;
    float row[WIDE];
    setenv("POCL_MEMORY_LIMIT", "1", 1);
    if (!dev_open(&(DevOptions){.choice = "cpu"}, &dev, &err)) {
        return 0; /* only PoCL can be told to have little memory */
    }
    bool ok = exec_new(&program, dev, &exec, &err) && exec_bind(exec, &input, &gain, &err);
    ok = ok && exec_bound(exec)->peak > dev_info(dev)->max_alloc;
    for (int y = 0; ok && y < HIGH; y++) {
        memset(row, 0, sizeof row);
        ok = exec_upload(exec, 0, 0, 0, y, 1, row, sizeof row, &err);
    }
    ok = ok && exec_run(exec, &err);
    for (int y = 0; ok && y < HIGH; y += 97) {
        ok = exec_download(exec, 0, 0, 0, y, 1, row, sizeof row, &err);
        for (int x = 0; ok && x < WIDE; x++) {
            ok = row[x] == 10;
        }
    }
    if (!ok) {
        print_message("%s\n", err.text);
    }
    exec_free(exec);
    dev_close(dev);
    return ok ? 0 : 1;
}

static void arena_may_be_several_allocations(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(run_in_two_arenas());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Boxes hold their least values and not those at their ends; outside of all is the program itself. */
static void variant_is_that_of_the_parameters(void **state)
{
    (void)state;
    static const double from_ten[] = {10, -INFINITY}, no_end[] = {INFINITY, INFINITY};
    static const double small[] = {-INFINITY, 3}, below_ten[] = {10, 5};
    static const Program wide = {.name = "wide"}, other = {.name = "other"};
    static const ProgVariant variants[] = {{from_ten, no_end, &wide}, {small, below_ten, &other}};
    static const ProgParam params[2] = {{.name = "sigma"}, {.name = "radius"}};
    const Program program = {.name = "own", .params = params, .n_params = 2, .variants = variants, .n_variants = 2};
    static const struct {
        double params[2];
        const char *name;
    } CASES[] = {{{2, 1}, "own"},      {{10, 1}, "wide"},    {{9.99, 1}, "own"}, {{1e9, 4}, "wide"},
                 {{9.99, 3}, "other"}, {{-5, 4.9}, "other"}, {{2, 5}, "own"},    {{10, 3}, "wide"}};
    for (int i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(exec_variant(&program, CASES[i].params)->name, CASES[i].name);
    }
}

/* Rows of several lengths, by both kinds of groups, beside plain C; nothing beyond them is touched. */
static void labels_are_narrowed_where_they_lie(void **state)
{
    static const int WIDTHS[] = {1, 3, 16, 17, 1000, 2100};
    enum { ROWS = 3, PITCH = 2112, AFTER = 16 };
    Device *dev = device(state);
    DevMem *mem;
    Err err = {0};
    static uint32_t pixels[ROWS * PITCH + AFTER], got[ROWS * PITCH + AFTER];
    for (int i = 0; i < COUNT(pixels); i++) {
        pixels[i] = (uint32_t)i * 2654435761u >> 16;
    }
    assert_true(dev_alloc(dev, sizeof pixels, &mem, &err));
    for (int i = 0; i < 2 * COUNT(WIDTHS); i++) {
        const int width = WIDTHS[i / 2];
        assert_true(dev_write(dev, mem, 0, pixels, sizeof pixels, &err));
        assert_true(narrow_rows(dev, i % 2 == 0, mem, ROWS, (size_t)width, PITCH, &err));
        assert_true(dev_read(dev, mem, 0, got, sizeof got, &err));
        for (int y = 0; y < ROWS; y++) {
            const uint16_t *row = (const uint16_t *)(const void *)&got[y * PITCH];
            for (int x = 0; x < width; x++) {
                assert_int_equal(row[x], pixels[y * PITCH + x]);
            }
        }
        assert_memory_equal(&got[ROWS * PITCH], &pixels[ROWS * PITCH], AFTER * sizeof *got);
    }
    dev_free(dev, mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_may_be_several_allocations), /* first: it forks */
        ON_DEVICE(chain_is_computed),
        ON_DEVICE(binding_again_costs_nothing),
        ON_DEVICE(planes_and_channels_have_their_places),
        ON_DEVICE(one_channel_of_several_is_stored),
        ON_DEVICE(pixels_are_converted_when_they_fit),
        ON_DEVICE(largest_label_is_known_before_the_first_step),
        ON_DEVICE(wrong_shapes_are_refused),
        ON_DEVICE(interrupted_run_says_so),
        ON_DEVICE(primitives_read_what_is_computed),
        ON_DEVICE(unknown_primitive_is_refused),
        cmocka_unit_test(too_little_memory_is_noticed_before_any_work),
        ON_DEVICE(huge_images_are_refused),
        ON_DEVICE(bad_kernel_is_named),
        ON_DEVICE(labels_are_narrowed_where_they_lie),
        cmocka_unit_test(variant_is_that_of_the_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
