/*
 * properties: laws that hold for every image (tests/data/properties.txt), on random images of random
 * shapes and all types, with the evaluator; a few of them on a device.
 *
 * PIPEC_TEST_SEED=n starts somewhere else; PIPEC_TEST_ROUNDS=n makes n images for each law.
 */
#include "base/file.h"
#include "frontend/diag/diag.h"
#include "frontend/elaborate/elaborate.h"
#include "reference/eval.h"
#include "tests/support/both.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 12, MAX_PARAMS = 32 };

typedef struct Law {
    char name[80], dimensions[8];
    const char *lines; /* of the pipeline */
} Law;

static Arena arena;
static unsigned state;

static unsigned below(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % n;
}

static int number_from(const char *name, int fallback)
{
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : fallback;
}

/* Reads one law from *p and moves it on; false at the end. */
static bool read_law(const char **p, Law *law)
{
    while (**p == '#') {
        *p = strchr(*p, '\n') + 1;
    }
    if (sscanf(*p, "property %79s %7s", law->name, law->dimensions) != 2) {
        return false;
    }
    Str lines;
    str_init(&lines, &arena);
    for (*p = strchr(*p, '\n') + 1; **p == '|'; *p = strchr(*p, '\n') + 1) {
        str_addn(&lines, *p + 2, strcspn(*p + 2, "\n") + 1);
    }
    law->lines = lines.at;
    return true;
}

static IrGraph *elaborate(const Law *law, bool space)
{
    const char *text = arena_printf(&arena,
                                    "input image[%sy, x]\nmask = image > median(image)\n"
                                    "labels = label(mask)\n%s",
                                    space ? "z, " : "", law->lines);
    Source *source = source_new(&arena, "law.pipe", text);
    Diags diags;
    diags_init(&diags, &arena);
    IrGraph *g = fe_elaborate(&arena, fe_parse(&arena, source, &diags), &diags);
    if (g == NULL || diags.errors > 0) {
        Str s;
        str_init(&s, &arena);
        diags_render(&diags, &s, false, 0);
        fail_msg("%s\n%s", law->name, s.at);
    }
    return g;
}

/* Extents from 1 on, of any type; noise, steps, one value, a checkerboard, few values. */
static IrEvalInput random_image(bool space)
{
    static const Elem TYPES[] = {ELEM_U8, ELEM_U16, ELEM_F32};
    int most = space ? 6 : 12, w = 1 + (int)below((unsigned)most), h = 1 + (int)below((unsigned)most);
    int d = space ? 1 + (int)below(5) : 1;
    Elem elem = TYPES[below(3)];
    int kind = (int)below(elem == ELEM_F32 ? 4 : 5);
    return both_image(w, h, d, 1, elem, below(100000), kind);
}

static bool is_true(IrEval *ev, const IrGraph *g)
{
    const IrOutput *a = &g->outputs.at[0];
    if (a->node == 0) {
        return ir_eval_uniform(ev, a->value) != 0;
    }
    const IrEvalNode *got = ir_eval_node(ev, a->node);
    int n = got->extent[0] * got->extent[1] * got->extent[2] * got->extent[3];
    for (int i = 0; i < n; i++) {
        if (got->pixels[i] == 0) {
            return false;
        }
    }
    return n > 0;
}

/* A law's params have their defaults. */
static void set_params(const IrGraph *g, double params[MAX_PARAMS])
{
    for (int i = 0; i < g->params.n && i < MAX_PARAMS; i++) {
        params[i] = g->params.at[i].value;
    }
}

static bool holds(const Law *law, bool space)
{
    const IrGraph *g = elaborate(law, space);
    double params[MAX_PARAMS] = {0};
    set_params(g, params);
    bool fine = true;
    for (int i = 0; i < number_from("PIPEC_TEST_ROUNDS", ROUNDS) && fine; i++) {
        IrEvalInput image = random_image(space);
        IrEval *ev;
        Err err = {0};
        bool ran = ir_eval(g, &image, params, &ev, &err);
        fine = ran && is_true(ev, g);
        if (!fine) {
            print_error("%s is false for %d x %d x %d pixels of %s, image %d %s\n", law->name, image.extent[0],
                        image.extent[1], image.extent[2], elem_name(image.elem), i, ran ? "" : err.text);
        }
        ir_eval_free(ev);
        free((void *)(uintptr_t)image.pixels);
    }
    return fine;
}

static bool holds_everywhere(const Law *law)
{
    bool fine = strchr(law->dimensions, '2') == NULL || holds(law, false);
    return (strchr(law->dimensions, '3') == NULL || holds(law, true)) && fine;
}

static Device *dev;

/* Every eighth law, so that a run stays short. */
static bool holds_on_device(const Law *law)
{
    static int n = 0;
    if (n++ % 8 != number_from("PIPEC_TEST_PHASE", 0)) {
        return true;
    }
    bool space = law->dimensions[0] == '3';
    IrGraph *g = elaborate(law, space);
    BothCase in = {.n_inputs = 1};
    in.inputs[0] = random_image(space);
    set_params(g, in.params);
    PassContext cx = {.fuse = FUSE_ALL, .verify = true};
    char why[400];
    bool fine = both_run(g, &cx, &in, dev, why, sizeof why);
    if (!fine) {
        print_error("%s: %s\n", law->name, why);
    }
    free((void *)(uintptr_t)in.inputs[0].pixels);
    return fine;
}

static void check_all(bool (*one)(const Law *))
{
    char *text;
    size_t size;
    Err err = {0};
    assert_true(file_read(TEST_DATA "/properties.txt", &text, &size, &err));
    state = (unsigned)number_from("PIPEC_TEST_SEED", 1);
    int wrong = 0, n = 0;
    const char *p = text;
    for (bool more = true; more;) {
        Law law;
        arena_init(&arena);
        more = read_law(&p, &law);
        wrong += more && !one(&law);
        n += more;
        arena_free(&arena);
    }
    assert_int_equal(*p, '\0');
    free(text);
    assert_int_equal(wrong, 0);
    assert_true(n > 80);
}

static void laws_hold_for_random_images(void **unused)
{
    (void)unused;
    check_all(holds_everywhere);
}

static void devices_agree_on_laws(void **unused)
{
    (void)unused;
    Err err = {0};
    const char *wanted = getenv("PIPEC_TEST_DEVICE");
    DevOptions options = {.choice = wanted != NULL ? wanted : "cpu", .flags = getenv("PIPEC_TEST_FLAGS"), .cache = ""};
    assert_true(dev_open(&options, &dev, &err));
    check_all(holds_on_device);
    dev_close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_for_random_images),
        cmocka_unit_test(devices_agree_on_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
