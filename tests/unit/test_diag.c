/*
 * diag: how messages look, in which order they come, that their JSON holds together, that every
 * page keeps its word (the wrong example fails with that code, the right one does not), and the
 * search for the nearest name.
 */
#include "frontend/syntax/ast.h"
#include "frontend/diag/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *name, *code, *page;
} rows[] = {
#define D(NAME, code, severity, format, page) {#NAME, code, page},
#include "frontend/diag/diag.def"
#undef D
};
enum { ROWS = sizeof rows / sizeof *rows };

static Arena arena;
static Diags diags;
static Source source;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    diags_init(&diags, &arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* The place of the `nth` time that `words` stands in the source. */
static Span at(const char *words, int nth)
{
    const char *p = source.text;
    for (int i = 0; i <= nth; i++) {
        p = strstr(i == 0 ? p : p + 1, words);
        assert_non_null(p);
    }
    int begin = (int)(p - source.text);
    return (Span){&source, begin, begin + (int)strlen(words)};
}

static void use(const char *text)
{
    source = *source_new(&arena, "cells.pipe", text);
}

static const char *rendered(int limit)
{
    Str out;
    str_init(&out, &arena);
    diags_render(&diags, &out, false, limit);
    return out.at;
}

/* What was said since a copy was taken goes; what was dropped since then does not come back. */
static void a_rewind_keeps_what_was_dropped_dropped(void **state)
{
    (void)state;
    use("a b c");
    diag_add(&diags, DIAG_UNKNOWN_NAME, at("a", 0), "a");
    diag_add(&diags, DIAG_FOREIGN_SPELLING, at("b", 0), "b");
    const Diags before = diags;
    diags_drop(&diags, DIAG_FOREIGN_SPELLING, at("b", 0));
    diag_add(&diags, DIAG_UNKNOWN_NAME, at("c", 0), "c");
    diags_rewind(&diags, &before);
    assert_int_equal(diags.errors, 1);
    assert_non_null(strstr(rendered(0), "unknown name `a`"));
    assert_null(strstr(rendered(0), "`b`"));
    assert_null(strstr(rendered(0), "unknown name `c`"));
    diag_add(&diags, DIAG_UNKNOWN_NAME, at("b", 0), "b");
    assert_int_equal(diags.errors, 2);
    assert_non_null(strstr(rendered(0), "unknown name `b`"));
}

/* ---- looks ---- */

static void notes_join_the_excerpt(void **state)
{
    (void)state;
    use("input img[y, x]\n"
        "\n"
        "\n"
        "\n"
        "blur = gaussian(img, sigma=2)\n"
        "\n"
        "lab  = label(blur)\n");
    Diag *d = diag_add(&diags, DIAG_UNEXPECTED, at("blur", 1), "a mask", "an image");
    diag_label(&diags, d, "expected a %s", "mask");
    diag_note(&diags, d, at("gaussian(img, sigma=2)", 0), "this is an image");
    diag_help(&diags, d, "threshold it first: `label(blur > otsu(blur))`");
    assert_string_equal(rendered(0), "error[P0110]: expected a mask, found an image\n"
                                     "  --> cells.pipe:7:14\n"
                                     "   |\n"
                                     " 5 | blur = gaussian(img, sigma=2)\n"
                                     "   |        ---------------------- this is an image\n"
                                     " 7 | lab  = label(blur)\n"
                                     "   |              ^^^^ expected a mask\n"
                                     "   = help: threshold it first: `label(blur > otsu(blur))`\n");
}

static void gaps_and_wide_line_numbers(void **state)
{
    (void)state;
    Str text;
    str_init(&text, &arena);
    for (int i = 1; i <= 120; i++) {
        str_addf(&text, "a%d = 1\n", i);
    }
    use(text.at);
    Diag *d = diag_add(&diags, DIAG_TOO_DEEP, at("a118", 0));
    diag_note(&diags, d, at("a2 ", 0), "one");
    diag_note(&diags, d, at("a120", 0), "two");
    diag_note(&diags, d, at("= 1\na119", 0), "three");
    assert_string_equal(rendered(0), "error[P0126]: this is nested too deeply\n"
                                     "   --> cells.pipe:118:1\n"
                                     "    |\n"
                                     "  2 | a2 = 1\n"
                                     "    | --- one\n"
                                     "...\n"
                                     "118 | a118 = 1\n"
                                     "    | ^^^^\n"
                                     "    |      --- three\n"
                                     "120 | a120 = 1\n"
                                     "    | ---- two\n");
}

static void tabs_and_letters_keep_carets_in_place(void **state)
{
    (void)state;
    use("\tx\t= \"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x94\xAC\" b\r\n");
    diag_add(&diags, DIAG_TOO_DEEP, at("b", 0));
    assert_string_equal(rendered(0), "error[P0126]: this is nested too deeply\n"
                                     "  --> cells.pipe:1:12\n"
                                     "   |\n"
                                     " 1 |     x   = \"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x94\xAC\" b\n"
                                     "   |                 ^\n");
}

static void lines_end_in_either_way(void **state)
{
    (void)state;
    use("a = 1\rb = 2\r\nc = 3\n\rd = 4");
    diag_add(&diags, DIAG_TOO_DEEP, at("d = 4", 0));
    assert_string_equal(rendered(0), "error[P0126]: this is nested too deeply\n"
                                     "  --> cells.pipe:5:1\n"
                                     "   |\n"
                                     " 5 | d = 4\n"
                                     "   | ^^^^^\n");
    int line, column;
    span_line_column(at("3", 0), &line, &column);
    assert_int_equal(line, 3);
    assert_int_equal(column, 5);
}

static void nothing_steers_the_terminal(void **state)
{
    (void)state;
    use("x = \x1b[2J\xFF\xC2\x9B");
    diag_add(&diags, DIAG_UNKNOWN_CHARACTER, at("\xFF", 0), "\x1b[31m\x80");
    Str out;
    str_init(&out, &arena);
    str_add(&out, rendered(0));
    diags_render_json(&diags, &out);
    assert_null(strchr(out.at, '\x1b'));
    assert_null(strstr(out.at, "\xFF"));
    assert_null(strstr(out.at, "\xC2\x9B"));
    assert_non_null(strstr(out.at, "x = \xEF\xBF\xBD[2J\xEF\xBF\xBD\xEF\xBF\xBD\n"));
}

static void long_lines_are_cropped_around_the_caret(void **state)
{
    (void)state;
    Str text;
    str_init(&text, &arena);
    for (int i = 0; i < 500; i++) {
        str_addf(&text, "%d ", i);
    }
    use(text.at);
    diag_add(&diags, DIAG_TOO_DEEP, at(" 300 ", 0));
    const char *out = rendered(0);
    const char *line = strstr(out, " 1 | ...");
    assert_non_null(line);
    const char *caret = strstr(out, "^^^^^");
    const char *word = strstr(line, " 300 ");
    const char *under = strstr(line, "\n") + 1;
    assert_int_equal(caret - under, word - line);
    assert_true(strstr(line, "...\n") != NULL && strlen(out) < 500);
}

static void other_files_get_a_part_of_their_own(void **state)
{
    (void)state;
    Source *prelude = source_new(&arena, "prelude/tophat.pipe", "fn tophat(v) = v - open(v)\n");
    use("x = tophat(1)\n");
    Diag *d = diag_add(&diags, DIAG_TOO_DEEP, at("tophat", 0));
    diag_note(&diags, d, (Span){prelude, 3, 9}, "declared here");
    diag_note(&diags, d, (Span){0}, "without a place");
    diag_help(&diags, d, "first\nsecond");
    assert_string_equal(rendered(0), "error[P0126]: this is nested too deeply\n"
                                     "  --> cells.pipe:1:5\n"
                                     "   |\n"
                                     " 1 | x = tophat(1)\n"
                                     "   |     ^^^^^^\n"
                                     "  ::: prelude/tophat.pipe:1:4\n"
                                     "   |\n"
                                     " 1 | fn tophat(v) = v - open(v)\n"
                                     "   |    ------ declared here\n"
                                     "   = note: without a place\n"
                                     "   = help: first\n"
                                     "           second\n");
}

static void no_place_is_fine(void **state)
{
    (void)state;
    diag_add(&diags, DIAG_TOO_DEEP, (Span){0});
    assert_string_equal(rendered(0), "error[P0126]: this is nested too deeply\n");
}

static void places_at_the_very_end(void **state)
{
    (void)state;
    use("x = (\n");
    diag_add(&diags, DIAG_TOO_DEEP, (Span){&source, 6, 6});
    diag_add(&diags, DIAG_BRACES_LIST, (Span){&source, 0, 6});
    assert_string_equal(rendered(0), "error[P0108]: `{` begins a block; a list is written with "
                                     "`[ ]`\n"
                                     "  --> cells.pipe:1:1\n"
                                     "   |\n"
                                     " 1 | x = (\n"
                                     "   | ^^^^^\n"
                                     "\n"
                                     "error[P0126]: this is nested too deeply\n"
                                     "  --> cells.pipe:2:1\n"
                                     "   |\n"
                                     " 2 |\n"
                                     "   | ^\n");
}

static void colours_change_nothing_else(void **state)
{
    (void)state;
    use("x = 1\ny = 2\n");
    Diag *d = diag_add(&diags, DIAG_TOO_DEEP, at("y", 0));
    diag_note(&diags, d, at("x", 0), "here");
    diag_help(&diags, d, "that");
    Str out;
    str_init(&out, &arena);
    diags_render(&diags, &out, true, 0);
    assert_non_null(strstr(out.at, "\033[1;31merror[P0126]\033[0m"));
    char plain[1000];
    char *to = plain;
    for (const char *from = out.at; *from != '\0';) {
        if (*from == '\033') {
            from = strchr(from, 'm') + 1;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    assert_string_equal(plain, rendered(0));
}

/* ---- order and number ---- */

static void messages_come_in_the_order_of_the_text(void **state)
{
    (void)state;
    use("a\nb\nc\n");
    diag_add(&diags, DIAG_UNOPENED, at("c", 0), "third");
    diag_add(&diags, DIAG_UNOPENED, at("a", 0), "first");
    diag_add(&diags, DIAG_UNOPENED, at("b", 0), "second");
    diag_add(&diags, DIAG_UNOPENED, at("b", 0), "dropped");
    diag_add(&diags, DIAG_STRAY_ELSE, at("b", 0));
    assert_int_equal(diags.errors, 4);
    const char *out = rendered(0);
    const char *want[] = {"`first`", "`second`", "`else`", "`third`"};
    for (int i = 0; i < 4; i++) {
        out = strstr(out, want[i]);
        assert_non_null(out);
    }
    assert_null(strstr(rendered(0), "dropped"));
    assert_null(strstr(rendered(0), "more error"));
}

static void a_dropped_one_may_be_labelled(void **state)
{
    (void)state;
    use("a\n");
    diag_add(&diags, DIAG_TOO_DEEP, at("a", 0));
    Diag *d = diag_add(&diags, DIAG_TOO_DEEP, at("a", 0));
    assert_non_null(d);
    diag_label(&diags, d, "nowhere");
    diag_note(&diags, d, at("a", 0), "nowhere");
    diag_help(&diags, d, "nowhere");
    assert_null(strstr(rendered(0), "nowhere"));
}

static void the_limit_counts_the_rest(void **state)
{
    (void)state;
    use("abcdef");
    for (int i = 0; i < 5; i++) {
        diag_add(&diags, DIAG_TOO_DEEP, (Span){&source, i, i + 1});
    }
    assert_non_null(strstr(rendered(2), "\n... and 3 more errors\n"));
    assert_non_null(strstr(rendered(4), "\n... and 1 more error\n"));
    assert_null(strstr(rendered(5), "more"));
    assert_null(strstr(rendered(2), "cells.pipe:1:3"));
}

/* ---- JSON ---- */

static void json_has_all_parts(void **state)
{
    (void)state;
    use("\xC3\xA4 = \"q\"\nxy = 1\n");
    Diag *d = diag_add(&diags, DIAG_UNEXPECTED, at("\"q\"", 0), "\"a\\b\"", "\xE2\x82\xAC\n");
    diag_label(&diags, d, "l");
    diag_note(&diags, d, at("xy", 0), "n");
    diag_help(&diags, d, "h1");
    diag_help(&diags, d, "h2");
    diag_add(&diags, DIAG_TOO_DEEP, (Span){0});
    Str out;
    str_init(&out, &arena);
    diags_render_json(&diags, &out);
    assert_string_equal(out.at,
                        "[\n"
                        "  {\"code\": \"P0110\", \"severity\": \"error\", \"file\": \"cells.pipe\", \"line\": 1, "
                        "\"column\": 5, \"endLine\": 1, \"endColumn\": 8, "
                        "\"message\": \"expected \\\"a\\\\b\\\", found \xE2\x82\xAC\\n\", \"label\": \"l\", "
                        "\"help\": \"h1\\nh2\", \"notes\": [{\"file\": \"cells.pipe\", \"line\": 2, \"column\": 1, "
                        "\"endLine\": 2, \"endColumn\": 3, \"message\": \"n\"}]},\n"
                        "  {\"code\": \"P0126\", \"severity\": \"error\", \"file\": null, \"line\": null, "
                        "\"column\": null, \"endLine\": null, \"endColumn\": null, "
                        "\"message\": \"this is nested too deeply\", \"label\": null, \"help\": null, "
                        "\"notes\": []}\n"
                        "]\n");
}

static void json_of_nothing(void **state)
{
    (void)state;
    Str out;
    str_init(&out, &arena);
    diags_render_json(&diags, &out);
    assert_string_equal(out.at, "[]\n");
}

/* ---- pages ---- */

static void codes_are_well_formed_and_unique(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(strlen(rows[i].code), 5);
        assert_int_equal(strspn(rows[i].code, "P"), 1);
        assert_int_equal(strspn(rows[i].code + 1, "0123456789"), 4);
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(rows[i].code, rows[k].code);
        }
    }
}

static void every_code_has_a_page(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const char *page = diag_page(rows[i].code);
        assert_non_null(page);
        Str title;
        str_init(&title, &arena);
        diag_title(rows[i].code, &title);
        assert_int_equal(strncmp(title.at, rows[i].code, strlen(rows[i].code)), 0);
        assert_null(strchr(title.at, '%'));
        assert_string_equal(page, rows[i].page);
        int lines = 0;
        for (const char *p = page; *p != '\0'; p++) {
            lines += *p == '\n';
        }
        bool drawn = strcmp(rows[i].name, "FUNCTION_TOO_BIG") == 0; /* shows 65 variables */
        int most = drawn ? 100 : 24;
        if (lines < 3 || lines > most) {
            print_error("%s has a page of %d lines\n", rows[i].code, lines);
        }
        assert_in_range(lines, 3, most);
    }
    assert_non_null(diag_page("p0101"));
    assert_null(diag_page("P9999"));
    assert_null(diag_page("P010"));
    assert_null(diag_page("P01011"));
    assert_null(diag_page(""));
}

/* The indented lines after a heading of the page, or NULL. */
static const char *example(const char *page, const char *heading)
{
    const char *p = strstr(page, heading);
    if (p == NULL) {
        return NULL;
    }
    Str text;
    str_init(&text, &arena);
    p = strchr(p, '\n') + 1;
    while (strncmp(p, "    ", 4) == 0) {
        size_t n = strcspn(p, "\n") + 1;
        str_addn(&text, p + 4, n - 4);
        p += n;
    }
    return text.at;
}

static bool gives(const char *text, const char *code)
{
    Source *file = source_new(&arena, "page.pipe", text);
    Diags found;
    diags_init(&found, &arena);
    fe_parse(&arena, file, &found);
    for (const Diag *d = found.first; d != NULL; d = diag_next(d)) {
        if (code == NULL || strcmp(diag_code(d), code) == 0) {
            return true;
        }
    }
    return false;
}

static void pages_of_syntax_keep_their_word(void **state)
{
    (void)state;
    int checked = 0;
    for (int i = 0; i < ROWS; i++) {
        bool about_files = strcmp(rows[i].name, "NOT_TEXT") == 0;
        if (strncmp(rows[i].code, "P01", 3) != 0 || about_files) {
            continue;
        }
        const char *wrong = example(rows[i].page, "Wrong:");
        const char *right = example(rows[i].page, "Right:");
        assert_true(wrong != NULL && right != NULL);
        bool drawn = strcmp(rows[i].name, "TOO_DEEP") == 0; /* 300 brackets are not shown */
        if (!drawn && !gives(wrong, rows[i].code)) {
            print_error("%s is not what its page shows:\n%s", rows[i].code, wrong);
            fail();
        }
        if (gives(right, NULL)) {
            print_error("%s is right only on its page:\n%s", rows[i].code, right);
            fail();
        }
        checked++;
    }
    assert_true(checked > 25);
}

/* ---- the nearest name ---- */

static void names_are_matched_by_distance(void **state)
{
    (void)state;
    static const char *const names[] = {"gaussian", "median", "mean", "min", "max",
                                        "label",    "otsu",   NULL,   "std", "maximum"};
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"gausian", "gaussian"},
        {"gaussain", "gaussian"},
        {"guassian", "gaussian"},
        {"gaussiann", "gaussian"},
        {"gsn", NULL},
        {"meadn", "mean"},
        {"labels", "label"},
        {"lable", "label"},
        {"label", "label"},
        {"otus", "otsu"},
        {"mix", "min"},
        {"mox", "max"},
        {"mx", NULL},
        {"", NULL},
        {"xyz", NULL},
        {"maximun", "maximum"},
        {"meidan", "median"},
        {"stdd", "std"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = fe_nearest(cases[i].name, names, sizeof names / sizeof *names);
        if (cases[i].want == NULL) {
            assert_null(got);
        } else {
            assert_non_null(got);
            assert_string_equal(got, cases[i].want);
        }
    }
    char endless[200];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    const char *const one[] = {endless};
    assert_null(fe_nearest(endless, one, 1));
    assert_null(fe_nearest("label", names, 0));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_rewind_keeps_what_was_dropped_dropped),
        TEST(notes_join_the_excerpt),
        TEST(gaps_and_wide_line_numbers),
        TEST(tabs_and_letters_keep_carets_in_place),
        TEST(lines_end_in_either_way),
        TEST(nothing_steers_the_terminal),
        TEST(long_lines_are_cropped_around_the_caret),
        TEST(other_files_get_a_part_of_their_own),
        TEST(no_place_is_fine),
        TEST(places_at_the_very_end),
        TEST(colours_change_nothing_else),
        TEST(messages_come_in_the_order_of_the_text),
        TEST(a_dropped_one_may_be_labelled),
        TEST(the_limit_counts_the_rest),
        TEST(json_has_all_parts),
        TEST(json_of_nothing),
        TEST(codes_are_well_formed_and_unique),
        TEST(every_code_has_a_page),
        TEST(pages_of_syntax_keep_their_word),
        TEST(names_are_matched_by_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
