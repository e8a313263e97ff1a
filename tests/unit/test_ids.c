/*
 * ids: labels of files with numbers up to 2^32 - 1: what scikit-image and scipy give for them
 * (tests/data/ids.txt, made by make_ids.py beside it), and the evaluator's bits on a device, in one piece and in
 * parts; labels that meet others are refused; numbers that fit are left as they are.
 */
#include "codegen/codegen.h"
#include "golden.h"
#include "fixtures.h"
#include "pipelines.h"
#include "scene.h"
#include "runtime/exec/label_ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void values_are_those_of_scikit_image(void **state)
{
    (void)state;
    Golden golden = golden_read(TEST_DATA, "ids.txt");
    int wrong = 0;
    for (int i = 0; i < golden.cases.n; i++) {
        wrong += !golden_agrees(&golden.cases.at[i]);
    }
    assert_int_equal(wrong, 0);
}

static const char ALL[] =
    "input image[y, x]\ninput seg[y, x] : labels\n"
    "output t = measure(seg, image, area, centroid, max)\noutput p = near_pairs(seg, n = 2)\n"
    "output s = label_sum(seg, image)[seg]\ngrown = expand_labels(seg, 2)\noutput grown\n"
    "output u = u32(grown) if image > 90 else 0\noutput r = keep_labels(seg, label_max(seg, image) > 100)\n"
    "output w = watershed(image, seg)\noutput q = touching_pairs(seg)\noutput seg_again = seg\n"
    "part = mask_labels(grown, image > 90, renumber = false)\noutput part\n"
    "output share = (property(part, image, mean) / property(seg, image, mean))[grown]\n";

static void devices_give_the_same_bits(void **state)
{
    (void)state;
    static const int ROWS[] = {0, 4};
    const char *wanted = getenv("PIPEC_TEST_DEVICE");
    BothCase in = golden_read(TEST_DATA, "ids.txt").cases.at[0].in;
    Device *dev;
    Err err = {0};
    assert_true(dev_open(&(DevOptions){.choice = wanted != NULL ? wanted : "cpu", .flags = getenv("PIPEC_TEST_FLAGS")},
                         &dev, &err));
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        char why[400];
        in.part_rows = ROWS[i];
        if (!both_run(pipeline_must("ids.pipe", ALL), &cx, &in, dev, why, sizeof why)) {
            fail_msg("parts of %d rows: %s", ROWS[i], why);
        }
    }
    dev_close(dev);
}

/* The argument that an input of labels has, 0: none. */
static double ids_argument(const char *text)
{
    double ids = 0;
    const IrGraph *g = pipeline_must("ids.pipe", text);
    return ir_node(g, 1)->input.ids != 0 && ir_is_const(g, ir_node(g, 1)->input.ids, &ids) ? ids : 0;
}

static void only_what_is_computed_by_label_has_places(void **state)
{
    (void)state;
    assert_true(ids_argument("input l[y, x] : labels\noutput a = number(l)\noutput b = expand_labels(l, 2)\n") ==
                IDS_NUMBERS);
    assert_true(ids_argument("input l[y, x] : labels\noutput a = measure(expand_labels(l, 2), area)\n") == IDS_PLACES);
    assert_true(ids_argument("input l[y, x] : labels\na = l\nrepeat 2 { a = expand_labels(a, 1) }\n"
                             "output t = measure(a, area)\n") == IDS_PLACES);
    assert_true(ids_argument("input l[y, x] : labels\na = l\nrepeat 2 { a = relabel(expand_labels(a, 1)) }\n"
                             "output t = measure(l, area)\noutput a\n") == IDS_REFUSED);
    assert_true(ids_argument("input l[y, x] : labels\nm = label(l == 2)\noutput t = label_count(l)[m]\n") ==
                IDS_REFUSED);
}

/* What no place can stand for is an error; small numbers are none. */
static void labels_that_meet_others_are_refused(void **state)
{
    (void)state;
    const int extent[4] = {3, 2, 1, 1};
    Subject s;
    ExecInput input;
    ExecPlan *plan;
    Err err = {0};
    ExecTarget target = exec_target(NULL);
    scene_open(&s, "input l[y, x] : labels\nm = label(l > 0)\noutput t = label_count(l)[m]\n", extent, ELEM_U8,
               BOTH_CHECKER);
    both_inputs(&s.in, &input);
    assert_true(exec_plan_new(s.program, &target, &input, s.in.params, &plan, &err));
    assert_int_equal(exec_plan_ids(plan, 0, 6, &err), IDS_NUMBERS);
    assert_int_equal(exec_plan_ids(plan, 0, 7, &err), IDS_REFUSED);
    assert_non_null(strstr(err.text, "'l' has the label 7, which is more than it has pixels"));
    exec_plan_free(plan);
    scene_close(&s);
}

static void numbers_are_found_once_each(void **state)
{
    (void)state;
    enum { N = 20000 };
    LabelIds ids = {.n = 0};
    Err err = {0};
    uint32_t row[N];
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < N; i++) {
            row[i] = i % 5 == 0 ? 0 : 4294967295u - i * 2654435761u % 9001u;
        }
        assert_true(label_ids_add(&ids, row, N, &err));
    }
    label_ids_sort(&ids);
    assert_true(ids.n <= 9001 && ids.room < 40000);
    uint32_t before[N];
    memcpy(before, row, sizeof row);
    label_ids_to_places(&ids, row, N);
    for (int i = 0; i < N; i++) {
        assert_true(row[i] <= ids.n && (row[i] == 0) == (before[i] == 0));
        assert_true(row[i] == 0 || (ids.at[row[i]] == before[i] && (row[i] == 1 || ids.at[row[i] - 1] < before[i])));
    }
    label_ids_to_numbers(&ids, row, N);
    assert_memory_equal(row, before, sizeof row);
    assert_true(label_ids_number(&ids, (double)ids.n) == ids.at[ids.n] && label_ids_number(&ids, 0) == 0);
    label_ids_drop(&ids);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {TEST(values_are_those_of_scikit_image), TEST(devices_give_the_same_bits),
                                       TEST(only_what_is_computed_by_label_has_places),
                                       TEST(labels_that_meet_others_are_refused), TEST(numbers_are_found_once_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
