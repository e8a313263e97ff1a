/* host: expressions, folds, refusals, and the text of defines as a C compiler reads it. */
#include "base/hostops.h"
#include "runtime/exec/host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_NODES = 64 };

/* A program that is nothing but host expressions. */
typedef struct Bench {
    Program program;
    HostNode nodes[MAX_NODES];
    ProgInput inputs[2];
    HostInput like[2];
    double params[2];
    HostContext context;
    Err err;
} Bench;

static int setup(void **state)
{
    Bench *b = calloc(1, sizeof *b);
    *state = b;
    if (!b) {
        return 1;
    }
    b->inputs[0].name = "image";
    b->inputs[1].name = "psf";
    b->program = (Program){.host = b->nodes, .inputs = b->inputs, .n_inputs = 2, .n_params = 2};
    b->like[0] = (HostInput){.extent = {640, 480, 3, 2}, .elem = ELEM_U16};
    b->like[1] = (HostInput){.extent = {7, 5, 1, 1}, .elem = ELEM_F32};
    b->params[0] = 2.5;
    b->params[1] = -3;
    b->context = (HostContext){.params = b->params, .inputs = b->like, .pixel_um = {0.25, 0, 0}};
    return 0;
}

static int teardown(void **state)
{
    Bench *b = *state;
    host_forget(&b->context);
    free(b);
    return 0;
}

static int add(Bench *b, HostNode node)
{
    assert_true(b->program.n_host < MAX_NODES);
    b->nodes[b->program.n_host] = node;
    host_forget(&b->context);
    return b->program.n_host++;
}

static int number(Bench *b, double value)
{
    return add(b, (HostNode){.op = HOST_CONST, .num = value});
}

static int index_of(Bench *b, int variable)
{
    return add(b, (HostNode){.op = HOST_INDEX, .a = variable});
}

static int op(Bench *b, const char *name, int x, int y, int z)
{
    int which = hostop_from_name(name);
    assert_true(which >= 0);
    return add(b, (HostNode){.op = (uint8_t)(HOST_OP1 + hostop_arity(which) - 1),
                             .d = (uint8_t)which,
                             .a = x,
                             .b = y,
                             .c = z});
}

static int fold(Bench *b, int kind, int body, int lo, int hi, int variable, int where)
{
    return add(
        b, (HostNode){.op = HOST_FOLD, .d = (uint8_t)kind, .a = body, .b = lo, .c = hi, .e = where, .num = variable});
}

static double eval(Bench *b, int expr)
{
    return host_eval(&b->program, &b->context, expr, &b->err);
}

/* ---- operators ------------------------------------------------------------------------- */

static void operators_are_python_s_where_they_differ(void **state)
{
    (void)state;
    int mod = hostop_from_name("mod"), div = hostop_from_name("floordiv");
    assert_float_equal(hostop_eval(mod, -7, 3, 0), 2, 0);
    assert_float_equal(hostop_eval(mod, 7, -3, 0), -2, 0);
    assert_float_equal(hostop_eval(div, -7, 3, 0), -3, 0);
    assert_float_equal(hostop_eval(div, 7, -3, 0), -3, 0);
    assert_float_equal(hostop_eval(hostop_from_name("round"), 2.5, 0, 0), 2, 0);
    assert_true(isnan(hostop_eval(hostop_from_name("min"), NAN, 1, 0)));
    assert_true(isnan(hostop_eval(hostop_from_name("max"), 1, NAN, 0)));
    assert_float_equal(hostop_eval(hostop_from_name("select"), 0, 1, 2), 2, 0);
    assert_float_equal(hostop_eval(hostop_from_name("sign"), -0.5, 0, 0), -1, 0);
}

static void unknown_operators_are_noticed(void **state)
{
    (void)state;
    assert_int_equal(hostop_from_name("nonsense"), -1);
    assert_int_equal(hostop_arity(-1), 0);
    assert_null(hostop_name(9999));
    assert_true(isnan(hostop_eval(9999, 1, 2, 3)));
}

static void every_operator_is_found_by_its_name(void **state)
{
    (void)state;
    int n = 0;
    for (; hostop_name(n); n++) {
        assert_int_equal(hostop_from_name(hostop_name(n)), n);
        assert_in_range(hostop_arity(n), 1, 3);
    }
    assert_true(n > 40);
}

/* ---- what the run knows ---------------------------------------------------------------- */

static void context_is_seen(void **state)
{
    Bench *b = *state;
    assert_float_equal(eval(b, add(b, (HostNode){.op = HOST_PARAM, .a = 1})), -3, 0);
    assert_float_equal(eval(b, add(b, (HostNode){.op = HOST_EXTENT, .a = 0, .b = 1})), 480, 0);
    assert_float_equal(eval(b, add(b, (HostNode){.op = HOST_EXTENT, .a = 1, .b = 0})), 7, 0);
    assert_float_equal(eval(b, add(b, (HostNode){.op = HOST_LARGEST, .a = 0})), 65535, 0);
    assert_float_equal(eval(b, add(b, (HostNode){.op = HOST_LARGEST, .a = 1})), INFINITY, 0);
    assert_float_equal(eval(b, add(b, (HostNode){.op = HOST_PIXELSIZE, .a = 0})), 0.25, 0);
    assert_int_equal(b->err.code, CODE_OK);
}

static void missing_pixel_size_is_an_error(void **state)
{
    Bench *b = *state;
    int size = add(b, (HostNode){.op = HOST_PIXELSIZE, .a = 2});
    for (int i = 0; i < 2; i++) { /* whenever it is asked for */
        assert_true(isnan(eval(b, size)));
        assert_int_equal(b->err.code, CODE_FILES);
        assert_non_null(strstr(b->err.text, "along z"));
        err_clear(&b->err);
    }
}

static void changed_parameters_count_after_forgetting(void **state)
{
    Bench *b = *state;
    int expr = op(b, "mul", add(b, (HostNode){.op = HOST_PARAM, .a = 0}), number(b, 2), 0);
    assert_float_equal(eval(b, expr), 5, 0);
    b->params[0] = 10;
    host_forget(&b->context);
    assert_float_equal(eval(b, expr), 20, 0);
}

/* ---- folds ----------------------------------------------------------------------------- */

static void folds_combine(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 7), one = number(b, 1), five = number(b, 5);
    int odd = op(b, "mod", i, number(b, 2), 0);
    static const struct {
        int kind;
        double all, odd;
    } wants[] = {{HOST_SUM, 15, 9}, {HOST_PROD, 120, 15}, {HOST_MIN, 1, 1},
                 {HOST_MAX, 5, 5},  {HOST_ANY, 1, 1},     {HOST_ALL, 1, 1}};
    for (size_t k = 0; k < sizeof wants / sizeof *wants; k++) {
        assert_float_equal(eval(b, fold(b, wants[k].kind, i, one, five, 7, -1)), wants[k].all, 0);
        assert_float_equal(eval(b, fold(b, wants[k].kind, i, one, five, 7, odd)), wants[k].odd, 0);
    }
}

static void empty_folds_have_neutral_values(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 7), one = number(b, 1), zero = number(b, 0);
    static const double wants[] = {
        [HOST_SUM] = 0, [HOST_PROD] = 1, [HOST_MIN] = INFINITY, [HOST_MAX] = -INFINITY, [HOST_ANY] = 0, [HOST_ALL] = 1};
    for (int kind = HOST_SUM; kind <= HOST_ALL; kind++) {
        assert_true(eval(b, fold(b, kind, i, one, zero, 7, -1)) == wants[kind]);
    }
}

static void ranges_are_rounded_inwards(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 7);
    assert_float_equal(eval(b, fold(b, HOST_SUM, number(b, 1), number(b, -2.5), number(b, 2.5), 7, -1)), 5, 0);
    assert_float_equal(eval(b, fold(b, HOST_SUM, i, number(b, 0.5), number(b, 2.9), 7, -1)), 3, 0);
}

/* 1e16, 1, 1, 1 one after the other give 1e16; pairs first would give 1e16 + 2. */
static void nested_sums_are_one_flat_sequence(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 1), j = index_of(b, 2), zero = number(b, 0), one = number(b, 1);
    int sum = op(b, "add", i, j, 0);
    int body = op(b, "select", sum, one, number(b, 1e16));
    int inner = fold(b, HOST_SUM, body, zero, one, 2, -1);
    assert_true(eval(b, fold(b, HOST_SUM, inner, zero, one, 1, -1)) == 1e16);
    int other = fold(b, HOST_MAX, inner, zero, one, 1, -1);
    assert_true(eval(b, other) == 1e16);
    assert_int_equal(b->err.code, CODE_OK);
}

/* A sum over j inside a sum over i that also uses i: nothing may be remembered too long. */
static void inner_folds_see_outer_indices(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 1), j = index_of(b, 2), one = number(b, 1), three = number(b, 3);
    int product = op(b, "mul", i, j, 0);
    int inner = fold(b, HOST_PROD, product, one, three, 2, -1); /* 6 i^3 */
    assert_float_equal(eval(b, fold(b, HOST_SUM, inner, one, three, 1, -1)), 6 * 36, 0);
    int same = op(b, "sub", inner, inner, 0);
    assert_float_equal(eval(b, fold(b, HOST_SUM, same, one, three, 1, -1)), 0, 0);
}

static void absurd_folds_are_refused(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 1), zero = number(b, 0);
    (void)eval(b, fold(b, HOST_SUM, i, zero, number(b, 1e9), 1, -1));
    assert_int_equal(b->err.code, CODE_USAGE);
    assert_non_null(strstr(b->err.text, "too long"));
    err_clear(&b->err);
    (void)eval(b, fold(b, HOST_SUM, i, zero, number(b, INFINITY), 1, -1));
    assert_int_equal(b->err.code, CODE_USAGE);
    err_clear(&b->err);
    (void)eval(b, fold(b, HOST_SUM, i, zero, number(b, NAN), 1, -1));
    assert_int_equal(b->err.code, CODE_USAGE);
    err_clear(&b->err);
    (void)eval(b, fold(b, HOST_SUM, i, number(b, 1e17), number(b, 1e17 + 32), 1, -1));
    assert_int_equal(b->err.code, CODE_USAGE);
    assert_non_null(strstr(b->err.text, "32 bits"));
    err_clear(&b->err);
    (void)eval(b, i);
    assert_int_equal(b->err.code, CODE_USAGE);
    err_clear(&b->err);
    (void)host_eval(&b->program, &b->context, 9999, &b->err);
    assert_int_equal(b->err.code, CODE_USAGE);
}

static void ints_must_fit(void **state)
{
    Bench *b = *state;
    int value;
    assert_true(host_eval_int(&b->program, &b->context, number(b, -2.9), "it", &value, &b->err));
    assert_int_equal(value, -2);
    assert_false(host_eval_int(&b->program, &b->context, number(b, 3e9), "it", &value, &b->err));
    assert_non_null(strstr(b->err.text, "it is 3e+09"));
    err_clear(&b->err);
    assert_false(host_eval_int(&b->program, &b->context, number(b, NAN), "it", &value, &b->err));
}

/* ---- text ------------------------------------------------------------------------------ */

enum { CONSTANTS = 800000 };

static char *defines(Bench *b, const ProgDefine *list, int n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    bool ok = host_defines(&b->program, &b->context, list, n, CONSTANTS, out, &b->err);
    fclose(out);
    assert_true(ok || b->err.code != CODE_OK);
    return text;
}

static void scalars_are_spelled(void **state)
{
    Bench *b = *state;
    const ProgDefine list[] = {
        {.kind = DEF_INT, .name = "RADIUS", .expr = number(b, 8)},
        {.kind = DEF_INT, .name = "LOW", .expr = number(b, -8)},
        {.kind = DEF_TYPE, .name = "IMAGE_T", .expr = 0},
    };
    char *text = defines(b, list, 3);
    assert_string_equal(text, "#define RADIUS 8\n"
                              "#define LOW (-8)\n"
                              "#define IMAGE_T ushort\n");
    free(text);
}

static void tables_are_written_row_by_row(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 1), j = index_of(b, 2);
    int lo = number(b, -1), hi = number(b, 1), two = number(b, 2), none = number(b, -5);
    int both = op(b, "add", op(b, "mul", i, number(b, 16), 0), j, 0);
    const ProgDefine list[] = {
        {DEF_TABLE, "W", i, 1, {1, 0}, {lo, -1}, {two, -1}, ELEM_F32},
        {DEF_TABLE, "K", both, 2, {1, 2}, {lo, lo}, {hi, two}, ELEM_F32},
        {DEF_TABLE, "EMPTY", i, 1, {1, 0}, {lo, -1}, {none, -1}, ELEM_F32},
        {DEF_TABLE, "THIRD", op(b, "div", i, number(b, 3), 0), 1, {1, 0}, {lo, -1}, {hi, -1}, ELEM_F32},
        {DEF_TABLE, "ODD", op(b, "div", i, number(b, 0), 0), 1, {1, 0}, {lo, -1}, {hi, -1}, ELEM_F32},
    };
    char *text = defines(b, list, 5);
    assert_string_equal(text, "constant float W[] = {\n"
                              "    (-0x1p+0f), 0x0p+0f, 0x1p+0f, 0x1p+1f,\n"
                              "};\n"
                              "#define K_N1 4\n"
                              "constant float K[] = {\n"
                              "    (-0x1.1p+4f), (-0x1p+4f), (-0x1.ep+3f), (-0x1.cp+3f),"
                              " (-0x1p+0f), 0x0p+0f, 0x1p+0f, 0x1p+1f,\n"
                              "    0x1.ep+3f, 0x1p+4f, 0x1.1p+4f, 0x1.2p+4f,\n"
                              "};\n"
                              "constant float EMPTY[] = {0};\n"
                              "constant float THIRD[] = {\n"
                              "    (-0x1.555556p-2f), 0x0p+0f, 0x1.555556p-2f,\n"
                              "};\n"
                              "constant float ODD[] = {\n"
                              "    (-1.0f / 0.0f), (0.0f / 0.0f), (1.0f / 0.0f),\n"
                              "};\n");
    free(text);
}

/* exp(-i^2 / 8) over the sum of the same for all i: quadratic work, were the sum not remembered. */
static void normalised_weights_take_one_sum(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 1), j = index_of(b, 2);
    int lo = number(b, -20000), hi = number(b, 20000), eight = number(b, -8);
    int up = op(b, "exp", op(b, "div", op(b, "mul", i, i, 0), eight, 0), 0, 0);
    int each = op(b, "exp", op(b, "div", op(b, "mul", j, j, 0), eight, 0), 0, 0);
    int all = fold(b, HOST_SUM, each, lo, hi, 2, -1);
    const ProgDefine list[] = {{DEF_TABLE, "W", op(b, "div", up, all, 0), 1, {1, 0}, {lo, -1}, {hi, -1}, ELEM_F32}};
    char *text = defines(b, list, 1);
    assert_int_equal(b->err.code, CODE_OK);
    char want[32];
    double sum = 0;
    for (int k = -20000; k <= 20000; k++) {
        sum += exp(-(double)k * k / 8);
    }
    snprintf(want, sizeof want, " %af,", (double)(float)(1 / sum));
    assert_non_null(strstr(text, want));
    free(text);
}

static void bad_defines_are_refused(void **state)
{
    Bench *b = *state;
    int i = index_of(b, 1), lo = number(b, 0);
    const ProgDefine large = {DEF_TABLE, "HUGE_TABLE", i, 1, {1, 0}, {lo, -1}, {number(b, 2e6), -1}, ELEM_F32};
    const ProgDefine odd = {DEF_TABLE, "NO_RANGE", i, 1, {1, 0}, {-1, -1}, {-1, -1}, ELEM_F32};
    const ProgDefine type = {.kind = DEF_TYPE, .name = "NO_INPUT", .expr = 5};
    const ProgDefine wide = {DEF_TABLE, "WIDE_TABLE", i, 1, {1, 0}, {lo, -1}, {number(b, CONSTANTS / 4), -1}, ELEM_F32};
    const ProgDefine endless = {.kind = DEF_INT,
                                .name = "LAST",
                                .expr = number(b, 2147483647)}; /* i <= LAST always holds */
    const ProgDefine *const list[] = {&large, &odd, &type, &endless, &wide};
    static const char *const says[] = {"table", "range", "no input 5", "fits", "800004 bytes"};
    for (int k = 0; k < 5; k++) {
        free(defines(b, list[k], 1));
        assert_int_equal(b->err.code, k < 4 ? CODE_USAGE : CODE_FILES);
        assert_non_null(strstr(b->err.text, says[k]));
        err_clear(&b->err);
    }
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_python_s_where_they_differ),
        cmocka_unit_test(unknown_operators_are_noticed),
        cmocka_unit_test(every_operator_is_found_by_its_name),
        WITH_BENCH(context_is_seen),
        WITH_BENCH(missing_pixel_size_is_an_error),
        WITH_BENCH(changed_parameters_count_after_forgetting),
        WITH_BENCH(folds_combine),
        WITH_BENCH(empty_folds_have_neutral_values),
        WITH_BENCH(ranges_are_rounded_inwards),
        WITH_BENCH(nested_sums_are_one_flat_sequence),
        WITH_BENCH(inner_folds_see_outer_indices),
        WITH_BENCH(absurd_folds_are_refused),
        WITH_BENCH(ints_must_fit),
        WITH_BENCH(scalars_are_spelled),
        WITH_BENCH(tables_are_written_row_by_row),
        WITH_BENCH(normalised_weights_take_one_sum),
        WITH_BENCH(bad_defines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
