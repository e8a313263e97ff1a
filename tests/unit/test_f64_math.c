/* f64_math: accuracy against the C library in long double, equal bits on the device. */
#include "base/f64_math.h"
#include "runtime/device/cl.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

extern const char kernel_text_f64_math[];

typedef long double Wide;

static const double SPECIAL[] = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.5,
    -0.5,
    (double)INFINITY,
    -(double)INFINITY,
    (double)NAN,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    0x1.ffffffffffffep-1023,
    0x1.fffffffffffffp1023,
    -0x1.fffffffffffffp1023,
    0x1p53,
    -0x1p53,
    9007199254740991.0,
    -9007199254740991.0,
    1e-300,
    0x1.fffffffffffffp-1,
    0x1.0000000000001p0,
    709.782712893384,
    709.7827128933841,
    -745.1332191019411,
    0x1.921fb54442d18p-1,
    0x1.921fb54442d18p0,
    0x1.921fb54442d18p1,
    -0x1p62,
    0x1p1000,
    /* the double nearest to a multiple of pi / 2 */
    0x1.6ac5b262ca1ffp849,
};
enum { SPECIALS = sizeof SPECIAL / sizeof *SPECIAL };

/* By the C library's rounding. */
static Wide rounded(Wide x, int way)
{
    volatile double from = (double)x;
    volatile float to;
    fesetround(way);
    to = (float)from;
    fesetround(FE_TONEAREST);
    return (Wide)to;
}

static Wide f32_below(Wide x)
{
    return rounded(x, FE_DOWNWARD);
}

static Wide f32_above(Wide x)
{
    return rounded(x, FE_UPWARD);
}

static const struct Unary {
    const char *name;
    double (*get)(double);
    Wide (*want)(Wide);
} UNARY[] = {
    {"f64_exp", f64_exp, expl},
    {"f64_exp2", f64_exp2, exp2l},
    {"f64_log", f64_log, logl},
    {"f64_log2", f64_log2, log2l},
    {"f64_log10", f64_log10, log10l},
    {"f64_sin", f64_sin, sinl},
    {"f64_cos", f64_cos, cosl},
    {"f64_tan", f64_tan, tanl},
    {"f64_asin", f64_asin, asinl},
    {"f64_acos", f64_acos, acosl},
    {"f64_atan", f64_atan, atanl},
    {"f64_sinh", f64_sinh, sinhl},
    {"f64_cosh", f64_cosh, coshl},
    {"f64_tanh", f64_tanh, tanhl},
    {"f64_cbrt", f64_cbrt, cbrtl},
    {"f64_f32_below", f64_f32_below, f32_below},
    {"f64_f32_above", f64_f32_above, f32_above},
};
enum { UNARIES = sizeof UNARY / sizeof *UNARY };

/* Python's % and //, of exact remainders. */
static Wide wide_rest(Wide a, Wide b)
{
    Wide rest = fmodl(a, b);
    if (rest == 0) {
        return copysignl(rest, b);
    }
    return (b < 0 ? rest > 0 : rest < 0) ? rest + b : rest;
}

static Wide wide_floored(Wide a, Wide b)
{
    Wide rest = fmodl(a, b), q = (a - rest) / b;
    bool whole = isfinite(a) && isfinite(a / b) && b != 0 && fabsl(a / b) < 0x1p60L;
    bool below = b < 0 ? rest > 0 : rest < 0;
    return whole ? (below ? roundl(q) - 1 : q == 0 ? copysignl(0, a / b) : roundl(q)) : floorl(a / b);
}

static const struct Binary {
    const char *name;
    double (*get)(double, double);
    Wide (*want)(Wide, Wide);
} BINARY[] = {{"f64_pow", f64_pow, powl},
              {"f64_atan2", f64_atan2, atan2l},
              {"f64_rest", f64_rest, wide_rest},
              {"f64_floored", f64_floored, wide_floored}};
enum { BINARIES = sizeof BINARY / sizeof *BINARY, FUNCTIONS = UNARIES + BINARIES };

/* xorshift64: the same numbers on every machine */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Distance in units of the last place of `want`; 0 for equal special values, huge for others. */
static double error_in_ulp(double got, Wide want)
{
    if (isnan(want) || isnan(got)) {
        return isnan(want) && f64_bits(got) == 0x7ff8000000000000u ? 0 : 1e9;
    }
    if (isinf(got) || fabsl(want) >= 0x1.fffffffffffff8p1023L) {
        bool top = fabsl(want) >= 0x1.fffffffffffffp1023L && fabs(got) >= 0x1.fffffffffffffp1023;
        return top && (got > 0) == (want > 0) ? 0 : 1e9;
    }
    if ((want == 0 || got == 0) && (signbit(want) != 0) != (signbit(got) != 0)) {
        return 1e9;
    }
    int e;
    frexpl(want, &e);
    e = want == 0 || e < -1021 ? -1021 : e;
    return (double)(fabsl((Wide)got - want) / ldexpl(1, e - 53));
}

static void check(const char *name, double x, double y, double got, Wide want, double *worst)
{
    double error = error_in_ulp(got, want);
    if (error > 1) {
        fail_msg("%s(%a, %a) is %a instead of %La: %g ulp", name, x, y, got, want, error);
    }
    *worst = error > *worst ? error : *worst;
}

/* Every second number is random bits, the others are of ordinary size. */
static double random_number(uint64_t *state, int i)
{
    uint64_t r = next_random(state);
    double part = (double)(int64_t)r * 0x1p-63;
    return i % 2 == 0 ? f64_from_bits(r) : i % 4 == 1 ? part : part * (i % 8 == 3 ? 750 : 8);
}

static void unary_functions_are_within_one_ulp(void **state)
{
    (void)state;
    for (int f = 0; f < UNARIES; f++) {
        const struct Unary *u = &UNARY[f];
        double worst = 0;
        uint64_t seed = 88172645463325252u;
        for (int i = 0; i < 400000; i++) {
            double x = random_number(&seed, i);
            check(u->name, x, 0, u->get(x), u->want((Wide)x), &worst);
        }
        for (int i = 0; i < SPECIALS; i++) {
            double x = SPECIAL[i];
            check(u->name, x, 0, u->get(x), u->want((Wide)x), &worst);
        }
        print_message("%-9s worst error %.3f ulp\n", u->name, worst);
    }
}

/* Pairs with results of ordinary size among random ones. */
static void random_pair(uint64_t *state, int i, double *x, double *y)
{
    *x = random_number(state, i);
    *y = random_number(state, i / 2);
    double part = (double)(int64_t)next_random(state) * 0x1p-63;
    if (i % 4 == 1) {
        *y = *x * part;
    } else if (i % 4 == 3) {
        *x = fabs(*x);
        *y = part * 1080.0 / f64_log2(*x);
    }
}

static void binary_functions_are_within_one_ulp(void **state)
{
    (void)state;
    for (int f = 0; f < BINARIES; f++) {
        const struct Binary *b = &BINARY[f];
        double worst = 0;
        uint64_t seed = 88172645463325252u;
        for (int i = 0; i < 800000; i++) {
            double x, y;
            random_pair(&seed, i, &x, &y);
            check(b->name, x, y, b->get(x, y), b->want((Wide)x, (Wide)y), &worst);
        }
        for (int i = 0; i < SPECIALS * SPECIALS; i++) {
            double x = SPECIAL[i % SPECIALS], y = SPECIAL[i / SPECIALS];
            check(b->name, x, y, b->get(x, y), b->want((Wide)x, (Wide)y), &worst);
        }
        print_message("%-9s worst error %.3f ulp\n", b->name, worst);
    }
}

/* Quotients up to the largest of which all whole numbers are there. */
static void quotients_are_floored_exactly(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 1000000; i++) {
        uint64_t r = next_random(&seed), rest = next_random(&seed);
        double b = (double)(1 + (r >> 20)) * (i & 1 ? 1 : -1), least = 0x1p50;
        double a = (least + (double)(rest % ((uint64_t)7 << 50))) * b;
        Wide want = wide_floored(a, b);
        if (fabsl(want) < 0x1p53L && (Wide)f64_floored(a, b) != want) {
            fail_msg("f64_floored(%a, %a) is %a instead of %La", (double)a, (double)b, (double)f64_floored(a, b), want);
        }
    }
}

static void exact_results_are_exact(void **state)
{
    (void)state;
    for (int i = 1; i <= 2000; i++) {
        double v = i;
        assert_true(f64_cbrt(v * v * v) == v);
        assert_true(f64_pow(v, 2) == v * v && f64_pow(v * v, 0.5) == v);
        assert_true(f64_pow(v, 4) == v * v * v * v);
    }
    for (int i = -1074; i < 1024; i++) {
        assert_true(f64_exp2(i) == ldexp(1, i));
        assert_true(f64_log2(ldexp(1, i)) == i);
    }
    double ten = 1;
    for (int i = 0; i <= 22; i++, ten *= 10) {
        assert_true(f64_log10(ten) == i && f64_pow(10, i) == ten);
    }
    assert_true(f64_exp(0) == 1 && f64_cos(0) == 1);
}

/* ---- the same bits on the device ------------------------------------------------------- */

static double on_host(int f, double a, double b)
{
    return f < UNARIES ? UNARY[f].get(a) : BINARY[f - UNARIES].get(a, b);
}

static void call_text(int f, char *to, size_t size)
{
    if (f < UNARIES) {
        snprintf(to, size, "%s(a[i])", UNARY[f].name);
    } else {
        snprintf(to, size, "%s(a[i], b[i])", BINARY[f - UNARIES].name);
    }
}

static char *kernels_text(void)
{
    size_t head = strlen(kernel_text_f64_math);
    char *text = malloc(head + FUNCTIONS * 400);
    assert_non_null(text);
    memcpy(text, kernel_text_f64_math, head);
    char *at = text + head;
    for (int f = 0; f < FUNCTIONS; f++) {
        char call[100];
        call_text(f, call, sizeof call);
        at += sprintf(at,
                      "kernel void function_%d(global const double *a, global const double *b,\n"
                      "                        global double *to, int n)\n{\n"
                      "    int i = (int)get_global_id(0);\n    if (i < n) {\n"
                      "        to[i] = %s;\n    }\n}\n",
                      f, call);
    }
    return text;
}

static void device_gives_the_same_bits(void **state)
{
    (void)state;
    enum { N = 1 << 18, GROUP = 64 };
    size_t bytes = N * sizeof(double);
    double *a = malloc(bytes), *b = malloc(bytes), *got = malloc(bytes);
    char *text = kernels_text();
    assert_true(a && b && got);
    uint64_t seed = 2463534242u;
    for (int i = 0; i < N; i++) {
        random_pair(&seed, i, &a[i], &b[i]);
        if (i < SPECIALS * SPECIALS) {
            a[i] = SPECIAL[i % SPECIALS];
            b[i] = SPECIAL[i / SPECIALS];
        }
    }
    Err err = {0};
    Device *dev;
    DevProgram *program;
    DevMem *mem[3];
    if (!dev_open(&(DevOptions){0}, &dev, &err) || !dev_program(dev, "test_f64_math", text, "", &program, &err) ||
        !dev_alloc(dev, bytes, &mem[0], &err) || !dev_alloc(dev, bytes, &mem[1], &err) ||
        !dev_alloc(dev, bytes, &mem[2], &err) || !dev_write(dev, mem[0], 0, a, bytes, &err) ||
        !dev_write(dev, mem[1], 0, b, bytes, &err)) {
        fail_msg("%s", err.text);
    }
    for (int f = 0; f < FUNCTIONS; f++) {
        char name[32];
        snprintf(name, sizeof name, "function_%d", f);
        DevKernel *kernel;
        DevArg args[] = {dev_mem(mem[0]), dev_mem(mem[1]), dev_mem(mem[2]), dev_int(N)};
        if (!dev_kernel(program, name, &kernel, &err) ||
            !dev_launch(dev, kernel, args, 4, (size_t[]){N / GROUP, 1, 1}, (size_t[]){GROUP, 1, 1}, name, &err) ||
            !dev_read(dev, mem[2], 0, got, bytes, &err)) {
            fail_msg("%s", err.text);
        }
        for (int i = 0; i < N; i++) {
            double want = on_host(f, a[i], b[i]);
            if (f64_bits(want) != f64_bits(got[i])) {
                fail_msg("function %d of %a and %a: %a on the device, %a here", f, a[i], b[i], got[i], want);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        dev_free(dev, mem[i]);
    }
    dev_close(dev);
    free(a);
    free(b);
    free(got);
    free(text);
}

static void device_gives_the_same_bits_in_whole_numbers(void **state)
{
    assert_int_equal(setenv("PIPEC_SOFT_DOUBLE", "1", 1), 0);
    device_gives_the_same_bits(state);
    assert_int_equal(unsetenv("PIPEC_SOFT_DOUBLE"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary_functions_are_within_one_ulp),
        cmocka_unit_test(binary_functions_are_within_one_ulp),
        cmocka_unit_test(exact_results_are_exact),
        cmocka_unit_test(quotients_are_floored_exactly),
        cmocka_unit_test(device_gives_the_same_bits),
        cmocka_unit_test(device_gives_the_same_bits_in_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
