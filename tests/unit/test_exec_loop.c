/* exec: loops that are counted or end by themselves, and what they carry from round to round. */
#include "exec_programs.h"

/* a, b = b, a + b on images; n, m = m, n on values; a counter that stops changing at `limit`. */
static const ProgArg START_ARGS[] = {{ARG_BUFFER, 0, 0},
                                     {ARG_BUFFER, 1, 0},
                                     {ARG_BUFFER, 2, 0},
                                     {ARG_VALUES, 0, 0},
                                     FRAME_ARGS(0)};
static const ProgArg SUM_ARGS[] = {{ARG_BUFFER, 1, 0},
                                   {ARG_BUFFER, 2, 0},
                                   {ARG_BUFFER, 3, 0},
                                   {ARG_VALUES, 0, 0},
                                   FRAME_ARGS(0)};
static const ProgArg TICK_ARGS[] = {{ARG_VALUES, 0, 0}, {ARG_HOST_INT, X_GAIN, 0}};
static const ProgArg COPY_ARGS[] = {{ARG_BUFFER, 2, 0}, {ARG_BUFFER, 4, 0}, FRAME_ARGS(0)};
#define LEAVE_WHERE_ENDED "    if (RUNS_AHEAD && values[3] == 1) { return; }\n"
static const ProgKernel LOOP_KERNELS[] =
    {{"start",
      "kernel void start(global const IMAGE_T *image, global float *a, global float *b, "
      "global double *values, " FRAME_PARAMS ")\n{\n"
      "    if (get_global_id(0) == 0 && get_global_id(1) == 0) {\n"
      "        values[0] = 1;\n        values[1] = 2;\n        values[2] = 0;\n    }\n" PIXELS(
          "a[at] = 0;\nb[at] = image[at];") "}\n",
      &IMAGE_TYPE, 1, ""},
     {"sum",
      "kernel void sum(global const float *a, global const float *b, global float "
      "*sum, global const double *values, " FRAME_PARAMS
      ")\n{\n" LEAVE_WHERE_ENDED PIXELS("sum[at] = a[at] + b[at];") "}\n",
      NULL, 0, ""},
     {"tick",
      "kernel void tick(global double *values, int limit)\n{\n" LEAVE_WHERE_ENDED "    if (get_global_id(0) == 0) {\n"
      "        values[2] = min(values[2] + 1, (double)limit);\n    }\n}\n",
      NULL, 0, ""},
     {"last",
      "kernel void last(global const float *b, global float *out, " FRAME_PARAMS
      ")\n{\n" PIXELS("out[at] = b[at];") "}\n",
      NULL, 0, ""}};
static const ProgCarry CARRIES[] = {{false, 1, 2}, {false, 2, 3}, {true, 0, 1}, {true, 1, 0}};
static const int WATCHED[] = {-1}, COUNTED[] = {X_GAIN};

enum { LOOP_STEPS = 6 };

static void make_loop(ProgStep steps[LOOP_STEPS], bool watch)
{
    ProgStep base = {.value = -1, .kernel = -1, .grid = 0, .lines = ""};
    for (int s = 0; s < LOOP_STEPS; s++) {
        steps[s] = base;
    }
    steps[0].name = "start", steps[0].kernel = 0, steps[0].args = START_ARGS;
    steps[0].n_args = COUNT(START_ARGS);
    steps[1].name = "repeat", steps[1].kind = STEP_LOOP, steps[1].n_exprs = 1;
    steps[1].exprs = watch ? WATCHED : COUNTED;
    steps[1].value = watch ? 2 : -1;
    steps[1].ended = watch ? 3 : 0;
    steps[1].at_most = X_HUNDRED;
    steps[2].name = "sum", steps[2].kernel = 1, steps[2].args = SUM_ARGS;
    static const int writes[] = {3};
    steps[2].n_args = COUNT(SUM_ARGS), steps[2].writes = writes, steps[2].n_writes = 1;
    steps[3].name = "tick", steps[3].kernel = 2, steps[3].args = TICK_ARGS, steps[3].grid = 1;
    steps[3].n_args = COUNT(TICK_ARGS);
    steps[4].name = "end", steps[4].kind = STEP_END, steps[4].carries = CARRIES;
    steps[4].n_carries = COUNT(CARRIES);
    steps[5].name = "last", steps[5].kernel = 3, steps[5].args = COPY_ARGS;
    steps[5].n_args = COUNT(COPY_ARGS);
}

static const ProgBuffer LOOP_BUFFERS[] = {{"image", ELEM_FILE, 0, 0, -1, 0, 0, -1},
                                          {"a", ELEM_F32, -1, 0, -1, 0, 4, -1},
                                          {"b", ELEM_F32, -1, 0, -1, 0, 5, -1},
                                          {"sum", ELEM_F32, -1, 0, -1, 1, 4, -1},
                                          {"out", ELEM_F32, -1, 0, -1, 5, 5, -1}};
static const ProgOutput LOOP_OUTPUT = {"out", "tif", OUT_IMAGE, 4, -1, -1, "yx", {0}, {{0}}, 0};

/* Runs it for `gain` rounds (or until stable) and returns the pixel that started as 1.  *launches: of a run. */
static double run_as(int shape, Device *dev, const ProgStep *steps, const ProgBuffer *buffers, int n_buffers,
                     double gain, double values[3], uint64_t *launches)
{
    Program program = program_with(buffers, n_buffers, LOOP_KERNELS, 4, steps, LOOP_STEPS, &LOOP_OUTPUT, 1);
    ExecInput input = like(W, 3, ELEM_U8);
    uint8_t image[3][W] = {{0}};
    float out[3][W];
    Exec *exec;
    Err err = {0};
    const double *all;
    image[1][299] = 1;
    assert_true(exec_new(&program, dev, &exec, &err));
    exec_set_shape(exec, shape);
    assert_true(exec_bind(exec, &input, &gain, &err));
    for (int again = 0; again < 2; again++) { /* exchanged memory must not matter to the next run */
        assert_true(exec_upload(exec, 0, 0, 0, 0, 3, image, W, &err));
        *launches = dev_launches(dev);
        assert_true(exec_run(exec, &err));
        *launches = dev_launches(dev) - *launches;
        assert_true(exec_download(exec, 0, 0, 0, 0, 3, out, sizeof out[0], &err));
        assert_true(exec_values(exec, &all, &err));
        memcpy(values, all, 3 * sizeof *values);
        assert_true(out[0][0] == 0 && out[2][W - 1] == 0);
    }
    exec_free(exec);
    return out[1][299];
}

/* However the host takes part, the result is one. */
static double run_fibonacci(Device *dev, const ProgStep *steps, const ProgBuffer *buffers, int n_buffers, double gain,
                            double values[3])
{
    uint64_t launches;
    double ahead[3], waits = run_as(SHAPE_CPU, dev, steps, buffers, n_buffers, gain, values, &launches);
    assert_true(run_as(SHAPE_GPU, dev, steps, buffers, n_buffers, gain, ahead, &launches) == waits);
    assert_memory_equal(ahead, values, sizeof ahead);
    return waits;
}

static void loops_carry_images_and_values(void **state)
{
    ProgStep steps[LOOP_STEPS];
    double v[3];
    make_loop(steps, false);
    static const double fibonacci[] = {1, 1, 2, 3, 5, 8, 13, 21};
    for (int rounds = 0; rounds < 8; rounds++) {
        assert_true(run_fibonacci(device(state), steps, LOOP_BUFFERS, 5, rounds, v) == fibonacci[rounds]);
        assert_true(v[0] == 1 + rounds % 2 && v[1] == 2 - rounds % 2 && v[2] == rounds);
    }
}

/* The watched value is 1, 2 ... 5, 5: six rounds. */
static void loops_end_when_a_value_is_stable(void **state)
{
    ProgStep steps[LOOP_STEPS];
    double v[3];
    make_loop(steps, true);
    assert_true(run_fibonacci(device(state), steps, LOOP_BUFFERS, 5, 5, v) == 13);
    assert_true(v[2] == 5);
    steps[1].at_most = X_TWO;
    assert_true(run_fibonacci(device(state), steps, LOOP_BUFFERS, 5, 5, v) == 2);
}

/* a, b = s, s: one of them needs a copy; and a value from outside the loop must stay whole. */
static void shared_next_values_are_copied(void **state)
{
    ProgStep steps[LOOP_STEPS];
    static const ProgCarry same[] = {{false, 1, 3}, {false, 2, 3}};
    double v[3];
    make_loop(steps, false);
    steps[4].carries = same;
    steps[4].n_carries = 2;
    assert_true(run_fibonacci(device(state), steps, LOOP_BUFFERS, 5, 4, v) == 8); /* 1 2 4 8 */
    static const ProgCarry outer[] = {{false, 1, 5}, {false, 2, 3}};              /* a = image as float */
    static const ProgArg args[] = {{ARG_BUFFER, 0, 0},
                                   {ARG_BUFFER, 1, 0},
                                   {ARG_BUFFER, 5, 0},
                                   {ARG_VALUES, 0, 0},
                                   FRAME_ARGS(0)};
    static const ProgArg sums[] = {{ARG_BUFFER, 1, 0},
                                   {ARG_BUFFER, 5, 0},
                                   {ARG_BUFFER, 3, 0},
                                   {ARG_VALUES, 0, 0},
                                   FRAME_ARGS(0)};
    ProgBuffer buffers[6];
    memcpy(buffers, LOOP_BUFFERS, sizeof LOOP_BUFFERS);
    buffers[5] = (ProgBuffer){"outer", ELEM_F32, -1, 0, -1, 0, 5, -1};
    steps[0].args = args; /* a = 0, outer = image */
    steps[2].args = sums; /* sum = a + outer: 1, then always 2 */
    steps[4].carries = outer;
    assert_true(run_fibonacci(device(state), steps, buffers, 6, 4, v) == 2);
}

/* Six rounds, or seven of which the last does nothing: the host has not waited for the sixth to end.  With
 * copied images it waits. */
static void host_runs_a_round_ahead(void **state)
{
    ProgStep steps[LOOP_STEPS];
    static const ProgCarry copied[] = {{false, 1, 3}, {false, 2, 3}, {true, 0, 1}, {true, 1, 0}};
    uint64_t waits, ahead;
    double v[3];
    make_loop(steps, true);
    assert_true(run_as(SHAPE_CPU, device(state), steps, LOOP_BUFFERS, 5, 5, v, &waits) == 13);
    assert_true(run_as(SHAPE_GPU, device(state), steps, LOOP_BUFFERS, 5, 5, v, &ahead) == 13);
    assert_int_equal(waits, 2 + 6 * 3);
    assert_int_equal(ahead, 2 + 7 * 3);
    steps[4].carries = copied;
    assert_true(run_as(SHAPE_GPU, device(state), steps, LOOP_BUFFERS, 5, 5, v, &ahead) == 32);
    assert_int_equal(ahead, waits);
}

static void unended_loop_is_refused(void **state)
{
    ProgStep steps[LOOP_STEPS];
    make_loop(steps, false);
    Program program = program_with(LOOP_BUFFERS, 5, LOOP_KERNELS, 4, steps, 4, &LOOP_OUTPUT, 1);
    Exec *exec;
    Err err = {0};
    ExecInput input = like(W, 3, ELEM_U8);
    double gain = 1;
    assert_true(exec_new(&program, device(state), &exec, &err));
    assert_false(exec_bind(exec, &input, &gain, &err));
    assert_int_equal(err.code, CODE_USAGE);
    exec_free(exec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DEVICE(loops_carry_images_and_values), ON_DEVICE(loops_end_when_a_value_is_stable),
        ON_DEVICE(shared_next_values_are_copied), ON_DEVICE(host_runs_a_round_ahead),
        ON_DEVICE(unended_loop_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
