/*
 * More labels than were expected: what fits with parts as short as they can be fits, too, where their number is
 * only known on the way; and what does not fit says what would do, which then does.
 */
#include "both.h"
#include "codegen/codegen.h"
#include "fixtures.h"
#include "pipelines.h"
#include "runtime/exec/parts.h"
#include "turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const TEXTS[] = {
    "input image[y, x]\noutput table = measure(label(image > 200, connectivity = 4), image, area, mean, max, centroid, solidity)\n",
    "input image[y, x]\noutput large = remove_small_objects(label(image > 200, connectivity = 4), 3)\n",
    "input image[y, x]\nlabels = label(image > 200, connectivity = 4)\noutput areas = label_count(labels)[labels]\n"
    "output sums = label_sum(labels, image)[labels]\n",
    "input image[y, x]\nlabels = label(image > 200, connectivity = 4)\nlarge = remove_small_objects(labels, 2)\n"
    "output table = measure(large, image, area, median)\noutput seen = label_max(large, image)[large]\n",
};
enum { TEXT_COUNT = sizeof TEXTS / sizeof *TEXTS };

static bool runs(const Program *program, const BothCase *in, const BothResult *want, Err *err)
{
    Device *dev;
    Exec *exec;
    BothResult got = {0};
    char why[400];
    const DevOptions options = {.choice = "cpu", .memory_limit = in->limit, .flags = getenv("PIPEC_TEST_FLAGS")};
    assert_true(dev_open(&options, &dev, err));
    assert_true(exec_new(program, dev, &exec, err));
    BothCase own = *in;
    own.limit = 0;
    bool fits = both_execute(exec, program, &own, &got, err);
    if (fits) {
        assert_true(dev_peak(dev) <= in->limit);
        if (!both_same(want, &got, why, sizeof why)) {
            fail_msg("under %llu bytes: %s", (unsigned long long)in->limit, why);
        }
    }
    both_free(&got);
    exec_free(exec);
    dev_close(dev);
    return fits;
}

static void more_labels_make_shorter_parts(void **state)
{
    (void)state;
    for (int i = 0; i < TEXT_COUNT; i++) {
        if (!turn_has(i)) {
            continue;
        }
        IrGraph *g = pipeline_must("case.pipe", TEXTS[i]);
        BothCase in = {.n_inputs = 1};
        BothResult want = {0};
        Err err = {0};
        in.inputs[0] = both_image(300, 2400, 1, 1, ELEM_U8, 7, BOTH_NOISE);
        assert_true(both_evaluate(g, &in, &want, &err));
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        const Program *program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
        uint64_t enough = UINT64_MAX;
        int more = 0, shorter = 0;
        for (in.limit = 480 << 10; in.limit <= 6 << 20; in.limit = in.limit * 4 / 3) {
            err_clear(&err);
            bool fits = runs(program, &in, &want, &err);
            const char *named = fits ? NULL : strstr(err.text, "more labels");
            named = named != NULL ? strstr(named, "--memory ") : NULL;
            if (!fits && in.limit >= enough) {
                fail_msg("%llu bytes are too few, but %llu were named: %s", (unsigned long long)in.limit,
                         (unsigned long long)enough, err.text);
            }
            enough = named != NULL ? strtoull(named + strlen("--memory "), NULL, 10) : enough;
            more += named != NULL;
            shorter += fits && enough < UINT64_MAX;
        }
        assert_true(more == 0 || shorter > 0);
        in.limit = enough;
        if (enough < UINT64_MAX && !runs(program, &in, &want, &err)) {
            fail_msg("%llu bytes were named: %s", (unsigned long long)enough, err.text);
        }
        both_free(&want);
        free((void *)(uintptr_t)in.inputs[0].pixels);
    }
}

/* Values by label have room for more labels in the next round of a loop. */
static void rounds_find_more_labels(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("case.pipe",
                               "input image[y, x]\nseen = 0 * image\nlevel = f32(image)\nrepeat 2 {\n"
                               "labels = label(level > 250, connectivity = 4)\n"
                               "seen = seen + label_max(labels, image)[labels]\nlevel = 1.2 * level\n}\noutput seen\n");
    BothCase in = {.n_inputs = 1, .limit = 150 << 10};
    BothResult want = {0};
    Err err = {0};
    in.inputs[0] = both_image(100, 200, 1, 1, ELEM_U8, 7, BOTH_NOISE);
    assert_true(both_evaluate(g, &in, &want, &err));
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    const Program *program = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
    if (!runs(program, &in, &want, &err)) {
        fail_msg("%s", err.text);
    }
    both_free(&want);
    free((void *)(uintptr_t)in.inputs[0].pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(more_labels_make_shorter_parts, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(rounds_find_more_labels, arena_setup, arena_teardown),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
