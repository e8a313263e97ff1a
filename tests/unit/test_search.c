/*
 * The search for the plan that costs least (passes/search.h), against brute force: of random small pipelines all answers
 * to all decisions are tried, one decision after the other, whatever the rules say.
 */
#include "fixtures.h"
#include "library/compile.h"
#include "passes/cost.h"
#include "passes/figures.h"
#include "passes/search.h"
#include "tests/support/pipelines.h"

#include "ir/clone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PIPELINES = 40, MOST_PLANS = 1024 };

static unsigned seed;

static int below(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)n);
}

/* One step of what there is so far, v0 .. v(n - 1). */
static void draw_step(Str *text, int n)
{
    static const char *const STEPS[] = {"gaussian(v%d, 1) * v%d",    "gaussian(v%d, 4) - v%d",
                                        "v%d[dx = 1] - v%d[dy = 1]", "sqrt(v%d * v%d + 1)",
                                        "max_filter(v%d, 2) - v%d",  "v%d - mean_filter(v%d, 6)",
                                        "v%d / (1 + std(v%d))",      "exp(-(v%d - v%d) ** 2 / 9)"};
    str_addf(text, "v%d = ", n);
    str_addf(text, STEPS[below(8)], below(n), below(n));
    str_add(text, "\n");
}

static const char *draw(unsigned number)
{
    Str text;
    str_init(&text, &arena);
    seed = number * 2654435761u + 1;
    const int steps = 2 + below(3);
    str_add(&text, "input image[y, x]\nv0 = f32(image)\n");
    for (int i = 1; i <= steps; i++) {
        draw_step(&text, i);
    }
    str_addf(&text, "output a = v%d\noutput b = v%d\n", steps, 1 + below(steps));
    return text.at;
}

typedef struct Brute {
    const IrGraph *lowered;
    const DeviceFigures *figures;
    double best;
    int plans;
} Brute;

/* Both answers to the first decision that has none. */
static void try_all(Brute *b, const Decision *given, int n)
{
    Decisions decisions = {.given = given, .n_given = n, .arena = &arena};
    PassContext cx = {.fuse = FUSE_ALL, .figures = b->figures, .decisions = &decisions, .verify = true};
    IrGraph *g = ir_clone(b->lowered, &arena);
    const double cost = cost_plan(g, &cx, pass_run_all(g, &cx));
    int first = -1;
    for (int i = 0; i < decisions.asked.n && first < 0; i++) {
        bool known = false;
        for (int k = 0; k < n; k++) {
            const Decision *p = &given[k], *q = &decisions.asked.at[i];
            known = known || (p->kind == q->kind && p->a == q->a && p->b == q->b);
        }
        first = known ? -1 : i;
    }
    if (first < 0) {
        b->best = b->plans == 0 || cost < b->best ? cost : b->best;
        b->plans++;
        return;
    }
    Decision *more = arena_array(&arena, Decision, n + 1);
    for (int k = 0; k < n; k++) {
        more[k] = given[k];
    }
    for (int answer = 0; answer < 2; answer++) {
        more[n] = decisions.asked.at[first];
        more[n].taken = answer == 1;
        try_all(b, more, n + 1);
    }
}

/* The cheapest of all plans is found; with few tries none that is dearer than that of the rules. */
static void search_equals_brute_force(void **state)
{
    (void)state;
    double product = 0;
    int all = 0;
    for (unsigned i = 0; i < PIPELINES; i++) {
        const char *text = draw(i);
        const IrGraph *lowered = pipeline_must("random.pipe", text);
        Brute b = {lowered, figures_known(i % 4 == 3 ? "cpu" : "H200"), 0, 0};
        const PassContext like = {.fuse = FUSE_ALL, .figures = b.figures};
        const PassSearch found = pass_search(lowered, &like, SEARCH_ALL, MOST_PLANS, &arena);
        const PassSearch few = pass_search(lowered, &like, SEARCH_ALL, 12, &arena);
        assert_true(few.plans <= 12 && few.cost <= few.by_rules && few.cost >= found.cost);
        if (found.all) {
            try_all(&b, NULL, 0);
            all++;
            product += b.best < found.by_rules ? 1 : 0;
        }
        if (found.all && found.cost > b.best * (1 + 1e-12)) {
            fail_msg("%s\nthe best of %d plans costs %g, that of %d found %g", text, b.plans, b.best, found.plans,
                     found.cost);
        }
    }
    assert_true(all > PIPELINES / 2 && product > 0); /* the rules are not always best: there was something to find */
}

/* Compiling takes the plan that the model is sure of, for devices for which it is trusted; what was tuned comes first. */
static void plans_are_taken_where_they_are_sure(void **state)
{
    (void)state;
    static const char TEXT[] = "input image[y, x]\nband = gaussian(image, 1) - gaussian(image, 12)\n"
                               "output result = band > 2 * std(band)\n";
    double cost[3];
    for (int i = 0; i < 3; i++) {
        CompileOptions options = {.fuse = FUSE_ALL, .plan_for = *figures_known("H100"), .tuned = i == 2};
        options.plan_for.searched = i > 0;
        Compilation c;
        Err err = {0};
        compile_begin(&c, &options, NULL);
        compile_text(&c, "bandpass.pipe", TEXT, sizeof TEXT - 1);
        assert_true(compile_to(&c, STAGE_SCHEDULE, &err));
        const PassContext cx = {.figures = &options.plan_for};
        cost[i] = cost_plan(c.graph, &cx, c.schedule);
        compile_free(&c);
    }
    assert_true(cost[1] < 0.92 * cost[0] && cost[2] == cost[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(search_equals_brute_force, arena_setup, arena_teardown),
        cmocka_unit_test(plans_are_taken_where_they_are_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
