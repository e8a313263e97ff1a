/*
 * px_math: accuracy against the C library in long double, equal bits on the device; borders,
 * integer division and division by constants by brute force.
 */
#include "ir/px_whole.h"
#include "runtime/device/cl.h"
#include "tests/support/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

extern const char kernel_text_px_math[], kernel_text_px_whole[];

typedef long double Wide;

static const float SPECIAL[] = {
    0.0f,
    -0.0f,
    1.0f,
    -1.0f,
    2.0f,
    -2.0f,
    3.0f,
    -3.0f,
    0.5f,
    -0.5f,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p-149f,
    -0x1p-149f,
    0x1p-126f,
    0x1.fffffcp-127f,
    0x1.fffffep127f,
    -0x1.fffffep127f,
    0x1p24f,
    -0x1p24f,
    16777215.0f,
    -16777215.0f,
    1e-30f,
    0x1.fffffep-1f,
    0x1.000002p0f,
    8388607.5f,
    88.72283f,
    88.722845f,
    -103.97207f,
    0x1.921fb6p0f,
    0x1.921fb6p1f,
    -0x1p62f,
    0x1p64f,
};
enum { SPECIALS = sizeof SPECIAL / sizeof *SPECIAL };

static const struct Unary {
    const char *name;
    float (*get)(float);
    Wide (*want)(Wide);
} UNARY[] = {
    {"px_exp", px_exp, expl},    {"px_exp2", px_exp2, exp2l},    {"px_log", px_log, logl},
    {"px_log2", px_log2, log2l}, {"px_log10", px_log10, log10l}, {"px_sin", px_sin, sinl},
    {"px_cos", px_cos, cosl},    {"px_tan", px_tan, tanl},       {"px_asin", px_asin, asinl},
    {"px_acos", px_acos, acosl}, {"px_atan", px_atan, atanl},    {"px_sinh", px_sinh, sinhl},
    {"px_cosh", px_cosh, coshl}, {"px_tanh", px_tanh, tanhl},    {"px_cbrt", px_cbrt, cbrtl},
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
    float (*get)(float, float);
    Wide (*want)(Wide, Wide);
} BINARY[] = {{"px_pow", px_pow, powl},
              {"px_atan2", px_atan2, atan2l},
              {"px_rest", px_rest, wide_rest},
              {"px_floored", px_floored, wide_floored}};
enum { BINARIES = sizeof BINARY / sizeof *BINARY };

/* xorshift64: the same numbers on every machine */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Distance in units of the last place of `want`; 0 for equal special values, huge for others. */
static double error_in_ulp(float got, Wide want)
{
    if (isnan(want) || isnan(got)) {
        return isnan(want) && px_bits(got) == 0x7fc00000u ? 0 : 1e9;
    }
    if (isinf(got) || fabsl(want) >= 0x1.ffffffp127L) {
        bool top = fabsl(want) >= 0x1.fffffep127L && fabsf(got) >= 0x1.fffffep127f;
        return top && (got > 0) == (want > 0) ? 0 : 1e9;
    }
    if (want == 0 || got == 0) {
        if ((signbit(want) != 0) != (signbit(got) != 0)) {
            return 1e9;
        }
    }
    int e;
    frexpl(want, &e);
    e = want == 0 || e < -125 ? -125 : e;
    return (double)(fabsl((Wide)got - want) / ldexpl(1, e - 24));
}

static void check(const char *name, float x, float y, float got, Wide want, double *worst)
{
    double error = error_in_ulp(got, want);
    if (error > 1) {
        fail_msg("%s(%a, %a) is %a instead of %La: %g ulp", name, (double)x, (double)y, (double)got, want, error);
    }
    *worst = error > *worst ? error : *worst;
}

static void unary_functions_are_within_one_ulp(void **state)
{
    (void)state;
    for (int f = 0; f < UNARIES; f++) {
        const struct Unary *u = &UNARY[f];
        double worst = 0;
        if (!turn_has(f)) {
            continue;
        }
        for (uint64_t b = 0; b <= UINT32_MAX; b += 1009) {
            float x = px_from_bits((PxU32)b);
            check(u->name, x, 0, u->get(x), u->want((Wide)x), &worst);
        }
        for (int i = 0; i < SPECIALS; i++) {
            float x = SPECIAL[i];
            check(u->name, x, 0, u->get(x), u->want((Wide)x), &worst);
        }
        print_message("%-8s worst error %.3f ulp\n", u->name, worst);
    }
}

/* Every second pair is random bits; the others have results of ordinary size. */
static void random_pair(uint64_t *state, int i, float *x, float *y)
{
    uint64_t r = next_random(state);
    *x = px_from_bits((PxU32)r);
    *y = px_from_bits((PxU32)(r >> 32));
    float part = (float)((int)(r >> 40) - 0x800000) * 0x1p-23f;
    if (i % 4 == 1) {
        *y = *x * part;
    } else if (i % 4 == 3) {
        *x = px_fabs(*x);
        *y = part * 150.0f / px_log2(*x);
    }
}

static void binary_functions_are_within_one_ulp(void **state)
{
    (void)state;
    for (int f = 0; f < BINARIES; f++) {
        const struct Binary *b = &BINARY[f];
        double worst = 0;
        uint64_t seed = 88172645463325252u;
        for (int i = 0; i < 2000000; i++) {
            float x, y;
            random_pair(&seed, i, &x, &y);
            check(b->name, x, y, b->get(x, y), b->want((Wide)x, (Wide)y), &worst);
        }
        for (int i = 0; i < SPECIALS * SPECIALS; i++) {
            float x = SPECIAL[i % SPECIALS], y = SPECIAL[i / SPECIALS];
            check(b->name, x, y, b->get(x, y), b->want((Wide)x, (Wide)y), &worst);
        }
        print_message("%-8s worst error %.3f ulp\n", b->name, worst);
    }
}

/* Quotients up to the largest of which all whole numbers are there. */
static void quotients_are_floored_exactly(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 1000000; i++) {
        uint64_t r = next_random(&seed), rest = next_random(&seed);
        float b = (float)(1 + (r >> 20)) * (i & 1 ? 1 : -1), least = 0x1p21f;
        float a = (least + (float)(rest % ((uint64_t)7 << 21))) * b;
        Wide want = wide_floored(a, b);
        if (fabsl(want) < 0x1p24L && (Wide)px_floored(a, b) != want) {
            fail_msg("px_floored(%a, %a) is %a instead of %La", (double)a, (double)b, (double)px_floored(a, b), want);
        }
    }
}

static void exact_results_are_exact(void **state)
{
    (void)state;
    for (int i = 1; i <= 200; i++) {
        assert_true(px_cbrt((float)(i * i * i)) == (float)i);
        assert_true(px_pow((float)i, 2.0f) == (float)(i * i));
        assert_true(px_pow((float)(i * i), 0.5f) == (float)i);
    }
    for (int i = -149; i < 128; i++) {
        assert_true(px_exp2((float)i) == ldexpf(1, i));
        assert_true(px_log2(ldexpf(1, i)) == (float)i);
    }
    assert_true(px_log10(1e10f) == 10.0f && px_exp(0.0f) == 1.0f && px_cos(0.0f) == 1.0f);
}

/* ---- the same bits on the device ------------------------------------------------------- */

enum { FORMS = 12 };
/* Expressions of two floats (a, b) or two ints (ia, ib) beyond the functions above; each is
 * evaluated here and on the device from this one text. */
#define FOR_EACH_FORM(F)                                                               \
    F(px_bits(px_min(a, b)))                                                           \
    F(px_bits(px_max(a, b)))                                                           \
    F(px_bits(px_sign(a)))                                                             \
    F((PxU32)px_round_u8(a))                                                           \
    F((PxU32)px_round_u16(a))                                                          \
    F((PxU32)px_round_i16(a))                                                          \
    F((PxU32)px_round_i32(a))                                                          \
    F(px_round_u32(a))                                                                 \
    F((PxU32)px_floordiv(ia, ib) ^ px_floordiv((PxU32)ia, (PxU32)ib))                  \
    F((PxU32)px_mod(ia, ib) ^ px_mod((PxU32)ia, (PxU32)ib))                            \
    F((PxU32)px_reflect(ia, 1 + (ib & 63)) ^ (PxU32)px_mirror(ia, 1 + (ib & 63)) << 8) \
    F((PxU32)px_nearest(ia, 1 + (ib & 63)) ^ (PxU32)px_wrap(ia, 1 + (ib & 63)) << 8)

#define FORM_TEXT(...) #__VA_ARGS__,
static const char *const FORM[FORMS] = {FOR_EACH_FORM(FORM_TEXT)};

static PxU32 form_on_host(int form, float a, float b, int ia, int ib)
{
    int k = 0;
#define FORM_VALUE(...)     \
    if (form == k++) {      \
        return __VA_ARGS__; \
    }
    FOR_EACH_FORM(FORM_VALUE)
    return 0;
}

enum { FUNCTIONS = UNARIES + BINARIES + FORMS };

static PxU32 on_host(int f, PxU32 a, PxU32 b)
{
    float x = px_from_bits(a), y = px_from_bits(b);
    if (f < UNARIES) {
        return px_bits(UNARY[f].get(x));
    }
    if (f < UNARIES + BINARIES) {
        return px_bits(BINARY[f - UNARIES].get(x, y));
    }
    return form_on_host(f - UNARIES - BINARIES, x, y, (int)a, (int)b);
}

static void expression_text(int f, char *to, size_t size)
{
    if (f < UNARIES) {
        snprintf(to, size, "px_bits(%s(a))", UNARY[f].name);
    } else if (f < UNARIES + BINARIES) {
        snprintf(to, size, "px_bits(%s(a, b))", BINARY[f - UNARIES].name);
    } else {
        snprintf(to, size, "%s", FORM[f - UNARIES - BINARIES]);
    }
}

static char *kernels_text(void)
{
    size_t head = strlen(kernel_text_px_math) + strlen(kernel_text_px_whole);
    char *text = malloc(head + FUNCTIONS * 600);
    assert_non_null(text);
    char *at = text + sprintf(text, "%s%s", kernel_text_px_math, kernel_text_px_whole);
    for (int f = 0; f < FUNCTIONS; f++) {
        char expression[200];
        expression_text(f, expression, sizeof expression);
        at += sprintf(at,
                      "kernel void function_%d(global const uint *av, global const uint *bv,\n"
                      "                        global uint *to, int n)\n{\n"
                      "    int i = (int)get_global_id(0);\n    if (i < n) {\n"
                      "        int ia = (int)av[i], ib = (int)bv[i];\n"
                      "        float a = px_from_bits(ia), b = px_from_bits(ib);\n"
                      "        to[i] = %s;\n    }\n}\n",
                      f, expression);
    }
    return text;
}

static void fill_operands(PxU32 *a, PxU32 *b, int n)
{
    uint64_t seed = 2463534242u;
    for (int i = 0; i < n; i++) {
        float x, y;
        random_pair(&seed, i, &x, &y);
        a[i] = i % 3 == 0 ? (PxU32)i * 4099u : px_bits(x);
        b[i] = px_bits(y);
        if (i < SPECIALS * SPECIALS) {
            a[i] = px_bits(SPECIAL[i % SPECIALS]);
            b[i] = px_bits(SPECIAL[i / SPECIALS]);
        } else if (i % 5 == 0) {
            b[i] = (PxU32)(i % 41 - 20);
        }
    }
}

/* px_min, px_max and px_sign hand a NaN on as it came, and devices differ in its sign. */
static PxU32 plain_nan(int f, PxU32 bits)
{
    bool hands_on = f >= UNARIES + BINARIES && f < UNARIES + BINARIES + 3;
    return hands_on && isnan(px_from_bits(bits)) ? 0x7fc00000u : bits;
}

static void device_gives_the_same_bits(void **state)
{
    (void)state;
    enum { N = 1 << 20, GROUP = 64 };
    size_t bytes = N * sizeof(PxU32);
    PxU32 *a = malloc(bytes), *b = malloc(bytes), *got = malloc(bytes);
    char *text = kernels_text();
    assert_true(a && b && got);
    fill_operands(a, b, N);
    Err err = {0};
    Device *dev;
    DevProgram *program;
    DevMem *mem[3];
    if (!dev_open(&(DevOptions){0}, &dev, &err) || !dev_program(dev, "test_px_math", text, "", &program, &err) ||
        !dev_alloc(dev, bytes, &mem[0], &err) || !dev_alloc(dev, bytes, &mem[1], &err) ||
        !dev_alloc(dev, bytes, &mem[2], &err) || !dev_write(dev, mem[0], 0, a, bytes, &err) ||
        !dev_write(dev, mem[1], 0, b, bytes, &err)) {
        fail_msg("%s", err.text);
    }
    for (int f = 0; f < FUNCTIONS; f++) {
        char name[32], expression[200];
        snprintf(name, sizeof name, "function_%d", f);
        expression_text(f, expression, sizeof expression);
        DevKernel *kernel;
        DevArg args[] = {dev_mem(mem[0]), dev_mem(mem[1]), dev_mem(mem[2]), dev_int(N)};
        if (!dev_kernel(program, name, &kernel, &err) ||
            !dev_launch(dev, kernel, args, 4, (size_t[]){N / GROUP, 1, 1}, (size_t[]){GROUP, 1, 1}, name, &err) ||
            !dev_read(dev, mem[2], 0, got, bytes, &err)) {
            fail_msg("%s", err.text);
        }
        for (int i = 0; i < N; i++) {
            PxU32 want = on_host(f, a[i], b[i]);
            if (plain_nan(f, want) != plain_nan(f, got[i])) {
                fail_msg("%s with bits %08x and %08x: %08x on the device, %08x here", expression, a[i], b[i], got[i],
                         want);
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

/* ---- integers and borders -------------------------------------------------------------- */

static void floor_division_is_pythons(void **state)
{
    (void)state;
    static const int EDGES[] = {INT32_MIN, INT32_MIN + 1, -7, -2, -1, 0, 1, 2, 7, INT32_MAX};
    enum { N = sizeof EDGES / sizeof *EDGES };
    for (int i = 0; i < N * N; i++) {
        int64_t a = EDGES[i % N], b = EDGES[i / N];
        int64_t quotient = b == 0 ? 0 : (int64_t)floorl((Wide)a / (Wide)b);
        assert_int_equal(px_floordiv((int)a, (int)b), (int32_t)(uint32_t)quotient);
        assert_int_equal(px_mod((int)a, (int)b), b == 0 ? 0 : a - b * quotient);
        PxU32 ua = (PxU32)a, ub = (PxU32)b;
        assert_int_equal(px_floordiv(ua, ub), ub == 0 ? 0 : ua / ub);
        assert_int_equal(px_mod(ua, ub), ub == 0 ? 0 : ua % ub);
    }
}

/* Walks from 0 to i step by step along the row of indices that the border's picture shows. */
static void borders_follow_their_pictures(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n++) {
        int reflect = 0, reflect_step = 1, mirror = 0, mirror_step = 1;
        for (int i = 0; i <= 50; i++) {
            assert_int_equal(px_nearest(i, n), i < n ? i : n - 1);
            assert_int_equal(px_nearest(-i - 1, n), 0);
            assert_int_equal(px_wrap(i, n), i % n);
            assert_int_equal(px_wrap(-i - 1, n), n - 1 - i % n);
            assert_int_equal(px_reflect(i, n), reflect);
            assert_int_equal(px_reflect(-i - 1, n), reflect);
            assert_int_equal(px_mirror(i, n), mirror);
            assert_int_equal(px_mirror(-i, n), mirror);
            if (reflect + reflect_step < 0 || reflect + reflect_step >= n) {
                reflect_step = -reflect_step;
            } else {
                reflect += reflect_step;
            }
            if (n > 1) {
                mirror_step = mirror + mirror_step < 0 || mirror + mirror_step >= n ? -mirror_step : mirror_step;
                mirror += mirror_step;
            }
        }
    }
}

static void borders_bear_extreme_coordinates(void **state)
{
    (void)state;
    static const int N[] = {1, 2, 3, 1000, INT32_MAX - 1, INT32_MAX};
    static const int AT[] = {INT32_MIN, INT32_MIN + 1, -1000000007, 1000000007, INT32_MAX};
    for (int k = 0; k < 6 * 5; k++) {
        int64_t n = N[k % 6], i = AT[k / 6];
        int64_t wrap = (i % n + n) % n;
        int64_t twice = (i % (2 * n) + 2 * n) % (2 * n);
        int64_t period = n == 1 ? 1 : 2 * n - 2, there = (i % period + period) % period;
        assert_int_equal(px_wrap((int)i, (int)n), wrap);
        assert_int_equal(px_reflect((int)i, (int)n), twice < n ? twice : 2 * n - 1 - twice);
        assert_int_equal(px_mirror((int)i, (int)n), there < n ? there : period - there);
        assert_int_equal(px_nearest((int)i, (int)n), i < 0 ? 0 : i < n ? i : n - 1);
    }
}

static void rounding_saturates(void **state)
{
    (void)state;
    assert_int_equal(px_round_u8(2.5f), 2);
    assert_int_equal(px_round_u8(3.5f), 4);
    assert_int_equal(px_round_u8(255.5f), 255);
    assert_int_equal(px_round_u8(-0.5f), 0);
    assert_int_equal(px_round_u16(1e9f), 65535);
    assert_int_equal(px_round_i16(-1e9f), -32768);
    assert_int_equal(px_round_i32(2147483648.0f), INT32_MAX);
    assert_int_equal(px_round_i32(-INFINITY), INT32_MIN);
    assert_int_equal(px_round_i32(2147483646.5), 2147483646);
    assert_int_equal(px_round_i32(2147483583.0f), 2147483520);
    assert_true(px_round_u32(INFINITY) == UINT32_MAX);
    assert_true(px_round_u32(4294967294.0) == 4294967294u);
    assert_true(px_round_u32(4294967040.0f) == 4294967040u);
    assert_int_equal(px_round_u8(NAN) + px_round_i32((double)NAN), 0);
}

static void check_quotient(float x, float c)
{
    const float part = px_even_part(c), odd = c / part, y = 1 / odd;
    float got = px_divides_by(odd) ? px_div_by(x, odd, y) : px_div_by_far(x, odd, y), want = x / c;
    got = part > 1 ? px_div_by_even(x, c, px_below_reciprocal(c), got, 1 / part) : got;
    if (px_bits(got) != px_bits(want) && !(isnan(got) && isnan(want))) {
        fail_msg("%a / %g is %a, not %a", (double)x, (double)c, (double)got, (double)want);
    }
}

/* All mantissas, as every other exponent has the same quotients, and what is near to denormals. */
static void constant_divisors_give_the_quotient(void **state)
{
    (void)state;
    static const float NONE[] = {0.0f, 1.0f, 2.0f, 64.0f, 4.5f, -9.0f, 0x1p24f, INFINITY, NAN};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        assert_true(px_even_part(NONE[i]) == 0);
    }
    assert_true(px_divides_by(3.0f) && px_divides_by(5.0f) && px_divides_by(9.0f) && !px_divides_by(7.0f));
    assert_true(px_even_part(20.0f) == 4 && px_even_part(9.0f) == 1);
    for (PxU32 bits = px_bits(1.0f); bits < px_bits(2.0f); bits++) {
        check_quotient(px_from_bits(bits), 9.0f);
        check_quotient(-px_from_bits(bits), 3.0f);
    }
    for (PxU32 bits = px_bits(1.0f); bits < px_bits(2.0f); bits += 7) {
        check_quotient(px_from_bits(bits), 255.0f);
        check_quotient(px_from_bits(bits), 20.0f);
    }
    for (PxU32 bits = 0; bits < px_bits(40 * 0x1p-126f); bits += 101) { /* quotients are denormals, some half-way */
        check_quotient(px_from_bits(bits), 20.0f);
        check_quotient(-px_from_bits(bits), 14.0f);
    }
    for (int c = 3; c < 2000; c++) {
        for (PxU32 at = 0; at < 300 && px_even_part((float)c) != 0; at++) {
            check_quotient(px_from_bits(at * 41943u % 0x08000000u), (float)c);
            check_quotient(-px_from_bits(at), (float)c);
            check_quotient(px_from_bits(0x3f800000u + at * 4194u), (float)c);
        }
        for (int i = 0; i < SPECIALS && px_even_part((float)c) != 0; i++) {
            check_quotient(SPECIAL[i], (float)c);
        }
    }
}

static void check_wide_quotient(double x, double c)
{
    const double got = px_div_wide_by(x, c, 1 / c), want = x / c;
    if (memcmp(&got, &want, sizeof got) != 0 && !(isnan(got) && isnan(want))) {
        fail_msg("%a / %g is %a, not %a", x, c, got, want);
    }
}

/* Anything, whole numbers, and what is next to half-way between two quotients. */
static void wide_divisors_give_the_quotient(void **state)
{
    (void)state;
    static const double EDGE[] = {0.0,        -0.0,      0x1p-1074, 0x1.8p-1070,
                                  -0x1p-1022, 0x1p-1021, INFINITY,  0x1.fffffffffffffp1023,
                                  -INFINITY,  NAN};
    for (size_t i = 0; i < sizeof EDGE / sizeof *EDGE; i++) {
        check_wide_quotient(EDGE[i], 9);
        check_wide_quotient(EDGE[i], 625);
    }
    assert_true(px_divides_wide_by(625) && px_divides_wide_by(3) && !px_divides_wide_by(1) && !px_divides_wide_by(6) &&
                !px_divides_wide_by(2.5) && !px_divides_wide_by(-3) && !px_divides_wide_by(NAN));
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const double c = 3 + 2 * (double)(seed >> 40 & 1023), m = 1 + (double)(seed >> 12) * 0x1p-52;
        double any;
        memcpy(&any, &(uint64_t){seed ^ seed >> 29}, sizeof any);
        const double near[] = {any, (double)(seed >> 24), fma(m, c, 0x1p-53 * c), fma(m, c, -0x1p-53 * c)};
        for (size_t k = 0; k < sizeof near / sizeof *near; k++) {
            check_wide_quotient(near[k], c);
        }
    }
}

static void min_and_max_hand_nan_on(void **state)
{
    (void)state;
    assert_true(isnan(px_min(NAN, 1.0f)) && isnan(px_min(1.0f, NAN)));
    assert_true(isnan(px_max(NAN, 1.0f)) && isnan(px_max(1.0f, NAN)));
    assert_true(px_min(1.0f, 2.0f) == 1 && px_max(1.0f, 2.0f) == 2);
    assert_true(px_min(0.1, 0.2) == 0.1 && px_max(-INFINITY, 5.0) == 5);
    assert_true(px_sign(-3.0f) == -1 && px_sign(0.0f) == 0 && px_sign(1e-300) == 1);
    assert_true(isnan(px_sign(NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary_functions_are_within_one_ulp),
        cmocka_unit_test(binary_functions_are_within_one_ulp),
        cmocka_unit_test(exact_results_are_exact),
        cmocka_unit_test(quotients_are_floored_exactly),
        cmocka_unit_test(device_gives_the_same_bits),
        cmocka_unit_test(floor_division_is_pythons),
        cmocka_unit_test(borders_follow_their_pictures),
        cmocka_unit_test(borders_bear_extreme_coordinates),
        cmocka_unit_test(rounding_saturates),
        cmocka_unit_test(constant_divisors_give_the_quotient),
        cmocka_unit_test(wide_divisors_give_the_quotient),
        cmocka_unit_test(min_and_max_hand_nan_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
