/*
 * The order of steps: of all orders that are possible, tried one by one, none needs less memory; the results
 * are the evaluator's; and what did not look at all orders says so.
 */
#include "fixtures.h"
#include "both.h"
#include "codegen/codegen.h"
#include "on_device.h"
#include "passes/order.h"
#include "pipelines.h"
#include "runtime/exec/exec_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_STEPS = 8 };

static const char *const TEXTS[] = {
    /* Each of the images is needed for one value only. */
    "input image[y, x]\na = median_filter(image, box(3))\nb = median_filter(image, box(5))\n"
    "c = median_filter(image, box(7))\noutput p = percentile(a, 30)\noutput q = percentile(b, 30)\n"
    "output r = percentile(c, 30)\n",
    /* Or two of them. */
    "input image[y, x]\na = median_filter(image, box(3))\nb = median_filter(image, box(5))\n"
    "c = median_filter(image, box(7))\noutput p = sum(a * b[dx = 1])\noutput q = sum(b)\n"
    "output r = sum(c)\n",
    "input image[y, x]\na = distance(image > 10)\nb = distance(image > 20)\n"
    "output m = median_filter(a, 5) > median_filter(b, 5)\n",
    /* Labels take the place of distances. */
    "input image[y, x]\nm = label(distance(image > 10) > 3)\nn = label(distance(image > 20) > 3)\n"
    "output both = m > 0 and n > 0\noutput p = percentile(image, 50)\n",
    "input image[y, x]\nv = image\nrepeat 2 {\n  a = distance(v > 10)\n  b = distance(v > 20)\n"
    "  v = v + max(a) - max(b)\n}\noutput v\n",
    /* How wide it is takes many steps, each of which uses the one before twice. */
    "input image[y, x]\nfn narrowed(v) {\n  for k in 1 .. 60 { v = v - v // 3 }\n  return v + 30\n}\n"
    "h = canvas(image, width = narrowed(width(image)), height = height(image))\n"
    "a = distance(image[x = x_of(h), y = y_of(h)] > 10)\nb = distance(image[x = x_of(h), y = y_of(h)] > 20)\n"
    "output c = a + b[dx = 1]\n",
};
enum { N_TEXTS = sizeof TEXTS / sizeof *TEXTS, N_STRAIGHT = 4 };

static uint64_t peak_of(IrGraph *g, const IrSchedule *s)
{
    const Program *program = cg_program(g, s, "0123456789abcdef0123456789abcdef");
    const ExecTarget target = exec_target(NULL);
    const ExecInput input = {.extent = {2048, 2048, 1, 1}, .elem = ELEM_U16};
    ExecPlan *plan;
    Err err = {0};
    if (!exec_plan_new(program, &target, &input, NULL, &plan, &err)) {
        fail_msg("%s", err.text);
    }
    uint64_t peak = plan->least;
    exec_plan_free(plan);
    return peak;
}

/* ---- all orders ------------------------------------------------------------------------------ */

typedef struct Use {
    const IrSchedule *s;
    const bool *done; /* by step, as the pass has them */
    bool fine;
} Use;

static void look(const IrGraph *g, IrExpr e, void *ctx)
{
    Use *use = ctx;
    const IrExprNode *n = ir_expr(g, e);
    bool uses = n->op == IR_X_READ || n->op == IR_X_READAT || n->op == IR_X_VALUE;
    if (uses && ir_node(g, n->node)->op != IR_INPUT) {
        use->fine = use->fine && use->done[use->s->step[n->node]];
    }
}

static bool can_run(const IrGraph *g, const IrSchedule *s, int step, bool *done)
{
    Use use = {s, done, true};
    done[step] = true; /* stages of a kernel use each other */
    for (int i = 0; i < s->steps.at[step].stages.n; i++) {
        const IrNode *node = ir_node(g, s->steps.at[step].stages.at[i]);
        for (int k = 0; k < NODE_INPUTS; k++) {
            if (node->in[k] != 0) {
                ir_walk(g, node->in[k], look, &use);
            }
        }
    }
    done[step] = false;
    return use.fine;
}

typedef struct Trial {
    IrGraph *g;
    const IrSchedule *s;
    IrSchedule now;
    int *step;
    IrStep steps[MOST_STEPS];
    bool done[MOST_STEPS];
    uint64_t least, most;
    int tried;
} Trial;

static void try_all(Trial *t, int n)
{
    if (n == t->s->steps.n) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < t->steps[i].stages.n; k++) {
                t->step[t->steps[i].stages.at[k]] = i;
            }
        }
        uint64_t peak = peak_of(t->g, &t->now);
        t->least = peak < t->least ? peak : t->least;
        t->most = peak > t->most ? peak : t->most;
        t->tried++;
        return;
    }
    for (int i = 0; i < t->s->steps.n; i++) {
        if (!t->done[i] && can_run(t->g, t->s, i, t->done)) {
            t->done[i] = true;
            t->steps[n] = t->s->steps.at[i];
            try_all(t, n + 1);
            t->done[i] = false;
        }
    }
}

static void no_order_needs_less(void **state)
{
    (void)state;
    int differ = 0;
    for (int i = 0; i < N_STRAIGHT; i++) {
        IrGraph *g = pipeline_must("order.pipe", TEXTS[i]);
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        const IrSchedule *s = pass_run_all(g, &cx);
        assert_true(s->steps.n <= MOST_STEPS);
        assert_int_equal(s->order, IR_ORDER_BEST);
        Trial t = {.g = g, .s = s, .now = *s, .least = UINT64_MAX};
        t.now.steps.at = t.steps;
        t.now.step = t.step = arena_array(&arena, int, g->nodes.n + 64);
        try_all(&t, 0);
        uint64_t peak = peak_of(g, s);
        if (peak > t.least + t.least / 50) {
            fail_msg("%s\n%llu bytes, but one of %d orders needs %llu", TEXTS[i], (unsigned long long)peak, t.tried,
                     (unsigned long long)t.least);
        }
        assert_true(t.tried > 1);
        differ += t.most > t.least + t.least / 10;
    }
    assert_true(differ >= 2);
}

/* ---- few orders ------------------------------------------------------------------------------ */

static void few_orders_are_said_to_be_few(void **state)
{
    (void)state;
    for (int i = 0; i < N_TEXTS; i++) {
        for (int beam = 0; beam < 2; beam++) {
            IrGraph *g = pipeline_must("order.pipe", TEXTS[i]);
            PassContext cx = {.fuse = FUSE_ALL, .verify = true};
            BothCase in = {.n_inputs = 1};
            char why[400];
            in.inputs[0] = both_image(37, 21, 1, 1, ELEM_U8, 3, BOTH_NOISE);
            pass_order_at_most(beam);
            bool same = both_run(g, &cx, &in, device, why, sizeof why);
            const IrSchedule *s = pass_group(g, &cx);
            assert_int_equal(s->order, beam == 1 ? IR_ORDER_BEST_SEEN : IR_ORDER_BEST);
            pass_order_at_most(0);
            if (!same) {
                fail_msg("%s\n%s", TEXTS[i], why);
            }
            free((void *)(uintptr_t)in.inputs[0].pixels);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_order_needs_less),
        TEST(few_orders_are_said_to_be_few),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
