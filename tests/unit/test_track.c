/*
 * test_track: objects linked to tracks: what linear assignment gives against scipy's and against trying all assignments
 * (tests/data/make_tracks.py), what is refused, and what a device says of objects that move, in one piece and in parts.
 */
#include "base/track.h"
#include "base/file.h"
#include "fixtures.h"
#include "tests/support/both.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the assignment ---------------------------------------------------------------------- */

enum { MOST = 200 };

typedef struct Case {
    TrackJob job;
    float frame[MOST], at[3][MOST];
    uint32_t want[3][MOST];
} Case;

/* Reads one case; where the next one begins. */
static const char *read_case(const char *at, Case *c)
{
    int gap, splits, merges, read = 0, n = 0;
    assert_int_equal(sscanf(at, "case %lf %d %d %d\n%n", &c->job.limit, &gap, &splits, &merges, &read), 4);
    for (at += read; sscanf(at, "%f", &c->frame[n + 1]) == 1; at += read) {
        n++;
        assert_true(n < MOST);
        assert_int_equal(sscanf(at, "%f %f %f %f %u %u %u\n%n", &c->frame[n], &c->at[0][n], &c->at[1][n], &c->at[2][n],
                                &c->want[0][n], &c->want[1][n], &c->want[2][n], &read),
                         7);
    }
    c->job.n = (uint32_t)n;
    c->job.gap = gap;
    c->job.splits = splits != 0;
    c->job.merges = merges != 0;
    c->job.frame = c->job.last = c->frame;
    for (int axis = 0; axis < 3; axis++) {
        c->job.value[axis] = c->at[axis];
    }
    return at;
}

static void check_case(const Case *c, const TrackJob *job, int number)
{
    uint32_t got[MOST];
    Err err = {0};
    for (int what = TRACK_ID; what <= TRACK_SECOND; what++) {
        assert_true(track_objects(job, (TrackWhat)what, got, &err));
        assert_int_equal(got[0], 0);
        for (uint32_t i = 1; i <= job->n; i++) {
            if (got[i] != c->want[what][i]) {
                fail_msg("case %d, object %u, %d: %u, not %u", number, i, what, got[i], c->want[what][i]);
            }
        }
    }
}

/* The same links as pairs, last one first. */
static void check_pairs(const Case *c, int number)
{
    static float value[3][MOST * MOST];
    TrackJob job = c->job;
    job.paired = true;
    job.limit = 1;
    for (uint32_t a = job.n; a > 0; a--) {
        for (uint32_t b = job.n; b > 0; b--) {
            double between = (double)c->frame[b] - (double)c->frame[a], square = 0;
            for (int axis = 0; axis < 3; axis++) {
                square += pow((double)c->at[axis][b] - (double)c->at[axis][a], 2);
            }
            if (between >= 1 && between <= job.gap + 1) {
                value[0][++job.pairs] = (float)a;
                value[1][job.pairs] = (float)b;
                value[2][job.pairs] = (float)(square / (c->job.limit * c->job.limit));
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        job.value[k] = value[k];
    }
    check_case(c, &job, number);
}

static void assignments_are_best_and_first(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    Err err = {0};
    int number = 0;
    static Case c;
    assert_true(file_read(TEST_DATA "/tracks.txt", &text, &size, &err));
    for (const char *at = text; *at != '\0'; number++) {
        at = read_case(at, &c);
        check_case(&c, &c.job, number);
        check_pairs(&c, number);
    }
    free(text);
    assert_int_equal(number, 72);
}

/* Without a frame or a place there is no link; labels need not be there. */
static void what_is_nowhere_has_no_track(void **state)
{
    (void)state;
    static const float frame[] = {0, 0, INFINITY, 1, 1}, last[] = {0, 0, -INFINITY, 1, 1}, x[] = {0, 5, NAN, NAN, 5.5f},
                       y[5] = {0};
    const TrackJob job =
        {.n = 4, .frame = frame, .last = last, .value = {x, y, y}, .limit = 2, .gap = 3, .splits = true};
    uint32_t got[5];
    Err err = {0};
    assert_true(track_objects(&job, TRACK_ID, got, &err));
    assert_memory_equal(got, ((uint32_t[]){0, 1, 0, 2, 1}), sizeof got);
    const TrackJob none = {.frame = frame, .last = last, .value = {x, y, y}, .limit = 2};
    assert_true(track_objects(&none, TRACK_ID, got, &err));
}

static void objects_of_several_frames_are_refused(void **state)
{
    (void)state;
    static const float frame[] = {0, 1}, last[] = {0, 3}, x[2] = {0};
    const TrackJob job = {.n = 1, .frame = frame, .last = last, .value = {x, x, x}, .limit = 2};
    uint32_t got[2];
    Err err = {0};
    assert_false(track_objects(&job, TRACK_ID, got, &err));
    assert_int_equal(err.code, CODE_USAGE);
    assert_non_null(strstr(err.text, "object 1 is in frames 1 to 3"));
}

/* ---- on a device ------------------------------------------------------------------------- */

static void check(int part_rows, const char *text)
{
    const char *whole = arena_printf(&arena, "input image[z, y, x]\n%s", text);
    IrGraph *g = pipeline_must("test.pipe", whole);
    BothCase in = {.n_inputs = 1, .part_rows = part_rows};
    in.inputs[0] = both_image(23, 19, 6, 1, ELEM_U8, 5, BOTH_SMOOTH);
    if (strstr(text, "input seg") != NULL) {
        in.inputs[in.n_inputs++] = both_image(23, 19, 6, 1, ELEM_U16, 9, BOTH_SPARSE);
    }
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    if (!both_run(g, &cx, &in, device, why, sizeof why)) {
        fail_msg("%s%d rows a part: %s", whole, part_rows, why);
    }
    for (int i = 0; i < in.n_inputs; i++) {
        free((void *)(uintptr_t)in.inputs[i].pixels);
    }
}

static void near_objects_are_linked(void **state)
{
    (void)state;
    static const char text[] =
        "o = label(image > mean(image), connectivity = 4)\n"
        "t = track(o, 4, gap = 1, split = true, merge = true, spacing = [1, 0.5, 2])\n"
        "output l = t.labels\noutput m = measure(o, track = t.id, frame = t.frame, x = t.x, y = t.y, "
        "parent = t.parent, second = t.second)\n";
    check(0, text);
}

/* Labels that are numbered from 1 on in each frame, some of which are not there, in parts. */
static void objects_that_overlap_are_linked(void **state)
{
    (void)state;
    check(2, "input seg[z, y, x] : labels\np = label_planes(seg)\no = mask_labels(p, image > 100, renumber = false)\n"
             "t = track_by_overlap(o, 0.1, gap = 1, split = true, merge = true)\n"
             "output planes = p\noutput l = t.labels\noutput m = t.parent[o]\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(assignments_are_best_and_first),        TEST(what_is_nowhere_has_no_track),
        TEST(objects_of_several_frames_are_refused), TEST(near_objects_are_linked),
        TEST(objects_that_overlap_are_linked),
    };
    cmocka_set_test_filter(getenv("PIPEC_TEST_FILTER"));
    return cmocka_run_group_tests(tests, open_device, close_device);
}
