/* soft_double: every operation bit for bit that of the machine's doubles, over special and random numbers. */
#include "base/soft_double.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { TRIES = 1000000 };

static double native(SoftDouble a)
{
    double x;
    memcpy(&x, &a.bits, sizeof x);
    return x;
}

static SoftDouble soft(double x)
{
    SoftDouble a;
    memcpy(&a.bits, &x, sizeof x);
    return a;
}

/* xorshift64: the same numbers on every machine */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static const uint64_t EDGES[] =
    {0, 1, 2, 0x3ff, 0x400, 0xfffffffffffff, 0xffffffff00000, 0x10000000000000, 0x8000000000000};

/* Any bits; powers of two and what is next to them; few digits, where ties are; near `other`, where sums cancel. */
static SoftDouble random_number(uint64_t *state, SoftDouble other)
{
    const uint64_t r = next_random(state), kind = next_random(state) >> 61;
    const uint64_t edge = EDGES[r % (sizeof EDGES / sizeof *EDGES)];
    const int64_t steps = (int64_t)(r >> 59) - 16;
    switch (kind) {
    case 0:
        return soft_from_bits(r & SOFT_SIGN ? edge : ~edge);
    case 1:
        return soft_from_bits((r & 0xfff0000000000000u) + (uint64_t)steps);
    case 2:
        return soft_from_bits(other.bits + (uint64_t)steps);
    case 3:
        return soft_from_bits((other.bits ^ SOFT_SIGN) + ((uint64_t)steps << 52));
    case 4:
        return soft_from_bits(r & 0xffffffffe0000000u);
    case 5:
        return soft((double)(int64_t)r * 0x1p-40);
    case 6:
        return soft((double)steps * 0.5);
    default:
        return soft_from_bits(r);
    }
}

static void expect(const char *name, SoftDouble a, SoftDouble b, SoftDouble c, SoftDouble got, double want)
{
    if (isnan(want) ? got.bits != 0x7ff8000000000000u : got.bits != soft(want).bits) {
        fail_msg("%s(%a, %a, %a) is %a instead of %a", name, native(a), native(b), native(c), native(got), want);
    }
}

static void arithmetic(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    SoftDouble a = soft(1), b = a, c = a;
    for (int i = 0; i < TRIES; i++) {
        a = random_number(&seed, c);
        b = random_number(&seed, a);
        c = random_number(&seed, soft(native(a) * native(b)));
        const double x = native(a), y = native(b), z = native(c);
        expect("add", a, b, c, soft_add(a, b), x + y);
        expect("sub", a, b, c, soft_sub(a, b), x - y);
        expect("mul", a, b, c, soft_mul(a, b), x * y);
        expect("div", a, b, c, soft_div(a, b), x / y);
        expect("fma", a, b, c, soft_fma(a, b, c), fma(x, y, z));
        expect("sqrt", a, b, c, soft_sqrt(a), sqrt(x));
    }
}

static void whole_parts_and_comparisons(void **state)
{
    (void)state;
    uint64_t seed = 2463534242u;
    SoftDouble a = soft(1), b = a;
    for (int i = 0; i < TRIES; i++) {
        a = random_number(&seed, b);
        b = random_number(&seed, a);
        const double x = native(a), y = native(b);
        expect("floor", a, b, b, soft_floor(a), floor(x));
        expect("ceil", a, b, b, soft_ceil(a), ceil(x));
        expect("trunc", a, b, b, soft_trunc(a), trunc(x));
        expect("rint", a, b, b, soft_rint(a), rint(x));
        expect("round", a, b, b, soft_round(a), round(x));
        if (x != y && !isnan(x) && !isnan(y)) {
            expect("fmin", a, b, b, soft_fmin(a, b), fmin(x, y));
            expect("fmax", a, b, b, soft_fmax(a, b), fmax(x, y));
        }
        assert_true(soft_lt(a, b) == (x < y) && soft_le(a, b) == (x <= y) && soft_gt(a, b) == (x > y));
        assert_true(soft_ge(a, b) == (x >= y) && soft_eq(a, b) == (x == y) && soft_ne(a, b) == (x != y));
        assert_true(soft_true(a) == (x != 0) && soft_isnan(a) == (isnan(x) != 0));
    }
    assert_true(soft_fmin(soft_nan(), soft(2)).bits == soft(2).bits &&
                soft_fmax(soft(2), soft_nan()).bits == soft(2).bits);
}

static void conversions(void **state)
{
    (void)state;
    uint64_t seed = 777767777u;
    SoftDouble a = soft(1);
    for (int i = 0; i < TRIES; i++) {
        const uint64_t r = next_random(&seed) >> (next_random(&seed) >> 58);
        float f = soft_float_from_bits((uint)r), narrow;
        a = random_number(&seed, soft_of_float(f));
        const double x = native(a);
        expect("of long", a, a, a, soft_of_long((int64_t)r), (double)(int64_t)r);
        expect("of -long", a, a, a, soft_of_long(-(int64_t)r), (double)-(int64_t)r);
        expect("of ulong", a, a, a, soft_of_ulong(r), (double)r);
        expect("of float", a, a, a, soft_of_float(f), (double)f);
        narrow = soft_to_float(a);
        assert_true(isnan(x) ? isnan(narrow) : soft_float_bits(narrow) == soft_float_bits((float)x));
        narrow = (float)x;
        narrow = (double)narrow > x ? nextafterf(narrow, -INFINITY) : narrow;
        assert_true(isnan(x) || soft_float_bits(soft_rounded(a, true)) == soft_float_bits(narrow));
        if (x > -1 && x < 0x1p64) {
            assert_true(soft_to_ulong(a) == (uint64_t)x);
        }
        if (x >= -0x1p63 && x < 0x1p63) {
            assert_true(soft_to_long(a) == (int64_t)x);
        }
    }
    assert_true(soft_to_long(soft(1e30)) == INT64_MAX && soft_to_long(soft(-1e30)) == INT64_MIN);
    assert_true(soft_to_long(soft_nan()) == 0 && soft_to_range(soft(300), 0, 255) == 255);
}

/* Of any bits, and of numbers near a product or its negative. */
static void products_and_sums_of_f32(void **state)
{
    (void)state;
    uint64_t seed = 1234567u;
    for (int i = 0; i < 4 * TRIES; i++) {
        const uint64_t r = next_random(&seed), steps = next_random(&seed);
        const bool small = i % 3 == 0; /* most products are subnormal or nearly so */
        const uint mask = small ? 0xa0ffffffu : 0xffffffffu;
        const float x = soft_float_from_bits((uint)r & mask), y = soft_float_from_bits((uint)(r >> 32) & mask);
        const uint product = soft_float_bits(x * y) ^ (uint)(steps & 0x80000000u);
        const uint near = product + (uint)((int)(steps & 7) - 4) + ((uint)((int)(steps >> 8 & 31) - 16) << 23);
        const float z = soft_float_from_bits(i % 2 == 0 ? near : (uint)(steps >> 32));
        const float want = fmaf(x, y, z), got = soft_fma_float(x, y, z);
        if (isnan(want) ? !isnan(got) : soft_float_bits(got) != soft_float_bits(want)) {
            fail_msg("fma(%a, %a, %a) is %a instead of %a", (double)x, (double)y, (double)z, (double)got, (double)want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(whole_parts_and_comparisons),
        cmocka_unit_test(conversions),
        cmocka_unit_test(products_and_sums_of_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
