/*
 * Memory limits: whatever a pipeline is allowed to hold on the device, it gives the evaluator's bits
 * or says what the least limit is; it holds what was planned, to the byte, and never more than the
 * limit.  What is loaded again and again stays on the device as far as there is room.
 */
#include "base/file.h"
#include "pipelines.h"
#include "scene.h"
#include "turn.h"

#include "codegen/codegen.h"
#include "runtime/exec/parts.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Scene {
    const char *text;
    int extent[4];
    Elem elem;
    int kind;
} Scene;

static const Scene SCENES[] = {
    {"input image[y, x]\n"
     "blurred = gaussian(image, 1)\n"
     "labels = label(blurred > otsu(blurred))\n"
     "output labels\n"
     "output table = measure(labels, image, area, centroid, mean, solidity)\n",
     {210, 333, 1, 1},
     ELEM_U8,
     BOTH_SMOOTH},
    {"input image[y, x, c]\n"
     "output gray = rgb2gray(image)\n"
     "output middle = median(image[c = 1])\n"
     "output turned = image[c = 0, dy = 3, border = reflect] - image[c = 2, dy = -2, border = wrap]\n",
     {70, 90, 1, 3},
     ELEM_U8,
     BOTH_NOISE},
    {"input image[z, y, x]\n"
     "estimate = image\n"
     "repeat 3 { estimate = estimate * gaussian(image / max(gaussian(estimate, 1), 1e-3), 1) }\n"
     "output estimate\n"
     "output flat = max_project(image, z)\n",
     {40, 30, 24, 1},
     ELEM_U16,
     BOTH_SMOOTH},
    {"input image[y, x]\n"
     "s = kappa_sigma(image, 2)\n"
     "objects = remove_small_objects(label(image > s.median + s.std), 3)\n"
     "output objects\n"
     "output far = distance(objects > 0)\n"
     "output level = s.mean\n",
     {160, 120, 1, 1},
     ELEM_F32,
     BOTH_SPECIAL},
    /* So many objects that with little memory their sums have to take turns. */
    {"input image[y, x]\n"
     "output table = measure(label(image > 128), image, area, mean, max, centroid, solidity)\n",
     {210, 333, 1, 1},
     ELEM_U8,
     BOTH_NOISE},
};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

/* What is resident lies before all else of each segment, and no two images at one place at one time. */
static void check_residents(const ExecPlan *plan)
{
    const PartsPlan *parts = plan->parts;
    for (int i = 0; i < parts->n; i++) {
        uint64_t end = 0;
        const PartsSegment *seg = &parts->segments[i];
        for (int k = 0; k < parts->n_residents; k++) {
            const PartsResident *resident = &parts->residents[k];
            uint64_t bytes = parts_resident_bytes(plan, resident, parts_resident_rows(seg, k));
            assert_true(bytes == 0 || (i >= resident->first && i <= resident->last));
            assert_true(bytes == 0 || resident->offset >= end);
            end = bytes > 0 ? resident->offset + bytes : end;
        }
        for (int k = 0; k < seg->n_windows; k++) {
            assert_true(seg->windows[k].bytes == 0 || seg->windows[k].offset >= end);
        }
        assert_true(seg->bytes >= end && seg->bytes <= parts->peak);
    }
}

/* True when it fits; then it is right, and holds what was planned.  *read: rows that inputs were asked
 * for; 0: it ran in one piece. */
static bool runs_within(const Subject *s, uint64_t limit, int64_t *read)
{
    Device *dev;
    Exec *exec;
    Err err = {0};
    BothResult got = {0};
    char why[400];
    assert_true(dev_open(&(DevOptions){.choice = "cpu", .memory_limit = limit}, &dev, &err));
    assert_true(exec_new(s->program, dev, &exec, &err));
    bool fits = both_execute(exec, s->program, &s->in, &got, &err);
    if (fits) {
        assert_int_equal(dev_held(dev), exec_bound(exec)->peak);
        assert_true(dev_peak(dev) <= limit);
        *read = got.rows_read;
        if (exec_in_parts(exec)) {
            check_residents(exec_bound(exec));
        }
        if (!both_same(&s->want, &got, why, sizeof why)) {
            fail_msg("under %llu bytes: %s", (unsigned long long)limit, why);
        }
    } else {
        assert_int_equal(err.code, CODE_MEMORY);
        assert_non_null(strstr(err.text, "MiB"));
        assert_int_equal(dev_held(dev), 0);
    }
    both_free(&got);
    exec_free(exec);
    assert_int_equal(dev_held(dev), 0);
    dev_close(dev);
    return fits;
}

/* From too little to more than enough: once it fits, it goes on to fit. */
static void limits_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < SCENE_COUNT; i++) {
        if (!turn_has(i)) {
            continue;
        }
        Subject s;
        bool fitted = false;
        int cut = 0;
        scene_open(&s, SCENES[i].text, SCENES[i].extent, SCENES[i].elem, SCENES[i].kind);
        for (uint64_t limit = 8 << 10; limit <= 64 << 20; limit = limit * 3 / 2) {
            int64_t read;
            bool fits = runs_within(&s, limit, &read);
            assert_true(fits || !fitted);
            fitted = fits;
            cut += fits;
        }
        assert_true(fitted && cut > 3);
        scene_close(&s);
    }
}

/* With little memory the image is read again and again; where all of it has room beside the parts,
 * it is read once. */
static void rows_that_stay_are_read_once(void **state)
{
    (void)state;
    turn_or_skip(SCENE_COUNT);
    static const Scene SCENE = {"input image[y, x]\n"
                                "s = kappa_sigma(image, 2)\n"
                                "labels = label(gaussian(image, 2) > s.median + s.std)\n"
                                "output table = measure(labels, image, area, mean, solidity)\n",
                                {900, 700, 1, 1},
                                ELEM_F32,
                                BOTH_SMOOTH};
    Subject s;
    int64_t most = 0, least = INT64_MAX;
    scene_open(&s, SCENE.text, SCENE.extent, SCENE.elem, SCENE.kind);
    for (uint64_t limit = 2 << 20; limit <= 64 << 20; limit += 1 << 20) {
        int64_t read = 0;
        if (!runs_within(&s, limit, &read)) {
            continue;
        }
        if (read == 0) {
            break;
        }
        most = read > most ? read : most;
        least = read < least ? read : least;
    }
    assert_true(most > 2 * 700);
    assert_int_equal(least, 700);
    scene_close(&s);
}

/* ---- samples --------------------------------------------------------------------------------- */

static ExecInput input_of(const ProgInput *input)
{
    ExecInput in = {.extent = {254, 256, 1, 1},
                    .elem = input->elem == ELEM_FILE ? ELEM_U8 : input->elem,
                    .pixel_um = {0.5, 0.5, 0.5}};
    in.extent[2] = strchr(input->axes, 'z') != NULL ? 16 : 1;
    in.extent[3] = strchr(input->axes, 'c') != NULL ? 3 : 1;
    return in;
}

/* Bound under the limit, the program holds what the plan says, to the byte. */
static void holds_what_is_planned(const Program *program, const ExecInput *inputs, const double *params, uint64_t limit)
{
    Device *dev;
    Exec *exec;
    ExecPlan *plan = NULL;
    Err err = {0};
    assert_true(dev_open(&(DevOptions){.choice = "cpu", .memory_limit = limit}, &dev, &err));
    ExecTarget target = exec_target(dev);
    target.limit = dev_limit(dev);
    assert_true(exec_new(program, dev, &exec, &err));
    if (!exec_plan_new(program, &target, inputs, params, &plan, &err) || !exec_bind(exec, inputs, params, &err)) {
        fail_msg("%s under %llu bytes: %s", program->name, (unsigned long long)limit, err.text);
    }
    assert_int_equal(dev_held(dev), plan->peak);
    assert_int_equal(exec_bound(exec)->peak, plan->peak);
    assert_int_equal(dev_peak(dev), plan->peak);
    assert_true(limit == 0 || plan->peak <= limit);
    exec_plan_free(plan);
    exec_free(exec);
    dev_close(dev);
}

static void check_sample(const Program *program, const double *params)
{
    ExecInput inputs[8];
    ExecPlan *plan = NULL;
    Err err = {0};
    Device *dev;
    for (int i = 0; i < program->n_inputs; i++) {
        inputs[i] = input_of(&program->inputs[i]);
    }
    assert_true(dev_open(&(DevOptions){.choice = "cpu"}, &dev, &err));
    ExecTarget target = exec_target(dev);
    assert_true(exec_plan_new(program, &target, inputs, params, &plan, &err));
    uint64_t whole = plan->peak, least = exec_plan_least(program, &target, inputs, params);
    exec_plan_free(plan);
    assert_true(least > 1 && least <= whole);
    const uint64_t limits[] = {0, whole, whole - 1, least + (whole - least) / 3, least};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i] == 0 || limits[i] >= least) {
            holds_what_is_planned(program, inputs, params, limits[i]);
        }
    }
    target.limit = least - 1;
    assert_false(exec_plan_new(program, &target, inputs, params, &plan, &err));
    assert_int_equal(err.code, CODE_MEMORY);
    char *named = strstr(err.text, "--memory ");
    assert_non_null(named);
    assert_true(strtoull(named + strlen("--memory "), NULL, 10) == least);
    dev_close(dev);
}

/* And with the least that is named there is a plan, with a byte less there is none. */
static void samples_hold_what_is_planned(void **state)
{
    (void)state;
    glob_t samples;
    assert_int_equal(glob(TEST_ROOT "/samples/*.pipe", 0, NULL, &samples), 0);
    for (size_t i = 0; i < samples.gl_pathc; i++) {
        if (!turn_has((int)i)) {
            continue;
        }
        char *text;
        const char *complaints;
        size_t size;
        Err err = {0};
        Arena arena;
        double params[16] = {0};
        arena_init(&arena);
        assert_true(file_read(samples.gl_pathv[i], &text, &size, &err));
        IrGraph *g = pipeline_graph(&arena, samples.gl_pathv[i], text, &complaints);
        assert_non_null(g);
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        for (int k = 0; k < g->params.n; k++) {
            params[k] = g->params.at[k].value;
        }
        check_sample(cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef"), params);
        arena_free(&arena);
        free(text);
    }
    globfree(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits_are_kept),
                                       cmocka_unit_test(rows_that_stay_are_read_once),
                                       cmocka_unit_test(samples_hold_what_is_planned)};
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
