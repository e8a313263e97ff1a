/*
 * Names of axes: what a projection leaves is called as before, wherever it lies in memory, and meets other images by these
 * names; brute force in C says what comes of it.
 */
#include "fixtures.h"
#include "reference/eval.h"
#include "tests/support/pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { W = 5, H = 4, D = 3 };

static double m(int z, int y, int x)
{
    return (z * 31 + y * 17 + x * 7 + y * z * x) % 23;
}

/* The sum over the axes that are below 0. */
static double sum(int z, int y, int x)
{
    double all = 0;
    for (int k = z < 0 ? 0 : z; k < (z < 0 ? D : z + 1); k++) {
        for (int j = y < 0 ? 0 : y; j < (y < 0 ? H : y + 1); j++) {
            for (int i = x < 0 ? 0 : x; i < (x < 0 ? W : x + 1); i++) {
                all += m(k, j, i);
            }
        }
    }
    return all;
}

static double of_planes(int z, int y, int x)
{
    (void)y;
    (void)x;
    return sum(z, -1, -1);
}
static double of_rows(int z, int y, int x)
{
    (void)z;
    (void)x;
    return sum(-1, y, -1);
}
static double without_x(int z, int y, int x)
{
    (void)x;
    return sum(z, y, -1);
}
static double flipped(int z, int y, int x)
{
    (void)x;
    return sum(D - 1 - z, y, -1);
}
static double beside(int z, int y, int x)
{
    (void)x;
    return sum(z + 1 < D ? z + 1 : z, y, -1);
}
static double one_plane(int z, int y, int x)
{
    (void)z;
    (void)x;
    return sum(1, y, -1);
}
static double numbers(int z, int y, int x)
{
    (void)x;
    return 100 * z + 10 * y + H + D;
}
static double cropped(int z, int y, int x)
{
    (void)x;
    return sum(z + 1, y + 2, -1);
}
static double rolled(int z, int y, int x)
{
    (void)x;
    return sum((z + D - 1) % D, y, -1);
}
static double met(int z, int y, int x)
{
    return m(z, y, x) - sum(z, y, -1);
}
static double crossed(int z, int y, int x)
{
    return sum(z, y, -1) * 3 + sum(-1, -1, x);
}
static double chosen(int z, int y, int x)
{
    return m(z, y, x) * sum(z, y, -1) + m(z, y, x + 1 < W ? x + 1 : x) * sum(z + 1 < D ? z + 1 : z, y, -1);
}
static double outer(int z, int y, int x)
{
    (void)x;
    return sum(z, -1, -1) + sum(-1, y, -1);
}

/* What is left lies where `at` says: the extents of x, y and z in memory. */
static const struct Case {
    const char *value, *axes;
    int extent[3];
    int lies[3]; /* of z, y, x: along which axis in memory; -1: none */
    double (*want)(int z, int y, int x);
} CASES[] = {
    {"sum_project(sum_project(m, x), y)", "[z]", {D, 1, 1}, {0, -1, -1}, of_planes},
    {"sum_project(sum_project(m, y), x)", "[z]", {D, 1, 1}, {0, -1, -1}, of_planes},
    {"sum_project(sum_project(m, x), z)", "[y]", {H, 1, 1}, {-1, 0, -1}, of_rows},
    {"d", "[z, y]", {H, D, 1}, {1, 0, -1}, without_x},
    {"flip(d, z)", "[z, y]", {H, D, 1}, {1, 0, -1}, flipped},
    {"d[dz = 1]", "[z, y]", {H, D, 1}, {1, 0, -1}, beside},
    {"d[z = 1]", "[y]", {H, 1, 1}, {-1, 0, -1}, one_plane},
    {"100 * z_of(d) + 10 * y_of(d) + height(d) + depth(d)", "[z, y]", {H, D, 1}, {1, 0, -1}, numbers},
    {"crop(d, y = 2, z = 1, height = 2)", "[z, y]", {2, D - 1, 1}, {1, 0, -1}, cropped},
    {"roll(d, z = 1)", "[z, y]", {H, D, 1}, {1, 0, -1}, rolled},
    {"m - d", "[z, y, x]", {W, H, D}, {2, 1, 0}, met},
    {"d * 3 + sum_project(sum_project(m, z), y)", "[z, y, x]", {W, H, D}, {2, 1, 0}, crossed},
    {"sum(m[dx = i] * d[dz = i] for i in 0 .. 1)", "[z, y, x]", {W, H, D}, {2, 1, 0}, chosen},
    {"sum_project(d, y) + sum_project(d, z)", "[z, y]", {H, D, 1}, {1, 0, -1}, outer},
};

static bool agrees(const struct Case *c, const IrEvalNode *got)
{
    const int *e = got->extent;
    bool same = e[0] == c->extent[0] && e[1] == c->extent[1] && e[2] == c->extent[2];
    for (int k = 0; same && k < e[2]; k++) {
        for (int j = 0; j < e[1]; j++) {
            for (int i = 0; i < e[0]; i++) {
                const int at[3] = {i, j, k};
                int place[3];
                for (int axis = 0; axis < 3; axis++) {
                    place[axis] = c->lies[axis] >= 0 ? at[c->lies[axis]] : 0;
                }
                same = same && got->pixels[(k * e[1] + j) * e[0] + i] == c->want(place[0], place[1], place[2]);
            }
        }
    }
    return same;
}

static void projections_leave_the_names_of_axes(void **state)
{
    (void)state;
    enum { N = sizeof CASES / sizeof *CASES };
    char text[4000] = "input m[z, y, x] : i32\nd = sum_project(m, x)\n";
    for (int i = 0; i < N; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "output o%d = %s\n", i, CASES[i].value);
    }
    const IrGraph *g = pipeline_must("axes.pipe", text);
    double pixels[D * H * W];
    for (int i = 0; i < D * H * W; i++) {
        pixels[i] = m(i / (W * H), i / W % H, i % W);
    }
    const IrEvalInput in = {.extent = {W, H, D, 1}, .elem = ELEM_I32, .pixels = pixels};
    IrEval *ev;
    Err err = {0};
    assert_true(ir_eval(g, &in, NULL, &ev, &err));
    for (int i = 0; i < N; i++) {
        if (!agrees(&CASES[i], ir_eval_node(ev, g->outputs.at[i].node))) {
            fail_msg("%s is wrong", CASES[i].value);
        }
    }
    ir_eval_free(ev);
}

/* What messages say of them. */
static void messages_name_axes_as_users_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *said = "";
        char text[400], want[40];
        snprintf(text, sizeof text, "input m[z, y, x] : i32\nd = sum_project(m, x)\nv = %s\noutput a = v[c = 0]\n",
                 CASES[i].value);
        snprintf(want, sizeof want, "no axis c in %s", CASES[i].axes);
        assert_null(pipeline_graph(&arena, "axes.pipe", text, &said));
        if (strstr(said, want) == NULL) {
            fail_msg("%s: not '%s' but\n%s", CASES[i].value, want, said);
        }
    }
}

#define in_arena(test) cmocka_unit_test_setup_teardown(test, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_arena(projections_leave_the_names_of_axes),
        in_arena(messages_name_axes_as_users_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
