/* soften: texts with doubles, and what becomes of them for devices that have none. */
#include "runtime/device/soften.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What stands behind the library: an external declaration begins with this one. */
#define MARK "int mark;\n"

/* Lines joined, for tables; owned by the caller (free). */
static char *softened(const char *source, const char *options, bool fma)
{
    char text[2000], *out;
    Err err = {0};
    snprintf(text, sizeof text, MARK "%s", source);
    if (!soften("test", text, options, fma, &out, &err)) {
        fail_msg("%s", err.text);
    }
    const char *own = strstr(out, MARK);
    assert_non_null(own);
    char *found = strdup(own + strlen(MARK));
    free(out);
    assert_non_null(found);
    for (char *at = found; *at; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    return found;
}

static void expect_text(const char *source, const char *options, bool fma, const char *want)
{
    char *got = softened(source, options, fma);
    if (strcmp(got, want) != 0) {
        fail_msg("%s\nbecomes\n%s\ninstead of\n%s", source, got, want);
    }
    free(got);
}

static const struct {
    const char *source, *want;
} CASES[] = {
    {"float f(float x) { return x * 2.0f + 1; }", "float f(float x) { return x * 2.0f + 1; } "},
    {"double f(double x, int n) { return x * n + 1; }",
     "SoftDouble f(SoftDouble x, int n) { return soft_add(soft_mul(x, soft_from(n)), "
     "soft_from_bits(0x3ff0000000000000UL)); } "},
    {"constant double T[2][2] = {{1, -0.5}, {2e0}};",
     "constant SoftDouble T[2][2] = {{{0x3ff0000000000000UL}, {0xbfe0000000000000UL}}, {{0x4000000000000000UL}}}; "},
    {"typedef double R; void f(local R *a, int i) { a[i++] += (R)i; a[0] = -a[1]; }",
     "typedef SoftDouble R; void f(local R * a, int i) { soft_add_to(&a[i++], soft_from(i)); a[0] = soft_neg(a[1]); } "},
    {"typedef struct P { double hi, lo; } P; int f(P p) { return p.hi < 0 && p.lo ? (int)p.lo : 1; }",
     "typedef struct P { SoftDouble hi,lo; } P; int f(P p) { return soft_lt(p.hi, soft_from_bits(0x0000000000000000UL)) && "
     "soft_true(p.lo) ? (int)soft_to_long(p.lo) : 1; } "},
    {"void f(double x, global uchar *to) { for (int i = 0; x; i++) { to[i] = x; x /= 2; } }",
     "void f(SoftDouble x, global uchar * to) { for (int i = 0;  soft_true(x); i++) { to[i] = (uchar)soft_to_long(x); "
     "soft_div_to(&x, soft_from_bits(0x4000000000000000UL)); } } "},
    {"int f(double x) { return isnan(x) ? 0 : convert_int_sat_rte(fmin(x, 3)) + (int)(as_ulong(x) >> 52); }",
     "int f(SoftDouble x) { return soft_isnan(x) ? 0 : soft_convert_int_sat_rte(soft_fmin(x, "
     "soft_from_bits(0x4008000000000000UL))) + (int)(as_ulong(x.bits) >> 52); } "},
    {"#define JOIN_(a, b) a##b\n#define JOIN(a, b) JOIN_(a, b)\n#define T double\n#if N > 2 && defined(N)\n"
     "JOIN(dou, ble) g(T x) { return JOIN(sq, rt)(x); }\n#else\nwrong\n#endif\n",
     "SoftDouble g(SoftDouble x) { return soft_sqrt(x); } "},
    {"#define EACH(n, ...) for (int i = 0; i < n; i++) { __VA_ARGS__; }\nvoid f(int *a) { _Pragma(\"unroll\") "
     "EACH(3, a[i] = i, a[i]++) }",
     "void f(int * a) {  #pragma unroll for (int i = 0;  i < 3; i++) { a[i] = i, a[i]++; } } "},
    {"#define J_(a, b) a##b\n#define J(a, b) J_(a, b)\n#define K_int(x) J(x, 1)\n#define K(T, x) J(K_, T)(x)\nint "
     "K(int, a);\n#define S(x) #x\n#if 1 << 2 == 4 ? 0 : 1\nwrong\n#elif !defined S\nwrong\n#else\nint b;\n#endif\n",
     "int a1; int b; "},
    {"#define ANY __attribute__((overloadable))\nANY double m(double a, double b);\nANY float m(float a, float b);\n"
     "double f(double x, float y) { return m(x, 0) + m(y, 0.5f); }",
     " __attribute__(( overloadable)) SoftDouble m(SoftDouble a, SoftDouble b);  __attribute__(( overloadable)) float "
     "m(float a, float b); SoftDouble f(SoftDouble x, float y) { return soft_add(m(x, "
     "soft_from_bits(0x0000000000000000UL)), soft_from(m(y, 0.5f))); } "},
    {"float f(float x) { return fma(x, x, 1.0f) - (x - (1.0f - x)); }",
     "float f(float x) { return soft_fma_f32(x, x, 1.0f) - (x - (1.0f - x)); } "},
};

static void texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        expect_text(CASES[i].source, "-cl-std=CL1.2 -DN=3", false, CASES[i].want);
    }
    expect_text("float f(float x) { return fma(x, x, x); }", "", true, "float f(float x) { return fma(x, x, x); } ");
}

static void what_cannot_be_read_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *source, *why;
    } BAD[] = {
        {"double f(double x) { return erf(x); }", "the function erf has no form in integers"},
        {"double f(double x) { return x % 2; }", "doubles have no operator %"},
        {"void f(int *a, double x) { a[g(1)] += x; }", "would be computed twice"},
        {"void f(void) { return", "an expression is expected"},
        {"void f(void) { if (1) {", "it ends within a block"},
        {"#if 1\nint x;\n#endif\n#endif\n", "an #endif has no #if"},
        {"enum { A,", "a name is expected"},
        {"kernel __attribute__((", "a type is expected"},
        {"#define S(x) #x\n#define\n#if defined(\n#endif\nint x = S(a b);", "an expression is expected"},
        {"#define F(a) a\nint x = F(1;", "a call of the macro F does not end"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Err err = {0};
        char *out;
        assert_false(soften("test", BAD[i].source, "", true, &out, &err));
        if (!strstr(err.text, BAD[i].why)) {
            fail_msg("%s: %s", BAD[i].source, err.text);
        }
        assert_int_equal(err.code, CODE_DEVICE);
        assert_null(out);
    }
    char deep[4000] = "int x = ";
    memset(deep + strlen(deep), '(', 3000);
    Err err = {0};
    char *out;
    assert_false(soften("test", deep, "", true, &out, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(what_cannot_be_read_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
