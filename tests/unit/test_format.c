/*
 * format: the one formatting is what it should be, changes nothing when applied again, and reads
 * back as the same tree; so do single expressions.
 */
#include "frontend/syntax/ast.h"
#include "frontend/diag/diag.h"
#include "pipe_samples.h"
#include "turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* The file that `text` is; its source is called alike everywhere, so that trees compare. */
static AstFile *parse(Arena *arena, const char *text, int *errors)
{
    Source *source = source_new(arena, "test.pipe", arena_strdup(arena, text));
    Diags diags;
    diags_init(&diags, arena);
    AstFile *file = fe_parse(arena, source, &diags);
    *errors = diags.errors;
    return file;
}

static const char *tree_of(Arena *arena, const char *text)
{
    int errors;
    Str out;
    str_init(&out, arena);
    ast_print(parse(arena, text, &errors), &out);
    return out.at;
}

static const char *format(Arena *arena, const char *text)
{
    int errors;
    Str out;
    str_init(&out, arena);
    ast_format(parse(arena, text, &errors), &out);
    return out.at;
}

static bool is_correct(const char *text)
{
    Arena arena;
    arena_init(&arena);
    int errors;
    parse(&arena, text, &errors);
    arena_free(&arena);
    return errors == 0;
}

static void check_stable(const char *text)
{
    Arena arena;
    arena_init(&arena);
    const char *once = format(&arena, text);
    assert_string_equal(format(&arena, once), once);
    assert_string_equal(tree_of(&arena, once), tree_of(&arena, text));
    arena_free(&arena);
}

static void check(const char *text, const char *want)
{
    Arena arena;
    arena_init(&arena);
    assert_true(is_correct(text));
    assert_string_equal(format(&arena, text), want);
    arena_free(&arena);
    check_stable(text);
}

static const struct {
    const char *text, *want;
} cases[] = {
    {"", ""},
    {"\n\n", ""},
    {"x=1", "x = 1\n"},
    {"\xEF\xBB\xBFx\t= 1  \r\n\r\n\r\ny=2\r\n", "x = 1\n\ny = 2\n"},
    {"x=1 # a\ry=2\r\r\rz=3", "x = 1  # a\ny = 2\n\nz = 3\n"},
    /* Blanks. */
    {"input a [ y,x ]:u16", "input a[y, x] : u16\n"},
    {"param  s=-2um in -3..4   \"a  b\"", "param s = -2 um in -3 .. 4 \"a  b\"\n"},
    {"x=a+b*-c**2-( d )", "x = a + b * -c ** 2 - (d)\n"},
    {"x=- -a- -1", "x = --a - -1\n"},
    {"x=not(a)and(b)or c", "x = not (a) and (b) or c\n"},
    {"x=f( a ,k=[ 1,2 , ] ) [ dx=-1 ] . mean", "x = f(a, k = [1, 2,])[dx = -1].mean\n"},
    {"x=2 .mean", "x = 2 .mean\n"},
    {"x=a . b( 1,c=2 )[ 1 : ,::-2,x=3:4 ]", "x = a.b(1, c = 2)[1 :, : : -2, x = 3 : 4]\n"},
    {"x=( 1,2 ,)", "x = (1, 2,)\n"},
    {"x=sum(v for i in -1..1,j in 0..2 where i!=j,q=3)",
     "x = sum(v for i in -1 .. 1, j in 0 .. 2 where i != j, q = 3)\n"},
    {"x=a if b else-c", "x = a if b else -c\n"},
    {"fn f ( a:i32=3,b ):bool=a<b", "fn f(a : i32 = 3, b) : bool = a < b\n"},
    {"output  o=f (x)as png", "output o = f(x) as png\n"},
    {"output o as  tif( compress=zstd,tile = 256 )", "output o as tif(compress = zstd, tile = 256)\n"},
    {"short=1\nmuch_longer =2", "short = 1\nmuch_longer = 2\n"},
    /* Lines. */
    {"x=1\n\n\n\ny=2\n\n", "x = 1\n\ny = 2\n"},
    {"x=f(a,\n b,\n\n\n c)", "x = f(a,\n    b,\n\n    c)\n"},
    {"x = f(\n  a,\n  g(\n b)\n)", "x = f(\n    a,\n    g(\n        b)\n)\n"},
    {"x=a+\n b", "x = a +\n    b\n"},
    {"x=(a\n -b)", "x = (a\n    - b)\n"},
    {"repeat until a is stable,\nat most 3{a=b}", "repeat until a is stable,\n    at most 3 { a = b }\n"},
    /* Blocks. */
    {"repeat 3{a=b}", "repeat 3 { a = b }\n"},
    {"repeat 3{}", "repeat 3 { }\n"},
    {"repeat 3{\n}", "repeat 3 {\n}\n"},
    {"repeat 3{a=b\n}", "repeat 3 {\n  a = b\n}\n"},
    {"repeat 3\n\n{\n\n\na=b\n\n\nb=c\n\n}\nc=d", "repeat 3 {\n  a = b\n\n  b = c\n}\nc = d\n"},
    {"fn f(v){if v<2{return 1}\nelse\nif v<3{return-2}else{\nreturn f(\n1)}\n}",
     "fn f(v) {\n  if v < 2 { return 1 } else if v < 3 { return -2 } else {\n"
     "    return f(\n        1)\n  }\n}\n"},
    {"fn f(v) {\nfor i in 0..3{while(v){v=1}}\nreturn(v)}",
     "fn f(v) {\n  for i in 0 .. 3 { while (v) { v = 1 } }\n  return (v)\n}\n"},
    /* Comments. */
    {"#a\n  # b\nx=1#c\n", "#a\n# b\nx = 1  #c\n"},
    {"x=1 # a\nlonger=2 # b\ny=3\nz=4 # c\n", "x = 1       # a\nlonger = 2  # b\ny = 3\nz = 4  # c\n"},
    {"x=1 # a\n\nlonger=2 # b\n", "x = 1  # a\n\nlonger = 2  # b\n"},
    {"x=\"\xC3\xA4\" # a\nyy=\"b\" # b\n", "x = \"\xC3\xA4\"   # a\nyy = \"b\"  # b\n"},
    {"x=f(a,# one\n# two\nb)# three\n", "x = f(a,  # one\n    # two\n    b)  # three\n"},
    {"repeat 3{#a\n\n#b\nx=1#c\n\n#d\n}#e", "repeat 3 {  #a\n  #b\n  x = 1  #c\n\n  #d\n}  #e\n"},
    {"fn f(v) {\nif v {return 1\n}#a\nelse{return 2\n}\n}",
     "fn f(v) {\n  if v {\n    return 1\n  } else {  #a\n    return 2\n  }\n}\n"},
    {"fn f(v) {\nif v {return 1\n}\n#a\nelse{return 2\n}\n}",
     "fn f(v) {\n  if v {\n    return 1\n  }\n  #a\n  else {\n    return 2\n  }\n}\n"},
};

static void formatting_is_as_wanted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(cases[i].text, cases[i].want);
    }
}

static void samples_are_stable(void **state)
{
    (void)state;
    for (int i = 0; i < PIPE_SAMPLES; i++) {
        assert_true(is_correct(pipe_samples[i].text));
        check_stable(pipe_samples[i].text);
    }
}

static void files_with_mistakes_are_left_alone(void **state)
{
    (void)state;
    const char *text = "x=1\ny  = f(a\nz=3";
    Arena arena;
    arena_init(&arena);
    assert_string_equal(format(&arena, text), text);
    arena_free(&arena);
}

/* A byte less or one more often leaves a correct file with odd blanks, lines and comments. */
static void what_is_left_of_samples_is_stable(void **state)
{
    (void)state;
    int correct = 0;
    for (int i = 0; i < PIPE_SAMPLES; i++) {
        const char *sample = pipe_samples[i].text;
        size_t n = strlen(sample);
        char *text = test_malloc(n + 2);
        for (size_t at = 0; at < n; at++) {
            for (size_t twice = 0; twice < 2; twice++) {
                memcpy(text, sample, at + twice);
                strcpy(text + at + twice, sample + at + 1 - twice);
                if (is_correct(text)) {
                    correct++;
                    check_stable(text);
                }
            }
        }
        test_free(text);
    }
    assert_true(correct > 1000);
}

/* Line ends, blanks and comments strewn into the samples where the grammar may allow them. */
static void strewn_samples_are_stable(void **state)
{
    (void)state;
    static const char *const strewn[] = {"\n", "\n\n\n", " ", "# c\n", "  # d\n\n", "\t"};
    int correct = 0;
    for (int i = 0; i < PIPE_SAMPLES; i++) {
        const char *sample = pipe_samples[i].text;
        size_t n = strlen(sample);
        char *text = test_malloc(n + 20);
        for (size_t at = 0; at <= n; at++) {
            for (size_t k = 0; turn_has((int)at) && k < sizeof strewn / sizeof *strewn; k++) {
                memcpy(text, sample, at);
                strcpy(text + at, strewn[k]);
                strcat(text, sample + at);
                if (is_correct(text)) {
                    correct++;
                    check_stable(text);
                }
            }
        }
        test_free(text);
    }
    assert_true(correct > 100);
}

/* ---- single expressions ---- */

static const char *const expressions[] = {
    "a + b * c - (d - e)",
    "(a + b) * c / (d / e) // f % g",
    "-a ** 2",
    "(-a) ** 2",
    "2 ** -1",
    "(a ** b) ** c ** d",
    "-(-a)",
    "-(a + b)",
    "not (a and b) or not c xor d",
    "(a or b) and (c xor d)",
    "not (not a)",
    "(not a) == b",
    "a == (not b)",
    "(a < b) == (c < d)",
    "a if b else c if d else e",
    "(a if b else c) if (d if e else f) else g",
    "(a if b else c) + 1",
    "(v where a > 1 and b) where c",
    "v where (w where c)",
    "(v where c) + 1",
    "(v where c) if d else e",
    "f()",
    "f(a, k = b, \"x\\\"y\\\\z\\n\")",
    "(a + b)[dx = 1, border = constant(0)].std",
    "(-a).std",
    "(2).std",
    "[[0, 1], [2.5, -3]]",
    "(mean = a, std = b)",
    "sum(v[dx = i] for j in -1 .. 1, i in a + 1 .. 2 * n where i != j or c, q = 3)",
    "any((a where b) for i in 0 .. 1)",
    "max((a if b else c) for i in (0 if a else 1) .. 1 where (a if b else c))",
    "true xor false",
    "0.5 um + 20 um2 - 3 px",
    "1e-06 + 0.1 + 1e+300 + 123456789012 + 0.30000000000000004 + 2.0",
};

static void expressions_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        Arena arena;
        arena_init(&arena);
        int errors;
        const char *text = arena_printf(&arena, "x = %s\n", expressions[i]);
        AstFile *file = parse(&arena, text, &errors);
        assert_int_equal(errors, 0);
        Str out;
        str_init(&out, &arena);
        str_add(&out, "x = ");
        ast_expr_format(file->statements->a, &out);
        str_add(&out, "\n");
        assert_string_equal(tree_of(&arena, out.at), tree_of(&arena, text));
        arena_free(&arena);
    }
}

static void expressions_are_written_plainly(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } plain[] = {
        {"((a))+(b*c)", "a + b * c"},
        {"((a+b))*c", "(a + b) * c"},
        {"f ( a,k=1 )", "f(a, k = 1)"},
        {"-(a)**(2)", "-a ** 2"},
        {"2.50+0x10+1e3", "2.5 + 16 + 1000.0"},
        {"(0.5um)", "0.5 um"},
        {"sum(v[dx=i]for i in-1..1)", "sum(v[dx = i] for i in -1 .. 1)"},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        Arena arena;
        arena_init(&arena);
        int errors;
        AstFile *file = parse(&arena, arena_printf(&arena, "x = %s\n", plain[i].text), &errors);
        Str out;
        str_init(&out, &arena);
        ast_expr_format(file->statements->a, &out);
        assert_string_equal(out.at, plain[i].want);
        arena_free(&arena);
    }
}

static void trees_are_printed_a_node_a_line(void **state)
{
    (void)state;
    Arena arena;
    arena_init(&arena);
    assert_string_equal(tree_of(&arena, "input a[y, x] : u16\n"
                                        "param s = 2 um in 0 .. 9 \"help\"\n"
                                        "fn f(v : i32, w = 3) : bool { if v < w { return true } else { v = 1 } }\n"
                                        "output o = sum(a[dx = i] for i in -1 .. 1 where i, q = 3) as png\n"),
                        "test.pipe\n"
                        "  input a [y, x] : u16\n"
                        "  param s \"help\"\n"
                        "    number 2 um\n"
                        "    from number 0\n"
                        "    to number 9\n"
                        "  fn f (v : i32, w = 3) : bool\n"
                        "    if\n"
                        "      binary <\n"
                        "        name v\n"
                        "        name w\n"
                        "      return\n"
                        "        bool true\n"
                        "    else\n"
                        "      assign v\n"
                        "        number 1\n"
                        "  output o as \"png\"\n"
                        "    over sum\n"
                        "      index\n"
                        "        name a\n"
                        "        dx = name i\n"
                        "      for i\n"
                        "        unary -\n"
                        "          number 1\n"
                        "        number 1\n"
                        "      where name i\n"
                        "      q = number 3\n");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formatting_is_as_wanted),
        cmocka_unit_test(samples_are_stable),
        cmocka_unit_test(files_with_mistakes_are_left_alone),
        cmocka_unit_test(what_is_left_of_samples_is_stable),
        cmocka_unit_test(strewn_samples_are_stable),
        cmocka_unit_test(expressions_read_back),
        cmocka_unit_test(expressions_are_written_plainly),
        cmocka_unit_test(trees_are_printed_a_node_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
