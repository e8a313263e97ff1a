/* The order of rows, against an insertion sort that is plainly stable. */
#include "runtime/host/row_order.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Does a come after b? */
static bool after(double a, double b, bool descending)
{
    return isnan(a) ? !isnan(b) : !isnan(b) && (descending ? a < b : a > b);
}

static void check(const double *v, int n, bool descending)
{
    int64_t *want = malloc((size_t)(n + 1) * sizeof *want), *got = malloc((size_t)(n + 1) * sizeof *got);
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && after(v[want[at - 1]], v[i], descending); at--) {
            want[at] = want[at - 1];
        }
        want[at] = i;
    }
    assert_true(row_order(v, n, descending, got));
    for (int i = 0; i < n; i++) {
        assert_int_equal(got[i], want[i]);
    }
    free(want);
    free(got);
}

static void rows_are_in_order(void **state)
{
    (void)state;
    static const double SPECIAL[] = {0.0,     -0.0,     NAN,    INFINITY, -INFINITY, 1,        -1,
                                     DBL_MIN, -DBL_MIN, 5e-324, -5e-324,  DBL_MAX,   -DBL_MAX, 0.1,
                                     NAN,     1,        0.0,    -0.0,     65536,     65537,    -NAN};
    enum { N = sizeof SPECIAL / sizeof *SPECIAL, MANY = 1500 };
    double v[MANY];
    uint32_t random = 1;
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < MANY; i++) {
            random = random * 1664525U + 1013904223U;
            v[i] = kind == 0   ? SPECIAL[(random >> 8) % N]
                   : kind == 1 ? (random >> 8) % 100
                   : kind == 2 ? random * 1e-3 - 1e6
                               : ldexp(random, (int)(random % 400) - 200);
        }
        check(v, MANY, false);
        check(v, MANY, true);
    }
    check(SPECIAL, N, false);
    check(SPECIAL, N, true);
    check(v, 1, false);
    check(v, 0, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
