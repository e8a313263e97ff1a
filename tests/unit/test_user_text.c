/* test_user_text: names and texts of users in generated code. */
#include "../../base/user_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static Arena arena;

static void names_have_a_shape_of_their_own(void **state)
{
    static const struct {
        const char *name, *alone, *part;
    } rows[] = {
        {"blurred", "blurred_", "blurred__rows"},
        {"a__b", "a__b_", "a__b__rows"},
        {"a_", "a__", "a___rows"},
        {"_x", "u_x_", "u_x__rows"},
        {"u_x", "uu_x_", "uu_x__rows"},
        {"uu_x", "uuu_x_", "uuu_x__rows"},
        {"__FILE_", "u__FILE__", "u__FILE___rows"},
        {"_", "u__", "u___rows"},
        {"u", "u_", "u__rows"},
        {"ux", "ux_", "ux__rows"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(user_name(&arena, rows[i].name), rows[i].alone);
        assert_string_equal(user_part(&arena, rows[i].name, "rows"), rows[i].part);
        assert_true(user_owns(rows[i].alone) && user_owns(rows[i].part));
    }
    assert_false(user_owns("x") || user_owns("_") || user_owns("__FILE__") || user_owns("get_global_id"));
    assert_true(user_is_word("_a1") && !user_is_word("") && !user_is_word("1a") && !user_is_word("a*/"));
}

static const char *literal(const char *text)
{
    Str s;
    str_init(&s, &arena);
    user_literal(&s, text);
    return s.at;
}

static void literals_hold_any_text(void **state)
{
    (void)state;
    assert_string_equal(literal(NULL), "NULL");
    assert_string_equal(literal(""), "\"\"");
    assert_string_equal(literal("a\"b\\"), "\"a\\\"b\\\\\"");
    assert_string_equal(literal("?\?/\r7\x1b"), "\"\\?\\?/\\0157\\033\"");
    assert_string_equal(literal("one\ntwo\n"), "\"one\\n\"\n    \"two\\n\"");
    assert_string_equal(literal("\xC3\xA9"), "\"\\303\\251\"");
}

static const char *comment(const char *text, size_t room)
{
    Str s;
    str_init(&s, &arena);
    user_comment(&s, text, strlen(text), room);
    return s.at;
}

static void comments_cannot_be_left(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"x = 1  # as it is \xC3\xA9", "x = 1  # as it is \xC3\xA9"},
        {"a\rb\nc\td", "a\xEF\xBF\xBD"
                       "b c d"},
        {"C:\\data\\", "C:\\data\\."},
        {"C:\\data\\ \t ", "C:\\data\\."},
        {"why?\?/", "why?\?/."},
        {"p*/x /*y*/*/", "p* /x / *y* / * /."},
        {"\xE2\x80\xA8|\xE2\x80\xAE|\xFF|\x7F", "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(comment(rows[i].text, 100), rows[i].want);
    }
    assert_string_equal(comment("0123456789", 11), "0123456789");
    assert_string_equal(comment("0123456789", 10), "012345...");
    assert_string_equal(comment("01234\xC3\xA9"
                                "789",
                                10),
                        "01234...");
}

static int make_arena(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_have_a_shape_of_their_own, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(literals_hold_any_text, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(comments_cannot_be_left, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
