/*
 * Operators are found by what people call them, and every argument of theirs is explained.
 */
#include "frontend/ops/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static Arena arena;
static const Ops *ops;

static OpFound found(const char *operator, char * const * words, int n)
{
    return ops_search(&arena, ops, words, n, OP_FOUND_TEXT)[ops_find(ops, operator) - ops->at];
}

/* Whether this operator is found, in its line or better. */
static bool finds(char *word, const char *operator)
{
    return found(operator, & word, 1) >= OP_FOUND_LINE;
}

static void effects_and_names_find_operators(void **state)
{
    (void)state;
    static const struct {
        const char *word, *operator;
    } CASES[] = {
        {"edge", "sobel"},
        {"edges", "scharr"},
        {"Edge", "gradient_magnitude"},
        {"thresh", "otsu"},
        {"threshold", "sauvola"},
        {"gaussianBlur", "gaussian"},
        {"GaussianBlur", "gaussian"},
        {"blur", "gaussian"},
        {"regionprops", "measure"},
        {"ndimage.uniform_filter", "mean_filter"},
        {"subtract background", "rolling_ball"},
        {"bwareaopen", "remove_small_objects"},
        {"declump", "split_objects"},
        {"vessel", "sato"},
        {"micron", "pixel_size"},
        {"Projections", "max_project"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        if (!finds(arena_strdup(&arena, CASES[i].word), CASES[i].operator)) {
            fail_msg("%s does not find %s", CASES[i].word, CASES[i].operator);
        }
    }
}

/* Where a text of the prelude defines a function behind `at`; NULL: it does not. */
static const char *definition(const char *at, const char *name, size_t n)
{
    while ((at = strstr(at, "\nfn ")) != NULL) {
        at += 4;
        if (strncmp(at, name, n) == 0 && at[n] == '(') {
            return at;
        }
    }
    return NULL;
}

static void functions_of_the_prelude_have_different_names(void **state)
{
    (void)state;
    int functions = 0;
    for (int i = 0; i < OPS_PRELUDE_N; i++) {
        const char *name = OPS_PRELUDE[i].text;
        while ((name = strstr(name, "\nfn ")) != NULL) {
            name += 4;
            functions++;
            const size_t n = strcspn(name, "(");
            for (int k = i; k < OPS_PRELUDE_N; k++) {
                if (definition(k == i ? name : OPS_PRELUDE[k].text, name, n) != NULL) {
                    fail_msg("%.*s is a function of %s and of %s", (int)n, name, OPS_PRELUDE[i].path,
                             OPS_PRELUDE[k].path);
                }
            }
        }
    }
    assert_true(functions > 100);
}

static void words_must_all_be_found(void **state)
{
    (void)state;
    char *both[] = {"remove", "small"}, *one[] = {"remove", "qqq"}, *none[] = {"__"};
    assert_int_equal(found("remove_small_objects", both, 2), OP_FOUND_NAME);
    assert_int_equal(found("remove_large_objects", both, 2), OP_FOUND_NOT);
    assert_int_equal(found("remove_small_objects", one, 2), OP_FOUND_NOT);
    assert_int_equal(found("gaussian", none, 1), OP_FOUND_NOT);
    assert_int_equal(found("gaussian", none, 0), OP_FOUND_NOT);
    assert_true(ops_search_peer(ops_peer("threshold_local"), (char *[]){"local"}, 1));
    assert_false(ops_search_peer(ops_peer("threshold_local"), (char *[]){"global"}, 1));
    assert_false(ops_search_peer(ops_peer("threshold_local"), NULL, 0));
    /* What most people mean comes first. */
    assert_int_equal(found("otsu", (char *[]){"threshold"}, 1), OP_FOUND_FIRST);
    assert_int_equal(found("minimum_threshold", (char *[]){"threshold"}, 1), OP_FOUND_NAME);
    assert_int_equal(found("sobel", (char *[]){"edges"}, 1), OP_FOUND_FIRST);
    char *words[] = {"find", "edges", "of", "images"}, *fillers[] = {"find", "of"};
    assert_int_equal(ops_telling_words(words, 4), 1);
    assert_string_equal(words[0], "edges");
    assert_int_equal(ops_telling_words(fillers, 2), 2);
    int rows = 0;
    for (int i = 0; i < OPS_INTERFACES_N; i++) {
        rows += ops_is_interface(&OPS_INTERFACES[i], (char *[]){"identify", "primaryobjects"}, 2);
        assert_false(ops_is_interface(&OPS_INTERFACES[i], (char *[]){"xyzzy"}, 1));
    }
    assert_int_equal(rows, 1);
}

/* "edge" in a sentence is not in "knowledge". */
static void words_of_sentences_count_from_their_beginning(void **state)
{
    (void)state;
    assert_false(finds("tress", "std"));
    assert_true(finds("standard", "std"));
}

static void arguments_are_explained(void **state)
{
    (void)state;
    for (int i = 0; i < ops->n; i++) {
        for (int k = 0; k < ops->at[i].n_params; k++) {
            if (ops->at[i].param[k].words[0] == '\0') {
                fail_msg("%s of %s has no row in arguments.def", ops->at[i].param[k].name, ops->at[i].name);
            }
        }
    }
}

/* Calls `each` with the names of a list such as "erode dilate". */
static void for_each(const char *list, void (*each)(const char *name, const void *with), const void *with)
{
    char *copy = arena_strdup(&arena, list);
    for (char *name = strtok(copy, " "); name != NULL; name = strtok(NULL, " ")) {
        each(name, with);
    }
}

static void must_exist(const char *name, const void *with)
{
    (void)with;
    if (ops_find(ops, name) == NULL) {
        fail_msg("effects.def: there is no operator %s", name);
    }
}

static void must_have(const char *name, const void *argument)
{
    const Op *op = ops_find(ops, name);
    for (int k = 0; op != NULL && k < op->n_params; k++) {
        if (strcmp(op->param[k].name, argument) == 0) {
            return;
        }
    }
    fail_msg("arguments.def: %s has no argument %s", name, (const char *)argument);
}

static void tables_name_what_there_is(void **state)
{
    (void)state;
#define EFFECT(words, operators) for_each(operators, must_exist, NULL);
#include "frontend/ops/effects.def"
#undef EFFECT
#define ARGUMENT(operators, argument, words) for_each(operators, must_have, argument);
#define PURE ARGUMENT
#include "frontend/ops/arguments.def"
#undef PURE
#undef ARGUMENT
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    ops = ops_load(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effects_and_names_find_operators),
        cmocka_unit_test(words_must_all_be_found),
        cmocka_unit_test(functions_of_the_prelude_have_different_names),
        cmocka_unit_test(words_of_sentences_count_from_their_beginning),
        cmocka_unit_test(arguments_are_explained),
        cmocka_unit_test(tables_name_what_there_is),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
