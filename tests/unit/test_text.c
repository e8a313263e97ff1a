/*
 * text: graphs are printed and read back.  The graph that was read prints the same, gives the same
 * bits and becomes the same kernels, before and after every pass; text that somebody broke is an
 * error at its place.
 */
#include "fixtures.h"
#include "base/file.h"
#include "codegen/codegen.h"
#include "frontend/ops/ops.h"
#include "reference/eval.h"
#include "tests/support/both.h"
#include "tests/support/pipelines.h"
#include "tests/support/turn.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Reads the text of a graph and demands that the graph prints the same. */
static IrGraph *read_back(const IrGraph *g, const char *what)
{
    const char *text = pipeline_print(g), *complaint;
    IrGraph *back = pipeline_parse(&arena, "graph.ir", text, &complaint);
    if (back == NULL) {
        fail_msg("%s: %s\n%s", what, complaint, text);
    }
    const char *again = pipeline_print(back);
    if (strcmp(again, text) != 0) {
        fail_msg("%s: the graph prints differently\n%s\nafter reading:\n%s", what, text, again);
    }
    return back;
}

static void after_pass(const IrGraph *g, const char *pass, void *user)
{
    read_back(g, arena_printf(&arena, "%s after %s", (const char *)user, pass));
}

static const char *kernels(IrGraph *g, const char *name, bool look)
{
    PassContext cx = {.fuse = FUSE_ALL,
                      .verify = true,
                      .after = look ? after_pass : NULL,
                      .user = arena_strdup(&arena, name)};
    const IrSchedule *schedule = pass_run_all(g, &cx);
    Str s;
    str_init(&s, &arena);
    cg_show_kernels(cg_program(g, schedule, "0123456789abcdef0123456789abcdef"), &s);
    return s.at;
}

/* ---- the same bits ------------------------------------------------------------------------ */

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static size_t pixels_of(const IrEvalNode *n)
{
    return n->pixels == NULL
               ? 0
               : (size_t)n->extent[0] * (size_t)n->extent[1] * (size_t)n->extent[2] * (size_t)n->extent[3];
}

static void compare_nodes(const IrEvalNode *p, const IrEvalNode *q, const char *what)
{
    assert_int_equal(pixels_of(p), pixels_of(q));
    assert_int_equal(p->rows * p->columns, q->rows * q->columns);
    for (size_t i = 0; i < pixels_of(p); i++) {
        if (!same(p->pixels[i], q->pixels[i])) {
            fail_msg("%s: pixel %zu is %.17g, not %.17g", what, i, q->pixels[i], p->pixels[i]);
        }
    }
    for (int64_t i = 0; i < p->rows * p->columns; i++) {
        assert_true(same(p->table[i], q->table[i]));
    }
}

static IrEval *evaluate(const IrGraph *g, const char *what)
{
    IrEvalInput inputs[8];
    double params[16] = {0};
    int n = 0;
    for (int i = 1; i < g->nodes.n; i++) {
        const IrNode *node = ir_node(g, (IrId)i);
        if (!node->dead && node->op == IR_INPUT) {
            const IrGrid *grid = &g->grids.at[node->grid];
            Elem elem = node->kind == IR_K_IMAGE && node->elem == ELEM_FILE ? ELEM_U8 : node->elem;
            inputs[n] =
                both_image(23, 17, grid->has[IR_AX_Z] ? 5 : 1, grid->has[IR_AX_C] ? 3 : 1, elem, (unsigned)n + 3, 1);
            n++;
        }
    }
    for (int i = 0; i < g->params.n; i++) {
        params[i] = g->params.at[i].value;
    }
    IrEval *ev;
    Err err = {0};
    if (!ir_eval(g, inputs, params, &ev, &err)) {
        fail_msg("%s: %s", what, err.text);
    }
    for (int i = 0; i < n; i++) {
        free((void *)(uintptr_t)inputs[i].pixels);
    }
    return ev;
}

static void compare_graphs(const IrGraph *g, const IrGraph *back, const char *what)
{
    IrEval *p = evaluate(g, what), *q = evaluate(back, what);
    for (int i = 0; i < g->outputs.n; i++) {
        const IrOutput *o = &g->outputs.at[i];
        if (o->node != 0) {
            compare_nodes(ir_eval_node(p, o->node), ir_eval_node(q, o->node), what);
        } else {
            double a = ir_eval_uniform(p, o->value);
            assert_true(same(a, ir_eval_uniform(q, back->outputs.at[i].value)));
        }
    }
    ir_eval_free(p);
    ir_eval_free(q);
}

/* Everything that is promised of one pipeline; without `bits` it is not evaluated. */
static void check(const char *name, const char *text, bool bits)
{
    IrGraph *g = pipeline_must(name, text);
    IrGraph *back = read_back(g, name);
    if (bits) {
        compare_graphs(g, back, name);
    }
    const char *want = kernels(g, name, true), *got = kernels(back, name, false);
    if (strcmp(want, got) != 0) {
        fail_msg("%s: the kernels differ\n%s\nafter reading:\n%s", name, want, got);
    }
}

/* ---- whose graphs ------------------------------------------------------------------------- */

static const char *load(const char *path)
{
    char *text;
    size_t size;
    Err err = {0};
    if (!file_read(path, &text, &size, &err)) {
        fail_msg("%s", err.text);
    }
    const char *copy = arena_strdup(&arena, text);
    free(text);
    return copy;
}

static void samples_read_back(void **state)
{
    (void)state;
    DIR *folder = opendir(TEST_ROOT "/samples");
    assert_non_null(folder);
    int n = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".pipe") == 0) {
            /* primes.pipe tries ten thousand numbers, and deconvolving takes its time. */
            bool quick = strcmp(entry->d_name, "primes.pipe") != 0 && strcmp(entry->d_name, "deconvolve.pipe") != 0;
            check(entry->d_name, load(arena_printf(&arena, TEST_ROOT "/samples/%s", entry->d_name)), quick);
            n++;
        }
    }
    closedir(folder);
    assert_true(n >= 8);
}

static void examples_of_operators_read_back(void **state)
{
    (void)state;
    const Ops *ops = ops_load(&arena);
    for (int i = 0; i < ops->n; i++) {
        if (turn_has(i)) {
            check(ops->at[i].name,
                  arena_printf(&arena, "input image[y, x]\nmask = image > 3\nlabels = label(mask)\n%s\n",
                               ops->at[i].example),
                  true);
        }
    }
}

/* The pipelines of tests/data/operators.txt: lines that begin with |, after a line `case`. */
static void operators_read_back(void **state)
{
    (void)state;
    const char *text = load(TEST_DATA "/operators.txt");
    Arena all = arena;
    int n = 0;
    for (const char *p = text; (p = strstr(p, "\ncase ")) != NULL; n++) {
        char name[64];
        double tolerance;
        int used = 0, extent[3];
        assert_int_equal(sscanf(p, "\ncase %63s %lf %*s %*s %n", name, &tolerance, &used), 2);
        const char *end = strchr(p + 1, '\n');
        int axes = sscanf(arena_strndup(&all, p + used, (size_t)(end - p - used)), "%d %d %d", &extent[0], &extent[1],
                          &extent[2]);
        arena_init(&arena);
        Str s;
        str_init(&s, &arena);
        str_add(&s, axes == 3 ? "input image[z, y, x]\n" : "input image[y, x]\n");
        for (p = end + 1; *p == '|'; p = strchr(p, '\n') + 1) {
            str_addn(&s, p + 2, strcspn(p + 2, "\n") + 1);
        }
        p--;
        check(name, s.at, true);
        arena_free(&arena);
    }
    arena = all;
    assert_true(n > 100);
}

static const char *const SHOWS_EVERYTHING =
    "input image[z, y, x, c]\n"
    "input raw[y, x] : u16\n"
    "param sigma = 1.5 in 0.5 .. 9 \"blur \\\"radius\\\"\"\n"
    "param rounds = 3 in 1 .. 5\n"
    "fn half(n : i32) : i32 {\n  if n % 2 == 0 { return n / 2 }\n  return 3 * n + 1\n}\n"
    "fn steps(n : i32) : i32 {\n"
    "  k = 0\n  while n > 1 { n = half(n)\n k = k + 1 }\n"
    "  for i in 1 .. k { if i > 5 { k = k - 1 } else { k = k + 0 } }\n  return k\n}\n"
    "flat = raw[dx = 1, border = mirror] - raw[dy = -1, border = constant(7)]\n"
    "a = image[c = 1]\n"
    "repeat rounds { a = gaussian(a, sigma, border = wrap) }\n"
    "lo = -inf\n"
    "repeat until count(raw where raw > lo) is stable, at most 9 { lo = mean(raw where raw > lo) }\n"
    "labels = label(raw > otsu(raw))\n"
    "output labels as png\n"
    "output a\n"
    "output level = lo + sigma\n"
    "output bright = percentile(raw, 20 * sigma)\n"
    "output walk = steps(i32(raw % 50))\n"
    "output flat\n"
    "output plane = max_project(a) + a[z = rounds]\n"
    "output table = measure(labels, raw, area, mean)\n";

static void every_part_reads_back(void **state)
{
    (void)state;
    check("every-part.pipe", SHOWS_EVERYTHING, true);
    check("lines.pipe", "input a[y, x]\r\noutput b = max(\r\n\ra,\r\n2\r\n)", true);
    check("formats.pipe",
          "input a[y, x]\noutput b = a as zarr(compress = zstd, chunk = 128, version = 0.5, shard = false)\n", true);
}

/* An expression whose tree would have 2^60 leaves is printed in as many lines as it has parts. */
static void shared_parts_are_printed_once(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("shared.pipe", "input image[y, x]\noutput a = image + 1\n");
    IrExpr e = ir_read(g, 1);
    for (int i = 0; i < 60; i++) {
        e = ir_op2(g, IR_X_MUL, ir_op1(g, IR_X_SQRT, e), ir_op2(g, IR_X_ADD, e, ir_const(g, 1)));
    }
    ir_node(g, 2)->in[0] = e;
    const char *text = pipeline_print(g);
    assert_true(strlen(text) < 10000);
    assert_non_null(strstr(text, "    t2 = "));
    read_back(g, "shared.pipe");
}

static void deep_expressions_are_cut_into_lines(void **state)
{
    (void)state;
    IrGraph *g = pipeline_must("deep.pipe", "input image[y, x]\noutput a = image + 1\n");
    IrExpr e = ir_read(g, 1);
    for (int i = 0; i < 3000; i++) {
        e = ir_op2(g, IR_X_ADD, e, ir_const(g, i));
    }
    ir_node(g, 2)->in[0] = e;
    read_back(g, "deep.pipe");
}

/* ---- broken text -------------------------------------------------------------------------- */

#define HEAD                                                                                   \
    "graph test\nsource 0 \"a.pipe\"\n    2 \"output b = image + 1\"\nparam k = 2 in 0 .. 9\n" \
    "grid 0 [x = extent(%1, x), y = extent(%1, y)]\n"                                          \
    "%1 image = input \"yx\" : image file grid 0\n"
#define B "%2 b = map : image f32 grid 0"
#define TAIL "output b = %2 as tif\n"

static const struct Broken {
    const char *text, *complaint;
} BROKEN[] = {
    {"nonsense\n", "graph.ir:1:1: expected graph, source"},
    {"  graph a\n", "graph.ir:1:1: this line belongs to nothing"},
    {"graph a b\n", "graph.ir:1:9: expected the end of the line"},
    {"graph \"a\n", "graph.ir:1:9: the text in quotes has no end"},
    {"graph \"../a\"\n", "graph.ir:1:6: expected a name without a slash"},
    {"param \"a b\" = 1 in 0 .. 2\n", "a b: is no name"},
    {"param a = 1 in 0 .. 2\nparam a = 1 in 0 .. 2\n", "a: is the name of several"},
    {"grid 0 [x = 9]\n%1 \"a*/\" = map : image f32 grid 0\n    in 0 1:f32\n", "a*/: is no name"},
    {"grid 0 [x = 9, y = 9]\n%1 a = input \"xx\" : image file grid 0\n", "has other axes than its grid"},
    {"grid 0 [x = 9, y = 9]\n%1 a = input \"x\" : image file grid 0\n", "has other axes than its grid"},
    {"grid 0 [x = 9]\n%1 a = input \"x\\\"\" : image file grid 0\n", "has other axes than its grid"},
    {"graph \"\\q\"\n", "graph.ir:1:9: a backslash"},
    {"source 0 \"\\u00zz\"\n", "graph.ir:1:15: expected four hexadecimal digits"},
    {"source 1 \"a\"\n", "sources are numbered from 0"},
    {"param k = 1 in 0 .. five\n", "graph.ir:1:21: expected a number"},
    {HEAD "%1 image = input : image file grid 0\n", "graph.ir:7:3: nodes are numbered upwards"},
    {HEAD "%2 b = mop : image f32\n", "graph.ir:7:7: there is no such operation"},
    {HEAD "%2 b = map : picture f32\n", "graph.ir:7:14: expected a kind"},
    {HEAD "%2 b = map : image f16\n", "expected a type of pixels"},
    {HEAD B " at 0:3:1+2\n", "no source has such a place"},
    {HEAD B " at 0:2:9+99\n", "no source has such a place"},
    {HEAD B "\n    in 0 add(%1, %9)\n" TAIL, "graph.ir:8:19: there is no such node"},
    {HEAD B "\n    in 0 plus(%1, 1:f32)\n" TAIL, "there is no operator 'plus'"},
    {HEAD B "\n    in 0 add(%1 1:f32)\n" TAIL, "graph.ir:8:17: expected ','"},
    {HEAD B "\n    in 0 add(%1, 1)\n" TAIL, "graph.ir:7:1: %2 b: has operands of different types"},
    {HEAD B "\n    in 0 add(%1, 1.5:i32)\n" TAIL, "the type does not have this number"},
    {HEAD B "\n    in 0 add(%1, t1)\n" TAIL, "nothing is called 't1' here"},
    {HEAD B "\n    t2 = %1\n" TAIL, "parts are numbered from t1"},
    {HEAD B "\n    in 99 %1\n" TAIL, "expected a whole number that is smaller"},
    {HEAD B "\n    out 0 %1\n" TAIL, "expected a line that belongs here"},
    {HEAD B "\n    in 0 @f(%1)\n" TAIL, "there is no function 'f'"},
    {HEAD B "\n    in 0 f32($n)\n" TAIL, "there is no param 'n'"},
    {HEAD B "\n    in 0 f32($k)!const\n" TAIL, "the operands ask for a higher rank"},
    {HEAD B "\n    in 0 %1[x = 1, border = round]\n" TAIL, "expected a border"},
    {HEAD B "\n    in 0 %1[x = 1, outside = 3]\n" TAIL, "goes with the border `constant`"},
    {HEAD B "\n    in 0 %1[x = %1]\n" TAIL, "has an offset that the host cannot compute"},
    {HEAD B "\n    in 0 f32(#3)\n" TAIL, "uses a fold's index outside the fold"},
    {HEAD B "\n    in 0 sum(#0 in 0 .. %1, f32(#0))\n" TAIL, "bounds that the host cannot compute"},
    {HEAD B "\n    in 0 %2\n" TAIL, "reads a node that comes later"},
    {HEAD B "\n    in 0 f32(%1.0)\n" TAIL, "takes a value of something that has none"},
    {HEAD B "\n    in 0 %1{1:u32}\n" TAIL, "looks up in something that is not a vector"},
    {HEAD B "\n" TAIL, "%2 b: lacks an input"},
    {HEAD B "\n    in 0 %1\n    arg 0 3\n" TAIL, "has an argument that its operation does not take"},
    {HEAD "%2 b = map : mask f32 grid 0\n    in 0 %1\n" TAIL, "is a mask whose pixels are not bool"},
    {HEAD "%2 b = map : image f32\n    in 0 %1\n" TAIL, "is an image without a grid"},
    {HEAD "%2 b = label : image u32 grid 0\n    in 0 gt(%1, 1:f32)\n    arg 0 1\n", "is of another kind"},
    {HEAD "%2 b = reduce : value f64 loop 3\n    in 0 %1\n    arg 0 1\n", "is in a loop that does not"},
    {HEAD "%2 b = perlabel : vector f32 of %1\n    in 0 u32(%1)\n    in 1 %1\n    arg 0 1\n",
     "does not belong to what its operation works on"},
    {HEAD "loop 1 in 0\n    count 3\n    carry %1 from %1 next %1\n", "carries a node that is not its own"},
    {HEAD B "\n    in 0 %1\noutput b = %2 as bmp\n", "has an unknown format"},
    {HEAD "output b as tif\n", "is either a node or a value"},
    {HEAD "note corner x of \"image\"\n", "expected a kind of note"},
    {HEAD "note place c of \"image\"\n", "graph.ir:7:12: expected an axis"},
    {HEAD "note place x of image\n", "graph.ir:7:17: expected"},
    {HEAD "note place x of \"image\"\n    at 1\n", "note 0: has no numbers"},
    {HEAD "note place x of \"image\"\n    at f64(%1)\n    extent 3\n", "note 0: "},
    {HEAD "bound \"q\" in 0 .. 100\n    value 3\n", "graph.ir:7:11: expected"},
    {HEAD "bound \"q\" \"at least 0\" from 0 .. 100\n    value 3\n", "graph.ir:7:24: expected 'in'"},
    {HEAD "bound \"q\" \"at least 0\" in 0 .. 100\n", "bound 0: has no value"},
    {HEAD "bound \"q\" \"at least 0\" in 0 .. 100\n    value f64(%1)\n", "bound 0: "},
    {"function f : i32\n    param n : i32\n    set n = 1:i32\n", "does not always return a value"},
    {"function f : i32\n    return 1.5:f32\n", "graph.ir:2:11: expected an expression of type i32"},
    {"function f : i32\n    return &m\n", "there is no variable 'm'"},
    {"function f : i32\n    return m\n", "nothing is called 'm' here"},
    {"function f : i32\n    return coord(x)\n" HEAD B "\n    in 0 %1\n" TAIL,
     "computes in a function what only images can"},
    {HEAD B "\n    in 0 &v\n" TAIL, "there are no variables outside of functions"},
    {"function f : i32\n    if 1:bool\n    return 1:i32\n", "expected 'end'"},
    {"function f : f64\n    return 1:i32\n", "expected bool, i32, u32 or f32"},
};

static void broken_text_is_an_error_at_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
        const char *complaint;
        const IrGraph *g = pipeline_parse(&arena, "graph.ir", BROKEN[i].text, &complaint);
        if (g != NULL || strstr(complaint, BROKEN[i].complaint) == NULL) {
            fail_msg("%s\nis read with: %s\nnot with: %s", BROKEN[i].text, complaint, BROKEN[i].complaint);
        }
        assert_int_equal(strncmp(complaint, "graph.ir:", 9), 0);
    }
}

static unsigned random_number(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* One change: a byte, a piece taken out, or a piece copied to another place. */
static void mutate(char *text, size_t size, unsigned *state)
{
    static const char BYTES[] = "%#$@()[]{}.,:!=+-0123456789 \n\"\\abcxyzft_\t\177";
    unsigned n = (unsigned)strlen(text), at = random_number(state, n), kind = random_number(state, 4);
    unsigned length = 1 + random_number(state, 30);
    if (kind < 2) {
        text[at] = BYTES[random_number(state, sizeof BYTES - 1)];
    } else if (kind == 2) {
        unsigned from = at + length < n ? at + length : n;
        memmove(text + at, text + from, n - from + 1);
    } else if (n + length + 1 < size) {
        char piece[32];
        unsigned from = random_number(state, n);
        length = from + length < n ? length : n - from;
        memcpy(piece, text + from, length);
        memmove(text + at + length, text + at, n - at + 1);
        memcpy(text + at, piece, length);
    }
}

/* What is still read prints a text that reads back and can be compiled; nothing crashes, which the
 * sanitizers see to. */
static void mutated_text_never_crashes(void **state)
{
    (void)state;
    const char *text = pipeline_print(pipeline_must("every-part.pipe", SHOWS_EVERYTHING));
    size_t size = strlen(text) + 2000;
    Arena all = arena;
    unsigned seed = 1;
    int refused = 0;
    for (int i = 0; i < 4000; i++) {
        arena_init(&arena);
        char *copy = arena_alloc(&arena, size);
        strcpy(copy, text);
        for (unsigned k = random_number(&seed, 3) + 1; k > 0 && copy[0] != '\0'; k--) {
            mutate(copy, size, &seed);
        }
        const char *complaint;
        IrGraph *g = pipeline_parse(&arena, "graph.ir", copy, &complaint);
        if (g != NULL) {
            read_back(g, "a mutation");
            kernels(g, "a mutation", false);
        } else {
            assert_int_equal(strncmp(complaint, "graph.ir:", 9), 0);
            refused++;
        }
        arena_free(&arena);
    }
    arena = all;
    assert_true(refused > 1000 && refused < 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_read_back, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(examples_of_operators_read_back, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(operators_read_back, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(every_part_reads_back, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(shared_parts_are_printed_once, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(deep_expressions_are_cut_into_lines, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(broken_text_is_an_error_at_its_place, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(mutated_text_never_crashes, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
