/* exec_plan: peaks, aliases, strips and blocks, all without a device. */
#include "exec_programs.h"

/* The result takes the place of the smoothed image, and that is what the peak counts. */
/* Nothing takes the place of what dies where the peak lies elsewhere. */
static void peak_is_as_planned(void **state)
{
    Program program = chain();
    ExecTarget target = exec_target(NULL);
    ExecInput input = like(1024, 1024, ELEM_U8);
    ExecPlan *plan;
    Err err = {0};
    double gain = 1;
    (void)state;
    assert_true(exec_plan_new(&program, &target, &input, &gain, &plan, &err));
    assert_int_equal(plan->buffers[B_SHIFTED].onto, -1);
    assert_int_equal(plan->peak, 2 * (4u << 20) + target.alignment);
    assert_int_equal(plan->peak, plan->load);
    assert_int_equal(plan->steps[1].traffic, 4u << 20);
    exec_plan_free(plan);
    exec_plan_free(NULL);
}

static void strips_fill_the_device_and_respect_halos(void **state)
{
    Program program = chain();
    ExecTarget target = exec_target(NULL);
    ExecPlan *plan;
    Err err = {0};
    double gain = 1;
    (void)state;
    static const struct {
        int w, h, strip[3];
    } cases[] = {{16384, 16384, {12, 48, 12}}, /* with a halo of 4: 346 strips for 21 rounds of 132 * 8 groups */
                 {2048, 2048, {4, 16, 4}},     /* eight groups a unit where there is a halo, 32 elsewhere */
                 {256, 256, {2, 8, 2}},
                 {100, 3, {3, 3, 3}},
                 {300000, 100000, {12, 48, 12}}};
    for (int i = 0; i < COUNT(cases); i++) {
        ExecInput input = like(cases[i].w, cases[i].h, ELEM_U8);
        assert_true(exec_plan_new(&program, &target, &input, &gain, &plan, &err));
        for (int s = 0; s < 3; s++) {
            const ExecStep *step = &plan->steps[s];
            assert_true(abs(step->strip - cases[i].strip[s]) <= 2);
            assert_int_equal(step->groups[0], (cases[i].w + 255) / 256);
            assert_int_equal(step->groups[1], (cases[i].h + step->strip - 1) / step->strip);
            assert_int_equal(step->groups[2], 1);
        }
        exec_plan_free(plan);
    }
}

static void planes_are_streamed(void **state)
{
    (void)state;
    const ProgStep steps[] = {{.kind = STEP_LAUNCH, .name = "z", .stream_z = true, .grid = 2, .value = -1}};
    Program program = program_with(CHAIN_BUFFERS, 0, CHAIN_KERNELS, 1, steps, 1, NULL, 0);
    ProgInput none = IMAGE;
    none.buffer = -1;
    program.inputs = &none;
    ExecTarget target = exec_target(NULL);
    ExecInput input = {.extent = {1000, 130, 7, 3}, .elem = ELEM_F32};
    ExecPlan *plan;
    Err err = {0};
    double gain = 1;
    assert_true(exec_plan_new(&program, &target, &input, &gain, &plan, &err));
    assert_int_equal(plan->steps[0].rows, 7);
    assert_int_equal(plan->steps[0].groups[2], 130 * 3);
    exec_plan_free(plan);
}

/* Rows of volumes have no halo, along which parts would be cut, but what folds over them take. */
static void strips_of_volumes_respect_folds(void **state)
{
    (void)state;
    const ProgArg folds[] = {{ARG_STRIP, X_TEN, 1}}, none[] = {{ARG_STRIP, 0, 0}};
    const ProgStep steps[] =
        {{.kind = STEP_LAUNCH, .name = "folds", .grid = 2, .value = -1, .args = folds, .n_args = 1},
         {.kind = STEP_LAUNCH, .name = "none", .grid = 2, .value = -1, .args = none, .n_args = 1}};
    Program program = program_with(CHAIN_BUFFERS, 0, CHAIN_KERNELS, 1, steps, 2, NULL, 0);
    ProgInput input = IMAGE;
    input.buffer = -1;
    program.inputs = &input;
    ExecTarget target = exec_target(NULL);
    ExecInput volume = {.extent = {1024, 1024, 512, 1}, .elem = ELEM_F32};
    ExecPlan *plan;
    Err err = {0};
    double gain = 1;
    assert_true(exec_plan_new(&program, &target, &volume, &gain, &plan, &err));
    assert_true(abs(plan->steps[0].strip - 120) <= 12);
    assert_true(abs(plan->steps[1].strip - 12) <= 2);
    exec_plan_free(plan);
}

/* Of two steps without buffers, for a square image. */
static ExecPlan *plan_of(const ProgStep *steps, int size, int shape)
{
    static Program program; /* the plan refers to it */
    static ProgInput none;
    program = program_with(CHAIN_BUFFERS, 0, CHAIN_KERNELS, 1, steps, 2, NULL, 0);
    none = IMAGE;
    none.buffer = -1;
    program.inputs = &none;
    ExecTarget target = exec_target(NULL);
    exec_shape(&target, shape);
    ExecInput input = like(size, size, ELEM_U8);
    ExecPlan *plan;
    Err err = {0};
    double gain = 1;
    assert_true(exec_plan_new(&program, &target, &input, &gain, &plan, &err));
    return plan;
}

/* Of an image that does not fill a round the fewer groups share a unit, the longer halos are. */
static void strips_of_small_images_follow_their_halo(void **state)
{
    (void)state;
    const ProgArg ten[] = {{ARG_STRIP, X_TEN, 1}}, hundred[] = {{ARG_STRIP, X_HUNDRED, 1}};
    const ProgStep steps[] =
        {{.kind = STEP_LAUNCH, .name = "ten", .grid = 0, .value = -1, .args = ten, .n_args = 1},
         {.kind = STEP_LAUNCH, .name = "hundred", .grid = 0, .value = -1, .args = hundred, .n_args = 1}};
    static const struct {
        int size, strip[2];
    } CASES[] = {{256, {8, 8}},         /* as short as there are */
                 {1024, {16, 16}},      /* 4 columns of 64 strips: two groups for each of 132 units */
                 {2048, {32, 63}},      /* four groups, and two */
                 {16384, {111, 1024}}}; /* nine rounds of eight groups, and one */
    for (int i = 0; i < COUNT(CASES); i++) {
        ExecPlan *plan = plan_of(steps, CASES[i].size, SHAPE_BY_DEVICE);
        assert_int_equal(plan->steps[0].strip, CASES[i].strip[0]);
        assert_int_equal(plan->steps[1].strip, CASES[i].strip[1]);
        exec_plan_free(plan);
    }
}

/* Kernels that compute several rows at a time have strips of whole turns. */
static void strips_are_whole_turns(void **state)
{
    (void)state;
    enum { TURN = 16 };
    const ProgArg turns[] = {{ARG_STRIP, TURN, 2}}, rows[] = {{ARG_STRIP, 1, 2}};
    const ProgStep steps[] =
        {{.kind = STEP_LAUNCH, .name = "turns", .grid = 0, .value = -1, .args = turns, .n_args = 1},
         {.kind = STEP_LAUNCH, .name = "rows", .grid = 0, .value = -1, .args = rows, .n_args = 1}};
    static const struct {
        int size, row_by_row;
    } CASES[] = {{256, 2}, {1024, 2}, {2048, 4}, {4096, 8}, {16384, 12}};
    for (int i = 0; i < COUNT(CASES); i++) {
        ExecPlan *plan = plan_of(steps, CASES[i].size, SHAPE_BY_DEVICE);
        assert_int_equal(plan->steps[0].strip, TURN);
        assert_int_equal(plan->steps[1].strip, CASES[i].row_by_row);
        exec_plan_free(plan);
    }
}

/* A launch that leaves partial results does so in blocks of 64 rows where these are enough groups for the
 * device, where its halo is short, and on CPUs. */
static void blocks_need_a_large_image(void **state)
{
    (void)state;
    enum { SUM = 0, BLOCK = 64 };
    static const struct {
        int size, halo, shape;
        bool blocks;
    } CASES[] = {{4096, X_HUNDRED, SHAPE_GPU, true},
                 {2048, X_HUNDRED, SHAPE_GPU, false},
                 {256, X_HUNDRED, SHAPE_GPU, false},
                 {256, X_TEN, SHAPE_GPU, true},
                 {256, X_HUNDRED, SHAPE_CPU, true}};
    for (int i = 0; i < COUNT(CASES); i++) {
        const ProgArg args[] = {{ARG_STRIP, CASES[i].halo, 1}, {ARG_PARTIALS, SUM, BLOCK}};
        static const int exprs[] = {X_ONE};
        const ProgStep steps[] =
            {{.kind = STEP_LAUNCH, .name = "image", .grid = 0, .value = -1, .args = args, .n_args = 2},
             {.kind = STEP_PRIMITIVE,
              .name = "sum",
              .primitive = "reduce",
              .grid = 0,
              .kernel = -1,
              .value = SUM,
              .exprs = exprs,
              .n_exprs = 1}};
        ExecPlan *plan = plan_of(steps, CASES[i].size, CASES[i].shape);
        assert_int_equal(plan->steps[0].hands_on, CASES[i].blocks);
        assert_int_equal(plan->steps[0].strip == BLOCK, CASES[i].blocks);
        assert_int_equal(plan->steps[1].fed > 0, CASES[i].blocks);
        exec_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_is_as_planned),
        cmocka_unit_test(strips_fill_the_device_and_respect_halos),
        cmocka_unit_test(strips_of_volumes_respect_folds),
        cmocka_unit_test(strips_of_small_images_follow_their_halo),
        cmocka_unit_test(strips_are_whole_turns),
        cmocka_unit_test(blocks_need_a_large_image),
        cmocka_unit_test(planes_are_streamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
