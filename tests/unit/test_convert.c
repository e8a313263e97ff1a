/* Rows from every element type to every other, against the rules in convert.h, pixel by pixel. */
#include "runtime/host/convert.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const double VALUES[] = {0,          1,           2.5,    127,    128,        254,        255,
                                256,        257.75,      32767,  32768,  65535,      65536,      -1,
                                -0.5,       -255,        -32768, -32769, 2147483647, 2147483648, 4294967295,
                                4294967296, -2147483648, 1e30,   0.1,    INFINITY,   -INFINITY,  NAN};
enum { N = sizeof VALUES / sizeof *VALUES };

static bool fits(Elem to, double value)
{
    return to == ELEM_BOOL || !elem_is_integer(to) ||
           (value >= elem_min(to) && value <= elem_max(to) && value == trunc(value));
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_pixel(Elem from, Elem to, double value)
{
    double in[3], out[3] = {0};
    size_t bad;
    elem_put(in, 0, from, 1);
    elem_put(in, 1, from, value);
    elem_put(in, 2, from, 0);
    bool ok = convert_row(from, in, to, out, 3, &bad);
    assert_int_equal(ok, fits(to, value));
    assert_true(elem_get(out, 0, to) == 1);
    if (!ok) {
        assert_int_equal(bad, 1);
        return;
    }
    double want = to == ELEM_BOOL ? value != 0 : to == ELEM_F32 ? (double)(float)value : value;
    assert_true(same(elem_get(out, 1, to), want));
    assert_true(elem_get(out, 2, to) == 0);
}

static void pixels_keep_their_values_or_are_refused(void **state)
{
    (void)state;
    for (Elem from = ELEM_BOOL; from <= ELEM_F64; from++) {
        for (Elem to = ELEM_BOOL; to <= ELEM_F64; to++) {
            for (int i = 0; i < N; i++) {
                if (from == ELEM_F64 || (from == ELEM_F32 && same((float)VALUES[i], VALUES[i])) ||
                    (from != ELEM_F32 && elem_is_integer(from) && VALUES[i] >= elem_min(from) &&
                     VALUES[i] <= elem_max(from) && VALUES[i] == trunc(VALUES[i]))) {
                    check_pixel(from, to, VALUES[i]);
                }
            }
        }
    }
}

static void every_nan_becomes_the_same(void **state)
{
    (void)state;
    const uint32_t in[4] = {0x7fc00000u, 0xffc00000u, 0x7fffffffu, 0x3f800000u};
    uint32_t out[4];
    size_t bad;
    assert_true(convert_has_nan(ELEM_F32, in, 4) && convert_has_nan(ELEM_F32, in + 2, 2));
    assert_true(!convert_has_nan(ELEM_F32, in + 3, 1) && !convert_has_nan(ELEM_U32, in, 4));
    assert_true(convert_row(ELEM_F32, in, ELEM_F32, out, 4, &bad));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(out[i], i < 3 ? in[0] : in[3]);
    }
}

static void a_nan_is_found_anywhere(void **state)
{
    (void)state;
    enum { LONGEST = 150 };
    float row[LONGEST] = {0};
    double wide[LONGEST] = {0};
    assert_true(!convert_has_nan(ELEM_F32, row, LONGEST) && !convert_has_nan(ELEM_F64, wide, LONGEST));
    for (size_t i = 0; i < LONGEST; i++) {
        row[i] = NAN;
        wide[i] = (double)NAN;
        assert_true(convert_has_nan(ELEM_F32, row, LONGEST) && convert_has_nan(ELEM_F64, wide, LONGEST));
        assert_true(convert_has_nan(ELEM_F32, row, i + 1) && !convert_has_nan(ELEM_F32, row, i));
        row[i] = INFINITY;
        wide[i] = 0;
    }
}

static void the_largest_is_found(void **state)
{
    (void)state;
    for (Elem elem = ELEM_U8; elem <= ELEM_F64; elem++) {
        double row[4];
        for (size_t i = 0; i < 4; i++) {
            elem_put(row, i, elem, i == 2 ? 100 : (double)i);
        }
        assert_true(convert_max(elem, row, 4, 0) == 100);
        assert_true(convert_max(elem, row, 4, 101) == 101);
        assert_true(convert_max(elem, row, 2, 0) == 1);
        assert_true(convert_max(elem, row, 0, 7) == 7);
    }
    const float nan[] = {NAN, 3, NAN};
    assert_true(convert_max(ELEM_F32, nan, 3, 0) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_keep_their_values_or_are_refused),
        cmocka_unit_test(every_nan_becomes_the_same),
        cmocka_unit_test(a_nan_is_found_anywhere),
        cmocka_unit_test(the_largest_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
