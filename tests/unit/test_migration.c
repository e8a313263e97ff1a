/*
 * migration: what docs/migration.md says to write for a name of clEsperanto gives what clEsperanto gives
 * (tests/data/migration.txt, made by make_migration.py beside it).
 *
 * In the pipelines of that file @name(a, b) is what the table says for the name, with a and b for its first and second
 * argument, or the operator of that name where the table has none.  Rows that give something else say "not the same",
 * rows without a case "not tried" or "comes near".
 * PIPEC_TEST_CASE=name runs one name.
 */
#include "base/file.h"
#include "frontend/ops/ops.h"
#include "golden.h"
#include "fixtures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARGUMENTS = 9 };

/* Splits "a, f(b, c)) rest" into arguments; where the closing bracket is. */
static const char *split(const char *text, const char *argument[ARGUMENTS])
{
    int depth = 0, n = 0;
    const char *begin = text;
    for (;; text++) {
        bool end = depth == 0 && (*text == ')' || *text == ',');
        assert_true(*text != '\0' && n < ARGUMENTS);
        if (end) {
            argument[n++] = arena_strndup(&arena, begin, (size_t)(text - begin));
            begin = text + 2;
        }
        if (end && *text == ')') {
            return text;
        }
        depth += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
    }
}

/* The table's text with arguments in the places of $1, $2{otherwise} ...; what is behind # is a comment. */
static void fill(Str *out, const char *here, const char *argument[ARGUMENTS])
{
    const char *end = strstr(here, " #");
    for (const char *p = here; *p != '\0' && p != end; p++) {
        if (*p != '$') {
            str_addn(out, p, 1);
            continue;
        }
        const char *words = argument[p[1] - '1'];
        p++;
        if (p[1] == '{') {
            size_t n = strcspn(p + 2, "}");
            words = words != NULL ? words : arena_strndup(&arena, p + 2, n);
            p += n + 2;
        }
        assert_non_null(words);
        str_addf(out, strchr(words, ' ') != NULL && words[0] != '[' ? "(%s)" : "%s", words);
    }
}

static const char *expanded(const char *text)
{
    Str out;
    str_init(&out, &arena);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p != '@') {
            str_addn(&out, p, 1);
            continue;
        }
        size_t n = strcspn(p, "(");
        const char *name = arena_strndup(&arena, p + 1, n - 1), *argument[ARGUMENTS] = {NULL};
        const Peer *peer = ops_peer(name);
        if (peer == NULL || peer->here[0] == '\0') {
            str_add(&out, name);
            p += n - 1;
            continue;
        }
        p = split(p + n + 1, argument);
        str_add(&out, "(");
        fill(&out, peer->here, argument);
        str_add(&out, ")");
    }
    return out.at;
}

static bool says(const char *name, const char *words)
{
    const Peer *peer = ops_peer(name);
    return peer != NULL && strstr(peer->here, words) != NULL;
}

static bool has_case(const Golden *golden, const char *name)
{
    for (int i = 0; i < golden->cases.n; i++) {
        if (strcmp(golden->cases.at[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void rows_have_cases_or_say_why_not(void **state)
{
    (void)state;
    char *text, *rest;
    size_t size;
    Err err = {0};
    Golden golden = golden_read(TEST_DATA, "migration.txt");
    const Ops *ops = ops_load(&arena);
    assert_true(file_read(TEST_ROOT "/docs/clesperanto-names.txt", &text, &size, &err));
    for (char *name = strtok_r(text, "\n", &rest); name != NULL; name = strtok_r(NULL, "\n", &rest)) {
        const Peer *peer = ops_peer(name);
        const bool is_row = peer != NULL ? peer->here[0] != '\0' : ops_find(ops, name) != NULL;
        if (is_row && !has_case(&golden, name) && !says(name, "not tried") && !says(name, "comes near")) {
            fail_msg("%s has neither a case nor a reason", name);
        }
    }
    free(text);
}

static void rows_give_what_clesperanto_gives(void **state)
{
    (void)state;
    const char *only = getenv("PIPEC_TEST_CASE");
    Golden golden = golden_read(TEST_DATA, "migration.txt");
    int wrong = 0;
    for (int i = 0; i < golden.cases.n; i++) {
        GoldenCase *c = &golden.cases.at[i];
        if (only == NULL || strcmp(only, c->name) == 0) {
            c->text = expanded(c->text);
            c->quiet = says(c->name, "not the same");
            wrong += !golden_agrees(c) && !c->quiet;
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_give_what_clesperanto_gives, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(rows_have_cases_or_say_why_not, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
