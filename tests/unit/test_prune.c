/* prune: what of a text its compiler gets to see. */
#include "runtime/device/prune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char HEAD[] = "#define OF __attribute__((overloadable))\n"
                           "float OF fabs(float);\ndouble OF fabs(double);\nint OF clz(int);\n";

static const struct {
    const char *source, *want;
} CASES[] = {
    {"kernel void f(global int *a) { a[0] = 1; }", "kernel void f ( global int * a ) { a [ 0 ] = 1 ; }"},
    {"static int two(void) { return 2; }\nstatic int one(void) { return two() - 1; }\nstatic int other(void) { return 3; }\n"
     "kernel void f(global int *a) { a[0] = one(); }",
     "static int two ( void ) { return 2 ; } static int one ( void ) { return two ( ) - 1 ; } "
     "kernel void f ( global int * a ) { a [ 0 ] = one ( ) ; }"},
    {"#define CALL(x) px_##x\nstatic inline __attribute__((always_inline)) int px_a(void) { return 1; }\n"
     "static int px_b(void) { return 2; }\nkernel void f(global int *a) { a[0] = CALL(a)(); }",
     "static inline __attribute__ ( ( always_inline ) ) int px_a ( void ) { return 1 ; } "
     "kernel void f ( global int * a ) { a [ 0 ] = px_a ( ) ; }"},
    {"#pragma OPENCL FP_CONTRACT OFF\nstatic int gone(void) { return 1; }\n"
     "kernel void f(global float *a) { a[0] = fabs(a[0]); }",
     "float __attribute__ ( ( overloadable ) ) fabs ( float ) ; double __attribute__ ( ( overloadable ) ) fabs ( double ) ; "
     "#pragma OPENCL FP_CONTRACT OFF kernel void f ( global float * a ) { a [ 0 ] = fabs ( a [ 0 ] ) ; }"},
    {"constant int T[] = {1, 2};\nconstant int U[] = {1, 2};\ntypedef struct S { int t; } S;\nenum { A = 1 };\n"
     "kernel void f(global int *a) { S s = {U[A]}; a[0] = s.t; }\nkernel void g(global int *a) { a[0] = 0; }",
     "constant int U [ ] = { 1 , 2 } ; typedef struct S { int t ; } S ; enum { A = 1 } ; "
     "kernel void f ( global int * a ) { S s = { U [ A ] } ; a [ 0 ] = s . t ; } "
     "kernel void g ( global int * a ) { a [ 0 ] = 0 ; }"},
};

/* One space instead of several, and of ends of lines, and none at the ends. */
static void even(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const bool space = *at == ' ' || *at == '\n';
        if (!space || (to > text && to[-1] != ' ')) {
            *to++ = (char)(space ? ' ' : *at);
        }
    }
    *(to > text && to[-1] == ' ' ? to - 1 : to) = '\0';
}

static void what_nobody_calls_is_left_out(void **state)
{
    (void)state;
    Pruner *pruner = pruner_new(HEAD);
    assert_non_null(pruner);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
            char *text = prune(pruner, CASES[i].source, "-cl-std=CL1.2");
            assert_non_null(text);
            even(text);
            assert_string_equal(text, CASES[i].want);
            free(text);
        }
    }
    pruner_free(pruner);
}

static void options_decide_conditions(void **state)
{
    (void)state;
    Pruner *pruner = pruner_new("");
    static const char source[] = "#if WIDE\nkernel void a() { }\n#else\nkernel void b() { }\n#endif\n";
    char *wide = prune(pruner, source, "-DWIDE=1"), *narrow = prune(pruner, source, "-DWIDE=0");
    assert_non_null(strstr(wide, "void a"));
    assert_null(strstr(wide, "void b"));
    assert_non_null(strstr(narrow, "void b"));
    free(wide);
    free(narrow);
    pruner_free(pruner);
}

static void what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    assert_null(pruner_new("#include <stdio.h>\n"));
    Pruner *pruner = pruner_new(HEAD);
    assert_null(prune(pruner, "#endif\n", ""));
    assert_null(prune(pruner, "#define F(x) x\nint a = F(1;\n", ""));
    char *text = prune(pruner, "kernel void f() {", "");
    assert_non_null(text);
    free(text);
    pruner_free(pruner);
    pruner_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_calls_is_left_out),
        cmocka_unit_test(options_decide_conditions),
        cmocka_unit_test(what_cannot_be_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
