/*
 * Results that take the place of an image which dies as they are made: which do, and when, what the peak is then,
 * and that the bits are the evaluator's, in one piece and in parts; and which do not.
 */
#include "both.h"
#include "codegen/codegen.h"
#include "fixtures.h"
#include "on_device.h"
#include "pipelines.h"
#include "runtime/exec/exec_fit.h"
#include "runtime/exec/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Subject {
    const char *text;
    Elem elem;
    const char *made, *onto; /* buffers; NULL: nothing lies on anything */
    double bytes;            /* a pixel, at the peak, but for what is less than a tenth */
} Subject;

static const Subject SUBJECTS[] = {
    /* Labels keep their trees where the image was; 1 of the image is gone, 0.25 of masks and roots. */
    {"input image[y, x]\nblurred = gaussian(image, 2)\noutput labels = label(blurred > 100)\n", ELEM_U8, "labels",
     "blurred", 5},
    {"input image[y, x]\nblurred = gaussian(image, 2)\noutput labels = label(blurred > 100)\n"
     "output table = measure(labels, blurred, area)\n",
     ELEM_U8, NULL, NULL, 0},
    {"input image[y, x]\noutput scaled = image * 2 + 1\n", ELEM_F32, "scaled", "image", 4},
    {"input image[y, x]\noutput scaled = image * 2 + 1\n", ELEM_U16, NULL, NULL, 6},
    {"input image[y, x]\noutput slope = image[dx = 1] - image\n", ELEM_F32, NULL, NULL, 8},
    {"input image[y, x]\nlabels = label(image > 100)\noutput large = remove_small_objects(labels, 3)\n", ELEM_U8,
     "large", "labels", 0},
    {"input image[y, x]\noutput labels = label(image > 100)\noutput large = remove_small_objects(labels, 3)\n", ELEM_U8,
     NULL, NULL, 0},
    /* What is carried and what it becomes are one image. */
    {"input image[y, x]\nestimate = image\n"
     "repeat 3 { estimate = estimate * gaussian(image / max(gaussian(estimate, 1), 1e-3), 1) }\n"
     "output estimate\n",
     ELEM_U8, "estimate_next", "estimate", 9},
    /* It is looked at once more, beside the pixel. */
    {"input image[y, x]\nv = image\nrepeat 3 { v = v[dx = 1] + 0.5 * v }\noutput v\n", ELEM_F32, NULL, NULL, 0},
    /* One that is carried becomes another one. */
    {"input image[y, x]\na = image\nb = image * 2\nrepeat 4 {\n  t = a + b[dy = 1]\n  a = b\n  b = t\n}\n"
     "output a\noutput b\n",
     ELEM_U8, NULL, NULL, 0},
    {"input image[y, x]\na = image\nb = image * 2\nrepeat 3 {\n  s = gaussian(b, 1)\n  a = a + s\n  b = s * 0.5\n}\n"
     "output a\noutput b\n",
     ELEM_U8, NULL, NULL, 0},
};
enum { SUBJECT_COUNT = sizeof SUBJECTS / sizeof *SUBJECTS, LEAST = 1 };

static const Program *program_of(const char *text)
{
    IrGraph *g = pipeline_must("case.pipe", text);
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    return cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
}

static ExecPlan *plan_of(const Program *program, ExecTarget target, int w, int h, Elem elem)
{
    const ExecInput input = {.extent = {w, h, 1, 1}, .elem = elem};
    ExecPlan *plan;
    Err err = {0};
    if (!exec_plan_new(program, &target, &input, NULL, &plan, &err)) {
        fail_msg("%s", err.text);
    }
    return plan;
}

/* The limit for one piece where every result that can lies on what dies, and the bytes of that; NULL: nobody asks. */
static uint64_t tightest(const Program *program, ExecTarget target, int w, int h, Elem elem, uint64_t *bytes)
{
    ExecPlan *plan = plan_of(program, target, w, h, elem);
    uint64_t limit = exec_limit_for(plan, &target, plan->least);
    if (bytes != NULL) {
        *bytes = plan->least;
    }
    exec_plan_free(plan);
    return limit;
}

static void what_dies_is_overwritten(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        const Subject *s = &SUBJECTS[i];
        const Program *program = program_of(s->text);
        ExecTarget target = exec_target(NULL);
        bool found = false;
        uint64_t least;
        target.limit = tightest(program, target, 2048, 2048, s->elem, &least);
        ExecPlan *plan = plan_of(program, target, 2048, 2048, s->elem);
        assert_int_equal(plan->peak, least);
        assert_null(plan->parts);
        for (int b = 0; b < program->n_buffers; b++) {
            int onto = plan->buffers[b].onto;
            if (onto >= 0 && s->made == NULL && s->bytes > 0) {
                fail_msg("'%s' lies on '%s' of\n%s", program->buffers[b].name, program->buffers[onto].name, s->text);
            }
            if (onto >= 0) {
                assert_int_equal(plan->buffers[b].offset, plan->buffers[onto].offset);
                found = found || (s->made != NULL && strcmp(program->buffers[b].name, s->made) == 0 &&
                                  strcmp(program->buffers[onto].name, s->onto) == 0);
            }
        }
        if (s->made != NULL && !found) {
            fail_msg("'%s' does not lie on '%s' of\n%s", s->made, s->onto, s->text);
        }
        double bytes = (double)plan->peak / (2048.0 * 2048.0);
        if (s->bytes > 0 && (bytes < s->bytes - 0.1 || bytes > s->bytes + 0.3)) {
            fail_msg("%.3f bytes a pixel, not %.3f, of\n%s", bytes, s->bytes, s->text);
        }
        exec_plan_free(plan);
    }
}

/* The text says that some images overlap. */
static bool overlaps(const ExecPlan *plan, const ExecTarget *target, int kernel)
{
    char *text;
    Err err = {0};
    assert_true(exec_plan_text(plan, target, kernel, false, &text, &err));
    bool does = strstr(text, "#define restrict") != NULL;
    free(text);
    return does;
}

/* While there is room kernels write beside what they read, and their text promises that; primitives do not
 * mind, and copies have nothing to do where it is one place. */
static void kernels_write_beside_while_there_is_room(void **state)
{
    (void)state;
    int beside = 0, copies = 0;
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        const Subject *subject = &SUBJECTS[i];
        const Program *program = program_of(subject->text);
        const ExecTarget roomy = exec_target(NULL);
        ExecTarget tight = roomy;
        tight.limit = tightest(program, roomy, 2048, 2048, subject->elem, NULL);
        ExecPlan *one = plan_of(program, roomy, 2048, 2048, subject->elem);
        ExecPlan *other = plan_of(program, tight, 2048, 2048, subject->elem);
        for (int k = 0; k < program->n_steps; k++) {
            const ProgStep *step = &program->steps[k];
            if (step->copies) {
                const ExecBuffer *to = &one->buffers[step->writes[0]];
                copies += to->onto == step->reads[0].buffer && to->offset == one->buffers[to->onto].offset;
                continue;
            }
            for (int w = 0; step->kind == STEP_LAUNCH && w < step->n_writes; w++) {
                bool lies = other->buffers[step->writes[w]].onto >= 0;
                assert_int_equal(one->buffers[step->writes[w]].onto, -1);
                assert_false(overlaps(one, &roomy, step->kernel));
                assert_true(!lies || overlaps(other, &tight, step->kernel));
                assert_true(!lies || one->peak > one->least);
                beside += lies;
            }
        }
        exec_plan_free(one);
        exec_plan_free(other);
    }
    assert_true(beside >= 2);
    assert_true(copies >= 1);
}

static const PartsWindow *window_of(const Program *program, const PartsSegment *seg, const char *name)
{
    for (int i = 0; i < seg->n_windows; i++) {
        if (strcmp(program->buffers[seg->windows[i].buffer].name, name) == 0) {
            return &seg->windows[i];
        }
    }
    return NULL;
}

/* Where a part has both images, one after the other, they have one place. */
static void parts_are_overwritten(void **state)
{
    (void)state;
    int found = 0;
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        const Subject *s = &SUBJECTS[i];
        const Program *program = program_of(s->text);
        ExecTarget target = exec_target(NULL);
        const ExecInput input = {.extent = {2048, 2048, 1, 1}, .elem = s->elem};
        ExecPlan *plan;
        Err err = {0};
        target.limit = 8 << 20;
        target.cpu = true; /* windows are there once */
        if (s->made == NULL) {
            continue;
        }
        assert_true(exec_plan_new(program, &target, &input, NULL, &plan, &err));
        for (int k = 0; k < plan->parts->n; k++) {
            const PartsSegment *seg = &plan->parts->segments[k];
            const PartsWindow *made = window_of(program, seg, s->made), *onto = window_of(program, seg, s->onto);
            found += made != NULL && onto != NULL && !made->load && made->bytes > 0 && made->offset == onto->offset;
        }
        exec_plan_free(plan);
    }
    assert_true(found >= 2);
}

static void bits_are_the_evaluators(void **state)
{
    (void)state;
    static const int ROWS[] = {0, 0, 1, 7, 0};
    static const uint64_t LIMITS[] = {0, LEAST, 0, 0, 192 << 10};
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
            const Subject *s = &SUBJECTS[i];
            IrGraph *g = pipeline_must("case.pipe", s->text);
            PassContext cx = {.fuse = FUSE_ALL, .verify = true};
            BothCase in = {.n_inputs = 1, .part_rows = ROWS[k], .limit = LIMITS[k]};
            char why[400] = "";
            if (LIMITS[k] == LEAST) {
                in.limit = tightest(program_of(s->text), exec_target(device), 300, 61, s->elem, NULL);
            }
            in.inputs[0] = both_image(300, 61, 1, 1, s->elem, 3, BOTH_SMOOTH);
            both_run(g, &cx, &in, device, why, sizeof why);
            free((void *)(uintptr_t)in.inputs[0].pixels);
            if (why[0] != '\0') {
                fail_msg("parts of %d, limit %d: %s, of\n%s", ROWS[k], (int)LIMITS[k], why, s->text);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_dies_is_overwritten, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(kernels_write_beside_while_there_is_room, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(parts_are_overwritten, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(bits_are_the_evaluators, arena_setup, arena_teardown),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device);
}
