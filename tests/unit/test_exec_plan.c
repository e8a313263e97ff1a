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
    } cases[] = {{16384, 16384, {12, 48, 12}},   /* with a halo of 4: 346 strips for 21 rounds of 132 * 8 groups */
                 {2048, 2048, {8, 16, 8}},        /* short, but four times the halo of 4 */
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

static void planes_are_marched_over(void **state)
{
    (void)state;
    const ProgStep steps[] = {{.kind = STEP_LAUNCH,
                               .name = "z",
                               .march_z = true,
                               .grid = 2,
                               .value = -1}};
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
    const ProgStep steps[] = {
        {.kind = STEP_LAUNCH, .name = "folds", .grid = 2, .value = -1, .args = folds, .n_args = 1},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_is_as_planned),
        cmocka_unit_test(strips_fill_the_device_and_respect_halos),
        cmocka_unit_test(strips_of_volumes_respect_folds),
        cmocka_unit_test(planes_are_marched_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
